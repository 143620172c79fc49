"""Paired comparison of models: against the definition, in every form of the table, and by bootstrap."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, intervals, metrics, prc
from polars_prcurve.core.uncertainty import bootstrap
from tests.support import oracle, oracle_errors
from tests.support.all_metrics import ALL_CURVE_METRICS
from tests.support.comparing import assert_nearly, assert_same
from tests.support.profiles import examples
from tests.support.strategies import MODERATE, SCORES, SMALL, Table, several, tables
from tests.support.tiers import slow_unless
from tests.support.two_scores import AGAIN, BOOTSTRAP, two_scores

NAMES = ["average_precision", "roc_auc", "pr_auc"]
ERRORS = ["standard_error", "low", "high", "p_value"]
FLAGS = ["significant", "doubt"]
COLUMNS = ["eta", "metric", "model_a", "model_b", "difference", *ERRORS, *FLAGS]
etas = several(0.0, 1e-6, 0.01, 0.5, 0.9, 1.0)


def several_models(table: Table, data: st.DataObject) -> list[str]:
    """Add two more score columns to a table, and name all three."""
    frame = table.frame
    of_dtype = SCORES[table.score_dtype]
    for name in ("second", "third"):
        values = data.draw(st.lists(of_dtype, min_size=frame.height, max_size=frame.height))
        frame = frame.with_columns(pl.Series(name, values, dtype=table.score_dtype))
    object.__setattr__(table, "frame", frame)
    return ["third", "score", "second"]


def arguments(table: Table) -> dict[str, Any]:
    return {"by": table.by, "pos_label": table.pos_label, "weight": table.weight}


def assert_close(actual: float | None, expected: float | None, seen: object) -> None:
    if actual is None or expected is None:
        assert actual is expected, seen
    else:
        assert math.isclose(actual, expected, rel_tol=1e-8, abs_tol=1e-11), (actual, expected, seen)


def expected_rows(table: Table, models: list[str], eta: list[float], confidence: float) -> list[Any]:
    """The columns of a comparison from the influences of each row."""
    of = [oracle.groups(table.rows, score=model, **table.oracle) for model in models]
    z, found = oracle_errors.z_value(confidence), []
    for groups in zip(*of, strict=True):
        for e in sorted(map(Fraction, eta)):
            for name in NAMES:
                values = [oracle_errors.estimate(name, group, e) for group in groups]
                for a, b in combinations(range(len(models)), 2):
                    row = [groups[a].by, e, name, models[a], models[b]]
                    if values[a] is None or values[b] is None:
                        found.append([*row, None, None, None, None, None])
                        continue
                    difference = float(values[a] - values[b])
                    weighted = table.weight is not None
                    n = oracle_errors.class_sizes(groups[a], weighted=weighted)
                    if name not in oracle_errors.DDOF or 0 in n:
                        found.append([*row, difference, None, None, None, None])
                        continue
                    both = groups[a], groups[b]
                    error = error_of_difference(name, both, e, n, weighted=weighted)
                    if name == "roc_auc" or e in (0, 1):
                        limits = interval_of(difference, error, z)
                    else:
                        limits = interval_of_extended(
                            both, e, n, difference=difference, plain=error, z=z, weighted=weighted
                        )
                    found.append([*row, difference, *limits])
    return found


def error_of_difference(
    name: str,
    groups: Any,
    eta: Fraction,
    n: tuple[Fraction, Fraction],
    *,
    weighted: bool,
    cautious: bool = False,
) -> float | None:
    both = [
        oracle_errors.influences(
            name,
            group,
            eta,
            oracle_errors.one_false_positive(group, weighted=weighted) if cautious else None,
        )
        for group in groups
    ]
    moved = [x - y for x, y in zip(*both, strict=True)]
    rows = oracle_errors.list_rows(groups[0])
    return oracle_errors.standard_error(name, rows, moved, n, weighted=weighted)


def interval_of(difference: float, error: float | None, z: float) -> tuple[Any, ...]:
    """Error, ends and p-value of a normal difference."""
    if error is None:
        return None, None, None, None
    p_value = 2 * NormalDist().cdf(-abs(difference) / error) if error > 0 else None
    return error, max(difference - z * error, -1.0), min(difference + z * error, 1.0), p_value


def interval_of_extended(
    both: Any, eta: Fraction, n: Any, *, difference: float, plain: float | None, z: float, weighted: bool
) -> tuple[Any, ...]:
    """Error, ends and p-value of average precision, which allow for what the sample lacks."""
    if plain is None:
        return None, None, None, None
    ends = [oracle_errors.extend(group, eta, weighted=weighted) for group in both]
    values = [float(oracle_errors.estimate("average_precision", group, eta)) for group in both]
    cautious = error_of_difference("average_precision", both, eta, n, weighted=weighted, cautious=True)
    one, other = (
        oracle_errors.cautious_average_precision(group, eta, weighted=weighted) for group in both
    )
    moved, error = float(one - other), max(plain, cautious or 0.0)
    if error <= 1e-11 * max(values):
        error = 0.0
    shared = max(0.0, sum(of.plain[1] ** 2 for of in ends if of) - plain**2)
    like = limit_like_models(both, eta, weighted=weighted)

    def limits(deviations: float) -> tuple[float, float]:
        half = deviations * error
        (low_a, high_a), (low_b, high_b) = (of.ends(deviations) for of in ends if of)
        a, b = values
        down, up = (
            math.sqrt(max(0.0, x * x + y * y - deviations**2 * shared)) if error > 0 else 0.0
            for x, y in ((a - low_a, high_b - b), (high_a - a, b - low_b))
        )
        # Or unseen examples move both values, and chance the difference of extended curves.
        for better, worse in ((0, 1), (1, 0)):
            of, other = ends[better], ends[worse]
            assert of is not None
            assert other is not None
            gap = max(0.0, of.plain[0] - of.least[0]) + max(0.0, other.most[0] - other.plain[0])
            gap += deviations * math.hypot(error, of.jumps[0], other.jumps[1])
            if error > 0:
                down, up = (min(down, gap), up) if better == 0 else (down, min(up, gap))
        low = min(difference - down, difference - half, moved - half)
        high = max(difference + up, difference + half, moved + half)
        if like is None or error == 0:
            return low, high
        like_low, like_high = like(deviations)
        return max(low, like_low), min(high, like_high)

    at, beyond = 0.0, 12.0
    for _ in range(60):
        middle = (at + beyond) / 2
        low, high = limits(middle)
        at, beyond = (middle, beyond) if low > 0 or high < 0 else (at, middle)
    p_value = 2 * NormalDist().cdf(-at) if error > 0 else None
    low, high = limits(z)
    return error, max(low, -1.0), min(high, 1.0), p_value


class LogitGaps(NamedTuple):
    """Two models on the curves as seen and with one false positive more, an entry for either."""

    values: list[tuple[float, float]]  # average precision of both models
    gaps: list[float]  # between their logits
    errors: list[float]
    own_errors: list[float]  # of the logits of both models, as seen


def compare_logits(both: Any, eta: Fraction, *, weighted: bool) -> LogitGaps | None:
    """Return the differences of logits of average precision; None where one is 0 or 1."""
    name, rows = "average_precision", oracle_errors.list_rows(both[0])
    n, found = oracle_errors.class_sizes(both[0], weighted=weighted), LogitGaps([], [], [], [])
    for is_cautious in (False, True):
        values, errors = [], []
        for group in both:
            more = oracle_errors.one_false_positive(group, weighted=weighted) if is_cautious else None
            moved = oracle_errors.influences(name, group, eta, more)
            errors.append(oracle_errors.standard_error(name, rows, moved, n, weighted=weighted) or 0.0)
            value = oracle_errors.estimate(name, group, eta)
            if is_cautious:
                value = oracle_errors.cautious_average_precision(group, eta, weighted=weighted)
            values.append(float(value))
        if not all(0 < value < 1 for value in values):
            return None
        error = error_of_difference(name, both, eta, n, weighted=weighted, cautious=is_cautious) or 0.0
        covariance = (errors[0] ** 2 + errors[1] ** 2 - error**2) / 2
        slopes = [value * (1 - value) for value in values]
        variance = sum((e / slope) ** 2 for e, slope in zip(errors, slopes, strict=True))
        found.values.append((values[0], values[1]))
        if min(errors) == 0:
            return None
        found.gaps.append(logit(values[0]) - logit(values[1]))
        found.errors.append(math.sqrt(max(0.0, variance - 2 * covariance / math.prod(slopes))))
        if not is_cautious:
            found.own_errors.extend(e / slope for e, slope in zip(errors, slopes, strict=True))
    return found


def limit_like_models(
    both: Any, eta: Fraction, *, weighted: bool
) -> Callable[[float], tuple[float, float]] | None:
    """Return the limits of models that rank alike, by the number of standard errors, from logits."""
    found = compare_logits(both, eta, weighted=weighted)
    n_pos, _ = oracle_errors.class_sizes(both[0], weighted=weighted)
    if found is None or n_pos * (1 - max(map(max, found.values))) < 2:
        return None
    ends = [oracle_errors.extend(group, eta, weighted=weighted) for group in both]
    losses, gains = [], []  # what unseen examples may move either logit, beyond what was shown
    for of, error in zip(ends, found.own_errors, strict=True):
        assert of is not None
        least, plain, most = (logit(value) for value, _ in (of.least, of.plain, of.most))
        losses.append(max(0.0, plain - least - 1.5 * error))
        gains.append(max(0.0, most - plain - 1.5 * error))
    gaps, gap_errors = found.gaps, found.errors
    most = [of.most[0] for of in ends if of]
    levels = [*found.values, (most[0], most[1])]

    def lead(deviations: float, better: int) -> float:
        """By how many logits a side is better, at least."""
        sign = 1 - 2 * better
        growths = (sign * (logit(a) - logit(b) - gaps[0]) for a, b in levels)
        leads = sign * gaps[0] - losses[better] - gains[1 - better], sign * gaps[1]
        slopes = [value * (1 - value) for value in found.values[0]]
        growth = min(1.0, slopes[better] / slopes[1 - better]) ** 0.25
        excess = max(0.0, found.own_errors[better] * growth - found.own_errors[1 - better])
        wider = 1 + 8 / float(n_pos)
        wider_errors = [math.sqrt((s**2 + 100 * excess**2) * wider) for s in gap_errors]
        least = min(x - deviations * s for x, s in zip(leads, wider_errors, strict=True))
        return least - sum(max(0.0, growth) for growth in growths)

    def limits(deviations: float) -> tuple[float, float]:
        ends_of_levels = []
        for a, b in levels:
            middle = (logit(a) + logit(b)) / 2
            halves = lead(deviations, 0) / 2, -lead(deviations, 1) / 2
            ends_of_levels.append([expit(middle + half) - expit(middle - half) for half in halves])
        return min(low for low, _ in ends_of_levels), max(high for _, high in ends_of_levels)

    return limits


def logit(value: float) -> float:
    return math.log(value / (1 - value))


def expit(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_gaps_of_logits() -> None:
    """Worked numbers of ten examples, on both curves."""
    scores = [9, 8, 7, 3, 6, 5, 4, 2, 1, 0]
    cases = (
        (
            Fraction(1, 2), [9, 8, 4, 1, 7, 6, 5, 3, 2, 0],
            [0.916666666667, 0.786363636364, 0.692045454545, 0.594852941176],
            [1.09475128001, 0.425635338925], [0.661362459583, 0.239793094831],
        ),
        (
            Fraction(1, 20), [9, 8, 6, 3, 7, 5, 4, 2, 1, 0],
            [0.773809523810, 0.571681864235, 0.118548615370, 0.0971468631799],
            [0.941231862810, 0.223089297274], [0.857577132750, 0.243942971321],
        ),
    )  # fmt: skip
    for eta, others, *expected in cases:
        both = [
            oracle.Group({}, [(s, Fraction(i < 4), Fraction(i >= 4)) for i, s in enumerate(of)])
            for of in (scores, others)
        ]
        found = compare_logits(both, eta, weighted=False)
        assert found is not None
        actual = [[x for pair in found.values for x in pair], found.gaps, found.errors]
        assert actual == [pytest.approx(numbers, rel=1e-9) for numbers in expected]


@examples(70)
@given(tables(weights=SMALL, max_size=12), etas, st.sampled_from([0.5, 0.95]), st.data())
def test_compare(table: Table, eta: list[float], confidence: float, data: st.DataObject) -> None:
    models = several_models(table, data)
    asked: dict[str, Any] = {"metrics": NAMES, "confidence": confidence, **arguments(table)}
    found = prc(table.frame).compare(eta, score=models, columns="all", **asked)
    assert found.columns == [*table.by, *COLUMNS]
    expected = expected_rows(table, models, eta, confidence)
    assert found.height == len(expected)
    for row, (by, e, *names, difference, error, low, high, p_value) in zip(
        found.to_dicts(), expected, strict=True
    ):
        assert [oracle.key(row[k]) for k in table.by] == [oracle.key(by[k]) for k in table.by]
        assert row["eta"] == e
        assert [row[k] for k in ("metric", "model_a", "model_b")] == names
        for kind, value in zip(COLUMNS[4:], (difference, error, low, high, p_value), strict=False):
            # A p-value of extended curves is found by halving.
            near = kind == "p_value" and value is not None and abs(row[kind] - value) < 1e-6
            assert near or assert_close(row[kind], value, row) is None
        assert error is not None or row["significant"] is None
        assert row["doubt"] is not None or error is not None


@examples(15)
@given(tables(weights=MODERATE, min_size=2, max_size=16), etas, st.data())
def test_a_long_table_is_as_good_as_a_wide_one(
    table: Table, eta: list[float], data: st.DataObject
) -> None:
    models = several_models(table, data)
    options: dict[str, Any] = {"eta": eta, "metrics": NAMES, **arguments(table)}
    found = prc(table.frame).compare(score=models, columns="all", **options)
    long = prc(table.frame).unpivot_scores(models, name="model", score="score", row="id")
    long = long.with_columns(pl.col("model").cast(pl.Enum(models)))
    of_long = prc(long).compare(model="model", id="id", columns="all", **options)
    assert_same(of_long.with_columns(pl.col("model_a", "model_b").cast(pl.String)), found)


@examples(20)
@given(tables(weights=MODERATE, max_size=16), etas, st.data())
def test_swapping_models_turns_the_sign(table: Table, eta: list[float], data: st.DataObject) -> None:
    """And a model is no better than itself."""
    a, b, _ = several_models(table, data)
    frame = table.frame.with_columns(pl.col(a).alias("again"))
    options: dict[str, Any] = {"eta": eta, "metrics": NAMES, **arguments(table)}
    found = prc(frame).compare(score=[a, b], columns="all", **options)
    turned = (
        prc(frame)
        .compare(score=[b, a], columns="all", **options)
        .with_columns(model_a="model_b", model_b="model_a", low=-pl.col("high"), high=-pl.col("low"))
    )
    turned = turned.with_columns(difference=-pl.col("difference"))
    assert_same(turned.select(found.columns), found)
    same = prc(frame).compare(score=[a, "again"], columns="all", **options)
    assert set(same["difference"].drop_nulls()) <= {0.0}
    assert same.select(pl.col("standard_error", "low", "high").drop_nulls().abs().max()).row(0) in (
        (0.0, 0.0, 0.0),
        (None, None, None),
    )
    assert same["p_value"].null_count() == same.height


# One table, looked at closely ------------------------------------------------------------------


def pairs(n: int, groups: int = 1, *, gain: float = 0.0, seed: int = 0) -> pl.DataFrame:
    """Two models that share much of their error, the second better by `gain`."""
    rng = np.random.default_rng(seed)
    label = rng.random(n) < 0.4
    common = label + rng.normal(size=n)
    a, b = (common + 0.7 * rng.normal(size=n) + more * label for more in (0, gain))
    return pl.DataFrame({"g": rng.integers(0, groups, n), "label": label, "a": a, "b": b})


def test_prevalences_per_group() -> None:
    df = pairs(300, 3).with_columns(g=pl.when(pl.col("g") == 2).then(None).otherwise("g"))
    frame = pl.DataFrame({"g": [1, None, 0], "eta": [0.2, 0.01, 0.1], "note": ["c", "a", "b"]})
    found = df.prc.compare(frame, score=["a", "b"], by="g", columns="all")
    assert found.columns == ["g", "eta", "note", *COLUMNS[1:]]
    assert found["note"].unique(maintain_order=True).to_list() == ["a", "b", "c"]
    for key, eta in ((None, 0.01), (0, 0.1), (1, 0.2)):
        alone = df.filter(pl.col("g").eq_missing(key)).prc.compare(eta, score=["a", "b"], columns="all")
        assert_same(found.filter(pl.col("g").eq_missing(key)).drop("g", "note"), alone)


@pytest.mark.parametrize("cluster", [None, "row"])
def test_a_positive_of_next_to_no_weight_changes_nothing(cluster: str | None) -> None:
    df = pairs(300, 1).drop("g").with_columns(w=pl.lit(1.0))
    light = pl.DataFrame({"label": [True, True], "a": [0.5, 0.7], "b": [0.1, 1.2], "w": [1e-21, 1e-22]})
    how: dict[str, Any] = {"eta": 0.05, "weight": "w", "cluster": cluster}
    alone, beside = (
        rows.with_row_index("row").prc.compare(score=["a", "b"], columns="all", **how)
        for rows in (df, pl.concat([df, light]))
    )
    known = ["eta", "metric", "difference", "standard_error"]
    assert alone["standard_error"].null_count() == 0
    if cluster is None:
        assert_nearly(beside.select(known), alone.select(known))
    else:  # two clusters more
        assert_frame_equal(beside.select(known), alone.select(known), rel_tol=1e-4)


def test_own_prevalence_only_if_all_share_it() -> None:
    alike = pl.concat([pairs(100).with_columns(g=i) for i in (0, 1)])
    own = alike["label"].mean()
    options: dict[str, Any] = {"by": "g"}
    counted = alike.prc.compare(score=["a", "b"], columns="all", **options)
    said = alike.prc.compare(own, score=["a", "b"], by="g", columns="all")
    assert_same(counted.select(COLUMNS[:5]), said.select(COLUMNS[:5]))
    assert_same(counted.filter(metric="roc_auc"), said.filter(metric="roc_auc"))
    # The own prevalence has an error, which both models share.
    assert (counted["standard_error"] >= said["standard_error"]).all()
    assert (counted["standard_error"] > said["standard_error"]).any()
    # Groups may differ in it; models of a group may not.
    unlike = alike.filter((pl.col("g") == 0) | pl.col("label") | (pl.col("a") > 0))
    found = unlike.prc.compare(score=["a", "b"], columns="all", **options)
    parts = [unlike.filter(g=i).prc.compare(score=["a", "b"], columns="all") for i in (0, 1)]
    assert found["eta"].n_unique() == 2
    assert_same(found.drop("g"), pl.concat(parts))
    long = unlike.prc.unpivot_scores(["a", "b"]).filter((pl.col("model") == "a") | (pl.col("score") > 0))
    words = (
        r"eta=None compares models at the prevalence of each, and these differ, from 0\.\d+ to 0\.\d+"
    )
    assert_raises(long, words, model="model", paired=False, **options)
    assert long.prc.compare(0.1, model="model", paired=False, columns="all", **options).height == 4


MONTHS = (
    pairs(300)
    .with_columns(month=pl.int_range(pl.len()) % 3, score="a")
    .filter((pl.col("month") > 0) | ~pl.col("label") | (pl.col("b") > 0))
)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "asked",
    [
        {"metrics": ["recall", "fpr"], "threshold": 0.5},
        {"metrics": ["recall"], "fpr": 0.2},
        {"metrics": "roc_auc"},
        {"metrics": ["roc_auc", metrics.recall_at_fpr(0.2)], **BOOTSTRAP},
    ],
    ids=str,
)
def test_what_does_not_depend_on_prevalence_needs_none(asked: dict[str, Any]) -> None:
    """Months have different own prevalences: the differences are those at any, and eta is null."""
    how: dict[str, Any] = {"model": "month", "paired": False, **asked}
    found, at_eta = (MONTHS.prc.compare(eta=eta, columns="all", **how) for eta in (None, 0.1))
    assert found["eta"].null_count() == found.height == at_eta.height > 0
    assert_frame_equal(found.drop("eta"), at_eta.drop("eta"))
    of_two = MONTHS.unpivot(["a", "b"], index=["label", "month"], variable_name="m", value_name="s")
    paired = {"model": "m", "paired": False, "score": "s", "by": "month", **asked}
    own = MONTHS.group_by("month").agg(pl.col("label").mean()).sort("month")["label"]
    assert (
        of_two.prc.compare(columns="all", **paired)["eta"].unique().sort().to_list()
        == own.sort().to_list()
    )


def test_models_are_compared_at_one_prevalence() -> None:
    eta = pl.DataFrame({"month": [0, 1, 2], "eta": [0.1, 0.2, 0.3]})
    words = "leave the column 'month', which names the models, out of"
    with pytest.raises(PrcError, match=words):
        MONTHS.prc.compare(eta=eta, model="month", paired=False, columns="all")
    words = r"pass one, by threshold= or a target .*: 'recall' needs a threshold"
    with pytest.raises(PrcError, match=words):
        MONTHS.prc.compare(score=["a", "b"], metrics="recall", columns="all")
    words = "pass eta= as a number to compare them at, or as a frame with a number for each group of by="
    assert_raises(MONTHS, words, model="month", paired=False)


def assert_raises(df: pl.DataFrame, words: str, **options: Any) -> None:
    """The same sentence from both doors."""
    with pytest.raises(PrcError, match=words) as eager:
        df.prc.compare(columns="all", **options)
    query = df.lazy().prc.compare(columns="all", **options)
    for engine in ("streaming", "in-memory"):
        with pytest.raises(pl.exceptions.InvalidOperationError, match=re.escape(str(eager.value))):
            query.collect(engine=engine)


def test_rows_that_lack_a_score_leave_as_a_whole() -> None:
    df = pairs(200).with_columns(
        a=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("a"),
        b=pl.when(pl.int_range(pl.len()) == 70).then(math.nan).otherwise("b"),
        b2="b",
    )
    found = df.prc.compare(0.1, score=["a", "b"], missing="drop", columns="all")
    whole = df.filter(~pl.int_range(pl.len()).is_in([7, 70]))
    assert_same(found, whole.prc.compare(0.1, score=["a", "b"], columns="all"))
    assert_raises(df, "score column 'a' is null in 1 row", score=["a", "b"], eta=0.1)
    assert_raises(df, "score column 'b' is NaN in 1 row", score=["b", "b2"], eta=0.1)


LONG = pairs(40).drop("g").prc.unpivot_scores(["a", "b"], name="model", score="score", row="id")
LONG = LONG.with_columns(w=1.0)
MATCHED: dict[str, Any] = {"model": "model", "id": "id", "eta": 0.1, "weight": "w"}


def test_rows_that_match() -> None:
    assert LONG.prc.compare(columns="all", **MATCHED).height == 2


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda df: df[1:],
            r"missing or repeated for 1 example;.*pass more columns, such as id=.*; otherwise",
        ),
        (lambda df: pl.concat([df, df[3:5]]), r"missing or repeated for 2 examples"),
        (lambda df: pl.concat([df[:1], df[:1], df[2:]]), r"missing or repeated for 1 example"),
        (
            lambda df: df.with_columns(label=pl.col("label") ^ (pl.int_range(pl.len()) == 5)),
            r"label, weight, stratum or cluster is different in another model for 1 example, by id=",
        ),
        (
            lambda df: df.with_columns(w=pl.when(pl.int_range(pl.len()) == 5).then(2.0).otherwise("w")),
            r"cluster is different in another model for 1 example, by id=",
        ),
        (
            lambda df: df.with_columns(id=pl.when(pl.int_range(pl.len()) > 5).then("id")),
            r"id column 'id' is null in 6 row",
        ),
    ],
)
@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
def test_rows_that_do_not_match(change: Any, words: str, method: Any) -> None:
    options = MATCHED
    if method == "analytic":
        assert_raises(change(LONG), words, **options)
    else:
        with pytest.raises(PrcError, match=words):
            change(LONG).prc.compare(columns="all", **options, **BOOTSTRAP)


def test_groups_in_which_nothing_is_known() -> None:
    df = pl.DataFrame(
        {
            "g": ["no pos", "no pos", "no neg", "no neg", "one pos", "one pos", "one pos"],
            "label": [0, 0, 1, 1, 1, 0, 0],
            "a": [1, 2, 1, 2, 2, 3, 1],
            "b": [1, 2, 2, 1, 1, 2, 3],
        }
    )
    found = df.prc.compare(0.1, score=["a", "b"], by="g", columns="all")
    kinds = ["difference", *ERRORS]
    assert found.filter(pl.col("g") != "one pos").select(kinds).null_count().row(0) == (4,) * 5
    # One example does not tell how much examples differ.
    area, auc = found.filter(g="one pos").select(kinds).rows()
    assert area[0] is not None
    assert area[1:] == (None,) * 4
    assert auc == (0.5, None, None, None, None)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("method", ["analytic", "bootstrap"])
@pytest.mark.parametrize("positives", [1, 2])
@pytest.mark.parametrize("turned", [False, True])
def test_one_example_tells_no_error(method: Any, positives: int, turned: bool) -> None:
    """Neither of positives nor of negatives; two do."""
    label = [0] * 20 + [1] * positives
    df = pl.DataFrame(
        {
            "score": [float(i * 7 % 23) for i in range(len(label))],
            "b": [float(i * 5 % 23) for i in range(len(label))],
            "label": [1 - y for y in label] if turned else label,
        }
    )
    drawn: Any = {"resamples": 50, "seed": 1} if method == "bootstrap" else {}
    confidence = intervals(0.9, method=method, **drawn)
    asked = ["average_precision", "roc_auc"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = df.prc.compare(
            0.1, score=["score", "b"], metrics=asked, confidence=confidence, columns="all"
        )
        summary = df.prc.summary(0.1, metrics=asked, confidence=confidence, columns="all")
    for found, names in ((compared, ERRORS), (summary, ["standard_error", "low", "high"])):
        assert found.select(names).null_count().row(0) == (2 * (positives == 1),) * len(names)


# Error rate -----------------------------------------------------------------------------------


def test_models_alike_seldom_differ() -> None:
    """Of 400 true hypotheses at most 5% are refused, give or take two standard deviations of 1.1%."""
    rng = np.random.default_rng(11)
    n, sims = 240, 400
    label = np.tile(np.arange(n) < 80, sims)
    common = label + rng.normal(size=n * sims)
    a, b = (common + 0.7 * rng.normal(size=n * sims) for _ in range(2))
    df = pl.DataFrame({"sim": np.repeat(np.arange(sims), n), "label": label, "a": a, "b": b})
    found = df.prc.compare(0.2, score=["a", "b"], by="sim", columns="all")
    refused = found.group_by("metric").agg((pl.col("p_value") < 0.05).mean(), pl.len())
    assert refused["len"].to_list() == [sims, sims]
    assert refused["p_value"].is_between(0.005, 0.08).all()
    outside = found.select("metric", out=(pl.col("low") > 0) | (pl.col("high") < 0))
    assert_same(
        outside.group_by("metric")
        .agg(p_value="out")
        .sort("metric")
        .with_columns(pl.col("p_value").list.mean()),
        refused.drop("len").sort("metric"),
    )


# Bootstrap ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", slow_unless(lambda how: how == "rows", ["rows", "weights", "clusters", "long"])
)
def test_a_seed_makes_a_bootstrap_the_same(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    df = pairs(240, 3, gain=0.3).with_columns(w=1 + pl.int_range(pl.len()) % 3 / 7)
    options: dict[str, Any] = {"eta": [0.1, 0.5], "by": "g", "score": ["a", "b"]}
    options |= {"metrics": ["average_precision", "roc_auc_hull"]}
    if how == "weights":
        options["weight"] = "w"
    elif how == "clusters":
        df, options["cluster"] = df.with_columns(c=pl.int_range(pl.len()) // 4), "c"
    if how == "long":
        df = df.prc.unpivot_scores(["a", "b"], name="model", score="score", row="id")
        options |= {"score": "score", "model": "model", "id": "id"}
    found = df.prc.compare(columns="all", **options, **AGAIN)
    assert found.select(ERRORS).null_count().sum_horizontal().item() == 0
    assert_same(df.prc.compare(columns="all", **options, **AGAIN), found)
    other = df.prc.compare(columns="all", **options, confidence=replace(AGAIN["confidence"], seed=6))
    assert not (other["standard_error"] == found["standard_error"]).any()
    assert_same(other["difference"].to_frame(), found["difference"].to_frame())
    first = df.filter(pl.col("g") < 2).prc.compare(columns="all", **options, **AGAIN)
    assert_same(first, found.filter(pl.col("g") < 2))
    for cells in (1, 40_000):
        monkeypatch.setattr(bootstrap, "_MAX_CELLS", cells)
        assert_nearly(df.prc.compare(columns="all", **options, **AGAIN), found)
    with pytest.raises(PrcError, match=r"call .collect\(\) first"):
        df.lazy().prc.compare(columns="all", **{**options, "metrics": "roc_auc"}, **AGAIN)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("gain", [0.0, 0.2])
def test_bootstrap_and_analytic_errors_agree(gain: float) -> None:
    """With 600 replicates an error is known to 3%."""
    df = pairs(1_000, gain=gain).with_columns(c=pl.int_range(pl.len()))
    analytic = df.prc.compare([0.1, 0.5], score=["a", "b"], confidence=0.9, columns="all")
    drawn = replace(AGAIN["confidence"], resamples=600)
    for options in ({}, {"cluster": "c"}):
        found = df.prc.compare([0.1, 0.5], score=["a", "b"], confidence=drawn, columns="all", **options)
        for kind, tolerance in (("difference", 1e-12), ("standard_error", 0.15)):
            assert found[kind].to_list() == pytest.approx(analytic[kind].to_list(), rel=tolerance)
        # Analytic limits of average precision allow for examples that the sample lacks.
        assert (found["high"] - found["low"] < (analytic["high"] - analytic["low"]) * 1.15).all()
        for end in ("low", "high"):
            off = (found[end] - analytic[end]) / analytic["standard_error"]
            assert off.filter(found["metric"] == "roc_auc").abs().max() < 0.6
        assert (found["p_value"] - analytic["p_value"]).filter(
            found["metric"] == "roc_auc"
        ).abs().max() < 0.25
    single = df.prc.summary(0.1, score="a", metrics="roc_auc", confidence=0.9, columns="all")[
        "standard_error"
    ][0]
    assert analytic.filter(metric="roc_auc")["standard_error"][0] < single


def test_a_model_against_itself_by_bootstrap() -> None:
    df = pairs(60).with_columns(b="a")
    found = df.prc.compare(0.1, score=["a", "b"], columns="all", **AGAIN).select(COLUMNS[4:])
    assert found.unique().rows()[0][:4] == (0.0, 0.0, 0.0, 0.0)
    assert found["p_value"].null_count() == 2


@pytest.mark.slow
def test_every_metric_by_bootstrap() -> None:
    df = pairs(80)
    found = df.prc.compare(0.05, score=["a", "b"], metrics=ALL_CURVE_METRICS, columns="all", **AGAIN)
    long = df.prc.unpivot_scores(["a", "b"], name="model", score="score")
    values = long.prc.summary(0.05, metrics=ALL_CURVE_METRICS, by="model", columns="all").partition_by(
        "model"
    )
    expected = values[0]["value"] - values[1]["value"]
    assert found["difference"].to_list() == expected.to_list()
    assert (found["low"] <= found["high"]).all()
    assert found["standard_error"].null_count() == 0
    analytic = df.prc.compare(0.05, score=["a", "b"], metrics=ALL_CURVE_METRICS, columns="all")
    known = analytic.filter(pl.col("standard_error").is_not_null())["metric"].to_list()
    assert known == ["average_precision", "roc_auc"]
    assert_same(analytic.select(COLUMNS[:5]), found.select(COLUMNS[:5]))


# Examples of their own ------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, "w"])
def test_groups_are_compared_as_a_ranking_does(weight: str | None) -> None:
    df = pairs(300, 3, gain=0.4).with_columns(w=1 + pl.int_range(pl.len()) % 3)
    how: dict[str, Any] = {"model": "g", "weight": weight, "score": "a"}
    for metric in ("average_precision", "roc_auc"):
        found = df.prc.compare(eta=[0.1, 0.4], metrics=metric, paired=False, columns="all", **how)
        assert found["model_a"].to_list() == [0, 0, 1] * 2
        assert found["model_b"].to_list() == [1, 2, 2] * 2
        own = df.prc.summary([0.1, 0.4], by="g", metrics=metric, score="a", weight=weight, columns="all")
        value = {(r["eta"], r["g"]): r["value"] for r in own.to_dicts()}
        lead = df.prc.ranking([0.1, 0.4], metric=metric, confidence=0.95, columns="all", **how)
        known = {(r["eta"], r["model"]): r for r in lead.to_dicts()}
        for row in found.to_dicts():
            a, b = ((row["eta"], row[f"model_{side}"]) for side in "ab")
            assert row["difference"] == value[a] - value[b]
            if known[a]["behind"] == 0:
                assert (row["low"], row["high"]) == (known[b]["low"], known[b]["high"])
            if known[b]["behind"] == 0:
                assert (-row["high"], -row["low"]) == (known[a]["low"], known[a]["high"])
            assert (row["low"] > 0 or row["high"] < 0) is (row["p_value"] < 0.05)


POINTS = ["precision", "recall", "fpr", "f1", "mcc", "net_benefit(0.2)", "lr_pos"]
TARGETS: list[dict[str, Any]] = [
    {"threshold": 0.1},
    {"threshold": pl.DataFrame({"g": [0, 1, 2], "threshold": [0.1, 0.4, -0.2]})},
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("adjust", [None, "holm"])
def test_point_metrics_of_groups_add_distances_in_quadrature(
    target: dict[str, Any], adjust: Any
) -> None:
    df = pairs(300, 3, gain=0.4)
    of_both: dict[str, Any] = {"eta": [0.1, 0.4], "score": "a", "metrics": POINTS, "confidence": 0.9}
    found = df.prc.compare(model="g", paired=False, adjust=adjust, columns="all", **of_both, **target)
    own = df.prc.operating_points(by="g", long=True, columns="all", **of_both, **target)
    points = {(r["eta"], r["metric"], r["g"]): r for r in own.to_dicts()}
    keys = ("eta", "metric", "model_a", "model_b")
    expected = [(eta, m, *two) for eta in (0.1, 0.4) for m in POINTS for two in ((0, 1), (0, 2), (1, 2))]
    assert found.select(keys).rows() == expected
    normal = NormalDist()
    z = normal.inv_cdf(0.95)
    stretch = normal.inv_cdf(1 - 0.1 / 3 / 2) / z if adjust else 1.0
    for row in found.to_dicts():
        a, b = (points[row["eta"], row["metric"], row[f"model_{side}"]] for side in "ab")
        below = math.hypot(a["value"] - a["low"], b["high"] - b["value"]) * stretch
        above = math.hypot(a["high"] - a["value"], b["value"] - b["low"]) * stretch
        difference = a["value"] - b["value"]
        assert (row["difference"], row["standard_error"], row["p_value"]) == (difference, None, None)
        assert row["low"] == pytest.approx(difference - below, rel=1e-12, abs=1e-15)
        assert row["high"] == pytest.approx(difference + above, rel=1e-12, abs=1e-15)
        cells = min(one[name] for one in (a, b) for name in ("tp", "fn", "fp", "tn"))
        assert (row["doubt"] is None) is (cells >= 10)
        towards_0 = below if difference > 0 else above
        decisive = abs(difference) >= 2 * towards_0 > 0
        is_outside = not row["low"] <= 0 <= row["high"]
        assert row["significant"] is (
            is_outside if row["doubt"] is None or decisive or not is_outside else None
        )


LEADS: dict[str, dict[str, Any]] = {
    "rows": {"score": ["a", "b"], "metrics": ALL_CURVE_METRICS},
    "weights": {"score": ["a", "b"], "weight": "weight"},
    "strata": {"score": ["a", "b"], "weight": "weight", "stratum": "stratum"},
    "clusters": {"score": ["a", "b"], "cluster": "cluster"},
    "three models": {"score": ["a", "b", "c"], "adjust": "holm"},
    "resamples": {"score": ["a", "b"], **BOOTSTRAP},
    "means": {"score": ["a", "b"], "mean_over": "cluster", "metrics": "roc_auc"},
    "threshold": {"score": ["a", "b"], "threshold": 1.0, "metrics": POINTS},
    "recall": {"score": ["a", "b"], "recall": 0.5, "metrics": POINTS},
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("design", LEADS)
def test_no_flag_contradicts_its_interval(design: str) -> None:
    """A difference is not called insignificant beside an interval that excludes 0, nor the reverse."""
    parts = []
    for n_pos, gain in ((4, 1.0), (4, 3.0), (12, 0.5), (12, 1.5), (60, 1.0)):
        rng = np.random.default_rng(n_pos)
        label = np.arange(10 * n_pos) < n_pos
        scores = {name: rng.normal(size=label.size) + k * gain * label for k, name in enumerate("cba")}
        df = pl.DataFrame({"label": label, "weight": 1.0, "stratum": label, **scores})
        parts.append(df.with_columns(cluster=pl.int_range(pl.len()) % 30, part=len(parts)))
    rows = pl.concat(parts).prc.compare(0.05, by="part", columns="all", **LEADS[design])
    assert rows["part"].n_unique() == 5
    flags, low, high = set(), pl.col("low"), pl.col("high")
    excludes_0 = rows.select((low > 0) | (high < 0)).to_series()
    for is_outside, flag, doubt in zip(excludes_0, rows["significant"], rows["doubt"], strict=True):
        assert flag in ([None] if is_outside is None else [is_outside, None] if is_outside else [False])
        assert flag is not None or doubt is not None
        flags.add((is_outside, flag))
    assert (True, True) in flags


def test_counts_are_compared_as_their_examples() -> None:
    df = pairs(200, 3).with_columns(score=pl.col("a").round(1))
    counted = df.prc.counts(by="g")
    how: dict[str, Any] = {"model": "g", "paired": False, "eta": [0.1, 0.4]}
    for more in ({}, {"recall": 0.5}, {"threshold": 0.2, "worst": True}):
        found = counted.prc.compare(counts=("n_pos", "n_neg"), columns="all", **how, **more)
        assert_same(found, df.prc.compare(columns="all", **how, **more))


_BOTH_ENDS = (("low", "high"), ("high", "low"))


@pytest.mark.slow
def test_the_best_and_the_worst_group_have_the_adjusted_interval() -> None:
    df = pairs(300, 4, gain=0.4)
    how: dict[str, Any] = {"model": "g", "paired": False, "eta": [0.1, 0.4], "score": "a"}
    asked: list[dict[str, Any]] = [
        {},
        {"metrics": ["roc_auc", metrics.best("fpr")]},
        {"threshold": 0.1, "metrics": ["fpr", "recall"]},
    ]
    for more in asked:
        every = df.prc.compare(adjust="holm", columns="all", **how, **more)
        found = df.prc.compare(worst=True, columns="all", **how, **more)
        assert found.columns == every.columns
        names = every["metric"].unique(maintain_order=True).to_list()
        assert found.select("eta", "metric").rows() == [(eta, m) for eta in (0.1, 0.4) for m in names]
        for row in found.to_dicts():
            of_all = every.filter(eta=row["eta"], metric=row["metric"])
            smaller_is_better = "fpr" in row["metric"]
            assert abs(row["difference"]) == of_all["difference"].abs().max()
            assert (row["difference"] <= 0) is smaller_is_better or row["difference"] == 0
            a, b = row["model_a"], row["model_b"]
            known = of_all.filter(model_a=min(a, b), model_b=max(a, b)).to_dicts()[0]
            assert row["p_adjusted"] == known["p_adjusted"]
            # The limits hold for all pairs of models at once, as in a ranking, and are narrower so.
            if known["low"] is not None:
                low, high = (known[end] if a < b else -known[other] for end, other in _BOTH_ENDS)
                assert low <= row["low"] <= row["difference"] <= row["high"] <= high


def test_groups_without_a_value_are_neither_best_nor_worst() -> None:
    df = pairs(100, 3).with_columns(label=pl.when(pl.col("g") == 1).then(0).otherwise("label"))
    how: dict[str, Any] = {"model": "g", "paired": False, "eta": 0.1, "score": "a", "metrics": "recall"}
    [row] = df.prc.compare(worst=True, threshold=0.0, columns="all", **how).to_dicts()
    assert {row["model_a"], row["model_b"]} == {0, 2}
    [row] = (
        df.filter(pl.col("g") < 2)
        .prc.compare(worst=True, threshold=0.0, columns="all", **how)
        .to_dicts()
    )
    assert [row[n] for n in ("difference", "low", "high", "significant")] == [None] * 4
    assert row["doubt"] == "one class"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (
            {"score": ["a", "b"], "worst": True},
            "worst=True is for models with their own examples",
        ),
        (
            {"score": ["a", "b"], "counts": ("label", "g")},
            "leave out counts=: score= names a column for each model",
        ),
        (
            {"paired": True, "counts": ("label", "g")},
            "counts= cannot show which examples the models share",
        ),
        ({"worst": 1}, "worst= takes True or False"),
        ({"worst": True, **BOOTSTRAP}, "leave out worst= or method="),
        ({"threshold": 0.5, **BOOTSTRAP}, "precision at a target has no bootstrap"),
        ({"recall": 0.5, "threshold": 0.5}, "call once for each target: at most one"),
        ({"recall": 0.5, "metrics": "roc_auc"}, "'roc_auc' has one value for a whole curve"),
        ({"metrics": "precision"}, "'precision' needs a threshold"),
        ({"per": 100}, "per= is the number of cases among which alerts are counted"),
        ({"worst": True, "metrics": "random_average_precision"}, "pass a metric with a direction"),
    ],
)
def test_targets_of_groups_are_refused_where_nothing_is_known(how: dict[str, Any], words: str) -> None:
    groups = {} if "score" in how else {"model": "g", "paired": False, "score": "a"}
    for door in (pairs(40, 2).prc, pairs(40, 2).lazy().prc):
        with pytest.raises(PrcError, match=words):
            door.compare(eta=0.1, columns="all", **groups | how)


def test_one_group_cannot_be_compared_at_a_target() -> None:
    with pytest.raises(PrcError, match="no group has two"):
        pairs(40).prc.compare(model="g", paired=False, score="a", eta=0.1, recall=0.5, columns="all")


def test_one_group_cannot_be_compared() -> None:
    with pytest.raises(PrcError, match="no group has two"):
        pairs(40).prc.compare(model="g", paired=False, score="a", eta=0.1, columns="all")


# Arguments ------------------------------------------------------------------------------------

DF = pairs(20).with_columns(a_32=pl.col("a").cast(pl.Float32))


@pytest.mark.parametrize("door", [prc(DF), prc(DF.lazy())], ids=["eager", "lazy"])
@pytest.mark.parametrize(
    ("how", "words"),
    [
        (
            {"score": 0.01, "model": "g", "id": "label"},
            "score= takes a column name or an expression; got",
        ),
        ({"score": ["a", 0.01]}, "score= takes column names; got 0.01"),
        ({"eta": ["a", "b"]}, r"pass models as score=\['a', 'b'\]"),
        ({}, "pass a list of columns as score=, or model= with id="),
        ({"model": "g"}, "pass a list of columns as score=, or model= with id="),
        ({"id": "g"}, "that names the models: there is no column 'model'"),
        (
            {"score": ["a", "b"], "paired": False},
            r"^leave paired= out.*models of a wide table share its rows",
        ),
        (
            {"model": "g", "id": "label", "paired": False, "score": "a"},
            "leave out id= with paired=False: id= matches examples",
        ),
        ({"paired": False, "score": "a"}, "names the models: there is no column 'model'"),
        ({"model": "g", "paired": 0, "score": "a"}, "paired= takes True or False"),
        ({"score": ["a", "b"], "model": "g"}, "leave out model=: score= names a column for each model"),
        ({"score": ["a", "b"], "id": "g"}, "leave out id=: score= names a column for each model"),
        ({"score": ["a"]}, r"compare\(\) takes two models or more; got score=\['a'\]"),
        ({"score": ["a", "a"]}, "name each score column once"),
        ({"score": ["a", "c"]}, "no column 'c' for score="),
        ({"score": ["a", "a_32"]}, "differ in dtype"),
        ({"score": ["a", "c"], "missing": "drop"}, "no column 'c' for score="),
        ({"model": "g", "id": "row", "score": "a"}, "there is no column 'row' for id="),
        ({"model": "modl", "id": "g", "score": "a"}, "there is no column 'modl' for model="),
        ({"score": ["a", "b"], "confidence": None}, "pass confidence=, a level"),
        ({"score": ["a", "b"], "confidence": 1}, "between 0 and 1"),
        (
            {"score": ["a", "b"], "confidence": intervals(0.9, method="rectangle")},
            r'pass "analytic" or "bootstrap": .* has no intervals by method="rectangle"',
        ),
        (
            {"score": ["a", "b"], "confidence": intervals(0.9, rate="jeffreys")},
            r'leave out rate="jeffreys": compare\(\) takes rate="wilson" only',
        ),
        (
            {"score": ["a", "b"], "confidence": intervals(0.9, simultaneous=True)},
            r"leave out simultaneous=: .* no simultaneous intervals",
        ),
        ({"score": ["a", "b"], "cluster": "h"}, "there is no column 'h' for cluster="),
        ({"score": ["a", "b"], "metrics": "auc"}, "did you mean 'roc_auc'"),
        (
            {"score": ["a", "b"], "by": pl.col("g").alias("p_value")},
            "rename the column 'p_value' of by=",
        ),
        ({"score": ["a", "b"], "eta": 2}, r"must be a share in \[0, 1\]"),
        ({"score": ["a", "b"], "eta": []}, "of each group; got none"),
    ],
)
def test_arguments(door: Any, how: dict[str, Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        door.compare(columns="all", **how)


def test_empty_tables() -> None:
    found = DF.clear().prc.compare(score=["a", "b"], by="g", columns="all")
    assert found.is_empty()
    assert found.schema == DF.prc.compare(0.1, score=["a", "b"], by="g", columns="all").schema
    assert (
        DF.clear().prc.compare(score=["a", "b"], by="g", columns="all", **AGAIN).schema == found.schema
    )


def test_models_of_any_dtype() -> None:
    """Long tables name models by values, which rise; wide ones by columns in the order given."""
    df = pairs(50).drop("g")
    by_name = df.prc.compare(0.1, score=["b", "a"], columns="all")
    assert by_name.select("model_a", "model_b").unique().row(0) == ("b", "a")
    long = df.prc.unpivot_scores(["a", "b"], name="model", score="score", row="id")
    for names in ([3, 7], [False, True], ["x", "y"], [None, "x"]):
        other = long.with_columns(model=pl.col("model").replace_strict(["a", "b"], names))
        found = other.prc.compare(
            model="model", id="id", eta=0.1, metrics=metrics.roc_auc, columns="all"
        )
        assert found.select("model_a", "model_b").row(0) == tuple(names)
        assert found.schema["model_a"] == other.schema["model"]


def _long(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.prc.unpivot_scores(["score", "other"], name="model", score="s").rename({"s": "score"})


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
@pytest.mark.parametrize("n", [400, 20_000])
def test_models_of_one_ranking_differ_by_nothing(engine: Any, n: int) -> None:
    """Errors of exactly 0, for which two models have to be summed in one order, on each engine."""
    frame = two_scores(n).with_columns(same=pl.col("score").exp())
    query = frame.lazy().prc.compare([0.1, 1e-6, 1.0], score=["score", "same"], columns="all")
    found = query.collect(engine=engine)
    assert set(found["standard_error"]) == set(found["low"]) == set(found["high"]) == {0.0}
    assert found["p_value"].null_count() == found.height


def test_nor_by_bootstrap() -> None:
    frame = two_scores().with_columns(same=pl.col("score").exp())
    found = frame.prc.compare(0.1, score=["score", "same"], columns="all", **BOOTSTRAP)
    assert set(found["standard_error"]) == {0.0}
    assert found["p_value"].null_count() == found.height


@pytest.mark.parametrize("options", [{}, BOOTSTRAP])
def test_what_has_no_two_models_is_refused(options: Any) -> None:
    long = _long(two_scores())
    names: dict[str, Any] = {"model": "model", "id": "id", "eta": 0.1, **options}
    assert_same(
        long.prc.compare(by="model", columns="all", **names), long.prc.compare(columns="all", **names)
    )  # it counts once
    with pytest.raises(PrcError, match="no group has two"):
        long.filter(pl.col("model") == "other").prc.compare(columns="all", **names)
    assert long.clear().prc.compare(columns="all", **names).height == 0
    # Beside groups that have two, one with a single model has no pair and no row.
    halves = long.with_columns(half=pl.col("id") % 2)
    found = halves.filter((pl.col("half") == 1) | (pl.col("model") == "other"))
    assert set(found.prc.compare(by="half", columns="all", **names)["half"]) == {1}


def test_a_name_that_looks_like_a_pattern_is_that_column() -> None:
    named = two_scores().rename({"other": "^score$"})
    found = named.prc.compare(0.1, score=["score", "^score$"], columns="all")
    expected = two_scores().prc.compare(0.1, score=["score", "other"], columns="all")
    assert set(found["model_b"]) == {"^score$"}
    assert found.drop("model_b").equals(expected.drop("model_b"))


def test_scores_are_names() -> None:
    with pytest.raises(PrcError, match="takes column names"):
        two_scores().prc.compare(score=[pl.col("score"), pl.col("other")], columns="all")  # type: ignore[list-item]
    with pytest.raises(PrcError, match="takes column names"):
        two_scores().prc.unpivot_scores([pl.col("score")])  # type: ignore[list-item]


# Small prevalences, and several pairs --------------------------------------------------------


def test_what_models_share_cancels_out() -> None:
    """Of models that err alike, the limits are those of extended curves, not of both intervals."""
    rng = np.random.default_rng(2)
    label = np.arange(60) < 20
    common = 1.5 * label + rng.normal(size=60)
    scores = {name: common + 0.2 * rng.normal(size=60) for name in "ab"}
    df = pl.DataFrame({"label": label, **scores})
    row = df.prc.compare(0.3, score=["a", "b"], metrics="average_precision", columns="all").row(
        0, named=True
    )
    one = Fraction(1)
    groups = [
        oracle.Group(
            {}, [(s, one * bool(y), one * (not y)) for s, y in zip(scores[m], label, strict=True)]
        )
        for m in "ab"
    ]
    eta, z = Fraction(0.3), oracle_errors.z_value(0.95)
    error = error_of_difference("average_precision", groups, eta, (20, 40), weighted=False)
    expected = interval_of_extended(
        groups, eta, (20, 40), difference=row["difference"], plain=error, z=z, weighted=False
    )
    assert [row[name] for name in ERRORS[:3]] == pytest.approx(expected[:3], rel=1e-8)
    assert row["p_value"] == pytest.approx(expected[3], abs=1e-6)
    ends = [oracle_errors.extend(group, eta, weighted=False) for group in groups]
    (low, _), (_, high) = (of.ends(z) for of in ends if of is not None)
    a, b = (of.plain[0] for of in ends if of is not None)
    assert a - b - row["low"] < 0.8 * math.hypot(a - low, high - b)


def test_a_new_version_of_a_model_is_told_apart() -> None:
    """By an interval that is hardly wider than chance alone would have it."""
    rng = np.random.default_rng(3)
    label = np.arange(2_100) < 100
    common = rng.normal(size=2_100)
    new, old = (0.98**0.5 * common + 0.02**0.5 * rng.normal(size=2_100) for _ in range(2))
    df = pl.DataFrame({"label": label, "new": new + 2.12 * label, "old": old + 2 * label})
    row = df.prc.compare(0.05, score=["new", "old"], metrics="average_precision", columns="all").row(
        0, named=True
    )
    assert row["significant"]
    assert row["p_value"] < 0.01
    assert row["high"] - row["low"] < 1.5 * 2 * 1.96 * row["standard_error"]


def test_one_model_owes_its_value_to_a_positive_that_others_may_lack() -> None:
    """Chance does not explain the difference, unseen examples do."""
    labels = [1, *[0] * 2000, *[1] * 99]
    df = pl.DataFrame({"label": labels, "a": range(2100, 0, -1)})
    df = df.with_columns(b=pl.when(pl.col("label") == 1).then(-pl.col("a")).otherwise("a"))
    row = df.prc.compare(1e-4, score=["a", "b"], metrics="average_precision", columns="all").row(
        0, named=True
    )
    assert row["difference"] > 0.009
    assert row["low"] < 0
    assert (row["significant"], row["doubt"]) == (False, "tail not seen")
    assert row["p_value"] > 0.05


def five_models(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    label = np.arange(n) < n // 3
    shifts = {"a": 1.0, "b": 1.1, "c": 1.7, "d": 1.8, "e": 0.0}
    scores = {name: rng.normal(size=n) + shift * label for name, shift in shifts.items()}
    return pl.DataFrame({"label": label, **scores})


def adjust_by_holm(p_values: list[float]) -> list[float]:
    """Holm's method, step by step."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, so_far = [0.0] * len(p_values), 0.0
    for step, place in enumerate(order):
        so_far = max(so_far, min(1.0, p_values[place] * (len(p_values) - step)))
        adjusted[place] = so_far
    return adjusted


