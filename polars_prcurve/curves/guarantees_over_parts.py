"""Tests of promises in a field of several parts, whose alerts have no binomial tail.

Recall and fpr of a field are sums over parts. A limit of such a sum is as far from it as the limits of
the parts are from their rates, in quadrature (Zou and Donner 2008). The limits of a part are one-sided
ones of Clopper and Pearson. A share of alerts adds the parts of both classes in the same way.

Precision is at least a target where fpr / recall is at most a ratio, so its upper limit adds distances a
second time: from both sums to that of their quotient. Npv is at least a target where fnr / tnr is. Both
are tested along a run, whose start no label chooses: from the first row on at which the best labels that
the examples above it could have would leave room. Limits of rates go one way with the threshold and need
no run.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.intervals import compute_beta_limits
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable
from polars_prcurve.sweep.sweep_table import PART, PART_COUNTS, build_part_counts


class RunColumns(NamedTuple):
    """The columns that a run of precision or of npv reads; limits are logarithms."""

    limit: str
    """The upper limit of ln(fpr / recall), or of ln(fnr / tnr) for npv; infinite if there is none."""
    is_long_enough: str  # whether the examples so far are at least an eighth of the class that is sought
    best: str
    """The least limit so far, had the examples of each row the best labels that they could have."""
    best_of_all: str  # the least of these at any row of the group


PRECISION_RUN, NPV_RUN = (
    RunColumns(*(f"{c.RESERVED}field_{name}_{of}" for of in RunColumns._fields))
    for name in ("precision", "npv")
)
FIELD_RECALL_LOW, FIELD_FPR_HIGH, FIELD_ALERTS_HIGH = (
    f"{c.RESERVED}field_{name}" for name in ("recall_low", "fpr_high", "alerts_high")
)
"""Limits of recall, of fpr, and of the share of alerts."""


def add_field_tests(
    rows: pl.LazyFrame, groups: pl.LazyFrame, alpha: float, table: ScoreTable
) -> pl.LazyFrame:
    """Add the columns above, whose limits err with `alpha`, to the rows of a sweep."""
    points = rows.select(c.GROUP, c.SCORE).join(groups.select(*table.by, c.GROUP), on=c.GROUP)
    counts = table.collect(build_part_counts(table, points), "guarantee= with field()")
    # In order, so that sums do not depend on how the engine came by the rows.
    counts = counts.sort(c.GROUP, c.SCORE, PART, descending=[False, True, False])
    # The best labels that the examples above a row could have: for precision the alerts are positives,
    # for npv all else is negative, as far as there are any in each part.
    tp, n_pos, fp, n_neg = map(pl.col, PART_COUNTS)
    alerts, silent = tp + fp, n_pos + n_neg - tp - fp
    flagged, passed = pl.min_horizontal(alerts, n_pos), pl.min_horizontal(silent, n_neg)
    cells = (flagged, alerts - flagged), (n_pos - (silent - passed), n_neg - passed)
    labels = (dict(zip(PART_COUNTS[::2], pair, strict=True)) for pair in cells)
    every = [counts, *(counts.with_columns(**label) for label in labels)]
    limits = _compute_limits(pl.concat(every), alpha)
    n = limits.height // 3
    best = {PRECISION_RUN: limits[n : 2 * n], NPV_RUN: limits[2 * n :]}
    tests = limits[:n].with_columns(found[run.limit].alias(run.best) for run, found in best.items())
    tests = tests.with_columns(
        *(pl.col(run.best).min().over(c.GROUP).alias(run.best_of_all) for run in best),
        pl.col(PRECISION_RUN.best).cum_min().over(c.GROUP),
        pl.col(NPV_RUN.best).cum_min(reverse=True).over(c.GROUP),  # its run goes from low scores up
    )
    return rows.join(tests.lazy(), on=[c.GROUP, c.SCORE], how="left", maintain_order="left")


# Limits of sums over parts ---------------------------------------------------------------------

_RATES = f"{c.RESERVED}recall_of_part", f"{c.RESERVED}fpr_of_part"
_SQUARES = ("tp_below", "tp_above"), ("fp_below", "fp_above")
"""Squared distances from the rate of a part to both limits, in shares of the field."""
_SHARES = pl.col(c.PART_SHARE) * pl.col(c.PART_ETA), pl.col(c.PART_SHARE) * (1 - pl.col(c.PART_ETA))
"""The shares of a part's positives and negatives in the field."""


