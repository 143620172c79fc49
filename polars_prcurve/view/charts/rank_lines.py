"""The chart of ranks: the order of models by prevalence, and where it is not settled."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, hint_at_arguments
from polars_prcurve.view.charts.parts import colors_and_panels, result_tables
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.chart_assembly import Chart, keep_part
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, build_eta_axis
from polars_prcurve.view.charts.parts.chart_titles import say_firsts
from polars_prcurve.view.charts.parts.colors_and_panels import Channel
from polars_prcurve.view.charts.parts.label_formats import format_level, round_digits
from polars_prcurve.view.charts.parts.label_placement import Word
from polars_prcurve.view.charts.parts.line_canvas import Canvas, check_words
from polars_prcurve.view.charts.parts.point_thinning import split_by_doubt
from polars_prcurve.view.charts.parts.result_tables import ChartCurves
from polars_prcurve.view.words.number_words import say_eta
from polars_prcurve.view.words.value_names import ISOLATES, isolate_name, wrap_words

# Columns of `ranking` on how sure an order is; it has those that its arguments ask for.
_LEAD_COLUMNS = ("behind", "may_be_best", "value_low", "value_high")
_MOST_NAMES = 30  # models whose names stand at their ranks, at most
_WIDTH = 432  # pixels of a chart across, which leaves room for names on both sides
_PITCH = 22  # pixels from rank to rank
_ROW_HEIGHT = style.NAME_SIZE + 2  # pixels that a further row of a name takes
_SUBTITLE = "Order of models by prevalence; rank 1 is best"  # also where nothing is tested
_ROW_LETTERS = 34  # letters in a row of a name
_ZONE_RIM = 0.34  # ranks, or parts of one, by which a zone is higher than its lines on either side


@hint_at_arguments
def ranking(
    table: pl.DataFrame,
    *,
    pairs: pl.DataFrame | None = None,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Ranks of models along prevalence, from the table of `ranking`, in any row order.

    Rank 1 is on top; equal models share a rank, and their lines lie on each other. Lines are straight
    between the prevalences of the table, on a log axis, and have their names at both ends. Places that
    are not settled are a grey zone, in which lines are dotted: a swap that is drawn there may not exist,
    and the name has the places that its model may have, "2–4". The zone of the first holds all that may
    be best. Below it neighbours share a zone unless `pairs` settles which is better, or, with
    `coarse=True`, unless their limits do. A table without `confidence` has no zones. With more than 8
    models, those that rank highest have a colour, and the others are grey.

    Parameters
    ----------
    table
        What `ranking` returns for several eta, such as `eta_grid()`.
    pairs
        What `compare` returns for the same metric, models and prevalences, best with `adjust="holm"`.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    color, facet
        `"model"` or a `by` column. By default models are colour and `by` columns are panels.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Examples
    --------
    >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
    >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
    >>> chart = ranking(df.prc.ranking(eta=[0.01, 0.1, 0.9]))
    >>> chart.to_dict()["title"]["subtitle"]
    ['Order of models by prevalence; rank 1 is best']
    """
    check_words(title, color=color, facet=facet)
    curves = _read_ranks(table, pairs)
    channels = colors_and_panels.read_channels(
        curves, color or ("model" if facet != "model" else None), facet
    )
    # Models with the best, then the best mean rank have colours.
    curve_ranks = curves.points.group_by("curve").agg(pl.col("rank").min() + pl.col("rank").mean() / 1e6)
    value_of_curve = {curve: -rank for curve, rank in curve_ranks.rows()}
    channels = colors_and_panels.pick_out(channels, value_of_curve, colors_and_panels.MAX_COLORS)
    points, max_rank = curves.points, curves.points["rank"].max()
    lowest_rank = max_rank if isinstance(max_rank, int) else 1  # None in an empty table
    x_axis = build_eta_axis(points)
    has_names = channels.facet is None and channels.color is not None and lowest_rank <= _MOST_NAMES
    name_words = _name_both_ends(curves, channels.color, x_axis) if channels.color and has_names else []
    name_widths = [
        style.measure_text(word.text) - word.dx for word in name_words if word.align == "right"
    ]
    # Places and the first row of a name take the usual pitch.
    rank_pitch = _PITCH + _ROW_HEIGHT * (
        max(Counter((word.x, word.y) for word in name_words).values(), default=2) - 2
    )
    ticks = tuple(map(float, range(1, lowest_rank + 1, -(-lowest_rank // 12))))  # about twelve
    y_title, tick_style = ("", "none") if has_names else ("Rank", "plain")
    left_room = round(max(name_widths, default=0))
    y_axis = ChartAxis("rank", y_title, lowest_rank + 0.5, 0.5, tick_style, ticks=ticks, room=left_room)
    height_share = (
        min(max(52 + rank_pitch * lowest_rank, 130), 390 if rank_pitch == _PITCH else 1_000) / _WIDTH
    )
    look: dict[str, Any] = {"names": "none" if has_names else "beside", "height": height_share}
    spec = ChartSpec(x_axis, y_axis, "linear", width=_WIDTH / 540, line_width=3.4, **look)
    canvas = Canvas(curves, channels, spec)
    canvas.words += name_words
    _draw_zones(canvas)
    doubtful_points = points.with_columns(doubt=pl.col("top") < pl.col("foot"))
    canvas.draw_few_places(canvas.draw_lines(split_by_doubt(doubtful_points, "linear")))
    canvas.follow_pointer(points, "nearest", _say_row, points["eta"])
    zone_sentences = _describe_zones(curves, table, confidence, has_pairs=pairs is not None)
    sentences = [channels.color_note, *zone_sentences, *curves.describe_sizes()]
    finding = say_firsts(curves, channels) or "Ranking by prevalence"
    return canvas.finish(title, finding, _SUBTITLE, sentences)


def _read_ranks(table: pl.DataFrame, pairs: pl.DataFrame | None) -> ChartCurves:
    """Return a line per model from the table of `ranking`, with models as the first group column."""
    # `top` and `foot` are the first and the last place that a model may have at a prevalence.
    table = result_tables.check_table("ranking", table, "ranking", ["eta", "model", "value", "rank"])
    n_keys = table.columns.index("eta")
    column_of_field = result_tables.name_group_fields(["model", *table.columns[:n_keys]])
    columns = ["value", "rank", *(name for name in _LEAD_COLUMNS if name in table.columns[n_keys + 1 :])]
    points = result_tables.pick_columns(table, column_of_field, ["eta", *columns])
    settled: dict[Any, bool] | None = None
    if pairs is not None:
        pair_columns = [*table.columns[:n_keys], "eta", "model_a", "model_b", "significant"]
        pairs = result_tables.check_table("pairs= of ranking", pairs, "compare", pair_columns)
        pairs = pairs.select(pair_columns)
        settled = {(*row[:-3], frozenset(row[-3:-1])): bool(row[-1]) for row in pairs.iter_rows()}
    group_keys = [*(field for field in column_of_field if field != "group_0"), "eta"]
    ranked_frame = points.drop_nulls("rank").sort(*group_keys, "rank", maintain_order=True)
    are_open: list[bool] = []  # whether it is open which is better, of a row and the one before it
    for group_values, group_frame in ranked_frame.group_by(group_keys, maintain_order=True):
        group_records = group_frame.to_dicts()
        are_open += [
            number > 0 and _is_open(group_records, number - 1, (*group_values,), settled)
            for number in range(len(group_records))
        ]
    run_numbers = pl.Series(are_open, dtype=pl.Boolean).not_().cum_sum()
    ranked_frame = ranked_frame.with_columns(
        run=run_numbers, place=pl.int_range(1, pl.len() + 1).over(group_keys)
    )
    end_exprs = [pl.col("place").min().alias("top"), pl.col("place").max().alias("foot")]
    ranked_frame = ranked_frame.with_columns(end.over("run") for end in end_exprs).drop("run", "place")
    points = pl.concat([ranked_frame, points.filter(pl.col("rank").is_null())], how="diagonal")
    return result_tables.build_lines(points, column_of_field, "rank")


def _is_open(
    points: list[dict[str, Any]],
    number: int,
    group_values: tuple[Any, ...],
    is_settled_by_pair: dict[Any, bool] | None,
) -> bool:
    """Return whether it is open which of two neighbours, number k and the next one, is better."""
    point, next_point = points[number], points[number + 1]
    if point.get("may_be_best") is None or next_point.get("may_be_best") is None:
        return False  # nothing is tested
    candidate_numbers = [
        other_number for other_number, other_point in enumerate(points) if other_point["may_be_best"]
    ]
    if number < max(candidate_numbers, default=0) or point["rank"] == next_point["rank"]:
        return True
    if point.get("value_low") is not None and next_point.get("value_high") is not None:
        return bool(next_point["value_high"] >= point["value_low"])
    if number == 0:
        return False
    model_pair = frozenset((point["group_0"], next_point["group_0"]))
    return is_settled_by_pair is None or not is_settled_by_pair.get((*group_values, model_pair), False)


def _draw_zones(canvas: Canvas) -> None:
    """Draw a zone for each stretch of prevalences at which the same places are not settled."""
    x_axis, open_points = canvas.spec.x, canvas.curves.points.filter(pl.col("top") < pl.col("foot"))
    etas = canvas.curves.points["eta"].unique().sort().to_list()
    eta_edges = [
        x_axis.low,
        *(math.sqrt(left_eta * right_eta) for left_eta, right_eta in pairwise(etas)),
        x_axis.high,
    ]
    number_of_eta = {eta: number for number, eta in enumerate(etas)}
    eta_numbers_of_zone: dict[tuple[str | None, int, int], set[int]] = {}
    for curve_number, eta, top_place, foot_place in open_points.select(
        "curve", "eta", "top", "foot"
    ).rows():
        panel_label = canvas.channels.curve_fields(curve_number).get("facet")
        eta_numbers_of_zone.setdefault((panel_label, top_place, foot_place), set()).add(
            number_of_eta[eta]
        )
    for (panel_label, top_place, foot_place), eta_numbers in eta_numbers_of_zone.items():
        for first_number in sorted(eta_numbers - {number + 1 for number in eta_numbers}):
            last_number = next(
                number for number in range(first_number, len(etas) + 1) if number + 1 not in eta_numbers
            )
            zone_fields = {
                "eta": eta_edges[first_number],
                "to": eta_edges[last_number + 1],
                "rank": top_place - _ZONE_RIM,
                "foot": foot_place + _ZONE_RIM,
            }
            record = {"part": "zone"} | {
                name: round_digits(value) for name, value in zone_fields.items()
            }
            canvas.records.append(record | colors_and_panels.tell_panel(panel_label))
    zone_layer = alt.Chart().mark_rect(color=style.ZONE, aria=False)
    zone_layer = zone_layer.encode(*canvas.place, alt.X2("to"), alt.Y2("foot"))
    canvas.under += [keep_part(zone_layer, "zone")] if eta_numbers_of_zone else []


def _say_row(point: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each prevalence of the table."""
    places_text = f"{point['top']} to {point['foot']}" if point["top"] < point["foot"] else point["rank"]
    return say_eta(point["eta"]), f"rank {places_text}, value {point['value']:.4g}"


def _describe_zones(
    curves: ChartCurves, result: pl.DataFrame, confidence: float | None, *, has_pairs: bool
) -> list[str]:
    """Return what grey means, or that nothing is known of how certain the order is."""
    if "may_be_best" not in result.columns:
        return ["Not tested: whether another test set would give this order"]
    if not (curves.points["top"] < curves.points["foot"]).any():
        return []
    if "behind" not in result.columns:
        reason = "nothing is known between points or within equal scores"
        return [f"Grey: places that are open, since {reason}"]
    level_text = "" if confidence is None else f" ({format_level(confidence)})"
    grey_sentence = f"Grey: the order is not significant{level_text}; crossings there may be chance"
    is_partly_tested = not has_pairs and curves.points["rank"].max() > 2  # type: ignore[operator]
    return [grey_sentence, "Below the first, nothing is tested" if is_partly_tested else ""]


def _name_both_ends(curves: ChartCurves, color_channel: Channel, x_axis: ChartAxis) -> list[Word]:
    """Return the names of models at both ends, with the places that they may have."""
    words: list[Word] = []
    ranked_points = curves.points.drop_nulls("rank")
    for end_eta, align, side_sign in ((x_axis.low, "right", -1), (x_axis.high, "left", 1)):
        end_rows = ranked_points.filter((pl.col("eta") / end_eta - 1).abs() < 1e-6)
        ranks_at_end = end_rows.group_by("rank", maintain_order=True).agg(
            "curve", pl.col("top", "foot").first()
        )
        place_texts = [
            f"{top_place}\u2013{foot_place}" if top_place < foot_place else str(rank)
            for rank, _, top_place, foot_place in ranks_at_end.rows()
        ]
        places_width = max(map(style.measure_text, place_texts), default=0.0)
        for (rank, curve_numbers, _, _), places_text in zip(
            ranks_at_end.rows(), place_texts, strict=True
        ):
            model_names = [color_channel.label_of_curve[curve_number] for curve_number in curve_numbers]
            ink_color = color_channel.colors[model_names[0]]
            is_grey = ink_color == style.OTHERS
            look: dict[str, Any] = {"weight": "normal" if is_grey else "bold", "align": align}
            look |= {"color": style.QUIET if is_grey else ink_color, "x": end_eta, "y": float(rank)}
            words.append(Word(text=places_text, dx=10 * side_sign, **look))
            # Beside a name from right to left the places would move to its other end.
            name_rows = wrap_words(", ".join(model_names).strip(ISOLATES), _ROW_LETTERS)
            for row_number, name_row in enumerate(name_rows):
                y_offset = (row_number - (len(name_rows) - 1) / 2) * _ROW_HEIGHT
                words.append(
                    Word(
                        text=isolate_name(name_row),
                        dx=(18 + places_width) * side_sign,
                        dy=y_offset,
                        **look,
                    )
                )
    return words
