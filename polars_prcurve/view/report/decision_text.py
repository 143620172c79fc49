"""A decision as text, for terminals and for the card of a model: verdict, values, what would settle it.

Where a terminal is narrow, names are cut and the last columns go, but never that of the value which the
verdict speaks of. The last line names what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from polars_prcurve.core.ground.terminal_text import (
    TextColumn,
    fill_lines,
    lay_out,
    make_harmless,
    measure_columns,
    measure_width,
)
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.view.report import decision_columns as columns
from polars_prcurve.view.report.decision_notes import (
    describe_dependence,
    describe_intervals,
    describe_levels,
    describe_test,
)
from polars_prcurve.view.verdicts.case_places import list_all_names
from polars_prcurve.view.verdicts.verdict_of_all_cases import say_status, sum_up
from polars_prcurve.view.words.number_words import NO_BREAK, keep_together, say_dropped_rows
from polars_prcurve.view.words.shown_names import (
    isolate_name,
    mark_names,
    name_metric,
    show_on_one_line,
    start_sentence,
)

_LEAST_WIDTH = 40  # characters of a line, however narrow the terminal claims to be
_LEAST_NAME = 10  # characters that names of models and groups keep where columns can go instead
_LEAST_LETTERS = 5  # characters that they keep at least
_CLINICAL_NAMES = {"precision": "precision (PPV)", "recall": "recall (sensitivity)"}
_MOST_ROWS = 50  # models or cases, at most: more scroll off a terminal


def write_plain(judgement: Judgement, width: int, hint: str = "") -> str:
    """Return the decision in lines of at most this width; `hint` is where to find what is left out."""
    width = max(width, _LEAST_WIDTH)
    verdict = sum_up(judgement)
    status_text, verdict_sentence = say_status(judgement), verdict.sentence
    headline = f"{verdict_sentence}."
    if status_text and verdict_sentence.lower().startswith(status_text):  # which is not printed twice
        headline = f"{status_text.upper()}{headline[len(status_text) :]}"
    elif status_text:
        opening = f"The scores are {status_text}: "
        rest_of_headline = _continue_sentence(judgement, headline.removeprefix(opening))
        headline = f"{status_text.upper()}: {rest_of_headline}"
    line_blocks = [_wrap(headline, width)]
    text_columns, hidden_heads = _choose_columns(judgement, width)
    if text_columns:
        line_blocks.append(_lay_out(text_columns, width))
    n_cases_left_out = len(judgement.cases) - _MOST_ROWS
    if n_cases_left_out > 0:
        line_blocks[-1].append(f"{n_cases_left_out} more")
    dropped_rows = judgement.dropped_rows
    dropped_text = "" if dropped_rows is None else say_dropped_rows(dropped_rows)
    foot_sentences = [verdict.conditions, describe_levels(judgement), dropped_text, *verdict.reasons]
    foot_text = " ".join(
        f"{start_sentence(sentence)}."
        for sentence in [*foot_sentences, verdict.would_settle]
        if sentence
    )
    foot_lines = _wrap(foot_text, width)
    if hidden_heads:
        foot_lines += _wrap(f"Not shown: {', '.join(hidden_heads)}{hint}.", width)
    return "\n\n".join("\n".join(lines) for lines in (*line_blocks, foot_lines) if lines)


def _choose_columns(judgement: Judgement, width: int) -> tuple[list[TextColumn], list[str]]:
    """Return the columns that fit, and the heads of others; none if no model has a value.

    The last ones go first, but never the names and the value which the verdict speaks of.
    """
    cases = columns.sort_cases(judgement)[:_MOST_ROWS]
    text_columns, hidden_heads = columns.list_text_columns(judgement, cases), []
    if text_columns and len(cases) > 1 and not judgement.has_one_model:
        hidden_heads = columns.name_absent_columns(judgement.goal)
        if _measure_least(text_columns) > width:
            text_columns = columns.list_pair_columns(judgement, cases)
            hidden_heads += columns.name_absent_models(cases)
    first_value_column = next((column for column in text_columns if column.spans), None)
    # What a gate tests is never hidden where there is room for intervals below values.
    goal = judgement.goal
    limited_names = {"threshold", *goal.columns_of_limits} if goal.demand else set()
    for column in text_columns[:0:-1]:
        is_needed = column is first_value_column or column.shown_names in (["model"], ["eta"])
        is_limited = not limited_names.isdisjoint(column.shown_names)
        narrow_columns = [*map(_put_intervals_below, text_columns)] if is_limited else text_columns
        if _measure_least(narrow_columns) > width and not is_needed:
            hidden_heads.append(column.head)
            text_columns.remove(column)
    return text_columns, hidden_heads


def _continue_sentence(judgement: Judgement, sentence: str) -> str:
    """Return a sentence as it goes on after a colon; a name at its start keeps its capital."""
    first_word = sentence.partition(" ")[0]
    names = (*list_all_names(judgement.cases), name_metric(judgement.goal.merit_column))
    has_capital = first_word[1:] == first_word[1:].lower()
    if not has_capital or any(sentence.startswith(name) for name in names):
        return sentence
    return f"{sentence[:1].lower()}{sentence[1:]}"


def _wrap(text: str, width: int) -> list[str]:
    """Return the text in lines; none ends inside an interval, or between a number and its unit."""
    return list(map(_clean, fill_lines(keep_together(text), width)))


def _clean(text: str) -> str:
    return make_harmless(text.replace(NO_BREAK, " "))


def _cut_names(column: TextColumn, width: int) -> TextColumn:
    """Return a column of names in about this width, but with its whole head; others stay as they are."""
    if not column.is_text or "verdict" in column.shown_names:
        return column
    return column.cut(max(width, _LEAST_LETTERS, *map(measure_width, column.head.split("\n"))))


def _put_intervals_below(column: TextColumn) -> TextColumn:
    """Return a column with intervals below values, and its head in lines as narrow as these."""
    values_width = column._replace(head="", level="", is_stacked=True).width
    head_lines = fill_lines(keep_together(column.texts[0]), values_width)
    return column._replace(head="\n".join(map(_clean, head_lines)), level="", is_stacked=True)


def _measure_least(text_columns: Sequence[TextColumn]) -> int:
    """Return the width of columns of which those of names are cut as far as is allowed."""
    return measure_columns([_cut_names(column, _LEAST_NAME) for column in text_columns])


def _lay_out(text_columns: Sequence[TextColumn], width: int) -> list[str]:
    """Return the lines of a table: names are cut to fit, and then intervals stand below their values."""
    text_columns = [
        column._replace(
            head=_clean(column.head),
            cells=[*map(_clean, column.cells)],
            spans=[*map(_clean, column.spans)],
        )
        for column in text_columns
    ]
    if _measure_least(text_columns) > width:
        text_columns = [*map(_put_intervals_below, text_columns)]
    for column_number, column in enumerate(text_columns):
        excess_width = measure_columns(text_columns) - width
        if excess_width > 0:
            text_columns[column_number] = _cut_names(column, column.width - excess_width)
    if measure_columns(text_columns) > width and text_columns[1].shown_names == ["eta"]:
        place_column, eta_column, *value_columns = text_columns  # prevalences stand below groups
        cell_texts = [*map("\n".join, zip(place_column.cells, eta_column.cells, strict=True))]
        text_columns = [place_column._replace(cells=cell_texts), *value_columns]
    return [line for lines in lay_out(text_columns) for line in lines]


# Markdown ------------------------------------------------------------------------------------------

_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|&~$"})
"""Markdown's own signs, each with the backslash that shows it as it is."""
_JOINER = "\u2060"  # unseen; behind @ it keeps a name from being a mention on GitHub
_LINKED = re.compile(r"(?i)\b(?:(https?|ftp)(?=://)|(www)(?=\.))")
"""What begins an address, and is a link without any sign of Markdown."""


