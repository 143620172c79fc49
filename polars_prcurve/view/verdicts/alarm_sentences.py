"""Alarms in sentences: in which period each series of `monitor` has one, and since when."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from polars_prcurve.view.words.names_in_sentences import name_group


def describe_alarms(monitor_frame: pl.DataFrame) -> Iterator[str]:
    """Yield when each series of a monitor has an alarm, or that it cannot have one; or that none has."""
    *group_columns, time_column = monitor_frame.columns[: monitor_frame.columns.index("metric")]
    for series_frame in (
        monitor_frame.partition_by(group_columns, maintain_order=True)
        if group_columns
        else [monitor_frame]
    ):
        group_text = ", ".join(
            name_group(name, series_frame[name][0]) for name in group_columns
        ) + ": " * bool(group_columns)
        for row in series_frame.filter(pl.col("alarm").fill_null(True)).head(1).to_dicts():
            if row["alarm"] is None:
                yield f"{group_text}there can be no alarm, since the reference has too few rows"
                continue
            alarm_time_text, start_time_text = (
                name_group(time_column, row[name]) for name in (time_column, "since")
            )
            change_text = f"{row['metric']} probably {'rose' if row['metric'] == 'fpr' else 'fell'}"
            yield f"{group_text}alarm in {alarm_time_text}; {change_text} in {start_time_text}"
    if not monitor_frame["alarm"].fill_null(True).any():
        yield "no alarm"
