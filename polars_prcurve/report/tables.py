"""The tables of a document: models, cases, other shares of positives, all numbers and their making."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import polars as pl

from polars_prcurve.decision.decide import Findings
from polars_prcurve.decision.judged_groups import LEAST_OF_CLASS, Case, JudgedCase
from polars_prcurve.decision.value_words import (
    name_model,
    name_precision,
    say_alerts,
    say_found,
    say_merit,
    say_precision,
)
from polars_prcurve.number_words import format_level, say_cases, say_estimate, say_eta
from polars_prcurve.prevalence.eta_formulas import shift_prior
from polars_prcurve.report.markup import escape, isolate, show_value
from polars_prcurve.visible_text import name_metric

_MOST_ROWS = 40
_MOST_RAW = 500


def write_table(heads: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """Return a table, whose heads are text and whose cells are HTML."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    names = [f' data-name="{escape(name)}"' for name in heads[1:]]
    body = "".join(
        f'<tr><th scope="row">{first}</th>'
        f"{''.join(f'<td{name}>{cell}</td>' for name, cell in zip(names, cells, strict=True))}</tr>"
        for first, *cells in rows
    )
    style = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table"><table{style}>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def write_value(value: str, ends: str) -> str:
    """Return a value with its interval behind it, as the content of a cell."""
    said = escape(value) + (f" <small>({escape(ends)})</small>" if ends else "")
    return f"<span>{said}</span>"  # or a narrow page would set them apart


def write_models(case: JudgedCase) -> str:
    """Return a row for each model of a case, the best first, and how it stands."""
    goal, status = case.goal, case.verdict.status
    is_of_rate = goal.merit in ("precision", "recall")
    heads = [name_precision(case) if is_of_rate else name_metric(goal.merit)]
    if not goal.is_of_curve:
        heads += [f"alerts {say_cases(case.per)}", "positives found"]
    if set(goal.targets) == {"recall"}:
        heads.pop()
    rows = []
    for candidate in case.candidates[:_MOST_ROWS]:
        name = isolate(name_model(candidate))
        if not candidate.is_met:
            rows.append([name, *("–" for _ in heads), "no threshold within the targets"])
            continue
        values = [say_precision(case, candidate.precision) if is_of_rate else say_merit(candidate)]
        if not goal.is_of_curve:
            values += [say_alerts(candidate), say_found(candidate)]
        stands = "" if candidate.may_be_best else "behind"
        if candidate.may_be_chance:
            stands = "may be chance"
        elif candidate.may_be_best and status in ("settled", "not told apart"):
            stands = "may be best"
        rows.append([name, *(write_value(*value) for value in values[: len(heads)]), stands])
    more = len(case.candidates) - _MOST_ROWS
    note = f'<p class="note">{more} more models are in the table below.</p>' if more > 0 else ""
    return write_table(["model", *heads, ""], rows) + note


def write_cases(findings: Findings) -> str:
    """Return a row for each case: where it is, its status, and its verdict as a sentence."""
    rows = [
        [isolate(case.name), escape(case.status), f'<span class="words">{escape(said)}</span>']
        for case, said in ((case, case.verdict.sentence) for case in findings.cases[:_MOST_ROWS])
    ]
    more = len(findings.cases) - _MOST_ROWS
    note = f'<p class="note">{more} more are in the table below.</p>' if more > 0 else ""
    return write_table(["where", "status", "verdict"], rows, "cases") + note


def write_shares(case: Case) -> str:
    """Return precision of the same scores at other prevalences; empty if it cannot be moved."""
    eta = case.eta
    if eta is None or not 0 < eta < 1 or case.key.get("eta_low") is not None or not case.met:
        return ""
    shown = case.met[:4]
    etas = [eta / 5, eta, min(5 * eta, 0.5 if eta <= 0.1 else (1 + eta) / 2)]
    rows = []
    for other in etas:
        cells = []
        for precision in (candidate.precision for candidate in shown):
            # Precision is the posterior of an alert, and moves as one does: its odds by those of eta. So
            # do the ends of its interval, where that has no error of the prevalence.
            ends = (precision.value, precision.low, precision.high)
            moved: list[Any] = [None if end is None else shift_prior(end, eta, other) for end in ends]
            cells.append(write_value(*say_estimate(*moved)))
        rows.append([escape(say_eta(other)), *cells])
    names = ["" if each.model is None else name_model(each) for each in shown]
    heads = ["positive", *(name or "alerts right" for name in names)]
    return write_table(heads, rows) + '<p class="note">At the scores of this decision.</p>'


def write_raw(frame: pl.DataFrame) -> str:
    """Return a table of all numbers, in up to six digits."""

    def show_float(value: float) -> str:
        return f"{value + 0.0:.6g}" if math.isfinite(value) else str(value)

    rows = [
        [escape(show_value(value, show_float)) for value in row]
        for row in frame.head(_MOST_RAW).iter_rows()
    ]
    return write_table(frame.columns, rows, "raw")


def write_methods(findings: Findings) -> str:
    """Return how the numbers are made, in a few sentences with their sources, as paragraphs."""
    goal, level = findings.goal, format_level(findings.confidence)
    models = (
        "Models are compared in pairs where they scored the same examples. Of several models all "
        "differences hold at once (Tukey 1953, Kramer 1956): a model that none beats "
        f"is ruled out in at most {format_level(1 - findings.confidence)} of tests."
    )
    promise = (
        f"Scores are promised: in {format_level(goal.guarantee or 0)} of tests the targets hold in "
        "truth at the score that is found."
    )
    said = (
        "Recall and false positive rate are measured; precision at a prevalence eta follows from them: "
        "recall * eta / (recall * eta + fpr * (1 - eta)). This holds where positives resemble those "
        "tested, and negatives those tested. Rows are taken as independent unless clusters were named.",
        f"Intervals have a level of {level}: of rates by Wilson (1927), of precision by the distances "
        "to their ends, which add up in quadrature (Zou and Donner 2008), and with the choice of the "
        "score where it was found on the test. Average precision allows for examples that a test lacks.",
        *([] if findings.model is None else [models]),
        "Whether scores are above chance is tested on ranks and on reciprocal ranks of the positives. "
        f"With fewer than {LEAST_OF_CLASS} examples of a class nothing is decided.",
        *([] if goal.guarantee is None else [promise]),
        f"Made by polars-prcurve {version('polars-prcurve')}, Polars {version('polars')}, "
        f"Python {platform.python_version()}.",
    )
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in said)
