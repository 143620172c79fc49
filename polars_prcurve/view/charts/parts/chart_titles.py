"""Titles of charts: what is drawn, in numbers, and what a test behind a chart settles.

Numbers are told in the order of the lines, so that a title without a test names no model as better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.view.charts.parts import point_thinning
from polars_prcurve.view.charts.parts.chart_axes import LOG_BELOW
from polars_prcurve.view.charts.parts.colors_and_panels import Channel, Channels
from polars_prcurve.view.charts.parts.label_formats import LOWER, format_range
from polars_prcurve.view.charts.parts.result_tables import FEW_POSITIVES, ChartCurves
from polars_prcurve.view.words import number_words

if TYPE_CHECKING:
    from polars_prcurve.view.charts.parts.icon_counts import IconGrid

_MOST_NAMES = 3  # lines, at most, that a title tells one by one
_MOST_LETTERS = 60  # letters of their names together, at most, so that the title has two rows
_FEWEST_PANELS = 3  # panels whose range of areas is told; of two, both are read at once
_MOST_LINES = 24  # lines, at most, of which a title tells
_AT_FOOT = 0.05  # precision below which a line lies at the foot of a linear axis
_NEAR_HALF = 0.6  # the recall up to which a published point is said to find half


def find_known_half(curves: ChartCurves) -> pl.DataFrame:
    """Return the rows of `find_half`, or none where they are not known well of all curves."""
    # That is by few positives, fewer than five false positives, or a published point that finds far more
    # than half.
    sizes = curves.per_curve["n_pos"].fill_null(0)
    if not 1 <= len(sizes) <= _MOST_LINES or (sizes < FEW_POSITIVES).any():
        return curves.rows.clear()
    half = find_half(curves)
    is_far = point_thinning.has_points_alone(curves.rows) and (half["recall"] > _NEAR_HALF).any()
    is_unknown = is_far or len(half) < len(sizes) or half["doubt"].fill_null(True).any()
    return half.clear() if is_unknown else half


def find_half(curves: ChartCurves) -> pl.DataFrame:
    """Return the row of each curve at the highest threshold that finds half of the positives."""
    half = point_thinning.find_few_false_alerts(point_thinning.keep_rises(curves.rows)).filter(
        pl.col("recall") >= 0.5
    )
    return half.sort("curve", "recall", maintain_order=True).unique("curve", maintain_order=True)


def lie_at_foot(curves: ChartCurves) -> bool:
    """Return whether a line of rare positives would lie at the foot of a linear axis of precision."""
    # That is so if its precision is below 5 % where half of the positives are found.
    from polars_prcurve.core.metrics.point_formulas import precision

    is_rare = pl.col("eta").is_between(0, LOG_BELOW, "none")
    rare = curves.per_curve.filter(is_rare).select("curve", "eta")
    half = find_half(curves).select("curve", "recall", "fpr").join(rare, on="curve")
    right = precision(*map(pl.col, ("recall", "fpr", "eta")))
    return bool(half.select((right < _AT_FOOT).any()).item())


def is_higher_better(metric: str) -> bool:
    """Return whether more of a curve metric is better; a metric of the user's own says nothing."""
    from polars_prcurve.core.metrics.curve_metric import CurveMetric
    from polars_prcurve.core.metrics.metric_lookup import find_metrics

    try:
        [curve_metric] = find_metrics(metric, CurveMetric)
        return bool(curve_metric.higher_is_better)
    except (PrcError, ValueError):
        return False


def say_each(
    start: str,
    end: str,
    values: Mapping[int, Any],
    names: Mapping[int, str],
    say: number_words.SayShares = number_words.say_shares,
    *,
    span: str = "{} to {}",
) -> str:
    """Return `start 39 % (A) or 37 % (B) end`, in the order of the lines, which tells no best one."""
    # Of many lines, and of those with long names or without names, the range is told, as a `span`.
    values = dict(sorted(values.items()))
    words = say([*values.values()])
    if len(set(words)) > 1 and _are_short([*values], names):
        words = [f"{word} ({names[curve]})" for curve, word in zip(values, words, strict=True)]
    elif len(set(words)) > 1:
        words = [span.format(*say([pick(values.values()) for pick in (min, max)]))]
    text = f"{', '.join(words[:-1])} or {words[-1]}" if len(set(words)) > 1 else words[0]
    return f"{start} {text} {_agree(text, end)}".rstrip()


