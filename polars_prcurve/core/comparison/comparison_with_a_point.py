"""A model beside one point of others, such as a human reader or a paper: the scores are cut where they
have the recall of the point, or its fpr.

Recall of the model, recall of the point, and both fpr have errors. The first two give the threshold at
which both recalls are the same: z is the number of standard errors by which the recall of a row is not
that of the point, and sqrt(z(level)**2 - z**2) is left for the difference of fpr on this row (Newcombe
1998). The least low end of all rows, and the greatest high end, are those of the point.

This inverts a test of whether any row could have a given difference: at the right threshold both
terms are squares of independent normal variables, and the best row takes one away. No
slope of the curve is estimated. At equal recall precision orders both as fpr does, at every prevalence,
so there is one verdict for all metrics. The roles of recall and fpr may be
exchanged.

Sources: Newcombe 1998; Zou and Donner 2008 for metrics of both rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.core.comparison.difference_limits import judge_sign
from polars_prcurve.core.comparison.model_pairs import Matched, list_compare_columns
from polars_prcurve.core.confidence.doubts import find_first_doubt
from polars_prcurve.core.confidence.point_intervals import combine_distances, find_corners
from polars_prcurve.core.confidence.rate_intervals import find_wilson_ends, z_value
from polars_prcurve.core.ground.errors import PrcError, list_names
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, stop_if_broken
from polars_prcurve.core.inputs.column_reader import check_group_names
from polars_prcurve.core.metrics.metric_lookup import find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_column_names import CELLS

_POINT = "point_"  # what the columns with the cells of the point begin with
_ENDS = ("own", "other", "own_low", "own_high", "other_low", "other_high")
"""The rates that may differ, of the model and of the point, and both ends of either."""
_FEW = 10  # examples of a class: with fewer an interval is unreliable
_NUMBER = f"{RESERVED}number"  # the place of a prevalence among those of the call


def compare_at_point(
    model: Any,
    words: Mapping[str, Any],
    point: Any,
    *,
    match: Matched,
    metrics: Any,
    etas: Sequence[float | None],
    confidence: float,
) -> pl.LazyFrame:
    """Return the result of `compare` for a bound table with more words, beside one of other examples."""
    point_metrics = _read_metrics(metrics, match)
    if None in etas and any(metric.depends_on_eta for metric in point_metrics):
        raise PrcError(
            "pass eta= as numbers: match= compares both tables at one prevalence, and their "
            "own may differ"
        )
    sweep, by = _read_cells(model, words, "model_a", "model")
    point_cells, point_by = _read_cells(point, {}, "model_b", "other")
    if sorted(by) != sorted(point_by):
        raise PrcError(
            f"group both tables by= the same columns: this one has {list_names(by) or 'none'}, "
            f"and other= has {list_names(point_by) or 'none'}"
        )
    if isinstance(point_cells, pl.LazyFrame) is not isinstance(sweep, pl.LazyFrame):
        raise PrcError(
            "call .lazy() or .collect() on one of the tables: one is a LazyFrame and the other "
            "a DataFrame"
        )
    return _subtract_points(
        sweep.lazy(),
        point_cells.lazy(),
        by,
        match=match,
        metrics=point_metrics,
        etas=etas,
        confidence=confidence,
    )


def _read_metrics(metrics: Any, match: Matched) -> list[PointMetric]:
    """Return the metrics of a call, precision if left out; raise for one that cannot be compared."""
    point_metrics = find_metrics("precision" if metrics is None else metrics, PointMetric)
    for metric in point_metrics:
        find_corners(metric)  # raises if the metric has no band
        if metric.name == match:
            raise PrcError(f"leave {match} out of metrics=: match= makes it equal in both tables")
    return point_metrics


def _read_cells(
    table: Any, words: Mapping[str, Any], name: str, model: str
) -> tuple[pl.DataFrame | pl.LazyFrame, list[str]]:
    """Return the sweep, with the column of models under a `name`, and the columns of groups."""
    sweep = table.sweep(**words)
    columns = list(sweep.lazy().collect_schema())
    keys = columns[: columns.index("threshold")]
    column = {**table._words, **words}.get("model") or "model"
    names = pl.col(column).cast(pl.String) if column in keys else pl.lit(model)
    by = [key for key in keys if key != column]
    check_group_names(by, list_compare_columns(None))
    return sweep.select(*by, names.alias(name), *CELLS), by


def _subtract_points(
    sweep: pl.LazyFrame,
    points: pl.LazyFrame,
    by: Sequence[str],
    *,
    match: Matched,
    metrics: Sequence[PointMetric],
    etas: Sequence[float | None],
    confidence: float,
) -> pl.LazyFrame:
    """Return the differences of models, from CELLS by falling score, from the points of their groups."""
    # Users may call their columns whatever they like.
    internal_names = {name: f"{RESERVED}by_{i}" for i, name in enumerate(by)}
    sweep, points, by = (
        sweep.rename(internal_names),
        points.rename(internal_names),
        list(internal_names.values()),
    )
    keys, pair = [*by, "model_a"], [*by, "model_a", "model_b"]
    rows = sweep.select(*keys, *(pl.col(name).cast(pl.Float64) for name in CELLS))
    above_all = rows.group_by(keys).agg(
        tp=pl.lit(0.0),
        fp=pl.lit(0.0),
        fn=(pl.col("tp") + pl.col("fn")).first(),
        tn=(pl.col("fp") + pl.col("tn")).first(),
    )
    rows = _join_points(pl.concat([above_all, rows]), points, by)
    rows = _add_budget(rows.sort(*pair, pl.col("tp") + pl.col("fp")), pair, match, z_value(confidence))
    rows = rows.filter(pl.col("rest") > 0)
    for k, n, name in (("x", "X", "own"), ("y", "Y", "other")):
        low, high = find_wilson_ends(pl.col(k), pl.col(n), pl.col("rest"))
        rows = rows.with_columns(low.alias(f"{name}_low"), high.alias(f"{name}_high"))
    grid = pl.LazyFrame({"eta": etas, _NUMBER: range(len(etas))}, schema_overrides={"eta": pl.Float64})
    rows = rows.join(grid, how="cross")
    differences = [
        _subtract(rows, pair, metric, match).with_columns(metric=pl.lit(metric.name), order=pl.lit(i))
        for i, metric in enumerate(metrics)
    ]
    ordered = pl.concat(differences).sort(
        *by, "eta", _NUMBER, "order", "model_a", "model_b", nulls_last=False
    )
    groups = (pl.col(column).alias(name) for name, column in internal_names.items())
    return ordered.select(*groups, *list_compare_columns(None))


def _join_points(rows: pl.LazyFrame, points: pl.LazyFrame, by: Sequence[str]) -> pl.LazyFrame:
    """Return the rows beside each point of their group; raise if a group has none, or two of a name."""
    cells = (pl.col(name).cast(pl.Float64).alias(_POINT + name) for name in CELLS)
    points = points.select(*by, "model_b", *cells)
    # Of a score with two values the lower one flags all examples.
    cuts = pl.col(f"{_POINT}fn") + pl.col(f"{_POINT}tn") > 0
    points = points.filter(cuts | (pl.len().over(*by, "model_b") == 1))
    twice = pl.struct(*by, "model_b").is_duplicated().sum()
    text = " rows of other= share their group with another; match= takes one point per group"
    points = stop_if_broken(points, [Check(twice > 0, (twice, text))])
    if not by:
        return rows.join(points, how="cross")
    row_pairs = rows.join(points, on=by, how="left", nulls_equal=True)
    has_no_point = pl.col("model_b").is_null()
    keys = [pl.col(name).cast(pl.String).fill_null("null") for name in by]
    group_text = pl.concat_str(keys, separator=", ").filter(has_no_point).first()
    parts = "other= has no row for the group ", group_text, "; add one, or leave it out"
    return stop_if_broken(row_pairs, [Check(has_no_point.any(), parts)])


def _add_budget(rows: pl.LazyFrame, pair: Sequence[str], match: Matched, z: float) -> pl.LazyFrame:
    """Add the pooled rate, the number of errors between both rates, and what is left of z."""
    # Of the rate that is the same, k of n are those of the model; x of X and y of Y are the model and
    # the point in the other rate.
    matched_cells, compared_cells = (("tp", "fn"), ("fp", "tn"))[:: 1 if match == "recall" else -1]
    rows = rows.with_columns(
        k=pl.col(matched_cells[0]),
        n=pl.col(matched_cells[0]) + pl.col(matched_cells[1]),
        x=pl.col(compared_cells[0]),
        X=pl.col(compared_cells[0]) + pl.col(compared_cells[1]),
        point_k=pl.col(_POINT + matched_cells[0]),
        point_n=pl.col(_POINT + matched_cells[0]) + pl.col(_POINT + matched_cells[1]),
        y=pl.col(_POINT + compared_cells[0]),
        Y=pl.col(_POINT + compared_cells[0]) + pl.col(_POINT + compared_cells[1]),
    )
    k, n, point_k, point_n, x, of_x, y, of_y = map(pl.col, ("k", "n", "point_k", "point_n", *"xXyY"))
    reaches = k * point_n >= point_k * n
    rows = rows.with_columns(rate=(k + point_k) / (n + point_n), reaches=reaches).with_columns(
        before=pl.col("reaches").shift(-1).over(pair), after=pl.col("reaches").shift(1).over(pair)
    )
    # If both rates are one, p, their difference has the variance p (1 - p) (1 / n + 1 / point_n).
    rate = pl.col("rate")
    error = (rate * (1 - rate) * (1 / n + 1 / point_n)).sqrt()
    off = (k / n - point_k / point_n).abs()
    is_first = pl.col("reaches") & ~pl.col("after").fill_null(False)
    is_before = ~pl.col("reaches") & pl.col("before").fill_null(False)
    # The right threshold lies between the two rows.
    errors = pl.when(is_first | is_before | (off == 0)).then(0.0).otherwise(off / error)
    rows = rows.with_columns(errors=errors, is_first=is_first, own=x / of_x, other=y / of_y)
    pooled = (x + y) / (of_x + of_y)
    spread = (pooled * (1 - pooled) * (1 / of_x + 1 / of_y)).sqrt()
    gap = (pl.col("own") - pl.col("other")).abs()
    between = pl.when(gap == 0).then(0.0).otherwise(gap / spread)
    # Both terms are squares of normal variables; the least sum of a row is that of the p-value.
    return rows.with_columns(
        rest=(z * z - pl.col("errors") ** 2).clip(lower_bound=0.0).sqrt(),
        least=(pl.col("errors") ** 2 + between**2).min().over(pair),
    )


def _subtract(
    rows: pl.LazyFrame, pair: Sequence[str], metric: PointMetric, match: Matched
) -> pl.LazyFrame:
    """Return one row per pair and prevalence, with the difference of a metric and its verdict."""
    values = {}
    for name in _ENDS:
        recall, fpr = (pl.col("rate"), pl.col(name))[:: 1 if match == "recall" else -1]
        values[f"of_{name}"] = metric.from_columns(recall, fpr, pl.col("eta"))
    rows = rows.with_columns(**values)
    limits = _find_limits(*map(pl.col, values))
    first = pl.col("is_first")
    sums = rows.group_by(*pair, "eta", _NUMBER).agg(
        difference=(pl.col("of_own") - pl.col("of_other")).filter(first).first(),
        low=limits[0].fill_nan(None).min(),
        high=limits[1].fill_nan(None).max(),
        least=pl.col("least").first(),
        n_same=pl.min_horizontal("n", "point_n").first(),
        n_other=pl.min_horizontal("X", "Y").first(),
    )
    is_known = pl.col("difference").is_not_null() & pl.col("low").is_not_null()
    matched_class, compared_class = (
        ("positives", "negatives") if match == "recall" else ("negatives", "positives")
    )
    few = {
        f"few {matched_class}": pl.col("n_same") < _FEW,
        f"few {compared_class}": pl.col("n_other") < _FEW,
    }
    is_large = (pl.col("n_same") >= _FEW) & (pl.col("n_other") >= _FEW)
    return sums.with_columns(
        standard_error=pl.lit(None, dtype=pl.Float64),
        p_value=pl.when(is_known).then(normal_cdf(-pl.col("least").sqrt()) * 2),
        significant=pl.when(is_known).then(judge_sign(pl.col("low"), pl.col("high"), is_large)),
        doubt=find_first_doubt(few, is_known),
    )


def _find_limits(model_value: pl.Expr, point_value: pl.Expr, *ends: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    """Return both ends of a difference, from two values and the values at the ends of their rates."""
    lows = pl.min_horizontal(ends[:2]), pl.min_horizontal(ends[2:])
    highs = pl.max_horizontal(ends[:2]), pl.max_horizontal(ends[2:])
    below = combine_distances([model_value - lows[0], highs[1] - point_value])  # Zou and Donner 2008
    above = combine_distances([highs[0] - model_value, point_value - lows[1]])
    return model_value - point_value - below, model_value - point_value + above
