"""What many rows in one Parquet file take, in seconds and in memory, each job in a process of its own.

    python benchmarks/scale.py [--rows N] [--folder DIR] [--repeats N] [--only JOB ...] [--json FILE]

The table has 10 groups, Int64 keys, Float64 scores that hardly ever repeat, and 10% positives: of
N rows, and to see how costs grow, of N / 10, N / 100 and N / 1000. Every job that finds areas has to
find the same ones, and one that differs stops the run. It needs Linux, 100 million rows some 12 GB of
disk, and scikit-learn, polarbearings and DuckDB.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from memory import forget_peak, peak_kilobytes

ETAS = [float(eta) for eta in np.geomspace(1e-4, 0.5, 20)]
GROUPS = 10
SEED = 20
PART = 5_000_000
"""Rows of the file that are made, and written, at once."""

Areas = list[float]
"""Average precision by group, then by prevalence."""
Job = Callable[[str, str], "Areas | None"]
"""From the path of the table, and of a file that it may write, to areas, if it finds any."""

# The jobs: a job imports what it needs, so that it has nobody else's memory ---------------------


def areas(path: str, _: str) -> Areas:
    import polars_prcurve

    assert polars_prcurve
    query = pl.scan_parquet(path).prc.summary(ETAS, metrics="average_precision", by="g")
    return query.collect(engine="streaming")["value"].to_list()


def sweep(path: str, out: str) -> None:
    import polars_prcurve

    assert polars_prcurve
    pl.scan_parquet(path).prc.sweep(by="g").sink_parquet(out)


def counts(path: str, out: str) -> None:
    import polars_prcurve

    assert polars_prcurve
    pl.scan_parquet(path).prc.counts(by="g").sink_parquet(out)


def areas_by_counts(path: str, out: str) -> Areas:
    """As one would add up days: first a table of counts, and areas of that."""
    import polars_prcurve

    assert polars_prcurve
    counts(path, out)
    given: dict[str, Any] = {"by": "g", "counts": ("n_pos", "n_neg")}
    query = pl.scan_parquet(out).prc.summary(ETAS, metrics="average_precision", **given)
    return query.collect(engine="streaming")["value"].to_list()


def guarantee(path: str, _: str) -> None:
    """Scores of three decimals are counted, and a threshold with a promise is chosen from the counts."""
    import polars_prcurve

    assert polars_prcurve
    rows = pl.scan_parquet(path).with_columns(pl.col("score").round(3))
    is_positive = pl.col("label").cast(pl.Int64)
    sums = is_positive.sum().alias("n_pos"), (1 - is_positive).sum().alias("n_neg")
    counted = rows.group_by("g", "score").agg(sums).collect(engine="streaming")
    if counted["n_pos"].sum() + counted["n_neg"].sum() != _count_rows(path):
        raise SystemExit("rows are missing from the counts")
    points = counted.prc.operating_points(
        0.001, precision=0.005, guarantee=0.95, by="g", counts=("n_pos", "n_neg")
    )
    if not (points["precision"].drop_nulls() > 0.005).all():
        raise SystemExit("an estimate is below what was promised")


def duckdb_counts(path: str, out: str) -> None:
    """The same counts by DuckDB."""
    import duckdb

    sums = "sum(label::INT) AS n_pos, sum((NOT label)::INT) AS n_neg"
    query = f"SELECT g, round(score, 3) AS score, {sums} FROM '{path}' GROUP BY ALL"
    duckdb.execute(f"COPY ({query}) TO '{out}' (FORMAT parquet)")
    found = duckdb.execute(f"SELECT sum(n_pos + n_neg)::BIGINT FROM '{out}'").fetchone()
    if found != (_count_rows(path),):
        raise SystemExit("rows are missing from the counts")


def _count_rows(path: str) -> int:
    return pq.read_metadata(path).num_rows


def bearings(path: str, out: str) -> None:
    import polarbearings

    query = polarbearings.confusion_curve(pl.scan_parquet(path), "label", "score", by="g")
    query.sink_parquet(out)


def scikit_learn(path: str, _: str) -> Areas:
    """One group at a time: its ROC curve once, and from that its precision at every prevalence."""
    from sklearn.metrics import roc_curve

    found = []
    for group in range(GROUPS):
        one = pl.scan_parquet(path).filter(pl.col("g") == group).select("score", "label").collect()
        fpr, tpr, _ = roc_curve(
            one["label"].to_numpy(), one["score"].to_numpy(), drop_intermediate=False
        )
        risen = np.diff(tpr)
        for eta in ETAS:
            precision = eta * tpr[1:] / (eta * tpr[1:] + (1 - eta) * fpr[1:])
            found.append(float(risen @ precision))
    return found


JOBS: dict[str, Job] = {
    "areas": areas,
    "areas, 1 GB": areas,
    "areas, 250 MB": areas,
    "areas, by counts": areas_by_counts,
    "sweep": sweep,
    "sweep, 1 GB": sweep,
    "counts": counts,
    "counts, 1 GB": counts,
    "guarantee, rounded": guarantee,
    "DuckDB, rounded": duckdb_counts,
    "polarbearings": bearings,
    "scikit-learn": scikit_learn,
}
BUDGETS = {"1 GB": "1000", "250 MB": "250"}
"""Megabytes that Polars may take in a job whose name ends so; else what it likes."""
BUCKETS = "16000000"
"""Bytes that a sort under a budget aims to have in hand at a time. With the 100 MB or so that Polars 2.1
takes of 100 million rows, much is read back too early, and written again."""
SMALLER = ("areas", "areas, 1 GB", "guarantee, rounded", "DuckDB, rounded", "sweep")
"""That run on N / 10, N / 100 and N / 1000 rows, too."""


@dataclass(frozen=True)
class Took:
    rows: int
    seconds: float
    megabytes: float
    areas: Areas | None

    @property
    def a_row(self) -> float:
        """Microseconds."""
        return self.seconds / self.rows * 1e6


def measured(job: str, path: Path) -> Took:
    """In a process of its own, with a budget of memory for Polars if the job's name says so."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        environment = dict(os.environ)
        for name, budget in BUDGETS.items():
            if job.endswith(name):
                environment["POLARS_OOC_MEMORY_BUDGET_MB"] = budget
                environment["POLARS_OOC_SPILL_DIR"] = folder
                environment["POLARS_SORT_TARGET_BUCKET_BYTES"] = BUCKETS
        command = [sys.executable, __file__, "--job", job, str(path), str(Path(folder) / "out.parquet")]
        said = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return Took(**json.loads(said.stdout))


