"""Classes that are sorted apart have the answers of a sweep of all rows, to the last bit."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, prc
from polars_prcurve.core.curves import expression_sweep, row_search_in_sorted_classes
from polars_prcurve.core.metrics.curve_arrays import split_sum
from polars_prcurve.core.sweep import sorted_classes, sorted_group_rows
from polars_prcurve.core.uncertainty import summary_table
from tests.support.all_metrics import ALL_CURVE_METRICS
from tests.support.comparing import assert_same
from tests.support.profiles import examples

SUMS = [metric for metric in ALL_CURVE_METRICS if metric.recipe.is_sum_of_rises]
ETAS = [None, 0.0, 1e-12, 0.013, 0.3, 1.0]
DTYPES = [pl.Float64, pl.Float32, pl.Int16, pl.Int32, pl.Int64, pl.UInt16, pl.UInt32, pl.UInt64]
ENDS: list[Any] = [-np.inf, -1e300, -0.0, 0.0, 5e-324, 1e-3, np.inf]


@st.composite
def one_group(draw: st.DrawFn) -> pl.DataFrame:
    """Draw examples of one group, with ties, zeros of both signs and infinities, maybe of one class."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([1, 2, 9, 300, 5_000]))
    label = rng.random(n) < draw(st.sampled_from([0.0, 0.004, 0.1, 0.5, 0.9, 1.0]))
    n_values, dtype = draw(st.sampled_from([2, 30, 10_000, 10**12])), draw(st.sampled_from(DTYPES))
    if dtype.is_integer():
        least, greatest = dtype.min(), dtype.max()
        ends = pl.select(least.alias("a"), greatest.alias("b")).row(0)
        score = [int(value) for value in rng.integers(0, min(n_values, ends[1]), n)]
        score = [ends[value % 2] if value % 7 == 0 else value for value in score]
    else:
        score = (rng.integers(0, n_values, n) / n_values + label).tolist()
        score = [
            ENDS[place % len(ENDS)] if place % 5 == 0 else value for place, value in enumerate(score)
        ]
    return pl.DataFrame({"score": pl.Series(score, dtype=dtype), "label": label})


def ask_by_sweep(table: pl.DataFrame, eta: Any, **how: Any) -> pl.DataFrame:
    """Return the summary of a table that is not in memory, so that its rows are swept."""
    return table.lazy().prc.summary(eta, **how).collect()


@examples(150)
@given(table=one_group(), n_etas=st.integers(1, len(ETAS)))
def test_both_ways_agree_to_the_last_bit(table: pl.DataFrame, n_etas: int) -> None:
    eta = ETAS[-n_etas:]
    own = table["label"].mean()
    eta = [0.7, *(value for value in eta if value is None or value != own)]
    eager = table.prc.summary(eta, metrics=SUMS)
    assert_same(eager, ask_by_sweep(table, eta, metrics=SUMS))
    for engine in ("in-memory", "streaming"):
        lazy = table.lazy().prc.summary(eta, metrics=SUMS)
        assert_same(eager, lazy.collect(engine=engine))


@examples(60)
@given(table=one_group(), n_parts=st.integers(1, 3))
def test_counts_have_the_answers_of_their_examples(table: pl.DataFrame, n_parts: int) -> None:
    # A score may have several rows, and a row no example.
    counts = table.group_by("score", part=pl.int_range(pl.len()) % n_parts).agg(
        n_pos=pl.col("label").sum(), n_neg=(~pl.col("label")).sum()
    )
    counts = pl.concat([counts, counts.with_columns(n_pos=0 * pl.col("n_pos"), n_neg=pl.col("n_pos"))])
    counted: dict[str, Any] = {"counts": ("n_pos", "n_neg")}
    table = pl.concat([table, table.filter("label").with_columns(label=pl.lit(False))])
    areas = counts.prc.summary(ETAS, metrics=SUMS, **counted)
    assert_same(areas, table.prc.summary(ETAS, metrics=SUMS))
    assert_same(areas, ask_by_sweep(counts, ETAS, metrics=SUMS, **counted))
    points = counts.prc.operating_points(0.2, **TARGETS, **counted)
    assert_same(points, table.prc.operating_points(0.2, **TARGETS))


