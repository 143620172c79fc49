"""ROC curves of models against each other: which lies above which, and where they cross.

A curve is its points joined by straight lines, from (0, 0) to (1, 1). Along the falling diagonals
`recall + fpr = s` it has one point each, so that curves are compared by `recall - fpr` as a function of
s, in which corners are joined by straight lines again.

A curve that is nowhere below another has at least its precision at every recall and at every
prevalence. Which models can be best in accuracy, cost or net benefit tells the hull of all together.

Source: Provost and Fawcett 2001.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from polars_prcurve.bands import Collect
from polars_prcurve.columns import FPR, FPR_BEFORE, GROUP, MODEL, N_NEG, N_POS, RECALL_BEFORE, RESERVED
from polars_prcurve.curve_metrics import CURVE_METRICS
from polars_prcurve.curves import curves_in_memory
from polars_prcurve.hull import upper_hull
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.models import Models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["DOMINANCE", "ROC_CROSSINGS", "dominance_table", "roc_crossings_table"]

DOMINANCE = ("model", "dominates", "dominated_by", "on_hull")
ROC_CROSSINGS = ("model_a", "model_b", "fpr", "recall")
_ROUNDING = 1e-12
_MODEL, _GROUP = f"{RESERVED}model_number", f"{RESERVED}group_number"


class _Roc(NamedTuple):
    """A curve, in the direction from all negative to all positive."""

    s: Floats
    """recall + fpr, rising."""
    d: Floats
    """recall - fpr."""


def roc_crossings_table(table: Input, *, run: Collect) -> pl.DataFrame:
    """`by`, and ROC_CROSSINGS."""
    import numpy as np

    models, curves, _ = _curves(table, run)
    found: list[tuple[int, int, float, float]] = []
    for a, b in zip(*models.pairs(), strict=True):
        for s, d, falls in _crossings(curves[a], curves[b]):
            found.append((*((a, b) if falls else (b, a)), (s - d) / 2, (s + d) / 2))
    first, second, fpr, recall = (np.array([row[i] for row in found]) for i in range(4))
    first, second = first.astype(np.intp), second.astype(np.intp)
    order = np.lexsort((second, first, recall, fpr, models.groups()[first]))
    return models.table(
        first[order],
        model_a=models.names(first[order]),
        model_b=models.names(second[order]),
        fpr=fpr[order],
        recall=recall[order],
    )


def dominance_table(table: Input, *, run: Collect) -> pl.DataFrame:
    """`by`, and DOMINANCE."""
    import numpy as np

    models, curves, on_hull = _curves(table, run)
    below: list[list[int]] = [[] for _ in curves]
    above: list[list[int]] = [[] for _ in curves]
    for a, b in zip(*models.pairs(), strict=True):
        _, gaps = _gaps(curves[a], curves[b])
        if gaps.any() and ((gaps >= 0).all() or (gaps <= 0).all()):
            best, other = (a, b) if (gaps >= 0).all() else (b, a)
            below[best].append(other)
            above[other].append(best)
    lists = {
        name: pl.Series([models.names(np.array(rows, dtype=np.intp)) for rows in found], dtype=dtype)
        for dtype in [pl.List(models.frame.schema[MODEL])]
        for name, found in (("dominates", below), ("dominated_by", above))
    }
    every = np.arange(len(curves))
    return models.table(every, model=models.names(every), **lists, on_hull=on_hull)


def _curves(table: Input, run: Collect) -> tuple[Models, list[_Roc], pl.Series]:
    """Each model's curve, without any points where it has one class only; and whether the common hull
    of its `by` group has a corner that is a point of it."""
    import numpy as np

    held = curves_in_memory(table, [CURVE_METRICS["roc_auc"]], collect=run)
    frame = run(held.groups, "")
    models = Models(frame.select(*table.by))
    both = pl.all_horizontal(pl.col(N_POS, N_NEG).is_not_null())
    known = frame.select(both if isinstance(table, ScoreTable) else pl.lit(True)).to_series()
    known = pl.Series(np.broadcast_to(known.to_numpy(), len(frame)))
    numbered = (
        frame.select(GROUP).with_row_index(_MODEL).with_columns(pl.Series(_GROUP, models.groups()))
    )
    rises = run(held.segments[False], "").join(numbered.filter(known), on=GROUP)
    starts = rises.select(_MODEL, _GROUP, recall=RECALL_BEFORE, fpr=FPR_BEFORE)
    ends = rises.select(_MODEL, _GROUP, recall="recall", fpr=FPR)
    points = pl.concat([starts, ends]).unique()
    curves = [_Roc(np.empty(0), np.empty(0))] * len(frame)
    for [model], own in points.partition_by(_MODEL, as_dict=True).items():
        s, d = (own["recall"] + own["fpr"]).to_numpy(), (own["recall"] - own["fpr"]).to_numpy()
        order = np.lexsort((d, s))
        curves[model] = _Roc(np.r_[0.0, s[order], 2.0], np.r_[0.0, d[order], 0.0])
    return models, curves, _on_hull(points, known)


def _on_hull(points: pl.DataFrame, known: pl.Series) -> pl.Series:
    """Null for a model without a curve."""
    of_group = points.select(pl.col(_GROUP).alias(GROUP), "recall", pl.col("fpr").alias(FPR))
    ends = of_group.select(pl.col(GROUP).unique(), recall=pl.lit(1.0)).with_columns(
        pl.lit(1.0).alias(FPR)
    )
    corners = upper_hull(pl.concat([of_group, ends])).filter(_bends())
    on = points.join(corners, left_on=[_GROUP, "recall", "fpr"], right_on=[GROUP, "recall", "fpr"])
    every = pl.int_range(len(known), eager=True)
    return pl.select(pl.when(known).then(every.is_in(on[_MODEL].implode()))).to_series()


def _bends() -> pl.Expr:
    """Of the points of hulls, each from the one above the origin to (1, 1): by more than rounding."""
    rise, run = (
        pl.col(name) - pl.col(name).shift(1, fill_value=0.0).over(GROUP) for name in ("recall", "fpr")
    )
    rise_after, run_after = (step.shift(-1).over(GROUP) for step in (rise, run))
    rounding = 2.0**-52 * (rise + run + rise_after + run_after)
    return rise * run_after - rise_after * run > rounding


def _crossings(a: _Roc, b: _Roc) -> Iterator[tuple[float, float, bool]]:
    """s and d where the order changes, and whether a is above before; of a stretch on which the
    curves are one, its upper end."""
    import numpy as np

    knots, gaps = _gaps(a, b)
    told = np.flatnonzero(gaps)
    for before, after in pairwise(told):
        if gaps[before] * gaps[after] < 0:
            if after - before > 1:
                s = knots[after - 1]
            else:
                share = gaps[before] / (gaps[before] - gaps[after])
                s = knots[before] + share * (knots[after] - knots[before])
            yield float(s), float(np.interp(s, a.s, a.d)), bool(gaps[before] > 0)


def _gaps(a: _Roc, b: _Roc) -> tuple[Floats, Floats]:
    """At the corners of either, how far a is above b; 0 for rounding."""
    import numpy as np

    if not (len(a.s) and len(b.s)):
        return np.empty(0), np.empty(0)
    knots = np.union1d(a.s, b.s)
    gaps = np.interp(knots, a.s, a.d) - np.interp(knots, b.s, b.d)
    return knots, np.where(np.abs(gaps) <= _ROUNDING, 0.0, gaps)