def _are_short(curves: Sequence[int], names: Mapping[int, str]) -> bool:
    """Return whether a title has room for the names of these curves."""
    labels = [names.get(curve, "") for curve in curves]
    return all(labels) and len(labels) <= _MOST_NAMES and sum(map(len, labels)) <= _MOST_LETTERS


def name_curves(curves: ChartCurves, channels: Channels) -> dict[int, str]:
    """Return the name of each curve, or that of its panel if it has one to itself; none without."""
    channel: Channel | None = channels.color
    if channel is None and channels.facet and len(channels.facet.labels) == len(curves.per_curve):
        channel = channels.facet
    if channel is None or (channel is channels.color and channels.facet is not None):
        return {}
    names = {}
    for curve, label in channel.label_of.items():
        # Titles put names in brackets: `B, 1 in 9` for `B (1 in 9)`.
        name, separator, eta = label.partition(" (1\u00a0in\u00a0")
        names[curve] = f"{name}, 1\u00a0in\u00a0{eta[:-1]}" if separator else label
    return names


def say_firsts(curves: ChartCurves, channels: Channels) -> str:
    """Return where a test settles which model is first, and where it does not; empty without a test."""
    rows, color = curves.rows, channels.color
    is_tested = "resolved" in rows.columns and bool(rows["resolved"].count())
    if channels.facet is not None or color is None or not is_tested:
        return ""
    first_rows = rows.filter((pl.col("rank") == 1) & (pl.col("foot") == 1)).select("eta", "curve")
    leader_of = dict(first_rows.rows())
    etas, n = rows["eta"].unique().sort().to_list(), len(color.label_of)
    leaders = [color.label_of[leader_of[eta]] if eta in leader_of else "" for eta in etas]
    open_sentence = f"Which of {n} models is first is not settled"
    if n == 2:
        open_sentence = f"{' and '.join(color.label_of.values())} are not told apart"
    return _say_runs_of_leaders(leaders, etas, "is first", open_sentence)


def say_better(rows: pl.DataFrame, names: tuple[str, str]) -> str:
    """Return where a test settles which of two models is better, of rows of `compare`."""
    compared_rows = rows.drop_nulls("difference").sort("eta")
    sides = zip(compared_rows["difference"], compared_rows["resolved"].fill_null(False), strict=True)
    leaders = [names[0 if value > 0 else 1] if settled else "" for value, settled in sides]
    open_sentence = f"{' and '.join(names)} are not told apart"
    return _say_runs_of_leaders(leaders, compared_rows["eta"].to_list(), "is better", open_sentence)


def _say_runs_of_leaders(
    leaders: Sequence[str], etas: Sequence[float], verb: str, open_sentence: str
) -> str:
    """Return who leads where, of a name per rising prevalence, which is empty where that is open."""
    runs: list[tuple[str, float, float]] = []
    for name, eta in zip(leaders, etas, strict=True):
        start = runs.pop()[1] if runs and runs[-1][0] == name else eta
        runs.append((name, start, eta))
    if not any(leaders):
        return open_sentence if leaders else ""
    if len(runs) == 1:
        where = f"where {number_words.say_eta(etas[0])} is positive"
        return f"{leaders[0]} {verb} {where if len(etas) == 1 else 'at every share of positives shown'}"
    if len(runs) > 3 or (len(runs) == 3 and runs[1][0]):
        n = sum(map(bool, leaders))
        return f"Who {verb} is settled at {n} of the {len(etas)} shares of positives shown"
    clauses: list[str] = []
    for name, low, high in runs:
        up_to = f"up to {number_words.say_eta(high)}"
        upper_end = "up" if high == etas[-1] else f"to {number_words.say_eta(high)}"
        where = up_to if low == etas[0] else f"from {number_words.say_eta(low)} {upper_end}"
        clauses += [f"{name}{'' if clauses else f' {verb}'} {where}"] if name else []
    return ", ".join(clauses) + ("; elsewhere that is not settled" if not all(leaders) else "")


