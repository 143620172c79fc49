"""Metrics by prevalence: P3 curves, and charts of any metric, with circles at crossings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import join_words
from polars_prcurve.core.ground.name_hints import hint_at_arguments
from polars_prcurve.view.charts.parts import colors_and_sizes as style
from polars_prcurve.view.charts.parts import doubt_of_points, names_and_numbers
from polars_prcurve.view.charts.parts.active_theme import measure_text, quiet_look, read_sizes
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_axes import (
    ChartAxis,
    ChartSpec,
    GivenSize,
    build_eta_axis,
    fit_shares,
    fix_y,
    list_stretches,
    mark_eta,
)
from polars_prcurve.view.charts.parts.chart_curves import (
    REASON,
    ChartCurves,
    check_table,
    pick_columns,
    read_lines,
)
from polars_prcurve.view.charts.parts.colors_and_panels import (
    Channels,
    choose_channels,
    pick_out,
    tell_panel,
)
from polars_prcurve.view.charts.parts.curve_chart import CurveChart
from polars_prcurve.view.charts.parts.line_drawing import Canvas, read_words
from polars_prcurve.view.charts.parts.panel_in_pixels import Word, choose_way
from polars_prcurve.view.charts.parts.panel_layers import keep_part
from polars_prcurve.view.charts.parts.title_phrases import (
    MOST_LETTERS,
    MOST_TRADES,
    add_order,
    are_short,
    go_on,
    list_firsts,
    may_be_chance,
    name_curves,
    read_ranking,
    say_by_metric,
    say_chance,
    say_chance_of_alerts,
    say_each,
    say_firsts,
    say_known,
    say_order,
)
from polars_prcurve.view.words.number_words import (
    FEW_POSITIVES,
    join_value,
    say_estimate,
    say_eta,
    say_share,
)


@hint_at_arguments
def metric_by_eta(
    table: pl.DataFrame,
    *,
    crossings: pl.DataFrame | None = None,
    ranking: pl.DataFrame | None = None,
    confidence: float | None = None,
    color: str | None = None,
    facet: str | None = None,
    title: Title = None,
    width: int | None = None,
    height: int | None = None,
) -> Chart:
    """Metrics by prevalence, from the table of `summary` or `operating_points`, in any row order.

    There is a line per group, metric and target, straight between the prevalences of the table, on a log
    axis. If these are few, each is also a dot. A null value is a gap. The shade is the table's
    intervals, or the limits of `summary(coarse=True)`. A line is dotted where its interval is in
    `doubt`. The grey rule is the test set's prevalence, if the table has it. The title names a model as
    best only with `ranking=`, whose strip above the lines shows where that is significant.

    Parameters
    ----------
    table
        What `summary` or `operating_points` returns for several eta, such as `eta_grid()`, long or
        with a column per metric. You can drop columns and rows that you do not want to see.
    crossings
        What `crossings` returns for the same metric: circles where two models change places. Crossings
        of models or prevalences that the table lacks are left out.
    ranking
        What `ranking(confidence=..., columns="all")` returns for the same metric, models and
        prevalences: the title and a strip name the significant leaders.
    confidence
        The level of the table's intervals, for the subtitle, since the table does not hold it.
    color, facet
        A `by` column, `"metric"` or `"target"`. By default the first `by` column is colour, and the
        others are panels, as are metrics and targets if there are several. With more than 8 groups,
        of one metric, the highest, the middle and the lowest have colours, by the values that the title
        compares or else by their means, and the others are grey.
    title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> from polars_prcurve import eta_grid
    >>> df = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "label": [1, 1, 1, 0, 0, 0] * 2})
    >>> df = df.with_columns(score=pl.Series([9, 8, 1, 5, 4, 3, 8, 6, 5, 7, 2, 1]))
    >>> table = df.prc.summary(eta_grid(0.001, 0.9), metrics="average_precision", by="model")
    >>> chart = metric_by_eta(table, crossings=df.prc.crossings(eta_range=(0.001, 0.9)))
    >>> chart.to_dict()["title"]["subtitle"]
    ['Average precision by prevalence']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = read_lines("metric_by_eta", table)
    has_one_each = len(curves.curve_rows) == curves.count_distinct(curves.group_fields)
    if color is None and facet is None and has_one_each:
        color = curves.group_column  # many groups are lines of one panel
    is_limited = "low" in table.columns and not {DOUBT, "criterion"} & set(table.columns)
    firsts = _list_firsts("metric_by_eta", ranking, curves)
    lines = _LineChart(curves, color, facet, confidence, size, firsts=firsts, is_limited=is_limited)
    trades = [] if crossings is None else _read_trades(curves, lines.channels, crossings)
    subtitle = f"{lines.name} by prevalence" if trades or firsts else ""
    return lines.draw(title, subtitle, trades)


