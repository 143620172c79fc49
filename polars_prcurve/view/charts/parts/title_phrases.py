"""Phrases that titles of charts are made of: what is drawn, in numbers, and what a test settles.

The highest number stands first; without a test behind it a title names no model as better.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.doubts import EQUAL_SCORES
from polars_prcurve.core.confidence.rate_intervals import find_wilson_ends, z_value
from polars_prcurve.core.ground.message_text import add_noun, join_words, name_groups
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from polars_prcurve.view.charts.parts import doubt_of_points, points_to_draw
from polars_prcurve.view.charts.parts.chart_axes import LOG_BELOW_ETA
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, check_table
from polars_prcurve.view.charts.parts.colors_and_panels import Channel, Channels
from polars_prcurve.view.charts.parts.names_and_numbers import format_range, name_with_column
from polars_prcurve.view.words import number_words
from polars_prcurve.view.words.number_words import FEW_FALSE_POSITIVES, FEW_POSITIVES
from polars_prcurve.view.words.shown_names import name_metric_of_target

_OPEN = "No clear winner"  # how titles begin if none of several models is significantly the best
MOST_NAMES = 3  # lines, at most, that a title names one by one
MOST_LETTERS = 76  # letters of their names together, at most, so that the title has two rows
MOST_TRADES = 2  # crossings, at most, that a title names
_FEWEST_PANELS = 3  # lines in panels whose range of areas is in the title; two are read at once
_AT_FOOT = 0.05  # precision below which a line lies at the foot of a linear axis
_DENSE = 1.4  # times the one before it, at most, is each prevalence of a grid that has edges of leads
_APART = 0.05  # recalls so far apart are in a title: values at them are not those of one recall
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
    return f"With {count_positives(n_positives)}, {go_on(fact)}"


def count_positives(n_positives: pl.Series) -> str:
    """Return how many positives the test set has, or each one of several: `12 positives`."""
    return add_noun(format_range(n_positives), "positive")


def find_wilson_limits(share: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the limits of a share of n examples (Wilson 1927)."""
    return find_wilson_ends(share * n, n, z_value(confidence))


def _find_half_limits(n_positives: float) -> tuple[float, float]:
    """Return the 95% limits that `operating_points(recall=0.5)` has for recall."""
    # The threshold was chosen on a positive: the low limit is that of half a positive less.
    low, _ = find_wilson_limits((0.5 * n_positives - 0.5) / n_positives, n_positives)
    return low, find_wilson_limits(0.5, n_positives)[1]


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
    is_in_doubt = doubt_flags.all() if n_groups > MOST_NAMES else doubt_flags.any()
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
    """Return whether a line of rare positives, or all, would lie at the foot of a linear axis."""
    # That is so if precision is below 5% where half of the positives are found.
    from polars_prcurve.core.metrics.point_formulas import precision

    known_etas = curves.curve_rows.select("curve", "eta").filter(pl.col("eta").is_between(0, 1, "none"))
    half_points = find_half(curves).select("curve", "recall", "fpr").join(known_etas, on="curve")
    is_low = precision(*map(pl.col, ("recall", "fpr", "eta"))) < _AT_FOOT
    is_rare = pl.col("eta") < LOG_BELOW_ETA
    return bool(half_points.select((is_low & (is_rare | is_low.all())).any()).item())


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
    max_names: int = MOST_NAMES,
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
    is_room_enough = sum(len(name) for end_names in names_at_ends for name in end_names) <= MOST_LETTERS
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
    return all(labels) and len(labels) <= MOST_NAMES and sum(map(len, labels)) <= MOST_LETTERS


def name_curves(
    curves: ChartCurves, channels: Channels, points: pl.DataFrame | None = None
) -> dict[int, str]:
    """Return the name of each curve, or that of its panel if it has one to itself; none without.

    Grey lines, which the chart does not name, have none. With `points`, see `add_recalls`.
    """
    channel: Channel | None = channels.color
    if channel is None and channels.facet:
        has_one_each = len(channels.facet.labels) == len(channels.facet.label_by_curve)
        channel = channels.facet if has_one_each else None
    if channel is None or (channel is channels.color and channels.facet is not None):
        return {}
    label_by_curve = {curve: channel.label_by_curve[curve] for curve in curves.curve_rows["curve"]}
    names = {curve: label for curve, label in label_by_curve.items() if label in channel.shown_labels}
    return names if points is None else add_recalls(names, dict(points["curve", "recall"].rows()))


