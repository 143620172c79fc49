"""Findings of a report in words: the test, the best model at each prevalence, and what is uncertain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_prcurve.charts.parts.number_formats import (
    format_one_in,
    format_range,
    format_share,
    format_value,
)
from polars_prcurve.report.reduced_table import ReportSource

_MAX_FINDINGS = 6
"""Findings of one kind, at most, that a report tells; its tables have all."""


@dataclass(frozen=True)
class ReportOptions:
    """What a report is asked for: prevalences, recalls, a number of events, a level of intervals."""

    eta: list[float]
    recall: list[float]
    per: float | None
    confidence: float | None


@dataclass(frozen=True)
class ReportTables:
    """The tables that a report both shows and tells in words."""

    areas: pl.DataFrame
    """The table of `summary`."""
    ranks: pl.DataFrame | None
    """The table of `ranking`, or None without models."""

    def filter_metric(self, metric: str) -> pl.DataFrame:
        """Return the rows of `areas` of one metric."""
        return self.areas.filter(pl.col("metric") == metric)


def describe_findings(source: ReportSource, asked: ReportOptions, tables: ReportTables) -> Iterator[str]:
    """Yield what a reader must know, one sentence each."""
    if source.has_counts:
        yield from _describe_test(source, tables)
    if tables.ranks is None:
        yield from _shorten_list(_describe_values(source, tables), "values")
    else:
        yield from _shorten_list(_describe_leaders(source, tables.ranks), "findings")
        yield from _shorten_list(_describe_trades(source, asked, tables), "trades of places")
    yield from _describe_doubts(source, asked, tables)


def _shorten_list(lines: Iterator[str], what: str) -> Iterator[str]:
    """Yield the first lines, and if there are more, how many."""
    sentences = list(lines)
    yield from sentences[:_MAX_FINDINGS]
    if len(sentences) > _MAX_FINDINGS:
        yield f"{len(sentences) - _MAX_FINDINGS} more {what} are in the tables."


def _describe_test(source: ReportSource, tables: ReportTables) -> Iterator[str]:
    """Yield the size of the test set, and its prevalence if all groups share it."""
    sizes = tables.areas.select(*source.group_columns, "n_pos", "n_neg").unique()
    if sizes.is_empty():
        yield "The table has no rows."
        return
    pos, neg = sizes["n_pos"], sizes["n_neg"]
    etas = (pos / (pos + neg)).fill_nan(None).drop_nulls().unique().to_list()
    many = f" ({sizes.height} {'groups' if source.by_columns else 'models'})" if sizes.height > 1 else ""
    yield f"The test{many}: {format_range(pos)} positives and {format_range(neg)} negatives" + (
        f", a prevalence of {format_share(etas[0])}." if len(etas) == 1 else "."
    )
    yield from _shorten_list(_describe_single_class(source, sizes), "groups of one class only")


def _describe_single_class(source: ReportSource, sizes: pl.DataFrame) -> Iterator[str]:
    """Yield the groups that lack a class, for which no model has a value."""
    by = source.by_columns
    if by:
        # Models of a group may have different examples.
        largest = sizes.group_by(by).agg(pl.col("n_pos", "n_neg").max()).sort(by)
        for row in largest.filter(pl.min_horizontal("n_pos", "n_neg") == 0).iter_rows(named=True):
            absent = "positives" if row["n_pos"] == 0 else "negatives"
            yield f"{_format_groups(source, row)}no {absent}, so that nothing can be said of precision."


def _describe_values(source: ReportSource, tables: ReportTables) -> Iterator[str]:
    """Yield the average precision of each group at each prevalence, for a report without models."""
    for row in tables.filter_metric(source.metric).iter_rows(named=True):
        value = _format_interval(row["value"], row.get("low"), row.get("high"))
        yield f"{_format_place(source, row)} {source.metric_words} is {value}."


def _describe_leaders(source: ReportSource, ranks: pl.DataFrame) -> Iterator[str]:
    """Yield the best model of each group at each prevalence, and whether its lead may be chance."""
    for group in ranks.partition_by([*source.by_columns, "eta"], maintain_order=True):
        known = [row for row in group.iter_rows(named=True) if row["value"] is not None]
        if known:
            leader = _describe_leader(known, source.metric_words, paired=source.paired is not None)
            yield f"{_format_place(source, known[0])} {leader}{_describe_valueless(group)}."


def _describe_leader(ranks: list[dict[str, Any]], metric: str, *, paired: bool) -> str:
    """Return which model leads and by how much, from rows of models with a value, the best first."""
    first, *others = ranks
    value = _format_number(first["value"])
    if not others:
        return f"{_format_name(first['model'])} has an {metric} of {value}"
    equal = [_format_name(row["model"]) for row in ranks if row["rank"] == 1]
    if len(equal) > 1:
        return f"{', '.join(equal[:-1])} and {equal[-1]} have the same {metric}, {value}"
    lead = f"{_format_name(first['model'])} is best by {metric}, {value}"
    lead += f"; next {_format_name(others[0]['model'])}, {_format_number(others[0]['value'])}"
    if first.get("resolved") is None:
        return lead
    if first["resolved"]:
        return f"{lead}; the lead is more than chance"
    if not first["reliable"]:
        return f"{lead}; there are too few examples to say whether the lead is chance"
    return f"{lead}; the lead may be chance{'' if paired else ' (examples are not paired)'}"


def _describe_valueless(group: pl.DataFrame) -> str:
    """Return which models of a group have no value, as the end of a sentence."""
    names = [_format_name(name) for name in group.filter(pl.col("value").is_null())["model"]]
    more = f" and {len(names) - _MAX_FINDINGS} more" if len(names) > _MAX_FINDINGS else ""
    have = "has" if len(names) == 1 else "have"
    return f"; {', '.join(names[:_MAX_FINDINGS])}{more} {have} no value" if names else ""


def _describe_trades(source: ReportSource, asked: ReportOptions, tables: ReportTables) -> Iterator[str]:
    """Yield the prevalences at which two models of a group trade places."""
    low, high = choose_eta_range(asked)
    curves = tables.filter_metric("roc_auc").drop_nulls("value").select(source.group_columns).unique()
    if curves.n_unique(source.by_columns) == curves.height if source.by_columns else curves.height < 2:
        return  # no group has two models with a value
    table = source.methods.crossings(eta_range=(low, high), **source.model_arguments)
    for row in table.iter_rows(named=True):
        group, eta = _format_groups(source, row), format_share(row["eta"])
        a, b = _format_name(row["model_a"]), _format_name(row["model_b"])
        yield f"{group}{a} and {b} trade places at eta = {eta}; above it {b} is better."
    if table.is_empty():
        yield f"No models trade places between eta = {format_share(low)} and {format_share(high)}."


def _describe_doubts(source: ReportSource, asked: ReportOptions, tables: ReportTables) -> Iterator[str]:
    """Yield what makes the intervals unreliable, or impossible."""
    if not source.has_counts:
        yield "How sure this is cannot be told: rates come without numbers of examples."
    if asked.confidence is None:
        return
    etas = tables.filter_metric(source.metric).filter(pl.col("reliable").not_())["eta"].unique().sort()
    if len(etas):
        values = ", ".join(map(format_share, etas.to_list()))
        yield f"Too few examples to rely on all intervals of {source.metric_words} at eta = {values}."


def _format_place(source: ReportSource, row: Mapping[str, Any]) -> str:
    """Return the start of a sentence on one group at one prevalence."""
    one_in = format_one_in(row["eta"])
    prevalence = f"Where {one_in} is positive," if one_in else f"At eta = {format_share(row['eta'])}"
    return _format_groups(source, row) + prevalence


def _format_groups(source: ReportSource, row: Mapping[str, Any]) -> str:
    """Return the group values of a row, without the model, as the start of a sentence."""
    return "".join(f"{_format_name(row[name])}: " for name in source.by_columns)


def _format_name(value: Any) -> str:
    return f"“{format_value('', value)}”"


def _format_number(value: float) -> str:
    return f"{value:.3g}"


def _format_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "not defined"
    ends = "" if low is None or high is None else f" ({_format_number(low)} to {_format_number(high)})"
    return _format_number(value) + ends


def choose_eta_range(asked: ReportOptions) -> tuple[float, float]:
    """Return the range of charts: from a tenth of the least prevalence in `asked`, to a half or more."""
    inside = [eta for eta in asked.eta if 0 < eta < 1] or [0.5]
    return max(min(inside) / 10, 1e-9), max(*inside, 0.5)
