"""The box of a report without a target: which model leads by average precision, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.charts.parts.number_formats import format_level
from polars_prcurve.number_words import say_eta
from polars_prcurve.report.decision_box import find_color, name_value, say_group, write_warning
from polars_prcurve.report.html_parts import Markup, escape, join_names, list_few
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import ReportRequest

_MOST_GROUPS = 12


def write_area_box(
    source: ReportSource, request: ReportRequest, ranks: pl.DataFrame, warning: str = ""
) -> Iterator[Markup]:
    """Yield the box: one leader in large type, or a line for each group; the `warning` comes first."""
    groups = ranks.partition_by([*source.by_columns, "eta"], maintain_order=True)
    leads = [list(rows.iter_rows(named=True)) for rows in groups]
    leads = [rows for rows in leads if rows[0]["value"] is not None]
    if not leads:
        return
    doubt = write_warning(warning) if warning else ""
    start = '<section class="decision" id="decision" aria-labelledby="decision-head">'
    if len(leads) == 1:
        eta = leads[0][0]["eta"]
        head = _write_head(leads[0], source)
        sentence = escape(describe_lead(leads[0], source, request))
        eyebrow = escape(f"Where {say_eta(eta)} is positive")
        yield Markup(
            f'{start}<p class="eyebrow">{eyebrow}</p><h2 id="decision-head">{head}</h2>'
            f"{doubt}<p>{sentence}</p></section>"
        )
        return
    lines = [
        f"<li>{escape(_say_place(source, rows[0]))} {escape(describe_lead(rows, source, request))}</li>"
        for rows in leads[:_MOST_GROUPS]
    ]
    more = len(leads) - _MOST_GROUPS
    lines += [f"<li>{more} more groups are in the tables at the end.</li>"] if more > 0 else []
    title = f"Models by {source.metric_words}"
    yield Markup(f'{start}<h2 id="decision-head">{title}</h2>{doubt}<ul>{"".join(lines)}</ul></section>')


def _write_head(ranks: Sequence[Mapping[str, Any]], source: ReportSource) -> str:
    known = [row for row in ranks if row["value"] is not None]
    equal = [name_value(row["model"]) for row in known if row["rank"] == 1]
    if len(equal) > 1:
        return f"{escape(join_names(equal))} have the same {source.metric_words}"
    if len(known) == 1:
        return f"{escape(equal[0])} has an {source.metric_words} of {known[0]['value']:.3f}"
    models = sorted((row["model"] for row in ranks), key=name_value)
    color = find_color(known[0]["model"], models) if not source.by_columns else ""
    name = f'<span class="who"{color}>{escape(equal[0])}</span>'
    return f"{name} has the highest {source.metric_words}"


def _say_place(source: ReportSource, row: Mapping[str, Any]) -> str:
    group = say_group({name: row[name] for name in source.by_columns})
    return f"{group}, where {say_eta(row['eta'])} is positive:"


def describe_lead(
    ranks: Sequence[Mapping[str, Any]], source: ReportSource, request: ReportRequest
) -> str:
    """Return which model leads and by how much, and whether the lead is certain."""
    known = [row for row in ranks if row["value"] is not None]
    valueless = [name_value(row["model"]) for row in ranks if row["value"] is None]
    tail = (
        f" {join_names(valueless[:6])} {'has' if len(valueless) == 1 else 'have'} no value."
        if valueless
        else ""
    )
    first, others = known[0], known[1:]
    name, value = name_value(first["model"]), f"{first['value']:.3f}"
    equal = [name_value(row["model"]) for row in known if row["rank"] == 1]
    if len(equal) > 1:
        return f"{join_names(equal)} have the same {source.metric_words}, {value}.{tail}"
    if not others:
        return f"{name} has an {source.metric_words} of {value}.{tail}"
    second = f"next is {name_value(others[0]['model'])} with {others[0]['value']:.3f}"
    lead = f"In the test {name} leads with {value}; {second}."
    return f"{lead}{_describe_certainty(first, others, request)}{tail}"


def _describe_certainty(
    first: Mapping[str, Any], others: Sequence[Mapping[str, Any]], request: ReportRequest
) -> str:
    """Return how sure a lead is, from `resolved` and the interval of the difference, or from limits."""
    if "value_low" in first:
        return _describe_limits(first, others)
    if request.confidence is None or first.get("resolved") is None:
        return ""
    level = format_level(request.confidence).replace(" ", "\u00a0")
    if all(row["resolved"] for row in others):
        return f" With {level} confidence this is the right order."
    near = [row for row in others if row["resolved"] is False]
    return f" By this test {say_open_leads(near or others[:1])}."


def say_open_leads(near: Sequence[Mapping[str, Any]]) -> str:
    """Return which models a test does not put behind the first one for certain, as clauses.

    They are rows of a ranking. A lead is likely if its interval leaves out 0 and is not reliable.
    """
    clauses = []
    likely = [row for row in near if row["low"] is not None and row["low"] > 0]
    alike = [row for row in near if row not in likely]
    if alike:
        clauses.append(f"{_name_models(alike)} cannot be told apart from it")
    if likely:
        doubt = "though so few examples decide that its interval may be too narrow"
        clauses.append(f"a lead over {_name_models(likely)} is likely, {doubt}")
    return "; ".join(clauses)


def _name_models(rows: Sequence[Mapping[str, Any]]) -> str:
    return join_names(list_few([name_value(row["model"]) for row in rows]))


def _describe_limits(first: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """Return whether another model may be ahead, for all that is known between published points."""
    rivals = [row for row in others if row["may_be_best"]]
    if not rivals:
        return " Whatever lies between the points, it is first."
    return (
        f" What lies between the points may put {_name_models(rivals)} ahead: its area may be anything "
        f"from {first['value_low']:.3f} to {first['value_high']:.3f}."
    )
