"""Differences of models by prevalence, with their intervals and where they are settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import format_count, join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.core.ground.visible_names import shorten_names
from polars_prcurve.view.charts.parts import chart_curves, names_and_numbers
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, read_colors, read_sizes
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, GivenSize, build_eta_axis
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, build_channel
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.panel_in_pixels import Word, choose_way
from polars_prcurve.view.charts.parts.panel_layers import keep_part
from polars_prcurve.view.charts.parts.title_phrases import go_on, say_by_metric, say_firsts, say_too_few
from polars_prcurve.view.words.call_order_of_names import number_names
from polars_prcurve.view.words.number_words import join_value, say_estimate, say_eta

_HOLDS_0 = 2  # the place of the colour of a band that holds 0, after those above and below it
_HEIGHT = 0.55  # of a panel, as a share of its width: differences are small, and lines run across
_FEWEST_ROWS = 3  # pairs of models from which on they are a table: curves would lie on each other
_MOST_ROWS = 12  # rows of the table, at most, so that it fits a screen
_WIDTH = 300  # pixels that the axis of the table is wide, between names and numbers
_ROW_HEIGHT = 25  # pixels that a row of it is high
_OPEN_HEAD = "not significant"  # heads the rows that are not settled
_MOST_LETTERS = 60  # letters of the two names of a pair in a table
_COLUMNS = ("model_a", "model_b", "metric", "difference", "low", "high", "significant")
"""The columns of `compare` that are drawn."""

_LOOKS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "===": (style.INK, {"strokeWidth": 2}, {"filled": True}),
    "!==": (
        style.QUIET,
        {"strokeWidth": 1.6, "strokeDash": style.DOTS},
        {"filled": False, "fill": "white"},
    ),
}
"""The colour, line and point of an interval, by how Vega compares whether it is settled with 1."""


@hint_at_arguments
def difference(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Differences of two models by prevalence, from the table of `compare`, in any row order.

    The line is the value of model a minus that of model b, and the shade its interval, which has one
    colour above 0, another below it, and is grey where it contains 0. Above 0 model a is better, and
    below it model b; if lower is better, it is the other way round, and the chart names no
    winner. The line is dotted where the sign is not certain (`significant`). Two pairs, and several
    metrics or groups, are panels. From three pairs on, and at one prevalence, each row of `compare` is
    a row of a table: the largest significant differences first, at most 12, and how many more there
    are.

    Parameters
    ----------
    table
        What `compare` returns for several eta, such as `eta_grid()`. With columns `n_pos` and `n_neg`,
        as `summary` has them, the title has that there are fewer than 20 positives.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> a, b = [6, 5, 3, 4, 2, 1], [6, 3, 1, 5, 4, 2]
    >>> df = pl.DataFrame({"label": [1, 1, 1, 0, 0, 0], "a": a, "b": b})
    >>> table = df.prc.compare(eta=[0.01, 0.1, 0.5], score=["a", "b"], metrics="average_precision")
    >>> chart = difference(table)
    >>> chart.to_dict()["title"]["subtitle"]
    ['a minus b: average precision, in percentage points, by prevalence']
    """
    size = read_words(title, (width, height))
    compare_frame = chart_curves.check_table("difference", table, "compare", ["eta", *_COLUMNS])
    group_columns = compare_frame.columns[: compare_frame.columns.index("eta")]
    column_by_field = chart_curves.name_group_fields(group_columns) | {"metric": "metric"}
    sizes = [name for name in ("n_pos", "n_neg") if name in compare_frame.columns]
    pair_frame = chart_curves.pick_columns(compare_frame, column_by_field, ["eta", *_COLUMNS, *sizes])
    pair_frame = pair_frame.with_columns(pair=pl.struct("model_a", "model_b"))
    column_by_field |= {"pair": "two models"}
    curves = chart_curves.build_lines(pair_frame, column_by_field, "difference")
    if curves.count_distinct(["pair"]) >= _FEWEST_ROWS or curves.points["eta"].n_unique() == 1:
        return _draw_table(table, curves, confidence, title, size)
    points, is_one_pair = curves.points, len(curves.curve_rows) == 1
    y_axis = _build_axis(points.select("difference", "low", "high").unpivot()["value"])
    options: Any = {
        "is_neutral": True,
        "height": _HEIGHT,
        "side_colors": _choose_side_colors(pair_frame),
    }
    spec = ChartSpec(build_eta_axis(points), y_axis, "linear", bands=(("low", "high"),), **options)
    canvas = Canvas(curves, _build_panels(curves), spec, size)
    canvas.draw_level([0.0] * len(curves.curve_rows), "")  # which needs no name
    subtitle, finding = _say_pair(canvas) if is_one_pair else ("The first model minus the second", "")
    lines = _add_sides(points.with_columns(doubt=pl.col("significant").not_().fill_null(True)))
    grey_note = ", grey where they cover 0" if _HOLDS_0 in lines["side"] else ""
    chart = CurveChart(
        canvas,
        lines=lines,
        rows=points,
        height=pl.col("difference"),
        reads="nearest",
        say_row=_say_row,
        subtitle=f"{subtitle}, in percentage points, by prevalence",
        title="Differences of models by prevalence",
        finding=_say_few(finding, curves),
        few="differences are known only roughly",
        note=[f"{names_and_numbers.describe_level(True, confidence)}{grey_note}"],
        describe_doubt=_describe_open,
        has_ghosts=False,
    )
    return chart.draw(title)


