"""Rows and groups of weight 0 are as if they were not there, and large weights make no sum infinite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from polars_prcurve import PrcError, intervals, prc
from polars_prcurve.core.binding.argument_rules import USES
from tests.support.comparing import assert_nearly, assert_same
from tests.support.plain_calls import OTHERS, PLAIN
from tests.support.queries import DRAWN, POINTS, QUERIES
from tests.support.tiers import slow_unless

C = ("n_pos", "n_neg")
SQUARES = ("n_pos_squares", "n_neg_squares")


class WeightedDoor:
    """Stands in for `.prc`: calls methods with a weight, of a table to which rows of weight 0 are added.

    The added rows are in a group of their own, where the call has groups, and otherwise among the rest.
    """

    def __init__(self, frame: pl.DataFrame, *, added: bool) -> None:
        self.frame, self.added = frame.with_columns(one=pl.lit(1.0)), added

    def __getattr__(self, method: str) -> Callable[..., pl.DataFrame]:
        def call(*values: Any, **options: Any) -> pl.DataFrame:
            frame = self.frame
            if options.get("counts") is None:
                options["weight"] = options.get("weight", "one")
            if self.added:
                zero = [options["weight"]] if "weight" in options else list(options["counts"])
                frame = pl.concat([frame, mark_as_added(frame, zero)], how="vertical_relaxed")
            return getattr(prc(frame), method)(*values, **options)  # type: ignore[no-any-return]

        return call


def mark_as_added(frame: pl.DataFrame, zero: list[str]) -> pl.DataFrame:
    """Return half of the rows, in a new group, with the columns `zero` set to 0."""
    added = frame.head(frame.height // 2).with_columns(
        pl.lit(0).cast(frame[n].dtype).alias(n) for n in zero
    )
    new = {"g": "added", "h": 99, "day": 99}
    return added.with_columns(
        pl.lit(value).cast(frame[name].dtype).alias(name)
        for name, value in new.items()
        if name in added.columns and name not in zero
    )


def takes_weight(call: Callable[[Any], Any]) -> bool:
    """Return whether a query may have weights: those of points, promises and clusters may not.

    `reweight` makes weights, and wants a prevalence for each part that has rows.
    """
    asked: list[tuple[str, dict[str, Any]]] = []

    class Recorder:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *_values, **options: asked.append((name, options))

    call(Recorder())
    [(name, options)] = asked
    refused = {"rates", "cells", "guarantee", "below", "mean_over"} & set(options) or options.get(
        "label", ""
    ) is None
    refused = refused or options.get("missing") == "below"
    refused = refused or (name in ("curve", "operating_points") and "cluster" in options)
    # Of models of one test set, examples that one model alone flags are counted.
    at_target = {"threshold", "fpr", "recall", "precision"} & set(options)
    refused = refused or (name == "compare" and options.get("paired", True) and at_target)
    return "weight" in USES.get(name, ()) and not refused and name != "reweight"


WEIGHTED = [
    name
    for name, (frame, call) in QUERIES.items()
    if frame is not POINTS
    and takes_weight(call)
    and "in a field" not in name  # which weighs by itself
    and "at a target, in clusters" not in name  # which have no interval with weights
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in list(WEIGHTED)[1::12], WEIGHTED))
def test_rows_of_weight_0_change_no_query(name: str) -> None:
    frame, call = QUERIES[name]
    plain = call(WeightedDoor(frame, added=False))
    assert plain.height > 0
    assert_same(call(WeightedDoor(frame, added=True)), plain)


class ScaledDoor:
    """Stands in for `.prc`: calls methods with weights, or counts, in the unit 1 / `scale`."""

    def __init__(self, frame: pl.DataFrame, scale: float) -> None:
        self.frame, self.scale = frame.with_columns(one=pl.lit(1.0)), scale

    def __getattr__(self, method: str) -> Callable[..., pl.DataFrame]:
        def call(*values: Any, **options: Any) -> pl.DataFrame:
            frame = self.frame
            if options.get("counts") is None:
                options["weight"] = pl.col(options.get("weight", "one")) * self.scale
            else:
                frame = frame.with_columns(pl.col(C) * self.scale, pl.col(SQUARES) * self.scale**2)
            return getattr(prc(frame), method)(*values, **options)  # type: ignore[no-any-return]

        return call


LARGE = 2.0**330
"""A power of two, which rounds nothing; times each weight here it is just below the largest allowed."""
SCALED = [  # a weight of a stratum, and a count without squares, is a number of rows
    name
    for name in WEIGHTED
    if QUERIES[name][0] is not DRAWN and ("of counts" not in name or "weighted" in name)
]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", slow_unless(lambda name: name in list(SCALED)[1::20], SCALED))
def test_weights_near_the_largest_give_the_numbers_of_small_ones(name: str) -> None:
    """Each column is the same, or in the unit of the weights, of their squares, or of one over it."""
    frame, call = QUERIES[name]
    plain, found = (call(ScaledDoor(frame, scale)) for scale in (1.0, LARGE))
    for column in plain.columns:
        units = (1.0, LARGE, LARGE**2, 1 / LARGE) if plain[column].dtype == pl.Float64 else (None,)
        assert any(
            found[column].equals(
                plain[column] if unit is None else plain[column] * unit, null_equal=True
            )
            for unit in units
        ), column


WITH_ERRORS = (
    "summary, with errors",
    "curve, with bands",
    "compare, wide",
    "compare, of groups at a target",
)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", WITH_ERRORS)
def test_squares_of_the_largest_integer_weights_add_up(name: str) -> None:
    frame, call = QUERIES[name]
    rows = frame.with_columns(one=pl.lit(1), most=pl.lit(2**45))
    found, plain = (
        call(prc(rows)(weight=weight)).select(pl.col("^.*(low|high|standard_error|p_value)$"))
        for weight in ("most", "one")
    )
    assert plain.width > 0
    assert_nearly(found, plain)


EAGER = [
    "crossings",
    "ranking",
    "operating_points",
]
OF_TABLES = [name for name, (method, _, _) in OTHERS.items() if method in ("crossings", "sample_size")]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", [*EAGER, *OF_TABLES])
def test_rows_of_weight_0_change_no_eager_method(name: str) -> None:
    method, frame, given = OTHERS[name] if name in OTHERS else (name, *PLAIN[name])
    plain, found = (
        getattr(WeightedDoor(frame, added=added), method)(**given) for added in (False, True)
    )
    assert_same(found, plain)


def test_rows_of_weight_0_draw_no_replicate() -> None:
    frame, _ = QUERIES["summary"]
    how = {"confidence": intervals(0.9, method="bootstrap", resamples=20, seed=1), "by": ["g"]}
    plain, found = (
        WeightedDoor(frame, added=added).summary(0.1, columns="all", **how) for added in (False, True)
    )
    assert_same(found, plain)
    assert plain.height == 6 * 3


@pytest.mark.slow
def test_a_table_of_weight_0_alone_gives_tables_without_rows() -> None:
    for name in WEIGHTED:
        frame, call = QUERIES[name]
        only = WeightedDoor(mark_as_added(frame.with_columns(one=1.0), []), added=False)
        only.frame = only.frame.with_columns(
            pl.lit(0).cast(only.frame[column].dtype).alias(column)
            for column in ("one", "w", "h", "drawn", *C, *SQUARES)
            if column in only.frame.columns
        )
        assert call(only).is_empty(), name


@pytest.mark.parametrize("weight", ["small", "float"])
def test_values_of_weight_0_are_checked_first(weight: str) -> None:
    df = pl.DataFrame({"g": [1, 1, 2], "score": [1.0, 2.0, None], "label": [0, 1, 1]})
    df = df.with_columns(small=pl.Series([1, 1, 0]), float=pl.Series([1.5, 1.5, 0.0]))
    calls: list[Callable[[Any], Any]] = [
        lambda p: p.summary(0.1, by="g", weight=weight, columns="all"),
        lambda p: p.operating_points(0.1, by="g", weight=weight, recall=0.5, columns="all"),
        lambda p: p.curve(0.1, by="g", weight=weight),
        lambda p: p.counts(by="g", weight=weight),
        lambda p: p.binormal(by="g", weight=weight),
        lambda p: p.crossings(model="g", weight=weight),
        lambda p: p.ranking(0.1, model="g", weight=weight, confidence=0.9, columns="all"),
    ]
    for frame in (df, df.filter(g=2)):
        for call in calls:
            with pytest.raises(PrcError, match="is null in 1 row"):
                call(prc(frame))


@pytest.mark.parametrize("options", [{"weight": "w"}, {"counts": C}])
def test_no_gate_passes_over_a_group_of_weight_0(options: dict[str, Any]) -> None:
    """Tables have no row for it, so that a decision of all groups would not name it."""
    frame = pl.DataFrame({"label": [1] * 400 + [0] * 400, "score": [2] * 400 + [1] * 400, "w": 1})
    frame = frame.with_columns(n_pos="label", n_neg=1 - pl.col("label"))
    sites = pl.concat(
        [
            frame.with_columns(site=pl.lit("a")),
            frame.with_columns(pl.lit(0).alias(n) for n in ("w", *C)).with_columns(site=pl.lit("b")),
        ],
        how="vertical_relaxed",
    )
    gate = {"eta": 0.1, "threshold": 2, "precision": 0.5}
    decide = prc(sites, score="score", by="site", **options).decide
    with pytest.raises(PrcError, match=r"^filter out the rows of site = b: all weights there are 0"):
        decide(**gate)
    assert prc(sites.filter(site="a"), by="site", **options).decide(**gate).verdict.met
