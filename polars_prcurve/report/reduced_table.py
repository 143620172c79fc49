"""The source of a report: a score table, reduced once to what all tables and charts are made of.

score table -> counts   unless rows have weights
            -> merged   counts in which each run of negatives is one row: curves and areas stay
            -> points   if rates or cumulative counts were published
            -> rows     if rows have weights, or for a ranking of models that scored the same examples
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import polars as pl

from polars_prcurve.argument_kinds import refuse_arguments
from polars_prcurve.column_names import (
    COUNT_COLUMNS,
    RESERVED,
    SQUARE_COLUMNS,
    SWEEP_COLUMNS,
    select_column,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import Column, Columns, list_columns
from polars_prcurve.inputs.table_arguments import drop_incomplete_examples, gives_squares
from polars_prcurve.metrics.names import default_curve_metric
from polars_prcurve.prevalence.uncertain_eta import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.query_checks import run_query

_CELLS = SWEEP_COLUMNS[1:5]
ROW, RUN, NEXT = f"{RESERVED}row", f"{RESERVED}run", f"{RESERVED}next"


class ScoreMethods(Protocol):
    """The methods of `.prc` that every number of a report comes from.

    A protocol stands in for the namespace, which calls the report and must not be imported here.
    """

    def counts(self, *values: Any, **options: Any) -> Any: ...
    def sweep(self, *values: Any, **options: Any) -> Any: ...
    def summary(self, *values: Any, **options: Any) -> Any: ...
    def operating_points(self, *values: Any, **options: Any) -> Any: ...
    def ranking(self, *values: Any, **options: Any) -> Any: ...
    def compare(self, *values: Any, **options: Any) -> Any: ...
    def roc_crossings(self, *values: Any, **options: Any) -> Any: ...
    def crossings(self, *values: Any, **options: Any) -> Any: ...
    def curve(self, *values: Any, **options: Any) -> Any: ...
    def sample_size(self, *values: Any, **options: Any) -> Any: ...
    def reweight(self, *values: Any, **options: Any) -> Any: ...


OpenTable = Callable[[Any], ScoreMethods]
"""The function `prc`, which gives a DataFrame or LazyFrame its methods."""


class ComparedTable(NamedTuple):
    """The table whose models `compare` tells apart."""

    methods: ScoreMethods
    arguments: Mapping[str, Any]
    is_paired: bool
    """Whether all models scored the same examples, and are compared on these."""


@dataclass(frozen=True)
class ReportSource:
    """The methods of the reduced table, and the arguments that say what its columns hold."""

    methods: ScoreMethods
    arguments: Mapping[str, Any]
    group_columns: list[str]
    """The group columns, and last the column of models."""
    model: str | None
    hashed_table: pl.DataFrame
    """The table whose SHA-256 the report prints."""
    merged: ScoreMethods
    """The methods of a shorter table, of which curves and their areas are the same."""
    open_table: OpenTable
    """The function that gives another table its methods."""
    paired: tuple[ScoreMethods, dict[str, Any]] | None = None
    """The methods and arguments of the table of examples, if models scored the same examples."""
    within: tuple[str, ...] = ()
    """The columns that tell the parts of a field apart."""
    field_rows: tuple[pl.DataFrame, dict[str, Any]] | None = None
    """The examples of a field, and the arguments that say what their columns hold."""
    examples: pl.DataFrame | None = None
    """Counts of the examples themselves, where `hashed_table` holds sums of their weights."""
    counts_as: pl.DataFrame | None = None
    """With weights, as how many examples the classes of each group count."""

    @property
    def by_columns(self) -> list[str]:
        """The group columns without the column of models."""
        return [name for name in self.group_columns if name != self.model]

    @property
    def is_published(self) -> bool:
        """Whether the table holds points of curves, and not every score."""
        return "rates" in self.arguments or "cells" in self.arguments

    @property
    def has_counts(self) -> bool:
        """Whether the numbers of examples are known, at least behind the rates of some groups."""
        return "rates" not in self.arguments or "sizes" in self.arguments

    @property
    def has_scores(self) -> bool:
        """Whether the thresholds of points are known."""
        return not self.is_published or "score" in self.arguments

    @property
    def metric(self) -> str:
        """The curve metric that the report tells of in words, which its methods take by default."""
        return default_curve_metric(self.arguments.get("rates"), self.arguments.get("cells"))

    @property
    def metric_words(self) -> str:
        """What the report calls its metric in a sentence."""
        return {"average_precision": "average precision", "pr_auc": "area under the PR curve"}[
            self.metric
        ]

    @property
    def group_arguments(self) -> dict[str, Any]:
        """Arguments for a method that treats each model as a group."""
        parts = {"within": list(self.within)} if self.within else {}
        return {"by": self.group_columns, **parts, **self.arguments}

    @property
    def model_arguments(self) -> dict[str, Any]:
        """Arguments for a method that compares the models of a group."""
        return {"by": self.by_columns, "model": self.model, **self.arguments}

    def find_area_level(self, confidence: float | None) -> float | None:
        """Return the level of intervals of areas: None of points, whose areas have none."""
        return None if self.is_published else confidence

    def rank_models(self, eta: Any, confidence: float | None) -> pl.DataFrame:
        """Return the ranking of models, with intervals from paired examples if these are known.

        Of published points it has limits in place of intervals.
        """
        confidence = self.find_area_level(confidence)
        methods, arguments = self.merged, self.model_arguments
        if self.paired is not None and confidence is not None:
            methods, row_arguments = self.paired
            arguments = {"by": self.by_columns, "model": self.model, **row_arguments}
        ranks: pl.DataFrame = methods.ranking(
            eta, confidence=confidence, coarse=self.is_published, **arguments
        )
        return ranks

    def summarize_areas(self, eta: Any, confidence: float | None) -> pl.DataFrame:
        """Return the areas of each group; those of points have `value_low` and `value_high`, too.

        These are the limits of `metric`: least and greatest value, whatever lies between the points.
        """
        metrics = [self.metric, "roc_auc"] if self.is_published else None
        arguments = self.group_arguments
        areas: pl.DataFrame = self.merged.summary(
            eta, metrics=metrics, confidence=confidence, **arguments
        )
        if not self.is_published:
            return areas
        limits = self.merged.summary(eta, metrics=metrics, coarse=True, **arguments)
        return areas.with_columns(limits["low"].alias("value_low"), limits["high"].alias("value_high"))

    def find_compared(self, eta: list[float] | pl.DataFrame) -> ComparedTable | None:
        """Return the table to compare models in; None of published curves.

        Where one point of each model was published, the points are compared. A field is compared by its
        weighted examples, unless weights cannot make it.
        """
        if self.is_published:
            n_groups = self.hashed_table.select(self.group_columns).n_unique()
            if not self.has_counts or self.hashed_table.height > n_groups:
                return None
        if isinstance(eta, pl.DataFrame) and self.within:
            return self._weigh_field(eta)
        if self.paired is None:
            return ComparedTable(self.methods, {**self.arguments, "paired": False}, is_paired=False)
        return ComparedTable(*self.paired, is_paired=True)

    def _weigh_field(self, parts: pl.DataFrame) -> ComparedTable | None:
        """Return the examples of a field, weighted; None of counts, and of estimated prevalences."""
        ends = [name for name in UNCERTAIN_ETA_COLUMNS[:2] if name in parts.columns]
        is_estimate = any(parts[name].count() for name in ends)
        if self.field_rows is None or is_estimate:
            return None
        rows, given = self.field_rows
        name = "weight"
        while name in rows.columns:
            name += " of the field"
        labels = {of: given[of] for of in ("label", "pos_label", "missing") if of in given}
        keys = [key for key in (*self.by_columns, *self.within) if key in parts.columns]
        weighted = self.open_table(rows).reweight(
            list(self.within),
            parts.select(*keys, "eta", "share"),
            by=self.group_columns,
            name=name,
            score=given.get("score", COUNT_COLUMNS[0]),
            **labels,
        )
        is_paired = "id" in given
        arguments = {**given, "weight": name, **({} if is_paired else {"paired": False})}
        return ComparedTable(self.open_table(weighted), arguments, is_paired)

    def count_examples(self, columns: list[str]) -> pl.DataFrame:
        """Return the numbers of positives and negatives that were tested, by some columns."""
        sums = pl.col("n_pos", "n_neg").sum()
        counts = self.hashed_table if self.examples is None else self.examples
        return (
            counts.group_by(columns, maintain_order=True).agg(sums) if columns else counts.select(sums)
        )

    def find_next_scores(self, points: pl.DataFrame) -> list[Any]:
        """Return the greatest score below the threshold of each row of operating points, or null."""
        if not self.has_scores:
            return [None] * points.height
        groups, score = self.group_columns, COUNT_COLUMNS[0]
        wanted = points.select(*groups, "threshold").with_row_index(ROW)
        counts = self.hashed_table.lazy().select(*groups, pl.col(score).alias(NEXT))
        how: dict[str, Any] = {"on": groups, "nulls_equal": True} if groups else {"how": "cross"}
        below = wanted.lazy().join(counts, **how).filter(pl.col(NEXT) < pl.col("threshold"))
        found = run_query(below.group_by(ROW).agg(pl.col(NEXT).max()))
        return wanted.join(found, on=ROW, how="left", maintain_order="left")[NEXT].to_list()


def collect_frame(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return a user's frame as a DataFrame."""
    return run_query(frame.lazy())


