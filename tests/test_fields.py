"""Fields of several parts: counts as those of weights, bands with a distance per part, and promises."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import special

from polars_prcurve import PrcError, field, intervals, metrics, rate_interval
from tests.support.all_metrics import ALL_POINT_METRICS
from tests.support.oracle_errors import raise_end_of_recall
from tests.support.profiles import examples

METRICS = [metric for metric in ALL_POINT_METRICS if metric.falls_with_fpr]
FEW: list[Any] = ["precision", "recall", "npv", "mcc", "f1", "lift"]
COUNTS = ["tp", "fp", "fn", "tn"]
EFFECTIVE = ["n_pos_effective", "n_neg_effective", "fp_effective"]
ESTIMATES = ["eta_low", "eta_high"]


@st.composite
def fields(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A table with both classes in every part of two groups, and the etas and shares of its parts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.sampled_from([12, 60, 300]))
    parts = ["de", "fr", None][: draw(st.integers(1, 3))]
    keys = [(g, c, label) for g in (0, 1) for c in parts for label in (True, False)]
    rows = keys + [keys[i] for i in rng.integers(0, len(keys), n)]
    table = pl.DataFrame(rows, schema={"g": pl.Int64, "c": pl.String, "label": pl.Boolean}, orient="row")
    score = rng.normal(size=table.height) + draw(st.sampled_from([0.5, 2.0])) * table["label"].to_numpy()
    table = table.with_columns(score=pl.Series(score).round(draw(st.sampled_from([0, 1, 9]))))
    etas = [draw(st.sampled_from([None, 0.01, 0.1, 0.4, 0.9])) for _ in parts]
    frame = pl.DataFrame(
        {"c": parts, "eta": etas, "share": [draw(st.integers(1, 5)) for _ in parts]},
        schema={"c": pl.String, "eta": pl.Float64, "share": pl.Float64},
    )
    return table.sample(fraction=1, shuffle=True, seed=1), frame


def with_ends(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with intervals of its prevalences; the first one is exact."""
    eta, first = pl.col("eta"), pl.int_range(pl.len()) == 0
    ends = {"eta_low": eta * 0.5, "eta_high": eta + (1 - eta) * 0.3}
    return frame.with_columns(pl.when(~first).then(end).alias(name) for name, end in ends.items())


@examples(60)
@given(fields(), st.booleans())
def test_values_are_those_of_weights(tables: Any, by: bool) -> None:
    table, frame = tables
    how: dict[str, Any] = {"by": "g" if by else None}
    weighted = table.prc.reweight(field(frame, parts="c"), **how)
    asked: dict[str, Any] = {"metrics": FEW, **how}
    found = table.prc.curve(field(frame, parts="c"), **asked)
    assert_frame_equal(found.drop(EFFECTIVE), weighted.prc.curve(weight="weight", **asked))
    asked |= {"precision": 0.5, "recall": 0.5, "threshold": [0.1, 99], "maximize": "f1"}
    points = table.prc.operating_points(field(frame, parts="c"), columns="all", **asked)
    expected = weighted.prc.operating_points(weight="weight", columns="all", **asked)
    assert_frame_equal(points, expected)
    counted = table.group_by("g", "c", "score").agg(
        n_pos=pl.col("label").sum(), n_neg=(~pl.col("label")).sum()
    )
    aggregated = counted.prc.curve(
        field(frame, parts="c"), counts=("n_pos", "n_neg"), **how, metrics=FEW
    )
    assert_frame_equal(aggregated, found)


# Bands against their definition in plain numbers -----------------------------------------------


def list_parts(table: pl.DataFrame, frame: pl.DataFrame, threshold: float) -> Iterator[dict[str, Any]]:
    """The rates, the prevalence and the share of each part at a threshold."""
    whole = frame["share"].sum()
    for row in frame.to_dicts():
        rows = table.filter(pl.col("c").eq_missing(row["c"]))
        flagged, label = rows["score"] >= threshold, rows["label"]
        tp, p, fp, n = (int(x.sum()) for x in (flagged & label, label, flagged & ~label, ~label))
        eta = p / (p + n) if row["eta"] is None else row["eta"]
        ends = [eta if row.get(name) is None else row[name] for name in ESTIMATES]
        yield {
            "tp": tp,
            "p": p,
            "fp": fp,
            "n": n,
            "eta": eta,
            "share": row["share"] / whole,
            "ends": ends,
        }


