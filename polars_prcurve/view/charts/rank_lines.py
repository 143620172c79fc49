"""The chart of ranks: the order of models by prevalence, and where it is not settled."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

from polars_prcurve.core.ground.argument_checks import Title, read_name
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.view.charts.by_prevalence import draw_firsts
from polars_prcurve.view.charts.parts import chart_curves, colors_and_panels
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, read_sizes
from polars_prcurve.view.charts.parts.chart_assembly import COMMON_WIDTH, Chart
from polars_prcurve.view.charts.parts.chart_axes import (
    ChartAxis,
    ChartSpec,
    GivenSize,
    build_eta_axis,
    list_stretches,
    mark_eta,
)
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves
from polars_prcurve.view.charts.parts.colors_and_panels import Channel, Channels
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import (
    format_checked_level,
    format_metric_name,
    round_digits,
)
from polars_prcurve.view.charts.parts.panel_in_pixels import Word
from polars_prcurve.view.charts.parts.panel_layers import keep_part
from polars_prcurve.view.charts.parts.title_phrases import (
    MOST_LETTERS,
    MOST_NAMES,
    MOST_TRADES,
    go_on,
    list_firsts,
    say_by_metric,
    say_firsts,
)
from polars_prcurve.view.words.number_words import FEW_POSITIVES, say_eta
from polars_prcurve.view.words.shown_names import ISOLATES, isolate_name
from polars_prcurve.view.words.wrapped_text import wrap_words

# Columns of `ranking` on how sure an order is; it has those that its arguments request.
_FURTHER_COLUMNS = ("behind", "may_be_best", "value_low", "value_high", "n_pos", "n_neg")
_MOST_NAMES = 30  # models whose names stand at their ranks, at most
_WIDTH = 432  # pixels of a chart across, which leaves room for names on both sides
_PITCH = 22  # pixels from rank to rank
_ROW_LETTERS = 34  # letters in a row of a name
_ZONE_RIM = 0.34  # ranks, or parts of one, by which a zone is higher than its lines on either side


@hint_at_arguments
def ranking(
    table: pl.DataFrame,
    *,
    pairs: pl.DataFrame | None = None,
    metric: str | None = None,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Ranks of models along prevalence, from the table of `ranking`, in any row order.

    Rank 1 is on top; equal models share a rank, and their lines coincide. Lines are straight between the
    prevalences of the table, on a log axis, and have their names at both ends, with the places that a
    model may have, "2–4": from 1 + the number of significantly better models, to all but those that are
    significantly worse. The first is significantly better than those that may not be best; for others
    `pairs` has the answer, or, with `coarse=True`, their limits. Lines are dotted where more than one
    place is left, and neighbours without a significant order share a grey zone: a swap there may not
    exist. A table without `confidence` has no zones. With more than 8 models, those that rank highest
    have a colour, and the others are grey.

    Parameters
    ----------
    table
        What `ranking` returns for several eta, such as `eta_grid()`. With columns `n_pos` and `n_neg`,
        as `summary` has them, the note names models of fewer than 20 positives beside others of more.
    pairs
        What `compare` returns for the same metric, models and prevalences, best with `adjust="holm"`.
    metric
        The metric that ranks, such as `"average_precision"`, for title and subtitle, since the table
        does not hold it.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    color, facet
        `"model"` or a `by` column. By default models are colour and `by` columns are panels.
    title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
    >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
    >>> chart = ranking(df.prc.ranking(eta=[0.01, 0.1, 0.9]))
    >>> chart.to_dict()["title"]["subtitle"]
    ['Rank at each prevalence; 1 is best']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves, zones = _read_ranks(table, pairs)
    channels = colors_and_panels.read_channels(
        curves, color or ("model" if facet != "model" else None), facet
    )
    # Models with the best, then the best mean rank have colours.
    curve_ranks = curves.points.group_by("curve").agg(pl.col("rank").min() + pl.col("rank").mean() / 1e6)
    value_by_curve = {curve: -rank for curve, rank in curve_ranks.rows()}
    channels = colors_and_panels.pick_out(channels, value_by_curve, colors_and_panels.MAX_COLORS)
    canvas = _open_canvas(curves, channels, size)
    metric_name = "" if metric is None else format_metric_name(read_name("metric=", metric))
    metric_text = f" by {go_on(metric_name)}" if metric_name else ""
    _draw_zones(canvas, zones)
    firsts = _list_firsts(curves, channels)
    if any(name for _, name in firsts):
        draw_firsts(canvas, firsts, "")
    finding = say_firsts(firsts, channels.color.labels if channels.color else [])
    swaps = _say_swaps(curves, channels) or _say_firsts_of_panels(curves, channels)
    if swaps and "may_be_best" not in table.columns:
        swaps = f"On this test set, {go_on(swaps) if swaps.startswith('The order ') else swaps}"
    chart = CurveChart(
        canvas,
        lines=curves.points.with_columns(doubt=pl.col("top") < pl.col("foot")),
        rows=curves.points,
        height=pl.col("rank"),
        reads="nearest",
        say_row=_say_row,
        subtitle=f"Rank{metric_text} at each prevalence; 1 is best",
        title="Ranking by prevalence",
        finding=say_by_metric(metric_name, finding) or swaps,
        few="the order is known only roughly",
        describe_doubt=lambda _: _describe_zones(
            curves, table, confidence, has_pairs=pairs is not None, has_sure=zones["has_sure"].any()
        ),
    )
    return chart.draw(title)


def _open_canvas(curves: ChartCurves, channels: Channels, size: GivenSize) -> Canvas:
    """Return the canvas with rank 1 on top, and with the names of models at both ends if they fit."""
    max_rank = curves.points["rank"].max()
    lowest_rank = max_rank if isinstance(max_rank, int) else 1  # None in an empty table
    x_axis, etas = build_eta_axis(curves.points), curves.points["eta"].unique()
    x_axis = mark_eta(x_axis, etas[0]) if len(etas) == 1 else x_axis
    has_names = channels.facet is None and channels.color is not None and lowest_rank <= _MOST_NAMES
    name_words = _name_both_ends(curves, channels.color, x_axis) if channels.color and has_names else []
    row_height = read_sizes().name + 2
    name_rows = max(Counter((word.x, word.y) for word in name_words).values(), default=2) - 1
    if size[1] is not None and size[1] < lowest_rank * name_rows * row_height:  # they would overlap
        has_names, name_words = False, []
    name_widths = [measure_text(word.text) - word.dx for word in name_words if word.align == "right"]
    rank_pitch = _PITCH + row_height * (name_rows - 1)  # which the first row of a name takes
    ticks = tuple(map(float, range(1, lowest_rank + 1, -(-lowest_rank // 12))))  # about twelve
    y_title, tick_style = ("", "none") if has_names else ("Rank", "plain")
    left_room = round(max(name_widths, default=0))
    y_axis = ChartAxis("rank", y_title, 0.5, lowest_rank + 0.5, tick_style, is_reversed=True)
    y_axis = replace(y_axis, ticks=ticks, room=left_room)
    own_height = min(max(52 + rank_pitch * lowest_rank, 130), 390 if rank_pitch == _PITCH else 1_000)
    look: dict[str, Any] = {"names": "none" if has_names else "beside", "height": own_height / _WIDTH}
    spec = ChartSpec(x_axis, y_axis, "linear", width=_WIDTH / COMMON_WIDTH, line_width=3.4, **look)
    canvas = Canvas(curves, channels, spec, size)
    canvas.words += name_words
    return canvas


def _read_ranks(table: pl.DataFrame, pairs: pl.DataFrame | None) -> tuple[ChartCurves, pl.DataFrame]:
    """Return a line per model from the table of `ranking`, with models as the first group, and zones."""
    # `top` and `foot` are the first and the last place that a model may have at a prevalence.
    table = chart_curves.check_table("ranking", table, "ranking", ["eta", "model", "value", "rank"])
    n_keys = table.columns.index("eta")
    column_by_field = chart_curves.name_group_fields(["model", *table.columns[:n_keys]])
    further_columns = [name for name in _FURTHER_COLUMNS if name in table.columns[n_keys + 1 :]]
    columns = ["value", "rank", *further_columns]
    points = chart_curves.pick_columns(table, column_by_field, ["eta", *columns])
    settled_pairs: set[Any] | None = None
    if pairs is not None:
        pair_columns = [*table.columns[:n_keys], "eta", "model_a", "model_b", "significant"]
        pairs = chart_curves.check_table("pairs= of ranking", pairs, "compare", pair_columns)
        settled_rows = pairs.select(pair_columns).filter("significant").iter_rows()
        settled_pairs = {(*row[:-3], frozenset(row[-3:-1])) for row in settled_rows}
    group_keys = [*(field for field in column_by_field if field != "group_0"), "eta"]
    ranked_frame = points.drop_nulls("rank").sort(*group_keys, "rank", maintain_order=True)
    places: list[tuple[int, int]] = []
    zones: list[tuple[Any, ...]] = []
    for group_values, group_frame in ranked_frame.group_by(group_keys, maintain_order=True):
        is_sure = _compare_all(group_frame.to_dicts(), (*group_values,), settled_pairs)
        tops, feet = 1 + is_sure.sum(axis=0), len(is_sure) - is_sure.sum(axis=1)
        places += zip(tops.tolist(), feet.tolist(), strict=True)
        zones += [
            (*group_values, top, foot, bool(is_sure[top - 1 : foot, top - 1 : foot].any()))
            for top, foot in _find_zones(is_sure)
        ]
    schema = {"top": pl.Int64, "foot": pl.Int64}
    ranked_frame = ranked_frame.hstack(pl.DataFrame(places, schema, orient="row"))
    zone_schema = {key: points.schema[key] for key in group_keys} | schema | {"has_sure": pl.Boolean}
    zone_frame = pl.DataFrame(zones, zone_schema, orient="row")
    points = pl.concat([ranked_frame, points.filter(pl.col("rank").is_null())], how="diagonal")
    return chart_curves.build_lines(points, column_by_field, "rank"), zone_frame


def _compare_all(
    points: list[dict[str, Any]], group_values: tuple[Any, ...], settled_pairs: set[Any] | None
) -> NDArray[np.bool_]:
    """Return whether each model, in order of ranks, is significantly better than each one below it."""

    def is_better(point_number: int, lower_point_number: int) -> bool:
        point, lower_point = points[point_number], points[lower_point_number]
        if point.get("may_be_best") is None or lower_point.get("may_be_best") is None:
            return True  # nothing is tested, and the order is that of the values
        if point["rank"] == lower_point["rank"]:
            return False
        if point.get("value_low") is not None and lower_point.get("value_high") is not None:
            return bool(point["value_low"] > lower_point["value_high"])
        if point_number == 0:
            return not lower_point["may_be_best"]
        model_pair = frozenset((point["group_0"], lower_point["group_0"]))
        return settled_pairs is not None and (*group_values, model_pair) in settled_pairs

    n_models = len(points)
    is_sure = np.zeros((n_models, n_models), dtype=np.bool_)
    for point_number, lower_point_number in combinations(range(n_models), 2):
        is_sure[point_number, lower_point_number] = is_better(point_number, lower_point_number)
    return is_sure


def _find_zones(is_sure: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Yield the first and last place of each stretch, between which no order is wholly sure."""
    # Between two stretches, all models above are significantly better than all below.
    n_models = len(is_sure)
    cuts = [place for place in range(1, n_models) if is_sure[:place, place:].all()]
    for start, end in pairwise([0, *cuts, n_models]):
        if end - start > 1:
            yield start + 1, end


