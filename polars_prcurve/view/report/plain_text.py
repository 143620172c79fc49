"""A decision as text, for terminals and for the card of a model: verdict, values, what would settle it.

Where a terminal is narrow, columns go in an order, but never that of the value which the verdict speaks
of, and then names are cut. The last line says what was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from polars_prcurve.core.ground.safe_text import format_count
from polars_prcurve.core.ground.terminal_text import (
    cut_text,
    fill_lines,
    make_harmless,
    measure_width,
    pad_text,
)
from polars_prcurve.core.judging.case_status import Candidate, Case
from polars_prcurve.view.report import decision_html as document
from polars_prcurve.view.verdicts.case_places import say_place
from polars_prcurve.view.verdicts.decision_in_words import Findings, list_all_names
from polars_prcurve.view.verdicts.value_phrases import (
    join_within,
    name_model,
    name_precision,
    say_alerts,
    say_found,
    say_merit,
    say_of_100,
    say_precision,
    start_sentence,
)
from polars_prcurve.view.verdicts.verdict_of_all_cases import say_short, say_status
from polars_prcurve.view.words.number_words import NO_BREAK, format_level, say_cases
from polars_prcurve.view.words.value_names import isolate_name, mark_names, name_metric

_GAP = "  "  # between columns, which have no lines
_LEAST_WIDTH = 40  # characters of a line, however narrow the terminal says it is
_LEAST_NAME = 12  # characters that names of models and groups keep, at least
_MOST_ROWS = 50  # models or cases, at most: more scroll off a terminal


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
    status, sentence = say_status(findings), verdict.sentence
    if sentence.lower().startswith(f"{status}:"):  # which is not said twice
        sentence = sentence[len(status) + 2 :]
    line_blocks = [_wrap(f"{status.upper()}: {sentence}.", width)]
    hidden_heads: list[str] = []
    if len(findings.cases) == 1:
        [case] = findings.cases
        text_columns, spare_heads = list_columns(findings, case, case.candidates[:_MOST_ROWS])
        for head in spare_heads:
            if _measure(text_columns) <= width:
                break
            hidden_heads += [
                text_column.head for text_column in text_columns if text_column.head == head
            ]
            text_columns = [text_column for text_column in text_columns if text_column.head != head]
        line_blocks.append(list(_lay_out(text_columns, width)))
    elif findings.cases:
        line_blocks.append(_write_cases(findings, width))
    question = document.describe_question(findings)
    if question and not findings.goal.is_of_curve and "alerts" not in findings.goal.targets:
        question += f"; alerts {say_cases(findings.evidence.per)}"
    sentences = [question, *verdict.reasons, verdict.would_settle]
    foot_lines = _wrap(" ".join(f"{start_sentence(text)}." for text in sentences if text), width)
    if hidden_heads:
        foot_lines += _wrap(f"left out: {', '.join(hidden_heads)}{hint}", width)
    return "\n\n".join("\n".join(lines) for lines in (*line_blocks, foot_lines) if lines)


def _wrap(text: str, width: int) -> list[str]:
    """Return the text in lines; none ends inside a number."""
    return list(map(_clean, fill_lines(text, width)))


def _clean(text: str) -> str:
    return make_harmless(text.replace(NO_BREAK, " "))


def list_columns(
    findings: Findings, case: Case, candidates: Sequence[Candidate]
) -> tuple[list[Column], list[str]]:
    """Return the columns of models in order, and the heads of those that may go, in that order."""

    def fill(say: Callable[[Candidate], tuple[str, str]]) -> list[str]:
        return [_write(say, candidate) for candidate in candidates]

    text_columns = []
    if any(candidate.model is not None for candidate in candidates):
        text_columns.append(
            Column("model", [_clean(name_model(candidate)) for candidate in candidates], is_text=True)
        )
    level_text = format_level(findings.confidence).replace(NO_BREAK, " ")
    head = name_precision(case).replace("100 alerts", "100")
    precision_column = Column(head, fill(lambda candidate: say_precision(case, candidate.precision)))
    if not case.goal.is_of_rate:
        text_columns.append(Column(name_metric(case.goal.merit_column), fill(say_merit)))
    if case.goal.is_of_curve:
        return text_columns, []
    recall_column = Column("found", fill(say_found))
    alerts_column = Column(f"alerts ({level_text})", fill(say_alerts))
    first_columns, last_column = [precision_column, alerts_column], recall_column
    if case.goal.merit_column == "recall":
        first_columns, last_column = [recall_column, precision_column], alerts_column
    score_column = Column("score", fill(lambda candidate: (document.say_score(candidate), "")))
    candidate_rows = [candidate.row if candidate.meets_targets else {} for candidate in candidates]
    count_columns = [
        Column(
            name, ["-" if row.get(name) is None else format_count(row[name]) for row in candidate_rows]
        )
        for name in ("tp", "fp")
    ]
    has_scores = any(cell not in ("", "-") for cell in score_column.cells)
    text_columns += [
        *first_columns,
        *([score_column] if has_scores else []),
        last_column,
        *count_columns,
    ]
    spare = ["fp", "tp", last_column.head, "score", alerts_column.head]
    return text_columns, [
        *spare,
        *([] if case.goal.merit_column == "precision" else [precision_column.head]),
    ]


def _write(say: Callable[[Candidate], tuple[str, str]], candidate: Candidate | None) -> str:
    """Return a value of a model, and its interval in brackets; a dash if the targets are not met."""
    if candidate is None or not candidate.meets_targets:
        return "-"
    return _clean(join_within(*say(candidate)))


def _write_cases(findings: Findings, width: int) -> list[str]:
    """Return a line per case: values of the models and their intervals, or which is better there."""
    cases = findings.cases[:_MOST_ROWS]
    case_names = [_clean(case.name) for case in cases]
    verdict_column = Column("verdict", [_clean(say_short(case)) for case in cases], is_text=True)
    metric_name = findings.goal.merit_column
    is_of_rate = findings.goal.is_of_rate
    unit_name, say_value = (
        ("of 100 right", say_of_100) if is_of_rate else (name_metric(metric_name), say_merit)
    )
    if findings.has_one_model:
        value_texts = [_write(say_value, case.candidates[0]) for case in cases]
        text_columns = [
            Column("where", case_names, is_text=True),
            Column(unit_name, value_texts),
            verdict_column,
        ]
    else:
        name_of_model = {
            candidate.model: _clean(name_model(candidate)) for candidate in cases[0].candidates
        }
        text_columns = [Column(unit_name, case_names, is_text=True)]
        for model in sorted(name_of_model, key=str):
            cells = [_write(say_value, find_candidate(case, model)) for case in cases]
            text_columns.append(Column(name_of_model[model], cells))
        text_columns += [verdict_column] if len(set(verdict_column.cells)) > 1 else []
        if _measure(text_columns[1:]) > width - len(_GAP):
            text_columns = [Column("where", case_names, is_text=True), verdict_column]
    if _measure(text_columns) <= width:
        lines = list(_lay_out(text_columns, width))
    else:  # names have lines of their own
        rows_of_values = _lay_out(text_columns[1:], width - len(_GAP))
        named_rows = zip(["", *text_columns[0].cells], rows_of_values, strict=True)
        lines = [line for name, row in named_rows for line in (*fill_lines(name, width), _GAP + row)]
    n_left = len(findings.cases) - len(cases)
    return [*lines, f"{n_left} more"] if n_left > 0 else lines


def find_candidate(case: Case, model: Any) -> Candidate | None:
    """Return a model of a case by its name; None if the case does not have it."""
    return next((candidate for candidate in case.candidates if candidate.model == model), None)


def _measure(text_columns: Sequence[Column]) -> int:
    return sum(text_column.width + len(_GAP) for text_column in text_columns) - len(_GAP)


def _lay_out(text_columns: Sequence[Column], width: int) -> Iterator[str]:
    """Yield the lines of a table; the first column is cut if all are too wide together."""
    widths, excess = [text_column.width for text_column in text_columns], _measure(text_columns) - width
    if excess > 0 and text_columns[0].is_text:
        widths[0] = max(widths[0] - excess, _LEAST_NAME)
    for cells in zip(
        *([text_column.head, *text_column.cells] for text_column in text_columns), strict=True
    ):
        padded_cells = (
            pad_text(cut_text(cell, cell_width), cell_width, is_right=not text_column.is_text)
            for cell, cell_width, text_column in zip(cells, widths, text_columns, strict=True)
        )
        yield _GAP.join(padded_cells).rstrip()


# Markdown ------------------------------------------------------------------------------------------

_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|"})
"""Markdown's own signs, each with the backslash that shows it as it is."""


