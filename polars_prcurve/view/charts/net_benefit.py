"""The decision curve: net benefit by the risk at which users act."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.estimates import name_estimate
from polars_prcurve.core.ground.argument_checks import Title, read_flag
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.view.charts.parts import chart_curves, doubt_of_points, points_to_draw
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, choose_events
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, are_far_apart, choose_channels
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import add_threshold, describe_level
from polars_prcurve.view.charts.parts.title_phrases import MOST_LETTERS, name_curves, say_each
from polars_prcurve.view.words.number_words import (
    FEW_POSITIVES,
    NO_BREAK,
    join_value,
    say_estimate,
    say_target,
)

_RISK = "threshold_probability"  # the column across
_VALUE = "net_benefit"  # the column that is drawn
_BAND_COLUMNS = (name_estimate(_VALUE).low, name_estimate(_VALUE).high)  # both ends of its interval
_NEEDED = ("eta", _RISK, *SWEEP_COLUMNS, _VALUE, "treat_all")  # columns without which nothing is drawn
# Room below 0, as a share of the height above it, where no line of a model goes below 0.
_BELOW_ZERO = 0.07
# Room below 0, at most: a model of risks far too high would press all others flat.
_MOST_BELOW_ZERO = 0.4
_BACK_AT_ZERO = 0.1  # the height from which a line that left the axis is seen to be back, to its foot
_MOST_MARKED = 4  # lines, at most, whose net benefit at one risk is marked
_FAR_SHARE = 0.2  # how far from the prevalence the marked risk may be, as a share of it
_SEEN_GAIN = 0.02  # of the highest net benefit of a line: a gain that one sees


@hint_at_arguments
def decision_curve(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    log_x: bool | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Decision curves from the table of `decision_curve`, in any row order: net benefit by risk.

    A line is the net benefit of acting on the model at each risk at which a user would act, in true
    positives less the cost of false ones. The grey lines are treating everybody and treating nobody. A
    model is worth using where its line is above both. The shade is the table's interval. A line is
    dotted where fewer than five false positives are behind it, and has no shade there. It ends where it
    leaves the axis, and does not come back at 0, where nobody is flagged.

    Parameters
    ----------
    table
        What `decision_curve(columns="all")` returns, with or without intervals.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    log_x
        A log axis for the risk. By default where risks begin below 1% and span a factor of 30 or more.
    color, facet
        A `by` column or `"eta"`. By default the first `by` column is colour, and the others are panels,
        as is eta if a group has several.
    title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
    >>> df = pl.concat([df] * 10)
    >>> table = df.prc.decision_curve(probabilities=[0.1, 0.2, 0.4], columns="all")
    >>> chart = decision_curve(table)
    >>> print(chart.to_dict()["title"]["text"][0].replace("\\xa0", " "))
    At a risk threshold of 40%, net benefit is 83 true positives per 1,000
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = _read_decisions(table)
    are_apart = are_far_apart(curves.curve_rows["eta"])  # no axis shows such lines well together
    channels = choose_channels(curves, color, facet, curves.find_means(_VALUE), are_apart=are_apart)
    n_events = choose_events(curves.curve_rows["eta"])
    unit_text = "1,000" if n_events == 1_000 else "million"
    x_axis, y_axis = _build_axes(curves, channels, log_x, n_events)
    band = _BAND_COLUMNS if _BAND_COLUMNS[0] in curves.points.columns else ()
    spec = ChartSpec(x_axis, y_axis, "linear", bands=(_BAND_COLUMNS,) if band else ())
    canvas = Canvas(curves, channels, spec, size)
    _draw_alternatives(canvas)
    mark_records = _mark_risk(canvas, n_events)
    rise_expr = pl.col(_VALUE) - canvas.find_foot()
    points = curves.points.filter(pl.col(_RISK) >= x_axis.low)
    lines = _cut_below(points, rise_expr, canvas.find_foot(), band)
    n_below = points.select((rise_expr < 0).sum()).item()
    chart = CurveChart(
        canvas,
        lines=lines,
        rows=lines.filter(pl.col("made").not_()),
        pointed=points,
        height=pl.col(_VALUE),
        reads="nearest",
        say_row=partial(_say_row, n_events),
        subtitle=f"Net benefit: true positives per {unit_text} cases, less the cost of false positives",
        title="Net benefit by risk",
        say=partial(_find_title, channels, mark_records, f"true positives per{NO_BREAK}{unit_text}"),
        few="net benefit is known only roughly",
        note=[
            "At risk p, a false positive costs p / (1 \u2212 p) times the benefit of a true positive",
            "Grey lines: treating all, and none" if channels.facet is not None else "",
            "Each panel has its own axis" if y_axis.is_free else "",
            describe_level(band, confidence),
            "Below the axis: risks at which net benefit is far below 0" if n_below else "",
            "Not drawn: a risk of 0" if x_axis.is_log and len(points) < len(curves.points) else "",
        ],
        has_ghosts=not y_axis.is_free,
    )
    return chart.draw(title)


def _read_decisions(table: object) -> ChartCurves:
    """Return a line per group and prevalence; raise if one has two rows at a risk."""
    chart_name, made_by = "the chart decision_curve", "the method decision_curve"
    result = chart_curves.check_table(chart_name, table, made_by, _NEEDED)
    group_columns = result.columns[: result.columns.index("eta")]
    column_by_field = chart_curves.name_group_fields(group_columns) | {"eta": "eta"}
    band_columns = _BAND_COLUMNS if set(_BAND_COLUMNS) <= set(result.columns) else ()
    value_columns = [_RISK, _VALUE, "treat_all", *band_columns]
    field_columns = [name for name in FIELD_COLUMNS if name in result.columns]
    points = chart_curves.pick_columns(
        result, column_by_field, [*SWEEP_COLUMNS, *value_columns, *field_columns]
    )
    points = points.with_columns(chart_curves.empty_infinite(pl.col(value_columns)))
    points = chart_curves.number_lines(points, column_by_field, _RISK, _VALUE, "risk")
    is_known = pl.all_horizontal(pl.col(_RISK, _VALUE, "recall", "fpr").is_not_null())
    curves = chart_curves.build_chart_curves(points, column_by_field, is_known)
    return replace(curves, points=doubt_of_points.find_few_false_alerts(curves.points))


def _build_axes(
    curves: ChartCurves, channels: Channels, log_x: bool | None, n_events: int
) -> tuple[ChartAxis, ChartAxis]:
    """Return the axis of risks, linear or log, and that of net benefit."""
    facet_channel = channels.facet
    risk_values = curves.points[_RISK].unique().sort()
    positive_risks = risk_values.filter(risk_values > 0).to_list() or [0.01]
    low_risk, high_risk = positive_risks[0], positive_risks[-1]
    is_log = (
        low_risk < 0.01 and high_risk / low_risk >= 30 if log_x is None else read_flag("log_x=", log_x)
    )
    if high_risk < 1.01 * low_risk:  # one risk
        low_risk, high_risk = (
            (low_risk / 2, min(2 * low_risk, 1.0)) if is_log else (0.0, min(2 * low_risk, 1.0))
        )
    x_title = f"Risk at which you act{'' if facet_channel else ' (threshold probability)'}"
    low_risk, number_style = (low_risk, "share") if is_log else (0.0, "percent")
    x_axis = ChartAxis(_RISK, x_title, low_risk, high_risk, number_style, is_log=is_log)
    bottom_benefit, top_benefit = _find_ends(curves.points, x_axis)
    curves_of_label = channels.split(curves)
    etas = [own_curves.curve_rows["eta"].mean() for own_curves in curves_of_label.values()]
    range_by_label = {}
    if are_far_apart(pl.Series(etas, dtype=pl.Float64)):  # each panel has a range of its own
        range_by_label = {
            label: _find_ends(own_curves.points, x_axis) for label, own_curves in curves_of_label.items()
        }
    y_title, number_style = "Net benefit per 1,000", "thousandths"
    if n_events > 1_000:
        y_title, number_style = "Net benefit per million", "millionths"
    return x_axis, ChartAxis(
        _VALUE,
        y_title,
        bottom_benefit,
        top_benefit,
        number_style,
        is_free=bool(range_by_label),
        ranges=range_by_label,
    )


def _find_ends(points: pl.DataFrame, x_axis: ChartAxis) -> tuple[float, float]:
    """Return the lowest and the highest net benefit that an axis shows."""
    shown_points = points.filter(pl.col(_RISK) >= x_axis.low)
    columns = [column for column in (_VALUE, "treat_all", _BAND_COLUMNS[1]) if column in points.columns]
    benefits = [benefit for column in columns for benefit in shown_points[column].drop_nulls().to_list()]
    top_benefit = 1.05 * max(benefits, default=0.0)
    least_benefit = min(shown_points[_VALUE].drop_nulls().to_list(), default=0.0)
    if top_benefit <= 0:  # no line has a benefit, and all are seen
        return min(1.1 * least_benefit, -0.01), max(-0.3 * least_benefit, 0.01)
    return max(
        min(1.1 * least_benefit, -_BELOW_ZERO * top_benefit), -_MOST_BELOW_ZERO * top_benefit
    ), top_benefit


def _mark_risk(canvas: Canvas, n_events: int) -> list[dict[str, Any]]:
    """Draw a rule at the risk that is the prevalence, and return a marked point of each line there."""
    # There treating all is worth as much as treating none. None for many lines and for few positives.
    curves, (x_axis, y_axis), channels = canvas.curves, canvas.axes, canvas.channels
    etas, points = curves.curve_rows["eta"].unique(), curves.points.drop_nulls(_VALUE)
    points = points.filter((pl.col(_VALUE) >= y_axis.low) & (pl.col(_RISK) >= x_axis.low))
    is_crowd = channels.facet is not None or len(curves.curve_rows) > _MOST_MARKED
    if is_crowd or len(etas) != 1 or curves.has_few_positives or points.is_empty():
        return []
    risk = points.sort((pl.col(_RISK) - etas[0]).abs(), _RISK)[_RISK][0]
    risk_points = points.filter(pl.col(_RISK) == risk)
    if len(risk_points) < len(curves.curve_rows) or abs(risk / etas[0] - 1) > _FAR_SHARE:
        return []
    for point in risk_points.sort("curve").to_dicts():
        label_text, interval_text = _say_benefit(point, n_events)
        mark_text = f"at a risk of {say_target(risk)} {join_value(label_text, interval_text)}"
        canvas.mark(point["curve"], risk, point[_VALUE], mark_text, label_text)
    canvas.draw_rules([risk], f"risk {say_target(risk)}")
    return [record for record in canvas.records if record["part"] == "mark"]


def _cut_below(
    points: pl.DataFrame, rise_expr: pl.Expr, foot_expr: pl.Expr, band_columns: tuple[str, ...]
) -> pl.DataFrame:
    """Return the points of lines, which end where they leave the axes; a null is a gap."""
    # A shade where nothing is known would hide the others, and shows no more than the dots do.
    is_shaded = ~pl.col("doubt").fill_null(False) | (pl.col("tp") + pl.col("fn") < FEW_POSITIVES)
    points = points.with_columns(pl.when(is_shaded).then(column) for column in band_columns)
    points = points_to_draw.cut_below(points, _RISK, _VALUE, rise_expr, foot_expr)
    # A line that comes back to no more than 0, where nobody is flagged, would look like a benefit.
    value_expr = pl.col(_VALUE)
    points = points.with_columns(stretch=pl.struct("curve", value_expr.is_null()).rle_id())
    first_stretch_expr = pl.col("stretch").filter(value_expr.is_not_null()).first().over("curve")
    has_benefit_expr = value_expr.max().over("stretch") > -_BACK_AT_ZERO * foot_expr
    is_shown = value_expr.is_not_null() & ((pl.col("stretch") == first_stretch_expr) | has_benefit_expr)
    return points.with_columns(pl.when(is_shown).then(column) for column in (_VALUE, *band_columns))


def _list_treat_all(
    canvas: Canvas, eta: float, panel_label: str | None = None
) -> list[tuple[float, float]]:
    """Return points of the line of treating all, between the upper and the lower end of the axis."""
    x_axis, y_axis = canvas.spec.x, canvas.spec.y.pick(panel_label)

    def find_risk(benefit: float) -> float:
        # Treating all has this net benefit where odds (1 - eta) = eta - value.
        odds = max(eta - benefit, 0.0) / (1 - eta) if eta < 1 else math.inf
        return odds / (1 + odds) if odds < math.inf else 1.0

    start_risk = max(x_axis.low, find_risk(y_axis.high))
    end_risk = min(find_risk(y_axis.low), x_axis.high)
    if end_risk <= start_risk:
        return []
    first_place, last_place = x_axis.place(start_risk), x_axis.place(end_risk)
    risks = [
        min(x_axis.read(first_place + (last_place - first_place) * step_number / 60), end_risk)
        for step_number in range(61)
    ]
    return [(risk, eta - (1 - eta) * risk / (1 - risk)) for risk in risks]


def _draw_alternatives(canvas: Canvas) -> None:
    """Draw the lines of treating all and treating none, and name them if one panel has one each."""
    x_axis, y_axis, color_channel = canvas.spec.x, canvas.spec.y, canvas.channels.color
    etas = canvas.curves.curve_rows["eta"].to_list()
    if color_channel and canvas.channels.facet is None:
        # Grey lines of models that are grey themselves would hide all others.
        etas_and_labels = zip(etas, color_channel.label_by_curve.values(), strict=True)
        etas = [eta for eta, label in etas_and_labels if label in color_channel.shown_labels]
    etas_and_panels = canvas.channels.repeat_in_panels(etas)
    for eta, panel_fields in etas_and_panels:
        canvas.draw_line(
            _list_treat_all(canvas, eta, panel_fields.get("facet")), f"all {eta:.6g}", panel_fields
        )
    canvas.draw_level([0.0] * len(etas), "treat none", is_right=True)
    if len(etas_and_panels) != 1 or canvas.channels.facet is not None:
        return
    treat_all_points = _list_treat_all(canvas, etas_and_panels[0][0])[::-1]
    wanted_heights = [share * y_axis.high for share in (0.3, 0.45, 0.2, 0.6, 0.1, 0.75, 0.9)]
    points_at_heights = [
        next((point for point in treat_all_points if point[1] >= height), None)
        for height in wanted_heights
    ]
    right_look: dict[str, Any] = {"dx": 6, "align": "left"}
    left_look: dict[str, Any] = {"dx": -6, "align": "right"}
    look_choices = [
        {"x": line_point[0], "y": line_point[1], **side_look}
        for line_point in points_at_heights
        if line_point is not None and x_axis.place(line_point[0]) <= 0.8
        for side_look in (
            (right_look, left_look) if x_axis.place(line_point[0]) > 0.15 else (right_look,)
        )
    ]
    if look_choices:
        canvas.name_line("treat all", look_choices)


def _say_benefit(point: dict[str, Any], n_events: int) -> tuple[str, str]:
    """Return the net benefit of a row among this number of cases, and its interval or empty."""
    benefit_and_ends = (point.get(column) for column in (_VALUE, *_BAND_COLUMNS))
    # What sums leave of 0 is 0.
    numbers_of_cases: list[Any] = [
        None if benefit is None else round(n_events * benefit, 9) for benefit in benefit_and_ends
    ]
    return say_estimate(*numbers_of_cases, is_share=False)


def _say_row(n_events: int, point: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each risk of the table, among this number of cases."""
    return say_target(point[_RISK]), join_value(*_say_benefit(point, n_events)) + add_threshold(point)


