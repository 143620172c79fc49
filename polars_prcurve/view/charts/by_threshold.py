"""The chart of precision, recall and alerts by threshold."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.view.charts.parts import (
    chart_assembly,
    chart_axes,
    colors_and_panels,
    doubt_of_points,
    marked_points,
    points_to_draw,
)
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, read_sweep
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.label_placement import place_names
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import LOWER
from polars_prcurve.view.charts.parts.panel_in_pixels import Panel, Word
from polars_prcurve.view.charts.parts.panel_layers import name_selection
from polars_prcurve.view.charts.parts.points_to_draw import ALERT_RATE
from polars_prcurve.view.charts.parts.rule_flags import (
    add_texts,
    count_flag_rows,
    draw_rules,
    raise_flags,
    write_rules,
)
from polars_prcurve.view.charts.parts.title_phrases import (
    add_order,
    find_known_half,
    lie_at_foot,
    note_few_false_alerts,
    say_half,
    say_point,
)
from polars_prcurve.view.words.number_words import say_count, say_share, say_threshold

_MOST_COLUMNS = 4  # columns of charts in a row, at most: more would be too narrow to read
_WIDTHS = {1: 540, 2: 300}  # pixels that a column is wide, by how many stand in a row; 210 if more do
_MOST_RULES = 8  # marked thresholds, at most, that have a rule: more would hide the lines
_MOST_POWERS = 5  # powers of ten, at most, that the axis of alerts spans with a label at each
_GAP = 26  # pixels between the charts of a column, which rules at thresholds cross
# Columns of groups at prevalences, at most; more groups share one column per prevalence.
_MOST_APART = 9


@hint_at_arguments
def threshold_curve(
    table: pl.DataFrame,
    *,
    points: pl.DataFrame | None = None,
    ranking: pl.DataFrame | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> chart_assembly.Chart:
    """Precision, recall and alerts by threshold, from the table of `curve`, in any row order.

    Three charts above each other share the axis of thresholds, so that you can read a threshold
    straight down: a rule runs through all of them at each marked threshold, which stands above it.
    Alerts are among 1,000 events at prevalence eta, 1000 * (eta * recall + (1 - eta) * fpr), on a
    log axis, or among 1,000,000 where 1 in 1,000 or fewer are positive. Precision has a log axis
    where it has one in `pr_curve`; prevalences of which only some need one have a column each, and
    each group too if these are no more than 9. Scores between 0 and 1 that are usually near an end
    have an axis of log odds. Outliers that would take half of an axis are left out, and the note has
    their number. Lines are steps: a threshold between two scores flags what the higher
    score flags. Recall is the same at every prevalence, and is drawn once.

    Parameters
    ----------
    table
        What `curve` returns. A table made with `thresholds="corners"` or `thresholds=` lacks
        thresholds, and some of its steps are too long.
    points
        Rows to mark, as in `pr_curve`, in all three charts. By default the highest threshold that finds
        half of the positives, of each line with a colour; its numbers are thin where they are in doubt.
    color, facet
        As in `pr_curve`, but more than 8 groups share one column of charts: the highest, the middle and
        the lowest by mean precision, or where the title has it by precision at half of the positives,
        have colours, and the others are grey.
    ranking, title, width, height
        As in `pr_curve`.

    Returns
    -------
    Three Altair charts, concatenated vertically, once per panel.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = threshold_curve(df.prc.curve(eta=0.01))
    >>> [one["layer"][0]["encoding"]["y"]["title"] for one in chart.to_dict()["vconcat"]]
    ['Precision', 'Recall', 'Alerts per 1,000']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = add_order(_read_scores(table), "threshold_curve", ranking)
    point_columns = ["threshold", "recall", "precision"]
    marks = marked_points.read_points("threshold_curve", points, curves, point_columns)
    channels = _read_channels(curves, color, facet)
    if points is None:
        marks = marked_points.mark_halves(curves, channels, _MOST_RULES)
    marks = marked_points.add_lower(marks, curves)
    marks = replace(marks, records=add_texts(marks.records))
    marks, number_note = marks.mute()  # numbers of all would lie on each other in three low panels
    labels = [None] if channels.facet is None else channels.facet.labels
    x_title = "Threshold: alert if the score is at least this"
    marked_scores = [row["threshold"] for row in marks.records]
    x = chart_axes.build_score_axis(x_title, curves.points["score"], marked_scores)
    curves = replace(curves, points=curves.points.with_columns(x=x.measure(pl.col("score"))))
    chart = CurveChart(
        Canvas(curves, channels, ChartSpec(x, chart_axes.RECALL_AXIS, "step-after")),
        lines=curves.points,
        rows=curves.points,
        height=pl.col("precision"),
        reads="forward",
        say_row=partial(_say_row, ""),
        subtitle="Metrics by threshold",
        title="Metrics by threshold",
        say=partial(_say_threshold_of_half, channels),
        note=[*number_note, *_write_note(curves, channels, x, table["threshold"])],
        marks=marks,
    )
    n = min(len(labels), _MOST_COLUMNS)
    width = size[0] or _WIDTHS.get(n, 210)
    panel_size = chart_axes.PanelSize(n, width, size[1] or round(0.3 * max(width, 300)))
    columns = [_Column(chart, label, panel_size, points) for label in labels]
    lines = pl.concat(column.lines for column in columns)
    chart.canvas.spoken = points_to_draw.describe_thinning(curves.points, lines)
    # Right of the last column in the first row there is room for names. A legend needs the first one,
    # since Vega draws the legend of that one alone, over all.
    named_column = n - 1 if columns[n - 1].has_room_for_names() else 0
    stacks = [column.draw(has_names=k == named_column) for k, column in enumerate(columns)]
    return _join_columns(stacks, chart.write(title, lines), columns[0])


