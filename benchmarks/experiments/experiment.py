"""What an experiment is: cells, and a function that measures one of them with some test sets."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polars_prcurve import metrics

CONFIDENCE = 0.95
ROWS_AT_ONCE = 1_500_000
ROUNDING = 1e-9
TABLES = Path(__file__).parent.parent / "coverage"

Row = dict[str, Any]
Measure = Callable[[Any, int, np.random.Generator], Iterable[Row]]


@dataclass(frozen=True)
class Experiment:
    """Cells, and a function that measures one of them with a number of test sets."""

    name: str
    cells: Sequence[Any]
    measure: Measure
    n_sets: Callable[[Any], int]

    @property
    def path(self) -> Path:
        return TABLES / f"{self.name}.csv"

    def run_cell(self, number: int, n_sets: int | None = None) -> pl.DataFrame:
        """Return the rows of one cell; its number, beside the name of the experiment, is the seed."""
        cell = self.cells[number]
        n_sets = self.n_sets(cell) if n_sets is None else n_sets
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), number])
        rows = list(self.measure(cell, n_sets, rng))
        found = pl.DataFrame(rows, infer_schema_length=None)
        return found.select(pl.lit(number).alias("cell"), pl.lit(n_sets).alias("n_sets"), pl.all())

    def run(self, n_sets: int | None = None) -> pl.DataFrame:
        """Return the rows of all cells."""
        parts = [self.run_cell(number, n_sets) for number in range(len(self.cells))]
        return pl.concat(parts, how="diagonal_relaxed")


EXPERIMENTS: dict[str, Experiment] = {}


def experiment(
    cells: Sequence[Any], n_sets: int | Callable[[Any], int] = 2_000
) -> Callable[[Measure], Measure]:
    """Register a function that measures cells under its name."""

    def register(measure: Measure) -> Measure:
        name = measure.__name__.removeprefix("measure_")
        number = n_sets if callable(n_sets) else lambda _cell: n_sets
        EXPERIMENTS[name] = Experiment(name, cells, measure, number)
        return measure

    return register


def write_table(one: Experiment, found: pl.DataFrame) -> None:
    """Write the rows of an experiment to its file, with four digits."""
    TABLES.mkdir(exist_ok=True)
    found.with_columns(pl.selectors.float().round(6).round_sig_figs(4)).write_csv(one.path)


def read_table(name: str) -> pl.DataFrame:
    """Return the stored rows of an experiment."""
    return pl.read_csv(TABLES / f"{name}.csv", infer_schema_length=None)


def split_sets(n_sets: int, rows: float) -> Iterator[int]:
    """Yield numbers of test sets whose tables have about as many rows as are asked at once."""
    most = max(1, int(ROWS_AT_ONCE / rows))
    for first in range(0, n_sets, most):
        yield min(most, n_sets - first)


def measure_coverage(found: pl.DataFrame, truth: float) -> Row:
    """Return shares of test sets, from one row of `low`, `high` and maybe `doubt` for each of them.

    Where a test set has no interval it claims nothing: coverage is that of the others.
    """
    low, high = pl.col("low") - ROUNDING, pl.col("high") + ROUNDING
    of = found.select(
        held=pl.lit(truth).is_between(low, high),
        width=pl.col("high") - pl.col("low"),
        marked=pl.col("doubt").is_null() if "doubt" in found.columns else None,
    )
    marked = of.filter(pl.col("marked") & pl.col("held").is_not_null())
    row = {"no_interval": of["held"].null_count() / of.height, "coverage": of["held"].mean()}
    if "doubt" in found.columns:
        row |= {"marked": of["marked"].mean(), "coverage_of_marked": marked["held"].mean()}
    return row | {"width": of["width"].mean()}


def share_significant(found: pl.DataFrame) -> float | None:
    """Return the share of significant differences among those that have an interval."""
    return found.drop_nulls(["low", "high"])["significant"].fill_null(False).mean()  # type: ignore[return-value]


def hold_point(found: pl.DataFrame, name: str, truth: float) -> Row:
    """Return the coverage of the band of a point metric, and how wide it is on average."""
    asked = pl.col(f"{name}_low", f"{name}_high")
    return measure_coverage(
        found.select(asked).rename({f"{name}_low": "low", f"{name}_high": "high"}), truth
    )


def list_at_target(word: str, value: float) -> dict[str, metrics.CurveMetric]:
    """Return the curve metrics at a target, by the point metric that they are; none for some targets."""
    arguments = (value, 1) if word == "predicted_positive_rate" else (value,)
    ending = "alerts" if word == "predicted_positive_rate" else word
    factories = {name: f"{name}_at_{ending}" for name in ("recall", "precision")}
    return {
        name: getattr(metrics, factory)(*arguments)
        for name, factory in factories.items()
        if factory in metrics.__all__
    }
