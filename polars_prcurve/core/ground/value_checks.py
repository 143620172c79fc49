"""Checks that only values can answer, carried in the plan of a query.

What arguments and schema tell fails at the call. What only values tell cannot: a lazy query holds
no values yet. For that a *guard* rides in the plan: a native expression that is 0 while every check
holds, and otherwise an operation that fails and quotes a sentence, so that Polars stops the query.

    PrcError (a ValueError)                      from methods of a DataFrame
    polars.exceptions.InvalidOperationError      from a LazyFrame that the user collects

The dtype of an expression is known no earlier than in a query either, so expressions have their dtypes
checked in the same way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.errors import PrcError, describe_value
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.safe_text import SYMBOLS, VISIBLE

_SIGNATURE = "\n(a check of polars_prcurve)"
"""The end of a sentence in an error of Polars, by which `translate_errors` knows it."""

# What Polars writes before the value of a wrong argument; see `_fail_unless_passed`.
_QUOTED = re.compile(rf"^Invalid argument - (.*?){re.escape(_SIGNATURE)}", re.S)
_PASSED = "raise"  # a value of `ambiguous` that no date of the time zone GMT minds

_BROKEN_CHECK = f"{RESERVED}check"  # the sentence of a broken check, in a query that is about to stop


class Check(NamedTuple):
    """A condition that must not occur, and the sentence that reports it."""

    broken: pl.Expr
    """A Boolean scalar: the condition occurs."""
    sentence: tuple[str | pl.Expr, ...]
    """Its parts: text, and scalars that are numbers or what `show_value` returns."""


def show_value(value: pl.Expr) -> pl.Expr:
    """Return a value of the user's table as a String without control characters."""
    return value.cast(pl.String).str.replace_many([*SYMBOLS], [*SYMBOLS.values()])


def guard(checks: Iterable[Check]) -> pl.Expr:
    """Return a scalar Int64 expression that is 0 if no check is broken, and stops the query otherwise.

    It must stand where the optimizer cannot prune it: in a value itself, or in the filter of a table.
    """
    return _fail_unless_passed(_report(checks))


def stop_if_broken(frame: pl.LazyFrame, checks: Iterable[Check]) -> pl.LazyFrame:
    """Return the table; the query stops if a check over the whole table is broken.

    Every result has to be joined with this table, so that no check can be optimized away.
    """
    # Polars prints the expression that failed. As a column of its own the report is left out of it.
    return (
        frame.with_columns(_report(checks).alias(_BROKEN_CHECK)).filter(_HAS_PASSED).drop(_BROKEN_CHECK)
    )


def _report(checks: Iterable[Check]) -> pl.Expr:
    """Return the sentence of the first broken check, or `_PASSED`."""
    report: pl.Expr = pl.lit(_PASSED)
    for check in reversed(list(checks)):
        parts = (
            pl.lit(part.translate(VISIBLE)) if isinstance(part, str) else part.cast(pl.String)
            for part in check.sentence
        )
        # A null part would make a null sentence, which no error quotes.
        sentence = pl.concat_str(pl.lit("- "), *parts, pl.lit(_SIGNATURE), ignore_nulls=True)
        report = pl.when(check.broken).then(sentence).otherwise(report)
    return report


def _fail_unless_passed(report: pl.Expr) -> pl.Expr:
    """Return 0 where the report is `_PASSED`; any other report stops the query."""
    # Polars has no operation that raises a given text. Of all that fail and quote a value, this one
    # quotes it earliest: after the words "Invalid argument". A cast says 80 letters first.
    epoch = pl.datetime(1970, 1, 1, time_zone="GMT", ambiguous=report)
    return epoch.cast(pl.Int64)


