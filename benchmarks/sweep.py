"""How long the sweep takes, beside what else gives the same counts.

    python benchmarks/sweep.py [--rows N] [--repeats N] [--only NAME ...] [--json FILE]

First every contestant's numbers are compared, and a difference stops the run. Then each line
of `CASES` runs two contestants in turn, A B A B ..., and prints the median, least and greatest
ratio of a pair: machines differ and are shared, and neighbours in time share what disturbs
them. The aim stands beside it; nothing fails for being slow.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import polarbearings
import polars as pl
import polars_ds
from memory import forget_peak, peak_kilobytes
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_curve

from polars_prcurve import intervals, metrics
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS


def etas(n: int) -> list[float]:
    return [float(eta) for eta in np.geomspace(1e-6, 0.5, n)]


ETAS = etas(100)
COUNTS = ["threshold", "tp", "fp", "fn", "tn"]

# Data -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """A score table: columns g, score, label, and weight if asked for."""

    groups: int = 10
    positives: float = 0.1
    decimals: int | None = None
    string_keys: bool = False
    weights: bool = False
    unlike: bool = False
    """Groups are models that are good at different ends of the curve."""
    rows: int | None = None
    """Else what --rows says."""


PLAIN = Data()
MANY = Data(groups=100_000)
STRINGS = Data(string_keys=True)
HALF = Data(positives=0.5)
TIES = Data(decimals=3)
WEIGHTED = Data(weights=True)
MODELS = Data(groups=50, unlike=True)
SMALL = Data(groups=1, rows=1_000)
RESAMPLED = Data(groups=1, rows=100_000)
RESAMPLED_HALF = Data(groups=1, rows=100_000, positives=0.5)


@cache
def score_table(data: Data) -> pl.DataFrame:
    rng = np.random.default_rng(20)
    label = rng.random(data.rows) < data.positives
    score = rng.normal(size=data.rows) + label
    frame = pl.DataFrame({"g": rng.integers(0, data.groups, data.rows), "score": score, "label": label})
    if data.unlike:
        shift, spread = rng.uniform(0, 2, data.groups), rng.uniform(0.5, 2, data.groups)
        of_positives = pl.lit(pl.Series(shift)).gather("g") + pl.col("score") * pl.lit(
            pl.Series(spread)
        ).gather("g")
        frame = frame.with_columns(score=pl.when("label").then(of_positives).otherwise("score"))
    if data.decimals is not None:
        frame = frame.with_columns(pl.col("score").round(data.decimals))
    if data.string_keys:
        frame = frame.with_columns(pl.format("model number {}", "g").alias("g"))
    if data.weights:
        mass = rng.lognormal(sigma=2, size=data.rows)
        mass[::100] = 0
        frame = frame.with_columns(weight=mass)
    return frame


# Contestants: what is given is prepared, what is returned is timed -------------------------------

Run = Callable[[], Any]
Contestant = Callable[[pl.DataFrame], Run]


def sweep(df: pl.DataFrame) -> Run:
    return lambda: df.prc.sweep(by="g")


def sweep_in_memory(df: pl.DataFrame) -> Run:
    return lambda: df.lazy().prc.sweep(by="g").collect(engine="in-memory")


def sweep_weighted(df: pl.DataFrame) -> Run:
    return lambda: df.prc.sweep(by="g", weight="weight")


def sweep_in_agg(df: pl.DataFrame) -> Run:
    return lambda: df.group_by("g").agg(pl.col("score").prc.sweep("label"))


def tp_over(df: pl.DataFrame) -> Run:
    return lambda: df.select(pl.col("score").prc.tp("label").over("g"))


def curve(df: pl.DataFrame) -> Run:
    return lambda: df.prc.curve(eta=0.01)


def summary(df: pl.DataFrame, metrics: Any = "average_precision", eta: Any = 0.01) -> Run:
    return lambda: df.prc.summary(eta, metrics=metrics, by="g")


def summary_of_100(df: pl.DataFrame) -> Run:
    return summary(df, eta=ETAS)


def default_summary_of_100(df: pl.DataFrame) -> Run:
    return summary(df, ("average_precision", "pr_auc", "roc_auc"), ETAS)


def roc_auc(df: pl.DataFrame) -> Run:
    return summary(df, "roc_auc")


def average_precision_in_agg(df: pl.DataFrame) -> Run:
    score = pl.col("score").prc
    return lambda: df.group_by("g").agg(score.average_precision("label", eta=0.01))


def roc_auc_in_agg(df: pl.DataFrame) -> Run:
    return lambda: df.group_by("g").agg(pl.col("score").prc.roc_auc("label"))


def bearings_average_precision(df: pl.DataFrame) -> Run:
    value = polarbearings.average_precision("label", "score")
    return lambda: df.group_by("g").agg(value)


def bearings_roc_auc(df: pl.DataFrame) -> Run:
    value = polarbearings.roc_auc("label", "score")
    return lambda: df.group_by("g").agg(value)


def polars_ds_roc_auc(df: pl.DataFrame) -> Run:
    value = polars_ds.query_roc_auc("label", "score")
    return lambda: df.group_by("g").agg(value)


def sklearn_average_precision(df: pl.DataFrame) -> Run:
    """At one prevalence, by weights; a hundred cost a hundred times as much."""

    def run() -> list[float]:
        values = []
        for part in df.partition_by("g"):
            label, score = part["label"].to_numpy(), part["score"].to_numpy()
            weight = np.where(label, 0.01 / label.sum(), 0.99 / (~label).sum())
            values.append(average_precision_score(label, score, sample_weight=weight))
        return values

    return run


def summary_of_20(df: pl.DataFrame) -> Run:
    return summary(df, eta=ETAS[::5])


def interval(df: pl.DataFrame, eta: Any = 0.01) -> Run:
    return lambda: df.prc.summary(eta, metrics="average_precision", by="g", confidence=0.95)


def interval_of_20(df: pl.DataFrame) -> Run:
    return interval(df, eta=ETAS[::5])


def bootstrap_of_20(df: pl.DataFrame, n_resamples: int = 1000) -> Run:
    sure = intervals(0.95, method="bootstrap", resamples=n_resamples, seed=1)
    return lambda: df.prc.summary(ETAS[::5], metrics="average_precision", confidence=sure)


def sklearn_bootstrap_of_20(df: pl.DataFrame, n_resamples: int = 10) -> Run:
    """Rows drawn again, each class for itself; a hundredth of the replicates."""
    label, score = df["label"].to_numpy(), df["score"].to_numpy()
    classes = np.flatnonzero(label), np.flatnonzero(~label)

    def run() -> np.ndarray:
        rng = np.random.default_rng(1)
        values = []
        for _ in range(n_resamples):
            rows = np.concatenate([rng.choice(of_class, len(of_class)) for of_class in classes])
            weights = [
                np.where(label[rows], e / len(classes[0]), (1 - e) / len(classes[1])) for e in ETAS[::5]
            ]
            areas = [average_precision_score(label[rows], score[rows], sample_weight=w) for w in weights]
            values.append(areas)
        return np.array(values)

    return run


def ranking_at_200(df: pl.DataFrame) -> Run:
    return lambda: df.prc.ranking(etas(200), model="g")


def crossings(df: pl.DataFrame) -> Run:
    return lambda: df.prc.crossings(model="g")


def leaders(df: pl.DataFrame) -> Run:
    return lambda: df.prc.crossings(model="g", leaders=True)


def sort_score(df: pl.DataFrame) -> Run:
    score = df.select("score")
    return lambda: score.sort("score")


def sort_group_score(df: pl.DataFrame) -> Run:
    return lambda: df.sort("g", "score")


def sort_packed(df: pl.DataFrame) -> Run:
    """Sort one column of group, score and label: the least that an exact sweep of groups can sort."""
    code = pl.col("score").reinterpret(dtype=pl.Int64).cast(pl.Int128)
    key = pl.col("g").cast(pl.Int128) * 2**66 + code * 4 + pl.col("label")
    return df.lazy().select(key.alias("key")).sort("key").collect


def add_up_sorted(df: pl.DataFrame) -> Run:
    """Join rows that are in order with totals of groups, and write the columns of a sweep: no sort."""
    label = pl.col("label").cast(pl.Int64)
    totals = df.lazy().group_by("g").agg(label.sum().alias("n_pos"), n=pl.len().cast(pl.Int64))
    totals = totals.sort("g").with_columns(
        n_neg=pl.col("n") - pl.col("n_pos"),
        earlier_pos=pl.col("n_pos").cum_sum() - pl.col("n_pos"),
        earlier=pl.col("n").cum_sum() - pl.col("n"),
    )
    rows = df.sort("g", "score", descending=[False, True])
    running = rows.lazy().select("g", "score", tp=label.cum_sum()).with_row_index("row")
    joined = running.join(totals.collect().lazy(), on="g", maintain_order="left")
    tp, rows_above = pl.col("tp") - pl.col("earlier_pos"), pl.col("row").cast(pl.Int64)
    counts = joined.with_columns(tp=tp, fp=rows_above + 1 - pl.col("earlier") - tp)
    fn, tn = pl.col("n_pos") - pl.col("tp"), pl.col("n_neg") - pl.col("fp")
    rates = {"recall": pl.col("tp") / pl.col("n_pos"), "fpr": pl.col("fp") / pl.col("n_neg")}
    return counts.select("g", "score", "tp", "fp", fn=fn, tn=tn, **rates).collect


def rank_over(df: pl.DataFrame) -> Run:
    return lambda: df.select(pl.col("score").rank("max").over("g"))


def bearings(df: pl.DataFrame) -> Run:
    return polarbearings.confusion_curve(df, "label", "score", by="g").collect


def bearings_weighted(df: pl.DataFrame) -> Run:
    return polarbearings.confusion_curve(df, "label", "score", by="g", weight="weight").collect


def polars_ds_agg(df: pl.DataFrame) -> Run:
    rates = polars_ds.query_tpr_fpr("label", "score")
    return lambda: df.group_by("g").agg(rates).explode(pl.exclude("g"))


def sklearn_loop(df: pl.DataFrame) -> Run:
    def run() -> None:
        for part in df.partition_by("g"):
            precision_recall_curve(part["label"].to_numpy(), part["score"].to_numpy())

    return run


def sklearn_loop_weighted(df: pl.DataFrame) -> Run:
    def run() -> None:
        for part in df.partition_by("g"):
            label, score, weight = (part[name].to_numpy() for name in ("label", "score", "weight"))
            precision_recall_curve(label, score, sample_weight=weight)

    return run


def sklearn_arrays(df: pl.DataFrame) -> Run:
    label, score = df["label"].to_numpy(), df["score"].to_numpy()
    return lambda: precision_recall_curve(label, score)


# Cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A contestant on some data."""

    run: Contestant
    data: Data = PLAIN
    share: float = 1
    """Timed on this share of the groups only, and scaled."""
    times: int = 1
    """Calls per measurement."""
    scale: float = 1
    """What is timed is a part of the whole, which would take so many times as long."""

    def timer(self, rows: int) -> Callable[[], float]:
        df = score_table(replace(self.data, rows=self.data.rows or rows))
        if self.share < 1:
            df = df.filter(pl.col("g") < self.share * self.data.groups)
        run = self.run(df)

        def seconds() -> float:
            start = perf_counter()
            for _ in range(self.times):
                run()
            return (perf_counter() - start) * self.scale / (self.times * self.share)

        return seconds


