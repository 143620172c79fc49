"""Axes that read as people speak, and the shape of a panel: percent, `1 in 1,000`, plain numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as make_field
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Literal, TypeAlias

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import read_whole_number
from polars_prcurve.view.charts.parts.active_theme import measure_text, read_sizes
from polars_prcurve.view.charts.parts.colors_and_sizes import LINE, TICK_SIZE
from polars_prcurve.view.charts.parts.names_and_numbers import round_digits
from polars_prcurve.view.words.wrapped_text import wrap_words

# Vega expressions of the label of a tick, whose value is `datum.value`; {} represents a number.
_GROUPED = "format({}, ',.0f')"  # `12,000`
_PERCENT = r"format(100 * datum.value, '.6~g') + '\%'"  # `0.1%` for a share of 0.001
_ONE_IN = f"'1\u00a0in\u00a0' + {_GROUPED.format('1 / datum.value')}"  # `1 in 1,000` for it
_ROUNDED = "format({} * datum.value, ',.3~r')"  # `36`, of {} cases
_FAR_ODDS = 13.9
"""Log odds, from 0, of a millionth: an axis beyond these has no ticks in decimals."""
_FINE_ODDS = 9.25  # of 0.0001 and 0.9999, about: up to these there are ticks such as 0.003, too
# `1 in 1,000` for log odds as far from 0 as those of 0.001 are.
_ONE_IN_ODDS = "'1\u00a0in\u00a0' + format(1 + exp(abs(datum.value)), ',.1r')"
# As a share; all of them are 100%: `1 in 1` would be puzzling.
_ONE_IN_SHARE = f"datum.value < 1 ? {_ONE_IN} : '100\\%'"
# How ticks are written, by the words of an axis.
LABELS = {
    "percent": _PERCENT,
    "one in": _ONE_IN_SHARE,
    "share": _PERCENT,
    "rest": r"format(100 * (1 - datum.value), '.10~g') + '\%'",
    "all but": f"datum.value < 1 ? ['all but', {_ONE_IN}] : '0' + '\\%'",
    "count": f"datum.value < 1 ? format(datum.value, '.3~g') : {_GROUPED.format('datum.value')}",
    "points": "(datum.value > 0 ? '+' : datum.value < 0 ? '\u2212' : '') + "
    "format(abs(100 * datum.value), '.3~g')",
    "thousandths": _ROUNDED.format("1000"),
    "millionths": _ROUNDED.format("1000000"),
    "plain": "format(datum.value, '.4~g')",
    # Log odds as the shares that they are of; where some are far from a half, all by the rarer side.
    "odds": "format(1 / (1 + exp(-datum.value)), '.6~f')",
    "far odds": f"datum.value <= 0 ? {_ONE_IN_ODDS} : ['all but', {_ONE_IN_ODDS}]",
}
_LN_10 = math.log(10)  # a power of ten in log odds, about
_LEAST_REST = 1e-5  # what is left to 100% below which nobody counts the nines of 99.9999%
_ROUND_REST = 0.005  # and below which only powers of ten are round: 99.97% is not
_MOST_ZEROS = 9  # zeros of n, at most, where scores are written as `1 in n`
_LABEL_GAP = 4  # pixels between two labels side by side, at the least
_WIDE_LABEL = 56  # the room in pixels of labels side by side; those above each other need less
_TITLE_OVERHANG = 30  # pixels by which a title may be longer than its axis: panels have a gap of 34
# The factor that an axis spans, at most, on which there are ticks between powers of ten.
_FEW_DECADES_RATIO = 1_500
_LEAST_STRETCH = 0.004  # half of the share of an axis that the stretch of a single prevalence takes
_OUTLIERS = 0.025  # of the scores at either end, at most, that an axis leaves out
LOG_BELOW_ETA = 0.01  # prevalences below which lines of precision may lie at the foot of a linear axis
# Where positives are as rare as this or rarer, alerts and gains are counted among a million events.
_RARE_SHARE = 0.001


@dataclass(frozen=True)
class ChartAxis:
    """One axis of a chart: its field, title, range before it is drawn, and how ticks are written."""

    field: str
    title: str
    low: float
    high: float
    words: str = "percent"  # a key of LABELS, or "none": no axis, since words stand in its place
    rate: str = ""  # the column of a table whose values it measures, if it is not the field
    is_log: bool = False
    is_reversed: bool = False  # great values are at the foot, as what is left of shares to 100% is
    is_free: bool = False  # each panel has a range of its own; names need it in `ranges`
    # The range of each panel, by its label; records of the part `base` stand at both ends.
    ranges: Mapping[str, tuple[float, float]] = make_field(default_factory=dict)
    # The ticks, if they do not follow from the range: of an x axis in the order of their weight.
    ticks: tuple[float, ...] = ()
    tick_names: tuple[str, ...] = ()  # what stands at each of them, if not its number
    n_beyond: int = 0  # scores beyond its ends: a few outliers would take most of it
    room: int = 0  # the pixels left of the chart that names take instead of labels; 0 if there are none

    @property
    def column(self) -> str:
        """The column of a table, such as `operating_points`, that the axis shows."""
        return self.rate or self.field

    def pick(self, panel_label: str | None) -> ChartAxis:
        """Return the axis of one panel."""
        low, high = self.ranges.get(panel_label or "", (self.low, self.high))
        return replace(self, low=low, high=high)

    def measure(self, score: Any) -> Any:
        """Return a score, or a share, as the axis shows it, of a number or an expression."""
        if self.words != "odds":
            return 1 - score if self.words == "rest" else score
        odds_of_score = score / (1 - score)
        return odds_of_score.log() if isinstance(odds_of_score, pl.Expr) else math.log(odds_of_score)

    def describe(self) -> str:
        """Return sentences for the note on an axis of log odds, and on what lies beyond its ends."""
        odds_text = "Scores are on an axis of log odds" if self.words == "odds" else ""
        plural = "" if self.n_beyond == 1 else "s"
        beyond_text = f"Not drawn: {self.n_beyond:,} extreme score{plural}"
        return ". ".join(filter(None, [odds_text, beyond_text if self.n_beyond else ""]))

    def holds(self, value: float | None) -> bool:
        """Return whether a value lies on the axis, whose ends may be rounded."""
        return value is not None and self.low * (1 - 1e-6) <= value <= self.high * (1 + 1e-6)

    def place(self, value: float) -> float:
        """Return where a value lies along the axis, from 0 to 1."""
        if self.is_log:
            place = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            place = (value - self.low) / (self.high - self.low)
        return 1 - place if self.is_reversed else place

    def find_pixels(self, values: pl.Expr, pixels: int) -> pl.Expr:
        """Return how many pixels values are from an end, in the panel that shows the least range."""
        ends = [*self.ranges.values(), (self.low, self.high)]
        if self.is_log:
            return values.clip(self.low).log() * pixels / min(math.log(high / low) for low, high in ends)
        return values * pixels / min(high - low for low, high in ends)

    def read(self, place: float) -> float:
        """Return the value at a place from 0 to 1."""
        place = 1 - place if self.is_reversed else place
        if not self.is_log:
            return self.low + place * (self.high - self.low)
        return self.low * float((self.high / self.low) ** place)

    @property
    def said_as(self) -> str:
        """How ticks are written: shares, some of them below a tenth of a percent, all as `1 in 100`."""
        if self.words == "rest" and self.low < _LEAST_REST:
            return "all but"
        if self.words == "odds" and max(-self.low, self.high) >= _FAR_ODDS:
            return "far odds"
        return "one in" if self.words == "share" and self.is_log and self.low < 0.00099 else self.words

    def list_ticks(self, pixels: int, room: int) -> list[float] | None:
        """Return ticks with at least this room in pixels; None where Vega chooses them."""
        ticks = list(self.ticks) or self._choose_ticks(pixels, room)
        if ticks is None or room < _WIDE_LABEL:
            return ticks
        if self.ticks:
            kept_ticks: list[float] = []
            for tick in ticks:
                more_ticks = sorted([*kept_ticks, tick])
                kept_ticks = more_ticks if self._have_room(more_ticks, pixels) else kept_ticks
            return kept_ticks
        fewer_ticks = (ticks[(len(ticks) - 1) % step :: step] for step in range(1, len(ticks) + 1))
        return next((some for some in fewer_ticks if self._have_room(some, pixels)), [])

    def _choose_ticks(self, pixels: int, room: int) -> list[float] | None:
        if self.words == "odds":
            is_fine = max(-self.low, self.high) < _FINE_ODDS
            if room >= _WIDE_LABEL and not is_fine:
                room = 96 if self.said_as == "far odds" else 66
            return _list_odds(self.low, self.high, max(3, pixels // room), is_fine=is_fine)
        if self.is_log:
            is_one_in, is_wide = self.said_as == "one in", room >= _WIDE_LABEL
            room = (96 if is_one_in else round(1.4 * room)) if is_wide else room
            most_ticks = max(2, round(pixels / room)) + (not is_wide)
            mantissa_lists = _choose_mantissas(self.low, self.high, is_fine=not is_one_in)
            if self.words == "rest":
                mantissa_lists = [(1, 2, 5), (1,)] if self.low >= _ROUND_REST else [(1,)]
            return _list_powers(self.low, self.high, most_ticks, mantissa_lists)
        if self.words != "percent" or self.is_free:
            return None
        # Multiples of the least round step that makes at most this number of stretches; from a single
        # one, no value could be read, and two with less room are better.
        most_steps, span = max(1, min(5, pixels // room)), self.high - self.low
        power_of_ten = 10.0 ** math.floor(math.log10(span / most_steps))
        steps = [power_of_ten * round_factor for round_factor in (0.5, 1, 2, 5, 10)]
        least = next(n for n, step in enumerate(steps) if span / step <= most_steps * (1 + 1e-9))
        tick_lists = [_list_multiples(self.low, self.high, step) for step in steps[least::-1]]
        return next((some for some in tick_lists if len(some) > 1), tick_lists[-1])

    def _have_room(self, ticks: Sequence[float], pixels: int) -> bool:
        """Return whether the labels of ticks stand side by side on an axis of so many pixels."""
        labels = self._measure_ticks(ticks, pixels)
        return all(
            abs(next_x - x) >= (width + next_width) / 2 + _LABEL_GAP
            for (x, width), (next_x, next_width) in pairwise(labels)
        )

    def _measure_ticks(self, ticks: Sequence[float], pixels: int) -> list[tuple[float, float]]:
        """Return where each label is in the middle, and how wide it is in type of the common size."""
        texts = map(self._say_tick, ticks)
        widths = (measure_text(text, TICK_SIZE - 5 * _count_thin(text) / len(text)) for text in texts)
        return [(self.place(tick) * pixels, width) for tick, width in zip(ticks, widths, strict=True)]

    def _say_tick(self, tick: float) -> str:
        """Return what stands at a tick, about, or its longest row: `LABELS` are the texts."""
        if self.tick_names:
            return self.tick_names[self.ticks.index(tick)]
        one_in_n = 1 + math.exp(abs(tick)) if self.said_as == "far odds" else 1 / tick if tick > 0 else 1
        texts = {
            "percent": f"{100 * tick:.6g}%",
            "share": f"{100 * tick:.6g}%",
            "rest": f"{100 * (1 - tick):.10g}%",
            "odds": f"{1 / (1 + math.exp(-tick)):.6f}".rstrip("0"),
        }
        is_one_in = self.said_as in ("one in", "all but", "far odds")
        return f"1 in {one_in_n:,.0f}" if is_one_in else texts.get(self.said_as, f"{tick:.4g}")

    def measure_overhangs(self, pixels: int) -> float:
        """Return how many pixels labels of an x axis of this width take beyond its ends, together."""
        # As in `_build_axis`, by type of the common size on an axis that is shorter by as much.
        growth = read_sizes().tick / TICK_SIZE
        width = round(pixels / growth)
        labels = self._measure_ticks(self.list_ticks(width, _WIDE_LABEL) or [], width)
        left = max((label_width / 2 - x for x, label_width in labels), default=0.0)
        right = max((x + label_width / 2 - width for x, label_width in labels), default=0.0)
        return growth * (max(left, 0.0) + max(right, 0.0))

    def measure_labels(self, pixels: int) -> int:
        """Return the room in pixels that labels and the title of a y axis of this height take, about."""
        if self.room or self.words == "none":
            return self.room
        title_room = (len(self._wrap_title(pixels)) - 1) * (read_sizes().axis_title + 2)
        return round(self._measure_small_labels() * read_sizes().tick / TICK_SIZE + title_room)

    def _wrap_title(self, pixels: int) -> list[str]:
        """Return the title in rows that end before the titles of neighbours: no longer than the axis."""
        size = read_sizes().axis_title
        if measure_text(self.title, size) <= pixels + _TITLE_OVERHANG:
            return [self.title]
        return wrap_words(self.title, max(int((pixels + _TITLE_OVERHANG) / measure_text("x", size)), 10))

    def _measure_small_labels(self) -> int:
        """Return this room for type of the common size."""
        if self.words == "share" and self.said_as == "one in":
            return 104 if self.low < 2e-5 else 94
        if self.words == "rest" and self.low >= _LEAST_REST:
            return 50 + 6 * max(math.floor(-math.log10(self.low) + 1e-9), 1)
        if self.words == "count":
            return 70
        if self.words == "rest":
            return 30 + 6 * len(f"1 in {10 ** min(math.floor(-math.log10(self.low)), _MOST_ZEROS):,}")
        if self.said_as == "far odds":
            n_zeros = min(int(max(-self.low, self.high) / _LN_10), _MOST_ZEROS)
            return 30 + 6 * len(f"1 in {10**n_zeros:,}")
        return 61 if self.words == "millionths" and self.high >= 0.01 else 54

    def measure_height(self, pixels: int) -> float:
        """Return the room in pixels that labels and the title of an x axis of this width take, about."""
        is_in_two_rows = self.said_as == "all but" or (self.said_as == "far odds" and self.high > _LN_10)
        title_room = (len(self._wrap_title(pixels)) - 1) * (read_sizes().axis_title + 2)
        return read_sizes().axis_height + (read_sizes().tick + 2 if is_in_two_rows else 0) + title_room

    def build_scale(self) -> alt.Scale:
        """Return the scale."""
        scale_options: dict[str, Any] = {"type": "log"} if self.is_log else {"zero": False}
        if self.is_free:
            scale_options |= {"nice": False} if self.ranges else {}
            scale_options |= {"reverse": True} if self.is_reversed else {}
            return alt.Scale(**scale_options)
        domain_ends = [round_digits(self.low), round_digits(self.high)]
        domain_ends = domain_ends[::-1] if self.is_reversed else domain_ends
        return alt.Scale(domain=domain_ends, nice=False, **scale_options)

    def build_x(self, pixels: int) -> alt.X:
        """Return the x encoding: no grid, and labels under their ticks even at the ends."""
        axis_options = {"grid": False, "labelFlush": False, "titlePadding": 8}
        return alt.X(f"{self.field}:Q", **self._build_axis(pixels, _WIDE_LABEL, axis_options))

    def build_y(self, pixels: int) -> alt.Y:
        """Return the y encoding: a grid, and no line or ticks."""
        axis_options = {"domain": False, "ticks": False, "labelPadding": 6}
        return alt.Y(
            f"{self.field}:Q", **self._build_axis(pixels, 30 if self.is_log else 36, axis_options)
        )

    def _build_axis(self, pixels: int, room: int, axis_options: dict[str, Any]) -> dict[str, Any]:
        if self.words == "none":
            return {"title": None, "scale": self.build_scale(), "axis": None}
        sizes = read_sizes()
        axis_options |= {
            "labelExpr": self._label_ticks(),
            "labelFontSize": sizes.tick,
            "labelOpacity": 0.8,
        }
        axis_options |= {"titleFontSize": sizes.axis_title, "titleFontWeight": "normal"}
        axis_options |= {"titleOpacity": 0.8, "gridOpacity": 0.6}
        # Of large type as many ticks have room as of small type on a shorter axis.
        ticks = self.list_ticks(round(pixels * TICK_SIZE / sizes.tick), room)
        if ticks is None:
            axis_options["tickCount"] = max(3, pixels // (70 if self.words == "percent" else 40))
        else:  # a count, too, or Vega drops some of them
            axis_options |= {"values": ticks, "tickCount": max(len(ticks), 1)}
        title_rows = self._wrap_title(pixels)
        title = title_rows if len(title_rows) > 1 else self.title
        return {"title": title, "scale": self.build_scale(), "axis": alt.Axis(**axis_options)}

    def _label_ticks(self) -> str:
        """Return the Vega expression of the label of a tick."""
        if not self.tick_names:
            return LABELS[self.said_as]
        names_and_ticks = map(json.dumps, (self.tick_names, self.ticks))
        return "{}[indexof({}, datum.value)]".format(*names_and_ticks)


# Width and height of a panel in pixels; None for what the chart chooses.
GivenSize: TypeAlias = tuple[int | None, int | None]
_LEAST_PIXELS, _MOST_PIXELS = 50, 4_000  # in fewer no line is read, and more no renderer draws


def read_size(width: int | None, height: int | None) -> GivenSize:
    """Return `width=` and `height=`; raise unless they are pixels or None."""
    pixels = [
        None if value is None else read_whole_number(f"{name}=", value, _LEAST_PIXELS, _MOST_PIXELS)
        for name, value in (("width", width), ("height", height))
    ]
    return pixels[0], pixels[1]


@dataclass(frozen=True)
class ChartSpec:
    """What differs between kinds of chart: axes, how points are joined, bands, and size."""

    x: ChartAxis
    y: ChartAxis
    interpolate: Literal["step-before", "step-after", "linear"]
    below: tuple[ChartAxis, ...] = ()  # the y axes of charts below, of the same points
    # Pairs of fields; the area between two is shaded, each pair darker than the one before it.
    bands: tuple[tuple[str, str], ...] = ()
    height: float = 0.65  # height of a panel, as a share of its width
    width: float = 1.0  # width of a chart without panels, as a share of the common width
    line_width: float = LINE
    head_rows: int = 0  # rows of words over the lines of a panel, below its head
    names: Literal["beside", "ends", "none"] = "beside"  # on the lines, or at their right ends
    has_margin: bool = False  # names may stand right of the panels, if they have no room on the lines
    is_neutral: bool = False  # lines have the colour of text: they are the same for all colours
    side_colors: tuple[str, ...] = ()  # of stretches of a band, by the number `side` of their records

    @property
    def y_axes(self) -> tuple[ChartAxis, ...]:
        """The y axis, and those of charts below."""
        return (self.y, *self.below)


@dataclass(frozen=True)
class PanelSize:
    """How many panels stand in a row, and the size of each in pixels."""

    columns: int
    width: int
    height: int


RECALL_AXIS = ChartAxis("recall", "Recall", 0.0, 1.0)  # the same in all charts of recall
# Encodings of one place in pixels: such a channel is faster than `alt.value`.
fix_x: Any = alt.XValue
fix_y: Any = alt.YValue  # as `fix_x`, from the top


def _count_thin(text: str) -> int:
    """Return how many letters of a label are half as wide as a digit."""
    return sum(map(text.count, " ,.i"))


def build_eta_axis(rows: pl.DataFrame) -> ChartAxis:
    """Return a log axis over the prevalences of the rows, rare ones on the left."""
    etas = rows["eta"].drop_nulls().to_list() or [0.001, 1.0]
    low, high = min(etas), max(etas)
    if high < 1.01 * low:  # one prevalence: half a decade to either side
        low, high = low / math.sqrt(10), min(high * math.sqrt(10), 1.0)
    return ChartAxis("eta", "Prevalence", low, high, "one in", is_log=True)


def mark_eta(axis: ChartAxis, eta: float) -> ChartAxis:
    """Return an axis of `build_eta_axis` with a tick at a prevalence, and others where there is room."""
    powers = [10.0**exponent for exponent in range(math.ceil(math.log10(axis.low) - 1e-9), 0)]
    others = [tick for tick in (0.5, *powers) if axis.holds(tick) and not math.isclose(tick, eta)]
    return replace(axis, ticks=(eta, *others))


def needs_log_axis(etas: pl.Series) -> bool:
    """Return whether positives are so rare that precision has a log axis, unless users override it."""
    # Lines at less than 1 in 1,000 are lost beside those at 1 in 2; `lie_at_foot` finds others.
    shares = etas.drop_nulls().to_list()
    return (
        bool(shares) and min(shares) > 0 and (max(shares) < LOG_BELOW_ETA or min(shares) < _RARE_SHARE)
    )


def build_precision_axis(
    field: str, title: str, etas: pl.Series, precisions: pl.Series, *, is_log: bool
) -> ChartAxis:
    """Return the axis of precision; a log one has room for all values above 0, and for each eta."""
    if not is_log:
        return ChartAxis(field, title, 0.0, 1.0)
    shares = pl.concat([series.cast(pl.Float64).rename("known") for series in (precisions, etas)])
    least_share = shares.filter(shares > 0).min()
    low = min(0.1, least_share) if isinstance(least_share, float) else 0.1
    return ChartAxis(field, title, low, 1.0, "share", is_log=True)


def choose_events(etas: pl.Series) -> int:
    """Return the number of events that alerts are counted among: 1,000, or a million."""
    shares = etas.drop_nulls()
    return 1_000_000 if (shares.filter(shares > 0) <= _RARE_SHARE).any() else 1_000


def fit_shares(all_shares: pl.Series, *, is_level: bool = False) -> tuple[float, float]:
    """Return the ends of an axis of shares: 0 and 1, but without a half that no value is in."""
    # Where dots and lines show the level, which needs no 0, they are the tenths around all shares.
    shares = all_shares.drop_nulls()
    if shares.is_empty():
        return 0.0, 1.0
    low, high = float(shares.min()), float(shares.max())  # type: ignore[arg-type]
    if is_level:
        return max(math.floor(10 * low - 0.2) / 10, 0.0), min(math.ceil(10 * high + 0.2) / 10, 1.0)
    if high <= 0.45:
        return 0.0, max(math.ceil(high * 10 + 0.2) / 10, 0.1)
    return (min(math.floor(low * 5) / 5, 0.8) if low >= 0.4 else 0.0), 1.0


def list_stretches(
    axis: ChartAxis, etas: Sequence[float], values: Iterable[Any], is_open: Callable[[Any], bool]
) -> Iterator[tuple[Any, dict[str, float]]]:
    """Yield each run of equal values at rising prevalences, and the stretch of the axis that is its."""
    # What is settled is known at its own prevalences alone: a stretch that is open reaches to those of
    # its neighbours. Two that are settled meet half way.
    runs = [(value, [*run]) for value, run in groupby(zip(values, etas, strict=True), key=itemgetter(0))]
    edges = [axis.low]
    for (value, run), (next_value, next_run) in pairwise(runs):
        end, next_start = run[-1][1], next_run[0][1]
        edge = (
            end if is_open(next_value) else next_start if is_open(value) else math.sqrt(end * next_start)
        )
        edges.append(edge)
    for (value, _), low, high in zip(runs, edges, [*edges[1:], axis.high], strict=True):
        place = axis.place(low)
        seen_ends = axis.read(place - _LEAST_STRETCH), axis.read(place + _LEAST_STRETCH)
        ends = (low, high) if low < high else seen_ends  # a single prevalence would not be seen
        yield value, {"eta": ends[0], "to": ends[1]}


def build_score_axis(title: str, scores: pl.Series, marked_scores: Iterable[Any] = ()) -> ChartAxis:
    """Return an axis of finite scores, of log odds if most of them are probabilities near 0 or 1."""
    distinct_scores = scores.drop_nulls().unique()
    low, high = 0.0, 1.0
    if len(distinct_scores):
        low, high = float(distinct_scores.min()), float(distinct_scores.max())  # type: ignore[arg-type]
    share_inside = distinct_scores.is_between(low + 0.1 * (high - low), high - 0.1 * (high - low)).mean()
    is_odds = isinstance(share_inside, float) and share_inside < 0.5 and 0 < low < high < 1
    axis = ChartAxis("x", title, low, high, "odds" if is_odds else "plain", "threshold")
    places = distinct_scores.to_frame("score").select(axis.measure(pl.col("score"))).to_series()
    low, high = _find_ends(places, [axis.measure(float(score)) for score in marked_scores])
    margin = 0.0 if low < high else 0.5
    n_beyond = len(places) - int(places.is_between(low, high).sum())
    return replace(axis, low=low - margin, high=high + margin, n_beyond=n_beyond)


def _find_ends(places: pl.Series, marked_places: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis: of all places, or without outliers that would take half of it."""
    if places.is_empty():
        return 0.0, 1.0
    numbers, n_outliers = places.sort().to_list(), math.floor(_OUTLIERS * len(places))
    low, inner_low, inner_high, high = (numbers[place] for place in (0, n_outliers, -1 - n_outliers, -1))
    margin = 0.75 * (inner_high - inner_low)
    low_without_outliers = max(low, min([inner_low - margin, *marked_places]))
    high_without_outliers = min(high, max([inner_high + margin, *marked_places]))
    return (
        (low_without_outliers, high_without_outliers)
        if high_without_outliers - low_without_outliers < (high - low) / 2
        else (low, high)
    )


