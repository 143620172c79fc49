"""The chart of a series that is watched: each period, all so far, and when there is an alarm."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts import result_tables
from polars_prcurve.view.charts.parts.chart_assembly import Chart, keep_part
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, fit_shares
from polars_prcurve.view.charts.parts.chart_titles import say_alarms
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, read_panels_of_one
from polars_prcurve.view.charts.parts.label_formats import format_level, format_metric, round_digits
from polars_prcurve.view.charts.parts.line_canvas import Canvas, check_words
from polars_prcurve.view.charts.parts.result_tables import ChartCurves
from polars_prcurve.view.words.number_words import say_estimate, say_eta, say_share

# The columns of `monitor` that are drawn or told; the first six are shares.
_VALUES = ("value", "overall", "overall_low", "overall_high", "reference", "bound", "alarm", "since")
_MOST_TICKS = 12  # periods, at most, whose number stands below them


@hint_at_arguments
def monitor(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """A series that is watched, from the table of `monitor`: a dot per period, and a line of all so far.

    The shade is the interval of all so far, which holds in all periods at once. Grey lines are the
    reference and its bound. The title says which alarms there are, and no more.

    Parameters
    ----------
    table
        What `monitor(columns="all")` returns, in any row order.
    confidence
        The level of the table, for the note, since the table does not hold it.
    color, facet, title
        As in `pr_curve`.

    Examples
    --------
    >>> weeks = pl.DataFrame({"week": [1, 2, 3], "score": 1, "n_pos": [80, 52, 55]})
    >>> weeks = weeks.with_columns(n_neg=100 - pl.col("n_pos"))
    >>> alerts = weeks.prc(counts=("n_pos", "n_neg"))
    >>> periods = alerts.monitor("week", reference=0.8, threshold=1, columns="all")
    >>> monitor(periods).to_dict()["title"]["text"]
    ['Precision has fallen, likely from week 2 on']
    """

    def say_period(row: dict[str, Any]) -> tuple[str, str]:
        value, span = say_estimate(row["overall"], row["overall_low"], row["overall_high"])
        own_text = "" if row["value"] is None else f"{say_share(row['value'])}, "
        alarm_text = ", alarm" if row["alarm"] else ""
        return str(row["time"]), f"{own_text}all so far {value} ({span}){alarm_text}"

    check_words(title, color=color, facet=facet)
    curves, time = _read_periods(table)
    point_frame = curves.points
    periods = point_frame["period"].drop_nulls().unique().sort().to_list() or [1.0]
    first_period, last_period, x_title = periods[0], periods[-1], time
    if len(point_frame) and not point_frame.schema["time"].is_integer():
        x_title = f"Number of the {time}; 1 is {point_frame.sort('period')['time'][0]}"
    step = max(1, -(-round(last_period - first_period + 1) // _MOST_TICKS))
    ticks = tuple(float(tick) for tick in range(round(first_period), round(last_period) + 1, step))
    x_axis = ChartAxis("period", x_title, first_period - 0.5, last_period + 0.5, "plain", ticks=ticks)
    shares = pl.concat([point_frame[name].cast(pl.Float64).rename("share") for name in _VALUES[:6]])
    rate_text = format_metric(point_frame["metric"][0] if len(point_frame) else "precision")
    y_axis = ChartAxis("overall", rate_text, *fit_shares(shares))
    channels = read_panels_of_one(curves, color, facet)
    channels = channels if color else Channels(None, channels.facet)  # heads name the series
    spec = ChartSpec(x_axis, y_axis, "linear", bands=(("overall_low", "overall_high"),), height=0.5)
    canvas = Canvas(curves, channels, spec)
    first_rows = point_frame.group_by("curve", maintain_order=True).first()
    is_fpr = (first_rows["bound"] > first_rows["reference"]).any()
    canvas.draw_level(first_rows["reference"], "reference", "below" if is_fpr else "above")
    bounds = first_rows.filter(pl.col("bound") != pl.col("reference"))["bound"]
    canvas.draw_level(bounds, "bound", "above" if is_fpr else "below")
    canvas.draw_lines(point_frame.drop_nulls("overall"))
    _draw_periods(canvas, point_frame)
    canvas.follow_pointer(
        point_frame.drop_nulls("overall"), "nearest", say_period, point_frame["period"]
    )
    level_text = "" if confidence is None else f"{format_level(confidence)} "
    note = (f"Shaded: {level_text}interval of all periods at once", "Filled: from the alarm on")
    has_eta = "eta" in point_frame.columns and len(point_frame) > 0
    place_text = f" at a prevalence of {say_eta(point_frame['eta'][0])}" if has_eta else ""
    subtitle = f"{rate_text}{place_text} by {time}; the line is over all periods so far"
    return canvas.finish(title, say_alarms(curves, channels, y_axis.title, time), subtitle, note)


def _read_periods(table: object) -> tuple[ChartCurves, str]:
    """Return a line for each group of a table, and what users call the time."""
    # `period` is the time itself if it is a whole number, and the number of the period otherwise.
    result = result_tables.check_table("monitor", table, "monitor", ["metric", *_VALUES])
    key_columns = result.columns[: result.columns.index("metric")]
    if not key_columns:
        raise PrcError(
            "monitor takes the table that monitor returns, whose first columns are its periods"
        )
    *group_columns, time_column = key_columns
    column_of_field = result_tables.name_group_fields(group_columns)
    value_columns = ["metric", *(["eta"] if "eta" in result.columns else []), *_VALUES]
    periods = result_tables.pick_columns(result, {**column_of_field, "time": time_column}, value_columns)
    period_number = (
        pl.col("time") if result.schema[time_column].is_integer() else pl.col("time").rank("dense")
    )
    periods = periods.with_columns(period=period_number.cast(pl.Float64))
    numbered_periods = result_tables.number_curves(
        periods.sort(*column_of_field, "period"), column_of_field
    )
    return result_tables.build_chart_curves(
        numbered_periods, column_of_field, pl.col("period").is_not_null()
    ), time_column


def _draw_periods(canvas: Canvas, period_rows: pl.DataFrame) -> None:
    """Draw a dot for the value of each period, filled where there is an alarm."""
    for period_row in period_rows.drop_nulls("value").iter_rows(named=True):
        place_fields = {"period": period_row["period"], "overall": round_digits(period_row["value"])}
        curve_fields = canvas.channels.curve_fields(period_row["curve"])
        canvas.records.append(
            {"part": "period", "alarm": bool(period_row["alarm"]), **place_fields, **curve_fields}
        )
    encodings = canvas.channels.encodings
    look: dict[str, Any] = {} if encodings else {"color": style.COLORS[0]}
    for negation, fill_look in (("", {"filled": True}), ("!", {"filled": False, "fill": "white"})):
        dot_layer = alt.Chart().mark_point(
            shape="circle", size=40, strokeWidth=1.6, opacity=1, **fill_look, **look
        )
        dot_layer = keep_part(dot_layer.encode(*canvas.place, *encodings), "period")
        canvas.layers.append(dot_layer.transform_filter(f"{negation}datum.alarm"))
