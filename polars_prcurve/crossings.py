"""Prevalences at which models trade places, and who is best in between.

    sweep of each model -> curves    in memory, since they are asked at many prevalences
                        -> values    of all models on a grid of prevalences
    pairs of models     -> roots     where the difference of two changes sign
    roots               -> leaders   from one overtaking to the next

Operating points trade places where an equation says, so that no grid is needed.

Source: Brabec et al. 2020, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve.bands import Collect
from polars_prcurve.columns import FOUND, GROUP, PAIR
from polars_prcurve.curve_metrics import CurveMetric
from polars_prcurve.curves import curves_in_memory, numbered
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import Input
from polars_prcurve.models import Models
from polars_prcurve.operating_points import points_at_any_eta
from polars_prcurve.point_metrics import PointMetric, point_metrics
from polars_prcurve.prevalence import Grid
from polars_prcurve.roots import Roots, difference, expit, logit, sign_changes
from polars_prcurve.targets import Judge, better

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from polars_prcurve.roots import Floats, Places, Values

__all__ = ["CROSSINGS", "LEADERS", "Contest", "contest", "crossing", "crossings_of", "leaders_of"]

CROSSINGS = ("model_a", "model_b", "eta", "value")
LEADERS = ("eta_low", "eta_high", "model")
_ONE_PLACE = 1e-9


def crossing(a: tuple[float, float], b: tuple[float, float], metric: str | PointMetric) -> float | None:
    """The prevalence at which two operating points trade places on a metric; None if never.

    A point is `(recall, fpr)`. Below the prevalence one point is better, above it the other.
    Metrics that do not depend on prevalence never cross. Nor do precision, fdr and lift, which
    order points by `recall / fpr` at every prevalence, nor npv and false_omission_rate, which
    order them by `(1 - recall) / (1 - fpr)`.

    Examples
    --------
    >>> round(crossing((0.9, 0.01), (0.6, 0.001), "f1"), 6)
    0.016716
    >>> crossing((0.9, 0.01), (0.6, 0.001), "precision") is None
    True
    """
    [asked] = point_metrics(metric)
    for rate in (*a, *b):
        if not 0 <= rate <= 1:
            raise PrcError(f"a point is (recall, fpr), both in [0, 1]; got {a} and {b}")
    if asked.ties is None:
        raise PrcError(f"where points tie on {asked.name!r}, a metric of your own, has no closed form")
    found = sorted(set(_inside(asked.ties(a, b))))
    if len(found) > 1:
        values = " and ".join(f"{eta:.6g}" for eta in found)
        raise PrcError(f"the points trade places on {asked.name} more than once, at eta {values}")
    return found[0] if found else None


def _inside(odds: Iterable[float]) -> Iterable[float]:
    return (r / (1 + r) for r in odds if 0 < r < math.inf)


class Swaps(NamedTuple):
    """One of each for every change of order."""

    overtaken: Places
    by: Places
    places: Floats
    parts: NDArray[np.bool_]
    """Both are equal below."""

    def where(self, rows: NDArray[np.bool_] | Places) -> Swaps:
        return Swaps(self.overtaken[rows], self.by[rows], self.places[rows], self.parts[rows])


@dataclass(frozen=True)
class Contest:
    """Models of one or several `by` groups, and what they score at any prevalence."""

    models: Models
    values: Values
    """From numbers of models and logits of prevalence to scores, of which the greater is better."""
    sign: float
    """What a score is the metric times."""
    low: float
    high: float
    """Logits of prevalence."""
    terms: float
    """Of which size are the terms of a score that is a difference, which may cancel; else 0."""
    point: PointMetric | None = None
    """What is scored is this, of points that stay where they are."""
    points: list[tuple[float, float]] | None = None

    def swaps(self) -> Swaps:
        """In the order of places."""
        import numpy as np

        a, b = self.models.pairs()
        if self.point is None or self.point.ties is None:
            roots = sign_changes(self.values, a, b, self.low, self.high, terms=self.terms)
        else:
            roots = self._solved(a, b)
        order = np.argsort(roots.place)
        first, second, falling = a[roots.pair][order], b[roots.pair][order], roots.falling[order]
        overtaken, by = np.where(falling, first, second), np.where(falling, second, first)
        return Swaps(overtaken, by, roots.place[order], roots.parts[order])

    def _solved(self, a: Places, b: Places) -> Roots:
        """Where points trade places in closed form: the metric's equation may have several solutions,
        and at some points only touch."""
        import numpy as np

        found = [
            (pair, place, falling)
            for pair in range(len(a))
            for place, falling in self._ties(int(a[pair]), int(b[pair]))
        ]
        pair, place, falling = (np.array([root[i] for root in found]) for i in range(3))
        parts = np.zeros(len(found), dtype=bool)
        return Roots(pair.astype(np.intp), place.astype(float), falling.astype(bool), parts)

    def _ties(self, a: int, b: int) -> Iterator[tuple[float, bool]]:
        import numpy as np

        if self.point is None or self.points is None or self.point.ties is None:
            return
        ties = {math.log(r) for r in self.point.ties(self.points[a], self.points[b]) if 0 < r < math.inf}
        ends = [self.low, *sorted(x for x in ties if self.low < x < self.high), self.high]
        middles = (np.array(ends[:-1]) + ends[1:]) / 2
        many = np.full(len(middles), 1)
        gaps = self.values(many * a, middles) - self.values(many * b, middles)
        for place, below, above in zip(ends[1:-1], gaps, gaps[1:], strict=False):
            if np.sign(below) * np.sign(above) < 0:
                yield place, below > 0


def contest(
    table: Input,
    judge: Judge,
    eta_range: tuple[float, float],
    *,
    run: Collect,
) -> Contest:
    """Collect what the models of a table score, by a metric of curves, or one of points at a target."""
    import numpy as np

    metric, targets = judge
    low, high = _logits(eta_range)
    if not metric.depends_on_eta:
        raise PrcError(f"{metric.name} does not depend on prevalence, so that no models trade places")
    sign, terms = better(metric), 1.0 if metric.range[0] < 0 else 0.0
    if isinstance(metric, CurveMetric):
        curves = curves_in_memory(table, [metric], collect=run)
        models = run(curves.groups, "")
        numbers = models[GROUP]
        [name] = named = numbered([metric])

        def of_curves(models: Places, places: Floats) -> Floats:
            order = np.lexsort((places, models))
            asked = pl.DataFrame({GROUP: numbers.gather(models[order]), "eta": expit(places[order])})
            grid = Grid(asked.lazy(), {GROUP: pl.UInt32()})
            pairs = curves.at(grid).filter(pl.col(FOUND).is_not_null())
            values = run(curves.values(pairs, named).select(PAIR, name).sort(PAIR), "")
            scores = np.empty(len(order))
            scores[order] = values[name].fill_null(math.nan).to_numpy() * sign
            return scores

        return Contest(Models(models.select(*table.by)), of_curves, sign, low, high, terms)
    found = run(points_at_any_eta(table, targets, [], collect=run), "")
    rates = found.select(pl.col("recall", "fpr").fill_null(math.nan)).to_numpy()

    def of_points(models: Places, places: Floats) -> Floats:
        with np.errstate(all="ignore"):
            scores: Floats = metric.of_rates(rates[models, 0], rates[models, 1], expit(places)) * sign
            return scores

    points = [(recall, fpr) for recall, fpr in rates.tolist()]
    return Contest(Models(found.select(*table.by)), of_points, sign, low, high, terms, metric, points)


def _logits(eta_range: Any) -> tuple[float, float]:
    try:
        low, high = map(float, eta_range)
    except (TypeError, ValueError):
        low = high = math.nan
    if not 0 < low < high < 1:
        raise PrcError(
            f"eta_range= is two prevalences, 0 < low < high < 1; got {eta_range!r} (at 1 "
            "all models meet)"
        )
    return logit(low), logit(high)


def crossings_of(found: Contest) -> pl.DataFrame:
    """`by`, and CROSSINGS."""
    import numpy as np

    leads, follows, places, parts = found.swaps()
    order = np.lexsort((follows, leads, places, found.models.groups()[leads]))
    order = order[~parts[order]]
    leads, follows, places = leads[order], follows[order], places[order]
    return found.models.table(
        leads,
        model_a=found.models.names(leads),
        model_b=found.models.names(follows),
        eta=expit(places),
        value=found.values(leads, places) * found.sign,
    )


def leaders_of(found: Contest) -> pl.DataFrame:
    """`by`, and LEADERS: of models that are equal, the first in order."""
    import numpy as np

    swaps = found.swaps()
    base = found.models.groups()
    starts = np.full(len(base), found.high)
    np.minimum.at(starts, base[swaps.by] - 1, swaps.places)
    every = np.arange(len(base))
    values = found.values(every, (found.low + starts[base - 1]) / 2)
    rows: list[tuple[int, float, float]] = []
    for group in np.unique(base):
        models = every[(base == group) & ~np.isnan(values)]
        if len(models) > 0:
            own = swaps.where(np.isin(swaps.by, models) & np.isin(swaps.overtaken, models))
            gaps = difference(values[models, None], values[models], found.terms)
            rows += _stretches(models, gaps > 0, own, found.low, found.high)
    models, low, high = (np.array([row[i] for row in rows]) for i in range(3))
    models = models.astype(np.intp)
    names = found.models.names(models)
    return found.models.table(models, eta_low=expit(low), eta_high=expit(high), model=names)


def _stretches(
    models: Places, ahead: NDArray[np.bool_], swaps: Swaps, low: float, high: float
) -> Iterator[tuple[int, float, float]]:
    """From one overtaking of the leader to the next, `ahead` being who is ahead of whom before."""
    import numpy as np

    leader = int(np.argmin(ahead.sum(axis=0)))
    overtaken, by = np.searchsorted(models, swaps.overtaken), np.searchsorted(models, swaps.by)
    ends = np.flatnonzero(np.diff(swaps.places, append=np.inf) > _ONE_PLACE) + 1
    start = 0
    for end in ends.tolist():
        place = float(swaps.places[start])
        for loser, winner in zip(overtaken[start:end], by[start:end], strict=True):
            ahead[loser, winner], ahead[winner, loser] = False, True
        if ahead[:, leader].any():
            if place - low > _ONE_PLACE:
                yield int(models[leader]), low, place
                low = place
            leader = int(np.argmin(ahead.sum(axis=0)))
        start = end
    yield int(models[leader]), low, high