# The filter of a table that carries a report; it is built once, since expressions cost time.
_HAS_PASSED = _fail_unless_passed(pl.col(_BROKEN_CHECK).first()) == 0


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise a `PrcError` with the sentence of a guard in place of the Polars error that quotes it."""
    try:
        yield
    except pl.exceptions.InvalidOperationError as error:
        raise _translate_error(error) from None


def _translate_error(error: Exception) -> Exception:
    """Return the error of a guard as a `PrcError`, and any other as it is."""
    match = _QUOTED.search(str(error))
    return error if match is None else PrcError(match.group(1))


def run_query(query: pl.LazyFrame, n_rows: int | None = None) -> pl.DataFrame:
    """Collect a query of about `n_rows`, if known; raise a `PrcError` if one of its guards stops it."""
    # The default is the streaming engine, which takes milliseconds to start, and holds less in memory.
    # Few rows are collected in memory, unless the user has chosen an engine.
    is_chosen = "POLARS_ENGINE_AFFINITY" in os.environ  # which pl.Config.set_engine_affinity sets, too
    is_small = not is_chosen and n_rows is not None and n_rows <= _FEW_ROWS
    try:
        return query.collect(engine="in-memory" if is_small else "auto")
    except pl.exceptions.InvalidOperationError as error:
        raise _translate_error(error) from None


_FEW_ROWS = 100_000
"""With up to this many rows every method was faster in memory, and with 1 000 rows twice as fast."""


# Dtypes ---------------------------------------------------------------------------------------


_ALLOWED: dict[tuple[int, pl.DataType], tuple[bool, selectors.Selector]] = {}
"""Whether a dtype is allowed by a rule, by the id of its selector, which is held here, too.