def _find_title(
    channels: Channels, mark_records: Sequence[Mapping[str, Any]], unit_text: str, curves: ChartCurves
) -> str:
    """Return at which risks net benefit is above both alternatives, or its values at a marked risk.

    With intervals that is where these are above them. The points have the column `doubt`.
    """
    n_lines, points = len(curves.curve_rows), curves.points
    has_intervals = "net_benefit_low" in points.columns
    if n_lines == 1 and has_intervals:
        return _say_useful_risks(channels, curves) or _say_benefits(
            channels, mark_records, unit_text, curves
        )
    if mark_records:
        risk = mark_records[0]["threshold_probability"]
        risk_points = points.filter((pl.col("threshold_probability") / risk - 1).abs() < 1e-6)
        n_useful = risk_points.filter(_is_useful(points, 1))["curve"].n_unique() if has_intervals else 0
        noun, above = _name_lines(curves), "significantly above treat-all and treat-none"
        if has_intervals and n_useful == 0:
            place_text = f"at a risk threshold of {say_target(risk)}"
            return f"No {noun} has a net benefit {above} {place_text}"
        benefits = _say_benefits(channels, mark_records, unit_text, curves)
        owner = f"{n_useful} of {n_lines}" if n_useful < n_lines else "both" if n_lines == 2 else "all"
        return f"{benefits}; {above} for {owner} {noun}s" if benefits and n_useful else benefits
    has_line_each = n_lines > 1 and curves.count_distinct(curves.group_fields) == n_lines
    return _say_useful_risks(channels, curves) if has_line_each else ""


