"""What a report says where the area of a whole curve puts another model first than the target does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from polars_prcurve.charts.parts.number_formats import format_value
from polars_prcurve.report.decisions import Decision, ModelChoice
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import Goal

_NEARLY = 1.15
"""By how many times more alerts per find, or fewer finds, a model still does nearly as well."""
_SAME = 1.02
"""The ratio below which two numbers of finds or alerts are told as one."""


@dataclass(frozen=True)
class AreaRanks:
    """The models of each group in order of the area of their curves."""

    words: str = ""
    """What the area is called."""
    rows: Mapping[tuple[Any, ...], Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """The rows of `ranking` by the values of the group columns and the prevalence."""

    def find(self, decision: Decision) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a decision's group and prevalence that have a value, the best first."""
        rows = self.rows.get((*decision.group.values(), decision.eta), ())
        return [row for row in rows if row["value"] is not None]


def read_ranks(source: ReportSource, ranks: pl.DataFrame | None) -> AreaRanks:
    """Return the rows of `ranking` by group and prevalence; none without models."""
    columns = [*source.by_columns, "eta"]
    rows: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in () if ranks is None else ranks.iter_rows(named=True):
        rows.setdefault(tuple(row[name] for name in columns), []).append(row)
    return AreaRanks(source.metric_words, rows)


def describe_other_order(decision: Decision, ranks: AreaRanks) -> Iterator[str]:
    """Yield a sentence if the model of the greatest area is not the best at the target."""
    values = {row["model"]: row["value"] for row in ranks.find(decision)}
    best = decision.best
    if best is None or best.model not in values:
        return
    first = next(iter(values))
    if values[first] == values[best.model]:
        return
    name = format_value("", first)
    may_turn = next(row.get("value_low") for row in ranks.find(decision)) is not None and any(
        row["may_be_best"] for row in ranks.find(decision) if row["model"] == best.model
    )
    doubt = "; what lies between the points may turn that" if may_turn else ""
    prefers = (
        f"By {ranks.words}, which sums up a whole curve, {name} comes first "
        f"({values[first]:.3f} against {values[best.model]:.3f}{doubt})"
    )
    other = next((option for option in decision.met if option.model == first), None)
    if other is None:
        yield f"{prefers}, but it cannot meet this target."
    else:
        yield f"{prefers}; at this target it {_say_worse(other, best, decision.goal)}."


def _say_worse(other: ModelChoice, best: ModelChoice, goal: Goal) -> str:
    """Return what another model finds, and with how many alerts, beside the best one.

    Both numbers count: a point of a published curve may find far more than the target asks for.
    """
    if best.read("recall") == 0:  # so the other finds nothing either, since it is not better
        return "finds nothing either"
    found = other.read("recall") / best.read("recall")
    alerts = other.read("alerts") / best.read("alerts")
    if found * _NEARLY > 1 and alerts < _NEARLY * found:
        return "does nearly as well"
    if _is_same(found):
        what = goal.words if goal.criterion == "recall" else "for as many positives"
        return f"needs {alerts:.2g} times the alerts {what}"
    with_alerts = "as many" if _is_same(alerts) else f"{alerts:.2g} times the"
    return f"finds {found:.2g} times the positives with {with_alerts} alerts"


def _is_same(ratio: float) -> bool:
    return 1 / _SAME < ratio < _SAME
