"""Means over groups, such as topics: of each group its value, and over them SciPy's paired t-test."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import __version__, stats

from polars_prcurve import PrcError, metrics, prc
from polars_prcurve.core.ground.student_distribution import add_student_quantile, add_student_share
from tests.support.tiers import pair_each

# SciPy 1.12 has quantiles of Student's distribution to ten digits, as its 1.18 shows.
CLOSE = 1e-12 if tuple(map(int, __version__.split(".")[:2])) >= (1, 18) else 1e-9
NAMES = ["average_precision", "pr_auc", "roc_auc", "precision_at_recall(0.5)", "best(f1)"]
ETAS = [None, 0.01, 0.3]
ALL: dict[str, Any] = {"mean_over": "topic", "columns": "all"}


def make_topics(n_topics: int, seed: int, *, n_models: int = 2) -> pl.DataFrame:
    """Return topics of unlike sizes, one without positives, with a column of scores per model."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(n_topics):
        n_rows = int(rng.integers(15, 60))
        label = rng.random(n_rows) < 0.2
        label[:2] = number > 0, False
        label &= number > 0
        base = rng.normal(size=n_rows) + rng.normal(1.2, 0.4) * label
        scores = {
            f"m{k}": (base + rng.normal(size=n_rows) * (0.4 + k)).round(2) for k in range(n_models)
        }
        parts.append(pl.DataFrame({"topic": f"t{number}", "site": number % 2, "label": label, **scores}))
    return pl.concat(parts)


TOPICS = make_topics(24, seed=3, n_models=3)
MODELS = ["m0", "m1", "m2"]
LONG = TOPICS.unpivot(
    MODELS, index=["topic", "site", "label"], variable_name="model", value_name="score"
)


def list_values(test: Any, name: str, eta: float | None = None, **words: Any) -> pl.DataFrame:
    """Return the value of each topic, by the summary of each."""
    by = [*words.pop("by", []), "topic"]
    return test.summary(eta, metrics=name, by=by, **words)


def get_row(frame: pl.DataFrame, **values: Any) -> dict[str, Any]:
    [row] = frame.filter(*(pl.col(name).eq_missing(value) for name, value in values.items())).to_dicts()
    return row


def test_a_mean_has_the_interval_of_scipy() -> None:
    test = prc(TOPICS, score="m0")
    means = test.summary(ETAS, metrics=NAMES, confidence=0.9, **ALL)
    for name, eta in product(NAMES, ETAS):
        values = list_values(test, name, eta)["value"].drop_nulls().to_numpy()
        row = get_row(means, metric=name, eta=eta)
        span = stats.ttest_1samp(values, 0).confidence_interval(0.9)
        assert row["n_groups"] == len(values) == 23
        assert (row["n_pos"], row["n_neg"]) == (TOPICS["label"].sum(), (~TOPICS["label"]).sum())
        expected = (values.mean(), stats.sem(values), span.low, span.high)
        found = (row["value"], row["standard_error"], row["low"], row["high"])
        assert found == pytest.approx(expected, rel=CLOSE)
        assert row["doubt"] is None


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("eta", "door"), pair_each(ETAS, ["wide", "long"]))
def test_a_difference_is_the_paired_test_of_scipy(door: str, eta: float | None) -> None:
    test = prc(TOPICS, score=MODELS) if door == "wide" else prc(LONG, model="model")
    found = test.compare(ETAS, metrics=NAMES[:3], confidence=0.95, **ALL)
    for a, b in (("m0", "m1"), ("m0", "m2"), ("m1", "m2")):
        for name in NAMES[:3]:
            pairs = [list_values(prc(TOPICS, score=model), name, eta)["value"] for model in (a, b)]
            both = pl.DataFrame({"a": pairs[0], "b": pairs[1]}).drop_nulls()
            expected = stats.ttest_rel(both["a"], both["b"])
            row = get_row(found, metric=name, eta=eta, model_a=a, model_b=b)
            span = expected.confidence_interval(0.95)
            assert (row["low"], row["high"]) == pytest.approx((span.low, span.high), rel=CLOSE)
            assert row["p_value"] == pytest.approx(expected.pvalue, rel=1e-11)
            assert row["significant"] == (expected.pvalue < 0.05)
            assert row["n_groups"] == both.height


