"""The decision curve: net benefit by the risk at which users act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import Title, check_texts, check_title, read_flag
from polars_prcurve.argument_names import hint_at_arguments
from polars_prcurve.charts.parts.chart_assembly import (
    Chart,
    ChartSpec,
    ChartText,
    add_ghosts,
    build_chart,
)
from polars_prcurve.charts.parts.chart_axes import AxisWords, ChartAxis, choose_events, mark_ends
from polars_prcurve.charts.parts.chart_curves import (
    ChartCurves,
    build_chart_curves,
    check_table,
    describe_etas,
    describe_sizes,
    name_group_fields,
    number_curves,
)
from polars_prcurve.charts.parts.chart_words import Word
from polars_prcurve.charts.parts.colors_and_panels import (
    Channel,
    Channels,
    are_far_apart,
    pick_out,
    read_channels,
    read_etas_apart,
    sort_panels,
)
from polars_prcurve.charts.parts.hover import build_hover_records, thin_places
from polars_prcurve.charts.parts.number_formats import (
    add_threshold,
    format_level,
)
from polars_prcurve.charts.parts.points_to_draw import (
    build_records,
    describe_doubt,
    find_few_false_alerts,
    has_few_positives,
    split_by_doubt,
)
from polars_prcurve.charts.parts.references import QUIET, draw_line
from polars_prcurve.errors import PrcError
from polars_prcurve.number_words import say_count, say_estimate, say_share, say_shares

_RISK, _VALUE = "threshold_probability", "net_benefit"
_BAND = ("net_benefit_low", "net_benefit_high")
_NEEDED = ("eta", _RISK, *c.SWEEP_COLUMNS, _VALUE, "treat_all")
_BELOW_ZERO = 0.07
"""Room below 0, as a share of the height above it, where no line of a model goes below 0."""
_MOST_BELOW_ZERO = 0.4
"""Room below 0, at most: a model of risks far too high would press all others flat."""
_MOST_SAID = 8
"""Lines, at most, of which a title tells; more are grey but for a few."""


@hint_at_arguments
def decision_curve(
    table: pl.DataFrame,
    *,
    confidence: float | None = None,
    log_x: bool | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
) -> Chart:
    """Decision curves from the table of `decision_curve`, in any row order: net benefit by risk.

    A line is what acting on the model is worth, in true cases after false alerts are paid for, at each
    risk at which a user would act. The grey lines are treating everybody and treating nobody. A model
    is worth using where its line is above both. The shade is the table's interval. A line is dotted
    where fewer than five false positives are behind it, and has no shade there.

    Parameters
    ----------
    table
        What `decision_curve` returns, with or without intervals.
    confidence
        The level of the table's intervals, for the note, since the table does not hold it.
    log_x
        A log axis for the risk. By default where risks begin below 1 % and span a factor of 30 or more.
    color, facet
        A `by` column or `"eta"`. By default the first `by` column is colour, and the others are panels,
        as is eta if a group has several.
    title
        Replaces the chart's own title; False leaves out title, subtitle and note.

    Returns
    -------
    A layered Altair chart, or panels above a note.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.6, 0.3, 0.1], "label": [1, 0, 1, 0]})
    >>> df = pl.concat([df] * 10)
    >>> chart = decision_curve(df.prc.decision_curve(probabilities=[0.1, 0.2, 0.4]))
    >>> print(chart.to_dict()["title"]["text"][0].replace("\\xa0", " "))
    At a risk of 20 %, acting on the model nets 440 true cases per 1 000
    """
    check_texts(color=color, facet=facet)
    check_title(title)
    curves = _read_decisions(table)
    channels = _read_decision_channels(curves, color, facet)
    means = dict(curves.rows.group_by("curve").agg(pl.col(_VALUE).mean()).rows())
    channels, picked = pick_out(sort_panels(channels, means, curves), means, curves)
    axes = _build_axes(curves, channels, log_x)
    band = _BAND if _BAND[0] in curves.rows.columns else ()
    spec = ChartSpec(*axes, "linear", bands=(_BAND,) if band else ())
    scale = _Scale(curves, axes, channels)
    points = split_by_doubt(scale.cut_below(find_few_false_alerts(curves.rows), band), "linear")
    # A shade where nothing is known would hide the others, and says no more than the dots do.
    points = points.with_columns(pl.when(~pl.col("doubt")).then(name).alias(name) for name in band)
    grey, words = _draw_alternatives(scale, channels)
    lines = build_records(curves, channels, points, [_RISK, _VALUE, *band])
    both = [*lines, *mark_ends(*axes)] if axes[1].is_free else add_ghosts(lines, channels, axes[0])
    data = [*grey, *both, *_read_along(scale)]
    level = (
        "the intervals of the table" if confidence is None else f"{format_level(confidence)} intervals"
    )
    note = (
        "A false alert costs p / (1 \u2212 p) of a true case at the risk p",
        *(["Grey lines: treating all, and none"] if channels.facet is not None else []),
        picked,
        *([f"Shaded: {level}"] if band else []),
        *describe_doubt(points),
        *scale.describe_cut(),
        *describe_sizes(curves),
    )
    text = ChartText(
        title,
        f"Net benefit: true cases per {_say_events(curves)} cases, after false alerts are paid for, "
        f"{describe_etas(curves)}".rstrip(" ,"),
        note,
        _find_title(curves, channels) or "What acting on the model is worth, by risk",
    )
    return build_chart(spec, data, channels, text, words)


def _read_decisions(table: object) -> ChartCurves:
    """Return a line per group and prevalence; raise if one has two rows at a risk."""
    frame = check_table("the chart decision_curve", table, "the method decision_curve", _NEEDED)
    names = name_group_fields(frame.columns[: frame.columns.index("eta")]) | {"eta": "eta"}
    values = [_RISK, _VALUE, "treat_all", *(_BAND if set(_BAND) <= set(frame.columns) else ())]
    of_field = [name for name in c.FIELD_COLUMNS if name in frame.columns]
    read = pl.DataFrame(
        [frame.get_column(name).alias(field) for field, name in names.items()]
        + [frame.get_column(name) for name in (*c.SWEEP_COLUMNS, *values, *of_field)]
    )
    number = pl.col(values).cast(pl.Float64)  # null in place of NaN and infinity, which JSON has not
    read = read.with_columns(pl.when(number.is_finite()).then(number))
    read = read.with_columns(n_pos=pl.col("tp") + pl.col("fn"), n_neg=pl.col("fp") + pl.col("tn"))
    read = number_curves(read.sort(*names, _RISK), list(names))
    read = read.unique(["curve", _RISK, _VALUE], keep="first", maintain_order=True)
    if read.select(pl.struct("curve", _RISK).is_duplicated().any()).item():
        raise PrcError(
            "some lines have several values at one risk; keep the group columns of the table, and keep "
            "them before eta"
        )
    return build_chart_curves(
        read, names, pl.all_horizontal(pl.col(_RISK, _VALUE, "recall", "fpr").is_not_null())
    )


# Axes -----------------------------------------------------------------------------------------


def _read_decision_channels(curves: ChartCurves, color: str | None, facet: str | None) -> Channels:
    """Return the channels: prevalences far apart are panels, since no axis shows them well together."""
    if color is not None or facet is not None or not are_far_apart(curves.per_curve["eta"]):
        return read_channels(curves, color, facet)
    return read_etas_apart(curves)


def _build_axes(
    curves: ChartCurves, channels: Channels, log_x: bool | None
) -> tuple[ChartAxis, ChartAxis]:
    """Return the axis of risks, linear or log, and that of net benefit."""
    facet = channels.facet
    risks = curves.rows[_RISK].unique().sort()
    positive = risks.filter(risks > 0).to_list() or [0.01]
    low, high = positive[0], positive[-1]
    is_log = low < 0.01 and high / low >= 30 if log_x is None else read_flag("log_x=", log_x)
    if high < 1.01 * low:  # one risk
        low, high = (low / 2, min(2 * low, 1.0)) if is_log else (0.0, min(2 * low, 1.0))
    x = ChartAxis(
        _RISK,
        "Risk at which you act" if facet else "Risk at which you act (threshold probability)",
        low if is_log else 0.0,
        high,
        "share" if is_log else "percent",
        is_log=is_log,
    )
    etas = curves.per_curve["eta"]
    ranges = {} if facet is None else _find_ranges(curves, facet, x)
    bottom, top = _find_ends(curves.rows, x)
    words: AxisWords = "thousandths" if choose_events(etas) == 1_000 else "millionths"
    title = f"Net benefit per {_say_events(curves)}"
    return x, ChartAxis(_VALUE, title, bottom, top, words, is_free=bool(ranges), ranges=ranges)


def _find_ranges(curves: ChartCurves, facet: Channel, x: ChartAxis) -> dict[str, tuple[float, float]]:
    """Return the range of each panel, if panels are at prevalences far apart; otherwise none."""
    labels = pl.Series(facet.label_by_curve, dtype=pl.String)
    per_panel = curves.per_curve.with_columns(panel=labels).group_by("panel", maintain_order=True)
    panels = per_panel.agg("curve", pl.col("eta").mean())
    if not are_far_apart(panels["eta"]):
        return {}
    return {
        panel: _find_ends(curves.rows.filter(pl.col("curve").is_in(numbers)), x)
        for panel, numbers in panels.select("panel", "curve").iter_rows()
    }


def _find_ends(rows: pl.DataFrame, x: ChartAxis) -> tuple[float, float]:
    """Return the lowest and the highest net benefit that an axis shows."""
    within = rows.filter(pl.col(_RISK) >= x.low)
    names = [name for name in (_VALUE, "treat_all", _BAND[1]) if name in rows.columns]
    values = [value for name in names for value in within[name].drop_nulls().to_list()]
    top = 1.05 * max(values, default=0.0)
    top = top if top > 0 else 0.1
    least = min(within[_VALUE].drop_nulls().to_list(), default=0.0)
    return max(min(1.1 * least, -_BELOW_ZERO * top), -_MOST_BELOW_ZERO * top), top


def _say_events(curves: ChartCurves) -> str:
    return "1 000" if choose_events(curves.per_curve["eta"]) == 1_000 else "million"


@dataclass(frozen=True)
class _Scale:
    """The ends of the axes, which panels at prevalences far apart have of their own."""

    curves: ChartCurves
    axes: tuple[ChartAxis, ChartAxis]
    channels: Channels

    def find_bottoms(self) -> dict[int, float]:
        """Return the lowest net benefit that is drawn of each curve."""
        facet, numbers = self.channels.facet, self.curves.per_curve["curve"].to_list()
        panels = [None] * len(numbers) if facet is None else facet.label_by_curve
        return {
            number: self.axes[1].pick(panel).low for number, panel in zip(numbers, panels, strict=True)
        }

    def cut_below(self, rows: pl.DataFrame, band: tuple[str, ...]) -> pl.DataFrame:
        """Return the points in order; lines end where they leave the axes, and a null is a gap."""
        risk, value = pl.col(_RISK), pl.col(_VALUE)
        points = self.add_bottoms(rows.filter(risk >= self.axes[0].low))
        before = (value - pl.col("bottom")).shift(1).over("curve")
        after = value - pl.col("bottom")
        share = before / (before - after)
        crosses = points.with_columns(
            (risk.shift(1).over("curve") + share * risk.diff().over("curve")).alias("at")
        ).filter((before < 0) != (after < 0))
        crosses = crosses.with_columns(pl.col("at").alias(_RISK), pl.col("bottom").alias(_VALUE))
        ends = [pl.max_horizontal(name, "bottom").alias(name) for name in band]
        above = points.with_columns(pl.when(value >= pl.col("bottom")).then(value), *ends)
        above = above.with_columns(
            pl.when(pl.col(_VALUE).is_not_null()).then(pl.col(name)).alias(name) for name in band
        )
        cut = crosses.drop("at").with_columns(*ends)
        return pl.concat([above, cut]).sort("curve", _RISK, maintain_order=True)

    def add_bottoms(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add the lowest net benefit that is drawn of each curve."""
        bottoms = self.find_bottoms()
        numbers = pl.Series("curve", list(bottoms), dtype=rows.schema["curve"])
        low = pl.DataFrame([numbers, pl.Series("bottom", list(bottoms.values()), dtype=pl.Float64)])
        return rows.join(low, on="curve", maintain_order="left")

    def describe_cut(self) -> list[str]:
        """Return sentences for the note on rows that the axes do not show."""
        rows = self.curves.rows
        is_below = self.add_bottoms(rows).select((pl.col(_VALUE) < pl.col("bottom")).any()).item()
        said = ["Below the axis: risks at which a model does much harm"] if is_below else []
        has_zero = self.axes[0].is_log and (rows[_RISK] < self.axes[0].low).any()
        return [*said, *(["Not drawn: a risk of 0"] if has_zero else [])]

    def list_treat_all(self, eta: float, panel: str | None = None) -> Iterator[tuple[float, float]]:
        """Yield points of the line of treating all, between the upper and the lower end of the axis."""
        x, y = self.axes[0], self.axes[1].pick(panel)
        start = max(x.low, _find_risk_of_all(eta, y.high))
        end = min(_find_risk_of_all(eta, y.low), x.high)
        if end <= start:
            return
        first, last = x.place(start), x.place(end)
        for k in range(61):
            risk = min(x.read(first + (last - first) * k / 60), end)
            yield risk, eta - (1 - eta) * risk / (1 - risk)


