"""The source of a report: a score table, reduced once to what all tables and charts are made of.

score table -> counts   unless rows have weights
            -> rates    if rates were published
            -> rows     if rows have weights, or for a ranking of models that scored the same examples
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from polars_prcurve.column_names import COUNT_COLUMNS, SQUARE_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import Column, Columns, list_columns
from polars_prcurve.inputs.table_arguments import drop_incomplete_examples
from polars_prcurve.metrics.names import default_curve_metric
from polars_prcurve.prevalence.eta_values import read_eta_list
from polars_prcurve.query_checks import run_query


class ChartMethods(Protocol):
    """The methods of `.prc.plot` that a report draws its charts with."""

    def metric_by_eta(self, *values: Any, **options: Any) -> Any: ...
    def pr_curve(self, *values: Any, **options: Any) -> Any: ...
    def roc_curve(self, *values: Any, **options: Any) -> Any: ...
    def live(self, *values: Any, **options: Any) -> Any: ...


class ScoreMethods(Protocol):
    """The methods of `.prc` that every number of a report comes from.

    A protocol stands in for the namespace, which calls the report and must not be imported here.
    """

    @property
    def plot(self) -> ChartMethods: ...
    def counts(self, *values: Any, **options: Any) -> Any: ...
    def sweep(self, *values: Any, **options: Any) -> Any: ...
    def summary(self, *values: Any, **options: Any) -> Any: ...
    def operating_points(self, *values: Any, **options: Any) -> Any: ...
    def ranking(self, *values: Any, **options: Any) -> Any: ...
    def crossings(self, *values: Any, **options: Any) -> Any: ...


OpenTable = Callable[[Any], ScoreMethods]
"""The function `prc`, which gives a DataFrame or LazyFrame its methods."""


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
    paired: tuple[ScoreMethods, dict[str, Any]] | None = None
    """The methods and arguments of the table of examples, if models scored the same examples."""

    @property
    def by_columns(self) -> list[str]:
        """The group columns without the column of models."""
        return [name for name in self.group_columns if name != self.model]

    @property
    def has_counts(self) -> bool:
        """Whether the numbers of examples behind the rates are known."""
        return "rates" not in self.arguments

    @property
    def metric(self) -> str:
        """The curve metric that the report tells of in words, which its methods take by default."""
        return default_curve_metric(self.arguments.get("rates"))

    @property
    def metric_words(self) -> str:
        """What the report calls its metric in a sentence."""
        return {"average_precision": "average precision", "pr_auc": "area under the PR curve"}[
            self.metric
        ]

    @property
    def group_arguments(self) -> dict[str, Any]:
        """Arguments for a method that treats each model as a group."""
        return {"by": self.group_columns, **self.arguments}

    @property
    def model_arguments(self) -> dict[str, Any]:
        """Arguments for a method that compares the models of a group."""
        return {"by": self.by_columns, "model": self.model, **self.arguments}

    def rank_models(self, eta: list[float], confidence: float | None) -> pl.DataFrame:
        """Return the ranking of models, with intervals from paired examples if these are known."""
        methods, arguments = self.methods, self.model_arguments
        if self.paired is not None and confidence is not None:
            methods, row_arguments = self.paired
            arguments = {"by": self.by_columns, "model": self.model, **row_arguments}
        ranks: pl.DataFrame = methods.ranking(eta, confidence=confidence, **arguments)
        return ranks

    def read_prevalences(self, eta: object) -> list[float]:
        """Return the prevalences as sorted numbers, with the own prevalence of the table for None."""
        if isinstance(eta, pl.DataFrame | pl.LazyFrame):
            raise PrcError("a report has the same prevalences for all groups; pass eta= as numbers")
        etas = read_eta_list(eta)
        if None not in etas:
            return sorted(value for value in etas if value is not None)
        areas = self.methods.summary(metrics="roc_auc", **self.group_arguments)
        own = areas["eta"].drop_nulls().unique()
        if len(own) != 1:
            raise PrcError(
                "eta=None of a report is the own prevalence of the table, and its groups have "
                f"{len(own) or 'none'}; pass eta= as numbers"
            )
        return sorted({own.item() if value is None else value for value in etas})


def read_source(
    open_table: OpenTable,
    frame: pl.DataFrame | pl.LazyFrame,
    *,
    by: list[Column],
    model: str | None,
    id: Columns,
    given: dict[str, Any],
) -> ReportSource:
    """Return the source of a report, from the arguments `given` that say what the table holds."""
    if model in [name for name in by if isinstance(name, str)]:
        raise PrcError(f"by= and model= both hold the column {model!r}; leave it out of by=")
    if list_columns("id=", id) and (model is None or "rates" in given or "counts" in given):
        raise PrcError(
            "id= pairs the examples of models; pass model=, and labels in place of counts= or rates="
        )
    if list_columns("id=", id) and given.get("missing") == "drop":
        # So all tables of the report are of the examples that its paired leads are of.
        columns = {name: given[name] for name in ("score", "label", "weight") if name in given}
        frame = drop_incomplete_examples(frame, by=by, id=id, **columns)
    groups, query = [*by, *list_columns("model=", model)], open_table(frame.lazy())
    if "rates" in given:
        sweep = run_query(query.sweep(by=groups, **given))
        points = sweep.select(*sweep.columns[: -len(SWEEP_COLUMNS)], tpr="recall", fpr="fpr")
        arguments: dict[str, Any] = {"rates": ("tpr", "fpr")}
        return ReportSource(open_table(points), arguments, points.columns[:-2], model, points)
    count_table = run_query(query.counts(by=groups, **given))
    if "weight" in given:
        count_table = count_table.drop(SQUARE_COLUMNS)  # intervals are of the rows themselves
    names, arguments = count_table.columns[: -len(COUNT_COLUMNS)], {"counts": COUNT_COLUMNS[1:]}
    if "weight" not in given and not list_columns("id=", id):
        return ReportSource(open_table(count_table), arguments, names, model, count_table)
    # From here on groups go by name, so expressions in by= become columns.
    named = frame.lazy().with_columns(column for column in by if isinstance(column, pl.Expr))
    rows = open_table(run_query(named))
    paired = (rows, {**given, "id": id}) if list_columns("id=", id) else None
    if "weight" in given:
        # Intervals of weighted rows need the weight of each row, which sums do not tell.
        return ReportSource(rows, given, names, model, count_table, paired)
    return ReportSource(open_table(count_table), arguments, names, model, count_table, paired)
