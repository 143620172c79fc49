"""Logits at which the difference of two functions changes sign, for all pairs of many functions at once.

    scan      evaluate the functions at evenly spaced logits; bracket each change of sign
    refine    scan again, on a finer grid, where a difference comes near zero and turns back
    solve     narrow each bracket, by inverse quadratic interpolation or halving (Chandrupatla 1997)

The *gap* of a pair is its first function less its second. A logit where the gap is zero without a change
of sign is no root. Two roots between neighbours of the scan are found only if that scan looks there.

Source: Chandrupatla 1997, Advances in Engineering Software 28.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polars_prcurve.core.ground.lazy_modules import Floats

Indices: TypeAlias = NDArray[np.intp]  # numbers of pairs, rows or columns
Evaluate: TypeAlias = Callable[[Indices, Floats], Floats]
"""From numbers of functions, or of pairs, and a logit for each, to values, or to gaps."""
_LogitAndGap: TypeAlias = tuple[Floats, Floats]  # an end of each bracket, and the gap there
_SCAN_STEPS = 400  # the scan has at least this number of steps
_MAX_STEP = 0.05  # the scan has steps of at most this width
_REFINEMENT = 16  # a finer grid has this number of steps instead of one
_TOLERANCE = 1e-11  # the width at which a bracket is narrow enough
_ROUNDING = 2.0**-50
"""Relative differences of values up to this are rounding: 4 units in the last place of a float."""
_TINY = 1e-300
"""Stands for a gap of 0 that needs a sign. Beside two such gaps in a row the solver halves."""
_MAX_PAIRS = 20_000  # the number of pairs that are scanned at once, which bounds the memory


class Roots(NamedTuple):
    """Roots of many pairs, as columns with an item per root."""

    pair_numbers: Indices  # the number of the pair
    logits: Floats
    is_falling: NDArray[np.bool_]
    """Whether the first function is greater below the root, and the second one above it."""
    # The logit is where two functions part, not a root: they are equal from the low end to here. Above,
    # the second function is greater if `is_falling`, otherwise the first.
    is_parting: NDArray[np.bool_]

    def select(self, root_selection: NDArray[np.bool_] | Indices) -> Roots:
        """Return some of the roots."""
        return Roots._make(column[root_selection] for column in self)


class _Brackets(NamedTuple):
    """Intervals with gaps of opposite sign at their ends, as columns with an item per interval."""

    pair_numbers: Indices
    low_logits: Floats
    high_logits: Floats
    low_gaps: Floats
    high_gaps: Floats


def find_sign_changes(
    evaluate_functions: Evaluate,
    first_function_numbers: Indices,
    second_function_numbers: Indices,
    low_end: float,
    high_end: float,
    *,
    term_size: float = 0.0,
) -> Roots:
    """Return all logits between low and high at which functions a[i] and b[i] change order, or part."""

    def evaluate_gaps(pair_numbers: Indices, logits: Floats) -> Floats:
        function_numbers = np.append(
            first_function_numbers[pair_numbers], second_function_numbers[pair_numbers]
        )
        values = evaluate_functions(function_numbers, np.tile(logits, 2))
        first_values, second_values = np.split(values, 2)
        return subtract_rounded(first_values, second_values, term_size)

    # If functions are equal over a stretch, the root is its upper end. If values are differences of
    # terms of the size `term_size`, the rounding errors of these remain when they cancel.
    n_steps = max(_SCAN_STEPS, math.ceil((high_end - low_end) / _MAX_STEP))
    step_width = (high_end - low_end) / n_steps
    # One step more beyond either end: a near miss at the end needs neighbours on both sides.
    logits = np.linspace(low_end - step_width, high_end + step_width, n_steps + 3)
    function_numbers = np.unique(np.append(first_function_numbers, second_function_numbers))
    scanned_values = evaluate_functions(
        np.repeat(function_numbers, len(logits)), np.tile(logits, len(function_numbers))
    )
    scanned_values = scanned_values.reshape(len(function_numbers), len(logits))
    first_row_numbers = np.searchsorted(function_numbers, first_function_numbers)
    second_row_numbers = np.searchsorted(function_numbers, second_function_numbers)
    empty_logits = np.empty(0)
    bracket_blocks = [
        _Brackets(np.empty(0, dtype=np.intp), empty_logits, empty_logits, empty_logits, empty_logits)
    ]
    n_pairs = len(first_function_numbers)
    for first_pair_number in range(0, n_pairs, _MAX_PAIRS):
        pair_numbers = np.arange(first_pair_number, min(first_pair_number + _MAX_PAIRS, n_pairs))
        first_values = scanned_values[first_row_numbers[pair_numbers]]
        second_values = scanned_values[second_row_numbers[pair_numbers]]
        gaps = subtract_rounded(first_values, second_values, term_size)
        bracket_blocks.append(_bracket_partings(pair_numbers, logits, gaps))
        bracket_blocks += _find_brackets(
            evaluate_gaps, pair_numbers, np.broadcast_to(logits, gaps.shape), gaps
        )
    brackets = _Brackets(*map(np.concatenate, zip(*bracket_blocks, strict=True)))
    is_parting = np.abs(brackets.low_gaps) == _TINY
    root_logits = _solve_brackets(evaluate_gaps, brackets)
    roots = _drop_doubles(Roots(brackets.pair_numbers, root_logits, brackets.low_gaps > 0, is_parting))
    return roots.select((roots.logits > low_end) & (roots.logits < high_end))


def _drop_doubles(roots: Roots) -> Roots:
    """Return the roots in order, each once."""
    roots = roots.select(np.lexsort((roots.logits, roots.pair_numbers)))
    # If two neighbouring gaps are equal, both are near misses, and their finer grids overlap: each root
    # counts once. Two real roots side by side have opposite directions.
    is_near = np.diff(roots.logits, prepend=-np.inf) <= 2 * _TOLERANCE
    is_near &= np.diff(roots.pair_numbers, prepend=-1) == 0
    return roots.select(~(is_near & (roots.is_falling == np.roll(roots.is_falling, 1))))


def subtract_rounded(first_values: Floats, second_values: Floats, term_size: float) -> Floats:
    """Return first less second, and 0 where they differ by no more than rounding."""
    with np.errstate(invalid="ignore"):
        # Equal infinities have the gap 0, not NaN.
        gaps = np.where(first_values == second_values, 0.0, first_values - second_values)
        magnitudes = np.maximum(np.maximum(np.abs(first_values), np.abs(second_values)), term_size)
        is_equal = np.abs(gaps) <= _ROUNDING * magnitudes
    return np.where(is_equal & np.isfinite(gaps), 0.0, gaps)


def _bracket_partings(pair_numbers: Indices, logits: Floats, gaps: Floats) -> _Brackets:
    """Return a bracket around the logit where a row of gaps that starts with 0 parts from 0."""
    end_column_numbers = (gaps != 0).argmax(axis=1)
    end_gaps = np.take_along_axis(gaps, end_column_numbers[:, None], axis=1)[:, 0]
    row_numbers = np.flatnonzero((end_column_numbers > 0) & ~np.isnan(end_gaps))
    end_column_numbers, end_gaps = end_column_numbers[row_numbers], end_gaps[row_numbers]
    # A sign opposite to that of the first gap represents the zeros, so that the solver finds their end.
    return _Brackets(
        pair_numbers[row_numbers],
        logits[end_column_numbers - 1],
        logits[end_column_numbers],
        -np.sign(end_gaps) * _TINY,
        end_gaps,
    )


def _find_brackets(
    evaluate_gaps: Evaluate, pair_numbers: Indices, logits: Floats, gaps: Floats
) -> Iterator[_Brackets]:
    """Yield brackets around the sign changes of each pair, from the scan and from finer grids."""
    yield _bracket_sign_changes(pair_numbers, logits, gaps)
    # A gap that comes near zero and turns back may have crossed zero twice between two logits. So the
    # surroundings of each such near miss are scanned again, until the logits are _TOLERANCE apart.
    row_numbers, column_numbers = _find_near_misses(gaps)
    while len(row_numbers) > 0:
        pair_numbers = pair_numbers[row_numbers]
        outer_logits = (logits[row_numbers, column_numbers - 1], logits[row_numbers, column_numbers + 1])
        logits = np.linspace(*outer_logits, 2 * _REFINEMENT + 1, axis=1)
        gaps = evaluate_gaps(np.repeat(pair_numbers, logits.shape[1]), logits.ravel()).reshape(
            logits.shape
        )
        yield _bracket_sign_changes(pair_numbers, logits, gaps)
        row_numbers, column_numbers = _find_near_misses(gaps)
        # The nearest of each row: on a finer grid further ones come from rounding.
        sort_order = np.lexsort((np.abs(gaps[row_numbers, column_numbers]), row_numbers))
        row_numbers, first_indices = np.unique(row_numbers[sort_order], return_index=True)
        column_numbers = column_numbers[sort_order][first_indices]
        is_wide = (
            logits[row_numbers, column_numbers + 1] - logits[row_numbers, column_numbers - 1]
            > _TOLERANCE
        )
        row_numbers, column_numbers = row_numbers[is_wide], column_numbers[is_wide]


def _bracket_sign_changes(pair_numbers: Indices, logits: Floats, gaps: Floats) -> _Brackets:
    """Return a bracket around each sign change along a row, skipping zeros."""
    # NaN counts as nonzero, and has no sign.
    nonzero_columns = np.where(gaps != 0, np.arange(gaps.shape[1]), 0)
    last_nonzero_columns = np.maximum.accumulate(nonzero_columns, axis=1)[:, :-1]
    signs = np.sign(gaps)  # a product of small gaps could underflow to 0
    has_changed = np.take_along_axis(signs, last_nonzero_columns, axis=1) * signs[:, 1:] < 0
    row_numbers, column_numbers = np.nonzero(has_changed)
    low_column_numbers = last_nonzero_columns[row_numbers, column_numbers]
    high_column_numbers = column_numbers + 1
    return _Brackets(
        pair_numbers[row_numbers],
        logits[row_numbers, low_column_numbers],
        logits[row_numbers, high_column_numbers],
        gaps[row_numbers, low_column_numbers],
        gaps[row_numbers, high_column_numbers],
    )


def _find_near_misses(gaps: Floats) -> tuple[Indices, Indices]:
    """Return the rows and columns of gaps that come near zero without a change of sign."""
    # They are smaller than both neighbours, of one sign, and bend enough: with gaps l, m and r, a
    # parabola reaches zero only if 10 m <= l + r; 3 m leaves a margin for other functions.
    gaps_before, middle_gaps, gaps_after = gaps[:, :-2], gaps[:, 1:-1], gaps[:, 2:]
    has_one_sign = (np.sign(gaps_before) * np.sign(gaps_after) > 0) & (
        np.sign(gaps_before) * np.sign(middle_gaps) >= 0
    )
    gaps_before, middle_gaps, gaps_after = np.abs(gaps_before), np.abs(middle_gaps), np.abs(gaps_after)
    is_least = (middle_gaps <= gaps_before) & (middle_gaps <= gaps_after) & np.isfinite(middle_gaps)
    has_bend = 3 * middle_gaps <= gaps_before + gaps_after
    row_numbers, column_numbers = np.nonzero(has_one_sign & is_least & has_bend)
    return row_numbers, column_numbers + 1


def _solve_brackets(evaluate_gaps: Evaluate, brackets: _Brackets) -> Floats:
    """Return the logit of the sign change in each bracket, to within _TOLERANCE."""
    # As in Chandrupatla's algorithm, a is the latest logit, b the other end of the bracket, and c the
    # end that was dropped last. All brackets advance together, and narrow ones drop out.
    pair_numbers = brackets.pair_numbers
    float_arrays = (float_array.copy() for float_array in brackets[1:])
    other_logits, latest_logits, other_gaps, latest_gaps = float_arrays
    dropped_logits = other_logits.copy()
    dropped_gaps = other_gaps.copy()
    step_shares = np.full(len(other_logits), 0.5)
    low_signs = np.sign(other_gaps)
    open_numbers = np.arange(len(other_logits))
    while len(open_numbers) > 0:
        next_logits = latest_logits[open_numbers] + step_shares[open_numbers] * (
            other_logits[open_numbers] - latest_logits[open_numbers]
        )
        next_gaps = evaluate_gaps(pair_numbers[open_numbers], next_logits)
        # A zero counts to the low side, so the root of a stretch of zeros is its upper end.
        next_gaps = np.where(next_gaps == 0, low_signs[open_numbers] * _TINY, next_gaps)
        is_same_sign = np.sign(next_gaps) == np.sign(latest_gaps[open_numbers])
        dropped_logits[open_numbers], dropped_gaps[open_numbers] = (
            np.where(is_same_sign, latest_logits[open_numbers], other_logits[open_numbers]),
            np.where(is_same_sign, latest_gaps[open_numbers], other_gaps[open_numbers]),
        )
        other_logits[open_numbers] = np.where(
            is_same_sign, other_logits[open_numbers], latest_logits[open_numbers]
        )
        other_gaps[open_numbers] = np.where(
            is_same_sign, other_gaps[open_numbers], latest_gaps[open_numbers]
        )
        latest_logits[open_numbers], latest_gaps[open_numbers] = next_logits, next_gaps
        widths = np.abs(other_logits[open_numbers] - latest_logits[open_numbers])
        open_numbers = open_numbers[widths > _TOLERANCE]
        step_shares[open_numbers] = _choose_next_share(
            (latest_logits[open_numbers], latest_gaps[open_numbers]),
            (other_logits[open_numbers], other_gaps[open_numbers]),
            (dropped_logits[open_numbers], dropped_gaps[open_numbers]),
        )
    return np.where(np.abs(latest_gaps) < np.abs(other_gaps), latest_logits, other_logits)


def _choose_next_share(*bracket_ends: _LogitAndGap) -> Floats:
    """Return where to look next in each bracket, as a share of the way from a to b."""
    (logit_a, gap_a), (logit_b, gap_b), (logit_c, gap_c) = bracket_ends
    with np.errstate(all="ignore"):
        # The root of the parabola that gives the logit as a function of gap (inverse quadratic
        # interpolation), if by Chandrupatla's test it is monotonic in the bracket; otherwise the middle.
        xi, phi = (logit_a - logit_b) / (logit_c - logit_b), (gap_a - gap_b) / (gap_c - gap_b)
        is_monotonic = (phi * phi < xi) & ((1 - phi) ** 2 < 1 - xi)
        step_shares = gap_a / (gap_b - gap_a) * gap_c / (gap_b - gap_c)
        step_shares += (
            (logit_c - logit_a) / (logit_b - logit_a) * gap_a / (gap_c - gap_a) * gap_b / (gap_c - gap_b)
        )
        # Far enough from either end for a step to pass a root next to it, which closes the bracket.
        least_share = np.minimum(0.4 * _TOLERANCE / np.abs(logit_b - logit_a), 0.5)
    return np.clip(
        np.where(is_monotonic & np.isfinite(step_shares), step_shares, 0.5), least_share, 1 - least_share
    )


def find_logit(eta: float) -> float:
    """Return the logit of a prevalence, exact also for small ones."""
    return math.log(eta) - math.log1p(-eta)


def expit(logits: Floats) -> Floats:
    """Return the prevalences of logits."""
    return 1 / (1 + np.exp(-logits))
