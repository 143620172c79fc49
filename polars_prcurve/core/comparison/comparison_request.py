"""What is requested of a comparison: the models of a table, and what to compare them by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.prevalence.eta_table import EtaTable

Adjust: TypeAlias = Literal["holm", "models"] | None
"""For what intervals hold at once: for all pairs by Bonferroni, beside p-values by Holm; for all models
of a group; or for each pair alone."""
Pairing: TypeAlias = Literal["wide", "by id", "apart"]
"""Which examples the models of a group share: those of a wide table, where each row is one; those of one
`id`; or none, because each model has a sample of its own."""
Matched: TypeAlias = Literal["recall", "fpr"]
"""The rate that a model and a point of other examples have in common."""


class Comparison(NamedTuple):
    """A table of several models per `by` group, and what to compare them by."""

    table: ResolvedTable
    grid: EtaTable
    metrics: Sequence[CurveMetric | PointMetric]  # curve metrics, or point metrics at a target
    target: Target | None
    interval_options: Intervals
    pairing: Pairing
    adjust: Adjust = None  # how levels are adjusted for several pairs of models
    needs_pairs: bool = True  # whether a table in which no group has two models is refused

    @property
    def has_weights(self) -> bool:
        """Whether examples have weights, or numbers that represent weights."""
        return isinstance(self.table, ScoreTable) and self.table.has_squares


# The columns of results that compare models ----------------------------------------------------


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
    absent_names = ["not_worse"]  # see `add_not_worse`
    absent_names += ([] if adjust else ["p_adjusted"]) + ([] if is_mean else ["n_groups"])
    return tuple(name for name in COMPARE_COLUMNS if name not in absent_names)