def _write_note(
    curves: ChartCurves, channels: colors_and_panels.Channels, x: ChartAxis, table_thresholds: pl.Series
) -> list[str]:
    """Return the sentences at the foot of the chart, but for those on marked points."""
    is_finite = table_thresholds.cast(pl.Float64).is_finite().all()  # of an empty table, too
    return [
        note_few_false_alerts(curves, channels),
        "Read the panels at the same threshold",
        x.describe(),
        "" if is_finite else "Not drawn: infinite thresholds",
    ]


def _read_scores(table: pl.DataFrame) -> ChartCurves:
    """Return the curves, with finite thresholds as floats, `score`, and doubt."""
    curves = read_sweep("threshold_curve", table, ["precision"])
    if len(curves.points) and curves.points["threshold"].null_count():
        raise PrcError(
            "draw pr_curve or roc_curve: threshold_curve needs thresholds, and some are null "
            "(a table made with rates= has none)"
        )
    score = pl.col("threshold").cast(pl.Float64)
    rows = doubt_of_points.find_few_false_alerts(curves.points).with_columns(score=score, made=False)
    etas = curves.curve_rows.select("curve", "eta")
    rows = rows.filter(score.is_finite()).join(etas, on="curve", maintain_order="left")
    return replace(curves, points=rows)


def _read_channels(
    curves: ChartCurves, color: str | None, facet: str | None
) -> colors_and_panels.Channels:
    """Return the channels; many groups are colours, since panels would be three times as many."""
    # Prevalences of which only some are rare have columns of their own: no axis would show all of them.
    etas = curves.curve_rows["eta"].unique().sort()
    are_etas_unlike = len(etas) > 1 and (chart_axes.needs_log_axis(etas) or lie_at_foot(curves))
    is_free = color is None and facet is None
    if is_free and are_etas_unlike and not chart_axes.needs_log_axis(etas.tail(1)):
        channels = colors_and_panels.read_etas_apart(curves)
        if channels.facet and len(channels.facet.labels) > _MOST_APART and curves.group_column:
            channels = colors_and_panels.read_channels(curves, curves.group_column, "eta")
    else:
        n_groups = curves.count_distinct(curves.group_fields)
        has_one_each = len(curves.curve_rows) == n_groups
        if is_free and (has_one_each or n_groups > colors_and_panels.MAX_COLORS):
            color = curves.group_column
        channels = colors_and_panels.read_channels(curves, color, facet)
    half_points = find_known_half(curves)
    value_by_curve = curves.find_means("precision")
    if len(half_points):  # then the title is on these
        value_by_curve = dict(half_points.select("curve", "precision").rows())
    return colors_and_panels.pick_out(channels, curves.keep_known(value_by_curve))


