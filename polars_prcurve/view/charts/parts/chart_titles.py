"""Titles of charts: what is drawn, in numbers, and what a test behind a chart settles.

The highest number stands first; without a test behind it a title names no model as better.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from polars_prcurve.core.confidence.rate_intervals import find_wilson_ends, z_value
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import add_noun, format_count, join_words, name_groups
from polars_prcurve.core.metrics.target_definitions import TARGET_KINDS
from polars_prcurve.view.charts.parts import doubt_of_points, points_to_draw
from polars_prcurve.view.charts.parts.chart_axes import LOG_BELOW_ETA
from polars_prcurve.view.charts.parts.chart_input import ChartCurves, check_table
from polars_prcurve.view.charts.parts.colors_and_panels import Channel, Channels
from polars_prcurve.view.charts.parts.names_and_numbers import LOWER, format_range, name_with_column
from polars_prcurve.view.words import number_words
from polars_prcurve.view.words.names_in_sentences import name_metric_of_target
from polars_prcurve.view.words.number_words import FEW_FALSE_POSITIVES, FEW_POSITIVES

if TYPE_CHECKING:
    from polars_prcurve.view.charts.parts.icon_counts import IconGrid

_OPEN = "No clear winner"  # how titles begin if none of several models is significantly the best
_MOST_NAMES = 3  # lines, at most, that a title names one by one
_MOST_LETTERS = 76  # letters of their names together, at most, so that the title has two rows
_MOST_TRADES = 2  # crossings, at most, that a title names
_FEWEST_PANELS = 3  # panels whose range of areas is in the title; of two, both are read at once
_FAR_OFF = 1.5  # the ratio of expected and observed positives from which the title is on that
_AT_FOOT = 0.05  # precision below which a line lies at the foot of a linear axis
_SEEN_GAIN = 0.02  # of the highest net benefit of a line: a gain that one sees
_DAYS = ("day", "date")  # what periods are called on which something is, and not in
_NEAR_HALF = 0.6  # the recall up to which the title of a published point is on half


def say_known(curves: ChartCurves, say: Callable[[ChartCurves], str], few_fact: str = "") -> str:
    """Return the title on curves with 20 positives or more, or that all have too few."""
    # Of these it is `few`, or by default how roughly a recall of 50% is known.
    if not curves.has_few_positives:
        return say(curves)
    few_curves = curves.few_curves
    if not few_curves:  # as of all
        sentence = say_too_few(curves.curve_rows["n_pos"], few_fact)
        return say_order(sentence, curves) if curves.is_open else sentence
    sentence = say(curves.pick([n for n in curves.curve_rows["curve"] if n not in few_curves]))
    shown_columns = [curves.column_by_field[field] for field in curves.group_fields]
    own_group_columns = [name for name in shown_columns if name != "model"] or shown_columns
    groups_text = f"Among {name_groups(own_group_columns)[1]} with {FEW_POSITIVES} positives or more"
    return f"{groups_text}, {go_on(sentence)}" if sentence else ""


def go_on(text: str) -> str:
    """Return a text as it goes on within a sentence: without its capital, but for that of `ROC AUC`."""
    return text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"


def say_too_few(n_positives: pl.Series, fact: str = "") -> str:
    """Return the title for too few positives: a fact, or how roughly a recall of 50% is known."""
    most_positives = max(float(n_positives.max() or 0), 1.0)  # type: ignore[arg-type]
    if not fact and most_positives < 1.5:
        fact = "recall is known only roughly"
    elif not fact:
        low, high = _find_half_limits(most_positives)
        low_text, high_text = number_words.say_shares([low, high])
        fact = f"a measured recall of 50% could really be anything from {low_text} to {high_text}"
    return f"With {_count_positives(n_positives)}, {go_on(fact)}"


def _count_positives(n_positives: pl.Series) -> str:
    """Return how many positives the test set has, or each one of several: `12 positives`."""
    return add_noun(format_range(n_positives), "positive")


def find_limits(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the limits of a share of n examples (Wilson 1927)."""
    return find_wilson_ends(share * n, n, z_value(confidence))


def _find_half_limits(n_positives: float) -> tuple[float, float]:
    """Return the 95% limits that `operating_points(recall=0.5)` has for recall."""
    # The threshold was chosen on a positive: the low limit is that of half a positive less.
    low, _ = find_limits((0.5 * n_positives - 0.5) / n_positives, n_positives)
    return low, find_limits(0.5, n_positives)[1]


def say_few_false_alerts(curves: ChartCurves, channels: Channels) -> str:
    """Return of which lines precision at half recall rests on few false positives; empty if of none."""
    half_points = find_half(curves).filter(pl.col("doubt").fill_null(False))
    if half_points.is_empty():
        return ""
    place_text = say_reached(half_points["recall"])
    return say_resting(place_text, half_points["curve"].unique().sort().to_list(), curves, channels)


def note_few_false_alerts(curves: ChartCurves, channels: Channels) -> str:
    """Return the same for a note, where the title has a range of many groups; else empty."""
    known_curves = curves.pick([n for n in curves.curve_rows["curve"] if n not in curves.few_curves])
    return (
        "" if find_known_half(known_curves).is_empty() else say_few_false_alerts(known_curves, channels)
    )


def say_resting(
    place_text: str, curves_in_doubt: Sequence[int], curves: ChartCurves, channels: Channels
) -> str:
    """Return that precision of these lines rests on few false positives at a place."""
    name_by_curve, n_lines = name_curves(curves, channels), len(curves.curve_rows)
    subject = "precision"
    if len(curves_in_doubt) < n_lines:
        subject = f"precision of {len(curves_in_doubt)} of {n_lines} lines"
        if are_short(curves_in_doubt, name_by_curve):
            subject = f"precision for {join_words([name_by_curve[curve] for curve in curves_in_doubt])}"
    return f"At {place_text}, {subject} rests on fewer than {FEW_FALSE_POSITIVES} false positives"


def find_known_half(curves: ChartCurves) -> pl.DataFrame:
    """Return the rows of `find_half` of curves with 20 positives or more, or none if not known well."""
    # That is by fewer than five false positives, of many groups in all, or by a published point that
    # finds far more than half.
    known_curve_rows = curves.curve_rows.filter(pl.col("n_pos") >= FEW_POSITIVES)
    half_points = find_half(curves).filter(pl.col("curve").is_in(known_curve_rows["curve"].to_list()))
    are_points_far = (
        points_to_draw.has_points_alone(curves.points) and (half_points["recall"] > _NEAR_HALF).any()
    )
    doubt_flags = half_points["doubt"].fill_null(True)
    n_groups = known_curve_rows.n_unique(curves.group_fields) if curves.group_fields else 1
    is_in_doubt = doubt_flags.all() if n_groups > _MOST_NAMES else doubt_flags.any()
    is_unknown = are_points_far or len(half_points) < len(known_curve_rows) or is_in_doubt
    return half_points.clear() if is_unknown else half_points


def find_half(curves: ChartCurves) -> pl.DataFrame:
    """Return the row of each curve at the highest threshold that finds half of the positives."""
    half_points = doubt_of_points.find_few_false_alerts(points_to_draw.keep_rises(curves.points)).filter(
        pl.col("recall") >= 0.5
    )
    return half_points.sort("curve", "recall", maintain_order=True).unique("curve", maintain_order=True)


