"""One curve as NumPy arrays, in the shape that the formulas of curve metrics read.

recall, fpr -> points     checked, sorted along the curve, and led to (1, 1)
            -> segments   each point with the point before it, first the origin
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import read_numbers
from polars_prcurve.errors import PrcError
from polars_prcurve.exact_sums import SHARE_SCALE
from polars_prcurve.metrics.point_metric import Array

if TYPE_CHECKING:  # NumPy is imported when numbers are first computed with
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class CurveArrays:
    """The segments of a curve with positives: the columns of a table of segments, as arrays."""

    columns: dict[str, Array]  # the columns by name; `fpr` is NaN without negatives
    has_negatives: bool
    least_fpr: float  # the least fpr of the points at which recall rises; 0 without negatives

    def select_rises(self) -> CurveArrays:
        """Return the segments on which recall rises."""
        rises = self.columns[c.RISE] > 0
        if rises.all():
            return self
        kept = {name: values[rises] for name, values in self.columns.items()}
        return CurveArrays(kept, self.has_negatives, self.least_fpr)

    def build_hull(self) -> CurveArrays:
        """Return the segments of the upper convex hull of the curve."""
        import numpy as np

        recall, fpr = (np.append(0.0, self.columns[name]) for name in ("recall", c.FPR_OR_ZERO))
        kept = np.append(True, (np.diff(recall) > 0) | (np.diff(fpr) > 0))
        recall, fpr = recall[kept], fpr[kept]
        vertices = find_vertices(np.zeros(len(recall)), recall, fpr)
        hull = _build_segments(recall[vertices][1:], fpr[vertices][1:], self.has_negatives)
        return CurveArrays(hull.columns, self.has_negatives, self.least_fpr)


_HINT = "labels and scores become points by roc_points(label, score)"


def read_curve(recall: ArrayLike, fpr: ArrayLike) -> CurveArrays | None:
    """Return the curve through points; None without any, or without positives, whose rates are NaN."""
    import numpy as np

    rates = {"recall": read_numbers("recall", recall), "fpr": read_numbers("fpr", fpr)}
    for name, values in rates.items():
        if values.ndim != 1:
            raise PrcError(f"{name} takes one array, a number per point; got shape {values.shape}")
        inside = (values >= 0) & (values <= 1)
        if not (inside.all() or np.isnan(values).all()):
            raise PrcError(f"{name} must lie in [0, 1]; got {values[~inside][0]}; {_HINT}")
    recall, fpr = rates["recall"], rates["fpr"]
    if len(recall) != len(fpr):
        raise PrcError(f"recall and fpr take one number per point; got {len(recall)} and {len(fpr)}")
    if len(recall) == 0 or np.isnan(recall[0]):
        return None
    has_negatives = not math.isnan(fpr[0])
    fpr = fpr if has_negatives else np.zeros(len(recall))
    if (np.diff(recall) < 0).any() or (np.diff(fpr) < 0).any():
        order = np.lexsort((recall, fpr))
        recall, fpr = recall[order], fpr[order]
        if falls := int((np.diff(recall) < 0).sum()):
            raise PrcError(f"recall falls while fpr rises, at {falls} point(s); {_HINT}")
    end = 1.0 if has_negatives else 0.0
    if recall[-1] < 1 or fpr[-1] < end:
        recall, fpr = np.append(recall, 1.0), np.append(fpr, end)
    return _build_segments(recall, fpr, has_negatives)


def _build_segments(recall: Array, fpr: Array, has_negatives: bool) -> CurveArrays:
    """Return the columns that formulas read, of points in order; `fpr` is 0 without negatives."""
    import numpy as np

    recall_before, fpr_before = (np.append(0.0, rate[:-1]) for rate in (recall, fpr))
    rise = recall - recall_before
    with np.errstate(all="ignore"):
        ratio = fpr / recall
    columns = {
        "recall": recall,
        "fpr": fpr if has_negatives else np.full(len(fpr), math.nan),
        c.RECALL_BEFORE: recall_before,
        c.FPR_BEFORE: fpr_before,
        c.FPR_OR_ZERO: fpr,
        c.RISE: rise,
        c.RUN: fpr - fpr_before,
        c.FPR_RECALL_RATIO: ratio,
        c.ENVELOPE: np.fmin.accumulate(ratio[::-1])[::-1],
    }
    return CurveArrays(columns, has_negatives, float(fpr[rise > 0].min()))


def find_vertices(group: NDArray[Any], recall: Array, fpr: Array) -> NDArray[np.intp]:
    """Return the places of the points that are vertices of the upper hull of their group."""
    # Points are sorted by group, fpr and recall, no two are equal, and each group begins at the origin.
    import numpy as np

    # A point on or below the line between its neighbours is never a vertex, so one pass may drop
    # several. Passes end when slopes fall strictly from each segment to the next.
    kept = np.arange(len(recall))
    while True:
        rise, run, of = np.diff(recall[kept]), np.diff(fpr[kept]), group[kept]
        inside = of[:-2] == of[2:]  # both neighbours are of the same group
        keep = np.ones(len(kept), dtype=bool)
        # Slopes rise / run are compared crosswise: a vertical segment has run 0.
        keep[1:-1] = ~inside | (rise[:-1] * run[1:] > rise[1:] * run[:-1])
        if keep.all():
            return kept
        kept = kept[keep]


def add_shares(terms: Array) -> float:
    """Return the sum of terms, of which each counts as a whole multiple of 1 / SHARE_SCALE."""
    # It is rounded once, as that of a table is, so that the order of the terms does not matter.
    import numpy as np

    whole = np.trunc(terms * SHARE_SCALE)
    whole = whole[np.isfinite(whole)]  # NaN counts as 0
    return math.fsum(whole.tolist()) * (1 / SHARE_SCALE)
