"""Gain curves: recall by the share of cases looked at, and precision gain by recall gain (PRG)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import polars as pl

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.message_text import add_noun, format_count
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.metrics.point_formulas import precision
from polars_prcurve.view.charts.parts import doubt_of_points, points_to_draw
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import RECALL_AXIS, ChartAxis, ChartSpec
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, read_sweep
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, choose_channels
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.marked_points import MarkedPoints, mark_halves, read_points
from polars_prcurve.view.charts.parts.names_and_numbers import add_threshold, round_digits
from polars_prcurve.view.charts.parts.title_phrases import (
    add_order,
    are_short,
    find_half,
    name_curves,
    note_few_false_alerts,
    say_each,
    say_half,
    say_values,
)
from polars_prcurve.view.words.number_words import (
    FEW_POSITIVES,
    SayShares,
    join_value,
    say_estimate,
    say_share,
    say_shares,
    say_target,
)
from polars_prcurve.view.words.shown_names import start_sentence

_TENTH = 0.1  # the share of cases at which recall is written: a budget that all can picture
# Lines of a panel, at most, that have a number each: those of more would lie on lines.
_MOST_LABELS = 4
_MOST_POINTS = 24  # panels, at most, that have one
# Where fewer are positive, lines lie in the corner of linear axes, and axes are logarithmic.
_CORNER_BELOW = 0.1
_STARTS_AT = 0.1  # the recall near which logarithmic axes begin
# Shares with a tick, the first ones first; some are as far from 100% as others from 0.
_SHARES = [0.5] + [
    share
    for digits in ((1,), (2, 5), (3, 7))
    for power in range(1, 10)
    for digit in digits
    for share in (digit * 0.1**power, 1 - digit * 0.1**power)
]
_TICK_GAP = 0.11  # of an axis, between two ticks
_HALF = 0.5  # the recall at which a title compares lines: up to such a prevalence it is on the axis
_FIELDS = ("recall_gain", "precision_gain")  # the fields of both gains, of x and of y
# What is left of both gains to 100%, which logarithmic axes show.
_RESTS = ("recall_rest", "precision_rest")


@hint_at_arguments
def gain_curve(
    table: pl.DataFrame,
    *,
    points: pl.DataFrame | None = None,
    ranking: pl.DataFrame | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Gain curves from the table of `curve`, in any row order: recall by the share of cases alerted.

    At prevalence eta a threshold flags the share eta * recall + (1 - eta) * fpr of all cases. Lines are
    straight from point to point, from the origin, as in a ROC curve: tied scores make a slope. The
    pointer also reads lift, recall divided by that share. The grey diagonal is cases in random order.

    Parameters
    ----------
    table
        What `curve` returns, with any metrics.
    points
        What `operating_points(predicted_positive_rate=0.1, confidence=..., columns="all")` returns for
        the same groups and eta: lines of fewer than 20 positives have the recall of a tenth, and its
        interval, from there. Without it they have no number.
    ranking
        As in `pr_curve`, of `metric="recall"` at `predicted_positive_rate=0.1`.
    color, facet, title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> gain_curve(df.prc.curve(eta=0.5)).to_dict()["layer"][1]["encoding"]["x"]["title"]
    'Share of cases flagged, highest scores first'
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = add_order(read_sweep("gain_curve", table), "gain_curve", ranking, None)
    etas = curves.curve_rows.select("curve", "eta")
    table_points, curve_points = (
        kind_rows.join(etas, on="curve", maintain_order="left").with_columns(
            alerted=points_to_draw.ALERT_RATE
        )
        for kind_rows in (curves.points, points_to_draw.start_at_origin(curves.points))
    )
    tenth_by_curve = _read_tenths(curve_points, curves)
    tenth_by_curve |= _read_intervals(points, curves)
    recall_by_curve = {curve: tenth.recall for curve, tenth in tenth_by_curve.items()}
    channels = choose_channels(curves, color, facet, recall_by_curve)
    order_text = "" if channels.facet else ", highest scores first"
    x = ChartAxis("alerted", f"Share of cases flagged{order_text}", 0.0, 1.0)
    canvas = Canvas(curves, channels, ChartSpec(x, RECALL_AXIS, "linear", width=0.8, height=0.88), size)
    curve_points = doubt_of_points.find_few_positives(curve_points, curves)
    canvas.draw_diagonal("at random")
    has_marks = _mark_tenths(canvas, tenth_by_curve)
    points_text = "Large points" if points_to_draw.has_points_alone(table_points) else "Points"
    chart = CurveChart(
        canvas,
        lines=points_to_draw.drop_straight_points(curve_points),
        rows=table_points,
        height=pl.col("recall"),
        reads="backward",
        say_row=_say_alerted,
        subtitle="Recall by share of cases flagged",
        title="Recall by share of cases flagged",
        say=partial(_say_all, "With a tenth of the cases flagged, recall is", recall_by_curve, channels),
        few=_say_few_tenths(canvas, tenth_by_curve) if has_marks else "",
        note=[
            f"{points_text} mark where a tenth of cases are flagged" if has_marks else "",
            "Brackets: the interval of recall at the threshold that flags at most a tenth"
            if has_marks and any(tenth.span for tenth in tenth_by_curve.values())
            else "",
        ],
        describe_doubt=doubt_of_points.describe_few_positives,
    )
    return chart.draw(title)


def _say_all(
    sentence_start: str, value_by_curve: dict[int, float], channels: Channels, curves: ChartCurves
) -> str:
    """Return the value of each curve; empty if one has none."""
    numbers = curves.curve_rows["curve"]
    values = {curve: value_by_curve[curve] for curve in numbers if curve in value_by_curve}
    is_known = 0 < len(values) == len(numbers)
    return say_values(sentence_start, values, curves, channels) if is_known else ""


class _Tenth(NamedTuple):
    """What a curve has where a tenth of the cases are flagged."""

    alerted: float | None  # the share that is flagged; None if the number is not known well
    recall: float
    text: str = ""  # recall in the digits of its interval, as `93.8%`
    span: str = ""  # the interval, as `64.0 to 99.7`


def _read_tenths(points: pl.DataFrame, curves: ChartCurves) -> dict[int, _Tenth]:
    """Return what each curve has at a tenth of the cases, on its straight lines."""
    x, y = pl.col("alerted"), pl.col("recall")
    x_before, y_before = (coordinate.shift(1).over("curve") for coordinate in (x, y))
    # Tied scores share a slope, on which the tenth may lie.
    recall_at_tenth = y_before + (y - y_before) * (_TENTH - x_before) / (x - x_before)
    points = points.sort("curve", "alerted", maintain_order=True).with_columns(share=recall_at_tenth)
    crossings = points.filter((x_before <= _TENTH) & (x > _TENTH))
    few_rows = curves.curve_rows.filter(pl.col("n_pos") < FEW_POSITIVES)
    few_curves = {*few_rows["curve"]}
    return {
        curve: _Tenth(None if curve in few_curves else _TENTH, recall)
        for curve, recall in crossings.select("curve", "share").rows()
    }


def _read_intervals(points: object, curves: ChartCurves) -> dict[int, _Tenth]:
    """Return what curves of few positives have at the thresholds of points, with its interval."""
    names = ["recall", "recall_low", "recall_high", "fpr"]
    marked = read_points("gain_curve", points, curves, names)
    row_of_curve = curves.curve_rows.rows_by_key("curve", named=True, unique=True)
    tenth_by_curve: dict[int, _Tenth] = {}
    for record in marked.records:
        row = row_of_curve[record["curve"]]
        alerted = row["eta"] * record["recall"] + (1 - row["eta"]) * record["fpr"]
        if (row["n_pos"] or math.inf) < FEW_POSITIVES and alerted <= _TENTH + 1e-9:
            texts = say_estimate(*(record[name] for name in names[:3]))
            tenth_by_curve[record["curve"]] = _Tenth(alerted, record["recall"], *texts)
    return tenth_by_curve


def _say_few_tenths(canvas: Canvas, tenth_by_curve: dict[int, _Tenth]) -> str:
    """Return what is known of the marked recalls of lines that all have few positives."""
    curves, names = canvas.curves, name_curves(canvas.curves, canvas.channels)
    curve_numbers = [*curves.curve_rows["curve"]]
    sentence_start = "recall with at most a tenth flagged is"
    spans = [tenth.span for tenth in tenth_by_curve.values()]
    has_all = {*curve_numbers} == tenth_by_curve.keys() and all(spans)
    if not has_all or (len(curve_numbers) > 1 and not are_short(curve_numbers, names)):
        return f"{sentence_start} known only roughly"
    recall_by_curve = {curve: tenth.recall for curve, tenth in tenth_by_curve.items()}
    span_by_curve = {
        curve: f"{tenth.span.replace(' to ', '% to ')}%" for curve, tenth in tenth_by_curve.items()
    }
    return say_each(sentence_start, "", recall_by_curve, names, given_text_by_curve=span_by_curve)


def _mark_tenths(canvas: Canvas, tenth_by_curve: dict[int, _Tenth]) -> bool:
    """Mark the recall of each curve at a tenth of the cases; return whether any is marked."""
    channels = canvas.channels
    n_colors = len(channels.color.labels) if channels.color else 1
    if len(tenth_by_curve) > _MOST_POINTS or n_colors > _MOST_LABELS:
        return False
    recalls = [tenth.recall for tenth in tenth_by_curve.values()]
    recall_texts = say_shares(recalls) if len(recalls) <= 12 else [*map(say_share, recalls)]
    for (curve_number, tenth), recall_text in zip(tenth_by_curve.items(), recall_texts, strict=True):
        label = join_value(tenth.text or recall_text, tenth.span)
        budget_text = f"{'at most ' if tenth.span else ''}a tenth of the cases flagged"
        mark_text = f"{budget_text}: recall {label}, lift {tenth.recall / _TENTH:.3g}"
        if tenth.alerted is None:  # no number without its doubt
            label, mark_text = "", "a tenth of the cases flagged"
        canvas.mark(curve_number, tenth.alerted or _TENTH, tenth.recall, mark_text, label)
    return bool(tenth_by_curve)


def _say_alerted(point: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: at each share of cases the lowest threshold that fits into it."""
    lift_text = f", lift {point['recall'] / point['alerted']:.3g}" if point["alerted"] else ""
    recall_text = f"recall {say_share(point['recall'])}"
    return f"up to {say_share(point['at'])}", f"{recall_text}{lift_text}{add_threshold(point)}"


