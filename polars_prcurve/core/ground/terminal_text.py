"""Text on a terminal: how wide it is, lines of a width, and columns beside each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from polars_prcurve.core.ground.visible_names import make_visible, shorten_names

_LEAST_WITH_DIGEST = 12  # the letters of a name, at least, of which some stand beside its digest

# Marks that turn the direction of writing, or end a line, would move the cells beside them.
_REPLACEMENT_OF_HARMFUL = dict.fromkeys(
    [0x061C, *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A)], "\ufffd"
)


def make_harmless(text: str) -> str:
    """Return a text on one line, in which no character commands a terminal or moves its neighbours."""
    return make_visible(text).translate(_REPLACEMENT_OF_HARMFUL)


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
        longer_line = f"{lines[-1]} {word}" if lines else word
        if lines and measure_width(longer_line) > width:
            lines.append(word)
        else:
            lines[-1:] = [longer_line]
    return [line.strip(" ") for line in lines if line.strip(" ")]


def cut_text(text: str, width: int) -> str:
    """Return the text in at most this width, with an ellipsis for what is left out."""
    if measure_width(text) <= width:
        return text
    first_characters, first_width = "", 1  # the ellipsis takes one column
    for character in text:
        first_width += _measure_character(character)
        if first_width > width:
            break
        first_characters += character
    return first_characters + "…"


def cut_texts(texts: Sequence[str], width: int) -> list[str]:
    """Return texts in at most this width; those that differ still do, if the width is enough."""
    texts_cut_at_end = [cut_text(text, width) for text in texts]
    if len(set(texts_cut_at_end)) == len(set(texts)):
        return texts_cut_at_end
    short_texts = shorten_names(texts, max(width, _LEAST_WITH_DIGEST))
    texts_cut_in_middle = [cut_text(text, width) for text in short_texts]
    return max(texts_cut_at_end, texts_cut_in_middle, key=lambda texts_of_cut: len(set(texts_of_cut)))


def pad_text(text: str, width: int, *, is_right: bool) -> str:
    """Return the text with blanks up to a width, before it if it stands on the right."""
    blanks = " " * (width - measure_width(text))
    return blanks + text if is_right else text + blanks


# Columns of text ---------------------------------------------------------------------------------

GAP = "  "  # between columns, which have no lines


class TextColumn(NamedTuple):
    """A column of text, whose cells may have several lines."""

    head: str
    cells: list[str]
    is_text: bool = False  # and no number, so that it begins on the left
    shown_names: Collection[str] = ()  # what it shows, such as columns of a table
    spans: Sequence[str] = ()  # the interval of each cell in brackets, or empty; none without intervals
    level: str = ""  # that of the intervals, in brackets
    is_stacked: bool = False  # whether intervals, and the level, stand below and not behind

    @property
    def texts(self) -> list[str]:
        """The head and the cells, with the level and the intervals."""
        separator, spans = "\n" if self.is_stacked else " ", self.spans or [""] * len(self.cells)
        cell_pairs = zip((self.head, *self.cells), (self.level, *spans), strict=True)
        return [separator.join(filter(None, cell_pair)) for cell_pair in cell_pairs]

    @property
    def width(self) -> int:
        return max(measure_width(line) for text in self.texts for line in text.split("\n"))

    def cut(self, width: int) -> TextColumn:
        """Return the column in at most this width; only one without intervals can be cut."""
        head, *cells = cut_texts([self.head, *self.cells], width)
        return self._replace(head=head, cells=cells)


def measure_columns(columns: Sequence[TextColumn]) -> int:
    """Return the width of columns beside each other."""
    return sum(column.width + len(GAP) for column in columns) - len(GAP)


def lay_out(columns: Sequence[TextColumn]) -> Iterator[list[str]]:
    """Yield the lines of the head and of each row."""
    for row_cells in zip(*(column.texts for column in columns), strict=True):
        lines_of_cells = [cell.split("\n") for cell in row_cells]
        n_lines = max(map(len, lines_of_cells))
        padded_cells = (
            [
                pad_text(line, column.width, is_right=not column.is_text)
                for line in [*cell_lines, *[""] * (n_lines - len(cell_lines))]
            ]
            for column, cell_lines in zip(columns, lines_of_cells, strict=True)
        )
        yield [GAP.join(line).rstrip() for line in zip(*padded_cells, strict=True)]