def _say_pair(canvas: Canvas) -> tuple[str, str]:
    """Return what is drawn of a single pair, and where a test settles which model is better."""
    # Which model is better above 0 stands in the chart.
    curves = canvas.curves
    pair_row = curves.curve_rows.row(0, named=True)
    metric_name = names_and_numbers.format_metric_name(pair_row["metric"])
    model_names = _name_models(pair_row["pair"])
    subtitle = f"{' minus '.join(model_names)}: {go_on(metric_name)}"
    if not _is_higher_better(pair_row["metric"]):
        return subtitle, ""
    canvas.words += _name_sides(model_names, canvas)
    finding = say_by_metric(metric_name, _say_better(curves.points, model_names))
    known_points = curves.points.drop_nulls("difference")
    interval_flags = known_points.select((pl.col("low") <= 0) & (pl.col("high") >= 0)).to_series()
    if len(known_points) and interval_flags.all() and not known_points["significant"].any():
        finding += "; the interval of their difference includes 0 at all prevalences shown"
    return subtitle, finding


def _describe_open(lines: pl.DataFrame) -> list[str]:
    """Return a sentence on where a sign is not settled, and whether an interval is not to be trusted."""
    open_rows = lines.filter(pl.col("significant").fill_null(False).not_())
    is_doubtful = ((open_rows["low"] > 0) | (open_rows["high"] < 0)).any()
    doubt_clause = ", or in doubt: intervals from few examples may be too narrow" if is_doubtful else ""
    return [f"Dotted: not significant{doubt_clause}"] if len(open_rows) else []


def _build_axis(values_or_none: Iterable[float | None]) -> ChartAxis:
    """Return the axis of differences in points around all values and 0."""
    numbers_with_0 = [0.0, *(value for value in values_or_none if value is not None)]
    low, high = min(numbers_with_0), max(numbers_with_0)
    margin = 0.08 * (high - low) or 0.05
    return ChartAxis("difference", "Difference in points", low - margin, high + margin, "points")


def _name_models(pair: dict[str, Any]) -> tuple[str, str]:
    """Return the names of both models of a pair."""
    name_a, name_b = (
        names_and_numbers.name_with_column("group", "model", name) for name in pair.values()
    )
    return name_a, name_b


def _add_sides(difference_points: pl.DataFrame) -> pl.DataFrame:
    """Add `side`, the number in `side_colors` of the stretch that leads to a point."""
    side_here_expr = (
        pl.when(pl.col("low") > 0).then(0).when(pl.col("high") < 0).then(1).otherwise(_HOLDS_0)
    )
    side_before_expr, side_after_expr = (pl.col("here").shift(step).over("curve") for step in (1, -1))
    is_first_expr = pl.int_range(pl.len()).over("curve") == 0
    side_start_expr = (
        pl.when(is_first_expr)
        .then(side_after_expr.fill_null(pl.col("here")))
        .otherwise(side_before_expr)
    )
    side_expr = pl.when(side_start_expr == pl.col("here")).then("here").otherwise(_HOLDS_0)
    return (
        difference_points.with_columns(here=side_here_expr)
        .with_columns(side=side_expr.fill_null(_HOLDS_0))
        .drop("here")
    )


def _build_panels(curves: ChartCurves) -> Channels:
    """Return the channels: all that differs among the lines is in the name of their panel."""
    field_names = [
        field_name for field_name in curves.column_by_field if curves.count_distinct([field_name]) > 1
    ]
    return Channels(
        None, build_channel(curves, field_names, is_eta_added=False) if field_names else None
    )