def read_source(
    open_table: OpenTable,
    frame: pl.DataFrame | pl.LazyFrame,
    *,
    by: list[Column],
    model: str | None,
    id: Columns,
    within: Columns = None,
    given: dict[str, Any],
) -> ReportSource:
    """Return the source of a report, from the arguments `given` that say what the table holds."""
    if model in [name for name in by if isinstance(name, str)]:
        raise PrcError(f"by= and model= both hold the column {model!r}; leave it out of by=")
    has_points = bool({"rates", "sizes", "cells"} & given.keys())
    if list_columns("id=", id) and (model is None or has_points or "counts" in given):
        raise PrcError(
            "id= pairs the examples of models; pass model=, and labels in place of counts=, rates= or "
            "cells="
        )
    if list_columns("id=", id) and given.get("missing") == "drop":
        # So all tables of the report are of the examples that its paired leads are of.
        columns = {name: given[name] for name in ("score", "label", "weight") if name in given}
        frame = drop_incomplete_examples(frame, by=by, id=id, **columns)
    if within is not None:
        return _read_field(open_table, frame, by=by, model=model, within=within, id=id, given=given)
    groups, query = [*by, *list_columns("model=", model)], open_table(frame.lazy())
    if has_points:
        return _read_points(open_table, run_query(query.sweep(by=groups, **given)), model, given)
    count_table = run_query(query.counts(by=groups, **given))
    if gives_squares(given.get("weight"), given.get("counts")):
        return _read_weighted(open_table, frame, count_table, by=by, model=model, id=id, given=given)
    names = count_table.columns[: -len(COUNT_COLUMNS)]
    arguments: dict[str, Any] = {"counts": COUNT_COLUMNS[1:]}
    counts, merged = open_table(count_table), open_table(_merge_negatives(count_table))
    if not list_columns("id=", id):
        return ReportSource(counts, arguments, names, model, count_table, merged, open_table)
    paired = open_table(_name_groups(frame, by)), {**given, "id": id}
    return ReportSource(counts, arguments, names, model, count_table, merged, open_table, paired)