@examples(60)
@given(table=one_group(), n_groups=st.integers(1, 3))
def test_counts_of_few_examples_are_read_as_examples(table: pl.DataFrame, n_groups: int) -> None:
    table = table.with_columns(group=pl.int_range(pl.len()) % n_groups)
    counts = table.select("group", "score", n_pos="label", n_neg=~pl.col("label")).cast(
        {"n_pos": pl.Int8, "n_neg": pl.UInt64}
    )
    nothing = pl.DataFrame({"group": [7], "score": [0], "n_pos": [0], "n_neg": [0]})
    counts = pl.concat([counts, nothing.cast(counts.schema)])  # a group without examples
    counted: dict[str, Any] = {"by": "group", "counts": ("n_pos", "n_neg")}
    assert_same(counts.prc.curve(ETAS, **counted), table.prc.curve(ETAS, by="group"))
    lazy = counts.lazy().prc.curve(ETAS, **counted)
    assert_same(counts.prc.curve(ETAS, **counted), lazy.collect())
    points = counts.prc.operating_points(0.2, **TARGETS, **counted)
    assert_same(points, table.prc.operating_points(0.2, **TARGETS, by="group"))


def test_counts_of_many_examples_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = pl.DataFrame({"score": [0.2, 0.1], "n_pos": [2, 1], "n_neg": [0, 1]})
    question: dict[str, Any] = {"metrics": "roc_auc", "counts": ("n_pos", "n_neg")}
    monkeypatch.setattr(sorted_classes, "SortedClasses", None)
    with pytest.raises(TypeError):  # which arrays would do
        counts.prc.summary(**question)
    for many in (counts.with_columns(n_neg=pl.col("n_neg") * 2), counts.cast({"n_pos": pl.Float64})):
        bound = prc(many)
        assert bound.summary(**question)["value"].item() == bound.summary(**question)["value"].item()
    repeated = pl.DataFrame({"score": [0.5, 0.1] * 100_000, "label": [True, False] * 100_000})
    assert repeated.prc.summary(metrics="roc_auc")["value"].item() == 1.0


def test_models_of_the_same_examples_are_sorted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    wide = pl.DataFrame({name: rng.normal(size=60) for name in "ab"}).with_columns(
        label=pl.Series(rng.random(60) < 0.4)
    )
    long = wide.with_row_index("id").unpivot(
        ["a", "b"], index=["id", "label"], variable_name="model", value_name="score"
    )
    by_id: dict[str, Any] = {"model": "model", "id": "id", "confidence": 0.95}
    by_column: dict[str, Any] = {"score": ["a", "b"], "confidence": 0.95}
    monkeypatch.setattr(sorted_classes, "_LEAST_ROWS", 1)
    how: dict[str, Any] = {"metrics": SUMS, "score": ["a", "b"]}
    assert_same(wide.prc.summary([None, 0.1], **how), ask_by_sweep(wide, [None, 0.1], **how))
    ranks = wide.prc.ranking(0.1, **by_column)
    assert_same(ranks, wide.lazy().prc.ranking(0.1, **by_column).collect())
    assert_same(ranks.cast({"model": pl.String}), long.prc.ranking(0.1, **by_id))
    monkeypatch.setattr(sorted_classes, "SortedClasses", None)
    with pytest.raises(TypeError):
        wide.prc.summary([None, 0.1], **how)
    for table, columns in ((wide, by_column), (long, by_id)):
        table.prc.ranking(0.1, **columns)  # values come from the differences


GROUPS: list[list[Any]] = [["b", "a", None], [0.0, -0.0, float("nan")], [True, False, True], [3]]


