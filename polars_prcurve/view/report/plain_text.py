"""A decision as text, for terminals and for the card of a model: verdict, values, what would settle it.

Where a terminal is narrow, columns go in an order, but never that of the value which the verdict speaks
of, and then names are cut. The last line names what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polars_prcurve.core.ground.terminal_text import (
    GAP,
    TextColumn,
    fill_lines,
    lay_out,
    make_harmless,
    measure_columns,
    measure_width,
    pad_text,
)
from polars_prcurve.core.judging.case_status import Candidate, Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.view.report import decision_html as document
from polars_prcurve.view.verdicts.decision_in_words import Findings, list_all_names
from polars_prcurve.view.verdicts.value_phrases import (
    list_metrics,
    name_merit,
    name_model,
    start_sentence,
    write_metric,
)
from polars_prcurve.view.verdicts.verdict_of_all_cases import WordedCase, say_short, say_status
from polars_prcurve.view.words.number_words import (
    NO_BREAK,
    keep_together,
    say_cases,
    say_dropped_rows,
    say_share,
)
from polars_prcurve.view.words.value_names import isolate_name, mark_names, name_metric, show_on_one_line

_LEAST_WIDTH = 40  # characters of a line, however narrow the terminal claims to be
_LEAST_NAME = 12  # characters that names of models and groups keep, at least
_MOST_ROWS = 50  # models or cases, at most: more scroll off a terminal


def write_plain(findings: Findings, width: int, hint: str = "") -> str:
    """Return the decision in lines of at most this width; `hint` is where to find what is left out."""
    width = max(width, _LEAST_WIDTH)
    verdict = findings.verdict
    status, sentence = say_status(findings), verdict.sentence
    headline = f"{sentence}."
    if status and sentence.lower().startswith(status):  # which is not printed twice
        headline = f"{status.upper()}{headline[len(status) :]}"
    elif status:
        opening = f"The scores are {status}: "
        rest = _continue_sentence(findings, headline.removeprefix(opening))
        headline = f"{status.upper()}: {rest}"
    line_blocks = [_wrap(headline, width)]
    hidden_heads: list[str] = []
    if len(findings.cases) == 1:
        [case] = findings.cases
        text_columns, spare_heads = list_columns(findings, case, case.candidates[:_MOST_ROWS])
        for head in spare_heads:
            if measure_columns(text_columns) <= width:
                break
            hidden_heads += [
                text_column.head for text_column in text_columns if text_column.head == head
            ]
            text_columns = [text_column for text_column in text_columns if text_column.head != head]
        if any(candidate.meets_targets for candidate in case.candidates):
            line_blocks.append(list(_lay_out(text_columns, width)))
    elif findings.cases:
        case_lines, hidden_heads = _write_cases(findings, width)
        line_blocks.append(case_lines)
    dropped_rows = findings.dropped_rows
    note = "" if dropped_rows is None else say_dropped_rows(dropped_rows)
    sentences = [verdict.conditions, note, *verdict.reasons, verdict.would_settle]
    foot_lines = _wrap(" ".join(f"{start_sentence(text)}." for text in sentences if text), width)
    if hidden_heads:
        foot_lines += _wrap(f"left out: {', '.join(hidden_heads)}{hint}", width)
    return "\n\n".join("\n".join(lines) for lines in (*line_blocks, foot_lines) if lines)


def _continue_sentence(findings: Findings, sentence: str) -> str:
    """Return a sentence as it goes on after a colon; a name at its start keeps its capital."""
    first_word = sentence.partition(" ")[0]
    names = (*list_all_names(findings), name_metric(findings.goal.merit_column))
    has_capital = first_word[1:] == first_word[1:].lower()
    if not has_capital or any(sentence.startswith(name) for name in names):
        return sentence
    return f"{sentence[:1].lower()}{sentence[1:]}"


def _wrap(text: str, width: int) -> list[str]:
    """Return the text in lines; none ends inside an interval, or between a number and its unit."""
    return list(map(_clean, fill_lines(keep_together(text), width)))


def _clean(text: str) -> str:
    return make_harmless(text.replace(NO_BREAK, " "))


def list_columns(
    findings: Findings, case: Case, candidates: Sequence[Candidate]
) -> tuple[list[TextColumn], list[str]]:
    """Return the columns of models in order, and the heads of those that may go, in that order."""

    def fill(name: str) -> list[str]:
        return [_write(candidate, name) for candidate in candidates]

    goal, text_columns = case.goal, []
    if any(candidate.model is not None for candidate in candidates):
        model_names = [_clean(name_model(candidate)) for candidate in candidates]
        text_columns.append(TextColumn("model", model_names, is_text=True))
    level_text = _clean(document.describe_level(findings))
    text_columns += _list_thresholds(goal, candidates)
    first, *others = list_metrics(goal)
    text_columns.append(TextColumn(f"{name_metric(first)} ({level_text} CI)", fill(first)))
    head_of_name = {name: name_metric(name) for name in others}
    if goal.is_of_curve and not goal.mean_over:  # how many alerts are true is no area
        head_of_name["precision"] = f"precision at {say_share(0.5)} recall"
    text_columns += [TextColumn(head, fill(name)) for name, head in head_of_name.items()]
    return text_columns, [*reversed(head_of_name.values())]


def _list_thresholds(goal: Goal, candidates: Sequence[Candidate]) -> list[TextColumn]:
    """Return the column of thresholds; none if no model has one."""
    cells = [_clean(document.say_score(candidate)) or "-" for candidate in candidates]
    return [] if goal.is_of_curve or {*cells} <= {"-"} else [TextColumn("threshold", cells)]


def _write(candidate: Candidate | None, name: str) -> str:
    """Return a value of a model, and its interval in brackets; a dash if the targets are not met."""
    if candidate is None or not candidate.meets_targets:
        return "-"
    return _clean(write_metric(candidate, name))


def _write_cases(findings: Findings, width: int) -> tuple[list[str], list[str]]:
    """Return a line per case with the values of its models, and the heads of columns without room.

    If columns of several models are too wide, there is a line per model.
    """
    cases = document.sort_cases(findings)[:_MOST_ROWS]
    text_columns = _list_case_columns(findings, cases)
    if not findings.has_one_model and measure_columns(text_columns[1:]) > width - len(GAP):
        text_columns = _list_pair_columns(findings, cases)
    spare_heads, hidden_heads = ["verdict", "threshold"], []
    if findings.goal.is_at_threshold:  # whose conditions name the threshold
        spare_heads.reverse()
    other_names = document.choose_columns(findings.goal)[1:]
    for head in (*spare_heads, *map(name_metric, reversed(other_names))):
        is_spare = [text_column.head == head for text_column in text_columns]
        if any(is_spare) and measure_columns(text_columns[1:]) > width - len(GAP):
            hidden_heads.append(head)
            text_columns = [column for column in text_columns if column.head != head]
    lines = list(_lay_out(text_columns, width) if measure_columns(text_columns) <= width else ())
    n_left = len(findings.cases) - len(cases)
    lines = lines or list(_stack_names(text_columns, width))
    return [*lines, *([f"{n_left} more"] if n_left > 0 else [])], hidden_heads


def _stack_names(text_columns: Sequence[TextColumn], width: int) -> Iterator[str]:
    """Yield the lines of a table, with names that have no room beside their values above these."""
    names, *value_columns = text_columns
    room = width - measure_columns(value_columns) - len(GAP)
    cells = [names.head, *names.cells]
    widths_in_row = [measure_width(cell) for cell in cells if measure_width(cell) <= room]
    names_width = max(widths_in_row) if 2 * len(widths_in_row) > len(cells) else 0
    rows_of_values = _lay_out(value_columns, width - names_width - len(GAP))
    for cell, row in zip(cells, rows_of_values, strict=True):
        has_room = measure_width(cell) <= names_width
        yield from () if has_room else fill_lines(cell, width)
        yield pad_text(cell if has_room else "", names_width, is_right=False) + GAP + row


def _list_pair_columns(findings: Findings, cases: Sequence[WordedCase]) -> list[TextColumn]:
    """Return the columns of the two models of each case that a document draws, one below the other."""
    name, *_ = document.choose_columns(findings.goal)
    rows = [
        (_clean(case.name) if number == 0 else "", _clean(name_model(model)), _write(model, name))
        for case in cases
        for number, model in enumerate(document.choose_pair(case))
    ]
    case_names, model_names, values = map(list, zip(*rows, strict=True))
    return [
        TextColumn("where", case_names, is_text=True),
        TextColumn("model", model_names, is_text=True),
        TextColumn(f"{name_metric(name)} ({_clean(document.describe_level(findings))} CI)", values),
    ]


def _list_case_columns(findings: Findings, cases: Sequence[WordedCase]) -> list[TextColumn]:
    """Return the columns of cases: name, threshold and value of one model, or values of each model."""
    name, *other_names = document.choose_columns(findings.goal)
    level_text = _clean(document.describe_level(findings))
    value_head = f"{name_metric(name)} ({level_text} CI)"
    case_names = [_clean(case.name) for case in cases]
    verdict_column = TextColumn("verdict", [_clean(say_short(case)) for case in cases], is_text=True)
    if findings.has_one_model:
        candidates = [case.candidates[0] for case in cases]
        return [
            TextColumn("where", case_names, is_text=True),
            *_list_thresholds(findings.goal, candidates),
            TextColumn(value_head, [_write(candidate, name) for candidate in candidates]),
            *(
                TextColumn(
                    name_metric(other_name), [_write(candidate, other_name) for candidate in candidates]
                )
                for other_name in other_names
            ),
            *([verdict_column] if any(verdict_column.cells) else []),
        ]
    name_of_model = {candidate.model: _clean(name_model(candidate)) for candidate in cases[0].candidates}
    models = sorted(name_of_model, key=str)
    value_columns = [
        TextColumn(name_of_model[model], [_write(case.find_candidate(model), name) for case in cases])
        for model in models
    ]
    is_shown = len(set(verdict_column.cells)) > 1
    names = TextColumn(value_head, case_names, is_text=True)
    return [names, *value_columns, *([verdict_column] if is_shown else [])]


def _lay_out(text_columns: Sequence[TextColumn], width: int) -> Iterator[str]:
    """Yield the lines of a table; the first column is cut if all are too wide together."""
    names, excess = text_columns[0], measure_columns(text_columns) - width
    if excess > 0 and names.is_text:
        text_columns = [names.cut(max(names.width - excess, _LEAST_NAME)), *text_columns[1:]]
    for lines in lay_out(text_columns):
        yield from lines


# Markdown ------------------------------------------------------------------------------------------

_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|&~$"})
"""Markdown's own signs, each with the backslash that shows it as it is."""
_JOINER = "\u2060"  # unseen; behind @ it keeps a name from being a mention on GitHub
_LINKED = re.compile(r"(?i)\b(?:(https?|ftp)(?=://)|(www)(?=\.))")
"""What begins an address, and is a link without any sign of Markdown."""


