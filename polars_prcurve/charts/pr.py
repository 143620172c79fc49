"""The PR curve: precision by recall, or its mirror, the false discovery rate."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl

from polars_prcurve.argument_kinds import Title, check_texts, check_title, read_choice, read_flag
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.chart_assembly import (
    Chart,
    ChartSpec,
    ChartText,
    add_ghosts,
    add_panel_values,
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
    label_panels,
    pick_out,
    read_channels,
    sort_panels,
)
from polars_prcurve.charts.parts.hover import build_hover_records, list_places
from polars_prcurve.charts.parts.marked_points import MarkedPoints, find_rates, mark_points, read_points
from polars_prcurve.charts.parts.number_formats import add_threshold, format_level
from polars_prcurve.charts.parts.points_to_draw import (
    FEW_POSITIVES,
    build_records,
    build_steps,
    describe_doubt,
    describe_thinning,
    find_few_false_alerts,
    keep_rises,
    measure_steps,
    split_by_doubt,
    thin_points,
)
from polars_prcurve.charts.parts.references import draw_level
from polars_prcurve.number_words import say_share

_AXES = {"precision": "Precision", "fdr": "False discovery rate"}
_SAID = {
    "precision": "Share of alerts that are right, by share of positives that are found",
    "fdr": "Share of alerts that are wrong, by share of positives that are found",
}
_TITLES = {"precision": "Precision and recall", "fdr": "False discovery rate and recall"}
LOG_BELOW = 0.01
"""Where fewer are positive, precision has a log axis if the user does not say otherwise."""
RECALL_AXIS = ChartAxis("recall", "Recall", 0.0, 1.0)


@hint_at_arguments
def pr_curve(
    table: pl.DataFrame,
    *,
    y: Literal["precision", "fdr"] = "precision",
    confidence: float | None = None,
    points: pl.DataFrame | None = None,
    log_y: bool | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Precision-recall curves from the table of `curve`, in any row order.

    Lines are steps, never slopes: the precision of a threshold holds back to the recall of the threshold
    before it. A curve starts at recall 0 with its first defined precision; no point (0, 1) is
    invented. A line is dotted where fewer than five false positives are behind it: precision is not
    known well there. The grey line is alerts at random, precision = eta. The shade is the table's band,
    if it has one, at each threshold. The recall of a threshold is uncertain, too.

    Parameters
    ----------
    table
        What `curve` returns: the `by` columns, `eta`, the columns of `sweep`, and `y`.
    y
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`.
    confidence
        The level of the table's band, for the note, since the table does not hold it.
    points
        Rows to mark, such as those of `operating_points` with the same groups and eta: a filled point,
        and its precision. With the columns `holds_from` and `holds_to`, a thin rule spans them.
        Rows without a threshold are counted in the note.
    log_y
        A log axis for precision. By default where all prevalences are below 0.01.
    color, facet
        A `by` column, `"eta"`, or a further column that an eta frame brought along. By default the
        first `by` column is colour, and the others are panels, as is eta if a group has several. With
        more than 8 groups, or more than 9 panels, groups are panels and eta is colour. Panels of one
        group each come in order of the area under their lines.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = pr_curve(df.prc.curve(eta=0.25))
    >>> print(chart.to_dict()["title"]["text"][0].replace("\\xa0", " "))
    Precision and recall where 1 in 4 is positive
    """
    check_texts(color=color, facet=facet)
    check_title(title)
    read_choice("y=", y, _AXES)
    band = _find_band(table, y)
    curves = read_sweep("pr_curve", table, [y], more=band)
    marked = read_points("pr_curve", points, curves, ["recall", y])
    axis = _choose_axis(curves, y, log_y)
    steps = build_steps(find_few_false_alerts(curves.rows), y, *band, "doubt")
    areas = measure_steps(steps, y)
    channels = sort_panels(read_channels(curves, color, facet), areas, curves)
    channels, picked = pick_out(channels, areas, curves)
    channels = add_panel_values(channels, label_panels(channels, areas, curves))
    spec = ChartSpec(RECALL_AXIS, axis, "step-before", bands=(band,) if band else ())
    size = arrange_panels(channels.facet, spec)
    drawn = thin_points(steps, pl.col("recall"), pl.col("fpr") / pl.col("recall"), size.width)
    drawn = split_by_doubt(_raise_to(drawn, axis, [y, *band]), "step-before")
    level = curves.per_curve["eta"] if y == "precision" else 1 - curves.per_curve["eta"]
    chance, words = draw_level(channels, level, (spec.x, axis), "alerts at random")
    marks = _mark_recalls(marked, curves, channels, axis)
    lines = build_records(curves, channels, drawn, ["recall", y, *band])
    hover = _read_along(curves, channels, (spec.x, axis), y, band)
    data = [*chance, *add_ghosts(lines, channels, spec.x), *marks, *hover]
    has_own_title = title is None and y == "precision" and not marked.rows  # which are of a target
    finding = _find_title(curves, channels) if has_own_title else ""
    text = ChartText(
        title,
        _SAID[y] if not finding else join_etas(f"{_SAID[y]},", curves),
        _write_note(
            curves,
            channels,
            drawn,
            has_band=bool(band),
            confidence=confidence,
            picked=picked,
            marked=marked.describe(),
        ),
        marked.find_title() or finding or join_etas(_TITLES[y], curves),
        describe_thinning(steps, drawn),
    )
    return build_chart(spec, data, channels, text, words)


