"""The areas of rankings without skill: of a random ranking, and of the worst one.

All are expressions of the numbers of positives and negatives and of eta, or of the odds
`(1 - eta) / eta`, and work in any context.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from polars_prcurve.metrics.point_metric import Cell, atanh_rest, choose_where, log1p


def least_pr_auc(eta: Cell) -> Cell:
    """Return the least PR AUC, `1 + (1 - eta) / eta * log(1 - eta)` (Boyd et al. 2012)."""
    # The formula cancels for a small eta. It is the sum of eta**k / (k (k + 1)) over k >= 1.
    small = 0.0
    for k in range(8, 0, -1):
        small = eta * (1 / (k * (k + 1)) + small)
    large = 1 + (1 - eta) / eta * log1p(-eta)
    return choose_where(eta < 1e-2, small, choose_where(eta == 1, 1.0, large))


def least_average_precision(n_pos: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return the average precision of the worst ranking, in which all positives come last."""
    # It is the mean of i / (i + a) over i = 1 .. n_pos, with a = odds * n_pos. The first ten terms are
    # added, and the others come from the formula of Euler and Maclaurin: an integral and corrections.
    a = odds * n_pos
    terms = (pl.when(n_pos >= i).then(i / (i + a)).otherwise(0.0) for i in range(1, 11))
    first = sum(terms, pl.lit(0.0))
    rest = (n_pos - 10).clip(lower_bound=0)
    low = 10 + a
    high = low + rest
    v = rest / (low + high)
    # The integral is rest - a log1p(rest / low), written so that nothing cancels.
    area = v * (20 + rest) - 2 * a * v * v * v * atanh_rest(rest / low, v)
    ends = a * rest / (low * high)  # the summand at the upper end, minus the summand at the lower end
    bernoulli = {2: 1 / 12, 4: -1 / 120, 6: 1 / 252, 8: -1 / 240, 10: 1 / 132}
    slopes = sum((b * (a / high**k - a / low**k) for k, b in bernoulli.items()), pl.lit(0.0))
    mean = (first + area + ends / 2 + slopes) / n_pos
    return pl.when(odds.is_infinite()).then(0.0).otherwise(mean)


# The mean average precision of all rankings, as an integral. The i-th positive of a ranking, with j
# negatives above it, has precision i / (i + k j), where k = odds P / N. This is the integral of
# i exp(-s (i + k j)) over s > 0. In a random ranking a positive has a place u, uniform from 0 to 1, and
# each of the P - 1 other positives and of the N negatives is above it with chance u. With
# a = 1 - exp(-s) and b = 1 - exp(-k s) the mean over i and j is
#
#     integral over u and s of  exp(-s) (1 - u a)^(P-2) (1 - u a + (P-1) u exp(-s)) (1 - u b)^N,
#
# in which nothing cancels. Both integrals are sums over nodes of Gauss's rule:
# - s: beyond s = _REACH / (1 + k) only j = 0 matters, so b is held there. The rest of the integrand is
#   then a derivative in s, and its integral takes one more node. Below, s is a function of a node that
#   grows from linear to exponential.
# - u: nothing is left beyond _REACH / ((P-1) a + N b).
# Nodes are drawn towards 0. Their numbers and the pull were found by trial, for a relative error below
# 1e-13.
_REACH = 36.0


@cache
def _nodes(n: int, pull: float) -> tuple[list[float], list[float]]:
    """Return `n` nodes between 0 and 1, drawn towards 0 by `pull`, and their weights."""
    import numpy as np

    t, weights = np.polynomial.legendre.leggauss(n)
    t = (1 + t) / 2
    # Of x = t / (1 + pull (1 - t)), which has the slope (1 + pull) / (1 + pull (1 - t))^2.
    bent = 1 + pull * (1 - t)
    return (t / bent).tolist(), (weights / 2 * (1 + pull) / bent**2).tolist()


def mean_random_average_precision(n_pos: pl.Expr, n_neg: pl.Expr, odds: pl.Expr) -> pl.Expr:
    """Return the mean average precision of all orders of n_pos positives and n_neg negatives."""
    k = odds * n_pos / n_neg
    is_known = k.is_not_null()
    least = 15 / (1 + k + n_pos + k * n_neg)
    growth = (1 + _REACH / (1 + k) / least).log()
    fields = {"n_pos": n_pos, "n_neg": n_neg, "k": k, "least": least, "growth": growth}
    # A list of one struct, so that the numbers of each row are combined with all nodes.
    row = pl.concat_list(pl.struct(value.alias(name) for name, value in fields.items()))
    # What is used more than once becomes a field first: Polars would compute it again for each use.
    places, weights = _nodes(64, 0.15)
    n_pos, n_neg, k, least, growth = (pl.element().struct.field(name).first() for name in fields)
    stretch = (pl.lit(pl.Series([*places, 1.0])) * growth).exp()
    steps = pl.lit(pl.Series([*weights, 0.0])) * growth * least * stretch
    last = pl.lit(pl.Series([0.0] * len(places) + [1.0]))
    nodes = pl.struct(P=n_pos, N=n_neg, k=k, s=least * (stretch - 1), step=steps, last=last)
    s, k = pl.field("s"), pl.field("k")
    # 1 - exp(-s) without loss for a small s: Polars has no expm1.
    half_a, half_b = (s / 2).tanh(), (s * k / 2).tanh()
    nodes = nodes.struct.with_fields(
        a=2 * half_a / (1 + half_a), b=2 * half_b / (1 + half_b), down=(-s).exp()
    )
    steepness = (pl.field("P") - 1) * pl.field("a") + pl.field("N") * pl.field("b")
    nodes = nodes.struct.with_fields(span=pl.min_horizontal(1.0, _REACH / steepness))
    others, n_neg, a, b = pl.field("P") - 1, pl.field("N"), pl.field("a"), pl.field("b")
    total: pl.Expr = pl.lit(0.0)
    for share, weight in zip(*_nodes(14, 0.7), strict=True):
        u = pl.field("span") * share
        rest = 1 - u * a
        chance = ((others - 1) * (-u * a).log1p() + n_neg * (-u * b).log1p()).exp()
        inner = pl.field("step") * (rest + others * u * pl.field("down"))
        total = total + chance * (inner + pl.field("last") * rest) * weight
    # A struct for each node in s, whose field `value` is the integral over u times a weight
    nodes = nodes.struct.with_fields(value=total * pl.field("span") * pl.field("down"))
    mean = row.list.agg(nodes.struct.field("value").sum())
    return pl.when(is_known).then(mean)  # a sum of nulls is 0
