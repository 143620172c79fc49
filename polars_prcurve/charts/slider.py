"""ROC beside PR, with a slider for prevalence: one curve stays, the other moves."""

from __future__ import annotations

import math
import warnings
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import MOST_COLORS, Channels, channels_of
from polars_prcurve.charts.curves import Curves, read_sweep, said_sizes
from polars_prcurve.charts.drawing import CHANCE, Words, head, part, shades, share_axis, with_data
from polars_prcurve.charts.points import (
    corners,
    from_origin,
    records,
    risen,
    said_thinned,
    steps,
    thinned,
)
from polars_prcurve.errors import PrcError

__all__ = ["live"]

_SIZE = 300
_COLUMNS = 150  # of two pixels, in which a long curve is thinned
_LEAST = -6.0
_MOST_CURVES = 24
_FPR = "datum.recall * datum.odds"
_PRECISION = "eta / (eta + datum.odds * (1 - eta))"
_ALERTS = "1000 * datum.recall * (eta + datum.odds * (1 - eta))"
_ONE_IN = "replace(format(1 / eta, ',.3~r'), regexp(',', 'g'), ' ')"
_ETA = f"'Prevalence eta = ' + format(eta, '.3~g') + ' (1 in ' + {_ONE_IN} + ')'"
_READ = (
    "(datum.color ? datum.color + ': ' : '') + 'threshold ' + datum.threshold"
    " + ', recall ' + format(datum.recall, '.3~f') + ', fpr ' + format(datum.fpr, '.3~g')"
    " + ', precision ' + format(datum.precision, '.3~g')"
    " + ', alerts per 1 000: ' + format(datum.alerts, '.3~g')"
)


def live(
    table: pl.DataFrame,
    *,
    eta: float | None = None,
    color: str | None = None,
    title: str | None = None,
) -> alt.VConcatChart:
    """ROC and PR curves from the table of `sweep`, with a slider for prevalence.

    The ROC curve stays where it is; the PR curve moves, since its precision is computed in the
    browser, `eta / (eta + fpr / recall (1 - eta))`. The data hold no prevalence. What the pointer
    is next to in either panel is read out above both: threshold, recall, fpr, precision, and alerts
    per 1 000 events at that prevalence. The slider goes by mouse and by keyboard. Of more
    than 8 groups, for which colours come again with dashes, the others grow faint.

    Parameters
    ----------
    table
        What `sweep` returns: the `by` columns, then the columns of `sweep`.
    eta
        Where the slider starts; else at the prevalence of the test set, or at 0.01 for rates.
    color
        A `by` column. At most 24 groups.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    Altair charts beside each other, under what is read out.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = live(df.prc.sweep(), eta=0.001).to_dict()
    >>> [(param["name"], param.get("value")) for param in chart["params"] if "bind" in param]
    [('log10_eta', -3.0)]
    """
    curves = read_sweep("live", table, by_eta=False, made_by="sweep")
    channels = channels_of(curves, color, None, _MOST_CURVES)
    if len(curves.each) > _MOST_CURVES or channels.facet is not None:
        raise PrcError(
            f"live draws up to {_MOST_CURVES} groups of one column, in colours, and this table has "
            f"{len(curves.each)}; filter it, or group by one column"
        )
    start = _start(curves, eta)
    data, aside = _data(curves, channels)
    bind = alt.binding_range(min=_LEAST, max=0, step=0.01, name="log10 of prevalence eta ")
    slider = alt.param(name="log10_eta", value=start, bind=bind)
    share = alt.param(name="eta", expr="pow(10, log10_eta)")
    with warnings.catch_warnings():
        # That one selection is in two panels, as it should be.
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        panels = alt.hconcat(_roc(channels), _pr(channels), spacing=24)
        whole: alt.VConcatChart = alt.vconcat(*_readout(), panels, spacing=4).add_params(slider, share)
    words = Words(
        title or "ROC and precision-recall curves",
        ("Move the slider: recall and fpr stay, precision follows; dashed: chance", *said_sizes(curves)),
        aside,
    )
    return with_data(whole.properties(**head(words, width=2 * _SIZE)), data)


def _start(curves: Curves, eta: float | None) -> float:
    """On the slider."""
    if eta is not None and not 10**_LEAST <= eta <= 1:
        raise PrcError(f"eta= of live is where the slider starts, from 1e-6 to 1; got {eta}")
    sizes = curves.each.select("n_pos", "n_neg").drop_nulls().rows()
    n_pos, n_neg = sizes[0] if sizes and sizes[0][0] > 0 else (1, 99)
    start = n_pos / (n_pos + n_neg) if eta is None else eta
    return round(max(math.log10(start), _LEAST), 2)