def run_here(job: str, path: str, out: str) -> Took:
    forget_peak()
    start = perf_counter()
    found = JOBS[job](path, out)
    seconds = perf_counter() - start
    return Took(pq.read_metadata(path).num_rows, seconds, peak_kilobytes() / 1024, found)


# What comes of it -----------------------------------------------------------------------------


def write_table(path: Path, rows: int) -> None:
    if path.exists() and pq.read_metadata(path).num_rows == rows:
        return
    rng, writer = np.random.default_rng(SEED), None
    for start in range(0, rows, PART):
        n = min(PART, rows - start)
        label = rng.random(n) < 0.1
        columns = {"g": rng.integers(0, GROUPS, n), "score": rng.normal(size=n) + label, "label": label}
        table = pl.DataFrame(columns).to_arrow()
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=500_000)
    if writer:
        writer.close()


def check_same(found: dict[str, Took]) -> None:
    every = {job: took.areas for job, took in found.items() if took.areas}
    for job, those in every.items():
        for other, these in every.items():
            if not all(map(lambda a, b: math.isclose(a, b, rel_tol=1e-9), those, these)):
                raise SystemExit(f"{job} and {other} find different areas")


@dataclass(frozen=True)
class Line:
    """A job beside another, and the aim."""

    text: str
    top: str
    bottom: str
    of: str
    aim: str = ""

    def value(self, took: dict[str, Took]) -> float | None:
        if self.top in took and self.bottom in took:
            return getattr(took[self.top], self.of) / getattr(took[self.bottom], self.of)
        return None

    def met(self, value: float) -> str:
        if not self.aim:
            return ""
        sign, limit = self.aim.split()
        return "yes" if (value <= float(limit) if sign == "<=" else value >= float(limit)) else "NO"


