"""PR curves: precision by recall, or its mirror, the false discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import polars as pl

from polars_prcurve.core.confidence.estimates import find_estimate
from polars_prcurve.core.ground.argument_checks import Title, read_choice, read_flag
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.view.charts.parts import (
    chart_axes,
    doubt_of_points,
    marked_points,
    points_to_draw,
    title_phrases,
)
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import RECALL_AXIS, ChartAxis, ChartSpec
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, read_sweep
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, are_far_apart, choose_channels
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import add_threshold, describe_level
from polars_prcurve.view.charts.parts.title_phrases import add_order
from polars_prcurve.view.words.number_words import join_value, say_estimate, say_share

# Titles of the axis, by `y`.
_AXIS_TITLE_OF_Y = {"precision": "Precision", "fdr": "False discovery rate"}
_NAME_OF_Y = {  # what is drawn, by `y`
    "precision": "Precision by recall",
    "fdr": "False discovery rate (1 - precision) by recall",
}


@hint_at_arguments
def pr_curve(
    table: pl.DataFrame,
    *,
    y: Literal["precision", "fdr"] = "precision",
    confidence: float | None = None,
    points: pl.DataFrame | None = None,
    ranking: pl.DataFrame | None = None,
    log_y: bool | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Precision-recall curves from the table of `curve`, in any row order.

    Lines are steps, never slopes: the precision of a threshold holds back to the recall of the threshold
    before it. A curve starts at recall 0 with its first defined precision; no point (0, 1) is invented.
    A line is dotted where fewer than five false positives are behind it: precision is not known well
    there. The grey line is alerts at random, precision = eta. The shade is the table's band, if it has
    one, at each threshold. The recall of a threshold is also uncertain.

    Parameters
    ----------
    table
        What `curve` returns: the `by` columns, `eta`, the columns of `sweep`, and `y`.
    y
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`. Where precision has
        a log axis by default, so has the distance of fdr from 100%: 99%, 99.9%, and so on.
    confidence
        The level of the table's band, for the note, since the table does not hold it.
    points
        Rows to mark, such as those of `operating_points` with the same groups and eta: a filled point,
        of a shape for each target, and its precision, with an upright rule for its interval. With
        `holds_from` and `holds_to` (`columns="all"`), a thin rule spans them. Rows without a threshold
        are counted in the note.
    ranking
        What `ranking(metric="precision", recall=0.5, confidence=..., columns="all")` returns for the
        same models and prevalence: the title then begins with who is best at that recall, or "No clear
        winner".
    log_y
        A log axis for precision. By default where all prevalences are below 0.01, one is below 0.001, or
        a line at one below 0.01, or all, would lie at the foot of a linear axis.
    color, facet
        A `by` column, `"eta"`, or a further column that an eta frame brought along. By default the
        first `by` column is colour, and the others are panels, as is eta if a group has several. With
        more than 6 groups, or more than 9 panels, groups are panels and eta is colour. Panels of one
        group each come in order of the area under their lines.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.
    width, height
        The size of a panel in pixels, from 50 to 4,000. By default the chart chooses.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = pr_curve(df.prc.curve(eta=0.25))
    >>> chart.to_dict()["title"]["text"]
    ['With 2 positives, a measured recall of 50%', 'could really be anything from 2.7% to 91%']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    table_columns = table.columns if isinstance(table, pl.DataFrame) else []
    band = find_estimate(table_columns, read_choice("y=", y, _AXIS_TITLE_OF_Y)).span or ()
    curves = add_order(read_sweep("pr_curve", table, [y], further_columns=band), "pr_curve", ranking)
    axis = _choose_axis(curves, y, log_y)
    field_by_column = {name: f"{name}_rest" if axis.is_reversed else name for name in (y, *band)}
    height_exprs = [axis.measure(pl.col(name)).alias(field) for name, field in field_by_column.items()]
    curves = replace(curves, points=curves.points.with_columns(height_exprs))
    points_with_doubt = doubt_of_points.find_few_false_alerts(curves.points)
    steps = points_to_draw.build_steps(
        points_with_doubt, *dict.fromkeys([y, *field_by_column.values()]), "doubt"
    )
    area_by_curve = points_to_draw.measure_steps(steps, y)
    channels = choose_channels(curves, color, facet, area_by_curve, has_heads=True)
    axis = _free_panels(axis, channels, curves)
    bands = ((field_by_column[band[0]], field_by_column[band[1]]),) if band else ()
    canvas = Canvas(curves, channels, ChartSpec(RECALL_AXIS, axis, "step-before", bands=bands), size)
    etas, is_right = curves.curve_rows["eta"], y == "precision" or axis.is_reversed
    canvas.draw_level(etas if is_right else 1 - etas, "alerts at random")
    chart = CurveChart(
        canvas,
        lines=steps,
        rows=points_to_draw.keep_rises(curves.points),
        height=pl.col("fpr") / pl.col("recall"),
        reads="forward",
        say_row=partial(_say_row, (y, *band)),
        subtitle=_NAME_OF_Y[y],
        title=_NAME_OF_Y[y],
        say=partial(_find_title, channels, area_by_curve, y),
        note=[
            *_write_note(canvas, describe_level(band, confidence)),
            title_phrases.note_few_false_alerts(curves, channels),
        ],
        marks=marked_points.choose_points("pr_curve", points, curves, channels, ["recall", y]),
        has_ghosts=curves.curve_rows["eta"].n_unique() == 1,  # else they cannot be compared
    )
    return chart.draw(title)


def _choose_axis(curves: ChartCurves, y: str, log_y: bool | None) -> ChartAxis:
    """Return the axis: log if that is requested, or where positives are rare."""
    etas, y_shares = curves.curve_rows["eta"], curves.points[y]
    is_rare = chart_axes.needs_log_axis(etas) or title_phrases.lie_at_foot(curves)
    is_log = is_rare if log_y is None else read_flag("log_y=", log_y)
    if y == "precision" or not (is_log and is_rare):
        return chart_axes.build_precision_axis(y, _AXIS_TITLE_OF_Y[y], etas, y_shares, is_log=is_log)
    # What is left of fdr to 100% is the axis of precision upside down, with ticks such as 99.9%.
    rest_axis = chart_axes.build_precision_axis(
        f"{y}_rest", _AXIS_TITLE_OF_Y[y], etas, 1 - y_shares, is_log=True
    )
    return replace(rest_axis, words="rest", rate=y, is_reversed=True)


def _free_panels(axis: ChartAxis, channels: Channels, curves: ChartCurves) -> ChartAxis:
    """Return the axis: a log one has a foot for each of different prevalences."""
    # Where 1 in 10 is positive, lines would have the uppermost tenth of an axis for 1 in 50,000.
    facet_channel = channels.facet
    is_by_eta = facet_channel is not None and facet_channel.fields == ["eta"]
    if not axis.is_log or not is_by_eta or not are_far_apart(curves.curve_rows["eta"]):
        return axis
    range_by_label = {}
    for panel_label, own_curves in channels.split(curves).items():
        etas, shares = own_curves.curve_rows["eta"], own_curves.points[axis.field]
        low = chart_axes.build_precision_axis("", "", etas, shares, is_log=True).low
        range_by_label[panel_label] = (low, axis.high)
    return replace(axis, is_free=True, ranges=range_by_label)


def _say_row(share_columns: Sequence[str], point: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each recall the highest threshold that reaches it."""
    share_value, *interval_ends = (point[name] for name in share_columns)
    share_text = join_value(*say_estimate(share_value, *(interval_ends or (None, None))))
    return f"at least {say_share(point['at'])}", f"{share_text}{add_threshold(point)}"


