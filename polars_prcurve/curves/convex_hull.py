"""The upper convex hull of ROC curves: what a random choice between thresholds can achieve.

Whether a point is a vertex depends on which of its neighbours are, so Polars has no expression for the
hull: tables become arrays here.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.column_names import FPR_OR_ZERO, GROUP


def find_upper_hull(points: pl.DataFrame) -> pl.DataFrame:
    """Return the vertices of the hull of each GROUP, with recall and fpr, sorted, without the origin.

    A group without negatives has fpr 0, and one without positives has no points.
    """
    import numpy as np

    points = points.select(GROUP, "recall", pl.col(FPR_OR_ZERO).alias("fpr")).filter(
        pl.col("recall") > 0
    )
    origin = points.select(pl.col(GROUP).unique(), recall=pl.lit(0.0), fpr=pl.lit(0.0))
    points = pl.concat([origin, points]).unique().sort(GROUP, "fpr", "recall")
    # A point on or below the line between its neighbours is never a vertex, so one pass may drop
    # several. Passes end when slopes fall strictly from each segment to the next.
    while True:
        group, recall, fpr = (points[name].to_numpy() for name in (GROUP, "recall", "fpr"))
        rise, run = np.diff(recall), np.diff(fpr)
        inside = group[:-2] == group[2:]  # both neighbours are of the same group
        keep = np.ones(len(points), dtype=bool)
        # Slopes rise / run are compared crosswise: a vertical segment has run 0.
        keep[1:-1] = ~inside | (rise[:-1] * run[1:] > rise[1:] * run[:-1])
        if keep.all():
            return points.filter(pl.col("recall") > 0)
        points = points.filter(keep)