def say_reached(shares: Iterable[float], target: float = 0.5, rate_name: str = "recall") -> str:
    """Return the rate that points have, which ties lift above their target: `71% recall`."""
    # Points of several lines that differ in it share the target alone.
    share_texts = {number_words.say_share(share) for share in shares}
    if len(share_texts) == 1 and share_texts != {number_words.say_share(target)}:
        return f"{share_texts.pop()} {rate_name}"
    return f"{number_words.say_target(target)} {rate_name}{'' if len(share_texts) == 1 else ' or more'}"


def lie_at_foot(curves: ChartCurves) -> bool:
    """Return whether a line of rare positives would lie at the foot of a linear axis of precision."""
    # That is so if its precision is below 5% where half of the positives are found.
    from polars_prcurve.core.metrics.point_formulas import precision

    is_rare_expr = pl.col("eta").is_between(0, LOG_BELOW_ETA, "none")
    rare_curves = curves.curve_rows.filter(is_rare_expr).select("curve", "eta")
    half_points = find_half(curves).select("curve", "recall", "fpr").join(rare_curves, on="curve")
    precision_expr = precision(*map(pl.col, ("recall", "fpr", "eta")))
    return bool(half_points.select((precision_expr < _AT_FOOT).any()).item())


def is_higher_better(metric: str) -> bool:
    """Return whether more of a curve metric is better; a custom metric does not declare it."""
    from polars_prcurve.core.metrics.curve_metric import CurveMetric
    from polars_prcurve.core.metrics.metric_lookup import find_metrics

    try:
        [curve_metric] = find_metrics(metric, CurveMetric)
        return bool(curve_metric.higher_is_better)
    except (PrcError, ValueError):
        return False


def say_each(
    sentence_start: str,
    sentence_end: str,
    value_by_curve: Mapping[int, float],
    name_by_curve: Mapping[int, str],
    say_numbers: number_words.SayShares = number_words.say_shares,
    *,
    given_text_by_curve: Mapping[int, str] | None = None,
) -> str:
    """Return `start 39% for A and 37% for B end`, the highest first, in texts of their own if given."""

    # Of many lines, and of those with long names or without names, the range is written.
    def write_values(curve_numbers: Sequence[int]) -> list[str]:
        if given_text_by_curve is not None:
            return [given_text_by_curve[curve] for curve in curve_numbers]
        return say_numbers([value_by_curve[curve] for curve in curve_numbers])

    curve_lists, is_range = _pick_told(value_by_curve, name_by_curve, write_values)
    value_texts = write_values([curves[0] for curves in curve_lists])
    if not is_range or len(set(value_texts)) == 1:
        named_values = _join_named(curve_lists, value_texts, name_by_curve)
        return f"{sentence_start} {named_values} {sentence_end}".rstrip()
    sentence_start = re.sub(" is$", " ranges from", sentence_start)
    clause = " to ".join(_name_ends(curve_lists, value_texts, name_by_curve))
    return f"{sentence_start} {clause} {sentence_end}".rstrip()


def _pick_told(
    value_by_curve: Mapping[int, float],
    name_by_curve: Mapping[int, str],
    write_values: Callable[[Sequence[int]], list[str]],
    max_names: int = _MOST_NAMES,
) -> tuple[list[list[int]], bool]:
    """Return the lines to name, the highest first; or those at both ends of their range, and that."""
    # Lines that read alike are at one end together: none is the highest of them.
    curve_numbers = sorted(value_by_curve, key=lambda curve: -value_by_curve[curve])
    if len(curve_numbers) == 1 or (
        len(curve_numbers) <= max_names and are_short(curve_numbers, name_by_curve)
    ):
        return [[curve] for curve in curve_numbers], False
    end_curves = (curve_numbers[-1], curve_numbers[0])
    tied_curves = [
        [
            curve
            for curve in curve_numbers
            if curve not in end_curves and len({*write_values([end_curve, curve])}) == 1
        ]
        for end_curve in end_curves
    ]
    return [
        sorted([end_curve, *tied_with_end])
        for end_curve, tied_with_end in zip(end_curves, tied_curves, strict=True)
    ], True


def _name_ends(
    curve_lists: Sequence[Sequence[int]], value_texts: Sequence[str], name_by_curve: Mapping[int, str]
) -> list[str]:
    """Return `39% for A` for both ends of a range, without names that are long, many or not known."""
    names_at_ends = [
        [name_by_curve.get(curve, "") for curve in curve_numbers] for curve_numbers in curve_lists
    ]
    is_room_enough = sum(len(name) for end_names in names_at_ends for name in end_names) <= _MOST_LETTERS
    have_names = [is_room_enough and are_short(curves, name_by_curve) for curves in curve_lists]
    have_names[-1] &= have_names[0]  # or the name would read as that of both ends
    return [
        f"{text} for {join_words(end_names)}" if has_name else text
        for text, end_names, has_name in zip(value_texts, names_at_ends, have_names, strict=True)
    ]


def _join_named(
    curve_lists: Sequence[Sequence[int]], value_texts: Sequence[str], name_by_curve: Mapping[int, str]
) -> str:
    """Return `39% for A and 37% for B`, without names if all are one or if these are long."""
    curve_numbers = [curve for curves in curve_lists for curve in curves]
    names_by_text: dict[str, list[str]] = {}
    for curves, text in zip(curve_lists, value_texts, strict=True):
        names_by_text.setdefault(text, []).extend(name_by_curve.get(curve, "") for curve in curves)
    if len(names_by_text) == 1 or not are_short(curve_numbers, name_by_curve):
        return join_words([*names_by_text])
    return join_clauses([f"{text} for {join_words(names)}" for text, names in names_by_text.items()])


def join_clauses(clauses: Sequence[str]) -> str:
    """Return clauses as a list in a sentence, with commas alone if one has names in a list."""
    return ", ".join(clauses) if any(" and " in clause for clause in clauses) else join_words(clauses)


def are_short(curve_numbers: Sequence[int], name_by_curve: Mapping[int, str]) -> bool:
    """Return whether a title has room for the names of these curves."""
    labels = [name_by_curve.get(curve_number, "") for curve_number in curve_numbers]
    return all(labels) and len(labels) <= _MOST_NAMES and sum(map(len, labels)) <= _MOST_LETTERS


def name_curves(curves: ChartCurves, channels: Channels) -> dict[int, str]:
    """Return the name of each curve, or that of its panel if it has one to itself; none without.

    Grey lines, which the chart does not name, have none.
    """
    channel: Channel | None = channels.color
    if channel is None and channels.facet:
        has_one_each = len(channels.facet.labels) == len(channels.facet.label_by_curve)
        channel = channels.facet if has_one_each else None
    if channel is None or (channel is channels.color and channels.facet is not None):
        return {}
    label_by_curve = {curve: channel.label_by_curve[curve] for curve in curves.curve_rows["curve"]}
    return {curve: label for curve, label in label_by_curve.items() if label in channel.shown_labels}


def list_firsts(
    points: pl.DataFrame, may_be_first: pl.Expr, model_column: str, name_one: Callable[[Any], str]
) -> list[tuple[float, str]]:
    """Return who is significantly first at each prevalence, from those that may be first; else empty."""
    # Without a model that is first anywhere, those are named of which one is, where they are two of
    # many.
    names_by_eta: dict[float, list[str]] = {eta: [] for eta in points["eta"].unique().sort()}
    for eta, model in points.filter(may_be_first).sort("rank").select("eta", model_column).rows():
        names_by_eta[eta].append(name_one(model))
    has_leader = any(len(names) == 1 for names in names_by_eta.values())
    n_names_told = 2 if points[model_column].n_unique() > 3 and not has_leader else 1
    return [
        (eta, " or ".join(names) if len(names) <= n_names_told else "")
        for eta, names in sorted(names_by_eta.items())
    ]


