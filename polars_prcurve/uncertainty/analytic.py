"""Standard errors and intervals of curve metrics without resampling.

    average precision    from influences; on the logit scale, with a cautious lower end
    ROC AUC              from influences (DeLong et al. 1988); on the logit scale
    precision at recall  from the error of fpr and the error of the threshold, in quadrature

At thresholds above all negatives precision is 1, whatever the prevalence, and influences see no
uncertainty there. The lower end of average precision therefore starts from a cautious value: the
average precision of a curve with half a false positive more at every threshold.

`reliable` applies limits that were read off the simulations of `benchmarks/coverage.py`: within them,
93 to 97 % of the intervals at confidence 0.95 hold the truth.

Sources: DeLong et al. 1988; Zou and Donner 2008; Woodruff 1952.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.bands import combine_distances
from polars_prcurve.confidence.rates import compute_limits, z_value
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.inputs.score_table import InputTable, is_clustered
from polars_prcurve.metrics.curve_metric import CurveMetric, Recipe, Rows
from polars_prcurve.normal_distribution import student_quantile
from polars_prcurve.uncertainty.cluster_errors import STUDENT_FREEDOM, cluster_standard_error
from polars_prcurve.uncertainty.influence import standard_error

_Z_95 = z_value(0.95)
_N_POS, _N_NEG = pl.col(c.N_POS_EFFECTIVE), pl.col(c.N_NEG_EFFECTIVE)
_LEAST_POS, _LEAST_NEG = pl.col(c.N_POS_LEAST), pl.col(c.N_NEG_LEAST)
_CLUSTERED, _KNOWN_AT_RECALL = ("clustered", "weighted clusters"), ("independent", "clustered")

RowKind: TypeAlias = Literal["independent", "clustered", "weighted clusters", "in parts"]
"""Whether examples are independent, come in clusters, or are those of parts of a field.

