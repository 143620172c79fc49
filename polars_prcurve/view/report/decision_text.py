"""A decision as text, for terminals and for the card of a model: verdict, values, what would settle it.

Where a terminal is narrow, columns go in an order, but never that of the value which the verdict speaks
of, and then names are cut. The last line names what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from polars_prcurve.core.ground.message_text import add_noun
from polars_prcurve.core.ground.terminal_text import (
    TextColumn,
    fill_lines,
    lay_out,
    make_harmless,
    measure_columns,
    measure_width,
)
from polars_prcurve.view.report import decision_columns as columns
from polars_prcurve.view.report.decision_notes import (
    describe_dependence,
    describe_intervals,
    describe_levels,
    describe_test,
    name_interval,
)
from polars_prcurve.view.verdicts.value_phrases import NO_VALUE, count_hits, name_model
from polars_prcurve.view.verdicts.verdict_of_all_cases import say_status
from polars_prcurve.view.verdicts.worded_judgement import WordedJudgement, list_all_names
from polars_prcurve.view.words.names_in_sentences import (
    isolate_name,
    mark_names,
    name_metric,
    show_on_one_line,
    start_sentence,
)
from polars_prcurve.view.words.number_words import NO_BREAK, keep_together, say_cases, say_dropped_rows

_LEAST_WIDTH = 40  # characters of a line, however narrow the terminal claims to be
_LEAST_NAME = 10  # characters that names of models and groups keep where columns can go instead
_LEAST_LETTERS = 5  # characters that they keep at least
_CLINICAL_NAMES = {"precision": "precision (PPV)", "recall": "recall (sensitivity)"}
_MOST_ROWS = 50  # models or cases, at most: more scroll off a terminal


def write_plain(judgement: WordedJudgement, width: int, hint: str = "") -> str:
    """Return the decision in lines of at most this width; `hint` is where to find what is left out."""
    width = max(width, _LEAST_WIDTH)
    verdict = judgement.verdict
    status_text, verdict_sentence = say_status(judgement), verdict.sentence
    headline = f"{verdict_sentence}."
    if status_text and verdict_sentence.lower().startswith(status_text):  # which is not printed twice
        headline = f"{status_text.upper()}{headline[len(status_text) :]}"
    elif status_text:
        opening = f"The scores are {status_text}: "
        rest_of_headline = _continue_sentence(judgement, headline.removeprefix(opening))
        headline = f"{status_text.upper()}: {rest_of_headline}"
    line_blocks = [_wrap(headline, width)]
    hidden_heads: list[str] = []
    if len(judgement.cases) == 1:
        [case] = judgement.cases
        text_columns = columns.list_model_columns(judgement, case, case.candidates[:_MOST_ROWS])
        while measure_columns(text_columns) > width and text_columns[-2].spans:
            hidden_heads.append(text_columns.pop().head)
        if any(candidate.meets_targets for candidate in case.candidates) and not case.lacks_scores:
            line_blocks.append(_lay_out(text_columns, width))
    elif judgement.cases:
        case_lines, hidden_heads = _write_cases(judgement, width)
        line_blocks.append(case_lines)
    dropped_rows = judgement.dropped_rows
    dropped_text = "" if dropped_rows is None else say_dropped_rows(dropped_rows)
    levels_text = describe_levels(judgement)
    conditions_text, alerts_text = verdict.conditions, f"alerts {say_cases(judgement.evidence.per)}"
    if "alerts" in hidden_heads:  # among how many cases these are counted is written once
        conditions_text = conditions_text.replace(f"; {alerts_text}", "")
        hidden_heads[hidden_heads.index("alerts")] = alerts_text
    foot_sentences = [conditions_text, levels_text, dropped_text, *verdict.reasons, verdict.would_settle]
    foot_lines = _wrap(
        " ".join(
            f"{start_sentence(foot_sentence)}." for foot_sentence in foot_sentences if foot_sentence
        ),
        width,
    )
    if hidden_heads:
        foot_lines += _wrap(_name_hidden(hidden_heads, hint), width)
    return "\n\n".join("\n".join(lines) for lines in (*line_blocks, foot_lines) if lines)


TABLE_HINT = "; decision.table has every column"
VERDICTS_HINT = "; decision.verdicts has it"
"""Where columns are that have no room, and where verdicts are."""


def _name_hidden(hidden_heads: Sequence[str], hint: str) -> str:
    """Return which columns have no room, and where they are; verdicts have a table of their own."""
    column_heads = [head for head in hidden_heads if head != "verdict"]
    place_texts = [f"{', '.join(column_heads)}{hint}"] if column_heads else []
    if len(column_heads) < len(hidden_heads):
        place_texts.append(f"verdict{VERDICTS_HINT if hint == TABLE_HINT else ''}")
    return f"Not shown: {'. '.join(place_texts)}."


def _continue_sentence(judgement: WordedJudgement, sentence: str) -> str:
    """Return a sentence as it goes on after a colon; a name at its start keeps its capital."""
    first_word = sentence.partition(" ")[0]
    names = (*list_all_names(judgement), name_metric(judgement.goal.merit_column))
    has_capital = first_word[1:] == first_word[1:].lower()
    if not has_capital or any(sentence.startswith(name) for name in names):
        return sentence
    return f"{sentence[:1].lower()}{sentence[1:]}"


def _wrap(text: str, width: int) -> list[str]:
    """Return the text in lines; none ends inside an interval, or between a number and its unit."""
    return list(map(_clean, fill_lines(keep_together(text), width)))


def _clean(text: str) -> str:
    return make_harmless(text.replace(NO_BREAK, " "))


def _write_cases(judgement: WordedJudgement, width: int) -> tuple[list[str], list[str]]:
    """Return a line per case with the values of its models, and the heads of columns without room.

    If columns of several models are too wide, there is a line per model.
    """
    cases = columns.sort_cases(judgement)[:_MOST_ROWS]
    text_columns = columns.list_case_columns(judgement, cases)
    hidden_heads = [] if judgement.has_one_model else columns.name_columns_of_one(judgement.goal)
    if not judgement.has_one_model and _measure_least(text_columns) > width:
        text_columns = columns.list_pair_columns(judgement, cases)
        hidden_heads += columns.name_absent_models(cases)
    spare_column_names = ["verdict", "threshold"]
    if judgement.goal.is_at_threshold:  # whose conditions name the threshold
        spare_column_names.reverse()
    if judgement.has_one_model:
        other_metric_columns = columns.choose_columns(judgement.goal)[1:]
        if not judgement.goal.is_gate:  # which chose a threshold where these are as wanted
            spare_column_names[1:1] = [
                column_name for column_name in other_metric_columns if column_name != "alerts"
            ]
        spare_column_names += [
            column_name
            for column_name in reversed(other_metric_columns)
            if column_name not in spare_column_names
        ]
    for column_name in spare_column_names:
        spare_columns = [column for column in text_columns if column_name in column.shown_names]
        if spare_columns and _measure_least(text_columns) > width:
            hidden_heads += [column.head for column in spare_columns]
            text_columns = [column for column in text_columns if column not in spare_columns]
    n_cases_left_out = len(judgement.cases) - len(cases)
    lines = _lay_out(text_columns, width)
    return [*lines, *([f"{n_cases_left_out} more"] if n_cases_left_out > 0 else [])], hidden_heads


def _cut_names(column: TextColumn, width: int) -> TextColumn:
    """Return a column of names in about this width, but with its whole head; others stay as they are."""
    if not column.is_text or "verdict" in column.shown_names:
        return column
    return column.cut(max(width, _LEAST_LETTERS, *map(measure_width, column.head.split("\n"))))


def _stack(column: TextColumn) -> TextColumn:
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
        text_columns = [*map(_stack, text_columns)]
    for column_number, column in enumerate(text_columns):
        excess_width = measure_columns(text_columns) - width
        if excess_width > 0:
            text_columns[column_number] = _cut_names(column, column.width - excess_width)
    first_column, *other_columns = text_columns
    if measure_columns(text_columns) > width and "eta" in other_columns[0].shown_names:
        cell_texts = [
            "\n".join(stacked_cells)
            for stacked_cells in zip(first_column.cells, other_columns[0].cells, strict=True)
        ]
        text_columns = [first_column._replace(cells=cell_texts), *other_columns[1:]]
    return [line for lines in lay_out(text_columns) for line in lines]


# Markdown ------------------------------------------------------------------------------------------

_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|&~$"})
"""Markdown's own signs, each with the backslash that shows it as it is."""
_JOINER = "\u2060"  # unseen; behind @ it keeps a name from being a mention on GitHub
_LINKED = re.compile(r"(?i)\b(?:(https?|ftp)(?=://)|(www)(?=\.))")
"""What begins an address, and is a link without any sign of Markdown."""


