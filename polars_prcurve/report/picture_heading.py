"""The heading of a report's one picture: what the scores of the decision do, and who is ahead where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polars_prcurve.charts.parts.findings import say_each, say_point
from polars_prcurve.charts.parts.number_formats import format_value
from polars_prcurve.charts.parts.points_to_draw import FEW_POSITIVES
from polars_prcurve.number_words import say_eta
from polars_prcurve.report.decision_box import say_group
from polars_prcurve.report.decisions import Decision, ModelChoice, rests_on_few_alerts
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import Goal

_ENDS = {"precision": "of the alerts are right", "recall": "of the positives are found"}


def find_heading(source: ReportSource, decisions: Sequence[Decision]) -> str:
    """Return the finding of the picture; empty for that of the chart itself."""
    leads = [decision for decision in decisions if decision.is_headline]
    if len(leads) > 1:
        marked = "points" if leads[0].is_published else "scores"
        return (
            _say_groups(leads) or f"Precision and recall of each group, with the {marked} above marked"
        )
    if not leads or not leads[0].met:
        return ""
    [lead] = leads
    if len(lead.met) == 1:
        [best] = lead.met
        return say_point(best.threshold, best.read("precision"), best.read("recall"))
    if lead.is_published:
        return ""  # points of different models are at different recalls
    return _say_lead(source, lead) or _say_models(lead)


def _say_lead(source: ReportSource, lead: Decision) -> str:
    """Return from which recall on which of two models is better; empty if they trade places again."""
    if len(lead.met) != 2 or lead.n_pos < FEW_POSITIVES or source.by_columns or source.within:
        return ""
    crossings = source.merged.crossings(of="roc")
    best, recall = lead.met[0], lead.met[0].read("recall")
    name, at = format_value("", best.model), say_eta(lead.eta)
    if crossings.is_empty():
        return f"In the test {name} is right at least as often at every recall, where {at} is positive"
    below = [share for share in crossings["recall"].to_list() if share < recall]
    if len(below) < len(crossings) or lead.find_verdict() == "equal":
        return ""
    beyond = f"beyond {100 * max(below):.0f}\u00a0% recall"
    return f"In the test {name} is right more often {beyond}, where {at} is positive"


def _say_models(lead: Decision) -> str:
    """Return what each model does at the target."""
    options = {format_value("", option.model): option for option in lead.met}
    return "" if lead.n_pos < FEW_POSITIVES else _say_options(options, lead.goal)


def _say_groups(leads: Sequence[Decision]) -> str:
    """Return what each group does at the target; empty for models or prevalences that differ."""
    options = {say_group(lead.group): lead.best for lead in leads}
    known = {name: best for name, best in options.items() if best is not None and best.model is None}
    few = any(lead.is_published or lead.n_pos < FEW_POSITIVES for lead in leads)
    if few or len(known) < len(leads) or len({lead.eta for lead in leads}) > 1:
        return ""
    return _say_options(known, leads[0].goal)


def _say_options(options: Mapping[str, ModelChoice], goal: Goal) -> str:
    """Return a sentence of the merit of each option; empty where few false alerts are behind one."""
    if any(rests_on_few_alerts(option.row) for option in options.values()):
        return ""
    names = dict(enumerate(options))
    values = {number: options[name].read(goal.merit) for number, name in names.items()}
    start = f"{goal.words[:1].upper()}{goal.words[1:]},"
    return say_each(start, _ENDS[goal.merit], values, names)
