"""A reader for each kind of argument, such as a number or a list.

A reader returns the value in one shape, or raises a `PrcError`, and no other error, whatever it is.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import LARGEST_WEIGHT
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import describe_value

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T", bound=Hashable)  # what a list holds, and the same after its repeats are found

Title: TypeAlias = str | Literal[False] | None
"""The title of a chart; False leaves out all words around it."""


def refuse_kind(argument_name: str, expected_phrase: str, value: object) -> PrcError:
    """Return the error for a value of the wrong kind."""
    return PrcError(f"{argument_name} takes {expected_phrase}; got {describe_value(value)}")


def read_number(
    argument_name: str,
    value: object,
    expected_phrase: str,
    accepts_number: Callable[[float], bool] | None = None,
) -> float:
    """Return a number; raise unless it is one, for which `accepts_number` is true."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refuse_kind(argument_name, expected_phrase, value)
    number = round_to_float(value)
    if accepts_number is not None and not accepts_number(number):
        raise refuse_kind(argument_name, expected_phrase, value)
    return number


def round_to_float(number: Any) -> float:
    """Return the float nearest to a number, which is infinite beyond the range of floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def read_shares(function_name: str, shares: object) -> dict[Any, float]:
    """Return the share of each class, as a float; raise unless their sum is above 0."""
    if not isinstance(shares, Mapping):
        raise PrcError(
            f"{function_name} takes a mapping from each class to its share; got {describe_value(shares)}"
        )
    share_by_class: dict[Any, float] = {}
    for class_label, share in shares.items():
        is_number = isinstance(share, Real) and not isinstance(share, bool)
        share_number = round_to_float(share) if is_number else -1.0
        if not 0 <= share_number <= LARGEST_WEIGHT:  # beyond it the sum may be infinite
            raise PrcError(
                f"{function_name} takes shares, numbers from 0 to 1e100; "
                f"got {describe_value(share)} for {describe_value(class_label)}"
            )
        share_by_class[class_label] = share_number
    if not any(share_by_class.values()):
        shares_text = describe_value(dict(shares))
        raise PrcError(f"{function_name} takes shares with a sum above 0; got {shares_text}")
    return share_by_class


def read_numbers(
    argument_name: str, value: object, expected_phrase: str = "numbers"
) -> NDArray[np.float64]:
    """Return a number, or a sequence or an array of numbers, as an array."""
    try:
        if is_truth_value(value) or not isinstance(value, pl.Series | np.ndarray | list | tuple | Real):
            raise TypeError
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise refuse_kind(argument_name, expected_phrase, value) from None


def read_pair(
    argument_name: str,
    value: object,
    expected_phrase: str,
    read_one_number: Callable[[str, object, str], float] = read_number,
) -> tuple[float, float]:
    """Return two numbers, each by `read_one_number`; raise unless there are exactly two."""
    numbers = read_list(argument_name, value, expected_phrase)
    if len(numbers) != 2:
        raise refuse_kind(argument_name, expected_phrase, value)
    low, high = (read_one_number(argument_name, number, expected_phrase) for number in numbers)
    return low, high


MOST_EXAMPLES = 2**53
"""The greatest number of examples: up to it, floats distinguish whole numbers."""
MOST_REPEATS = 10**7
"""The greatest number of what is made one by one, such as draws: more would not fit into memory."""


def read_whole_number(
    argument_name: str, value: Any, least_number: int, greatest_number: int | None = MOST_EXAMPLES
) -> int:
    """Return `value` as an int; raise unless it is a whole number between the two, or one of them."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least_number:
        raise PrcError(
            f"{argument_name} takes a whole number of at least {least_number}; got "
            f"{describe_value(value)}"
        )
    if greatest_number is not None and number > greatest_number:
        raise PrcError(
            f"{argument_name} takes a whole number of at most {greatest_number}; got "
            f"{describe_value(value)}"
        )
    return number


