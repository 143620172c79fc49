"""Numbers as people read them, in charts, reports and terminals: `13,360`, `3.7%`, `1 in 1,000`."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

from polars_prcurve.core.ground.message_text import add_noun, format_count
from polars_prcurve.core.inputs.table_reader import DroppedRows

SayShares: TypeAlias = Callable[[list[Any]], list[str]]  # writes the shares of one comparison
NO_BREAK = "\u00a0"
"""A blank at which no line ends: the narrow one (U+202F) runs digits together in Arial."""
MINUS = "\u2212"  # as wide as a plus sign, and no line ends at it
MILLION = 1_000_000.0  # has a word of its own: `per million cases`
RARELY_RIGHT = 0.02
"""A precision below which it is the number of alerts per true positive."""
FEW_FALSE_POSITIVES = 5  # a point of a curve that rests on fewer is dotted: chance decides about it
FEW_POSITIVES = 20  # so is one of fewer, of which a share is no finding
SCORE_COLUMNS = ("threshold", "score", "holds_from", "holds_to", "target")
"""What `say_threshold` writes in tables of all columns."""
_ONE_IN_BELOW = 0.001
"""Shares below this are written as `1 in 2,600`."""
_LEAST_IN_WORDS = 1e-21
"""Shares below this are written as `1e-300`. No case has a prevalence, or a precision, so near to 0."""
_ONE_IN_UP_TO = 0.1
"""Prevalences of which the least is above this are written in percent: 50% and not `1 in 2`."""
_MOST_TYPED = 10  # digits of a number that somebody may have typed; longer ones were computed
_DIGITS_OF_LONG = 7  # digits of a target that was computed, such as a third
_MOST_DECIMALS = 14  # beyond two digits, at most, that keep a value from reading as 100
_MOST_DECIMALS_OF_SHARE = 6  # the same of shares in percent

_INSIDE_NUMBER = re.compile(r"(?<=\b1) (?=in[ \u00a0]\d)|(?<=\b1[ \u00a0]in) (?=\d)")
"""The blanks in `1 in 80`, at which no line may end."""
_UNITS = "point|positive|negative|example|model|case|alert|more|recall|precision|power|confidence|CI"
_INTERVAL_OR_UNIT = re.compile(
    rf"\([{MINUS}\d.,%]+ to [{MINUS}\d.,%]+\)|[\d%] (?={_UNITS})|\b1 in [\d,]+|\b\d+ of (?=\d)"
)
"""An interval in brackets, a number with the word that it counts, or `1 in 80`: each is on one line."""


def format_level(confidence: float) -> str:
    """Return a level as `95%`."""
    return f"{100 * confidence:.6g}%"


def say_computed_level(confidence: float) -> str:
    """Return a level that was computed in three digits, or in as many as do not read as 100%."""
    digit_counts = itertools.count(3)
    rounded_levels = (float(f"{confidence:.{n_digits}g}") for n_digits in digit_counts)
    return format_level(next(level for level in rounded_levels if level < 1))


def say_signed(number: float, say_size: Callable[[float], str]) -> str:
    """Return a number that may be below 0: its size by `say_size`, without a sign if that is 0."""
    size_text = say_size(abs(number))
    is_zero = not size_text.strip("0.")
    return f"{MINUS}{size_text}" if number < 0 and not is_zero else size_text


def say_count(number: float, max_digits: int = 4) -> str:
    """Return an expected number in at most so many digits: `13,360` for 13361.8."""
    rounded_number = float(f"{number:.{min(max_digits, 3)}g}")
    if rounded_number < 100:  # 99.7 in two digits is 100
        return f"{rounded_number:g}"
    rounding_unit = 10 ** max(math.floor(math.log10(number)) + 1 - max_digits, 0)
    return glue_numbers(format_count(round(number / rounding_unit) * rounding_unit))


def say_threshold(threshold: Any, other_scores: Iterable[Any] | None = None) -> str:
    """Return a threshold in as few digits, two or more, as distinguish it from others and from 0 and 1.

    It is rounded down, so that the cases that it flags stay flagged, and no others if the next lower
    score is among `other_scores`. If these are not known, it has the digits that it was typed with, or
    six of more than these. Empty for None.
    """
    if not isinstance(threshold, float) or not math.isfinite(threshold):
        if isinstance(threshold, int | float) and not isinstance(threshold, bool):
            return say_signed(threshold, str)
        threshold_text = "" if threshold is None else str(threshold)
        return threshold_text.lower() if isinstance(threshold, bool) else threshold_text
    neighbour_scores = [float(score) for score in (*(other_scores or ()), 0, 1) if score is not None]
    lower_scores = [score for score in neighbour_scores if score < threshold]
    rounded_threshold = threshold
    n_typed_digits = _count_digits(Decimal(repr(threshold)))
    min_digits = (
        2 if other_scores is not None else n_typed_digits if n_typed_digits <= _MOST_TYPED else 6
    )
    for n_digits in range(min_digits, 18):
        rounded_threshold = float(Context(n_digits, ROUND_FLOOR).plus(Decimal(repr(threshold))))
        is_unlike_others = rounded_threshold == threshold or rounded_threshold not in neighbour_scores
        if is_unlike_others and all(score < rounded_threshold for score in lower_scores):
            break
    threshold_text = repr(rounded_threshold).removesuffix(".0").removeprefix("-")
    threshold_text = (
        f"{Decimal(threshold_text):f}" if 1e-9 < abs(rounded_threshold) < 1 else threshold_text
    )
    return f"{MINUS if rounded_threshold < 0 else ''}{threshold_text}"


def say_thresholds(
    thresholds: Sequence[Any], other_scores_per_threshold: Sequence[Iterable[Any] | None]
) -> list[str]:
    """Return thresholds as `say_threshold` does, with the decimals of the longest, if few."""
    threshold_texts = [
        say_threshold(*pair) for pair in zip(thresholds, other_scores_per_threshold, strict=True)
    ]
    n_decimals = max((len(text.partition(".")[2]) for text in threshold_texts), default=0)
    are_finite_floats = all(
        isinstance(threshold, float) and math.isfinite(threshold) for threshold in thresholds
    )
    if not (are_finite_floats and 0 < n_decimals <= _MOST_TYPED):
        return threshold_texts
    decimal_step = Decimal(1).scaleb(-n_decimals)
    rounded_thresholds = [
        Decimal(repr(threshold)).quantize(decimal_step, ROUND_FLOOR) for threshold in thresholds
    ]
    return [f"{rounded_threshold:f}".replace("-", MINUS) for rounded_threshold in rounded_thresholds]


def say_share(share: float) -> str:
    """Return a share in percent, as `3.7%`, and below a tenth of a percent as `1 in 2,600`."""
    return say_shares([share])[0]


def say_exactly(number: float) -> str:
    """Return a target as it was typed: `12,345.6`; one of more digits than are typed in seven."""
    return f"{_keep_typed(Decimal(repr(float(number)))):,f}"


def say_target(share: float) -> str:
    """Return a share as it was typed, in percent: `92.5%`; below a tenth of one as `1 in n` if exact."""
    one_in_count = round(1 / max(share, _LEAST_IN_WORDS))
    if 0 < share < _ONE_IN_BELOW and abs(one_in_count * share - 1) < 1e-9:
        return _say_one_in(one_in_count)
    exact_share = Decimal(repr(float(share)))
    if 0 < share < _LEAST_IN_WORDS:
        return say_share(share)
    # The digits of what is missing count, too: 0.9999999999 is not 100%.
    exact_percent = 100 * (_keep_typed(exact_share) if share < 0.5 else 1 - _keep_typed(1 - exact_share))
    return f"{exact_percent.normalize():f}%"


def _keep_typed(number: Decimal) -> Decimal:
    """Return a number that somebody may have typed, and one of more digits in seven, or whole."""
    if _count_digits(number) > _MOST_TYPED:
        number = Context(max(_DIGITS_OF_LONG, number.adjusted() + 1)).plus(number)
    return number.normalize()


def _count_digits(number: Decimal) -> int:
    return len(number.normalize().as_tuple().digits)


def _say_one_in(one_in_count: float) -> str:
    return glue_numbers(f"1 in {format_count(one_in_count)}")


def say_shares(shares: Sequence[float]) -> list[str]:
    """Return the shares of one comparison in one unit, and in as many digits as distinguish them.

    Those count as different that are so in two digits, of the largest one or of what it lacks to 100%.
    """
    if 0 < max(shares, default=0) < _ONE_IN_BELOW:
        return [_say_tiny(share) if share > 0 else "0" for share in shares]
    return [f"{percent_text}%" for percent_text in write_percents(shares, max_digits=2)]


def _say_tiny(share: float) -> str:
    return f"{share:.2g}" if share < _LEAST_IN_WORDS else _say_one_in(count_one_in(share))


def write_areas(areas: Sequence[float]) -> list[str]:
    """Return areas in two digits, or in more if one would read as 1."""
    return [write_apart([area_value], 1.0)[0] for area_value in areas]


def say_precisions(shares: Sequence[float]) -> list[str]:
    """Return precisions in one unit: as `1 in 68` if all are below 1 in 50, as decisions write them."""
    if 0 < max(shares, default=0) < RARELY_RIGHT:
        return [_say_one_in(count_one_in(share)) if share > 0 else "0" for share in shares]
    return say_shares(shares)


def are_rarely_right(precisions: Iterable[float], interval_highs: Iterable[float]) -> bool:
    """Return whether icons of one comparison are the alerts that one true one takes, and not 100.

    That is so if all precisions are below `RARELY_RIGHT`, and none may be above a half.
    """
    return 0 < max(precisions, default=0) < RARELY_RIGHT and all(high <= 0.5 for high in interval_highs)


def say_estimate(
    value: float, low: float | None, high: float | None, *, is_share: bool = True
) -> tuple[str, str]:
    """Return a value, and its interval as `3.3 to 4.3` or empty; a share has its sign at the value."""
    value_and_ends = [value] if low is None or high is None else [value, low, high]
    if is_share:
        value_text, *end_texts = write_percents(value_and_ends)
        return f"{value_text}%", " to ".join(end_texts)
    value_text, *end_texts = write_apart(value_and_ends)
    return value_text, " to ".join(end_texts)


def join_value(value_text: str, span_text: str) -> str:
    """Return a value with its interval in brackets behind it."""
    return f"{value_text} ({span_text})" if span_text else value_text


def write_percents(shares: Sequence[float], max_digits: int = 6) -> list[str]:
    """Return shares in percent, without its sign, as `write_apart` writes numbers."""
    percents = [100 * share for share in shares]
    return write_apart(percents, 100.0, max_digits, _MOST_DECIMALS_OF_SHARE)


def write_apart(
    numbers: Sequence[float],
    upper_limit: float = math.inf,
    max_digits: int = 6,
    max_decimals: float = math.inf,
) -> list[str]:
    """Return numbers of one interval in digits: `1.000`, `0.989` and `1.001`, or `12`, `7.1` and `19`.

    Each has two digits that count, and all have as few decimals beyond these as distinguish those
    that differ, in so many digits of the largest or of what it lacks to `upper_limit`. None that is
    below that reads as it: one that is nearer to it than `max_decimals` show is rounded down.
    """
    if not numbers:
        return []
    largest_number = max(map(abs, numbers))
    n_finest_decimals = (
        max_digits
        - 1
        - find_magnitude(min(largest_number, (upper_limit - largest_number) or largest_number))
    )
    n_finest_decimals = int(
        min(n_finest_decimals, max(max_decimals, max_digits - 1 - find_magnitude(largest_number)))
    )
    n_distinct_numbers = len({round(number, n_finest_decimals) for number in numbers})
    min_decimal_counts = [1 - find_magnitude(number) for number in numbers]
    number_texts: list[str] = []
    for n_decimals in range(min(min_decimal_counts), max(0, *min_decimal_counts) + _MOST_DECIMALS):
        number_texts = [
            _write_decimals(number, max(n_decimals, min_decimals), upper_limit)
            for number, min_decimals in zip(numbers, min_decimal_counts, strict=True)
        ]
        are_texts_distinct = (
            n_decimals > n_finest_decimals or len(set(number_texts)) >= n_distinct_numbers
        )
        reads_as_limit = any(number < upper_limit <= round(number, n_decimals) for number in numbers)
        if are_texts_distinct and (n_decimals >= max_decimals or not reads_as_limit):
            break
    return number_texts


def find_magnitude(number: float) -> int:
    """Return the power of ten of a number in two digits; of 0 and of what is not finite it is 1."""
    return int(f"{number:.1e}".partition("e")[2]) if number and math.isfinite(number) else 1


def _write_decimals(number: float, n_decimals: int, upper_limit: float) -> str:
    """Return a number in so many decimals, or rounded to tens, hundreds and so on if below 0."""
    if number in (0, upper_limit) or not math.isfinite(number):
        return f"{number + 0.0:g}"
    if number < upper_limit <= round(number, n_decimals):
        number = upper_limit - 10.0**-n_decimals
    return say_signed(round(number, n_decimals), f"{{:,.{max(n_decimals, 0)}f}}".format)


def say_eta(eta: float) -> str:
    """Return a prevalence as `1 in 80`, in percent if it is above 10% or a round percentage: `3%`."""
    return say_etas([eta])[0]


def say_etas(etas: Sequence[float], *, max_digits: int = 2) -> list[str]:
    """Return prevalences in one unit: `1 in n` if one is at most 10% and `1 in n` is right for all.

    Up to `max_digits` of n are written where two would read alike.
    """
    one_in_counts = [_find_one_in(eta) for eta in etas]
    for n_digits in range(3, max_digits + 1):
        if None not in one_in_counts and len({*one_in_counts}) < len({*etas}):
            one_in_counts = [count_one_in(eta, n_digits) for eta in etas]
    if min(etas, default=1) > _ONE_IN_UP_TO or None in one_in_counts:
        percent_texts = [write_apart([100 * eta], 100.0)[0] for eta in etas]
        for n_digits in range(3, max_digits + 1):  # of those that read alike
            longer_texts = (f"{100 * eta:.{n_digits}g}" for eta in etas)
            n_etas_of_text = Counter(
                percent_text for percent_text, _ in {*zip(percent_texts, etas, strict=True)}
            )
            percent_texts = [
                longer_text
                if n_etas_of_text[percent_text] > 1 and float(longer_text) < 100
                else percent_text
                for percent_text, longer_text in zip(percent_texts, longer_texts, strict=True)
            ]
        return [f"{Decimal(percent_text).normalize():f}%" for percent_text in percent_texts]
    return [_say_one_in(one_in_count) for one_in_count in one_in_counts if one_in_count is not None]


def map_etas(etas: Iterable[float | None]) -> dict[float, str]:
    """Return the text of each prevalence of one comparison, by `say_etas`: apart in up to 4 digits."""
    distinct_etas = sorted({eta for eta in etas if eta is not None})
    return dict(zip(distinct_etas, say_etas(distinct_etas, max_digits=4), strict=True))


def _find_one_in(eta: float) -> int | None:
    """Return n of `1 in n`; None above 10%, and for a round percentage, unless n is exact."""
    if not _LEAST_IN_WORDS <= eta < 1:
        return None
    one_in_count = round(1 / eta)
    if abs(one_in_count * eta - 1) < 1e-9 and one_in_count == float(f"{one_in_count:.3g}"):
        return one_in_count
    is_round_percent = eta >= 0.01 and abs(float(f"{eta:.2g}") - eta) < 1e-12
    return None if eta > _ONE_IN_UP_TO or is_round_percent else count_one_in(eta)


def count_of_100(share: float) -> int:
    """Return a share as a whole number of 100, which is 100 only if all are meant."""
    return min(math.floor(100 * share + 0.5), 99 if share < 1 else 100)


def count_one_in(share: float, n_digits: int = 2) -> int:
    """Return n of `1 in n` as a whole number, in two digits unless more are passed."""
    # Halves go up, as in a browser: `round` would make 1 in 12 of 12.5 where the slider has 1 in 13.
    exact_count = 1 / max(share, _LEAST_IN_WORDS)
    rounding_unit = 10.0 ** max(math.floor(math.log10(exact_count)) + 1 - n_digits, 0)
    return round(math.floor(exact_count / rounding_unit + 0.5) * rounding_unit)


def say_dropped_rows(dropped_rows: DroppedRows) -> str:
    """Return how many rows of a table are left out because a value is missing."""
    dropped_text = (
        f"{format_count(dropped_rows.n_dropped)} of {format_count(dropped_rows.n_rows)} "
        "rows are left out"
    )
    if dropped_rows.n_pos:  # what a model finds hard, it may leave without a score
        n_pos_text = (
            "all" if dropped_rows.n_pos == dropped_rows.n_dropped else format_count(dropped_rows.n_pos)
        )
        dropped_text += f" ({n_pos_text} positive)"
    hint_text = '; missing="below" ranks null scores last' if dropped_rows.may_rank_last else ""
    return f"{dropped_text}, because a value is missing in them{hint_text}"


def say_sizes(n_pos_text: str, n_neg_text: str) -> str:
    """Return the class sizes in words, from texts such as `1,048` or `25 to 423`."""
    return f"{add_noun(n_pos_text, 'positive')}, {add_noun(n_neg_text, 'negative')}"


def say_cases(n_cases: float) -> str:
    """Return a number of cases as `per million cases`, `per 1,000 cases` or `among 2,500 cases`."""
    if n_cases == MILLION:
        return "per million cases"
    is_round = str(int(n_cases)).rstrip("0") == "1" and n_cases == int(n_cases)
    number_text = f"{n_cases:,.0f}" if n_cases == round(n_cases) else f"{n_cases:,.6g}"
    return glue_numbers(f"{'per' if is_round else 'among'} {add_noun(number_text, 'case')}")


def keep_together(text: str) -> str:
    """Return a sentence with no line break in `(79 to 94)`, `28,000 negatives` or `50% recall`."""
    return _INTERVAL_OR_UNIT.sub(lambda match: match[0].replace(" ", NO_BREAK), text)


def glue_numbers(text: str) -> str:
    """Return the text with no line break in `1 in 250`."""
    return _INSIDE_NUMBER.sub(NO_BREAK, text)


def say_lead(
    lead_and_ends: Sequence[float],
    first_name: str,
    n_models: int,
    doubt_name: str | None,
    *,
    is_rate: bool = True,
) -> str:
    """Return how far the first model may be ahead of the best other one, or behind it."""
    lead_numbers = [100 * end if is_rate else end for end in lead_and_ends]
    lead_text, low_text, high_text = write_apart(lead_numbers)
    lead_text, gain_text = (
        add_noun(lead_sentence, "point") if is_rate else lead_sentence
        for lead_sentence in (lead_text, high_text)
    )
    pair_phrase = f"between {first_name} and the best of the others " if n_models > 2 else ""
    lead_sentence = f"{lead_text} {pair_phrase}({low_text} to {high_text})"
    if doubt_name:
        return f"{lead_sentence}, which is in doubt: {doubt_name}"
    if lead_numbers[1] >= 0 or lead_numbers[2] <= 0:
        return lead_sentence
    gain_phrase, loss_phrase = f"up to {gain_text} better", f"{low_text.removeprefix(MINUS)} worse"
    return f"{lead_sentence}, so {first_name} may be {gain_phrase}, or {loss_phrase}"