def write_model_card(judgement: WordedJudgement, date_text: str | None) -> str:
    """Return the card; every number in it is in the decision."""
    verdict, status_text = judgement.verdict, say_status(judgement)
    card_lines = [f"**{_escape(verdict.sentence)}**{f' ({status_text})' if status_text else ''}", ""]
    candidates = [candidate for case in judgement.cases for candidate in case.candidates]
    lacks_scores = all(case.lacks_scores for case in judgement.cases)
    if (
        any(candidate.meets_targets for candidate in candidates) and not lacks_scores
    ):  # or all are dashes
        card_lines += [*_write_markdown_table(judgement), ""]
        absent_texts = columns.name_absent_models(judgement.cases)
        if len(judgement.cases) > 1:  # whose columns of models are all there, with one value each
            absent_heads = [] if judgement.has_one_model else columns.name_columns_of_one(judgement.goal)
            absent_texts = [", ".join(absent_heads)] if absent_heads else []
        card_lines += [f"Not shown: {absent_text}." for absent_text in absent_texts]
    card_lines += [f"{_escape(start_sentence(reason))}." for reason in verdict.reasons]
    test_text = describe_test(judgement, date_text and show_on_one_line(date_text))
    basis_text = f"{test_text}. {describe_intervals(judgement)} "
    if not judgement.goal.mean_over:
        basis_text += f"{describe_dependence(judgement)} "
    basis_text += f"{verdict.conditions}." if verdict.conditions else ""
    card_text = "\n".join([*card_lines, _escape(basis_text.rstrip()), ""])
    return mark_names(card_text, map(_escape, list_all_names(judgement)), isolate_name)


