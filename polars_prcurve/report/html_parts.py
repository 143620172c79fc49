"""HTML from text: the one place where names of users become part of a page, and the frame of a page."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Iterable
from html import escape as escape_html
from pathlib import Path
from typing import Any

import polars as pl

from polars_prcurve.atomic_file import resolve_target, write_atomically
from polars_prcurve.errors import PrcError
from polars_prcurve.number_words import NO_BREAK
from polars_prcurve.visible_text import make_visible


def escape(text: str) -> str:
    """Return the user's text as HTML."""
    return escape_html(make_visible(text, keep_blanks=True))


def isolate(name: str) -> str:
    """Return a name as HTML, whose direction of writing does not turn the words around it."""
    return f"<bdi>{escape(name)}</bdi>"


def show_value(value: Any, show_float: Callable[[float], str]) -> str:
    """Return what a cell of a table shows; a list shows its values."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", NO_BREAK)
    if isinstance(value, float):
        return show_float(value)
    if isinstance(value, pl.Series | list | tuple):
        return ", ".join(show_value(each, show_float) for each in value)
    return str(value)


def write_document(
    title: str, style: str, body: Iterable[str], scripts: Iterable[str] = (), data: str | None = None
) -> str:
    """Return a page that needs nothing from elsewhere: its own scripts run, and nothing is loaded.

    `data` is JSON that the scripts read.
    """
    listed = list(scripts)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()) for script in listed]
    allowed = " ".join(f"'sha256-{each.decode()}'" for each in hashes) or "'none'"
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
    held = [] if data is None else [f'<script type="application/json" id="data">{data}</script>']
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            '<head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape_html(policy)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f"<style>{style}</style></head>",
            "<body><main>",
            *body,
            "</main>",
            *held,
            *(f"<script>{script}</script>" for script in listed),
            "</body></html>\n",
        ]
    )


def check_page_path(path: str | os.PathLike[str]) -> None:
    """Raise if a page cannot be written there, or its name says that it is no page."""
    resolve_target(path)
    if Path(path).suffix.lower() not in (".html", ".htm", ""):
        raise PrcError(
            f"a report or a page is HTML, and its file ends in .html; got {os.fspath(path)!r}; for a "
            "PDF print it from a browser"
        )


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write the text to a file, which appears whole or not at all."""
    return write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write the bytes to a file, which appears whole or not at all."""
    with write_atomically(resolve_target(path)) as draft:
        draft.write_bytes(content)
    return Path(path)
