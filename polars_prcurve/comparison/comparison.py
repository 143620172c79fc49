"""What a comparison of models computes, from which table, and the columns of its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from polars_prcurve.comparison.verdicts import Adjust
from polars_prcurve.confidence.certainty import Intervals
from polars_prcurve.curves.targets import Target
from polars_prcurve.inputs.score_table import InputTable, ScoreTable
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_table import EtaTable

COMPARE_COLUMNS = (
    *("eta", "metric", "model_a", "model_b", "difference", "standard_error", "low", "high"),
    *("p_value", "p_adjusted", "reliable", "why", "resolved"),
)

Examples: TypeAlias = Literal["wide", "by id", "apart"]
"""Which examples the models of a group share: those of a wide table, where each row is one; those of one
`id`; or none, because each model has a sample of its own."""


def list_compare_columns(adjust: Adjust) -> tuple[str, ...]:
    """Return the columns of a comparison, after `by`, without those that an eta frame carries."""
    return tuple(name for name in COMPARE_COLUMNS if adjust or name != "p_adjusted")


class Comparison(NamedTuple):
    """A table of several models per `by` group, and what to compare them by."""

    table: InputTable
    grid: EtaTable
    metrics: Sequence[CurveMetric | PointMetric]
    """Curve metrics, or point metrics at a target."""
    target: Target | None
    certainty: Intervals
    examples: Examples
    adjust: Adjust = None
    """How levels are adjusted for several pairs of models."""
    needs_pairs: bool = True
    """Whether a table in which no group has two models is refused."""

    @property
    def has_weights(self) -> bool:
        """Whether examples have weights, or numbers that stand for weights."""
        return isinstance(self.table, ScoreTable) and self.table.has_squares
