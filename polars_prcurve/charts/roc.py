"""The ROC curve: recall by false positive rate, the same at every prevalence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts, read_flag, read_list, read_number
from polars_prcurve.charts.parts.chart_assembly import (
    CHANCE_STYLE,
    THRESHOLD_TOOLTIP,
    Chart,
    ChartSpec,
    ChartText,
    build_chart,
    build_log_axis,
    build_share_axis,
    keep_part,
)
from polars_prcurve.charts.parts.chart_curves import describe_sizes, read_sweep
from polars_prcurve.charts.parts.colors_and_panels import read_channels
from polars_prcurve.charts.parts.number_formats import format_share, round_digits
from polars_prcurve.charts.parts.points_to_draw import (
    bend_for_log_axis,
    build_records,
    describe_thinning,
    drop_straight_points,
    log_position,
    start_at_origin,
    thin_points,
)
from polars_prcurve.errors import PrcError

_LOG_STEPS = 100  # points on a line that is straight on a linear axis only


def roc_curve(
    table: pl.DataFrame,
    eta: float | None = None,
    *,
    log_x: bool = False,
    precisions: Sequence[float] = (0.1, 0.5, 0.9),
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """ROC curves from the table of `sweep` or of `curve`, in any row order.

    Lines are straight from point to point, from the origin: tied scores make a slope. Prevalence does
    not matter, so several eta in the table give one curve. The dashed line is chance, recall = fpr.

    Parameters
    ----------
    table
        What `sweep` or `curve` returns: the `by` columns, then the columns of `sweep`.
    eta
        A prevalence at which to show lines of equal precision: points of one precision lie on a line
        through the origin, `recall = fpr * precision * (1 - eta) / ((1 - precision) * eta)`.
    log_x
        A log axis for fpr, which gives room to the low fpr that matters if positives are rare. Fpr 0 is
        drawn at the left edge, half the smallest other fpr, and straight lines are curved.
    precisions
        The precisions of these lines.
    color, facet
        A `by` column. By default the first `by` column is colour and the others are panels. With more
        than 8 groups all are panels.
    title
        Replaces the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> roc_curve(df.prc.sweep()).to_dict()["title"]["text"]
    ['ROC curve']
    >>> chart = roc_curve(df.prc.sweep(), eta=0.25, precisions=(0.25, 0.5))
    >>> chart.to_dict()["title"]["subtitle"][1]
    'Grey: equal precision, 0.5, 0.25; at eta = 0.25 (1 in 4)'
    """
    check_texts(color=color, facet=facet, title=title)
    slopes = read_slopes(eta, precisions)
    curves = read_sweep("roc_curve", table, by_eta=False, made_by="sweep or curve")
    channels = read_channels(curves, color, facet)
    points = drop_straight_points(start_at_origin(curves.rows))
    edge = _find_left_edge(curves.rows, log_x)
    drawn = thin_points(points, log_position(edge) if log_x else pl.col("fpr"), pl.col("recall"))
    steps = [edge ** (1 - k / _LOG_STEPS) for k in range(_LOG_STEPS + 1)] if log_x else [0.0, 1.0]
    drawn = drop_straight_points(bend_for_log_axis(drawn, steps)) if log_x else drawn
    drawn = drawn.with_columns(pl.max_horizontal("fpr", pl.lit(edge)).alias("x"))
    places = [place for _, place in channels.repeat_in_panels("chance", [0] * len(curves.per_curve))]
    chance = [
        {"x": round_digits(step), "recall": round_digits(step), **place}
        for place in places
        for step in steps
    ]
    x, y = _build_fpr_axis(edge), build_share_axis(alt.Y, "recall", "Recall")
    below = alt.Chart().mark_line(**CHANCE_STYLE).encode(x, y, alt.Order("x:Q"))
    equal = _build_precision_lines(slopes, steps, [place | {"part": "equal"} for place in places])
    spec = ChartSpec(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=(*THRESHOLD_TOOLTIP, alt.Tooltip("fpr:Q", format=".4~g")),
        below=(keep_part(below, "chance"), *([_build_grey_lines(x, y)] if equal else [])),
        above=(_build_grey_labels(x, y),) if equal else (),
    )
    tooltip_fields = ["threshold", "tp", "fp", "fpr", "test_set"]
    data = [*chance, *equal, *build_records(curves, channels, drawn, ["x", "recall"], tooltip_fields)]
    text = ChartText(
        title or "ROC curve",
        (
            "The same at every prevalence; dashed: chance",
            *_describe_slopes(eta, slopes, edge),
            *describe_sizes(curves),
            *(["Fpr 0 is drawn at the left edge"] if log_x else []),
        ),
        describe_thinning(points, drawn),
    )
    return build_chart(spec, data, channels, text)


def _find_left_edge(rows: pl.DataFrame, log_x: bool) -> float:
    """Return half the smallest fpr above 0, the left end of a log axis; 0 for a linear one."""
    if not read_flag("log_x=", log_x):
        return 0.0
    least: float | None = rows.select(pl.col("fpr").filter(pl.col("fpr") > 0).min()).item()
    return min(0.1, least / 2) if least else 0.001


def _build_fpr_axis(edge: float) -> alt.X:
    title = "False positive rate"
    return build_log_axis(alt.X, "x", title, edge) if edge else build_share_axis(alt.X, "x", title)


# Lines of equal precision ---------------------------------------------------------------------


def read_slopes(eta: float | None, precisions: Sequence[float]) -> dict[float, float]:
    """Return the slope recall / fpr of each precision at eta, the highest precision first."""
    precisions = read_list("precisions=", precisions, "numbers between 0 and 1")
    if eta is None:
        return {}
    for name, share in (("eta", eta), *(("precisions", precision) for precision in precisions)):
        read_number(f"{name}=", share, "numbers between 0 and 1")
        if not 0 < share < 1:
            raise PrcError(f"{name}= of roc_curve lies between 0 and 1, both excluded; got {share!r}")
    return {p: p * (1 - eta) / ((1 - p) * eta) for p in sorted(set(precisions), reverse=True)}


def _build_precision_lines(
    slopes: dict[float, float], steps: list[float], places: list[dict[str, str]]
) -> list[dict[str, Any]]:
    """Return the records of a line per precision, up to the edge of the chart, and of its label."""
    records: list[dict[str, Any]] = []
    for number, (precision, slope) in enumerate(slopes.items()):
        end = min(1.0, 1 / slope)
        xs = [*(x for x in steps if x < end), end] if steps[0] < end else []
        label_x = max(steps[0], (0.95 - 0.1 * (number % 9)) * end)  # labels at different heights
        for place in places if xs else ():
            line = {**place, "equal": number}
            records += [{**line, "x": round_digits(x), "recall": round_digits(x * slope)} for x in xs]
            label = {**line, "part": "label", "words": f"PPV {precision:.4g}"}
            label |= {"x": round_digits(label_x), "recall": round_digits(label_x * slope)}
            records.append(label)
    return records


def _build_grey_lines(x: alt.X, y: alt.Y) -> alt.Chart:
    lines = alt.Chart().mark_line(color="#AAAAAA", strokeWidth=1)
    return keep_part(lines.encode(x, y, alt.Order("x:Q"), alt.Detail("equal:N")), "equal")


def _build_grey_labels(x: alt.X, y: alt.Y) -> alt.Chart:
    label = alt.Chart().mark_text(align="left", dx=4, fontSize=9, color="#555555")
    return keep_part(label.encode(x, y, alt.Text("words:N")), "label")


def _describe_slopes(eta: float | None, slopes: dict[float, float], edge: float) -> list[str]:
    """Return a line for the subtitle on the precisions that are drawn, and those left of the axis."""
    if eta is None or not slopes:
        return []
    outside = [f"{p:.4g}" for p, slope in slopes.items() if edge * slope >= 1]
    beyond = f"; left of the axis: {', '.join(outside)}" if outside else ""
    precisions = ", ".join(f"{p:.4g}" for p in slopes)
    return [f"Grey: equal precision, {precisions}; at eta = {format_share(eta)}{beyond}"]
