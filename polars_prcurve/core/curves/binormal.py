"""The binormal model: the scores of each class follow a normal distribution (Brodersen et al. 2010).

    sweep -> fit       one row per group: mean and standard deviation of each class
    fit   -> p-values  of the test that the scores of a class are normal
          -> rates     recall and fpr of the model at the thresholds of a curve
          -> nodes     recall, fpr and a weight; an area of the model is a sum over them

All sums are exact sums of shares. So a fit depends neither on the order of the rows nor on whether they
were aggregated before.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground.argument_checks import read_whole_number
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows, sum_shares, to_whole_shares
from polars_prcurve.core.ground.normal_distribution import normal_cdf
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.row_column_names import Group, Row
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS, PROMISES, CurveMetric
from polars_prcurve.core.metrics.segment_column_names import CELLS, BinormalModel, Segment
from polars_prcurve.core.sweep.group_table import class_counts, class_sizes
from polars_prcurve.core.sweep.running_sum_columns import CLASS_SUMS, SumColumns
from polars_prcurve.core.sweep.sweep_column_names import Sweep
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.sweep.sweep_table import build_sweep, check_at_end

BINORMAL_COLUMNS = (
    "mu_pos",
    "sigma_pos",
    "mu_neg",
    "sigma_neg",
    "alpha",
    "n_pos",
    "n_neg",
    "roc_auc",
    "p_value_pos",
    "p_value_neg",
)
"""The columns that `binormal` returns beside those of `by`."""
Smooth: TypeAlias = Literal["binormal"] | None  # what `smooth=` takes


class NormalFit:
    """Means and standard deviations of the scores of both classes, one row per group, and their test."""

    MU_POS = "_prc_mu_pos"  # mean of the scores of the positives
    SIGMA_POS = "_prc_sigma_pos"  # their standard deviation
    MU_NEG = "_prc_mu_neg"
    SIGMA_NEG = "_prc_sigma_neg"
    P_VALUE_POS = "_prc_p_value_pos"  # of the test that the positives have normal scores
    P_VALUE_NEG = "_prc_p_value_neg"


# The columns of a fit that BINORMAL_COLUMNS begin with, in their order.
_MOMENT_COLUMNS = (NormalFit.MU_POS, NormalFit.SIGMA_POS, NormalFit.MU_NEG, NormalFit.SIGMA_NEG)
# Those that they end with, by their names there.
_P_VALUE_COLUMNS = {"p_value_pos": NormalFit.P_VALUE_POS, "p_value_neg": NormalFit.P_VALUE_NEG}


def build_binormal_table(table: ResolvedTable, *, ddof: int = 0) -> pl.LazyFrame:
    """Return the result of `binormal`: the `by` columns, then BINORMAL_COLUMNS, one row per group."""
    if not isinstance(table, ScoreTable):
        raise PrcError("pass scores and labels to binormal(): rates= holds no scores")
    check_group_names(table.by, BINORMAL_COLUMNS)
    sweep_tables = build_sweep(table, with_sizes=read_whole_number("ddof=", ddof, 0) > 0)
    n_pos, n_neg = class_sizes(table)
    groups = sweep_tables.groups.with_columns((n_pos / (n_pos + n_neg)).fill_nan(None).alias("alpha"))
    # The fit and its test read the same rows, which would be sorted for each of them.
    sweep_tables = sweep_tables._replace(rows=sweep_tables.rows.cache())
    fits_per_group = fit_binormal(table, sweep_tables, ddof=ddof)
    p_value_exprs = {name: pl.lit(None, dtype=pl.Float64) for name in _P_VALUE_COLUMNS}
    if table.count_dtype.is_integer():  # the test is one of examples that are not weighted
        fits_per_group = add_p_values(fits_per_group.cache(), sweep_tables, ddof)
        p_value_exprs = {name: pl.col(column) for name, column in _P_VALUE_COLUMNS.items()}
    fit_table = groups.join(fits_per_group, on=Group.NUMBER, how="left")
    fit_table = check_at_end(table, fit_table.sort(Group.NUMBER))
    moment_exprs = dict(zip(BINORMAL_COLUMNS, map(pl.col, _MOMENT_COLUMNS), strict=False))
    fit_table = fit_table.with_columns(
        *class_counts(table), roc_auc=_binormal_auc(), **moment_exprs, **p_value_exprs
    )
    return fit_table.select(*table.by, *BINORMAL_COLUMNS)


# The fit --------------------------------------------------------------------------------------

_HALF_SCORE = f"{RESERVED}half"
"""Half the score: the difference of two scores may overflow, that of two halves does not."""
# Columns of the sums over a class from which its mean and deviation follow.
_AMOUNT, _TOTAL, _LOW, _HIGH, _SHARE, _RELATIVE_SCORE, _MEAN, _SPREAD, _FACTOR = (
    f"{RESERVED}{name}"
    for name in ("amount", "total", "low", "high", "share", "place", "mean", "spread", "factor")
)


def fit_binormal(table: ScoreTable, sweep_tables: SweepTables, *, ddof: int = 0) -> pl.LazyFrame:
    """Return mean and standard deviation of both classes per NUMBER, null without a fit and n > ddof."""
    half_score = (pl.col(Row.SCORE).cast(pl.Float64) * 0.5).alias(_HALF_SCORE)
    sum_column_pairs = (Sweep.CUM_POS, Sweep.CUM_POS_ABOVE), (Sweep.CUM_NEG, Sweep.CUM_NEG_ABOVE)
    # Without a cache each use below would sort again.
    score_rows = sweep_tables.rows.select(
        Group.NUMBER, half_score, *sum_column_pairs[0], *sum_column_pairs[1]
    ).cache()
    fits_per_group = sweep_tables.groups.select(Group.NUMBER)
    # Weights count as their effective size.
    effective_size_exprs = pl.col(EffectiveSize.N_POS), pl.col(EffectiveSize.N_NEG)
    size_exprs = effective_size_exprs if table.has_squares else class_counts(table)
    moment_column_pairs = _MOMENT_COLUMNS[:2], _MOMENT_COLUMNS[2:]
    for (sum_column, column_above), size_expr, (mu_column, sigma_column) in zip(
        sum_column_pairs, size_exprs, moment_column_pairs, strict=True
    ):
        amount = (pl.col(sum_column) - pl.col(column_above)).alias(_AMOUNT)
        group_moments = _measure_relative_scores(score_rows.select(Group.NUMBER, _HALF_SCORE, amount))
        low_half_score, high_half_score, variance = pl.col(_LOW), pl.col(_HIGH), pl.col(_SPREAD)
        if ddof:
            n = size_expr.cast(pl.Float64)
            variance_factor = pl.when(n > ddof).then(n / (n - ddof)).alias(_FACTOR)
            group_moments = group_moments.join(
                sweep_tables.groups.select(Group.NUMBER, variance_factor), on=Group.NUMBER
            )
            variance = variance * pl.col(_FACTOR)
        mu = (
            low_half_score + (high_half_score - low_half_score) * pl.col(_MEAN)
        ) * 2  # the ends are half scores
        sigma = (high_half_score - low_half_score) * variance.sqrt() * 2
        has_fit = (
            (low_half_score < high_half_score) & (variance > 0) & mu.is_finite() & sigma.is_finite()
        )
        fitted_exprs = {
            name: pl.when(has_fit).then(moment)
            for name, moment in ((mu_column, mu), (sigma_column, sigma))
        }
        fits_per_group = fits_per_group.join(
            group_moments.select(Group.NUMBER, **fitted_exprs), on=Group.NUMBER, how="left"
        )
    return fits_per_group


def _measure_relative_scores(score_rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the ends of the scores of a class per NUMBER, and the mean and variance of their places."""
    # A class with a single distinct score, for one, fits no normal distribution. Scores are measured
    # from the lowest score of their class, in units of the range of the class: places from 0 to 1. So
    # neither squares overflow nor does a large common offset cost digits.
    amount, half_score = pl.col(_AMOUNT), pl.col(_HALF_SCORE)
    score_rows = score_rows.filter(amount > 0)
    group_ranges = score_rows.group_by(Group.NUMBER).agg(
        amount.sum().alias(_TOTAL), half_score.min().alias(_LOW), half_score.max().alias(_HIGH)
    )
    # Both divisors are written as sums of columns: with a single group Polars may hold the joined total
    # as one number, and would multiply by its reciprocal.
    share = amount.cast(pl.Float64) / (pl.col(_TOTAL) - amount + amount).cast(pl.Float64)
    distance_from_low, distance_to_high = half_score - pl.col(_LOW), pl.col(_HIGH) - half_score
    relative_score = (distance_from_low / (distance_from_low + distance_to_high)).alias(_RELATIVE_SCORE)
    score_rows = score_rows.join(group_ranges, on=Group.NUMBER).select(
        Group.NUMBER, share.alias(_SHARE), relative_score
    )
    mean_relative_score = sum_shares(to_whole_shares(pl.col(_SHARE) * pl.col(_RELATIVE_SCORE)))
    group_means = score_rows.group_by(Group.NUMBER).agg(mean_relative_score.alias(_MEAN))
    # A second pass over the rows: mean squares less the squared mean would cancel.
    deviation = pl.col(_RELATIVE_SCORE) - pl.col(_MEAN)
    variance = sum_shares(to_whole_shares(pl.col(_SHARE) * deviation**2))
    group_variances = (
        score_rows.join(group_means, on=Group.NUMBER).group_by(Group.NUMBER).agg(variance.alias(_SPREAD))
    )
    return group_ranges.join(group_means, on=Group.NUMBER).join(group_variances, on=Group.NUMBER)