def _find_risk_of_all(eta: float, value: float) -> float:
    """Return the risk at which treating all has this net benefit; 0 where it has less at all risks."""
    if eta >= 1:
        return 1.0
    odds = max(eta - value, 0.0) / (1 - eta)
    return odds / (1 + odds)


def _draw_alternatives(scale: _Scale, channels: Channels) -> tuple[list[dict[str, Any]], list[Word]]:
    """Return the lines of treating all and treating none, and their names if one panel has one each."""
    x, y = scale.axes
    records: list[dict[str, Any]] = []
    shown = set(channels.color.shown_labels) if channels.color else None
    etas = scale.curves.per_curve["eta"].to_list()
    if shown is not None and channels.color and channels.facet is None:
        # Grey lines of models that are grey themselves would hide all others.
        labels = channels.color.label_by_curve
        etas = [eta for eta, label in zip(etas, labels, strict=True) if label in shown]
    found = list(channels.repeat_in_panels("reference", etas))
    for eta, place in found:
        treat_all = scale.list_treat_all(eta, place.get("facet"))
        records += draw_line(treat_all, (x, y), f"all {eta:.6g}", place)
        records += draw_line([(x.low, 0.0), (x.high, 0.0)], (x, y), "none", place)
    if len(found) != 1 or channels.facet is not None or not records:
        return records, []
    return records, _name_alternatives([*scale.list_treat_all(found[0][0])], (x, y))


