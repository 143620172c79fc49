"""What others call arguments and metrics, and hints at the names that they have here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import update_wrapper
from types import FunctionType
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from polars_prcurve.errors import PrcError, describe_value, suggest_names
from polars_prcurve.visible_text import make_visible

P = ParamSpec("P")
R = TypeVar("R")
_OWNERS = ("self", "cls")
"""What a method takes that users do not write."""

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
METRICS_MEANT = {other: here for here, others in _METRICS.items() for other in others.split()}
"""The metrics that others call otherwise, by their names."""
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


OLD_WORDS = {
    "within": 'a field of several parts is eta=field(frame, parts="country")',
    "interval": 'write confidence=intervals(0.95, rate="jeffreys")',
    "band": 'write confidence=intervals(0.95, method="rectangle") or intervals(0.95, simultaneous=True)',
    "method": 'write confidence=intervals(0.95, method="bootstrap"), or rate= there for recall and fpr',
    "n_resamples": 'write confidence=intervals(0.95, method="bootstrap", resamples=200)',
    "seed": 'write confidence=intervals(0.95, method="bootstrap", seed=1)',
    "drop_intermediate": 'write thresholds="corners"',
    "scores": 'models of a wide table are score=["a", "b"]',
    "share": 'the column of a field is called "share": eta=field(frame, parts="country")',
    "reference_counts": 'bind the reference: reference=prc(frame, counts=("n_pos", "n_neg"))',
    "tolerance": "leave it out; the estimate moves by less than 1e-12 at the end",
    "max_iterations": "leave it out; the column converged tells whether 10 000 were enough",
}
"""Words that methods took once, and how the same is said now."""


def list_arguments_meant(name: str) -> list[str]:
    """Return the names that arguments have here which others call `name`, the likeliest first."""
    meant = [here for names, others in ARGUMENTS.items() if name in others.split() for here in names]
    return [*meant, *([METRICS_MEANT[name]] if name in METRICS_MEANT else [])]


_TARGETS = ("alerts", "per", "precision", "npv", "fdr", "lift", "predicted_positive_rate", "maximize")
"""Targets that not every method finds which takes a threshold."""


def tell_alternative(name: str, known: Collection[str], weight: str) -> str:
    """Return what to do in place of an argument that only other functions have, or an empty text."""

    def write(argument: str) -> str:
        return weight.replace("weight", argument)

    if name in _TARGETS and {"threshold", "recall"} <= set(known):
        is_command = weight.startswith("-")
        finder = "command points" if is_command else "method operating_points"
        return f"find the threshold by the {finder}, and pass it as {write('threshold')}"
    if METRICS_MEANT.get(name.lower(), name.lower()) == "specificity" and {"threshold", "fpr"} <= set(
        known
    ):
        return f"a specificity of 0.99 is an fpr of 0.01, {write('fpr')}"
    meant = {name, *list_arguments_meant(name.lower())}
    of_examples = not {"score", "label"}.isdisjoint(known)
    if "eta" in meant and of_examples and meant.isdisjoint(known):
        return f"a prevalence is {write('eta')} of a call that reads it, such as curve and summary"
    return ""


def suggest_arguments(
    name: str, known: Mapping[str, str], *, weight: str = "weight=", written: str | None = None
) -> str:
    """Return a hint at the argument that a wrong name stands for; `known` has how users write each."""
    if instead := tell_alternative(name, known, weight):
        return instead
    for meant in list_arguments_meant(name.lower()):
        if meant in known:
            return f"did you mean {known[meant]!r}?"
    return suggest_names(written or name, known.values())


def hint_at_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with a hint in its `TypeError` for an argument that it does not have."""
    parameters = inspect.signature(function).parameters
    names = frozenset(list(parameters))
    by_place = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]

    def call(*args: Any, **kwargs: Any) -> Any:
        if not names.issuperset(kwargs):
            refuse(kwargs)
        if len(args) > len(by_place):
            refuse_place(args[len(by_place)])
        return function(*args, **kwargs)

    def refuse(kwargs: dict[str, Any]) -> NoReturn:
        unknown = next(name for name in kwargs if name not in names)
        public = {name: name for name in parameters if name not in _OWNERS}
        called = f"{cast('FunctionType', function).__qualname__}()"
        if unknown in OLD_WORDS and called.startswith("prc"):
            raise PrcError(f"{called} takes no {unknown}=; {OLD_WORDS[unknown]}")
        raise TypeError(
            make_visible(
                f"{called} got an unexpected keyword argument {unknown!r}; "
                f"{suggest_arguments(unknown, public)}"
            )
        )

    def refuse_place(value: object) -> NoReturn:
        called = f"{cast('FunctionType', function).__qualname__}()"
        first = ", ".join(name for name in by_place if name not in _OWNERS)
        only = f"only {first} without a name" if first else "each argument by its name (score=...)"
        raise TypeError(f"{called} takes {only}; got {describe_value(value)} without one")

    # Doctest passes by functions whose globals are of another module than the one it reads.
    origin = cast("FunctionType", inspect.unwrap(function))
    hinting = FunctionType(call.__code__, origin.__globals__, origin.__name__, None, call.__closure__)
    return cast("Callable[P, R]", update_wrapper(hinting, function))
