"""What does not go together: core/binding refuses a call at once, in the words that the docs list."""

from __future__ import annotations

import inspect
from itertools import permutations
from typing import Any

import polars as pl
import pytest

from polars_prcurve import PrcError, class_mix, field, intervals, prc
from polars_prcurve.core.binding.argument_rules import INTERVALS, RULES, TAKES_RATES, USES, Rule
from tests.support.comparing import assert_same

DF = pl.DataFrame(
    {
        "score": [0.9, 0.8, 0.3, 0.2, 0.6, 0.1],
        "label": [1, 0, 1, 0, 1, 0],
        "row": [0, 0, 1, 1, 2, 2],
        "model": ["a", "b"] * 3,
        "part": ["x", "x", "y", "y", "x", "y"],
        "w": [1.0, 2.0] * 3,
        "n": [1, 2] * 3,
        "rate": [0.1, 0.2, 0.5, 0.6, 0.9, 1.0],
    }
)
PARTS = pl.DataFrame({"part": ["x", "y"], "eta": [0.1, 0.2], "share": [1, 1]})
OTHER = prc(pl.DataFrame({"tp": [3], "fp": [2], "fn": [1], "tn": [9]}), cells=("tp", "fp", "fn", "tn"))
SAID: dict[str, dict[str, Any]] = {
    "label=None": {"label": None},
    "paired=False": {"paired": False},
    'of="roc"': {"of": "roc"},
    'solve_for="eta"': {"solve_for": "eta"},
    "plan=": {"plan": DF},
    "by=": {"by": "part"},
    "model=": {"model": "model"},
    "relative=": {"relative": True},
    "assurance=": {"assurance": 0.9},
    "field()": {"eta": field(PARTS, parts="part")},
    "class_mix()": {"eta": class_mix({"cat": 0.25, "dog": 0.75})},
    "eta= of scores": {"eta": prc(DF.select("score"), label=None)},
    "confidence=": {"confidence": 0.9},
    'method="analytic"': {"confidence": 0.9},
    'method="bootstrap"': {"confidence": intervals(0.9, method="bootstrap", seed=1)},
    'method="rectangle"': {"confidence": intervals(0.9, method="rectangle")},
    "simultaneous=True": {"confidence": intervals(0.9, simultaneous=True)},
    'rate="hoeffding"': {"confidence": intervals(0.9, rate="hoeffding")},
    "weights": {"weight": "w"},
    "counts of weights": {"counts": ("n", "n", "n", "n")},
    "score=": {"score": "score"},
    "label=": {"label": "label"},
    "pos_label=": {"pos_label": 1},
    "weight=": {"weight": "w"},
    "counts=": {"counts": ("n", "n")},
    "rates=": {"rates": ("rate", "rate")},
    "cells=": {"cells": ("n", "n", "n", "n")},
    "cluster=": {"cluster": "part"},
    "below=": {"below": (2, 3)},
    'missing="below"': {"missing": "below"},
    "negatives are not counted": {"below": (2, None)},
    "eta=": {"eta": 0.1},
    "per=": {"per": 100},
    "stratum=": {"stratum": "part"},
    "id=": {"id": "row"},
    "smooth=": {"smooth": "binormal"},
    "coarse=": {"coarse": True},
    "mean_over=": {"mean_over": "part"},
    "adjust=": {"adjust": "holm"},
    "worst=": {"worst": True},
    "other=": {"other": OTHER},
    "match=": {"match": "recall"},
    "guarantee=": {"guarantee": 0.9},
    "start=": {"start": 0.5},
    "together=": {"together": True},
    "threshold=": {"threshold": 0.5},
    "recall=": {"recall": 0.5},
    "fpr=": {"fpr": 0.5},
    "maximize=": {"maximize": "f1"},
    "metric=": {"metric": "average_precision"},
    "eta_range=": {"eta_range": (0.1, 0.2)},
    "eta_train=": {"eta_train": 0.4},
}
"""How a call says each fact."""
SAID |= {f"{name}=": {name: 0.5} for name in ("npv", "fdr", "lift")}
SAID |= {
    "alerts=": {"alerts": 5, "per": 100},
    "predicted_positive_rate=": {"predicted_positive_rate": 0.1},
}
SAID |= {"score={...}": {"score": {"cat": "score", "dog": "rate"}}, "precision=": {"precision": 0.5}}
PATH: dict[str, dict[str, Any]] = {
    "report": {"path": "never-written.html"},
    "estimate_prevalence": {"eta_train": 0.5},
    "sampling_plan": {"threshold": 0.5, "budget": 4},
    "monitor": {"time": "part", "reference": 0.5, "threshold": 0.5},
}