def test_holm_adjusts_within_each_prevalence_and_metric() -> None:
    df, models = five_models(), list("abcde")
    plain = df.prc.compare([0.01, 0.1, 0.5], score=models, columns="all")
    found = df.prc.compare([0.01, 0.1, 0.5], score=models, adjust="holm", columns="all")
    assert found.columns == [*COLUMNS[:-2], "p_adjusted", *FLAGS]
    assert_same(found.select("difference", "p_value"), plain.select("difference", "p_value"))
    for part in found.partition_by("eta", "metric"):
        expected = adjust_by_holm(part["p_value"].to_list())
        assert part["p_adjusted"].to_list() == pytest.approx(expected, rel=1e-12)
    # The least p-value of ten is below 0.05 / 10 where its interval leaves out 0.
    outside = (pl.col("low") > 0) | (pl.col("high") < 0)
    assert found.filter(outside != (pl.col("p_value") < 0.005)).is_empty()
    assert found.filter(outside).height > 0


def test_holm_leaves_out_pairs_without_a_p_value() -> None:
    df = five_models().with_columns(f=pl.col("e"))
    found = df.prc.compare(
        0.1, score=["a", "c", "e", "f"], metrics="roc_auc", adjust="holm", columns="all"
    )
    same = (pl.col("model_a") == "e") & (pl.col("model_b") == "f")
    assert found.filter(same).select("p_value", "p_adjusted").row(0) == (None, None)
    known = found.filter(~same)
    expected = adjust_by_holm(known["p_value"].to_list())
    assert known["p_adjusted"].to_list() == pytest.approx(expected, rel=1e-12)


