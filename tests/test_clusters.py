"""Rows in clusters: what a cluster adds to a rate or to an area is added up before it is squared."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, eta_from_sample, field, intervals, metrics, prc
from polars_prcurve.core.ground.student_distribution import normal_from_student, student_quantile
from tests.support import oracle, oracle_clusters, oracle_errors
from tests.support.comparing import assert_same
from tests.support.profiles import examples

NAMES = ["average_precision", "roc_auc"]


def patients(n: int = 60, seed: int = 3) -> pl.DataFrame:
    """Rows of patients, whose scores share a part, in two groups."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n), rng.integers(1, 9, n))
    label = rng.random(len(patient)) < 0.3
    score = rng.normal(size=n)[patient] + rng.normal(size=len(patient)) + label
    columns = {"g": patient % 2, "patient": patient, "score": score.round(1), "label": label}
    return pl.DataFrame(columns).with_columns(w=pl.Series(rng.integers(1, 4, len(patient))))


def expected_error(
    name: str, rows: list[tuple[Any, bool, Fraction]], clusters: list[Any], eta: Fraction
) -> tuple[float, float] | None:
    """The standard error, and the degrees of freedom; None where a class has one cluster."""
    zero = Fraction(0)
    group = oracle.Group({}, [(s, w if y else zero, zero if y else w) for s, y, w in rows])
    influences = oracle_errors.influences(name, group, eta)
    return error_of_clusters(
        [(c, y, w, value) for (_, y, w), c, value in zip(rows, clusters, influences, strict=True)]
    )


def error_of_clusters(
    examples: list[tuple[Any, bool, Fraction, Fraction]],
) -> tuple[float, float] | None:
    """The same, from the cluster, the class, the weight and the influence of each example."""
    masses: list[dict[Any, Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
    for cluster, positive, w, _ in examples:
        masses[positive][cluster] += w
    totals = [sum(m.values()) for m in masses]
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    for cluster, positive, w, influence in examples:
        sums[cluster] += w * influence / totals[positive]
    sizes = [n**2 / sum(v * v for v in m.values()) for n, m in zip(totals, masses, strict=True)]
    if min(sizes) <= 1:
        return None
    n = len(sums)
    return math.sqrt(sum(v * v for v in sums.values()) * n / (n - 1)), float(min(sizes)) - 1


values = st.lists(
    st.tuples(st.integers(0, 6), st.booleans(), st.integers(1, 3), st.integers(0, 4)),
    min_size=4,
    max_size=16,
)


@examples(60)
@given(values, st.sampled_from([0.01, 0.3, 0.9]), st.booleans())
def test_errors_by_definition(
    drawn: list[tuple[int, bool, int, int]], eta: float, weighted: bool
) -> None:
    columns = ("score", "label", "w", "patient")
    df = pl.DataFrame(drawn, schema=columns, orient="row")
    if df["label"].n_unique() < 2:
        return
    asked: Any = {"metrics": NAMES, "confidence": 0.9, "cluster": "patient"}
    found = df.prc.summary(eta, weight="w" if weighted else None, columns="all", **asked)
    rows = [(score, y, Fraction(w if weighted else 1)) for score, y, w, _ in drawn]
    for row in found.to_dicts():
        expected = expected_error(row["metric"], rows, [c for *_, c in drawn], Fraction(eta))
        if expected is None or row["value"] in (0, 1):
            assert row["standard_error"] is None
            continue
        error, freedom = expected
        assert math.isclose(row["standard_error"], error, rel_tol=1e-8, abs_tol=1e-10)
        if error > 1e-9 and row["metric"] == "roc_auc":
            z, nu = NormalDist().inv_cdf(0.95), max(freedom, 1.0)
            quantile = oracle_clusters.student_quantile(z, nu)
            value = row["value"]
            middle, half = math.log(value / (1 - value)), quantile * error / (value * (1 - value))
            low, high = (1 / (1 + math.exp(-(middle + sign * half))) for sign in (-1, 1))
            assert row["low"] <= low + 1e-9
            assert row["high"] >= high - 1e-9


@examples(120)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(0, 5)), min_size=4, max_size=24),
    st.sampled_from([0.01, 0.3, 0.9]),
)
def test_bands_by_definition(drawn: list[tuple[int, bool, int]], eta: float) -> None:
    df = pl.DataFrame(drawn, schema=["score", "label", "patient"], orient="row")
    rows = [oracle_clusters.ClusterRow(*row) for row in drawn]
    names: Any = ["recall", "fpr", "precision"]
    asked: Any = {"metrics": names, "confidence": 0.9, "cluster": "patient"}
    for row in df.prc.curve(eta, **asked).to_dicts():
        sides = [oracle_clusters.measure_side(rows, y, row["threshold"]) for y in (True, False)]
        for name, side in zip(names[:2], sides, strict=True):
            found = [row[f"{name}_low"], row[f"{name}_high"]]
            if side is None:
                assert found == [None, None]
            else:
                expected = oracle_clusters.limits(side, 0.9, positive=name == "recall")
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
        if sides[0] is not None and sides[1] is not None:
            band = oracle_clusters.precision_band(sides[0], sides[1], eta, 0.9)
            found = [row["precision_low"], row["precision_high"]]
            # An estimate at an end, with an interval that is rounded off it, is an end itself.
            assert found == pytest.approx(band, rel=1e-6, abs=1e-9)


