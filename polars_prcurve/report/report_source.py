"""The source of a report: a score table, reduced once to what all tables and charts are made of.

score table -> counts   unless rows have weights
            -> merged   counts in which each run of negatives is one row: curves and areas stay
            -> points   if rates or cumulative counts were published
            -> rows     if rows have weights, or for a ranking of models that scored the same examples
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import polars as pl

from polars_prcurve.column_names import (
    COUNT_COLUMNS,
    RESERVED,
    SQUARE_COLUMNS,
    SWEEP_COLUMNS,
    select_column,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import Column, list_columns
from polars_prcurve.inputs.table_arguments import drop_incomplete_examples, gives_squares
from polars_prcurve.metrics.names import default_curve_metric
from polars_prcurve.prevalence.field_values import Field
from polars_prcurve.prevalence.uncertain_eta import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.query_checks import run_query

_CELLS = SWEEP_COLUMNS[1:5]
ROW, RUN, NEXT = f"{RESERVED}row", f"{RESERVED}run", f"{RESERVED}next"


class ScoreMethods(Protocol):
    """The methods of `.prc` that every number of a report comes from.

    A protocol stands in for the namespace, which calls the report and must not be imported here.
    """

    def __call__(self, **words: Any) -> ScoreMethods: ...
    def counts(self, *values: Any, **options: Any) -> Any: ...
    def sweep(self, *values: Any, **options: Any) -> Any: ...
    def summary(self, *values: Any, **options: Any) -> Any: ...
    def operating_points(self, *values: Any, **options: Any) -> Any: ...
    def ranking(self, *values: Any, **options: Any) -> Any: ...
    def compare(self, *values: Any, **options: Any) -> Any: ...
    def crossings(self, *values: Any, **options: Any) -> Any: ...
    def curve(self, *values: Any, **options: Any) -> Any: ...
    def sample_size(self, *values: Any, **options: Any) -> Any: ...
    def reweight(self, *values: Any, **options: Any) -> Any: ...


OpenTable = Callable[[Any], ScoreMethods]
"""The function `prc`, which gives a DataFrame or LazyFrame its methods."""


@dataclass(frozen=True)
class UserTable:
    """A table, and what was said of it."""

    frame: pl.DataFrame | pl.LazyFrame
    by: list[Column]
    model: Column | None
    id: list[Column]
    within: list[Column]
    """The columns that tell the parts of a field apart."""
    words: dict[str, Any]
    """All other words of the table, such as score and label, that were said."""

    @property
    def groups(self) -> list[Column]:
        """The group columns, and last the column of models."""
        return [*self.by, *list_columns("model=", self.model)]


class ComparedTable(NamedTuple):
    """The table whose models `compare` tells apart."""

    methods: ScoreMethods
    is_paired: bool
    """Whether all models scored the same examples, and are compared on these."""


@dataclass(frozen=True)
class ReportSource:
    """The methods of the reduced table, to which its groups and columns are bound."""

    methods: ScoreMethods
    words: Mapping[str, Any]
    """What is bound besides the groups."""
    group_columns: list[str]
    """The group columns, and last the column of models."""
    model: str | None
    hashed_table: pl.DataFrame
    """The table whose SHA-256 the report prints."""
    merged: ScoreMethods
    """The methods of a shorter table, of which curves and their areas are the same."""
    open_table: OpenTable
    """The function that gives another table its methods."""
    paired: ScoreMethods | None = None
    """The methods of the table of examples, if models scored the same examples."""
    within: tuple[str, ...] = ()
    """The columns that tell the parts of a field apart."""
    field_rows: tuple[pl.DataFrame, dict[str, Any]] | None = None
    """The examples of a field, and all words that say what their columns hold."""
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
        return "rates" in self.words or "cells" in self.words

    @property
    def has_counts(self) -> bool:
        """Whether the numbers of examples are known, at least behind the rates of some groups."""
        return "rates" not in self.words or "sizes" in self.words

    @property
    def has_scores(self) -> bool:
        """Whether the thresholds of points are known."""
        return not self.is_published or "score" in self.words

    @property
    def metric(self) -> str:
        """The curve metric that the report tells of in words, which its methods take by default."""
        return default_curve_metric(self.words.get("rates"), self.words.get("cells"))

    @property
    def metric_words(self) -> str:
        """What the report calls its metric in a sentence."""
        return {"average_precision": "average precision", "pr_auc": "area under the PR curve"}[
            self.metric
        ]

    def find_area_level(self, confidence: float | None) -> float | None:
        """Return the level of intervals of areas: None of points, whose areas have none."""
        return None if self.is_published else confidence

    def rank_models(self, eta: Any, confidence: float | None) -> pl.DataFrame:
        """Return the ranking of models, with intervals from paired examples if these are known.

        Of published points it has limits in place of intervals.
        """
        level = self.find_area_level(confidence)
        methods = self.merged if self.paired is None or level is None else self.paired
        ranks: pl.DataFrame = methods.ranking(eta, confidence=level, coarse=self.is_published)
        return ranks

    def summarize_areas(self, eta: Any, confidence: float | None) -> pl.DataFrame:
        """Return the areas of each group; those of points have `value_low` and `value_high`, too.

        These are the limits of `metric`: least and greatest value, whatever lies between the points.
        """
        metrics = [self.metric, "roc_auc"] if self.is_published else None
        areas: pl.DataFrame = self.merged.summary(eta, metrics=metrics, confidence=confidence)
        if not self.is_published:
            return areas
        limits = self.merged.summary(eta, metrics=metrics, coarse=True)
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
            return ComparedTable(self.methods, is_paired=False)
        return ComparedTable(self.paired, is_paired=True)

    def _weigh_field(self, parts: pl.DataFrame) -> ComparedTable | None:
        """Return the examples of a field, weighted; None of counts, and of estimated prevalences."""
        ends = [name for name in UNCERTAIN_ETA_COLUMNS[:2] if name in parts.columns]
        is_estimate = any(parts[name].count() for name in ends)
        if self.field_rows is None or is_estimate:
            return None
        rows, words = self.field_rows
        name = "weight"
        while name in rows.columns:
            name += " of the field"
        keys = [key for key in (*self.by_columns, *self.within) if key in parts.columns]
        field = Field(parts.select(*keys, "eta", "share"), self.within)
        weighted = self.open_table(rows)(**words).reweight(eta=field, name=name)
        compared = self.open_table(weighted)(**words, weight=name)
        return ComparedTable(compared, is_paired="id" in words)

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


def read_source(open_table: OpenTable, table: UserTable) -> ReportSource:
    """Return the source of a report on a user's table."""
    words, has_points = table.words, not table.words.keys().isdisjoint({"rates", "sizes", "cells"})
    if table.id and (table.model is None or has_points or "counts" in words):
        raise PrcError(
            "id= pairs the examples of models; pass model=, and labels in place of counts=, rates= or "
            "cells="
        )
    if table.id and words.get("missing") == "drop":
        # So all tables of the report are of the examples that its paired leads are of.
        columns = {name: words.get(name, name) for name in ("score", "label")}
        columns["weight"] = words.get("weight")
        complete = drop_incomplete_examples(table.frame, by=table.by, id=table.id, **columns)
        table = replace(table, frame=complete)
    if table.within:
        return _read_field(open_table, table)
    query = open_table(table.frame.lazy())
    if has_points:
        return _read_points(open_table, table, run_query(query.sweep(by=table.groups, **words)))
    counts = run_query(query.counts(by=table.groups, **words))
    if gives_squares(words.get("weight"), words.get("counts")):
        return _read_weighted(open_table, table, counts)
    groups = counts.columns[: -len(COUNT_COLUMNS)]
    model = _find_model(table, groups)
    counted = {"counts": COUNT_COLUMNS[1:]}
    methods, merged = (
        _bind(open_table, each, groups, model, counted) for each in (counts, _merge_negatives(counts))
    )
    paired = None
    if table.id:
        paired = _bind(open_table, _name_groups(table), groups, model, {**words, "id": table.id})
    return ReportSource(methods, counted, groups, model, counts, merged, open_table, paired)


