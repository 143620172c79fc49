"""How far each model is behind the best other one of its case, and which may be the best.

Several targets have to hold together. A model that keeps them all finds as much as it finds at the
limit of alerts that binds. So a model is behind another one if it is significantly so at each target
that may bind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.interval_input_columns import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.core.confidence.point_intervals import combine_distances
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence_at_targets import collect_points
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn, join_in_order

LEAD_COLUMNS = ("behind", "behind_low", "behind_high", "may_be_best")  # those of a ranking
_MERIT, _MERIT_LOW, _MERIT_HIGH = (f"{RESERVED}merit{end}" for end in ("", "_low", "_high"))
_OTHER_MODEL = f"{RESERVED}other_model"  # before the columns of another model of the same case


def add_leads(
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
        *LEAD_COLUMNS,
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
    return join_in_order(case_rows, lead_rows, ranking_key_columns)


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
        points = collect_points(replace(request, confidence=level), n_cases)
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
        expr.alias(name) for name, expr in zip(LEAD_COLUMNS, lead_exprs, strict=True)
    )
    return join_in_order(case_rows, lead_rows, point_key_columns)
