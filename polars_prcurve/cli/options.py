"""The options of all commands: one for each argument of a method, described once."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from polars_prcurve.cli import option_values as kinds
from polars_prcurve.cli.option_values import COLUMN, COLUMNS, SHARE, SHARES, SWITCH, TEXT, WHOLE, Kind


class Option(NamedTuple):
    """An option of the command line, named after the argument of a method that it becomes."""

    kind: Kind
    help: str


OPTIONS = {
    # What the table holds.
    "score": Option(
        COLUMNS, "larger means more positive; several columns are a model each, of the same examples"
    ),
    "label": Option(COLUMN, "true or false, 1 or 0, 1 or -1"),
    "pos_label": Option(kinds.VALUE, "the positive value, if labels are anything else"),
    "by": Option(COLUMNS, "group columns; each group has a curve of its own"),
    "model": Option(COLUMN, "one more group column, after those of --by"),
    "id": Option(
        COLUMNS,
        "columns that tell examples apart, if all models scored the same ones, to compare them in pairs",
    ),
    "weight": Option(COLUMN, "a number >= 0 per row"),
    "stratum": Option(COLUMN, "rows of one value, with one --weight, were drawn together, in intervals"),
    "cluster": Option(COLUMN, "rows of one value, such as a patient, belong together in intervals"),
    "counts": Option(
        COLUMNS,
        "two columns of counts per score, in place of a label; of weights, two more with sums of "
        "squares",
    ),
    "rates": Option(Kind(("TPR", "FPR")), "columns of published ROC points, in place of a label"),
    "sizes": Option(kinds.SIZES, "numbers of positives and negatives behind --rates, or their columns"),
    "cells": Option(
        Kind(("TP", "FP", "FN", "TN")), "columns of cumulative counts per threshold, in place of a label"
    ),
    "below": Option(
        kinds.BELOW,
        "examples that were never scored, which lie below all scores: 12/340, or 12/unknown; of each "
        "group, or a file with the group columns, n_pos and n_neg",
    ),
    "missing": Option(
        Kind("KIND", choices=("raise", "drop", "below")),
        "on an empty score, label or weight, stop or drop the row; below: an empty score lies below all",
    ),
    "unlabelled": Option(SWITCH, "count rows without labels"),
    "table": Option(
        Kind("FILE"),
        "a TOML file that says what the columns hold, such as score = 'p' and by = ['country']; an "
        "option holds before it",
    ),
    # Targets.
    "threshold": Option(
        kinds.THRESHOLDS,
        "this threshold; or a file with a column threshold, any of the group columns, and eta if "
        "thresholds differ by prevalence, such as the --output of points",
    ),
    "recall": Option(SHARES, "the highest threshold with at least this recall"),
    "fpr": Option(SHARES, "the lowest with at most this false positive rate"),
    "precision": Option(SHARES, "the lowest with at least this precision at --eta"),
    "npv": Option(SHARES, "the highest with at least this npv at --eta"),
    "fdr": Option(SHARES, "the lowest with at most this fdr at --eta"),
    "lift": Option(kinds.FACTORS, "the lowest with at least this lift at --eta"),
    "predicted_positive_rate": Option(SHARES, "the lowest that flags at most this share at --eta"),
    "alerts": Option(
        kinds.BUDGETS, "the lowest with at most these alerts among events at --eta, such as 500/2000000"
    ),
    "per": Option(
        kinds.NUMBER, "show the alerts among this number of events (default: those of --alerts)"
    ),
    "maximize": Option(kinds.METRICS, "the best by a metric, such as f1"),
    # What is asked.
    "eta": Option(
        kinds.ETAS,
        "prevalences: shares such as 0.001, 0.1% or 1/1000; ratios of positives to negatives such as "
        "1:999; own, each group's own (the default); or a file with a column eta, or k positives among "
        "n examples, and any of the group columns",
    ),
    "parts": Option(
        COLUMNS,
        "columns that tell the parts of one field apart, such as countries; --eta is a file with them, "
        "eta and share",
    ),
    "metrics": Option(kinds.METRICS, "what to compute; see below"),
    "metric": Option(kinds.METRIC, "the metric that ranks models; see below"),
    "confidence": Option(
        kinds.CONFIDENCE,
        "the level of intervals, such as 95%, or 95%,method=bootstrap,seed=1; see below",
    ),
    "guarantee": Option(
        SHARE,
        "a level such as 0.95: thresholds that meet their targets in truth, in this share of test sets",
    ),
    "start": Option(
        kinds.THRESHOLD,
        "where the tests of --guarantee start, fixed before the labels were seen (default: by counts); "
        "or a file, as in --threshold",
    ),
    "together": Option(SWITCH, "one threshold that meets all targets"),
    "thresholds": Option(
        kinds.ROW_CHOICE,
        "only the thresholds at which recall reaches 1/N, 2/N, ...; or corners, which leaves out rows "
        "inside runs of negatives: the curves stay the same",
    ),
    "smooth": Option(
        Kind("KIND", choices=("binormal",)), "the fit of a normal distribution to each class"
    ),
    "coarse": Option(
        SWITCH, "limits of each metric: over all orders of equal scores, or of what lies between --rates"
    ),
    "long": Option(SWITCH, "a row per metric, in place of a column per metric"),
    "probabilities": Option(SHARES, "the risks at which users act (default: 0.01, 0.02, ... 0.99)"),
    "eta_train": Option(SHARE, "the prevalence at which scores are posteriors"),
    "other": Option(
        kinds.OTHER,
        "a file with one point of other examples, such as a human reader, in the columns tp, fp, fn and "
        "tn, or cells=a,b,c,d; with --match",
    ),
    "match": Option(
        Kind("RATE", choices=("recall", "fpr")), "cut the scores where they have this rate of --other"
    ),
    "paired": Option(SWITCH, "each model, such as a country, has examples of its own"),
    "worst": Option(SWITCH, "only the best and the worst model, with an interval for all pairs"),
    "adjust": Option(Kind("KIND", choices=("holm",)), "adjust intervals and p-values for several pairs"),
    "of": Option(
        Kind("KIND", choices=("pr", "roc")),
        "where a metric is equal, or where the ROC curves cross at any prevalence",
    ),
    "eta_range": Option(kinds.ETA_RANGE, "the prevalences to search"),
    "delta": Option(SHARE, "the width of the band of precision, upper minus lower end"),
    "relative": Option(
        SWITCH,
        "--delta is a share of the precision at --eta: 0.5 is a band half as wide as precision is high",
    ),
    "assurance": Option(SHARE, "the share of test sets of that size whose band is as narrow"),
    "plan": Option(kinds.PLAN, "the table of sampling-plan, a file"),
    "budget": Option(WHOLE, "how many rows to label next"),
    "strata": Option(WHOLE, "into how many ranges scores are cut, half of them above the threshold"),
    "reference": Option(
        kinds.REFERENCE,
        "a file or a pattern of examples with scores and labels, and what its columns hold, if that "
        "differs: counts=n_pos,n_neg, score=p or label=sick",
    ),
    "time": Option(COLUMN, "the column of the period, such as a week; its values stand in their order"),
    "name": Option(TEXT, "the name of the new column"),
    "report": Option(Kind("FILE"), "write the decision as one HTML file to send"),
    "page": Option(Kind("FILE"), "write a page to move the score, the prevalence and the costs"),
    "card": Option(Kind("FILE"), "draw a picture to share, a PNG or an SVG"),
    "title": Option(TEXT, "the title of the report"),
    "date": Option(TEXT, "a date to print, since a report looks at no clock"),
    "notes": Option(TEXT, "a text of your own"),
    "output": Option(
        Kind("FILE"),
        "stream rows to this file, so that tables may exceed memory; - is CSV to standard output. "
        "Without it a terminal shows the first 50 rows, and a pipe gets all as CSV",
    ),
}


def name_flag(name: str, default: object = None) -> str:
    """Return the option of an argument; a switch of what is on by default turns it off."""
    return f"--{'no-' if default is True else ''}{name.replace('_', '-')}"


def add_option(group: Any, name: str, option: Option, default: Any = None) -> None:
    """Add an option to a group of options; without a default it is required."""
    kind, about = option
    how: dict[str, Any] = {"dest": name, "required": default is inspect.Parameter.empty}
    if not kind.metavar:
        how |= {"action": "store_const", "const": default is not True}
    elif kind.choices:
        how["choices"] = kind.choices
    elif isinstance(kind.metavar, tuple):
        how |= {"metavar": kind.metavar, "nargs": len(kind.metavar)}
    else:
        how |= {"metavar": kind.metavar, **({"nargs": "+", "action": "extend"} if kind.several else {})}
    values = default if isinstance(default, tuple) else (default,)
    if all(type(value) in (str, int, float) for value in values) and "(default" not in about:
        about += f" (default: {' '.join(map(str, values))})"
    flags = [*(["-o"] if name == "output" else []), name_flag(name, default)]
    group.add_argument(*flags, help=about.replace("%", "%%"), **how)