@dataclass(frozen=True)
class Case:
    """A ratio of times, `top` over `bottom`."""

    name: str
    text: str
    top: Entry
    bottom: Entry
    aim: str = ""


def _shapes() -> Iterator[Case]:
    """Our own sweep on data of another shape, and the rivals there."""
    rivals = {
        "polarbearings": Entry(bearings),
        "scikit-learn, in a loop": Entry(sklearn_loop),
        "polars_ds query_tpr_fpr in agg": Entry(polars_ds_agg),
    }
    shapes = {
        "groups": (MANY, "100,000 groups"),
        "strings": (STRINGS, "string keys"),
        "positives": (HALF, "50% positives"),
        "ties": (TIES, "scores of 3 decimals"),
    }
    for name, (data, text) in shapes.items():
        ours = Entry(sweep, data)
        yield Case(name, f"{text}: sweep / sweep of 10 groups", ours, Entry(sweep), "<= 1.5")
        for rival, entry in rivals.items():
            top, sampled = replace(entry, data=data), ""
            if data is MANY and entry.run is polars_ds_agg:
                continue  # it refuses a group of one class
            if data is MANY and entry.run is sklearn_loop:
                top, sampled = replace(top, share=0.02), " (2% of groups, scaled)"
            yield Case(name, f"{text}: {rival}{sampled} / sweep", top, ours, "> 1")