def _find_model(table: UserTable, groups: list[str]) -> str | None:
    """Return the name of the column of models, which is the last of the group columns."""
    return None if table.model is None else groups[-1]


def _bind(
    open_table: OpenTable,
    frame: pl.DataFrame,
    groups: list[str],
    model: str | None,
    words: Mapping[str, Any],
) -> ScoreMethods:
    """Return the methods of a table, for which models are groups, or are compared, as each has it."""
    return open_table(frame)(by=[name for name in groups if name != model], model=model, **words)


def _name_groups(table: UserTable) -> pl.DataFrame:
    """Return the user's table, in which group expressions are columns, so that groups go by name."""
    groups = (*table.groups, *table.within)
    return run_query(table.frame.lazy().with_columns(c for c in groups if isinstance(c, pl.Expr)))


def _read_weighted(open_table: OpenTable, table: UserTable, sums: pl.DataFrame) -> ReportSource:
    """Return the source of a report on examples with weights, of which `sums` are the counts.

    They serve all charts and tables themselves, so no shorter table is made of them: intervals need the
    weight of each example, which sums do not tell.
    """
    groups = sums.columns[: -len(COUNT_COLUMNS) - len(SQUARE_COLUMNS)]
    model, words = _find_model(table, groups), table.words
    columns = zip(COUNT_COLUMNS[1:], SQUARE_COLUMNS, strict=True)
    effective = [
        pl.when(pl.col(square).sum() > 0)
        .then((pl.col(n).sum() ** 2 / pl.col(square).sum()).round())
        .alias(n)
        for n, square in columns
    ]
    counts_as = sums.group_by(groups).agg(effective) if groups else sums.select(effective)
    if "weight" not in words:  # sums of weights, whose examples are not known
        words = {"counts": (*COUNT_COLUMNS[1:], *SQUARE_COLUMNS)}
        methods = _bind(open_table, sums, groups, model, words)
        return ReportSource(
            methods, words, groups, model, sums, methods, open_table, counts_as=counts_as
        )
    rows = _name_groups(table)
    methods, weight = _bind(open_table, rows, groups, model, words), words["weight"]
    counted = rows.lazy().filter((select_column(weight) if isinstance(weight, str) else weight) > 0)
    plain = {name: value for name, value in words.items() if name != "weight"}
    return ReportSource(
        methods,
        words,
        groups,
        model,
        sums.drop(SQUARE_COLUMNS),
        methods,
        open_table,
        paired=methods(id=table.id) if table.id else None,
        examples=run_query(open_table(counted).counts(by=groups, **plain)),
        counts_as=counts_as,
    )


