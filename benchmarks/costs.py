"""What each method costs at several prevalences beside what it costs at one, and on small tables.

All times are CPU seconds: what else the machine does matters less to them than to elapsed time.

python benchmarks/costs.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score

from polars_prcurve import intervals, prc

NUMBERS = (1, 4, 16, 64)
"""How many prevalences are asked for."""
SMALL = 1_000


class Tables(NamedTuple):
    """The same examples with one score each, with two in a row, and with two in rows of their own."""

    one: pl.DataFrame
    half: pl.DataFrame  # other examples, of which half are positive
    wide: pl.DataFrame
    long: pl.DataFrame


class Job(NamedTuple):
    """A method at some prevalences, and how many times its cost at one that at 64 may be."""

    run: Callable[[Tables, list[float]], pl.DataFrame]
    aim: float


def make_one(n: int, share: float) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    label = rng.random(n) < share
    return pl.DataFrame({"score": rng.normal(size=n) + 1.5 * label, "label": label})


def make_tables(n: int) -> Tables:
    rng = np.random.default_rng(1)
    one = make_one(n, 0.01)
    a, label = one["score"].to_numpy(), one["label"].to_numpy()
    b = 0.8 * a + 0.6 * (rng.normal(size=n) + 1.3 * label)
    wide = pl.DataFrame({"a": a, "b": b, "label": label})
    long = wide.with_row_index("id").unpivot(
        ["a", "b"], index=["id", "label"], variable_name="model", value_name="score"
    )
    return Tables(one, make_one(n, 0.5), wide, long)


AP = {"metrics": "average_precision"}
GROUPS = {"by": (pl.int_range(pl.len()) % 10).alias("group")}
JOBS: dict[str, Job] = {
    "summary": Job(lambda t, eta: t.one.prc.summary(eta, **AP), 2),
    "summary, half positive": Job(lambda t, eta: t.half.prc.summary(eta, **AP), 3),
    "summary, ten groups": Job(lambda t, eta: t.one.prc.summary(eta, **GROUPS, **AP), 2),
    "summary, half positive, ten groups": Job(lambda t, eta: t.half.prc.summary(eta, **GROUPS, **AP), 3),
    "summary, half positive, LazyFrame": Job(
        lambda t, eta: t.half.lazy().prc.summary(eta, **AP).collect(), 6
    ),
    "summary, confidence=": Job(lambda t, eta: t.one.prc.summary(eta, **AP, confidence=0.95), 4),
    "compare": Job(lambda t, eta: t.wide.prc.compare(eta, score=["a", "b"], **AP), 4),
    "compare, id=": Job(lambda t, eta: t.long.prc.compare(eta=eta, model="model", id="id", **AP), 4),
    "ranking, confidence=": Job(
        lambda t, eta: t.wide.prc.ranking(eta, score=["a", "b"], confidence=0.95), 4
    ),
    "ranking, id=, confidence=": Job(
        lambda t, eta: t.long.prc.ranking(eta, model="model", id="id", confidence=0.95), 4
    ),
    "curve, thresholds=100": Job(lambda t, eta: t.one.prc.curve(eta, thresholds=100), 3),
    "curve, simultaneous=True": Job(
        lambda t, eta: t.one.prc.curve(
            eta, thresholds=100, confidence=intervals(0.95, simultaneous=True)
        ),
        4,
    ),
    "operating_points, precision=": Job(
        lambda t, eta: t.one.prc.operating_points(eta, precision=0.3), 1.5
    ),
    "operating_points, maximize=": Job(lambda t, eta: t.one.prc.operating_points(eta, maximize="f1"), 3),
    "operating_points, guarantee=": Job(
        lambda t, eta: t.one.prc.operating_points(eta, precision=0.3, guarantee=0.95), 4
    ),
}


def list_least_steps(wide: pl.DataFrame) -> dict[str, pl.LazyFrame]:
    """Return bare queries for what a comparison of the models a and b cannot do without, each alone."""
    scores = wide.with_row_index("id").lazy()
    above = (
        pl.col(name).filter("label").unique().sort().search_sorted(pl.col(name)).cast(pl.Int64)
        for name in ("a", "b")
    )
    search = scores.select("id", "label", *above)
    places = search.collect().lazy()
    squares = (pl.col("a") - pl.col("b")).cast(pl.Float64) ** 2
    return {
        "sort of the scores of one model": scores.select(pl.col("a").sort()),
        "sort of those of both": scores.select(pl.col("a").sort(), pl.col("b").sort()),
        "search of both among those of positives": search,
        "join of both by id": places.select("id", "label", "a").join(places.select("id", "b"), on="id"),
        "count of equal pairs of places": places.group_by("a", "b", "label").len(),
        "exact sum of squared differences": places.select((squares * 2.0**60).cast(pl.Int128).sum()),
    }


def print_floor_of_comparison(tables: Tables, repeats: int, compare: float) -> None:
    """Print what each step costs alone, and which share of `compare` that is."""
    print("\nwhat a comparison at one prevalence cannot do without: CPU seconds, and the share of it")
    for name, query in list_least_steps(tables.wide).items():
        seconds = measure(query.collect, 3 * repeats)
        print(f"{name:40s} {seconds:7.4f}  {seconds / compare:5.0%}")


def measure(call: Callable[[], Any], repeats: int) -> float:
    """Return the median of the CPU seconds that calls take, after one that warms up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


