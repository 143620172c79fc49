"""Charts of lines: what all of them draw and write, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from polars_prcurve.core.ground.argument_checks import Title
from polars_prcurve.view.charts.parts import doubt_of_points, points_to_draw
from polars_prcurve.view.charts.parts.chart_assembly import Chart, ChartText
from polars_prcurve.view.charts.parts.chart_curves import ChartCurves
from polars_prcurve.view.charts.parts.line_drawing import Canvas
from polars_prcurve.view.charts.parts.marked_points import NO_MARKS, MarkedPoints, mark_points
from polars_prcurve.view.charts.parts.title_phrases import open_title, say_known, say_order
from polars_prcurve.view.words.number_words import SayShares

_MOST_PLACES = 12  # places of a line, at most, that are dots, too
_DOTS = {
    "linear": "Dots: the points of the table, joined by straight lines",
    "step-before": "Dots: the points of the table; a line runs at the precision of the next dot",
}
"""Sentences on published points, by how lines join them."""
_MOST_PUBLISHED = 30  # published points of a curve, at most, that are dots


@dataclass(frozen=True)
class CurveChart:
    """One chart: its lines, the rows that the pointer reads, and the words that are its own."""

    canvas: Canvas  # with its axes, and what lies below the lines
    lines: pl.DataFrame  # the points that lines join, with `doubt`
    rows: pl.DataFrame  # those of the table, which are dots, too, if they are published or few
    height: pl.Expr  # the order of points by their height
    # The row that rules at a place: the next one, or the last one, or that of the place alone.
    reads: Literal["forward", "backward", "nearest"]
    say_row: Callable[[dict[str, Any]], tuple[str, str]]  # words for a place, and for the row there
    subtitle: str = ""  # what is drawn, without the prevalences
    title: str = ""  # what stands there without a finding, without the prevalences
    finding: str = ""  # what a test settles, or points with a name
    say: Callable[[ChartCurves], str] = lambda _: ""  # another finding, of curves that are known well
    few: str = ""  # of lines that all have few positives, unless it is on a recall of 50%
    note: Sequence[str] = ()  # sentences on what this chart alone has
    pointed: pl.DataFrame | None = None  # the rows that the pointer reads, if these are not all
    marks: MarkedPoints = NO_MARKS  # points with a name, which lines run through
    label_marks: Callable[[list[float], SayShares], list[str]] | None = None  # if not by their height
    describe_doubt: Callable[[pl.DataFrame], list[str]] = doubt_of_points.describe_doubt
    has_ghosts: bool = True  # whether the lines of other panels stand behind in grey

    def draw(self, user_title: Title) -> Chart:
        """Return the chart, with the user's title, or with what it shows."""
        return self.canvas.finish(self.write(user_title, self.draw_lines()))

    def write(self, user_title: Title, drawn_points: pl.DataFrame) -> ChartText:
        """Return the words around the lines that join these points."""
        canvas, curves, channels = self.canvas, self.canvas.curves, self.canvas.channels
        finding = self.finding
        if self.marks.is_asked:
            finding = finding or say_order(self.marks.find_title(curves, channels), curves)
        if len({record["goal"] for record in self.marks.records}) < 2:
            finding = finding or say_known(curves, self._say_qualified, self.few)
        has_areas = channels.facet is not None and bool(channels.facet.head_by_label)
        linear = " if the axis were linear" if canvas.spec.y.is_log else ""
        has_dots = self.is_published and any(row["part"] == "dot" for row in canvas.records)
        has_ghosts = any(row["part"] == "ghost" for row in canvas.records)
        note = [
            "Pale lines: those of the other panels" if has_ghosts else "",
            f"Number: area under the line{linear}" if has_areas else "",
            self.marks.describe_shapes(),
            *self.marks.describe(),
            _DOTS.get(canvas.spec.interpolate, "") if has_dots else "",
            *self.note,
            *self.describe_doubt(drawn_points),
        ]
        return canvas.write(user_title, finding, name=self.title, subtitle=self.subtitle, note=note)

    def _say_qualified(self, curves: ChartCurves) -> str:
        """Return what curves show, after what a test of curves by threshold has found."""
        sentence = self.say(curves)
        return sentence if self.reads == "nearest" else open_title(sentence, curves)

    @property
    def is_published(self) -> bool:
        """Whether the rows are published points, whose thresholds are not known."""
        return self.reads != "nearest" and points_to_draw.has_points_alone(self.rows)

    def draw_lines(self) -> pl.DataFrame:
        """Draw lines, dots, marks and what the pointer reads; return the points that lines join."""
        canvas, most_places = self.canvas, _MOST_PLACES if self.reads == "nearest" else 0
        drawn_points = canvas.draw_lines(
            canvas.fit(self.lines), self.height, self.marks.records, has_ghosts=self.has_ghosts
        )
        canvas.draw_dots(canvas.fit(self.rows), _MOST_PUBLISHED if self.is_published else most_places)
        canvas.records += mark_points(self.marks, canvas, self.label_marks)
        pointed = self.rows if self.pointed is None else self.pointed
        canvas.follow_pointer(pointed, self.reads, self.say_row)
        return drawn_points