def _intervals() -> Iterator[Case]:
    analytic = "average precision with its analytic interval / without, at"
    yield Case("intervals", f"{analytic} 1 prevalence", Entry(interval), Entry(summary), "<= 3")
    yield Case("intervals", f"{analytic} 20", Entry(interval_of_20), Entry(summary_of_20), "<= 6")
    for data, text in ((RESAMPLED, ""), (RESAMPLED_HALF, ", 50% positives")):
        name = f"bootstrap of 100,000 scores, 20 prevalences{text}"
        ours = Entry(bootstrap_of_20, data)
        aim = "<= 20" if data is RESAMPLED else ""
        yield Case("intervals", f"{name} / summary", ours, Entry(summary_of_20), aim)
        theirs = Entry(sklearn_bootstrap_of_20, data, scale=100)
        yield Case("intervals", f"scikit-learn (1%, scaled) / {name}", theirs, ours, ">= 30")


def _models() -> Iterator[Case]:
    text = {"ranking at 200 prevalences": (ranking_at_200, "<= 3"), "leaders": (leaders, "<= 10")}
    text["crossings of all 1,225 pairs"] = (crossings, "<= 10")
    for name, (run, aim) in text.items():
        sweep_of_all = Entry(sweep, MODELS)
        yield Case("models", f"50 models: {name} / sweep", Entry(run, MODELS), sweep_of_all, aim)


