"""Where models trade places: the prevalences, the best model in between, and crossings of ROC curves.

Curves are in memory, because the search evaluates them many times. Places are logits of prevalence: from
0.001 to 0.01 is about as far as from 0.01 to 0.1. For operating points, whose rates are fixed, an
equation of the metric gives the roots without a search.

Sources: Brabec et al. 2020, section 4; Provost and Fawcett 2001.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.comparison.sign_changes import (
    Evaluate,
    Floats,
    Indices,
    Roots,
    find_sign_changes,
    from_logit,
    subtract_rounded,
    to_logit,
)
from polars_prcurve.core.curves.curve_segments import collect_curves, find_upper_hull, number_metrics
from polars_prcurve.core.curves.operating_points import build_counted_points
from polars_prcurve.core.curves.targets import RankingMetric, direction_sign
from polars_prcurve.core.ground.argument_checks import read_pair
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.column_reader import check_group_names
from polars_prcurve.core.inputs.input_tables import InputTable
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS, CurveMetric
from polars_prcurve.core.metrics.point_metric import Point, PointMetric
from polars_prcurve.core.metrics.segment_columns import Segment
from polars_prcurve.core.prevalence.eta_grid import EtaTable, read_share
from polars_prcurve.core.prevalence.group_eta_columns import Pair
from polars_prcurve.core.sweep.grouped_rows import has_class

EtaRange: TypeAlias = tuple[float | str, float | str]
"""The lowest and the highest prevalence of a search, as users write them."""
CROSSING_COLUMNS = ("model_a", "model_b", "eta", "value")  # of `crossings`, after `by`
LEADER_COLUMNS = ("eta_low", "eta_high", "model")  # of `leaders`
_SAME_PLACE = 1e-9  # changes of order at places up to this far apart happen at once


@dataclass(frozen=True)
class ModelIndex:
    """The models of a table in memory; the number of a model is that of its row."""

    frame: pl.DataFrame  # one row per model, sorted by the `by` columns, then by Row.MODEL

    def group_numbers(self) -> Indices:
        """Return the number of the `by` group of each model, from 1 up."""
        keys = [pl.col(name) for name in self.frame.columns if name != Row.MODEL]
        is_first = pl.int_range(pl.len()) == 0
        changes = [key.ne_missing(key.shift(1)) for key in keys]
        starts_group = pl.any_horizontal(is_first, *changes) if keys else is_first
        return self.frame.select(starts_group.cum_sum().cast(pl.Int64)).to_series().to_numpy()

    def list_pairs(self) -> tuple[Indices, Indices]:
        """Return the numbers of both models of all model pairs, the smaller number first."""
        groups = self.group_numbers()
        starts = np.flatnonzero(np.diff(groups, prepend=0))
        ends = np.append(starts, len(groups))[1:]
        pairs = [
            np.array(np.triu_indices(end - start, 1)) + start
            for start, end in zip(starts, ends, strict=True)
        ]
        return tuple(np.concatenate([np.empty((2, 0), dtype=np.intp), *pairs], axis=1))

    def build_table(self, rows: Indices, **columns: Any) -> pl.DataFrame:
        """Return a table with the `by` columns of these models, and the given columns."""
        by = self.frame.drop(Row.MODEL)[rows]
        return by.with_columns(**columns) if by.width else pl.DataFrame(columns)

    def model_names(self, rows: Indices) -> pl.Series:
        """Return the names of models from their numbers."""
        return self.frame[Row.MODEL].gather(rows)


@dataclass(frozen=True)
class ModelScores:
    """Models of one or several `by` groups, and a function that scores them at any prevalence."""

    models: ModelIndex
    score_at: Evaluate  # from numbers of models, and a place for each, to scores: greater is better
    sign: float  # a score is the metric times this sign
    low: float  # the lower end of the search, as a logit of prevalence
    high: float
    term_size: float  # if scores are differences of terms that may cancel, their size; otherwise 0
    point_metric: PointMetric | None = None  # if operating points, which stay where they are, are scored
    points: Sequence[tuple[float, float]] = ()  # the recall and fpr of each model's operating point

    def find_order_changes(self) -> pl.DataFrame:
        """Return a row per change of order, by rising place, with both models, and whether they part.

        Models that part are equal below the place: nobody is overtaken, but the order changes.
        """
        a, b = self.models.list_pairs()
        if self.point_metric is None or self.point_metric.ties is None:
            roots = find_sign_changes(self.score_at, a, b, self.low, self.high, term_size=self.term_size)
        else:
            solutions: list[tuple[int, float, bool, bool]] = []
            for pair, models in enumerate(zip(a, b, strict=True)):
                odds = self.point_metric.ties(*(Point(*self.points[model]) for model in models))
                solved = {math.log(r) for r in odds if 0 < r < math.inf}
                ends = [self.low, *sorted(x for x in solved if self.low < x < self.high), self.high]
                # At some solutions of the equation the scores only touch. So the scores are compared in
                # the middle between each two solutions.
                middles = (np.array(ends[:-1]) + ends[1:]) / 2
                at_middles = [self.score_at(np.full(len(middles), n), middles) for n in models]
                signs = np.sign(at_middles[0] - at_middles[1])
                for place, below, above in zip(ends[1:-1], signs, signs[1:], strict=False):
                    if below * above < 0:
                        solutions.append((pair, place, below > 0, False))
            dtypes = enumerate((np.intp, float, bool, bool))
            roots = Roots(*(np.array([root[i] for root in solutions], dtype) for i, dtype in dtypes))
        roots = roots.select(np.argsort(roots.place))
        first, second = a[roots.pair], b[roots.pair]
        return pl.DataFrame(
            {
                "overtaken": np.where(roots.falling, first, second),  # the model that is ahead below
                "overtaker": np.where(roots.falling, second, first),
                "place": roots.place,
                "is_parting": roots.is_parting,
            }
        )


def _collect_model_scores(
    table: InputTable, ranking_metric: RankingMetric, eta_range: EtaRange
) -> ModelScores:
    """Collect curves, or operating points, of all models; return a function that scores them."""
    metric, targets = ranking_metric
    expected = "two prevalences, 0 < low < high < 1"
    ends = read_pair("eta_range=", eta_range, expected, read_share)
    if not 0 < ends[0] < ends[1] < 1:
        raise PrcError(f"eta_range= is {expected}; got {eta_range!r} (at 1 all models meet)")
    low, high = map(to_logit, ends)
    if not metric.depends_on_eta:
        raise PrcError(f"{metric.name} does not depend on prevalence, so no models trade places on it")
    # A metric that can be negative is a difference: its value near 0 has the rounding of larger terms.
    sign, term_size = direction_sign(metric), 1.0 if metric.range[0] < 0 else 0.0
    if isinstance(metric, CurveMetric):
        curves = collect_curves(table, [metric])
        numbers = table.collect(curves.groups, "", n_etas=1)
        [name] = named = number_metrics([metric])

        def score_curves(models: Indices, places: Floats) -> Floats:
            order = np.lexsort((places, models))  # the order of pairs, as they come back
            groups = numbers[Group.NUMBER].gather(models[order])
            etas = pl.LazyFrame({Group.NUMBER: groups, "eta": from_logit(places[order])})
            grid = EtaTable(etas, {Group.NUMBER: pl.UInt32()})
            pairs = curves.build_pairs(grid).filter(pl.col(Pair.HAS_ETA_ROW).is_not_null())
            query = curves.compute_values(pairs, named).select(Pair.NUMBER, name).sort(Pair.NUMBER)
            values = table.collect(query, "", n_etas=int(np.bincount(models).max(initial=0)))
            return (values[name].fill_null(math.nan).to_numpy() * sign)[np.argsort(order)]

        return ModelScores(
            ModelIndex(numbers.select(*table.by)), score_curves, sign, low, high, term_size
        )
    collected_points = table.collect(build_counted_points(table, targets), "", n_etas=1)
    rates = collected_points.select(pl.col("recall", "fpr").fill_null(math.nan)).to_numpy()

    def score_points(models: Indices, places: Floats) -> Floats:
        with np.errstate(all="ignore"):
            values: Floats = metric.from_rates(rates[models, 0], rates[models, 1], from_logit(places))
            return values * sign

    index, points = ModelIndex(collected_points.select(*table.by)), [*map(tuple, rates.tolist())]
    return ModelScores(index, score_points, sign, low, high, term_size, metric, points)


def build_crossings_table(
    table: InputTable, ranking_metric: RankingMetric, eta_range: EtaRange
) -> pl.DataFrame:
    """Return `by` and CROSSING_COLUMNS; model_a is better below eta, model_b above."""
    check_group_names(table.by, CROSSING_COLUMNS)
    scores = _collect_model_scores(table, ranking_metric, eta_range)
    models, changes = scores.models, scores.find_order_changes().filter(~pl.col("is_parting"))
    group = pl.Series("group", models.group_numbers()[changes["overtaken"].to_numpy()])
    changes = changes.with_columns(group).sort("group", "place", "overtaken", "overtaker")
    overtaken, overtaker, places = (changes[name].to_numpy() for name in changes.columns[:3])
    return models.build_table(
        overtaken,
        model_a=models.model_names(overtaken),
        model_b=models.model_names(overtaker),
        eta=from_logit(places),
        value=scores.score_at(overtaken, places) * scores.sign,
    )


def build_leaders_table(
    table: InputTable, ranking_metric: RankingMetric, eta_range: EtaRange
) -> pl.DataFrame:
    """Return `by` and LEADER_COLUMNS: the best model of each range, or the first of equal ones."""
    check_group_names(table.by, LEADER_COLUMNS)
    scores = _collect_model_scores(table, ranking_metric, eta_range)
    changes, groups = scores.find_order_changes(), scores.models.group_numbers()
    # Below the first change of a group the order is constant: it is read off in the middle.
    first_places = np.full(len(groups), scores.high)
    overtaken, overtaker, places = (changes[name].to_numpy() for name in changes.columns[:3])
    np.minimum.at(first_places, groups[overtaker] - 1, places)
    all_models = np.arange(len(groups))
    values = scores.score_at(all_models, (scores.low + first_places[groups - 1]) / 2)
    rows: list[tuple[int, float, float]] = []
    for group in np.unique(groups):
        models = all_models[(groups == group) & ~np.isnan(values)]
        if len(models) > 0:
            within = np.isin(overtaker, models) & np.isin(overtaken, models)
            gaps = subtract_rounded(values[models, None], values[models], scores.term_size)
            group_changes = changes.filter(within)
            rows += _split_by_leader(models, gaps > 0, group_changes, scores.low, scores.high)
    models, low, high = (np.array([row[i] for row in rows]) for i in range(3))
    models = models.astype(np.intp)
    ends = {"eta_low": from_logit(low), "eta_high": from_logit(high)}
    return scores.models.build_table(models, **ends, model=scores.models.model_names(models))


def _split_by_leader(
    models: Indices, ahead: NDArray[np.bool_], changes: pl.DataFrame, low: float, high: float
) -> Iterator[tuple[int, float, float]]:
    """Yield the leader and both ends of each stretch between low and high in which the leader stays."""
    # The leader is the first model with the fewest models ahead of it, normally none.
    leader = int(np.argmin(ahead.sum(axis=0)))
    overtaken, overtaker = (
        np.searchsorted(models, changes[name].to_numpy()) for name in ("overtaken", "overtaker")
    )
    places = changes["place"].to_numpy()
    # If three models meet in one place, their changes are rounded apart, and must be applied together.
    ends = np.flatnonzero(np.diff(places, append=np.inf) > _SAME_PLACE) + 1
    start = 0
    for end in ends.tolist():
        place = float(places[start])
        for loser, winner in zip(overtaken[start:end], overtaker[start:end], strict=True):
            ahead[loser, winner], ahead[winner, loser] = False, True
        if ahead[:, leader].any():
            if place - low > _SAME_PLACE:
                yield int(models[leader]), low, place
                low = place
            leader = int(np.argmin(ahead.sum(axis=0)))
        start = end
    yield int(models[leader]), low, high


# ROC curves against each other -----------------------------------------------------------------

# A curve is its points, joined by straight lines from (0, 0) to (1, 1). It may rise straight up, so
# recall is no function of fpr. But it has just one point on each falling diagonal `recall + fpr = s`. So
# curves are compared by `d = recall - fpr` as a function of s, which joins the corners by straight
# lines, too.
#
# A curve that is nowhere below another has at least its precision at every recall and every prevalence.
# Only models on the hull of all curves together can be best in accuracy, cost or net benefit.

DOMINANCE_COLUMNS = ("model", "dominates", "dominated_by", "on_hull")  # of `dominance`
ROC_CROSSING_COLUMNS = ("model_a", "model_b", "fpr", "recall")  # of crossings of ROC curves
_ROUNDING = 1e-12  # gaps up to this are rounding, of rates and of interpolation between them
# The place of a model among those of its group, and that of a group.
_MODEL_NUMBER, _GROUP_NUMBER = f"{RESERVED}model_number", f"{RESERVED}group_number"


class _RotatedRoc(NamedTuple):
    """A ROC curve in rotated coordinates, from (0, 0) to (1, 1); empty for a model without a curve."""

    sums: Floats  # s = recall + fpr, rising
    differences: Floats  # d = recall - fpr


def build_roc_crossings_table(table: InputTable) -> pl.DataFrame:
    """Return `by` and ROC_CROSSING_COLUMNS; model_a is above before the crossing, model_b after it."""
    check_group_names(table.by, ROC_CROSSING_COLUMNS)
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
    check_group_names(table.by, DOMINANCE_COLUMNS)
    models, curves, on_hull = _collect_rocs(table)
    below: list[list[int]] = [[] for _ in curves]
    above: list[list[int]] = [[] for _ in curves]
    for a, b in zip(*models.list_pairs(), strict=True):
        _, gaps = _compute_gaps(curves[a], curves[b])
        if gaps.any() and ((gaps >= 0).all() or (gaps <= 0).all()):
            upper, lower = (a, b) if (gaps >= 0).all() else (b, a)
            below[upper].append(lower)
            above[lower].append(upper)
    dtype = pl.List(models.frame.schema[Row.MODEL])
    dominates, dominated_by = (
        pl.Series(
            [models.model_names(np.array(numbers, dtype=np.intp)) for numbers in number_lists],
            dtype=dtype,
        )
        for number_lists in (below, above)
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
    has_both = pl.all_horizontal(has_class(table, Group.N_POS), has_class(table, Group.N_NEG))
    has_curve = groups.select(has_both).to_series()
    has_curve = pl.Series(np.broadcast_to(has_curve.to_numpy(), len(groups)))
    numbers = pl.Series(_GROUP_NUMBER, models.group_numbers())
    numbered = groups.select(Group.NUMBER).with_row_index(_MODEL_NUMBER).with_columns(numbers)
    # Segments of ROC AUC are those with a rise. The curve is flat in between, so their ends are all its
    # corners.
    rises = table.collect(segments.segments_by_hull[False], "", n_etas=1)
    rises = rises.join(numbered.filter(has_curve), on=Group.NUMBER)
    starts = rises.select(
        _MODEL_NUMBER, _GROUP_NUMBER, recall=Segment.RECALL_BEFORE, fpr=Segment.FPR_BEFORE
    )
    ends = rises.select(_MODEL_NUMBER, _GROUP_NUMBER, recall="recall", fpr=Segment.FPR_OR_ZERO)
    points = pl.concat([starts, ends]).unique()
    curves = [_RotatedRoc(np.empty(0), np.empty(0))] * len(groups)
    for [model], model_points in points.partition_by(_MODEL_NUMBER, as_dict=True).items():
        s, d = (
            (model_points["recall"] + model_points["fpr"]).to_numpy(),
            (model_points["recall"] - model_points["fpr"]).to_numpy(),
        )
        order = np.lexsort((d, s))
        curves[model] = _RotatedRoc(np.r_[0.0, s[order], 2.0], np.r_[0.0, d[order], 0.0])
    return models, curves, _test_on_hull(points, has_curve)


def _test_on_hull(points: pl.DataFrame, has_curve: pl.Series) -> pl.Series:
    """Return whether a corner of the hull of its group is a point of the model; null without a curve."""
    renamed = {_GROUP_NUMBER: Group.NUMBER, "fpr": Segment.FPR_OR_ZERO}
    own_points = points.select(_GROUP_NUMBER, "recall", "fpr").rename(renamed)
    ends = own_points.select(Group.NUMBER).unique()
    ends = ends.with_columns(pl.lit(1.0).alias(name) for name in ("recall", Segment.FPR_OR_ZERO))
    # The hull starts at (0, 0), which is no row, and ends at (1, 1). At a real vertex the cross product
    # of the steps to and from it is above 0. Rounded rates change a step by up to 2**-53, the product
    # by that times the sum of all steps; the bound is twice as much.
    rise, run = (
        pl.col(name) - pl.col(name).shift(1, fill_value=0.0).over(Group.NUMBER)
        for name in ("recall", "fpr")
    )
    rise_after, run_after = (step.shift(-1).over(Group.NUMBER) for step in (rise, run))
    rounding = 2.0**-52 * (rise + run + rise_after + run_after)
    is_bend = rise * run_after - rise_after * run > rounding
    corners = find_upper_hull(pl.concat([own_points, ends])).filter(is_bend)
    keys = ["recall", "fpr"]
    touching = points.join(corners, left_on=[_GROUP_NUMBER, *keys], right_on=[Group.NUMBER, *keys])
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
