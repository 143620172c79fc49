"""The chart of ranks: the order of models by prevalence, and where it is not settled."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, hint_at_arguments
from polars_prcurve.view.charts.parts import chart_style as style
from polars_prcurve.view.charts.parts import colors_and_panels, result_tables
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
_LEAD_COLUMNS = ("behind", "low", "high", "resolved", "may_be_best", "value_low", "value_high")
_MOST_NAMES = 30  # models whose names stand at their ranks, at most
_WIDTH = 432  # pixels of a chart across, which leaves room for names on both sides
_PITCH = 22  # pixels from rank to rank
_ROW = style.NAME_SIZE + 2  # pixels that a further row of a name takes
_SUBTITLE = "Order of models by share of positives; rank 1 is best"  # also where nothing is tested
_LETTERS = 34  # letters in a row of a name
_RIM = 0.34  # ranks, or parts of one, by which a zone is higher than its lines on either side


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
    ['Order of models by share of positives; rank 1 is best']
    """
    check_words(title, color=color, facet=facet)
    curves = _read_ranks(table, pairs)
    channels = colors_and_panels.read_channels(
        curves, color or ("model" if facet != "model" else None), facet
    )
    # Models with the best, then the best mean rank have colours.
    ranks = curves.points.group_by("curve").agg(pl.col("rank").min() + pl.col("rank").mean() / 1e6)
    values = {curve: -rank for curve, rank in ranks.rows()}
    channels = colors_and_panels.pick_out(channels, values, colors_and_panels.MAX_COLORS)
    rows, max_rank = curves.points, curves.points["rank"].max()
    lowest = max_rank if isinstance(max_rank, int) else 1  # None in an empty table
    x = build_eta_axis(rows)
    has_names = channels.facet is None and channels.color is not None and lowest <= _MOST_NAMES
    words = _name_both_ends(curves, channels.color, x) if channels.color and has_names else []
    name_widths = [style.measure_text(word.text) - word.dx for word in words if word.align == "right"]
    # Places and the first row of a name take the usual pitch.
    pitch = _PITCH + _ROW * (max(Counter((word.x, word.y) for word in words).values(), default=2) - 2)
    ticks = tuple(map(float, range(1, lowest + 1, -(-lowest // 12))))  # about twelve
    y_title, tick_words = ("", "none") if has_names else ("Rank", "plain")
    room = round(max(name_widths, default=0))
    y = ChartAxis("rank", y_title, lowest + 0.5, 0.5, tick_words, ticks=ticks, room=room)
    height = min(max(52 + pitch * lowest, 130), 390 if pitch == _PITCH else 1_000) / _WIDTH
    look: dict[str, Any] = {"names": "none" if has_names else "beside", "height": height}
    spec = ChartSpec(x, y, "linear", width=_WIDTH / 540, line_width=3.4, **look)
    canvas = Canvas(curves, channels, spec)
    canvas.words += words
    _draw_zones(canvas)
    points = split_by_doubt(rows.with_columns(doubt=pl.col("top") < pl.col("foot")), "linear")
    canvas.draw_few_places(canvas.draw_lines(points))
    canvas.follow_pointer(rows, "nearest", _say_row, rows["eta"])
    zones = _describe_zones(curves, table, confidence, has_pairs=pairs is not None)
    note = [channels.color_note, *zones, *curves.describe_sizes()]
    finding = say_firsts(curves, channels) or "Ranking by prevalence"
    return canvas.finish(title, finding, _SUBTITLE, note)


def _read_ranks(table: pl.DataFrame, pairs: pl.DataFrame | None) -> ChartCurves:
    """Return a line per model from the table of `ranking`, with models as the first group column."""
    # `top` and `foot` are the first and the last place that a model may have at a prevalence.
    table = result_tables.check_table("ranking", table, "ranking", ["eta", "model", "value", "rank"])
    start = table.columns.index("eta")
    names = result_tables.name_group_fields(["model", *table.columns[:start]])
    columns = ["value", "rank", *(name for name in _LEAD_COLUMNS if name in table.columns[start + 1 :])]
    frame = result_tables.pick_columns(table, names, ["eta", *columns])
    if "resolved" in columns:
        frame = frame.with_columns(may_be_best=pl.col("resolved").not_())
    settled: dict[Any, bool] | None = None
    if pairs is not None:
        pair_columns = [*table.columns[:start], "eta", "model_a", "model_b", "resolved"]
        pairs = result_tables.check_table("pairs= of ranking", pairs, "compare", pair_columns)
        pairs = pairs.select(pair_columns)
        settled = {(*row[:-3], frozenset(row[-3:-1])): bool(row[-1]) for row in pairs.iter_rows()}
    by = [*(field for field in names if field != "group_0"), "eta"]
    ranked = frame.drop_nulls("rank").sort(*by, "rank", maintain_order=True)
    opens: list[bool] = []  # whether it is open which is better, of a row and the one before it
    for group_values, group in ranked.group_by(by, maintain_order=True):
        rows = group.to_dicts()
        opens += [k > 0 and _is_open(rows, k - 1, (*group_values,), settled) for k in range(len(rows))]
    run = pl.Series(opens, dtype=pl.Boolean).not_().cum_sum()
    ranked = ranked.with_columns(run=run, place=pl.int_range(1, pl.len() + 1).over(by))
    ends = [pl.col("place").min().alias("top"), pl.col("place").max().alias("foot")]
    ranked = ranked.with_columns(end.over("run") for end in ends).drop("run", "place")
    frame = pl.concat([ranked, frame.filter(pl.col("rank").is_null())], how="diagonal")
    return result_tables.build_lines(frame, names, "rank")


def _is_open(
    rows: list[dict[str, Any]], k: int, group_values: tuple[Any, ...], settled: dict[Any, bool] | None
) -> bool:
    """Return whether it is open which of two neighbours, number k and the next one, is better."""
    row, following = rows[k], rows[k + 1]
    if row.get("may_be_best") is None or following.get("may_be_best") is None:
        return False  # nothing is tested
    candidates = [n for n, other in enumerate(rows) if other["may_be_best"]]
    if k < max(candidates, default=0) or row["rank"] == following["rank"]:
        return True
    if row.get("value_low") is not None and following.get("value_high") is not None:
        return bool(following["value_high"] >= row["value_low"])
    if k == 0:
        return False
    pair = frozenset((row["group_0"], following["group_0"]))
    return settled is None or not settled.get((*group_values, pair), False)


def _draw_zones(canvas: Canvas) -> None:
    """Draw a zone for each stretch of prevalences at which the same places are not settled."""
    x, rows = canvas.spec.x, canvas.curves.points.filter(pl.col("top") < pl.col("foot"))
    etas = canvas.curves.points["eta"].unique().sort().to_list()
    edges = [x.low, *(math.sqrt(a * b) for a, b in pairwise(etas)), x.high]
    number_of = {eta: number for number, eta in enumerate(etas)}
    zones: dict[tuple[str | None, int, int], set[int]] = {}
    for curve, eta, top, foot in rows.select("curve", "eta", "top", "foot").rows():
        panel = canvas.channels.curve_fields(curve).get("facet")
        zones.setdefault((panel, top, foot), set()).add(number_of[eta])
    for (panel, top, foot), eta_numbers in zones.items():
        for start in sorted(eta_numbers - {number + 1 for number in eta_numbers}):
            end = next(number for number in range(start, len(etas) + 1) if number + 1 not in eta_numbers)
            place = {"eta": edges[start], "to": edges[end + 1], "rank": top - _RIM, "foot": foot + _RIM}
            record = {"part": "zone"} | {name: round_digits(value) for name, value in place.items()}
            canvas.records.append(record | colors_and_panels.tell_panel(panel))
    zone = alt.Chart().mark_rect(color=style.ZONE, aria=False)
    zone = zone.encode(*canvas.place, alt.X2("to"), alt.Y2("foot"))
    canvas.under += [keep_part(zone, "zone")] if zones else []


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each prevalence of the table."""
    places = f"{row['top']} to {row['foot']}" if row["top"] < row["foot"] else row["rank"]
    return say_eta(row["eta"]), f"rank {places}, value {row['value']:.4g}"


def _describe_zones(
    curves: ChartCurves, table: pl.DataFrame, confidence: float | None, *, has_pairs: bool
) -> list[str]:
    """Return what grey means, or that nothing is known of how certain the order is."""
    if "may_be_best" not in table.columns:
        return ["Not tested: whether another test set would give this order"]
    if not (curves.points["top"] < curves.points["foot"]).any():
        return []
    if "resolved" not in table.columns:
        unknown = "the table does not tell what lies between its points or within equal scores"
        return [f"Grey: places that are open, since {unknown}"]
    level = "" if confidence is None else f" ({format_level(confidence)})"
    grey = f"Grey: places that a test does not settle{level}, so a swap drawn dotted may not exist"
    few = not has_pairs and curves.points["rank"].max() > 2  # type: ignore[operator]
    return [grey, "Below the first, nothing is tested" if few else ""]


def _name_both_ends(curves: ChartCurves, color: Channel, x: ChartAxis) -> list[Word]:
    """Return the names of models at both ends, with the places that they may have."""
    words: list[Word] = []
    rows = curves.points.drop_nulls("rank")
    for eta, align, side in ((x.low, "right", -1), (x.high, "left", 1)):
        end_rows = rows.filter((pl.col("eta") / eta - 1).abs() < 1e-6)
        ends = end_rows.group_by("rank", maintain_order=True).agg("curve", pl.col("top", "foot").first())
        place_texts = [
            f"{top}\u2013{foot}" if top < foot else str(rank) for rank, _, top, foot in ends.rows()
        ]
        room = max(map(style.measure_text, place_texts), default=0.0)
        for (rank, numbers, _, _), places in zip(ends.rows(), place_texts, strict=True):
            labels = [color.label_of_curve[number] for number in numbers]
            ink = color.colors[labels[0]]
            is_grey = ink == style.OTHERS
            look: dict[str, Any] = {"weight": "normal" if is_grey else "bold", "align": align}
            look |= {"color": style.QUIET if is_grey else ink, "x": eta, "y": float(rank)}
            words.append(Word(text=places, dx=10 * side, **look))
            # Beside a name from right to left the places would move to its other end.
            parts = wrap_words(", ".join(labels).strip(ISOLATES), _LETTERS)
            for k, part in enumerate(parts):
                dy = (k - (len(parts) - 1) / 2) * _ROW
                words.append(Word(text=isolate_name(part), dx=(18 + room) * side, dy=dy, **look))
    return words
