"""The exception and the warning of the package, and helpers for their messages."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches

from polars_prcurve.core.ground.safe_text import make_visible, shorten_name

_PACKAGE = "polars_prcurve"  # by which frames of the package are told from those of the user
_MAX_LETTERS = 1_000  # of a message: about ten lines of a terminal
_MAX_NAMES = 30  # there are fewer metrics, which are all listed
_FIRST_NAMES = 10  # of more names than that: about two lines


class PrcError(ValueError):
    """Input, or an argument, that `polars_prcurve` refuses.

    The message says what was expected, what came, and what to do. It is one short line, in which names
    from the user's table cannot command a terminal.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten_name(make_visible(message), _MAX_LETTERS))


class PrcWarning(UserWarning):
    """An answer that was computed as requested, but is worthless as it stands; the text says why."""


for _public in (PrcError, PrcWarning):
    _public.__module__ = _PACKAGE  # a traceback names what users catch: `polars_prcurve.PrcError`


def warn_caller(message: str) -> None:
    """Warn at the line of the user's that called the package."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        depth, frame = depth + 1, frame.f_back
    text = shorten_name(make_visible(message), _MAX_LETTERS)
    warnings.warn(text, PrcWarning, stacklevel=depth)


def suggest_names(name: str, valid_names: Iterable[str]) -> str:
    """Return a hint at the valid names nearest to a wrong one, or at all of them if none is near."""
    choices = [shorten_name(choice) for choice in valid_names]
    matches = [choice for choice in choices if choice.lower() == name.lower()]
    # The cutoff is that of difflib, at which a slip of one or two letters still finds its word.
    if matches := matches or get_close_matches(name, choices, n=3, cutoff=0.6):
        return f"did you mean {' or '.join(map(repr, matches))}?"
    return f"there are: {list_names(choices)}"


def list_names(names: Iterable[str]) -> str:
    """Return names as one text: if they are many, the first ones, and how many more there are."""
    short_names = [shorten_name(name) for name in names]
    if len(short_names) <= _MAX_NAMES:
        return ", ".join(short_names)
    return f"{', '.join(short_names[:_FIRST_NAMES])} and {len(short_names) - _FIRST_NAMES} more"


def describe_value(value: object) -> str:
    """Return a value for a message: its repr, or its type if that is long."""
    try:
        text = repr(value)
    except Exception:  # an int of 5 000 digits has none, and an object of the user's may raise anything
        text = "<"
    if len(text) <= 80 and text.isprintable() and not text.startswith("<"):
        return text
    kind = type(value).__name__
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
