"""The evidence: what the methods of a table return for its models, each request once.

    summary            the area of each model, and whether its scores are above chance
    operating_points   what each model does at the targets, with intervals
    ranking            which models may be the best there: one joint statement
    curve              a thin curve of each model, from which everything is drawn
    compare            which groups of one model are unlike the others: each beside all others

What `operating_points` returns is taken in by `evidence_at_targets`, and `ranking` by
`leads_of_models`; the columns that they add are in `evidence_columns`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.confidence_that_limit_holds import CERTAINTY
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence_at_targets import (
    add_open_targets,
    add_other_thresholds,
    collect_points,
)
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn, join_in_order
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.leads_of_models import LEAD_COLUMNS, add_leads
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import precision_at_recall
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns, require_plain_etas
from polars_prcurve.core.sweep.effective_numbers_for_charts import add_effective_numbers
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS

_CURVE_STEPS = 200  # the thresholds of a curve that is only drawn: more would not be seen
_RATES = ("precision", "recall", "fpr")  # what is drawn of a curve, or computed from in a page
_FEW_SCORES = 3  # distinct scores, at most, that may be decisions, such as yes, no and unsure
_LEAST_TRUE_CASES = 100  # positives, about, among the cases in which alerts are counted
_MOST_CASES = 1e9  # of which none is positive where a prevalence is that small: more would be no use
VERDICT_DTYPES: Mapping[str, pl.DataType] = {
    "status": pl.String(),
    "met": pl.Boolean(),
    "models": pl.List(pl.String()),
    "sentence": pl.String(),
    "reasons": pl.List(pl.String()),
    "would_settle": pl.String(),
}
"""The columns of verdicts beside those of a case; models have the dtype that they have in the table."""
_IS_CURVE_ABOVE = f"{RESERVED}is_curve_above"  # whether a whole curve is above chance
_AT_HALF_METRIC = precision_at_recall(0.5).name
_IS_WHOLE = f"{RESERVED}flags_all"  # whether a thin curve ends where all examples are flagged
_AUC_LOW = f"{RESERVED}auc_low"  # the low end of a mean of areas under ROC curves


def check_names(table: ResolvedTable, grid: EtaTable, goal: Goal, model_column: str | None) -> None:
    """Raise if a column of groups, models or prevalences is called like one that a decision adds."""
    added_columns = [*VERDICT_DTYPES, ABOVE_CHANCE]
    if goal.is_of_curve:
        added_columns += [goal.merit_column, f"{goal.merit_column}_low", f"{goal.merit_column}_high"]
    if not goal.mean_over:
        added_columns += [f"{EvidenceColumn.AT_HALF}{suffix}" for suffix in ("", "_low", "_high")]
    if goal.is_gate:
        added_columns += [EvidenceColumn.LEVEL, CERTAINTY]
    if model_column is not None:
        added_columns += LEAD_COLUMNS
        check_group_names([model_column], added_columns, "model")
    check_result_columns(table, grid, added_columns)


@dataclass(frozen=True)
class Evidence:
    """What a table returns: rows of its methods."""

    rows: pl.DataFrame  # one row per case, which is a group at a prevalence, and model
    keys: list[str]
    """The columns of a case, which are those before `eta`, `eta`, and what an eta frame carries."""
    areas: pl.DataFrame  # the areas of each model, by `summary`
    sizes: pl.DataFrame
    """The numbers of examples of each class, `n_pos` and `n_neg`, of each group and model; of weighted
    rows with how many these count as, in FIELD_COLUMNS."""
    curves: pl.DataFrame
    points: pl.DataFrame
    """Rates at the scores that are decided about, as they stand: a thin curve may lack some of them."""
    per: float  # the number of cases among which alerts are counted
    test_level: float  # the level of each test of models, and of each against chance

    @property
    def group_columns(self) -> list[str]:
        """The columns of groups, without that of models."""
        return self.keys[: self.keys.index("eta")]


def collect_evidence(request: DecisionRequest) -> Evidence:
    """Return the results of the table's methods; each is called once, and ranking once per target."""
    if request.goal.mean_over:
        return _collect_means(request)
    goal, model_columns = request.goal, [] if request.model is None else [request.model]
    table, eta = request.whole_table
    area_metric_name = goal.merit_column if goal.is_of_curve else "average_precision"
    metrics = [area_metric_name, "roc_auc", precision_at_recall(0.5)]
    summary_options: dict[str, Any] = {"confidence": request.confidence, "columns": "all"}
    area_rows = require_plain_etas(table.summary(eta, metrics=metrics, **summary_options))
    per = _choose_per(area_rows) if goal.per is None else goal.per
    if goal.is_of_curve:
        case_rows = _list_merits(goal, area_rows)
        key_columns = area_rows.columns[: area_rows.columns.index("metric")]
    else:
        case_rows = collect_points(request, per)
        key_columns = case_rows.columns[: case_rows.columns.index("criterion")]
    key_columns = [column for column in key_columns if column not in (*model_columns, "n_pos", "n_neg")]
    group_columns = key_columns[: key_columns.index("eta")]
    group_and_model_columns = [*group_columns, *model_columns]
    if group_columns:
        request = replace(request, n_groups=max(1, area_rows.select(group_columns).n_unique()))
    if request.n_groups > 1:
        case_rows = _replace_chance_tests(request, case_rows, group_and_model_columns)
    case_rows = _add_whole_curves(request, case_rows, area_rows, [*key_columns, *model_columns])
    case_rows = add_leads(request, case_rows, key_columns, per)
    curve_points = _collect_curves(request)
    case_rows = add_open_targets(goal, case_rows, curve_points, [*group_and_model_columns, "eta"])
    case_rows = add_other_thresholds(goal, case_rows, curve_points, [*group_and_model_columns, "eta"])
    if not request.is_published:
        case_rows = _add_few_scores(case_rows, curve_points, group_and_model_columns)
    case_rows = _add_has_scores(case_rows, curve_points, group_and_model_columns)
    return Evidence(
        rows=case_rows,
        keys=key_columns,
        areas=area_rows,
        sizes=_collect_sizes(request, area_rows, curve_points, group_and_model_columns),
        curves=curve_points,
        points=_collect_rates(request, case_rows, curve_points, group_and_model_columns),
        per=per,
        test_level=request.test_level,
    )


