"""The prevalence of rows without labels, estimated from their scores beside those of a reference.

    reference  -> levels   cut at quantiles of the labelled scores, with the counts of both classes
    unlabelled -> groups   one row per group, with its rows at each level of its reference
               -> estimate the mixture of both classes that fits these counts best

The levels are made from labelled rows alone, so the unlabelled rows have no say in where they are cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from polars_prcurve.core.confidence.interval_inputs import (
    ETA_CONFIDENCE,
    ETA_HIGH,
    ETA_LOW,
    UNCERTAIN_ETA_COLUMNS,
    EtaError,
)
from polars_prcurve.core.confidence.intervals import z_value
from polars_prcurve.core.confidence.point_intervals import MOST_LEVELS, SLOPE_SCALE
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.group_joins import aggregate_by, join_groups
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import Check, stop_if_broken
from polars_prcurve.core.inputs.column_reader import check_group_names, missing_row_check, show_first
from polars_prcurve.core.inputs.input_tables import ScoreTable
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.prevalence.eta_grid import EtaTable
from polars_prcurve.core.prevalence.prior_shift import join_estimates, list_estimate_columns
from polars_prcurve.core.prevalence.sampled_eta import warn_of_refuted_estimates
from polars_prcurve.core.sweep.grouped_rows import CLASS_SUMS
from polars_prcurve.core.sweep.sweep_columns import GroupSums, Sweep
from polars_prcurve.core.sweep.sweep_table import build_running_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

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
    groups, counts = _count_levels(table, reference, "the reference= table")
    estimate = estimate_by_mixture(counts, confidence)
    columns: dict[str, object] = {
        "eta": estimate.eta,
        "eta_low": estimate.low,
        "eta_high": estimate.high,
        "n": groups[_N_UNLABELLED],
        "shift_p_value": pl.Series(estimate.shift_p_value).fill_nan(None),
        "iterations": None,
        "converged": True,
    }
    return join_estimates(groups.drop(_N_UNLABELLED), confidence, columns)


def build_estimated_grid(field: ScoreTable, table: ScoreTable, confidence: float | None) -> EtaTable:
    """Return the prevalences of rows without labels, one per group of the labelled `table`."""
    groups, counts = _count_levels(field, table, "the table that is asked")
    estimate = estimate_by_mixture(counts, confidence)
    tests = groups.with_columns(shift_p_value=pl.Series(estimate.shift_p_value).fill_nan(None))
    warn_of_refuted_estimates(tests, list(table.by))
    etas = groups.select(*table.by, eta=pl.Series(estimate.eta))
    if confidence is not None:
        limits = pl.Series(ETA_LOW, estimate.low), pl.Series(ETA_HIGH, estimate.high)
        level = pl.lit(confidence).alias(ETA_CONFIDENCE)
        etas = etas.with_columns(*limits, level, describe_shared_errors(counts, estimate.eta))
    return EtaTable(
        etas.lazy(),
        dict(table.by),
        carried=() if confidence is None else UNCERTAIN_ETA_COLUMNS,
        etas_per_group=None if table.by else 1,
        uncertain=confidence is not None,
    )


def _count_levels(
    table: ScoreTable, reference: ScoreTable, reference_name: str
) -> tuple[pl.DataFrame, LevelCounts]:
    """Return the groups of unlabelled rows, `by` and _N_UNLABELLED, and their counts per level.

    Raise if a group has no reference, or one that lacks a class, or has but one score.
    """
    if reference.score_dtype != table.score_dtype:
        raise PrcError(
            f"the score is {table.score_dtype} where labels are missing, and {reference.score_dtype} in "
            f"{reference_name}; cast one to the other, so that both are cut at the same values"
        )
    try:
        level_lists = _cut_levels(reference)
    except PrcError as error:
        raise PrcError(f"in {reference_name}, {error}") from None
    if level_lists.height == 0:
        raise PrcError(f"{reference_name} has no rows; it takes labelled rows of the same model")
    levels = level_lists.lazy()
    n_rows = pl.len() if Row.LABEL in table.columns else table.columns[Row.NEG].sum()
    groups = table.aggregate_groups([n_rows.cast(pl.Int64).alias(_N_UNLABELLED)])
    groups = stop_if_broken(groups, table.tallies.checks).select(*table.by, _N_UNLABELLED)
    groups = groups.filter(pl.col(_N_UNLABELLED) > 0).with_row_index(Group.NUMBER)
    groups = join_groups(groups, levels, reference.by, how="left")
    has_no_levels, keys = pl.col(_EDGES).is_null(), {name: pl.col(name) for name in reference.by}
    check = missing_row_check("reference", keys, has_no_levels, has_no_levels.sum())
    groups = stop_if_broken(groups, [check])
    places = range(MOST_LEVELS - 1)
    edges = (pl.col(_EDGES).list.get(j, null_on_oob=True).alias(f"{_EDGE}{j}") for j in places)
    rows = join_groups(table.rows, levels.select(*reference.by, *edges), reference.by, how="left")
    n = pl.lit(1) if Row.LABEL in table.columns else pl.col(Row.NEG)
    rows_by_level = {
        j: pl.when(pl.col(Row.SCORE) >= pl.col(f"{_EDGE}{j}")).then(n).otherwise(0) for j in places
    }
    sums = (amount.sum().alias(f"{_REACH}{j}") for j, amount in rows_by_level.items())
    groups = join_groups(groups, aggregate_by(rows, table.by, sums), table.by, how="left")
    counts = table.collect(groups.sort(Group.NUMBER), _COLLECTS)
    return counts.select(*table.by, _N_UNLABELLED), _read_counts(counts)


def _cut_levels(table: ScoreTable) -> pl.DataFrame:
    """Return one row per group of a reference: `by`, and lists POS, NEG and _EDGES by falling level."""
    rows, groups, _ = build_running_sums(table, None)
    tests = {"positives": pl.col(Group.N_POS).is_null(), "negatives": pl.col(Group.N_NEG).is_null()}
    checks = [_group_check(table, test, f"there are no {name}") for name, test in tests.items()]
    groups = stop_if_broken(groups, checks)
    # The number of a score's level is the weight of the rows above it and of half the rows at it, times
    # the number of levels and rounded down. A positive weighs ½/P and a negative ½/N, so that classes
    # count alike. By half the rows at it, any two scores make two levels, however many rows they have.
    n_pos, n_neg = pl.col(Group.N_POS).cast(pl.Int128), pl.col(Group.N_NEG).cast(pl.Int128)
    n_levels = (pl.min_horizontal(n_pos, n_neg) // LEAST_PER_LEVEL).clip(2, MOST_LEVELS)
    twice_tp = (
        pl.col(Sweep.CUM_POS_ABOVE) + pl.col(Sweep.CUM_POS) - 2 * pl.col(GroupSums.POS_BEFORE_GROUP)
    )
    twice_fp = (
        pl.col(Sweep.CUM_NEG_ABOVE) + pl.col(Sweep.CUM_NEG) - 2 * pl.col(GroupSums.NEG_BEFORE_GROUP)
    )
    level = n_levels * (twice_tp * n_neg + twice_fp * n_pos) // (4 * n_pos * n_neg)
    scores = rows.join(groups, on=Group.NUMBER).with_columns(level.alias(_LEVEL))
    counts = {s.amount: (pl.col(s.cum) - pl.col(s.above)).sum().cast(pl.Float64) for s in CLASS_SUMS}
    by_level = scores.group_by(*table.by, Group.NUMBER, _LEVEL).agg(pl.col(Row.SCORE).min(), **counts)
    by_level = by_level.sort(Group.NUMBER, _LEVEL)
    edges = pl.col(Row.SCORE).slice(0, pl.len() - 1).alias(_EDGES)
    lists = by_level.group_by(Group.NUMBER, *table.by, maintain_order=True).agg(*counts, edges)
    check = _group_check(table, pl.col(_EDGES).list.len() == 0, "all scores are equal")
    return table.collect(stop_if_broken(lists, [check]).drop(Group.NUMBER), _COLLECTS)


def _group_check(reference: ScoreTable, is_wrong: pl.Expr, trouble: str) -> Check:
    """Return the check that no group of the reference is wrong, with the first one in its sentence."""
    first = show_first({name: pl.col(name) for name in reference.by}, is_wrong)
    remedy = "; it takes positives and negatives at two scores or more to tell the classes apart"
    clause = [" where ", *first] if first else []
    return Check(is_wrong.any(), (trouble, *clause, remedy))


def _read_counts(groups: pl.DataFrame) -> LevelCounts:
    """Return the lists of levels as arrays, and the unlabelled rows at each level."""
    n_levels = groups[Row.POS].list.len().to_numpy()
    rows_from_top = groups.select(pl.col(f"^{_REACH}.*$")).cast(pl.Float64).to_numpy()
    total = groups[_N_UNLABELLED].cast(pl.Float64).to_numpy()
    # Every row reaches the lowest level, and none goes below.
    places = range(MOST_LEVELS)
    cumulated = np.column_stack([rows_from_top, total])
    cumulated = np.where(np.array(places) >= n_levels[:, None] - 1, total[:, None], cumulated)
    labelled_counts = (
        groups.select(
            pl.col(name).list.get(j, null_on_oob=True).fill_null(0.0).alias(str(j)) for j in places
        )
        for name in (Row.POS, Row.NEG)
    )
    positives, negatives = (frame.to_numpy() for frame in labelled_counts)
    return LevelCounts(positives, negatives, unlabelled=np.diff(cumulated, axis=1, prepend=0))


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
        a, n, u = self.positives.sum(axis=1), self.negatives.sum(axis=1), self.unlabelled.sum(axis=1)
        return a, n, u


class MixtureEstimate(NamedTuple):
    """The estimate of each group, maybe its limits, and the test that only prevalence differs."""

    eta: Floats
    low: Floats | None
    high: Floats | None
    shift_p_value: Floats  # NaN where two levels leave no degree of freedom


def estimate_by_mixture(counts: LevelCounts, confidence: float | None) -> MixtureEstimate:
    """Return the prevalences of greatest likelihood, their intervals and tests, of all groups at once.

    The interval is `{eta: 2 (l_max - l(eta)) <= z^2}`. The test compares l_max with the likelihood of
    three tables of their own: the statistic is chi-squared, with levels less 2 degrees of freedom.
    """
    grid = np.concatenate([[0.0], 1 / (1 + np.exp(-np.linspace(-14, 14, _GRID_STEPS - 1))), [1.0]])
    n_groups = len(counts.unlabelled)
    values = np.stack([_profile(counts, np.full(n_groups, place))[0] for place in grid], axis=1)
    # The likelihood has its maximum where W is eta U: it rises as long as W is more.
    top = values.argmax(axis=1)
    lower, upper = grid[np.maximum(top - 1, 0)], grid[np.minimum(top + 1, len(grid) - 1)]
    for _ in range(_BISECTIONS):
        middle = (lower + upper) / 2
        rises = _profile(counts, middle)[1] > middle * counts.totals[2]
        lower, upper = np.where(rises, middle, lower), np.where(rises, upper, middle)
    # Where the likelihood never rises, or always does, the maximum is the end of [0, 1].
    eta = np.where(lower == 0, 0.0, np.where(upper == 1, 1.0, (lower + upper) / 2))
    best = _profile(counts, eta)[0]
    low = high = None
    if confidence is not None:
        limit = best - z_value(confidence) ** 2 / 2
        low = _find_limit(counts, grid, values, eta=eta, limit=limit)
        # The high end is the low end of the share of negatives.
        mirrored_counts = LevelCounts(
            positives=counts.negatives, negatives=counts.positives, unlabelled=counts.unlabelled
        )
        negative_low = _find_limit(
            mirrored_counts, 1 - grid[::-1], values[:, ::-1], eta=1 - eta, limit=limit
        )
        high = np.maximum(1 - negative_low, eta)  # 1 - (1 - eta) may round to less than eta
    tables = (counts.positives, counts.negatives, counts.unlabelled)
    freedom = (np.sum(tables, axis=0) > 0).sum(axis=1) - 2  # levels without rows do not count
    with np.errstate(invalid="ignore"):
        parts = [_times_log(table, table / table.sum(axis=1, keepdims=True)) for table in tables]
    statistic = 2 * (np.sum(parts, axis=(0, 2)) - best)
    p_values = [
        chi_squared_tail(max(value, 0.0), int(degrees))
        for value, degrees in zip(statistic, freedom, strict=True)
    ]
    return MixtureEstimate(eta, low=low, high=high, shift_p_value=np.array(p_values, dtype=np.float64))


def _find_limit(
    counts: LevelCounts, grid: Floats, values: Floats, *, eta: Floats, limit: Floats
) -> Floats:
    """Return the least prevalence whose likelihood reaches the limit: 0, if that of 0 does.

    `values` are the likelihoods at the prevalences of the grid, and `eta` is the estimate.
    """
    reaches = (values >= limit[:, None]) | (grid >= eta[:, None])
    first = reaches.argmax(axis=1)  # the estimate itself reaches the limit, so there is one
    low, high = grid[np.maximum(first - 1, 0)], np.minimum(grid[first], eta)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_reached = _profile(counts, middle)[0] >= limit
        low, high = np.where(is_reached, low, middle), np.where(is_reached, middle, high)
    return np.where(values[:, 0] >= limit, 0.0, high)


def _profile(counts: LevelCounts, eta: Floats) -> tuple[Floats, Floats]:
    """Return the greatest likelihood at each group's eta, and W, the expected unlabelled positives."""
    a, n, u = counts.positives, counts.negatives, counts.unlabelled
    n_pos, n_neg, n_rows = counts.totals
    low, high = np.zeros_like(n_rows), n_rows.copy()
    total = n_rows * eta
    for _ in range(_NEWTON_STEPS):
        w, slope = _posteriors(counts, eta, total)
        surplus = (u * w).sum(axis=1) - total
        low, high = np.where(surplus > 0, total, low), np.where(surplus > 0, high, total)
        with np.errstate(invalid="ignore"):
            step = total + surplus / (1 - slope)
        # Newton's step, or half way where it leaves what is left to search. The ends are allowed: a
        # group that has arrived stays, while others go on.
        step = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        is_settled = np.abs(step - total) <= _SETTLED * total
        total = step
        if is_settled.all():
            break
    w, _ = _posteriors(counts, eta, total)
    column = eta[:, None]
    alpha = (a + u * w) / (n_pos + total)[:, None]
    beta = (n + u * (1 - w)) / (n_neg + n_rows - total)[:, None]
    mixture = column * alpha + (1 - column) * beta
    parts = _times_log(a, alpha) + _times_log(n, beta) + _times_log(u, mixture)
    return parts.sum(axis=1), total


