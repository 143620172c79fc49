"""Means of `1 / D` while a quantity D grows linearly, with no digit lost where it hardly grows.

The mean of precision along a segment, on which the alerts D = recall + odds fpr grow from D0 to D1,
is (recall_before g1(u) + rise g2(u)) / D0 with u = (D1 - D0) / D0,
    g1(u) = log1p(u) / u    and    g2(u) = (u - log1p(u)) / u^2.
With v = u / (2 + u) = (D1 - D0) / (D1 + D0) and the series of atanh,
    s = (atanh(v) / v - 1) / v^2 = 1/3 + v^2/5 + v^4/7 + ...
    g1 = (1 - v) (1 + v^2 s)    and    g2 = (1 - v) (1 - (1 - v) v s) / 2,
in which nothing cancels. The same two functions give means over prevalences.
"""

from __future__ import annotations

from polars_prcurve.metrics.curve_metric import Rows, Step, Term
from polars_prcurve.metrics.elementwise import Cell, choose_where, log1p, maximum, minimum


def atanh_rest(u: Cell, v: Cell) -> Cell:
    """Return `(atanh(v) / v - 1) / v**2`, where `v = u / (2 + u)` and so `2 atanh(v) = log1p(u)`."""
    w = v * v
    small = 0.0
    for k in range(21, 1, -2):  # the series: what it leaves out changes v s by less than 1e-16
        small = 1 / k + w * small
    exact = (log1p(u) / 2 / v - 1) / w
    # The difference loses digits as 1 / v**2, so the series takes over while that still costs little.
    return choose_where(abs(v) < 0.2, small, exact)


def bind_growth(prefix: str, start: Term, end: Term, gain: Term) -> tuple[Step, ...]:
    """Return steps that bind v, 1 - v and s of the growth from `start` to `end`, by `gain`."""
    d, e, g, v, rest, s = (f"{prefix}_{name}" for name in ("start", "end", "gain", "v", "rest", "s"))

    def bind_v(rows: Rows) -> dict[str, Cell]:
        total = rows.column(d) + rows.column(e)
        return {v: rows.column(g) / total, rest: 2 * rows.column(d) / total}

    def bind_s(rows: Rows) -> dict[str, Cell]:
        # s is equal for v and -v. The u of a quantity that falls to nearly 0 has lost its digits, and so
        # growth is measured from the lower end.
        lower = maximum(minimum(rows.column(d), rows.column(e)), 1e-300)
        return {s: atanh_rest(abs(rows.column(g)) / lower, abs(rows.column(v)))}

    return lambda rows: {d: start(rows), e: end(rows), g: gain(rows)}, bind_v, bind_s


def mean_of_inverse(rows: Rows, prefix: str) -> Cell:
    """Return g1(u), the mean of D0 / D, of the growth that was bound under this prefix."""
    v, rest, s = (rows.column(f"{prefix}_{name}") for name in ("v", "rest", "s"))
    return rest * (1 + v * v * s)


def mean_of_share(rows: Rows, prefix: str) -> Cell:
    """Return g2(u), the mean of D0 / D times t, where t runs from 0 to 1 along the growth."""
    v, rest, s = (rows.column(f"{prefix}_{name}") for name in ("v", "rest", "s"))
    return rest * (1 - rest * v * s) / 2
