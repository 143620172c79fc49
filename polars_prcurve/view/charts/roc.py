"""The ROC curve: recall by false positive rate, the same at every prevalence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.ground.argument_checks import (
    Title,
    hint_at_arguments,
    read_flag,
    read_list,
    read_number,
)
from polars_prcurve.core.prevalence.eta_grid import read_share
from polars_prcurve.view.charts.parts import marked_points, point_thinning
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import RECALL_AXIS, ChartAxis, ChartSpec
from polars_prcurve.view.charts.parts.chart_titles import (
    find_known_half,
    name_curves,
    say_areas,
    say_each,
)
from polars_prcurve.view.charts.parts.colors_and_panels import choose_channels
from polars_prcurve.view.charts.parts.label_formats import add_threshold
from polars_prcurve.view.charts.parts.label_placement import Word
from polars_prcurve.view.charts.parts.line_canvas import QUIET, Canvas, check_words
from polars_prcurve.view.charts.parts.result_tables import read_sweep
from polars_prcurve.view.words.number_words import SayShares, say_eta, say_share

_LOG_STEPS = 100  # points on a line that is straight on a linear axis only
_MANY = 24  # curves, beyond which such lines have fewer points
# What is drawn, and that it needs no prevalence, unlike most charts here.
_SUBTITLE = (
    "Share of positives that are found, by share of negatives that raise an alert; "
    "the same at any share of positives"
)
_PANEL = 430  # width of a panel in pixels, about
_NEAREST = 6  # pixels from the left edge to a line that can be told from it
_WORD = 62  # pixels across that the words at a line take, about


@hint_at_arguments
def roc_curve(
    table: pl.DataFrame,
    eta: float | str | None = None,
    *,
    log_x: bool = False,
    precisions: Sequence[float] = (0.1, 0.5, 0.9),
    points: pl.DataFrame | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """ROC curves from the table of `sweep` or of `curve`, in any row order.

    Lines are straight from point to point, from the origin: tied scores make a slope. Prevalence does
    not matter, so several eta in the table give one curve. The grey diagonal is alerts at random, recall
    = fpr. A line is dotted where fewer than five false positives are behind it.

    Parameters
    ----------
    table
        What `sweep` or `curve` returns: the `by` columns, then the columns of `sweep`.
    eta
        A prevalence, as a number or a text such as `"1 in 1 000"`, at which to show lines of equal
        precision: points of one precision lie on a line through the origin,
        `recall = fpr * precision * (1 - eta) / ((1 - precision) * eta)`. In many panels they take the
        place of the other groups in grey.
    log_x
        A log axis for fpr, which gives room to the low fpr that matters if positives are rare. Fpr 0 is
        drawn at the left edge, half the smallest other fpr, and straight lines are curved.
    precisions
        The precisions of these lines. One below eta is worse than alerts at random, and is not drawn.
    points
        Rows to mark, as in `pr_curve`; the label is fpr, and recall too where points differ in it.
    color, facet
        A `by` column. By default the first `by` column is colour and the others are panels. With more
        than 8 groups all are panels.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> roc_curve(df.prc.sweep()).to_dict()["title"]["text"]
    ['Recall and false positive rate']
    """
    check_words(title, color=color, facet=facet)
    precision_lines = read_precision_lines(eta, precisions)
    curves = read_sweep("roc_curve", table, by_eta=False, made_by="sweep or curve")
    marks = marked_points.read_points("roc_curve", points, curves, ["recall", "fpr"])
    x = _build_fpr_axis(curves.points, log_x)
    edge = x.low  # where fpr 0 is drawn
    full_points = point_thinning.start_at_origin(point_thinning.find_few_false_alerts(curves.points))
    full_points = full_points.with_columns(pl.col("doubt").backward_fill().over("curve"))
    areas = point_thinning.measure_areas(full_points)
    channels = choose_channels(curves, color, facet, areas, has_heads=True)
    canvas = Canvas(curves, channels, ChartSpec(x, RECALL_AXIS, "linear", width=0.8, height=0.88))
    steps = _list_steps(edge, len(curves.curve_rows))
    lost_precisions = _draw_references(canvas, precision_lines.slopes, steps)
    corner_points = point_thinning.drop_straight_points(full_points)
    drawn_points = _thin_for_axis(canvas, corner_points, steps)
    drawn_points = point_thinning.split_by_doubt(drawn_points, "linear")
    canvas.draw_lines(drawn_points, ghosts=not precision_lines.slopes)  # one kind of grey
    canvas.spoken = point_thinning.describe_thinning(corner_points, drawn_points)
    has_dots = canvas.draw_published(_place_on_axis(curves.points, edge))
    canvas.records += marked_points.mark_points(
        marked_points.mark_half(curves, channels) if points is None else marks,
        canvas,
        find_x=lambda row: max(row["fpr"], edge),
        find_heights=lambda row: {"recall": row["recall"]},
        find_span=lambda row: marked_points.find_rates(curves, row, "fpr", edge),
        say_heights=lambda _, recalls, say: _label_points(recalls, marks, say),
    )
    rises = point_thinning.keep_rises(curves.points)
    canvas.follow_pointer(_place_on_axis(rises, edge), "backward", _say_row)
    note = [
        "Number: area under the line" if channels.facet and channels.facet.head_of_label else "",
        channels.color_note,
        *marks.describe(),
        point_thinning.DOTS_OF_SLOPES if has_dots else "",
        *_describe_precisions(precision_lines, lost_precisions),
        "No false positive rate is left of the axis: 0 is drawn at its edge" if edge else "",
        *point_thinning.describe_doubt(drawn_points),
        *curves.describe_sizes(),
    ]
    return canvas.finish(title, _find_title(canvas, marks, areas), _SUBTITLE, note)


def _find_title(canvas: Canvas, marks: marked_points.MarkedPoints, areas: dict[int, float]) -> str:
    """Return what marked points say, the areas of panels, or what half of the positives cost."""
    curves, channels = canvas.curves, canvas.channels
    if finding := marks.find_title(curves, channels):
        return finding
    names = name_curves(curves, channels)
    rates = dict(find_known_half(curves).select("curve", "fpr").rows())
    if channels.facet is not None or not rates or (len(rates) > 1 and not names):
        is_alone = point_thinning.has_points_alone(curves.points)
        finding = "" if is_alone else say_areas(areas, curves, channels)
        return finding or "Recall and false positive rate"
    return say_each("To find half of the positives,", "of the negatives raise an alert", rates, names)


def _label_points(recalls: list[float], marks: marked_points.MarkedPoints, say: SayShares) -> list[str]:
    """Return the labels of points: fpr, and recall where they differ in it."""
    # Points that the title tells have none: near the left edge lines run close.
    if not marks.records:
        return [""] * len(recalls)
    recall_words, fpr_words = say(recalls), say([row["fpr"] for row in marks.records])
    word_pairs = zip(recall_words, fpr_words, strict=True)
    return [
        f"fpr {fpr}" if len(set(recall_words)) == 1 else f"{recall}, fpr {fpr}"
        for recall, fpr in word_pairs
    ]


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each fpr the most recall, and the highest threshold for it."""
    return f"up to {say_share(row['at'])}", f"recall {say_share(row['recall'])}{add_threshold(row)}"


