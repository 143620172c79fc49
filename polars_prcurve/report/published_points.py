"""What a report says where published points meet a target far apart: which model is best at the target.

The first published point that finds 80 % may find 81 % in one model, and 97 % in another. Only points
are known, so a decision is about points. Beside it stands the order of the models at the target itself,
on the line between points, with the limits of what may lie there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from polars_prcurve.charts.parts.number_formats import format_value
from polars_prcurve.number_words import say_count, say_share, say_shares
from polars_prcurve.report.decisions import Decision
from polars_prcurve.report.html_parts import join_names, list_few
from polars_prcurve.report.order_by_area import read_ranks
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import ReportRequest

_AT_TARGET = {"recall": "precision_at_recall", "precision": "recall_at_precision"}
"""The curve metric that takes all models at a target."""


def rank_at_target(
    source: ReportSource, request: ReportRequest, decisions: Sequence[Decision]
) -> list[Decision]:
    """Return the decisions; of published points with the order of models at the target itself.

    Only those that head the report have it.
    """
    goal = next(iter(request.goals), None)
    is_known = goal is not None and goal.criterion in _AT_TARGET and goal.value > 0
    if goal is None or not is_known or not source.is_published or source.model is None:
        return list(decisions)
    metric = f"{_AT_TARGET[goal.criterion]}({goal.value!r})"
    table = source.methods.ranking(request.eta.exact_headline, metric=metric, coarse=True)
    ranks = read_ranks(source, table)
    return [
        replace(decision, at_target=ranks.find(decision)) if decision.is_headline else decision
        for decision in decisions
    ]


def describe_published_points(decision: Decision) -> Iterator[str]:
    """Yield how far apart the published points of models are, and the order at the target itself."""
    if not decision.is_published or decision.best is None or len(decision.options) < 2:
        return
    if not are_unlike(decision):
        return
    where = _say_where(decision)
    if where:
        yield f"Each model is taken at one of its published points, and these are unlike: {where}."
    known = {row["model"] for row in decision.at_target}
    if known >= {option.model for option in decision.met}:
        yield _say_order_at_target(decision)


def are_unlike(decision: Decision) -> bool:
    """Return whether a published point that is taken does more than the target asks for."""
    criterion, value = decision.goal.criterion, decision.goal.value
    return any(not math.isclose(option.read(criterion), value) for option in decision.met)


def _say_where(decision: Decision) -> str:
    """Return where the point of each model is, beside the target; an empty text if all are alike."""
    criterion, met = decision.goal.criterion, decision.met
    if criterion == "alerts":
        said, verb = [say_count(option.read("alerts")) for option in met], "raises {} alerts"
    else:
        verb = {"recall": "finds {}", "precision": "is right in {}"}[criterion]
        said = say_shares([option.read(criterion) for option in met])
    if len(set(said)) == 1:
        return ""
    names = [format_value("", option.model) for option in met]
    places = [f"{name} {verb.format(text)}" for name, text in zip(names, said, strict=True)]
    return join_names(list_few(places))


def _say_order_at_target(decision: Decision) -> str:
    """Return which model is first at the target itself, and which others may be."""
    first, *others = decision.at_target
    rivals = list_few([format_value("", row["model"]) for row in others if row["may_be_best"]])
    name = format_value("", first["model"])
    if decision.goal.criterion == "precision":  # recall of a listed point is the least that there is
        if not rivals:
            return f"Whatever lies between the points, {name} finds most."
        most = max(row["value_high"] for row in others if row["may_be_best"])
        rest = f"may find up to {say_share(most)}"
        return f"What lies between the points may put {join_names(rivals)} ahead, which {rest}."
    shares = say_shares([row["value"] for row in (first, *others[:1])])
    at = f"At {say_share(decision.goal.value)}, on the line between points,"
    second = "" if not others else format_value("", others[0]["model"])
    if second and shares[0] == shares[1]:
        order = f"{at} {name} and {second} are both right in {shares[0]} of their alerts"
    else:
        next_one = f", and {second} in {shares[1]}" if second else ""
        order = f"{at} {name} is right in {shares[0]} of its alerts{next_one}"
    if rivals:
        return f"{order}; what lies between the points may put {join_names(rivals)} ahead."
    return f"{order}; whatever lies between the points, {name} is first there."