def mix(parts: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Recall, fpr and prevalence of the field, from those of its parts."""
    eta = sum(part["share"] * part["eta"] for part in parts)
    recall = sum(part["share"] * part["eta"] * part["recall"] for part in parts) / eta
    fpr = sum(part["share"] * (1 - part["eta"]) * part["fpr"] for part in parts) / (1 - eta)
    return recall, fpr, eta


def to_scale(metric: Any, value: float) -> float:
    low, high = (-math.inf, math.inf) if metric.is_linear else metric.range
    if math.isinf(high):
        return math.log(value - low) if value > low + 1e-12 or low == 0 < value else -math.inf
    below, above = value - low, high - value
    if below < (0 if low == 0 else 1e-12) or below == 0:
        return -math.inf
    return math.inf if above < 1e-12 else math.log(below / above)


def expected_limits(parts: list[dict[str, Any]], of_recall: bool) -> tuple[float, float]:
    """The interval of recall or fpr of a field: that of its effective size, or of one part alone."""
    hit, total = ("tp", "p") if of_recall else ("fp", "n")

    def find_interval(k: float, n: float) -> tuple[float, float]:
        low, high = rate_interval(k, n)
        return low, raise_end_of_recall(k, n, high, 0.95) if of_recall else high

    weights = [part["share"] * (part["eta"] if of_recall else 1 - part["eta"]) for part in parts]
    weights = [weight / sum(weights) for weight in weights]
    rates = [part[hit] / part[total] for part in parts]
    rate = sum(w * r for w, r in zip(weights, rates, strict=True))
    even = sum(w * w / part[total] for w, part in zip(weights, parts, strict=True))
    spread = sum(
        w * w * r * (1 - r) / part[total] for w, r, part in zip(weights, rates, parts, strict=True)
    )
    size = 1 / even if rate * (1 - rate) <= 0 else 1 / max(even, spread / (rate * (1 - rate)))
    low, high = find_interval(rate * size, size)
    for weight, part, own in zip(weights, parts, rates, strict=True):
        part_low, part_high = find_interval(part[hit], part[total])
        low = min(low, rate - weight * (own - part_low))
        high = max(high, rate + weight * (part_high - own))
    return max(low, 0.0), min(high, 1.0)


def expected_low(metric: Any, parts: list[dict[str, Any]], least: tuple[int, int]) -> float | None:
    """The low end of a band on the unbounded scale; None where no distance is defined."""
    for part in parts:
        part["recall"], part["fpr"] = part["tp"] / part["p"], part["fp"] / part["n"]
    recall, fpr, eta = mix(parts)
    middle = to_scale(metric, metric(recall, fpr, eta))
    if math.isinf(middle) or math.isnan(middle):
        return None
    at_recall = metric(expected_limits(parts, of_recall=True)[least[0]], fpr, eta)
    at_fpr = metric(recall, expected_limits(parts, of_recall=False)[least[1]], eta)
    squares = sum((middle - to_scale(metric, value)) ** 2 for value in (at_recall, at_fpr))
    for i, part in enumerate(parts):
        moved = [
            to_scale(metric, metric(*mix([*parts[:i], part | {"eta": end}, *parts[i + 1 :]])))
            for end in part["ends"]
        ]
        squares += max(0.0, middle - min(moved)) ** 2
    return middle - math.sqrt(squares)


@examples(60)
@given(fields(), st.sampled_from(["precision", "npv", "mcc", "f1", "recall"]), st.booleans())
def test_bands_by_definition(tables: Any, name: str, uncertain: bool) -> None:
    table, frame = tables
    frame = with_ends(frame) if uncertain else frame
    metric = getattr(metrics, name)
    found = table.prc.curve(field(frame, parts="c"), metrics=metric, confidence=0.95)
    for row in found[:: max(1, found.height // 5)].to_dicts():
        parts = list(list_parts(table, frame, row["threshold"]))
        low = None if row[name] is None else expected_low(metric, parts, (0, 1))
        if low is not None:
            assert to_scale(metric, row[f"{name}_low"]) == pytest.approx(low, rel=1e-6, abs=1e-6)
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]


@examples(40)
@given(fields(), st.sampled_from([0.01, 0.3, 0.9]), st.booleans())
def test_a_field_of_one_part_is_that_part(tables: Any, eta: float, uncertain: bool) -> None:
    table, frame = tables
    table = table.filter(pl.col("c") == "de")
    alone = frame.head(1).with_columns(eta=pl.lit(eta))
    plain = pl.DataFrame({"eta": [eta]})
    if uncertain:
        ends = {"eta_low": eta / 2, "eta_high": (1 + eta) / 2}
        alone, plain = (one.with_columns(**ends) for one in (alone, plain))
    asked: dict[str, Any] = {"by": "g", "metrics": METRICS, "confidence": 0.9}
    found = table.prc.curve(field(alone, parts="c"), **asked)
    expected = table.prc.curve(plain, **asked)
    sizes = expected.select(pl.col("tp") + pl.col("fn"), pl.col("fp") + pl.col("tn"), f="fp")
    for name, size in zip(EFFECTIVE, sizes, strict=True):  # of one part, examples weigh alike
        assert found[name].to_list() == pytest.approx(size.to_list())
    found = found.drop(EFFECTIVE)
    expected = expected.select(found.columns)
    assert_frame_equal(found.drop(COUNTS), expected.drop(COUNTS), abs_tol=1e-9, rel_tol=1e-7)


@pytest.mark.parametrize(("eta", "rate", "label"), [(0.0, "recall", False), (1.0, "fpr", True)])
def test_a_part_without_a_class_takes_nothing_from_the_other_rate(
    eta: float, rate: str, label: bool
) -> None:
    """A part in which none is positive says nothing on recall, and it may lack positives in the test."""
    table = DF.filter((pl.col("c") == "de") | (pl.col("label") == label))
    frame = ETAS.with_columns(eta=pl.when(pl.col("c") == "de").then(0.1).otherwise(eta))
    asked: dict[str, Any] = {"metrics": [rate], "confidence": 0.95}
    found = table.prc.curve(field(frame, parts="c"), **asked)
    alone = table.filter(pl.col("c") == "de").prc.curve(
        field(frame.filter(pl.col("c") == "de"), parts="c"), **asked
    )
    ends = [f"{rate}_low", f"{rate}_high"]
    both = found.join(alone.select("threshold", pl.col(ends).name.suffix("_alone")), on="threshold")
    assert both.height > 3
    for end in ends:
        assert both[end].to_list() == pytest.approx(both[f"{end}_alone"].to_list(), rel=1e-9, abs=1e-12)


@examples(20)
@given(fields(), st.booleans())
def test_a_field_may_list_its_parts_in_any_order_and_lazily(tables: Any, uncertain: bool) -> None:
    """The queries of `test_plans` turn the rows of the table alone."""
    table, frame = tables
    frame = with_ends(frame) if uncertain else frame
    eta = field(frame, parts="c")
    asked: dict[str, Any] = {"by": "g", "confidence": 0.95, "metrics": FEW[:3]}
    for others in (frame.reverse(), frame.lazy()):
        for method, metric in (("curve", FEW[:3]), ("summary", AREAS)):
            found = getattr(table.prc, method)(eta, **asked | {"metrics": metric})
            again = getattr(table.prc, method)(field(others, parts="c"), **asked | {"metrics": metric})
            assert_frame_equal(again, found, check_exact=True)
    exact = table.prc.curve(eta, **asked | {"confidence": intervals(0.95, rate="clopper_pearson")})
    assert exact["precision"].equals(table.prc.curve(eta, **asked)["precision"])
    assert (exact["recall_low"] <= exact["recall"]).all()


# Promises -------------------------------------------------------------------------------------


def find_limits(parts: list[dict[str, Any]], alpha: float) -> dict[str, tuple[float, float]]:
    """Rates of a field with their limits on the unsafe side, by the definition."""
    eta = sum(part["share"] * part["eta"] for part in parts)
    recall = fpr = alerts = below = above = spread = 0.0
    for part in parts:
        pos, neg = part["share"] * part["eta"] / eta, part["share"] * (1 - part["eta"]) / (1 - eta)
        (tp, p), (fp, n) = (part["tp"], part["p"]), (part["fp"], part["n"])
        low = special.betaincinv(tp, p - tp + 1, alpha) if tp else 0.0
        most = special.betaincinv(tp + 1, p - tp, 1 - alpha) if tp < p else 1.0
        high = special.betaincinv(fp + 1, n - fp, 1 - alpha) if fp < n else 1.0
        recall, fpr = recall + pos * tp / p, fpr + neg * fp / n
        below, above = below + (pos * (tp / p - low)) ** 2, above + (neg * (high - fp / n)) ** 2
        alerts += eta * pos * tp / p + (1 - eta) * neg * fp / n
        spread += (eta * pos * (most - tp / p)) ** 2 + ((1 - eta) * neg * (high - fp / n)) ** 2
    least, most = recall - math.sqrt(below), min(1.0, fpr + math.sqrt(above))
    return {
        "recall": (recall, least),
        "fpr": (fpr, most),
        "predicted_positive_rate": (alerts, alerts + math.sqrt(spread)),
        "precision": (0.0, find_ratio_limit((fpr, most), (recall, least))),
        "npv": (0.0, find_ratio_limit((1 - recall, 1 - least), (1 - fpr, 1 - most))),
    }


def find_ratio_limit(top: tuple[float, float], bottom: tuple[float, float]) -> float:
    """The upper limit of ln(top / bottom) by the definition, with what rounding leaves of 0."""
    (rate, high), (other, low) = top, bottom
    if low <= 1e-12:
        return math.inf
    if rate <= 1e-12:
        return math.log(high / low)
    return math.log(rate / other) + math.hypot(math.log(high / rate), math.log(other / low))


def relabel(part: dict[str, Any], name: str) -> dict[str, Any]:
    """A part with the best labels that the examples on the tested side of a threshold could have."""
    flagged = part["tp"] + part["fp"]
    if name == "precision":
        tp = min(flagged, part["p"])
        return part | {"tp": tp, "fp": flagged - tp}
    silent = part["p"] + part["n"] - flagged
    tn = min(silent, part["n"])
    return part | {"tp": part["p"] - (silent - tn), "fp": part["n"] - tn}


Steps = list[tuple[float, list[dict[str, Any]]]]


def find_start(steps: Steps, name: str, ratio: float) -> int:
    """The place of the step at which a run starts by default."""
    best = [find_limits([relabel(part, name) for part in parts], 0.1)[name][1] for _, parts in steps]
    room = min(math.log(2), (ratio - min(best)) / 4)
    for place, (_, parts) in enumerate(steps):
        flagged = sum(part["tp"] + part["fp"] for part in parts)
        n_pos, n_neg = (sum(part[of] for part in parts) for of in ("p", "n"))
        told, size = (flagged, n_pos) if name == "precision" else (n_pos + n_neg - flagged, n_neg)
        if 8 * told >= size and room >= 0 and min(best[: place + 1]) <= ratio - room:
            return place
    return len(steps)


def walk_run(steps: Steps, name: str, ratio: float) -> float | None:
    """The last score before a test fails."""
    kept = takewhile(lambda step: find_limits(step[1], 0.1)[name][1] <= ratio, steps)
    return next((score for score, _ in reversed(list(kept))), None)


@examples(60)
@given(fields(), st.sampled_from([0.1, 0.4, 0.8]), st.sampled_from([None, 1.0, -9.0]))
def test_promises_are_runs_of_limits(tables: Any, target: float, start: float | None) -> None:
    table, frame = tables
    table = table.filter(pl.col("g") == 0)
    of_field = field(frame, parts="c")
    asked: dict[str, Any] = {"guarantee": 0.9, "start": start}
    found = table.prc.operating_points(of_field, precision=target, npv=target, columns="all", **asked)
    eta = found["eta"][0]
    scores = table["score"].unique().sort(descending=True).to_list()
    steps = [(score, list(list_parts(table, frame, score))) for score in scores]
    above = [step for step in steps if start is None or step[0] >= start]
    down = [*above[-1:], *steps[len(above) :]] if above else []
    ratios = {
        "precision": eta * (1 - target) / ((1 - eta) * target),
        "npv": (1 - eta) * (1 - target) / (eta * target),
    }
    for name, ordered, asked_run in (("precision", steps, down), ("npv", steps[::-1], above[::-1])):
        ratio = math.log(ratios[name])
        run = ordered[find_start(ordered, name, ratio) :] if start is None else asked_run
        chosen = walk_run(run, name, ratio)
        assert found.filter(criterion=name)["threshold"].item() == chosen, name
    assert found["n_neg_needed"].is_null().all()
    also = table.prc.operating_points(
        of_field, fdr=1 - target, lift=target / eta, columns="all", **asked
    )
    assert also["threshold"].eq_missing(found.filter(criterion="precision")["threshold"].item()).all()


@examples(60)
@given(fields(), st.sampled_from([0.1, 0.4, 0.8]))
def test_promised_rates_are_limits(tables: Any, target: float) -> None:
    table, frame = tables
    table = table.filter(pl.col("g") == 0)
    scores = table["score"].unique().sort(descending=True).to_list()
    limits = [(score, find_limits(list(list_parts(table, frame, score)), 0.1)) for score in scores]
    of_field = field(frame, parts="c")
    asked: dict[str, Any] = {"guarantee": 0.9}
    names = ("recall", "fpr", "predicted_positive_rate")
    found = table.prc.operating_points(of_field, columns="all", **dict.fromkeys(names, target), **asked)
    by_name = dict(zip(found["criterion"], found["threshold"], strict=True))
    enough = [score for score, of in limits if of["recall"][1] >= target]
    assert by_name["recall"] == (enough[0] if enough else None)
    for name in names[1:]:
        kept = [score for score, of in limits if of[name][1] <= target]
        assert by_name[name] == (kept[-1] if kept else None), name
    budget = table.prc.operating_points(of_field, alerts=200 * target, per=200, columns="all", **asked)
    assert budget["threshold"].eq_missing(by_name["predicted_positive_rate"]).all()
    # Several targets share the error.
    both = {"recall": 0.1, "fpr": target}
    at_95 = table.prc.operating_points(of_field, columns="all", **both, **asked | {"guarantee": 0.95})
    needed, allowed = at_95["threshold"]
    common = None if needed is None or allowed is None or allowed > needed else allowed
    together = table.prc.operating_points(of_field, columns="all", **both, **asked, together=True)
    assert together["threshold"].item() == common


# Decision curves ------------------------------------------------------------------------------


@examples(20)
@given(fields())
def test_decision_curves_of_a_field(tables: Any) -> None:
    table, frame = tables
    table = table.with_columns(score=1 / (1 + (-pl.col("score")).exp()))
    asked: dict[str, Any] = {"probabilities": [0.2, 0.5], "by": "g"}
    found = table.prc.decision_curve(field(frame, parts="c"), columns="all", **asked, confidence=0.95)
    weighted = table.prc.reweight(field(frame, parts="c"), by="g").prc.decision_curve(
        weight="weight", columns="all", **asked
    )
    assert_frame_equal(found.select(weighted.columns), weighted)
    parts = list(list_parts(table.filter(g=0), frame, 0.5))
    for part in parts:
        part["recall"], part["fpr"] = part["tp"] / part["p"], part["fp"] / part["n"]
    recall, fpr, eta = mix(parts)
    low, high = expected_limits(parts, of_recall=True)[0], expected_limits(parts, of_recall=False)[1]
    squares = (eta * (recall - low)) ** 2 + ((1 - eta) * (high - fpr)) ** 2
    row = found.filter(g=0, threshold_probability=0.5).row(0, named=True)
    assert row["net_benefit"] == pytest.approx(eta * recall - (1 - eta) * fpr, abs=1e-12)
    assert row["net_benefit_low"] == pytest.approx(row["net_benefit"] - math.sqrt(squares), abs=1e-12)


def test_decision_curves_take_posteriors_as_they_stand() -> None:
    posteriors = DF.with_columns(pl.col("score") / 10)
    with pytest.raises(PrcError, match="leave out eta_train=: a field takes posteriors as they stand"):
        posteriors.prc.decision_curve(field(ETAS, parts="c"), eta_train=0.5, columns="all")


def test_thresholds_of_parts_are_refused_and_shifted_scores_take_their_place() -> None:
    """A field has one threshold; scores less the threshold of their part have it at 0."""
    own = ETAS.select("c").with_columns(threshold=pl.int_range(pl.len()) * 0.5)
    for frame in (own, own.lazy()):
        with pytest.raises(PrcError, match=r"by= instead of field.*a column of parts, 'c'"):
            DF.prc.operating_points(field(ETAS, parts="c"), threshold=frame, columns="all")
    with pytest.raises(PrcError, match="the start= frame has a column of parts, 'c'"):
        DF.prc.operating_points(
            field(ETAS, parts="c"), precision=0.2, guarantee=0.9, start=own, columns="all"
        )
    moved = DF.join(own, on="c").with_columns(pl.col("score") - pl.col("threshold"))
    found = moved.prc.operating_points(field(ETAS, parts="c"), threshold=0, columns="all")
    parts = DF.prc.operating_points(by="c", threshold=own, columns="all").join(ETAS.drop("eta"), on="c")
    share, eta = pl.col("share") / pl.col("share").sum(), ETAS["eta"]
    of_pos, of_neg = share * eta, share * (1 - eta)
    recall = (of_pos * pl.col("recall")).sum() / of_pos.sum()
    fpr = (of_neg * pl.col("fpr")).sum() / of_neg.sum()
    expected = parts.sort("c").select(recall=recall, fpr=fpr)
    assert_frame_equal(found.select("recall", "fpr"), expected, rel_tol=1e-12)


def test_charts_mark_points_of_a_field_and_of_several_targets() -> None:
    pytest.importorskip("altair")
    from polars_prcurve.charts import threshold_curve

    table = pl.concat([DF] * 20)
    asked: dict[str, Any] = {"precision": 0.2, "guarantee": 0.9}
    of_field = table.prc.operating_points(field(ETAS, parts="c"), columns="all", **asked)
    several = table.prc.operating_points(0.2, recall=0.2, together=True, columns="all", **asked)
    curves = table.prc.curve(field(ETAS, parts="c"), metrics=["precision"]), table.prc.curve(0.2)
    for curve, points in zip(curves, (of_field, several), strict=True):
        drawn = threshold_curve(curve, points=points).to_json()
        assert f"{points['criterion'].item()}, threshold {points['threshold'].item()}" in drawn.replace(
            " 0.2,", ","
        )
        assert (
            "Thin rule with two ends: from the first to the last threshold for which that holds" in drawn
        )


# Areas ----------------------------------------------------------------------------------------

AREAS = ["average_precision", "roc_auc"]


@examples(40)
@given(fields(), st.booleans())
def test_areas_are_those_of_weights(tables: Any, by: bool) -> None:
    table, frame = tables
    how: dict[str, Any] = {"by": "g" if by else None}
    names = ["average_precision", "pr_auc", "roc_auc", "auprg", "precision_at_recall(0.5)"]
    asked: dict[str, Any] = {"metrics": [_find(name) for name in names], **how}
    found = table.prc.summary(field(frame, parts="c"), columns="all", **asked)
    weighted = table.prc.reweight(field(frame, parts="c"), **how)
    assert_frame_equal(found, weighted.prc.summary(weight="weight", columns="all", **asked))
    sure = table.prc.summary(field(frame, parts="c"), confidence=0.9, columns="all", **asked)
    assert_frame_equal(sure.select(found.columns), found, check_exact=True)
    others = sure.filter(~pl.col("metric").is_in(AREAS))
    assert others["standard_error"].null_count() == others["low"].null_count() == others.height


def _find(name: str) -> Any:
    return metrics.precision_at_recall(0.5) if name.endswith(")") else getattr(metrics, name)


Curve = tuple[Any, Any, float]
"""Recall and fpr of a field by falling score, and its prevalence."""


def build_field_curve(parts: list[dict[str, Any]], scores: Any) -> Curve:
    """The curve of a field whose parts hold the arrays `pos` and `neg` of scores, at their eta."""
    eta = sum(part["share"] * part["eta"] for part in parts)
    recall = fpr = 0.0
    for part in parts:
        pos, neg = part["share"] * part["eta"] / eta, part["share"] * (1 - part["eta"]) / (1 - eta)
        recall = recall + pos * (part["pos"][:, None] >= scores).mean(axis=0)
        fpr = fpr + neg * (part["neg"][:, None] >= scores).mean(axis=0)
    return recall, fpr, eta


def find_area(name: str, curve: Curve) -> float:
    recall, fpr, eta = curve
    if name == "roc_auc":
        heights = np.array([0, *recall])
        return float(np.diff([0, *fpr]) @ (heights[1:] + heights[:-1]) / 2)
    rise = np.diff(recall, prepend=0)
    precision = recall * eta / (recall * eta + fpr * (1 - eta))
    return float(rise @ np.where(rise > 0, precision, 0))


def find_area_error(name: str, parts: list[dict[str, Any]]) -> float:
    """The standard error by moving a little of one part's class to one example, for each example."""
    scores = np.unique(np.concatenate([x for part in parts for x in (part["pos"], part["neg"])]))[::-1]
    recall, fpr, eta = build_field_curve(parts, scores)
    step, variance = 1e-6, 0.0
    sizes = {}
    for side in ("pos", "neg"):
        weights = []
        for part in parts:
            share = part["eta"] if side == "pos" else 1 - part["eta"]
            whole = eta if side == "pos" else 1 - eta
            weights.append(part["share"] * share / whole)
        sizes[side] = 1 / sum(w * w / len(part[side]) for w, part in zip(weights, parts, strict=True))
        of_side = 0.0
        for weight, part in zip(weights, parts, strict=True):
            own = (part[side][:, None] >= scores).mean(axis=0)
            moved = []
            for score in part[side]:
                change = step * ((score >= scores) - own)
                ends = []
                for sign in (1, -1):
                    curve = (
                        (recall + sign * change, fpr) if side == "pos" else (recall, fpr + sign * change)
                    )
                    ends.append(find_area(name, (*curve, eta)))
                moved.append((ends[0] - ends[1]) / (2 * step))
            of_side += weight**2 * np.var(moved, ddof=1) / len(moved)
        variance += of_side * (1 - 1 / sizes[side] if name == "average_precision" else 1)
    return math.sqrt(variance)


def list_field(table: pl.DataFrame, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """The scores, the prevalence and the share of each part."""
    whole, parts = frame["share"].sum(), []
    for row in frame.to_dicts():
        rows = table.filter(pl.col("c").eq_missing(row["c"]))
        pos, neg = (rows.filter(label=label)["score"].to_numpy() for label in (True, False))
        eta = len(pos) / (len(pos) + len(neg)) if row["eta"] is None else row["eta"]
        ends = [eta if row.get(name) is None else row[name] for name in ESTIMATES]
        parts.append({"pos": pos, "neg": neg, "eta": eta, "share": row["share"] / whole, "ends": ends})
    return parts


@examples(30)
@given(fields(), st.booleans())
def test_errors_of_areas_add_parts_and_classes(tables: Any, uncertain: bool) -> None:
    table, frame = tables
    table = pl.concat([table.filter(g=0)] * 2)  # two examples of each class in each part
    frame = with_ends(frame) if uncertain else frame
    found = table.prc.summary(field(frame, parts="c"), metrics=AREAS, confidence=0.95, columns="all")
    exact = table.prc.summary(
        field(frame.drop(ESTIMATES, strict=False), parts="c"),
        metrics=AREAS,
        confidence=0.95,
        columns="all",
    )
    parts = list_field(table, frame)
    scores = np.unique(table["score"].to_numpy())[::-1]
    for row, plain in zip(found.to_dicts(), exact.to_dicts(), strict=True):
        name, value = row["metric"], row["value"]
        assert value == pytest.approx(find_area(name, build_field_curve(parts, scores)), abs=1e-12)
        if not 1e-9 < value < 1 - 1e-9 or plain["standard_error"] is None:
            continue
        error = find_area_error(name, parts)
        assert plain["standard_error"] == pytest.approx(error, rel=1e-5, abs=1e-8)
        squares = {"low": 0.0, "high": 0.0, "error": 0.0}
        for i, part in enumerate(parts):
            moved = [
                find_area(
                    name, build_field_curve([*parts[:i], {**part, "eta": end}, *parts[i + 1 :]], scores)
                )
                for end in part["ends"]
            ]
            scaled = [logit(x) for x in moved]
            squares["low"] += max(0.0, logit(value) - min(scaled)) ** 2
            squares["high"] += max(0.0, max(scaled) - logit(value)) ** 2
            squares["error"] += ((moved[1] - moved[0]) / (2 * 1.959963984540054)) ** 2
        for side in ("low", "high"):
            own = logit(plain[side]) - logit(value)
            expected = math.copysign(math.sqrt(own**2 + squares[side]), own)
            assert logit(row[side]) - logit(value) == pytest.approx(expected, rel=1e-6, abs=1e-9)
        expected = math.sqrt(plain["standard_error"] ** 2 + squares["error"])
        assert row["standard_error"] == pytest.approx(expected, rel=1e-6)


def logit(value: float) -> float:
    return math.log(value / (1 - value))


@examples(20)
@given(fields(), st.booleans())
def test_areas_of_one_part_are_those_of_its_examples(tables: Any, uncertain: bool) -> None:
    table = tables[0].filter(pl.col("c") == "de")
    plain = pl.DataFrame({"eta": [0.3]})
    if uncertain:
        plain = plain.with_columns(eta_low=0.1, eta_high=0.4)
    asked: dict[str, Any] = {"by": "g", "metrics": AREAS[:1], "confidence": 0.9}
    alone = plain.with_columns(c=pl.lit("de"), share=pl.lit(7))
    found = table.prc.summary(field(alone, parts="c"), columns="all", **asked)
    found = found.drop("n_pos", "n_neg", "above_chance")
    expected = table.prc.summary(plain, columns="all", **asked).select(found.columns)
    # From a value at a bound no distance is known, and a part moves it about as far as it could.
    at_bound = expected["value"].fill_null(0.5).is_in([0.0, 1.0])
    is_wider = at_bound & (found["low"] <= 1.2 * expected["low"])
    low = pl.when(is_wider).then(expected["low"]).otherwise("low")
    found = found.with_columns(low=low)
    assert_frame_equal(found, expected, abs_tol=1e-9, rel_tol=1e-7)


@examples(20)
@given(fields(), st.booleans())
def test_areas_of_counts_are_those_of_rows(tables: Any, uncertain: bool) -> None:
    table, frame = tables
    frame = with_ends(frame) if uncertain else frame
    asked: dict[str, Any] = {"by": "g", "confidence": 0.95, "metrics": AREAS}
    found = table.prc.summary(field(frame, parts="c"), columns="all", **asked)
    counted = table.group_by("g", "c", "score").agg(
        n_pos=pl.col("label").sum(), n_neg=(~pl.col("label")).sum()
    )
    of_counts = counted.prc.summary(
        field(frame, parts="c"), columns="all", **asked, counts=("n_pos", "n_neg")
    )
    assert_frame_equal(of_counts, found)


# Errors ---------------------------------------------------------------------------------------

DF = pl.DataFrame(
    {
        "c": ["de"] * 6 + ["fr"] * 6,
        "score": [9, 7, 6, 5, 3, 1, 8, 7, 4, 3, 2, 1],
        "label": [1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0],
    }
)
ETAS = pl.DataFrame({"c": ["de", "fr"], "eta": [0.1, 0.02], "share": [1, 4]})
UNCERTAIN = ETAS.with_columns(eta_low=0.01, eta_high=0.2, eta_confidence=0.95)
POINTS: dict[str, Any] = {"precision": 0.5, "guarantee": 0.9}
REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (0.1, {}, r"field\(\) takes a frame with a row per part; got 0.1"),
    (None, {}, r"field\(\) takes a frame with a row per part; got None"),
    (ETAS.drop("share"), {}, "add a column 'share'"),
    (ETAS.drop("eta"), {}, "add a column 'eta', or the columns 'k' and 'n'"),
    (ETAS.head(1), {}, "eta= has no share for 1 part.*c = fr; add each"),
    (pl.concat([ETAS, ETAS.head(1)]), {}, "holds a part more than once, c = de"),
    (
        pl.concat([ETAS, ETAS.head(1).with_columns(c=pl.lit("uk"))]),
        {},
        "a share to a part without rows, c = uk",
    ),
    (ETAS.with_columns(eta=10.0), {}, r"an eta outside \[0, 1\]"),
    (ETAS, {"by": "c"}, "by= and parts= both hold 'c'"),
    (ETAS, {"weight": "score"}, r"leave out weight=: eta=field.* sets the weights itself"),
    (ETAS, {"rates": ("score", "label")}, "leave out rates="),
    (
        ETAS,
        {"confidence": intervals(0.9, method="rectangle")},
        'leave out method="rectangle": eta=field',
    ),
    (ETAS, {"confidence": intervals(0.9, simultaneous=True)}, "leave out simultaneous=True: eta=field"),
    (UNCERTAIN, {"confidence": 0.9}, "holds an eta_confidence that is not confidence=0.9"),
    (ETAS, {"parts": []}, "pass at least one column as parts=; got none"),
    (ETAS, {"parts": "k"}, "parts= names the column 'k', which the frame of field"),
    (ETAS.with_columns(k=1), {"parts": "k"}, "there is no column 'k' for parts="),
]


@pytest.mark.parametrize(("eta", "options", "hint"), REFUSED)
def test_refused(eta: Any, options: dict[str, Any], hint: str) -> None:
    options = dict(options)
    parts = options.pop("parts", "c")
    with pytest.raises(PrcError, match=hint):
        DF.prc.curve(field(eta, parts=parts), **options)
    with pytest.raises(PrcError, match=hint):
        DF.prc.operating_points(field(eta, parts=parts), recall=0.5, columns="all", **options)


def test_a_message_names_the_first_of_all_parts_that_lack_something() -> None:
    """Parts are counted in any order, but one mistake has one message."""
    parts = [f"part {number:02}" for number in range(40)]
    many = pl.concat(DF.with_columns(c=pl.lit(name)) for name in reversed(parts))
    some = pl.DataFrame({"c": parts[7:], "eta": 0.1, "share": 1})
    for seed in range(3):
        mixed = many.sample(fraction=1, shuffle=True, seed=seed)
        with pytest.raises(PrcError, match=r"no share for 7 parts, such as c = part 00;"):
            mixed.prc.curve(field(some, parts="c"))
        with pytest.raises(PrcError, match="a share to a part without rows, c = part 07"):
            mixed.filter(pl.col("c") > "part 20").prc.curve(field(some, parts="c"))


def test_one_class_is_not_enough_between_0_and_1() -> None:
    one = DF.filter((pl.col("c") == "fr") | (pl.col("label") == 1))
    with pytest.raises(
        PrcError, match="a part has no negatives and an eta below 1, c = de; both classes"
    ):
        one.prc.curve(field(ETAS, parts="c"))
    whole = ETAS.with_columns(eta=pl.Series([1.0, 0.02]))
    found = one.prc.curve(field(whole, parts="c"), confidence=0.95)
    assert found["precision_low"].is_not_null().any()
    with pytest.raises(PrcError, match="no negatives and an eta below 1"):
        one.prc.curve(field(whole.with_columns(eta_low=0.02, eta_high=1.0), parts="c"), confidence=0.95)


def test_what_is_not_promised_in_a_field() -> None:
    with pytest.raises(PrcError, match="treats each part's eta as exact"):
        DF.prc.operating_points(field(UNCERTAIN, parts="c"), columns="all", **POINTS)
    with pytest.raises(
        PrcError, match=r"^call .collect\(\) first.*: guarantee= with field\(\) needs a DataFrame"
    ):
        DF.lazy().prc.operating_points(field(ETAS, parts="c"), columns="all", **POINTS)
    with pytest.raises(PrcError, match=r"^leave out method= with field\(\).*not the parts of a field"):
        DF.prc.operating_points(
            field(ETAS, parts="c"),
            maximize="f1",
            confidence=intervals(0.9, method="bootstrap", resamples=9),
            columns="all",
        )


def test_a_part_without_a_share_does_not_count() -> None:
    found = DF.prc.curve(field(ETAS.with_columns(share=pl.Series([1, 0])), parts="c"), confidence=0.95)
    alone = DF.filter(c="de").prc.curve(field(ETAS.head(1), parts="c"), confidence=0.95)
    assert_frame_equal(found.drop(COUNTS), alone.drop(COUNTS))


def test_one_example_of_a_part_is_measured_from_the_field() -> None:
    table = pl.concat([DF, pl.DataFrame({"c": ["uk"] * 3, "score": [5, 2, 1], "label": [1, 0, 0]})])
    etas = pl.concat([ETAS, pl.DataFrame({"c": ["uk"], "eta": [0.1], "share": [1]})])
    found = table.prc.summary(field(etas, parts="c"), metrics=AREAS, confidence=0.95, columns="all")
    assert (found["standard_error"] > 0).all()
    alone = table.prc.summary(
        field(etas.with_columns(share=pl.Series([0, 0, 1])), parts="c"), confidence=0.95, columns="all"
    )
    assert alone["standard_error"].null_count() == alone.height


def test_perfect_separation_leaves_one_end_of_an_area() -> None:
    table = DF.with_columns(score=pl.col("label") * 10 + pl.col("score"))
    asked: dict[str, Any] = {"metrics": AREAS, "confidence": 0.95}
    exact = table.prc.summary(field(ETAS, parts="c"), columns="all", **asked)
    wide = table.prc.summary(field(UNCERTAIN, parts="c"), columns="all", **asked)
    for found in (exact, wide):
        assert found["value"].to_list() == found["high"].to_list() == [1.0, 1.0]
        assert found["standard_error"].null_count() == 2
    assert wide["low"][0] < exact["low"][0] < 1
    assert wide["low"][1] == exact["low"][1] < 1


# The interval of the prevalence of the field ----------------------------------------------------


def test_the_prevalence_of_a_field_has_the_interval_of_a_sum() -> None:
    shares, eta = [0.2, 0.8], 0.2 * 0.1 + 0.8 * 0.02
    low = eta - math.hypot(0.2 * (0.1 - 0.01), 0.8 * (0.02 - 0.01))
    high = eta + math.hypot(0.2 * (0.2 - 0.1), 0.8 * (0.2 - 0.02))
    assert sum(shares) == 1
    risks = DF.with_columns(pl.col("score") / 10)
    for name, table, more in (
        ("curve", DF, {}),
        ("operating_points", DF, {"recall": 0.5}),
        ("summary", DF, {}),
        ("decision_curve", risks, {"probabilities": [0.2]}),
    ):
        for confidence in (None, 0.95):
            found = getattr(table.prc, name)(field(UNCERTAIN, parts="c"), confidence=confidence, **more)
            assert found.columns[:4] == ["eta", "eta_low", "eta_high", "eta_confidence"], name
            assert found.row(0)[:4] == pytest.approx((eta, low, high, 0.95), rel=1e-12)


def test_fields_without_one_level_of_prevalence_have_no_interval_of_it() -> None:
    exact = UNCERTAIN.with_columns(eta_low=None, eta_high=None)
    several = UNCERTAIN.with_columns(eta_confidence=pl.Series([0.9, 0.95]))
    for frame in (exact, several):
        found = DF.prc.summary(field(frame, parts="c"), columns="all")
        assert found.select("eta_low", "eta_high", "eta_confidence").row(0) == (None, None, None)
    one = UNCERTAIN.with_columns(
        pl.when(pl.col("c") == "de").then(pl.col(name)).alias(name) for name in ESTIMATES
    )
    assert DF.prc.summary(field(one, parts="c"), columns="all")["eta_low"][0] == pytest.approx(
        0.036 - 0.2 * 0.09
    )
    named = DF.with_columns(eta_low=pl.lit(1))
    with pytest.raises(PrcError, match="rename the column 'eta_confidence' of by="):
        DF.with_columns(eta_confidence=pl.lit(1)).prc.summary(
            field(UNCERTAIN.drop("eta_confidence"), parts="c"), by="eta_confidence", columns="all"
        )
    assert named.prc.summary(field(UNCERTAIN, parts="c"), columns="all").height == 3


def test_what_is_not_known_of_the_areas_of_a_field() -> None:
    with pytest.raises(PrcError, match="draws examples, not the parts of a field"):
        DF.prc.summary(
            field(ETAS, parts="c"), confidence=intervals(0.9, method="bootstrap"), columns="all"
        )
    with pytest.raises(PrcError, match="smooth= needs an exact eta"):
        DF.prc.summary(field(UNCERTAIN, parts="c"), smooth="binormal", columns="all")
    with pytest.raises(PrcError, match="leave out cluster="):
        DF.prc.summary(field(ETAS, parts="c"), cluster="score", confidence=0.9, columns="all")
    smooth = DF.prc.summary(field(ETAS, parts="c"), smooth="binormal", columns="all")
    weighted = DF.prc.reweight(field(ETAS, parts="c")).prc.summary(
        weight="weight", smooth="binormal", columns="all"
    )
    assert_frame_equal(smooth, weighted)


# The prevalence of a field --------------------------------------------------------------------


def draw_models() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two models in five countries, of which one lacks scores, and the etas and shares of countries."""
    n, rng, countries = 2000, np.random.default_rng(0), ["DE", "FR", "NG", "US", "MT"]
    label = rng.random(n) < 0.1
    wide = pl.DataFrame({"country": rng.choice(countries, n), "label": label}).with_columns(
        a=pl.Series((rng.normal(size=n) + 2 * label).round(2)),
        b=pl.Series((rng.normal(size=n) + 2.5 * label).round(2)),
    )
    lacking = wide.with_columns(b=pl.when(pl.int_range(pl.len()) % 50 > 0).then("b"))
    etas, shares = [0.0002, 0.0003, 0.003, 0.0005, 0.0001], [0.4, 0.25, 0.1, 0.2, 0.05]
    frame = pl.DataFrame({"country": countries, "eta": etas, "share": shares})
    return lacking.prc.unpivot_scores(["a", "b"], name="model"), frame


def test_models_in_one_field_have_the_same_prevalence_to_the_bit() -> None:
    table, frame = draw_models()
    of_field, asked = field(frame, parts="country"), {"by": "model", "missing": "drop"}
    etas = []
    for name, more in (("summary", {}), ("operating_points", {"recall": 0.5}), ("curve", {})):
        etas += getattr(table.prc, name)(of_field, **asked, **more)["eta"].unique().to_list()
    etas += table.prc.summary(field(frame.reverse(), parts="country"), columns="all", **asked)[
        "eta"
    ].to_list()
    etas += table.filter(model="a").prc.summary(of_field, missing="drop", columns="all")["eta"].to_list()
    assert len(set(etas)) == 1
    assert etas[0] == pytest.approx(sum(frame["eta"] * frame["share"]), rel=1e-15)


@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_a_field_of_one_class_has_exactly_that_prevalence(eta: float) -> None:
    thirds = pl.DataFrame({"c": ["de", "fr", "x"], "eta": [eta] * 3, "share": [1.0, 1.0, 1.0]})
    table = pl.concat([DF, DF.with_columns(c=pl.lit("x"))])
    assert table.prc.summary(field(thirds, parts="c"), columns="all")["eta"].unique().to_list() == [eta]


# What the examples of a field tell ------------------------------------------------------------


def test_false_alerts_of_a_field_count_by_what_they_tell() -> None:
    found = DF.prc.curve(field(ETAS, parts="c"))
    factors = {"de": 0.2 * 0.9 / 3, "fr": 0.8 * 0.98 / 4}
    weight = pl.col("c").replace_strict(factors) * (1 - pl.col("label"))
    for row in found.iter_rows(named=True):
        flagged = DF.filter(pl.col("score") >= row["threshold"]).select(weight).to_series()
        squares = (flagged**2).sum()
        assert row["fp_effective"] == pytest.approx(flagged.sum() ** 2 / squares if squares else 0)
        assert row["n_pos_effective"] == pytest.approx(0.036**2 / (0.02**2 / 3 + 0.016**2 / 2))


def test_charts_of_a_field_tell_examples_and_not_weights() -> None:
    pytest.importorskip("altair")
    from polars_prcurve.charts import decision_curve, pr_curve

    floats = DF.with_columns(pl.col("score").cast(pl.Float64))
    table = pl.concat([floats, floats.with_columns(pl.col("score") - 0.5)])
    risks = table.with_columns(pl.col("score") / 10)
    for drawn in (
        pr_curve(table.prc.curve(field(ETAS, parts="c"))),
        decision_curve(
            risks.prc.decision_curve(
                field(ETAS, parts="c"), probabilities=[0.1, 0.5, 0.7], columns="all"
            )
        ),
    ):
        told = drawn.to_json().replace("\\n", " ").replace("\u00a0", " ")
        assert "of weighted rows, which counts as 10 positives" in told
        assert "Dotted: fewer than 5 false positives" in told


@pytest.mark.parametrize("method", ["curve", "summary", "operating_points", "decide"])
@pytest.mark.parametrize("n_absent", [1, 2])
def test_a_part_without_a_share_is_counted_once_for_all_models(method, n_absent):
    df = pl.DataFrame({"a": range(40), "label": [0, 1] * 20, "g": [0, 0, 1, 1, 2, 2, 3, 3] * 5})
    test = df.with_columns(b=-pl.col("a")).prc(score=["a", "b"])
    frame = pl.DataFrame({"g": range(4 - n_absent), "eta": 0.1, "share": 1.0})
    words: dict[str, Any] = {"recall": 0.5} if method in ("operating_points", "decide") else {}
    message = (
        rf"no share for {n_absent} part{'s' * (n_absent > 1)}, such as g = {4 - n_absent}; add each"
    )
    with pytest.raises(PrcError, match=message):
        getattr(test, method)(field(frame, parts="g"), **words)