def _binormal_auc() -> pl.Expr:
    """Return the area under the ROC curve, null without a fit of both classes."""
    # Phi((mu_pos - mu_neg) / sqrt(sigma_pos**2 + sigma_neg**2))
    # Divide by the larger sigma first: the squares themselves could overflow.
    larger_sigma = pl.max_horizontal(NormalFit.SIGMA_POS, NormalFit.SIGMA_NEG)
    smaller_sigma = pl.min_horizontal(NormalFit.SIGMA_POS, NormalFit.SIGMA_NEG)
    separation_expr = (
        (pl.col(NormalFit.MU_POS) - pl.col(NormalFit.MU_NEG))
        / larger_sigma
        / (1 + (smaller_sigma / larger_sigma) ** 2).sqrt()
    )
    has_fits = pl.all_horizontal(pl.col(_MOMENT_COLUMNS).is_not_null())
    return pl.when(has_fits).then(normal_cdf(separation_expr))


# The test of Anderson and Darling: may the scores of a class come from a normal distribution? -----

# Mean and deviation are estimated from the same scores: case 3 of Stephens 1974.

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
_Z, _TERM = f"{RESERVED}z", f"{RESERVED}term"  # deviations from a mean; what a score adds to A**2
_TERM_SUM, _N = f"{RESERVED}term_sum", f"{RESERVED}class_size"  # of a class in a group


