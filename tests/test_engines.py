"""Counts from other engines: the same table, the same refusals, bit for bit, also on two workers."""

from __future__ import annotations

import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, metrics, prc
from polars_prcurve.core.ground.query_guards import translate_errors
from polars_prcurve.core.inputs.column_reader import list_columns
from tests.support.all_metrics import ALL_CURVE_METRICS
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import Table, tables

pytestmark = [
    pytest.mark.extras,
    # narwhals announces a package for Dask that is yet to come
    pytest.mark.filterwarnings("ignore:Dask support is moving out of Narwhals:FutureWarning"),
]

INF, NAN = float("inf"), float("nan")
COUNTS = ("n_pos", "n_neg")
COUNTED = {"counts": COUNTS}
PAGE = Path(__file__).parent.parent / "docs" / "engines.md"


def engines() -> Any:
    from polars_prcurve import engines as module

    return module


# Where a table may be -------------------------------------------------------------------------


def duckdb_relation(df: pl.DataFrame) -> Any:
    import duckdb

    return duckdb.from_arrow(df.to_arrow())


def ibis_table(df: pl.DataFrame) -> Any:
    import ibis

    return ibis.memtable(df.to_arrow())


def dask_table(df: pl.DataFrame) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(df.to_pandas(), npartitions=3)


HOLDERS: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda df: df,
    "polars, lazy": lambda df: df.lazy(),
    "pyarrow": lambda df: df.to_arrow(),
    "pandas": lambda df: df.to_pandas(),
    "pandas, arrow": lambda df: df.to_pandas(use_pyarrow_extension_array=True),
    "duckdb": duckdb_relation,
    "ibis": ibis_table,
    "dask": dask_table,
}
RUNNING_SUMS = [engine for engine in HOLDERS if engine != "dask"]


def here(native: Any) -> pl.DataFrame:
    """A table of any engine as a Polars DataFrame."""
    import narwhals.stable.v2 as nw

    if isinstance(native, pl.LazyFrame):
        return native.collect()
    frame: pl.DataFrame = nw.from_native(native).lazy().collect("polars").to_native()
    return frame


