"""Numbers in another unit than the one that an argument takes: refused, with the right call."""

from __future__ import annotations

import polars as pl
import pytest

from polars_prcurve import (
    PrcError,
    class_mix,
    eta_from_sample,
    intervals,
    prc,
    published_precision,
    rate_interval,
    sample_size,
)

DF = pl.DataFrame({"score": [3, 2, 1, 0], "label": [1, 0, 1, 0]})
POINTS = pl.DataFrame({"tpr": [0.5, 0.9], "Specificity": [0.99, 0.8]})


def test_an_error_rate_is_no_level() -> None:
    with pytest.raises(PrcError, match=r"pass confidence=0.95 instead of 0.05"):
        prc(DF).summary(0.1, confidence=0.05)
    with pytest.raises(PrcError, match=r"pass confidence=0.99 instead of 0.01"):
        sample_size(0.6, 0.001, 0.01)
    with pytest.raises(PrcError, match=r"pass level=0.9 instead of 0.1"):
        intervals(0.1)
    assert intervals(0.5).level == 0.5


def test_rates_are_no_counts() -> None:
    with pytest.raises(
        PrcError, match=r"^multiply tp by n_pos, tp=0\.87 \* 142: tp counts examples, and"
    ):
        published_precision(0.87, 142, 0.114, 5780, 0.005)
    with pytest.raises(
        PrcError, match=r"^multiply fp by n_neg, fp=0\.114 \* 5780: fp counts examples, and 0"
    ):
        published_precision([124, 0], 142, [659, 0.114], 5780, 0.005)
    assert published_precision(124, 142, 0, 5780, 0.005).value == 1.0


def test_a_rate_is_no_number_of_successes() -> None:
    sentence = r"^multiply k by n, k=0\.87 \* 142: k counts examples, and 0\.87 looks like a rate$"
    for call in (rate_interval, eta_from_sample):
        for k in (0.87, [3, 0.87]):
            with pytest.raises(PrcError, match=sentence):
                call(k, 142)
    frame = pl.DataFrame({"ill": [3.0, 0.87], "all": [142, 142]})
    sentence = r"multiply ill by all, ill=0\.87 \* 142: ill counts examples, and 0\.87 looks like a rate"
    with pytest.raises(PrcError, match=f"^{sentence}$"):
        eta_from_sample(frame, k="ill", n="all")
    with pytest.raises(pl.exceptions.InvalidOperationError, match=sentence):
        eta_from_sample(frame.lazy(), k="ill", n="all").collect()


def test_weighted_counts_and_halves_of_one_are_no_rates() -> None:
    assert rate_interval(0.87, 142.5).high < 0.05  # an effective size, of rows with weights
    assert rate_interval(0.5, 1).low < 0.5 < rate_interval(0.5, 1).high
    assert eta_from_sample([0, 1], 142)["eta"].to_list() == [0, 1 / 142]


def test_specificity_is_no_fpr() -> None:
    sentence = (
        r"^name a column that holds fpr, or pass 1 - pl.col\('Specificity'\), as the second of rates="
    )
    with pytest.raises(PrcError, match=sentence):
        POINTS.prc(rates=("tpr", "Specificity")).summary(0.1)
    turned = POINTS.prc(rates=("tpr", 1 - pl.col("Specificity"))).summary(0.1)
    expected = POINTS.with_columns(fpr=1 - pl.col("Specificity")).prc(rates=("tpr", "fpr")).summary(0.1)
    assert turned.equals(expected)


def test_shares_of_all_classes_sum_to_1_but_for_rounding() -> None:
    with pytest.raises(PrcError, match=r"they sum to 1\.225"):
        class_mix({"cat": 0.25, "dog": 0.975})
    rounded = class_mix({"cat": 0.333, "dog": 0.333, "cow": 0.333}).shares
    assert sum(rounded.values()) == pytest.approx(1, abs=1e-15)
    assert len(class_mix({"cat": 0.335, "dog": 0.67}).shares) == 2