def _name_alternatives(line: list[tuple[float, float]], axes: tuple[ChartAxis, ChartAxis]) -> list[Word]:
    """Return the names of both grey lines, each with all the places it may have."""
    x, y = axes
    sides: list[dict[str, Any]] = [{"dy": 4, "baseline": "top"}, {"dy": -4, "baseline": "bottom"}]
    ends: list[dict[str, Any]] = [
        {"x": x.high, "align": "right"},
        *({"x": x.read(k / 10), "align": "center"} for k in (8, 7, 6, 5)),
    ]
    none, *others = (
        Word(text="treat none", y=0.0, **side, **end, **QUIET) for end in ends for side in sides
    )
    words = [replace(none, others=tuple(others))]
    heights = [0.3, 0.45, 0.2, 0.6, 0.1, 0.75, 0.9]
    spots = [
        next((point for point in line[::-1] if point[1] >= height * y.high), None) for height in heights
    ]
    ways = [
        Word(text="treat all", x=spot[0], y=spot[1], dx=dx, align="left" if dx > 0 else "right", **QUIET)
        for spot in spots
        if spot is not None and x.place(spot[0]) <= 0.8
        for dx in ((6, -6) if x.place(spot[0]) > 0.15 else (6,))
    ]
    return [*words, *([replace(ways[0], others=tuple(ways[1:]))] if ways else [])]


