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
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.comparison.comparison_request import CROSSING_COLUMNS, LEADER_COLUMNS
from polars_prcurve.core.comparison.sign_change_search import (
    Evaluate,
    Indices,
    Roots,
    expit,
    find_logit,
    find_sign_changes,
    subtract_rounded,
)
from polars_prcurve.core.curves.curve_metric_values import collect_curves, number_metrics
from polars_prcurve.core.curves.sample_size_tables import build_counted_points
from polars_prcurve.core.curves.target_arguments import RankingMetric
from polars_prcurve.core.ground.argument_checks import read_pair
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import Floats
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.curve_metrics_at_one_threshold import find_none_as_zero
from polars_prcurve.core.metrics.metric_base import direction_sign
from polars_prcurve.core.metrics.point_metric import Point, PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Population

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
        return find_logit(self.eta_ends[0])

    @property
    def high_logit(self) -> float:
        """The logit of the highest prevalence."""
        return find_logit(self.eta_ends[1])

    def to_etas(self, logits: Floats) -> Floats:
        """Return the prevalences of logits; both ends as they were passed, without rounding."""
        is_end = [logits == self.low_logit, logits == self.high_logit]
        return np.select(is_end, self.eta_ends, expit(logits))

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
            eta_rows = pl.LazyFrame({Group.NUMBER: group_numbers, "eta": expit(logits[sort_order])})
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
            values: Floats = metric.from_rates(recall, fpr, expit(logits))
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
    model_index = model_scores.model_index
    order_changes = model_scores.find_order_changes().filter(~pl.col("is_parting"))
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
        eta=expit(logits),
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

# The place of a model among those of its group, and that of a group.
MODEL_NUMBER, GROUP_NUMBER = f"{RESERVED}model_number", f"{RESERVED}group_number"
