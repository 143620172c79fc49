"""The positive label: which labels can equal it, and which rows do.

A label is compared in its own dtype, to which `pos_label=` is cast. So Polars can plan the comparison
whatever the dtype turns out to be, and a rule of dtypes refuses what makes no sense.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import polars as pl
from polars import selectors

from polars_prcurve.errors import PrcError, describe_value, suggest_names
from polars_prcurve.query_checks import DtypeRule

_NUMBERS = selectors.numeric() | selectors.boolean()
_WITHOUT_POS_LABEL = DtypeRule(
    _NUMBERS, "; pass pos_label=, the value that is positive, or a Boolean label"
)
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


def check_category(what: str, dtype: pl.DataType, pos_label: Any) -> None:
    """Raise if the dtype is an Enum without the positive label."""
    if isinstance(dtype, pl.Enum) and pos_label not in dtype.categories.to_list():
        raise PrcError(
            f"{what} has no category {pos_label!r}; {suggest_names(str(pos_label), dtype.categories)}"
        )


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
    import numpy as np

    return pos_label.item() if isinstance(pos_label, np.generic) else pos_label
