"""Shares as users write them: numbers, and texts such as "80%", "1/1000", "1 in 1,000" and "1:999"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from polars_prcurve.core.ground import argument_checks as arguments
from polars_prcurve.core.ground.lazy_modules import fractions

SHARE_SIGN = re.compile(r"/|\bin\b")  # between both numbers of 1/1000, and of 1 in 1000


def read_share_text(text: str) -> float:
    """Return the share in a text, such as 1/1000, 0.1% or 1:999; raise a `ValueError` if it has none."""
    text = text.strip()
    try:
        if ":" in text:
            n_pos, n_neg = map(read_plain, text.split(":", 1))
            if n_pos < 0 or n_neg < 0:
                raise ValueError(f"a number is negative: {text}")
            return float(n_pos / (n_pos + n_neg))
        if text.endswith("%"):
            return float(read_plain(text[:-1]) / 100)
        part_text, separator, whole_text = SHARE_SIGN.sub("/", text).partition("/")
        return float(read_plain(part_text) / (read_plain(whole_text) if separator else 1))
    except (ZeroDivisionError, OverflowError):
        raise ValueError(f"no share: {text}") from None


def read_share(
    argument_name: str,
    value: object,
    expected_phrase: str,
    accepts_number: Callable[[float], bool] | None = None,
) -> float:
    """Return the share that a number or a text gives; raise unless `accepts_number` is true of it."""
    try:
        number = read_share_text(value) if isinstance(value, str) else value
        return arguments.read_number(argument_name, number, expected_phrase, accepts_number)
    except ValueError:
        raise arguments.refuse_kind(argument_name, expected_phrase, value) from None


def read_share_texts(value: Any) -> Any:
    """Return a value in which texts of shares, alone or in a list, are numbers; all others stay."""
    if isinstance(value, list | tuple):
        return [read_share_texts(number) for number in value]
    try:
        return read_share_text(value) if isinstance(value, str) else value
    except ValueError:
        return value


def read_plain(text: str) -> fractions.Fraction:
    """Return the number in a text, which may have a blank or a comma between thousands: `1,000`."""
    if "/" in (text := text.strip()):
        raise ValueError(f"not one number: {text}")
    return read_fraction(re.sub(_BETWEEN_THOUSANDS, "", text) if _THOUSANDS.fullmatch(text) else text)


_BETWEEN_THOUSANDS = "[ ,_\u00a0\u2009\u202f]"
"""What is written between thousands: a blank, plain, unbreakable, thin or narrow; a comma; or a `_`."""
_THOUSANDS = re.compile(rf"[1-9]\d{{0,2}}(?:{_BETWEEN_THOUSANDS}\d{{3}})+")  # so that 0,001 is none


def read_fraction(text: str) -> fractions.Fraction:
    """Return the number in a text exactly; raise a `ValueError` unless it is one of a sane size."""
    # Fraction("1e99999999") would write out a hundred million digits.
    exponent_texts = _EXPONENT.findall(text.replace("_", ""))
    if any(len(exponent_text) > _MAX_EXPONENT_DIGITS for exponent_text in exponent_texts):
        raise ValueError(f"the exponent is too large: {text}")
    return fractions.Fraction(text.strip())


_EXPONENT = re.compile(r"[eE][+-]?0*(\d+)")  # the digits that give its size
_MAX_EXPONENT_DIGITS = 4  # enough for all floats, whose exponents have 3, and too few to fill memory
