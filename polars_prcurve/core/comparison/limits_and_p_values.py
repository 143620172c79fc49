"""The limits and the p-value of a difference, and whether its interval can be relied upon.

All is read from columns of one row per model pair: `<name>_difference`, `_standard_error`, `_doubt`.
The errors of average precision are those of examples that were seen. What unseen ones could do is in
the interval of either model; see `uncertainty.analytic_intervals`. With the distances a and b from both
values to the ends that point at each other, and the covariance C of both values, the difference reaches
0 within

    sqrt(a**2 + b**2 - 2 z**2 max(C, 0))

(Zou and Donner 2008). What unseen examples do to one model does not cancel out there, even if chance
does. So the difference may also be that of the lower curve of one model and the upper curve of the
other, with the error of the difference and the jumps by the unseen positives. The nearer one counts: in
simulations not even that called equal models different too often.

Besides, the difference is computed with one false positive more at every threshold in both models. The
larger error counts, and the difference that is nearer to 0. Without this, models of equal average
precision and different shape differed significantly in a quarter of all test sets (eta = 1e-4).

Of several models, all differences of a group hold at once: the farthest two of K equal values are not
farther apart than the quantile of the studentised range (Tukey 1953, Kramer 1956).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.comparison import limits_of_average_precision_differences as ap_differences
from polars_prcurve.core.comparison.comparison_request import Adjust
from polars_prcurve.core.comparison.model_pairs import SIDES, A
from polars_prcurve.core.comparison.significance_and_margin import SPARE
from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends
from polars_prcurve.core.confidence.estimates import cut_to_ranges
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground import normal_distribution as normal
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.student_distribution import normal_from_student, student_quantile
from polars_prcurve.core.ground.studentised_range import list_range_deviations
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.metric_base import Metric
from polars_prcurve.core.uncertainty.unseen_examples import (
    CAUTIOUS,
    EXTENDED,
    counts_unseen,
    find_ends,
    find_gap,
)

LEAST_SIZE = f"{RESERVED}least_size"
"""The number of examples in the smaller class; of models that have a sample each, in any of them."""
COVARIANCE, ETA_ERROR = "covariance", "eta_error"
"""What follows the name of a metric: the covariance of both values, and the error that eta adds."""
_QUANTILE = f"{RESERVED}quantile"  # of the normal distribution, where an adjusted interval ends
_NEAR, _FAR, _DEVIATIONS = (f"{RESERVED}{name}" for name in ("near", "far", "at"))  # deviations
# The least lead at _DEVIATIONS, their number where an end settles it, and whether its
# sign was certain in the step before.
_LEAST_LEAD, _SETTLED_DEVIATIONS, _WAS_CERTAIN = (
    f"{RESERVED}{name}" for name in ("least_lead", "settled", "certain")
)
# Deviations as quantiles of Student's distribution, and distances from a value to both of its ends.
_STRETCHED_DEVIATIONS, _DISTANCE_BELOW, _DISTANCE_ABOVE = (
    f"{RESERVED}{name}" for name in ("stretched", "below", "above")
)
# What columns begin with of the model that is ahead, and of that behind; the lead of the former, as it
# was seen and on the cautious curves.
_AHEAD, _BEHIND, _LEAD, _CAUTIOUS_LEAD = (
    f"{RESERVED}{name}" for name in ("ahead_", "behind_", "lead", "cautious_lead")
)
_LEAST_EXAMPLES = 10
"""With two examples of a class, equally good models came twice as far apart as an interval reaches in up
to 13% of test sets, with five in 0.7%, and with ten or more in at most 0.3%."""
_MOST_DEVIATIONS, _N_STEPS = 12.0, 9
"""Where the search for a p-value ends, at 3e-33, and its steps, after which six digits are right."""


class AdjustedLevel(NamedTuple):
    """The level of intervals, and for how many pairs at once it holds."""

    confidence: float
    adjust: Adjust  # how it is adjusted for several pairs; None for each pair alone
    family_columns: Sequence[str]  # the columns within which pairs are adjusted together

    @property
    def n_deviations(self) -> pl.Expr:
        """How many standard errors an interval reaches to either side, of rows with `add_quantile`."""
        return pl.lit(z_value(self.confidence)) if self.adjust is None else pl.col(_QUANTILE)

    def add_quantile(self, differences: pl.LazyFrame, difference_columns: Sequence[str]) -> pl.LazyFrame:
        """Add what `n_deviations` reads; differences in `difference_columns` are null if not known."""
        n_pairs = pl.len().over(self.family_columns)
        if self.adjust == "models":
            deviations_by_n_models = list_range_deviations(self.confidence)
            deviation_rows = pl.LazyFrame(
                {_DEVIATIONS: range(len(deviations_by_n_models)), _QUANTILE: deviations_by_n_models}
            )
            n_pairs = pl.max_horizontal(pl.col(difference_columns).count().over(self.family_columns), 0)
            # K models have m = K (K - 1) / 2 pairs.
            n_models = (0.5 + (0.25 + 2.0 * n_pairs).sqrt()).round().cast(pl.Int64)
            differences = differences.with_columns(
                n_models.clip(0, len(deviations_by_n_models) - 1).alias(_DEVIATIONS)
            )
            differences = differences.join(
                deviation_rows, on=_DEVIATIONS, how="left", maintain_order="left"
            )
            return differences.drop(_DEVIATIONS)
        if self.adjust == "holm":  # Bonferroni: the level of each of m pairs is 1 - (1 - confidence) / m
            tail_probability = (1 - self.confidence) / 2 / n_pairs
            differences = normal.add_normal_quantile(differences, tail_probability, _QUANTILE)
            return differences.with_columns(-pl.col(_QUANTILE))
        return differences


def add_limits_and_p_values(
    differences: pl.LazyFrame,
    metrics_by_name: Mapping[str, CurveMetric],
    adjusted_level: AdjustedLevel,
    *,
    has_freedom: bool,
    may_rank_alike: bool,
) -> pl.LazyFrame:
    """Add `<name>_low`, `_high` and `_p_value`, small just where they leave out 0, and `_p_adjusted`."""
    differences = adjusted_level.add_quantile(
        differences, [f"{name}_difference" for name in metrics_by_name]
    )
    for name, metric in metrics_by_name.items():
        freedom = pl.col(f"{name}_freedom") if has_freedom else None
        is_known = pl.col(f"{name}_standard_error").is_not_null()
        is_varying = pl.col(f"{name}_standard_error") > 0
        differences, (low, high) = _find_limits(
            differences, name, metric, adjusted_level.n_deviations, freedom
        )
        if counts_unseen(metric) and may_rank_alike:  # where models rank alike, these limits are nearer
            n_deviations = pl.col(_STRETCHED_DEVIATIONS)
            differences = ap_differences.add_least_leads(differences, name, n_deviations)
            low_if_alike, high_if_alike = map(pl.when(is_varying).then, ap_differences.find_limits(name))
            low, high = pl.max_horizontal(low, low_if_alike), pl.min_horizontal(high, high_if_alike)
        differences = differences.with_columns(
            pl.when(is_known).then(low).alias(f"{name}_low"),
            pl.when(is_known).then(high).alias(f"{name}_high"),
        )
        if counts_unseen(metric):
            differences = _find_deviations(differences, name, freedom)
            z = pl.col(_DEVIATIONS)
            if may_rank_alike:
                z_if_alike = ap_differences.count_deviations(name)
                z = pl.max_horizontal(z, _shrink(z_if_alike, freedom))
        else:
            z = _count_deviations(name, freedom)
        p_value = pl.when(is_varying).then(normal.normal_cdf(-z) * 2)
        differences = differences.with_columns(p_value.alias(f"{name}_p_value"))
        if adjusted_level.adjust is not None:
            p_adjusted = adjust_p_values(pl.col(f"{name}_p_value"), adjusted_level.family_columns)
            differences = differences.with_columns(p_adjusted.alias(f"{name}_p_adjusted"))
    return differences


def stretch_limits(
    differences: pl.LazyFrame, metrics_by_name: Mapping[str, CurveMetric], adjusted_level: AdjustedLevel
) -> pl.LazyFrame:
    """Stretch limits of replicates as normal ones would be, to no fewer deviations than requested."""
    stretch_factor = adjusted_level.n_deviations * (1 / z_value(adjusted_level.confidence))
    limit_exprs: dict[str, pl.Expr] = {}
    for name in metrics_by_name:
        difference, low, high = (pl.col(f"{name}_{kind}") for kind in ("difference", "low", "high"))
        half_width = adjusted_level.n_deviations * pl.col(f"{name}_standard_error")
        when_has_limits = pl.when(low.is_not_null() & high.is_not_null())
        low_end = pl.min_horizontal(
            difference + (low - difference) * stretch_factor, difference - half_width
        )
        high_end = pl.max_horizontal(
            difference + (high - difference) * stretch_factor, difference + half_width
        )
        limit_exprs |= {
            f"{name}_low": when_has_limits.then(low_end),
            f"{name}_high": when_has_limits.then(high_end),
        }
        limit_exprs[f"{name}_p_adjusted"] = pl.lit(None, dtype=pl.Float64)
    differences = adjusted_level.add_quantile(
        differences, [f"{name}_difference" for name in metrics_by_name]
    )
    return differences.with_columns(**limit_exprs)


def _stretch(n_deviations: pl.Expr, freedom: pl.Expr | None) -> pl.Expr:
    return n_deviations if freedom is None else student_quantile(n_deviations, freedom)


def _shrink(n_deviations: pl.Expr, freedom: pl.Expr | None) -> pl.Expr:
    return n_deviations if freedom is None else normal_from_student(n_deviations, freedom)


def _find_limits(
    differences: pl.LazyFrame,
    value_name: str,
    metric: CurveMetric,
    n_deviations: pl.Expr,
    freedom: pl.Expr | None,
) -> tuple[pl.LazyFrame, tuple[pl.Expr, pl.Expr]]:
    """Return both limits of a difference, that many standard errors from it, and a frame for them."""
    difference, error = pl.col(f"{value_name}_difference"), pl.col(f"{value_name}_standard_error")
    # What limits have several times is bound first: the optimizer takes long for a long expression.
    differences = differences.with_columns(_stretch(n_deviations, freedom).alias(_STRETCHED_DEVIATIONS))
    n_deviations = pl.col(_STRETCHED_DEVIATIONS)
    half_width = n_deviations * error
    if not counts_unseen(metric):
        return differences, (difference - half_width, difference + half_width)
    differences = _bind_distances(differences, value_name, n_deviations, SIDES, SIDES[::-1])
    reaches = [
        _find_reach(value_name, n_deviations, better_side, worse_side)
        for better_side, worse_side in (SIDES, SIDES[::-1])
    ]
    cautious_difference = pl.col(f"{value_name}_{CAUTIOUS}_difference")
    return differences, (
        pl.min_horizontal(
            difference - reaches[0], difference - half_width, cautious_difference - half_width
        ),
        pl.max_horizontal(
            difference + reaches[1], difference + half_width, cautious_difference + half_width
        ),
    )


def _bind_distances(
    differences: pl.LazyFrame, value_name: str, n_deviations: pl.Expr, *side_pairs: Sequence[str]
) -> pl.LazyFrame:
    """Add what `_find_reach` reads: distances from both values to the ends that point at each other."""
    distance_exprs: dict[str, pl.Expr] = {}
    for better_side, worse_side in side_pairs:
        low, _ = find_ends(value_name, n_deviations, better_side)
        _, high = find_ends(value_name, n_deviations, worse_side)
        distance_exprs[better_side + _DISTANCE_BELOW] = pl.col(better_side + value_name) - low
        distance_exprs[worse_side + _DISTANCE_ABOVE] = high - pl.col(worse_side + value_name)
    return differences.with_columns(**distance_exprs)


def _find_reach(value_name: str, n_deviations: pl.Expr, better_side: str, worse_side: str) -> pl.Expr:
    """Return how far the lead of one side may be below what was seen."""
    error, eta_error = pl.col(f"{value_name}_standard_error"), pl.col(f"{value_name}_{ETA_ERROR}")
    square_sum = pl.col(better_side + _DISTANCE_BELOW) ** 2 + pl.col(worse_side + _DISTANCE_ABOVE) ** 2
    shared_variance = (
        n_deviations * n_deviations * 2 * pl.col(f"{value_name}_{COVARIANCE}").clip(lower_bound=0.0)
    )
    combined_distance = (square_sum - shared_variance).clip(lower_bound=0.0).sqrt()
    nearer_distance = pl.min_horizontal(
        combined_distance, find_gap(value_name, error, n_deviations, better_side, worse_side)
    )
    # Equal models have no error, whatever was not seen, and neither have models at eta = 0.
    sample_distance = pl.when(error > eta_error * (1 + 1e-9)).then(nearer_distance)
    return (sample_distance.otherwise(0.0) ** 2 + (n_deviations * eta_error) ** 2).sqrt()


def _count_deviations(value_name: str, freedom: pl.Expr | None) -> pl.Expr:
    """Return how many standard errors a difference is from 0, as a normal deviate."""
    return _shrink(
        (pl.col(f"{value_name}_difference") / pl.col(f"{value_name}_standard_error")).abs(), freedom
    )


def _find_deviations(
    differences: pl.LazyFrame, value_name: str, freedom: pl.Expr | None
) -> pl.LazyFrame:
    """Add _DEVIATIONS, up to how many deviations the sign of a difference is certain."""
    # By false position; an end that stays twice counts half, as in the Illinois variant. The model ahead
    # is known, so that one limit is needed: the lower one of its lead.
    search_rows = _name_by_order(differences, value_name)

    def add_lead(search_rows: pl.LazyFrame, lead_column: str) -> pl.LazyFrame:
        """Add the least lead at _DEVIATIONS."""
        n_deviations = _stretch(pl.col(_DEVIATIONS), freedom).alias(_STRETCHED_DEVIATIONS)
        return _add_least_lead(search_rows.with_columns(n_deviations), value_name, lead_column)

    # It is certain no farther than by chance alone.
    most_deviations = _count_deviations(value_name, freedom).clip(upper_bound=_MOST_DEVIATIONS)
    for end_column, start_deviations in ((_NEAR, pl.lit(0.0)), (_FAR, most_deviations)):
        search_rows = search_rows.with_columns(
            start_deviations.alias(end_column), start_deviations.alias(_DEVIATIONS)
        )
        search_rows = add_lead(search_rows, f"{end_column}_lead")
    near_lead = pl.col(f"{_NEAR}_lead")
    far_lead = pl.col(f"{_FAR}_lead")
    least_lead = pl.col(_LEAST_LEAD)
    settled_deviations = pl.when(near_lead <= 0).then(0.0).when(far_lead >= 0).then(_FAR)
    search_rows = search_rows.with_columns(
        settled_deviations.alias(_SETTLED_DEVIATIONS), pl.lit(None, dtype=pl.Boolean).alias(_WAS_CERTAIN)
    )
    for _ in range(_N_STEPS):
        next_deviations = pl.col(_NEAR) + (pl.col(_FAR) - pl.col(_NEAR)) * (
            near_lead / (near_lead - far_lead)
        )
        search_rows = add_lead(search_rows.with_columns(next_deviations.alias(_DEVIATIONS)), _LEAST_LEAD)
        is_certain, is_repeated = least_lead > 0, (least_lead > 0) == pl.col(_WAS_CERTAIN)
        illinois_factor = pl.when(is_repeated).then(0.5).otherwise(1.0)
        next_near_lead = pl.when(is_certain).then(least_lead).otherwise(near_lead * illinois_factor)
        next_far_lead = pl.when(is_certain).then(far_lead * illinois_factor).otherwise(least_lead)
        search_rows = search_rows.with_columns(
            pl.when(is_certain).then(_DEVIATIONS).otherwise(_NEAR).alias(_NEAR),
            pl.when(is_certain).then(_FAR).otherwise(_DEVIATIONS).alias(_FAR),
            next_near_lead.alias(f"{_NEAR}_lead"),
            next_far_lead.alias(f"{_FAR}_lead"),
            is_certain.alias(_WAS_CERTAIN),
        )
    return search_rows.with_columns(pl.coalesce(_SETTLED_DEVIATIONS, _DEVIATIONS).alias(_DEVIATIONS))


def _name_by_order(differences: pl.LazyFrame, value_name: str) -> pl.LazyFrame:
    """Add the columns of both models by which is ahead, and its leads over the other one."""
    when_a_leads = pl.when(pl.col(f"{value_name}_difference") > 0)
    order_exprs: dict[str, pl.Expr] = {}
    for ending in EXTENDED:
        column_of_a, column_of_b = (f"{side}{value_name}{ending}" for side in SIDES)
        order_exprs[f"{_AHEAD}{value_name}{ending}"] = when_a_leads.then(column_of_a).otherwise(
            column_of_b
        )
        order_exprs[f"{_BEHIND}{value_name}{ending}"] = when_a_leads.then(column_of_b).otherwise(
            column_of_a
        )
    for lead_column, kind in ((_LEAD, ""), (_CAUTIOUS_LEAD, f"_{CAUTIOUS}")):
        difference = pl.col(f"{value_name}{kind}_difference")
        order_exprs[lead_column] = when_a_leads.then(difference).otherwise(-difference)
    return differences.with_columns(**order_exprs)


def _add_least_lead(search_rows: pl.LazyFrame, value_name: str, lead_column: str) -> pl.LazyFrame:
    """Add the lower limit of the lead of the model ahead, over `_name_by_order`."""
    lead, cautious_lead, n_deviations = map(pl.col, (_LEAD, _CAUTIOUS_LEAD, _STRETCHED_DEVIATIONS))
    half_width = n_deviations * pl.col(f"{value_name}_standard_error")
    least_lead = pl.min_horizontal(
        lead - _find_reach(value_name, n_deviations, _AHEAD, _BEHIND),
        lead - half_width,
        cautious_lead - half_width,
    )
    search_rows = _bind_distances(search_rows, value_name, n_deviations, (_AHEAD, _BEHIND))
    return search_rows.with_columns(least_lead.alias(lead_column))


def add_doubts(differences: pl.LazyFrame, metrics_by_name: Mapping[str, CurveMetric]) -> pl.LazyFrame:
    """Add `<name>_` SPARE and DOUBT, the latter also where an end is missing."""
    doubt_exprs: dict[str, pl.Expr] = {}
    for name, metric in metrics_by_name.items():
        error, difference = pl.col(f"{name}_standard_error"), pl.col(f"{name}_difference")
        doubt, has_unseen = pl.col(f"{name}_{DOUBT}"), counts_unseen(metric)
        # Models that rank alike do not differ, but two perfect ones need not rank others alike.
        is_perfect = ~pl.col(A + name).is_between(*metric.range, closed="none")
        ranks_alike = (error == 0) & (difference == 0) & ~is_perfect
        # Intervals that allow for unseen examples can be relied upon where they have a width.
        is_relied_upon = ranks_alike | ((error > 0) if has_unseen else doubt.is_null())
        spare_in_doubt = pl.lit(None if has_unseen else 1.0, dtype=pl.Float64)
        spare = pl.when(is_relied_upon).then(0.0).otherwise(spare_in_doubt)
        has_enough_examples = pl.col(LEAST_SIZE) >= _LEAST_EXAMPLES
        doubt_exprs[f"{name}_{SPARE}"] = pl.when(has_enough_examples).then(spare)
        doubt_exprs[f"{name}_{DOUBT}"] = doubt_missing_ends(doubt, [f"{name}_low", f"{name}_high"])
    return differences.with_columns(**doubt_exprs)


def cut_to_range(differences: pl.LazyFrame, metrics: Iterable[Metric]) -> pl.LazyFrame:
    """Cut limits where no two values of a metric are that far apart: those of shares at -1 and 1."""
    # The errors of two models that share examples add up to more than the values allow, where they are
    # thought to go in opposite directions, and limits of several models are stretched.
    width_by_metric = {metric.name: metric.range[1] - metric.range[0] for metric in metrics}
    return cut_to_ranges(differences, {name: (-width, width) for name, width in width_by_metric.items()})


def adjust_p_values(p_value: pl.Expr, family_columns: Sequence[str]) -> pl.Expr:
    """Return p-values that hold for all tests of a family (Holm 1979); unknown ones stay null."""
    # The i-th least of m is multiplied by m - i + 1, and no adjusted one is less than those before it.
    rank, n_known = p_value.rank("min").over(family_columns), p_value.count().over(family_columns)
    scaled_p_value = (p_value * (n_known - rank + 1)).clip(upper_bound=1.0)
    return scaled_p_value.cum_max().over(family_columns, order_by=p_value)
