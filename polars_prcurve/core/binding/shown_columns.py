"""The columns of a result: those that `columns="short"` shows, and counts that `metrics=` names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast, get_args

import polars as pl
import polars.selectors as cs

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.ground.argument_checks import read_choice, read_flag
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.metrics.point_metric import PointMetric
from polars_prcurve.core.metrics.segment_column_names import CELLS
from polars_prcurve.core.prevalence.estimated_eta import doubt_refuted_estimates

ResultColumns: TypeAlias = Literal["short", "all"]
"""The argument columns=: those that fit a screen, or all."""
_ENDS = ("", "_corrected", "_low", "_high")  # what follows the name of a metric in its columns
_HOW_ESTIMATED = ("n", "iterations", "converged")  # columns of `estimate_prevalence`
ALERT_NAMES = ("alerts", "true_alerts", "missed")  # counts of cases, which `per=` scales
COUNT_NAMES = (*CELLS, *ALERT_NAMES)
"""What `metrics=` of operating points takes beside metrics: the counts of a row."""
SHORT_COLUMNS: dict[str, tuple[str, ...]] = {
    "summary": ("eta", "n_pos", "n_neg", "n_groups", "metric", "value", "low", "high", DOUBT),
    "operating_points": ("eta", "criterion", "target", "threshold", "guarantee", "n_pos_needed",
                         "n_neg_needed", "metric", "value", "corrected", "low", "high", DOUBT),
    "compare": ("eta", "metric", "model_a", "model_b", "difference", "low", "high", "p_value",
                "p_adjusted", "significant", "not_worse", "n_groups", DOUBT),
    "ranking": ("eta", "model", "value", "rank", "behind", "behind_low", "behind_high", "value_low",
                "value_high", "may_be_best", "n_groups", DOUBT),
    "decision_curve": ("eta", "threshold_probability", "threshold", "net_benefit", "treat_all",
                       "net_benefit_low", "net_benefit_high", DOUBT),
    "monitor": ("metric", "value", "overall", "overall_low", "overall_high", "reference", "alarm",
                "since", DOUBT),
}  # fmt: skip
"""The columns of a method that `columns="short"` shows, after those of groups and of an eta frame. Of
operating points it also shows what `metrics=` names. Columns that some arguments alone add are in the
list, too, such as `p_adjusted`; of estimated prevalences it does not show _HOW_ESTIMATED."""


def read_columns(column_choice: ResultColumns) -> ResultColumns:
    """Return the argument columns=; raise for another word."""
    return cast("ResultColumns", read_choice("columns=", column_choice, get_args(ResultColumns)))


def choose_columns(
    query: pl.LazyFrame,
    column_choice: ResultColumns,
    method_name: str,
    key_columns: Sequence[str],
    *,
    carried_columns: Sequence[str] = (),
    shown_value_columns: Sequence[str] = (),
) -> pl.LazyFrame:
    """Return the result of a method with the columns that are requested, and its last doubt.

    `key_columns` stand before those of the method, and `carried_columns` of an eta frame after eta;
    `shown_value_columns` are values, shown with what stands beside them.
    """
    query = doubt_refuted_estimates(query, carried_columns)
    if column_choice == "all":
        return query
    if "shift_p_value" in carried_columns:
        carried_columns = [name for name in carried_columns if name not in _HOW_ESTIMATED]
    first_column, *other_columns = SHORT_COLUMNS[method_name]
    *value_columns, last_column = other_columns
    shown_columns = [f"{name}{suffix}" for name in shown_value_columns for suffix in _ENDS]
    ordered_columns = dict.fromkeys(
        [*key_columns, first_column, *carried_columns, *value_columns, *shown_columns, last_column]
    )
    return query.select(cs.by_name(*ordered_columns, require_all=False))


def read_count_names(metrics: object, *, has_per: bool, long: object) -> tuple[list[str], list[object]]:
    """Return the counts that `metrics=` of operating points names, and the metrics."""
    names_or_metrics = _list_metrics(metrics)
    count_names = [name for name in names_or_metrics if isinstance(name, str) and name in COUNT_NAMES]
    alert_names = [name for name in count_names if name in ALERT_NAMES]
    if alert_names and not has_per:
        raise PrcError(
            f"pass per=, the number of cases: {', '.join(alert_names)} in metrics= cannot be "
            "computed without it"
        )
    named_metrics = [metric for metric in names_or_metrics if metric not in count_names]
    if read_flag("long=", long) and count_names and not named_metrics:
        raise PrcError(
            "leave out long=True, or name a metric in metrics= as well: a long table has a row per "
            f"metric, and {', '.join(count_names)} in columns of each row"
        )
    return count_names, named_metrics


def list_in_order(metrics: object, chosen_metrics: Sequence[PointMetric]) -> list[str]:
    """Return the columns of what `metrics=` names, in its order: counts, and the metrics chosen."""
    metric_names = iter([metric.name for metric in chosen_metrics])
    return [
        name if isinstance(name, str) and name in COUNT_NAMES else next(metric_names)
        for name in _list_metrics(metrics)
    ]


def _list_metrics(metrics: object) -> list[object]:
    return list(metrics) if isinstance(metrics, list | tuple) else [metrics]