def _list_firsts(curves: ChartCurves, channels: Channels) -> list[tuple[float, str]]:
    """Return who is significantly first at each prevalence, in one panel; empty without a test."""
    points, color_channel = curves.points, channels.color
    is_tested = "behind" in points.columns and bool(points["may_be_best"].count())
    if channels.facet is not None or color_channel is None or not is_tested:
        return []
    return list_firsts(points, pl.col("top") == 1, "curve", color_channel.label_by_curve.__getitem__)


def _draw_zones(canvas: Canvas, zones: pl.DataFrame) -> None:
    """Draw a zone for each stretch of prevalences at which the same neighbours are not settled."""
    x_axis, curves, channels = canvas.spec.x, canvas.curves, canvas.channels
    etas = curves.points["eta"].unique().sort().to_list()
    panel_fields = [key for key in zones.columns if key.startswith("group")]
    curve_by_panel = {
        tuple(row[1:]): row[0] for row in curves.curve_rows.select("curve", *panel_fields).rows()
    }
    etas_by_zone: dict[tuple[str | None, int, int], set[float]] = {}
    for *group_values, eta, top_place, foot_place, _ in zones.rows():
        if tuple(group_values) in curve_by_panel:
            panel_label = channels.curve_fields(curve_by_panel[tuple(group_values)]).get("facet")
            etas_by_zone.setdefault((panel_label, top_place, foot_place), set()).add(eta)
    for (panel_label, top_place, foot_place), zone_etas in etas_by_zone.items():
        are_in_zone = [eta in zone_etas for eta in etas]
        for is_in_zone, zone in list_stretches(x_axis, etas, are_in_zone, bool):
            last_place = min(foot_place, canvas.spec.y.high - 0.5)  # ranks end before it if models tie
            zone |= {"rank": top_place - _ZONE_RIM, "foot": last_place + _ZONE_RIM}
            record = {"part": "zone", **colors_and_panels.tell_panel(panel_label)}
            record |= {name: round_digits(end) for name, end in zone.items()}
            canvas.records += [record] if is_in_zone else []
    zone_layer = alt.Chart().mark_rect(color=style.ZONE, aria=False)  # overlaps are not darker
    zone_layer = zone_layer.encode(*canvas.place, alt.X2("to"), alt.Y2("foot"))
    canvas.under += [keep_part(zone_layer, "zone")] if etas_by_zone else []


