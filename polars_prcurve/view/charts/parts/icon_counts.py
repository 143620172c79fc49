"""How many icons of each kind a grid of alerts has, and its number in words."""

from __future__ import annotations

import math
from typing import NamedTuple

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
    if share >= RARELY_RIGHT or share == 0:
        n_right_of_100 = count_of_100(share)
        n_least, n_most_of_100 = (
            min(count_of_100(low), n_right_of_100),
            max(count_of_100(high), n_right_of_100),
        )
        icon_counts = (
            n_least,
            n_right_of_100 - n_least,
            n_most_of_100 - n_right_of_100,
            100 - n_most_of_100,
        )
        icon_kinds = [*zip(("right", "likely", "unlikely", "false"), icon_counts, strict=True)]
        return IconGrid(
            share,
            icon_kinds,
            f"{n_right_of_100} of 100",
            f"{n_least} to {n_most_of_100}" if has_span else "",
        )
    one_in_n, fewest_alerts = count_one_in(share), min(count_one_in(high), count_one_in(share))
    most_alerts = max(count_one_in(low), one_in_n) if low > 0 else math.inf
    n_fewest, n_estimate, n_most = (
        int(min(n_alerts, MOST_ICONS)) for n_alerts in (fewest_alerts, one_in_n, most_alerts)
    )
    n_right = int(one_in_n <= MOST_ICONS)  # of fewer than 1 in 1,000 none is right in the grid
    icon_counts = (n_right, n_fewest - n_right, n_estimate - n_fewest, n_most - n_estimate)
    icon_kinds = [*zip(("right", "false", "likely", "unlikely"), icon_counts, strict=True)]
    end_texts = [
        format_count(fewest_alerts),
        "none" if most_alerts == math.inf else format_count(most_alerts),
    ]
    number_text = glue_numbers(f"1 in {format_count(one_in_n)}")
    return IconGrid(
        share, icon_kinds, number_text, " to ".join(map(glue_numbers, end_texts)) if has_span else ""
    )
