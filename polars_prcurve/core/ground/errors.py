"""The exception and the warning of the package, and helpers for their messages."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar, NoReturn

from polars_prcurve.core.ground.visible_names import make_visible, shorten_name

_PACKAGE_NAME = "polars_prcurve"  # marks frames of the package, other than those of the user
_MAX_MESSAGE_LETTERS = 1_000  # of a message: about ten lines of a terminal
_MAX_LISTED_NAMES = 30  # there are fewer metrics, which are all listed
_N_FIRST_NAMES = 10  # of more names than that: about two lines


class PrcError(ValueError):
    """Input, or an argument, that `polars_prcurve` refuses.

    The message about an argument begins with what to do, or with what is expected; one about values
    begins with what is wrong with them, and in how many rows. It is one short line, in which names from
    the user's table cannot control a terminal.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shorten_name(make_visible(message), _MAX_MESSAGE_LETTERS))


class PrcWarning(UserWarning):
    """A result that was computed as requested, but is worthless; the text has the reason."""


for _public_class in (PrcError, PrcWarning):
    # A traceback names what users catch: `polars_prcurve.PrcError`.
    _public_class.__module__ = _PACKAGE_NAME


def warn_caller(message: str) -> None:
    """Warn at the line of the user's that called the package."""
    stack_depth, stack_frame = 2, sys._getframe(1)
    while stack_frame.f_back is not None and stack_frame.f_globals.get("__name__", "").startswith(
        _PACKAGE_NAME
    ):
        stack_depth, stack_frame = stack_depth + 1, stack_frame.f_back
    short_message = shorten_name(make_visible(message), _MAX_MESSAGE_LETTERS)
    warnings.warn(short_message, PrcWarning, stacklevel=stack_depth)


def suggest_names(
    wrong_name: str, valid_names: Iterable[str], text_by_name: Mapping[str, str] | None = None
) -> str:
    """Return a hint at the valid names nearest to a wrong one, or at all of them if none is near.

    Names are compared, and shown as in `text_by_name` where it has them.
    """
    valid_name_list, text_by_name = list(valid_names), text_by_name or {}
    # At 0.9 a slip of one letter still finds its word; at 0.6, as by default, 'font' finds 'points'.
    near_names = (
        [name for name in valid_name_list if name.lower() == wrong_name.lower()]
        or get_close_matches(wrong_name, valid_name_list, n=3, cutoff=0.9)
        or [name for name in valid_name_list if name.startswith(f"{wrong_name}_")][:3]
        or get_close_matches(wrong_name, valid_name_list, n=3, cutoff=0.65)
    )
    shown_texts = [text_by_name.get(name, name) for name in near_names or valid_name_list]
    if near_names:
        return f"did you mean {' or '.join(repr(shorten_name(text)) for text in shown_texts)}?"
    return f"choose from: {list_names(shown_texts)}"


class HintingAttributes:
    """A base class whose errors of a wrong attribute hint at the one that is meant."""

    _wrong_attribute: ClassVar[str]  # how the error begins, before the wrong name
    _name_by_synonym: ClassVar[Mapping[str, str]] = {}  # the attributes that others call otherwise

    if not TYPE_CHECKING:  # for a type checker any name would be an attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Raise, with a hint at the attribute that a wrong name means."""
            if name.startswith("_"):  # copies and notebooks look up many
                raise AttributeError(name)
            raise AttributeError(f"{self._wrong_attribute} {name!r}; {self._suggest_attribute(name)}")

    @classmethod
    def _suggest_attribute(cls, wrong_name: str) -> str:
        """Return a hint at the attribute that a wrong name means, or at all."""
        # Fields of a dataclass that have no default are no attributes of the class.
        all_names = {*dir(cls), *getattr(cls, "__dataclass_fields__", ())}
        public_names = sorted(name for name in all_names if not name.startswith("_"))
        meant_name = cls._name_by_synonym.get(wrong_name)
        return (
            f"did you mean {meant_name!r}?"
            if meant_name in public_names
            else suggest_names(wrong_name, public_names)
        )


def list_names(names: Iterable[str]) -> str:
    """Return names as one text: if they are many, the first ones, and how many more there are."""
    short_names = [shorten_name(name) for name in names]
    if len(short_names) <= _MAX_LISTED_NAMES:
        return ", ".join(short_names)
    return f"{', '.join(short_names[:_N_FIRST_NAMES])} and {len(short_names) - _N_FIRST_NAMES} more"


def describe_value(value: object) -> str:
    """Return a value for a message: its repr, or its type if that is long."""
    try:
        value_text = repr(value)
    except Exception:  # an int of 5,000 digits has none, and an object of the user's may raise anything
        value_text = "<"
    if len(value_text) <= 80 and value_text.isprintable() and not value_text.startswith("<"):
        return value_text
    type_name = type(value).__name__
    begins_with_vowel = type_name.lower().startswith((*"aeiou", "nd"))  # as an ndarray does, read aloud
    return f"{'an' if begins_with_vowel else 'a'} {type_name}"
