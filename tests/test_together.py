"""One threshold that meets several targets, with a promise of all of them or without."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, eta_from_sample, prc
from tests.support.profiles import examples

STRETCH = ["threshold", "holds_from", "holds_to"]
TARGETS: dict[str, Any] = {
    "recall": 0.3,
    "fpr": 0.4,
    "precision": 0.5,
    "npv": 0.6,
    "fdr": 0.6,
    "lift": 1.2,
    "predicted_positive_rate": 0.6,
    "alerts": 30,
}
AT_MOST = ("fpr", "fdr", "predicted_positive_rate")


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """Draw a table of groups with many ties or none, and better and worse scores."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([1, 5, 60, 300]))
    label = rng.random(n) < draw(st.sampled_from([0.1, 0.5, 0.9]))
    score = rng.normal(size=n) + draw(st.sampled_from([0.0, 1.0, 2.0, 4.0])) * label
    decimals = draw(st.sampled_from([0, 1, 9]))
    return pl.DataFrame({"g": rng.integers(0, 3, n), "score": score.round(decimals), "label": label})


several = st.lists(st.sampled_from([*TARGETS]), min_size=2, max_size=4, unique=True).map(
    lambda names: (
        {name: TARGETS[name] for name in TARGETS if name in names}
        | ({"per": 60} if "alerts" in names else {})
    )
)


@examples(100)
@given(tables(), several)
def test_all_targets_are_met_by_the_row_of_most_recall(frame: pl.DataFrame, asked: Any) -> None:
    found = prc(frame).operating_points([0.2, 0.5], columns="all", **asked, together=True, by="g")
    names = [name for name in asked if name != "per"]
    shown = [name if name != "alerts" else "predicted_positive_rate" for name in names]
    curve = prc(frame).curve([0.2, 0.5], metrics=list(dict.fromkeys(shown)), by="g")
    tests = []
    for name, column in zip(names, shown, strict=True):
        target = asked[name] / (60 if name == "alerts" else 1)
        passes = pl.col(column) <= target * (1 + 2**-50)
        tests.append(passes if column in AT_MOST else pl.col(column) >= target * (1 - 2**-50))
    met = curve.filter(*tests).group_by("g", "eta").agg(pl.col("threshold").min())
    keys = found.select("g", "eta")
    assert_frame_equal(
        found.select("g", "eta", "threshold"), keys.join(met, on=["g", "eta"], how="left")
    )
    assert set(found["criterion"]) == {" & ".join(names)}
    assert found["target"].null_count() == found.height


@examples(100)
@given(tables(), several)
def test_promises_hold_on_the_common_stretch(frame: pl.DataFrame, asked: Any) -> None:
    """Each promise alone has a stretch of rows; together they have what is common to all."""
    names = [name for name in asked if name != "per"]
    found = prc(frame).operating_points(
        [0.2, 0.5], columns="all", **asked, together=True, by="g", guarantee=0.9
    )
    each = 1 - 0.1 / len(names)
    single = prc(frame).operating_points([0.2, 0.5], columns="all", **asked, by="g", guarantee=each)
    sweeps = prc(frame).sweep(by="g").partition_by("g", as_dict=True)
    for point in found.to_dicts():
        parts = single.filter(pl.col("g") == point["g"], pl.col("eta") == point["eta"])
        assert point["guarantee"] == 0.9
        for needed in ("n_pos_needed", "n_neg_needed"):
            # Numbers needed are whole, and the last bit of a level may move one.
            most: Any = parts[needed].max()
            assert point[needed] == most or abs(point[needed] - most) == 1
        low, high = (
            -math.inf if parts["threshold"].null_count() else parts["holds_from"].max(),
            -math.inf if parts["threshold"].null_count() else parts["holds_to"].min(),
        )
        scores = sweeps[(point["g"],)]["threshold"]
        common = scores.filter(scores.is_between(low, high)) if low > -math.inf else scores.head(0)
        expected = (common.min(), common.min(), common.max())
        assert tuple(point[name] for name in STRETCH) == expected


DF = pl.DataFrame({"score": range(200, 0, -1), "label": [1] * 60 + [0, 0, 1, 0] * 35}).with_columns(
    w=1.0, tpr=pl.int_range(pl.len()) / 200, fpr=pl.int_range(pl.len()) / 400
)


def test_an_uncertain_eta_is_shared_by_all() -> None:
    field = eta_from_sample(400, 1000, confidence=0.98)
    asked: dict[str, Any] = {"precision": 0.8, "recall": 0.2, "guarantee": 0.95}
    found = DF.prc.operating_points(field, together=True, columns="all", **asked)
    alone = DF.prc.operating_points(field, columns="all", **(asked | {"guarantee": 0.975}))
    assert found["threshold"].item() == alone.filter(criterion="precision")["threshold"].item()
    with pytest.raises(PrcError, match=r"guarantee=0.95 \(0.025 for each .* above 0.95$"):
        DF.prc.operating_points(
            field.with_columns(eta_confidence=0.95), together=True, columns="all", **asked
        )


def test_values_of_one_target_and_published_rates() -> None:
    found = DF.prc.operating_points(precision=[0.5, 0.8], together=True, columns="all")
    assert found["criterion"].item() == "precision & precision"
    assert found["threshold"].equals(DF.prc.operating_points(precision=0.8, columns="all")["threshold"])
    rates = DF.prc.operating_points(
        0.5, rates=("tpr", "fpr"), fpr=0.2, recall=0.3, together=True, columns="all"
    )
    assert rates["fpr"].item() == 0.2


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (
            {"precision": 0.5},
            r"^leave out together=.*precision is the only one",
        ),
        ({"precision": 0.5, "threshold": 9}, "and threshold= sets a threshold by itself"),
        ({"precision": 0.5, "maximize": "f1"}, "and maximize= sets a threshold by itself"),
        ({"precision": 0.5, "npv": 0.5, "guarantee": 0.9, "start": 9}, "leave out start="),
        ({"precision": 0.5, "npv": 0.5, "together": 1}, "together="),
    ],
)
def test_refused(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(PrcError, match=hint):
        DF.prc.operating_points(columns="all", **{"together": True, **options})