def write_model_card(findings: Findings, date: str | None) -> str:
    """Return the card; every number in it is in the decision."""
    verdict, status = findings.verdict, say_status(findings)
    lines = [f"**{_escape(verdict.sentence)}**{f' ({status})' if status else ''}", ""]
    candidates = [candidate for case in findings.cases for candidate in case.candidates]
    if any(candidate.meets_targets for candidate in candidates):  # or all cells would be dashes
        lines += [*_write_markdown_table(findings), ""]
    lines += [f"{_escape(start_sentence(reason))}." for reason in verdict.reasons]
    test_text = document.describe_test(findings, date and show_on_one_line(date))
    basis_text = f"{test_text}. {document.describe_intervals(findings)} "
    if not findings.goal.mean_over:
        basis_text += "Rows are taken as independent unless clusters were named. "
    basis_text += f"{verdict.conditions}."
    card_text = "\n".join([*lines, _escape(basis_text), ""])
    return mark_names(card_text, map(_escape, list_all_names(findings)), isolate_name)


def _write_markdown_table(findings: Findings) -> list[str]:
    if len(findings.cases) > 1:
        columns = _list_case_columns(findings, document.sort_cases(findings))
        rows = zip(*(column.cells for column in columns), strict=True)
        lines = [[column.head for column in columns], ["---"] * len(columns), *rows]
        return [f"| {' | '.join(map(_escape, line))} |" for line in lines]
    case = findings.cases[0]
    candidates = document.choose_pair(case) if len(case.candidates) > 1 else list(case.candidates)
    value_head = f"value ({document.describe_level(findings)} CI)"
    heads = [value_head, *map(name_model, candidates)]
    if len(candidates) == 1 and candidates[0].model is None:
        heads = ["", value_head]

    def write(row_title: str, name: str) -> str:
        cells = [
            _escape(write_metric(candidate, name)) if candidate.meets_targets else "–"
            for candidate in candidates
        ]
        return f"| {row_title} | {' | '.join(cells)} |"

    precision_title = "precision (PPV)" + (" at 50% recall" if case.goal.is_of_curve else "")
    table_lines = [
        f"| {' | '.join(map(_escape, heads))} |",
        f"|---|{'---|' * len(candidates)}",
        *([] if case.goal.mean_over else [write(precision_title, "precision")]),
    ]
    if not case.goal.is_of_rate:
        table_lines.append(write(name_merit(case), case.goal.merit_column))
    if case.goal.is_of_curve:
        return table_lines
    thresholds = [_escape(document.say_score(candidate)) for candidate in candidates]
    return [
        *table_lines,
        write("recall (sensitivity)", "recall"),
        write(f"alerts {say_cases(case.per)}", "alerts"),
        *([f"| threshold | {' | '.join(thresholds)} |"] if any(thresholds) else []),
    ]


def _escape(text: str) -> str:
    """Return the text with Markdown's own signs shown as they are."""
    return _LINKED.sub(r"\g<0>\\", text.translate(_ESCAPES)).replace("@", f"\\@{_JOINER}")
