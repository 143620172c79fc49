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

from polars_prcurve.core.comparison.comparison_request import Matched, list_compare_columns
from polars_prcurve.core.comparison.significance_and_margin import SPARE, judge_sign
from polars_prcurve.core.confidence.doubts import find_first_doubt
from polars_prcurve.core.confidence.point_intervals import combine_distances, find_corners
from polars_prcurve.core.confidence.rate_intervals import find_wilson_ends, z_value
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import check_group_dtypes, check_group_names
from polars_prcurve.core.metrics.metric_lookup import find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_column_names import CELLS

_POINT = "point_"  # what the columns with the cells of the point begin with
_RATES = ("matched", "point_matched", "own", "other")
"""The rate that match= makes equal, of the model and of the point, and the other rate of either."""
_ENDS = ("own", "other", "own_low", "own_high", "other_low", "other_high")
"""The rates that may differ, of the model and of the point, and both ends of either."""
_FEW = 10  # examples of a class: with fewer an interval is unreliable
_NUMBER = f"{RESERVED}number"  # the place of a prevalence among those of the call


def compare_at_point(
    model_table: Any,
    table_words: Mapping[str, Any],
    point_table: Any,
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
    model_rows, group_columns = _read_model_sweep(model_table, table_words, "model_a", "model")
    point_rows, point_group_columns = _read_model_sweep(point_table, {}, "model_b", "other")
    _check_groups(model_rows, point_rows, group_columns, point_group_columns)
    if isinstance(point_rows, pl.LazyFrame) is not isinstance(model_rows, pl.LazyFrame):
        raise PrcError(
            "call .lazy() or .collect() on one of the tables: one is a LazyFrame and the other "
            "a DataFrame"
        )
    return _subtract_points(
        model_rows.lazy(),
        point_rows.lazy(),
        group_columns,
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


def _read_model_sweep(
    table: Any, table_words: Mapping[str, Any], alias: str, default_name: str
) -> tuple[pl.DataFrame | pl.LazyFrame, list[str]]:
    """Return the sweep, with the column of models under a `alias`, and the columns of groups."""
    sweep = table.sweep(**table_words)
    column_names = list(sweep.lazy().collect_schema())
    key_columns = column_names[: column_names.index("threshold")]
    model_column = {**table._words, **table_words}.get("model") or "model"
    name_expr = (
        pl.col(model_column).cast(pl.String) if model_column in key_columns else pl.lit(default_name)
    )
    group_columns = [name for name in key_columns if name != model_column]
    check_group_names(group_columns, list_compare_columns(None))
    return sweep.select(*group_columns, name_expr.alias(alias), *CELLS), group_columns


def _check_groups(
    model_rows: pl.DataFrame | pl.LazyFrame,
    point_rows: pl.DataFrame | pl.LazyFrame,
    group_columns: Sequence[str],
    point_group_columns: Sequence[str],
) -> None:
    """Raise unless both tables have the same group columns, of the same dtypes."""
    if sorted(group_columns) != sorted(point_group_columns):
        raise PrcError(
            f"group both tables by= the same columns: this one has "
            f"{list_names(group_columns) or 'none'}, and other= has "
            f"{list_names(point_group_columns) or 'none'}"
        )
    schema, point_schema = (rows.lazy().collect_schema() for rows in (model_rows, point_rows))
    point_dtypes = {name: point_schema[name] for name in group_columns}
    check_group_dtypes(point_dtypes, schema, "in the other= table", "in this one")


def _subtract_points(
    model_rows: pl.LazyFrame,
    point_rows: pl.LazyFrame,
    group_columns: Sequence[str],
    *,
    match: Matched,
    metrics: Sequence[PointMetric],
    etas: Sequence[float | None],
    confidence: float,
) -> pl.LazyFrame:
    """Return the differences of models, from CELLS by falling score, from the points of their groups."""
    # Users may call their columns whatever they like.
    internal_name_by_column = {name: f"{RESERVED}by_{i}" for i, name in enumerate(group_columns)}
    model_rows = model_rows.rename(internal_name_by_column)
    point_rows = point_rows.rename(internal_name_by_column)
    group_columns = list(internal_name_by_column.values())
    model_keys, pair_keys = [*group_columns, "model_a"], [*group_columns, "model_a", "model_b"]
    model_rows = model_rows.select(*model_keys, *(pl.col(name).cast(pl.Float64) for name in CELLS))
    rows_above_all = model_rows.group_by(model_keys).agg(
        tp=pl.lit(0.0),
        fp=pl.lit(0.0),
        fn=(pl.col("tp") + pl.col("fn")).first(),
        tn=(pl.col("fp") + pl.col("tn")).first(),
    )
    paired_rows = _join_given_points(pl.concat([rows_above_all, model_rows]), point_rows, group_columns)
    paired_rows = paired_rows.sort(*pair_keys, pl.col("tp") + pl.col("fp"))
    paired_rows = _add_errors_left(_add_hits(paired_rows, match), pair_keys, z_value(confidence))
    paired_rows = paired_rows.filter(pl.col("rest") > 0)
    for rate_name in ("own", "other"):
        low, high = find_wilson_ends(
            pl.col(f"{rate_name}_hits"), pl.col(f"{rate_name}_size"), pl.col("rest")
        )
        paired_rows = paired_rows.with_columns(
            low.alias(f"{rate_name}_low"), high.alias(f"{rate_name}_high")
        )
    eta_rows = pl.LazyFrame(
        {"eta": etas, _NUMBER: range(len(etas))}, schema_overrides={"eta": pl.Float64}
    )
    paired_rows = paired_rows.join(eta_rows, how="cross")
    difference_frames = [
        _subtract_values(paired_rows, pair_keys, metric, match).with_columns(
            metric=pl.lit(metric.name), order=pl.lit(i)
        )
        for i, metric in enumerate(metrics)
    ]
    sorted_differences = pl.concat(difference_frames).sort(
        *group_columns, "eta", _NUMBER, "order", "model_a", "model_b", nulls_last=False
    )
    group_exprs = (pl.col(column).alias(name) for name, column in internal_name_by_column.items())
    return sorted_differences.select(*group_exprs, *list_compare_columns(None), SPARE)


def _join_given_points(
    model_rows: pl.LazyFrame, point_rows: pl.LazyFrame, group_columns: Sequence[str]
) -> pl.LazyFrame:
    """Return the rows beside each point of their group; raise if a group has none, or two of a name."""
    point_cell_exprs = (pl.col(name).cast(pl.Float64).alias(_POINT + name) for name in CELLS)
    point_rows = point_rows.select(*group_columns, "model_b", *point_cell_exprs)
    # Of a score with two values the lower one flags all examples.
    has_unflagged = pl.col(f"{_POINT}fn") + pl.col(f"{_POINT}tn") > 0
    point_rows = point_rows.filter(has_unflagged | (pl.len().over(*group_columns, "model_b") == 1))
    n_repeated = pl.struct(*group_columns, "model_b").is_duplicated().sum()
    repeated_text = " rows of other= share their group with another; match= takes one point per group"
    point_rows = stop_if_broken(point_rows, [Check(n_repeated > 0, (n_repeated, repeated_text))])
    if not group_columns:
        return model_rows.join(point_rows, how="cross")
    paired_rows = model_rows.join(point_rows, on=group_columns, how="left", nulls_equal=True)
    has_no_point = pl.col("model_b").is_null()
    group_texts = [pl.col(name).cast(pl.String).fill_null("null") for name in group_columns]
    group_text = pl.concat_str(group_texts, separator=", ").filter(has_no_point).first()
    message_parts = "other= has no row for the group ", group_text, "; add one, or leave it out"
    return stop_if_broken(paired_rows, [Check(has_no_point.any(), message_parts)])


def _add_hits(paired_rows: pl.LazyFrame, match: Matched) -> pl.LazyFrame:
    """Add `<rate>_hits` and `<rate>_size` of each of _RATES."""
    # The rate that is the same is matched; the other one is the model's own, or that of the point.
    matched_cells, compared_cells = (("tp", "fn"), ("fp", "tn"))[:: 1 if match == "recall" else -1]
    count_exprs: dict[str, pl.Expr] = {}
    for rate_name, prefix, (hit_cell, miss_cell) in (
        ("matched", "", matched_cells),
        ("point_matched", _POINT, matched_cells),
        ("own", "", compared_cells),
        ("other", _POINT, compared_cells),
    ):
        hits, misses = pl.col(prefix + hit_cell), pl.col(prefix + miss_cell)
        count_exprs |= {f"{rate_name}_hits": hits, f"{rate_name}_size": hits + misses}
    return paired_rows.with_columns(**count_exprs)


def _add_errors_left(paired_rows: pl.LazyFrame, pair_keys: Sequence[str], z: float) -> pl.LazyFrame:
    """Add the pooled rate, the number of errors between both rates, and what is left of z."""
    matched_hits, point_matched_hits, own_hits, other_hits = (
        pl.col(f"{rate_name}_hits") for rate_name in _RATES
    )
    matched_size, point_matched_size, own_size, other_size = (
        pl.col(f"{rate_name}_size") for rate_name in _RATES
    )
    reaches_rate = matched_hits * point_matched_size >= point_matched_hits * matched_size
    pooled_rate = (matched_hits + point_matched_hits) / (matched_size + point_matched_size)
    paired_rows = paired_rows.with_columns(rate=pooled_rate, reaches=reaches_rate).with_columns(
        before=pl.col("reaches").shift(-1).over(pair_keys),
        after=pl.col("reaches").shift(1).over(pair_keys),
    )
    # If both rates are one, p, their difference has the variance p (1 - p) (1 / n + 1 / n of the point).
    rate = pl.col("rate")
    rate_error = (rate * (1 - rate) * (1 / matched_size + 1 / point_matched_size)).sqrt()
    rate_gap = (matched_hits / matched_size - point_matched_hits / point_matched_size).abs()
    is_first = pl.col("reaches") & ~pl.col("after").fill_null(False)
    is_before = ~pl.col("reaches") & pl.col("before").fill_null(False)
    # The right threshold lies between the two rows.
    n_errors = pl.when(is_first | is_before | (rate_gap == 0)).then(0.0).otherwise(rate_gap / rate_error)
    paired_rows = paired_rows.with_columns(
        errors=n_errors, is_first=is_first, own=own_hits / own_size, other=other_hits / other_size
    )
    pooled_compared_rate = (own_hits + other_hits) / (own_size + other_size)
    gap_error = (
        pooled_compared_rate * (1 - pooled_compared_rate) * (1 / own_size + 1 / other_size)
    ).sqrt()
    gap = (pl.col("own") - pl.col("other")).abs()
    n_gap_errors = pl.when(gap == 0).then(0.0).otherwise(gap / gap_error)
    # Both terms are squares of normal variables; the least sum of a row is that of the p-value.
    return paired_rows.with_columns(
        rest=(z * z - pl.col("errors") ** 2).clip(lower_bound=0.0).sqrt(),
        least=(pl.col("errors") ** 2 + n_gap_errors**2).min().over(pair_keys),
    )


def _subtract_values(
    paired_rows: pl.LazyFrame, pair_keys: Sequence[str], metric: PointMetric, match: Matched
) -> pl.LazyFrame:
    """Return one row per pair and prevalence, with the difference of a metric and its verdict."""
    value_exprs = {}
    for rate_name in _ENDS:
        recall, fpr = (pl.col("rate"), pl.col(rate_name))[:: 1 if match == "recall" else -1]
        value_exprs[f"of_{rate_name}"] = metric.from_columns(recall, fpr, pl.col("eta"))
    paired_rows = paired_rows.with_columns(**value_exprs)
    limits = _find_difference_limits(*map(pl.col, value_exprs))
    is_first = pl.col("is_first")
    pair_rows = paired_rows.group_by(*pair_keys, "eta", _NUMBER).agg(
        difference=(pl.col("of_own") - pl.col("of_other")).filter(is_first).first(),
        low=limits[0].fill_nan(None).min(),
        high=limits[1].fill_nan(None).max(),
        least=pl.col("least").first(),
        n_same=pl.min_horizontal("matched_size", "point_matched_size").first(),
        n_other=pl.min_horizontal("own_size", "other_size").first(),
    )
    is_known = pl.col("difference").is_not_null() & pl.col("low").is_not_null()
    matched_class, compared_class = (
        ("positives", "negatives") if match == "recall" else ("negatives", "positives")
    )
    few_doubts = {
        f"few {matched_class}": pl.col("n_same") < _FEW,
        f"few {compared_class}": pl.col("n_other") < _FEW,
    }
    are_classes_large = (pl.col("n_same") >= _FEW) & (pl.col("n_other") >= _FEW)
    return pair_rows.with_columns(
        standard_error=pl.lit(None, dtype=pl.Float64),
        p_value=pl.when(is_known).then(normal_cdf(-pl.col("least").sqrt()) * 2),
        doubt=find_first_doubt(few_doubts, is_known),
        **{SPARE: pl.when(are_classes_large).then(0.0)},
    ).with_columns(significant=judge_sign())


def _find_difference_limits(
    model_value: pl.Expr, point_value: pl.Expr, *end_values: pl.Expr
) -> tuple[pl.Expr, pl.Expr]:
    """Return both ends of a difference, from two values and the values at the ends of their rates."""
    lows = pl.min_horizontal(end_values[:2]), pl.min_horizontal(end_values[2:])
    highs = pl.max_horizontal(end_values[:2]), pl.max_horizontal(end_values[2:])
    # Zou and Donner 2008
    distance_below = combine_distances([model_value - lows[0], highs[1] - point_value])
    distance_above = combine_distances([highs[0] - model_value, point_value - lows[1]])
    return model_value - point_value - distance_below, model_value - point_value + distance_above
