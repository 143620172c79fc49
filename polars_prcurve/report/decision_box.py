"""The box at the top of a report: which model, from which score, with how many alerts, how surely."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from polars_prcurve.charts.parts.chart_style import COLORS
from polars_prcurve.charts.parts.number_formats import format_level, format_value
from polars_prcurve.number_words import (
    NO_BREAK,
    glue_numbers,
    say_cases,
    say_count,
    say_estimate,
    say_eta,
    say_number,
    say_share,
)
from polars_prcurve.report.decisions import Decision, ModelChoice, is_near
from polars_prcurve.report.html_parts import (
    Markup,
    escape,
    join_names,
    list_few,
    name_cell,
    wrap_scrolling,
    write_caption,
)
from polars_prcurve.report.order_by_area import AreaRanks, describe_other_order
from polars_prcurve.report.published_points import describe_published_points
from polars_prcurve.report.request import Goal, ReportRequest

_Column: TypeAlias = tuple[str, bool, Callable[[Decision], str]]
"""The head of a column, whether it is text, and what writes a cell."""
_MOST_BARS = 6
_MOST_ROWS = 60


def name_value(value: Any) -> str:
    """Return a group value or a model as text."""
    return format_value("", value)


def say_group(group: Mapping[str, Any]) -> str:
    """Return the values of a group as text."""
    return " · ".join(map(name_value, group.values()))


def write_decision(
    decisions: Sequence[Decision],
    request: ReportRequest,
    models: Sequence[Any],
    ranks: AreaRanks,
    field: str = "",
    *,
    warning: str = "",
) -> Iterator[Markup]:
    """Yield the box of the decision that heads the report: of one group, or a row for each.

    `field` are words such as `in the field of 2 parts (site), `, and the `warning` is said first.
    """
    first_decisions = [decision for decision in decisions if decision.is_headline]
    if len(first_decisions) == 1:
        decision = first_decisions[0]
        box = "".join(_write_box(decision, request, models, ranks, field))
    elif first_decisions:
        box = "".join(_write_table_box(first_decisions, request, field))
    else:
        return
    yield Markup(box.replace("</h2>", f"</h2>{write_warning(warning)}", 1) if warning else box)


def write_warning(sentence: str) -> Markup:
    """Return a sentence that doubts the whole decision."""
    return Markup(f'<p class="but">{escape(sentence)}</p>')


def write_other_decisions(decisions: Sequence[Decision], request: ReportRequest) -> Iterator[Markup]:
    """Yield a table of all decisions that do not head the report."""
    others = [decision for decision in decisions if not decision.is_headline]
    if others:
        what = "The same decision elsewhere"
        if len({decision.goal for decision in decisions}) > 1:
            what = "Other targets and shares of positives"
        yield Markup(f"<h3>{what}</h3>{write_decision_table(others, request, what)}")
        yield Markup("".join(_write_promises(others, request)))


def _write_box(
    decision: Decision,
    request: ReportRequest,
    models: Sequence[Any],
    ranks: AreaRanks,
    field: str,
) -> Iterator[str]:
    """Yield the box of one decision."""
    group = f"{say_group(decision.group)}: " if decision.group else ""
    place = f"{group}{field}where {say_eta(decision.eta)} is positive, {decision.goal.words}"
    yield '<section class="decision" id="decision" aria-labelledby="decision-head">'
    yield f'<p class="eyebrow">{escape(place[0].upper() + place[1:])}</p>'
    yield f'<h2 id="decision-head">{_write_headline(decision, request, models)}</h2>'
    if decision.best is not None:
        yield "".join(_write_values(decision.best, request, decision.eta))
        if len(decision.options) > 1:
            yield "".join(_write_bars(decision, request, models))
        for sentence in _describe_decision(decision, request, ranks):
            yield f'<p class="but">{escape(sentence)}</p>'
    for sentence in describe_promise(decision, request):
        yield f'<p class="promise">{escape(sentence)}</p>'
    yield "</section>"


def _write_headline(decision: Decision, request: ReportRequest, models: Sequence[Any]) -> str:
    """Return the decision in one line."""
    best = decision.best
    if best is None:
        return (
            "No score meets this target in the test"
            if request.guarantee is None
            else "No score can promise this"
        )
    if best.may_be_chance:
        names = _list_models([option.model for option in decision.met if option.model is not None])
        who = escape(join_names(names)) if names else "these scores"
        return f"Not shown to be better than chance: {who}"
    at = "" if best.threshold is None else f"alert at {escape(best.threshold)} or more"
    if best.model is None and len(models) == 0:
        return (
            at[:1].upper() + at[1:]
            if at
            else f"{escape(say_share(best.read('precision')))} of the alerts are right"
        )
    name = _name_colored(best, models)
    rivals = decision.list_rivals()
    if len(rivals) > 1:
        names = [_name_colored(option, models) for option in rivals[:_MOST_BARS]]
        more = f" and {len(rivals) - _MOST_BARS} more" if len(rivals) > _MOST_BARS else ""
        return f"Not told apart: {', '.join(names)}{more}{f'; {name}: {at}' if at else ''}"
    use = "Of the published points, use" if best.threshold is None and decision.is_published else "Use"
    return f"{use} {name}{', ' if at else ''}{at}"


def _name_colored(option: ModelChoice, models: Sequence[Any]) -> str:
    """Return the name of a model in its colour."""
    color = find_color(option.model, models)
    return f'<span class="who"{color}>{escape(name_value(option.model))}</span>'


def find_color(model: Any, models: Sequence[Any]) -> str:
    """Return the style attribute of a model's colour in the charts, or nothing if it has none."""
    if len(models) > len(COLORS) or model not in models:
        return ""
    return f' style="--c:var(--c{list(models).index(model)})"'


