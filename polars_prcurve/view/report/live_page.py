"""A page to move: the group, the threshold, the prevalence, and what both kinds of errors cost.

The page holds recall and fpr of a thin curve with their intervals, and computes all else by the formulas
of the library, in the scripts beside this module. At the threshold of the verdict its intervals stand,
which may allow for the choice. Its address holds what is seen, so that can be sent.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.judging.case_status import Case
from polars_prcurve.view.report import decision_columns as columns
from polars_prcurve.view.report import decision_html as document
from polars_prcurve.view.report.decision_drawings import count_false, number_models
from polars_prcurve.view.report.decision_notes import describe_intervals, describe_test
from polars_prcurve.view.report.html_and_svg import define_hatches, escape, write_document
from polars_prcurve.view.report.page_style import DECISION_STYLE
from polars_prcurve.view.verdicts.case_places import locate_group, name_case, name_etas, name_own_group
from polars_prcurve.view.verdicts.value_phrases import name_model
from polars_prcurve.view.verdicts.verdict_of_all_cases import WordedCase
from polars_prcurve.view.verdicts.worded_judgement import WordedJudgement
from polars_prcurve.view.words.names_in_sentences import mark_names
from polars_prcurve.view.words.number_words import (
    FEW_FALSE_POSITIVES,
    format_level,
    glue_numbers,
    say_cases,
)

_SCRIPTS = ("page_formulas.js", "live_page.js")  # the second one calls functions of the first
_RATES = ("recall", "fpr")  # from which the page computes all else
_STEPS = (1, 2, 3, 5, 7)  # round prevalences are 1 in so many, and ten times that, and so on
_LEAST_ETA = 1e-6  # the lowest prevalence of the slider
_MOST_MODELS = 8  # models of a group, at most: as many as have colours
_MOST_BYTES = 160_000
"""Bytes of the curves, at most, of as many groups as a page holds: it is to be sent."""
_MOST_ROWS = 2_200  # rows of all curves together, about
_LEAST_ROWS = 50  # rows that a curve keeps, however many curves there are
_CONTROL_STYLE = """
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
.numbers dd small{display:block}
h1{font-size:21px;min-height:3.66em}}
@media print{input[type=range],.pick,button{display:none}.two{grid-template-columns:260px 1fr}}
"""
"""What a page to move has beside a report: sliders, fields, buttons and lists."""


def build_live_page(judgement: WordedJudgement, title: str | None, date: str | None) -> str:
    """Return the page as HTML; equal judgements and words make equal bytes."""
    folder = files("polars_prcurve.view.report")
    scripts = [folder.joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS]
    page_data = describe_data(judgement)
    group_names, case = [group["name"] for group in page_data["groups"]], judgement.cases[0]
    per_phrase = escape(say_cases(case.per))
    models = [model for group in page_data["groups"] for model in group["models"]]
    has_one_point = all(len(model["rows"]) == 1 for model in models)
    choice = ' style="display:none"' if has_one_point else ""  # of what chooses among points
    body = [
        f'<svg class="hidden" aria-hidden="true">{define_hatches()}</svg>',
        f'<p class="place">{escape(judgement.verdict.conditions)}</p>',
        document.write_status(judgement),
        f'<p class="ask">{document.write_sentence(judgement, judgement.verdict)}</p>',
        *_write_group_list(group_names, *page_data["absent"]),
        '<div class="pick" id="models" role="group" aria-label="model"></div>',
        '<h1 id="say" aria-live="polite"></h1>',
        '<div class="two"><div><svg id="icons" viewBox="0 0 300 300" role="img"></svg>',
        '<p class="note" id="key"></p><p class="note" id="intervals"></p>',
        '<p class="note"><b id="doubt"></b></p></div><div>',
        f'<label{choice}>{"Threshold" if page_data["hasScores"] else "Point"} <b id="score"></b>'
        '<input type="range" id="row" min="0" step="1"></label>',
        '<label>Prevalence <b id="share"></b><input type="range" id="eta" min="0" step="1"></label>',
        '<div class="money"><label>Cost of a false positive'
        '<input type="number" id="alert" min="0" step="any"></label>'
        "<label>Cost of a false negative"
        '<input type="number" id="miss" min="0" step="any"></label></div>',
        f'<dl class="numbers"><div><dt>alerts {per_phrase}</dt><dd id="alerts"></dd></div>',
        '<div><dt>recall</dt><dd id="found"></dd></div>',
        f'<div><dt>costs {per_phrase}</dt><dd id="cost"></dd></div></dl></div></div>',
        f"<h2>Cost{'' if has_one_point else ' of each threshold'}</h2>",
        f'<p class="place" id="cheaper"></p><div{choice}>',
        '<svg id="costs" viewBox="0 0 640 210" role="img" aria-label="cost of each threshold"></svg>',
        '<p><button id="go">Go to the cheapest threshold on the test set</button></p></div>',
        *document.write_need(judgement),
        "<noscript><p>This page moves by scripts; the report shows one threshold.</p></noscript>",
        f"<footer>{escape(describe_test(judgement, date))}. The address holds what you see.</footer>",
    ]
    json_text, style = _write_json(page_data).replace("<", "\\u003c"), DECISION_STYLE + _CONTROL_STYLE
    title = title or ("Precision by prevalence" if has_one_point else "From which threshold to alert")
    return write_document(title, style, body, scripts=scripts, data=json_text)


def _write_group_list(group_names: Sequence[str], n_lacking: int, n_left: int) -> Iterator[str]:
    """Yield the list from which a reader picks a group, and how many groups are not in it, and why."""
    n_groups = len(group_names) + n_left + n_lacking
    if n_groups > 1:
        option_tags = "".join(
            f'<option value="{place}">{escape(name)}</option>' for place, name in enumerate(group_names)
        )
        yield f'<label>Group<select id="group">{option_tags}</select></label>'
    if n_groups > len(group_names):
        number_of_reason = {
            "without examples of both classes": n_lacking,
            "without room, behind those that the verdict names": n_left,
        }
        absent = join_words([f"{n} {reason}" for reason, n in number_of_reason.items() if n])
        yield f'<p class="note">{len(group_names)} of {n_groups} groups. Not in the list: {absent}.</p>'


def _write_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def describe_data(judgement: WordedJudgement) -> dict[str, Any]:
    """Return what the script reads: as many groups as have room, with their curves and prevalences."""
    cases_by_group: dict[tuple[Any, ...], list[WordedCase]] = {}
    for case in judgement.cases:
        cases_by_group.setdefault(document.make_key(*case.groups.values()), []).append(case)
    cases_of_groups = list(cases_by_group.values())
    cases = [cases_of_group[0] for cases_of_group in cases_of_groups]  # rates are the same in all
    evidence, color_number_of_model = judgement.evidence, number_models(judgement)
    rows_of_cases = document.pick_rows(judgement, cases, evidence.curves, evidence.points)
    curves = [_round_rows(rows) for rows in rows_of_cases]
    most_rows = max(_MOST_ROWS // max(sum(map(len, curves)), 1), _LEAST_ROWS)
    group_names, n_bytes_left = [*map(name_case, cases, name_etas(cases))], _MOST_BYTES
    group_by_number: dict[int, dict[str, Any]] = {}
    # First come those that the verdict is about: groups that differ significantly, and those that it
    # names.
    verdict = f"{judgement.verdict.sentence} {judgement.verdict.would_settle}".lower()
    names_of_groups = [glue_numbers(name_own_group(case)).lower() for case in cases]
    is_named = [
        case.is_group_apart or mark_names(verdict, [name], lambda _: "") != verdict
        for case, name in zip(cases, names_of_groups, strict=True)
    ]
    for case_number in sorted(range(len(cases)), key=lambda case_number: not is_named[case_number]):
        if curves[case_number]:
            curve_rows, group_cases = curves[case_number], cases_of_groups[case_number]
            content = _describe_group(group_cases, curve_rows, color_number_of_model, most_rows)
            group = {"name": group_names[case_number], **content}
            n_bytes_left -= len(_write_json(group).encode())
            if group_by_number and n_bytes_left < 0:
                break
            group_by_number[case_number] = group
    if not group_by_number:
        raise PrcError("no group has examples of both classes, so there is nothing to draw")
    names = [case.name for case in columns.sort_cases(judgement)]
    case_numbers = sorted(group_by_number, key=lambda case_number: names.index(cases[case_number].name))
    groups_in_order = [group_by_number[case_number] for case_number in case_numbers]
    return {
        "groups": groups_in_order,
        "absent": [curves.count({}), sum(map(bool, curves)) - len(groups_in_order)],
        "per": judgement.cases[0].per,
        "miss": 10,
        **_describe_points(judgement, groups_in_order[0]["models"]),
    }


def _describe_points(judgement: WordedJudgement, models: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return whether points have thresholds, and what the intervals are of: there, or moved."""
    has_scores = any(model["rows"][0][0] is not None for model in models)
    level_text, point_name = format_level(judgement.confidence), "threshold" if has_scores else "point"
    return {
        "hasScores": has_scores,
        "intervals": describe_intervals(judgement),
        "intervalsOfPoint": f"{level_text} intervals at this {point_name} as it stands.",
    }