def add_recalls(
    name_by_curve: Mapping[int, str], recall_by_curve: Mapping[int, float]
) -> dict[int, str]:
    """Return names of lines with the recalls of their points, where ties hold these apart."""
    if not {*name_by_curve} <= {*recall_by_curve}:  # such as without a point at half recall
        return {**name_by_curve}
    recalls = [recall_by_curve[curve] for curve in name_by_curve]
    recall_texts = map(number_words.say_share, recalls)
    named_recalls = zip(name_by_curve.items(), recall_texts, strict=True)
    names = {curve: f"{name} ({text} recall)" for (curve, name), text in named_recalls}
    is_apart = len(names) > 1 and max(recalls) - min(recalls) > _APART
    return names if is_apart and are_short([*names], names) else {**name_by_curve}


def list_firsts(
    points: pl.DataFrame,
    may_be_first: pl.Expr,
    model_column: str,
    name_one: Callable[[Any], str],
    max_names: int = 2,
) -> list[tuple[float, str]]:
    """Return who is significantly first at each prevalence, from those that may be first; else empty."""
    # Without a model that is first anywhere, so many of which one is are named.
    names_by_eta: dict[float, list[str]] = {eta: [] for eta in points["eta"].unique().sort()}
    for eta, model in points.filter(may_be_first).sort(model_column).select("eta", model_column).rows():
        names_by_eta[eta].append(name_one(model))
    has_leader = any(len(names) == 1 for names in names_by_eta.values())
    n_names_told = max_names if points[model_column].n_unique() > 2 and not has_leader else 1
    return [
        (eta, " or ".join(names) if len(names) <= n_names_told else "")
        for eta, names in sorted(names_by_eta.items())
    ]


def say_firsts(leader_of_etas: Sequence[tuple[float, str]], model_names: Sequence[str]) -> str:
    """Return who leads where, of a name per rising prevalence, which is empty where that is open.

    Without a prevalence it is empty.
    """
    etas, leader_names = [eta for eta, _ in leader_of_etas], [name for _, name in leader_of_etas]
    verb = "is better" if len(model_names) == 2 else "is best"
    if any(high > _DENSE * low for low, high in pairwise(etas)):
        return _say_firsts_of_few(leader_of_etas, model_names, verb)
    if not any(leader_names):
        return _say_open(model_names, len(model_names)) if leader_names else ""
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
    if len(leader_runs) > MOST_NAMES:
        return f"Which model {verb} changes {len(leader_runs) - 1} times with the prevalence"
    clauses: list[str] = []
    text_of_eta = _map_edges({eta for _, *ends in leader_runs for eta in ends})
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


def _say_firsts_of_few(
    leader_of_etas: Sequence[tuple[float, str]], model_names: Sequence[str], verb: str
) -> str:
    """Return who leads at which of a few prevalences, and nothing on those between them."""
    text_of_eta = _map_edges([eta for eta, _ in leader_of_etas])
    texts_by_leader: dict[str, list[str]] = {}
    for eta, name in leader_of_etas:
        texts_by_leader.setdefault(name, []).append(text_of_eta[eta])
    open_texts, n_etas = texts_by_leader.pop("", []), len(leader_of_etas)
    if len(texts_by_leader) > MOST_NAMES:
        return f"Which model {verb} changes {len(texts_by_leader) - 1} times or more with the prevalence"

    def place(eta_texts: Sequence[str], opening: str = "") -> str:
        if len(eta_texts) == n_etas:
            return "at both prevalences tested" if n_etas == 2 else f"at all {n_etas} prevalences tested"
        if len(eta_texts) > MOST_NAMES:
            return f"at {len(eta_texts)} of {n_etas} prevalences tested"
        return f"at {opening}{join_words(eta_texts)}"

    if not texts_by_leader:
        return f"{_say_open(model_names, len(model_names))} {place(open_texts)}"
    (first_name, first_texts), *others = texts_by_leader.items()
    opening = "a prevalence of " if len(first_texts) == 1 else "prevalences of "
    clauses = [f"{first_name} {verb} {place(first_texts, opening)}"]
    clauses += [f"{name} {place(eta_texts)}" for name, eta_texts in others]
    return ", ".join(clauses) + (f"; no clear winner {place(open_texts)}" if open_texts else "")