def write_model_card(findings: Findings, date: str | None) -> str:
    """Return the card; every number in it is in the decision."""
    verdict, level_text = findings.verdict, format_level(findings.confidence)
    lines = [f"**{_escape(verdict.sentence)}** ({say_status(findings)}, {level_text})", ""]
    if findings.cases and findings.group_tests is None:
        lines += [*_write_markdown_table(findings), ""]
    lines += [f"{_escape(start_sentence(reason))}." for reason in verdict.reasons]
    basis_text = (
        f"{document.describe_test(findings, date)}. {document.describe_intervals(findings)} Rows are "
        "taken as independent unless clusters were named. It holds where positives and negatives "
        "resemble those tested."
    )
    card_text = "\n".join([*lines, _escape(basis_text), ""])
    return mark_names(card_text, map(_escape, list_all_names(findings)), isolate_name)


def _write_markdown_table(findings: Findings) -> list[str]:
    case = findings.cases[0]
    candidates = document.choose_pair(case) if len(case.candidates) > 1 else list(case.candidates)
    model_names = ["" if candidate.model is None else name_model(candidate) for candidate in candidates]

    def write(row_title: str, show: Callable[[Candidate], tuple[str, str]]) -> str:
        cells = [
            _escape(join_within(*show(candidate))) if candidate.meets_targets else "–"
            for candidate in candidates
        ]
        return f"| {row_title} | {' | '.join(cells)} |"

    has_one_case = len(findings.cases) == 1
    place_phrase = start_sentence(say_place(case))
    heading = document.describe_question(findings) if has_one_case else place_phrase
    table_lines = [
        f"| {_escape(heading)} | {' | '.join(map(_escape, model_names))} |",
        f"|---|{'---|' * len(candidates)}",
        write(
            f"{name_precision(case)} (PPV)", lambda candidate: say_precision(case, candidate.precision)
        ),
    ]
    if case.goal.is_of_curve:
        return [*table_lines, write(name_metric(case.goal.merit_column), say_merit)]
    return [
        *table_lines,
        write(f"alerts {say_cases(case.per)}", say_alerts),
        write("positives found (sensitivity)", say_found),
        write("score threshold", lambda candidate: (document.say_score(candidate), "")),
    ]


def _escape(text: str) -> str:
    """Return the text with Markdown's own signs shown as they are."""
    return text.translate(_ESCAPES)
