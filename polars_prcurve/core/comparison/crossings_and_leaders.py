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

from polars_prcurve.core.comparison.model_pairs import CROSSING_COLUMNS, LEADER_COLUMNS
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
from polars_prcurve.core.curves.sample_size_tables import build_counted_points
from polars_prcurve.core.curves.targets import RankingMetric, direction_sign
from polars_prcurve.core.ground.argument_checks import read_pair
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_numpy import Floats
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.inputs.column_reader import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metrics_at_thresholds_and_means_over_eta import find_none_as_zero
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
        key_columns = [pl.col(name) for name in self.model_rows.columns if name != Row.MODEL]
        is_first = pl.int_range(pl.len()) == 0
        has_changed = [key.ne_missing(key.shift(1)) for key in key_columns]
        is_group_start = pl.any_horizontal(is_first, *has_changed) if key_columns else is_first
        return self.model_rows.select(is_group_start.cum_sum().cast(pl.Int64)).to_series().to_numpy()

    def list_pairs(self) -> tuple[Indices, Indices]:
        """Return the numbers of both models of all model pairs, the smaller number first."""
        group_numbers = self.group_numbers()
        group_starts = np.flatnonzero(np.diff(group_numbers, prepend=0))
        group_ends = np.append(group_starts, len(group_numbers))[1:]
        pairs = [
            np.array(np.triu_indices(group_end - group_start, 1)) + group_start
            for group_start, group_end in zip(group_starts, group_ends, strict=True)
        ]
        return tuple(np.concatenate([np.empty((2, 0), dtype=np.intp), *pairs], axis=1))

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
        first_models, second_models = self.model_index.list_pairs()
        if self.point_metric is None or self.point_metric.ties is None:
            ends = self.low_logit, self.high_logit
            roots = find_sign_changes(
                self.score_at, first_models, second_models, *ends, term_size=self.term_size
            )
        else:
            roots = self._solve_ties(first_models, second_models)
        roots = roots.select(np.argsort(roots.logits))
        first_of_roots = first_models[roots.pair_numbers]
        second_of_roots = second_models[roots.pair_numbers]
        # The overtaken model is the one that is ahead below.
        overtaken = np.where(roots.is_falling, first_of_roots, second_of_roots)
        return pl.DataFrame(
            {
                "overtaken": overtaken,
                "overtaker": np.where(roots.is_falling, second_of_roots, first_of_roots),
                "logit": roots.logits,
                "is_parting": roots.is_parting,
            }
        )

    def _solve_ties(self, first_models: Indices, second_models: Indices) -> Roots:
        """Return the roots of pairs of operating points, from the equation of the metric."""
        assert self.point_metric is not None
        assert self.point_metric.ties is not None
        solutions: list[tuple[int, float, bool, bool]] = []
        for pair_number, pair_models in enumerate(zip(first_models, second_models, strict=True)):
            odds_of_ties = self.point_metric.ties(
                *(Point(*self.points[model_number]) for model_number in pair_models)
            )
            solution_logits = {math.log(odds) for odds in odds_of_ties if 0 < odds < math.inf}
            stretch_ends = [
                self.low_logit,
                *sorted(logit for logit in solution_logits if self.low_logit < logit < self.high_logit),
                self.high_logit,
            ]
            # At some solutions of the equation the scores only touch. So the scores are compared in
            # the middle between each two solutions.
            middles = (np.array(stretch_ends[:-1]) + stretch_ends[1:]) / 2
            scores_at_middles = [
                self.score_at(np.full(len(middles), model_number), middles)
                for model_number in pair_models
            ]
            signs = np.sign(scores_at_middles[0] - scores_at_middles[1])
            for logit, sign_below, sign_above in zip(stretch_ends[1:-1], signs, signs[1:], strict=False):
                if sign_below * sign_above < 0:
                    solutions.append((pair_number, logit, sign_below > 0, False))
        dtypes = enumerate((np.intp, float, bool, bool))
        return Roots(*(np.array([root[i] for root in solutions], dtype) for i, dtype in dtypes))


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
        [name] = metrics_by_name = number_metrics([find_none_as_zero(metric)])

        def score_curves(models: Indices, logits: Floats) -> Floats:
            order = np.lexsort((logits, models))  # the order of pairs, as they come back
            groups = model_rows[Group.NUMBER].gather(models[order])
            eta_rows = pl.LazyFrame({Group.NUMBER: groups, "eta": from_logit(logits[order])})
            populations = curves.build_populations(EtaTable(eta_rows, {Group.NUMBER: pl.UInt32()}))
            populations = populations.filter(pl.col(Population.HAS_ETA_ROW).is_not_null())
            query = curves.compute_values(populations, metrics_by_name).sort(Population.NUMBER)
            most_etas = int(np.bincount(models).max(initial=0))
            values = table.collect(query.select(name), "", n_etas=most_etas)
            return (values[name].fill_null(math.nan).to_numpy() * sign)[np.argsort(order)]

        model_index = ModelIndex(model_rows.select(*table.by))
        return ModelScores(model_index, score_curves, sign, eta_ends, term_size)
    collected_points = table.collect(build_counted_points(table, targets), "", n_etas=1)
    point_rates = collected_points.select(pl.col("recall", "fpr").fill_null(math.nan)).to_numpy()

    def score_points(models: Indices, logits: Floats) -> Floats:
        with np.errstate(all="ignore"):
            recall, fpr = point_rates[models, 0], point_rates[models, 1]
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
    scores = _collect_model_scores(table, ranking_metric, eta_range)
    model_index, order_changes = (
        scores.model_index,
        scores.find_order_changes().filter(~pl.col("is_parting")),
    )
    group_series = pl.Series("group", model_index.group_numbers()[order_changes["overtaken"].to_numpy()])
    order_changes = order_changes.with_columns(group_series).sort(
        "group", "logit", "overtaken", "overtaker"
    )
    overtaken, overtaker, logits = (order_changes[name].to_numpy() for name in order_changes.columns[:3])
    return model_index.build_table(
        overtaken,
        model_a=model_index.model_names(overtaken),
        model_b=model_index.model_names(overtaker),
        eta=from_logit(logits),
        value=scores.score_at(overtaken, logits) * scores.sign,
    )


