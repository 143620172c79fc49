"""The chart of scores by normal quantile, class by class."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.ground.argument_checks import Title, hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.view.charts.parts import point_thinning
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, build_score_axis
from polars_prcurve.view.charts.parts.chart_titles import say_bent_classes
from polars_prcurve.view.charts.parts.colors_and_panels import Channel, Channels, build_channel
from polars_prcurve.view.charts.parts.label_formats import LOWER
from polars_prcurve.view.charts.parts.line_canvas import Canvas, check_words
from polars_prcurve.view.charts.parts.result_tables import ChartCurves, read_sweep
from polars_prcurve.view.words.number_words import say_threshold

_AREAS = "Area: under the ROC curve, and under that of the fit"  # what the numbers of panels are
_TEST_LEVEL = 0.05  # the level of the test, over all classes of a chart
_FEWEST_SCORES = 8  # scores of a class without which the test says nothing
# From which value on the logarithm of the p-value, or of 1 less it, is this polynomial.
_TAILS = (
    (0.6, (1.2937, -5.709, 0.0186), False),
    (0.34, (0.9177, -4.279, -1.38), False),
    (0.2, (-8.318, 42.796, -59.938), True),
    (-math.inf, (-13.436, 101.14, -223.73), True),
)
_MOST_POINTS = 200  # points of a class, about, that are drawn


@hint_at_arguments
def normal_quantiles(table: pl.DataFrame, *, title: Title = None) -> Chart:
    """Scores by normal quantile, class by class: straight where the scores of a class are normal.

    If both classes are straight, you may trust a binormal model; see `binormal`. A point is a score, and
    its place across is where a normal distribution with mean 0 and deviation 1 has the same share above
    it; ties count half. The lines are the fit, mu + sigma x. Scores between 0 and 1 are on an axis of
    log odds, and so is their fit. The title says which classes are not normal: those that the test of
    Anderson and Darling rejects at 5%, corrected for all classes of the chart (Stephens 1974,
    D'Agostino and Stephens 1986). It sees small bends in many scores, so each panel tells what the fit
    makes of the area, too. Groups are panels, in order of name, on one scale of scores; each has its own
    if one takes less than half of it.

    Parameters
    ----------
    table
        What `sweep` returns, with all its rows: the `by` columns, then the columns of `sweep`. If a
        class has more than 200 scores, about 200 are drawn, dense in the tails.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> normal_quantiles(df.prc.sweep()).to_dict()["title"]["subtitle"]
    ['Straight where the scores of a class are normal; lines: the fit']
    """
    check_words(title)
    curves = read_sweep("normal_quantiles", table, is_by_eta=False, made_by="sweep or curve")
    if curves.points["threshold"].null_count():
        raise PrcError("rates= holds no scores; use plot.roc_curve")
    columns_of_class = {"positives": ("recall", "tp", "fn"), "negatives": ("fpr", "fp", "tn")}
    class_frames, curve_frames = [], []  # two curves for each; `share` is recall or fpr
    for number, (class_name, (rate_column, *cell_columns)) in enumerate(columns_of_class.items()):
        curve_number, n = (pl.col("curve") * 2 + number).alias("curve"), pl.sum_horizontal(*cell_columns)
        class_frames.append(curves.points.with_columns(curve_number, share=pl.col(rate_column), n=n))
        curve_frames.append(
            curves.curve_rows.with_columns(curve_number, pl.lit(class_name).alias("class"))
        )
    class_curves = replace(
        curves, points=pl.concat(class_frames), curve_rows=pl.concat(curve_frames).sort("curve")
    )
    scores = curves.points["threshold"].cast(pl.Float64)
    scale = build_score_axis("y", "Score", scores, is_odds=bool(scores.is_between(0, 1, "none").all()))
    points, drawn_points = _build_quantile_points(class_curves.points, scale)
    fits = _build_fit_lines(points, drawn_points)
    area_of_curve = point_thinning.measure_areas(point_thinning.start_at_origin(curves.points))
    channels = _build_class_channels(class_curves, area_of_curve, fits)
    x_axis = ChartAxis("x", "Normal quantile", *_find_ends("x", drawn_points, fits), "plain")
    low, high = _find_ends("y", drawn_points, fits)
    y_axis = _free_panels(replace(scale, low=low, high=high), channels, points, drawn_points, fits)
    canvas = Canvas(class_curves, channels, ChartSpec(x_axis, y_axis, "linear", height=0.75))
    canvas.records += [{**record, "part": "dot"} for record in canvas.build_records(drawn_points)]
    canvas.draw_lines(fits)
    canvas.follow_pointer(drawn_points, "nearest", _say_row)
    is_bent_of_curve = find_bent_classes(points) if point_thinning.has_counts(curves.points) else None
    finding = say_bent_classes(is_bent_of_curve, class_curves, channels) or "Scores by normal quantile"
    subtitle = "Straight where the scores of a class are normal; lines: the fit"
    note = [_AREAS if channels.facet else "", scale.describe(), *curves.describe_sizes()]
    canvas.spoken = point_thinning.describe_thinning(points, drawn_points)
    return canvas.finish(title, finding, subtitle, note)


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads: the score at a normal quantile."""
    return f"{row['at']:.2f}", f"score {say_threshold(row['threshold'], [row[LOWER]])}"


def _find_ends(name: str, *frames: pl.DataFrame) -> tuple[float, float]:
    """Return the ends of an axis around the points and lines, with some room."""
    end_values = pl.concat([part[name] for part in frames]).drop_nulls().to_list() or [0.0, 1.0]
    low, high = min(end_values), max(end_values)
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room


def _free_panels(
    axis: ChartAxis, channels: Channels, points: pl.DataFrame, *frames: pl.DataFrame
) -> ChartAxis:
    """Return the axis of scores; each group, a panel, has a range of its own if one is much narrower."""
    group, y = pl.col("curve") // 2, pl.col("y")  # a class of a group is a curve
    spans = points.group_by(group).agg((y.max() - y.min()).alias("span"))["span"]
    # That is less than half of the range of all scores.
    is_uneven = (spans < 0.5 * points.select(y.max() - y.min()).item()).any() if len(points) else False
    if channels.facet is None or not is_uneven:
        return axis
    range_of_label = {}
    for label, numbers in channels.facet.curves_of_label.items():
        panel_frames = (part.filter(pl.col("curve").is_in(numbers)) for part in frames)
        range_of_label[label] = _find_ends("y", *panel_frames)
    return replace(axis, is_free=True, ranges=range_of_label)


def _build_class_channels(
    curves: ChartCurves, area_of_curve: dict[int, float], fits: pl.DataFrame
) -> Channels:
    """Return the channels: classes are colours, and groups are panels, with the area of the fit."""
    if curves.curve_rows.is_empty():
        return Channels(None, None)
    class_of_curve = dict(curves.curve_rows.select("curve", "class").rows())
    color = Channel(["class"], "class", ["positives", "negatives"], class_of_curve, 2)
    group_fields = curves.group_fields
    if not group_fields:
        return Channels(color, None)
    facet = build_channel(curves, group_fields, is_eta_added=False)
    fit_rows = fits.select("curve", "mean", "deviation").unique().rows()
    fit_of_curve = {curve: (mean, deviation) for curve, mean, deviation in fit_rows}
    caption_of_label = {}
    for curve, label in facet.label_of_curve.items():
        first = curve // 2 * 2
        if {first, first + 1} <= fit_of_curve.keys() and curve // 2 in area_of_curve:
            (mean_pos, spread_pos), (mean_neg, spread_neg) = fit_of_curve[first], fit_of_curve[first + 1]
            spread = math.hypot(spread_pos, spread_neg)
            fitted_area = NormalDist().cdf((mean_pos - mean_neg) / spread) if spread else 0.5
            caption_of_label[label] = (
                f"area {area_of_curve[curve // 2]:.2f}, of the fit {fitted_area:.2f}"
            )
    return Channels(color, replace(facet, caption_of_label=caption_of_label))


def _build_quantile_points(rows: pl.DataFrame, scale: ChartAxis) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the finite scores `y` of each class, with its share `rise` at a score and `above` it."""
    # Those to draw have their normal quantile `x`: of a long curve about 200, dense in the tails.
    share_before = pl.col("share").shift(1, fill_value=0.0).over("curve")
    above = ((share_before + pl.col("share")) / 2).clip(
        1e-16, 1 - 2.0**-53
    )  # a quantile excludes 0 and 1
    points = rows.sort("curve", maintain_order=True).with_columns(
        scale.measure(pl.col("threshold").cast(pl.Float64)).alias("y"),
        (pl.col("share") - share_before).alias("rise"),
        above.alias("above"),
        made=False,
    )
    points = points.filter((pl.col("rise") > 0) & pl.col("y").is_finite())
    is_short = pl.len().over("curve") <= _MOST_POINTS
    logit = (pl.col("above") / (1 - pl.col("above"))).log()  # equal steps keep both tails
    is_first = pl.int_range(pl.len()).over("curve", (logit * 6).floor()) == 0
    drawn_points = points.filter(is_short | is_first)
    quantiles = [-NormalDist().inv_cdf(above) for above in drawn_points["above"]]
    return points, drawn_points.with_columns(pl.Series("x", quantiles, pl.Float64))


def _build_fit_lines(points: pl.DataFrame, drawn_points: pl.DataFrame) -> pl.DataFrame:
    """Return the two ends of the line mean + deviation * x of each curve, at its outermost points."""
    # Where scores have bounds, such as 0 and 1, the line ends there: beyond them no score can be, and
    # the points would have less room.
    total = pl.col("rise").sum()
    mean = (pl.col("y") * pl.col("rise")).sum() / total
    # Weighted by the share of a class at each score: ties are one row.
    variance = ((pl.col("y") - mean) ** 2 * pl.col("rise")).sum() / total
    fits = points.group_by("curve").agg(mean.alias("mean"), variance.sqrt().alias("deviation"))
    low, high = pl.col("y").min().alias("low"), pl.col("y").max().alias("high")
    drawn_by_curve = drawn_points.group_by("curve")
    end_frames = [drawn_by_curve.agg(end, low, high) for end in (pl.col("x").min(), pl.col("x").max())]
    fit = pl.col("mean") + pl.col("deviation") * pl.col("x")
    line_frame = pl.concat(end_frames).sort("curve", "x").join(fits, on="curve", maintain_order="left")
    line_frame = line_frame.with_columns(fit.clip("low", "high").alias("y"), made=True)
    is_sloped = pl.col("deviation") > 0
    x_on_line = (pl.col("y") - pl.col("mean")) / pl.col("deviation")
    is_clipped = is_sloped & (pl.col("y") != fit)
    return line_frame.with_columns(pl.when(is_clipped).then(x_on_line).otherwise("x").alias("x"))


# The test of Anderson and Darling 1952, with p-values of D'Agostino and Stephens 1986, table 4.9 ------


def find_bent_classes(points: pl.DataFrame) -> dict[int, bool]:
    """Return whether the scores `y` of each curve are shown not to be normal; without those of few."""
    # `rise` is the share of the class at a score, and `n` the number of its scores.
    p_value_of_curve: dict[int, float] = {}
    for (curve,), class_rows in points.group_by("curve", maintain_order=True):
        n = float(class_rows["n"][0])
        if n >= _FEWEST_SCORES and class_rows["y"].n_unique() > 1:
            y, share = class_rows["y"].to_numpy()[::-1], class_rows["rise"].to_numpy()[::-1]
            p_value_of_curve[curve] = compute_normal_p_value(y, share, n)
    return {curve: p < _TEST_LEVEL / len(p_value_of_curve) for curve, p in p_value_of_curve.items()}


def compute_normal_p_value(y: NDArray[np.float64], share: NDArray[np.float64], n: float) -> float:
    """Return the p-value of n scores, of which these shares are at the rising values y."""
    share = share / share.sum()
    mean = share @ y
    deviation = math.sqrt(share @ (y - mean) ** 2 * n / (n - 1))
    quantiles = (y - mean) / (deviation * math.sqrt(2))
    u = np.clip([math.erfc(-z) / 2 for z in quantiles.tolist()], 1e-300, 1 - 1e-16)
    # The squared distance of both distributions, over u (1 - u), in closed form between two scores: ties
    # are one step, as they are in the data.
    a, b, c = np.append(0, u), np.append(u, 1), np.append(0, np.cumsum(share))
    with np.errstate(divide="ignore", invalid="ignore"):
        below_scores = np.where(c > 0, c * c * np.log(b / a), 0.0)
        above_scores = np.where(c < 1 - 1e-12, (1 - c) ** 2 * (np.log1p(-b) - np.log1p(-a)), 0.0)
    statistic = n * float(np.sum(below_scores - above_scores - (b - a)))
    statistic *= 1 + 0.75 / n + 2.25 / (n * n)
    if statistic > 10:
        return 0.0
    _, (constant, slope, bend), is_rest = next(row for row in _TAILS if statistic >= row[0])
    tail = math.exp(constant + slope * statistic + bend * statistic**2)
    return 1 - tail if is_rest else tail
