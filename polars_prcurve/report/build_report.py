"""The report: what a test says of the field, for people who decide.

    score table -> source     the table, reduced once to counts: see `read_source`
                -> findings   sentences on the test, the best model at each prevalence, and doubts
                -> parts      findings, tables, charts, methods
                -> page       one HTML file: see `build_page`

Every number in a report comes from a method of the library that a reader can call, too.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.argument_kinds import check_texts, read_list
from polars_prcurve.atomic_file import resolve_target
from polars_prcurve.charts.parts.colors_and_panels import MAX_COLORS
from polars_prcurve.curves.targets import TargetValues, read_events, read_targets
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import Column, Columns
from polars_prcurve.inputs.table_arguments import DroppedRows, count_dropped_rows
from polars_prcurve.intervals.rates import check_confidence
from polars_prcurve.number_words import format_count
from polars_prcurve.prevalence.eta_values import eta_grid, read_eta_list
from polars_prcurve.report.findings import (
    ReportOptions,
    ReportTables,
    choose_eta_range,
    describe_findings,
)
from polars_prcurve.report.page import Figure, Table, build_page, load_vl_convert, write_text
from polars_prcurve.report.reduced_table import OpenTable, ReportSource, read_source

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from polars_prcurve.report.page import Part


def check_parts_alone(**options: object) -> None:
    """Raise if an option that describes the report's own content is given beside `parts`."""
    for name, value in options.items():
        if value is not None:
            raise PrcError(f"parts= replaces the report's own content; leave out {name}=")


def write_report(
    path: str | os.PathLike[str],
    open_table: OpenTable,
    frame: pl.DataFrame | pl.LazyFrame,
    *,
    eta: object,
    by: list[Column],
    model: str | None,
    id: Columns,
    recall: TargetValues,
    per: float | None,
    confidence: float | None,
    title: str | None,
    notes: str | None,
    given: dict[str, Any],
) -> Path:
    """Write the report on a score table, and return its path; `given` says what its columns hold."""
    # What is wrong must raise before any work.
    resolve_target(path)
    check_texts(title=title, notes=notes, model=model)
    if per is not None:
        read_events(per)
    if confidence is not None:
        check_confidence(confidence)
    if not isinstance(eta, pl.DataFrame | pl.LazyFrame):
        read_eta_list(eta)
    if per is not None and recall is None:
        raise PrcError("per= counts the alerts at a recall; pass recall=, too")
    load_vl_convert()  # and so must a missing package
    given = {name: value for name, value in given.items() if value is not None}
    targets = [] if recall is None else read_targets(None, recall=recall)
    recalls = [target.value for target in targets if isinstance(target.value, float)]
    source = read_source(open_table, frame, by=by, model=model, id=id, given=given)
    dropped = DroppedRows(0, 0)
    if given.get("missing") == "drop":
        dropped = count_dropped_rows(frame, by=by, model=model, id=id, **given)
    confidence = confidence if source.has_counts else None
    asked = ReportOptions(source.read_prevalences(eta), recalls, per, confidence)
    return write_parts(path, build_report_parts(source, asked, notes, dropped), title)


def write_parts(path: str | os.PathLike[str], parts: Iterable[Part], title: str | None) -> Path:
    """Write a page of these parts, and return its path."""
    resolve_target(path)
    check_texts(title=title)
    parts = read_list("parts=", parts, "a list of texts, DataFrames and charts")
    return write_text(path, build_page("What to expect in the field" if title is None else title, parts))


def build_report_parts(
    source: ReportSource, asked: ReportOptions, notes: str | None, dropped: DroppedRows
) -> list[Part]:
    """Return the parts of the page in order: findings, notes, tables, charts, methods."""
    tables = ReportTables(
        source.methods.summary(asked.eta, confidence=asked.confidence, **source.group_arguments),
        None if source.model is None else source.rank_models(asked.eta, asked.confidence),
    )
    points = [] if not asked.recall else list(_build_point_tables(source, asked))
    findings = [*describe_findings(source, asked, tables)]
    if dropped.n:
        findings.append(f"{dropped.sentence}.")
    return [
        "## In short\n" + "\n".join(f"- {line}" for line in findings),
        *([] if notes is None else [f"## Notes\n{notes}"]),
        *_build_area_tables(source, asked, tables),
        *points,
        *_build_charts(source, asked),
        *_describe_methods(source),
    ]


