"""What the models of a table do at their targets, and where no threshold meets these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import polars as pl
from polars import selectors

from polars_prcurve.core.confidence.confidence_that_limit_holds import (
    CERTAINTY,
    measure_certainty,
    scale_limit,
)
from polars_prcurve.core.confidence.estimates import read_estimate
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn, join_in_order
from polars_prcurve.core.judging.goal import CAPS, Goal
from polars_prcurve.core.metrics import point_formulas
from polars_prcurve.core.metrics.target_kinds import RUN_WORDS, TARGET_KINDS

LEAST_ALERTS = 5  # of a threshold that may meet a target: the interval of fewer allows anything


def collect_points(request: DecisionRequest, n_cases: float) -> pl.DataFrame:
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


def add_open_targets(
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
    return join_in_order(case_rows, open_target_rows, case_columns).with_columns(added_exprs)


def add_other_thresholds(
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
    return join_in_order(case_rows, other_points, case_columns)


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
