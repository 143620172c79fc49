"""What the data of a report cannot say, and what would settle it.

A sentence here never contradicts a test that is decisive: it reads `resolved`, and then the interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from polars_prcurve.charts.parts.number_formats import format_level
from polars_prcurve.confidence.estimates import read_estimate
from polars_prcurve.number_words import (
    format_count,
    glue_numbers,
    say_estimate,
    say_eta,
    say_number,
    say_share,
    say_shares,
)
from polars_prcurve.report.decision_box import name_value, say_group
from polars_prcurve.report.decisions import (
    FEW_FALSE_ALERTS,
    Decision,
    LeadTest,
    ModelChoice,
    rests_on_few_alerts,
)
from polars_prcurve.report.html_parts import (
    Markup,
    escape,
    join_names,
    list_few,
    name_cell,
    wrap_scrolling,
    write_caption,
)
from polars_prcurve.report.lead_by_area import say_open_leads
from polars_prcurve.report.published_points import are_unlike
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import ReportRequest

_MOST = 4
"""Open questions of one kind, at most, that a report tells."""
_MOST_NAMES = 5
_WIDE = 0.2
"""The width of an interval of recall above which a sentence tells how little is known of it."""


@dataclass(frozen=True)
class ReportTables:
    """The tables that a report both shows and tells in words."""

    areas: pl.DataFrame
    """The table of `summary`."""
    ranks: pl.DataFrame | None
    """The table of `ranking`, or None without models."""
    curves: pl.DataFrame
    """The table of `curve` at the first prevalence."""
    decisions: Sequence[Decision]


@dataclass(frozen=True)
class Doubt:
    """An open question, what is known of it, and what would settle it."""

    question: str
    known: str
    remedy: str = ""


def write_open_questions(
    source: ReportSource, request: ReportRequest, tables: ReportTables
) -> Iterator[Markup]:
    """Yield the sections on what the data cannot say, and on what would settle it."""
    doubts = list(list_doubts(source, request, tables))
    lines = (
        f"<li><b>{escape(glue_numbers(doubt.question))}</b> {escape(glue_numbers(doubt.known))}</li>"
        for doubt in doubts
    )
    yield Markup(f'<h2 id="open">What the data cannot say</h2><ul>{"".join(lines)}</ul>')
    remedies = list(dict.fromkeys(doubt.remedy for doubt in doubts if doubt.remedy))
    sizes = _write_sizes(source, request, tables.decisions)
    if remedies or sizes:
        items = "".join(f"<li>{escape(glue_numbers(remedy))}</li>" for remedy in remedies)
        yield Markup(
            f'<h2 id="settle">What would settle it</h2>{f"<ul>{items}</ul>" if items else ""}{sizes}'
        )


def list_doubts(source: ReportSource, request: ReportRequest, tables: ReportTables) -> Iterator[Doubt]:
    """Yield all open questions, the gravest first."""
    kinds = (
        _doubt_direction(source, tables.areas),
        _doubt_single_class(source, tables),
        _doubt_everything(source, request, tables),
        _doubt_targets(source, tables),
        _doubt_orders(source, request, tables),
        _doubt_points(source, tables),
        _doubt_found(source, tables),
        _doubt_first_alerts(source, request, tables),
        _doubt_field(source),
    )
    for kind in kinds:
        doubts = list(kind)
        yield from doubts[:_MOST]
        if len(doubts) > _MOST:
            yield Doubt(
                f"And {len(doubts) - _MOST} more of this kind.", "Their intervals are in the tables."
            )
    yield Doubt(
        "What else the field changes.",
        "All this holds as far as positives and negatives there are like those of the test, and only "
        "their numbers differ.",
    )


def describe_wrong_way(source: ReportSource, areas: pl.DataFrame) -> str:
    """Return a sentence on scores that surely rank the wrong way round, or an empty text."""
    wrong = _find_wrong_ways(source, areas)
    if not wrong:
        return ""
    names = [name for name, _ in wrong if name]
    of = f" of {join_names(list_few(names))}" if names else ""
    return f"The scores{of} rank the wrong way round: pass -score."


def _find_wrong_ways(source: ReportSource, areas: pl.DataFrame) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the groups, by name, in which the ROC AUC is surely below a half, each with its row."""
    if "high" not in areas.columns:
        return []
    rows = areas.filter(pl.col("metric") == "roc_auc", pl.col("high") < 0.5)
    found = {
        " · ".join(name_value(row[name]) for name in source.group_columns): row
        for row in rows.iter_rows(named=True)
    }
    return list(found.items())


