"""ROC curves of models against each other, by exact fractions, and what follows from dominance."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import metrics
from tests.support.models import Models, models
from tests.support.profiles import examples

Points = list[tuple[Fraction, Fraction]]


def roc(sweep: list[dict[str, Any]]) -> Points | None:
    """Of fpr and recall, from the origin to (1, 1)."""
    if not sweep or sweep[0]["recall"] is None or sweep[0]["fpr"] is None:
        return None
    return [(Fraction(0), Fraction(0)), *((p["fpr"], p["recall"]) for p in sweep)]


def above(points: Points, s: Fraction) -> Fraction:
    """recall - fpr where recall + fpr is s."""
    for (f0, t0), (f, t) in pairwise(points):
        if f + t >= s:
            share = (s - f0 - t0) / (f + t - f0 - t0)
            return t0 - f0 + share * (t - f - t0 + f0)
    raise AssertionError("s is at most 2")


def gaps(a: Points, b: Points) -> list[tuple[Fraction, Fraction]]:
    """At the corners of both, between which the gap is straight."""
    knots = sorted({f + t for points in (a, b) for f, t in points})
    return [(s, above(a, s) - above(b, s)) for s in knots]


def crossed(a: Points, b: Points) -> list[tuple[Fraction, Fraction, bool]]:
    """fpr, recall, and whether a is above before."""
    found, last = [], None
    for (s0, g0), (s, g) in pairwise(gaps(a, b)):
        last = (s0, g0) if g0 else last
        if last and last[1] * g < 0:
            place = s0 + g0 / (g0 - g) * (s - s0) if g0 else s0
            d = above(a, place)
            found.append(((place - d) / 2, (place + d) / 2, last[1] > 0))
    return found


def hull(points: Points) -> set[tuple[Fraction, Fraction]]:
    """Corners of the upper one but for the two ends, by a monotone chain."""
    chain: Points = []
    for x, y in sorted({*points, (Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}):
        while len(chain) > 1:
            (x0, y0), (x1, y1) = chain[-2:]
            if (x1 - x0) * (y - y0) < (y1 - y0) * (x - x0):
                break
            chain.pop()
        chain.append((x, y))
    return set(chain) - {(0, 0), (1, 1)}


def close(found: Any, expected: Any) -> bool:
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)


@given(models(max_size=30))
@examples(70)
def test_dominance_and_crossings_of_curves(of: Models) -> None:
    dominance = of.frame.prc.crossings(**of.package, of="roc", leaders=True)
    crossings = of.frame.prc.crossings(of="roc", **of.package)
    assert dominance.columns == [*of.table.by, "model", "dominates", "dominated_by", "on_hull"]
    assert crossings.columns == [*of.table.by, "model_a", "model_b", "fpr", "recall"]
    dtype = of.frame.schema["m"]
    lists = pl.List(dtype)
    assert list(dominance.schema.values())[len(of.table.by) :] == [dtype, lists, lists, pl.Boolean]
    rows, trades = dominance.to_dicts(), crossings.to_dicts()
    places = [(of.group_key(row), of.key("m", row["model"])) for row in rows]
    assert places == [(group, name) for group, sweeps in of.groups.items() for name in sweeps]
    for group, sweeps in of.groups.items():
        curves = {name: roc(sweep) for name, sweep in sweeps.items()}
        corners = hull([p for curve in curves.values() for p in curve or []])
        expected: list[Any] = []
        beats = {name: [] for name in curves}
        for a, b in combinations(curves, 2):
            first, second = curves[a], curves[b]
            if first and second:
                signs = {g > 0 for _, g in gaps(first, second) if g}
                if len(signs) == 1:
                    beats[a if signs == {True} else b].append(b if signs == {True} else a)
                expected += [
                    (f, t, *((a, b) if falls else (b, a))) for f, t, falls in crossed(first, second)
                ]
        found = [
            (r["fpr"], r["recall"], of.key("m", r["model_a"]), of.key("m", r["model_b"]))
            for r in trades
            if of.group_key(r) == group
        ]
        assert len(found) == len(expected)
        for one, other in zip(found, sorted(expected), strict=True):
            assert one[2:] == other[2:]
            assert close(one[0], other[0])
            assert close(one[1], other[1])
        for row in (r for r in rows if of.group_key(r) == group):
            name = of.key("m", row["model"])
            assert [of.key("m", m) for m in row["dominates"]] == sorted(beats[name])
            worse_than = [other for other in curves if name in beats[other]]
            assert [of.key("m", m) for m in row["dominated_by"]] == worse_than
            curve = curves[name]
            assert row["on_hull"] == (None if curve is None else any(p in corners for p in curve))


# What follows ---------------------------------------------------------------------------------

AT_LEAST = [
    "pr_auc",
    "roc_auc",
    "pr_auc_hull",
    "roc_auc_hull",
    metrics.partial_roc_auc(0.3),
]
AT_LEAST_WITHOUT_TIES = [
    "average_precision",
    *(metrics.precision_at_recall(recall) for recall in (0.3, 0.8, 1.0)),
]
ETAS = [1e-6, 0.01, 0.3, 0.9]


def values(df: pl.DataFrame, asked: list[Any]) -> dict[Any, dict[Any, float]]:
    found: dict[Any, dict[Any, float]] = {}
    for model, eta, metric, value in (
        df.prc.summary(ETAS, metrics=asked, by="model", columns="all")
        .select("model", "eta", "metric", "value")
        .rows()
    ):
        found.setdefault(model, {})[eta, metric] = value
    return found


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=8, max_size=8), min_size=2, max_size=5), st.booleans()
)
@examples(60)
def test_who_dominates_is_at_least_as_good(ranks: list[list[int]], tied: bool) -> None:
    """Models of the same four positives and four negatives."""
    n = 8
    scores = [r if tied else [10 * x + k for k, x in enumerate(r)] for r in ranks]
    df = pl.DataFrame(
        {
            "model": [m for m in range(len(ranks)) for _ in range(n)],
            "label": [k % 2 == 0 for k in range(n)] * len(ranks),
            "score": [x for r in scores for x in r],
        }
    )
    asked = [*AT_LEAST, *([] if tied else AT_LEAST_WITHOUT_TIES)]
    found = values(df, asked)
    for row in df.prc.crossings(of="roc", leaders=True).to_dicts():
        for other in row["dominates"]:
            mine, theirs = found[row["model"]], found[other]
            assert all(mine[key] >= theirs[key] - 1e-12 for key in mine)


@given(models(keys=["none"], kinds=["Int8"], max_size=30))
@examples(40)
def test_the_best_threshold_is_on_the_hull_or_at_an_end(of: Models) -> None:
    found = of.frame.prc.crossings(**of.package, of="roc", leaders=True).filter(
        pl.col("on_hull").is_not_null()
    )
    on_hull = {row["model"] for row in found.to_dicts() if row["on_hull"]}
    curves = {name: roc(sweep) for sweeps in of.groups.values() for name, sweep in sweeps.items()}
    named = {of.key("m", name): name for name in found["model"]}
    known = {named[name]: curve for name, curve in curves.items() if curve}
    for eta in map(Fraction, (0.001, 0.1, 0.4, 0.7, 0.99)):
        for cost in (Fraction(1), Fraction(1, 4), Fraction(9)):

            def gain(point: tuple[Fraction, Fraction], eta: Any = eta, cost: Any = cost) -> Fraction:
                return eta * point[1] - (1 - eta) * point[0] * cost

            best = max((gain(p) for curve in known.values() for p in curve), default=None)
            candidates = [p for name in on_hull for p in known[name]]
            ends = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]
            assert best is None or best <= max(map(gain, [*candidates, *ends]))


def test_equal_curves_neither_dominate_nor_cross() -> None:
    df = pl.DataFrame({"model": ["a"] * 4 + ["b"] * 4, "label": [1, 1, 0, 0] * 2})
    df = df.with_columns(score=pl.Series([4, 2, 3, 1, 40, 20, 30, 10]))
    assert df.prc.crossings(of="roc", leaders=True).select("dominates", "dominated_by").unique().row(
        0
    ) == ([], [])
    assert df.prc.crossings(of="roc", leaders=True)["on_hull"].to_list() == [True, True]
    assert df.prc.crossings(of="roc").is_empty()


def test_points_on_a_line_between_corners_are_no_corners() -> None:
    """Though floats do not hold them: b has one point, on the line from the origin to that of a."""
    rows = [
        (f"{n} {i} {j} {k}", model, fpr / n, recall / n)
        for n in (7, 13, 30, 49, 100)
        for i in range(2, n, max(1, n // 9))
        for j in range(i + 1, n, max(1, n // 9))
        for k in range(1, i)
        if k * j % i == 0
        for model, fpr, recall in (("a", i, j), ("b", k, k * j // i))
    ]
    df = pl.DataFrame(rows, ["g", "model", "fpr", "tpr"], orient="row")
    found = df.prc.crossings(by="g", rates=("tpr", "fpr"), of="roc", leaders=True)
    assert len(found) > 200
    assert found.filter(model="a")["on_hull"].all()
    assert not found.filter(model="b")["on_hull"].any()


def test_one_class_has_no_curve() -> None:
    df = pl.DataFrame({"model": ["a", "a", "b", "b"], "label": [1, 1, 1, 0], "score": [1, 2, 3, 2]})
    assert df.prc.crossings(of="roc", leaders=True).rows() == [("a", [], [], None), ("b", [], [], True)]
    assert df.prc.crossings(of="roc").is_empty()