def test_what_adjust_refuses() -> None:
    df = five_models(60)
    with pytest.raises(PrcError, match='adjust= takes "holm"'):
        df.prc.compare(0.1, score=["a", "b"], adjust="bonferroni", columns="all")  # type: ignore[arg-type]
    with pytest.raises(PrcError, match='adjust= is for method="analytic"'):
        df.prc.compare(0.1, score=["a", "b"], adjust="holm", columns="all", **BOOTSTRAP)


def test_ten_errors_are_resolved_even_if_no_interval_is_reliable() -> None:
    df = five_models(120)
    found = df.prc.compare(0.1, score=["d", "e"], columns="all").to_dicts()
    assert all(row["significant"] for row in found)
    assert not all((row["doubt"] is None) for row in found)
    # A difference that chance explains is not.
    assert not any(
        row["significant"] for row in df.prc.compare(0.1, score=["a", "b"], columns="all").to_dicts()
    )


# Not worse by more than a margin ------------------------------------------------------------------


def make_versions() -> pl.DataFrame:
    """Return two versions of a model, alike, on 3,000 rows in two groups."""
    draw = np.random.default_rng(8)
    label = draw.random(3_000) < 0.1
    old = draw.normal(size=3_000) + 2 * label
    new = old + 0.2 * draw.normal(size=3_000)
    topic = np.arange(3_000) % 20
    return pl.DataFrame({"label": label, "new": new, "old": old, "topic": topic})


