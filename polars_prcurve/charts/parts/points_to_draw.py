"""Points to draw: fewer than a table has, for the same picture, as the records that Vega reads.

rows -> build_steps, start_at_origin   points where the line starts; `made` marks added points
     -> drop_straight_points           without points that lie on a line between neighbours
     -> thin_points                    of a long curve a few points per column of pixels
     -> build_records                  one dict per point, with what its tooltip says
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from polars_prcurve.charts.parts.chart_curves import ChartCurves
from polars_prcurve.charts.parts.colors_and_panels import Channels
from polars_prcurve.charts.parts.number_formats import (
    format_class_sizes,
    format_count,
    format_share,
    format_threshold,
    round_digits,
)

_PANEL_PIXELS = 500  # no panel is wider
_POINTS_PER_PIXEL = 4  # curves with more points per column of pixels are thinned
MAX_HOVERED = 200
"""Points of a curve, about, that have a tooltip: a pointer cannot tell more of them apart."""


def keep_rises(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows where recall rises, and the last row of each curve."""
    recall, curve = pl.col("recall"), pl.col("curve")
    first, last = (curve.ne_missing(curve.shift(by)) for by in (1, -1))
    before = pl.when(first).then(0.0).otherwise(recall.shift(1))
    return rows.filter((recall > before) | last)


def build_steps(rows: pl.DataFrame, *values: str) -> pl.DataFrame:
    """Return the points of steps: recall 0 with the first values, then the rows of `keep_rises`."""
    start = rows.group_by("curve", maintain_order=True).agg(
        pl.lit(0.0).alias("recall"), pl.col(values).first()
    )
    return prepend_made(start, keep_rises(rows))


def start_at_origin(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows, after a point at recall 0 and fpr 0 in each curve."""
    origin = rows.select(pl.col("curve").unique(maintain_order=True), recall=0.0, fpr=0.0)
    return prepend_made(origin, rows.filter((pl.col("recall") > 0) | (pl.col("fpr") > 0)))


def prepend_made(made: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Return in each curve the points of `made`, then those of `rows`; the column `made` tells which."""
    marked = [made.with_columns(made=True), rows.with_columns(made=False)]
    return pl.concat(marked, how="diagonal").sort("curve", maintain_order=True)


def drop_straight_points(points: pl.DataFrame) -> pl.DataFrame:
    """Drop the points inside a stretch of equal recall or of equal fpr."""

    def inside(value: pl.Expr) -> pl.Expr:
        return ((value == value.shift(1)) & (value == value.shift(-1))).fill_null(False).over("curve")

    return points.filter(~inside(pl.col("recall")) & ~inside(pl.col("fpr")))


def bend_for_log_axis(points: pl.DataFrame, steps: list[float]) -> pl.DataFrame:
    """Add points at the fpr of `steps`: lines that are straight on a linear axis bend on a log axis."""
    ends = points.group_by("curve").agg(pl.col("fpr").max().alias("end"))
    between = ends.join(pl.DataFrame({"fpr": steps}), how="cross").filter(pl.col("fpr") < pl.col("end"))
    between = between.drop("end").join(points, on=["curve", "fpr"], how="anti").with_columns(made=True)
    merged = pl.concat([points, between], how="diagonal").sort("curve", "fpr", maintain_order=True)
    return merged.with_columns(pl.col("recall").interpolate_by("fpr").over("curve"))


def thin_points(
    points: pl.DataFrame, along: pl.Expr, across: pl.Expr, pixels: int = _PANEL_PIXELS
) -> pl.DataFrame:
    """Keep of a long curve the first, last, lowest and highest point in each column of pixels.

    `along` is the place on the x axis from 0 to 1, and `across` orders points by height. Precision is
    monotone in fpr / recall at every eta, so a PR curve keeps the same points at every eta.
    """
    number = pl.int_range(pl.len())
    is_end = (number == 0) | (number == pl.len() - 1)
    is_extreme = (number == across.arg_min()) | (number == across.arg_max())
    is_short = pl.len().over("curve") <= _POINTS_PER_PIXEL * pixels
    pixel = (along * pixels).floor().alias("pixel")
    return points.filter(is_short | (is_end | is_extreme).over("curve", pixel))


def log_position(edge: float) -> pl.Expr:
    """Place of fpr on a log axis from `edge` to 1, as a share of the axis."""
    return 1 - pl.max_horizontal("fpr", pl.lit(edge)).log() / math.log(edge)


def describe_thinning(points: pl.DataFrame, drawn: pl.DataFrame) -> str:
    """Return how many points of the table are drawn, as a text, which is empty if all are."""
    before, after = (frame["made"].not_().sum() for frame in (points, drawn))
    return (
        "" if before == after else f"Drawn from {format_count(after)} of {format_count(before)} points"
    )


def build_records(
    curves: ChartCurves,
    channels: Channels,
    points: pl.DataFrame,
    fields: Sequence[str],
    tooltip_fields: Sequence[str],
) -> Iterator[dict[str, Any]]:
    """Yield the points as records, without nulls and with six digits.

    The fields of tooltips would be most of the data, so only points with a tooltip have them.
    """
    number = pl.int_range(pl.len()).over("curve")
    every = pl.len().over("curve") // MAX_HOVERED + 1
    made = pl.col("made") if "made" in points.columns else pl.lit(False)
    marked = points.with_columns(hover=~made & (number % every == 0))
    per_curve = curves.per_curve.to_dicts()
    place_of = {row["curve"]: channels.curve_fields(i) for i, row in enumerate(per_curve)}
    curve_of = {row["curve"]: row for row in per_curve}
    for order, row in enumerate(marked.iter_rows(named=True)):
        record = {"part": "curve", "curve": row["curve"], "order": order, **place_of[row["curve"]]}
        record |= {name: round_digits(row[name]) for name in fields if row[name] is not None}
        if row["hover"]:
            shown = row | _describe_point(row | curve_of[row["curve"]])
            record["hover"] = 1
            record |= {
                name: round_digits(shown[name]) for name in tooltip_fields if shown[name] is not None
            }
        yield record


def _describe_point(point: dict[str, Any]) -> dict[str, str | None]:
    """Return the texts of a tooltip: the threshold, the prevalence and the test set of a point."""
    n_pos, n_neg = point["n_pos"], point["n_neg"]
    return {
        "threshold": format_threshold(point.get("threshold")),
        "prevalence": format_share(point["eta"]) if "eta" in point else None,
        "test_set": None if n_pos is None or n_neg is None else format_class_sizes(n_pos, n_neg),
    }
