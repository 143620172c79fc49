"""The pictures of a decision: icons of alerts, merits, the curves of models, and groups side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from polars_prcurve.core.confidence.intervals import Estimate
from polars_prcurve.core.ground.safe_text import format_count, shorten_name
from polars_prcurve.core.judging.case_status import Candidate, Case
from polars_prcurve.core.judging.status_names import Outcome
from polars_prcurve.view.report.html_and_svg import (
    DOTTED,
    Point,
    draw_area,
    draw_circle,
    draw_document,
    draw_line,
    draw_path,
    draw_text,
    name_color,
)
from polars_prcurve.view.verdicts.decision_in_words import Findings
from polars_prcurve.view.verdicts.value_phrases import (
    choose_drawn_column,
    describe_icons,
    find_drawn_limits,
    is_rarely_right,
    name_merit,
    name_model,
    write_merit,
)
from polars_prcurve.view.verdicts.verdict_of_all_cases import WordedCase, say_short
from polars_prcurve.view.words.name_numbers import keep_call_order, number_names
from polars_prcurve.view.words.number_words import count_of_100, count_one_in
from polars_prcurve.view.words.value_names import count_letters, wrap_words

# Icons of alerts: those that are right, false, and hatched what the interval leaves open -----------

_IN_A_ROW = 10  # icons in a row, so that rows of 100 alerts count tens
MOST_ICONS = 200  # of one model, at most: two stand side by side, and on a phone
KINDS = ("right", "likely", "open", "false")
"""Kinds of icons in their order: right by the whole interval, by the estimate, by its high end, not."""


def draw_alerts(case: Case, precision: Estimate, color_number: int) -> str:
    """Return the icons of the alerts of a model, ten in a row."""
    kinds = list(list_icons(case, precision))
    n_columns = _IN_A_ROW if len(kinds) <= 100 else 2 * _IN_A_ROW
    cell_size = 17.6 * _IN_A_ROW / n_columns
    shapes = place_icons(kinds, color_number, cell_size, n_columns)
    n_rows = -(-len(kinds) // n_columns)
    description = describe_icons(precision)
    return draw_document(shapes, cell_size * n_columns, cell_size * n_rows, description)


def place_icons(
    kinds: Sequence[str], color_number: int, cell_size: float, n_columns: int
) -> Iterator[str]:
    """Yield the circles of the icons, in rows from the top left."""
    for number, kind in enumerate(kinds):
        x, y = (number % n_columns + 0.5) * cell_size, (number // n_columns + 0.5) * cell_size
        yield draw_circle(x, y, 0.37 * cell_size, describe_look(kind, color_number))


def describe_look(kind: str, color_number: int | None) -> str:
    """Return how an icon of a kind looks: solid, hatched with a heavy or a light ring, or hollow."""
    ring_color = "var(--quiet)" if color_number is None else name_color(color_number)
    hatch_url = f"url(#hatch-{'grey' if color_number is None else color_number % 8})"
    return {
        "right": f'style="fill:{ring_color};stroke:{ring_color}" stroke-width="1"',
        "likely": f'style="fill:{hatch_url};stroke:{ring_color}" stroke-width="1.8"',
        "open": f'style="fill:{hatch_url};stroke:{ring_color}" stroke-width="1" fill-opacity=".38"',
        "false": 'fill="none" style="stroke:var(--rule)" stroke-width="1"',
    }[kind]


def describe_doubt(grids: Iterable[tuple[Case, Estimate]]) -> str:
    """Return what hatched icons of models mean, and how many there would be if not all are drawn."""
    icon_grids = list(grids)
    rare_precisions = [
        precision for case, precision in icon_grids if _is_read_one_by_one(case, precision)
    ]
    meanings = ["true or not"] if len(rare_precisions) < len(icon_grids) else []
    if rare_precisions:
        lowest_share = min(
            precision.low if precision.span else precision.value for precision in rare_precisions
        )
        count_note = ""
        if lowest_share <= 0:
            count_note = f", and more than the {MOST_ICONS} drawn"
        elif round(1 / lowest_share) > MOST_ICONS:
            count_note = f", up to {format_count(count_one_in(lowest_share))}; {MOST_ICONS} are drawn"
        meanings.append(f"may have to be read until one is true{count_note}")
    return " or ".join(meanings)


def _is_read_one_by_one(case: Case, precision: Estimate) -> bool:
    """Return whether icons are the alerts that are read until one is right."""
    return is_rarely_right(case) and precision.value > 0


def list_icons(case: Case, precision: Estimate) -> Iterator[str]:
    """Yield the kind of each icon: of 100 alerts, or of as many as one right one takes."""
    # Those up to the low end of the interval are right, and those above its high end are false. Between
    # them it is open, below the estimate less so. Where one in more than 50 is right, those between are
    # alerts that may have to be read until one is right.
    value = float(precision.value)
    low, high = precision.span or (value, value)
    if not is_rarely_right(case):
        end_counts = [count_of_100(share) for share in (low, value, high)]
        for number in range(100):
            yield next(
                (kind for kind, end_count in zip(KINDS, end_counts, strict=False) if number < end_count),
                "false",
            )
        return
    n_icons = 100 if value == 0 else min(MOST_ICONS, round(1 / low) if low > 0 else MOST_ICONS)
    if value == 0:
        yield from ("open" if number < round(100 * high) else "false" for number in range(n_icons))
        return
    n_alerts_at_high, n_alerts_at_value = round(1 / high), round(1 / value)
    yield "right" if n_alerts_at_value <= MOST_ICONS else "false"  # one in more than are drawn
    for number in range(1, max(n_icons, min(n_alerts_at_value, MOST_ICONS))):
        yield (
            "false" if number < n_alerts_at_high else "likely" if number < n_alerts_at_value else "open"
        )


# What is judged without a target: the merit of models, with its intervals, on one axis -------------

_LETTER_OF_VALUE = 7.6  # pixels that a letter of a bold name takes, about
_INTERVAL_HEIGHT = 46.0  # pixels that a model takes: its name and value, and the interval below


def draw_intervals(case: Case, models: Sequence[tuple[Candidate, int]], width: float, kind: str) -> str:
    """Return the picture of what is judged: the merit of each model, with the number of its colour."""
    column, height = case.goal.merit_column, _INTERVAL_HEIGHT * len(models) + 26
    axis_end = _find_axis_end(candidate.read(column) for candidate, _ in models)

    def place(value: float) -> float:
        return 8 + value * (width - 28) * 100 / axis_end

    shapes = [*_draw_ticks(axis_end, place, (0, height - 22), height - 6)]
    for number, (candidate, color_number) in enumerate(models):
        y, color, estimate = _INTERVAL_HEIGHT * number, name_color(color_number), candidate.read(column)
        value_text = write_merit(candidate)
        name = "" if candidate.model is None else name_model(candidate)
        name = shorten_name(name, int(width / _LETTER_OF_VALUE) - len(value_text))
        shapes.append(draw_text((0, y + 16), name, 13, kind="strong rim", color=color))
        shapes.append(draw_text((width, y + 16), value_text, 13, kind="rim", anchor="end"))
        if estimate.span is not None:
            low, high = ((place(end), y + 31) for end in estimate.span)
            shapes.append(draw_line(low, high, color, 'stroke-width="2.4"'))
        shapes.append(draw_circle(place(estimate.value), y + 31, 5, f'style="fill:{color}"'))
    return draw_document(shapes, width, height, f"{name_merit(case)} of each model", kind)


# Curves of models: precision by recall ----------------------

LOG_BELOW_ETA = 0.01
"""Where positives are rarer than this, precision has a log axis: lines would lie at 0 otherwise."""
FEW_FALSE_ALERTS = 5  # false positives below which a line is dotted: chance decides about it
_FEW_POSITIVES = 20  # positives below which it is, too
_LINE_HEIGHT = 16.0  # pixels from a name to the next one
_NAME_RECALL = 0.62  # the recall at which names stand: there is room to the right, and curves differ


@dataclass(frozen=True)
class Curve:
    """The curve of a model, and the point on it that is decided about."""

    name: str
    color_number: int | None
    rows: Sequence[Mapping[str, Any]]
    """Rows of `curve` by rising recall: recall, precision with its interval, fp."""
    point: Point | None  # recall and precision at the targets; None if they are not met


Place: TypeAlias = Callable[[float, float], Point]
"""Where a recall and a precision are in a picture."""


def draw_curves(curves: Sequence[Curve], eta: float, width: float, height: float, kind: str) -> str:
    """Return the picture of some models, and the level of chance."""
    foot = eta if 0 < eta < LOG_BELOW_ETA else 0.0  # of the axis of precision, a log axis above 0
    plot_left = 84 if foot else 42

    def place(recall: float, precision: float) -> Point:
        level = 1 - math.log(max(precision, foot)) / math.log(foot) if foot else precision
        return plot_left + recall * (width - 24 - plot_left), 14 + (1 - level) * (height - 56)

    shapes = []
    grid_levels = [(percent / 100, f"{percent}%") for percent in range(0, 101, 20)]
    if foot:
        powers = [10.0**-exponent for exponent in range(1, int(-math.log10(foot) + 1e-9) + 1)]
        grid_levels = [(1.0, "100%"), *[(power, f"{100 * power:g}%") for power in powers]]
    for precision, label in grid_levels:
        (x, y), line_end = place(0, precision), place(1, precision)
        shapes.append(draw_line((x, y), line_end, "var(--grid)"))
        shapes.append(draw_text((x - 8, y + 4), label, 12, anchor="end"))
    for percent in range(0, 101, 20):
        x, foot_y = place(percent / 100, 0)
        shapes.append(draw_text((x, foot_y + 18), f"{percent}%", 12, anchor="middle"))
    x, foot_y = place(0, 0)
    shapes.append(draw_text((x, foot_y + 36), "Recall", 12))
    for curve in sorted(curves, key=lambda curve: curve.color_number is not None):
        shapes += _draw_curve(place, curve)
    chance_start = place(0, eta)
    shapes.append(draw_line(chance_start, place(1, eta)))
    label_offset = -5 if eta < 0.06 or foot else 15
    x, y = chance_start
    shapes.append(draw_text((x + 4, y + label_offset), "by chance", 11, kind="quiet rim"))
    colored_curves = [curve for curve in curves if curve.color_number is not None]
    if have_room(colored_curves, width):
        shapes += _name_curves(place, width, colored_curves)
    label = "Precision of each model by its recall"
    return draw_document(shapes, width, height, label, kind)


def _draw_curve(place: Place, curve: Curve) -> Iterator[str]:
    color = name_color(curve.color_number)
    curve_rows = [
        row for row in curve.rows if row["precision"] is not None and row["recall"] is not None
    ]
    band_rows = [row for row in curve_rows if row.get("precision_low") is not None]
    if band_rows and curve.color_number is not None:
        upper_points = [place(row["recall"], row["precision_high"]) for row in band_rows]
        lower_points = [place(row["recall"], row["precision_low"]) for row in band_rows]
        yield draw_area(_list_corners(upper_points), _list_corners(lower_points), color)
    first_solid = next(
        (number for number, row in enumerate(curve_rows) if not _is_by_chance(row)), len(curve_rows)
    )
    line_points = _list_corners([place(row["recall"], row["precision"]) for row in curve_rows])
    if first_solid > 0:
        yield draw_path(line_points[: 2 * first_solid + 1], color, 1.6, DOTTED)
    if solid_points := line_points[2 * first_solid :]:
        yield draw_path(solid_points, color, 2.2 if curve.color_number is not None else 1.2)
    if curve.point is not None and curve.color_number is not None:
        x, y = place(*curve.point)
        circle_attributes = f'style="fill:{color};stroke:var(--ground)" stroke-width="1.5"'
        yield draw_circle(x, y, 5, circle_attributes)


def _list_corners(points: Sequence[Point]) -> list[Point]:
    """Return points of rising recall as steps: between two recalls the lower threshold is needed."""
    corners = [*points[:1]]
    for (x, _), next_point in pairwise(points):
        corners += [(x, next_point[1]), next_point]
    return corners


def _is_by_chance(row: Mapping[str, Any]) -> bool:
    """Return whether so few examples are behind a point that chance decides about it."""
    n_pos = None if row.get("fn") is None else row["tp"] + row["fn"]
    has_few_false = row["fp"] is not None and row["fp"] < FEW_FALSE_ALERTS
    return has_few_false or (n_pos is not None and n_pos < _FEW_POSITIVES)


def have_room(curves: Sequence[Curve], width: float) -> bool:
    """Return whether names can stand at their lines: longer ones are in a key below."""
    return all(count_letters(curve.name) <= (1 - _NAME_RECALL) * width / 7.5 for curve in curves)


def _name_curves(place: Place, width: float, curves: Sequence[Curve]) -> Iterator[str]:
    """Yield the names, each near its line, in the order of lines and a line of text apart."""
    anchored_curves = []
    for curve in curves:
        defined_rows = [row for row in curve.rows if row["precision"] is not None]
        row = min(defined_rows, key=lambda row: abs((row["recall"] or 0) - _NAME_RECALL), default=None)
        if row is not None:
            anchored_curves.append((place(_NAME_RECALL, row["precision"]), curve))
    anchored_curves.sort(key=lambda point_and_curve: point_and_curve[0][1])
    heights: list[float] = []
    for (_, y), _ in anchored_curves:
        heights.append(max(y - 8, heights[-1] + _LINE_HEIGHT if heights else 14))
    lowest_y = place(0, 0)[1] - 6
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], lowest_y)
        lowest_y = heights[number] - _LINE_HEIGHT
    for ((x, _), curve), y in zip(anchored_curves, heights, strict=True):
        has_room = x + 0.58 * 13 * len(curve.name) < width
        text_x, anchor = (x, "start") if has_room else (width - 4, "end")
        color = name_color(curve.color_number)
        yield draw_text((text_x, y), curve.name, 13, kind="strong rim", anchor=anchor, color=color)


# Groups: the values of each with their intervals, those below first --------------------------------

_ROW_HEIGHT = 14.0  # pixels that a row takes
_NAME_ROW_HEIGHT = 12.0  # pixels that a further row of its name takes
_HEAD_HEIGHT = 22.0  # pixels that the title of a block takes
_MODEL_ROW_HEIGHT = 3.6  # pixels from the interval of a model to that of the next one
_LETTER = 6.0  # pixels that a letter of a name takes, about
_MOST_NAME_ROWS = 3  # rows of a name, at most
_LEAST_DRAWN = 4  # cases from which on all are drawn in one picture; of fewer each has a sentence
_OPEN_COLOR = None  # the colour of what is not decided: grey
# The title of the cases of each result, and the number of its colour, in the order of blocks.
_BLOCKS: Mapping[Outcome, tuple[str, int | None]] = {
    "worse": ("{} worse than the others", 1),
    "not_met": ("{} where the target is not met", 1),
    "open": ("{} without a significant difference to the others", _OPEN_COLOR),
    "unsure": ("{} not sure", _OPEN_COLOR),
    "better": ("{} better than the others", 0),
    "winner": ("{} with a clear winner", 0),
    "met": ("{} where the target is met", 0),
    "measured": ("{} measured", 0),
    "no_winner": ("{} without a clear winner", _OPEN_COLOR),
    "chance": ("{} no better than chance", 1),
    "too_little_data": ("{} with too little data", _OPEN_COLOR),
}


@dataclass(frozen=True)
class GroupBlock:
    """Cases of which the same is known; the colour is a number, or None for grey."""

    title: str
    color_number: int | None
    cases: Sequence[WordedCase]
    is_in_doubt: bool  # whether intervals are known to be too narrow, so lines are dotted


def draw_groups(findings: Findings, blocks: Sequence[GroupBlock], width: float, kind: str) -> str:
    """Return the picture of all cases, and the value of all groups together if they are tested."""
    color_number_by_model = {} if findings.has_one_model else number_models(findings)
    names_width, plot_right = min(170.0, 0.36 * width), width - 52
    column = choose_drawn_column(findings.goal)
    candidates = [candidate for case in findings.cases for candidate in case.candidates]
    axis_end = _find_axis_end(candidate.read(column) for candidate in candidates)

    def place(share: float) -> float:
        return names_width + share * (plot_right - names_width) * 100 / axis_end

    names = {case.name for case in findings.cases}
    rows_of_name = {name: wrap_words(name, names_width / _LETTER)[:_MOST_NAME_ROWS] for name in names}

    def measure(case: WordedCase) -> float:
        name_height = _ROW_HEIGHT + _NAME_ROW_HEIGHT * (max(len(rows_of_name[case.name]), 1) - 1)
        return max(name_height, _MODEL_ROW_HEIGHT * (len(case.candidates) + 1))

    height = 26 + sum(_HEAD_HEIGHT + sum(map(measure, block.cases)) for block in blocks)
    shapes = [*_draw_axis(findings, axis_end, place, height)]
    shapes.append(draw_text((width, 24), "positives", 10, anchor="end"))
    y = 20.0
    for block in blocks:
        y += _HEAD_HEIGHT
        shapes.append(draw_text((0, y - 6), block.title, 12, kind="strong rim"))
        for case in block.cases:
            middle_y, name_rows = y + measure(case) / 2, rows_of_name[case.name]
            first_row_y = middle_y + 4 - _NAME_ROW_HEIGHT * (len(name_rows) - 1) / 2
            text_kind = "quiet" if block.color_number is None else ""
            for number, row_text in enumerate(name_rows):
                row_y = first_row_y + _NAME_ROW_HEIGHT * number
                shapes.append(draw_text((0, row_y), row_text, 10.5, kind=text_kind))
            shapes += _draw_marks(block, case, color_number_by_model, middle_y, place)
            shapes.append(draw_text((width, middle_y + 4), format_count(case.n_pos), 10.5, anchor="end"))
            y += measure(case)
    return draw_document(shapes, width, height, "Value of each group with its interval", kind)


def _draw_axis(
    findings: Findings, axis_end: int, place: Callable[[float], float], height: float
) -> Iterator[str]:
    """Yield the ticks, and the value of all groups together or the limit of a demand."""
    overall = None if findings.group_tests is None else findings.group_tests.overall_value
    column = choose_drawn_column(findings.goal)
    limits = find_drawn_limits(findings.goal)
    overall, is_of_rate = limits.get(column, overall), bool(limits) or findings.goal.is_of_rate
    yield from _draw_ticks(axis_end, place, (18, height), 11, is_of_rate=is_of_rate)
    if overall is not None:
        yield draw_line((place(overall), 18), (place(overall), height), "var(--text)")


def _draw_ticks(
    axis_end: int,
    place: Callable[[float], float],
    line_ends: tuple[float, float],
    text_y: float,
    *,
    is_of_rate: bool = False,
) -> Iterator[str]:
    """Yield six upright lines from 0 to the end of an axis, in 100, with their values."""
    for percent in (axis_end * number / 5 for number in range(6)):
        x = place(percent / 100)
        yield draw_line((x, line_ends[0]), (x, line_ends[1]), "var(--grid)")
        tick_text = f"{percent:g}%" if is_of_rate else f"{percent / 100:g}"
        yield draw_text((x, text_y), tick_text, 11, anchor="middle")


def _find_axis_end(estimates: Iterable[Estimate]) -> int:
    """Return the round number, in 100, beyond all values and intervals of models."""
    high_values = [
        estimate.high if estimate.span else estimate.value
        for estimate in estimates
        if estimate.value is not None
    ]
    return next(
        (
            axis_end
            for axis_end in (1, 2, 5, 10, 20, 50)
            if 100 * max(high_values, default=1.0) <= axis_end
        ),
        100,
    )


def _draw_marks(
    block: GroupBlock,
    case: WordedCase,
    color_number_by_model: Mapping[Any, int],
    middle_y: float,
    place: Callable[[float], float],
) -> Iterator[str]:
    """Yield the intervals of models and their points, below each other; an only model has no colour."""
    n_candidates, rivals = len(case.candidates), case.rivals if color_number_by_model else []
    candidates = sorted(
        case.candidates, key=lambda candidate: color_number_by_model.get(candidate.model, 0)
    )
    for number, candidate in enumerate(candidates):
        y = middle_y + (number - (n_candidates - 1) / 2) * _MODEL_ROW_HEIGHT
        estimate, color_number = (
            candidate.read(choose_drawn_column(case.goal)),
            color_number_by_model.get(candidate.model, block.color_number),
        )
        color = "var(--quiet)" if color_number is None else name_color(color_number)
        # Full are values that are decided, and of several models those that may be best.
        is_full = candidate in rivals if color_number_by_model else block.color_number is not None
        if estimate.span is not None:
            low, high = estimate.span
            line_attributes = (
                DOTTED if block.is_in_doubt else f'stroke-width="{1.6 if n_candidates == 1 else 1}"'
            )
            yield draw_line((place(low), y), (place(high), y), color, line_attributes)
        if estimate.value is not None:
            fill_color = color if is_full else "var(--ground)"
            circle_attributes = f'style="fill:{fill_color};stroke:{color}" stroke-width="1.3"'
            yield draw_circle(
                place(estimate.value), y, 3.4 if n_candidates == 1 else 2.5, circle_attributes
            )


# Cases of which the same is known, in blocks


def are_drawn(findings: Findings) -> bool:
    """Return whether cases are rows of one picture: those of tested groups, and many."""
    return findings.group_tests is not None or len(findings.cases) >= _LEAST_DRAWN


def number_models(findings: Findings) -> dict[Any, int]:
    """Return the number of the colour of each model, as in charts."""
    if findings.model is None:
        return {None: 0}
    names = findings.evidence.rows[findings.model].to_frame()
    numbers = number_names(keep_call_order(names, findings.call_order)[findings.model])
    return dict(zip(names[findings.model].to_list(), numbers, strict=True))


def place_cases(findings: Findings) -> dict[Outcome, list[WordedCase]]:
    """Return the cases of each outcome, in the order of blocks, and the lowest of an outcome first."""
    cases_by_outcome: dict[Outcome, list[WordedCase]] = {outcome: [] for outcome in _BLOCKS}
    column = choose_drawn_column(findings.goal)
    for case in findings.cases:
        cases_by_outcome[case.outcome].append(case)
    for cases in cases_by_outcome.values():
        cases.sort(key=lambda case: case.candidates[0].read(column).value or 0.0)
    return cases_by_outcome


def list_blocks(findings: Findings) -> list[GroupBlock]:
    """Return the blocks; the cases with a winner have one for each model."""
    color_number_by_model = number_models(findings)
    blocks = []
    for outcome, cases in place_cases(findings).items():
        title, color_number = _BLOCKS[outcome]
        cases_by_winner: dict[str, list[WordedCase]] = {}
        for case in cases:
            has_winner = outcome == "winner" and not findings.has_one_model
            winner = say_short(case) if has_winner else ""
            cases_by_winner.setdefault(winner, []).append(case)
        for winner, block_cases in sorted(
            cases_by_winner.items(), key=lambda winner_and_cases: -len(winner_and_cases[1])
        ):
            blocks.append(
                GroupBlock(
                    title=f"{len(block_cases)} where {winner}"
                    if winner
                    else title.format(len(block_cases)),
                    color_number=color_number_by_model[block_cases[0].qualifiers[0].model]
                    if winner
                    else color_number,
                    cases=block_cases,
                    is_in_doubt=outcome == "too_little_data",
                )
            )
    return blocks
