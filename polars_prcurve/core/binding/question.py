"""The question of one call: what its words mean, and the table, the grid and the bands they make.

words of the call -> columns   what `read_input` reads; a wide table is made long first
                -> table     every column resolved and typed
                -> grid      the prevalences of eta=, of its groups or of fields of parts
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import polars as pl

from polars_prcurve.core.binding import argument_rules
from polars_prcurve.core.binding.eta_argument import EtaArgument
from polars_prcurve.core.binding.result_columns import SHORT_COLUMNS
from polars_prcurve.core.comparison.comparison_request import (
    COMPARE_COLUMNS,
    CROSSING_COLUMNS,
    LEADER_COLUMNS,
    Pairing,
)
from polars_prcurve.core.confidence.band_kinds import BandKind, FixedBands
from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.confidence.point_intervals import find_corners
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import USER_NAME
from polars_prcurve.core.inputs.column_reader import Column, ColumnReader, InputColumns, list_columns
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, is_field
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.inputs.table_reader import (
    DroppedRows,
    count_dropped_rows,
    read_input,
    read_unlabelled,
)
from polars_prcurve.core.inputs.wide_tables import stack_classes, stack_models
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS
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


# Groups with the names of columns on the way to a result, which have others until it is finished ---

# A group may be called `recall`. The result of `summary` has no such column, but the points of published
# rates have: the stage reads a table whose group has an inner name, and the result gets the name back.

TableT = TypeVar("TableT", bound=ResolvedTable)

_RESULT_COLUMNS = {
    "summary": {*SHORT_COLUMNS["summary"], "standard_error", ABOVE_CHANCE},
    "compare": {*COMPARE_COLUMNS},
    "ranking": {*SHORT_COLUMNS["ranking"]},
    "crossings": {*CROSSING_COLUMNS, *LEADER_COLUMNS},
}
"""The columns of the methods that have others on the way; a group of such a name is refused."""
_INNER_COLUMNS = {
    *SWEEP_COLUMNS,
    *FIELD_COLUMNS,
    *SHORT_COLUMNS["operating_points"],
    *_RESULT_COLUMNS["summary"],
    *_RESULT_COLUMNS["compare"],
}
"""The columns of results that others are made from."""


def list_hidden(method_name: str, table: ResolvedTable, grid: EtaTable) -> dict[str, str]:
    """Return inner names for those groups and carried columns that rows on the way to a result have."""
    hidden_names = _INNER_COLUMNS - _RESULT_COLUMNS.get(method_name, _INNER_COLUMNS)
    return {
        name: USER_NAME + name for name in (*table.by, *grid.carried_columns) if name in hidden_names
    }


def hide_groups(table: TableT, inner_name_by_column: Mapping[str, str]) -> TableT:
    """Return the table with inner names for its groups; `ResolvedTable.name_by_inner` has their own."""
    by_exprs = table.by_exprs
    if len(by_exprs) < len(table.by):  # one expression may be several groups
        by_exprs = [pl.struct(by_exprs).struct.field(name) for name in table.by]
    names_and_exprs = zip(table.by, by_exprs, strict=True)
    changed_field_values: dict[str, Any] = {
        "by": {inner_name_by_column.get(name, name): dtype for name, dtype in table.by.items()},
        "by_exprs": [expr.alias(inner_name_by_column.get(name, name)) for name, expr in names_and_exprs],
        "counts": None,  # what was counted has them, too
        "name_by_inner": {inner_name: name for name, inner_name in inner_name_by_column.items()},
    }
    if table.unscored is not None and table.unscored.group_rows is not None:
        group_rows = _rename(table.unscored.group_rows, inner_name_by_column)
        changed_field_values["unscored"] = table.unscored._replace(group_rows=group_rows)
    if is_field(table) and table.parts is not None:
        changed_field_values["parts"] = table.parts._replace(
            table=hide_groups(table.parts.table, inner_name_by_column),
            part_rows=_rename(table.parts.part_rows, inner_name_by_column),
            etas=_rename(table.parts.etas, inner_name_by_column),
        )
    return replace(table, **changed_field_values)


def hide_columns(grid: EtaTable, inner_name_by_column: Mapping[str, str]) -> EtaTable:
    """Return the grid with inner names for groups and carried columns."""
    sharing_groups = grid.sharing_groups
    if sharing_groups is not None:
        sharing_groups = tuple(inner_name_by_column.get(name, name) for name in sharing_groups)
    return grid._replace(
        frame=_rename(grid.frame, inner_name_by_column),
        keys={inner_name_by_column.get(name, name): dtype for name, dtype in grid.keys.items()},
        carried_columns=tuple(inner_name_by_column.get(name, name) for name in grid.carried_columns),
        sharing_groups=sharing_groups,
    )


def _rename(frame: pl.LazyFrame, inner_name_by_column: Mapping[str, str]) -> pl.LazyFrame:
    """Return a frame of groups with inner names for those of its columns that have one."""
    return frame.rename(inner_name_by_column, strict=False)


# The tables that a bound table has read, for further questions in which the same arguments hold ----

_MOST_TABLES = 4
"""As many tables stay in memory: a page of several charts reads about as many columns at a time."""


class ReadTables:
    """The last tables that were read of one frame, by what they were read by; the latest stands last."""

    def __init__(self) -> None:
        self._table_by_key: dict[Hashable, ResolvedTable] = {}

    def __len__(self) -> int:
        return len(self._table_by_key)

    def find(
        self, arguments: Mapping[str, Any], read_table: Callable[[], ResolvedTable]
    ) -> ResolvedTable:
        """Return the table of these arguments; one that is not there is read."""
        key = tuple((name, _freeze(value)) for name, value in arguments.items() if value is not None)
        tables = self._table_by_key
        table = tables[key] if key in tables else read_table()
        other_items = [item for item in tables.items() if item[0] != key]
        # A new mapping each time: other threads may be reading the one before.
        self._table_by_key = dict([*other_items, (key, table)][-_MOST_TABLES:])
        return table


def _freeze(value: Any) -> Hashable:
    """Return a key that is equal for arguments of equal value, also when their owner changes one."""
    try:
        if isinstance(value, pl.Expr):
            return value.meta.serialize()
        if isinstance(value, pl.DataFrame):
            return value.serialize()
    except pl.exceptions.ComputeError:  # of objects and of functions, which are as good as new
        return object()
    if isinstance(value, Mapping):
        value = tuple(value.items())
    if isinstance(value, list | tuple):
        return type(value), *map(_freeze, value)
    # A LazyFrame may read other values next time, and frames of others change.
    is_key = isinstance(value, Hashable) and not isinstance(value, pl.LazyFrame)
    return (type(value), value) if is_key else object()


# Which columns are groups of a question: those of a field, of means, of models and of wide tables


def set_parts(
    question: Question, part_columns: Sequence[Column], call_arguments: Mapping[str, Any]
) -> Question:
    """Return the question of a field, whose parts are no groups: bound ones leave `by` and `model`.

    `call_arguments` are those that the call itself passes.
    """
    input_columns = question.columns._replace(parts=list(part_columns))
    part_column_names = {name_column(part_column) for part_column in part_columns}
    if input_columns.by is not None:
        grouping_columns = _leave_parts_out("by", input_columns.by, part_column_names, call_arguments)
        input_columns = input_columns._replace(by=grouping_columns or None)
    if input_columns.model is not None and not _leave_parts_out(
        "model", input_columns.model, part_column_names, call_arguments
    ):
        input_columns = input_columns._replace(model=None)
    return question._replace(columns=input_columns)


def set_means(
    question: Question,
    mean_columns: Sequence[Column],
    call_arguments: Mapping[str, Any],
    *,
    share_examples: bool,
) -> Question:
    """Return the question of means over groups, which are also groups of the table.

    With `share_examples` the groups are classes that share examples.
    """
    mean_column_names = [name_column(mean_column) for mean_column in mean_columns]
    call_grouping_columns: list[Column] = list_columns("by=", call_arguments.get("by"))
    repeated_names = [
        name for name in map(name_column, call_grouping_columns) if name in mean_column_names
    ]
    if repeated_names:
        raise PrcError(f"name the column {repeated_names[0]!r} in by= or in mean_over=, not in both")
    grouping_columns: list[Column] = list_columns("by=", question.columns.by)
    column_by_name = {
        name_column(grouping_column): grouping_column for grouping_column in grouping_columns
    }
    # Bound groups keep their place, so that a table is read once, whether means are taken or not.
    # Classes of a wide table are among them, a group that no column of the user's holds.
    column_by_name |= {
        name: mean_column
        for name, mean_column in zip(mean_column_names, mean_columns, strict=True)
        if name not in column_by_name
    }
    reader = ColumnReader(question.frame, "raise", may_collect=False, user_table=question.user_table)
    reader.read_by([column_by_name[name] for name in mean_column_names], "mean_over")
    input_columns = question.columns._replace(by=[*column_by_name.values()])
    mean_groups = MeanGroups(
        tuple(mean_column_names), share_examples=share_examples and "class" in mean_column_names
    )
    return question._replace(columns=input_columns, mean_groups=mean_groups)


def _leave_parts_out(
    word: str, argument_value: Any, part_column_names: Collection[str], call_arguments: Mapping[str, Any]
) -> list[Column]:
    """Return the columns of `by` or `model` that distinguish no parts; raise for one that was passed."""
    grouping_columns: list[Column] = list_columns(f"{word}=", argument_value)
    grouping_column_names = [name_column(grouping_column) for grouping_column in grouping_columns]
    repeated_names = [name for name in grouping_column_names if name in part_column_names]
    if repeated_names and call_arguments.get(word) is not None:
        raise PrcError(
            f"leave out {word}= for one result over the whole field, or pass eta= without "
            f"field() for one per part: {word}= and parts= both hold {repeated_names[0]!r}"
        )
    return [
        grouping_column
        for grouping_column, name in zip(grouping_columns, grouping_column_names, strict=True)
        if name not in part_column_names
    ]


def set_groups(question: Question) -> Question:
    """Return the question with the column of models where it is read: alone, or as a last group."""
    input_columns, method_name = question.columns, question.method
    model_column = input_columns.model
    grouping_columns: list[Column] = list_columns("by=", input_columns.by)
    if method_name in argument_rules.TAKES_ONE_MODEL and model_column is None:
        frame_columns = set(question.frame.lazy().collect_schema().names())
        frame_columns -= set(map(name_column, list_columns("parts=", input_columns.parts)))
        scored_columns = input_columns.score, input_columns.label
        frame_columns -= {column for column in scored_columns if isinstance(column, str)}
        if question.names_no_model or "model" not in frame_columns:
            return question._replace(columns=input_columns._replace(id=None))
    if method_name in argument_rules.COMPARES_MODELS:
        model_column = "model" if model_column is None else model_column
        input_columns = input_columns._replace(
            by=leave_out(model_column, grouping_columns), model=model_column
        )
        return question._replace(columns=input_columns)
    if model_column is not None:
        ColumnReader(question.frame, "raise", may_collect=False).read_column("model", model_column)
        input_columns = input_columns._replace(
            by=[*leave_out(model_column, grouping_columns), model_column], model=None
        )
    return question._replace(columns=input_columns._replace(id=None))


def make_long(question: Question, *, paired: bool) -> Question:
    """Return the question of a table with a row for each example and model, or class."""
    input_columns, method_name = question.columns, question.method
    score_columns = input_columns.score
    new_group_name = "class" if isinstance(score_columns, Mapping) else "model"
    if "by" not in argument_rules.USES[method_name]:
        raise PrcError(
            f"call {method_name}() once for each {new_group_name}: it takes one column as score="
        )
    rival_words: tuple[str, ...] = ("pos_label", "id") if new_group_name == "class" else ("model", "id")
    for word in (*rival_words, "counts", "rates", "cells"):
        if getattr(input_columns, word) is not None:
            raise PrcError(f"leave out {word}=: score= names a column for each {new_group_name}")
    grouping_columns: list[Column] = list_columns("by=", input_columns.by)
    if new_group_name in map(name_column, grouping_columns):
        raise PrcError(
            f"leave the column {new_group_name!r} out of by=: score= already adds a group column of "
            "that name"
        )
    if new_group_name == "class":
        return _stack_classes(question, [*grouping_columns, pl.col(Row.CLASS).alias("class")])
    if method_name == "compare" and not paired:
        raise PrcError(
            "leave paired= out: paired=False is for models with their own examples, and the "
            "models of a wide table share its rows"
        )
    stacked_table = stack_models(question.frame.lazy(), score_columns)
    if paired and len(score_columns) < 2:
        raise PrcError(f"compare() takes two models or more; got score={list(score_columns)}")
    input_columns = input_columns._replace(score=stacked_table.score_name)
    model_expr = pl.col(stacked_table.group_name).cast(pl.String).alias("model")
    if paired:
        input_columns = input_columns._replace(
            model=stacked_table.group_name, id=stacked_table.example_name, is_matched=True
        )
    elif method_name in argument_rules.COMPARES_MODELS:
        input_columns = input_columns._replace(model=model_expr, id=stacked_table.example_name)
    else:
        input_columns = input_columns._replace(by=[*grouping_columns, model_expr])
    return question._replace(
        frame=stacked_table.long_rows, columns=input_columns, wide_scores=score_columns
    )


def _stack_classes(question: Question, grouping_columns: list[Column]) -> Question:
    """Return the question of a table with a row for each example and class; classes are a group."""
    wide_rows, model_column = question.frame.lazy(), question.columns.model
    if model_column is not None and name_column(model_column) == "class":
        raise PrcError(
            "leave out model=, or compare the classes with df.prc.unpivot_scores(score, "
            "label=...).prc(model='class'): score= as a mapping makes the classes groups, not models"
        )
    label_name = question.columns.label
    score_column_by_class = question.columns.score
    stacked_table = stack_classes(wide_rows, label_name, score_column_by_class)
    input_columns = question.columns._replace(
        score=stacked_table.score_name, label=stacked_table.label_name, by=grouping_columns
    )
    question = question._replace(wide_scores=dict(score_column_by_class))
    if question.eta.is_of_classes:
        assert isinstance(label_name, str)  # `stack_classes` takes no other
        eta_field, part_expr = question.eta.build_field(
            label_name, wide_rows.collect_schema()[label_name], score_column_by_class
        )
        question = question._replace(eta=eta_field)
        input_columns = input_columns._replace(parts=[part_expr])
    return set_groups(question._replace(frame=stacked_table.long_rows, columns=input_columns))


def leave_out(column: Column, grouping_columns: list[Column]) -> list[Column]:
    """Return the group columns without one that may be among them under its name."""
    return [
        grouping_column
        for grouping_column in grouping_columns
        if name_column(grouping_column) != name_column(column)
    ]


def name_column(name_or_expr: Column) -> str:
    """Return the name of a group column."""
    if isinstance(name_or_expr, pl.Expr):
        return name_or_expr.meta.output_name(raise_if_undetermined=False) or ""
    # What is no column is refused where it is read.
    return name_or_expr if isinstance(name_or_expr, str) else ""
