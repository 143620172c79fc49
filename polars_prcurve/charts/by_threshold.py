"""The chart of precision, recall and alerts by threshold."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import Title
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.canvas import Canvas, check_words
from polars_prcurve.charts.parts.chart_assembly import (
    BARE_VIEW,
    Chart,
    ChartText,
    attach_data,
    build_note,
    build_panel,
    build_title,
    make_key,
    name_panel,
    write_head,
)
from polars_prcurve.charts.parts.chart_axes import (
    ChartAxis,
    ChartSpec,
    PanelSize,
    build_precision_axis,
    choose_events,
    needs_log_axis,
)
from polars_prcurve.charts.parts.chart_curves import ChartCurves, describe_sizes, join_etas, read_sweep
from polars_prcurve.charts.parts.chart_words import place_labels, place_names
from polars_prcurve.charts.parts.colors_and_panels import Channels, pick_out, read_channels
from polars_prcurve.charts.parts.findings import name_curves, read_at_half, say_by_eta, say_each
from polars_prcurve.charts.parts.marked_points import MarkedPoints, mark_points, read_points, say_point
from polars_prcurve.charts.parts.number_formats import format_threshold
from polars_prcurve.charts.parts.points_to_draw import (
    describe_doubt,
    describe_thinning,
    find_few_false_alerts,
    raise_to_axis,
    split_by_doubt,
    thin_points,
)
from polars_prcurve.errors import PrcError
from polars_prcurve.number_words import format_count, round_down, say_count, say_share

_MOST_COLUMNS = 4


@hint_at_arguments
def threshold_curve(
    table: pl.DataFrame,
    *,
    points: pl.DataFrame | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Precision, recall and alerts by threshold, from the table of `curve`, in any row order.

    Three charts above each other share the axis of thresholds, so that you can read a threshold straight
    down. Alerts are among 1 000 events at prevalence eta, 1000 * (eta * recall + (1 - eta) * fpr), on a
    log axis, or among 1 000 000 events where 1 in 1 000 or fewer are positive. Precision has a log axis
    where it has one in `pr_curve`. Lines are steps: a
    threshold between two scores flags what the higher score flags. Recall is the same at every
    prevalence, and is drawn once.

    Parameters
    ----------
    table
        What `curve` returns. A table made with `thresholds="corners"` or `thresholds=` lacks
        thresholds, and some of its steps are too long.
    points
        Rows to mark, as in `pr_curve`, in all three charts.
    color, facet
        As in `pr_curve`, but more than 8 groups share one column of charts: the first, the middle and
        the last by mean precision have colours, and the others are grey.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    Three Altair charts, concatenated vertically, once per panel.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = threshold_curve(df.prc.curve(eta=0.01))
    >>> [one["layer"][0]["encoding"]["y"]["title"] for one in chart.to_dict()["vconcat"]]
    ['Precision', 'Recall', 'Alerts per 1 000']
    """
    check_words(title, color=color, facet=facet)
    curves = read_sweep("threshold_curve", table, ["precision"])
    marked = read_points("threshold_curve", points, curves, ["threshold", "recall", "precision"])
    channels = _read_channels(curves, color, facet)
    events = _find_events(curves, points)
    rows = _add_x_and_alerts(find_few_false_alerts(curves.rows), curves, events)
    finite = rows.filter(pl.col("x").is_finite())
    x = pl.col("x")
    drawn = thin_points(finite, (x - x.min()) / (x.max() - x.min()), pl.col("precision"))
    specs = _build_specs(finite, curves.per_curve["eta"], events)
    raised = raise_to_axis(drawn, specs[0].y, ["precision"])
    lines = split_by_doubt(raised, "step-after")
    canvas = Canvas(curves, channels, specs[0])
    marks = _mark_thresholds(marked, canvas, events)
    _draw_all(canvas, lines, marks)
    alerts = specs[2].y.title.lower()
    heights = raise_to_axis(finite, specs[0].y, ["precision"])
    canvas.follow_pointer(heights, "forward", partial(_say_row, alerts), finite["x"])
    note = (
        *(channels.picked, *marked.describe(), *describe_doubt(lines)),
        "Not drawn: infinite thresholds" if finite.height < rows.height else "",
        *describe_sizes(curves),
    )
    subtitle = f"{join_etas('What each threshold does', curves)}, read straight down"
    finding = marked.find_title(curves, channels) or _find_title(curves, channels)
    finding = finding or "Precision, recall and alerts by threshold"
    text = ChartText(title, subtitle, note, finding, describe_thinning(finite, drawn))
    return _Stack(channels, specs, canvas.data).draw(text)


