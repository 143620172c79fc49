"""Differences at thresholds between models that flag the same examples, against a loop over examples."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, intervals, metrics, prc
from polars_prcurve.core.ground.studentised_range import list_range_deviations
from tests.support.comparing import assert_nearly, assert_same
from tests.support.profiles import examples
from tests.support.tiers import slow_unless

DRAWN = intervals(0.95, method="bootstrap", resamples=9, seed=1)
BENEFIT = metrics.net_benefit(0.2)
LINEAR: Any = [BENEFIT, "recall", "fpr"]
CURVED: Any = ["precision", "npv", "f1", "mcc", "lift"]


def two_models(n: int = 400, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    label, own = rng.random(n) < 0.3, rng.normal(size=n)
    return pl.DataFrame(
        {
            "row": range(n),
            "g": rng.integers(0, 3, n),
            "label": label,
            "a": own + rng.normal(size=n) + 2 * label,
            "b": own + rng.normal(size=n) + label,
        }
    )


def cut_to_range(name: str, difference: float) -> float:
    """Return a difference, or the greatest one that values of a metric allow."""
    lowest, highest = BENEFIT.range if name == BENEFIT.name else getattr(metrics, name).range
    return max(lowest - highest, min(highest - lowest, difference))


def expected(rows: list[tuple[int, int, bool]], cuts: tuple[float, float], weights: Any) -> Any:
    """The difference and its standard error, from the examples that one model alone flags."""
    difference = variance = 0.0
    for positive, weight in zip((True, False), weights, strict=True):
        signs = [(a >= cuts[0]) - (b >= cuts[1]) for a, b, label in rows if label == positive]
        if weight == 0:
            continue
        if not signs:
            return None
        # Half an example that model a alone flags, and half of one that model b alone flags.
        n, more, less = len(signs) + 1, signs.count(1) + 0.5, signs.count(-1) + 0.5
        mean = (more - less) / n
        mean_square = (more + less) / n
        difference += weight * sum(signs) / len(signs)
        variance += weight**2 * (mean_square - mean**2) / n
    return difference, math.sqrt(variance)


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), min_size=2, max_size=20),
    st.integers(0, 6),
    st.sampled_from([0.0, 0.05, 0.4, 1.0]),
)
def test_by_definition(drawn: list[tuple[int, int, bool]], cut: int, eta: float) -> None:
    df = pl.DataFrame(drawn, schema=["a", "b", "label"], orient="row")
    asked: Any = {"eta": eta, "threshold": cut}
    found = df.prc.compare(score=["a", "b"], metrics=LINEAR, confidence=0.9, columns="all", **asked)
    points = [
        df.prc.operating_points(score=name, metrics=LINEAR, columns="all", **asked) for name in "ab"
    ]
    z = NormalDist().inv_cdf(0.95)
    odds = 0.2 / 0.8
    weights = {"net_benefit(0.2)": (eta, -(1 - eta) * odds), "recall": (1, 0), "fpr": (0, 1)}
    for row in found.to_dicts():
        values = [point[row["metric"]].item() for point in points]
        if None in values:
            assert row["difference"] is row["standard_error"] is row["low"] is None
            assert row["doubt"] is not None
            continue
        cuts = [point["threshold"].item() for point in points]
        flags = tuple(math.inf if cut is None else cut for cut in cuts)
        difference, error = expected(drawn, flags, weights[row["metric"]])  # type: ignore[arg-type]
        assert row["difference"] == pytest.approx(values[0] - values[1], abs=1e-15)
        assert row["difference"] == pytest.approx(difference, abs=1e-12)
        assert row["standard_error"] == pytest.approx(error, rel=1e-9)
        ends = [
            cut_to_range(row["metric"], end) for end in (difference - z * error, difference + z * error)
        ]
        assert [row["low"], row["high"]] == pytest.approx(ends, rel=1e-9, abs=1e-12)
        if error > 0:
            p_value = 2 * NormalDist().cdf(-abs(difference / error))
            assert row["p_value"] == pytest.approx(p_value, rel=1e-9)


def expected_correlation(
    rows: list[tuple[int, int, bool, int]], cuts: tuple[float, float], name: str, eta: float
) -> float:
    """The correlation of the values of both models, from whether each flags each example, by weight."""
    metric = getattr(metrics, name)
    low, high = metric.range

    def scale(recall: float, fpr: float) -> float:
        value = float(metric(recall, fpr, eta))
        return math.log(value - low) - (0 if math.isinf(high) else math.log(high - value))

    agreement: list[float] = []
    rates: list[list[float]] = [[], []]  # recall and fpr of either model
    errors: list[list[float]] = [[], []]
    for positive in (True, False):
        flags = [(a >= cuts[0], b >= cuts[1], w) for a, b, label, w in rows if label == positive]
        if not flags:  # a rate that is not known moves no metric that is
            agreement.append(0.0)
            for of_model, error in zip(rates, errors, strict=True):
                of_model.append(0.5)
                error.append(0.0)
            continue
        total = sum(w for *_, w in flags)
        unit = total / sum(w * w for *_, w in flags)  # what a weight of 1 counts as
        n = total * unit + 1
        of_a, of_b = ((sum(flag[2] for flag in flags if flag[i]) * unit + 0.5) / n for i in (0, 1))
        variances = [rate * (1 - rate) for rate in (of_a, of_b)]
        both = sum(w for a, b, w in flags if a and b) * unit / n
        agreement.append((both - of_a * of_b) / math.sqrt(math.prod(variances)))
        for model, rate, variance in zip((0, 1), (of_a, of_b), variances, strict=True):
            rates[model].append(rate)
            errors[model].append(math.sqrt(variance / n))
    shares = []
    for (recall, fpr), (by_recall, by_fpr) in zip(rates, errors, strict=True):
        moves = (
            scale(recall + by_recall / 2, fpr) - scale(recall - by_recall / 2, fpr),
            scale(recall, fpr + by_fpr / 2) - scale(recall, fpr - by_fpr / 2),
        )
        shares.append([abs(move) / math.hypot(*moves) for move in moves])
    return sum(of * a * b for of, a, b in zip(agreement, *shares, strict=True))


@examples(60)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans(), st.integers(1, 4)),
        min_size=4,
        max_size=30,
    ),
    st.integers(0, 6),
    st.sampled_from([0.001, 0.05, 0.4]),
    st.booleans(),
)
def test_curved_metrics_by_definition(
    drawn: list[tuple[int, int, bool, int]], cut: int, eta: float, weighted: bool
) -> None:
    """Ends of both bands, and the correlation of both values, make the ends of a difference."""
    df = pl.DataFrame(drawn, schema=["a", "b", "label", "w"], orient="row")
    asked: Any = {"eta": eta, "threshold": cut, "confidence": 0.9, "metrics": CURVED}
    if weighted:  # discordant examples of unlike weights tell no error of a difference of rates
        asked |= {"weight": "w", "metrics": [*CURVED, "recall", "fpr"]}
    else:
        drawn = [(*row[:3], 1) for row in drawn]
    found = df.prc.compare(score=["a", "b"], columns="all", **asked)
    points = [df.prc.operating_points(score=name, columns="all", **asked) for name in "ab"]
    for row in found.to_dicts():
        name = row["metric"]
        a, b = ([point[f"{name}{end}"].item() for end in ("", "_low", "_high")] for point in points)
        if None in (*a, *b):
            assert row["low"] is row["high"] is row["significant"] is None
            assert row["doubt"] is not None
            continue
        cuts = [point["threshold"].item() for point in points]
        flags = tuple(math.inf if cut is None else cut for cut in cuts)
        shared = expected_correlation(drawn, flags, name, eta)  # type: ignore[arg-type]
        assert abs(shared) <= 1 + 1e-12
        for end, d, e in (("low", a[0] - a[1], b[2] - b[0]), ("high", a[2] - a[0], b[0] - b[1])):
            reach = math.sqrt(max(0.0, d * d + e * e - 2 * shared * d * e))
            sign = -1 if end == "low" else 1
            expected_end = cut_to_range(name, a[0] - b[0] + sign * reach)
            assert row[end] == pytest.approx(expected_end, rel=1e-7, abs=1e-7)
        assert row["standard_error"] is row["p_value"] is None


def compare_long(df: pl.DataFrame, asked: dict[str, Any], wide: pl.DataFrame) -> None:
    """Hold the comparison of the long table to that of the wide one."""
    others = [name for name in df.columns if name not in ("a", "b")]
    long = df.unpivot(["a", "b"], index=others, variable_name="model")
    of_long: Any = {"model": "model", "id": "row", "score": "value", **asked}
    assert_same(long.prc.compare(columns="all", **of_long), wide)


TARGETS = [{"precision": 0.5}, {"threshold": 0.7}, {"alerts": 30, "per": 100}]


@pytest.mark.parametrize("target", slow_unless(lambda target: "precision" in target, TARGETS))
def test_a_long_table_and_a_metric_alone_give_the_same(target: Any) -> None:
    """Also if a metric is asked for alone: one in three for each target."""
    df = two_models()
    both = [*LINEAR, *CURVED]
    asked: Any = {"eta": [0.3, 0.1], "metrics": both, "by": "g", "adjust": "holm", **target}
    wide = df.prc.compare(score=["a", "b"], columns="all", **asked)
    assert wide.height == 3 * 2 * len(both)
    for metric in both[TARGETS.index(target) :: 3]:
        alone = df.prc.compare(score=["a", "b"], columns="all", **asked | {"metrics": metric})
        assert_same(alone, wide.filter(metric=alone["metric"][0]))
    compare_long(df, asked, wide)


@pytest.mark.parametrize(
    "target",
    slow_unless(
        lambda target: "recall" in target,
        [{"threshold": 0.7}, {"recall": 0.6}, {"alerts": 30, "per": 100}],
    ),
)
def test_a_long_table_gives_the_same_with_weights(target: Any) -> None:
    df = two_models().with_columns(w=(pl.col("row") % 5 + 1) / 7)
    asked: Any = {"eta": [0.3, 0.1], "metrics": [*LINEAR, *CURVED], "by": "g", "weight": "w", **target}
    wide = df.prc.compare(score=["a", "b"], columns="all", **asked)
    assert wide["low"].null_count() == 0
    compare_long(df, asked, wide)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("target", "weight"),
    [({"recall": 0.6}, 0.01), ({"precision": 0.5}, 1000), ({"alerts": 30, "per": 100}, 0.01)],
)
def test_one_weight_for_all_is_no_weight(target: Any, weight: float) -> None:
    df = two_models().with_columns(w=pl.lit(weight))
    asked: Any = {"eta": [0.3, 0.1], "metrics": [*LINEAR, *CURVED], **target}
    plain = df.prc.compare(score=["a", "b"], columns="all", **asked)
    assert plain["doubt"].is_null().any()
    assert_nearly(df.prc.compare(score=["a", "b"], weight="w", columns="all", **asked), plain)


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_paired_interval_is_narrower(weight: str | None) -> None:
    df = two_models(2000).with_columns(w=pl.col("row") % 3 + 1)
    long = df.unpivot(["a", "b"], index=["row", "label", "w"], variable_name="model")
    asked: Any = {"model": "model", "score": "value", "eta": 0.1, "threshold": 1.0, "weight": weight}
    asked |= {"metrics": [*LINEAR, *CURVED]}
    paired = long.prc.compare(id="row", columns="all", **asked)
    apart = long.prc.compare(paired=False, columns="all", **asked)
    assert paired["difference"].to_list() == apart["difference"].to_list()
    widths = [(table["high"] - table["low"]).to_list() for table in (paired, apart)]
    assert all(p < 0.9 * a for p, a in zip(*widths, strict=True))
    assert paired["doubt"].is_null().all()


@pytest.mark.parametrize("metric", [BENEFIT, "precision"])
def test_the_ranking_by_a_point_has_paired_intervals(metric: Any) -> None:
    df = two_models(600).with_columns(c=pl.col("b").shuffle(3))
    long = df.unpivot(["a", "b", "c"], index=["row", "label"], variable_name="model")
    asked: Any = {"model": "model", "id": "row", "score": "value"}
    ranked = long.prc.ranking(0.2, metric=metric, threshold=1.0, confidence=0.9, columns="all", **asked)
    found = long.prc.compare(
        eta=0.2, metrics=metric, threshold=1.0, confidence=0.9, columns="all", **asked
    )
    z = NormalDist().inv_cdf(0.95)
    factor = list_range_deviations(0.9)[3] / z
    first, second, third = ranked["model"]
    for model, other in ((second, first), (third, first)):
        pair = found.filter(
            pl.concat_list("model_a", "model_b").list.set_difference([model, other]).list.len() == 0
        )
        row, (a, d, low, high) = (
            ranked.filter(model=model).row(0, named=True),
            pair.select("model_a", "difference", "low", "high").row(0),
        )
        behind, least, most = (d, low, high) if a == other else (-d, -high, -low)
        assert row["behind"] == pytest.approx(behind, abs=1e-12)
        # At the level of all pairs, and not less than behind any other model.
        assert row["behind_high"] >= behind + (most - behind) * factor - 1e-9
        assert row["behind_low"] >= min(behind - (behind - least) * factor, 0.0) - 1e-9
        assert row["doubt"] == pair["doubt"][0]


def test_precision_at_a_recall_leads_to_the_curve_metric() -> None:
    df = two_models(60).with_columns(w=pl.lit(2))
    asked: dict[str, Any] = {"eta": 0.1, "recall": 0.8, "metrics": "precision"}
    said = r'leave out recall=, and pass metrics.precision_at_recall\(0.8\) with method="bootstrap"'
    with pytest.raises(PrcError, match=said) as raised:
        df.prc.compare(score=["a", "b"], confidence=DRAWN, columns="all", **asked)
    assert "id=" not in str(raised.value)
    at_recall = metrics.precision_at_recall(0.8)
    found = df.prc.compare(0.1, score=["a", "b"], metrics=at_recall, confidence=DRAWN, columns="all")
    assert found["low"].null_count() == 0


def test_what_is_refused() -> None:
    df = two_models(60).with_columns(w=pl.lit(2))
    at: Any = {"eta": 0.1, "threshold": 1.0}
    refused: list[tuple[dict[str, Any], str]] = [
        ({"metrics": BENEFIT, "confidence": DRAWN}, r"leave out method=.*has no bootstrap"),
    ]
    for door in (prc(df), prc(df.lazy())):
        for options, sentence in refused:
            with pytest.raises(PrcError, match=sentence):
                door.compare(score=["a", "b"], columns="all", **at, **options)
    long = df.unpivot(["a", "b"], index=["row", "label"], variable_name="model")
    asked: Any = {"model": "model", "id": "row", "score": "value", "metrics": BENEFIT, **at}
    with pytest.raises(PrcError, match=r"missing or repeated for 1 example"):
        long[1:].prc.compare(columns="all", **asked)
    torn = long.with_columns(label=pl.col("label") ^ (pl.int_range(pl.len()) == 3))
    with pytest.raises(PrcError, match=r"the label, .* is different in another model for 1 example"):
        torn.prc.compare(columns="all", **asked)


@pytest.mark.parametrize(
    ("a_alone", "b_alone", "reliable"),
    [(5, 5, True), (25, 1, True), (4, 6, False), (24, 1, False), (40, 0, False), (0, 0, False)],
)
def test_a_difference_is_reliable_by_the_product_of_what_either_model_flags_alone(
    a_alone: int, b_alone: int, reliable: bool
) -> None:
    """The sum goes along with the difference where one model alone flags examples."""
    n = 100
    rows = [(1, 0)] * a_alone + [(0, 1)] * b_alone + [(1, 1)] * (n - a_alone - b_alone)
    df = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    df = pl.concat([df.with_columns(label=True), df.with_columns(label=False)])
    found = df.prc.compare(0.1, score=["a", "b"], threshold=1, metrics=LINEAR, columns="all")
    assert found["doubt"].is_null().to_list() == [reliable] * 3


@pytest.mark.parametrize(("of_a", "of_b"), [(20, 0.5), (7, 5), (30, 0.3)])
def test_samples_that_are_marked_hold_the_truth(of_a: float, of_b: float) -> None:
    """Of every number of positives that one model alone flags, by its chance, where some are marked."""
    n, z = 200, NormalDist().inv_cdf(0.975)
    chances = [[math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(90)]
               for p in (of_a / n, of_b / n)]  # fmt: skip
    numbers = [(a, b) for a in range(90) for b in range(90) if chances[0][a] * chances[1][b] > 1e-9]
    rows = pl.DataFrame(numbers, schema=["m_a", "m_b"], orient="row").with_row_index("set")
    # A row per kind of examples: of both, of one alone, of none.
    kinds = [(1, 0, pl.col("m_a")), (0, 1, pl.col("m_b")), (0, 0, n - pl.col("m_a") - pl.col("m_b"))]
    df = pl.concat(rows.select("set", a=pl.lit(a), b=pl.lit(b), times=m) for a, b, m in kinds)
    df = df.filter(pl.col("times") >= 0).select(
        pl.all().exclude("times").repeat_by("times").explode(empty_as_null=False), label=pl.lit(True)
    )
    assert df.height
    chance = {i: chances[0][a] * chances[1][b] for i, (a, b) in enumerate(numbers)}
    found = df.prc.compare(
        0.1, score=["a", "b"], threshold=1, metrics="recall", by="set", confidence=0.95, columns="all"
    )
    marked = held = 0.0
    for row in found.to_dicts():
        a, b = numbers[row["set"]]
        half = z * math.sqrt((a + b + 1) / (n + 1) ** 2 - (a - b) ** 2 / (n + 1) ** 3)
        assert row["high"] - row["difference"] == pytest.approx(half)
        if row["doubt"] is None:
            marked += chance[row["set"]]
            held += chance[row["set"]] * (abs((a - b) - (of_a - of_b)) <= n * half)
    assert marked > 0.05
    assert held / marked > 0.93


def test_thresholds_of_each_prevalence_are_compared_there() -> None:
    df = two_models(600)
    frame = pl.DataFrame({"eta": [0.3, 0.01], "threshold": [0.5, 1.5]})
    asked: Any = {"score": ["a", "b"], "metrics": ["recall", "precision"]}
    both = df.prc.compare(eta=[0.3, 0.01], threshold=frame, columns="all", **asked)
    alone = [df.prc.compare(eta=eta, threshold=at, columns="all", **asked) for eta, at in frame.rows()]
    assert_same(both.sort("eta", "metric"), pl.concat(alone).sort("eta", "metric"))


@pytest.mark.parametrize("target", [{"threshold": 1.0}, {"recall": 0.8}])
def test_models_in_clusters_are_compared_as_if_apart(target: dict[str, Any]) -> None:
    """What models share in a cluster is not known, and independent errors are wider."""
    df = two_models(300).with_columns(c=pl.col("row") // 3)
    asked: Any = {"eta": 0.1, "metrics": ["precision", "recall"], "cluster": "c", **target}
    long = df.unpivot(["a", "b"], index=["row", "label", "c"], variable_name="model")
    apart = long.prc.compare(model="model", paired=False, score="value", columns="all", **asked)
    assert_same(df.prc.compare(score=["a", "b"], columns="all", **asked), apart)
