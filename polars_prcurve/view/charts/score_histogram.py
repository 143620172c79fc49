"""The histogram of scores: how well they distinguish the two classes, and what a threshold cuts off."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts import marked_points
from polars_prcurve.view.charts.parts.active_theme import read_sizes
from polars_prcurve.view.charts.parts.chart_assembly import Chart, arrange_panels
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, build_score_axis
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, read_sweep
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, read_panels_of_one
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import round_digits
from polars_prcurve.view.charts.parts.panel_in_pixels import Word
from polars_prcurve.view.charts.parts.panel_layers import keep_part
from polars_prcurve.view.charts.parts.rule_flags import (
    add_texts,
    count_flag_rows,
    draw_rules,
    raise_flags,
    write_rules,
)
from polars_prcurve.view.charts.parts.title_phrases import (
    add_order,
    add_recalls,
    find_half,
    open_title,
    say_each,
    say_known,
    say_order,
    say_reached,
)
from polars_prcurve.view.words.number_words import say_share
from polars_prcurve.view.words.shown_names import start_sentence

_PIXELS_OF_BIN = 9  # across: as narrow as a reader can point at
_CLASSES = {"negatives": "fpr", "positives": "recall"}
"""The rate that each class adds up to, in the order of drawing."""


@hint_at_arguments
def scores(
    table: pl.DataFrame,
    *,
    points: pl.DataFrame | None = None,
    ranking: pl.DataFrame | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Histograms of the scores of both classes, with a threshold through them.

    Bars are the share of each class in ranges of scores of one width, negatives in grey, so that rare
    positives are seen beside many negatives. What lies right of the rule is flagged. Scores that are
    probabilities, most of them near 0 or 1, are on an axis of log odds. Outliers that would take half of
    the axis are left out, and the note has their number.

    Parameters
    ----------
    table
        What `sweep` returns, with all its rows.
    points
        Rows whose thresholds are drawn, as in `pr_curve`. By default the highest threshold that finds
        half of the positives.
    ranking, color, facet, title, width, height
        As in `alerts`: each group is a panel.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = scores(pl.concat([df] * 20).prc.sweep())
    >>> chart.to_dict()["title"]["text"]
    ['At 50% recall, 0% of the negatives are flagged']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = read_sweep("scores", table, is_by_eta=False, made_by="sweep")
    curves = add_order(curves, "scores", ranking, None)
    rows = _read_scores(curves)
    marked = marked_points.add_lower(
        marked_points.read_points("scores", points, curves, ["recall"]), curves
    )
    finite_rows = rows.filter(pl.col("score").is_finite())
    rules = marked.records if points is not None else find_half(curves).to_dicts()
    rules = [rule for rule in rules if math.isfinite(rule["threshold"])]
    x = build_score_axis("Score", finite_rows["score"], [rule["threshold"] for rule in rules])
    channels = read_panels_of_one(curves, color, facet)
    y = ChartAxis("y", "Share of the class", 0.0, 1.0)
    spec = ChartSpec(x, y, "linear", height=0.5, names="none")
    pixels = arrange_panels(channels.facet, spec, size).width
    bins = _count_bins(finite_rows.with_columns(x=x.measure(pl.col("score"))), rules, x, pixels)
    highest = max([row["y"] for row in bins], default=0.0) or 1.0
    ends = [row[end] for row in bins for end in ("x", "to")]
    x = replace(x, low=min([x.low, *ends]), high=max([x.high, *ends]))
    spec = replace(spec, x=x, y=replace(y, high=1.08 * highest))
    canvas = Canvas(curves, channels, spec, size)
    _draw_bins(canvas, bins)
    _draw_rules(canvas, rules)
    note = [
        "Grey: negatives. Coloured: positives" if channels.facet else "",
        "Bars: share of each class in ranges of equal width",
        x.describe(),
        "" if finite_rows.height == rows.height else "Not drawn: infinite scores",
        "Vertical line: the highest threshold with at least 50% recall"
        if points is None and rules
        else "",
        "Vertical lines: the thresholds of the points" if points is not None and rules else "",
        *marked.describe(),
    ]
    told_rules = rules if points is None else _add_rates(marked.pick_told(), rows)
    finding = say_known(curves, partial(_say_flagged, told_rules, channels, is_asked=points is not None))
    subtitle = "Scores of positives and negatives"
    return canvas.finish(
        canvas.write(title, finding, name="Scores of both classes", subtitle=subtitle, note=note)
    )


def _read_scores(curves: ChartCurves) -> pl.DataFrame:
    """Return the rows of a sweep with `score`, and the share of each class that has it."""
    if len(curves.points) and curves.points["threshold"].null_count():
        raise PrcError("draw roc_curve instead: some thresholds are null, and so no scores")
    # Sweeps run from the highest score on, and rates add up.
    share_exprs = [
        pl.col(rate).diff().over("curve").fill_null(pl.col(rate)).alias(name)
        for name, rate in _CLASSES.items()
    ]
    score = pl.col("threshold").cast(pl.Float64, strict=False)
    return curves.points.with_columns(share_exprs, score=score)


def _count_bins(
    rows: pl.DataFrame, rules: list[dict[str, Any]], x: ChartAxis, pixels: int
) -> list[dict[str, Any]]:
    """Return the share of each class of each curve in ranges of scores, without empty ranges."""
    # A range begins at the highest threshold of a curve, so that no bar is flagged in part there.
    width = (x.high - x.low) / max(8, pixels // _PIXELS_OF_BIN)
    near_rows = rows.filter(pl.col("x").is_between(x.low, x.high))
    step, lowest = _find_step(near_rows["x"], width), x.low
    if step:  # as many steps in each range, so that bars of equal scores do not alternate
        width, lowest = round(width / step) * step, float(near_rows["x"].min())  # type: ignore[arg-type]
    score_by_curve: dict[int, float] = {}
    for rule in rules:
        score = float(rule["threshold"])
        score_by_curve[rule["curve"]] = max(score, score_by_curve.get(rule["curve"], score))
    scores = pl.col("curve").replace_strict(score_by_curve, default=None, return_dtype=pl.Float64)
    rows = near_rows.with_columns(from_score=scores)
    start = x.measure(pl.col("from_score")).fill_null(lowest)
    number = ((pl.col("x") + step / 2 - start) / width).floor().cast(pl.Int64)
    is_flagged = pl.col("score") >= pl.col("from_score")
    number = (
        pl.when(is_flagged).then(number.clip(0)).when(~is_flagged).then(number.clip(None, -1))
    ).otherwise(number)
    rows = rows.with_columns(start=start, number=number)
    bins = rows.group_by("curve", "number", maintain_order=True)
    shares = pl.col([*_CLASSES]).sum()
    long_rows = bins.agg(shares, pl.col("start").first()).sort("curve", "number")
    return [
        {
            "curve": row["curve"],
            "class": name,
            "y": row[name],
            "x": row["start"] + row["number"] * width,
            "to": row["start"] + (row["number"] + 1) * width,
        }
        for name in _CLASSES
        for row in long_rows.to_dicts()
        if row[name]
    ]


def _find_step(values: pl.Series, width: float) -> float:
    """Return the step of the grid that all values lie on, such as rounded scores; 0 if above `width`."""
    gaps = values.unique().sort().diff().drop_nulls()
    step = float(gaps.min() or 0.0)  # type: ignore[arg-type]
    steps = gaps / step
    is_grid = 0 < step < width and ((steps.round() - steps).abs() < 1e-3).all()
    return step if is_grid else 0.0


def _draw_bins(canvas: Canvas, bins: list[dict[str, Any]]) -> None:
    """Draw the bars of both classes, positives on top, and name the classes of a single panel."""
    channels, (x, y) = canvas.channels, canvas.place
    for row in bins:
        numbers = {name: round_digits(row[name]) for name in ("x", "to", "y")}
        text = f"{say_share(row['y'])} of the {row['class']}"
        fields = {"part": row["class"], "said": text, **channels.curve_fields(row["curve"])}
        canvas.records.append(fields | numbers)
    own: dict[str, Any] = {} if channels.encodings else {"color": channels.plain_color}
    base = alt.Chart().encode(x, y, alt.X2("to"), y2=alt.datum(0))
    base = base.encode(tooltip=alt.Tooltip("said:N", title="share"))
    looks: dict[str, dict[str, Any]] = {"negatives": {"color": style.RULE}, "positives": own}
    for name, look in looks.items():
        bar = base.mark_rect(opacity=0.55, stroke="white", strokeWidth=0.5, **look)
        bar = bar.encode(*channels.encodings) if name == "positives" else bar
        canvas.layers.append(keep_part(bar, name))
    if channels.facet is None and bins:
        right: dict[str, Any] = {"align": "right", "baseline": "top", "weight": "bold"}
        right["px"] = canvas.size.width - 4
        canvas.words.append(Word("Positives", py=4, color=channels.plain_color, **right))
        canvas.words.append(Word("Negatives", py=21, color=style.QUIET, **right))


def _draw_rules(canvas: Canvas, rules: list[dict[str, Any]]) -> None:
    """Draw an upright rule at each threshold, and write it over its head."""
    x, width, facet = canvas.spec.x, canvas.size.width, canvas.channels.facet
    rules_by_panel: dict[str | None, list[dict[str, Any]]] = {}
    for rule in add_texts(rules):
        panel = facet.label_by_curve[rule["curve"]] if facet else None
        rules_by_panel.setdefault(panel, []).append(rule)
    for panel, panel_rules in rules_by_panel.items():
        looks = [{"size": read_sizes().note, "facet": panel}] * len(panel_rules)
        words = write_rules(panel_rules, x, looks, "" if facet else "threshold ")
        records, flags = raise_flags(words, x, width)
        canvas.records += records
        canvas.words += flags
    look = {"color": style.INK, "strokeWidth": 1.4}
    canvas.layers += [draw_rules(canvas.place[0], look, None, canvas.size.height)] if rules else []
    canvas.spec = replace(canvas.spec, head_rows=count_flag_rows(canvas.words) if facet else 0)


def _add_rates(rules: list[dict[str, Any]], rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return marked thresholds with the share of negatives that each flags, of the rows of a sweep."""
    told_rules = []
    for rule in rules:
        is_flagged = (pl.col("curve") == rule["curve"]) & (pl.col("threshold") >= rule["threshold"])
        told_rules.append(rule | {"fpr": rows.filter(is_flagged)["fpr"].max() or 0.0})
    return told_rules


