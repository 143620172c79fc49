"""The reliability diagram: may these scores be read as probabilities?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from polars_prcurve.core.confidence.binomial_tails import is_tail_at_most
from polars_prcurve.core.confidence.rate_intervals import check_confidence, find_wilson_ends, z_value
from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import format_count, join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.prevalence.eta_table import require_plain_etas
from polars_prcurve.core.prevalence.prior_shift import check_prior, shift_prior
from polars_prcurve.view.charts.parts.active_theme import read_colors
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, GivenSize, fit_shares
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, read_sweep
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, read_panels_of_one
from polars_prcurve.view.charts.parts.doubt_of_points import has_counts
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import format_checked_level, round_digits
from polars_prcurve.view.charts.parts.panel_layers import keep_part
from polars_prcurve.view.charts.parts.title_phrases import MOST_LETTERS, are_short, count_positives
from polars_prcurve.view.words.number_words import (
    join_value,
    say_count,
    say_estimate,
    say_eta,
    say_share,
    say_shares,
)

# The mean score of a range, the fraction of positives, and both ends of its interval.
_SHARES = ("x", "y", "low", "high")
_RARE_SHARE = 0.02  # axes are logarithmic where most ranges of a group have a mean below this
_MOST_RANGES = 8  # more would have too few positives each for their intervals to be useful
_FEWEST_RANGES = 2  # of few scores; one range would not separate low scores from high ones
# The variance of positives that a range has, at least, unless the scores leave open too little.
_LEAST_VARIANCE = 4.0
_LEAST_OPEN = 1e-9  # what a score leaves open, at least: scores of 0 and 1 alone have ranges, too
_FAR_OFF = 1.5  # the ratio of expected and observed positives from which the title is on that


@hint_at_arguments
def reliability(
    table: pl.DataFrame,
    eta: float | None = None,
    *,
    eta_train: float | None = None,
    confidence: float | None = 0.95,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    r"""Reliability diagrams from the table of `sweep`: the frequency of positives in ranges of scores.

    Scores are probabilities where the points lie on the diagonal. There are at most 8 ranges; each holds
    an equal part of the sum of `p (1 - p)`, which is the variance of its positives. The line at a point
    is Wilson's interval of that range alone. A point is filled where the frequency differs significantly
    from the scores: exact binomial tails, corrected for all ranges of the chart (Bonferroni), so that
    calibrated scores have a filled point in at most `1 - confidence` of test sets. The title is about
    the filled points. Axes are logarithmic where most ranges of a group are below 2%.

    Parameters
    ----------
    table
        What `sweep` returns, with all its rows. Its scores are in [0, 1].
    eta, eta_train
        The prevalence to show, and the one at which the scores are probabilities, as in
        `decision_curve`. Without both, the test set's own, and the scores as they stand.
    confidence
        The level of the intervals and of the test; None draws neither, nor do sums of weights.
    color, facet, title, width, height
        As in `alerts`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> reliability(pl.concat([df] * 20).prc.sweep()).to_dict()["title"]["text"]
    ['Scores are too low below 80% and too high above 80%']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    shown_eta, trained_eta = check_etas(eta, eta_train) or (None, None)
    test_level = None if confidence is None else check_confidence(confidence)
    curves = read_sweep("reliability", table, is_by_eta=False, made_by="sweep")
    test_level = test_level if has_counts(curves.points) else None
    range_rows = judge_ranges(split_ranges(curves, trained_eta), test_level, shown_eta)
    canvas = _draw_ranges(curves, read_panels_of_one(curves, color, facet), range_rows, shown_eta, size)
    has_ranges = len(range_rows) > 1
    variance_text = "the sum of p (1 \u2212 p), where p is the predicted probability"
    sentences = [f"Each range holds an equal share of {variance_text}"] if has_ranges else []
    if test_level is not None:
        each_text = " for each range alone" if has_ranges else ""
        sentences.append(f"Line: {format_checked_level(test_level)} interval{each_text}")
        ranges_text = "both" if len(range_rows) == 2 else f"all {len(range_rows)}"
        correction_text = f", corrected for {ranges_text} ranges" if has_ranges else ""
        sentences.append(f"Filled: significantly off{correction_text}")
    has_zero = canvas.spec.y.is_log and bool((range_rows["y"] == 0).any())
    sentences += ["At the foot: none observed"] if has_zero else []
    name = "Observed frequency of positives by predicted probability"
    subtitle = f"{name}, in {'ranges' if has_ranges else 'one range'} of scores"
    subtitle += "" if shown_eta is None else f", converted to a prevalence of {say_eta(shown_eta)}"
    place_text = "" if shown_eta is None else " in the test set"  # whose prevalence counts have
    finding = _say_reliability(range_rows, curves, canvas.channels, place_text) if test_level else ""
    return canvas.finish(canvas.write(title, finding, name=name, subtitle=subtitle, note=sentences))


