"""The request for a decision: which table, at which prevalences, and on which terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from polars_prcurve.core.inputs.table_reader import DroppedRows
from polars_prcurve.core.judging.goal import Goal


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