def _find_title(channels: Channels, area_by_curve: dict[int, float], y: str, curves: ChartCurves) -> str:
    """Return the share at half recall, or the areas of panels; empty where it is not known well."""
    has_groups_in_panels = channels.facet is not None and channels.facet.fields != ["eta"]
    if has_groups_in_panels and y == "precision" and curves.curve_rows["eta"].n_unique() == 1:
        return title_phrases.say_areas("Average precision", area_by_curve, curves, channels)
    return title_phrases.say_half(channels, curves, y)


def _write_note(canvas: Canvas, level_clause: str) -> list[str]:
    """Return the sentences that this chart alone has at its foot; `level_clause` is on the shade."""
    has_level = any(record["part"] == "reference" for record in canvas.records)
    has_panels, curve_rows = canvas.channels.facet is not None, canvas.curves.curve_rows
    n_groups = canvas.curves.count_distinct(canvas.curves.group_fields)
    is_mixed = has_panels and 1 < n_groups == len(curve_rows) and curve_rows["eta"].n_unique() > 1
    y_axis, is_published = canvas.spec.y, points_to_draw.has_points_alone(canvas.curves.points)
    chosen_text = "at each threshold; at one that was chosen on this test set they are wider"
    place_text = "of these points" if is_published else chosen_text
    return [
        "The axis is logarithmic in the distance to 100%" if y_axis.is_reversed else "",
        "Each panel has its own axis" if y_axis.is_free else "",
        "Level grey line: alerts at random" if has_level and has_panels else "",
        "Panels have different prevalences, which alone change precision" if is_mixed else "",
        f"{level_clause} {place_text}" if level_clause else "",
    ]