Expanding a selector costs a millisecond."""


class DtypeRule(NamedTuple):
    """The dtypes that a column may have, and what to say of a column of another dtype."""

    allowed: selectors.Selector
    remedy: str

    def require(self, subject: str, dtype: pl.DataType) -> None:
        """Raise unless a column of this dtype passes; `subject` names the column in the error."""
        key = id(self.allowed), dtype
        if key not in _ALLOWED:  # the selector is held, so that no other one can get this id
            _ALLOWED[key] = bool(selectors.expand_selector({"": dtype}, self.allowed)), self.allowed
        if not _ALLOWED[key][0]:
            column = pl.DataFrame(schema={"x": dtype})
            dtype_name: str = column.select(pl.dtype_of("x").display()).item()
            raise PrcError(f"{subject} is {_DTYPE_NAMES.get(dtype_name, dtype_name)}{self.remedy}")

    def restrict(self, subject: str, value: pl.Expr) -> pl.Expr:
        """Return an expression as it is; the query stops if its dtype is not allowed."""
        dtype = pl.dtype_of(value)
        dtype_name = dtype.display().replace(_DTYPE_NAMES)
        is_allowed = dtype.matches(self.allowed)
        check = Check(~is_allowed, (f"{subject} is ", dtype_name, self.remedy))
        # Polars knows `is_allowed` once it knows the dtype. It then takes one branch and forgets the
        # other, so nothing is computed for the check.
        return pl.when(pl.when(is_allowed).then(True).otherwise(guard([check]) == 0)).then(value)


_DTYPE_NAMES = {
    **{"str": "String", "cat": "Categorical", "enum": "Enum", "binary": "Binary", "bool": "Boolean"},
    **{"date": "Date", "time": "Time", "null": "Null", "object": "Object"},
    **{f"i{bits}": f"Int{bits}" for bits in (8, 16, 32, 64, 128)},
    **{f"u{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64, 128)},
    **{f"f{bits}": f"Float{bits}" for bits in (16, 32, 64)},
}
"""The names of dtypes in Python, by the names that Polars prints."""


# Rules of values --------------------------------------------------------------------------------

# Frame methods and expressions raise the same sentences. The number of rows that are wrong comes from a
# parameter `count`: an expression sums in its context, and a frame method reads a sum from the table of
# groups (see `input_tables`).

RowCounter: TypeAlias = Callable[[pl.Expr], pl.Expr]
"""A function from a Boolean expression to the number of rows in which it is true, as a scalar."""

# What a score may be: numbers, and Booleans as the answers of a rule
SCORE_DTYPES = DtypeRule(
    selectors.numeric() | selectors.boolean(), "; a score is a float, an integer, a Decimal or a Boolean"
)
# Counts and weights
AMOUNT_DTYPES = DtypeRule(selectors.numeric(), "; expected numbers >= 0")
# Scores that are read as probabilities: 0 and 1 of Booleans are some, and a column of nulls is empty.
POSTERIOR_DTYPES = DtypeRule(
    selectors.numeric() | selectors.boolean() | selectors.by_dtype(pl.Null),
    "; expected probabilities of the positive class",
)
# Prevalences: a null stands for the own prevalence of a group.
ETA_DTYPES = DtypeRule(selectors.numeric() | selectors.by_dtype(pl.Null), "; expected shares in [0, 1]")
# Recall and fpr of a table of published points
RATE_DTYPES = DtypeRule(selectors.numeric(), "; expected rates in [0, 1]")


def count_check(n: pl.Expr, before: str, after: str) -> Check:
    """Return the check that n is 0, with the number between the two halves of its sentence."""
    return Check(n > 0, (before, n, after))


@dataclass(frozen=True)
class ValueRule:
    """What no row of a column may be; called with the column, it returns the check of that."""

    is_wrong: Callable[..., pl.Expr]
    trouble: str
    todo: str

    def __call__(self, count: RowCounter, subject: str, *values: pl.Expr) -> list[Check]:
        n = count(self.is_wrong(*values))
        return [Check(n > 0, (f"{subject} is {self.trouble} in ", n, f" row(s); {self.todo}"))]


# Of counts and weights
amount_checks = ValueRule(
    # NaN is above every number in Polars, so one comparison finds it and infinity.
    lambda value: (value < 0) | (value.cast(pl.Float64) >= float("inf")),
    "negative, infinite or NaN",
    "expected finite numbers >= 0",
)
# Of counts that a method needs as numbers of examples: below 2**62 they fit an Int64 with room to spare
whole_checks = ValueRule(
    lambda number: (number != number.floor()) | (number >= 2.0**62),
    "no whole number below 2**62",
    "expected numbers of examples, neither shares nor sums of weights",
)
# Of the sums of squared weights of a table of counts
square_checks = ValueRule(
    # By the room of 1e-9, more than sums of floats are off, squares may exceed the square of their
    # count. They may be 0, beside a weight so small that its square is no float.
    lambda total, squares: squares > total * total * (1 + 1e-9),
    "no sum of squared weights beside its count",
    "expected sums of the squares of the same weights, as counts(weight=) gives them",
)
# Of recall and fpr
rate_checks = ValueRule(
    lambda value: ~value.is_between(0, 1), "outside [0, 1]", "expected rates, not percent"
)
# Of scores that are read as probabilities
posterior_checks = ValueRule(
    lambda value: (value < 0) | (value > 1),  # true of NaN, which is above every number
    "outside [0, 1] or NaN",
    "expected probabilities of the positive class",
)
# The same where a table without labels could have a reference in place of probabilities
unlabelled_checks = replace(
    posterior_checks,
    todo=f"{posterior_checks.todo}; if scores are not probabilities, pass reference=, a labelled table "
    "with scores of the same model",
)
# Of prevalences
eta_checks = ValueRule(
    lambda eta: (eta < 0) | (eta > 1), "outside [0, 1]", "expected shares, not percent"
)
# Of prevalences by whose odds something is multiplied or divided
inner_eta_checks = ValueRule(
    lambda eta: (eta <= 0) | (eta >= 1),  # where the odds are infinite or 0
    "not between 0 and 1",
    "expected shares of positives, not percent, and neither 0 nor 1",
)
# The end of both sentences about weights beside stratum=
_STRATUM_WEIGHT = "pass the rows of its stratum over those that were drawn from it"
# Of weights beside stratum=, each the number of rows that one stands for: at least itself. The room of
# 1e-9 is for weights that were divided out; above 2**53 floats do not tell numbers of rows apart.
stratum_weight_checks = ValueRule(
    lambda weight: (weight > 0) & ((weight < 1 - 1e-9) | (weight > 2.0**53)),
    "below 1 or above 2**53",
    f"beside stratum= {_STRATUM_WEIGHT}",
)
# Of the same weights: those of one stratum are equal, with the same room
equal_weight_checks = ValueRule(
    lambda weight, stratum_weight: (weight > 0) & (weight < stratum_weight * (1 - 1e-9)),
    "less than elsewhere in its stratum",
    _STRATUM_WEIGHT,
)


def is_missing(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return whether a value is null, or NaN if it is a float."""
    return value.is_null() | value.is_nan() if dtype.is_float() else value.is_null()


def missing_checks(
    count: RowCounter, subject: str, value: pl.Expr, *, nan: bool, null: bool = True
) -> list[Check]:
    """Return checks that no value is null, and, with `nan`, that none is NaN."""
    tests = {"null": value.is_null()} if null else {}
    tests |= {"NaN": value.cast(pl.Float64).is_nan()} if nan else {}
    todo = ' row(s); filter those rows out, or pass missing="drop" to a frame method'
    counts = {trouble: count(test) for trouble, test in tests.items()}
    return [Check(n > 0, (f"{subject} is {trouble} in ", n, todo)) for trouble, n in counts.items()]