@examples(80)
@given(table=one_group(), keys=st.lists(st.sampled_from(GROUPS), min_size=1, max_size=2), data=st.data())
def test_large_groups_agree_with_a_sweep_to_the_last_bit(
    table: pl.DataFrame, keys: list[list[Any]], data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    columns = {
        f"g{i}": pl.Series(key)[rng.integers(0, len(key), table.height)] for i, key in enumerate(keys)
    }
    table, by = table.with_columns(**columns), [*columns]
    how: dict[str, Any] = {"by": by, "metrics": data.draw(st.sampled_from([SUMS, "average_precision"]))}
    etas = [0.7, *data.draw(st.sampled_from([[], [None], [0.0, 0.013], np.geomspace(1e-9, 0.5, 70)]))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_classes, "_LEAST_ROWS", 1)
        patch.setattr(summary_table, "_MOST_ETAS", 100)
        areas = table.prc.summary(etas, **how)
        bound = prc(table)
        assert_same(areas, bound.summary(etas, **how))
        assert_same(areas, bound.summary(etas, **how))
    assert_same(areas, ask_by_sweep(table, etas, **how))


def test_large_groups_are_sorted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"score": rng.normal(size=40), "label": rng.random(40) < 0.5})
    table = table.with_columns(g=pl.int_range(40) % 4, h=pl.int_range(40) // 20)
    models = table.with_columns(other=pl.col("score") ** 2)
    monkeypatch.setattr(sorted_classes, "_LEAST_ROWS", 11)
    how: dict[str, Any] = {"metrics": "average_precision"}
    of_models = models.prc.summary(0.1, score=["score", "other"], **how)
    assert_same(of_models, ask_by_sweep(models, 0.1, score=["score", "other"], **how))
    monkeypatch.setattr(sorted_classes, "SortedClasses", None)
    assert table.prc.summary(0.1, by="g", **how).height == 4
    with pytest.raises(TypeError):  # which arrays would do
        table.prc.summary(0.1, by="h", **how)
    # Of a table sorted by group, the first rows show fewer groups than there are.
    monkeypatch.setattr(sorted_classes, "_FIRST_ROWS", 5)
    assert table.sort("g").prc.summary(0.1, by="g", **how).height == 4


OF_RISES = [
    metric
    for metric in ALL_CURVE_METRICS
    if metric.recipe.needs == "rises" and not metric.recipe.on_hull and metric.recipe.averages is None
]
WIDER = [pl.Boolean, pl.Int8, pl.UInt8, pl.Int128, pl.UInt128, pl.Decimal(38, 1)]


@examples(40)
@given(
    table=one_group(),
    dtype=st.sampled_from([None, *WIDER]),
    metric=st.sampled_from(OF_RISES),
    eta=st.sampled_from([*ETAS, pl.col("eta").first()]),
)
def test_expressions_agree_to_the_last_bit(
    table: pl.DataFrame, dtype: Any, metric: Any, eta: Any
) -> None:
    """With both classes sorted apart, and with all rows sorted: in all contexts, on both engines."""
    table = table.with_columns(g=pl.int_range(pl.len()) % 7 // 3, eta=0.25).head(600)
    if dtype is not None:
        whole = pl.col("score").cast(pl.Float64).clip(-1e3, 1e3).fill_nan(0).round().abs()
        table = table.with_columns(whole.cast(pl.Int64).clip(0, 1 if dtype == pl.Boolean else 100))
        table = table.with_columns(pl.col("score").cast(dtype))
    answers = []
    for is_apart in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            if not is_apart:
                patch.setattr(expression_sweep, "can_list_rises", lambda recipe, has_weights: False)
            value = pl.col("score").prc.summary(metric, "label", eta)
        groups = table.lazy().group_by("g").agg(value)
        answers.append(
            [
                table.select(value),
                table.select(value.over("g")),
                *(groups.collect(engine=engine).sort("g") for engine in ("in-memory", "streaming")),
                table.filter("label").group_by("g").agg(value).sort("g"),
            ]
        )
    for apart, swept in zip(*answers, strict=True):
        assert_same(apart, swept)


@examples(40)
@given(table=one_group(), data=st.data())
def test_narrow_keys_agree_with_wide_ones(table: pl.DataFrame, data: st.DataObject) -> None:
    """Of scores of up to 32 bits, of the greatest number of a group, and of listed thresholds."""
    dtype = data.draw(st.sampled_from(sorted_group_rows._UP_TO_32_BITS))
    score = pl.col("score").cast(pl.Float64)
    if dtype != pl.Float32:
        ends = (0, 1) if dtype == pl.Boolean else pl.select(low=dtype.min(), high=dtype.max()).row(0)
        score = score.clip(-1e9, 1e9).cast(pl.Int64).clip(*ends)
    # Numbers of groups are computed from these keys: of the last category they are near 2**28.
    row = pl.int_range(pl.len())
    names = [str(i) for i in range(1_360)]
    table = table.with_columns(
        score.cast(dtype).alias("score"),
        pl.lit(names[-1], dtype=pl.Enum(names)).alias("a"),
        ((row % 3 - 1) * (2**15 - 1)).cast(pl.Int16).alias("b"),
        (row % 2 == 1).alias("c"),
        pl.lit(1.0).alias("w"),
    )
    by, thresholds = data.draw(st.sampled_from([None, "b", ["a", "b", "c"]])), table["score"].head(3)

    def ask() -> list[pl.DataFrame]:
        queries = (
            table.lazy().prc.sweep(by=by),
            table.lazy().prc.sweep(by=by, thresholds=thresholds),
            table.lazy().prc.summary(0.1, by=by, weight="w"),
            table.lazy().prc.summary([0.1, None], by=by),
        )
        return [
            query.collect(engine=engine) for query in queries for engine in ("in-memory", "streaming")
        ]

    narrow = ask()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_group_rows, "_choose_key_format", lambda table: sorted_group_rows._WIDE)
        wide = ask()
    for answer, expected in zip(narrow, wide, strict=True):
        assert_same(answer, expected)


def test_a_bound_table_sorts_its_classes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = prc(pl.DataFrame({"score": [0.3, 0.2, 0.1], "label": [1, 0, 1]}))
    areas = table.summary(0.1, metrics=SUMS)
    monkeypatch.setattr(sorted_classes, "SortedClasses", None)
    assert_same(areas, table.summary(0.1, metrics=SUMS))
    assert table.summary(0.2, metrics="roc_auc")["value"].item() == 0.5


@pytest.mark.parametrize("dtype", ["float64", "uint64", "int16"])
def test_few_scores_are_found_without_a_sort(dtype: str) -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, 90, 300).astype(dtype)
    for n in (0, 1, 3, 8):
        in_any_order, in_order = (sorted_classes.ClassScores(values) for _ in range(2))
        in_order.sort()
        keys, places = rng.integers(0, 99, n).astype(dtype), rng.integers(-300, 300, n)
        for flag in (False, True):
            below = (scores.count_below(keys, or_equal=flag) for scores in (in_any_order, in_order))
            following = [scores.list_next(keys, only_above=flag) for scores in (in_any_order, in_order)]
            assert np.array_equal(*below)
            assert np.array_equal(*following)
            assert following[0].dtype == following[1].dtype == values.dtype
        assert np.array_equal(in_any_order.pick(places), in_order.pick(places))
        assert not in_any_order.is_sorted
    assert np.array_equal(in_any_order.pick(np.arange(9)), np.sort(values)[:9])
    assert in_any_order.is_sorted


