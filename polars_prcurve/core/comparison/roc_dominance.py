"""ROC curves against each other: where they cross, and which model no other one beats at any threshold.

A curve is its points, joined by straight lines from (0, 0) to (1, 1). It may rise straight up, so
recall is no function of fpr. But it has just one point on each falling diagonal `recall + fpr = s`. So
curves are compared by `d = recall - fpr` as a function of s, which joins the corners by straight
lines, too.

A curve that is nowhere below another has at least its precision at every recall and every prevalence.
Only models on the hull of all curves together can be best in accuracy, cost or net benefit.

Source: Provost and Fawcett 2001.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_prcurve.core.comparison.crossings_and_leaders import GROUP_NUMBER, MODEL_NUMBER, ModelIndex
from polars_prcurve.core.curves.curve_metric_values import collect_curves
from polars_prcurve.core.curves.curve_segments import find_upper_hull
from polars_prcurve.core.ground.lazy_modules import Floats
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.sweep.group_table import has_class

DOMINANCE_COLUMNS = ("model", "dominates", "dominated_by", "on_hull")  # of leaders of ROC curves
ROC_CROSSING_COLUMNS = ("model_a", "model_b", "fpr", "recall")  # of crossings of ROC curves
_ROUNDING = 1e-12  # gaps up to this are rounding, of rates and of interpolation between them


class _RotatedRoc(NamedTuple):
    """A ROC curve in rotated coordinates, from (0, 0) to (1, 1); empty for a model without a curve."""

    rate_sums: Floats  # s = recall + fpr, rising
    rate_differences: Floats  # d = recall - fpr


def build_roc_crossings_table(table: ResolvedTable) -> pl.DataFrame:
    """Return `by` and ROC_CROSSING_COLUMNS; model_a is above before the crossing, model_b after it."""
    check_group_names(table.by, ROC_CROSSING_COLUMNS)
    model_index, rocs, _ = _collect_rocs(table)
    model_number_pairs: list[tuple[int, int]] = []
    crossing_points: list[tuple[float, float]] = []  # fpr and recall
    for first_model_number, second_model_number in zip(*model_index.list_pairs(), strict=True):
        first_roc = rocs[first_model_number]
        corner_sums, gaps = _compute_gaps(first_roc, rocs[second_model_number])
        for index_before, index_after in pairwise(np.flatnonzero(gaps)):
            if not gaps[index_before] * gaps[index_after] < 0:
                continue
            if index_after - index_before > 1:  # gaps of 0 in between: the upper end, where curves part
                rate_sum = corner_sums[index_after - 1]
            else:
                step_share = gaps[index_before] / (gaps[index_before] - gaps[index_after])
                rate_sum = corner_sums[index_before] + step_share * (
                    corner_sums[index_after] - corner_sums[index_before]
                )
            rate_difference = np.interp(rate_sum, first_roc.rate_sums, first_roc.rate_differences)
            upper_model_number, lower_model_number = first_model_number, second_model_number
            if gaps[index_before] < 0:
                upper_model_number, lower_model_number = lower_model_number, upper_model_number
            model_number_pairs.append((upper_model_number, lower_model_number))
            crossing_points.append(((rate_sum - rate_difference) / 2, (rate_sum + rate_difference) / 2))
    upper_model_numbers, lower_model_numbers = np.array(model_number_pairs, np.intp).reshape(-1, 2).T
    fpr, recall = np.array(crossing_points).reshape(-1, 2).T
    group_numbers = model_index.group_numbers()[upper_model_numbers]
    sort_order = np.lexsort((lower_model_numbers, upper_model_numbers, recall, fpr, group_numbers))
    return model_index.build_table(
        upper_model_numbers[sort_order],
        model_a=model_index.model_names(upper_model_numbers[sort_order]),
        model_b=model_index.model_names(lower_model_numbers[sort_order]),
        fpr=fpr[sort_order],
        recall=recall[sort_order],
    )


def build_dominance_table(table: ResolvedTable) -> pl.DataFrame:
    """Return `by` and DOMINANCE_COLUMNS, with a row per model."""
    check_group_names(table.by, DOMINANCE_COLUMNS)
    model_index, rocs, on_hull = _collect_rocs(table)
    numbers_below_models: list[list[int]] = [[] for _ in rocs]
    numbers_above_models: list[list[int]] = [[] for _ in rocs]
    for first_model_number, second_model_number in zip(*model_index.list_pairs(), strict=True):
        _, gaps = _compute_gaps(rocs[first_model_number], rocs[second_model_number])
        if gaps.any() and ((gaps >= 0).all() or (gaps <= 0).all()):
            upper_model_number, lower_model_number = first_model_number, second_model_number
            if (gaps <= 0).all():
                upper_model_number, lower_model_number = lower_model_number, upper_model_number
            numbers_below_models[upper_model_number].append(lower_model_number)
            numbers_above_models[lower_model_number].append(upper_model_number)
    list_dtype = pl.List(model_index.model_rows.schema[Row.MODEL])
    dominated_names, dominating_names = (
        pl.Series(
            [
                model_index.model_names(np.array(model_numbers, dtype=np.intp))
                for model_numbers in number_lists
            ],
            dtype=list_dtype,
        )
        for number_lists in (numbers_below_models, numbers_above_models)
    )
    all_model_numbers = np.arange(len(rocs))
    return model_index.build_table(
        all_model_numbers,
        model=model_index.model_names(all_model_numbers),
        dominates=dominated_names,
        dominated_by=dominating_names,
        on_hull=on_hull,
    )


def _collect_rocs(table: ResolvedTable) -> tuple[ModelIndex, list[_RotatedRoc], pl.Series]:
    """Return models, their curves, and whether each is on the hull; without a curve empty, and null."""
    curves = collect_curves(table, [CURVE_METRICS["roc_auc"]])
    group_rows = table.collect(curves.groups, "", n_etas=1)
    model_index = ModelIndex(group_rows.select(*table.by))
    has_both_classes = pl.all_horizontal(has_class(table, Group.N_POS), has_class(table, Group.N_NEG))
    has_curve = group_rows.select(has_both_classes).to_series()
    has_curve = pl.Series(np.broadcast_to(has_curve.to_numpy(), len(group_rows)))
    group_series = pl.Series(GROUP_NUMBER, model_index.group_numbers())
    numbered_models = (
        group_rows.select(Group.NUMBER).with_row_index(MODEL_NUMBER).with_columns(group_series)
    )
    # Segments of ROC AUC are those with a rise. The curve is flat in between, so their ends are all its
    # corners.
    rise_segments = table.collect(curves.segments_by_hull[False], "", n_etas=1)
    rise_segments = rise_segments.join(numbered_models.filter(has_curve), on=Group.NUMBER)
    start_points = rise_segments.select(
        MODEL_NUMBER, GROUP_NUMBER, recall=Segment.RECALL_BEFORE, fpr=Segment.FPR_BEFORE
    )
    end_points = rise_segments.select(
        MODEL_NUMBER, GROUP_NUMBER, recall="recall", fpr=Segment.FPR_OR_ZERO
    )
    points = pl.concat([start_points, end_points]).unique()
    rocs = [_RotatedRoc(np.empty(0), np.empty(0))] * len(group_rows)
    for [model_number], model_points in points.partition_by(MODEL_NUMBER, as_dict=True).items():
        rate_sums = (model_points["recall"] + model_points["fpr"]).to_numpy()
        rate_differences = (model_points["recall"] - model_points["fpr"]).to_numpy()
        sort_order = np.lexsort((rate_differences, rate_sums))
        rocs[model_number] = _RotatedRoc(
            np.r_[0.0, rate_sums[sort_order], 2.0], np.r_[0.0, rate_differences[sort_order], 0.0]
        )
    return model_index, rocs, _test_on_hull(points, has_curve)


def _test_on_hull(points: pl.DataFrame, has_curve: pl.Series) -> pl.Series:
    """Return whether a corner of the hull of its group is a point of the model; null without a curve."""
    new_column_names = {GROUP_NUMBER: Group.NUMBER, "fpr": Segment.FPR_OR_ZERO}
    own_points = points.select(GROUP_NUMBER, "recall", "fpr").rename(new_column_names)
    end_points = own_points.select(Group.NUMBER).unique()
    end_points = end_points.with_columns(
        pl.lit(1.0).alias(name) for name in ("recall", Segment.FPR_OR_ZERO)
    )
    # The hull starts at (0, 0), which is no row, and ends at (1, 1). At a real vertex the cross product
    # of the steps to and from it is above 0. Rounded rates change a step by up to 2**-53, the product
    # by that times the sum of all steps; the bound is twice as much.
    rise, run = (
        pl.col(name) - pl.col(name).shift(1, fill_value=0.0).over(Group.NUMBER)
        for name in ("recall", "fpr")
    )
    rise_after, run_after = (step.shift(-1).over(Group.NUMBER) for step in (rise, run))
    rounding_bound = 2.0**-52 * (rise + run + rise_after + run_after)
    is_bend = rise * run_after - rise_after * run > rounding_bound
    corner_points = find_upper_hull(pl.concat([own_points, end_points])).filter(is_bend)
    rate_columns = ["recall", "fpr"]
    touching_points = points.join(
        corner_points, left_on=[GROUP_NUMBER, *rate_columns], right_on=[Group.NUMBER, *rate_columns]
    )
    model_numbers = pl.int_range(len(has_curve), eager=True)
    on_hull = model_numbers.is_in(touching_points[MODEL_NUMBER].implode())
    return pl.select(pl.when(has_curve).then(on_hull)).to_series()


def _compute_gaps(first_roc: _RotatedRoc, second_roc: _RotatedRoc) -> tuple[Floats, Floats]:
    """Return the places of all corners, and by how much a is above b there; 0 for rounding."""
    # Between the corners of both curves the gap is linear, so its signs at corners are enough.
    if not (len(first_roc.rate_sums) and len(second_roc.rate_sums)):
        return np.empty(0), np.empty(0)
    corner_sums = np.union1d(first_roc.rate_sums, second_roc.rate_sums)
    gaps = np.interp(corner_sums, first_roc.rate_sums, first_roc.rate_differences) - np.interp(
        corner_sums, second_roc.rate_sums, second_roc.rate_differences
    )
    return corner_sums, np.where(np.abs(gaps) <= _ROUNDING, 0.0, gaps)