def _data(curves: Curves, channels: Channels) -> tuple[list[dict[str, Any]], str]:
    """The points of both panels; those of pr, which hold fpr / recall, may be pointed at in both."""
    odds = pl.col("fpr") / pl.col("recall")
    found = risen(curves.rows.with_columns(odds=odds, made=False).filter(pl.col("recall") > 0))
    pr = steps(thinned(found, pl.col("recall"), pl.col("odds"), _COLUMNS), "odds")
    bends = thinned(corners(curves.rows), pl.col("fpr"), pl.col("recall"), _COLUMNS)
    roc = from_origin(bends).with_columns(made=True)
    data = [row | {"part": "roc"} for row in records(curves, channels, roc, ["fpr", "recall"], [])]
    data += records(curves, channels, pr, ["recall", "odds"], ["threshold"])
    for row in data:
        del row["order"]  # both rise: they are the order
    return data, said_thinned(found, pr)


def _pointed() -> alt.Parameter:
    return alt.selection_point(
        name="pointed", nearest=True, on="pointerover", fields=["curve", "recall"], empty=False
    )


def _hovered() -> alt.Chart:
    """What the pointer may be next to, with its fpr and precision."""
    points = alt.Chart().transform_filter("datum.hover === 1")
    return points.transform_calculate(fpr=_FPR, precision=_PRECISION)


def _points(x: alt.X, y: alt.Y, channels: Channels, name: str) -> list[alt.Chart]:
    """Where the pointer may be, unseen, and where it is."""
    shade = _shades(channels)[:1]
    every = _hovered().mark_point(opacity=0, size=60, aria=False).encode(x, y).properties(name=name)
    here = _hovered().mark_point(filled=True, opacity=1, size=70).encode(x, y, *shade)
    return [every.add_params(_pointed()), here.transform_filter(_HERE)]


def _shades(channels: Channels) -> list[Any]:
    return shades(channels.color) if channels.color else []


def _line(
    x: alt.X, y: alt.Y, channels: Channels, interpolate: Literal["linear", "step-before"]
) -> alt.Chart:
    """The curves; of more than there are colours, the one that is pointed at stands out."""
    line: alt.Chart = alt.Chart().mark_line(interpolate=interpolate, strokeWidth=1.8)
    line = line.encode(x, y, alt.Detail("curve:N"), *_shades(channels))
    if channels.color and len(channels.color.labels) > MOST_COLORS:
        line = line.encode(opacity=alt.when(_FAINT).then(alt.value(0.2)).otherwise(alt.value(1)))
    return line


def _roc(channels: Channels) -> alt.LayerChart:
    x, y = share_axis(alt.X, "fpr", "False positive rate"), share_axis(alt.Y, "recall", "Recall")
    ends = alt.Chart(alt.InlineData(values=[{"fpr": 0, "recall": 0}, {"fpr": 1, "recall": 1}]))
    line = part(_line(x, y, channels, "linear").encode(alt.Order("along:Q")), "roc")
    line = line.transform_calculate(along="datum.fpr + datum.recall")
    layers = [ends.mark_line(**CHANCE).encode(x, y), line, *_points(x, y, channels, "roc")]
    return alt.LayerChart(layer=layers, width=_SIZE, height=_SIZE)


def _pr(channels: Channels) -> alt.LayerChart:
    x, y = share_axis(alt.X, "recall", "Recall"), share_axis(alt.Y, "precision", "Precision")
    level = alt.Chart(alt.InlineData(values=[{}])).mark_rule(**CHANCE).encode(y)
    line = part(_line(x, y, channels, "step-before").encode(alt.Order("recall:Q")), "curve")
    line = line.transform_calculate(precision=_PRECISION)
    layers = [level.transform_calculate(precision="eta"), line, *_points(x, y, channels, "pr")]
    return alt.LayerChart(layer=layers, width=_SIZE, height=_SIZE)


def _readout() -> list[alt.Chart]:
    """The prevalence, and what the pointer is next to."""
    left: dict[str, Any] = {"align": "left", "baseline": "middle"}
    one = alt.Chart(alt.InlineData(values=[{}])).transform_calculate(said=_ETA)
    eta = one.mark_text(**left, fontSize=14, fontWeight="bold")
    eta = eta.encode(x=alt.value(0), y=alt.value(9), text="said:N").properties(
        width=2 * _SIZE, height=18
    )
    read = _hovered().transform_filter(_HERE).transform_calculate(alerts=_ALERTS)
    read = read.transform_calculate(said=_READ)
    said = read.mark_text(**left, fontSize=12)
    said = said.encode(x=alt.value(0), y=alt.value(8), text="said:N")
    bare = alt.ViewBackground(stroke=None)
    return [eta.properties(view=bare), said.properties(width=2 * _SIZE, height=16, view=bare)]


_FAINT = "length(pointed.curve || []) > 0 && indexof(pointed.curve, datum.curve) < 0"
_HERE = (
    "pointed.curve && indexof(pointed.curve, datum.curve) >= 0"
    " && indexof(pointed.recall, datum.recall) >= 0"
)