def in_order(found: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    return found.sort(*by, "score", descending=[*[False] * len(by), True])


def assert_counts(native: Any, expected: pl.DataFrame, by: list[str]) -> None:
    """The rows of `.prc.counts` in any order; exact, but for sums of floats."""
    found = here(native)
    assert found.columns == expected.columns
    assert found.schema["n_pos"] == expected.schema["n_pos"]
    exact = expected.schema["n_pos"] == pl.Int64
    assert_frame_equal(
        in_order(found, by), expected, check_dtypes=False, check_exact=exact, rel_tol=1e-12, abs_tol=0
    )


# Values ---------------------------------------------------------------------------------------


def scores(n: int = 600) -> pl.DataFrame:
    """Ties, both zeros, infinities, null groups, and labels and weights of many kinds."""
    draw = random.Random(7)
    values = [-INF, INF, -0.0, 0.0, 5e-324, *(round(draw.gauss(0, 1), 1) for _ in range(30))]
    label = [draw.random() < 0.3 for _ in range(n)]
    return pl.DataFrame(
        {
            "model": [draw.choice(["a", "b", "é", "", None]) for _ in range(n)],
            "fold": [draw.choice([1, 2, None]) for _ in range(n)],
            "score": [draw.choice(values) for _ in range(n)],
            "rank": [draw.choice([2**53, 2**53 + 1, -(2**62), 0]) for _ in range(n)],
            "flag": [draw.choice([True, False]) for _ in range(n)],
            "label": [int(one) for one in label],
            "truth": label,
            "sign": [1 if one else -1 for one in label],
            "kind": ["fraud" if one else draw.choice(["fine", "odd"]) for one in label],
            "w": [draw.choice([0.0, 0.1, 0.7, 3.0, 1e5]) for _ in range(n)],
            "times": [draw.choice([0, 1, 2, 3]) for _ in range(n)],
        }
    )


FORMS: dict[str, dict[str, Any]] = {
    "no group": {},
    "a group": {"by": "model"},
    "groups": {"by": ["model", "fold"]},
    "Boolean label": {"by": "model", "label": "truth"},
    "-1 and 1": {"by": "model", "label": "sign"},
    "pos_label": {"by": "model", "label": "kind", "pos_label": "fraud"},
    "large integers": {"by": "fold", "score": "rank"},
    "Boolean score": {"by": "model", "score": "flag"},
    "weights": {"by": "model", "weight": "w"},
    "whole weights": {"by": "model", "weight": "times"},
}


@pytest.mark.parametrize("engine", HOLDERS)
def test_counts_are_those_of_the_frame_method(engine: str) -> None:
    df = scores()
    native = HOLDERS[engine](df.with_columns(pl.col("fold").fill_null(0)) if engine == "dask" else df)
    for form in FORMS.values():
        frame = here(native)
        found = engines().counts(native, **form)
        assert type(found) is type(native)
        assert_counts(found, frame.prc.counts(**form), list_columns("by=", form.get("by")))


@pytest.mark.parametrize("engine", HOLDERS)
def test_missing_values_are_dropped_when_asked(engine: str) -> None:
    df = pl.DataFrame(
        {
            "model": ["a", "a", None, "b", "b", "b", None],
            "score": [0.5, None, 0.5, NAN, 0.1, 0.5, 0.2],
            "label": [1, 0, 1, 0, 1, None, 0],
            "w": [0.5, 1.0, 2.0, 1.0, 1.0, 1.0, None],
        }
    )
    native = HOLDERS[engine](df)
    for form in ({}, {"by": "model"}, {"by": "model", "weight": "w"}):
        found = engines().counts(native, missing="drop", **form)
        assert_counts(found, df.prc.counts(missing="drop", **form), list_columns("by=", form.get("by")))


@pytest.mark.parametrize("engine", HOLDERS)
def test_an_empty_table_has_empty_counts(engine: str) -> None:
    found = here(engines().counts(HOLDERS[engine](scores().clear()), by="fold", score="rank"))
    assert found.height == 0
    assert found.columns == ["fold", "score", "n_pos", "n_neg"]


KEYS = ["none", "String", "Int64", "Boolean", "Date", "Float64", "two"]
TYPES = [pl.Float64(), pl.Float32(), pl.Boolean(), pl.Int8(), pl.Int64(), pl.UInt64(), pl.Decimal(15, 2)]


def columns_of(table: Table) -> dict[str, Any]:
    return {"by": table.by, "label": "truth", "weight": table.weight}


def with_truth(table: Table) -> pl.DataFrame:
    return table.frame.with_columns(truth=table.positive)


def list_amounts(table: Table) -> tuple[str, ...]:
    """Return the columns of counts that add up: with weights, sums of their squares, too."""
    squares = ("n_pos_squares", "n_neg_squares") if table.weight is not None else ()
    return ("n_pos", "n_neg", *squares)


def assert_same_counts(found: pl.DataFrame, expected: pl.DataFrame, table: Table) -> None:
    """Compare counts; next to weights of another size, the squares of the smallest are cut."""
    assert found.columns == expected.columns
    squares = cs.by_name(list_amounts(table)[2:])
    exact = table.weight is None
    assert_frame_equal(
        found.select(~squares), expected.select(~squares), check_exact=exact, rel_tol=1e-12, abs_tol=0
    )
    for name in list_amounts(table)[2:]:
        largest = expected[name].max() or 0.0
        assert_frame_equal(
            found.select(name), expected.select(name), rel_tol=1e-12, abs_tol=1e-12 * largest
        )


@examples(40)
@given(tables(keys=KEYS, scores=TYPES, weights=["", "small integers", "floats"], labels=False))
def test_any_table_in_duckdb(table: Table) -> None:
    df, by = with_truth(table), table.by
    how = columns_of(table)
    found = here(engines().counts(duckdb_relation(df), **how)).cast({"score": table.score_dtype})
    # As DuckDB holds -0.0 and 0.0 for two groups.
    merged = found.prc.counts(by=by, counts=list_amounts(table))
    assert_same_counts(merged, df.prc.counts(**how), table)
    if "g" not in by or df.schema["g"] != pl.Float64:
        assert found.height == merged.height


# What is refused ------------------------------------------------------------------------------

BAD: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "null score": ({"score": [None, 0.1, None]}, {}),
    "NaN score": ({"score": [NAN, 0.1, 0.2]}, {}),
    "null label": ({"label": [1, None, 0]}, {}),
    "label of three kinds": ({"label": [1, 2, 0]}, {}),
    "label that is mixed": ({"label": [1, -1, 0]}, {}),
    "misspelt pos_label": ({}, {"label": "kind", "pos_label": "fruad"}),
    "null weight": ({"w": [1.0, None, 2.0]}, {"weight": "w"}),
    "NaN weight": ({"w": [1.0, NAN, 2.0]}, {"weight": "w"}),
    "negative weight": ({"w": [1.0, -1.0, 2.0]}, {"weight": "w"}),
    "infinite weight": ({"w": [1.0, INF, 2.0]}, {"weight": "w"}),
}


