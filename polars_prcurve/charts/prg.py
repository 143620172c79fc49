"""The PRG curve: precision gain by recall gain, a scale on which straight lines are exact."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.canvas import Canvas, check_words, choose_channels
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.chart_axes import ChartAxis, ChartSpec, mark_ends
from polars_prcurve.charts.parts.chart_curves import ChartCurves, describe_sizes, join_etas, read_sweep
from polars_prcurve.charts.parts.colors_and_panels import Channels, are_far_apart
from polars_prcurve.charts.parts.findings import say_values
from polars_prcurve.charts.parts.number_formats import add_threshold
from polars_prcurve.charts.parts.points_to_draw import (
    DOTS_OF_SLOPES,
    describe_doubt,
    describe_thinning,
    drop_straight_points,
    find_few_false_alerts,
    has_few_positives,
    prepend_made,
    split_by_doubt,
    start_at_origin,
)
from polars_prcurve.number_words import format_count, say_eta, say_share

_Y = ChartAxis("precision_gain", "Precision gain", 0.0, 1.0)


_CORNER_BELOW = 0.01
"""Where no more are positive, lines lie in the corner of the chart, of which a part is drawn."""


_LEAST_SPAN = 1e-3
"""The shortest axis: the gains of a chart have six digits."""


@hint_at_arguments
def prg_curve(
    table: pl.DataFrame, *, color: str | None = None, facet: str | None = None, title: Title = None
) -> Chart:
    """Precision-recall-gain curves (Flach and Kull 2015) from the table of `curve`, in any row order.

    Lines are straight from point to point, as in a ROC curve. A curve starts at recall gain 0, where
    recall is eta, which may be between two thresholds. Points to the left of that are outside, as are
    points below precision gain 0, which are worse than chance. The note gives their number. Where 1 in
    100 or fewer are positive, lines lie in a corner, and the axis of recall gain begins near a recall of
    10 %: such prevalences have panels with axes of their own, unless you choose others.

    Parameters
    ----------
    table
        What `curve` returns, with any metrics: gains follow from recall, fpr and eta.
    color, facet, title
        As in `pr_curve`.

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
    check_words(title, color=color, facet=facet)
    curves = read_sweep("prg_curve", table)
    whole, *_ = _build_gains(curves, [0.0] * len(curves.per_curve))
    areas, etas = _measure_areas(whole), curves.per_curve["eta"]
    # Rare prevalences, of which a corner is drawn, have panels of their own.
    are_apart = bool((etas <= _CORNER_BELOW).any()) and are_far_apart(etas)
    channels = choose_channels(curves, color, facet, areas, are_apart=are_apart)
    x = _build_axis(curves, channels)
    points, left, worse = _build_gains(curves, _list_lows(x, curves, channels))
    canvas = Canvas(curves, channels, ChartSpec(x, _Y, "linear", width=0.8, height=0.88))
    along = (pl.col("recall_gain") - pl.col("low")) / (1 - pl.col("low"))
    drawn = split_by_doubt(canvas.thin(points, along, pl.col("precision_gain")), "linear")
    canvas.data += mark_ends(x, _Y) if x.is_free else []
    canvas.draw_lines(drawn, ghosts=True)
    known = points.filter(pl.col("made").not_())
    has_dots = canvas.draw_published(known)
    canvas.follow_pointer(known, "forward", _say_row)
    is_cut = x.low > 0 or any(low > 0 for low, _ in x.ranges.values())
    lost = "left of the axis" if is_cut else "of recall below the share of positives"
    outside = [f"{format_count(left)} {lost}"] if left else []
    outside += [f"{format_count(worse)} worse than alerts at random"] if worse else []
    note = [
        "0 % is as good as an alert for all; lines may be joined, and areas averaged",
        channels.picked,
        DOTS_OF_SLOPES if has_dots else "",
        *_describe_axis(curves, channels, x),
        f"Points outside: {'; '.join(outside)}" if outside else "",
        *describe_doubt(drawn),
        *describe_sizes(curves),
    ]
    finding = "" if is_cut else _find_title(canvas, areas)
    subtitle = "Precision and recall on the scale on which F-scores average"
    subtitle = join_etas(f"{subtitle},", curves) if finding else subtitle
    finding = finding or join_etas("Precision gain and recall gain", curves)
    return canvas.finish(title, finding, subtitle, note, describe_thinning(points, drawn))


