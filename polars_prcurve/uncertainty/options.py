"""Options for standard errors and intervals: which method, at which confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from polars_prcurve.argument_kinds import read_choice, read_seed, read_whole_number
from polars_prcurve.errors import PrcError
from polars_prcurve.intervals.rates import check_clusters_have_level, check_confidence

ErrorMethod: TypeAlias = Literal["analytic", "bootstrap"]


@dataclass(frozen=True)
class UncertaintyOptions:
    """Options for standard errors and intervals."""

    confidence: float
    method: ErrorMethod = "analytic"
    n_resamples: int = 1000
    """The number of replicates of the bootstrap."""
    seed: int | None = None
    """The seed of the bootstrap; None draws anew at each call."""


def read_uncertainty(
    confidence: float | None,
    method: ErrorMethod,
    n_resamples: int,
    seed: int | None,
    cluster: object,
) -> UncertaintyOptions | None:
    """Check the arguments; return None if `confidence` is None."""
    read_choice("method=", method, ("analytic", "bootstrap"))
    check_clusters_have_level(cluster, confidence)
    n_replicates = read_whole_number("n_resamples=", n_resamples, 2)
    seed = read_seed(seed)
    if confidence is None:
        if method == "bootstrap":
            raise PrcError('method="bootstrap" is for intervals; pass confidence= with it')
        return None
    return UncertaintyOptions(check_confidence(confidence), method, n_replicates, seed)


def require_uncertainty(door: str, confidence: float | None, *others: Any) -> UncertaintyOptions:
    """Check the arguments, which are those of `read_uncertainty`; raise if `confidence` is None."""
    found = read_uncertainty(confidence, *others)
    if found is None:
        raise PrcError(f"{door} needs confidence=, a level such as 0.95")
    return found
