"""Limits of the difference in average precision between models that rank the same examples alike.

An example that the test lacks, and that both models would rank alike, moves the logits of both values by
about as much, and cancels out of their difference. So logits are compared, on the curves that were seen
and on those with one false positive more in both models, each with its own standard error S. How far it
could move the logit of either model counts as well, where that is more than the test shows, which is 1.5
of the standard errors s of this logit. The lower limit of the difference of logits of a and b is

    min(D - z S - max(0, logit a - logit least a - 1.5 s_a) - max(0, logit most b - logit b - 1.5 s_b),
        D' - z S') - max(0, D' - D) - max(0, D" - D)

with D' and S' on the curves with one false positive more, and D" on those with one positive more on top.
In small samples average precision is too large on average, and more so for one of two models of
different shape. Its lead grows with an example more, and that growth is subtracted, too. Errors are too
small there, so that S^2 grows by a share of 8 / n_pos.

Of two models of different shape, such as one with a few negatives among its best positives, that with
the greater error leads by luck more often than S implies, since S is least where it is lucky. Models of
like shape have errors S_a and S_b of their logits that are about equal or, where values are near 1,
greater for the better one. So with the slopes g = v (1 - v) of values v by their logits, S^2 grows in
the limit of a lead of a by 100 max(0, S_a min(1, (g_a / g_b)^(1/4)) - S_b)^2.

Back on the scale of average precision, a limit is a difference at a mean level of both models: of the
levels as seen, with one false positive more, and with one positive more on top, that which makes it
lowest.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.comparison.model_pairs import SIDES, A, B
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.ground.logit import to_logit
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.uncertainty.unseen_examples import CAUTIOUS, MOST_ENDING, measure_unseen

SAMPLE_ERROR = "sample_error"
"""What follows the name of a value in the column of its error by chance, without that of eta."""
_CURVES = ("", f"_{CAUTIOUS}")  # what follows the name of a metric as seen, and on the cautious curve
_MOST = f"_{MOST_ENDING}"  # the same, with one positive more on top
_GAP, _GAP_ERROR = "logit_gap", "logit_error"  # what follows the name of a value in D and in S
_LEAD = "lead"
"""What follows a side and the name of a value: D, so signed that it is positive if that side is better,
less what is allowed for."""
_LEAST_LEADS = {side: f"{RESERVED}{side}least_lead" for side in SIDES}
"""The columns of the limits on the logit scale, so signed that they are positive if a side is better."""
_LOGIT, _COSH = "logit", "cosh"
"""What follows the name of a value of a side in its logit, and of a metric in cosh(m)."""
_MOST_COSH, _LEAST_COSH = "most_cosh", "least_cosh"
"""What follows the name of a metric in cosh(m), with m a mean logit of both models, at the levels where
it is most and least."""
_FEW_POS = 8.0
"""The number of positives with which the square of an error is twice that of very many. Without it,
equal models of different shape differed significantly in up to 7% of tests with 30 positives."""

_SHOWN = 1.5
"""The standard errors by which unseen examples may move a logit without a cost. With 1, half of the true
leads of like models are lost at a prevalence of 0.01; with 2, equal models differed significantly in up
to 11% of tests if one has a negative of 2,000 among its best positives, and in 8% with 1.5."""
_EXCESS = 100.0
"""How much the square of the difference of both errors adds to that of the error of the lead of the less
certain model. Without it, models whose ranks correlate by .98 differed significantly in up to 15% of
tests if one has negatives among its best positives; with it, in at most 8%, and 5 of 100 true leads are
lost."""
_GROWTH = 0.25
"""The power of slopes by which errors of logits differ in models of like shape. By 0, two of five true
leads of models that find nearly all positives first would be lost, at a prevalence of 0.3."""

_LEAST_LOSS = 2.0
"""The number of positives times what the better model lacks to 1. With less, a few positives carry the
error, and equal models with tied scores differed significantly in up to 10% of tests."""


def add_logit_leads(differences: pl.LazyFrame, value_name: str, eta_variance: pl.Expr) -> pl.LazyFrame:
    """Add what limits are read from, over errors by chance; null where a value is 0 or almost 1."""
    values = [pl.col(f"{side}{value_name}{ending}") for side in SIDES for ending in _CURVES]
    n_pos_lost = pl.col(EffectiveSize.N_POS) * (1 - pl.max_horizontal(values))
    is_inside = (pl.min_horizontal(values) > 0) & (n_pos_lost >= _LEAST_LOSS)
    logit_exprs, cosh_exprs, gap_exprs = {}, {}, {}
    for ending in (*_CURVES, _MOST):
        for side in SIDES:
            value_column = f"{side}{value_name}{ending}"
            logit_exprs[f"{value_column}_{_LOGIT}"] = to_logit(pl.col(value_column))
        logit_a, logit_b = (pl.col(f"{side}{value_name}{ending}_{_LOGIT}") for side in SIDES)
        gap_exprs[f"{value_name}{ending}_{_GAP}"] = logit_a - logit_b
        cosh_exprs[f"{value_name}{ending}_{_COSH}"] = ((logit_a + logit_b) / 2).cosh()
    excess_variance_by_side = _measure_excess(value_name)
    few_pos_factor = 1 + _FEW_POS / pl.col(EffectiveSize.N_POS)
    for ending in _CURVES:
        gap_variance = _find_gap_variance(f"{value_name}{ending}")
        for side, excess_variance in excess_variance_by_side.items():
            side_variance = (gap_variance + excess_variance) * few_pos_factor + eta_variance
            gap_exprs[f"{side}{value_name}{ending}_{_GAP_ERROR}"] = side_variance.sqrt()
    gap_exprs[f"{value_name}_{_MOST_COSH}"] = pl.max_horizontal(*cosh_exprs)
    gap_exprs[f"{value_name}_{_LEAST_COSH}"] = pl.min_horizontal(*cosh_exprs)
    differences = differences.with_columns(**logit_exprs).with_columns(**cosh_exprs)
    differences = differences.with_columns(
        pl.when(is_inside).then(gap_expr).fill_nan(None).alias(column)
        for column, gap_expr in gap_exprs.items()
    )
    allowance_of_side = _allow_for_unseen(value_name)
    logit_gap, cautious_gap, most_gap = (
        pl.col(f"{value_name}{ending}_{_GAP}") for ending in (*_CURVES, _MOST)
    )
    lead_exprs = {}
    for side, sign in ((A, 1), (B, -1)):
        lead_growths = (
            (sign * (other_gap - logit_gap)).clip(lower_bound=0.0)
            for other_gap in (cautious_gap, most_gap)
        )
        lead_growth = sum(lead_growths, pl.lit(0.0))
        leads = (sign * logit_gap - allowance_of_side[side], sign * cautious_gap)
        for ending, lead in zip(_CURVES, leads, strict=True):
            lead_exprs[f"{side}{value_name}{ending}_{_LEAD}"] = (lead - lead_growth).fill_nan(None)
    return differences.with_columns(**lead_exprs)


def _allow_for_unseen(value_name: str) -> dict[str, pl.Expr]:
    """Return how much of the lead of either side unseen examples may take, beyond what a test shows."""
    loss_of_side, gain_of_side = {}, {}
    for side, error in _find_logit_errors(value_name).items():
        loss_of_side[side], gain_of_side[side] = (
            (unseen_move - _SHOWN * error).clip(lower_bound=0.0)
            for unseen_move in measure_unseen(f"{side}{value_name}")
        )
    return {
        side: loss_of_side[side] + gain_of_side[other_side] for side, other_side in (SIDES, SIDES[::-1])
    }


def _find_logit_errors(value_name: str) -> dict[str, pl.Expr]:
    """Return the standard error of the logit of either side."""
    value_by_side = {side: pl.col(side + value_name) for side in SIDES}
    return {
        side: pl.col(f"{side}{value_name}_{SAMPLE_ERROR}") / (value * (1 - value))
        for side, value in value_by_side.items()
    }


def _measure_excess(value_name: str) -> dict[str, pl.Expr]:
    """Return what the error of either side, as far as it is the greater one, adds to the variance."""
    slope_by_side = {side: pl.col(side + value_name) * (1 - pl.col(side + value_name)) for side in SIDES}
    error_of_side = _find_logit_errors(value_name)
    excess_variance_by_side = {}
    for side, other_side in (SIDES, SIDES[::-1]):
        error_growth = (slope_by_side[side] / slope_by_side[other_side]).clip(upper_bound=1.0) ** _GROWTH
        excess_error = (error_of_side[side] * error_growth - error_of_side[other_side]).clip(
            lower_bound=0.0
        )
        excess_variance_by_side[side] = _EXCESS * excess_error**2
    return excess_variance_by_side


def _find_gap_variance(value_name: str) -> pl.Expr:
    """Return the variance of a difference of logits."""
    value_a, value_b = (pl.col(side + value_name) for side in SIDES)
    error_a, error_b = (pl.col(f"{side}{value_name}_{SAMPLE_ERROR}") for side in SIDES)
    squared_error = pl.col(f"{value_name}_standard_error") ** 2
    # With g = a (1 - a), the derivative of a by its logit, the variance of the difference is
    # V_a / g_a^2 + V_b / g_b^2 - 2 C / (g_a g_b). In this form of it hardly anything cancels out.
    slope_a, slope_b = value_a * (1 - value_a), value_b * (1 - value_b)
    variance = (error_a**2 / slope_a - error_b**2 / slope_b) * (1 / slope_a - 1 / slope_b)
    return (variance + squared_error / (slope_a * slope_b)).clip(lower_bound=0.0)


def add_least_leads(differences: pl.LazyFrame, value_name: str, n_deviations: pl.Expr) -> pl.LazyFrame:
    """Add by how many logits either side leads at least, that many standard errors from D."""
    lead_exprs = {}
    for side, lead_column in _LEAST_LEADS.items():
        leads = (lead - n_deviations * error for lead, error in _read_leads(side, value_name))
        lead_exprs[lead_column] = pl.min_horizontal(leads)
    return differences.with_columns(**lead_exprs)


def find_limits(value_name: str) -> tuple[pl.Expr, pl.Expr]:
    """Return both limits of a difference, over the columns of `add_least_leads`."""
    limits = []
    for least_lead in map(pl.col, _LEAST_LEADS.values()):
        cosh = (
            pl.when(least_lead > 0)
            .then(f"{value_name}_{_MOST_COSH}")
            .otherwise(f"{value_name}_{_LEAST_COSH}")
        )
        # expit(m + x / 2) - expit(m - x / 2) with the least lead x
        limits.append((least_lead / 2).tanh() / (1 + cosh / (least_lead / 2).cosh()))
    return limits[0], -limits[1]


def count_deviations(value_name: str) -> pl.Expr:
    """Return how many standard errors from what was seen a sign is certain, 0 if it is not."""
    deviations_of_sides = (
        pl.min_horizontal((lead / error).fill_nan(None) for lead, error in _read_leads(side, value_name))
        for side in SIDES
    )
    return pl.max_horizontal(deviations_of_sides).clip(lower_bound=0.0)


def _read_leads(side: str, value_name: str) -> list[tuple[pl.Expr, pl.Expr]]:
    """Return the lead of a side and its error, on either curve."""
    return [
        (
            pl.col(f"{side}{value_name}{ending}_{_LEAD}"),
            pl.col(f"{side}{value_name}{ending}_{_GAP_ERROR}"),
        )
        for ending in _CURVES
    ]
