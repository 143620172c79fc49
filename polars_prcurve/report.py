"""The report: what a test says of the field, for those who decide.

    score table -> source     reduced to counts, once, where rows are not weighted
                -> findings   in words: the test, the best model at each prevalence, what is uncertain
                -> parts      findings, tables, charts, methods
                -> page       see `page`

Every number in it is from a method of the library that a reader can call.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.charts.channels import MOST_COLORS
from polars_prcurve.charts.words import one_in, said, said_count, said_range, said_share
from polars_prcurve.errors import PrcError
from polars_prcurve.page import Figure, Table
from polars_prcurve.prevalence import eta_grid, eta_list

if TYPE_CHECKING:
    from polars_prcurve.namespace import DataFramePrc
    from polars_prcurve.page import Part

__all__ = ["Asked", "Source", "report_parts"]

_MOST_TOLD = 6
"""So many findings of a kind are told; tables have all."""


@dataclass(frozen=True)
class Source:
    """A table, reduced to what is asked again and again, and the arguments that say what it holds."""

    prc: DataFramePrc
    arguments: Mapping[str, Any]
    every: list[str]
    """The columns of groups, that of models among them."""
    model: str | None
    digest: pl.DataFrame
    """What its SHA-256 is of."""
    paired: tuple[DataFramePrc, dict[str, Any]] | None = None
    """Rows of examples, and what they hold, if models scored the same ones."""

    def ranking(self, eta: list[float], confidence: float | None) -> pl.DataFrame:
        """Models in order, and how sure that is."""
        if self.paired is None or confidence is None:
            return self.of_models("ranking", eta, confidence=confidence)
        prc, arguments = self.paired
        return prc.ranking(eta, by=self.by, model=str(self.model), confidence=confidence, **arguments)

    def of_all(self, method: str, *values: Any, **options: Any) -> pl.DataFrame:
        """A method by group and model."""
        options |= {"by": self.every, **self.arguments}
        found: pl.DataFrame = getattr(self.prc, method)(*values, **options)
        return found

    def of_models(self, method: str, *values: Any, **options: Any) -> pl.DataFrame:
        """A method that sets models side by side."""
        options |= {"by": self.by, "model": self.model, **self.arguments}
        found: pl.DataFrame = getattr(self.prc, method)(*values, **options)
        return found

    def chart(self, name: str, *values: Any, **options: Any) -> Any:
        """A chart by group and model."""
        groups = self.by if "model" in options else self.every
        return getattr(self.prc.plot, name)(*values, by=groups, **self.arguments, **options)

    @property
    def by(self) -> list[str]:
        return [name for name in self.every if name != self.model]

    def prevalences(self, eta: object) -> list[float]:
        """As numbers; the table's own where one is None."""
        if isinstance(eta, pl.DataFrame | pl.LazyFrame):
            raise PrcError("a report is at the same prevalences for all groups; pass eta= as numbers")
        asked = eta_list(eta)
        if None not in asked:
            return sorted(value for value in asked if value is not None)
        own = self.of_all("summary", metrics="roc_auc")["eta"].drop_nulls().unique()
        if len(own) != 1:
            raise PrcError(
                "a report at eta=None is at the table's own prevalence, and its groups have "
                f"{len(own) or 'none'}; pass eta= as numbers"
            )
        return sorted({own.item() if value is None else value for value in asked})

    @property
    def counted(self) -> bool:
        """There are examples behind the rates."""
        return "rates" not in self.arguments


@dataclass(frozen=True)
class Asked:
    """What the reader wants to know."""

    eta: list[float]
    recall: list[float]
    per: float | None
    confidence: float | None


@dataclass(frozen=True)
class _Tables:
    """What is both told in words and shown."""

    areas: pl.DataFrame
    ranks: pl.DataFrame | None
    """None without models."""

    def of(self, metric: str) -> pl.DataFrame:
        return self.areas.filter(pl.col("metric") == metric)


def report_parts(source: Source, asked: Asked, notes: str | None) -> list[Part]:
    """All parts, in order."""
    tables = _Tables(
        source.of_all("summary", asked.eta, confidence=asked.confidence),
        None if source.model is None else source.ranking(asked.eta, asked.confidence),
    )
    points = [] if not asked.recall else list(_points(source, asked))
    return [
        "## In short\n" + "\n".join(f"- {line}" for line in _findings(source, asked, tables)),
        *([] if notes is None else [f"## Notes\n{notes}"]),
        *_areas(asked, tables),
        *points,
        *_charts(source, asked),
        *_methods(source),
    ]


# In words -------------------------------------------------------------------------------------


def _findings(source: Source, asked: Asked, tables: _Tables) -> Iterator[str]:
    """What a reader must know, a sentence each."""
    if source.counted:
        yield from _tests(source, tables)
    if tables.ranks is None:
        yield from _told(_values(source, tables), "values")
    else:
        yield from _told(_bests(source, tables.ranks), "findings")
        yield from _told(_trades(source, asked, tables), "trades of places")
    yield from _doubts(source, asked, tables)