def test_fifty_topics_of_which_a_paired_test_is_sure() -> None:
    """A run that is better in nearly all topics, of which each topic by itself can say nothing."""
    topics = make_topics(51, seed=2)
    test = prc(topics, score=["m0", "m1"])
    alone = test.compare(metrics="average_precision", by="topic")
    assert alone["significant"].sum() <= 2
    row = test.compare(metrics="average_precision", mean_over="topic").row(0, named=True)
    assert (row["n_groups"], row["significant"], row["doubt"]) == (50, True, None)
    assert row["p_value"] < 1e-4


def test_more_models_are_adjusted_as_elsewhere() -> None:
    test = prc(TOPICS, score=MODELS)
    plain = test.compare(0.1, metrics="roc_auc", **ALL)
    holm = test.compare(0.1, metrics="roc_auc", adjust="holm", **ALL)
    third = test.compare(0.1, metrics="roc_auc", confidence=1 - 0.05 / 3, **ALL)
    assert holm["low"].to_list() == pytest.approx(third["low"].to_list(), rel=1e-12)
    p_values = sorted(plain["p_value"].to_list())
    steps = np.maximum.accumulate([p * (3 - rank) for rank, p in enumerate(p_values)])
    assert sorted(holm["p_adjusted"].to_list()) == pytest.approx(list(np.minimum(steps, 1)), rel=1e-12)


@pytest.mark.parametrize("eta", [None, 0.05])
def test_a_ranking_is_of_the_groups_that_all_models_have(eta: float | None) -> None:
    partial = LONG.filter(~((pl.col("model") == "m1") & (pl.col("topic") == "t5")))
    found = prc(partial, model="model").ranking(eta, confidence=0.95, mean_over="topic")
    without = TOPICS.filter(pl.col("topic") != "t5")
    means = {m: list_values(prc(without, score=m), NAMES[0], eta)["value"].mean() for m in MODELS}
    assert found["model"].to_list() == sorted(MODELS, key=lambda m: -means[m])
    assert found["value"].to_list() == pytest.approx(sorted(means.values(), reverse=True), rel=1e-12)
    assert found["n_groups"].to_list() == [22] * 3
    assert found["eta"].to_list() == [eta] * 3
    plain = prc(partial, model="model").ranking(eta, mean_over="topic")
    assert_frame_equal(plain, found.select(plain.columns))
    # Of two models there is one difference, and its interval is that of `compare`.
    two = prc(without, score=MODELS[:2])
    lead = two.ranking(eta, confidence=0.9, mean_over="topic").row(0, named=True)
    gap = two.compare(eta, metrics=NAMES[0], confidence=0.9, mean_over="topic").row(0, named=True)
    ends = (gap["low"], gap["high"]) if gap["difference"] < 0 else (-gap["high"], -gap["low"])
    assert (lead["behind_low"], lead["behind_high"]) == pytest.approx(ends, rel=1e-9)


QUERIES: dict[str, Any] = {
    "summary": lambda p: p.summary(ETAS, metrics=NAMES, confidence=0.95, **ALL),
    "compare": lambda p: p.compare(ETAS, adjust="holm", **ALL),
    "ranking": lambda p: p.ranking(ETAS, confidence=0.95, **ALL),
}


@pytest.mark.parametrize("name", QUERIES)
def test_each_group_of_by_has_its_own_mean(name: str) -> None:
    words: dict[str, Any] = {"score": "m0"} if name == "summary" else {"score": MODELS}
    words["by"] = ["site", "topic"]
    expected = QUERIES[name](prc(TOPICS, **words))
    assert "topic" not in expected.columns
    assert expected["site"].is_sorted()
    one_site = QUERIES[name](prc(TOPICS.filter(site=1), **{**words, "by": None}))
    assert_frame_equal(one_site, expected.filter(site=1).drop("site"), check_exact=True)


