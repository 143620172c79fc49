"""A picture of a decision to share, 1,200 by 630 pixels: sentence, icons, and what was tested."""

from __future__ import annotations

from collections.abc import Iterator

from polars_prcurve.core.ground.safe_text import shorten_name
from polars_prcurve.view.report.decision_drawings import (
    are_drawn,
    describe_doubt,
    list_blocks,
    list_icons,
    number_models,
    place_icons,
)
from polars_prcurve.view.report.decision_html import (
    choose_drawable,
    describe_test,
    isolate_names,
)
from polars_prcurve.view.report.html_and_svg import (
    FONT,
    define_hatches,
    draw_document,
    draw_text,
    name_color,
    paint,
)
from polars_prcurve.view.verdicts.case_places import say_place
from polars_prcurve.view.verdicts.decision_in_words import Findings
from polars_prcurve.view.verdicts.value_phrases import (
    format_value,
    name_model,
    start_sentence,
)
from polars_prcurve.view.words.number_words import NO_BREAK, format_level
from polars_prcurve.view.words.value_names import isolate_name, wrap_words

_WIDTH = 1200  # pixels, as wide as networks show a card
_HEIGHT = 630  # pixels, as high as they show it without a cut
_MARGIN = 60  # pixels on either side
_NAME_LETTERS = 22  # letters in a row of a name beside its icons
_MOST_NAME_ROWS = 5  # rows of a name, at most
_SIZES_AND_LINES = ((46, 2), (38, 2), (32, 3), (26, 3), (22, 4), (18, 6))
"""Type sizes of the sentence, the largest first, and in how many lines each has room."""
_IN_A_ROW = 20  # circles in a row, of which each is a case
_MOST_LETTERS = 84  # letters of the line above the sentence, at most, in its usual size
_LETTER = 0.56  # mean width of a letter of the sentence, as a share of its size


def draw_card(findings: Findings, date: str | None) -> str:
    """Return the card as SVG, with colours of its own; equal findings make equal bytes."""
    is_of_cases = bool(findings.cases) and are_drawn(findings)
    key_text = ""
    if is_of_cases:
        key_text = f"a circle per {'group' if findings.group_columns else 'prevalence'}"
    elif findings.cases and (candidates := choose_drawable(findings.cases[0])):
        doubt_phrase = describe_doubt(
            (findings.cases[0], candidate.precision) for candidate in candidates
        )
        key_text = f"solid true · hatched {doubt_phrase} · hollow false"
    conditions = "; ".join(findings.verdict.conditions.split("; ")[:2])  # prevalence and thresholds
    sentence = isolate_names(findings, findings.verdict.sentence)
    # In as large a type as its length allows, in up to six lines.
    for type_size, most_lines in _SIZES_AND_LINES:
        lines = wrap_words(sentence, (_WIDTH - 2 * _MARGIN) / (_LETTER * type_size))
        if len(lines) <= most_lines:
            break
    shapes = [
        f"<style>text{{font-family:{FONT};fill:var(--text)}}.quiet{{fill:var(--quiet)}}"
        ".strong{font-weight:700}</style>",
        define_hatches(),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" style="fill:var(--ground)"/>',
        f'<rect width="{_WIDTH}" height="10" style="fill:var(--text)"/>',
        draw_text((_MARGIN, 74), conditions, 23 if len(conditions) < _MOST_LETTERS else 17),
        *(
            draw_text(
                (_MARGIN, 84 + type_size * 1.2 * line_number),
                line.replace(NO_BREAK, " "),
                type_size,
                kind="strong",
            )
            for line_number, line in enumerate(lines, 1)
        ),
        *(_draw_blocks(findings) if is_of_cases else _draw_models(findings) if findings.cases else ()),
        f'<rect x="{_MARGIN}" y="567" width="{_WIDTH - 2 * _MARGIN}" height="1.5" '
        'style="fill:var(--grid)"/>',
        draw_text((_MARGIN, 604), describe_test(findings, date), 19),
        draw_text((_WIDTH - _MARGIN, 548), key_text, 17, anchor="end"),
    ]
    return paint(draw_document(shapes, _WIDTH, _HEIGHT, findings.verdict.sentence))


def _draw_models(findings: Findings) -> Iterator[str]:
    """Yield icons, name and numbers of two models of the first case; where, if there are others."""
    case = findings.cases[0]
    color_number_by_model, level_text = number_models(case), format_level(findings.confidence)
    place_phrase = say_place(case) if len(findings.cases) > 1 else ""
    title = shorten_name(start_sentence(place_phrase), 96)
    yield draw_text((_MARGIN, 240), isolate_names(findings, title), 21)
    for number, candidate in enumerate(choose_drawable(case)):
        icons_x = _MARGIN + 560 * number
        kinds = list(list_icons(case, candidate.precision))
        n_columns = 10 if len(kinds) <= 100 else 20
        icons = place_icons(
            kinds, color_number_by_model[candidate.model] % 8, 260 / n_columns, n_columns
        )
        yield f'<g transform="translate({icons_x} 255)">{"".join(icons)}</g>'
        text_x, y = icons_x + 284, 272
        color = name_color(color_number_by_model[candidate.model])
        name = "" if candidate.model is None else name_model(candidate)
        for name_row in wrap_words(name, _NAME_LETTERS)[:_MOST_NAME_ROWS]:
            yield draw_text((text_x, y), isolate_name(name_row), 21, kind="strong", color=color)
            y += 24
        value_text, span_text = format_value("precision", candidate.precision)
        y += 50
        yield draw_text((text_x, y), value_text, 40 if len(value_text) > 5 else 66, kind="strong")
        yield draw_text((text_x, y + 32), "of alerts are true (precision)", 21)
        if span_text:
            span_text = f"{span_text} ({level_text})"
            type_size = 21 if len(span_text) <= _NAME_LETTERS + 4 else 17
            yield draw_text((text_x, y + 64), span_text, type_size, kind="")


def _draw_blocks(findings: Findings) -> Iterator[str]:
    """Yield a row for each block of cases, with an icon per case."""
    blocks = list_blocks(findings)
    n_rows_of_blocks = [-(-len(block.cases) // _IN_A_ROW) for block in blocks]
    cell_size = min(28.0, 290 / (sum(n_rows_of_blocks) + 0.7 * len(n_rows_of_blocks)))
    y = 250.0
    for block, n_rows in zip(blocks, n_rows_of_blocks, strict=True):
        titles = wrap_words(isolate_names(findings, block.title), 50)[:2]
        for line_number, title in enumerate(titles):
            yield draw_text((_MARGIN, y + 0.5 * cell_size + 7 + 21 * line_number), title, 19, kind="")
        kind = "false" if block.color_number is None else "right"
        icons = place_icons([kind] * len(block.cases), block.color_number or 0, cell_size, _IN_A_ROW)
        yield f'<g transform="translate({_MARGIN + 520} {y:.1f})">{"".join(icons)}</g>'
        y += cell_size * (n_rows + 0.7)
