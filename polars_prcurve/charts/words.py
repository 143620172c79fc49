"""Numbers and names as charts write them: short, as people say them, and harmless for HTML."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

import polars as pl

__all__ = [
    "labels",
    "metric_title",
    "one_in",
    "rounded",
    "said",
    "said_count",
    "said_level",
    "said_range",
    "said_share",
    "said_size",
    "said_threshold",
    "shown",
]

_MARKUP = re.compile(r"<(?=[/!]|script)", re.I)
_SHORT_FOR = re.compile(r"\b(auc|auprg|fdr|fnr|fpr|lr|mcc|npv|pr|roc)\b")


def rounded(value: Any) -> Any:
    """Six digits are more than a screen has."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def said_range(sizes: pl.Series) -> str:
    low, high = (said_count(size) for size in (sizes.min(), sizes.max()))
    return low if low == high else f"{low} to {high}"


def said_size(n_pos: float, n_neg: float) -> str:
    return f"{said_count(n_pos)} : {said_count(n_neg)}"


def said_count(count: Any) -> str:
    """A count, or a sum of weights: 1 000, or 12.5."""
    return f"{round(count):,}".replace(",", " ") if count == round(count) else f"{count:.6g}"


def said_level(confidence: float) -> str:
    return f"{100 * confidence:.6g} %"


def said_share(eta: float) -> str:
    """A prevalence as a number and as people say it: 0.001 (1 in 1 000)."""
    number = f"{eta:.4g}".replace("e-0", "e-")
    words = one_in(eta)
    return f"{number} ({words})" if words else number


def one_in(eta: float) -> str:
    if not 0 < eta <= 0.5:
        return ""
    n = float(f"{1 / eta:.2g}") if 1 / eta < 10 else float(f"{1 / eta:.3g}")
    return f"1 in {said_count(n)}" if n < 1e9 else f"1 in {n:.3g}"


def said_threshold(value: Any) -> str | None:
    return None if value is None else said("threshold", value)


def metric_title(name: str) -> str:
    """A metric as an axis names it: average_precision is Average precision."""
    words = _SHORT_FOR.sub(lambda found: found[0].upper(), name.replace("_", " "))
    return shown(words[:1].upper() + words[1:])


def labels(keys: pl.DataFrame, fields: list[str]) -> list[str]:
    """One label per row, all different: a null and the text "null" are two groups."""
    made: dict[str, None] = {}
    for row in keys.select(fields).iter_rows():
        label = " · ".join(said(*pair) for pair in zip(fields, row, strict=True))
        others = (f"{label} ({number})" for number in count(2))
        made[label if label not in made else next(name for name in others if name not in made)] = None
    return list(made)


def said(field: str, value: Any) -> str:
    """A value of a column as text."""
    if field == "eta":
        return said_share(value)
    if field == "target":
        return " ".join(said("", part) for part in value.values() if part is not None)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if value in ("", "null"):
        return f'"{value}"'
    return shown(f"{value:.6g}" if isinstance(value, float) else str(value))


def shown(text: str) -> str:
    """Text of the user's, on one line, and harmless inside the script of an HTML page.

    Altair writes data into a page as it is, so a label `</script>` would end the script. An
    invisible joiner after the bracket keeps it text.
    """
    return _MARKUP.sub("<\u2060", " ".join(text.split()))
