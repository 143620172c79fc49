"""What must hold of every score table: hypothesis against the oracle, and of it against itself."""

from __future__ import annotations

import io
import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, metrics, prc
from tests.support import oracle
from tests.support.all_metrics import ALL_POINT_METRICS
from tests.support.comparing import assert_same, is_same_value
from tests.support.profiles import examples
from tests.support.strategies import (
    GROUP_KEYS,
    IN_FLOATS,
    MODERATE,
    SCORES,
    SMALL,
    WEIGHTS,
    Table,
    etas,
    tables,
)
from tests.support.tiers import slow_unless

COUNTS = ["score", "n_pos", "n_neg"]
SWEEP = ["threshold", "tp", "fp", "fn", "tn", "recall", "fpr"]
some_metrics = st.lists(
    st.sampled_from(ALL_POINT_METRICS), min_size=1, max_size=5, unique_by=lambda m: m.name
)


# Comparing ------------------------------------------------------------------------------------


def assert_holds(
    frame: pl.DataFrame, rows: list[dict[str, Any]], table: Table, columns: list[str]
) -> None:
    """The frame has these columns and these rows, in this order."""
    assert frame.columns == [*table.by, *columns]
    for name in table.by:
        assert frame.schema[name] == table.frame.schema[name]
    found = frame.to_dicts()
    places = [[oracle.key(row[name]) for name in table.by] for row in found]
    assert places == [[oracle.key(row[name]) for name in table.by] for row in rows]
    for name in ("score", "threshold", "metric"):
        if name in columns:
            assert [row[name] for row in found] == [row[name] for row in rows]
    for name in columns:
        if name not in ("score", "threshold", "metric"):
            for actual, expected in zip(found, rows, strict=True):
                metric = actual["metric"] if name == "value" else name
                assert is_same_value(metric, actual[name], expected[name]), (name, actual, expected)


def assert_ordered(frame: pl.DataFrame, table: Table, metric_order: list[str] | None = None) -> None:
    """By group (null first), rising eta, metric as asked, falling threshold: strictly."""
    rows = frame.to_dicts()

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        groups = tuple(oracle.key(row[name], table.categories.get(name)) for name in table.by)
        return (
            *groups,
            *([row["eta"]] if "eta" in row else []),
            *([metric_order.index(row["metric"])] if metric_order else []),
        )

    score = "threshold" if "threshold" in frame.columns else "score"
    for above, below in pairwise(rows):
        if place(above) == place(below):
            assert above[score] > below[score]
        else:
            assert place(above) < place(below)


def assert_dtypes(frame: pl.DataFrame, table: Table) -> None:
    count = pl.Int64 if table.weight is None else pl.Float64
    for name, dtype in frame.schema.items():
        if name in ("score", "threshold"):
            assert dtype == table.score_dtype
        elif name in ("tp", "fp", "fn", "tn", "n_pos", "n_neg"):
            assert dtype == count
        elif name == "metric":
            assert dtype == pl.String
        elif name not in table.by:
            assert dtype == pl.Float64


# Against the oracle ---------------------------------------------------------------------------


@examples()
@given(tables())
def test_counts(table: Table) -> None:
    found = prc(table.frame).counts(**table.package)
    squares = ["n_pos_squares", "n_neg_squares"] if table.weight is not None else []
    expected = oracle.counts(table.rows, **table.oracle)
    assert_dtypes(found, table)
    assert found.columns[len(found.columns) - len(squares) :] == squares
    assert_holds(found.drop(squares), expected, table, COUNTS)
    for name in squares:
        for actual, row in zip(found[name], expected, strict=True):
            # Next to weights of another size, the squares of the smallest are cut.
            assert math.isclose(actual, row[name], rel_tol=1e-12, abs_tol=float(row["cut"])), name


@examples(150)
@given(tables())
def test_sweep(table: Table) -> None:
    found = prc(table.frame).sweep(**table.package)
    assert_dtypes(found, table)
    assert_holds(found, oracle.sweep(table.rows, **table.oracle), table, SWEEP)


@pytest.mark.parametrize("dtype", list(SCORES), ids=str)
@examples(12)
@given(st.data())
def test_sweep_of_each_score_dtype(dtype: pl.DataType, data: st.DataObject) -> None:
    table = data.draw(tables(scores=[dtype], min_size=2, keys=["none", "String", "Float64"]))
    found = prc(table.frame).sweep(**table.package)
    assert_dtypes(found, table)
    assert_holds(found, oracle.sweep(table.rows, **table.oracle), table, SWEEP)


@pytest.mark.parametrize("keys", list(GROUP_KEYS))
@examples(12)
@given(st.data())
def test_sweep_of_each_kind_of_group(keys: str, data: st.DataObject) -> None:
    table = data.draw(tables(keys=[keys], min_size=4))
    found = prc(table.frame).sweep(**table.package)
    assert_holds(found, oracle.sweep(table.rows, **table.oracle), table, SWEEP)