def label_checks(count: RowCounter, subject: str, value: pl.Expr) -> list[Check]:
    """Return checks that all numeric labels are in {0, 1}, or all in {-1, 1}."""
    todo = "; expected {0, 1} or {-1, 1}, or pass pos_label="
    zeros, ones, minus_ones = (count(value == valid) for valid in (0, 1, -1))
    others = count(value.is_not_null()) - zeros - ones - minus_ones
    mixed = (f"{subject} mixes ", zeros, " row(s) of 0 with ", minus_ones, f" of -1{todo}")
    not_binary = count_check(others, f"{subject} is not binary in ", f" row(s){todo}")
    return [not_binary, Check((zeros > 0) & (minus_ones > 0), mixed)]


def pos_label_checks(count: RowCounter, subject: str, positive: pl.Expr, pos_label: Any) -> list[Check]:
    """Return a check that the positive label occurs: a misspelt one would leave no positives."""
    rows = count(pl.lit(True) | positive)  # as long as the column, which a literal alone is not
    text = (
        f" row(s) and none equals pos_label={pos_label!r}; check the spelling, or, if this table "
        f"lawfully has no positives, pass a Boolean label such as pl.col(...) == {pos_label!r}"
    )
    return [Check((rows > 0) & (count(positive) == 0), (f"{subject} holds ", rows, text))]


# The positive label: which labels can equal it, and which rows do -------------------------------

# A label is compared in its own dtype, to which `pos_label=` is cast, so that Polars can plan the
# comparison whatever the dtype turns out to be. A rule of dtypes refuses what makes no sense.

# The dtypes of which 0 and 1 mean negative and positive
_NUMBERS = selectors.numeric() | selectors.boolean()
# What a label may be without pos_label=
_WITHOUT_POS_LABEL = DtypeRule(
    _NUMBERS, "; pass pos_label=, the value that is positive, or a Boolean label"
)
# What a label may be by the kind of pos_label=: the first kind in this list that it is an instance of
_DTYPES_OF_KIND: list[tuple[type | tuple[type, ...], selectors.Selector]] = [
    ((Real, Decimal), _NUMBERS),
    (str, selectors.string() | selectors.categorical() | selectors.enum()),
    (bytes, selectors.binary()),
    (datetime, selectors.datetime()),
    (date, selectors.date() | selectors.datetime()),  # after datetime, which is a date in Python
    (time, selectors.time()),
    (timedelta, selectors.duration()),
]


def label_dtypes(pos_label: Any) -> DtypeRule:
    """Return the dtypes that a label may have; raise if `pos_label` is no single value."""
    if pos_label is None:
        return _WITHOUT_POS_LABEL
    pos_label = _to_python(pos_label)
    for kind, dtypes in _DTYPES_OF_KIND:
        if isinstance(pos_label, kind) and _is_literal(pos_label):
            return DtypeRule(dtypes, f" and cannot equal pos_label={pos_label!r}")
    raise PrcError(
        f"pos_label= is one value of the label, such as 'spam' or 1; got {describe_value(pos_label)}"
    )


def _is_literal(value: Any) -> bool:
    """Return whether Polars can hold a value: of numbers those of 128 bits, of texts those in UTF-8."""
    if isinstance(value, Decimal) and not value.is_finite():
        return False  # on which Polars panics
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode() == value
    try:
        pl.lit(value)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return False
    return True


def equals_label(value: pl.Expr, pos_label: Any) -> pl.Expr:
    """Return whether a label is the positive one; false if its dtype cannot hold that value."""
    pos_label = _to_python(pos_label)
    dtype = pl.dtype_of(value)
    equal = value == pl.lit(pos_label).cast(dtype, strict=False)
    if isinstance(pos_label, Real | Decimal):
        # The cast would take 1.5 for 1 among integers, and 2 for true among Booleans.
        if pos_label not in (0, 1):
            equal &= ~dtype.matches(selectors.boolean())
        if pos_label % 1 != 0:
            equal &= ~dtype.matches(selectors.integer())
    # Null where the dtype cannot hold the value; null labels are left out or refused elsewhere.
    return equal.fill_null(False)


def _to_python(pos_label: Any) -> Any:
    """Return a NumPy scalar as the Python value that it stands for."""
    return pos_label.item() if isinstance(pos_label, np.generic) else pos_label