def _write_values(best: ModelChoice, request: ReportRequest, eta: float) -> Iterator[str]:
    """Yield the three numbers of a decision."""
    per, positives = request.per, request.per * eta
    alerts = say_span(best, "predicted_positive_rate", lambda rate: say_count(per * rate))
    precision, right = say_both(best, "precision")
    recall, found = say_both(best, "recall")
    hits, missed = (_say_cases(best.read(name)) for name in ("true_alerts", "missed"))
    share = best.read("precision")
    one_in = f"1 in {say_count(1 / share)}" if 0.001 <= share < 0.2 else ""
    rows = (
        (f"Alerts {say_cases(per)}", say_count(best.read("alerts")), alerts),
        (f"Of {say_count(positives)} positives", f"{hits} found", f"{missed} missed"),
        ("Alerts that are right", precision, "; ".join(filter(None, [right, one_in]))),
        ("Positives that are found", recall, found),
    )
    yield '<dl class="values">'
    for name, value, more in rows:
        ends = f"<span>{escape(glue_numbers(more))}</span>" if more else ""
        yield f"<div><dt>{escape(name)}</dt><dd><b>{escape(value)}</b>{ends}</dd></div>"
    yield "</dl>"


def _say_cases(number: float) -> str:
    """Return an expected number of cases; below ten in two digits, since it is no whole number."""
    return f"{number:.2g}" if number < 10 else say_count(number)


def say_both(option: ModelChoice, metric: str) -> tuple[str, str]:
    """Return a share, and its interval or an empty text, in one unit."""
    share, span = say_estimate(option.read(metric), *(option.read_span(metric) or (None, None)))
    if set(span.split(" to ")) == {share}:  # the target itself, which a model at its target meets
        return share, ""
    return share, span.replace(" to ", f" to{NO_BREAK}")


def say_span(option: ModelChoice, metric: str, say: Any) -> str:
    """Return the interval of a metric as `3.3 % to 4.3 %`, or an empty text."""
    span = option.read_span(metric)
    return "" if span is None else f"{say(span[0])} to{NO_BREAK}{say(span[1])}"


