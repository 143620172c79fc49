"""The convex hull of ROC curves: what choosing between thresholds at random can achieve.

Polars has no expression for it, so that this is the one place where a table becomes arrays.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.columns import GROUP

__all__ = ["upper_hull"]


def upper_hull(points: pl.DataFrame) -> pl.DataFrame:
    """The points of each group that no line between two others, or the origin, lies on or above.

    Points by GROUP with recall and fpr, both rising.
    """
    import numpy as np

    origin = points.select(GROUP).unique().select(GROUP, recall=pl.lit(0.0), fpr=pl.lit(0.0))
    points = pl.concat([origin, points.select(origin.columns)]).unique().sort(GROUP, "fpr", "recall")
    # Under a line between its neighbours a point is no vertex, whatever else leaves with it.
    while True:
        group, recall, fpr = (points[name].to_numpy() for name in (GROUP, "recall", "fpr"))
        rise, run = np.diff(recall), np.diff(fpr)
        inside = group[:-2] == group[2:]
        keep = np.ones(len(points), dtype=bool)
        keep[1:-1] = ~inside | (rise[:-1] * run[1:] > rise[1:] * run[:-1])
        if keep.all():
            return points.filter(pl.col("recall") > 0)
        points = points.filter(keep)