def _name_groups(frame: pl.DataFrame | pl.LazyFrame, by: list[Column]) -> pl.DataFrame:
    """Return the user's table, in which expressions in `by` are columns, so that groups go by name."""
    return run_query(frame.lazy().with_columns(c for c in by if isinstance(c, pl.Expr)))


def _read_weighted(
    open_table: OpenTable,
    frame: pl.DataFrame | pl.LazyFrame,
    sums: pl.DataFrame,
    *,
    by: list[Column],
    model: str | None,
    id: Columns,
    given: dict[str, Any],
) -> ReportSource:
    """Return the source of a report on examples with weights, of which `sums` are the counts.

    They serve all charts and tables themselves, so no shorter table is made of them: intervals need the
    weight of each example, which sums do not tell.
    """
    names = sums.columns[: -len(COUNT_COLUMNS) - len(SQUARE_COLUMNS)]
    columns = zip(COUNT_COLUMNS[1:], SQUARE_COLUMNS, strict=True)
    effective = [
        pl.when(pl.col(square).sum() > 0)
        .then((pl.col(n).sum() ** 2 / pl.col(square).sum()).round())
        .alias(n)
        for n, square in columns
    ]
    counts_as = sums.group_by(names).agg(effective) if names else sums.select(effective)
    if "weight" not in given:  # sums of weights, whose examples are not known
        methods, arguments = open_table(sums), {"counts": (*COUNT_COLUMNS[1:], *SQUARE_COLUMNS)}
        return ReportSource(
            methods, arguments, names, model, sums, methods, open_table, counts_as=counts_as
        )
    rows = _name_groups(frame, by)
    methods, weight = open_table(rows), given["weight"]
    counted = rows.lazy().filter((select_column(weight) if isinstance(weight, str) else weight) > 0)
    plain = {name: value for name, value in given.items() if name != "weight"}
    return ReportSource(
        methods,
        given,
        names,
        model,
        sums.drop(SQUARE_COLUMNS),
        methods,
        open_table,
        paired=(methods, {**given, "id": id}) if list_columns("id=", id) else None,
        examples=run_query(open_table(counted).counts(by=names, **plain)),
        counts_as=counts_as,
    )


