"""The ROC curve: recall by false positive rate, the same at every prevalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, read_flag, read_list, read_number
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.prevalence.eta_table import require_plain_etas
from polars_prcurve.view.charts.parts import doubt_of_points, marked_points, points_to_draw
from polars_prcurve.view.charts.parts.active_theme import measure_text, quiet_look
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import RECALL_AXIS, ChartAxis, ChartSpec
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, read_sweep
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, choose_channels
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import add_threshold
from polars_prcurve.view.charts.parts.panel_in_pixels import Word
from polars_prcurve.view.charts.parts.title_phrases import (
    add_order,
    find_known_half,
    name_curves,
    say_areas,
    say_each,
    say_reached,
)
from polars_prcurve.view.words.number_words import SayShares, say_eta, say_share, say_target

_LOG_STEPS = 100  # points on a line that is straight on a linear axis only
_MANY_CURVES = 24  # curves, beyond which such lines have fewer points
_NEAREST_PIXELS = 6  # pixels from the left edge to a line that can be distinguished from it
_WORD_GAP = 6  # pixels across between the words at two lines, at least


@hint_at_arguments
def roc_curve(
    table: pl.DataFrame,
    eta: float | str | None = None,
    *,
    log_x: bool = False,
    precisions: Sequence[float] = (0.1, 0.5, 0.9),
    points: pl.DataFrame | None = None,
    ranking: pl.DataFrame | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
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
        A prevalence, as a number or a text such as `"1 in 1,000"`, at which to show lines of equal
        precision: points of one precision lie on a line through the origin, `recall = fpr * precision *
        (1 - eta) / ((1 - precision) * eta)`. In many panels they replace the other groups in grey.
    log_x
        A log axis for fpr, which gives room to the low fpr that matters if positives are rare. Fpr 0 is
        drawn at the left edge, half the smallest other fpr, and straight lines are curved.
    precisions
        The precisions of these lines. One below eta is worse than alerts at random, and is not drawn.
    points
        Rows to mark, as in `pr_curve`, with recall and fpr (`metrics=` or `columns="all"`); the label
        is fpr, and recall too where points differ in it.
    color, facet
        A `by` column. By default the first `by` column is colour and the others are panels. With more
        than 6 groups all are panels.
    ranking, title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> roc_curve(df.prc.sweep()).to_dict()["title"]["text"]
    ['With 2 positives, a measured recall of 50%', 'could really be anything from 2.7% to 91%']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    precision_lines = read_precision_lines(eta, precisions)
    curves = read_sweep("roc_curve", table, is_by_eta=False, made_by="sweep or curve")
    eta_text = f" at a prevalence of {say_eta(precision_lines.eta)}" if precision_lines.eta else ""
    curves = add_order(curves, "roc_curve", ranking, f"precision{eta_text}")
    x_axis = _build_fpr_axis(curves.points, log_x)
    left_edge = x_axis.low  # where fpr 0 is drawn
    points_from_origin = points_to_draw.start_at_origin(
        doubt_of_points.find_few_false_alerts(curves.points)
    )
    points_from_origin = points_from_origin.with_columns(pl.col("doubt").backward_fill().over("curve"))
    area_by_curve = points_to_draw.measure_areas(points_from_origin)
    channels = choose_channels(curves, color, facet, area_by_curve, has_heads=True)
    spec = ChartSpec(x_axis, RECALL_AXIS, "linear", width=0.8, height=0.88)
    canvas = Canvas(curves, channels, spec, size)
    line_fprs = _list_steps(left_edge, len(curves.curve_rows))
    lost_precisions = _draw_references(canvas, precision_lines.slopes, line_fprs)
    marks = marked_points.choose_points("roc_curve", points, curves, channels, ["recall", "fpr"])
    if not marks.is_asked:  # their numbers are in the title: near the left edge lines run close
        marks = replace(marks, records=[record | {"is_mute": True} for record in marks.records])
    chart = CurveChart(
        canvas,
        lines=_bend(points_to_draw.drop_straight_points(points_from_origin), left_edge, line_fprs),
        rows=curves.points,
        pointed=points_to_draw.keep_rises(curves.points),
        height=pl.col("recall"),
        reads="backward",
        say_row=_say_row,
        subtitle="Recall by false positive rate, the same at any prevalence",  # unlike most charts
        title="Recall by false positive rate",
        say=partial(_say_curves, channels, area_by_curve),
        note=[
            *_describe_precisions(precision_lines, lost_precisions),
            "A false positive rate of 0 is drawn at the left edge of the axis" if left_edge else "",
        ],
        marks=marks,
        label_marks=partial(_label_points, marks),
        has_ghosts=not precision_lines.slopes,  # one kind of grey
    )
    return chart.draw(title)


def _say_curves(channels: Channels, area_by_curve: dict[int, float], curves: ChartCurves) -> str:
    """Return what half of the positives cost, or the areas of panels."""
    half_points = find_known_half(curves)
    name_by_curve = name_curves(curves, channels, half_points)
    fpr_by_curve = dict(half_points.select("curve", "fpr").rows())
    if channels.facet is not None or not fpr_by_curve or (len(fpr_by_curve) > 1 and not name_by_curve):
        has_published_points = points_to_draw.has_points_alone(curves.points)
        return "" if has_published_points else say_areas("ROC AUC", area_by_curve, curves, channels)
    sentence_start = f"At {say_reached(half_points['recall'])}, the false positive rate is"
    return say_each(sentence_start, "", fpr_by_curve, name_by_curve)


def _label_points(
    marks: marked_points.MarkedPoints, recalls: list[float], say_together: SayShares
) -> list[str]:
    """Return the labels of points: fpr, and recall where they differ in it."""
    recall_texts = say_together(recalls)
    fpr_texts = say_together([point["fpr"] for point in marks.records])
    if len(set(recall_texts)) == 1:
        return [f"fpr {fpr_text}" for fpr_text in fpr_texts]
    return [f"{texts[0]}, fpr {texts[1]}" for texts in zip(recall_texts, fpr_texts, strict=True)]


def _say_row(point: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each fpr the most recall, and the highest threshold for it."""
    recall_text = f"recall {say_share(point['recall'])}"
    return f"up to {say_share(point['at'])}", f"{recall_text}{add_threshold(point)}"


