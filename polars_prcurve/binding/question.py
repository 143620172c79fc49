"""What one call asks, and of which table: its rows, groups, prevalences, targets, and how sure.

words of the call -> columns   what `read_input` reads; a wide table is made long first
                  -> table     every column resolved and typed
                  -> grid      the prevalences of eta=, of its groups or of fields of parts
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.binding.words import COMPARES_MODELS, TAKES_ONE_MODEL, USES
from polars_prcurve.comparison.comparison import Examples
from polars_prcurve.confidence.certainty import Intervals
from polars_prcurve.curves.fields import read_eta_or_field
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import (
    Column,
    ColumnReader,
    check_group_names,
    is_dropping,
    list_columns,
)
from polars_prcurve.inputs.score_table import InputTable, ScoreTable
from polars_prcurve.inputs.table_arguments import read_input, read_unlabelled
from polars_prcurve.inputs.wide_tables import read_classes, stack_classes, stack_models
from polars_prcurve.prevalence.eta_table import EtaTable
from polars_prcurve.prevalence.field_values import ClassMix, Field, ScoresOfField
from polars_prcurve.prevalence.uncertain_eta import eta_from_sample

_TRUE_CLASS = "true class"


_MOST_KEPT = 4
"""As many tables are kept, of the last sets of words."""


@dataclass(frozen=True)
class Question:
    """What one call of a method asks, of a user's table."""

    method: str
    frame: pl.DataFrame | pl.LazyFrame
    columns: dict[str, Any]
    """The arguments of `read_input` that say what the columns hold."""
    eta: Any
    certainty: Intervals | None
    """How sure; None without intervals."""
    targets: dict[str, Any]
    """The targets of the call, by their words."""
    may_collect: bool
    made_from: pl.DataFrame | pl.LazyFrame
    """The user's table, if `frame` is one that was made from it."""
    kept: dict[Any, InputTable] | None = None
    """Tables that were read before, by the words that decide them; None of a table that keeps none."""
    stacked: Any = None
    """The word score= of a wide table, which `frame` was made by."""

    @property
    def has_parts(self) -> bool:
        """Whether the rows are parts of a field."""
        return "within" in self.columns

    @property
    def points(self) -> Any:
        """The columns of published points; None of a table of examples or counts."""
        cells = self.columns.get("cells")
        return self.columns.get("rates") if cells is None else cells

    def find_shared_examples(self, *, paired: bool) -> Examples:
        """Return which examples models share; raise if that is not known, or not so."""
        if not paired:
            return "apart"
        for name in ("counts", "rates", "cells"):
            if self.columns.get(name) is not None:
                raise PrcError(
                    f"{name}= do not tell which examples models share; pass paired=False with model="
                )
        if self.columns.get("matched"):
            return "wide"
        if not list_columns("id=", self.columns.get("example")):
            raise PrcError(
                "pass score= as a list of columns, one for each model; or id= of a long table, which "
                "tells the examples apart; or paired=False if models did not score the same examples"
            )
        return "by id"

    def read(self, makes: Iterable[str], **options: Any) -> Any:
        """Return the table with every column resolved and typed; `makes` are the names of the result.

        A bound table of a DataFrame is read once for all calls in which the same words hold.
        """
        read = partial(
            read_input,
            self.frame,
            may_collect=self.may_collect,
            made_from=self.made_from,
            **self.columns,
            **options,
        )
        decides = {**self.columns, **options, "stacked": self.stacked}
        key = None if self.kept is None else _describe_words(decides)
        if self.kept is None or key is None:
            return read(makes=makes)
        found = self.kept.pop(key, None)
        if found is None:
            found = read(makes=makes)
            found = found.keep_counts() if isinstance(found, ScoreTable) else found
        check_group_names(found.by, makes)
        self.kept[key] = found  # the last one used stands last
        while len(self.kept) > _MOST_KEPT:
            self.kept.pop(next(iter(self.kept)), None)
        return found

    def read_unlabelled(self, makes: Iterable[str], *, posteriors: bool = False) -> ScoreTable:
        """Return the table without labels, all of whose rows stand as negatives."""
        names = ("by", "score", "counts", "missing")
        columns = {name: self.columns[name] for name in names if name in self.columns}
        return read_unlabelled(
            self.frame, makes=makes, may_collect=self.may_collect, posteriors=posteriors, **columns
        )

    @property
    def level(self) -> float | None:
        """The level of intervals; None without any."""
        return None if self.certainty is None else self.certainty.level

    def require_certainty(self) -> Intervals:
        """Return how sure the answer is to be; raise if `confidence=` is None."""
        if self.certainty is None:
            raise PrcError(f"{self.method}() needs confidence=, a level such as 0.95")
        return self.certainty

    def place_at_etas(self, table: InputTable, makes: Iterable[str]) -> tuple[InputTable, EtaTable]:
        """Return a table that was read, and its prevalences: of groups, or of fields of parts."""
        if isinstance(self.eta, ScoresOfField):
            from polars_prcurve.sweep.unlabelled_prevalence import build_estimated_grid

            rows = cast("ScoreTable", table)  # rules refuse rates= and cells= beside scores of a field
            return table, build_estimated_grid(self.eta.table, rows, self.level)
        return read_eta_or_field(self.find_eta(), table, makes, confidence=self.level)

    def find_eta(self) -> Any:
        """Return what `eta=` says, for a field the frame of its parts; k of n become eta."""
        if not isinstance(self.eta, Field):
            return self.eta
        frame = self.eta.frame
        known = frame.lazy().collect_schema()
        if "eta" in known:
            return frame
        return eta_from_sample(
            frame, k="k", n="n", confidence=0.95 if self.level is None else self.level
        )


