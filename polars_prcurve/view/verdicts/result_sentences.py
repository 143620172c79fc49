"""Sentences on the rows of a method: alarms, absent thresholds, worthless estimates, leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from polars_prcurve.core.prevalence.estimated_eta import describe_refuted_estimates
from polars_prcurve.view.words.names_in_sentences import name_group


def describe_result(rows: pl.DataFrame, group_columns: Sequence[str]) -> Iterator[str]:
    """Yield alarms, and what is not as requested: absent thresholds, worthless estimates."""
    if "alarm" in rows.columns:
        yield from _describe_alarms(rows)
    if "guarantee" in rows.columns and (n_unmet := rows["threshold"].null_count()):
        yield (
            f"{n_unmet} of {rows.height} rows have no threshold with this guarantee; n_pos_needed and "
            "n_neg_needed are the examples that even perfect scores need"
        )
    if "shift_p_value" in rows.columns:
        yield from describe_refuted_estimates(
            rows, [name for name in group_columns if name in rows.columns]
        )


def describe_pairs(pairs: pl.DataFrame, column: str, margin: object) -> Iterator[str]:
    """Yield for each pair of `compare` in how many rows it differs, or is not worse by a margin."""
    for rows in pairs.partition_by("model_a", "model_b", maintain_order=True):
        (model_a, model_b), n_true = rows.select("model_a", "model_b").row(0), rows[column].sum()
        relation = f"differs significantly from {model_b}"
        if column == "not_worse":
            relation = f"is not worse than {model_b} by more than {margin}"
        outcome = "met" if n_true == rows.height else f"met in {n_true} of {rows.height} rows"
        yield f"{model_a} {relation}: {outcome}"


def _describe_alarms(rows: pl.DataFrame) -> Iterator[str]:
    """Yield when each series of a monitor has an alarm, or that it cannot have one; or that none has."""
    *by, time = rows.columns[: rows.columns.index("metric")]
    for series in rows.partition_by(by, maintain_order=True) if by else [rows]:
        head = ", ".join(name_group(name, series[name][0]) for name in by) + ": " * bool(by)
        for row in series.filter(pl.col("alarm").fill_null(True)).head(1).to_dicts():
            if row["alarm"] is None:
                yield f"{head}there can be no alarm, since the reference has too few rows"
                continue
            alarm_text, start_text = (name_group(time, row[name]) for name in (time, "since"))
            change = f"{row['metric']} probably {'rose' if row['metric'] == 'fpr' else 'fell'}"
            yield f"{head}alarm in {alarm_text}; {change} in {start_text}"
    if not rows["alarm"].fill_null(True).any():
        yield "no alarm"