def refused(call: Callable[[], Any]) -> str:
    """What is said, by the call or by the query."""
    with pytest.raises(PrcError) as caught, translate_errors():
        here(call())
    return str(caught.value)


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("engine", HOLDERS)
def test_bad_values_are_refused_in_the_same_words(engine: str, case: str) -> None:
    values, how = BAD[case]
    good = {"score": [0.3, 0.1, 0.2], "label": [1, 0, 0], "kind": ["fraud", "fine", "fine"]}
    df = pl.DataFrame({**good, "w": [1.0, 2.0, 3.0], **values})
    frame = here(HOLDERS[engine](df))  # pandas takes NaN for null
    expected = refused(lambda: frame.prc.counts(**how))
    assert refused(lambda: engines().counts(HOLDERS[engine](df), **how)) == expected
    if engine in RUNNING_SUMS:
        reduced = lambda: engines().counts(HOLDERS[engine](df), thresholds="corners", **how)  # noqa: E731
        assert refused(reduced) == expected


@pytest.mark.parametrize(
    "how",
    [
        {"score": "scroe"},
        {"by": ["model", "flod"]},
        {"label": "kind"},
        {"score": "kind"},
        {"weight": "kind"},
        {"pos_label": "yes"},
    ],
)
@pytest.mark.parametrize("engine", ["pandas", "duckdb", "ibis"])
def test_bad_arguments_are_refused_in_the_same_words(engine: str, how: dict[str, Any]) -> None:
    with pytest.raises(PrcError) as expected:
        scores(9).prc.counts(**how)
    with pytest.raises(PrcError) as found:
        engines().counts(HOLDERS[engine](scores(9)), **how)
    assert str(found.value) == str(expected.value)


def test_what_is_refused_here_only() -> None:
    counts, df = engines().counts, scores(9)
    with pytest.raises(PrcError, match=r"^compute the column first, and pass its name as by=.* got 7"):
        counts(df, by=["model", 7])
    with pytest.raises(PrcError, match=r"^compute the column first, and pass its name as label="):
        counts(df, label=pl.col("kind") == "fraud")
    with pytest.raises(PrcError, match=r"^expected a table of pandas, .* got list$"):
        counts([0.1, 0.2])
    with pytest.raises(PrcError, match=r'^missing= takes "raise" or "drop"; got \'below\''):
        counts(df, missing="below")
    with pytest.raises(PrcError, match=r'^thresholds= takes "corners"; got 20'):
        counts(df, thresholds=20)
    with pytest.raises(PrcError, match=r"^pass thresholds= for a whole table, or positives="):
        counts(df, thresholds="corners", positives=df)
    with pytest.raises(PrcError, match=r"^positives= lacks the column 'model'; did you mean 'mode'\?"):
        counts(df, by="model", positives=df.rename({"model": "mode"}))
    with pytest.raises(PrcError, match=r"^positives= takes scores that are integers or .* got Boolean"):
        counts(df, score="flag", positives=df.select("score"))
    with pytest.raises(PrcError, match=r"thresholds=.corners.*positives= is for shards in pandas"):
        counts(duckdb_relation(df), positives=df)
    with pytest.raises(PrcError, match=r"^call counts.. on each partition.* needs running sums"):
        counts(dask_table(df), thresholds="corners")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals.stable.v2", None)
    with pytest.raises(PrcError, match='pip install "narwhals>='):
        engines().counts(scores(9))


