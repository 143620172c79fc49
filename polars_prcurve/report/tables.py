"""The tables of a document: models, cases, other shares of positives, and all numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from polars_prcurve.decision.cases import Candidate, Case
from polars_prcurve.decision.decide import Findings, name_cases
from polars_prcurve.decision.value_words import (
    name_model,
    name_precision,
    say_precision,
    say_two,
    say_two_digits,
    say_within,
)
from polars_prcurve.decision.verdict import Status
from polars_prcurve.name_words import name_metric
from polars_prcurve.number_words import say_cases, say_estimate, say_eta
from polars_prcurve.prevalence.prior_shift import shift_prior
from polars_prcurve.report.html_parts import escape, isolate, show_value

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


def write_models(findings: Findings, case: Case) -> str:
    """Return a row for each model of a case, the best first, and how it stands."""
    heads = ["model", _name_merit(case), *_list_more_heads(case), ""]
    status, _ = case.judge()
    rows = [_list_cells(case, candidate, status) for candidate in case.candidates[:_MOST_ROWS]]
    more = len(case.candidates) - _MOST_ROWS
    note = f'<p class="note">{more} more models are in the table below.</p>' if more > 0 else ""
    return write_table(heads, rows) + note


def _list_more_heads(case: Case) -> list[str]:
    if case.goal.is_of_curve:
        return []
    alerts = f"alerts {say_cases(case.per)}"
    return [alerts] if set(case.goal.targets) == {"recall"} else [alerts, "positives found"]


def _name_merit(case: Case) -> str:
    if case.goal.merit in ("precision", "recall"):
        return name_precision(case)
    return name_metric(case.goal.merit)


def _list_cells(case: Case, candidate: Candidate, status: Status) -> list[str]:
    name = isolate(name_model(candidate))
    if not candidate.is_met:
        return [name, "–", *("–" for _ in _list_more_heads(case)), "no threshold within the targets"]
    stands = "behind" if not candidate.may_be_best else ""
    if candidate.may_be_chance:
        stands = "may be chance"
    elif candidate.may_be_best and status in ("settled", "not told apart"):
        stands = "may be best"
    values = list(_list_values(case, candidate))
    return [name, *(write_value(*pair) for pair in values), stands]


def _list_values(case: Case, candidate: Candidate) -> list[tuple[str, str]]:
    merit, precision = candidate.merit, candidate.precision
    if case.goal.merit not in ("precision", "recall"):
        said = list(map(say_two_digits, [candidate.value, *(merit.span or ())]))
        first = said[0], " to ".join(said[1:])
    else:
        first = say_precision(case, precision)
    if case.goal.is_of_curve:
        return [first]
    recall = candidate.read("recall")
    found = say_estimate(recall.value, recall.low, recall.high)
    alerts = say_within(candidate.read("alerts"), say_two)
    return [first, alerts, found][: 1 + len(_list_more_heads(case))]


def write_cases(findings: Findings) -> str:
    """Return a row for each case: where it is, its status, and its verdict as a sentence."""
    shown = findings.cases[:_MOST_ROWS]
    names = name_cases([case for case, _ in findings.cases])
    rows = []
    for name, (_, verdict) in zip(names, shown, strict=False):
        sentence = f'<span class="words">{escape(verdict.sentence)}</span>'
        rows.append([isolate(name), escape(verdict.status), sentence])
    more = len(findings.cases) - _MOST_ROWS
    note = f'<p class="note">{more} more are in the table below.</p>' if more > 0 else ""
    return write_table(["where", "status", "verdict"], rows, "cases") + note


def write_shares(findings: Findings, case: Case) -> str:
    """Return precision of the same scores at other prevalences; empty if it cannot be moved.

    Precision moves as a posterior does, and so do the ends of its interval, where that has no error of
    the prevalence.
    """
    eta = case.eta
    if eta is None or not 0 < eta < 1 or case.key.get("eta_low") is not None or not case.met:
        return ""
    shown = case.met[:4]
    etas = [eta / 5, eta, min(5 * eta, 0.5 if eta <= 0.1 else (1 + eta) / 2)]
    rows = []
    for other in etas:
        cells = []
        for candidate in shown:
            precision = candidate.precision
            ends = (precision.value, precision.low, precision.high)
            moved: list[Any] = [None if end is None else shift_prior(end, eta, other) for end in ends]
            cells.append(write_value(*say_estimate(*moved)))
        rows.append([escape(say_eta(other)), *cells])
    names = ["" if each.model is None else name_model(each) for each in shown]
    heads = ["positive", *(name or "alerts right" for name in names)]
    return write_table(heads, rows) + '<p class="note">At the scores of this decision.</p>'


def write_raw(frame: pl.DataFrame) -> str:
    """Return a table of all numbers, in up to six digits."""
    rows = [
        [escape(show_value(value, _show_float)) for value in row]
        for row in frame.head(_MOST_RAW).iter_rows()
    ]
    return write_table(frame.columns, rows, "raw")


def _show_float(value: float) -> str:
    return f"{value + 0.0:.6g}" if math.isfinite(value) else str(value)