def add_p_values(fits_per_group: pl.LazyFrame, sweep_tables: SweepTables, ddof: int) -> pl.LazyFrame:
    """Add the p-value of each class to a fit of unweighted scores; null below 8 and without a fit."""
    groups = sweep_tables.groups.join(fits_per_group, on=Group.NUMBER)
    for sum_columns, mu_column, sigma_column, p_value_column in (
        (CLASS_SUMS[0], NormalFit.MU_POS, NormalFit.SIGMA_POS, NormalFit.P_VALUE_POS),
        (CLASS_SUMS[1], NormalFit.MU_NEG, NormalFit.SIGMA_NEG, NormalFit.P_VALUE_NEG),
    ):
        n = pl.col(sum_columns.total).cast(pl.Float64)
        sigma = repeat_in_rows(
            pl.col(sigma_column) * ((n - ddof) / (n - 1)).sqrt(), pl.col(sum_columns.cum)
        )
        # Of halves, whose difference does not overflow.
        z = (pl.col(Row.SCORE).cast(pl.Float64) * 0.5 - pl.col(mu_column) * 0.5) / sigma * 2
        fitted_groups = groups.filter(n >= _FEWEST_SCORES, pl.col(sigma_column).is_not_null()).select(
            Group.NUMBER, sum_columns.total, sum_columns.before, mu_column, sigma_column
        )
        class_rows = sweep_tables.rows.select(
            Group.NUMBER, Row.SCORE, sum_columns.cum, sum_columns.above
        )
        class_rows = class_rows.filter(pl.col(sum_columns.cum) > pl.col(sum_columns.above)).join(
            fitted_groups, on=Group.NUMBER
        )
        class_rows = class_rows.with_columns(z.alias(_Z))
        term = to_whole_shares(_compute_term(sum_columns, pl.col(_Z)) * _TERM_SCALE).alias(_TERM)
        term_sums = (
            class_rows.select(Group.NUMBER, n.alias(_N), term)
            .group_by(Group.NUMBER)
            .agg(sum_shares(pl.col(_TERM)).alias(_TERM_SUM), pl.col(_N).first())
        )
        statistic = pl.col(_N) * (pl.col(_TERM_SUM) * (-1 / _TERM_SCALE) - 1)
        statistic = statistic * (1 + (0.75 + 2.25 / pl.col(_N)) / pl.col(_N))
        p_value_rows = term_sums.select(Group.NUMBER, _compute_p_value(statistic).alias(p_value_column))
        fits_per_group = fits_per_group.join(p_value_rows, on=Group.NUMBER, how="left")
    return fits_per_group


