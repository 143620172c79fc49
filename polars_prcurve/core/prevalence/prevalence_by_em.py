"""The prevalence of rows without labels, estimated from their posteriors by the EM algorithm.

It is the mean of the posteriors, moved to it from the prevalence of training (Saerens et al. 2002). The
algorithm starts at the prevalence of training, and replaces it by that mean until it hardly changes.

The interval is that of the likelihood (Wilks 1938): all eta with `2 (l(estimate) - l(eta)) <= z^2`,
where `l = sum log(eta p / eta_train + (1 - eta) (1 - p) / (1 - eta_train))` over the posteriors p.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.query_guards import stop_if_broken
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ScoreTable
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.prevalence.prior_shift import check_prior

if TYPE_CHECKING:
    from numpy.typing import NDArray


_TOLERANCE, _MAX_ITERATIONS = 1e-12, 10_000
"""A group is done as soon as a step is smaller, or after that many: near 0 and 1 EM is slow."""
_BISECTIONS = 60  # as many halve an interval of prevalences to below the rounding of a float
_COUNT = f"{RESERVED}count"  # the list of distinct posteriors of a group, each with its number of rows


def check_estimate_method(eta_train: float | str | None, reference: object) -> float | None:
    """Return where EM starts, the prevalence `eta_train`, or None if a `reference` takes its place."""
    if (eta_train is None) == (reference is None):
        raise PrcError(
            "pass either eta_train=, the prevalence at which scores are calibrated "
            "probabilities, or reference=, a labelled table of the same model"
        )
    return None if reference is not None else check_prior("eta_train", eta_train)


def list_estimate_columns(confidence: float | None) -> list[str]:
    """Return the columns of the result, which follow those of `by`."""
    limit_columns = [] if confidence is None else ["eta_low", "eta_high", "eta_confidence"]
    return ["eta", *limit_columns, "n", "shift_p_value", "iterations", "converged"]


def join_estimates(
    group_rows: pl.DataFrame, confidence: float | None, estimate_by_name: Mapping[str, Any]
) -> pl.LazyFrame:
    """Return the groups with the columns of the result, from a value or one value per group for each."""
    value_by_name = {**estimate_by_name, "eta_confidence": confidence}
    dtype_by_name: dict[str, Any] = {"n": pl.Int64, "iterations": pl.Int64, "converged": pl.Boolean}
    series_list = []
    for name in list_estimate_columns(confidence):
        value, dtype = value_by_name[name], dtype_by_name.get(name, pl.Float64)
        if value is None or isinstance(value, bool | float):
            value = [value] * len(estimate_by_name["eta"])
        series_list.append(pl.Series(name, value, dtype=dtype))
    return group_rows.lazy().select(*group_rows.columns, *series_list)


def build_estimates_table(table: ScoreTable, eta_train: float, confidence: float | None) -> pl.LazyFrame:
    """Return a table of one row per group, estimated by EM: `by`, then `list_estimate_columns`."""
    check_group_names(table.by, list_estimate_columns(confidence))
    score_expr = table.columns[Row.SCORE]
    if Row.LABEL in table.columns:
        sorted_runs_expr = score_expr.sort().rle()
    else:
        count_expr = table.columns[Row.NEG].cast(pl.Int64)
        run_struct_expr = pl.struct(count_expr.alias("len"), score_expr.alias("value"))
        sorted_runs_expr = run_struct_expr.filter(count_expr > 0).sort_by(
            score_expr.filter(count_expr > 0)
        )
    group_rows_with_runs = table.aggregate_groups([sorted_runs_expr.implode().alias(_COUNT)])
    checked_group_rows = stop_if_broken(group_rows_with_runs, table.tallies.checks)
    group_rows = table.collect(checked_group_rows.select(*table.by, _COUNT), "estimate_prevalence")
    group_rows = group_rows.filter(pl.col(_COUNT).list.len() > 0)
    run_rows = group_rows[_COUNT].list.explode(empty_as_null=False).struct.unnest()
    run_values, run_lengths = run_rows["value"].to_numpy(), run_rows["len"].cast(pl.Float64).to_numpy()
    # UInt64, which NumPy refuses, on the 64-bit index
    n_runs_of_groups = group_rows[_COUNT].list.len().cast(pl.Int64)
    group_index_of_run = np.repeat(np.arange(group_rows.height), n_runs_of_groups.to_numpy())
    # Rows of counts may share a posterior.
    is_new_posterior = np.ones(len(run_values), dtype=np.bool_)
    is_new_posterior[1:] = (run_values[1:] != run_values[:-1]) | (
        group_index_of_run[1:] != group_index_of_run[:-1]
    )
    first_run_indices = np.flatnonzero(is_new_posterior)
    merged_run_lengths = (
        np.add.reduceat(run_lengths, first_run_indices) if first_run_indices.size > 0 else run_lengths
    )
    n_distinct_of_groups = np.bincount(
        group_index_of_run[first_run_indices], minlength=group_rows.height
    ).astype(np.int64)
    posteriors = _Posteriors(run_values[first_run_indices], merged_run_lengths, n_distinct_of_groups)
    etas, n_iterations, has_converged = _estimate_by_em(posteriors, start_eta=eta_train)
    n_rows_of_groups = posteriors.sum_per_group(posteriors.counts).astype("int64")
    estimate_by_name: dict[str, Any] = {"eta": etas, "n": n_rows_of_groups, "shift_p_value": None}
    estimate_by_name |= {"iterations": n_iterations, "converged": has_converged}
    if confidence is not None:
        eta_limits = _find_likelihood_limits(posteriors, eta_train, etas, confidence)
        estimate_by_name |= dict(zip(("eta_low", "eta_high"), eta_limits, strict=True))
    return join_estimates(group_rows.select(*table.by), confidence, estimate_by_name)


class _Posteriors(NamedTuple):
    """Distinct posteriors and how often each occurs, one group after the other."""

    probabilities: NDArray[np.float64]
    counts: NDArray[np.float64]
    group_sizes: NDArray[np.int64]  # the number of distinct posteriors in each group

    def sum_per_group(self, values_of_posteriors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of values, of which there is one for each posterior."""
        group_starts = self.group_sizes.cumsum() - self.group_sizes
        return (
            np.add.reduceat(values_of_posteriors, group_starts)
            if group_starts.size > 0
            else values_of_posteriors
        )

    def keep(self, is_group_kept: NDArray[np.bool_]) -> _Posteriors:
        """Return the posteriors of some groups."""
        is_posterior_kept = np.repeat(is_group_kept, self.group_sizes)
        return _Posteriors(
            self.probabilities[is_posterior_kept],
            self.counts[is_posterior_kept],
            self.group_sizes[is_group_kept],
        )


