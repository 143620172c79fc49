"""Scores against normal quantiles, class by class."""

from __future__ import annotations

from statistics import NormalDist

import altair as alt
import polars as pl

from polars_prcurve.charts.channels import Channel, Channels, channel_of
from polars_prcurve.charts.curves import Curves, read_sweep, said_sizes
from polars_prcurve.charts.drawing import Chart, Look, Words, chart, part, shades
from polars_prcurve.charts.points import HOVERED, records, said_thinned
from polars_prcurve.errors import PrcError

__all__ = ["normal_quantiles"]


def normal_quantiles(table: pl.DataFrame, *, title: str | None = None) -> Chart:
    """Scores by normal quantile, class by class: straight where the scores of a class are normal.

    Whether a binormal model may be trusted, see `binormal`. A point is a score; across is where a
    normal distribution of mean 0 and deviation 1 has as large a share above it, ties by halves. The
    lines are the fit, mu + sigma x. Groups are panels, each with a scale of its own for scores.

    Parameters
    ----------
    table
        What `sweep` returns, with all its rows: the `by` columns, then the columns of `sweep`. Of many
        scores some 200 of each class are drawn, dense in the tails.
    title
        In place of the chart's own title; the subtitle stays.

    Returns
    -------
    A layered Altair chart, or a faceted one if there are panels.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> normal_quantiles(df.prc.sweep()).to_dict()["title"]["subtitle"]
    ['Straight where scores are normal; lines: the fit', 'Test set: 2 positives : 2 negatives']
    """
    curves = read_sweep("normal_quantiles", table, by_eta=False, made_by="sweep or curve")
    if curves.rows["threshold"].null_count():
        raise PrcError("normal_quantiles draws thresholds, and published rates have none")
    classes = _by_class(curves)
    points = _quantiles(classes.rows)
    channels = _class_channels(classes)
    drawn = _thinned_by_quantile(points)
    x = alt.X("x:Q", title="Normal quantile")
    y = alt.Y("y:Q", title="Score", scale=alt.Scale(zero=False))
    dots = alt.Chart().mark_point(filled=True, size=16, opacity=0.6)
    shade = shades(channels.color)[:1] if channels.color else []
    look = Look(
        x=x,
        y=y,
        interpolate="linear",
        tooltip=(alt.Tooltip("threshold:N"), alt.Tooltip("x:Q", title="normal quantile", format=".3f")),
        below=(part(dots.encode(x, y, *shade), "sample"),),
        free_y=True,
    )
    sample = records(classes, channels, drawn, ["x", "y"], ["threshold", "test_set"])
    data = [{**record, "part": "sample"} for record in sample]
    data += records(classes, channels, _fits(points, drawn), ["x", "y"], [])
    said = ("Straight where scores are normal; lines: the fit", *said_sizes(curves))
    words = Words(title or "Scores by normal quantile", said, said_thinned(points, drawn))
    return chart(look, data, channels, words)


def _by_class(curves: Curves) -> Curves:
    """The curves, each as two: the scores of positives, and those of negatives."""
    share = {"positives": "recall", "negatives": "fpr"}
    rows, each = [], []
    for number, (name, rate) in enumerate(share.items()):
        own = pl.col("curve") * 2 + number
        rows.append(curves.rows.with_columns(own.alias("curve"), pl.col(rate).alias("share")))
        each.append(curves.each.with_columns(own.alias("curve"), pl.lit(name).alias("class")))
    return Curves(pl.concat(rows), pl.concat(each).sort("curve"), curves.names, curves.left_out)


def _class_channels(curves: Curves) -> Channels:
    """Classes in colours, groups in panels."""
    if curves.each.is_empty():
        return Channels(None, None)
    of_curve = curves.each["class"].to_list()
    color = Channel(["class"], "class", ["positives", "negatives"], of_curve, 2)
    return Channels(
        color, channel_of(curves, curves.groups, "\n{}", eta=False) if curves.groups else None
    )


def _quantiles(rows: pl.DataFrame) -> pl.DataFrame:
    """Of each class its finite scores y, the share of the class that each is, and that above it."""
    before = pl.col("share").shift(1, fill_value=0.0).over("curve")
    above = ((before + pl.col("share")) / 2).clip(1e-16, 1 - 2.0**-53)
    points = rows.sort("curve", maintain_order=True).with_columns(
        pl.col("threshold").cast(pl.Float64).alias("y"),
        (pl.col("share") - before).alias("rise"),
        above.alias("above"),
        made=False,
    )
    return points.filter((pl.col("rise") > 0) & pl.col("y").is_finite())


def _thinned_by_quantile(points: pl.DataFrame) -> pl.DataFrame:
    """Of a long curve some 200 points, dense in the tails; and the normal quantile x of each."""
    short = pl.len().over("curve") <= HOVERED
    logit = (pl.col("above") / (1 - pl.col("above"))).log()
    first = pl.int_range(pl.len()).over("curve", (logit * 6).floor()) == 0
    drawn = points.filter(short | first)
    quantile = NormalDist().inv_cdf
    return drawn.with_columns(pl.Series("x", [-quantile(above) for above in drawn["above"]], pl.Float64))


def _fits(points: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """Mean and standard deviation of each curve's scores, as a line between its outermost points."""
    total = pl.col("rise").sum()
    mean = (pl.col("y") * pl.col("rise")).sum() / total
    variance = ((pl.col("y") - mean) ** 2 * pl.col("rise")).sum() / total
    fits = points.group_by("curve").agg(mean.alias("mean"), variance.sqrt().alias("deviation"))
    reach = drawn.group_by("curve")
    ends = pl.concat([reach.agg(pl.col("x").min()), reach.agg(pl.col("x").max())]).sort("curve", "x")
    line = pl.col("mean") + pl.col("deviation") * pl.col("x")
    return ends.join(fits, on="curve", maintain_order="left").with_columns(line.alias("y"), made=True)
