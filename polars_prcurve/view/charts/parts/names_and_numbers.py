"""Numbers and names as charts and reports write them: short, as people write them, harmless in HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.rate_intervals import check_confidence
from polars_prcurve.core.ground.message_text import add_noun, format_count
from polars_prcurve.core.ground.visible_names import shorten_name
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.view.words import number_words
from polars_prcurve.view.words.number_words import (
    map_etas,
    say_cases,
    say_eta,
    say_etas,
    say_exactly,
    say_target,
    say_threshold,
)
from polars_prcurve.view.words.shown_names import (
    is_bare_number,
    isolate_name,
    name_metric,
    name_value,
    show_on_one_line,
    start_sentence,
)

_NUMBERS = "two three four five six seven eight nine ten eleven twelve"  # those that read well as words
_MARKUP = re.compile(r"<(?=[/!]|script)|\\", re.I)  # what `escape_text` makes harmless, and why
# The column of the next lower threshold, in tables of all scores: a threshold is distinguished from it.
LOWER = "lower"


def round_digits(value: Any) -> Any:
    """Round a float to six digits, more than a screen shows; return any other value unchanged."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def format_range(sizes: pl.Series) -> str:
    """Return the least and the greatest size as `3 to 8`, or one number if they are equal."""
    low_text, high_text = (format_count(size) for size in (sizes.min(), sizes.max()))
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def format_checked_level(confidence: float) -> str:
    return number_words.format_level(check_confidence(confidence))


def name_intervals(confidence: float | None) -> str:
    """Return which intervals are drawn: those of a level, or of a table whose level is not known."""
    if confidence is None:
        return "confidence intervals"
    return f"{format_checked_level(confidence)} intervals"


def describe_level(band: object, confidence: float | None) -> str:
    """Return a sentence on the shade of a chart; empty without a band."""
    return f"Shaded: {name_intervals(confidence)}" if band else ""


def describe_etas(etas: Sequence[float | None]) -> str:
    """Return where curves run: `at a prevalence of 1 in 20`, or `at three prevalences`."""
    # A prevalence is None where negatives are not counted.
    if etas[0] is None:
        return "among what was returned"
    if len(etas) == 1:
        return f"at a prevalence of {say_eta(etas[0])}"
    number_word = _NUMBERS.split()[len(etas) - 2] if len(etas) <= 12 else str(len(etas))
    return f"at {number_word} prevalences"


def say_eta_range(etas: Sequence[float]) -> str:
    """Return the first and the last of some prevalences in one unit, or one if both read alike."""
    first_text, last_text = say_etas([etas[0], etas[-1]])
    return first_text if first_text == last_text else f"{first_text} to {last_text}"


def describe_target(targets: pl.Series | None) -> str:
    """Return the one target of all rows, as `Thresholds for 50% recall`; empty without it."""
    if targets is None or targets.n_unique() != 1:
        return ""
    target_text = name_target(**targets[0])
    # A threshold was passed, and aims at nothing.
    if targets[0]["criterion"] == "threshold":
        return target_text.capitalize()
    return f"{'Thresholds for' if targets[0]['criterion'] in TARGET_KINDS else 'Target:'} {target_text}"


def name_target(criterion: str | None, target: float | None, per: float | None = None) -> str:
    """Return what a point was chosen for: `50% recall`, `100 alerts per 10,000 cases` or `lift 2`."""
    target_kind = TARGET_KINDS.get(criterion or "")
    if target_kind is None or target is None:
        part_texts = (format_value("", part) for part in (criterion, target) if part is not None)
        return " ".join(part_texts)
    if target_kind.value_kind == "number":
        return f"{add_noun(say_exactly(target), 'alert')} {say_cases(per) if per else ''}".rstrip()
    metric_name = name_metric(target_kind.metric.name)
    return (
        f"{say_target(target)} {metric_name}"
        if target_kind.value_kind == "share"
        else f"{metric_name} {say_exactly(target)}"
    )


def add_threshold(row: Mapping[str, Any]) -> str:
    """Return `, threshold 0.5`, which follows what is read at a row of a curve; empty without one."""
    # It has six digits, since the rows of such charts leave out scores to distinguish it from.
    threshold_text = say_threshold(row.get("threshold"))
    return f", threshold {threshold_text}" if threshold_text else ""


def format_metric_name(name: str) -> str:
    """Return the name of a metric as an axis shows it: `PR AUC hull` for `pr_auc_hull`."""
    # A parameter follows its name: `Precision at recall 0.5` for `precision_at_recall(0.5)`.
    metric_name = name_metric(name)
    return escape_name(start_sentence(metric_name))


def build_labels(key_rows: pl.DataFrame, column_by_field: Mapping[str, str]) -> list[str]:
    """Return one label per row of `key_rows`, all different: null and the text "null" are two groups."""
    # `column_by_field` has the fields of the label, with the names of their columns.
    labels: dict[str, None] = {}  # a dict is an ordered set
    key_rows = key_rows.select(*column_by_field)
    text_of_eta = map_etas(key_rows["eta"] if "eta" in column_by_field else [])
    for key_values in key_rows.iter_rows():
        label = " · ".join(
            text_of_eta[key_value] if field == "eta" else name_with_column(field, column, key_value)
            for (field, column), key_value in zip(column_by_field.items(), key_values, strict=True)
        )
        labels_to_try = chain([label], (f"{label} ({number})" for number in count(2)))
        labels[next(label_to_try for label_to_try in labels_to_try if label_to_try not in labels)] = None
    return list(labels)


def name_with_column(field: str, column: str, value: Any) -> str:
    """Return a value as `format_value` does; of a group that is a number with its column: `digit 6`."""
    value_text, is_group = format_value(field, value), field.startswith("group")
    return f"{escape_name(column)} {value_text}" if is_group and is_bare_number(value) else value_text


def format_value(field: str, value: Any) -> str:
    """Return a value of the field as text, on one line."""
    if field == "metric":
        return format_metric_name(value)
    if field == "pair":
        return " minus ".join(name_with_column("group", "model", name) for name in value.values())
    if field == "target":
        return name_target(**value)
    return escape_name(name_value(value))


def escape_text(text: str) -> str:
    """Return the user's text on one line, harmless inside the script of an HTML page."""
    # Altair writes data into a page without escaping it, so a label `</script>` would end the script. An
    # invisible joiner after the bracket prevents that. Vega also writes titles into expressions, where a
    # backslash would make another character of the next one: it gets a joiner, too.
    return _MARKUP.sub("\\g<0>\u2060", show_on_one_line(text))


def escape_name(name: str) -> str:
    """Return a name as `escape_text` does, isolated, and cut in its middle: legends hold no novels."""
    return isolate_name(escape_text(shorten_name(show_on_one_line(name))))