def _list_steps(left_edge: float, n_curves: int) -> list[float]:
    """Return the fpr at which lines have points: both ends, or many where they bend on a log axis."""
    if not left_edge:
        return [0.0, 1.0]
    n_steps = _LOG_STEPS if n_curves <= _MANY_CURVES else _LOG_STEPS // 5
    return [left_edge ** (1 - step_number / n_steps) for step_number in range(n_steps + 1)]


def _bend(points: pl.DataFrame, left_edge: float, line_fprs: list[float]) -> pl.DataFrame:
    """Return the points, and more of them where lines bend on a log axis."""
    if not left_edge:
        return points
    points = points_to_draw.bend_for_log_axis(points, line_fprs)
    points = points_to_draw.drop_straight_points(points)
    return points.with_columns(pl.col("doubt").backward_fill().over("curve"))


def _build_fpr_axis(points: pl.DataFrame, log_x: bool) -> ChartAxis:
    """Return the axis of fpr; a log one begins at half the smallest fpr above 0."""
    if not read_flag("log_x=", log_x):
        return ChartAxis("fpr", "False positive rate", 0.0, 1.0)
    least_fpr = points.select(pl.col("fpr").filter(pl.col("fpr") > 0).min()).item()
    left_edge = min(0.1, least_fpr / 2) if least_fpr else 0.001
    return ChartAxis("fpr", "False positive rate, log scale", left_edge, 1.0, "share", is_log=True)


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

    eta = read_share("eta=", eta, 'a share between 0 and 1, such as 0.001 or "1 in 1,000"', is_inside)
    require_plain_etas(pl.DataFrame({"eta": [eta]}))
    distinct_precisions = {
        read_number("precisions=", precision, "numbers between 0 and 1", is_inside)
        for precision in precisions
    }
    slope_by_precision = {
        precision: precision * (1 - eta) / ((1 - precision) * eta)
        for precision in sorted(distinct_precisions, reverse=True)
    }
    return PrecisionLines(eta, slope_by_precision)


