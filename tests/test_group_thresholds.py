"""Thresholds of each group as a frame, and budgets of alerts, as targets of operating points."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, prc
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import SCORES, SMALL, Table, tables

ETAS = [0.01, 0.37]


@examples(60)
@given(tables(weights=SMALL[:3], min_size=1), st.data())
def test_each_group_gets_the_thresholds_of_its_rows(table: Table, data: st.DataObject) -> None:
    """Row by row a frame gives what the group alone gives with a list of these thresholds."""
    how: dict[str, Any] = {"pos_label": table.pos_label, "weight": table.weight}
    if table.pos_label is not None:  # a group may hold none
        how["pos_label"] = None
        object.__setattr__(table, "frame", table.frame.with_columns(label=table.positive))
    groups = table.frame.select(table.by).unique(maintain_order=True) if table.by else pl.DataFrame([{}])
    n = max(groups.height, 1)
    lists = st.lists(SCORES[table.score_dtype] | st.none(), min_size=1, max_size=3)
    asked = data.draw(st.lists(lists, min_size=n, max_size=n))
    listed = pl.Series("threshold", asked, dtype=pl.List(table.score_dtype))
    frame = (groups.with_columns(listed) if table.by else listed.to_frame()).explode(
        "threshold", empty_as_null=False
    )
    frame = frame.with_columns(note=pl.lit("x"))
    found = prc(table.frame).operating_points(
        ETAS, by=table.by, threshold=frame, recall=0.5, columns="all", **how
    )
    columns = [name for name in found.columns if name not in table.by]
    parts = []
    for number, thresholds in enumerate(asked):
        own = table.frame
        if table.by:
            own = own.join(groups[number], on=table.by, nulls_equal=True, maintain_order="left")
        alone = prc(own).operating_points
        known = [t for t in thresholds if t is not None]
        rows = alone(ETAS, by=table.by, threshold=known or None, recall=0.5, columns="all", **how)
        for eta in ETAS if rows.height else []:
            of_eta = iter(rows.filter(eta=eta).rows())
            for t in thresholds:
                if t is None:
                    parts.append((eta, "threshold", *[None] * (len(columns) - 2)))
                else:
                    parts.append(next(of_eta)[len(table.by) :])
            parts.append(next(of_eta)[len(table.by) :])
    assert sorted(map(str, found.select(columns).rows())) == sorted(map(str, parts))
    # The frame may be lazy where the table is: queries of `test_plans` have DataFrames.
    query = prc(table.frame.lazy()).operating_points(
        ETAS, by=table.by, threshold=frame.lazy(), recall=0.5, columns="all", **how
    )
    assert_same(query.collect(), found)


DF = pl.DataFrame(
    {
        "m": ["a"] * 40 + ["b"] * 40,
        "market": ["x", None] * 40,
        "score": [(i * 37) % 23 for i in range(80)],
        "label": [i % 3 == 0 for i in range(80)],
    }
)
T = pl.DataFrame({"m": ["b", "a", "b"], "threshold": [10.5, 3.0, None]})


def test_rows_of_a_group_are_targets_in_their_order() -> None:
    points = DF.prc.operating_points(ETAS, by="m", threshold=T, maximize="f1", columns="all")
    shown = points.filter(eta=0.37).select("m", "criterion", "target", "threshold").rows()
    best = points.filter(pl.col("criterion") != "threshold", eta=0.37)["threshold"].to_list()
    assert shown == [
        ("a", "threshold", 3.0, 3),
        ("a", "maximize(f1)", None, best[0]),
        ("b", "threshold", 10.5, 11),
        ("b", "threshold", None, None),
        ("b", "maximize(f1)", None, best[1]),
    ]
    [null] = points.filter(pl.col("target").is_null(), eta=0.37, criterion="threshold").to_dicts()
    assert all(null[name] is None for name in ("tp", "fp", "fn", "tn", "recall", "fpr", "precision"))


def test_a_table_of_operating_points_fits() -> None:
    """The thresholds that were chosen give their own rows back, at their own prevalences."""
    chosen = DF.prc.operating_points(
        [None, *ETAS], by=["m", "market"], precision=0.4, fpr=0.2, per=10, columns="all"
    )
    again = DF.prc.operating_points(
        [None, *ETAS], by=["m", "market"], threshold=chosen, per=10, columns="all"
    )
    same = [name for name in chosen.columns if name not in ("criterion", "target")]
    assert_same(again.select(same), chosen.select(same))
    shuffled = DF.prc.operating_points(
        ETAS,
        by=["m", "market"],
        threshold=chosen.sample(fraction=1, shuffle=True, seed=1),
        columns="all",
    )
    assert shuffled.height == again.filter(pl.col("eta").is_in(ETAS)).height


@pytest.mark.parametrize("key", ["m", "market"])
def test_a_frame_may_have_some_of_the_groups_columns(key: str) -> None:
    keys = DF.select(key).unique().sort(key)
    frame = keys.with_columns(threshold=pl.Series([5, 9]))
    found = DF.prc.operating_points(0.1, by=["m", "market"], threshold=frame, columns="all")
    full = DF.select("m", "market").unique().join(frame, on=key, nulls_equal=True)
    assert_same(found, DF.prc.operating_points(0.1, by=["m", "market"], threshold=full, columns="all"))
    alike = DF.prc.operating_points(
        0.1, by="m", threshold=pl.DataFrame({"threshold": [5, 9]}), columns="all"
    )
    assert_same(alike, DF.prc.operating_points(0.1, by="m", threshold=[5, 9], columns="all"))


ONE_EACH = T.drop_nulls()
METHODS: dict[str, Callable[[Any], pl.DataFrame]] = {
    "sample_size": lambda t: DF.prc.sample_size(by="m", threshold=t),
    "resolution": lambda t: DF.prc.sample_size(by="m", threshold=t, solve_for="eta"),
    "ranking": lambda t: DF.prc.ranking(ETAS, model="m", metric="f1", threshold=t, columns="all"),
    "ranking, by": lambda t: DF.prc.ranking(
        ETAS, model="m", by="market", metric="f1", threshold=t, columns="all"
    ),
    "crossings": lambda t: DF.prc.crossings(model="m", metric="f1", threshold=t),
    "leaders": lambda t: DF.prc.crossings(model="m", metric="f1", threshold=t, leaders=True),
}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_with_targets_takes_a_frame(name: str) -> None:
    """With scores moved so that one threshold serves both groups, the results are those of that one."""
    moved = DF.with_columns(
        score=pl.when(m="a").then(2 * pl.col("score") - 5).otherwise(2 * pl.col("score") - 21)
    )
    # Where the operating point is the same at all prevalences, a column eta is one of those ignored.
    found = METHODS[name](ONE_EACH if "ranking" in name else ONE_EACH.with_columns(eta=0.9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "DF", moved)
        expected = METHODS[name](1)
    own = ("threshold", "target")
    assert found.height > 0
    assert_same(found.drop(own, strict=False), expected.drop(own, strict=False))


def test_score_columns_have_thresholds_by_name() -> None:
    """A comparison of columns knows them by a column `model`; other names are not in the table."""
    wide = pl.DataFrame(
        {"label": [1, 1, 0, 0] * 9, "a": range(36), "b": [n * 7 % 36 for n in range(36)]}
    )
    rows = {"model": ["b", "c", "a"], "threshold": [10, 99, 20]}
    long = wide.prc.unpivot_scores(["a", "b"], row="row")
    how: dict[str, Any] = {"eta": 0.1, "metrics": ["recall", "fpr"]}
    for dtype in (pl.String, pl.Categorical, pl.Enum(["a", "b", "c"])):
        frame = pl.DataFrame(rows).with_columns(pl.col("model").cast(dtype))
        found = wide.prc.compare(score=["a", "b"], threshold=frame, columns="all", **how)
        names = frame.with_columns(pl.col("model").cast(pl.String))
        expected = long.prc.compare(model="model", id="row", threshold=names, columns="all", **how)
        assert_same(found, expected)
    with pytest.raises(PrcError, match="no row for 1 group"):
        wide.prc.compare(score=["a", "b"], threshold=pl.DataFrame(rows).head(2), columns="all", **how)


def test_a_chart_takes_a_frame() -> None:
    assert DF.prc.plot.p3_curve(threshold=ONE_EACH, by="m").to_dict()["title"]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"threshold": T.head(1)}, "the threshold= frame has no row for 1 group.*such as m = a"),
    (
        {"threshold": ONE_EACH.with_columns(eta=0.2)},
        "the threshold= frame has no row for 2 group.*such as m = a, eta = 0.1",
    ),
    ({"threshold": T.with_columns(threshold=math.nan)}, "threshold= holds nan"),
    ({"threshold": T.drop("threshold")}, "add a numeric column 'threshold'"),
    ({"threshold": T.with_columns(threshold=pl.lit(b"1"))}, "add a numeric column 'threshold'"),
    (
        {"threshold": T.with_columns(m=1)},
        "column 'm' to one dtype: it is Int32 in the threshold= frame and String",
    ),
    ({"threshold": T, "by": None}, r"^pass by='m', or leave 'm' out"),
    (
        {"threshold": T.lazy()},
        r"^cast the thresholds of the LazyFrame from Float64 to the score's Int64, or call .collect",
    ),
    ({"alerts": 5}, "pass per=, the number of cases"),
    ({"alerts": 5, "per": 4}, "alerts= takes numbers from 0 to per=4; got 5"),
    ({"alerts": [1, -1], "per": 4}, "got -1"),
    ({"alerts": "1", "per": 4}, "got '1'"),
    ({"alerts": True, "per": 4}, "got True"),
    ({"alerts": 1, "per": math.inf}, "per= takes a number of cases above 0"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_what_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        DF.prc.operating_points(0.1, columns="all", **{"by": "m", **options})


def test_a_lazy_query_raises_when_it_runs() -> None:
    query = DF.lazy().prc.operating_points(0.1, by="m", threshold=T.head(1), columns="all")
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"no row for 1 group.*m = a"):
        query.collect()
    floats = DF.with_columns(pl.col("score").cast(pl.Float64)).lazy()
    lazy = floats.prc.operating_points(
        0.1, by="m", threshold=T.with_columns(threshold=math.nan).lazy(), columns="all"
    )
    with pytest.raises(pl.exceptions.InvalidOperationError, match="holds NaN in 3 row"):
        lazy.collect()


def test_models_are_ranked_at_one_threshold_each() -> None:
    for call in METHODS.values():
        if call in (METHODS["sample_size"], METHODS["resolution"]):
            continue
        with pytest.raises(PrcError, match="holds several for a group, in 2 row"):
            call(T)


def test_rates_have_no_thresholds_for_a_frame_either() -> None:
    points = pl.DataFrame({"tpr": [0.5], "fpr": [0.1]})
    with pytest.raises(PrcError, match="rates= has no thresholds"):
        points.prc.operating_points(0.1, threshold=T, rates=("tpr", "fpr"), columns="all")


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pl.Float32(), [0.1, 0.7]),
        (pl.Decimal(10, 2), [0.105, 3.0]),
        (pl.Int8(), [0.5, 300.0]),
        (pl.Int128(), [2**100, -3]),
        (pl.Boolean(), [0.5, 2.0]),
    ],
)
def test_numbers_of_a_frame_are_compared_exactly(dtype: pl.DataType, values: list[float]) -> None:
    df = pl.DataFrame({"score": pl.Series([0, 1, 1], dtype=pl.Int8).cast(dtype), "label": [0, 1, 0]})
    wide = pl.Int128 if isinstance(values[0], int) else pl.Float64
    frame = pl.DataFrame({"threshold": pl.Series(values, dtype=wide)})
    assert_same(
        df.prc.operating_points(0.1, threshold=frame, columns="all"),
        df.prc.operating_points(0.1, threshold=values, columns="all"),
    )
    decimals = [Decimal(str(value)) for value in values]
    listed = pl.DataFrame({"threshold": pl.Series(decimals, dtype=pl.Decimal(38, 4))})
    assert_same(
        df.prc.operating_points(0.1, threshold=listed, columns="all"),
        df.prc.operating_points(0.1, threshold=decimals, columns="all"),
    )


# Alerts -----------------------------------------------------------------------------------------


@examples(60)
@given(
    tables(weights=SMALL[:3]),
    st.lists(st.integers(0, 12), min_size=1, max_size=3),
    st.sampled_from([12, 2_000_000, 0.5]),
)
def test_a_budget_of_alerts_is_a_rate_of_events(table: Table, numbers: list[int], per: float) -> None:
    alerts = [number * per / 12 for number in numbers]
    how: dict[str, Any] = {"by": table.by, "pos_label": table.pos_label, "weight": table.weight}
    found = prc(table.frame).operating_points(0.25, alerts=alerts, per=per, columns="all", **how)
    rates = prc(table.frame).operating_points(
        0.25, predicted_positive_rate=[a / per for a in alerts], per=per, columns="all", **how
    )
    assert_same(found.drop("criterion", "target"), rates.drop("criterion", "target"))
    assert set(found["criterion"]) <= {"alerts"}
    assert found["target"].to_list() == alerts * (found.height // len(alerts))
    for budget, number in found.select("target", "alerts").rows():
        assert number is None or number <= budget * (1 + 1e-15)


def test_a_budget_that_is_met_exactly_is_met() -> None:
    """7 of 100 rows score highest, and 0.07 * 100 is 7.000000000000001."""
    df = pl.DataFrame({"score": [2] * 7 + [1] * 93, "label": [1, 0, 0, 0, 0, 0, 0, *[1] * 9, *[0] * 84]})
    [point] = df.prc.operating_points(alerts=7, per=100, columns="all").to_dicts()
    assert (point["criterion"], point["target"], point["threshold"]) == ("alerts", 7.0, 2)


def test_alerts_in_every_door() -> None:
    point = DF.prc.operating_points(0.1, by="m", alerts=3, per=10, columns="all")
    threshold = pl.col("score").prc.threshold("label", 0.1, alerts=3, per=10)
    found = DF.group_by("m", maintain_order=True).agg(threshold.alias("threshold"))
    assert_same(found, point.select("m", "threshold"))
    ranks = DF.prc.ranking(0.1, model="m", metric="recall", alerts=3, per=10, columns="all").sort(
        "model"
    )
    assert ranks["value"].to_list() == point["recall"].to_list()
    for call in (
        lambda: pl.col("score").prc.threshold("label", 0.1, recall=0.5, per=10),
        lambda: DF.prc.ranking(0.1, model="m", per=10, columns="all"),
        lambda: DF.prc.ranking(0.1, model="m", metric="recall", recall=0.5, per=10, columns="all"),
    ):
        with pytest.raises(PrcError, match="per= is the number of cases among which alerts are counted"):
            call()
