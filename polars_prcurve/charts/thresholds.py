"""Precision, recall and alerts along the threshold."""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import channels_of
from polars_prcurve.charts.curves import read_sweep, said_eta, said_sizes
from polars_prcurve.charts.drawing import SWEPT, Chart, Look, Words, chart, log_axis, share_axis
from polars_prcurve.charts.points import records, said_thinned, thinned
from polars_prcurve.errors import PrcError

__all__ = ["threshold_curve"]

_TOOLTIP = (
    *SWEPT,
    alt.Tooltip("precision:Q", format=".4~g"),
    alt.Tooltip("alerts:Q", title="alerts per 1 000", format=".4~g"),
    alt.Tooltip("prevalence:N"),
)


def threshold_curve(
    table: pl.DataFrame,
    *,
    color: str | None = None,
    facet: str | None = None,
    title: str | None = None,
) -> Chart:
    """Precision, recall and alerts by threshold, from the table of `curve`, in any row order.

    Three charts above each other share the axis of thresholds, so that one threshold is read straight
    down. Alerts are those among 1 000 events at prevalence eta, 1000 * (eta * recall + (1 - eta) * fpr),
    on a log axis. Steps: a threshold between two scores does what the higher one does.

    Parameters
    ----------
    table
        What `curve` returns. With `drop_intermediate=True` or `thresholds=` it lacks thresholds, and
        steps are longer than they are.
    color, facet
        As in `pr_curve`.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    Three Altair charts, concatenated vertically.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = threshold_curve(df.prc.curve(eta=0.01))
    >>> [one["layer"][0]["encoding"]["y"]["title"] for one in chart.to_dict()["vconcat"]]
    ['Precision', 'Recall', 'Alerts per 1 000']
    """
    curves = read_sweep("threshold_curve", table, ["precision"])
    channels = channels_of(curves, color, facet)
    points = _along_threshold(curves.rows.join(curves.each.select("curve", "eta"), on="curve"))
    finite = points.filter(pl.col("x").is_finite())
    at = pl.col("x")
    drawn = thinned(finite, (at - at.min()) / (at.max() - at.min()), pl.col("precision"))
    least: float | None = finite.select(pl.col("alerts").min()).item()
    axes = (
        share_axis(alt.Y, "precision", "Precision"),
        share_axis(alt.Y, "recall", "Recall"),
        log_axis(alt.Y, "alerts", "Alerts per 1 000", min(least or 1.0, 100.0), 1000.0),
    )
    looks = [
        Look(x=x, y=y, interpolate="step-after", tooltip=_TOOLTIP, height=0.35)
        for x, y in zip((_x_axis(None), _x_axis(None), _x_axis("Threshold")), axes, strict=True)
    ]
    told = ["threshold", "tp", "fp", "prevalence", "test_set"]
    fields = ["x", "precision", "recall", "alerts"]
    lost = ["Not drawn: infinite thresholds"] if finite.height < points.height else []
    words = Words(
        title or "Precision, recall and alerts by threshold",
        (*said_eta(curves, ""), *said_sizes(curves), *lost),
        said_thinned(finite, drawn),
    )
    return chart(looks, list(records(curves, channels, drawn, fields, told)), channels, words)


def _x_axis(title: str | None) -> alt.X:
    return alt.X("x:Q", title=title, scale=alt.Scale(zero=False, nice=False))


def _along_threshold(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `x`, the threshold as a number, and alerts, where there are any."""
    if len(rows) and rows["threshold"].null_count():
        raise PrcError(
            "threshold_curve needs thresholds, and some are null; a table made with rates= has none: "
            "draw pr_curve or roc_curve from it"
        )
    rate = pl.col("eta") * pl.col("recall") + (1 - pl.col("eta")) * pl.col("fpr")
    alerts = pl.when(rate > 0).then(1000 * rate)
    return rows.with_columns(x=pl.col("threshold").cast(pl.Float64), alerts=alerts, made=False)