def _list_merits(goal: Goal, area_rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the area by which models are judged, with its values under its name."""
    merit_column = goal.merit_column
    new_name_by_column = {
        "value": merit_column,
        "low": f"{merit_column}_low",
        "high": f"{merit_column}_high",
    }
    merit_rows = area_rows.filter(metric=goal.curve_metric).rename(new_name_by_column)
    return merit_rows.drop("metric", "standard_error")


def _collect_means(request: DecisionRequest) -> Evidence:
    """Return the evidence of means over groups, which have neither one curve nor one threshold."""
    goal, model_column = request.goal, request.model
    summary_options: dict[str, Any] = {"mean_over": goal.mean_over, "columns": "all"}
    metrics = [goal.curve_metric]
    metrics += ["random_average_precision", "roc_auc"] if request.counts_negatives else []
    area_rows = require_plain_etas(
        request.table.summary(
            request.eta, metrics=metrics, confidence=request.confidence, **summary_options
        )
    )
    key_columns = area_rows.columns[: area_rows.columns.index("n_pos")]
    key_columns = [column for column in key_columns if column != model_column]
    group_columns = key_columns[: key_columns.index("eta")]
    if group_columns:
        request = replace(request, n_groups=max(1, area_rows.select(group_columns).n_unique()))
    row_key_columns = [*key_columns, *([] if model_column is None else [model_column])]
    chance_rows = area_rows.filter(metric="random_average_precision")
    chance_rows = chance_rows.select(*row_key_columns, pl.col("value").alias(EvidenceColumn.BY_CHANCE))
    case_rows = join_in_order(_list_merits(goal, area_rows), chance_rows, row_key_columns)
    is_above_chance = pl.lit(None, dtype=pl.Boolean)
    if request.counts_negatives:
        # A random model has an area of 1/2 in each group; of its mean one side is tested.
        auc_level = max(0.5, 2 * request.test_level - 1)
        auc_rows = request.table.summary(
            request.eta, metrics="roc_auc", confidence=auc_level, **summary_options
        )
        auc_rows = auc_rows.select(*row_key_columns, pl.col("low").alias(_AUC_LOW))
        case_rows = join_in_order(case_rows, auc_rows, row_key_columns)
        is_above_chance = pl.col(_AUC_LOW) > 0.5
    case_rows = case_rows.with_columns(above_chance=is_above_chance).drop(_AUC_LOW, strict=False)
    case_rows = _count_groups(request, case_rows, group_columns)
    return Evidence(
        rows=add_leads(request, case_rows, key_columns, 1.0),
        keys=key_columns,
        areas=area_rows,
        sizes=area_rows,
        curves=pl.DataFrame(),
        points=pl.DataFrame(),
        per=1.0,
        test_level=request.test_level,
    )


def _count_groups(
    request: DecisionRequest, case_rows: pl.DataFrame, group_columns: Sequence[str]
) -> pl.DataFrame:
    """Return the rows with N_ALL_GROUPS."""
    group_rows = request.table.summary(request.eta, metrics=request.goal.curve_metric)
    n_all_groups = pl.struct(request.goal.mean_over).n_unique().alias(EvidenceColumn.N_ALL_GROUPS)
    if not group_columns:
        return case_rows.join(group_rows.select(n_all_groups), how="cross", maintain_order="left")
    return join_in_order(case_rows, group_rows.group_by(group_columns).agg(n_all_groups), group_columns)


def _collect_sizes(
    request: DecisionRequest,
    area_rows: pl.DataFrame,
    curve_points: pl.DataFrame,
    key_columns: Sequence[str],
) -> pl.DataFrame:
    """Return the numbers of examples of each class, and of weighted rows as how many they count."""
    unweighted_table = request.unweighted_table
    size_rows = (
        area_rows if unweighted_table is None else unweighted_table.summary(0.5, metrics="roc_auc")
    )
    if FIELD_COLUMNS[0] not in curve_points.columns:
        return size_rows
    is_first_point = pl.struct(*key_columns, "eta").is_first_distinct()
    effective_size_rows = curve_points.filter(is_first_point).select(*key_columns, *FIELD_COLUMNS[:2])
    if not key_columns:
        return size_rows.join(effective_size_rows[:1], how="cross")
    return join_in_order(size_rows, effective_size_rows.unique(key_columns), key_columns)


def _collect_curves(request: DecisionRequest) -> pl.DataFrame:
    """Return a thin curve of each model, with the rates and what the targets limit."""
    limited_metric_names = [TARGET_KINDS[word].metric.name for word in request.goal.all_limits]
    curve_points: pl.DataFrame = request.table.curve(
        request.eta,
        metrics=list(dict.fromkeys([*_RATES, *limited_metric_names])),
        confidence=request.confidence,
        thresholds=_CURVE_STEPS,
    )
    return _count_alike(request, curve_points)


def _count_alike(request: DecisionRequest, points: pl.DataFrame) -> pl.DataFrame:
    """Return points of weighted rows with as how many examples these count; others as they are."""
    if request.table._words.get("weight") is None:
        return points
    return add_effective_numbers(points, request.score_counts)


def _choose_per(area_rows: pl.DataFrame) -> float:
    """Return a round number of cases in which to count alerts: with 100 positives or more, about."""
    # A group without positives does not count.
    n_cases, least_eta = 1_000.0, min(area_rows.filter(pl.col("eta") > 0)["eta"], default=0.5)
    while n_cases * least_eta < _LEAST_TRUE_CASES and n_cases < _MOST_CASES:
        n_cases *= 10
    return n_cases


def _replace_chance_tests(
    request: DecisionRequest, case_rows: pl.DataFrame, key_columns: Sequence[str]
) -> pl.DataFrame:
    """Return the rows with tests against chance that err together, over all groups, as one may."""
    chance_test_rows = request.whole_table[0].summary(
        0.5, metrics="roc_auc", confidence=request.test_level, columns="all"
    )
    chance_test_rows = chance_test_rows.select(*key_columns, "above_chance").unique()
    return join_in_order(case_rows.drop("above_chance"), chance_test_rows, key_columns).select(
        case_rows.columns
    )


def _add_whole_curves(
    request: DecisionRequest,
    case_rows: pl.DataFrame,
    area_rows: pl.DataFrame,
    key_columns: Sequence[str],
) -> pl.DataFrame:
    """Add what is of the whole curve of a model: AT_HALF and AREA with intervals, and IS_REVERSED.

    It is tested against chance where no threshold meets the targets, too.
    """
    # A field has no limits of eta.
    key_columns = [name for name in key_columns if name in area_rows.columns]
    rows_by_name = {
        EvidenceColumn.AT_HALF: _measure_half(request, area_rows),
        EvidenceColumn.AREA: area_rows.filter(metric="average_precision"),
    }
    for name, rows in rows_by_name.items():
        value_exprs = {
            name: pl.col("value"),
            f"{name}_low": pl.col("low"),
            f"{name}_high": pl.col("high"),
        }
        case_rows = join_in_order(case_rows, rows.select(*key_columns, **value_exprs), key_columns)
    auc_test_rows = area_rows.filter(metric="roc_auc").select(
        *key_columns,
        (pl.col("high") < 0.5).alias(EvidenceColumn.IS_REVERSED),
        pl.col(ABOVE_CHANCE).alias(_IS_CURVE_ABOVE),
    )
    case_rows = join_in_order(case_rows, auc_test_rows, key_columns)
    is_above_chance = pl.coalesce(ABOVE_CHANCE, _IS_CURVE_ABOVE)
    return case_rows.with_columns(is_above_chance.alias(ABOVE_CHANCE)).drop(_IS_CURVE_ABOVE)


def _measure_half(request: DecisionRequest, area_rows: pl.DataFrame) -> pl.DataFrame:
    """Return precision where half of the positives are found, with its interval.

    In a mix of classes no summary has that interval: it is that of the operating point.
    """
    half_rows = area_rows.filter(metric=_AT_HALF_METRIC)
    lacks_interval = pl.col("value").is_not_null() & pl.col("low").is_null()
    if request.is_published or half_rows.filter(lacks_interval).is_empty():
        return half_rows
    table, eta = request.whole_table
    half_points: pl.DataFrame = table.operating_points(
        eta, recall=0.5, metrics=["precision"], confidence=request.confidence, columns="all"
    )
    return half_points.rename({"precision": "value", "precision_low": "low", "precision_high": "high"})


def _collect_rates(
    request: DecisionRequest,
    case_rows: pl.DataFrame,
    curve_points: pl.DataFrame,
    key_columns: Sequence[str],
) -> pl.DataFrame:
    """Return the points at the thresholds of these rows, if the curves lack any of them."""
    if "threshold" not in case_rows.columns:
        return curve_points.clear()
    threshold_rows = case_rows.select(*key_columns, "threshold").drop_nulls("threshold")
    point_key_columns = [*key_columns, "threshold"]
    if threshold_rows.join(curve_points, on=point_key_columns, how="anti", nulls_equal=True).is_empty():
        return curve_points.clear()
    # Each model has to have a threshold, those too that keep no target, or lack a class.
    spare_rows = case_rows.select(key_columns).unique(maintain_order=True)
    spare_rows = spare_rows.with_columns(threshold=pl.lit(threshold_rows["threshold"][:1]).first())
    threshold_rows = pl.concat([threshold_rows, spare_rows]).unique(maintain_order=True)
    rate_points: pl.DataFrame = request.table.operating_points(
        request.eta,
        threshold=threshold_rows,
        metrics=_RATES,
        confidence=request.confidence,
        columns="all",
    )
    return _count_alike(request, rate_points)


def _add_has_scores(
    case_rows: pl.DataFrame, curve_points: pl.DataFrame, key_columns: Sequence[str]
) -> pl.DataFrame:
    """Add HAS_SCORES: a curve without a point has no score."""
    has_point = pl.lit(curve_points.height > 0 or None, dtype=pl.Boolean)
    has_scores = has_point.alias(EvidenceColumn.HAS_SCORES)
    if not key_columns:
        return case_rows.with_columns(has_scores)
    return join_in_order(
        case_rows, curve_points.select(key_columns).unique().with_columns(has_scores), key_columns
    )


def _add_few_scores(
    case_rows: pl.DataFrame, curve_points: pl.DataFrame, key_columns: Sequence[str]
) -> pl.DataFrame:
    """Add FEW_SCORES, all scores of a model, where they may be decisions.

    A thin curve that flags all examples in the end has them all; others lack those below all positives.
    """
    scores_expr = pl.col("threshold").drop_nulls().unique().sort()
    few_score_rows = (
        curve_points.group_by(*key_columns, "eta")
        .agg(scores_expr.alias(EvidenceColumn.FEW_SCORES), (pl.col("fpr") == 1).any().alias(_IS_WHOLE))
        .filter(pl.col(EvidenceColumn.FEW_SCORES).list.len() <= _FEW_SCORES, _IS_WHOLE)
        .drop(_IS_WHOLE)
    )
    return join_in_order(case_rows, few_score_rows, [*key_columns, "eta"])
