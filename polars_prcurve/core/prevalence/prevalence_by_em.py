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
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.value_checks import stop_if_broken
from polars_prcurve.core.inputs.column_reader import check_group_names
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
    groups: pl.DataFrame, confidence: float | None, estimate_of_name: Mapping[str, Any]
) -> pl.LazyFrame:
    """Return the groups with the columns of the result, from a value or one value per group for each."""
    value_of_name = {**estimate_of_name, "eta_confidence": confidence}
    dtypes: dict[str, Any] = {"n": pl.Int64, "iterations": pl.Int64, "converged": pl.Boolean}
    columns = []
    for name in list_estimate_columns(confidence):
        value, dtype = value_of_name[name], dtypes.get(name, pl.Float64)
        if value is None or isinstance(value, bool | float):
            value = [value] * len(estimate_of_name["eta"])
        columns.append(pl.Series(name, value, dtype=dtype))
    return groups.lazy().select(*groups.columns, *columns)


def build_estimates_table(table: ScoreTable, eta_train: float, confidence: float | None) -> pl.LazyFrame:
    """Return a table of one row per group, estimated by EM: `by`, then `list_estimate_columns`."""
    check_group_names(table.by, list_estimate_columns(confidence))
    score = table.columns[Row.SCORE]
    if Row.LABEL in table.columns:
        sorted_runs = score.sort().rle()
    else:
        count_expr = table.columns[Row.NEG].cast(pl.Int64)
        run_structs = pl.struct(count_expr.alias("len"), score.alias("value"))
        sorted_runs = run_structs.filter(count_expr > 0).sort_by(score.filter(count_expr > 0))
    groups_with_runs = table.aggregate_groups([sorted_runs.implode().alias(_COUNT)])
    checked_groups = stop_if_broken(groups_with_runs, table.tallies.checks)
    groups = table.collect(checked_groups.select(*table.by, _COUNT), "estimate_prevalence")
    groups = groups.filter(pl.col(_COUNT).list.len() > 0)
    run_rows = groups[_COUNT].list.explode(empty_as_null=False).struct.unnest()
    run_values, run_lengths = run_rows["value"].to_numpy(), run_rows["len"].cast(pl.Float64).to_numpy()
    n_runs = groups[_COUNT].list.len().cast(pl.Int64)  # UInt64, which NumPy refuses, on the 64-bit index
    group_of_run = np.repeat(np.arange(groups.height), n_runs.to_numpy())
    # Rows of counts may share a posterior.
    is_new = np.ones(len(run_values), dtype=np.bool_)
    is_new[1:] = (run_values[1:] != run_values[:-1]) | (group_of_run[1:] != group_of_run[:-1])
    first_runs = np.flatnonzero(is_new)
    merged_lengths = np.add.reduceat(run_lengths, first_runs) if first_runs.size > 0 else run_lengths
    n_distinct = np.bincount(group_of_run[first_runs], minlength=groups.height).astype(np.int64)
    posteriors = _Posteriors(run_values[first_runs], merged_lengths, n_distinct)
    etas, n_iterations, converged = _estimate_by_em(posteriors, start=eta_train)
    n_rows = posteriors.sum_per_group(posteriors.counts).astype("int64")
    estimate_of_name: dict[str, Any] = {"eta": etas, "n": n_rows, "shift_p_value": None}
    estimate_of_name |= {"iterations": n_iterations, "converged": converged}
    if confidence is not None:
        limits = _find_limits(posteriors, eta_train, etas, confidence)
        estimate_of_name |= dict(zip(("eta_low", "eta_high"), limits, strict=True))
    return join_estimates(groups.select(*table.by), confidence, estimate_of_name)


