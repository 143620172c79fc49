"""One curve as NumPy arrays: its points, the segments between them, and exact sums of shares.

recall, fpr -> points     checked, sorted along the curve, and led to (1, 1)
            -> segments   each point with the point before it, first the origin
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from polars_prcurve.core.ground.argument_checks import read_numbers
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import SHARE_SCALE
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import add_noun
from polars_prcurve.core.metrics.point_metric import Amount, Array, PointMetric
from polars_prcurve.core.metrics.segment_column_names import Segment

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class CurveArrays(NamedTuple):
    """The segments of a curve with positives: the columns of a table of segments, as arrays."""

    columns: Mapping[str, Array]  # the columns by name; `fpr` is NaN without negatives
    has_negatives: bool
    least_fpr: float  # the least fpr of the points at which recall rises; 0 without negatives
    scale_classes: Callable[[np.float64], tuple[Any, Any]] | None = None
    """Returns by how much a prevalence scales both classes; None if the columns have no counts."""

    def compute_metric(
        self, metric: PointMetric, *, read: Callable[[str], Array], eta: np.float64
    ) -> Amount:
        """Return a metric at each point that is read: from counts if they are known, or from rates."""
        rates = read("recall"), read("fpr")
        if self.scale_classes is None:
            return metric.from_curve(*rates, eta)
        cells = map(read, ("tp", "fn", "fp", "tn"))
        return metric.from_cells(cells, self.scale_classes(eta), rates, eta)

    def select_rises(self) -> CurveArrays:
        """Return the segments on which recall rises."""
        is_rising = self.columns[Segment.RISE] > 0
        if is_rising.all():
            return self
        return self._replace(
            columns={column_name: values[is_rising] for column_name, values in self.columns.items()}
        )

    def build_hull(self) -> CurveArrays:
        """Return the segments of the upper convex hull of the curve."""
        recall, fpr = (
            np.append(0.0, self.columns[column_name]) for column_name in ("recall", Segment.FPR_OR_ZERO)
        )
        is_distinct = np.append(True, (np.diff(recall) > 0) | (np.diff(fpr) > 0))
        recall, fpr = recall[is_distinct], fpr[is_distinct]
        vertex_indices = find_vertices(np.zeros(len(recall)), recall, fpr)
        hull = _build_segments(
            recall[vertex_indices][1:], fpr[vertex_indices][1:], self.has_negatives, len(recall)
        )
        return hull._replace(least_fpr=self.least_fpr)


# The end of errors about points that nobody would write by hand
_HINT = "labels and scores become points by roc_points(label, score)"


def read_curve(recall: ArrayLike, fpr: ArrayLike) -> CurveArrays | None:
    """Return the curve through points; None without any, or without positives, whose rates are NaN."""
    array_by_rate = {"recall": read_numbers("recall", recall), "fpr": read_numbers("fpr", fpr)}
    for argument_name, rates in array_by_rate.items():
        if rates.ndim != 1:
            raise PrcError(
                f"{argument_name} takes one array, a number per point; got shape {rates.shape}"
            )
        is_rate = (rates >= 0) & (rates <= 1)
        if not (is_rate.all() or np.isnan(rates).all()):
            raise PrcError(f"{argument_name} must lie in [0, 1]; got {rates[~is_rate][0]}; {_HINT}")
    recall, fpr = array_by_rate["recall"], array_by_rate["fpr"]
    if len(recall) != len(fpr):
        raise PrcError(f"recall and fpr take one number per point; got {len(recall)} and {len(fpr)}")
    if len(recall) == 0 or np.isnan(recall[0]):
        return None
    has_negatives = not math.isnan(fpr[0])
    fpr = fpr if has_negatives else np.zeros(len(recall))
    if (np.diff(recall) < 0).any() or (np.diff(fpr) < 0).any():
        row_order = np.lexsort((recall, fpr))
        recall, fpr = recall[row_order], fpr[row_order]
        if n_falls := int((np.diff(recall) < 0).sum()):
            raise PrcError(
                "recall and fpr take points of one curve, and recall falls where fpr rises, at "
                f"{add_noun(n_falls, 'point')}; {_HINT}"
            )
    last_fpr, n_listed_points = 1.0 if has_negatives else 0.0, len(recall)
    if recall[-1] < 1 or fpr[-1] < last_fpr:
        recall, fpr = np.append(recall, 1.0), np.append(fpr, last_fpr)
    return _build_segments(recall, fpr, has_negatives, n_listed_points)


def _build_segments(recall: Array, fpr: Array, has_negatives: bool, n_listed_points: int) -> CurveArrays:
    """Return the columns that formulas read, of points in order; `fpr` is 0 without negatives."""
    recall_before, fpr_before = (np.append(0.0, rate[:-1]) for rate in (recall, fpr))
    rise = recall - recall_before
    with np.errstate(all="ignore"):
        fpr_recall_ratio = fpr / recall
    array_by_column = {
        "recall": recall,
        "fpr": fpr if has_negatives else np.full(len(fpr), math.nan),
        Segment.RECALL_BEFORE: recall_before,
        Segment.FPR_BEFORE: fpr_before,
        Segment.IS_ADDED: np.arange(len(recall)) >= n_listed_points,
        Segment.FPR_OR_ZERO: fpr,
        Segment.RISE: rise,
        Segment.RUN: fpr - fpr_before,
        Segment.FPR_RECALL_RATIO: fpr_recall_ratio,
        Segment.ENVELOPE: np.fmin.accumulate(fpr_recall_ratio[::-1])[::-1],
    }
    return CurveArrays(array_by_column, has_negatives, float(fpr[rise > 0].min()))


def find_vertices(group_numbers: NDArray[Any], recall: Array, fpr: Array) -> NDArray[np.intp]:
    """Return the places of the points that are vertices of the upper hull of their group."""
    # Points are sorted by group, fpr and recall, no two are equal, and each group begins at the origin.
    # A point on or below the line between its neighbours is never a vertex, so one pass may drop
    # several. Passes end when slopes fall strictly from each segment to the next.
    candidate_indices = np.arange(len(recall))
    while True:
        rises, runs = np.diff(recall[candidate_indices]), np.diff(fpr[candidate_indices])
        candidate_groups = group_numbers[candidate_indices]
        # Are both neighbours of the same group?
        has_both_neighbours = candidate_groups[:-2] == candidate_groups[2:]
        may_be_vertex = np.ones(len(candidate_indices), dtype=bool)
        # Slopes rise / run are compared crosswise: a vertical segment has run 0.
        may_be_vertex[1:-1] = ~has_both_neighbours | (rises[:-1] * runs[1:] > rises[1:] * runs[:-1])
        if may_be_vertex.all():
            return candidate_indices
        candidate_indices = candidate_indices[may_be_vertex]


def take_at(position: int) -> Callable[[Array], float]:
    """Return the function from an array to its value at a place, the first or the last; NaN of none."""
    return lambda values: values[position] if len(values) else math.nan


BLOCK = 2**14
"""As many terms are computed at a time: their arrays stay in the cache of a processor."""
_LEAST_WHOLE_SHARE = 2.0**53 / SHARE_SCALE
"""Floats that are at least as large are whole multiples of 1 / SHARE_SCALE as they are."""


def split_sum(shares: Array) -> Iterator[Any]:
    """Yield a few numbers, whose sum is that of shares as whole multiples of 1 / SHARE_SCALE.

    It is exact, so that no order of the shares changes what `math.fsum` makes of the numbers. NaN counts
    as 0. Of shares in lines they are arrays, with one number per line.
    """
    # Multiples of a unit that add up to at most 2**53 of it lose nothing, in any order. Shares are cut
    # into such multiples and rests, until no rest is left. Rests of shares of about one size are
    # multiples of a unit, too, so that usually the first cut is the last.
    count_bits = max(2, shares.shape[-1].bit_length())
    least_share, greatest_share = _find_least_and_greatest(shares)
    if not (math.isfinite(least_share) and math.isfinite(greatest_share)):
        shares = np.where(np.isfinite(shares), shares, 0.0)
        least_share, greatest_share = _find_least_and_greatest(shares)
    if least_share < _LEAST_WHOLE_SHARE:
        shares = np.trunc(shares * SHARE_SCALE) * (1 / SHARE_SCALE)
    while least_share < 0 or greatest_share > 0:
        share_exponent = math.frexp(max(-least_share, greatest_share))[1]
        # 2**52 units, and half of it for what is < 0
        rounding_shift = math.ldexp(1.5, share_exponent + count_bits - 1)
        multiples = (shares + rounding_shift) - rounding_shift
        shares = shares - multiples
        yield multiples.sum(axis=-1)
        if least_share > 0 and greatest_share <= math.ldexp(least_share, 53 - 2 * count_bits):
            yield shares.sum(axis=-1)
            return
        least_share, greatest_share = _find_least_and_greatest(shares)


def _find_least_and_greatest(values: Array) -> tuple[float, float]:
    """Return the least and the greatest number; 0 and 0 of none."""
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