def _list_steps(edge: float, n_curves: int) -> list[float]:
    """Return the fpr at which lines have points: both ends, or many where they bend on a log axis."""
    n = _LOG_STEPS if n_curves <= _MANY else _LOG_STEPS // 5
    return [edge ** (1 - k / n) for k in range(n + 1)] if edge else [0.0, 1.0]


def _place_on_axis(rows: pl.DataFrame, edge: float) -> pl.DataFrame:
    """Return the rows with their place `x`: fpr 0 is at the left edge of a log axis."""
    return rows.with_columns(pl.max_horizontal("fpr", pl.lit(edge)).alias("x"))


def _thin_for_axis(canvas: Canvas, points: pl.DataFrame, steps: list[float]) -> pl.DataFrame:
    """Return the points to draw with their place `x`: on a log axis straight lines bend."""
    edge = canvas.spec.x.low
    x_place = pl.col("fpr")
    if edge:  # as a share of a log axis from there to 1
        x_place = 1 - pl.max_horizontal("fpr", pl.lit(edge)).log() / math.log(edge)
    drawn_points = point_thinning.thin_points(points, x_place, pl.col("recall"), canvas.size.width)
    if edge:
        drawn_points = point_thinning.bend_for_log_axis(drawn_points, steps)
        drawn_points = point_thinning.drop_straight_points(drawn_points)
        drawn_points = drawn_points.with_columns(pl.col("doubt").backward_fill().over("curve"))
    return _place_on_axis(drawn_points, edge)


