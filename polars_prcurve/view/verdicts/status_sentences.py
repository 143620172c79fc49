"""Statuses as people read them: one table of what is printed, when it holds, and the sentences.

The documentation shows this table, and a test compares both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from polars_prcurve.core.judging.case_status import LEAST_OF_CLASS
from polars_prcurve.core.judging.status_names import Status


class StatusRow(NamedTuple):
    """A status: how it is printed, when it holds, and a sentence for each kind of case."""

    label: str  # empty where the numbers speak for themselves
    rule: str
    templates: Mapping[str, str]
    """Sentences by the kind of case, with names of values in braces; the first is the usual one."""


STATUS_TABLE: Mapping[Status, StatusRow] = {
    "too_little_data": StatusRow(
        "too little data",
        f"a class has fewer than {LEAST_OF_CLASS} examples, or the intervals are too wide to judge by",
        {
            "interval": "With {examples}, {metric}{of_model}{at_half} could be anything from {low} to "
            "{high}",
            "no interval": "With {examples}, there is no interval for {metric}{at_half}",
            "no class": "The test set has no {class_name}",
            "no rows": "The table has no rows",
        },
    ),
    "chance": StatusRow(
        "no better than chance",
        "no model ranks significantly better than chance, and at 50% recall every interval rules out a "
        "precision of twice the prevalence",
        {
            "scores": "{models} {are} no better than chance{places}{colon}at {half} recall, precision "
            "is {values}; the prevalence is {eta}",
            "mean": "{models} {are} no better than chance{places}{colon}{metric} is {values}; random "
            "scores have {by_chance}",
            "constant": "All scores{of_model} are {score}, so they rank nothing{places}",
            "reversed": "{models} {rank} negatives above positives{places}",
        },
    ),
    "not_met": StatusRow(
        "target not met",
        "the intervals rule out that any threshold, or the one passed, meets the targets",
        {
            "threshold": "Threshold {threshold} {misses} {target}{places}{colon}{values}",
            "point": "This point {misses} {target}{places}{colon}{values}",
            "no threshold": "No threshold {meets} {target}{places}{best}",
            "no score": "No score reaches the threshold {threshold}{places}",
        },
    ),
    "unsure": StatusRow(
        "not sure",
        "the intervals are compatible with both meeting and missing the targets",
        {
            "threshold": "Threshold {threshold} may or may not {meet} {target}{places}{colon}{values}",
            "point": "This point may or may not {meet} {target}{places}{colon}{values}",
            "guarantee": "No threshold {meets} {target} with {level} confidence{places}{best}",
            "no threshold": "No threshold {meets} {target} on this test set, but one may on new "
            "data{places}{best}",
        },
    ),
    "no_winner": StatusRow(
        "no clear winner",
        "several of the models that meet the targets may be best",
        {
            "two": "No clear winner between {first} and {second}{places}{colon}{metric} {values}",
            "several": "{n_named} of {n_models} models may be best{places}: {names}{semicolon}{metric} "
            "from {lowest} to {highest}",
            "one misses": "{first} has {metric} {value}; {others} {miss} the targets on this test set, "
            "but not significantly",
            "chance": "{first} has the highest {metric}, {value}, but is not significantly better than "
            "chance{places}",
        },
    ),
    "winner": StatusRow(
        "clear winner",
        "one model is significantly better than all others, or the only one to meet the targets",
        {
            "two": "{first} is better{places}{colon}{metric} {value}, against {next_value} for {second}",
            "several": "{first} is the best of {n_models} models{places}{colon}{metric} {value}; the "
            "next is {second}, {next_value}",
            "alone": "Only {first} meets the targets{places}{colon}{values}",
        },
    ),
    "met": StatusRow(
        "target met",
        "the threshold passed meets the targets, as its intervals show, or one is found that meets them "
        "with `guarantee`",
        {
            "threshold": "Threshold {threshold} {meets} {target}{places}{colon}{values}",
            "point": "This point {meets} {target}{places}{colon}{values}",
            "guarantee": "Threshold {threshold}{of_model} {meets} {target} with {level} confidence"
            "{places}{colon}{values}",
        },
    ),
    "measured": StatusRow(
        "",
        "one model, and nothing to test: no `guarantee=`, and no target for a `threshold=` that was "
        "passed",
        {"values": "{opening}{values}"},
    ),
}
"""All statuses in the order in which they are tried."""
