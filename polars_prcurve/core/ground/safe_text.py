"""Text that messages need: control characters as symbols, names of bounded length, counts.

A control character could command a terminal, and XML, in which charts are drawn, has none. Symbols mean
nothing in any language: the expressions of charts would turn an escape such as `\\x1b` back into it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_MAX_NAME_LETTERS = 80  # one line of a terminal
_REPLACEMENT_CHARACTER = (
    "\ufffd"  # of characters for which Unicode has no symbol: its own mark for that case
)
_BLANKS = "\t\n\r"  # the control characters that lay out a text of several lines

SYMBOL_OF_CHARACTER = {
    **{chr(code): chr(0x2400 + code) for code in range(0x20)},
    "\x7f": "\u2421",
    **{chr(code): _REPLACEMENT_CHARACTER for code in (*range(0x80, 0xA0), 0xFFFE, 0xFFFF)},
    # Those that end a line, or turn the direction of a text: U+202E mirrors what follows, beyond a name.
    **{chr(code): _REPLACEMENT_CHARACTER for code in (*range(0x2028, 0x202F), 0x2066, 0x2067)},
}
"""The symbols of characters that are seen nowhere: of ESC it is the symbol for escape, U+241B."""
# With them the halves of surrogate pairs, which Python's text can have and Polars' cannot.
SYMBOL_OF_CODE = str.maketrans(
    SYMBOL_OF_CHARACTER | dict.fromkeys(map(chr, range(0xD800, 0xE000)), _REPLACEMENT_CHARACTER)
)
# The same for texts of several lines.
_SYMBOL_OF_CODE_BUT_BLANKS = {
    code: symbol for code, symbol in SYMBOL_OF_CODE.items() if chr(code) not in _BLANKS
}


def make_visible(text: str, *, keep_blanks: bool = False) -> str:
    """Return the text with each control character as its symbol in Unicode, or as U+FFFD."""
    return text.translate(_SYMBOL_OF_CODE_BUT_BLANKS if keep_blanks else SYMBOL_OF_CODE)


def shorten_name(name: str, n_letters: int = _MAX_NAME_LETTERS) -> str:
    """Return a name of at most this many letters; of a longer one both ends, which tell names apart."""
    n_last = n_letters // 3
    return name if len(name) <= n_letters else f"{name[: n_letters - n_last - 1]}…{name[-n_last:]}"


def format_count(count: Any) -> str:
    """Return a count as `1,000`, and a sum of weights as `12.5`."""
    return f"{round(count):,}" if count == round(count) else f"{count:.6g}"


def join_words(words: Iterable[str], conjunction: str = "and") -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    *first_words, last_word = words
    return f"{', '.join(first_words)} {conjunction} {last_word}" if first_words else last_word