def _write_bars(decision: Decision, request: ReportRequest, models: Sequence[Any]) -> Iterator[str]:
    """Yield a bar per model: alerts of which the solid part is right, or positives that are found."""
    per, by_alerts = request.per, decision.goal.criterion == "recall"
    most = max(option.read("alerts") for option in decision.met[:_MOST_BARS]) if by_alerts else 1.0
    title = (
        f"Alerts {say_cases(per)}; solid: the right ones" if by_alerts else "Positives that are found"
    )
    yield f'<p class="bars-title" id="bars">{escape(title)}</p><ul class="bars" aria-labelledby="bars">'
    for option in decision.options[:_MOST_BARS]:
        name = f"<span>{escape(name_value(option.model))}</span>"
        if not option.is_met:
            yield f'<li>{name}<span class="track"></span><span class="num">cannot</span></li>'
            continue
        value, metric = ("alerts", "predicted_positive_rate") if by_alerts else ("recall", "recall")
        say = (lambda rate: say_count(per * rate)) if by_alerts else say_share
        number = say_count(option.read("alerts")) if by_alerts else say_share(option.read("recall"))
        span = say_span(option, metric, say)
        ends = f' <span class="ci">({escape(span)})</span>' if span else ""
        right = 100 * option.read("precision") if by_alerts else 100
        width = 100 * option.read(value) / most if most > 0 else 0
        color = find_color(option.model, models) or ' style="--c:var(--c0)"'
        yield (
            f'<li{color}>{name}<span class="track" aria-hidden="true"><span class="all" style="width:'
            f'{width:.1f}%"><span class="right" style="width:{right:.2f}%"></span></span></span>'
            f'<span class="num"><b>{escape(number)}</b>{ends}</span></li>'
        )
    yield "</ul>"
    if len(decision.options) > _MOST_BARS:
        yield f'<p class="note">{len(decision.options) - _MOST_BARS} more are in the numbers below.</p>'


# Sentences ------------------------------------------------------------------------------------


def _describe_decision(decision: Decision, request: ReportRequest, ranks: AreaRanks) -> Iterator[str]:
    """Yield how sure the order of models is, and whether the area of the curve tells another."""
    yield from describe_published_points(decision)
    verdict = decision.find_verdict()
    chance = [option for option in decision.met if option.may_be_chance]
    if chance:
        yield _say_chance(chance)
    if verdict == "chance":
        return
    if verdict == "equal":
        same = decision.list_rivals()
        yield f"{join_names(name_value(o.model) for o in same)} do equally well here."
    elif verdict == "apart":
        yield _say_clear_order(decision, request)
    elif verdict == "untested":
        yield _UNTESTED
    elif verdict == "open":
        yield _say_open_order(decision)
    yield from describe_other_order(decision, ranks)
    row = decision.met[0].row
    if row.get("eta_low") is not None:
        yield (
            f"The share of positives is itself an estimate, {say_eta(row['eta_low'])} to "
            f"{say_eta(row['eta_high'])}; intervals carry its error"
            f"{'' if decision.lead_tests is None else ', and the test takes the estimate as exact'}."
        )


def _say_chance(options: Sequence[ModelChoice]) -> str:
    """Return that the scores of models may say nothing."""
    names = _list_models([option.model for option in options if option.model is not None])
    who = f"the scores of {join_names(names)}" if names else "the scores"
    return (
        f"In this test {who} are not shown to say anything of the label: too often an order by chance "
        "does as well."
    )


_UNTESTED = (
    "Whether another test set would put the models in this order is not tested: intervals are of each "
    "model by itself."
)


def _say_clear_order(decision: Decision, request: ReportRequest) -> str:
    """Return which test makes the order clear."""
    assert request.confidence is not None
    first = name_value(decision.useful[0].model)
    others = name_value(decision.useful[1].model) if len(decision.met) == 2 else "all others"
    level = format_level(request.confidence).replace(" ", NO_BREAK)
    test = f"a test {_say_examples(decision)}"
    return f"The order is clear: {test} puts {first} before {others} ({level})."


