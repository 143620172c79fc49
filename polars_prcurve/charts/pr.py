"""The PR curve: precision by recall, or its mirror, the false discovery rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from polars_prcurve.charts.parts.chart_axes import (
    ChartAxis,
    build_precision_axis,
    build_rest_axis,
    needs_log_axis,
)
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
from polars_prcurve.charts.parts.findings import (
    name_curves,
    read_at_half,
    say_areas,
    say_by_eta,
    say_each,
)
from polars_prcurve.charts.parts.hover import build_hover_records, list_places
from polars_prcurve.charts.parts.marked_points import MarkedPoints, find_rates, mark_points, read_points
from polars_prcurve.charts.parts.number_formats import add_threshold, format_level
from polars_prcurve.charts.parts.points_to_draw import (
    DOTS_OF_STEPS,
    build_dots,
    build_records,
    build_steps,
    describe_doubt,
    describe_thinning,
    find_few_false_alerts,
    keep_rises,
    measure_steps,
    raise_to_axis,
    split_by_doubt,
    thin_points,
)
from polars_prcurve.charts.parts.references import draw_level
from polars_prcurve.number_words import say_estimate, say_share, say_shares

_AXES = {"precision": "Precision", "fdr": "False discovery rate"}
_SAID = {
    "precision": "Share of alerts that are right, by share of positives that are found",
    "fdr": "Share of alerts that are wrong, by share of positives that are found",
}
_ARE = {"precision": "right", "fdr": "wrong"}
_REST = "_rest"
"""The end of the name of what is left of a share to 100 %."""
_TITLES = {"precision": "Precision and recall", "fdr": "False discovery rate and recall"}
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
        `"precision"`, or `"fdr"` (1 - precision) of a table with `metrics=("fdr",)`. Where precision
        has a log axis by default, so has what is left of fdr to 100 %: 99 %, 99.9 %, and so on.
    confidence
        The level of the table's band, for the note, since the table does not hold it.
    points
        Rows to mark, such as those of `operating_points` with the same groups and eta: a filled point,
        and its precision. With the columns `holds_from` and `holds_to`, a thin rule spans them.
        Rows without a threshold are counted in the note.
    log_y
        A log axis for precision. By default where all prevalences are below 0.01, or one is below 0.001.
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
    band = _find_band(table, read_choice("y=", y, _AXES))
    curves = read_sweep("pr_curve", table, [y], more=band)
    marked = read_points("pr_curve", points, curves, ["recall", y])
    height = _choose_height(curves, y, band, log_y)
    curves, axis = replace(curves, rows=height.add_rests(curves.rows)), height.axis
    steps = build_steps(find_few_false_alerts(curves.rows), *dict.fromkeys([y, *height.fields]), "doubt")
    areas = measure_steps(steps, y)
    channels = sort_panels(read_channels(curves, color, facet), areas, curves)
    channels, picked = pick_out(channels, areas, curves)
    channels = add_panel_values(channels, label_panels(channels, areas, curves))
    spec = ChartSpec(RECALL_AXIS, axis, "step-before", bands=height.bands)
    size, ratio = arrange_panels(channels.facet, spec), pl.col("fpr") / pl.col("recall")
    drawn = thin_points(steps, pl.col("recall"), ratio, size.width)
    drawn = split_by_doubt(raise_to_axis(drawn, axis, height.fields), "step-before")
    level = height.measure_chance(curves.per_curve["eta"])
    chance, words = draw_level(channels, level, (spec.x, axis), "alerts at random")
    lines = build_records(curves, channels, drawn, ["recall", *height.fields])
    marks = _mark_recalls(marked, curves, channels, height)
    hover = _read_along(curves, channels, (spec.x, axis), height)
    dots = _draw_dots(curves, channels, axis)
    data = [*chance, *add_ghosts(lines, channels, spec.x), *dots, *marks, *hover]
    may_find = title is None and not marked.rows  # which are of a target
    finding = _find_title(curves, channels, areas, y) if may_find else ""
    shaded = _describe_band(band, confidence, of_dots=bool(dots))
    text = ChartText(
        title,
        _SAID[y] if not finding else join_etas(f"{_SAID[y]},", curves),
        _write_note(curves, channels, drawn, axis, words=[picked, *marked.describe()], shaded=shaded),
        marked.find_title(curves, channels) or finding or join_etas(_TITLES[y], curves),
        describe_thinning(steps, drawn),
    )
    return build_chart(spec, data, channels, text, words)


@dataclass(frozen=True)
class _Height:
    """What the y axis shows: a share, or what is left of it to 100 %, and its band."""

    name: str
    band: tuple[str, ...]
    axis: ChartAxis

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


def _find_title(curves: ChartCurves, channels: Channels, areas: dict[int, float], y: str) -> str:
    """Return the share at half recall, or the areas of panels; empty where it is not known well."""
    facet, etas = channels.facet, curves.per_curve["eta"]
    is_by_eta = facet is None or facet.fields == ["eta"]
    names = name_curves(curves, channels)
    is_own = etas.n_unique() > 1 and len(etas) == curves.count_distinct(curves.group_fields)
    if not is_by_eta and y == "precision" and not is_own:
        return say_areas(areas, curves, channels)
    values = read_at_half(curves, y) if etas.is_between(0, 1).all() else {}
    if not values:
        return ""
    start, end = "To find half of the positives,", f"of the alerts are {_ARE[y]}"
    if (etas.n_unique() == 1 and (is_by_eta or names)) or (is_own and names):
        return say_each(start, end, values, names)
    if not is_by_eta or len(etas) != etas.n_unique() * curves.count_distinct(curves.group_fields):
        return ""  # each group at its own
    at = dict(curves.per_curve.select("curve", "eta").rows())
    return say_by_eta(start, end, [(at[curve], value) for curve, value in values.items()])


def _find_band(table: object, y: str) -> tuple[str, str] | tuple[()]:
    """Return the two columns of the band of `y`, or none if the table has no band."""
    columns = table.columns if isinstance(table, pl.DataFrame) else []
    low, high = f"{y}_low", f"{y}_high"
    return (low, high) if {low, high} <= set(columns) else ()


def _choose_height(curves: ChartCurves, y: str, band: tuple[str, ...], log_y: bool | None) -> _Height:
    """Return what the axis shows: it is log if that is asked for, or where positives are rare."""
    etas, values, is_rare = (
        curves.per_curve["eta"],
        curves.rows[y],
        needs_log_axis(curves.per_curve["eta"]),
    )
    is_log = is_rare if log_y is None else read_flag("log_y=", log_y)
    if y == "fdr" and is_log and is_rare:
        return _Height(y, band, build_rest_axis(f"{y}{_REST}", _AXES[y], etas, 1 - values))
    return _Height(y, band, build_precision_axis(y, _AXES[y], etas, values, is_log=is_log))


def _mark_recalls(
    marked: MarkedPoints, curves: ChartCurves, channels: Channels, height: _Height
) -> list[dict[str, Any]]:
    """Return the records of points at their recall, none of them off the axis."""
    axis = height.axis
    return mark_points(
        marked,
        curves,
        channels,
        "recall",
        x_of=lambda row: row["recall"],
        y_of=lambda row: {axis.field: max(height.measure(row[height.name]), axis.low)},
        span_of=lambda row: find_rates(curves, row, "recall", 0.0),
        say_heights=lambda _, values: say_shares([height.measure(value) for value in values]),
    )


def _read_along(
    curves: ChartCurves,
    channels: Channels,
    axes: tuple[ChartAxis, ChartAxis],
    height: _Height,
) -> list[dict[str, Any]]:
    """Return what the pointer reads: at each recall the highest threshold that reaches it."""

    def say(row: dict[str, Any]) -> tuple[str, str]:
        ends = [row[name] for name in height.band] or [None, None]
        value, span = say_estimate(row[height.name], *ends)
        at = add_threshold(row["threshold"])
        return f"at least {say_share(row['at'])}", f"{value}{f' ({span})' if span else ''}{at}"

    rows = raise_to_axis(keep_rises(curves.rows), axes[1], height.fields)
    places = list_places(axes[0], len(curves.per_curve))
    return build_hover_records(curves, channels, rows, axes, places, strategy="forward", say=say)


def _draw_dots(curves: ChartCurves, channels: Channels, axis: ChartAxis) -> list[dict[str, Any]]:
    """Return a dot per published point, if they are few: nothing is known in between."""
    rows = raise_to_axis(keep_rises(curves.rows), axis, [axis.field])
    return build_dots(curves, channels, rows, ["recall", axis.field])


def _describe_band(band: tuple[str, ...], confidence: float | None, *, of_dots: bool) -> list[str]:
    """Return sentences on dots and on the band, as far as there are any."""
    level = (
        "the intervals of the table" if confidence is None else f"{format_level(confidence)} intervals"
    )
    if of_dots:
        said = [f"Shaded: {level} of these points"] if band else []
        return [DOTS_OF_STEPS, *said]
    return [f"Shaded: {level} at each threshold"] if band else []


def _write_note(
    curves: ChartCurves,
    channels: Channels,
    drawn: pl.DataFrame,
    axis: ChartAxis,
    *,
    words: list[str],
    shaded: list[str],
) -> tuple[str, ...]:
    """Return the sentences at the foot of the chart."""
    facet = channels.facet
    number = f"Number: area under the line{' if the axis were linear' if axis.is_log else ''}"
    scale = "Each step up leaves a tenth of what is left to 100\u00a0%"
    return (
        *([number] if facet is not None and facet.values else []),
        *([scale] if axis.is_reversed else []),
        *(["Grey line: alerts at random"] if facet is not None else []),
        *words,
        *describe_doubt(drawn),
        *shaded,
        *describe_sizes(curves),
    )
