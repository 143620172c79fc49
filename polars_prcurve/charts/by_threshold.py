"""The chart of precision, recall and alerts by threshold."""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts
from polars_prcurve.charts.parts.chart_assembly import (
    THRESHOLD_TOOLTIP,
    Chart,
    ChartSpec,
    ChartText,
    build_chart,
    build_log_axis,
    build_share_axis,
)
from polars_prcurve.charts.parts.chart_curves import describe_eta, describe_sizes, read_sweep
from polars_prcurve.charts.parts.colors_and_panels import read_channels
from polars_prcurve.charts.parts.points_to_draw import build_records, describe_thinning, thin_points
from polars_prcurve.errors import PrcError

_TOOLTIP = (
    *THRESHOLD_TOOLTIP,
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

    Three charts above each other share the axis of thresholds, so that you can read a threshold straight
    down. Alerts are among 1 000 events at prevalence eta, 1000 * (eta * recall + (1 - eta) * fpr), on a
    log axis. Lines are steps: a threshold between two scores flags what the higher score flags.

    Parameters
    ----------
    table
        What `curve` returns. A table made with `drop_intermediate=True` or `thresholds=` lacks
        thresholds, and some of its steps are too long.
    color, facet
        As in `pr_curve`.
    title
        Replaces the chart's own title; the subtitle stays.

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
    check_texts(color=color, facet=facet, title=title)
    curves = read_sweep("threshold_curve", table, ["precision"])
    channels = read_channels(curves, color, facet)
    points = _with_x_and_alerts(curves.rows.join(curves.per_curve.select("curve", "eta"), on="curve"))
    finite = points.filter(pl.col("x").is_finite())
    x = pl.col("x")
    drawn = thin_points(finite, (x - x.min()) / (x.max() - x.min()), pl.col("precision"))
    least: float | None = finite.select(pl.col("alerts").min()).item()
    axes = (
        build_share_axis(alt.Y, "precision", "Precision"),
        build_share_axis(alt.Y, "recall", "Recall"),
        build_log_axis(alt.Y, "alerts", "Alerts per 1 000", min(least or 1.0, 100.0), 1000.0),
    )
    specs = [
        ChartSpec(x=_build_x_axis(x_title), y=y, interpolate="step-after", tooltip=_TOOLTIP, height=0.35)
        for x_title, y in zip((None, None, "Threshold"), axes, strict=True)
    ]
    fields = ["x", "precision", "recall", "alerts"]
    tooltip_fields = ["threshold", "tp", "fp", "prevalence", "test_set"]
    data = list(build_records(curves, channels, drawn, fields, tooltip_fields))
    not_drawn = ["Not drawn: infinite thresholds"] if finite.height < points.height else []
    text = ChartText(
        title or "Precision, recall and alerts by threshold",
        (*describe_eta(curves, ""), *describe_sizes(curves), *not_drawn),
        describe_thinning(finite, drawn),
    )
    return build_chart(specs, data, channels, text)


def _build_x_axis(title: str | None) -> alt.X:
    return alt.X("x:Q", title=title, scale=alt.Scale(zero=False, nice=False))


def _with_x_and_alerts(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `x`, the threshold as a float, and `alerts`, null in place of 0, which no log axis shows."""
    if len(rows) and rows["threshold"].null_count():
        raise PrcError(
            "threshold_curve needs thresholds, and some are null; a table made with rates= has none: "
            "draw pr_curve or roc_curve from it"
        )
    rate = pl.col("eta") * pl.col("recall") + (1 - pl.col("eta")) * pl.col("fpr")
    alerts = pl.when(rate > 0).then(1000 * rate)
    return rows.with_columns(x=pl.col("threshold").cast(pl.Float64), alerts=alerts, made=False)