def _say_examples(decision: Decision) -> str:
    """Return which examples a test is of."""
    return "on the same examples" if decision.is_paired else "that takes each model by itself"


def _say_open_order(decision: Decision) -> str:
    """Return which models may be in another order, and by what."""
    first, merit = name_value(decision.useful[0].model), decision.goal.merit
    another = "so another test set may put them in another order."
    if decision.lead_tests is None:
        near = [
            option.model for option in decision.useful[1:] if is_near(decision.met[0], option, merit)
        ]
        overlap = f"The intervals of {join_names([first, *_list_models(near)])} overlap."
        return f"{overlap} Whether another test set would put them in another order is not tested."
    test = _say_examples(decision)
    near = [model for model, lead in decision.lead_tests.items() if lead.kind == "open"]
    if near:
        names = join_names([first, *_list_models(near)])
        said = f"A test {test} cannot tell {names} apart, {another}"
        untold = [option for option in decision.useful[1:] if option.model in near]
        is_of_model = decision.useful[0].row.get("interval_of") == "model"
        if is_of_model or all(is_near(decision.useful[0], option, merit) for option in untold):
            return said
        return f"{said} The intervals are for these scores; another test set would choose other scores."
    near = [model for model, lead in decision.lead_tests.items() if lead.kind == "likely"]
    over = join_names(_list_models(near))
    return (
        f"A lead of {first} over {over} is likely, by a test {test}: its interval leaves out 0, but few "
        "examples are behind it."
    )


def _list_models(models: Sequence[Any]) -> list[str]:
    return list_few([name_value(model) for model in models], _MOST_BARS - 1)


def describe_promise(decision: Decision, request: ReportRequest) -> Iterator[str]:
    """Yield what is promised of the true values, or that nothing is."""
    goal, best = decision.goal, decision.best
    if request.guarantee is None:
        if best is not None and goal.criterion == "precision":
            yield (
                "This is no promise: the score was chosen on the test itself, and in about half of all "
                f"test sets the true precision at a score chosen so is below {say_share(goal.value)}."
            )
        return
    wanted = {
        "recall": f"at least {say_share(goal.value)} of all positives are found",
        "precision": f"at least {say_share(goal.value)} of the alerts are right",
        "alerts": f"there are at most {say_count(goal.value)} alerts {say_cases(goal.per)}",
    }[goal.criterion]
    level = format_level(request.guarantee).replace(" ", NO_BREAK)
    if best is None:
        need = describe_need(decision)
        yield f"Asked for with {level} confidence: in truth {wanted}. No score is sure to: {need}."
        return
    low, high = (_say_end(best, name) for name in ("holds_from", "holds_to"))
    stretch = "" if low == high else f" It holds at every score from {low} to {high}."
    yield f"Promised with {level} confidence: in truth {wanted}, not only in the test.{stretch}"
    if _reaches_past(best, goal) and request.confidence is not None:
        of_end, of_promise = (1 - request.confidence) / 2, 1 - request.guarantee
        yield (
            f"The interval reaches past that: each of its ends is wrong in {say_share(of_end)} of test "
            f"sets, and the promise in {say_share(of_promise)}."
        )


def _reaches_past(best: ModelChoice, goal: Goal) -> bool:
    """Return whether the interval of what is promised also holds values that break the promise."""
    if goal.criterion == "alerts":
        span = best.read_span("predicted_positive_rate")
        return span is not None and span[1] * goal.per > goal.value
    span = best.read_span(goal.criterion)
    return span is not None and span[0] < goal.value


def _say_end(best: ModelChoice, name: str) -> str:
    """Return an end of a stretch of scores; the threshold in the digits in which the box tells it."""
    is_threshold = best.threshold is not None and best.row[name] == best.row["threshold"]
    return str(best.threshold) if is_threshold else name_value(best.row[name])


