"""Places at which the difference of two functions changes sign, for all pairs of many functions at once.

    scan      evaluate the functions at evenly spaced places; bracket each change of sign
    refine    scan again, on a finer grid, where a difference comes near zero and turns back
    solve     narrow each bracket, by inverse quadratic interpolation or halving (Chandrupatla 1997)

The *gap* of a pair is its first function less its second. A place where the gap is zero without a change
of sign is no root. Two roots between neighbours of the scan are found only if `refine` looks there.

Source: Chandrupatla 1997, Advances in Engineering Software 28.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]  # places, or gaps of two models there
Indices: TypeAlias = NDArray[np.intp]  # numbers of pairs, rows or columns
Evaluate: TypeAlias = Callable[[Indices, Floats], Floats]
"""From numbers of functions, or of pairs, and a place for each, to values, or to gaps."""
_PlaceAndGap: TypeAlias = tuple[Floats, Floats]  # an end of each bracket, and the gap there
_SCAN_STEPS = 400  # the scan has at least this number of steps
_MAX_STEP = 0.05  # the scan has steps of at most this width
_REFINEMENT = 16  # a finer grid has this number of steps in place of one
_TOLERANCE = 1e-11  # the width at which a bracket is narrow enough
_ROUNDING = 2.0**-50
"""Relative differences of values up to this are rounding: 4 units in the last place of a float."""
_TINY = 1e-300
"""Stands for a gap of 0 that needs a sign. Beside two such gaps in a row the solver halves."""
_MAX_PAIRS = 20_000  # the number of pairs that are scanned at once, which bounds the memory


class Roots(NamedTuple):
    """Roots of many pairs, as columns with an item per root."""

    pair: Indices  # the number of the pair
    place: Floats
    falling: NDArray[np.bool_]  # below the root the first function is greater, above it the second one
    # The place is where two functions part, not a root: they are equal from the low end to here. Above,
    # the second function is greater if `falling`, otherwise the first.
    is_parting: NDArray[np.bool_]

    def select(self, rows: NDArray[np.bool_] | Indices) -> Roots:
        """Return some of the roots."""
        return Roots._make(column[rows] for column in self)


class _Brackets(NamedTuple):
    """Intervals with gaps of opposite sign at their ends, as columns with an item per interval."""

    pair: Indices
    low: Floats
    high: Floats
    at_low: Floats
    at_high: Floats


def find_sign_changes(
    values: Evaluate, a: Indices, b: Indices, low: float, high: float, *, term_size: float = 0.0
) -> Roots:
    """Return all places between low and high at which functions a[i] and b[i] change order, or part."""

    def gap(pair: Indices, places: Floats) -> Floats:
        first, second = np.split(values(np.append(a[pair], b[pair]), np.tile(places, 2)), 2)
        return subtract_rounded(first, second, term_size)

    # If functions are equal over a stretch, the root is its upper end. If values are differences of
    # terms of the size `term_size`, the rounding errors of these remain when they cancel.
    steps = max(_SCAN_STEPS, math.ceil((high - low) / _MAX_STEP))
    step = (high - low) / steps
    # One step more beyond either end: a near miss at the end needs neighbours on both sides.
    places = np.linspace(low - step, high + step, steps + 3)
    functions = np.unique(np.append(a, b))
    scanned = values(np.repeat(functions, len(places)), np.tile(places, len(functions)))
    scanned = scanned.reshape(len(functions), len(places))
    rows_a, rows_b = np.searchsorted(functions, a), np.searchsorted(functions, b)
    nothing = np.empty(0)
    parts = [_Brackets(np.empty(0, dtype=np.intp), nothing, nothing, nothing, nothing)]
    for start in range(0, len(a), _MAX_PAIRS):
        pair = np.arange(start, min(start + _MAX_PAIRS, len(a)))
        gaps = subtract_rounded(scanned[rows_a[pair]], scanned[rows_b[pair]], term_size)
        parts.append(_bracket_partings(pair, places, gaps))
        parts += _find_brackets(gap, pair, np.broadcast_to(places, gaps.shape), gaps)
    brackets = _Brackets(*map(np.concatenate, zip(*parts, strict=True)))
    is_parting = np.abs(brackets.at_low) == _TINY
    roots = Roots(brackets.pair, _solve_brackets(gap, brackets), brackets.at_low > 0, is_parting)
    roots = roots.select(np.lexsort((roots.place, roots.pair)))
    # If two neighbouring gaps are equal, both are near misses, and their finer grids overlap: each root
    # counts once. Two real roots side by side have opposite directions.
    near = np.diff(roots.place, prepend=-np.inf) <= 2 * _TOLERANCE
    near &= np.diff(roots.pair, prepend=-1) == 0
    roots = roots.select(~(near & (roots.falling == np.roll(roots.falling, 1))))
    return roots.select((roots.place > low) & (roots.place < high))


def subtract_rounded(first: Floats, second: Floats, term_size: float) -> Floats:
    """Return first less second, and 0 where they differ by no more than rounding."""
    with np.errstate(invalid="ignore"):
        gap = np.where(first == second, 0.0, first - second)  # equal infinities have the gap 0, not NaN
        size = np.maximum(np.maximum(np.abs(first), np.abs(second)), term_size)
        is_equal = np.abs(gap) <= _ROUNDING * size
    return np.where(is_equal & np.isfinite(gap), 0.0, gap)


def _bracket_partings(pair: Indices, places: Floats, gaps: Floats) -> _Brackets:
    """Return a bracket around the place where a row of gaps that starts with 0 parts from 0."""
    end = (gaps != 0).argmax(axis=1)
    at_end = np.take_along_axis(gaps, end[:, None], axis=1)[:, 0]
    rows = np.flatnonzero((end > 0) & ~np.isnan(at_end))
    end, at_end = end[rows], at_end[rows]
    # A sign opposite to that of the first gap stands for the zeros, so that the solver finds their end.
    return _Brackets(pair[rows], places[end - 1], places[end], -np.sign(at_end) * _TINY, at_end)


def _find_brackets(gap: Evaluate, pair: Indices, places: Floats, gaps: Floats) -> Iterator[_Brackets]:
    """Yield brackets around the sign changes of each pair, from the scan and from finer grids."""
    yield _bracket_sign_changes(pair, places, gaps)
    # A gap that comes near zero and turns back may have crossed zero twice between two places. So the
    # surroundings of each such near miss are scanned again, until the places are _TOLERANCE apart.
    row, column = _find_near_misses(gaps)
    while len(row) > 0:
        pair, ends = pair[row], (places[row, column - 1], places[row, column + 1])
        places = np.linspace(*ends, 2 * _REFINEMENT + 1, axis=1)
        gaps = gap(np.repeat(pair, places.shape[1]), places.ravel()).reshape(places.shape)
        yield _bracket_sign_changes(pair, places, gaps)
        row, column = _find_near_misses(gaps)
        # The nearest of each row: on a finer grid further ones come from rounding.
        order = np.lexsort((np.abs(gaps[row, column]), row))
        row, first = np.unique(row[order], return_index=True)
        column = column[order][first]
        wide = places[row, column + 1] - places[row, column - 1] > _TOLERANCE
        row, column = row[wide], column[wide]


def _bracket_sign_changes(pair: Indices, places: Floats, gaps: Floats) -> _Brackets:
    """Return a bracket around each sign change along a row, skipping zeros."""
    nonzero = np.where(gaps != 0, np.arange(gaps.shape[1]), 0)  # NaN counts as nonzero, and has no sign
    last_nonzero = np.maximum.accumulate(nonzero, axis=1)[:, :-1]
    signs = np.sign(gaps)  # a product of small gaps could underflow to 0
    changed = np.take_along_axis(signs, last_nonzero, axis=1) * signs[:, 1:] < 0
    row, column = np.nonzero(changed)
    low, high = last_nonzero[row, column], column + 1
    return _Brackets(pair[row], places[row, low], places[row, high], gaps[row, low], gaps[row, high])


def _find_near_misses(gaps: Floats) -> tuple[Indices, Indices]:
    """Return the rows and columns of gaps that come near zero without a change of sign."""
    # They are smaller than both neighbours, of one sign, and bend enough: with gaps l, m and r, a
    # parabola reaches zero only if 10 m <= l + r; 3 m leaves a margin for other functions.
    before, middle, after = gaps[:, :-2], gaps[:, 1:-1], gaps[:, 2:]
    one_sign = (np.sign(before) * np.sign(after) > 0) & (np.sign(before) * np.sign(middle) >= 0)
    before, middle, after = np.abs(before), np.abs(middle), np.abs(after)
    is_least = (middle <= before) & (middle <= after) & np.isfinite(middle)
    bends = 3 * middle <= before + after
    row, column = np.nonzero(one_sign & is_least & bends)
    return row, column + 1


def _solve_brackets(gap: Evaluate, brackets: _Brackets) -> Floats:
    """Return the place of the sign change in each bracket, to within _TOLERANCE."""
    # As in Chandrupatla's algorithm, a is the latest place, b the other end of the bracket, and c the
    # end that was dropped last. All brackets advance together, and narrow ones drop out.
    pair, (b, a, at_b, at_a) = brackets.pair, (part.copy() for part in brackets[1:])
    c, at_c, share = b.copy(), at_b.copy(), np.full(len(b), 0.5)
    low_sign = np.sign(at_b)
    todo = np.arange(len(b))
    while len(todo) > 0:
        place = a[todo] + share[todo] * (b[todo] - a[todo])
        value = gap(pair[todo], place)
        # A zero counts to the low side, so the root of a stretch of zeros is its upper end.
        value = np.where(value == 0, low_sign[todo] * _TINY, value)
        is_same_sign = np.sign(value) == np.sign(at_a[todo])
        c[todo], at_c[todo] = (
            np.where(is_same_sign, a[todo], b[todo]),
            np.where(is_same_sign, at_a[todo], at_b[todo]),
        )
        b[todo] = np.where(is_same_sign, b[todo], a[todo])
        at_b[todo] = np.where(is_same_sign, at_b[todo], at_a[todo])
        a[todo], at_a[todo] = place, value
        width = np.abs(b[todo] - a[todo])
        todo = todo[width > _TOLERANCE]
        share[todo] = _choose_next_share(
            (a[todo], at_a[todo]), (b[todo], at_b[todo]), (c[todo], at_c[todo])
        )
    return np.where(np.abs(at_a) < np.abs(at_b), a, b)


def _choose_next_share(*ends: _PlaceAndGap) -> Floats:
    """Return where to look next in each bracket, as a share of the way from a to b."""
    (a, at_a), (b, at_b), (c, at_c) = ends
    with np.errstate(all="ignore"):
        # The root of the parabola that gives place as a function of gap (inverse quadratic
        # interpolation), if by Chandrupatla's test it is monotonic in the bracket; otherwise the middle.
        xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        monotonic = (phi * phi < xi) & ((1 - phi) ** 2 < 1 - xi)
        share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
        share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        # Far enough from either end for a step to pass a root next to it, which closes the bracket.
        least_share = np.minimum(0.4 * _TOLERANCE / np.abs(b - a), 0.5)
    return np.clip(np.where(monotonic & np.isfinite(share), share, 0.5), least_share, 1 - least_share)


def to_logit(share: float) -> float:
    """Return the logit of a prevalence, exact also for small ones."""
    return math.log(share) - math.log1p(-share)


def from_logit(place: Floats) -> Floats:
    """Return the prevalences of logits."""
    return 1 / (1 + np.exp(-place))
