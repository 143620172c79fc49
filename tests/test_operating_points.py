"""Operating points: each target against the rows of the sweep, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, eta_for_precision, from_rates, metrics, prc
from tests.support import oracle
from tests.support.all_metrics import ALL_POINT_METRICS
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.strategies import SCORES, Table, several, tables
from tests.support.tiers import slow_unless

etas = several(0.001, 0.3, 0.9) | several(None, 0.0123)
rates = st.lists(st.sampled_from([0.0, 0.001, 0.25, 1 / 3, 0.5, 0.75, 1.0]), max_size=2)
KINDS = dict.fromkeys(["recall", "fpr", "precision", "predicted_positive_rate"], rates)
"""In the order of the arguments."""
POINT = ["eta", "criterion", "target", "threshold", "tp", "fp", "fn", "tn", "recall", "fpr"]


def chosen(rows: list[dict[str, Any]], criterion: str, target: Any, metric: str) -> Any:
    """The row of one curve that meets a target, or misses it by rounding: the definition."""
    room = 2.0**-50 * (target or 0)

    def where(name: str, *, most: bool) -> list[dict[str, Any]]:
        known = [row for row in rows if row[name] is not None]
        return [r for r in known if (r[name] <= target + room if most else r[name] >= target - room)]

    if criterion == "recall":
        return next(iter(where("recall", most=False)), None)
    if criterion in ("fpr", "predicted_positive_rate"):
        return next(reversed(where(criterion, most=True)), None)
    if criterion == "precision":
        return next(reversed(where("precision", most=False)), None)
    known = [row for row in rows if row[metric] is not None]
    return max(known, key=lambda row: row[metric], default=None)  # the first of equals


@examples(120)
@given(tables(weights=["", "small integers", "floats"]), etas, st.fixed_dictionaries(KINDS))
def test_each_target(table: Table, eta: list[float | None], asked: dict[str, list[float]]) -> None:
    options = {"by": table.by, "pos_label": table.pos_label, "weight": table.weight}
    shown = ["precision", "f1", "predicted_positive_rate"]
    targets: list[tuple[str, float | None]] = [(kind, v) for kind in KINDS for v in asked[kind]]
    targets.append(("maximize(f1)", None))
    found = prc(table.frame).operating_points(
        eta, maximize="f1", metrics=shown, columns="all", **asked, **options
    )
    assert found.columns == [*table.by, *POINT, *shown]
    curve = prc(table.frame).curve(eta, metrics=shown, **options)
    keys = [*table.by, "eta"]
    parts: dict[Any, list[dict[str, Any]]] = {}
    for row in curve.to_dicts():
        parts.setdefault(str([row[name] for name in keys]), []).append(row)
    points = found.to_dicts()
    assert [p["criterion"] for p in points] == [c for c, _ in targets] * (len(points) // len(targets))
    for number, point in enumerate(points):
        criterion, target = targets[number % len(targets)]
        assert (point["criterion"], point["target"]) == (criterion, target)
        rows = parts.get(str([point[name] for name in keys]), [])
        expected = chosen(rows, criterion, target, "f1")
        for name in [*POINT[3:], *shown]:
            assert point[name] == (None if expected is None else expected[name]), (name, point)


@examples(80)
@given(tables(weights=["", "small integers", "floats"]), st.sampled_from([None, 0.001, 0.9]), st.data())
def test_thresholds_as_expressions(table: Table, eta: float | None, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([*KINDS, "maximize"]))
    some = (
        ["f1", "mcc", metrics.net_benefit(0.2), "fdr"] if kind == "maximize" else [0.0, 0.25, 0.5, 1.0]
    )
    target: dict[str, Any] = {kind: data.draw(st.sampled_from(some))}
    options: dict[str, Any] = {"pos_label": table.pos_label, "weight": table.weight}
    frame = table.frame
    if table.pos_label is not None:  # a group may hold none
        frame = frame.with_columns(label=table.positive)
        options["pos_label"] = None
    found = prc(frame).operating_points(eta, by=table.by, columns="all", **target, **options)
    threshold = pl.col("score").prc.threshold("label", eta, **target, **options)
    if table.by:
        # Frames have no row for a group whose rows all have weight 0, and expressions a null.
        counted = frame if table.weight is None else frame.filter(pl.col(table.weight) > 0)
        grouped = counted.group_by(table.by).agg(threshold.alias("threshold"))
        expected = found.select(*table.by, "threshold")
        assert_same(grouped.sort(table.by), expected.sort(table.by))
    elif found.height:
        assert_same(frame.select(threshold.alias("threshold")), found.select("threshold"))


def test_shares_may_be_texts() -> None:
    label = np.arange(400) % 4 == 0
    score = np.random.default_rng(1).normal(size=400) + 2 * label
    frame = pl.DataFrame({"label": label, "score": score, "other": score**3, "week": np.arange(400) % 3})
    frame = frame.with_columns(p=1 / (1 + (1 - pl.col("score")).exp()))
    table, pair = frame.prc(), frame.prc(score=["score", "other"])
    for texts, numbers in (
        ({"recall": "80%", "fpr": ["5%", 0.1]}, {"recall": 0.8, "fpr": [0.05, 0.1]}),
        ({"precision": " 62.5 % ", "npv": ("90%",)}, {"precision": 0.625, "npv": [0.9]}),
    ):
        found = table.operating_points("10%", columns="all", confidence=0.9, **texts)
        assert found.equals(table.operating_points(0.1, columns="all", confidence=0.9, **numbers))
    target, share = {"precision": "50%"}, {"precision": 0.5}
    assert str(table.decide(0.1, threshold=1, **target)) == str(table.decide(0.1, threshold=1, **share))
    assert pair.ranking(0.1, **target).equals(pair.ranking(0.1, **share))
    assert table.sample_size(0.1, recall="50%").equals(table.sample_size(0.1, recall=0.5))
    chart = pair.plot.alerts(0.1, **target).to_dict()
    assert chart == pair.plot.alerts(0.1, **share).to_dict()
    margins = [pair.compare(0.1, margin=margin, confidence=0.9) for margin in ("2%", 0.02)]
    assert margins[0].equals(margins[1])
    alarms = [table.monitor("week", reference=rate, threshold=1) for rate in ("40%", 0.4)]
    assert alarms[0].equals(alarms[1])
    expression = pl.col("score").prc
    one, other = (expression.threshold("label", eta=0.1, **words) for words in (target, share))
    assert frame.select(one).equals(frame.select(other))
    for texts, numbers in (
        ({"recall": "4/5", "confidence": "90%"}, {"recall": 0.8, "confidence": 0.9}),
        ({"precision": "1:3", "guarantee": "80%"}, {"precision": 0.25, "guarantee": 0.8}),
        ({"alerts": "30/100"}, {"alerts": 30, "per": 100}),
        ({"alerts": ["30/100", "5/100"], "per": 50}, {"alerts": [15, 2.5], "per": 50}),
    ):
        found = table.operating_points("1/10", **texts)
        assert found.equals(table.operating_points(0.1, **numbers))
    texts = {"delta": "20%", "confidence": "9/10", "assurance": "80%", "recall": "1/2"}
    numbers = {"delta": 0.2, "confidence": 0.9, "assurance": 0.8, "recall": 0.5}
    assert table.sample_size(eta=0.1, **texts).equals(table.sample_size(eta=0.1, **numbers))
    risks = [
        table.decision_curve(eta=None, score="p", probabilities=risks) for risks in (["5%"], [0.05])
    ]
    assert risks[0].equals(risks[1])
    sizes = {"fpr": 0.1, "n_pos": 50, "n_neg": 50}
    rows = [from_rates(recall=rate, **sizes).operating_points(0.1) for rate in ("90%", 0.9)]
    assert rows[0].equals(rows[1])


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({}, "pass a target or a threshold"),
        ({"recall": 0.5, "fpr": 0.1}, r"one expression for each target .*; got 2"),
        ({"recall": [0.5, 0.6]}, "got 2"),
        ({"recall": 1.5}, r"recall= takes numbers in \[0, 1\]"),
        ({"precision": 0.5, "eta": [0.1, 0.2]}, "each returns a single value"),
        ({"maximize": "predicted_positive_rate"}, "with a direction"),
    ],
)
def test_threshold_refuses(options: dict[str, Any], hint: str) -> None:
    with pytest.raises(PrcError, match=hint):
        pl.col("score").prc.threshold("label", **options)


@examples(80)
@given(st.data())
def test_thresholds_as_given(data: st.DataObject) -> None:
    table = data.draw(tables(weights=["", "small integers"]))
    asked = data.draw(st.lists(SCORES[table.score_dtype], min_size=1, max_size=3))
    options = {"by": table.by, "pos_label": table.pos_label, "weight": table.weight}
    found = prc(table.frame).operating_points(
        threshold=asked, metrics="precision", columns="all", **options
    )
    assert found.schema["threshold"] == table.score_dtype
    groups = oracle.groups(
        table.frame.to_dicts(),
        by=table.by,
        pos_label=table.pos_label,
        weight=table.weight,
        categories=table.categories,
    )
    expected = [oracle.count_at(group, threshold) for group in groups for threshold in asked]
    assert found.height == len(expected)
    for actual, row in zip(found.to_dicts(), expected, strict=True):
        assert actual["threshold"] == row["threshold"]
        for name in ("tp", "fp", "fn", "tn"):
            assert actual[name] == row[name]
        for name in ("recall", "fpr"):
            assert actual[name] == (None if row[name] is None else pytest.approx(float(row[name])))


HUGE = 10**400
NUMBERS: list[Any] = [
    *(0.1, 0.3, 0.5, 10.5, -0.0, 5e-324, 1e300, -1e300, math.inf, -math.inf, np.float32(0.1)),
    *(2**53 + 1, 2**62 + 1, 2**63, -(2**63) - 1, 2**100 - 1, 2**127, 2**128, -(2**128), HUGE),
    *(Fraction(1, 3), Decimal("0.1"), Decimal("0.105"), Decimal("1e-400"), np.int64(3), np.float16(1.5)),
]
"""Thresholds between scores, beyond the range of a dtype, and next to numbers that share one float."""


def to_exact(number: Any) -> Any:
    """Return a number that Python compares exactly with any other: a fraction, or an infinity."""
    if isinstance(number, Integral):
        return Fraction(int(number))
    if isinstance(number, Decimal | Fraction):
        return Fraction(number)
    return float(number) if math.isinf(number) else Fraction(float(number))


def greatest_score(dtype: pl.DataType) -> Any:
    """Return the greatest value that a score of this dtype may have."""
    if dtype.is_float():
        return math.inf
    if isinstance(dtype, pl.Decimal):
        return Fraction(10**dtype.precision - 1, 10**dtype.scale)
    return 1 if dtype == pl.Boolean else pl.select(dtype.max()).item()


@examples(120)
@given(
    tables(weights=["", "small integers"]), st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3)
)
def test_any_number_is_a_threshold(table: Table, asked: list[Any]) -> None:
    """A row is that of score >= number, as real numbers are compared, for scores of every dtype."""
    options = {"by": table.by, "pos_label": table.pos_label, "weight": table.weight}
    rows = [{**row, "score": to_exact(row["score"])} for row in table.rows]
    groups = [group for group in oracle.groups(rows, **table.oracle) if group.scores]
    expected = [oracle.count_at(group, to_exact(number)) for group in groups for number in asked]
    cells = ["tp", "fp", "fn", "tn"]
    points = prc(table.frame).operating_points(
        threshold=asked, metrics="precision", columns="all", **options
    )
    assert points.select(cells).rows() == [tuple(row[name] for name in cells) for row in expected]
    shown = [math.inf if number is HUGE else float(number) for number in asked]
    assert points["target"].to_list() == shown * len(groups)
    assert points.schema["threshold"] == table.score_dtype
    for number, least in zip(asked * len(groups), points["threshold"].to_list(), strict=True):
        # The threshold in the score's own dtype flags the same rows, so users may compare with it.
        if least is None:
            assert to_exact(number) > greatest_score(table.score_dtype)
        else:
            assert to_exact(least) >= to_exact(number)
            assert not any(to_exact(number) <= row["score"] < to_exact(least) for row in rows)
    sweep = prc(table.frame).sweep(thresholds=asked, **options)
    own = ["threshold", *cells]
    parts = [points[i : i + len(asked)].select(own).unique() for i in range(0, len(points), len(asked))]
    falling = [part.sort("threshold", descending=True, nulls_last=False) for part in parts]
    assert sweep.select(own).rows() == [row for part in falling for row in part.rows()]


LEAST: list[tuple[pl.DataType, Any, Any]] = [
    (pl.Float64(), 0.3, 0.3),
    (pl.Float64(), Decimal("0.3"), 0.30000000000000004),
    (pl.Float64(), 2**53 + 1, 2.0**53 + 2),
    (pl.Float32(), 0.1, 0.10000000149011612),
    (pl.Float32(), 0.7, 0.7000000476837158),  # the nearest Float32 is below 0.7
    (pl.Float32(), np.float32(0.7), 0.699999988079071),
    (pl.Float32(), 1e300, math.inf),
    (pl.Float32(), -1e300, -3.4028234663852886e38),
    (pl.Float16(), 1 / 3, 0.33349609375),
    (pl.Int64(), 10.0, 10),
    (pl.Int64(), 10.5, 11),
    (pl.Int64(), -math.inf, -(2**63)),
    (pl.UInt8(), -3.5, 0),
    (pl.UInt8(), 255.5, None),
    (pl.UInt64(), 2**63 + 0.0, 2**63),
    (pl.Int128(), 2**100 - 1, 2**100 - 1),
    (pl.Decimal(10, 2), 0.105, Decimal("0.11")),
    (pl.Decimal(10, 2), 1e8, None),
    (pl.Boolean(), 0.5, True),
    (pl.Boolean(), True, True),
    (pl.Boolean(), 0, False),
    (pl.Boolean(), 1.5, None),
]


@pytest.mark.parametrize(("dtype", "number", "least"), LEAST, ids=str)
def test_the_threshold_is_the_least_score_that_reaches_the_number(
    dtype: pl.DataType, number: Any, least: Any
) -> None:
    df = pl.DataFrame({"score": pl.Series([0, 1], dtype=pl.Int8).cast(dtype), "label": [0, 1]})
    point = df.prc.operating_points(0.1, threshold=number, columns="all")
    assert point.select("target", "threshold").row(0) == (float(number), least)
    swept = df.prc.sweep(thresholds=[number, number])
    assert swept["threshold"].to_list() == [least]
    assert_same(swept, point.select(swept.columns))


TEXTS: list[tuple[pl.DataType, str, Any]] = [
    (pl.Float64(), "\u22121.65", -1.65),  # as verdicts are printed
    (pl.Float32(), "0.7", 0.699999988079071),  # the score that is written so, though below 0.7
    (pl.Float32(), "0.33333334", 0.3333333432674408),
    (pl.Float32(), "inf", math.inf),
    (pl.Int8(), "6.5", 7),
    (pl.Int8(), "\u22122", -2),
    (pl.UInt64(), str(2**64 - 1), 2**64 - 1),
    (pl.Decimal(9, 2), "0.07", Decimal("0.07")),
    (pl.Decimal(9, 2), "1e-3", Decimal("0.01")),
    (pl.Boolean(), "true", True),
    (pl.Boolean(), "False", False),
    (pl.Boolean(), "0.5", True),
]


@pytest.mark.parametrize(("dtype", "text", "least"), TEXTS, ids=str)
def test_a_threshold_in_text_is_the_score_that_is_written_so(
    dtype: pl.DataType, text: str, least: Any
) -> None:
    df = pl.DataFrame({"score": pl.Series([0, 1], dtype=pl.Int8).cast(dtype), "label": [0, 1]})
    texts = pl.DataFrame({"threshold": [text]})
    for threshold in (text, [text], texts):
        point = df.prc.operating_points(0.1, threshold=threshold, columns="all")
        assert point["threshold"].to_list() == [least]
    assert df.prc.sweep(thresholds=[text])["threshold"].to_list() == [least]


@pytest.mark.parametrize("dtype", [pl.Float64(), pl.Int64(), pl.Boolean()], ids=str)
@pytest.mark.parametrize("text", ["50%", "0,5", "x", "nan", ""])
def test_a_text_that_is_no_number_is_refused(dtype: pl.DataType, text: str) -> None:
    df = pl.DataFrame({"score": pl.Series([0, 1], dtype=pl.Int8).cast(dtype), "label": [0, 1]})
    for threshold in (text, pl.DataFrame({"threshold": [text]})):
        with pytest.raises(PrcError, match="number"):
            df.prc.operating_points(0.1, threshold=threshold)


@pytest.mark.parametrize(
    "number",
    slow_unless(
        lambda number: isinstance(number, Fraction) or number == math.inf,
        [10.5, "10.5", Decimal("10.5"), Fraction(21, 2), 1e300, math.inf],
    ),
    ids=str,
)
def test_every_method_takes_any_number_as_a_threshold(number: Any) -> None:
    """An integer score reaches 10.5 just if it reaches 11; no score reaches 1e300."""
    df = pl.DataFrame({"model": ["a", "b"] * 40, "label": [i % 3 == 0 for i in range(80)]})
    df = df.with_columns(score=pl.Series([(i * 37) % 23 for i in range(80)]))
    least = 11 if float(number) < 100 else 2**62
    calls: dict[str, Callable[[Any], pl.DataFrame]] = {
        "operating_points": lambda t: df.prc.operating_points(
            0.1, threshold=t, confidence=0.9, columns="all"
        ),
        "sample_size": lambda t: df.prc.sample_size(threshold=t, by="model"),
        "resolution": lambda t: df.prc.sample_size(threshold=t, by="model", solve_for="eta"),
        "ranking": lambda t: df.prc.ranking([0.1, 0.9], metric="f1", threshold=t, columns="all"),
        "crossings": lambda t: df.prc.crossings(metric="f1", threshold=t),
        "leaders": lambda t: df.prc.crossings(metric="f1", threshold=t, leaders=True),
        "sweep": lambda t: df.prc.sweep(thresholds=[t, 3]),
        "curve": lambda t: df.prc.curve([0.1, 0.9], thresholds=[t, 3], confidence=0.9),
        "subsample_negatives": lambda t: df.prc.subsample_negatives(0.6, thresholds=[t, 3], seed=1),
    }
    for name, call in calls.items():
        found, expected = (
            table.drop("threshold", "target", strict=False) for table in (call(number), call(least))
        )
        assert found.height > 0 or name == "crossings", name
        assert_same(found, expected)
    assert df.prc.plot.p3_curve(threshold=number, by="model").to_dict()["title"]


@pytest.mark.parametrize(
    "metric",
    slow_unless(lambda metric: metric in ALL_POINT_METRICS[::3], ALL_POINT_METRICS),
    ids=lambda metric: metric.name,
)
def test_best_of_each_metric(metric: metrics.PointMetric) -> None:
    df = pl.DataFrame(
        {"score": [i * 37 % 23 for i in range(60)], "label": [i * 11 % 7 < 2 for i in range(60)]}
    )
    if metric.direction == "none":
        with pytest.raises(PrcError, match="with a direction"):
            df.prc.operating_points(maximize=metric, columns="all")
        return
    for eta in (None, 1e-6, 0.1, 0.9):
        point = df.prc.operating_points(eta, maximize=metric, metrics=metric, columns="all")
        curve = df.prc.curve(eta, metrics=metric).filter(pl.col(metric.name).is_not_null())
        least = metric.direction == "minimize"
        best = curve[metric.name].min() if least else curve[metric.name].max()
        first = curve.filter(pl.col(metric.name) == best).head(1)
        assert_same(point.select(first.columns), first)


SMALL_COUNTS = [(n_pos, n_neg) for n_pos in range(1, 61) for n_neg in range(1, 61)]
FLAG_ALL = pl.DataFrame(
    {"group": range(len(SMALL_COUNTS)), "score": 1.0}
    | dict(zip(("n_pos", "n_neg"), zip(*SMALL_COUNTS, strict=True), strict=True))
)
OF_COUNTS: Any = {"counts": ("n_pos", "n_neg"), "by": "group"}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("eta", [0.1, 0.01, 1 / 3, 0.5, 0.9, 1e-300, 1 - 1e-9, 0.0, 1.0])
def test_precision_of_flagging_all_is_eta(eta: float) -> None:
    """To the last bit, so that the target eta finds the last row; fdr has the digits of its counts."""
    asked = ["precision", "fdr", "lift"]
    for given_eta in (eta, pl.DataFrame({"eta": [eta]})):
        row = prc(FLAG_ALL).curve(given_eta, metrics=asked, **OF_COUNTS)
        assert row["precision"].unique().to_list() == [eta]
        assert row["fdr"].to_list() == pytest.approx([1 - eta] * row.height, rel=1e-15)
        assert eta == 0 or row["lift"].unique().to_list() == [1.0]
    points = prc(FLAG_ALL).operating_points(eta, precision=eta, columns="all", **OF_COUNTS)
    assert points["threshold"].to_list() == FLAG_ALL["score"].to_list()
    points = prc(FLAG_ALL).operating_points(eta, fdr=1 - eta, columns="all", **OF_COUNTS)
    assert points["threshold"].to_list() == FLAG_ALL["score"].to_list()
    recalls = prc(FLAG_ALL).summary(
        eta, metrics=metrics.recall_at_precision(eta), columns="all", **OF_COUNTS
    )
    assert recalls["value"].unique().to_list() == [1.0]


def test_a_target_that_is_met_exactly_is_met() -> None:
    """Round numbers: precision is equal to a decimal by the counts, and rounding must not hide it."""
    tried = 0
    for per_mille in (1, 100, 500):
        eta = Fraction(per_mille, 1000)
        exact: dict[tuple[int, int, int, int], Fraction] = {}
        for n_pos, n_neg in product((5, 8, 20), (10, 19, 999)):
            for tp, fp in product(range(1, n_pos + 1), range(1, 11)):
                positive, negative = eta * Fraction(tp, n_pos), (1 - eta) * Fraction(fp, n_neg)
                precision = positive / (positive + negative)
                if (precision * 1000).denominator == 1:
                    exact[tp, fp, n_pos - tp, n_neg - fp] = precision
        table = pl.DataFrame(
            [
                {"group": number, "score": score, "n_pos": n_pos, "n_neg": n_neg}
                for number, (tp, fp, fn, tn) in enumerate(exact)
                for score, n_pos, n_neg in ((1, tp, fp), (0, fn, tn))
            ]
        )
        of_target: dict[Fraction, list[int]] = {}
        for number, precision in enumerate(exact.values()):
            of_target.setdefault(precision, []).append(number)
        for precision, numbers in of_target.items():
            rows = table.filter(pl.col("group").is_in(numbers))
            points = prc(rows).operating_points(
                float(eta), precision=float(precision), columns="all", **OF_COUNTS
            )
            assert points["recall"].null_count() == 0
            asked = metrics.recall_at_precision(float(precision))
            best = prc(rows).summary(float(eta), metrics=asked, columns="all", **OF_COUNTS)["value"]
            assert best.to_list() == points["recall"].to_list()
            tried += len(numbers)
    assert tried > 60


def test_missed_positives_keep_their_digits() -> None:
    """Of 10**15 positives one is missed, which 1 - recall would tell to two digits."""
    table = pl.DataFrame({"score": [1, 0], "n_pos": [10**15 - 1, 1], "n_neg": [1, 10**6]})
    found = prc(table).operating_points(
        0.01, fpr=1e-6, per=1e6, counts=("n_pos", "n_neg"), columns="all"
    )
    assert found["missed"].item() == pytest.approx(0.01 * 1e6 / 10**15, rel=1e-15)


def test_alerts_among_so_many_events() -> None:
    """500 alerts a day at 2 million events: the budget is kept, and no lower threshold keeps it."""
    n = 20_000
    df = pl.DataFrame(
        {"score": [(i * 7919) % n for i in range(n)], "label": [i % 50 == 0 for i in range(n)]}
    )
    df = df.with_columns(score=pl.col("score") + 15_000 * pl.col("label"))
    eta, budget = 0.0001, 500 / 2_000_000
    [point] = df.prc.operating_points(
        eta, predicted_positive_rate=budget, per=2_000_000, columns="all"
    ).to_dicts()
    assert point["alerts"] <= 500
    assert point["true_alerts"] == pytest.approx(2_000_000 * eta * point["recall"])
    assert point["missed"] + point["true_alerts"] == pytest.approx(2_000_000 * eta)
    assert point["alerts"] * point["precision"] == pytest.approx(point["true_alerts"])
    lower = df.prc.curve(eta, metrics="predicted_positive_rate").filter(
        pl.col("threshold") < point["threshold"]
    )
    assert (lower["predicted_positive_rate"] > budget).all()


def test_balanced_precision_of_hard_classifiers() -> None:
    """Confusion matrices as two scores: 0.64 and 0.90, and 0.94 for the better recall."""
    for tp, fp, fn, tn, expected in ((90, 50, 10, 850, "0.64"), (90, 10, 10, 170, "0.90")):
        counts = pl.DataFrame({"score": [True, False], "n_pos": [tp, fn], "n_neg": [fp, tn]})
        options = {"counts": ("n_pos", "n_neg"), "threshold": True}
        point = counts.prc.operating_points(0.5, metrics="balanced_precision", columns="all", **options)
        assert point["threshold"].to_list() == [True]
        at_half = Fraction(tp, tp + fn) / (Fraction(tp, tp + fn) + Fraction(fp, fp + tn))
        assert point["balanced_precision"].item() == pytest.approx(float(at_half), rel=1e-15)
        own = counts.prc.operating_points(metrics="precision", columns="all", **options)[
            "precision"
        ].item()
        assert f"{own:.2f}" == expected
        assert f"{point['balanced_precision'].item():.2f}" == "0.94"


def test_a_curve_of_precision_against_prevalence() -> None:
    df = pl.DataFrame({"score": [5, 4, 3, 2, 1], "label": [1, 0, 1, 0, 0]})
    grid = [1e-4, 1e-3, 0.01, 0.1, 0.5]
    points = df.prc.operating_points(grid, recall=1.0, metrics="precision", columns="all")
    assert points["threshold"].to_list() == [3] * 5
    for eta, precision in points.select("eta", "precision").rows():
        assert eta_for_precision(1.0, 1 / 3, precision) == pytest.approx(eta)


def test_long_is_the_wide_table_turned() -> None:
    df = pl.DataFrame({"score": [5, 4, 3, 2, 1], "label": [1, 0, 1, 0, 0]})
    options: dict[str, Any] = {"recall": [0.5, 1.0], "precision": 0.9, "metrics": ["mcc", "f1"]}
    wide = df.prc.operating_points([0.1, 0.5], columns="all", **options)
    long = df.prc.operating_points([0.1, 0.5], long=True, columns="all", **options)
    turned = wide.unpivot(["mcc", "f1"], index=POINT, variable_name="metric", value_name="value")
    order = [*POINT[:3], "metric"]
    assert_same(long.sort(order), turned.sort(order))
    assert long["metric"].to_list() == ["mcc", "f1"] * 6


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({}, "pass a target or a threshold"),
        ({"recall": 1.5}, r"recall= takes numbers in \[0, 1\]"),
        ({"fpr": "few"}, 'fpr= takes numbers in .0, 1., such as 0.8 or "80%"; got'),
        ({"recall": "80 percent"}, "recall="),
        ({"recall": "101%"}, "recall= takes numbers"),
        ({"alerts": "5%", "per": 100}, 'alerts= takes .* or texts ALERTS/CASES, such as "500/2000000"'),
        ({"alerts": "5/2"}, "or texts ALERTS/CASES"),
        ({"alerts": ["5/100", "5/200"]}, "all alerts= must use the same one"),
        ({"alerts": ["5/100", 5], "per": 100}, "or texts ALERTS/CASES"),
        ({"threshold": "5%"}, "threshold= takes numbers"),
        ({"precision": [0.5, True]}, "precision="),
        ({"threshold": float("nan")}, "threshold= holds nan, and no score is at or above it"),
        ({"threshold": "0,5"}, "threshold= takes numbers"),
        ({"threshold": True}, "threshold= takes numbers.*Float32.*got True"),
        ({"threshold": [0.5, None]}, "threshold= takes numbers.*got None"),
        ({"maximize": "predicted_positive_rate"}, "with a direction"),
        ({"recall": 0.5, "per": 0}, "per="),
        ({"recall": 0.5, "by": pl.col("label").alias("criterion")}, "criterion"),
    ],
)
def test_what_is_refused_at_the_call(options: dict[str, Any], hint: str) -> None:
    df = pl.DataFrame({"score": pl.Series([0.5, 0.25], dtype=pl.Float32), "label": [1, 0]})
    for frame in (df, df.lazy()):
        with pytest.raises(PrcError, match=hint):
            prc(frame).operating_points(columns="all", **options)


def test_published_points_have_no_thresholds() -> None:
    points = pl.DataFrame({"tpr": [0.5, 1.0], "fpr": [0.1, 1.0]})
    with pytest.raises(PrcError, match="no thresholds"):
        points.prc.operating_points(0.1, threshold=0.5, rates=("tpr", "fpr"), columns="all")
    found = points.prc.operating_points(0.1, recall=0.4, rates=("tpr", "fpr"), columns="all")
    assert found.select("recall", "fpr", "threshold", "tp").row(0) == (0.5, 0.1, None, None)
