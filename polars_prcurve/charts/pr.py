"""The PR curve: precision by recall, or its mirror, the false discovery rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import polars as pl

from polars_prcurve.argument_kinds import Title, read_choice, read_flag
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts import chart_axes, marked_points, points_to_draw
from polars_prcurve.charts.parts.canvas import Canvas, check_words
from polars_prcurve.charts.parts.chart_assembly import Chart
from polars_prcurve.charts.parts.colors_and_panels import Channels, are_far_apart, choose_channels
from polars_prcurve.charts.parts.curves_to_draw import ChartCurves, read_sweep
from polars_prcurve.charts.parts.findings import lie_at_foot, read_at_half, say_areas, say_values
from polars_prcurve.charts.parts.number_formats import add_threshold, describe_level
from polars_prcurve.confidence.estimate_columns import find_estimate
from polars_prcurve.number_words import say_estimate, say_precisions, say_share, say_shares

_AXES = {"precision": "Precision", "fdr": "False discovery rate"}
_SAID = {
    "precision": "Share of alerts that are right, by share of positives that are found",
    "fdr": "Share of alerts that are wrong, by share of positives that are found",
}
_ARE = {"precision": "right", "fdr": "wrong"}
# The end of the name of the column 1 - share.
_REST = "_rest"
_TITLES = {"precision": "Precision and recall", "fdr": "False discovery rate and recall"}


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
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`. Where precision
        has a log axis by default, so has what is left of fdr to 100 %: 99 %, 99.9 %, and so on.
    confidence
        The level of the table's band, for the note, since the table does not hold it.
    points
        Rows to mark, such as those of `operating_points` with the same groups and eta: a filled point,
        and its precision. With the columns `holds_from` and `holds_to`, a thin rule spans them.
        Rows without a threshold are counted in the note.
    log_y
        A log axis for precision. By default where all prevalences are below 0.01, one is below 0.001, or
        a line at one below 0.01 would lie at the foot of a linear axis.
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
    check_words(title, color=color, facet=facet)
    columns = table.columns if isinstance(table, pl.DataFrame) else []
    band = find_estimate(columns, read_choice("y=", y, _AXES)).span or ()
    curves = read_sweep("pr_curve", table, [y], more=band)
    marked = marked_points.read_points("pr_curve", points, curves, ["recall", y])
    height = _choose_height(curves, y, band, log_y)
    curves = replace(curves, rows=height.add_rests(curves.rows))
    steps = points_to_draw.build_steps(
        points_to_draw.find_few_false_alerts(curves.rows), *dict.fromkeys([y, *height.fields]), "doubt"
    )
    areas = points_to_draw.measure_steps(steps, y)
    channels = choose_channels(curves, color, facet, areas, has_heads=True)
    axis, lows = _free_panels(height, channels, curves)
    raise_points = partial(points_to_draw.raise_to_axis, axis=axis, names=height.fields, lows=lows)
    spec = chart_axes.ChartSpec(chart_axes.RECALL_AXIS, axis, "step-before", bands=height.bands)
    canvas = Canvas(curves, channels, spec)
    drawn = canvas.thin(steps, pl.col("recall"), pl.col("fpr") / pl.col("recall"))
    drawn = points_to_draw.split_by_doubt(raise_points(drawn), "step-before")
    canvas.draw_level(height.measure_chance(curves.per_curve["eta"]), "alerts at random")
    canvas.draw_lines(drawn, ghosts=True)
    canvas.data += chart_axes.mark_ends(chart_axes.RECALL_AXIS, axis) if axis.is_free else []
    rows = raise_points(points_to_draw.keep_rises(curves.rows))
    has_dots = canvas.draw_published(rows)
    canvas.data += marked_points.mark_points(
        marked_points.mark_half(curves, channels) if points is None else marked,
        canvas,
        x_of=lambda row: row["recall"],
        y_of=lambda row: {axis.field: max(height.measure(row[y]), lows[row["curve"]])},
        span_of=lambda row: marked_points.find_rates(curves, row, "recall", 0.0),
        say_heights=lambda _, values, say: say([height.measure(value) for value in values]),
    )
    canvas.follow_pointer(rows, "forward", height.say_row)
    may_find = title is None and not marked.rows  # which are of a target
    finding = _find_title(canvas, areas, y) if may_find else ""
    note = _write_note(canvas, drawn, marked, describe_level(band, confidence), has_dots=has_dots)
    finding = marked.find_title(curves, channels) or finding
    # A title that says where curves run is the only one: it need not be said twice.
    subtitle = curves.join_etas(f"{_SAID[y]},") if title or finding else _SAID[y]
    finding = finding or curves.join_etas(_TITLES[y])
    return canvas.finish(title, finding, subtitle, note, points_to_draw.describe_thinning(steps, drawn))


@dataclass(frozen=True)
class _Height:
    """What the y axis shows: a share, or what is left of it to 100 %, and its band."""

    name: str
    band: tuple[str, ...]
    axis: chart_axes.ChartAxis

    @property
    def is_rest(self) -> bool:
        """Whether the axis shows what is left of the share to 100 %."""
        return self.axis.is_reversed

    @property
    def fields(self) -> list[str]:
        """The fields that are drawn: the share, or its rest, and its band."""
        names = [self.name, *self.band]
        return [f"{name}{_REST}" for name in names] if self.is_rest else names

    @property
    def bands(self) -> tuple[tuple[str, str], ...]:
        return ((self.fields[1], self.fields[2]),) if self.band else ()

    def add_rests(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add the fields that are drawn."""
        names = [self.name, *self.band] if self.is_rest else []
        return rows.with_columns((1 - pl.col(name)).alias(f"{name}{_REST}") for name in names)

    def measure_chance(self, etas: pl.Series) -> pl.Series:
        """Return the heights of alerts at random."""
        return etas if self.name == "precision" or self.is_rest else 1 - etas

    def measure(self, share: Any) -> Any:
        """Return a share, or shares, as the axis shows them."""
        return 1 - share if self.is_rest else share

    def say_row(self, row: dict[str, Any]) -> tuple[str, str]:
        """Return what the pointer reads: at each recall the highest threshold that reaches it."""
        ends = [row[name] for name in self.band] or [None, None]
        value, span = say_estimate(row[self.name], *ends)
        at = add_threshold(row)
        return f"at least {say_share(row['at'])}", f"{value}{f' ({span})' if span else ''}{at}"