def _compute_term(sum_columns: SumColumns, z: pl.Expr) -> pl.Expr:
    """Return what a score z deviations above the mean adds to -1 - A**2 / n, over its class."""
    # Ties are one step. With the shares b before and a at a score and above, and F(z) below it:
    # A**2 / n = -1 - sum((a**2 - b**2) ln(1 - F) + ((1 - b)**2 - (1 - a)**2) ln F)
    amount = pl.col(sum_columns.cum) - pl.col(sum_columns.above)
    n = (pl.col(sum_columns.total) - amount + amount).cast(pl.Float64)  # a column, for exact division
    rank_sum = pl.col(sum_columns.cum) + pl.col(sum_columns.above) - 2 * pl.col(sum_columns.before)
    share, share_sum = amount.cast(pl.Float64) / n, rank_sum.cast(pl.Float64) / n
    log_above, log_below = (normal_cdf(signed_z).clip(_LEAST_TAIL).log() for signed_z in (-z, z))
    return share * (share_sum * log_above + (2 - share_sum) * log_below)


def _compute_p_value(statistic: pl.Expr) -> pl.Expr:
    """Return the p-value of a statistic that is corrected for the number of scores."""
    clipped_statistic = statistic.clip(upper_bound=_LARGEST_STATISTIC)
    p_value = pl.lit(None, dtype=pl.Float64)
    for least_statistic, (constant, slope, curvature), is_complement in reversed(_TAILS):
        tail_chance = (constant + (slope + curvature * clipped_statistic) * clipped_statistic).exp()
        tail_p_value = 1 - tail_chance if is_complement else tail_chance
        p_value = pl.when(clipped_statistic >= least_statistic).then(tail_p_value).otherwise(p_value)
    return p_value


# The curve ------------------------------------------------------------------------------------