def _read_points(
    open_table: OpenTable, sweep: pl.DataFrame, model: str | None, given: Mapping[str, Any]
) -> ReportSource:
    """Return the source of a report on published points: their rates, and what is known beside these."""
    groups = sweep.columns[: -len(SWEEP_COLUMNS)]
    arguments: dict[str, Any] = {"rates": ("tpr", "fpr")}
    columns = {"tpr": pl.col("recall"), "fpr": pl.col("fpr")}
    if "cells" in given:
        arguments = {"cells": _CELLS}
        columns = {name: pl.col(name) for name in _CELLS}
        if sweep["threshold"].null_count() < sweep.height:
            arguments["score"] = COUNT_COLUMNS[0]
            columns[COUNT_COLUMNS[0]] = pl.col("threshold")
    elif sweep["tp"].count() or sweep["fp"].count():  # a size is known
        arguments["sizes"] = COUNT_COLUMNS[1:]
        sums = pl.col("tp") + pl.col("fn"), pl.col("fp") + pl.col("tn")  # of rates times sizes
        columns |= {n: size.round() for n, size in zip(COUNT_COLUMNS[1:], sums, strict=True)}
    table = sweep.select(*groups, **columns)
    points = open_table(table)
    return ReportSource(points, arguments, groups, model, table, points, open_table)


def _read_field(
    open_table: OpenTable,
    frame: pl.DataFrame | pl.LazyFrame,
    *,
    by: list[Column],
    model: str | None,
    within: Columns,
    id: Columns,
    given: dict[str, Any],
) -> ReportSource:
    """Return the source of a report on fields of several parts: counts of each part."""
    refused = {name: given.get(name) for name in ("weight", "rates", "sizes", "cells")}
    refuse_arguments("within= takes examples, and weighs them itself", **refused)
    parts = list_columns("within=", within)
    if not parts:
        raise PrcError("within= takes the columns that tell the parts of a field apart; it is empty")
    if model in [name for name in parts if isinstance(name, str)]:
        raise PrcError(f"within= and model= both hold the column {model!r}; leave it out of one")
    groups = [*by, *list_columns("model=", model), *parts]
    counts = run_query(open_table(frame.lazy()).counts(by=groups, **given))
    names = counts.columns[: -len(COUNT_COLUMNS)]
    arguments = {"counts": COUNT_COLUMNS[1:]}
    n = len(parts)
    # Between two negatives of a part there may be positives of another, so runs are not merged.
    methods = open_table(counts)
    field_rows = None
    if "counts" not in given:
        pairs = {"id": id} if list_columns("id=", id) else {}
        field_rows = _name_groups(frame, [*by, *parts]), {**given, **pairs}
    return ReportSource(
        methods,
        arguments,
        names[:-n],
        model,
        counts,
        methods,
        open_table,
        within=tuple(names[-n:]),
        field_rows=field_rows,
    )


def _merge_negatives(counts: pl.DataFrame) -> pl.DataFrame:
    """Return counts in which each run of scores of negatives alone is one row, at its lowest score.

    On such a run recall stays, so curves keep their shape, and areas and their errors are the same.
    """
    *groups, score = counts.columns[: -len(COUNT_COLUMNS[1:])]
    has_pos, n_pos, n_neg = pl.col("n_pos") > 0, pl.col("n_pos"), pl.col("n_neg")
    run = pl.struct(*(pl.col(name) for name in groups), has_pos.alias(f"{score} has positives"))
    place = pl.when(has_pos).then(pl.int_range(pl.len())).otherwise(-1)
    ordered = counts.sort(*groups, score, descending=[*(False for _ in groups), True])
    runs = pl.struct(run, place).rle_id().alias(RUN)
    merged = ordered.group_by(*groups, runs, maintain_order=True).agg(
        pl.col(score).last(), n_pos.sum(), n_neg.sum()
    )
    return merged.drop(RUN)
