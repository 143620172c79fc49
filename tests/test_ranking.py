"""Rankings against the summary, ranked in plain Python, and how often a leader is declared in error."""

from __future__ import annotations

import math
import re
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import studentized_range

from polars_prcurve import PrcError, intervals, metrics
from polars_prcurve.core.ground.studentised_range import list_range_deviations
from tests.support.comparing import assert_same
from tests.support.models import KINDS, Models, draw_examples, models
from tests.support.profiles import examples
from tests.support.strategies import several
from tests.support.tiers import slow_unless

METRICS: dict[str, Any] = {
    "average_precision": "average_precision",
    "roc_auc": "roc_auc",
    "auprg": "auprg",
    "f1": metrics.best("f1"),
    "fdr": metrics.best("fdr"),
    "recall_at_precision": metrics.recall_at_precision(0.4),
}
NO_GAP = pl.DataFrame({"model": ["a"] * 6 + ["b"] * 6, "score": [6, 5, 4, 3, 2, 1] * 2})


@pytest.mark.parametrize("metric", ["fpr", "precision"])
def test_a_gap_of_nothing_has_no_sign(metric: str) -> None:
    """Neither of a metric that is better if less, nor of a difference that is turned around."""
    df = NO_GAP.with_columns(label=pl.col("score") % 2)
    how: dict[str, Any] = {"eta": 0.1, "threshold": 3, "confidence": 0.9}
    found = df.prc.ranking(metric=metric, columns="all", **how)
    zeros = [
        value for name in ("behind", "behind_low", "behind_high") for value in found[name] if value == 0
    ]
    assert len(zeros) >= 2
    assert all(math.copysign(1, zero) == 1 for zero in zeros)


LEAD = ["behind", "behind_low", "behind_high", "may_be_best", "doubt"]


def nearly(a: Any, b: Any) -> bool:
    if a is None or b is None or isinstance(a, (bool, str)):
        return a is b or (isinstance(a, str) and a == b)
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def ranked(of: Models, values: pl.DataFrame, sign: int) -> list[tuple[Any, ...]]:
    """Group, eta, model, value, rank; of values by group, model and eta, in order."""
    tables: dict[Any, list[tuple[Any, Any]]] = {}
    turns: dict[Any, int] = {}
    for row in values.to_dicts():
        group, model = of.group_key(row), of.key("m", row["m"])
        eta = (row["eta"] is None, row["eta"])
        turns[group, model, eta] = turn = turns.get((group, model, eta), -1) + 1
        tables.setdefault((group, eta, turn), []).append((model, row["value"]))
    out = []
    for group, eta, turn in sorted(tables):
        rows = tables[group, eta, turn]
        known = sorted((-sign * value, model) for model, value in rows if value is not None)
        for score, model in known:
            rank = 1 + sum(other < score for other, _ in known)
            out.append((group, eta[1], model, -sign * score, rank))
        out += [(group, eta[1], model, None, None) for model, value in sorted(rows) if value is None]
    return out


def rows_of(of: Models, found: pl.DataFrame) -> list[tuple[Any, ...]]:
    return [
        (of.group_key(r), r["eta"], of.key("m", r["model"]), r["value"], r["rank"])
        for r in found.to_dicts()
    ]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", METRICS)
@given(of=models(), eta=several(0.0, 1e-6, 0.01, 0.5, 0.9, 1.0))
@examples(12)
def test_a_ranking_is_the_summary_in_order(name: str, of: Models, eta: list[float]) -> None:
    metric = METRICS[name]
    found = of.frame.prc.ranking(eta, metric=metric, columns="all", **of.package)
    assert found.columns == [*of.table.by, "eta", "model", "value", "rank"]
    assert found.schema["model"] == of.frame.schema["m"]
    assert found.schema["rank"] == pl.Int64
    by = {**of.table.package, "by": [*of.table.by, "m"]}
    values = of.frame.prc.summary(eta, metrics=metric, columns="all", **by)
    assert rows_of(of, found) == ranked(of, values, -1 if name == "fdr" else 1)


POINTS: dict[str, Any] = {
    "threshold": 0,
    "recall": 0.6,
    "fpr": 0.3,
    "precision": 0.4,
    "predicted_positive_rate": 0.5,
}


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("target", POINTS)
@pytest.mark.parametrize("name", ["f1", "fdr", "recall", "npv"])
@given(of=models(), eta=several(1e-6, 0.01, 0.5, 1.0))
@examples(3)
def test_points_at_a_target(name: str, target: str, of: Models, eta: list[float]) -> None:
    asked = {target: bool(POINTS[target]) if of.table.score_dtype == pl.Boolean else POINTS[target]}
    if target != "threshold":
        asked = {target: POINTS[target]}
    found = of.frame.prc.ranking(eta, metric=name, columns="all", **asked, **of.package)
    by = {**of.table.package, "by": [*of.table.by, "m"]}
    values = of.frame.prc.operating_points(eta, metrics=name, columns="all", **asked, long=True, **by)
    assert rows_of(of, found) == ranked(of, values, -1 if name == "fdr" else 1)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kind", slow_unless(lambda kind: kind in ("Enum", "Float64", "Struct"), KINDS))