def _read_channels(curves: ChartCurves, color: str | None, facet: str | None) -> Channels:
    """Return the channels; many groups are colours, since panels would be three times as many."""
    only_groups = not curves.other_fields or curves.count_distinct(curves.other_fields) == 1
    is_own = len(curves.per_curve) == curves.count_distinct(curves.group_fields)
    if color is None and facet is None and len(curves.group_fields) == 1 and (only_groups or is_own):
        color = curves.field_names[curves.group_fields[0]]
    means = curves.rows.group_by("curve").agg(pl.col("precision").mean())
    return pick_out(read_channels(curves, color, facet), dict(means.rows()), curves)


def _find_title(curves: ChartCurves, channels: Channels) -> str:
    """Return what half recall takes: the threshold of each group, and precision if there is one group.

    Empty where that is not known well.
    """
    thresholds = read_at_half(curves, "threshold")
    precisions, recalls = (read_at_half(curves, name) for name in ("precision", "recall"))
    etas = curves.per_curve["eta"]
    if not thresholds or not etas.is_between(0, 1).all():
        return ""
    if len(thresholds) == 1:
        [curve] = thresholds
        return say_point(format_threshold(thresholds[curve]), precisions[curve], recalls[curve])
    if etas.n_unique() == len(etas) and len(set(thresholds.values())) == 1:  # one group
        each = [*zip(etas.to_list(), precisions.values(), strict=True)]
        start = f"At {_say_low([*thresholds.values()])[0]}, which finds half of the positives,"
        return say_by_eta(start, "of the alerts are right", each)
    names = name_curves(curves, channels)
    is_by_group = etas.n_unique() == 1 or len(etas) == curves.count_distinct(curves.group_fields)
    if not names or not is_by_group:
        return ""
    return say_each("Half of the positives are found at", "", thresholds, names, _say_low)


def _say_low(thresholds: list[Any]) -> list[str]:
    """Return thresholds in equal decimals, rounded down: they find no less.

    The greatest has three digits. Where the least would have fewer than two, each has three of its own.
    """
    sizes = [
        abs(value) for value in thresholds if isinstance(value, float) and 0 < abs(value) < math.inf
    ]
    if len(sizes) < len(thresholds):
        return [format_threshold(value) or "" for value in thresholds]
    step = 10.0 ** (math.floor(math.log10(max(sizes))) - 2)
    is_far = min(sizes) < 10 * step
    digits = [3 if is_far else max(math.floor(math.log10(size / step)) + 1, 1) for size in sizes]
    said = [f"{round_down(value, n):f}" for value, n in zip(thresholds, digits, strict=True)]
    return [words.replace("-", "\u2212") for words in said]


def _find_events(curves: ChartCurves, points: pl.DataFrame | None) -> float:
    """Return among how many events alerts are counted: as in the points, if these all say one number."""
    chosen = choose_events(curves.per_curve["eta"])
    if points is None or not {"alerts", "eta", "recall", "fpr"} <= set(points.columns):
        return chosen
    rate = pl.col("eta") * pl.col("recall") + (1 - pl.col("eta")) * pl.col("fpr")
    per = points.filter(rate > 0).select((pl.col("alerts") / rate).round_sig_figs(9)).to_series()
    known = per.drop_nulls().unique()
    return float(known[0]) if len(known) == 1 and known[0] > 1 else chosen


def _add_x_and_alerts(rows: pl.DataFrame, curves: ChartCurves, events: float) -> pl.DataFrame:
    """Add `x`, the threshold as a float, and `alerts`, null in place of 0, which no log axis shows."""
    if len(rows) and rows["threshold"].null_count():
        raise PrcError(
            "threshold_curve needs thresholds, and some are null; a table made with rates= has none: "
            "draw pr_curve or roc_curve from it"
        )
    rows = rows.join(curves.per_curve.select("curve", "eta"), on="curve", maintain_order="left")
    rate = pl.col("eta") * pl.col("recall") + (1 - pl.col("eta")) * pl.col("fpr")
    alerts = pl.when(rate > 0).then(events * rate)
    return rows.with_columns(x=pl.col("threshold").cast(pl.Float64), alerts=alerts, made=False)