def say_firsts(leader_of_etas: Sequence[tuple[float, str]], model_names: Sequence[str]) -> str:
    """Return where a test settles which model is first, and where it does not; empty without a test."""
    etas, leader_names = [eta for eta, _ in leader_of_etas], [name for _, name in leader_of_etas]
    verb = "is better" if len(model_names) == 2 else "is best"
    return _say_runs_of_leaders(leader_names, etas, verb, _say_open(model_names, len(model_names)))


def read_ranking(chart_name: str, ranking: pl.DataFrame | None, curves: ChartCurves) -> pl.DataFrame:
    """Return the models that a ranking tests; no rows without a test, and of groups ranked apart."""
    # Models of few positives beside others of more are left out, as in titles.
    dtype_by_column = {"eta": pl.Float64, "model": pl.Null, "rank": pl.Int64, "may_be_best": pl.Boolean}
    if ranking is None:
        return pl.DataFrame(schema=dtype_by_column)
    ranking_rows = check_table(f"ranking= of {chart_name}", ranking, "ranking", [*dtype_by_column])
    if ranking_rows.columns.index("eta") > 0 or not ranking_rows["may_be_best"].count():
        return ranking_rows.clear()
    if curves.few_curves and len(curves.group_fields) == 1:
        few_rows = curves.curve_rows.filter(pl.col("curve").is_in(curves.few_curves))
        few_models = few_rows[curves.group_fields[0]].unique().implode()
        ranking_rows = ranking_rows.filter(~pl.col("model").is_in(few_models).fill_null(False))
    return ranking_rows


def add_order(
    curves: ChartCurves,
    chart_name: str,
    ranking: pl.DataFrame | None,
    metric_name: str | None = "precision",
) -> ChartCurves:
    """Return the curves with who is best by the test of a ranking, for titles, and why none may be.

    `metric_name` is what the ranking compares, or None for a chart that does not draw it.
    """
    ranking_rows = read_ranking(chart_name, ranking, curves)
    may_be_best = pl.col("may_be_best").fill_null(True).any()
    models_with_flags = ranking_rows.group_by("model", maintain_order=True).agg(may_be_best).rows()
    best_names, worse_names = (
        [
            name_with_column("group", "model", name)
            for name, is_best in models_with_flags
            if is_best == is_best_side
        ]
        for is_best_side in (True, False)
    )
    if len(models_with_flags) < 2:
        return curves
    order_text = _OPEN if best_names else ""
    if len(best_names) == 1:
        order_text = f"{best_names[0]} is {'better' if len(models_with_flags) == 2 else 'best'}"
    elif worse_names:
        order_text = _say_open(best_names, len(models_with_flags))
        if (
            len(models_with_flags) <= _MOST_NAMES
            and sum(map(len, best_names + worse_names)) <= _MOST_LETTERS
        ):
            order_text += f"; {join_words(worse_names)} {'is' if len(worse_names) == 1 else 'are'} worse"
    is_open = len(best_names) > 1
    place_text = "" if "target" in curves.column_by_field else " at the same true recall"
    metric_phrase = metric_name and f"{metric_name}{place_text}"
    lead_text = _describe_lead(ranking_rows, len(models_with_flags), metric_phrase)
    reason_texts = [_describe_test(curves), lead_text]
    reason_text = ". ".join(filter(None, reason_texts)) if is_open else ""
    return replace(curves, order=order_text, is_open=is_open, open_reason=reason_text)


def _say_open(model_names: Sequence[str], n_models: int) -> str:
    """Return that none of these models, of so many, is significantly the best."""
    if len(model_names) == 2:
        return f"{_OPEN} between {join_words(model_names)}"
    total_phrase = f" of {n_models}" if len(model_names) < n_models else ""
    return f"{_OPEN} among {len(model_names)}{total_phrase} models"


def _describe_test(curves: ChartCurves) -> str:
    """Return why intervals may lie apart although models at a target do not differ significantly."""
    targets = curves.curve_rows["target"].to_list() if "target" in curves.column_by_field else []
    criteria = {target["criterion"] for target in targets}
    rate_names = [
        name_metric_of_target(criterion) for criterion in criteria if criterion in TARGET_KINDS
    ]
    if len(rate_names) != 1:
        return ""
    return (
        f"Models are compared at the same true {rate_names[0]}, which is less certain than the "
        "precision of one threshold"
    )


def _describe_lead(ranking_rows: pl.DataFrame, n_models: int, metric_phrase: str | None) -> str:
    """Return how far the first model of a ranking is ahead, or without one number what is in doubt."""
    first_rows = ranking_rows.filter(pl.col("rank") == 1).unique("eta", maintain_order=True).to_dicts()
    if len(first_rows) > 1 or metric_phrase is None:
        doubt_names = {first_row["doubt"] for first_row in first_rows if first_row.get("doubt")}
        doubt_texts = [*map(number_words.explain_doubt, sorted(doubt_names))]
        return f"The comparison of models is in doubt: {join_words(doubt_texts)}" if doubt_texts else ""
    lead_columns = ("behind", "behind_high", "behind_low")
    lead_and_ends = [
        -first_row[model_name]
        for first_row in first_rows
        for model_name in lead_columns
        if first_row.get(model_name) is not None
    ]
    if len(lead_and_ends) < len(lead_columns):
        return ""
    model_name = name_with_column("group", "model", first_rows[0]["model"])
    lead_text = number_words.say_lead(lead_and_ends, model_name, n_models, first_rows[0].get("doubt"))
    return f"Difference in {metric_phrase}: {lead_text}"


def open_title(sentence: str, curves: ChartCurves) -> str:
    """Return a sentence on values, after that it may be chance, or who is best by a test."""
    if may_be_chance(curves):
        return say_chance(sentence)
    is_at_place = sentence.startswith(("At ", "With "))  # where models are tested, and not by areas
    return say_order(sentence, curves) if is_at_place else sentence


def say_order(sentence: str, curves: ChartCurves) -> str:
    """Return a sentence on values of models, after who is best; unchanged without a test."""
    if not (sentence and curves.order):
        return sentence
    order_text = go_on(curves.order) if curves.order.startswith(_OPEN) else curves.order
    # A place is such as `At 50% recall`, where models are tested.
    place_text, comma, rest_of_sentence = sentence.partition(", ")
    is_at_place = comma and place_text.startswith(("At ", "With "))
    return (
        f"{place_text}, {order_text}: {rest_of_sentence}"
        if is_at_place
        else f"{curves.order}: {go_on(sentence)}"
    )


def say_chance(sentence: str) -> str:
    """Return a sentence on values of curves, after that all of them may be chance; empty without it."""
    return f"The scores may be no better than chance: {go_on(sentence)}" if sentence else ""


def say_chance_of_alerts(sentence: str, eta: float) -> str:
    """Return a sentence on precision at a prevalence, after that it may be chance; empty without it."""
    chance_text = number_words.say_precisions([eta])[0]
    opening = "Alerts may be no better than chance"
    return f"{opening}: {go_on(sentence)}; at random {chance_text}" if sentence else ""


def may_be_chance(curves: ChartCurves) -> bool:
    """Return whether no line is above chance where half of the positives are found."""
    return are_at_chance(find_half(curves), curves)


