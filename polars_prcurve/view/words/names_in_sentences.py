"""Names as people read them, of groups, models and metrics, and texts in rows of a picture."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from polars_prcurve.core.ground.visible_names import make_visible, show_name
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS

ISOLATES = "\u2068\u2069"
"""What stands around a name that is written from right to left, so that it turns nothing beside it."""


def start_sentence(text: str) -> str:
    """Return a text as a sentence begins: with a capital."""
    return f"{text[:1].upper()}{text[1:]}"


def show_on_one_line(text: str) -> str:
    """Return the text with each stretch of white space as one space, and the rest made visible."""
    return make_visible(" ".join(text.split()))


def isolate_name(name: str) -> str:
    """Return a name with isolates around it if part of it is written from right to left."""
    name = name.translate(dict.fromkeys(map(ord, ISOLATES)))
    is_right_to_left = any(unicodedata.bidirectional(character) in ("R", "AL") for character in name)
    return f"{ISOLATES[0]}{name}{ISOLATES[1]}" if is_right_to_left else name


def mark_names(text: str, names: Iterable[str], mark_name: Callable[[str], str]) -> str:
    """Return a text in which all names are marked, such as by isolates around each."""
    # Of names that hold each other the longest is marked.
    names_long_first = sorted({name for name in names if name}, key=len, reverse=True)
    pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names_long_first)
    return re.sub(pattern, lambda match: mark_name(match[0]), text) if names_long_first else text


# Names of values and metrics ----------------------------------------------------------------------

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")  # the text of a number, such as a label of a digit
_PARAMETER = re.compile(r"\(([\d.e-]+)\)$")  # what follows the name, as in `precision_at_recall(0.5)`
_RISK = re.compile(r"net_benefit\(([\d.e-]+)\)")  # the risk at which users act is a parameter
_ABBREVIATIONS = re.compile(r"\b(auc|auprg|fdr|fnr|fpr|f1|lr|mcc|npv|pr|roc)\b")
"""The words in names of metrics that people write in capitals."""


def name_value(value: Any) -> str:
    """Return a value of a column of groups, or models, as a name on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return show_name(f"{value:.6g}" if isinstance(value, float) else str(value))


def name_group(column: str, value: Any) -> str:
    """Return a group by its value, and what is no name of its own by its column, too: `digit 6`."""
    is_name = isinstance(value, str) and not is_bare_number(value)
    return name_value(value) if is_name else f"{name_value(column)} {name_value(value)}"


def is_bare_number(value: Any) -> bool:
    """Return whether a value is a number, or a text of one, which has no meaning without its column."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def name_metric(name: str) -> str:
    """Return the name of a metric in a sentence: `precision at recall 0.5`, `net benefit at 5% risk`."""
    name = _RISK.sub(lambda risk: f"net benefit at {100 * float(risk[1]):.6g}% risk", name)
    name = _PARAMETER.sub(r" \1", name)
    return _ABBREVIATIONS.sub(lambda match: match[0].upper(), name.replace("_", " "))


def name_metric_of_target(word: str) -> str:
    """Return what a target fixes: `recall`, `number of alerts`."""
    return "number of alerts" if word == "alerts" else name_metric(TARGET_KINDS[word].metric.name)


# In rows ------------------------------------------------------------------------------------------


def count_letters(text: str) -> float:
    """Return how many letters wide a text is, about: Chinese signs are wide, and isolates are unseen."""
    return sum(
        0 if character in ISOLATES else 1.8 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def wrap_words(text: str, max_letters: float) -> list[str]:
    """Return the text in as few rows as have at most so many letters, all about equally long."""
    # Rows end at blanks, and inside a word only if it is longer than a row: Chinese has no blanks.
    words = [word for word in text.split(" ") if word]
    rows = _fill_rows(words, max_letters)
    widths = [width for width in map(count_letters, words) if width <= max_letters]
    for step in range(1, 12):
        narrower_width = max_letters * (1 - step / 22)
        narrower_rows = _fill_rows(words, narrower_width)
        if len(narrower_rows) > len(rows) or narrower_width < max(widths, default=0):
            break
        rows = narrower_rows
    start_isolate, end_isolate = ISOLATES[0], ISOLATES[1]
    for row_number, row in enumerate(rows[:-1]):
        if row.count(start_isolate) > row.count(end_isolate):  # a name goes on in the next row
            rows[row_number], rows[row_number + 1] = (
                row + end_isolate,
                start_isolate + rows[row_number + 1],
            )
    return rows


def _fill_rows(words: Sequence[str], max_letters: float) -> list[str]:
    """Return rows that are as full as can be."""
    rows: list[str] = []
    for word in words:
        longer_row = f"{rows[-1]} {word}" if rows else word
        if count_letters(longer_row) <= max_letters:
            rows[-1:] = [longer_row]
            continue
        rows.append("")
        for character in word:
            if rows[-1] and count_letters(rows[-1] + character) > max_letters:
                rows.append("")
            rows[-1] += character
    return [row for row in rows if row]
