"""Tests of a promised precision in a field of several parts, whose alerts have no binomial tail.

The precision of a field is at least a target where fpr / recall is at most a ratio. Recall and fpr are
sums over parts, so the upper limit of ln(fpr / recall) adds distances in quadrature twice (Zou and
Donner 2008): from each part to the limit of the sum, and from both sums to that of their quotient. The
limits of a part are one-sided ones of Clopper and Pearson.

A run starts at the row whose number of alerts is a quarter of all positives, which no label chooses.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from polars_prcurve.column_names import GROUP, PART_ETA, PART_SHARE, RESERVED, SCORE
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.intervals.rates import compute_beta_limits
from polars_prcurve.sweep.part_counts import PART, PART_COUNTS, build_part_counts

FIELD_STARTED = f"{RESERVED}field_started"
"""Whether a run may start at a row, or has started above."""
FIELD_LOG_RATIO = f"{RESERVED}field_log_ratio"
"""The one-sided upper limit of ln(fpr / recall) at a row; infinite if there is none."""


def add_field_tests(
    rows: pl.LazyFrame, groups: pl.LazyFrame, alpha: float, table: ScoreTable
) -> pl.LazyFrame:
    """Add FIELD_STARTED and FIELD_LOG_RATIO, which errs with `alpha`, to the rows of a sweep."""
    points = rows.select(GROUP, SCORE).join(groups.select(*table.by, GROUP), on=GROUP)
    counts = table.collect(build_part_counts(table, points), "guarantee= with within=")
    # In order, so that sums do not depend on how the engine came by the rows.
    counts = counts.sort(GROUP, SCORE, PART)
    weights = pl.col(PART_SHARE) * pl.col(PART_ETA), pl.col(PART_SHARE) * (1 - pl.col(PART_ETA))
    for place, (k, n, end) in enumerate(zip(PART_COUNTS[::2], PART_COUNTS[1::2], (0, 1), strict=True)):
        # A limit is the same wherever a part has the same count.
        once = counts.select(k, n).unique()
        limit = compute_beta_limits(once[k].to_numpy(), once[n].to_numpy(), alpha, 0.0)[end]
        rate = (pl.col(k) / pl.col(n)).fill_nan(0.0)
        once = once.with_columns(pl.Series(_LIMITS[place], limit), rate.alias(_RATES[place]))
        counts = counts.join(once, on=[k, n], how="left", maintain_order="left")
        step = (pl.col(_LIMITS[place]) - pl.col(_RATES[place])).fill_nan(0.0) * weights[place]
        counts = counts.with_columns((step * step).alias(_LIMITS[place]))
    k_pos, n_pos, k_neg, _ = map(pl.col, PART_COUNTS)
    terms = {
        "alerts": k_pos + k_neg,
        "n_pos": n_pos,
        "eta": weights[0],
        "rest": weights[1],
        "tp": weights[0] * pl.col(_RATES[0]),
        "fp": weights[1] * pl.col(_RATES[1]),
        "tp_square": pl.col(_LIMITS[0]),
        "fp_square": pl.col(_LIMITS[1]),
    }
    added = _add_parts(counts, {f"{RESERVED}{name}": term for name, term in terms.items()})
    started = pl.col(f"{RESERVED}alerts") * 4 >= pl.col(f"{RESERVED}n_pos")
    tests = added.lazy().select(
        GROUP, SCORE, started.alias(FIELD_STARTED), _build_upper_limit().alias(FIELD_LOG_RATIO)
    )
    return rows.join(tests, on=[GROUP, SCORE], how="left", maintain_order="left")


def _add_parts(counts: pl.DataFrame, terms: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Return the sums of terms over the parts of each row, of counts by GROUP and SCORE in order."""
    import numpy as np

    is_first = pl.col(GROUP).ne_missing(pl.col(GROUP).shift(1))
    is_first |= pl.col(SCORE).ne_missing(pl.col(SCORE).shift(1))
    first = np.flatnonzero(counts.select(is_first).to_series().to_numpy())
    values = counts.select(term.alias(name) for name, term in terms.items())
    sums = [pl.Series(v.name, np.add.reduceat(v.to_numpy(), first)) for v in values if len(first)]
    return counts.select(GROUP, SCORE)[first].with_columns(
        sums or [pl.lit(0.0).alias(name) for name in terms]
    )


_LIMITS = f"{RESERVED}recall_limit", f"{RESERVED}fpr_limit"
_RATES = f"{RESERVED}recall_of_part", f"{RESERVED}fpr_of_part"


def _build_upper_limit() -> pl.Expr:
    """Return the upper limit of ln(fpr / recall) from the sums over parts."""
    eta, rest, tp, fp, tp_square, fp_square = (
        pl.col(f"{RESERVED}{name}") for name in ("eta", "rest", "tp", "fp", "tp_square", "fp_square")
    )
    recall, fpr = tp / eta, fp / rest
    least = (tp - tp_square.sqrt()) / eta
    most = ((fp + fp_square.sqrt()) / rest).clip(upper_bound=1.0)
    apart = ((most / fpr).log() ** 2 + (recall / least).log() ** 2).sqrt()
    # The logarithm of 0 is infinitely far: then both sums are at their limits.
    limit = pl.when(fp > 0).then((fpr / recall).log() + apart).otherwise((most / least).log())
    return pl.when(least > 0).then(limit).otherwise(float("inf"))