@given(data=st.data())
@examples(2)
def test_models_of_any_dtype(kind: str, data: st.DataObject) -> None:
    of = data.draw(models(kinds=[kind], weights=[""]))
    assume(of.frame.height > 0)
    plain = of.frame.prc.ranking([0.1, 0.7], columns="all", **of.package)
    names = of.frame.select("m").unique()
    examples = pl.DataFrame({"id": [0, 1, 2, 3], "label": [1, 0, 1, 0], "score": [0.0, 1.0, 0.0, 1.0]})
    same = names.join(examples, how="cross")
    for df, how in (
        (of.frame, of.package),
        *([(same, {"model": "m", "id": "id"})] if names.height > 1 else []),
    ):
        found = df.prc.ranking([0.1, 0.7], confidence=0.9, columns="all", **how)
        assert df is same or found.drop(LEAD).equals(plain)
        if df is same:
            assert found["may_be_best"].to_list() == [True] * 2 * names.height


# Prevalences ----------------------------------------------------------------------------------


DF = draw_examples(2, 120, a=(1, 1), b=(1.2, 2), c=(2, 1)).with_columns(g=pl.col("id") % 2)


@pytest.mark.parametrize("target", [{"recall": 0.5}, {"fpr": 0.1}, {"threshold": 0.5}], ids=str)
def test_at_a_target_precision_is_ranked_as_it_is_compared(target: dict[str, Any]) -> None:
    found = DF.prc.ranking(0.1, confidence=0.9, **target)
    assert_same(found, DF.prc.ranking(0.1, metric="precision", confidence=0.9, **target))


def test_own_prevalence_is_that_of_all() -> None:
    own = DF["label"].mean()
    assert_same(DF.prc.ranking(columns="all"), DF.prc.ranking(own, columns="all"))
    both = DF.prc.ranking([None, 0.01], columns="all")
    assert_same(both.filter(pl.col("eta") > 0.1), DF.prc.ranking(columns="all"))
    assert_same(both.filter(pl.col("eta") < 0.1), DF.prc.ranking(0.01, columns="all"))
    twice = DF.prc.ranking([None, own], columns="all")
    assert twice.height == 6
    assert twice["rank"].to_list() == [1, 2, 3, 1, 2, 3]


def test_own_prevalences_that_differ() -> None:
    words = "eta=None compares models at the prevalence of each, and these differ, from 0.*; pass eta="
    unlike = DF.filter((pl.col("model") != "b") | pl.col("label") | (pl.col("id") > 9))
    for eta in (None, [None, 0.1], pl.DataFrame({"eta": [None, 0.1]})):
        with pytest.raises(PrcError, match=words):
            unlike.prc.ranking(eta, columns="all")
        with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
            unlike.lazy().prc.ranking(eta, columns="all").collect()
    assert unlike.prc.ranking([0.3, 0.1], columns="all").height == 6


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    "asked", [{"metric": "roc_auc"}, {"metric": "recall", "threshold": 0.5}], ids=str
)
@pytest.mark.parametrize("confidence", [None, 0.9])
@pytest.mark.parametrize("by", [None, "g"])
def test_what_does_not_depend_on_prevalence_needs_none(
    asked: dict[str, Any], confidence: float | None, by: str | None
) -> None:
    unlike = DF.filter((pl.col("model") != "b") | pl.col("label") | (pl.col("id") > 9))
    how: dict[str, Any] = {"confidence": confidence, "by": by, **asked}
    found, at_eta = (unlike.prc.ranking(eta, columns="all", **how) for eta in (None, 0.1))
    assert_same(found.drop("eta"), at_eta.drop("eta"))
    assert found["eta"].null_count() > 0


