"""The chart of a series that is watched: each period, all so far, and when there is an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.core.comparison.monitoring import SINCE_COLUMNS
from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.argument_hints import hint_at_arguments
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import join_words, name_groups
from polars_prcurve.view.charts.parts import chart_input
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, quiet_look, read_colors
from polars_prcurve.view.charts.parts.canvas import Canvas, read_words
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, fit_shares
from polars_prcurve.view.charts.parts.chart_input import ChartCurves
from polars_prcurve.view.charts.parts.chart_titles import are_short
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, read_panels_of_one
from polars_prcurve.view.charts.parts.label_placement import Word
from polars_prcurve.view.charts.parts.names_and_numbers import (
    escape_text,
    format_level,
    format_metric,
    round_digits,
)
from polars_prcurve.view.charts.parts.panel_layers import keep_part
from polars_prcurve.view.charts.parts.rule_flags import count_flag_rows, draw_rules, raise_flags
from polars_prcurve.view.words.names_in_sentences import show_on_one_line, start_sentence
from polars_prcurve.view.words.number_words import (
    join_value,
    say_estimate,
    say_eta,
    say_share,
    say_shares,
)

# The columns of `monitor` that are drawn on the axis of shares.
_SHARES = ("value", "overall", "overall_low", "overall_high", *SINCE_COLUMNS, "reference", "bound")
_VALUES = (*_SHARES, "alarm", "since")  # all that is drawn or written
_MOST_TICKS = 12  # periods, at most, whose name stands below them
_TICK_GAP = 14  # pixels between two of these names
_MEANS = {"before": ("overall", "overall_low", "overall_high"), "since": SINCE_COLUMNS}
"""The columns of the mean of all periods so far, or before a change, and of those since then."""
_FEWEST_GOOD = 3  # latest periods, at least, that are mentioned as back after an alarm
_DAYS = ("day", "date")  # what periods are called on which something is, and not in


@hint_at_arguments
def monitor(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """A monitored series, from the table of `monitor`: a dot per period, and the mean of them.

    After an alarm there are two means, before the likely change and since, and a rule at the change and
    at the alarm. The shade is the interval of a mean, simultaneous over all periods. Grey lines are the
    reference and its bound. The title lists the alarms.

    Parameters
    ----------
    table
        What `monitor(columns="all")` returns, in any row order.
    confidence
        The level of the table, for the note, since the table does not hold it.
    color, facet, title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> weeks = pl.DataFrame({"week": [1, 2, 3], "score": 1, "n_pos": [80, 52, 55]})
    >>> weeks = weeks.with_columns(n_neg=100 - pl.col("n_pos"))
    >>> alerts = weeks.prc(counts=("n_pos", "n_neg"))
    >>> periods = alerts.monitor("week", reference=0.8, threshold=1, columns="all")
    >>> monitor(periods).to_dict()["title"]["text"]
    ['Precision has fallen from 80% to 54%, probably in week 2']
    """

    size = read_words(title, (width, height), color=color, facet=facet)
    curves, time = _read_periods(table)
    period_rows = curves.points
    shares = pl.concat([period_rows[name].cast(pl.Float64).rename("share") for name in _SHARES])
    rate_text = format_metric(period_rows["metric"][0] if len(period_rows) else "precision")
    y_axis = ChartAxis("overall", rate_text, *fit_shares(shares, is_level=True))
    channels = read_panels_of_one(curves, color, facet)
    channels = channels if color else Channels(None, channels.facet)  # heads name the series
    spec = ChartSpec(_build_time_axis(period_rows, time), y_axis, "linear", height=0.5)
    spec = replace(spec, bands=(("low", "high"),))
    canvas = Canvas(curves, channels, spec, size)
    canvas.spec = replace(spec, x=_name_ticks(spec.x, period_rows, canvas.size.width))
    first_rows = period_rows.group_by("curve", maintain_order=True).first()
    is_rise = _is_of_rises(period_rows)
    bound = pl.when(pl.col("bound") != pl.col("reference")).then("bound")
    first_rows = first_rows.with_columns(bound=bound)
    _draw_changes(canvas)
    _draw_means(canvas)
    _draw_levels(canvas, first_rows, is_rise=is_rise)
    _draw_periods(canvas)
    canvas.follow_pointer(period_rows, "nearest", _say_period)
    level_text = "" if confidence is None else f"{format_level(confidence)} "
    has_change = any(record["part"] == "past mean" for record in canvas.records)
    periods_text = name_groups([time])[1].replace("groups", "periods")  # of no name with a plural
    mean_text = f"{level_text}interval of {'a' if has_change else 'the'} mean"
    note = (
        f"Shaded: {mean_text}, valid for all {periods_text} simultaneously",
        *_describe_rules(canvas, first_rows, is_rise=is_rise),
        f"Alarm: where a {'rise' if is_rise else 'fall'} was first significant; it stays on"
        if period_rows["alarm"].any()
        else "",
    )
    has_eta = "eta" in period_rows.columns and len(period_rows) > 0
    place_text = f" at a prevalence of {say_eta(period_rows['eta'][0])}" if has_eta else ""
    mean_text = "means before and since the likely change" if has_change else "the line is the mean"
    subtitle = f"{rate_text}{place_text} by {time}; {mean_text}"
    finding = _say_alarms(curves, channels, y_axis.title, time, is_rise=is_rise)
    return canvas.finish(canvas.write(title, finding, name=rate_text, subtitle=subtitle, note=note))


def _build_time_axis(period_rows: pl.DataFrame, time: str) -> ChartAxis:
    """Return the axis of the numbers of periods."""
    periods = period_rows["period"].drop_nulls().unique().sort().to_list() or [1.0]
    title = start_sentence(time)
    return ChartAxis("period", title, periods[0] - 0.5, periods[-1] + 0.5, "plain")


def _name_ticks(axis: ChartAxis, period_rows: pl.DataFrame, pixels: int) -> ChartAxis:
    """Return the axis with as many names of periods as have room below it."""
    first, last = round(axis.low + 0.5), round(axis.high - 0.5)
    names = {
        round(period): show_on_one_line(str(time))
        for period, time in period_rows.select("period", "time").drop_nulls().unique().rows()
    }
    longest = max(map(measure_text, names.values()), default=0) + _TICK_GAP
    n_names = max(1, min(_MOST_TICKS, int(pixels / longest)))
    ticks = range(first, last + 1, -(-(last - first + 1) // n_names))
    tick_names = tuple(escape_text(names.get(tick, str(tick))) for tick in ticks)
    return replace(axis, ticks=tuple(map(float, ticks)), tick_names=tick_names)


def _say_period(row: dict[str, Any]) -> tuple[str, str]:
    """Return what the pointer reads at each period."""
    mean_text = join_value(*say_estimate(row["overall"], row["overall_low"], row["overall_high"]))
    own_text = "" if row["value"] is None else f"{say_share(row['value'])}, "
    alarm_text = ", alarm" if row["alarm"] else ""
    return str(row["time"]), f"{own_text}all so far {mean_text}{alarm_text}"


def _read_periods(table: object) -> tuple[ChartCurves, str]:
    """Return a line for each group of a table, and what users call the time."""
    # `period` is the time itself if it is a whole number, and the number of the period otherwise.
    result = chart_input.check_table("monitor", table, "monitor", ["metric", *_VALUES])
    key_columns = result.columns[: result.columns.index("metric")]
    if not key_columns:
        raise PrcError("pass the table that monitor returns, whose first columns are its periods")
    *group_columns, time_column = key_columns
    column_by_field = chart_input.name_group_fields(group_columns)
    value_columns = ["metric", *(["eta"] if "eta" in result.columns else []), *_VALUES]
    periods = chart_input.pick_columns(result, {**column_by_field, "time": time_column}, value_columns)
    period_number = (
        pl.col("time") if result.schema[time_column].is_integer() else pl.col("time").rank("dense")
    )
    periods = periods.with_columns(period=period_number.cast(pl.Float64))
    numbered_periods = chart_input.number_curves(
        periods.sort(*column_by_field, "period"), column_by_field
    )
    return chart_input.build_chart_curves(
        numbered_periods, column_by_field, pl.col("period").is_not_null()
    ), time_column


def _is_of_rises(rows: pl.DataFrame) -> bool:
    """Return whether a rise of the rate is what is watched for."""
    return "fpr" in rows["metric"]


def _find_change_and_alarm(rows: pl.DataFrame) -> tuple[float, float] | None:
    """Return the periods of the likely change and of the alarm in one series; None without an alarm."""
    alarms = rows.filter("alarm")
    if alarms.is_empty():
        return None
    start = rows.filter(pl.col("time") == alarms["since"][0])["period"][0]
    return float(start), float(alarms["period"][0])


def _draw_means(canvas: Canvas) -> None:
    """Draw the mean of each series, or both of one with a likely change, and their intervals."""
    x, is_alone = canvas.spec.x, canvas.channels.facet is None
    for (curve,), rows in canvas.curves.points.group_by("curve", maintain_order=True):
        change_and_alarm, fields = _find_change_and_alarm(rows), canvas.channels.curve_fields(curve)
        start = change_and_alarm[0] if change_and_alarm else x.high + 0.5
        last_rows = {"before": rows.filter(pl.col("period") < start), "since": rows.tail(1)}
        edges = {"before": (x.low, start - 0.5), "since": (start - 0.5, x.high)}
        for number, (when, columns) in enumerate(_MEANS.items()):
            row = last_rows[when].tail(1).to_dicts()
            if not row or None in (values := [row[0][name] for name in columns]):
                continue
            is_past = change_and_alarm is not None and when == "before"
            numbers = dict(zip(("overall", "low", "high"), map(round_digits, values), strict=True))
            look = {"part": "past mean" if is_past else "curve", "curve": curve, "run": number}
            for order, period in enumerate(edges[when]):
                canvas.records.append(look | {"order": order, "period": period} | numbers | fields)
            if is_alone:
                is_first = change_and_alarm is None or last_rows["before"].is_empty()
                is_last = change_and_alarm is not None and when == "since"
                _name_mean(canvas, "so far" if is_first else when, edges[when], values, is_last=is_last)
    base = alt.Chart().encode(*canvas.place)
    area = base.mark_area(color=style.QUIET, opacity=style.BAND, aria=False)
    area = area.encode(alt.Y("low:Q"), alt.Y2("high"), alt.Detail("curve:N"))
    line = base.mark_line(color=style.QUIET, strokeWidth=style.LINE, aria=False)
    layers = (area, line.encode(alt.Detail("curve:N")))
    canvas.under += [keep_part(layer, "past mean") for layer in layers]


def _name_mean(
    canvas: Canvas, when: str, edges: tuple[float, float], values: Sequence[float], *, is_last: bool
) -> None:
    """Write the mean and its interval beside its line, where it has room."""
    _, low, high = values
    mean_text, interval_text = say_estimate(*values)
    text = f"{mean_text} {when} ({interval_text})"
    color = style.QUIET if when == "before" else canvas.channels.plain_color
    look: dict[str, Any] = {"text": text, "weight": "bold", "color": color, "has_rim": True}
    x, rows = canvas.spec.x, canvas.curves.points
    # At its outer end, clear of the dots there, and away from what the rate has left.
    reach = (x.high - x.low) * (measure_text(text) + 12) / canvas.size.width
    near = pl.col("period").is_between(
        *((x.high - reach, x.high) if is_last else (x.low, x.low + reach))
    )
    dots = rows.filter(near)["value"].drop_nulls().to_list()
    look |= {"x": edges[is_last], "dx": -6 if is_last else 6, "align": "right" if is_last else "left"}
    places: list[dict[str, Any]] = [
        {"y": max(high, *dots, low), "dy": -6, "baseline": "bottom"},
        {"y": min(low, *dots, high), "dy": 6, "baseline": "top"},
    ]
    is_below = is_last != _is_of_rises(rows)
    canvas.words.append(Word(**look, **places[is_below]))


def _draw_levels(canvas: Canvas, first_rows: pl.DataFrame, *, is_rise: bool) -> None:
    """Draw the reference of each series and its bound."""
    is_above = is_rise
    if not first_rows["bound"].count():  # away from the mean
        means = [row for row in canvas.records if "low" in row]
        is_above = bool(means) and means[0]["overall"] >= first_rows["reference"][0]
    side: Literal["above", "below"] = "below" if is_above else "above"
    bound_side: Literal["above", "below"] = "above" if is_rise else "below"
    for name, name_side in (("reference", side), ("bound", bound_side)):
        levels = first_rows[name].drop_nulls().to_list()
        text = f"{name} {say_share(levels[0])}" if levels else name
        canvas.draw_level(first_rows[name], text, name_side)


def _draw_changes(canvas: Canvas) -> None:
    """Draw a rule at the likely change of each series, and one at the alarm, and name them."""
    x, width, words = canvas.spec.x, canvas.size.width, list[Word]()
    for (curve,), rows in canvas.curves.points.group_by("curve", maintain_order=True):
        if change_and_alarm := _find_change_and_alarm(rows):
            panel = canvas.channels.curve_fields(curve).get("facet")
            start, alarm = change_and_alarm
            rules = {"likely change": start - 0.5} if start - 0.5 > x.low else {}
            rules |= {"alarm": alarm}
            own_words = [
                Word(name, x=place, facet=panel, **quiet_look()) for name, place in rules.items()
            ]
            records, flags = raise_flags(own_words, x, width)
            canvas.records += records
            words += flags
    canvas.words += words
    if words:
        canvas.under.append(draw_rules(canvas.place[0], style.REFERENCE, None, canvas.size.height))
    has_heads = canvas.channels.facet is not None
    canvas.spec = replace(canvas.spec, head_rows=count_flag_rows(words) if has_heads else 0)


def _describe_rules(canvas: Canvas, first_rows: pl.DataFrame, *, is_rise: bool) -> list[str]:
    """Return sentences on the bound, and on grey lines of panels, whose names may have no room."""
    references, has_bounds = first_rows["reference"], first_rows["bound"].count() > 0
    share_text = f", {say_share(references[0])}" if references.n_unique() == 1 else ""
    lines_text = (
        "lines: the reference and its bound" if has_bounds else f"line: the reference{share_text}"
    )
    bound_text = f"Bound: the reference {'plus' if is_rise else 'less'} its sampling error"
    has_panels = canvas.channels.facet is not None
    return [bound_text if has_bounds else "", f"Level grey {lines_text}" if has_panels else ""]


def _draw_periods(canvas: Canvas) -> None:
    """Draw a dot for the value of each period, grey before a likely change."""
    for (curve,), rows in canvas.curves.points.group_by("curve", maintain_order=True):
        change_and_alarm, fields = _find_change_and_alarm(rows), canvas.channels.curve_fields(curve)
        for row in rows.drop_nulls("value").iter_rows(named=True):
            place = {"period": row["period"], "overall": round_digits(row["value"])}
            is_past = change_and_alarm is not None and row["period"] < change_and_alarm[0]
            canvas.records.append({"part": "past" if is_past else "period", **place, **fields})
    encodings = canvas.channels.encodings
    look: dict[str, Any] = {} if encodings else {"color": read_colors()[0]}
    for part, ink, color in (("past", {"color": style.RULE}, []), ("period", look, encodings)):
        dot_layer = alt.Chart().mark_point(shape="circle", size=44, opacity=1, filled=True, **ink)
        canvas.layers.append(keep_part(dot_layer.encode(*canvas.place, *color), part))


def _say_alarms(
    curves: ChartCurves, channels: Channels, rate_name: str, time_name: str, *, is_rise: bool
) -> str:
    """Return which series have an alarm, and from where on: what the test of `monitor` settles."""
    side = "above" if is_rise else "below"
    all_rows = [rows for _, rows in curves.points.group_by("curve", maintain_order=True)]
    tested = [rows for rows in all_rows if rows["overall"].count() and rows["alarm"].count()]
    if all_rows and not tested:
        is_empty = curves.points["overall"].count() == 0
        missing_text = f"no {time_name} has a value" if is_empty else "the reference has no value"
        return f"{rate_name} is not tested: {missing_text}"
    alarmed = [rows.sort("period") for rows in tested if rows["alarm"].any()]
    n_text = f"{len(tested)} of {len(all_rows)} series"
    untested_text = "" if len(tested) == len(all_rows) else f" in the {n_text} with values to test"
    if not alarmed:
        references = curves.points["reference"].drop_nulls().unique().to_list()
        value_text = f" of {say_share(references[0])}" if len(references) == 1 else ""
        return f"{rate_name} is not significantly {side} the reference{value_text}{untested_text}"
    if len(all_rows) == 1:
        return _say_change(alarmed[0], rate_name, time_name, is_rise=is_rise)
    label_channel = channels.color or channels.facet
    names = {} if label_channel is None else label_channel.label_by_curve
    numbers = [rows["curve"][0] for rows in alarmed]
    owner = f"{len(alarmed)} of {len(all_rows)} series"
    owner = join_words([names[n] for n in numbers]) if are_short(numbers, names) else owner
    n_back = sum(_count_periods_back(rows, is_rise=is_rise) > 0 for rows in alarmed)
    back_text = f"; no longer in the latest values of {n_back} series" if n_back else ""
    return f"{rate_name} has been significantly {side} the reference for {owner}{back_text}"


def _say_change(rows: pl.DataFrame, rate_name: str, time_name: str, *, is_rise: bool) -> str:
    """Return by how much the rate of one series with an alarm has changed, and since when."""
    start, since = rows["since"].drop_nulls()[0], rows["overall_since"].drop_nulls()[-1]
    values_before = rows.filter(pl.col("time") < start)["overall"].drop_nulls().tail(1).to_list()
    place_text = f"probably {'on' if time_name in _DAYS else 'in'} {time_name} {start}"
    n_back = _count_periods_back(rows, is_rise=is_rise)
    side, verb = ("above", "risen") if is_rise else ("below", "fallen")
    back_text = f"; its last {n_back} values are not {side} the reference" if n_back else ""
    if values_before and (since > values_before[0]) == is_rise:
        texts = say_shares([values_before[0], since])
        return f"{rate_name} has {verb} from {' to '.join(texts)}, {place_text}{back_text}"
    since_text, reference_text = say_shares([since, rows["reference"][0]])
    past_text = f"{rate_name} was significantly {side} the reference of {reference_text}"
    return f"{past_text}; the mean since {time_name} {start} is {since_text}{back_text}"


def _count_periods_back(rows: pl.DataFrame, *, is_rise: bool) -> int:
    """Return how many of the latest periods are not worse than the reference; 0 if they are few."""
    gains = rows.sort("period").drop_nulls("value").select(pl.col("value") - pl.col("reference"))
    are_worse = [gain > 0 if is_rise else gain < 0 for gain in gains.to_series()]
    n_back = next((n for n, is_worse in enumerate(reversed(are_worse)) if is_worse), len(are_worse))
    return n_back if n_back >= _FEWEST_GOOD else 0
