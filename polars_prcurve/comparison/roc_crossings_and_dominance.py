"""ROC curves of models against each other: which one lies above which, and where they cross.

A curve is its points, joined by straight lines from (0, 0) to (1, 1). It may rise straight up, so recall
is no function of fpr. But it has just one point on each falling diagonal `recall + fpr = s`. So curves
are compared by `d = recall - fpr` as a function of s, which joins the corners by straight lines, too.

A curve that is nowhere below another has at least its precision at every recall and every prevalence.
Only models on the hull of all curves together can be best in accuracy, cost or net benefit.

Source: Provost and Fawcett 2001.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.crossings_and_leaders import ModelIndex
from polars_prcurve.comparison.roots import Floats
from polars_prcurve.curves.curve_segments import collect_curves, find_upper_hull
from polars_prcurve.inputs.score_and_rate_tables import InputTable
from polars_prcurve.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.sweep.grouped_rows import has_class

DOMINANCE_COLUMNS = ("model", "dominates", "dominated_by", "on_hull")
ROC_CROSSING_COLUMNS = ("model_a", "model_b", "fpr", "recall")
_ROUNDING = 1e-12  # gaps up to this are rounding, of rates and of interpolation between them
_MODEL_NUMBER, _GROUP_NUMBER = f"{c.RESERVED}model_number", f"{c.RESERVED}group_number"


class _RotatedRoc(NamedTuple):
    """A ROC curve in rotated coordinates, from (0, 0) to (1, 1); empty for a model without a curve."""

    sums: Floats  # s = recall + fpr, rising
    differences: Floats  # d = recall - fpr


def build_roc_crossings_table(table: InputTable) -> pl.DataFrame:
    """Return `by` and ROC_CROSSING_COLUMNS; model_a is above before the crossing, model_b after it."""
    models, curves, _ = _collect_rocs(table)
    rows: list[tuple[int, int, float, float]] = []
    for a, b in zip(*models.list_pairs(), strict=True):
        knots, gaps = _compute_gaps(curves[a], curves[b])
        for before, after in pairwise(np.flatnonzero(gaps)):
            if gaps[before] * gaps[after] < 0:
                if after - before > 1:  # gaps of 0 in between: the upper end, where curves part
                    s = knots[after - 1]
                else:
                    share = gaps[before] / (gaps[before] - gaps[after])
                    s = knots[before] + share * (knots[after] - knots[before])
                d = np.interp(s, curves[a].sums, curves[a].differences)
                rows.append((*((a, b) if gaps[before] > 0 else (b, a)), (s - d) / 2, (s + d) / 2))
    first, second, fpr, recall = (np.array([row[i] for row in rows]) for i in range(4))
    first, second = first.astype(np.intp), second.astype(np.intp)
    order = np.lexsort((second, first, recall, fpr, models.group_numbers()[first]))
    return models.build_table(
        first[order],
        model_a=models.model_names(first[order]),
        model_b=models.model_names(second[order]),
        fpr=fpr[order],
        recall=recall[order],
    )


def build_dominance_table(table: InputTable) -> pl.DataFrame:
    """Return `by` and DOMINANCE_COLUMNS, with a row per model."""
    models, curves, on_hull = _collect_rocs(table)
    below: list[list[int]] = [[] for _ in curves]
    above: list[list[int]] = [[] for _ in curves]
    for a, b in zip(*models.list_pairs(), strict=True):
        _, gaps = _compute_gaps(curves[a], curves[b])
        if gaps.any() and ((gaps >= 0).all() or (gaps <= 0).all()):
            upper, lower = (a, b) if (gaps >= 0).all() else (b, a)
            below[upper].append(lower)
            above[lower].append(upper)
    dtype = pl.List(models.frame.schema[c.MODEL])
    dominates, dominated_by = (
        pl.Series([models.model_names(np.array(one, dtype=np.intp)) for one in others], dtype=dtype)
        for others in (below, above)
    )
    all_models = np.arange(len(curves))
    return models.build_table(
        all_models,
        model=models.model_names(all_models),
        dominates=dominates,
        dominated_by=dominated_by,
        on_hull=on_hull,
    )


def _collect_rocs(table: InputTable) -> tuple[ModelIndex, list[_RotatedRoc], pl.Series]:
    """Return models, their curves, and whether each is on the hull; without a curve empty, and null."""
    segments = collect_curves(table, [CURVE_METRICS["roc_auc"]])
    groups = table.collect(segments.groups, "", n_etas=1)
    models = ModelIndex(groups.select(*table.by))
    has_both = pl.all_horizontal(has_class(table, c.N_POS), has_class(table, c.N_NEG))
    has_curve = groups.select(has_both).to_series()
    has_curve = pl.Series(np.broadcast_to(has_curve.to_numpy(), len(groups)))
    numbers = pl.Series(_GROUP_NUMBER, models.group_numbers())
    numbered = groups.select(c.GROUP).with_row_index(_MODEL_NUMBER).with_columns(numbers)
    # Segments of ROC AUC are those with a rise. The curve is flat in between, so their ends are all its
    # corners.
    rises = table.collect(segments.segments[False], "", n_etas=1)
    rises = rises.join(numbered.filter(has_curve), on=c.GROUP)
    starts = rises.select(_MODEL_NUMBER, _GROUP_NUMBER, recall=c.RECALL_BEFORE, fpr=c.FPR_BEFORE)
    ends = rises.select(_MODEL_NUMBER, _GROUP_NUMBER, recall="recall", fpr=c.FPR_OR_ZERO)
    points = pl.concat([starts, ends]).unique()
    curves = [_RotatedRoc(np.empty(0), np.empty(0))] * len(groups)
    for [model], own in points.partition_by(_MODEL_NUMBER, as_dict=True).items():
        s, d = (own["recall"] + own["fpr"]).to_numpy(), (own["recall"] - own["fpr"]).to_numpy()
        order = np.lexsort((d, s))
        curves[model] = _RotatedRoc(np.r_[0.0, s[order], 2.0], np.r_[0.0, d[order], 0.0])
    return models, curves, _test_on_hull(points, has_curve)


def _test_on_hull(points: pl.DataFrame, has_curve: pl.Series) -> pl.Series:
    """Return whether a corner of the hull of its group is a point of the model; null without a curve."""
    renamed = {_GROUP_NUMBER: c.GROUP, "fpr": c.FPR_OR_ZERO}
    own_points = points.select(_GROUP_NUMBER, "recall", "fpr").rename(renamed)
    ends = own_points.select(c.GROUP).unique()
    ends = ends.with_columns(pl.lit(1.0).alias(name) for name in ("recall", c.FPR_OR_ZERO))
    # The hull starts at (0, 0), which is no row, and ends at (1, 1). At a real vertex the cross product
    # of the steps to and from it is above 0. Rounded rates change a step by up to 2**-53, the product
    # by that times the sum of all steps; the bound is twice as much.
    rise, run = (
        pl.col(name) - pl.col(name).shift(1, fill_value=0.0).over(c.GROUP) for name in ("recall", "fpr")
    )
    rise_after, run_after = (step.shift(-1).over(c.GROUP) for step in (rise, run))
    rounding = 2.0**-52 * (rise + run + rise_after + run_after)
    is_bend = rise * run_after - rise_after * run > rounding
    corners = find_upper_hull(pl.concat([own_points, ends])).filter(is_bend)
    keys = ["recall", "fpr"]
    touching = points.join(corners, left_on=[_GROUP_NUMBER, *keys], right_on=[c.GROUP, *keys])
    numbers = pl.int_range(len(has_curve), eager=True)
    on_hull = numbers.is_in(touching[_MODEL_NUMBER].implode())
    return pl.select(pl.when(has_curve).then(on_hull)).to_series()


def _compute_gaps(a: _RotatedRoc, b: _RotatedRoc) -> tuple[Floats, Floats]:
    """Return the places of all corners, and by how much a is above b there; 0 for rounding."""
    # Between the corners of both curves the gap is linear, so its signs at corners tell all.
    if not (len(a.sums) and len(b.sums)):
        return np.empty(0), np.empty(0)
    knots = np.union1d(a.sums, b.sums)
    gaps = np.interp(knots, a.sums, a.differences) - np.interp(knots, b.sums, b.differences)
    return knots, np.where(np.abs(gaps) <= _ROUNDING, 0.0, gaps)
