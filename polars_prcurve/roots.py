"""Where differences of functions change sign: all pairs of many functions at once.

    scan      the functions at evenly spaced places, and which differences change sign between two
    refine    where a difference comes near zero and turns back, again on a finer grid
    solve     each change of sign, by inverse quadratic interpolation and halving (Chandrupatla 1997)

A place where a difference is zero and does not change sign is no root.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Places: TypeAlias = NDArray[np.intp]
    Values: TypeAlias = Callable[[Places, Floats], Floats]
    Gap: TypeAlias = Callable[[Places, Floats], Floats]
    _End: TypeAlias = tuple[Floats, Floats]

__all__ = ["Roots", "difference", "expit", "logit", "sign_changes"]

_STEPS = 400
_WIDEST = 0.05
"""The scan has so many steps, or more, of at most this width."""
_FINER = 16
_SOLVED = 1e-11
_NOTHING = 2.0**-50
"""Relative differences up to this are rounding."""
_EQUAL = 1e-300
"""Stands for 0 where it has to have a sign, and is so little that halving goes on."""
_AT_ONCE = 20_000
"""So many pairs are scanned at once."""


class Roots(NamedTuple):
    """One of each for every root."""

    pair: Places
    """Which of the pairs."""
    place: Floats
    falling: NDArray[np.bool_]
    """The first function is the greater below the root, the second one above."""
    parts: NDArray[np.bool_]
    """Not a root: the functions are equal from the low end to here, and the second one is the greater
    above if `falling`, else the first."""


class _Brackets(NamedTuple):
    pair: Places
    low: Floats
    high: Floats
    at_low: Floats
    at_high: Floats


def sign_changes(
    values: Values, a: Places, b: Places, low: float, high: float, *, terms: float = 0.0
) -> Roots:
    """All places between low and high where function number a[i] and number b[i] change order.

    And where they part, see `Roots`. `values` takes numbers of functions and places, and gives NaN where
    there is no value. Where two functions are equal over a stretch, and differ in order on both sides,
    the root is its upper end. Values may be differences of `terms` of this size, and rounded like them.
    """
    import numpy as np

    def gap(pair: Places, places: Floats) -> Floats:
        first, second = np.split(values(np.append(a[pair], b[pair]), np.tile(places, 2)), 2)
        return difference(first, second, terms)

    steps = max(_STEPS, math.ceil((high - low) / _WIDEST))
    step = (high - low) / steps  # and one more beyond either end, for near misses there
    places = np.linspace(low - step, high + step, steps + 3)
    functions = np.unique(np.append(a, b))
    scanned = values(np.repeat(functions, len(places)), np.tile(places, len(functions)))
    scanned = scanned.reshape(len(functions), len(places))
    rows_a, rows_b = np.searchsorted(functions, a), np.searchsorted(functions, b)
    nothing = np.empty(0)
    found = [_Brackets(np.empty(0, dtype=np.intp), nothing, nothing, nothing, nothing)]
    for start in range(0, len(a), _AT_ONCE):
        pair = np.arange(start, min(start + _AT_ONCE, len(a)))
        gaps = difference(scanned[rows_a[pair]], scanned[rows_b[pair]], terms)
        found.append(_partings(pair, places, gaps))
        found += _brackets(gap, pair, np.broadcast_to(places, gaps.shape), gaps)
    brackets = _Brackets(*map(np.concatenate, zip(*found, strict=True)))
    parts = np.abs(brackets.at_low) == _EQUAL
    roots = _once(Roots(brackets.pair, _solved(gap, brackets), brackets.at_low > 0, parts))
    inside = (roots.place > low) & (roots.place < high)
    return Roots(roots.pair[inside], roots.place[inside], roots.falling[inside], roots.parts[inside])


def _once(roots: Roots) -> Roots:
    """In order, without those that two finer grids found, which overlap where two gaps are the least."""
    import numpy as np

    order = np.lexsort((roots.place, roots.pair))
    pair, place = roots.pair[order], roots.place[order]
    falling, parts = roots.falling[order], roots.parts[order]
    here = (np.diff(pair, prepend=-1) == 0) & (np.diff(place, prepend=-np.inf) <= 2 * _SOLVED)
    again = here & (falling == np.roll(falling, 1))
    return Roots(pair[~again], place[~again], falling[~again], parts[~again])


def difference(first: Floats, second: Floats, terms: float) -> Floats:
    """0 where they differ by no more than rounding."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        gap = np.where(first == second, 0.0, first - second)  # infinities, too
        size = np.maximum(np.maximum(np.abs(first), np.abs(second)), terms)
        same = np.abs(gap) <= _NOTHING * size
    return np.where(same & np.isfinite(gap), 0.0, gap)


