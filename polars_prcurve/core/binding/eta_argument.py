"""What `eta=` of a call holds: numbers, a frame, a field, a class mix, or the scores of a field.

It is read once, at the call. Each kind gives the rules its name, and places a table at prevalences.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import polars as pl

from polars_prcurve.core.curves.bands_and_guarantees_of_parts import build_field_grid
from polars_prcurve.core.ground.argument_checks import select_column, take_frame
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.inputs.column_reader import Column
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.wide_tables import read_classes
from polars_prcurve.core.prevalence.estimated_eta import eta_from_sample
from polars_prcurve.core.prevalence.eta_by_parts_or_classes import ClassMix, Field
from polars_prcurve.core.prevalence.eta_table import EtaTable, build_number_grid, read_eta_frame
from polars_prcurve.core.prevalence.eta_values import read_eta_list
from polars_prcurve.core.prevalence.part_weights import build_field

_TRUE_CLASS = "true class"
"""The group column of a class mix that distinguishes its parts, as errors name it."""
_LEVEL = 0.95
"""The level of the interval of k of n where a call has no level: that of most methods."""


@dataclass(frozen=True, eq=False)
class EtaArgument:
    """What `eta=` of a call holds."""

    value: Any
    """The argument as it was passed, with which other methods are called."""

    is_estimated: ClassVar[bool] = False
    """Whether prevalences are estimated with the very table of the call."""

    @property
    def facts(self) -> Set[str]:
        """What rules read of it."""
        return {"eta="}

    @property
    def parts(self) -> tuple[Column, ...]:
        """The columns that distinguish the parts of a field; none unless there are several parts."""
        return ()

    @property
    def is_field(self) -> bool:
        """Whether it is a field whose parts are columns of the table."""
        return False

    def find_numbers(self) -> list[float]:
        """Return the prevalences that the call names as numbers."""
        return []

    def find_etas(self, level: float | None) -> pl.DataFrame | pl.LazyFrame:
        """Return the frame of the parts of a field with their prevalences."""
        raise NotImplementedError(level)

    def list_numbers(self, method_name: str) -> list[float | None]:
        """Return the prevalences, None for that of the group; raise for what holds no numbers."""
        raise PrcError(f"pass eta= as numbers: {method_name} does not take it as a frame")

    def build_grid(
        self, table: ResolvedTable, confidence: float | None, *, compares_models: bool = False
    ) -> EtaTable:
        """Return the prevalences of the groups of a table; models may have to share theirs."""
        raise NotImplementedError(compares_models)

    def place(self, table: ResolvedTable, confidence: float | None) -> tuple[ResolvedTable, EtaTable]:
        """Return the table whose groups stand at prevalences, and these."""
        return table, self.build_grid(table, confidence)


class EtaNumbers(EtaArgument):
    """One prevalence or several, for all groups."""

    @cached_property
    def numbers(self) -> list[float | None]:
        """The prevalences, in which None is that of the group; raise for what is none."""
        return read_eta_list(self.value)

    @property
    def facts(self) -> Set[str]:
        """What rules read of it: nothing, if all are those of the groups."""
        try:
            return set() if set(self.numbers) == {None} else {"eta="}
        except PrcError:  # which is raised in its turn, after mistakes in the columns
            return {"eta="}

    def find_numbers(self) -> list[float]:
        """Return the prevalences that the call names as numbers."""
        return [eta for eta in self.numbers if eta is not None]

    def list_numbers(self, method_name: str) -> list[float | None]:
        """Return the prevalences, in which None is that of the group."""
        return self.numbers

    def build_grid(
        self, table: ResolvedTable, confidence: float | None, *, compares_models: bool = False
    ) -> EtaTable:
        """Return the same prevalences for each group."""
        return build_number_grid(self.numbers, table, compares_models=compares_models)


class EtaFrame(EtaArgument):
    """A frame of prevalences, which may differ between groups and be estimates."""

    value: pl.DataFrame | pl.LazyFrame

    def build_grid(
        self, table: ResolvedTable, confidence: float | None, *, compares_models: bool = False
    ) -> EtaTable:
        """Return the prevalences of the frame, joined with groups by name."""
        return read_eta_frame(self.value, table, confidence, compares_models=compares_models)


@dataclass(frozen=True, eq=False)
class EtaField(EtaArgument):
    """A field of several parts, each with a prevalence and a share."""

    value: Field | ClassMix
    field: Field
    facts: ClassVar[Set[str]] = frozenset({"eta=", "field()"})

    @property
    def parts(self) -> tuple[Column, ...]:
        """The columns that distinguish the parts."""
        return self.field.parts

    @property
    def is_field(self) -> bool:
        """Whether columns of the table distinguish the parts, and not its classes."""
        return self.value is self.field

    def list_numbers(self, method_name: str) -> list[float | None]:
        """Return the one prevalence of the whole field, which is that of its weighted rows."""
        return [None]

    def find_etas(self, confidence: float | None) -> pl.DataFrame | pl.LazyFrame:
        """Return the frame of the parts with their prevalences; k of n become eta."""
        part_rows = self.field.frame
        if "eta" in part_rows.lazy().collect_schema():
            return part_rows
        level = _LEVEL if confidence is None else confidence
        part_sample: Any = part_rows
        eta_rows: pl.DataFrame | pl.LazyFrame = eta_from_sample(
            part_sample, k="k", n="n", confidence=level
        )
        return eta_rows

    def place(self, table: ResolvedTable, confidence: float | None) -> tuple[ResolvedTable, EtaTable]:
        """Return the table of fields: rows of a part have weights by its prevalence and its share."""
        score_table = cast("ScoreTable", table)  # rules refuse rates= and cells= beside a field
        field_table = build_field(score_table, self.find_etas(confidence), confidence=confidence)
        return field_table, build_field_grid(field_table)


class EtaClassMix(EtaArgument):
    """The share of each class in a field; it becomes a field when a wide table is made long."""

    value: ClassMix
    facts: ClassVar[Set[str]] = frozenset({"eta=", "class_mix()"})

    def build_field(
        self, label_name: str, label_dtype: pl.DataType, score_column_by_class: Mapping[Any, str]
    ) -> tuple[EtaArgument, pl.Expr]:
        """Return the field for classes of a label, one against the rest, and the column of its parts."""
        # True classes are the parts of a field: all of the class itself is positive, and no other.
        share_by_class = self.value.shares
        true_classes = read_classes(label_name, label_dtype, list(share_by_class)).alias(_TRUE_CLASS)
        class_share_rows = pl.DataFrame(
            [true_classes, pl.Series("share", list(share_by_class.values()))]
        )
        class_rows = (
            read_classes(label_name, label_dtype, list(score_column_by_class)).alias("class").to_frame()
        )
        lacking_classes = class_rows["class"].filter(~class_rows["class"].is_in(true_classes.implode()))
        if lacking_classes.len():
            raise PrcError(
                f"add the share of {list_names(map(repr, lacking_classes))} to class_mix(), 0 for a "
                "class that is absent"
            )
        is_positive_expr = (pl.col("class") == pl.col(_TRUE_CLASS)).cast(pl.Float64)
        part_rows = class_rows.join(class_share_rows, how="cross").with_columns(
            is_positive_expr.alias("eta")
        )
        true_class_expr = select_column(label_name).alias(_TRUE_CLASS)
        return EtaField(self.value, Field(part_rows, (_TRUE_CLASS,))), true_class_expr


@dataclass(frozen=True, eq=False)
class EtaOfScores(EtaArgument):
    """Rows without labels, whose prevalence is estimated with the table of the call."""

    unlabelled: ScoreTable
    facts: ClassVar[Set[str]] = frozenset({"eta=", "eta= of scores"})
    is_estimated: ClassVar[bool] = True

    def build_grid(
        self, table: ResolvedTable, confidence: float | None, *, compares_models: bool = False
    ) -> EtaTable:
        """Return the estimates, one for each group."""
        from polars_prcurve.core.sweep.prevalence_by_mixture import build_estimated_grid

        # Rules refuse rates= and cells= beside scores of a field.
        score_table = cast("ScoreTable", table)
        return build_estimated_grid(self.unlabelled, score_table, confidence)


def read_eta_argument(eta: Any) -> EtaArgument:
    """Return what `eta=` holds, of all that it takes but a bound table."""
    eta = take_frame(eta)
    match eta:
        case Field():
            return EtaField(eta, eta)
        case ClassMix():
            return EtaClassMix(eta)
        case pl.DataFrame() | pl.LazyFrame():
            return EtaFrame(eta)
    return EtaNumbers(eta)
