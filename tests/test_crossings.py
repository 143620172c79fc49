"""Where models trade places, and who leads: against exact fractions on grids of prevalences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, crossing, metrics
from polars_prcurve.core.ground.share_texts import read_share
from tests.support import oracle
from tests.support.all_metrics import ALL_CURVE_METRICS, ALL_POINT_METRICS
from tests.support.comparing import assert_same
from tests.support.models import (
    KINDS,
    Models,
    direction_sign,
    draw_examples,
    expit,
    logit,
    models,
    value,
)
from tests.support.profiles import examples
from tests.support.tiers import slow_unless

LOW, HIGH = 1e-6, 0.5
QUICK = (
    "average_precision",
    "pr_auc",
    "pr_auc_hull",
    "average_precision_interpolated",
    "precision_at_recall(0.55)",
    "best(f1)",
    "auprg",
    "recall_at_precision(0.4)",
    *(f'pr_auc_trapezoid("{anchor}")' for anchor in ("first", "one", "none")),
)


def can_trade_places(metric: metrics.PointMetric | metrics.CurveMetric) -> bool:
    """Return whether two models can be ranked by a metric, in an order that depends on prevalence."""
    return metric.depends_on_eta and metric.direction != "none"


CURVE_METRICS: dict[str, metrics.CurveMetric] = {
    metric.name: metric
    for metric in (*ALL_CURVE_METRICS, metrics.best("fdr"), metrics.best("false_omission_rate"))
    if can_trade_places(metric)
}
Score = Callable[[Any, float], "Fraction | None"]
"""From a model and a prevalence to what is the better the greater."""


def inside(low: float, high: float, n: int) -> list[float]:
    """Prevalences between two, in logit, and close to both."""
    a, b = logit(low), logit(high)
    close = [a + 1e-7, b - 1e-7] if b - a > 1e-6 else []
    return [expit(x) for x in [*close, *(a + (b - a) * (k + 0.37) / n for k in range(n))]]


def order(score: Score, a: Any, b: Any, eta: float) -> int:
    """1 if a is better, -1 if b is, 0 if neither or by no more than rounding."""
    of_a, of_b = score(a, eta), score(b, eta)
    if of_a is None or of_b is None or abs(of_a - of_b) <= 1e-13 * max(abs(of_a), abs(of_b)):
        return 0
    return 1 if of_a > of_b else -1


def assert_crossings(
    rows: Sequence[dict[str, Any]], names: Sequence[Any], score: Score, n: int, ends: tuple[float, float]
) -> None:
    """Of one group: the rows give the order of each pair everywhere."""
    for a, b in combinations(names, 2):
        own = [(r["eta"], r["a"] == a) for r in rows if {r["a"], r["b"]} == {a, b}]
        assert own == sorted(own)
        assert all(x != y for (_, x), (_, y) in pairwise(own)), (a, b, own)
        edges = [ends[0], *(eta for eta, _ in own), ends[1]]
        for k, (low, high) in enumerate(pairwise(edges)):
            found = {order(score, a, b, eta) for eta in inside(low, high, n)} - {0}
            if own:
                before = own[k - 1][1] if k else not own[0][1]
                assert found <= {-1 if before else 1}, (a, b, low, high, found)
            else:
                assert len(found) <= 1, (
                    a,
                    b,
                    [(e, order(score, a, b, e)) for e in inside(low, high, n)],
                )


def assert_leaders(
    rows: Sequence[dict[str, Any]], names: Sequence[Any], score: Score, n: int, ends: tuple[float, float]
) -> None:
    known = [name for name in names if score(name, 0.3) is not None]
    assert bool(rows) == bool(known)
    if not rows:
        return
    assert math.isclose(rows[0]["eta_low"], ends[0], rel_tol=1e-12)
    assert math.isclose(rows[-1]["eta_high"], ends[1], rel_tol=1e-12)
    for row, after in pairwise(rows):
        assert row["eta_high"] == after["eta_low"]
        assert row["model"] != after["model"]
    for row in rows:
        assert row["eta_low"] < row["eta_high"]
        for eta in inside(row["eta_low"], row["eta_high"], n):
            assert not any(order(score, name, row["model"], eta) > 0 for name in known), (row, eta)
    if all(order(score, a, b, eta) == 0 for a, b in combinations(known, 2) for eta in inside(*ends, n)):
        assert [row["model"] for row in rows] == [known[0]]


def by_group(
    of: Models, found: pl.DataFrame, columns: dict[str, str]
) -> dict[Any, list[dict[str, Any]]]:
    """Rows by the key of their group, models by their keys."""
    assert found.columns[: len(of.table.by)] == of.table.by
    for name in of.table.by:
        assert found.schema[name] == of.frame.schema[name]
    for name in columns:
        assert found.schema[name] == of.frame.schema["m"]
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in found.to_dicts():
        named = {to: of.key("m", row[name]) for name, to in columns.items()}
        groups.setdefault(of.group_key(row), []).append({**row, **named})
    assert list(groups) == sorted(groups)
    return groups


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("name", slow_unless(QUICK.__contains__, CURVE_METRICS))
@given(data=st.data())
@examples(6)
def test_crossings_and_leaders(name: str, data: st.DataObject) -> None:
    of = data.draw(models())
    how = {**of.package, "metric": CURVE_METRICS[name]}
    crossings, leaders = of.frame.prc.crossings(**how), of.frame.prc.crossings(**how, leaders=True)
    assert crossings.columns == [*of.table.by, "model_a", "model_b", "eta", "value"]
    assert leaders.columns == [*of.table.by, "eta_low", "eta_high", "model"]
    trades = by_group(of, crossings, {"model_a": "a", "model_b": "b"})
    stretches = by_group(of, leaders, {"model": "model"})
    assert set(trades) | set(stretches) <= set(of.groups)
    sign = direction_sign(name)
    for group, sweeps in of.groups.items():

        def score(model: Any, eta: float, sweeps: Any = sweeps) -> Fraction | None:
            found = value(name, sweeps[model], eta)
            has_rates = all(None not in (p["recall"], p["fpr"]) for p in sweeps[model])
            if found is None and name.startswith("recall_at") and has_rates:
                return Fraction(0)  # no threshold meets the target, so that nothing is found
            return None if found is None else sign * found

        n = 4 if name.startswith("pr_auc") else 9
        rows = trades.get(group, [])
        assert [r["eta"] for r in rows] == sorted(r["eta"] for r in rows)
        assert_crossings(rows, list(sweeps), score, n, (LOW, HIGH))
        assert_leaders(stretches.get(group, []), list(sweeps), score, n, (LOW, HIGH))
        for row in rows:
            if "recall_at" not in name:  # which jumps there
                expected = [value(name, sweeps[row[end]], row["eta"]) for end in ("a", "b")]
                assert [row["value"]] * 2 == pytest.approx(expected, rel=1e-9, abs=1e-12)
        changes = {row["eta_low"] for row in stretches.get(group, [])[1:]}
        if not name.startswith(("recall_at", "best")):  # those may part after being equal
            assert all(any(math.isclose(c, r["eta"], rel_tol=1e-8) for r in rows) for c in changes)


def test_values_are_those_of_the_summary() -> None:
    df = draw_examples(3, 200, a=(1, 1), b=(1.5, 2), c=(2, 4), d=(1.2, 1.3))
    for metric in ("average_precision", "f1", metrics.best("mcc"), metrics.auprg):
        found = df.prc.crossings(metric=metric, eta_range=(1e-5, 0.9))
        asked = metrics.best(metric) if metric == "f1" else metric
        for a, b, eta, score in found.rows():
            values = df.prc.summary(eta, metrics=asked, by="model", columns="all")
            for model in (a, b):
                assert values.filter(model=model)["value"].item() == pytest.approx(score, rel=1e-8)


# Forms of the table ---------------------------------------------------------------------------

OF_MODELS: list[dict[str, Any]] = [
    {},
    {"of": "roc"},
    {"leaders": True},
    {"of": "roc", "leaders": True},
]


@given(models(keys=["none", "String", "two"], kinds=["String", "Int8"], weights=[""]))
@examples(5)
def test_counts_and_rates_and_lazy_tables_give_the_same(of: Models) -> None:
    by = [*of.table.by, "m"]
    counts = of.frame.prc.counts(**{**of.table.package, "by": by})
    both = of.frame.prc.sweep(**{**of.table.package, "by": by}).drop_nulls(["recall", "fpr"])
    asked = {"by": of.table.by or None, "model": "m"}
    for more in OF_MODELS:
        found = of.frame.prc.crossings(**of.package, **more)
        lazy = of.frame.lazy().prc.crossings(**of.package, **more)
        assert isinstance(lazy, pl.DataFrame)
        assert_same(lazy, found)
        assert_same(counts.prc.crossings(counts=("n_pos", "n_neg"), **asked, **more), found)
        of_rates = both.prc.crossings(rates=("recall", "fpr"), **asked, **more)
        if len(more) == 2:  # dominance
            found = found.filter(pl.col("on_hull").is_not_null())
        assert_same(of_rates, found)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("kind", slow_unless(lambda kind: kind in ("Enum", "Float64", "Struct"), KINDS))
@pytest.mark.parametrize("more", OF_MODELS, ids=str)
@given(data=st.data())
@examples(2)
def test_empty_tables(more: dict[str, Any], kind: str, data: st.DataObject) -> None:
    of = data.draw(models(kinds=[kind]))
    empty = of.frame.clear().prc.crossings(
        **{**of.package, "pos_label": None, "label": pl.lit(True)}, **more
    )
    assert empty.is_empty()
    assert empty.schema == of.frame.prc.crossings(**of.package, **more).schema


# Prevalences and models -----------------------------------------------------------------------

THREE = pl.DataFrame(
    {
        "model": ["a", "a", "b", "b", "c", "c"],
        "tpr": [0.9, 1.0, 0.3, 1.0, 0.5, 1.0],
        "fpr": [0.1, 1.0, 0.0, 1.0, 0.0, 1.0],
    }
)
RATES: dict[str, Any] = {"rates": ("tpr", "fpr")}


def test_who_overtakes_all_at_once_is_the_best_of_them() -> None:
    """Of a, recall is lost above a prevalence of 0.1: both others overtake it there."""
    lost = metrics.point("lost", lambda tp, fn, fp, tn: tp / (tp + fn) - (fp > 0) * (tp + fn > 0.1))
    found = THREE.prc.crossings(metric=lost, fpr=0.1, **RATES, leaders=True)
    assert found["model"].to_list() == ["a", "c"]
    assert found["eta_low"].to_list() == pytest.approx([1e-6, 0.1], rel=1e-9)
    # At precision 0.5, it has recall above that prevalence alone, and overtakes both.
    asked: dict[str, Any] = {"metric": metrics.recall_at_precision(0.5), **RATES}
    found = THREE.prc.crossings(**asked, leaders=True)
    assert found["model"].to_list() == ["c", "a"]
    assert found["eta_low"].to_list() == pytest.approx([1e-6, 0.1], rel=1e-9)
    assert THREE.prc.crossings(**asked).select("model_a", "model_b").rows() == [("b", "a"), ("c", "a")]


def test_a_leader_may_change_where_models_part() -> None:
    """Neither reaches precision 0.3 below a prevalence of 0.125: equal, and later one is better."""
    df = pl.DataFrame({"model": ["a", "b"], "tpr": [0.5, 0.6], "fpr": [0.2, 0.2]})
    asked: dict[str, Any] = {"metric": metrics.recall_at_precision(0.3), **RATES}
    found = df.prc.crossings(**asked, leaders=True)
    assert found["model"].to_list() == ["a", "b"]
    assert found["eta_high"][0] == pytest.approx(0.125, rel=1e-9)
    assert df.prc.crossings(**asked).is_empty()


def test_three_curves_through_one_place() -> None:
    """a > b > c below and c > b > a above: c takes over, and b leads nowhere."""
    tpr = {"a": 0.2, "b": 0.4, "c": 0.6}
    df = pl.DataFrame({"model": list(tpr), "tpr": tpr.values(), "fpr": [0.02, 0.04, 0.06]})
    how: dict[str, Any] = {"metric": "accuracy", "recall": 0.1, **RATES}
    found = df.prc.crossings(**how)
    assert found.select("model_a", "model_b").rows() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert found["eta"].to_list() == pytest.approx([1 / 11] * 3)
    leaders = df.prc.crossings(**how, leaders=True)
    assert leaders["model"].to_list() == ["a", "c"]
    assert leaders["eta_low"][1] == pytest.approx(1 / 11)


def test_equal_models_do_not_trade_places() -> None:
    df = draw_examples(1, 100, a=(1, 1), b=(1.3, 1.5))
    twice = pl.concat([df, df.with_columns(pl.col("model") + "_")])
    found, of_two = twice.prc.crossings(), df.prc.crossings()
    assert len(of_two) > 0
    assert len(found) == 4 * len(of_two)
    assert not any(
        {a, b} in ({"a", "a_"}, {"b", "b_"}) for a, b in found.select("model_a", "model_b").rows()
    )
    assert_same(twice.prc.crossings(leaders=True), df.prc.crossings(leaders=True))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("low", [1e-300, 1e-11, 0.01])
@pytest.mark.parametrize("high", [0.5, 1 - 6e-6, 1 - 1e-15])
def test_ranges(low: float, high: float) -> None:
    """Each crossing found in a range is found in a wider one; leaders end where the range does."""
    df = draw_examples(3, 60, a=(1, 1), b=(1.5, 2), c=(2, 4))
    found = df.prc.crossings(eta_range=(low, high), metric="average_precision")
    usual = df.prc.crossings(eta_range=(0.02, 0.4))
    within = found.filter(pl.col("eta").is_between(0.02, 0.4))
    assert within.rows() == [
        (*r[:2], *(pytest.approx(x, rel=1e-9) for x in r[2:])) for r in usual.rows()
    ]
    leaders = df.prc.crossings(eta_range=(low, high), leaders=True)
    assert leaders["eta_low"][0] == low
    assert leaders["eta_high"][-1] == high
    assert leaders["eta_low"].to_list()[1:] == leaders["eta_high"].to_list()[:-1]


def test_a_single_model_leads() -> None:
    df = draw_examples(1, 30, a=(1, 1))
    assert df.prc.crossings(leaders=True).rows() == [(pytest.approx(1e-6), pytest.approx(0.5), "a")]
    assert df.prc.crossings().is_empty()
    one_class = df.filter(pl.col("label"))
    assert one_class.prc.crossings(leaders=True).is_empty()


def test_a_metric_that_is_constant_has_no_crossing() -> None:
    constant = metrics.point("constant", lambda tp, fn, fp, tn: 0 * (tp + fn + fp + tn) + 1)
    for target in ({}, {"recall": 0.5}):
        how: dict[str, Any] = {"metric": constant, **target}
        df = draw_examples(1, 30, b=(1, 1), a=(1, 1))
        assert df.prc.crossings(**how).is_empty()
        assert df.prc.crossings(**how, leaders=True)["model"].to_list() == ["a"]


# Points ---------------------------------------------------------------------------------------

POINT_METRICS = {metric.name: metric for metric in ALL_POINT_METRICS if can_trade_places(metric)}
share = st.integers(0, 20).map(lambda k: k / 20)


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", POINT_METRICS)
@given(data=st.data())
@examples(7)
def test_points_at_a_target(name: str, data: st.DataObject) -> None:
    """One point a model, so that the target chooses it."""
    points = data.draw(st.lists(st.tuples(share, share), min_size=1, max_size=4))
    df = pl.DataFrame(
        [(i, t, f) for i, (t, f) in enumerate(points)], ["model", "tpr", "fpr"], orient="row"
    )
    how: dict[str, Any] = {"metric": POINT_METRICS[name], "eta_range": (1e-4, 0.99), **RATES}
    target = data.draw(st.sampled_from([{"recall": 0.5}, {"fpr": 0.5}]))
    [(kind, limit)] = target.items()
    chosen = [p if (p[0] >= limit if kind == "recall" else p[1] <= limit) else None for p in points]

    def score(model: int, eta: float) -> Fraction | None:
        point = chosen[model]
        if point is None:
            return None
        found = oracle.metric(name, *map(Fraction, point), Fraction(eta))
        if isinstance(found, float):
            return Fraction(-(10**300))  # gains without recall
        return None if found is None else direction_sign(name) * Fraction(found)

    rows = df.prc.crossings(**how, **target).rename({"model_a": "a", "model_b": "b"}).to_dicts()
    names = list(range(len(points)))
    assert_crossings(rows, names, score, 25, (1e-4, 0.99))
    leaders = df.prc.crossings(**how, **target, leaders=True).to_dicts()
    assert_leaders(leaders, names, score, 25, (1e-4, 0.99))
    for row in rows:
        a, b = chosen[row["a"]], chosen[row["b"]]
        assert a is not None
        assert b is not None
        if name != "markedness":
            assert row["eta"] == pytest.approx(crossing(a, b, POINT_METRICS[name]), rel=1e-12)
        both = [float(score(m, row["eta"]) or 0) * direction_sign(name) for m in (row["a"], row["b"])]
        assert both == pytest.approx([row["value"]] * 2, rel=1e-9, abs=1e-12)


def test_markedness_may_trade_places_twice() -> None:
    df = pl.DataFrame({"model": ["a", "b"], "tpr": [0.6, 0.95], "fpr": [0.1, 0.45]})
    grid = [k / 1000 for k in range(1, 1000)]
    better = [metrics.markedness(0.6, 0.1, eta) > metrics.markedness(0.95, 0.45, eta) for eta in grid]
    changes = [eta for eta, x, y in zip(grid, better, better[1:], strict=False) if x != y]
    found = df.prc.crossings(metric="markedness", fpr=1.0, eta_range=(1e-4, 0.9999), **RATES)
    assert len(found) == len(changes)
    assert found["eta"].to_list() == pytest.approx(changes, abs=1e-3)


def test_points_are_the_rows_that_targets_choose() -> None:
    df = draw_examples(5, 80, a=(1, 1), b=(2, 2), c=(1.5, 0.5)).with_columns(pl.col("score").round(1))
    for target in ({"threshold": 1.0}, {"recall": 0.7}, {"fpr": 0.2}, {"threshold": 99.0}):
        rates = df.prc.operating_points(0.5, by="model", columns="all", **target).select(
            "model", "recall", "fpr"
        )
        found = df.prc.crossings(metric="f1", eta_range=(1e-4, 0.99), **target)
        expected = [
            (place, {a, b})
            for (a, *p), (b, *q) in combinations(rates.rows(), 2)
            if (place := crossing(tuple(p), tuple(q), "f1")) is not None and 1e-4 < place < 0.99
        ]
        assert [({a, b}, eta) for a, b, eta, _ in found.rows()] == [
            (both, pytest.approx(place)) for place, both in sorted(expected, key=lambda of: of[0])
        ]
        for a, b, eta, score in found.rows():
            at = df.prc.operating_points(eta, by="model", metrics="f1", columns="all", **target)
            for model in (a, b):
                assert at.filter(model=model)["f1"].item() == pytest.approx(score)


@pytest.mark.slow
def test_a_metric_of_your_own_is_scanned() -> None:
    f1 = metrics.point("mine", lambda tp, fn, fp, tn: 2 * tp / (2 * tp + fn + fp))
    loss = metrics.point(
        "loss", lambda tp, fn, fp, tn: (fn + fp) / (2 * tp + fn + fp), direction="minimize"
    )
    df = draw_examples(5, 80, a=(1, 1), b=(2, 2), c=(1.5, 0.5))
    for target in ({}, {"recall": 0.7}, {"fpr": 0.1}):
        for leaders in (False, True):
            expected = df.prc.crossings(metric="f1", leaders=leaders, **target)
            for own in (f1, loss):
                found = df.prc.crossings(metric=own, leaders=leaders, **target)
                if own is loss and not leaders:
                    found = found.with_columns(value=1 - pl.col("value"))
                assert found.columns == expected.columns
                for row, other in zip(found.rows(), expected.rows(), strict=True):
                    assert row == tuple(
                        pytest.approx(x, rel=1e-8) if isinstance(x, float) else x for x in other
                    )


@pytest.mark.parametrize("leaders", [False, True])
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"metric": "roc_auc"}, "on prevalence; roc_auc does not"),
        ({"metric": "recall", "fpr": 0.1}, "on prevalence; recall does not"),
        ({"metric": "random_average_precision"}, "pass a metric with a direction"),
        ({"metric": "predicted_positive_rate", "fpr": 0.1}, "pass a metric with a direction"),
        ({"metric": "average_precison"}, "did you mean 'average_precision'"),
        ({"fpr": 0.1}, "leave out fpr=: average_precision describes a whole curve"),
        (
            {"metric": "f1", "fpr": 0.1, "recall": 0.5},
            r"call once for each target: at most one .*; got 2",
        ),
        ({"metric": "f1", "fpr": [0.1, 0.2]}, r"call once for each target: at most one .*; got 2"),
        ({"eta_range": (0.5, 0.1)}, "0 < low < high < 1"),
        ({"eta_range": (0.0, 0.1)}, "0 < low < high < 1"),
        ({"eta_range": (0.1, 1.0)}, "at 1 models are equal"),
        ({"eta_range": 0.1}, "got 0.1"),
        ({"eta_range": (0.1, 0.2, 0.3)}, "two prevalences"),
        ({"eta_range": (0.1, float("nan"))}, "two prevalences"),
        ({"eta_range": ("a", "b")}, "two prevalences"),
        ({"model": "modl"}, "there is no column 'modl' for model=; did you mean 'model'"),
        ({"rates": ("score", "score"), "metric": "f1", "threshold": 1.0}, "threshold= finds none"),
    ],
)
def test_arguments(leaders: bool, how: dict[str, Any], words: str) -> None:
    df = draw_examples(1, 20, a=(1, 1), b=(1, 2))
    for door in (df.prc, df.lazy().prc):
        with pytest.raises(PrcError, match=words):
            door.crossings(leaders=leaders, **how)


@pytest.mark.parametrize(
    "more", [{"metric": "f1"}, {"recall": 0.5}, {"threshold": 1}, {"eta_range": (0.1, 0.2)}]
)
def test_crossings_of_roc_curves_know_no_metric_and_no_prevalence(more: dict[str, Any]) -> None:
    for door in (THREE.prc, THREE.lazy().prc):
        words = rf'leave out {next(iter(more))}=: of="roc" compares the curves themselves'
        with pytest.raises(PrcError, match=words):
            door.crossings(of="roc", **RATES, **more)
    with pytest.raises(PrcError, match='of= takes "pr" or "roc"'):
        THREE.prc.crossings(of="prg", **RATES)


@pytest.mark.parametrize("metric", ["average_precision", "precision"])
@pytest.mark.parametrize("eta_range", [None, (1e-6, 0.3), (0.001, 0.5), ("1%", "7%"), (1 / 3, 0.9)])
def test_ends_of_leaders_are_the_prevalences_that_were_passed(metric: str, eta_range: Any) -> None:
    target = {} if metric == "average_precision" else {"fpr": 0.1}
    words = {"metric": metric, **target, **({} if eta_range is None else {"eta_range": eta_range})}
    low, high = (1e-6, 0.5) if eta_range is None else (read_share("", eta, "") for eta in eta_range)
    for seed in range(3):
        df = draw_examples(seed, 60, a=(1, 1), b=(1.5, 2), c=(2, 4))
        leaders = df.prc.crossings(**words, leaders=True)
        assert (leaders["eta_low"][0], leaders["eta_high"][-1]) == (low, high)
