"""Arguments: a reader for each kind, such as a number or a list, and hints at names that are not known.

A reader returns the value in one shape, or raises a `PrcError`, and no other error, whatever it is.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import wraps
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NoReturn, ParamSpec, TypeAlias, TypeVar

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.errors import PrcError, describe_value, suggest_names
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.safe_text import make_visible

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T", bound=Hashable)  # what a list holds, and the same after its repeats are found
P = ParamSpec("P")  # the parameters of a function that is given hints
R = TypeVar("R")  # what that function returns

Title: TypeAlias = str | Literal[False] | None
"""The title of a chart; False leaves out all words around it."""


def refuse_kind(argument: str, expected: str, value: object) -> PrcError:
    """Return the error for a value of the wrong kind."""
    return PrcError(f"{argument} takes {expected}; got {describe_value(value)}")


def read_number(
    argument: str, value: object, expected: str, holds: Callable[[float], bool] | None = None
) -> float:
    """Return a number; raise unless it is one, for which `holds` is true."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refuse_kind(argument, expected, value)
    number = round_to_float(value)
    if holds is not None and not holds(number):
        raise refuse_kind(argument, expected, value)
    return number


def round_to_float(number: Any) -> float:
    """Return the float nearest to a number, which is infinite beyond the range of floats."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def read_shares(function: str, shares: object) -> dict[Any, float]:
    """Return the share of each class, as a float; raise unless their sum is finite and above 0."""
    if not isinstance(shares, Mapping):
        raise PrcError(
            f"{function} maps each class to its share in the field; got {describe_value(shares)}"
        )
    numbers: dict[Any, float] = {}
    for value, share in shares.items():
        is_number = isinstance(share, Real) and not isinstance(share, bool)
        number = round_to_float(share) if is_number else -1.0
        if not 0 <= number < math.inf:
            raise PrcError(
                f"{function} takes shares, numbers >= 0; got {describe_value(share)} for "
                f"{describe_value(value)}"
            )
        numbers[value] = number
    if not 0 < math.fsum(numbers.values()) < math.inf:
        raise PrcError(
            f"the shares of {function} need a finite sum above 0; got {describe_value(dict(shares))}"
        )
    return numbers


def read_numbers(argument: str, value: object, expected: str = "numbers") -> NDArray[np.float64]:
    """Return a number, or a sequence or an array of numbers, as an array."""
    try:
        if is_truth_value(value) or not isinstance(value, pl.Series | np.ndarray | list | tuple | Real):
            raise TypeError
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise refuse_kind(argument, expected, value) from None


def read_pair(
    argument: str,
    value: object,
    expected: str,
    reader: Callable[[str, object, str], float] = read_number,
) -> tuple[float, float]:
    """Return two numbers, each by the function `reader`; raise unless there are exactly two."""
    numbers = read_list(argument, value, expected)
    if len(numbers) != 2:
        raise refuse_kind(argument, expected, value)
    low, high = (reader(argument, number, expected) for number in numbers)
    return low, high


MOST_EXAMPLES = 2**53
"""The greatest number of examples: up to it, floats tell whole numbers apart."""
MOST_REPEATS = 10**7
"""The greatest number of what is made one by one, such as draws: more would not fit into memory."""


def read_whole_number(argument: str, value: Any, least: int, most: int | None = MOST_EXAMPLES) -> int:
    """Return `value` as an int; raise unless it is a whole number from `least` to `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise PrcError(f"{argument} is a whole number, at least {least}; got {describe_value(value)}")
    if most is not None and number > most:
        raise PrcError(f"{argument} is a whole number, at most {most}; got {describe_value(value)}")
    return number


def read_seed(value: Any) -> int | None:
    """Return the seed of a random generator, or None; raise for any other value."""
    return None if value is None else read_whole_number("seed=", value, 0, most=None)


def read_choice(argument: str, value: Any, choices: Iterable[str]) -> str:
    """Return one of a few words; raise for any other value."""
    words = list(choices)
    if not isinstance(value, str) or value not in words:
        *others, last = (f'"{word}"' for word in words)
        alternatives = f"{', '.join(others)} or {last}" if others else last
        raise PrcError(f"{argument} is {alternatives}; got {describe_value(value)}")
    return value


def read_flag(argument: str, value: object) -> bool:
    """Return a truth value, also from NumPy's; raise for any other value."""
    if not is_truth_value(value):
        raise refuse_kind(argument, "True or False", value)
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
    table: Any = value
    return pl.DataFrame(table) if hasattr(value, "__arrow_c_stream__") else value


def refuse_objects(owner: str, schema: Mapping[str, pl.DataType]) -> None:
    """Raise if a column holds Python objects; `owner` has the columns, such as `the eta= frame`."""
    for name, dtype in schema.items():
        if dtype == pl.Object:
            raise PrcError(
                f"{owner} has a column {name!r} of dtype Object, and Polars cannot sort or compare "
                "Python objects; cast it, such as to String"
            )


def read_name(argument: str, value: object) -> str:
    """Return the name of a column; raise unless it is a text that Polars can hold."""
    if not isinstance(value, str):
        raise refuse_kind(argument, "text", value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise PrcError(f"{argument} is {value!r}, which holds half a character; no column has that name")
    return value


def is_pattern(name: str) -> bool:
    """Return whether `pl.col` takes a name for a pattern of names."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def select_column(name: str) -> pl.Expr:
    """Return the column of exactly this name, also where `pl.col` would read a pattern."""
    return selectors.by_name(name).as_expr() if name[:1] in ("*", "^") else pl.col(name)


def check_texts(**texts: object) -> None:
    """Raise unless every argument is a text, or None."""
    for name, value in texts.items():
        if not (value is None or isinstance(value, str)):
            raise refuse_kind(f"{name}=", "text", value)


def check_title(title: object) -> None:
    """Raise unless the title is a text, None, or False for a chart without words around it."""
    if not (title is None or title is False or isinstance(title, str)):
        raise refuse_kind("title=", "a text, or False for a chart without words around it", title)


def read_list(
    argument: str, value: object, expected: str, single: type | tuple[type, ...] = ()
) -> list[Any]:
    """Return a list of what a sequence holds, or of one value of the type `single`."""
    if isinstance(value, single):
        return [value]
    # The values of a mapping or a set are in no order that the user chose.
    unordered = isinstance(value, str | bytes | Mapping | AbstractSet | pl.DataFrame)
    if unordered or isinstance(value, type) or not isinstance(value, Iterable):
        raise refuse_kind(argument, expected, value)
    try:
        return list(value)
    except TypeError:  # such as an array of no dimension
        raise refuse_kind(argument, expected, value) from None


def find_repeats(values: Iterable[T]) -> list[T]:
    """Return the values that occur more than once, in order."""
    return [value for value, number in Counter(values).items() if number > 1]


# What others call arguments and metrics, and hints at the names that they have here ---------------

_OWNERS = ("self", "cls")
"""What a method takes that users do not write."""

# What others call our metrics: of each metric its names in scikit-learn, TensorFlow, R and papers.
_METRICS = {
    "precision": "ppv positive_predictive_value",
    "npv": "negative_predictive_value",
    "recall": "sensitivity tpr hit_rate true_positive_rate",
    "specificity": "true_negative_rate tnr",
    "fpr": "false_positive_rate fall_out",
    "fnr": "miss_rate",
    "fdr": "false_discovery_rate",
    "jaccard": "critical_success_index threat_score",
    "informedness": "youden_j",
    "cohen_kappa": "kappa",
    "mcc": "matthews_corrcoef",
    "predicted_positive_rate": "alert_rate",
    "f1": "f1_score",
    "average_precision": "ap average_precision_score",
    "roc_auc": "auc auroc auc_roc roc_auc_score",
    "pr_auc": "auprc aupr auc_pr prauc",
}
METRICS_MEANT = {
    synonym: metric for metric, synonyms in _METRICS.items() for synonym in synonyms.split()
}
"""The metrics that others call otherwise, by their names."""

# What others call our arguments: the first of a tuple that a function has is the one that is meant.
ARGUMENTS = {
    ("eta", "eta_train"): "prevalence prevalences prior pi base_rate event_rate pos_rate",
    ("model",): "models classifier",
    ("scores",): "models model_columns",
    ("score",): "scores y_score y_scores y_pred y_prob y_hat pred probability proba",
    ("label",): "labels y_true target truth y outcome",
    ("pos_label",): "positive positive_class positive_label event_level",
    ("color", "by"): "hue color colour",
    ("by",): "group groups group_by groupby over",
    ("parts",): "part within country countries",
    ("weight",): "weights sample_weight sample_weights",
    ("cluster",): "clusters patient",
    ("stratum",): "stratify",
    ("id",): "row row_id index on example",
    ("metrics", "metric"): "scoring measure measures",
    ("confidence",): "alpha level conf ci conf_level",
    ("threshold", "thresholds"): "cutoff cut_off cut thresh",
    ("maximize",): "objective optimize optimise maximise best",
    ("alerts",): "budget n_alerts alarms capacity top_k k",
    ("per",): "events n_events out_of among",
    ("guarantee",): "promise assurance",
    ("resamples",): "n_resamples n_boot n_bootstraps n_bootstrap replicates",
    ("seed",): "random_state rng",
    ("missing",): "na nan nulls null_policy drop_nulls",
    ("ratio",): "imbalance",
}


def list_arguments_meant(name: str) -> list[str]:
    """Return the names that arguments have here which others call `name`, the likeliest first."""
    names = [
        argument
        for arguments, synonyms in ARGUMENTS.items()
        if name in synonyms.split()
        for argument in arguments
    ]
    return [*names, METRICS_MEANT[name]] if name in METRICS_MEANT else names


def tell_alternative(
    name: str, arguments: Collection[str], weight_spelling: str, targets: Collection[str]
) -> str:
    """Return what to do in place of an argument that only other functions have, or an empty text."""

    def spell(argument: str) -> str:
        return weight_spelling.replace("weight", argument)

    if name in targets and {"threshold", "recall"} <= set(arguments):
        is_command = weight_spelling.startswith("-")
        finder = "command operating-points" if is_command else "method operating_points"
        return f"find the threshold by the {finder}, and pass it as {spell('threshold')}"
    metric = METRICS_MEANT.get(name.lower(), name.lower())
    if metric == "specificity" and {"threshold", "fpr"} <= set(arguments):
        return f"a specificity of 0.99 is an fpr of 0.01, {spell('fpr')}"
    meanings = {name, *list_arguments_meant(name.lower())}
    takes_examples = not {"score", "label"}.isdisjoint(arguments)
    if "eta" in meanings and takes_examples and meanings.isdisjoint(arguments):
        return f"a prevalence is {spell('eta')} of a call that reads it, such as curve and summary"
    return ""


def suggest_arguments(
    name: str,
    spellings: Mapping[str, str],
    *,
    weight_spelling: str = "weight=",
    spelling: str | None = None,
    targets: Collection[str] = (),
) -> str:
    """Return a hint at the argument that a wrong name stands for.

    Users wrote the name as `spelling`. They write the arguments that there are as `spellings` says, and
    one called "weight", whether there is one or not, as `weight_spelling`. Some functions that take a
    threshold cannot find that of all `targets`.
    """
    if alternative := tell_alternative(name, spellings, weight_spelling, targets):
        return alternative
    for argument in list_arguments_meant(name.lower()):
        if argument in spellings:
            return f"did you mean {spellings[argument]!r}?"
    return suggest_names(spelling or name, spellings.values())


def hint_at_arguments(
    function: Callable[P, R], refused: Iterable[str] = (), targets: Collection[str] = ()
) -> Callable[P, R]:
    """Return the function with a hint in its `TypeError` for an argument that it does not have.

    Names that the function itself has refused pass: it knows better what to do instead. Of `targets`
    that it does not take, another method finds the threshold.
    """
    parameters = inspect.signature(function).parameters
    names = frozenset([*parameters, *refused])
    names_by_place = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]

    @wraps(function)
    def check_and_call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not names.issuperset(kwargs):
            refuse_name(next(name for name in kwargs if name not in names))
        if len(args) > len(names_by_place):
            refuse_place(args[len(names_by_place)])
        return function(*args, **kwargs)

    def refuse_name(name: str) -> NoReturn:
        call = f"{check_and_call.__qualname__}()"
        public = {parameter: parameter for parameter in parameters if parameter not in _OWNERS}
        hint = suggest_arguments(name, public, targets=targets)
        raise TypeError(make_visible(f"{call} got an unexpected keyword argument {name!r}; {hint}"))

    def refuse_place(value: object) -> NoReturn:
        call = f"{check_and_call.__qualname__}()"
        first = ", ".join(name for name in names_by_place if name not in _OWNERS)
        only = f"only {first} without a name" if first else "each argument by its name (score=...)"
        raise TypeError(f"{call} takes {only}; got {describe_value(value)} without one")

    return check_and_call
