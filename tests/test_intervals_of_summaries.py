"""Standard errors and intervals of summaries: analytic against the definitions, and by bootstrap."""

from __future__ import annotations

import io
import itertools
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from polars_prcurve import PrcError, intervals, metrics, prc
from polars_prcurve.core.ground import progress
from polars_prcurve.core.uncertainty import bootstrap
from tests.support import oracle, oracle_errors
from tests.support.all_metrics import ALL_CURVE_METRICS
from tests.support.comparing import assert_nearly, assert_same
from tests.support.profiles import examples
from tests.support.strategies import MODERATE, SMALL, Table, several, tables
from tests.support.tiers import slow_unless
from tests.support.two_scores import AGAIN

if TYPE_CHECKING:
    from collections.abc import Callable

ANALYTIC = [
    metrics.average_precision,
    metrics.roc_auc,
]
NO_FORMULA = "no formula: method='bootstrap'"
ERRORS = ["standard_error", "low", "high", "doubt"]
etas = several(0.0, 1e-6, 0.01, 0.3, 0.5, 0.9, 1.0) | several(None, 0.0123, 0.777)
levels = st.sampled_from([0.5, 0.95, 0.999])


def without_errors(found: pl.DataFrame) -> pl.DataFrame:
    return found.drop(*ERRORS, "above_chance")


def close(actual: float | None, expected: float | None, *, tolerance: float = 1e-9) -> bool:
    """A variance is a sum of squares of differences: of errors half the digits are certain near 0."""
    if actual is None or expected is None:
        return actual is expected
    return math.isclose(actual, expected, rel_tol=tolerance, abs_tol=1e-12)


# Analytic, against the definitions -------------------------------------------------------------


def expected_intervals(
    table: Table, eta: list[float | None], asked: list[metrics.CurveMetric], confidence: float
) -> list[oracle_errors.Interval]:
    """In the order of a summary."""
    found = []
    for group in oracle.groups(table.rows, **table.oracle):
        if group.n_pos + group.n_neg == 0:
            found += [oracle_errors.Interval()] * (len(eta) * len(asked))
            continue
        at = sorted((group.prevalence if e is None else Fraction(e), e is None) for e in eta)
        weighted = table.weight is not None
        found += [
            oracle_errors.interval(m.name, group, e, confidence, weighted=weighted, counted=counted)
            for e, counted in at
            for m in asked
        ]
    return found


@examples(70)
@given(tables(weights=SMALL), etas, levels)
def test_analytic_intervals(table: Table, eta: list[float | None], confidence: float) -> None:
    found = prc(table.frame).summary(
        eta, metrics=ANALYTIC, confidence=confidence, columns="all", **table.package
    )
    expected = expected_intervals(table, eta, ANALYTIC, confidence)
    for row, interval in zip(found.to_dicts(), expected, strict=True):
        for kind, value in interval._asdict().items():
            assert close(row[kind], value), (row, interval)


