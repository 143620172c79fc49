"""A decision as plain text, for terminals: the verdict, a row per model, and what would settle it.

A value and its interval are one column, and go together or not at all. Where the terminal is narrow,
columns go in an order, but never that of the value which the verdict speaks of, and then names are cut.
The last line says what was left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from polars_prcurve.decision.cases import Candidate, Case
from polars_prcurve.decision.decide import Findings, name_cases, say_short
from polars_prcurve.decision.value_words import (
    join_within,
    name_model,
    name_precision,
    say_points,
    say_precision,
    say_two,
    say_within,
)
from polars_prcurve.name_words import name_metric
from polars_prcurve.number_words import NO_BREAK, format_count, format_level, say_cases
from polars_prcurve.report.document import (
    describe_question,
    describe_status,
    say_found,
    say_merit,
    shorten_threshold,
)
from polars_prcurve.visible_text import cut_text, make_harmless, measure_width, pad_text

Words: TypeAlias = str | tuple[str, str]
"""A text, or a value and its interval."""
_GAP = "  "
_LEAST_WIDTH, _LEAST_NAME = 40, 12
_MOST_ROWS = 50


class Column(NamedTuple):
    """A column of text."""

    head: str
    cells: list[str]
    is_text: bool = False

    @property
    def width(self) -> int:
        return max(map(measure_width, [self.head, *self.cells]))


def write_plain(findings: Findings, width: int, hint: str = "") -> str:
    """Return the decision in lines of at most this width; `hint` tells where what is left out is."""
    width = max(width, _LEAST_WIDTH)
    verdict = findings.verdict
    blocks = [_wrap(f"{_start_with_status(findings)}.", width)]
    left_out: list[str] = []
    if len(findings.cases) == 1:
        lines, left_out = _write_models(findings, findings.cases[0][0], width)
        blocks.append(lines)
    elif findings.cases:
        blocks.append(_write_cases(findings, width))
    question = describe_question(findings)
    if question and not findings.goal.is_of_curve and "alerts" not in findings.goal.targets:
        question += f"; alerts {say_cases(findings.evidence.per)}"
    rest = [question, *verdict.reasons, verdict.would_settle]
    foot = _wrap(" ".join(f"{text[:1].upper()}{text[1:]}." for text in rest if text), width)
    if left_out:
        foot += _wrap(f"left out: {', '.join(left_out)}{hint}", width)
    return "\n\n".join("\n".join(lines) for lines in (*blocks, foot) if lines)


def _start_with_status(findings: Findings) -> str:
    """Return the sentence of the verdict after its status, which is not said twice."""
    status, sentence = describe_status(findings), findings.verdict.sentence
    if sentence.lower().startswith(f"{status}:"):
        return f"{status.upper()}{sentence[len(status) :]}"
    return f"{status.upper()}: {sentence}"


def _wrap(text: str, width: int) -> list[str]:
    """Return the text in lines; none ends inside a number."""
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [_clean(line) for line in lines]


def _clean(text: str) -> str:
    return make_harmless(text.replace(NO_BREAK, " "))


def _write_models(findings: Findings, case: Case, width: int) -> tuple[list[str], list[str]]:
    """Return the lines of the table of models, and the heads of what does not fit."""
    shown = list(case.candidates[:_MOST_ROWS])
    columns, spare = list_columns(findings, case, shown)
    left_out = []
    while _measure(column.width for column in columns) > width:
        droppable = [name for name in spare if any(column.head == name for column in columns)]
        if not droppable:
            break
        left_out.append(droppable[0])
        columns = [column for column in columns if column.head != droppable[0]]
    return list(_lay_out(columns, width)), left_out


def list_columns(
    findings: Findings, case: Case, shown: Sequence[Candidate]
) -> tuple[list[Column], list[str]]:
    """Return the columns of models in order, and the heads of those that may go, in that order."""

    def fill(say: Callable[[Candidate], Words]) -> list[str]:
        return [_write(say(each)) if each.is_met else "-" for each in shown]

    columns = []
    if any(each.model is not None for each in shown):
        columns.append(Column("model", [_clean(name_model(each)) for each in shown], is_text=True))
    level = format_level(findings.confidence).replace(NO_BREAK, " ")
    head = name_precision(case).replace("100 alerts", "100")
    right = Column(head, fill(lambda of: say_precision(case, of.precision)))
    if case.goal.merit not in ("precision", "recall"):
        columns.append(Column(name_metric(case.goal.merit), fill(say_merit)))
    if case.goal.is_of_curve:
        return columns, []
    found = Column("found", fill(say_found))
    alerts = Column(f"alerts ({level})", fill(lambda of: say_within(of.read("alerts"), say_two)))
    first = [found, right] if case.goal.merit == "recall" else [right, alerts]
    others = [alerts] if case.goal.merit == "recall" else [found]
    score = Column("score", fill(lambda of: shorten_threshold(case, of)))
    counts = [Column(name, fill(partial(_say_count, name=name))) for name in ("tp", "fp")]
    has_scores = any(cell not in ("", "-") for cell in score.cells)
    columns += [*first, *([score] if has_scores else []), *others, *counts]
    spare = ["fp", "tp", others[0].head, "score"]
    return columns, spare if case.goal.merit in ("precision", "recall") else [*spare, alerts.head]


def _say_count(candidate: Candidate, name: str) -> str:
    value = candidate.row[name]
    return "-" if value is None else format_count(value)


def _say_precision(candidate: Candidate) -> Words:
    return say_within(candidate.precision, say_points)


def _write(words: Words) -> str:
    """Return a value, and its interval in brackets if there is one."""
    return _clean(words if isinstance(words, str) else join_within(*words))


def _write_cases(findings: Findings, width: int) -> list[str]:
    """Return a line per case: values of the models and their intervals, or which is better there."""
    shown = findings.cases[:_MOST_ROWS]
    cases = [case for case, _ in shown]
    names = list(map(_clean, name_cases(cases)))
    verdicts = Column("verdict", [_clean(say_short(*each)) for each in shown], is_text=True)
    merit = findings.goal.merit
    of_merit = merit in ("precision", "recall")
    unit, say = ("of 100 right", _say_precision) if of_merit else (name_metric(merit), say_merit)
    if findings.has_one_model:
        firsts = [case.candidates[0] for case in cases]
        values = [_write(say(of)) if of.is_met else "-" for of in firsts]
        columns = [Column("where", names, is_text=True), Column(unit, values), verdicts]
    else:
        models = {of.model: _clean(name_model(of)) for of in cases[0].candidates}
        columns = [Column(unit, names, is_text=True)]
        for model in sorted(models, key=str):
            rows = [next((of for of in case.candidates if of.model == model), None) for case in cases]
            values = [_write(say(of)) if of is not None and of.is_met else "-" for of in rows]
            columns.append(Column(models[model], values))
        columns += [verdicts] if len(set(verdicts.cells)) > 1 else []
        if _measure(column.width for column in columns) > width:
            columns = [Column("where", names, is_text=True), verdicts]
    lines = list(_lay_out(columns, width))
    more = len(findings.cases) - len(shown)
    return [*lines, f"{more} more"] if more > 0 else lines


def _measure(widths: Iterable[int]) -> int:
    """Return the width of a line of columns."""
    return sum(width + len(_GAP) for width in widths) - len(_GAP)


def _lay_out(columns: Sequence[Column], width: int) -> Iterator[str]:
    """Yield the lines of a table; the first column is cut if all are too wide together."""
    widths = [column.width for column in columns]
    too_much = _measure(widths) - width
    if too_much > 0 and columns[0].is_text:
        widths[0] = max(widths[0] - too_much, _LEAST_NAME)
    for cells in zip(*([column.head, *column.cells] for column in columns), strict=True):
        padded = (
            pad_text(cut_text(cell, room), room, right=not column.is_text)
            for cell, room, column in zip(cells, widths, columns, strict=True)
        )
        yield _GAP.join(padded).rstrip()
