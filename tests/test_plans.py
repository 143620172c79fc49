"""Promises about the query itself: lazy, native, streaming, portable, in documented order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_prcurve import metrics
from polars_prcurve.curve_metrics import CURVE_METRICS
from polars_prcurve.point_metrics import POINT_METRICS

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
POINTS = pl.DataFrame({"g": ["a"] * 3, "tpr": [0.2, 0.5, 1.0], "fpr": [0.0, 0.1, 1.0]})
ETAS = DF.select("g").unique().with_columns(eta=pl.lit(0.01))
EVERY = list(POINT_METRICS)
AREAS = [
    *(metric for metric in CURVE_METRICS.values() if not metric.on_hull),
    metrics.best("f1"),
    metrics.recall_at_precision(0.5),
    metrics.integrated("pr_auc", 0.01, 0.5),
]
SMOOTH = [
    *("average_precision", "pr_auc", "roc_auc", "min_max_average_precision"),
    metrics.precision_at_recall(0.5),
    metrics.integrated_average_precision(0.01, 0.5),
    metrics.integrated("pr_auc", 0.01, 0.5),
]
TARGETS: dict[str, Any] = {
    "threshold": [0.25, 7.0],
    "recall": [0.5, 1.0],
    "fpr": 0.1,
    "precision": 0.3,
    "predicted_positive_rate": [0.1, 0.0],
    "maximize": ["f1", "informedness"],
}

LONG = DF.prc.unpivot_scores(["score", "w"], name="m", row="row", score="s")
ERRORS = ["average_precision", "roc_auc", metrics.precision_at_recall(0.5), "pr_auc"]

QUERIES: dict[str, tuple[pl.DataFrame, Callable[[Any], Any]]] = {
    "counts": (DF, lambda p: p.counts(by="g")),
    "counts, weighted": (DF, lambda p: p.counts(by="g", weight="w")),
    "sweep": (DF, lambda p: p.sweep()),
    "sweep, grouped": (DF, lambda p: p.sweep(by=["g", "h"])),
    "sweep, weighted": (DF, lambda p: p.sweep(by="g", weight="w")),
    "sweep, integer weights": (DF, lambda p: p.sweep(by="g", weight="h")),
    "sweep, wide score": (DF, lambda p: p.sweep(by="g", score=(pl.col("score") * 1000).cast(pl.Int128))),
    "sweep, of counts": (COUNTS, lambda p: p.sweep(by="g", counts=("n_pos", "n_neg"))),
    "sweep, of rates": (POINTS, lambda p: p.sweep(by="g", rates=("tpr", "fpr"))),
    "sweep, reduced": (DF, lambda p: p.sweep(by="g", drop_intermediate=True)),
    "sweep, steps": (DF, lambda p: p.sweep(by="g", thresholds=10)),
    "sweep, listed": (DF, lambda p: p.sweep(by="g", thresholds=[0.25, 0.5])),
    "sweep, dropping": (DF, lambda p: p.sweep(by="g", missing="drop")),
    "curve, own": (DF, lambda p: p.curve(by="g")),
    "curve, one eta": (DF, lambda p: p.curve(0.01, by="g", metrics=EVERY)),
    "curve, grid": (DF, lambda p: p.curve([0.5, None, 0.01], by="g", metrics=EVERY)),
    "curve, long": (DF, lambda p: p.curve([0.5, 0.01], by="g", metrics=EVERY, long=True)),
    "curve, eta frame": (DF, lambda p: p.curve(ETAS, by=["g", "h"])),
    "curve, of rates": (POINTS, lambda p: p.curve([0.5, 0.01], by="g", rates=("tpr", "fpr"))),
    "summary": (DF, lambda p: p.summary(by=["g", "h"])),
    "summary, grid": (DF, lambda p: p.summary([0.5, None, 0.01], by="g", metrics=AREAS)),
    "summary, weighted": (DF, lambda p: p.summary(0.01, by="g", weight="w", metrics=AREAS)),
    "summary, eta frame": (DF, lambda p: p.summary(ETAS, by=["g", "h"])),
    "summary, of rates": (POINTS, lambda p: p.summary([0.5, 0.01], by="g", rates=("tpr", "fpr"))),
    "curve, with bands": (
        DF,
        lambda p: p.curve([0.5, None, 0.01], by="g", metrics=EVERY, confidence=0.9, long=True),
    ),
    "points, weighted, with bands": (
        DF,
        lambda p: p.operating_points(0.01, by="g", weight="w", confidence=0.9, **TARGETS),
    ),
    "sizes": (DF, lambda p: p.sample_size(by="g", recall=[0.5, 0.9], fpr=0.1, threshold=7.0)),
    "resolution": (DF, lambda p: p.resolution(by="g", recall=[0.5, 0.9], weight="w")),
    "points": (DF, lambda p: p.operating_points(by=["g", "h"], **TARGETS)),
    "points, grid": (DF, lambda p: p.operating_points([0.5, 0.01], by="g", **TARGETS, per=1e6)),
    "points, long": (DF, lambda p: p.operating_points(0.01, by="g", recall=0.5, long=True)),
    "points, weighted": (DF, lambda p: p.operating_points(0.01, by="g", weight="w", **TARGETS)),
    "points, of rates": (
        POINTS,
        lambda p: p.operating_points(0.1, by="g", rates=("tpr", "fpr"), recall=0.5, precision=0.2),
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
    "compare, wide": (DF, lambda p: p.compare(["score", "w"], eta=[0.5, 0.01], by=["g", "h"])),
    "compare, own, weighted": (DF, lambda p: p.compare(["score", "w"], weight="h", metrics=ERRORS)),
    "compare, eta frame": (DF, lambda p: p.compare(["score", "w"], eta=ETAS, by="g", missing="drop")),
    "compare, long": (
        LONG,
        lambda p: p.compare(model="m", id="row", score="s", eta=[0.5, 0.01], by="g"),
    ),
    "ranking": (DF, lambda p: p.ranking([0.5, 0.01], model="h", by="g")),
    "ranking, eta frame": (DF, lambda p: p.ranking(ETAS, model="h", by="g", metric="f1")),
    "ranking, own": (DF, lambda p: p.ranking(model="h", metric="roc_auc")),
    "ranking, of points": (
        DF,
        lambda p: p.ranking([0.5, 0.01], model="h", by="g", metric="mcc", precision=0.3),
    ),
    "ranking, of rates": (POINTS, lambda p: p.ranking(0.1, model="g", rates=("tpr", "fpr"))),
    "ranking, with errors": (DF, lambda p: p.ranking([0.5, 0.01], model="h", by="g", confidence=0.9)),
    "ranking, paired, with errors": (
        LONG,
        lambda p: p.ranking([0.5, 0.01], model="m", id="row", score="s", by="g", confidence=0.9),
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
    "unpivot_scores": (DF, lambda p: p.unpivot_scores(["score", "w"], name="m", row="row")),
    "one_vs_rest": (DF.drop("label"), lambda p: p.one_vs_rest(label="h", scores={0: "score", 1: "w"})),
}


def assert_same(name: str, found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """To the last bit; variances are sums of floats, and engines add them in different orders."""
    if "with errors" in name or "compare" in name:
        assert_frame_equal(found, expected, check_exact=False, rel_tol=1e-12, abs_tol=1e-15)
        exact = ["eta", "value" if "value" in expected else "difference"]
        found, expected = found.select(exact), expected.select(exact)
    assert_frame_equal(found, expected, check_exact=True)


@pytest.mark.parametrize("name", QUERIES)
def test_both_engines_and_both_doors_give_the_same_table(name: str, tmp_path: Path) -> None:
    df, call = QUERIES[name]
    eager = call(df.prc)
    query = call(df.lazy().prc)
    assert isinstance(eager, pl.DataFrame)
    assert isinstance(query, pl.LazyFrame)
    assert query.collect_schema() == eager.schema
    df.write_parquet(tmp_path / "rows.parquet", row_group_size=50)
    scanned = call(pl.scan_parquet(tmp_path / "rows.parquet").prc)
    for engine in ("streaming", "in-memory"):
        assert_same(name, query.collect(engine=engine), eager)
        assert_same(name, scanned.collect(engine=engine), eager)
    assert not any(column.startswith("_prc_") for column in eager.columns)


@pytest.mark.parametrize("name", QUERIES)
def test_an_empty_table_gives_an_empty_table_of_the_same_schema(name: str) -> None:
    df, call = QUERIES[name]
    full = call(df.lazy().prc).collect_schema()
    for engine in ("streaming", "in-memory"):
        empty = call(df.clear().lazy().prc).collect(engine=engine)
        assert empty.is_empty()
        assert empty.schema == full


@pytest.mark.parametrize("name", QUERIES)
def test_the_plan_holds_no_python(name: str) -> None:
    df, call = QUERIES[name]
    query = call(df.lazy().prc)
    assert b"cloudpickle" not in query.serialize()
    assert "PYTHON" not in query.explain(optimized=False).upper()


@pytest.mark.parametrize("name", QUERIES)
def test_the_plan_runs_on_the_streaming_engine_alone(name: str, tmp_path: Path) -> None:
    df, call = QUERIES[name]
    df.write_parquet(tmp_path / "rows.parquet")
    query = call(pl.scan_parquet(tmp_path / "rows.parquet").prc)
    drawn = query.show_graph(plan_stage="physical", engine="streaming", raw_output=True)
    nodes = drawn.split("];")
    for fallback in ("in-memory-map", "in-memory-join", "columnar-function"):
        assert not [node for node in nodes if f'label="{fallback}' in node], name


def test_a_plan_runs_in_an_interpreter_without_the_package(tmp_path: Path) -> None:
    for number, (name, (df, call)) in enumerate(QUERIES.items()):
        call(df.lazy().prc).serialize(tmp_path / f"{number}.plan")
        call(df.prc).write_ipc(tmp_path / f"{number}.arrow")
        assert name
    code = (
        "import sys, polars as pl\n"
        "from pathlib import Path\n"
        "from polars.testing import assert_frame_equal\n"
        "plans = sorted(Path(sys.argv[1]).glob('*.plan'))\n"
        "for plan in plans:\n"
        "    there = pl.LazyFrame.deserialize(plan).collect()\n"
        "    here = pl.read_ipc(plan.with_suffix('.arrow'))\n"
        "    rough = {'standard_error', 'resolved'} & set(here.columns)\n"
        "    close = {'rel_tol': 1e-12, 'abs_tol': 1e-15} if rough else {'check_exact': True}\n"
        "    assert_frame_equal(there, here, **close)\n"
        "assert 'polars_prcurve' not in sys.modules\n"
        "print(len(plans))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == [str(len(QUERIES))], done.stderr


@pytest.mark.parametrize("name", QUERIES)
def test_polars_cloud_would_take_the_plan(name: str) -> None:
    """By Polars' own check, which is not public: no function of the user, no local file."""
    cloud = pytest.importorskip("polars._utils.cloud")
    df, call = QUERIES[name]
    query = call(df.lazy().prc).sink_parquet("s3://bucket/table.parquet", lazy=True)
    assert cloud.prepare_cloud_plan(query)


def test_nothing_is_collected_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {name: call for name, (_, call) in QUERIES.items() if "eta frame" not in name}
    lazy = {name: df.lazy() for name, (df, _) in QUERIES.items()}

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("collected")

    monkeypatch.setattr(pl.LazyFrame, "collect", refuse)
    for name, call in calls.items():
        assert isinstance(call(lazy[name].prc), pl.LazyFrame)
