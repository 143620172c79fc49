"""Numbers as people say them, in charts, reports and terminals: `13 360`, `3.7 %`, `1 in 1 000`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

from polars_prcurve.core.ground.safe_text import format_count
from polars_prcurve.core.inputs.table_reader import DroppedRows

SayShares: TypeAlias = Callable[[list[Any]], list[str]]  # says the shares of one comparison
NO_BREAK = "\u00a0"
"""A blank at which no line ends: the narrow one (U+202F) runs digits together in Arial."""
MINUS = "\u2212"  # as wide as a plus sign, and no line ends at it
MILLION = 1_000_000.0  # has a word of its own: `per million cases`
RARELY_RIGHT = 0.02
"""A precision below which people say how many alerts one right one takes."""
_ONE_IN_BELOW = 0.001
"""Shares below this are said as `1 in 2 600`."""
_TWO_DIGITS = 0.0995
"""Shares from this up are whole numbers of percent in two digits."""
_MOST_DECIMALS = 12  # a percent in so many is as exact as a double near 1, about

_INSIDE_NUMBER = re.compile(
    r"(?<=\d) (?=\d{3}(?!\d))|(?<=\d) (?=%)|(?<=\b1) (?=in[ \u00a0]\d)|(?<=\b1[ \u00a0]in) (?=\d)"
)
"""The blanks in `13 360`, `3.7 %` and `1 in 80`, at which no line may end."""


def format_level(confidence: float) -> str:
    """Return a level as `95 %`."""
    return f"{100 * confidence:.6g}{NO_BREAK}%"


def say_signed(number: float, say: Callable[[float], str], plus: str = "") -> str:
    """Return a number that may be below 0: its size as `say` writes it, without a sign if that is 0."""
    size = say(abs(number))
    is_zero = not size.strip("0.")
    return size if is_zero else f"{MINUS if number < 0 else plus}{size}"


def say_count(number: float, digits: int = 4) -> str:
    """Return an expected number in at most so many digits: `13 360` for 13361.8."""
    if number < 100:
        return f"{number:.{min(digits, 3)}g}"
    scale = 10 ** max(math.floor(math.log10(number)) + 1 - digits, 0)
    return glue_numbers(format_count(round(number / scale) * scale))


def say_threshold(threshold: Any, others: Iterable[Any] | None = None) -> str:
    """Return a threshold in as few digits, two or more, as tell it from others and from 0 and 1.

    It is rounded down, so that the cases that it flags stay flagged, and no others if the next lower
    score is among `others`. If these are not known, it has six digits. Empty for None.
    """
    if not isinstance(threshold, float) or not math.isfinite(threshold):
        words = "" if threshold is None else str(threshold)
        return words.lower() if isinstance(threshold, bool) else words
    neighbours = [float(other) for other in (*(others or ()), 0, 1) if other is not None]
    lower_ones, rounded_threshold = [other for other in neighbours if other < threshold], threshold
    for digits in range(6 if others is None else 2, 18):
        rounded_threshold = float(Context(digits, ROUND_FLOOR).plus(Decimal(repr(threshold))))
        is_unlike_others = rounded_threshold == threshold or rounded_threshold not in neighbours
        if is_unlike_others and all(other < rounded_threshold for other in lower_ones):
            break
    words = repr(rounded_threshold).removesuffix(".0")
    return f"{Decimal(words):f}" if 1e-9 < abs(rounded_threshold) < 1 else words


def say_share(share: float) -> str:
    """Return a share in percent, as `3.7 %`, and below a tenth of a percent as `1 in 2 600`."""
    if 0 < share < _ONE_IN_BELOW:
        return glue_numbers(f"1 in {format_count(count_one_in(share))}")
    if 0.95 <= share < 1:  # 99.96 % is not 100 %
        zeros = -math.floor(math.log10(100 * (1 - share)))
        text = f"{100 * share:.{min(zeros if zeros > 1 else zeros + 1, 8)}f}"
        return f"{float(text):.10g}{NO_BREAK}%"
    return f"{float(f'{100 * share:.2g}'):.10g}{NO_BREAK}%"


def say_part(share: float) -> str:
    """Return a target of recall as `half`, `a quarter`, `all`, or in percent."""
    return {0.5: "half", 1.0: "all", 0.25: "a quarter"}.get(share) or say_share(share)


def say_shares(shares: Sequence[float]) -> list[str]:
    """Return the shares of one comparison in one unit, and in as many digits as tell them apart.

    From 10 % up all have the fewest decimals in which those that differ in `say_share` still do and none
    reads as 100 %. Smaller ones have the fewest in which none moves by a twentieth, two digits at most.
    """
    texts = [say_share(share) for share in shares]
    if 0 < max(shares, default=0) < _ONE_IN_BELOW:
        return [text if share > 0 else "0" for share, text in zip(shares, texts, strict=True)]
    if len(set(texts)) < 2:
        return texts
    large = {share for share in shares if _TWO_DIGITS <= share < 1}
    small = {share for share in shares if 0 < share < _TWO_DIGITS}
    large_decimals = _count_decimals(large, lambda _, percent: float(percent) < 100)
    small_decimals = _count_decimals(
        small, lambda share, percent: abs(float(percent) / 100 - share) <= 0.05 * share
    )
    for number, share in enumerate(shares):
        if share in large:
            texts[number] = f"{100 * share:.{large_decimals}f}{NO_BREAK}%"
        elif share in small:
            two_digits = f"{Decimal(f'{100 * share:#.2g}'):f}"
            decimals = min(small_decimals, len(two_digits.partition(".")[2]))
            texts[number] = f"{100 * share:.{decimals}f}{NO_BREAK}%"
    return texts


def say_precisions(shares: Sequence[float]) -> list[str]:
    """Return precisions in one unit: as `1 in 68` if all are below 1 in 50, as decisions say them."""
    if 0 < max(shares, default=0) < RARELY_RIGHT:
        return [say_eta(share) if share > 0 else "0" for share in shares]
    return say_shares(shares)


def _count_decimals(shares: Collection[float], is_right: Callable[[float, str], bool]) -> int:
    """Return the fewest decimals of percents in which shares stay different and each is right."""
    n_different = len(set(map(say_share, shares)))

    def are_enough(decimals: int) -> bool:
        texts = [f"{100 * share:.{decimals}f}" for share in shares]
        return len(set(texts)) >= n_different and all(map(is_right, shares, texts))

    return next(filter(are_enough, range(_MOST_DECIMALS)), _MOST_DECIMALS)


def say_estimate(share: float, low: float | None, high: float | None) -> tuple[str, str]:
    """Return a share, and its interval as `3.3 % to 4.3 %` or empty, all in one unit."""
    if low is None or high is None:
        return say_share(share), ""
    value, *ends = say_shares([share, low, high])
    return value, f"{ends[0]} to {ends[1]}"


def say_eta(eta: float) -> str:
    """Return a prevalence as `1 in 80`, `1 in 125` if that is exact, in percent if 0 or above a half."""
    if not 0 < eta <= 0.5:
        return say_share(eta)
    whole = round(1 / eta)
    if abs(whole * eta - 1) < 1e-9 and whole == float(f"{whole:.3g}"):
        return glue_numbers(f"1 in {format_count(whole)}")
    n = count_one_in(eta) if 1 / eta >= 10 else float(f"{1 / eta:.2g}")
    return glue_numbers(f"1 in {format_count(n)}")


def say_where(eta: float) -> str:
    """Return where a prevalence holds: `where 1 in 1 000 is positive`, `where 80 % are positive`."""
    verb = "is" if 0 < eta <= 0.5 else "are"
    return f"where {say_eta(eta)} {verb} positive"


def count_of_100(share: float) -> int:
    """Return a share as a whole number of 100, which is 100 only if all are meant."""
    return min(math.floor(100 * share + 0.5), 99 if share < 1 else 100)


def count_one_in(share: float) -> int:
    """Return n of `1 in n` as a whole number in two digits."""
    # Halves go up, as in a browser: `round` would make 1 in 12 of 12.5 where the slider says 1 in 13.
    n = 1 / share
    scale = 10.0 ** max(math.floor(math.log10(n)) - 1, 0)
    return round(math.floor(n / scale + 0.5) * scale)


def say_dropped_rows(dropped: DroppedRows) -> str:
    """Return how many rows of a table are left out because a value is missing."""
    return (
        f"{format_count(dropped.n)} of {format_count(dropped.total)} {dropped.what} are left out, "
        "because a value is missing in them"
    )


def say_sizes(n_pos: str, n_neg: str) -> str:
    """Return the class sizes in words, from texts such as `1 048` or `25 to 423`."""
    return (
        f"{n_pos} positive{'' if n_pos == '1' else 's'}, {n_neg} negative{'' if n_neg == '1' else 's'}"
    )


def say_cases(per: float) -> str:
    """Return a number of cases as `per million cases`, `per 1 000 cases` or `among 2 500 cases`."""
    if per == MILLION:
        return "per million cases"
    is_round = str(int(per)).rstrip("0") == "1" and per == int(per)
    number = (f"{per:,.0f}" if per == round(per) else f"{per:,.6g}").replace(",", " ")
    return glue_numbers(f"{'per' if is_round else 'among'} {number} cases")


def glue_numbers(text: str) -> str:
    """Return the text with no line break inside a number, before a percent sign, or in `1 in 250`."""
    return _INSIDE_NUMBER.sub(NO_BREAK, text)