def _estimate_by_em(
    posteriors: _Posteriors, *, start_eta: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the estimate, the iterations and whether it converged, of all groups at once."""
    active_group_indices = np.arange(len(posteriors.group_sizes))  # groups that have not converged yet
    etas = np.full(len(active_group_indices), start_eta)
    n_iterations = np.zeros(len(active_group_indices), dtype=np.int64)
    is_group_done = np.zeros(len(active_group_indices), dtype=np.bool_)
    remaining_posteriors, n_rows_of_groups = posteriors, posteriors.sum_per_group(posteriors.counts)
    with np.errstate(divide="ignore", over="ignore"):
        # The likelihood ratio of a negative, which no step changes: the posterior odds of a negative,
        # divided by its odds in training.
        negative_odds = (1 - remaining_posteriors.probabilities) / remaining_posteriors.probabilities
        likelihood_ratios = negative_odds * (start_eta / (1 - start_eta))
    for iteration in range(1, _MAX_ITERATIONS + 1):
        if active_group_indices.size == 0:
            break
        with np.errstate(divide="ignore", over="ignore"):
            # The next eta is the mean posterior at this one, 1 / (1 + ratio (1 - eta) / eta).
            negative_odds_at_eta = np.repeat(
                (1 - etas[active_group_indices]) / etas[active_group_indices],
                remaining_posteriors.group_sizes,
            )
            posterior_sums = remaining_posteriors.sum_per_group(
                remaining_posteriors.counts / (1 + likelihood_ratios * negative_odds_at_eta)
            )
            new_etas = posterior_sums / n_rows_of_groups
        has_converged = np.abs(new_etas - etas[active_group_indices]) < _TOLERANCE
        etas[active_group_indices], n_iterations[active_group_indices] = new_etas, iteration
        is_group_done[active_group_indices] = has_converged
        if has_converged.any():
            likelihood_ratios = likelihood_ratios[
                np.repeat(~has_converged, remaining_posteriors.group_sizes)
            ]
            n_rows_of_groups = n_rows_of_groups[~has_converged]
            active_group_indices = active_group_indices[~has_converged]
            remaining_posteriors = remaining_posteriors.keep(~has_converged)
    return etas, n_iterations, is_group_done


def _find_likelihood_limits(
    posteriors: _Posteriors, eta_train: float, estimated_etas: NDArray[np.float64], confidence: float
) -> list[NDArray[np.float64]]:
    """Return the least and the greatest prevalence whose likelihood is near that of the estimate."""
    # The likelihood rises up to its maximum and falls from there. Where EM stopped before the maximum,
    # the interval is of all that is nearly as likely as the estimate, and so it is too wide.
    pos_densities = posteriors.probabilities / eta_train
    neg_densities = (1 - posteriors.probabilities) / (1 - eta_train)

    def sum_logs(etas: NDArray[np.float64]) -> NDArray[np.float64]:
        etas_of_posteriors = np.repeat(etas, posteriors.group_sizes)
        with np.errstate(divide="ignore"):
            log_likelihoods = np.log(
                etas_of_posteriors * pos_densities + (1 - etas_of_posteriors) * neg_densities
            )
        return posteriors.sum_per_group(posteriors.counts * log_likelihoods)

    # Twice the loss of log-likelihood is at most z^2, a quantile of chi-squared.
    least_log_likelihoods = sum_logs(estimated_etas) - z_value(confidence) ** 2 / 2
    eta_limits = []
    for axis_end in (0.0, 1.0):
        outside_etas, inside_etas = np.full(len(estimated_etas), axis_end), estimated_etas
        is_end_likely = sum_logs(outside_etas) >= least_log_likelihoods
        for _ in range(_BISECTIONS):
            middle_etas = (outside_etas + inside_etas) / 2
            is_likely = sum_logs(middle_etas) >= least_log_likelihoods
            outside_etas = np.where(is_likely, outside_etas, middle_etas)
            inside_etas = np.where(is_likely, middle_etas, inside_etas)
        eta_limits.append(np.where(is_end_likely, axis_end, inside_etas))
    return eta_limits