def read_seed(value: Any) -> int | None:
    """Return the seed of a random generator, or None; raise for any other value."""
    return None if value is None else read_whole_number("seed=", value, 0, greatest_number=None)


def read_choice(argument_name: str, value: Any, choices: Iterable[str]) -> str:
    """Return one of a few words; raise for any other value."""
    valid_words = list(choices)
    if not isinstance(value, str) or value not in valid_words:
        *other_words, last_word = (f'"{word}"' for word in valid_words)
        choices_text = f"{', '.join(other_words)} or {last_word}" if other_words else last_word
        raise PrcError(f"{argument_name} takes {choices_text}; got {describe_value(value)}")
    return value


def read_flag(argument_name: str, value: object) -> bool:
    """Return a truth value, also from NumPy's; raise for any other value."""
    if not is_truth_value(value):
        raise refuse_kind(argument_name, "True or False", value)
    return bool(value)


def is_truth_value(value: object) -> bool:
    """Return whether a value is True or False, of Python or of NumPy."""
    # By the name of the type, so that NumPy need not be imported.
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def take_frame(value: object) -> Any:
    """Return the table of another library that exports an Arrow stream as a DataFrame, or the value."""
    is_polars = isinstance(value, pl.DataFrame | pl.LazyFrame | pl.Series | pl.Expr)
    if is_polars or isinstance(value, type) or not hasattr(value, "columns"):
        return value
    foreign_frame: Any = value
    return pl.DataFrame(foreign_frame) if hasattr(value, "__arrow_c_stream__") else value


def refuse_objects(owner_name: str, dtype_by_column: Mapping[str, pl.DataType]) -> None:
    """Raise if a column holds Python objects; `owner_name` has the columns, such as `the eta= frame`."""
    for column_name, dtype in dtype_by_column.items():
        if dtype == pl.Object:
            raise PrcError(
                f"cast the column {column_name!r} of {owner_name}, such as to String: its dtype is "
                "Object, and Polars cannot sort or compare Python objects"
            )


def read_name(argument_name: str, value: object) -> str:
    """Return the name of a column; raise unless it is a text that Polars can hold."""
    if not isinstance(value, str):
        raise refuse_kind(argument_name, "text", value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise PrcError(
            f"remove the unpaired surrogate from {argument_name}, {value!r}: no column has that name"
        )
    return value


def is_pattern(name: str) -> bool:
    """Return whether `pl.col` takes a name for a pattern of names."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def select_column(name: str) -> pl.Expr:
    """Return the column of exactly this name, also where `pl.col` would read a pattern."""
    return selectors.by_name(name).as_expr() if name[:1] in ("*", "^") else pl.col(name)


def check_texts(**texts: object) -> None:
    """Raise unless every argument is a text, or None."""
    for argument_name, value in texts.items():
        if not (value is None or isinstance(value, str)):
            raise refuse_kind(f"{argument_name}=", "text", value)


def check_title(title: object) -> None:
    """Raise unless the title is a text, None, or False for a chart without words around it."""
    if not (title is None or title is False or isinstance(title, str)):
        raise refuse_kind("title=", "a text, or False for a chart without text", title)


def read_list(
    argument_name: str, value: object, expected_phrase: str, single_type: type | tuple[type, ...] = ()
) -> list[Any]:
    """Return a list of what a sequence holds, or of one value of the type `single_type`."""
    if isinstance(value, single_type):
        return [value]
    # The values of a mapping or a set are in no order that the user chose.
    is_unordered = isinstance(value, str | bytes | Mapping | AbstractSet | pl.DataFrame)
    if is_unordered or isinstance(value, type) or not isinstance(value, Iterable):
        raise refuse_kind(argument_name, expected_phrase, value)
    try:
        return list(value)
    except TypeError:  # such as an array of no dimension
        raise refuse_kind(argument_name, expected_phrase, value) from None


def find_repeats(values: Iterable[T]) -> list[T]:
    """Return the values that occur more than once, in order."""
    return [value for value, n_occurrences in Counter(values).items() if n_occurrences > 1]