@examples(40)
@given(
    tables(weights=["", "small integers", "floats"], keys=["none"], min_size=3, max_size=12),
    st.sampled_from([1e-6, 0.01, 0.5, 0.9, 1.0]),
    st.sampled_from(list(oracle_errors.DDOF)),
)
def test_influences_are_derivatives(table: Table, eta: float, name: str) -> None:
    for group in oracle.groups(table.rows, **table.oracle):
        assume(group.n_pos > 0 and group.n_neg > 0)
        at = Fraction(eta)
        closed = oracle_errors.influences(name, group, at)
        by_differences = oracle_errors.differentiate(name, group, at)
        for one, other in zip(closed, by_differences, strict=True):
            assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def test_where_nothing_is_known() -> None:
    df = pl.DataFrame(
        {
            "g": ["no pos", "no neg", "one pos", "one pos", "one pos", *["perfect"] * 4, *["worst"] * 4],
            "score": [1, 1, 1, 2, 3, 4, 3, 2, 1, 4, 3, 2, 1],
            "label": [0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1],
        }
    )
    asked = [*ANALYTIC, "pr_auc", metrics.best("f1")]
    found = df.prc.summary([0, 0.1, 1], metrics=asked, by="g", confidence=0.9, columns="all")
    assert found.schema["doubt"] == pl.String
    assert all(found.schema[name] == pl.Float64 for name in ERRORS[:3])

    def errors(**where: Any) -> list[tuple[Any, ...]]:
        return found.filter(**where).select(ERRORS).rows()

    nothing = (None, None, None)
    for group in ("no pos", "no neg"):
        assert set(errors(g=group)) == {(*nothing, "one class")}
    for metric in ("pr_auc", "best(f1)"):
        expected = {(*nothing, doubt) for doubt in ("one class", "eta at 0 or 1", NO_FORMULA)}
        assert set(errors(metric=metric)) == expected
    # One example does not tell how much examples differ.
    assert set(errors(g="one pos", metric="roc_auc")) == {(*nothing, "few positives")}
    of_one = {(*nothing, doubt) for doubt in ("few positives", "eta at 0 or 1")}
    assert set(errors(g="one pos", metric="average_precision")) == of_one
    at_bound = (*nothing, "eta at 0 or 1")
    known = (0.0, *at_bound[1:])  # certain at eta = 0 and 1, where there is no logit
    for group in ("perfect", "worst"):
        assert errors(g=group, metric="average_precision", eta=1.0) == [known]
    assert errors(g="worst", metric="average_precision", eta=0.0) == [known]
    assert errors(g="perfect", metric="average_precision", eta=0.0) == [at_bound]


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "eta"),
    [
        (5, 6, 0.37),
        (4, 8, 0.05),
        pytest.param(12, 120, 0.1, marks=pytest.mark.slow),  # exact fractions take long
    ],
)
def test_perfect_separation_leaves_one_end_open(n_pos: int, n_neg: int, eta: float) -> None:
    """No error of 0, and not [1, 1]."""
    labels = "1" * n_pos + "0" * n_neg
    df, rows = scored_labels(labels)
    extended = oracle_errors.extend(
        oracle.Group({}, rows), Fraction(eta), weighted=False, unseen=Fraction(1, 2)
    )
    assert extended is not None
    low = extended.ends(oracle_errors.z_value(0.95))[0]
    how: Any = {"confidence": 0.95}
    area, auc = df.prc.summary(eta, metrics=["average_precision", "roc_auc"], columns="all", **how)[
        ERRORS
    ].rows()
    assert area[:4] == (
        None,
        pytest.approx(low, rel=1e-9),
        1.0,
        None if n_pos >= 10 else "few positives",
    )
    least, _ = find_ends_of_auc(1.0, 0.0, n_pos, n_neg)
    assert auc[:4] == (None, pytest.approx(least, rel=1e-12), 1.0, None)
    turned = df.with_columns(score=-pl.col("score")).prc.summary(
        eta, metrics="roc_auc", columns="all", **how
    )
    assert turned[ERRORS].row(0)[:4] == (None, 0.0, pytest.approx(1 - low_of(auc)), None)


def scored_labels(labels: str) -> tuple[pl.DataFrame, list[tuple[int, Fraction, Fraction]]]:
    """Return a table of labels by falling score, and its rows for the oracle."""
    scores = range(len(labels), 0, -1)
    rows = [
        (score, Fraction(int(y)), 1 - Fraction(int(y))) for score, y in zip(scores, labels, strict=True)
    ]
    return pl.DataFrame({"score": scores, "label": [y == "1" for y in labels]}), rows


def find_ends_of_auc(value: float, error: float, n_pos: float, n_neg: float) -> tuple[float, float]:
    """Return the ends of ROC AUC with half an example of each class at worst, and at best."""
    seen, z = (n_pos / (n_pos + 0.5), n_neg / (n_neg + 0.5)), oracle_errors.z_value(0.95)
    jump = math.hypot(*(1 - share for share in seen))

    def find_low(auc: float) -> float:
        def reach(p: float, half: float) -> float:
            return 1 / (1 + (1 - p) / p * math.exp(z * half / (p * (1 - p))))

        low = reach(auc * seen[0] * seen[1], math.hypot(error * min(seen), jump * auc))
        return min(low, reach(auc, error)) if auc < 1 else low

    return (find_low(value), 1 - find_low(1 - value) if value < 1 else 1.0)


WORKED = {
    ("10110010", 0.1): (0.390212609971, 0.209279638433),
    ("110100000011", 0.01): (0.411742741297, 0.217095901181),
    ("1011010001001000", 0.3): (None, None),
}
"""Average precision and its standard error, of labels by falling score and eta."""


@pytest.mark.parametrize(("labels", "eta"), WORKED)
def test_ends_count_half_an_example_more(labels: str, eta: float) -> None:
    df, rows = scored_labels(labels)
    metrics: Any = ["average_precision", "roc_auc"]
    area, auc = df.prc.summary(eta, metrics=metrics, confidence=0.95, columns="all").to_dicts()
    if WORKED[labels, eta][0] is not None:
        assert (area["value"], area["standard_error"]) == pytest.approx(WORKED[labels, eta], rel=1e-10)
    extended = oracle_errors.extend(
        oracle.Group({}, rows), Fraction(eta), weighted=False, unseen=Fraction(1, 2)
    )
    assert extended is not None
    expected = extended.ends(oracle_errors.z_value(0.95))
    assert (area["low"], area["high"]) == pytest.approx(expected, rel=1e-9)
    n_pos = labels.count("1")
    ends = find_ends_of_auc(auc["value"], auc["standard_error"], n_pos, len(labels) - n_pos)
    assert (auc["low"], auc["high"]) == pytest.approx(ends, rel=1e-9)