VERSIONS = make_versions()
MARGINS: dict[str, dict[str, Any]] = {
    "areas": {"metrics": ["average_precision", "roc_auc"]},
    "default metrics": {},
    "a threshold": {"threshold": 1.5, "metrics": ["precision", "fpr", "fnr"]},
    "a target": {"recall": 0.5, "metrics": "fdr"},
    "by bootstrap": {
        "metrics": "best(f1)",
        "confidence": intervals(0.9, method="bootstrap", seed=1, resamples=40),
    },
    "means": {"mean_over": "topic", "adjust": "holm"},
}
LESS_IS_BETTER = ("fpr", "fnr", "fdr")


def find_lead(metric: str, difference: float, low: float, high: float) -> tuple[float, float]:
    """Return by how much the first model is better, and the least that the interval allows."""
    return (-difference, -high) if metric in LESS_IS_BETTER else (difference, low)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", MARGINS)
def test_not_worse_is_read_off_an_interval_beyond_doubt(name: str) -> None:
    test, asked = prc(VERSIONS, score=["new", "old"]), MARGINS[name]
    plain = test.compare(0.05, **asked)
    leads = [find_lead(*row) for row in plain.select("metric", "difference", "low", "high").iter_rows()]
    for margin in (0, 0.01, max(0.0, *(-end for _, end in leads))):
        found = test.compare(0.05, margin=margin, **asked)
        doubts = plain["doubt"].is_not_null()
        expected = [
            None if doubt and 0 <= end + margin < lead - end else end >= -margin
            for (lead, end), doubt in zip(leads, doubts, strict=True)
        ]
        assert found["not_worse"].to_list() == expected
        assert_frame_equal(found.drop("not_worse"), plain)
        place = found.columns.index("not_worse")
        assert found.columns[place - 1] == "significant"
    if name == "areas":
        whole = test.compare(0.05, margin=margin, columns="all", **asked)
        assert whole["not_worse"].to_list() == found["not_worse"].to_list()
    if name not in ("by bootstrap", "default metrics"):
        lazy = prc(VERSIONS.lazy(), score=["new", "old"]).compare(0.05, margin=margin, **asked)
        assert_frame_equal(lazy.collect(), found, check_exact=True)