def test_names_of_clusters_do_not_matter() -> None:
    df = patients(400)
    named = df.with_columns(pl.format("patient {}", "patient").alias("patient"))
    for ask in [
        *ASK_BANDS,
        lambda p: p.summary(
            [0.01, None], metrics=NAMES, by="g", confidence=0.95, cluster="patient", columns="all"
        ),
    ]:
        assert_same(ask(named.prc), ask(df.prc))


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["streaming", "in-memory"])
def test_many_rows_have_the_same_bands_on_both_engines(engine: Any) -> None:
    """Queries of other tests have too few rows in clusters for blocks that are read side by side."""
    df = patients(60_000)
    for ask in ASK_BANDS:
        assert_same(ask(df.reverse().lazy().prc).collect(engine=engine), ask(df.prc))


ASK_BANDS: Any = [
    lambda p: p.curve([0.01, None], by="g", confidence=0.9, cluster="patient"),
    lambda p: p.curve(0.1, thresholds=[-0.55, 0.5, 99.0], by="g", confidence=0.9, cluster="patient"),
    lambda p: p.operating_points(
        0.1,
        recall=[0.4, 1.0],
        threshold=[0.5, 99.0],
        by="g",
        confidence=0.9,
        cluster="patient",
        columns="all",
    ),
]


def test_points_and_thresholds_have_the_bands_of_the_curve() -> None:
    df = patients()
    asked: Any = {"metrics": ["recall", "fpr", "precision"], "confidence": 0.9, "cluster": "patient"}
    curve = df.prc.curve(0.1, by="g", **asked)
    at, key = curve["threshold"].unique().to_list(), ["g", "threshold"]
    of_points = ["criterion", "target", "doubt"]
    for other in (
        df.prc.curve(0.1, by="g", thresholds=at[::7], **asked),
        df.prc.operating_points(0.1, by="g", threshold=at, columns="all", **asked).drop(of_points),
    ):
        both = other.join(curve, on=key, how="semi"), curve.join(other, on=key, how="semi")
        assert_same(*(table.sort(key).select(curve.columns) for table in both))
    above = df.prc.operating_points(0.1, threshold=99, columns="all", **asked).row(0, named=True)
    unreached = df.prc.curve(0.1, thresholds=[99.0], **asked).row(0, named=True)
    assert above["fpr_high"] == unreached["fpr_high"] > 0
    wide = df.with_columns(pl.col("score").cast(pl.Decimal(20, 1)))
    assert_same(wide.prc.curve(0.1, by="g", **asked).drop("threshold"), curve.drop("threshold"))


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("rate", ["wilson", "clopper_pearson"])
@pytest.mark.parametrize("method", ["analytic", "rectangle"])
def test_each_row_a_cluster_counts_one_less(rate: Any, method: Any) -> None:
    df = patients(400).with_row_index("row")
    confidence = intervals(0.95, rate=rate, method=method)
    asked: Any = {"metrics": ["recall", "fpr", "f1"], "confidence": confidence}
    plain, clustered = df.prc.curve(0.1, **asked), df.prc.curve(0.1, cluster="row", **asked)
    for name in plain.columns:
        assert clustered[name].to_list() == pytest.approx(plain[name].to_list(), rel=0.02, abs=0.01)


