"""Prevalences as users write them: numbers, sequences of numbers, ratios, and grids."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from polars_prcurve.argument_kinds import (
    MOST_REPEATS,
    read_list,
    read_number,
    read_pair,
    read_whole_number,
    refuse_kind,
    round_to_float,
    take_frame,
)
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.errors import PrcError, describe_value, find_repeats

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from polars_prcurve.binding.bound_table import BoundTable
    from polars_prcurve.prevalence.field_values import ClassMix, Field


EtaFrame: TypeAlias = pl.DataFrame | pl.LazyFrame

Eta: TypeAlias = (
    "float | str | Sequence[float | str | None] | NDArray[np.float64] | pl.Series | EtaFrame"
    " | Field | ClassMix | BoundTable[Any] | None"
)
"""The argument eta=: a prevalence, several, a frame with a column eta, a field of several parts, or a
bound table without labels.

None is the own prevalence.
"""


@hint_at_arguments
def eta_grid(low: float = 1e-6, high: float = 0.5, n: int = 50) -> list[float]:
    """Return a grid of `n` prevalences, evenly spaced in log, and of the powers of ten between them.

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
    low, high = read_pair("low, high", (low, high), "two prevalences")
    n = read_whole_number("n=", n, 0, most=MOST_REPEATS)
    if not 0 < low < high <= 1:
        raise PrcError(f"eta_grid needs 0 < low < high <= 1; got low={low}, high={high}")
    if n < 2:
        raise PrcError(f"eta_grid needs n >= 2; got {n}")
    step = math.log(high / low) / (n - 1)
    inner = [low * math.exp(step * k) for k in range(1, n - 1)]
    tens = [float(f"1e{k}") for k in range(math.ceil(math.log10(low)) - 1, 1)]
    powers = [ten for ten in tens if low < ten < high]
    # A power of ten replaces a log-spaced value that differs from it by rounding only.
    spaced = [x for x in inner if not any(math.isclose(x, ten, rel_tol=1e-12) for ten in powers)]
    return sorted({float(low), *spaced, *powers, float(high)})


@hint_at_arguments
def eta_from_ratio(ratio: str | float) -> float:
    """Return the prevalence at a ratio r of positives to negatives, `r / (1 + r)`.

    Parameters
    ----------
    ratio
        `"1:100"`, which is one positive to a hundred negatives, or the number 0.01. The texts `"1/100"`
        and `"1 in 100"` are shares of all, not ratios, and raise: pass them as `eta=`.

    Examples
    --------
    >>> eta_from_ratio("1:99")
    0.01
    >>> eta_from_ratio(1.0)
    0.5
    """
    if isinstance(ratio, str) and ":" not in ratio and _SHARE.search(ratio):
        raise PrcError(
            f"a ratio is positives to negatives; {describe_value(ratio)} is a share of all, which eta= "
            "takes as it stands"
        )
    try:
        if isinstance(ratio, str):
            return _divide_ratio(ratio if ":" in ratio else f"{ratio}:1")
        number = read_number("ratio", ratio, "a number")
        return 1.0 if number == math.inf else _divide_ratio(f"{number!r}:1")
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise PrcError(
            f'a ratio is positives to negatives, such as "1:100" or 0.01; got {describe_value(ratio)}'
        ) from None


def _divide_ratio(text: str) -> float:
    """Return the share of positives in a text such as `1:99`; raise a `ValueError` for others."""
    positives, _, negatives = text.partition(":")
    pos, neg = _read_plain(positives), _read_plain(negatives)
    if pos < 0 or neg < 0:
        raise ValueError(f"a number is negative: {text}")
    return float(pos / (pos + neg))


_SHARE = re.compile(r"/|\bin\b")


def read_share_text(text: str) -> float:
    """Return the prevalence in a text as people write it; raise a `ValueError` unless it is one.

    `0.001`, `1/1000` and `1 in 1 000` are shares of all; `1:999` is a ratio of positives to negatives.
    """
    try:
        if ":" in text:
            return _divide_ratio(text)
        part, separator, of = _SHARE.sub("/", text).partition("/")
        return float(_read_plain(part) / (_read_plain(of) if separator else 1))
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"no share: {text}") from None


def read_share(
    argument: str, value: object, expected: str, holds: Callable[[float], bool] | None = None
) -> float:
    """Return the share that a number or a text says; raise unless `holds` is true of it."""
    try:
        number = read_share_text(value) if isinstance(value, str) else value
    except ValueError:
        raise refuse_kind(argument, expected, value) from None
    share = read_number(argument, number, expected)
    if holds is not None and not holds(share):
        raise refuse_kind(argument, expected, value)
    return share


def _read_plain(text: str) -> Fraction:
    """Return the number in a text, which may have a blank or a comma between thousands: `1 000`."""
    if "/" in (text := text.strip()):
        raise ValueError(f"not one number: {text}")
    return read_fraction(re.sub(_BETWEEN_THOUSANDS, "", text) if _THOUSANDS.fullmatch(text) else text)


_BETWEEN_THOUSANDS = "[ ,_\u00a0\u2009\u202f]"
"""What is written between thousands: a blank, plain, unbreakable, thin or narrow; a comma; or a `_`."""
_THOUSANDS = re.compile(rf"[1-9]\d{{0,2}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+")  # so that 0,001 is none


def read_fraction(text: str) -> Fraction:
    """Return the number in a text exactly; raise a `ValueError` unless it is one of a sane size.

    `Fraction("1e99999999")` would write out a hundred million digits.
    """
    exponents = _EXPONENT.findall(text.replace("_", ""))
    if any(len(digits) > _MAX_EXPONENT_DIGITS for digits in exponents):
        raise ValueError(f"the exponent is too large: {text}")
    return Fraction(text.strip())


_EXPONENT = re.compile(r"[eE][+-]?0*(\d+)")
_MAX_EXPONENT_DIGITS = 4


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
    """Return one prevalence or several as a list, in which None is the own prevalence of a group."""
    if eta is None or isinstance(eta, Real | str):
        given: list[object] = [eta]
    elif isinstance(eta, pl.Series):
        given = eta.to_list()
    else:
        expected = "a number, a sequence, a frame with a column eta, or None"
        given = read_list("eta=", take_frame(eta), expected)
    values = [None if value is None else check_eta(value) for value in given]
    if not values:
        raise PrcError("eta= holds no prevalence; pass None for each group's own prevalence")
    if repeats := find_repeats(values):
        raise PrcError(f"eta= holds {repeats[0]} more than once; leave the repeats out")
    return values


def check_eta(value: object) -> float:
    """Return a prevalence as a float; raise unless it is a number in [0, 1], or a text that says one."""
    if isinstance(value, str):
        try:
            number = read_share_text(value)
        except ValueError:
            raise PrcError(
                'eta= takes numbers in [0, 1], or texts such as "1/1000", "1 in 1000" and "1:999"; '
                f"got {describe_value(value)} (a column? pass a frame, or in expressions "
                "pl.col(...).first())"
            ) from None
        return check_eta(number)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise PrcError(f"eta= takes numbers in [0, 1]; got {describe_value(value)}")
    eta = round_to_float(value)
    if not 0 <= eta <= 1:
        raise PrcError(
            f"eta= must lie in [0, 1], a share and not a percentage; got {describe_value(value)}"
        )
    return eta
