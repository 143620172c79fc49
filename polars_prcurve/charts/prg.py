"""The PRG curve: precision gain by recall gain, a scale on which straight lines are exact."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import Title, check_texts, check_title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.chart_assembly import (
    Chart,
    ChartSpec,
    ChartText,
    add_ghosts,
    arrange_panels,
    build_chart,
)
from polars_prcurve.charts.parts.chart_axes import ChartAxis
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    describe_sizes,
    join_etas,
    read_sweep,
)
from polars_prcurve.charts.parts.colors_and_panels import (
    Channels,
    pick_out,
    read_channels,
    sort_panels,
)
from polars_prcurve.charts.parts.hover import build_hover_records, list_places
from polars_prcurve.charts.parts.number_formats import add_threshold
from polars_prcurve.charts.parts.points_to_draw import (
    build_records,
    describe_doubt,
    describe_thinning,
    drop_straight_points,
    find_few_false_alerts,
    prepend_made,
    split_by_doubt,
    start_at_origin,
    thin_points,
)
from polars_prcurve.number_words import format_count, say_share

_Y = ChartAxis("precision_gain", "Precision gain", 0.0, 1.0)


_CORNER_BELOW = 0.01
"""Where no more are positive, lines lie in the corner of the chart, of which a part is drawn."""


_LEAST_SPAN = 1e-3
"""The shortest axis: the gains of a chart have six digits."""


@hint_at_arguments
def prg_curve(
    table: pl.DataFrame,
    *,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Precision-recall-gain curves (Flach and Kull 2015) from the table of `curve`, in any row order.

    Lines are straight from point to point, as in a ROC curve. A curve starts at recall gain 0, where
    recall is eta, which may be between two thresholds. Points to the left of that are outside, as are
    points below precision gain 0, which are worse than chance. The note gives their number. Where 1 in
    100 or fewer are positive, lines lie in a corner, and the axis of recall gain begins near a recall of
    10 %.

    Parameters
    ----------
    table
        What `curve` returns, with any metrics: gains follow from recall, fpr and eta.
    color, facet
        As in `pr_curve`.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = prg_curve(df.prc.curve(eta=0.1, metrics=("precision_gain", "recall_gain")))
    >>> chart.to_dict()["title"]["text"]
    ['Precision gain and recall gain where 1\xa0in\xa010 is positive']
    """
    check_texts(color=color, facet=facet)
    check_title(title)
    curves = read_sweep("prg_curve", table)
    x = _build_axis(curves)
    points, left, worse = _build_gains(curves, x.low)
    areas = _measure_areas(points)
    channels = sort_panels(read_channels(curves, color, facet), areas, curves)
    channels, picked = pick_out(channels, areas, curves)
    spec = ChartSpec(x, _Y, "linear", width=0.8, height=0.88)
    pixels = arrange_panels(channels.facet, spec).width
    drawn = thin_points(points, pl.col("recall_gain"), pl.col("precision_gain"), pixels)
    drawn = split_by_doubt(drawn, "linear")
    lines = build_records(curves, channels, drawn, ["recall_gain", "precision_gain"])
    data = [*add_ghosts(lines, channels, x), *_read_along(points, curves, channels, x)]
    lost = "of recall below the share of positives" if x.low == 0 else "left of the axis"
    outside = [f"{format_count(left)} {lost}"] if left else []
    outside += [f"{format_count(worse)} worse than alerts at random"] if worse else []
    note = (
        "0 % is as good as an alert for all; lines may be joined, and areas averaged",
        picked,
        *_describe_axis(curves, x),
        *([f"Points outside: {'; '.join(outside)}"] if outside else []),
        *describe_doubt(drawn),
        *describe_sizes(curves),
    )
    own_title = join_etas("Precision gain and recall gain", curves)
    subtitle = "Precision and recall on the scale on which F-scores average"
    text = ChartText(title, subtitle, note, own_title, describe_thinning(points, drawn))
    return build_chart(spec, data, channels, text)


def _build_axis(curves: ChartCurves) -> ChartAxis:
    """Return the axis of recall gain, from 0, or from near a recall of 10 % where positives are rare."""
    known = curves.per_curve["eta"].filter(curves.per_curve["eta"] > 0).to_list()
    low = 0.0
    if known and max(known) <= _CORNER_BELOW:
        span = max(9 * max(known) / (1 - max(known)), _LEAST_SPAN)
        power = 10.0 ** math.floor(math.log10(span))
        low = 1 - math.ceil(span / power - 1e-9) * power
    return ChartAxis("recall_gain", "Recall gain", round(low, 12), 1.0)