def test_a_lazy_table_is_not_read() -> None:
    bad = pl.LazyFrame({"score": [NAN, 0.1], "label": [1, 0]})
    for how in ({}, {"thresholds": "corners"}):
        query = engines().counts(bad, **how)
        for asked in (query, query.select("n_pos"), query.head(1), query.select(pl.len())):
            with pytest.raises(pl.exceptions.InvalidOperationError, match="NaN in 1 row"):
                asked.collect()


# Counts of parts add up -----------------------------------------------------------------------


def parted(df: pl.DataFrame, part_of: list[int]) -> list[pl.DataFrame]:
    """The rows of each part, the parts in an order of their own."""
    numbered = df.with_columns(part=pl.Series(part_of, dtype=pl.Int64))
    return [numbered.filter(pl.col("part") == part).drop("part") for part in dict.fromkeys(part_of)]


@examples(80)
@given(tables(keys=KEYS, weights=["", "floats"], labels=False, min_size=1), st.data())
def test_counts_of_parts_add_up_in_any_order(table: Table, data: st.DataObject) -> None:
    df, how = with_truth(table), columns_of(table)
    n = df.height
    part_of = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    parts = [part.prc.counts(**how) for part in parted(df, part_of)]
    tallied = {"by": table.by, "counts": list_amounts(table)}
    at_once = pl.concat(parts).prc.counts(**tallied)
    one_by_one = parts[0]
    for part in parts[1:]:
        one_by_one = pl.concat([part, one_by_one]).prc.counts(**tallied)
    for merged in (at_once, one_by_one):
        assert_same_counts(merged, df.prc.counts(**how), table)


# Nearly distinct scores -----------------------------------------------------------------------

ETAS = [0.0, 1e-6, 0.01, 0.5, 1.0, None]


def test_every_metric_is_tried() -> None:
    names = {metric.name.partition("(")[0] for metric in ALL_CURVE_METRICS}
    for name in metrics.__all__:
        value = getattr(metrics, name)
        made = isinstance(value, metrics.CurveMetric) or (
            callable(value) and "CurveMetric" in str(getattr(value, "__annotations__", {}).get("return"))
        )
        assert not made or name in names or name == "at_threshold", name  # which arrays do not take


WHERE_NOTHING_IS_FOUND = [
    m
    for m in ALL_CURVE_METRICS
    if m.name.startswith(("best(spec", "best(net", "best(lr_neg", "recall_at_fpr", "recall_at_alerts"))
]
"""These can be at the highest scores of all, before the first positive."""
WHERE_ALERTS_END = [
    m for m in ALL_CURVE_METRICS if m.name.startswith(("precision_at_fpr", "precision_at_alerts"))
]
"""These count the negatives below the last positive that is within a limit, which no corner tells."""


def assert_rows_of_the_sweep(reduced: pl.DataFrame, df: pl.DataFrame, by: Any) -> None:
    """Each row holds what has this score or more."""
    sweep, keys = reduced.prc.sweep(by=by, **COUNTED), list_columns("by=", by)
    how: Any = {"on": keys, "nulls_equal": True, "maintain_order": "left"} if keys else {"how": "cross"}
    pairs = sweep.select(*keys, "threshold").join(df, **how)
    above = pairs.filter(pl.col("score") >= pl.col("threshold"))
    tp, fp = (positive.sum().cast(pl.Int64) for positive in (pl.col("truth"), ~pl.col("truth")))
    by_hand = above.group_by(*keys, "threshold", maintain_order=True).agg(tp=tp, fp=fp)
    assert_same(by_hand, sweep.select(*keys, "threshold", "tp", "fp"))


def assert_same_areas(reduced: pl.DataFrame, df: pl.DataFrame, by: Any, asked: list[Any]) -> None:
    """Every metric of a curve, bit for bit."""
    found = reduced.prc.summary(ETAS, metrics=asked, by=by, columns="all", **COUNTED)
    assert_same(found, df.prc.summary(ETAS, metrics=asked, by=by, label="truth", columns="all"))


