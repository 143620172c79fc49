"""Names as people read them, of groups, models and metrics, and texts in rows of a picture."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from polars_prcurve.core.ground.visible_names import make_visible, show_name
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS

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
    any_name_pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names_long_first)
    return (
        re.sub(any_name_pattern, lambda match: mark_name(match[0]), text) if names_long_first else text
    )


# Names of values and metrics ----------------------------------------------------------------------

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")  # the text of a number, such as a label of a digit
_PARAMETER = re.compile(r"\(([\d.e-]+)\)$")  # what follows the name, as in `precision_at_recall(0.5)`
_RISK = re.compile(r"net_benefit\(([\d.e-]+)\)")  # the risk at which users act is a parameter
_ABBREVIATIONS = re.compile(r"\b(auc|auprg|fdr|fnr|fpr|f1|lr|mcc|npv|pr|roc)\b")
"""The words in names of metrics that people write in capitals."""


def name_value(group_or_model: Any) -> str:
    """Return a value of a column of groups, or models, as a name on one line."""
    if group_or_model is None or isinstance(group_or_model, bool):
        return {None: "null", True: "true", False: "false"}[group_or_model]
    return show_name(
        f"{group_or_model:.6g}" if isinstance(group_or_model, float) else str(group_or_model)
    )


def name_group(column_name: str, group_value: Any) -> str:
    """Return a group by its value, and what is no name of its own by its column, too: `digit 6`."""
    is_name = isinstance(group_value, str) and not is_bare_number(group_value)
    return name_value(group_value) if is_name else f"{name_value(column_name)} {name_value(group_value)}"


def is_bare_number(value: Any) -> bool:
    """Return whether a value is a number, or a text of one, which has no meaning without its column."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def name_metric(metric_name: str) -> str:
    """Return the name of a metric in a sentence: `precision at recall 0.5`, `net benefit at 5% risk`."""
    metric_name = _RISK.sub(lambda risk: f"net benefit at {100 * float(risk[1]):.6g}% risk", metric_name)
    metric_name = _PARAMETER.sub(r" \1", metric_name)
    return _ABBREVIATIONS.sub(lambda match: match[0].upper(), metric_name.replace("_", " "))


def name_metric_of_target(target_name: str) -> str:
    """Return what a target fixes: `recall`, `number of alerts`."""
    return (
        "number of alerts"
        if target_name == "alerts"
        else name_metric(TARGET_KINDS[target_name].metric.name)
    )