def _say_benefits(
    channels: Channels, mark_records: Sequence[Mapping[str, Any]], unit_text: str, curves: ChartCurves
) -> str:
    """Return the net benefit of each line at the marked risk; empty without it."""
    if not mark_records:
        return ""
    risk_text = say_target(mark_records[0]["threshold_probability"])
    is_one = len({mark["net_benefit_label"] for mark in mark_records}) == 1
    unit_place = "" if is_one else f" in {unit_text}"
    sentence_start = f"At a risk threshold of {risk_text}, net benefit{unit_place} is"
    curve_numbers = curves.curve_rows["curve"].to_list()
    benefit_of_curve, text_by_curve = (
        dict(zip(curve_numbers, (mark[name] for mark in mark_records), strict=True))
        for name in ("net_benefit", "net_benefit_label")
    )
    return say_each(
        sentence_start,
        unit_text if is_one else "",
        benefit_of_curve,
        name_curves(curves, channels),
        given_text_by_curve=text_by_curve,
    )


def _name_lines(curves: ChartCurves) -> str:
    """Return what lines of one prevalence are: `model`, `group`, or `line` of models in groups."""
    columns = {curves.column_by_field[field] for field in curves.group_fields}
    return "model" if columns == {"model"} else "line" if "model" in columns else "group"