# Words ----------------------------------------------------------------------------------------


def _say_value(value: float, events: int) -> str:
    """Return a net benefit among this number of cases, in two digits: `36`, or `-4.2`."""
    number = float(f"{events * value:.2g}")
    return f"\u2212{say_count(-number)}" if number < 0 else say_count(number)


def _find_title(curves: ChartCurves, channels: Channels) -> str:
    """Return the finding of few lines: where acting is surely worth it, or what they net."""
    is_by_eta = channels.color is not None and channels.color.fields == ["eta"]
    if has_few_positives(curves) or is_by_eta:
        return ""
    if channels.facet is not None:
        is_alone = len(channels.facet.labels) == len(curves.per_curve)
        return _find_common_range(curves.rows, len(curves.per_curve)) if is_alone else ""
    if not 1 <= len(curves.per_curve) <= _MOST_SAID:
        return ""
    better = pl.max_horizontal(pl.lit(0.0), "treat_all")
    rows = curves.rows.with_columns(lead=pl.col(_VALUE) - better)
    if not (rows["lead"] > 0).any():
        return "At no risk shown is acting on the model better than treating all or none"
    sure = _find_sure_range(rows) if len(curves.per_curve) == 1 else ""
    return sure or _say_values(rows, curves, channels)


def _find_common_range(rows: pl.DataFrame, n_curves: int) -> str:
    """Return between which risks all lines are above treating all and none; empty without two risks.

    Risks at which few false alerts are behind a line are passed over.
    """
    better = pl.max_horizontal(pl.lit(0.0), "treat_all")
    leads = (pl.col(_VALUE) > better).fill_null(False) & ~pl.col("doubt").fill_null(False)
    at_risk = find_few_false_alerts(rows).group_by(_RISK).agg(n=leads.sum()).sort(_RISK)
    marked = at_risk.with_columns(run=(pl.col("n") == n_curves).rle_id())
    common = marked.filter(pl.col("n") == n_curves)
    runs = common.group_by("run").agg(pl.len(), low=pl.col(_RISK).min(), high=pl.col(_RISK).max())
    longest = runs.filter(pl.col("len") > 1).sort("len", "run", descending=[True, False]).head(1)
    if longest.is_empty():
        return ""
    _, ends = say_estimate(longest["high"][0], longest["low"][0], longest["high"][0])
    return f"In the test acting beats treating all or none in all {n_curves} panels at risks from {ends}"