def _read_points(open_table: OpenTable, table: UserTable, sweep: pl.DataFrame) -> ReportSource:
    """Return the source of a report on published points: their rates, and what is known beside these."""
    groups = sweep.columns[: -len(SWEEP_COLUMNS)]
    model = _find_model(table, groups)
    words: dict[str, Any] = {"rates": ("tpr", "fpr")}
    columns = {"tpr": pl.col("recall"), "fpr": pl.col("fpr")}
    if "cells" in table.words:
        words = {"cells": _CELLS}
        columns = {name: pl.col(name) for name in _CELLS}
        if sweep["threshold"].null_count() < sweep.height:
            words["score"] = COUNT_COLUMNS[0]
            columns[COUNT_COLUMNS[0]] = pl.col("threshold")
    elif sweep["tp"].count() or sweep["fp"].count():  # a size is known
        words["sizes"] = COUNT_COLUMNS[1:]
        sums = pl.col("tp") + pl.col("fn"), pl.col("fp") + pl.col("tn")  # of rates times sizes
        columns |= {n: size.round() for n, size in zip(COUNT_COLUMNS[1:], sums, strict=True)}
    points = sweep.select(*groups, **columns)
    methods = _bind(open_table, points, groups, model, words)
    return ReportSource(methods, words, groups, model, points, methods, open_table)


def _read_field(open_table: OpenTable, table: UserTable) -> ReportSource:
    """Return the source of a report on fields of several parts: counts of each part."""
    words, parts = table.words, table.within
    counts = run_query(open_table(table.frame.lazy()).counts(by=[*table.groups, *parts], **words))
    names = counts.columns[: -len(COUNT_COLUMNS)]
    groups, within = names[: -len(parts)], tuple(names[-len(parts) :])
    model = _find_model(table, groups)
    counted = {"counts": COUNT_COLUMNS[1:]}
    # Between two negatives of a part there may be positives of another, so runs are not merged.
    methods = _bind(open_table, counts, groups, model, counted)
    field_rows = None
    if "counts" not in words:
        by = [name for name in groups if name != model]
        pairs = {"id": table.id} if table.id else {}
        # Weights are for complete rows, so that scores have to be said, too.
        said = {"by": by, "model": model, "score": COUNT_COLUMNS[0], **words, **pairs}
        field_rows = _name_groups(table), said
    return ReportSource(
        methods,
        counted,
        groups,
        model,
        counts,
        methods,
        open_table,
        within=within,
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
