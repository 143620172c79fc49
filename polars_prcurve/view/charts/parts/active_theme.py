"""What charts take from the Altair theme that is active: colours of groups, and sizes of type."""

from __future__ import annotations

from typing import Any, NamedTuple

import altair as alt

from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.words.wrapped_text import count_letters

_LETTER = 0.55  # mean width of a letter, as a share of the size of its type
_MORE_OF_PERCENT = 0.6  # letters by which a percent sign is wider than one


class TypeSizes(NamedTuple):
    """Sizes of type in pixels."""

    title: float
    subtitle: float  # also of the text that a reader takes in first after the title
    name: float  # of the names of lines and panels, and of the numbers at points
    tick: float  # of the labels of axes
    axis_title: float
    note: float  # of the note, and of the names of grey lines

    @property
    def axis_height(self) -> float:
        """The pixels that the labels and the title of an x axis take."""
        return 28 + self.tick + self.axis_title


def read_sizes() -> TypeSizes:
    """Return the sizes of the active theme, and those of this package where it has none."""
    config = _read_config()

    def read_size(kind: str, name: str, size: float) -> float:
        value = config.get(kind, {}).get(name)
        return size if value is None else float(value)

    tick_size = read_size("axis", "labelFontSize", style.TICK_SIZE)
    return TypeSizes(
        title=read_size("title", "fontSize", style.TITLE_SIZE),
        subtitle=read_size("title", "subtitleFontSize", style.SUBTITLE_SIZE),
        name=read_size("text", "fontSize", style.NAME_SIZE),
        tick=tick_size,
        axis_title=read_size("axis", "titleFontSize", tick_size),
        note=tick_size,
    )


def read_colors() -> list[str]:
    """Return the colours of groups: those of the active theme, if it lists some, then our own."""
    theme_colors = _read_config().get("range", {}).get("category")
    # A scheme is known to Vega alone.
    listed_colors = theme_colors if isinstance(theme_colors, list) else []
    return list(dict.fromkeys([*listed_colors, *style.COLORS]))[: len(style.COLORS)]


def _read_config() -> dict[str, Any]:
    theme: Any = alt.theme.get()
    config: dict[str, Any] = theme().get("config", {}) if theme else {}
    return config


def quiet_look() -> dict[str, Any]:
    """Return the look of names of lines to compare with."""
    return {"size": read_sizes().note, "color": style.QUIET}


def measure_text(text: str, size: float | None = None) -> float:
    """Return the width of a text in pixels, about, in this size or that of names."""
    n_letters = count_letters(text) + _MORE_OF_PERCENT * text.count("%")
    return n_letters * _LETTER * (read_sizes().name if size is None else size)