def _roc_areas() -> Iterator[Case]:
    for data, text in ((PLAIN, ""), (MANY, "100,000 groups: ")):
        for rival, run in (("polarbearings", bearings_roc_auc), ("polars_ds", polars_ds_roc_auc)):
            name = f"{text}{rival} roc_auc / summary"
            yield Case("summary", name, Entry(run, data), Entry(roc_auc, data), "> 1")


def _curve_metrics() -> Iterator[Case]:
    """Each metric of a curve alone, at one prevalence: the most that it can add to others."""
    with_parameters = [
        metrics.best("f1"),
        metrics.recall_at_precision(0.5),
        metrics.precision_at_recall(0.5),
        metrics.partial_roc_auc(0.1),
        metrics.pr_auc_trapezoid("one"),
        *(metrics.integrated_average_precision(0.001, 0.1, p) for p in ("uniform", "log", "logit")),
    ]
    for metric in [*CURVE_METRICS.values(), *with_parameters]:
        run = partial(summary, metrics=metric)
        yield Case("metrics", f"{metric.name} / sweep", Entry(run), Entry(sweep), "<= 1.5")


CASES = [
    Case("sort", "sweep / sort of the bare score column", Entry(sweep), Entry(sort_score), "<= 4"),
    Case("sort", 'sweep / df.sort("g", "score")', Entry(sweep), Entry(sort_group_score), "< 0.7"),
    Case("floor", "one packed key / sort of the bare score", Entry(sort_packed), Entry(sort_score)),
    Case(
        "floor", "sums of sorted rows / sort of the bare score", Entry(add_up_sorted), Entry(sort_score)
    ),
    Case("floor", "sweep / sort of the bare score column", Entry(sweep), Entry(sort_score), "<= 3"),
    Case("rivals", "polarbearings confusion_curve / sweep", Entry(bearings), Entry(sweep), ">= 3.5"),
    Case("rivals", "scikit-learn, in a loop / sweep", Entry(sklearn_loop), Entry(sweep), ">= 2.5"),
    Case("rivals", "polars_ds query_tpr_fpr in agg / sweep", Entry(polars_ds_agg), Entry(sweep), "> 1"),
    *_shapes(),
    Case(
        "small",
        "1,000 rows: curve(eta=0.01) / scikit-learn",
        Entry(curve, SMALL, times=20),
        Entry(sklearn_arrays, SMALL, times=20),
        "<= 10",
    ),
    Case("expressions", "tp in over / rank in over", Entry(tp_over), Entry(rank_over), "<= 2"),
    Case("expressions", "sweep in agg / sweep", Entry(sweep_in_agg), Entry(sweep), "<= 2"),
    Case(
        "expressions",
        "100,000 groups: sweep in agg / sweep",
        Entry(sweep_in_agg, MANY),
        Entry(sweep, MANY),
        "<= 2",
    ),
    Case(
        "weights",
        "weighted: polarbearings / sweep",
        Entry(bearings_weighted, WEIGHTED),
        Entry(sweep_weighted, WEIGHTED),
        ">= 1.5",
    ),
    Case(
        "weights",
        "weighted: scikit-learn, in a loop / sweep",
        Entry(sklearn_loop_weighted, WEIGHTED),
        Entry(sweep_weighted, WEIGHTED),
        "> 1",
    ),
    Case("weights", "sweep weighted / sweep", Entry(sweep_weighted, WEIGHTED), Entry(sweep)),
    Case(
        "summary",
        "average precision at 100 prevalences / sweep",
        Entry(summary_of_100),
        Entry(sweep),
        "<= 2.5",
    ),
    Case(
        "summary",
        "the three default metrics at 100 prevalences / average precision there",
        Entry(default_summary_of_100),
        Entry(summary_of_100),
        "<= 2",
    ),
    Case(
        "summary",
        "at 100 prevalences: scikit-learn, in loops (1% timed, scaled) / average precision",
        Entry(sklearn_average_precision, scale=100),
        Entry(summary_of_100),
        ">= 150",
    ),
    Case(
        "summary",
        "polarbearings average_precision / summary",
        Entry(bearings_average_precision),
        Entry(summary),
        ">= 3",
    ),
    Case(
        "summary",
        "polarbearings average_precision / the expression in agg",
        Entry(bearings_average_precision),
        Entry(average_precision_in_agg),
        ">= 1.5",
    ),
    *_roc_areas(),
    *_intervals(),
    *_models(),
    *_curve_metrics(),
    Case("engines", "sweep in memory / sweep, which streams", Entry(sweep_in_memory), Entry(sweep)),
]
MEMORY: dict[str, Contestant] = {
    "polars_prcurve sweep": sweep,
    "polarbearings confusion_curve": bearings,
    **{
        f"average precision at {n:,} prevalences": partial(summary, eta=etas(n))
        for n in (1, 10, 100, 1_000)
    },
}
NAMES = [*dict.fromkeys(case.name for case in CASES), "memory", "import"]


