"""Hints at the name that a wrong one means: a misspelt one, or one that others use."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import TYPE_CHECKING, ClassVar, NoReturn, ParamSpec, TypeVar

from polars_prcurve.core.ground.message_text import describe_value, join_words, list_names
from polars_prcurve.core.ground.visible_names import make_visible, shorten_name

P = ParamSpec("P")  # the parameters of a function that is given hints
R = TypeVar("R")  # what that function returns

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


def list_arguments_meant(foreign_name: str) -> list[str]:
    """Return the names that arguments have here which others call so, the likeliest first."""
    argument_names = [
        argument_name
        for same_argument_names, synonyms_text in SYNONYMS_OF_ARGUMENTS.items()
        if foreign_name in synonyms_text.split()
        for argument_name in same_argument_names
    ]
    return (
        [*argument_names, METRIC_OF_SYNONYM[foreign_name]]
        if foreign_name in METRIC_OF_SYNONYM
        else argument_names
    )


def tell_alternative(
    wrong_name: str, argument_names: Collection[str], weight_spelling: str, target_names: Collection[str]
) -> str:
    """Return what to do instead of an argument that only other functions have, or an empty text."""

    def spell(argument_name: str) -> str:
        return weight_spelling.replace("weight", argument_name)

    is_command = weight_spelling.startswith("-")
    takes_examples = not {"score", "label"}.isdisjoint(argument_names)
    if wrong_name in target_names and takes_examples:
        finder_text = "command operating-points" if is_command else "method operating_points"
        metrics_spelling = spell("metrics" if "metrics" in argument_names else "metric")
        advice_text = f"the row at a target is found by the {finder_text}"
        if "threshold" in argument_names:
            advice_text = f"find the threshold by the {finder_text}, and pass it as {spell('threshold')}"
        elif "mean_over" in argument_names:  # of methods whose metrics may be at a target
            examples_text = "'precision_at_recall(0.8)' or 'precision_at_threshold(0.8)'"
            advice_text = f"name it in the metric, such as {metrics_spelling}{examples_text}"
        return advice_text
    metric_name = METRIC_OF_SYNONYM.get(wrong_name.lower(), wrong_name.lower())
    if metric_name == "specificity" and {"threshold", "fpr"} <= set(argument_names):
        return f"a specificity of 0.99 is an fpr of 0.01, {spell('fpr')}"
    is_rate = metric_name in ("recall", "specificity", "fpr", "precision")
    takes_counts = not {"cells", "tp"}.isdisjoint(argument_names) and "recall" not in argument_names
    if is_rate and takes_counts and not is_command:
        return "from_rates(sensitivity=..., specificity=...) makes a table of a test's rates"
    meant_names = {wrong_name, *list_arguments_meant(wrong_name.lower())}
    if "eta" in meant_names and takes_examples and meant_names.isdisjoint(argument_names):
        return f"a prevalence is {spell('eta')} of a call that reads it, such as curve and summary"
    return ""


def suggest_arguments(
    wrong_name: str,
    spelling_by_argument: Mapping[str, str],
    *,
    weight_spelling: str = "weight=",
    spelling: str | None = None,
    target_names: Collection[str] = (),
) -> str:
    """Return a hint at the argument that a wrong name represents.

    Users wrote the name as `spelling`. They write each argument that there is as in
    `spelling_by_argument`, and one called "weight", whether there is one or not, as `weight_spelling`.
    Some functions that take a threshold cannot find that of all targets.
    """
    if alternative_text := tell_alternative(
        wrong_name, spelling_by_argument, weight_spelling, target_names
    ):
        return alternative_text
    for argument_name in list_arguments_meant(wrong_name.lower()):
        if argument_name in spelling_by_argument:
            return f"did you mean {spelling_by_argument[argument_name]!r}?"
    return suggest_names(spelling or wrong_name, spelling_by_argument.values())


def hint_at_arguments(
    function: Callable[P, R], refused_names: Iterable[str] = (), target_names: Collection[str] = ()
) -> Callable[P, R]:
    """Return the function with a hint in its `TypeError` for an argument that it does not have.

    Names that the function itself has refused pass: its own error is more specific. Of targets
    that it does not take, another method finds the threshold.
    """
    parameter_of_name = inspect.signature(function).parameters
    valid_names = frozenset([*parameter_of_name, *refused_names])
    positional_names = [
        name
        for name, parameter in parameter_of_name.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]

    @wraps(function)
    def check_and_call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not valid_names.issuperset(kwargs):
            refuse_name(next(name for name in kwargs if name not in valid_names))
        if len(args) > len(positional_names):
            refuse_place(args[len(positional_names)])
        return function(*args, **kwargs)

    def refuse_name(wrong_name: str) -> NoReturn:
        call_text = f"{check_and_call.__qualname__}()"
        spelling_by_argument = {
            parameter_name: parameter_name
            for parameter_name in parameter_of_name
            if parameter_name not in _SELF_NAMES
        }
        hint_text = suggest_arguments(wrong_name, spelling_by_argument, target_names=target_names)
        message = f"{call_text} got an unexpected keyword argument {wrong_name!r}; {hint_text}"
        raise TypeError(make_visible(message))

    def refuse_place(extra_value: object) -> NoReturn:
        user_names = [name for name in positional_names if name not in _SELF_NAMES]
        raise TypeError(f"{check_and_call.__qualname__}() {_describe_places(user_names, extra_value)}")

    return check_and_call


def _describe_places(positional_names: Sequence[str], extra_value: object) -> str:
    """Return which arguments a function takes by place, and that `extra_value` is one more."""
    extra_value_text = describe_value(extra_value)
    if not positional_names:
        return f"takes arguments by name only; got a positional one, {extra_value_text}"
    if len(positional_names) == 1:
        return (
            f"takes one positional argument, {positional_names[0]}; got an extra one, {extra_value_text}"
        )
    return (
        f"takes {len(positional_names)} positional arguments, {join_words(positional_names)}; got an "
        f"extra one, {extra_value_text}"
    )


def suggest_names(
    wrong_name: str, valid_names: Iterable[str], text_by_name: Mapping[str, str] | None = None
) -> str:
    """Return a hint at the valid names nearest to a wrong one, or at all of them if none is near.

    Names are compared, and shown as in `text_by_name` where it has them.
    """
    valid_name_list, text_by_name = list(valid_names), text_by_name or {}
    # At 0.9 a slip of one letter still finds its word; at 0.6, as by default, 'font' finds 'points'.
    near_names = (
        [name for name in valid_name_list if name.lower() == wrong_name.lower()]
        or get_close_matches(wrong_name, valid_name_list, n=3, cutoff=0.9)
        or [name for name in valid_name_list if name.startswith(f"{wrong_name}_")][:3]
        or get_close_matches(wrong_name, valid_name_list, n=3, cutoff=0.65)
    )
    shown_texts = [text_by_name.get(name, name) for name in near_names or valid_name_list]
    if near_names:
        return f"did you mean {' or '.join(repr(shorten_name(text)) for text in shown_texts)}?"
    return f"choose from: {list_names(shown_texts)}"


class HintingAttributes:
    """A base class whose errors of a wrong attribute hint at the one that is meant."""

    _wrong_attribute: ClassVar[str]  # how the error begins, before the wrong name
    _name_by_synonym: ClassVar[Mapping[str, str]] = {}  # the attributes that others call otherwise

    if not TYPE_CHECKING:  # for a type checker any name would be an attribute

        def __getattr__(self, name: str) -> NoReturn:
            """Raise, with a hint at the attribute that a wrong name means."""
            if name.startswith("_"):  # copies and notebooks look up many
                raise AttributeError(name)
            raise AttributeError(f"{self._wrong_attribute} {name!r}; {self._suggest_attribute(name)}")

    @classmethod
    def _suggest_attribute(cls, wrong_name: str) -> str:
        """Return a hint at the attribute that a wrong name means, or at all."""
        # Fields of a dataclass that have no default are no attributes of the class.
        all_names = {*dir(cls), *getattr(cls, "__dataclass_fields__", ())}
        public_names = sorted(name for name in all_names if not name.startswith("_"))
        meant_name = cls._name_by_synonym.get(wrong_name)
        return (
            f"did you mean {meant_name!r}?"
            if meant_name in public_names
            else suggest_names(wrong_name, public_names)
        )
