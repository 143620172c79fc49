"""Charts of curves with a point per threshold: what all of them draw, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.view.charts.parts import point_thinning
from polars_prcurve.view.charts.parts.chart_assembly import Chart
from polars_prcurve.view.charts.parts.chart_titles import say_known
from polars_prcurve.view.charts.parts.line_canvas import Canvas
from polars_prcurve.view.charts.parts.marked_points import (
    NO_MARKS,
    MarkedPoints,
    find_rates,
    mark_points,
)
from polars_prcurve.view.charts.parts.result_tables import ChartCurves
from polars_prcurve.view.words.number_words import SayShares


@dataclass(frozen=True)
class CurveChart:
    """One chart: its lines, the rows that the pointer reads, and the words that are its own."""

    canvas: Canvas  # with its axes, and what lies below the lines
    lines: pl.DataFrame  # the points that lines join, with `doubt`
    rows: pl.DataFrame  # those of the table, which are dots, too, where they are published
    height: pl.Expr  # the order of points by their height
    reads: Literal["forward", "backward"]  # the row that rules at a place: the next, or the last one
    say_row: Callable[[dict[str, Any]], tuple[str, str]]  # words for a place, and for the row there
    subtitle: str  # what is drawn, without the prevalences
    title: str  # what stands there without a finding, without the prevalences
    say: Callable[[ChartCurves], str]  # the finding, of curves that are known well
    subject: str = ""  # what is known only roughly from few positives, if not a recall
    note: Sequence[str] = ()  # sentences on what this chart alone has
    pointed: pl.DataFrame | None = None  # the rows that the pointer reads, if these are not all
    marks: MarkedPoints = NO_MARKS  # points with a name, which lines run through
    rates: tuple[str, str] = ("", "")  # the columns of points that both axes show
    label_marks: Callable[[list[float], SayShares], list[str]] | None = None  # if not by their height
    describe_doubt: Callable[[pl.DataFrame], list[str]] = point_thinning.describe_doubt
    has_ghosts: bool = True  # whether the lines of other panels stand behind in grey

    def draw(self, user_title: Title) -> Chart:
        """Return the chart, with the user's title, or with what it shows."""
        canvas, curves, channels = self.canvas, self.canvas.curves, self.canvas.channels
        records = self.marks.records
        drawn_points = canvas.draw_curves(self.lines, self.height, records, has_ghosts=self.has_ghosts)
        has_dots = canvas.draw_published(self.rows)
        canvas.records += self._mark_points()
        pointed = self.rows if self.pointed is None else self.pointed
        canvas.follow_pointer(pointed, self.reads, self.say_row)
        finding = self.marks.find_title(curves, channels) if self.marks.is_asked else ""
        has_one_goal = len({record["goal"] for record in records}) < 2
        finding = finding or (say_known(curves, self.say, self.subject) if has_one_goal else "")
        has_areas = channels.facet is not None and bool(channels.facet.head_of_label)
        linear = " if the axis were linear" if canvas.spec.y.is_log else ""
        is_slope = canvas.spec.interpolate == "linear"
        dots = point_thinning.DOTS_OF_SLOPES if is_slope else point_thinning.DOTS_OF_STEPS
        note = [
            f"Number: area under the line{linear}" if has_areas else "",
            channels.color_note,
            *self.marks.describe(),
            dots if has_dots else "",
            *self.note,
            *self.describe_doubt(drawn_points),
            *curves.describe_sizes(),
        ]
        # A title on where curves run is the only one: it is not written twice.
        subtitle = curves.join_etas(f"{self.subtitle},") if user_title or finding else self.subtitle
        return canvas.finish(user_title, finding or curves.join_etas(self.title), subtitle, note)

    def _mark_points(self) -> list[dict[str, Any]]:
        """Return the records of points with a name, and of the thin rules of what they hold for."""
        (x, y), channels, (x_rate, y_rate) = self.canvas.axes, self.canvas.channels, self.rates

        def find_heights(point: dict[str, Any]) -> dict[str, float | None]:
            low = y.pick(channels.curve_fields(point["curve"]).get("facet")).low
            return {y.field: max(y.measure(point[y_rate]), low)}

        def say_heights(_field: str, values: list[float], say: SayShares) -> list[str]:
            return self.label_marks(values, say) if self.label_marks else say([*map(y.measure, values)])

        return mark_points(
            self.marks,
            self.canvas,
            find_x=lambda point: max(point[x_rate], x.low),
            find_heights=find_heights,
            find_span=lambda point: find_rates(self.canvas.curves, point, x_rate, x.low),
            say_heights=say_heights,
        )