# Measuring ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """The middle and the ends of what pairs of measurements gave."""

    name: str
    text: str
    median: float
    least: float
    greatest: float
    unit: str
    aim: str

    @classmethod
    def of(cls, name: str, text: str, values: list[float], aim: str, unit: str = "x") -> Result:
        return cls(name, text, median(values), min(values), max(values), unit, aim)

    def __str__(self) -> str:
        middle = f"{self.median:7.2f} {self.unit:<2}"
        ends = f"{self.least:.2f} .. {self.greatest:.2f}"
        return f"{self.text:<78}{middle} {ends:>17}   {self.aim:<8}{self.verdict()}"

    def verdict(self) -> str:
        if not self.aim:
            return ""
        sign, number = self.aim.split()[:2]
        distance = self.median - float(number)
        met = {"<": distance < 0, "<=": distance <= 0, ">": distance > 0, ">=": distance >= 0}
        return "yes" if met[sign] else "NO"


def ratios(case: Case, rows: int, repeats: int) -> list[float]:
    """Time of the top over time of the bottom, pair by pair, after one pair to warm up."""
    top, bottom = case.top.timer(rows), case.bottom.timer(rows)
    pairs = [(top(), bottom()) for _ in range(repeats + 1)]
    return [a / b for a, b in pairs[1:]]


