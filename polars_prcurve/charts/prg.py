"""The PRG curve: precision gain by recall gain, a scale on which straight lines are exact."""

from __future__ import annotations

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts
from polars_prcurve.charts.parts.chart_assembly import (
    CHANCE_STYLE,
    THRESHOLD_TOOLTIP,
    Chart,
    ChartSpec,
    ChartText,
    build_chart,
    build_share_axis,
    keep_part,
)
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    describe_eta,
    describe_sizes,
    read_sweep,
)
from polars_prcurve.charts.parts.colors_and_panels import read_channels
from polars_prcurve.charts.parts.number_formats import format_count
from polars_prcurve.charts.parts.points_to_draw import (
    build_records,
    describe_thinning,
    drop_straight_points,
    prepend_made,
    start_at_origin,
    thin_points,
)

_TOOLTIP = (
    *THRESHOLD_TOOLTIP,
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

    Lines are straight from point to point, as in a ROC curve. A curve starts at recall gain 0, where
    recall is eta, which may be between two thresholds. Points to the left of that are outside, as are
    points below precision gain 0, which are worse than chance. The subtitle gives their number.

    Parameters
    ----------
    table
        What `curve` returns, with any metrics: gains follow from recall, fpr and eta.
    color, facet
        As in `pr_curve`.
    title
        Replaces the chart's own title; the subtitle stays.

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
    check_texts(color=color, facet=facet, title=title)
    curves = read_sweep("prg_curve", table)
    channels = read_channels(curves, color, facet)
    points, left, worse = _build_gains(curves)
    drawn = thin_points(points, pl.col("recall_gain"), pl.col("precision_gain"))
    x = build_share_axis(alt.X, "recall_gain", "Recall gain")
    y = build_share_axis(alt.Y, "precision_gain", "Precision gain")
    chance = [
        {"precision_gain": 0, **place}
        for _, place in channels.repeat_in_panels("chance", curves.per_curve["eta"])
    ]
    spec = ChartSpec(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=_TOOLTIP,
        below=(keep_part(alt.Chart().mark_rule(**CHANCE_STYLE).encode(y), "chance"),),
    )
    fields = ["recall_gain", "precision_gain"]
    tooltip_fields = ["threshold", "tp", "fp", "recall", "prevalence", "test_set"]
    data = [*chance, *build_records(curves, channels, drawn, fields, tooltip_fields)]
    outside = [f"{format_count(left)} of recall below eta"] if left else []
    outside += [f"{format_count(worse)} worse than chance"] if worse else []
    text = ChartText(
        title or "Precision-recall-gain curve",
        (
            *describe_eta(curves),
            *([f"Points outside: {'; '.join(outside)}"] if outside else []),
            *describe_sizes(curves),
        ),
        describe_thinning(points, drawn),
    )
    return build_chart(spec, data, channels, text)


def _build_gains(curves: ChartCurves) -> tuple[pl.DataFrame, int, int]:
    """Return the points from recall eta on, the number to the left, and the number worse than chance.

    Precision gain is 1 - fpr / recall at every eta.
    """
    eta, recall, fpr = (pl.col(name) for name in ("eta", "recall", "fpr"))
    points = start_at_origin(curves.rows).join(
        curves.per_curve.select("curve", "eta"), on="curve", maintain_order="left"
    )
    points = points.filter((eta > 0) & (eta < 1))
    recall_before, fpr_before = (rate.shift(1).over("curve") for rate in (recall, fpr))
    # A curve enters on the straight ROC line that crosses recall = eta.
    enters = (recall >= eta) & (recall_before < eta)
    share = (eta - recall_before) / (recall - recall_before)
    first = points.with_columns(on_axis=fpr_before + share * (fpr - fpr_before)).filter(enters)
    first = first.select("curve", "eta", recall="eta", fpr="on_axis")
    inside = points.filter(~pl.col("made") & (recall >= eta))
    left = points.filter(~pl.col("made") & (recall < eta)).height
    corners = drop_straight_points(prepend_made(first, inside.drop("made")))
    gains = corners.with_columns(
        recall_gain=1 - eta / (1 - eta) * (1 - recall) / recall, precision_gain=1 - fpr / recall
    )
    return _cut_below_zero(gains), left, inside.filter(fpr > recall).height


def _cut_below_zero(points: pl.DataFrame) -> pl.DataFrame:
    """Cut lines where they cross precision gain 0; points below it get a null gain, which is a gap."""
    gain, x = pl.col("precision_gain"), pl.col("recall_gain")
    points = points.with_row_index("place").with_columns(pl.col("place").cast(pl.Float64))
    gain_before, x_before = (number.shift(1).over("curve") for number in (gain, x))
    on_axis = x_before + (x - x_before) * gain_before / (gain_before - gain)
    cuts = points.with_columns(on_axis=on_axis, place=pl.col("place") - 0.5)
    cuts = cuts.filter((gain < 0) != (gain_before < 0))
    cuts = cuts.select("curve", "place", recall_gain="on_axis", precision_gain=0.0, made=True)
    above = points.with_columns(pl.when(gain >= 0).then(gain))
    return pl.concat([above, cuts], how="diagonal").sort("place")
