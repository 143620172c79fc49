"""Differences of models at thresholds that a sample found, against a loop over its rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import cycle, pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import intervals, metrics
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.tiers import slow_unless

NAMES = ["precision", "recall", "fpr", "f1", "mcc", "lift", "net_benefit(0.2)"]
ASKED: Any = [*NAMES[:-1], metrics.net_benefit(0.2)]
Z = NormalDist().inv_cdf(0.95)
Drawn = list[tuple[int, int, bool]]
Rates = tuple[float, float]


def bound(rate: float, n: int) -> Rates:
    """Wilson's interval of a rate of n examples."""
    middle, spread = rate + Z * Z / (2 * n), Z * math.sqrt((rate * (1 - rate) + Z * Z / (4 * n)) / n)
    low, high = ((middle + sign * spread) / (1 + Z * Z / n) for sign in (-1, 1))
    return max(0.0, low), (1.0 if rate == 1 else high)


def meets(target: str, value: float, recall: float, fpr: float, eta: float) -> bool:
    reached = float(getattr(metrics, target)(recall, fpr, eta))
    if target in ("fpr", "predicted_positive_rate"):
        return reached <= value * (1 + 1e-12)
    return reached >= value * (1 - 1e-12)


def meet(target: str, rows: list[Rates], test: Callable[[Rates], bool]) -> int | None:
    """The first row that passes the test for a recall, otherwise the last one."""
    passing = [i for i, row in enumerate(rows) if test(row)]
    if not passing:
        return None
    return passing[0] if target == "recall" else passing[-1]


def compute(name: str, recall: float, fpr: float, eta: float) -> float:
    metric = metrics.net_benefit(0.2) if "(" in name else getattr(metrics, name)
    with np.errstate(all="ignore"):
        return float(metric(recall, fpr, eta))


def scale(name: str, value: float) -> float:
    """The value on the scale of distances, which has no bounds."""
    if "(" in name:
        return value
    low, high = getattr(metrics, name).range
    below, above = (0.0 if limit != 0 and abs(value - limit) < 1e-12 else abs(value - limit)
                    for limit in (low, high))  # fmt: skip
    if math.isinf(high):
        return math.log(below) if below > 0 else -math.inf
    return math.inf if above == 0 else -math.inf if below == 0 else math.log(below / above)


def unscale(name: str, value: float) -> float:
    if "(" in name:
        return value
    low, high = getattr(metrics, name).range
    if math.isinf(high):
        return float(low + np.exp(value))
    with np.errstate(all="ignore"):
        return float(low + (high - low) / (1 + np.exp(-value)))


def expect_model(pairs: list[tuple[int, bool]], target: str, value: float, eta: float) -> Any:
    """The value of each metric at the target, its ends, and how far the rates move it; and the score."""
    n_pos = sum(label for _, label in pairs)
    n_neg = len(pairs) - n_pos
    cuts = sorted({score for score, _ in pairs}, reverse=True)
    rows = [
        tuple(
            sum(s >= cut and label == of for s, label in pairs) / n
            for of, n in ((True, n_pos), (False, n_neg))
        )
        for cut in cuts
    ]
    row = meet(target, rows, lambda rates: meets(target, value, *rates, eta))
    if row is None:
        return None
    own = rows[row]
    at_ends: list[list[Rates]] = [[], []]
    for i, n in ((0, n_pos), (1, n_neg)):
        for end in (0, 1):
            moved = [
                tuple(bound(r, n)[end] if j == i else r for j, r in enumerate(rates)) for rates in rows
            ]
            found = meet(target, moved, lambda rates: meets(target, value, *rates, eta))
            beyond = 1.0 if target == "recall" else 0.0
            none = tuple(bound(beyond, n)[end] if j == i else beyond for j in (0, 1))
            at_ends[i].append(none if found is None else moved[found])
        before = [0.0, *(rates[i] for rates in rows)]
        steps = [after - rate for rate, after in pairwise(before)][row : row + 2]
        low, high = bound(own[i], n)
        step = max(1 / n, min(max(steps), (high - low) / 2))
        for way in (-step, step):
            at_ends[i].append(
                tuple(min(1.0, max(0.0, r + way)) if j == i else r for j, r in enumerate(own))
            )
    expected: dict[str, Any] = {}
    for name in NAMES:
        estimate = compute(name, *own, eta)
        values = [[compute(name, *rates, eta) for rates in ends] for ends in at_ends]
        values = [[v for v in ends if not math.isnan(v)] for ends in values]
        if math.isnan(estimate):
            expected[name] = None
            continue
        middle, scaled = scale(name, estimate), [[scale(name, v) for v in ends] for ends in values]
        if math.isinf(middle):
            every = [estimate, *values[0], *values[1]]
            low, high = min(every), max(every)
        else:
            below = math.hypot(*(max(0.0, middle - min(of)) for of in scaled))
            above = math.hypot(*(max(0.0, max(of) - middle) for of in scaled))
            low, high = unscale(name, middle - below), unscale(name, middle + above)
        with np.errstate(all="ignore"):
            moves = [float(np.float64(max(of)) - min(of)) for of in scaled]
        expected[name] = estimate, min(low, estimate), max(high, estimate), moves
    return expected, cuts[row]