def test_examples_that_no_run_returned() -> None:
    """Mean average precision of a search, whose negatives are not counted, as trec_eval has it."""
    ranks = {"q1": [1, 0, 1, 0, 0], "q2": [0, 1, 0, 0], "q3": [1, 1]}
    found = {topic: 4 - sum(labels) for topic, labels in ranks.items()}  # of 4 relevant documents each
    rows = [(t, -k, bool(x)) for t, labels in ranks.items() for k, x in enumerate(labels)]
    df = pl.DataFrame(rows, schema=["topic", "score", "label"], orient="row")
    below = pl.DataFrame({"topic": list(found), "n_pos": list(found.values()), "n_neg": [None] * 3})
    below = below.cast({"n_neg": pl.Int64})
    [row] = (
        prc(df, below=below)
        .summary(metrics="average_precision", confidence=0.95, mean_over="topic", columns="all")
        .to_dicts()
    )
    values = [(1 + 2 / 3) / 4, (1 / 2) / 4, (1 + 1) / 4]
    assert row["value"] == pytest.approx(np.mean(values), rel=1e-12)
    assert (row["n_pos"], row["n_neg"], row["n_groups"]) == (12, None, 3)
    assert (row["eta"], row["doubt"]) == (None, "few groups")
    span = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((max(span.low, 0), span.high), rel=CLOSE)
    both = pl.concat([df.with_columns(model=pl.lit("a")), df.with_columns(model=pl.lit("b"))])
    both = both.with_columns(pl.when(model="b", topic="q1").then(-pl.col("score")).otherwise("score"))
    below_runs = below.join(pl.DataFrame({"model": ["a", "b"]}), how="cross")
    runs = prc(both, below=below_runs, model="model")
    assert runs.compare(mean_over="topic")["metric"].to_list() == ["average_precision"]
    assert runs.ranking(mean_over="topic")["model"].to_list() == ["a", "b"]


def test_classes_of_a_mapping_share_examples() -> None:
    rng = np.random.default_rng(1)
    species = rng.choice(["cat", "dog", "fox"], 300)
    scores = {f"p_{name}": rng.random(300) + (species == name) for name in ("cat", "dog", "fox")}
    test = prc(
        pl.DataFrame({"label": species, **scores}), score={n: f"p_{n}" for n in ("cat", "dog", "fox")}
    )
    values = test.summary(0.1, metrics="average_precision")["value"]
    [row] = test.summary(0.1, metrics="average_precision", confidence=0.95, mean_over="class").to_dicts()
    assert row["value"] == pytest.approx(values.mean(), rel=1e-12)
    assert (row["low"], row["high"], row["n_groups"]) == (None, None, 3)
    assert row["doubt"] == "groups share examples"


def test_intervals_stay_in_the_range_of_their_metric() -> None:
    """Three topics, one ranked in reverse: Student's interval is wider than a share can be."""
    places = [19, 0, 3]
    topics = pl.concat(
        pl.DataFrame({"topic": place, "score": range(20), "label": [row == place for row in range(20)]})
        for place in places
    )
    names = ["average_precision", "roc_auc", "auprg", "pr_auc"]
    rows = topics.prc.summary(0.1, metrics=names, confidence=0.95, **ALL)
    for row in rows.iter_rows(named=True):
        lowest, highest = getattr(metrics, row["metric"]).range
        half_width = stats.t.ppf(0.975, 2) * row["standard_error"]
        assert row["low"] == pytest.approx(max(row["value"] - half_width, lowest), rel=CLOSE)
        assert row["high"] == pytest.approx(min(row["value"] + half_width, highest), rel=CLOSE)
    assert rows.filter(metric="roc_auc").select("low", "high").row(0) == (0, 1)


@pytest.mark.parametrize(("n_topics", "n_groups"), [(1, 0), (2, 1), (3, 2), (10, 9), (11, 10)])
def test_few_groups_are_in_doubt(n_topics: int, n_groups: int) -> None:
    test = prc(make_topics(n_topics, seed=1), score=["m0", "m1"])
    summary = test.summary(metrics="roc_auc", confidence=0.95, mean_over="topic")
    assert summary["n_groups"].to_list() == [n_groups] * 2
    assert summary["doubt"].to_list() == [None if n_groups >= 10 else "few groups"] * 2
    assert summary["low"].is_null().to_list() == [n_groups < 2] * 2
    gap = test.compare(metrics="roc_auc", mean_over="topic").row(0, named=True)
    assert gap["doubt"] == (None if n_groups >= 10 else "few groups")
    if n_groups < 2:
        assert gap["significant"] is None
    else:
        is_outside = gap["low"] > 0 or gap["high"] < 0
        assert gap["significant"] in ([is_outside] if n_groups >= 10 or not is_outside else [None, True])


