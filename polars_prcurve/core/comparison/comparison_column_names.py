"""The columns of results that compare models."""

from __future__ import annotations

from polars_prcurve.core.comparison.comparison_request import Adjust
from polars_prcurve.core.confidence.doubts import DOUBT

COMPARE_COLUMNS = (
    "eta",
    "metric",
    "model_a",
    "model_b",
    "difference",
    "standard_error",
    "low",
    "high",
    "p_value",
    "p_adjusted",
    "significant",
    "not_worse",
    "n_groups",
    DOUBT,
)
"""The columns of `compare`, after `by`."""
CROSSING_COLUMNS = ("model_a", "model_b", "eta", "value")  # of `crossings`, after `by`
LEADER_COLUMNS = ("eta_low", "eta_high", "model")  # of the best models of ranges


def list_compare_columns(adjust: Adjust, *, is_mean: bool = False) -> tuple[str, ...]:
    """Return the columns of a comparison, after `by`, without those that an eta frame carries."""
    absent_names = ["not_worse"]  # see `difference_flags`
    absent_names += ([] if adjust else ["p_adjusted"]) + ([] if is_mean else ["n_groups"])
    return tuple(name for name in COMPARE_COLUMNS if name not in absent_names)
