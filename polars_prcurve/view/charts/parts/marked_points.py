"""Marked points: rows of a table such as `operating_points`, on the curves that they are points of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.safe_text import format_count
from polars_prcurve.view.charts.parts.chart_titles import find_known_half, say_point, say_values
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.label_formats import LOWER, round_digits
from polars_prcurve.view.charts.parts.line_canvas import Canvas
from polars_prcurve.view.charts.parts.point_thinning import MIN_FALSE_ALERTS, has_points_alone
from polars_prcurve.view.charts.parts.result_tables import ChartCurves, check_table, pick_columns
from polars_prcurve.view.words.number_words import (
    SayShares,
    say_count,
    say_part,
    say_precisions,
    say_share,
    say_shares,
    say_threshold,
)

_MOST_COMPARED = 12  # labels, at most, whose digits tell each from all others
# Lines of a panel, at most, whose threshold at half recall is marked unless the user gives points.
_MOST_HALVES = 3


@dataclass(frozen=True)
class MarkedPoints:
    """Points to mark, and how many rows cannot be drawn."""

    # Rows with `curve`, `threshold`, `recall`, `fpr`, `precision`, `holds_from`, `holds_to`, `goal`.
    rows: list[dict[str, Any]]
    n_missing: int
    n_elsewhere: int
    guarantee: float | None

    def describe(self) -> list[str]:
        """Return sentences for the note on what is marked, and on what is not drawn."""
        lines = []
        if self.rows and self.guarantee is not None:
            share = say_share(self.guarantee)
            lines.append(f"Marked: thresholds that meet their target with {share} confidence")
        if any(row["holds_from"] is not None for row in self.rows):
            rule = "from the first to the last threshold for which that holds"
            lines.append(f"Thin rule with two ends: {rule}")
        n_lost = {"no threshold meets the target": self.n_missing, "no such curve": self.n_elsewhere}
        return lines + [
            f"{format_count(n)} point{'' if n == 1 else 's'} not drawn: {reason}"
            for reason, n in n_lost.items()
            if n
        ]

    def find_title(self, curves: ChartCurves, channels: Channels) -> str:
        """Return what a single point says, or one point of each line at one recall if known well."""
        rows, per_curve = self.rows, curves.per_curve
        if not rows or any(row["precision"] is None for row in rows):
            return ""
        if len(rows) == 1:
            [row] = rows
            threshold = say_threshold(row["threshold"], [row[LOWER]]) if LOWER in row else ""
            return say_point(threshold, row["precision"], row["recall"])
        goal, _, target = rows[0]["goal"].partition(" ")
        shares = {row["curve"]: row["precision"] for row in rows}
        is_one_each = len(rows) == len(shares) == len(per_curve)
        is_one_goal = goal == "recall" and len({row["goal"] for row in rows}) == 1
        if not is_one_each or not is_one_goal or "eta" not in per_curve.columns:  # ROC has no prevalence
            return ""
        n_neg = dict(per_curve.select("curve", "n_neg").rows())
        alerts = [(row["fpr"] or 0) * (n_neg[row["curve"]] or 0) for row in rows]
        if (
            min(alerts) < MIN_FALSE_ALERTS - 0.5
            or curves.has_few_positives
            or has_points_alone(curves.rows)
        ):
            return ""
        purpose = f"To find {say_part(float(target))} of the positives,"
        end = "of the alerts are right"
        return say_values(purpose, end, shares, curves, channels, say=say_precisions)


def check_points(chart: str, points: object, required_columns: Sequence[str]) -> pl.DataFrame:
    """Return `points=`; raise unless it is a DataFrame that has the needed columns."""
    columns = list(dict.fromkeys(["threshold", *required_columns]))
    return check_table(f"points= of {chart}", points, "operating_points", columns)


def read_points(
    chart: str, points: object, curves: ChartCurves, required_columns: Sequence[str]
) -> MarkedPoints:
    """Return the rows of `points=`, each with its curve; raise if the table does not fit."""
    if points is None:
        return MarkedPoints([], 0, 0, None)
    frame = check_points(chart, points, required_columns)
    keys = {
        field: name
        for field, name in curves.field_names.items()
        if not field.startswith("carried")
        and (curves.count_distinct([field]) > 1 or name in frame.columns)  # it tells curves apart
    }
    for field, name in keys.items():
        if name not in frame.columns:
            raise PrcError(
                f"points= of {chart} needs the column {name!r}, which tells curves apart; make them "
                "with the by= and eta= of the table"
            )
        curve_dtype, point_dtype = curves.per_curve.schema[field], frame.schema[name]
        if curve_dtype != point_dtype:
            raise PrcError(
                f"points= of {chart} has {name!r} of dtype {point_dtype}, and the table of dtype "
                f"{curve_dtype}; make both from one table"
            )
    columns = ["threshold", "recall", "fpr", "precision", "holds_from", "holds_to", "guarantee"]
    columns = list(dict.fromkeys([*columns, *required_columns]))
    point_rows = pick_columns(frame, keys, [name for name in columns if name in frame.columns])
    absent_columns = [name for name in columns if name not in frame.columns]
    nulls = [pl.lit(None).alias(name) for name in absent_columns]
    point_rows = point_rows.with_columns(*nulls, _read_goals(frame))
    complete_rows = point_rows.drop_nulls(list(required_columns))
    drawn_rows = complete_rows.unique(maintain_order=True).with_row_index("row")
    curve = curves.per_curve.select("curve", *keys)
    join_options: dict[str, Any] = {"on": list(keys), "nulls_equal": True, "maintain_order": "left"}
    placed_rows = drawn_rows.join(curve, **(join_options if keys else {"how": "cross"}))
    guarantee = placed_rows["guarantee"].cast(pl.Float64).drop_nulls().unique()
    return MarkedPoints(
        placed_rows.drop(keys).to_dicts(),
        point_rows.height - complete_rows.height,
        drawn_rows.height - placed_rows["row"].n_unique(),
        guarantee[0] if len(guarantee) == 1 else None,
    )


def mark_half(curves: ChartCurves, channels: Channels) -> MarkedPoints:
    """Return the highest threshold that finds half of the positives, of few curves known well."""
    half, facet = find_known_half(curves), channels.facet
    # Panels may be prevalences, but no groups: those would be many.
    is_shown = len(half) <= _MOST_HALVES * (len(facet.labels) if facet else 1)
    is_shown = is_shown and (facet is None or facet.fields == ["eta"])
    # Without the next lower thresholds, which only a table of all scores has.
    rows = half.drop(LOWER, strict=False).to_dicts() if is_shown else []
    beside = {"holds_from": None, "holds_to": None, "goal": "recall 0.5"}
    return MarkedPoints([{"precision": None} | row | beside for row in rows], 0, 0, None)


def add_lower(marked: MarkedPoints, curves: ChartCurves) -> MarkedPoints:
    """Return the points with the next lower threshold of their curves, of a table of all scores."""
    rows = []
    for row in marked.rows:
        scores = curves.rows.filter(pl.col("curve") == row["curve"])["threshold"]
        rows.append(row | {LOWER: scores.filter(scores < row["threshold"]).max()})
    return replace(marked, rows=rows)


def _read_goals(frame: pl.DataFrame) -> pl.Series:
    """Return what each point was chosen for, such as `recall 0.5`; empty if the table does not tell."""
    goals = [""] * len(frame)
    if {"criterion", "target"} <= set(frame.columns):
        target = frame.get_column("target").cast(pl.Float64)
        goal_parts = zip(frame.get_column("criterion").cast(pl.String), target, strict=True)
        goals = [f"{criterion or ''}{'' if t is None else f' {t:.4g}'}" for criterion, t in goal_parts]
    return pl.Series("goal", goals, dtype=pl.String)


def mark_points(
    marked: MarkedPoints,
    canvas: Canvas,
    *,
    x_of: Callable[[dict[str, Any]], float | None],
    y_of: Callable[[dict[str, Any]], dict[str, float | None]],
    span_of: Callable[[dict[str, Any]], tuple[float, float] | None],
    say_heights: Callable[[str, list[float], SayShares], list[str]] | None = None,
) -> list[dict[str, Any]]:
    """Return the records of points, and of the thin rules of what they hold for."""
    # `y_of` returns the heights of a point by their field; a point can have one in each of several
    # charts. `say_heights` returns the labels of a field's heights, of one prevalence if these are
    # panels.
    channels, x_field = canvas.channels, canvas.spec.x.field
    records: list[dict[str, Any]] = []
    by_eta = channels.facet is not None and "eta" in channels.facet.fields
    labelled: dict[tuple[str, Any], list[tuple[dict[str, Any], float]]] = {}
    for row in marked.rows:
        at_x, place = x_of(row), channels.curve_fields(row["curve"])
        heights = {name: height for name, height in y_of(row).items() if height is not None}
        if at_x is None or not heights:
            continue
        rounded = {name: round_digits(height) for name, height in heights.items()}
        rate_names = [name for name in ("precision", "recall") if row[name] is not None]
        shares = zip(rate_names, say_shares([row[name] for name in rate_names]), strict=True)
        threshold = say_threshold(row["threshold"], [row[LOWER]] if LOWER in row else None)
        threshold_words = f"threshold {threshold}" if threshold else ""
        text = ", ".join(filter(None, [row["goal"], threshold_words, *map(" ".join, shares)]))
        mark = {"part": "mark", "said": text, x_field: round_digits(at_x)} | rounded | place
        records.append(mark)
        for name, height in heights.items():
            panel = place.get("facet") if by_eta else None
            labelled.setdefault((name, panel), []).append((mark, height))
        span = span_of(row) if row["holds_from"] is not None else None
        if span is not None:
            ends = {x_field: round_digits(min(span)), "to": round_digits(max(span))}
            records.append({"part": "span", **rounded, **ends, **place})
            records += [{"part": "cap", **rounded, x_field: end, **place} for end in ends.values()]
    for (name, _), marks in labelled.items():  # together, so that they have equal digits
        values = [height for _, height in marks]
        say: SayShares = say_precisions if name == "precision" else say_shares
        if len(values) > _MOST_COMPARED:
            say = _say_one_by_one
        labels = [say_count(value, 2) for value in values] if name == "alerts" else say(values)
        words = say_heights(name, values, say) if say_heights else labels
        for (mark, _), label in zip(marks, words, strict=True):
            mark[f"{name}_label"] = label
    return records


def _say_one_by_one(shares: Sequence[float]) -> list[str]:
    """Return each share in the digits that it needs by itself."""
    return [say_share(share) for share in shares]


def find_rates(curves: ChartCurves, row: dict[str, Any], rate: str, least: float) -> tuple[float, float]:
    """Return a rate at both ends of what a point holds for, or `least` above all scores."""
    line = curves.rows.filter(pl.col("curve") == row["curve"])
    threshold = pl.col("threshold").cast(pl.Float64)
    tops = (
        pl.col(rate).filter(threshold >= float(row[end])).max() for end in ("holds_to", "holds_from")
    )
    low, high = (max(line.select(top).item() or 0.0, least) for top in tops)
    return low, high
