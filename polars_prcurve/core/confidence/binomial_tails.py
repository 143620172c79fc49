"""Lower tails of the binomial distribution, as expressions and as numbers.

A tail is the probability of at most k successes in n trials. Polars has no beta function, so the test of
an expression takes the normal approximation of Peizer and Pratt (1968) in the form of Molenaar (1970).
With one success or none, and with one failure, it is exact. Otherwise it decides as the exact tail does,
except within 0.5% of an alpha of 0.05 or more, 2% of 0.01 and 9% of 0.001.

Where examples count as fewer than they are, k and n are no whole numbers. The tail is then the
regularized incomplete beta function that it is for whole ones. Below 2 successes the approximation is
within 5% of it, around an alpha of 0.05.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve.core.ground.normal_distribution import normal_quantile


class AlphaColumns(NamedTuple):
    """A probability of error that differs by row, and the normal quantile below which it lies."""

    value: pl.Expr
    quantile: pl.Expr


Alpha: TypeAlias = float | AlphaColumns  # a probability of error: a number, or one of each row


def log_alpha(alpha: Alpha) -> Any:
    """Return the logarithm of a probability of error, as a number or as an expression."""
    return alpha.value.log() if isinstance(alpha, AlphaColumns) else math.log(alpha)


def is_tail_at_most(alpha: Alpha, hits: pl.Expr, trials: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Whether at most `k` successes in `n` trials have a probability of at most `alpha`."""
    # P(K <= k) is (1 + k n o) / (1 + o)^n for k = 0 and 1, with odds o.
    passes_if_at_most_one = trials * odds.log1p() - (hits * trials * odds).log1p() >= -log_alpha(alpha)
    log_one_minus_alpha = (
        (-alpha.value).log1p() if isinstance(alpha, AlphaColumns) else math.log1p(-alpha)
    )
    # P(K <= n - 1) is 1 - (1 + 1 / o)^-n, since not all n are successes.
    passes_if_all_but_one = trials * (1 / odds).log1p() <= -log_one_minus_alpha
    passes_otherwise = tail_quantile(hits, trials, odds) <= _find_quantile(alpha)
    is_exact = (hits == 0) | (hits == 1)
    passes = (
        pl.when(is_exact)
        .then(passes_if_at_most_one)
        .when(hits == trials - 1)
        .then(passes_if_all_but_one)
        .otherwise(passes_otherwise)
    )
    # Odds are share / (1 - share). With less than one failure nothing passes, as with none.
    return (odds == math.inf) | ((odds > 0) & (hits <= trials - 1) & passes)


def _find_quantile(alpha: Alpha) -> Any:
    """Return the quantile of the standard normal distribution below which alpha lies."""
    return alpha.quantile if isinstance(alpha, AlphaColumns) else normal_quantile(alpha)


def count_passing(trials: pl.Expr, odds: pl.Expr, alpha: Alpha) -> pl.Expr:
    """Return about the most successes in `n` trials whose tail is at most alpha; 0 if there are none."""
    # It may be off by one, being from the normal approximation with a correction for skewness.
    z, share = _find_quantile(alpha), 1 / (1 + 1 / odds)
    skewness = (z * z - 1) * (1 - 2 * share) * (1 / 6)
    n_hits: pl.Expr = trials * share + (trials * share * (1 - share)).sqrt() * z + skewness - 0.5
    return n_hits.floor().clip(0)


def tail_quantile(hits: pl.Expr, trials: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return z such that the normal distribution has below z what the binomial one has up to `k`."""
    # d sqrt((1 + q g(x) + p g(y)) / ((n + 1/6) p q)), with the share p and the rest q,
    # x = (k + 1/2) / n p, y = (n - k - 1/2) / n q, and the corrected distance d of k from n p.
    share, other_share = 1 / (1 + 1 / odds), 1 / (1 + odds)
    correction = other_share / (hits + 1) - share / (trials - hits) + (other_share - 0.5) / (trials + 1)
    distance = hits + 2 / 3 - (trials + 1 / 3) * share + 0.02 * correction
    skewness = other_share * _skew((hits + 0.5) / (trials * share)) + share * _skew(
        (trials - hits - 0.5) / (trials * other_share)
    )
    return distance * ((1 + skewness) / ((trials + 1 / 6) * share * other_share)).sqrt()


def _skew(x: pl.Expr) -> pl.Expr:
    """Return the function g of Peizer and Pratt, `(1 - x**2 + 2 x ln x) / (1 - x)**2`."""
    u = x - 1
    # The quotient is nearly 0/0 around x = 1, where its series takes over.
    series = u * (u * (u * (u * (1 / 15) - 0.1) + 1 / 6) - 1 / 3)
    return pl.when(u.abs() < 0.01).then(series).otherwise((1 - x * x + 2 * x * x.log()) / (u * u))
