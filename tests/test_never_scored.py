"""Examples that were never scored: as a score below all others, except that no threshold flags them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal, assert_series_equal

from polars_prcurve import PrcError, intervals, metrics, prc
from polars_prcurve.core.binding.argument_rules import USES
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.point_metric import POINT_METRICS
from polars_prcurve.core.uncertainty.summary_table import needs_negatives
from tests.support.plain_calls import PLAIN
from tests.support.strategies import Table, tables

Ask = Callable[[Any], Any]


def draw_models(seed: int = 1, n: int = 60) -> pl.DataFrame:
    """Return scores of two models in three groups, of which those below 6 are null."""
    rng = np.random.default_rng(seed)
    label = np.repeat(rng.random(3 * n) < 0.4, 2)
    score = rng.integers(0, 13, 6 * n) + 3.0 * label
    keys = {"g": np.repeat(["a", "b", "c"], 2 * n), "model": ["x", "y"] * (3 * n)}
    df = pl.DataFrame({**keys, "id": np.repeat(np.arange(3 * n), 2), "score": score, "label": label})
    return df.with_columns(pl.when(pl.col("score") >= 6).then("score"))


def count_below(df: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return the numbers of rows without a score."""
    below = df.filter(pl.col("score").is_null())
    return below.group_by(by).agg(n_pos=pl.col("label").sum(), n_neg=(~pl.col("label")).sum())


NULLS = draw_models()
SCORED = NULLS.drop_nulls()
LOWEST = NULLS.with_columns(pl.col("score").fill_null(-math.inf))
BELOW = count_below(NULLS, "g", "model")
WORDS: dict[str, Any] = {"by": "g", "model": "model"}
ROC = ["roc_auc", metrics.partial_roc_auc(0.2), metrics.partial_roc_auc_mcclish(0.3)]
AT_THRESHOLDS = [metrics.recall_at_fpr(0.1), metrics.recall_at_precision(0.4), metrics.best("f1")]

ASKED: dict[str, Ask] = {
    "sweep": lambda t: t.sweep(),
    "listed thresholds": lambda t: t.sweep(thresholds=[0, 6.5, 9, 20]),
    "steps": lambda t: t.sweep(thresholds=5),
    "corners": lambda t: t.sweep(thresholds="corners"),
    "curve": lambda t: t.curve([0.01, None], confidence=0.9, metrics=["precision", "f1", "npv", "mcc"]),
    "points": lambda t: t.operating_points(
        [0.01, 0.3], recall=0.3, fpr=0.1, confidence=0.9, columns="all"
    ),
    "budget": lambda t: t.operating_points(0.3, alerts=100, per=1000, confidence=0.9, columns="all"),
    "best": lambda t: t.operating_points([0.01, 0.1], maximize=["f1", "mcc"], columns="all"),
    "promise": lambda t: t.operating_points(
        0.3, recall=[0.3, 0.4], precision=0.4, guarantee=0.9, columns="all"
    ).drop("holds_from", "holds_to"),
    "areas": lambda t: t.summary([0.01, 0.1], metrics=[*ROC, *AT_THRESHOLDS], columns="all"),
    "sure area": lambda t: t.summary([0.05, None], metrics="roc_auc", confidence=0.9, columns="all"),
    "at a recall": lambda t: t.summary(
        metrics=metrics.precision_at_recall(0.3), confidence=0.9, columns="all"
    ),
    "coarse": lambda t: t.summary(metrics=ROC, coarse=True, columns="all"),
    "ranking": lambda t: t.ranking(0.1, metric="roc_auc", confidence=0.9, columns="all"),
    "apart": lambda t: t.compare(0.1, metrics="roc_auc", paired=False, confidence=0.9, columns="all"),
    "apart at a target": lambda t: t.compare(
        0.1, recall=0.3, paired=False, confidence=0.9, columns="all"
    ),
}
EAGER: dict[str, Ask] = {
    "band": lambda t: t.curve(0.1, confidence=intervals(0.9, simultaneous=True)),
    "alerts": lambda t: t.operating_points(
        0.3, fpr=0.3, alerts=300, per=1000, guarantee=0.9, columns="all"
    ),
    "leaders": lambda t: t.crossings(recall=0.4, metric="precision", leaders=True),
    "dominance": lambda t: t.crossings(of="roc", leaders=True),
    "crossings": lambda t: t.crossings(of="roc"),
    "decision": lambda t: t.decide(0.1, recall=0.3).table.select(pl.exclude("^precision_at_half.*$")),
}
PAIRED: dict[str, Ask] = {
    "areas": lambda t: t.compare(0.1, metrics="roc_auc", confidence=0.9, columns="all"),
    "holm": lambda t: t.compare(
        [0.1, 0.2], metrics="roc_auc", adjust="holm", confidence=0.9, columns="all"
    ),
    "target": lambda t: t.compare(0.1, recall=0.3, confidence=0.9, columns="all"),
    "threshold": lambda t: t.compare(
        0.1, threshold=8, metrics=["precision", "recall", "f1"], columns="all"
    ),
    "ranking": lambda t: t.ranking(0.1, metric="roc_auc", confidence=0.9, columns="all"),
}
AVERAGE: dict[str, Ask] = {
    "average precision": lambda t: t.compare(
        [0.1, None], metrics="average_precision", confidence=0.9, columns="all"
    ),
    "ranking by it": lambda t: t.ranking(metric="average_precision", confidence=0.9, columns="all"),
}