def _build_area_tables(
    source: ReportSource, asked: ReportOptions, tables: ReportTables
) -> Iterator[Part]:
    yield "## At the prevalences asked for"
    level = "" if asked.confidence is None else f", with intervals at {asked.confidence:.4g}"
    yield Table(_drop_empty_columns(tables.areas), f"Areas of the curves by prevalence eta{level}.")
    if tables.ranks is not None:
        yield Table(_drop_empty_columns(tables.ranks), f"Models in order of {source.metric_words}.")


def _build_point_tables(source: ReportSource, asked: ReportOptions) -> Iterator[Part]:
    yield "## At a recall"
    points = source.methods.operating_points(
        asked.eta,
        metrics=("precision", "predicted_positive_rate"),
        recall=asked.recall,
        per=asked.per,
        confidence=asked.confidence,
        **source.group_arguments,
    )
    unneeded = [name for name in ("criterion", "tp", "fp", "fn", "tn") if name in points.columns]
    per = "" if asked.per is None else f" Alerts are of {format_count(asked.per)} events."
    yield Table(
        _drop_empty_columns(points.drop(unneeded)),
        "The highest threshold that reaches each recall." + per,
    )


def _drop_empty_columns(table: pl.DataFrame) -> pl.DataFrame:
    """Drop the columns in which every value is null; an empty table keeps all."""
    return table.select(column for column in table if column.null_count() < max(len(column), 1))


def _build_charts(source: ReportSource, asked: ReportOptions) -> Iterator[Part]:
    low, high = choose_eta_range(asked)
    grid = eta_grid(low, high, 40)
    yield "## Over all prevalences"
    plot, groups = source.methods.plot, source.group_arguments
    yield Figure(
        plot.metric_by_eta(grid, confidence=asked.confidence, **source.model_arguments),
        f"{source.metric_words[0].upper()}{source.metric_words[1:]} against prevalence. "
        "Recall and fpr stay; what is positive gets rarer.",
    )
    yield "## Curves"
    curves = plot.pr_curve(asked.eta, **groups)
    yield Figure(curves, "Precision by recall at the prevalences asked for.")
    yield Figure(plot.roc_curve(log_x=True, **groups), "Recall by fpr, the same at every prevalence.")
    columns = source.group_columns
    n_groups = source.hashed_table.select(columns).n_unique() if columns else 1
    if len(columns) <= 1 and n_groups <= MAX_COLORS:
        yield "## At any prevalence"
        caption = "Where scripts run, the slider moves prevalence, and points tell what they do there."
        yield Figure(plot.live(eta=max(min(asked.eta), 1e-6), width="container", **groups), caption)


_METHODS_TEXT = """\
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


_UNPAIRED_NOTE = """\
Models count as tested on examples of their own. If all scored the same ones, leads are surer than said
here: what is easy or hard for all of them leaves with the difference."""


_PAIRED_NOTE = "Leads are of differences on the same examples, which all models scored."


def _describe_methods(source: ReportSource) -> Iterator[str]:
    """Yield how the numbers were made, from which table and by which versions."""
    digest = hashlib.sha256(source.hashed_table.write_csv().encode()).hexdigest()
    what = "counts of positives and negatives by score" if source.has_counts else "rates"
    packages = ("polars-prcurve", "polars", "altair", "vl-convert-python")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    yield _METHODS_TEXT
    if source.model is not None and source.has_counts:
        yield _UNPAIRED_NOTE if source.paired is None else _PAIRED_NOTE
    yield f"SHA-256 of the table of {what}, as CSV: {digest}"
    yield f"Made by {versions}, Python {platform.python_version()}."
