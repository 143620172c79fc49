"""Ranking: models in order at each prevalence, and whether the leader's lead is more than chance.

A model may be the best one if it is not significantly behind any other. All differences of a group hold
at once (Tukey 1953, Kramer 1956; see `limits_and_p_values`), so that the limits and `may_be_best` are
one statement: it rules out a model that is among the best in at most 1 - confidence of all tables,
however many models there are. Hsu 1996 calls these multiple comparisons with the best.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

import polars as pl

from polars_prcurve.core.comparison.comparison_request import Comparison, Pairing
from polars_prcurve.core.comparison.differences import build_values_and_differences
from polars_prcurve.core.comparison.differences_of_group_means import (
    build_mean_differences,
    build_model_values,
)
from polars_prcurve.core.comparison.differences_of_point_metrics import hint_at_curve_metric
from polars_prcurve.core.comparison.model_pairs import number_within
from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.curves.curve_metric_values import number_metrics
from polars_prcurve.core.curves.operating_points import build_points_table
from polars_prcurve.core.curves.target_arguments import RankingMetric
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import join_groups, merge_zeros
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.resolved_tables import (
    RateTable,
    ResolvedTable,
    ScoreTable,
    refuse_points,
)
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_base import direction_sign
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns, find_shared_eta
from polars_prcurve.core.uncertainty.means_over_groups import (
    N_GROUPS,
    MeanGroups,
    average_values,
    list_row_keys,
)
from polars_prcurve.core.uncertainty.summary_table import build_summary_table

_ETA_NUMBER = f"{RESERVED}step"
"""The number of a prevalence among equal ones of a model. Its position in the list of its model would
not do: a model without examples has no prevalence, so its list is shorter."""
_OTHER_MODEL = f"{RESERVED}other"  # the model that a model is compared with, the best of the others
_A_LEADS = f"{RESERVED}a_leads"  # whether a row has the lead of model a over model b
_ROW_NUMBER = f"{RESERVED}row"  # the place of a row in the result
_LEAD_COLUMNS = ("behind", "behind_low", "behind_high", "may_be_best", DOUBT)
"""What confidence= adds."""
_LIMIT_COLUMNS = ("value_low", "value_high", "may_be_best")  # what coarse=True adds


def _list_ranking_columns(
    *, has_leads: bool, is_coarse: bool = False, is_mean: bool = False
) -> tuple[str, ...]:
    """Return the columns of a ranking, after `by`, without those that an eta frame carries."""
    extra_columns = _LEAD_COLUMNS if has_leads else _LIMIT_COLUMNS if is_coarse else ()
    column_names = ["eta", "model", "value", "rank", *extra_columns]
    if is_mean:
        column_names.insert(-1 if has_leads else len(column_names), N_GROUPS)
    return tuple(column_names)


def build_ranking_table(
    table: ScoreTable | RateTable,
    grid: EtaTable,
    ranking_metric: RankingMetric,
    interval_options: Intervals | None,
    *,
    is_coarse: bool = False,
    mean_groups: MeanGroups | None = None,
    is_wide: bool = False,
) -> pl.LazyFrame:
    """Return `by`, eta, what the eta frame carries, and the rest of `_list_ranking_columns`."""
    eta_column, *other_columns = _list_ranking_columns(
        has_leads=interval_options is not None, is_coarse=is_coarse, is_mean=mean_groups is not None
    )
    check_result_columns(table, grid, [eta_column, *other_columns])
    if mean_groups is not None:
        return _rank_means(table, grid, ranking_metric, interval_options, mean_groups)
    metric, targets = ranking_metric
    _check_ranking(table, grid, ranking_metric, interval_options, is_coarse=is_coarse)
    depends_on_eta = any(source.depends_on_eta for source in (metric, *targets))
    grid = grid.let_own_differ(depends_on_eta=depends_on_eta)
    sign = direction_sign(metric)
    model_values = differences = None
    if interval_options is not None:
        comparison = _compare_all(table, grid, ranking_metric, interval_options, is_wide=is_wide)
        model_values, differences = build_values_and_differences(comparison)
    if model_values is not None:  # the differences are of these values, so that they are there
        [value_name] = number_metrics([cast("CurveMetric", metric)])
        model_values = model_values.select(*table.by, "eta", *grid.carried_columns, value=value_name)
    elif isinstance(metric, CurveMetric):
        model_values = build_summary_table(table, grid, [metric], is_coarse=is_coarse)
    else:
        model_values = build_points_table(table, grid, targets, [metric.alias("value")])
    if grid.sharing_groups is None:  # models of different prevalences are ranked, too
        model_values = model_values.with_columns(find_shared_eta(table.group_columns))
    rank_rows = _add_ranks(model_values, table.group_columns, sign)
    if is_coarse:
        rank_rows = rank_rows.rename({"low": "value_low", "high": "value_high"})
        # Of values that are better when lower, both ends change their sign and their places.
        low, high = (pl.col(end) * sign for end in ("value_low", "value_high")[:: int(sign)])
        key_columns = [*table.group_columns, "eta", _ETA_NUMBER]
        greatest_low = low.max().over(key_columns)
        rank_rows = rank_rows.with_columns((high >= greatest_low).alias("may_be_best"))
    if differences is not None:
        rank_rows = _add_distances_behind(table, rank_rows, differences, sign)
    return rank_rows.select(*table.group_columns, eta_column, *grid.carried_columns, *other_columns)


def _compare_all(
    table: ScoreTable | RateTable,
    grid: EtaTable,
    ranking_metric: RankingMetric,
    interval_options: Intervals,
    *,
    is_wide: bool,
) -> Comparison:
    """Return the comparison of all models by the metric of a ranking."""
    metric, targets = ranking_metric
    pairing: Pairing = "wide" if is_wide else "by id" if Row.EXAMPLE in table.columns else "apart"
    return Comparison(
        table,
        grid,
        [metric],
        target=targets[0] if targets else None,
        interval_options=interval_options,
        pairing=pairing,
        adjust="models",
        needs_pairs=pairing != "apart",
    )


def _add_ranks(model_values: pl.LazyFrame, by: Iterable[str], sign: float) -> pl.LazyFrame:
    """Return the rows with _ETA_NUMBER, `model` and `rank`, in the order of the result."""
    eta_number = number_within([*by, Row.MODEL, "eta"])
    model_values = model_values.with_columns(eta_number.alias(_ETA_NUMBER), model=pl.col(Row.MODEL))
    key_columns = [*by, "eta", _ETA_NUMBER]  # what models are ranked within
    rank = pl.col("value").rank("min", descending=sign > 0).over(key_columns).cast(pl.Int64)
    nulls_last = [*[False] * len([*by]), True, False, True, False]
    rank_rows = model_values.with_columns(rank=rank)
    return rank_rows.sort(*key_columns, "rank", Row.MODEL, nulls_last=nulls_last)


def _rank_means(
    table: ScoreTable | RateTable,
    grid: EtaTable,
    ranking_metric: RankingMetric,
    interval_options: Intervals | None,
    mean_groups: MeanGroups,
) -> pl.LazyFrame:
    """Return the ranking of models by their means, over the groups in which all have a value."""
    metric = ranking_metric.metric
    sign, has_leads = direction_sign(metric), interval_options is not None
    model_values = build_model_values(
        table, grid, [cast("CurveMetric", metric)], mean_groups, needs_pairs=False, needs_all_models=True
    )
    outer_table = replace(table, by=mean_groups.list_keys(table))
    mean_rows = average_values(model_values, list_row_keys(outer_table.by, grid), "value")
    rank_rows = _add_ranks(mean_rows, outer_table.group_columns, sign)
    if interval_options is not None:
        confidence = interval_options.level
        differences = build_mean_differences(
            table, grid, model_values, mean_groups, [metric], confidence=confidence, adjust="models"
        )
        rank_rows = _add_distances_behind(outer_table, rank_rows, differences, sign)
    eta_column, *other_columns = _list_ranking_columns(has_leads=has_leads, is_mean=True)
    return rank_rows.select(
        *outer_table.group_columns, eta_column, *grid.carried_columns, *other_columns
    )


def _check_ranking(
    table: ScoreTable | RateTable,
    grid: EtaTable,
    ranking_metric: RankingMetric,
    interval_options: Intervals | None,
    *,
    is_coarse: bool,
) -> None:
    """Raise if models cannot be ranked by this metric, or not with these options."""
    metric, targets = ranking_metric
    if isinstance(table, RateTable) and targets and targets[0].criterion == "recall":
        recall_text = f"{targets[0].value:g}"
        raise PrcError(
            f'pass metric="precision_at_recall({recall_text})" and coarse=True instead of recall=: '
            f"points of {table.argument}= may be far from the target "
            f"(.prc.operating_points(recall={recall_text}) lists them)"
        )
    if interval_options is not None:
        if isinstance(table, RateTable):
            raise refuse_points(table.argument, "confidence=")
        table.require_example_counts()
    if isinstance(metric, CurveMetric):
        if interval_options is None:
            grid.require_exact("a ranking without confidence=", carrier_argument="confidence=")
        return
    if is_coarse:
        curve_hint = hint_at_curve_metric(metric, targets[0])
        raise PrcError(
            f"{curve_hint or 'leave out'} coarse=True: it gives limits of curve metrics, and a point "
            "metric at a target has none"
        )
    grid.require_exact("a ranking at a target")


def _add_distances_behind(
    table: ResolvedTable, rank_rows: pl.LazyFrame, differences: pl.LazyFrame, sign: float
) -> pl.LazyFrame:
    """Add how far each model is behind the best other one, from `differences` of all model pairs."""
    key_dtypes = {**table.group_columns, "eta": pl.Float64(), _ETA_NUMBER: pl.Int64()}
    key_columns, model_dtype = [*key_dtypes], table.by[Row.MODEL]
    place_in_group = pl.int_range(pl.len()).over(key_columns)
    best_other_model, best_other_value = (
        pl.when(place_in_group == 0).then(of_second).otherwise(of_first)
        for of_first, of_second in (
            [pl.col(name).filter(place_in_group == i).first().over(key_columns) for i in (0, 1)]
            for name in (Row.MODEL, "value")
        )
    )
    distance_behind = (
        best_other_value - pl.col("value") if sign > 0 else pl.col("value") - best_other_value
    )
    rank_rows = rank_rows.with_columns(
        best_other_model.alias(_OTHER_MODEL), behind=distance_behind
    ).with_row_index(_ROW_NUMBER)
    lead_rows = _list_leads(table, differences, key_columns, sign)
    rows_without_limits = rank_rows.drop("low", "high", DOUBT, strict=False)
    rank_rows = join_groups(
        rows_without_limits,
        lead_rows,
        {**key_dtypes, Row.MODEL: model_dtype, _OTHER_MODEL: model_dtype},
        how="left",
    )
    rank_rows = rank_rows.sort(_ROW_NUMBER)
    # Where no error is known, no model is significantly behind.
    is_ranked = pl.col("behind").is_not_null()
    is_surely_behind = pl.when(is_ranked).then(pl.col("significant").fill_null(value=False))
    doubt = doubt_missing_ends(DOUBT, ["behind_low", "behind_high"])
    return rank_rows.with_columns(may_be_best=~is_surely_behind, doubt=doubt)


def _list_leads(
    table: ResolvedTable, differences: pl.LazyFrame, key_columns: list[str], sign: float
) -> pl.LazyFrame:
    """Return each difference twice, as how far Row.MODEL is behind the other one."""
    eta_number = number_within([*table.group_columns, "model_a", "model_b", "eta"])
    lead_rows = differences.with_columns(eta_number.alias(_ETA_NUMBER))
    lead_rows = lead_rows.join(pl.LazyFrame({_A_LEADS: [True, False]}), how="cross")
    low, high = pl.col("low"), pl.col("high")
    is_as_listed = pl.col(_A_LEADS) if sign > 0 else ~pl.col(_A_LEADS)
    is_other_better = pl.col(_A_LEADS) == (pl.col("difference") * sign > 0)
    lead_rows = lead_rows.select(
        pl.col(*key_columns, DOUBT),
        pl.when(_A_LEADS).then("model_a").otherwise("model_b").alias(_OTHER_MODEL),
        pl.when(_A_LEADS).then("model_b").otherwise("model_a").alias(Row.MODEL),
        significant=pl.col("significant") & is_other_better,
        behind_low=pl.when(is_as_listed).then(low).otherwise(merge_zeros(-high)),
        behind_high=pl.when(is_as_listed).then(high).otherwise(merge_zeros(-low)),
    )
    # Limits, and whether a model is behind, are those of the farthest: a model is as far behind as it is
    # behind any other. A limit above 0 that is not significant is in doubt, whichever pair it is of.
    is_doubtful = (pl.col("behind_low") > 0) & ~pl.col("significant").fill_null(value=False)
    doubt_of_farthest = pl.when(is_doubtful).then(DOUBT).max().over(*key_columns, Row.MODEL)
    farthest_exprs = pl.col("behind_low", "behind_high", "significant")
    return lead_rows.with_columns(
        farthest_exprs.max().over(*key_columns, Row.MODEL),
        pl.coalesce(DOUBT, doubt_of_farthest).alias(DOUBT),
    )