def are_at_chance(points: pl.DataFrame, curves: ChartCurves) -> bool:
    """Return whether no line flags positives significantly more or less often than negatives.

    That is compared at a point of each (Newcombe 1998), at 95% for all together.
    """
    rate_columns = ["recall", "fpr", "n_pos", "n_neg"]
    points = points.join(curves.curve_rows.select("curve", *rate_columns[2:]), on="curve")
    rate_tuples = (
        points.select(rate_columns).drop_nulls().rows() if {*rate_columns} <= {*points.columns} else []
    )
    if len(rate_tuples) < len(curves.curve_rows) or not all(
        n_pos and n_neg for *_, n_pos, n_neg in rate_tuples
    ):
        return False
    return bool(rate_tuples) and all(
        _are_alike(*rates_and_sizes, confidence=1 - 0.05 / len(rate_tuples))
        for rates_and_sizes in rate_tuples
    )


def _are_alike(recall: float, fpr: float, n_pos: float, n_neg: float, *, confidence: float) -> bool:
    """Return whether two shares of so many examples do not differ significantly."""
    recall_low, recall_high = find_limits(recall, n_pos, confidence)
    fpr_low, fpr_high = find_limits(fpr, n_neg, confidence)
    if recall == fpr == 1:  # all are flagged: other thresholds, with less recall, may be better
        return False
    if recall >= fpr:
        return recall - fpr <= math.hypot(recall - recall_low, fpr_high - fpr)
    return fpr - recall <= math.hypot(recall_high - recall, fpr - fpr_low)


def include_chance(spans: Sequence[tuple[float | None, float | None]], eta: float | None) -> bool:
    """Return whether all intervals of precision include the prevalence, which it has by chance."""
    known_spans = [(low, high) for low, high in spans if low is not None and high is not None]
    if eta is None or not known_spans or len(known_spans) < len(spans):
        return False
    return all(low <= eta <= high for low, high in known_spans)


def say_by_metric(metric_name: str, sentence: str) -> str:
    """Return a sentence on who is first, which begins with the metric that models are compared by."""
    # By another one, or at one threshold, another model may be first.
    if not (metric_name and sentence):
        return sentence
    # Else it begins with a name.
    is_own = sentence.startswith((_OPEN, "Which model "))
    return f"By {go_on(metric_name)}, {go_on(sentence) if is_own else sentence}"


def say_trades(metric_name: str, trades: Sequence[Mapping[str, Any]]) -> str:
    """Return where two lines cross, of a few crossings; empty for none, and for many."""
    pair_texts = [f"{trade['below']} and {trade['above']}" for trade in trades]
    if not 1 <= len(trades) <= _MOST_TRADES or sum(map(len, pair_texts)) > 1.5 * _MOST_LETTERS:
        return ""
    first_place, *other_places = [trade["place"] for trade in trades]
    sentence = f"{pair_texts[0]} have equal {go_on(metric_name)} at a prevalence of {first_place}"
    clauses_with_places = zip(pair_texts[1:], other_places, strict=True)
    return "; ".join([sentence, *(f"{clause} at {place}" for clause, place in clauses_with_places)])


def say_swaps(curves: ChartCurves, channels: Channels) -> str:
    """Return where models change places by their values alone; empty in panels."""
    points, color_channel = curves.points.drop_nulls("rank"), channels.color
    if channels.facet is not None or color_channel is None or points.is_empty():
        return ""
    # Equal ranks have one order, or models that are alike would seem to change places.
    ordered_points = points.sort("eta", "rank", "curve")
    curves_of_etas = ordered_points.group_by("eta", maintain_order=True).agg("curve").rows()
    swap_etas_and_pairs = [
        (
            math.sqrt(low_eta * eta),
            set(curves_before[:rank_index] + curves_before[rank_index + 2 :]) ^ set(curves_before),
        )
        for (low_eta, curves_before), (eta, curves_after) in pairwise(curves_of_etas)
        for rank_index in range(len(curves_before) - 1)
        if len(curves_before) == len(curves_after)
        and curves_before[rank_index : rank_index + 2] == curves_after[rank_index : rank_index + 2][::-1]
    ]
    n_changes = sum(
        curves_before != curves_after
        for (_, curves_before), (_, curves_after) in pairwise(curves_of_etas)
    )
    if n_changes == 0:
        return (
            "The order of models is the same at all prevalences shown" if len(curves_of_etas) > 1 else ""
        )
    label_by_curve = color_channel.label_by_curve
    eta_texts_by_pair: dict[str, list[str]] = {}
    for eta, curve_pair in swap_etas_and_pairs:
        pair_names = join_words([label_by_curve[curve] for curve in sorted(curve_pair)])
        eta_texts_by_pair.setdefault(pair_names, []).append(number_words.say_eta(eta))
    is_long = sum(map(len, eta_texts_by_pair)) > 1.5 * _MOST_LETTERS
    if n_changes > _MOST_TRADES or len(swap_etas_and_pairs) != n_changes or is_long:
        return f"The order of {len(label_by_curve)} models changes with the prevalence"
    clauses = [
        f"{curve_pair} near {join_words(places)}" for curve_pair, places in eta_texts_by_pair.items()
    ]
    clauses[0] = clauses[0].replace(" near ", " change places near a prevalence of ", 1)
    return "; ".join(clauses)


def say_better(points: pl.DataFrame, model_names: tuple[str, str]) -> str:
    """Return where a test settles which of two models is better, of rows of `compare`."""
    compared_points = points.drop_nulls("difference").sort("eta")
    differences_and_flags = zip(
        compared_points["difference"], compared_points["significant"].fill_null(False), strict=True
    )
    leader_names = [
        model_names[0 if difference > 0 else 1] if is_settled else ""
        for difference, is_settled in differences_and_flags
    ]
    return _say_runs_of_leaders(
        leader_names, compared_points["eta"].to_list(), "is better", _say_open(model_names, 2)
    )


def _say_runs_of_leaders(
    leader_names: Sequence[str], etas: Sequence[float], verb: str, open_sentence: str
) -> str:
    """Return who leads where, of a name per rising prevalence, which is empty where that is open."""
    if not any(leader_names):
        return open_sentence if leader_names else ""
    if len(set(leader_names)) == 1:
        place_text = f"at a prevalence of {number_words.say_eta(etas[0])}"
        return f"{leader_names[0]} {verb} {place_text if len(etas) == 1 else 'at all prevalences shown'}"
    # Gaps between two runs of one leader are passed over, and the title notes them.
    leader_points = [point for point in zip(leader_names, etas, strict=True) if point[0]]
    leader_runs = _list_runs(*zip(*leader_points, strict=True))
    open_text = "" if all(leader_names) else "; no clear winner elsewhere"
    if len(leader_runs) < len(_list_runs(leader_names, etas)):
        open_text = "; no clear winner at some prevalences"
    elif len(leader_runs) == 1 and (leader_names[0] or leader_names[-1]):
        open_text = f"; {'above' if leader_names[0] else 'below'} that, no clear winner"
    if len(leader_runs) > _MOST_NAMES:
        return f"Which model {verb} changes {len(leader_runs) - 1} times with the prevalence"
    clauses: list[str] = []
    text_of_eta = number_words.map_etas(eta for _, *ends in leader_runs for eta in ends)
    for name, low_eta, high_eta in leader_runs:
        low_text, high_text = text_of_eta[low_eta], text_of_eta[high_eta]
        place_text = f"from {low_text} {'up' if high_eta == etas[-1] else f'to {high_text}'}"
        place_text = f"up to {high_text}" if low_eta == etas[0] else place_text
        is_one = low_eta == high_eta
        if clauses:
            clauses.append(f"{name} {f'at {low_text}' if is_one else place_text}")
        else:
            place_text = f"a prevalence of {low_text}" if is_one else f"prevalences {place_text}"
            clauses.append(f"{name} {verb} at {place_text}")
    return ", ".join(clauses) + open_text