def low_of(interval: tuple[Any, ...]) -> float:
    return float(interval[1])


RELIABLE = ["average_precision", "roc_auc"]


@pytest.mark.parametrize("metric", RELIABLE, ids=str)
@pytest.mark.parametrize("method", ["analytic", "bootstrap", "weighted"])
def test_throwing_rows_away_never_makes_an_interval_reliable(metric: Any, method: str) -> None:
    """In tables of one curve, so that only the class sizes differ.

    Of weighted tables, rows of low scores weigh 3 and 7.
    """
    levels = pl.DataFrame({"score": [5, 4, 3, 2, 1], "pos": [8, 5, 4, 2, 1], "neg": [1, 4, 15, 80, 300]})
    sizes = [1, 2, 5, 15, 40, 100, 1000]
    weights = pl.Series([1.0, 1.0, 3.0, 7.0, 7.0] if method == "weighted" else [1] * 5)
    counts = {"n_pos": ("pos", 1), "n_neg": ("neg", 1)}
    if method == "weighted":
        counts |= {"n_pos_squares": ("pos", 2), "n_neg_squares": ("neg", 2)}
    tables = [
        levels.select(
            "score",
            *(
                (pl.col(name) * times * weights**power).alias(column)
                for column, (name, power) in counts.items()
                for times in ([p] if name == "pos" else [n])
            ),
            p=pl.lit(p),
            n=pl.lit(n),
        )
        for p in sizes
        for n in sizes
    ]
    drawn = intervals(0.95, method="bootstrap", resamples=20, seed=1)
    found = pl.concat(tables).prc.summary(
        [0.0002, 0.01, 0.1, 0.5],
        metrics=metric,
        by=["p", "n"],
        counts=tuple(counts),
        confidence=drawn if method == "bootstrap" else 0.95,
        columns="all",
    )
    flag = found.with_columns(trusted=pl.col("doubt").is_null().cast(int))
    assert flag["trusted"].max() == 1
    for grown, other in {"p": "n", "n": "p"}.items():
        steps = flag.sort(grown).with_columns(step=pl.col("trusted").diff().over("eta", other))
        assert steps["step"].min() == 0


def test_many_examples_at_a_small_prevalence_are_reliable() -> None:
    """As many positives as anybody wants do not make it worse."""
    rng = np.random.default_rng(0)
    negative = rng.normal(size=200_000)
    for n_pos in (700, 5_000):
        score = np.concatenate([negative, rng.normal(size=n_pos) + 2.2])
        df = pl.DataFrame({"score": score, "label": np.arange(len(score)) >= len(negative)})
        found = df.prc.summary(1 / 500, metrics="average_precision", confidence=0.95, columns="all")
        assert found["doubt"].item() is None


# Analytic, properties -------------------------------------------------------------------------


@examples(25)
@given(tables(weights=MODERATE), etas, levels)
def test_intervals_hold_the_value_and_widen(
    table: Table, eta: list[float | None], confidence: float
) -> None:
    found, wider = (
        prc(table.frame).summary(eta, metrics=ANALYTIC, confidence=level, columns="all", **table.package)
        for level in (confidence, (1 + confidence) / 2)
    )
    known = found.filter(pl.col("low").is_not_null() | pl.col("high").is_not_null())
    value = pl.col("value")
    rounding = 1e-15 + 1e-13 * value
    assert known.filter(
        ~(pl.col("low") <= value + rounding)
        | ~(pl.col("high") >= value - rounding)
        | (pl.col("low") < 0)
        | (pl.col("high") > 1)
    ).is_empty()
    # Sums of floats, in the order in which an engine adds.
    assert_same(found.select("standard_error"), wider.select("standard_error"))
    assert (wider["low"].drop_nulls() <= found["low"].drop_nulls() * (1 + 1e-12)).all()
    assert (wider["high"].drop_nulls() >= found["high"].drop_nulls() * (1 - 1e-12)).all()


