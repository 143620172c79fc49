"""Arguments: a reader for each kind, such as a number or a list, and hints at names that are not known.

A reader returns the value in one shape, or raises a `PrcError`, and no other error, whatever it is.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import wraps
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NoReturn, ParamSpec, TypeAlias, TypeVar

import polars as pl
from polars import selectors

from polars_prcurve.core.ground.errors import PrcError, describe_value, suggest_names
from polars_prcurve.core.ground.exact_arithmetic import LARGEST_WEIGHT
from polars_prcurve.core.ground.lazy_numpy import numpy as np
from polars_prcurve.core.ground.message_text import join_words, make_visible

if TYPE_CHECKING:
    from numpy.typing import NDArray


T = TypeVar("T", bound=Hashable)  # what a list holds, and the same after its repeats are found
P = ParamSpec("P")  # the parameters of a function that is given hints
R = TypeVar("R")  # what that function returns

Title: TypeAlias = str | Literal[False] | None
"""The title of a chart; False leaves out all words around it."""


def refuse_kind(argument_name: str, expected_words: str, value: object) -> PrcError:
    """Return the error for a value of the wrong kind."""
    return PrcError(f"{argument_name} takes {expected_words}; got {describe_value(value)}")


def read_number(
    argument_name: str,
    value: object,
    expected_words: str,
    accepts: Callable[[float], bool] | None = None,
) -> float:
    """Return a number; raise unless it is one, for which `accepts` is true."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refuse_kind(argument_name, expected_words, value)
    number = round_to_float(value)
    if accepts is not None and not accepts(number):
        raise refuse_kind(argument_name, expected_words, value)
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
        raise PrcError(f"{function_name} maps each class to its share; got {describe_value(shares)}")
    share_of_class: dict[Any, float] = {}
    for class_label, share in shares.items():
        is_number = isinstance(share, Real) and not isinstance(share, bool)
        share_number = round_to_float(share) if is_number else -1.0
        if not 0 <= share_number <= LARGEST_WEIGHT:  # beyond it the sum may be infinite
            raise PrcError(
                f"{function_name} takes shares, numbers from 0 to 1e100; "
                f"got {describe_value(share)} for {describe_value(class_label)}"
            )
        share_of_class[class_label] = share_number
    if not any(share_of_class.values()):
        shares_text = describe_value(dict(shares))
        raise PrcError(f"the shares of {function_name} need a sum above 0; got {shares_text}")
    return share_of_class


def read_numbers(
    argument_name: str, value: object, expected_words: str = "numbers"
) -> NDArray[np.float64]:
    """Return a number, or a sequence or an array of numbers, as an array."""
    try:
        if is_truth_value(value) or not isinstance(value, pl.Series | np.ndarray | list | tuple | Real):
            raise TypeError
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise refuse_kind(argument_name, expected_words, value) from None


def read_pair(
    argument_name: str,
    value: object,
    expected_words: str,
    read_one_number: Callable[[str, object, str], float] = read_number,
) -> tuple[float, float]:
    """Return two numbers, each by `read_one_number`; raise unless there are exactly two."""
    numbers = read_list(argument_name, value, expected_words)
    if len(numbers) != 2:
        raise refuse_kind(argument_name, expected_words, value)
    low, high = (read_one_number(argument_name, number, expected_words) for number in numbers)
    return low, high


MOST_EXAMPLES = 2**53
"""The greatest number of examples: up to it, floats distinguish whole numbers."""
MOST_REPEATS = 10**7
"""The greatest number of what is made one by one, such as draws: more would not fit into memory."""