def say_net_benefit(
    curves: ChartCurves, channels: Channels, marks: Sequence[Mapping[str, Any]], unit: str
) -> str:
    """Return where acting is surely worth it, of a line with intervals, or what lines net at a risk."""
    is_one = len(curves.per_curve) == 1 and "net_benefit_low" in curves.rows.columns
    if is_one and not curves.has_few_positives:
        # Where the interval of the line is above treating all and treating none.
        risk, alternative = pl.col("threshold_probability"), pl.max_horizontal(pl.lit(0.0), "treat_all")
        is_sure = (pl.col("net_benefit_low") > alternative).fill_null(False)
        rows = curves.rows.sort(risk).select(risk, sure=is_sure, run=is_sure.rle_id())
        sure_rows = rows.filter("sure")
        if sure_rows.is_empty():
            return "At no risk shown is acting surely better than treating all or none"
        # Of several stretches the longest is told, unless the others make up more.
        longest = sure_rows.filter(pl.len().over("run") == pl.len().over("run").max())
        if longest["run"].n_unique() == 1 < len(longest) and 2 * len(longest) >= len(sure_rows):
            low, high = number_words.say_shares([longest["threshold_probability"][k] for k in (0, -1)])
            finding = "Acting on the model is better than treating all or none"
            return f"{finding} at risks from {low} to {high}"
    if not marks:
        return ""
    start = f"At a risk of {number_words.say_share(marks[0]['threshold_probability'])}, acting nets"
    numbers = [mark["net_benefit_label"] for mark in marks]
    values = dict(zip(curves.per_curve["curve"], numbers, strict=True))
    return say_each(start, unit, values, name_curves(curves, channels), lambda texts: [*texts])


def say_bent_classes(
    bent_classes: Mapping[int, bool] | None, classes: ChartCurves, channels: Channels
) -> str:
    """Return which classes are shown not to have normal scores; empty without a test."""
    if not bent_classes:
        return ""
    panels = channels.facet.label_of if channels.facet else {}
    kinds = classes.per_curve.select("curve", "class").rows()
    names = {k: f"{kind} of {panels[k]}" if panels.get(k) else kind for k, kind in kinds}
    bent_curves = [curve for curve, is_bent in bent_classes.items() if is_bent]
    if not bent_curves:
        return "Scores may be normal in every class"
    if len(bent_curves) == len(bent_classes):
        return "Scores are not normal in any class" if len(bent_classes) > 1 else "Scores are not normal"
    if not _are_short(bent_curves, names):
        return f"Scores are not normal in {len(bent_curves)} of {len(bent_classes)} classes"
    return f"Scores are not normal: {', '.join(names[curve] for curve in bent_curves)}"


def say_each_of_100(grids: Mapping[int, IconGrid], curves: ChartCurves, channels: Channels) -> str:
    """Return how many alerts are right in each of few grids, in the order in which they stand."""
    # Empty where names are long, and where few positives were tested.
    facet = channels.facet
    if not 1 <= len(grids) <= _MOST_NAMES or curves.has_few_positives:
        return ""
    grid_of = {facet.label_of[curve] if facet else "": grid for curve, grid in grids.items()}
    words = grid_of[facet.labels[0] if facet else ""].words
    first = f"{words} alerts {'are' if ' of ' in words else 'is'} right"
    if facet is None:
        span = grid_of[""].span
        return f"{first} ({span})" if span else first
    head, where = "where {} is positive", "where {} is"
    if facet.fields != ["eta"]:
        if sum(map(len, facet.labels)) > _MOST_LETTERS:
            return ""
        head = where = "({})"
    clauses = [f"{grid_of[label].words} {where.format(label)}" for label in facet.labels[1:]]
    return ", ".join([f"{first} {head.format(facet.labels[0])}", *clauses])


