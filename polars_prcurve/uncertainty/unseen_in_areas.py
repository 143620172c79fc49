"""How far the examples that a sample lacks could move average precision.

A variance tells of examples that were seen. Three that may be missing move average precision by more
than their share of it:

    a false positive above all positives    at small prevalences it costs almost everything
    a positive below all negatives          of few positives it is a large share
    a positive above all negatives          at small prevalences it is worth more than all others

So the lower end of an interval is that of a curve with one false positive more at every threshold, and
with one more positive below all others, whose precision is eta, or 0 where examples were never scored.
The upper end is that of a curve with one more positive at the top. Either is the plain end where that is
farther away. As in the interval of a rate by Clopper and Pearson (1934), both ends are of other counts
than the estimate, so the interval is rather too wide.

A positive more is a share of all positives: UNSEEN_SHARE above them, and MISSED_SHARE below them. Where
rows come in clusters, one cluster is. Of rows that were drawn by strata it weighs as rows do there.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.metrics.curve_metric import CurveMetric

CAUTIOUS, HOPEFUL = "cautious", "hopeful"
"""The helpers of a metric with one false positive more, and of the positives below one more."""
_LEAST, _MOST = "least", "most"


def counts_unseen(metric: CurveMetric) -> bool:
    """Return whether the interval of a metric allows for examples that the sample lacks."""
    return CAUTIOUS in metric.recipe.helpers


def bind_extended(name: str) -> dict[str, pl.Expr]:
    """Return the values of both extended curves and their errors, by column."""
    missed, top, lowest = map(pl.col, (c.MISSED_SHARE, c.UNSEEN_SHARE, c.MISSED_PRECISION))
    # A mean over one positive more: below all others it has the least precision, and on top 1.
    least = (1 - missed) * pl.col(f"{name}_{CAUTIOUS}") + missed * lowest
    most = top + (1 - top) * pl.col(f"{name}_{HOPEFUL}")
    errors = (1 - missed) * pl.col(f"{name}_{CAUTIOUS}_error"), (1 - top) * pl.col(f"{name}_error")
    # The influence of that positive: its share, times how far its precision is from the mean.
    jumps = missed * (least - lowest), top * (1 - most)
    columns: dict[str, pl.Expr] = {}
    ends = zip((_LEAST, _MOST), (least, most), errors, jumps, strict=True)
    for end, value, error, jump in ends:
        both = (error * error + jump * jump).sqrt()
        named = zip(_KINDS, (value, jump, both), strict=True)
        columns |= {f"{name}_{end}{kind}": of for kind, of in named}
    return columns


_KINDS = ("", "_jump", "_error")
EXTENDED = ("", *(f"_{end}{kind}" for end in (_LEAST, _MOST) for kind in _KINDS), "_error")
"""What follows the name of a metric in the columns that `find_ends` and `find_gap` read."""


def find_ends(name: str, deviations: float | pl.Expr, side: str = "") -> tuple[pl.Expr, pl.Expr]:
    """Return both ends of the interval that reaches `deviations` standard errors to either side."""
    value = pl.col(side + name)

    def reach(kind: str, sign: int) -> pl.Expr:
        middle, error = pl.col(f"{side}{name}{kind}"), pl.col(f"{side}{name}{kind}_error")
        # Delta method: the derivative of to_logit(p) is 1 / (p (1 - p)).
        return from_logit(to_logit(middle) + deviations * error / (middle * (1 - middle)) * sign)

    # A value of 1 has no plain end, and neither has one of 0, where no positive was found.
    low, high = reach(f"_{_LEAST}", -1), reach(f"_{_MOST}", 1)
    inside, is_0 = pl.when((value > 0) & (value < 1)), pl.when(value == 0)
    return (
        inside.then(pl.min_horizontal(low, reach("", -1))).otherwise(is_0.then(0.0).otherwise(low)),
        inside.then(pl.max_horizontal(high, reach("", 1))).otherwise(is_0.then(high).otherwise(1.0)),
    )


def find_gap(name: str, error: pl.Expr, deviations: float | pl.Expr, better: str, worse: str) -> pl.Expr:
    """Return how far a difference may lie below what was seen, by unseen examples and by chance."""
    # The side that is `better` has its lower curve, and that which is `worse` its upper one.
    moved, jumps = [], []
    for side, end in ((better, _LEAST), (worse, _MOST)):
        value, there = pl.col(side + name), pl.col(f"{side}{name}_{end}")
        moved.append(value - there if end == _LEAST else there - value)
        jumps.append(pl.col(f"{side}{name}_{end}_jump"))
    spread = (error * error + jumps[0] * jumps[0] + jumps[1] * jumps[1]).sqrt()
    return pl.max_horizontal(moved[0], 0.0) + pl.max_horizontal(moved[1], 0.0) + deviations * spread


def measure_unseen(name: str, deviations: float | pl.Expr) -> pl.Expr:
    """Return how far unseen examples move the value, in halves of the plain interval."""
    value, least, most = (to_logit(pl.col(f"{name}{kind}")) for kind in ("", f"_{_LEAST}", f"_{_MOST}"))
    half = deviations * pl.col(f"{name}_error") / (pl.col(name) * (1 - pl.col(name)))
    return pl.max_horizontal(value - least, most - value) / half


def to_logit(value: pl.Expr) -> pl.Expr:
    """Return ln(value / (1 - value))."""
    return (value / (1 - value)).log()


def from_logit(value: pl.Expr) -> pl.Expr:
    """Return the inverse of `to_logit`."""
    return 1 / (1 + (-value).exp())
