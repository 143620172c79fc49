"""Kinds of targets: what a word such as `precision=` requires of a point, declared in one place.

A new kind is one declaration in TARGET_KINDS, and its word in one of the two groups above it, from which
signatures are made for type checkers. All rooms read their lists of targets from there: the search for
rows, guarantees, the rules of calls, options of the command line, and verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict

import polars as pl

from polars_prcurve.core.ground.argument_checks import read_number, refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.exact_arithmetic import find_greatest, find_least
from polars_prcurve.core.ground.share_texts import read_plain
from polars_prcurve.core.metrics import point_formulas as point
from polars_prcurve.core.metrics.curve_metric import SegmentValues
from polars_prcurve.core.metrics.point_metric import Amount, PointMetric

TargetValues: TypeAlias = float | str | Sequence[float | str] | None  # what a word for a target takes
ValueKind: TypeAlias = Literal["share", "factor", "number"]
"""What the value of a target is: a share from 0 to 1, a factor, or a number among `per=` cases, which
`alerts` alone is."""


class RunTest(NamedTuple):
    """How the guarantee of a share among the flagged examples, or among all others, is tested: in a run.

    The functions are of the value of a target, and are read for examples that are not flagged, with
    classes and prevalence swapped, where a target limits the positives that are missed, as npv does.
    """

    find_ratio: Callable[[float, pl.Expr], pl.Expr]
    """Return fpr per recall, or fnr per tnr, at which the target is just met at a prevalence."""
    own_odds: Callable[[float], float] | None
    """Return the false ones per true one that just meet the target at the test set's prevalence; None
    if they depend on it."""
    is_hardest_at_low_eta: Callable[[float], bool]
    """Return whether the target is harder to meet the lower the prevalence is."""


PromiseTest: TypeAlias = RunTest | Literal["rate", "alerts"]
"""How `guarantee=` tests a target: in a run, as recall or fpr, or as a share of all examples."""


@dataclass(frozen=True)
class TargetKind:
    """What a word for a target means."""

    word: str  # the argument, and the criterion of the rows that meet it
    metric: PointMetric  # is compared with the value; for alerts with their share of all cases
    _: KW_ONLY
    is_at_most: bool  # whether the metric is to be at most the value; otherwise at least
    limits_misses: bool
    """Whether it is a lower limit of what is detected: it limits the positives that are missed, and low
    thresholds meet it. Otherwise it is a cap: it limits the alerts, and high thresholds meet it."""
    value_kind: ValueKind = "share"
    promise_test: PromiseTest | None = None  # None if guarantee= has no test of it yet

    @property
    def column(self) -> str:
        """The column of points that has what is compared with the value."""
        return self.word if self.value_kind == "number" else self.metric.name

    @property
    def takes_first(self) -> bool:
        """Whether the highest threshold that meets it is the answer; otherwise the lowest one is."""
        return self.limits_misses

    def measure(self, segment: SegmentValues) -> Amount:
        """Return the metric of each row, negated if it is to be at most a limit."""
        # Recall and fpr are columns of every sweep.
        is_rate = self.metric.of_rates is not None
        value = segment.column(self.metric.name) if is_rate else segment.value(self.metric)
        return -value if self.is_at_most else value

    def find_least(self, limit: float) -> float:
        """Return what a row is to measure at least, to keep a limit, or to keep it but for rounding."""
        return -find_greatest(limit) if self.is_at_most else find_least(limit)

    @property
    def needs_negatives(self) -> bool:
        """Whether the metric changes with the number of negatives that are not flagged."""
        value_with_few_tn, value_with_many_tn = (
            self.metric.formula(1.0, 1.0, 1.0, n_tn) for n_tn in (1.0, 3.0)
        )
        return bool(value_with_few_tn != value_with_many_tn)


def divide_shares(wrong_share: float, right_share: float) -> float:
    """Return the odds of two shares; infinite if nothing is right."""
    return math.inf if right_share == 0 else wrong_share / right_share


# Ratios follow from the definition of each metric, solved for fpr / recall.
_PRECISION_TEST = RunTest(
    lambda value, eta: (eta * (1 - value)) / ((1 - eta) * value),
    lambda value: divide_shares(1 - value, value),
    lambda _value: True,
)
# Npv is the precision of what is not flagged, so it is harder to meet the higher the prevalence is.
_NPV_TEST = RunTest(
    lambda value, eta: ((1 - eta) * (1 - value)) / (eta * value),
    lambda value: divide_shares(1 - value, value),
    lambda _value: False,
)
# An fdr is one less the precision.
_FDR_TEST = RunTest(
    lambda value, eta: (eta * value) / ((1 - eta) * (1 - value)),
    lambda value: divide_shares(value, 1 - value),
    lambda _value: True,
)
_LIFT_TEST = RunTest(
    # No precision exceeds 1, so a lift above 1 / eta is out of reach.
    lambda value, eta: (
        pl.when(eta * value > 1).then(0.0).otherwise((1 - eta * value) / ((1 - eta) * value))
    ),
    None,
    # A high prevalence makes it hard to have a lift above 1, and a low one to have a lift below.
    lambda value: value < 1,
)


class RateWords(TypedDict, total=False):
    """The words whose metric does not depend on eta: they fix a threshold for all prevalences."""

    recall: TargetValues
    fpr: TargetValues


class EtaWords(TypedDict, total=False):
    """The words whose metric depends on eta; `per` is the number of cases of `alerts`."""

    precision: TargetValues
    npv: TargetValues
    fdr: TargetValues
    lift: TargetValues
    predicted_positive_rate: TargetValues
    alerts: TargetValues
    per: float | None


TARGET_KINDS = {
    kind.word: kind
    for kind in (
        TargetKind("recall", point.recall, is_at_most=False, limits_misses=True, promise_test="rate"),
        TargetKind("fpr", point.fpr, is_at_most=True, limits_misses=False, promise_test="rate"),
        TargetKind(
            "precision",
            point.precision,
            is_at_most=False,
            limits_misses=False,
            promise_test=_PRECISION_TEST,
        ),
        TargetKind("npv", point.npv, is_at_most=False, limits_misses=True, promise_test=_NPV_TEST),
        TargetKind("fdr", point.fdr, is_at_most=True, limits_misses=False, promise_test=_FDR_TEST),
        TargetKind(
            "lift",
            point.lift,
            is_at_most=False,
            limits_misses=False,
            value_kind="factor",
            promise_test=_LIFT_TEST,
        ),
        TargetKind(
            "predicted_positive_rate",
            point.predicted_positive_rate,
            is_at_most=True,
            limits_misses=False,
            promise_test="alerts",
        ),
        TargetKind(
            "alerts",
            point.predicted_positive_rate,
            is_at_most=True,
            limits_misses=False,
            value_kind="number",
            promise_test="alerts",
        ),
    )
}
"""All kinds by their words, in the order of the rows of a result."""


SHARE_WORDS = tuple(word for word, kind in TARGET_KINDS.items() if kind.value_kind == "share")
"""The targets whose values are shares, which may be texts such as "80%"."""
RUN_WORDS = tuple(word for word, kind in TARGET_KINDS.items() if isinstance(kind.promise_test, RunTest))
"""The targets whose guarantees are tested in a run, which has a start."""
ALERT_WORDS = tuple(word for word, kind in TARGET_KINDS.items() if kind.promise_test == "alerts")
"""The targets whose guarantees are of all alerts, whatever their class."""


def read_budget(value: object, per: object) -> float:
    """Return a number of alerts among `per` cases as a float; raise unless it is one."""
    budget = read_number("alerts=", value, "numbers of alerts")
    if per is None:
        raise PrcError(
            "pass per=, the number of cases among which alerts are counted, such as per=10_000; for a "
            "fraction of cases use predicted_positive_rate="
        )
    if not 0 <= budget <= read_per(per):
        raise PrcError(f"alerts= takes numbers from 0 to per={per!r}; got {budget!r}")
    return budget


def read_budgets(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the words of a call, with budgets such as "500/2000000" as numbers of alerts and `per`."""
    alerts = arguments.get("alerts")
    budget_texts = alerts if isinstance(alerts, list | tuple) else [alerts]
    if not any(isinstance(budget_text, str) for budget_text in budget_texts):
        return arguments
    alerts_and_cases = [_read_budget_text(budget_text) for budget_text in budget_texts]
    case_counts = [n_cases for _, n_cases in alerts_and_cases]
    if len({*case_counts}) > 1:
        raise PrcError("call once for each number of cases: all alerts= must use the same one")
    per = arguments.get("per")
    n_cases = case_counts[0] if per is None else read_per(per)
    budgets = [n_alerts * n_cases / n_cases_of_text for n_alerts, n_cases_of_text in alerts_and_cases]
    return {**arguments, "alerts": budgets if budget_texts is alerts else budgets[0], "per": n_cases}


def _read_budget_text(budget_text: Any) -> tuple[float, float]:
    """Return the alerts and the cases of a budget as a text; raise for any other value."""
    try:
        n_alerts, n_cases = map(float, map(read_plain, budget_text.split("/")))
        if 0 <= n_alerts <= n_cases and 0 < n_cases < math.inf:
            return n_alerts, n_cases
    except (AttributeError, ValueError, OverflowError):
        pass
    expected_phrase = 'numbers of alerts with per=, or texts ALERTS/CASES, such as "500/2000000"'
    raise refuse_kind("alerts=", expected_phrase, budget_text)


def read_per(per: object) -> float:
    """Return a number of cases as a float; raise unless it is a finite number above 0."""
    return read_number("per=", per, "a number of cases above 0", lambda number: 0 < number < math.inf)
