"""The live chart: ROC beside PR, with a slider for prevalence that moves only the PR curve."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.argument_kinds import check_texts, read_number
from polars_prcurve.charts.parts.chart_assembly import (
    CHANCE_STYLE,
    ChartText,
    attach_data,
    build_heading,
    build_share_axis,
    encode_colors,
    keep_part,
)
from polars_prcurve.charts.parts.chart_curves import ChartCurves, describe_sizes, read_sweep
from polars_prcurve.charts.parts.colors_and_panels import MAX_COLORS, Channels, read_channels
from polars_prcurve.charts.parts.points_to_draw import (
    build_records,
    build_steps,
    describe_thinning,
    drop_straight_points,
    keep_rises,
    start_at_origin,
    thin_points,
)
from polars_prcurve.errors import PrcError

_PANEL_SIZE = 300
_PIXEL_COLUMNS = 150  # a long curve is thinned in columns of two pixels
_MIN_LOG10_ETA = -6.0
_MAX_CURVES = 24
# Vega expressions: eta comes from the slider, and the odds of a point are fpr / recall.
_FPR = "datum.recall * datum.odds"
_PRECISION = "eta / (eta + datum.odds * (1 - eta))"
_ALERTS = "1000 * datum.recall * (eta + datum.odds * (1 - eta))"
_ONE_IN = "replace(format(1 / eta, ',.3~r'), regexp(',', 'g'), ' ')"
_ETA_TEXT = f"'Prevalence eta = ' + format(eta, '.3~g') + ' (1 in ' + {_ONE_IN} + ')'"
_READOUT_TEXT = (
    "(datum.color ? datum.color + ': ' : '') + 'threshold ' + datum.threshold"
    " + ', recall ' + format(datum.recall, '.3~f') + ', fpr ' + format(datum.fpr, '.3~g')"
    " + ', precision ' + format(datum.precision, '.3~g')"
    " + ', alerts per 1 000: ' + format(datum.alerts, '.3~g')"
)
_IS_FAINT = "length(pointed.curve || []) > 0 && indexof(pointed.curve, datum.curve) < 0"
_IS_POINTED_AT = (
    "pointed.curve && indexof(pointed.curve, datum.curve) >= 0"
    " && indexof(pointed.recall, datum.recall) >= 0"
)


def live(
    table: pl.DataFrame,
    eta: float | None = None,
    *,
    color: str | None = None,
    title: str | None = None,
) -> alt.VConcatChart:
    """ROC and PR curves from the table of `sweep`, with a slider for prevalence.

    The ROC curve stays where it is. The PR curve moves: the browser computes its precision,
    `eta / (eta + fpr / recall (1 - eta))`, and the data hold no prevalence. A line above the panels
    reads out the point next to the pointer, in either panel: threshold, recall, fpr, precision, and
    alerts per 1 000 events at that prevalence. The slider moves by mouse and by keyboard. With more than
    8 groups, colours repeat with dashes, and the groups that are not next to the pointer grow faint.

    Parameters
    ----------
    table
        What `sweep` returns: the `by` columns, then the columns of `sweep`.
    eta
        Where the slider starts. By default it starts at the prevalence of the test set, or at 0.01 if
        the table comes from published rates.
    color
        A `by` column. At most 24 groups.
    title
        Replaces the chart's own title; the subtitle stays.

    Returns
    -------
    Altair charts beside each other, under the line that is read out.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = live(df.prc.sweep(), eta=0.001).to_dict()
    >>> [(param["name"], param.get("value")) for param in chart["params"] if "bind" in param]
    [('log10_eta', -3.0)]
    """
    check_texts(color=color, title=title)
    check_start(eta)
    curves = read_sweep("live", table, by_eta=False, made_by="sweep")
    channels = read_channels(curves, color, None, _MAX_CURVES)
    if len(curves.per_curve) > _MAX_CURVES or channels.facet is not None:
        raise PrcError(
            f"live draws up to {_MAX_CURVES} groups of one column, in colours, and this table has "
            f"{len(curves.per_curve)}; filter it, or group by one column"
        )
    start = _read_start(curves, eta)
    data, thinning = _build_data(curves, channels)
    bind = alt.binding_range(min=_MIN_LOG10_ETA, max=0, step=0.01, name="log10 of prevalence eta ")
    slider = alt.param(name="log10_eta", value=start, bind=bind)
    share = alt.param(name="eta", expr="pow(10, log10_eta)")
    with warnings.catch_warnings():
        # Altair warns that one selection is in two panels, as it should be.
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        panels = alt.hconcat(_build_roc_panel(channels), _build_pr_panel(channels), spacing=24)
        whole: alt.VConcatChart = alt.vconcat(*_build_readout(), panels, spacing=4).add_params(
            slider, share
        )
    text = ChartText(
        title or "ROC and precision-recall curves",
        (
            "Move the slider: recall and fpr stay, precision follows; dashed: chance",
            *describe_sizes(curves),
        ),
        thinning,
    )
    return attach_data(whole.properties(**build_heading(text, width=2 * _PANEL_SIZE)), data)


def check_start(eta: float | None) -> None:
    """Raise unless eta is None or a prevalence at which the slider can start."""
    if eta is not None:
        expected = "where the slider starts, from 1e-6 to 1"
        read_number("eta=", eta, expected, lambda eta: 10**_MIN_LOG10_ETA <= eta <= 1)


def _read_start(curves: ChartCurves, eta: float | None) -> float:
    """Return where the slider starts, as log10 of a prevalence."""
    sizes = curves.per_curve.select("n_pos", "n_neg").drop_nulls().rows()
    n_pos, n_neg = sizes[0] if sizes and sizes[0][0] > 0 else (1, 99)
    start = n_pos / (n_pos + n_neg) if eta is None else eta
    return round(max(math.log10(start), _MIN_LOG10_ETA), 2)


def _build_data(curves: ChartCurves, channels: Channels) -> tuple[list[dict[str, Any]], str]:
    """Return the records of both panels, and how many points are drawn, as a text.

    The PR records hold recall and fpr / recall, from which both panels show the selected point.
    """
    odds = pl.col("fpr") / pl.col("recall")
    rises = keep_rises(curves.rows.with_columns(odds=odds, made=False).filter(pl.col("recall") > 0))
    pr = build_steps(thin_points(rises, pl.col("recall"), pl.col("odds"), _PIXEL_COLUMNS), "odds")
    bends = thin_points(
        drop_straight_points(curves.rows), pl.col("fpr"), pl.col("recall"), _PIXEL_COLUMNS
    )
    roc = start_at_origin(bends).with_columns(made=True)
    data = [row | {"part": "roc"} for row in build_records(curves, channels, roc, ["fpr", "recall"], [])]
    data += build_records(curves, channels, pr, ["recall", "odds"], ["threshold"])
    for row in data:
        del row["order"]  # recall and fpr rise along a curve, so they can order it
    return data, describe_thinning(rises, pr)


def _build_selection() -> alt.Parameter:
    """Return the selection of the point next to the pointer, by its curve and recall."""
    return alt.selection_point(
        name="pointed", nearest=True, on="pointerover", fields=["curve", "recall"], empty=False
    )


def _build_hover_points() -> alt.Chart:
    """Return a chart of the points that the pointer can select, with their fpr and precision."""
    points = alt.Chart().transform_filter("datum.hover === 1")
    return points.transform_calculate(fpr=_FPR, precision=_PRECISION)


def _build_hover_layers(x: alt.X, y: alt.Y, channels: Channels, name: str) -> list[alt.Chart]:
    """Return two layers: unseen points that the pointer can select, and the selected point."""
    color = _encode_colors(channels)[:1]
    targets = (
        _build_hover_points()
        .mark_point(opacity=0, size=60, aria=False)
        .encode(x, y)
        .properties(name=name)
    )
    selected = _build_hover_points().mark_point(filled=True, opacity=1, size=70).encode(x, y, *color)
    return [targets.add_params(_build_selection()), selected.transform_filter(_IS_POINTED_AT)]


def _encode_colors(channels: Channels) -> list[Any]:
    return encode_colors(channels.color) if channels.color else []


def _build_line(
    x: alt.X, y: alt.Y, channels: Channels, interpolate: Literal["linear", "step-before"]
) -> alt.Chart:
    """Return the layer of curves; if colours repeat, curves without the selected point grow faint."""
    line: alt.Chart = alt.Chart().mark_line(interpolate=interpolate, strokeWidth=1.8)
    line = line.encode(x, y, alt.Detail("curve:N"), *_encode_colors(channels))
    if channels.color and len(channels.color.labels) > MAX_COLORS:
        line = line.encode(opacity=alt.when(_IS_FAINT).then(alt.value(0.2)).otherwise(alt.value(1)))
    return line


def _build_roc_panel(channels: Channels) -> alt.LayerChart:
    x, y = (
        build_share_axis(alt.X, "fpr", "False positive rate"),
        build_share_axis(alt.Y, "recall", "Recall"),
    )
    ends = alt.Chart(alt.InlineData(values=[{"fpr": 0, "recall": 0}, {"fpr": 1, "recall": 1}]))
    line = keep_part(_build_line(x, y, channels, "linear").encode(alt.Order("along:Q")), "roc")
    line = line.transform_calculate(along="datum.fpr + datum.recall")
    layers = [
        ends.mark_line(**CHANCE_STYLE).encode(x, y),
        line,
        *_build_hover_layers(x, y, channels, "roc"),
    ]
    return alt.LayerChart(layer=layers, width=_PANEL_SIZE, height=_PANEL_SIZE)


def _build_pr_panel(channels: Channels) -> alt.LayerChart:
    x, y = build_share_axis(alt.X, "recall", "Recall"), build_share_axis(alt.Y, "precision", "Precision")
    level = alt.Chart(alt.InlineData(values=[{}])).mark_rule(**CHANCE_STYLE).encode(y)
    line = keep_part(_build_line(x, y, channels, "step-before").encode(alt.Order("recall:Q")), "curve")
    line = line.transform_calculate(precision=_PRECISION)
    layers = [
        level.transform_calculate(precision="eta"),
        line,
        *_build_hover_layers(x, y, channels, "pr"),
    ]
    return alt.LayerChart(layer=layers, width=_PANEL_SIZE, height=_PANEL_SIZE)


def _build_readout() -> list[alt.Chart]:
    """Return two lines of text: the prevalence, and the selected point."""
    left: dict[str, Any] = {"align": "left", "baseline": "middle"}
    one = alt.Chart(alt.InlineData(values=[{}])).transform_calculate(said=_ETA_TEXT)
    eta = one.mark_text(**left, fontSize=14, fontWeight="bold")
    eta = eta.encode(x=alt.value(0), y=alt.value(9), text="said:N").properties(
        width=2 * _PANEL_SIZE, height=18
    )
    point = _build_hover_points().transform_filter(_IS_POINTED_AT).transform_calculate(alerts=_ALERTS)
    point = point.transform_calculate(said=_READOUT_TEXT).mark_text(**left, fontSize=12)
    point = point.encode(x=alt.value(0), y=alt.value(8), text="said:N")
    bare = alt.ViewBackground(stroke=None)
    return [eta.properties(view=bare), point.properties(width=2 * _PANEL_SIZE, height=16, view=bare)]
