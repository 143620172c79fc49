"""The pictures of a decision: icons of alerts, merits, the curves of models, and groups side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.core.ground.visible_names import shorten_name
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.core.judging.status_names import Outcome
from polars_prcurve.view.charts.parts.icon_counts import count_icons
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
from polars_prcurve.view.verdicts.case_places import name_in_table
from polars_prcurve.view.verdicts.value_phrases import (
    SHARES,
    describe_icons,
    is_rarely_right,
    name_merit,
    name_model,
    write_merit,
)
from polars_prcurve.view.verdicts.verdict_of_all_cases import say_short
from polars_prcurve.view.words.call_order_of_names import keep_call_order, number_names
from polars_prcurve.view.words.number_words import (
    FEW_FALSE_POSITIVES,
    FEW_POSITIVES,
    count_one_in,
    say_signed,
)
from polars_prcurve.view.words.shown_names import start_sentence
from polars_prcurve.view.words.wrapped_text import wrap_words

# Icons of alerts: those that are right, false, and hatched what the interval leaves open -----------

_IN_A_ROW = 10  # icons in a row, so that rows of 100 alerts count tens
MOST_ICONS = 200  # of one model, at most: two stand side by side, and on a phone


def draw_alerts(case: Case, precision: Estimate, color_number: int) -> str:
    """Return the icons of the alerts of a model, ten in a row."""
    icon_kinds = list_icons(case, precision)
    n_columns = _IN_A_ROW if len(icon_kinds) <= 100 else 2 * _IN_A_ROW
    cell_size = 17.6 * _IN_A_ROW / n_columns
    svg_shapes = []
    for icon_number, icon_kind in enumerate(icon_kinds):
        row_number, column_number = divmod(icon_number, n_columns)
        x, y = (column_number + 0.5) * cell_size, (row_number + 0.5) * cell_size
        svg_shapes.append(draw_circle(x, y, 0.37 * cell_size, describe_look(icon_kind, color_number)))
    height = cell_size * -(-len(icon_kinds) // n_columns)
    return draw_document(svg_shapes, cell_size * n_columns, height, describe_icons(precision))


def describe_look(icon_kind: str, color_number: int | None) -> str:
    """Return how an icon of a kind looks: solid, hatched with a heavy or a light ring, or hollow."""
    ring_color = "var(--quiet)" if color_number is None else name_color(color_number)
    hatch_url = f"url(#hatch-{'grey' if color_number is None else color_number % 8})"
    return {
        "right": f'style="fill:{ring_color};stroke:{ring_color}" stroke-width="1"',
        "likely": f'style="fill:{hatch_url};stroke:{ring_color}" stroke-width="1.8"',
        "unlikely": f'style="fill:{hatch_url};stroke:{ring_color}" stroke-width="1" fill-opacity=".38"',
        "false": 'fill="none" style="stroke:var(--rule)" stroke-width="1"',
    }[icon_kind]


def describe_hatched_icons(cases_and_precisions: Iterable[tuple[Case, Estimate]]) -> str:
    """Return what hatched icons of models mean, and how many there would be if not all are drawn."""
    grid_cases_and_precisions = list(cases_and_precisions)
    # Where precision is small, icons are the alerts that are read until one is right.
    low_precision_estimates = [
        precision_estimate
        for case, precision_estimate in grid_cases_and_precisions
        if is_rarely_right(case) and precision_estimate.value > 0
    ]
    meaning_phrases = (
        ["true or not"] if len(low_precision_estimates) < len(grid_cases_and_precisions) else []
    )
    if low_precision_estimates:
        lowest_precision = min(
            precision_estimate.low if precision_estimate.span else precision_estimate.value
            for precision_estimate in low_precision_estimates
        )
        count_phrase = ""
        if lowest_precision <= 0:
            count_phrase = f", and more than the {MOST_ICONS} drawn"
        elif count_one_in(lowest_precision) > MOST_ICONS:
            count_phrase = (
                f", up to {format_count(count_one_in(lowest_precision))}; {MOST_ICONS} are drawn"
            )
        meaning_phrases.append(f"may have to be read until one is true{count_phrase}")
    return " or ".join(meaning_phrases)


def list_icons(case: Case, precision: Estimate) -> list[str]:
    """Return the kind of each icon: of 100 alerts, or of as many as one right one takes."""
    precision_value = float(precision.value)
    low, high = precision.span or (precision_value, precision_value)
    is_rare = is_rarely_right(case)
    return count_icons(precision_value, low, high, is_rare=is_rare, max_icons=MOST_ICONS).kinds


# What is judged without a target: the merit of models, with its intervals, on one axis -------------

_LETTER_OF_VALUE = 7.6  # pixels that a letter of a bold name takes, about
_INTERVAL_HEIGHT = 46.0  # pixels that a model takes: its name and value, and the interval below


@dataclass(frozen=True)
class Axis:
    """An axis of values from left to right: five steps from 0, and further ones below 0."""

    start: float
    end: float
    step: float
    pixel_range: tuple[float, float]  # where it starts and ends

    def place_value(self, value: float) -> float:
        """Return where a value is, in pixels from the left."""
        first_pixel, last_pixel = self.pixel_range
        return first_pixel + (value - self.start) / (self.end - self.start) * (last_pixel - first_pixel)

    def draw_ticks(
        self, line_end_ys: tuple[float, float], text_y: float, *, is_of_rate: bool = False
    ) -> Iterator[str]:
        """Yield an upright line at each step, with its value."""
        for step_number in range(round(self.start / self.step), round(self.end / self.step) + 1):
            x = self.place_value(step_number * self.step)
            yield draw_line((x, line_end_ys[0]), (x, line_end_ys[1]), "var(--grid)")
            unit_scale, unit_sign = (100, "%") if is_of_rate else (1, "")
            tick_text = say_signed(unit_scale * step_number * self.step, "{:.6g}".format)
            yield draw_text((x, text_y), tick_text + unit_sign, 11, anchor="middle")

    def draw_estimate(
        self,
        estimate: Estimate,
        y: float,
        color: str,
        *,
        line_attributes: str,
        radius: float,
        circle_attributes: str,
    ) -> Iterator[str]:
        """Yield the line of an interval and the circle of its value."""
        if estimate.span is not None:
            low, high = map(self.place_value, estimate.span)
            yield draw_line((low, y), (high, y), color, line_attributes)
        if estimate.value is not None:
            yield draw_circle(self.place_value(estimate.value), y, radius, circle_attributes)


def find_axis(estimates: Iterable[Estimate], pixel_range: tuple[float, float]) -> Axis:
    """Return the axis of all values and intervals; one of a mean may reach below 0, or above 1."""
    numbers_or_none = (end for estimate in estimates for end in estimate.span or (estimate.value,))
    known_numbers = [number for number in numbers_or_none if number is not None] or [0.0, 1.0]
    largest_size = max(map(abs, known_numbers))
    axis_end = next(
        (
            end
            for power in range(-2, 7)
            for digit in (1, 2, 5)
            if (end := digit * 10.0**power) >= largest_size
        ),
        1.0,
    )
    step = axis_end / 5
    return Axis(min(math.floor(min(known_numbers) / step) * step, 0.0), axis_end, step, pixel_range)


def draw_intervals(
    case: Case,
    candidates_and_colors: Sequence[tuple[Candidate, int]],
    estimates: Iterable[Estimate],
    width: float,
    css_class: str,
) -> str:
    """Return the picture of what is judged: the merit of each model, with the number of its colour.

    Its axis has room for `estimates`, which may be those of more cases.
    """
    metric_column, height = case.goal.merit_column, _INTERVAL_HEIGHT * len(candidates_and_colors) + 26
    axis = find_axis(estimates, (12, width - 20))
    svg_shapes = [*axis.draw_ticks((0, height - 22), height - 6)]
    for row_number, (candidate, color_number) in enumerate(candidates_and_colors):
        y = _INTERVAL_HEIGHT * row_number
        color = name_color(color_number)
        estimate = candidate.read(metric_column)
        value_text = write_merit(candidate)
        shown_name = "" if candidate.model is None else name_model(candidate)
        shown_name = shorten_name(shown_name, int(width / _LETTER_OF_VALUE) - len(value_text))
        svg_shapes.append(draw_text((0, y + 16), shown_name, 13, css_class="strong rim", color=color))
        svg_shapes.append(draw_text((width, y + 16), value_text, 13, css_class="rim", anchor="end"))
        estimate_look = {
            "line_attributes": 'stroke-width="2.4"',
            "circle_attributes": f'style="fill:{color}"',
        }
        svg_shapes += axis.draw_estimate(estimate, y + 31, color, radius=5.0, **estimate_look)
    return draw_document(svg_shapes, width, height, f"{name_merit(case)} of each model", css_class)


# Curves of models: precision by recall ----------------------

LOG_BELOW_ETA = 0.01
"""Where positives are rarer than this, precision has a log axis: lines would lie at 0 otherwise."""


@dataclass(frozen=True)
class Curve:
    """The curve of a model, and the point on it that is decided about."""

    color_number: int | None
    rows: Sequence[Mapping[str, Any]]
    """Rows of `curve` by rising recall: recall, precision with its interval, fp."""
    point: Point | None  # recall and precision at the targets; None if they are not met


PlacePoint: TypeAlias = Callable[[float, float], Point]
"""Where a recall and a precision are in a picture."""


def draw_curves(
    curves: Sequence[Curve],
    eta: float,
    targets: Mapping[str, float],
    width_and_height: tuple[float, float],
    css_class: str,
) -> str:
    """Return the picture of some models, chance and targets."""
    width, height = width_and_height
    axis_foot = eta if 0 < eta < LOG_BELOW_ETA else 0.0  # of the axis of precision, a log axis above 0
    plot_left = 84 if axis_foot else 42

    def place_point(recall: float, precision: float) -> Point:
        axis_share = (
            1 - math.log(max(precision, axis_foot)) / math.log(axis_foot) if axis_foot else precision
        )
        return plot_left + recall * (width - 24 - plot_left), 14 + (1 - axis_share) * (height - 56)

    svg_shapes = []
    precision_ticks = [(tick_percent / 100, f"{tick_percent}%") for tick_percent in range(0, 101, 20)]
    if axis_foot:
        powers_of_ten = [
            10.0**-exponent for exponent in range(1, int(-math.log10(axis_foot) + 1e-9) + 1)
        ]
        precision_ticks = [(1.0, "100%"), *[(power, f"{100 * power:g}%") for power in powers_of_ten]]
    for precision, tick_label in precision_ticks:
        (x, y), line_end = place_point(0, precision), place_point(1, precision)
        svg_shapes.append(draw_line((x, y), line_end, "var(--grid)"))
        svg_shapes.append(draw_text((x - 8, y + 4), tick_label, 12, anchor="end"))
    for tick_percent in range(0, 101, 20):
        x, foot_y = place_point(tick_percent / 100, 0)
        svg_shapes.append(draw_text((x, foot_y + 18), f"{tick_percent}%", 12, anchor="middle"))
    x, foot_y = place_point(0, 0)
    svg_shapes.append(draw_text((x, foot_y + 36), "Recall", 12))
    for curve in sorted(curves, key=lambda curve: curve.color_number is not None):
        svg_shapes += _draw_curve(place_point, curve)
    svg_shapes += _draw_rules(place_point, eta, targets, is_log=axis_foot > 0)
    description = "Precision of each model by its recall"
    return draw_document(svg_shapes, width, height, description, css_class)


def _draw_rules(
    place_point: PlacePoint, eta: float, targets: Mapping[str, float], *, is_log: bool
) -> Iterator[str]:
    """Yield the rules of chance and of targets, and their labels."""
    start_x, chance_y = place_point(0, eta)
    end_x, foot_y = place_point(1, 0)
    _, top_y = place_point(1, 1)
    label_y = chance_y + (-5 if eta < 0.06 or is_log else 15)
    chance_line = ((start_x, chance_y), (end_x, chance_y))
    rules_to_draw = [(chance_line, "var(--rule)", (start_x + 4, label_y), "at random")]
    if (target_limit := targets.get("precision")) is not None:
        _, y = place_point(0, target_limit)
        rules_to_draw.append((((start_x, y), (end_x, y)), "var(--text)", (end_x - 38, y - 5), "target"))
    if (target_limit := targets.get("recall")) is not None:
        x, _ = place_point(target_limit, 0)
        rules_to_draw.append((((x, top_y), (x, foot_y)), "var(--text)", (x + 4, top_y + 10), "target"))
    for (line_start, line_end), color, label_position, label_text in rules_to_draw:
        yield draw_line(line_start, line_end, color)
        yield draw_text(label_position, label_text, 11, css_class="quiet rim")


def _draw_curve(place_point: PlacePoint, curve: Curve) -> Iterator[str]:
    color = name_color(curve.color_number)
    curve_rows = _list_drawn_rows(curve)
    band_rows = [row for row in curve_rows if row.get("precision_low") is not None]
    if band_rows and curve.color_number is not None:
        upper_points = [place_point(row["recall"], row["precision_high"]) for row in band_rows]
        lower_points = [place_point(row["recall"], row["precision_low"]) for row in band_rows]
        yield draw_area(_list_stairs(upper_points), _list_stairs(lower_points), color)
    first_solid_row = next(
        (row_number for row_number, row in enumerate(curve_rows) if not _is_by_chance(row)),
        len(curve_rows),
    )
    line_points = _list_stairs([place_point(row["recall"], row["precision"]) for row in curve_rows])
    if first_solid_row > 0:
        yield draw_path(line_points[: 2 * first_solid_row + 1], color, 1.6, DOTTED)
    if solid_points := line_points[2 * first_solid_row :]:
        yield draw_path(solid_points, color, 2.2 if curve.color_number is not None else 1.2)
    if curve.point is not None and curve.color_number is not None:
        x, y = place_point(*curve.point)
        circle_attributes = f'style="fill:{color};stroke:var(--ground)" stroke-width="1.5"'
        yield draw_circle(x, y, 5, circle_attributes)


def _list_stairs(points: Sequence[Point]) -> list[Point]:
    """Return points of rising recall as steps: between two recalls the lower threshold is needed."""
    corners = [*points[:1]]
    for (x, _), next_point in pairwise(points):
        corners += [(x, next_point[1]), next_point]
    return corners


def _list_drawn_rows(curve: Curve) -> list[Mapping[str, Any]]:
    """Return the rows that a line joins; before the first one it runs level from recall 0."""
    rows = [row for row in curve.rows if row["precision"] is not None and row["recall"] is not None]
    # A published point is alone.
    starts_at_recall_0 = bool(rows) and rows[0]["recall"] > 0 and rows[0].get("threshold") is not None
    return [*([{**rows[0], "recall": 0.0}] if starts_at_recall_0 else []), *rows]


def _is_by_chance(row: Mapping[str, Any]) -> bool:
    """Return whether so few examples are behind a point that chance decides about it."""
    n_pos = None if row.get("fn") is None else row["tp"] + row["fn"]
    n_pos, n_fp = row.get("n_pos_effective", n_pos), count_false(row)
    has_few_fp = n_fp is not None and n_fp < FEW_FALSE_POSITIVES
    return has_few_fp or (n_pos is not None and n_pos < FEW_POSITIVES - 1e-6)


def count_false(row: Mapping[str, Any]) -> float | None:
    """Return the false positives of a point, of weighted rows as how many examples they count."""
    n_fp: float | None = row.get("fp_effective", row["fp"])
    is_near_whole = n_fp is not None and abs(n_fp - round(n_fp)) < 1e-6
    return round(n_fp) if is_near_whole and n_fp is not None else n_fp


# Groups: the values of each with their intervals, the highest first ------------------------------

_ROW_HEIGHT = 14.0  # pixels that a row takes
_NAME_ROW_HEIGHT = 12.0  # pixels that a further row of its name takes
_HEAD_HEIGHT = 22.0  # pixels that the title of a block takes
_MODEL_ROW_HEIGHT = 3.6  # pixels from the interval of a model to that of the next one
_LETTER = 6.0  # pixels that a letter of a name takes, about
_MOST_NAME_ROWS = 3  # rows of a name, at most
_LEAST_DRAWN = 4  # cases from which on all are drawn in one picture; of fewer each has a sentence
_OPEN_COLOR = None  # the colour of what is not decided: grey
_COLORS: Mapping[Outcome, int | None] = {
    **dict.fromkeys(("better", "winner", "met", "measured"), 0),
    **dict.fromkeys(("no_winner", "open", "unsure"), _OPEN_COLOR),
    **dict.fromkeys(("worse", "not_met", "chance"), 1),
    "too_little_data": _OPEN_COLOR,
}
"""The number of the colour of the cases of each result, in the order of blocks."""


def draw_groups(judgement: Judgement, width: float, css_class: str) -> str:
    """Return the picture of all cases, and the value of all groups together if they are tested."""
    color_number_by_model = {} if judgement.has_one_model else number_models(judgement)
    names_width, plot_right = min(170.0, 0.36 * width), width - 52
    metric_column = choose_drawn_column(judgement.goal)
    upright_value = find_drawn_limits(judgement.goal).get(
        metric_column, None if judgement.group_tests is None else judgement.group_tests.overall_value
    )
    estimates = [
        candidate.read(metric_column) for case in judgement.cases for candidate in case.candidates
    ]
    axis = find_axis([*estimates, Estimate(upright_value)], (names_width, plot_right))

    def split_name(case: Case) -> list[str]:
        return wrap_words(name_in_table(case), names_width / _LETTER)[:_MOST_NAME_ROWS]

    def measure_height(case: Case) -> float:
        name_height = _ROW_HEIGHT + _NAME_ROW_HEIGHT * (max(len(split_name(case)), 1) - 1)
        return max(name_height, _MODEL_ROW_HEIGHT * (len(case.candidates) + 1))

    blocks, y = split_cases(judgement), 20.0
    height = 26 + _HEAD_HEIGHT * len(blocks) + sum(map(measure_height, judgement.cases))
    svg_shapes = [*axis.draw_ticks((18, height), 11, is_of_rate=metric_column in SHARES)]
    svg_shapes.append(draw_text((width, 24), "positives", 10, anchor="end"))
    for title, cases in blocks.items():
        y += _HEAD_HEIGHT
        svg_shapes.append(draw_text((0, y - 6), f"{title} ({len(cases)})", 12, css_class="strong rim"))
        if upright_value is not None:  # the limit of a demand, or the value of all groups together
            x, foot_y = axis.place_value(upright_value), y + sum(map(measure_height, cases))
            svg_shapes.append(draw_line((x, y), (x, foot_y), "var(--text)"))  # not through headings
        for case in cases:
            middle_y, name_lines = y + measure_height(case) / 2, split_name(case)
            first_line_y = middle_y + 4 - _NAME_ROW_HEIGHT * (len(name_lines) - 1) / 2
            text_class = "quiet" if _COLORS[case.outcome] is None else ""
            for line_number, line_text in enumerate(name_lines):
                line_y = first_line_y + _NAME_ROW_HEIGHT * line_number
                svg_shapes.append(draw_text((0, line_y), line_text, 10.5, css_class=text_class))
            svg_shapes += _draw_marks(case, color_number_by_model, middle_y, axis)
            n_pos_text = format_count(case.n_pos)
            svg_shapes.append(draw_text((width, middle_y + 4), n_pos_text, 10.5, anchor="end"))
            y += measure_height(case)
    return draw_document(svg_shapes, width, height, "Value of each group with its interval", css_class)


def _draw_marks(
    case: Case,
    color_number_by_model: Mapping[Any, int],
    middle_y: float,
    axis: Axis,
) -> Iterator[str]:
    """Yield the intervals of models and their points, below each other; an only model has no colour."""
    n_candidates, rival_candidates = len(case.candidates), case.rivals if color_number_by_model else []
    candidates = sorted(
        case.candidates, key=lambda candidate: color_number_by_model.get(candidate.model, 0)
    )
    line_width, radius = (1.6, 3.4) if n_candidates == 1 else (1, 2.5)
    line_attributes = DOTTED if case.outcome == "too_little_data" else f'stroke-width="{line_width}"'
    for model_number, candidate in enumerate(candidates):
        y = middle_y + (model_number - (n_candidates - 1) / 2) * _MODEL_ROW_HEIGHT
        color_number = color_number_by_model.get(candidate.model, _COLORS[case.outcome])
        color = "var(--quiet)" if color_number is None else name_color(color_number)
        # Full are values that are decided, and of several models those that may be best.
        is_full = (
            candidate in rival_candidates if color_number_by_model else _COLORS[case.outcome] is not None
        )
        fill_color = color if is_full else "var(--ground)"
        circle_attributes = f'style="fill:{fill_color};stroke:{color}" stroke-width="1.3"'
        estimate = candidate.read(choose_drawn_column(case.goal))
        yield from axis.draw_estimate(
            estimate,
            y,
            color,
            line_attributes=line_attributes,
            radius=radius,
            circle_attributes=circle_attributes,
        )


# Cases of which the same is known, in blocks


def choose_drawn_column(goal: Goal) -> str:
    """Return the column that a picture of cases has: the first share that is demanded, or the merit."""
    return next(iter(find_drawn_limits(goal)), goal.merit_column)


def find_drawn_limits(goal: Goal) -> dict[str, float]:
    """Return the limits of shares that are demanded of a threshold, by their columns."""
    return {column: limit for column, limit in goal.limit_of_column.items() if column in SHARES}


def are_drawn(judgement: Judgement) -> bool:
    """Return whether cases are rows of one picture: those of tested groups, and many."""
    return judgement.group_tests is not None or len(judgement.cases) >= _LEAST_DRAWN


def number_models(judgement: Judgement) -> dict[Any, int]:
    """Return the number of the colour of each model, as in charts."""
    if judgement.model is None:
        return {None: 0}
    model_frame = judgement.evidence.rows[judgement.model].to_frame()
    color_numbers = number_names(keep_call_order(model_frame, judgement.call_order)[judgement.model])
    return dict(zip(model_frame[judgement.model].to_list(), color_numbers, strict=True))


def split_cases(judgement: Judgement) -> dict[str, list[Case]]:
    """Return the cases by the title of their block, in the order of blocks, the highest first."""
    metric_column, outcomes = choose_drawn_column(judgement.goal), [*_COLORS]
    cases = sorted(
        judgement.cases,
        key=lambda case: case.candidates[0].read(metric_column).value or 0.0,
        reverse=True,
    )
    cases_by_title: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: outcomes.index(case.outcome)):
        is_of_model = case.outcome == "winner"  # whose name stays as it is
        title = say_short(case) if is_of_model else start_sentence(say_short(case) or case.outcome)
        cases_by_title.setdefault(title, []).append(case)
    return cases_by_title