def _told(lines: Iterator[str], what: str) -> Iterator[str]:
    found = list(lines)
    yield from found[:_MOST_TOLD]
    if len(found) > _MOST_TOLD:
        yield f"{len(found) - _MOST_TOLD} more {what} are in the tables."


def _tests(source: Source, tables: _Tables) -> Iterator[str]:
    sizes = tables.areas.select(*source.every, "n_pos", "n_neg").unique()
    if sizes.is_empty():
        yield "The table has no rows."
        return
    pos, neg = sizes["n_pos"], sizes["n_neg"]
    etas = (pos / (pos + neg)).fill_nan(None).drop_nulls().unique().to_list()
    many = f" ({sizes.height} {'groups' if source.by else 'models'})" if sizes.height > 1 else ""
    yield f"The test{many}: {said_range(pos)} positives and {said_range(neg)} negatives" + (
        f", a prevalence of {said_share(etas[0])}." if len(etas) == 1 else "."
    )
    yield from _told(_of_one_class(source, sizes), "groups of one class only")


def _of_one_class(source: Source, sizes: pl.DataFrame) -> Iterator[str]:
    """The groups that no model has a value for."""
    if source.by:
        most = sizes.group_by(source.by).agg(pl.col("n_pos", "n_neg").max()).sort(source.by)
        for row in most.filter(pl.min_horizontal("n_pos", "n_neg") == 0).iter_rows(named=True):
            lacks = "positives" if row["n_pos"] == 0 else "negatives"
            yield f"{_groups(source, row)}no {lacks}, so that nothing can be said of precision."


def _values(source: Source, tables: _Tables) -> Iterator[str]:
    for row in tables.of("average_precision").iter_rows(named=True):
        value = _with_interval(row["value"], row.get("low"), row.get("high"))
        yield f"{_where(source, row)} average precision is {value}."


def _bests(source: Source, ranks: pl.DataFrame) -> Iterator[str]:
    """The leader at each prevalence, and how far ahead of the next it is."""
    for group in ranks.partition_by([*source.by, "eta"], maintain_order=True):
        known = [row for row in group.iter_rows(named=True) if row["value"] is not None]
        if known:
            best = _best(known, paired=source.paired is not None)
            yield f"{_where(source, known[0])} {best}{_without_value(group)}."


def _best(ranks: list[dict[str, Any]], *, paired: bool) -> str:
    """Who leads, of models that have a value, best first."""
    first, *others = ranks
    value = _number(first["value"])
    if not others:
        return f"{_name(first['model'])} has an average precision of {value}"
    equal = [_name(row["model"]) for row in ranks if row["rank"] == 1]
    if len(equal) > 1:
        return f"{', '.join(equal[:-1])} and {equal[-1]} have the same average precision, {value}"
    told = f"{_name(first['model'])} is best by average precision, {value}"
    told += f"; next {_name(others[0]['model'])}, {_number(others[0]['value'])}"
    if first.get("resolved") is None:
        return told
    if not first["reliable"]:
        return f"{told}; there are too few examples to say whether the lead is chance"
    if first["resolved"]:
        return f"{told}; the lead is more than chance"
    return f"{told}; the lead may be chance{'' if paired else ' (examples are not paired)'}"


def _without_value(group: pl.DataFrame) -> str:
    names = [_name(name) for name in group.filter(pl.col("value").is_null())["model"]]
    more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
    have = "has" if len(names) == 1 else "have"
    return f"; {', '.join(names[:_MOST_TOLD])}{more} {have} no value" if names else ""


def _trades(source: Source, asked: Asked, tables: _Tables) -> Iterator[str]:
    low, high = _range(asked)
    curves = tables.of("roc_auc").drop_nulls("value").select(source.every).unique()
    if curves.n_unique(source.by) == curves.height if source.by else curves.height < 2:
        return  # nobody to trade with
    table = source.of_models("crossings", eta_range=(low, high))
    for row in table.iter_rows(named=True):
        where = _groups(source, row)
        a, b = _name(row["model_a"]), _name(row["model_b"])
        place = said_share(row["eta"])
        yield f"{where}{a} and {b} trade places at eta = {place}; above it {b} is better."
    if table.is_empty():
        yield f"No models trade places between eta = {said_share(low)} and {said_share(high)}."


def _doubts(source: Source, asked: Asked, tables: _Tables) -> Iterator[str]:
    if not source.counted:
        yield "How sure this is cannot be told: rates come without numbers of examples."
    if asked.confidence is None:
        return
    etas = tables.of("average_precision").filter(pl.col("reliable").not_())["eta"].unique().sort()
    if len(etas):
        values = ", ".join(map(said_share, etas.to_list()))
        yield f"Too few examples to rely on all intervals of average precision at eta = {values}."


