"""The prevalence of rows without labels, estimated from their posteriors (Saerens et al. 2002).

The estimate eta is the mean of the posteriors, moved to eta from the prevalence of training. The EM
algorithm starts at the prevalence of training, and replaces eta by that mean until it hardly changes.

The interval is that of the likelihood (Wilks 1938): all eta with `2 (l(estimate) - l(eta)) <= z^2`,
where `l = sum log(eta p / eta_train + (1 - eta) (1 - p) / (1 - eta_train))` over the posteriors p.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.intervals import z_value
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable
from polars_prcurve.prevalence.eta_formulas import check_prior
from polars_prcurve.query_guards import stop_if_broken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_TOLERANCE, _MAX_ITERATIONS = 1e-12, 10_000
"""A group is done as soon as a step is smaller, or after that many: near 0 and 1 EM is slow."""
_BISECTIONS = 60
_COUNT = f"{c.RESERVED}count"


def check_estimate_method(eta_train: float | None, reference: object) -> float | None:
    """Return where EM starts, the prevalence `eta_train`, or None if a `reference` takes its place."""
    if (eta_train is None) == (reference is None):
        raise PrcError(
            "a prevalence is estimated by eta_train=, the prevalence at which scores are calibrated "
            "probabilities, or by reference=, a labelled table of the same model; pass one of both"
        )
    return None if reference is not None else check_prior("eta_train", eta_train)


def list_estimate_columns(confidence: float | None) -> list[str]:
    """Return the columns of the result, which follow those of `by`."""
    limits = [] if confidence is None else ["eta_low", "eta_high", "eta_confidence"]
    return ["eta", *limits, "n", "shift_p_value", "iterations", "converged"]


def join_estimates(
    groups: pl.DataFrame, confidence: float | None, estimates: Mapping[str, Any]
) -> pl.LazyFrame:
    """Return the groups with the columns of the result, from a value or one value per group for each."""
    values = {**estimates, "eta_confidence": confidence}
    dtypes: dict[str, Any] = {"n": pl.Int64, "iterations": pl.Int64, "converged": pl.Boolean}
    columns = []
    for name in list_estimate_columns(confidence):
        value, dtype = values[name], dtypes.get(name, pl.Float64)
        if value is None or isinstance(value, bool | float):
            value = [value] * len(estimates["eta"])
        columns.append(pl.Series(name, value, dtype=dtype))
    return groups.lazy().select(*groups.columns, *columns)


def build_estimates_table(table: ScoreTable, eta_train: float, confidence: float | None) -> pl.LazyFrame:
    """Return a table of one row per group, estimated by EM: `by`, then `list_estimate_columns`."""
    import numpy as np

    score = table.columns[c.SCORE]
    if c.LABEL in table.columns:
        counted = score.sort().rle()
    else:
        n = table.columns[c.NEG].cast(pl.Int64)
        runs_of = pl.struct(n.alias("len"), score.alias("value"))
        counted = runs_of.filter(n > 0).sort_by(score.filter(n > 0))
    counts = table.aggregate_groups([counted.implode().alias(_COUNT)])
    query = stop_if_broken(counts, table.tallies.checks)
    groups = table.collect(query.select(*table.by, _COUNT), "estimate_prevalence")
    groups = groups.filter(pl.col(_COUNT).list.len() > 0)
    runs = groups[_COUNT].list.explode(empty_as_null=False).struct.unnest()
    p, n_rows = runs["value"].to_numpy(), runs["len"].cast(pl.Float64).to_numpy()
    n_runs = groups[_COUNT].list.len().cast(pl.Int64)  # UInt64, which NumPy refuses, on the 64-bit index
    group = np.repeat(np.arange(groups.height), n_runs.to_numpy())
    # Rows of counts may share a posterior.
    is_new = np.ones(len(p), dtype=np.bool_)
    is_new[1:] = (p[1:] != p[:-1]) | (group[1:] != group[:-1])
    places = np.flatnonzero(is_new)
    merged = np.add.reduceat(n_rows, places) if places.size > 0 else n_rows
    sizes = np.bincount(group[places], minlength=groups.height).astype(np.int64)
    posteriors = _Posteriors(p[places], merged, sizes)
    eta, iterations, converged = _estimate_by_em(posteriors, start=eta_train)
    estimates: dict[str, Any] = {"eta": eta, "n": posteriors.sum_per_group(posteriors.n).astype("int64")}
    estimates |= {"shift_p_value": None, "iterations": iterations, "converged": converged}
    if confidence is not None:
        limits = _find_limits(posteriors, eta_train, eta, confidence)
        estimates |= dict(zip(("eta_low", "eta_high"), limits, strict=True))
    return join_estimates(groups.select(*table.by), confidence, estimates)


class _Posteriors(NamedTuple):
    """Distinct posteriors and how often each occurs, one group after the other."""

    p: NDArray[np.float64]
    n: NDArray[np.float64]
    sizes: NDArray[np.int64]  # the number of distinct posteriors in each group

    def sum_per_group(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of values, of which there is one for each posterior."""
        import numpy as np

        starts = self.sizes.cumsum() - self.sizes
        return np.add.reduceat(values, starts) if starts.size > 0 else values

    def keep(self, kept: NDArray[np.bool_]) -> _Posteriors:
        """Return the posteriors of some groups."""
        import numpy as np

        rows = np.repeat(kept, self.sizes)
        return _Posteriors(self.p[rows], self.n[rows], self.sizes[kept])


