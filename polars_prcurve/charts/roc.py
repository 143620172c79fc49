"""Recall against false positive rate, which no prevalence changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import channels_of
from polars_prcurve.charts.curves import read_sweep, said_sizes
from polars_prcurve.charts.drawing import (
    CHANCE,
    SWEPT,
    Chart,
    Look,
    Words,
    chart,
    log_axis,
    part,
    share_axis,
)
from polars_prcurve.charts.points import (
    bent,
    corners,
    from_origin,
    place_on_log,
    records,
    said_thinned,
    thinned,
)
from polars_prcurve.charts.words import rounded, said_share
from polars_prcurve.errors import PrcError

__all__ = ["roc_curve"]

_LOG_STEPS = 100  # points on a line that is straight on a linear axis only


def roc_curve(
    table: pl.DataFrame,
    *,
    log_x: bool = False,
    eta: float | None = None,
    precisions: Sequence[float] = (0.1, 0.5, 0.9),
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """ROC curves from the table of `sweep` or of `curve`, in any row order.

    Straight from point to point, from the origin: tied scores make a slope. Prevalence has no
    part in it, so several eta in the table are one curve. The dashed line is chance,
    recall = fpr.

    Parameters
    ----------
    table
        What `sweep` or `curve` returns: the `by` columns, then the columns of `sweep`.
    log_x
        A log axis for fpr, where rare positives are decided. Fpr 0 is drawn at the left edge,
        which is half the smallest other fpr, and straight lines bend as the axis does.
    eta
        A prevalence at which to show lines of equal precision: points of one precision lie on a line
        through the origin, `recall = fpr * precision * (1 - eta) / ((1 - precision) * eta)`.
    precisions
        Which precisions these lines have.
    color, facet
        A `by` column. Left out: the first is colour and the others are panels; of more than 8
        groups all are panels.
    title
        In place of the chart's own title; the subtitle stays.

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
    slopes = _slopes(eta, precisions)
    curves = read_sweep("roc_curve", table, by_eta=False, made_by="sweep or curve")
    channels = channels_of(curves, color, facet)
    points = corners(from_origin(curves.rows))
    edge = _left_edge(curves.rows) if log_x else 0.0
    drawn = thinned(points, place_on_log(edge) if log_x else pl.col("fpr"), pl.col("recall"))
    steps = [edge ** (1 - k / _LOG_STEPS) for k in range(_LOG_STEPS + 1)] if log_x else [0.0, 1.0]
    drawn = corners(bent(drawn, steps)) if log_x else drawn
    drawn = drawn.with_columns(pl.max_horizontal("fpr", pl.lit(edge)).alias("x"))
    places = [place for _, place in channels.places("chance", [0] * len(curves.each))]
    chance = [{"x": rounded(at), "recall": rounded(at), **place} for place in places for at in steps]
    x, y = _fpr_axis(edge), share_axis(alt.Y, "recall", "Recall")
    below = alt.Chart().mark_line(**CHANCE).encode(x, y, alt.Order("x:Q"))
    equal = _equal_precision(slopes, steps, [place | {"part": "equal"} for place in places])
    look = Look(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=(*SWEPT, alt.Tooltip("fpr:Q", format=".4~g")),
        below=(part(below, "chance"), *([_grey_lines(x, y)] if equal else [])),
        above=(_grey_labels(x, y),) if equal else (),
    )
    told = ["threshold", "tp", "fp", "fpr", "test_set"]
    data = [*chance, *equal, *records(curves, channels, drawn, ["x", "recall"], told)]
    at_edge = ["Fpr 0 is drawn at the left edge"] if log_x else []
    words = Words(
        title or "ROC curve",
        (
            "The same at every prevalence; dashed: chance",
            *_said_slopes(eta, slopes, edge),
            *said_sizes(curves),
            *at_edge,
        ),
        said_thinned(points, drawn),
    )
    return chart(look, data, channels, words)


def _left_edge(rows: pl.DataFrame) -> float:
    """Half the smallest fpr above 0, so that 0 has a place of its own."""
    low: float | None = rows.select(pl.col("fpr").filter(pl.col("fpr") > 0).min()).item()
    return min(0.1, low / 2) if low else 0.001


def _fpr_axis(edge: float) -> alt.X:
    title = "False positive rate"
    return log_axis(alt.X, "x", title, edge) if edge else share_axis(alt.X, "x", title)


# Lines of equal precision ---------------------------------------------------------------------


def _slopes(eta: float | None, precisions: Sequence[float]) -> dict[float, float]:
    """recall / fpr of each precision, the highest first."""
    if eta is None:
        return {}
    for name, share in (("eta", eta), *(("precisions", precision) for precision in precisions)):
        if not 0 < share < 1:
            raise PrcError(f"{name}= of roc_curve lies between 0 and 1, both excluded; got {share!r}")
    return {p: p * (1 - eta) / ((1 - p) * eta) for p in sorted(set(precisions), reverse=True)}


def _equal_precision(
    slopes: dict[float, float], steps: list[float], places: list[dict[str, str]]
) -> list[dict[str, Any]]:
    """A line for each, up to where it leaves the chart, and its label, each at a height of its own."""
    found: list[dict[str, Any]] = []
    for number, (precision, slope) in enumerate(slopes.items()):
        end = min(1.0, 1 / slope)
        xs = [*(x for x in steps if x < end), end] if steps[0] < end else []
        at = max(steps[0], (0.95 - 0.1 * (number % 9)) * end)
        for place in places if xs else ():
            line = {**place, "equal": number}
            found += [{**line, "x": rounded(x), "recall": rounded(x * slope)} for x in xs]
            label = {**line, "part": "label", "words": f"PPV {precision:.4g}"}
            found.append({**label, "x": rounded(at), "recall": rounded(at * slope)})
    return found


def _grey_lines(x: alt.X, y: alt.Y) -> alt.Chart:
    lines = alt.Chart().mark_line(color="#AAAAAA", strokeWidth=1)
    return part(lines.encode(x, y, alt.Order("x:Q"), alt.Detail("equal:N")), "equal")


def _grey_labels(x: alt.X, y: alt.Y) -> alt.Chart:
    label = alt.Chart().mark_text(align="left", dx=4, fontSize=9, color="#555555")
    return part(label.encode(x, y, alt.Text("words:N")), "label")


def _said_slopes(eta: float | None, slopes: dict[float, float], edge: float) -> list[str]:
    if eta is None or not slopes:
        return []
    outside = [f"{p:.4g}" for p, slope in slopes.items() if edge * slope >= 1]
    beyond = f"; left of the axis: {', '.join(outside)}" if outside else ""
    said = ", ".join(f"{p:.4g}" for p in slopes)
    return [f"Grey: equal precision, {said}; at eta = {said_share(eta)}{beyond}"]