def peaks(contestant: str, rows: int, repeats: int) -> list[float]:
    """Peak memory of one run over the size of its input, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.arrow"
        score_table(replace(PLAIN, rows=rows)).write_ipc(path)
        command = [sys.executable, __file__, "--peak", contestant, str(path)]
        return [float(subprocess.check_output(command)) for _ in range(repeats)]


def peak(contestant: str, path: str) -> float:
    """In the new process: by how much the run raises the peak, its result included."""
    run = MEMORY[contestant](df := pl.read_ipc(path))
    forget_peak()
    before = peak_kilobytes()
    run()
    return (peak_kilobytes() - before) * 1024 / df.estimated_size()


def import_times(repeats: int) -> list[float]:
    """Milliseconds that `import polars_prcurve` takes longer than `import polars`."""

    def milliseconds(module: str) -> float:
        code = f"from time import time; start = time(); import {module}; print((time() - start) * 1e3)"
        return float(subprocess.check_output([sys.executable, "-c", code]))

    return [milliseconds("polars_prcurve") - milliseconds("polars") for _ in range(repeats)]


def measured(names: list[str], rows: int, repeats: int) -> Iterator[Result]:
    for case in CASES:
        if case.name in names:
            yield Result.of(case.name, case.text, ratios(case, rows, repeats), case.aim)
    if "memory" in names and sys.platform == "linux":
        for contestant in MEMORY:
            values = peaks(contestant, rows, repeats)
            yield Result.of("memory", f"peak memory of {contestant} / size of its input", values, "")
    if "import" in names:
        values = import_times(3 * repeats)
        yield Result.of("import", "import polars_prcurve - import polars", values, "< 50", "ms")


# Checking -------------------------------------------------------------------------------------


def check_counts(df: pl.DataFrame) -> None:
    """Counts are those of the rivals, and expressions give what frames give."""
    ours = sweep(df)()
    theirs_too = bearings(df)().filter(pl.col("threshold") < float("inf"))  # without (0, 0)
    expect_equal("polarbearings", ours.select("g", *COUNTS), theirs_too)
    in_agg = sweep_in_agg(df)().explode("score").unnest("score")
    expect_equal("the sweep as an expression", ours, in_agg)
    above = df.select("g", pl.col("score").alias("threshold"), tp_over(df)()["score"].alias("tp"))
    expect_equal("tp as an expression", ours.select("g", "threshold", "tp"), above.unique())
    if ours.height == df.height:  # no score occurs twice
        summed = add_up_sorted(df)().rename({"score": "threshold"})
        expect_equal("the sums of sorted rows", ours.select("g", *COUNTS), summed.select("g", *COUNTS))
    for key, curve in ours.partition_by("g", as_dict=True).items():
        part = df.filter(pl.col("g") == key[0])
        n_pos = part["label"].sum()
        fpr, tpr, threshold = roc_curve(part["label"], part["score"], drop_intermediate=False)
        theirs = {
            "threshold": threshold,
            "tp": np.rint(tpr * n_pos),
            "fp": np.rint(fpr * (part.height - n_pos)),
            "recall": tpr,
            "fpr": fpr,
        }
        for name, values in theirs.items():  # scikit-learn's first point is the origin
            expect(np.array_equal(curve[name], values[1:]), f"{name} of scikit-learn, group {key[0]}")


def check_areas(df: pl.DataFrame) -> None:
    """Average precision is that of scikit-learn, by both doors."""
    ours = summary(df)().sort("g")["value"]
    in_agg = average_precision_in_agg(df)().sort("g")["score"]
    expect(ours.to_list() == in_agg.to_list(), "average precision as an expression")
    theirs = sklearn_average_precision(df.sort("g", maintain_order=True))()
    expect(np.allclose(ours, theirs, rtol=1e-9, atol=0), "average precision of scikit-learn")
    areas, others = roc_auc(df)().sort("g")["value"], bearings_roc_auc(df)().sort("g")
    expect(np.allclose(areas, others.to_series(1), rtol=1e-9, atol=0), "roc_auc of polarbearings")


def check_errors() -> None:
    """Replicates of rows by scikit-learn spread as ours do, and as the analytic error says."""
    df = score_table(replace(RESAMPLED, rows=3_000))
    theirs = sklearn_bootstrap_of_20(df, n_resamples=300)().std(axis=0, ddof=1)
    ours = bootstrap_of_20(df, n_resamples=3_000)()["standard_error"].to_numpy()
    # The standard error of a standard deviation of 300 is 4%; ends of 20 lie within 3 of them.
    expect(np.allclose(ours, theirs, rtol=0.15), "the bootstrap of scikit-learn")
    analytic = interval(df, eta=0.1)()["standard_error"].item()
    expect(math.isclose(bootstrap_error(df), analytic, rel_tol=0.1), "the analytic error")


def bootstrap_error(df: pl.DataFrame) -> float:
    sure = intervals(0.95, method="bootstrap", resamples=2_000, seed=1)
    found = df.prc.summary(0.1, metrics="average_precision", confidence=sure)
    return float(found["standard_error"].item())


def check_crossings(df: pl.DataFrame) -> None:
    """By scikit-learn's areas, models tie at each crossing and have changed places beyond it."""
    parts = {key: (p["label"].to_numpy(), p["score"].to_numpy()) for (key,), p in df.group_by("g")}

    def area(model: int, eta: float) -> float:
        label, score = parts[model]
        weight = np.where(label, eta / label.sum(), (1 - eta) / (~label).sum())
        return float(average_precision_score(label, score, sample_weight=weight))

    found = crossings(df)()
    expect(not found.is_empty(), "models that trade places")
    for a, b, eta, value in found.iter_rows():
        expect(math.isclose(area(a, eta), value, rel_tol=1e-9), "scikit-learn, at a crossing")
        below, at, above = (area(a, eta * x) - area(b, eta * x) for x in (1 - 1e-6, 1, 1 + 1e-6))
        expect(above < at < below and above < 0 < below, "scikit-learn, around a crossing")
    for low, high, model in leaders(df)().iter_rows():
        eta = math.sqrt(low * high)
        expect(model == max(parts, key=lambda other: area(other, eta)), "the best by scikit-learn")


