"""Icon arrays: of 100 alerts, how many are right, and of how many that is not known."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.canvas import check_words
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.chart_curves import (
    describe_eta_zero,
    describe_sizes,
    read_lines,
    say_target_and_etas,
)
from polars_prcurve.charts.parts.colors_and_panels import (
    Channels,
    read_panels_of_one,
    sort_panels,
)
from polars_prcurve.charts.parts.findings import say_each_of_100
from polars_prcurve.charts.parts.icons import describe_icons, draw_icons, say_icons


@hint_at_arguments
def alerts(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Icon arrays of 100 alerts, from the table of `operating_points`: one grid per row.

    A solid circle is a right alert, up to the lower limit of precision, and a hollow one a false alert.
    Between the limits, where the ring is dotted, alerts may be right or not; the tint is deeper up to
    the estimate. Below 1 right in 50 a grid has as many alerts as one right one takes, but no more than
    1 000, and dotted are those that it may take, from one limit to the other. Grids of groups come in
    order of their values, the greatest first.

    Parameters
    ----------
    table
        What `operating_points` returns, with precision among its metrics: at most 12 rows.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    color, facet
        `color` is a column whose values have colours, by default the first `by` column; `facet` is the
        column with which the heads of grids begin.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = alerts(pl.concat([df] * 20).prc.operating_points(recall=1))
    >>> chart.to_dict()["title"]["text"]
    ['67 of 100 alerts are right']
    """
    check_words(title, color=color, facet=facet)
    curves = read_lines("alerts", table, "precision", is_per_row=True)
    channels = read_panels_of_one(curves, color, facet)
    values = dict(curves.rows.select("curve", "value").rows())
    panels = sort_panels(Channels(None, channels.facet), values, curves).facet
    channels = replace(channels, facet=panels)
    canvas, grids = draw_icons("alerts", curves, channels)
    note = [
        *describe_icons(grids, has_span="low" in curves.rows.columns, confidence=confidence),
        *(*describe_sizes(curves), *describe_eta_zero(table)),
    ]
    finding = say_each_of_100(grids, curves, canvas.channels) or "How many of 100 alerts are right"
    return canvas.finish(title, finding, say_target_and_etas(curves), note, say_icons(canvas, grids))
