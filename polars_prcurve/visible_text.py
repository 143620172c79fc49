"""Text as people read it: control characters as symbols, and values and metrics by short names.

A control character could command a terminal, and XML, in which charts are drawn, has none. Symbols mean
nothing in any language: the expressions of charts would turn an escape such as `\\x1b` back into it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_MAX_NAME_LETTERS = 80
# Marks that turn the direction of writing, or end a line, would move the cells beside them.
_HARMFUL = dict.fromkeys(
    [0x061C, *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A)], "\ufffd"
)
_REPLACEMENT = "\ufffd"
_BLANKS = "\t\n\r"

SYMBOLS = {
    **{chr(code): chr(0x2400 + code) for code in range(0x20)},
    "\x7f": "\u2421",
    **{chr(code): _REPLACEMENT for code in (*range(0x80, 0xA0), 0xFFFE, 0xFFFF)},
    # Those that end a line, or turn the direction of a text: U+202E mirrors what follows, beyond a name.
    **{chr(code): _REPLACEMENT for code in (*range(0x2028, 0x202F), 0x2066, 0x2067)},
}
"""The symbols of characters that are seen nowhere: of ESC it is the symbol for escape, U+241B."""
ISOLATES = "\u2068\u2069"
"""What stands around a name that is written from right to left, so that it turns nothing beside it."""
# Halves of surrogate pairs, which Python's text can have and Polars' cannot.
VISIBLE = str.maketrans(SYMBOLS | dict.fromkeys(map(chr, range(0xD800, 0xE000)), _REPLACEMENT))
_TABLE_WITHOUT_BLANKS = {code: symbol for code, symbol in VISIBLE.items() if chr(code) not in _BLANKS}


def make_visible(text: str, *, keep_blanks: bool = False) -> str:
    """Return the text with each control character as its symbol in Unicode, or as U+FFFD."""
    return text.translate(_TABLE_WITHOUT_BLANKS if keep_blanks else VISIBLE)


def show_on_one_line(text: str) -> str:
    """Return the text with each stretch of white space as one space, and the rest made visible."""
    return make_visible(" ".join(text.split()))


def isolate_name(name: str) -> str:
    """Return a name with isolates around it if part of it is written from right to left."""
    name = name.translate(dict.fromkeys(map(ord, ISOLATES)))
    is_turned = any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in name)
    return f"{ISOLATES[0]}{name}{ISOLATES[1]}" if is_turned else name


def mark_names(text: str, names: Iterable[str], mark: Callable[[str], str]) -> str:
    """Return a text in which all names are marked, such as by isolates around each."""
    listed = sorted({name for name in names if name}, key=len, reverse=True)
    whole = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in listed)
    return re.sub(whole, lambda found: mark(found[0]), text) if listed else text


def shorten_name(name: str, letters: int = _MAX_NAME_LETTERS) -> str:
    """Return a name of at most this many letters; of a longer one both ends, which tell names apart."""
    end = letters // 3
    return name if len(name) <= letters else f"{name[: letters - end - 1]}…{name[-end:]}"


# Names of values and metrics ----------------------------------------------------------------------

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_PARAMETER = re.compile(r"\(([\d.e-]+)\)$")
_ABBREVIATIONS = re.compile(r"\b(auc|auprg|fdr|fnr|fpr|f1|lr|mcc|npv|pr|roc)\b")


def name_value(value: Any) -> str:
    """Return a value of a column of groups, or models, as a name on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if value in ("", "null"):  # quoted: an empty label is unseen, and null is another group
        return f'"{value}"'
    return shorten_name(show_on_one_line(f"{value:.6g}" if isinstance(value, float) else str(value)))


def name_group(column: str, value: Any) -> str:
    """Return a group by its value, and what is no name of its own by its column, too: `digit 6`."""
    is_name = isinstance(value, str) and not is_bare_number(value)
    return name_value(value) if is_name else f"{name_value(column)} {name_value(value)}"


def is_bare_number(value: Any) -> bool:
    """Return whether a value is a number, or a text of one, which tells nothing without its column."""
    if isinstance(value, str):
        return _NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def name_metric(name: str) -> str:
    """Return the name of a metric in a sentence: `PR AUC hull`, `precision at recall 0.5`."""
    name = _PARAMETER.sub(r" \1", name)
    return _ABBREVIATIONS.sub(lambda match: match[0].upper(), name.replace("_", " "))


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    *firsts, last = words
    return f"{', '.join(firsts)} and {last}" if firsts else last


# In rows ------------------------------------------------------------------------------------------


def count_letters(text: str) -> float:
    """Return how many letters wide a text is, about: Chinese signs are wide, and isolates are unseen."""
    return sum(
        0 if sign in ISOLATES else 1.8 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def wrap_words(text: str, letters: float) -> list[str]:
    """Return the text in as few rows as have at most so many letters, all about equally long."""
    # Rows end at blanks, and inside a word only if it is longer than a row: Chinese has no blanks.
    words = [word for word in text.split(" ") if word]
    rows = _fill_rows(words, letters)
    for step in range(1, 12):
        narrower = _fill_rows(words, letters * (1 - step / 22))
        if len(narrower) > len(rows):
            break
        rows = narrower
    start, end = ISOLATES[0], ISOLATES[1]
    for number, row in enumerate(rows[:-1]):
        if row.count(start) > row.count(end):  # a name goes on in the next row
            rows[number], rows[number + 1] = row + end, start + rows[number + 1]
    return rows


def _fill_rows(words: Sequence[str], letters: float) -> list[str]:
    """Return rows that are as full as can be."""
    rows: list[str] = []
    for word in words:
        both = f"{rows[-1]} {word}" if rows else word
        if count_letters(both) <= letters:
            rows[-1:] = [both]
            continue
        rows.append("")
        for sign in word:
            if rows[-1] and count_letters(rows[-1] + sign) > letters:
                rows.append("")
            rows[-1] += sign
    return [row for row in rows if row]


# On a terminal -----------------------------------------------------------------------------------


def make_harmless(text: str) -> str:
    """Return a text on one line, in which no character commands a terminal or moves its neighbours."""
    return make_visible(text).translate(_HARMFUL)


def measure_width(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    return sum(map(_measure_character, text))


def _measure_character(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fill_lines(text: str, width: int) -> list[str]:
    """Return the text in lines of at most this width, which end at blanks; a longer word stays whole."""
    lines: list[str] = []
    for word in text.split(" "):
        both = f"{lines[-1]} {word}" if lines else word
        if lines and measure_width(both) > width:
            lines.append(word)
        else:
            lines[-1:] = [both]
    return [line.strip(" ") for line in lines if line.strip(" ")]


def cut_text(text: str, width: int) -> str:
    """Return the text in at most this width, with an ellipsis for what is left out."""
    if measure_width(text) <= width:
        return text
    kept, used = "", 1
    for character in text:
        used += _measure_character(character)
        if used > width:
            break
        kept += character
    return kept + "…"


def pad_text(text: str, width: int, *, right: bool) -> str:
    """Return the text with blanks up to a width, before it if it stands on the right."""
    blanks = " " * (width - measure_width(text))
    return blanks + text if right else text + blanks
