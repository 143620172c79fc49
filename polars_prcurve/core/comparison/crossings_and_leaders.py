"""Where models change places: the prevalences, and the best model in between.

Curves are in memory, because the search evaluates them many times. Places are logits of prevalence: from
0.001 to 0.01 is about as far as from 0.01 to 0.1. For operating points, whose rates are fixed, an
equation of the metric gives the roots without a search.

Source: Brabec et al. 2020, section 4.
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

from polars_prcurve.core.comparison.comparison_request import CROSSING_COLUMNS, LEADER_COLUMNS
from polars_prcurve.core.comparison.sign_change_search import (
    Evaluate,
    Indices,
    Roots,
    find_sign_changes,
    from_logit,
    subtract_rounded,
    to_logit,
)
from polars_prcurve.core.curves.curve_metric_values import collect_curves, number_metrics
from polars_prcurve.core.curves.curve_segments import find_upper_hull
from polars_prcurve.core.curves.sample_size_tables import build_counted_points
from polars_prcurve.core.curves.targets import RankingMetric, direction_sign
from polars_prcurve.core.ground.argument_checks import read_pair
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_numpy import Floats
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.inputs.column_reader import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS, CurveMetric
from polars_prcurve.core.metrics.metrics_at_thresholds_and_means_over_eta import find_none_as_zero
from polars_prcurve.core.metrics.point_metric import Point, PointMetric
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.group_table import has_class

EtaRange: TypeAlias = tuple[float | str, float | str]
"""The lowest and the highest prevalence of a search, as users write them."""
_SAME_LOGIT = 1e-9  # changes of order at logits up to this far apart happen at once


@dataclass(frozen=True)
class ModelIndex:
    """The models of a table in memory; the number of a model is that of its row."""

    model_rows: pl.DataFrame  # one row per model, sorted by the `by` columns, then by Row.MODEL

    def group_numbers(self) -> Indices:
        """Return the number of the `by` group of each model, from 1 up."""
        key_exprs = [pl.col(name) for name in self.model_rows.columns if name != Row.MODEL]
        is_first = pl.int_range(pl.len()) == 0
        has_changed_exprs = [key_expr.ne_missing(key_expr.shift(1)) for key_expr in key_exprs]
        is_group_start = pl.any_horizontal(is_first, *has_changed_exprs) if key_exprs else is_first
        return self.model_rows.select(is_group_start.cum_sum().cast(pl.Int64)).to_series().to_numpy()

    def list_pairs(self) -> tuple[Indices, Indices]:
        """Return the numbers of both models of all model pairs, the smaller number first."""
        group_numbers = self.group_numbers()
        group_starts = np.flatnonzero(np.diff(group_numbers, prepend=0))
        group_ends = np.append(group_starts, len(group_numbers))[1:]
        pair_arrays = [
            np.array(np.triu_indices(group_end - group_start, 1)) + group_start
            for group_start, group_end in zip(group_starts, group_ends, strict=True)
        ]
        return tuple(np.concatenate([np.empty((2, 0), dtype=np.intp), *pair_arrays], axis=1))

    def build_table(self, model_numbers: Indices, **columns: Any) -> pl.DataFrame:
        """Return a table with the `by` columns of these models, and the given columns."""
        group_rows = self.model_rows[model_numbers].drop(Row.MODEL)
        return group_rows.with_columns(**columns) if group_rows.width else pl.DataFrame(columns)

    def model_names(self, model_numbers: Indices) -> pl.Series:
        """Return the names of models from their numbers."""
        return self.model_rows[Row.MODEL].gather(model_numbers)


@dataclass(frozen=True)
class ModelScores:
    """Models of one or several `by` groups, and a function that scores them at any prevalence."""

    model_index: ModelIndex
    score_at: Evaluate  # from numbers of models, and a logit for each, to scores: greater is better
    sign: float  # a score is the metric times this sign
    eta_ends: tuple[float, float]  # the lowest and the highest prevalence of the search
    term_size: float  # if scores are differences of terms that may cancel, their size; otherwise 0
    point_metric: PointMetric | None = None  # if operating points, which stay where they are, are scored
    points: Sequence[tuple[float, float]] = ()  # the recall and fpr of each model's operating point

    @property
    def low_logit(self) -> float:
        """The logit of the lowest prevalence."""
        return to_logit(self.eta_ends[0])

    @property
    def high_logit(self) -> float:
        """The logit of the highest prevalence."""
        return to_logit(self.eta_ends[1])

    def to_etas(self, logits: Floats) -> Floats:
        """Return the prevalences of logits; both ends as they were passed, without rounding."""
        is_end = [logits == self.low_logit, logits == self.high_logit]
        return np.select(is_end, self.eta_ends, from_logit(logits))

    def find_order_changes(self) -> pl.DataFrame:
        """Return a row per change of order, by rising logit, with both models, and whether they part.

        Models that part are equal below the logit: nobody is overtaken, but the order changes.
        """
        first_model_numbers, second_model_numbers = self.model_index.list_pairs()
        if self.point_metric is None or self.point_metric.ties is None:
            logit_ends = self.low_logit, self.high_logit
            roots = find_sign_changes(
                self.score_at,
                first_model_numbers,
                second_model_numbers,
                *logit_ends,
                term_size=self.term_size,
            )
        else:
            roots = self._solve_ties(first_model_numbers, second_model_numbers)
        roots = roots.select(np.argsort(roots.logits))
        first_of_roots = first_model_numbers[roots.pair_numbers]
        second_of_roots = second_model_numbers[roots.pair_numbers]
        # The overtaken model is the one that is ahead below.
        overtaken_models = np.where(roots.is_falling, first_of_roots, second_of_roots)
        return pl.DataFrame(
            {
                "overtaken": overtaken_models,
                "overtaker": np.where(roots.is_falling, second_of_roots, first_of_roots),
                "logit": roots.logits,
                "is_parting": roots.is_parting,
            }
        )

    def _solve_ties(self, first_model_numbers: Indices, second_model_numbers: Indices) -> Roots:
        """Return the roots of pairs of operating points, from the equation of the metric."""
        assert self.point_metric is not None
        assert self.point_metric.ties is not None
        root_tuples: list[tuple[int, float, bool, bool]] = []
        for pair_number, pair_model_numbers in enumerate(
            zip(first_model_numbers, second_model_numbers, strict=True)
        ):
            odds_of_ties = self.point_metric.ties(
                *(Point(*self.points[model_number]) for model_number in pair_model_numbers)
            )
            solution_logits = {math.log(odds) for odds in odds_of_ties if 0 < odds < math.inf}
            stretch_ends = [
                self.low_logit,
                *sorted(logit for logit in solution_logits if self.low_logit < logit < self.high_logit),
                self.high_logit,
            ]
            # At some solutions of the equation the scores only touch. So the scores are compared in
            # the middle between each two solutions.
            middle_logits = (np.array(stretch_ends[:-1]) + stretch_ends[1:]) / 2
            scores_at_middles = [
                self.score_at(np.full(len(middle_logits), model_number), middle_logits)
                for model_number in pair_model_numbers
            ]
            signs = np.sign(scores_at_middles[0] - scores_at_middles[1])
            for logit, sign_below, sign_above in zip(stretch_ends[1:-1], signs, signs[1:], strict=False):
                if sign_below * sign_above < 0:
                    root_tuples.append((pair_number, logit, sign_below > 0, False))
        numbered_dtypes = enumerate((np.intp, float, bool, bool))
        return Roots(
            *(
                np.array([root_tuple[i] for root_tuple in root_tuples], dtype)
                for i, dtype in numbered_dtypes
            )
        )


def _collect_model_scores(
    table: ResolvedTable, ranking_metric: RankingMetric, eta_range: EtaRange
) -> ModelScores:
    """Collect curves, or operating points, of all models; return a function that scores them."""
    metric, targets = ranking_metric
    expected_phrase = "two prevalences, 0 < low < high < 1"
    eta_ends = read_pair("eta_range=", eta_range, expected_phrase, read_share)
    if not 0 < eta_ends[0] < eta_ends[1] < 1:
        raise PrcError(f"eta_range= takes {expected_phrase}; got {eta_range!r} (at 1 models are equal)")
    if not metric.depends_on_eta:
        raise PrcError(f"pass a metric that depends on prevalence; {metric.name} does not")
    # A metric that can be negative is a difference: its value near 0 has the rounding of larger terms.
    sign, term_size = direction_sign(metric), 1.0 if metric.range[0] < 0 else 0.0
    if isinstance(metric, CurveMetric):
        curves = collect_curves(table, [metric])
        model_rows = table.collect(curves.groups, "", n_etas=1)
        [value_name] = metrics_by_name = number_metrics([find_none_as_zero(metric)])

        def score_curves(model_numbers: Indices, logits: Floats) -> Floats:
            sort_order = np.lexsort((logits, model_numbers))  # the order of pairs, as they come back
            group_numbers = model_rows[Group.NUMBER].gather(model_numbers[sort_order])
            eta_rows = pl.LazyFrame({Group.NUMBER: group_numbers, "eta": from_logit(logits[sort_order])})
            populations = curves.build_populations(EtaTable(eta_rows, {Group.NUMBER: pl.UInt32()}))
            populations = populations.filter(pl.col(Population.HAS_ETA_ROW).is_not_null())
            query = curves.compute_values(populations, metrics_by_name).sort(Population.NUMBER)
            max_n_etas = int(np.bincount(model_numbers).max(initial=0))
            value_rows = table.collect(query.select(value_name), "", n_etas=max_n_etas)
            return (value_rows[value_name].fill_null(math.nan).to_numpy() * sign)[np.argsort(sort_order)]

        model_index = ModelIndex(model_rows.select(*table.by))
        return ModelScores(model_index, score_curves, sign, eta_ends, term_size)
    collected_points = table.collect(build_counted_points(table, targets), "", n_etas=1)
    point_rates = collected_points.select(pl.col("recall", "fpr").fill_null(math.nan)).to_numpy()

    def score_points(model_numbers: Indices, logits: Floats) -> Floats:
        with np.errstate(all="ignore"):
            recall, fpr = point_rates[model_numbers, 0], point_rates[model_numbers, 1]
            values: Floats = metric.from_rates(recall, fpr, from_logit(logits))
            return values * sign

    model_index = ModelIndex(collected_points.select(*table.by))
    points = [*map(tuple, point_rates.tolist())]
    return ModelScores(model_index, score_points, sign, eta_ends, term_size, metric, points)


def build_crossings_table(
    table: ResolvedTable, ranking_metric: RankingMetric, eta_range: EtaRange
) -> pl.DataFrame:
    """Return `by` and CROSSING_COLUMNS; model_a is better below eta, model_b above."""
    check_group_names(table.by, CROSSING_COLUMNS)
    model_scores = _collect_model_scores(table, ranking_metric, eta_range)
    model_index, order_changes = (
        model_scores.model_index,
        model_scores.find_order_changes().filter(~pl.col("is_parting")),
    )
    group_series = pl.Series("group", model_index.group_numbers()[order_changes["overtaken"].to_numpy()])
    order_changes = order_changes.with_columns(group_series).sort(
        "group", "logit", "overtaken", "overtaker"
    )
    overtaken_models, overtaking_models, logits = (
        order_changes[name].to_numpy() for name in order_changes.columns[:3]
    )
    return model_index.build_table(
        overtaken_models,
        model_a=model_index.model_names(overtaken_models),
        model_b=model_index.model_names(overtaking_models),
        eta=from_logit(logits),
        value=model_scores.score_at(overtaken_models, logits) * model_scores.sign,
    )


def build_leaders_table(
    table: ResolvedTable, ranking_metric: RankingMetric, eta_range: EtaRange
) -> pl.DataFrame:
    """Return `by` and LEADER_COLUMNS: the best model of each range, or the first of equal ones."""
    check_group_names(table.by, ("eta", *LEADER_COLUMNS))  # models are compared at values of eta
    model_scores = _collect_model_scores(table, ranking_metric, eta_range)
    order_changes = model_scores.find_order_changes()
    group_numbers = model_scores.model_index.group_numbers()
    # Below the first change of a group the order is constant: it is read off in the middle.
    first_change_logits = np.full(len(group_numbers), model_scores.high_logit)
    overtaken_models, overtaking_models, logits = (
        order_changes[name].to_numpy() for name in order_changes.columns[:3]
    )
    np.minimum.at(first_change_logits, group_numbers[overtaking_models] - 1, logits)
    all_model_numbers = np.arange(len(group_numbers))
    starting_scores = model_scores.score_at(
        all_model_numbers, (model_scores.low_logit + first_change_logits[group_numbers - 1]) / 2
    )
    leader_stretches: list[tuple[int, float, float]] = []
    for group_number in np.unique(group_numbers):
        model_numbers = all_model_numbers[(group_numbers == group_number) & ~np.isnan(starting_scores)]
        if len(model_numbers) > 0:
            is_overtaker_within = np.isin(overtaking_models, model_numbers)
            is_within = is_overtaker_within & np.isin(overtaken_models, model_numbers)
            group_scores = starting_scores[model_numbers]
            gaps = subtract_rounded(group_scores[:, None], group_scores, model_scores.term_size)
            group_changes = order_changes.filter(is_within)
            leader_stretches += _split_by_leader(
                model_numbers, gaps > 0, group_changes, model_scores.low_logit, model_scores.high_logit
            )
    model_numbers, low_logits, high_logits = (
        np.array([stretch_tuple[column_number] for stretch_tuple in leader_stretches])
        for column_number in range(3)
    )
    model_numbers = model_numbers.astype(np.intp)
    etas_by_column = {
        "eta_low": model_scores.to_etas(low_logits),
        "eta_high": model_scores.to_etas(high_logits),
    }
    return model_scores.model_index.build_table(
        model_numbers, **etas_by_column, model=model_scores.model_index.model_names(model_numbers)
    )


def _split_by_leader(
    model_numbers: Indices,
    is_ahead: NDArray[np.bool_],
    order_changes: pl.DataFrame,
    low_logit: float,
    high_logit: float,
) -> Iterator[tuple[int, float, float]]:
    """Yield the leader and both ends of each stretch between low and high in which the leader stays."""
    # The leader is the first model with the fewest models ahead of it, normally none.
    leader_index = int(np.argmin(is_ahead.sum(axis=0)))
    overtaken_models, overtaking_models = (
        np.searchsorted(model_numbers, order_changes[name].to_numpy())
        for name in ("overtaken", "overtaker")
    )
    logits = order_changes["logit"].to_numpy()
    # If three models meet at one logit, their changes are rounded apart, and must be applied together.
    change_ends = np.flatnonzero(np.diff(logits, append=np.inf) > _SAME_LOGIT) + 1
    change_start = 0
    for change_end in change_ends.tolist():
        logit = float(logits[change_start])
        for loser_index, winner_index in zip(
            overtaken_models[change_start:change_end],
            overtaking_models[change_start:change_end],
            strict=True,
        ):
            is_ahead[loser_index, winner_index], is_ahead[winner_index, loser_index] = False, True
        if is_ahead[:, leader_index].any():
            if logit - low_logit > _SAME_LOGIT:
                yield int(model_numbers[leader_index]), low_logit, logit
                low_logit = logit
            leader_index = int(np.argmin(is_ahead.sum(axis=0)))
        change_start = change_end
    yield int(model_numbers[leader_index]), low_logit, high_logit


# ROC curves against each other: where they cross, and which model no other one beats at any threshold

#
# A curve is its points, joined by straight lines from (0, 0) to (1, 1). It may rise straight up, so
# recall is no function of fpr. But it has just one point on each falling diagonal `recall + fpr = s`. So
# curves are compared by `d = recall - fpr` as a function of s, which joins the corners by straight
# lines, too.
#
# A curve that is nowhere below another has at least its precision at every recall and every prevalence.
# Only models on the hull of all curves together can be best in accuracy, cost or net benefit.
#
# Source: Provost and Fawcett 2001.

DOMINANCE_COLUMNS = ("model", "dominates", "dominated_by", "on_hull")  # of leaders of ROC curves
ROC_CROSSING_COLUMNS = ("model_a", "model_b", "fpr", "recall")  # of crossings of ROC curves
# The place of a model among those of its group, and that of a group.
_MODEL_NUMBER, _GROUP_NUMBER = f"{RESERVED}model_number", f"{RESERVED}group_number"
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
    group_series = pl.Series(_GROUP_NUMBER, model_index.group_numbers())
    numbered_models = (
        group_rows.select(Group.NUMBER).with_row_index(_MODEL_NUMBER).with_columns(group_series)
    )
    # Segments of ROC AUC are those with a rise. The curve is flat in between, so their ends are all its
    # corners.
    rise_segments = table.collect(curves.segments_by_hull[False], "", n_etas=1)
    rise_segments = rise_segments.join(numbered_models.filter(has_curve), on=Group.NUMBER)
    start_points = rise_segments.select(
        _MODEL_NUMBER, _GROUP_NUMBER, recall=Segment.RECALL_BEFORE, fpr=Segment.FPR_BEFORE
    )
    end_points = rise_segments.select(
        _MODEL_NUMBER, _GROUP_NUMBER, recall="recall", fpr=Segment.FPR_OR_ZERO
    )
    points = pl.concat([start_points, end_points]).unique()
    rocs = [_RotatedRoc(np.empty(0), np.empty(0))] * len(group_rows)
    for [model_number], model_points in points.partition_by(_MODEL_NUMBER, as_dict=True).items():
        rate_sums = (model_points["recall"] + model_points["fpr"]).to_numpy()
        rate_differences = (model_points["recall"] - model_points["fpr"]).to_numpy()
        sort_order = np.lexsort((rate_differences, rate_sums))
        rocs[model_number] = _RotatedRoc(
            np.r_[0.0, rate_sums[sort_order], 2.0], np.r_[0.0, rate_differences[sort_order], 0.0]
        )
    return model_index, rocs, _test_on_hull(points, has_curve)


def _test_on_hull(points: pl.DataFrame, has_curve: pl.Series) -> pl.Series:
    """Return whether a corner of the hull of its group is a point of the model; null without a curve."""
    new_column_names = {_GROUP_NUMBER: Group.NUMBER, "fpr": Segment.FPR_OR_ZERO}
    own_points = points.select(_GROUP_NUMBER, "recall", "fpr").rename(new_column_names)
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
        corner_points, left_on=[_GROUP_NUMBER, *rate_columns], right_on=[Group.NUMBER, *rate_columns]
    )
    model_numbers = pl.int_range(len(has_curve), eager=True)
    on_hull = model_numbers.is_in(touching_points[_MODEL_NUMBER].implode())
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
