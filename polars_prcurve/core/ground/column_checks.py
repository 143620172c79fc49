"""Which dtypes and values a column may have, as rules and as checks that ride in a query.

The dtype of an expression is known no earlier than in a query, so expressions have it checked there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import LARGEST_WEIGHT
from polars_prcurve.core.ground.lazy_modules import numpy as np
from polars_prcurve.core.ground.message_text import describe_value
from polars_prcurve.core.ground.query_guards import Check, guard

# Dtypes ---------------------------------------------------------------------------------------


class DtypeRule(NamedTuple):
    """The dtypes that a column may have, and the error for a column of another dtype."""

    allowed_dtypes: selectors.Selector
    remedy_phrase: str

    def require(self, subject_phrase: str, dtype: pl.DataType) -> None:
        """Raise unless a column of this dtype passes; `subject_phrase` names the column in the error."""
        if not _is_allowed(self, dtype):
            empty_frame = pl.DataFrame(schema={"x": dtype})
            dtype_name: str = empty_frame.select(pl.dtype_of("x").display()).item()
            python_name = _DTYPE_NAME_OF_SHORT_NAME.get(dtype_name, dtype_name)
            raise PrcError(f"{subject_phrase} is {python_name}{self.remedy_phrase}")

    def restrict(self, subject_phrase: str, value_expr: pl.Expr) -> pl.Expr:
        """Return an expression as it is; the query stops if its dtype is not allowed."""
        dtype_expr = pl.dtype_of(value_expr)
        dtype_name_expr = dtype_expr.display().replace(_DTYPE_NAME_OF_SHORT_NAME)
        is_allowed_expr = dtype_expr.matches(self.allowed_dtypes)
        check = Check(~is_allowed_expr, (f"{subject_phrase} is ", dtype_name_expr, self.remedy_phrase))
        # Polars evaluates `is_allowed_expr` once the dtype is there. It then takes one branch and leaves
        # out the other, so nothing is computed for the check.
        has_passed_expr = pl.when(is_allowed_expr).then(True).otherwise(guard([check]) == 0)
        return pl.when(has_passed_expr).then(value_expr)


@lru_cache(maxsize=512)  # some dtypes in each of the rules; expanding a selector costs a millisecond
def _is_allowed(rule: DtypeRule, dtype: pl.DataType) -> bool:
    """Return whether a rule allows a dtype."""
    return bool(selectors.expand_selector({"": dtype}, rule.allowed_dtypes))


_DTYPE_NAME_OF_SHORT_NAME = {
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
# groups (see `resolved_tables`).

RowCounter: TypeAlias = Callable[[pl.Expr], pl.Expr]
"""A function from a Boolean expression to the number of rows in which it is true, as a scalar."""

# What a score may be: numbers, and Booleans as the answers of a rule
SCORE_DTYPES = DtypeRule(
    selectors.numeric() | selectors.boolean(),
    "; a score is a float, an integer, a Decimal or a Boolean (in a CSV, a single 'nan' or '-' makes a "
    "column String; NaN and an empty cell are missing scores)",
)
# Counts and weights
AMOUNT_DTYPES = DtypeRule(selectors.numeric(), "; expected numbers >= 0")
# Scores that are read as probabilities: 0 and 1 of Booleans are some, and a column of nulls is empty.
POSTERIOR_DTYPES = DtypeRule(
    selectors.numeric() | selectors.boolean() | selectors.by_dtype(pl.Null),
    "; expected probabilities of the positive class",
)
# Prevalences: a null represents the prevalence of a group.
ETA_DTYPES = DtypeRule(selectors.numeric() | selectors.by_dtype(pl.Null), "; expected shares in [0, 1]")
# Recall and fpr of a table of published points
RATE_DTYPES = DtypeRule(selectors.numeric(), "; expected rates in [0, 1]")


def count_check(n_wrong: pl.Expr, text_before: str, text_after: str) -> Check:
    """Return the check that n is 0, with the number between the two halves of its sentence."""
    return Check(n_wrong > 0, (text_before, n_wrong, text_after))


@dataclass(frozen=True)
class ValueRule:
    """What no row of a column may be; called with the column, it returns the check of that."""

    is_wrong: Callable[..., pl.Expr]
    problem_phrase: str
    remedy_phrase: str
    fix_phrase: str = ""

    def __call__(
        self, count_rows: RowCounter, subject_phrase: str, *value_exprs: pl.Expr
    ) -> list[Check]:
        n_wrong = count_rows(self.is_wrong(*value_exprs))
        return [
            count_check(
                n_wrong,
                f"{self.fix_phrase}{subject_phrase} is {self.problem_phrase} in ",
                f" row(s); {self.remedy_phrase}",
            )
        ]


# Of numbers of examples, and of sums of squared weights
amount_checks = ValueRule(
    # NaN is above every number in Polars, so one comparison finds it and infinity.
    lambda value: (value < 0) | (value.cast(pl.Float64) >= float("inf")),
    "negative, infinite or NaN",
    "expected finite numbers >= 0",
)

_LARGEST_FLOAT_COUNT = 1e130
"""What LARGEST_WEIGHT is for weights, for counts, which may be sums of weights."""
_LARGEST_INTEGER_WEIGHT = 2**45
"""The squares of 2**37 integers up to this, which any table fits into, add up to an Int128."""


def _limit_floats(largest_amount: float, limit_text: str) -> ValueRule:
    """Return the rule that amounts are floats from 0 to a limit, by which no sum is infinite."""
    return ValueRule(
        lambda value: (value < 0) | (value.cast(pl.Float64) > largest_amount),
        f"negative, infinite, NaN or above {limit_text}",
        f"expected numbers from 0 to {limit_text}; divide larger ones by a constant",
    )


def _limit_integers(largest_amount: int, limit_text: str) -> ValueRule:
    """Return the rule that amounts are integers from 0 to a limit, by which no sum overflows."""
    return ValueRule(
        lambda value: (value < 0) | (value > largest_amount),
        f"negative or above {limit_text}",
        "expected numbers >= 0; cast larger integers to Float64",
    )


# Of weights, of which expressions know no more than that they are numbers
weight_checks = _limit_floats(LARGEST_WEIGHT, "1e100")
# Of what a frame holds: by its kind, and whether it is integers
amount_checks_by_kind = {
    **{("squares", is_integer): amount_checks for is_integer in (True, False)},
    ("weights", False): weight_checks,
    ("weights", True): _limit_integers(_LARGEST_INTEGER_WEIGHT, "2**45"),
    ("counts", False): _limit_floats(_LARGEST_FLOAT_COUNT, "1e130"),
    ("counts", True): _limit_integers(2**63 - 1, "2**63 - 1"),
}
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
    fix_phrase="calibrate the scores first: ",
)
# The same where a table without labels could have a reference instead of probabilities
unlabelled_checks = replace(
    posterior_checks,
    fix_phrase="",
    remedy_phrase=f"{posterior_checks.remedy_phrase}; if scores are not probabilities, pass reference=, "
    "a labelled table with scores of the same model",
)
# Of prevalences
eta_checks = ValueRule(
    lambda eta: (eta < 0) | (eta > 1), "outside [0, 1]", "expected shares, not percent"
)
# Of prevalences by whose odds something is multiplied or divided
inner_eta_checks = ValueRule(
    lambda eta: (eta <= 0) | (eta >= 1),  # where the odds are infinite or 0
    "not between 0 and 1",
    "expected prevalences, not percent, and neither 0 nor 1",
)
# The end of both sentences about weights beside stratum=
_STRATUM_WEIGHT_REMEDY = "pass the number of rows in its stratum divided by the number drawn from it"
# Of weights beside stratum=, each the number of rows that one represents: at least itself. The room of
# 1e-9 is for weights that were divided out; above 2**53 floats do not distinguish numbers of rows.
stratum_weight_checks = ValueRule(
    lambda weight: (weight > 0) & ((weight < 1 - 1e-9) | (weight > 2.0**53)),
    "below 1 or above 2**53",
    f"beside stratum= {_STRATUM_WEIGHT_REMEDY}",
)
# Of the same weights: those of one stratum are equal, with the same room
equal_weight_checks = ValueRule(
    lambda weight, stratum_weight: (weight > 0) & (weight < stratum_weight * (1 - 1e-9)),
    "less than elsewhere in its stratum",
    _STRATUM_WEIGHT_REMEDY,
)


def is_missing(value_expr: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return whether a value is null, or NaN if it is a float."""
    return value_expr.is_null() | value_expr.is_nan() if dtype.is_float() else value_expr.is_null()