def say_reliability(ranges: pl.DataFrame, curves: ChartCurves, channels: Channels) -> str:
    """Return where scores are off as probabilities, of few groups each, or in how many of many."""
    lines = ranges.group_by("curve", maintain_order=True).agg("off", "first").rows()
    clause_of = {curve: _say_runs(signs, edges) for curve, signs, edges in lines}
    off_clauses = [words for words in clause_of.values() if words]
    if not clause_of:
        return ""
    if not off_clauses:
        if curves.has_few_positives:
            n_pos = format_range(curves.per_curve["n_pos"])
            return f"{n_pos} positives show no range of scores that is off"
        return "No range of scores is off by more than chance"
    if channels.facet is None:
        return f"Scores are {off_clauses[0]}"
    names = channels.facet.label_of
    if not _are_short([*clause_of], names):
        return f"Scores are off by more than chance in {len(off_clauses)} of {len(clause_of)} panels"
    sentences = [f"scores of {names[curve]} are {words}" for curve, words in clause_of.items() if words]
    sentences += [
        f"those of {names[curve]} not shown to be" for curve, words in clause_of.items() if not words
    ]
    return f"{sentences[0][:1].upper()}{'; '.join(sentences)[1:]}"


def _say_runs(off: Sequence[int], first: Sequence[float]) -> str:
    """Return where scores are too low, and where too high; empty if they are not off in any range."""
    stretches = [[k for k, _ in run] for _, run in groupby(enumerate(off), key=lambda pair: pair[1])]
    runs = [(off[run[0]], run[0], run[-1] + 1) for run in stretches if off[run[0]]]
    if len(runs) > 2:
        return f"off in {sum(map(abs, off))} of {len(off)} ranges"
    edges = dict(zip(range(len(off)), number_words.say_shares(first), strict=True))
    clauses = []
    for sign, start, end in runs:
        where = f"from {edges[start]} to {edges.get(end)}"
        where = f"below {edges.get(end)}" if start == 0 else where
        where = f"above {edges[start]}" if end == len(off) else where
        where = "everywhere" if end - start == len(off) else where
        clauses.append(f"{'too low' if sign > 0 else 'too high'} {where}")
    return " and ".join(clauses)


def say_by_eta(
    start: str,
    end: str,
    points: Sequence[tuple[float, float]],
    say: number_words.SayShares,
    *,
    are_apart: bool,
) -> str:
    """Return `start 88 % to 98 % end where 1 in 2 is positive, 2.0 % to 3.7 % where 1 in 1 000 is`."""
    # `points` are the prevalence and the value of each line. Only the greatest and the least prevalence
    # are told, in one unit unless they are apart, in panels.
    etas = [eta for eta, _ in points]
    ends = [
        [value for eta_of_point, value in points if eta_of_point == eta]
        for eta in (max(etas), min(etas))
    ]
    common, rare = ([min(values), max(values)] for values in ends)
    words = [*say(common), *say(rare)] if are_apart else say([*common, *rare])
    spans = [" to ".join(dict.fromkeys(words[k : k + 2])) for k in (0, 2)]
    first = f"{start} {spans[0]} {end}".rstrip()
    common_eta, rare_eta = number_words.say_eta(max(etas)), number_words.say_eta(min(etas))
    return f"{first} where {common_eta} is positive, {spans[1]} where {rare_eta} is"


def say_values(
    start: str,
    end: str,
    values: Mapping[int, float],
    curves: ChartCurves,
    channels: Channels,
    *,
    say: number_words.SayShares = number_words.say_shares,
) -> str:
    """Return what each line has, or of many prevalences the lines at both ends."""
    # Empty where neither names nor prevalences tell the lines apart.
    facet, etas = channels.facet, curves.per_curve["eta"]
    is_by_eta = facet is None or facet.fields == ["eta"]
    names, n_groups = name_curves(curves, channels), curves.count_distinct(curves.group_fields)
    is_own = etas.n_unique() > 1 and len(etas) == n_groups  # each group at its own prevalence
    if (etas.n_unique() == 1 and (is_by_eta or names)) or (is_own and names):
        return say_each(start, end, values, names, say)
    if not is_by_eta or len(etas) != etas.n_unique() * n_groups:
        return ""
    eta_of = dict(curves.per_curve.select("curve", "eta").rows())
    points = [(eta_of[curve], value) for curve, value in values.items()]
    return say_by_eta(start, end, points, say, are_apart=facet is not None)


def say_point(threshold: str | None, precision: float, recall: float) -> str:
    """Return what one point means, as a sentence."""
    place = f"At {threshold}, " if threshold else ""
    right, found_share = number_words.say_shares([precision, recall])
    if 0 < precision < number_words.RARELY_RIGHT:
        right = number_words.say_eta(precision)
    clause = _agree(right, "of the alerts are right")
    return f"{place}{right} {clause}, and {found_share} of the positives are found"


