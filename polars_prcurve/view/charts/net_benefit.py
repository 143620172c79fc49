"""The decision curve: net benefit by the risk at which users act."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.intervals import name_estimate
from polars_prcurve.core.ground.argument_checks import Title, hint_at_arguments, read_flag
from polars_prcurve.core.sweep.sweep_columns import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.view.charts.parts import point_thinning, result_tables
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, choose_events
from polars_prcurve.view.charts.parts.chart_titles import say_net_benefit
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, are_far_apart, choose_channels
from polars_prcurve.view.charts.parts.label_formats import add_threshold, describe_level, round_digits
from polars_prcurve.view.charts.parts.line_canvas import Canvas, check_words
from polars_prcurve.view.charts.parts.result_tables import ChartCurves
from polars_prcurve.view.words.number_words import say_count, say_share, say_signed

_RISK = "threshold_probability"  # the column across
_VALUE = "net_benefit"  # the column that is drawn
_BAND = (name_estimate(_VALUE).low, name_estimate(_VALUE).high)  # both ends of its interval
_NEEDED = ("eta", _RISK, *SWEEP_COLUMNS, _VALUE, "treat_all")  # columns without which nothing is drawn
# Room below 0, as a share of the height above it, where no line of a model goes below 0.
_BELOW_ZERO = 0.07
# Room below 0, at most: a model of risks far too high would press all others flat.
_MOST_BELOW_ZERO = 0.4
_MOST_SAID = 4  # lines, at most, whose net benefit at one risk is marked
_FAR = 0.2  # how far from the prevalence the marked risk may be, as a share of it


@hint_at_arguments
def decision_curve(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    log_x: bool | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Decision curves from the table of `decision_curve`, in any row order: net benefit by risk.

    A line is what acting on the model is worth, in true cases after false alerts are paid for, at each
    risk at which a user would act. The grey lines are treating everybody and treating nobody. A model
    is worth using where its line is above both. The shade is the table's interval. A line is dotted
    where fewer than five false positives are behind it, and has no shade there.

    Parameters
    ----------
    table
        What `decision_curve` returns, with or without intervals.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    log_x
        A log axis for the risk. By default where risks begin below 1 % and span a factor of 30 or more.
    color, facet
        A `by` column or `"eta"`. By default the first `by` column is colour, and the others are panels,
        as is eta if a group has several.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
    >>> df = pl.concat([df] * 10)
    >>> chart = decision_curve(df.prc.decision_curve(probabilities=[0.1, 0.2, 0.4]))
    >>> print(chart.to_dict()["title"]["text"][0].replace("\\xa0", " "))
    At a risk of 40 %, acting nets 83 true cases per 1 000
    """
    check_words(title, color=color, facet=facet)
    curves = _read_decisions(table)
    means = dict(curves.points.group_by("curve").agg(pl.col(_VALUE).mean()).rows())
    are_apart = are_far_apart(curves.curve_rows["eta"])  # no axis shows such lines well together
    channels = choose_channels(curves, color, facet, means, are_apart=are_apart)
    events = choose_events(curves.curve_rows["eta"])
    unit = "1 000" if events == 1_000 else "million"
    x, y = _build_axes(curves, channels, log_x, events)
    band = _BAND if _BAND[0] in curves.points.columns else ()
    canvas = Canvas(curves, channels, ChartSpec(x, y, "linear", bands=(_BAND,) if band else ()))
    points = _cut_below(canvas, point_thinning.find_few_false_alerts(curves.points), band)
    points = point_thinning.split_by_doubt(points, "linear")
    # A shade where nothing is known would hide the others, and says no more than the dots do.
    is_shaded = ~pl.col("doubt") | (pl.col("tp") + pl.col("fn") < result_tables.FEW_POSITIVES)
    points = points.with_columns(pl.when(is_shaded).then(name).alias(name) for name in band)
    _draw_alternatives(canvas)
    canvas.draw_lines(points, ghosts=not y.is_free)
    rows = _add_bottoms(canvas, curves.points)
    raised_rows = rows.with_columns(pl.max_horizontal(_VALUE, "bottom").alias(_VALUE))
    risks = rows[_RISK].filter(rows[_RISK] >= x.low)
    canvas.follow_pointer(raised_rows, "nearest", partial(_say_row, events), risks)
    is_below = (rows[_VALUE] < rows["bottom"]).any()
    note = [
        "A false alert costs p / (1 \u2212 p) of a true case at the risk p",
        "Grey lines: treating all, and none" if channels.facet is not None else "",
        channels.color_note,
        describe_level(band, confidence),
        *point_thinning.describe_doubt(points),
        "Below the axis: risks at which a model does much harm" if is_below else "",
        "Not drawn: a risk of 0" if x.is_log and (rows[_RISK] < x.low).any() else "",
        *curves.describe_sizes(),
    ]
    cases = f"Net benefit: true cases per {unit} cases, after false alerts are paid for"
    subtitle = curves.join_etas(f"{cases},")
    finding = say_net_benefit(curves, channels, _mark_risk(canvas, events), f"true cases per {unit}")
    finding = finding or "What acting on the model is worth, by risk"
    return canvas.finish(title, finding, subtitle, note)