def without(asked: list[Any]) -> list[Any]:
    return [metric for metric in ALL_CURVE_METRICS if metric not in asked]


NUMBERS = [pl.Float64(), pl.Float32(), pl.Int8(), pl.Int64(), pl.UInt64(), pl.Int128()]


@st.composite
def shards(draw: st.DrawFn) -> tuple[Any, list[pl.DataFrame]]:
    """Group columns, and the rows of a table in a few parts."""
    keys = [key for key in KEYS if key != "Float64"]  # for NaN is not joined with NaN
    table = draw(tables(keys=keys, scores=NUMBERS, weights=[""], labels=False, min_size=1, max_size=40))
    n = table.frame.height
    part_of = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return table.by, parted(with_truth(table), part_of)


def reduced_at_positives(by: Any, parts: list[pl.DataFrame]) -> pl.DataFrame:
    counts, how = engines().counts, {"by": by, "label": "truth"}
    positives = pl.concat(counts(part, **how).filter(pl.col("n_pos") > 0) for part in parts)
    return pl.concat(counts(part, positives=positives, **how) for part in parts)


@examples(60)
@given(shards())
def test_runs_of_negatives_in_one_row(drawn: tuple[Any, list[pl.DataFrame]]) -> None:
    by, parts = drawn
    df = pl.concat(parts)
    whole = engines().counts(df, by=by, label="truth", thresholds="corners")
    expected = df.prc.sweep(thresholds="corners", by=by, label="truth")
    assert_same(whole.prc.sweep(by=by, **COUNTED), expected)
    reduced = reduced_at_positives(by, parts)
    assert_rows_of_the_sweep(reduced, df, by)
    n = {"p": pl.col("n_pos").gt(0).sum(), "n": pl.len()}
    rows = reduced.prc.counts(by=by, **COUNTED)
    most = rows.group_by(by).agg(**n) if by else rows.select(**n)
    assert (most["n"] <= 2 * most["p"] + 1).all()


@examples(8)
@given(shards())
def test_every_metric_of_the_reduced_tables(drawn: tuple[Any, list[pl.DataFrame]]) -> None:
    by, parts = drawn
    df = pl.concat(parts)
    whole = engines().counts(df, by=by, label="truth", thresholds="corners")
    assert_same_areas(whole, df, by, without(WHERE_ALERTS_END))
    others = without([*WHERE_NOTHING_IS_FOUND, *WHERE_ALERTS_END])
    assert_same_areas(reduced_at_positives(by, parts), df, by, others)


def test_errors_and_targets_of_the_reduced_table() -> None:
    df = scores().with_columns(score=pl.col("score") + pl.int_range(pl.len()) / 7)
    df = df.filter(pl.col("score").is_finite())
    reduced = engines().counts(df, by="model", thresholds="corners")
    asked = {
        "by": "model",
        "metrics": ["average_precision", "roc_auc", metrics.precision_at_recall(0.5)],
    }
    assert_frame_equal(
        reduced.prc.summary(0.01, confidence=0.9, columns="all", **COUNTED, **asked),
        df.prc.summary(0.01, confidence=0.9, columns="all", **asked),
        rel_tol=1e-12,
    )
    targets = {
        "recall": [0.1, 0.5, 1.0],
        "fpr": [0.0, 0.01, 0.2, 0.5],
        "precision": [0.004, 0.02, 0.5],
        "predicted_positive_rate": [0.003, 0.1],
        "maximize": ["f1", "mcc"],
    }
    points = (
        t.prc.operating_points(0.01, by="model", columns="all", **targets, **how)
        for t, how in ((reduced, COUNTED), (df, {}))
    )
    found, expected = (table.select("model", "criterion", "target", "recall") for table in points)
    assert_same(found, expected)