def _write_markdown_table(judgement: WordedJudgement) -> list[str]:
    if len(judgement.cases) > 1:
        case_columns = columns.list_case_columns(judgement, columns.sort_cases(judgement))
        heads, *case_rows = map(list, zip(*(column.texts for column in case_columns), strict=True))
        table_rows = [heads, ["---"] * len(case_columns), *case_rows]
        return [f"| {' | '.join(map(_escape, row_cells))} |" for row_cells in table_rows]
    [case] = judgement.cases
    candidates = case.leaders if len(case.candidates) > 1 else list(case.candidates)
    heads = [f"value ({name_interval(judgement, 'CI')})", *map(name_model, candidates)]
    if len(candidates) == 1 and candidates[0].model is None:
        heads = ["", heads[0]]
    table_rows = [heads, ["---"] * len(heads)]
    for column in columns.list_model_columns(judgement, case, candidates):
        if "model" not in column.shown_names:
            table_rows.append([_CLINICAL_NAMES.get(column.head, column.head), *column.texts[1:]])
    positives_of_candidates = [count_hits(case, candidate) for candidate in candidates]
    if total_texts := [
        candidate_positives.total_text
        for candidate_positives in positives_of_candidates
        if candidate_positives
    ]:
        hits_and_misses_texts = [
            f"{candidate_positives.hits_text} found, {candidate_positives.misses_text} missed"
            if candidate_positives
            else NO_VALUE
            for candidate_positives in positives_of_candidates
        ]
        total_text = f"{add_noun(total_texts[0], 'positive')} {say_cases(judgement.evidence.per)}"
        table_rows.append([f"of {total_text}", *hits_and_misses_texts])
    return [f"| {' | '.join(map(_escape, row_cells))} |" for row_cells in table_rows]


def _escape(text: str) -> str:
    """Return the text with Markdown's own signs shown as they are."""
    return _LINKED.sub(r"\g<0>\\", text.translate(_ESCAPES)).replace("@", f"\\@{_JOINER}")
