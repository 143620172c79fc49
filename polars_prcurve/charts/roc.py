"""Recall against false positive rate, which no prevalence changes."""

from __future__ import annotations

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
from polars_prcurve.charts.words import rounded

__all__ = ["roc_curve"]

_LOG_STEPS = 100  # points on a line that is straight on a linear axis only


def roc_curve(
    table: pl.DataFrame,
    *,
    log_x: bool = False,
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
    """
    curves = read_sweep("roc_curve", table)
    channels = channels_of(curves, color, facet)
    points = corners(from_origin(curves.rows))
    edge = _left_edge(curves.rows) if log_x else 0.0
    drawn = thinned(points, place_on_log(edge) if log_x else pl.col("fpr"), pl.col("recall"))
    steps = [edge ** (1 - k / _LOG_STEPS) for k in range(_LOG_STEPS + 1)] if log_x else [0.0, 1.0]
    drawn = corners(bent(drawn, steps)) if log_x else drawn
    drawn = drawn.with_columns(pl.max_horizontal("fpr", pl.lit(edge)).alias("x"))
    chance = [
        {"x": rounded(at), "recall": rounded(at), **place}
        for _, place in channels.places("chance", [0] * len(curves.each))
        for at in steps
    ]
    x, y = _fpr_axis(edge), share_axis(alt.Y, "recall", "Recall")
    below = alt.Chart().mark_line(**CHANCE).encode(x, y, alt.Order("x:Q"))
    look = Look(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=(*SWEPT, alt.Tooltip("fpr:Q", format=".4~g")),
        below=(part(below, "chance"),),
    )
    told = ["threshold", "tp", "fp", "fpr", "test_set"]
    data = [*chance, *records(curves, channels, drawn, ["x", "recall"], told)]
    at_edge = ["Fpr 0 is drawn at the left edge"] if log_x else []
    words = Words(
        title or "ROC curve",
        ("The same at every prevalence; dashed: chance", *said_sizes(curves), *at_edge),
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