def _read_decisions(table: object) -> ChartCurves:
    """Return a line per group and prevalence; raise if one has two rows at a risk."""
    chart_name, made_by = "the chart decision_curve", "the method decision_curve"
    frame = result_tables.check_table(chart_name, table, made_by, _NEEDED)
    groups = frame.columns[: frame.columns.index("eta")]
    names = result_tables.name_group_fields(groups) | {"eta": "eta"}
    values = [_RISK, _VALUE, "treat_all", *(_BAND if set(_BAND) <= set(frame.columns) else ())]
    of_field = [name for name in FIELD_COLUMNS if name in frame.columns]
    rows = result_tables.pick_columns(frame, names, [*SWEEP_COLUMNS, *values, *of_field])
    number = pl.col(values).cast(pl.Float64)  # null in place of NaN and infinity, which JSON has not
    rows = rows.with_columns(pl.when(number.is_finite()).then(number))
    rows = result_tables.number_lines(rows, names, _RISK, _VALUE, "risk")
    is_known = pl.all_horizontal(pl.col(_RISK, _VALUE, "recall", "fpr").is_not_null())
    return result_tables.build_chart_curves(rows, names, is_known)


def _build_axes(
    curves: ChartCurves, channels: Channels, log_x: bool | None, events: int
) -> tuple[ChartAxis, ChartAxis]:
    """Return the axis of risks, linear or log, and that of net benefit."""
    facet = channels.facet
    risks = curves.points[_RISK].unique().sort()
    positive = risks.filter(risks > 0).to_list() or [0.01]
    low, high = positive[0], positive[-1]
    is_log = low < 0.01 and high / low >= 30 if log_x is None else read_flag("log_x=", log_x)
    if high < 1.01 * low:  # one risk
        low, high = (low / 2, min(2 * low, 1.0)) if is_log else (0.0, min(2 * low, 1.0))
    x_title = f"Risk at which you act{'' if facet else ' (threshold probability)'}"
    low, words = (low, "share") if is_log else (0.0, "percent")
    x = ChartAxis(_RISK, x_title, low, high, words, is_log=is_log)
    bottom, top = _find_ends(curves.points, x)
    ranges: dict[str, tuple[float, float]] = {}
    if facet is not None:
        is_in = {
            panel: pl.col("curve").is_in(numbers) for panel, numbers in facet.curves_of_label.items()
        }
        etas = [curves.curve_rows.filter(is_in[panel])["eta"].mean() for panel in is_in]
        if are_far_apart(pl.Series(etas, dtype=pl.Float64)):  # each panel has a range of its own
            ranges = {panel: _find_ends(curves.points.filter(is_in[panel]), x) for panel in is_in}
    title, words = "Net benefit per 1 000", "thousandths"
    if events > 1_000:
        title, words = "Net benefit per million", "millionths"
    return x, ChartAxis(_VALUE, title, bottom, top, words, is_free=bool(ranges), ranges=ranges)