def check_etas(eta: object, eta_train: object) -> tuple[float, float] | None:
    """Return eta and eta_train, or None without both; raise unless both are there or none."""
    etas_by_name = {"eta": eta, "eta_train": eta_train}
    etas = [check_prior(name, value) for name, value in etas_by_name.items() if value is not None]
    if len(etas) == 1:
        raise PrcError(
            "pass eta= and eta_train= together, or neither of them; "
            f"got only {'eta_train' if eta is None else 'eta'}="
        )
    require_plain_etas(pl.DataFrame({"eta": etas}, schema={"eta": pl.Float64}))
    return (etas[0], etas[1]) if etas else None


def split_ranges(curves: ChartCurves, eta_train: float | None) -> pl.DataFrame:
    """Return a row per curve and range: its counts, `first`, the lowest score, and `is_one_score`."""
    # The posteriors in `said` are at the prevalence of the test set. A range holds an equal part of the
    # sum of `said (1 - said)`, the variance of its positives, so that all are known about equally well.
    # Labels play no part in where ranges end.
    rows = curves.points
    scores = rows["threshold"].cast(pl.Float64)
    if not bool(scores.is_between(0, 1).fill_null(False).all()):
        rounded_scores = scores.round_sig_figs(4)
        score_range = f"{rounded_scores.min()!s} to {rounded_scores.max()!s}"
        raise PrcError(f"reliability needs probabilities, that is, scores in [0, 1]; got {score_range}")
    own_etas = curves.curve_rows.select("curve", own="own_eta")
    rows = rows.join(own_etas, on="curve", maintain_order="left")
    posteriors: Any = scores.to_numpy()
    if eta_train is not None and len(posteriors):
        posteriors = shift_prior(posteriors, np.full(len(posteriors), eta_train), rows["own"].to_numpy())
    count_exprs = pl.col("tp", "fp")
    new_counts = count_exprs - count_exprs.shift(1, fill_value=0).over("curve")
    rows = rows.with_columns(new_counts, score=scores, said=pl.Series(posteriors, dtype=pl.Float64))
    n = pl.col("tp") + pl.col("fp")
    open_share = (pl.col("said") * (1 - pl.col("said"))).clip(_LEAST_OPEN)
    rows = rows.with_columns(n=n, part=n * open_share).sort("curve", "score", maintain_order=True)
    total = pl.col("part").sum().over("curve")
    n_ranges = (total / _LEAST_VARIANCE).floor().clip(_FEWEST_RANGES, _MOST_RANGES)
    mid_share = (pl.col("part").cum_sum().over("curve") - pl.col("part") / 2) / total
    range_number = (mid_share * n_ranges).floor().clip(0, n_ranges - 1)
    return (
        rows.with_columns(range=range_number)
        .group_by("curve", "range", maintain_order=True)
        .agg(
            pl.col("n").sum(),
            pl.col("tp").sum().alias("positives"),
            (pl.col("n") * pl.col("said")).sum().alias("expected"),
            pl.col("said").first().alias("first"),
            (pl.col("said").first() == pl.col("said").last()).alias("is_one_score"),
            pl.col("own").first(),
        )
    )


def judge_ranges(
    range_rows: pl.DataFrame, test_level: float | None, shown_eta: float | None
) -> pl.DataFrame:
    """Add the mean score, `x`, the fraction of positives, `y`, its interval, and `off`."""
    # `off` is 1 where more is positive than the scores predict, and -1 where less is: where a binomial
    # variable is so great, or so small, with a chance of `(1 - level) / 2 m` at most, with m ranges
    # (Bonferroni). Scores that differ within a range leave less to chance than that (Hoeffding 1956), so
    # ranges of calibrated scores are off in at most `1 - level` of all charts. Without a level there are
    # neither intervals nor a test. All shares are moved to `shown_eta` by the odds of both classes.
    n_expr, positives = pl.col("n").cast(pl.Float64), pl.col("positives").cast(pl.Float64)
    mean_score = pl.col("expected") / n_expr
    share_exprs = {"x": mean_score, "y": positives / n_expr, "first": pl.col("first")}
    judged_ranges = range_rows.with_columns(off=pl.lit(0))
    if test_level is not None and len(range_rows):
        low_share, high_share = find_wilson_ends(positives, n_expr, z_value(test_level))
        share_exprs |= {"low": low_share, "high": high_share}
        alpha, mean_odds = (1 - test_level) / (2 * len(range_rows)), mean_score / (1 - mean_score)
        is_below = (positives < n_expr) & is_tail_at_most(alpha, positives, n_expr, mean_odds)
        is_above = (positives > 0) & is_tail_at_most(alpha, n_expr - positives, n_expr, 1 / mean_odds)
        off_sign = pl.when(is_above).then(1).when(is_below).then(-1).otherwise(0)
        judged_ranges = range_rows.with_columns(off=off_sign)
    own_eta = pl.col("own")
    odds_factor = (
        pl.lit(1.0) if shown_eta is None else shown_eta / (1 - shown_eta) * (1 - own_eta) / own_eta
    )
    moved_share_exprs = {
        column: share_expr * odds_factor / (share_expr * odds_factor + 1 - share_expr)
        for column, share_expr in share_exprs.items()
    }
    return judged_ranges.with_columns(**moved_share_exprs)


