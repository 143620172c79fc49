"""Notes under the rows of a method: alarms, absent thresholds, worthless estimates, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from polars_prcurve.core.prevalence.estimated_eta import describe_refuted_estimates
from polars_prcurve.view.words.shown_names import name_group


def describe_result(result_frame: pl.DataFrame, group_columns: Sequence[str]) -> Iterator[str]:
    """Yield alarms, and what is not as requested: absent thresholds, worthless estimates."""
    if "alarm" in result_frame.columns:
        yield from _describe_alarms(result_frame)
    if "guarantee" in result_frame.columns and (n_unmet := result_frame["threshold"].null_count()):
        yield (
            f"{n_unmet} of {result_frame.height} rows have no threshold with this guarantee; "
            "n_pos_needed and n_neg_needed are the examples that even perfect scores need"
        )
    if "shift_p_value" in result_frame.columns:
        yield from describe_refuted_estimates(
            result_frame, [column for column in group_columns if column in result_frame.columns]
        )


def describe_pairs(compare_frame: pl.DataFrame, flag_column: str, margin: object) -> Iterator[str]:
    """Yield for each pair of `compare` whether it is shown to differ, or not to be worse by a margin."""
    for pair_frame in compare_frame.partition_by("model_a", "model_b", maintain_order=True):
        model_a, model_b = pair_frame.select("model_a", "model_b").row(0)
        n_true_rows = pair_frame[flag_column].sum()
        relation_phrase = f"differs significantly from {model_b}"
        if flag_column == "not_worse":
            relation_phrase = f"is not worse than {model_b} by more than {margin}"
        n_rows = pair_frame.height
        outcome_phrase = "shown" if n_true_rows else "not shown"
        if 0 < n_true_rows < n_rows:
            outcome_phrase = f"shown in {n_true_rows} of {n_rows} rows"
        yield f"{outcome_phrase}: {model_a} {relation_phrase}"


def describe_lacking_group(group: Mapping[str, Any], first_model: object) -> str:
    """Return that a group has no rows of the first model, so that nothing is tested there."""
    group_text = ", ".join(name_group(column, value) for column, value in group.items())
    return f"not tested: {group_text} has no rows of {first_model}"


def _describe_alarms(monitor_frame: pl.DataFrame) -> Iterator[str]:
    """Yield when each series of a monitor has an alarm, or that it cannot have one; or that none has."""
    *group_columns, time_column = monitor_frame.columns[: monitor_frame.columns.index("metric")]
    for series_frame in (
        monitor_frame.partition_by(group_columns, maintain_order=True)
        if group_columns
        else [monitor_frame]
    ):
        group_text = ", ".join(
            name_group(column, series_frame[column][0]) for column in group_columns
        ) + ": " * bool(group_columns)
        for row in series_frame.filter(pl.col("alarm").fill_null(True)).head(1).to_dicts():
            if row["alarm"] is None:
                yield f"{group_text}there can be no alarm, since the reference has too few rows"
                continue
            alarm_time_text, start_time_text = (
                name_group(time_column, row[column]) for column in (time_column, "since")
            )
            change_text = f"{row['metric']} probably {'rose' if row['metric'] == 'fpr' else 'fell'}"
            yield f"{group_text}alarm in {alarm_time_text}; {change_text} in {start_time_text}"
    if monitor_frame.height and not monitor_frame["alarm"].fill_null(True).any():
        yield "no alarm"