@examples(20)
@given(tables(weights=MODERATE), etas, st.sampled_from(ALL_CURVE_METRICS))
def test_values_are_those_without_confidence(
    table: Table, eta: list[float | None], metric: metrics.CurveMetric
) -> None:
    """To the last bit, and errors do not depend on what else is asked."""
    options = table.package
    asked = [*ANALYTIC, metric.alias("it")]
    plain = prc(table.frame).summary(eta, metrics=asked, columns="all", **options)
    found = prc(table.frame).summary(eta, metrics=asked, confidence=0.9, columns="all", **options)
    assert_same(without_errors(found), plain)
    alone = prc(table.frame).summary(eta, metrics=ANALYTIC, confidence=0.9, columns="all", **options)
    assert_same(found.filter(pl.col("metric") != "it"), alone)


BITS = """
import numpy as np, polars as pl, polars_prcurve
rng = np.random.default_rng(1)
label = rng.random(60_000) < 0.1
df = pl.DataFrame({"label": label, "w": rng.random(60_000)})
df = df.with_columns(a=rng.normal(size=60_000) + label, b=rng.normal(size=60_000) + label)
for weight in (None, "w"):
    one = df.prc.summary([0.01, 0.3], score="a", weight=weight, confidence=0.9, columns="all")
    two = df.prc.compare([0.01, 0.3], score=["a", "b"], weight=weight, columns="all")
    errors = pl.concat([one["standard_error"], two["standard_error"]]).drop_nulls()
    print([error.hex() for error in errors])
"""


@pytest.mark.slow
def test_standard_errors_have_the_same_bits_with_any_number_of_threads() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", BITS],
            env={**os.environ, "POLARS_MAX_THREADS": str(n), "POLARS_ENGINE_AFFINITY": engine},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in (1, 2, 7)
        for engine in ("streaming", "in-memory")
    }
    assert len(printed) == 1
    assert "0x" in printed.pop()


@examples(15)
@given(tables(weights=["", "floats"]), etas)
def test_only_the_ranks_of_scores_matter(table: Table, eta: list[float | None]) -> None:
    score = pl.col("score")
    rank = score.cast(pl.Int8 if table.score_dtype == pl.Boolean else table.score_dtype).rank("dense")
    found, same = (
        prc(frame).summary(eta, metrics=ANALYTIC, confidence=0.9, columns="all", **table.package)
        for frame in (table.frame, table.frame.with_columns(score=rank))
    )
    assert_same(same, found)


@examples(20)
@given(tables(weights=[""]), etas, st.sampled_from([1, 3, 0.25, 1e-300]))
def test_equal_weights_are_none(table: Table, eta: list[float | None], weight: float) -> None:
    """And a table of counts holds as many examples as its rows did."""
    asked: dict[str, Any] = {"metrics": ANALYTIC, "confidence": 0.9}
    found = prc(table.frame).summary(eta, columns="all", **asked, **table.package).drop("n_pos", "n_neg")
    weighted = prc(table.frame.with_columns(w=pl.lit(weight)))
    same = weighted.summary(eta, columns="all", **asked, **{**table.package, "weight": "w"})
    assert_same(same.drop("n_pos", "n_neg"), found)
    counted = prc(table.frame).counts(**table.package)
    of_counts = prc(counted).summary(eta, columns="all", **asked, by=table.by, counts=("n_pos", "n_neg"))
    assert_same(of_counts.drop("n_pos", "n_neg"), found)


def test_prevalences_per_group() -> None:
    df = moderate(600, groups=3)
    frame = pl.DataFrame({"g": [2, 0, 1], "eta": [0.2, 0.01, 0.1], "note": ["c", "a", "b"]})
    found = df.prc.summary(frame, by="g", confidence=0.9, columns="all")
    assert found.columns == [
        "g",
        "eta",
        "note",
        "n_pos",
        "n_neg",
        "metric",
        "value",
        *ERRORS[:3],
        "above_chance",
        *ERRORS[3:],
    ]
    assert found["note"].unique(maintain_order=True).to_list() == ["a", "b", "c"]
    for (group,), rows in found.group_by("g"):
        alone = df.filter(g=group).prc.summary(rows["eta"][0], confidence=0.9, columns="all")
        assert_nearly(rows.drop("g", "note"), alone)
    own = df.prc.summary(by="g", confidence=0.9, columns="all")
    listed = df.prc.summary(
        own.group_by("g").agg(pl.col("eta").first()), by="g", confidence=0.9, columns="all"
    )
    assert_same(without_errors(own), without_errors(listed))
    # The prevalence was counted in the table, which makes the interval wider than that at a number.
    wider = (own["high"] - own["low"]) > (listed["high"] - listed["low"])
    assert_same(own.filter(~wider), listed.filter(metric="roc_auc"))