LINES = [
    Line("areas with 1 GB / areas, time", "areas, 1 GB", "areas", "seconds", "<= 2"),
    Line("areas with 1 GB / areas, peak", "areas, 1 GB", "areas", "megabytes"),
    Line("areas, a row of N / a row of N / 100, time", "areas", "areas of N / 100", "a_row", "<= 1.5"),
    Line("sweep, a row of N / a row of N / 100, time", "sweep", "sweep of N / 100", "a_row", "<= 1.5"),
    Line("scikit-learn, group by group / areas, time", "scikit-learn", "areas", "seconds", ">= 3"),
    Line("scikit-learn, group by group / areas, peak", "scikit-learn", "areas", "megabytes", ">= 3"),
    Line("scikit-learn / areas with 250 MB, time", "scikit-learn", "areas, 250 MB", "seconds"),
    Line("scikit-learn / areas with 250 MB, peak", "scikit-learn", "areas, 250 MB", "megabytes"),
    Line("polarbearings / sweep, time", "polarbearings", "sweep", "seconds", ">= 1"),
    Line("polarbearings / sweep, peak", "polarbearings", "sweep", "megabytes", ">= 1"),
    Line("areas by way of counts / areas, time", "areas, by counts", "areas", "seconds"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description="Many rows in one file: seconds and memory.")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--folder", type=Path, help="where tables are kept for the next run")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each job; the median counts")
    parser.add_argument("--only", nargs="+", choices=list(JOBS), default=list(JOBS), metavar="JOB")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here, too")
    parser.add_argument("--job", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(asdict(run_here(*given.job))))
        return
    packages = ("polars", "polars-prcurve", "polarbearings", "scikit-learn")
    about = {"rows": given.rows, "threads": pl.thread_pool_size(), "python": platform.python_version()}
    about |= {name: version(name) for name in packages}
    print(*(f"{name} {value}" for name, value in about.items()), sep=", ", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        took = run_all(given.folder or Path(scratch), given.rows, given.repeats, given.only)
    print()
    for line in LINES:
        value = line.value(took)
        if value is not None:
            print(f"{line.text:<48}{value:8.2f}   {line.aim:<8}{line.met(value)}")
    for job in SMALLER:
        if job in took:
            print(f"{job}, a billion rows in proportion: {took[job].a_row * 1e3 / 60:.1f} minutes")
    if given.json:
        given.json.write_text(json.dumps({**about, "jobs": {k: asdict(v) for k, v in took.items()}}))


def run_all(folder: Path, rows: int, repeats: int, jobs: list[str]) -> dict[str, Took]:
    took: dict[str, Took] = {}
    for part in (1_000, 100, 10, 1):
        path = folder / f"scores-{rows // part}.parquet"
        write_table(path, rows // part)
        these = {}
        for job in (job for job in jobs if part == 1 or job in SMALLER):
            one = middle([measured(job, path) for _ in range(repeats if part == 1 else 3 * repeats)])
            these[job] = one
            print(
                f"{rows // part:>13,} rows  {job:<20}{one.seconds:9.2f} s {one.megabytes:8.0f} MB",
                flush=True,
            )
        check_same(these)
        took |= {job if part == 1 else f"{job} of N / {part}": one for job, one in these.items()}
    return took


def middle(runs: list[Took]) -> Took:
    half = len(runs) // 2
    seconds = sorted(run.seconds for run in runs)[half]
    megabytes = sorted(run.megabytes for run in runs)[half]
    return replace(runs[0], seconds=seconds, megabytes=megabytes)


if __name__ == "__main__":
    main()
