"""How close two values or two tables must be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

DIFFERENCES = {
    "cohen_kappa",
    "informedness",
    "markedness",
    "mcc",
    "precision_gain",
    "recall_gain",
    "f_gain",
    "net_benefit",
}
"""Metrics that subtract: near 0 only their absolute error is small."""


def is_same_value(column: str, actual: Any, expected: Any) -> bool:
    """Return whether a value of a column, or of a metric, equals the oracle's except for rounding."""
    if expected is None or actual is None:
        return actual is None and expected is None
    if isinstance(actual, int) and not isinstance(actual, bool):
        return actual == expected
    if column in {"eta", "tp", "fp", "fn", "tn", "n_pos", "n_neg"}:
        return math.isclose(actual, expected, rel_tol=1e-14)
    difference = column.partition("(")[0] in DIFFERENCES
    return math.isclose(actual, expected, rel_tol=1e-12, abs_tol=1e-12 if difference else 0.0)


def assert_same(a: pl.DataFrame, b: pl.DataFrame) -> None:
    """Raise unless both tables are equal to the last bit, with rows and columns in one order."""
    assert_frame_equal(a, b, check_exact=True, check_row_order=True, check_column_order=True)


def assert_nearly(a: pl.DataFrame, b: pl.DataFrame) -> None:
    """Raise if the tables differ by more than the order in which floats are added can explain."""
    assert_frame_equal(a, b, check_exact=False, rel_tol=1e-9, abs_tol=1e-12)


JUMPS = ("auprg", "boyd", "min_max", "pr_auc_trapezoid")
"""The beginnings of names of metrics that jump at eta = 1."""


def is_close(name: str, actual: float | None, expected: Any, eta: Any, *, weighted: bool) -> bool:
    """Return whether a curve metric equals the oracle's to a relative 1e-11.

    If the metric subtracts, the error may be relative to the number that it subtracts from.
    """
    if actual is None or expected is None:
        return actual is None and expected is None
    scale = 2.0**-110  # sums of shares are exact to 2**-118, so that far smaller areas lose digits
    if name.startswith(("auprg", "best(mcc", "best(net")):
        distance = max(min(float(eta), 1 - float(eta)), 1e-300)
        scale = 1e-12 / distance if name.startswith("auprg") else 1e-12
    elif name.startswith(("marginal", "min_max", "normalized", "boyd")):
        # Both the area and the least one are near 1 at large prevalences, and so is their error.
        scale = 1e-13 / max(min(float(eta), 1 - float(eta)), 1e-300)
        scale *= max(1.0, abs(float(expected)))
    elif name.startswith(("roc", "partial", "worst")) or (
        name == 'pr_auc_trapezoid("none")' and weighted
    ):
        scale = 1e-15
    return math.isclose(actual, expected, rel_tol=1e-11, abs_tol=scale)


def assert_same_answer(found: Any, expected: Any, where: str) -> None:
    """Raise unless two answers are equal, whatever kind they are of."""
    if isinstance(expected, pl.DataFrame):
        assert_same(found, expected)
    elif isinstance(expected, pl.Expr):
        assert found.meta.eq(expected) or str(found) == str(expected), where
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected, err_msg=where)
    else:
        assert str(found) == str(expected), where


__all__ = ["DIFFERENCES", "JUMPS", "assert_nearly", "assert_same", "is_close", "is_same_value"]