Of weighted clusters the rates at a threshold have no errors, and so precision at a recall has none."""


class IntervalExprs(NamedTuple):
    """Standard error, limits and reliability of a value; null where unknown."""

    standard_error: pl.Expr
    low: pl.Expr
    high: pl.Expr
    reliable: pl.Expr
    """Whether the sample is large enough for the limits, as simulations showed."""


def has_analytic_interval(metric: CurveMetric) -> bool:
    """Return whether the interval of a metric is known without resampling."""
    return metric.recipe.influence is not None or metric.recipe.at_recall is not None


def find_row_kind(table: InputTable) -> RowKind:
    """Return of which kind the rows of a table are, unless it is a field of several parts."""
    if not is_clustered(table):
        return "independent"
    return "weighted clusters" if table.has_squares else "clustered"


def needs_cluster_rates(table: InputTable, metrics: Iterable[CurveMetric]) -> bool:
    """Return whether the intervals of metrics read the effective sizes of clusters at a threshold."""
    at_recall = any(metric.recipe.at_recall is not None for metric in metrics)
    return at_recall and find_row_kind(table) == "clustered"


def build_helper_metrics(
    name: str, metric: CurveMetric, *, rows: RowKind = "independent"
) -> dict[str, CurveMetric]:
    """Return the other metrics, by name, that the interval of a metric is computed from."""
    recall = metric.recipe.at_recall
    if recall is not None and rows in _KNOWN_AT_RECALL:
        # Less recall is reached above the threshold, more recall below it.
        deviations = {"middle": 0.0, "above": -_Z_95, "below": _Z_95}
        read = {"n_pos": c.N_POS_EFFECTIVE, "n_neg": c.N_NEG_EFFECTIVE}
        read |= {"correlation": c.RATE_CORRELATION} if rows == "clustered" else {}
        return {
            f"{name}_{place}": _build_fpr_at_recall(recall, number)
            for place, number in deviations.items()
        } | {f"{name}_{kind}": _build_column_at_recall(recall, column) for kind, column in read.items()}
    return {f"{name}_{kind}": helper for kind, helper in metric.recipe.helpers.items()}


def bind_errors(
    name: str, metric: CurveMetric, confidence: float, *, rows: RowKind = "independent"
) -> dict[str, pl.Expr]:
    """Return columns that `bind_ends` and `analytic_interval` read, by name."""
    recipe = metric.recipe
    if recipe.at_recall is not None and rows in _KNOWN_AT_RECALL:
        return _bind_sizes_at_recall(name, confidence, clustered=rows == "clustered")
    errors = {f"{name}_error": find_standard_error(name, metric, clustered=rows in _CLUSTERED)}
    if recipe.least_if_perfect is not None:
        errors[f"{name}_open_fpr"] = recipe.least_if_perfect.most_fpr(_N_POS, _N_NEG, 1 - confidence)
    return errors


def find_standard_error(name: str, metric: CurveMetric, *, clustered: bool) -> pl.Expr:
    """Return the standard error of a metric from variances of influences, of examples or of clusters."""
    of_clusters = clustered and metric.recipe.influence is not None
    return cluster_standard_error(name) if of_clusters else standard_error(name, metric)


def bind_ends(
    name: str, metric: CurveMetric, confidence: float, *, rows: RowKind = "independent"
) -> dict[str, pl.Expr]:
    """Return columns that `analytic_interval` reads, by name, from those of `bind_errors`."""
    if metric.recipe.at_recall is not None and rows in _KNOWN_AT_RECALL:
        return _bind_fpr_ends(name, confidence, clustered=rows == "clustered")
    return bind_least_ends(name, metric, confidence)


def bind_least_ends(name: str, metric: CurveMetric, confidence: float) -> dict[str, pl.Expr]:
    """Return the lower end of a metric under perfect separation, by name, where it has one."""
    least = metric.recipe.least_if_perfect
    if least is None:
        return {}
    return {f"{name}_least": least.area(_N_POS, pl.col(c.ODDS), pl.col(f"{name}_open_fpr"))}


def analytic_interval(
    name: str, metric: CurveMetric, confidence: float, *, rows: RowKind = "independent"
) -> IntervalExprs:
    """Return the interval of a metric, as expressions over columns.

    The columns are the metric `name`, its `build_helper_metrics`, and those that are bound for it. Of
    weighted clusters and of parts, precision at a recall has none.
    """
    if metric.recipe.at_recall is not None and rows in _KNOWN_AT_RECALL:
        return _precision_interval_exprs(name, metric.recipe.at_recall, clustered=rows == "clustered")
    value, error = pl.col(name), pl.col(f"{name}_error")
    if metric.recipe.influence is None:
        return IntervalExprs(error, error, error, pl.lit(None, dtype=pl.Boolean))
    known = value.is_not_null() & error.is_not_null()
    inside = known & (value > 0) & (value < 1)
    middle = lower_start = _logit(value)
    if "cautious" in metric.recipe.helpers:
        lower_start = pl.min_horizontal(middle, _logit(pl.col(f"{name}_cautious")))
    # Delta method: the derivative of logit(p) is 1 / (p (1 - p)).
    z = z_value(confidence)
    quantile = student_quantile(z, pl.col(STUDENT_FREEDOM)) if rows in _CLUSTERED else z
    half = quantile * error / (value * (1 - value))
    interval = IntervalExprs(
        pl.when(known).then(error),
        pl.when(inside).then(_expit(lower_start - half)),
        pl.when(inside).then(_expit(middle + half)),
        pl.when(known).then(inside & is_reliable_analytic(name, metric)),
    )
    if metric.recipe.least_if_perfect is None:
        return interval
    # At eta = 0 and 1 average precision is certain.
    varies = (pl.col(c.ODDS) > 0) & pl.col(c.ODDS).is_finite() if metric.depends_on_eta else pl.lit(True)
    return _open_one_end(interval, name, varies)


def _open_one_end(interval: IntervalExprs, name: str, varies: pl.Expr) -> IntervalExprs:
    """Return the interval with one-sided ends where the value is 1 or 0 although it `varies`.

    There all positives score higher, or all lower, than all negatives, so influences see no uncertainty.
    One end is certain, and the other is the least value, or as far away from 0.
    """
    value, least = pl.col(name), pl.col(f"{name}_least")
    known = varies & pl.col(f"{name}_error").is_not_null()
    best, worst = known & (value == 1), known & (value == 0)
    return IntervalExprs(
        pl.when(best | worst).then(None).otherwise(interval.standard_error),
        pl.when(best).then(least).when(worst).then(0.0).otherwise(interval.low),
        pl.when(best).then(1.0).when(worst).then(1 - least).otherwise(interval.high),
        interval.reliable,
    )


def is_reliable_analytic(
    name: str, metric: CurveMetric, column: Callable[[str], pl.Expr] = pl.col
) -> pl.Expr:
    """Return whether enough examples carry the value of a metric, for its interval to be calibrated.

    `column` gives the columns of the metric and its helpers by name. Of ROC AUC, the smaller class times
    1 - AUC must be at least 12. For average precision, `top` and `lost` are the means, over the
    positives, of precision squared and of 1 - precision squared:

    - The value is as uncertain as if `P value**2 / top` positives of one precision carried it, and what
      it lacks as if `P (1 - value)**2 / lost` did. These must be at least 50 and 10.
    - At this prevalence the negatives stand for `N eta / (1 - eta)` positives, at least 10.
    - Half a false positive more, as in the `cautious` value, costs at most a tenth of what is lacking.

    Of weighted rows, each class must be large enough for what it may not show: see `_shows_weights`.
    Throw rows away, and none of these improves.
    """
    value = column(name)
    if not metric.recipe.helpers:
        classes = ((_N_POS, _LEAST_POS), (_N_NEG, _LEAST_NEG))
        # Without heavy examples 1 - AUC is too small, and this ratio of sizes is as much too large.
        enough = pl.min_horizontal(size * (size / least) for size, least in classes) * (1 - value) >= 12
        shown = (_shows_weights(*of) for of in classes)
        # About least**2 / size rows of a class weigh as much as those of the other class do on average.
        # Almost all of the error is theirs, and 20 are needed, times the share by which both differ.
        heavy = (least**2 / size >= 20 * (1 - least / size) for size, least in classes)
        return pl.all_horizontal(enough, *shown, *heavy)
    cautious, top, lost = (column(f"{name}_{kind}") for kind in ("cautious", "top", "lost"))
    carried, missed = _N_POS * value**2 / top, _N_POS * (1 - value) ** 2 / lost
    enough = (carried >= 50) & (missed >= 10) & (10 * pl.col(c.ODDS) <= _N_NEG)
    enough &= value - cautious <= 0.1 * (1 - value)
    return enough & _shows_weights(_N_POS, _LEAST_POS)


def _shows_weights(size: pl.Expr, least: pl.Expr) -> pl.Expr:
    """Return whether a class is large enough for its heavy examples to be in the sample as expected.

    It counts as `size` examples by its own weights, and as `least` by those of the other class. If a few
    heavy ones are missing, `size` is too large and `least` too small, and a metric is wrong. So the flag
    reads their product, which hardly changes: it must be 6000 times the share by which they differ.
    Equal weights are always shown.
    """
    return size * least >= 6000 * (1 - least / size)


def is_reliable_bootstrap(
    name: str, metric: CurveMetric, column: Callable[[str], pl.Expr] = pl.col
) -> pl.Expr:
    """Return whether a sample is large enough for the bootstrap interval of a metric.

    It has 100 examples of each class, and if 1 is the best value, the positives times `1 - value` are at
    least 12. For a metric that depends on prevalence, the negatives stand for at least 500 positives: a
    sample without negatives above its highest positives has no replicate that has one. With 100 of
    them, intervals were seen to hold the truth as rarely as 86 %. An fpr allows 10 negatives: where it
    allows one, intervals of recall at it held the truth as rarely as 73 %.
    """
    enough = (_N_POS >= 100) & (_N_NEG >= 100)
    if metric.recipe.at_fpr is not None:
        enough &= metric.recipe.at_fpr * _N_NEG >= 10
    if metric.range[1] == 1:
        enough &= _N_POS * (1 - column(name)) >= 12
    return enough & (500 * pl.col(c.ODDS) <= _N_NEG) if metric.depends_on_eta else enough


def _build_fpr_at_recall(recall: float, deviations: float) -> CurveMetric:
    """Return a metric: the fpr at which recall reaches `recall` plus `deviations` of its errors.

    Of weighted examples the error of recall differs between rows: each row has its own level.
    """

    def term(rows: Rows) -> pl.Expr:
        n = rows.column(c.N_POS_EFFECTIVE)
        level = recall + deviations * (recall * (1 - recall) / n).sqrt()
        level = pl.max_horizontal(pl.min_horizontal(level, 1.0), 1 / n)
        # As the value itself is: on the ROC curve joined by straight lines, which matters under ties.
        share = ((level - rows.recall_before) / rows.rise).clip(0.0, 1.0)
        # Level and recall are both rounded, and recall may equal the level.
        return pl.when(rows.recall >= level - 1e-12).then(rows.fpr_before + rows.run * share)

    return CurveMetric(f"fpr at {recall}", Recipe(term, total="min"), depends_on_eta=False)


def _build_column_at_recall(recall: float, name: str) -> CurveMetric:
    """Return a metric: the value of a column, above -1, on the row on which recall reaches `recall`."""

    def term(rows: Rows) -> pl.Expr:
        level = recall - 1e-12
        reaches = (rows.recall >= level) & (rows.recall_before < level)
        return pl.when(reaches).then(rows.column(name)).otherwise(-1.0)

    return CurveMetric(f"{name} at {recall}", Recipe(term, total="max"), depends_on_eta=False)


def _bind_sizes_at_recall(name: str, confidence: float, *, clustered: bool) -> dict[str, pl.Expr]:
    """Return the size of the negatives at the threshold of a recall, and how limits are stretched.

    Of clusters, Student's quantiles take the place of normal ones, with the number of clusters of either
    class: they stretch the interval of recall, and shrink the size for that of fpr.
    """
    size, z = repeat_in_rows(pl.col(f"{name}_n_neg"), pl.col(f"{name}_middle")), z_value(confidence)
    # The helper metrics know no confidence: they are fpr at 1.96 standard errors of recall.
    stretch, of_limits = pl.lit(z / _Z_95), size
    if clustered:
        of_recall, of_fpr = (student_quantile(z, n - 1) for n in (_N_POS, _N_NEG))
        stretch, of_limits = of_recall * (1 / _Z_95), size * (z / of_fpr) ** 2
    return {
        f"{name}_size": size,
        f"{name}_size_of_limits": of_limits,
        f"{name}_stretch": stretch,
    }


def _bind_fpr_ends(name: str, confidence: float, *, clustered: bool) -> dict[str, pl.Expr]:
    """Return the least and the greatest fpr at the threshold of a recall.

    It has two errors. One is that of a rate at a fixed threshold: Wilson's interval. The other is that
    of the threshold, which moves with the sample: fpr at the two ends of an interval of recall (Woodruff
    1952). Squared distances from the estimate to both limits add up (Zou and Donner 2008), here on the
    logarithm of fpr. Clusters that hold both classes make both errors go together; what they share
    cancels out.
    """
    fpr, above, below, size, stretch = (
        pl.col(f"{name}_{kind}") for kind in ("middle", "above", "below", "size_of_limits", "stretch")
    )
    correlation = pl.col(f"{name}_correlation") if clustered else None

    def log_distance(limit: pl.Expr, moved: pl.Expr) -> pl.Expr:
        return combine_distances([(limit / fpr).log(), (moved / fpr).log() * stretch], correlation)

    low, high = compute_limits(fpr * size, size, confidence, "wilson")
    # An fpr of 0 has no logarithm: then the upper limit is Wilson's, at the lower threshold.
    high_below = compute_limits(below * size, size, confidence, "wilson")[1]
    least = pl.when((fpr > 0) & (above > 0)).then(fpr * (-log_distance(low, above)).exp()).otherwise(0.0)
    most = pl.when(fpr > 0).then(fpr * log_distance(high, below).exp()).otherwise(high_below)
    return {f"{name}_least_fpr": least, f"{name}_most_fpr": most}


def _precision_interval_exprs(name: str, recall: float, *, clustered: bool) -> IntervalExprs:
    """Return the interval of precision at a recall, from that of fpr at its threshold.

    Recall is fixed, so precision is uncertain through fpr alone.
    """
    value, fpr, size = pl.col(name), pl.col(f"{name}_middle"), pl.col(f"{name}_size")
    n_pos = pl.min_horizontal(f"{name}_n_pos", _N_POS)
    most, least = pl.col(f"{name}_most_fpr"), pl.col(f"{name}_least_fpr")
    ends = [recall / (recall + pl.col(c.ODDS) * end.clip(upper_bound=1.0)) for end in (most, least)]
    of_threshold = (pl.col(f"{name}_below") - pl.col(f"{name}_above")) * (0.5 / _Z_95)
    correlation = pl.col(f"{name}_correlation") if clustered else None
    spread = combine_distances([(fpr * (1 - fpr) / size).sqrt(), of_threshold], correlation)
    # Delta method: the derivative of precision p by log(fpr) is -p (1 - p).
    error = value * (1 - value) * spread / repeat_in_rows(fpr, value)
    known = value.is_not_null() & fpr.is_not_null() & (pl.col(c.ODDS) > 0) & pl.col(c.ODDS).is_finite()
    known &= _N_POS.is_not_null() & _N_NEG.is_not_null()  # sizes of published points may be unknown
    low, high = (pl.when(known).then(end.fill_nan(None)) for end in ends)
    enough = (fpr * size >= 5) & (n_pos * (recall * (1 - recall)) >= 8)
    # `min_horizontal` skips nulls: without a limit the value must not stand in for it.
    return IntervalExprs(
        pl.when(known & (fpr > 0)).then(error),
        pl.min_horizontal(low, pl.when(low.is_not_null()).then(value)),
        pl.max_horizontal(high, pl.when(high.is_not_null()).then(value)),
        pl.when(known).then(enough & _shows_weights(_N_POS, _LEAST_POS)),
    )


def _logit(value: pl.Expr) -> pl.Expr:
    return (value / (1 - value)).log()


def _expit(value: pl.Expr) -> pl.Expr:
    return 1 / (1 + (-value).exp())
