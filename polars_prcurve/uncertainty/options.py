"""Options for standard errors and intervals: which method, at which confidence."""

from __future__ import annotations

from dataclasses import dataclass

from polars_prcurve.confidence.certainty import IntervalMethod, Intervals


@dataclass(frozen=True)
class UncertaintyOptions:
    """Options for standard errors and intervals."""

    confidence: float
    method: IntervalMethod = "analytic"
    n_resamples: int = 1000
    """The number of replicates of the bootstrap."""
    seed: int | None = None
    """The seed of the bootstrap; None draws anew at each call."""


def to_uncertainty(certainty: Intervals) -> UncertaintyOptions:
    """Return the options of errors for what `confidence=` says."""
    return UncertaintyOptions(certainty.level, certainty.method, certainty.resamples, certainty.seed)


def read_uncertainty(certainty: Intervals | None) -> UncertaintyOptions | None:
    """Return the options of errors; None if no intervals are asked for."""
    return None if certainty is None else to_uncertainty(certainty)