def test_equal_models_do_not_differ() -> None:
    same = prc(TOPICS.with_columns(m1="m0"), score=["m0", "m1"])
    gap = same.compare(metrics="roc_auc", columns="all", mean_over="topic").row(0, named=True)
    assert (gap["difference"], gap["low"], gap["high"], gap["p_value"]) == (0, 0, 0, None)
    assert gap["significant"] is False


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda p: p.summary(by="topic", mean_over="topic"),
            "name the column 'topic' in by= or in mean_over=",
        ),
        (lambda p: p.summary(mean_over="query"), "there is no column 'query' for mean_over="),
        (lambda p: p.summary(mean_over=3), "mean_over= takes a column name"),
        (lambda p: p.compare(score=MODELS, mean_over="x"), "choose from: (?!.*_prc_).*'?topic'?.*m0"),
        (lambda p: p.compare(score=MODELS, mean_over="m0"), "leave 'm0' out of score="),
        (
            lambda p: p.summary(pl.DataFrame({"topic": ["t1"], "eta": [0.1]}), mean_over="topic"),
            "leave the column 'topic' out of the eta= frame: a mean over its groups",
        ),
        (
            lambda p: p.summary(
                pl.DataFrame({"eta": [0.1], "eta_low": [0.05], "eta_high": [0.2]}), mean_over="topic"
            ),
            "mean_over= needs an exact eta",
        ),
        (
            lambda p: p.compare(score=MODELS, mean_over="topic", metrics="precision"),
            "needs a threshold",
        ),
        (lambda p: p.ranking(score=MODELS, mean_over="topic", recall=0.5), "leave out recall="),
        (lambda p: p(by=pl.col("topic").alias("n_groups")).summary(mean_over="n_groups"), "n_groups"),
    ],
)
def test_what_means_over_groups_refuse(call: Any, words: str) -> None:
    for frame in (TOPICS, TOPICS.lazy()):
        with pytest.raises(PrcError, match=words):
            call(prc(frame, score="m0"))


def test_no_group_with_two_models() -> None:
    apart = LONG.filter(pl.col("model") == "m0")
    with pytest.raises(PrcError, match="no group has two"):
        prc(apart, model="model").compare(mean_over="topic")


def test_an_eta_frame_of_other_groups() -> None:
    etas = pl.DataFrame({"site": [0, 1], "eta": [0.1, 0.2], "where": ["north", "south"]})
    etas = etas.cast({"site": TOPICS.schema["site"]})
    found = prc(TOPICS, score="m0", by="site").summary(etas, metrics=metrics.pr_auc, mean_over="topic")
    assert found.columns[:3] == ["site", "eta", "where"]
    for site, eta in ((0, 0.1), (1, 0.2)):
        values = list_values(prc(TOPICS.filter(site=site), score="m0"), "pr_auc", eta)["value"]
        assert get_row(found, site=site)["value"] == pytest.approx(values.mean(), rel=1e-12)


# Student's distribution ---------------------------------------------------------------------------


def test_students_distribution_is_scipys() -> None:
    freedoms, deviates = [1, 2, 3, 5, 9, 49, 500, 20_000], [0.01, 0.5, 1.7, -3.0, 12.0, 40.0]
    grid = pl.LazyFrame({"f": freedoms}).join(pl.LazyFrame({"t": deviates}), how="cross")
    found = add_student_share(grid, pl.col("t"), pl.col("f"), "p").collect()
    expected = 2 * stats.t.sf(found["t"].abs().to_numpy(), found["f"].to_numpy())
    assert found["p"].to_list() == pytest.approx(list(expected), rel=1e-11, abs=1e-300)
    for z in (0.3, 1.0, 1.96, 2.6, 4.0):
        quantiles = add_student_quantile(pl.LazyFrame({"f": freedoms}), pl.lit(z), pl.col("f"), "q")
        expected = stats.t.isf(stats.norm.sf(z), freedoms)
        assert quantiles.collect()["q"].to_list() == pytest.approx(list(expected), rel=10 * CLOSE)


