"""What others call metrics and arguments, for hints at the names that they have here."""

from __future__ import annotations

from collections.abc import Collection

POINT_METRICS = {
    "ppv": "precision",
    "positive_predictive_value": "precision",
    "negative_predictive_value": "npv",
    "sensitivity": "recall",
    "tpr": "recall",
    "hit_rate": "recall",
    "true_positive_rate": "recall",
    "true_negative_rate": "specificity",
    "tnr": "specificity",
    "false_positive_rate": "fpr",
    "fall_out": "fpr",
    "miss_rate": "fnr",
    "false_discovery_rate": "fdr",
    "critical_success_index": "jaccard",
    "threat_score": "jaccard",
    "youden_j": "informedness",
    "kappa": "cohen_kappa",
    "matthews_corrcoef": "mcc",
    "alert_rate": "predicted_positive_rate",
    "f1_score": "f1",
}
CURVE_METRICS = {
    "ap": "average_precision",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "auc_roc": "roc_auc",
    "auprc": "pr_auc",
    "aupr": "pr_auc",
    "auc_pr": "pr_auc",
    "prauc": "pr_auc",
    "average_precision_score": "average_precision",
    "roc_auc_score": "roc_auc",
}

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
    return [*meant, *(here for here in [POINT_METRICS.get(name)] if here)]


_TARGETS = ("alerts", "per", "precision", "npv", "fdr", "lift", "predicted_positive_rate", "maximize")
"""Targets that not every method finds which takes a threshold."""

_SPECIFICITY = ("specificity", "tnr", "true_negative_rate")


def tell_alternative(name: str, known: Collection[str], weight: str) -> str:
    """Return what to do in place of an argument that only other functions have, or an empty text.

    `weight` is how users write the argument for weights, which must be `known`.
    """

    def write(argument: str) -> str:
        return weight.replace("weight", argument)

    if name in _TARGETS and {"threshold", "recall"} <= set(known):
        is_command = weight.startswith("-")
        finder = "command points" if is_command else "method operating_points"
        return f"find the threshold by the {finder}, and pass it as {write('threshold')}"
    if name.lower() in _SPECIFICITY and {"threshold", "fpr"} <= set(known):
        return f"a specificity of 0.99 is an fpr of 0.01, {write('fpr')}"
    meant = {name, *list_arguments_meant(name.lower())}
    of_examples = not {"score", "label"}.isdisjoint(known)
    if "eta" in meant and of_examples and meant.isdisjoint(known):
        return f"a prevalence is {write('eta')} of a call that reads it, such as curve and summary"
    return ""
