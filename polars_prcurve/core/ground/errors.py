"""The exception and the warning of the package, and helpers for their messages."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches

from polars_prcurve.core.ground.message_text import make_visible, shorten_name

_PACKAGE = "polars_prcurve"
_MAX_LETTERS = 1_000
_MAX_NAMES = 30  # there are fewer metrics, which are all listed
_FIRST_NAMES = 10


class PrcError(ValueError):
    """Input, or an argument, that `polars_prcurve` refuses.

    The message says what was expected, what came, and what to do. It is one short line, in which names
    from the user's table cannot command a terminal.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten_name(make_visible(message), _MAX_LETTERS))


class PrcWarning(UserWarning):
    """An answer that was computed as asked, and that is worthless as it stands; the text says why."""


for _public in (PrcError, PrcWarning):
    _public.__module__ = _PACKAGE  # a traceback names what users catch: `polars_prcurve.PrcError`


def warn_caller(message: str) -> None:
    """Warn at the line of the user's that called the package."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    text = shorten_name(make_visible(message), _MAX_LETTERS)
    warnings.warn(text, PrcWarning, stacklevel=depth)


def suggest_names(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known names nearest to a wrong one, or at what there is if none is near."""
    known = [shorten_name(other) for other in known]
    near = [other for other in known if other.lower() == name.lower()]
    if near := near or get_close_matches(name, known, n=3, cutoff=0.6):
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"there are: {list_names(known)}"


def list_names(names: Iterable[str]) -> str:
    """Return names as one text, of many the first and how many more there are."""
    names = [shorten_name(name) for name in names]
    if len(names) <= _MAX_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:_FIRST_NAMES])} and {len(names) - _FIRST_NAMES} more"


def describe_value(value: object) -> str:
    """Return a value for a message: its repr, or its type if that is long."""
    try:
        shown = repr(value)
    except Exception:  # an int of 5 000 digits has none, and an object of the user's may raise anything
        shown = "<"
    if len(shown) <= 80 and shown.isprintable() and not shown.startswith("<"):
        return shown
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
