"""Precision gain against recall gain, in which straight lines are exact and area counts."""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import channels_of
from polars_prcurve.charts.curves import Curves, read_sweep, said_eta, said_sizes
from polars_prcurve.charts.drawing import CHANCE, SWEPT, Chart, Look, Words, chart, part, share_axis
from polars_prcurve.charts.points import corners, from_origin, records, said_thinned, thinned, with_made
from polars_prcurve.charts.words import said_count

__all__ = ["prg_curve"]

_TOOLTIP = (
    *SWEPT,
    alt.Tooltip("recall_gain:Q", title="recall gain", format=".4~g"),
    alt.Tooltip("precision_gain:Q", title="precision gain", format=".4~g"),
    alt.Tooltip("prevalence:N"),
)


def prg_curve(
    table: pl.DataFrame,
    *,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Precision-recall-gain curves (Flach and Kull 2015) from the table of `curve`, in any row order.

    Straight from point to point, as the ROC curve is. A curve starts where recall is eta, at
    recall gain 0, if need be between two thresholds. What lies left of that or, worse than chance,
    below precision gain 0 is outside; the subtitle says how many points are.

    Parameters
    ----------
    table
        What `curve` returns, with whatever metrics: gains follow from recall, fpr and eta.
    color, facet
        As in `pr_curve`.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = prg_curve(df.prc.curve(eta=0.1, metrics=("precision_gain", "recall_gain")))
    >>> chart.to_dict()["title"]["text"]
    ['Precision-recall-gain curve']
    """
    curves = read_sweep("prg_curve", table)
    channels = channels_of(curves, color, facet)
    points, left, worse = _gains(curves)
    drawn = thinned(points, pl.col("recall_gain"), pl.col("precision_gain"))
    x = share_axis(alt.X, "recall_gain", "Recall gain")
    y = share_axis(alt.Y, "precision_gain", "Precision gain")
    chance = [
        {"precision_gain": 0, **place} for _, place in channels.places("chance", curves.each["eta"])
    ]
    look = Look(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=_TOOLTIP,
        below=(part(alt.Chart().mark_rule(**CHANCE).encode(y), "chance"),),
    )
    told = ["threshold", "tp", "fp", "recall", "prevalence", "test_set"]
    data = [*chance, *records(curves, channels, drawn, ["recall_gain", "precision_gain"], told)]
    outside = [f"{said_count(left)} of recall below eta"] if left else []
    outside += [f"{said_count(worse)} worse than chance"] if worse else []
    words = Words(
        title or "Precision-recall-gain curve",
        (
            *said_eta(curves),
            *([f"Points outside: {'; '.join(outside)}"] if outside else []),
            *said_sizes(curves),
        ),
        said_thinned(points, drawn),
    )
    return chart(look, data, channels, words)


def _gains(curves: Curves) -> tuple[pl.DataFrame, int, int]:
    """The points from recall eta on, how many are left of it, and how many are worse than chance.

    Precision gain is 1 - fpr / recall, whatever eta is.
    """
    eta, recall, fpr = (pl.col(name) for name in ("eta", "recall", "fpr"))
    points = from_origin(curves.rows).join(
        curves.each.select("curve", "eta"), on="curve", maintain_order="left"
    )
    points = points.filter((eta > 0) & (eta < 1))
    before, start = (rate.shift(1).over("curve") for rate in (recall, fpr))
    enters = (recall >= eta) & (before < eta)
    share = (eta - before) / (recall - before)
    first = points.with_columns(on_axis=start + share * (fpr - start)).filter(enters)
    first = first.select("curve", "eta", recall="eta", fpr="on_axis")
    inside = points.filter(~pl.col("made") & (recall >= eta))
    left = points.filter(~pl.col("made") & (recall < eta)).height
    kept = corners(with_made(first, inside.drop("made")))
    gained = kept.with_columns(
        recall_gain=1 - eta / (1 - eta) * (1 - recall) / recall, precision_gain=1 - fpr / recall
    )
    return _above(gained), left, inside.filter(fpr > recall).height


def _above(points: pl.DataFrame) -> pl.DataFrame:
    """Cut lines where they go below precision gain 0; points below lose it, which makes a gap."""
    gain, along = pl.col("precision_gain"), pl.col("recall_gain")
    points = points.with_row_index("place").with_columns(pl.col("place").cast(pl.Float64))
    before, start = (number.shift(1).over("curve") for number in (gain, along))
    on_axis = start + (along - start) * before / (before - gain)
    cut = points.with_columns(on_axis=on_axis, place=pl.col("place") - 0.5)
    cut = cut.filter((gain < 0) != (before < 0))
    cut = cut.select("curve", "place", recall_gain="on_axis", precision_gain=0.0, made=True)
    kept = points.with_columns(pl.when(gain >= 0).then(gain))
    return pl.concat([kept, cut], how="diagonal").sort("place")
