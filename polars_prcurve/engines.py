"""Counts made on the engine that holds the scores: DuckDB, Spark, Dask, Ibis, pandas or pyarrow."""

from __future__ import annotations

from polars_prcurve.doors.engines.narwhals_counts import counts

__all__ = ["counts"]


def __dir__() -> list[str]:
    return list(__all__)