def _estimate_by_em(
    posteriors: _Posteriors, *, start: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the estimate, the iterations and whether it converged, of all groups at once."""
    import numpy as np

    active = np.arange(len(posteriors.sizes))  # groups that have not converged yet
    eta, iterations = np.full(len(active), start), np.zeros(len(active), dtype=np.int64)
    converged = np.zeros(len(active), dtype=np.bool_)
    left, rows = posteriors, posteriors.sum_per_group(posteriors.n)
    with np.errstate(divide="ignore", over="ignore"):
        # The likelihood ratio of a negative, which no step changes: the posterior odds of a negative,
        # divided by its odds in training.
        ratio = (1 - left.p) / left.p * (start / (1 - start))
    for step in range(1, _MAX_ITERATIONS + 1):
        if active.size == 0:
            break
        with np.errstate(divide="ignore", over="ignore"):
            # The next eta is the mean posterior at this one, 1 / (1 + ratio (1 - eta) / eta).
            odds = np.repeat((1 - eta[active]) / eta[active], left.sizes)
            new = left.sum_per_group(left.n / (1 + ratio * odds)) / rows
        done = np.abs(new - eta[active]) < _TOLERANCE
        eta[active], iterations[active], converged[active] = new, step, done
        if done.any():
            ratio, rows = ratio[np.repeat(~done, left.sizes)], rows[~done]
            active, left = active[~done], left.keep(~done)
    return eta, iterations, converged


def _find_limits(
    posteriors: _Posteriors, eta_train: float, eta: NDArray[np.float64], confidence: float
) -> list[NDArray[np.float64]]:
    """Return the least and the greatest prevalence whose likelihood is near that of the estimate."""
    import numpy as np

    # The likelihood rises up to its maximum and falls from there. Where EM stopped before the maximum,
    # the interval is of all that is nearly as likely as the estimate, and so it is too wide.
    positive, negative = posteriors.p / eta_train, (1 - posteriors.p) / (1 - eta_train)

    def likelihood(at: NDArray[np.float64]) -> NDArray[np.float64]:
        share = np.repeat(at, posteriors.sizes)
        with np.errstate(divide="ignore"):
            logs = np.log(share * positive + (1 - share) * negative)
        return posteriors.sum_per_group(posteriors.n * logs)

    # Twice the loss of log-likelihood is at most z^2, a quantile of chi-squared.
    limit = likelihood(eta) - z_value(confidence) ** 2 / 2
    limits = []
    for end in (0.0, 1.0):
        outside, inside = np.full(len(eta), end), eta
        reaches_end = likelihood(outside) >= limit
        for _ in range(_BISECTIONS):
            middle = (outside + inside) / 2
            reaches = likelihood(middle) >= limit
            outside, inside = np.where(reaches, outside, middle), np.where(reaches, middle, inside)
        limits.append(np.where(reaches_end, end, inside))
    return limits
