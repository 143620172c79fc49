"""Examples that the sample lacks, which move an end of an interval.

A variance is that of examples that were seen. Three that may be missing move average precision by more
than their share of it:

    a false positive above all positives    at small prevalences it costs almost everything
    a positive below all negatives          of few positives it is a large share
    a positive above all negatives          at small prevalences it is worth more than all others

So the lower end of an interval is that of a curve with more false positives at every threshold, and
with one more positive below all others, whose precision is eta, or 0 where examples were never scored.
The upper end is that of a curve with more positives at the top. Either is the plain end where that is
farther away.

Of a false positive and of a positive at the top, half an example does. The logarithm of their number
counts, and of a number k half an example more, with 1.96 errors of it, is near the limit of a Poisson
count: of k = 0, 1, 2 and 5 the limit is 3.7, 5.6, 7.2 and 11.7, and this is 3.5, 5.5, 7.6 and 12.2.
The error of k = 0 is that of the half, which LOSS gives. A positive below all others counts as a
share, and one with its error is 3 of them. Differences of models read the curves of whole examples.

A positive more is a share of all positives: Unseen.SHARE above them, and MISSED_SHARE below them.
Where rows come in clusters, one cluster is. Of rows that were drawn by strata it weighs as rows do
there.

ROC AUC is lowered by half an example of each class on the wrong side of all others, and raised by half
a one on the right side.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.logit import from_logit, to_logit
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Unseen

CAUTIOUS, HOPEFUL = "cautious", "hopeful"
"""The helpers of a metric with false positives more, and of the positives below others more."""
LOSS = "loss"  # the helper with what the false positives cost, at the slope where they are
LEAST_ENDING, MOST_ENDING = "least", "most"
"""What follows the name of a metric in its values on both extended curves."""


def counts_unseen(metric: CurveMetric) -> bool:
    """Return whether the interval of a metric allows for examples that the sample lacks."""
    return CAUTIOUS in metric.recipe.helpers


def bind_extended(value_name: str, metric: CurveMetric) -> dict[str, pl.Expr]:
    """Return the values of both extended curves and their errors, by column."""
    missed_share, top_share, least_precision = map(
        pl.col, (Unseen.MISSED_SHARE, Unseen.SHARE, Unseen.MISSED_PRECISION)
    )
    if not metric.recipe.is_compared:  # half a positive
        top_share = repeat_in_rows(top_share, pl.col(value_name))
        top_share = top_share / (2 - top_share)
    # A mean over one positive more: below all others it has the least precision, and on top 1.
    least_value = (1 - missed_share) * pl.col(
        f"{value_name}_{CAUTIOUS}"
    ) + missed_share * least_precision
    most_value = top_share + (1 - top_share) * pl.col(f"{value_name}_{HOPEFUL}")
    least_error = (1 - missed_share) * pl.col(f"{value_name}_{CAUTIOUS}_error")
    most_error = (1 - top_share) * pl.col(f"{value_name}_error")
    # The influence of that positive: its share, times how far its precision is from the mean.
    least_jump, most_jump = missed_share * (least_value - least_precision), top_share * (1 - most_value)
    extended_exprs: dict[str, pl.Expr] = {}
    for ending, value, error, jump in (
        (LEAST_ENDING, least_value, least_error, least_jump),
        (MOST_ENDING, most_value, most_error, most_jump),
    ):
        extended_error = (error * error + jump * jump).sqrt()
        extended_exprs |= {
            f"{value_name}_{ending}": value,
            f"{value_name}_{ending}_jump": jump,
            f"{value_name}_{ending}_error": extended_error,
        }
    return extended_exprs


def bind_extended_area(value_name: str) -> dict[str, pl.Expr]:
    """Return a ROC AUC with half an example more of each class, at worst and at best, and the errors."""
    value, error = pl.col(value_name), pl.col(f"{value_name}_error")
    sizes = [
        repeat_in_rows(size, value) for size in map(pl.col, (EffectiveSize.N_POS, EffectiveSize.N_NEG))
    ]
    seen_shares = [size / (size + 0.5) for size in sizes]
    seen_share, smaller_share = seen_shares[0] * seen_shares[1], pl.min_horizontal(seen_shares)
    unseen_square_sum = sum(((1 - share) ** 2 for share in seen_shares), pl.lit(0.0))

    def find_error(distance: pl.Expr) -> pl.Expr:
        return ((error * smaller_share) ** 2 + unseen_square_sum * distance**2).sqrt()

    return {
        f"{value_name}_{LEAST_ENDING}": value * seen_share,
        f"{value_name}_{LEAST_ENDING}_error": find_error(value),
        f"{value_name}_{MOST_ENDING}": 1 - (1 - value) * seen_share,
        f"{value_name}_{MOST_ENDING}_error": find_error(1 - value),
    }


EXTENDED = (
    "",
    *(f"_{end}{ending}" for end in (LEAST_ENDING, MOST_ENDING) for ending in ("", "_jump", "_error")),
    "_error",
)
"""What follows the name of a metric in the columns that `find_ends` and `find_gap` read."""


def find_ends(
    value_name: str, n_deviations: float | pl.Expr, side: str = "", *, is_gain_by_chance: bool = False
) -> tuple[pl.Expr, pl.Expr]:
    """Return both ends of the interval that reaches `n_deviations` standard errors to either side.

    A sample that lacks false positives is too good, and its error comes on top of that. What positives
    that it lacks would add is chance alone, one more error: errors add up in quadrature. In ROC AUC the
    classes can change places, and in a difference the models, so there both ends are found alike.
    """
    value = pl.col(side + value_name)

    def measure(ending: str) -> tuple[pl.Expr, pl.Expr]:
        """Return the logit of a value, and how far its error reaches there."""
        middle = pl.col(f"{side}{value_name}{ending}")
        error = pl.col(f"{side}{value_name}{ending}_error")
        # Delta method: the derivative of to_logit(p) is 1 / (p (1 - p)).
        return to_logit(middle), n_deviations * error / (middle * (1 - middle))

    logit, reach = measure("")
    least_logit, least_reach = measure(f"_{LEAST_ENDING}")
    most_logit, most_reach = measure(f"_{MOST_ENDING}")
    low_logit = pl.min_horizontal(least_logit - least_reach, logit - reach)
    high_logit = pl.max_horizontal(most_logit + most_reach, logit + reach)
    if is_gain_by_chance:
        gain = pl.max_horizontal(most_logit - logit, 0.0)
        high_logit = logit + (gain**2 + pl.max_horizontal(reach, most_reach) ** 2).sqrt()
    # A value of 1 has no error of its own, and neither has one of 0, where no positive was found.
    low_of_1, high_of_0 = from_logit(least_logit - least_reach), from_logit(most_logit + most_reach)
    when_inside, when_0 = pl.when((value > 0) & (value < 1)), pl.when(value == 0)
    return (
        when_inside.then(from_logit(low_logit)).otherwise(when_0.then(0.0).otherwise(low_of_1)),
        when_inside.then(from_logit(high_logit)).otherwise(when_0.then(high_of_0).otherwise(1.0)),
    )


def find_gap(
    value_name: str, error: pl.Expr, n_deviations: float | pl.Expr, better_side: str, worse_side: str
) -> pl.Expr:
    """Return how far a difference may lie below what was seen, by unseen examples and by chance."""
    # The side that is `better` has its lower curve, and that which is `worse` its upper one.
    lower_column = f"{better_side}{value_name}_{LEAST_ENDING}"
    upper_column = f"{worse_side}{value_name}_{MOST_ENDING}"
    loss_below = pl.col(better_side + value_name) - pl.col(lower_column)
    gain_above = pl.col(upper_column) - pl.col(worse_side + value_name)
    jumps = (pl.col(f"{curve_column}_jump") for curve_column in (lower_column, upper_column))
    joint_error = sum((jump * jump for jump in jumps), error * error).sqrt()
    return (
        pl.max_horizontal(loss_below, 0.0)
        + pl.max_horizontal(gain_above, 0.0)
        + n_deviations * joint_error
    )


def measure_unseen(value_name: str) -> tuple[pl.Expr, pl.Expr]:
    """Return by how much unseen examples may lower the logit of a value, and raise it."""
    logit, least_logit, most_logit = (
        to_logit(pl.col(f"{value_name}{ending}"))
        for ending in ("", f"_{LEAST_ENDING}", f"_{MOST_ENDING}")
    )
    return logit - least_logit, most_logit - logit
