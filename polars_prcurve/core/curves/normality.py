"""The test of Anderson and Darling: may the scores of a class come from a normal distribution?

    sweep, fit -> a term of each score -> their sum, the statistic -> its p-value

Mean and deviation are estimated from the same scores: case 3 of Stephens 1974.
"""

from __future__ import annotations

import math

import polars as pl

from polars_prcurve.core.curves.binormal_column_names import NormalFit
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows, sum_shares, to_whole_shares
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.sweep.grouped_rows import CLASS_SUMS, SumColumns, SweepTables

_FEWEST_SCORES = 8  # scores of a class, with fewer of which the p-values do not hold
_LEAST_TAIL = 1e-300  # a smaller tail counts as this: no logarithm is infinite
_LARGEST_STATISTIC = 10.0  # a larger one counts as this, at which the p-value is below 1e-23
_TERM_SCALE = 0.25  # terms sum to 1400 at most, and exact sums have room for 512
# From which statistic on the logarithm of the p-value, or of 1 less it, is this polynomial: D'Agostino
# and Stephens 1986, table 4.9.
_TAILS = (
    (0.6, (1.2937, -5.709, 0.0186), False),
    (0.34, (0.9177, -4.279, -1.38), False),
    (0.2, (-8.318, 42.796, -59.938), True),
    (-math.inf, (-13.436, 101.14, -223.73), True),
)
_Z, _TERM = f"{RESERVED}z", f"{RESERVED}term"  # of a score
_TERM_SUM, _N = f"{RESERVED}term_sum", f"{RESERVED}class_size"  # of a class in a group


def add_p_values(fits_per_group: pl.LazyFrame, sweep: SweepTables, ddof: int) -> pl.LazyFrame:
    """Add the p-value of each class to a fit of unweighted scores; null below 8 and without a fit."""
    groups = sweep.groups.join(fits_per_group, on=Group.NUMBER)
    for names, mu_name, sigma_name, p_value_name in (
        (CLASS_SUMS[0], NormalFit.MU_POS, NormalFit.SIGMA_POS, NormalFit.P_VALUE_POS),
        (CLASS_SUMS[1], NormalFit.MU_NEG, NormalFit.SIGMA_NEG, NormalFit.P_VALUE_NEG),
    ):
        n = pl.col(names.total).cast(pl.Float64)
        sigma = repeat_in_rows(pl.col(sigma_name) * ((n - ddof) / (n - 1)).sqrt(), pl.col(names.cum))
        # Of halves, whose difference does not overflow.
        z = (pl.col(Row.SCORE).cast(pl.Float64) * 0.5 - pl.col(mu_name) * 0.5) / sigma * 2
        of_group = groups.filter(n >= _FEWEST_SCORES, pl.col(sigma_name).is_not_null()).select(
            Group.NUMBER, names.total, names.before, mu_name, sigma_name
        )
        rows = sweep.rows.select(Group.NUMBER, Row.SCORE, names.cum, names.above)
        rows = rows.filter(pl.col(names.cum) > pl.col(names.above)).join(of_group, on=Group.NUMBER)
        rows = rows.with_columns(z.alias(_Z))
        term = to_whole_shares(_compute_term(names, pl.col(_Z)) * _TERM_SCALE).alias(_TERM)
        sums = (
            rows.select(Group.NUMBER, n.alias(_N), term)
            .group_by(Group.NUMBER)
            .agg(sum_shares(pl.col(_TERM)).alias(_TERM_SUM), pl.col(_N).first())
        )
        statistic = pl.col(_N) * (pl.col(_TERM_SUM) * (-1 / _TERM_SCALE) - 1)
        statistic = statistic * (1 + (0.75 + 2.25 / pl.col(_N)) / pl.col(_N))
        p_values = sums.select(Group.NUMBER, _compute_p_value(statistic).alias(p_value_name))
        fits_per_group = fits_per_group.join(p_values, on=Group.NUMBER, how="left")
    return fits_per_group


def _compute_term(names: SumColumns, z: pl.Expr) -> pl.Expr:
    """Return what a score z deviations above the mean adds to -1 - A**2 / n, over its class."""
    # Ties are one step. With the shares b before and a at a score and above, and F(z) below it:
    # A**2 / n = -1 - sum((a**2 - b**2) ln(1 - F) + ((1 - b)**2 - (1 - a)**2) ln F)
    amount = pl.col(names.cum) - pl.col(names.above)
    n = (pl.col(names.total) - amount + amount).cast(pl.Float64)  # a column, for exact division
    both_ranks = pl.col(names.cum) + pl.col(names.above) - 2 * pl.col(names.before)
    share, both_shares = amount.cast(pl.Float64) / n, both_ranks.cast(pl.Float64) / n
    log_above, log_below = (normal_cdf(side).clip(_LEAST_TAIL).log() for side in (-z, z))
    return share * (both_shares * log_above + (2 - both_shares) * log_below)


def _compute_p_value(statistic: pl.Expr) -> pl.Expr:
    """Return the p-value of a statistic that is corrected for the number of scores."""
    a = statistic.clip(upper_bound=_LARGEST_STATISTIC)
    p_value = pl.lit(None, dtype=pl.Float64)
    for start, (constant, slope, bend), is_rest in reversed(_TAILS):
        tail = (constant + (slope + bend * a) * a).exp()
        p_value = pl.when(a >= start).then(1 - tail if is_rest else tail).otherwise(p_value)
    return p_value
