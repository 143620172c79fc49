"""Values and names as a table on a terminal shows them: short, harmless, and as wide as they look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from polars_prcurve.number_words import NO_BREAK, format_count, say_eta
from polars_prcurve.visible_text import make_harmless, shorten_name

NOTHING = "-"
"""Stands for null."""
_MAX_DECIMALS = 6
_NAME_LETTERS = 32

# Values ------------------------------------------------------------------------------------------


def show_name(value: Any) -> str:
    """Return a value of a group column, such as the name of a model."""
    return NOTHING if value is None else shorten_name(make_harmless(str(value)), _NAME_LETTERS) or '""'


def show_eta(eta: float) -> str:
    """Return a prevalence as `1 in 1 000`."""
    return say_eta(eta).replace(NO_BREAK, " ")


def show_score(value: Any) -> str:
    """Return a score or a threshold: of a float as many digits as tell most scores apart."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def show_level(confidence: float | None) -> str:
    """Return the level of an interval, as `95 %`."""
    return "interval" if confidence is None else f"{100 * confidence:.6g} %"


def show_p_value(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def show_amount(value: float) -> str:
    """Return a whole number as `13 360`."""
    return format_count(value)


def choose_decimals(values: Sequence[float], ends: Sequence[float] = ()) -> int:
    """Return with how many decimals the numbers of a column are written, the same for all.

    The greatest value has three digits, and the least two. No share near 1 is rounded to 1, also not as
    one of the `ends` of intervals.
    """
    finite = [abs(value) for value in values if math.isfinite(value)]
    sizes = [value for value in finite if value > 0]
    if not sizes or all(value == round(value) for value in finite):
        return 0
    gaps = [-_exponent(1 - value) for value in [*finite, *ends] if 0.9 < value < 1]
    decimals = max(2 - _exponent(max(sizes)), 1 - _exponent(min(sizes)), *gaps, 0)
    exact = max(map(_count_decimals, [*finite, *ends]))
    return min(decimals, exact, _MAX_DECIMALS)


def _count_decimals(value: float) -> int:
    """Return how many decimals it takes to write a number, up to six."""
    return len(f"{value:.{_MAX_DECIMALS}f}".rstrip("0").partition(".")[2])


def _exponent(value: float) -> int:
    return math.floor(math.log10(value))


def show_number(value: float, decimals: int) -> str:
    """Return a number with these decimals; one that would be shown as 0 has an exponent."""
    if not math.isfinite(value):
        return str(value)
    text = f"{value:,.{decimals}f}".replace(",", " ")
    is_lost = value != 0 and float(text.replace(" ", "")) == 0
    return f"{value:.1e}" if is_lost else text