def _choose_height(curves: ChartCurves, y: str, band: tuple[str, ...], log_y: bool | None) -> _Height:
    """Return what the axis shows: it is log if that is asked for, or where positives are rare."""
    etas, values = curves.per_curve["eta"], curves.rows[y]
    is_rare = chart_axes.needs_log_axis(etas) or lie_at_foot(curves)
    is_log = is_rare if log_y is None else read_flag("log_y=", log_y)
    is_rest = y == "fdr" and is_log and is_rare
    field, values = (f"{y}{_REST}", 1 - values) if is_rest else (y, values)
    axis = chart_axes.build_precision_axis(field, _AXES[y], etas, values, is_log=is_log)
    if is_rest:  # the axis of precision upside down, with ticks such as 99 % and 99.9 %
        axis = replace(axis, words="rest", is_reversed=True)
    return _Height(y, band, axis)


def _free_panels(
    height: _Height, channels: Channels, curves: ChartCurves
) -> tuple[chart_axes.ChartAxis, dict[int, float]]:
    """Return the axis, and its foot by curve: a log axis has one for each of unlike prevalences."""
    # Where 1 in 10 is positive, lines would have the uppermost tenth of an axis for 1 in 50 000.
    axis, facet, keys = height.axis, channels.facet, curves.per_curve.select("curve", "eta")
    lows = dict.fromkeys(keys["curve"], axis.low)
    if not axis.is_log or facet is None or facet.fields != ["eta"] or not are_far_apart(keys["eta"]):
        return axis, lows
    ranges = {}
    for label, own in facet.curves_of.items():
        etas, values = (
            frame.filter(pl.col("curve").is_in(own))[name]
            for frame, name in ((keys, "eta"), (curves.rows, height.fields[0]))
        )
        low = chart_axes.build_precision_axis("", "", etas, values, is_log=True).low
        ranges[label] = (low, axis.high)
        lows |= dict.fromkeys(own, low)
    return replace(axis, is_free=True, ranges=ranges), lows


# Words ----------------------------------------------------------------------------------------


def _find_title(canvas: Canvas, areas: dict[int, float], y: str) -> str:
    """Return the share at half recall, or the areas of panels; empty where it is not known well."""
    curves, facet = canvas.curves, canvas.channels.facet
    etas = curves.per_curve["eta"]
    is_own = etas.n_unique() > 1 and len(etas) == curves.count_distinct(curves.group_fields)
    if facet is not None and facet.fields != ["eta"] and y == "precision" and not is_own:
        return say_areas(areas, curves, canvas.channels)
    values = read_at_half(curves, y) if etas.is_between(0, 1).all() else {}
    start, end = "To find half of the positives,", f"of the alerts are {_ARE[y]}"
    say = say_precisions if y == "precision" else say_shares
    return say_values(start, end, values, curves, canvas.channels, say=say) if values else ""


def _write_note(
    canvas: Canvas,
    drawn: pl.DataFrame,
    marked: marked_points.MarkedPoints,
    level: str,
    *,
    has_dots: bool,
) -> list[str]:
    """Return the sentences at the foot of the chart; `level` is what the shade is, if there is one."""
    facet, axis = canvas.channels.facet, canvas.spec.y
    number = f"Number: area under the line{' if the axis were linear' if axis.is_log else ''}"
    scale = "The axis is logarithmic in what is left to 100\u00a0%"
    where = "of these points" if has_dots else "at each threshold"
    return [
        number if facet is not None and facet.values else "",
        scale if axis.is_reversed else "",
        "Each panel has an axis of its own" if axis.is_free else "",
        "Grey line: alerts at random" if facet is not None else "",
        canvas.channels.picked,
        *marked.describe(),
        *points_to_draw.describe_doubt(drawn),
        points_to_draw.DOTS_OF_STEPS if has_dots else "",
        f"{level} {where}" if level else "",
        *canvas.curves.describe_sizes(),
    ]