def _find_sure_range(rows: pl.DataFrame) -> str:
    """Return between which risks the interval of one line is above treating all and none.

    Of several stretches the longest is told, unless the others make up more.
    """
    if _BAND[0] not in rows.columns:
        return ""
    is_sure = (pl.col(_BAND[0]) > pl.max_horizontal(pl.lit(0.0), "treat_all")).fill_null(False)
    marked = rows.sort(_RISK).select(_RISK, sure=is_sure, run=is_sure.rle_id())
    sure = marked.filter("sure")
    if sure.is_empty():
        return "At no risk shown is acting surely better than treating all or none"
    longest = sure.filter(pl.len().over("run") == pl.len().over("run").max())
    if longest["run"].n_unique() > 1 or len(longest) == 1 or 2 * len(longest) < len(sure):
        return ""
    sure = longest
    low, high = say_shares([sure[_RISK][k] for k in (0, -1)])
    return f"Acting on the model is better than treating all or none at risks from {low} to {high}"


def _say_values(rows: pl.DataFrame, curves: ChartCurves, channels: Channels) -> str:
    """Return what each line nets at the risk where one of them leads treating all and none by most.

    Risks at which few false alerts are behind a line are passed over, if there are others.
    """
    known = find_few_false_alerts(rows).filter(~pl.col("doubt").fill_null(False), pl.col("lead") > 0)
    rows = rows if known.is_empty() else known
    risk = rows.sort("lead", _RISK, descending=[True, False])[_RISK][0]
    at_risk = curves.rows.filter(pl.col(_RISK) == risk)
    here = dict(at_risk.select("curve", _VALUE).rows())
    events = choose_events(curves.per_curve["eta"])
    place, said = f"At a risk of {say_share(risk)}", _say_events(curves)
    values = {
        curve: _say_value(here[curve], events) for curve in curves.per_curve["curve"] if curve in here
    }
    if len(values) < len(curves.per_curve):
        return ""
    if channels.color is None:
        ends = at_risk.select(_BAND).row(0) if _BAND[0] in at_risk.columns else ()
        said_ends = [_say_value(end, events) for end in ends if end is not None]
        within = f" ({' to '.join(said_ends)})" if len(said_ends) == 2 else ""
        value = next(iter(values.values()))
        return f"{place}, acting on the model nets {value}{within} true cases per {said}"
    names = dict(zip(curves.per_curve["curve"], channels.color.label_by_curve, strict=True))
    first, *others = sorted(values, key=lambda curve: -here[curve])
    if others and len(set(values.values())) == 1:
        who = "both" if len(others) == 1 else "all"
        return f"{place}, {who} net {values[first]} true cases per {said}"
    if len(others) > 2:
        return f"{place}, {names[first]} nets most, {values[first]} true cases per {said}"
    text = f"{place}, {names[first]} nets {values[first]} true cases per {said}"
    return text + "".join(f", {names[curve]} {values[curve]}" for curve in others)


def _read_along(scale: _Scale) -> list[dict[str, Any]]:
    """Return what the pointer reads at each risk of the table."""
    curves, channels, axes = scale.curves, scale.channels, scale.axes
    events = choose_events(curves.per_curve["eta"])

    def say(row: dict[str, Any]) -> tuple[str, str]:
        ends = [row.get(name) for name in _BAND]
        within = "" if None in ends else f" ({' to '.join(_say_value(end, events) for end in ends)})"  # type: ignore[arg-type]
        at = add_threshold(row["threshold"])
        return say_share(row[_RISK]), f"{_say_value(row[_VALUE], events)}{within}{at}"

    rows = scale.add_bottoms(curves.rows).with_columns(pl.max_horizontal(_VALUE, "bottom").alias(_VALUE))
    places = thin_places(rows[_RISK].filter(rows[_RISK] >= axes[0].low), len(curves.per_curve))
    return build_hover_records(curves, channels, rows, axes, places, strategy="nearest", say=say)