def _find_ends(rows: pl.DataFrame, x: ChartAxis) -> tuple[float, float]:
    """Return the lowest and the highest net benefit that an axis shows."""
    shown_rows = rows.filter(pl.col(_RISK) >= x.low)
    names = [name for name in (_VALUE, "treat_all", _BAND[1]) if name in rows.columns]
    values = [value for name in names for value in shown_rows[name].drop_nulls().to_list()]
    top = 1.05 * max(values, default=0.0)
    top = top if top > 0 else 0.1
    least = min(shown_rows[_VALUE].drop_nulls().to_list(), default=0.0)
    return max(min(1.1 * least, -_BELOW_ZERO * top), -_MOST_BELOW_ZERO * top), top


def _mark_risk(canvas: Canvas, events: int) -> list[dict[str, Any]]:
    """Draw a rule at the risk that is the prevalence, and return a marked point of each line there."""
    # There treating all is worth as much as treating none. None for many lines and for few positives.
    curves, (x, y), channels = canvas.curves, canvas.axes, canvas.channels
    etas, rows = curves.curve_rows["eta"].unique(), curves.points.drop_nulls(_VALUE)
    rows = rows.filter((pl.col(_VALUE) >= y.low) & (pl.col(_RISK) >= x.low))
    is_crowd = channels.facet is not None or len(curves.curve_rows) > _MOST_SAID
    if is_crowd or len(etas) != 1 or curves.has_few_positives or rows.is_empty():
        return []
    risk = rows.sort((pl.col(_RISK) - etas[0]).abs(), _RISK)[_RISK][0]
    risk_rows = rows.filter(pl.col(_RISK) == risk)
    if len(risk_rows) < len(curves.curve_rows) or abs(risk / etas[0] - 1) > _FAR:
        return []
    marks = []
    for row in risk_rows.sort("curve").to_dicts():
        numbers = [row[name] for name in (_VALUE, *_BAND) if row.get(name) is not None]
        label, *ends = (_say_value(number, events) for number in numbers)
        place = {_RISK: round_digits(risk), _VALUE: round_digits(row[_VALUE])}
        span = f"{ends[0]} to {ends[1]}" if len(ends) == 2 else ""
        text = f"at a risk of {say_share(risk)} {label}{f' ({span})' if span else ''}"
        mark = {"part": "mark", "said": text, f"{_VALUE}_label": label, **place}
        marks.append(mark | channels.curve_fields(row["curve"]))
    canvas.draw_line([(risk, y.low), (risk, y.high)], "risk", {})
    side: list[dict[str, Any]] = [{"dx": 6}, {"dx": -6, "align": "right"}]
    heights: list[dict[str, Any]] = [{"y": y.read(k / 10)} for k in (9, 8, 7, 6, 5, 4)]
    canvas.name_line(f"risk {say_share(risk)}", heights, [{"x": risk, **way} for way in side])
    canvas.records += marks
    return marks


def _add_bottoms(canvas: Canvas, rows: pl.DataFrame) -> pl.DataFrame:
    """Add `bottom`, the lowest net benefit that the panel of each curve shows."""
    facet, numbers = canvas.channels.facet, canvas.curves.curve_rows["curve"]
    lows = [canvas.spec.y.pick(facet.label_of_curve[k] if facet else None).low for k in numbers]
    low = pl.DataFrame([numbers, pl.Series("bottom", lows, dtype=pl.Float64)])
    return rows.join(low, on="curve", maintain_order="left")


def _cut_below(canvas: Canvas, rows: pl.DataFrame, band: tuple[str, ...]) -> pl.DataFrame:
    """Return the points in order; lines end where they leave the axes, and a null is a gap."""
    risk, value, bottom = pl.col(_RISK), pl.col(_VALUE), pl.col("bottom")
    points = _add_bottoms(canvas, rows.filter(risk >= canvas.spec.x.low))
    # The straight line from the point before crosses the bottom at this share of its way.
    before, after = (value - bottom).shift(1).over("curve"), value - bottom
    risk_at_bottom = risk.shift(1).over("curve") + before / (before - after) * risk.diff().over("curve")
    crossings = points.with_columns(at=risk_at_bottom).filter((before < 0) != (after < 0))
    crossings = crossings.with_columns(pl.col("at").alias(_RISK), bottom.alias(_VALUE)).drop("at")
    ends = [pl.max_horizontal(name, "bottom").alias(name) for name in band]
    upper = points.with_columns(pl.when(value >= bottom).then(value), *ends)
    upper = upper.with_columns(pl.when(value.is_not_null()).then(name).alias(name) for name in band)
    all_points = pl.concat([upper, crossings.with_columns(*ends)])
    return all_points.sort("curve", _RISK, maintain_order=True)


