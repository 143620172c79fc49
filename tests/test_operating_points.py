"""Operating points: each target against the rows of the sweep, one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, eta_for_precision, metrics, prc
from tests import oracle
from tests.strategies import SCORES, Table, tables
from tests.test_properties import ALL_METRICS, _several, assert_same, examples

etas = _several(0.001, 0.3, 0.9) | _several(None, 0.0123)
rates = st.lists(st.sampled_from([0.0, 0.001, 0.25, 1 / 3, 0.5, 0.75, 1.0]), max_size=2)
KINDS = dict.fromkeys(["recall", "fpr", "precision", "predicted_positive_rate"], rates)
"""In the order of the arguments."""
POINT = ["eta", "criterion", "target", "threshold", "tp", "fp", "fn", "tn", "recall", "fpr"]


def chosen(rows: list[dict[str, Any]], criterion: str, target: Any, metric: str) -> Any:
    """The row of one curve that meets a target: the definition."""

    def where(name: str, *, most: bool) -> list[dict[str, Any]]:
        known = [row for row in rows if row[name] is not None]
        return [row for row in known if (row[name] <= target if most else row[name] >= target)]

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
    found = prc(table.frame).operating_points(eta, maximize="f1", metrics=shown, **asked, **options)
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
    found = prc(frame).operating_points(eta, by=table.by, **target, **options)
    threshold = pl.col("score").prc.threshold("label", eta, **target, **options)
    if table.by:
        grouped = frame.group_by(table.by).agg(threshold.alias("threshold"))
        expected = found.select(*table.by, "threshold")
        assert_same(grouped.sort(table.by), expected.sort(table.by))
    elif frame.height:
        assert_same(frame.select(threshold.alias("threshold")), found.select("threshold"))


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({}, "needs a target"),
        ({"recall": 0.5, "fpr": 0.1}, "one threshold for one target; got 2"),
        ({"recall": [0.5, 0.6]}, "got 2"),
        ({"recall": 1.5}, r"recall= takes numbers in \[0, 1\]"),
        ({"precision": 0.5, "eta": [0.1, 0.2]}, "a single eta"),
        ({"maximize": "predicted_positive_rate"}, "no direction"),
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
    found = prc(table.frame).operating_points(threshold=asked, metrics="precision", **options)
    assert found.schema["threshold"] == table.score_dtype
    groups = oracle.groups(
        table.frame.to_dicts(),
        by=table.by,
        pos_label=table.pos_label,
        weight=table.weight,
        categories=table.categories,
    )
    expected = [oracle.at(group, threshold) for group in groups for threshold in asked]
    assert found.height == len(expected)
    for actual, row in zip(found.to_dicts(), expected, strict=True):
        assert actual["threshold"] == row["threshold"]
        for name in ("tp", "fp", "fn", "tn"):
            assert actual[name] == row[name]
        for name in ("recall", "fpr"):
            assert actual[name] == (None if row[name] is None else pytest.approx(float(row[name])))


@pytest.mark.parametrize("metric", ALL_METRICS, ids=lambda metric: metric.name)
def test_best_of_each_metric(metric: metrics.PointMetric) -> None:
    df = pl.DataFrame(
        {"score": [i * 37 % 23 for i in range(60)], "label": [i * 11 % 7 < 2 for i in range(60)]}
    )
    if metric.direction == "none":
        with pytest.raises(PrcError, match="no direction"):
            df.prc.operating_points(maximize=metric)
        return
    for eta in (None, 1e-6, 0.1, 0.9):
        point = df.prc.operating_points(eta, maximize=metric, metrics=metric)
        curve = df.prc.curve(eta, metrics=metric).filter(pl.col(metric.name).is_not_null())
        least = metric.direction == "minimize"
        best = curve[metric.name].min() if least else curve[metric.name].max()
        first = curve.filter(pl.col(metric.name) == best).head(1)
        assert_same(point.select(first.columns), first)


def test_alerts_among_so_many_events() -> None:
    """500 alerts a day at 2 million events: the budget is kept, and no lower threshold keeps it."""
    n = 20_000
    df = pl.DataFrame(
        {"score": [(i * 7919) % n for i in range(n)], "label": [i % 50 == 0 for i in range(n)]}
    )
    df = df.with_columns(score=pl.col("score") + 15_000 * pl.col("label"))
    eta, budget = 0.0001, 500 / 2_000_000
    [point] = df.prc.operating_points(eta, predicted_positive_rate=budget, per=2_000_000).to_dicts()
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
        point = counts.prc.operating_points(0.5, metrics="balanced_precision", **options)
        assert point["threshold"].to_list() == [True]
        at_half = Fraction(tp, tp + fn) / (Fraction(tp, tp + fn) + Fraction(fp, fp + tn))
        assert point["balanced_precision"].item() == pytest.approx(float(at_half), rel=1e-15)
        own = counts.prc.operating_points(metrics="precision", **options)["precision"].item()
        assert f"{own:.2f}" == expected
        assert f"{point['balanced_precision'].item():.2f}" == "0.94"


def test_a_curve_of_precision_against_prevalence() -> None:
    df = pl.DataFrame({"score": [5, 4, 3, 2, 1], "label": [1, 0, 1, 0, 0]})
    grid = [1e-4, 1e-3, 0.01, 0.1, 0.5]
    points = df.prc.operating_points(grid, recall=1.0, metrics="precision")
    assert points["threshold"].to_list() == [3] * 5
    for eta, precision in points.select("eta", "precision").rows():
        assert eta_for_precision(1.0, 1 / 3, precision) == pytest.approx(eta)


def test_long_is_the_wide_table_turned() -> None:
    df = pl.DataFrame({"score": [5, 4, 3, 2, 1], "label": [1, 0, 1, 0, 0]})
    options: dict[str, Any] = {"recall": [0.5, 1.0], "precision": 0.9, "metrics": ["mcc", "f1"]}
    wide = df.prc.operating_points([0.1, 0.5], **options)
    long = df.prc.operating_points([0.1, 0.5], long=True, **options)
    turned = wide.unpivot(["mcc", "f1"], index=POINT, variable_name="metric", value_name="value")
    order = [*POINT[:3], "metric"]
    assert_same(long.sort(order), turned.sort(order))
    assert long["metric"].to_list() == ["mcc", "f1"] * 6


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({}, "needs a target"),
        ({"recall": 1.5}, r"recall= takes numbers in \[0, 1\]"),
        ({"fpr": "0.1"}, "fpr="),
        ({"precision": [0.5, True]}, "precision="),
        ({"threshold": 0.1}, "not a value of the score's dtype"),
        ({"maximize": "predicted_positive_rate"}, "no direction"),
        ({"recall": 0.5, "per": 0}, "per="),
        ({"recall": 0.5, "by": pl.col("label").alias("criterion")}, "criterion"),
    ],
)
def test_what_is_refused_at_the_call(options: dict[str, Any], hint: str) -> None:
    df = pl.DataFrame({"score": pl.Series([0.5, 0.25], dtype=pl.Float32), "label": [1, 0]})
    for frame in (df, df.lazy()):
        with pytest.raises(PrcError, match=hint):
            prc(frame).operating_points(**options)


def test_published_points_have_no_thresholds() -> None:
    points = pl.DataFrame({"tpr": [0.5, 1.0], "fpr": [0.1, 1.0]})
    with pytest.raises(PrcError, match="no thresholds"):
        points.prc.operating_points(0.1, threshold=0.5, rates=("tpr", "fpr"))
    found = points.prc.operating_points(0.1, recall=0.4, rates=("tpr", "fpr"))
    assert found.select("recall", "fpr", "threshold", "tp").row(0) == (0.5, 0.1, None, None)