def build_leaders_table(
    table: ResolvedTable, ranking_metric: RankingMetric, eta_range: EtaRange
) -> pl.DataFrame:
    """Return `by` and LEADER_COLUMNS: the best model of each range, or the first of equal ones."""
    check_group_names(table.by, ("eta", *LEADER_COLUMNS))  # models are compared at values of eta
    scores = _collect_model_scores(table, ranking_metric, eta_range)
    order_changes, group_numbers = scores.find_order_changes(), scores.model_index.group_numbers()
    # Below the first change of a group the order is constant: it is read off in the middle.
    first_change_logits = np.full(len(group_numbers), scores.high_logit)
    overtaken, overtaker, logits = (order_changes[name].to_numpy() for name in order_changes.columns[:3])
    np.minimum.at(first_change_logits, group_numbers[overtaker] - 1, logits)
    all_models = np.arange(len(group_numbers))
    values = scores.score_at(all_models, (scores.low_logit + first_change_logits[group_numbers - 1]) / 2)
    leader_stretches: list[tuple[int, float, float]] = []
    for group in np.unique(group_numbers):
        models = all_models[(group_numbers == group) & ~np.isnan(values)]
        if len(models) > 0:
            is_within = np.isin(overtaker, models) & np.isin(overtaken, models)
            gaps = subtract_rounded(values[models, None], values[models], scores.term_size)
            group_changes = order_changes.filter(is_within)
            leader_stretches += _split_by_leader(
                models, gaps > 0, group_changes, scores.low_logit, scores.high_logit
            )
    models, low_logits, high_logits = (
        np.array([stretch[column_number] for stretch in leader_stretches]) for column_number in range(3)
    )
    models = models.astype(np.intp)
    etas_of_ends = {"eta_low": scores.to_etas(low_logits), "eta_high": scores.to_etas(high_logits)}
    return scores.model_index.build_table(
        models, **etas_of_ends, model=scores.model_index.model_names(models)
    )


def _split_by_leader(
    models: Indices,
    is_ahead: NDArray[np.bool_],
    order_changes: pl.DataFrame,
    low_logit: float,
    high_logit: float,
) -> Iterator[tuple[int, float, float]]:
    """Yield the leader and both ends of each stretch between low and high in which the leader stays."""
    # The leader is the first model with the fewest models ahead of it, normally none.
    leader = int(np.argmin(is_ahead.sum(axis=0)))
    overtaken, overtaker = (
        np.searchsorted(models, order_changes[name].to_numpy()) for name in ("overtaken", "overtaker")
    )
    logits = order_changes["logit"].to_numpy()
    # If three models meet at one logit, their changes are rounded apart, and must be applied together.
    change_ends = np.flatnonzero(np.diff(logits, append=np.inf) > _SAME_LOGIT) + 1
    first_at_logit = 0
    for first_beyond in change_ends.tolist():
        logit = float(logits[first_at_logit])
        for loser, winner in zip(
            overtaken[first_at_logit:first_beyond], overtaker[first_at_logit:first_beyond], strict=True
        ):
            is_ahead[loser, winner], is_ahead[winner, loser] = False, True
        if is_ahead[:, leader].any():
            if logit - low_logit > _SAME_LOGIT:
                yield int(models[leader]), low_logit, logit
                low_logit = logit
            leader = int(np.argmin(is_ahead.sum(axis=0)))
        first_at_logit = first_beyond
    yield int(models[leader]), low_logit, high_logit