def _find_start(eta: Any, low: float) -> Any:
    """Return the recall at which recall gain is `low`; eta if that is 0."""
    return eta / (eta + (1 - low) * (1 - eta))


def _describe_axis(curves: ChartCurves, x: ChartAxis) -> list[str]:
    """Return where the axis begins, if that is not at recall gain 0."""
    if x.low == 0:
        return []
    etas = curves.per_curve["eta"]
    starts = curves.per_curve.select(_find_start(etas, x.low).alias("start"))["start"].sort()
    where = f"The axis begins at a recall of {say_share(starts[-1])}"
    said = [where if etas.n_unique() == 1 else f"{where} or less"]
    is_corner = starts[-1] < _CORNER_BELOW
    return [*said, *(["A PR curve tells such lines apart"] if is_corner else [])]


def _measure_areas(points: pl.DataFrame) -> dict[int, float]:
    """Return the area under the lines of each curve, by its number."""
    x, y = pl.col("recall_gain"), pl.col("precision_gain").fill_null(0)
    part = (x.diff() * (y + y.shift(1)) / 2).over("curve")
    return dict(points.with_columns(area=part).group_by("curve").agg(pl.col("area").sum()).rows())


def _read_along(
    points: pl.DataFrame, curves: ChartCurves, channels: Channels, x: ChartAxis
) -> list[dict[str, Any]]:
    """Return what the pointer reads: at each recall gain the next threshold to the right."""

    def say(row: dict[str, Any]) -> tuple[str, str]:
        at = add_threshold(row["threshold"])
        gain = f"{say_share(row['precision_gain'])}, recall {say_share(row['recall'])}{at}"
        return f"at least {say_share(max(row['at'], 0))}", gain

    rows = points.filter(~pl.col("made") & (pl.col("recall_gain") >= x.low))
    places = list_places(x, len(curves.per_curve))
    return build_hover_records(curves, channels, rows, (x, _Y), places, strategy="forward", say=say)


def _build_gains(curves: ChartCurves, low: float) -> tuple[pl.DataFrame, int, int]:
    """Return the points from recall gain `low` on, the number to the left, and that worse than chance.

    Precision gain is 1 - fpr / recall at every eta.
    """
    eta, recall, fpr = (pl.col(name) for name in ("eta", "recall", "fpr"))
    points = start_at_origin(find_few_false_alerts(curves.rows)).join(
        curves.per_curve.select("curve", "eta"), on="curve", maintain_order="left"
    )
    points = points.filter((eta > 0) & (eta < 1))
    recall_before, fpr_before = (rate.shift(1).over("curve") for rate in (recall, fpr))
    points = points.with_columns(start=_find_start(eta, low) if low else eta)
    start = pl.col("start")
    # A curve enters on the straight ROC line that crosses this recall.
    enters = (recall >= start) & (recall_before < start)
    share = (start - recall_before) / (recall - recall_before)
    first = points.with_columns(on_axis=fpr_before + share * (fpr - fpr_before)).filter(enters)
    first = first.select("curve", "eta", recall="start", fpr="on_axis")
    inside = points.filter(~pl.col("made") & (recall >= start)).drop("start")
    left = points.filter(~pl.col("made") & (recall < start)).height
    corners = drop_straight_points(prepend_made(first, inside.drop("made")))
    gains = corners.with_columns(
        recall_gain=1 - eta / (1 - eta) * (1 - recall) / recall, precision_gain=1 - fpr / recall
    )
    cut = _cut_below_zero(gains)
    cut = cut.drop("place").with_columns(pl.col("doubt").backward_fill().over("curve"))
    return cut, left, inside.filter(fpr > recall).height


def _cut_below_zero(points: pl.DataFrame) -> pl.DataFrame:
    """Cut lines where they cross precision gain 0; points below it get a null gain, which is a gap."""
    gain, x = pl.col("precision_gain"), pl.col("recall_gain")
    points = points.with_row_index("place").with_columns(pl.col("place").cast(pl.Float64))
    gain_before, x_before = (number.shift(1).over("curve") for number in (gain, x))
    on_axis = x_before + (x - x_before) * gain_before / (gain_before - gain)
    cuts = points.with_columns(on_axis=on_axis, place=pl.col("place") - 0.5)
    cuts = cuts.filter((gain < 0) != (gain_before < 0))
    cuts = cuts.select("curve", "place", recall_gain="on_axis", precision_gain=0.0, made=True)
    above = points.with_columns(pl.when(gain >= 0).then(gain))
    return pl.concat([above, cuts], how="diagonal").sort("place")
