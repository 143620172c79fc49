"""Targets: what an operating point is asked to be, and how its row is found.

A target is met by a first or a last row, or by one of the greatest value, so that each choice is
the maximum of an integer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import point_metrics as point
from polars_prcurve.columns import RESERVED, SCORE
from polars_prcurve.curve_metrics import CurveMetric, Rows, best, curve_metrics
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs import Input, ScoreTable
from polars_prcurve.ordering import rising_code
from polars_prcurve.point_metrics import PointMetric, point_metrics
from polars_prcurve.sweep import exact_scores

__all__ = ["ROW", "Judge", "Several", "Target", "better", "chosen_row", "read_judge", "read_targets"]

Several: TypeAlias = float | Sequence[float] | None
Choice: TypeAlias = Callable[[Rows], pl.Expr]
ROW = f"{RESERVED}row"
"""The number of a row, by rising recall."""


@dataclass(frozen=True)
class Target:
    """What an operating point is asked to be."""

    criterion: str
    value: Any
    """Null for the best value of a metric."""
    choice: Choice
    """From the value of metrics to an integer that is greatest at the row to choose, and whose
    low 64 bits are the number of that row, negated where the first one is wanted."""
    depends_on_eta: bool = False
    literal: pl.Expr | None = None
    """A threshold, in the dtype of the score."""


def read_targets(
    table: Input | None,
    *,
    threshold: Any = None,
    recall: Several = None,
    fpr: Several = None,
    precision: Several = None,
    predicted_positive_rate: Several = None,
    maximize: Any = None,
) -> list[Target]:
    """Every target, kind by kind in the order of the arguments."""
    targets = [_at_least(value, literal) for value, literal in _thresholds(table, threshold)]
    targets += [Target("recall", v, _first(_recall(v))) for v in _shares("recall", recall)]
    targets += [Target("fpr", v, _last(_fpr(v))) for v in _shares("fpr", fpr)]
    for value in _shares("precision", precision):
        targets.append(Target("precision", value, _last(_precision(value)), True))
    for value in _shares("predicted_positive_rate", predicted_positive_rate):
        targets.append(Target("predicted_positive_rate", value, _last(_alarms(value)), True))
    for metric in [] if maximize is None else point_metrics(maximize):
        targets.append(_best(metric))
    if not targets:
        raise PrcError(
            "an operating point needs a target: recall=, fpr=, precision=, "
            "predicted_positive_rate= or maximize=; operating_points takes threshold=, too"
        )
    return targets


class Judge(NamedTuple):
    """What models are judged by."""

    metric: CurveMetric | PointMetric
    targets: list[Target]
    """One, for a metric of points."""


def read_judge(metric: str | PointMetric | CurveMetric, table: Input, **targets: Any) -> Judge:
    """A metric of curves, or one of points at a target.

    A metric of points without a target stands for its best value.
    """
    found = [] if all(t is None for t in targets.values()) else read_targets(table, **targets)
    if len(found) > 1:
        raise PrcError(f"models are judged at one target; got {len(found)} of them")
    if isinstance(metric, PointMetric) or (isinstance(metric, str) and metric in point.POINT_METRICS):
        [of] = point_metrics(metric)
        return Judge(of if found else best(of), found)
    [of_curve] = curve_metrics(metric)
    if found:
        raise PrcError(f"{of_curve.name} is of a whole curve; leave out {found[0].criterion}=")
    return Judge(of_curve, found)


def better(metric: CurveMetric | PointMetric) -> float:
    """1 if the greater value is the better, -1 if the less is."""
    if metric.direction == "none":
        raise PrcError(f"{metric.name} has no direction, so that no model is better by it")
    return 1.0 if metric.direction == "maximize" else -1.0


def _first(test: Choice) -> Choice:
    return lambda rows: pl.when(test(rows)).then(-rows.column(ROW))


def _last(test: Choice) -> Choice:
    return lambda rows: pl.when(test(rows)).then(rows.column(ROW))


def _at_least(value: Any, literal: pl.Expr) -> Target:
    choice = _last(lambda rows: rows.column(SCORE) >= literal)
    return Target("threshold", value, choice, literal=literal)


def _recall(value: float) -> Choice:
    return lambda rows: rows.column("recall") >= value


def _fpr(value: float) -> Choice:
    return lambda rows: rows.column("fpr") <= value


def _precision(value: float) -> Choice:
    return lambda rows: rows.value(point.precision) >= value


def _alarms(value: float) -> Choice:
    return lambda rows: rows.value(point.predicted_positive_rate) <= value


def _best(metric: PointMetric) -> Target:
    sign = 1.0 if metric.is_best_at_its_greatest() else -1.0

    def choice(rows: Rows) -> pl.Expr:
        return rising_code(rows.value(metric) * sign).cast(pl.Int128) * 2**64 - rows.column(ROW)

    return Target(f"maximize({metric.name})", None, choice, metric.depends_on_eta)


def _listed(given: Any) -> list[Any]:
    """None, one or several."""
    if given is None:
        return []
    return list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]


def _shares(name: str, given: Any) -> list[float]:
    values = _listed(given)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
            raise PrcError(f"{name}= takes numbers in [0, 1]; got {value!r}")
    return [float(value) for value in values]


def _thresholds(table: Input | None, given: Any) -> Iterable[tuple[Any, pl.Expr]]:
    if given is None:
        return []
    if not isinstance(table, ScoreTable):
        raise PrcError("rates= has no thresholds, so threshold= finds none; ask for a recall or an fpr")
    values = _listed(given)
    held = exact_scores("threshold", values, table.score_dtype)
    return [(value, pl.lit(held[i : i + 1]).first()) for i, value in enumerate(values)]


def chosen_row(greatest: pl.Expr) -> pl.Expr:
    """The number of the row from the greatest choice; null where no row meets the target."""
    return greatest.cast(pl.Int64, wrap_numerical=True).abs()
