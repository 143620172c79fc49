"""Arguments that are targets, such as `recall=0.8`: read, checked, and made into a `Target`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.curves.given_group_thresholds import (
    GIVEN_THRESHOLD,
    LEAST_SCORE,
    read_group_thresholds,
)
from polars_prcurve.core.curves.search_by_extremes import (
    CHOSEN_ROW,
    ROW_NUMBER,
    Extreme,
    Search,
    choose_row,
)
from polars_prcurve.core.curves.targets import ONLY_POINT, Limit, Target
from polars_prcurve.core.ground.argument_checks import read_list, read_number, round_to_float, take_frame
from polars_prcurve.core.ground.errors import PrcError, warn_caller
from polars_prcurve.core.ground.query_guards import Check, run_query
from polars_prcurve.core.ground.share_texts import read_share_texts
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.group_column_checks import list_key_phrases
from polars_prcurve.core.inputs.resolved_tables import RateTable, ResolvedTable, read_score_dtype
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.metrics.curve_metric import AtTarget, CurveMetric, SegmentValues
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import best
from polars_prcurve.core.metrics.metric_lookup import find_metric, find_metrics
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.target_kinds import (
    TARGET_KINDS,
    TargetKind,
    read_budget,
    read_per,
)
from polars_prcurve.core.sweep.sorted_group_rows import rising_code


def read_targets(
    table: ResolvedTable | None, *, at_eta: bool = True, one_each: bool = False, **value_by_word: Any
) -> list[Target]:
    """Return the targets of all words with values, in the order of TARGET_KINDS.

    Without any, a table of points has the only point of each group as its target; others raise.
    """
    value_by_word = {word: value for word, value in value_by_word.items() if value is not None}
    targets = _build_threshold_targets(
        table, value_by_word.get("threshold"), at_eta=at_eta, one_each=one_each
    )
    targets += [
        _build_target(target_kind, value, value)
        for word, target_kind in TARGET_KINDS.items()
        if word in value_by_word and target_kind.value_kind != "number"
        for value in _read_target_values(target_kind, value_by_word[word])
    ]
    alert_values, per = _to_list("alerts", value_by_word.get("alerts")), value_by_word.get("per")
    budgets = [read_budget(value, per) for value in alert_values]
    n_cases = read_per(per) if budgets else 1.0
    # Not alerts <= rate * per, whose product may round to just above a budget that is met exactly.
    targets += [_build_target(TARGET_KINDS["alerts"], budget, budget / n_cases) for budget in budgets]
    if "maximize" in value_by_word:
        targets += map(
            _build_best_target, find_metrics(value_by_word["maximize"], PointMetric, "maximize=")
        )
    if not targets and isinstance(table, RateTable):
        return [ONLY_POINT]
    if not targets:
        words_text = "threshold=, recall=, fpr=, precision=, alerts= or maximize="
        words_text = words_text if at_eta else "threshold=, recall= or fpr="
        raise PrcError(f"pass a target or a threshold: {words_text}")
    return targets


def _build_threshold_targets(
    table: ResolvedTable | None, thresholds: Any, *, at_eta: bool, one_each: bool
) -> list[Target]:
    """Return a target for each threshold, or one for a frame of thresholds of each group."""
    thresholds = take_frame(thresholds)
    if thresholds is None:
        return []
    if isinstance(thresholds, pl.DataFrame | pl.LazyFrame) and table is not None:
        group_thresholds = read_group_thresholds(table, thresholds, at_eta=at_eta, one_each=one_each)
        # Its columns are joined to the rows, where the search and `value` read them.
        least_score_expr = pl.col(LEAST_SCORE)
        search = choose_row(lambda row_values: _score_of_row(row_values) >= least_score_expr)
        target = Target("threshold", pl.col(GIVEN_THRESHOLD), search_without_limit=search)
        return [replace(target, least_score=least_score_expr, thresholds=group_thresholds)]
    if table is None or (score_dtype := read_score_dtype(table)) is None:
        raise PrcError("pass recall= or fpr=: rates= has no thresholds, so threshold= finds none")
    exact_thresholds = read_threshold_list("threshold", _to_list("threshold", thresholds), score_dtype)
    least_scores = to_least_scores(exact_thresholds, score_dtype)
    targets = []
    for target_number, exact_threshold in enumerate(exact_thresholds):
        shown_threshold = round_to_float(exact_threshold)
        least_score = least_scores.slice(target_number, 1)
        limit = Limit(_score_of_row, least_score)
        targets.append(Target("threshold", shown_threshold, least_score=least_score, limit=limit))
    return targets


def _score_of_row(row_values: SegmentValues) -> Any:
    return row_values.column(Row.SCORE)


def require_one_point(
    table: ResolvedTable, targets: Iterable[Target], remedy_text: str
) -> ResolvedTable:
    """Return the table, whose queries stop if the only point is a target, and a group has several."""
    if ONLY_POINT not in targets:
        return table
    if table.is_in_memory:
        _warn_below_fpr(table)
    tallies = replace(
        table.tallies, test_exprs={**table.tallies.test_exprs}, checks=[*table.tallies.checks]
    )
    # A literal would be one row, however long the table is.
    point_of_row = table.columns["recall"].is_null().cast(pl.Int64) * 0 + 1
    has_several = tallies.count(point_of_row, is_per_group=True) > 1
    key_exprs = {table.model_column if key == Row.MODEL else key: pl.col(key) for key in table.by}
    group_texts = list_key_phrases(key_exprs, has_several)
    sentence_parts = (
        "one point needs no target; there are several in ",
        has_several.sum(),
        " group(s)",
        *((", such as ", *group_texts) if group_texts else ()),
        f"; keep one row for each, or {remedy_text}",
    )
    tallies.checks.append(Check(has_several.any(), sentence_parts))
    return replace(table, tallies=tallies)


def _warn_below_fpr(table: ResolvedTable) -> None:
    """Warn of a point that is worse than chance; where its sizes are known, `doubt` shows it."""
    recall, fpr = table.columns["recall"], table.columns["fpr"]
    has_no_size = table.columns.get("tp", pl.lit(None)).is_null()
    low_points = table.frame.filter(has_no_size & (recall < fpr) & (fpr <= 1))
    for point in run_query(low_points.select(recall=recall, fpr=fpr).head(1), 1).rows(named=True):
        warn_caller(
            f"check the rates: recall {point['recall']:.10g} is below fpr {point['fpr']:.10g}, as if "
            "specificity were passed as fpr, or the classes were swapped"
        )


class RankingMetric(NamedTuple):
    """The metric that ranks models, and the target at which a point metric is taken."""

    metric: CurveMetric | PointMetric
    targets: list[Target]  # one for a point metric, none for a curve metric


def read_ranking_metric(
    metric: str | PointMetric | CurveMetric, table: ResolvedTable, *, at_eta: bool = True, **targets: Any
) -> RankingMetric:
    """Return a curve metric, or a point metric with its target; without one, its best value."""
    ranking_targets = read_one_target(table, **targets, at_eta=at_eta)
    known_metric = find_metric(metric)
    if isinstance(known_metric, PointMetric):
        return RankingMetric(known_metric if ranking_targets else best(known_metric), ranking_targets)
    if ranking_targets:
        raise PrcError(
            f"leave out {ranking_targets[0].criterion}=: {known_metric.name} describes a whole curve"
        )
    return RankingMetric(known_metric, ranking_targets)


def read_one_target(table: ResolvedTable, *, at_eta: bool = True, **targets: Any) -> list[Target]:
    """Return the target of all arguments in a list, empty if there is none; raise for several."""
    check_per_has_alerts(targets.get("alerts"), targets.get("per"))
    has_no_target = all(value is None for value in targets.values())
    target_list = [] if has_no_target else read_targets(table, **targets, at_eta=at_eta, one_each=True)
    if len(target_list) > 1:
        raise PrcError(
            "call once for each target: at most one (recall=, fpr=, ...) is allowed; got "
            f"{len(target_list)}"
        )
    return target_list


def _build_target(target_kind: TargetKind, target_value: float, limit: float) -> Target:
    """Return the target of a metric that is to be at least a limit, or at most."""
    # The limit is the value that is shown, except that alerts are a number, and their limit is a rate.
    return Target(
        target_kind.word,
        target_value,
        target_kind.metric.depends_on_eta,
        kind=target_kind,
        takes_first=target_kind.takes_first,
        rate=limit if target_kind.promise_test == "alerts" else None,
        limit=Limit(target_kind.measure, target_kind.find_least(limit)),
    )


def build_target_of_metric(at_target: AtTarget, table: ResolvedTable) -> Target:
    """Return the target of a curve metric that has its value on the row found for one."""
    if at_target.word == "threshold":
        return read_targets(table, threshold=at_target.value)[0]
    limit = at_target.value / at_target.per
    return _build_target(TARGET_KINDS[at_target.word], at_target.value, limit)


def _build_best_target(metric: PointMetric) -> Target:
    """Return the target of the best value of a metric; among equal values the first row wins."""
    sign = 1.0 if metric.higher_is_better() else -1.0

    def find_best(row_values: SegmentValues) -> dict[str, Extreme]:
        # The bits of the value stand above 64 bits for the row, so equal values are compared by row.
        value: pl.Expr = row_values.value(metric)
        value_code = rising_code(value * sign).cast(pl.Int128)
        return {CHOSEN_ROW: Extreme(value_code * 2**64 - row_values.column(ROW_NUMBER))}

    # The cast keeps the low 64 bits, which are the number, negated.
    search = Search(find_best, lambda read: -read(CHOSEN_ROW).cast(pl.Int64, wrap_numerical=True))
    criterion = f"maximize({metric.name})"
    return Target(criterion, None, metric.depends_on_eta, maximized=metric, search_without_limit=search)


def _to_list(argument_name: str, argument_value: Any) -> list[Any]:
    """Return a list of what an argument holds: nothing, one value or several."""
    if argument_value is None:
        return []
    if isinstance(argument_value, str) or not isinstance(argument_value, Iterable):
        return [argument_value]
    expected_phrase = "a value or a list of values"
    if argument_name == "threshold":
        expected_phrase = "a value, a list of values, or a frame with a threshold of each group"
    return read_list(f"{argument_name}=", argument_value, expected_phrase)


def _read_target_values(target_kind: TargetKind, argument_values: Any) -> list[float]:
    """Return the values of an argument as floats; raise unless all are shares, or factors."""
    expected_phrase, greatest_value = 'numbers in [0, 1], such as 0.8 or "80%"', 1.0
    if target_kind.value_kind == "factor":
        expected_phrase, greatest_value = "numbers of at least 0", sys.float_info.max
    numbers = _to_list(target_kind.word, argument_values)
    numbers = read_share_texts(numbers) if target_kind.value_kind == "share" else numbers
    return [
        read_number(f"{target_kind.word}=", number, expected_phrase, lambda x: 0 <= x <= greatest_value)
        for number in numbers
    ]


def check_per_has_alerts(alerts: object, per: object) -> None:
    """Raise if `per` is passed without a budget of alerts, where they serve nothing else."""
    if per is not None and alerts is None:
        raise PrcError(
            "pass alerts= as well: per= is the number of cases among which alerts are counted"
        )
