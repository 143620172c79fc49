"""The error of a prevalence whose reference is the table that is evaluated at it.

Scores of the field are cut at levels, and eta is the mixture of both classes of the reference that fits
their counts best; see `mixture_likelihood`. An fpr that is too high by chance lowers precision. It makes
the field look less positive, too, and eta too low: both errors add up. So far the errors of the
reference, with shares alpha and beta of positives and negatives at the levels, enter eta by

    sum of -eta (c - mean of c) / P over positives, and of -(1 - eta) (c - mean of c) / N over negatives

where c is a number for each level,

    c = g / (alpha - beta)'g,   g = S^- (alpha - beta),   q = eta alpha + (1 - eta) beta,
    S = [q]/U + eta^2 [alpha]/P + (1 - eta)^2 [beta]/N,   [x] = diag x - x x'

The correlation of the error of recall with that of eta is the covariance of these terms with being above
the threshold. Levels are stretches of the sweep, so a rate alone tells the sum of c above a threshold:
it is linear in the rate within each level, and no row needs its level.

Sources: Saerens, Latinne and Decaestecker 2002; Ferguson 1996 (minimum chi-squared has the influence of
likelihood); Zou 2008 (correlated distances).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.confidence.reference_slopes import MOST_LEVELS, SLOPE_SCALE
from polars_prcurve.prevalence.mixture_likelihood import LevelCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_CUT = 1e-10
"""Directions of S that vary by less than this, relatively, do not vary at all."""
_CLASSES = ("pos", "neg")


def describe_shared_errors(counts: LevelCounts, eta: Floats) -> pl.Series:
    """Return the column ETA_REFERENCE: how the errors of each group's reference enter its eta.

    Its fields are, for either class and each level from the highest score down, the share of the class
    down to that level, and the slope: so much the error of eta, in standard errors, shares with that of
    a rate, times its standard error with one example, for each share of the class.
    """
    names = [
        f"{kind}_{of}_{j}" for kind in ("slope", "share") for of in _CLASSES for j in range(MOST_LEVELS)
    ]
    rows = np.zeros((len(eta), len(names) + 1))
    for i, (a, n, u) in enumerate(
        zip(counts.positives, counts.negatives, counts.unlabelled, strict=True)
    ):
        slopes = _find_slopes(a, n, u, float(eta[i]))
        shares = [np.cumsum(of) / of.sum() for of in (a, n)]
        bound = 2 * sum(np.abs(of).sum() for of in slopes)
        scale = 2.0 ** np.ceil(np.log2(bound)) if 0 < bound < np.inf else 1.0
        rows[i] = [*np.concatenate([*slopes, *shares]), scale]
    return pl.DataFrame(rows, schema=dict.fromkeys([*names, SLOPE_SCALE], pl.Float64)).to_struct(
        c.ETA_REFERENCE
    )


def _find_slopes(a: Floats, n: Floats, u: Floats, eta: float) -> tuple[Floats, Floats]:
    """Return the slopes of positives and of negatives at the levels; 0 where eta has no error."""
    n_pos, n_neg, n_rows = a.sum(), n.sum(), u.sum()
    held = (a + n + u) > 0
    alpha = np.where(held, (a + 0.5 / held.sum()) / (n_pos + 0.5), 0.0)
    beta = np.where(held, (n + 0.5 / held.sum()) / (n_neg + 0.5), 0.0)
    mixed = eta * alpha + (1 - eta) * beta
    spread = sum(
        weight * (np.diag(of) - np.outer(of, of))
        for weight, of in (
            (1 / n_rows, mixed),
            (eta**2 / n_pos, alpha),
            ((1 - eta) ** 2 / n_neg, beta),
        )
    )
    apart = alpha - beta
    g = np.linalg.pinv(spread, rcond=_CUT, hermitian=True) @ apart
    size = apart @ g
    if not size > 0:
        return np.zeros_like(a), np.zeros_like(n)
    slope = g / size
    of_pos, of_neg = (slope - (of * slope).sum() / of.sum() for of in (a, n))
    of_field = (u * slope**2).sum() / n_rows - ((u * slope).sum() / n_rows) ** 2
    variance = (
        eta**2 * (a * of_pos**2).sum() / n_pos**2
        + (1 - eta) ** 2 * (n * of_neg**2).sum() / n_neg**2
        + of_field / n_rows
    )
    if not variance > 0:
        return np.zeros_like(a), np.zeros_like(n)
    return (
        np.where(held, -eta * of_pos, 0.0) / np.sqrt(n_pos * variance),
        np.where(held, -(1 - eta) * of_neg, 0.0) / np.sqrt(n_neg * variance),
    )
