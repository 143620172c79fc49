"""Colours that mean something, sizes and dots of all charts; fonts and other colours are the theme's."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

_HEX_COLOR = re.compile("#[0-9A-Fa-f]{6}")  # red, green and blue in two digits each

# Colours of groups in order of use. Each has a contrast of 3 : 1 on white, none is nearly black, any two
# stay apart for people with protanopia, deuteranopia or tritanopia, and the first six differ in grey
# print; tests compute all.
COLORS = ("#0072B2", "#D55E00", "#12A793", "#3544D7", "#870F3C", "#3C1E5A", "#693C00", "#C3875A")
# Stops of the colours of prevalences, from rare to common: an order that the eye sees.
ETA_COLORS = ("#0D0887", "#6A00A8", "#9F1A9B", "#CC4778", "#DC5D5A")
INK = "#1A1D21"
QUIET = "#5B626B"
RULE = "#8A919A"
# What is not settled.
ZONE = "#E6E8EB"
# Groups that are not picked out.
OTHERS = "#CDD1D6"

LINE = 2.2  # pixels that a line is wide
LINE_IN_DOUBT = 1.6  # those of a dotted line, which looks wider than it is
LINE_OF_OTHERS = 1.2  # those of a grey line behind all others
# The dash of all that is not known well. No group has a dash of its own.
DOTS = [1.5, 3]
BAND = 0.16  # the opacity of a band: two that overlap stay paler than their lines
BAND_IN_DOUBT = 0.08  # half of that, where a line is dotted

TITLE_SIZE = 16  # pixels of type, as are the following, where the theme has no size of its own
SUBTITLE_SIZE = 12.5  # as names, which it is read beside
NAME_SIZE = 12.5  # the least at which bold names in colours are read with ease
TICK_SIZE = 11  # the least that is read with ease

# The look of lines to compare with, such as alerts at random.
REFERENCE: dict[str, Any] = {"color": RULE, "strokeWidth": 1}


_TEXT_CONTRAST = 4.5  # of text on white, at least (WCAG 2.1); lines need 3


def darken_text(color: str) -> str:
    """Return a colour in which text is read on white: the same hue, darker if that is needed."""
    if not _HEX_COLOR.fullmatch(color):  # a name that a theme uses
        return color
    channel_levels = [int(color[hex_start : hex_start + 2], 16) for hex_start in (1, 3, 5)]
    while 1.05 / (_measure_luminance(channel_levels) + 0.05) < _TEXT_CONTRAST:
        channel_levels = [math.floor(0.98 * level) for level in channel_levels]
    return "#" + "".join(f"{level:02X}" for level in channel_levels)


def _measure_luminance(channel_levels: Sequence[int]) -> float:
    """Return the relative luminance of a colour (WCAG 2.1), from 0 to 1."""
    shares = [level / 255 for level in channel_levels]
    linear_shares = [
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    ]
    weights = (0.2126, 0.7152, 0.0722)
    return sum(weight * share for weight, share in zip(weights, linear_shares, strict=True))


def mix_eta_colors(n_colors: int) -> list[str]:
    """Return n colours of rising prevalences, evenly along their stops."""
    if n_colors == 1:
        return [COLORS[0]]
    stop_rgbs = [
        [int(color[hex_start : hex_start + 2], 16) for hex_start in (1, 3, 5)] for color in ETA_COLORS
    ]
    mixed_colors = []
    for color_number in range(n_colors):
        stop_place = color_number / (n_colors - 1) * (len(stop_rgbs) - 1)
        stop_number = min(int(stop_place), len(stop_rgbs) - 2)
        channel_pairs = zip(stop_rgbs[stop_number], stop_rgbs[stop_number + 1], strict=True)
        share = stop_place - stop_number
        channel_levels = (round(start + (end - start) * share) for start, end in channel_pairs)
        mixed_colors.append("#" + "".join(f"{level:02X}" for level in channel_levels))
    return mixed_colors
