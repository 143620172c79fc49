"""Points to draw: fewer than a table has, for the same picture, as the records that Vega reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS
from polars_prcurve.view.charts.parts.chart_input import ChartCurves
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.names_and_numbers import round_digits
from polars_prcurve.view.words.number_words import FEW_FALSE_POSITIVES, FEW_POSITIVES

_FEWEST_COLUMNS = 60  # columns of pixels, at the least, so that a reduced curve keeps its shape
_FEW_POINTS = 2_000  # points of a chart, at most, that all are drawn
_MOST_COLUMNS = 20_000  # columns of all curves of a chart together, or its file would be too large
_HIDDEN_PIXELS = 0.5  # how far a line may be from a point that it leaves out: no eye sees half a pixel
_POINTS_PER_PIXEL = 2  # curves with more points per column of pixels are reduced
_POS_EFFECTIVE, _, _FP_EFFECTIVE = FIELD_COLUMNS
# Lines, and what the pointer reads along them.
_LINE_PARTS = ("curve", "ghost", "reference", "read", "hover")
# What all points of a stretch have in common.
_OF_STRETCH = ("part", "curve", "color", "facet", "doubt", "grey", "run", "ref", "side")
# Where the value of a point rules, as Vega names it: up to the point, from it on, or on a slope.
Interpolation: TypeAlias = Literal["step-before", "step-after", "linear"]


def keep_rises(points: pl.DataFrame) -> pl.DataFrame:
    """Return the rows where recall rises, and the last row of each curve."""
    recall, curve = pl.col("recall"), pl.col("curve")
    is_first, is_last = (curve.ne_missing(curve.shift(n_rows)) for n_rows in (1, -1))
    recall_before = pl.when(is_first).then(0.0).otherwise(recall.shift(1))
    return points.filter((recall > recall_before) | is_last)


def build_steps(points: pl.DataFrame, *value_columns: str) -> pl.DataFrame:
    """Return the points of steps: recall 0 with the first values, then the rows of `keep_rises`."""
    first_values = (pl.lit(0.0).alias("recall"), pl.col(value_columns).first())
    start_points = points.group_by("curve", maintain_order=True).agg(first_values)
    return prepend_made(start_points, keep_rises(points))


def has_points_alone(points: pl.DataFrame) -> bool:
    """Return whether rows are published points, whose thresholds are not known."""
    return "threshold" in points.columns and points["threshold"].null_count() == len(points) > 0


ALERT_RATE = pl.col("eta") * pl.col("recall") + (1 - pl.col("eta")) * pl.col("fpr")
"""The share of cases that are alerts: the recall of the positives and the fpr of the negatives."""


def start_at_origin(points: pl.DataFrame) -> pl.DataFrame:
    """Return the rows, after a point at recall 0 and fpr 0 in each curve."""
    origin_points = points.select(pl.col("curve").unique(maintain_order=True), recall=0.0, fpr=0.0)
    return prepend_made(origin_points, points.filter((pl.col("recall") > 0) | (pl.col("fpr") > 0)))


def prepend_made(made_points: pl.DataFrame, table_points: pl.DataFrame) -> pl.DataFrame:
    """Return in each curve the points made here, then its rows; the column `made` distinguishes them."""
    marked_points = [made_points.with_columns(made=True), table_points.with_columns(made=False)]
    return pl.concat(marked_points, how="diagonal").sort("curve", maintain_order=True)


def drop_straight_points(points: pl.DataFrame) -> pl.DataFrame:
    """Drop the points inside a stretch of equal recall or of equal fpr."""

    def is_inside(rate: pl.Expr) -> pl.Expr:
        return ((rate == rate.shift(1)) & (rate == rate.shift(-1))).fill_null(False).over("curve")

    return points.filter(~is_inside(pl.col("recall")) & ~is_inside(pl.col("fpr")))


def cut_below(points: pl.DataFrame, x: str, y: str, rise: pl.Expr, foot: pl.Expr) -> pl.DataFrame:
    """Cut lines at the foot of a chart; points below it have a null `y`, which is a gap."""
    # `rise` is how far a point is above the foot; the straight line from the point before it crosses the
    # foot at a share of its way.
    x_before, rise_before = (column.shift(1).over("curve") for column in (pl.col(x), rise))
    x_at_foot = x_before + rise_before / (rise_before - rise) * (pl.col(x) - x_before)
    points = points.with_columns(pl.int_range(pl.len()).alias("place").cast(pl.Float64))
    crossings = points.with_columns(at=x_at_foot, place=pl.col("place") - 0.5)
    crossings = crossings.filter((rise < 0) != (rise_before < 0))
    crossings = crossings.with_columns(pl.col("at").alias(x), foot.alias(y), made=True).drop("at")
    upper_points = points.with_columns(pl.when(rise >= 0).then(y))
    all_points = pl.concat([upper_points, crossings], how="diagonal").sort("place").drop("place")
    return all_points.with_columns(pl.col("made").fill_null(False))


def bend_for_log_axis(points: pl.DataFrame, added_fprs: list[float]) -> pl.DataFrame:
    """Add points at `added_fprs`: lines that are straight on a linear axis bend on a log axis."""
    fpr_ends = points.group_by("curve").agg(start=pl.col("fpr").min(), end=pl.col("fpr").max())
    added_places = pl.DataFrame({"fpr": added_fprs}, schema={"fpr": pl.Float64})
    points_between = fpr_ends.join(added_places, how="cross").filter(
        pl.col("fpr").is_between("start", "end", "none")
    )
    points_between = points_between.drop("start", "end").with_columns(made=True)
    points_between = points_between.join(points, on=["curve", "fpr"], how="anti")
    all_points = pl.concat([points, points_between], how="diagonal").sort(
        "curve", "fpr", maintain_order=True
    )
    return all_points.with_columns(pl.col("recall").interpolate_by("fpr").over("curve"))


def find_marks(points: pl.DataFrame, marks: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Add the column `marked`: whether a point is at the threshold of a mark of its curve."""
    keys = ["curve", "threshold"]
    if not marks or "threshold" not in points.columns:
        return points.with_columns(marked=False)
    rows = [[mark[key] for key in keys] for mark in marks]
    mark_rows = pl.DataFrame(rows, points.select(keys).schema, orient="row").unique()
    marked_points = points.join(
        mark_rows.with_columns(marked=True), on=keys, how="left", maintain_order="left"
    )
    return marked_points.with_columns(pl.col("marked").fill_null(False))