def _doubt_direction(source: ReportSource, areas: pl.DataFrame) -> Iterator[Doubt]:
    """Yield what is known of scores that rank the wrong way round."""
    sentence = describe_wrong_way(source, areas)
    if sentence:
        ends = [
            f"{row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
            for _, row in _find_wrong_ways(source, areas)
        ]
        known = f"{sentence[:-1]}. The ROC AUC, {join_names(list_few(ends))}, is below a half."
        yield Doubt("What the model can do.", known)


def _doubt_single_class(source: ReportSource, tables: ReportTables) -> Iterator[Doubt]:
    """Yield the groups that lack a class."""
    if not source.has_counts or source.within:  # each part has both classes, or the query stops
        return
    by = source.by_columns
    sizes = tables.areas.select(*by, "n_pos", "n_neg")
    largest = (
        sizes.group_by(by, maintain_order=True).agg(pl.col("n_pos", "n_neg").max())
        if by
        else (sizes.select(pl.col("n_pos", "n_neg").max()))
    )
    for row in largest.drop_nulls().iter_rows(named=True):
        if min(row["n_pos"], row["n_neg"]) > 0:
            continue
        absent = "positives" if row["n_pos"] == 0 else "negatives"
        place = say_group({name: row[name] for name in by}) or "This test"
        yield Doubt(
            f"Anything on precision: {place}.",
            f"The test has no {absent} here.",
            f"{place}: {absent} in the test.",
        )


def _doubt_everything(
    source: ReportSource, request: ReportRequest, tables: ReportTables
) -> Iterator[Doubt]:
    """Yield why there are no intervals at all, or none of some groups."""
    if not source.has_counts:
        yield Doubt(
            "How sure any of this is.",
            "The rates come without numbers of examples, so nothing has an interval.",
            "The numbers of positives and negatives behind the rates.",
        )
    elif request.confidence is None:
        yield Doubt("How sure any of this is.", "This report was made without intervals.")
    elif names := _list_unknown_sizes(source, tables.areas):
        who = join_names(list_few(names))
        yield Doubt(
            f"How sure the numbers of {who} are.",
            "Their rates come without numbers of examples, so they have no interval, and an order with "
            "them is not tested.",
            f"The numbers of positives and negatives behind the rates of {who}.",
        )


def _list_unknown_sizes(source: ReportSource, areas: pl.DataFrame) -> list[str]:
    """Return the names of groups of which the number of positives or of negatives is not known."""
    unknown = areas.filter(pl.any_horizontal(pl.col("n_pos", "n_neg").is_null()))
    groups = unknown.select(source.group_columns).unique(maintain_order=True)
    return [" · ".join(map(name_value, row)) for row in groups.rows()]


def _doubt_points(source: ReportSource, tables: ReportTables) -> Iterator[Doubt]:
    """Yield why areas of published points have limits in place of an interval, and what targets miss."""
    if not source.is_published:
        return
    if source.model is not None and any(are_unlike(decision) for decision in tables.decisions):
        yield Doubt(
            "What each model does at the target itself.",
            "A decision is about points that were published. The point of one model may be far beyond "
            "the target, and that of another near it, so they are not alike.",
            "For the target itself: points nearer to it, or the score and the label of each example.",
        )
    leads = "" if source.model is None else ", and no lead in it is tested"
    yield Doubt(
        f"How sure the {source.metric_words} is.",
        "The table holds points of each curve. What lies between two points is not known, so the area "
        f"has no interval{leads}. It has limits, which stand beside it in the numbers above.",
        f"For the {source.metric_words}: the score and the label of each example.",
    )


