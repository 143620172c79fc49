"""Decision curves: net benefit at each risk, also moved to another prevalence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, metrics, prc, shift_prior
from tests.support.comparing import assert_same
from tests.support.profiles import examples

P = [0.05, 0.12, 0.2, 0.2, 0.33, 0.41, 0.5, 0.5, 0.66, 0.71, 0.8, 0.95]
Y = [0, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1]
DF = pl.DataFrame({"score": P, "label": Y})
COLUMNS = ["eta", "threshold_probability", "threshold", "tp", "fp", "fn", "tn", "recall", "fpr"]


def net_benefit(flagged: list[bool], eta: Fraction | None, risk: float) -> Fraction:
    """By its definition, in exact fractions."""
    weight = Fraction(risk) / (1 - Fraction(risk))
    n_pos, n_neg = sum(Y), len(Y) - sum(Y)
    eta = Fraction(n_pos, len(Y)) if eta is None else eta
    tp = sum(y for y, f in zip(Y, flagged, strict=True) if f)
    fp = sum(1 - y for y, f in zip(Y, flagged, strict=True) if f)
    return eta * Fraction(tp, n_pos) - (1 - eta) * Fraction(fp, n_neg) * weight


def test_net_benefit_of_posteriors_as_they_stand() -> None:
    risks = [0.5, 0.0, 0.2, 0.1, 0.75, 0.99]
    found = DF.prc.decision_curve(probabilities=risks, columns="all")
    assert found.columns == [*COLUMNS, "net_benefit", "treat_all"]
    assert found["threshold_probability"].to_list() == sorted(risks)
    for row in found.to_dicts():
        risk = row["threshold_probability"]
        assert row["eta"] == 0.5
        expected = net_benefit([p >= risk for p in P], None, risk)
        assert row["net_benefit"] == pytest.approx(float(expected), rel=1e-14, abs=1e-16)
        of_all = net_benefit([True] * len(P), None, risk)
        assert row["treat_all"] == pytest.approx(float(of_all), rel=1e-13, abs=1e-16)
        assert row["threshold"] == risk


@pytest.mark.parametrize("eta", [0.02, 0.2, 0.6])
def test_net_benefit_at_another_prevalence(eta: float) -> None:
    """The rows that are flagged are those whose posterior, moved to eta, is at least the risk."""
    risks, eta_train = [0.03, 0.17, 0.34, 0.62, 0.9], 0.4
    found = DF.prc.decision_curve(eta, probabilities=risks, eta_train=eta_train, columns="all")
    moved = np.asarray(shift_prior(P, eta_train, eta))
    for row in found.to_dicts():
        risk = row["threshold_probability"]
        expected = net_benefit([bool(p >= risk) for p in moved], Fraction(eta), risk)
        assert row["net_benefit"] == pytest.approx(float(expected), rel=1e-12, abs=1e-15)
        assert shift_prior(row["threshold"], eta_train, eta) == pytest.approx(risk, rel=1e-12)
    same = DF.prc.decision_curve(eta_train, probabilities=risks, eta_train=eta_train, columns="all")
    assert same["threshold"].to_list() == risks


def test_numbers_of_dcurves() -> None:
    """The Python package dcurves, version 1.1.7: `dca(prevalence=)` does not move posteriors."""
    risks = [0.1, 0.2, 0.3, 0.5, 0.75]
    own = DF.prc.decision_curve(probabilities=risks, columns="all")
    expected = [0.4537037037037037, 0.4166666666666667, 0.30952380952380953, 1 / 6, 0.16666666666666666]
    assert own["net_benefit"].to_list() == pytest.approx(expected, rel=1e-14)
    assert own["treat_all"].to_list() == pytest.approx(
        [0.4444444444444444, 0.375, 0.2857142857142857, 0.0, -1.0], rel=1e-14
    )
    expected = [
        0.23518518518518516,
        0.18333333333333335,
        0.1,
        -0.033333333333333326,
        0.09999999999999999,
    ]
    for risk, value in zip(risks, expected, strict=True):
        metric = metrics.net_benefit(risk)
        point = DF.prc.operating_points(0.3, threshold=risk, metrics=metric, columns="all")
        assert point[metric.name].item() == pytest.approx(value, rel=1e-13)


def test_intervals_worked_out_elsewhere() -> None:
    """P, N, tp, fp, eta and risk, then net benefit and its ends, to 12 digits."""
    cases = [
        (50, 500, 35, 50, 0.1, 0.1, 0.06, 0.0459383988977, 0.0711432449092),
        (200, 2000, 100, 40, 0.01, 0.02, 0.00459591836735, 0.00389462031856, 0.00529054475578),
        (20, 500, 20, 0, 0.05, 0.1, 0.05, 0.0419036439838, 0.05),
    ]
    for n_pos, n_neg, tp, fp, eta, risk, *expected in cases:
        table = pl.DataFrame({"score": [1.0, 0.0], "n_pos": [tp, n_pos - tp], "n_neg": [fp, n_neg - fp]})
        counts: Any = {"counts": ("n_pos", "n_neg"), "confidence": 0.95}
        curve = table.prc.decision_curve(
            eta, eta_train=0.5, probabilities=[risk], columns="all", **counts
        )
        found = curve.select("net_benefit", "net_benefit_low", "net_benefit_high").row(0)
        assert found == pytest.approx(expected, rel=2e-12)
        metric = metrics.net_benefit(risk)
        points = table.prc.operating_points(eta, threshold=1.0, metrics=metric, columns="all", **counts)
        ends = [f"{metric.name}{end}" for end in ("", "_low", "_high")]
        assert points.select(ends).row(0) == pytest.approx(expected, rel=2e-12)


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans(), st.integers(0, 2)), max_size=12),
    st.sampled_from([None, 0.02, 0.5, [0.3, 0.01]]),
    st.sampled_from(["score", "narrow", "coarse"]),
)
def test_it_is_the_metric_at_the_threshold(rows: Any, eta: Any, score: str) -> None:
    """Whatever the groups, the dtype of the scores, and the classes that are absent."""
    schema = {"k": pl.Int64, "label": pl.Boolean, "g": pl.Int64}
    df = pl.DataFrame(rows, schema=schema, orient="row").with_columns(score=pl.col("k") / 8)
    df = df.with_columns(narrow=pl.col("score").cast(pl.Float32), coarse=pl.col("k") > 4)
    train = None if eta is None else 0.3
    asked: Any = {"by": "g", "score": score, "confidence": 0.9}
    risks = [0.1, 0.25, 0.8]
    found = df.prc.decision_curve(eta, eta_train=train, probabilities=risks, columns="all", **asked)
    for risk in risks:
        part = found.filter(threshold_probability=risk)
        metric = metrics.net_benefit(risk)
        for value in [None] if eta is None else np.atleast_1d(eta).tolist():
            at = risk if value is None else shift_prior(risk, value, 0.3)
            points = df.prc.operating_points(value, threshold=at, metrics=metric, columns="all", **asked)
            one = part if value is None else part.filter(eta=value)
            names = {f"{metric.name}{end}": f"net_benefit{end}" for end in ("", "_low", "_high")}
            expected = points.rename(names).select("g", "threshold", "tp", "fp", *names.values())
            assert_same(one.select(expected.columns), expected)


def test_the_order_of_rows_and_risks_out_of_range() -> None:
    rng = np.random.default_rng(3)
    label = rng.random(500) < 0.3
    df = pl.DataFrame({"score": rng.random(500), "label": label, "g": rng.integers(0, 3, 500)})
    asked: Any = {"by": "g", "eta_train": 0.3}
    found = df.prc.decision_curve([0.4, 0.1], columns="all", **asked)
    assert found.height == 3 * 2 * 99
    assert found["threshold_probability"].unique().sort().to_list() == [i / 100 for i in range(1, 100)]
    assert_same(found.sort("g", "eta", "threshold_probability"), found)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=r"outside \[0, 1\] or NaN in 1"):
        prc(
            df.lazy().with_columns(score=pl.when(pl.int_range(500) != 7).then("score").otherwise(2.0))
        ).decision_curve(columns="all").collect()


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"eta": 0.1}, "pass eta_train="),
        ({"eta_train": 0.1}, "leave eta_train= out"),
        ({"eta": [None, 0.1], "eta_train": 0.2}, "leave eta_train= out"),
        ({"eta": 0, "eta_train": 0.2}, "eta= takes a fraction above 0 and below 1"),
        ({"eta": 0.1, "eta_train": 1}, "eta_train= takes a fraction above 0 and below 1"),
        (
            {"eta": pl.DataFrame({"eta": [0.1]}), "eta_train": 0.2},
            r"pass eta= as numbers: .* does not take it as a frame",
        ),
        ({"probabilities": [0.1, 1]}, "probabilities= takes probabilities in"),
        ({"probabilities": [0.1, 0.1]}, "leave the repeats out of probabilities="),
        ({"confidence": 95}, "confidence= takes a level"),
        ({"score": pl.col("score") * 2}, r"outside \[0, 1\]"),
    ],
)
def test_what_is_refused(options: Any, hint: str) -> None:
    with pytest.raises(PrcError, match=hint):
        DF.prc.decision_curve(columns="all", **options)
