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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import polars as pl
from polars import selectors

from polars_prcurve import column_names as c
from polars_prcurve.errors import PrcError
from polars_prcurve.visible_text import SYMBOLS, VISIBLE

_SIGNATURE = "\n(a check of polars_prcurve)"
"""The end of a sentence in an error of Polars, by which `translate_errors` knows it."""

_QUOTED = re.compile(rf"^Invalid argument - (.*?){re.escape(_SIGNATURE)}", re.S)
_PASSED = "raise"  # a value of `ambiguous` that no date of the time zone GMT minds


class Check(NamedTuple):
    """A condition that must not occur, and the sentence that reports it, as scalar expressions."""

    broken: pl.Expr
    """Boolean: the condition occurs."""
    sentence: pl.Expr
    """String; see `compose_sentence`."""


def compose_sentence(*parts: str | pl.Expr) -> pl.Expr:
    """Join text, and numbers or what `show_value` returns, into a String that an error can quote."""
    texts = (pl.lit(part.translate(VISIBLE)) if isinstance(part, str) else part for part in parts)
    # A null part would make a null sentence, which no error quotes.
    return pl.concat_str(pl.lit("- "), *texts, pl.lit(_SIGNATURE), ignore_nulls=True)


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
    reported = frame.with_columns(_report(checks).alias(c.CHECK))
    return reported.filter(_fail_unless_passed(pl.col(c.CHECK).first()) == 0).drop(c.CHECK)


def _report(checks: Iterable[Check]) -> pl.Expr:
    """Return the sentence of the first broken check, or `_PASSED`."""
    text: pl.Expr = pl.lit(_PASSED)
    for check in reversed(list(checks)):
        text = pl.when(check.broken).then(check.sentence).otherwise(text)
    return text


def _fail_unless_passed(report: pl.Expr) -> pl.Expr:
    """Return 0 where the report is `_PASSED`; any other report stops the query."""
    # Polars has no operation that raises a given text. Of all that fail and quote a value, this one
    # quotes it earliest: after the words "Invalid argument". A cast says 80 letters first.
    epoch = pl.datetime(1970, 1, 1, time_zone="GMT", ambiguous=report)
    return epoch.cast(pl.Int64)


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise a `PrcError` with the sentence of a guard in place of the Polars error that quotes it."""
    try:
        yield
    except pl.exceptions.InvalidOperationError as error:
        raise _translate_error(error) from None


def _translate_error(error: Exception) -> Exception:
    """Return the error of a guard as a `PrcError`, and any other as it is."""
    quoted = _QUOTED.search(str(error))
    return error if quoted is None else PrcError(quoted.group(1))


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
"""What was found before: expanding a selector costs a millisecond."""


class DtypeRule(NamedTuple):
    """The dtypes that a column may have, and what to say of a column of another dtype."""

    allowed: selectors.Selector
    remedy: str

    def require(self, what: str, dtype: pl.DataType) -> None:
        """Raise unless a column of this dtype passes."""
        key = id(self.allowed), dtype
        if key not in _ALLOWED:  # the selector is held, so that no other one can get this id
            _ALLOWED[key] = bool(selectors.expand_selector({"": dtype}, self.allowed)), self.allowed
        if not _ALLOWED[key][0]:
            shown: str = pl.DataFrame(schema={"x": dtype}).select(pl.dtype_of("x").display()).item()
            raise PrcError(f"{what} is {_DTYPE_NAMES.get(shown, shown)}{self.remedy}")

    def restrict(self, what: str, value: pl.Expr) -> pl.Expr:
        """Return an expression as it is; the query stops if its dtype is not allowed."""
        dtype = pl.dtype_of(value)
        kind = dtype.display().replace(_DTYPE_NAMES)
        passes = dtype.matches(self.allowed)
        check = Check(~passes, compose_sentence(f"{what} is ", kind, self.remedy))
        # Polars knows `passes` once it knows the dtype. It then takes one branch and forgets the other,
        # so nothing is computed for the check.
        return pl.when(pl.when(passes).then(True).otherwise(guard([check]) == 0)).then(value)


_DTYPE_NAMES = {
    **{"str": "String", "cat": "Categorical", "enum": "Enum", "binary": "Binary", "bool": "Boolean"},
    **{"date": "Date", "time": "Time", "null": "Null", "object": "Object"},
    **{f"i{bits}": f"Int{bits}" for bits in (8, 16, 32, 64, 128)},
    **{f"u{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64, 128)},
    **{f"f{bits}": f"Float{bits}" for bits in (16, 32, 64)},
}
"""The names of dtypes in Python, by the names that Polars prints."""