def _list_runs(leader_names: Sequence[str], etas: Sequence[float]) -> list[tuple[str, float, float]]:
    """Return each leader with the first and the last prevalence of a stretch in which it leads."""
    leader_groups = groupby(zip(leader_names, etas, strict=True), key=lambda point: point[0])
    etas_of_leaders = [
        (name, [eta for _, eta in leader_points]) for name, leader_points in leader_groups if name
    ]
    return [(name, run_etas[0], run_etas[-1]) for name, run_etas in etas_of_leaders]


def say_net_benefit(
    channels: Channels, mark_records: Sequence[Mapping[str, Any]], unit_text: str, curves: ChartCurves
) -> str:
    """Return at which risks net benefit is above both alternatives, or its values at a marked risk.

    With intervals that is where these are above them. The points have the column `doubt`.
    """
    n_lines, points = len(curves.curve_rows), curves.points
    has_intervals = "net_benefit_low" in points.columns
    if n_lines == 1 and has_intervals:
        return _say_useful_risks(channels, curves) or _say_benefits(
            channels, mark_records, unit_text, curves
        )
    if mark_records:
        risk = mark_records[0]["threshold_probability"]
        risk_points = points.filter((pl.col("threshold_probability") / risk - 1).abs() < 1e-6)
        n_useful = risk_points.filter(_is_useful(points, 1))["curve"].n_unique() if has_intervals else 0
        noun, above = _name_lines(curves), "significantly above treat-all and treat-none"
        if has_intervals and n_useful == 0:
            place_text = f"at a risk threshold of {number_words.say_target(risk)}"
            return f"No {noun} has a net benefit {above} {place_text}"
        benefits = _say_benefits(channels, mark_records, unit_text, curves)
        owner = f"{n_useful} of {n_lines}" if n_useful < n_lines else "both" if n_lines == 2 else "all"
        return f"{benefits}; {above} for {owner} {noun}s" if benefits and n_useful else benefits
    has_line_each = n_lines > 1 and curves.count_distinct(curves.group_fields) == n_lines
    return _say_useful_risks(channels, curves) if has_line_each else ""


def _say_benefits(
    channels: Channels, mark_records: Sequence[Mapping[str, Any]], unit_text: str, curves: ChartCurves
) -> str:
    """Return the net benefit of each line at the marked risk; empty without it."""
    if not mark_records:
        return ""
    risk_text = number_words.say_target(mark_records[0]["threshold_probability"])
    is_one = len({mark["net_benefit_label"] for mark in mark_records}) == 1
    unit_place = "" if is_one else f" in {unit_text}"
    sentence_start = f"At a risk threshold of {risk_text}, net benefit{unit_place} is"
    curve_numbers = curves.curve_rows["curve"].to_list()
    benefit_of_curve, text_by_curve = (
        dict(zip(curve_numbers, (mark[name] for mark in mark_records), strict=True))
        for name in ("net_benefit", "net_benefit_label")
    )
    return say_each(
        sentence_start,
        unit_text if is_one else "",
        benefit_of_curve,
        name_curves(curves, channels),
        given_text_by_curve=text_by_curve,
    )


def _name_lines(curves: ChartCurves) -> str:
    """Return what lines of one prevalence are: `model`, `group`, or `line` of models in groups."""
    columns = {curves.column_by_field[field] for field in curves.group_fields}
    return "model" if columns == {"model"} else "line" if "model" in columns else "group"


def _say_useful_risks(channels: Channels, curves: ChartCurves) -> str:
    """Return at which risks net benefit is above both alternatives in all lines, or in which at some."""
    n_lines, points, noun = len(curves.curve_rows), curves.points, _name_lines(curves)
    is_sure = "net_benefit_low" in points.columns
    risk_rows = points.with_columns(useful=_is_useful(points, n_lines))
    risk_rows = risk_rows.group_by("threshold_probability").agg(n_useful=pl.col("useful").sum())
    risk_rows = risk_rows.sort("threshold_probability").with_columns(run=pl.col("n_useful").rle_id())
    most = max(risk_rows["n_useful"].to_list(), default=0)
    above = f"{'significantly ' if is_sure else ''}above treat-all and treat-none"
    if most == 0:
        owner = f" for any {noun}" if n_lines > 1 else ""
        return f"At no risk is net benefit {above}{owner}" if is_sure else ""
    if most < n_lines:
        useful_curves = {*points.filter(_is_useful(points, n_lines))["curve"]}
        names = name_curves(curves, channels)
        name_lists: dict[bool, list[str]] = {True: [], False: []}
        for curve in curves.curve_rows["curve"]:
            name_lists[curve in useful_curves].append(names.get(curve, ""))
        owners = f"{len(useful_curves)} of {n_lines} {noun}s"
        for start, labels in ((f"all {noun}s but ", name_lists[False]), ("", name_lists[True])):
            if labels and all(labels) and sum(map(len, labels)) <= 1.5 * _MOST_LETTERS:
                owners = f"{start}{join_words(labels)}"
        return f"Net benefit is {above} at some risks for {owners}"
    stretch_text = _say_longest_stretch(risk_rows.filter(pl.col("n_useful") == most))
    if not stretch_text:
        return ""
    lines_text = {1: "", 2: f" for both {noun}s"}.get(n_lines, f" for all {n_lines} {noun}s")
    return f"Net benefit is {above}{lines_text} {stretch_text}"


def _is_useful(points: pl.DataFrame, n_lines: int) -> pl.Expr:
    """Whether net benefit is above both alternatives: its interval, or without one what is known."""
    # Of several lines, which are small, it is so far above them that one sees it.
    alternative, benefit = pl.max_horizontal(pl.lit(0.0), "treat_all"), pl.col("net_benefit")
    is_above = ~pl.col("doubt") & (benefit > alternative)
    if "net_benefit_low" in points.columns:
        is_above = pl.col("net_benefit_low") > alternative
    if n_lines > 1:
        is_above &= benefit - alternative >= _SEEN_GAIN * benefit.max().over("curve")
    return is_above.fill_null(False)


def _say_longest_stretch(risk_rows: pl.DataFrame) -> str:
    """Return `at risks from 3% to 60%` of the longest run, unless the others make up more than it."""
    longest_run = risk_rows.filter(pl.len().over("run") == pl.len().over("run").max())
    is_most = 2 * len(longest_run) >= len(risk_rows)
    if longest_run["run"].n_unique() != 1 or len(longest_run) == 1 or not is_most:
        return ""
    risks = longest_run["threshold_probability"]
    low, high = map(number_words.say_target, (risks[0], risks[-1]))
    return f"at risks from {low} to {high}"