def _say_row(point: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each prevalence of the table."""
    places_text = f"{point['top']} to {point['foot']}" if point["top"] < point["foot"] else point["rank"]
    return say_eta(point["eta"]), f"rank {places_text}, value {point['value']:.4g}"


def _describe_zones(
    curves: ChartCurves,
    result: pl.DataFrame,
    confidence: float | None,
    *,
    has_pairs: bool,
    has_sure: bool,
) -> list[str]:
    """Return what grey means, or that nothing is known of how certain the order is."""
    if "may_be_best" not in result.columns:
        return ["Not tested: whether another test set would give this order"]
    if not (curves.points["top"] < curves.points["foot"]).any():
        return []
    if "behind" not in result.columns:
        reason = "nothing is known between points or within equal scores"
        return [f"Grey zones: the order is unknown, since {reason}"]
    level_text = "" if confidence is None else f" ({format_checked_level(confidence)})"
    is_partly_tested = not has_pairs and curves.points["rank"].max() > 2  # type: ignore[operator]
    result_phrase = "not tested, or not significant" if is_partly_tested else "not significant"
    grey_sentence = (
        f"Grey zones: the order is {result_phrase}{level_text}; crossings there may be due to chance"
    )
    sure_text = "Within a zone some models differ significantly, but not from all others"
    return [
        grey_sentence,
        sure_text if has_sure else "",
        "Tested: only who is first" if is_partly_tested else "",
        _say_few(curves),
    ]


def _say_few(curves: ChartCurves) -> str:
    """Return that zones include the models of few positives, which the title leaves out."""
    few_rows = curves.curve_rows.filter(pl.col("curve").is_in(curves.few_curves))
    few_names = few_rows["group_0"].cast(pl.String).unique(maintain_order=True).to_list()
    if not few_names:
        return ""
    has_names = len(few_names) <= colors_and_panels.MOST_NAMED
    models_text = join_words(map(isolate_name, few_names)) if has_names else "models"
    return f"Zones and places include {models_text} with fewer than {FEW_POSITIVES} positives"


def _name_both_ends(curves: ChartCurves, color_channel: Channel, x_axis: ChartAxis) -> list[Word]:
    """Return the names of models at both ends, with the places that they may have."""
    words: list[Word] = []
    ranked_points = curves.points.drop_nulls("rank")
    sides = ((x_axis.low, "right", -1), (x_axis.high, "left", 1))
    etas = ranked_points["eta"].unique()
    for end_eta, align, side_sign in sides if len(etas) != 1 else ((etas[0], "left", 1),):
        end_rows = ranked_points.filter((pl.col("eta") / end_eta - 1).abs() < 1e-6)
        ranks_at_end = end_rows.group_by("rank", maintain_order=True).agg(
            "curve", pl.col("top", "foot").first()
        )
        place_texts = [
            f"{top_place}\u2013{foot_place}" if top_place < foot_place else str(rank)
            for rank, _, top_place, foot_place in ranks_at_end.rows()
        ]
        places_width = max(map(measure_text, place_texts), default=0.0)
        for (rank, curve_numbers, *_), text in zip(ranks_at_end.rows(), place_texts, strict=True):
            model_names = [color_channel.label_by_curve[curve] for curve in curve_numbers]
            ink_color = color_channel.colors[model_names[0]]
            is_grey = ink_color == style.OTHERS
            look: dict[str, Any] = {"weight": "normal" if is_grey else "bold", "align": align}
            look |= {"color": style.QUIET if is_grey else ink_color, "x": end_eta, "y": float(rank)}
            words.append(Word(text=text, dx=10 * side_sign, **look))
            # Beside a name from right to left the places would move to its other end.
            name_rows = wrap_words(", ".join(model_names).strip(ISOLATES), _ROW_LETTERS)
            for row_number, name_row in enumerate(name_rows):
                dx = (18 + places_width) * side_sign
                dy = (row_number - (len(name_rows) - 1) / 2) * (read_sizes().name + 2)
                words.append(Word(text=isolate_name(name_row), dx=dx, dy=dy, **look))
    return words


def _say_firsts_of_panels(curves: ChartCurves, channels: Channels) -> str:
    """Return in how many panels a model is first at a single prevalence; empty at several."""
    color_channel, etas = channels.color, curves.points["eta"].unique()
    if len(etas) != 1 or color_channel is None or color_channel.fields != ["group_0"]:
        return ""
    is_tested = "may_be_best" in curves.points.columns and bool(curves.points["may_be_best"].count())
    panel_by_curve = channels.facet.label_by_curve if channels.facet else {}
    firsts_by_panel: dict[str, list[str]] = {}
    for curve in curves.points.filter(pl.col("top" if is_tested else "rank") == 1)["curve"]:
        panel_firsts = firsts_by_panel.setdefault(panel_by_curve.get(curve, ""), [])
        panel_firsts.append(color_channel.label_by_curve[curve])
    counts = Counter(firsts[0] for firsts in firsts_by_panel.values() if len(firsts) == 1)
    n_panels, n_open = len(firsts_by_panel), len(firsts_by_panel) - counts.total()
    place_text = f"at a prevalence of {say_eta(etas[0])}"
    verb = "is best" if is_tested else "ranks first"
    if channels.facet is None:
        return f"{next(iter(counts))} {verb} {place_text}" if counts else ""
    if not counts:
        return f"No {'clear winner' if is_tested else 'first'} in any of {n_panels} panels {place_text}"
    (name, n_first), *others = counts.most_common(MOST_NAMES)
    clauses = [f"{name} {verb} in {n_first} of {n_panels} panels {place_text}"]
    open_text = f"; {'no clear winner' if is_tested else 'equal'} in {n_open}" if n_open else ""
    return ", ".join([*clauses, *(f"{name} in {n}" for name, n in others)]) + open_text


def _say_swaps(curves: ChartCurves, channels: Channels) -> str:
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
        eta_texts_by_pair.setdefault(pair_names, []).append(say_eta(eta))
    is_long = sum(map(len, eta_texts_by_pair)) > 1.5 * MOST_LETTERS
    if n_changes > MOST_TRADES or len(swap_etas_and_pairs) != n_changes or is_long:
        return f"The order of {len(label_by_curve)} models changes with the prevalence"
    clauses = [
        f"{curve_pair} near {join_words(places)}" for curve_pair, places in eta_texts_by_pair.items()
    ]
    clauses[0] = clauses[0].replace(" near ", " change places near a prevalence of ", 1)
    return "; ".join(clauses)