def test_rows_repeated_in_a_cluster_add_nothing() -> None:
    df = patients(300).with_row_index("row")
    asked: Any = {"metrics": ["recall", "precision"], "confidence": 0.9, "cluster": "row"}
    once, often = (frame.prc.curve(0.1, **asked) for frame in (df, pl.concat([df] * 5)))
    # Where few rows are flagged, five times as many have less to learn from half way.
    rows = (once["tp"] > 60) & (once["fp"] > 60) & (once["fn"] > 60) & (once["tn"] > 60)
    for name in ("recall_low", "recall_high", "precision_low", "precision_high"):
        both = [table[name].filter(rows).to_list() for table in (once, often)]
        assert both[0] == pytest.approx(both[1], rel=0.003)
    with_repeats = pl.concat([df] * 5).prc.curve(0.1, **(asked | {"cluster": None}))
    assert (with_repeats["recall_low"] > often["recall_low"]).filter(rows).all()


def test_what_both_classes_share_cancels_out() -> None:
    """Scores of a patient are high or low together, so fpr is too high where recall is."""
    rng = np.random.default_rng(5)
    own = np.repeat(rng.normal(size=400), 4)
    label = np.tile([True, False, False, False], 400)
    df = pl.DataFrame({"patient": np.repeat(np.arange(400), 4), "label": label, "score": own + label})
    asked: Any = {"threshold": 0.5, "confidence": 0.95, "metrics": ["recall", "fpr", "precision"]}
    shared = df.prc.operating_points(0.1, cluster="patient", columns="all", **asked).row(0, named=True)
    split = df.with_columns(pl.format("{} {}", "patient", "label").alias("patient"))
    apart = split.prc.operating_points(0.1, cluster="patient", columns="all", **asked).row(0, named=True)
    for name in ("recall_low", "recall_high", "fpr_low", "fpr_high"):
        assert shared[name] == pytest.approx(apart[name])
    widths = [row["precision_high"] - row["precision_low"] for row in (shared, apart)]
    assert widths[0] < 0.9 * widths[1]


def expected_difference(
    name: str, drawn: list[tuple[int, int, bool, int, int]], weighted: bool, eta: Fraction
) -> tuple[float, float] | None:
    """The standard error of the difference between two models, and the degrees of freedom."""
    zero, influences = Fraction(0), []
    amounts = [Fraction(w if weighted else 1) for *_, w in drawn]
    for model in (0, 1):
        rows = [
            (r[model], w if r[2] else zero, zero if r[2] else w)
            for r, w in zip(drawn, amounts, strict=True)
        ]
        group = oracle.Group({}, rows)
        influences.append(oracle_errors.influences(name, group, eta))
    return error_of_clusters(
        [
            (cluster, positive, w, a - b)
            for (_, _, positive, cluster, _), w, a, b in zip(drawn, amounts, *influences, strict=True)
        ]
    )