@examples()
@given(tables(weights=["of any magnitude"]))
def test_weights_of_any_magnitude(table: Table) -> None:
    """However small beside the others, a weight makes a threshold and a class.

    What is below 2**-89 of the largest weight of its class adds nothing to the sums.
    """
    rows = oracle.sweep(table.rows, **table.oracle)
    found = prc(table.frame).sweep(**table.package)
    assert found["threshold"].to_list() == [row["threshold"] for row in rows]
    for name, total in (("tp", "n_pos"), ("fp", "n_neg"), ("recall", "1"), ("fpr", "1")):
        for actual, expected in zip(found[name].to_list(), rows, strict=True):
            of = {
                "n_pos": expected["tp"] + expected["fn"],
                "n_neg": expected["fp"] + expected["tn"],
                "1": 1,
            }[total]
            lost = actual is not None and expected[name] is not None
            lost = lost and abs(Fraction(actual) - expected[name]) <= of * Fraction(2) ** -80
            assert lost or is_same_value(name, actual, expected[name]), (name, actual, expected)


@examples()
@given(tables())
def test_rows_at_corners(table: Table) -> None:
    found = prc(table.frame).sweep(thresholds="corners", **table.package)
    assert_dtypes(found, table)
    assert_holds(found, oracle.sweep(table.rows, thresholds="corners", **table.oracle), table, SWEEP)


@examples()
@given(tables(weights=["", "small integers", "decimals"]), st.integers(1, 12))
def test_thresholds_at_steps_of_recall(table: Table, steps: int) -> None:
    found = prc(table.frame).sweep(thresholds=steps, **table.package)
    assert_dtypes(found, table)
    assert_holds(found, oracle.sweep(table.rows, thresholds=steps, **table.oracle), table, SWEEP)


@examples()
@given(st.data())
def test_listed_thresholds(data: st.DataObject) -> None:
    table = data.draw(tables())
    listed = data.draw(st.lists(SCORES[table.score_dtype], max_size=6))
    found = prc(table.frame).sweep(thresholds=listed, **table.package)
    assert_dtypes(found, table)
    assert_holds(found, oracle.sweep(table.rows, thresholds=listed, **table.oracle), table, SWEEP)


@examples(200)
@given(tables(weights=MODERATE), etas, some_metrics, st.sampled_from([None, "corners"]))
def test_curve(table: Table, eta: list[float | None], asked: list[Any], rows_at: Any) -> None:
    found = prc(table.frame).curve(eta, metrics=asked, thresholds=rows_at, **table.package)
    names = [metric.name for metric in asked]
    rows = oracle.curve(table.rows, eta, names, thresholds=rows_at, **table.oracle)
    assert_dtypes(found, table)
    extra = [name for name in names if name not in SWEEP]
    assert_holds(found, rows, table, ["eta", *SWEEP, *extra])


@pytest.mark.parametrize("metric", ALL_POINT_METRICS, ids=lambda metric: metric.name)
@examples(8)
@given(table=tables(weights=MODERATE, min_size=3, keys=["none", "String"]))
def test_curve_of_each_metric(metric: metrics.PointMetric, table: Table) -> None:
    extra = [] if metric.name in SWEEP else [metric.name]
    for eta in ([0.0, 1e-100, 0.01, 0.5, 0.9, 1.0], [None]):
        found = prc(table.frame).curve(eta, metrics=metric, **table.package)
        rows = oracle.curve(table.rows, eta, [metric.name], **table.oracle)
        assert_holds(found, rows, table, ["eta", *SWEEP, *extra])


@examples()
@given(tables(weights=MODERATE), etas, some_metrics)
def test_long_curve(table: Table, eta: list[float | None], asked: list[Any]) -> None:
    found = prc(table.frame).curve(eta, metrics=asked, long=True, **table.package)
    names = [metric.name for metric in asked]
    rows = oracle.curve(table.rows, eta, names, long=True, **table.oracle)
    assert_dtypes(found, table)
    assert_holds(found, rows, table, ["eta", *SWEEP, "metric", "value"])
    wide = prc(table.frame).curve(eta, metrics=asked, **table.package)
    for name in names:
        melted = found.filter(pl.col("metric") == name)
        assert_same(melted.drop("metric", "value"), wide.select(*table.by, "eta", *SWEEP))
        if name not in SWEEP:
            assert_same(melted.select("value"), wide.select(pl.col(name).alias("value")))


@examples()
@given(tables(), etas, st.integers(1, 5))
def test_precision_with_chosen_thresholds(table: Table, eta: list[float | None], steps: int) -> None:
    """Precision needs no room to spare: weights of any unit."""
    listed = table.frame["score"].to_list()[:steps]
    found = prc(table.frame).curve(eta, thresholds=listed, **table.package)
    rows = oracle.curve(table.rows, eta, thresholds=listed, **table.oracle)
    assert_holds(found, rows, table, ["eta", *SWEEP, "precision"])


@examples()
@given(st.data())
def test_eta_frame(data: st.DataObject) -> None:
    """Each group at prevalences of its own, and what else the frame says about them."""
    table = data.draw(tables(weights=MODERATE))
    groups = (
        table.frame.select(table.by).unique(maintain_order=True)
        if table.by
        else pl.DataFrame({"_": [0]})
    )
    given_etas = [data.draw(etas) for _ in range(groups.height)]
    asked = groups.with_columns(
        eta=pl.Series(given_etas, dtype=pl.List(pl.Float64)), note=pl.int_range(pl.len()).cast(pl.String)
    ).explode("eta", empty_as_null=False)
    asked = (asked if table.by else asked.drop("_")).sample(fraction=1, shuffle=True, seed=0)
    found = prc(table.frame).curve(asked, **table.package)
    assert found.columns == [*table.by, "eta", "note", *SWEEP, "precision"]
    expected = []
    for group in oracle.groups(table.rows, **table.oracle):
        place = [oracle.key(value) for value in group.by.values()]
        for number, (row, own) in enumerate(zip(groups.to_dicts(), given_etas, strict=True)):
            if not table.by or [oracle.key(value) for value in row.values()] == place:
                only = [r for r in table.rows if [oracle.key(r[name]) for name in table.by] == place]
                points = oracle.curve(only, own, **table.oracle)
                expected += [{**point, "note": str(number)} for point in points]
    assert found["note"].to_list() == [row["note"] for row in expected]
    assert_holds(found.drop("note"), expected, table, ["eta", *SWEEP, "precision"])


