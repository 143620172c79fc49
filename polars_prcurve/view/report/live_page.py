"""A page to move: the group, the score, the prevalence, and what a false alert and a miss cost.

The page holds recall and fpr of a thin curve with their intervals, and computes all else by the formulas
of the library, in the scripts beside this module. Its address holds what is seen, so that can be sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.judging.cases import Case, JudgedCase
from polars_prcurve.view.report import decision_document as document
from polars_prcurve.view.report.decision_drawings import FEW_FALSE_ALERTS, number_models
from polars_prcurve.view.report.html_and_svg import (
    DECISION_STYLE,
    define_hatches,
    escape,
    write_document,
)
from polars_prcurve.view.verdicts.case_places import name_cases, say_place
from polars_prcurve.view.verdicts.findings import Findings
from polars_prcurve.view.verdicts.verdict_phrases import name_model
from polars_prcurve.view.words.number_words import glue_numbers, say_cases
from polars_prcurve.view.words.value_names import mark_names

_SCRIPTS = ("page_formulas.js", "live_page.js")
_RATES = ("recall", "fpr")
_STEPS = (1, 2, 3, 5, 7)  # round prevalences are 1 in so many, and ten times that, and so on
_LEAST_ETA = 1e-6
_MOST_MODELS = 8
_MOST_BYTES = 160_000
"""Bytes of the curves, at most, of as many groups as a page holds: it is to be sent."""
_MOST_ROWS, _LEAST_ROWS = 2_200, 50
"""Rows of all curves together, about, and those that a curve keeps, however many there are."""
_OWN_STYLE = """
.ask{font-size:16px;font-weight:700;margin:6px 0 0}.two{display:grid;grid-template-columns:300px 1fr;
gap:36px}main{max-width:940px}
label{display:block;font-size:14px;color:var(--quiet);margin-top:14px}
label b{color:var(--text);font-size:17px;float:right}
input[type=range]{width:100%;height:34px;accent-color:var(--text);margin:0}
select{font:inherit;width:100%;padding:7px 8px;border:1px solid var(--rule);background:var(--ground);
color:var(--text);border-radius:4px}.money{display:grid;grid-template-columns:1fr 1fr;gap:16px}
input[type=number]{font:inherit;width:100%;padding:7px 8px;border:1px solid var(--rule);
background:var(--ground);color:var(--text);border-radius:4px}
.pick{display:flex;gap:8px;flex-wrap:wrap;margin-top:14px}.pick[hidden]{display:none}
button{font:inherit;font-size:14px;padding:8px 12px;min-height:40px;border:1px solid var(--rule);
background:var(--ground);color:var(--text);border-radius:4px;cursor:pointer}
.pick button[aria-pressed=true]{border:2px solid var(--c);color:var(--c);font-weight:700}
.numbers{display:grid;grid-template-columns:repeat(3,1fr);gap:10px 18px;margin:14px 0 0}
.numbers dt{margin-top:0}.numbers>div{border-top:1px solid var(--grid);padding-top:6px}
#costs{width:100%}h1{min-height:2.44em}.money label{margin-top:6px}
@media(max-width:720px){.two{grid-template-columns:1fr;gap:8px}#icons{max-width:210px}
h1{font-size:21px;min-height:3.66em}}
@media print{input[type=range],.pick,button{display:none}.two{grid-template-columns:260px 1fr}}
"""


def build_live_page(findings: Findings, title: str | None, date: str | None) -> str:
    """Return the page as HTML; equal findings and words make equal bytes."""
    folder = files("polars_prcurve.view.report")
    scripts = [folder.joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS]
    data = describe_data(findings)
    names, case = [group["name"] for group in data["groups"]], findings.cases[0]
    per, n, groups = escape(say_cases(case.per)), len(names) + data["left"], []
    if n > 1:  # the list from which a reader picks a group
        options = "".join(f'<option value="{k}">{escape(name)}</option>' for k, name in enumerate(names))
        groups.append(f'<label>Group<select id="group">{options}</select></label>')
    if n > len(names):
        said = "those that the verdict names, and others that have room"
        groups.append(f'<p class="note">{len(names)} of {n} groups: {said}.</p>')
    body = [
        f'<svg class="hidden" aria-hidden="true">{define_hatches()}</svg>',
        f'<p class="place">{escape(document.describe_question(findings))}</p>',
        document.write_status(findings),
        f'<p class="ask">{document.write_sentence(findings, findings.verdict)}</p>',
        *groups,
        '<div class="pick" id="models" role="group" aria-label="model"></div>',
        '<h1 id="say" aria-live="polite"></h1>',
        '<div class="two"><div><svg id="icons" viewBox="0 0 300 300" role="img"></svg>',
        '<p class="note" id="key"></p><p class="note"><b id="doubt"></b></p></div><div>',
        f'<label>{"Score threshold" if data["hasScores"] else "Point"} <b id="score"></b>'
        '<input type="range" id="row" min="0" step="1"></label>',
        '<label>Positive <b id="share"></b><input type="range" id="eta" min="0" step="1"></label>',
        '<div class="money"><label>A false alert costs'
        '<input type="number" id="alert" min="0" step="any"></label>'
        '<label>A miss costs<input type="number" id="miss" min="0" step="any"></label></div>',
        f'<dl class="numbers"><div><dt>alerts {per}</dt><dd id="alerts"></dd></div>',
        '<div><dt>positives found</dt><dd id="found"></dd></div>',
        f'<div><dt>costs {per}</dt><dd id="cost"></dd></div></dl></div></div>',
        '<h2>What a score costs</h2><p class="place" id="cheaper"></p>',
        '<svg id="costs" viewBox="0 0 640 210" role="img" aria-label="costs by score"></svg>',
        '<p><button id="go">Go to the cheapest score of the test</button></p>',
        "<noscript><p>This page moves by scripts; the report tells of one score.</p></noscript>",
        f"<footer>{escape(document.describe_test(findings, date))}. Intervals are of the score "
        "as it stands. The address holds what you see.</footer>",
    ]
    held, style = _write_json(data).replace("<", "\\u003c"), DECISION_STYLE + _OWN_STYLE
    return write_document(title or "From which score to alert", style, body, scripts, held)


def _write_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def describe_data(findings: Findings) -> dict[str, Any]:
    """Return what the script reads: as many groups as have room, with their curves and prevalences."""
    by_group: dict[tuple[Any, ...], list[JudgedCase]] = {}
    for each in findings.cases:
        by_group.setdefault(document.make_key(*each.groups.values()), []).append(each)
    grouped = list(by_group.values())
    cases = [of[0] for of in grouped]  # rates are the same at any of its prevalences
    evidence, colors = findings.evidence, number_models(*findings.cases)
    picked = document.pick_rows(findings, cases, evidence.curves, evidence.points)
    curves = [_round_rows(rows) for rows in picked]
    most_rows = max(_MOST_ROWS // max(sum(map(len, curves)), 1), _LEAST_ROWS)
    names, room = name_cases(cases), _MOST_BYTES
    groups: dict[int, dict[str, Any]] = {}
    # First come those that the verdict is about: groups that are told apart, and those that it names.
    told = f"{findings.verdict.sentence} {findings.verdict.would_settle}".lower()
    places = [glue_numbers(say_place(case, with_eta=False)).lower() for case in cases]
    is_named = [
        case.is_group_apart or not place or mark_names(told, [place], lambda _: "") != told
        for case, place in zip(cases, places, strict=True)
    ]
    for n in sorted(range(len(cases)), key=lambda n: not is_named[n]):
        if curves[n]:
            group = {"name": names[n], **_describe_group(grouped[n], curves[n], colors, most_rows)}
            room -= len(_write_json(group).encode())
            if groups and room < 0:
                break
            groups[n] = group
    if not groups:
        raise PrcError("no group has examples of both classes, so there is nothing to draw")
    listed = [group for _, group in sorted(groups.items())]
    has_scores = any(model["rows"][0][0] is not None for model in listed[0]["models"])
    return {
        "groups": listed,
        "left": len(cases) - len(listed),
        "per": findings.cases[0].per,
        "miss": 10,
        "hasScores": has_scores,
    }


_Rows = dict[Any, list[list[Any]]]
"""The rows of the curve of each model: score, both rates with both ends, and how many false alerts were
seen, if these are few."""


def _round_rows(rows_of: document.CurveRows) -> _Rows:
    """Return the rows whose rates are known, in as many digits as are seen; no model without any."""
    columns = {"threshold": 9, **{f"{rate}{end}": 7 for rate in _RATES for end in ("", "_low", "_high")}}
    known: _Rows = {}
    for model, rows in rows_of.items():
        found: dict[tuple[Any, ...], list[Any]] = {}  # a point that is decided about may be of the curve
        for row in rows:
            rounded = [_round(row[name], digits) for name, digits in columns.items()]
            score, recall, _, _, fpr, *_ = rounded
            if recall is not None and fpr is not None:
                n_false = row["fp"]
                if n_false is not None and n_false < FEW_FALSE_ALERTS:
                    # Sums of weights tell of no number of examples.
                    rounded.append(n_false if isinstance(n_false, int) else -1)
                found.setdefault((recall, fpr, score), rounded)
        if found:
            known[model] = sorted(found.values(), key=lambda row: (row[1], row[4]))
    return known


def _describe_group(
    cases: Sequence[Case], rows_of: _Rows, colors: Mapping[Any, int], most_rows: int
) -> dict[str, Any]:
    """Return the curves of the models of a group, the best first, and where the page begins."""
    case = cases[0]
    found, etas = case.candidates[0].row.get("recall") or 0.5, list_etas(case.eta)
    every = [candidate for each in cases for candidate in each.candidates]
    decided = {(of.model, _round(of.row.get("threshold"), 9)) for of in every}
    models: list[dict[str, Any]] = []
    for candidate in case.candidates[:_MOST_MODELS]:
        if candidate.model in rows_of:
            rows = rows_of[candidate.model]
            # The page begins at the score of the verdict, and if there is none near its recall.
            begin = min(rows, key=lambda row: abs(row[1] - found))
            own = _round(candidate.row.get("threshold"), 9)
            if own is not None:
                begin = next((row for row in rows if row[0] == own), begin)
            step = -(-len(rows) // most_rows)
            kept = [
                row
                for n, row in enumerate(rows)
                if n % step == 0
                or row in (begin, rows[-1])
                or (row[0] is not None and (candidate.model, row[0]) in decided)
            ]
            models.append(
                {
                    "name": "" if candidate.model is None else name_model(candidate),
                    "color": colors[candidate.model] % 8,
                    "row": kept.index(begin),
                    "rows": kept,
                }
            )
    return {
        "where": "".join(f"{place} " for place in [say_place(case, with_eta=False)] if place),
        "etas": etas,
        "place": etas.index(case.eta) if case.eta in etas else 0,
        "models": models,
    }


def _round(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    return value if value is None or isinstance(value, int) else str(value)


def list_etas(own: float | None) -> list[float]:
    """Return round prevalences from 1 in 2 down, and the one that is decided about."""
    steps = (10.0**power * step for power in range(7) for step in _STEPS)
    round_ones = {1 / n for n in steps if n >= 2 and 1 / n >= _LEAST_ETA * (1 - 1e-9)}
    return sorted(round_ones | ({own} if own else set()), reverse=True)