def _doubt_field(source: ReportSource) -> Iterator[Doubt]:
    """Yield what a page on a field of several parts leaves out."""
    if not source.within:
        return
    yield Doubt(
        "Other fields.",
        "All numbers are of a field with these parts, shares and shares of positives; another field is "
        "another page, so there is no chart over shares of positives.",
    )
    yield Doubt(
        "How many examples would settle it.",
        "For a field of several parts that is not computed: more examples of the part that has many "
        "cases and few examples help most.",
    )
    if source.model is not None:
        yield Doubt(
            f"Which model has the higher {source.metric_words} in the field.",
            "Models are compared here at the targets alone.",
        )


def _doubt_targets(source: ReportSource, tables: ReportTables) -> Iterator[Doubt]:
    """Yield the decisions in which the intervals of the first two models overlap."""
    for decision in tables.decisions:
        if not decision.is_headline or decision.find_verdict() != "open":
            continue
        first, *others = decision.useful
        merit, place = decision.goal.merit, _place(decision.group, decision.eta)
        question = f"Which model {_say_contest(decision)}, {place}."
        if decision.lead_tests is None:
            both = f"{_say_value(first, merit)} and {_say_value(others[0], merit)}"
            known = f"The intervals of {both} overlap, and the difference is not tested."
        else:
            known = _say_least_lead(decision, decision.lead_tests)
        yield Doubt(question, known)


def _say_least_lead(decision: Decision, tests: Mapping[Any, LeadTest]) -> str:
    """Return the lead of the best model over the one that is nearest to it by a test."""
    first, *others = decision.useful
    rank = {"open": 0, "likely": 1, "certain": 2}
    second = min(others, key=lambda option: rank[tests[option.model].kind])
    merit, test = decision.goal.merit, tests[second.model]
    more, less = say_shares([first.read(merit), second.read(merit)])
    values = f"In the test {name_value(first.model)} has {more}, {name_value(second.model)} {less}"
    which = "On the same examples" if decision.is_paired else "With the errors of each model by itself"
    low, high = (f"{100 * end:.2g}".replace("-", "\N{MINUS SIGN}") for end in (test.low, test.high))
    span = f"{which} the lead may be anything from {low} to {high} percentage points"
    if not decision.is_published:
        span += ", since another test set would choose other scores"
    return f"{values}. {span}{'' if test.kind == 'open' else '; few examples are behind this interval'}."


def _say_contest(decision: Decision) -> str:
    """Return in which way models compete at a target."""
    goal = decision.goal
    if goal.criterion == "recall":
        return f"is right more often when {goal.found} of the positives are found"
    if goal.criterion == "precision":
        return f"finds more while {say_share(goal.value)} of the alerts are right"
    return f"finds more {goal.words}"


def _say_value(option: ModelChoice, metric: str) -> str:
    span = option.read_span(metric)
    value, ends = say_estimate(option.read(metric), *(span or (None, None)))
    return f"{name_value(option.model)} with {value}{f' ({ends})' if ends else ''}"


def _place(group: Mapping[str, Any], eta: float) -> str:
    prefix = f"for {say_group(group)}, " if group else ""
    return f"{prefix}where {say_eta(eta)} is positive"


# Who leads by average precision ---------------------------------------------------------------


def _doubt_orders(source: ReportSource, request: ReportRequest, tables: ReportTables) -> Iterator[Doubt]:
    """Yield where the order by average precision is not resolved."""
    if tables.ranks is None or "resolved" not in tables.ranks.columns:
        return
    headline = request.eta.select_headline(tables.ranks)  # what heads the report comes first, here too
    ranks = pl.concat([headline, tables.ranks]).unique(maintain_order=True)
    for rows in ranks.partition_by([*source.by_columns, "eta"], maintain_order=True):
        known = [row for row in rows.iter_rows(named=True) if row["value"] is not None]
        near = [row for row in known[1:] if row["resolved"] is False and row["behind"] is not None]
        if near:
            yield _doubt_order(source, known[0], near)


