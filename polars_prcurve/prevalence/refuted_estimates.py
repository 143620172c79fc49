"""Estimates of a prevalence that their own test refutes, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from polars_prcurve.errors import warn_caller

_SHOWN = 5
_SMALL_P_VALUE = 0.01
IS_REFUTED = pl.col("shift_p_value") < _SMALL_P_VALUE
"""Whether no prevalence fits the scores that an estimate is from."""


def describe_refuted_estimates(estimates: pl.DataFrame, by: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for the first estimates that are worthless, and a count."""
    refuted = estimates.filter(IS_REFUTED)
    for row in refuted.head(_SHOWN).to_dicts():
        where = ", ".join(f"{name} = {row[name]}" for name in by)
        yield (
            f"{where}{': ' if where else ''}the estimate is worthless, because no prevalence fits these "
            f"scores (shift_p_value {row['shift_p_value']:.2g}): more than prevalence has changed since "
            "the reference"
        )
    if refuted.height > _SHOWN:
        yield f"{refuted.height - _SHOWN} more estimates are worthless, too"


def warn_of_refuted_estimates(estimates: pl.DataFrame, by: Sequence[str]) -> None:
    """Warn whoever asks for metrics at estimates that are worthless."""
    if found := list(describe_refuted_estimates(estimates, by)):
        warn_caller("; ".join(found))
