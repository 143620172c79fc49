"""How sure: what `confidence=` takes, a level or `intervals(...)`, read into one value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

from polars_prcurve import argument_kinds as kinds
from polars_prcurve.argument_kinds import hint_at_arguments
from polars_prcurve.confidence.rates import RateMethod, check_confidence, check_rate_method
from polars_prcurve.errors import PrcError

IntervalMethod: TypeAlias = Literal["analytic", "rectangle", "bootstrap"]
"""Where intervals come from: a formula, the corners of two intervals, or resampled examples."""

_RESAMPLES = 1000


@dataclass(frozen=True, repr=False)
class Intervals:
    """How intervals are made; `intervals()` returns it, and `confidence=` takes it."""

    level: float
    method: IntervalMethod = "analytic"
    rate: RateMethod = "wilson"
    simultaneous: bool = False
    resamples: int = _RESAMPLES
    """The number of replicates of the bootstrap."""
    seed: int | None = None
    """The seed of the bootstrap; None draws anew at each call."""

    def __repr__(self) -> str:
        said = {of.name: getattr(self, of.name) for of in fields(self) if of.name != "level"}
        plain = vars(Intervals(self.level))
        changed = (f"{name}={value!r}" for name, value in said.items() if value != plain[name])
        return f"intervals({', '.join([repr(self.level), *changed])})"


Confidence: TypeAlias = float | Intervals | None
"""The argument confidence=: a level, `intervals(...)`, or None for no intervals."""


@hint_at_arguments
def intervals(
    level: float = 0.95,
    *,
    method: IntervalMethod = "analytic",
    rate: RateMethod = "wilson",
    simultaneous: bool = False,
    resamples: int = _RESAMPLES,
    seed: int | None = None,
) -> Intervals:
    """Return how intervals are made, for `confidence=`, where a level alone does not say enough.

    `confidence=0.95` means `confidence=intervals(0.95)`.

    Parameters
    ----------
    level
        In this share of test sets an interval holds the true value, such as 0.95.
    method
        `"analytic"` is a formula for each metric. `"rectangle"`, for point metrics, takes the corners
        of the intervals of recall and fpr: it holds at least the level, but is wider. `"bootstrap"`
        resamples the examples of each class; it knows the errors of all curve metrics, and needs a
        DataFrame.
    rate
        The interval of recall and of fpr; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"`
        need a DataFrame.
    simultaneous
        True holds at all thresholds and prevalences at once with at least the level (Berk and Jones
        1979), and so at a threshold however it was found. It is wider, needs a DataFrame and SciPy, and
        does not take weights. An interval that is not simultaneous holds at each threshold by itself:
        in 22 to 86 % of test sets it holds at all of them.
    resamples, seed
        For the bootstrap: the number of replicates, and a seed that makes them repeatable.

    Examples
    --------
    >>> intervals(0.9, method="bootstrap", seed=1)
    intervals(0.9, method='bootstrap', seed=1)
    >>> intervals(0.95) == intervals(0.95, method="analytic")
    True
    """
    made = Intervals(
        check_confidence(level, "level="),
        kinds.read_choice("method=", method, get_args(IntervalMethod)),  # type: ignore[arg-type]
        rate,
        kinds.read_flag("simultaneous=", simultaneous),
        kinds.read_whole_number("resamples=", resamples, 2, most=kinds.MOST_REPEATS),
        kinds.read_seed(seed),
    )
    check_rate_method(rate, "rate=")
    if method != "bootstrap" and (made.seed is not None or made.resamples != _RESAMPLES):
        raise PrcError('resamples= and seed= are for method="bootstrap"; pass that, or leave them out')
    if method == "bootstrap" and (rate != "wilson" or simultaneous):
        raise PrcError(
            'method="bootstrap" resamples examples, and takes neither rate= nor simultaneous=; leave '
            "them out"
        )
    if simultaneous and (method != "analytic" or rate != "wilson"):
        raise PrcError(
            "simultaneous=True has intervals of rates of its own; leave out method= and rate="
        )
    return made


def read_certainty(
    confidence: float | Intervals,
    asker: str,
    methods: Collection[str] = ("analytic",),
    *,
    takes_rate: bool = False,
) -> Intervals:
    """Return what `confidence=` says; raise for an interval that the `asker` does not have."""
    if not isinstance(confidence, Intervals):
        return Intervals(check_confidence(confidence))
    if confidence.method not in methods:
        has = " or ".join(f'"{name}"' for name in methods)
        raise PrcError(f'{asker} has no intervals by method="{confidence.method}"; pass {has}')
    # Of `methods`, "rectangle" stands for all intervals of point metrics.
    if confidence.simultaneous and "rectangle" not in methods:
        raise PrcError(f"{asker} has no simultaneous intervals; leave out simultaneous=")
    if confidence.rate != "wilson" and not takes_rate:
        raise PrcError(f'{asker} takes rate="wilson" only; got rate="{confidence.rate}"; leave it out')
    return confidence