def _choose_side_colors(pair_frame: pl.DataFrame) -> tuple[str, str, str]:
    """Return the colours above 0 and below it, those of both models of a single pair, and that of 0."""
    model_series = pl.concat([pair_frame["model_a"], pair_frame["model_b"].rename("model_a")])
    color_numbers = number_names(model_series)
    if pair_frame.n_unique("pair") != 1:
        return style.INK, style.INK, style.QUIET
    return read_colors()[color_numbers[0]], read_colors()[color_numbers[-1]], style.QUIET


def _name_sides(model_names: tuple[str, str], canvas: Canvas) -> list[Word]:
    """Return the words above and below 0: which model is better there."""
    size, y = canvas.size, canvas.spec.y
    color_above, color_below, _ = canvas.spec.side_colors
    look_above: dict[str, Any] = {"py": 6, "baseline": "top", "color": color_above}
    look_below: dict[str, Any] = {"py": size.height - 6, "baseline": "bottom", "color": color_below}
    zero_looks = [{"y": 0.0, "dy": 6}, {"y": 0.0, "dy": -6}]
    end_looks: list[dict[str, Any]] = [{"px": 8}, {"px": size.width - 8, "align": "right"}]
    return [
        choose_way(
            Word(
                text=f"{side_word} 0: {name} better", weight="bold", **side_look | place_look | end_look
            )
            for place_look in (
                {},
                {"baseline": side_look["baseline"], **zero_looks[side_word == "Above"]},
            )
            for end_look in end_looks
        )
        for name, side_word, side_look, axis_extent in zip(
            model_names, ("Above", "Below"), (look_above, look_below), (y.high, -y.low), strict=True
        )
        if axis_extent > 0.2 * (y.high - y.low)
    ]