def _doubt_order(
    source: ReportSource, leader: Mapping[str, Any], near: Sequence[Mapping[str, Any]]
) -> Doubt:
    """Return the doubt on one lead: whether there is one, or only how large it is."""
    place = _place({name: leader[name] for name in source.by_columns}, leader["eta"])
    question = f"Which model has the higher {source.metric_words} {place}."
    first, names = name_value(leader["model"]), [name_value(row["model"]) for row in near]
    remedy = _say_factor(source, near[0], place)
    if len(near) > 1:
        known = f"In the test {first} comes first ({leader['value']:.3f}): {say_open_leads(near)}."
        return Doubt(question, known, remedy)
    row = near[0]
    if row["behind"] == 0:
        return Doubt(question, f"In the test {first} and {names[0]} are equal.")
    if row["low"] is None:
        return Doubt(question, f"In the test {first} is ahead by {row['behind']:.3f}.")
    ends = f"{row['low']:.3f} to {row['high']:.3f}".replace("-", "\u2212")
    interval = f"{row['behind']:.3f} ({ends})"
    lead = f"In the test {first} is ahead of {names[0]} by {interval}"
    if row["low"] <= 0 <= row["high"]:
        return Doubt(
            question, f"{lead}: the interval holds 0, so it may be the other way round.", remedy
        )
    question = f"How far {first} is ahead in {source.metric_words} {place}."
    known = (
        f"{lead}. That leaves out 0, so a lead is likely, though so few examples decide that the "
        "interval may be too narrow."
    )
    return Doubt(question, known, remedy)


def _say_factor(source: ReportSource, row: Mapping[str, Any], place: str) -> str:
    """Return how many times the examples would tell two models apart, if their difference stays."""
    if not row["behind"] or row["low"] is None or row["high"] is None:
        return ""
    start = f"{place[0].upper()}{place[1:]}"
    factor = ((row["behind"] - row["low"]) / row["behind"]) ** 2
    if not row["reliable"] or not 1 <= factor < 1000:
        return f"For {source.metric_words}: more negatives that score as high as positives."
    return (
        f"{start}: a test about {max(factor, 1.1):.2g} times as large tells the first two apart by "
        f"{source.metric_words}, if their difference stays as it is."
    )


# What is known of single scores ---------------------------------------------------------------


def _doubt_found(source: ReportSource, tables: ReportTables) -> Iterator[Doubt]:
    """Yield decisions whose recall, or whose precision, rests on few examples."""
    for decision in tables.decisions:
        best = decision.best
        if not decision.is_headline or best is None:
            continue
        span, fp = best.read_span("recall"), best.row["fp"]
        name = " · ".join(
            filter(
                None, [say_group(decision.group), "" if best.model is None else name_value(best.model)]
            )
        )
        whose = f", {name}" if name else ""
        if span is not None and span[1] - span[0] > _WIDE:
            found, ends = say_estimate(best.read("recall"), *span)
            n = format_count(
                _add_counts(best.row, "tp", "fn") if source.is_published else decision.n_pos
            )
            yield Doubt(
                f"How many of the positives are found{whose}.",
                f"With {n} positives in the test, {found} found may be anything from {ends}.",
                "More positives: there are too few to know the share that is found.",
            )
        span = best.read_span("precision")
        if span is not None and rests_on_few_alerts(best.row):
            few = "no false alert" if fp == 0 else f"only {fp} false alert{'' if fp == 1 else 's'}"
            yield Doubt(
                f"How often the alerts are right{whose}.",
                f"In the test {few} came at this score or above, so precision may be anything from "
                f"{say_estimate(span[0], *span)[1]}.",
                "More negatives: too few of them score as high as the scores above.",
            )


