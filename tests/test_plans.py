"""Promises about the query itself: lazy, native, streaming, portable, in documented order.

That no bit depends on the order of rows, the engine or the door is tested here, for all queries. Other
files test it only where no query reaches, and say so: methods that collect, other dtypes, more rows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import metrics
from tests.support.comparing import assert_same
from tests.support.queries import QUERIES, answer
from tests.support.tiers import slow_unless

SLOW = {"curve, with bands of every metric"}
every_query = pytest.mark.parametrize("name", slow_unless(lambda name: name not in SLOW, QUERIES))

IN_ORDER = ("reweight", "unpivot_scores")
"""Methods that return the rows of the table, in their order."""


@pytest.mark.quick_cases(16)
@pytest.mark.parametrize("name", QUERIES)
def test_the_order_of_rows_the_door_and_the_engine_change_no_bit(name: str, tmp_path: Path) -> None:
    """A file is scanned in blocks on the streaming engine; few rows of a DataFrame stay in memory."""
    df, call = QUERIES[name]
    eager = answer(name)
    rows = df if name.startswith(IN_ORDER) else df.sample(fraction=1, shuffle=True, seed=1)
    rows.write_parquet(tmp_path / "rows.parquet", row_group_size=50)
    query = call(pl.scan_parquet(tmp_path / "rows.parquet").prc)
    assert isinstance(eager, pl.DataFrame)
    assert isinstance(query, pl.LazyFrame)
    assert query.collect_schema() == eager.schema
    assert_same(query.collect(engine="streaming"), eager)
    assert not any(column.startswith("_prc_") for column in eager.columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUERIES)
def test_either_engine_gives_the_same_bits_from_memory(name: str) -> None:
    df, call = QUERIES[name]
    rows = df if name.startswith(IN_ORDER) else df.sample(fraction=1, shuffle=True, seed=2)
    assert_same(call(rows.lazy().prc).collect(engine=engine_in_turn(name)), answer(name))


def engine_in_turn(name: str) -> Any:
    """Return one engine for two queries in a row, and the other one for the next two."""
    return ("in-memory", "streaming")[list(QUERIES).index(name) // 2 % 2]


EMPTIED = [name for name in QUERIES if name != "compare, below frame"]
"""Without the rows of each model, what is below them no longer adds up, and that raises."""


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in list(QUERIES)[1::13], EMPTIED))
def test_an_empty_table_gives_an_empty_table_of_the_same_schema(name: str) -> None:
    df, call = QUERIES[name]
    full = call(df.lazy().prc).collect_schema()
    empty = call(df.clear().lazy().prc).collect(engine=engine_in_turn(name))
    assert empty.is_empty() or "below frame" in name  # which has groups of its own
    assert empty.schema == full


DIVISION = re.compile(r" / (?:dyn \w+: )?(?P<number>-?\d[\d.]*(?:e-?\d+)?)(?=[\s)\].]|$)", re.M)
NUMBER = re.compile(r"\(*-?\d[\d.]*(\.cast\(\S+)?")


def list_divisions_by_numbers(plan: str) -> list[tuple[str, float]]:
    """Return what stands before each division by a number, up to a space, and the number."""
    return [
        (
            plan[plan.rfind(" ", 0, at.start()) + 1 : at.start()].rsplit(maxsplit=1)[-1],
            float(at["number"]),
        )
        for at in DIVISION.finditer(plan)
    ]


OF_USER = ("eta frame", "below frame", "thresholds of", "uncertain eta")
"""Queries with frames of the user, which are in memory, and are collected at the call."""


@pytest.mark.quick_cases(60)
@every_query
def test_a_call_collects_nothing_and_its_plan_holds_no_python_and_no_long_expression(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polars divides a column by a number as it multiplies by the reciprocal, which rounds once more.

    Of a column of one row it does not, so that the last bit would depend on how rows are cut in blocks.
    A power of two has an exact reciprocal, and two numbers are divided as they are.

    Polars Cloud would take the plan, too, by Polars' own check, which is not public: no function of the
    user, no local file.
    """
    df, call = QUERIES[name]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("collected")

    door = df.lazy().prc
    with monkeypatch.context() as patch:
        if not any(part in name for part in OF_USER):
            patch.setattr(pl.LazyFrame, "collect", refuse)
        query = call(door)
    assert isinstance(query, pl.LazyFrame)
    assert b"cloudpickle" not in query.serialize()
    plan = query.explain(optimized=False)
    assert "PYTHON" not in plan.upper()
    divisions = [at for at in list_divisions_by_numbers(plan) if not NUMBER.fullmatch(at[0])]
    rounding = [at for at in divisions if abs(math.frexp(at[1])[0]) not in (0, 0.5)]
    assert not rounding, f"multiply by the reciprocal in place of dividing: {rounding}"
    # The optimizer takes time by more than the length: one expression of 100,000 letters took 60 ms.
    longest = max(map(len, re.split(r'\.alias\("|\n', plan)))
    assert longest < 40_000, "bind what an expression holds several times as a column first"
    cloud = pytest.importorskip("polars._utils.cloud")
    assert cloud.prepare_cloud_plan(query.sink_parquet("s3://bucket/table.parquet", lazy=True))