def check_each_prevalence(name: str, job: Job, tables: Tables, etas: list[float]) -> None:
    """Stop unless the rows of the last prevalence are those of that prevalence alone."""
    alone, among = job.run(tables, etas[-1:]), job.run(tables, etas)
    assert_frame_equal(among.filter(pl.col("eta") == etas[-1]), alone, check_exact=False, rel_tol=1e-12)
    if among["eta"].n_unique() != len(etas):
        raise SystemExit(f"{name} lacks a prevalence")


def print_costs_by_prevalences(rows: int, repeats: int) -> None:
    tables = make_tables(rows)
    print(f"{rows} examples, 1 in 100 positive: CPU seconds at {NUMBERS} prevalences, and last / first")
    at_one = {}
    for name, job in JOBS.items():
        check_each_prevalence(name, job, tables, list_etas(4))
        times = [measure(partial(job.run, tables, list_etas(n)), repeats) for n in NUMBERS]
        print_line(name, times, times[-1] / times[0], job.aim)
        at_one[name] = times[0]
    for name in ("compare", "ranking, confidence="):
        print_beside_summaries(name, tables, at_one[name], repeats)
    print_floor_of_comparison(tables, repeats, at_one["compare"])


def print_beside_summaries(name: str, tables: Tables, seconds: float, repeats: int) -> None:
    """Print how many summaries a comparison of two models, or their ranking, costs at one prevalence."""
    print(f"\n{name} of two models at one prevalence, beside a summary: CPU seconds, and their ratio")
    models = {"one model": (tables.one, None), "both models": (tables.long, "model")}
    for of, (table, by) in models.items():
        for what, how in (("", {}), (", confidence=", {"confidence": 0.95})):
            # Of a LazyFrame, so that rows are swept, as they are to be compared
            query = table.lazy().prc.summary(list_etas(1), by=by, **AP, **how)
            own = measure(query.collect, 3 * repeats)
            print_line(f"summary of {of}{what}", [own, seconds], seconds / own, 5)


def list_etas(n: int) -> list[float]:
    return np.geomspace(1e-4, 0.5, n).tolist() if n > 1 else [0.01]


def print_costs_of_one_group(rows: int, repeats: int) -> None:
    """Print what an area of one group costs beside a sort of the scores, by the share of positives."""
    print(
        f"\n{rows} rows of one group: CPU seconds of a sort of the scores, of an area, and their ratio"
    )
    for share, aim in ((0.5, 1.5), (0.1, 1.0), (0.01, 1.0), (0.001, 1.0)):
        table = make_one(rows, share)
        sort = measure(table.lazy().select(pl.col("score").sort()).collect, 3 * repeats)
        for name in ("average_precision", "roc_auc", "pr_auc"):
            seconds = measure(partial(table.prc.summary, 0.01, metrics=name), 3 * repeats)
            print_line(f"{name}, {share:g} positive", [sort, seconds], seconds / sort, aim)
        seconds_of_rows = measure(partial(table.prc.summary, 0.01, **AP), 3 * repeats)
        counts = table.select("score", n_pos=pl.col("label").cast(pl.Int64), n_neg=~pl.col("label") + 0)
        seconds = measure(
            partial(counts.prc.summary, 0.01, counts=("n_pos", "n_neg"), **AP), 3 * repeats
        )
        print_line(
            f"counts beside rows, {share:g} positive",
            [seconds_of_rows, seconds],
            seconds / seconds_of_rows,
            1.0,
        )
        for word, value in (("recall", 0.8), ("precision", 0.5), ("predicted_positive_rate", 0.01)):
            points = measure(partial(table.prc.operating_points, 0.01, **{word: value}), 3 * repeats)
            print_line(f"{word}=, {share:g} positive", [sort, points], points / sort, 1.0)
        narrow = table.lazy().cast({"score": pl.Float32})
        wide = narrow.cast({"score": pl.Float64})
        queries = [frame.prc.summary(0.01, **AP) for frame in (wide, narrow)]
        assert_frame_equal(*(query.collect() for query in queries), check_exact=True)
        times = [measure(query.collect, 3 * repeats) for query in queries]
        print_line(f"LazyFrame of Float32, {share:g} positive", times, times[1] / times[0], 0.9)
        bound = prc(table)
        first = measure(lambda table=table: prc(table).summary(0.01, **AP), 3 * repeats)
        again = measure(partial(bound.summary, 0.01, **AP), 3 * repeats)
        print_line(f"asked again, {share:g} positive", [first, again], again / first, 0.2)