def _doubt_first_alerts(
    source: ReportSource, request: ReportRequest, tables: ReportTables
) -> Iterator[Doubt]:
    """Yield up to which recall fewer than five false positives decide about precision."""
    curves = tables.curves
    if curves.is_empty() or not curves.schema["fp"].is_integer() or request.confidence is None:
        return
    few = curves.filter(pl.col("fp") < FEW_FALSE_ALERTS, pl.col("recall") > 0)
    groups = source.group_columns
    last = (
        few.group_by(groups, maintain_order=True).agg(pl.col("recall").max())
        if groups
        else (few.select(pl.col("recall").max()))
    )
    rows = last.drop_nulls().sort("recall", descending=True, maintain_order=True).to_dicts()
    if not rows:
        return
    top_rows = rows[:_MOST_NAMES]
    shown = [
        recall + (f" ({' · '.join(name_value(row[n]) for n in groups)})" if groups else "")
        for recall, row in zip(say_shares([row["recall"] for row in top_rows]), top_rows, strict=True)
    ]
    shown += [f"less in {len(rows) - _MOST_NAMES} others"] if len(rows) > _MOST_NAMES else []
    known = (
        f"Up to a recall of {join_names(shown)}, fewer than {FEW_FALSE_ALERTS} negatives of the test "
        "raised an alert."
    )
    clean = few.filter(pl.col("fp") == 0, pl.col("precision_low").is_not_null())
    if not clean.is_empty() and len(rows) <= 2:
        top = clean.sort("recall").row(-1, named=True)
        who = f" ({' · '.join(name_value(top[name]) for name in groups)})" if groups else ""
        precision = read_estimate(top, "precision")
        ends = say_estimate(precision.value, precision.low, precision.high)[1]
        known += (
            f" Up to {say_share(top['recall'])}{who} none did, so precision there may be anything from "
            f"{ends} where {say_eta(top['eta'])} is positive."
        )
    yield Doubt("How often the very first alerts are right.", known)


# What would settle it -------------------------------------------------------------------------


def _write_sizes(source: ReportSource, request: ReportRequest, decisions: Sequence[Decision]) -> str:
    """Return a table of how many examples make precision known at the scores of the report."""
    first_decisions = [decision for decision in decisions if decision.is_headline]
    chosen = [option.row for decision in first_decisions for option in decision.options]
    if source.within or request.confidence is None or all(row["recall"] is None for row in chosen):
        return ""
    find = _find_sizes_of_points if source.is_published else _find_sizes_of_scores
    # Ten points say nothing of a precision of 1 %, so the band is at most half as wide as that is high.
    sizes, of_half = (
        find(source, request, chosen, {"delta": delta, "relative": relative})
        for delta, relative in ((0.1, False), (0.5, True))
    )
    both = (pl.max_horizontal(name, of_half[name]).alias(name) for name in _NEEDED)
    sizes = sizes.with_columns(both).drop_nulls("recall")
    if source.counts_as is not None:  # weights stand for fewer examples than there are
        names = source.group_columns
        how: dict[str, Any] = {"on": names, "nulls_equal": True} if names else {"how": "cross"}
        sizes = sizes.drop("n_pos", "n_neg").join(source.counts_as, **how, maintain_order="left")
    return _write_size_table(source, sizes, request.confidence)


_NEEDED = ("n_pos_needed", "n_neg_needed")


def _find_sizes_of_scores(
    source: ReportSource,
    request: ReportRequest,
    chosen: Sequence[Mapping[str, Any]],
    width: Mapping[str, Any],
) -> pl.DataFrame:
    """Return the numbers of examples needed at the thresholds of chosen operating points."""
    schema = source.hashed_table.schema
    asked = {name: schema[name] for name in source.group_columns} | {"threshold": schema["score"]}
    given = pl.DataFrame([{name: row[name] for name in asked} for row in chosen], asked, strict=False)
    given = given.unique(source.group_columns or None, keep="first", maintain_order=True)
    sizes: pl.DataFrame = source.methods.sample_size(
        eta=request.eta.exact_headline,
        threshold=given,
        confidence=request.confidence,
        **width,
    )
    return sizes


