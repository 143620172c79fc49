"""The prevalence of rows without labels, estimated from their scores beside those of a reference.

    reference  -> levels   cut at quantiles of the labelled scores, with the counts of both classes
    unlabelled -> groups   one row per group, with its rows at each level of its reference
               -> estimate the mixture of both classes that fits these counts best

The levels are made from labelled rows alone, so the unlabelled rows do not affect where they are cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import (
    ETA_CONFIDENCE,
    ETA_HIGH,
    ETA_LOW,
    UNCERTAIN_ETA_COLUMNS,
    EtaError,
)
from polars_prcurve.core.confidence.point_intervals import MOST_LEVELS, SLOPE_SCALE
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import aggregate_by, join_groups
from polars_prcurve.core.ground.lazy_modules import Floats
from polars_prcurve.core.ground.message_text import list_names
from polars_prcurve.core.ground.query_guards import Check, stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import (
    check_group_dtypes,
    check_group_names,
    list_key_phrases,
    missing_row_check,
)
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.prevalence.estimated_eta import warn_of_refuted_estimates
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.prevalence_by_em import join_estimates, list_estimate_columns
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS
from polars_prcurve.core.sweep.sweep_table import build_running_sums

LEAST_PER_LEVEL = 5
"""Examples of the smaller class per level, on average; with fewer examples there are fewer levels."""

_LEVEL = f"{RESERVED}level"  # the number of the level of a score, 0 at the top
_EDGES = f"{RESERVED}edges"  # the list of the least scores of all levels but the lowest
_EDGE = f"{RESERVED}edge_"  # stands before the number of a level: its least score
_REACH = f"{RESERVED}reach_"  # stands before the number of a level: the rows that reach it
_COLLECTS = "a prevalence that is estimated from scores"  # what a LazyFrame cannot have, in the error
_N_UNLABELLED = f"{RESERVED}n_unlabelled"  # the rows of a group


def build_mixture_table(
    table: ScoreTable, reference: ScoreTable, confidence: float | None
) -> pl.LazyFrame:
    """Return a table of one row per group: `by`, then the columns of `list_estimate_columns`."""
    check_group_names(table.by, list_estimate_columns(confidence))
    groups, level_counts = _count_levels(table, reference, "the reference= table")
    mixture_estimate = estimate_by_mixture(level_counts, confidence)
    values_of_column: dict[str, object] = {
        "eta": mixture_estimate.eta,
        "eta_low": mixture_estimate.low,
        "eta_high": mixture_estimate.high,
        "n": groups[_N_UNLABELLED],
        "shift_p_value": pl.Series(mixture_estimate.shift_p_value).fill_nan(None),
        "iterations": None,
        "converged": True,
    }
    return join_estimates(groups.drop(_N_UNLABELLED), confidence, values_of_column)


def build_estimated_grid(
    unlabelled_table: ScoreTable, table: ScoreTable, confidence: float | None
) -> EtaTable:
    """Return the prevalences of rows without labels, one per group of the labelled `table`."""
    groups, level_counts = _count_levels(unlabelled_table, table, "the evaluated table")
    mixture_estimate = estimate_by_mixture(level_counts, confidence)
    tested_groups = groups.with_columns(
        shift_p_value=pl.Series(mixture_estimate.shift_p_value).fill_nan(None)
    )
    warn_of_refuted_estimates(tested_groups, list(table.by))
    eta_rows = groups.select(*table.by, eta=pl.Series(mixture_estimate.eta))
    if confidence is not None:
        limit_series = (
            pl.Series(ETA_LOW, mixture_estimate.low),
            pl.Series(ETA_HIGH, mixture_estimate.high),
        )
        confidence_expr = pl.lit(confidence).alias(ETA_CONFIDENCE)
        eta_rows = eta_rows.with_columns(
            *limit_series,
            confidence_expr,
            tested_groups["shift_p_value"],
            describe_shared_errors(level_counts, mixture_estimate.eta),
        )
    return EtaTable(
        eta_rows.lazy(),
        dict(table.by),
        carried_columns=() if confidence is None else (*UNCERTAIN_ETA_COLUMNS, "shift_p_value"),
        etas_per_group=None if table.by else 1,
        is_uncertain=confidence is not None,
    )


def _count_levels(
    table: ScoreTable, reference: ScoreTable, reference_name: str
) -> tuple[pl.DataFrame, LevelCounts]:
    """Return the groups of unlabelled rows, `by` and _N_UNLABELLED, and their counts per level.

    Raise if a group has no reference, or one that lacks a class, or has but one score.
    """
    _check_columns(table, reference, reference_name)
    try:
        level_lists = _cut_levels(reference)
    except PrcError as error:
        raise PrcError(f"in {reference_name}, {error}") from None
    if level_lists.height == 0:
        raise PrcError(f"{reference_name} has no rows; it needs labelled rows of the same model")
    lazy_level_lists = level_lists.lazy()
    n_unlabelled = pl.len() if Row.LABEL in table.columns else table.columns[Row.NEG].sum()
    groups = table.aggregate_groups([n_unlabelled.cast(pl.Int64).alias(_N_UNLABELLED)])
    groups = stop_if_broken(groups, table.tallies.checks).select(*table.by, _N_UNLABELLED)
    groups = groups.filter(pl.col(_N_UNLABELLED) > 0).with_row_index(Group.NUMBER)
    groups = join_groups(groups, lazy_level_lists, reference.by, how="left")
    has_no_levels, key_exprs = pl.col(_EDGES).is_null(), {name: pl.col(name) for name in reference.by}
    check = missing_row_check("reference", key_exprs, has_no_levels, has_no_levels.sum())
    groups = stop_if_broken(groups, [check])
    level_numbers = range(MOST_LEVELS - 1)
    edge_exprs = (
        pl.col(_EDGES).list.get(level_number, null_on_oob=True).alias(f"{_EDGE}{level_number}")
        for level_number in level_numbers
    )
    rows = join_groups(
        table.rows, lazy_level_lists.select(*reference.by, *edge_exprs), reference.by, how="left"
    )
    row_weight = pl.lit(1) if Row.LABEL in table.columns else pl.col(Row.NEG)
    reach_exprs = (
        pl.when(pl.col(Row.SCORE) >= pl.col(f"{_EDGE}{level_number}"))
        .then(row_weight)
        .otherwise(0)
        .sum()
        .alias(f"{_REACH}{level_number}")
        for level_number in level_numbers
    )
    groups = join_groups(groups, aggregate_by(rows, table.by, reach_exprs), table.by, how="left")
    counted_groups = table.collect(groups.sort(Group.NUMBER), _COLLECTS)
    return counted_groups.select(*table.by, _N_UNLABELLED), _read_levels(counted_groups)


def _check_columns(table: ScoreTable, reference: ScoreTable, reference_name: str) -> None:
    """Raise unless the unlabelled rows have the groups of the reference, and its dtypes."""
    if reference.score_dtype != table.score_dtype:
        raise PrcError(
            f"cast both scores to one dtype: {table.score_dtype} where labels are missing, "
            f"{reference.score_dtype} in {reference_name}"
        )
    if lacking_names := [name for name in reference.by if name not in table.by]:
        raise PrcError(
            f"group both tables by the same columns: {reference_name} is grouped by "
            f"{list_names(map(repr, lacking_names))}, and the rows without labels are not"
        )
    check_group_dtypes(reference.by, table.by, f"in {reference_name}", "where labels are missing")


def _cut_levels(table: ScoreTable) -> pl.DataFrame:
    """Return one row per group of a reference: `by`, and lists POS, NEG and _EDGES by falling level."""
    rows, groups, _ = build_running_sums(table, None)
    checks = [
        _make_group_check(table, pl.col(total_column).is_null(), f"there are no {class_name}")
        for total_column, class_name in ((Group.N_POS, "positives"), (Group.N_NEG, "negatives"))
    ]
    groups = stop_if_broken(groups, checks)
    # The number of a score's level is the weight of the rows above it and of half the rows at it, times
    # the number of levels and rounded down. A positive weighs ½/P and a negative ½/N, so that classes
    # count alike. By half the rows at it, any two scores make two levels, however many rows they have.
    n_pos, n_neg = pl.col(Group.N_POS).cast(pl.Int128), pl.col(Group.N_NEG).cast(pl.Int128)
    n_levels = (pl.min_horizontal(n_pos, n_neg) // LEAST_PER_LEVEL).clip(2, MOST_LEVELS)
    twice_tp, twice_fp = (sum_columns.sum_so_far + sum_columns.sum_above for sum_columns in CLASS_SUMS)
    level_number = n_levels * (twice_tp * n_neg + twice_fp * n_pos) // (4 * n_pos * n_neg)
    score_rows = rows.join(groups, on=Group.NUMBER).with_columns(level_number.alias(_LEVEL))
    count_exprs = {
        sum_columns.amount: sum_columns.sum_at_score.sum().cast(pl.Float64) for sum_columns in CLASS_SUMS
    }
    level_rows = score_rows.group_by(*table.by, Group.NUMBER, _LEVEL).agg(
        pl.col(Row.SCORE).min(), **count_exprs
    )
    level_rows = level_rows.sort(Group.NUMBER, _LEVEL)
    edge_list_expr = pl.col(Row.SCORE).slice(0, pl.len() - 1).alias(_EDGES)
    level_lists = level_rows.group_by(Group.NUMBER, *table.by, maintain_order=True).agg(
        *count_exprs, edge_list_expr
    )
    check = _make_group_check(table, pl.col(_EDGES).list.len() == 0, "all scores are equal")
    return table.collect(stop_if_broken(level_lists, [check]).drop(Group.NUMBER), _COLLECTS)


def _make_group_check(reference: ScoreTable, is_wrong: pl.Expr, trouble_text: str) -> Check:
    """Return the check that no group of the reference is wrong, with the first one in its sentence."""
    first_key_parts = list_key_phrases({name: pl.col(name) for name in reference.by}, is_wrong)
    remedy_text = "; positives and negatives must have at least two scores"
    where_parts = [" where ", *first_key_parts] if first_key_parts else []
    return Check(is_wrong.any(), (trouble_text, *where_parts, remedy_text))


def _read_levels(groups: pl.DataFrame) -> LevelCounts:
    """Return the lists of levels as arrays, and the unlabelled rows at each level."""
    n_levels = groups[Row.POS].list.len().to_numpy()
    n_reaching_edges = groups.select(pl.col(f"^{_REACH}.*$")).cast(pl.Float64).to_numpy()
    n_rows = groups[_N_UNLABELLED].cast(pl.Float64).to_numpy()
    # Every row reaches the lowest level, and none goes below.
    level_numbers = range(MOST_LEVELS)
    n_reaching_levels = np.column_stack([n_reaching_edges, n_rows])
    n_reaching_levels = np.where(
        np.array(level_numbers) >= n_levels[:, None] - 1, n_rows[:, None], n_reaching_levels
    )
    labelled_counts = (
        groups.select(
            pl.col(name).list.get(level_number, null_on_oob=True).fill_null(0.0).alias(str(level_number))
            for level_number in level_numbers
        )
        for name in (Row.POS, Row.NEG)
    )
    positives, negatives = (counts.to_numpy() for counts in labelled_counts)
    return LevelCounts(positives, negatives, unlabelled=np.diff(n_reaching_levels, axis=1, prepend=0))


# The likelihood of a prevalence, from counts of both classes and of unlabelled rows by level --------

# If only the prevalence differs, the shares of unlabelled rows at the levels are a mixture of those of
# the two classes, q = eta alpha + (1 - eta) beta. All three tables are multinomial, so
#
#     l(eta) = max over alpha, beta of  sum a ln(alpha) + sum n ln(beta) + sum u ln(q)
#
# with a, n and u the counts of positives, negatives and unlabelled rows at a level. Of an unlabelled
# row at a level w = eta alpha / q is the probability that it is positive, and W the expected positives
# among them. At the maximum alpha = (a + u w) / (A + W) and beta = (n + u (1 - w)) / (N + U - W), so w
# solves a quadratic equation at each level once W is known, and W is where the sum of u w meets W. That
# sum falls in W less W itself, so there is one solution, and no iteration that may stop too early.
#
# Sources: Saerens, Latinne and Decaestecker 2002 (the mixture); Wilks 1938 (the interval and the test).

_GRID_STEPS = 64  # of the prevalences, even in the logit, among which the greatest likelihood is sought
_BISECTIONS = 56  # so many halvings leave less than 1e-17 of a step of the grid
_NEWTON_STEPS = 60  # at most; so many halvings alone leave 1e-18 of the range of W
_SETTLED = 4e-15  # a change of W, relative to it, that is as small as rounding


@dataclass(frozen=True)
class LevelCounts:
    """Counts of groups (rows) at levels of score (columns); a group with fewer levels has zeros."""

    positives: Floats
    negatives: Floats
    unlabelled: Floats

    @cached_property
    def totals(self) -> tuple[Floats, Floats, Floats]:
        """Return the positives, negatives and unlabelled rows of each group."""
        return self.positives.sum(axis=1), self.negatives.sum(axis=1), self.unlabelled.sum(axis=1)


class MixtureEstimate(NamedTuple):
    """The estimate of each group, maybe its limits, and the test that only prevalence differs."""

    eta: Floats
    low: Floats | None
    high: Floats | None
    shift_p_value: Floats  # NaN where two levels leave no degree of freedom


def estimate_by_mixture(level_counts: LevelCounts, confidence: float | None) -> MixtureEstimate:
    """Return the prevalences of greatest likelihood, their intervals and tests, of all groups at once.

    The interval is `{eta: 2 (l_max - l(eta)) <= z^2}`. The test compares l_max with the likelihood of
    three tables of their own: the statistic is chi-squared, with levels less 2 degrees of freedom.
    """
    grid_etas = np.concatenate([[0.0], 1 / (1 + np.exp(-np.linspace(-14, 14, _GRID_STEPS - 1))), [1.0]])
    n_groups = len(level_counts.unlabelled)
    grid_log_likelihoods = np.stack(
        [_maximize_likelihood(level_counts, np.full(n_groups, grid_eta))[0] for grid_eta in grid_etas],
        axis=1,
    )
    # The likelihood has its maximum where W is eta U: it rises as long as W is more.
    best_eta_numbers = grid_log_likelihoods.argmax(axis=1)
    low_etas = grid_etas[np.maximum(best_eta_numbers - 1, 0)]
    high_etas = grid_etas[np.minimum(best_eta_numbers + 1, len(grid_etas) - 1)]
    for _ in range(_BISECTIONS):
        middle_etas = (low_etas + high_etas) / 2
        expected_pos = _maximize_likelihood(level_counts, middle_etas)[1]
        is_rising = expected_pos > middle_etas * level_counts.totals[2]
        low_etas = np.where(is_rising, middle_etas, low_etas)
        high_etas = np.where(is_rising, high_etas, middle_etas)
    # Where the likelihood never rises, or always does, the maximum is the end of [0, 1].
    etas = np.where(low_etas == 0, 0.0, np.where(high_etas == 1, 1.0, (low_etas + high_etas) / 2))
    greatest_log_likelihoods = _maximize_likelihood(level_counts, etas)[0]
    eta_lows = eta_highs = None
    if confidence is not None:
        likelihood_limits = greatest_log_likelihoods - z_value(confidence) ** 2 / 2
        eta_lows = _find_low_ends(level_counts, grid_etas, grid_log_likelihoods, etas, likelihood_limits)
        # The high end is the low end of the share of negatives.
        mirrored_counts = LevelCounts(
            positives=level_counts.negatives,
            negatives=level_counts.positives,
            unlabelled=level_counts.unlabelled,
        )
        low_negative_shares = _find_low_ends(
            mirrored_counts,
            1 - grid_etas[::-1],
            grid_log_likelihoods[:, ::-1],
            1 - etas,
            likelihood_limits,
        )
        eta_highs = np.maximum(1 - low_negative_shares, etas)  # 1 - (1 - eta) may round to less than eta
    p_values = _test_mixture(level_counts, greatest_log_likelihoods)
    return MixtureEstimate(etas, low=eta_lows, high=eta_highs, shift_p_value=p_values)


def _test_mixture(level_counts: LevelCounts, greatest_log_likelihoods: Floats) -> Floats:
    """Return the p-value of each group that its unlabelled rows are a mixture of both classes."""
    count_tables = (level_counts.positives, level_counts.negatives, level_counts.unlabelled)
    # Levels without rows do not count.
    degrees_of_freedom = (np.sum(count_tables, axis=0) > 0).sum(axis=1) - 2
    with np.errstate(invalid="ignore"):
        log_terms = [
            _times_log(count_table, count_table / count_table.sum(axis=1, keepdims=True))
            for count_table in count_tables
        ]
    test_statistics = 2 * (np.sum(log_terms, axis=(0, 2)) - greatest_log_likelihoods)
    p_values = [
        chi_squared_tail(max(test_statistic, 0.0), int(n_degrees))
        for test_statistic, n_degrees in zip(test_statistics, degrees_of_freedom, strict=True)
    ]
    return np.array(p_values, dtype=np.float64)


def _find_low_ends(
    level_counts: LevelCounts,
    grid_etas: Floats,
    grid_log_likelihoods: Floats,
    etas: Floats,
    log_likelihood_limits: Floats,
) -> Floats:
    """Return the least prevalence whose likelihood reaches the limit: 0, if that of 0 does.

    `grid_log_likelihoods` are those at the prevalences of the grid, and `etas` are the estimates.
    """
    is_likely = (grid_log_likelihoods >= log_likelihood_limits[:, None]) | (grid_etas >= etas[:, None])
    # The estimate itself reaches the limit, so there is one.
    first_eta_numbers = is_likely.argmax(axis=1)
    low_etas = grid_etas[np.maximum(first_eta_numbers - 1, 0)]
    high_etas = np.minimum(grid_etas[first_eta_numbers], etas)
    for _ in range(_BISECTIONS):
        middle_etas = (low_etas + high_etas) / 2
        is_reached = _maximize_likelihood(level_counts, middle_etas)[0] >= log_likelihood_limits
        low_etas = np.where(is_reached, low_etas, middle_etas)
        high_etas = np.where(is_reached, middle_etas, high_etas)
    return np.where(grid_log_likelihoods[:, 0] >= log_likelihood_limits, 0.0, high_etas)


def _maximize_likelihood(level_counts: LevelCounts, etas: Floats) -> tuple[Floats, Floats]:
    """Return the greatest likelihood at each group's eta, and W, the expected unlabelled positives."""
    a, n, u = level_counts.positives, level_counts.negatives, level_counts.unlabelled
    n_pos, n_neg, n_rows = level_counts.totals
    least_expected_pos, most_expected_pos = np.zeros_like(n_rows), n_rows.copy()
    expected_pos = n_rows * etas
    for _ in range(_NEWTON_STEPS):
        w, sum_slope = _posteriors(level_counts, etas, expected_pos)
        surplus = (u * w).sum(axis=1) - expected_pos
        least_expected_pos = np.where(surplus > 0, expected_pos, least_expected_pos)
        most_expected_pos = np.where(surplus > 0, most_expected_pos, expected_pos)
        with np.errstate(invalid="ignore"):
            next_expected_pos = expected_pos + surplus / (1 - sum_slope)
        # Newton's step, or half way where it leaves what is left to search. The ends are allowed: a
        # group that has arrived stays, while others go on.
        next_expected_pos = np.where(
            (next_expected_pos >= least_expected_pos) & (next_expected_pos <= most_expected_pos),
            next_expected_pos,
            (least_expected_pos + most_expected_pos) / 2,
        )
        is_settled = np.abs(next_expected_pos - expected_pos) <= _SETTLED * expected_pos
        expected_pos = next_expected_pos
        if is_settled.all():
            break
    w, _ = _posteriors(level_counts, etas, expected_pos)
    eta_column = etas[:, None]
    alpha = (a + u * w) / (n_pos + expected_pos)[:, None]
    beta = (n + u * (1 - w)) / (n_neg + n_rows - expected_pos)[:, None]
    mixture_shares = eta_column * alpha + (1 - eta_column) * beta
    log_terms = _times_log(a, alpha) + _times_log(n, beta) + _times_log(u, mixture_shares)
    return log_terms.sum(axis=1), expected_pos