def read_whole_number(
    argument_name: str, value: Any, least: int, most: int | None = MOST_EXAMPLES
) -> int:
    """Return `value` as an int; raise unless it is a whole number from `least` to `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise PrcError(
            f"{argument_name} is a whole number, at least {least}; got {describe_value(value)}"
        )
    if most is not None and number > most:
        raise PrcError(f"{argument_name} is a whole number, at most {most}; got {describe_value(value)}")
    return number


def read_seed(value: Any) -> int | None:
    """Return the seed of a random generator, or None; raise for any other value."""
    return None if value is None else read_whole_number("seed=", value, 0, most=None)


def read_choice(argument_name: str, value: Any, choices: Iterable[str]) -> str:
    """Return one of a few words; raise for any other value."""
    valid_words = list(choices)
    if not isinstance(value, str) or value not in valid_words:
        *other_words, last_word = (f'"{word}"' for word in valid_words)
        alternatives_text = f"{', '.join(other_words)} or {last_word}" if other_words else last_word
        raise PrcError(f"{argument_name} is {alternatives_text}; got {describe_value(value)}")
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


def refuse_objects(owner_name: str, dtype_of_column: Mapping[str, pl.DataType]) -> None:
    """Raise if a column holds Python objects; `owner_name` has the columns, such as `the eta= frame`."""
    for column_name, dtype in dtype_of_column.items():
        if dtype == pl.Object:
            raise PrcError(
                f"{owner_name} has a column {column_name!r} of dtype Object, and Polars cannot sort or "
                "compare Python objects; cast it, such as to String"
            )


def read_name(argument_name: str, value: object) -> str:
    """Return the name of a column; raise unless it is a text that Polars can hold."""
    if not isinstance(value, str):
        raise refuse_kind(argument_name, "text", value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise PrcError(
            f"{argument_name} is {value!r}, which holds an unpaired surrogate; no column has that name"
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
    argument_name: str, value: object, expected_words: str, single_type: type | tuple[type, ...] = ()
) -> list[Any]:
    """Return a list of what a sequence holds, or of one value of the type `single_type`."""
    if isinstance(value, single_type):
        return [value]
    # The values of a mapping or a set are in no order that the user chose.
    is_unordered = isinstance(value, str | bytes | Mapping | AbstractSet | pl.DataFrame)
    if is_unordered or isinstance(value, type) or not isinstance(value, Iterable):
        raise refuse_kind(argument_name, expected_words, value)
    try:
        return list(value)
    except TypeError:  # such as an array of no dimension
        raise refuse_kind(argument_name, expected_words, value) from None


def find_repeats(values: Iterable[T]) -> list[T]:
    """Return the values that occur more than once, in order."""
    return [value for value, n_occurrences in Counter(values).items() if n_occurrences > 1]


# What others call arguments and metrics, and hints at the names that they have here ---------------

_SELF_NAMES = ("self", "cls")
"""What a method takes that users do not write."""

# What others call our metrics: of each metric its names in scikit-learn, TensorFlow, R and papers.
_SYNONYMS_OF_METRIC = {
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
    "average_precision": "ap average_precision_score map mean_average_precision",
    "roc_auc": "auc auroc auc_roc roc_auc_score",
    "pr_auc": "auprc aucpr aupr auc_pr prauc",
}
METRIC_OF_SYNONYM = {
    synonym: metric for metric, synonyms in _SYNONYMS_OF_METRIC.items() for synonym in synonyms.split()
}
"""The metrics that others call otherwise, by their names."""

# What others call our arguments: the first of a tuple that a function has is the one that is meant.
SYNONYMS_OF_ARGUMENTS = {
    ("eta", "eta_train"): "prevalence prevalences prior pi base_rate event_rate pos_rate",
    ("model",): "models classifier",
    ("scores",): "models model_columns",
    ("score",): "scores y_score y_scores y_pred y_prob y_hat pred probability proba",
    ("label",): "labels y_true target truth y outcome",
    ("pos_label",): "positive positive_class positive_label event_level",
    ("color", "by"): "hue color colour",
    ("by",): "group groups group_by groupby over",
    ("time",): "period periods date day week month timestamp",
    ("parts",): "part within country countries",
    ("weight",): "weights sample_weight sample_weights",
    ("cluster",): "clusters patient",
    ("stratum",): "stratify",
    ("id",): "row row_id index on example",
    ("metrics", "metric"): "scoring measure measures",
    ("mean_over",): "average averages macro",
    ("delta",): "width precision_width ci_width",
    ("confidence",): "alpha level conf ci conf_level",
    ("threshold", "thresholds"): "cutoff cut_off cut thresh",
    ("maximize",): "objective optimize optimise maximise best",
    ("alerts",): "budget n_alerts alarms capacity top_k k",
    ("per",): "events n_events out_of among",
    ("guarantee",): "promise assurance",
    ("resamples",): "n_resamples n_boot n_bootstraps n_bootstrap replicates",
    ("seed",): "random_state rng",
    ("margin",): "tolerance delta non_inferiority noninferiority_margin",
    ("reference",): "baseline expected",
    ("missing",): "na nan nulls null_policy drop_nulls",
    ("ratio",): "imbalance",
}


def list_arguments_meant(name: str) -> list[str]:
    """Return the names that arguments have here which others call `name`, the likeliest first."""
    argument_names = [
        argument_name
        for same_arguments, synonyms in SYNONYMS_OF_ARGUMENTS.items()
        if name in synonyms.split()
        for argument_name in same_arguments
    ]
    return [*argument_names, METRIC_OF_SYNONYM[name]] if name in METRIC_OF_SYNONYM else argument_names


def tell_alternative(
    name: str, argument_names: Collection[str], weight_spelling: str, target_names: Collection[str]
) -> str:
    """Return what to do instead of an argument that only other functions have, or an empty text."""

    def spell(argument_name: str) -> str:
        return weight_spelling.replace("weight", argument_name)

    is_command = weight_spelling.startswith("-")
    takes_examples = not {"score", "label"}.isdisjoint(argument_names)
    if name in target_names and takes_examples:
        finder_text = "command operating-points" if is_command else "method operating_points"
        metrics_text = spell("metrics" if "metrics" in argument_names else "metric")
        text = f"the row at a target is found by the {finder_text}"
        if "threshold" in argument_names:
            text = f"find the threshold by the {finder_text}, and pass it as {spell('threshold')}"
        elif "mean_over" in argument_names:  # of methods whose metrics may be at a target
            examples = "'precision_at_recall(0.8)' or 'precision_at_threshold(0.8)'"
            text = f"name it in the metric, such as {metrics_text}{examples}"
        return text
    metric_name = METRIC_OF_SYNONYM.get(name.lower(), name.lower())
    if metric_name == "specificity" and {"threshold", "fpr"} <= set(argument_names):
        return f"a specificity of 0.99 is an fpr of 0.01, {spell('fpr')}"
    is_rate = metric_name in ("recall", "specificity", "fpr", "precision")
    takes_counts = not {"cells", "tp"}.isdisjoint(argument_names) and "recall" not in argument_names
    if is_rate and takes_counts and not is_command:
        return "from_rates(sensitivity=..., specificity=...) makes a table of a test's rates"
    names_meant = {name, *list_arguments_meant(name.lower())}
    if "eta" in names_meant and takes_examples and names_meant.isdisjoint(argument_names):
        return f"a prevalence is {spell('eta')} of a call that reads it, such as curve and summary"
    return ""


def suggest_arguments(
    name: str,
    spelling_of_argument: Mapping[str, str],
    *,
    weight_spelling: str = "weight=",
    spelling: str | None = None,
    target_names: Collection[str] = (),
) -> str:
    """Return a hint at the argument that a wrong name represents.

    Users wrote the name as `spelling`. They write each argument that there is as in
    `spelling_of_argument`, and one called "weight", whether there is one or not, as `weight_spelling`.
    Some functions that take a threshold cannot find that of all targets.
    """
    if alternative_text := tell_alternative(name, spelling_of_argument, weight_spelling, target_names):
        return alternative_text
    for argument_name in list_arguments_meant(name.lower()):
        if argument_name in spelling_of_argument:
            return f"did you mean {spelling_of_argument[argument_name]!r}?"
    return suggest_names(spelling or name, spelling_of_argument.values())


def hint_at_arguments(
    function: Callable[P, R], refused_names: Iterable[str] = (), target_names: Collection[str] = ()
) -> Callable[P, R]:
    """Return the function with a hint in its `TypeError` for an argument that it does not have.

    Names that the function itself has refused pass: its own error is more specific. Of targets
    that it does not take, another method finds the threshold.
    """
    parameter_of_name = inspect.signature(function).parameters
    valid_names = frozenset([*parameter_of_name, *refused_names])
    names_by_place = [
        name
        for name, parameter in parameter_of_name.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]

    @wraps(function)
    def check_and_call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not valid_names.issuperset(kwargs):
            refuse_name(next(name for name in kwargs if name not in valid_names))
        if len(args) > len(names_by_place):
            refuse_place(args[len(names_by_place)])
        return function(*args, **kwargs)

    def refuse_name(name: str) -> NoReturn:
        call_text = f"{check_and_call.__qualname__}()"
        spelling_of_argument = {
            parameter_name: parameter_name
            for parameter_name in parameter_of_name
            if parameter_name not in _SELF_NAMES
        }
        hint_text = suggest_arguments(name, spelling_of_argument, target_names=target_names)
        message = f"{call_text} got an unexpected keyword argument {name!r}; {hint_text}"
        raise TypeError(make_visible(message))

    def refuse_place(value: object) -> NoReturn:
        names = [name for name in names_by_place if name not in _SELF_NAMES]
        raise TypeError(f"{check_and_call.__qualname__}() {_describe_places(names, value)}")

    return check_and_call


def _describe_places(names: Sequence[str], value: object) -> str:
    """Return which arguments a function takes by place, and that `value` is one more."""
    value_text = describe_value(value)
    if not names:
        return f"takes arguments by name only; got a positional one, {value_text}"
    if len(names) == 1:
        return f"takes one positional argument, {names[0]}; got an extra one, {value_text}"
    return (
        f"takes {len(names)} positional arguments, {join_words(names)}; got an extra one, {value_text}"
    )
