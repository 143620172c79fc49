"""How sure a summary is to say it is: which method, at which level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from polars_prcurve.errors import PrcError, whole_number
from polars_prcurve.intervals import one_confidence

__all__ = ["Method", "Uncertainty", "read_uncertainty"]

Method: TypeAlias = Literal["analytic", "bootstrap"]


@dataclass(frozen=True)
class Uncertainty:
    """What is asked for."""

    confidence: float
    method: Method = "analytic"
    n_resamples: int = 1000
    seed: int | None = None


def read_uncertainty(
    confidence: float | None, method: Method, n_resamples: int, seed: int | None, cluster: object
) -> Uncertainty | None:
    """The same, if there is such a thing."""
    if method not in ("analytic", "bootstrap"):
        raise PrcError(f'method= is "analytic" or "bootstrap"; got {method!r}')
    if cluster is not None and (method, confidence is None) != ("bootstrap", False):
        raise PrcError('cluster= says what a bootstrap draws; pass confidence= and method="bootstrap"')
    whole = whole_number("n_resamples=", n_resamples, 2)
    seed = None if seed is None else whole_number("seed=", seed, 0)
    if confidence is None:
        return None
    return Uncertainty(one_confidence(confidence), method, whole, seed)
