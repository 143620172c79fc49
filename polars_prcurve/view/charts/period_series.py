"""The chart of a series that is watched: each period, all so far, and when there is an alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import altair as alt
import polars as pl

from polars_prcurve.core.comparison.monitoring import SINCE_COLUMNS
from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import join_words, name_groups
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.view.charts.parts import chart_curves
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.active_theme import measure_text, quiet_look, read_colors
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import ChartAxis, ChartSpec, fit_shares
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, read_panels_of_one
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.names_and_numbers import (
    escape_text,
    format_checked_level,
    format_metric_name,
    round_digits,
)
from polars_prcurve.view.charts.parts.panel_in_pixels import Word
from polars_prcurve.view.charts.parts.panel_layers import keep_lines, keep_part
from polars_prcurve.view.charts.parts.rule_flags import count_flag_rows, draw_rules, raise_flags
from polars_prcurve.view.charts.parts.title_phrases import are_short
from polars_prcurve.view.words.number_words import (
    join_value,
    say_estimate,
    say_eta,
    say_share,
    say_shares,
)
from polars_prcurve.view.words.shown_names import show_on_one_line, start_sentence

# The columns of `monitor` that are drawn on the axis of shares.
_SHARES = ("value", "overall", "overall_low", "overall_high", *SINCE_COLUMNS, "reference", "bound")
_VALUES = (*_SHARES, "alarm", "since")  # all that is drawn or written
_MOST_TICKS = 12  # periods, at most, whose name stands below them
_TICK_GAP = 14  # pixels between two of these names
_MEANS = {"before": ("overall", "overall_low", "overall_high"), "since": SINCE_COLUMNS}
"""The columns of the mean of all periods so far, or before a change, and of those since then."""
_PAST_OF_CHANGE = {"fallen": "fell", "risen": "rose"}
_FEWEST_GOOD = 3  # latest periods, at least, that are mentioned as back after an alarm
_ON_MEAN = "reference on the mean"  # what a reference is that a mean would hide
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
    rate_text = format_metric_name(period_rows["metric"][0] if len(period_rows) else "precision")
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
    level_text = "" if confidence is None else f"{format_checked_level(confidence)} "
    has_change = any(record["part"] == "past mean" for record in canvas.records)
    periods_text = name_groups([time])[1].replace("groups", "periods")  # of no name with a plural
    mean_text = f"{level_text}interval of {'a' if has_change else 'the'} mean"
    note = (
        f"Shaded: {mean_text}, valid for all {periods_text} simultaneously",
        *_describe_rules(canvas, first_rows, is_rise=is_rise),
        f"Alarm: where a {'rise' if is_rise else 'fall'} was first significant"
        if period_rows["alarm"].any()
        else "",
        *_describe_recovery(period_rows, periods_text, is_rise=is_rise),
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
    result = chart_curves.check_table("monitor", table, "monitor", ["metric", *_VALUES])
    key_columns = result.columns[: result.columns.index("metric")]
    if not key_columns:
        raise PrcError("pass the table that monitor returns, whose first columns are its periods")
    *group_columns, time_column = key_columns
    column_by_field = chart_curves.name_group_fields(group_columns)
    value_columns = ["metric", *(["eta"] if "eta" in result.columns else []), *_VALUES]
    periods = chart_curves.pick_columns(result, {**column_by_field, "time": time_column}, value_columns)
    period_number = (
        pl.col("time") if result.schema[time_column].is_integer() else pl.col("time").rank("dense")
    )
    periods = periods.with_columns(period=period_number.cast(pl.Float64))
    numbered_periods = chart_curves.number_curves(
        periods.sort(*column_by_field, "period"), column_by_field
    )
    return chart_curves.build_chart_curves(
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
    """Draw the reference of each series and its bound; the reference is over the mean, too."""
    is_above = is_rise
    if not first_rows["bound"].count():  # away from the mean
        means = [row for row in canvas.records if "low" in row]
        is_above = bool(means) and means[0]["overall"] >= first_rows["reference"][0]
    side: Literal["above", "below"] = "below" if is_above else "above"
    canvas.draw_level(first_rows["reference"], "reference", side, is_in_panels=True)
    bound_side: Literal["above", "below"] = "above" if is_rise else "below"
    canvas.draw_level(first_rows["bound"], "bound", bound_side, is_in_panels=True)
    fields = [axis.field for axis in canvas.axes]
    layer = alt.Chart().mark_line(color=style.QUIET, strokeWidth=1, order=False, aria=False)
    layer = layer.encode(*canvas.place, alt.Detail("ref:N"))
    test = "indexof(datum.ref, 'reference') === 0"
    canvas.layers.append(keep_lines(layer, "reference", fields, test))
    # On a mean that equals it, it has dashes.
    pixels = canvas.size.height / (canvas.spec.y.high - canvas.spec.y.low)
    mean_places = [(row.get("facet"), row["overall"]) for row in canvas.records if "low" in row]
    for row in canvas.records:
        if row["part"] == "reference" and any(
            panel == row.get("facet") and abs(mean - row["overall"]) * pixels < style.LINE
            for panel, mean in mean_places
        ):
            row["ref"] = row["ref"].replace("reference", _ON_MEAN)
    if any(row.get("ref", "").startswith(_ON_MEAN) for row in canvas.records):
        dashes = layer.mark_line(color=style.INK, strokeDash=[6, 6], order=False, aria=False)
        test = f"indexof(datum.ref, '{_ON_MEAN}') === 0"
        canvas.layers.append(keep_lines(dashes, "reference", fields, test))


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
    if canvas.channels.facet is None:
        grey_text = ""
    elif has_bounds:
        grey_text = "Level grey lines: the reference and its bound"
    else:
        share_text = f", {say_share(references[0])}" if references.n_unique() == 1 else ""
        grey_text = f"Level grey line: the reference{share_text}"
    bound_text = f"Bound: the reference {'plus' if is_rise else 'less'} its sampling error"
    is_on_mean = any(row.get("ref", "").startswith(_ON_MEAN) for row in canvas.records)
    dashes_text = "Dashed: the reference, where it lies on the mean" if is_on_mean else ""
    return [bound_text if has_bounds else "", grey_text, dashes_text]


def _describe_recovery(rows: pl.DataFrame, periods_text: str, *, is_rise: bool) -> list[str]:
    """Return a sentence on the latest periods of one series, if they contradict its alarm."""
    if rows["curve"].n_unique() != 1 or not rows["alarm"].any():
        return []
    n_back = _count_periods_back(rows, is_rise=is_rise)
    side = "above" if is_rise else "below"
    note = f"The last {n_back} {periods_text} are not {side} the reference; an alarm stays on"
    return [note] if n_back else []


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
    change_word = "risen" if is_rise else "fallen"
    series_by_curve = {
        curve: rows.sort("period")
        for (curve,), rows in curves.points.group_by("curve", maintain_order=True)
    }
    n_series = len(series_by_curve)
    rows_by_curve = {
        curve: rows
        for curve, rows in series_by_curve.items()
        if rows["overall"].count() and rows["alarm"].count()
    }
    if series_by_curve and not rows_by_curve:
        is_empty = curves.points["overall"].count() == 0
        missing_text = f"no {time_name} has a value" if is_empty else "the reference has no value"
        return f"{rate_name} is not tested: {missing_text}"
    n_untested = n_series - len(rows_by_curve)
    untested_text = f"; no value to test in {n_untested} of {n_series} series" if n_untested else ""
    change_by_curve = {
        curve: _find_change(rows, change_word)
        for curve, rows in rows_by_curve.items()
        if rows["alarm"].any()
    }
    label_channel = channels.color or channels.facet
    if not change_by_curve:
        side_text = "above" if change_word == "risen" else "below"
        references = curves.points["reference"].drop_nulls().unique().to_list()
        value_text = f" of {say_share(references[0])}" if len(references) == 1 else ""
        sentence = f"{rate_name} is not significantly {side_text} the reference{value_text}"
    elif n_series == 1 or label_channel is None:
        [(curve, change), *_] = change_by_curve.items()
        sentence = _say_change(rows_by_curve[curve], change, rate_name, change_word, time_name)
    elif are_short([*change_by_curve], label_channel.label_by_curve):
        label_by_curve = label_channel.label_by_curve
        sentence = _say_changes(change_by_curve, label_by_curve, rate_name, change_word, time_name)
    else:
        n_series_back = sum(change.is_over for change in change_by_curve.values())
        back_text = f", and is back in {n_series_back} of them" if n_series_back else ""
        n_text = f"{len(change_by_curve)} of {n_series}"
        sentence = f"{rate_name} has {change_word} in {n_text} series{back_text}"
    return f"{sentence}{untested_text}"


class _Change(NamedTuple):
    """The likely change of a series with an alarm."""

    start: Any  # the period with which it began
    before: float | None  # the mean of all earlier periods, if there are any
    since: float  # the mean from the start to the last period
    reference: float
    has_moved: bool  # whether the mean is now worse than before
    is_past: bool  # whether it is not worse than the reference
    n_back: int  # how many of the latest periods are not worse than the reference, if they are several
    is_alone: bool  # whether the series has one period

    @property
    def is_over(self) -> bool:
        """Whether the rate is back at the reference, by its latest periods or by its mean."""
        return self.n_back > 0 or (self.is_past and not self.has_moved)


def _find_change(rows: pl.DataFrame, change_word: str) -> _Change:
    """Return the likely change of one series, whose rows are in order."""
    start = rows["since"].drop_nulls()[0]
    overall_before = rows.filter(pl.col("time") < start)["overall"].drop_nulls().tail(1).to_list()
    overall_since, reference = rows["overall_since"].drop_nulls()[-1], rows["reference"][0]

    def is_worse_than(value: float) -> bool:
        return bool(overall_since > value) if change_word == "risen" else bool(overall_since < value)

    has_moved = bool(overall_before) and is_worse_than(overall_before[0])
    is_past = not is_worse_than(reference)
    n_back = _count_periods_back(rows, is_rise=change_word == "risen")
    return _Change(
        start,
        overall_before[0] if overall_before else None,
        overall_since,
        reference,
        has_moved,
        is_past,
        n_back,
        len(rows) == 1,
    )


def _count_periods_back(rows: pl.DataFrame, *, is_rise: bool) -> int:
    """Return how many of the latest periods are not worse than the reference; 0 if they are few."""
    known_rows = rows.sort("period").drop_nulls("value")
    excess_expr = pl.col("value") - pl.col("reference")
    worse_flags = known_rows.select(excess_expr > 0 if is_rise else excess_expr < 0).to_series()
    n_good_periods = next(
        (
            n_periods
            for n_periods, is_period_worse in enumerate(worse_flags.reverse())
            if is_period_worse
        ),
        len(worse_flags),
    )
    return n_good_periods if n_good_periods >= _FEWEST_GOOD else 0


def _say_changes(
    change_by_curve: Mapping[int, _Change],
    name_by_curve: Mapping[int, str],
    rate_name: str,
    change_word: str,
    time_name: str,
) -> str:
    """Return which of several series have changed, and from where on."""
    side_word = "above" if change_word == "risen" else "below"
    names_by_clause: dict[tuple[str, str], list[str]] = {}
    for curve, change in change_by_curve.items():
        verb = "was temporarily" if change.is_past or change.n_back else "is"
        clause = f"{verb} {side_word} the reference for", _say_start(change, time_name)
        if change.has_moved:
            verb = _PAST_OF_CHANGE[change_word] if change.n_back else f"has {change_word}"
            start_text = f"probably {_place_in_time(time_name, change.start)}"
            clause = f"{verb} for", f"{start_text}{', and is back' if change.n_back else ''}"
        names_by_clause.setdefault(clause, []).append(name_by_curve[curve])
    clauses = [
        f"{verb} {join_words(names)}, {start_clause}"
        for (verb, start_clause), names in names_by_clause.items()
    ]
    return f"{rate_name} {'; it '.join(clauses)}"


def _place_in_time(time_name: str, start: object) -> str:
    """Return `in week 7`, or `on day 2026-01-01`."""
    return f"{'on' if time_name in _DAYS else 'in'} {time_name} {start}"


def _say_start(change: _Change, time_name: str) -> str:
    """Return `probably from week 7 on`, or of a mean of all periods `over all weeks together`."""
    if change.is_alone:
        return _place_in_time(time_name, change.start)
    if change.before is None and not (change.is_past or change.n_back):
        return f"over all {name_groups([time_name])[1].replace('groups', 'periods')} together"
    probably_word = "" if change.before is None else "probably "
    return f"{probably_word}from {time_name} {change.start} on"


def _say_change(
    rows: pl.DataFrame, change: _Change, rate_name: str, change_word: str, time_name: str
) -> str:
    """Return by how much the rate of one series has changed, from before a start, or the reference."""
    side_word = "above" if change_word == "risen" else "below"
    if change.n_back and (change.has_moved or not change.is_past):
        past_text = (
            _PAST_OF_CHANGE[change_word] if change.has_moved else f"was {side_word} the reference"
        )
        start_text = f"probably {_place_in_time(time_name, change.start)}"
        back_text = f"its last {change.n_back} values are not {side_word} the reference"
        return f"{rate_name} {past_text}, {start_text}; {back_text}"
    if change.has_moved:
        before_text, since_text = say_shares([change.before or 0.0, change.since])
        if before_text != since_text:
            values_text = f"from {before_text} to {since_text}"
            start_text = _place_in_time(time_name, change.start)
            return f"{rate_name} has {change_word} {values_text}, probably {start_text}"
    since_text, reference_text = say_shares([change.since, change.reference])
    start_text = _say_start(change, time_name)
    place_text = f"{side_word} the reference of {reference_text}"
    if change.is_past:
        past_text = f"{rate_name} was temporarily {place_text}, {start_text}"
        return f"{past_text}; the mean since then is {since_text}"
    return f"{rate_name} is {since_text}, {place_text}, {start_text}"