def _say_row(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each prevalence of the table."""
    certainty = {True: "significant", False: "not significant", None: "in doubt"}[row["significant"]]
    return say_eta(row["eta"]), f"{_say_points(row['difference'], row['low'], row['high'])}, {certainty}"


def _say_points(difference: float, low: float | None, high: float | None) -> str:
    """Return a difference and its interval in points: `81 (62 to 95)`."""
    points_or_none: list[Any] = [
        None if share is None else 100 * round(share, 12) for share in (difference, low, high)
    ]
    return join_value(*say_estimate(*points_or_none, is_share=False))


def _draw_table(
    table: pl.DataFrame, curves: ChartCurves, confidence: float | None, title: Title, given: GivenSize
) -> Chart:
    """Return the table of intervals of many pairs, one per row of `compare`."""
    pair_rows = curves.points.drop_nulls("difference").join(
        curves.curve_rows, on="curve", maintain_order="left"
    )
    metrics, etas = curves.curve_rows["metric"].unique().to_list(), pair_rows["eta"].unique().to_list()
    is_better = all(map(_is_higher_better, metrics))
    fields = [field_name for field_name in curves.column_by_field if field_name != "pair"]
    column_by_varied_field = {
        field_name: curves.column_by_field[field_name]
        for field_name in fields
        if curves.count_distinct([field_name]) > 1
    }
    column_by_varied_field |= {"eta": "eta"} if len(etas) > 1 else {}
    interval_rows = [
        _read_interval(row, column_by_varied_field, is_better=is_better)
        for row in pair_rows.iter_rows(named=True)
    ]
    canvas = _draw_intervals(curves, interval_rows, given)
    scope_text = "corrected for all pairs (Holm)" if "p_adjusted" in table.columns else "each pair alone"
    # Pairs are corrected for each other where they share a group, a metric and a prevalence.
    has_pairs = len(pair_rows) > pair_rows.n_unique([*fields, "eta"])
    has_open = any(row["part"] == "interval" and "settled" not in row for row in canvas.records)
    open_reason = ", or in doubt" if pair_rows["significant"].null_count() else ""
    note = (
        f"Lines: {names_and_numbers.name_intervals(confidence)}",
        f"Significance: {scope_text}" if has_pairs else "",
        f"Dotted and hollow: not significant{open_reason}" if has_open else "",
    )
    metric_name = (
        names_and_numbers.format_metric_name(metrics[0]) if len(metrics) == 1 else "the metrics"
    )
    etas_text = names_and_numbers.describe_etas(etas)
    subtitle = f"Differences in {go_on(metric_name)}, in percentage points, {etas_text}"
    finding = _say_settled(
        interval_rows, metric_name, is_better=is_better, is_varied=bool(column_by_varied_field)
    )
    finding = _say_few(finding, curves)
    return canvas.finish(
        canvas.write(title, finding, name="Differences of models", subtitle=subtitle, note=note)
    )


def _say_few(finding: str, curves: ChartCurves) -> str:
    """Return a finding, after how few positives it is of; unchanged unless all have few."""
    are_few = curves.has_few_positives and not curves.few_curves
    return say_too_few(curves.curve_rows["n_pos"], finding) if finding and are_few else finding


def _say_settled(
    interval_rows: Sequence[IntervalRow], metric_name: str, *, is_better: bool, is_varied: bool
) -> str:
    """Return which differences a test settles, by name if they are few."""
    settled_names = [interval_row.name for interval_row in interval_rows if interval_row.is_settled]
    n_settled = len(settled_names)
    if not interval_rows:
        return ""
    if is_better and 1 <= n_settled <= 3 and sum(map(len, settled_names)) <= 2 * _MOST_LETTERS:
        return f"Significantly better by {go_on(metric_name)}: {join_words(settled_names)}"
    if n_settled == 0:
        several_text = f"in any of {len(interval_rows)} {'comparisons' if is_varied else 'pairs'}"
        finding = (
            "No clear winner "
            f"{several_text if len(interval_rows) > 1 else f'between {interval_rows[0].name}'}"
        )
        return say_by_metric(metric_name, finding)
    if is_varied or not is_better:
        return f"{n_settled} of {len(interval_rows)} differences in {go_on(metric_name)} are significant"
    settled_pairs = zip(
        *(interval_row.names for interval_row in interval_rows if interval_row.is_settled), strict=True
    )
    (best_names, n_worse), (worst_names, n_better) = map(_find_most, settled_pairs)
    clauses_text = (
        f"{best_names} significantly better than {n_worse} others; {worst_names} worse than {n_better}"
    )
    return say_by_metric(metric_name, clauses_text)


def _find_most(model_names: Sequence[str]) -> tuple[str, int]:
    """Return `a is`, or `a and b are`, of the most frequent names, and how often these are there."""
    count_by_name = Counter(model_names)
    max_times = max(count_by_name.values())
    most_frequent_names = [name for name, n_times in count_by_name.items() if n_times == max_times]
    is_short = sum(map(len, most_frequent_names)) <= _MOST_LETTERS
    subject = join_words(most_frequent_names) if is_short else f"{len(most_frequent_names)} models"
    return f"{subject} {'is' if len(most_frequent_names) == 1 else 'are each'}", max_times


class IntervalRow(NamedTuple):
    """A value with its interval, and whether a test settles its sign."""

    name: str
    value: float
    low: float | None
    high: float | None
    is_settled: bool
    names: tuple[str, str] = ("", "")  # the better one first, if more is better

    def say(self) -> str:
        return _say_points(self.value, self.low, self.high)


def _read_interval(
    row: dict[str, Any], column_by_varied_field: dict[str, str], *, is_better: bool
) -> IntervalRow:
    """Return a row of the table, of the better model minus the other one if more is better."""
    model_names, is_settled = _name_models(row["pair"]), bool(row["significant"])
    value, low, high = row["difference"], row["low"], row["high"]
    if value < 0 and is_better:
        model_names, value = model_names[::-1], -value
        low, high = (None if end is None else -end for end in (high, low))
    if sum(map(len, model_names)) > _MOST_LETTERS:
        name_a, name_b = shorten_names(model_names, _MOST_LETTERS // 2)
        model_names = name_a, name_b
    joint_word = ("over" if is_settled else "and") if is_better else "minus"
    group_texts = (
        f"prevalence {say_eta(row[field_name])}"
        if field_name == "eta"
        else names_and_numbers.name_with_column(field_name, column, row[field_name])
        for field_name, column in column_by_varied_field.items()
    )
    row_name = " \u00b7 ".join([f" {joint_word} ".join(model_names), *group_texts])
    return IntervalRow(row_name, value, low, high, is_settled, model_names)


def _count_rows(given: GivenSize) -> int:
    """Return how many rows are shown at most: in a low table those that do not overlap."""
    # Two rows are for what is not significant, and for how many are left out.
    return min(_MOST_ROWS, max(int((given[1] or 1_000) // (read_sizes().name + 2)) - 2, 1))


def _draw_intervals(curves: ChartCurves, rows: Sequence[IntervalRow], given: GivenSize) -> Canvas:
    """Return the canvas of the table: settled rows first, the greatest on top, and what is left out."""
    ranked_rows = sorted(rows, key=lambda row: (not row.is_settled, -abs(row.value)))
    n_shown = _count_rows(given)
    shown_rows, hidden_rows = ranked_rows[:n_shown], ranked_rows[n_shown:]
    x = _build_axis(end for row in shown_rows for end in row[1:4])
    n_settled = sum(row.is_settled for row in shown_rows)
    has_open = 0 < n_settled < len(shown_rows)
    # Rows that are not settled stand below a heading of their own, if others are above it.
    row_places = [k + (has_open and k >= n_settled) for k in range(len(shown_rows))]
    n_lines = len(shown_rows) + has_open + bool(hidden_rows)
    row_names = [row.name for row in shown_rows] + [_OPEN_HEAD] * has_open
    name_room = round(max(map(measure_text, row_names), default=0)) + 14
    y = ChartAxis("row", "", n_lines - 0.5, -0.5, "none", room=name_room)
    size = given[0] or _WIDTH, given[1] or n_lines * _ROW_HEIGHT
    spec = ChartSpec(x, y, "linear", names="none")
    canvas = Canvas(curves, Channels(None, None), spec, size)
    # It ends above the words on further rows, which may be longer than names.
    canvas.draw_line([(0.0, y.low - bool(hidden_rows)), (0.0, y.high)], "zero", {})
    right_x = canvas.size.width + max((measure_text(row.say()) for row in shown_rows), default=0) + 8
    for row, place in zip(shown_rows, row_places, strict=True):
        look: dict[str, Any] = {"y": float(place), "color": style.INK if row.is_settled else style.QUIET}
        weight: Any = "bold" if row.is_settled else "normal"
        canvas.words.append(Word(text=row.name, px=-name_room, weight=weight, **look))
        canvas.words.append(Word(text=row.say(), px=round(right_x), align="right", **look))
        record = {"part": "interval", "row": place, "said": row.say()}
        record |= {"settled": 1} if row.is_settled else {}
        for name, value in ((x.field, row.value), ("low", row.low), ("high", row.high)):
            record |= {} if value is None else {name: names_and_numbers.round_digits(value)}
        canvas.records.append(record)
    quiet: dict[str, Any] = {"px": -name_room, "color": style.QUIET}
    canvas.words += [Word(text=_OPEN_HEAD, y=float(n_settled), **quiet)] if has_open else []
    spoken_texts = [f"{row.name}: {row.say()}" for row in shown_rows]
    if hidden_rows:
        n_further = sum(row.is_settled for row in hidden_rows)
        rest = f"{format_count(n_further)} of them significant and smaller than these"
        text = f"and {format_count(len(hidden_rows))} more, {rest if n_further else 'none significant'}"
        canvas.words.append(Word(text=text, y=n_lines - 1.0, **quiet))
        spoken_texts.append(text)
    canvas.spoken = "; ".join(spoken_texts)
    canvas.layers += _build_layers(*canvas.place)
    return canvas


def _build_layers(x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return the layers of intervals and points; dotted and hollow where nothing is settled."""
    layers = []
    for vega_test, (color, line_look, point_look) in _LOOKS.items():
        rule_layer = alt.Chart().mark_rule(aria=False, color=color, **line_look)
        dot_layer = alt.Chart().mark_point(shape="circle", size=60, opacity=1, color=color, **point_look)
        dot_layer = dot_layer.encode(
            x, y, alt.Description("said:N"), tooltip=alt.Tooltip("said:N", title="points")
        )
        layers += [
            keep_part(layer.transform_filter(f"datum.settled {vega_test} 1"), "interval")
            for layer in (rule_layer.encode(alt.X("low:Q"), y, alt.X2("high")), dot_layer)
        ]
    return layers


def _is_higher_better(metric: str) -> bool:
    """Return whether more of a curve metric is better; a custom metric does not declare it."""
    from polars_prcurve.core.metrics.curve_metric import CurveMetric
    from polars_prcurve.core.metrics.metric_lookup import find_metrics

    try:
        [curve_metric] = find_metrics(metric, CurveMetric)
        return bool(curve_metric.higher_is_better)
    except (PrcError, ValueError):
        return False


def _say_better(points: pl.DataFrame, model_names: tuple[str, str]) -> str:
    """Return where a test settles which of two models is better, of rows of `compare`."""
    compared_points = points.drop_nulls("difference").sort("eta")
    compared_points = compared_points.with_columns(pl.col("significant").fill_null(False))
    leader_of_etas = [
        (eta, model_names[0 if difference > 0 else 1] if is_settled else "")
        for eta, difference, is_settled in compared_points.select(
            "eta", "difference", "significant"
        ).rows()
    ]
    return say_firsts(leader_of_etas, model_names)