def describe_need(decision: Decision) -> str:
    """Return how many examples a promise takes that no threshold keeps, and how many there are."""
    for column, what, n in (
        ("n_pos_needed", "positives", decision.n_pos),
        ("n_neg_needed", "negatives", decision.n_neg),
    ):
        numbers = [option.row.get(column) for option in decision.options]
        least = min((float(number) for number in numbers if number is not None), default=None)
        if least is None:
            continue
        if least == float("inf"):
            return "no test set could prove it"
        if least > n:
            return (
                f"even perfect scores would need {say_number(least)} {what} in the test, which has "
                f"{say_number(n)}"
            )
        return (
            f"the test's {say_number(n)} {what} would be enough for perfect scores ({say_number(least)} "
            "needed), but not for these: it takes better scores, or a larger test"
        )
    if decision.goal.criterion == "alerts":
        return "it takes a larger budget, or a larger test"
    return "it takes better scores, or a larger test"


# Tables of decisions --------------------------------------------------------------------------


def _write_table_box(
    first_decisions: Sequence[Decision], request: ReportRequest, field: str
) -> Iterator[str]:
    """Yield the box of several groups, which have a threshold each."""
    goal, etas = first_decisions[0].goal, {decision.eta for decision in first_decisions}
    place = f"where {say_eta(first_decisions[0].eta)} is positive, " if len(etas) == 1 else ""
    eyebrow = f"{field}{place}{goal.words}"
    names = ", ".join(map(escape, first_decisions[0].group)) or "share of positives"
    has_models = len(first_decisions[0].options) > 1 or first_decisions[0].options[0].model is not None
    what = "Which model, and from which score" if has_models else "Alert from these scores"
    best = [decision.best for decision in first_decisions if decision.best is not None]
    if first_decisions[0].is_published and all(option.threshold is None for option in best):
        what = "Which model" if has_models else "What the published points do"
    yield '<section class="decision" id="decision" aria-labelledby="decision-head">'
    yield f'<p class="eyebrow">{escape(eyebrow[0].upper() + eyebrow[1:])}</p>'
    yield f'<h2 id="decision-head">{what}, by {names}</h2>'
    yield write_decision_table(first_decisions, request, f"{what}, by group")
    yield "".join(_write_promises(first_decisions, request))
    yield "</section>"


def _write_promises(first_decisions: Sequence[Decision], request: ReportRequest) -> Iterator[str]:
    """Yield one sentence on the thresholds that keep a promise, and what the others would take."""
    if request.guarantee is None:
        said = {
            sentence: None
            for decision in first_decisions
            for sentence in describe_promise(decision, request)
        }
        yield from (f'<p class="promise">{escape(sentence)}</p>' for sentence in said)
        return
    level = format_level(request.guarantee).replace(" ", NO_BREAK)
    kept = [decision for decision in first_decisions if decision.best is not None]
    if kept:
        words = f"Promised with {level} confidence for each row by itself: it holds in truth, too."
        yield f'<p class="promise">{escape(words)}</p>'
    unmet = [decision for decision in first_decisions if decision.best is None]
    for decision in unmet[:_MOST_BARS]:
        place = (
            say_group(decision.group)
            or f"{decision.goal.words}, where {say_eta(decision.eta)} is positive"
        )
        sentence = (
            f"{place[0].upper()}{place[1:]}: no score can promise this; {describe_need(decision)}."
        )
        yield f'<p class="promise">{escape(sentence)}</p>'
    if len(unmet) > _MOST_BARS:
        yield f'<p class="promise">{len(unmet) - _MOST_BARS} more have no such score.</p>'


