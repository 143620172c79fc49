"""The areas under the precision-recall-gain curve, from recall gain 0 on.

Recall gain is 0 where recall is eta. So a segment counts from there on, and its width is its step in
recall gain, `eta / (1 - eta) * (1 / start - 1 / recall)`.

Sources: (W) Williams 2021, (FK) Flach and Kull 2015.
"""

from __future__ import annotations

import math

from polars_prcurve import column_names as c
from polars_prcurve.metrics.curve_metric import LEAST_ETA, CurveFacts, Rows, declare_curve, declare_like
from polars_prcurve.metrics.elementwise import Cell, choose_where, keep_where, maximum, minimum


def _require_gains(value: Cell, facts: CurveFacts) -> Cell:
    """Return the area, or null where it is undefined: at eta = 1, as recall gain, and near eta = 0."""
    # An area may be as low as -1 / eta, which is too far below 0 for the sum if eta is below LEAST_ETA.
    inside = (facts.eta >= LEAST_ETA) & (facts.eta < 1)
    area = value / _gain_unit(facts.eta)
    return keep_where(facts.has_positives & facts.has_negatives & inside, area)


def _gain_unit(eta: Cell) -> Cell:
    """Return the factor that keeps sums of areas between -2**9 and 1, so that they fit."""
    return maximum(eta, 2.0**-60)


_START, _WIDTH = f"{c.RESERVED}gain_start", f"{c.RESERVED}gain_width"
_GAIN_BEFORE, _GAIN = f"{c.RESERVED}gain_before", f"{c.RESERVED}gain"


def _bind_start(rows: Rows) -> dict[str, Cell]:
    """Bind the recall at which the part of a segment that counts starts, eta or above."""
    return {_START: maximum(rows.recall_before, rows.eta)}


def _bind_ends(rows: Rows) -> dict[str, Cell]:
    """Bind the width of the part of a segment that counts, and precision gain at both its ends."""
    eta, start = rows.eta, rows.column(_START)
    share = (start - rows.recall_before) / rows.rise  # of the segment that does not count
    fpr = rows.fpr_before + rows.run * share
    width = _gain_unit(eta) * (eta / (1 - eta)) * (rows.recall - start) / (start * rows.recall)
    return {
        _WIDTH: choose_where(rows.recall > start, width, 0.0),
        _GAIN_BEFORE: 1 - fpr / start,
        _GAIN: 1 - rows.fpr / rows.recall,
    }


@declare_curve(
    source="W 8-9, FK", range=(-math.inf, 1.0), finish=_require_gains, steps=(_bind_start, _bind_ends)
)
def auprg(rows: Rows) -> Cell:
    """The area under precision gain by recall gain, from recall gain 0 on; negative gains subtract."""
    width = rows.column(_WIDTH)
    mean = (rows.column(_GAIN_BEFORE) + rows.column(_GAIN)) / 2
    return choose_where(width > 0, width * mean, 0.0)


@declare_curve(source="W 8-9, FK", finish=_require_gains, steps=(_bind_start, _bind_ends))
def auprg_clipped(rows: Rows) -> Cell:
    """The area `auprg` with 0 in place of negative precision gains."""
    width, start, end = map(rows.column, (_WIDTH, _GAIN_BEFORE, _GAIN))
    high, low = maximum(start, end), minimum(start, end)
    triangle = high * high / (2 * (high - low))  # the mean gain of a segment that crosses 0
    mean = choose_where(low >= 0, (start + end) / 2, choose_where(high <= 0, 0.0, triangle))
    return choose_where(width > 0, width * mean, 0.0)


@declare_like(auprg, on_hull=True)
def auprg_hull(area: Cell, facts: CurveFacts) -> Cell:
    """The area `auprg` of the convex hull of the ROC curve."""
    return _require_gains(area, facts)
