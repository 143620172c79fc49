"""Alarms in sentences: in which period each series of `monitor` has one, and since when."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from polars_prcurve.view.words.names_in_sentences import name_group


def describe_alarms(rows: pl.DataFrame) -> Iterator[str]:
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
