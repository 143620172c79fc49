"""Tables for people: a value and its interval in one cell, percent, no names of columns.

With two to four prevalences there is a column for each, and below each question a row for each model.
Otherwise there is a row for each model and prevalence, and a column for each question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_prcurve.charts.parts.number_formats import format_level
from polars_prcurve.confidence.estimates import Estimate, read_estimate
from polars_prcurve.number_words import say_cases, say_count, say_estimate, say_eta, say_share
from polars_prcurve.report.decision_box import name_value
from polars_prcurve.report.decisions import FEW_FALSE_ALERTS, rests_on_few_alerts
from polars_prcurve.report.html_parts import Markup, escape, wrap_scrolling, write_caption
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import Goal, ReportRequest

_MOST_ROWS = 60
_MOST_COLUMNS = 4
Key = tuple[Any, ...]
"""The values of the group columns, the model among them, and the prevalence."""


@dataclass(frozen=True)
class _Cell:
    """One number of a table: what it says, its interval, and how it compares."""

    text: str
    span: str
    merit: float | None
    """The number, of which greater is better; None if neither is."""
    mark: str = ""
    """A dagger if the interval is not known to hold, or if few false alerts are behind it."""

    def write(self, *, is_best: bool) -> str:
        """Return the cell as HTML."""
        value = f"<b>{escape(self.text)}</b>" if is_best else escape(self.text)
        mark = f"<sup>{self.mark}</sup>" if self.mark else ""
        ends = f' <span class="ci">({escape(self.span)})</span>' if self.span else ""
        doubt = " doubt" if self.mark else ""
        return f'<td class="number{doubt}">{value}{mark}{ends}</td>'


@dataclass(frozen=True)
class _Question:
    """A question that a table answers for each model and prevalence."""

    title: str
    cells: Mapping[Key, _Cell]


def write_numbers(
    source: ReportSource, request: ReportRequest, areas: pl.DataFrame, points: pl.DataFrame
) -> Iterator[Markup]:
    """Yield the numbers of all models and prevalences as one table, and what its marks mean."""
    questions = list(_ask_questions(source, request, areas, points))
    keys = list(dict.fromkeys(key for question in questions for key in question.cells))
    if not keys:
        return
    keys = _rank_keys(source, request, questions, keys)
    names = list(dict.fromkeys(key[:-1] for key in keys))
    given = request.eta.given
    per_eta = isinstance(given, list) and 2 <= len(given) <= _MOST_COLUMNS and bool(names[0])
    if per_eta and isinstance(given, list):
        table, n = _write_by_eta(source, questions, names, given)
    else:
        table, n = _write_by_row(source, questions, keys)
    yield Markup(wrap_scrolling(table, "The numbers"))
    yield Markup(
        f'<p class="note">{escape(" ".join(_explain_marks(source, request, questions, n)))}</p>'
    )


def _rank_keys(
    source: ReportSource, request: ReportRequest, questions: Sequence[_Question], keys: list[Key]
) -> list[Key]:
    """Return the keys with the models of each group in order of the target, as the decision has them.

    The order is that at the first prevalence that was asked for.
    """
    if source.model is None:
        return keys
    place, given = len(source.by_columns), request.eta.given
    groups = list(dict.fromkeys(key[:place] for key in keys))
    merits: dict[Key, float] = {}
    for key, cell in questions[1 if len(questions) > 1 else 0].cells.items():
        if cell.merit is not None and (not isinstance(given, list) or key[-1] == given[0]):
            merits.setdefault(key[:-1], cell.merit)
    worst = -math.inf  # of models that miss the target
    return sorted(keys, key=lambda key: (groups.index(key[:place]), -merits.get(key[:-1], worst)))


def _ask_questions(
    source: ReportSource, request: ReportRequest, areas: pl.DataFrame, points: pl.DataFrame
) -> Iterator[_Question]:
    """Yield the average precision, and for each target what it costs and what it brings."""
    columns = [*source.group_columns, "eta"]
    rows = areas.filter(pl.col("metric") == source.metric).drop_nulls("value")
    words = source.metric_words[0].upper() + source.metric_words[1:]
    yield _Question(
        words,
        {tuple(row[name] for name in columns): _read_area(row) for row in rows.iter_rows(named=True)},
    )
    for goal in request.goals if source.model is not None else ():  # others stand with the decision
        met = points.filter(
            pl.col("criterion") == goal.criterion, pl.col("target") == goal.value
        ).drop_nulls(["recall", "precision"])
        for title, read in _list_answers(goal):
            cells = {
                tuple(row[name] for name in columns): read(row) for row in met.iter_rows(named=True)
            }
            yield _Question(title, cells)


def _read_area(row: Mapping[str, Any]) -> _Cell:
    mark = "†" if row.get("reliable") is False else ""
    span = _say_span(read_estimate(row, "value"), _say_area)
    return _Cell(_say_area(row["value"]), span, row["value"], mark)


def _say_area(value: float) -> str:
    """Return an area in three decimals, or in two digits if these would say little: `0.00034`."""
    if not 0 < value < 0.0095:
        return f"{value:.3f}"
    return f"{value:.{1 - math.floor(math.log10(value))}f}"


def _list_answers(goal: Goal) -> list[tuple[str, Callable[[Mapping[str, Any]], _Cell]]]:
    """Return what a table tells of a target: the share that is right, found, and alerts."""

    def read_share(name: str) -> Callable[[Mapping[str, Any]], _Cell]:
        def read(row: Mapping[str, Any]) -> _Cell:
            known = read_estimate(row, name)
            return _Cell(*say_estimate(known.value, known.low, known.high), known.value, _mark_few(row))

        return read

    def read_alerts(row: Mapping[str, Any]) -> _Cell:
        rate = read_estimate(row, "predicted_positive_rate")
        span = _say_span(rate, lambda end: say_count(goal.per * end))
        merit = -row["alerts"] if goal.criterion == "recall" else None
        return _Cell(say_count(row["alerts"]), span, merit, _mark_few(row))

    right, found = ("alerts that are right", read_share("precision")), ("found", read_share("recall"))
    alerts = (f"alerts {say_cases(goal.per)}", read_alerts)
    answers = {
        "recall": (f"To find {goal.found}", [right, alerts]),
        "precision": (f"With {say_share(goal.value)} right", [found, alerts]),
        "alerts": (f"With {say_count(goal.value)} alerts", [found, right]),
    }
    start, asked = answers[goal.criterion]
    return [(f"{start}: {what}", read) for what, read in asked]


def _mark_few(row: Mapping[str, Any]) -> str:
    return "‡" if rests_on_few_alerts(row) else ""


def _say_span(known: Estimate, say: Callable[[float], str]) -> str:
    return "" if known.span is None else f"{say(known.low)} to {say(known.high)}"


def _find_best(source: ReportSource, question: _Question) -> set[Key]:
    """Return the keys of the best model of each group and prevalence, if there are several models."""
    if source.model is None:
        return set()
    place = len(source.by_columns)
    rivals: dict[Key, list[Key]] = {}
    for key in question.cells:
        rivals.setdefault((*key[:place], key[-1]), []).append(key)
    best = set()
    for keys in rivals.values():
        merits = [merit for key in keys if (merit := question.cells[key].merit) is not None]
        if len(merits) > 1:
            best |= {key for key in keys if question.cells[key].merit == max(merits)}
    return best


def _write_by_eta(
    source: ReportSource, questions: Sequence[_Question], names: Sequence[Key], etas: Sequence[float]
) -> tuple[str, int]:
    """Return a table with a column per prevalence, and how many of its models are left out."""
    shown = names[: max(_MOST_ROWS // len(questions), 1)]
    heads = "".join(f'<th scope="col" class="number">{escape(say_eta(eta))}</th>' for eta in etas)
    body = []
    for question in questions:
        best = _find_best(source, question)
        body.append(
            f'<tr class="group"><th scope="rowgroup" colspan="{len(etas) + 1}">'
            f"{escape(question.title)}</th></tr>"
        )
        for name in shown:
            cells = "".join(_write_one(question, (*name, eta), best) for eta in etas)
            body.append(f'<tr><th scope="row">{escape(_say_key(name))}</th>{cells}</tr>')
        body.append("</tbody><tbody>")
    head = f'<tr><th scope="col">{escape(_say_columns(source))}</th>{heads}</tr>'
    rows = "".join(body).removesuffix("<tbody>").removesuffix("</tbody>")
    caption = "Each column is a share of positives where the model may run"
    return _join_table(caption, head, rows), len(names) - len(shown)


def _write_by_row(
    source: ReportSource, questions: Sequence[_Question], keys: Sequence[Key]
) -> tuple[str, int]:
    """Return a table with a column per question, and how many of its rows are left out."""
    shown, etas = keys[:_MOST_ROWS], list(dict.fromkeys(key[-1] for key in keys))
    has_names = bool(keys[0][:-1])
    columns = [_say_columns(source)] if has_names else []
    columns += ["Positive"] if len(etas) > 1 or not has_names else []
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    heads += "".join(f'<th scope="col" class="number">{escape(q.title)}</th>' for q in questions)
    bests = [_find_best(source, question) for question in questions]
    body = []
    for key in shown:
        texts = [_say_key(key[:-1])] if has_names else []
        texts += [say_eta(key[-1])] if len(texts) < len(columns) else []
        first = f'<th scope="row">{escape(texts[0])}</th>'
        first += "".join(f"<td>{escape(text)}</td>" for text in texts[1:])
        pairs = zip(questions, bests, strict=True)
        cells = "".join(_write_one(question, key, best) for question, best in pairs)
        body.append(f"<tr>{first}{cells}</tr>")
    caption = f"Where {say_eta(etas[0])} is positive" if len(etas) == 1 else "By share of positives"
    table = _join_table(caption, f"<tr>{heads}</tr>", "".join(body))
    if len(questions) == 1:
        table = table.replace("<table>", '<table class="short">', 1)
    return table, len(keys) - len(shown)


def _join_table(caption: str, head: str, body: str) -> str:
    return f"<table>{write_caption(caption)}<thead>{head}</thead><tbody>{body}</tbody></table>"


def _write_one(question: _Question, key: Key, best: set[Key]) -> str:
    cell = question.cells.get(key)
    return '<td class="number">–</td>' if cell is None else cell.write(is_best=key in best)


def _say_key(key: Key) -> str:
    return " · ".join(map(name_value, key))


def _say_columns(source: ReportSource) -> str:
    return " · ".join(source.group_columns)


def _explain_marks(
    source: ReportSource, request: ReportRequest, questions: Sequence[_Question], n_left: int
) -> Iterator[str]:
    """Yield what brackets, bold and daggers mean, as far as the table has them."""
    cells = [cell for question in questions for cell in question.cells.values()]
    marks = {cell.mark for cell in cells}
    if source.is_published:
        words = source.metric_words
        yield f"In brackets after the {words}: its limits, whatever lies between the points."
    others = [cell for question in questions[source.is_published :] for cell in question.cells.values()]
    if request.confidence is not None and any(cell.span for cell in others):
        start = "Other brackets" if source.is_published else "In brackets"
        yield f"{start}: {format_level(request.confidence)} intervals."
    if source.model is not None:
        yield "Bold: the best in the test."
    if "†" in marks:
        yield "† So few examples decide about it that the interval may be too narrow."
    if "‡" in marks:
        yield f"‡ Fewer than {FEW_FALSE_ALERTS} false alerts are behind it."
    if any(len(question.cells) < len(questions[0].cells) for question in questions):
        yield "– No score meets the target."
    if n_left > 0:
        yield f"{n_left} more are in the tables at the end."