def _build_specs(finite: pl.DataFrame, etas: pl.Series, events: float) -> list[ChartSpec]:
    """Return the three charts from top to bottom; only the last one says what is across."""
    low, high, least = finite.select(
        pl.col("x").min().alias("low"), pl.col("x").max().alias("high"), pl.col("alerts").min()
    ).row(0)
    low, high = (low, high) if low is not None and low < high else ((low or 0) - 0.5, (low or 0) + 0.5)
    said = "million" if events == 1_000_000 else format_count(events)
    bottom = 10.0 ** math.floor(math.log10(min(least or 1.0, events / 10)))
    is_log = needs_log_axis(etas)
    axes = (
        build_precision_axis("precision", "Precision", etas, finite["precision"], is_log=is_log),
        ChartAxis("recall", "Recall", 0, 1),
        ChartAxis("alerts", f"Alerts per {said}", bottom, float(events), "count", is_log=True),
    )
    titles = ("", "", "Threshold: alert if the score is at least this")
    return [
        ChartSpec(ChartAxis("x", title, low, high, "plain"), y, "step-after", height=0.3)
        for title, y in zip(titles, axes, strict=True)
    ]


def _mark_thresholds(marked: MarkedPoints, canvas: Canvas, events: float) -> list[dict[str, Any]]:
    """Return the records of marked points at their threshold, with their height in each chart."""
    etas = dict(canvas.curves.per_curve.select("curve", "eta").rows())
    least = canvas.spec.y.low  # the lowest precision that is drawn

    def measure_heights(row: dict[str, Any]) -> dict[str, float | None]:
        eta = etas[row["curve"]]
        heights = {"precision": max(row["precision"], least), "recall": row["recall"]}
        rate = None if row["fpr"] is None else eta * row["recall"] + (1 - eta) * row["fpr"]
        return heights | ({"alerts": events * rate} if rate else {})

    return mark_points(
        marked,
        canvas,
        x_of=lambda row: float(row["threshold"]),
        y_of=measure_heights,
        span_of=lambda row: (float(row["holds_from"]), float(row["holds_to"])),
    )


def _draw_all(canvas: Canvas, lines: pl.DataFrame, marks: list[dict[str, Any]]) -> None:
    """Draw the lines and marks of all charts; lines of equal recall, at several prevalences, once."""
    records = canvas.draw_lines(lines, ["recall", "alerts"])
    canvas.data += marks
    if not _has_equal_recalls(canvas.channels):
        return
    first: dict[str | None, int] = {}
    for row in records:
        if row["curve"] != first.setdefault(row.get("facet"), row["curve"]):
            row.pop("recall", None)
    seen: set[tuple[Any, ...]] = set()
    for mark in marks:
        here = (mark["part"], mark.get("facet"), mark["x"], mark.get("recall"))
        if here in seen:
            mark.pop("recall", None)
        seen.add(here)


def _has_equal_recalls(channels: Channels) -> bool:
    """Return whether colours are prevalences alone, so that their lines of recall are one."""
    return channels.color is not None and channels.color.fields == ["eta"]