def missing_checks(
    count_rows: RowCounter,
    subject_phrase: str,
    value_expr: pl.Expr,
    *,
    refuses_nan: bool,
    may_rank_last: bool = False,
) -> list[Check]:
    """Return checks that no value is null, and, with `refuses_nan`, that none is NaN."""
    test_by_problem = {"null": value_expr.is_null()}
    test_by_problem |= {"NaN": value_expr.cast(pl.Float64).is_nan()} if refuses_nan else {}
    remedy_phrase = ' row(s); filter those rows out, or pass missing="drop" to a method of df.prc'
    if may_rank_last:
        remedy_phrase += ', or missing="below" if they were never scored'
    n_wrong_by_problem = {
        problem_phrase: count_rows(is_wrong) for problem_phrase, is_wrong in test_by_problem.items()
    }
    return [
        count_check(n_wrong, f"{subject_phrase} is {problem_phrase} in ", remedy_phrase)
        for problem_phrase, n_wrong in n_wrong_by_problem.items()
    ]


def label_checks(count_rows: RowCounter, subject_phrase: str, label_expr: pl.Expr) -> list[Check]:
    """Return checks that all numeric labels are in {0, 1}, or all in {-1, 1}."""
    remedy_phrase = "; expected {0, 1} or {-1, 1}, or pass pos_label="
    n_zeros, n_ones, n_minus_ones = (count_rows(label_expr == valid_label) for valid_label in (0, 1, -1))
    n_others = count_rows(label_expr.is_not_null()) - n_zeros - n_ones - n_minus_ones
    mixed_sentence_parts = (
        f"{subject_phrase} mixes ",
        n_zeros,
        " row(s) of 0 with ",
        n_minus_ones,
        f" of -1{remedy_phrase}",
    )
    binary_check = count_check(
        n_others, f"{subject_phrase} is not binary in ", f" row(s){remedy_phrase}"
    )
    return [binary_check, Check((n_zeros > 0) & (n_minus_ones > 0), mixed_sentence_parts)]


