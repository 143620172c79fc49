"""Marked points: rows of a table such as `operating_points`, on the curves that they are points of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import add_noun, format_count
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis
from polars_prcurve.view.charts.parts.chart_curves import (
    ChartCurves,
    check_table,
    pick_columns,
    read_points_targets,
)
from polars_prcurve.view.charts.parts.colors_and_panels import Channels
from polars_prcurve.view.charts.parts.line_drawing import Canvas
from polars_prcurve.view.charts.parts.names_and_numbers import LOWER, name_target, round_digits
from polars_prcurve.view.charts.parts.points_to_draw import has_points_alone
from polars_prcurve.view.charts.parts.title_phrases import (
    find_half,
    name_curves,
    say_each,
    say_point,
    say_reached,
    say_resting,
    say_values,
)
from polars_prcurve.view.words.number_words import (
    FEW_FALSE_POSITIVES,
    FEW_POSITIVES,
    RARELY_RIGHT,
    SayShares,
    say_count,
    say_precisions,
    say_shares,
    say_target,
    say_threshold,
)
from polars_prcurve.view.words.shown_names import start_sentence

# Lines of a panel, at most, whose threshold at half recall is marked unless the user gives points.
_MOST_HALVES = 3
# Points of a panel, at most, that have numbers then: those of more would lie on lines. The digits of so
# many labels distinguish each from all others.
_MOST_NUMBERS = 4
_LIMITS = ("precision_low", "precision_high")  # of the interval of a point that is drawn

# The shapes of the points of up to four targets, as Vega names them, and in words.
_SHAPES = {"circle": "circles", "square": "squares", "diamond": "diamonds", "triangle-up": "triangles"}

_TOLD: dict[str, tuple[str, SayShares]] = {
    "recall": ("precision", say_precisions),
    "threshold": ("precision", say_precisions),
    "precision": ("recall", say_shares),
}
"""Of points with one target: the column that a title is on, and how it is written."""


@dataclass(frozen=True)
class MarkedPoints:
    """Points to mark, and how many rows cannot be drawn."""

    # Records with `curve`, `threshold`, `recall`, `fpr`, `precision`, `holds_from`, `holds_to`, and what
    # each was chosen for: `criterion`, `target`, and both as the text `goal`.
    records: list[dict[str, Any]]
    n_missing: int
    n_elsewhere: int
    guarantee: float | None
    is_asked: bool = True  # whether the user gave them, and the title may be about them

    @property
    def shape_of_goal(self) -> dict[str, str]:
        """The shape of the points of each of a few targets; empty for one, and for many."""
        goals = [*dict.fromkeys(record["goal"] for record in self.records)]
        return dict(zip(goals, _SHAPES, strict=False)) if 2 <= len(goals) <= len(_SHAPES) else {}

    def describe_shapes(self) -> str:
        """Return a sentence for the note on the shapes of points; empty if all have one."""
        shape_of_goal = self.shape_of_goal
        shapes = [
            f"{_SHAPES[shape_of_goal[goal]]}, {self._say_goal(goal)}" for goal in shape_of_goal if goal
        ]
        return start_sentence("; ".join(shapes))

    def _say_goal(self, goal: str) -> str:
        """Return what points were chosen for, or the rate to which ties lift them above it."""
        records = [record for record in self.records if record["goal"] == goal]
        criterion, target = records[0]["criterion"], records[0]["target"]
        if criterion not in ("recall", "precision") or any(row[criterion] is None for row in records):
            return goal
        return say_reached([record[criterion] for record in records], target, criterion)

    def describe(self) -> list[str]:
        """Return sentences for the note on what is marked, and on what is not drawn."""
        sentences = []
        if self.records and self.guarantee is not None:
            share = say_target(self.guarantee)
            sentences.append(f"Marked: thresholds that meet their target with {share} confidence")
        if any(row.get("is_unsure") and not row.get("is_mute") for row in self.records):
            sentences.append("Thin numbers: in doubt, as dotted lines are")
        if not self.is_asked and any(record.get("is_mute") for record in self.records):
            # All are at half of the positives.
            sentences.append(f"Points: {self._say_goal(self.records[0]['goal'])}")
        if any(None not in map(row.get, _LIMITS) for row in self.records):
            sentences.append("Upright rule at a point: the interval of its precision")
        if any(row["holds_from"] is not None for row in self.records):
            rule_text = "from the first to the last threshold for which that holds"
            sentences.append(f"Thin rule with two ends: {rule_text}")
        n_lost_by_reason = {
            "no threshold meets the target": self.n_missing,
            "no such curve": self.n_elsewhere,
        }
        return sentences + [
            f"{add_noun(format_count(n_points), 'point')} not drawn: {reason}"
            for reason, n_points in n_lost_by_reason.items()
            if n_points
        ]

    def find_title(self, curves: ChartCurves, channels: Channels) -> str:
        """Return the title on a single point, or one point of each line at one recall if known well."""
        records, curve_rows = self.pick_told(), curves.curve_rows
        if not records or any(record["precision"] is None for record in records):
            return ""
        if len(records) == 1:
            [record] = records
            threshold_text = (
                say_threshold(record["threshold"], [record[LOWER]]) if LOWER in record else ""
            )
            return say_point(threshold_text, record["precision"], record["recall"])
        criterion, target = records[0]["criterion"], records[0]["target"]
        is_of_roc = "eta" not in curve_rows.columns  # which has no prevalence
        is_one_each = len(records) == len({record["curve"] for record in records}) == len(curve_rows)
        is_one_goal = criterion in _TOLD and len({record["goal"] for record in records}) == 1
        if (
            not (is_one_each and is_one_goal)
            or (is_of_roc and (criterion != "recall" or any(row["fpr"] is None for row in records)))
            or curves.has_few_positives
            or has_points_alone(curves.points)
        ):
            return ""
        column, say_numbers = _TOLD[criterion]
        recalls = {name: [record[name] for record in records] for name in ("curve", "recall")}
        named_points = pl.DataFrame(recalls) if criterion == "recall" else None
        if criterion == "threshold":
            place_text = f"threshold {say_threshold(target)}"
        else:
            place_text = say_reached([record[criterion] for record in records], target, criterion)
        counts = zip(records, _count_false_positives(records, curve_rows), strict=True)
        few_curves = [record["curve"] for record, n in counts if n < FEW_FALSE_POSITIVES - 0.5]
        if few_curves:
            return "" if is_of_roc else say_resting(place_text, few_curves, curves, channels)
        values = {record["curve"]: record["fpr" if is_of_roc else column] for record in records}
        if is_of_roc:
            start, names = (
                f"At {place_text}, the false positive rate is",
                (curves, channels, named_points),
            )
            return say_each(start, "", values, name_curves(*names))
        look: dict[str, Any] = {"say_numbers": say_numbers, "points": named_points}
        return say_values(f"At {place_text}, {column} is", values, curves, channels, **look)

    def mute(self) -> tuple[MarkedPoints, list[str]]:
        """Return points of which those of the first target have numbers, and a sentence on that."""
        told_goals = {record["goal"] for record in self.pick_told()}
        if len(told_goals) != 1 or len({record["goal"] for record in self.records}) == 1:
            return self, []
        records = [record | {"is_mute": record["goal"] not in told_goals} for record in self.records]
        return replace(self, records=records), [
            f"Numbers at points: those at {self._say_goal(min(told_goals))}"
        ]

    def pick_told(self) -> list[dict[str, Any]]:
        """Return the points of the first target that a title has words for, or all points of one."""
        goals = [*dict.fromkeys(record["goal"] for record in self.records)]
        told_goals = [record["goal"] for record in self.records if record["criterion"] in _TOLD]
        if len(goals) < 2 or not told_goals:
            return self.records
        return [record for record in self.records if record["goal"] == told_goals[0]]


def _count_false_positives(records: list[dict[str, Any]], curve_rows: pl.DataFrame) -> list[float]:
    """Return the false positives at each point."""
    row_of_curve, fp_counts = curve_rows.rows_by_key("curve", named=True, unique=True), []
    for record in records:
        curve_row, fpr = row_of_curve[record["curve"]], record["fpr"]
        eta = curve_row.get("eta", 0)
        if fpr is None and 0 < eta < 1 and record["precision"]:  # it follows from precision
            odds = (1 - record["precision"]) / record["precision"]
            fpr = record["recall"] * odds * eta / (1 - eta)
        fp_counts.append(float((fpr or 0) * (curve_row["n_neg"] or 0)))
    return fp_counts


NO_MARKS = MarkedPoints([], 0, 0, None, is_asked=False)  # of a chart without points


def check_points(chart_name: str, result: object, required_columns: Sequence[str]) -> pl.DataFrame:
    """Return `points=`; raise unless it is a DataFrame that has the needed columns."""
    columns = list(dict.fromkeys(["threshold", *required_columns]))
    return check_table(f"points= of {chart_name}", result, "operating_points", columns)


def read_points(
    chart_name: str, points: object, curves: ChartCurves, required_columns: Sequence[str]
) -> MarkedPoints:
    """Return the rows of `points=`, each with its curve; raise if the table does not fit."""
    if points is None:
        return NO_MARKS
    result = check_points(chart_name, points, required_columns)
    key_fields = {
        field: column
        for field, column in curves.column_by_field.items()
        if not field.startswith("carried")
        and (curves.count_distinct([field]) > 1 or column in result.columns)  # it distinguishes curves
    }
    for field, column in key_fields.items():
        if column not in result.columns:
            raise PrcError(
                f"make points= with the by= and eta= of the table: {chart_name} needs the column "
                f"{column!r} in points= to find the curve"
            )
        curve_dtype, point_dtype = curves.curve_rows.schema[field], result.schema[column]
        if curve_dtype != point_dtype:
            raise PrcError(
                f"make points= and the table from one table: {column!r} of {chart_name} is of dtype "
                f"{point_dtype} in one and {curve_dtype} in the other"
            )
    columns = ["threshold", "recall", "fpr", "precision", "holds_from", "holds_to", "guarantee"]
    columns += _LIMITS if "precision" in required_columns else ()  # or they are not drawn
    columns = list(dict.fromkeys([*columns, *required_columns]))
    present_columns = [column for column in columns if column in result.columns]
    point_rows = pick_columns(result, key_fields, present_columns)
    null_exprs = [pl.lit(None).alias(column) for column in columns if column not in present_columns]
    point_rows = point_rows.with_columns(*null_exprs, *_read_goals(result))
    complete_rows = point_rows.drop_nulls(list(required_columns))
    drawn_rows = complete_rows.unique(maintain_order=True).with_row_index("row")
    curve_keys = curves.curve_rows.select("curve", *key_fields)
    join_options: dict[str, Any] = {"on": [*key_fields], "nulls_equal": True, "maintain_order": "left"}
    placed_rows = drawn_rows.join(curve_keys, **(join_options if key_fields else {"how": "cross"}))
    guarantee = placed_rows["guarantee"].cast(pl.Float64).drop_nulls().unique()
    return MarkedPoints(
        placed_rows.drop(key_fields).to_dicts(),
        point_rows.height - complete_rows.height,
        drawn_rows.height - placed_rows["row"].n_unique(),
        guarantee[0] if len(guarantee) == 1 else None,
    )


def choose_points(
    chart_name: str,
    points: object,
    curves: ChartCurves,
    channels: Channels,
    required_columns: Sequence[str],
) -> MarkedPoints:
    """Return the rows of `points=`, or those of `mark_halves` without it."""
    if points is None:
        return mark_halves(curves, channels, _MOST_HALVES)
    return read_points(chart_name, points, curves, required_columns)


def mark_halves(curves: ChartCurves, channels: Channels, max_in_panel: int) -> MarkedPoints:
    """Return the highest threshold that finds half of the positives, of a few lines with a colour."""
    color, n_panels = channels.color, len(channels.facet.labels) if channels.facet else 1
    shown_curves = (
        [curve for label in color.shown_labels for curve in color.curves_of_label[label]]
        if color
        else [*curves.curve_rows["curve"]]
    )
    half_points = find_half(curves).filter(pl.col("curve").is_in(shown_curves))
    few_curves = curves.curve_rows.filter(pl.col("n_pos") < FEW_POSITIVES)["curve"].to_list()
    is_unsure = pl.col("doubt").fill_null(True) | pl.col("curve").is_in(few_curves)
    is_shown = len(half_points) <= max_in_panel * n_panels
    is_mute = pl.lit(len(half_points) > _MOST_NUMBERS * n_panels)
    half_points = half_points.with_columns(is_unsure=is_unsure, is_mute=is_mute)
    return _build_halves(half_points.filter(is_shown))


def _build_halves(half_points: pl.DataFrame) -> MarkedPoints:
    """Return points at 50% recall that no user requested."""
    # Without the next lower thresholds, which only a table of all scores has, and the limits of bands,
    # which are those of a threshold that was fixed beforehand.
    half_records = half_points.drop(LOWER, *_LIMITS, strict=False).to_dicts()
    empty_fields: dict[str, Any] = {"holds_from": None, "holds_to": None}
    empty_fields |= {"criterion": "recall", "target": 0.5, "goal": name_target("recall", 0.5)}
    return MarkedPoints(
        [{"precision": None} | record | empty_fields for record in half_records], 0, 0, None, False
    )


def add_lower(marked_points: MarkedPoints, curves: ChartCurves) -> MarkedPoints:
    """Return the points with the next lower threshold of their curves, of a table of all scores."""
    records = []
    for record in marked_points.records:
        curve_thresholds = curves.points.filter(pl.col("curve") == record["curve"])["threshold"]
        is_lower = curve_thresholds.to_frame().select(
            pl.first() < pl.lit(record["threshold"], curve_thresholds.dtype)
        )
        records.append(record | {LOWER: curve_thresholds.filter(is_lower.to_series()).max()})
    return replace(marked_points, records=records)


def _read_goals(result: pl.DataFrame) -> list[pl.Series]:
    """Return what each point was chosen for, also in words; nothing if it is not in the table."""
    if not {"criterion", "target"} <= set(result.columns):
        goal_rows = pl.DataFrame({"criterion": "", "target": None, "goal": [""] * len(result)})
        return goal_rows.get_columns()
    plain_columns = pl.col("criterion").cast(pl.String), pl.col("target").cast(pl.Float64)
    targets = read_points_targets(result.with_columns(plain_columns))
    goals = [name_target(**target) for target in targets]
    return [*targets.struct.unnest().drop("per"), pl.Series("goal", goals, dtype=pl.String)]


def mark_points(
    marked_points: MarkedPoints,
    canvas: Canvas,
    label_marks: Callable[[list[float], SayShares], list[str]] | None = None,
) -> list[dict[str, Any]]:
    """Return the records of points, and of the thin rules of what they hold for."""
    # `label_marks` returns the labels of values on the y axis, of one prevalence if these are panels,
    # and without it they are the values.
    channels, x, shape_of_goal = canvas.channels, canvas.spec.x, marked_points.shape_of_goal
    records: list[dict[str, Any]] = []
    has_eta_panels = channels.facet is not None and "eta" in channels.facet.fields
    axis_by_field = {axis.field: axis for axis in canvas.spec.y_axes}
    marks_by_field: dict[tuple[str, Any], list[tuple[dict[str, Any], float]]] = {}
    for point in marked_points.records:
        channel_fields = channels.curve_fields(point["curve"])
        heights = {
            axis.field: max(axis.measure(point[axis.column]), axis.pick(channel_fields.get("facet")).low)
            for axis in canvas.spec.y_axes
            if point[axis.column] is not None
        }
        rounded_heights = {field: round_digits(height) for field, height in heights.items()}
        x_place = {x.field: round_digits(max(x.measure(float(point[x.column])), x.low))}
        mark: dict[str, Any] = {"part": "mark", "said": _say_mark(point), **x_place, **channel_fields}
        mark |= rounded_heights
        mark |= {"shape": shape_of_goal[point["goal"]]} if shape_of_goal else {}
        mark |= {"doubt": 1} if point.get("is_unsure") else {}
        records.append(mark)
        if point.get("is_mute"):
            mark |= {f"{field}_label": "" for field in heights}
        for field in heights if not point.get("is_mute") else ():
            panel_label = channel_fields.get("facet") if has_eta_panels else None
            # Of its own value: what is beyond an axis stands at its end.
            value = point[axis_by_field[field].column]
            marks_by_field.setdefault((field, panel_label), []).append((mark, value))
        records += _draw_ends(point, x_place, rounded_heights, canvas)
    for (field, _), marks in marks_by_field.items():  # together, so that they have equal digits
        values = [value for _, value in marks]
        say_group: SayShares = say_precisions if field.startswith("precision") else say_shares
        if len(values) > _MOST_NUMBERS:
            say_group = _say_one_by_one
        if field == "alerts":
            label_texts = [say_count(value, 2) for value in values]
        else:
            label_texts = label_marks(values, say_group) if label_marks else say_group(values)
        for (mark, _), label_text in zip(marks, label_texts, strict=True):
            mark[f"{field}_label"] = label_text
    return records


def _draw_ends(
    point: dict[str, Any], x_fields: dict[str, float], height_by_field: dict[str, float], canvas: Canvas
) -> list[dict[str, Any]]:
    """Return the records of the interval of a point, and of the thresholds that it holds for."""
    channel_fields, x_axis = canvas.channels.curve_fields(point["curve"]), canvas.spec.x
    records: list[dict[str, Any]] = []
    low, high = (point.get(name) for name in _LIMITS)
    if "precision" in height_by_field and low is not None and high is not None:
        axis_low = canvas.spec.y.pick(channel_fields.get("facet")).low
        interval_ends = {
            "precision": round_digits(max(low, axis_low)),
            "reach_end": round_digits(max(high, axis_low)),
        }
        records.append({"part": "reach", **x_fields, **interval_ends, **channel_fields})
    if point["holds_from"] is not None:
        span_ends = _find_span(canvas.curves, point, x_axis)
        rounded_span_ends = {
            x_axis.field: round_digits(min(span_ends)),
            "to": round_digits(max(span_ends)),
        }
        records.append({"part": "span", **height_by_field, **rounded_span_ends, **channel_fields})
        records += [
            {"part": "cap", **height_by_field, x_axis.field: end, **channel_fields}
            for end in rounded_span_ends.values()
        ]
    return records


def _say_mark(point: dict[str, Any]) -> str:
    """Return what the pointer reads at a point: what it was chosen for, and its rates."""
    rate_names = [name for name in ("precision", "recall") if point[name] is not None]
    names_with_shares = zip(rate_names, say_shares([point[name] for name in rate_names]), strict=True)
    threshold_text = say_threshold(point["threshold"], [point[LOWER]] if LOWER in point else None)
    threshold_clause = f"threshold {threshold_text}" if threshold_text else ""
    return ", ".join(filter(None, [point["goal"], threshold_clause, *map(" ".join, names_with_shares)]))


def _say_one_by_one(shares: Sequence[float]) -> list[str]:
    """Return each share in the digits that it needs by itself; rare ones are in one unit."""
    say_one = say_precisions if max(shares) < RARELY_RIGHT else say_shares
    return [say_one([share])[0] for share in shares]


def _find_span(curves: ChartCurves, point: dict[str, Any], x_axis: ChartAxis) -> list[float]:
    """Return both ends of what a point holds for; a rate above all scores is the least on the axis."""
    end_thresholds = [float(point[name]) for name in ("holds_to", "holds_from")]
    if x_axis.column == "threshold":
        return [x_axis.measure(end) for end in end_thresholds]
    curve_points = curves.points.filter(pl.col("curve") == point["curve"])
    threshold_expr = pl.col("threshold").cast(pl.Float64)
    rate_exprs = (pl.col(x_axis.column).filter(threshold_expr >= end).max() for end in end_thresholds)
    return [max(curve_points.select(rate_expr).item() or 0.0, x_axis.low) for rate_expr in rate_exprs]