def _posteriors(level_counts: LevelCounts, etas: Floats, expected_pos: Floats) -> tuple[Floats, Floats]:
    """Return w at each level if W is `expected_pos`, and how fast the sum of u w grows with W."""
    a, n, u = level_counts.positives, level_counts.negatives, level_counts.unlabelled
    n_pos, n_neg, n_rows = level_counts.totals
    all_pos, all_neg = n_pos + expected_pos, n_neg + n_rows - expected_pos
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The root in [0, 1] of u (k-1) w^2 + (n + u + k (a-u)) w - k a, with k the odds of eta times
        # (N + U - W) / (A + W).
        k = (etas * all_neg / ((1 - etas) * all_pos))[:, None]
        square_coefficient, linear_coefficient = u * (k - 1), n + u + k * (a - u)
        discriminant_root = np.sqrt(
            np.maximum(linear_coefficient * linear_coefficient + 4 * square_coefficient * k * a, 0)
        )
        # Of the two forms of the root, the one that adds numbers of one sign.
        w = np.where(
            linear_coefficient >= 0,
            2 * k * a / (linear_coefficient + discriminant_root),
            (discriminant_root - linear_coefficient) / (2 * square_coefficient),
        )
        w = np.where(np.isfinite(k), w, 1.0)  # at eta = 1
        w = np.clip(np.where(np.isnan(w), 0.0, w), 0, 1)  # a level without rows
        w_slopes = -(1 - w) * (a + u * w) / discriminant_root * k * (1 / all_neg + 1 / all_pos)[:, None]
    w_slopes = np.where(np.isfinite(w_slopes), w_slopes, 0.0)
    return w, (u * w_slopes).sum(axis=1)