def print_costs_of_many_targets(rows: int, repeats: int) -> None:
    """Print what 2,000 thresholds and recalls cost beside 200 of them."""
    print("\n200 and 2,000 targets of one group: CPU seconds, and their ratio")
    table, many = make_one(rows, 0.05), np.linspace(0.0, 1.0, 2_001)[1:]
    for word in ("threshold", "recall"):
        calls = [
            partial(table.prc.operating_points, 0.01, **{word: many[::step].tolist()})
            for step in (10, 1)
        ]
        few_points, points = (call() for call in calls)
        assert_frame_equal(few_points, points[::10])
        times = [measure(call, repeats) for call in calls]
        print_line(f"operating_points, {word}=", times, times[1] / times[0], 3.5)


def print_costs_of_expressions(rows: int, repeats: int) -> None:
    """Print what an expression costs beside a sort of the scores, by share of positives and groups."""
    print(f"\n{rows} rows: CPU seconds of a sort of the scores, of an expression, and their ratio")
    aims = {(0.5, 1): 4, (0.01, 1): 2, (0.5, 100): 5, (0.01, 100): 3, (0.5, rows // 100): 8}
    for (share, n_groups), aim in aims.items():
        table = make_one(rows, share).with_columns(group=pl.int_range(pl.len()) % n_groups)
        sort = measure(table.lazy().select(pl.col("score").sort()).collect, 3 * repeats)
        for name in ("average_precision", "roc_auc"):
            area = pl.col("score").prc.summary(name, "label", 0.01)
            query = table.lazy().select(pl.lit(0).alias("group"), area)
            if n_groups > 1:
                query = table.lazy().group_by("group").agg(area)
            values = query.collect().sort("group")["score"]
            if not values.equals(table.prc.summary(0.01, metrics=name, by="group")["value"]):
                raise SystemExit(f"the expression {name} differs from the method")
            seconds = measure(partial(query.collect, engine="in-memory"), 3 * repeats)
            print_line(
                f"{name}, {share:g} positive, {n_groups} groups", [sort, seconds], seconds / sort, aim
            )


def print_costs_of_small_tables(repeats: int) -> None:
    table = make_tables(SMALL).one
    label, score = table["label"].to_numpy(), table["score"].to_numpy()
    weight = np.where(label, 0.01 / label.mean(), 0.99 / (1 - label.mean()))
    how = {"sample_weight": weight}
    theirs = {
        "one metric": lambda: average_precision_score(label, score, **how),
        "three metrics": lambda: (
            average_precision_score(label, score, **how),
            roc_auc_score(label, score, **how),
            precision_recall_curve(label, score, **how),
        ),
    }
    metrics = {"one metric": AP["metrics"], "three metrics": ["average_precision", "roc_auc", "pr_auc"]}
    ours = table.prc.summary(0.01, **AP)["value"].item()
    if not np.isclose(ours, theirs["one metric"](), rtol=1e-9, atol=0):
        raise SystemExit("average precision differs from that of scikit-learn")
    print(f"\n{SMALL} rows: seconds of scikit-learn and of summary, and their ratio")
    for (name, call), aim in zip(theirs.items(), (1, 1), strict=True):
        own = measure(partial(table.prc.summary, 0.01, metrics=metrics[name]), 10 * repeats)
        other = measure(call, 10 * repeats)
        print_line(f"summary of {name}", [other, own], own / other, aim)


def print_line(name: str, times: list[float], ratio: float, aim: float) -> None:
    seconds = "  ".join(f"{t:7.4f}" for t in times)
    print(f"{name:40s} {seconds:36s}  {ratio:5.1f} x   <= {aim:g}  {'yes' if ratio <= aim else 'no'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    print_costs_by_prevalences(given.rows, given.repeats)
    print_costs_of_one_group(given.rows, given.repeats)
    print_costs_of_many_targets(given.rows, given.repeats)
    print_costs_of_expressions(given.rows, given.repeats)
    print_costs_of_small_tables(given.repeats)


if __name__ == "__main__":
    main()