def test_a_model_is_held_against_the_point_of_a_reader() -> None:
    reader = pl.DataFrame({"tp": [70], "fp": [300], "fn": [30], "tn": [700]}).prc(
        cells=("tp", "fp", "fn", "tn")
    )
    asked: dict[str, Any] = {"other": reader, "match": "recall", "metrics": ["fpr", "precision"]}
    found = VERSIONS.prc.compare(0.1, score="new", margin=0.02, **asked)
    ends = [found["high"][0], -found["low"][1]]
    assert found["not_worse"].to_list() == [end <= 0.02 for end in ends] == [True, True]


def test_not_worse_is_null_where_significant_would_be() -> None:
    rng = np.random.default_rng(3)
    label = np.arange(600) < 40
    shared = rng.normal(size=600) + 2 * label
    rows = pl.DataFrame({"label": label, "old": shared, "topic": np.arange(600) % 5})
    rows = rows.with_columns(new=pl.col("old") + 0.3 * rng.normal(size=600), same=2 * pl.col("old"))
    for words, doubt in (({"mean_over": "topic"}, "few groups"), ({}, "few positives")):
        asked: dict[str, Any] = {"score": ["new", "old"], "metrics": "roc_auc", **words}
        lead, low = rows.prc.compare(0.1, **asked).select("difference", "low").row(0)
        for margin, expected in ((-low * 0.99, False), (-low, None), (0.99 * (lead - 2 * low), None)):
            found = rows.prc.compare(0.1, margin=margin, **asked)
            assert found.select("not_worse", "doubt").row(0) == (expected, doubt), margin
        assert rows.prc.compare(0.1, margin=1.01 * (lead - 2 * low), **asked)["not_worse"].item()
    few = rows.filter(pl.col("label").cum_sum().is_between(1, 9) | ~pl.col("label"))
    for score, frame, expected in (
        (["same", "old"], rows, [True] * 2),
        (["new", "old"], few, [None] * 2),
    ):
        found = frame.prc.compare(0.1, score=score, margin=0.9)
        assert found["not_worse"].to_list() == expected
    perfect = rows.with_columns(old=pl.col("label") * 9.0 + pl.col("topic"), new=pl.col("label") * 9.0)
    found = perfect.prc.compare(0.1, score=["new", "old"], metrics="roc_auc", margin=0.02)
    assert found["not_worse"].to_list() == [None]


def test_not_worse_is_null_without_an_interval() -> None:
    two = VERSIONS.head(40)
    found = two.prc.compare(0.1, score=["new", "old"], metrics="pr_auc", margin=0.1)
    assert found["not_worse"].to_list() == [None]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"margin": -0.1}, "margin= takes a number of at least 0 on the scale of the metric"),
        ({"margin": "two"}, "margin= takes a number"),
        ({"margin": 2}, "0.02 for 2 points; average_precision goes from 0 to 1; got 2"),
        ({"margin": 1, "metrics": "roc_auc"}, "roc_auc goes from 0 to 1"),
        (
            {"margin": 0.1, "threshold": 1, "metrics": "predicted_positive_rate"},
            "pass a metric with a direction",
        ),
    ],
)
def test_margins_that_are_none(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(PrcError, match=words):
        VERSIONS.prc.compare(0.1, score=["new", "old"], **asked)