def _where(source: Source, row: Mapping[str, Any]) -> str:
    words = one_in(row["eta"])
    where = f"Where {words} is positive," if words else f"At eta = {said_share(row['eta'])}"
    return _groups(source, row) + where


def _groups(source: Source, row: Mapping[str, Any]) -> str:
    return "".join(f"{_name(row[name])}: " for name in source.by)


def _name(value: Any) -> str:
    return f"“{said('', value)}”"


def _number(value: float) -> str:
    return f"{value:.3g}"


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    ends = "" if low is None or high is None else f" ({_number(low)} to {_number(high)})"
    return _number(value) + ends


def _range(asked: Asked) -> tuple[float, float]:
    """From a tenth of the least prevalence asked for, to a half or more."""
    inside = [eta for eta in asked.eta if 0 < eta < 1] or [0.5]
    return max(min(inside) / 10, 1e-9), max(*inside, 0.5)


# Tables and charts ----------------------------------------------------------------------------


def _areas(asked: Asked, tables: _Tables) -> Iterator[Part]:
    yield "## At the prevalences asked for"
    level = "" if asked.confidence is None else f", with intervals at {asked.confidence:.4g}"
    yield Table(_readable(tables.areas), f"Areas of the curves by prevalence eta{level}.")
    if tables.ranks is not None:
        yield Table(_readable(tables.ranks), "Models in order of average precision.")


def _points(source: Source, asked: Asked) -> Iterator[Part]:
    options = {"recall": asked.recall, "per": asked.per, "confidence": asked.confidence}
    yield "## At a recall"
    metrics = ("precision", "predicted_positive_rate")
    points = source.of_all("operating_points", asked.eta, metrics=metrics, **options)
    dull = [name for name in ("criterion", "tp", "fp", "fn", "tn") if name in points.columns]
    per = "" if asked.per is None else f" Alerts are of {said_count(asked.per)} events."
    yield Table(_readable(points.drop(dull)), "The highest threshold that reaches each recall." + per)


def _readable(table: pl.DataFrame) -> pl.DataFrame:
    """Without columns that hold nothing."""
    return table.select(column for column in table if column.null_count() < max(len(column), 1))


def _charts(source: Source, asked: Asked) -> Iterator[Part]:
    low, high = _range(asked)
    grid = eta_grid(low, high, 40)
    yield "## Over all prevalences"
    trades = {} if source.model is None else {"model": source.model}
    yield Figure(
        source.chart("metric_by_eta", grid, confidence=asked.confidence, **trades),
        "Average precision against prevalence. Recall and fpr stay; what is positive gets rarer.",
    )
    yield "## Curves"
    curves = source.chart("pr_curve", asked.eta)
    yield Figure(curves, "Precision by recall at the prevalences asked for.")
    yield Figure(source.chart("roc_curve", log_x=True), "Recall by fpr, the same at every prevalence.")
    groups = source.digest.select(source.every).n_unique() if source.every else 1
    if len(source.every) <= 1 and groups <= MOST_COLORS:
        yield "## At any prevalence"
        words = "Where scripts run, the slider moves prevalence, and points tell what they do there."
        yield Figure(source.chart("live", eta=max(min(asked.eta), 1e-6)), words)


# Methods --------------------------------------------------------------------------------------

_HOW = """\
## Methods
Predicted positive is whatever scores at least the threshold; ties move together. Recall and fpr are
measured on the test. At a prevalence eta, precision = recall eta / (recall eta + fpr (1 - eta))
(Williams 2021, eq. 2). average_precision is the sum of precision times the steps of recall; pr_auc is
the area under the curve through all achievable points (Davis and Goadrich 2006); roc_auc is the same at
every prevalence.

All this holds as far as positives and negatives of the field are like those of the test, and only their
numbers differ.

Intervals of average_precision are from influence functions, of roc_auc from DeLong et al. 1988, of
precision at a threshold from Wilson's intervals of recall and fpr (Zou and Donner 2008)."""
_APART = """\
Models count as tested on examples of their own. If all scored the same ones, leads are surer than said
here: what is easy or hard for all of them leaves with the difference."""
_PAIRED = "Leads are of differences on the same examples, which all models scored."


def _methods(source: Source) -> Iterator[str]:
    digest = hashlib.sha256(source.digest.write_csv().encode()).hexdigest()
    what = "counts of positives and negatives by score" if source.counted else "rates"
    packages = ("polars-prcurve", "polars", "altair", "vl-convert-python")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    yield _HOW
    if source.model is not None and source.counted:
        yield _APART if source.paired is None else _PAIRED
    yield f"SHA-256 of the table of {what}, as CSV: {digest}"
    yield f"Made by {versions}, Python {platform.python_version()}."
