"""Queries of every lazy frame method: one for each form of arguments that changes the plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl

from polars_prcurve import eta_from_sample, field, intervals, metrics
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.point_metric import POINT_METRICS

N = 3_000
DF = pl.DataFrame(
    {
        "g": [f"g{i % 5}" if i % 11 else None for i in range(N)],
        "h": [i % 3 for i in range(N)],
        "score": [float((i * 7919) % 613) / 613 for i in range(N)],
        "label": [(i * 31) % 4 == 0 for i in range(N)],
        "w": [float(i % 6) / 7 for i in range(N)],
    }
)
COUNTS = DF.prc.counts(by="g")
WEIGHED = DF.prc.counts(by="g", weight="w")
SUMS: dict[str, Any] = {"counts": ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")}
POINTS = pl.DataFrame({"g": ["a"] * 3, "tpr": [0.2, 0.5, 1.0], "fpr": [0.0, 0.1, 1.0]})
CELLS: dict[str, Any] = {"cells": ("tp", "fp", "fn", "tn"), "score": "threshold"}
CUMULATIVE = DF.prc.sweep(by="g", thresholds=9)
BELOW = DF.select(pl.col("g").unique().sort()).with_row_index("n_pos").with_columns(n_neg=pl.lit(400))
BELOW = pl.concat(
    [BELOW, pl.DataFrame({"n_pos": [7], "g": ["none scored"], "n_neg": [9]})], how="vertical_relaxed"
)
NULLS = DF.with_columns(score=pl.when(pl.col("score") > 0.3).then("score"))
SIZES: dict[str, Any] = {"rates": ("tpr", "fpr"), "sizes": (40, 900)}
ETAS = DF.select("g").unique().sort("g").with_columns(eta=pl.lit(0.01))
_SAMPLES = DF.select(pl.col("g").unique().sort()).with_row_index("k")
UNCERTAIN = pl.concat(
    [
        eta_from_sample(_SAMPLES.with_columns(n=50, market=pl.lit(m)), confidence=0.9)
        for m in ("north", "east")
    ]
).with_columns(pl.when(pl.col("g") != "g3").then(name).alias(name) for name in ("eta_low", "eta_high"))
"""Prevalences of each group, twice, 0 and exact ones among them."""
_PARTS = ETAS.with_row_index("share").with_columns(pl.col("share") + 1)
FIELD = field(_PARTS, parts="g")
FIELD_ENDS = field(
    _PARTS.with_columns(
        eta_low=pl.when(pl.col("share") > 1).then(0.0), eta_high=pl.when(pl.col("share") > 1).then(0.1)
    ),
    parts="g",
)
EVERY = list(POINT_METRICS)
AREAS_IN_FIELD = ["average_precision", "roc_auc"]
FEW_IN_FIELD = ["precision", "recall", "mcc"]
BENEFIT = metrics.net_benefit(0.2)
AREAS = [
    *(metric for metric in CURVE_METRICS.values() if not metric.recipe.on_hull),
    metrics.best("f1"),
    metrics.recall_at_precision(0.5),
    metrics.integrated("pr_auc", 0.01, 0.5),
]
BOUNDED = [
    *("average_precision", "min_max_average_precision", "pr_auc", "boyd_pr_auc", "roc_auc"),
    *(metrics.partial_roc_auc(0.3), metrics.precision_at_recall(0.5)),
]
SMOOTH = [
    *("average_precision", "pr_auc", "roc_auc", "min_max_average_precision"),
    metrics.precision_at_recall(0.5),
    metrics.integrated_average_precision(0.01, 0.5),
    metrics.integrated("pr_auc", 0.01, 0.5),
]
TARGETS: dict[str, Any] = {
    "threshold": [0.25, 7, 10**400],
    "recall": [0.5, 1.0],
    "fpr": 0.1,
    "precision": 0.3,
    "npv": 0.8,
    "fdr": [0.1, 0.6],
    "lift": 1.2,
    "predicted_positive_rate": [0.1, 0.0],
    "maximize": ["f1", "informedness"],
}
PROMISES: dict[str, Any] = {
    "recall": [0.5, 0.97],
    "fpr": 0.1,
    "precision": [0.05, 0.3],
    "npv": 0.7,
    "fdr": 0.9,
    "lift": 0.9,
    "guarantee": 0.9,
}

_FIRST = DF.select(pl.col("g").unique().sort()).with_row_index("i").with_columns(threshold=0.5)
_SECOND = _FIRST.with_columns(threshold=pl.when(pl.col("i") > 2).then(pl.col("i") / 7))
THRESHOLDS = pl.concat([_FIRST, _SECOND]).drop("i")
"""Two thresholds of each group, some of them null."""
AT_ETAS = DF.prc.operating_points([0.5, 0.01], by="g", precision=[0.2, 0.9])
LONG = DF.prc.unpivot_scores(["score", "w"], name="m", row="row", score="s")
HOLES = LONG.with_columns(s=pl.when(pl.int_range(pl.len()) % 97 != 3).then("s"))
HOLES_BELOW = (
    HOLES.filter(pl.col("s").is_null())
    .group_by("m")
    .agg(n_pos=pl.col("label").sum(), n_neg=(~pl.col("label")).sum())
)
AT_TARGETS = [
    metrics.recall_at_precision(0.4),
    metrics.recall_at_fpr(0.3),
    metrics.precision_at_fpr(0.3),
    metrics.recall_at_alerts(20, 100),
    metrics.precision_at_alerts(20, 100),
]
ERRORS = [
    "average_precision",
    "roc_auc",
    metrics.precision_at_recall(0.5),
    "pr_auc",
    "f1_at_threshold(0.5)",
]

DRAWN = DF.with_columns(
    stratum=pl.col("score") > 0.4, drawn=pl.when(pl.col("score") > 0.4).then(1.5).otherwise(20.0)
)
STRATA: dict[str, Any] = {"weight": "drawn", "stratum": "stratum"}
SCORED = DF.with_columns(label=pl.when(pl.col("h") > 0).then("label"))
PLAN = SCORED.prc.sampling_plan(0.4, budget=10, strata=4)

QUERIES: dict[str, tuple[pl.DataFrame, Callable[[Any], Any]]] = {
    "counts": (DF, lambda p: p.counts(by="g")),
    "counts, weighted": (DF, lambda p: p.counts(by="g", weight="w")),
    "counts, without labels": (DF, lambda p: p.counts(by="g", label=None)),
    "sweep": (DF, lambda p: p.sweep()),
    "sweep, grouped": (DF, lambda p: p.sweep(by=["g", "h"])),
    "sweep, weighted": (DF, lambda p: p.sweep(by="g", weight="w")),
    "sweep, integer weights": (DF, lambda p: p.sweep(by="g", weight="h")),
    "sweep, wide score": (DF, lambda p: p.sweep(by="g", score=(pl.col("score") * 1000).cast(pl.Int128))),
    "sweep, of counts": (COUNTS, lambda p: p.sweep(by="g", counts=("n_pos", "n_neg"))),
    "sweep, of rates": (POINTS, lambda p: p.sweep(by="g", rates=("tpr", "fpr"))),
    "sweep, reduced": (DF, lambda p: p.sweep(by="g", thresholds="corners")),
    "sweep, steps": (DF, lambda p: p.sweep(by="g", thresholds=10)),
    "sweep, listed": (DF, lambda p: p.sweep(by="g", thresholds=[0.25, 0.5])),
    "sweep, listed, of other dtypes": (
        DF,
        lambda p: p.sweep(by="g", score=pl.col("score").cast(pl.Float32), thresholds=[0.1, 1e300, -1]),
    ),
    "sweep, listed, out of reach": (
        DF,
        lambda p: p.sweep(by="g", score="h", thresholds=[2**70, 1.5, 0], weight="w"),
    ),
    "sweep, dropping": (DF, lambda p: p.sweep(by="g", missing="drop")),
    "curve, own": (DF, lambda p: p.curve(by="g")),
    "curve, one eta": (DF, lambda p: p.curve(0.01, by="g", metrics=EVERY)),
    "curve, grid": (DF, lambda p: p.curve([0.5, None, 0.01], by="g", metrics=EVERY)),
    "curve, long": (DF, lambda p: p.curve([0.5, 0.01], by="g", metrics=EVERY, long=True)),
    "curve, eta frame": (DF, lambda p: p.curve(ETAS, by=["g", "h"])),
    "curve, of rates": (POINTS, lambda p: p.curve([0.5, 0.01], by="g", rates=("tpr", "fpr"))),
    "sweep, of cells": (CUMULATIVE, lambda p: p.sweep(by="g", **CELLS)),
    "curve, of cells": (
        CUMULATIVE,
        lambda p: p.curve([0.5, None], by="g", metrics=["precision", "npv"], confidence=0.9, **CELLS),
    ),
    "curve, of sizes": (POINTS, lambda p: p.curve([0.5, None], by="g", confidence=0.9, **SIZES)),
    "operating_points, of cells": (
        CUMULATIVE,
        lambda p: p.operating_points([0.1, None], by="g", threshold=[0.5, 7], recall=0.5, **CELLS),
    ),
    "summary, of cells, with errors": (
        CUMULATIVE,
        lambda p: p.summary([0.1, None], by="g", metrics=ERRORS, confidence=0.95, **CELLS),
    ),
    "sample_size, of cells": (CUMULATIVE, lambda p: p.sample_size(recall=0.5, by="g", **CELLS)),
    "curve, of some sizes": (
        POINTS.with_columns(p=pl.when(pl.col("g") == "a").then(40), n=900),
        lambda p: p.curve(0.01, by="g", rates=("tpr", "fpr"), sizes=("p", "n"), confidence=0.9),
    ),
    "summary, of some sizes": (
        POINTS.with_columns(p=pl.when(pl.col("g") == "a").then(40), n=900),
        lambda p: p.summary(
            0.01, by="g", metrics="roc_auc", rates=("tpr", "fpr"), sizes=("p", "n"), confidence=0.9
        ),
    ),
    "sample_size, eta, of sizes": (
        POINTS,
        lambda p: p.sample_size(recall=0.5, by="g", **SIZES, solve_for="eta"),
    ),
    "summary": (DF, lambda p: p.summary(by=["g", "h"])),
    "summary, grid": (DF, lambda p: p.summary([0.5, None, 0.01], by="g", metrics=AREAS)),
    "summary, weighted": (DF, lambda p: p.summary(0.01, by="g", weight="w", metrics=AREAS)),
    "summary, eta frame": (DF, lambda p: p.summary(ETAS, by=["g", "h"])),
    "summary, of rates": (POINTS, lambda p: p.summary([0.5, 0.01], by="g", rates=("tpr", "fpr"))),
    "summary, coarse": (
        DF,
        lambda p: p.summary([0.5, None, 0.0], by="g", metrics=BOUNDED, coarse=True, score="h"),
    ),
    "summary, coarse, weighted": (
        DF,
        lambda p: p.summary(0.01, by="g", weight="w", coarse=True, score=(pl.col("score") * 9).floor()),
    ),
    "summary, coarse, of rates": (
        POINTS,
        lambda p: p.summary([0.5, 0.01], by="g", rates=("tpr", "fpr"), coarse=True),
    ),
    "curve, with bands": (
        DF,
        lambda p: p.curve([None, 0.01], by="g", metrics=["f1", "mcc"], confidence=0.9, long=True),
    ),
    "curve, with bands of other rates": (
        DF,
        lambda p: p.curve(
            [0.2, 0.01], by="g", metrics=["mcc"], confidence=intervals(0.9, rate="hoeffding")
        ),
    ),
    "curve, with bands of a rectangle": (
        DF,
        lambda p: p.curve(
            [0.2, 0.01],
            by="g",
            thresholds=[0.5, 1.0],
            metrics=["precision", "mcc"],
            confidence=intervals(0.9, method="rectangle"),
        ),
    ),
    "curve, with bands of every metric": (
        DF,
        lambda p: p.curve([0.5, None, 0.01], by="g", metrics=EVERY, confidence=0.9, long=True),
    ),
    "curve, uncertain eta frame": (DF, lambda p: p.curve(UNCERTAIN, by=["g", "h"])),
    "curve, uncertain eta frame, with bands": (
        DF,
        lambda p: p.curve(UNCERTAIN, by="g", metrics=["mcc", "lift", "npv"], confidence=0.9, long=True),
    ),
    "points, uncertain eta frame, with bands": (
        DF,
        lambda p: p.operating_points(UNCERTAIN, by=["g", "h"], confidence=0.9, **TARGETS),
    ),
    "summary, uncertain eta frame": (DF, lambda p: p.summary(UNCERTAIN, by="g")),
    "summary, uncertain eta frame, with errors": (
        DF,
        lambda p: p.summary(UNCERTAIN, by="g", metrics=ERRORS, confidence=0.9),
    ),
    "points, weighted, with bands": (
        DF,
        lambda p: p.operating_points(0.01, by="g", weight="w", confidence=0.9, **TARGETS),
    ),
    "points, all columns": (
        DF,
        lambda p: p.operating_points(
            [0.1, None], by="g", confidence=0.9, columns="all", alerts=20, per=100, **TARGETS
        ),
    ),
    "points, one of each group": (
        CUMULATIVE.group_by("g", maintain_order=True).last(),
        lambda p: p.operating_points([0.1, None], by="g", confidence=0.9, columns="all", **CELLS),
    ),
    "sizes": (DF, lambda p: p.sample_size(by="g", recall=[0.5, 0.9], fpr=0.1, threshold=7.0)),
    "sizes, at etas": (DF, lambda p: p.sample_size(by="g", eta=[0.5, None, 0.01], recall=0.5)),
    "sample_size, eta": (
        DF,
        lambda p: p.sample_size(by="g", recall=[0.5, 0.9], weight="w", solve_for="eta"),
    ),
    "points": (DF, lambda p: p.operating_points(by=["g", "h"], **TARGETS)),
    "points, grid": (DF, lambda p: p.operating_points([0.5, 0.01], by="g", **TARGETS, per=1e6)),
    "points, alerts": (
        DF,
        lambda p: p.operating_points([0.5, 0.01], by="g", alerts=[5, 40], per=100, fpr=0.1),
    ),
    "points, thresholds of groups": (
        DF,
        lambda p: p.operating_points([0.5, 0.01], by=["g", "h"], threshold=THRESHOLDS, recall=0.5),
    ),
    "points, thresholds of groups and etas": (
        DF,
        lambda p: p.operating_points([0.5, 0.01], by="g", threshold=AT_ETAS, per=10, confidence=0.9),
    ),
    "points, promised": (DF, lambda p: p.operating_points([0.2, None], by=["g", "h"], **PROMISES)),
    "points, promised, from thresholds of groups": (
        DF,
        lambda p: p.operating_points([0.2, 0.01], by="g", start=THRESHOLDS.unique("g"), **PROMISES),
    ),
    "points, promised, of counts, with bands": (
        COUNTS,
        lambda p: p.operating_points(
            0.2, by="g", counts=("n_pos", "n_neg"), start=0.8, confidence=0.9, **PROMISES
        ),
    ),
    "sizes, relative": (DF, lambda p: p.sample_size(0.5, 0.1, relative=True, by="g", recall=0.5)),
    "sizes, thresholds of groups": (DF, lambda p: p.sample_size(by="g", threshold=THRESHOLDS)),
    "points, long": (DF, lambda p: p.operating_points(0.01, by="g", recall=0.5, long=True)),
    "points, weighted": (DF, lambda p: p.operating_points(0.01, by="g", weight="w", **TARGETS)),
    "points, of rates": (
        POINTS,
        lambda p: p.operating_points(0.1, by="g", rates=("tpr", "fpr"), recall=0.5, precision=0.2),
    ),
    "summary, of weighted counts, with errors": (
        WEIGHED,
        lambda p: p.summary([0.1, None], by="g", metrics=ERRORS, confidence=0.9, **SUMS),
    ),
    "curve, of weighted counts, with bands": (
        WEIGHED,
        lambda p: p.curve([0.1, None], by="g", confidence=0.9, **SUMS),
    ),
    "points, net benefit of a cohort, with bands": (
        DF,
        lambda p: p.operating_points(by="g", recall=0.5, metrics=BENEFIT, confidence=0.9),
    ),
    "points, weighted, net benefit of a cohort, with bands": (
        DF,
        lambda p: p.operating_points(by="g", weight="w", recall=0.5, metrics=BENEFIT, confidence=0.9),
    ),
    "curve, with bands of clusters": (
        DF,
        lambda p: p.curve([0.1, None], by="g", confidence=0.9, cluster="h"),
    ),
    "points, with bands of clusters": (
        DF,
        lambda p: p.operating_points([0.1, None], by="g", confidence=0.9, cluster="h", **TARGETS),
    ),
    "summary, with errors of clusters": (
        DF,
        lambda p: p.summary([0.1, None], by="g", metrics=ERRORS[:-1], confidence=0.9, cluster="h"),
    ),
    "curve, with bands of strata": (
        DRAWN,
        lambda p: p.curve([0.1, None], by="g", metrics=EVERY, confidence=0.9, **STRATA),
    ),
    "curve, with bands of strata, listed": (
        DRAWN,
        lambda p: p.curve([0.1, None], thresholds=[0.25, 0.5, 7], confidence=0.9, **STRATA),
    ),
    "points, with bands of strata": (
        DRAWN,
        lambda p: p.operating_points([0.1, None], by="g", confidence=0.9, **TARGETS, **STRATA),
    ),
    "summary, with errors of strata": (
        DRAWN,
        lambda p: p.summary([0.1, None], by="g", metrics=ERRORS, confidence=0.9, **STRATA),
    ),
    "compare, strata": (
        DRAWN,
        lambda p: p.compare([0.5, None], score=["score", "w"], by="g", **STRATA),
    ),
    "compare, strata, at a target": (
        DRAWN,
        lambda p: p.compare([0.5, None], score=["score", "w"], metrics=["precision"], fpr=0.3, **STRATA),
    ),
    "reweight, plan": (SCORED, lambda p: p.reweight(plan=PLAN)),
    "summary, at targets, all columns": (
        DF,
        lambda p: p.summary([0.1, None], by="g", metrics=AT_TARGETS, confidence=0.9, columns="all"),
    ),
    "summary, means": (
        DF,
        lambda p: p.summary([0.1, None], by="h", mean_over="g", confidence=0.9, columns="all"),
    ),
    "compare, means": (
        DF,
        lambda p: p.compare(
            [0.1, 0.4], score=["score", "w", "h"], mean_over="g", adjust="holm", columns="all"
        ),
    ),
    "ranking, means": (
        DF,
        lambda p: p.ranking(
            [0.1, 0.4], score=["score", "w", "h"], mean_over="g", confidence=0.9, columns="all"
        ),
    ),
    "summary, with errors": (DF, lambda p: p.summary(by=["g", "h"], metrics=ERRORS, confidence=0.9)),
    "summary, grid, with errors": (
        DF,
        lambda p: p.summary([0.5, None, 0.01], by="g", metrics=[*AREAS, ERRORS[2]], confidence=0.9),
    ),
    "summary, weighted, with errors": (
        DF,
        lambda p: p.summary(0.01, by="g", weight="w", metrics=ERRORS, confidence=0.9),
    ),
    "summary, of counts, eta frame, with errors": (
        COUNTS,
        lambda p: p.summary(ETAS, by="g", counts=("n_pos", "n_neg"), metrics=ERRORS, confidence=0.9),
    ),
    "compare, wide": (DF, lambda p: p.compare([0.5, 0.01], score=["score", "w"], by=["g", "h"])),
    "compare, own, weighted": (
        DF,
        lambda p: p.compare(score=["score", "w"], weight="h", metrics=ERRORS),
    ),
    "compare, eta frame": (DF, lambda p: p.compare(ETAS, score=["score", "w"], by="g", missing="drop")),
    "compare, uncertain eta frame": (
        DF,
        lambda p: p.compare(UNCERTAIN, score=["score", "w"], by="g", confidence=0.9, missing="drop"),
    ),
    "compare, clusters": (
        DF,
        lambda p: p.compare([0.5, 0.01], score=["score", "w"], by="g", cluster="h"),
    ),
    "compare, wide, at a target": (
        DF,
        lambda p: p.compare(
            [0.5, 0.01], score=["score", "w"], by="g", fpr=0.3, metrics=["fpr", BENEFIT], missing="drop"
        ),
    ),
    "compare, long, at a target": (
        LONG,
        lambda p: p.compare(
            model="m", id="row", score="s", eta=[0.5, 0.01], by="g", precision=0.3, metrics=BENEFIT
        ),
    ),
    "compare, long, in clusters": (
        LONG,
        lambda p: p.compare(0.1, model="m", id="row", score="s", by="g", cluster="h"),
    ),
    "compare, long": (
        LONG,
        lambda p: p.compare(model="m", id="row", score="s", eta=[0.5, 0.01], by="g"),
    ),
    "compare, of groups at a target": (
        DF,
        lambda p: p.compare(
            model="h",
            paired=False,
            eta=[0.5, 0.01],
            by="g",
            recall=0.5,
            metrics=["precision", "fpr"],
            adjust="holm",
        ),
    ),
    "compare, of groups at a target, weighted": (
        DF,
        lambda p: p.compare(
            0.01, model="h", paired=False, by="g", weight="w", recall=0.5, metrics=["precision", "f1"]
        ),
    ),
    "compare, of groups at a target, in clusters": (
        DF.with_row_index("row").with_columns(pl.col("row") // 2),
        lambda p: p.compare(
            0.01, model="h", paired=False, by="g", cluster="row", recall=0.5, metrics=["precision", "f1"]
        ),
    ),
    "compare, weighted, at a target": (
        DF.with_columns(v=pl.col("w") + 0.1),
        lambda p: p.compare(
            [0.5, 0.01], score=["score", "w"], by="g", weight="v", recall=0.5, metrics=["f1", BENEFIT]
        ),
    ),
    "compare, best and worst group": (
        DF,
        lambda p: p.compare(model="h", paired=False, eta=[0.5, 0.01], by="g", worst=True),
    ),
    "compare, of groups that share no prevalence": (
        DF,
        lambda p: p.compare(model="h", paired=False, metrics="roc_auc"),
    ),
    "compare, of cells": (
        CUMULATIVE.group_by("g", maintain_order=True).last(),
        lambda p: p.compare(model="g", paired=False, metrics=["recall", "fpr"], **CELLS),
    ),
    "compare, of groups": (DF, lambda p: p.compare(model="h", paired=False, eta=[0.5, 0.01], by="g")),
    "ranking": (DF, lambda p: p.ranking([0.5, 0.01], model="h", by="g")),
    "ranking, eta frame": (DF, lambda p: p.ranking(ETAS, model="h", by="g", metric="f1")),
    "ranking, uncertain eta frame": (
        DF,
        lambda p: p.ranking(UNCERTAIN, model="h", by="g", confidence=0.9),
    ),
    "ranking, own": (DF, lambda p: p.ranking(model="h", metric="roc_auc")),
    "ranking, of points": (
        DF,
        lambda p: p.ranking([0.5, 0.01], model="h", by="g", metric="mcc", precision=0.3),
    ),
    "ranking, at thresholds of models": (
        DF,
        lambda p: p.ranking([0.5, 0.01], model="g", metric="f1", threshold=THRESHOLDS.unique("g")),
    ),
    "ranking, of rates": (POINTS, lambda p: p.ranking(0.1, model="g", rates=("tpr", "fpr"))),
    "ranking, coarse": (DF, lambda p: p.ranking([0.5, 0.01], model="h", by="g", coarse=True)),
    "ranking, of points, with errors": (
        DF,
        lambda p: p.ranking(
            [0.5, 0.01], model="h", by="g", metric="precision", recall=0.5, confidence=0.9
        ),
    ),
    "ranking, with errors": (DF, lambda p: p.ranking([0.5, 0.01], model="h", by="g", confidence=0.9)),
    "ranking, paired, with errors": (
        LONG,
        lambda p: p.ranking([0.5, 0.01], model="m", id="row", score="s", by="g", confidence=0.9),
    ),
    "decision_curve": (DF, lambda p: p.decision_curve(by=["g", "h"])),
    "decision_curve, at etas, with bands": (
        DF,
        lambda p: p.decision_curve([0.5, 0.01], by="g", eta_train=0.25, confidence=0.9, weight="w"),
    ),
    "binormal": (DF, lambda p: p.binormal(by=["g", "h"])),
    "binormal, weighted": (DF, lambda p: p.binormal(1, by="g", weight="w")),
    "binormal, of counts": (COUNTS, lambda p: p.binormal(1, by="g", counts=("n_pos", "n_neg"))),
    "curve, smooth": (DF, lambda p: p.curve(by="g", smooth="binormal", metrics=EVERY)),
    "curve, smooth, weighted, long": (
        DF,
        lambda p: p.curve([0.5, 0.01], by="g", weight="w", smooth="binormal", thresholds=9, long=True),
    ),
    "summary, smooth": (
        DF,
        lambda p: p.summary([0.5, None, 0.01], by="g", smooth="binormal", metrics=SMOOTH),
    ),
    "summary, smooth, weighted, eta frame": (
        DF,
        lambda p: p.summary(ETAS, by=["g", "h"], weight="w", smooth="binormal"),
    ),
    "compare, long, several ids, dropping": (
        HOLES,
        lambda p: p.compare(model="m", id=["row", "h"], score="s", by="g", eta=0.1, missing="drop"),
    ),
    "curve, in a field": (
        DF,
        lambda p: p.curve(FIELD, by="h", confidence=0.9, metrics=FEW_IN_FIELD),
    ),
    "curve, in a field, uncertain eta": (
        DF,
        lambda p: p.curve(FIELD_ENDS, confidence=0.9, thresholds=[0.2, 0.5, 7]),
    ),
    "operating_points, in a field": (
        DF,
        lambda p: p.operating_points(FIELD_ENDS, by="h", confidence=0.9, **TARGETS),
    ),
    "operating_points, together": (
        DF,
        lambda p: p.operating_points([0.1, 0.4], by="g", together=True, recall=0.3, precision=0.12),
    ),
    "operating_points, together, promised": (
        DF,
        lambda p: p.operating_points([0.1, 0.4], by="g", together=True, **PROMISES),
    ),
    "operating_points, promised in clusters": (
        DF,
        lambda p: p.operating_points([None, 0.1], by="g", cluster="h", confidence=0.9, **PROMISES),
    ),
    "operating_points, promised with weights": (
        DF,
        lambda p: p.operating_points([None, 0.1], by="g", weight="w", **PROMISES),
    ),
    "operating_points, together, promised with weights": (
        DF,
        lambda p: p.operating_points(0.1, by="g", together=True, weight="w", **PROMISES),
    ),
    "operating_points, promised in clusters, from a threshold": (
        DF,
        lambda p: p.operating_points([None, 0.1], by="g", cluster="h", start=0.9, **PROMISES),
    ),
    "operating_points, promised at an uncertain eta": (
        DF,
        lambda p: p.operating_points(
            UNCERTAIN.with_columns(eta_confidence=0.9), by="g", **(PROMISES | {"guarantee": 0.9})
        ),
    ),
    "summary, in a field": (
        DF,
        lambda p: p.summary(FIELD, by="h", confidence=0.9),
    ),
    "summary, in a field, uncertain eta": (
        DF,
        lambda p: p.summary(FIELD_ENDS, confidence=0.9, metrics=AREAS_IN_FIELD),
    ),
    "decision_curve, in a field": (
        DF,
        lambda p: p.decision_curve(FIELD, by="h", confidence=0.9),
    ),
    "reweight": (DF, lambda p: p.reweight(FIELD, by="h", name="x")),
    "reweight, weighted": (DF, lambda p: p.reweight(FIELD, weight="w", name="x")),
    "reweight, dropped": (
        DF,
        lambda p: p.reweight(FIELD, score=["score"], missing="drop", name="x"),
    ),
    "counts, below frame": (DF, lambda p: p.counts(by="g", below=BELOW)),
    "sweep, below frame": (DF, lambda p: p.sweep(by="g", below=BELOW)),
    "sweep, null scores": (NULLS, lambda p: p.sweep(by=["g", "h"], missing="below")),
    "curve, below frame": (DF, lambda p: p.curve([None, 0.1], by="g", below=BELOW, confidence=0.9)),
    "curve, found": (DF, lambda p: p.curve(by="h", below=(50, None), confidence=0.9)),
    "summary, below frame": (
        DF,
        lambda p: p.summary([None, 0.1], by="g", below=BELOW, metrics=AREAS_IN_FIELD, confidence=0.9),
    ),
    "summary, null scores": (NULLS, lambda p: p.summary(0.1, by="h", missing="below")),
    "summary, coarse, below frame": (
        DF,
        lambda p: p.summary(by="g", below=BELOW, metrics=["roc_auc"], coarse=True),
    ),
    "operating_points, below frame, promised": (
        DF,
        lambda p: p.operating_points(0.1, by="g", below=BELOW, recall=0.3, guarantee=0.9),
    ),
    "ranking, below frame": (
        DF,
        lambda p: p.ranking(0.1, model="g", below=BELOW, metric="roc_auc", confidence=0.9),
    ),
    "compare, of groups, below frame": (
        DF,
        lambda p: p.compare(0.1, model="g", below=BELOW, paired=False, recall=0.3),
    ),
    "operating_points, below frame": (
        DF,
        lambda p: p.operating_points(0.1, by="g", below=BELOW, recall=0.5, fpr=0.1, confidence=0.9),
    ),
    "compare, null scores": (
        NULLS,
        lambda p: p.compare(0.1, score=["score", "w"], by="h", missing="below", confidence=0.9),
    ),
    "compare, below frame": (
        HOLES.drop_nulls("s"),
        lambda p: p.compare(
            0.1, model="m", id=["row", "h"], score="s", below=HOLES_BELOW, metrics="average_precision"
        ),
    ),
    "unpivot_scores, classes, mix": (
        DF.drop("label"),
        lambda p: p.unpivot_scores(label="h", scores={0: "score", 1: "w"}, mix={0: 1, 1: 2, 2: 3}),
    ),
    "unpivot_scores": (DF, lambda p: p.unpivot_scores(["score", "w"], name="m", row="row")),
    "unpivot_scores, classes": (
        DF.drop("label"),
        lambda p: p.unpivot_scores(label="h", scores={0: "score", 1: "w"}),
    ),
}


@cache
def answer(name: str) -> Any:
    """Return the table of a query of a DataFrame, which each process asks for once."""
    df, call = QUERIES[name]
    return call(df.prc)


__all__ = ["POINTS", "QUERIES", "answer"]
