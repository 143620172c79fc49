"""Which drawn points are in doubt: those of few false positives, few positives, or sums of weights."""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves
from polars_prcurve.view.charts.parts.points_to_draw import Interpolation
from polars_prcurve.view.words.number_words import FEW_FALSE_POSITIVES, FEW_POSITIVES

_POS_EFFECTIVE, _, _FP_EFFECTIVE = FIELD_COLUMNS


def find_few_false_alerts(points: pl.DataFrame) -> pl.DataFrame:
    """Add the column `doubt`: whether a point rests on fewer than 5 false positives, or 20 positives."""
    # Sums of weights and published rates do not have their number, so these are not dotted;
    # but whole numbers that rise by one count examples, though they are floats. Weighted rows, such as
    # those of a field of several parts, count by their effective number, which
    # `effective_numbers_for_charts` adds.
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
    doubt_frame = curves.curve_rows.select(
        "curve", doubt=(pl.col("n_pos") < FEW_POSITIVES).fill_null(False)
    )
    return points.join(doubt_frame, on="curve", maintain_order="left")


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
    is_doubtful_expr = pl.col("doubt").fill_null(False)
    was_doubtful_expr = is_doubtful_expr.shift(1).over("curve").fill_null(is_doubtful_expr)
    is_in_doubt_expr = {
        "step-before": is_doubtful_expr,
        "step-after": was_doubtful_expr,
        "linear": is_doubtful_expr | was_doubtful_expr,
    }[interpolate]
    is_first = pl.int_range(pl.len()).over("curve") == 0
    marked_points = points.with_columns(is_in_doubt_expr.alias("doubt"))
    next_doubt_expr = pl.col("doubt").shift(-1).over("curve")
    first_doubt_expr = (
        pl.when(is_first).then(next_doubt_expr.fill_null(pl.col("doubt"))).otherwise("doubt")
    )
    marked_points = marked_points.with_columns(first_doubt_expr.alias("doubt")).with_row_index("place")
    marked_points = marked_points.with_columns(run=pl.struct("curve", *stretch_columns).rle_id())
    run_exprs = pl.col("run", *stretch_columns)
    is_last = pl.col("run").shift(-1).over("curve") != pl.col("run")
    copied_points = marked_points.with_columns(
        run_exprs.shift(-1).over("curve"), copy=True, is_last=is_last
    )
    copied_points = copied_points.filter("is_last").drop("is_last")
    all_points = pl.concat([marked_points.with_columns(copy=False), copied_points])
    return all_points.sort("place", "run", maintain_order=True).drop("place")


def describe_doubt(drawn_points: pl.DataFrame) -> list[str]:
    """Return a sentence for the note if some points are in doubt, or if that is not known."""
    if drawn_points["doubt"].any():
        has_few_positives = {"tp", "fn"} <= set(drawn_points.columns)
        has_few_positives = has_few_positives and bool(
            (drawn_points["tp"] + drawn_points["fn"] < FEW_POSITIVES).any()
        )
        positives_clause = f" or {FEW_POSITIVES} positives" if has_few_positives else ""
        return [f"Dotted: fewer than {FEW_FALSE_POSITIVES} false positives{positives_clause}"]
    if _FP_EFFECTIVE not in drawn_points.columns and has_sums_of_weights(drawn_points):
        return ["Weighted counts: lines with few false positives are not dotted"]
    return []


def describe_few_positives(drawn_points: pl.DataFrame) -> list[str]:
    """Return a sentence for the note if some lines are of few positives, where no alerts are counted."""
    sentence = f"Dotted: fewer than {FEW_POSITIVES} positives"
    return [sentence] if drawn_points["doubt"].any() else []