# Decisions --------------------------------------------------------------------------------------


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("seed", range(4))
def test_a_decision_is_the_paired_test_of_scipy(seed: int) -> None:
    topics = make_topics(18, seed=seed, n_models=2)
    test = prc(topics, score=["m0", "m1"])
    values = [
        list_values(prc(topics, score=name), "average_precision", 0.1)["value"].drop_nulls().to_numpy()
        for name in ("m0", "m1")
    ]
    result = stats.ttest_rel(*values)
    decision = test.decide(0.1, mean_over="topic", confidence=0.9)
    is_sure = result.pvalue < 0.1
    assert decision.verdict.status == ("winner" if is_sure else "no_winner")
    best = "m0" if result.statistic > 0 else "m1"
    assert decision.verdict.models[0] == best
    rows = decision.table.sort("model")
    summary = test.summary(0.1, mean_over="topic", confidence=0.9).filter(metric="average_precision")
    for name, end in {"value": "", "low": "_low", "high": "_high"}.items():
        assert rows[f"mean_average_precision{end}"].to_list() == summary.sort("model")[name].to_list()
    span = result.confidence_interval(0.9)
    behind = rows.filter(model="m1").row(0, named=True)
    assert behind["behind"] == pytest.approx(values[0].mean() - values[1].mean(), abs=1e-12)
    ends = (span.low, span.high) if is_sure or span.low <= 0 else (0.0, span.high)
    assert (behind["behind_low"], behind["behind_high"]) == pytest.approx(ends, rel=CLOSE)


def test_the_verdict_says_what_the_mean_is_over() -> None:
    decision = prc(TOPICS, score=MODELS).decide(mean_over="topic")
    assert decision.verdict.sentence.startswith("m0 is the best of 3 models: mean average precision 0.")
    assert decision.verdict.conditions == (
        "Each topic at its own prevalence; the mean of 23 topics, leaving out 1 without a value; "
        "topics as in the test set"
    )
    assert decision.verdict.met is None
    assert decision.table["n_groups"].to_list() == [23] * 3
    card = decision.model_card()
    assert "intervals for means over topics, by Student's t distribution" in card
    assert "at 50%" not in card + decision.say() + decision.verdict.sentence
    by_site = prc(TOPICS, score=MODELS).decide([0.01, 0.1], mean_over="topic", by="site")
    assert by_site.verdicts.height == 4
    expected = "the mean of 11 to 12 topics, leaving out up to 1 without a value; "
    assert expected in by_site.verdict.conditions
    # A topic without positives has no value, and neither has one that a model did not score.
    first_topic = TOPICS.filter("label")["topic"].min()
    long = LONG.filter((pl.col("model") != MODELS[0]) | (pl.col("topic") != first_topic))
    conditions = prc(long, by="topic").decide(0.1, mean_over="topic").verdict.conditions
    assert "the mean of 22 topics, leaving out 2 without a value; " in conditions
    known = TOPICS.filter(pl.col("label").any().over("topic"))
    conditions = prc(known, score=MODELS).decide(0.1, mean_over="topic").verdict.conditions
    assert "the mean of 23 topics; topics as in the test set" in conditions


