"""Text in rows: how many letters wide it is, and where it breaks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from polars_prcurve.view.words.shown_names import ISOLATES


def count_letters(text: str) -> float:
    """Return how many letters wide a text is, about: Chinese signs are wide, and isolates are unseen."""
    return sum(
        0 if character in ISOLATES else 1.8 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def wrap_words(text: str, max_letters: float) -> list[str]:
    """Return the text in as few rows as have at most so many letters, all about equally long."""
    # Rows end at blanks, and inside a word only if it is longer than a row: Chinese has no blanks.
    words = [word for word in text.split(" ") if word]
    lines = _fill_rows(words, max_letters)
    word_widths = [width for width in map(count_letters, words) if width <= max_letters]
    for narrowing_step in range(1, 12):
        narrower_line_width = max_letters * (1 - narrowing_step / 22)
        narrower_lines = _fill_rows(words, narrower_line_width)
        if len(narrower_lines) > len(lines) or narrower_line_width < max(word_widths, default=0):
            break
        lines = narrower_lines
    start_isolate, end_isolate = ISOLATES[0], ISOLATES[1]
    for line_number, line in enumerate(lines[:-1]):
        if line.count(start_isolate) > line.count(end_isolate):  # a name goes on in the next row
            lines[line_number] = line + end_isolate
            lines[line_number + 1] = start_isolate + lines[line_number + 1]
    return lines


def _fill_rows(words: Sequence[str], max_letters: float) -> list[str]:
    """Return rows that are as full as can be."""
    lines: list[str] = []
    for word in words:
        longer_line = f"{lines[-1]} {word}" if lines else word
        if count_letters(longer_line) <= max_letters:
            lines[-1:] = [longer_line]
            continue
        lines.append("")
        for character in word:
            if lines[-1] and count_letters(lines[-1] + character) > max_letters:
                lines.append("")
            lines[-1] += character
    return [row for row in lines if row]
