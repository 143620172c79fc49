"""From words of the command line to values that methods take: one function for each kind of value."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

import polars as pl

from polars_prcurve.cli import table_files
from polars_prcurve.cli.table_files import TableFile
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.threshold_values import read_threshold_list, to_least_scores
from polars_prcurve.prevalence.eta_values import read_fraction, read_share_text


class Budget(NamedTuple):
    """A number of alerts among a number of events."""

    alerts: Fraction
    events: Fraction


def split_words(words: Sequence[str]) -> list[str]:
    """Return the words, with those that have commas split at these."""
    return [part.strip() for word in words for part in word.split(",") if part.strip()]


def parse_shares(words: Sequence[str]) -> list[float]:
    return [_parse_number(word, "a share such as 0.9") for word in split_words(words)]


def _parse_number(word: str, expected: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise PrcError(f"expected {expected}; got {word!r}") from None


def find_file(words: Sequence[str]) -> str | None:
    """Return the one file that an option names in place of values, or None if it names none."""
    return words[0] if len(words) == 1 and table_files.find_format(words[0]) else None


def parse_etas(words: Sequence[str]) -> list[float | None] | TableFile:
    """Return prevalences, None for the own one, or the table in a file."""
    if path := find_file(words):
        return TableFile(path, ("eta", "k", "n"))
    return [_parse_eta(word) for word in _split_etas(words)]


def _parse_eta(word: str) -> float | None:
    if word == "own":
        return None
    try:
        return read_share_text(word)
    except ValueError:
        raise PrcError(
            "expected --eta as shares such as 0.001, 1/1000 or, in quotes, '1 in 1000', ratios such as "
            f"1:999, own, or one file; got {word!r}"
        ) from None


def _split_etas(words: Sequence[str]) -> list[str]:
    """Return the words split at commas, except at those between thousands, as in `1 in 1,000`."""
    return [part.strip() for word in words for part in _ETA.findall(word) if part.strip()]


_ETA = re.compile(r"[^,]*\bin\s*[1-9]\d{0,2}(?:,\d{3}(?![\d.:/]|\s+in\b))+|[^,]+")


def parse_thresholds(words: Sequence[str]) -> list[str] | TableFile:
    """Return thresholds as they are written, or the table in a file."""
    if path := find_file(words):
        return TableFile(path, ("eta", "threshold"))
    if any(map(table_files.find_format, numbers := split_words(words))):
        raise PrcError(f"expected numbers, or one file; got {' '.join(words)}")
    return numbers


def parse_number_word(words: Sequence[str]) -> list[str]:
    """Return the words of a threshold that is one number; raise for a file."""
    if path := find_file(words):
        raise PrcError(f"this command takes one number as --threshold, and no file; got {path!r}")
    return split_words(words)


def parse_range(words: Sequence[str]) -> tuple[float | None, ...]:
    """Return the ends of a range of prevalences, each written as an eta."""
    return tuple(map(_parse_eta, words))


def parse_sizes(words: Sequence[str]) -> list[str | int]:
    """Return two numbers of examples, or the names of two columns."""
    return [int(word) if word.isdecimal() else word for word in words]


def parse_budgets(words: Sequence[str]) -> list[Budget]:
    """Return each `ALERTS/EVENTS` as its two numbers; raise unless all are among the same events."""
    try:
        budgets = [
            Budget(read_fraction(n), read_fraction(of))
            for n, of in (word.split("/") for word in split_words(words))
        ]
        if not all(0 <= budget.alerts <= budget.events and budget.events > 0 for budget in budgets):
            raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise PrcError(
            f"--alerts takes ALERTS/EVENTS, such as 500/2000000; got {' '.join(words)}"
        ) from None
    if len({budget.events for budget in budgets}) > 1:
        raise PrcError(
            "--alerts must be among the same number of events; run the command once for each number"
        )
    return budgets


def count_alerts(budgets: Sequence[Budget], per: float | None) -> tuple[list[float], float]:
    """Return the budgets among `per` events, or among their own number, and that number."""
    events = budgets[0].events if per is None else Fraction(per)
    return [float(budget.alerts * events / budget.events) for budget in budgets], float(events)


def parse_metrics(words: Sequence[str]) -> list[str]:
    """Return metrics as tables name them: `f1`, `f_beta(2)`, `best(f1)`."""
    text = ",".join(word.strip(" ,") for word in words)
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise PrcError(f"expected metrics, such as f1, f_beta(2) or best(f1); got {text}") from None
    return [ast.unparse(node) for node in (tree.elts if isinstance(tree, ast.Tuple) else [tree])]


# Values of a column, whose dtype tells how they are read -----------------------------------------

ColumnValue = Callable[[str, str, pl.DataType], Any]
"""A function of an option, a text and the dtype of a column."""


def parse_threshold(option: str, text: str, dtype: pl.DataType) -> Any:
    """Return a threshold from text: any number. For floats it is the score that is printed so."""
    if dtype.is_float() or (dtype == pl.Boolean and text.lower() in ("true", "false")):
        return parse_value(option, text, dtype)
    try:
        return Decimal(text)
    except InvalidOperation:
        raise PrcError(f"{option} takes a number; got {text!r}") from None


def parse_threshold_column(option: str, column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Return the thresholds in a column of a text file, each as `parse_threshold` reads it."""
    texts = [None if value is None else str(value) for value in column]
    numbers = [None if text is None else parse_threshold(option, text, dtype) for text in texts]
    if dtype.is_float():
        return pl.Series(column.name, numbers, dtype=dtype)
    exact = [n if n is None else read_threshold_list("threshold", [n], dtype)[0] for n in numbers]
    scores = to_least_scores(exact, dtype)
    if all(number is None or number == score for number, score in zip(exact, scores, strict=True)):
        return scores.alias(column.name)
    # Numbers that are no scores keep all their digits.
    decimals = [Decimal(n) for n in numbers if n is not None]
    finite = [n for n in decimals if n.is_finite()]
    places = max((-int(n.as_tuple().exponent) for n in finite), default=0)
    places, whole = max(0, places), max((n.adjusted() + 1 for n in finite), default=0)
    if len(finite) < len(decimals) or places + whole > _DIGITS:
        raise PrcError(f"{option} takes numbers of up to {_DIGITS} digits from a file")
    known = iter(decimals)
    return pl.Series(
        column.name,
        [n if n is None else next(known) for n in numbers],
        dtype=pl.Decimal(_DIGITS, places),
    )


_DIGITS = 38
"""The most digits that a Decimal column holds."""


def parse_value(option: str, text: str, dtype: pl.DataType) -> Any:
    """Return the text as a value of this dtype, which a column of the table has."""
    if dtype in (pl.String, pl.Enum, pl.Categorical):
        return text
    try:
        if dtype == pl.Boolean:
            return {"true": True, "false": False}[text.lower()]
        return Decimal(text) if dtype == pl.Decimal else pl.Series([text]).cast(dtype).item()
    except (KeyError, InvalidOperation, pl.exceptions.PolarsError):
        raise PrcError(f"{option} takes a value of a column of {dtype}; got {text!r}") from None