def say_each_of_100(
    grid_by_curve: Mapping[int, IconGrid], channels: Channels, curves: ChartCurves
) -> str:
    """Return the true positives in each of few grids, the most first, or in the extreme ones."""
    if "target" in curves.column_by_field and curves.count_distinct(curves.group_fields) > 1:
        targets = curves.curve_rows["target"].to_list()  # one of which is compared
        first = next((target for target in targets if target["criterion"] == "recall"), targets[0])
        is_first = pl.Series([target == first for target in targets])
        curves = curves.pick(curves.curve_rows["curve"].filter(is_first).to_list())
    facet_channel, n_positives = channels.facet, curves.curve_rows["n_pos"]
    label_by_curve = dict.fromkeys(curves.curve_rows["curve"], "")
    if facet_channel is not None:
        label_by_curve = {curve: facet_channel.label_by_curve[curve] for curve in label_by_curve}
    grid_by_label = {label: grid_by_curve[curve] for curve, label in label_by_curve.items()}
    labels = [
        label for label in (facet_channel.labels if facet_channel else [""]) if label in grid_by_label
    ]
    if not labels:
        return ""
    if len(set(labels)) > 1:
        labels.sort(key=lambda label: -grid_by_label[label].share)
    grids = [grid_by_label[label] for label in labels]
    are_few = bool((n_positives < FEW_POSITIVES).fill_null(False).all())
    # Of grids of as many alerts as one right one takes, an interval is of that number.
    if are_few and not all(grid.is_of_100 and grid.span for grid in grids):
        return say_too_few(n_positives, "precision is known only roughly")
    sentence = _say_grids(labels, grids, facet_channel.fields if facet_channel else [], are_few=are_few)
    if not are_few:
        return sentence
    count_text = _count_positives(n_positives)
    sets_text = "test sets have" if " to " in count_text else "test set has"
    return f"{sentence} (the {sets_text} only {count_text})"


def _say_grids(
    labels: Sequence[str], grids: Sequence[IconGrid], fields: Sequence[str], *, are_few: bool
) -> str:
    """Return the true positives in grids, the most first, of labels of these fields."""
    places = [f" for {label}" if label else "" for label in labels]
    if fields == ["eta"]:
        places = [f" at a prevalence of {labels[0]}", *(f" at {label}" for label in labels[1:])]
    is_of_100 = all(grid.is_of_100 for grid in grids)
    texts = [grid.words for grid in grids]
    if is_of_100 and len(grids) > 1:
        texts = number_words.say_shares([grid.share for grid in grids])
    are_many = len(grids) > _MOST_NAMES or sum(map(len, labels)) > _MOST_LETTERS
    if are_few and not are_many:
        texts = [f"{grid.span}%" for grid in grids]
    labels_by_text: dict[str, list[str]] = {}
    for label, text in zip(labels, texts, strict=True):
        labels_by_text.setdefault(text, []).append(label)
    first, *_, last = texts * 2  # the same of one
    if fields != ["eta"]:  # grids that read alike are together
        places = [f" for {join_words(names)}" if all(names) else "" for names in labels_by_text.values()]
        texts = [*labels_by_text]
    if len(labels_by_text) == 1 < len(grids):
        texts, places = [first], [""]
    elif are_many:
        n_letters = [sum(map(len, labels_by_text[text])) for text in (first, last)]
        n_names = max(len(labels_by_text[text]) for text in (first, last))
        has_room = sum(n_letters) <= _MOST_LETTERS and n_names <= _MOST_NAMES
        low_place, high_place = (places[-1], places[0]) if has_room else ("", "")
        unit = " of alerts" if is_of_100 else ""
        return f"True positives range from {last}{unit}{low_place} to {first}{high_place}"
    further_clauses = [*map("{}{}".format, texts[1:], places[1:])]
    verb = "of alerts are true positives" if grids[0].is_of_100 else "alerts is a true positive"
    has_span = is_of_100 and len(grids) == 1 and not are_few
    value_text = f"{texts[0]} {verb}{places[0]}"
    return join_clauses(
        [number_words.join_value(value_text, grids[0].span if has_span else ""), *further_clauses]
    )


def say_reliability(
    range_rows: pl.DataFrame, curves: ChartCurves, channels: Channels, place_text: str = ""
) -> str:
    """Return where scores are off as probabilities, of few groups each, or in which of many."""
    # `place_text` is where positives are counted, if not at the prevalence of the chart.
    sums = pl.col("expected", "positives").sum()
    clause_by_curve: dict[int, str] = {}
    ranges_of_curve = range_rows.group_by("curve", maintain_order=True)
    for curve_number, signs, first_scores, are_one_score, expected, n_positives in ranges_of_curve.agg(
        "off", "first", "is_one_score", sums
    ).rows():
        clause_by_curve[curve_number] = _say_ranges_off(signs, first_scores, are_one_score)
        ratio = expected / n_positives if n_positives else math.inf
        if any(signs) and not 1 / _FAR_OFF < ratio < _FAR_OFF:
            side = "high" if ratio > 1 else "low"
            expected_text = f"{number_words.say_count(expected)} positives expected{place_text}"
            observed_text = f"{format_count(n_positives)} observed"
            clause_by_curve[curve_number] = f"too {side}: {expected_text}, {observed_text}"
    if not clause_by_curve:
        return ""
    if not any(clause_by_curve.values()):
        if curves.has_few_positives:
            n_pos_text = _count_positives(curves.curve_rows["n_pos"])
            return f"With {n_pos_text}, no range of scores is significantly off"
        return "No range of scores is significantly off"
    if channels.facet is None:
        return f"Scores are {next(iter(clause_by_curve.values()))}"
    return _say_scores_of_groups(clause_by_curve, channels.facet.label_by_curve)


def _say_scores_of_groups(clause_by_curve: Mapping[int, str], name_by_curve: Mapping[int, str]) -> str:
    """Return where the scores of each of few groups are off, or of which of many they are not."""
    n_groups = len(clause_by_curve)
    if not are_short([*clause_by_curve], name_by_curve):
        off, calibrated = (
            [name_by_curve[curve] for curve, clause in clause_by_curve.items() if bool(clause) == side]
            for side in (True, False)
        )
        owner = f"{len(off)} of {n_groups} groups" if calibrated else f"all {n_groups} groups"
        if len(off) <= len(calibrated) and sum(map(len, off)) <= _MOST_LETTERS:
            owner = join_words(off)
        elif calibrated and sum(map(len, calibrated)) <= _MOST_LETTERS:
            owner = f"all groups but {join_words(calibrated)}"
        names_by_kind: dict[str, list[str]] = {}
        for curve, clause in clause_by_curve.items():
            has_both = " low" in clause and " high" in clause
            kind = "too low and too high" if has_both else clause[:8].strip(" :")
            if clause:
                names_by_kind.setdefault(kind, []).append(name_by_curve[curve])
        if len(names_by_kind) == 1:
            return f"Scores are significantly {next(iter(names_by_kind))} in {owner}"
        kinds_by_size = sorted(names_by_kind.items(), key=lambda kind_names: -len(kind_names[1]))
        if owner == join_words(off):
            kinds_text = ", ".join(f"{kind} in {join_words(names)}" for kind, names in kinds_by_size)
            return f"Scores are significantly {kinds_text}"
        counts_text = ", ".join(f"{kind} in {len(names)}" for kind, names in kinds_by_size)
        return f"Scores are significantly off in {owner}: {counts_text}"
    names_by_clause: dict[str, list[str]] = {}
    for curve, clause in clause_by_curve.items():
        names_by_clause.setdefault(clause or "not significantly off", []).append(name_by_curve[curve])
    sentences = [
        f"scores of {join_words(names)} are {clause}" for clause, names in names_by_clause.items()
    ]
    return f"S{'; '.join(sentences)[1:]}"