def write_model_card(judgement: Judgement, date_text: str | None) -> str:
    """Return the card; every number in it is in the decision."""
    verdict, status_text = sum_up(judgement), say_status(judgement)
    card_lines = [f"**{_escape(verdict.sentence)}**{f' ({status_text})' if status_text else ''}", ""]
    table_lines = _write_markdown_table(judgement)
    card_lines += [*table_lines, ""] if table_lines else []
    card_lines += [f"{_escape(start_sentence(reason))}." for reason in verdict.reasons]
    test_text = describe_test(judgement, date_text and show_on_one_line(date_text))
    basis_text = f"{test_text}. {describe_intervals(judgement)} "
    if not judgement.goal.mean_over:
        basis_text += f"{describe_dependence(judgement)} "
    basis_text += f"{verdict.conditions}." if verdict.conditions else ""
    card_text = "\n".join([*card_lines, _escape(basis_text.rstrip()), ""])
    return mark_names(card_text, map(_escape, list_all_names(judgement.cases)), isolate_name)


def _write_markdown_table(judgement: Judgement) -> list[str]:
    text_columns = columns.list_text_columns(judgement, columns.sort_cases(judgement))
    if not text_columns:
        return []
    if len(judgement.cases) == 1:
        [case] = judgement.cases
        text_columns += columns.list_positives(case, case.candidates[: columns.MOST_MODELS])
    text_columns = [
        column._replace(head=_CLINICAL_NAMES.get(column.head, column.head)) for column in text_columns
    ]
    heads, *rows = zip(*(column.texts for column in text_columns), strict=True)
    table_rows = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(map(_escape, row_cells))} |" for row_cells in table_rows]


def _escape(text: str) -> str:
    """Return the text with Markdown's own signs shown as they are."""
    return _LINKED.sub(r"\g<0>\\", text.translate(_ESCAPES)).replace("@", f"\\@{_JOINER}")
