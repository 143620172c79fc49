"""Analytic errors of rows in clusters: influences of a cluster are added up before they are squared."""

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

from polars_prcurve import PrcError, eta_from_sample, metrics, prc
from tests.support import oracle, oracle_errors
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
    sums: dict[Any, Fraction] = defaultdict(Fraction)
    masses: list[dict[Any, Fraction]] = [defaultdict(Fraction), defaultdict(Fraction)]
    for (_, positive, w), cluster, value in zip(rows, clusters, influences, strict=True):
        sums[cluster] += w * value / (group.n_pos if positive else group.n_neg)
        masses[positive][cluster] += w
    sizes = [sum(m.values()) ** 2 / sum(v * v for v in m.values()) for m in masses]
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
    found = df.prc.summary(eta, weight="w" if weighted else None, **asked)
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
            quantile = z * (1 + (z**2 + 1) / (4 * nu) + (5 * z**4 + 16 * z**2 + 3) / (96 * nu**2))
            value = row["value"]
            middle, half = math.log(value / (1 - value)), quantile * error / (value * (1 - value))
            ends = [1 / (1 + math.exp(-(middle + sign * half))) for sign in (-1, 1)]
            assert [row["low"], row["high"]] == pytest.approx(ends, rel=1e-7, abs=1e-12)


def test_neither_order_nor_engine_nor_names_of_clusters_matter() -> None:
    df = patients()
    asked: Any = {"metrics": NAMES, "by": "g", "confidence": 0.95, "cluster": "patient"}
    found = df.prc.summary([0.01, None], **asked)
    shuffled = df.sample(fraction=1, shuffle=True, seed=2)
    assert_same(shuffled.prc.summary([0.01, None], **asked), found)
    lazy = shuffled.lazy().prc.summary([0.01, None], **asked)
    for engine in ("streaming", "in-memory"):
        assert_same(lazy.collect(engine=engine), found)
    named = df.with_columns(pl.format("patient {}", "patient").alias("patient"))
    assert_same(named.prc.summary([0.01, None], **asked), found)


def test_every_row_a_cluster_is_hardly_a_change() -> None:
    df = patients(400).with_row_index("row")
    asked: Any = {"metrics": NAMES, "confidence": 0.95}
    plain, clustered = df.prc.summary(0.1, **asked), df.prc.summary(0.1, cluster="row", **asked)
    for name in ("value", "standard_error", "low", "high"):
        assert clustered[name].to_list() == pytest.approx(plain[name].to_list(), rel=0.01)
    assert clustered["reliable"].to_list() == plain["reliable"].to_list()


def test_the_bootstrap_of_clusters_has_the_same_error() -> None:
    df = patients(300)
    asked: Any = {"metrics": NAMES, "confidence": 0.95, "cluster": "patient"}
    one = df.prc.summary(0.1, **asked)
    other = df.prc.summary(0.1, method="bootstrap", n_resamples=400, seed=1, **asked)
    assert one["standard_error"].to_list() == pytest.approx(other["standard_error"].to_list(), rel=0.15)


def test_where_nothing_is_known_of_clusters() -> None:
    df = patients()
    one = df.with_columns(patient=pl.lit("only"))
    found = one.prc.summary(0.1, metrics=NAMES, confidence=0.95, cluster="patient")
    for name in ("standard_error", "low", "high"):
        assert found[name].null_count() == 2
    at_recall: Any = [metrics.precision_at_recall(0.5), "pr_auc"]
    found = df.prc.summary(0.1, metrics=at_recall, confidence=0.95, cluster="patient")
    assert found["low"].null_count() == found["reliable"].null_count() == 2
    estimated = eta_from_sample(5, 500)
    found = df.prc.summary(estimated, metrics=NAMES, confidence=0.95, cluster="patient")
    exact = df.prc.summary(0.01, metrics=NAMES, confidence=0.95, cluster="patient")
    width = [(table["high"] - table["low"]).to_list() for table in (found, exact)]
    assert width[0][0] > width[1][0]
    assert width[0][1] == pytest.approx(width[1][1])


def test_what_goes_with_clusters() -> None:
    df = patients()
    with pytest.raises(PrcError, match="cluster= is for intervals; pass confidence="):
        df.prc.summary(0.1, cluster="patient")
    for level, needed in ((0.95, "pass method="), (None, "pass confidence= and method=")):
        with pytest.raises(PrcError, match=f"cluster= is for the bootstrap here; {needed}"):
            prc(df).ranking(0.1, model="g", cluster="patient", confidence=level)
    with pytest.raises(PrcError, match="counts= stands in place of labels"):
        df.prc.summary(0.1, counts=("w", "w"), cluster="patient", confidence=0.95)