def _say_flagged(
    rules: list[dict[str, Any]], channels: Channels, curves: ChartCurves, *, is_asked: bool
) -> str:
    """Return the share of negatives that the thresholds of one target flag, if each curve has one."""
    curve_numbers = curves.curve_rows["curve"].to_list()
    rules = [rule for rule in rules if rule["curve"] in curve_numbers]
    fprs = {rule["curve"]: rule["fpr"] for rule in rules if rule["fpr"] is not None}
    if not 0 < len(rules) == len(fprs) == len(curve_numbers):
        return ""
    place_text = start_sentence(_place_rules(rules))
    sentence = f"{place_text}, {say_share(*[*fprs.values()][:1])} of the negatives are flagged"
    if len(fprs) > 1:
        names = channels.facet.label_by_curve if channels.facet else {}
        recalls = {rule["curve"]: rule["recall"] for rule in rules}
        names = add_recalls({curve: names[curve] for curve in recalls if curve in names}, recalls)
        sentence = say_each(f"{place_text}, the share of negatives flagged is", "", fprs, names)
    return say_order(sentence, curves) if is_asked else open_title(sentence, curves)


def _place_rules(rules: list[dict[str, Any]]) -> str:
    """Return what the thresholds of one target are, within a sentence: `at 50% recall`."""
    criterion, target = rules[0].get("criterion", "recall"), rules[0].get("target")
    if criterion == "recall":
        return f"at {say_reached([rule['recall'] for rule in rules], 0.5 if target is None else target)}"
    goal, noun = rules[0]["goal"], "threshold" if len(rules) == 1 else "thresholds"
    if criterion == "threshold":
        return f"at {goal}"
    return f"at the {noun} for {goal}" if goal else f"at the {noun}"