def test_prevalences_per_group() -> None:
    frame = pl.DataFrame(
        {"g": [1, 0, 0], "eta": [0.01, 0.3, 0.1], "note": ["one", "more", "less"]},
        schema_overrides={"g": DF.schema["g"]},
    )
    found = DF.prc.ranking(frame, by="g", confidence=0.9, id="id", columns="all")
    assert found.columns == ["g", "eta", "note", "model", "value", "rank", *LEAD]
    assert found["note"].unique(maintain_order=True).to_list() == ["less", "more", "one"]
    for g, eta, _ in frame.rows():
        alone = DF.filter(g=g).prc.ranking(eta, confidence=0.9, id="id", columns="all")
        kept = found.filter((pl.col("g") == g) & (pl.col("eta") == eta)).drop("g", "note")
        for row, other in zip(kept.rows(), alone.rows(), strict=True):
            assert all(map(nearly, row, other))
    own = frame.with_columns(eta=pl.when(g=1).then("eta"))[:2]
    with pytest.raises(PrcError, match=r"no row for 3 .*g = 0"):
        DF.prc.ranking(own.filter(g=1), by="g", columns="all")
    assert DF.prc.ranking(own, by="g", columns="all").filter(g=0)[
        "eta"
    ].unique().item() == pytest.approx(DF.filter(g=0)["label"].mean())


def test_a_model_without_examples_is_not_ranked() -> None:
    df = DF.with_columns(w=pl.when(model="b").then(0).otherwise(2))
    found = df.prc.ranking([None, 0.9], weight="w", columns="all")
    rest = DF.filter(pl.col("model") != "b").prc.ranking([None, 0.9], columns="all")
    assert_same(found, rest)


# Errors ---------------------------------------------------------------------------------------


def level_of_all_pairs(n_models: int, confidence: float) -> float:
    """The level of one pair at which all differences of equal models hold at once."""
    return 2 * NormalDist().cdf(list_range_deviations(confidence)[n_models]) - 1


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_all_differences_of_equal_means_hold_at_once(confidence: float) -> None:
    found = list_range_deviations(confidence)
    for n_models in (2, 3, 4, 7, 12, 50, 100):
        quantile = studentized_range.ppf(confidence, n_models, np.inf)
        assert found[n_models] == pytest.approx(quantile / 2**0.5, rel=2e-5)
    assert list(found[2:]) == sorted(found[2:])
    between = studentized_range.ppf(confidence, 35, np.inf) / 2**0.5
    assert found[35] == pytest.approx(between, rel=1e-3)