@examples(60)
@given(
    st.lists(
        st.tuples(
            *(st.integers(0, 6), st.integers(0, 6), st.booleans(), st.integers(1, 4), st.integers(1, 3))
        ),
        min_size=4,
        max_size=16,
    ),
    st.sampled_from([0.01, 0.3, 0.9]),
    st.booleans(),
)
def test_paired_differences_by_definition(
    drawn: list[tuple[int, int, bool, int, int]], eta: float, weighted: bool
) -> None:
    df = pl.DataFrame(drawn, schema=["a", "b", "label", "patient", "w"], orient="row")
    if df["label"].n_unique() < 2:
        return
    asked: Any = {"metrics": "roc_auc", "confidence": 0.9, "cluster": "patient"}
    asked |= {"score": ["a", "b"], "weight": "w" if weighted else None}
    found = df.prc.compare(eta, columns="all", **asked).row(0, named=True)
    expected = expected_difference("roc_auc", drawn, weighted, Fraction(eta))
    if expected is None:
        assert found["standard_error"] is None
        return
    error, freedom = expected
    assert math.isclose(found["standard_error"], error, rel_tol=1e-8, abs_tol=1e-9)
    if error > 1e-6:
        half = oracle_clusters.student_quantile(NormalDist().inv_cdf(0.95), max(freedom, 1.0)) * error
        ends = found["difference"] - half, found["difference"] + half
        ends_in_range = max(ends[0], -1.0), min(ends[1], 1.0)
        assert [found["low"], found["high"]] == pytest.approx(ends_in_range, rel=1e-6)
        # The p-value is that of the distribution whose quantile the interval has.
        assert (found["p_value"] < 0.1) == (ends[0] > 0 or ends[1] < 0)


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 4)), min_size=6, max_size=24),
    st.sampled_from([0.01, 0.2, 0.5, 0.9]),
    st.sampled_from([0.8, 0.95]),
)
def test_average_precision_allows_for_an_unseen_cluster(
    drawn: list[tuple[int, bool, int]], eta: float, confidence: float
) -> None:
    """By sums over clusters of influences on the plain and on the cautious curve."""
    df = pl.DataFrame(drawn, schema=["score", "label", "patient"], orient="row")
    asked: Any = {"metrics": "average_precision", "cluster": "patient", "confidence": confidence}
    row = df.prc.summary(eta, columns="all", **asked).row(0, named=True)
    if row["low"] is None or row["standard_error"] is None:
        return
    group = oracle.Group({}, [(s, Fraction(int(y)), Fraction(int(not y))) for s, y, _ in drawn])
    n = {True: int(group.n_pos), False: int(group.n_neg)}
    at, variances = Fraction(eta), []
    half = Fraction(1, 2)
    more = oracle_errors.one_false_positive(group, weighted=False, unseen=half)
    for curve in (None, more):
        moved = oracle_errors.influences("average_precision", group, at, curve)
        u = [float(x) / n[y] for x, (_, y, _) in zip(moved, drawn, strict=True)]
        sums: dict[int, float] = {}
        for x, (_, _, patient) in zip(u, drawn, strict=True):
            sums[patient] = sums.get(patient, 0.0) + x
        k, squares = len(sums), sum(x * x for x in sums.values())
        variances.append(k / (k - 1) * squares)
        if curve is None:
            of_rows, fourths = sum(x * x for x in u), sum(x**4 for x in sums.values())
            carried = squares**2 / fourths
            freedom = math.inf if carried >= k else 2 / (1 / carried - 1 / k)
            effect = max(1.0, variances[0] / of_rows)
    sizes = [
        n[y] ** 2 / sum(m * m for m in df.filter(label=y)["patient"].value_counts()["count"])
        for y in (True, False)
    ]
    freedom = max(min(freedom, min(sizes) - 1), 1.0)
    share = effect / (n[True] + effect)
    variances[1] = max(variances[1], float(oracle_errors.cost_of_false_positives(group, at, more)) ** 2)
    cautious = float(oracle_errors.cautious_average_precision(group, at, weighted=False, unseen=half))
    missed, share = share, effect / (2 * n[True] + effect)
    least, before, hopeful = (1 - missed) * cautious + missed * eta, Fraction(0), 0.0
    for point in oracle.sweep_group(group):
        recall = share + (1 - share) * float(point["recall"])
        fewer = float(point["fpr"]) * (1 - eta) / eta
        hopeful += float(point["recall"] - before) * recall / (recall + fewer)
        before = point["recall"]
    most, error = share + (1 - share) * hopeful, math.sqrt(variances[0])
    assert row["standard_error"] == pytest.approx(error, rel=1e-6, abs=1e-9)
    extended = oracle_errors.Extended(
        (row["value"], error),
        (least, math.hypot((1 - missed) * math.sqrt(variances[1]), missed * (least - eta))),
        (most, math.hypot((1 - share) * error, share * (1 - most))),
    )
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    ends = extended.ends(oracle_clusters.student_quantile(z, freedom))
    assert (row["low"], row["high"]) == pytest.approx(ends, rel=1e-6, abs=1e-9)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    ("patients", "rows", "doubt"),
    [(120, 4, None), (60, 8, "few clusters"), (4, 120, "few clusters"), (8, 2, "few positives")],
)
def test_what_is_few_is_named(patients: int, rows: int, doubt: str | None) -> None:
    """Of 240 positives in 60 patients, patients are few."""
    rng = np.random.default_rng(1)
    label = np.tile(np.arange(rows) % 2 == 0, patients)
    columns = {"label": label, "patient": np.repeat(np.arange(patients), rows)}
    df = pl.DataFrame({**columns, "score": label + rng.normal(size=len(label))})
    of = df.prc.summary(metrics=["average_precision", "roc_auc"], cluster="patient", confidence=0.95)
    assert of["doubt"].to_list() == [doubt, None]