def _list_treat_all(canvas: Canvas, eta: float, panel: str | None = None) -> list[tuple[float, float]]:
    """Return points of the line of treating all, between the upper and the lower end of the axis."""
    x, y = canvas.spec.x, canvas.spec.y.pick(panel)

    def find_risk(value: float) -> float:
        # Treating all has this net benefit where odds (1 - eta) = eta - value.
        odds = max(eta - value, 0.0) / (1 - eta) if eta < 1 else math.inf
        return odds / (1 + odds) if odds < math.inf else 1.0

    start, end = max(x.low, find_risk(y.high)), min(find_risk(y.low), x.high)
    if end <= start:
        return []
    first, last = x.place(start), x.place(end)
    risks = [min(x.read(first + (last - first) * k / 60), end) for k in range(61)]
    return [(risk, eta - (1 - eta) * risk / (1 - risk)) for risk in risks]


def _draw_alternatives(canvas: Canvas) -> None:
    """Draw the lines of treating all and treating none, and name them if one panel has one each."""
    x, y, color = canvas.spec.x, canvas.spec.y, canvas.channels.color
    etas = canvas.curves.curve_rows["eta"].to_list()
    if color and canvas.channels.facet is None:
        # Grey lines of models that are grey themselves would hide all others.
        pairs = zip(etas, color.label_of_curve.values(), strict=True)
        etas = [eta for eta, label in pairs if label in color.shown_labels]
    etas_and_panels = canvas.channels.repeat_in_panels(etas)
    for eta, place in etas_and_panels:
        canvas.draw_line(_list_treat_all(canvas, eta, place.get("facet")), f"all {eta:.6g}", place)
        canvas.draw_line([(x.low, 0.0), (x.high, 0.0)], "none", place)
    if len(etas_and_panels) != 1 or canvas.channels.facet is not None:
        return
    sides: list[dict[str, Any]] = [{"dy": 4, "baseline": "top"}, {"dy": -4, "baseline": "bottom"}]
    end: dict[str, Any] = {"x": x.high, "align": "right"}
    ends = [end, *canvas.list_middles((8, 7, 6, 5))]
    canvas.name_line("treat none", ends, [{"y": 0.0, **side} for side in sides])
    line = _list_treat_all(canvas, etas_and_panels[0][0])[::-1]
    heights = [0.3, 0.45, 0.2, 0.6, 0.1, 0.75, 0.9]
    spots = [next((spot for spot in line if spot[1] >= height * y.high), None) for height in heights]
    ways: list[dict[str, Any]] = [
        {"x": spot[0], "y": spot[1], "dx": dx, "align": "left" if dx > 0 else "right"}
        for spot in spots
        if spot is not None and x.place(spot[0]) <= 0.8
        for dx in ((6, -6) if x.place(spot[0]) > 0.15 else (6,))
    ]
    if ways:
        canvas.name_line("treat all", ways)


def _say_value(value: float, events: int) -> str:
    """Return a net benefit among this number of cases, in two digits: `36`, or `-4.2`."""
    number = float(f"{round(events * value, 9):.2g}")  # what sums leave of 0 is 0
    return say_signed(number, say_count)


def _say_row(events: int, row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each risk of the table, among this number of cases."""
    numbers = [row.get(name) for name in (_VALUE, *_BAND)]
    value, *ends = (None if n is None else _say_value(n, events) for n in numbers)
    interval_text = "" if None in ends else f" ({ends[0]} to {ends[1]})"
    return say_share(row[_RISK]), f"{value}{interval_text}{add_threshold(row)}"