def _say_useful_risks(channels: Channels, curves: ChartCurves) -> str:
    """Return at which risks net benefit is above both alternatives in all lines, or in which at some."""
    n_lines, points, noun = len(curves.curve_rows), curves.points, _name_lines(curves)
    is_sure = "net_benefit_low" in points.columns
    risk_rows = points.with_columns(useful=_is_useful(points, n_lines))
    risk_rows = risk_rows.group_by("threshold_probability").agg(n_useful=pl.col("useful").sum())
    risk_rows = risk_rows.sort("threshold_probability").with_columns(run=pl.col("n_useful").rle_id())
    most = max(risk_rows["n_useful"].to_list(), default=0)
    above = f"{'significantly ' if is_sure else ''}above treat-all and treat-none"
    if most == 0:
        owner = f" for any {noun}" if n_lines > 1 else ""
        return f"At no risk is net benefit {above}{owner}" if is_sure else ""
    if most < n_lines:
        useful_curves = {*points.filter(_is_useful(points, n_lines))["curve"]}
        names = name_curves(curves, channels)
        name_lists: dict[bool, list[str]] = {True: [], False: []}
        for curve in curves.curve_rows["curve"]:
            name_lists[curve in useful_curves].append(names.get(curve, ""))
        owners = f"{len(useful_curves)} of {n_lines} {noun}s"
        for start, labels in ((f"all {noun}s but ", name_lists[False]), ("", name_lists[True])):
            if labels and all(labels) and sum(map(len, labels)) <= 1.5 * MOST_LETTERS:
                owners = f"{start}{join_words(labels)}"
        return f"Net benefit is {above} at some risks for {owners}"
    all_useful_rows = risk_rows.filter(pl.col("n_useful") == most)
    stretch_text = _say_longest_stretch(all_useful_rows)
    if not stretch_text and n_lines == 1:  # whose value at a marked risk is a title, too
        return ""
    one_risk = f"at a risk of {say_target(all_useful_rows['threshold_probability'][0])}"
    stretch_text = stretch_text or (one_risk if len(all_useful_rows) == 1 else "at some risks")
    lines_text = {1: "", 2: f" for both {noun}s"}.get(n_lines, f" for all {n_lines} {noun}s")
    return f"Net benefit is {above}{lines_text} {stretch_text}"


def _is_useful(points: pl.DataFrame, n_lines: int) -> pl.Expr:
    """Whether net benefit is above both alternatives: its interval, or without one what is known."""
    # Of several lines, which are small, it is so far above them that one sees it.
    alternative, benefit = pl.max_horizontal(pl.lit(0.0), "treat_all"), pl.col("net_benefit")
    is_above = ~pl.col("doubt") & (benefit > alternative)
    if "net_benefit_low" in points.columns:
        is_above = pl.col("net_benefit_low") > alternative
    if n_lines > 1:
        is_above &= benefit - alternative >= _SEEN_GAIN * benefit.max().over("curve")
    return is_above.fill_null(False)


def _say_longest_stretch(risk_rows: pl.DataFrame) -> str:
    """Return `at risks from 3% to 60%` of the longest run, unless the others make up more than it."""
    longest_run = risk_rows.filter(pl.len().over("run") == pl.len().over("run").max())
    is_most = 2 * len(longest_run) >= len(risk_rows)
    if longest_run["run"].n_unique() != 1 or len(longest_run) == 1 or not is_most:
        return ""
    risks = longest_run["threshold_probability"]
    low, high = map(say_target, (risks[0], risks[-1]))
    return f"at risks from {low} to {high}"