def _compute_limits(counts: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Return a row per GROUP and SCORE: the limits of both runs, whether they are long, and of rates."""
    import numpy as np

    counts = _add_squares(counts, alpha)
    k_pos, n_pos, k_neg, n_neg = map(pl.col, PART_COUNTS)
    (recall, fpr), (pos, neg) = map(pl.col, _RATES), _SHARES
    terms = {"alerts": k_pos + k_neg, "silent": n_pos - k_pos + n_neg - k_neg}
    terms |= {"n_pos": n_pos, "n_neg": n_neg, "pos": pos, "neg": neg}
    terms |= {"tp": pos * recall, "fn": pos * (1 - recall), "fp": neg * fpr, "tn": neg * (1 - fpr)}
    terms |= {name: pl.col(name) for name in (*_SQUARES[0], *_SQUARES[1])}
    # Parts of a row rise. One that does not is of the next row, also at the seam of two tables, where
    # GROUP and SCORE may be equal.
    is_first = (pl.col(PART) <= pl.col(PART).shift(1)).fill_null(False)
    for name in (c.GROUP, c.SCORE):
        is_first |= pl.col(name).ne_missing(pl.col(name).shift(1))
    first = np.flatnonzero(counts.select(is_first).to_series().to_numpy())
    values = counts.select(term.alias(name) for name, term in terms.items())
    sums = [pl.Series(v.name, np.add.reduceat(v.to_numpy(), first)) for v in values if len(first)]
    rows = counts.select(c.GROUP, c.SCORE)[first]
    rows = rows.with_columns(sums or [pl.lit(0.0).alias(name) for name in terms])
    tp, fn, fp, tn, pos, neg = map(pl.col, ("tp", "fn", "fp", "tn", "pos", "neg"))
    # The limit of a sum is as far from it as those of its parts are, in quadrature.
    below, above = pl.col("tp_below").sqrt(), pl.col("fp_above").sqrt()
    tp_low, fp_high = tp - below, pl.min_horizontal(fp + above, neg)
    columns = {
        PRECISION_RUN.limit: _limit_log_ratio((fp / neg, fp_high / neg), (tp / pos, tp_low / pos)),
        PRECISION_RUN.is_long_enough: pl.col("alerts") * 8 >= pl.col("n_pos"),
        NPV_RUN.limit: _limit_log_ratio((fn / pos, (fn + below) / pos), (tn / neg, (tn - above) / neg)),
        NPV_RUN.is_long_enough: pl.col("silent") * 8 >= pl.col("n_neg"),
        FIELD_RECALL_LOW: tp_low / pos,
        FIELD_FPR_HIGH: fp_high / neg,
        FIELD_ALERTS_HIGH: tp + fp + (pl.col("tp_above") + pl.col("fp_above")).sqrt(),
    }
    return rows.select(c.GROUP, c.SCORE, **columns)


def _add_squares(counts: pl.DataFrame, alpha: float) -> pl.DataFrame:
    """Add both rates of each part, and the squared distances to their limits, to the counts of parts."""
    classes = zip(PART_COUNTS[::2], PART_COUNTS[1::2], _RATES, _SQUARES, _SHARES, strict=True)
    for k, n, rate, squares, share in classes:
        # A limit is the same wherever a part has the same count.
        once = counts.select(k, n).unique()
        limits = compute_beta_limits(once[k].to_numpy(), once[n].to_numpy(), alpha, 0.0)
        share_found = (pl.col(k) / pl.col(n)).fill_nan(0.0).alias(rate)
        once = once.with_columns(share_found, **dict(zip(squares, map(pl.Series, limits), strict=True)))
        counts = counts.join(once, on=[k, n], how="left", maintain_order="left")
        # A part without examples of a class has no share of it.
        steps = {name: (pl.col(name) - pl.col(rate)).fill_nan(0.0) * share for name in squares}
        counts = counts.with_columns((step * step).alias(name) for name, step in steps.items())
    return counts


def _limit_log_ratio(top: tuple[pl.Expr, pl.Expr], bottom: tuple[pl.Expr, pl.Expr]) -> pl.Expr:
    """Return the upper limit of ln(top / bottom), each a rate, and its high or its low limit."""
    (rate, high), (other, low) = top, bottom
    apart = ((high / rate).log() ** 2 + (other / low).log() ** 2).sqrt()
    # The logarithm of 0 is infinitely far: then both rates are at their limits.
    limit = pl.when(rate > 0).then((rate / other).log() + apart).otherwise((high / low).log())
    return pl.when(low > 0).then(limit).otherwise(float("inf"))