def place_question(call: Question, said: Mapping[str, Any], *, paired: bool = False) -> Question:
    """Return the question with its table made long, and the columns of its groups, parts and models."""
    call = _set_parts(call, said)
    if isinstance(call.columns["score"], list | tuple | Mapping):
        return _make_long(call, paired=paired)
    return _set_groups(call)


def _set_parts(call: Question, said: Mapping[str, Any]) -> Question:
    """Return the call at a field, whose parts are no groups: bound ones leave `by` and `model`."""
    if not isinstance(call.eta, Field):
        return call
    parts = {name_column(part) for part in call.eta.parts}
    kept: dict[str, Any] = {}
    for word in ("by", "model"):
        groups = list_columns(f"{word}=", call.columns.get(word))
        both = [group for group in groups if name_column(group) in parts]
        if both and said.get(word) is not None:
            raise PrcError(
                f"{word}= and parts= both hold the column {name_column(both[0])!r}; leave {word}= out "
                "for the answer of the whole field, or pass eta= without field() for one of each part"
            )
        kept[word] = [group for group in groups if name_column(group) not in parts]
    columns = {**call.columns, "by": kept["by"], "within": list(call.eta.parts)}
    if not kept["model"]:
        columns.pop("model", None)
    return replace(call, columns=columns)


def _set_groups(call: Question) -> Question:
    """Return the call with the column of models where the method reads it: alone, or as a last group."""
    columns = dict(call.columns)
    groups: list[Column] = list_columns("by=", columns.get("by"))
    model: Any = columns.pop("model", None)
    example = columns.pop("id", None)
    if call.method in TAKES_ONE_MODEL and model is None:
        known = call.frame.lazy().collect_schema().names()
        model = (
            "model" if "model" in set(known) - set(map(name_column, columns.get("within", ()))) else None
        )
        if model is None:
            return replace(call, columns={**columns, "by": groups})
    if call.method in COMPARES_MODELS:
        model = "model" if model is None else model
        columns |= {"by": leave_out(model, groups), "model": model}
        columns |= {"example": example} if example is not None else {}
    elif model is not None:
        ColumnReader(call.frame, "raise", may_collect=False).read_column("model", model)
        columns["by"] = [*leave_out(model, groups), model]
    return replace(call, columns=columns)


