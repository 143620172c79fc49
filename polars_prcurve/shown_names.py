"""Names as people read them, in charts, reports and terminals: values of columns, and metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from polars_prcurve.visible_text import shorten_name, show_on_one_line

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_PARAMETER = re.compile(r"\(([\d.e-]+)\)$")
_ABBREVIATIONS = re.compile(r"\b(auc|auprg|fdr|fnr|fpr|f1|lr|mcc|npv|pr|roc)\b")


def name_value(value: Any) -> str:
    """Return a value of a column of groups, or models, as a name on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if value in ("", "null"):  # quoted: an empty label is unseen, and null is another group
        return f'"{value}"'
    return shorten_name(show_on_one_line(f"{value:.6g}" if isinstance(value, float) else str(value)))


def name_group(column: str, value: Any) -> str:
    """Return a group by its value, and what is no name of its own by its column, too: `digit 6`."""
    is_name = isinstance(value, str) and not is_bare_number(value)
    return name_value(value) if is_name else f"{name_value(column)} {name_value(value)}"


def is_bare_number(value: Any) -> bool:
    """Return whether a value is a number, or a text of one, which tells nothing without its column."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def name_metric(name: str) -> str:
    """Return the name of a metric in a sentence: `PR AUC hull`, `precision at recall 0.5`."""
    name = _PARAMETER.sub(r" \1", name)
    return _ABBREVIATIONS.sub(lambda match: match[0].upper(), name.replace("_", " "))


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    *firsts, last = words
    return f"{', '.join(firsts)} and {last}" if firsts else last