# Any way to run it ----------------------------------------------------------------------------


def as_parquet(frame: pl.DataFrame, row_group_size: int) -> pl.LazyFrame:
    file = io.BytesIO()
    frame.write_parquet(file, row_group_size=row_group_size)
    file.seek(0)
    return pl.scan_parquet(file)


def each_way(
    frame: pl.DataFrame, method: str, *, row_group_size: int = 3, **arguments: Any
) -> list[pl.DataFrame]:
    """The eager result, and what else must equal it."""
    lazy = getattr(prc(frame.lazy()), method)(**arguments)
    stored = getattr(prc(as_parquet(frame, row_group_size)), method)(**arguments)
    return [
        getattr(prc(frame), method)(**arguments),
        lazy.collect(),
        lazy.collect(engine="in-memory"),
        lazy.collect(engine="streaming"),
        stored.collect(engine="in-memory"),
        stored.collect(engine="streaming"),
    ]


@examples(40)
@given(tables(), st.sampled_from(["counts", "sweep", "thinned", "steps", "curve", "long"]))
def test_each_way_to_run_it(table: Table, what: str) -> None:
    method, options = {
        "counts": ("counts", {}),
        "sweep": ("sweep", {}),
        "thinned": ("sweep", {"thresholds": "corners"}),
        "steps": ("sweep", {"thresholds": 3}),
        "curve": (
            "curve",
            {"eta": [0.777, None, 0.001], "metrics": ["precision", "mcc", metrics.f_gain(2)]},
        ),
        "long": ("curve", {"eta": [0.2, 0.001], "metrics": ["mcc", "f1"], "long": True}),
    }[what]
    eager, *others = each_way(table.frame, method, **options, **table.package)
    for other in others:
        assert_same(other, eager)
    assert_ordered(eager, table, ["mcc", "f1"] if what == "long" else None)


def big_table(n: int, n_groups: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "g": rng.integers(0, n_groups, n),
            "score": rng.integers(-500, 500, n) / 100,
            "label": rng.random(n) < 0.2,
            "w": rng.choice([0.0, 0.1, 1.0, 1e5], n),
        }
    )


@pytest.mark.parametrize("weight", slow_unless(lambda weight: weight is not None, [None, "w"]))
@pytest.mark.parametrize("by", slow_unless(lambda by: by is not None, [None, "g"]))
def test_each_way_to_run_it_on_many_row_groups(by: str | None, weight: str | None) -> None:
    """Small tables happen to stay in order where large ones do not."""
    frame = big_table(30_000, 7)
    table = Table(frame, [by] if by else [], weight=weight)
    for method, options in (
        ("counts", {}),
        ("sweep", {}),
        ("curve", {"eta": [0.5, 0.1, 0.01]}),
        ("curve", {"eta": [0.3, 0.01], "metrics": ALL_POINT_METRICS}),
        ("curve", {"eta": [0.5, 0.1], "metrics": ["f1", "precision"], "long": True}),
    ):
        eager, *others = each_way(frame, method, row_group_size=100, **options, **table.package)
        assert_ordered(eager, table, ["f1", "precision"] if "long" in options else None)
        for other in others:
            assert_same(other, eager)


@pytest.mark.parametrize("n", [1, 9])
def test_each_way_to_compute_every_metric_of_a_short_result(n: int) -> None:
    """One engine may hold a column of one row as a single number."""
    frame = big_table(n, 1, seed=n).with_columns(label=pl.int_range(n) % 3 != 0)
    for eta in (None, 0.3, 0.01):
        eager, *others = each_way(frame, "curve", eta=eta, metrics=ALL_POINT_METRICS, by="g")
        for other in others:
            assert_same(other, eager)