@hint_at_arguments
def p3_curve(
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
    """P3 curves: precision by prevalence at fixed operating points (Brabec et al. 2020).

    A line is the precision that follows at each prevalence from the recall and fpr of one threshold. On
    the log axis it is S-shaped, and a smaller fpr moves it to the left.

    Parameters
    ----------
    table
        What `operating_points` returns for several eta, such as `eta_grid()`, with `recall=`,
        `threshold=` or `fpr=`, and precision among its metrics.
    ranking
        What `ranking(metric="precision", confidence=..., columns="all")` returns for the same target,
        models and prevalences: the title and a strip name the significant leaders.
    confidence, color, facet
        As in `metric_by_eta`.
    title, width, height
        As in `pr_curve`.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> chart = p3_curve(df.prc.operating_points([0.5, 0.1, 0.01, 0.001], recall=1))
    >>> chart.to_dict()["title"]["subtitle"]
    ['Precision by prevalence, at thresholds for 100% recall']
    """
    size = read_words(title, (width, height), color=color, facet=facet)
    curves = read_lines("p3_curve", table, "precision")
    firsts = _list_firsts("p3_curve", ranking, curves, 1)
    lines = _LineChart(curves, color, facet, confidence, size, firsts=firsts, ranking=ranking)
    return lines.draw(title, "Precision by prevalence")


WIDE = "not known to within a factor of 2"  # why a value is in doubt, as the note of a chart writes it
_STRIP_Y = 14  # pixels above the lines at which the strip of those that are first has its middle
_COMMON_ETAS = (0.01, 0.1, 0.5)  # where lines of several prevalences are compared, if known well
_NEAR = 0.5  # how far, as a logarithm, the next prevalence of a table is from that of the test, at most
_MOST_RULES = 3  # prevalences of test sets, at most, that have a rule each


def doubt_wide(summary_rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `summary`, in doubt also where an interval spans more than a factor of two.

    Far below the prevalence of a test a few examples that it lacks may change a value by so much.
    """
    if not {"low", "high", DOUBT} <= set(summary_rows.columns):  # limits are no intervals
        return summary_rows
    is_wide = pl.col("high") > 2 * pl.col("low")
    is_share = pl.col("high") <= 1  # of other metrics, such as a loss, 0 has no meaning
    doubt = pl.coalesce(DOUBT, pl.when(is_wide & is_share).then(pl.lit(WIDE)))
    return summary_rows.with_columns(doubt.alias(DOUBT))


class _LineChart:
    """Lines of metrics by prevalence, on their canvas."""

    def __init__(
        self,
        curves: ChartCurves,
        color: str | None,
        facet: str | None,
        confidence: float | None,
        size: GivenSize,
        *,
        firsts: Sequence[tuple[float, str]],
        ranking: pl.DataFrame | None = None,
        is_limited: bool = False,
    ) -> None:
        # `firsts` are the rising prevalences that were tested, each with the model that is significantly
        # first; `ranking` is by precision. With `is_limited` the ends are limits of coarse scores or of
        # points, unless there is a level.
        self.curves, self.rows, self.confidence = curves, curves.points, confidence
        self.is_limited, self.metrics = is_limited, curves.curve_rows["metric"].unique().to_list()
        is_one_metric = len(self.metrics) == 1
        self.name = names_and_numbers.format_metric_name(self.metrics[0]) if is_one_metric else "Metrics"
        self.few = f"{f'{self.name} is' if is_one_metric else 'The metrics are'} known only roughly"
        means = curves.find_means("value")
        self.channels = choose_channels(curves, color, facet, means)
        is_one_panel = self.channels.color is not None and self.channels.facet is None
        self.firsts = firsts if is_one_panel else ()
        x, bands = build_eta_axis(self.rows), (("low", "high"),)
        y = self._build_value_axis("Value" if len(self.metrics) > 1 else self.name)
        self.spec = ChartSpec(x, y, "linear", bands=bands, height=0.6, names="ends")
        is_own = pl.col("own_eta").is_between(0, 1, "none")
        # Sums of weights may differ in their last digits from curve to curve.
        own_etas = curves.curve_rows.select(pl.when(is_own).then("own_eta")).to_series()
        self.own_etas = own_etas.round_sig_figs(12).to_list()
        # Whether the values are the precision of thresholds, with the counts behind it.
        self.rests_on_counts = self.metrics == ["precision"] and "fp" in self.rows.columns
        self.doubt = doubt_of_points.find_few_positives(self.rows, curves)
        if self.rests_on_counts:
            self.doubt = doubt_of_points.find_few_false_alerts(self.rows)
        if REASON in self.doubt.columns:
            self.doubt = self.doubt.with_columns(pl.col("doubt") | self.is_unsure)
        # Of many lines those at both ends of what the title compares have a colour.
        told_eta, title_values = self._find_values(curves.pick([*curves.keep_known(means)]))
        if title_values:  # or by means, as chosen
            self.channels = pick_out(self.channels, title_values)
        # What a title compares lines of several test sets at.
        is_told = title_values and not firsts and len({*self.own_etas} - {None}) > 1
        self.told_etas = [told_eta] * len(self.own_etas) if is_told else []
        self.spec = replace(self.spec, x=mark_eta(x, told_eta) if is_told else x)
        tested = add_order(curves, "p3_curve", ranking, told_eta=told_eta)
        self.order = tested.order
        curves = replace(curves, open_reason=tested.open_reason)
        self.canvas = Canvas(curves, self.channels, self.spec, size)

    def _build_value_axis(self, title: str) -> ChartAxis:
        """Return the axis of values: of shares, or of the range of others, of each metric by itself."""
        end_columns = [name for name in ("value", "low", "high") if name in self.rows.columns]
        end_values = pl.concat([self.rows[name].cast(pl.Float64) for name in end_columns]).drop_nulls()
        y = ChartAxis("value", title, *fit_shares(end_values))
        if not end_values.is_between(-1e-9, 1 + 1e-9).all():  # no shares: a range for each metric
            low, high = float(end_values.min()), float(end_values.max())  # type: ignore[arg-type]
            room, facet_channel = 0.05 * (high - low) or 0.5, self.channels.facet
            y = replace(y, low=low - room, high=high + room, words="plain")
            y = replace(y, is_free=facet_channel is not None and "metric" in facet_channel.fields)
        return y

    @property
    def is_open(self) -> bool:
        """Whether models were ranked by their precision, and none is significantly first."""
        return bool(self.firsts and self.order) and not any(name for _, name in self.firsts)

    @property
    def is_unsure(self) -> pl.Expr:
        """Whether the table has why a value is in doubt."""
        has_interval = pl.col("low").is_not_null() if "low" in self.rows.columns else pl.lit(True)
        return pl.col(REASON).is_not_null() & has_interval

    def draw(self, title: Title, subtitle: str, trades: Sequence[dict[str, Any]] = ()) -> Chart:
        """Return the chart, with circles for the crossings that lie within its axis."""
        canvas, x, curve_rows = self.canvas, self.spec.x, self.curves.curve_rows
        trades = [trade for trade in trades if x.holds(trade["eta"])]
        own_etas = [eta for eta in self.own_etas if eta is not None]
        is_few = len(set(self.own_etas)) <= _MOST_RULES
        name = f"test set:\n{say_eta(own_etas[0])}" if own_etas else ""
        has_own = canvas.draw_rules(self.own_etas if is_few else [], name)
        if not has_own:  # its tick has the number
            canvas.draw_rules(self.told_etas, "")
        canvas.records += trades
        if len(trades) == 1 and self.channels.facet is None:
            place: dict[str, Any] = {"x": trades[0]["eta"], "y": trades[0]["value"]}
            sides: list[dict[str, Any]] = [{"dx": -10, "align": "right"}, {"dx": 10}]
            looks = (place | {"dy": dy} | side for dy in (-12, 12) for side in sides)
            text = f"equal at {trades[0]['place']}"
            canvas.words.append(choose_way(Word(text=text, **look) for look in looks))
        if target_text := names_and_numbers.describe_target(
            curve_rows.get_column("target", default=None)
        ):
            joint = ", at " if target_text.startswith("Threshold") else "; "
            subtitle = f"{subtitle}{joint}{go_on(target_text)}" if subtitle else target_text
            subtitle += self._say_ties()
        chart = CurveChart(
            canvas,
            lines=self.doubt,
            rows=self.rows,
            height=pl.col("value"),
            reads="nearest",
            say_row=self._say_row,
            subtitle=subtitle or f"Prevalences from {names_and_numbers.say_eta_range([x.low, x.high])}",
            title=f"{self.name} by prevalence",
            finding=self._say_order(trades),
            say=self._say_values,
            few=self.few,
            note=self._write_note(has_own, len(trades)),
            describe_doubt=self._describe_doubt,
        )
        return chart.draw(title)

    def _say_ties(self) -> str:
        """Return the recall of lines where it is not that of their target, such as of equal scores."""
        [target, *others] = self.curves.curve_rows["target"].unique().to_list()
        if others or target["criterion"] != "recall" or "recall" not in self.rows.columns:
            return ""
        recall_by_curve = dict(self.rows.group_by("curve").agg(pl.col("recall").first()).rows())
        if {say_share(target["target"])} == {*map(say_share, recall_by_curve.values())}:
            return ""
        names = name_curves(self.curves, self.channels)
        return say_each("; recall is", "", recall_by_curve, names)

    def _say_order(self, trades: Sequence[dict[str, Any]]) -> str:
        """Return the significant leaders, and draw them; else where lines cross, if known well."""
        color, curves = self.channels.color, self.curves
        if color is None or self.channels.facet is not None:
            return ""
        if not self.firsts:
            return "" if curves.has_few_positives else _say_trades(self.name, trades)
        draw_firsts(self.canvas, self.firsts, self.order if self.is_open else "")
        has_leader = any(name for _, name in self.firsts)
        is_chance = may_be_chance(curves, self.doubt.unique("curve"))
        if not (has_leader or curves.has_few_positives) and (self.order or is_chance):
            return ""  # the title goes on with the values
        return self._say_firsts(curves, color.label_by_curve)

    def _say_firsts(self, curves: ChartCurves, label_by_curve: Mapping[int, str]) -> str:
        """Return the significant leaders; or that there are none, and the values."""
        labels = [label for curve, label in label_by_curve.items() if curve not in curves.few_curves]
        sentence = say_by_metric(self.name, say_firsts(self.firsts, labels))
        if curves.few_curves:
            return say_known(curves, lambda _: sentence)
        if any(name for _, name in self.firsts):
            return sentence
        eta, value_by_curve = self._find_values(curves)
        if not value_by_curve and self._is_of_test(eta):
            place_text = f"the test set's prevalence, {say_eta(eta)}"
            return f"{sentence}; values are known only roughly at {place_text}"
        return self._say_heights(f"{sentence}; it is", curves, eta, value_by_curve) or sentence

    def _is_of_test(self, eta: float) -> bool:
        """Whether a prevalence on the axis is that of the test set, and of all of several."""
        return {own_eta for own_eta in self.own_etas if own_eta is not None} == {eta} and (
            self.spec.x.holds(eta)
        )

    def _say_row(self, row: dict[str, Any]) -> tuple[str, str]:
        """Return what the pointer reads at each prevalence of the table."""
        is_share = self.spec.y.words == "percent"
        value = join_value(
            *say_estimate(row["value"], row.get("low"), row.get("high"), is_share=is_share)
        )
        value += f", {row[REASON]}" if row.get(REASON) else ""
        return say_eta(row["eta"]), f"{value}{names_and_numbers.add_threshold(row)}"

    def _say_values(self, curves: ChartCurves) -> str:
        """Return the height of lines at a prevalence, or why it is not known well."""
        eta, value_by_curve = self._find_values(curves)
        heights = self._say_heights(f"{self.name} is", curves, eta, value_by_curve)
        if heights and may_be_chance(curves, self.doubt.unique("curve")):
            is_precision = self.metrics == ["precision"]
            return say_chance_of_alerts(heights, eta) if is_precision else say_chance(heights)
        order = self.order if self.is_open else ""
        return say_order(heights or self._say_doubt(curves), replace(curves, order=order)) or order

    def _say_doubt(self, curves: ChartCurves) -> str:
        """Return which lines are in doubt, if that is why no value is written."""
        rows = self.doubt.filter(pl.col("curve").is_in(curves.curve_rows["curve"].to_list()), "doubt")
        wide_rows = rows.filter(pl.col("high") > 2 * pl.col("low")) if "low" in rows.columns else rows
        rows = rows if wide_rows.is_empty() else wide_rows
        has_reasons = wide_rows.is_empty() and REASON in rows.columns
        reasons = rows[REASON].drop_nulls().unique().sort().to_list() if has_reasons else []
        numbers, names = rows["curve"].unique().sort().to_list(), name_curves(curves, self.channels)
        if not numbers:
            return ""
        channels = [channel for channel in (self.channels.color, self.channels.facet) if channel]
        if not names and len(channels) == 2:  # colours within panels
            names = {
                number: " · ".join(channel.label_by_curve[number] for channel in channels)
                for number in numbers
            }
        are_all, is_short = len(numbers) == len(curves.curve_rows), are_short(numbers, names)
        place_text = f" for {len(numbers)} of {len(curves.curve_rows)} lines"
        place_text = f" for {join_words([names[n] for n in numbers])}" if is_short else place_text
        place_text = "" if are_all else place_text
        if reasons:
            return f"Intervals{place_text} may be too narrow: {join_words(reasons)}"
        if is_short and not are_all and all(channel.fields == ["metric"] for channel in channels):
            labels = [names[number] for number in numbers]
            return f"{join_words(labels)} {'is' if len(labels) == 1 else 'are'} known only roughly"
        known_rows = self.doubt.filter(pl.col("curve").is_in(numbers), ~pl.col("doubt").fill_null(False))
        is_known_elsewhere = known_rows.drop_nulls("value")["curve"].n_unique() == len(numbers)
        few = self._say_few_of_panel(numbers, is_short=is_short) or f"{self.few}{place_text}"
        return f"{few}{' at some prevalences' if is_known_elsewhere else ''}"

    def _say_few_of_panel(self, numbers: list[int], *, is_short: bool) -> str:
        """Return that lines of one metric or target are known only roughly; empty of several."""
        color, facet = self.channels.color, self.channels.facet
        panels = {facet.label_by_curve[number] for number in numbers} if facet else set()
        if len(panels) != 1 or not (is_short and color and color.fields[0].startswith("group")):
            return ""
        place_text = f"known only roughly for {join_words([color.label_by_curve[n] for n in numbers])}"
        texts = {"metric": "{0} is {2}", "target": "{1} at {0} is {2}"}
        text = texts.get(" ".join(facet.fields) if facet else "", "")
        return text.format(*panels, self.name, place_text)

    def _say_heights(
        self, start: str, curves: ChartCurves, eta: float, value_by_curve: dict[int, float]
    ) -> str:
        """Return what each line has at a prevalence, after a start; empty without values."""
        names = name_curves(curves, self.channels)
        place_text = f"at a prevalence of {say_eta(eta)}"
        return say_each(start, place_text, value_by_curve, names) if value_by_curve else ""

    def _find_values(self, curves: ChartCurves) -> tuple[float, dict[int, float]]:
        """Return the first prevalence to compare lines at where all are known well, and their values."""
        # That is the test set's one, or of several a round one that is no higher than all of them.
        own_etas = sorted({eta for eta in self.own_etas if eta is not None})
        high_eta = min([*own_etas[-1:], self.spec.x.high])  # which is in the table
        round_etas = [] if len(own_etas) == 1 else [eta for eta in _COMMON_ETAS if eta < high_eta]
        values_at_etas = ((eta, self._read_values(curves, eta)) for eta in [*round_etas, high_eta])
        return next((values for values in values_at_etas if values[1]), (high_eta, {}))

    def _read_values(self, curves: ChartCurves, eta: float) -> dict[int, float]:
        """Return the height of each line at a prevalence; empty if not all are known well."""
        is_share = self.spec.y.words == "percent" and len(self.metrics) == 1
        facet = self.channels.facet
        if not is_share or (facet is not None and len(facet.labels) < len(self.curves.curve_rows)):
            return {}
        value_by_curve: dict[int, float] = {}
        rows = self.doubt.filter(pl.col("curve").is_in(curves.curve_rows["curve"].to_list()))
        rows = rows.filter(pl.col("eta") > 0).drop_nulls("value").sort("eta")
        for (curve,), line_frame in rows.group_by("curve", maintain_order=True):
            distances = line_frame["eta"].log() - math.log(eta)
            near_rows = line_frame.filter((distances.abs() < _NEAR).fill_null(False))
            if near_rows.is_empty() or near_rows["doubt"].any() or distances[0] > 0 or distances[-1] < 0:
                return {}
            values = line_frame["value"].cast(pl.Float64)
            value_by_curve[curve] = float(np.interp(0.0, distances, values))
        return value_by_curve if len(value_by_curve) == len(curves.curve_rows) else {}

    def _write_note(self, has_own: bool, n_trades: int) -> list[str]:
        """Return the sentences at the foot of the chart, but for those on the test set."""
        rows = self.rows
        sentences = []
        if "low" in rows.columns and rows["low"].count():
            shade_text = names_and_numbers.describe_level(True, self.confidence)
            if self.is_limited and self.confidence is None:
                shade_text = "Shaded: the limits of each value"
            sentences.append(f"{shade_text}{self._say_basis()}")
        etas = sorted({eta for eta in self.own_etas if eta is not None})
        if len(etas) > 1:
            range_text = names_and_numbers.say_eta_range(etas)
            range_text = f", {range_text}" if " to " in range_text else f" (all {range_text})"
            own_shares = f"the prevalence of each test set{range_text}"
            sentences.append(f"Grey rules: {own_shares}" if has_own else f"Not marked: {own_shares}")
        elif has_own and self.channels.facet is not None:
            sentences.append(f"Grey rule: the test set's prevalence, {say_eta(etas[0])}")
        return [*sentences, "Circles: two lines change places" if n_trades > 1 else ""]

    def _say_basis(self) -> str:
        """Return at which thresholds the intervals of points are, as a decision writes it."""
        if "target" not in self.curves.curve_rows.columns:
            return ""
        criteria = {target["criterion"] for target in self.curves.curve_rows["target"].to_list()}
        if criteria <= {"threshold", None}:
            return ", at a fixed threshold"
        return ", at a threshold chosen on the test set, allowing for that choice"

    def _describe_doubt(self, lines: pl.DataFrame) -> list[str]:
        """Return a sentence on which values are in doubt, and why."""
        unsure_rows = self.rows.filter(self.is_unsure) if REASON in self.rows.columns else None
        if unsure_rows is not None and len(unsure_rows):
            reasons = unsure_rows[REASON].unique().sort().to_list()
            doubts = ", ".join(reason for reason in reasons if reason != WIDE)
            clauses = [f"the interval is in doubt: {doubts}"] if doubts else []
            if self.curves.has_few_positives and "few positives" not in reasons:
                clauses.append(f"fewer than {FEW_POSITIVES} positives")
            clauses += [WIDE] if WIDE in reasons else []
            return [f"Dotted: {', or '.join(clauses)}"]
        if self.rests_on_counts:
            return doubt_of_points.describe_doubt(lines)
        return doubt_of_points.describe_few_positives(lines)


def _list_firsts(
    chart: str, ranking: pl.DataFrame | None, curves: ChartCurves, max_names: int = 2
) -> list[tuple[float, str]]:
    """Return the prevalences of a ranking with the significant leader; none if nothing was tested."""
    name_one = partial(names_and_numbers.name_with_column, "group", "model")
    rows = read_ranking(chart, ranking, curves)
    return list_firsts(rows, pl.col("may_be_best"), "model", name_one, max_names)


def draw_firsts(canvas: Canvas, firsts: Sequence[tuple[float, str]], order: str) -> None:
    """Draw a strip above the lines: who is significantly first where, and grey where that is open."""
    # Where it is open everywhere, `order` has who is worse.
    x, (etas, names) = canvas.spec.x, zip(*firsts, strict=True)
    is_pair = canvas.channels.color is not None and len(canvas.channels.color.labels) == 2
    for name, stretch in list_stretches(x, etas, names, lambda name: not name):
        low, high = stretch.values()
        fields = {end: names_and_numbers.round_digits(eta) for end, eta in stretch.items()}
        has_color = canvas.channels.color is not None and name in canvas.channels.color.labels
        room = (x.place(high) - x.place(low)) * canvas.size.width - 8
        rank_text = "better" if is_pair else "best"
        texts = [f"{name} is {rank_text}", name]
        texts += [rank_text] if has_color else ["one of two is best", "one of two"]
        texts = texts if name else [go_on(order), "no clear winner", "open"]
        text = next(
            (text for text in texts if text and measure_text(text, read_sizes().note) < room), ""
        )
        if text or has_color:  # an empty grey box would be a riddle
            canvas.records.append({"part": "first", **fields} | ({"color": name} if has_color else {}))
        look = quiet_look() | ({"color": "white"} if has_color else {})
        look |= {"x": math.sqrt(low * high), "py": -_STRIP_Y, "align": "center", "weight": "bold"}
        canvas.words += [Word(text=text, **look)] if text else []
    ends: dict[str, Any] = {"y": fix_y(-_STRIP_Y - 9), "y2": alt.value(-_STRIP_Y + 9)}
    strip = alt.Chart().encode(x.build_x(canvas.size.width), alt.X2("to"), **ends)
    look = {"aria": False, "stroke": "white", "strokeWidth": 2}  # stretches of one colour are apart
    open_strip = strip.mark_rect(color=style.ZONE, **look)
    own_strip = strip.mark_rect(**look).encode(*canvas.channels.encodings)
    for test, layer in (("!isValid", open_strip), ("isValid", own_strip)):
        canvas.layers.append(keep_part(layer, "first").transform_filter(f"{test}(datum.color)"))


def _read_trades(
    curves: ChartCurves, channels: Channels, crossings: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return a record per crossing and panel; raise unless all are of the table's models and groups."""
    facet, columns = channels.facet, ["model_a", "model_b", "eta", "value"]
    crossings = check_table("crossings= of metric_by_eta", crossings, "crossings", columns)
    if curves.count_distinct(curves.other_fields) > 1:
        raise PrcError("filter crossings= to one metric at one target; the table has several")
    if crossings.is_empty() or curves.curve_rows.is_empty():
        return []
    groups = crossings.columns[:-4]
    by_fields = {field: name for field, name in curves.column_by_field.items() if name in groups}
    model_fields = [field for field in curves.group_fields if field not in by_fields]
    if len(model_fields) != 1 or len(by_fields) != len(groups):
        own_groups = ", ".join(curves.column_by_field[field] for field in curves.group_fields) or "none"
        raise PrcError(
            "make crossings= from the same scores, with model= one of the group columns and "
            f"by= the others; here they are {own_groups}"
        )
    trades, [model] = pick_columns(crossings, by_fields, columns).with_row_index("trade"), model_fields
    lines = curves.curve_rows.select("curve", *by_fields, model)
    if lines.schema[model] != trades.schema["model_a"]:
        raise PrcError(
            "make crossings= and the table from one table: the model column is "
            f"{trades.schema['model_a']} in one and {lines.schema[model]} in the other"
        )
    # Both models of a trade may share a panel, which then shows one circle.
    record_by_place: dict[tuple[int, str], dict[str, Any]] = {}
    model_by_side = {"below": "model_a", "above": "model_b"}
    say_name = partial(names_and_numbers.name_with_column, model, curves.column_by_field[model])
    for side in model_by_side.values():
        join_options: dict[str, Any] = {"left_on": [*by_fields, model], "right_on": [*by_fields, side]}
        trade_rows = lines.join(trades, **join_options, nulls_equal=True, coalesce=False)
        for row in trade_rows.iter_rows(named=True):
            panel = facet.label_by_curve[row["curve"]] if facet else None
            place = {name: names_and_numbers.round_digits(row[name]) for name in ("eta", "value")}
            names = {where: say_name(row[name]) for where, name in model_by_side.items()}
            record = {"part": "ring", **place, "place": say_eta(row["eta"]), **names}
            record_by_place[row["trade"], panel or ""] = record | tell_panel(panel)
    return [record_by_place[key] for key in sorted(record_by_place)]


def _say_trades(metric_name: str, trades: Sequence[Mapping[str, Any]]) -> str:
    """Return where two lines cross, of a few crossings; empty for none, and for many."""
    pair_texts = [f"{trade['below']} and {trade['above']}" for trade in trades]
    if not 1 <= len(trades) <= MOST_TRADES or sum(map(len, pair_texts)) > 1.5 * MOST_LETTERS:
        return ""
    first_place, *other_places = [trade["place"] for trade in trades]
    sentence = f"{pair_texts[0]} have equal {go_on(metric_name)} at a prevalence of {first_place}"
    clauses_with_places = zip(pair_texts[1:], other_places, strict=True)
    return "; ".join([sentence, *(f"{clause} at {place}" for clause, place in clauses_with_places)])