def replace_by_binormal_rates(points: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Replace both rates of a sweep at each eta by those of the fitted model, and counts by null."""
    fits_per_group = fit_binormal(table, build_sweep(table))
    threshold = pl.col("threshold").cast(pl.Float64)
    sigma_exprs = pl.col(NormalFit.SIGMA_POS), pl.col(NormalFit.SIGMA_NEG)
    sigma_pos, sigma_neg = (repeat_in_rows(sigma, pl.col(Sweep.CUM_POS)) for sigma in sigma_exprs)
    return points.join(fits_per_group, on=Group.NUMBER, how="left", maintain_order="left").with_columns(
        *(pl.lit(None, dtype=table.count_dtype).alias(cell) for cell in CELLS),
        normal_cdf((pl.col(NormalFit.MU_POS) - threshold) / sigma_pos).alias("recall"),
        normal_cdf((pl.col(NormalFit.MU_NEG) - threshold) / sigma_neg).alias("fpr"),
    )


# Areas ----------------------------------------------------------------------------------------

# An area is the mean of a value over the positives. Their score is mu_pos + sigma_pos z with z standard
# normal, so the mean is an integral over phi(z) dz. With r = sigma_pos / sigma_neg the model has
#
#     recall = Phi(-z)    and    fpr = Phi(-r (z - c)),    c = (mu_neg - mu_pos) / sigma_pos.
#
# If r is large, fpr falls from 1 to 0 within about 1 / r of c, so nodes must be dense there. They are
# at z = centre + s sinh(u) with s = min(1, 1 / r), and u in steps of 1/128: the trapezoidal rule in u,
# whose error falls by exp(-2 pi d / step) if the integrand has no pole closer than d to the real line.
# The poles of precision are at about d = 0.08 or more, so only rounding errors are left, for any r and
# at prevalences down to 1e-9.

# A node: its number, sinh of u, and fpr; `_Z` is its z among the positives.
_NODE_NUMBER, _SINH, _NODE_FPR = (f"{RESERVED}{name}" for name in ("step", "sinh", "x"))
# The centre c, the z of the mean of the negatives; brought into the range of the positives; and s
_NEG_CENTRE, _NODE_CENTRE, _NODE_SCALE = (f"{RESERVED}{name}" for name in ("start", "near", "scale"))
_STEPS_PER_UNIT = 128  # in u: a step is small beside the distance of the poles, see above
_MAX_Z = 11.0  # fewer than 1e-27 of all positives are further out
_MAX_CENTRE = 9.0  # the centre is clipped to it: hardly a positive is further out
_MIN_SCALE = 2.0**-46  # of s, so that the number of nodes is limited whatever r is
_LEAST_FPR = 1e-200  # a smaller fpr counts as 0: divided by it, terms could overflow


def build_nodes(fits_per_group: pl.LazyFrame) -> pl.LazyFrame:
    """Return the nodes of each NUMBER, over which areas are summed: recall, fpr, the weight as RISE."""
    # BinormalModel.AUC and so on stand at one node of each group, for metrics that need only these.
    last_node_number = math.ceil(math.asinh((_MAX_Z + _MAX_CENTRE) / _MIN_SCALE) * _STEPS_PER_UNIT)
    u = pl.col(_NODE_NUMBER) * (1 / _STEPS_PER_UNIT)
    node_frame = pl.LazyFrame(
        {_NODE_NUMBER: range(-last_node_number, last_node_number + 1)}
    ).with_columns(u.sinh().alias(_SINH))
    s, centre, slope = pl.col(_NODE_SCALE), pl.col(_NODE_CENTRE), pl.col(BinormalModel.SLOPE)
    # The centre is c if s is small, and 0, the mean of the positives, if s is 1.
    z = centre * (1 - s * s) + s * pl.col(_SINH)
    nodes = _build_shapes(fits_per_group).join(node_frame, how="cross").with_columns(z.alias(_Z))
    nodes = nodes.filter(pl.col(_Z).abs() <= _MAX_Z)
    # x = r (z - c), without forming z - c: its digits would be lost if r is large.
    neg_z = slope * s * (pl.col(_SINH) - s * centre) + slope * (centre - pl.col(_NEG_CENTRE))
    z_density = (pl.col(_Z) ** 2 * -0.5).exp() * (1 / (_STEPS_PER_UNIT * math.sqrt(2 * math.pi)))
    nodes = nodes.with_columns(
        normal_cdf(-pl.col(_Z)).alias("recall"),
        normal_cdf(-neg_z).alias(_NODE_FPR),
        (u.cosh() * s * z_density).alias(Segment.RISE),
        *(
            pl.when(pl.col(_NODE_NUMBER) == 0).then(column).alias(column)
            for column in (BinormalModel.AUC, BinormalModel.SLOPE, BinormalModel.SHIFT)
        ),
    )
    fpr = pl.col(_NODE_FPR)
    # A model has no fpr of 0. Clipped to the smallest float, it makes precision 0 at eta = 0, where an
    # fpr of 0 would leave it undefined.
    fpr_recall_ratio = fpr.clip(lower_bound=5e-324) / pl.col("recall")
    return nodes.select(
        Group.NUMBER,
        "recall",
        Segment.RISE,
        BinormalModel.AUC,
        BinormalModel.SLOPE,
        BinormalModel.SHIFT,
        # Means over prevalences divide by fpr, which may overflow; where fpr is 0, they take the limit.
        pl.when(fpr > _LEAST_FPR).then(fpr).otherwise(0.0).alias(Segment.FPR_OR_ZERO),
        fpr_recall_ratio.alias(Segment.FPR_RECALL_RATIO),
    )


def _build_shapes(fits_per_group: pl.LazyFrame) -> pl.LazyFrame:
    """Return area, slope, shift, and centre and scale of the nodes, for each group that has a model."""
    largest_ratio = 1e300  # an infinite ratio would make 0 * inf at the nodes
    mean_gap = pl.col(NormalFit.MU_POS) - pl.col(NormalFit.MU_NEG)
    slope = (pl.col(NormalFit.SIGMA_POS) / pl.col(NormalFit.SIGMA_NEG)).clip(
        1 / largest_ratio, largest_ratio
    )
    group_shapes = fits_per_group.drop_nulls(_MOMENT_COLUMNS).select(
        Group.NUMBER,
        _binormal_auc().alias(BinormalModel.AUC),
        slope.alias(BinormalModel.SLOPE),
        (mean_gap / pl.col(NormalFit.SIGMA_NEG))
        .clip(-largest_ratio, largest_ratio)
        .alias(BinormalModel.SHIFT),
        (-mean_gap / pl.col(NormalFit.SIGMA_POS)).clip(-largest_ratio, largest_ratio).alias(_NEG_CENTRE),
    )
    return group_shapes.with_columns(
        (1 / pl.col(BinormalModel.SLOPE)).clip(_MIN_SCALE, 1.0).alias(_NODE_SCALE),
        pl.col(_NEG_CENTRE).clip(-_MAX_CENTRE, _MAX_CENTRE).alias(_NODE_CENTRE),
    )


def to_binormal_metric(metric: CurveMetric) -> CurveMetric:
    """Return a metric that sums over the nodes of a fitted model; raise if it is not known there."""
    if metric.recipe.fitted is None:
        metric_names = [
            name for name, metric in CURVE_METRICS.items() if metric.recipe.fitted is not None
        ]
        raise PrcError(
            f"pass {', '.join(metric_names)}, pr_auc_trapezoid(...), precision_at_recall(...), "
            "integrated_average_precision(...), or integrated(...) of one of them: with "
            f"smooth= there is no {metric.name}"
        )

    averages, finish = metric.recipe.averages, metric.recipe.finish
    if averages is not None:
        averages = averages._replace(metric=to_binormal_metric(averages.metric))
    recipe_changes = {
        **metric.recipe.fitted._asdict(),
        # Weights of the nodes sum to 1 only up to rounding, which can push a value just above 1.
        "finish": lambda value, facts: finish(value.clip(upper_bound=1.0), facts),
        "averages": averages,
    }
    if metric.recipe.is_met is not None:  # a fitted curve has no rows, and one value at each target
        recipe_changes |= {"is_met": None, "total": "max"}
    return metric.change_recipe(**{**PROMISES, **recipe_changes, "needs": "rises"})
