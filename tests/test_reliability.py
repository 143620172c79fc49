"""Reliability diagrams: ranges hold the counts of the table, and titles claim what the test shows."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from polars_prcurve import PrcError, charts, rate_interval, shift_prior
from polars_prcurve.view.charts.parts.chart_curves import read_sweep
from polars_prcurve.view.charts.reliability_diagram import judge_ranges, split_ranges
from tests.support.chart_specs import (
    PNG,
    UNSEEN,
    check_data,
    heading,
    plain,
    png,
    records,
    subtitle,
    walk_texts,
)
from tests.support.drawings import draw_scores, make_posteriors

pytestmark = pytest.mark.extras
pytest.importorskip("vl_convert")


def draw_calibrated(seed: int, n: int = 2_000, eta: float = 0.1, digits: int = 3) -> pl.DataFrame:
    """Return scores, many of them equal, and labels that are positive as often as the scores say."""
    random = np.random.default_rng(seed)
    score = random.beta(2 * eta, 2 * (1 - eta), n).round(digits)
    return pl.DataFrame({"score": score, "label": random.random(n) < score})


def find_ranges(frame: pl.DataFrame, level: float | None = 0.95, **etas: float) -> pl.DataFrame:
    curves = read_sweep("reliability", frame.prc.sweep(by=frame.columns[2:]), is_by_eta=False)
    return judge_ranges(split_ranges(curves, etas.get("eta_train")), level, etas.get("eta"))


def double_odds(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        score=pl.col("score") ** 2 / (2 * pl.col("score") ** 2 - 2 * pl.col("score") + 1)
    )


@pytest.mark.usefixtures("with_schema")
def test_points_are_the_counts_of_the_table():
    frame = draw_calibrated(1)
    chart = frame.prc.plot.reliability()
    ranges = find_ranges(frame)
    assert 3 <= len(ranges) <= 8
    assert ranges["n"].sum() == len(frame)
    assert ranges["positives"].sum() == frame["label"].sum()
    assert ranges["expected"].sum() == pytest.approx(frame["score"].sum())
    edges = [*ranges["first"], 2.0]
    for row, low, high in zip(ranges.iter_rows(named=True), edges, edges[1:], strict=False):
        inside = frame.filter(pl.col("score").is_between(low, high, closed="left"))
        share, mean = inside["label"].mean(), inside["score"].mean()
        assert (row["n"], row["positives"]) == (len(inside), inside["label"].sum()), "ties stay together"
        assert (row["x"], row["y"]) == pytest.approx((mean, share))
        assert (row["low"], row["high"]) == pytest.approx(rate_interval(row["positives"], row["n"]))
    drawn = [(row["x"], row["y"], row["low"], row["high"]) for row in records(chart, "range")]
    assert np.allclose(drawn, ranges.select("x", "y", "low", "high").rows(), rtol=1e-5)
    assert {row["off"] for row in records(chart, "range")} == {0}
    assert heading(chart) == "No range of scores is significantly off"
    assert "corrected for all" in subtitle(chart)
    assert png(chart).startswith(PNG)


def test_each_range_has_an_equal_part_of_the_variance():
    frame = draw_calibrated(2, n=20_000, digits=12)
    ranges = find_ranges(frame)
    edges = ranges["first"].to_list()
    number = sum((pl.col("score") >= edge).cast(pl.Int64) for edge in edges)
    part = (pl.col("score") * (1 - pl.col("score"))).sum()
    parts = frame.group_by(number.alias("number")).agg(part.alias("part"))["part"]
    assert len(ranges) == 8
    assert parts.max() / parts.min() < 1.02
    flipped = find_ranges(frame.with_columns(label=pl.col("label").reverse()))
    assert flipped["first"].to_list() == edges, "labels play no part"


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_a_range_is_off_where_exact_tails_are_below_their_share(level):
    frames = [draw_calibrated(seed, n=500).with_columns(g=pl.lit(seed)) for seed in range(20)]
    frames += [double_odds(frame).with_columns(g=pl.col("g") + 100) for frame in frames]
    ranges = find_ranges(pl.concat(frames), level)
    n, hits = ranges["n"].to_numpy(), ranges["positives"].to_numpy()
    mean = (ranges["expected"] / ranges["n"]).to_numpy()
    share = (1 - level) / (2 * len(ranges))
    few, many = binom.cdf(hits, n, mean), binom.sf(hits - 1, n, mean)
    clear = (np.abs(few / share - 1) > 0.1) & (np.abs(many / share - 1) > 0.1)
    expected = (many <= share).astype(int) - (few <= share).astype(int)
    assert (ranges["off"].to_numpy() == expected)[clear].all()
    assert clear.mean() > 0.95
    assert np.any(expected)


def test_calibrated_scores_are_seldom_called_wrong():
    called = [
        (find_ranges(draw_calibrated(seed, n, eta))["off"] != 0).any()
        for n, eta in ((150, 0.1), (400, 0.03), (2_000, 0.3))
        for seed in range(100)
    ]
    # 5% of 300 are 15, and 27 or more of these have a chance of 0.2%.
    assert sum(called) <= 26


def test_titles_say_where_scores_are_off():
    frame = draw_calibrated(3, n=20_000, eta=0.3)
    sure = double_odds(frame)
    assert re.fullmatch(
        r"Scores are too low below [\d.]+% and too high above [\d.]+%",
        heading(sure.prc.plot.reliability()),
    )
    both = pl.concat([frame.with_columns(model=pl.lit("calm")), sure.with_columns(model=pl.lit("sure"))])
    chart = both.prc.plot.reliability(by="model")
    assert re.fullmatch(
        r"Scores of calm are not significantly off; scores of sure are too low below .*%", heading(chart)
    )
    assert {row["color"] for row in records(chart, "range") if row["off"]} == {"sure"}
    half = frame.with_columns(score=pl.col("score") / 2)
    told = r"Scores are too low: [\d,]+ positives expected, [\d,]+ observed"
    assert re.fullmatch(told, heading(half.prc.plot.reliability()))
    many = pl.concat(both.with_columns(model=pl.format("{} {}", "model", pl.lit(k))) for k in range(3))
    assert heading(many.prc.plot.reliability(by="model")) == (
        "Scores are significantly too low and too high in sure 0, sure 1 and sure 2"
    )
    few = make_posteriors(draw_scores(pos=10, neg=40))
    assert "10 positives" in heading(few.prc.plot.reliability()) or "Scores are" in heading(
        few.prc.plot.reliability()
    )


def test_scores_and_shares_move_to_another_prevalence_together():
    random = np.random.default_rng(5)
    label = np.arange(9_000) < 3_000
    score = 1 / (1 + 9 * np.exp(2 - 2 * (2 * label + random.normal(size=9_000)) + 0))
    frame = pl.DataFrame({"score": score, "label": label})  # posteriors at 1 in 10, tested at 1 in 3
    moved = find_ranges(frame, eta=0.01, eta_train=0.1)
    at_test = shift_prior(score, 0.1, 1 / 3)
    assert moved["expected"].sum() == pytest.approx(at_test.sum())
    weight = np.where(label, 0.01 * 3, 0.99 * 1.5)
    edges = [*(shift_prior(np.array(moved["first"]), 0.01, 0.1)), 2.0]
    for row, low, high in zip(moved.iter_rows(named=True), edges, edges[1:], strict=False):
        inside = (score >= low * (1 - 1e-12)) & (score < high * (1 - 1e-12))
        share = (weight * label)[inside].sum() / weight[inside].sum()
        assert row["y"] == pytest.approx(share)
        assert row["low"] < row["y"] < row["high"]
    assert (moved["off"] == 0).all(), "calibrated at 1 in 10, so calibrated anywhere"
    assert (find_ranges(frame)["off"] == 1).any(), "but not as they stand"
    chart = frame.prc.plot.reliability(0.01, eta_train=0.1)
    assert "in ranges of scores, converted to a prevalence of 1 in 100" in subtitle(chart)
    at_own = find_ranges(frame, eta=1 / 3, eta_train=0.1)
    assert at_own["x"].to_list() == pytest.approx((at_own["expected"] / at_own["n"]).to_list())


def test_without_a_level_nothing_is_tested():
    frame = double_odds(draw_calibrated(3, n=20_000, eta=0.3))
    weighted = frame.with_columns(w=pl.Series(np.random.default_rng(1).random(len(frame))))
    for chart in (
        frame.prc.plot.reliability(confidence=None),
        weighted.prc.plot.reliability(weight="w"),
    ):
        assert heading(chart) == "Observed frequency of positives by predicted probability"
        assert all(row["off"] == 0 and "low" not in row for row in records(chart, "range"))
        assert "interval" not in subtitle(chart)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.prc.plot.reliability(0.1), "eta= and eta_train= together.*got only eta="),
        (lambda f: f.prc.plot.reliability(eta_train=0.1), "got only eta_train="),
        (lambda f: f.prc.plot.reliability(1.5, eta_train=0.1), "eta="),
        (lambda f: f.prc.plot.reliability(confidence=95), "a level between 0 and 1"),
        (
            lambda f: f.with_columns(score=2 * pl.col("score")).prc.plot.reliability(),
            r"needs probabilities, that is, scores in \[0, 1\]; got 0\.0\d* to 1\.\d+",
        ),
        (
            lambda f: charts.reliability(f.prc.sweep().prc.sweep(rates=("recall", "fpr"))),
            "got None to None",
        ),
    ],
)
def test_reliability_refuses(call, message):
    with pytest.raises(PrcError, match=message):
        call(draw_calibrated(1))


def test_reliability_of_odd_tables_draws():
    for score in ([], [0.5] * 10, [0.0] * 5 + [1.0] * 5, [0.0, 1e-300, 0.5, 1 - 2.0**-53, 1.0] * 2):
        label = [k % 2 for k in range(len(score))]
        frame = pl.DataFrame(
            {"score": score, "label": label}, schema={"score": pl.Float64, "label": pl.Int64}
        )
        check_data(frame.prc.plot.reliability())
        if score:
            check_data(frame.prc.plot.reliability(0.001, eta_train=0.1))
    hostile = pl.concat(
        draw_calibrated(k).with_columns(pl.lit(name).alias("a:b"))
        for k, name in enumerate(["</script><script>alert(1)</script>", "a\x01b", "x" * 300])
    )
    chart = hostile.prc.plot.reliability(by="a:b")
    check_data(chart)
    assert "<script>alert" not in chart.to_html()
    assert not any(UNSEEN.search(text) for text in walk_texts(chart.to_dict()))
    many = pl.concat(draw_calibrated(k, n=100).with_columns(c=pl.lit(k)) for k in range(200))
    chart = many.prc.plot.reliability(by="c")
    assert len({plain(row["facet"]) for row in records(chart, "range")}) > 190


@pytest.mark.parametrize("levels", [[0, 1], [0.2, 0.9], [0, 0.5, 1], [0, 0.1, 0.6, 1], [0.3]])
@pytest.mark.parametrize("seed", range(2))
def test_a_range_of_one_score_is_named_by_it_and_no_score_is_above_all(levels, seed):
    rng = np.random.default_rng(seed)
    score = rng.choice(levels, 6000)
    frame = pl.DataFrame({"score": score, "label": rng.random(6000) < 0.3 + 0.2 * score})
    said = heading(frame.prc.plot.reliability())
    for side, text in re.findall(r"(at|above|below) ([\d.]+)%", said):
        edge = float(text) / 100
        rows = {"at": score == edge, "above": score >= edge, "below": score < edge}[side]
        assert rows.any()
        assert side == "at" or len({*score[rows]}) > 1, said


def test_one_range_is_not_said_to_be_one_of_several():
    frame = pl.DataFrame({"score": [0.5] * 400, "label": [True, False] * 200})
    said = subtitle(frame.prc.plot.reliability())
    assert "in one range of scores" in said
    assert "all 1" not in said
    assert "corrected" not in said
    assert "each range" not in said.lower()
