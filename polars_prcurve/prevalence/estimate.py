"""The prevalence of rows without labels, estimated from their posteriors (Saerens et al. 2002).

The estimate eta is the mean of the posteriors, moved to eta from the prevalence of training. The EM
algorithm starts at the prevalence of training, and replaces eta by that mean until it hardly changes.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.argument_kinds import read_whole_number
from polars_prcurve.column_names import SCORE
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable
from polars_prcurve.prevalence.prior_shift import check_prior
from polars_prcurve.query_checks import stop_if_broken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


ESTIMATE_COLUMNS = ("eta", "n", "iterations", "converged")


def build_estimates_table(
    table: InputTable, eta_train: float, *, tolerance: float, max_iterations: int
) -> pl.LazyFrame:
    """Return a table of one row per group: `by`, then the columns of ESTIMATE_COLUMNS."""
    start = check_prior("eta_train", eta_train)
    steps = read_whole_number("max_iterations=", max_iterations, 1)
    if not (isinstance(tolerance, Real) and tolerance > 0):
        raise PrcError(f"tolerance= is a number above 0; got {tolerance!r}")
    # Equal posteriors are counted first, and computed with once.
    counted = table.columns[SCORE].sort().rle().implode().alias(SCORE)
    query = stop_if_broken(table.aggregate_groups([counted]), table.tallies.checks)
    groups = table.collect(query.select(*table.by, SCORE), "estimate_prevalence")
    runs = groups[SCORE].list.explode(empty_as_null=False).struct.unnest()
    estimates = _estimate_by_em(
        runs["value"].to_numpy(),
        runs["len"].cast(pl.Float64).to_numpy(),
        groups[SCORE].list.len().cast(pl.Int64).to_numpy(),
        start=start,
        tolerance=tolerance,
        steps=steps,
    )
    columns = [pl.Series(name, column) for name, column in zip(ESTIMATE_COLUMNS, estimates, strict=True)]
    return groups.lazy().select(*table.by, *columns)


def _estimate_by_em(
    p: NDArray[np.float64],
    n: NDArray[np.float64],
    sizes: NDArray[np.int64],
    *,
    start: float,
    tolerance: float,
    steps: int,
) -> tuple[NDArray[Any], ...]:
    """Return ESTIMATE_COLUMNS of each group, by EM for all groups at once.

    `p` are the distinct posteriors, one group after the other, `n` is how often each occurs, and `sizes`
    is the number of distinct posteriors in each group. `start` is the prevalence of training.
    """
    import numpy as np

    active = np.arange(len(sizes))  # groups that have not converged yet
    firsts = np.cumsum(sizes) - sizes
    rows = np.add.reduceat(n, firsts) if active.size > 0 else n
    eta, iterations = np.full(len(sizes), start), np.zeros(len(sizes), dtype=np.int64)
    converged = np.zeros(len(sizes), dtype=bool)
    active_rows = rows
    with np.errstate(divide="ignore", over="ignore"):
        # The likelihood ratio of a negative, which no step changes: the posterior odds of a negative,
        # divided by its odds in training.
        ratio = (1 - p) / p * (start / (1 - start))
    for step in range(1, steps + 1):
        if active.size == 0:
            break
        with np.errstate(divide="ignore", over="ignore"):
            odds = np.repeat((1 - eta[active]) / eta[active], sizes)
            new = np.add.reduceat(n / (1 + ratio * odds), firsts) / active_rows
        done = np.abs(new - eta[active]) < tolerance
        eta[active], iterations[active], converged[active] = new, step, done
        if done.any():
            still = np.repeat(~done, sizes)
            ratio, n = ratio[still], n[still]
            active, sizes, active_rows = active[~done], sizes[~done], active_rows[~done]
            firsts = np.cumsum(sizes) - sizes
    return eta, rows.astype(np.int64), iterations, converged