def stretch_to_all_pairs(pairs: pl.DataFrame, n_models: int, confidence: float) -> pl.DataFrame:
    """Points have limits of one level, which are stretched as normal ones would be."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    factor = list_range_deviations(confidence)[n_models] / z
    middle = pl.col("difference")
    pairs = pairs.with_columns(
        low=middle - (middle - pl.col("low")) * factor, high=middle + (pl.col("high") - middle) * factor
    )
    near = pl.when(middle > 0).then(middle - pl.col("low")).otherwise(pl.col("high") - middle)
    outside = (pl.col("low") > 0) | (pl.col("high") < 0)
    is_apart = (outside & pl.col("doubt").is_null()) | ((middle.abs() >= 2 * near) & (near > 0))
    return pairs.with_columns(significant=is_apart)


def assert_behind_as_in_pairs(ranks: pl.DataFrame, pairs: pl.DataFrame, sign: int = 1) -> None:
    """A model is as far behind as it is behind any other, in doubt where that alone rules nothing out.

    `pairs` are at the level of all pairs.
    """
    ends: dict[str, list[Any]] = {model: [] for model in ranks["model"]}
    for row in pairs.to_dicts():
        for model, turn in ((row["model_b"], sign), (row["model_a"], -sign)):
            if row["low"] is None:
                continue
            low, high = sorted((turn * row["low"], turn * row["high"]))
            beaten = row["significant"] and turn * row["difference"] > 0
            ends[model].append((low, high, beaten))
    values = ranks["value"].to_list()
    for place, row in enumerate(ranks.to_dicts()):
        if row["value"] is None:
            assert (row["behind"], row["may_be_best"]) == (None, None)
            continue
        best = values[1] if place == 0 else values[0]
        assert nearly(row["behind"], (best - row["value"]) * sign)
        known = ends[row["model"]]
        assert nearly(row["behind_low"], max((low for low, _, _ in known), default=None))
        assert nearly(row["behind_high"], max((high for _, high, _ in known), default=None))
        assert row["may_be_best"] is not any(beaten for _, _, beaten in known)
        if row["behind_low"] is not None and row["may_be_best"] is not (row["behind_low"] <= 0):
            assert row["may_be_best"]
            assert row["doubt"] is not None


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("metric", ["average_precision", "roc_auc", "pr_auc"], ids=str)
def test_limits_of_a_ranking_are_those_of_all_pairs_at_once(metric: Any, paired: bool) -> None:
    n_models = DF["model"].n_unique()
    how: dict[str, Any] = {"eta": [0.02, 0.5], "by": "g", "id": "id" if paired else None}
    found = DF.prc.ranking(metric=metric, confidence=0.9, columns="all", **how)
    pairs = DF.prc.compare(
        model="model",
        metrics=metric,
        paired=paired,
        confidence=level_of_all_pairs(n_models, 0.9),
        columns="all",
        **how,
    )
    assert found.height == n_models * 4
    for group in found.partition_by("g", "eta"):
        of = pairs.filter(g=group["g"][0], eta=group["eta"][0])
        assert_behind_as_in_pairs(group, of)


def test_reliable_where_the_intervals_of_both_are() -> None:
    """As a summary does of each, paired or not; unseen tails have a rule of their own in either."""
    seen, of_tails = set(), (None, "tail not seen")
    how: dict[str, Any] = {"eta": [0.001, 0.1, 0.3, 0.9], "confidence": 0.9}
    for n in (20, 1500):
        drawn = draw_examples(3, n, a=(1, 1), b=(1.2, 2), c=(2, 1))
        of = drawn.prc.summary(metrics="average_precision", by="model", columns="all", **how)
        known = {(row["eta"], row["model"]): row["doubt"] in of_tails for row in of.to_dicts()}
        for id, eta in product((None, "id"), how["eta"]):
            group = drawn.prc.ranking(id=id, columns="all", **how).filter(eta=eta)
            top, second, *_ = rows = group.to_dicts()
            for row in rows:
                other = second if row is top else top
                both = [known[row["eta"], model["model"]] for model in (row, other)]
                assert (row["doubt"] in of_tails) is all(both)
                seen.add(row["doubt"] is None)
    assert seen == {True, False}


def test_less_is_better_where_it_is_minimized() -> None:
    loss = metrics.best(metrics.point("loss", lambda tp, fn, fp, tn: fn + fp, direction="minimize"))
    gain = metrics.best(metrics.point("gain", lambda tp, fn, fp, tn: -fn - fp))
    drawn = intervals(0.9, method="bootstrap", resamples=50, seed=1)
    how: dict[str, Any] = {"confidence": drawn}
    for id in (None, "id"):
        of_loss = DF.prc.ranking(0.3, metric=loss, id=id, columns="all", **how)
        of_gain = DF.prc.ranking(0.3, metric=gain, id=id, columns="all", **how)
        assert of_loss["model"].to_list() == of_gain["model"].to_list()
        for row, other in zip(of_loss.drop("value").rows(), of_gain.drop("value").rows(), strict=True):
            assert all(map(nearly, row, other))
        assert (of_loss["behind"][1:] >= 0).all()
        assert of_loss["behind"][0] == -of_loss["behind"][1]
        assert_same(DF.prc.ranking(0.3, metric=loss, id=id, columns="all", **how), of_loss)


def test_where_no_error_is_known() -> None:
    tied = pl.concat([DF.filter(model="a"), DF.filter(model="a").with_columns(model=pl.lit("z"))])
    for id in (None, "id"):
        found = tied.prc.ranking(0.1, confidence=0.9, id=id, columns="all")
        assert found.select("model", "rank", "behind").rows() == [("a", 1, 0.0), ("z", 1, 0.0)]
        assert found["may_be_best"].to_list() == [True, True]
    one_class = DF.with_columns(label=pl.col("label") & (pl.col("model") != "c"))
    found = one_class.prc.ranking(0.1, confidence=0.9, columns="all")
    assert found.select(pl.col("model", "rank").last()).row(0) == ("c", None)
    assert found.select(LEAD).row(2) == (None,) * 4 + ("one class",)
    assert found["may_be_best"][0] is not None
    assert_same(
        found.head(2),
        one_class.filter(pl.col("model") != "c").prc.ranking(0.1, confidence=0.9, columns="all"),
    )
    alone = DF.filter(model="a").prc.ranking(0.1, confidence=0.9, columns="all")
    assert alone.select(LEAD).row(0) == (None,) * 4 + ("no value",)
    none = DF.filter("label").prc.ranking(0.1, confidence=0.9, columns="all")
    assert none.select("rank", *LEAD).null_count().row(0) == (3,) * 5 + (0,)


DOUBTFUL_TARGETS: list[tuple[float, str, dict[str, float]]] = [
    (0.01, "recall", {"precision": 0.5}),
    (0.3, "recall", {"fpr": 0.01}),
    (0.01, "precision", {"recall": 0.1}),
    (0.01, "precision", {"npv": 0.99}),
]
UNEQUAL_MODELS = [(30, True), (30, False), (600, True)]  # few positives, unlike models, steps


def draw_unequal_models(n_pos: int, seed: int, *, has_steps: bool) -> pl.DataFrame:
    """Return the scores of two models that are far apart, and of one like the first, of one test set."""
    rng = np.random.default_rng(seed)
    label, common = np.arange(1_500) < n_pos, rng.normal(size=1_500)
    scores = {
        name: common + 0.7 * rng.normal(size=1_500) + distance * label
        for name, distance in (("a", 2.5), ("b", 1.0), ("c", 2.4))
    }
    frame = pl.DataFrame({"label": label, **scores})
    return frame.with_columns(pl.col("a", "b", "c").round(0)) if has_steps else frame


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("n_pos", "has_steps", "eta", "metric", "target"),
    [(*models, *asked) for models, asked in product(UNEQUAL_MODELS, DOUBTFUL_TARGETS)],
)
def test_an_interval_in_doubt_is_that_of_the_pair(
    eta: float, metric: str, target: dict[str, float], n_pos: int, has_steps: bool
) -> None:
    """It is the same from both sides, and who may be the best is a matter of significance."""
    frame = draw_unequal_models(n_pos, 4, has_steps=has_steps)
    test = frame.prc(score=["a", "b"])
    [pair] = test.compare(eta, metrics=metric, columns="all", **target).to_dicts()
    decision = test.decide(eta, **target)
    for rows in (test.ranking(eta, metric=metric, confidence=0.95, **target), decision.table):
        for row in rows.to_dicts():
            if row["behind_low"] is None:
                continue
            low, high = (pair["low"], pair["high"])[:: 1 if row["model"] == "b" else -1]
            sign = 1 if row["model"] == "b" else -1
            assert (row["behind_low"], row["behind_high"]) == pytest.approx((sign * low, sign * high))
            if row["behind"] > 0:
                assert row["may_be_best"] is not pair["significant"] or row["may_be_best"] is None
    if pair["significant"] is None and pair["low"] is not None and "Difference" in str(decision):
        words = {"equal scores": "many cases share a score"}.get(pair["doubt"], pair["doubt"])
        assert f"which is in doubt: {words}" in " ".join(str(decision).split())


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("distance", [2.3, 3.0], ids=["winner", "no winner"])
def test_a_verdict_on_models_has_the_doubts_of_their_comparison(seed: int, distance: float) -> None:
    """Of a prevalence this low the highest negatives decide, which the test set lacks."""
    rng = np.random.default_rng(seed)
    label = np.arange(8_000) < 443
    distances = {"a": 3.0, "b": distance, "c": 2.2}
    scores = {name: rng.normal(size=8_000) + shift * label for name, shift in distances.items()}
    test = pl.DataFrame({"label": label, **scores}).prc(score=["a", "b", "c"])
    verdict = test.decide(0.001).verdict
    assert verdict.status in ("winner", "no_winner", "too_little_data")
    doubts = test.ranking(0.001, confidence=0.95)["doubt"].drop_nulls().to_list()
    assert doubts
    if verdict.status != "too_little_data":
        assert all(any(doubt in reason for reason in verdict.reasons) for doubt in doubts)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("target", [{}, {"recall": 0.5}, {"precision": 0.3}], ids=str)
def test_a_difference_among_several_models_is_to_the_best_of_all_others(
    target: dict[str, float],
) -> None:
    """Two models are nearly the same, so neither may lead the other by as much as the third one may."""
    rng = np.random.default_rng(0)
    label = np.arange(20_000) < 600
    noise, small_noise = rng.normal(size=(2, label.size)), 0.05 * rng.normal(size=(2, label.size))
    twins = {f"m{i}": noise[0] + 2.5 * label + small_noise[i] for i in (0, 1)}
    frame = pl.DataFrame({"label": label, **twins, "m2": noise[1] + 2.45 * label})
    decision = frame.prc(score=[*frame.columns[1:]]).decide(0.01, **target)
    text = " ".join(str(decision).split())
    merit = "average_precision" if not target else "recall" if "precision" in target else "precision"
    first = decision.table.sort(merit, descending=True).row(0, named=True)
    second = {"m0": "m1", "m1": "m0"}[first["model"]]
    assert f"between {first['model']} and the best of the others (" in text
    gain = re.search(r"may be up to (\S+)( points)? better, or (\S+) worse", text)
    assert gain is not None
    unit = 100 if target else 1
    ends = [float(gain[number]) / unit for number in (1, 3)]
    assert ends == pytest.approx([-first["behind_low"], first["behind_high"]], rel=0.06)
    pair = frame.prc(score=[first["model"], second]).compare(0.01, metrics=merit, **target)
    assert ends[0] < 2 * pair["high"].item(), "no farther than the twin allows"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("has_steps", [True, False])
@pytest.mark.parametrize(("eta", "metric", "target"), DOUBTFUL_TARGETS[::2])
def test_no_difference_is_greater_than_values_allow(
    eta: float, metric: str, target: dict[str, float], has_steps: bool
) -> None:
    test = draw_unequal_models(600, 3, has_steps=has_steps).prc(score=["a", "b", "c"])
    names = ["precision", "recall", "npv", "f1", "mcc", "informedness"]
    pairs = test.compare(eta, metrics=names, adjust="holm", columns="all", **target)
    for name, low, high in pairs.select("metric", "low", "high").drop_nulls().rows():
        lowest, highest = getattr(metrics, name).range
        assert lowest - highest <= low <= high <= highest - lowest
    ranks = test.ranking(eta, metric=metric, confidence=0.95, **target)
    assert ranks["behind_high"].drop_nulls().is_between(-1, 1).all()
    assert ranks["behind_low"].drop_nulls().is_between(-1, 1).all()


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", ["average_precision", "roc_auc", "auprg"])
@pytest.mark.parametrize("mean_over", [None, "topic"])
def test_differences_of_areas_stay_in_their_range(name: str, mean_over: str | None) -> None:
    """Two topics, and two positives, leave an interval that would reach farther than any area."""
    label = [1, 0, 0, 0] * 2
    frame = pl.DataFrame({"label": label, "topic": [*"aaaabbbb"]})
    frame = frame.with_columns(
        m=pl.Series([9, 1, 2, 3, 1, 2, 3, 4]), n=pl.Series([1, 2, 3, 4, 9, 1, 2, 3])
    )
    words = {} if mean_over is None else {"mean_over": mean_over}
    pairs = frame.prc(score=["m", "n"]).compare(0.1, metrics=name, columns="all", **words)
    lowest, highest = getattr(metrics, name).range
    for low, high in pairs.select("low", "high").drop_nulls().rows():
        assert lowest - highest <= low <= high <= highest - lowest


@pytest.mark.parametrize("n_models", [2, 3, 6])
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.slow
def test_of_equal_models_a_leader_is_seldom_declared(n_models: int, paired: bool) -> None:
    """The second is surely behind in at most 5% of 1000 tables, plus three standard errors."""
    rng = np.random.default_rng(10 * n_models + paired)
    sims, n = 1000, 150
    label = np.arange(n) < 60
    noise = rng.normal(size=(sims, n_models, n))
    common = rng.normal(size=(sims, 1, n)) if paired else 0.0
    score = 1.2 * label + (common + noise) / math.sqrt(2 if paired else 1)
    shape = (sims, n_models, n)
    df = pl.DataFrame(
        {
            "sim": np.broadcast_to(np.arange(sims)[:, None, None], shape).ravel(),
            "model": np.broadcast_to(np.arange(n_models)[:, None], shape).ravel(),
            "id": np.broadcast_to(np.arange(n), shape).ravel(),
            "label": np.broadcast_to(label, shape).ravel(),
            "score": score.ravel(),
        }
    )
    how: dict[str, Any] = {"id": "id"} if paired else {}
    found = df.prc.ranking(0.4, by="sim", confidence=0.95, columns="all", **how)
    second = found.group_by("sim", maintain_order=True).agg(pl.all().get(1))
    surely_behind = ((second["behind_low"] > 0) & second["doubt"].is_null()).mean()
    slack = 3 * math.sqrt(0.05 * 0.95 / sims)
    assert surely_behind <= 0.05 + slack
    beaten = found.group_by("sim").agg((~pl.col("may_be_best")).any())["may_be_best"].mean()
    assert beaten <= 0.05 + slack


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"metric": "random_average_precision"}, "pass a metric with a direction"),
        (
            {"metric": "lift", "fpr": 0.1, "recall": 0.1},
            r"call once for each target: at most one .*; got 2",
        ),
        ({"metric": "roc_auc", "fpr": 0.1}, "leave out fpr=: roc_auc describes a whole curve"),
        (
            {"metric": "f1", "fpr": 0.1, "confidence": intervals(0.9, method="bootstrap")},
            "f1 at a target has no bootstrap",
        ),
        ({"id": "id"}, "leave out id=, or pass confidence= and labels: otherwise id= has no effect"),
        (
            {"id": "id", "confidence": 0.9, "counts": ("id", "id")},
            "confidence= and labels: otherwise",
        ),
        (
            {"id": "id", "confidence": 0.9, "rates": ("id", "id")},
            "confidence= and labels: otherwise",
        ),
        (
            {"confidence": 0.9, "rates": ("id", "id"), "eta": 0.1},
            r"ranking\(coarse=True\) for several: .*rates= holds points",
        ),
        ({"rates": ("id", "id")}, "rates= holds no counts, so the table has no prevalence"),
        ({"model": "modl"}, "there is no column 'modl' for model="),
        ({"confidence": 95}, "between 0 and 1"),
        ({"eta": 1.5}, r"must be a share in \[0, 1\]"),
    ],
)
def test_arguments(how: dict[str, Any], words: str) -> None:
    for door in (DF.prc, DF.lazy().prc):
        with pytest.raises(PrcError, match=words):
            door.ranking(columns="all", **how)


def test_a_column_of_models_that_is_also_a_group_counts_once() -> None:
    for more in ({}, {"model": "model"}):
        assert_same(
            DF.prc.ranking(0.1, by=["model", "g"], columns="all", **more),
            DF.prc.ranking(0.1, by="g", columns="all"),
        )


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("metric", ["precision", "fpr", "net_benefit(0.1)"])
@pytest.mark.parametrize("target", [{"threshold": 0.5}, {"recall": 0.6}, {"alerts": 30, "per": 100}])
def test_points_are_behind_as_in_a_comparison(metric: str, target: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    label = rng.random(1500) < 0.4
    model = np.repeat(["a", "b", "c", "d", "e"], 300)
    score = rng.normal(size=1500) + label * (1 + (model == "b") + 0.3 * (model == "c"))
    df = pl.DataFrame({"model": model, "label": label, "score": score})
    ranks = df.prc.ranking([0.1, 0.4], metric=metric, confidence=0.9, columns="all", **target)
    plain = df.prc.ranking([0.1, 0.4], metric=metric, columns="all", **target)
    assert_same(ranks.select(plain.columns), plain)
    pairs = df.prc.compare(
        model="model",
        paired=False,
        eta=[0.1, 0.4],
        metrics=metric,
        confidence=0.9,
        columns="all",
        **target,
    )
    pairs = stretch_to_all_pairs(pairs, 5, 0.9)
    sign = -1 if metric == "fpr" else 1
    for (eta,), rows in ranks.group_by("eta", maintain_order=True):
        assert_behind_as_in_pairs(rows, pairs.filter(eta=eta), sign)
        assert rows["may_be_best"][0]


@pytest.mark.slow
def test_equal_models_are_seldom_called_surely_worse_at_a_threshold() -> None:
    rng = np.random.default_rng(8)
    n_sets, n_models = 400, 5
    p, n, recall, fpr = 60, 600, 0.6, 0.03
    tp, fp = rng.binomial(p, recall, (n_sets, n_models)), rng.binomial(n, fpr, (n_sets, n_models))
    flagged = pl.DataFrame({"n_pos": tp.ravel(), "n_neg": fp.ravel(), "score": 1.0})
    rest = pl.DataFrame({"n_pos": p - tp.ravel(), "n_neg": n - fp.ravel(), "score": 0.0})
    names = pl.DataFrame(
        {"sim": np.arange(n_sets).repeat(n_models), "model": np.tile(np.arange(n_models), n_sets)}
    )
    both = pl.concat([names.hstack(part) for part in (flagged, rest)])
    for metric in ("precision", "f1"):
        found = both.prc.ranking(
            0.01,
            by="sim",
            metric=metric,
            threshold=1,
            confidence=0.95,
            counts=("n_pos", "n_neg"),
            columns="all",
        )
        beaten = found.group_by("sim").agg((~pl.col("may_be_best")).any())["may_be_best"].mean()
        assert beaten <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / n_sets)


# Which models may be best ----------------------------------------------------------------------


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("metric", ["average_precision", "roc_auc", metrics.best("fpr")], ids=str)
def test_models_that_no_other_one_beats_may_be_best(paired: bool, metric: Any) -> None:
    rng = np.random.default_rng(4)
    n, shifts = 600, {"a": 1.0, "b": 1.1, "c": 2.4, "d": 2.5, "e": 0.2}
    label = np.arange(n) < 200
    df = pl.concat(
        pl.DataFrame(
            {"m": name, "id": range(n), "label": label, "score": rng.normal(size=n) + k * label}
        )
        for name, k in shifts.items()
    )
    drawn = intervals(0.95, method="bootstrap", resamples=99, seed=1)
    confidence = drawn if paired and not isinstance(metric, str) else 0.95
    found = df.prc.ranking(
        [0.05, 0.5],
        model="m",
        metric=metric,
        confidence=confidence,
        id="id" if paired else None,
        columns="all",
    )
    of = dict.fromkeys(shifts, True)
    if isinstance(metric, str):
        of |= {"a": False, "b": False, "e": False}
        assert found.filter(pl.col("rank") == 1)["may_be_best"].all()
        for part in found.partition_by("eta"):
            assert dict(part.select("model", "may_be_best").iter_rows()) == of
    else:  # no analytic error, or the least fpr is 0 for all: nothing is known to be beaten
        assert found["may_be_best"].all()


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("n_pos", [9, 10])
@pytest.mark.parametrize("paired", [True, False])
def test_no_sign_is_certain_with_fewer_than_10_of_a_class(n_pos: int, paired: bool) -> None:
    rng = np.random.default_rng(8)
    label = np.arange(200) < n_pos
    good, bad = (rng.normal(size=200) + shift * label for shift in (3.0, -1.0))
    parts = [
        pl.DataFrame({"m": m, "id": range(200), "score": score, "label": label})
        for m, score in (("a", good), ("b", bad))
    ]
    df = pl.concat(parts)
    how: dict[str, Any] = {"model": "m", "id": "id" if paired else None}
    asked = {**how, "metrics": "roc_auc", "paired": paired}
    pair = df.prc.compare(eta=0.1, columns="all", **asked).row(0, named=True)
    assert abs(pair["difference"] / pair["standard_error"]) > 3.92
    assert pair["doubt"] is not None
    assert pair["significant"] is (True if n_pos >= 10 else None)
    ranks = df.prc.ranking(0.1, metric="roc_auc", confidence=0.95, columns="all", **how)
    assert ranks["may_be_best"].to_list() == [True, n_pos < 10]


def test_a_difference_counts_half_where_its_interval_is_not_reliable() -> None:
    rng = np.random.default_rng(6)
    n = 40_000
    label = np.arange(n) < n // 2
    df = pl.DataFrame({"m": "a", "label": label, "score": rng.normal(size=n) + 8 * label})
    df = pl.concat([df, df.with_columns(m=pl.lit("b"), score=pl.Series(rng.normal(size=n)))])
    asked: dict[str, Any] = {"model": "m", "metric": "roc_auc", "confidence": 0.95}
    found = df.prc.ranking(0.1, columns="all", **asked)
    assert found["doubt"].is_null().to_list() == [False, False]
    assert found["may_be_best"].to_list() == [True, False], "a p-value of 0 stays 0"
    label = np.arange(40) < 20
    shifted = [("a", 1.1 * label), ("b", 0 * label)]
    few = pl.concat(
        pl.DataFrame({"m": m, "label": label, "score": rng.normal(size=40) + up}) for m, up in shifted
    )
    pair = few.prc.compare(model="m", paired=False, eta=0.1, metrics="roc_auc", columns="all").row(
        0, named=True
    )
    assert pair["p_value"] < 0.05
    assert pair["doubt"] is not None
    z = abs(pair["difference"]) / pair["standard_error"]
    assert 2 < z < 3.9
    assert few.prc.ranking(0.1, columns="all", **asked)["may_be_best"].all()


@pytest.mark.slow
@pytest.mark.parametrize("paired", [True, False])
def test_none_of_equal_models_is_left_out_more_often_than_promised(paired: bool) -> None:
    """Of 400 tables of five equal models, one or more is called worse in 5%, and three errors more."""
    rng = np.random.default_rng(9)
    tables, n_pos, n_neg = 400, 50, 250
    label = np.arange(n_pos + n_neg) < n_pos
    shared = rng.normal(size=(tables, 1, len(label)))
    score = (shared + rng.normal(size=(tables, 5, len(label)))) / 2**0.5 + 1.5 * label
    df = pl.DataFrame(
        {
            "table": np.repeat(np.arange(tables), 5 * len(label)),
            "m": np.tile(np.repeat(np.arange(5), len(label)), tables),
            "id": np.tile(np.arange(len(label)), 5 * tables),
            "label": np.tile(label, 5 * tables),
            "score": score.ravel(),
        }
    )
    found = df.prc.ranking(
        0.1, model="m", by="table", confidence=0.95, id="id" if paired else None, columns="all"
    )
    left_out = found.group_by("table").agg((~pl.col("may_be_best")).any())["may_be_best"].mean()
    assert left_out <= 0.05 + 3 * (0.05 * 0.95 / tables) ** 0.5


def test_models_with_a_column_for_each_class_have_examples_of_their_own() -> None:
    rng = np.random.default_rng(4)
    kind, model = rng.choice(["a", "b"], 90), rng.choice(["x", "y", "z"], 90)
    table = pl.DataFrame({"kind": kind, "model": model, "a": rng.normal(size=90)}).with_columns(
        b=1 - pl.col("a")
    )
    of_classes = table.prc.ranking(
        0.1, score={"a": "a", "b": "b"}, label="kind", model="model", confidence=0.95
    )
    long = pl.concat(
        table.select("model", pl.lit(name).alias("class"), label=pl.col("kind") == name, score=name)
        for name in "ab"
    )
    assert_same(of_classes, long.prc.ranking(0.1, model="model", by="class", confidence=0.95))