STREAMED = [name for name in QUERIES if not name.endswith(", means")]
"""All but means over groups, which gather one row of each group in lists."""


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in list(QUERIES)[2::13], STREAMED))
def test_the_plan_runs_on_the_streaming_engine_alone(name: str, tmp_path: Path) -> None:
    df, call = QUERIES[name]
    df.write_parquet(tmp_path / "rows.parquet")
    query = call(pl.scan_parquet(tmp_path / "rows.parquet").prc)
    drawn = query.show_graph(plan_stage="physical", engine="streaming", raw_output=True)
    nodes = drawn.split("];")
    for fallback in ("in-memory-map", "in-memory-join", "columnar-function"):
        assert not [node for node in nodes if f'label="{fallback}' in node], name


def test_few_rows_run_in_memory_unless_the_user_chose_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    df = pl.DataFrame({"score": [0.9, 0.8, 0.2] * 20, "label": [1, 0, 0] * 20})
    asked: list[str] = []
    collect = pl.LazyFrame.collect

    def note(query: pl.LazyFrame, *, engine: Any = "auto") -> pl.DataFrame:
        asked.append(engine)
        return collect(query, engine=engine)

    monkeypatch.setattr(pl.LazyFrame, "collect", note)
    monkeypatch.delenv("POLARS_ENGINE_AFFINITY", raising=False)
    question: dict[str, Any] = {"metrics": "best(f1)", "columns": "all"}  # takes a plan
    few = df.prc.summary(0.01, **question)
    df.prc.summary(np.linspace(0, 1, 2000), **question)  # 120,000 rows, each at its prevalence
    df.prc.summary(pl.LazyFrame({"eta": [0.01]}), **question)  # which may have any number of rows
    monkeypatch.setenv("POLARS_ENGINE_AFFINITY", "streaming")
    assert_same(df.prc.summary(0.01, **question), few)
    assert asked == ["in-memory", "auto", "auto", "auto"]


ONE_GROUP: dict[str, Callable[[Any], Any]] = {
    "areas, clustered": lambda prc: prc.summary(
        [0.001, 0.2], confidence=0.9, cluster="c", columns="all"
    ),
    "precision at a recall": lambda prc: prc.summary(
        [0.01, 0.3],
        metrics=[metrics.precision_at_recall(at) for at in (0.3, 0.5, 0.8)],
        confidence=0.9,
        columns="all",
    ),
    "bands, clustered": lambda prc: prc.curve([0.01, None], confidence=0.9, cluster="c"),
    "models at a target": lambda prc: prc.compare(
        [0.01, 0.2], score=["score", "b"], recall=0.5, metrics="precision", columns="all"
    ),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ONE_GROUP)
def test_one_group_gives_the_same_bits_on_both_engines(name: str) -> None:
    """One engine may hold a total of the only group as a single number, and divides by it otherwise."""
    rng = np.random.default_rng(0)
    for n in (25, 60, 150):
        label = np.arange(n) % 5 == 0
        score = rng.normal(size=n) + label
        columns = {"score": score, "b": rng.normal(size=n) + score, "c": rng.integers(0, n // 4, n)}
        query = ONE_GROUP[name](pl.LazyFrame({"label": label, **columns}).prc)
        assert_same(query.collect(engine="in-memory"), query.collect(engine="streaming"))