class _Posteriors(NamedTuple):
    """Distinct posteriors and how often each occurs, one group after the other."""

    probabilities: NDArray[np.float64]
    counts: NDArray[np.float64]
    group_sizes: NDArray[np.int64]  # the number of distinct posteriors in each group

    def sum_per_group(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of values, of which there is one for each posterior."""
        starts = self.group_sizes.cumsum() - self.group_sizes
        return np.add.reduceat(values, starts) if starts.size > 0 else values

    def keep(self, is_kept: NDArray[np.bool_]) -> _Posteriors:
        """Return the posteriors of some groups."""
        is_row_kept = np.repeat(is_kept, self.group_sizes)
        return _Posteriors(
            self.probabilities[is_row_kept], self.counts[is_row_kept], self.group_sizes[is_kept]
        )


def _estimate_by_em(
    posteriors: _Posteriors, *, start: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the estimate, the iterations and whether it converged, of all groups at once."""
    active_groups = np.arange(len(posteriors.group_sizes))  # groups that have not converged yet
    etas, n_iterations = np.full(len(active_groups), start), np.zeros(len(active_groups), dtype=np.int64)
    converged = np.zeros(len(active_groups), dtype=np.bool_)
    remaining, rows_per_group = posteriors, posteriors.sum_per_group(posteriors.counts)
    with np.errstate(divide="ignore", over="ignore"):
        # The likelihood ratio of a negative, which no step changes: the posterior odds of a negative,
        # divided by its odds in training.
        negative_odds = (1 - remaining.probabilities) / remaining.probabilities
        likelihood_ratios = negative_odds * (start / (1 - start))
    for step in range(1, _MAX_ITERATIONS + 1):
        if active_groups.size == 0:
            break
        with np.errstate(divide="ignore", over="ignore"):
            # The next eta is the mean posterior at this one, 1 / (1 + ratio (1 - eta) / eta).
            odds = np.repeat((1 - etas[active_groups]) / etas[active_groups], remaining.group_sizes)
            posterior_sums = remaining.sum_per_group(remaining.counts / (1 + likelihood_ratios * odds))
            new_etas = posterior_sums / rows_per_group
        has_converged = np.abs(new_etas - etas[active_groups]) < _TOLERANCE
        etas[active_groups], n_iterations[active_groups] = new_etas, step
        converged[active_groups] = has_converged
        if has_converged.any():
            likelihood_ratios = likelihood_ratios[np.repeat(~has_converged, remaining.group_sizes)]
            rows_per_group = rows_per_group[~has_converged]
            active_groups, remaining = active_groups[~has_converged], remaining.keep(~has_converged)
    return etas, n_iterations, converged


def _find_limits(
    posteriors: _Posteriors, eta_train: float, estimates: NDArray[np.float64], confidence: float
) -> list[NDArray[np.float64]]:
    """Return the least and the greatest prevalence whose likelihood is near that of the estimate."""
    # The likelihood rises up to its maximum and falls from there. Where EM stopped before the maximum,
    # the interval is of all that is nearly as likely as the estimate, and so it is too wide.
    pos_densities = posteriors.probabilities / eta_train
    neg_densities = (1 - posteriors.probabilities) / (1 - eta_train)

    def sum_logs(etas: NDArray[np.float64]) -> NDArray[np.float64]:
        shares = np.repeat(etas, posteriors.group_sizes)
        with np.errstate(divide="ignore"):
            logs = np.log(shares * pos_densities + (1 - shares) * neg_densities)
        return posteriors.sum_per_group(posteriors.counts * logs)

    # Twice the loss of log-likelihood is at most z^2, a quantile of chi-squared.
    least_likelihoods = sum_logs(estimates) - z_value(confidence) ** 2 / 2
    limits = []
    for axis_end in (0.0, 1.0):
        outside_etas, inside_etas = np.full(len(estimates), axis_end), estimates
        reaches_end = sum_logs(outside_etas) >= least_likelihoods
        for _ in range(_BISECTIONS):
            middle_etas = (outside_etas + inside_etas) / 2
            is_reached = sum_logs(middle_etas) >= least_likelihoods
            outside_etas = np.where(is_reached, outside_etas, middle_etas)
            inside_etas = np.where(is_reached, middle_etas, inside_etas)
        limits.append(np.where(reaches_end, axis_end, inside_etas))
    return limits