def _posteriors(counts: LevelCounts, eta: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Return w at each level if W is `total`, and how fast the sum of u w grows with W."""
    a, n, u = counts.positives, counts.negatives, counts.unlabelled
    n_pos, n_neg, n_rows = counts.totals
    positive, negative = n_pos + total, n_neg + n_rows - total
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The root in [0, 1] of u (k-1) w^2 + (n + u + k (a-u)) w - k a, with k the odds of eta times
        # (N + U - W) / (A + W).
        k = (eta * negative / ((1 - eta) * positive))[:, None]
        square, linear = u * (k - 1), n + u + k * (a - u)
        root = np.sqrt(np.maximum(linear * linear + 4 * square * k * a, 0))
        # Of the two forms of the root, the one that adds numbers of one sign.
        w = np.where(linear >= 0, 2 * k * a / (linear + root), (root - linear) / (2 * square))
        w = np.where(np.isfinite(k), w, 1.0)  # at eta = 1
        w = np.clip(np.where(np.isnan(w), 0.0, w), 0, 1)  # a level without rows
        slope = -(1 - w) * (a + u * w) / root * k * (1 / negative + 1 / positive)[:, None]
    slope = np.where(np.isfinite(slope), slope, 0.0)
    return w, (u * slope).sum(axis=1)


def _times_log(count: Floats, share: Floats) -> Floats:
    """Return `count ln(share)`, which is 0 where the count is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(count > 0, count * np.log(share), 0.0)


def chi_squared_tail(x: float, freedom: int) -> float:
    """Return the chance that a chi-squared variable exceeds x; NaN without degrees of freedom."""
    if freedom < 1:
        return math.nan
    # Whole degrees of freedom have a finite series, and all its terms are positive.
    # With h = x / 2 and k even: exp(-h) times the sum of h^i / i! for i < k / 2. With k odd:
    # erfc(sqrt h) plus exp(-h) times the sum of h^(i - 1/2) / gamma(i + 1/2) for 1 <= i < k / 2.
    half = x / 2
    odd = freedom % 2
    tail = math.erfc(math.sqrt(half)) if odd else math.exp(-half)
    term = math.exp(-half) * (math.sqrt(half / math.pi) * 2 if odd else half)
    for i in range(1, (freedom - odd) // 2 + odd):
        tail += term
        term *= half / (i + (0.5 if odd else 1))
    return tail


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
# above the threshold. Levels are stretches of the sweep, so a rate alone tells the sum of c above a
# threshold: it is linear in the rate within each level, and no row needs its level.
#
# Sources: Saerens, Latinne and Decaestecker 2002; Ferguson 1996 (minimum chi-squared has the influence
# of likelihood); Zou 2008 (correlated distances).

_CUT = 1e-10  # directions of S that vary by less than this, relatively, do not vary at all
_CLASSES = ("pos", "neg")  # in the names of fields, in the order of slopes and shares


def describe_shared_errors(counts: LevelCounts, eta: Floats) -> pl.Series:
    """Return the column EtaError.REFERENCE: how the errors of each group's reference enter its eta.

    Its fields are, for either class and each level from the highest score down, the share of the class
    down to that level, and a slope. The slopes, added up over the share of the class above a threshold,
    are the correlation of the error of eta with that of the rate there, times the standard error that
    the rate of a single example has.
    """
    names = [
        f"{kind}_{label}_{j}"
        for kind in ("slope", "share")
        for label in _CLASSES
        for j in range(MOST_LEVELS)
    ]
    rows = np.zeros((len(eta), len(names) + 1))
    for i, (a, n, u) in enumerate(
        zip(counts.positives, counts.negatives, counts.unlabelled, strict=True)
    ):
        slopes = _find_slopes(a, n, u, float(eta[i]))
        shares = [np.cumsum(count) / count.sum() for count in (a, n)]
        bound = 2 * sum(np.abs(slope).sum() for slope in slopes)
        scale = 2.0 ** np.ceil(np.log2(bound)) if 0 < bound < np.inf else 1.0
        rows[i] = [*np.concatenate([*slopes, *shares]), scale]
    return pl.DataFrame(rows, schema=dict.fromkeys([*names, SLOPE_SCALE], pl.Float64)).to_struct(
        EtaError.REFERENCE
    )


def _find_slopes(a: Floats, n: Floats, u: Floats, eta: float) -> tuple[Floats, Floats]:
    """Return the slopes of positives and of negatives at the levels; 0 where eta has no error."""
    n_pos, n_neg, n_rows = a.sum(), n.sum(), u.sum()
    has_rows = (a + n + u) > 0
    # Half an example more in each class, spread evenly, so that no share at a level with rows is 0.
    alpha = np.where(has_rows, (a + 0.5 / has_rows.sum()) / (n_pos + 0.5), 0.0)
    beta = np.where(has_rows, (n + 0.5 / has_rows.sum()) / (n_neg + 0.5), 0.0)
    mixture = eta * alpha + (1 - eta) * beta
    weighted_shares = (
        (1 / n_rows, mixture),
        (eta**2 / n_pos, alpha),
        ((1 - eta) ** 2 / n_neg, beta),
    )
    covariance = sum(
        weight * (np.diag(share) - np.outer(share, share)) for weight, share in weighted_shares
    )
    difference = alpha - beta
    g = np.linalg.pinv(covariance, rcond=_CUT, hermitian=True) @ difference
    size = difference @ g
    if not size > 0:
        return np.zeros_like(a), np.zeros_like(n)
    c = g / size
    pos_terms, neg_terms = (c - (count * c).sum() / count.sum() for count in (a, n))
    field_variance = (u * c**2).sum() / n_rows - ((u * c).sum() / n_rows) ** 2
    # The variance of eta: of the terms of both classes, and of c over the rows of the field.
    variance = (
        eta**2 * (a * pos_terms**2).sum() / n_pos**2
        + (1 - eta) ** 2 * (n * neg_terms**2).sum() / n_neg**2
        + field_variance / n_rows
    )
    if not variance > 0:
        return np.zeros_like(a), np.zeros_like(n)
    return (
        np.where(has_rows, -eta * pos_terms, 0.0) / np.sqrt(n_pos * variance),
        np.where(has_rows, -(1 - eta) * neg_terms, 0.0) / np.sqrt(n_neg * variance),
    )
