"""The live chart: PR curves under a slider of prevalence, in one layered chart, as wide as its page."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import polars as pl

from polars_prcurve.core.ground.argument_checks import Title, hint_at_arguments, read_number
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.prevalence.eta_grid import read_share
from polars_prcurve.view.charts.parts import chart_assembly, point_thinning
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts.chart_axes import LABELS, ChartAxis, ChartSpec, fix_x, fix_y
from polars_prcurve.view.charts.parts.colors_and_panels import Channels, pick_out, read_channels
from polars_prcurve.view.charts.parts.label_formats import round_digits
from polars_prcurve.view.charts.parts.line_canvas import check_words
from polars_prcurve.view.charts.parts.result_tables import ChartCurves, read_sweep
from polars_prcurve.view.words.number_words import say_eta
from polars_prcurve.view.words.value_names import ISOLATES, isolate_name, wrap_words

WIDTH = 620  # pixels across of the panel, unless the user says otherwise
HEIGHT = 320  # pixels of the panel from top to bottom; the ruler is above it, and the numbers below
_PIXEL_COLUMNS = 150  # a long curve is thinned in columns of a few pixels
_MIN_ETA = 1e-6  # the left end of the ruler: one positive in a million
_MAX_CURVES = 24  # each curve costs the browser work at every move of the slider
_NARROW_WIDTH = 480  # pixels across below which a chart is that of a phone
_NARROW_NOTE_WIDTH = 270  # pixels across of the note of such a chart
_NAME_ROW_HEIGHT = 18  # pixels that a row of a name takes
_RULER_Y = -46  # of the ruler, in pixels above the curves
_ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # `1 in n` that the slider stops at, up to powers of ten
# Pixels left of the curves, for the longest label that the slider can bring: it moves nothing then.
_LABEL_WIDTH = 92
# Below this prevalence the axis of precision is logarithmic, down to the power of ten below it.
_LOG_BELOW_ETA = 0.01
# Vega expressions, since the browser computes what follows the slider: `eta` is its value, `decades` the
# powers of ten on a logarithmic axis of precision, and `datum` a point of a curve, with fpr / recall as
# `odds`. Those with {0} are templates, filled with the expression of a number; one of them may stand in
# another, whose {0} is then filled last.
_PRECISION = "eta / (eta + datum.odds * (1 - eta))"  # of a point at the prevalence of the slider
_ALERTS = "1e6 * datum.recall * (eta + datum.odds * (1 - eta))"  # of a point, in a million events
# How many powers of ten the axis of precision has; 0 for a linear axis.
_DECADES = f"eta < {_LOG_BELOW_ETA} ? ceil(-log(eta) / LN10 - 1e-9) : 0"
# Where a precision {0} stands on that axis, from 0 to 1.
_PLACE = "decades === 0 ? {0} : max(0, 1 + log({0}) / LN10 / decades)"
# The precision of tick number `k`: fifths from 0, or powers of ten from 1 down.
_TICK = "decades === 0 ? datum.k / 5 : pow(10, -datum.k)"
# A number {0} with its thousands apart, as in `12,000`.
_GROUPED = "format({}, ',.0f')"
# The power of ten to which a number {0} is rounded so that one digit and {1} more stay.
_CUT = "pow(10, max(floor(log({0}) / LN10) - {1}, 0))"
# A number {0} in one digit and {1} more, with its thousands apart.
_CUT_COUNT = _GROUPED.format(f"{_CUT} * round({{0}} / {_CUT})")
# Numbers in four digits, as `number_words.say_count` has them, where they are not small.
_COUNT = _CUT_COUNT.format("{0}", 3)
# The alerts of a point in words; small ones keep three digits, of which some are decimals.
_ALERT_WORDS = f"datum.alerts < 100 ? format(datum.alerts, '.3~g') : {_COUNT.format('datum.alerts')}"
# The decimal in which the percentage of a share {0} near 1 differs from 100: the second of 99.97%.
_ZEROS = "-floor(log(100 * (1 - {0})) / LN10)"
# How many decimals this percentage has: that one is the last, unless it is the first.
_DIGITS = f"min({_ZEROS} + ({_ZEROS} > 1 ? 0 : 1), 8)"
# A share {0} of a thousandth or more as a percentage.
_PERCENT = (
    "({0} >= 1 ? '100' : {0} >= 0.95 ? format(100 * {0}, '.' + "
    + _DIGITS
    + r" + '~f') : format(100 * {0}, '.2~g')) + '\%'"
)
# Shares as `number_words.say_share` has them: 99.97% is not 100%, and nothing has an exponent.
_SHARE = (
    "({0} > 0 && {0} < 0.001 ? '1\u00a0in\u00a0' + "
    + _CUT_COUNT.format("(1 / {0})", 1)
    + f" : {_PERCENT})"
)
# Whether the prevalence is one in a whole number that has zeros behind its first three digits.
_IS_WHOLE = (
    f"abs(round(1 / eta) * eta - 1) < 1e-9 && round(1 / eta) % {_CUT.format('(1.001 / eta)', 2)} === 0"
)
_FEW_DIGITS = _CUT_COUNT.format("(1 / eta)", 1)  # any other number that the prevalence is one in
# A prevalence as `number_words.say_eta` has it: whole numbers of up to three digits are exact.
_ONE_IN = (
    f"eta > 0.1 ? format(1 / eta, '.2~g') : {_IS_WHOLE} ? {_GROUPED.format('1 / eta')} : {_FEW_DIGITS}"
)
# All prevalences in words; above a half `1 in n` would say little.
_ETA_WORDS = f"eta > 0.5 ? format(100 * eta, '.3~g') + '\\%' : '1\u00a0in\u00a0' + ({_ONE_IN})"


@hint_at_arguments
def live(
    table: pl.DataFrame,
    eta: float | str | None = None,
    *,
    width: int | Literal["container"] = WIDTH,
    color: str | None = None,
    title: Title = None,
) -> alt.LayerChart:
    """PR curves from the table of `sweep`, under a slider for prevalence.

    The browser computes precision, `eta / (eta + fpr / recall (1 - eta))`; the data hold no prevalence.
    Drag along the ruler, or choose from the list below with the keyboard, which is read as "1 in 1,000".
    The numbers under the curves are those of the highest threshold that reaches the recall under the
    pointer: precision, recall, and alerts per million events at that prevalence. A line is dotted where
    fewer than five false positives are behind it. The axis of precision follows the slider: it is
    logarithmic below 0.01, down to the power of ten below the prevalence. With more than 8 groups, the
    first, the middle and the last by average precision have colours.

    Parameters
    ----------
    table
        What `sweep` returns: the `by` columns, then the columns of `sweep`.
    eta
        Where the slider starts, exactly, as a number or a text such as `"1 in 1,000"`. By default it
        starts at the prevalence of the test set, or at 0.01 if the table comes from published rates.
    width
        The width of the panel in pixels, from 240, or `"container"` to follow the page that shows it.
    color
        A `by` column. At most 24 groups.
    title
        Replaces the chart's own title, which follows the slider; False leaves out title and note.

    Returns
    -------
    A layered Altair chart.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = live(df.prc.sweep(), eta=0.004).to_dict()
    >>> [param["value"] for param in chart["params"] if "bind" in param]
    [[{'eta': 0.004}]]
    """
    check_words(title, color=color)
    user_start = read_start(eta)
    check_width(width)
    curves = read_sweep("live", table, is_by_eta=False, made_by="sweep")
    channels = read_channels(curves, color, None, _MAX_CURVES)
    if len(curves.curve_rows) > _MAX_CURVES or channels.facet is not None:
        raise PrcError(
            f"live draws up to {_MAX_CURVES} groups of one column, in colours, and this table has "
            f"{len(curves.curve_rows)}; filter it, or group by one column"
        )
    size_rows = curves.curve_rows.select("n_pos", "n_neg").drop_nulls().rows()
    n_pos, n_neg = map(float, size_rows[0] if size_rows and size_rows[0][0] > 0 else (1, 99))
    start = max(n_pos / (n_pos + n_neg), _MIN_ETA) if user_start is None else user_start
    # The prevalence of the test set, if all groups share one.
    own_etas = {n_pos / (n_pos + n_neg) for n_pos, n_neg in size_rows if n_pos > 0 and n_neg > 0}
    test_eta = own_etas.pop() if len(own_etas) == 1 else None
    # Groups are picked out by their average precision where the slider starts.
    recall, false_alerts = pl.col("recall"), pl.col("fpr") * (1 - start)
    point_frame = curves.points.filter(recall > 0)
    point_frame = point_frame.with_columns(precision=recall * start / (recall * start + false_alerts))
    area_of_curve = point_thinning.measure_steps(
        point_thinning.build_steps(point_frame, "precision"), "precision"
    )
    channels = pick_out(channels, area_of_curve)
    data, thinning, sentences = _build_data(curves, channels)
    key = chart_assembly.make_key(data, "live")
    note = (channels.color_note, *sentences, *curves.describe_sizes())
    subtitle = "Share of alerts that are right, by recall"
    chart_text = chart_assembly.ChartText(title, subtitle, note, "", thinning)
    return _LivePainter(channels, width, start, test_eta, key).draw(data, chart_text)


def read_start(eta: object) -> float | None:
    """Return where the slider is asked to start, or None; raise unless it can start there."""
    if eta is None:
        return None
    expected = "where the slider starts, from 1e-6 to 1"
    return read_share("eta=", eta, expected, lambda eta: _MIN_ETA <= eta <= 1)


def check_width(width: object) -> None:
    """Raise unless the width is a number of pixels that the chart fits in, or "container"."""
    if not (isinstance(width, str) and width == "container"):
        expected = 'a number of pixels from 240, or "container"'
        read_number("width=", width, expected, lambda pixels: 240 <= pixels < 10_000)


def _place_on_ruler(eta: float) -> float:
    """Return the place of a prevalence along the ruler, from 0 to 1, which ends at all positive."""
    return 1 - math.log(eta) / math.log(_MIN_ETA)


def _build_data(curves: ChartCurves, channels: Channels) -> tuple[list[dict[str, Any]], str, list[str]]:
    """Return the records, how many points are drawn, and sentences on dots and on doubt."""
    odds = pl.col("fpr") / pl.col("recall")
    rows = point_thinning.find_few_false_alerts(curves.points).with_columns(odds=odds, made=False)
    rises = point_thinning.keep_rises(rows.filter(pl.col("recall") > 0))
    thinned_points = point_thinning.thin_points(rises, pl.col("recall"), pl.col("odds"), _PIXEL_COLUMNS)
    steps = point_thinning.build_steps(thinned_points, "odds", "doubt")
    steps = point_thinning.split_by_doubt(steps, "step-before")
    data = point_thinning.build_records(channels, steps, ["recall", "odds"])
    # What is read out is exact: at each percent of recall the first threshold that reaches it.
    percents = pl.DataFrame({"at": [k / 100 for k in range(1, 101)]})
    grid_frame = curves.curve_rows.select("curve").join(
        percents, how="cross", maintain_order="left_right"
    )
    join_options: dict[str, Any] = {"by": "curve", "strategy": "forward", "coalesce": False}
    rise_frame = rises.sort("recall", maintain_order=True)
    join_options |= {"left_on": "at", "right_on": "recall", "check_sortedness": False}
    readings = grid_frame.join_asof(rise_frame, **join_options)
    for row in readings.drop_nulls("odds").iter_rows(named=True):
        value_of_name = {name: round_digits(row[name]) for name in ("recall", "odds")}
        curve_fields = channels.curve_fields(row["curve"])
        data.append(
            {"part": "exact", "at": row["at"], "curve": row["curve"], **value_of_name, **curve_fields}
        )
    dot_records = point_thinning.build_dots(channels, rises, ["recall", "odds"])
    sentences = [
        *([point_thinning.DOTS_OF_STEPS] if dot_records else []),
        *point_thinning.describe_doubt(steps),
    ]
    return [*data, *dot_records], point_thinning.describe_thinning(rises, steps), sentences


@dataclass
class _LivePainter:
    """Builds the layers of the live chart."""

    channels: Channels
    width: int | Literal["container"]
    start: float  # the prevalence at which the slider starts
    test_eta: float | None  # that of the test set, which the ruler marks
    key: str  # the end of the names of selections

    def __post_init__(self) -> None:
        self.pixels = WIDTH if isinstance(self.width, str) else self.width
        # Whether the chart is narrow, as a Vega expression: a page decides it where it sets the width.
        narrow_test = json.dumps(self.pixels < _NARROW_WIDTH)
        self.narrow = f"width < {_NARROW_WIDTH}" if self.width == "container" else narrow_test
        self.recall = ChartAxis("recall", "Recall: share of the positives that are found", 0.0, 1.0)
        self.precision = ChartAxis("place", "", 0.0, 1.0, "none", room=_LABEL_WIDTH)
        self.x, self.y = self.recall.build_x(self.pixels), self.precision.build_y(HEIGHT)
        self.color = [self.channels.color.encode()] if self.channels.color else []
        # The rows of each name, which stand left of its numbers, also on a phone.
        labels = self.channels.color.shown_labels if self.channels.color else [""]
        n_letters = 36 if self.narrow == "false" else 20
        rows_of_label = {label: wrap_words(label.strip(ISOLATES), n_letters) for label in labels}
        self.names = {
            label: [*map(isolate_name, parts)] or [""] for label, parts in rows_of_label.items()
        }

    def draw(self, data: list[dict[str, Any]], text: chart_assembly.ChartText) -> alt.LayerChart:
        """Return the whole chart."""
        data = chart_assembly.mark_grey(data, self.channels)
        layers = [*self._build_curves(data), *self._build_ruler(), *self._build_numbers()]
        layers[1:1] = self._build_axis()
        # The note, or one for a narrow chart and one for a wide one if a page decides.
        foot_y = HEIGHT + 72 + sum(4 + _NAME_ROW_HEIGHT * len(rows) for rows in self.names.values())
        labels_width = self.precision.measure_labels()
        room_of_test = {self.narrow: (_NARROW_NOTE_WIDTH, 24), f"!({self.narrow})": (self.pixels, 10)}
        for narrow_test, (room, inset) in room_of_test.items():
            note = chart_assembly.build_note(text, room, foot_y, inset - labels_width)
            layers += [note.transform_filter(narrow_test)] if note and narrow_test != "false" else []
        pointed_place = f"isValid(pointed_{self.key}.at) ? pointed_{self.key}.at[0] : 0.5"
        layers[0] = layers[0].add_params(
            alt.param(name="eta", expr=f"isValid(picked.eta) ? picked.eta[0] : {self.start!r}"),
            alt.param(name="at", expr=pointed_place),
            alt.param(name="decades", expr=_DECADES),
        )
        chart = chart_assembly.stack_layers(layers, data=alt.InlineData(values=[]))
        room = _NARROW_NOTE_WIDTH if self.narrow != "false" else self.pixels
        title_options = chart_assembly.build_title(text, room + 20)
        chart = chart_assembly.set_properties(chart, width=self.width, height=HEIGHT, **title_options)
        if self.width == "container":
            chart.autosize = alt.AutoSizeParams(type="fit-x", contains="padding")
        if text.title is None:
            chart.title.text = alt.ExprRef(f"'Where ' + ({_ETA_WORDS}) + ' is positive'")
        return chart_assembly.attach_data(chart, data)

    def _pick(self, narrow: Any, wide: Any) -> str:
        """Return the Vega expression of what is in a narrow chart, and in a wide one."""
        return f"(({self.narrow}) ? {narrow} : {wide})"

    def _build_curves(self, data: list[dict[str, Any]]) -> list[alt.Chart]:
        """Return places to point at, alerts at random, the lines, and what follows the pointer."""
        single_chart = _draw_from([{}])
        chance_layer = single_chart.mark_rule(**style.REFERENCE).transform_calculate(
            place=_PLACE.format("eta")
        )
        spec = ChartSpec(self.recall, self.precision, "step-before")
        painter = chart_assembly.Painter(spec, self.x, self.y, self.channels, self.key, can_choose=False)
        parts = {row["part"] for row in data} & {"dot"}
        line_layers = [*painter.build_lines(data), *painter.build_marks(parts)]
        line_layers = [
            line_layer.transform_calculate(place=_PLACE.format(f"({_PRECISION})"))
            for line_layer in line_layers
        ]
        target_layer = _draw_from(
            [{"at": k / 100, "recall": k / 100, "place": 1} for k in range(1, 101)]
        )
        target_layer = target_layer.mark_rule(opacity=0, strokeWidth=WIDTH / 100 + 1, aria=False).encode(
            self.x
        )
        target_layer = target_layer.properties(name=f"places_{self.key}").add_params(
            chart_assembly.select_pointed(self.key, "at", False)
        )
        rule_layer = (
            single_chart.mark_rule(**style.REFERENCE).transform_calculate(recall="at").encode(self.x)
        )
        look: dict[str, Any] = {} if self.color else {"color": style.COLORS[0]}
        look |= {"filled": True, "size": 85, "opacity": 1, "stroke": "white", "strokeWidth": 1.5}
        dot_layer = self._pick_exact().mark_point(**look).encode(self.x, self.y, *self.color)
        return [target_layer, chance_layer.encode(self.y), *line_layers, rule_layer, dot_layer]

    def _build_axis(self) -> list[alt.Chart]:
        """Return the grid and the labels of precision, which follow the slider."""
        tick_layer = _draw_from([{"k": k, "recall": 0.0, "to": 1.0} for k in range(7)])
        tick_layer = tick_layer.transform_filter("datum.k <= (decades === 0 ? 5 : decades)")
        tick_layer = tick_layer.transform_calculate(value=_TICK)
        tick_layer = tick_layer.transform_calculate(place=_PLACE.format("datum.value"))
        grid_layer = tick_layer.mark_rule(color=style.ZONE, aria=False).encode(
            self.x, self.y, alt.X2("to")
        )
        look: dict[str, Any] = {"fontSize": style.TICK_SIZE, "align": "right", "opacity": 0.8}
        label_formula = f"decades > 3 ? ({LABELS['one in']}) : ({LABELS['percent']})"
        label_layer = tick_layer.transform_calculate(text=label_formula).mark_text(
            dx=-6, aria=False, **look
        )
        return [grid_layer, label_layer.encode(x=fix_x(0), y=self.y, text="text:N")]

    def _pick_exact(self) -> alt.Chart:
        """Return a chart of the row of each curve at the recall under the pointer."""
        exact_layer = chart_assembly.keep_part(alt.Chart(), "exact")
        exact_layer = exact_layer.transform_filter("abs(datum.at - at) < 1e-6")
        color_channel = self.channels.color
        if color_channel and color_channel.colored_labels is not None:
            label_predicate = alt.FieldOneOfPredicate(field="color", oneOf=color_channel.shown_labels)
            exact_layer = exact_layer.transform_filter(label_predicate)
        exact_layer = exact_layer.transform_calculate(precision=_PRECISION, alerts=_ALERTS)
        return exact_layer.transform_calculate(place=_PLACE.format("datum.precision"))

    def _build_ruler(self) -> list[alt.Chart]:
        """Return the ruler above the curves: its line, ticks, words, handle, and places to drag to."""
        powers = [10.0**-k for k in range(6, 0, -1)] + [1.0]
        tick_records = [
            {"recall": _place_on_ruler(eta), "text": say_eta(eta) if eta < 1 else "all", "odd": k % 2}
            for k, eta in enumerate(powers)
        ]
        y = fix_y(_RULER_Y)
        quiet: dict[str, Any] = {"color": style.QUIET, "aria": False}
        ruler_layer = _draw_from([{"recall": 0.0, "to": 1.0}], self.x, alt.X2("to"), y)
        mark_layer = _draw_from(tick_records, self.x, y).transform_filter(
            f"datum.odd === 0 || !({self.narrow})"
        )
        tick_words = mark_layer.mark_text(fontSize=style.TICK_SIZE, baseline="top", dy=9, **quiet)
        layers = [
            ruler_layer.mark_rule(color=style.RULE, strokeWidth=3, strokeCap="round", aria=False),
            mark_layer.mark_tick(color=style.RULE, orient="vertical", size=9, thickness=1, aria=False),
            tick_words.encode(text="text:N"),
        ]
        if self.test_eta is not None and self.test_eta >= _MIN_ETA:
            # A triangle as a letter is in few typefaces, and would change that of the words beside it.
            record = {"recall": _place_on_ruler(self.test_eta), "text": "test set"}
            test_mark_layer = _draw_from([record], self.x, y)
            test_word = test_mark_layer.mark_text(
                fontSize=style.NOTE_SIZE, baseline="bottom", dy=-17, **quiet
            )
            arrow_layer = test_mark_layer.mark_point(
                shape="triangle-down", size=32, filled=True, opacity=1, **quiet
            )
            layers += [test_word.encode(text="text:N"), arrow_layer.encode(y=fix_y(_RULER_Y - 12))]
        handle_layer = _draw_from([{}], self.x, y).transform_calculate(recall="1 - log(eta) / log(1e-6)")
        look: dict[str, Any] = {"color": style.COLORS[0], "stroke": "white", "strokeWidth": 2}
        handle_layer = handle_layer.mark_point(filled=True, size=240, opacity=1, **look)
        return [*layers, handle_layer, self._build_grabs()]

    def _build_grabs(self) -> alt.Chart:
        """Return the unseen places that the pointer drags to: ten a decade, and the start exactly."""
        stops = {1.0, 0.75}
        for power in range(7):
            stops |= {1 / (n * 10**power) for n in _ROUND if 2 <= n * 10**power <= 1e6}
        start_twins = {stop for stop in stops if abs(stop / self.start - 1) < 1e-9}
        etas = sorted((stops - start_twins) | {float(self.start)})
        stop_records = [{"recall": _place_on_ruler(eta), "eta": eta} for eta in etas]
        grab_width = alt.ExprRef("width / 58")  # no wider than the way to the next place
        grab_layer = _draw_from(stop_records, self.x, fix_y(_RULER_Y - 14)).encode(
            y2=alt.value(_RULER_Y + 14)
        )
        grab_layer = grab_layer.mark_rule(
            strokeWidth=grab_width, opacity=0.001, cursor="ew-resize", aria=False
        )
        # By dragging, and from a list in words, which a keyboard and a screen reader can use.
        eta_texts = [say_eta(eta) for eta in etas[::-1]]
        bind = alt.binding_select(options=etas[::-1], labels=eta_texts, name="Share of positives: ")
        is_stop = f"{chart_assembly.EVENT_DATUM} && event.item.datum.eta"
        drag = f"[pointerdown[{is_stop}], window:pointerup] > pointermove[{is_stop}]"
        options: dict[str, Any] = {"on": f"pointerdown[{is_stop}], {drag}", "bind": bind, "clear": False}
        start_records = [{"eta": self.start}]
        picked = alt.selection_point(name="picked", fields=["eta"], value=start_records, **options)
        ruler_layer: alt.Chart = grab_layer.properties(name=f"ruler_{self.key}")
        return ruler_layer.add_params(picked)

    def _build_numbers(self) -> list[alt.Chart]:
        """Return the table under the curves: a line per model, at the recall under the pointer."""
        top = HEIGHT + 60
        heads = ["'right'", "'found'", self._pick("'per million'", "'alerts per million'")]
        places = [self._pick(0.57, 0.66), self._pick(0.72, 0.79), "1"]
        # On a phone names begin below the labels of the axis, and end where numbers may begin.
        start_formula = self._pick(f"-{self.precision.measure_labels() - 24} / width", 0)
        cells = (_SHARE.format("datum.precision"), _SHARE.format("datum.recall"), _ALERT_WORDS)
        source_chart, addition = _draw_from([{}]), self._pick("''", "' or just above'")
        reading_formula = rf"'at ' + format(100 * at, '.0f') + '\% recall' + {addition}"
        quiet: dict[str, Any] = {"fontSize": style.NOTE_SIZE, "color": style.QUIET, "baseline": "bottom"}
        head_layer = source_chart.transform_calculate(said=reading_formula, recall=start_formula)
        layers = [
            head_layer.mark_text(align="left", **quiet).encode(self.x, y=fix_y(top), text="said:N")
        ]
        for place, name in zip(places, heads, strict=True):
            column_layer = source_chart.transform_calculate(recall=place, text=name)
            column_layer = column_layer.mark_text(align="right", **quiet)
            layers.append(column_layer.encode(self.x, y=fix_y(top), text="text:N"))
        bold: dict[str, Any] = {"baseline": "bottom", "fontWeight": "bold"}
        bold["fontSize"] = alt.ExprRef(self._pick(11.5, 14))
        for label, names in self.names.items():
            y, row_layer = fix_y(top + 22), self._pick_exact()
            for row_number, name in enumerate(names):
                layer = _draw_from([{"color": label, "text": name}]).transform_calculate(
                    recall=start_formula
                )
                layer = layer.mark_text(align="left", **bold)
                name_y = fix_y(top + 22 + _NAME_ROW_HEIGHT * row_number)
                layers.append(layer.encode(self.x, y=name_y, text="text:N").encode(*self.color))
            top += 4 + _NAME_ROW_HEIGHT * len(names)
            if label:
                row_layer = row_layer.transform_filter(
                    alt.FieldEqualPredicate(field="color", equal=label)
                )
            for place, cell in zip(places, cells, strict=True):
                text = row_layer.transform_calculate(said=cell).transform_calculate(recall=place)
                text = text.mark_text(align="right", **bold).encode(self.x, y=y, text="said:N")
                layers.append(text.encode(*self.color))
        return layers


def _draw_from(records: list[dict[str, Any]], *place: Any) -> alt.Chart:
    chart: alt.Chart = alt.Chart(alt.InlineData(values=records)).encode(*place)
    return chart
