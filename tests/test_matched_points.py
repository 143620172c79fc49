"""A model beside one point of other examples, at the same recall or fpr."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats

from polars_prcurve import PrcError, field, intervals, metrics, prc
from polars_prcurve.core.comparison.comparison_request import list_compare_columns
from tests.support.oracle_errors import wilson

CELLS = ("tp", "fp", "fn", "tn")


def draw(n_pos: int, n_neg: int, seed: int, step: float = 0.1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label = np.arange(n_pos + n_neg) < n_pos
    score = np.round((rng.normal(size=label.size) + 1.5 * label) / step)
    return pl.DataFrame({"score": score, "label": label})


def point(k: int, j: int, n_pos: int = 60, n_neg: int = 200) -> pl.DataFrame:
    return pl.DataFrame({"tp": [k], "fp": [j], "fn": [n_pos - k], "tn": [n_neg - j]})


def bind(frame: Any, **words: Any) -> Any:
    return prc(frame, cells=CELLS, **words)


def expect(df: pl.DataFrame, cells: pl.DataFrame, match: str, metric: Any, eta: float) -> dict[str, Any]:
    """Return what the definition says, row by row."""
    z = float(stats.norm.isf(0.025))
    sweep = df.prc.sweep()
    totals = {"tp": 0, "fp": 0, "fn": df["label"].sum(), "tn": (~df["label"]).sum()}
    rows = [totals, *sweep.select(CELLS).to_dicts()]
    reader = cells.row(0, named=True)
    same, other = (("tp", "fn"), ("fp", "tn")) if match == "recall" else (("fp", "tn"), ("tp", "fn"))

    def count(row: dict[str, int], names: tuple[str, str]) -> tuple[int, int]:
        return row[names[0]], row[names[0]] + row[names[1]]

    b, n_b = count(reader, same)
    y, n_y = count(reader, other)
    reached = [count(row, same)[0] * n_b >= b * count(row, same)[1] for row in rows]
    first = reached.index(True)
    lows, highs, least, value = [], [], math.inf, None
    for number, row in enumerate(rows):
        a, n_a = count(row, same)
        x, n_x = count(row, other)
        pooled = (a + b) / (n_a + n_b)
        off = abs(a / n_a - b / n_b)
        near = number in (first, first - 1) or off == 0
        errors = 0 if near else off / math.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
        both = (x + y) / (n_x + n_y)
        gap = abs(x / n_x - y / n_y)
        between = 0 if gap == 0 else gap / math.sqrt(both * (1 - both) * (1 / n_x + 1 / n_y))
        least = min(least, errors**2 + between**2)
        if errors >= z:
            continue
        deviations = math.sqrt(z * z - errors * errors)
        rates = [x / n_x, y / n_y]
        rates += [end for k, n in ((x, n_x), (y, n_y)) for end in wilson(k / n, n, deviations)]

        def measure(rate: float, pooled: float = pooled) -> float:
            recall, fpr = (pooled, rate) if match == "recall" else (rate, pooled)
            return float(metric(recall, fpr, eta))

        values = list(map(measure, rates))
        if number == first:
            value = values[0] - values[1]
        f, g = values[:2]
        low = f - g - math.hypot(f - min(values[2:4]), max(values[4:]) - g)
        if not math.isnan(low):
            lows.append(low)
            highs.append(f - g + math.hypot(max(values[2:4]) - f, g - min(values[4:])))
    resolved = min(lows) > 0 or max(highs) < 0
    p_value = 2 * stats.norm.sf(math.sqrt(least))
    return {"difference": value, "low": min(lows), "high": max(highs), "p_value": p_value,
            "significant": resolved}  # fmt: skip


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("match", ["recall", "fpr"])
@pytest.mark.parametrize("seed", range(4))
def test_intervals_are_the_union_over_rows(match: Any, seed: int) -> None:
    df, cells = draw(80, 300, seed), point(42 - 3 * seed, 12 + 20 * seed)
    names = ["precision", "f1", "mcc", "fpr" if match == "recall" else "recall"]
    found = df.prc.compare([0.02, 0.4], other=bind(cells), match=match, metrics=names, columns="all")
    assert found.columns == list(list_compare_columns(None))
    assert found["metric"].to_list() == names * 2
    for row in found.iter_rows(named=True):
        expected = expect(df, cells, match, getattr(metrics, row["metric"]), row["eta"])
        for name, value in expected.items():
            assert row[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
        assert (row["model_a"], row["model_b"], row["standard_error"]) == ("model", "other", None)


@pytest.mark.parametrize(("k", "j"), [(60, 200), (60, 30), (0, 0), (0, 5), (59, 0), (1, 199)])
@pytest.mark.parametrize("match", ["recall", "fpr"])
def test_points_at_the_ends(k: int, j: int, match: Any) -> None:
    df, cells = draw(40, 150, 3), point(k, j)
    other = "fpr" if match == "recall" else "recall"
    found = df.prc.compare(0.1, other=bind(cells), match=match, metrics=other, columns="all").row(
        0, named=True
    )
    expected = expect(df, cells, match, getattr(metrics, other), 0.1)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found["low"] <= found["difference"] <= found["high"]


def test_one_verdict_for_all_metrics_and_prevalences() -> None:
    df = draw(200, 1_000, 4)
    other = bind(point(70, 120, 100, 300))
    names = ["fpr", "precision", "f1", "npv", "net_benefit(0.1)"]
    found = df.prc.compare([0.001, 0.1, 0.9], other=other, match="recall", metrics=names, columns="all")
    assert found["significant"].to_list() == [True] * 15
    assert found["p_value"].n_unique() == 1
    assert (found.filter(metric="fpr")["high"] < 0).all()
    assert (found.filter(metric="precision")["low"] > 0).all()


def test_groups_models_and_engines() -> None:
    df = pl.concat(
        [draw(60, 200, seed).with_columns(site=pl.lit(s)) for seed, s in ((5, "b"), (6, "a"))]
    )
    df = df.with_columns(again=pl.col("score").sin())
    readers = pl.concat(
        [point(30, 20).with_columns(site=pl.lit(s), who=pl.lit(w)) for s in "ab" for w in "yx"]
    )
    asked: dict[str, Any] = {"match": "recall", "metrics": ["fpr", "precision"]}
    table = df.prc(score=["score", "again"], by="site")
    found = table.compare(0.1, other=bind(readers, by="site", model="who"), columns="all", **asked)
    names = [("again", "x"), ("again", "y"), ("score", "x"), ("score", "y")]
    assert found.select("model_a", "model_b").rows() == names * 4
    assert found["site"].to_list() == ["a"] * 8 + ["b"] * 8
    alone = df.filter(site="b").prc.compare(0.1, other=bind(point(30, 20)), columns="all", **asked)
    part = found.filter(site="b", model_a="score", model_b="x")
    columns = ["metric", "difference", "low", "high", "p_value", "significant"]
    assert_frame_equal(part.select(columns), alone.select(columns), rel_tol=1e-12)
    # The point of others must then be lazy, too, which no query of `test_plans` can say.
    lazy = df.lazy().prc(score=["score", "again"], by="site")
    query = lazy.compare(0.1, other=bind(readers.lazy(), by="site", model="who"), columns="all", **asked)
    for engine in ("streaming", "in-memory"):
        assert_frame_equal(query.collect(engine=engine), found, rel_tol=1e-12)  # type: ignore[call-overload]


def test_a_table_of_answers_is_a_point() -> None:
    """A reader who says yes or no has one cut."""
    df = draw(60, 200, 7)
    yes = np.r_[np.arange(60) < 40, np.arange(200) < 25]
    answers = pl.DataFrame({"score": yes, "label": np.arange(260) < 60})
    asked: dict[str, Any] = {"match": "recall", "metrics": "precision"}
    found = df.prc.compare(0.1, other=answers.prc(score="score"), columns="all", **asked)
    assert_frame_equal(found, df.prc.compare(0.1, other=bind(point(40, 25)), columns="all", **asked))


def test_a_point_that_is_passed_by_place_is_sent_to_its_argument() -> None:
    for other in (bind(point(40, 25)), draw(60, 200, 7).prc()):
        with pytest.raises(PrcError, match=r"as other=, by name: other=\.\.\., match='recall'"):
            draw(60, 200, 7).prc.compare(other, match="recall")


def test_few_examples_settle_nothing() -> None:
    df = draw(8, 300, 8)
    found = df.prc.compare(
        0.1, other=bind(point(20, 150, 60, 200)), match="recall", metrics="fpr", columns="all"
    )
    assert found.select("doubt", "significant").row(0) == ("few positives", None)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"other": None}, "pass other=, a table of one point"),
    ({"match": None}, 'pass match="recall" or match="fpr" with other='),
    ({"match": "precision"}, "match="),
    ({"metrics": "recall"}, "leave recall out of metrics=: match= makes it equal"),
    (
        {"metrics": metrics.point("own", lambda tp, fn, fp, tn: tp)},
        "pass monotone=True to metrics.point",
    ),
    ({"eta": None}, "match= compares both tables at one prevalence"),
    (
        {"eta": field(pl.DataFrame({"g": [1], "eta": [0.1], "share": [1]}), parts="g")},
        "no formula for field",
    ),
    ({"threshold": 1.0}, "leave out threshold=: match= sets the threshold"),
    ({"fpr": 0.1}, "leave out fpr="),
    ({"adjust": "holm"}, "leave out adjust="),
    ({"confidence": intervals(0.9, method="bootstrap")}, "has its own interval"),
    ({"confidence": intervals(0.9, rate="jeffreys")}, 'takes rate="wilson" only'),
    ({"weight": "w"}, "independent, equally weighted examples"),
    ({"cluster": "w"}, "independent, equally weighted examples"),
    ({"other": point(30, 20)}, "other= takes a bound table"),
    ({"other": bind(point(30, 20).lazy())}, "one is a LazyFrame"),
    ({"by": "w"}, "group both tables by= the same columns"),
    ({"other": bind(pl.concat([point(30, 20)] * 2))}, "match= takes one point per group"),
]


@pytest.mark.parametrize(("asked", "words"), REFUSED, ids=lambda value: None)
def test_what_is_refused(asked: dict[str, Any], words: str) -> None:
    df = draw(60, 200, 9).with_columns(w=pl.lit(1.0))
    with pytest.raises((PrcError, pl.exceptions.InvalidOperationError), match=words):
        df.prc.compare(
            columns="all", **{"eta": 0.1, "other": bind(point(30, 20)), "match": "recall", **asked}
        )


def test_a_group_without_a_point_is_named() -> None:
    df = draw(60, 200, 10).with_columns(site=pl.lit("here"))
    other = bind(point(30, 20).with_columns(site=pl.lit("there")), by="site")
    with pytest.raises(PrcError, match="other= has no row for the group here; add one"):
        df.prc(by="site").compare(0.1, other=other, match="recall", columns="all")


def test_a_group_has_one_dtype_in_both_tables() -> None:
    df, cells = (frame.with_columns(site=pl.lit("here")) for frame in (draw(60, 200, 10), point(30, 20)))
    other = bind(cells.cast({"site": pl.Categorical}), by="site")
    with pytest.raises(PrcError, match="cast the group column 'site' to one dtype: it is Categorical"):
        df.prc(by="site").compare(0.1, other=other, match="recall", columns="all")


@pytest.mark.parametrize("name", ["n", "rate", "k", "own", "order", "of_own", "point_tp"])
def test_groups_may_have_any_name(name: str) -> None:
    df, cells = draw(60, 200, 11), point(30, 20)
    asked: dict[str, Any] = {"match": "recall", "metrics": "precision"}
    expected = df.prc.compare(0.1, other=bind(cells), columns="all", **asked)
    there = cells.with_columns(pl.lit("a").alias(name))
    found = (
        df.with_columns(pl.lit("a").alias(name))
        .prc(by=name)
        .compare(0.1, other=bind(there, by=name), columns="all", **asked)
    )
    assert_frame_equal(found.drop(name), expected)


def test_a_group_may_not_take_the_name_of_a_result() -> None:
    df, cells = (frame.with_columns(low=pl.lit(1)) for frame in (draw(60, 200, 12), point(30, 20)))
    with pytest.raises(PrcError, match="rename the column 'low' of by="):
        df.prc(by="low").compare(0.1, other=bind(cells, by="low"), match="recall", columns="all")