def leave_out_lowest(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a table but those that flag everything, which no threshold does here."""
    if "threshold" not in table.columns:
        return table
    return table.filter(pl.col("threshold").is_null() | (pl.col("threshold") > -math.inf))


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("name", [*ASKED, *EAGER])
def test_they_are_as_a_score_below_all_others(name: str) -> None:
    ask = {**ASKED, **EAGER}[name]
    bound = prc(SCORED, **WORDS, below=BELOW)
    found = ask(bound)
    assert_frame_equal(found, leave_out_lowest(ask(prc(LOWEST, **WORDS))), rel_tol=1e-9)
    turned = BELOW.lazy().reverse().select("n_neg", "model", "n_pos", "g")
    assert_frame_equal(ask(prc(SCORED, **WORDS, below=turned)), found)
    assert_frame_equal(ask(prc(NULLS, **WORDS, missing="below")), found)
    assert_frame_equal(ask(bound), found)  # which is from counts that were kept


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", [*PAIRED, *AVERAGE])
def test_models_are_compared_by_all_examples(name: str) -> None:
    """By null scores, by columns of a wide table, and by numbers of what each model lacks."""
    ask, words = {**PAIRED, **AVERAGE}[name], {**WORDS, "id": "id"}
    found = ask(prc(NULLS, **words, missing="below"))
    if name in PAIRED:
        assert_frame_equal(found, ask(prc(LOWEST, **words)), rel_tol=1e-9)
    wide = NULLS.pivot("model", index=["g", "id", "label"], values="score")
    assert_frame_equal(ask(prc(wide, by="g", score=["x", "y"], missing="below")), found, rel_tol=1e-12)
    some = wide.filter(pl.any_horizontal(pl.col("x", "y").is_not_null()))
    rest = wide.filter(pl.all_horizontal(pl.col("x", "y").is_null()))
    n_rest = rest.group_by("g").agg(n_pos=pl.col("label").sum(), n_neg=(~pl.col("label")).sum())
    n_rest = n_rest.join(pl.DataFrame({"model": ["x", "y"]}), how="cross")
    of_wide = prc(some, by="g", score=["x", "y"], missing="below", below=n_rest)
    assert_frame_equal(ask(of_wide), found, rel_tol=1e-9)
    assert_frame_equal(ask(prc(SCORED, **words, below=BELOW)), found, rel_tol=1e-9)


def test_numbers_have_to_fit_the_examples_that_models_share() -> None:
    words = {**WORDS, "id": "id"}
    more = BELOW.with_columns(pl.col("n_pos") + (pl.col("model") == "x"))
    none = BELOW.with_columns(n_pos=0, n_neg=0)
    for below, words_of_error in (
        (more, "add up to the same number in each; they do not in 3"),
        ((50, 50), "add up to the same number"),
        (none, "below= counts fewer, in"),
    ):
        with pytest.raises(PrcError, match=words_of_error):
            prc(SCORED, **words, below=below).compare(columns="all")
    with pytest.raises(PrcError, match="needs exactly one row per model"):
        prc(SCORED, **words).compare(0.1, columns="all")


# Average precision: positives that are never found add nothing ----------------------------------


def add_up_precision(
    score: Any, label: Any, below: tuple[float, float], eta: float | None, weight: Any = None
) -> float:
    """Return the sum of precision times the rise in recall over the scores, by its definition."""
    weight = np.ones(len(score)) if weight is None else weight
    pos, neg = weight * label, weight * (1 - label)
    total_pos, total_neg = pos.sum() + below[0], neg.sum() + below[1]
    eta = total_pos / (total_pos + total_neg) if eta is None else eta
    area = 0.0
    for threshold in np.unique(score):
        recall, fpr = (of[score >= threshold].sum() for of in (pos, neg))
        recall, fpr = recall / total_pos, fpr / total_neg if total_neg else 0.0
        precision = recall * eta / (recall * eta + fpr * (1 - eta)) if recall else 0.0
        area += precision * pos[score == threshold].sum() / total_pos
    return area


@pytest.mark.parametrize("eta", [None, 0.05, 0.7])
@pytest.mark.parametrize("below", [(7, 30), (0, 12), (9, 0), (5, None)])
def test_average_precision_and_its_error(eta: float | None, below: Any) -> None:
    """The error is that of the derivatives by the weight of each example, also of those below."""
    if eta is not None and below[1] is None:
        return
    rng = np.random.default_rng(3)
    label = (rng.random(80) < 0.4).astype(float)
    score = rng.integers(0, 15, 80) + 3.0 * label
    table = prc(pl.DataFrame({"score": score, "label": label.astype(int)}), below=below)
    row = table.summary(eta, metrics="average_precision", confidence=0.95, columns="all").row(
        0, named=True
    )
    n_pos, n_neg = below[0], below[1] or 0
    value = add_up_precision(score, label, (n_pos, n_neg), eta)
    assert row["value"] == pytest.approx(value, rel=1e-12)
    step, square = 1e-6, 0.0
    for i in range(len(score)):
        weight = np.ones(len(score))
        weight[i] += step
        moved = add_up_precision(score, label, (n_pos, n_neg), eta, weight)
        square += ((moved - value) / step) ** 2
    for n, more in ((n_pos, (step, 0)), (n_neg, (0, step))):
        moved = add_up_precision(score, label, (n_pos + more[0], n_neg + more[1]), eta)
        square += n * ((moved - value) / step) ** 2
    assert row["standard_error"] == pytest.approx(math.sqrt(square), rel=1e-4)


def test_the_error_is_that_of_the_docs() -> None:
    """Of docs/formulas.md: influences times P, which do not read how many negatives there are."""
    rng = np.random.default_rng(5)
    label = rng.random(80) < 0.4
    score, n_missed = rng.normal(size=80) + label, 7
    table = prc(pl.DataFrame({"score": score, "label": label}), below=(n_missed, None))
    found = table.summary(metrics="average_precision", confidence=0.95, columns="all").row(0, named=True)
    label = label[np.argsort(-score)]
    alerts, n_pos = np.arange(1, 81), label.sum() + n_missed
    precision = np.cumsum(label) / alerts
    area = precision[label].sum() / n_pos

    def add_below(values: Any) -> Any:
        return np.cumsum((values * label)[::-1])[::-1]

    of_found = (precision - area + add_below((1 - precision) / alerts))[label]
    of_returned = -add_below(precision / alerts)[~label]
    square = (of_found**2).sum() + n_missed * area**2 + (of_returned**2).sum()
    assert found["value"] == pytest.approx(area, rel=1e-12)
    assert found["standard_error"] == pytest.approx(math.sqrt(square) / n_pos, rel=1e-9)


def test_nothing_found_is_an_interval_from_0() -> None:
    none = pl.DataFrame({"score": [3, 2, 1], "label": [0, 0, 0]})
    row = (
        prc(none, below=(20, None))
        .summary(metrics="average_precision", confidence=0.95, columns="all")
        .row(0, named=True)
    )
    assert row["value"] == row["low"] == 0
    assert 0.1 < row["high"] < 0.4
    assert row["doubt"] is None


def test_a_run_and_its_judgements() -> None:
    """What trec_eval prints for its own test data: MAP 0.1785 and P_10 0.3000 over three topics."""
    data = pl.read_csv(Path(__file__).parent / "data" / "trec_run.csv")
    ranks = data.select("topic", rank=pl.int_ranges(1, pl.col("returned") + 1)).explode(
        "rank", empty_as_null=False
    )
    hits = data.select("topic", rank=pl.col("ranks").str.split(" ").cast(pl.List(pl.Int64)))
    hits = hits.explode("rank", empty_as_null=False).with_columns(label=pl.lit(True))
    run = ranks.join(hits, on=["topic", "rank"], how="left").with_columns(
        pl.col("label").fill_null(False), score=-pl.col("rank")
    )
    found = hits.group_by("topic").len()
    below = data.join(found, on="topic").select("topic", n_pos=pl.col("relevant") - pl.col("len"))
    assert below["n_pos"].sum() == 561 - 131
    table = prc(run, by="topic", below=below)
    areas = table.summary(metrics="average_precision", confidence=0.95, columns="all")
    assert areas["value"].round(4).to_list() == [0.0324, 0.4175, 0.0858]
    assert f"{areas['value'].mean():.4f}" == "0.1785"
    assert areas["eta"].null_count() == areas["n_neg"].null_count() == 3
    top = table.operating_points(threshold=-10, metrics="precision", columns="all")
    assert top["precision"].to_list() == pytest.approx([0.2, 0.7, 0.0])
    assert f"{top['precision'].mean():.4f}" == "0.3000"


# Negatives that are not counted -----------------------------------------------------------------


UNKNOWN = BELOW.with_columns(n_neg=None)
OF_FOUND: dict[str, Ask] = {
    "sweep": lambda t: t.sweep(),
    "curve": lambda t: t.curve(metrics=["precision", "f1", "recall", "jaccard", "fdr"]),
    "sure curve": lambda t: t.curve(metrics=["precision", "recall", "jaccard", "fdr"], confidence=0.9),
    "points": lambda t: t.operating_points(recall=0.3, precision=0.5, maximize="f1", columns="all"),
    "summary": lambda t: t.summary(
        metrics=["average_precision", "pr_auc", *AT_THRESHOLDS[1:]], columns="all"
    ),
    "envelope": lambda t: t.summary(metrics="average_precision_interpolated", columns="all"),
    "coarse": lambda t: t.summary(metrics="average_precision", coarse=True, columns="all"),
    "promise": lambda t: t.operating_points(recall=[0.3, 0.5], guarantee=0.9, columns="all"),
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", OF_FOUND)
def test_what_was_found_does_not_depend_on_negatives_below(name: str) -> None:
    ask = OF_FOUND[name]
    found = ask(prc(SCORED, **WORDS, below=UNKNOWN))
    of_negatives = [n for n in ("eta", "n_neg", "tn", "fpr") if n in found.columns]
    assert of_negatives
    assert all(found[name].null_count() == found.height for name in of_negatives)
    rest = found.drop(of_negatives, "n_neg_needed", strict=False)
    for n_neg in (0, 5000):
        known = ask(prc(SCORED, **WORDS, below=BELOW.with_columns(n_neg=n_neg)))
        assert_frame_equal(rest, known.select(rest.columns), rel_tol=1e-9)
    for other in (BELOW.drop("n_neg"), BELOW.with_columns(n_neg=pl.lit(None, dtype=pl.Int64)).lazy()):
        if isinstance(other, pl.DataFrame):
            assert_frame_equal(ask(prc(SCORED, **WORDS, below=other)), found)


def test_no_threshold_has_the_precision_of_all() -> None:
    """Of what was returned 1 of 3 is positive, of all 6 of 8, which no threshold flags."""
    df = pl.DataFrame({"score": [3, 2, 1], "label": [0, 0, 1]})
    area = prc(df, below=(5, 0)).summary(metrics="average_precision_interpolated", columns="all")
    assert area["value"].to_list() == pytest.approx([1 / 3 / 6])


def test_precision_of_what_was_returned_is_binomial() -> None:
    curve = prc(SCORED.filter(g="a", model="x"), below=(4, None)).curve(confidence=0.9)
    cells = curve.select("tp", "fp", "fn", "tn").with_columns(tn=0)
    wilson = cells.select(n=pl.col("tp") + pl.col("fp"), p=pl.col("tp") / (pl.col("tp") + pl.col("fp")))
    z = 1.6448536269514722
    middle = (pl.col("p") + z * z / (2 * pl.col("n"))) / (1 + z * z / pl.col("n"))
    half = z / (1 + z * z / pl.col("n"))
    spread = pl.col("p") * (1 - pl.col("p")) / pl.col("n") + z * z / (4 * pl.col("n") ** 2)
    low = wilson.select(middle - half * spread.sqrt()).to_series()
    assert curve["precision_low"].to_list() == pytest.approx(low.to_list(), rel=1e-9)


@pytest.mark.quick_cases(14)
@pytest.mark.parametrize("metric", [*POINT_METRICS.values(), *CURVE_METRICS.values()], ids=str)
def test_a_metric_answers_or_needs_the_negatives(metric: Any) -> None:
    """No metric has a value that would be another one if the negatives were counted."""
    df, words = SCORED.filter(g="a", model="x"), {"metrics": metric}
    method = "curve" if metric in POINT_METRICS.values() else "summary"
    is_of_hull = method == "summary" and metric.recipe.on_hull
    values = []
    for below in ((4, None), (4, 9), (4, 900)):
        ask = getattr(prc(df, below=below), method)
        if below[1] is None and (is_of_hull or needs_negatives(metric)):
            with pytest.raises(PrcError, match="convex hull" if is_of_hull else "are not counted"):
                ask(**words)
            return
        table = ask(**words)
        values.append(table[metric.name if method == "curve" else "value"].to_list())
    assert values[0] == pytest.approx(values[1], rel=1e-9, nan_ok=True)
    assert values[0] == pytest.approx(values[2], rel=1e-9, nan_ok=True)
    assert metric.name not in ("fpr", "specificity", "npv", "lift", "roc_auc", "auprg")


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.curve(0.1),
        lambda t: t.curve([None, 0.1]),
        lambda t: t.curve(pl.DataFrame({"eta": [0.1]})),
        lambda t: t.summary(0.1, metrics="average_precision", columns="all"),
        lambda t: t.operating_points(fpr=0.1, columns="all"),
        lambda t: t.operating_points(recall=0.1, per=100, columns="all"),
        lambda t: t.operating_points(alerts=5, per=100, columns="all"),
        lambda t: t.operating_points(precision=0.5, guarantee=0.9, columns="all"),
        lambda t: t.operating_points(maximize="mcc", columns="all"),
        lambda t: t.compare(paired=False, metrics="roc_auc", columns="all"),
        lambda t: t.ranking(metric="roc_auc", columns="all"),
        lambda t: t.summary(metrics=metrics.recall_at_fpr(0.001), columns="all"),
        lambda t: t.summary(metrics=metrics.best("lift"), columns="all"),
        lambda t: t.summary(metrics=metrics.integrated("pr_auc", 0.01, 0.5), columns="all"),
        lambda t: t.curve(metrics=metrics.net_benefit(0.2)),
        lambda t: t.counts(),
        lambda t: t.crossings(),
        lambda t: t.crossings(leaders=True),
        lambda t: t.crossings(of="roc", leaders=True),
        lambda t: t.decide(recall=0.5),
        lambda t: t.plot.roc_curve(),
        lambda t: t.plot.gain_curve(),
        lambda t: t.plot.threshold_curve(),
    ],
)
def test_what_needs_negatives_says_so(ask: Ask) -> None:
    with pytest.raises(PrcError, match="negatives are not counted"):
        ask(prc(SCORED, **WORDS, below=(4, None)))


# Groups, counts, and what does not fit ----------------------------------------------------------


def test_a_group_may_have_no_row() -> None:
    below = pl.DataFrame({"g": ["c", None, "a"], "n_pos": [3, 2, 0], "n_neg": [5, 0, 0]})
    df = pl.DataFrame({"g": ["a", "a", "b"], "score": [3, 2, 1], "label": [1, 0, 1]})
    table = prc(df, by="g", below=below)
    areas = table.summary(metrics=["average_precision", "roc_auc", *AT_THRESHOLDS[:2]], columns="all")
    assert areas["g"].unique(maintain_order=True).to_list() == [None, "a", "b", "c"]
    of_c = areas.filter(g="c")
    assert of_c["value"].to_list() == [0.0, 0.5, None, None]
    assert of_c["n_pos"].to_list() == [3] * 4
    assert table.sweep()["g"].to_list() == ["a", "a", "b"]
    point = table.operating_points(recall=0.1, columns="all").filter(g="c")
    assert point["threshold"].to_list() == [None]
    assert point["precision"].to_list() == [None]
    none = table.operating_points(threshold=9, columns="all").filter(g="c").row(0, named=True)
    assert (none["tp"], none["fn"], none["tn"], none["recall"]) == (0, 3, 5, 0.0)
    assert prc(df.clear(), below=(2, 3)).summary(metrics="roc_auc", columns="all")[
        "value"
    ].to_list() == [0.5]
    assert prc(df.clear(), by="g", below=(2, 3)).summary(columns="all").is_empty()
    nothing = pl.DataFrame({"g": ["z"], "n_pos": [0], "n_neg": [0]})
    assert "z" not in prc(df, by="g", below=nothing).summary(columns="all")["g"]


def test_counts_hold_them_and_add_up() -> None:
    counts = prc(SCORED, **WORDS, below=BELOW).counts()
    below = counts.filter(pl.col("score").is_null())
    assert_frame_equal(below.drop("score"), BELOW, check_row_order=False, check_dtypes=False)
    assert_frame_equal(counts, prc(NULLS, **WORDS, missing="below").counts())
    again = prc(counts, **WORDS, counts=("n_pos", "n_neg"), missing="below")
    asked: dict[str, Any] = {"metrics": ["average_precision", "roc_auc"], "confidence": 0.9}
    expected = prc(NULLS, **WORDS, missing="below").summary([0.1, None], columns="all", **asked)
    assert_frame_equal(again.summary([0.1, None], columns="all", **asked), expected)


def test_both_words_add_up() -> None:
    df = pl.DataFrame({"score": [0.9, 0.4, None], "label": [1, 0, 1]})
    both = prc(df, missing="below", below=(3, 5)).summary(metrics="roc_auc", columns="all")
    assert both.row(0)[1:3] == (5, 6)
    assert prc(df, missing="below", below=(0, None)).summary(columns="all")["n_pos"].to_list() == [2, 2]


@pytest.mark.parametrize(
    ("below", "words"),
    [
        (5, "takes two whole numbers"),
        ("ab", "takes two whole numbers"),
        ((1,), "takes two whole numbers"),
        ((1, 2, 3), "takes two whole numbers"),
        ((1.5, 2), "of positives, takes a whole number"),
        ((None, 2), "of positives, takes a whole number"),
        ((-1, 2), "of positives, takes a whole number of at least 0"),
        ((1, 2**60), "of negatives, takes a whole number of at most"),
        (pl.DataFrame({"g": ["a"], "n": [1]}), "with the group columns, n_pos and n_neg; got g, n"),
        (
            pl.DataFrame({"g": ["a"], "n_pos": [1], "n_negs": [2]}),
            "column 'n_negs' of the below= frame to n_neg",
        ),
        (pl.DataFrame({"n_pos": [1], "n_neg": [2]}), "add the group column 'g'"),
        (pl.DataFrame({"g": [1], "n_pos": [1], "n_neg": [2]}), "column 'g' to one dtype: it is Int64"),
        (
            pl.DataFrame({"g": ["a"], "n_pos": [1.0], "n_neg": [2]}),
            "'n_pos' of the below= frame to integers; it is Float",
        ),
        (
            pl.DataFrame({"g": ["a"], "n_pos": [None], "n_neg": [2]}),
            "'n_pos' of the below= frame to integers; it is Null",
        ),
        (pl.DataFrame({"g": ["a", "a"], "n_pos": [1, 2], "n_neg": [2, 2]}), "repeats a group in 2 row"),
        (
            pl.DataFrame({"g": ["a", "b"], "n_pos": [1, 2], "n_neg": [2, None]}),
            "null in all rows, or in",
        ),
        (pl.DataFrame({"g": ["a"], "n_pos": [-1], "n_neg": [2]}), "a number below 0"),
        (
            pl.DataFrame({"g": ["a"], "model": ["x"], "n_pos": [1], "n_neg": [2]}),
            "'model' out of the below= frame",
        ),
    ],
)
def test_numbers_that_are_none_are_refused(below: Any, words: str) -> None:
    for frame in (SCORED, SCORED.lazy()):
        with pytest.raises(PrcError, match=words):
            prc(frame).sweep(by="g", below=below)


def test_a_frame_without_groups_has_one_row() -> None:
    below = pl.DataFrame({"n_pos": [4], "n_neg": [9]})
    found = prc(SCORED, below=below).summary(metrics="roc_auc", columns="all")
    assert_frame_equal(found, prc(SCORED, below=(4, 9)).summary(metrics="roc_auc", columns="all"))
    with pytest.raises(PrcError, match="repeats a group in 2 row"):
        prc(SCORED, below=pl.concat([below, below])).summary(columns="all")


@pytest.mark.parametrize("method", [m for m, words in USES.items() if "below" not in words])
def test_a_method_that_has_no_use_for_them_raises(method: str) -> None:
    if method == "reweight":
        return  # its call is one of a field
    frame, given = PLAIN[method]
    for words, said in (
        ({"below": (2, 3)}, "leave out below="),
        ({"missing": "below"}, "needs a score in each row"),
    ):
        with pytest.raises(PrcError, match=said):
            getattr(prc(frame), method)(**{**given, **words})
        with pytest.raises(PrcError, match=said):
            getattr(prc(frame, **words), method)(**given)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_a_score_that_is_no_number_lies_below(dtype: Any) -> None:
    score = pl.Series([0.9, math.nan, 0.5, None] * 6, dtype=dtype)
    df = pl.DataFrame({"score": score, "other": score.reverse(), "label": [1, 0, 0, 1, 1, 0] * 4})
    nulls = df.with_columns(pl.col("score", "other").fill_nan(None))
    for words in ({}, {"score": ["score", "other"]}):
        found, expected = (prc(frame, missing="below", **words) for frame in (df, nulls))
        for method in ("sweep", "summary", "counts"):
            assert_frame_equal(getattr(found, method)(), getattr(expected, method)())
    found, expected = (prc(frame, missing="below", score=["score", "other"]) for frame in (df, nulls))
    assert_frame_equal(found.compare(0.1), expected.compare(0.1))


def test_only_a_missing_score_lies_below() -> None:
    df = pl.DataFrame({"score": [0.9, 0.5, None], "label": [1, 0, 1]})
    for label in ([1, None, 1], [1, 2, 1]):
        with pytest.raises(PrcError, match="label column 'label'"):
            prc(df.with_columns(score=1.0, label=pl.Series(label)), missing="below").sweep()
    unlabelled = pl.DataFrame({"score": [0.9, None], "label": [1, None]})
    with pytest.raises(PrcError, match="null in 1 row"):
        prc(unlabelled, missing="below").sweep()
    floats = pl.DataFrame({"score": [1, None], "p": [1.0, 2.0], "n": [1.0, 2.0]})
    with pytest.raises(PrcError, match=r"cast counts= to integers.*got floats"):
        prc(floats, counts=("p", "n"), missing="below").sweep()


def test_a_hull_is_not_known() -> None:
    with pytest.raises(PrcError, match=r"^leave out roc_auc_hull.*a convex hull is not known"):
        prc(SCORED, below=(1, 1)).summary(metrics="roc_auc_hull", columns="all")


def test_a_chart_says_among_what_it_is() -> None:
    table = prc(SCORED.filter(g="a"), model="model", below=(9, None))
    for chart in (table.plot.pr_curve(), table.plot.alerts(recall=0.2)):
        assert "among what was returned" in str(chart.to_dict())
        assert "fewer than" in str(chart.to_dict()) or "right" in str(chart.to_dict())
    with pytest.raises(PrcError, match="draws scores"):
        prc(SCORED, below=(1, 1)).plot.reliability()


def test_a_roc_chart_says_the_area_with_those_below() -> None:
    table = prc(SCORED, by="g", below=count_below(NULLS, "g"))
    areas = table.summary(metrics="roc_auc", columns="all")["value"]
    drawn = str(table.plot.roc_curve(facet="g").to_dict())
    assert "ROC AUC " in drawn
    assert all(f"{area:.2f} for " in drawn for area in (areas.min(), areas.max()))


def test_a_bound_table_shows_its_words() -> None:
    assert "below=[2, None]" in repr(prc(SCORED, below=(2, None)))
    assert "below=a DataFrame" in repr(prc(SCORED, **WORDS, below=BELOW))


# Random tables ----------------------------------------------------------------------------------


@given(table=tables(weights=[""], labels=False), share=st.floats(0, 1), data=st.data())
def test_random_tables(table: Table, share: float, data: st.DataObject) -> None:
    """Rows below a score, as null scores and as numbers, beside one score in place of them all."""
    frame = table.frame
    at = int(share * frame.height)
    cut = frame["score"].sort()[at] if at < frame.height else None
    is_below = pl.col("score") < cut if cut is not None else pl.lit(False)
    merged = frame.with_columns(
        pl.when(is_below).then(pl.col("score").min()).otherwise("score").alias("score")
    )
    nulls = frame.with_columns(pl.when(~is_below).then("score").alias("score"))
    lowest = frame["score"].min() if frame.select(is_below.any()).item() else None
    scored = nulls.filter(pl.col("score").is_not_null())
    amounts = [
        pl.col("label").sum().cast(pl.Int64).alias("n_pos"),
        (~pl.col("label")).sum().cast(pl.Int64).alias("n_neg"),
    ]
    rows = nulls.filter(pl.col("score").is_null())
    below: Any = rows.group_by(table.by).agg(amounts) if table.by else rows.select(amounts)
    if not table.by and data.draw(st.booleans()):
        below = below.row(0)
    eta = data.draw(st.sampled_from([None, 0.01, 0.5]))
    asks: list[Ask] = [
        lambda t: t.sweep(),
        lambda t: t.curve(eta, metrics=["precision", "mcc"]),
        lambda t: t.summary(eta, metrics=ROC, columns="all"),
        lambda t: t.summary(metrics="roc_auc", confidence=0.9, columns="all"),
    ]
    for ask in asks:
        expected = ask(prc(merged, by=table.by))
        if lowest is not None and "threshold" in expected.columns:
            expected = expected.filter(pl.col("threshold") != lowest)
        for door in (prc(scored, by=table.by, below=below), prc(nulls, by=table.by, missing="below")):
            assert_frame_equal(ask(door), expected, rel_tol=1e-9)


def test_precision_at_a_recall_needs_no_number_of_negatives() -> None:
    df = pl.DataFrame({"score": [5, 4, 3, 2, 1], "label": [1, 0, 1, 1, 0]})
    asked = [f"precision_at_recall({recall})" for recall in (0.5, 0.59, 0.61, 0.949, 1)]
    for missed in (0, 2, 50):  # whether the recall was found or not
        counted, uncounted = (
            df.prc(below=(missed, n)).summary(metrics=asked, columns="all")["value"] for n in (10, None)
        )
        assert_series_equal(counted, uncounted)
        assert counted.has_nulls() is (missed > 0)
