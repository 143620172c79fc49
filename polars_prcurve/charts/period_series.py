"""The chart of a series that is watched: each period, all so far, and when there is an alarm."""

from __future__ import annotations

import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.canvas import Canvas, check_words, draw_level
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.chart_axes import ChartSpec
from polars_prcurve.charts.parts.colors_and_panels import Channels, read_panels_of_one
from polars_prcurve.charts.parts.findings import say_alarms
from polars_prcurve.charts.parts.number_formats import format_level
from polars_prcurve.charts.parts.periods import (
    build_period_axes,
    describe_rate,
    draw_periods,
    read_periods,
    say_period,
)


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
        What `monitor` returns, in any row order.
    confidence
        The level of the table, for the note, since the table does not hold it.
    color, facet, title
        As in `pr_curve`.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> weeks = pl.DataFrame({"week": [1, 2, 3], "score": 1, "n_pos": [80, 52, 55]})
    >>> weeks = weeks.with_columns(n_neg=100 - pl.col("n_pos"))
    >>> alerts = weeks.prc(counts=("n_pos", "n_neg"))
    >>> monitor(alerts.monitor("week", reference=0.8, threshold=1)).to_dict()["title"]["text"]
    ['Precision has fallen, likely from week 2 on']
    """
    check_words(title, color=color, facet=facet)
    curves, time = read_periods(table)
    rows = curves.rows
    x, y = build_period_axes(rows, time)
    channels = read_panels_of_one(curves, color, facet)
    channels = channels if color else Channels(None, channels.facet)  # heads name the series
    spec = ChartSpec(x, y, "linear", bands=(("overall_low", "overall_high"),), height=0.5)
    canvas = Canvas(curves, channels, spec)
    firsts = rows.group_by("curve", maintain_order=True).first()
    is_fpr = (firsts["bound"] > firsts["reference"]).any()
    draw_level(canvas, firsts["reference"], "reference", "below" if is_fpr else "above")
    bounds = firsts.filter(pl.col("bound") != pl.col("reference"))["bound"]
    draw_level(canvas, bounds, "bound", "above" if is_fpr else "below")
    canvas.draw_lines(rows.drop_nulls("overall"))
    draw_periods(canvas, rows)
    canvas.follow_pointer(rows.drop_nulls("overall"), "nearest", say_period, rows["period"])
    level = "" if confidence is None else f"{format_level(confidence)} "
    note = (f"Shaded: {level}interval of all periods at once", "Filled: from the alarm on")
    subtitle = f"{describe_rate(rows)} by {time}; the line is all so far"
    return canvas.finish(title, say_alarms(curves, channels, y.title, time), subtitle, note)
