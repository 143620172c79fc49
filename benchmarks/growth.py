"""How the cost of methods grows with rows, groups, prevalences and the like, each doubled four times.

All times are CPU seconds: what else the machine does matters less to them than to elapsed time. The
slope is that of their logarithms over the last two doublings: 1 where twice as much takes twice as long,
and less where something costs the same however much there is. Aim: at most 1.15.

python benchmarks/growth.py
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polars_prcurve import intervals, metrics, prc

DOUBLINGS = 4
AIM = 1.15


class Growth(NamedTuple):
    """What is doubled, from which number on, and the methods whose cost is measured at each number."""

    start: int
    prepare: Callable[[int], Any]
    """Return what the methods get: a bound table or a frame, or a list of arguments."""
    methods: dict[str, Callable[[Any], Any]]


def draw(n: int, **numbers: int) -> pl.DataFrame:
    """Return rows of one score, of which a tenth is positive, with columns of so many values each."""
    rng = np.random.default_rng(n)
    label = rng.random(n) < 0.1
    columns = {name: rng.integers(0, number, n) for name, number in numbers.items()}
    return pl.DataFrame({"score": rng.normal(size=n) + 1.5 * label, "label": label, **columns})


def draw_models(n_models: int) -> Any:
    """Return a table of 1,000 rows with a score of each model."""
    table, rng = draw(1_000), np.random.default_rng(n_models)
    names = [f"model_{number}" for number in range(n_models)]
    scores = {name: table["score"] + rng.normal(size=table.height) for name in names}
    return prc(table.with_columns(**scores), score=names)


def draw_periods(n_periods: int) -> Any:
    return draw(50 * n_periods, week=n_periods).prc()


FEW = draw(1_000).prc()
IN_GROUPS = draw(1_000, group=5).prc(by="group")
AP = "average_precision"


def list_levels(n: int) -> list[float]:
    return np.linspace(0.001, 1, n).tolist()


def list_etas(n: int) -> list[float]:
    return np.linspace(0.001, 0.9, n).tolist()


def list_net_benefits(levels: list[float]) -> list[metrics.PointMetric]:
    return [metrics.net_benefit(level / 2) for level in levels]


GROWTHS: dict[str, Growth] = {
    "rows": Growth(
        62_500,
        lambda n: draw(n, group=5).prc(by="group"),
        {
            "curve": lambda t: t.curve(0.01),
            "curve, confidence=": lambda t: t.curve(0.01, confidence=0.95),
            "summary": lambda t: t.summary(0.01),
            "summary, confidence=": lambda t: t.summary(0.01, confidence=0.95),
            "operating_points": lambda t: t.operating_points(0.01, precision=0.1),
            "operating_points, confidence=": lambda t: t.operating_points(
                0.01, precision=0.1, confidence=0.95
            ),
            "operating_points, guarantee=": lambda t: t.operating_points(
                0.01, precision=0.1, guarantee=0.9
            ),
        },
    ),
    "groups": Growth(
        250,
        lambda n: draw(50 * n, group=n).prc(by="group"),
        {
            "curve": lambda t: t.curve(0.01),
            "summary": lambda t: t.summary(0.01),
            "summary, confidence=": lambda t: t.summary(0.01, confidence=0.95),
            "summary, own eta": lambda t: t.summary(),
            "operating_points, confidence=": lambda t: t.operating_points(
                0.01, precision=0.1, confidence=0.95
            ),
            "summary, mean_over=": lambda t: prc(t).summary(
                0.01, by=None, mean_over="group", metrics=AP
            ),
        },
    ),
    "prevalences": Growth(
        64,
        list_etas,
        {
            "curve": IN_GROUPS.curve,
            "summary": IN_GROUPS.summary,
            "summary, confidence=": lambda etas: IN_GROUPS.summary(etas, confidence=0.95),
            "operating_points": lambda etas: IN_GROUPS.operating_points(etas, precision=0.1),
            "operating_points, confidence=": lambda etas: IN_GROUPS.operating_points(
                etas, precision=0.1, confidence=0.95
            ),
        },
    ),
    "targets": Growth(
        500,
        list_levels,
        {
            **{
                f"{word}=": partial(
                    lambda word, levels: FEW.operating_points(0.01, **{word: levels}), word
                )
                for word in ("recall", "fpr", "precision", "predicted_positive_rate")
            },
            "alerts=": lambda levels: FEW.operating_points(0.01, alerts=levels, per=1),
            **{
                f"{word}=, confidence=": partial(
                    lambda word, levels: FEW.operating_points(
                        0.01,
                        **{word: levels, "per": 1 if word == "alerts" else None},
                        confidence=0.95,
                        columns="all",
                    ),
                    word,
                )
                for word in ("recall", "fpr", "precision", "npv", "fdr", "lift", "alerts")
            },
            "precision=, in groups": lambda levels: IN_GROUPS.operating_points(0.01, precision=levels),
        },
    ),
    "promised targets": Growth(
        8,
        list_levels,
        {
            "recall=": lambda levels: FEW.operating_points(0.01, recall=levels, guarantee=0.9),
            "precision=": lambda levels: FEW.operating_points(0.01, precision=levels, guarantee=0.9),
        },
    ),
    "thresholds": Growth(
        125,
        list_levels,
        {
            "operating_points": lambda levels: FEW.operating_points(0.01, threshold=levels),
            "operating_points, a frame": lambda levels: FEW.operating_points(
                0.01, threshold=pl.DataFrame({"threshold": levels})
            ),
            "operating_points, confidence=": lambda levels: FEW.operating_points(
                0.01, threshold=levels, confidence=0.95
            ),
            "curve": lambda levels: FEW.curve(0.01, thresholds=levels),
        },
    ),
    "models": Growth(
        2,
        draw_models,
        {
            "summary": lambda t: t.summary(0.01),
            "ranking": lambda t: t.ranking(0.01),
            "decide": lambda t: t.decide(0.01, recall=0.5),
            "compare, all pairs": lambda t: t.compare(0.01, metrics=AP),  # four times as many each
        },
    ),
    "clusters": Growth(
        1_000,
        lambda n: draw(10 * n, patient=n).prc(cluster="patient"),
        {
            "summary, confidence=": lambda t: t.summary(0.01, confidence=0.95),
            "operating_points, confidence=": lambda t: t.operating_points(
                0.01, recall=0.5, confidence=0.95
            ),
        },
    ),
    "periods": Growth(
        250,
        draw_periods,
        {"monitor": lambda t: t.monitor("week", metrics="recall", reference=0.5, threshold=1.0)},
    ),
    "resamples": Growth(
        250,
        lambda n: intervals(method="bootstrap", resamples=n, seed=1),
        {"summary": lambda how: FEW.summary(0.01, metrics=AP, confidence=how)},
    ),
    "metrics": Growth(
        64,
        list_levels,
        {
            "summary": lambda levels: FEW.summary(
                0.01, metrics=[metrics.partial_roc_auc(level) for level in levels]
            ),
            "summary, at targets": lambda levels: FEW.summary(
                0.01, metrics=[metrics.precision_at_recall(level) for level in levels]
            ),
            "summary, at targets, confidence=": lambda levels: FEW.summary(
                0.01,
                metrics=[metrics.precision_at_recall(level) for level in levels],
                confidence=0.95,
            ),
            "curve": lambda levels: FEW.curve(0.01, metrics=list_net_benefits(levels)),
            "curve, long=True": lambda levels: FEW.curve(
                0.01, metrics=list_net_benefits(levels), long=True
            ),
            "operating_points, long=True": lambda levels: FEW.operating_points(
                0.01, recall=0.5, metrics=list_net_benefits(levels), long=True
            ),
        },
    ),
}


def time_once(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=GROWTHS, default=[*GROWTHS])
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    for name in given.only:
        growth = GROWTHS[name]
        numbers = [growth.start * 2**doubling for doubling in range(DOUBLINGS + 1)]
        print(f"\n{name:40}" + "".join(f"{number:>11,}" for number in numbers) + "     slope")
        tables = [growth.prepare(number) for number in numbers]
        for method, run in growth.methods.items():
            seconds = [
                min(time_once(partial(run, table)) for _ in range(given.repeats)) for table in tables
            ]
            slope = math.log2(seconds[-1] / seconds[-3]) / 2
            columns = "".join(f"{second:11.3f}" for second in seconds)
            print(
                f"  {method:38}{columns}{slope:10.2f}{'' if slope <= AIM else '  above the aim'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