def write_decision_table(decisions: Sequence[Decision], request: ReportRequest, label: str) -> str:
    """Return a table with a row per decision, for people; what is constant stands above it."""
    shown = decisions[:_MOST_ROWS]
    columns = _list_columns(shown, request)
    heads = "".join(
        f'<th scope="col"{"" if is_text else _NUMBER}>{escape(name)}</th>'
        for name, is_text, _ in columns
    )
    body = []
    for decision in shown:
        cells = [
            f'<td{"" if is_text else _NUMBER} role="cell"{name_cell(name)}>{write(decision)}</td>'
            for name, is_text, write in columns
        ]
        cells[0] = f'<th scope="row" role="rowheader">{columns[0][2](decision)}</th>'
        body.append(f'<tr role="row">{"".join(cells)}</tr>')
    more = (
        f'<p class="note">{len(decisions) - _MOST_ROWS} more rows are in the tables at the end.</p>'
        if len(decisions) > _MOST_ROWS
        else ""
    )
    caption = _describe_table(shown, request)
    table = (
        f'<table class="cards" role="table">{write_caption(caption)}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table>"
    )
    return wrap_scrolling(table, label) + more


_NUMBER = ' class="number"'


def _describe_table(decisions: Sequence[Decision], request: ReportRequest) -> str:
    goals, level = {d.goal.words for d in decisions}, request.confidence
    target = "" if len(goals) > 1 or any(d.is_headline for d in decisions) else f"{goals.pop()}. "
    ends = "" if level is None else f". In brackets: {format_level(level)} intervals"
    words = "Right: share of the alerts. Found: share of the positives"
    return glue_numbers(f"{target[:1].upper()}{target[1:]}{words}{ends}")


def _list_columns(decisions: Sequence[Decision], request: ReportRequest) -> list[_Column]:
    """Return the heads of a table of decisions, whether they are texts, and how to write a cell."""
    columns = [_build_group_column(name) for name in decisions[0].group]
    are_headlines = any(decision.is_headline for decision in decisions)
    if len({decision.goal for decision in decisions}) > 1:
        columns.append(("Target", True, lambda d: write_cell(_say_target(d), say_eta(d.eta))))
    elif len({decision.eta for decision in decisions}) > 1 or not are_headlines:
        columns.append(("Positive", True, lambda d: escape(say_eta(d.eta))))
    options = [option for decision in decisions for option in decision.met]
    if any(option.model is not None for option in options):
        columns.append(("Model", True, _write_choice))
    if any(option.threshold is not None for option in options):
        columns.append(_build_column("Alert from", lambda o: escape(o.threshold or "–")))
    per = request.per
    columns.append(
        _build_column(
            f"Alerts {say_cases(per)}",
            lambda o: write_cell(
                say_count(o.read("alerts")),
                say_span(o, "predicted_positive_rate", lambda rate: say_count(per * rate)),
            ),
        )
    )
    columns.append(_build_column("Right", lambda o: _write_share(o, "precision")))
    columns.append(_build_column("Found", lambda o: _write_share(o, "recall")))
    return columns


def _build_group_column(name: str) -> _Column:
    return name, True, lambda decision: escape(name_value(decision.group[name]))


def _build_column(name: str, write: Callable[[ModelChoice], str], *, is_text: bool = False) -> _Column:
    """Return a column on the best model, which has a dash where no model meets the target."""
    return name, is_text, lambda d: "–" if d.best is None else write(d.best)


def _write_choice(decision: Decision) -> str:
    """Return the model to use, or those that are not told apart, or that none may be."""
    if decision.best is None:
        return "–"
    if decision.best.may_be_chance:
        return "none above chance"
    return escape(" or ".join(_list_models([option.model for option in decision.list_rivals()])))


def _say_target(decision: Decision) -> str:
    goal = decision.goal
    return {
        "recall": f"find {goal.found}",
        "precision": f"{say_share(goal.value)} right",
        "alerts": f"{say_count(goal.value)} alerts",
    }[goal.criterion]


def _write_share(option: ModelChoice, metric: str) -> str:
    return write_cell(*say_both(option, metric))


def write_cell(value: str, span: str) -> str:
    """Return a value with its interval below it, as the content of a cell."""
    ends = f' <span class="ci">({escape(span)})</span>' if span else ""
    return escape(value) + ends