def check_weights(df: pl.DataFrame) -> None:
    """Sums of weights are those of scikit-learn, and the order of the rows changes no bit."""
    ours = sweep_weighted(df)()
    shuffled = df.sample(fraction=1, shuffle=True, seed=1)
    expect_equal("the weighted sweep of shuffled rows", ours, sweep_weighted(shuffled)())
    for key, curve in ours.partition_by("g", as_dict=True).items():
        part = df.filter((pl.col("g") == key[0]) & (pl.col("weight") > 0))
        label, weight = part["label"].to_numpy(), part["weight"].to_numpy()
        options = {"sample_weight": weight, "drop_intermediate": False}
        fpr, tpr, threshold = roc_curve(label, part["score"], **options)
        theirs = {
            "threshold": threshold,
            "tp": tpr * math.fsum(weight[label]),
            "fp": fpr * math.fsum(weight[~label]),
            "recall": tpr,
            "fpr": fpr,
        }
        for name, values in theirs.items():
            close = np.allclose(curve[name], values[1:], rtol=1e-9, atol=0)
            expect(close, f"weighted {name} of scikit-learn, group {key[0]}")


def expect_equal(whose: str, ours: pl.DataFrame, theirs: pl.DataFrame) -> None:
    """The same rows, to the last bit; either may come in its own order."""
    order = {"by": ["g", "threshold"], "descending": [False, True]}
    expect(ours.sort(**order).equals(theirs.sort(**order)), whose)


def expect(same: bool, whose: str) -> None:
    if not same:
        raise SystemExit(f"the sweep differs from {whose}")


def check(rows: int) -> None:
    for data, groups in product((PLAIN, TIES, STRINGS, HALF), (10, 1_000)):
        check_counts(score_table(replace(data, groups=groups, rows=rows)))
        check_areas(score_table(replace(data, groups=groups, rows=rows)))
    check_errors()
    check_crossings(score_table(replace(MODELS, groups=8, rows=20_000)))
    for groups in (10, 1_000):
        check_weights(score_table(replace(WEIGHTED, groups=groups, rows=rows)))
        check_weights(score_table(replace(WEIGHTED, decimals=1, groups=groups, rows=rows)))


# The command ----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description="Times of the sweep beside its rivals.")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=5, help="pairs per line")
    names = {"nargs": "+", "choices": NAMES, "default": NAMES, "metavar": "NAME"}
    parser.add_argument("--only", **names, help=f"any of {', '.join(NAMES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here, too")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peak:
        print(peak(*given.peak))
        return
    warnings.filterwarnings("ignore", module="sklearn")  # a group of a few rows may lack a class
    about = {"rows": given.rows, "pairs": given.repeats, "threads": pl.thread_pool_size(), **versions()}
    print(*(f"{name} {value}" for name, value in about.items()), sep=", ")
    check(min(given.rows, 300_000))
    print("Counts, weighted sums, areas and expressions agree. Median, ends, aim:", flush=True)
    results = []
    for result in measured(given.only, given.rows, given.repeats):
        print(result, flush=True)
        results.append(asdict(result))
    if given.json:
        given.json.write_text(json.dumps({**about, "results": results}, indent=2))


def versions() -> dict[str, str]:
    packages = ("polars", "polars-prcurve", "polarbearings", "polars-ds", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}


if __name__ == "__main__":
    main()
