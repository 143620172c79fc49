"""The words that many methods share, each declared once: of the table, of targets, and of charts.

A method takes a group as `**words: Unpack[...]`; `bound_table` lists its words in the signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from polars_prcurve.argument_kinds import Title
    from polars_prcurve.curves.targets import TargetValues
    from polars_prcurve.inputs.column_reader import Column, Columns, Counts, Missing
    from polars_prcurve.inputs.never_scored import Below
    from polars_prcurve.inputs.table_reader import Cells, Sizes
    from polars_prcurve.metrics.point_metric import PointMetric


class TableWords(TypedDict, total=False):
    """What a table holds. `df.prc(...)` says it once for all methods."""

    score: Column | Sequence[str] | Mapping[Any, str]
    label: Column | None
    pos_label: Any
    by: Columns
    model: Column | None
    id: Columns
    weight: Column | None
    stratum: Column | None
    cluster: Column | None
    counts: Counts | Column | None
    rates: tuple[Column, Column] | None
    sizes: Sizes | None
    cells: Cells | None
    below: Below | None
    missing: Missing


class RowWords(TypedDict, total=False):
    """What an expression reads of each row, besides its score and its label."""

    weight: Column | None
    pos_label: Any


class RateTargets(TypedDict, total=False):
    """Targets that fix a threshold for all prevalences."""

    threshold: Any
    recall: TargetValues
    fpr: TargetValues


class OneTarget(RateTargets, total=False):
    """Targets at which models are compared, of which a call takes one."""

    precision: TargetValues
    npv: TargetValues
    fdr: TargetValues
    lift: TargetValues
    predicted_positive_rate: TargetValues
    alerts: TargetValues
    per: float | None


class Targets(OneTarget, total=False):
    """All targets: what an operating point has to meet."""

    maximize: str | PointMetric | Sequence[str | PointMetric] | None


class ChartWords(TypedDict, total=False):
    """What distinguishes the curves of a chart, and its title."""

    color: str | None
    facet: str | None
    title: Title


class RateTargetsOfTable(RateTargets, TableWords, total=False):
    """A target that fixes a threshold, and what the table holds."""


class OneTargetOfTable(OneTarget, TableWords, total=False):
    """A target at which models are compared, and what the table holds."""


class TargetsOfTable(Targets, TableWords, total=False):
    """Targets, and what the table holds."""


class ChartOfTable(ChartWords, TableWords, total=False):
    """What a chart distinguishes, and what the table holds."""


class ChartOfPoints(Targets, ChartOfTable, total=False):
    """Targets, what a chart distinguishes, and what the table holds."""


class ChartOfTargets(RateTargets, ChartOfTable, total=False):
    """A target, what a chart distinguishes, and what the table holds."""


TABLE_WORDS = tuple(TableWords.__annotations__)
TARGET_WORDS = tuple(Targets.__annotations__)
CHART_WORDS = tuple(ChartWords.__annotations__)

DEFAULTS: dict[str, Any] = {"score": "score", "label": "label", "missing": "raise"}
"""What a word of the table stands for where nobody says it; None for all others."""

RIVALS = (("label", "pos_label", "weight", "stratum"), ("counts",), ("rates", "sizes"), ("cells",))
"""Words that tell in different ways which examples there are: those of one row hold, not of two."""

PASSED_OVER = ("id", "cluster", "stratum")
"""Bound words that cannot change an answer for which a method has no use for them."""

_ROWS = {"score", "label", "pos_label", "by", "model", "missing"}
_COUNTED = _ROWS | {"weight", "counts"}
_POINTS = _COUNTED | {"rates", "sizes", "cells"}
_BELOW = {"below"}
_DESIGN = {"stratum", "cluster"}
USES: dict[str, set[str]] = {
    "counts": _COUNTED | _BELOW,
    "sweep": _POINTS | _BELOW,
    "curve": _POINTS | _DESIGN | _BELOW,
    "operating_points": _POINTS | _DESIGN | _BELOW,
    "decision_curve": _COUNTED,
    "summary": _POINTS | _DESIGN | _BELOW,
    "binormal": _COUNTED,
    "compare": _POINTS | _DESIGN | _BELOW | {"id"},
    "ranking": _POINTS | _DESIGN | _BELOW | {"id"},
    "crossings": _POINTS | _BELOW,
    "leaders": _POINTS | _BELOW,
    "dominance": _POINTS | _BELOW,
    "sample_size": _POINTS,
    "resolution": _POINTS,
    "subsample_negatives": _ROWS | {"counts"},
    "decide": _POINTS | _DESIGN | _BELOW | {"id"},
    "report": _POINTS | _DESIGN | _BELOW | {"id"},
    "estimate_prevalence": _ROWS | {"counts"},
    "reweight": _ROWS | {"weight"},
    "monitor": _ROWS | {"counts", "cells"},
    "sampling_plan": _ROWS - {"by", "model"},
    "weigh_sample": _ROWS - {"by", "model", "pos_label"},
}
"""The words of the table that each method reads."""

INTERVALS: dict[str, tuple[str, ...]] = {
    "curve": ("analytic", "rectangle"),
    "operating_points": ("analytic", "rectangle", "bootstrap"),
    "summary": ("analytic", "bootstrap"),
    "compare": ("analytic", "bootstrap"),
    "ranking": ("analytic", "bootstrap"),
}
"""The kinds of intervals that a method has; others have the analytic ones. "rectangle" stands for those
of point metrics, which may be simultaneous, too."""
TAKES_RATES = {"curve", "operating_points", "sample_size", "resolution"}
"""Methods whose intervals come from those of recall and of fpr, of which callers choose the kind."""

COMPARES_MODELS = {"compare", "ranking", "crossings", "leaders", "dominance", "decide", "report"}
"""Methods that tell models apart; for others a model is one more group."""
TAKES_ONE_MODEL = {"decide", "report"}
"""Those of them that a table without a column of models serves, too."""