def correlate(rows: Drawn, cuts: tuple[int, int], moves: Any) -> float:
    """The correlation of both values, from whether each model flags each example."""
    shared = 0.0
    for i, positive in enumerate((True, False)):
        flags = [(a >= cuts[0], b >= cuts[1]) for a, b, label in rows if label == positive]
        n = len(flags) + 1
        of_a, of_b = ((sum(flag[j] for flag in flags) + 0.5) / n for j in (0, 1))
        both = sum(a and b for a, b in flags) / n
        agreement = (both - of_a * of_b) / math.sqrt(of_a * (1 - of_a) * of_b * (1 - of_b))
        shared += agreement * moves[0][i] * moves[1][i]
    with np.errstate(all="ignore"):
        found = np.float64(shared) / np.prod([math.hypot(*of) for of in moves])
    return 0.0 if np.isnan(found) else float(found)


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), min_size=2, max_size=14),
    st.sampled_from(["recall", "fpr", "predicted_positive_rate", "precision"]),
    st.sampled_from([0.1, 0.25, 0.5, 0.8, 1.0]),
    st.sampled_from([0.001, 0.05, 0.4]),
)
def test_by_definition(drawn: Drawn, target: str, value: float, eta: float) -> None:
    n_pos = sum(label for *_, label in drawn)
    if not 1 <= n_pos <= 7 or n_pos == len(drawn):  # of 8 positives on, the end of recall is another
        return
    df = pl.DataFrame(drawn, schema=["a", "b", "label"], orient="row")
    asked: Any = {"metrics": ASKED, "confidence": 0.9, target: value}
    models = [expect_model([(row[i], row[2]) for row in drawn], target, value, eta) for i in (0, 1)]
    check_summaries(df, eta, target, AT_TARGET[target](value), models)
    found = df.prc.compare(eta, score=["a", "b"], columns="all", **asked)
    long = df.unpivot(["a", "b"], index="label", variable_name="model", value_name="score")
    apart = long.prc.compare(model="model", paired=False, eta=eta, columns="all", **asked)
    assert apart["metric"].to_list() == found["metric"].to_list()
    for row, of_apart in zip(found.to_dicts(), apart.to_dicts(), strict=True):
        sides = [None if model is None else model[0][row["metric"]] for model in models]
        if None in sides:
            assert row["difference"] is row["low"] is row["significant"] is None
            assert row["doubt"] is not None
            assert of_apart["difference"] is of_apart["low"] is None
            continue
        a, b = sides
        shared = correlate(drawn, (models[0][1], models[1][1]), (a[3], b[3]))
        for end, d, e in (("low", a[0] - a[1], b[2] - b[0]), ("high", a[2] - a[0], b[0] - b[1])):
            reach = math.sqrt(max(0.0, d * d + e * e - 2 * shared * d * e))
            sign = -1 if end == "low" else 1
            assert row[end] == pytest.approx(a[0] - b[0] + sign * reach, rel=1e-6, abs=1e-6)
            by_itself = a[0] - b[0] + sign * math.hypot(d, e)
            assert of_apart[end] == pytest.approx(by_itself, rel=1e-6, abs=1e-6)
        assert row["standard_error"] is row["p_value"] is None


