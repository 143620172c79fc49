"""The picture of the page: of 100 alerts in the test, and of 100 in the field, how many are right."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from html import escape
from itertools import pairwise
from pathlib import Path

import vl_convert
from story import HERE, NAMES, Value, say_share, say_value, stories

sys.path.insert(0, str(HERE.parent))
from gallery import compress

STEP, ROW, NAME, GAP = 4.6, 30, 168, 24
RIGHT, QUIET = "#0072B2", "#5B626B"
DOT = f'<circle cx="{STEP / 2}" cy="{STEP / 2}" r="{0.39 * STEP}" '
LOOKS = {
    "right": f'{DOT}fill="{RIGHT}"/>',
    "open": f'{DOT}fill="{RIGHT}" fill-opacity=".28" stroke="{RIGHT}" stroke-width=".5"/>',
    "false": f'{DOT}fill="none" stroke="#8A919A" stroke-width=".5"/>',
}
"""As in `plot.alerts`: right up to the low end of the interval, open to the high one; then false."""


def write_strips(path: Path) -> None:
    """Write the picture of all sources whose numbers are precisions."""
    found = [(story.title, story.numbers()) for story in stories(NAMES).values()]
    rows = [(title, numbers.measured[0], numbers.becomes[0]) for title, numbers in found]
    width, height = NAME + 2 * (100 * STEP + GAP) + 10, 62 + ROW * len(rows)
    svg = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            'font-family="Liberation Sans, Arial, sans-serif" font-size="11">',
            f'<defs>{"".join(define_looks())}</defs><rect width="100%" height="100%" fill="white"/>',
            *write_heads(),
            *(line for place, row in enumerate(rows) for line in draw_row(52 + ROW * place, *row)),
            "</svg>",
        ]
    )
    path.write_bytes(compress(vl_convert.svg_to_png(svg, scale=1.5)))


def define_looks() -> Iterator[str]:
    for name, dot in LOOKS.items():
        size = f'width="{STEP}" height="{STEP}" patternUnits="userSpaceOnUse"'
        yield f'<pattern id="{name}" {size}>{dot}</pattern>'


def write_heads() -> Iterator[str]:
    texts = ("Of 100 alerts in the test", "Of 100 alerts where it works")
    for place, text in enumerate(texts):
        x = NAME + place * (100 * STEP + GAP)
        yield f'<text x="{x}" y="20" font-size="14" font-weight="bold">{text}</text>'
    note = "Solid: right. Tint: right or not, by the 95% interval. Hollow: false."
    yield f'<text x="{NAME}" y="36" fill="{QUIET}">{note}</text>'


def draw_row(y: float, title: str, own: Value, there: Value) -> Iterator[str]:
    """Yield the name of a source, and its two strips with their numbers below."""
    yield f'<text x="{NAME - 10}" y="{y + 5}" text-anchor="end">{escape(title)}</text>'
    for place, value in enumerate((own, there)):
        x = NAME + place * (100 * STEP + GAP)
        yield f'<g transform="translate({x} {y})">'
        if value.what == "precision":
            yield from draw_strip(value)
        what = "" if value.what == "precision" else f"{value.what} "
        said = f"{what}{say_value(value)} at {say_share(value.eta)}"
        yield f'<text y="{STEP + 11}" font-size="9.5" fill="{QUIET}">{escape(said)}</text></g>'


def draw_strip(value: Value) -> Iterable[str]:
    """Yield the dots of 100 alerts, as runs of one look each."""
    low, high = (value.value if end is None else end for end in (value.low, value.high))
    ends = [0, round(100 * low), round(100 * high), 100]
    for (start, end), look in zip(pairwise(ends), LOOKS, strict=True):
        if end > start:
            x, width = start * STEP, (end - start) * STEP
            yield f'<rect x="{x}" width="{width}" height="{STEP}" fill="url(#{look})"/>'
