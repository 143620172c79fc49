"""The series of a chart of periods: the table of `monitor`, numbered, and its axes."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.charts.parts import chart_style as style
from polars_prcurve.charts.parts.canvas import Canvas
from polars_prcurve.charts.parts.chart_assembly import keep_part
from polars_prcurve.charts.parts.chart_axes import ChartAxis, fit_shares
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    build_chart_curves,
    check_table,
    name_group_fields,
    number_curves,
)
from polars_prcurve.charts.parts.number_formats import format_metric, round_digits
from polars_prcurve.errors import PrcError
from polars_prcurve.number_words import say_estimate, say_eta, say_share

_VALUES = ("value", "overall", "overall_low", "overall_high", "reference", "bound", "alarm", "since")
_MOST_TICKS = 12


def read_periods(table: object) -> tuple[ChartCurves, str]:
    """Return a line for each group of a table, and what users call the time.

    `period` is the time itself if it is a whole number, and the number of the period otherwise.
    """
    frame = check_table("monitor", table, "monitor", ["metric", *_VALUES])
    keys = frame.columns[: frame.columns.index("metric")]
    if not keys:
        raise PrcError(
            "monitor takes the table that monitor returns, whose first columns are its periods"
        )
    *groups, time = keys
    names = name_group_fields(groups)
    kept = ["metric", *(["eta"] if "eta" in frame.columns else []), *_VALUES]
    number = pl.col("time") if frame.schema[time].is_integer() else pl.col("time").rank("dense")
    unknown = pl.lit(None, dtype=pl.Float64)  # the chart tells no class sizes
    read = pl.DataFrame(
        [frame.get_column(name).alias(field) for field, name in names.items()]
        + [frame.get_column(time).alias("time"), *(frame.get_column(name) for name in kept)]
    )
    read = read.with_columns(period=number.cast(pl.Float64), n_pos=unknown, n_neg=unknown)
    rows = number_curves(read.sort(*names, "period"), list(names))
    return build_chart_curves(rows, names, pl.col("period").is_not_null()), time


def build_period_axes(rows: pl.DataFrame, time: str) -> tuple[ChartAxis, ChartAxis]:
    """Return the axes of periods, and of the rate that is watched."""
    periods = rows["period"].drop_nulls().unique().sort().to_list() or [1.0]
    title = time
    if len(rows) and not rows.schema["time"].is_integer():
        title = f"Number of the {time}; 1 is {rows.sort('period')['time'][0]}"
    first, last = periods[0], periods[-1]
    every = max(1, -(-round(last - first + 1) // _MOST_TICKS))
    ticks = tuple(float(tick) for tick in range(round(first), round(last) + 1, every))
    x = ChartAxis("period", title, first - 0.5, last + 0.5, "plain", ticks=ticks)
    shares = pl.concat([rows[name].cast(pl.Float64).rename("share") for name in _VALUES[:6]])
    metric = rows["metric"][0] if len(rows) else "precision"
    return x, ChartAxis("overall", format_metric(metric), *fit_shares(shares))


def describe_rate(rows: pl.DataFrame) -> str:
    """Return what is watched, and where, if that is at a prevalence."""
    if rows.is_empty():
        return "Precision"
    where = f" where {say_eta(rows['eta'][0])} is positive" if "eta" in rows.columns else ""
    return f"{format_metric(rows['metric'][0])}{where}"


def draw_periods(canvas: Canvas, rows: pl.DataFrame) -> None:
    """Draw a dot for the value of each period, filled where there is an alarm."""
    numbers = canvas.curves.per_curve["curve"].to_list()
    for row in rows.drop_nulls("value").iter_rows(named=True):
        place = {"period": row["period"], "overall": round_digits(row["value"])}
        fields = canvas.channels.curve_fields(numbers.index(row["curve"]))
        canvas.data.append({"part": "period", "alarm": bool(row["alarm"]), **place, **fields})
    color = canvas.channels.color
    look_of_one: dict[str, Any] = {} if color else {"color": style.COLORS[0]}
    for test, filled in (("", True), ("!", False)):
        look = {"filled": True} if filled else {"filled": False, "fill": "white"}
        dot = alt.Chart().mark_point(
            shape="circle", size=40, strokeWidth=1.6, opacity=1, **look, **look_of_one
        )
        dot = dot.encode(*canvas.place, *([color.encode()] if color else []))
        canvas.layers.append(keep_part(dot, "period").transform_filter(f"{test}datum.alarm"))


def say_period(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: the period, and all so far."""
    value, span = say_estimate(row["overall"], row["overall_low"], row["overall_high"])
    one = "" if row["value"] is None else f"{say_share(row['value'])}, "
    return str(row["time"]), f"{one}all so far {value} ({span}){', alarm' if row['alarm'] else ''}"
