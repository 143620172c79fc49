"""How many icons of each kind a grid of alerts has, and its number in words."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from polars_prcurve.core.ground.safe_text import format_count
from polars_prcurve.view.words.number_words import RARELY_RIGHT, count_of_100, count_one_in, glue_numbers

MOST_ICONS = 1_000  # of a grid, at most: 40 in a row are still dots that one can see

# Icons in a row, by the most icons that such a grid has.
_COLUMNS_OF_SIZE = {200: 10, 800: 20, MOST_ICONS: 40}


class IconGrid(NamedTuple):
    """The icons of one grid, how many of each kind in this order, and its number in words."""

    share: float
    kinds: list[tuple[str, int]]
    words: str  # `67 of 100`, or `1 in 83`
    span: str  # the interval, `54 to 78`; empty without one

    @property
    def n_icons(self) -> int:
        return sum(n_of_kind for _, n_of_kind in self.kinds)

    @property
    def columns(self) -> int:
        """The number of icons in a row."""
        return next(
            n_columns for most_icons, n_columns in _COLUMNS_OF_SIZE.items() if self.n_icons <= most_icons
        )

    @property
    def caption(self) -> str:
        """The number and its interval: `67 (54 to 78) of 100`."""
        number_text, separator, total_text = self.words.partition(" of ")
        return f"{number_text}{f' ({self.span})' if self.span else ''}{separator}{total_text}"


def count_icons(share: float, low: float | None, high: float | None) -> IconGrid:
    """Return the grid of a share of alerts that are right, and of its interval if it has one."""
    has_span = low is not None and high is not None
    low, high = (share, share) if low is None or high is None else (low, high)
    is_rare = 0 < share < RARELY_RIGHT
    kinds = [*count_kinds(share, low, high, is_rare=is_rare, most_icons=MOST_ICONS).items()]
    if not is_rare:
        n_least, n_right, n_most = _order(*map(count_of_100, (low, share, high)))
        span_text = f"{n_least} to {n_most}" if has_span else ""
        return IconGrid(share, kinds, f"{n_right} of 100", span_text)
    n_fewest, n_alerts, n_most_alerts = _count_alerts(share, low, high)
    number_text = glue_numbers(f"1 in {format_count(n_alerts)}")
    most_text = "none" if n_most_alerts == math.inf else format_count(n_most_alerts)
    end_texts = map(glue_numbers, (format_count(n_fewest), most_text))
    return IconGrid(share, kinds, number_text, " to ".join(end_texts) if has_span else "")


def count_kinds(
    share: float, low: float, high: float, *, is_rare: bool, most_icons: int
) -> dict[str, int]:
    """Return how many icons of each kind show a share and its interval, in their order.

    Of 100 alerts those up to the low end are right, and those above the high end are false. Between
    them it is open: those up to the estimate are likely. Of a rare share there are as many alerts as
    may have to be read until one is right, which is the first one if it is among them.
    """
    if not is_rare or share == 0:
        n_least, n_right, n_most = _order(*map(count_of_100, (low, share, high)))
        counts = (n_least, n_right - n_least, n_most - n_right, 100 - n_most)
        return dict(zip(("right", "likely", "unlikely", "false"), counts, strict=True))
    n_fewest, n_alerts, n_most = (
        int(min(n_alerts, most_icons)) for n_alerts in _count_alerts(share, low, high)
    )
    n_right = int(count_one_in(share) <= most_icons)
    counts = (n_right, n_fewest - n_right, n_alerts - n_fewest, n_most - n_alerts)
    return dict(zip(("right", "false", "likely", "unlikely"), counts, strict=True))


def _count_alerts(share: float, low: float, high: float) -> tuple[float, float, float]:
    """Return how many alerts take one right one: the fewest, by the estimate, and the most."""
    return _order(count_one_in(high), count_one_in(share), count_one_in(low) if low > 0 else math.inf)


def _order(first: float, middle: float, last: float) -> tuple[Any, Any, Any]:
    """Return both ends and what is between them, where rounding has put it outside."""
    return min(first, middle), middle, max(last, middle)