def _find_sizes_of_points(
    source: ReportSource,
    request: ReportRequest,
    chosen: Sequence[Mapping[str, Any]],
    width: Mapping[str, Any],
) -> pl.DataFrame:
    """Return the numbers of examples needed at chosen points: a curve of one point each is asked."""
    schema = source.hashed_table.schema
    asked = {name: schema[name] for name in source.group_columns}
    asked |= dict.fromkeys(("recall", "fpr", "n_pos", "n_neg"), pl.Float64())
    rows = [
        {**row, "n_pos": _add_counts(row, "tp", "fn"), "n_neg": _add_counts(row, "fp", "tn")}
        for row in chosen
        if row["recall"] is not None
    ]
    given = pl.DataFrame([{name: row[name] for name in asked} for row in rows], asked, strict=False)
    given = given.unique(source.group_columns or None, keep="first", maintain_order=True)
    sizes: pl.DataFrame = source.open_table(given).sample_size(
        eta=request.eta.exact_headline,
        **width,
        recall=0.0,
        by=source.group_columns,
        rates=("recall", "fpr"),
        sizes=("n_pos", "n_neg"),
        confidence=request.confidence,
    )
    return sizes


def _add_counts(row: Mapping[str, Any], *names: str) -> int | None:
    """Return the sum of the counts of a class at a point; None if its size is not known."""
    counts = [row[name] for name in names]
    return None if None in counts else round(sum(counts))


def _write_size_table(source: ReportSource, sizes: pl.DataFrame, confidence: float) -> str:
    """Return the table of sizes, with what the test has beside what it takes."""
    if sizes.is_empty():
        return ""
    level, etas = format_level(confidence), sizes["eta"].unique().to_list()
    where = f"where {say_eta(etas[0])} is positive" if len(etas) == 1 else "at the shares above"
    enough = pl.all_horizontal(
        pl.col("n_pos") >= pl.col("n_pos_needed"), pl.col("n_neg") >= pl.col("n_neg_needed")
    )
    if sizes.select(enough.fill_null(False).all()).item():
        words = (
            "Precision at the scores above needs no larger test: "
            f"{where} its {level} interval is narrower than 10 points, and than half of it."
        )
        return f"<p>{escape(glue_numbers(words))}</p>"
    heads = ("Positives: in the test", "needed", "Negatives: in the test", "needed")
    columns = ("n_pos", "n_pos_needed", "n_neg", "n_neg_needed")
    body = []
    for row in sizes.head(24).iter_rows(named=True):
        name = " · ".join(name_value(row[name]) for name in source.group_columns) or "this test"
        cells = "".join(_write_size(row, column, _SAID_ALONE[column]) for column in columns)
        body.append(f'<tr role="row"><th scope="row" role="rowheader">{escape(name)}</th>{cells}</tr>')
    head = "".join(f'<th scope="col" class="number">{name}</th>' for name in heads)
    corner = escape(" · ".join(source.group_columns))
    caption = glue_numbers(
        f"Examples for precision within 10 points, or half of it if that is less, from low to high end "
        f"of its {level} interval, at the scores above, {where}. Bold: more than the test has"
    )
    if source.counts_as is not None:
        caption += ". By its weights the test counts as so many examples as are told here"
    note = (
        '<p class="note">– No false alert or no positive is found at this score, so the number cannot '
        "be told.</p>"
        if sizes["n_neg_needed"].null_count() or sizes["n_pos_needed"].null_count()
        else ""
    )
    table = (
        f'<table class="sizes cards" role="table">{write_caption(caption)}<thead><tr>'
        f'<th scope="col">{corner}</th>'
        f"{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )
    return wrap_scrolling(table, "Examples needed") + note


_SAID_ALONE = {
    "n_pos": "Positives in the test",
    "n_pos_needed": "Positives needed",
    "n_neg": "Negatives in the test",
    "n_neg_needed": "Negatives needed",
}
"""The names of columns where each number stands in a line of its own."""


def _write_size(row: Mapping[str, Any], column: str, name: str) -> str:
    """Return a number of examples as a cell, in bold if the test has fewer than it takes."""
    has, is_needed = row[column.removesuffix("_needed")], column.endswith("_needed")
    number = escape(_say_size(row[column]) if is_needed or has is not None else "unknown")
    is_short = is_needed and None not in (row[column], has) and row[column] > has
    text = f"<b>{number}</b>" if is_short else number
    return f'<td class="number" role="cell"{name_cell(name)}>{text}</td>'


def _say_size(number: float | None) -> str:
    return "–" if number is None else say_number(float(number)) if math.isfinite(number) else "∞"
