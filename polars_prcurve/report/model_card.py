"""A decision as Markdown, for the card of a model: the sentence, a table, and what it rests on."""

from __future__ import annotations

from collections.abc import Callable

from polars_prcurve.decision.cases import Candidate
from polars_prcurve.decision.decide import Findings, list_all_names, say_place
from polars_prcurve.decision.value_words import (
    join_within,
    name_model,
    name_precision,
    say_precision,
    say_two,
    say_within,
)
from polars_prcurve.name_words import name_metric
from polars_prcurve.number_words import format_level, say_cases
from polars_prcurve.report.document import (
    choose_shown,
    describe_intervals,
    describe_question,
    describe_status,
    describe_test,
    say_found,
    say_merit,
    shorten_threshold,
)
from polars_prcurve.visible_text import isolate_name, mark_names

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>#|"})


def write_model_card(findings: Findings, date: str | None) -> str:
    """Return the card; every number in it is in the decision."""
    verdict, level = findings.verdict, format_level(findings.confidence)
    lines = [f"**{_escape(verdict.sentence)}** ({describe_status(findings)}, {level})", ""]
    if findings.cases and findings.group_tests is None:
        lines += [*_write_table(findings), ""]
    lines += [f"{_escape(reason[:1].upper() + reason[1:])}." for reason in verdict.reasons]
    basis = (
        f"{describe_test(findings, date)}. {describe_intervals(findings)} Rows are taken as independent "
        "unless clusters were named. It holds where positives and negatives resemble those tested."
    )
    return mark_names(
        "\n".join([*lines, _escape(basis), ""]),
        map(_escape, list_all_names(findings)),
        isolate_name,
    )


def _write_table(findings: Findings) -> list[str]:
    case = findings.cases[0][0]
    shown = choose_shown(case) if len(case.candidates) > 1 else list(case.candidates)
    names = ["" if each.model is None else name_model(each) for each in shown]

    def write(name: str, show: Callable[[Candidate], str]) -> str:
        cells = [_escape(show(each)) if each.is_met else "–" for each in shown]
        return f"| {name} | {' | '.join(cells)} |"

    place = say_place(case)
    is_one = len(findings.cases) == 1
    head = describe_question(findings) if is_one else f"{place[:1].upper()}{place[1:]}"
    rows = [f"| {_escape(head)} | {' | '.join(map(_escape, names))} |"]
    rows.append(f"|---|{'---|' * len(shown)}")
    rows.append(
        write(
            f"{name_precision(case)} (PPV)", lambda of: join_within(*say_precision(case, of.precision))
        )
    )
    if case.goal.is_of_curve:
        return [*rows, write(name_metric(case.goal.merit), lambda of: join_within(*say_merit(of)))]
    rows.append(
        write(
            f"alerts {say_cases(case.per)}",
            lambda of: join_within(*say_within(of.read("alerts"), say_two)),
        )
    )
    rows.append(write("positives found (sensitivity)", lambda of: join_within(*say_found(of))))
    return [*rows, write("score threshold", lambda of: shorten_threshold(case, of))]


def _escape(text: str) -> str:
    """Return the text with Markdown's own signs shown as they are."""
    return text.translate(_SPECIAL)
