"""A page to move: the score, the prevalence, and what a false alert and a miss cost.

The page holds recall and fpr of a thin curve with their intervals, and computes all else by the formulas
of the library, in the scripts beside this module. A test in a browser holds both to each other. The
state stands in its address, so what is seen can be sent.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from polars_prcurve.decision.cases import Case
from polars_prcurve.decision.decide import Findings, say_place
from polars_prcurve.decision.value_words import name_model
from polars_prcurve.number_words import say_cases
from polars_prcurve.report import document
from polars_prcurve.report.document_style import STYLE
from polars_prcurve.report.group_picture import number_models
from polars_prcurve.report.html_parts import escape, write_document
from polars_prcurve.report.page_colors import build_scheme
from polars_prcurve.report.svg import define_hatches

_SCRIPTS = ("page_formulas.js", "live_page.js")
_RATES = ("recall", "fpr")
_STEPS = (1, 2, 3, 5, 7)  # round prevalences are 1 in so many, and ten times that, and so on
_LEAST_ETA = 1e-6
_MOST_MODELS = 8
_OWN_STYLE = """
.ask{font-size:16px;font-weight:700;margin:6px 0 0}.two{display:grid;grid-template-columns:300px 1fr;
gap:36px}main{max-width:940px}
label{display:block;font-size:14px;color:var(--quiet);margin-top:14px}
label b{color:var(--text);font-size:17px;float:right}
input[type=range]{width:100%;height:34px;accent-color:var(--text);margin:0}
.money{display:grid;grid-template-columns:1fr 1fr;gap:16px}
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


def build_live_page(findings: Findings, words: document.Words) -> str:
    """Return the page as HTML; equal findings and words make equal bytes."""
    folder = files("polars_prcurve.report")
    scripts = [folder.joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS]
    data = json.dumps(describe_data(findings), ensure_ascii=False, separators=(",", ":"))
    case = findings.cases[0]
    per = escape(say_cases(case.per))
    kind = "status settled" if findings.verdict.status == "settled" else "status"
    title = words.title or "From which score to alert"
    body = [
        f'<svg class="hidden" aria-hidden="true">{define_hatches()}</svg>',
        f'<p class="place">{escape(document.describe_question(findings))}</p>',
        f'<p class="{kind}">{escape(document.describe_status(findings))}</p>',
        f'<p class="ask">{document.write_sentence(findings, findings.verdict)}</p>',
        '<div class="pick" id="models" role="group" aria-label="model"></div>',
        '<h1 id="say" aria-live="polite"></h1>',
        '<div class="two"><div><svg id="icons" viewBox="0 0 300 300" role="img"></svg>',
        '<p class="note">solid: right · hatched: right or not · hollow: false</p></div><div>',
        '<label>Score threshold <b id="score"></b>'
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
        f"<footer>{escape(document.describe_test(findings, words.date))}. Intervals are of the score "
        "as it stands. The address holds what you see.</footer>",
    ]
    style = build_scheme() + STYLE + _OWN_STYLE
    return write_document(title, style, body, scripts, data.replace("<", "\\u003c"))


def describe_data(findings: Findings) -> dict[str, Any]:
    """Return what the script reads: curves, prevalences, and where the page begins."""
    case = findings.cases[0]
    steps = (10.0**power * step for power in range(7) for step in _STEPS)
    round_ones = {1 / n for n in steps if n >= 2 and 1 / n >= _LEAST_ETA * (1 - 1e-9)}
    etas = sorted(round_ones | ({case.eta} if case.eta else set()), reverse=True)
    models = _list_models(findings, case)
    rows = models[0]["rows"] if models else []
    found = case.candidates[0].row.get("recall") or 0.5
    nearest = min(range(len(rows)), key=lambda n: abs(rows[n][1] - found), default=0)
    return {
        "models": models,
        "etas": etas,
        "per": case.per,
        "where": "".join(f"{place} " for place in [say_place(case, with_eta=False)] if place),
        "place": etas.index(case.eta) if case.eta in etas else 0,
        "model": 0,
        "row": nearest,
        "miss": 10,
        "hasScores": bool(rows) and rows[0][0] is not None,
    }


def _list_models(findings: Findings, case: Case) -> list[dict[str, Any]]:
    """Return the curves of the models of a case, the best first: score, and rates with both ends."""
    colors, rows_of = number_models(case), {} if case.eta is None else document.pick_rows(findings, case)
    columns = ["threshold", *(f"{rate}{end}" for rate in _RATES for end in ("", "_low", "_high"))]
    found = []
    for candidate in case.candidates[:_MOST_MODELS]:
        rows = [[_round(row[name]) for name in columns] for row in rows_of.get(candidate.model, [])]
        name = "" if candidate.model is None else name_model(candidate)
        if rows:
            found.append({"name": name, "color": colors[candidate.model] % 8, "rows": rows})
    return found


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    return value if value is None or isinstance(value, int) else str(value)