@examples()
@given(tables(), st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(table: Table, random: Any) -> None:
    """Of any dtype of score, key and weight, which the queries of `test_plans` do not have."""
    places = list(range(table.frame.height))
    random.shuffle(places)
    shuffled = table.frame[places]
    for method in ("counts", "sweep", "curve"):
        assert_same(
            getattr(prc(shuffled), method)(**table.package),
            getattr(prc(table.frame), method)(**table.package),
        )
    label = table.positive
    swept = [
        frame.select(pl.col("score").prc.sweep(label, weight=table.weight))
        for frame in (table.frame, shuffled)
    ]
    assert_same(*swept)


def test_order_of_rows_does_not_matter_to_sums_of_floats() -> None:
    """Of more rows than the queries of `test_plans` have."""
    frame = big_table(20_000, 3).with_columns(w=pl.Series(np.random.default_rng(1).random(20_000) ** 9))
    swept = prc(frame).sweep(by="g", weight="w")
    for seed in range(3):
        shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
        assert_same(prc(shuffled).sweep(by="g", weight="w"), swept)
        lazy = prc(as_parquet(shuffled, 500)).sweep(by="g", weight="w")
        assert_same(lazy.collect(engine="streaming"), swept)


# What changes nothing -------------------------------------------------------------------------


def as_floats(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.cast(
        {name: pl.Float64 for name in ("tp", "fp", "fn", "tn", "n_pos", "n_neg") if name in frame}
    )


@examples()
@given(tables(weights=["small integers"]), etas)
def test_weights_are_repeated_rows_are_counts(table: Table, eta: list[float | None]) -> None:
    by = table.by or None
    weighted = {"by": by, "label": table.positive, "weight": "w"}
    repeated = (
        table.frame.select(pl.all().repeat_by("w")).explode(pl.all(), empty_as_null=False)
        if table.frame.height
        else table.frame
    )
    plain = {"by": by, "label": table.positive}
    counted = prc(repeated).counts(**plain)
    tallied = {"by": by, "counts": ("n_pos", "n_neg")}
    doubled = pl.concat([counted, counted]).with_columns(n_pos=pl.col("n_pos").cast(pl.UInt16))
    weighed = prc(table.frame).counts(**weighted).drop("n_pos_squares", "n_neg_squares")
    assert_same(as_floats(weighed), as_floats(counted))
    assert_same(prc(counted).counts(**tallied), counted)
    assert_same(
        as_floats(prc(doubled).counts(**tallied)),
        as_floats(counted.with_columns(pl.col("n_pos", "n_neg") * 2)),
    )
    swept = prc(repeated).sweep(**plain)
    assert_same(prc(counted).sweep(**tallied), swept)
    assert_same(prc(table.frame).sweep(**weighted), as_floats(swept))
    curved = prc(repeated).curve(eta, metrics=["precision", "mcc"], **plain)
    assert_same(prc(counted).curve(eta, metrics=["precision", "mcc"], **tallied), curved)
    assert_same(prc(table.frame).curve(eta, metrics=["precision", "mcc"], **weighted), as_floats(curved))


@examples()
@given(tables(weights=["floats", "decimals", "minute"]))
def test_counts_of_weights_add_up(table: Table) -> None:
    """Tables of two days put together are the table of both."""
    arguments = {"by": table.by or None, "label": table.positive, "weight": "w"}
    days = [table.frame[::2], table.frame[1::2]]
    merged = pl.concat([prc(day).counts(**arguments) for day in days])
    found = prc(merged).sweep(by=table.by or None, counts=("n_pos", "n_neg"))
    rows = oracle.sweep(table.rows, **table.oracle)
    assert_holds(found, rows, table, SWEEP)


@examples()
@given(tables(weights=["small integers", "floats", "minute"]))
def test_rows_without_weight_change_nothing(table: Table) -> None:
    arguments = {"by": table.by or None, "label": table.positive, "weight": "w"}
    kept = table.frame.filter(pl.col("w") > 0)
    for method in ("counts", "sweep", "curve"):
        assert_same(
            getattr(prc(kept), method)(**arguments), getattr(prc(table.frame), method)(**arguments)
        )


@examples()
@given(tables(keys=[kind for kind in GROUP_KEYS if kind != "none"], min_size=2))
def test_groups_are_independent(table: Table) -> None:
    arguments = {"by": table.by, "label": table.positive, "weight": table.weight}
    whole = prc(table.frame).curve([None, 0.01], **arguments)
    parts = table.frame.partition_by(table.by, maintain_order=True)
    alone = [prc(part).curve([None, 0.01], **arguments) for part in parts]
    assert_same(pl.concat(alone).sort(table.by, maintain_order=True), whole)


def test_heavy_group_leaves_light_one_alone() -> None:
    light = big_table(2_000, 1).with_columns(g=pl.lit("light"), w=pl.lit(0.1))
    heavy = big_table(2_000, 1, seed=1).with_columns(g=pl.lit("heavy"), w=pl.lit(1e17))
    both = prc(pl.concat([light, heavy])).sweep(by="g", weight="w")
    assert_same(both.filter(pl.col("g") == "light"), prc(light).sweep(by="g", weight="w"))
    assert both.select(pl.col("recall", "fpr").is_between(0, 1).all()).row(0) == (True, True)


@examples()
@given(tables(), st.sampled_from(["rank", "powers"]))
def test_rising_transform_of_scores_changes_only_thresholds(table: Table, how: str) -> None:
    ranks = {score: k for k, score in enumerate(sorted(set(table.frame["score"].to_list())))}
    values = [
        ranks[score] if how == "rank" else 1.5 ** ranks[score] - 7
        for score in table.frame["score"].to_list()
    ]
    moved = table.frame.with_columns(
        score=pl.Series(values, dtype=pl.Int32 if how == "rank" else pl.Float64)
    )
    for method in ("sweep", "curve"):
        before, after = (getattr(prc(frame), method)(**table.package) for frame in (table.frame, moved))
        assert_same(before.drop("threshold"), after.drop("threshold"))


@pytest.mark.parametrize("power", [-900, -300, 300])
@examples(15)
@given(table=tables(weights=["floats"], keys=["none", "String"], min_size=3), eta=etas)
def test_unit_of_weight_does_not_matter(power: int, table: Table, eta: list[float | None]) -> None:
    """Weights times a power of two: the same rates and metrics."""
    moved = table.frame.with_columns(pl.col("w") * 2.0**power)
    before, after = (
        prc(frame).curve(eta, metrics=ALL_POINT_METRICS, **table.package).drop("tp", "fp", "fn", "tn")
        for frame in (table.frame, moved)
    )
    assert_frame_equal(before, after, check_exact=False, rel_tol=1e-12, abs_tol=1e-12)


# Prevalence -----------------------------------------------------------------------------------


@examples()
@given(tables())
def test_precision_at_own_prevalence_is_a_share_of_counts(table: Table) -> None:
    """tp / (tp + fp), to the last bit."""
    found = prc(table.frame).curve(**table.package)
    share = pl.col("tp") / (pl.col("tp") + pl.col("fp"))
    assert_same(found.select("precision"), found.select(share.alias("precision")))
    swept = prc(table.frame).sweep(**table.package)
    assert_same(found.drop("eta", "precision"), swept)


@examples()
@given(tables(weights=MODERATE), st.lists(st.floats(0, 1), min_size=2, max_size=5, unique=True))
def test_precision_rises_with_eta(table: Table, eta: list[float]) -> None:
    found = prc(table.frame).curve([*eta], **table.package)
    places: dict[Any, float] = {}
    for row in found.to_dicts():
        place = (*(oracle.key(row[name]) for name in table.by), row["threshold"])
        if row["precision"] is not None:
            assert row["precision"] >= places.get(place, 0.0) * (1 - 1e-14)
            places[place] = row["precision"]


@examples()
@given(tables(), st.floats(0, 1))
def test_factor_of_a_class_is_a_prevalence(table: Table, eta: float) -> None:
    """Nothing but precision and eta differs between two prevalences."""
    columns = [*table.by, *SWEEP]
    there, own = (prc(table.frame).curve(e, **table.package).select(columns) for e in (eta, None))
    assert_same(there, own)


@examples(40)
@given(tables(weights=["", "small integers", "floats"]))
def test_dropped_rows_carry_no_area(table: Table) -> None:
    """Step AP at every prevalence and the ROC area are those of all rows, exactly."""
    arguments = {"by": table.by or None, "label": table.positive, "weight": table.weight}
    full, thin = (
        split(prc(table.frame).sweep(thresholds=rows_at, **arguments), table)
        for rows_at in (None, "corners")
    )
    assert full.keys() == thin.keys()
    for place, kept in thin.items():
        if table.weight is None:
            assert len(kept) <= 2 * (kept[-1]["tp"] + kept[-1]["fn"]) + 2
        assert oracle.roc_area(kept) == oracle.roc_area(full[place])
        for eta in (Fraction(1, 1000), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
            assert oracle.step_average_precision(kept, eta) == oracle.step_average_precision(
                full[place], eta
            )


def split(swept: pl.DataFrame, table: Table) -> dict[Any, list[dict[str, Any]]]:
    """The sweep by group, with exact rates from its counts."""
    out: dict[Any, list[dict[str, Any]]] = {}
    for row in swept.to_dicts():
        tp, fp, fn, tn = (Fraction(row[cell]) for cell in ("tp", "fp", "fn", "tn"))
        rates = {
            "recall": tp / (tp + fn) if tp + fn else None,
            "fpr": fp / (fp + tn) if fp + tn else None,
        }
        out.setdefault(tuple(oracle.key(row[name]) for name in table.by), []).append({**row, **rates})
    return out


# Wide tables ---------------------------------------------------------------------------------


@examples(30)
@given(tables(), st.data())
def test_wide_scores_are_a_score_table_per_model(table: Table, data: st.DataObject) -> None:
    n, dtype = table.frame.height, table.score_dtype
    other = data.draw(st.lists(SCORES[dtype], min_size=n, max_size=n))
    wide = table.frame.rename({"score": "a"}).with_columns(b=pl.Series(other, dtype=dtype))
    long = prc(wide).unpivot_scores(["b", "a"], row="row")
    names = [name for name in wide.columns if name not in ("a", "b")]
    assert long.columns == ["row", *names, "model", "score"]
    rows = wide.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    expected = [
        rows.drop("a", "b")
        .hstack(wide.select(score=model))
        .insert_column(len(names) + 1, pl.Series("model", [model] * n, dtype=pl.String))
        .with_columns(place=pl.lit(place))
        for place, model in enumerate(("b", "a"))
    ]
    assert_same(long, pl.concat(expected).sort("row", "place").drop("place"))
    arguments = {"label": table.positive, "weight": table.weight}
    swept = prc(long).sweep(by=["model", *table.by], **arguments)
    alone = [
        prc(wide).sweep(by=[pl.lit(model).alias("model"), *table.by], score=model, **arguments)
        for model in ("a", "b")
    ]
    assert_same(swept, pl.concat(alone))


@examples(30)
@given(tables(scores=[pl.Float64()], labels=False, weights=["", "floats"]), st.data())
def test_one_vs_rest_is_a_score_table_per_class(table: Table, data: st.DataObject) -> None:
    n = table.frame.height
    columns = {
        name: data.draw(st.lists(SCORES[pl.Float64()], min_size=n, max_size=n))
        for name in ("x", "y", "z")
    }
    truth = data.draw(st.lists(st.sampled_from(["x", "y", "z"]), min_size=n, max_size=n))
    scores = {name: f"p_{name}" for name in sorted(set(truth), reverse=True)}
    if not scores:
        scores = {"x": "p_x"}
    wide = table.frame.drop("score", "label").with_columns(
        pl.Series("truth", truth, dtype=pl.String),
        *(
            pl.Series(f"p_{name}", values, dtype=pl.Float64)
            for name, values in columns.items()
            if name in scores
        ),
    )
    long = prc(wide).unpivot_scores(label="truth", scores=scores)
    swept = prc(long).sweep(by=["class", *table.by], weight=table.weight)
    alone = [
        prc(wide).sweep(
            by=[pl.lit(name).alias("class"), *table.by],
            score=column,
            label=pl.col("truth") == name,
            weight=table.weight,
        )
        for name, column in sorted(scores.items())
    ]
    assert_same(swept, pl.concat(alone))


# Thresholds -----------------------------------------------------------------------------------


@examples()
@given(tables(keys=["none"], min_size=1))
def test_threshold_applied_to_the_table_gives_the_row(table: Table) -> None:
    weight = pl.lit(1) if table.weight is None else pl.col("w").cast(pl.Float64)
    swept = prc(table.frame).sweep(**table.package)
    assert swept.schema["threshold"] == table.score_dtype
    above = pl.col("score") >= pl.col("threshold")
    applied = (
        table.frame.join(swept, how="cross")
        .group_by("threshold", maintain_order=True)
        .agg(
            pl.col("tp", "fp").first(),
            again_tp=weight.filter(above & table.positive).sum(),
            again_fp=weight.filter(above & ~table.positive).sum(),
        )
    )
    assert applied.height == swept.height
    for row in applied.to_dicts():
        for cell in ("tp", "fp"):
            assert math.isclose(row[cell], row[f"again_{cell}"], rel_tol=1e-14)


@examples(60)
@given(tables(weights=["", *IN_FLOATS]), etas)
def test_the_metrics_recall_and_fpr_are_the_rates_of_the_sweep(
    table: Table, eta: list[float | None]
) -> None:
    """Also to the last bit, and with weights, whose counts are rounded sums."""
    given, by, both = evidence(table), table.by or None, ["recall", "fpr"]
    rates = prc(table.frame).sweep(by=by, **given)
    curve = prc(table.frame).curve(eta[:1] or None, metrics=both, by=by, **given)
    assert_same(curve.select(both), rates.select(both))
    long = prc(table.frame).curve(eta[:1] or None, metrics=both, by=by, long=True, **given)
    for name in both:
        values = long.filter(pl.col("metric") == name).select(pl.col("value").alias(name))
        assert_same(values, rates.select(name))


# Expressions ----------------------------------------------------------------------------------


def in_groups(table: Table, **named: pl.Expr) -> pl.DataFrame:
    """Expressions in `agg`, sorted by group and exploded; or in `select`."""
    if not table.by:
        return table.frame.select(**named)
    return (
        table.frame.group_by(table.by)
        .agg(**named)
        .sort(table.by)
        .explode(list(named), empty_as_null=False)
    )


def evidence(table: Table) -> dict[str, Any]:
    return {"label": table.positive, "weight": table.weight}


@examples(100)
@given(tables(weights=["", *IN_FLOATS]))
def test_counts_and_sweep_expressions_are_the_frame_methods(table: Table) -> None:
    by = {"by": table.by or None}
    for method in ("counts", "sweep"):
        structs = getattr(pl.col("score").prc, method)(**evidence(table))
        found = in_groups(table, out=structs).unnest("out")
        assert_same(found, getattr(prc(table.frame), method)(**by, **evidence(table)))


@examples(30)
@given(tables(weights=["large integers"], keys=["none", "String"], min_size=2))
def test_expressions_take_large_whole_weights_as_floats(table: Table) -> None:
    """An expression cannot know the dtype; a frame method adds them as the integers they are."""
    as_floats = table.frame.with_columns(pl.col(table.weight or "").cast(pl.Float64))
    for method in ("counts", "sweep"):
        structs = getattr(pl.col("score").prc, method)(**evidence(table))
        found = in_groups(table, out=structs).unnest("out")
        assert_same(found, getattr(prc(as_floats), method)(by=table.by or None, **evidence(table)))


@examples(60)
@given(tables(weights=SMALL), etas, some_metrics)
def test_curve_expression_is_the_frame_method(
    table: Table, eta: list[float | None], asked: list[Any]
) -> None:
    given_eta = eta[0] if len(eta) == 1 else eta
    structs = pl.col("score").prc.curve(**evidence(table), eta=given_eta, metrics=asked)
    found = in_groups(table, out=structs).unnest("out")
    by = table.by or None
    assert_same(found, prc(table.frame).curve(given_eta, metrics=asked, by=by, **evidence(table)))


@examples()
@given(st.data())
def test_curve_expression_at_a_prevalence_per_group(data: st.DataObject) -> None:
    table = data.draw(tables(weights=SMALL))
    groups = (
        table.frame.select(table.by).unique(maintain_order=True)
        if table.by
        else pl.DataFrame({"_": [0]})
    )
    values = [data.draw(etas)[0] for _ in range(groups.height)]
    asked = groups.with_columns(eta=pl.Series(values, dtype=pl.Float64))
    if table.by:
        frame = table.frame.join(asked, on=table.by, nulls_equal=True, maintain_order="left")
    else:
        asked = asked.drop("_")
        frame = table.frame.join(asked, how="cross")
    joined = Table(frame, table.by, weight=table.weight)
    structs = pl.col("score").prc.curve(
        **evidence(table), eta=pl.col("eta").first(), metrics=["precision", "f1"]
    )
    found = in_groups(joined, out=structs).unnest("out")
    by = table.by or None
    expected = prc(table.frame).curve(asked, metrics=["precision", "f1"], by=by, **evidence(table))
    assert_same(found, expected)


def at_each_row(table: Table, eta: float | None) -> dict[str, pl.Expr]:
    score = pl.col("score").prc
    given_ = evidence(table)
    out = {name: getattr(score, name)(**given_) for name in ("tp", "fp", "fn", "tn", "recall", "fpr")}
    out["precision"] = score.precision(**given_, eta=eta)
    out["f1"] = score.metric("f1", **given_, eta=eta)
    return {name: expr.over(table.by) for name, expr in out.items()} if table.by else out


@examples(20)
@given(tables(weights=SMALL), st.sampled_from([None, 0.0, 0.01, 0.5, 0.9, 1.0]))
def test_expressions_per_row_are_the_row_of_the_sweep(table: Table, eta: float | None) -> None:
    made = at_each_row(table, eta)
    found = table.frame.with_columns(**made)
    curve = prc(table.frame).curve(
        eta, metrics=["precision", "f1"], by=table.by or None, **evidence(table)
    )
    rows = {
        (*(oracle.key(row[name]) for name in table.by), row["threshold"]): row
        for row in curve.to_dicts()
    }
    for row in found.to_dicts():
        if table.weight is None or row["w"] > 0:
            expected = rows[(*(oracle.key(row[name]) for name in table.by), row["score"])]
            assert {name: row[name] for name in made} == {name: expected[name] for name in made}
    count = pl.Int64 if table.weight is None else pl.Float64
    assert {name: found.schema[name] for name in made} == {
        name: count if name in ("tp", "fp", "fn", "tn") else pl.Float64 for name in made
    }


@examples(40)
@given(tables(weights=["", *IN_FLOATS]))
def test_expressions_per_row_of_rows_without_weight(table: Table) -> None:
    """A row that carries none has counts too: of those that score as much."""
    made = {name: expr for name, expr in at_each_row(table, None).items() if name in SWEEP}
    found = table.frame.with_columns(**made)
    groups = {
        tuple(oracle.key(value) for value in group.by.values()): group
        for group in oracle.groups(table.rows, **table.oracle)
    }
    for row in found.to_dicts():
        # A group whose rows all have weight 0 has counts of 0 here, and no rates.
        group = groups.get(tuple(oracle.key(row[name]) for name in table.by), oracle.Group({}, []))
        expected = oracle.count_at(group, row["score"])
        for name in made:
            assert is_same_value(name, row[name], expected[name]), (name, row, expected)


@examples(8)
@given(tables(weights=SMALL, keys=["String", "two", "Enum"], min_size=1))
def test_expressions_per_row_in_agg(table: Table) -> None:
    """The same values, whether a group is a window or a list."""
    made = at_each_row(Table(table.frame, [], table.pos_label, table.weight), 0.1)
    listed = table.frame.group_by(table.by, maintain_order=True).agg(**made)
    windowed = table.frame.with_columns(**at_each_row(table, 0.1))
    windowed = windowed.group_by(table.by, maintain_order=True).agg(*made)
    assert_same(listed, windowed)


# From no row to many groups -------------------------------------------------------------------


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("by", [None, "g"])
def test_empty_tables(by: str | None, weight: str | None) -> None:
    full = big_table(50, 3)
    empty = full.clear()
    for method, options in (
        ("counts", {}),
        ("sweep", {}),
        ("sweep", {"thresholds": "corners"}),
        ("sweep", {"thresholds": 4}),
        ("sweep", {"thresholds": [0.5]}),
        ("curve", {}),
        ("curve", {"eta": [None, 0.1], "metrics": ["f1", "mcc"], "long": True}),
    ):
        found = getattr(prc(empty), method)(by=by, weight=weight, **options)
        assert found.height == 0
        assert found.schema == getattr(prc(full), method)(by=by, weight=weight, **options).schema
    score = pl.col("score").prc
    for name in ("tp", "fp", "fn", "tn", "recall", "fpr", "precision"):
        expr = getattr(score, name)("label", weight=weight)
        assert empty.select(expr).height == 0
        assert empty.select(expr).schema == full.select(expr).schema
    for name in ("counts", "sweep", "curve"):
        expr = getattr(score, name)("label", weight=weight)
        assert empty.select(expr).height == 0
        assert empty.select(expr).schema == full.select(expr).schema
        grouped = empty.group_by("g").agg(expr)
        assert grouped.height == 0
        assert grouped.schema == full.group_by("g").agg(expr).schema


@pytest.mark.parametrize("n_groups", [1, 10])
def test_few_groups(n_groups: int) -> None:
    frame = big_table(400, n_groups)
    table = Table(frame, ["g"])
    assert_holds(prc(frame).sweep(by="g"), oracle.sweep(table.rows, by=["g"]), table, SWEEP)
    assert_same(
        in_groups(table, out=pl.col("score").prc.sweep("label")).unnest("out"), prc(frame).sweep(by="g")
    )


@pytest.mark.slow
def test_a_hundred_thousand_groups() -> None:
    frame = big_table(400_000, 100_000)
    order = np.lexsort((-frame["score"].to_numpy(), frame["g"].to_numpy()))
    ordered = frame[order]
    group, score, label = (ordered[name].to_numpy() for name in ("g", "score", "label"))
    first = np.r_[True, group[1:] != group[:-1]]
    last = np.r_[first[1:] | (score[1:] != score[:-1]), True]
    start = np.flatnonzero(first)[np.cumsum(first) - 1]
    runs = [np.r_[0, np.cumsum(of)] for of in (label, ~label)]
    tp, fp = (run[1:] - run[start] for run in runs)
    expected = pl.DataFrame({"g": group, "threshold": score, "tp": tp, "fp": fp}).filter(last)
    swept = prc(frame).sweep(by="g")
    assert_same(swept.select("g", "threshold", "tp", "fp"), expected)
    whole = (
        frame.group_by("g")
        .agg(n_pos=pl.col("label").sum().cast(pl.Int64), n=pl.len().cast(pl.Int64))
        .sort("g")
    )
    lowest = swept.group_by("g", maintain_order=True).last()
    assert lowest["tp"].equals(whole["n_pos"])
    assert lowest["fp"].equals(whole["n"] - whole["n_pos"])
    assert lowest.filter(whole["n_pos"] > 0)["recall"].unique().to_list() == [1.0]
    assert lowest.filter(whole["n_pos"] == 0)["recall"].null_count() == (whole["n_pos"] == 0).sum()
    lazy = prc(as_parquet(frame, 10_000)).sweep(by="g")
    assert_same(lazy.collect(engine="streaming"), swept)
    table = Table(frame, ["g"])
    assert_same(in_groups(table, out=pl.col("score").prc.sweep("label")).unnest("out"), swept)
    weighted = prc(frame).sweep(by="g", weight="w")
    assert weighted.select((pl.col("tp", "fp", "fn", "tn") >= 0).all()).row(0) == (True,) * 4
    assert weighted.select(pl.max_horizontal("recall", "fpr").max()).item() == 1.0


def test_every_kind_of_weight_is_drawn_somewhere() -> None:
    assert set(MODERATE) | {"minute", "subnormal", "huge", "of any magnitude"} == {"", *WEIGHTS}


def test_expressions_work_on_columns_of_any_name_and_any_order() -> None:
    """A score that is not called score, unsorted, beside columns named like the fields."""
    df = pl.DataFrame(
        {
            "s": [0.1, 0.9, 0.5, 0.7],
            "y": [0, 1, 1, 0],
            "score": [1.0, 2.0, 3.0, 4.0],
            "tp": [7, 7, 7, 7],
            "eta": [0.3] * 4,
        }
    )
    for method in ("counts", "sweep", "curve"):
        structs = getattr(pl.col("s").prc, method)("y")
        assert_frame_equal(
            df.select(structs).unnest("s"), getattr(prc(df), method)(score="s", label="y")
        )
    found = df.select(pl.col("s").prc.curve("y", [0.2, None])).unnest("s")
    assert_frame_equal(found, prc(df).curve([0.2, None], score="s", label="y"))


@pytest.mark.slow
def test_an_error_in_weighted_groups_never_locks_the_engine() -> None:
    """Many times over, since a lock depends on which thread is first."""
    df = pl.DataFrame({"g": [i % 7 for i in range(5_000)], "score": 0.5, "label": True, "w": 1.5})
    bad = df.with_columns(w=pl.when(pl.int_range(pl.len()) == 4_000).then(float("nan")).otherwise("w"))
    for _ in range(200):
        with pytest.raises(PrcError, match="is NaN in 1 row"):
            prc(bad).sweep(by="g", weight="w")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("missing", ["raise", "drop"])
@pytest.mark.parametrize("key", [None, "g"])
def test_scores_that_repeat_are_aggregated_first_with_the_same_result(
    missing: str, key: str | None
) -> None:
    """A DataFrame of many rows is looked at; a LazyFrame is not."""
    n = 300_000
    df = pl.select(
        g=pl.when(pl.int_range(n) % 7 > 0).then(pl.int_range(n) % 7),
        score=(pl.int_range(n) * 7919 % 1009) / 8 - 20,
        label=pl.int_range(n) * 31 % 10 < 3,
    ).with_columns(score=pl.when(pl.col("score") == 0).then(-pl.col("score")).otherwise("score"))
    for how in ({}, {"thresholds": [0.0, 0.3]}, {"thresholds": "corners"}):
        eager = prc(df).sweep(by=key, missing=missing, **how)
        assert_frame_equal(eager, prc(df.lazy()).sweep(by=key, missing=missing, **how).collect())
    assert_frame_equal(prc(df).counts(by=key), prc(df.lazy()).counts(by=key).collect())
    assert_frame_equal(
        prc(df).curve([0.1, None], by=key), prc(df.lazy()).curve([0.1, None], by=key).collect()
    )
    place = pl.int_range(n) == n // 2
    for column, value in (("score", float("nan")), ("score", None), ("label", None)):
        bad = df.with_columns(pl.when(place).then(pl.lit(value)).otherwise(column).alias(column))
        if missing == "raise":
            with pytest.raises(PrcError, match=f"{column} column '{column}' is (NaN|null) in 1 row"):
                prc(bad).sweep(by=key)
        else:
            without = df.filter(~place)
            assert_frame_equal(prc(bad).sweep(by=key, missing="drop"), prc(without).sweep(by=key))
    spelt = df.with_columns(label=pl.when("label").then(pl.lit("spam")).otherwise(pl.lit("ham")))
    with pytest.raises(PrcError, match=r"300000 row.*none equals pos_label='spma'"):
        prc(spelt).sweep(by=key, pos_label="spma", missing=missing)
    assert_frame_equal(prc(spelt).sweep(by=key, pos_label="spam"), prc(df).sweep(by=key))
