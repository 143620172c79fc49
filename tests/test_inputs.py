"""Every form a score table may have, small and by hand."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, prc
from polars_prcurve.core.ground import column_checks

INF = float("inf")
COUNTED = ("threshold", "tp", "fp", "fn", "tn")


def rows(table: pl.DataFrame) -> list[tuple[Any, ...]]:
    return table.select(COUNTED).rows()


SCORES: dict[str, tuple[pl.Series, list[Any]]] = {
    "Float64": (pl.Series([0.5, 0.25, 0.5, -1.0]), [0.5, 0.25, -1.0]),
    "Float32": (
        pl.Series([0.1, 0.3, 0.1, -1.0], dtype=pl.Float32),
        [0.30000001192092896, 0.10000000149011612, -1.0],
    ),
    "infinite": (pl.Series([INF, -INF, INF, 0.0]), [INF, 0.0, -INF]),
    "signed zeros": (pl.Series([0.0, -0.0, -0.0, -5e-324]), [0.0, -5e-324]),
    "subnormal": (pl.Series([5e-324, 0.0, 1e-323, -5e-324]), [1e-323, 5e-324, 0.0, -5e-324]),
    "Int8": (pl.Series([-128, 127, 0, 127], dtype=pl.Int8), [127, 0, -128]),
    "Int64": (
        pl.Series([2**53, 2**53 + 1, -(2**63), 2**63 - 1], dtype=pl.Int64),
        [2**63 - 1, 2**53 + 1, 2**53, -(2**63)],
    ),
    "UInt64": (
        pl.Series([0, 2**64 - 1, 2**63, 2**63 - 1], dtype=pl.UInt64),
        [2**64 - 1, 2**63, 2**63 - 1, 0],
    ),
    "Int128": (
        pl.Series([2**100, 2**100 + 1, -(2**90), 0], dtype=pl.Int128),
        [2**100 + 1, 2**100, 0, -(2**90)],
    ),
    "UInt128": (pl.Series([2**127, 1, 0, 2**127], dtype=pl.UInt128), [2**127, 1, 0]),
    "Decimal": (
        pl.Series(
            [Decimal("1.10"), Decimal("-2.25"), Decimal("1.10"), Decimal("1.11")],
            dtype=pl.Decimal(10, 2),
        ),
        [Decimal("1.11"), Decimal("1.10"), Decimal("-2.25")],
    ),
    "wide Decimal": (
        pl.Series(
            [Decimal(f"1{'0' * 30}"), Decimal(f"1{'0' * 29}1"), Decimal(0), Decimal(1)],
            dtype=pl.Decimal(38, 0),
        ),
        [Decimal(f"1{'0' * 29}1"), Decimal(f"1{'0' * 30}"), Decimal(1), Decimal(0)],
    ),
    "Boolean": (pl.Series([True, False, True, False]), [True, False]),
}


@pytest.mark.quick_cases(13)
@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_every_dtype_are_taken_exactly(name: str, weighted: bool) -> None:
    score, thresholds = SCORES[name]
    df = pl.DataFrame({"score": score, "label": [1, 0, 0, 1], "weight": [1.0] * 4})
    how = {"weight": "weight"} if weighted else {}
    for engine in ("streaming", "in-memory"):
        sweep = df.lazy().prc.sweep(**how).collect(engine=engine)
        assert sweep["threshold"].dtype == score.dtype
        assert sweep["threshold"].to_list() == thresholds
        for threshold, tp, fp, fn, tn in rows(sweep):
            predicted = [s >= threshold for s in score]
            assert tp == predicted[0] + predicted[3]
            assert fp == predicted[1] + predicted[2]
            assert (tp + fn, fp + tn) == (2, 2)
    listed = df.prc.sweep(thresholds=thresholds, **how)
    assert_frame_equal(listed, df.prc.sweep(**how), check_exact=True)
    structs = df.select(pl.col("score").prc.sweep("label", **how)).unnest("score")
    assert_frame_equal(structs, df.prc.sweep(**how), check_exact=True)


def test_zeros_of_both_signs_tie_in_groups_of_many_rows() -> None:
    n = 200_000
    zeros = pl.select(
        g=pl.int_range(n) % 3,
        score=pl.when(pl.int_range(n) % 2 == 0).then(0.0).otherwise(-0.0),
        label=pl.int_range(n) % 5 == 0,
    )
    for engine in ("streaming", "in-memory"):
        sweep = zeros.lazy().prc.sweep(by="g").collect(engine=engine)
        assert sweep.height == 3
        assert (sweep["fn"] + sweep["tn"]).sum() == 0
        assert str(sweep["threshold"].to_list()) == "[0.0, 0.0, 0.0]"
    assert (
        zeros.group_by("g").agg(pl.col("score").prc.sweep("label").len())["score"].to_list() == [1] * 3
    )


LABELS: dict[str, tuple[pl.Series, Any]] = {
    "Boolean": (pl.Series([True, False, True]), None),
    "0 and 1": (pl.Series([1, 0, 1], dtype=pl.UInt8), None),
    "0.0 and 1.0": (pl.Series([1.0, 0.0, 1.0]), None),
    "-1 and 1": (pl.Series([1, -1, 1], dtype=pl.Int8), None),
    "Decimal": (pl.Series([Decimal(1), Decimal(0), Decimal(1)]), None),
    "String": (pl.Series(["yes", "no", "yes"]), "yes"),
    "Enum": (pl.Series(["yes", "no", "yes"], dtype=pl.Enum(["no", "yes"])), "yes"),
    "Categorical": (pl.Series(["yes", "no", "yes"], dtype=pl.Categorical), "yes"),
    "other numbers": (pl.Series([7, 3, 7]), 7),
    "inverted": (pl.Series([0, 1, 0]), 0),
    "Boolean, inverted": (pl.Series([False, True, False]), False),
    "Date": (
        pl.Series([dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.date(2020, 1, 1)]),
        dt.date(2020, 1, 1),
    ),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_of_every_kind(name: str) -> None:
    label, positive = LABELS[name]
    df = pl.DataFrame({"score": [0.9, 0.5, 0.1], "label": label})
    expected = [(0.9, 1, 0, 1, 1), (0.5, 1, 1, 1, 0), (0.1, 2, 1, 0, 0)]
    assert rows(df.prc.sweep(pos_label=positive)) == expected
    structs = df.select(pl.col("score").prc.sweep("label", pos_label=positive)).unnest("score")
    assert rows(structs) == expected


KEYS: dict[str, pl.Series] = {
    "String": pl.Series(["b", "a", None, "a"]),
    "Boolean": pl.Series([True, False, None, False]),
    "Int8": pl.Series([3, -3, None, -3], dtype=pl.Int8),
    "UInt64": pl.Series([2**64 - 1, 1, None, 1], dtype=pl.UInt64),
    "Int128": pl.Series([2**100, 1, None, 1], dtype=pl.Int128),
    "Float64": pl.Series([float("nan"), -0.0, None, 0.0]),
    "Decimal": pl.Series([Decimal("2.5"), Decimal("1.5"), None, Decimal("1.5")]),
    "Date": pl.Series([dt.date(2021, 1, 1), dt.date(2020, 1, 1), None, dt.date(2020, 1, 1)]),
    "Datetime": pl.Series(
        [dt.datetime(2021, 1, 1), dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 1)]
    ),
    "Duration": pl.Series([dt.timedelta(2), dt.timedelta(1), None, dt.timedelta(1)]),
    "Time": pl.Series([dt.time(2), dt.time(1), None, dt.time(1)]),
    "Binary": pl.Series([b"b", b"a", None, b"a"]),
    "Enum": pl.Series(["a", "b", None, "b"], dtype=pl.Enum(["b", "a"])),
    "Categorical": pl.Series(["b", "a", None, "a"], dtype=pl.Categorical),
    "Struct": pl.Series([{"x": 2}, {"x": 1}, None, {"x": 1}]),
    "List": pl.Series([[2], [1], None, [1]]),
}


@pytest.mark.parametrize("name", KEYS)
def test_groups_of_every_sortable_dtype(name: str) -> None:
    key = KEYS[name]
    df = pl.DataFrame({"key": key, "score": [0.9, 0.5, 0.1, 0.7], "label": [1, 0, 1, 1]})
    for engine in ("streaming", "in-memory"):
        sweep = df.lazy().prc.sweep(by="key").collect(engine=engine)
        assert sweep["key"].dtype == key.dtype
        assert sweep["key"].is_null().to_list() == [True, False, False, False]
        assert rows(sweep) == [
            (0.1, 1, 0, 0, 0),
            (0.7, 1, 0, 0, 1),
            (0.5, 1, 1, 0, 0),
            (0.9, 1, 0, 0, 0),
        ]
        curve = df.lazy().prc.curve([0.1, None], by="key").collect(engine=engine)
        assert curve.height == 8


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("how", [{}, {"weight": "w"}, {"weight": pl.col("w") * 0.5}])
def test_a_group_of_nan_is_found_by_every_join(n: int, how: dict[str, Any]) -> None:
    nan = float("nan")
    df = pl.DataFrame(
        {"key": [nan] * n, "score": list(range(n)), "label": [True] * n, "w": [0] * (n - 1) + [1]}
    )
    for dtype in (pl.Float64, pl.Float32):
        cast = df.with_columns(pl.col("key").cast(dtype))
        etas = cast.select("key").unique().with_columns(eta=pl.lit(1.0))
        for engine in ("streaming", "in-memory"):
            sweep = cast.lazy().prc.sweep(by="key", **how).collect(engine=engine)
            assert sweep["key"].dtype == dtype
            assert sweep["key"].is_nan().to_list() == [True] * (1 if how else n)
            curve = cast.lazy().prc.curve(etas, by="key", **how).collect(engine=engine)
            assert curve.height == sweep.height


def test_groups_by_several_columns_and_expressions() -> None:
    df = pl.DataFrame(
        {"a": ["x", "x", "y"], "b": [2, 1, None], "score": [0.1, 0.2, 0.3], "label": [0, 1, 1]}
    )
    sweep = df.prc.sweep(by=["a", pl.col("b").alias("c")])
    assert sweep.select("a", "c").rows() == [("x", 1), ("x", 2), ("y", None)]
    assert df.prc.sweep(by=pl.col("a", "b")).columns[:2] == ["a", "b"]
    assert_frame_equal(df.prc.sweep(by=[]), df.prc.sweep())


def test_columns_may_be_expressions() -> None:
    df = pl.DataFrame({"logit": [2.0, -1.0, 0.5], "kind": ["spam", "ham", "ham"], "w": [1, 2, 3]})
    sweep = df.prc.sweep(score=-pl.col("logit"), label=pl.col("kind") == "ham", weight=pl.col("w") / 2)
    assert rows(sweep) == [
        (1.0, 1.0, 0.0, 1.5, 0.5),
        (-0.5, 2.5, 0.0, 0.0, 0.5),
        (-2.0, 2.5, 0.5, 0.0, 0.0),
    ]


def test_weights_of_integers_are_added_as_integers() -> None:
    df = pl.DataFrame({"score": [3, 2, 1], "label": [1, 1, 0], "w": [2**45, 1, 5]})
    sweep = df.prc.sweep(weight="w")
    assert sweep.schema["tp"] == pl.Float64
    assert sweep["fn"].to_list() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1.0, 1e17, 1e99])
def test_weights_of_one_group_do_not_touch_another(scale: float) -> None:
    df = pl.DataFrame(
        {
            "g": [0] * 4 + [1] * 4,
            "score": [4, 3, 2, 1] * 2,
            "label": [1, 0, 1, 0] * 2,
            "w": [scale] * 4 + [0.1, 0.2, 0.3, 0.4],
        }
    )
    sweep = df.prc.sweep(by="g", weight="w")
    first, second = sweep.partition_by("g")
    assert first["tp"].to_list() == [scale, scale, 2 * scale, 2 * scale]
    assert second["tp"].to_list() == [0.1, 0.1, 0.4, 0.4]
    assert second["fp"].to_list() == pytest.approx([0.0, 0.2, 0.2, 0.6], rel=1e-16)
    for group in (first, second):
        assert (group["fn"] >= 0).all()
        assert group["recall"].to_list()[-1] == group["fpr"].to_list()[-1] == 1.0


def test_rows_and_groups_of_weight_0_count_for_nothing() -> None:
    df = pl.DataFrame(
        {"g": [1, 1, 2], "score": [0.9, 0.5, 0.7], "label": [1, 0, 1], "w": [0.5, 0.0, 0.0]}
    )
    assert rows(df.prc.sweep(by="g", weight="w")) == [(0.9, 0.5, 0.0, 0.0, 0.0)]
    assert df.prc.sweep(by="g", weight="w", thresholds=[0.8])["g"].to_list() == [1]
    assert rows(df.select(pl.col("score").prc.sweep("label", weight="w")).unnest("score")) == [
        (0.9, 0.5, 0.0, 0.0, 0.0)
    ]


def test_counts_of_equal_scores_add_up_and_shards_merge() -> None:
    df = pl.DataFrame(
        {"day": [1, 1, 2, 2, 2], "score": [0.5, 0.2, 0.5, 0.5, 0.1], "label": [1, 0, 0, 1, 1]}
    )
    days = [part.prc.counts() for part in df.partition_by("day")]
    merged = pl.concat(days)
    assert_frame_equal(merged.prc.sweep(counts=("n_pos", "n_neg")), df.prc.sweep())
    assert_frame_equal(merged.prc.counts(counts=("n_pos", "n_neg")), df.prc.counts())
    halves = merged.with_columns(pl.col("n_pos", "n_neg") / 2)
    assert rows(halves.prc.sweep(counts=("n_pos", "n_neg")))[-1] == (0.1, 1.5, 1.0, 0.0, 0.0)


def test_rates_are_sorted_and_have_no_counts() -> None:
    points = pl.DataFrame({"tpr": [1.0, 0.5, 0.7, 0.6], "fpr": [1.0, 0.0, 0.2, 0.2]})
    sweep = points.prc.sweep(rates=("tpr", "fpr"))
    assert sweep.select("recall", "fpr").rows() == [(0.5, 0.0), (0.6, 0.2), (0.7, 0.2), (1.0, 1.0)]
    for column in COUNTED:
        assert sweep[column].null_count() == 4
    curve = points.prc.curve(0.1, rates=("tpr", "fpr"))
    assert curve["precision"].to_list() == pytest.approx([1.0, 0.25, 0.07 / 0.25, 0.1])
    steps = points.prc.sweep(rates=("tpr", "fpr"), thresholds=2)
    assert steps["recall"].to_list() == [0.5, 1.0]


def test_one_class_groups_keep_their_rows() -> None:
    df = pl.DataFrame(
        {
            "g": ["neg", "neg", "pos", "pos", "two", "two"],
            "score": [1, 2] * 3,
            "label": [0, 0, 1, 1, 0, 1],
        }
    )
    curve = df.prc.curve([0.5, None], by="g")
    parts = curve.partition_by("g", as_dict=True)
    assert parts[("neg",)]["recall"].null_count() == 4
    assert parts[("neg",)]["fpr"].to_list() == [0.5, 1.0] * 2
    assert parts[("pos",)]["fpr"].null_count() == 4
    assert parts[("pos",)].filter(eta=1.0)["precision"].to_list() == [1.0, 1.0]
    assert parts[("pos",)].filter(eta=0.5)["precision"].null_count() == 2
    assert parts[("two",)].filter(eta=0.5)["precision"].null_count() == 0


def test_thresholds_as_recall_steps() -> None:
    df = pl.DataFrame({"score": list(range(10, 0, -1)), "label": [1, 0, 1, 1, 0, 1, 0, 1, 0, 0]})
    steps = df.prc.sweep(thresholds=5)
    assert steps["recall"].to_list() == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert df.prc.sweep(thresholds=2)["recall"].to_list() == [0.6, 1.0]
    every = df.prc.sweep()
    for n in range(1, 120):
        expected = sorted(
            {every.filter(pl.col("recall") >= k / n)["threshold"].max() for k in range(1, n + 1)}
        )
        assert sorted(df.prc.sweep(thresholds=n)["threshold"]) == expected


def test_explicit_thresholds_need_not_occur() -> None:
    df = pl.DataFrame({"g": ["a", "a", "b"], "score": [0.5, 0.25, 0.125], "label": [1, 0, 0]})
    listed = df.prc.sweep(by="g", thresholds=[0.25, 9.0, 0.25, -1.0])
    assert listed.select("g", *COUNTED).rows() == [
        ("a", 9.0, 0, 0, 1, 1),
        ("a", 0.25, 1, 1, 0, 0),
        ("a", -1.0, 1, 1, 0, 0),
        ("b", 9.0, 0, 0, 0, 1),
        ("b", 0.25, 0, 0, 0, 1),
        ("b", -1.0, 0, 1, 0, 0),
    ]


def test_user_columns_of_any_name_are_left_alone() -> None:
    names = ["key", "n_pos", "literal", "len", "a:b", "x.y", "", "🙂", "score "]
    for name in names:
        df = pl.DataFrame({name: ["a", "b"], "score": [0.1, 0.2], "label": [0, 1]})
        assert prc(df).sweep(by=name).columns[0] == name


def test_answers_about_dtypes_are_held_for_some_dtypes_only() -> None:
    for number in range(600):
        with pytest.raises(PrcError, match="score is Enum"):
            column_checks.SCORE_DTYPES.require("score", pl.Enum([str(number)]))
    sizes = column_checks._is_allowed.cache_info()
    assert sizes.currsize == sizes.maxsize
