"""What `confidence=` takes: a level, or `intervals(...)` with how intervals are made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, get_args

from polars_prcurve.core.confidence.rate_intervals import RateMethod, check_confidence, check_rate_method
from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import hint_at_arguments

IntervalMethod: TypeAlias = Literal["analytic", "rectangle", "bootstrap"]
"""Where intervals come from: a formula, the corners of two intervals, or resampled examples."""

_RESAMPLES = 1000
"""Enough that the ends at a level of 0.95 are quantiles with 25 replicates beyond them."""


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
        option_names = [option.name for option in fields(self) if option.name != "level"]
        default_of_option, value_of_option = vars(Intervals(self.level)), vars(self)
        option_words = (
            f"{name}={value_of_option[name]!r}"
            for name in option_names
            if value_of_option[name] != default_of_option[name]
        )
        return f"intervals({', '.join([repr(self.level), *option_words])})"


Confidence: TypeAlias = float | str | Intervals | None
"""The argument confidence=: a level, `intervals(...)`, or None for no intervals."""


@hint_at_arguments
def intervals(
    level: float | str = 0.95,
    *,
    method: IntervalMethod = "analytic",
    rate: RateMethod = "wilson",
    simultaneous: bool = False,
    resamples: int = _RESAMPLES,
    seed: int | None = None,
) -> Intervals:
    """Return how intervals are made, for `confidence=`, where a level is not enough.

    `confidence=0.95` means `confidence=intervals(0.95)`.

    Parameters
    ----------
    level
        The share of test sets in which an interval contains the true value, such as 0.95.
    method
        `"analytic"` is a formula for each metric. `"rectangle"`, for point metrics, uses the corners of
        the intervals of recall and fpr: it has at least the level, but is wider. `"bootstrap"` resamples
        the examples of each class; it has intervals of all curve metrics, and needs a DataFrame.
    rate
        The interval of recall and of fpr; see `rate_interval`. `"clopper_pearson"` and `"jeffreys"`
        need a DataFrame.
    simultaneous
        True: intervals that hold at all thresholds and prevalences simultaneously, with at least the
        level (Berk and Jones 1979), and so at any chosen threshold. They are wider, need a DataFrame and
        SciPy, and do not take weights. An interval that is not simultaneous holds at each threshold by
        itself: in 22 to 86% of test sets it holds at all of them.
    resamples, seed
        For the bootstrap: the number of replicates, and a seed that makes them repeatable.

    Examples
    --------
    >>> intervals(0.9, method="bootstrap", seed=1)
    intervals(0.9, method='bootstrap', seed=1)
    >>> intervals(0.95) == intervals(0.95, method="analytic")
    True
    """
    options = Intervals(
        check_confidence(level, "level="),
        method=arguments.read_choice("method=", method, get_args(IntervalMethod)),  # type: ignore[arg-type]
        rate=rate,
        simultaneous=arguments.read_flag("simultaneous=", simultaneous),
        resamples=arguments.read_whole_number(
            "resamples=", resamples, 2, greatest_number=arguments.MOST_REPEATS
        ),
        seed=arguments.read_seed(seed),
    )
    check_rate_method(rate, "rate=")
    if method != "bootstrap" and (options.seed is not None or options.resamples != _RESAMPLES):
        raise PrcError(
            'pass method="bootstrap", or leave out resamples= and seed=: only the bootstrap uses them'
        )
    if method == "bootstrap" and (rate != "wilson" or simultaneous):
        raise PrcError(
            'leave out rate= and simultaneous=: method="bootstrap" resamples examples and takes neither'
        )
    if simultaneous and (method != "analytic" or rate != "wilson"):
        raise PrcError("leave out method= and rate=: simultaneous=True uses its own intervals of rates")
    return options


def read_interval_options(
    confidence: float | str | Intervals,
    caller_name: str,
    methods: Collection[str] = ("analytic",),
    *,
    takes_rate: bool = False,
) -> Intervals:
    """Return what `confidence=` holds; raise for an interval that the caller does not have."""
    if isinstance(confidence, str) and confidence in methods:
        raise PrcError(
            f'pass confidence=intervals(0.95, method="{confidence}"), which also sets the level'
        )
    if not isinstance(confidence, Intervals):
        return Intervals(check_confidence(confidence))
    if confidence.method not in methods:
        method_words = " or ".join(f'"{name}"' for name in methods)
        raise PrcError(
            f'pass {method_words}: {caller_name} has no intervals by method="{confidence.method}"'
        )
    # Of `methods`, "rectangle" represents all intervals of point metrics.
    if confidence.simultaneous and "rectangle" not in methods:
        raise PrcError(f"leave out simultaneous=: {caller_name} has no simultaneous intervals")
    if confidence.rate != "wilson" and not takes_rate:
        raise PrcError(f'leave out rate="{confidence.rate}": {caller_name} takes rate="wilson" only')
    return confidence