def _map_edges(etas: Iterable[float]) -> dict[float, str]:
    """Return the texts of prevalences between which models lead, as axes write them: `1 in 3.4`."""
    text_of_eta = number_words.map_etas(etas)
    are_round = all(math.isclose(eta, float(f"{eta:.2g}")) for eta in text_of_eta)
    if are_round or not any(text.endswith("%") for text in text_of_eta.values()):
        return text_of_eta
    texts = {eta: number_words.say_eta(eta) for eta in text_of_eta}
    return {
        eta: number_words.glue_numbers(f"1 in {1 / eta:.2g}") if text.endswith("%") else text
        for eta, text in texts.items()
    }


def _list_runs(leader_names: Sequence[str], etas: Sequence[float]) -> list[tuple[str, float, float]]:
    """Return each leader with the first and the last prevalence of a stretch in which it leads."""
    leader_groups = groupby(zip(leader_names, etas, strict=True), key=lambda point: point[0])
    etas_of_leaders = [
        (name, [eta for _, eta in leader_points]) for name, leader_points in leader_groups if name
    ]
    return [(name, run_etas[0], run_etas[-1]) for name, run_etas in etas_of_leaders]


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
    told_eta: float | None = None,
) -> ChartCurves:
    """Return the curves with who is best by the test of a ranking, for titles, and why none may be.

    `metric_name` is what the ranking compares, or None for a chart that does not draw it. With
    `told_eta` it is why none may be near that prevalence.
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
        n_letters = sum(map(len, best_names + worse_names))
        if len(models_with_flags) <= MOST_NAMES and n_letters <= MOST_LETTERS:
            order_text += f"; {join_words(worse_names)} {'is' if len(worse_names) == 1 else 'are'} worse"
    is_open = len(best_names) > 1
    reason_text = _describe_lead(ranking_rows, curves, metric_name, told_eta) if is_open else ""
    return replace(curves, order=order_text, is_open=is_open, open_reason=reason_text)


def _say_open(model_names: Sequence[str], n_models: int) -> str:
    """Return that none of these models, of so many, is significantly the best."""
    if len(model_names) == 2:
        return f"{_OPEN} between {join_words(model_names)}"
    total_phrase = f" of {n_models}" if len(model_names) < n_models else ""
    return f"{_OPEN} among {len(model_names)}{total_phrase} models"


def _describe_lead(
    ranking_rows: pl.DataFrame, curves: ChartCurves, metric_name: str | None, told_eta: float | None
) -> str:
    """Return how far the first model of a ranking is ahead, or without one number what is in doubt."""
    if told_eta:
        etas = ranking_rows["eta"].filter(ranking_rows["eta"] > 0)
        eta = min(etas, key=lambda eta: abs(math.log(eta / told_eta)), default=0.0)
        metric_name = f"{metric_name} at a prevalence of {number_words.say_eta(eta)}"
        ranking_rows = ranking_rows.filter(eta=eta)
        if ranking_rows["may_be_best"].fill_null(True).sum() < 2:
            return ""
    first_rows = ranking_rows.filter(pl.col("rank") == 1).unique("eta", maintain_order=True).to_dicts()
    doubt_names = sorted({row["doubt"] for row in first_rows if row.get("doubt")})
    if EQUAL_SCORES in doubt_names:
        return "Too many cases share a score to compare models reliably"
    if len(first_rows) > 1 or metric_name is None:
        return f"The comparison of models is in doubt: {join_words(doubt_names)}" if doubt_names else ""
    lead_columns = ("behind", "behind_high", "behind_low")
    lead_and_ends = [
        -row[name] for row in first_rows for name in lead_columns if row.get(name) is not None
    ]
    if len(lead_and_ends) < len(lead_columns):
        return ""
    if metric_name == "precision" and "eta" not in curves.curve_rows.columns:
        metric_name += f" {_say_own_eta(first_rows[0]['eta'], curves)}"
    model_name = name_with_column("group", "model", first_rows[0]["model"])
    n_models, doubt_name = ranking_rows["model"].n_unique(), next(iter(doubt_names), None)
    lead_text = number_words.say_lead(lead_and_ends, model_name, n_models, doubt_name)
    targets = curves.curve_rows.get_column("target", default=pl.Series([{"criterion": "recall"}]))
    criteria = {target["criterion"] for target in targets} & {*TARGET_KINDS}
    place_text = f" at the same true {name_metric_of_target(*criteria)}" if len(criteria) == 1 else ""
    place_text += ", less certain than at one threshold" if "target" in curves.column_by_field else ""
    return f"Difference in {metric_name}{place_text}: {lead_text}"


def _say_own_eta(eta: float, curves: ChartCurves) -> str:
    """Return at which prevalence models are compared, in a chart that has none of its own."""
    # Intervals at that of the test set allow for the sample that it is.
    own_etas = curves.curve_rows["own_eta"]
    is_own = own_etas.null_count() == 0 and (own_etas / eta - 1).abs().max() < 1e-9  # type: ignore[operator]
    return (
        "at the test set's own, uncertain prevalence"
        if is_own
        else f"at a prevalence of {number_words.say_eta(eta)}"
    )


def open_title(sentence: str, curves: ChartCurves) -> str:
    """Return a sentence on values, after that they may be chance, or who is best by a test."""
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


def may_be_chance(curves: ChartCurves, points: pl.DataFrame | None = None) -> bool:
    """Return whether no line is significantly above chance, by the test of scores if the table has it.

    Else a point of each, by default at half of the positives, is compared (Newcombe 1998): whether
    positives are flagged as often as negatives, at 95% for all together.
    """
    chance_flags = curves.curve_rows.get_column(ABOVE_CHANCE, default=pl.Series([None]))
    if len(chance_flags) and not chance_flags.null_count():
        return not chance_flags.any()
    points = find_half(curves) if points is None else points
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
    recall_low, recall_high = find_wilson_limits(recall, n_pos, confidence)
    fpr_low, fpr_high = find_wilson_limits(fpr, n_neg, confidence)
    if recall == fpr == 1:  # all are flagged: other thresholds, with less recall, may be better
        return False
    if recall >= fpr:
        return recall - fpr <= math.hypot(recall - recall_low, fpr_high - fpr)
    return fpr - recall <= math.hypot(recall_high - recall, fpr - fpr_low)


def say_by_metric(metric_name: str, sentence: str) -> str:
    """Return a sentence on who is first, which begins with the metric that models are compared by."""
    # By another one, or at one threshold, another model may be first.
    if not (metric_name and sentence):
        return sentence
    # Else it begins with a name.
    is_own = sentence.startswith((_OPEN, "Which model "))
    return f"By {go_on(metric_name)}, {go_on(sentence) if is_own else sentence}"


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
    points: pl.DataFrame | None = None,
) -> str:
    """Return what each line has, or of many prevalences the lines at both ends."""
    # Empty where neither names nor prevalences distinguish the lines.
    facet_channel, etas = channels.facet, curves.curve_rows["eta"]
    is_by_eta = facet_channel is None or facet_channel.fields == ["eta"]
    name_by_curve = name_curves(curves, channels, points)
    n_groups = curves.count_distinct(curves.group_fields)
    is_one_each = len(etas) == n_groups and bool(name_by_curve)  # whose names have the prevalence
    if is_one_each or (etas.n_unique() == 1 and (is_by_eta or name_by_curve)):
        return say_each(sentence_start, "", value_by_curve, name_by_curve, say_numbers)
    if not is_by_eta or len(etas) != etas.n_unique() * n_groups:
        return ""
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
        points=half_points,
    )


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
    if facet_channel is not None and len(known_area_by_curve) < _FEWEST_PANELS:
        return ""
    if "eta" in curves.column_by_field and curve_rows["eta"].n_unique() > 1:
        return ""  # areas at different prevalences
    name_by_curve = name_curves(curves, channels)
    if channels.color is not None and facet_channel is not None:
        name_by_curve = {
            curve: " · ".join(c.label_by_curve[curve] for c in (channels.color, facet_channel))
            for curve in known_area_by_curve
        }
    return say_each(f"{area_name} is", "", known_area_by_curve, name_by_curve, number_words.write_areas)
