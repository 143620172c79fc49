"""The evidence: what the methods of a table return for its models, each request once.

    summary            the area of each model, and whether its scores are above chance
    operating_points   what each model does at the targets, with intervals
    ranking            which models may be the best there: one joint statement
    curve              a thin curve of each model, from which everything is drawn
    compare            which groups of one model are unlike the others: each beside all others

Several targets have to hold together. A model that keeps them all finds as much as it finds at the
limit of alerts that binds. So a model is behind another one if it is significantly so at each target
that may bind.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import polars as pl
from polars import selectors

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.confidence_that_limit_holds import (
    CERTAINTY,
    measure_certainty,
    scale_limit,
)
from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.estimates import read_estimate
from polars_prcurve.core.confidence.interval_input_columns import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.core.confidence.point_intervals import combine_distances
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.column_reader import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.goal import CAPS, Goal
from polars_prcurve.core.metrics import point_formulas
from polars_prcurve.core.metrics.metrics_at_thresholds_and_means_over_eta import precision_at_recall
from polars_prcurve.core.metrics.target_definitions import RUN_WORDS, TARGET_KINDS
from polars_prcurve.core.prevalence.eta_table import EtaTable, check_result_columns, require_plain_etas
from polars_prcurve.core.sweep.effective_numbers_for_charts import add_effective_numbers
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS

_CURVE_STEPS = 200  # the thresholds of a curve that is only drawn: more would not be seen
_RATES = ("precision", "recall", "fpr")  # what is drawn of a curve, or computed from in a page
LEAST_ALERTS = 5  # of a threshold that may meet a target: the interval of fewer allows anything
_FEW_SCORES = 3  # distinct scores, at most, that may be decisions, such as yes, no and unsure
_LEAST_TRUE_CASES = 100  # positives, about, among the cases in which alerts are counted
_MOST_CASES = 1e9  # of which none is positive where a prevalence is that small: more would be no use


class EvidenceColumn:
    """Columns of the evidence that no method has under these names."""

    AT_HALF = "precision_at_half"
    """Precision where half of the positives are found, which shows what a whole curve is good for."""
    LEVEL = "level"  # the level of the intervals of a row, where a demand is tested
    AREA = f"{RESERVED}average_precision"
    BY_CHANCE = f"{RESERVED}by_chance"  # the mean of the average precision of random scores
    N_ALL_GROUPS = f"{RESERVED}n_all_groups"  # the groups of a mean, with those that have no value
    IS_REVERSED = f"{RESERVED}is_reversed"  # whether negatives significantly rank above positives
    BINDING = f"{RESERVED}binding"  # the targets that may bind where several have to hold together
    HAS_SCORES = f"{RESERVED}has_scores"  # true if any row of a model has one, otherwise null
    FEW_SCORES = f"{RESERVED}few_scores"  # all scores of a model that has at most _FEW_SCORES of them
    MAY_MEET = f"{RESERVED}may_meet"
    """Whether some threshold may meet all targets by its intervals; null where one does meet them."""
    BEST = f"{RESERVED}best_"
    """Where no threshold meets the targets, before the word of each: its best value, with both ends of
    its interval, among the thresholds that meet the others."""
    HAS_RARER = f"{RESERVED}has_rarer_"
    """Before the word of a target: whether a threshold with fewer alerts than LEAST_ALERTS is better."""
    LEAD_DOUBT = f"{RESERVED}lead_doubt"  # why `behind` and its ends may be unreliable; null if not
    OTHER = f"{RESERVED}other_"
    """Before the columns of another threshold that meets all limits, beside the one that is tested."""


VERDICT_DTYPES: Mapping[str, pl.DataType] = {
    "status": pl.String(),
    "met": pl.Boolean(),
    "models": pl.List(pl.String()),
    "sentence": pl.String(),
    "reasons": pl.List(pl.String()),
    "would_settle": pl.String(),
}
"""The columns of verdicts beside those of a case; models have the dtype that they have in the table."""
_LEAD_COLUMNS = ("behind", "behind_low", "behind_high", "may_be_best")  # those of a ranking
_IS_CURVE_ABOVE = f"{RESERVED}is_curve_above"  # whether a whole curve is above chance
_AT_HALF_METRIC = precision_at_recall(0.5).name
_MERIT, _MERIT_LOW, _MERIT_HIGH = (f"{RESERVED}merit{end}" for end in ("", "_low", "_high"))
_OTHER_MODEL = f"{RESERVED}other_model"  # before the columns of another model of the same case
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
        added_columns += _LEAD_COLUMNS
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
        case_rows = _collect_points(request, per)
        key_columns = case_rows.columns[: case_rows.columns.index("criterion")]
    key_columns = [column for column in key_columns if column not in (*model_columns, "n_pos", "n_neg")]
    group_columns = key_columns[: key_columns.index("eta")]
    group_and_model_columns = [*group_columns, *model_columns]
    if group_columns:
        request = replace(request, n_groups=max(1, area_rows.select(group_columns).n_unique()))
    if request.n_groups > 1:
        case_rows = _replace_chance_tests(request, case_rows, group_and_model_columns)
    case_rows = _add_whole_curves(request, case_rows, area_rows, [*key_columns, *model_columns])
    case_rows = _add_leads(request, case_rows, key_columns, per)
    curve_points = _collect_curves(request)
    case_rows = _add_open_targets(goal, case_rows, curve_points, [*group_and_model_columns, "eta"])
    case_rows = _add_other_thresholds(goal, case_rows, curve_points, [*group_and_model_columns, "eta"])
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
    case_rows = _join(_list_merits(goal, area_rows), chance_rows, row_key_columns)
    is_above_chance = pl.lit(None, dtype=pl.Boolean)
    if request.counts_negatives:
        # A random model has an area of 1/2 in each group; of its mean one side is tested.
        auc_level = max(0.5, 2 * request.test_level - 1)
        auc_rows = request.table.summary(
            request.eta, metrics="roc_auc", confidence=auc_level, **summary_options
        )
        auc_rows = auc_rows.select(*row_key_columns, pl.col("low").alias(_AUC_LOW))
        case_rows = _join(case_rows, auc_rows, row_key_columns)
        is_above_chance = pl.col(_AUC_LOW) > 0.5
    case_rows = case_rows.with_columns(above_chance=is_above_chance).drop(_AUC_LOW, strict=False)
    case_rows = _count_groups(request, case_rows, group_columns)
    return Evidence(
        rows=_add_leads(request, case_rows, key_columns, 1.0),
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
    return _join(case_rows, group_rows.group_by(group_columns).agg(n_all_groups), group_columns)


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
    return _join(size_rows, effective_size_rows.unique(key_columns), key_columns)


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
    return _join(case_rows.drop("above_chance"), chance_test_rows, key_columns).select(case_rows.columns)


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
        case_rows = _join(case_rows, rows.select(*key_columns, **value_exprs), key_columns)
    auc_test_rows = area_rows.filter(metric="roc_auc").select(
        *key_columns,
        (pl.col("high") < 0.5).alias(EvidenceColumn.IS_REVERSED),
        pl.col(ABOVE_CHANCE).alias(_IS_CURVE_ABOVE),
    )
    case_rows = _join(case_rows, auc_test_rows, key_columns)
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


def _join(case_rows: pl.DataFrame, added_rows: pl.DataFrame, key_columns: Sequence[str]) -> pl.DataFrame:
    """Return the rows with further columns, in their order; null is a group, too."""
    return case_rows.join(
        added_rows, on=key_columns, how="left", nulls_equal=True, maintain_order="left"
    )


# Points -----------------------------------------------------------------------------------------


def _collect_points(request: DecisionRequest, n_cases: float) -> pl.DataFrame:
    """Return what each model does where all targets hold; its thresholds are null if none does."""
    goal = request.goal
    if goal.is_gate:
        return _collect_tested_points(request, n_cases)
    metric_names: list[Any] = _name_metrics(word for word in goal.limits if word != "alerts")
    arguments = {
        "metrics": metric_names
        if goal.maximized is None
        else list(dict.fromkeys([*metric_names, goal.maximized])),
        "confidence": request.confidence,
        **goal.build_arguments(),
        "per": n_cases,
        "guarantee": goal.guarantee,
    }
    points: pl.DataFrame = request.table.operating_points(
        request.eta, together=goal.is_joint, columns="all", **arguments
    )
    if not goal.is_joint or goal.guarantee is not None:  # the interval is of the guaranteed threshold
        return points
    points_of_targets = request.table.operating_points(request.eta, columns="all", **arguments)
    return _add_binding_targets(points, points_of_targets.filter(pl.col("criterion").is_in(goal.caps)))


def _name_metrics(words: Iterable[str]) -> list[str]:
    """Return the metrics that points need beside recall and fpr: precision, and those of targets."""
    target_metrics = {TARGET_KINDS[word].metric for word in words}
    target_metrics -= {point_formulas.recall, point_formulas.fpr}
    return sorted({metric.name for metric in target_metrics} | {"precision"})


def _collect_tested_points(request: DecisionRequest, n_cases: float) -> pl.DataFrame:
    """Return what a threshold from elsewhere does, with intervals at the LEVEL at which it is tested.

    All limits of the demand are tested at once, so each has its share of the error. A case that misses
    one is tested as Holm (1979) does, with all cases: its intervals are those of that test.
    """
    goal, error_share = request.goal, (1 - request.confidence) / len(request.goal.demand)
    metric_names = _name_metrics(goal.demand)

    def collect(level: float) -> pl.DataFrame:
        points: pl.DataFrame = request.table.operating_points(
            request.eta,
            metrics=metric_names,
            confidence=level,
            per=n_cases,
            columns="all",
            **goal.build_arguments(),
        )
        points = points.with_columns(pl.lit(level).alias(EvidenceColumn.LEVEL))
        return points.with_columns(_measure_certainty(goal, points, level, n_cases))

    points = collect(1 - error_share)
    n_case_rows, open_miss_numbers = points.height, _find_misses(goal, points)
    n_confirmed_misses = 0
    while n_case_rows > 1 and open_miss_numbers:
        test_points = collect(1 - error_share / (n_case_rows - n_confirmed_misses))
        newest_row_numbers = [
            n_case_rows + row_number if row_number in open_miss_numbers else row_number
            for row_number in range(n_case_rows)
        ]
        points = pl.concat([points, test_points]).select(pl.all().gather(newest_row_numbers))
        confirmed_miss_numbers = open_miss_numbers & _find_misses(goal, test_points)
        if not confirmed_miss_numbers:
            break
        n_confirmed_misses += len(confirmed_miss_numbers)
        open_miss_numbers -= confirmed_miss_numbers
    return points


def _measure_certainty(goal: Goal, points: pl.DataFrame, level: float, n_cases: float) -> pl.Series:
    """Return how sure it is that a threshold meets all limits, which share the error (Bonferroni)."""
    certainty = pl.Series(CERTAINTY, [1.0]).new_from_index(0, points.height)
    for word, limit in goal.demand.items():
        target_kind = TARGET_KINDS[word]
        limit_unit = {"share": 1.0, "number": n_cases, "factor": None}[target_kind.value_kind]
        limit_exprs = scale_limit(
            target_kind.column, pl.lit(limit), is_upper=target_kind.is_at_most, unit=limit_unit
        )
        certainty_of_limit = (
            points.with_columns(**limit_exprs).select(measure_certainty(level)).to_series()
        )
        certainty = certainty - (1 - certainty_of_limit)
    return certainty.clip(lower_bound=0.0)


def _find_misses(goal: Goal, points: pl.DataFrame) -> set[int]:
    """Return the numbers of the rows that significantly miss a limit of the demand."""
    return {
        row_number
        for row_number, row in enumerate(points.iter_rows(named=True))
        if any(goal.test_limit(row, word) is False for word in goal.demand)
    }


def _add_open_targets(
    goal: Goal, case_rows: pl.DataFrame, curve_points: pl.DataFrame, case_columns: Sequence[str]
) -> pl.DataFrame:
    """Add MAY_MEET and BEST where no threshold of a model meets the targets, from its curve."""
    limit_of_word = goal.limits
    if not limit_of_word or not case_rows["threshold"].null_count():
        return case_rows
    # Only what is right of alerts may be anything where these are few.
    has_enough_alerts = pl.lit(True)
    if {*limit_of_word} & {*CAPS} & {*RUN_WORDS}:
        has_enough_alerts = (pl.col("tp") + pl.col("fp")).fill_null(math.inf) >= LEAST_ALERTS
    may_meet_exprs = [
        _test_limit(goal, word, ("low", "high"), is_met_if_null=True) for word in limit_of_word
    ]
    best_exprs = (
        _find_best(
            goal,
            word,
            [
                _test_limit(goal, other_word, ("", ""))
                for other_word in limit_of_word
                if other_word != word
            ],
            has_enough_alerts,
        )
        for word in limit_of_word
    )
    open_target_rows = curve_points.group_by(case_columns).agg(
        pl.all_horizontal(has_enough_alerts, *may_meet_exprs).any().alias(EvidenceColumn.MAY_MEET),
        *chain(*best_exprs),
    )
    is_open = pl.col("threshold").is_null()
    added_exprs = [
        pl.when(is_open).then(column_name)
        for column_name in set(open_target_rows.columns) - {*case_columns}
    ]
    return _join(case_rows, open_target_rows, case_columns).with_columns(added_exprs)


def _add_other_thresholds(
    goal: Goal, case_rows: pl.DataFrame, curve_points: pl.DataFrame, case_columns: Sequence[str]
) -> pl.DataFrame:
    """Add OTHER: of thresholds whose intervals are within all limits the one that does most.

    It finds most, or if only what is missed is limited it has the fewest false positives.
    """
    if not goal.is_gate or not goal.is_at_threshold:
        return case_rows
    metric_pattern = "|".join(TARGET_KINDS[word].metric.name for word in goal.demand)
    point_columns = selectors.matches(f"^(threshold|({metric_pattern})(_low|_high)?)$")
    is_capped = any(word in CAPS for word in goal.demand)
    other_points = (
        curve_points.filter(_test_limit(goal, word, ("high", "low")) for word in goal.demand)
        .sort("recall" if is_capped else "fpr", descending=is_capped, maintain_order=True)
        .unique(case_columns, keep="first", maintain_order=True)
        .select(*case_columns, point_columns.name.prefix(EvidenceColumn.OTHER))
    )
    return _join(case_rows, other_points, case_columns)


def _test_limit(
    goal: Goal, word: str, end_suffixes: tuple[str, str], *, is_met_if_null: bool = False
) -> pl.Expr:
    """Return whether an end of the interval of rows is within a limit: of at most, and of at least.

    An empty end is the value itself.
    """
    target_kind = TARGET_KINDS[word]
    limit_share = goal.scale_limit(word)
    end_suffix = end_suffixes[0 if target_kind.is_at_most else 1]
    value_expr = pl.col(
        f"{target_kind.metric.name}_{end_suffix}" if end_suffix else target_kind.metric.name
    )
    return (
        value_expr <= limit_share if target_kind.is_at_most else value_expr >= limit_share
    ).fill_null(is_met_if_null)


def _find_best(
    goal: Goal, word: str, other_test_exprs: Sequence[pl.Expr], has_enough_alerts: pl.Expr
) -> Iterator[pl.Expr]:
    """Yield BEST and HAS_RARER of a target, of rows that meet the others, and have alerts."""
    target_kind, meets_other_targets = TARGET_KINDS[word], pl.all_horizontal(True, *other_test_exprs)
    metric_name, is_eligible = target_kind.metric.name, meets_other_targets & has_enough_alerts
    merit_column = f"{metric_name}{goal.find_decisive_end(word)}"
    # Not by `filter`, which with a literal would leave `sort_by` to read what is no row's.
    merit_expr = pl.when(is_eligible).then(merit_column)
    for suffix in ("", "_low", "_high"):
        value_expr = pl.when(is_eligible).then(f"{metric_name}{suffix}")
        sorted_expr = value_expr.sort_by(
            merit_expr, descending=not target_kind.is_at_most, nulls_last=True
        )
        yield sorted_expr.first().alias(f"{EvidenceColumn.BEST}{word}{suffix}")
    merit_expr_of_all = pl.when(meets_other_targets).then(merit_column)
    has_rarer = (
        merit_expr_of_all.min() < merit_expr.min()
        if target_kind.is_at_most
        else merit_expr_of_all.max() > merit_expr.max()
    )
    yield has_rarer.alias(f"{EvidenceColumn.HAS_RARER}{word}")


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


def _add_binding_targets(joint_points: pl.DataFrame, single_points: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of all targets, with BINDING, those that may bind."""
    key_columns = joint_points.columns[: joint_points.columns.index("criterion")]
    points_by_case: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for point in single_points.iter_rows(named=True):
        if point["threshold"] is not None:
            points_by_case.setdefault(tuple(point[column] for column in key_columns), []).append(point)
    binding_targets = []
    for joint_point in joint_points.iter_rows(named=True):
        single_points_here: list[dict[str, Any]] = []
        if joint_point["threshold"] is not None:
            single_points_here = points_by_case.get(
                tuple(joint_point[column] for column in key_columns), []
            )
        # At the target that binds, a model finds least. Another one may bind in another sample if, by
        # its interval, it may be found that little there.
        points_at_threshold = [
            point for point in single_points_here if point["threshold"] == joint_point["threshold"]
        ]
        recall_highs = (read_estimate(point, "recall").high or 1.0 for point in points_at_threshold)
        highest_recall = max(recall_highs, default=joint_point["recall"])
        binding_targets.append(
            [
                point["criterion"]
                for point in single_points_here
                if (read_estimate(point, "recall").low or 0.0) <= highest_recall
            ]
        )
    return joint_points.with_columns(
        pl.Series(EvidenceColumn.BINDING, binding_targets, dtype=pl.List(pl.String))
    )


