"""Options of bands, by the rows that they are for: what each kind reads, and puts beside a value.

FixedBands      a threshold was given: the rows of a curve
ChosenBands     the sample may have chosen it; then it is given to who deploys it (operating points)
ComparedBands   it was given to two models, whose values are compared
ModelBands      a target finds it in each sample anew: what a model is worth at the target
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.confidence.rate_intervals import BETA_METHODS, RateMethod, compute_limits
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.sample_kinds import INDEPENDENT, SampleKind
from polars_prcurve.core.metrics.point_metric import PointMetric

BandKind: TypeAlias = Literal["mover", "rectangle", "simultaneous"]
"""How intervals of both rates make a band; see `point_intervals`."""
EtaKind: TypeAlias = Literal["stated", "estimated", "counted"]
"""How a prevalence is known: exactly, with the ends of an interval, or from the table itself."""
# The columns of both ends of the interval of each rate, in the order in which rates are read
LIMIT_COLUMNS = {
    "recall": (f"{RESERVED}recall_low", f"{RESERVED}recall_high"),
    "fpr": (f"{RESERVED}fpr_low", f"{RESERVED}fpr_high"),
}
MOVE_NAMES = {source: f"{RESERVED}moves_by_{source}" for source in (*LIMIT_COLUMNS, "eta")}
"""What follows the name of a metric in the columns of how far an interval moves its value."""


@dataclass(frozen=True)
class FixedBands:
    """Bands at thresholds that were given: the level, and how two intervals of rates make a band."""

    confidence: float
    rate_method: RateMethod
    band_kind: BandKind
    sample: SampleKind = INDEPENDENT  # how the examples were drawn, as `fit_bands` takes from the table
    eta_kinds: frozenset[EtaKind] = frozenset({"stated"})
    """How prevalences of rows may be known. If estimated, or counted, rows have EtaError.LIMITS; if
    counted also EtaError.VARIANCE and, beside others, IS_OWN."""
    flag_columns: ClassVar[tuple[str, ...]] = ()  # what rows have besides their values

    @cached_property
    def counts_eta(self) -> bool:
        """Whether the prevalence of a row may have been counted in the table."""
        return "counted" in self.eta_kinds

    @cached_property
    def has_eta_limits(self) -> bool:
        """Whether rows have EtaError.LIMITS."""
        return not self.eta_kinds.isdisjoint(("estimated", "counted"))

    @cached_property
    def rate_level(self) -> float:
        """The level of the interval of a rate."""
        # Both rates hold at once with the product of their levels. In quadrature they need not.
        return self.confidence if self.band_kind == "mover" else math.sqrt(self.confidence)

    @cached_property
    def needs_numbers(self) -> str:
        """The option that Polars has no expression for, or an empty text."""
        rate_option = f'rate="{self.rate_method}"' if self.rate_method in BETA_METHODS else ""
        return self.describe_band() if self.band_kind == "simultaneous" else rate_option

    def describe_band(self) -> str:
        """Return how a user requests the band."""
        return "simultaneous=True" if self.band_kind == "simultaneous" else f'method="{self.band_kind}"'

    def list_kinds(self) -> list[str]:
        """Return what is beside the value of a metric."""
        return ["low", "high"]

    def carry_estimates(self) -> FixedBands:
        """Return the bands at prevalences of which some, or all, are estimates."""
        if self.band_kind != "mover":
            raise PrcError(
                'pass both ends of the interval of eta as numbers, or use method="analytic", which '
                f"allows for its error: {self.describe_band()} needs an exact eta"
            )
        return replace(self, eta_kinds=self.eta_kinds | {"estimated"})

    def carry_counts(
        self, metrics: Iterable[PointMetric], *, are_all_counted: bool, is_known: bool
    ) -> FixedBands:
        """Return the bands at prevalences of which some, or all, were counted in the table."""
        if self.band_kind == "mover":
            other_kinds: frozenset[EtaKind] = frozenset() if are_all_counted else self.eta_kinds
            return replace(self, eta_kinds=other_kinds | {"counted"})
        # If only the query determines these rows, they are checked when it runs.
        if is_known and any(metric.depends_on_eta for metric in metrics):
            raise PrcError(self.tell_exact_eta())
        return self

    def tell_exact_eta(self) -> str:
        """Return why the band has none at a prevalence that was counted."""
        return (
            'pass eta= as a number, or use method="analytic", which allows for the error of the '
            f"count: {self.describe_band()} needs an exact eta, and this prevalence was counted"
        )

    def limits_by_name(self, rate_name: str, rate_value: Any, size: Any) -> Iterable[tuple[str, Any]]:
        """Yield the low and high end of the interval of a rate, each with the name of its column."""
        if self.band_kind == "simultaneous":
            from polars_prcurve.core.confidence.levels_for_all_thresholds import (
                compute_simultaneous_limits,
            )

            interval_ends = compute_simultaneous_limits(rate_value * size, size, self.rate_level)
        else:
            is_recall = rate_name == "recall"
            interval_ends = compute_limits(
                rate_value * size, size, self.rate_level, self.rate_method, is_recall=is_recall
            )
        end_columns = LIMIT_COLUMNS.get(rate_name, (f"{rate_name}_low", f"{rate_name}_high"))
        return zip(end_columns, interval_ends, strict=True)


@dataclass(frozen=True)
class ChosenBands(FixedBands):
    """Bands at thresholds that the sample may have chosen, and that stay as they are from then on."""

    corrected: bool = False  # whether rows have IS_MAXIMIZED and OPTIMISM, for `<metric>_corrected`
    flag_columns = (ABOVE_CHANCE, DOUBT)

    @cached_property
    def allows_for_choice(self) -> bool:
        """Whether rows have TargetRow.N_RIGHT_BY_CHOICE and N_WRONG_BY_CHOICE."""
        return self.band_kind != "simultaneous"  # which holds at all thresholds, whatever chose one

    def list_kinds(self) -> list[str]:
        return [*(["corrected"] if self.corrected else []), *super().list_kinds()]


class ComparedBands(FixedBands):
    """Bands at thresholds that were given, of values of which differences are taken."""

    flag_columns = (DOUBT, EtaError.STANDARD_ERROR)


class ModelBands(ComparedBands):
    """Bands of a model at its target, whose threshold moves with the rates: rows have MOVED_RATES."""

    def list_kinds(self) -> list[str]:
        sources = (source for source in MOVE_NAMES if source != "eta" or self.counts_eta)
        return [*super().list_kinds(), *(MOVE_NAMES[source] for source in sources)]
