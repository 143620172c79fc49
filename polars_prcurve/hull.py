"""The convex hull of ROC curves: what choosing between thresholds at random can achieve.

Polars has no expression for it, so that this is the one place where a table becomes arrays.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.columns import FPR, GROUP

__all__ = ["upper_hull"]


def upper_hull(points: pl.DataFrame) -> pl.DataFrame:
    """GROUP, recall and fpr of the points that no line between two others, or the origin, is above.

    Without negatives fpr is 0, and without positives there are no points.
    """
    import numpy as np

    points = points.select(GROUP, "recall", pl.col(FPR).alias("fpr")).filter(pl.col("recall") > 0)
    origin = points.select(pl.col(GROUP).unique(), recall=pl.lit(0.0), fpr=pl.lit(0.0))
    points = pl.concat([origin, points]).unique().sort(GROUP, "fpr", "recall")
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