def _build_fpr_axis(rows: pl.DataFrame, log_x: bool) -> ChartAxis:
    """Return the axis of fpr; a log one begins at half the smallest fpr above 0."""
    if not read_flag("log_x=", log_x):
        return ChartAxis("x", "False positive rate", 0.0, 1.0)
    least = rows.select(pl.col("fpr").filter(pl.col("fpr") > 0).min()).item()
    edge = min(0.1, least / 2) if least else 0.001
    return ChartAxis("x", "False positive rate, log scale", edge, 1.0, "share", is_log=True)


# Lines of equal precision ---------------------------------------------------------------------


class PrecisionLines(NamedTuple):
    """Lines of equal precision: their prevalence, and the slope recall / fpr of each precision."""

    eta: float | None
    slopes: dict[float, float]


def read_precision_lines(eta: object, precisions: Sequence[float]) -> PrecisionLines:
    """Return the lines of these precisions at eta, the highest precision first; none without eta."""
    precisions = read_list("precisions=", precisions, "numbers between 0 and 1")
    if eta is None:
        return PrecisionLines(None, {})

    def is_inside(share: float) -> bool:
        return 0 < share < 1

    eta = read_share("eta=", eta, 'a share between 0 and 1, such as 0.001 or "1 in 1 000"', is_inside)
    shares = {read_number("precisions=", p, "numbers between 0 and 1", is_inside) for p in precisions}
    slopes = {p: p * (1 - eta) / ((1 - p) * eta) for p in sorted(shares, reverse=True)}
    return PrecisionLines(eta, slopes)


def _draw_references(canvas: Canvas, slopes: dict[float, float], steps: list[float]) -> list[float]:
    """Draw alerts at random and lines of equal precision, with words at these lines."""
    # Return the precisions whose lines no eye could tell from the left edge of a panel.
    spec, is_one = canvas.spec, canvas.channels.facet is None
    n_curves, least = len(canvas.curves.curve_rows), _NEAREST / canvas.size.width
    better_slopes = {p: slope for p, slope in slopes.items() if slope > 1}  # than alerts at random
    ends = {p: spec.x.place(max(min(1.0, 1 / slope), spec.x.low)) for p, slope in better_slopes.items()}
    words: list[Word] = []
    for _, place in canvas.channels.repeat_in_panels([0] * n_curves):
        canvas.draw_line([(step, step) for step in steps], "random", place)
        for precision, slope in better_slopes.items():
            if ends[precision] >= least:
                end = 1 / slope
                xs = [*(x for x in steps if x < end), end]
                canvas.draw_line([(x, x * slope) for x in xs], f"{precision:.6g}", place)
                look: dict[str, Any] = {"dy": -4, "baseline": "bottom", "align": "center"} | QUIET
                words.append(Word(text=f"{say_share(precision)} right", x=end, y=1.0, **look))
    if is_one and n_curves and not slopes:
        name_place = spec.x.read(0.8)
        canvas.words.append(Word(text="at random", x=name_place, y=name_place, dx=6, dy=8, **QUIET))
    # A word that would hide another one is left out; all stand on the upper edge.
    word_places: list[float] = []
    for word in reversed(words if is_one else []):  # the last is farthest from the axis
        x = spec.x.place(word.x or 0) * _PANEL
        if all(abs(x - other) > _WORD for other in word_places):
            word_places.append(x)
            canvas.words.append(word)
    return [p for p, end in ends.items() if end < least]


def _describe_precisions(precision_lines: PrecisionLines, lost_precisions: list[float]) -> list[str]:
    """Return sentences on the lines of equal precision, and on those that are not drawn."""
    eta, slopes = precision_lines
    if eta is None or not slopes:
        return []
    drawn_precisions = [p for p, slope in slopes.items() if slope > 1 and p not in lost_precisions]
    shares = {p: say_share(p) for p in drawn_precisions} | {eta: f"{say_share(eta)} (at random)"}
    right = ", ".join(shares[p] for p in sorted(shares, reverse=True))
    where = f"of the alerts are right where {say_eta(eta)} is positive"
    sentences = [f"Grey, from the left: along each line {right} {where}"] if drawn_precisions else []
    if lost_precisions:
        lost_lines = "the line of" if len(lost_precisions) == 1 else "the lines of"
        names = ", ".join(map(say_share, lost_precisions))
        sentences.append(f"Too far left to draw: {lost_lines} {names}")
    worse_precisions = [p for p, slope in slopes.items() if slope < 1]
    if worse_precisions:
        names = ", ".join(map(say_share, worse_precisions))
        sentences.append(f"Not drawn: {names}, which is worse than at random")
    return sentences
