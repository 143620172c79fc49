"""Prevalences that are estimates: k of n with an interval, and those that their own test refutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar, overload

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.interval_input_columns import (
    ETA_CONFIDENCE,
    ETA_HIGH,
    ETA_LOW,
    UNCERTAIN_ETA_COLUMNS,
)
from polars_prcurve.core.confidence.rate_intervals import (
    are_rates,
    check_confidence,
    compute_limits,
    describe_rate,
)
from polars_prcurve.core.ground.argument_checks import check_texts, read_numbers, take_frame
from polars_prcurve.core.ground.column_checks import count_check
from polars_prcurve.core.ground.errors import PrcError, warn_caller
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.query_guards import Check, run_query, stop_if_broken

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

F = TypeVar("F", pl.DataFrame, pl.LazyFrame)
"""The frame of a sample, and of the estimates."""


@overload
def eta_from_sample(sample: F, *, k: str = "k", n: str = "n", confidence: float = 0.95) -> F: ...
@overload
def eta_from_sample(
    sample: ArrayLike | None = None,
    n: ArrayLike | None = None,
    confidence: float = 0.95,
    *,
    k: ArrayLike | None = None,
) -> pl.DataFrame: ...


@hint_at_arguments
def eta_from_sample(
    sample: Any = None, n: Any = None, confidence: float = 0.95, *, k: Any = None
) -> Any:
    """Return the prevalence of a sample, `k` positives among `n` examples, with its interval.

    Of n examples drawn at random where the model will run, k were positive. The result is a frame that
    every `eta=` takes; intervals then also include the error of the prevalence.

    Parameters
    ----------
    sample
        Either `eta_from_sample(k, n)`, the positives and the examples, as numbers or sequences of
        numbers. Or `eta_from_sample(frame, k="k", n="n")`, a frame with these two columns and others,
        such as those of groups.
    k, n
        0 <= k <= n, and n > 0; a k between 0 and 1 is refused as a rate. For a frame, the names of
        its columns.
    confidence
        The level of the interval: pass the same to the method that takes the frame.

    Returns
    -------
    One row per sample, in order: for a frame, its other columns, and

    - `eta`: Float64, k / n
    - `eta_low`, `eta_high`: Float64, the interval of Wilson 1927, as in `rate_interval`
    - `eta_confidence`: Float64, the level

    The interval is for examples that were drawn at random, independently of each other.

    Examples
    --------
    >>> eta_from_sample(3, 200)
    shape: (1, 4)
    ┌───────┬──────────┬──────────┬────────────────┐
    │ eta   ┆ eta_low  ┆ eta_high ┆ eta_confidence │
    │ ---   ┆ ---      ┆ ---      ┆ ---            │
    │ f64   ┆ f64      ┆ f64      ┆ f64            │
    ╞═══════╪══════════╪══════════╪════════════════╡
    │ 0.015 ┆ 0.005114 ┆ 0.043166 ┆ 0.95           │
    └───────┴──────────┴──────────┴────────────────┘
    """
    level = check_confidence(confidence)
    sample = take_frame(sample)
    if isinstance(sample, pl.DataFrame | pl.LazyFrame):
        query = _add_eta(sample.lazy(), "k" if k is None else k, "n" if n is None else n, level)
        return run_query(query) if isinstance(sample, pl.DataFrame) else query
    if (sample is None) == (k is None) or n is None:
        raise PrcError(
            "eta_from_sample takes k and n, or a frame and the names of its columns k= and n="
        )
    k_argument = k if sample is None else sample
    k_and_n_arrays = [read_numbers(name, values) for name, values in (("k", k_argument), ("n", n))]
    if any(array.ndim > 1 for array in k_and_n_arrays):
        raise PrcError("k and n of eta_from_sample are numbers, or sequences of numbers")
    if len({array.size for array in k_and_n_arrays if array.ndim == 1}) > 1:
        lengths_text = " and ".join(str(array.size) for array in k_and_n_arrays)
        raise PrcError(f"pass one n for each k to eta_from_sample: their lengths are {lengths_text}")
    k_values, n_values = np.broadcast_arrays(*map(np.atleast_1d, k_and_n_arrays))
    return run_query(_add_eta(pl.LazyFrame({"k": k_values, "n": n_values}), "k", "n", level))


def _add_eta(sample_rows: pl.LazyFrame, k_column: str, n_column: str, confidence: float) -> pl.LazyFrame:
    """Return the frame with the four columns instead of k and n; the query stops at wrong counts."""
    check_texts(k=k_column, n=n_column)
    schema = sample_rows.collect_schema()
    for argument_name, column_name in (("k", k_column), ("n", n_column)):
        if column_name not in schema or not schema[column_name].is_numeric():
            schema_text = list_names(f"{name}: {dtype}" for name, dtype in schema.items())
            raise PrcError(
                f"pass numeric columns {k_column!r} and {n_column!r} to eta_from_sample; the frame "
                f"has {schema_text} (name the column of {argument_name} with {argument_name}=)"
            )
    other_columns = [name for name in schema if name not in (k_column, n_column)]
    for name in ("eta", *UNCERTAIN_ETA_COLUMNS):
        if name in other_columns:
            raise PrcError(
                f"rename the column {name!r} of the frame: eta_from_sample adds one of that name"
            )
    k_expr, n_expr = pl.col(k_column).cast(pl.Float64), pl.col(n_column).cast(pl.Float64)
    is_possible = (k_expr >= 0) & (k_expr <= n_expr) & (n_expr > 0) & n_expr.is_finite()
    start_phrase = (
        f"eta_from_sample needs 0 <= {k_column} <= {n_column} and {n_column} > 0, and no nulls; "
    )
    start_phrase += "got others in "
    n_wrong = (~is_possible).fill_null(True).sum()
    is_rate = are_rates(k_expr, n_expr)
    first_rate, first_size = (expr.filter(is_rate).first() for expr in (k_expr, n_expr))
    first_size = first_size.cast(pl.Int128)  # written without a decimal point
    rate_check = Check(is_rate.any(), describe_rate(k_column, n_column, first_rate, first_size))
    count_checks = [rate_check, count_check(n_wrong, start_phrase, " row(s)")]
    checked_rows = stop_if_broken(sample_rows, count_checks)
    low_expr, high_expr = compute_limits(k_expr, n_expr, confidence, "wilson")
    return checked_rows.select(
        *other_columns,
        (k_expr / n_expr).alias("eta"),
        low_expr.alias(ETA_LOW),
        high_expr.alias(ETA_HIGH),
        pl.lit(confidence).alias(ETA_CONFIDENCE),
    )


# Estimates of a prevalence that their own test refutes ------------------------------------------

_SHOWN = 5  # so that a warning stays readable
_SMALL_P_VALUE = 0.01  # one estimate in a hundred that are right is called worthless
IS_REFUTED = pl.col("shift_p_value") < _SMALL_P_VALUE
"""Whether no prevalence fits the scores that an estimate is from."""


def doubt_refuted_estimates(query: pl.LazyFrame, carried_columns: Sequence[str]) -> pl.LazyFrame:
    """Return a result, its intervals in doubt at those prevalences that their own test refutes."""
    if "shift_p_value" not in carried_columns or DOUBT not in query.collect_schema():
        return query
    doubt_expr = pl.when(IS_REFUTED).then(pl.lit("more than prevalence changed")).otherwise(DOUBT)
    return query.with_columns(doubt_expr.alias(DOUBT))


def describe_refuted_estimates(estimates: pl.DataFrame, group_names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for the first estimates that are worthless, and a count."""
    refuted_estimates = estimates.filter(IS_REFUTED)
    for row in refuted_estimates.head(_SHOWN).to_dicts():
        group_text = ", ".join(f"{name} = {row[name]}" for name in group_names)
        yield (
            f"{group_text}{': ' if group_text else ''}the estimate is worthless, because no prevalence "
            f"fits these scores (shift_p_value {row['shift_p_value']:.2g}): more than prevalence has "
            "changed since the reference"
        )
    if refuted_estimates.height > _SHOWN:
        yield f"{refuted_estimates.height - _SHOWN} more estimates are also worthless"


_ARE_REFUSED: ContextVar[bool] = ContextVar("refuted_estimates_are_refused", default=False)
"""Whether worthless estimates raise in this thread: a global filter of warnings would reach others."""


@contextmanager
def refuse_refuted_estimates() -> Iterator[None]:
    """Let worthless estimates raise, since nothing can be decided at them."""
    reset_token = _ARE_REFUSED.set(True)
    try:
        yield
    finally:
        _ARE_REFUSED.reset(reset_token)


def warn_of_refuted_estimates(estimates: pl.DataFrame, group_names: Sequence[str]) -> None:
    """Warn whoever requests metrics at estimates that are worthless, or raise for a decision at them."""
    if not (sentences := list(describe_refuted_estimates(estimates, group_names))):
        return
    if _ARE_REFUSED.get():
        raise PrcError(
            "pass a known prevalence, since nothing can be decided at a worthless one: "
            f"{'; '.join(sentences)}"
        )
    warn_caller("; ".join(sentences))
