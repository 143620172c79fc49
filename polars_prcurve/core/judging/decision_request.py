"""The request for a decision, and what is read from the table before any of its methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.confidence.interval_input_columns import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.core.inputs.table_reader import DroppedRows, count_dropped_rows
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.prevalence.field_and_class_mix import Field


@dataclass(frozen=True, kw_only=True)
class DecisionTerms:
    """The goal and the level of a decision, and names of its results: all that is kept without rows."""

    goal: Goal
    confidence: float
    model: str | None  # the column of models in results; None of a table without models
    call_order: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """The names in the order of a call, by the column that holds them."""
    has_classes: bool = False  # whether each example counts in the groups of all classes
    dropped_rows: DroppedRows | None = None  # the rows that were left out; None if none was
    weight: str | None = None
    """The column by which rows count, empty if it has no name; None if each row counts once."""
    clusters: tuple[str, int] | None = None  # the column of clusters and their number, if they are named


@dataclass(frozen=True, kw_only=True)
class DecisionRequest(DecisionTerms):
    """The request: which table, at which prevalences, and on which terms."""

    table: Any  # a bound table, whose methods the evidence comes from
    eta: Any
    open_table: Callable[[pl.DataFrame], Any]  # the function that gives another table its methods
    compares_intervals: bool = False
    """Whether models at a target are compared by the intervals of each, without a test of pairs."""
    unweighted_table: Any = None
    """Of rows with weights, or of a mix of classes, the table in which each row is one example."""
    weighted_field: tuple[Any, Any] | None = None
    """Of a field, its examples with weights that make it one table, and its prevalence: areas and
    rankings are of that."""
    is_published: bool = False  # whether the table holds points of curves, without examples
    counts_negatives: bool = True  # whether the number of negatives is known
    n_groups: int = 1  # the number of groups, which share the error of all tests

    @property
    def test_level(self) -> float:
        """The level of each test, with which all groups together err as one may (Bonferroni)."""
        return 1 - (1 - self.confidence) / self.n_groups

    @cached_property
    def score_counts(self) -> pl.DataFrame:
        """The result of `counts` of the table."""
        score_count_rows: pl.DataFrame = self.table.counts()
        return score_count_rows

    @property
    def whole_table(self) -> tuple[Any, Any]:
        """The table whose areas are computed and whose models are ranked, and its prevalences."""
        return (self.table, self.eta) if self.weighted_field is None else self.weighted_field


def count_rows_left_out(question: Question, **options: bool) -> DroppedRows | None:
    """Return how many rows are left out because a value is missing; None if none is.

    `options` are those of `count_dropped_rows`.
    """
    input_columns = question.columns
    if input_columns.missing != "drop":
        return None
    dropped_rows = count_dropped_rows(question.frame, input_columns, **options)
    if not question.may_rank_last:
        dropped_rows = dropped_rows._replace(may_rank_last=False)
    if question.is_wide:  # a row goes for all models, or classes
        dropped_rows = dropped_rows.divide(len(question.wide_scores))
        if question.has_class_columns:  # each row is positive for one class
            dropped_rows = dropped_rows._replace(n_pos=None)
    return dropped_rows if dropped_rows.n_dropped else None


def weigh_field(request: DecisionRequest, question: Question, frame: pl.DataFrame) -> DecisionRequest:
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