def _find_title(curves: ChartCurves, channels: Channels) -> str:
    """Return the precision at half recall of one line or two; empty where it is not known well."""
    if channels.facet is not None or not 1 <= len(curves.per_curve) <= 2:
        return ""
    etas, sizes = curves.per_curve["eta"].unique(), curves.per_curve["n_pos"].fill_null(0)
    if len(etas) > 1 or not 0 < etas[0] < 1 or (sizes < FEW_POSITIVES).any():
        return ""
    half = find_few_false_alerts(keep_rises(curves.rows)).filter(pl.col("recall") >= 0.5)
    half = half.sort("curve", "recall", maintain_order=True).unique("curve", maintain_order=True)
    if len(half) < len(curves.per_curve) or half["doubt"].fill_null(True).any():
        return ""
    shares = [say_share(value) for value in half["precision"].sort(descending=True)]
    return f"To find half of the positives, {' or '.join(dict.fromkeys(shares))} of the alerts are right"


def _find_band(table: object, y: str) -> tuple[str, str] | tuple[()]:
    """Return the two columns of the band of `y`, or none if the table has no band."""
    columns = table.columns if isinstance(table, pl.DataFrame) else []
    low, high = f"{y}_low", f"{y}_high"
    return (low, high) if {low, high} <= set(columns) else ()


def _choose_axis(curves: ChartCurves, y: str, log_y: bool | None) -> ChartAxis:
    """Return the axis of precision: log if that is asked for, or where positives are rare."""
    etas = curves.per_curve["eta"].unique().to_list()
    is_rare = y == "precision" and etas and all(0 < eta < LOG_BELOW for eta in etas)
    if not (is_rare if log_y is None else read_flag("log_y=", log_y)):
        return ChartAxis(y, _AXES[y], 0.0, 1.0)
    known = curves.rows.select(pl.col(y).filter(pl.col(y) > 0).min()).item()
    low = min(0.1, known or 0.1, *(eta for eta in etas if eta > 0), 0.1)
    return ChartAxis(y, _AXES[y], low, 1.0, "share", is_log=True)


def _raise_to(points: pl.DataFrame, axis: ChartAxis, names: list[str]) -> pl.DataFrame:
    """Return the points with values below a log axis, such as 0, on its lower edge."""
    return points.with_columns(pl.col(names).clip(lower_bound=axis.low)) if axis.is_log else points


def _mark_recalls(
    marked: MarkedPoints, curves: ChartCurves, channels: Channels, axis: ChartAxis
) -> list[dict[str, Any]]:
    """Return the records of points at their recall, none of them below the axis."""
    return mark_points(
        marked,
        curves,
        channels,
        "recall",
        x_of=lambda row: row["recall"],
        y_of=lambda row: {axis.field: max(row[axis.field], axis.low)},
        span_of=lambda row: find_rates(curves, row, "recall", 0.0),
    )


def _read_along(
    curves: ChartCurves,
    channels: Channels,
    axes: tuple[ChartAxis, ChartAxis],
    y: str,
    band: tuple[str, ...],
) -> list[dict[str, Any]]:
    """Return what the pointer reads: at each recall the highest threshold that reaches it."""

    def say(row: dict[str, Any]) -> tuple[str, str]:
        ends = [row[name] for name in band]
        within = (
            f" ({say_share(ends[0])} to {say_share(ends[1])})"
            if all(e is not None for e in ends) and ends
            else ""
        )
        at = add_threshold(row["threshold"])
        return f"at least {say_share(row['at'])}", f"{say_share(row[y])}{within}{at}"

    rows = _raise_to(keep_rises(curves.rows), axes[1], [y, *band])
    places = list_places(axes[0], len(curves.per_curve))
    return build_hover_records(curves, channels, rows, axes, places, strategy="forward", say=say)


def _write_note(
    curves: ChartCurves,
    channels: Channels,
    drawn: pl.DataFrame,
    *,
    has_band: bool,
    confidence: float | None,
    picked: str,
    marked: list[str],
) -> tuple[str, ...]:
    """Return the sentences at the foot of the chart."""
    level = (
        "the intervals of the table" if confidence is None else f"{format_level(confidence)} intervals"
    )
    facet = channels.facet
    numbers = ["Number: area under the line"] if facet is not None and facet.values else []
    return (
        *numbers,
        *(["Grey line: alerts at random"] if facet is not None else []),
        picked,
        *marked,
        *describe_doubt(drawn),
        *([f"Shaded: {level} at each threshold"] if has_band else []),
        *describe_sizes(curves),
    )