def pos_label_checks(
    count_rows: RowCounter, subject_phrase: str, is_positive: pl.Expr, pos_label: Any
) -> list[Check]:
    """Return a check that the positive label occurs: a misspelt one would leave no positives."""
    # As long as the column, which a literal alone is not.
    n_rows = count_rows(pl.lit(True) | is_positive)
    remedy_phrase = (
        f" row(s) and none equals pos_label={pos_label!r}; check the spelling, or, if there are no "
        f"positives, pass a Boolean label such as pl.col(...) == {pos_label!r}"
    )
    return [
        Check(
            (n_rows > 0) & (count_rows(is_positive) == 0),
            (f"{subject_phrase} holds ", n_rows, remedy_phrase),
        )
    ]


# The positive label: which labels can equal it, and which rows do -------------------------------

# A label is compared in its own dtype, to which `pos_label=` is cast, so that Polars can plan the
# comparison whatever the dtype turns out to be. A rule of dtypes refuses what makes no sense.

# The dtypes of which 0 and 1 mean negative and positive
_NUMBER_DTYPES = selectors.numeric() | selectors.boolean()
# What a label may be without pos_label=
_DTYPES_WITHOUT_POS_LABEL = DtypeRule(
    _NUMBER_DTYPES,
    "; pass pos_label= (the positive value), a Boolean label or, for several classes, "
    "score={class: column, ...}",
)
# What a label may be by the kind of pos_label=: the first kind in this list that it is an instance of
_DTYPES_OF_KIND: list[tuple[type | tuple[type, ...], selectors.Selector]] = [
    ((Real, Decimal), _NUMBER_DTYPES),
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
        return _DTYPES_WITHOUT_POS_LABEL
    pos_label = _to_python(pos_label)
    for python_type, dtype_selector in _DTYPES_OF_KIND:
        if isinstance(pos_label, python_type) and is_literal(pos_label):
            return DtypeRule(dtype_selector, f" and cannot equal pos_label={pos_label!r}")
    raise PrcError(
        f"pos_label= takes one value of the label, such as 'spam' or 1; got {describe_value(pos_label)}"
    )


def is_literal(value: Any) -> bool:
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


def equals_label(label_expr: pl.Expr, pos_label: Any) -> pl.Expr:
    """Return whether a label is the positive one; false if its dtype cannot hold that value."""
    pos_label = _to_python(pos_label)
    label_dtype_expr = pl.dtype_of(label_expr)
    is_equal_expr = label_expr == pl.lit(pos_label).cast(label_dtype_expr, strict=False)
    if isinstance(pos_label, Real | Decimal):
        # The cast would take 1.5 for 1 among integers, and 2 for true among Booleans.
        if pos_label not in (0, 1):
            is_equal_expr &= ~label_dtype_expr.matches(selectors.boolean())
        if pos_label % 1 != 0:
            is_equal_expr &= ~label_dtype_expr.matches(selectors.integer())
    # Null where the dtype cannot hold the value; null labels are left out or refused elsewhere.
    return is_equal_expr.fill_null(False)


def _to_python(pos_label: Any) -> Any:
    """Return a NumPy scalar as the Python value that it represents."""
    return pos_label.item() if isinstance(pos_label, np.generic) else pos_label