def _draw_references(
    canvas: Canvas, slope_by_precision: dict[float, float], line_fprs: list[float]
) -> list[float]:
    """Draw alerts at random and lines of equal precision, with words at these lines."""
    # Return the precisions whose lines could not be distinguished from the left edge of a panel.
    spec, channels = canvas.spec, canvas.channels
    zeros_with_panels = channels.repeat_in_panels([0] * len(canvas.curves.curve_rows))
    least_place = _NEAREST_PIXELS / canvas.size.width
    # Those that are better than alerts at random.
    slope_by_better = {
        better_precision: slope for better_precision, slope in slope_by_precision.items() if slope > 1
    }
    end_place_by_precision = {
        better_precision: spec.x.place(max(1 / slope, spec.x.low))
        for better_precision, slope in slope_by_better.items()
    }
    canvas.draw_diagonal("" if slope_by_precision else "at random", line_fprs)
    precision_words: list[Word] = []
    for precision, slope in slope_by_better.items():
        if end_place_by_precision[precision] >= least_place:
            fprs = [*(fpr for fpr in line_fprs if fpr < 1 / slope), 1 / slope]
            for _, panel_fields in zeros_with_panels:
                canvas.draw_line([(fpr, fpr * slope) for fpr in fprs], f"{precision:.6g}", panel_fields)
            look: dict[str, Any] = {"dy": -4, "baseline": "bottom", "align": "center"} | quiet_look()
            precision_words.append(
                Word(text=f"precision {say_target(precision)}", x=fprs[-1], y=1.0, **look)
            )
    # A word that would hide another one is left out; all stand on the upper edge.
    word_pixels: list[float] = []
    named_words = precision_words if zeros_with_panels and channels.facet is None else []
    for word in reversed(named_words):  # the farthest one first
        x_pixel = spec.x.place(word.x or 0) * canvas.size.width
        word_width = measure_text(word.text, word.size) + _WORD_GAP  # all have as many letters
        if all(abs(x_pixel - other_pixel) > word_width for other_pixel in word_pixels):
            word_pixels.append(x_pixel)
            canvas.words.append(word)
    return [precision for precision, place in end_place_by_precision.items() if place < least_place]


def _describe_precisions(precision_lines: PrecisionLines, lost_precisions: list[float]) -> list[str]:
    """Return sentences on the lines of equal precision, and on those that are not drawn."""
    eta, slope_by_precision = precision_lines
    if eta is None or not slope_by_precision:
        return []
    is_drawn_by_share = {share: slope > 1 for share, slope in slope_by_precision.items()}
    is_drawn_by_share |= dict.fromkeys(lost_precisions, False)
    text_by_share = {share: say_target(share) for share in is_drawn_by_share if is_drawn_by_share[share]}
    sentences = []
    if text_by_share:
        precisions_text = join_words([*text_by_share.values(), f"{say_target(eta)} (chance)"])
        place_text = f"at a prevalence of {say_eta(eta)}"
        sentences.append(
            f"Grey lines, from left to right: a precision of {precisions_text}, {place_text}"
        )
    if lost_precisions:
        lost_texts = join_words(map(say_target, lost_precisions))
        plural_ending, verb = ("", "is") if len(lost_precisions) == 1 else ("s", "are")
        sentences.append(f"The line{plural_ending} for {lost_texts} {verb} too far left to draw")
    worse_precisions = [precision for precision, slope in slope_by_precision.items() if slope < 1]
    if worse_precisions:
        lost_texts = ", ".join(map(say_target, worse_precisions))
        sentences.append(f"Not drawn: {lost_texts}, which is below chance")
    return sentences
