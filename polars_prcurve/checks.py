"""What values must be, in the sentences that both doors raise.

Each function yields `Check`s. They count rows through `count`, which says what counting means
at that door: a sum in the current context for expressions, a column of the group table for
frames (see `inputs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve.errors import Check, sentence

__all__ = [
    "Count",
    "amount_checks",
    "inner_eta_checks",
    "label_checks",
    "missing_checks",
    "pos_label_check",
    "posterior_checks",
    "rate_checks",
]

Count: TypeAlias = Callable[[pl.Expr], pl.Expr]
"""From a Boolean expression to the number of rows that have it, as a scalar."""


def _rows(n: pl.Expr, what: str, trouble: str, todo: str) -> Check:
    return Check(n > 0, sentence(f"{what} is {trouble} in ", n.cast(pl.String), f" row(s); {todo}"))


def is_missing(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Null, or NaN where the dtype has it."""
    return value.is_null() | value.is_nan() if dtype.is_float() else value.is_null()


def missing_checks(count: Count, what: str, value: pl.Expr, *, nan: bool) -> Iterator[Check]:
    """No nulls, and no NaN where the dtype may hold one."""
    todo = 'filter those rows out, or pass missing="drop" to a frame method'
    yield _rows(count(value.is_null()), what, "null", todo)
    if nan:
        yield _rows(count(value.cast(pl.Float64).is_nan()), what, "NaN", todo)


def label_checks(count: Count, what: str, value: pl.Expr) -> Iterator[Check]:
    """A numeric label is within {0, 1} or within {-1, 1}."""
    todo = "expected {0, 1} or {-1, 1}, or pass pos_label="
    zeros, ones, minuses = (count(value == valid) for valid in (0, 1, -1))
    others = count(value.is_not_null()) - zeros - ones - minuses
    yield _rows(others, what, "not binary", todo)
    yield Check(
        (zeros > 0) & (minuses > 0),
        sentence(
            f"{what} mixes ",
            zeros.cast(pl.String),
            " row(s) of 0 with ",
            minuses.cast(pl.String),
            f" of -1; {todo}",
        ),
    )


def pos_label_check(count: Count, what: str, positive: pl.Expr, pos_label: Any) -> Iterator[Check]:
    """The positive label occurs, else a misspelt one would silently leave no positives."""
    rows = count(pl.lit(True) | positive)
    text = (
        f" row(s) and none equals pos_label={pos_label!r}; check the spelling, or, if this table "
        f"lawfully has no positives, pass a Boolean label such as pl.col(...) == {pos_label!r}"
    )
    yield Check(
        (rows > 0) & (count(positive) == 0), sentence(f"{what} holds ", rows.cast(pl.String), text)
    )


def amount_checks(count: Count, what: str, value: pl.Expr) -> Iterator[Check]:
    """A weight or a count is finite and not negative."""
    # NaN is above every number in Polars, so one comparison finds it and infinity.
    wrong = (value < 0) | (value.cast(pl.Float64) >= float("inf"))
    yield _rows(count(wrong), what, "negative, infinite or NaN", "expected finite numbers >= 0")


def rate_checks(count: Count, what: str, value: pl.Expr) -> Iterator[Check]:
    """A rate lies in [0, 1]."""
    yield _rows(count(~value.is_between(0, 1)), what, "outside [0, 1]", "expected rates, not percent")


def posterior_checks(count: Count, what: str, value: pl.Expr) -> Iterator[Check]:
    """A posterior lies in [0, 1]; NaN is above every number."""
    todo = "expected probabilities of the positive class"
    yield _rows(count((value < 0) | (value > 1)), what, "outside [0, 1] or NaN", todo)


def eta_checks(count: Count, eta: pl.Expr) -> Iterator[Check]:
    """A prevalence lies in [0, 1]; NaN is above every number."""
    yield _rows(count((eta < 0) | (eta > 1)), "eta=", "outside [0, 1]", "expected shares, not percent")


def inner_eta_checks(count: Count, what: str, eta: pl.Expr) -> Iterator[Check]:
    """A prevalence lies between 0 and 1, where the odds are finite and not 0."""
    todo = "expected shares of positives, not percent, and neither 0 nor 1"
    yield _rows(count((eta <= 0) | (eta >= 1)), what, "not between 0 and 1", todo)
