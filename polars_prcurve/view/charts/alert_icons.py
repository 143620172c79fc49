"""Icon arrays: of 100 alerts, how many are right, and of how many that is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import format_count, join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import read_colors
from polars_prcurve.view.charts.parts.chart_assembly import COMMON_WIDTH, Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, GivenSize
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves, read_lines
from polars_prcurve.view.charts.parts.colors_and_panels import (
    Channel,
    Channels,
    build_channel,
    read_panels_of_one,
    sort_panels,
)
from polars_prcurve.view.charts.parts.icon_counts import MOST_ICONS, IconGrid, count_icons
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import (
    describe_target,
    format_checked_level,
    name_target,
)
from polars_prcurve.view.charts.parts.panel_in_pixels import Word
from polars_prcurve.view.charts.parts.title_phrases import (
    MOST_LETTERS,
    MOST_NAMES,
    add_order,
    add_recalls,
    count_positives,
    go_on,
    join_clauses,
    may_be_chance,
    say_chance_of_alerts,
    say_known,
    say_order,
    say_reached,
    say_too_few,
)
from polars_prcurve.view.words.number_words import (
    FEW_POSITIVES,
    are_rarely_right,
    join_value,
    map_etas,
    say_share,
    say_shares,
)

_NAME = "True positives among the alerts"
"""What is drawn."""
_MOST_GRIDS = 12  # more grids of 100 icons nobody would count
_WIDTH = 200  # pixels that a grid is wide, so that ten icons in a row stay large
_RING = [1.6, 1.9]  # the dash of a dotted ring: about as many dots on small rings as on large ones
# Altair has no hatch: a dotted ring, which means not known, and a tint represent it.
_LOOKS: dict[str, dict[str, Any]] = {
    "right": {"fillOpacity": 1},
    "likely": {"fillOpacity": 0.45, "strokeDash": _RING},
    "unlikely": {"fillOpacity": 0.1, "strokeDash": _RING},
    "false": {"fillOpacity": 0, "stroke": style.RULE},
}


@hint_at_arguments
def alerts(
    table: pl.DataFrame,
    *,
    ranking: pl.DataFrame | None = None,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Icon arrays of 100 alerts, from the table of `operating_points`: one grid per row.

    A solid circle is a true positive, up to the lower limit of precision, and a hollow one a false
    positive. Between the limits, where the ring is dotted, alerts may be either; the tint is darker up
    to the estimate. If all precisions at a prevalence are below 1 in 50, grids have as many alerts
    as contain one true positive, but no more than 1,000, and those between the limits of that number are
    dotted. Grids of groups come in order of their values, the greatest first.

    Parameters
    ----------
    table
        What `operating_points` returns, with precision among its metrics: at most 12 rows.
    ranking
        What `ranking(metric="precision", confidence=..., columns="all")` returns for the same models,
        target and prevalence: the title then begins with "No clear winner" if that is so. Intervals of
        single thresholds may lie apart where the models are not significantly different.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    color, facet
        `color` is a column whose values have colours, by default the first `by` column; `facet` is the
        column with which the heads of grids begin.
    title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = alerts(pl.concat([df] * 20).prc.operating_points(recall=1))
    >>> chart.to_dict()["title"]["text"]
    ['67% of alerts are true positives']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = read_lines("alerts", table, "precision", is_per_row=True)
    curves = add_order(curves, "alerts", ranking)
    channels = read_panels_of_one(curves, color, facet)
    if channels.facet is not None:
        value_by_curve = dict(curves.points.select("curve", "value").rows())
        facet_channel, color_channel = sort_panels(channels.facet, value_by_curve), channels.color
        if color_channel is not None and color_channel.fields == facet_channel.fields:
            color_channel = replace(color_channel, ink_label=facet_channel.ink_label)
        channels = replace(channels, color=color_channel, facet=facet_channel)
    canvas, grid_by_curve = _draw_icons(curves, channels, size)
    level_text = "interval" if confidence is None else f"{format_checked_level(confidence)} interval"
    note = ["Solid: true positives. Hollow: false positives"]
    has_span = "low" in curves.points.columns
    if has_span:
        note.append(f"Dotted: uncertain ({level_text}); the darker tint ends at the estimate")
    if any(not grid.is_of_100 for grid in grid_by_curve.values()):
        rare_note = "If precision is below 2%, grids show the number of alerts per true positive"
        note.append(f"{rare_note}; dotted: this number's uncertainty" if has_span else rare_note)
    if any(grid.n_icons == MOST_ICONS for grid in grid_by_curve.values()):
        note.append(f"At most {format_count(MOST_ICONS)} alerts are drawn")
    say_grids = partial(_say_each_of_100, grid_by_curve, _name_in_sentence(curves, canvas.channels))
    are_few = bool((curves.curve_rows["n_pos"] < FEW_POSITIVES).fill_null(False).all())
    finding = say_grids(curves) if are_few else say_known(curves, say_grids)
    etas = curves.curve_rows["eta"].unique().to_list()
    if not are_few and len(etas) == 1 and etas[0] and may_be_chance(curves, curves.points):
        finding = say_chance_of_alerts(finding, etas[0])
    else:
        finding = say_order(finding, curves)
    return canvas.finish(
        canvas.write(title, finding, name=_NAME, subtitle=_say_purpose(curves), note=note)
    )


def _say_purpose(curves: ChartCurves) -> str:
    """Return what thresholds were chosen for, such as `50% recall`."""
    target_text = describe_target(curves.curve_rows.get_column("target", default=None))
    return _say_recall(curves) or target_text or _NAME


def _say_recall(curves: ChartCurves) -> str:
    """Return the recall that all thresholds were chosen for, as reached; empty of other targets."""
    target = _find_recall(curves)
    if not target:
        return ""
    recalls = curves.points.get_column("recall", default=pl.Series([target]))
    return say_reached(recalls.drop_nulls(), target)


def _name_in_sentence(curves: ChartCurves, channels: Channels) -> Channels:
    """Return channels whose panels are called as in a sentence: `forest at a prevalence of 1 in 10`."""
    # Without the target: a title is on one of several.
    facet = channels.facet
    if facet is not None and len(facet.fields) > 1:
        groups = [field for field in curves.group_fields if curves.count_distinct([field]) > 1]
        names = build_channel(curves, groups or ["target"], is_eta_added=False).label_by_curve
        if "eta" in facet.fields:
            etas = dict(curves.curve_rows.select("curve", "eta").rows())
            text_of_eta = map_etas(etas.values())
            names = {n: f"{name} at a prevalence of {text_of_eta[etas[n]]}" for n, name in names.items()}
        channels = replace(channels, facet=replace(facet, label_by_curve=names))
    return _name_recalls(curves, channels)


def _name_recalls(curves: ChartCurves, channels: Channels) -> Channels:
    """Return channels whose panels have the recall of each grid, if ties lift these from one target."""
    if channels.facet is None or not (texts := _say_recalls(curves)):
        return channels
    recalls = dict(curves.points.select("curve", "recall").rows())
    names = {curve: channels.facet.label_by_curve[curve] for curve in texts}
    return replace(channels, facet=replace(channels.facet, label_by_curve=add_recalls(names, recalls)))


def _find_recall(curves: ChartCurves) -> float | None:
    """Return the recall that all thresholds were chosen for; None of other targets, and of several."""
    targets = curves.curve_rows.get_column("target", default=None)
    is_one = targets is not None and targets.n_unique() == 1 and targets[0]["criterion"] == "recall"
    return targets[0]["target"] if is_one else None


def _check_number(curves: ChartCurves) -> None:
    """Raise if there are more grids than one looks at."""
    if len(curves.curve_rows) > _MOST_GRIDS:
        group_column = curves.column_by_field.get("group_0")
        remedy = "pass fewer prevalences or targets"
        if group_column is not None and curves.count_distinct(["group_0"]) > 1:
            first_groups = curves.curve_rows["group_0"].unique(maintain_order=True).head(2).to_list()
            remedy = (
                f"pick some groups first: table.filter(pl.col({group_column!r}).is_in({first_groups!r}))"
            )
        raise PrcError(
            f"{remedy}: alerts draws up to {_MOST_GRIDS} grids, one per row, and this table has "
            f"{len(curves.curve_rows)}"
        )


def _draw_icons(
    curves: ChartCurves, channels: Channels, given: GivenSize
) -> tuple[Canvas, dict[int, IconGrid]]:
    """Return the canvas with a grid per curve, a single point each, and the grids by curve."""
    _check_number(curves)
    names = [name for name in ("value", "low", "high") if name in curves.points.columns]
    is_rare_of_curve = _find_rare(curves)
    grid_by_curve = {
        curve: count_icons(*row, *[None] * (3 - len(names)), is_rare=is_rare_of_curve[curve])
        for curve, *row in curves.points.select("curve", *names).rows()
    }
    further_texts = _say_recalls_and_few(curves)
    caption_by_curve = {
        curve: f"{grid.caption}{further_texts.get(curve, '')}" for curve, grid in grid_by_curve.items()
    }
    row_shares = (-(-grid.n_icons // grid.columns) / grid.columns for grid in grid_by_curve.values())
    height = max(row_shares, default=1.0)
    x_axis, y_axis = ChartAxis("x", "", 0.0, 1.0, "none"), ChartAxis("y", "", height, 0.0, "none")
    facet = channels.facet
    if facet is not None:
        captions = {facet.label_by_curve[curve]: text for curve, text in caption_by_curve.items()}
        channels = replace(channels, facet=replace(facet, caption_by_label=captions))
    spec = ChartSpec(x_axis, y_axis, "linear", names="none", height=height, width=_WIDTH / COMMON_WIDTH)
    canvas = Canvas(curves, channels, spec, given)
    said_by_curve = {curve: text.replace("\n", ", ") for curve, text in caption_by_curve.items()}
    canvas.spoken = _join_captions(facet, said_by_curve)
    for curve, grid in grid_by_curve.items():
        if facet is None:
            canvas.words.append(Word(text=caption_by_curve[curve], py=-9, baseline="bottom"))
        n_columns, area = grid.columns, math.pi * (0.37 * canvas.size.width / grid.columns) ** 2
        stroke_width = round(min(1.3, 20 / n_columns), 2)
        icon_fields = {"size": round(area, 1), "width": stroke_width, "said": said_by_curve[curve]}
        icon_fields |= channels.curve_fields(curve)
        for number, icon_kind in enumerate(grid.kinds):
            row, column = divmod(number, n_columns)
            place = {"kind": icon_kind, "x": (column + 0.5) / n_columns, "y": (row + 0.5) / n_columns}
            canvas.records.append({"part": "icon", **place, **icon_fields})
    canvas.layers += _build_layers(*canvas.place, channels)
    return canvas, grid_by_curve


def _join_captions(facet: Channel | None, said_by_curve: dict[int, str]) -> str:
    """Return the numbers of all grids, in the order of panels, for people who cannot see them."""
    if facet is None:
        return "; ".join(said_by_curve.values())
    said_by_label = {facet.label_by_curve[curve]: said for curve, said in said_by_curve.items()}
    return "; ".join(f"{name}: {said_by_label[name]}" for name in facet.labels if name in said_by_label)


def _say_recalls_and_few(curves: ChartCurves) -> dict[int, str]:
    """Return what `_say_recalls` does, and in a row of its own that a grid is of few positives."""
    texts, numbers = _say_recalls(curves), dict(curves.curve_rows.select("curve", "n_pos").rows())
    few_texts = {
        curve: f"\ntoo few positives ({format_count(numbers[curve])})" for curve in curves.few_curves
    }
    return {curve: texts.get(curve, "") + few_texts.get(curve, "") for curve in numbers}


def _say_recalls(curves: ChartCurves) -> dict[int, str]:
    """Return the recall of each grid, `, 66% recall`, if ties lift some of them above one target."""
    if _find_recall(curves) is None or "recall" not in curves.points.columns:
        return {}
    recalls = dict(curves.points.select("curve", "recall").drop_nulls().rows())
    texts = {curve: f", {say_share(recall)} recall" for curve, recall in recalls.items()}
    return texts if len(texts) == len(curves.curve_rows) and len({*texts.values()}) > 1 else {}


def _find_rare(curves: ChartCurves) -> dict[int, bool]:
    """Return whether each grid has as many alerts as contain one true positive, alike if compared."""
    # Prevalences of one group are apart, and groups that have a prevalence each are compared.
    groups = curves.group_fields
    has_several_etas = curves.count_distinct([*groups, "eta"]) > curves.count_distinct(groups)
    places = curves.curve_rows.select("curve", place="eta" if has_several_etas else pl.lit(0))
    high = pl.col("high" if "high" in curves.points.columns else "value").fill_null(0)
    rows = (
        curves.points.join(places, on="curve").group_by("place").agg("curve", "value", high.alias("top"))
    )
    return {
        curve: are_rarely_right(shares, highs)
        for _, curve_numbers, shares, highs in rows.rows()
        for curve in curve_numbers
    }


def _build_layers(x_encoding: alt.X, y_encoding: alt.Y, channels: Channels) -> list[alt.Chart]:
    """Return a layer per kind of icon."""
    layers = []
    for icon_kind, kind_look in _LOOKS.items():
        mark_look = {"fill": read_colors()[0], "stroke": read_colors()[0]} | kind_look
        mark_layer = alt.Chart().mark_point(shape="circle", opacity=1, aria=False, **mark_look)
        encodings: list[Any] = []
        for color in channels.encodings:
            encodings.append(alt.Fill(color["shorthand"], scale=color["scale"], legend=None))
            if "stroke" not in kind_look:
                encodings.append(alt.Stroke(color["shorthand"], scale=color["scale"], legend=None))
        tooltip = alt.Tooltip("said:N", title="alerts")
        encodings += [alt.Size("size:Q", scale=None), alt.StrokeWidth("width:Q", scale=None)]
        kind_test = f"datum.part === 'icon' && datum.kind === '{icon_kind}'"
        mark_layer = mark_layer.encode(x_encoding, y_encoding, *encodings, tooltip=tooltip)
        layers.append(mark_layer.transform_filter(kind_test))
    return layers


def _say_each_of_100(
    grid_by_curve: Mapping[int, IconGrid], channels: Channels, curves: ChartCurves
) -> str:
    """Return the true positives in each of few grids, the most first, or in the extreme ones."""
    place_text = ""
    if curves.count_distinct(["target"] if "target" in curves.column_by_field else []) > 1 and (
        curves.count_distinct(curves.group_fields) > 1
    ):
        targets = curves.curve_rows["target"].to_list()  # one of which is compared
        first = next((target for target in targets if target["criterion"] == "recall"), targets[0])
        is_first = pl.Series([target == first for target in targets])
        curves = curves.pick(curves.curve_rows["curve"].filter(is_first).to_list())
        place_text = f"At {_say_recall(curves) or name_target(**first)}, "
    facet_channel, n_positives = channels.facet, curves.curve_rows["n_pos"]
    label_by_curve = dict.fromkeys(curves.curve_rows["curve"], "")
    if facet_channel is not None:
        label_by_curve = {curve: facet_channel.label_by_curve[curve] for curve in label_by_curve}
    grid_by_label = {label: grid_by_curve[curve] for curve, label in label_by_curve.items()}
    labels = sorted(grid_by_label, key=lambda label: -grid_by_label[label].share)
    if not labels:
        return ""
    grids = [grid_by_label[label] for label in labels]
    are_few = bool((n_positives < FEW_POSITIVES).fill_null(False).all())
    # Of grids of as many alerts as one right one takes, an interval is of that number.
    if are_few and not all(grid.is_of_100 and grid.span for grid in grids):
        return say_too_few(n_positives, "precision is known only roughly")
    sentence = _say_grids(labels, grids, facet_channel.fields if facet_channel else [], are_few=are_few)
    sentence = f"{place_text}{go_on(sentence)}" if place_text else sentence
    if not are_few:
        return sentence
    count_text = count_positives(n_positives)
    sets_text = "test sets have" if " to " in count_text else "test set has"
    return f"{sentence} (the {sets_text} only {count_text})"


def _say_grids(
    labels: Sequence[str], grids: Sequence[IconGrid], fields: Sequence[str], *, are_few: bool
) -> str:
    """Return the true positives in grids, the most first, of labels of these fields."""
    joint_word = "for" if any(field.startswith("group") for field in fields) else "at"
    places = [f" {joint_word} {label}" if label else "" for label in labels]
    if fields == ["eta"]:
        places = [f" at a prevalence of {labels[0]}", *(f" at {label}" for label in labels[1:])]
    is_of_100 = all(grid.is_of_100 for grid in grids)
    texts = [grid.words for grid in grids]
    if is_of_100 and len(grids) > 1:
        texts = say_shares([grid.share for grid in grids])
    are_many = len(grids) > MOST_NAMES or sum(map(len, labels)) > MOST_LETTERS
    if are_few and not are_many:
        texts = [f"{grid.span}%" for grid in grids]
    labels_by_text: dict[str, list[str]] = {}
    for label, text in zip(labels, texts, strict=True):
        labels_by_text.setdefault(text, []).append(label)
    first, *_, last = texts * 2  # the same of one
    if fields != ["eta"]:  # grids that read alike are together
        places = [
            f" {joint_word} {join_words(names)}" if all(names) else ""
            for names in labels_by_text.values()
        ]
        texts = [*labels_by_text]
    if len(labels_by_text) == 1 < len(grids):
        texts, places = [first], [""]
    elif are_many:
        n_letters = [sum(map(len, labels_by_text[text])) for text in (first, last)]
        n_names = max(len(labels_by_text[text]) for text in (first, last))
        has_room = sum(n_letters) <= MOST_LETTERS and n_names <= MOST_NAMES
        low_place, high_place = (places[-1], places[0]) if has_room else ("", "")
        unit = " of alerts" if is_of_100 else ""
        return f"True positives range from {last}{unit}{low_place} to {first}{high_place}"
    further_clauses = [*map("{}{}".format, texts[1:], places[1:])]
    verb = "of alerts are true positives" if grids[0].is_of_100 else "alerts is a true positive"
    has_span = is_of_100 and len(grids) == 1 and not are_few
    value_text = f"{texts[0]} {verb}{places[0]}"
    return join_clauses([join_value(value_text, grids[0].span if has_span else ""), *further_clauses])