_Rows = dict[Any, list[list[Any]]]
"""The rows of each model's curve: score, both rates with both ends, and how many false positives were
seen, if these are few."""


def _round_rows(rows_of_models: document.CurveRows) -> _Rows:
    """Return the rows whose rates are known, in as many digits as are seen; no model without any."""
    digits_of_column = {
        "threshold": 9,
        **{f"{rate}{end_suffix}": 7 for rate in _RATES for end_suffix in ("", "_low", "_high")},
    }
    rounded_rows: _Rows = {}
    for model, rows in rows_of_models.items():
        # A point that is decided about may be of the curve, too.
        point_by_rates: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            point = [_round(row[name], digits) for name, digits in digits_of_column.items()]
            score, recall, _, _, fpr, *_ = point
            if recall is not None and fpr is not None:
                n_false = count_false(row)
                if n_false is not None and n_false < FEW_FALSE_POSITIVES:
                    # What weighted rows count as may be no whole number.
                    point.append(n_false if isinstance(n_false, int) else -1)
                point_by_rates.setdefault((recall, fpr, score), point)
        if point_by_rates:
            rounded_rows[model] = sorted(point_by_rates.values(), key=lambda point: (point[1], point[4]))
    return rounded_rows


def _describe_group(
    cases: Sequence[Case],
    rows_of_models: _Rows,
    color_number_by_model: Mapping[Any, int],
    most_rows: int,
) -> dict[str, Any]:
    """Return the curves of the models of a group, the best first, and where the page begins."""
    case, where = cases[0], locate_group(cases[0])
    best_recall, etas = case.candidates[0].row.get("recall") or 0.5, list_etas(case.eta)
    thresholds_by_model: dict[Any, set[Any]] = {}  # the scores of each model that are decided about
    for candidate in (candidate for case in cases for candidate in case.candidates):
        threshold = _round(candidate.row.get("threshold"), 9)
        thresholds_by_model.setdefault(candidate.model, set()).add(threshold)
    models: list[dict[str, Any]] = []
    for candidate in case.candidates[:_MOST_MODELS]:
        if candidate.model in rows_of_models:
            rows = rows_of_models[candidate.model]
            # The page begins at the score of the verdict, and if there is none near its recall.
            first_row = min(rows, key=lambda row: abs(row[1] - best_recall))
            threshold = _round(candidate.row.get("threshold"), 9)
            if threshold is not None:
                first_row = next((row for row in rows if row[0] == threshold), first_row)
            step = -(-len(rows) // most_rows)
            thin_rows = [
                row
                for row_number, row in enumerate(rows)
                if row_number % step == 0
                or row in (first_row, rows[-1])
                or (row[0] is not None and row[0] in thresholds_by_model[candidate.model])
            ]
            models.append(
                {
                    "name": "" if candidate.model is None else name_model(candidate),
                    "color": color_number_by_model[candidate.model] % 8,
                    "row": thin_rows.index(first_row),
                    "decided": _list_decided(cases, candidate.model, first_row, etas),
                    "rows": thin_rows,
                }
            )
    return {
        "where": where and f"{where} ",
        "etas": etas,
        "place": etas.index(case.eta) if case.eta in etas else 0,
        "models": models,
    }


_ENDS = {
    **{"precision_low": "low", "precision_high": "high"},
    **{"recall_low": "recallLow", "recall_high": "recallHigh"},
    **{"alerts_low": "alertsLow", "alerts_high": "alertsHigh"},
}
"""The ends of the intervals of a verdict, and how the scripts name them."""


def _list_decided(
    cases: Sequence[Case], model: Any, point: Sequence[Any], etas: Sequence[float]
) -> dict[int, dict[str, Any]]:
    """Return the intervals of the verdicts on a model at a point, by the place of their prevalence."""
    decided: dict[int, dict[str, Any]] = {}
    for case in cases:
        candidate = case.find_candidate(model)
        if candidate is None or case.eta not in etas or candidate.precision.span is None:
            continue
        recall, fpr, eta = point[1], point[4], float(case.eta or 0.0)
        alert_share = recall * eta + fpr * (1 - eta)
        # The point may be beside the one that is decided, which has no threshold.
        if not math.isclose(candidate.precision.value * alert_share, recall * eta, rel_tol=1e-5):
            continue
        ends = {**candidate.row, "precision_low": candidate.precision.low}
        ends["precision_high"] = candidate.precision.high
        decided[etas.index(eta)] = {
            name: _round(ends[column], 7)
            for column, name in _ENDS.items()
            if ends.get(column) is not None
        }
    return decided


def _round(value: Any, digits: int) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    return value if value is None or isinstance(value, int) else str(value)


def list_etas(eta: float | None) -> list[float]:
    """Return round prevalences from 1 in 2 down, and the one that is decided about."""
    cases_per_positive = (10.0**power * step for power in range(7) for step in _STEPS)
    round_etas = {
        1 / n_cases
        for n_cases in cases_per_positive
        if n_cases >= 2 and 1 / n_cases >= _LEAST_ETA * (1 - 1e-9)
    }
    return sorted(round_etas | ({eta} if eta else set()), reverse=True)
