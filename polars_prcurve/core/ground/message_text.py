"""Text that messages need: what groups are called, counts, lists, and values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from polars_prcurve.core.ground.visible_names import shorten_name

_SIBILANT = re.compile(r"(s|x|z|ch|sh)$")  # of words whose plural ends in -es
_CONSONANT_Y = re.compile(r"[^aeiou]y$")  # of words whose plural ends in -ies
_WORD = re.compile(r"[a-z]{3,}")  # the name of a column that reads as a word in a sentence
_UNSAFE_ENDING = re.compile(r"([^s]s|[^aeiou]o|fe?|i|man|men|child(ren)?)$")
"""Of words that may be plurals, as "sites" is, or have irregular ones: "who", "staff", "woman"."""
_UNSAFE_WORDS = {"all", "any", "criteria", "data", "each", "media", "new", "old", "other", "people"}
_UNSAFE_WORDS |= {"strata", "what", "when", "where", "which"}
"""Further ones, and words that columns are called and that have no plural."""


def name_groups(column_names: Sequence[str]) -> tuple[str, str]:
    """Return what a group of these columns is, and several: "site" and "sites".

    They are `group` and `groups` of several columns, and where the name is not known to have a regular
    plural.
    """
    singular = "group"
    if len(column_names) == 1 and _has_regular_plural(column_names[0]):
        [singular] = column_names
    plural = _CONSONANT_Y.sub(lambda ending_match: f"{ending_match[0][0]}ies", singular)
    if plural == singular:
        plural = f"{singular}es" if _SIBILANT.search(singular) else f"{singular}s"
    return singular, plural


def _has_regular_plural(column_name: str) -> bool:
    """Return whether the name of a column is a word with a regular plural, as far as it shows."""
    may_be_irregular = column_name in _UNSAFE_WORDS or _UNSAFE_ENDING.search(column_name)
    return _WORD.fullmatch(column_name) is not None and not may_be_irregular


def format_count(count: Any) -> str:
    """Return a count as `1,000`, and a sum of weights as `1,012.5`, in six digits or whole."""
    is_whole = count == round(count) or abs(count) >= 100_000
    return f"{round(count):,}" if is_whole else f"{count:,.6g}"


def add_noun(number: int | str, noun: str) -> str:
    """Return a number, also as a text, with what it counts: `1 row`, or `25 to 423 rows`."""
    return f"{number} {noun}{'' if str(number) == '1' else 's'}"


def join_words(words: Iterable[str], conjunction: str = "and") -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    *first_words, last_word = words
    return f"{', '.join(first_words)} {conjunction} {last_word}" if first_words else last_word


_MAX_LISTED_NAMES = 30  # there are fewer metrics, which are all listed
_N_FIRST_NAMES = 10  # of more names than that: about two lines


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