def _say_ranges_off(
    range_signs: Sequence[int], first_scores: Sequence[float], are_one_score: Sequence[bool]
) -> str:
    """Return where scores are too low, and where too high; empty if they are not off in any range."""
    range_runs = [
        [range_number for range_number, _ in range_numbers]
        for _, range_numbers in groupby(enumerate(range_signs), key=lambda pair: pair[1])
    ]
    signed_runs = [
        (range_signs[range_numbers[0]], range_numbers[0], range_numbers[-1] + 1)
        for range_numbers in range_runs
        if range_signs[range_numbers[0]]
    ]
    if len(signed_runs) > 2:
        counted_sides = Counter(
            "low" if sign > 0 else "high" for sign in range_signs if sign
        ).most_common()
        (first_side, n_ranges_of_first), *other_sides = counted_sides
        other_sides_text = "".join(
            f" and too {side_word} in {n_ranges}" for side_word, n_ranges in other_sides
        )
        return f"too {first_side} in {n_ranges_of_first} of {len(range_signs)} ranges{other_sides_text}"
    edge_text_by_range = dict(
        zip(range(len(range_signs)), number_words.say_shares(first_scores), strict=True)
    )
    clauses = []
    for sign, start, end in signed_runs:
        range_text = f"from {edge_text_by_range[start]} to {edge_text_by_range.get(end)}"
        range_text = f"below {edge_text_by_range.get(end)}" if start == 0 else range_text
        range_text = f"above {edge_text_by_range[start]}" if end == len(range_signs) else range_text
        is_one_score = end - start == 1 and are_one_score[start]
        range_text = f"at {edge_text_by_range[start]}" if is_one_score else range_text
        range_text = "everywhere" if end - start == len(range_signs) else range_text
        clauses.append((f"{'too low' if sign > 0 else 'too high'} ", range_text))
    if len({side_word for side_word, _ in clauses}) == 1 < len(clauses):
        clauses[1] = "", clauses[1][1]
    return " and ".join(map("".join, clauses))


def say_by_eta(
    sentence_start: str,
    value_by_curve: Mapping[int, float],
    curves: ChartCurves,
    channels: Channels,
    *,
    say_numbers: number_words.SayShares,
) -> str:
    """Return `start 98% for A and 88% for B at a prevalence of 1 in 2, 3% and 2% at 1 in 1,000`."""
    # Only the lines of the greatest and the least prevalence are written, in one unit unless they are
    # apart, in panels.
    eta_by_curve = dict(curves.curve_rows.select("curve", "eta").rows())
    color, etas = channels.color, (max(eta_by_curve.values()), min(eta_by_curve.values()))
    name_by_curve = {} if color is None or color.fields == ["eta"] else color.label_by_curve

    def say_together(curve_numbers: Sequence[int]) -> list[str]:
        return say_numbers([value_by_curve[curve] for curve in curve_numbers])

    curve_lists_of_etas, range_flags = zip(
        *(
            _pick_told(
                {n: x for n, x in value_by_curve.items() if eta_by_curve[n] == eta},
                name_by_curve,
                say_together,
                2,
            )
            for eta in etas
        ),
        strict=True,
    )
    first_curves = [[curves[0] for curves in curve_lists] for curve_lists in curve_lists_of_etas]
    text_by_curve: dict[int, str] = {}
    for curve_numbers in first_curves if channels.facet else [first_curves[0] + first_curves[1]]:
        text_by_curve |= dict(zip(curve_numbers, say_together(curve_numbers), strict=True))
    clauses = []
    for curve_lists, first_curve_numbers, is_range in zip(
        curve_lists_of_etas, first_curves, range_flags, strict=True
    ):
        value_texts = [text_by_curve[curve] for curve in first_curve_numbers]
        if is_range and len(set(value_texts)) > 1:
            clauses.append(f"from {' to '.join(_name_ends(curve_lists, value_texts, name_by_curve))}")
        else:
            clauses.append(_join_named(curve_lists, value_texts, name_by_curve))
    common_eta, rare_eta = number_words.say_etas(etas)
    if clauses[0].startswith("from ") and sentence_start.endswith(" is"):
        sentence_start = f"{sentence_start[:-3]} ranges"
    joining_word = ";" if any(" and " in clause or "from " in clause for clause in clauses) else " and"
    common_text = f"{sentence_start} {clauses[0]} at a prevalence of {common_eta}"
    return f"{common_text}{joining_word} {clauses[1]} at {rare_eta}"


def say_values(
    sentence_start: str,
    value_by_curve: Mapping[int, float],
    curves: ChartCurves,
    channels: Channels,
    *,
    say_numbers: number_words.SayShares = number_words.say_shares,
) -> str:
    """Return what each line has, or of many prevalences the lines at both ends."""
    # Empty where neither names nor prevalences distinguish the lines.
    facet_channel, etas = channels.facet, curves.curve_rows["eta"]
    is_by_eta = facet_channel is None or facet_channel.fields == ["eta"]
    name_by_curve, n_groups = name_curves(curves, channels), curves.count_distinct(curves.group_fields)
    if etas.n_unique() == 1 and (is_by_eta or name_by_curve):
        return say_each(sentence_start, "", value_by_curve, name_by_curve, say_numbers)
    if not is_by_eta or len(etas) != etas.n_unique() * n_groups:
        return ""  # each group at its own prevalence: such values cannot be compared
    return say_by_eta(sentence_start, value_by_curve, curves, channels, say_numbers=say_numbers)


def say_point(threshold_text: str | None, precision: float, recall: float) -> str:
    """Return what one point means, as a sentence."""
    opening = f"At threshold {threshold_text}, precision" if threshold_text else "Precision"
    precision_text, recall_text = number_words.say_shares([precision, recall])
    if 0 < precision < number_words.RARELY_RIGHT:
        precision_text = number_words.say_precisions([precision])[0]
    return f"{opening} is {precision_text} and recall {recall_text}"


def say_half(channels: Channels, curves: ChartCurves, y: str = "precision") -> str:
    """Return precision, or fdr, where lines find half of the positives; empty if not known well."""
    half_points, etas = find_known_half(curves), curves.curve_rows["eta"]
    if half_points.is_empty() or not etas.is_between(0, 1).all():
        return say_few_false_alerts(curves, channels)
    is_precision = y == "precision"
    subject = "precision is" if is_precision else "the false discovery rate is"
    return say_values(
        f"At {say_reached(half_points['recall'])}, {subject}",
        dict(half_points.select("curve", y).rows()),
        curves,
        channels,
        say_numbers=number_words.say_precisions if is_precision else number_words.say_shares,
    )


def say_threshold_of_half(channels: Channels, curves: ChartCurves) -> str:
    """Return the same as `say_half`, but of a single line with its threshold."""
    half_points = find_known_half(curves)
    if len(half_points) != 1:
        return say_half(channels, curves)
    [half_recall_point] = half_points.to_dicts()
    threshold_text = number_words.say_threshold(
        half_recall_point["threshold"], [half_recall_point[LOWER]]
    )
    return say_point(threshold_text, half_recall_point["precision"], half_recall_point["recall"])


def say_areas(
    area_name: str, area_by_curve: Mapping[int, float], curves: ChartCurves, channels: Channels
) -> str:
    """Return the areas of few lines, or the range of those of panels, if these can be compared."""
    facet_channel, curve_rows = channels.facet, curves.curve_rows
    known_area_by_curve = {
        curve: area_by_curve[curve] for curve in curve_rows["curve"] if curve in area_by_curve
    }
    if not known_area_by_curve or len(known_area_by_curve) < len(curve_rows):
        return ""
    if facet_channel is not None and (
        not facet_channel.head_by_label or len(known_area_by_curve) < _FEWEST_PANELS
    ):
        return ""
    if "eta" in curves.column_by_field and curve_rows["eta"].n_unique() > 1:
        return ""  # areas at different prevalences
    name_by_curve = name_curves(curves, channels)
    return say_each(f"{area_name} is", "", known_area_by_curve, name_by_curve, number_words.say_areas)