def _add_has_scores(
    case_rows: pl.DataFrame, curve_points: pl.DataFrame, key_columns: Sequence[str]
) -> pl.DataFrame:
    """Add HAS_SCORES: a curve without a point has no score."""
    has_point = pl.lit(curve_points.height > 0 or None, dtype=pl.Boolean)
    has_scores = has_point.alias(EvidenceColumn.HAS_SCORES)
    if not key_columns:
        return case_rows.with_columns(has_scores)
    return _join(
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
    return _join(case_rows, few_score_rows, [*key_columns, "eta"])


# Leads ------------------------------------------------------------------------------------------


def _add_leads(
    request: DecisionRequest, case_rows: pl.DataFrame, key_columns: list[str], n_cases: float
) -> pl.DataFrame:
    """Add how far each model is behind the best other one, with both ends, and if it may be the best."""
    model_column = request.model
    if model_column is None or case_rows[model_column].n_unique() < 2:
        return case_rows
    if request.compares_intervals:
        return _add_leads_by_intervals(request, case_rows, key_columns, n_cases)
    group_columns = key_columns[: key_columns.index("eta")]
    # Models are compared at all targets, but where several have to hold together at those that may bind.
    goal = request.goal
    target_words: list[str | None] = [None] if goal.is_of_curve else list(goal.targets)
    if goal.is_joint:
        binding_column = EvidenceColumn.BINDING
        has_binding = binding_column in case_rows.columns
        binding_words = {*chain(*case_rows[binding_column].drop_nulls())} if has_binding else set()
        cap_words = [cap_word for cap_word in goal.caps if cap_word in binding_words]
        target_words = [*(cap_words or goal.caps)]
    ranking_columns: list[Any] = [
        *group_columns,
        "eta",
        pl.col("model").alias(model_column),
        *_LEAD_COLUMNS,
        pl.col(DOUBT).alias(EvidenceColumn.LEAD_DOUBT),
    ]
    ranking_frames = [
        ranking_rows.select(ranking_columns)
        for target_word in target_words
        for ranking_rows in _rank_models(request, case_rows, group_columns, target_word)
    ]
    ranking_key_columns = [*group_columns, "eta", model_column]
    # All rankings have to rule out a model, and its limits are the widest.
    grouped_rankings = pl.concat(ranking_frames, how="vertical_relaxed").group_by(ranking_key_columns)
    lead_rows = grouped_rankings.agg(
        pl.col("behind").first(),
        pl.col("behind_low").min(),
        pl.col("behind_high").max(),
        # Null without a ranking, as where the other model meets no target by any interval.
        pl.col("may_be_best").any(ignore_nulls=False),
        pl.col(EvidenceColumn.LEAD_DOUBT).drop_nulls().first(),
    )
    return _join(case_rows, lead_rows, ranking_key_columns)


def _rank_models(
    request: DecisionRequest,
    case_rows: pl.DataFrame,
    group_columns: Sequence[str],
    target_word: str | None,
) -> Iterator[pl.DataFrame]:
    """Yield the rankings at a target: one, or if eta is an estimate, one at it and at either end."""
    goal = request.goal
    target_arguments = {} if target_word is None else goal.build_arguments(target_word)
    metric_name = goal.curve_metric if goal.is_of_curve else goal.merit_column
    arguments: dict[str, Any] = {"metric": metric_name, "confidence": request.test_level}
    arguments |= target_arguments | ({"mean_over": goal.mean_over} if goal.mean_over else {})
    (table, eta), (low_column, high_column, _) = request.whole_table, UNCERTAIN_ETA_COLUMNS
    if low_column not in {*case_rows.columns} - {*group_columns} or request.weighted_field is not None:
        yield table.ranking(eta, columns="all", **arguments)
        return
    eta_limit_rows = case_rows.select(
        *group_columns, "eta", pl.col(low_column, high_column).fill_null(pl.col("eta"))
    )
    eta_limit_rows = eta_limit_rows.unique(maintain_order=True)
    least_eta_expr = pl.max_horizontal(low_column, pl.col("eta") * 0.01)  # at 0 nothing differs
    estimate_column = "estimate"  # the column that an eta frame carries, of no group
    while estimate_column in group_columns:
        estimate_column += " of eta"
    for eta_expr in (pl.col("eta"), least_eta_expr, pl.col(high_column)):
        eta_rows = eta_limit_rows.select(
            *group_columns, eta_expr.alias("eta"), pl.col("eta").alias(estimate_column)
        )
        yield table.ranking(eta_rows, columns="all", **arguments).with_columns(eta=estimate_column)


def _add_leads_by_intervals(
    request: DecisionRequest, case_rows: pl.DataFrame, key_columns: list[str], n_cases: float
) -> pl.DataFrame:
    """Add the columns of leads from the intervals of the models, each of which is of one model."""
    model_column, merit_column, sign = str(request.model), request.goal.merit_column, request.goal.sign
    # Each pair has the level that all of them take (Bonferroni).
    level = 1 - (1 - request.test_level) / math.comb(case_rows[model_column].n_unique(), 2)
    points = case_rows
    if level != request.confidence:
        points = _collect_points(replace(request, confidence=level), n_cases)
    signed_limit_exprs = [pl.col(f"{merit_column}_{end}") * sign for end in ("low", "high")]
    merit_low, merit_high = signed_limit_exprs if sign > 0 else signed_limit_exprs[::-1]
    point_key_columns = [*key_columns, model_column]
    merit_rows = points.select(
        *point_key_columns,
        (pl.col(merit_column) * sign).alias(_MERIT),
        merit_low.alias(_MERIT_LOW),
        merit_high.alias(_MERIT_HIGH),
    )
    other_name_by_column = {name: f"{_OTHER_MODEL}{name}" for name in (_MERIT, _MERIT_LOW, _MERIT_HIGH)}
    other_merit_rows = merit_rows.rename({**other_name_by_column, model_column: _OTHER_MODEL})
    merit_pair_rows = merit_rows.join(other_merit_rows, on=key_columns, nulls_equal=True)
    merit_pair_rows = merit_pair_rows.filter(pl.col(model_column) != pl.col(_OTHER_MODEL))
    # The distances of both intervals add up in quadrature (Zou and Donner 2008), as of models that were
    # tested apart. What models of one test share makes the difference surer than that.
    merit, merit_low, merit_high = map(pl.col, other_name_by_column)
    other_merit, other_merit_low, other_merit_high = map(pl.col, other_name_by_column.values())
    gap_expr = other_merit - merit
    least_gap = gap_expr - combine_distances([other_merit - other_merit_low, merit_high - merit])
    greatest_gap = gap_expr + combine_distances([other_merit_high - other_merit, merit - merit_low])
    may_be_best = ~(least_gap > 0).any()
    lead_exprs = gap_expr.max(), least_gap.max(), greatest_gap.max(), may_be_best
    lead_rows = merit_pair_rows.group_by(point_key_columns).agg(
        expr.alias(name) for name, expr in zip(_LEAD_COLUMNS, lead_exprs, strict=True)
    )
    return _join(case_rows, lead_rows, point_key_columns)
