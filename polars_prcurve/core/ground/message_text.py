"""Text that messages need: what groups are called, counts, and lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

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