def _list_multiples(low: float, high: float, step: float) -> list[float]:
    """Return the multiples of a step from `low` to `high`."""
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [round(number * step, 10) for number in numbers]


def _list_odds(low: float, high: float, most_ticks: int, *, is_fine: bool) -> list[float]:
    """Return log odds of a half and of round shares, 0.01 and 0.99 alike, at most about so many."""
    # Beyond 1 in a billion no number is easy to read; it is written only where the axis has no other.
    is_far = max(low, -high) > (_MOST_ZEROS - 2) * _LN_10
    deepest_power = 3 if is_fine else 16 if is_far else _MOST_ZEROS  # 0.001 is the last of decimals
    ticks: list[float] = []
    # Of powers of ten; 0 for some between them, too.
    for power_step in range(0 if is_fine else 1, deepest_power + 1):
        exponents = range(max(power_step, 1), deepest_power + 1, max(power_step, 1))
        small_shares = [
            mantissa * 10.0**-exponent
            for exponent in exponents
            for mantissa in ((1, 3) if power_step == 0 and exponent < 4 else (1,))
        ]
        log_odds = [math.log(share / (1 - share)) for share in small_shares]
        ticks = [
            tick
            for tick in sorted([*log_odds, 0.0, *(-tick for tick in log_odds)])
            if low <= tick <= high
        ]
        if len(ticks) <= most_ticks:
            break
    return ticks


def _choose_mantissas(low: float, high: float, *, is_fine: bool) -> list[tuple[int, ...]]:
    """Return the numbers before powers of ten at which a log axis may have ticks, many first."""
    if high / low < 100:
        return [(1, 2, 5), (1,)]
    return [(1, 3), (1,)] if is_fine and high / low < _FEW_DECADES_RATIO else [(1,)]


def _list_powers(
    low: float, high: float, most_ticks: int, mantissa_lists: Sequence[tuple[int, ...]]
) -> list[float]:
    """Return round numbers on a log axis: powers of ten, with a half at its end, and some between."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for mantissas in mantissa_lists:
        ticks = [float(f"{mantissa}e{exponent}") for exponent in exponents for mantissa in mantissas]
        ticks = [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]
        if len(ticks) <= most_ticks:
            break
    tick_step = max(1, math.ceil(len(ticks) / most_ticks))
    ticks = ticks[::-1][::tick_step][::-1]
    # A half is where positives are no longer rare: it ends most axes of prevalence.
    has_half = math.isclose(high, 0.5) and ticks and ticks[-1] < 0.2 and most_ticks > 3
    return [*ticks, 0.5] if has_half else ticks
