"""HTML from text: the one place where names of users become part of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape as escape_html

from polars_prcurve.visible_text import make_visible


@dataclass(frozen=True)
class Markup:
    """A piece of a page that is HTML already: all names in it went through `escape`."""

    html: str


def escape(text: str) -> str:
    """Return the user's text as HTML."""
    return escape_html(make_visible(text, keep_blanks=True))


def join_names(names: Iterable[str]) -> str:
    """Return names as a list in words: `a`, `a and b`, or `a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def list_few(names: Sequence[str], most: int = 5) -> list[str]:
    """Return the first names, and how many others there are, if these are several."""
    more = len(names) - most
    return [*names] if more <= 1 else [*names[:most], f"{more} others"]


def wrap_scrolling(table: str, label: str) -> str:
    """Return a table that scrolls sideways by itself, and by keyboard, where the page is narrow."""
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}">{table}</div>'


def write_caption(text: str) -> str:
    """Return the caption of a table, which is no wider than the page even if the table is."""
    return f"<caption><span>{escape(text)}</span></caption>"


def name_cell(column: str) -> str:
    """Return the attribute that names the column of a cell, which phones show in place of the heads."""
    return f' data-name="{escape(column)}"'