def _times_log(count: Floats, share: Floats) -> Floats:
    """Return `count ln(share)`, which is 0 where the count is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(count > 0, count * np.log(share), 0.0)


def chi_squared_tail(x: float, degrees_of_freedom: int) -> float:
    """Return the chance that a chi-squared variable exceeds x; NaN without degrees of freedom."""
    if degrees_of_freedom < 1:
        return math.nan
    # Whole degrees of freedom have a finite series, and all its terms are positive.
    # With h = x / 2 and k even: exp(-h) times the sum of h^i / i! for i < k / 2. With k odd:
    # erfc(sqrt h) plus exp(-h) times the sum of h^(i - 1/2) / gamma(i + 1/2) for 1 <= i < k / 2.
    half_x = x / 2
    parity = degrees_of_freedom % 2
    tail_chance = math.erfc(math.sqrt(half_x)) if parity else math.exp(-half_x)
    term = math.exp(-half_x) * (math.sqrt(half_x / math.pi) * 2 if parity else half_x)
    for i in range(1, (degrees_of_freedom - parity) // 2 + parity):
        tail_chance += term
        term *= half_x / (i + (0.5 if parity else 1))
    return tail_chance


# The error of a prevalence whose reference is evaluated at it -----------------------------------

# Scores of the field are cut at levels, and eta is the mixture of both classes of the reference that
# fits their counts best; see above. An fpr that is too high by chance lowers precision.
# It makes the field look less positive, too, and eta too low: both errors add up. So far the errors of
# the reference, with shares alpha and beta of positives and negatives at the levels, enter eta by
#
#   sum of -eta (c - mean of c) / P over positives, and of -(1 - eta) (c - mean of c) / N over negatives
#
# where c is a number for each level,
#
#     c = g / (alpha - beta)'g,   g = S^- (alpha - beta),   q = eta alpha + (1 - eta) beta,
#     S = [q]/U + eta^2 [alpha]/P + (1 - eta)^2 [beta]/N,   [x] = diag x - x x'
#
# The correlation of the error of recall with that of eta is the covariance of these terms with being
# above the threshold. Levels are stretches of the sweep, so a rate alone gives the sum of c above a
# threshold: it is linear in the rate within each level, and no row needs its level.
#
# Sources: Saerens, Latinne and Decaestecker 2002; Ferguson 1996 (minimum chi-squared has the influence
# of likelihood); Zou 2008 (correlated distances).

_CUT = 1e-10  # directions of S that vary by less than this, relatively, do not vary at all
_CLASSES = ("pos", "neg")  # in the names of fields, in the order of slopes and shares


def describe_shared_errors(level_counts: LevelCounts, etas: Floats) -> pl.Series:
    """Return the column EtaError.REFERENCE: how the errors of each group's reference enter its eta.

    Its fields are, for either class and each level from the highest score down, the share of the class
    down to that level, and a slope. The slopes, added up over the share of the class above a threshold,
    are the correlation of the error of eta with that of the rate there, times the standard error that
    the rate of a single example has.
    """
    field_names = [
        f"{field_name}_{class_label}_{level_number}"
        for field_name in ("slope", "share")
        for class_label in _CLASSES
        for level_number in range(MOST_LEVELS)
    ]
    field_values = np.zeros((len(etas), len(field_names) + 1))
    for group_index, (pos_counts, neg_counts, unlabelled_counts) in enumerate(
        zip(level_counts.positives, level_counts.negatives, level_counts.unlabelled, strict=True)
    ):
        slopes = _find_slopes(pos_counts, neg_counts, unlabelled_counts, float(etas[group_index]))
        share_arrays = [np.cumsum(counts) / counts.sum() for counts in (pos_counts, neg_counts)]
        slope_bound = 2 * sum(np.abs(slope).sum() for slope in slopes)
        slope_scale = 2.0 ** np.ceil(np.log2(slope_bound)) if 0 < slope_bound < np.inf else 1.0
        field_values[group_index] = [*np.concatenate([*slopes, *share_arrays]), slope_scale]
    return pl.DataFrame(
        field_values, schema=dict.fromkeys([*field_names, SLOPE_SCALE], pl.Float64)
    ).to_struct(EtaError.REFERENCE)


def _find_slopes(
    pos_counts: Floats, neg_counts: Floats, unlabelled_counts: Floats, eta: float
) -> tuple[Floats, Floats]:
    """Return the slopes of positives and of negatives at the levels; 0 where eta has no error."""
    n_pos, n_neg, n_rows = pos_counts.sum(), neg_counts.sum(), unlabelled_counts.sum()
    has_rows = (pos_counts + neg_counts + unlabelled_counts) > 0
    # Half an example more in each class, spread evenly, so that no share at a level with rows is 0.
    alpha = np.where(has_rows, (pos_counts + 0.5 / has_rows.sum()) / (n_pos + 0.5), 0.0)
    beta = np.where(has_rows, (neg_counts + 0.5 / has_rows.sum()) / (n_neg + 0.5), 0.0)
    mixture_shares = eta * alpha + (1 - eta) * beta
    weights_and_shares = (
        (1 / n_rows, mixture_shares),
        (eta**2 / n_pos, alpha),
        ((1 - eta) ** 2 / n_neg, beta),
    )
    covariance_matrix = sum(
        weight * (np.diag(share_vector) - np.outer(share_vector, share_vector))
        for weight, share_vector in weights_and_shares
    )
    share_difference = alpha - beta
    g = np.linalg.pinv(covariance_matrix, rcond=_CUT, hermitian=True) @ share_difference
    scale_factor = share_difference @ g
    if not scale_factor > 0:
        return np.zeros_like(pos_counts), np.zeros_like(neg_counts)
    c = g / scale_factor
    pos_terms, neg_terms = (c - (counts * c).sum() / counts.sum() for counts in (pos_counts, neg_counts))
    field_variance = (unlabelled_counts * c**2).sum() / n_rows - (
        (unlabelled_counts * c).sum() / n_rows
    ) ** 2
    # The variance of eta: of the terms of both classes, and of c over the rows of the field.
    eta_variance = (
        eta**2 * (pos_counts * pos_terms**2).sum() / n_pos**2
        + (1 - eta) ** 2 * (neg_counts * neg_terms**2).sum() / n_neg**2
        + field_variance / n_rows
    )
    if not eta_variance > 0:
        return np.zeros_like(pos_counts), np.zeros_like(neg_counts)
    return (
        np.where(has_rows, -eta * pos_terms, 0.0) / np.sqrt(n_pos * eta_variance),
        np.where(has_rows, -(1 - eta) * neg_terms, 0.0) / np.sqrt(n_neg * eta_variance),
    )
