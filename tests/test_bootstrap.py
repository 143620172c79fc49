"""What replicates do not depend on, and what they must not do, on particular tables."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcWarning, intervals, metrics
from tests.support.two_scores import BOOTSTRAP, two_scores


def test_weighted_replicates_do_not_depend_on_the_order_of_rows() -> None:
    """They need a DataFrame, and have no query in `test_plans`."""
    frame = two_scores()
    options = {"weight": "weight", **BOOTSTRAP}
    assert frame.prc.summary(0.1, columns="all", **options).equals(
        frame.reverse().prc.summary(0.1, columns="all", **options)
    )


@pytest.mark.parametrize("unit", [1e90, 1e-310])
def test_weights_of_any_size_tell_the_same(unit: float) -> None:
    frame = two_scores().with_columns(weight=1.0)
    options = {"weight": "weight", "metrics": "roc_auc", **BOOTSTRAP}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = frame.with_columns(weight=unit).prc.summary(0.5, columns="all", **options)
    assert (
        found["doubt"].is_null().to_list()
        == frame.prc.summary(0.5, columns="all", **options)["doubt"].is_null().to_list()
        == [True]
    )


def test_intervals_hold_the_estimate() -> None:
    random = np.random.default_rng(0)
    n = 200
    frame = pl.DataFrame(
        {
            "group": np.repeat(np.arange(n), 20),
            "score": random.normal(size=20 * n),
            "label": np.tile(np.arange(20) < 5, n),
        }
    )
    half = intervals(0.5, method="bootstrap", resamples=50, seed=1)
    found = frame.prc.summary(
        0.1, by="group", metrics="average_precision", confidence=half, columns="all"
    )
    assert found.filter(
        (pl.col("low") > pl.col("value")) | (pl.col("high") < pl.col("value"))
    ).is_empty()


def test_an_fpr_that_few_negatives_reach_is_not_reliable() -> None:
    """Where it allows fewer than 10 false positives, intervals held the truth too rarely."""
    draw = np.random.default_rng(0)
    label = np.arange(1_200) < 200
    df = pl.DataFrame({"score": draw.normal(size=1_200) + label, "label": label})
    for fpr, reliable in ((0.01, True), (0.009, False)):
        found = df.prc.summary(
            metrics=metrics.recall_at_fpr(fpr),
            confidence=intervals(0.9, method="bootstrap", resamples=50, seed=1),
            columns="all",
        )
        assert found["doubt"].is_null().to_list() == [reliable]
        assert (
            found["value"].item()
            == df.prc.operating_points(0.1, fpr=fpr, columns="all")["recall"].item()
        )


def test_undefined_replicates_warn_at_the_line_of_the_call() -> None:
    df = pl.DataFrame({"score": range(30), "label": [i % 15 < 2 for i in range(30)]})
    df = df.with_columns(patient=pl.int_range(30) // 5)
    with pytest.warns(PrcWarning, match="undefined in up to") as records:
        df.prc.summary(metrics="roc_auc", cluster="patient", **BOOTSTRAP)
    assert [record.filename for record in records] == [__file__]
