"""What is said of a difference: its limits, its p-value, and whether its sign can be relied on.

All is read from columns of one row per model pair: `<name>_difference`, `<name>_standard_error`,
`<name>_reliable`, and for a metric with a cautious value `<name>_cautious_difference`.

At small prevalences a few false positives decide about average precision, and a sample may lack them by
chance. So its difference and the error are computed a second time, with half a false positive more at
every threshold in both models. The larger error counts, and the difference that is nearer to 0. Without
this, equally good models were told apart in a third of all test sets (eta = 0.001, 50 positives).

Source: Holm 1979 for several pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.rates import z_value
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.normal_distribution import (
    add_normal_quantile,
    normal_cdf,
    normal_from_student,
    student_quantile,
)

Adjust: TypeAlias = Literal["holm"] | None
P_VALUE = f"{c.RESERVED}p_value"
"""The p-value of a difference by which models are ruled out, which is cautious; see `add_flags`."""
LEAST_SIZE = f"{c.RESERVED}least_size"
"""The number of examples in the smaller class; of models that have a sample each, in any of them."""
_QUANTILE = f"{c.RESERVED}quantile"  # of the normal distribution, where an adjusted interval ends
_FEW = 10
"""With two examples of a class, equally good models came twice as far apart as an interval reaches in up
to 13 % of test sets, with five in 0.7 %, and with ten or more in at most 0.3 %."""


class Level(NamedTuple):
    """The level of intervals, and for how many pairs at once it holds."""

    confidence: float
    adjust: Adjust
    """How it is adjusted for several pairs; None for each pair alone."""
    family: Sequence[str]
    """The columns within which pairs are adjusted together."""
    freedom: pl.Expr | None = None
    """The degrees of freedom of an error among clusters; None for normal differences."""

    @property
    def deviations(self) -> pl.Expr:
        """How many standard errors an interval reaches to either side, of rows with `add_quantile`."""
        z = pl.lit(z_value(self.confidence)) if self.adjust is None else -pl.col(_QUANTILE)
        return z if self.freedom is None else student_quantile(z, self.freedom)

    def add_quantile(self, differences: pl.LazyFrame) -> pl.LazyFrame:
        """Add what `deviations` reads: adjusted for m pairs, the level is 1 - (1 - confidence) / m."""
        if self.adjust is None:
            return differences
        beyond = (1 - self.confidence) / 2 / pl.len().over(self.family)
        return add_normal_quantile(differences, beyond, _QUANTILE)

    def compute_p_value(self, deviations: pl.Expr) -> pl.Expr:
        """Return how often chance alone takes a difference that many standard errors from 0, or more."""
        z = deviations if self.freedom is None else normal_from_student(deviations, self.freedom)
        return normal_cdf(-z.abs()) * 2


def has_cautious_value(metric: CurveMetric) -> bool:
    """Return whether a metric is computed with half a false positive more, too."""
    return "cautious" in metric.recipe.helpers


def add_limits(
    differences: pl.LazyFrame, metrics: Mapping[str, CurveMetric], level: Level
) -> pl.LazyFrame:
    """Add `<name>_low`, `_high`, `_p_value`, and `_p_adjusted` if asked, of normal differences.

    The interval leaves out 0 just where the p-value is small.
    """
    differences = level.add_quantile(differences)
    for name, metric in metrics.items():
        difference, error = pl.col(f"{name}_difference"), pl.col(f"{name}_standard_error")
        least = most = difference
        if has_cautious_value(metric):
            cautious = pl.col(f"{name}_cautious_difference")
            least, most = pl.min_horizontal(least, cautious), pl.max_horizontal(most, cautious)
        half, nearer = level.deviations * error, _find_nearer(name, metric)
        differences = differences.with_columns(
            pl.when(error.is_not_null()).then(least - half).alias(f"{name}_low"),
            pl.when(error.is_not_null()).then(most + half).alias(f"{name}_high"),
            pl.when(error > 0).then(level.compute_p_value(nearer / error)).alias(f"{name}_p_value"),
        )
        if level.adjust is not None:
            adjusted = adjust_p_values(pl.col(f"{name}_p_value"), level.family)
            differences = differences.with_columns(adjusted.alias(f"{name}_p_adjusted"))
    return differences


def add_flags(
    differences: pl.LazyFrame, metrics: Mapping[str, CurveMetric], level: Level
) -> pl.LazyFrame:
    """Add whether a sign is certain, as `<name>_resolved`, and a cautious p-value.

    The p-value, `<name>_` and then P_VALUE, is that of half the difference where its interval is not
    reliable, and 1 where a class has too few examples to know any error. Flags are null where no error
    is known.
    """
    flags: dict[str, pl.Expr] = {}
    has_few = pl.col(LEAST_SIZE) < _FEW
    for name, metric in metrics.items():
        error = pl.col(f"{name}_standard_error")
        known = error.is_not_null() & pl.col(f"{name}_difference").is_not_null()
        reliable = pl.col(f"{name}_reliable")
        flags[f"{name}_reliable"] = pl.when(known).then(reliable)
        decisive = (_find_nearer(name, metric).abs() >= 2 * level.deviations * error) & (error > 0)
        decisive &= ~has_few
        limits = pl.col(f"{name}_low"), pl.col(f"{name}_high")
        flags[f"{name}_resolved"] = pl.when(known).then(is_resolved(*limits, reliable, decisive))
        p_value = pl.col(f"{name}_p_value")
        differences = add_normal_quantile(differences, p_value * 0.5, f"{name}_deviation")
        halved = normal_cdf(pl.col(f"{name}_deviation") * 0.5) * 2
        # A p-value of 0 has no quantile.
        cautious = pl.when(has_few & p_value.is_not_null()).then(1.0).otherwise(halved.fill_nan(0.0))
        flags[f"{name}_{P_VALUE}"] = pl.when(reliable).then(p_value).otherwise(cautious)
    return differences.with_columns(**flags)


def is_resolved(low: pl.Expr, high: pl.Expr, reliable: pl.Expr, decisive: pl.Expr) -> pl.Expr:
    """Return whether the sign of a difference is certain.

    It is if 0 is outside of an interval that is reliable. It is, too, if the difference is `decisive`:
    twice as far from 0 as the interval reaches. Where no interval is reliable, but each class has 10
    examples, that happened in at most 0.3 % of test sets of equally good models.
    """
    return (((low > 0) | (high < 0)) & reliable) | decisive


def adjust_p_values(p_value: pl.Expr, family: Sequence[str]) -> pl.Expr:
    """Return p-values that hold for all tests of a family at once, by Holm's method (1979).

    The i-th least of m p-values is multiplied by m - i + 1, and no adjusted one is less than those
    before it. Unknown ones are not counted, and stay null.
    """
    place, known = p_value.rank("min").over(family), p_value.count().over(family)
    scaled = (p_value * (known - place + 1)).clip(upper_bound=1.0)
    return scaled.cum_max().over(family, order_by=p_value)


def _find_nearer(name: str, metric: CurveMetric) -> pl.Expr:
    """Return the difference, or the cautious one if it is nearer to 0; 0 if their signs differ."""
    difference = pl.col(f"{name}_difference")
    if not has_cautious_value(metric):
        return difference
    cautious = pl.col(f"{name}_cautious_difference")
    nearer = pl.when(difference.abs() <= cautious.abs()).then(difference).otherwise(cautious)
    return pl.when(difference * cautious > 0).then(nearer).otherwise(0.0)