@hint_at_arguments
def prg_curve(
    table: pl.DataFrame,
    *,
    ranking: pl.DataFrame | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Precision-recall-gain curves (Flach and Kull 2015) from the table of `curve`, in any row order.

    Lines are straight from point to point, as in a ROC curve. A curve starts at recall gain 0, where
    recall is eta, which may be between two thresholds. Points to the left of that are outside, as are
    points below precision gain 0, which are worse than chance. The note gives their number. Of one
    prevalence the ticks are precision and recall, at the places of their gains. Where fewer than 1 in
    10 are positive, lines lie in a corner. Then both axes are logarithmic in the distance to 100%, and
    that of recall gain begins near a recall of 10% of the most common positives; 100% is at their ends.

    Parameters
    ----------
    table
        What `curve` returns, with any metrics: gains follow from recall, fpr and eta.
    ranking, color, facet, title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = prg_curve(df.prc.curve(eta=0.1, metrics=("precision_gain", "recall_gain")))
    >>> chart.to_dict()["title"]["text"]
    ['With 2 positives, a measured recall of 50%', 'could really be anything from 2.7% to 91%']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = add_order(_add_precision(read_sweep("prg_curve", table)), "prg_curve", ranking)
    etas = curves.curve_rows["eta"]
    is_log = bool(((etas > 0) & (etas < _CORNER_BELOW)).any())
    channels = choose_channels(curves, color, facet, _read_gains(find_half(curves)))
    low, top_eta = 0.0, cast("float", etas.max())
    if is_log and top_eta < 1:  # log axes have the last 90% of recall, of the most common positives
        low = max(0.0, 1 - top_eta * (1 / _STARTS_AT - 1) / (1 - top_eta))
    marks = _mark_half_gains(curves, channels)
    worst_rest = max([1.0, *(1.2 - 1.2 * mark["precision_gain"] for mark in marks.records)])
    points, ends, n_left, n_worse = _build_gains(curves, low, worst_rest, is_log=is_log)
    odds = top_eta / (1 - top_eta) if etas.n_unique() == 1 and 0 < top_eta < 1 else None
    x, y = _build_axes(ends, (1 - low, worst_rest), odds, is_log=is_log)
    canvas = Canvas(curves, channels, ChartSpec(x, y, "linear", width=0.8, height=0.88), size)
    canvas.draw_level([1.0 if is_log else 0.0] * len(etas) if worst_rest > 1 else [], "at random")
    scale_text = "points may be joined by straight lines and areas averaged"
    if is_log:  # the rest of a gain is proportional to the odds against a positive
        spacing = "spaced by log odds" if odds else "logarithmic in the distance to 100%"
        scale_text = f"axes are {spacing}; 100% is at their ends"
    chart = CurveChart(
        canvas,
        lines=points,
        rows=points.filter(pl.col("made").not_()),
        height=pl.col("precision_gain"),
        reads="backward" if is_log else "forward",
        say_row=partial(_say_row, odds, is_log=is_log),
        subtitle="Precision by recall, spaced by gain over flagging every case",
        title="Precision gain and recall gain",
        say=partial(say_half, channels),
        note=[
            "" if odds else "Gains: 0% is flagging every case, 100% no missed positive or no false one",
            start_sentence(scale_text),
            *_describe_start(etas, low),
            _describe_outside(n_left, n_worse, low),
            note_few_false_alerts(curves, channels),
        ],
        marks=marks,
        label_marks=partial(_say_marks, odds),
    )
    return chart.draw(title)


def _add_precision(curves: ChartCurves) -> ChartCurves:
    """Return the curves with the precision of each point, which a table may lack."""
    etas = curves.curve_rows.select("curve", "eta")
    points = curves.points.join(etas, on="curve", maintain_order="left")
    values = precision(*map(pl.col, ("recall", "fpr", "eta")))
    return replace(curves, points=points.with_columns(precision=values).drop("eta"))


def _read_share(rest: float, odds: float | None) -> float:
    """Return the precision, or recall, whose gain lacks `rest` to 100%; without odds that gain."""
    return 1 - rest if odds is None else odds / (odds + rest)


def _say_marks(odds: float | None, gains: list[float], say_group: SayShares) -> list[str]:
    """Return the precision of points; of several prevalences it is in the title."""
    if odds is None:
        return [""] * len(gains)
    return say_group([_read_share(1 - gain, odds) for gain in gains])


def _read_gains(points: pl.DataFrame) -> dict[int, float]:
    """Return the precision gain of each curve at its point, the same at every prevalence."""
    return dict(points.select("curve", 1 - pl.col("fpr") / pl.col("recall")).rows())


def _mark_half_gains(curves: ChartCurves, channels: Channels) -> MarkedPoints:
    """Return the points of half recall with both of their gains, where these are on the axes."""
    marks = mark_halves(curves, channels, _MOST_LABELS)
    etas = dict(curves.curve_rows.select("curve", "eta").rows())
    records = []
    for record in marks.records:
        eta, recall, fpr = etas[record["curve"]], record["recall"], record["fpr"]
        if 0 < eta <= _HALF:
            recall_gain = 1 - eta / (1 - eta) * (1 - recall) / recall
            records.append(record | {"recall_gain": recall_gain, "precision_gain": 1 - fpr / recall})
    return replace(marks, records=records)


def _say_row(odds: float | None, point: dict[str, Any], *, is_log: bool) -> tuple[str, str]:
    """Return what the pointer reads: at each recall, or its gain, the next threshold to the right."""
    rest = min(point["at"] if is_log else 1 - point["at"], 1)
    precision_text = say_share(_read_share(1 - point["precision_gain"], odds))
    value_text = f"{precision_text}, recall {say_share(point['recall'])}{add_threshold(point)}"
    return f"at least {say_share(_read_share(rest, odds))}", value_text


def _build_axes(
    ends: Sequence[float], widest_rests: tuple[float, float], odds: float | None, *, is_log: bool
) -> tuple[ChartAxis, ChartAxis]:
    """Return the axes of recall gain and precision gain; logarithmic ones have ends that are 100%."""
    axes = []
    for number, (name, high) in enumerate(zip(("Recall", "Precision"), widest_rests, strict=True)):
        title, field = f"{name} gain" if odds is None else name, _RESTS[number]
        axis = ChartAxis(_FIELDS[number], title, 1 - high, 1.0)
        if is_log:
            low = min(ends[number], 0.1 * high)
            look: dict[str, Any] = {"words": "rest", "is_log": True, "is_reversed": True}
            axis = ChartAxis(field, title, low, high, rate=_FIELDS[number], **look)
        axes.append(_add_ticks(axis, odds) if is_log or odds is not None else axis)
    return axes[0], axes[1]


def _add_ticks(axis: ChartAxis, odds: float | None) -> ChartAxis:
    """Return the axis with ticks of precision, or recall, at the places of their gains.

    Without odds ticks are gains. A logarithmic axis has 100% at its end.
    """
    share_of_tick = {round_digits(axis.low): 1.0} if axis.is_log else {}
    chance_share = 0.0 if odds is None else odds / (1 + odds)
    for share in [chance_share, 1.0, *_SHARES]:  # chance has the first one
        gain = share if odds is None else 1 - odds * (1 - share) / share
        place = axis.place(tick := axis.measure(gain))
        has_room = all(abs(place - axis.place(other)) >= _TICK_GAP for other in share_of_tick)
        if axis.holds(tick) and has_room:
            share_of_tick[round_digits(tick)] = share
    names = tuple(say_target(float(f"{share:.9g}")) for share in share_of_tick.values())
    return replace(axis, ticks=tuple(share_of_tick), tick_names=names)


def _describe_outside(n_left_points: int, n_worse_points: int, low_gain: float) -> str:
    """Return how many points are not drawn, and why; empty if all are."""
    reason = "left of the axis" if low_gain > 0 else "with recall below the prevalence"
    n_by_reason = {reason: n_left_points, "below the axis": n_worse_points}
    clauses = [
        f"{add_noun(format_count(n), 'point')} {reason}" for reason, n in n_by_reason.items() if n
    ]
    return f"Not shown: {'; '.join(clauses)}" if clauses else ""


def _describe_start(etas: pl.Series, low_gain: float) -> list[str]:
    """Return where the axis begins, if that is not at recall gain 0."""
    if low_gain == 0:
        return []
    start_recalls = etas.to_frame().select(start=_find_start(pl.col("eta"), low_gain))["start"].sort()
    or_less = "" if start_recalls[0] == start_recalls[-1] else " or less"
    return [f"The axis begins at a recall of {say_share(start_recalls[-1])}{or_less}"]


def _find_start(eta: pl.Expr, low_gain: float) -> pl.Expr:
    """Return the recall at which recall gain is `low_gain`; eta if that is 0."""
    return eta / (eta + (1 - low_gain) * (1 - eta)) if low_gain > 0 else eta


def _build_gains(
    curves: ChartCurves, low_gain: float, worst_rest: float, *, is_log: bool
) -> tuple[pl.DataFrame, list[float], int, int]:
    """Return the points of each curve from a recall gain of `low_gain` on, down to a foot."""
    # With them come the ends of logarithmic axes, the number of points to the left, and of those worse
    # than chance. Precision gain is 1 - fpr / recall at every eta. For logarithmic axes there are points
    # between, since lines bend there.
    eta, recall, fpr = (pl.col(name) for name in ("eta", "recall", "fpr"))
    points = points_to_draw.start_at_origin(doubt_of_points.find_few_false_alerts(curves.points))
    etas = curves.curve_rows.select("curve", "eta").filter((eta > 0) & (eta < 1))
    points = points.join(etas, on="curve", maintain_order="left")
    recall_before, fpr_before = (rate_expr.shift(1).over("curve") for rate_expr in (recall, fpr))
    points = points.with_columns(start=_find_start(eta, low_gain))
    start_recall = pl.col("start")
    # A curve enters on the straight ROC line that crosses this recall.
    is_entry = (recall >= start_recall) & (recall_before < start_recall)
    share_of_way = (start_recall - recall_before) / (recall - recall_before)
    entry_points = points.with_columns(on_axis=fpr_before + share_of_way * (fpr - fpr_before))
    entry_points = entry_points.filter(is_entry).select("curve", "eta", recall="start", fpr="on_axis")
    inside_points = points.filter(~pl.col("made") & (recall >= start_recall)).drop("start")
    n_left = points.filter(~pl.col("made") & (recall < start_recall)).height
    corner_points = points_to_draw.prepend_made(entry_points, inside_points.drop("made"))
    if is_log:
        least_fpr: Any = corner_points.filter(fpr > 0)["fpr"].min() or 1.0
        added_fprs = [grid_fpr for power in range(241) if (grid_fpr := 10 ** (-power / 20)) > least_fpr]
        corner_points = points_to_draw.bend_for_log_axis(corner_points, added_fprs)
        corner_points = corner_points.with_columns(eta.forward_fill().over("curve"))
    else:
        corner_points = points_to_draw.drop_straight_points(corner_points)
    recall_rest = eta / (1 - eta) * (1 - recall) / recall
    rest_points = corner_points.with_columns(recall_rest=recall_rest, precision_rest=fpr / recall)
    ends = _find_ends(rest_points)
    gains = ((1 - pl.col(rest)).alias(gain) for gain, rest in zip(_FIELDS, _RESTS, strict=True))
    end_exprs = map(pl.max_horizontal, _RESTS, ends) if is_log else []
    rest_points = rest_points.with_columns(*gains, *end_exprs)
    x_field, y_field = (fields[is_log] for fields in zip(_FIELDS, _RESTS, strict=True))
    y_foot = pl.lit(worst_rest if is_log else 1 - worst_rest)
    cut_points = points_to_draw.cut_below(
        rest_points, x_field, y_field, worst_rest - fpr / recall, y_foot
    )
    cut_points = cut_points.with_columns(pl.col("doubt").backward_fill().over("curve"))
    return cut_points, ends, n_left, inside_points.filter(fpr > worst_rest * recall).height


def _find_ends(rest_points: pl.DataFrame) -> list[float]:
    """Return the rests at the ends of logarithmic axes, half of the least ones: 100% is drawn there."""
    least_rests = rest_points.select(pl.col(field).filter(pl.col(field) > 0).min() for field in _RESTS)
    return [0.5 * least if least else 0.05 for least in least_rests.row(0)]
