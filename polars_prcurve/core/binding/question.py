"""The question of one call: what its words mean, and the table, the grid and the bands they make.

words of the call -> columns   what `read_input` reads; a wide table is made long first
                -> table     every column resolved and typed
                -> grid      the prevalences of eta=, of its groups or of fields of parts
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve.core.binding import argument_rules
from polars_prcurve.core.binding.cache_of_read_tables import ReadTables
from polars_prcurve.core.binding.eta_argument import EtaArgument
from polars_prcurve.core.binding.group_renaming import TableT, hide_columns, hide_groups, list_hidden
from polars_prcurve.core.comparison.comparison_request import Pairing
from polars_prcurve.core.confidence.band_options import BandKind, FixedBands
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.confidence.point_intervals import find_corners
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.inputs.column_reader import InputColumns, list_columns
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.table_reader import (
    DroppedRows,
    count_dropped_rows,
    read_input,
    read_unlabelled,
)
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.uncertainty.means_over_groups import MeanGroups
from polars_prcurve.core.uncertainty.summary_table import check_negatives

if TYPE_CHECKING:
    from typing_extensions import Self


class Question(NamedTuple):
    """The question of one call of a method, about a user's table."""

    method: str
    frame: pl.DataFrame | pl.LazyFrame
    """The table whose rows are read: the user's, or the long one that was made from a wide one."""
    columns: InputColumns
    """What the columns of `frame` hold."""
    eta: EtaArgument
    interval_options: Intervals | None
    """How sure; None without intervals."""
    targets: Mapping[str, Any]
    """The values of targets, by their words."""
    facts: set[str]
    """What the call passes, as rules write it."""
    may_collect: bool
    user_table: pl.DataFrame | pl.LazyFrame
    read_tables: ReadTables | None = None
    """Tables that were read before; None of a table that keeps none."""
    wide_scores: Any = None
    """The word score= of a wide table, which `frame` was made from."""
    names_no_model: bool = False
    """Whether `model=None` was passed: a column called `model` is then one like any other."""
    mean_groups: MeanGroups | None = None
    """The groups that means are over; they are the last ones of `by`. None without means."""

    @property
    def is_wide(self) -> bool:
        """Whether the user's table has a column of scores for each model, or for each class."""
        return self.wide_scores is not None

    @property
    def has_class_columns(self) -> bool:
        """Whether the user's table has a column of scores for each class."""
        return isinstance(self.wide_scores, Mapping)

    @property
    def has_model_columns(self) -> bool:
        """Whether the user's table has a column of scores for each model."""
        return self.is_wide and not self.has_class_columns

    def list_score_columns(self) -> list[str]:
        """Return the score columns of a wide table, of which each model, or class, has one."""
        return [*self.wide_scores.values()] if self.has_class_columns else list(self.wide_scores or ())

    @property
    def level(self) -> float | None:
        """The level of intervals; None without any."""
        return None if self.interval_options is None else self.interval_options.level

    def require_interval_options(self) -> Intervals:
        """Return how sure the answer is to be; raise if `confidence=` is None."""
        if self.interval_options is None:
            raise PrcError(f"pass confidence=, a level such as 0.95: {self.method}() needs it")
        return self.interval_options

    def find_pairing(self, *, paired: bool) -> Pairing:
        """Return which examples models share; raise if that is not known, or not so."""
        if not paired:
            return "apart"
        input_columns = self.columns
        for word in ("counts", "rates", "cells"):
            if getattr(input_columns, word) is not None:
                raise PrcError(
                    f"pass paired=False with model=: {word}= cannot show which examples the models share"
                )
        if input_columns.is_matched:
            return "wide"
        if not list_columns("id=", input_columns.id):
            raise PrcError(
                "pass a list of columns as score=, or model= with id=, the column that identifies an "
                "example; for models that scored different examples, call compare(paired=False)"
            )
        return "by id"

    def read(self, *, are_posteriors: bool = False) -> Any:
        """Return the table with every column resolved and typed."""
        read_table = partial(
            read_input,
            self.frame,
            self.columns,
            may_collect=self.may_collect,
            user_table=self.user_table,
            wide_score_names=self.list_score_columns(),
            are_posteriors=are_posteriors,
        )
        if self.read_tables is None:
            return read_table()

        def read_and_keep() -> ResolvedTable:
            table = read_table()
            return table.keep_counts() if isinstance(table, ScoreTable) else table

        # A bound table of a DataFrame is read once for all calls in which the same words hold.
        named_options = {"wide_scores": self.wide_scores, "are_posteriors": are_posteriors}
        return self.read_tables.find(self.columns._asdict() | named_options, read_and_keep)

    def read_unlabelled(self, *, are_posteriors: bool = False) -> ScoreTable:
        """Return the table without labels, all of whose rows stand as negatives."""
        return read_unlabelled(
            self.frame, self.columns, may_collect=self.may_collect, are_posteriors=are_posteriors
        )

    def count_rows_left_out(self, **options: bool) -> DroppedRows | None:
        """Return how many rows are left out because a value is missing; None if none is.

        `options` are those of `count_dropped_rows`.
        """
        input_columns = self.columns
        if input_columns.missing != "drop":
            return None
        dropped_rows = count_dropped_rows(self.frame, input_columns, **options)
        if not argument_rules.takes_unscored(self.method, self.facts):
            dropped_rows = dropped_rows._replace(may_rank_last=False)
        if self.is_wide:  # a row goes for all models, or classes
            dropped_rows = dropped_rows.divide(len(self.wide_scores))
            if self.has_class_columns:  # each row is positive for one class
                dropped_rows = dropped_rows._replace(n_pos=None)
        return dropped_rows if dropped_rows.n_dropped else None

    def read_bands(
        self, metrics: Iterable[PointMetric], build_bands: Callable[..., FixedBands] = FixedBands
    ) -> FixedBands | None:
        """Return the bands that were requested; None without intervals, raise if a metric has none."""
        if self.interval_options is None:
            return None
        for metric in metrics:
            find_corners(metric)  # raises if the metric has no band
        band_kind: BandKind = "rectangle" if self.interval_options.method == "rectangle" else "mover"
        band_kind = "simultaneous" if self.interval_options.simultaneous else band_kind
        return build_bands(self.interval_options.level, self.interval_options.rate, band_kind)

    def list_result_keys(self, table: ResolvedTable) -> list[str]:
        """Return the group columns of a result: those of the table that no mean is over."""
        mean_column_names = () if self.mean_groups is None else self.mean_groups.columns
        return [name for name in table.group_columns if name not in mean_column_names]

    def place_at_etas(
        self, table: ResolvedTable, metrics: Iterable[PointMetric | CurveMetric] = ()
    ) -> tuple[ResolvedTable, EtaTable]:
        """Return a table that was read, and its prevalences: of groups, or of fields of parts.

        Raise if one of the metrics that are requested has no value there.
        """
        if not table.counts_negatives:
            check_negatives(metrics)
        return self.eta.place(table, self.level)

    def hide_names(self, table: TableT, grid: EtaTable) -> tuple[Self, TableT, EtaTable]:
        """Return the question, its table and prevalences with inner names for columns on the way."""
        inner_name_by_column = list_hidden(self.method, table, grid)
        if not inner_name_by_column:
            return self, table, grid
        question = self
        if self.mean_groups is not None:
            mean_column_names = tuple(
                inner_name_by_column.get(name, name) for name in self.mean_groups.columns
            )
            question = self._replace(mean_groups=self.mean_groups._replace(columns=mean_column_names))
        return (
            question,
            hide_groups(table, inner_name_by_column),
            hide_columns(grid, inner_name_by_column),
        )

    def build_model_grid(self, table: ResolvedTable) -> EtaTable:
        """Return the prevalences of the groups of a table, which models have to share."""
        return self.eta.build_grid(table, self.level, compares_models=True)

    def build_exact_grid(self, table: ResolvedTable) -> EtaTable:
        """Return the prevalences of the groups of a table; raise if they are estimates."""
        return self.eta.build_grid(table, None).require_exact(f"{self.method}()")
