"""From a table to its decision: what `decide` does once its arguments are read.

It is imported at the first decision, with all that only decisions need: the judge and its sentences.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from polars_prcurve.core.binding.bound_table import BoundTable
from polars_prcurve.core.binding.groups_of_a_question import name_column
from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.binding.shared_arguments import TARGET_WORDS
from polars_prcurve.core.confidence.interval_input_columns import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.core.ground.argument_checks import select_column
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.column_reader import InputColumns
from polars_prcurve.core.inputs.group_column_checks import list_key_phrases
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence import check_names
from polars_prcurve.core.judging.goal import Goal, check_goal, check_names_of_groups, read_goal
from polars_prcurve.core.judging.judgement import judge_table
from polars_prcurve.core.prevalence.estimated_eta import refuse_refuted_estimates
from polars_prcurve.core.prevalence.eta_by_parts_or_classes import ClassMix, Field
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.doors.namespace.curve_methods import has_one_point_each
from polars_prcurve.view.report.decision_result import Decision

_IS_EMPTY = f"{RESERVED}is_empty"  # whether all rows of a group have weight 0


def make_decision(
    bound_table: BoundTable[Any], question: Question, call_arguments: Any, guarantee: float | str | None
) -> Decision:
    """Return the decision on the table of a question, by the methods of that table."""
    question.require_interval_options()
    goal = read_goal(question, guarantee)
    table = question.read()
    check_names_of_groups(table)
    with refuse_refuted_estimates():
        grid = EtaTable(pl.LazyFrame())
        if not question.eta.is_estimated:  # scores are counted
            _, grid = question.place_at_etas(table)  # raises for wrong ones before any work
        check_goal(question, goal)
        if question.columns.points is not None:
            table.require_example_counts("decide()")
        request = _collect_request(bound_table, question, call_arguments, goal)
        check_names(table, grid, request.goal, request.model)
        cluster_column_and_count = _count_clusters(question, table)
        if table.by and not goal.mean_over:
            _refuse_groups_of_weight_0(table)
        request = replace(
            request, counts_negatives=table.counts_negatives, clusters=cluster_column_and_count
        )
        return Decision(judge_table(request))


def _refuse_groups_of_weight_0(table: ResolvedTable) -> None:
    """Raise if all rows of a group have weight 0: results have no row for it, so no gate would fail."""
    if not isinstance(table, ScoreTable) or table.unscored is not None or Row.LABEL in table.columns:
        return
    is_empty = pl.all_horizontal(table.columns[name] == 0 for name in (Row.POS, Row.NEG))
    groups = table.aggregate_groups([is_empty.all(ignore_nulls=False).alias(_IS_EMPTY)])
    key_parts = list_key_phrases({name: pl.col(name) for name in table.by}, pl.col(_IS_EMPTY))
    check = Check(
        pl.col(_IS_EMPTY).any(),
        ("filter out the rows of ", *key_parts, ": all weights there are 0, so there is no example"),
    )
    table.collect(stop_if_broken(groups, [check]), "decide()")


def _count_clusters(question: Question, table: ResolvedTable) -> tuple[str, int] | None:
    """Return the name of the column of clusters and how many there are; None if none are named."""
    cluster_column = question.columns.cluster
    if cluster_column is None or Row.CLUSTER not in table.columns:
        return None
    cluster_count_frame = table.frame.select(table.columns[Row.CLUSTER].n_unique())
    return name_column(cluster_column), int(table.collect(cluster_count_frame, "decide()").item())


def _collect_request(
    bound_table: Any, question: Question, call_arguments: Any, goal: Goal
) -> DecisionRequest:
    """Return the table in memory, whose methods are called, and that whose models are ranked."""
    table_arguments = {
        argument: value for argument, value in call_arguments.items() if argument not in TARGET_WORDS
    }
    ranked_table = bound_table(**table_arguments)._collect_table()
    input_columns = question.columns
    if input_columns.points is not None and goal.targets and not goal.is_at_threshold:
        is_point_tested = goal.guarantee is None and has_one_point_each(ranked_table, {})
        goal = goal.test_point() if is_point_tested else goal
    if input_columns.model is not None and not question.has_model_columns:
        ranked_table = ranked_table(model=input_columns.model)
    is_class_mix = isinstance(question.eta.value, ClassMix)
    if input_columns.model is not None and is_class_mix:
        raise PrcError(
            "pass weight=, with the weights that .prc.unpivot_scores(mix=...) adds, and leave out eta= "
            "and score={...}: models at a class mix are compared by weighted rows"
        )
    if goal.mean_over:  # whose groups may be expressions, which calls then find by their names
        ranked_table = ranked_table(by=input_columns.by)
    has_weighted_rows = input_columns.weight is not None or is_class_mix
    request = DecisionRequest(
        table=ranked_table,
        eta=question.eta.value,
        goal=goal,
        confidence=question.require_interval_options().level,
        model=None if input_columns.model is None else name_column(input_columns.model),
        open_table=type(ranked_table),
        compares_intervals=goal.maximized is not None,
        dropped_rows=question.count_rows_left_out(),
        is_published=input_columns.points is not None,
        call_order=bound_table._find_call_order(call_arguments),
        unweighted_table=_count_rows_once(ranked_table, input_columns.weight)
        if has_weighted_rows
        else None,
        has_classes=question.has_class_columns,
        weight=_name_weight(input_columns),
    )
    if not question.eta.is_field:
        return request
    eta_table = question.eta.find_etas(question.level)
    return _weigh_field(request, question, pl.DataFrame(eta_table.lazy().collect()))


def _weigh_field(request: DecisionRequest, question: Question, frame: pl.DataFrame) -> DecisionRequest:
    """Return the request, with the examples of a field weighted so that they make one table.

    `frame` has its parts.
    """
    bound_table: Any = request.table
    eta_field: Field = request.eta
    exact_field = replace(eta_field, frame=frame.drop(UNCERTAIN_ETA_COLUMNS, strict=False))
    summary_rows = bound_table.summary(exact_field, metrics="roc_auc", columns="all")
    group_columns = summary_rows.columns[: summary_rows.columns.index("eta")]
    group_columns = [name for name in group_columns if name != request.model]
    eta_rows = summary_rows.select(*group_columns, "eta").unique(maintain_order=True)
    eta: Any = eta_rows if group_columns else eta_rows["eta"].to_list()
    weight_column = "weight"
    while weight_column in bound_table._frame.columns:
        weight_column += " of the field"
    arguments = {**bound_table._words, "by": question.columns.by, "weight": weight_column}
    if request.model is not None and not question.has_model_columns:
        arguments["model"] = request.model
    weighted_table = type(bound_table)(
        bound_table.reweight(eta=exact_field, name=weight_column), arguments
    )
    request = replace(request, unweighted_table=bound_table(by=question.columns.by))
    # Without a guarantee, and at exact prevalences, that table answers everything.
    if request.goal.guarantee is None and exact_field.frame.columns == frame.columns:
        return replace(request, table=weighted_table, eta=eta)
    return replace(request, weighted_field=(weighted_table, eta))


def _name_weight(input_columns: InputColumns) -> str | None:
    """Return the name of the column by which rows count; empty without a name, None without weights."""
    if input_columns.weight is None:
        return (
            ""
            if isinstance(input_columns.counts, list | tuple) and len(input_columns.counts) > 2
            else None
        )
    weight_name = name_column(input_columns.weight)
    return "" if weight_name == "literal" else weight_name  # as of pl.when(...).then(1).otherwise(20)


def _count_rows_once(bound_table: Any, weight_column: Any) -> Any:
    """Return the table in which each row is one example; a row of weight 0 is none."""
    if weight_column is None:
        return bound_table
    weight_expr = select_column(weight_column) if isinstance(weight_column, str) else weight_column
    return type(bound_table)(bound_table._frame.filter(weight_expr > 0), bound_table._words)(weight=None)