def two_models(n: int = 80, seed: int = 3) -> pl.DataFrame:
    """Scores of two models for rows of patients, in two groups."""
    df = patients(n, seed)
    noise = np.random.default_rng(seed + 1).normal(size=(2, df.height))
    return df.with_columns(a=pl.col("score") + noise[0], b=pl.col("score") + noise[1]).drop("score")


def test_each_row_a_cluster_is_hardly_a_change_to_differences() -> None:
    df = two_models(600).with_row_index("row")
    asked: Any = {"eta": [0.01, 0.3], "metrics": NAMES, "by": "g"}
    plain = df.prc.compare(score=["a", "b"], columns="all", **asked)
    clustered = df.prc.compare(score=["a", "b"], cluster="row", columns="all", **asked)
    for name in ("difference", "standard_error"):
        assert clustered[name].to_list() == pytest.approx(plain[name].to_list(), rel=0.01)
    for name in ("low", "high", "p_value"):
        assert clustered[name].to_list() == pytest.approx(plain[name].to_list(), rel=0.05, abs=0.01)
    # Few of them may carry an error, which flags of clusters tell.
    assert (clustered["doubt"].is_null() <= plain["doubt"].is_null()).all()
    assert set(clustered["doubt"]) <= {*plain["doubt"], None, "few clusters"}


def test_the_doors_of_differences_agree() -> None:
    df = two_models(80).with_row_index("row")
    long = df.unpivot(["a", "b"], index=["row", "g", "patient", "label"], variable_name="model")
    asked: Any = {"eta": [0.01, 0.3], "metrics": NAMES, "by": "g", "cluster": "patient"}
    wide = df.prc.compare(score=["a", "b"], columns="all", **asked)
    of_long: Any = {"model": "model", "id": "row", "score": "value", **asked}
    assert_same(long.prc.compare(columns="all", **of_long), wide)
    ranked = long.prc.ranking(
        0.3, model="model", metric="roc_auc", id="row", score="value", confidence=0.95,
        by="g", cluster="patient",
    columns="all")  # fmt: skip
    of_auc = wide.filter(metric="roc_auc", eta=0.3)
    followers = ranked.filter(rank=2)
    ends = {
        tuple(sorted(abs(end) for end in row))
        for row in followers.select("behind_low", "behind_high").rows()
    }
    assert ends == {
        tuple(sorted((abs(low), abs(high)))) for low, high in of_auc.select("low", "high").rows()
    }
    torn = long.with_columns(patient=pl.struct("patient", pl.col("model") == "a"))
    with pytest.raises(PrcError, match="label, weight, stratum or cluster is different in another"):
        torn.prc.compare(columns="all", **of_long)