def _draw_ranges(
    curves: ChartCurves, channels: Channels, ranges: pl.DataFrame, eta: float | None, given: GivenSize
) -> Canvas:
    """Return the canvas with a point per range, its interval, and the diagonal."""
    x_axis = _build_axis(ranges)
    facet = channels.facet
    if facet is not None and eta is None:
        say_observed = say_count if ranges["positives"].dtype.is_float() else format_count
        curve_sums = ranges.group_by("curve", maintain_order=True).agg(
            pl.col("expected", "positives").sum()
        )
        labels, text = facet.label_by_curve, "{} expected, {} observed"
        captions = {
            labels[curve]: text.format(say_count(expected), say_observed(n_positives))
            for curve, expected, n_positives in curve_sums.rows()
        }
        channels = replace(channels, facet=replace(facet, caption_by_label=captions))
    y_axis = replace(x_axis, field="y", title="Observed frequency of positives")
    spec = ChartSpec(x_axis, y_axis, "linear", width=0.75, height=0.95, names="none")
    canvas = Canvas(curves, channels, spec, given)
    canvas.draw_diagonal("calibrated")
    for row in ranges.iter_rows(named=True):
        place = {name: round_digits(max(row[name], x_axis.low)) for name in _SHARES if name in row}
        # What the pointer reads at a point.
        share_text = join_value(*say_estimate(row["y"], row.get("low"), row.get("high")))
        count_text = f"{format_count(row['positives'])} of {format_count(row['n'])}"
        text = f"predicted {say_share(row['x'])}, observed {share_text}: {count_text}"
        fields = {"off": abs(row["off"]), "said": text, **channels.curve_fields(row["curve"])}
        canvas.records.append({"part": "range", **place, **fields})
    x_place, y_place = canvas.place
    encodings = channels.encodings
    ink: dict[str, Any] = {} if encodings else {"color": read_colors()[0]}
    texts = (alt.Description("said:N"), alt.Tooltip("said:N"))
    end_texts = alt.Chart().mark_rule(strokeWidth=1.8, aria=False, **ink)
    layers = [end_texts.encode(x_place, alt.Y("low:Q"), alt.Y2("high"), *encodings)]
    for test, look in (("!==", {"filled": False, "fill": "white"}), ("===", {"filled": True})):
        point = alt.Chart().mark_point(shape="circle", size=70, strokeWidth=2, opacity=1, **look, **ink)
        point = point.encode(x_place, y_place, *texts, *encodings)
        layers.append(point.transform_filter(f"datum.off {test} 1"))  # filled where a range is off
    canvas.layers += [keep_part(layer, "range") for layer in layers]
    return canvas


def _build_axis(range_rows: pl.DataFrame) -> ChartAxis:
    """Return the axis of mean scores, which is also that of shares; log where a group's are rare."""
    shares = pl.concat([range_rows[column] for column in _SHARES if column in range_rows.columns])
    # The points of such a group would lie in the corner of a linear axis, on top of each other.
    middles = range_rows.group_by("curve").agg(pl.col("x").median())["x"]
    is_log = bool((middles < _RARE_SHARE).any())
    if not is_log:
        return ChartAxis("x", "Predicted probability", *fit_shares(shares))
    positive_shares = shares.filter(shares > 0).to_list() or [_RARE_SHARE]
    low_share, high_share = min(positive_shares) / 2, min(2 * max(positive_shares), 1.0)
    return ChartAxis("x", "Predicted probability", low_share, high_share, "share", is_log=True)


def _say_reliability(
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
            expected_text = f"{say_count(expected)} positives expected{place_text}"
            observed_text = f"{format_count(n_positives)} observed"
            clause_by_curve[curve_number] = f"too {side}: {expected_text}, {observed_text}"
    if not clause_by_curve:
        return ""
    if not any(clause_by_curve.values()):
        if curves.has_few_positives:
            n_pos_text = count_positives(curves.curve_rows["n_pos"])
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
        if len(off) <= len(calibrated) and sum(map(len, off)) <= MOST_LETTERS:
            owner = join_words(off)
        elif calibrated and sum(map(len, calibrated)) <= MOST_LETTERS:
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
    edge_text_by_range = dict(zip(range(len(range_signs)), say_shares(first_scores), strict=True))
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
