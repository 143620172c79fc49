"""Names as people see them: control characters as symbols, none too long, and no two alike.

A control character could command a terminal, and XML, in which charts are drawn, has none. Symbols mean
nothing in any language: the expressions of charts would turn an escape such as `\\x1b` back into it.
Of "forest" and "forest " people see one name, so what they cannot see of a name is spelt.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence

_MAX_NAME_LETTERS = 80  # one line of a terminal
_REPLACEMENT_CHARACTER = "\ufffd"  # the mark of Unicode for what has no symbol
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
    """Return a name of at most this many letters; of a longer one both ends, which distinguish names."""
    n_last_letters = n_letters // 3
    return (
        name
        if len(name) <= n_letters
        else f"{name[: n_letters - n_last_letters - 1]}…{name[-n_last_letters:]}"
    )


_UNSEEN_CATEGORIES = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"}
"""Of controls, formats, private use, halves of pairs, ends of lines and of paragraphs, and blanks."""
_UNSEEN_LETTERS = {*map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0))}
"""Characters that are letters, marks or symbols in Unicode, and that no font draws."""
_BLANK_SIGN = "\u2423"  # represents a blank at either end of a name, or beside another one
_OWN_SIGNS = {*map(chr, range(0x2400, 0x2424))}  # the symbols that represent unseen characters
_BLACK_FLAG = "\U0001f3f4"  # begins the flag of a region, whose letters are tags
_N_DIGEST_LETTERS = 6  # hexadecimal digits: of 1,000 long names two have the same with chance 0.03
_LETTERS_BEFORE_DIGEST = _MAX_NAME_LETTERS - len(" #") - _N_DIGEST_LETTERS
"""How many letters of a longer name are shown."""


def show_name(name: str) -> str:
    """Return a name on one line, such that no other name looks like it.

    A name with something unseen, such as a blank at its end, stands in quotes, with that spelt. One of
    more letters than allowed is cut in its middle, and a digest of the whole of it follows.
    """
    text = "".join(_spell_character(name, position) for position in range(len(name)))
    is_quoted = name[:1] == name[-1:] == '"'
    if text != name or is_quoted or name in ("", "null"):  # null is another group
        text = f'"{text}"'
    return text if len(text) <= _MAX_NAME_LETTERS else _cut_name(text, name, _MAX_NAME_LETTERS)


def shorten_names(names: Sequence[str], n_letters: int) -> list[str]:
    """Return names of at most so many letters, of which those that differ still do."""
    n_names_of_text = Counter(shorten_name(name, n_letters) for name in set(names))
    texts = (shorten_name(name, n_letters) for name in names)
    return [
        text if n_names_of_text[text] == 1 else _cut_name(name, name, n_letters)
        for name, text in zip(names, texts, strict=True)
    ]


def find_lookalikes(names: Iterable[str]) -> list[list[str]]:
    """Return those names, as `show_name` writes them, that people may take for one, together."""
    names_by_visible_text: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        seen_text = "".join(" " if character.isspace() else character for character in name)
        seen_text = "".join(
            character
            for character in unicodedata.normalize("NFC", seen_text)
            if not _is_unseen(character)
        )
        visible_text = " ".join(seen_text.split())
        visible_text = (
            visible_text
            if len(visible_text) <= _MAX_NAME_LETTERS
            else shorten_name(visible_text, _LETTERS_BEFORE_DIGEST)
        )
        names_by_visible_text.setdefault(visible_text, []).append(show_name(name))
    return [like_names for like_names in names_by_visible_text.values() if len(like_names) > 1]


def _cut_name(text: str, whole_name: str, n_letters: int) -> str:
    """Return a text in at most so many letters, with a digest of the name that it represents."""
    digest = zlib.crc32(whole_name.encode("utf-8", "surrogatepass"))
    digest_text = f" #{digest:08x}"[: 2 + _N_DIGEST_LETTERS]
    return f"{shorten_name(text, n_letters - len(digest_text))}{digest_text}"


def _spell_character(name: str, position: int) -> str:
    """Return a character of a name, or what identifies it: a sign, or its number in Unicode."""
    character = name[position]
    character_before = name[position - 1 : position]
    character_after = name[position + 1 : position + 2]
    if character == " ":
        return (
            character
            if character_before not in ("", " ") and character_after not in ("", " ")
            else _BLANK_SIGN
        )
    if (symbol := SYMBOL_OF_CHARACTER.get(character, "")) in _OWN_SIGNS:
        return symbol
    is_unseen = _is_unseen(character) and not _joins(character, character_before, character_after)
    if is_unseen or character in _OWN_SIGNS or _is_apart(name, character):
        return f"[U+{ord(character):04X}]"
    return character


def _is_unseen(character: str) -> bool:
    """Return whether a character is seen nowhere; a blank between words is seen."""
    return character != " " and (
        unicodedata.category(character) in _UNSEEN_CATEGORIES
        or character in _UNSEEN_LETTERS
        or character in SYMBOL_OF_CHARACTER
        or _is_variation(character)
    )


def _joins(character: str, character_before: str, character_after: str) -> bool:
    """Return whether an unseen character shapes its neighbours: in emoji, Arabic, Persian or Hindi."""
    if character in "\u200c\u200d":
        return character_before > "\u05ff" and character_after > "\u05ff"
    if 0xE0020 <= ord(character) <= 0xE007F:
        return character_before == _BLACK_FLAG or "\U000e0020" <= character_before <= "\U000e007f"
    return _is_variation(character) and character_before > "\x7f"


def _is_variation(character: str) -> bool:
    return 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF


def _is_apart(name: str, character: str) -> bool:
    """Return whether a character stands apart from one that it makes another character with."""
    # So does an accent after its letter: the two look like the one letter that has the accent.
    if name.isascii() or unicodedata.is_normalized("NFC", name):
        return False
    is_mark = unicodedata.combining(character) > 0
    return is_mark or not unicodedata.is_normalized("NFC", character)
