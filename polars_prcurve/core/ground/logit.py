"""The logit of a share, in expressions."""

from __future__ import annotations

import polars as pl


def to_logit(value: pl.Expr) -> pl.Expr:
    """Return ln(value / (1 - value))."""
    return (value / (1 - value)).log()


def from_logit(logit: pl.Expr) -> pl.Expr:
    """Return the inverse of `to_logit`."""
    return 1 / (1 + (-logit).exp())