def moderate(n: int, *, groups: int = 1, seed: int = 0) -> pl.DataFrame:
    """Two overlapping classes, a third of it positive, with ties."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 1 / 3
    score = (rng.normal(size=n) + label).round(2)
    return pl.DataFrame({"g": rng.integers(0, groups, n), "score": score, "label": label})


def test_every_metric_beside_others() -> None:
    """All in one call: of those without an analytic interval, nothing is known."""
    df = moderate(200, groups=2)
    found = df.prc.summary(
        [0.01, None], metrics=ALL_CURVE_METRICS, by="g", confidence=0.9, columns="all"
    )
    assert_same(
        without_errors(found),
        df.prc.summary([0.01, None], metrics=ALL_CURVE_METRICS, by="g", columns="all"),
    )
    known = ["average_precision", "roc_auc"]
    of_error, of_interval = (
        {*found.filter(pl.col(column).is_not_null())["metric"]} for column in ("standard_error", "low")
    )
    assert of_error == {*known}
    known += [metric.name for metric in ALL_CURVE_METRICS if metric.recipe.at_target is not None]
    assert of_interval == {*known}
    unknown = found.filter(~pl.col("metric").is_in(known))
    assert unknown["doubt"].count() == 4 * (len(ALL_CURVE_METRICS) - len(known))


# Bootstrap ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", slow_unless(lambda how: how == "rows", ["rows", "counts", "weights", "clusters"])
)
def test_a_seed_makes_a_bootstrap_the_same(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is held in memory at once, and whichever groups come after."""
    df = moderate(240, groups=4).with_columns(w=1 + pl.int_range(pl.len()) % 3 / 7)
    options: dict[str, Any] = {"by": "g", "metrics": ["average_precision", "roc_auc_hull"]}
    if how == "counts":
        df, options["counts"] = df.prc.counts(by="g"), ("n_pos", "n_neg")
    elif how == "weights":
        options["weight"] = "w"
    elif how == "clusters":
        options["cluster"] = pl.col("w")
        df = df.with_columns(w=pl.int_range(pl.len()) // 5)
    found = df.prc.summary([0.1, 0.5], columns="all", **options, **AGAIN)
    assert_same(df.prc.summary([0.1, 0.5], columns="all", **options, **AGAIN), found)
    other = df.prc.summary(
        [0.1, 0.5], confidence=replace(AGAIN["confidence"], seed=6), columns="all", **options
    )
    assert_same(without_errors(other), without_errors(found))
    assert not (other["standard_error"] == found["standard_error"]).any()
    first = df.filter(pl.col("g") < 2).prc.summary([0.1, 0.5], columns="all", **options, **AGAIN)
    assert_same(first, found.filter(pl.col("g") < 2))
    for cells in (1, 40_000):
        monkeypatch.setattr(bootstrap, "_MAX_CELLS", cells)
        assert_same(df.prc.summary([0.1, 0.5], columns="all", **options, **AGAIN), found)
    with pytest.raises(PrcError, match=r"call .collect\(\) first"):
        df.lazy().prc.summary(columns="all", **{**options, "metrics": "roc_auc"}, **AGAIN)


def test_without_a_seed_each_bootstrap_is_another() -> None:
    df = moderate(100)
    one, other = (
        df.prc.summary(confidence=replace(AGAIN["confidence"], seed=None), columns="all")[
            "standard_error"
        ]
        for _ in range(2)
    )
    assert not (one == other).any()


@pytest.mark.parametrize("how", ["rows", "weights", "clusters"])
def test_bootstrap_and_analytic_errors_agree(how: str) -> None:
    """With 600 replicates an error is known to 3%, and bootstraps have a bias of a few percent."""
    df = moderate(1_500).with_columns(w=pl.lit(0.3), c=pl.int_range(pl.len()))
    options: dict[str, Any] = {"metrics": ["average_precision", "roc_auc"]}
    analytic = df.prc.summary([0.05, 0.5], confidence=0.9, columns="all", **options)
    options |= {"weights": {"weight": "w"}, "clusters": {"cluster": "c"}, "rows": {}}[how]
    drawn = replace(AGAIN["confidence"], resamples=600)
    found = df.prc.summary([0.05, 0.5], confidence=drawn, columns="all", **options)
    for kind, tolerance in (("value", 1e-12), ("standard_error", 0.12)):
        assert found[kind].to_list() == pytest.approx(analytic[kind].to_list(), rel=tolerance)
    for end in ("low", "high"):
        off = (found[end] - analytic[end]) / analytic["standard_error"]
        assert off.abs().max() < 0.6  # a tail of 600 replicates is known to 0.1, and intervals differ


def test_rows_repeated_in_a_cluster_tell_nothing_new() -> None:
    df = moderate(300).with_columns(c=pl.int_range(pl.len()))
    repeated = pl.concat([df] * 4)
    options: dict[str, Any] = {"metrics": ["average_precision", "roc_auc", "auprg"], "cluster": "c"}
    once, again = (d.prc.summary(0.1, columns="all", **options, **AGAIN) for d in (df, repeated))
    assert_same(again.drop("n_pos", "n_neg", "doubt"), once.drop("n_pos", "n_neg", "doubt"))
    as_if_independent = repeated.prc.summary(0.1, metrics=options["metrics"], columns="all", **AGAIN)
    ratio = once["standard_error"] / as_if_independent["standard_error"]
    assert ratio.is_between(1.4, 2.8).all()  # 2, from 60 replicates each


def test_replicates_without_a_positive_are_left_out_and_counted() -> None:
    df = pl.DataFrame(
        {"score": range(40), "label": [0] * 20 + [1] * 4 + [0] * 16, "c": [i // 2 for i in range(40)]}
    )
    with pytest.warns(UserWarning, match=r"up to \d+ of 60 bootstrap replicates") as caught:
        found = df.prc.summary(
            0.1, metrics=["average_precision", "roc_auc"], cluster="c", columns="all", **AGAIN
        )
    # two clusters of twenty hold all positives: 0.9**20 of 60 replicates lack both, 7 on average
    [counted] = re.findall(r"up to (\d+) of", str(caught[0].message))
    assert 1 <= int(counted) <= 20
    assert found.drop("above_chance").null_count().sum_horizontal().item() == 0


def test_what_is_undefined_in_the_sample_is_not_warned_of() -> None:
    """At eta 0 a replicate may happen to have a value; at eta 1 all do, and it is 1."""
    df = pl.DataFrame({"score": [5, 4, 3, 2, 1, 0], "label": [1, 0, 1, 0, 0, 1]})
    found = df.prc.summary([0, 1], metrics="average_precision", columns="all", **AGAIN)
    assert found.select("value", *ERRORS).rows() == [
        (*[None] * 4, "eta at 0 or 1"),
        (1.0, 0.0, 1.0, 1.0, "few positives"),
    ]


@pytest.mark.parametrize("eta", [0.01, None])
def test_every_metric_by_bootstrap(eta: float | None) -> None:
    df = moderate(120, groups=2)
    df = pl.concat([df, pl.DataFrame({"g": [7, 8], "score": [1.0, 1.0], "label": [True, False]})])
    found = df.prc.summary(eta, metrics=ALL_CURVE_METRICS, by="g", columns="all", **AGAIN)
    assert_same(
        without_errors(found), df.prc.summary(eta, metrics=ALL_CURVE_METRICS, by="g", columns="all")
    )
    of_both = found.filter(pl.col("g") < 7)
    assert of_both.select("value", *ERRORS).null_count().sum_horizontal().item() == 0
    assert (of_both["low"] <= of_both["high"]).all()
    spread = of_both.filter(~pl.col("metric").str.contains("worst|random|specificity|lr_neg"))
    assert (spread["standard_error"] > 0).all()
    of_one = found.filter(pl.col("g") >= 7)
    assert of_one.filter(pl.col("value").is_null() & pl.col("low").is_not_null()).is_empty()


def test_own_prevalence_is_that_of_the_sample() -> None:
    """Classes are drawn apart, so it is the same in every replicate."""
    df = moderate(200)
    own = df["label"].mean()
    assert_same(df.prc.summary(columns="all", **AGAIN), df.prc.summary(own, columns="all", **AGAIN))


def test_progress_is_for_terminals(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(1_000))
    monkeypatch.setattr(progress, "monotonic", lambda: 2 * next(times))
    moderate(50).prc.summary(columns="all", **AGAIN)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    moderate(50).prc.summary(columns="all", **AGAIN)
    line = "bootstrap: 100%"
    assert capfd.readouterr() == ("", f"\r{line}\r{' ' * len(line)}\r")  # and then erased


class FullTerminal(io.StringIO):
    """A terminal that takes nothing, as one that was closed in the meantime."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


class PlainWriter:
    """What loggers put in the place of a stream: it has `write`, and no more."""

    def write(self, text: str) -> int:
        return len(text)


def close_stream() -> io.StringIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize(
    "stream",
    [None, close_stream(), FullTerminal(), PlainWriter()],
    ids=["none", "closed", "full", "plain"],
)
def test_progress_needs_no_standard_error(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    stream: io.StringIO | PlainWriter | None,
) -> None:
    """A service has none, and a terminal may have gone; what is told there comes out nowhere else."""
    wanted = moderate(50).prc.summary(columns="all", **AGAIN)
    times = itertools.count()
    monkeypatch.setattr(progress, "monotonic", lambda: 2 * next(times))
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.show_seconds("work"):
        assert_same(moderate(50).prc.summary(columns="all", **AGAIN), wanted)
        progress.print_beside("a note")
    assert capfd.readouterr() == ("", "")


# Arguments ------------------------------------------------------------------------------------

DF = pl.DataFrame({"score": [3.0, 2.0, 1.0, 0.0], "label": [1, 0, 1, 0], "c": [1, 1, 2, 2]})


@pytest.mark.parametrize("door", [prc(DF), prc(DF.lazy())], ids=["eager", "lazy"])
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"confidence": 0}, "between 0 and 1, such as 0.95; got 0"),
        ({"confidence": "bootstrap"}, r'pass confidence=intervals\(0.95, method="bootstrap"\)'),
        ({"confidence": 95}, "got 95"),
        ({"confidence": float("nan")}, "got nan"),
        ({"cluster": "c", "confidence": None}, "pass confidence="),
        ({"cluster": "d", **AGAIN}, "there is no column 'd' for cluster="),
        ({"cluster": "c", **AGAIN, "counts": ("c", "c")}, "leave out cluster="),
        (
            {"confidence": intervals(0.9, method="rectangle")},
            r'pass "analytic" or "bootstrap": summary\(\) has no intervals by method="rectangle"',
        ),
        (
            {"confidence": intervals(0.9, rate="jeffreys")},
            r'leave out rate="jeffreys": summary\(\) takes rate="wilson" only',
        ),
        (
            {"confidence": intervals(0.9, simultaneous=True)},
            r"leave out simultaneous=: summary\(\) has no simultaneous intervals",
        ),
        ({"rates": ("label", "label"), "eta": 0.1}, "rates= holds none"),
        ({"counts": ("score", "score")}, "cast counts= to integers"),
        ({"by": pl.col("c").alias("low")}, "rename the column 'low' of by="),
    ],
)
def test_arguments(door: Any, how: dict[str, Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        door.summary(columns="all", **{"confidence": 0.9, **how})


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (
            {"method": "jackknife"},
            'method= takes "analytic", "rectangle" or "bootstrap"; got \'jackknife\'',
        ),
        (
            {"method": "bootstrap", "resamples": 1},
            "resamples= takes a whole number of at least 2; got 1",
        ),
        ({"method": "bootstrap", "resamples": True}, "got True"),
        ({"method": "bootstrap", "resamples": 10.0}, "got 10.0"),
        ({"method": "bootstrap", "seed": -1}, "seed= takes a whole number of at least 0; got -1"),
        ({"method": "bootstrap", "seed": 0.5}, "got 0.5"),
        ({"level": 0}, "level= takes a level between 0 and 1, .*; got 0"),
        ({"level": 95}, "got 95"),
        ({"level": None}, "got None"),
        ({"rate": "wald"}, "rate= takes \"wilson\", .*; got 'wald'"),
        ({"simultaneous": 1}, "simultaneous= takes True or False; got 1"),
        ({"seed": 1}, 'pass method="bootstrap", or leave out resamples= and seed='),
        (
            {"resamples": 9, "method": "rectangle"},
            'pass method="bootstrap", or leave out resamples= and seed=',
        ),
        ({"method": "bootstrap", "rate": "jeffreys"}, "leave out rate= and simultaneous="),
        ({"method": "bootstrap", "simultaneous": True}, "leave out rate= and simultaneous="),
        (
            {"simultaneous": True, "rate": "jeffreys"},
            r"leave out method= and rate=: .* its own intervals of rates",
        ),
        (
            {"simultaneous": True, "method": "rectangle"},
            r"leave out method= and rate=: .* its own intervals of rates",
        ),
    ],
)
def test_intervals_are_checked_where_they_are_made(how: dict[str, Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        intervals(**how)


def test_a_level_is_a_value_of_intervals() -> None:
    assert intervals(0.9) == intervals(level=0.9, method="analytic", rate="wilson", simultaneous=False)
    assert_same(
        DF.prc.summary(0.1, confidence=0.9, columns="all"),
        DF.prc.summary(0.1, confidence=intervals(0.9), columns="all"),
    )
    assert (
        repr(intervals(0.9, method="bootstrap", seed=1)) == "intervals(0.9, method='bootstrap', seed=1)"
    )
    assert hash(intervals(0.9)) == hash(intervals(0.9))


BAD: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "score": lambda row: pl.when(row == 2).then(math.nan).otherwise("score"),
    "label": lambda row: pl.when(row == 2).then(2).otherwise("label"),
    "c": lambda row: pl.when(row == 2).then(None).otherwise("c"),
}


@pytest.mark.parametrize("column", BAD)
def test_bad_rows_fail_in_the_same_words(column: str) -> None:
    bad = DF.with_columns(BAD[column](pl.int_range(pl.len())).alias(column))
    options: dict[str, Any] = {"cluster": "c", **AGAIN} if column == "c" else dict(AGAIN)
    with pytest.raises(PrcError, match=rf"column '{column}' is .* in 1 row") as by_bootstrap:
        bad.prc.summary(columns="all", **options)
    if column != "c":
        with pytest.raises(PrcError, match=re.escape(str(by_bootstrap.value))):
            bad.prc.summary(confidence=0.9, columns="all")
        with pytest.raises(PrcError, match=re.escape(str(by_bootstrap.value))):
            bad.prc.summary(columns="all")
    if column == "score":
        dropped = bad.prc.summary(missing="drop", columns="all", **options)
        assert_same(
            dropped, bad.filter(pl.int_range(pl.len()) != 2).prc.summary(columns="all", **options)
        )


def test_empty_tables() -> None:
    for options in ({"confidence": 0.9}, AGAIN, {"cluster": "c", **AGAIN}):
        found = DF.clear().prc.summary(columns="all", **options)
        assert found.is_empty()
        assert found.schema == DF.prc.summary(confidence=0.9, columns="all").schema


def test_what_is_computed_by_default_has_an_interval() -> None:
    df = pl.DataFrame({"score": [6, 5, 4, 3, 2, 1] * 9, "label": [1, 1, 0, 1, 0, 0] * 6 + [0, 1] * 9})
    found = df.prc.summary(0.1, confidence=0.9, columns="all")
    assert found["metric"].to_list() == ["average_precision", "roc_auc"]
    assert found["low"].null_count() == 0
    drawn = df.prc.summary(
        0.1, confidence=intervals(0.9, method="bootstrap", resamples=9, seed=1), columns="all"
    )
    assert drawn["metric"].to_list() == ["average_precision", "pr_auc", "roc_auc"]
    points = pl.DataFrame({"tpr": [0.5, 0.9], "fpr": [0.1, 0.4]})
    of_points: Any = {"rates": ("tpr", "fpr"), "sizes": (40, 90)}
    assert points.prc.summary(0.1, columns="all", **of_points)["metric"].to_list() == [
        "pr_auc",
        "roc_auc",
    ]
    [row] = points.prc.summary(0.1, confidence=0.9, columns="all", **of_points).to_dicts()
    assert row["metric"] == "roc_auc"
    assert row["low"] is not None


@pytest.mark.parametrize("cuts", [[1.0], [2.0], [1.0, 2.0]], ids=str)
@pytest.mark.parametrize("eta", [0.01, 0.2])
def test_areas_of_two_or_three_scores_are_covered_and_in_no_doubt(cuts: list[float], eta: float) -> None:
    rng, n_sets = np.random.default_rng(5), 400
    edges = [math.inf, *reversed(cuts), -math.inf]
    neg_shares, pos_shares = (
        np.diff([1 - NormalDist(mean).cdf(edge) for edge in edges]) for mean in (0.0, 2.0)
    )
    scores = range(len(cuts), -1, -1)

    def ask(n_pos: Any, n_neg: Any, **words: Any) -> pl.DataFrame:
        sets = np.repeat(np.arange(n_pos.size // len(scores)), len(scores))
        counts = {"n_pos": n_pos.ravel(), "n_neg": n_neg.ravel()}
        df = pl.DataFrame({"set": sets, "score": np.resize(scores, sets.size), **counts})
        names = ["average_precision", "roc_auc"]
        found = df.prc.summary(eta, metrics=names, by="set", counts=("n_pos", "n_neg"), **words)
        return found.select("metric", pl.exclude("metric"))

    n = 10**9
    true = ask(*((shares * n).round().astype(int) for shares in (pos_shares, neg_shares)))
    found = ask(
        rng.multinomial(50, pos_shares, n_sets),
        rng.multinomial(500, neg_shares, n_sets),
        confidence=0.95,
    )
    assert found["doubt"].null_count() == found.height == 2 * n_sets
    found = found.join(true.select("metric", true="value"), on="metric")
    covered = found.group_by("metric").agg(pl.col("true").is_between("low", "high").mean())
    assert covered["true"].min() >= 0.93, covered
