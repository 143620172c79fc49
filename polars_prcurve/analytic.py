"""Standard errors and intervals of curve metrics without resampling.

    average precision    from influences; on the logit scale, with a cautious lower end
    ROC AUC              DeLong et al. 1988; on the logit scale
    precision at recall  the threshold moves with the sample, and fpr with it: both in quadrature

Where the highest thresholds stand above all negatives, average precision takes their precision to be
1 at any prevalence, and influences see nothing to doubt. So the lower end is as far from the average
precision of a curve with half a false positive more at every threshold.

`reliable` is what `benchmarks/coverage.py` found: of intervals at 95 %, 93 to 97 % hold the truth.

Sources: DeLong et al. 1988; Zou and Donner 2008; Woodruff 1952.
"""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

from polars_prcurve.columns import FPR, N_NEG_EFFECTIVE, N_POS_EFFECTIVE, ODDS
from polars_prcurve.curve_metrics import CurveMetric, Rows
from polars_prcurve.influence import standard_error
from polars_prcurve.intervals import limits, z_of

__all__ = ["Interval", "analytic_interval", "is_reliable", "parts"]

_Z = z_of(0.95)
_N_POS, _N_NEG = pl.col(N_POS_EFFECTIVE), pl.col(N_NEG_EFFECTIVE)


class Interval(NamedTuple):
    """Of a value; all null where there is none."""

    standard_error: pl.Expr
    low: pl.Expr
    high: pl.Expr
    reliable: pl.Expr
    """Null where there is no interval."""


def parts(name: str, metric: CurveMetric) -> dict[str, CurveMetric]:
    """What its interval needs beside the metric, as metrics."""
    if metric.cautious is not None:
        return {f"{name}_cautious": metric.cautious}
    if metric.at_recall is not None:
        levels = {"middle": 0.0, "above": -_Z, "below": _Z}
        return {f"{name}_{part}": _fpr_at(metric.at_recall, by) for part, by in levels.items()}
    return {}


def analytic_interval(name: str, metric: CurveMetric, confidence: float) -> Interval:
    """Over columns of the metric, its parts and its variances."""
    if metric.at_recall is not None:
        return _of_precision(name, metric.at_recall, confidence)
    value, error = pl.col(name), standard_error(name, metric)
    if metric.influence is None:
        return Interval(error, error, error, pl.lit(None, dtype=pl.Boolean))
    known = value.is_not_null() & error.is_not_null()
    inside = known & (value > 0) & (value < 1)
    middle = lowest = _logit(value)
    if metric.cautious is not None:
        lowest = pl.min_horizontal(middle, _logit(pl.col(f"{name}_cautious")))
    half = z_of(confidence) * error / (value * (1 - value))
    if metric.depends_on_eta:
        weigh = pl.max_horizontal(2.0, _N_POS / 500)
        reliable = is_reliable(value, at_eta=True, short=8, weigh=weigh)
    else:
        reliable = pl.min_horizontal(_N_POS, _N_NEG) * (1 - value) >= 12
    return Interval(
        pl.when(known).then(error),
        pl.when(inside).then(_expit(lowest - half)),
        pl.when(inside).then(_expit(middle + half)),
        pl.when(known).then(inside & reliable),
    )


def is_reliable(value: pl.Expr, *, at_eta: bool, short: float, weigh: pl.Expr) -> pl.Expr:
    """Whether there are 100 examples of each class, so many positives times what the value is
    `short` of 1, and at this prevalence no negative that is to `weigh` more than so many positives."""
    enough = (_N_POS >= 100) & (_N_NEG >= 100) & (_N_POS * (1 - value) >= short)
    return enough & (pl.col(ODDS) * _N_POS <= weigh * _N_NEG) if at_eta else enough


def _fpr_at(recall: float, deviations: float) -> CurveMetric:
    """Fpr at the first row of so much recall, or of so many standard errors more."""

    def term(rows: Rows) -> pl.Expr:
        n = rows.column(N_POS_EFFECTIVE)
        level = recall + deviations * (recall * (1 - recall) / n).sqrt()
        level = pl.max_horizontal(pl.min_horizontal(level, 1.0), 1 / n)
        return pl.when(rows.recall >= level - 1e-12).then(rows.column(FPR))

    return CurveMetric(f"fpr at {recall}", term, total="min", depends_on_eta=False)


def _of_precision(name: str, recall: float, confidence: float) -> Interval:
    """Fpr is uncertain at a threshold, and by where the threshold is; its logarithm has both
    in quadrature, from Wilson's interval and from fpr at the ends of an interval of recall."""
    value, fpr = pl.col(name), pl.col(f"{name}_middle")
    above, below = pl.col(f"{name}_above"), pl.col(f"{name}_below")
    size, scale = _N_NEG + fpr * 0.0, z_of(confidence) / _Z

    def away(end: pl.Expr, moved: pl.Expr) -> pl.Expr:
        return ((end / fpr).log() ** 2 + ((moved / fpr).log() * scale) ** 2).sqrt()

    low, high = limits(fpr * size, size, confidence, "wilson")
    of_moved = limits(below * size, size, confidence, "wilson")[1]
    least = pl.when((fpr > 0) & (above > 0)).then(fpr * (-away(low, above)).exp()).otherwise(0.0)
    most = pl.when(fpr > 0).then(fpr * away(high, below).exp()).otherwise(of_moved)
    ends = [recall / (recall + pl.col(ODDS) * end.clip(upper_bound=1.0)) for end in (most, least)]
    spread = (fpr * (1 - fpr) / size + ((below - above) / (2 * _Z)) ** 2).sqrt()
    error = value * (1 - value) * spread / fpr
    known = value.is_not_null() & fpr.is_not_null() & (pl.col(ODDS) > 0) & pl.col(ODDS).is_finite()
    low, high = (pl.when(known).then(end.fill_nan(None)) for end in ends)
    return Interval(
        pl.when(known & (fpr > 0)).then(error),
        pl.min_horizontal(low, pl.when(low.is_not_null()).then(value)),
        pl.max_horizontal(high, pl.when(high.is_not_null()).then(value)),
        pl.when(known).then((fpr * size >= 5) & (_N_POS * (recall * (1 - recall)) >= 8)),
    )


def _logit(value: pl.Expr) -> pl.Expr:
    return (value / (1 - value)).log()


def _expit(value: pl.Expr) -> pl.Expr:
    return 1 / (1 + (-value).exp())
