"""Curve metrics: each against its definition in fractions, and every promise for all of them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

from polars_prcurve import PrcError, metrics, prc
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS, SHORT
from polars_prcurve.core.metrics.point_metric import POINT_METRICS
from tests.support import oracle, oracle_areas
from tests.support.all_metrics import ALL_CURVE_METRICS, LAZY_CURVE_METRICS
from tests.support.comparing import JUMPS, assert_same, is_close, is_same_value
from tests.support.profiles import examples
from tests.support.strategies import MODERATE, Table, several, tables
from tests.support.tiers import slow_unless

every_metric = pytest.mark.parametrize("metric", ALL_CURVE_METRICS, ids=lambda metric: metric.name)
some_metrics = st.lists(
    st.sampled_from(ALL_CURVE_METRICS), min_size=1, max_size=5, unique_by=lambda m: m.name
)
etas = several(0.0, 1e-15, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.999999, 1.0) | several(None, 0.0123, 0.777)
ENDS = [None, 0.0, 1e-12, 0.9, 1 - 1e-12, 1.0]
TWELVE = [0.5, 1e-6, 0.0, 1.0, 0.3, 0.01, 0.9, 1e-15, 0.123, 0.777, 0.2, 0.05]
SUMMARY = ["eta", "n_pos", "n_neg", "metric", "value"]


def expected_rows(table: Table, eta: list[float | None], asked: list[Any]) -> list[dict[str, Any]]:
    return oracle_areas.summary(
        table.frame.to_dicts(),
        eta,
        [metric.name for metric in asked],
        by=table.by,
        pos_label=table.pos_label,
        weight=table.weight,
        categories=table.categories,
        examples=table.weight is None,
    )


def assert_summary(found: pl.DataFrame, table: Table, eta: list[float | None], asked: list[Any]) -> None:
    if table.weight is not None and any(metric.name in oracle_areas.COUNTED for metric in asked):
        assume(table.frame["w"].sum() < 200)  # else the definition takes too long
    rows = expected_rows(table, eta, asked)
    assert found.columns == [*table.by, *SUMMARY]
    assert found.height == len(rows)
    for actual, expected in zip(found.to_dicts(), rows, strict=True):
        assert [oracle.key(actual[name]) for name in table.by] == [
            oracle.key(expected[name]) for name in table.by
        ]
        assert actual["metric"] == expected["metric"]
        for name in ("eta", "n_pos", "n_neg"):
            assert is_same_value(name, actual[name], expected[name]), (actual, expected)
        if actual["eta"] == 1 != expected["eta"] and actual["metric"].startswith(JUMPS):
            continue  # of so few negatives that no float tells
        name, value = actual["metric"], expected["value"]
        weighted, exact = table.weight is not None, value if value is None else float(value)
        close = is_close(name, actual["value"], value, expected["eta"], weighted=weighted)
        assert close, (
            f"{name} at eta = {expected['eta']}: the package has {actual['value']}, the oracle {exact}. "
            "If one of them is null, mend the metric's finish=, or NULL_WITHOUT_NEGATIVES or "
            f"DEFINED_AT_0 in tests/support/oracle_areas.py. The row: {actual}"
        )


# Against the definition -----------------------------------------------------------------------


@examples(150)
@given(tables(weights=MODERATE), etas, some_metrics)
def test_summary(table: Table, eta: list[float | None], asked: list[Any]) -> None:
    found = prc(table.frame).summary(eta, metrics=asked, columns="all", **table.package)
    assert_summary(found, table, eta, asked)


@every_metric
def test_each_metric_at_the_ends(metric: metrics.CurveMetric) -> None:
    """Perfect and reversed rankings, ties, a false positive first, and groups of one class."""
    labels = {
        "perfect": [1, 1, 0, 0],
        "reversed": [0, 0, 1, 1],
        "mixed": [0, 1, 0, 1],
        "positives": [1, 1, 1, 1],
        "negatives": [0, 0, 0, 0],
    }
    frame = pl.concat(
        pl.DataFrame({"g": name, "score": scores, "label": label})
        for name, label in labels.items()
        for name, scores in ((name, [4, 3, 2, 1]), (f"{name}, tied", [2, 1, 1, 1]))
    )
    eta: list[float | None] = [0.0, 1e-15, 0.3, 1.0]
    found = frame.prc.summary(eta, metrics=metric, by="g", columns="all")
    assert_summary(found, Table(frame, ["g"]), eta, [metric])


@every_metric
@examples(15)
@given(table=tables(weights=MODERATE, min_size=3, keys=["none", "String"]), eta=etas)
def test_each_metric(metric: metrics.CurveMetric, table: Table, eta: list[float | None]) -> None:
    found = prc(table.frame).summary(eta, metrics=metric, columns="all", **table.package)
    assert_summary(found, table, eta, [metric])
    values = found["value"].drop_nulls()
    low, high = metric.range
    assert values.is_between(low - 1e-12, high + 1e-12).all(), (
        f"{metric.name} has range={metric.range}, and values from {values.min()} to {values.max()}"
    )
    if not metric.depends_on_eta and eta != [None]:
        alone = prc(table.frame).summary(0.5, metrics=metric, columns="all", **table.package)
        assert found["value"].to_list() == [v for v in alone["value"] for _ in eta], (
            f"{metric.name} has depends_on_eta=False, and values that differ by eta"
        )


# Every way to compute it ----------------------------------------------------------------------


@examples(60)
@given(
    tables(weights=["", "small integers", "floats"]),
    etas,
    st.sampled_from([metric for metric in ALL_CURVE_METRICS if metric.recipe.on_hull]),
)
def test_hulls_are_of_a_data_frame_in_any_order(
    table: Table, eta: list[float | None], metric: metrics.CurveMetric
) -> None:
    """Other metrics have queries in `test_plans`."""
    asked: dict[str, Any] = {"metrics": ["roc_auc", metric.alias("it")], **table.package}
    with pytest.raises(PrcError, match="it, of a convex hull needs a DataFrame"):
        prc(table.frame.lazy()).summary(eta, columns="all", **asked)
    turned = prc(table.frame.reverse()).summary(eta, columns="all", **asked)
    assert_same(turned, prc(table.frame).summary(eta, columns="all", **asked))


@examples(25)
@given(tables(weights=["", "floats"]), st.integers(1, 11), some_metrics)
def test_prevalences_do_not_mind_their_neighbours(table: Table, n: int, asked: list[Any]) -> None:
    grid = [None, *TWELVE][:n]

    def ask(eta: Any) -> pl.DataFrame:
        found = prc(table.frame).summary(eta, metrics=asked, columns="all", **table.package)
        return found.sort(*table.by, "eta", "metric", "value")

    together = ask(grid)
    alone = pl.concat([ask(eta) for eta in grid])
    assert_same(alone.sort(*table.by, "eta", "metric", "value"), together)
    assert_same(ask(pl.DataFrame({"eta": grid}, schema={"eta": pl.Float64})), together)


@pytest.mark.parametrize(
    "name",
    slow_unless(
        lambda name: name == "tp",
        ["recall", "fpr", "tp", "fn", "threshold", "eta_1", "eta_2", "score"],
    ),
)
def test_groups_may_be_called_like_columns_on_the_way(name: str) -> None:
    df = pl.DataFrame(
        {"g": [1, 1, 1, 2, 2, 2], "s": [1.0, 2, 3, 1, 2, 3], "y": [True, False, True, False, True, True]}
    )
    options: dict[str, Any] = {"metrics": LAZY_CURVE_METRICS, "score": "s", "label": "y"}
    expected = df.prc.summary(TWELVE, by="g", columns="all", **options)
    found = df.rename({"g": name}).prc.summary(TWELVE, by=name, columns="all", **options)
    assert_same(found.rename({name: "g"}), expected)


@examples(60)
@given(tables(), etas, st.sampled_from(ALL_CURVE_METRICS))
def test_a_metric_alone_is_what_it_is_beside_another(
    table: Table, eta: list[float | None], metric: metrics.CurveMetric
) -> None:
    beside = prc(table.frame).summary(eta, metrics=[metric, "roc_auc"], columns="all", **table.package)
    alone = prc(table.frame).summary(eta, metrics=metric, columns="all", **table.package)
    assert_same(alone, beside.filter(pl.col("metric") == metric.name))


def test_short_segments_and_long_ones() -> None:
    rng = np.random.default_rng(9)
    label = rng.random(1_500) < 0.4
    score = (rng.normal(size=1_500) + 2 * label).round(3)
    df = pl.DataFrame({"score": score, "label": label})
    counts = df.prc.sweep().select("tp", "fp")
    before = counts.shift(1, fill_value=0)
    rises = counts["tp"] > before["tp"]
    short = (counts["tp"] - before["tp"] <= before["tp"] * SHORT) & (
        counts["fp"] - before["fp"] <= before["fp"] * SHORT
    )
    assert 100 < (rises & short).sum() < rises.sum() - 100
    # The counts are held to the definition elsewhere, which takes minutes at this length.
    n_pos, n_neg = counts.row(-1)
    sweep = [
        {"recall": Fraction(tp, n_pos), "fpr": Fraction(fp, n_neg)} for tp, fp in counts.iter_rows()
    ]
    for eta in (1e-12, 0.001, 0.3, 0.9):
        for name in ("pr_auc", "boyd_pr_auc", "average_precision"):
            value = df.prc.summary(eta, metrics=name, columns="all")["value"].item()
            assert value == pytest.approx(
                float(oracle_areas.value(name, sweep, Fraction(eta))), rel=1e-14, abs=1e-15
            )
            of_expression = pl.col("score").prc.summary(name, "label", eta)
            assert df.select(of_expression).item() == value


def test_best_is_the_best_of_the_curve_of_every_small_table() -> None:
    tables = [
        {"g": [f"{label} {score}"] * n, "score": score, "label": label}
        for n in (1, 2, 3, 4)
        for label in product((0, 1), repeat=n)
        for score in combinations_with_replacement(range(n), n)
    ]
    df = pl.concat(pl.DataFrame(table) for table in tables)
    points = [m for m in POINT_METRICS.values() if m.direction != "none"]
    etas = [0.0, 0.3, 1.0]
    curves = df.prc.curve(etas, metrics=points, by="g").group_by("g", "eta", maintain_order=True)
    for metric in points:  # one by one: each has the rows that it needs itself
        value = pl.col(metric.name)
        best = value.max() if metric.higher_is_better() else value.min()
        found = df.prc.summary(etas, metrics=metrics.best(metric), by="g", columns="all")
        has_positives = (pl.col("tp") + pl.col("fn")).max() > 0
        expected = curves.agg(pl.when(has_positives).then(best).alias("value"))
        assert_frame_equal(found.select("g", "eta", "value"), expected, abs_tol=1e-14)


def test_means_over_prevalences_where_nearly_all_negatives_score_higher() -> None:
    for recall in (1e-3, 1e-9, 1e-15, 1e-18, 1e-300, 5e-324):
        rates = pl.DataFrame({"tpr": [recall, 1.0], "fpr": [1.0, 1.0]})
        points = [{"recall": t, "fpr": Fraction(1)} for t in (Fraction(recall), Fraction(1))]
        for prior in ("uniform", "log"):
            mean = metrics.integrated_average_precision(1e-4, 1, prior)
            found = rates.prc.summary(0.5, metrics=mean, rates=("tpr", "fpr"), columns="all")[
                "value"
            ].item()
            expected = oracle_areas.value(mean.name, points, Fraction(1, 2))
            assert found == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.quick_cases(5)
@every_metric
@pytest.mark.parametrize(
    ("weight", "etas"),
    [
        (None, [0.01]),
        pytest.param("w", [*ENDS, 0.01], marks=pytest.mark.slow),
    ],
    ids=["quick", "ends and weights"],
)
def test_expressions_give_the_same_bits(
    metric: metrics.CurveMetric, weight: str | None, etas: list[float | None]
) -> None:
    rng = np.random.default_rng(3)
    n = 1_500
    df = pl.DataFrame(
        {
            "g": rng.integers(0, 25, n) ** 2 // 25,
            "score": rng.normal(size=n).round(1),
            "label": rng.random(n) < 0.3,
            "w": rng.lognormal(size=n).round(3) * (rng.random(n) < 0.9),
        }
    )
    one_class = pl.DataFrame(
        {"g": [-1, -1, -2, -3], "score": [1.0, 2.0, 3.0, 4.0], "label": [True, True, False, True]}
    ).with_columns(w=pl.col("score"))
    df = pl.concat([df, one_class])
    if metric.recipe.on_hull or metric.recipe.averages is not None:
        with pytest.raises(PrcError, match="not available as an expression"):
            pl.col("score").prc.summary(metric, "label", weight=weight)
        return
    for eta in etas:
        found = prc(df).summary(eta, metrics=metric, by="g", weight=weight, columns="all")
        of_group = pl.col("score").prc.summary(metric, "label", eta, weight=weight)
        grouped = df.group_by("g").agg(of_group.alias("value")).sort("g")
        assert_same(found.select("g", "value"), grouped)
        over = df.with_columns(of_group.over("g").alias("value"))
        assert_same(over.select("g", "value").unique().sort("g"), grouped)
        by_group = df.with_columns(eta=pl.lit(eta, dtype=pl.Float64))
        at_column = pl.col("score").prc.summary(metric, "label", pl.col("eta").first(), weight=weight)
        assert_same(by_group.group_by("g").agg(at_column.alias("value")).sort("g"), grouped)
    alone = df.filter(pl.col("g") == 3)
    whole = prc(alone).summary(0.2, metrics=metric, weight=weight, columns="all")["value"].item()
    assert alone.select(pl.col("score").prc.summary(metric, "label", 0.2, weight=weight)).item() == whole
    empty = df.clear().group_by("g").agg(pl.col("score").prc.summary(metric, "label", 0.2))
    assert empty.schema == {"g": pl.Int64, "score": pl.Float64}


def test_short_forms_of_expressions() -> None:
    df = pl.DataFrame({"score": [0.9, 0.8, 0.4, 0.3, 0.1], "label": [1, 0, 1, 0, 0]})
    score = pl.col("score").prc
    found = df.select(
        ap=score.average_precision("label", eta=0.1),
        area=score.pr_auc("label", eta=0.1),
        gain=score.auprg("label", eta=0.1),
        auc=score.roc_auc("label"),
        part=score.roc_auc("label", max_fpr=0.5),
    ).row(0)
    asked = ["average_precision", "pr_auc", "auprg", "roc_auc", metrics.partial_roc_auc_mcclish(0.5)]
    assert list(found) == df.prc.summary(0.1, metrics=asked, columns="all")["value"].to_list()


# Properties -----------------------------------------------------------------------------------


@examples(40)
@given(tables(weights=MODERATE), st.sampled_from(["average_precision", "pr_auc"]))
def test_areas_rise_with_prevalence(table: Table, metric: str) -> None:
    grid = [0.0, 1e-9, 0.001, 0.1, 0.5, 0.9, 1.0]
    found = prc(table.frame).summary(grid, metrics=metric, columns="all", **table.package)
    for _, group in found.group_by(table.by) if table.by else [((), found)]:
        values = group.sort("eta")["value"].drop_nulls()
        assert (values.diff().drop_nulls() >= -1e-15).all()


@examples(150)
@given(tables(weights=["", "floats"]), etas, some_metrics, st.sampled_from(["rank", "twice"]))
def test_monotone_maps_of_scores_change_nothing(
    table: Table, eta: list[float | None], asked: list[Any], change: str
) -> None:
    score = pl.col("score")
    if change == "rank" or not table.score_dtype.is_float():
        mapped = score.cast(pl.Int8 if table.score_dtype == pl.Boolean else table.score_dtype).rank(
            "dense"
        )
    else:
        mapped = score.cast(pl.Float64).arctan()
        assume(table.frame["score"].n_unique() == table.frame.select(mapped).to_series().n_unique())
    found, same = (
        prc(frame).summary(eta, metrics=asked, columns="all", **table.package)
        for frame in (table.frame, table.frame.with_columns(score=mapped))
    )
    assert_same(found, same)


@pytest.mark.parametrize("eta", [1e-12, 0.001, 0.3, 0.5, 1 - 1e-12])
def test_constant_score_gives_the_prevalence(eta: float) -> None:
    df = pl.DataFrame({"score": [0.5] * 7, "label": [1, 0, 0, 1, 0, 0, 0]})
    found = df.prc.summary(
        eta, metrics=["average_precision", "pr_auc", "roc_auc", "auprg"], columns="all"
    )
    assert found["value"].to_list() == pytest.approx([eta, eta, 0.5, 0.0], rel=1e-15, abs=1e-15)


@examples(100)
@given(tables(weights=["small integers"]), etas, some_metrics)
def test_counts_give_the_same(table: Table, eta: list[float | None], asked: list[Any]) -> None:
    options = table.package
    # Counts are of examples, and weights are not, so the baselines of rankings would differ.
    asked = [m for m in asked if table.weight is None or m.name not in oracle_areas.COUNTED]
    assume(asked)
    of_rows = prc(table.frame).summary(eta, metrics=asked, columns="all", **options)
    counted = prc(table.frame).counts(**options).with_columns(pl.col("n_pos", "n_neg").cast(pl.Int64))
    of_counts = prc(counted).summary(
        eta, metrics=asked, by=table.by, counts=("n_pos", "n_neg"), columns="all"
    )
    present = of_rows.filter(pl.col("n_pos") + pl.col("n_neg") > 0)  # rows of weight 0 leave no counts
    assert present.drop("n_pos", "n_neg").equals(of_counts.drop("n_pos", "n_neg"))


@examples(40)
@given(tables(keys=["none"], weights=["", "floats"], min_size=4), st.sampled_from([0.001, 0.2, 0.9]))
def test_scikit_learn_with_weights_of_the_prevalence(table: Table, eta: float) -> None:
    positive = table.frame.select(table.positive).to_series().to_numpy()
    score = table.frame["score"].cast(pl.Float64).to_numpy()
    mass = np.ones(len(score)) if table.weight is None else table.frame["w"].to_numpy()
    assume(np.isfinite(score).all() and mass[positive].sum() > 0 and mass[~positive].sum() > 0)
    assume(table.frame["score"].n_unique() == len(np.unique(score)))  # a cast may merge scores
    weight = mass * np.where(positive, eta / mass[positive].sum(), (1 - eta) / mass[~positive].sum())
    precision, recall, _ = precision_recall_curve(positive, score, sample_weight=weight)
    expected = [
        average_precision_score(positive, score, sample_weight=weight),
        auc(recall, precision),
        roc_auc_score(positive, score, sample_weight=mass),
        roc_auc_score(positive, score, sample_weight=mass, max_fpr=0.1),
    ]
    asked = [
        "average_precision",
        metrics.pr_auc_trapezoid("one"),
        "roc_auc",
        metrics.partial_roc_auc_mcclish(0.1),
    ]
    found = prc(table.frame).summary(eta, metrics=asked, columns="all", **table.package)
    assert found["value"].to_list() == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_sums_are_exact_to_two_to_the_minus_118() -> None:
    """At prevalences so small that nothing else would be left of them."""
    df = pl.DataFrame({"score": [3, 2, 1], "label": [0, 1, 0]})
    found = df.prc.summary([1e-200, 1e-30, 1e-20], metrics=["average_precision", "auprg"], columns="all")
    area, gain = (
        found.filter(metric=name)["value"].to_list() for name in ("average_precision", "auprg")
    )
    assert area == pytest.approx([2e-200, 2e-30, 2e-20], rel=1e-4, abs=2.0**-117)
    assert gain[:2] == [None, None]  # out of reach of the sum, as documented
    assert gain[2] is not None


def test_extreme_values_stay_right() -> None:
    one_in_millions = pl.DataFrame({"score": [2, 1, 0], "n_pos": [0, 1, 0], "n_neg": [3, 0, 10**7 - 3]})
    huge = pl.DataFrame({"score": [2, 1], "n_pos": [2**40, 1], "n_neg": [1, 2**40]})
    for table in (one_in_millions, huge):
        rows = table.to_dicts()
        for eta in (1e-12, 0.5, 1 - 1e-12):
            asked = [m for m in ALL_CURVE_METRICS if m.name not in oracle_areas.COUNTED]
            found = prc(table).summary(eta, metrics=asked, counts=("n_pos", "n_neg"), columns="all")
            [group] = oracle.groups(rows, counts=("n_pos", "n_neg"))
            for row in found.to_dicts():
                expected = oracle_areas.value(
                    row["metric"], oracle.sweep_group(group), oracle.Fraction(eta)
                )
                name, value = row["metric"], row["value"]
                assert is_close(name, value, expected, eta, weighted=False), (row, float(expected))
    tiny = pl.DataFrame({"score": [5e-324, 1e-323, 0.0], "label": [0, 1, 0]})
    assert tiny.prc.summary(0.1, columns="all")["value"].to_list() == [1.0, 1.0, 1.0]


def test_published_points_get_their_corners() -> None:
    points = pl.DataFrame({"tpr": [0.5, 0.8], "fpr": [0.1, 0.3]})
    corners = pl.DataFrame({"tpr": [0.0, 0.5, 0.8, 1.0], "fpr": [0.0, 0.1, 0.3, 1.0]})
    names = [name for name in CURVE_METRICS if not name.startswith(("worst", "random"))]
    found, same = (
        p.prc.summary([0.5, 0.1], metrics=names, rates=("tpr", "fpr"), columns="all")
        for p in (points, corners)
    )
    assert_same(found, same)
    auc_of = found.filter(metric="roc_auc")["value"][0]
    assert auc_of == pytest.approx(0.1 * 0.5 / 2 + 0.2 * 1.3 / 2 + 0.7 * 1.8 / 2)
    assert found["n_pos"].to_list() == [None] * found.height


def test_rankings_without_skill_of_any_size() -> None:
    """At their own prevalence a random ranking has a closed form, and the worst one an integral."""
    sizes = [1, 2, 10, 11, 300, 10**4, 10**7]
    table = pl.DataFrame(
        [(p, n) for p in sizes for n in [*sizes, 10**9]], schema=["n_pos", "n_neg"], orient="row"
    ).with_row_index("g")
    found = table.with_columns(score=0).prc.summary(
        metrics=["random_average_precision", "worst_average_precision", "worst_pr_auc"],
        by="g",
        counts=("n_pos", "n_neg"),
        columns="all",
    )
    for (_, p, n, *_), group in found.group_by("g", "n_pos", "n_neg", "eta"):
        values = dict(group.select("metric", "value").iter_rows())
        size = p + n
        harmonic = (
            math.fsum(1 / k for k in range(1, size + 1)) if size < 10**5 else euler_maclaurin(size)
        )
        expected = (p - 1) / (size - 1) + n / (size * (size - 1)) * harmonic
        assert values["random_average_precision"] == pytest.approx(expected, rel=2e-13), (p, n)
        if p == 10**7:
            worst = values["worst_average_precision"]
            assert worst == pytest.approx(values["worst_pr_auc"], rel=1e-6), (p, n)


def euler_maclaurin(n: int) -> float:
    return math.log(n) + 0.5772156649015329 + 1 / (2 * n) - 1 / (12 * n * n)


@pytest.mark.parametrize("eta", [1e-15, 1e-9, 0.3])
@pytest.mark.parametrize("recall", [1e-290, 1e-300, 1e-310, 5e-324])
def test_a_first_point_of_hardly_any_recall_changes_no_area(recall: float, eta: float) -> None:
    """Alerts grow from hardly any to all of them along one segment: by more than a float can hold."""
    points = pl.DataFrame({"tpr": [recall], "fpr": [0.0]})
    asked = ["pr_auc", "pr_auc_hull", "average_precision", "boyd_pr_auc"]
    values = points.prc.summary(eta, metrics=asked, rates=("tpr", "fpr"), columns="all")[
        "value"
    ].to_list()
    assert values[:3] == pytest.approx([eta] * 3, rel=1e-12)
    assert values[3] == pytest.approx(eta / 2, rel=0.5)  # to the first order in eta


def test_baselines_are_of_examples() -> None:
    """Weights do not tell how many examples there are, and rates neither."""
    df = pl.DataFrame({"score": [1, 2], "label": [0, 1], "w": [0.5, 2.0], "tpr": [0.3, 0.6], "fpr": 0.1})
    asked = ["random_average_precision", "worst_average_precision"]
    for options in ({"weight": "w"}, {"weight": pl.lit(1)}, {"rates": ("tpr", "fpr")}):
        assert df.prc.summary(0.1, metrics=asked, columns="all", **options)["value"].to_list() == [
            None,
            None,
        ]
    for weight in ("w", pl.lit(1)):
        for name in asked:
            value = pl.col("score").prc.summary(name, label="label", eta=0.1, weight=weight)
            assert df.select(value).item() is None


@pytest.mark.parametrize("metric", ["pr_auc", "roc_auc", "auprg"])
def test_hull_is_no_lower(metric: str) -> None:
    rng = np.random.default_rng(5)
    n = 2_000
    df = pl.DataFrame(
        {
            "g": rng.integers(0, 90, n) ** 2 // 90,
            "score": rng.normal(size=n),
            "label": rng.random(n) < 0.2,
        }
    )
    found = df.prc.summary([0.001, 0.5], metrics=[metric, f"{metric}_hull"], by="g", columns="all")
    wide = found.pivot("metric", index=["g", "eta"], values="value").drop_nulls()
    assert (wide[f"{metric}_hull"] >= wide[metric] - 1e-15).all()
    with pytest.raises(PrcError, match="score column 'score' is NaN in 1 row"):
        df.with_columns(pl.col("score").replace(df["score"][7], math.nan)).prc.summary(
            metrics=f"{metric}_hull", by="g"
        )


def test_hull_of_an_empty_table() -> None:
    df = pl.DataFrame(schema={"score": pl.Float64, "label": pl.Boolean, "g": pl.String})
    assert df.prc.summary(0.1, metrics="roc_auc_hull", by="g", columns="all").height == 0


def test_integrated_under_a_beta_distribution() -> None:
    rng = np.random.default_rng(6)
    df = pl.DataFrame({"score": rng.normal(size=300).round(1), "label": rng.random(300) < 0.3})
    low, high, a, b = 0.01, 0.7, 2.0, 3.5
    grid = low + (high - low) * (np.arange(4_000) + 0.5) / 4_000
    mass = grid ** (a - 1) * (1 - grid) ** (b - 1)
    for metric in ("pr_auc", "average_precision", "auprg", "pr_auc_hull"):
        values = df.prc.summary(grid, metrics=metric, columns="all")["value"].to_numpy()
        found = df.prc.summary(
            0.5, metrics=metrics.integrated(metric, low, high, ("beta", a, b)), columns="all"
        )
        rel = 0.01 if metric == "auprg" else 1e-6  # it has a corner at each recall
        assert found["value"].item() == pytest.approx((values * mass).sum() / mass.sum(), rel=rel)
    same = [metrics.integrated("pr_auc", 0, 1, prior) for prior in ("uniform", ("beta", 1, 1))]
    assert df.prc.summary(0.5, metrics=same, columns="all")["value"].n_unique() == 1
    assert same[1].name == 'integrated(pr_auc, 0, 1, ["beta", 1, 1])'


def test_integrated_without_a_bound_and_up_to_the_ends() -> None:
    df = pl.DataFrame({"score": [0.9, 0.8, 0.7, 0.4, 0.2], "label": [1, 0, 1, 1, 0]})
    for low in (1e-3, 1e-6, 1e-9):
        ends = math.log(low / (1 - low)), 0.0
        x = ends[0] + (ends[1] - ends[0]) * (np.arange(2_000) + 0.5) / 2_000
        for metric in ("normalized_average_precision", metrics.best("lift")):
            values = df.prc.summary(1 / (1 + np.exp(-x)), metrics=metric, columns="all")["value"]
            asked = metrics.integrated(metric, low, 0.5, "logit")
            found = df.prc.summary(0.5, metrics=asked, columns="all")["value"].item()
            assert found == pytest.approx(values.mean(), rel=1e-3)
    names = ["pr_auc", "boyd_pr_auc", "min_max_average_precision", "auprg", "auprg_clipped"]
    at_1, near_1 = (
        df.prc.summary(
            0.5, metrics=[metrics.integrated(name, 0.5, high) for name in names], columns="all"
        )["value"]
        for high in (1, 1 - 1e-12)
    )
    assert at_1.to_list() == pytest.approx(near_1.to_list(), rel=1e-6)
    perfect = pl.DataFrame({"score": [3, 2, 1], "label": [1, 1, 0]})
    asked = [metrics.integrated(name, 0, 1) for name in ("average_precision", "pr_auc", "auprg")]
    values = perfect.prc.summary(0.5, metrics=asked, columns="all")["value"]
    assert values.to_list() == pytest.approx([1.0] * 3, rel=1e-14)
    assert values.max() == 1


def test_own_metric_looks_at_every_row() -> None:
    """A metric that grows with fpr is best inside a run of negatives."""
    odd = metrics.point("odd", lambda tp, fn, fp, tn: -((fp - 0.3) ** 2) + 0 * tp)
    df = pl.DataFrame({"score": range(8, 0, -1), "label": [1, 0, 0, 0, 0, 0, 1, 0]})
    best = df.prc.summary(0.5, metrics=metrics.best(odd), columns="all")["value"].item()
    assert best == df.prc.curve(0.5, metrics=odd)["odd"].max()


# What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("auprc", "'auprc' is used for two metrics: pass 'average_precision', .*, or 'pr_auc', interp"),
        ("avg_precision", "average_precision"),
        ("f1", r"pass 'best\("),
        (metrics.f1, r"pass 'best\("),
        ("best", r"'best' takes parameters, such as 'best\(\"f1\"\)'"),
        (["roc_auc", "roc_auc"], "twice"),
        (3, r"takes (a name or a metric|names or metrics); got 3"),
    ],
)
def test_unknown_metrics(asked: Any, hint: str) -> None:
    df = pl.DataFrame({"score": [0.9, 0.1], "label": [1, 0]})
    for frame in (df, df.lazy()):
        with pytest.raises(PrcError, match=hint):
            prc(frame).summary(metrics=asked, columns="all")
    if not isinstance(asked, list):
        with pytest.raises(PrcError, match=hint):
            pl.col("score").prc.summary(asked, "label")


@pytest.mark.parametrize(
    "make",
    [
        lambda: metrics.best("predicted_positive_rate"),
        lambda: metrics.partial_roc_auc(0),
        lambda: metrics.partial_roc_auc_mcclish(1.1),
        lambda: metrics.recall_at_fpr(-0.1),
        lambda: metrics.recall_at_precision(1.5),
        lambda: metrics.precision_at_recall(0),
        lambda: metrics.pr_auc_trapezoid("two"),
        lambda: metrics.integrated_average_precision(0, 0.5, "log"),
        lambda: metrics.integrated_average_precision(0.1, 1, "logit"),
        lambda: metrics.integrated_average_precision(0.5, 0.1),
        lambda: metrics.integrated_average_precision(0.1, 0.5, "beta"),
        lambda: metrics.integrated("pr_auc", 0.1, 0.5, "beta"),
        lambda: metrics.integrated("pr_auc", 0.1, 0.5, ("beta", 0, 1)),
        lambda: metrics.integrated("pr_auc", 0, 0.5, ("beta", 0.01, 1)),
        lambda: metrics.integrated("pr_auc", 0, 0.5, "log"),
        lambda: metrics.integrated("roc_auc", 0.1, 0.5),
        lambda: metrics.integrated("f1", 0.1, 0.5),
    ],
)
def test_parameters_out_of_range(make: Any) -> None:
    with pytest.raises(PrcError):
        make()


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("metric", POINT_METRICS.values(), ids=lambda metric: metric.name)
def test_best_is_that_of_the_curve(metric: metrics.PointMetric) -> None:
    if metric.direction == "none":
        return
    df = pl.DataFrame(
        {"score": [i * 37 % 23 for i in range(60)], "label": [i * 11 % 7 < 2 for i in range(60)]}
    )
    for eta in (None, 1e-6, 0.1, 0.9):
        column = df.prc.curve(eta, metrics=metric)[metric.name]
        expected = column.max() if metric.direction == "maximize" else column.min()
        assert (
            df.prc.summary(eta, metrics=metrics.best(metric), columns="all")["value"].item() == expected
        )


# Where digits are lost ------------------------------------------------------------------------


def cells(*rows: tuple[int, int]) -> list[tuple[int, int]]:
    """Positives and negatives of each score, by falling score."""
    return list(rows)


FEW_AND_MANY = [
    cells((0, 10**9), (1, 1)),
    cells((10**9, 1), (1000, 5), (3, 3), (1, 10)),
    cells((0, 143), (20, 0)),
    cells((0, 613039), (100000, 0), (0, 100000)),
    cells((2, 940), (29, 0)),
    cells((1, 10**6), (10**6, 1)),
    *(cells((0, k), (m, 0), (1, 1)) for k in (1, 20, 400, 10**5) for m in (1, 30, 1000)),
]


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("average_precision", lambda value, eta: 1e-15 * abs(value) + 4 * 3e-36),
        ("pr_auc", lambda value, eta: 1e-15 * abs(value) + 4 * 3e-36),
        ("roc_auc", lambda value, eta: 3e-16),
        ("auprg", lambda value, eta: 1e-15 * max(1, abs(value)) / (1 - eta)),
    ],
)
def test_digits_are_lost_where_the_page_says(name: str, limit: Any) -> None:
    """The limits are those of docs/how-it-works.md, "What is not"; a curve has at most four rows."""
    table = pl.DataFrame(
        [
            {"group": group, "score": -i, "n_pos": pos, "n_neg": neg}
            for group, rows in enumerate(FEW_AND_MANY)
            for i, (pos, neg) in enumerate(rows)
        ]
    )
    etas = [1e-28, 1e-25, 1e-22, 1e-20, 1e-9, 1e-4, 0.01, 0.1, 0.123, 0.5, 0.9, 1 - 1e-6, 1 - 1e-9]
    counts: Any = {"counts": ("n_pos", "n_neg")}
    found = table.prc.summary(etas, metrics=name, by="group", columns="all", **counts)
    curves = table.prc.sweep(by="group", **counts).partition_by("group", maintain_order=True)
    for curve, values in zip(curves, found.partition_by("group", maintain_order=True), strict=True):
        n_pos, n_neg = (Fraction(values[size][0]) for size in ("n_pos", "n_neg"))
        sweep = [{"recall": tp / n_pos, "fpr": fp / n_neg} for tp, fp in curve[["tp", "fp"]].rows()]
        for eta, value in values[["eta", "value"]].rows():
            expected = oracle_areas.value(name, sweep, Fraction(eta))
            if value is None:
                assert name == "auprg"
                assert eta < 2.0**-69
                continue
            error = abs(Fraction(value) - expected)
            assert error <= limit(float(expected), eta), (eta, value, curve.rows())
