"""The points of curves that are drawn, reduced without changing the picture, as Vega reads them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from polars_prcurve.charts.channels import Channels
from polars_prcurve.charts.curves import Curves
from polars_prcurve.charts.words import rounded, said_count, said_share, said_size, said_threshold

__all__ = [
    "HOVERED",
    "bent",
    "corners",
    "from_origin",
    "place_on_log",
    "records",
    "risen",
    "said_thinned",
    "steps",
    "thinned",
    "with_made",
]

_PIXELS = 500  # columns of a panel
_POINTS_PER_PIXEL = 4  # curves that have more are thinned
HOVERED = 200  # points per curve: as many as a pointer can tell apart


def risen(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows where recall rises and the last, of each curve."""
    recall, curve = pl.col("recall"), pl.col("curve")
    first, last = (curve.ne_missing(curve.shift(by)) for by in (1, -1))
    before = pl.when(first).then(0.0).otherwise(recall.shift(1))
    return rows.filter((recall > before) | last)


def steps(rows: pl.DataFrame, *values: str) -> pl.DataFrame:
    """The rows where recall rises and the last, from recall 0 on; `made` marks what is added."""
    start = rows.group_by("curve", maintain_order=True).agg(
        pl.lit(0.0).alias("recall"), pl.col(values).first()
    )
    return with_made(start, risen(rows))


def from_origin(rows: pl.DataFrame) -> pl.DataFrame:
    origin = rows.select(pl.col("curve").unique(maintain_order=True), recall=0.0, fpr=0.0)
    return with_made(origin, rows.filter((pl.col("recall") > 0) | (pl.col("fpr") > 0)))


def with_made(made: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Points of ours, and after them those of the table, curve by curve."""
    marked = [made.with_columns(made=True), rows.with_columns(made=False)]
    return pl.concat(marked, how="diagonal").sort("curve", maintain_order=True)


def corners(points: pl.DataFrame) -> pl.DataFrame:
    """Leave out the inside of what is straight up or straight across."""

    def inside(value: pl.Expr) -> pl.Expr:
        return ((value == value.shift(1)) & (value == value.shift(-1))).fill_null(False).over("curve")

    return points.filter(~inside(pl.col("recall")) & ~inside(pl.col("fpr")))


def bent(points: pl.DataFrame, steps: list[float]) -> pl.DataFrame:
    """Further points on lines that are straight on a linear axis and are not on a log axis."""
    ends = points.group_by("curve").agg(pl.col("fpr").max().alias("end"))
    between = ends.join(pl.DataFrame({"fpr": steps}), how="cross").filter(pl.col("fpr") < pl.col("end"))
    between = between.drop("end").join(points, on=["curve", "fpr"], how="anti").with_columns(made=True)
    merged = pl.concat([points, between], how="diagonal").sort("curve", "fpr", maintain_order=True)
    return merged.with_columns(pl.col("recall").interpolate_by("fpr").over("curve"))


def thinned(
    points: pl.DataFrame, along: pl.Expr, across: pl.Expr, pixels: int = _PIXELS
) -> pl.DataFrame:
    """Of a long curve: in each column of pixels the first, last, lowest and highest point.

    Precision is monotone in fpr / recall at every eta, so which points stay is free of eta.
    """
    place = pl.int_range(pl.len())
    ends = (place == 0) | (place == pl.len() - 1)
    kept = ends | (place == across.arg_min()) | (place == across.arg_max())
    short = pl.len().over("curve") <= _POINTS_PER_PIXEL * pixels
    pixel = (along * pixels).floor().alias("pixel")
    return points.filter(short | kept.over("curve", pixel))


def place_on_log(edge: float) -> pl.Expr:
    return 1 - pl.max_horizontal("fpr", pl.lit(edge)).log() / math.log(edge)


def said_thinned(points: pl.DataFrame, drawn: pl.DataFrame) -> str:
    before, after = (frame["made"].not_().sum() for frame in (points, drawn))
    return "" if before == after else f"Drawn from {said_count(after)} of {said_count(before)} points"


def records(
    curves: Curves, channels: Channels, points: pl.DataFrame, drawn: Sequence[str], told: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """The points as Vega reads them: no null, 6 digits; what tooltips need only where they are."""
    place = pl.int_range(pl.len()).over("curve")
    every = pl.len().over("curve") // HOVERED + 1
    made = pl.col("made") if "made" in points.columns else pl.lit(False)
    marked = points.with_columns(hover=~made & (place % every == 0))
    placed = {row["curve"]: channels.of_curve(at) for at, row in enumerate(curves.each.to_dicts())}
    each = {row["curve"]: row for row in curves.each.to_dicts()}
    for order, row in enumerate(marked.iter_rows(named=True)):
        record = {"part": "curve", "curve": row["curve"], "order": order, **placed[row["curve"]]}
        record |= {name: rounded(row[name]) for name in drawn if row[name] is not None}
        if row["hover"]:
            known = row | _facts(row | each[row["curve"]])
            record["hover"] = 1
            record |= {name: rounded(known[name]) for name in told if known[name] is not None}
        yield record


def _facts(known: dict[str, Any]) -> dict[str, str | None]:
    """What tooltips say in words."""
    n_pos, n_neg = known["n_pos"], known["n_neg"]
    return {
        "threshold": said_threshold(known.get("threshold")),
        "prevalence": said_share(known["eta"]) if "eta" in known else None,
        "test_set": None if n_pos is None or n_neg is None else said_size(n_pos, n_neg),
    }