def choose_facts(rule: Rule, method: str) -> set[str]:
    """Return facts of a call that this rule is the first to refuse, as far as others let it."""
    facts = set(rule.facts)
    implied = {"confidence="} if has_intervals(method) or "confidence" in say(facts) else set()
    implied |= list_facts_of_method(method)
    for other in RULES[: RULES.index(rule)]:
        is_of_it = not other.methods or method in other.methods
        holds = (facts | implied).issuperset(other.facts)
        if is_of_it and holds and other.unless and not (facts | implied) & {*other.unless}:
            facts.add(other.unless[0])
    return facts


def list_facts_of_method(method: str) -> set[str]:
    """Return what no call says, since it is so of the method."""
    return {"below= is read"} if "below" in USES[method] else set()


def is_always_refused_before(rule: Rule, method: str) -> bool:
    """Return whether an earlier rule refuses all that this one is about, whatever else is said."""
    return any(
        {*other.facts} <= {*rule.facts}
        and (not other.methods or method in other.methods)
        and {*other.unless} <= {"below= is read"} - list_facts_of_method(method)
        for other in RULES[: RULES.index(rule)]
    )


def has_intervals(method: str) -> bool:
    """Return whether a method has intervals without being asked."""
    confidence = inspect.signature(getattr(DF.prc, method)).parameters.get("confidence")
    return confidence is not None and confidence.default is not None


def say(facts: Any) -> dict[str, Any]:
    """Return the arguments of a call that says these facts."""
    return {name: value for fact in facts for name, value in SAID[fact].items()}


def can_say(method: str, rule: Rule) -> bool:
    """Return whether a call of a method can say all that a rule is about."""
    if rule.methods and method not in rule.methods:
        return False
    if rule.unless[:1] == ("confidence=",) and has_intervals(method):
        return False
    if {*rule.unless} & list_facts_of_method(method) or is_always_refused_before(rule, method):
        return False
    kinds = {fact.split('"')[1] for fact in rule.facts if fact.startswith("method=")}
    kinds |= {"rectangle"} if "simultaneous=True" in rule.facts else set()
    has_kinds = kinds <= set(INTERVALS.get(method, ("analytic",)))
    has_rate = 'rate="hoeffding"' not in rule.facts or method in TAKES_RATES
    said = say(rule.facts)
    takes = said.keys() <= set(inspect.signature(getattr(DF.prc, method)).parameters)
    is_of_field = method == "reweight" and "plan=" not in rule.facts  # whose eta= is a field
    return takes and has_kinds and has_rate and not is_of_field


CASES = [
    pytest.param(rule, method, id=f"{method}: {', '.join(rule.facts)}")
    for rule in RULES
    for method in USES
    if can_say(method, rule)
]


def test_every_rule_is_about_a_call_that_a_user_can_make() -> None:
    assert {id(case.values[0]) for case in CASES} == {id(rule) for rule in RULES}


@pytest.mark.parametrize(("rule", "method"), CASES)
def test_a_call_that_does_not_go_together_is_refused(rule: Rule, method: str) -> None:
    said = say(choose_facts(rule, method)) | PATH.get(method, {})
    for frame in (DF, DF.lazy()):
        with pytest.raises(PrcError) as raised:
            getattr(prc(frame), method)(**said)
        assert str(raised.value) == rule.write(method)


# Words about the table ------------------------------------------------------------------------


def test_rivals_are_set_aside_if_bound_and_raise_if_said_together() -> None:
    table = DF.prc.sweep().rename({"threshold": "score"})
    table = table.with_columns(label=pl.int_range(pl.len()) % 2 == 0, w=1.5)
    rivals: dict[str, dict[str, Any]] = {
        "weight": {"weight": "w"},
        "counts": {"counts": ("tp", "fp")},
        "rates": {"rates": ("recall", "fpr"), "sizes": (6, 6)},
        "cells": {"cells": ("tp", "fp", "fn", "tn")},
    }
    for first, second in permutations(rivals, 2):
        bound, said = rivals[first], rivals[second]
        expected = table.prc.curve(0.1, **said)
        assert_same(table.prc(**bound).curve(0.1, **said), expected)
        assert_same(table.prc(**bound)(**said).curve(0.1), expected)
        for together in (table.prc, table.prc.curve):
            with pytest.raises(PrcError, match=r"^pass only one of (\w+)= and (?!\1)\w+=: both define"):
                together(**bound, **said)


def test_a_selector_of_groups_cannot_hold_the_models() -> None:
    df = pl.DataFrame({"model": ["a", "b"], "score": [0.9, 0.1], "label": [1, 0]})
    with pytest.raises(PrcError, match=r"^leave the column 'model' out of by="):
        df.prc.crossings(by=pl.selectors.by_name("model", "label"))
