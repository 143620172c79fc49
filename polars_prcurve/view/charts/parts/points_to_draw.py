"""Points to draw: fewer than a table has, for the same picture, as the records that Vega reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.ground.message_text import format_count
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.names_and_numbers import round_digits

_FEWEST_COLUMNS = 60  # columns of pixels, at the least, so that a reduced curve keeps its shape
_FEW_POINTS = 2_000  # points of a chart, at most, that all are drawn
_MOST_COLUMNS = 20_000  # columns of all curves of a chart together, or its file would be too large
_HIDDEN_PIXELS = 0.5  # how far a line may be from a point that it leaves out: no eye sees half a pixel
_POINTS_PER_PIXEL = 2  # curves with more points per column of pixels are reduced
# Lines, and what the pointer reads along them.
_LINE_PARTS = ("curve", "ghost", "reference", "read", "hover")
# What all points of a stretch have in common.
_OF_STRETCH = ("part", "curve", "color", "facet", "doubt", "grey", "run", "ref", "side")
# Where the value of a point rules, as Vega names it: up to the point, from it on, or on a slope.
Interpolation: TypeAlias = Literal["step-before", "step-after", "linear"]


def keep_rises(points: pl.DataFrame) -> pl.DataFrame:
    """Return the rows where recall rises, and the last row of each curve."""
    recall_expr, curve_expr = pl.col("recall"), pl.col("curve")
    is_first, is_last = (curve_expr.ne_missing(curve_expr.shift(n_rows)) for n_rows in (1, -1))
    recall_before_expr = pl.when(is_first).then(0.0).otherwise(recall_expr.shift(1))
    return points.filter((recall_expr > recall_before_expr) | is_last)


def build_steps(points: pl.DataFrame, *value_columns: str) -> pl.DataFrame:
    """Return the points of steps: recall 0 with the first values, then the rows of `keep_rises`."""
    first_exprs = (pl.lit(0.0).alias("recall"), pl.col(value_columns).first())
    start_points = points.group_by("curve", maintain_order=True).agg(first_exprs)
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


def cut_below(
    points: pl.DataFrame, x_column: str, y_column: str, rise_expr: pl.Expr, foot_expr: pl.Expr
) -> pl.DataFrame:
    """Cut lines at the foot of a chart; points below it have a null there, which is a gap."""
    # `rise` is how far a point is above the foot; the straight line from the point before it crosses the
    # foot at a share of its way.
    x_before_expr, rise_before_expr = (
        column.shift(1).over("curve") for column in (pl.col(x_column), rise_expr)
    )
    x_at_foot_expr = x_before_expr + rise_before_expr / (rise_before_expr - rise_expr) * (
        pl.col(x_column) - x_before_expr
    )
    points = points.with_columns(pl.int_range(pl.len()).alias("place").cast(pl.Float64))
    crossing_points = points.with_columns(at=x_at_foot_expr, place=pl.col("place") - 0.5)
    crossing_points = crossing_points.filter((rise_expr < 0) != (rise_before_expr < 0))
    crossing_points = crossing_points.with_columns(
        pl.col("at").alias(x_column), foot_expr.alias(y_column), made=True
    ).drop("at")
    upper_points = points.with_columns(pl.when(rise_expr >= 0).then(y_column))
    all_points = pl.concat([upper_points, crossing_points], how="diagonal").sort("place").drop("place")
    return all_points.with_columns(pl.col("made").fill_null(False))


def bend_for_log_axis(points: pl.DataFrame, added_fprs: list[float]) -> pl.DataFrame:
    """Add points at `added_fprs`: lines that are straight on a linear axis bend on a log axis."""
    fpr_range_frame = points.group_by("curve").agg(start=pl.col("fpr").min(), end=pl.col("fpr").max())
    added_fpr_frame = pl.DataFrame({"fpr": added_fprs}, schema={"fpr": pl.Float64})
    points_between = fpr_range_frame.join(added_fpr_frame, how="cross").filter(
        pl.col("fpr").is_between("start", "end", "none")
    )
    points_between = points_between.drop("start", "end").with_columns(made=True)
    points_between = points_between.join(points, on=["curve", "fpr"], how="anti")
    all_points = pl.concat([points, points_between], how="diagonal").sort(
        "curve", "fpr", maintain_order=True
    )
    return all_points.with_columns(pl.col("recall").interpolate_by("fpr").over("curve"))


def find_marks(points: pl.DataFrame, mark_records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Add the column `marked`: whether a point is at the threshold of a mark of its curve."""
    key_columns = ["curve", "threshold"]
    if not mark_records or "threshold" not in points.columns:
        return points.with_columns(marked=False)
    key_rows = [[mark[key] for key in key_columns] for mark in mark_records]
    mark_frame = pl.DataFrame(key_rows, points.select(key_columns).schema, orient="row").unique()
    marked_points = points.join(
        mark_frame.with_columns(marked=True), on=key_columns, how="left", maintain_order="left"
    )
    return marked_points.with_columns(pl.col("marked").fill_null(False))