AT_TARGET: dict[str, Callable[[float], list[metrics.CurveMetric]]] = {
    "recall": lambda value: [metrics.precision_at_recall(value)],
    "precision": lambda value: [metrics.recall_at_precision(value)],
    "fpr": lambda value: [metrics.recall_at_fpr(value), metrics.precision_at_fpr(value)],
    "predicted_positive_rate": lambda value: [
        metrics.recall_at_alerts(value, 1),
        metrics.precision_at_alerts(value, 1),
    ],
}


def check_summaries(
    df: pl.DataFrame, eta: float, target: str, asked: list[metrics.CurveMetric], models: list[Any]
) -> None:
    """Hold the interval of each model by itself to the loop."""
    for score, model in zip("ab", models, strict=True):
        found = df.prc.summary(eta, score=score, metrics=asked, confidence=0.9, columns="all")
        for row in found.to_dicts():
            name = row["metric"].partition("_")[0]
            ends = [row[column] for column in ("value", "low", "high")]
            assert row["standard_error"] is None
            if model is None or model[0][name] is None:
                assert ends == [None] * 3
                continue
            expected = model[0][name][:3]
            if target == "predicted_positive_rate":
                n_pos = int(df["label"].sum())
                expected = spend_budget(name, model[0], (n_pos, df.height - n_pos), eta)
            assert ends == pytest.approx(expected, rel=1e-6, abs=1e-6)


def spend_budget(name: str, values: Any, sizes: tuple[int, int], eta: float) -> list[float]:
    """The value and both ends, moved by what half an example more of either class would change."""
    value, low, high = values[name][:3]
    rates = [values[rate][0] for rate in ("recall", "fpr")]
    for i, n in enumerate(sizes):
        more = [min(1.0, rate + 0.5 / n) if j == i else rate for j, rate in enumerate(rates)]
        change = compute(name, *more, eta) - value
        low, high = max(0.0, low + min(0.0, change)), min(1.0, high + max(0.0, change))
    return [value, low, high]