@examples(60)
@given(seed=st.integers(0, 2**32), n=st.integers(0, 700), decades=st.sampled_from([0, 3, 30, 300]))
def test_sums_of_shares_are_rounded_once(seed: int, n: int, decades: int) -> None:
    rng = np.random.default_rng(seed)
    terms = 10.0 ** -rng.uniform(0, decades, n) * rng.choice([1, 1, 1, -1, 0], n) / max(n, 1)
    whole = sum(int(Fraction(term) * 2**118) for term in terms.tolist())
    blocks = (terms[: n // 3], terms[n // 3 :], np.array([np.nan]))
    parts = [part for block in blocks for part in split_sum(block)]
    assert math.fsum(parts) == float(Fraction(whole, 2**118))
    lines = [sums for block in blocks for sums in split_sum(np.stack([block, block * 0.0, block]))]
    of_lines = [math.fsum(line) for line in zip([0.0] * 3, *lines, strict=True)]
    assert of_lines == [math.fsum(parts), 0.0, math.fsum(parts)]
    # Shares of about one size take one cut.
    positive = terms[terms > 0]
    assert decades > 3 or len([*split_sum(positive)]) <= 2


OTHER: dict[str, dict[str, Any]] = {
    "groups": {"by": "g"},
    "weights": {"weight": "w"},
    "clusters": {"cluster": "g", "confidence": 0.95},
    "limits": {"coarse": True},
    "a fitted curve": {"smooth": "binormal"},
    "an interval": {"confidence": 0.95},
    "never scored": {"below": (1, 2)},
    "a best value": {"metrics": "best(f1)"},
    "a hull": {"metrics": "pr_auc_hull"},
    "a frame": {"eta": pl.DataFrame({"eta": [0.1]})},
}


@pytest.mark.parametrize("other", OTHER)
def test_other_questions_are_swept(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {"score": rng.normal(size=60), "label": rng.random(60) < 0.5, "w": rng.random(60) + 1}
    ).with_columns(g=pl.int_range(60) % 2)
    monkeypatch.setattr(sorted_classes, "SortedClasses", None)
    question = {"eta": 0.1, "metrics": "average_precision", **OTHER[other]}
    table.prc.summary(**question)
    with pytest.raises(TypeError):  # which arrays would do
        table.prc.summary(0.1, metrics="average_precision")


@pytest.mark.parametrize(
    ("score", "label"),
    [
        ([0.1, None], [1, 0]),
        ([0.1, float("nan")], [1, 0]),
        ([0.1, 0.2], [1, 3]),
        ([0.1, 0.2], [1, None]),
    ],
)
def test_wrong_values_raise_the_errors_of_a_sweep(
    score: list[Any], label: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pl.DataFrame({"score": score, "label": label}).with_columns(g=pl.lit(1))
    with pytest.raises(PrcError) as of_sweep:
        table.prc.sweep()
    with pytest.raises(PrcError) as of_areas:
        table.prc.summary(0.1, metrics="average_precision")
    assert str(of_areas.value) == str(of_sweep.value)
    monkeypatch.setattr(sorted_classes, "_LEAST_ROWS", 1)
    with pytest.raises(PrcError) as of_groups:
        table.prc.summary(0.1, metrics="average_precision", by="g")
    assert str(of_groups.value) == str(of_sweep.value)


def test_tables_without_rows_have_no_classes() -> None:
    table = pl.DataFrame(schema={"score": pl.Float64, "label": pl.Boolean})
    assert table.prc.summary(0.1, metrics="average_precision").is_empty()
    of_groups = table.with_columns(g=pl.lit(1)).prc.summary(0.1, metrics="average_precision", by="g")
    assert of_groups.is_empty()
    bound = prc(table)
    assert bound.summary(0.1, metrics="roc_auc").is_empty()


# Rows that targets find -------------------------------------------------------------------------

SHARES = [0.0, 1e-12, 0.1, 1 / 3, 0.5, 0.8, 1.0]
TARGETS: dict[str, Any] = {
    "recall": SHARES,
    "fpr": SHARES,
    "predicted_positive_rate": SHARES,
    "alerts": [0, 1, 50, 999.5, 1000],
    "per": 1000,
}


def find_points(table: pl.DataFrame, eta: Any, **targets: Any) -> list[pl.DataFrame]:
    """Return the points of a table, and those of a sweep of all its rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_search_in_sorted_classes, "_ROWS_OF_PLAN", 10**9)  # a sweep would be faster
        points = table.prc.operating_points(eta, **targets)
    of_group = table.with_columns(g=pl.lit(1)).prc
    return [points, of_group.operating_points(eta, by="g", **targets).drop("g")]


@examples(150)
@given(table=one_group(), seed=st.integers(0, 2**32))
def test_few_rows_hold_what_targets_find(table: pl.DataFrame, seed: int) -> None:
    thresholds = [*table["score"].sample(2, with_replacement=True, seed=seed).to_list(), 0, 1e30, -3.5]
    assert_same(*find_points(table, ETAS[:-1], threshold=thresholds, **TARGETS))
    # Shares that are met exactly, by the scores that are there
    places = table.prc.sweep().sample(3, with_replacement=True, seed=seed)
    shares = {name: places[name].drop_nulls().unique().to_list() for name in ("recall", "fpr")}
    assert_same(*find_points(table, 0.2, **{name: values for name, values in shares.items() if values}))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("word", ["precision", "fdr", "fpr", "predicted_positive_rate"])
def test_few_rows_hold_the_last_one_of_a_target(word: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(15):
        n, share, decimals = (rng.choice(values) for values in ([9, 90], [0.1, 0.5, 0.9], [0, 1, 6]))
        label = rng.random(int(n)) < share
        score = np.round(rng.normal(size=len(label)) + label, int(decimals))
        table = pl.DataFrame({"score": score, "label": label})
        eta = rng.choice([0.0, 1e-12, 0.1, 0.5, 0.9999, 1.0])
        # One value at a time, so that no other one brings the row, or needs lower scores.
        met = table.prc.curve(eta, metrics=word)[word].drop_nulls().to_list()
        for value in [*rng.choice([*met, 0.5], 3), rng.choice(met or [1.0]) * (1 - 1e-12), *SHARES[::6]]:
            assert_same(*find_points(table, eta, **{word: value}))


@pytest.mark.parametrize("targets", [{"precision": 0.9}, {"alerts": [1, 2], "per": 1000}, {"fpr": 0.01}])
def test_scores_below_a_target_are_not_sorted(targets: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, sizes = np.random.default_rng(3), []
    label = rng.random(3_000) < 0.1
    table = pl.DataFrame({"score": rng.normal(size=3_000) + 2 * label, "label": label})
    sort = sorted_classes.ClassScores.sort
    monkeypatch.setattr(
        sorted_classes.ClassScores, "sort", lambda part: (sizes.append(len(part.scores)), sort(part))[1]
    )
    table.prc.operating_points(0.1, **targets)
    assert max(sizes, default=0) < 300


def test_targets_that_few_rows_do_not_tell_are_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"score": rng.normal(size=60), "label": rng.random(60) < 0.5})
    monkeypatch.setattr(sorted_classes, "SortedClasses", None)
    for targets in (
        {"npv": 0.5},
        {"maximize": "f1"},
        {"recall": 0.5, "guarantee": 0.9},
        {"recall": 0.5, "fpr": 0.9, "together": True},
        {"recall": 0.5, "npv": 0.9},
        {"threshold": pl.DataFrame({"threshold": [0.1]})},
        {"recall": 0.5, "confidence": 0.95},
    ):
        table.prc.operating_points(0.1, **targets)
    for word in ("recall", "precision", "fdr"):
        with pytest.raises(TypeError):  # which sorted classes would do
            table.prc.operating_points(0.1, **{word: 0.5})
