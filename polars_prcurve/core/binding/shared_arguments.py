"""The words that many methods share, each declared once, in groups by their meaning.

A method takes a group as `**words: Unpack[...]`, that of the words which it reads; `bound_table` lists
them in its signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from polars_prcurve.core.metrics.target_kinds import EtaWords, RateWords

if TYPE_CHECKING:
    from polars_prcurve.core.ground.argument_checks import Title
    from polars_prcurve.core.inputs.column_reader import (
        Below,
        Cells,
        Column,
        Columns,
        Counts,
        Missing,
        Sizes,
    )
    from polars_prcurve.core.metrics.point_metric import PointMetric

# What a table holds, from the least that a method reads to all there is --------------------------


class ScoreWords(TypedDict, total=False):
    """A score and a label in each row."""

    score: Column | Sequence[str] | Mapping[Any, str]
    label: Column | None
    pos_label: Any
    missing: Missing


class RowWords(ScoreWords, total=False):
    """Rows in groups."""

    by: Columns
    model: Column | None


class WeightWords(RowWords, total=False):
    """Rows that may represent several examples, or less than one."""

    weight: Column | None


class CountWords(RowWords, total=False):
    """Rows, or counts of them."""

    counts: Counts | Column | None


class AlertWords(CountWords, total=False):
    """Rows, or what a threshold has made of them."""

    cells: Cells | None


class ExampleWords(WeightWords, CountWords, total=False):
    """Examples: rows with their weights, or counts."""


class UnscoredWords(ExampleWords, total=False):
    """Examples, also without a score."""

    below: Below | None


class PointWords(ExampleWords, total=False):
    """Examples, or published points of their curve."""

    rates: tuple[Column, Column] | None
    sizes: Sizes | None
    cells: Cells | None


class CurveWords(UnscoredWords, PointWords, total=False):
    """All from which a curve can be made."""


class DesignWords(CurveWords, total=False):
    """A curve, and how its rows were drawn, for intervals."""

    stratum: Column | None
    cluster: Column | None


class TableWords(DesignWords, total=False):
    """All that a table may hold. `df.prc(...)` stores it once for all methods."""

    id: Columns


class ExpressionWords(TypedDict, total=False):
    """What an expression reads of each row, besides its score and its label."""

    weight: Column | None
    pos_label: Any


# What a threshold has to meet --------------------------------------------------------------------


class ThresholdWord(TypedDict, total=False):
    """The threshold itself."""

    threshold: Any


class RateTargets(ThresholdWord, RateWords, total=False):
    """Targets that fix a threshold for all prevalences."""


class OneTarget(RateTargets, EtaWords, total=False):
    """Targets at which models are compared, of which a call takes one."""


class Targets(OneTarget, total=False):
    """All targets: what an operating point has to meet."""

    maximize: str | PointMetric | Sequence[str | PointMetric] | None


class RateTargetsOfPoints(RateTargets, PointWords, total=False):
    """A target that fixes a threshold, and examples or points."""


class RateTargetsOfCurve(RateTargets, CurveWords, total=False):
    """A target that fixes a threshold, and a curve."""


class OneTargetOfTable(OneTarget, TableWords, total=False):
    """A target at which models are compared, and what the table holds."""


class TargetsOfDesign(Targets, DesignWords, total=False):
    """Targets, and a curve with how its rows were drawn."""


class TargetsOfExpression(RateWords, EtaWords, ExpressionWords, total=False):
    """Targets that an expression finds the threshold of, and what it reads of each row."""


class TargetsOfTable(Targets, TableWords, total=False):
    """Targets, and what the table holds."""


# What a chart shows ------------------------------------------------------------------------------


class ChartWords(TypedDict, total=False):
    """What distinguishes the curves of a chart, its title, and the size of a panel in pixels."""

    color: str | None
    facet: str | None
    title: Title
    width: int | None
    height: int | None


class ChartOfExamples(ChartWords, ExampleWords, total=False):
    """What a chart distinguishes, and examples."""


class ChartOfCurve(ChartWords, CurveWords, total=False):
    """What a chart distinguishes, and a curve."""


class ChartOfDesign(ChartWords, DesignWords, total=False):
    """What a chart distinguishes, and a curve with how its rows were drawn."""


class ChartOfTable(ChartWords, TableWords, total=False):
    """What a chart distinguishes, and what the table holds."""


class ChartOfPoints(Targets, ChartOfDesign, total=False):
    """Targets, what a chart distinguishes, and a curve with how its rows were drawn."""


class ChartOfTargets(RateTargets, ChartOfDesign, total=False):
    """A target, what a chart distinguishes, and a curve with how its rows were drawn."""


TABLE_WORDS = tuple(TableWords.__annotations__)
"""The words about a table, in the order of signatures."""
TARGET_WORDS = tuple(Targets.__annotations__)
"""The targets, in the order in which operating points stand."""
CHART_WORDS = tuple(ChartWords.__annotations__)
"""The words that charts share."""
