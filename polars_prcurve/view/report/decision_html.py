"""The document of a decision: one HTML file to send, in the order of a reader's questions.

judgement -> verdict   what is decided, in its own sentence
          -> models    icons of 100 alerts, the interval hatched, and the numbers; without a target
                       the merit of each model with its interval
          -> chart     precision by recall
          -> need      what would settle what is open
          -> more      folded: other prevalences, all numbers, how they are made
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.ground.package_version import __version__
from polars_prcurve.core.ground.terminal_text import TextColumn
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.case import LEAST_OF_CLASS, Case
from polars_prcurve.core.judging.judgement import Judgement, are_alike
from polars_prcurve.core.prevalence.prior_shift import shift_prior
from polars_prcurve.view.report import decision_columns as columns
from polars_prcurve.view.report import decision_drawings as drawings
from polars_prcurve.view.report.decision_notes import (
    describe_dependence,
    describe_intervals,
    describe_levels,
    describe_test,
    name_interval,
)
from polars_prcurve.view.report.html_and_svg import (
    define_hatches,
    draw_circle,
    draw_document,
    escape,
    isolate,
    name_color,
    write_columns,
    write_document,
    write_frame,
    write_prose,
)
from polars_prcurve.view.report.page_style import DECISION_STYLE
from polars_prcurve.view.verdicts import value_phrases
from polars_prcurve.view.verdicts.case_places import (
    list_all_names,
    name_cases,
    name_in_sentence,
    name_places,
)
from polars_prcurve.view.verdicts.caveat_sentences import describe_difference
from polars_prcurve.view.verdicts.target_phrases import describe_best
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.verdicts.verdict_of_all_cases import say_short, say_status, sum_up
from polars_prcurve.view.verdicts.verdict_sentences import write_verdict
from polars_prcurve.view.verdicts.verdict_tables import build_table
from polars_prcurve.view.words import number_words
from polars_prcurve.view.words.number_words import FEW_FALSE_POSITIVES, FEW_POSITIVES
from polars_prcurve.view.words.shown_names import (
    mark_names,
    name_metric,
    name_value,
    start_sentence,
)

_MOST_LINES = 4  # models, at most, that are drawn in colours of their own, with their names


def build_document(judgement: Judgement, title: str | None, date: str | None, notes: str | None) -> str:
    """Return the document as HTML; equal judgements and words make equal bytes."""
    verdict = sum_up(judgement)
    body = _write_body(judgement, verdict, title, date, notes)
    return write_document(title or verdict.sentence, DECISION_STYLE, body)


def _write_body(
    judgement: Judgement, verdict: Verdict, title: str | None, date: str | None, notes: str | None
) -> Iterator[str]:
    are_cases_drawn = drawings.are_drawn(judgement)
    yield f'<svg class="hidden" aria-hidden="true">{define_hatches()}</svg>'
    if title is not None:
        yield f'<p class="place">{escape(title)}</p>'
    yield f'<p class="place">{write_prose(verdict.conditions)}</p>'
    yield write_status(judgement)
    yield f"<h1>{mark_all_names(judgement, verdict.sentence)}</h1>"
    if judgement.cases:
        if are_cases_drawn:
            yield from write_groups(judgement)
        else:
            yield from _draw_cases(judgement)
        if notes is not None:
            yield f"<h2>Notes</h2><p>{escape(notes)}</p>"
        yield from write_need(judgement, verdict)
        yield '<h2 class="screen">More</h2>'
        if not are_cases_drawn:
            yield from _fold_differences(judgement)
        elif not _are_in_sight(judgement):
            yield _fold(f"All {len(judgement.cases)} verdicts", write_cases(judgement))
        table_html = write_raw(build_table(judgement))
        yield _fold("All numbers, and how they were computed", table_html + write_methods(judgement))
    yield f"<footer>{escape(describe_test(judgement, date))}</footer>"


def mark_all_names(judgement: Judgement, sentence: str) -> str:
    """Return a text as HTML, in which each name keeps its direction of writing."""
    names_html = map(write_prose, list_all_names(judgement.cases))
    return mark_names(write_prose(sentence), names_html, "<bdi>{}</bdi>".format)


# Models -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelCard:
    """What a card of a model is of."""

    case: Case
    candidate: Candidate
    color_number: int
    names_case: bool = False  # and not the model

    @property
    def heading_html(self) -> str:
        """The name of the model; of an only one, the case and how it stands."""
        if self.names_case:
            name = name_in_sentence(self.case)
            return ": ".join(filter(None, [name and isolate(name), escape(say_short(self.case))]))
        return "" if self.candidate.model is None else isolate(value_phrases.name_model(self.candidate))


def _draw_cases(judgement: Judgement) -> Iterator[str]:
    """Yield what is judged: alerts of two models of each case, or without a target their merit."""
    cases, color_number_by_model = judgement.cases, drawings.number_models(judgement)
    are_cards_joined = judgement.has_one_model and len(cases) > 1  # whose cards stand side by side
    cards: list[ModelCard] = []
    for case in cases:
        case_cards = [
            ModelCard(case, candidate, color_number_by_model[candidate.model], are_cards_joined)
            for candidate in choose_drawable(case)
        ]
        if len(cases) > 1 and not (are_cards_joined and case_cards):
            heading_text = start_sentence(name_places([case]))
            yield f"<h2>{mark_all_names(judgement, heading_text)}</h2>"
            if not are_alike(cases) or not (case_cards or case.goal.is_of_curve):
                sentence = write_verdict(judgement, case).sentence
                yield f'<p class="place">{mark_all_names(judgement, sentence)}</p>'
        if case_cards and not are_cards_joined:
            yield write_cards(judgement, case_cards)
        if case.goal.is_of_curve:
            yield from _draw_merits(judgement, case)
        cards += case_cards
    if cards:
        yield (write_cards(judgement, cards) if are_cards_joined else "") + write_key(judgement, cards)
    elif cases[0].goal.is_of_curve:
        yield f'<p class="note">{escape(describe_intervals(judgement))}</p>'
    if len(cases) == 1:
        [case] = cases
        n_drawn_models = 2 if cards else 0 if case.goal.is_of_curve and not case.goal.mean_over else 1
        if len(case.candidates) > n_drawn_models:
            yield write_models(judgement, case)
        # A point has no curve: instead, its precision at other prevalences is in sight.
        shares_html, chart_html = write_shares(case), "".join(_draw_chart(judgement, case))
        yield chart_html or (shares_html and f"<h2>Other prevalences</h2>{shares_html}")


def _fold_differences(judgement: Judgement) -> Iterator[str]:
    """Yield differences of models that are tested, and curves, or precision at other prevalences."""
    cases = judgement.cases
    differences_html = ""
    for case in cases:
        if case.status == "winner" and (difference_text := describe_difference(case)):
            level_phrase = "" if len(case.candidates) == 2 else ", simultaneous for all pairs"
            place_phrase = f" {name_places([case])}" if len(cases) > 1 else ""
            difference_sentence = (
                f"Difference in {value_phrases.name_merit(case)}: "
                f"{difference_text}{level_phrase}{place_phrase}."
            )
            differences_html += f"<p>{write_prose(difference_sentence)}</p>"
    if differences_html:
        yield _fold("The difference, tested", differences_html)
    if len(cases) > 1:  # whose curves would take a second sheet of paper
        charts_html = "".join(
            f"<p>{escape(start_sentence(name_places([case])))}</p>{chart_html}"
            for case in cases
            if (chart_html := "".join(_draw_chart(judgement, case)))
        )
        yield charts_html and _fold("Curves", charts_html, ' class="screen"')
    elif not cases[0].goal.is_of_point and (shares_html := write_shares(cases[0])):
        yield _fold("Other prevalences", shares_html)


def _draw_merits(judgement: Judgement, case: Case) -> Iterator[str]:
    """Yield the merit of each model with its interval, on the axis of all cases."""
    metric_column, color_number_by_model = case.goal.merit_column, drawings.number_models(judgement)
    estimates = [
        candidate.read(metric_column)
        for any_case in judgement.cases
        for candidate in any_case.candidates
    ]
    ranked_candidates = [
        candidate for candidate in case.candidates if candidate.read(metric_column).value is not None
    ]
    candidates_and_colors = [
        (candidate, color_number_by_model[candidate.model])
        for candidate in ranked_candidates[:_MOST_LINES]
    ]
    heading_text = start_sentence(value_phrases.name_merit(case))
    yield '<section class="chart">'
    yield f'<p class="place">{escape(heading_text)}; line: {name_interval(judgement)}</p>'
    for css_class, width in (("wide", 740), ("small", 358)):
        yield drawings.draw_intervals(case, candidates_and_colors, estimates, width, f"{css_class} rows")
    yield "</section>"


def choose_drawable(case: Case) -> list[Candidate]:
    """Return those of the two models that have alerts at the targets; without a target none has."""
    if case.goal.is_of_curve:
        return []
    return [leader for leader in case.leaders if leader.precision.value is not None]


def write_status(judgement: Judgement) -> str:
    """Return the status, filled where it is decided; empty where the numbers speak for themselves."""
    css_classes = "status settled" if judgement.status in ("winner", "met") else "status"
    label = say_status(judgement)
    return f'<p class="{css_classes}">{escape(label)}</p>' if label else ""


def write_cards(judgement: Judgement, cards: Sequence[ModelCard]) -> str:
    """Return cards side by side."""
    return f'<div class="models">{"".join(_write_card(judgement, card) for card in cards)}</div>'


def write_key(judgement: Judgement, cards: Sequence[ModelCard]) -> str:
    """Return the key of the icons of some cards, and what the intervals are of."""
    dot_svg_by_kind = {
        icon_kind: draw_document(
            [draw_circle(6.5, 6.5, 5.5, drawings.describe_look(icon_kind, None))], 13, 13, ""
        )
        for icon_kind in ("right", "likely", "false")
    }
    doubt_phrase = drawings.describe_hatched_icons(
        (card.case, card.candidate.precision) for card in cards
    )
    return (
        f'<p class="key">{dot_svg_by_kind["right"]}true '
        f"{dot_svg_by_kind['likely']}{escape(doubt_phrase)}: the "
        f"{name_interval(judgement)} {dot_svg_by_kind['false']}false</p>"
        f'<p class="note">{escape(describe_intervals(judgement))}</p>'
    )


def _write_card(judgement: Judgement, card: ModelCard) -> str:
    """Return the icons and the values of a model."""
    candidate = card.candidate
    heading_html = f"<h3>{card.heading_html}</h3>" if card.heading_html else ""
    text_columns = [
        *columns.list_model_columns(judgement, card.case, [candidate]),
        *columns.list_positives(card.case, [candidate]),
    ]
    text_columns.sort(key=lambda column: column.head == "threshold")  # which stands last
    items_html = ""
    for column in text_columns:
        if "model" not in column.shown_names:
            per_phrase = f" {number_words.say_cases(card.case.per)}" if column.head == "alerts" else ""
            span_html = "".join(f" <small>{escape(text.strip('()'))}</small>" for text in column.spans)
            items_html += f"<dt>{escape(column.texts[0] + per_phrase)}</dt>"
            items_html += f"<dd>{escape(column.cells[0])}{span_html}</dd>"
    icons_svg = drawings.draw_alerts(card.case, candidate.precision, card.color_number)
    return (
        f'<section class="model" style="--c:var(--c{card.color_number % 8})">'
        f"{heading_html}<div><div>{icons_svg}</div><dl>{items_html}</dl></div></section>"
    )


# Groups -------------------------------------------------------------------------------------------


def write_groups(judgement: Judgement) -> Iterator[str]:
    """Yield the best and the worst group that differ, and the picture of all cases."""
    cases_by_title = drawings.split_cases(judgement)
    cases_apart = [*cases_by_title.get("Better", [])[:1], *cases_by_title.get("Worse", [])[-1:]]
    cards = [
        ModelCard(case, case.candidates[0], 0 if case.outcome == "better" else 1, names_case=True)
        for case in cases_apart
    ]
    if cards and not judgement.goal.is_of_curve:
        yield write_cards(judgement, cards) + write_key(judgement, cards)
    yield f'<section class="chart"><h2>Every {name_cases(judgement.cases, is_plural=False)}</h2>'
    metric_name, group_tests = drawings.choose_drawn_column(judgement.goal), judgement.group_tests
    legend_text = "hollow: too little data" if judgement.has_one_model else "hollow: significantly worse"
    if judgement.goal.demand:
        has_target_line = bool(drawings.find_drawn_limits(judgement.goal))
        legend_text = f"{'upright: the target; ' if has_target_line else ''}hollow: not sure"
    if group_tests is not None:
        legend_text = "upright: all groups together; hollow: no significant difference"
    key_text = (
        f"{start_sentence(name_metric(metric_name))}; line: {name_interval(judgement)}; {legend_text}"
    )
    yield f'<p class="place">{escape(key_text)}</p>'
    if not judgement.has_one_model:
        color_number_by_model = drawings.number_models(judgement)
        yield _write_names(
            {name_value(model): color_number for model, color_number in color_number_by_model.items()}
        )
    for css_class, width in (("wide", 740), ("small", 358)):
        yield drawings.draw_groups(judgement, width, f"{css_class} rows")
    yield "</section>"
    if _are_in_sight(judgement):
        yield write_cases(judgement)
    if levels_text := describe_levels(judgement):
        yield f'<p class="note">{escape(levels_text)}.</p>'


def _are_in_sight(judgement: Judgement) -> bool:
    """Return whether the values and thresholds of cases stand below their picture."""
    return judgement.has_one_model and len(judgement.cases) <= _MOST_IN_SIGHT


CurveRows: TypeAlias = dict[Any, list[dict[str, Any]]]
"""The rows of the curves of a case, by model."""


def pick_rows(
    judgement: Judgement, cases: Sequence[Case], *curve_frames: pl.DataFrame
) -> list[CurveRows]:
    """Return the rows of these frames, which are curves or points of them, for each case."""
    case_keys = [make_nan_equal(*case.groups.values(), case.eta) for case in cases]
    rows_by_key: dict[tuple[Any, ...], CurveRows] = {case_key: {} for case_key in case_keys}
    for row in (row for curve_frame in curve_frames for row in curve_frame.iter_rows(named=True)):
        rows_by_model = rows_by_key.get(
            make_nan_equal(*(row[name] for name in judgement.evidence.group_columns), row["eta"])
        )
        if rows_by_model is not None:
            model = None if judgement.model is None else row[judgement.model]
            rows_by_model.setdefault(model, []).append(row)
    return [rows_by_key[case_key] for case_key in case_keys]


def make_nan_equal(*values: Any) -> tuple[Any, ...]:
    """Return values as a key of a mapping, in which NaN is a value like any other."""
    return tuple("NaN" if isinstance(value, float) and math.isnan(value) else value for value in values)


def _draw_chart(judgement: Judgement, case: Case) -> Iterator[str]:
    [rows_by_model] = pick_rows(judgement, [case], judgement.evidence.curves)
    color_number_by_model = drawings.number_models(judgement)
    # Models that may be best have colours of their own.
    colored_model_names = [candidate.model for candidate in case.candidates[:_MOST_LINES]]
    curves, color_number_by_name = [], {}
    for candidate in case.candidates:
        if not rows_by_model.get(candidate.model):
            continue
        recall, precision = candidate.row.get("recall"), candidate.row.get("precision")
        point = None if recall is None or precision is None else (recall, precision)
        color_number = None
        if candidate.model in colored_model_names:
            color_number = color_number_by_model[candidate.model]
            color_number_by_name[value_phrases.name_model(candidate)] = color_number
        curves.append(drawings.Curve(color_number, rows_by_model[candidate.model], point))
    if all(len(curve.rows) < 2 for curve in curves):
        return
    level_text = number_words.format_level(judgement.confidence)
    yield '<section class="chart"><h2>Precision and recall at every threshold</h2>'
    unmet_limits = case.goal.limits if case.status in ("not_met", "unsure") else {}
    axis_text = f"Precision by recall; band: {level_text} intervals at each threshold; "
    dotted_text = (
        f"dotted: fewer than {FEW_FALSE_POSITIVES} false positives or {FEW_POSITIVES} positives"
    )
    yield f'<p class="place">{escape(axis_text + dotted_text)}</p>'
    if judgement.model is not None:
        yield _write_names(color_number_by_name)
    for css_class, width_and_height in (("wide", (740, 260)), ("small", (358, 240))):
        yield drawings.draw_curves(curves, case.eta or 0.0, unmet_limits, width_and_height, css_class)
    yield "</section>"


def _write_names(color_number_by_name: Mapping[str, int]) -> str:
    """Return names with the colours that a drawing gives them."""
    list_items = "".join(
        f'<li style="color:{name_color(color_number)}">{isolate(name)}</li>'
        for name, color_number in color_number_by_name.items()
    )
    return f'<ul class="names">{list_items}</ul>'


def write_need(judgement: Judgement, verdict: Verdict) -> Iterator[str]:
    """Yield what more data would show, and the reasons of the verdict."""
    if verdict.would_settle:
        is_decided = judgement.status in ("winner", "met", "measured")
        heading_text = "What more data would show" if is_decided else "What would settle it"
        yield f'<h2>{heading_text}</h2><p class="settle">{write_prose(verdict.would_settle)}.</p>'
    if verdict.reasons:
        list_items = "".join(
            f"<li>{write_prose(start_sentence(reason))}.</li>" for reason in verdict.reasons
        )
        yield f'<ul class="reasons">{list_items}</ul>'


def _fold(summary_text: str, content_html: str, attributes: str = "") -> str:
    return f"<details{attributes}><summary>{escape(summary_text)}</summary>{content_html}</details>"


# Tables -------------------------------------------------------------------------------------------

_MOST_IN_SIGHT = 12  # cases whose verdicts are not folded, at most: they fit on a sheet of paper
_MOST_ROWS = 40  # rows of a table that is read, at most
_MOST_COMPARED = 4  # models, at most, side by side at other prevalences: more are too wide for paper


def write_models(judgement: Judgement, case: Case) -> str:
    """Return a row for each model of a case, the best first, and how it stands."""
    candidates = case.candidates[:_MOST_ROWS]
    text_columns = columns.list_model_columns(judgement, case, candidates)
    if "model" not in text_columns[0].shown_names:
        text_columns.insert(0, TextColumn("model", [""], is_text=True))
    if not case.qualifiers:  # cells would be dashes
        text_columns = text_columns[:1]
    standing_column = TextColumn(
        "", [_describe_standing(case, candidate) for candidate in candidates], True
    )
    return write_columns([*text_columns, standing_column], len(case.candidates) - _MOST_ROWS)


def _describe_standing(case: Case, candidate: Candidate) -> str:
    """Return how a model stands beside the others; without a threshold, the best that it reaches."""
    if not candidate.meets_targets:
        return describe_best([candidate]) or "no threshold meets the targets"
    if candidate.may_be_chance:
        return "may be no better than chance"
    if not candidate.may_be_best:
        return "significantly worse"
    return {"winner": "best", "no_winner": "may be best"}.get(case.status, "")


def write_cases(judgement: Judgement) -> str:
    """Return a row for each case: where it is, its values, and how it stands."""
    cases = columns.sort_cases(judgement)[:_MOST_ROWS]
    has_room = len(cases[0].candidates) <= _MOST_COMPARED
    build_columns = columns.list_case_columns if has_room else columns.list_pair_columns
    absent_texts = [] if has_room else columns.name_absent_models(cases)
    note_html = "".join(
        f'<p class="note">Not shown: {absent_text}; all numbers have them.</p>'
        for absent_text in absent_texts
    )
    return write_columns(build_columns(judgement, cases), len(judgement.cases) - _MOST_ROWS) + note_html


def write_shares(case: Case) -> str:
    """Return precision of the same scores at other prevalences; empty if it cannot be moved."""
    eta = case.eta
    candidates = [qualifier for qualifier in case.qualifiers if qualifier.precision.value is not None]
    if eta is None or case.goal.mean_over or not 0 < eta < 1 or case.has_estimated_eta or not candidates:
        return ""
    etas = [eta / 5, eta, min(5 * eta, 0.5 if eta <= 0.1 else (1 + eta) / 2)]
    text_columns = [TextColumn("prevalence", number_words.say_etas(etas), is_text=True)]
    for candidate in candidates[:_MOST_COMPARED]:
        # Precision is the posterior of an alert, and moves as one does: its odds by those of eta. So do
        # the ends of its interval, where that has no error of the prevalence.
        value_and_ends = candidate.precision.value, *(candidate.precision.span or ())
        estimates = [
            Estimate(
                *(shift_prior(share_of_alerts, eta, other_eta) for share_of_alerts in value_and_ends)
            )
            for other_eta in etas
        ]
        column_head = "precision" if candidate.model is None else value_phrases.name_model(candidate)
        value_and_span_texts = [
            value_phrases.format_estimate("precision", estimate) for estimate in estimates
        ]
        text_columns.append(columns.build_value_column(column_head, value_and_span_texts))
    place_phrase = "the thresholds of this decision"
    if case.goal.is_of_curve:
        place_phrase = f"{number_words.say_share(0.5)} true recall"
    elif candidates[0].row.get("threshold") is None:
        place_phrase = "the point as given"
    return write_columns(text_columns) + f'<p class="note">Precision at {place_phrase}.</p>'


def write_raw(decision_frame: pl.DataFrame) -> str:
    """Return a table of all numbers, in up to six digits."""

    def show_float(value: float) -> str:
        return f"{value + 0.0:.6g}" if math.isfinite(value) else str(value)

    return write_frame(decision_frame, show_float, css_class="raw")


def write_methods(judgement: Judgement) -> str:
    """Return how the numbers are made, means or rates, in sentences with sources, as paragraphs."""
    goal, level_text = judgement.goal, number_words.format_level(judgement.confidence)
    error_text = number_words.format_level(1 - judgement.confidence)
    comparison_sentence = "Models are compared in pairs where they scored the same examples."
    if any(len(case.candidates) > 2 for case in judgement.cases):
        comparison_sentence += (
            " The differences of several models hold simultaneously (Tukey 1953, Kramer 1956): a model "
            f"that none beats is ruled out in at most {error_text} of test sets."
        )
    promise_sentence = (
        "Thresholds are chosen with a guarantee: over repeated test sets, they miss their targets in at "
        f"most {number_words.format_level(1 - (goal.guarantee or 0))}."
    )
    means_sentence = (
        f"Intervals have a level of {level_text}. The metric is computed in each group, and the groups "
        "are the sample: intervals for their mean, and for differences paired by group, use Student's t "
        "distribution."
    )
    interval_sentence = (
        f"Intervals have a level of {level_text}: for rates by Wilson (1927), for precision from the "
        "distances to their ends, added in quadrature (Zou and Donner 2008). Where the threshold was "
        "chosen on the test set, they allow for that. Average precision allows for unseen examples."
    )
    rates_sentence = (
        "Recall and false positive rate are measured; precision at a prevalence eta follows from them: "
        "recall * eta / (recall * eta + fpr * (1 - eta)). This holds where positives and negatives are "
        f"as in the test set. {describe_dependence(judgement)}"
    )
    chance_sentence = (
        "Whether scores are better than chance is tested on ranks and reciprocal ranks of the "
        f"positives. With fewer than {LEAST_OF_CLASS} examples of a class, nothing is decided."
    )
    sentences = (
        *([means_sentence] if goal.mean_over else [rates_sentence, interval_sentence]),
        *([] if judgement.model is None else [comparison_sentence]),
        *([] if goal.mean_over else [chance_sentence]),
        *([] if goal.guarantee is None else [promise_sentence]),
        f"Made by polars-prcurve {__version__}, Polars {pl.__version__}, "
        f"Python {platform.python_version()}.",
    )
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