def say_alarms(curves: ChartCurves, channels: Channels, rate_name: str, time_name: str) -> str:
    """Return which series of `monitor` have an alarm, and from where on: what its test settles."""
    change_word = "risen" if "positive" in rate_name.lower() or rate_name.lower() == "fpr" else "fallen"
    series_by_curve = {
        curve: rows.sort("period")
        for (curve,), rows in curves.points.group_by("curve", maintain_order=True)
    }
    n_series = len(series_by_curve)
    rows_by_curve = {
        curve: rows
        for curve, rows in series_by_curve.items()
        if rows["overall"].count() and rows["alarm"].count()
    }
    if series_by_curve and not rows_by_curve:
        is_empty = curves.points["overall"].count() == 0
        missing_text = f"no {time_name} has a value" if is_empty else "the reference has no value"
        return f"{rate_name} is not tested: {missing_text}"
    n_untested = n_series - len(rows_by_curve)
    untested_text = f"; no value to test in {n_untested} of {n_series} series" if n_untested else ""
    change_by_curve = {
        curve: _find_change(rows, change_word)
        for curve, rows in rows_by_curve.items()
        if rows["alarm"].any()
    }
    label_channel = channels.color or channels.facet
    if not change_by_curve:
        side_text = "above" if change_word == "risen" else "below"
        references = curves.points["reference"].drop_nulls().unique().to_list()
        value_text = f" of {number_words.say_share(references[0])}" if len(references) == 1 else ""
        sentence = f"{rate_name} is not significantly {side_text} the reference{value_text}"
    elif n_series == 1 or label_channel is None:
        [(curve, change), *_] = change_by_curve.items()
        sentence = _say_change(rows_by_curve[curve], change, rate_name, change_word, time_name)
    elif are_short([*change_by_curve], label_channel.label_by_curve):
        label_by_curve = label_channel.label_by_curve
        sentence = _say_changes(change_by_curve, label_by_curve, rate_name, change_word, time_name)
    else:
        n_series_back = sum(change.is_over for change in change_by_curve.values())
        back_text = f", and is back in {n_series_back} of them" if n_series_back else ""
        n_text = f"{len(change_by_curve)} of {n_series}"
        sentence = f"{rate_name} has {change_word} in {n_text} series{back_text}"
    return f"{sentence}{untested_text}"


_PAST_OF_CHANGE = {"fallen": "fell", "risen": "rose"}
_FEWEST_GOOD = 3  # latest periods, at least, that are mentioned as back after an alarm


class _Change(NamedTuple):
    """The likely change of a series with an alarm."""

    start: Any  # the period with which it began
    before: float | None  # the mean of all earlier periods, if there are any
    since: float  # the mean from the start to the last period
    reference: float
    has_moved: bool  # whether the mean is now worse than before
    is_past: bool  # whether it is not worse than the reference
    n_back: int  # how many of the latest periods are not worse than the reference, if they are several

    @property
    def is_over(self) -> bool:
        """Whether the rate is back at the reference, by its latest periods or by its mean."""
        return self.n_back > 0 or (self.is_past and not self.has_moved)


def _find_change(rows: pl.DataFrame, change_word: str) -> _Change:
    """Return the likely change of one series, whose rows are in order."""
    start = rows["since"].drop_nulls()[0]
    overall_before = rows.filter(pl.col("time") < start)["overall"].drop_nulls().tail(1).to_list()
    overall_since, reference = rows["overall_since"].drop_nulls()[-1], rows["reference"][0]

    def is_worse_than(value: float) -> bool:
        return bool(overall_since > value) if change_word == "risen" else bool(overall_since < value)

    has_moved = bool(overall_before) and is_worse_than(overall_before[0])
    is_past = not is_worse_than(reference)
    n_back = count_periods_back(rows, is_rise=change_word == "risen")
    return _Change(
        start,
        overall_before[0] if overall_before else None,
        overall_since,
        reference,
        has_moved,
        is_past,
        n_back,
    )


def count_periods_back(rows: pl.DataFrame, *, is_rise: bool) -> int:
    """Return how many of the latest periods are not worse than the reference; 0 if they are few."""
    known_rows = rows.sort("period").drop_nulls("value")
    excess_expr = pl.col("value") - pl.col("reference")
    worse_flags = known_rows.select(excess_expr > 0 if is_rise else excess_expr < 0).to_series()
    n_good_periods = next(
        (
            n_periods
            for n_periods, is_period_worse in enumerate(worse_flags.reverse())
            if is_period_worse
        ),
        len(worse_flags),
    )
    return n_good_periods if n_good_periods >= _FEWEST_GOOD else 0


def _say_changes(
    change_by_curve: Mapping[int, _Change],
    name_by_curve: Mapping[int, str],
    rate_name: str,
    change_word: str,
    time_name: str,
) -> str:
    """Return which of several series have changed, and from where on."""
    side_word = "above" if change_word == "risen" else "below"
    names_by_clause: dict[tuple[str, str], list[str]] = {}
    for curve, change in change_by_curve.items():
        verb = "was temporarily" if change.is_past or change.n_back else "is"
        clause = f"{verb} {side_word} the reference for", _say_start(change, time_name)
        if change.has_moved:
            verb = _PAST_OF_CHANGE[change_word] if change.n_back else f"has {change_word}"
            start_text = f"probably {_place_in_time(time_name, change.start)}"
            clause = f"{verb} for", f"{start_text}{', and is back' if change.n_back else ''}"
        names_by_clause.setdefault(clause, []).append(name_by_curve[curve])
    clauses = [
        f"{verb} {join_words(names)}, {start_clause}"
        for (verb, start_clause), names in names_by_clause.items()
    ]
    return f"{rate_name} {'; it '.join(clauses)}"


def _place_in_time(time_name: str, start: object) -> str:
    """Return `in week 7`, or `on day 2026-01-01`."""
    return f"{'on' if time_name in _DAYS else 'in'} {time_name} {start}"


def _say_start(change: _Change, time_name: str) -> str:
    """Return `probably from week 7 on`, without `probably` for the first period."""
    probably_word = "" if change.before is None else "probably "
    return f"{probably_word}from {time_name} {change.start} on"


def _say_change(
    rows: pl.DataFrame, change: _Change, rate_name: str, change_word: str, time_name: str
) -> str:
    """Return by how much the rate of one series has changed, from before a start, or the reference."""
    side_word = "above" if change_word == "risen" else "below"
    if change.n_back and (change.has_moved or not change.is_past):
        past_text = (
            _PAST_OF_CHANGE[change_word] if change.has_moved else f"was {side_word} the reference"
        )
        start_text = f"probably {_place_in_time(time_name, change.start)}"
        back_text = f"its last {change.n_back} values are not {side_word} the reference"
        return f"{rate_name} {past_text}, {start_text}; {back_text}"
    if change.has_moved:
        before_text, since_text = number_words.say_shares([change.before or 0.0, change.since])
        if before_text != since_text:
            values_text = f"from {before_text} to {since_text}"
            start_text = _place_in_time(time_name, change.start)
            return f"{rate_name} has {change_word} {values_text}, probably {start_text}"
    since_text, reference_text = number_words.say_shares([change.since, change.reference])
    start_text = _say_start(change, time_name)
    place_text = f"{side_word} the reference of {reference_text}"
    if change.is_past:
        past_text = f"{rate_name} was temporarily {place_text}, {start_text}"
        return f"{past_text}; the mean since then is {since_text}"
    return f"{rate_name} is {since_text}, {place_text}, {start_text}"