def test_differences_of_models_with_patients_of_their_own() -> None:
    df = patients(200)
    asked: Any = {"metrics": NAMES, "cluster": "patient"}
    found = df.prc.compare(eta=0.1, model="g", paired=False, columns="all", **asked)
    errors = df.prc.summary(0.1, by="g", confidence=0.95, columns="all", **asked)
    for row in found.to_dicts():
        both = errors.filter(metric=row["metric"])["standard_error"]
        assert row["standard_error"] >= math.hypot(*both) * (1 - 1e-9)
        if row["metric"] == "roc_auc":
            assert row["standard_error"] == pytest.approx(math.hypot(*both))
    points = df.prc.operating_points(
        0.1,
        by="g",
        threshold=0.5,
        metrics="precision",
        confidence=0.95,
        cluster="patient",
        columns="all",
    )
    target: Any = {"eta": 0.1, "model": "g", "paired": False, "threshold": 0.5}
    row = df.prc.compare(cluster="patient", columns="all", **target).row(0, named=True)
    (a, a_low, _), (b, _, b_high) = points.select("precision", "precision_low", "precision_high").rows()
    assert row["low"] == pytest.approx(a - b - math.hypot(a - a_low, b_high - b))
    with pytest.raises(PrcError, match=r"leave out weight= or cluster=, or call summary\(\): with both"):
        df.prc.compare(cluster="patient", weight="w", columns="all", **target)


def test_a_difference_among_patients_is_less_sure_than_one_among_rows() -> None:
    """Each model has a fixed error for each patient, which all rows of the patient share."""
    rng = np.random.default_rng(4)
    n, rows = 60, 30
    label = np.repeat(np.arange(n) % 2 == 0, rows)
    own = [np.repeat(rng.normal(size=n), rows) + rng.normal(size=n * rows) + label for _ in "ab"]
    df = pl.DataFrame(
        {"patient": np.repeat(np.arange(n), rows), "label": label, "a": own[0], "b": own[1]}
    )
    both = df.prc(score=["a", "b"])
    plain, clustered = (
        both.compare(0.2, cluster=cluster, columns="all") for cluster in (None, "patient")
    )
    for plain_error, error in zip(plain["standard_error"], clustered["standard_error"], strict=True):
        assert error > 3 * plain_error
    drawn = intervals(0.95, method="bootstrap", resamples=300, seed=1)
    boot = both.compare(0.2, cluster="patient", confidence=drawn, columns="all")
    found = clustered["standard_error"].to_list()
    assert found == pytest.approx(boot["standard_error"].to_list(), rel=0.2)


def test_metrics_without_an_error_stand_beside_those_with_one() -> None:
    """Metrics without influences have no error among clusters."""
    df = patients().with_columns(other=pl.col("score") + pl.col("w") * 0.5)
    long = df.prc.unpivot_scores(["score", "other"], name="m", row="row", score="s")
    names = [*NAMES, "pr_auc"]
    for paired in (True, False):
        asked: dict[str, Any] = {"model": "m", "score": "s", "paired": paired, "cluster": "patient"}
        asked |= {"id": "row"} if paired else {}
        found = long.prc.compare(0.2, metrics=names, columns="all", **asked)
        assert_same(found.head(2), long.prc.compare(0.2, metrics=NAMES, columns="all", **asked))
        assert found["standard_error"].is_null().to_list() == [False, False, True]


def test_every_row_a_cluster_is_hardly_a_change() -> None:
    df = patients(400).with_row_index("row")
    names: Any = [*NAMES, metrics.precision_at_recall(0.5)]
    asked: Any = {"metrics": names, "confidence": 0.95}
    plain, clustered = (
        df.prc.summary(0.1, columns="all", **asked),
        df.prc.summary(0.1, cluster="row", columns="all", **asked),
    )
    for name in ("value", "standard_error", "low", "high"):
        expected = plain[name].fill_null(0.0).to_list()
        assert clustered[name].fill_null(0.0).to_list() == pytest.approx(expected, rel=0.01)
    # Few of them may carry an error, which flags of clusters tell.
    assert (clustered["doubt"].is_null() <= plain["doubt"].is_null()).all()
    assert set(clustered["doubt"]) <= {*plain["doubt"], None, "few clusters"}


def test_the_bootstrap_of_clusters_has_the_same_error() -> None:
    df = patients(300)
    asked: Any = {"metrics": NAMES, "cluster": "patient"}
    one = df.prc.summary(0.1, confidence=0.95, columns="all", **asked)
    drawn = intervals(0.95, method="bootstrap", resamples=400, seed=1)
    other = df.prc.summary(0.1, confidence=drawn, columns="all", **asked)
    assert one["standard_error"].to_list() == pytest.approx(other["standard_error"].to_list(), rel=0.15)