class _Column:
    """Three charts above each other, of the curves of one panel, from one list of records."""

    def __init__(
        self,
        chart: CurveChart,
        label: str | None,
        size: chart_axes.PanelSize,
        points: pl.DataFrame | None,
    ) -> None:
        curves, channels = chart.canvas.curves, chart.canvas.channels
        self.head = chart_assembly.name_panel(channels.facet, label)
        if channels.facet is not None and label is not None:
            curves = curves.pick(channels.facet.curves_of_label[label])
        self.channels = replace(channels, facet=None, plain_color=channels.find_panel_color(label))
        n_events = _choose_events(curves.curve_rows["eta"], points)
        # No log axis shows 0.
        rows = curves.points.with_columns(alerts=pl.when(ALERT_RATE > 0).then(n_events * ALERT_RATE))
        self.spec = _build_spec(chart.canvas.spec.x, replace(curves, points=rows), n_events)
        self.canvas = Canvas(curves, self.channels, self.spec, (size.width, size.height))
        self.size = size
        mark_rows = _count_alerts(chart.marks, curves, n_events)
        say_row = partial(_say_row, self.spec.below[1].title)
        chart = replace(chart, canvas=self.canvas, lines=rows, rows=rows, say_row=say_row)
        self.lines = replace(chart, marks=replace(chart.marks, records=mark_rows)).draw_lines()
        # Lines of recall at several prevalences are one, which has no colour.
        self.is_recall_one = channels.color is not None and channels.color.fields == ["eta"]
        if self.is_recall_one:
            self._leave_out_copies()
        rule_records, self.flags = self._draw_rules(mark_rows)
        self.canvas.records += rule_records

    def _leave_out_copies(self) -> None:
        """Leave out all but one of the lines and points of recall, which are equal."""
        first_curve, mark_places = self.canvas.curves.curve_rows["curve"][0], set()
        for record in self.canvas.records:
            is_copy = record["part"] == "curve" and record["curve"] != first_curve
            if is_copy or (record["part"] == "mark" and record["x"] in mark_places):
                record.pop("recall", None)
            mark_places |= {record["x"]} if record["part"] == "mark" else set()

    def _draw_rules(self, mark_rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[Word]]:
        """Return a rule per threshold of lines with colours, and its text."""
        color, ink_of_label = self.channels.color, {}
        names = [color.label_by_curve[row["curve"]] if color else "" for row in mark_rows]
        if color is not None:
            ink_of_label = color.colors
            shown_rows = zip(mark_rows, names, strict=True)
            mark_rows = [row for row, name in shown_rows if name in color.shown_labels]
            names = [name for name in names if name in color.shown_labels]
        looks = (
            {"weight": "bold", "label": name, "color": ink_of_label.get(name, style.INK)}
            for name in names
        )
        words = write_rules(mark_rows, self.spec.x, looks)
        return ([], []) if len(words) > _MOST_RULES else raise_flags(words, self.spec.x, self.size.width)

    def _list_specs(self, *, has_names: bool) -> list[ChartSpec]:
        """Return the three charts from top to bottom; only the last one has the title of the x axis."""
        spec, (recall_axis, alerts_axis) = self.spec, self.spec.below
        bare_spec = replace(spec, x=replace(spec.x, title="", words="none"), names="none")
        return [
            replace(bare_spec, names="beside", has_margin=True) if has_names else bare_spec,
            replace(bare_spec, y=recall_axis, is_neutral=self.is_recall_one),
            replace(bare_spec, x=spec.x, y=alerts_axis),
        ]

    def has_room_for_names(self) -> bool:
        """Return whether names of lines have places, so that a legend is not needed."""
        spec = self._list_specs(has_names=True)[0]
        return place_names(Panel(spec, self.canvas.records, self.channels, self.size), ()) is not None

    def draw(self, *, has_names: bool) -> alt.VConcatChart:
        """Return three charts above each other; in the uppermost are names of lines."""
        panels: list[alt.LayerChart] = []
        data: list[dict[str, Any]] = []
        key = name_selection(self.canvas.records, f"x {self.spec.y.field}")
        # Most often two rows of thresholds stand between the head and the lines.
        lift = max(2, count_flag_rows(self.flags)) if self.flags else 0
        words = [*self.flags]
        words += chart_assembly.write_head(self.head, self.size.width, lift=lift) if self.head else []
        for number, spec in enumerate(self._list_specs(has_names=has_names)):
            # All three charts are drawn from one list of records, in which each has words of its own.
            suffix = f" of {number}"
            panel, records = chart_assembly.build_panel(
                Panel(spec, self.canvas.records, self.channels, self.size, suffix=suffix),
                [] if number else words,
                ((), self._build_rules(spec, number)),
                key if has_names and number else None,
            )
            data += [row for row in records if number == 0 or row["part"].endswith(suffix)]
            panels.append(panel)
        with warnings.catch_warnings():
            # Altair warns that one selection is in three charts, as it should be.
            warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
            whole_chart = chart_assembly.join_panels(alt.vconcat, panels, spacing=_GAP, bounds="flush")
        whole_chart.resolve = alt.Resolve(scale=alt.ScaleResolveMap(x="shared"))
        stack: alt.VConcatChart = chart_assembly.attach_data(whole_chart, data)
        return stack

    def _build_rules(self, spec: ChartSpec, number: int) -> list[alt.Chart]:
        """Return the layer of rules at marked thresholds, from the chart above to the foot of one."""
        color, layers = self.channels.color, []
        start = chart_axes.fix_y(-_GAP) if number else None
        for color_test in ("!isValid(datum.color)", *(["isValid(datum.color)"] if color else [])):
            look: dict[str, Any] = {"color": style.INK} if color_test[0] == "!" else {}
            rule = draw_rules(
                spec.x.build_x(self.size.width), {"strokeWidth": 1} | look, start, self.size.height
            )
            rule = rule.encode(color.encode()) if color and not look else rule
            layers.append(rule.transform_filter(color_test))
        return layers


