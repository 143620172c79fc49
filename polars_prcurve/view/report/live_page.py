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
from polars_prcurve.core.judging.case import Case
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.view.report import decision_columns as columns
from polars_prcurve.view.report import decision_html as document
from polars_prcurve.view.report.decision_drawings import count_false, number_models
from polars_prcurve.view.report.decision_notes import describe_intervals, describe_test
from polars_prcurve.view.report.html_and_svg import define_hatches, escape, write_document
from polars_prcurve.view.report.page_style import DECISION_STYLE
from polars_prcurve.view.verdicts.case_places import name_own_group
from polars_prcurve.view.verdicts.value_phrases import name_model
from polars_prcurve.view.verdicts.verdict_of_all_cases import sum_up
from polars_prcurve.view.words.number_words import (
    FEW_FALSE_POSITIVES,
    format_level,
    say_cases,
    say_threshold,
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


def build_live_page(judgement: Judgement, title: str | None, date: str | None) -> str:
    """Return the page as HTML; equal judgements and words make equal bytes."""
    verdict, folder = sum_up(judgement), files("polars_prcurve.view.report")
    scripts = [folder.joinpath(name).read_text(encoding="utf-8") for name in _SCRIPTS]
    page_data = describe_data(judgement)
    group_names = [group_record["name"] for group_record in page_data["groups"]]
    per_phrase = escape(say_cases(judgement.cases[0].per))
    has_one_point = _has_one_point(page_data)
    hiding_style = ' style="display:none"' if has_one_point else ""  # of what chooses among points
    body_lines = [
        f'<svg class="hidden" aria-hidden="true">{define_hatches()}</svg>',
        f'<p class="place">{escape(verdict.conditions)}</p>',
        document.write_status(judgement),
        f'<p class="ask">{document.mark_all_names(judgement, verdict.sentence)}</p>',
        *_write_group_list(group_names, page_data["absent"]),
        '<div class="pick" id="models" role="group" aria-label="model"></div>',
        '<h1 id="say" aria-live="polite"></h1>',
        '<div class="two"><div><svg id="icons" viewBox="0 0 300 300" role="img"></svg>',
        '<p class="note" id="key"></p><p class="note" id="intervals"></p>',
        '<p class="note"><b id="doubt"></b></p></div><div>',
        f'<label{hiding_style}>{"Threshold" if page_data["hasScores"] else "Point"} <b id="score"></b>'
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
        f'<p class="place" id="cheaper"></p><div{hiding_style}>',
        '<svg id="costs" viewBox="0 0 640 210" role="img" aria-label="cost of each threshold"></svg>',
        '<p><button id="go">Go to the cheapest threshold on the test set</button></p></div>',
        *document.write_need(judgement, verdict),
        "<noscript><p>This page moves by scripts; the report shows one threshold.</p></noscript>",
        f"<footer>{escape(describe_test(judgement, date))}. The address holds what you see.</footer>",
    ]
    data_json = _write_json(page_data).replace("<", "\\u003c")
    style_sheet = DECISION_STYLE + _CONTROL_STYLE
    title = title or ("Precision by prevalence" if has_one_point else "From which threshold to alert")
    return write_document(title, style_sheet, body_lines, scripts=scripts, data_json=data_json)


def _has_one_point(page_data: Mapping[str, Any]) -> bool:
    """Return whether each curve of a page is one point, so that there is no threshold to choose."""
    model_records = [record for group_record in page_data["groups"] for record in group_record["models"]]
    return all(len(model_record["rows"]) == 1 for model_record in model_records)


def _write_group_list(group_names: Sequence[str], n_absent: int) -> Iterator[str]:
    """Yield the list from which a reader picks a group, and how many groups are not in it."""
    if len(group_names) + n_absent > 1:
        option_tags = "".join(
            f'<option value="{group_number}">{escape(name)}</option>'
            for group_number, name in enumerate(group_names)
        )
        yield f'<label>Group<select id="group">{option_tags}</select></label>'
    if n_absent:
        count_text = f"{n_absent} of {len(group_names) + n_absent} groups"
        yield f'<p class="note">Left out for want of room, or of a class: {count_text}.</p>'


def _write_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def describe_data(judgement: Judgement) -> dict[str, Any]:
    """Return what the script reads: as many groups as have room, with their curves and prevalences."""
    cases_by_group: dict[tuple[Any, ...], list[Case]] = {}
    for case in columns.sort_cases(judgement):
        cases_by_group.setdefault(document.make_nan_equal(*case.groups.values()), []).append(case)
    cases_by_group_number = list(cases_by_group.values())
    first_cases = [group_cases[0] for group_cases in cases_by_group_number]  # whose rates are of all

    def is_named(case: Case) -> bool:  # in the verdict, so that it is on the page
        return case.is_group_apart or case.met is False

    evidence, color_number_of_model = judgement.evidence, number_models(judgement)
    rows_by_model_of_cases = document.pick_rows(judgement, first_cases, evidence.curves, evidence.points)
    rounded_rows_of_cases = [_round_rows(rows) for rows in rows_by_model_of_cases]
    max_rows = max(_MOST_ROWS // max(sum(map(len, rounded_rows_of_cases)), 1), _LEAST_ROWS)
    group_names, n_bytes_left = [*map(name_own_group, first_cases)], _MOST_BYTES
    record_by_case_number: dict[int, dict[str, Any]] = {}
    for case_number in sorted(range(len(first_cases)), key=lambda n: not is_named(first_cases[n])):
        if curve_rows := rounded_rows_of_cases[case_number]:
            group_cases = cases_by_group_number[case_number]
            curves_and_start = _describe_group(group_cases, curve_rows, color_number_of_model, max_rows)
            group_record = {"name": group_names[case_number], **curves_and_start}
            n_bytes_left -= len(_write_json(group_record).encode())
            if record_by_case_number and n_bytes_left < 0:
                break
            record_by_case_number[case_number] = group_record
    if not record_by_case_number:
        raise PrcError("no group has examples of both classes, so there is nothing to draw")
    group_records = [record_by_case_number[number] for number in sorted(record_by_case_number)]
    return {
        "groups": group_records,
        "absent": len(first_cases) - len(group_records),
        "per": judgement.cases[0].per,
        "miss": 10,
        **_describe_points(judgement, group_records[0]["models"]),
    }


def _describe_points(judgement: Judgement, model_records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return whether points have thresholds, and what the intervals are of: there, or moved."""
    has_scores = any(model_record["rows"][0][0] is not None for model_record in model_records)
    level_text, point_name = format_level(judgement.confidence), "threshold" if has_scores else "point"
    return {
        "hasScores": has_scores,
        "intervals": describe_intervals(judgement),
        "intervalsOfPoint": f"{level_text} intervals at this {point_name} as it stands.",
    }


_Rows = dict[Any, list[list[Any]]]
"""The rows of each model's curve: score, both rates with both ends, and how many false positives were
seen, if these are few."""


def _round_rows(rows_by_model: document.CurveRows) -> _Rows:
    """Return the rows whose rates are known, in as many digits as are seen; no model without any."""
    rate_columns = [f"{rate}{end_suffix}" for rate in _RATES for end_suffix in ("", "_low", "_high")]
    rounded_rows_by_model: _Rows = {}
    for model, rows in rows_by_model.items():
        # A point that is decided about may be of the curve, too.
        point_by_recall_and_fpr: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            point_values = [row["threshold"], *(_round(row[name]) for name in rate_columns)]
            score, recall, _, _, fpr, *_ = point_values
            if recall is not None and fpr is not None:
                n_fp = count_false(row)
                if n_fp is not None and n_fp < FEW_FALSE_POSITIVES:
                    # What weighted rows count as may be no whole number.
                    point_values.append(n_fp if isinstance(n_fp, int) else -1)
                point_by_recall_and_fpr.setdefault((recall, fpr, score), point_values)
        if point_by_recall_and_fpr:
            rounded_rows_by_model[model] = sorted(
                point_by_recall_and_fpr.values(),
                key=lambda point_values: (point_values[1], point_values[4]),
            )
    return rounded_rows_by_model


def _describe_group(
    cases: Sequence[Case], rows_by_model: _Rows, color_number_by_model: Mapping[Any, int], max_rows: int
) -> dict[str, Any]:
    """Return the curves of the models of a group, the best first, and where the page begins."""
    case = cases[0]
    place_phrase = f"in {name_own_group(case)}" if case.groups else ""
    verdict_recall, etas = case.candidates[0].row.get("recall") or 0.5, list_etas(case.eta)
    thresholds_by_model: dict[Any, set[Any]] = {}  # the scores of each model that are decided about
    for candidate in (candidate for case in cases for candidate in case.candidates):
        threshold = candidate.row.get("threshold")
        thresholds_by_model.setdefault(candidate.model, set()).add(threshold)
    model_records: list[dict[str, Any]] = []
    for candidate in case.candidates[:_MOST_MODELS]:
        if candidate.model in rows_by_model:
            rows = rows_by_model[candidate.model]
            # The page begins at the score of the verdict, and if there is none near its recall.
            first_row = min(rows, key=lambda row: abs(row[1] - verdict_recall))
            threshold = candidate.row.get("threshold")
            if threshold is not None:
                first_row = next((row for row in rows if row[0] == threshold), first_row)
            row_step = -(-len(rows) // max_rows)
            kept_rows = [
                row
                for row_number, row in enumerate(rows)
                if row_number % row_step == 0
                or row in (first_row, rows[-1])
                or (row[0] is not None and row[0] in thresholds_by_model[candidate.model])
            ]
            model_records.append(
                {
                    "name": "" if candidate.model is None else name_model(candidate),
                    "color": color_number_by_model[candidate.model] % 8,
                    "row": kept_rows.index(first_row),
                    "decided": _list_decided(cases, candidate.model, first_row, etas),
                    "rows": [[say_threshold(row[0]) or None, *row[1:]] for row in kept_rows],
                }
            )
    return {
        "where": place_phrase and f"{place_phrase} ",
        "etas": etas,
        "place": etas.index(case.eta) if case.eta in etas else 0,
        "models": model_records,
    }


_ENDS = {
    **{"precision_low": "low", "precision_high": "high"},
    **{"recall_low": "recallLow", "recall_high": "recallHigh"},
    **{"alerts_low": "alertsLow", "alerts_high": "alertsHigh"},
}
"""The ends of the intervals of a verdict, and how the scripts name them."""


def _list_decided(
    cases: Sequence[Case], model: Any, point_values: Sequence[Any], etas: Sequence[float]
) -> dict[int, dict[str, Any]]:
    """Return the intervals of the verdicts on a model at a point, by the place of their prevalence."""
    ends_by_eta_number: dict[int, dict[str, Any]] = {}
    for case in cases:
        candidate = case.find_candidate(model)
        if candidate is None or case.eta not in etas or candidate.precision.span is None:
            continue
        recall, fpr, eta = point_values[1], point_values[4], float(case.eta or 0.0)
        alert_share = recall * eta + fpr * (1 - eta)
        # The point may be beside the one that is decided, which has no threshold.
        if not math.isclose(candidate.precision.value * alert_share, recall * eta, rel_tol=1e-5):
            continue
        row_with_ends = {**candidate.row, "precision_low": candidate.precision.low}
        row_with_ends["precision_high"] = candidate.precision.high
        ends_by_eta_number[etas.index(eta)] = {
            script_name: _round(row_with_ends[column])
            for column, script_name in _ENDS.items()
            if row_with_ends.get(column) is not None
        }
    return ends_by_eta_number


def _round(rate: float | None) -> float | None:
    return None if rate is None else float(f"{rate:.7g}")


def list_etas(eta: float | None) -> list[float]:
    """Return round prevalences from 1 in 2 down, and the one that is decided about."""
    cases_per_positive = (
        10.0**exponent * one_in_start for exponent in range(7) for one_in_start in _STEPS
    )
    round_etas = {
        1 / n_cases
        for n_cases in cases_per_positive
        if n_cases >= 2 and 1 / n_cases >= _LEAST_ETA * (1 - 1e-9)
    }
    return sorted(round_etas | ({eta} if eta else set()), reverse=True)