def test_where_nothing_is_known_of_clusters() -> None:
    df = patients()
    one = df.with_columns(patient=pl.lit("only"))
    found = one.prc.summary(0.1, metrics=NAMES, confidence=0.95, cluster="patient", columns="all")
    for name in ("standard_error", "low", "high"):
        assert found[name].null_count() == 2
    weighted = df.with_columns(w=pl.col("patient") % 2 + 1)
    for table, name, weight in ((df, "pr_auc", None), (weighted, metrics.precision_at_recall(0.5), "w")):
        found = table.prc.summary(
            0.1, metrics=name, confidence=0.95, cluster="patient", weight=weight, columns="all"
        )
        assert found["low"].null_count() == found["doubt"].count() == 1
    estimated = eta_from_sample(5, 500)
    found = df.prc.summary(estimated, metrics=NAMES, confidence=0.95, cluster="patient", columns="all")
    exact = df.prc.summary(0.01, metrics=NAMES, confidence=0.95, cluster="patient", columns="all")
    width = [(table["high"] - table["low"]).to_list() for table in (found, exact)]
    assert width[0][0] > width[1][0]
    assert width[0][1] == pytest.approx(width[1][1])


def test_what_goes_with_clusters() -> None:
    df = patients()
    with pytest.raises(PrcError, match="pass confidence= with cluster="):
        df.prc.summary(0.1, cluster="patient", columns="all")
    with pytest.raises(PrcError, match="pass confidence= with cluster="):
        prc(df).ranking(0.1, model="g", cluster="patient", columns="all")
    with pytest.raises(PrcError, match="counts= replaces labels"):
        df.prc.summary(0.1, counts=("w", "w"), cluster="patient", confidence=0.95, columns="all")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"confidence": None}, "pass confidence= with cluster="),
        ({"weight": "w"}, "leave out weight= or cluster=, or call summary.*: with both, only areas"),
        (
            {"confidence": intervals(0.9, simultaneous=True)},
            r"^leave out cluster= .* for independent examples",
        ),
        (
            {"confidence": intervals(0.9, rate="hoeffding")},
            r"^leave out cluster= .* for independent examples",
        ),
        (
            {"eta": field(pl.DataFrame({"g": ["a"], "eta": [0.1], "share": [1]}), parts="g")},
            "leave out cluster=: a field weights its examples itself",
        ),
        ({"counts": ("w", "w")}, "leave out cluster=: counts= replaces labels and weights"),
        ({"smooth": "binormal"}, "a fitted model has no interval"),
    ]
    for options, sentence in refused:
        given_all: Any = {"eta": 0.1, "cluster": "patient", "confidence": 0.9} | options
        with pytest.raises(PrcError, match=sentence):
            df.prc.curve(**given_all)
        if "smooth" not in options:
            with pytest.raises(PrcError, match=sentence):
                df.prc.operating_points(recall=0.5, columns="all", **given_all)
    of_points: Any = {"eta": 0.1, "cluster": "patient", "confidence": 0.9}
    with pytest.raises(PrcError, match="guarantee= takes clusters or weights, not both"):
        df.prc.operating_points(precision=0.5, guarantee=0.9, weight="w", columns="all", **of_points)
    of_points["confidence"] = intervals(0.9, method="bootstrap")
    with pytest.raises(PrcError, match=r"^leave out cluster= .* among independent rows"):
        df.prc.operating_points(maximize="f1", columns="all", **of_points)


def test_quantiles_of_students_distribution() -> None:
    z = NormalDist().inv_cdf(0.975)
    known = {4: 2.776445, 5: 2.570582, 10: 2.228139, 30: 2.042272, 1000: 1.962339}
    df = pl.DataFrame({"freedom": list(known)}).with_columns(pl.col("freedom").cast(pl.Float64))
    df = df.with_columns(t=student_quantile(z, pl.col("freedom")))
    assert df["t"].to_list() == pytest.approx(list(known.values()), rel=0.005)
    back = df.select(normal_from_student(-pl.col("t"), pl.col("freedom")))
    assert back.to_series().to_list() == pytest.approx([-z] * len(known))
