"""From a thousand rows to ten million: what a question takes, and what a rival takes in the same run.

python benchmarks/sizes.py

Each line is a process of its own, for us and for the rival: seconds, peak memory beyond the table, and
the ratio. Where both give the same number, it is compared first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from memory import forget_peak, peak_kilobytes
from sklearn.metrics import average_precision_score, precision_recall_curve

from polars_prcurve import prc

ETA = 0.01
ETAS = np.geomspace(1e-4, 0.5, 50).tolist()
MODELS = ["a", "b"]
SHORT = 100_000
"""Up to as many rows a job is run five times, and the least time counts."""
GROUPED_ROWS = 5
"""Rows of each group, where there are as many groups as can be."""
GROUPS = 1_000_000


class Pair(NamedTuple):
    """Two ways to do a job on a table of so many rows, and the share of it that the rival does."""

    what: str
    rows: int
    ours: str
    theirs: str
    share: float = 1.0


def make_table(rows: int) -> pl.DataFrame:
    """Return scores of two models, labels, 1 in 50 of which is positive, and groups of some rows."""
    rng = np.random.default_rng(7)
    label = rng.random(rows) < 0.02
    a = rng.normal(size=rows) + 2 * label
    b = 0.6 * a + 0.8 * rng.normal(size=rows) + 0.7 * label
    groups = np.arange(rows) // max(GROUPED_ROWS, rows // GROUPS)
    return pl.DataFrame({"label": label, "a": a, "b": b, "g": groups})


def move_weights(label: np.ndarray, eta: float) -> np.ndarray:
    """Return weights with which a share `eta` of the rows is positive."""
    share = label.mean()
    return np.where(label, eta / share, (1 - eta) / (1 - share))


def ask_one(df: pl.DataFrame) -> float:
    value: float = prc(df).summary(ETA, score="a", metrics="average_precision")["value"][0]
    return value


def ask_sklearn(df: pl.DataFrame, eta: float = ETA) -> float:
    label, score = df["label"].to_numpy(), df["a"].to_numpy()
    value: float = average_precision_score(label, score, sample_weight=move_weights(label, eta))
    return value


def ask_fifty(df: pl.DataFrame) -> float:
    test = prc(df, score="a")
    for eta in ETAS:
        test.summary(eta, metrics="average_precision")
    return ask_one(df)


def ask_sklearn_often(df: pl.DataFrame) -> float:
    for eta in ETAS[:5]:  # a tenth of the job
        ask_sklearn(df, eta)
    return ask_sklearn(df)


def decide(df: pl.DataFrame) -> None:
    prc(df, score=MODELS).decide(ETA, recall=0.5)


def report(df: pl.DataFrame) -> None:
    with tempfile.TemporaryDirectory() as folder:
        prc(df, score=MODELS).decide(ETA, recall=0.5).report(Path(folder) / "report.html")


def summarize(df: pl.DataFrame) -> None:
    prc(df, score=MODELS).summary(ETA, confidence=0.95)


def draw_curves(df: pl.DataFrame) -> None:
    label = df["label"].to_numpy()
    weights = move_weights(label, ETA)
    for model in MODELS:
        precision_recall_curve(label, df[model].to_numpy(), sample_weight=weights)


def sweep_groups(df: pl.DataFrame) -> None:
    prc(df).sweep(score="a", by="g")


def sort_groups(df: pl.DataFrame) -> None:
    df.group_by("g", "label").agg(pl.col("a").sort())


def loop_groups(df: pl.DataFrame) -> None:
    for group in df.head(df.height // 50).partition_by("g"):
        label = group["label"].to_numpy()
        if label.any():
            precision_recall_curve(label, group["a"].to_numpy())


def summarize_groups(df: pl.DataFrame) -> None:
    prc(df).summary(ETA, score="a", by="g", metrics="average_precision")


def trace_groups(df: pl.DataFrame) -> None:
    prc(df).curve(ETA, score="a", by="g", thresholds=[0.0, 2.0])


def point_groups(df: pl.DataFrame) -> None:
    prc(df).operating_points(ETA, score="a", by="g", recall=0.5)


def sum_groups(df: pl.DataFrame) -> None:
    """Count by hand, at two thresholds, what `curve` counts there."""
    flagged = [(pl.col("a") >= at).alias(f"at{at:g}") for at in (0.0, 2.0)]
    counts = [pl.col("at0", "at2").sum(), pl.len()]
    df.lazy().with_columns(flagged).group_by("g", "label").agg(counts).sort("g", "label").collect()


def average_groups(df: pl.DataFrame) -> None:
    """Loop over groups as `loop_groups` does, for the average precision of each."""
    for group in df.head(df.height // 50).partition_by("g"):
        label = group["label"].to_numpy()
        if 0 < label.mean() < 1:
            weights = move_weights(label, ETA)
            average_precision_score(label, group["a"].to_numpy(), sample_weight=weights)


FIFTY, EACH = "summaries of a bound table", "precision_recall_curve of each"
RUNS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "summary": ask_one,
    "average_precision_score": ask_sklearn,
    FIFTY: ask_fifty,
    "average_precision_score, as often": ask_sklearn_often,
    "decide": decide,
    "decide, report": report,
    "summary, confidence=": summarize,
    "precision_recall_curve": draw_curves,
    "sweep(by=)": sweep_groups,
    "grouped sort": sort_groups,
    EACH: loop_groups,
    "summary(by=)": summarize_groups,
    "curve(by=, thresholds=)": trace_groups,
    "operating_points(by=)": point_groups,
    "counts by hand": sum_groups,
    "average_precision_score of each": average_groups,
}

SIZES = (5_000, 100_000, 1_000_000, 10_000_000)
PAIRS = (
    Pair("one question", 1_000, "summary", "average_precision_score"),
    Pair("fifty questions", 1_000_000, FIFTY, "average_precision_score, as often", 0.1),
    Pair("fifty questions, beside one", 1_000_000, FIFTY, "summary"),
    *(Pair("two models: which?", n, "decide", "summary, confidence=") for n in SIZES),
    *(Pair("two models: a report", n, "decide, report", "precision_recall_curve") for n in SIZES),
    Pair("a million groups", GROUPED_ROWS * GROUPS, "sweep(by=)", "grouped sort"),
    Pair("a million groups", GROUPED_ROWS * GROUPS, "sweep(by=)", EACH, 0.02),
    Pair("a million groups", 10_000_000, "summary(by=)", "average_precision_score of each", 0.02),
    Pair("a million groups", 10_000_000, "summary(by=)", "grouped sort"),
    Pair("a million groups", 10_000_000, "curve(by=, thresholds=)", "counts by hand"),
    Pair("a million groups", 10_000_000, "operating_points(by=)", EACH, 0.02),
    Pair("a million groups", 10_000_000, "operating_points(by=)", "grouped sort"),
)


def measure(run: str, rows: int) -> tuple[float, float, Any]:
    """Run a job on a table that is there already: seconds, megabytes beyond it, and what came back."""
    df, seconds = make_table(rows), []
    RUNS[run](make_table(1_000))  # what is imported late
    forget_peak()
    before = peak_kilobytes()
    for _ in range(5 if rows <= SHORT else 1):
        start = time.perf_counter()
        found = RUNS[run](df)
        seconds.append(time.perf_counter() - start)
    return min(seconds), (peak_kilobytes() - before) / 1024, found


def measure_apart(run: str, rows: int, repeats: int) -> tuple[float, float, Any]:
    """Return the best of some processes: least seconds, and least memory."""
    found = []
    for _ in range(repeats):
        code = [sys.executable, __file__, "--run", run, "--rows", str(rows)]
        words = subprocess.run(code, check=True, capture_output=True, text=True).stdout.split()
        found.append([None if word == "None" else float(word) for word in words[-3:]])
    seconds, megabytes = (min(float(each[i] or 0) for each in found) for i in (0, 1))
    return seconds, megabytes, found[0][2]


def time_import(module: str, repeats: int) -> float:
    """Return the least seconds that a fresh Python takes to import a module."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=max(SIZES), help="leave larger tables out")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="lines of which this is a part, such as groups")
    parser.add_argument("--run", choices=RUNS, help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        print(*measure(given.run, given.rows))
        return
    ours, polars, sklearn = (
        time_import(module, 3 * given.repeats)
        for module in ("polars_prcurve", "polars", "sklearn.metrics")
    )
    print(f"import: {ours:.2f} s; polars alone {polars:.2f} s; sklearn.metrics {sklearn:.2f} s\n")
    print(
        "| | rows | ours | s | MB | beside it | s | MB | ratio |\n|---|---|---|---|---|---|---|---|---|"
    )
    for what, rows, run, rival, share in PAIRS:
        if rows > given.most or (given.only and given.only not in f"{what} {rows} {run}"):
            continue
        seconds, memory, value = measure_apart(run, rows, given.repeats)
        other, other_memory, known = measure_apart(rival, rows, given.repeats)
        if None not in (value, known) and abs(value - known) > 1e-9:
            raise SystemExit(f"{run} gives {value}, and {rival} {known}")
        other /= share
        print(
            f"| {what} | {rows:_} | {run} | {seconds:.3f} | {memory:.0f} | {rival} | {other:.3f} "
            f"| {other_memory:.0f} | {seconds / other:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