def _make_long(call: Question, *, paired: bool) -> Question:
    """Return the call on a table with a row for each example and model, or class."""
    score: Any = call.columns["score"]
    group = "class" if isinstance(score, Mapping) else "model"
    if "by" not in USES[call.method]:
        raise PrcError(f"{call.method}() takes one column as score=; call it once for each {group}")
    refused: tuple[str, ...] = ("pos_label", "id") if group == "class" else ("model", "id")
    for name in (*refused, "counts", "rates", "cells"):
        if call.columns.get(name) is not None:
            raise PrcError(f"score= names a column for each {group}; leave out {name}=")
    groups: list[Column] = list_columns("by=", call.columns.get("by"))
    if group in map(name_column, groups):
        raise PrcError(f"by= holds a column {group!r}; leave it out: the {group}s of score= are a group")
    if group == "class":
        return _stack_classes(call, [*groups, pl.col(c.CLASS).alias("class")])
    if call.method == "compare" and not paired:
        raise PrcError(
            "paired=False is for models that have examples of their own, and models of a wide table "
            "share its rows; leave paired= out"
        )
    long = stack_models(call.frame.lazy(), score, drop=paired and is_dropping(call.columns["missing"]))
    if paired and len(score) < 2:
        raise PrcError(f"compare() takes two models or more; got score={list(score)}")
    columns = {**call.columns, "score": long.score}
    model = pl.col(long.name).cast(pl.String).alias("model")
    if paired:
        columns |= {"model": long.name, "example": long.example, "matched": True}
    elif call.method in COMPARES_MODELS:
        columns |= {"model": model, "example": long.example}
    else:
        columns["by"] = [*groups, model]
    return replace(call, frame=long.frame, columns=columns, stacked=score)


def _stack_classes(call: Question, groups: list[Column]) -> Question:
    """Return the call on a table with a row for each example and class; classes are a group.

    Where the shares of classes are said, the true classes are the parts of a field: all of the class
    itself is positive, and nothing of the other ones.
    """
    label, score = call.columns["label"], call.columns["score"]
    long = stack_classes(call.frame.lazy(), label, score)
    columns = {**call.columns, "score": long.score, "label": long.label, "by": groups}
    if isinstance(call.eta, ClassMix):
        dtype = call.frame.lazy().collect_schema()[label]
        shares = call.eta.shares
        true = read_classes(label, dtype, list(shares)).alias(_TRUE_CLASS)
        parts = pl.DataFrame([true, pl.Series("share", list(shares.values()))])
        each = read_classes(label, dtype, list(score)).alias("class").to_frame()
        is_own = (pl.col("class") == pl.col(_TRUE_CLASS)).cast(pl.Float64)
        eta = each.join(parts, how="cross").with_columns(is_own.alias("eta"))
        columns["within"] = [c.select_column(label).alias(_TRUE_CLASS)]
        call = replace(call, eta=Field(eta, (_TRUE_CLASS,)))
    stacked = list(score.items())
    return _set_groups(replace(call, frame=long.frame, columns=columns, stacked=stacked))


def _describe_words(columns: Mapping[str, Any]) -> str | None:
    """Return a text that is equal for equal words; None if an expression does not serialize."""

    def describe(value: Any) -> Any:
        if isinstance(value, pl.Expr):
            return "expression", value.meta.serialize(format="json")
        if isinstance(value, list | tuple):
            return [describe(each) for each in value]
        return type(value).__name__, value

    try:
        return repr({name: describe(value) for name, value in columns.items()})
    except pl.exceptions.PolarsError:
        return None


def leave_out(column: Column, groups: list[Column]) -> list[Column]:
    """Return the group columns without one that may be among them under its name."""
    return [group for group in groups if name_column(group) != name_column(column)]


def name_column(column: Column) -> str:
    """Return the name of a group column."""
    if isinstance(column, pl.Expr):
        return column.meta.output_name(raise_if_undetermined=False) or ""
    return column if isinstance(column, str) else ""  # what is no column is refused where it is read