def _say_row(alerts: str, row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each threshold the least score that reaches it."""
    number = "" if row["alerts"] is None else f", {alerts}: {say_count(row['alerts'])}"
    shares = f"precision {say_share(row['precision'])}, recall {say_share(row['recall'])}"
    return f"{format_threshold(row['threshold'])}", f"{shares}{number}"


@dataclass(frozen=True)
class _Stack:
    """Three charts above each other, once per panel."""

    channels: Channels
    specs: list[ChartSpec]
    data: list[dict[str, Any]]

    def draw(self, text: ChartText) -> Chart:
        """Return the charts in one column, or a column per panel."""
        facet = self.channels.facet
        labels: list[str | None] = [None] if facet is None else [*facet.labels]
        n = min(len(labels), _MOST_COLUMNS)
        width = 540 if n == 1 else 300 if n == 2 else 210
        own = {label: self._pick_panel(label) for label in labels}
        found = self._find_room_for_names(own, width)
        stacks = []
        for label, data in own.items():
            named = self.specs[0] if found is None else found[1] if label == found[0] else None
            stacks.append(self._draw_column(data, label, width, text, named))
        if facet is None:
            whole: Any = stacks[0]
        else:
            whole = alt.concat(*stacks, columns=n, spacing=34)
            room = max(spec.y.measure_labels() for spec in self.specs)
            note = build_note(text, n * (width + 60), 0, -room)
            if note is not None:
                note = note.properties(width=n * width, height=1, view=BARE_VIEW)
                whole = alt.vconcat(whole, note, spacing=16)
        finished: Chart = whole.properties(**build_title(text, n * (width + 60)))
        return finished

    def _pick_panel(self, label: str | None) -> list[dict[str, Any]]:
        """Return the records of one panel, without its name."""
        own = (row for row in self.data if row.get("facet") == label)
        return [{name: value for name, value in row.items() if name != "facet"} for row in own]

    def _is_neutral(self, spec: ChartSpec) -> bool:
        """Return whether a chart shows one line for all colours."""
        return spec.y.field == "recall" and _has_equal_recalls(self.channels)

    def _find_room_for_names(
        self, own: dict[str | None, list[dict[str, Any]]], width: int
    ) -> tuple[str | None, ChartSpec] | None:
        """Return the first panel, and the first chart of three, with room for all names."""
        channels = replace(self.channels, facet=None)
        for spec in self.specs:
            size = _measure_panel(spec, width)
            for label, data in own.items():
                if self._is_neutral(spec):
                    continue
                labels = place_labels(spec, data, channels, size, [])
                if place_names(replace(spec, names="beside"), data, channels, size, labels):
                    return label, spec
        return None

    def _draw_column(
        self,
        data: list[dict[str, Any]],
        label: str | None,
        width: int,
        text: ChartText,
        named: ChartSpec | None,
    ) -> alt.VConcatChart:
        """Return three charts above each other, with a heading if there are panels.

        Names of lines stand in the chart `named`.
        """
        head = name_panel(self.channels.facet, label) if self.channels.facet and label else ""
        panels: list[alt.LayerChart] = []
        shared: list[dict[str, Any]] = []
        all_words: list[dict[str, Any]] = []
        channels = replace(self.channels, facet=None)
        key = None if named is None else make_key(data, f"x {named.y.field}")
        for number, spec in enumerate(self.specs):
            size = _measure_panel(spec, width)
            heads = write_head(head, width) if head and not panels else []
            chooser = None if spec is named else key
            names: Literal["beside", "none"] = "beside" if spec is named else "none"
            shown = replace(spec, is_neutral=self._is_neutral(spec), names=names)
            panel, records = build_panel(shown, data, channels, size, heads, chooser=chooser)
            if label is None and spec is self.specs[-1]:
                note = build_note(text, width + 60, size.height + 50, -spec.y.measure_labels())
                panel.layer = [*panel.layer, *([] if note is None else [note])]
            # All three charts are drawn from one list of records, in which each has words of its own.
            words = [row for row in records if row["part"].startswith(("word", "name"))]
            shared = shared or [row for row in records if row not in words]
            for row in words:
                row["part"] = f"{row['part']} of {number}"
            all_words += words
            _rename_words(panel, number)
            panels.append(panel)
        with warnings.catch_warnings():
            # Altair warns that one selection is in three charts, as it should be.
            warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
            whole: alt.VConcatChart = alt.vconcat(*panels, spacing=22)
            whole = whole.resolve_scale(x="shared")
        return attach_data(whole, [*shared, *all_words])


def _measure_panel(spec: ChartSpec, width: int) -> PanelSize:
    """Return the size of one of three charts of this width."""
    return PanelSize(1, width, round(max(width, 300) * spec.height))


def _rename_words(panel: alt.LayerChart, number: int) -> None:
    """Let the layers of words draw those of their own chart among three."""
    for layer in panel.layer:
        for step in [] if layer.transform is alt.Undefined else layer.transform:
            if str(step.filter).startswith(("datum.part === 'word", "datum.part === 'name")):
                step.filter = f"{str(step.filter)[:-1]} of {number}'"