def _partings(pair: Places, places: Floats, gaps: Floats) -> _Brackets:
    """Of gaps that are 0 at first, the end of that."""
    import numpy as np

    end = (gaps != 0).argmax(axis=1)
    at_end = np.take_along_axis(gaps, end[:, None], axis=1)[:, 0]
    rows = np.flatnonzero((end > 0) & ~np.isnan(at_end))
    end, at_end = end[rows], at_end[rows]
    return _Brackets(pair[rows], places[end - 1], places[end], -np.sign(at_end) * _EQUAL, at_end)


def _brackets(gap: Gap, pair: Places, places: Floats, gaps: Floats) -> Iterator[_Brackets]:
    """Of rows of places and gaps, one per pair: the changes of sign, those of finer grids too."""
    import numpy as np

    yield _changes(pair, places, gaps)
    row, turn = _near_misses(gaps)
    while len(row) > 0:
        pair, ends = pair[row], (places[row, turn - 1], places[row, turn + 1])
        places = np.linspace(*ends, 2 * _FINER + 1, axis=1)
        gaps = gap(np.repeat(pair, places.shape[1]), places.ravel()).reshape(places.shape)
        yield _changes(pair, places, gaps)
        row, turn = _nearest(gaps, *_near_misses(gaps))
        wide = places[row, turn + 1] - places[row, turn - 1] > _SOLVED
        row, turn = row[wide], turn[wide]


def _changes(pair: Places, places: Floats, gaps: Floats) -> _Brackets:
    """Neighbours of opposite sign, but for zeros between them."""
    import numpy as np

    told = np.where((gaps != 0) | np.isnan(gaps), np.arange(gaps.shape[1]), 0)
    before = np.maximum.accumulate(told, axis=1)[:, :-1]
    sign = np.sign(gaps)  # since a product of small gaps is 0
    rows, columns = np.nonzero(np.take_along_axis(sign, before, axis=1) * sign[:, 1:] < 0)
    low, high = before[rows, columns], columns + 1
    return _Brackets(
        pair[rows], places[rows, low], places[rows, high], gaps[rows, low], gaps[rows, high]
    )


def _near_misses(gaps: Floats) -> tuple[Places, Places]:
    """Where a gap is least among its neighbours of the same sign, and bends enough to reach zero."""
    import numpy as np

    left, here, right = gaps[:, :-2], gaps[:, 1:-1], gaps[:, 2:]
    same = (np.sign(left) * np.sign(right) > 0) & (np.sign(left) * np.sign(here) >= 0)
    left, here, right = np.abs(left), np.abs(here), np.abs(right)
    least = (here <= left) & (here <= right) & (3 * here <= left + right) & np.isfinite(here)
    rows, columns = np.nonzero(same & least)
    return rows, columns + 1


def _nearest(gaps: Floats, row: Places, turn: Places) -> tuple[Places, Places]:
    """One of each row: where a finer grid has more, they are rounding, and would multiply."""
    import numpy as np

    order = np.lexsort((np.abs(gaps[row, turn]), row))
    row, first = np.unique(row[order], return_index=True)
    return row, turn[order][first]


def _solved(gap: Gap, brackets: _Brackets) -> Floats:
    """The change of sign in each bracket, to within _SOLVED."""
    import numpy as np

    pair, (b, a, at_b, at_a) = brackets.pair, (part.copy() for part in brackets[1:])
    c, at_c, share = b.copy(), at_b.copy(), np.full(len(b), 0.5)
    falling = np.sign(at_b)
    todo = np.arange(len(b))
    while len(todo) > 0:
        place = a[todo] + share[todo] * (b[todo] - a[todo])
        value = gap(pair[todo], place)
        # A zero is on the lower side.
        value = np.where(value == 0, falling[todo] * _EQUAL, value)
        same = np.sign(value) == np.sign(at_a[todo])
        c[todo], at_c[todo] = np.where(same, a[todo], b[todo]), np.where(same, at_a[todo], at_b[todo])
        b[todo] = np.where(same, b[todo], a[todo])
        at_b[todo] = np.where(same, at_b[todo], at_a[todo])
        a[todo], at_a[todo] = place, value
        width = np.abs(b[todo] - a[todo])
        todo = todo[width > _SOLVED]
        share[todo] = _next((a[todo], at_a[todo]), (b[todo], at_b[todo]), (c[todo], at_c[todo]))
    return np.where(np.abs(at_a) < np.abs(at_b), a, b)


def _next(*ends: _End) -> Floats:
    """How far from a to b to look next, c being where b or a was before."""
    import numpy as np

    (a, at_a), (b, at_b), (c, at_c) = ends
    with np.errstate(all="ignore"):
        xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        curved = (phi * phi < xi) & ((1 - phi) ** 2 < 1 - xi)
        share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
        share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        least = np.minimum(0.4 * _SOLVED / np.abs(b - a), 0.5)
    return np.clip(np.where(curved & np.isfinite(share), share, 0.5), least, 1 - least)


def logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)


def expit(place: Floats) -> Floats:
    """The prevalence of a logit."""
    import numpy as np

    return 1 / (1 + np.exp(-place))
