"""A picture of a decision to share, 1 200 by 630 pixels: sentence, icons, and what was tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polars_prcurve.decision.cases import Candidate
from polars_prcurve.decision.decide import Findings, say_place
from polars_prcurve.decision.value_words import name_model, say_right
from polars_prcurve.number_words import NO_BREAK, format_level
from polars_prcurve.report.alert_icons import list_icons, place_icons
from polars_prcurve.report.document import (
    choose_shown,
    describe_question,
    describe_test,
)
from polars_prcurve.report.group_blocks import number_models
from polars_prcurve.report.page_colors import FONT, paint
from polars_prcurve.report.svg import define_hatches, draw_document, draw_text, name_color
from polars_prcurve.visible_text import shorten_name, wrap_words

_WIDTH, _HEIGHT, _MARGIN = 1200, 630, 60
_LETTERS, _MOST_LETTERS = 22, 40
"""Letters in a row of a name beside its icons, and of the whole name."""
_LETTER = 0.56
"""Mean width of a letter of the sentence, as a share of its size."""
_KEY = "solid right · hatched right or not · hollow false"
_ISOLATE = "\u2068{}\u2069"


def draw_card(findings: Findings, date: str | None) -> str:
    """Return the card as SVG, with colours of its own; equal findings make equal bytes."""
    shapes = [
        f"<style>text{{font-family:{FONT};fill:var(--text)}}.quiet{{fill:var(--quiet)}}"
        ".strong{font-weight:700}</style>",
        define_hatches(),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" style="fill:var(--ground)"/>',
        f'<rect width="{_WIDTH}" height="10" style="fill:var(--text)"/>',
        draw_text((_MARGIN, 74), shorten_name(describe_question(findings), 96), 23),
        *_write_sentence(findings.verdict.sentence),
        *_draw_models(findings),
        f'<rect x="{_MARGIN}" y="567" width="{_WIDTH - 2 * _MARGIN}" height="1.5" '
        'style="fill:var(--grid)"/>',
        draw_text((_MARGIN, 604), describe_test(findings, date), 19),
        draw_text((_WIDTH - _MARGIN, 548), _KEY, 17, anchor="end"),
    ]
    return paint(draw_document(shapes, _WIDTH, _HEIGHT, findings.verdict.sentence))


def _write_sentence(sentence: str) -> Iterator[str]:
    """Yield the sentence in as large a type as its length allows, in up to five lines."""
    for size, most in ((46, 2), (38, 2), (32, 3), (26, 3), (22, 4), (18, 6)):
        lines = wrap_words(sentence, (_WIDTH - 2 * _MARGIN) / (_LETTER * size))
        if len(lines) <= most:
            break
    for number, line in enumerate(lines):
        place = _MARGIN, 84 + size * 1.2 * (number + 1)
        yield draw_text(place, line.replace(NO_BREAK, " "), size, kind="strong")


def _draw_models(findings: Findings) -> Iterator[str]:
    if not findings.cases or findings.group_tests is not None:
        return
    case = findings.cases[0][0]
    colors, level = number_models(case), format_level(findings.confidence)
    shown = [each for each in choose_shown(case) if each.precision.value is not None]
    for number, candidate in enumerate(shown):
        left = _MARGIN + 560 * number
        icons = "".join(_place(candidate, colors[candidate.model]))
        yield f'<g transform="translate({left} 255)">{icons}</g>'
        beside = left + 284
        name = say_place(case) if len(findings.cases) > 1 else ""
        name = name if candidate.model is None else name_model(candidate)
        color = name_color(colors[candidate.model])
        name = name if candidate.model is not None else name[:1].upper() + name[1:]
        rows = wrap_words(shorten_name(name, _MOST_LETTERS), _LETTERS)[:2]
        for line, row in enumerate(reversed(rows)):
            place = beside, 276 - 24 * line
            yield draw_text(place, _ISOLATE.format(row), 21, kind="strong", color=color)
        yield from _write_value(candidate, beside, level)


def _place(candidate: Candidate, color: int) -> Iterator[str]:
    kinds: Sequence[str] = list(list_icons(candidate.precision))
    columns = 10 if len(kinds) <= 100 else 20
    return place_icons(kinds, color % 8, 260 / columns, columns)


def _write_value(candidate: Candidate, left: float, level: str) -> Iterator[str]:
    precision = candidate.precision
    said = say_right([precision.value, *(precision.span or ())])
    is_rare = "in" in said[0]
    yield draw_text((left, 346), said[0], 40 if is_rare else 66, kind="strong")
    yield draw_text((left, 378), "alerts is right" if is_rare else "of 100 alerts right", 21)
    if precision.span is not None:
        ends = f"{said[1]} to {said[2]} ({level})"
        yield draw_text((left, 410), ends, 21 if len(ends) <= _LETTERS + 4 else 17, kind="")