def thin_points(
    points: pl.DataFrame, x_pixels: pl.Expr, order_expr: pl.Expr, n_pixels: int
) -> pl.DataFrame:
    """Keep of a long curve the first, last, lowest and highest point in each column of pixels."""
    # `order` ranks points by their height. Precision is monotone in fpr / recall at every eta, so a PR
    # curve keeps the same points at every eta. Many curves are reduced more. Points `marked` stay.
    max_columns = max(_FEWEST_COLUMNS, _MOST_COLUMNS // max(points["curve"].n_unique(), 1))
    kept_share = min(1.0, max_columns / n_pixels)
    point_number = pl.int_range(pl.len())
    is_end = (point_number == 0) | (point_number == pl.len() - 1)
    is_extreme = (point_number == order_expr.arg_min()) | (point_number == order_expr.arg_max())
    is_short = pl.len().over("curve") <= _POINTS_PER_PIXEL * kept_share * n_pixels
    pixel_expr = (x_pixels * kept_share).floor().alias("pixel")
    return points.filter(is_short | (is_end | is_extreme).over("curve", pixel_expr) | pl.col("marked"))


def drop_hidden_points(
    points: pl.DataFrame, x_pixels: pl.Expr, height_pixels: Sequence[pl.Expr], interpolate: Interpolation
) -> pl.DataFrame:
    """Drop points of `split_by_doubt` without which lines and bands move by half a pixel at most."""
    # Each stretch keeps both ends, the points at gaps, and those that are `marked`. Charts of few points
    # keep all, so that each is there to read.
    if len(points) <= _FEW_POINTS:
        return points
    pixel_exprs = [x_pixels, *height_pixels]
    pixel_frame = points.select(
        expr.cast(pl.Float64).alias(f"{expr_number}") for expr_number, expr in enumerate(pixel_exprs)
    )
    is_gap = pixel_frame.select(pl.any_horizontal(pl.all().is_null())).to_series()
    is_fixed = is_gap | is_gap.shift(1, fill_value=True) | is_gap.shift(-1, fill_value=True)
    run_numbers = points["run"]
    is_fixed |= (
        run_numbers.ne_missing(run_numbers.shift(1))
        | run_numbers.ne_missing(run_numbers.shift(-1))
        | points["marked"]
    )
    # Steps before a point are steps after it, seen from the other end.
    point_order = slice(None, None, -1 if interpolate == "step-before" else 1)
    point_pixels, fixed_flags = pixel_frame.to_numpy()[point_order], is_fixed.to_numpy()[point_order]
    find_needed, is_seen = (_find_bends if interpolate == "linear" else _find_steps), fixed_flags.copy()
    for first_number, last_number in pairwise(np.flatnonzero(fixed_flags).tolist()):
        if last_number - first_number > 1:
            is_seen[
                [
                    first_number + offset
                    for offset in find_needed(point_pixels[first_number : last_number + 1])
                ]
            ] = True
    return points.filter(is_seen[point_order])


def _find_steps(point_pixels: NDArray[np.float64]) -> list[int]:
    """Return where steps leave the heights of the step before by more than half a pixel."""
    point_heights, seen_numbers, start_number = point_pixels[:, 1:].tolist(), [], 0
    for point_number in range(1, len(point_heights) - 1):
        height_pairs = zip(point_heights[point_number], point_heights[start_number], strict=True)
        if any(abs(height - start_height) > _HIDDEN_PIXELS for height, start_height in height_pairs):
            seen_numbers.append(point_number)
            start_number = point_number
    return seen_numbers


def _find_bends(point_pixels: NDArray[np.float64]) -> list[int]:
    """Return the points that a line needs to pass all within half a pixel (Douglas and Peucker 1973)."""
    seen_numbers, number_pairs = [], [(0, len(point_pixels) - 1)]
    while number_pairs:
        first_number, last_number = number_pairs.pop()
        if last_number - first_number < 2:
            continue
        direction = point_pixels[last_number] - point_pixels[first_number]
        offsets = point_pixels[first_number + 1 : last_number] - point_pixels[first_number]
        line_shares = np.clip(offsets @ direction / max(float(direction @ direction), 1e-12), 0, 1)
        distances = np.linalg.norm(offsets - line_shares[:, None] * direction, axis=1)
        farthest_offset = int(distances.argmax())
        if distances[farthest_offset] > _HIDDEN_PIXELS:
            middle_number = first_number + 1 + farthest_offset
            seen_numbers.append(middle_number)
            number_pairs += [(first_number, middle_number), (middle_number, last_number)]
    return seen_numbers


def describe_thinning(table_points: pl.DataFrame, drawn_points: pl.DataFrame) -> str:
    """Return how many points of the table are drawn, as a text, which is empty if all are."""
    if "copy" in drawn_points.columns:
        drawn_points = drawn_points.filter(pl.col("copy").not_())
    n_table_points, n_drawn_points = (
        points["made"].not_().sum() for points in (table_points, drawn_points)
    )
    if n_table_points == n_drawn_points:
        return ""
    return f"Drawn from {format_count(n_drawn_points)} of {format_count(n_table_points)} points"


def measure_steps(steps: pl.DataFrame, y_column: str) -> dict[int, float]:
    """Return the area under the steps of each curve, by its number."""
    area_expr = (pl.col(y_column) * pl.col("recall").diff().fill_null(0)).sum()
    return dict(steps.group_by("curve").agg(area_expr).rows())


def measure_areas(points: pl.DataFrame) -> dict[int, float]:
    """Return the area under the straight lines of each ROC curve, up to (1, 1), by its number."""
    # Trapezoids: tied scores make a slope, of which half counts, as in the Mann-Whitney statistic.
    width_expr = pl.col("fpr").diff().over("curve").fill_null(0)
    height_expr = pl.col("recall").fill_null(0)
    height_sum_expr = (height_expr + height_expr.shift(1)).over("curve").fill_null(0)
    # What was never scored ties below the last point.
    last_area_expr = (1 - pl.col("fpr").last()) * (1 + pl.col("recall").last()) / 2
    area_expr = pl.col("area").sum() + last_area_expr
    points_by_curve = points.with_columns(area=width_expr * height_sum_expr / 2).group_by(
        "curve", maintain_order=True
    )
    return dict(points_by_curve.agg(area_expr).rows())


def build_records(
    channels: Channels, points: pl.DataFrame, field_names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the points as records, without nulls and with six digits."""
    fields_by_curve = {
        curve_number: channels.curve_fields(curve_number) for curve_number in points["curve"].unique()
    }
    field_names = [field_name for field_name in field_names if field_name in points.columns]
    flag_columns = [field_name for field_name in ("doubt", "copy") if field_name in points.columns]
    records = []
    for point in points.iter_rows(named=True):
        record = {"part": "curve", "curve": point["curve"], **fields_by_curve[point["curve"]]}
        record |= {
            field_name: round_digits(point[field_name])
            for field_name in field_names
            if point[field_name] is not None
        }
        record |= {field_name: 1 for field_name in flag_columns if point[field_name]}
        records.append(record | ({"run": point["run"]} if "run" in point else {}))
    return records


def pack_lines(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records, with one instead of all points of a stretch of a line: a list per number."""
    # Layers of lines unfold the list `recall_line` into `recall`, so that names and keys stand once per
    # stretch. Vega needs all lists in all of them.
    field_names_by_part: dict[str, dict[str, None]] = {part: {} for part in _LINE_PARTS}
    for record in records:
        field_names_by_part.get(record["part"], {}).update(dict.fromkeys(record))
    packed_records: list[dict[str, Any]] = []
    for stretch_values, stretch_group in groupby(
        records, lambda record: [record.get(field_name) for field_name in _OF_STRETCH]
    ):
        point_records = list(stretch_group)
        if stretch_values[0] not in _LINE_PARTS:
            packed_records += point_records
            continue
        line_record = {
            field_name: value
            for field_name, value in zip(_OF_STRETCH, stretch_values, strict=True)
            if value is not None
        }
        for field_name in field_names_by_part[line_record["part"]]:
            if field_name not in (*_OF_STRETCH, "copy"):
                field_values = [point_record.get(field_name) for point_record in point_records]
                line_record[f"{field_name}_line"] = (
                    [] if field_values.count(None) == len(field_values) else field_values
                )
        packed_records.append(line_record)
    return packed_records