def two_models(n: int = 4000, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label, own = rng.random(n) < 0.3, rng.normal(size=n)
    scores = {name: own + rng.normal(size=n) + shift * label for name, shift in (("a", 2), ("b", 1))}
    return pl.DataFrame({"row": range(n), "label": label} | scores)


TARGETS: list[dict[str, Any]] = [
    {"recall": 0.6}, {"fpr": 0.1}, {"alerts": 20, "per": 100}, {"precision": 0.6}, {"fdr": 0.4},
    {"predicted_positive_rate": 0.2}, {"npv": 0.85}, {"lift": 2.0},
]  # fmt: skip


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(("target", "paired"), [*zip(TARGETS, cycle([True, False]), strict=False)])
def test_a_lead_is_found_at_every_target(target: dict[str, Any], paired: bool) -> None:
    long = two_models().unpivot(["a", "b"], index=["row", "label"], variable_name="model")
    asked: Any = {"model": "model", "score": "value", "eta": 0.3, **target}
    asked |= {"id": "row"} if paired else {"paired": False}
    name = "precision" if {"recall", "fpr"} & set(target) else "recall"
    found = long.prc.compare(
        metrics=[name, next(iter(target)).replace("alerts", "fpr")], columns="all", **asked
    )
    assert found["doubt"].is_null().all()
    assert found["significant"][0]
    more = {"metric": name, "confidence": 0.95, "id": "row" if paired else None}
    ranked = long.prc.ranking(model="model", score="value", eta=0.3, columns="all", **target, **more)
    assert ranked["may_be_best"].to_list() == [True, False]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("target", TARGETS[:4])
def test_equal_models_are_not_told_apart(target: dict[str, Any]) -> None:
    """With thresholds as fixed, up to 83% of such test sets told them apart."""
    rng, n, sets = np.random.default_rng(8), 300, 60
    label = np.arange(n * sets) % n < 60
    own = rng.normal(size=n * sets) + 2 * label
    scores = {name: own + 0.7 * rng.normal(size=n * sets) for name in "ab"}
    df = pl.DataFrame({"set": np.arange(n * sets) // n, "label": label} | scores)
    found = df.prc.compare(
        0.05, score=["a", "b"], by="set", metrics=["precision", "recall", "fpr"], columns="all", **target
    )
    assert found["significant"].drop_nulls().mean() < 0.07  # type: ignore[operator]
    assert found["significant"].count() > 100


def test_what_the_target_sets_differs_by_no_more_than_an_example_can() -> None:
    df = two_models(500)
    for target, name in (({"recall": 0.8}, "recall"), ({"fpr": 0.1}, "fpr"), ({"lift": 2}, "precision")):
        found: Any = df.prc.compare(0.3, score=["a", "b"], metrics=name, columns="all", **target).row(
            0, named=True
        )
        assert not found["significant"]
        assert found["low"] <= 0 <= found["high"]


@pytest.mark.parametrize("paired", [True, False])
def test_several_pairs_stretch_both_distances(paired: bool) -> None:
    df = two_models(600).with_columns(c=pl.col("b").shuffle(3))
    long = df.unpivot(["a", "b", "c"], index=["row", "label"], variable_name="model")
    asked: Any = {"model": "model", "score": "value", "eta": 0.2, "recall": 0.6, "confidence": 0.9}
    asked |= {"id": "row"} if paired else {"paired": False}
    plain, holm = (
        long.prc.compare(metrics=["precision", "f1"], adjust=how, columns="all", **asked)
        for how in (None, "holm")
    )
    stretch = NormalDist().inv_cdf(1 - 0.1 / 3 / 2) / Z
    for end in ("low", "high"):
        reach = (plain[end] - plain["difference"]) * stretch
        assert holm.select(pl.col(end) - pl.col("difference")).to_series().to_list() == pytest.approx(
            reach.to_list()
        )


def test_an_interval_is_near_that_of_the_bootstrap() -> None:
    df = two_models()
    asked: Any = {"eta": 0.05, "confidence": 0.9}
    found = df.prc.compare(score=["a", "b"], recall=0.8, metrics="precision", columns="all", **asked)
    of_curve = metrics.precision_at_recall(0.8)
    asked["confidence"] = intervals(0.9, method="bootstrap", resamples=300, seed=1)
    drawn = df.prc.compare(score=["a", "b"], metrics=of_curve, columns="all", **asked)
    widths = [(table["high"] - table["low"]).item() for table in (found, drawn)]
    assert 0.85 < widths[0] / widths[1] < 1.2
    assert found["difference"].item() == pytest.approx(drawn["difference"].item(), abs=1e-3)


@pytest.mark.parametrize(
    "options", slow_unless(lambda o: "weight" in o, [{}, {"weight": "w"}, {"cluster": "c"}])
)
def test_intervals_of_models_apart_hold_their_difference(options: dict[str, str]) -> None:
    df = two_models(300).with_columns(w=pl.col("row") % 3 + 1, c=pl.col("row") // 2)
    long = df.unpivot(["a", "b"], index=["row", "label", "w", "c"], variable_name="model")
    asked: Any = {"model": "model", "paired": False, "score": "value", "recall": 0.7, **options}
    asked |= {"eta": [0.3, 0.01], "metrics": ["precision", "f1"]}
    found = long.prc.compare(columns="all", **asked)
    assert found["low"].null_count() == 0
    assert (found["low"] <= found["difference"]).all()


ALL_TARGETS: dict[str, Any] = {
    "recall": [0.6, 0.8], "fpr": [0.1], "alerts": [20, 300], "per": 1000, "precision": [0.6, 1.0],
    "npv": 0.85, "fdr": 0.4, "lift": 2.0, "predicted_positive_rate": [0.0, 0.2],
}  # fmt: skip


@pytest.mark.parametrize("long", slow_unless(lambda long: not long, [False, True]))
def test_targets_do_not_disturb_each_other(long: bool) -> None:
    df, options = two_models(400), {"score": "a", "confidence": 0.9, "long": long}
    together = df.prc.operating_points([0.3, 0.02], columns="all", **ALL_TARGETS, **options)
    singly = []
    for name, values in ALL_TARGETS.items():
        for value in [] if name == "per" else [values] if isinstance(values, float) else values:
            asked = {name: value, "per": 1000}
            singly.append(df.prc.operating_points([0.3, 0.02], columns="all", **asked, **options))
    keys = ["eta", "criterion", "target", *(["metric"] if long else [])]
    assert_same(together.sort(keys), pl.concat(singly).sort(keys))


def test_the_points_are_those_without_intervals() -> None:
    df = two_models(400)
    asked: Any = {"score": "a", "metrics": ["precision", "f1"], **ALL_TARGETS}
    plain = df.prc.operating_points(0.1, columns="all", **asked)
    found = df.prc.operating_points(0.1, columns="all", **asked, confidence=0.9)
    added = [name for name in found.columns if name.endswith(("_low", "_high"))]
    assert_same(found.drop("certainty", "above_chance", "doubt", *added), plain)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("target", [{"recall": 0.6}, {"precision": 0.5}])
def test_a_counted_prevalence_stands_beside_one_that_was_said(target: dict[str, Any]) -> None:
    test = two_models(200).prc(score=["a", "b"])
    both, *each = (
        test.compare(eta, metrics=ASKED, columns="all", **target) for eta in ([0.1, None], 0.1, None)
    )
    both, alone = (of.sort("eta", "metric") for of in (both, pl.concat(each)))
    assert_frame_equal(both, alone, rel_tol=1e-9, abs_tol=1e-12)


def test_an_estimate_that_is_exact_changes_nothing() -> None:
    test = two_models(300).prc(score="a")
    exact = pl.DataFrame({"eta_low": [0.1], "eta": [0.1], "eta_high": [0.1]})
    found, plain = (
        test.operating_points(eta, confidence=0.9, columns="all", **ALL_TARGETS) for eta in (exact, 0.1)
    )
    assert_same(found.drop("eta_low", "eta_high", "eta_confidence", strict=False), plain)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "options", [{}, {"weight": "w"}, {"cluster": "c"}, {"by": "g"}, {"eta": "estimate"}]
)
def test_intervals_are_reliable_or_say_why(options: dict[str, str]) -> None:
    row = pl.col("row")
    df = two_models(300).with_columns(w=row % 3 + 1, c=row // 2, g=row % 2)
    asked: Any = {"score": "a", "confidence": 0.9, "eta": [0.3, 0.01], **ALL_TARGETS, **options}
    if options.get("eta"):
        asked["eta"] = ESTIMATE
    found = df.prc.operating_points(columns="all", **asked)
    assert found.filter(pl.any_horizontal(pl.col("^.*_low$").is_null()))["doubt"].null_count() == 0


def test_weights_do_not_fill_cells() -> None:
    """A weight of 1,000 stands for one example, however much it weighs."""
    df = two_models(200).with_columns(heavy=pl.lit(1000.0))
    long = df.unpivot(["a", "b"], index=["row", "label", "heavy"], variable_name="model")
    asked: Any = {"score": "value", "model": "model", "paired": False, "metrics": "precision"}
    seen = set()
    for target in ({"recall": 0.5}, {"recall": 0.9}, {"fpr": 0.01}, {"threshold": 1.0}):
        plain, weighted = (
            long.prc.compare(weight=weight, columns="all", **asked, **target)
            for weight in (None, "heavy")
        )
        assert plain["doubt"].is_null().to_list() == weighted["doubt"].is_null().to_list()
        seen |= set(plain["doubt"].is_null())
    assert seen == {True, False}


ESTIMATE = pl.DataFrame({"eta_low": [0.1], "eta": [0.2], "eta_high": [0.3]})
