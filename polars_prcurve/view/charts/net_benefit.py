"""The decision curve: net benefit by the risk at which users act."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.intervals import name_estimate
from polars_prcurve.core.ground.argument_checks import Title, hint_at_arguments, read_flag
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.view.charts.parts import point_thinning, result_tables
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, choose_events
from polars_prcurve.view.charts.parts.chart_titles import say_net_benefit
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, are_far_apart, choose_channels
from polars_prcurve.view.charts.parts.label_formats import add_threshold, describe_level, round_digits
from polars_prcurve.view.charts.parts.line_canvas import Canvas, read_words
from polars_prcurve.view.charts.parts.result_tables import ChartCurves
from polars_prcurve.view.words.number_words import (
    FEW_POSITIVES,
    NO_BREAK,
    say_count,
    say_share,
    say_signed,
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
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.
    width, height
        The size of a panel in pixels, from 50 to 4,000. By default the chart chooses.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
    >>> df = pl.concat([df] * 10)
    >>> table = df.prc.decision_curve(probabilities=[0.1, 0.2, 0.4], columns="all")
    >>> chart = decision_curve(table)
    >>> print(chart.to_dict()["title"]["text"][0].replace("\\xa0", " "))
    At a risk of 40%, net benefit is 83 true positives per 1,000
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = _read_decisions(table)
    mean_of_curve = dict(curves.points.group_by("curve").agg(pl.col(_VALUE).mean()).rows())
    are_apart = are_far_apart(curves.curve_rows["eta"])  # no axis shows such lines well together
    channels = choose_channels(curves, color, facet, mean_of_curve, are_apart=are_apart)
    n_events = choose_events(curves.curve_rows["eta"])
    unit = "1,000" if n_events == 1_000 else "million"
    x, y = _build_axes(curves, channels, log_x, n_events)
    band = _BAND_COLUMNS if _BAND_COLUMNS[0] in curves.points.columns else ()
    canvas = Canvas(
        curves, channels, ChartSpec(x, y, "linear", bands=(_BAND_COLUMNS,) if band else ()), size
    )
    points = _cut_below(canvas, curves.points, band)
    points = point_thinning.split_by_doubt(points, "linear")
    # A shade where nothing is known would hide the others, and shows no more than the dots do.
    is_shaded = ~pl.col("doubt") | (pl.col("tp") + pl.col("fn") < FEW_POSITIVES)
    points = points.with_columns(pl.when(is_shaded).then(column).alias(column) for column in band)
    _draw_alternatives(canvas)
    canvas.draw_lines(points, has_ghosts=not y.is_free)
    points_of_table = _add_bottoms(canvas, curves.points)
    raised_rows = points_of_table.with_columns(pl.max_horizontal(_VALUE, "bottom").alias(_VALUE))
    risks = points_of_table[_RISK].filter(points_of_table[_RISK] >= x.low)
    canvas.follow_pointer(raised_rows, "nearest", partial(_say_row, n_events), risks)
    is_below = (points_of_table[_VALUE] < points_of_table["bottom"]).any()
    note = [
        "A false positive costs p / (1 \u2212 p) of a true positive at the risk p",
        "Grey lines: treating all, and none" if channels.facet is not None else "",
        "Each panel has its own axis" if y.is_free else "",
        channels.color_note,
        describe_level(band, confidence),
        *point_thinning.describe_doubt(points),
        "Below the axis: risks at which net benefit is far below 0" if is_below else "",
        "Not drawn: a risk of 0" if x.is_log and (points_of_table[_RISK] < x.low).any() else "",
        *curves.describe_sizes(),
    ]
    cases_text = f"Net benefit: true positives per {unit} cases, less the cost of false positives"
    subtitle = curves.join_etas(f"{cases_text},")
    marks = _mark_risk(canvas, n_events)
    finding = say_net_benefit(curves, channels, marks, f"true positives per{NO_BREAK}{unit}")
    return canvas.finish(title, finding or "Net benefit by risk", subtitle, note)


def _read_decisions(table: object) -> ChartCurves:
    """Return a line per group and prevalence; raise if one has two rows at a risk."""
    chart_name, made_by = "the chart decision_curve", "the method decision_curve"
    result = result_tables.check_table(chart_name, table, made_by, _NEEDED)
    group_columns = result.columns[: result.columns.index("eta")]
    column_of_field = result_tables.name_group_fields(group_columns) | {"eta": "eta"}
    value_columns = [
        _RISK,
        _VALUE,
        "treat_all",
        *(_BAND_COLUMNS if set(_BAND_COLUMNS) <= set(result.columns) else ()),
    ]
    field_columns = [name for name in FIELD_COLUMNS if name in result.columns]
    points = result_tables.pick_columns(
        result, column_of_field, [*SWEEP_COLUMNS, *value_columns, *field_columns]
    )
    value_exprs = pl.col(value_columns).cast(
        pl.Float64
    )  # null instead of NaN and infinity, which JSON has not
    points = points.with_columns(pl.when(value_exprs.is_finite()).then(value_exprs))
    points = result_tables.number_lines(points, column_of_field, _RISK, _VALUE, "risk")
    is_known = pl.all_horizontal(pl.col(_RISK, _VALUE, "recall", "fpr").is_not_null())
    curves = result_tables.build_chart_curves(points, column_of_field, is_known)
    return replace(curves, points=point_thinning.find_few_false_alerts(curves.points))


def _build_axes(
    curves: ChartCurves, channels: Channels, log_x: bool | None, n_events: int
) -> tuple[ChartAxis, ChartAxis]:
    """Return the axis of risks, linear or log, and that of net benefit."""
    facet = channels.facet
    risks = curves.points[_RISK].unique().sort()
    positive_risks = risks.filter(risks > 0).to_list() or [0.01]
    low, high = positive_risks[0], positive_risks[-1]
    is_log = low < 0.01 and high / low >= 30 if log_x is None else read_flag("log_x=", log_x)
    if high < 1.01 * low:  # one risk
        low, high = (low / 2, min(2 * low, 1.0)) if is_log else (0.0, min(2 * low, 1.0))
    x_title = f"Risk at which you act{'' if facet else ' (threshold probability)'}"
    low, number_style = (low, "share") if is_log else (0.0, "percent")
    x_axis = ChartAxis(_RISK, x_title, low, high, number_style, is_log=is_log)
    bottom, top = _find_ends(curves.points, x_axis)
    range_of_label: dict[str, tuple[float, float]] = {}
    if facet is not None:
        filter_of_label = {
            label: pl.col("curve").is_in(curve_numbers)
            for label, curve_numbers in facet.curves_of_label.items()
        }
        etas = [
            curves.curve_rows.filter(filter_of_label[label])["eta"].mean() for label in filter_of_label
        ]
        if are_far_apart(pl.Series(etas, dtype=pl.Float64)):  # each panel has a range of its own
            range_of_label = {
                label: _find_ends(curves.points.filter(filter_of_label[label]), x_axis)
                for label in filter_of_label
            }
    title, number_style = "Net benefit per 1,000", "thousandths"
    if n_events > 1_000:
        title, number_style = "Net benefit per million", "millionths"
    return x_axis, ChartAxis(
        _VALUE, title, bottom, top, number_style, is_free=bool(range_of_label), ranges=range_of_label
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
    mark_records = []
    for point in risk_points.sort("curve").to_dicts():
        benefits = [
            point[column] for column in (_VALUE, *_BAND_COLUMNS) if point.get(column) is not None
        ]
        label_text, *end_texts = (_say_value(benefit, n_events) for benefit in benefits)
        mark_fields = {_RISK: round_digits(risk), _VALUE: round_digits(point[_VALUE])}
        interval_text = f"{end_texts[0]} to {end_texts[1]}" if len(end_texts) == 2 else ""
        bracket_text = f" ({interval_text})" if interval_text else ""
        mark_text = f"at a risk of {say_share(risk)} {label_text}{bracket_text}"
        mark = {"part": "mark", "said": mark_text, f"{_VALUE}_label": label_text, **mark_fields}
        mark_records.append(mark | channels.curve_fields(point["curve"]))
    canvas.draw_line([(risk, y_axis.low), (risk, y_axis.high)], "risk", {})
    side_looks: list[dict[str, Any]] = [{"dx": 6}, {"dx": -6, "align": "right"}]
    height_looks: list[dict[str, Any]] = [{"y": y_axis.read(tenth / 10)} for tenth in (9, 8, 7, 6, 5, 4)]
    canvas.name_line(
        f"risk {say_share(risk)}", height_looks, [{"x": risk, **side_look} for side_look in side_looks]
    )
    canvas.records += mark_records
    return mark_records


def _add_bottoms(canvas: Canvas, points: pl.DataFrame) -> pl.DataFrame:
    """Add `bottom`, the lowest net benefit that the panel of each curve shows."""
    facet_channel, curve_numbers = canvas.channels.facet, canvas.curves.curve_rows["curve"]
    low_benefits = [
        canvas.spec.y.pick(facet_channel.label_of_curve[curve_number] if facet_channel else None).low
        for curve_number in curve_numbers
    ]
    bottom_rows = pl.DataFrame([curve_numbers, pl.Series("bottom", low_benefits, dtype=pl.Float64)])
    return points.join(bottom_rows, on="curve", maintain_order="left")


def _cut_below(
    canvas: Canvas, table_points: pl.DataFrame, band_columns: tuple[str, ...]
) -> pl.DataFrame:
    """Return the points in order; lines end where they leave the axes, and a null is a gap."""
    risk_expr, value_expr, bottom_expr = pl.col(_RISK), pl.col(_VALUE), pl.col("bottom")
    points = _add_bottoms(canvas, table_points.filter(risk_expr >= canvas.spec.x.low))
    # The straight line from the point before crosses the bottom at this share of its way.
    height_before_expr, height_after_expr = (
        (value_expr - bottom_expr).shift(1).over("curve"),
        value_expr - bottom_expr,
    )
    risk_at_bottom = risk_expr.shift(1).over("curve") + height_before_expr / (
        height_before_expr - height_after_expr
    ) * risk_expr.diff().over("curve")
    crossings = points.with_columns(at=risk_at_bottom).filter(
        (height_before_expr < 0) != (height_after_expr < 0)
    )
    crossings = crossings.with_columns(pl.col("at").alias(_RISK), bottom_expr.alias(_VALUE)).drop("at")
    raised_end_exprs = [pl.max_horizontal(column, "bottom").alias(column) for column in band_columns]
    upper_points = points.with_columns(
        pl.when(value_expr >= bottom_expr).then(value_expr), *raised_end_exprs
    )
    upper_points = upper_points.with_columns(
        pl.when(value_expr.is_not_null()).then(column).alias(column) for column in band_columns
    )
    all_points = pl.concat([upper_points, crossings.with_columns(*raised_end_exprs)])
    all_points = all_points.sort("curve", _RISK, maintain_order=True)
    # A line that comes back to no more than 0, where nobody is flagged, would look like a benefit.
    all_points = all_points.with_columns(stretch=pl.struct("curve", value_expr.is_null()).rle_id())
    first_stretch = pl.col("stretch").filter(value_expr.is_not_null()).first().over("curve")
    has_benefit = value_expr.max().over("stretch") > -_BACK_AT_ZERO * bottom_expr
    is_shown = (pl.col("stretch") == first_stretch) | has_benefit
    columns = (_VALUE, *band_columns)
    return all_points.with_columns(pl.when(is_shown).then(column).alias(column) for column in columns)


def _list_treat_all(
    canvas: Canvas, eta: float, panel_label: str | None = None
) -> list[tuple[float, float]]:
    """Return points of the line of treating all, between the upper and the lower end of the axis."""
    x_axis, y_axis = canvas.spec.x, canvas.spec.y.pick(panel_label)

    def find_risk(benefit: float) -> float:
        # Treating all has this net benefit where odds (1 - eta) = eta - value.
        odds = max(eta - benefit, 0.0) / (1 - eta) if eta < 1 else math.inf
        return odds / (1 + odds) if odds < math.inf else 1.0

    start_risk, end_risk = (
        max(x_axis.low, find_risk(y_axis.high)),
        min(find_risk(y_axis.low), x_axis.high),
    )
    if end_risk <= start_risk:
        return []
    first_place, last_place = x_axis.place(start_risk), x_axis.place(end_risk)
    risks = [
        min(x_axis.read(first_place + (last_place - first_place) * step / 60), end_risk)
        for step in range(61)
    ]
    return [(risk, eta - (1 - eta) * risk / (1 - risk)) for risk in risks]


def _draw_alternatives(canvas: Canvas) -> None:
    """Draw the lines of treating all and treating none, and name them if one panel has one each."""
    x_axis, y_axis, color_channel = canvas.spec.x, canvas.spec.y, canvas.channels.color
    etas = canvas.curves.curve_rows["eta"].to_list()
    if color_channel and canvas.channels.facet is None:
        # Grey lines of models that are grey themselves would hide all others.
        etas_and_labels = zip(etas, color_channel.label_of_curve.values(), strict=True)
        etas = [eta for eta, label in etas_and_labels if label in color_channel.shown_labels]
    etas_and_panels = canvas.channels.repeat_in_panels(etas)
    for eta, panel_fields in etas_and_panels:
        canvas.draw_line(
            _list_treat_all(canvas, eta, panel_fields.get("facet")), f"all {eta:.6g}", panel_fields
        )
        canvas.draw_line([(x_axis.low, 0.0), (x_axis.high, 0.0)], "none", panel_fields)
    if len(etas_and_panels) != 1 or canvas.channels.facet is not None:
        return
    side_looks: list[dict[str, Any]] = [{"dy": 4, "baseline": "top"}, {"dy": -4, "baseline": "bottom"}]
    end_look: dict[str, Any] = {"x": x_axis.high, "align": "right"}
    end_looks = [end_look, *canvas.list_middles((8, 7, 6, 5))]
    canvas.name_line("treat none", end_looks, [{"y": 0.0, **side_look} for side_look in side_looks])
    points_of_all = _list_treat_all(canvas, etas_and_panels[0][0])[::-1]
    height_shares = [0.3, 0.45, 0.2, 0.6, 0.1, 0.75, 0.9]
    name_points = [
        next(
            (name_point for name_point in points_of_all if name_point[1] >= height_share * y_axis.high),
            None,
        )
        for height_share in height_shares
    ]
    name_looks: list[dict[str, Any]] = [
        {
            "x": name_point[0],
            "y": name_point[1],
            "dx": x_offset,
            "align": "left" if x_offset > 0 else "right",
        }
        for name_point in name_points
        if name_point is not None and x_axis.place(name_point[0]) <= 0.8
        for x_offset in ((6, -6) if x_axis.place(name_point[0]) > 0.15 else (6,))
    ]
    if name_looks:
        canvas.name_line("treat all", name_looks)


def _say_value(benefit: float, n_events: int) -> str:
    """Return a net benefit among this number of cases, in two digits: `36`, or `-4.2`."""
    cases = float(f"{round(n_events * benefit, 9):.2g}")  # what sums leave of 0 is 0
    return say_signed(cases, say_count)


def _say_row(n_events: int, point: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each risk of the table, among this number of cases."""
    benefits = [point.get(column) for column in (_VALUE, *_BAND_COLUMNS)]
    benefit_text, *end_texts = (
        None if benefit is None else _say_value(benefit, n_events) for benefit in benefits
    )
    interval_text = "" if None in end_texts else f" ({end_texts[0]} to {end_texts[1]})"
    return say_share(point[_RISK]), f"{benefit_text}{interval_text}{add_threshold(point)}"