def _agree(number: str, words: str) -> str:
    """Return the words behind a number: of `1 in 68` they are of one."""
    return words.replace(" are ", " is ") if number.startswith(f"1{number_words.NO_BREAK}in") else words


def say_thresholds(curves: ChartCurves, channels: Channels) -> str:
    """Return at which thresholds lines find half of the positives; empty where not known well."""
    # Of one group at several prevalences, which has one threshold, precision is told, too.
    etas = curves.per_curve["eta"]
    rows = find_known_half(curves).rows_by_key("curve", named=True, unique=True)
    words = {
        curve: number_words.say_threshold(row["threshold"], [row[LOWER]]) for curve, row in rows.items()
    }
    if not words or not etas.is_between(0, 1).all():
        return ""
    if len(words) == 1:
        [row] = rows.values()
        return say_point(min(words.values()), row["precision"], row["recall"])
    if etas.n_unique() == len(etas) and len(set(words.values())) == 1:
        start = f"At {min(words.values())}, which finds half of the positives,"
        end, say = "of the alerts are right", number_words.say_precisions
        points = [(eta, rows[curve]["precision"]) for curve, eta in zip(rows, etas, strict=True)]
        return say_by_eta(start, end, points, say, are_apart=channels.facet is not None)
    names = name_curves(curves, channels)
    if not names or (etas.n_unique() > 1 and len(etas) > curves.count_distinct(curves.group_fields)):
        return ""
    values = {curve: float(row["threshold"]) for curve, row in rows.items()}
    by_value = {value: words[curve] for curve, value in values.items()}
    start = "Half of the positives are found at"
    return say_each(
        start, "", values, names, lambda thresholds: [by_value[value] for value in thresholds]
    )


def say_areas(areas: Mapping[int, float], curves: ChartCurves, channels: Channels) -> str:
    """Return the areas of few lines, or the range of those of panels, if these can be compared."""
    # Groups of few positives are passed over, and the title says so.
    facet, per_curve = channels.facet, curves.per_curve
    is_known = (per_curve["n_pos"] >= FEW_POSITIVES).fill_null(False)
    known_areas = {
        curve: areas[curve] for curve in per_curve.filter(is_known)["curve"] if curve in areas
    }
    if facet is None and known_areas and len(known_areas) == len(per_curve):
        names = name_curves(curves, channels)
        return say_each("The area under the curve is", "", known_areas, names, _say_areas)
    if facet is None or not facet.values or len(known_areas) < _FEWEST_PANELS:
        return ""
    if "eta" in curves.field_names and per_curve["eta"].n_unique() > 1:
        return ""  # areas at different shares of positives
    span = " to ".join(_say_areas([pick(known_areas.values()) for pick in (min, max)]))
    where = "" if is_known.all() else f"Where {FEW_POSITIVES} positives or more were tested, "
    return f"{where}{'t' if where else 'T'}he area runs from {span}"


def _say_areas(areas: Sequence[float]) -> list[str]:
    """Return areas in two decimals, or in more if one would read as 1."""
    return [
        next(text for text in (f"{area:.{n}f}" for n in range(2, 18)) if float(text) < 1 or area >= 1)
        for area in areas
    ]


def say_alarms(curves: ChartCurves, channels: Channels, rate: str, time: str) -> str:
    """Return which series of `monitor` have an alarm, and from where on: what its test settles."""
    changed = "risen" if "positive" in rate.lower() or rate.lower() == "fpr" else "fallen"
    starts = curves.rows.filter("alarm").unique("curve", keep="first", maintain_order=True)
    if starts.is_empty():
        return f"{rate} is not shown to have {changed}"
    labels, n = channels.color or channels.facet, len(curves.per_curve)
    since = dict(starts.select("curve", "since").rows())
    if n == 1 or labels is None:
        return f"{rate} has {changed}, likely from {time} {starts['since'][0]} on"
    if _are_short([*since], labels.label_of):
        series = [f"{labels.label_of[k]} (from {time} {first} on)" for k, first in since.items()]
        return f"{rate} has {changed} in {', '.join(series)}"
    return f"{rate} has {changed} in {len(starts)} of {n} series"