def _say_row(alerts_title: str, row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each threshold the least score that reaches it."""
    readings = [f"{name} {say_share(row[name])}" for name in ("precision", "recall")]
    if row["alerts"]:
        readings.append(f"{alerts_title.lower()}: {say_count(row['alerts'])}")
    return say_threshold(row["threshold"], [row[LOWER]]), ", ".join(readings)


def _choose_events(etas: pl.Series, points: pl.DataFrame | None) -> float:
    """Return the number of events that alerts are counted among: that of the points, if all have one."""
    if points is not None and {"alerts", "eta", "recall", "fpr"} <= set(points.columns):
        alerts_by_rate = (pl.col("alerts") / ALERT_RATE).round_sig_figs(9)
        n_events = points.filter(ALERT_RATE > 0).select(alerts_by_rate).to_series().drop_nulls().unique()
        if len(n_events) == 1 and n_events[0] > 1:
            return float(n_events[0])
    return chart_axes.choose_events(etas)


def _count_alerts(
    marks: marked_points.MarkedPoints, curves: ChartCurves, n_events: float
) -> list[dict[str, Any]]:
    """Return the marked rows of these curves, with their alerts; null where these are 0."""
    etas, rows = dict(curves.curve_rows.select("curve", "eta").rows()), []
    for row in marks.records:
        if row["curve"] in etas:
            eta, recall, fpr = etas[row["curve"]], row["recall"], row["fpr"]
            true_rate = eta * recall
            if fpr is not None:
                rate = true_rate + (1 - eta) * fpr
            else:  # a table of points has it in all columns alone
                rate = true_rate / row["precision"] if row["precision"] else 0
            rows.append(row | {"alerts": n_events * rate or None})
    return rows


def _build_spec(x: ChartAxis, curves: ChartCurves, n_events: float) -> ChartSpec:
    """Return the axes of all three charts."""
    rows, etas = curves.points, curves.curve_rows["eta"]
    is_log = chart_axes.needs_log_axis(etas) or lie_at_foot(curves)
    unit = "million" if n_events == 1_000_000 else format_count(n_events)
    least = rows["alerts"].min()
    bottom = min(least if isinstance(least, float) else 1.0, n_events / 10)
    bottom_power, top_power = math.floor(math.log10(bottom)), math.floor(math.log10(n_events))
    # Of more powers of ten than have a label, every other one does, the lowest included.
    bottom_power -= (top_power - bottom_power) % 2 if top_power - bottom_power > _MOST_POWERS else 0
    bottom = 10.0**bottom_power
    y = chart_axes.build_precision_axis("precision", "Precision", etas, rows["precision"], is_log=is_log)
    alerts_axis = ChartAxis("alerts", f"Alerts per {unit}", bottom, n_events, "count", is_log=True)
    return ChartSpec(x, y, "step-after", below=(chart_axes.RECALL_AXIS, alerts_axis))


def _join_columns(
    stacks: list[alt.VConcatChart], text: chart_assembly.ChartText, first: _Column
) -> chart_assembly.Chart:
    """Return the columns beside each other, with title and note."""
    panel_size, spec = first.size, first.spec
    y, n = spec.below[-1], panel_size.columns
    width = n * (panel_size.width + 60)
    whole_chart: Any = stacks[0]
    if len(stacks) == 1:
        foot_y = panel_size.height + spec.x.measure_height(panel_size.width)
        note = chart_assembly.build_note(text, width, foot_y, -y.measure_labels(panel_size.height))
        whole_chart.vconcat[-1].layer += [] if note is None else [note]
    else:
        room = max(axis.measure_labels(panel_size.height) for axis in spec.y_axes)
        note = chart_assembly.build_note(text, width, 0, -room)
        whole_chart = alt.concat(*stacks, columns=n, spacing=34)
        whole_chart = chart_assembly.join_note(whole_chart, note, n * panel_size.width, 16)
    words = chart_assembly.build_title(text, width, first.channels)
    finished: chart_assembly.Chart = chart_assembly.set_properties(whole_chart, **words)
    return finished


def _say_threshold_of_half(channels: Channels, curves: ChartCurves) -> str:
    """Return the same as `say_half`, but of a single line with its threshold."""
    half_points = find_known_half(curves)
    if len(half_points) != 1:
        return say_half(channels, curves)
    [half_recall_point] = half_points.to_dicts()
    threshold_text = say_threshold(half_recall_point["threshold"], [half_recall_point[LOWER]])
    return say_point(threshold_text, half_recall_point["precision"], half_recall_point["recall"])
