"""The upper convex hull of ROC curves: what a random choice between thresholds can achieve.

Whether a point is a vertex depends on which of its neighbours are, so Polars has no expression for the
hull: tables become arrays here.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.metrics.curve_arrays import find_vertices


def find_upper_hull(points: pl.DataFrame) -> pl.DataFrame:
    """Return the vertices of the hull of each GROUP, with recall and fpr, sorted, without the origin.

    A group without negatives has fpr 0, and one without positives has no points.
    """
    points = points.select(c.GROUP, "recall", pl.col(c.FPR_OR_ZERO).alias("fpr")).filter(
        pl.col("recall") > 0
    )
    origin = points.select(pl.col(c.GROUP).unique(), recall=pl.lit(0.0), fpr=pl.lit(0.0))
    points = pl.concat([origin, points]).unique().sort(c.GROUP, "fpr", "recall")
    vertices = find_vertices(*(points[name].to_numpy() for name in (c.GROUP, "recall", "fpr")))
    return points[vertices].filter(pl.col("recall") > 0)
