"""Checks that only values can answer, carried in the plan of a query.

What arguments and schema show fails at the call. What only values show cannot: a lazy query holds
no values yet. For that a *guard* rides in the plan: a native expression that is 0 while every check
holds, and otherwise an operation that fails and quotes a sentence, so that Polars stops the query.

    PrcError (a ValueError)                      from methods of a DataFrame
    polars.exceptions.InvalidOperationError      from a LazyFrame that the user collects
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.visible_names import SYMBOL_OF_CHARACTER, SYMBOL_OF_CODE

_SIGNATURE = "\n(raised by polars_prcurve; ignore what follows)"
"""The end of a sentence in an error of Polars, by which `translate_errors` finds it."""
# What Polars writes before the value of a wrong argument; see `_fail_unless_passed`.
_QUOTED_SENTENCE = re.compile(rf"^Invalid argument - (.*?){re.escape(_SIGNATURE)}", re.S)
_PASSED_REPORT = "raise"  # a value of `ambiguous` that no date of the time zone GMT minds
_REPORT_COLUMN = f"{RESERVED}check"  # the sentence of a broken check, in a query that is about to stop


class Check(NamedTuple):
    """A condition that must not occur, and the sentence that reports it."""

    is_broken: pl.Expr
    """A Boolean scalar: the condition occurs."""
    sentence_parts: tuple[str | pl.Expr, ...]
    """Its parts: text, and scalars that are numbers or what `show_value` returns."""


def show_value(value: pl.Expr) -> pl.Expr:
    """Return a value of the user's table as a String without control characters."""
    return value.cast(pl.String).str.replace_many(
        [*SYMBOL_OF_CHARACTER], [*SYMBOL_OF_CHARACTER.values()]
    )


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
    reported_frame = frame.with_columns(_report(checks).alias(_REPORT_COLUMN))
    return reported_frame.filter(_HAS_PASSED_FILTER).drop(_REPORT_COLUMN)


def _report(checks: Iterable[Check]) -> pl.Expr:
    """Return the sentence of the first broken check, or `_PASSED_REPORT`."""
    report_expr: pl.Expr = pl.lit(_PASSED_REPORT)
    for check in reversed(list(checks)):
        part_exprs = (
            pl.lit(part.translate(SYMBOL_OF_CODE)) if isinstance(part, str) else part.cast(pl.String)
            for part in check.sentence_parts
        )
        # A null part would make a null sentence, which no error quotes.
        sentence_expr = pl.concat_str(pl.lit("- "), *part_exprs, pl.lit(_SIGNATURE), ignore_nulls=True)
        report_expr = pl.when(check.is_broken).then(sentence_expr).otherwise(report_expr)
    singular_report_expr = report_expr.str.replace_all(r"\b1 ([a-z]+)\(s\)", "1 $1")
    return singular_report_expr.str.replace_all(r"(\d [a-z]+)\(s\)", "${1}s")


def _fail_unless_passed(report_expr: pl.Expr) -> pl.Expr:
    """Return 0 where the report is `_PASSED_REPORT`; any other report stops the query."""
    # Polars has no operation that raises a given text. Of all that fail and quote a value, this one
    # quotes it earliest: after the words "Invalid argument". A cast writes 80 letters first.
    epoch = pl.datetime(1970, 1, 1, time_zone="GMT", ambiguous=report_expr)
    return epoch.cast(pl.Int64)


# The filter of a table that carries a report; it is built once, since expressions cost time.
_HAS_PASSED_FILTER = _fail_unless_passed(pl.col(_REPORT_COLUMN).first()) == 0


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise a `PrcError` with the sentence of a guard instead of the Polars error that quotes it."""
    try:
        yield
    except pl.exceptions.InvalidOperationError as error:
        raise _translate_error(error) from None


def _translate_error(error: Exception) -> Exception:
    """Return the error of a guard as a `PrcError`, and any other as it is."""
    sentence_match = _QUOTED_SENTENCE.search(str(error))
    return error if sentence_match is None else PrcError(sentence_match.group(1))


def run_query(query: pl.LazyFrame, n_rows: int | None = None) -> pl.DataFrame:
    """Collect a query of about `n_rows`, if known; raise a `PrcError` if one of its guards stops it."""
    # The default is the streaming engine, which takes milliseconds to start, and holds less in memory.
    # Few rows are collected in memory, unless the user has chosen an engine.
    # pl.Config.set_engine_affinity sets it, too.
    is_engine_chosen = "POLARS_ENGINE_AFFINITY" in os.environ
    is_small_table = not is_engine_chosen and n_rows is not None and n_rows <= _FEW_ROWS
    try:
        return query.collect(engine="in-memory" if is_small_table else "auto")
    except pl.exceptions.InvalidOperationError as error:
        raise _translate_error(error) from None


_FEW_ROWS = 100_000
"""With up to this many rows every method was faster in memory, and with 1,000 rows twice as fast."""
