"""Prevalences as users write them: numbers, texts such as "1 in 1000", ratios, and grids."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import polars as pl

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.argument_checks import find_repeats
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import describe_value
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.share_texts import SHARE_SIGN, read_share_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from polars_prcurve.core.prevalence.eta_by_parts_or_classes import ClassMix, Field


class UnlabelledTable(Protocol):
    """A bound table without labels, `prc(month, label=None)`, whose prevalence is to be estimated."""

    def estimate_prevalence(self, *arguments: Any, **keyword_arguments: Any) -> Any:
        """Return the prevalence of each of its groups."""


Eta: TypeAlias = (
    "float | str | Sequence[float | str | None] | NDArray[np.float64] | pl.Series"
    " | pl.DataFrame | pl.LazyFrame | Field | ClassMix | UnlabelledTable | None"
)
"""The argument eta=: a prevalence, several, a frame with a column eta, a field of several parts, or a
bound table without labels.

None is the prevalence of the group.
"""


@hint_at_arguments
def eta_grid(low: float = 1e-6, high: float = 0.5, n: int = 50) -> list[float]:
    """Return a grid of `n` prevalences, evenly spaced in log, and the powers of ten between them.

    Parameters
    ----------
    low, high
        Ends of the grid, which are part of it; 0 < low < high <= 1.
    n
        Number of log-spaced values, at least 2. Powers of ten that are not among them are added.

    Examples
    --------
    >>> eta_grid(0.001, 0.5, n=3)
    [0.001, 0.01, 0.022360679774997894, 0.1, 0.5]
    """
    low, high = arguments.read_pair("low, high", (low, high), "two prevalences")
    n = arguments.read_whole_number("n=", n, 0, greatest_number=arguments.MOST_REPEATS)
    if not 0 < low < high <= 1:
        raise PrcError(f"eta_grid needs 0 < low < high <= 1; got low={low}, high={high}")
    if n < 2:
        raise PrcError(f"eta_grid needs n >= 2; got {n}")
    log_step = math.log(high / low) / (n - 1)
    inner_etas = [low * math.exp(log_step * i) for i in range(1, n - 1)]
    powers_of_ten = [float(f"1e{exponent}") for exponent in range(math.ceil(math.log10(low)) - 1, 1)]
    inner_powers = [power for power in powers_of_ten if low < power < high]
    # A power of ten replaces a log-spaced value that differs from it by rounding only.
    spaced_etas = [
        eta
        for eta in inner_etas
        if not any(math.isclose(eta, power, rel_tol=1e-12) for power in inner_powers)
    ]
    return sorted({float(low), *spaced_etas, *inner_powers, float(high)})


@hint_at_arguments
def eta_from_ratio(ratio: str | float) -> float:
    """Return the prevalence at a ratio r of positives to negatives, `r / (1 + r)`.

    Parameters
    ----------
    ratio
        `"1:100"`, which is one positive to a hundred negatives, or the number 0.01. The texts `"1/100"`
        and `"1 in 100"` are shares of all, not ratios, and raise an error: pass them as `eta=`.

    Examples
    --------
    >>> eta_from_ratio("1:99")
    0.01
    >>> eta_from_ratio(1.0)
    0.5
    """
    if isinstance(ratio, str) and ":" not in ratio and SHARE_SIGN.search(ratio):
        raise PrcError(
            f"pass {describe_value(ratio)} as eta= as it stands: eta_from_ratio() takes "
            'positives per negative, such as "1:99"'
        )
    try:
        if isinstance(ratio, str):
            return read_share_text(ratio if ":" in ratio else f"{ratio}:1")
        ratio_number = arguments.read_number("ratio", ratio, "a number")
        return 1.0 if ratio_number == math.inf else read_share_text(f"{ratio_number!r}:1")
    except (ValueError, TypeError):
        raise PrcError(
            f'a ratio is positives to negatives, such as "1:100" or 0.01; got {describe_value(ratio)}'
        ) from None


@hint_at_arguments
def ratio_from_eta(eta: float) -> float:
    """Return the positives per negative at a prevalence, `eta / (1 - eta)`; infinite at 1.

    Examples
    --------
    >>> ratio_from_eta(0.5)
    1.0
    """
    eta = check_eta(eta)
    return eta / (1 - eta) if eta < 1 else math.inf


def read_eta_list(eta: object) -> list[float | None]:
    """Return one prevalence or several as a list, in which None is the prevalence of a group."""
    expected_phrase = "a number, a sequence, a frame with a column eta, or None"
    eta_values: list[Any] = [None]
    if isinstance(eta, Mapping):
        raise PrcError(
            "pass class_mix({...}) as eta= for the shares of classes, or a frame with the "
            "group columns and eta; got a mapping"
        )
    if eta is not None:
        eta_values = arguments.read_list("eta=", eta, expected_phrase, single_type=(Real, str))
    etas = [None if value is None else check_eta(value) for value in eta_values]
    if not etas:
        raise PrcError(
            "pass at least one prevalence as eta=, or None for the prevalence of each group; got none"
        )
    if repeated_etas := find_repeats(etas):
        raise PrcError(f"leave the repeats out of eta=, which holds {repeated_etas[0]} more than once")
    return etas


def check_eta(value: object) -> float:
    """Return a prevalence as a float; raise unless it is a number in [0, 1], or a text of one."""
    if isinstance(value, str):
        try:
            number = read_share_text(value)
        except ValueError:
            raise PrcError(
                'eta= takes numbers in [0, 1], or texts such as "0.1%", "1 in 1000" and "1:999"; '
                f"got {describe_value(value)} (a column? pass a frame, or in expressions "
                "pl.col(...).first())"
            ) from None
        return check_eta(number)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise PrcError(f"eta= takes numbers in [0, 1]; got {describe_value(value)}")
    eta = arguments.round_to_float(value)
    if not 0 <= eta <= 1:
        raise PrcError(
            f'eta= must be a share in [0, 1], such as 0.5 or "50%"; got {describe_value(value)}'
        )
    return eta
