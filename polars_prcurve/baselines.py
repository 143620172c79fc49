"""What rankings without skill score: the average precision of a random one, and of the worst.

All are expressions of the number of positives and negatives and the odds `(1 - eta) / eta`, and
work in any context.
"""

from __future__ import annotations

from functools import cache

import polars as pl

__all__ = [
    "atanh_rest",
    "random_average_precision",
    "worst_average_precision",
    "worst_pr_auc",
]


def atanh_rest(u: pl.Expr, v: pl.Expr) -> pl.Expr:
    """`(atanh(v) / v - 1) / v**2`, where `v = u / (2 + u)` and so `2 atanh(v) = log1p(u)`."""
    w = v * v
    small: pl.Expr = pl.lit(0.0)
    for k in range(11, 1, -2):  # by its series, to 1e-14; the difference below would lose more
        small = 1 / k + w * small
    exact = (u.log1p() / 2 / v - 1) / w
    return pl.when(v.abs() < 0.05).then(small).otherwise(exact)


def worst_pr_auc(eta: pl.Expr) -> pl.Expr:
    """The least area under a PR curve, `1 + (1 - eta) / eta * log(1 - eta)` (Boyd et al. 2012)."""
    small: pl.Expr = pl.lit(0.0)
    for k in range(8, 0, -1):  # the formula is the sum of eta**k / (k (k + 1)) over k >= 1
        small = eta * (1 / (k * (k + 1)) + small)
    large = 1 + (1 - eta) / eta * (-eta).log1p()
    return pl.when(eta < 1e-2).then(small).when(eta == 1).then(1.0).otherwise(large)


def worst_average_precision(n_pos: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """The mean of `i / (i + a)` over i = 1 .. n_pos with `a = odds * n_pos`: all positives last.

    Ten terms are added up, the others integrated and corrected by Euler and Maclaurin.
    """
    a = odds * n_pos
    first = sum(
        (pl.when(n_pos >= i).then(i / (i + a)).otherwise(0.0) for i in range(1, 11)), pl.lit(0.0)
    )
    rest = (n_pos - 10).clip(lower_bound=0)
    low = 10 + a
    high = low + rest
    v = rest / (low + high)
    # Of rest - a log1p(rest / low), with nothing cancelled.
    area = v * (20 + rest) - 2 * a * v * v * v * atanh_rest(rest / low, v)
    ends = a * rest / (low * high)  # the summand itself at the upper end, less that at the lower
    bernoulli = {2: 1 / 12, 4: -1 / 120, 6: 1 / 252, 8: -1 / 240, 10: 1 / 132}
    slopes = sum((b * (a / high**k - a / low**k) for k, b in bernoulli.items()), pl.lit(0.0))
    mean = (first + area + ends / 2 + slopes) / n_pos
    return pl.when(odds.is_infinite()).then(0.0).otherwise(mean)


# The i-th positive of a ranking has precision i / (i + k j) with j negatives above it, k = odds P / N:
# the integral of i exp(-s (i + k j)) over s > 0. In a random ranking a positive has a place u, uniform
# from 0 to 1; of the P - 1 other positives and of the N negatives each is above it with chance u.
# With a = 1 - exp(-s) and b = 1 - exp(-k s) the mean over both is
#
#     integral over u and s of  exp(-s) (1 - u a)^(P-2) (1 - u a + (P-1) u exp(-s)) (1 - u b)^N,
#
# in which nothing cancels. Past s = _REACH / (1 + k) only j = 0 matters; b stays as it is there, and
# what is left is a derivative: one more node in s. Before it s grows from linear to exponential. In u
# nothing is left past _REACH / ((P-1) a + N b). Both are integrated by Gauss's rule with nodes drawn
# towards 0; their numbers and the pull were found by trial, for a relative error below 1e-13.
_REACH = 36.0


@cache
def _nodes(n: int, pull: float) -> tuple[list[float], list[float]]:
    """Nodes between 0 and 1 and their weights."""
    import numpy as np

    t, w = np.polynomial.legendre.leggauss(n)
    t = (1 + t) / 2
    bent = 1 + pull * (1 - t)
    return (t / bent).tolist(), (w / 2 * (1 + pull) / bent**2).tolist()


def random_average_precision(n_pos: pl.Expr, n_neg: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """The mean average precision of all orders of so many positives and negatives."""
    k = odds * n_pos / n_neg
    least = 15 / (1 + k + n_pos + k * n_neg)
    growth = (1 + _REACH / (1 + k) / least).log()
    given = {"n_pos": n_pos, "n_neg": n_neg, "k": k, "least": least, "growth": growth}
    # A list of one struct, so that each row meets all nodes.
    row = pl.concat_list(pl.struct(value.alias(name) for name, value in given.items()))
    return row.list.agg(_along_s().struct.field("value").sum())


def _along_s() -> pl.Expr:
    """A struct for each node in s. What is mentioned more than once becomes a field first."""
    places, weights = _nodes(64, 0.15)
    n_pos, n_neg, k, least, growth = (
        pl.element().struct.field(name).first() for name in ("n_pos", "n_neg", "k", "least", "growth")
    )
    stretch = (pl.lit(pl.Series([*places, 1.0])) * growth).exp()
    steps = pl.lit(pl.Series([*weights, 0.0])) * growth * least * stretch
    last = pl.lit(pl.Series([0.0] * len(places) + [1.0]))
    nodes = pl.struct(P=n_pos, N=n_neg, k=k, s=least * (stretch - 1), step=steps, last=last)
    s, k = pl.field("s"), pl.field("k")
    half_a, half_b = (s / 2).tanh(), (s * k / 2).tanh()  # there is no expm1
    nodes = nodes.struct.with_fields(
        a=2 * half_a / (1 + half_a), b=2 * half_b / (1 + half_b), down=(-s).exp()
    )
    steepness = (pl.field("P") - 1) * pl.field("a") + pl.field("N") * pl.field("b")
    nodes = nodes.struct.with_fields(span=pl.min_horizontal(1.0, _REACH / steepness))
    total = sum((_along_u(u) * weight for u, weight in zip(*_nodes(14, 0.7), strict=True)), pl.lit(0.0))
    return nodes.struct.with_fields(value=total * pl.field("span") * pl.field("down"))


def _along_u(share: float) -> pl.Expr:
    """The integrand at a share of the span of u."""
    others, n_neg, a, b = pl.field("P") - 1, pl.field("N"), pl.field("a"), pl.field("b")
    u = pl.field("span") * share
    rest = 1 - u * a
    chance = ((others - 1) * (-u * a).log1p() + n_neg * (-u * b).log1p()).exp()
    inner = pl.field("step") * (rest + others * u * pl.field("down"))
    return chance * (inner + pl.field("last") * rest)