def thin_points(points: pl.DataFrame, x_pixels: pl.Expr, order: pl.Expr, n_pixels: int) -> pl.DataFrame:
    """Keep of a long curve the first, last, lowest and highest point in each column of pixels."""
    # `order` ranks points by their height. Precision is monotone in fpr / recall at every eta, so a PR
    # curve keeps the same points at every eta. Many curves are reduced more. Points `marked` stay.
    most_columns = max(_FEWEST_COLUMNS, _MOST_COLUMNS // max(points["curve"].n_unique(), 1))
    share = min(1.0, most_columns / n_pixels)
    point_number = pl.int_range(pl.len())
    is_end = (point_number == 0) | (point_number == pl.len() - 1)
    is_extreme = (point_number == order.arg_min()) | (point_number == order.arg_max())
    is_short = pl.len().over("curve") <= _POINTS_PER_PIXEL * share * n_pixels
    pixel_column = (x_pixels * share).floor().alias("pixel")
    return points.filter(is_short | (is_end | is_extreme).over("curve", pixel_column) | pl.col("marked"))


def drop_hidden_points(
    points: pl.DataFrame, x_pixels: pl.Expr, height_pixels: Sequence[pl.Expr], interpolate: Interpolation
) -> pl.DataFrame:
    """Drop points of `split_by_doubt` without which lines and bands move by half a pixel at most."""
    # Each stretch keeps both ends, the points at gaps, and those that are `marked`. Charts of few points
    # keep all, so that each is there to read.
    if len(points) <= _FEW_POINTS:
        return points
    pixel_exprs = [x_pixels, *height_pixels]
    pixels = points.select(
        expr.cast(pl.Float64).alias(f"{number}") for number, expr in enumerate(pixel_exprs)
    )
    is_gap = pixels.select(pl.any_horizontal(pl.all().is_null())).to_series()
    is_fixed = is_gap | is_gap.shift(1, fill_value=True) | is_gap.shift(-1, fill_value=True)
    run = points["run"]
    is_fixed |= run.ne_missing(run.shift(1)) | run.ne_missing(run.shift(-1)) | points["marked"]
    # Steps before a point are steps after it, seen from the other end.
    way = slice(None, None, -1 if interpolate == "step-before" else 1)
    places, fixed = pixels.to_numpy()[way], is_fixed.to_numpy()[way]
    find_seen, is_seen = (_find_bends if interpolate == "linear" else _find_steps), fixed.copy()
    for first, last in pairwise(np.flatnonzero(fixed).tolist()):
        if last - first > 1:
            is_seen[[first + place for place in find_seen(places[first : last + 1])]] = True
    return points.filter(is_seen[way])


def _find_steps(places: NDArray[np.float64]) -> list[int]:
    """Return where steps leave the heights of the step before by more than half a pixel."""
    heights, seen_places, start = places[:, 1:].tolist(), [], 0
    for place in range(1, len(heights) - 1):
        pairs = zip(heights[place], heights[start], strict=True)
        if any(abs(height - start_height) > _HIDDEN_PIXELS for height, start_height in pairs):
            seen_places.append(place)
            start = place
    return seen_places


def _find_bends(places: NDArray[np.float64]) -> list[int]:
    """Return the points that a line needs to pass all within half a pixel (Douglas and Peucker 1973)."""
    seen_places, stretches = [], [(0, len(places) - 1)]
    while stretches:
        first, last = stretches.pop()
        if last - first < 2:
            continue
        way, offsets = places[last] - places[first], places[first + 1 : last] - places[first]
        share = np.clip(offsets @ way / max(float(way @ way), 1e-12), 0, 1)
        distances = np.linalg.norm(offsets - share[:, None] * way, axis=1)
        farthest = int(distances.argmax())
        if distances[farthest] > _HIDDEN_PIXELS:
            middle = first + 1 + farthest
            seen_places.append(middle)
            stretches += [(first, middle), (middle, last)]
    return seen_places


def describe_thinning(table_points: pl.DataFrame, drawn_points: pl.DataFrame) -> str:
    """Return how many points of the table are drawn, as a text, which is empty if all are."""
    if "copy" in drawn_points.columns:
        drawn_points = drawn_points.filter(pl.col("copy").not_())
    n_before, n_after = (points["made"].not_().sum() for points in (table_points, drawn_points))
    if n_before == n_after:
        return ""
    return f"Drawn from {format_count(n_after)} of {format_count(n_before)} points"


def measure_steps(steps: pl.DataFrame, y_column: str) -> dict[int, float]:
    """Return the area under the steps of each curve, by its number."""
    area_expr = (pl.col(y_column) * pl.col("recall").diff().fill_null(0)).sum()
    return dict(steps.group_by("curve").agg(area_expr).rows())


def measure_areas(
    points: pl.DataFrame, x_column: str = "fpr", y_column: str = "recall"
) -> dict[int, float]:
    """Return the area under the straight lines of each curve, by its number; ROC goes on to (1, 1)."""
    # Trapezoids: tied scores make a slope, of which half counts, as in the Mann-Whitney statistic.
    width, height = pl.col(x_column).diff().over("curve").fill_null(0), pl.col(y_column).fill_null(0)
    height_sum = (height + height.shift(1)).over("curve").fill_null(0)
    area_expr = pl.col("area").sum()
    # What was never scored ties below the last point.
    last_area = (1 - pl.col("fpr").last()) * (1 + pl.col("recall").last()) / 2
    area_expr += last_area if x_column == "fpr" else 0.0
    points_by_curve = points.with_columns(area=width * height_sum / 2).group_by(
        "curve", maintain_order=True
    )
    return dict(points_by_curve.agg(area_expr).rows())


def find_few_false_alerts(points: pl.DataFrame) -> pl.DataFrame:
    """Add the column `doubt`: whether a point rests on fewer than 5 false positives, or 20 positives."""
    # Sums of weights and published rates do not have their number, so these are not dotted;
    # but whole numbers that rise by one count examples, though they are floats. Weighted rows, such as
    # those of a field of several parts, count by their effective number, which
    # `effective_numbers_of_points` adds.
    is_in_doubt: pl.Expr = pl.lit(None, dtype=pl.Boolean)
    if _FP_EFFECTIVE in points.columns:
        # Five equal weights may lack a last digit.
        is_in_doubt = pl.col(_FP_EFFECTIVE) < FEW_FALSE_POSITIVES - 1e-6
        is_in_doubt |= pl.col(_POS_EFFECTIVE) < FEW_POSITIVES - 1e-6
    elif has_counts(points):
        is_in_doubt = pl.col("fp") < FEW_FALSE_POSITIVES
        if {"tp", "fn"} <= set(points.columns):
            is_in_doubt |= pl.col("tp") + pl.col("fn") < FEW_POSITIVES
    return points.with_columns(doubt=is_in_doubt)


def find_few_positives(points: pl.DataFrame, curves: ChartCurves) -> pl.DataFrame:
    """Add the column `doubt`: whether a curve is of fewer than 20 positives."""
    doubt_of_curves = curves.curve_rows.select(
        "curve", doubt=(pl.col("n_pos") < FEW_POSITIVES).fill_null(False)
    )
    return points.join(doubt_of_curves, on="curve", maintain_order="left")


def has_counts(points: pl.DataFrame) -> bool:
    """Return whether false positives are numbers of examples; floats are if whole, and by one apart."""
    if points.schema["fp"].is_integer():
        return True
    false_positives = points["fp"].cast(pl.Float64)
    if has_sums_of_weights(points) or false_positives.null_count():
        return False
    fp_steps = points.select(pl.col("fp").cast(pl.Float64).diff().over("curve").abs()).to_series()
    return bool((fp_steps == 1).any())


def has_sums_of_weights(points: pl.DataFrame) -> bool:
    """Return whether false positives are sums of weights, which are not whole."""
    false_positives = points["fp"].drop_nulls()
    return false_positives.dtype.is_float() and bool((false_positives != false_positives.round()).any())


def split_by_doubt(points: pl.DataFrame, interpolate: Interpolation) -> pl.DataFrame:
    """Return the points with `run`, a stretch of equal doubt, and `copy`, which marks added points."""
    # The stretch from one point to the next is in doubt if the value that it draws is: the second point
    # of steps before, the first of steps after, and any of both on a slope. A stretch starts with a copy
    # of the last point of the stretch before it, so that lines have no gaps. Stretches are equal
    # in `side`, too, which is that of the way to a point.
    stretch_columns = ["doubt", *(["side"] if "side" in points.columns else [])]
    is_doubtful = pl.col("doubt").fill_null(False)
    was_doubtful = is_doubtful.shift(1).over("curve").fill_null(is_doubtful)
    is_in_doubt = {
        "step-before": is_doubtful,
        "step-after": was_doubtful,
        "linear": is_doubtful | was_doubtful,
    }[interpolate]
    is_first = pl.int_range(pl.len()).over("curve") == 0
    marked_points = points.with_columns(is_in_doubt.alias("doubt"))
    next_doubt = pl.col("doubt").shift(-1).over("curve")
    first_doubt = pl.when(is_first).then(next_doubt.fill_null(pl.col("doubt"))).otherwise("doubt")
    marked_points = marked_points.with_columns(first_doubt.alias("doubt")).with_row_index("place")
    marked_points = marked_points.with_columns(run=pl.struct("curve", *stretch_columns).rle_id())
    run_columns = pl.col("run", *stretch_columns)
    is_last = pl.col("run").shift(-1).over("curve") != pl.col("run")
    copies = marked_points.with_columns(run_columns.shift(-1).over("curve"), copy=True, is_last=is_last)
    copies = copies.filter("is_last").drop("is_last")
    all_points = pl.concat([marked_points.with_columns(copy=False), copies])
    return all_points.sort("place", "run", maintain_order=True).drop("place")


def describe_doubt(drawn_points: pl.DataFrame) -> list[str]:
    """Return a sentence for the note if some points are in doubt, or if that is not known."""
    if drawn_points["doubt"].any():
        has_few_positives = {"tp", "fn"} <= set(drawn_points.columns)
        has_few_positives = has_few_positives and bool(
            (drawn_points["tp"] + drawn_points["fn"] < FEW_POSITIVES).any()
        )
        or_positives = f" or {FEW_POSITIVES} positives" if has_few_positives else ""
        return [f"Dotted: fewer than {FEW_FALSE_POSITIVES} false positives{or_positives}"]
    if _FP_EFFECTIVE not in drawn_points.columns and has_sums_of_weights(drawn_points):
        return ["Weighted counts: lines with few false positives are not dotted"]
    return []


def describe_few_positives(drawn_points: pl.DataFrame) -> list[str]:
    """Return a sentence for the note if some lines are of few positives, where no alerts are counted."""
    sentence = f"Dotted: fewer than {FEW_POSITIVES} positives"
    return [sentence] if drawn_points["doubt"].any() else []


def build_records(
    channels: Channels, points: pl.DataFrame, fields: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the points as records, without nulls and with six digits."""
    fields_of_curve = {
        curve_number: channels.curve_fields(curve_number) for curve_number in points["curve"].unique()
    }
    fields = [field for field in fields if field in points.columns]
    flag_columns = [field for field in ("doubt", "copy") if field in points.columns]
    records = []
    for point in points.iter_rows(named=True):
        record = {"part": "curve", "curve": point["curve"], **fields_of_curve[point["curve"]]}
        record |= {field: round_digits(point[field]) for field in fields if point[field] is not None}
        record |= {field: 1 for field in flag_columns if point[field]}
        records.append(record | ({"run": point["run"]} if "run" in point else {}))
    return records


def pack_lines(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records, with one instead of all points of a stretch of a line: a list per number."""
    # Layers of lines unfold the list `recall_line` into `recall`, so that names and keys stand once per
    # stretch. Vega needs all lists in all of them.
    names_of_part: dict[str, dict[str, None]] = {part: {} for part in _LINE_PARTS}
    for record in records:
        names_of_part.get(record["part"], {}).update(dict.fromkeys(record))
    packed: list[dict[str, Any]] = []
    for fields, group in groupby(records, lambda record: [record.get(name) for name in _OF_STRETCH]):
        rows = list(group)
        if fields[0] not in _LINE_PARTS:
            packed += rows
            continue
        stretch = {
            name: value for name, value in zip(_OF_STRETCH, fields, strict=True) if value is not None
        }
        for name in names_of_part[stretch["part"]]:
            if name not in (*_OF_STRETCH, "copy"):
                values = [row.get(name) for row in rows]
                stretch[f"{name}_line"] = [] if values.count(None) == len(values) else values
        packed.append(stretch)
    return packed