def _find_title(canvas: Canvas, areas: dict[int, float]) -> str:
    """Return the mean precision gain of each line, which is the area under it, where it is 0 or more."""
    if has_few_positives(canvas.curves) or len(areas) < max(len(canvas.curves.per_curve), 1):
        return ""
    start = "Precision gain averages"
    return say_values(start, "", areas, canvas.curves, canvas.channels)


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each recall gain the next threshold to the right."""
    at = add_threshold(row)
    gain = f"{say_share(row['precision_gain'])}, recall {say_share(row['recall'])}{at}"
    return f"at least {say_share(max(row['at'], 0))}", gain


# The axis of recall gain ----------------------------------------------------------------------


def _build_axis(curves: ChartCurves, channels: Channels) -> ChartAxis:
    """Return the axis of recall gain, of which panels at different prevalences may have their own parts.

    It begins at 0, or near a recall of 10 % where positives are rare.
    """
    etas, panels = curves.per_curve["eta"], channels.facet
    axis = ChartAxis("recall_gain", "Recall gain", _find_low(etas.to_list()), 1.0)
    if panels is None:
        return axis
    frame = pl.DataFrame({"eta": etas, "panel": panels.label_by_curve})
    lows = {
        panel: _find_low(own["eta"].to_list())
        for (panel,), own in frame.group_by("panel", maintain_order=True)
    }
    if len(set(lows.values())) == 1:
        return axis
    ranges = {panel: (low, axis.high) for panel, low in lows.items()}
    return replace(axis, low=min(lows.values()), is_free=True, ranges=ranges)


def _find_low(etas: list[float]) -> float:
    """Return the recall gain at which an axis of lines at these prevalences begins."""
    known = [eta for eta in etas if eta > 0]
    if not known or max(known) > _CORNER_BELOW:
        return 0.0
    span = max(9 * max(known) / (1 - max(known)), _LEAST_SPAN)
    power = 10.0 ** math.floor(math.log10(span))
    return round(1 - math.ceil(span / power - 1e-9) * power, 12)


def _list_lows(x: ChartAxis, curves: ChartCurves, channels: Channels) -> list[float]:
    """Return the recall gain at which each line begins, which is where the axis of its panel does."""
    facet = channels.facet
    panels = [None] * len(curves.per_curve) if facet is None else facet.label_by_curve
    return [x.pick(panel).low for panel in panels]


def _find_start(eta: pl.Expr, low: pl.Expr) -> pl.Expr:
    """Return the recall at which recall gain is `low`; eta if that is 0."""
    return pl.when(low > 0).then(eta / (eta + (1 - low) * (1 - eta))).otherwise(eta)


def _describe_axis(curves: ChartCurves, channels: Channels, x: ChartAxis) -> list[str]:
    """Return where the axis begins, if that is not at recall gain 0."""
    lows = pl.Series("low", _list_lows(x, curves, channels), dtype=pl.Float64)
    cut = curves.per_curve.with_columns(lows).filter(pl.col("low") > 0)
    if cut.is_empty():
        return []
    starts = cut.select(start=_find_start(pl.col("eta"), pl.col("low")))["start"].sort()
    where = f"The axis begins at a recall of {say_share(starts[-1])}"
    where = where if starts[0] == starts[-1] else f"{where} or less"
    if x.is_free:
        rare = say_eta(cut["eta"].max())  # type: ignore[arg-type]
        rare += " or less" if cut["eta"].n_unique() > 1 else ""
        where = f"Where {rare} is positive, t{where[1:]}"
    is_corner = starts[-1] < _CORNER_BELOW
    return [where, *(["A PR curve tells such lines apart"] if is_corner else [])]


def _measure_areas(points: pl.DataFrame) -> dict[int, float]:
    """Return the area under the lines of each curve, by its number."""
    x, y = pl.col("recall_gain"), pl.col("precision_gain").fill_null(0)
    part = (x.diff() * (y + y.shift(1)) / 2).over("curve")
    return dict(points.with_columns(area=part).group_by("curve").agg(pl.col("area").sum()).rows())


def _build_gains(curves: ChartCurves, lows: list[float]) -> tuple[pl.DataFrame, int, int]:
    """Return the points of each curve from its recall gain of `lows` on.

    With them come the number of points to the left, and of those worse than chance. Precision gain is
    1 - fpr / recall at every eta.
    """
    eta, recall, fpr = (pl.col(name) for name in ("eta", "recall", "fpr"))
    per_curve = curves.per_curve.select("curve", "eta", pl.Series("low", lows, dtype=pl.Float64))
    points = start_at_origin(find_few_false_alerts(curves.rows)).join(
        per_curve, on="curve", maintain_order="left"
    )
    points = points.filter((eta > 0) & (eta < 1))
    recall_before, fpr_before = (rate.shift(1).over("curve") for rate in (recall, fpr))
    points = points.with_columns(start=_find_start(eta, pl.col("low")))
    start = pl.col("start")
    # A curve enters on the straight ROC line that crosses this recall.
    enters = (recall >= start) & (recall_before < start)
    share = (start - recall_before) / (recall - recall_before)
    first = points.with_columns(on_axis=fpr_before + share * (fpr - fpr_before)).filter(enters)
    first = first.select("curve", "eta", "low", recall="start", fpr="on_axis")
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
    cuts = cuts.select("curve", "place", "low", recall_gain="on_axis", precision_gain=0.0, made=True)
    above = points.with_columns(pl.when(gain >= 0).then(gain))
    return pl.concat([above, cuts], how="diagonal").sort("place")
