"""Changes of sign between functions whose crossings are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve.core.comparison.sign_change_search import (
    Roots,
    expit,
    find_logit,
    find_sign_changes,
)
from tests.support.profiles import examples

Function = Callable[[Any], Any]


def zero(x: Any) -> Any:
    return 0 * x


def crossings(functions: Sequence[Function], low: float = -1, high: float = 1) -> Roots:
    """Of all pairs."""

    def values(numbers: Any, places: Any) -> Any:
        out = np.empty(len(places))
        for number, function in enumerate(functions):
            out[numbers == number] = function(places[numbers == number])
        return out

    a, b = np.triu_indices(len(functions), 1)
    return find_sign_changes(values, a, b, low, high)


def roots_of(function: Function, low: float = -1, high: float = 1) -> list[tuple[float, bool]]:
    found = crossings([function, zero], low, high)
    known = ~found.is_parting
    assert (found.pair_numbers == 0).all()
    return list(zip(found.logits[known].tolist(), found.is_falling[known].tolist(), strict=True))


def assert_roots(found: list[tuple[float, bool]], expected: list[tuple[float, bool]]) -> None:
    assert [falls for _, falls in found] == [falls for _, falls in expected]
    for (place, _), (at, _) in zip(found, expected, strict=True):
        assert math.isclose(place, at, rel_tol=1e-9, abs_tol=1e-9)


CASES: dict[str, tuple[Function, list[tuple[float, bool]]]] = {
    "a line": (lambda x: x - 0.123, [(0.123, False)]),
    "a falling line": (lambda x: 0.123 - x, [(0.123, True)]),
    "on a place of the scan": (lambda x: x - 0.5, [(0.5, False)]),
    "three": (
        lambda x: (x + 0.7) * (x - 0.1) * (x - 0.101),
        [(-0.7, False), (0.1, True), (0.101, False)],
    ),
    "two within the first step": (
        lambda x: (x + 0.999) * (x + 0.9985),
        [(-0.999, True), (-0.9985, False)],
    ),
    "two within the last step": (
        lambda x: (x - 0.999) * (x - 0.9985),
        [(0.9985, True), (0.999, False)],
    ),
    "beyond the ends": (lambda x: (x - 1.001) * (x + 1.001), []),
    "of order three": (lambda x: (x - 0.2) ** 3, [(0.2, False)]),
    "touching": (lambda x: (x - 0.2) ** 2, []),
    "touching in a corner": (lambda x: abs(x - 0.2), []),
    "touching on a place of the scan": (lambda x: (x - 0.5) ** 2, []),
    "touching twice, and a root": (lambda x: (x - 0.3) ** 2 * (x + 0.5) ** 2 * x, [(0, False)]),
    "above by a little": (lambda x: (x - 0.3001) ** 2 + 1e-12, []),
    "below by a little": (lambda x: (x - 0.3001) ** 2 - 1e-12, [(0.300099, True), (0.300101, False)]),
    "below midway": (lambda x: (x - 0.0025) ** 2 - 1e-10, [(0.00249, True), (0.00251, False)]),
    "a corner below": (lambda x: abs(x - 0.3001) - 1e-7, [(0.3000999, True), (0.3001001, False)]),
    "a flat minimum below": (lambda x: (x - 0.3) ** 4 - 1e-20, [(0.29999, True), (0.30001, False)]),
    "a jump": (lambda x: np.where(x < 0.1234, 1.0, -2.0), [(0.1234, True)]),
    "two jumps of one step, tied beside them": (
        lambda x: np.where(abs(x - 0.0025) < 0.0015, -1.0, np.where(abs(x - 0.0025) < 0.003, 1.0, 3.0)),
        [(0.001, True), (0.004, False)],
    ),
    "a jump over infinity": (lambda x: 1 / (x - 0.1234), [(0.1234, False)]),
    "infinite on a side": (lambda x: np.where(x < 0.1234, -np.inf, 1.0), [(0.1234, False)]),
    "zero over a stretch": (lambda x: np.where(abs(x) < 0.1234, 0.0, x), [(0.1234, False)]),
    "zero at one place": (lambda x: np.where(abs(x) < 0.005, 0.0, x), [(0.005, False)]),
    "zero over a stretch, and back": (lambda x: np.where(abs(x) < 0.1234, 0.0, abs(x)), []),
    "zero at first": (lambda x: np.maximum(x, 0.0), []),
    "zero at last": (lambda x: np.minimum(x, 0.0), []),
    "zero": (zero, []),
    "minute": (lambda x: 1e-250 * (x - 0.123), [(0.123, False)]),
    "huge": (lambda x: 1e250 * (x - 0.123), [(0.123, False)]),
    "a plunge": (lambda x: np.exp(-200 * (x + 1)) - np.exp(-246.0), [(0.23, True)]),
    "unknown": (lambda x: x * np.nan, []),
    "unknown below": (lambda x: np.where(x < 0, np.nan, x - 0.3), [(0.3, False)]),
    "unknown beside the root": (lambda x: np.where(x > 0.31, np.nan, x - 0.3), [(0.3, False)]),
    "unknown around the root": (lambda x: np.where(abs(x - 0.3) < 0.1, np.nan, x - 0.3), []),
}


@pytest.mark.parametrize("name", CASES)
def test_known_roots(name: str) -> None:
    function, expected = CASES[name]
    assert_roots(roots_of(function), expected)
    turned = [(place, not falls) for place, falls in expected]
    assert_roots(roots_of(lambda x: -function(x)), turned)


def test_where_functions_part() -> None:
    """Equal from the low end on: no root, but the order changes there."""
    found = crossings([lambda x: np.maximum(x - 0.1234, 0.0), zero, lambda x: np.minimum(0.3 - x, 0.0)])
    assert found.is_parting.tolist() == [True, True, True]
    assert found.is_falling.tolist() == [False, False, False]
    assert found.logits == pytest.approx([0.1234, 0.1234, 0.3], abs=1e-9)


def test_rounding_is_no_difference() -> None:
    found = crossings([np.exp, lambda x: np.exp(x / 2) ** 2])
    assert len(found.pair_numbers) == 0


def test_differences_that_are_rounding_alone_do_not_grow() -> None:
    """A sum in which nearly all cancels: finer grids of finer grids would be without number."""
    noise = lambda x: (1e6 + np.sin(x)) - 1e6 - np.sin(x)  # noqa: E731
    assert len(crossings([noise, zero]).pair_numbers) < 20_000


@given(
    st.lists(st.floats(-0.99, 0.99), min_size=0, max_size=5, unique=True),
    st.sampled_from([-3.0, 1.0]),
    st.sampled_from([0.0, 5.0]),
)
@examples(200)
def test_roots_of_products(places: list[float], factor: float, shift: float) -> None:
    """Any roots that are not too close to tell from rounding."""
    places = sorted(place + shift for place in places)
    if any(y - x < 1e-3 for x, y in pairwise(places)):
        return
    sign = [(factor < 0) ^ ((len(places) - k) % 2 == 1) for k in range(len(places))]
    found = roots_of(
        lambda x: factor * np.prod([x - place for place in places] + [1 + 0 * x], axis=0),
        shift - 1,
        shift + 1,
    )
    expected = [(place, not falls) for place, falls in zip(places, sign, strict=True)]
    assert_roots(found, expected)


@pytest.mark.slow
def test_many_pairs() -> None:
    """Lines through points of a parabola: all pairs cross, and where is known."""
    slopes = np.linspace(-0.49, 0.49, 221)
    found = crossings([lambda x, s=s: s * x - s * s for s in slopes])
    a, b = np.triu_indices(len(slopes), 1)
    assert len(a) > 20_000
    # The line of slope s and that of slope r meet at s + r; of either sign of x the lower slope falls.
    assert sorted(found.pair_numbers) == list(range(len(a)))
    expected = slopes[a[found.pair_numbers]] + slopes[b[found.pair_numbers]]
    assert np.abs(found.logits - expected).max() < 1e-9
    assert found.is_falling.all()


def test_no_pairs() -> None:
    for functions in ([], [zero]):
        found = crossings(functions)
        assert [len(part) for part in found] == [0, 0, 0, 0]
        assert found.pair_numbers.dtype == np.intp


@pytest.mark.parametrize("eta", [1e-300, 1e-11, 0.3, 1 - 1e-9])
def test_logits(eta: float) -> None:
    assert expit(np.array([find_logit(eta)]))[0] == pytest.approx(eta, rel=1e-12)
    [(place, falls)] = roots_of(lambda x: expit(x) - eta, find_logit(eta) - 3, find_logit(eta) + 2)
    assert place == pytest.approx(find_logit(eta), abs=1e-7 if eta > 0.9 else 1e-9)
    assert not falls