def test_groups_of_a_mean_may_be_an_expression() -> None:
    """A decision asks several methods about the groups, which have a name alone after the first."""
    rng = np.random.default_rng(8)
    topic, label = rng.integers(0, 12, 900), rng.random(900) < 0.3
    df = pl.DataFrame({"topic": topic, "label": label, "half": rng.integers(0, 2, 900)})
    df = df.with_columns(a=pl.Series(rng.normal(size=900) + label), b=pl.Series(rng.normal(size=900)))
    named = df.with_columns(pair=pl.col("topic") // 2).prc(score=["a", "b"])
    for by in (None, "half"):
        expected = named.decide(0.1, mean_over="pair", by=by)
        pair = (pl.col("topic") // 2).alias("pair")
        found = df.prc(score=["a", "b"]).decide(0.1, mean_over=pair, by=by)
        assert str(found) == str(expected)
        assert_frame_equal(found.table, expected.table, check_exact=True)


@pytest.mark.parametrize("by", [None, "site"])
def test_the_report_of_a_mean_draws_neither_a_curve_nor_alerts(by: str | None, tmp_path: Path) -> None:
    path = prc(TOPICS, score=MODELS).report(tmp_path / "means.html", 0.1, mean_over="topic", by=by)
    html = path.read_text(encoding="utf-8")
    assert "Student&#x27;s t distribution" in html or "Student's t distribution" in html
    assert "Wilson" not in html
    assert "unseen examples" not in html
    assert "precision at a prevalence eta" not in html
    assert "Whether scores are better than chance" not in html
    for absent in ("Precision and recall at every threshold", "true alerts", "Other prevalences"):
        assert absent not in html
    with pytest.raises(PrcError, match="a mean over groups has no threshold"):
        prc(TOPICS, score=MODELS).decide(0.1, mean_over="topic").page(tmp_path / "page.html")


def test_an_interval_that_is_not_there_is_not_too_narrow() -> None:
    one = prc(TOPICS.filter(topic="t1"), score="m0").decide(0.1, mean_over="topic")
    assert "there is no interval" in one.verdict.sentence
    assert not any("too narrow" in reason for reason in one.verdict.reasons)


def test_statuses_of_means() -> None:
    def decide(n_topics: int, **words: Any) -> Any:
        return prc(
            TOPICS.filter(pl.col("topic").is_in([f"t{n}" for n in range(1, n_topics + 1)])), **words
        ).decide(0.1, mean_over="topic")

    one = decide(1, score=["m0", "m1"]).verdict
    assert (one.status, one.would_settle[:12]) == ("too_little_data", "At least 10 ")
    assert one.sentence == "With 1 topic, there is no interval for mean average precision"
    few = decide(5, score=["m0", "m1"]).verdict
    assert few.status == "no_winner"
    assert "intervals may be too narrow: few groups" in few.reasons
    for verdict in (one, few):
        assert verdict.would_settle == (
            "At least 10 topics are needed, and usually many more; if there are no others, decide "
            "without a mean over topics"
        )
    measured = decide(20, score="m0").verdict
    assert measured.status == "measured"
    assert measured.sentence.startswith("Mean average precision 0.")
    assert "topics (" in measured.would_settle
    noise = pl.Series(np.random.default_rng(1).normal(size=TOPICS.height))
    chance = prc(TOPICS.with_columns(noise=noise), score="noise").decide(mean_over="topic").verdict
    assert chance.status == "chance"
    assert "random scores have 0." in chance.sentence
    assert "topics rule out a mean average precision above" in chance.would_settle
    few = TOPICS.with_columns(noise=noise).filter(pl.col("topic").rank("dense") <= 9)
    assert prc(few, score="noise").decide(mean_over="topic").verdict.status == "too_little_data"


def test_runs_whose_negatives_are_not_counted() -> None:
    runs = prc(TOPICS.filter(pl.col("m0") > 0), score=["m0", "m1"], below=(1, None), by="topic")
    verdict = runs.decide(mean_over="topic").verdict
    means = runs.summary(metrics="average_precision", mean_over="topic")["value"].round(2).to_list()
    assert all(f"{mean:.2f}" in verdict.sentence for mean in means)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"recall": 0.5}, r"^leave out recall=.*not results at a threshold"),
        ({"threshold": 0.5}, "leave out threshold="),
        ({"maximize": "f1"}, "leave out maximize="),
        ({"alerts": 5, "per": 100}, "leave out"),
        ({"guarantee": 0.9}, "leave out guarantee="),
        ({"weight": "w"}, "leave out weights: mean_over="),
        ({"by": "topic"}, "in by= or in mean_over=, not in both"),
    ],
)
def test_what_decisions_on_means_refuse(words: dict[str, Any], error: str) -> None:
    with pytest.raises(PrcError, match=error):
        prc(TOPICS.with_columns(w=1.0)).decide(0.1, score="m0", mean_over="topic", **words)


def test_decisions_on_means_take_examples_of_their_own() -> None:
    with pytest.raises(PrcError, match="leave out mean_over=, or call summary"):
        prc(TOPICS.with_columns(c=pl.when("label").then(pl.lit("m0")).otherwise(pl.lit("m1")))).decide(
            0.1, score={"m0": "m0", "m1": "m1"}, label="c", mean_over="class"
        )
    cells = prc(TOPICS, score="m0", by="topic").sweep()
    with pytest.raises(PrcError, match=r"^leave out cells=.*needs examples"):
        prc(cells, cells=("tp", "fp", "fn", "tn")).decide(0.1, mean_over="topic")
