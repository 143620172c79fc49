"""Group columns may have any name: a result with it is that with a plain name, or it is refused.

The names to try are those that columns have while a method runs. Columns that are not used may have
them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_prcurve as pp
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.prevalence.eta_by_parts_or_classes import Field
from polars_prcurve.view.report.decision_html import build_document
from tests.support.queries import DF, ETAS, LONG, QUERIES
from tests.support.tiers import slow_unless

GROUP = "g"  # the group column of these tables
Ask = Callable[[Any], Any]

ROWS = DF.head(600).with_columns(score=pl.col("score") + 0.3 * pl.col("label"))
MODELS_OF_ROWS = LONG.filter(pl.col("row") < 600).with_columns(s=pl.col("s") + 0.2 * pl.col("label"))
POINTS = ROWS.prc.sweep(by=GROUP, thresholds=3).group_by(GROUP, maintain_order=True).first()
ESTIMATES = ETAS.with_columns(eta_low=0.005, eta_high=0.02, eta_confidence=0.95)
THRESHOLDS = ROWS.select(GROUP).unique().sort(GROUP).with_columns(threshold=0.5)
PARTS = pl.DataFrame(
    {"h": [0, 1, 2], "eta": [0.1, 0.2, 0.3], "share": [1, 2, 3], "eta_low": 0.05, "eta_high": 0.4}
)
CELLS: dict[str, Any] = {"cells": ("tp", "fp", "fn", "tn")}
MODELS: dict[str, Any] = {"model": "m", "score": "s", "id": "row"}
DECISIONS: dict[str, tuple[pl.DataFrame, Ask]] = {
    "without a target": (ROWS, lambda p: p.decide(0.1, by=GROUP)),
    "at a target": (ROWS, lambda p: p.decide(0.1, by=GROUP, recall=0.5)),
    "at an uncertain prevalence": (
        ROWS,
        lambda p: p.decide(ESTIMATES, by=GROUP, recall=0.5),
    ),
    "of a threshold": (
        ROWS,
        lambda p: p.decide(0.1, by=GROUP, threshold=0.5, recall=0.4, precision=0.2),
    ),
    "guaranteed": (ROWS, lambda p: p.decide(0.1, by=GROUP, recall=0.5, guarantee=0.9)),
    "of points": (POINTS, lambda p: p.decide(0.1, by=GROUP, recall=0.5, **CELLS)),
    "of means": (ROWS, lambda p: p.decide(0.1, by=GROUP, mean_over="h")),
    "of models": (MODELS_OF_ROWS, lambda p: p.decide([0.1, 0.2], by=GROUP, recall=0.5, **MODELS)),
    "of models, without a target": (MODELS_OF_ROWS, lambda p: p.decide(0.1, by=GROUP, **MODELS)),
    "of models, maximized": (MODELS_OF_ROWS, lambda p: p.decide(0.1, by=GROUP, maximize="f1", **MODELS)),
    "of models, together": (
        MODELS_OF_ROWS,
        lambda p: p.decide(0.1, by=GROUP, recall=0.3, precision=0.1, **MODELS),
    ),
    "of models, at an uncertain prevalence": (
        MODELS_OF_ROWS,
        lambda p: p.decide(ESTIMATES, by=GROUP, recall=0.5, **MODELS),
    ),
}
COMPARISONS: dict[str, tuple[pl.DataFrame, Ask]] = {
    "leaders": (MODELS_OF_ROWS, lambda p: p.crossings(by=GROUP, leaders=True, model="m", score="s")),
    "crossings": (MODELS_OF_ROWS, lambda p: p.crossings(by=GROUP, model="m", score="s")),
    "crossings of curves": (
        MODELS_OF_ROWS,
        lambda p: p.crossings(by=GROUP, of="roc", model="m", score="s"),
    ),
    "dominance": (
        MODELS_OF_ROWS,
        lambda p: p.crossings(of="roc", leaders=True, by=GROUP, model="m", score="s"),
    ),
    "leaders of points": (
        MODELS_OF_ROWS,
        lambda p: p.crossings(
            by=GROUP, leaders=True, metric="precision", recall=0.5, model="m", score="s"
        ),
    ),
    "ranking of points": (
        MODELS_OF_ROWS,
        lambda p: p.ranking(
            0.1, by=GROUP, metric="f1", threshold=THRESHOLDS, confidence=0.9, columns="all", **MODELS
        ),
    ),
    "ranking of means": (
        MODELS_OF_ROWS,
        lambda p: p.ranking(0.1, by=GROUP, mean_over="h", confidence=0.9, **MODELS),
    ),
    "summary of a wide table": (ROWS, lambda p: p.summary(0.1, by=GROUP, score=["score", "w"])),
    "summary of a field": (
        ROWS,
        lambda p: p.summary(pp.field(PARTS, parts="h"), by=GROUP, confidence=0.9),
    ),
    "negatives that are not counted": (
        ROWS,
        lambda p: p.summary(by=GROUP, metrics="average_precision", below=(9, None), columns="all"),
    ),
    "monitor": (ROWS, lambda p: p.monitor("h", by=GROUP, reference=0.5, threshold=0.5, columns="all")),
    "bootstrap": (
        ROWS,
        lambda p: p.summary(
            0.1, by=GROUP, confidence=pp.intervals(0.9, method="bootstrap", resamples=9, seed=1)
        ),
    ),
    "bootstrap of a maximum": (
        ROWS,
        lambda p: p.operating_points(
            0.1,
            by=GROUP,
            maximize="f1",
            confidence=pp.intervals(0.9, method="bootstrap", resamples=9, seed=1),
        ),
    ),
    "bands of whole curves": (
        ROWS,
        lambda p: p.curve(0.1, by=GROUP, confidence=pp.intervals(0.9, simultaneous=True)),
    ),
}
ASKED = {**COMPARISONS, **DECISIONS}
QUICK = (
    *("of means", "leaders of points", "summary of a wide table", "negatives that are not counted"),
    *("summary, of some sizes", "curve, in a field"),
)


class TakenError(Exception):
    """A table of the test itself has a column of that name."""


class Renamed:
    """A table whose column GROUP has other names, and the calls that speak of them instead."""

    def __init__(self, table: pl.DataFrame, names: Sequence[str]) -> None:
        self.table, self.names = table, names

    def __getattr__(self, method: str) -> Callable[..., Any]:
        call = getattr(self.rename(self.table).prc, method)
        return lambda *values, **arguments: call(
            *map(self.rename, values),
            **{
                name: self.names[0] if name == "model" and value == GROUP else self.rename(value)
                for name, value in arguments.items()
            },
        )

    def rename(self, value: Any) -> Any:
        """Return a value of an argument, or a table, with the new names."""
        if isinstance(value, pl.DataFrame | pl.LazyFrame):
            columns = value.lazy().collect_schema().names()
            if GROUP in columns and (taken_names := {*columns} & {*self.names}):
                raise TakenError(f"{min(taken_names)!r}")
            exprs = (
                [pl.col(GROUP).alias(new) for new in self.names] if name == GROUP else [pl.col(name)]
                for name in columns
            )
            return value.select(expr for group in exprs for expr in group)
        if isinstance(value, Field):
            return replace(value, frame=self.rename(value.frame), parts=tuple(self.rename(value.parts)))
        if isinstance(value, list | tuple):
            return [new for part in value for new in (self.names if part == GROUP else [part])]
        return [*self.names] if isinstance(value, str) and value == GROUP else value


RECORDED = {
    pl.DataFrame: ("select", "with_columns", "join", "rename", "with_row_index", "unpivot"),
    pl.LazyFrame: ("select", "with_columns", "join", "rename", "with_row_index", "unpivot"),
    pl.dataframe.group_by.GroupBy: ("agg",),
    pl.lazyframe.group_by.LazyGroupBy: ("agg",),
}
"""What adds columns to a table, or renames them."""


@contextmanager
def record_names() -> Iterator[set[str]]:
    """Collect the names of all columns that tables have meanwhile."""
    names: set[str] = set()

    def record(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **arguments: Any) -> Any:
            table = method(*values, **arguments)
            names.update(table.lazy().collect_schema().names())
            return table

        return call

    with ExitStack() as stack:
        for kind, methods in RECORDED.items():
            for method in methods:
                stack.enter_context(mock.patch.object(kind, method, record(getattr(kind, method))))
        yield names


def list_names(name: str) -> tuple[list[pl.DataFrame], list[str]]:
    """Return the tables of a result, and the names of the columns that tables have meanwhile."""
    table, ask = (ASKED | QUERIES)[name]
    with record_names() as names:
        tables = list_tables(ask(table.prc))
    if name not in COMPARISONS:  # each name of a result is refused by itself, which takes long
        names -= {name for part in tables for name in part.columns}
    return tables, sorted(name for name in names - {GROUP, ""} if not name.startswith(RESERVED))


def list_tables(result: Any) -> list[pl.DataFrame]:
    """Return the tables of a result; of a decision write its documents, too."""
    if isinstance(result, pl.DataFrame):
        return [result]
    assert result.say()
    assert result.model_card()
    assert build_document(result._judgement, None, None, None)
    return [result.table, result.verdicts.drop("sentence", "reasons", "would_settle")]


def ask_with_names(table: pl.DataFrame, ask: Ask, names: Sequence[str]) -> tuple[Any, list[str]]:
    """Return a result with groups of these names, and the names, without those that are refused."""
    if not names:
        return None, []
    try:
        return ask(Renamed(table, names)), [*names]
    except (pp.PrcError, TakenError) as error:
        text = str(error)
    refused_names = [name for name in names if repr(name) in text]
    assert refused_names, text
    refused_name = max(refused_names, key=len)
    allowed_names = [name for name in names if name != refused_name]
    return ask_with_names(table, ask, allowed_names)


every_query = pytest.mark.parametrize(
    "name", slow_unless(lambda name: name in QUICK, {**ASKED, **QUERIES})
)


@pytest.mark.quick_cases(4)
@every_query
def test_groups_or_unused_columns_may_have_the_name_of_any_column(name: str) -> None:
    """Quick queries have both, and the others have them in turns."""
    table, ask = (ASKED | QUERIES)[name]
    plain_tables, names = list_names(name)
    is_even = list(ASKED | QUERIES).index(name) % 2 == 0
    if name in QUICK or is_even:
        check_groups(table, ask, names, plain_tables)
    if name in QUICK or not is_even:
        check_unused_columns(table, ask, names, plain_tables)


def check_groups(
    table: pl.DataFrame, ask: Ask, names: Sequence[str], plain_tables: list[pl.DataFrame]
) -> None:
    """Raise unless groups of these names change no more than the names of a result."""
    result, allowed_names = ask_with_names(table, ask, names)
    if result is None:
        return
    renamed = Renamed(table, allowed_names)
    for got, plain in zip(list_tables(result), plain_tables, strict=True):
        assert_frame_equal(got, renamed.rename(plain))


def check_unused_columns(
    table: pl.DataFrame, ask: Ask, names: Sequence[str], plain_tables: list[pl.DataFrame]
) -> None:
    """Raise unless columns of these names, which nobody asks for, leave a result as it is."""
    # A table of models has their names in a column of this name, where no other is named.
    new_names = [name for name in names if name not in (*table.columns, "model")]
    result, allowed_names = ask_beside(table, ask, new_names)
    for got, plain in zip(list_tables(result), plain_tables, strict=True):
        unused_names = {*allowed_names} - {*plain.columns}
        assert_frame_equal(got.drop(unused_names, strict=False), plain)


def ask_beside(table: pl.DataFrame, ask: Ask, names: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the result of a table with columns of these names that it does not use, and the names.

    Names that are refused are left out, such as those that a frame of the call has.
    """
    try:
        return ask(table.with_columns(pl.lit("x").alias(name) for name in names).prc), [*names]
    except pp.PrcError as error:
        refused_names = [name for name in names if repr(name) in str(error)]
    refused_name = max(refused_names, key=len)
    return ask_beside(table, ask, [name for name in names if name != refused_name])


@pytest.mark.parametrize("column", ["status", "precision_at_half"])
def test_a_decision_refuses_groups_with_the_names_of_its_columns(column: str) -> None:
    with pytest.raises(pp.PrcError, match=f"rename the column '{column}' of by="):
        ROWS.rename({GROUP: column}).prc.decide(0.1, by=column, recall=0.5)


@pytest.mark.parametrize("make", [pl.DataFrame.lazy, pl.DataFrame.clone])
def test_tables_have_no_reserved_names(make: Callable[[pl.DataFrame], Any]) -> None:
    table = make(ROWS.with_columns(_prc_incomplete=1, h2=pl.col("score") / 2))
    asked = [
        lambda p: p.summary(0.1),
        lambda p: p.summary(0.1, score=["score", "h2"]),
        lambda p: p.unpivot_scores(["score", "h2"]),
    ]
    for ask in asked:
        with pytest.raises(pp.PrcError, match=r"^rename or drop the column .*: names .* are reserved"):
            ask(table.prc)