@examples(15)
@given(tables(keys=["none", "String"], weights=["floats"], labels=False, scores=[pl.Float64()]))
def test_runs_of_negatives_with_weights(table: Table) -> None:
    df, how = with_truth(table).filter(pl.col("w") > 0), columns_of(table)
    asked = [
        metric
        for metric in ALL_CURVE_METRICS
        if "random" not in metric.name and "worst" not in metric.name
    ]
    expected = df.prc.summary([0.01, 0.5], metrics=asked, columns="all", **how)
    reduced = engines().counts(df, thresholds="corners", **how)
    found = reduced.prc.summary([0.01, 0.5], metrics=asked, by=table.by, columns="all", **COUNTED)
    assert_frame_equal(found, expected, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("engine", RUNNING_SUMS)
def test_runs_of_negatives_on_each_engine(engine: str) -> None:
    df = scores().with_columns(score=pl.col("score") + pl.int_range(pl.len()) / 7)
    native = HOLDERS[engine](df)
    for by in ("model", None):
        reduced = engines().counts(native, by=by, label="truth", thresholds="corners")
        assert type(reduced) is type(native)
        expected = df.prc.sweep(by=by, label="truth", thresholds="corners")
        assert_same(here(reduced).prc.sweep(by=by, **COUNTED), expected)
        assert here(reduced).height < df.height * 0.8


@pytest.mark.parametrize("engine", ["polars", "polars, lazy", "pyarrow", "pandas", "pandas, arrow"])
def test_shards_in_memory(engine: str) -> None:
    df = scores().with_columns(score=pl.col("score") + pl.int_range(pl.len()) / 7)
    positives = HOLDERS[engine](df.filter("truth").select("model", "score"))
    for part in (df[::2], df[1::2]):
        held = HOLDERS[engine](part)
        reduced = engines().counts(held, by="model", label="truth", positives=positives)
        assert type(reduced) is type(held)
        assert_rows_of_the_sweep(here(reduced), part, "model")


# Plain SQL ------------------------------------------------------------------------------------


def blocks(language: str, about: str) -> list[str]:
    """The code of this kind on the page that mentions something."""
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    return [code for code in found if about in code]


def test_sql_of_the_page() -> None:
    import duckdb

    (counting,), (looking,), (reducing,) = (
        blocks("sql", about) for about in ("GROUP BY model, score", "COUNT(*)", "WITH ordered")
    )
    with duckdb.connect() as connection:
        for steps in (0, 1):
            df = scores().with_columns(score=pl.col("score") + pl.int_range(pl.len()) // 7 * steps)
            connection.register("scores", df.to_arrow())
            connection.sql(f"CREATE OR REPLACE TABLE counts AS {counting}")
            counts = connection.sql("SELECT * FROM counts").pl()
            assert counts.schema["n_pos"] == pl.Int64
            expected = df.prc.counts(by="model")
            assert_frame_equal(in_order(counts, ["model"]), expected, check_exact=True)
            reduced = connection.sql(reducing).pl().prc.sweep(by="model", **COUNTED)
            assert_same(reduced, df.prc.sweep(by="model", thresholds="corners"))
        assert connection.sql(looking).fetchall() == [(0,)]
        bad = pl.DataFrame({"model": "a", "score": [0.1, 0.2, 0.3], "label": [1, None, 2]})
        connection.register("scores", bad.to_arrow())
        assert connection.sql(looking).fetchall() == [(2,)]
        nan = pl.DataFrame({"model": "a", "score": [0.1, NAN, None], "label": [1, 0, 0]})
        connection.register("scores", nan.to_arrow())
        with pytest.raises(PrcError, match="null in 1 row"):
            connection.sql(counting).pl().prc.sweep(by="model", **COUNTED)


# A store of days, and scores made coarser -----------------------------------------------------


def test_a_store_of_days_is_the_events(tmp_path: Path) -> None:
    df = scores().with_columns(day=pl.int_range(pl.len()) % 5 + 1)
    for (day,), rows in df.group_by("day"):
        for part, late in enumerate((rows[:100], rows[100:])):  # some came late
            counts = late.prc.counts(by="model")
            counts.write_parquet(tmp_path / f"day={day}" / f"{part}.parquet", mkdir=True)
    store, few = pl.scan_parquet(tmp_path, hive_partitioning=True), pl.col("day").is_between(2, 4)
    for asked in (few, pl.col("day") == 5, pl.lit(True)):
        found = store.filter(asked).prc.summary(0.01, by="model", columns="all", **COUNTED).collect()
        assert_same(found, df.filter(asked).prc.summary(0.01, by="model", columns="all"))
    per_day = store.prc.summary(0.01, by=["day", "model"], columns="all", **COUNTED).collect()
    assert_same(
        per_day, df.prc.summary(0.01, by=["day", "model"], columns="all").cast({"day": pl.Int64})
    )
    (tmp_path / "day=1" / "0.parquet").write_bytes(b"not read")
    found = store.filter(few).prc.summary(0.01, by="model", columns="all", **COUNTED).collect()
    assert_same(found, df.filter(few).prc.summary(0.01, by="model", columns="all"))


@examples(40)
@given(tables(keys=["none"], weights=[""], labels=False, scores=[pl.Float64(), pl.Int64()], min_size=2))
def test_what_coarser_scores_can_cost(table: Table) -> None:
    """Inside a row of the coarse sweep, precision lies between what its ends allow."""
    df, eta = with_truth(table), 0.01
    bins = df.with_columns(bin=pl.col("score").rank("dense") // 3)
    recall, fpr = pl.col("recall"), pl.col("fpr")
    above_recall, above_fpr = recall.shift(fill_value=0.0), fpr.shift(fill_value=0.0)
    coarse = bins.prc.sweep(score="bin", label="truth").with_columns(
        worst=metrics.precision(above_recall, fpr, eta),
        best=metrics.precision(recall, above_fpr, eta),
        rise=recall - above_recall,
    )
    fine = df.prc.curve(eta, label="truth")
    known = bins.select("bin", threshold="score").unique()
    inside = fine.join(known, on="threshold").join(coarse, left_on="bin", right_on="threshold")
    assert inside.height == fine.height
    outside = (pl.col("precision") < pl.col("worst") - 1e-12) | (
        pl.col("precision") > pl.col("best") + 1e-12
    )
    assert inside.filter(outside).is_empty()
    exact = df.prc.summary(eta, label="truth", metrics="average_precision", columns="all")[
        "value"
    ].item()
    if exact is not None:
        worst, best = (
            coarse.select((pl.col("rise") * pl.col(e)).sum()).item() for e in ("worst", "best")
        )
        assert worst - 1e-12 <= exact <= best + 1e-12


# Two workers, and one of them killed ----------------------------------------------------------

SPREAD: list[dict[str, Any]] = [
    {"by": ["model", "fold"], "label": "kind", "pos_label": "fraud"},
    {"by": "model", "weight": "w"},
]


def in_files(df: pl.DataFrame, folder: Path) -> str:
    folder.mkdir()
    for part in range(4):
        df[part::4].write_parquet(folder / f"{part}.parquet")
    return str(folder)


def assert_page_holds(code: str, df: pl.DataFrame, **known: Any) -> None:
    """Run a block of the page, which ends in curves or in areas."""
    names = {"engines": engines(), "pl": pl, **known}
    exec(compile(code, str(PAGE), "exec"), names)
    if "curves" in names:
        assert_same(names["curves"], df.prc.curve(0.001, by="model"))
    else:
        assert_same(names["areas"], df.prc.summary(0.001, by="model", columns="all"))


def assert_survives(deadly: Any, marker: Path, df: pl.DataFrame) -> None:
    """Whoever computes the table first while there is no marker leaves one, and dies."""
    marker.touch()  # nobody dies while values are checked,
    counts = engines().counts(deadly, by="model")
    marker.unlink()  # but one does while they are counted
    assert_counts(counts, df.prc.counts(by="model"), ["model"])
    assert marker.exists()


@contextmanager
def spark_of_two(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false",  # queries this small take longer to compile than to run
        "spark.executor.memory": "512m",
        "spark.log.level": "OFF",
    }
    spark = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_on_two_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java on the path")
    df = scores()
    path, marker = in_files(df, tmp_path / "scores"), tmp_path / "died"

    def dies_once(batches: Any) -> Any:
        import psutil

        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            yield from batches
        else:
            next(parent for parent in psutil.Process().parents() if parent.name() == "java").kill()

    with spark_of_two(monkeypatch) as spark:
        table = spark.read.parquet(path)
        for form in SPREAD:
            assert_counts(
                engines().counts(table, **form), df.prc.counts(**form), list_columns("by=", form["by"])
            )
        reduced = here(engines().counts(table, by="model", thresholds="corners"))
        expected = df.prc.sweep(by="model", thresholds="corners")
        assert_same(reduced.prc.sweep(by="model", **COUNTED), expected)
        [code] = blocks("python", "spark.read")
        assert_page_holds(code, df, spark=spark, path=path)
        [code] = blocks("python", "applyInPandas")
        known: dict[str, Any] = {"prc": prc, "scores": table.select("model", "score", "label")}
        exec(compile(code, str(PAGE), "exec"), known)
        computed = here(known["areas"]).sort("model", "metric")
        assert_same(computed, df.prc.summary(0.001, by="model", confidence=0.95).sort("model", "metric"))
        missing = spark.sql(
            "SELECT * FROM VALUES ('a', 0.5D, 1), ('a', double('NaN'), 0), ('b', NULL, 1), "
            "(NULL, 0.1D, 0) AS t(model, score, label)"
        )
        with pytest.raises(PrcError, match="score column 'score' is null in 1 row"):
            engines().counts(missing, by="model")
        kept = here(missing).prc.counts(by="model", missing="drop")
        assert_counts(engines().counts(missing, by="model", missing="drop"), kept, ["model"])
        assert_survives(table.mapInArrow(dies_once, table.schema), marker, df)


def test_dask_on_two_workers(tmp_path: Path) -> None:
    import dask
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    df = scores()
    path, marker = in_files(df, tmp_path / "scores"), tmp_path / "died"

    def dies_once(part: Any) -> Any:
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            return part
        return os._exit(1)

    two = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**two) as cluster, Client(cluster):
        table = dd.read_parquet(path)
        for form in SPREAD:
            expected = here(table).prc.counts(**form)  # pandas holds integers with nulls as floats
            assert_counts(engines().counts(table, **form), expected, list_columns("by=", form["by"]))
        codes = blocks("python", "dask.")
        assert len(codes) == 3
        for code in codes:
            assert_page_holds(code, df, dask=dask, path=path)
        assert_survives(table.map_partitions(dies_once, meta=table._meta), marker, df)


# The Arrow door -------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["pyarrow", "pandas, arrow", "duckdb"])
def test_arrow_tables_are_taken_as_they_are(engine: str) -> None:
    df = scores()
    held = HOLDERS[engine](df)
    for call in (
        lambda door: door.sweep(by="model"),
        lambda door: door.summary([0.01, None], by="model", columns="all"),
        lambda door: door.curve(0.01, by=["model", "fold"], label="kind", pos_label="fraud"),
    ):
        assert_same(call(prc(held)), call(df.prc))


def test_pandas_that_numpy_holds() -> None:
    df = scores().drop("fold")
    assert_same(prc(df.to_pandas()).sweep(by="model"), df.prc.sweep(by="model"))


def test_arrays_are_told_to_become_a_table() -> None:
    for labels in ([1, 0], (1, 0), np.array([1, 0])):
        with pytest.raises(
            PrcError, match=r'pass pl\.DataFrame\(\{"label": \.\.\., "score": \.\.\.\}\)$'
        ):
            prc(labels)


def test_arrow_columns_are_not_copied() -> None:
    import pandas as pd

    table = scores().select("score", "rank", "label", "w").to_arrow()
    for held in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        taken = prc(held)._frame.lazy().collect()
        for name in table.column_names:
            theirs, ours = table[name].chunk(0).buffers()[1], taken[name].to_arrow().buffers()[1]
            assert theirs.address == ours.address, name


def test_a_partitioned_dataset(tmp_path: Path) -> None:
    from pyarrow import dataset

    df = scores().with_columns(pl.col("model").fill_null("none").replace("", "empty"))
    dataset.write_dataset(
        df.to_arrow(), tmp_path, format="parquet", partitioning=["model"], partitioning_flavor="hive"
    )
    held = dataset.dataset(tmp_path, partitioning="hive")
    found = pl.scan_pyarrow_dataset(held).prc.summary(0.01, by="model", columns="all").collect()
    assert_same(found, df.prc.summary(0.01, by="model", columns="all"))
