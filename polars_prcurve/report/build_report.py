"""The report: a decision, for people who decide, from one score table.

    score table -> source      the table, reduced once to counts: see `read_source`
                -> request     prevalences, targets, what is promised
                -> decisions   for each target the models in order, the best first
                -> parts       the decision, one picture, numbers, doubts, charts, methods
                -> page        one HTML file: see `build_page`

Every number in a report comes from a method of the library that a reader can call, too.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve import charts
from polars_prcurve.argument_kinds import check_texts, read_list, read_number, take_frame
from polars_prcurve.atomic_file import resolve_target
from polars_prcurve.charts.parts.number_formats import format_range
from polars_prcurve.curves.targets import read_events, read_targets
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.column_reader import Column, Columns, list_columns
from polars_prcurve.inputs.table_arguments import DroppedRows, count_dropped_rows
from polars_prcurve.number_words import MILLION, glue_numbers, say_eta
from polars_prcurve.prevalence.eta_values import eta_grid, read_eta_list
from polars_prcurve.report.decision_box import write_decision, write_other_decisions, write_warning
from polars_prcurve.report.decisions import (
    Decision,
    collect_points,
    compare_leaders,
    rank_options,
)
from polars_prcurve.report.drawings import draw_figure
from polars_prcurve.report.field_of_parts import (
    FIELD_METHODS_TEXT,
    FIELD_PROMISE_TEXT,
    say_field,
    write_parts_of_field,
)
from polars_prcurve.report.html_parts import Markup
from polars_prcurve.report.lead_by_area import write_area_box
from polars_prcurve.report.open_questions import (
    ReportTables,
    describe_wrong_way,
    write_open_questions,
)
from polars_prcurve.report.order_by_area import read_ranks
from polars_prcurve.report.page import (
    Folded,
    Header,
    Live,
    Table,
    build_page,
    write_text,
)
from polars_prcurve.report.people_tables import write_numbers
from polars_prcurve.report.picture_heading import find_heading
from polars_prcurve.report.published_points import rank_at_target
from polars_prcurve.report.report_source import OpenTable, ReportSource, UserTable, read_source
from polars_prcurve.report.request import (
    ReportRequest,
    list_etas,
    read_report_eta,
)
from polars_prcurve.report.vega_drawings import load_vl_convert

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from polars_prcurve.report.page import Part

_RARE = 0.01
"""A prevalence below which precision has a log axis."""
_MOST_LIVE, _MOST_MODELS = 24, 8
"""Groups, at most, under the slider; models, at most, whose trades of places are searched."""


@dataclass(frozen=True)
class ReportText:
    """The words that the user gives: heading, notes and date."""

    title: str | None
    notes: str | None
    date: str | None


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
    by: Columns,
    model: Column | None,
    id: Columns,
    within: Columns,
    targets: Mapping[str, Any],
    guarantee: float | None,
    confidence: float | None,
    text: ReportText,
    words: Mapping[str, Any],
    stacked: Sequence[Any] | None = None,
) -> Path:
    """Write the report on a score table, and return its path.

    `words` say what its columns hold, besides the groups. With `within`, `eta` is the frame of a field.
    `stacked` lists the models or classes whose columns of scores the rows of `frame` were made from.
    """
    # What is wrong must raise before any work.
    resolve_target(path)
    check_texts(title=text.title, notes=text.notes, date=text.date)
    eta = take_frame(eta)
    if not isinstance(eta, pl.DataFrame | pl.LazyFrame):
        read_eta_list(eta)
    values = _check_targets(targets, guarantee)
    load_vl_convert()  # and so must a missing package
    groups = list_columns("by=", by), model, list_columns("id=", id), list_columns("parts=", within)
    table = UserTable(frame, *groups, {k: value for k, value in words.items() if value is not None})
    source = read_source(open_table, table)
    dropped = DroppedRows(0, 0)
    if table.words.get("missing") == "drop":
        dropped = _count_dropped(table, stacked)
    request = ReportRequest(
        read_report_eta(source, eta),
        values,
        float(targets.get("per") or MILLION),
        confidence if source.has_counts else None,
        guarantee,
    )
    parts = build_report_parts(source, request, text, dropped)
    return write_text(path, build_page(_choose_title(source, request, text.title), parts))


def _count_dropped(table: UserTable, stacked: Sequence[Any] | None) -> DroppedRows:
    """Return how many rows of the user's table are left out; of classes in columns, how many scores."""
    dropped = count_dropped_rows(
        table.frame, by=table.by, model=table.model, id=table.id or None, **table.words
    )
    if stacked is None:
        return dropped
    if not table.id:  # each class leaves out rows of its own
        return dropped._replace(what="scores")
    n_each = len(stacked)  # models leave out a row together
    return DroppedRows(dropped.n // n_each, dropped.total // n_each)


_TARGETS = ("recall", "precision", "alerts")


def _check_targets(targets: Mapping[str, Any], guarantee: object) -> dict[str, list[float]]:
    """Return the values of each target that is given; raise if an argument makes no sense."""
    given = {name: value for name, value in targets.items() if value is not None}
    per = given.pop("per", None)
    if per is not None:
        read_events(per)
    if others := [name for name in given if name not in _TARGETS]:
        raise PrcError(f"a report has the targets recall=, precision= and alerts=, and no {others[0]}=")
    if not given:
        targets_of = "pass recall=, precision= or alerts=, too"
        if per is not None:
            raise PrcError(f"per= counts the alerts at a target; {targets_of}")
        if guarantee is not None:
            raise PrcError(f"guarantee= promises that a target is met; {targets_of}")
        return {}
    if guarantee is not None:
        read_number("guarantee=", guarantee, "a level such as 0.95", lambda level: 0.5 < level < 1)
    values: dict[str, list[float]] = {name: [] for name in _TARGETS if name in given}
    for target in read_targets(None, **given, per=per):
        if isinstance(target.value, float) and target.value not in values[target.criterion]:
            values[target.criterion].append(target.value)
    return values


def _choose_title(source: ReportSource, request: ReportRequest, title: str | None) -> str:
    """Return the heading of the page: the question that it answers."""
    if title is not None:
        return title
    if not request.goals or not source.has_scores:
        return "What to expect in the field" if source.model is None else "Which model for the field?"
    return "Alert from which score?" if source.model is None else "Which model, and from which score?"


def write_parts(path: str | os.PathLike[str], parts: Iterable[Part], title: str | None) -> Path:
    """Write a page of these parts, and return its path."""
    resolve_target(path)
    check_texts(title=title)
    parts = read_list("parts=", parts, "a list of texts, DataFrames and charts")
    return write_text(path, build_page("What to expect in the field" if title is None else title, parts))


def build_report_parts(
    source: ReportSource, request: ReportRequest, text: ReportText, dropped: DroppedRows
) -> list[Part]:
    """Return the parts of the page in order: the decision first, raw tables last."""
    digest = hashlib.sha256(source.hashed_table.write_csv().encode()).hexdigest()
    areas = source.summarize_areas(request.eta.argument, request.confidence)
    ranks = None
    if source.model is not None and not source.within:
        ranks = source.rank_models(request.eta.exact, request.confidence)
    points = collect_points(source, request)
    is_counted = bool(source.within) or source.examples is not None
    sizes = source.count_examples(source.group_columns) if is_counted else areas
    decisions = compare_leaders(source, request, rank_options(source, request, points, sizes))
    decisions = rank_at_target(source, request, decisions)
    curves = source.merged.curve(
        request.eta.headline,
        metrics=("precision",),
        confidence=request.confidence,
        thresholds="corners",
    )
    tables = ReportTables(areas, ranks, curves, decisions)
    header = Header(
        _describe_test(source, sizes, text.date, digest, dropped), _list_contents(source, tables)
    )
    return [
        header,
        *_write_decision(source, request, tables),
        *_draw_key_chart(source, request, tables, points),
        *([] if text.notes is None else [f"## Notes\n{text.notes}"]),
        Markup('<h2 id="numbers">The numbers</h2>'),
        *write_other_decisions(decisions, request),
        *write_numbers(source, request, areas, points),
        *write_parts_of_field(source, request),
        *write_open_questions(source, request, tables),
        *_draw_charts(source, request, tables),
        Markup('<h2 id="methods">Methods and tables</h2>'),
        Folded("Methods", list(_describe_methods(source, request, digest, decisions))),
        *_fold_tables(source, tables, points),
    ]


def _describe_test(
    source: ReportSource, sizes: pl.DataFrame, date: str | None, digest: str, dropped: DroppedRows
) -> str:
    """Return the line below the heading: date, size of the test, and which data it was."""
    said = [] if date is None else [date]
    if source.has_counts:
        said.append(_describe_sizes(source, sizes))
    if dropped.n:
        said.append(dropped.sentence.rstrip("."))
    line = " · ".join([*said, f"data {digest[:12]}"])
    return line[0].upper() + line[1:]


def _describe_sizes(source: ReportSource, tested: pl.DataFrame) -> str:
    """Return how many examples of each class the test has, and its prevalence if groups share it."""
    told = tested.select(*source.group_columns, "n_pos", "n_neg").unique()
    sizes = told.drop_nulls(["n_pos", "n_neg"])
    if sizes.is_empty():
        return "the table has no rows" if told.is_empty() else "not all sizes of the test are known"
    pos, neg = sizes["n_pos"], sizes["n_neg"]
    etas = (pos / (pos + neg)).fill_nan(None).drop_nulls().unique().to_list()
    what = "groups" if source.by_columns or source.model is None else "models"
    of_all = "" if sizes.height == told.height else f" of {told.height}"
    many = f"{sizes.height}{of_all} {what}, " if told.height > 1 else ""
    is_own = len(etas) == 1 and etas[0] > 0 and not (source.within or source.examples is not None)
    own = f" ({say_eta(etas[0])})" if is_own else ""
    if source.counts_as is not None and source.examples is None:
        start = f"{many}whose" if many else "the"
        sums = f"add up to {format_range(pos)}, those of negatives to {format_range(neg)}"
        return glue_numbers(f"{start} weights of positives {sums}{own}")
    weighted = "" if source.examples is None else ", with weights"
    cases = f"{format_range(pos + neg)} cases, {format_range(pos)} of them positive{own}{weighted}"
    return glue_numbers(f"{many}{'each ' if many else ''}tested on {cases}")


def _list_contents(source: ReportSource, tables: ReportTables) -> list[tuple[str, str]]:
    """Return the ids and names of the sections, for the contents."""
    first = [("decision", "Decision")] if tables.decisions or tables.ranks is not None else []
    return [
        *first,
        ("numbers", "Numbers"),
        ("open", "What the data cannot say"),
        *([] if source.within else [("shares", "Other shares of positives")]),
        ("methods", "Methods and tables"),
    ]


def _write_decision(
    source: ReportSource, request: ReportRequest, tables: ReportTables
) -> Iterator[Markup]:
    """Yield the decision: at a target if one is asked for, and otherwise by average precision."""
    warning = describe_wrong_way(source, tables.areas)
    if tables.decisions:
        models = _list_models(source, tables) if not source.by_columns else []
        field, ranks = say_field(source, request), read_ranks(source, tables.ranks)
        yield from write_decision(tables.decisions, request, models, ranks, field, warning=warning)
    elif tables.ranks is not None:
        lead = request.eta.select_headline(tables.ranks)
        yield from write_area_box(source, request, lead, warning)
    elif warning:
        yield write_warning(warning)


def _list_models(source: ReportSource, tables: ReportTables) -> list[Any]:
    """Return the models in the order of their colours, which is that of their names."""
    if source.model is None:
        return []
    names: list[Any] = tables.areas[source.model].unique().sort().to_list()
    return names


# Charts ---------------------------------------------------------------------------------------


def _draw_key_chart(
    source: ReportSource, request: ReportRequest, tables: ReportTables, points: pl.DataFrame
) -> Iterator[Markup]:
    """Yield the one picture: precision by recall, with the scores of the decision on it."""
    if tables.curves.is_empty():
        return
    marked = None
    if request.goals:
        first = request.goals[0]
        at_goal = (pl.col("criterion") == first.criterion) & (pl.col("target") == first.value)
        marked = request.eta.select_headline(points.filter(at_goal))
    options: dict[str, Any] = {"confidence": request.confidence, "points": marked}
    heading = find_heading(source, tables.decisions)
    yield draw_figure(1, lambda title: charts.pr_curve(tables.curves, title=title, **options), heading)


def _draw_charts(source: ReportSource, request: ReportRequest, tables: ReportTables) -> Iterator[Part]:
    """Yield the charts over other prevalences, and the one with a slider."""
    if tables.curves.is_empty() or source.within:
        return
    yield Markup('<h2 id="shares">Other shares of positives</h2>')
    yield _draw_areas(source, request, tables)
    if not request.eta.has_one_each:
        level = request.confidence
        curves = source.merged.curve(
            request.eta.given, metrics=("precision",), confidence=level, thresholds="corners"
        )
        is_rare = min(list_etas(tables.areas), default=1) < _RARE
        yield draw_figure(
            3,
            lambda title: charts.pr_curve(curves, confidence=level, log_y=is_rare or None, title=title),
        )
    columns = source.group_columns
    n_groups = tables.areas.select(columns).n_unique() if columns else 1
    if len(columns) <= 1 and n_groups <= _MOST_LIVE:
        sweep = source.merged.sweep(thresholds="corners")
        eta = max(min(list_etas(request.eta.select_headline(tables.areas)), default=0.01), 1e-6)
        yield Live(charts.live(sweep, eta, width="container"))


def _draw_areas(source: ReportSource, request: ReportRequest, tables: ReportTables) -> Markup:
    """Return the chart of average precision by prevalence, with trades of places."""
    low, high = _choose_eta_range(list_etas(tables.areas))
    grid, level = eta_grid(low, high, 40), source.find_area_level(request.confidence)
    of_groups: dict[str, Any] = {"metrics": source.metric, "coarse": source.is_published}
    if source.model is not None:  # models come first, so that they have the colours
        of_groups |= {"by": [source.model, *source.by_columns], "model": None}
    table = source.merged.summary(grid, confidence=level, **of_groups)
    n_models = 0 if source.model is None else tables.areas[source.model].n_unique()
    trades = None
    if 2 <= n_models <= _MOST_MODELS:
        trades = source.merged.crossings(eta_range=(low, high))
    return draw_figure(
        2, lambda title: charts.metric_by_eta(table, crossings=trades, confidence=level, title=title)
    )


def _choose_eta_range(etas: list[float]) -> tuple[float, float]:
    """Return the range of charts: from a tenth of the least prevalence to a half or more."""
    inside = [eta for eta in etas if 0 < eta < 1] or [0.5]
    return max(min(inside) / 10, 1e-9), max(*inside, 0.5)


# Methods and tables ---------------------------------------------------------------------------


_METHODS_TEXT = """\
An alert is whatever scores at least the threshold; ties move together. Recall and fpr, the false
positive rate, are measured on the test. At a share of positives eta, precision =
recall eta / (recall eta + fpr (1 - eta)) (Williams 2021, eq. 2). average_precision is the sum of
precision times the steps of recall; pr_auc is the area under the curve through all achievable points
(Davis and Goadrich 2006); roc_auc is the same at every eta.

Intervals of average_precision are from influence functions, of roc_auc from DeLong et al. 1988, of
precision at a threshold from Wilson's intervals of recall and fpr (Zou and Donner 2008). {of_choice}
Numbers of examples needed: Brabec et al. 2020, section 5."""
_AS_IT_STANDS = "They are for the threshold as it stands, and not for its choice."
_OF_MODEL = """\
At a target they are of the model, and allow for the choice: another test set would choose others."""

_POINTS_TEXT = """\
The table holds points of each curve, such as a paper publishes. Areas follow straight lines of the ROC
curve between points. A score that meets a target is one of the points, and may do more than the target
asks for."""

_INDEPENDENT_TEXT = """\
Rows are taken as independent. With many rows per patient, card or other cluster, intervals are too
narrow, and promises too bold: summary, compare and operating_points take cluster=."""

_PROMISE_TEXT = """\
A promised threshold was found by a run of exact tests, from a start that no label chose. Its true value
meets the target in at least that share of test sets, for each row by itself."""

_UNPAIRED_NOTE = """\
Models count as tested on examples of their own. If all scored the same ones, leads are surer than said
here: what is easy or hard for all of them cancels out of the difference."""

_TEST_TEXT = """\
Whether the first model is ahead at the first target was tested {how}, at a level for all pairs of models
(Bonferroni).{moves}"""
_MOVES_TEXT = " The test allows for the thresholds, too, which another sample would put elsewhere."
_PAIRED_TEXT = "on the same examples (compare at the target)"
_APART_TEXT = "with the errors of each model by itself (compare(paired=False) at the target)"

_PAIRED_NOTE = (
    "Leads in average precision are of differences on the same examples, which all models scored."
)


def _describe_methods(
    source: ReportSource, request: ReportRequest, digest: str, decisions: Sequence[Decision]
) -> Iterator[str]:
    """Yield how the numbers were made, from which table and by which versions."""
    what = "points" if source.is_published else "counts of positives and negatives by score"
    packages = ("polars-prcurve", "polars", "altair", "vl-convert-python")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    rows = (option.row for decision in decisions for option in decision.options)
    is_of_model = any(row.get("interval_of") == "model" for row in rows)
    yield _METHODS_TEXT.format(of_choice=_OF_MODEL if is_of_model else _AS_IT_STANDS)
    if source.is_published:
        yield _POINTS_TEXT
    if request.confidence is not None or request.guarantee is not None:
        yield _INDEPENDENT_TEXT
    if request.guarantee is not None:
        yield FIELD_PROMISE_TEXT if source.within else _PROMISE_TEXT
    if source.within:
        yield FIELD_METHODS_TEXT
    elif source.model is not None and source.has_counts and not source.is_published:
        yield _UNPAIRED_NOTE if source.paired is None else _PAIRED_NOTE
    if any(decision.lead_tests is not None for decision in decisions):
        is_paired = any(decision.is_paired for decision in decisions)
        moves = "" if source.is_published else _MOVES_TEXT
        yield _TEST_TEXT.format(how=_PAIRED_TEXT if is_paired else _APART_TEXT, moves=moves)
    yield f"SHA-256 of the table of {what}, as CSV: {digest}"
    yield f"Made by {versions}, Python {platform.python_version()}."


def _fold_tables(source: ReportSource, tables: ReportTables, points: pl.DataFrame) -> Iterator[Folded]:
    """Yield the tables that the numbers are from, as the methods return them."""
    folded = [("Areas of the curves", tables.areas)]
    folded += [] if tables.ranks is None else [(f"Models by {source.metric_words}", tables.ranks)]
    folded += [] if points.is_empty() else [("Scores that meet the targets", points)]
    for name, table in folded:
        yield Folded(
            f"Table: {name[0].lower()}{name[1:]}", [Table(_drop_empty_columns(table), name)], is_raw=True
        )


def _drop_empty_columns(table: pl.DataFrame) -> pl.DataFrame:
    """Drop the columns in which every value is null; an empty table keeps all."""
    return table.select(column for column in table if column.null_count() < max(len(column), 1))
