"""How many icons of each kind a grid of alerts has, and its number in words."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.view.words.number_words import (
    count_of_100,
    count_one_in,
    glue_numbers,
    join_value,
    say_estimate,
)

MOST_ICONS = 1_000  # of a grid, at most: 40 in a row are still dots that one can see

# Icons in a row, by the most icons that such a grid has.
_COLUMNS_OF_SIZE = {200: 10, 800: 20, MOST_ICONS: 40}


class IconGrid(NamedTuple):
    """The icons of one grid, how many of each kind, and its numbers in words."""

    share: float
    count_by_kind: dict[str, int]  # in the order of the icons
    is_of_100: bool  # otherwise of as many alerts as one right one takes
    words: str  # the share as `67%`, or `1 in 83`
    span: str  # the interval of that number, `54 to 78`; empty without one

    @property
    def kinds(self) -> list[str]:
        """The kind of each icon."""
        return [kind for kind, n_icons in self.count_by_kind.items() for _ in range(n_icons)]

    @property
    def n_icons(self) -> int:
        return sum(self.count_by_kind.values())

    @property
    def columns(self) -> int:
        """The number of icons in a row."""
        return next(
            n_columns for most_icons, n_columns in _COLUMNS_OF_SIZE.items() if self.n_icons <= most_icons
        )

    @property
    def caption(self) -> str:
        """The number and its interval: `67% (54 to 78)`."""
        return join_value(self.words, self.span)


def count_icons(
    share: float, low: float | None, high: float | None, *, is_rare: bool, max_icons: int = MOST_ICONS
) -> IconGrid:
    """Return the grid of a share of alerts that are right, and of its interval if it has one.

    Of 100 alerts those up to the low end are right, and those above the high end are false. Between
    them it is open: those up to the estimate are likely. Of a rare share there are as many alerts as
    may have to be read until one is right, which is the first one if it is among them.
    """
    span = None if low is None or high is None else (low, high)
    low, high = span or (share, share)
    is_of_100 = share == 0 or not is_rare
    if is_of_100:
        least_count, middle_count, most_count = _order(*map(count_of_100, (low, share, high)))
        count_by_kind = {
            "right": least_count,
            "likely": middle_count - least_count,
            "unlikely": most_count - middle_count,
            "false": 100 - most_count,
        }
        return IconGrid(share, count_by_kind, is_of_100, *say_estimate(share, *(span or (None, None))))
    most_alerts = count_one_in(low) if low > 0 else math.inf
    least_count, middle_count, most_count = _order(count_one_in(high), count_one_in(share), most_alerts)
    n_fewest, n_alerts, n_most = (
        int(min(end_count, max_icons)) for end_count in (least_count, middle_count, most_count)
    )
    n_right = int(middle_count <= max_icons)
    count_by_kind = {"right": n_right, "false": n_fewest - n_right}
    count_by_kind |= {"likely": n_alerts - n_fewest, "unlikely": n_most - n_alerts}
    end_texts = [
        "none" if end_count == math.inf else format_count(end_count)
        for end_count in (least_count, most_count)
    ]
    share_text = glue_numbers(f"1 in {format_count(middle_count)}")
    return IconGrid(
        share, count_by_kind, is_of_100, share_text, "" if span is None else " to ".join(end_texts)
    )


def _order(first: float, middle: float, last: float) -> tuple[Any, Any, Any]:
    """Return both ends and what is between them, where rounding has put it outside."""
    return min(first, middle), middle, max(last, middle)
