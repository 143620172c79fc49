"""The one exception of the package, and how a query that is already running raises it.

What arguments and schema tell fails at the call, as `PrcError`. What only values tell cannot:
a lazy query holds no values yet. For that a *guard* rides in the plan: a native expression
that is 0 while every check holds, and otherwise casts a sentence to an integer, so that
Polars stops the query and quotes the sentence.

    PrcError (a ValueError)                      at any call, and from eager methods
    polars.exceptions.InvalidOperationError      from a LazyFrame that the user collects
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, NamedTuple

import polars as pl

__all__ = ["Check", "PrcError", "did_you_mean", "guard", "raised_eagerly", "sentence", "whole_number"]

_GUARD = "polars_prcurve input check"
_QUOTED = re.compile(rf"column '{_GUARD}' for \d+ out of \d+ values: \[\"(.*?)\"\](?=\n|$)", re.S)


class PrcError(ValueError):
    """Input, or an argument, that `polars_prcurve` refuses.

    The message says what was expected, what came, and what to do.
    """


class Check(NamedTuple):
    """One thing that must not be: whether it is, and the sentence that says so.

    Both are scalar expressions, Boolean and String.
    """

    broken: pl.Expr
    sentence: pl.Expr


def sentence(*parts: str | pl.Expr) -> pl.Expr:
    """Text and values put together, as a String expression that an error can quote."""
    first = pl.lit("").alias(_GUARD)  # Polars names the column it could not cast after this
    return pl.concat_str(first, *(pl.lit(p) if isinstance(p, str) else p for p in parts))


def guard(checks: Iterable[Check]) -> pl.Expr:
    """A scalar Int64 expression: 0 while no check is broken, else it stops the query.

    The first broken check wins. The guard must sit where the optimizer cannot prune it: in
    the filter of a table that every result is joined with, or in the value itself.
    """
    text: pl.Expr = pl.lit("0").alias(_GUARD)
    for check in reversed(list(checks)):
        text = pl.when(check.broken).then(check.sentence).otherwise(text)
    return text.cast(pl.Int64)


@contextmanager
def raised_eagerly() -> Iterator[None]:
    """Turn the guard's sentence, as Polars quotes it, into a `PrcError`."""
    try:
        yield
    except pl.exceptions.InvalidOperationError as error:
        quoted = _QUOTED.search(str(error))
        if quoted is None:
            raise
        raise PrcError(quoted.group(1)) from None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint at the names nearest to one that does not exist, or at all of them."""
    known = list(known)
    near = [other for other in known if other.lower() == name.lower()]
    if near := near or get_close_matches(name, known, n=3, cutoff=0.6):
        return f"did you mean {' or '.join(map(repr, near))}?"
    return f"there are: {', '.join(known)}"


def whole_number(argument: str, value: Any, least: int) -> int:
    """A whole number as given, if it is one and no less than this."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise PrcError(f"{argument} is a whole number, at least {least}; got {value!r}")
    return number
