"""The ways in: namespaces, the typed call, Arrow tables; what they hold and what they show."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import weakref
from collections.abc import Callable

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import polars_prcurve
from polars_prcurve import DataFramePrc, ExprPrc, LazyFramePrc, prc
from polars_prcurve.plots import PlotPrc

DF = pl.DataFrame({"score": [0.9, 0.4, 0.4, 0.1], "label": [1, 0, 1, 0]})


def test_all_doors_lead_to_the_same_table() -> None:
    expected = DF.prc.sweep()
    assert_frame_equal(prc(DF).sweep(), expected)
    assert_frame_equal(DF.pipe(prc).sweep(), expected)
    assert_frame_equal(prc(DF.lazy()).sweep().collect(), expected)
    assert_frame_equal(DF.lazy().prc.sweep().collect(), expected)
    assert_frame_equal(DF.select(prc(pl.col("score")).sweep("label")).unnest("score"), expected)
    assert_frame_equal(prc(DF.to_arrow()).sweep(), expected)
    assert_frame_equal(
        prc(pa.table({"score": [0.9, 0.4, 0.4, 0.1], "label": [1, 0, 1, 0]})).sweep(), expected
    )


def test_the_typed_call_and_the_namespace_are_of_one_class() -> None:
    assert type(prc(DF)) is type(DF.prc) is DataFramePrc
    assert type(prc(DF.lazy())) is type(DF.lazy().prc) is LazyFramePrc
    assert type(prc(pl.col("x"))) is type(pl.col("x").prc) is ExprPrc


@pytest.mark.parametrize("make", [DF.clone, DF.lazy, lambda: pl.col("score") + 0])
def test_using_the_namespace_makes_no_cycle(make: type) -> None:
    gc.collect()
    gc.disable()
    try:
        owner = make()
        owner.prc  # noqa: B018
        gone = weakref.ref(owner)
        del owner
        assert gone() is None, "freed by reference counting alone"
    finally:
        gc.enable()


def test_rows_added_in_place_are_seen() -> None:
    df = DF.clone()
    assert df.prc.counts().height == 3
    df.extend(pl.DataFrame({"score": [7.0], "label": [1]}))
    assert df.prc.counts().height == 4


def test_a_namespace_kept_longer_than_its_frame_still_works() -> None:
    kept = DF.clone().prc
    assert kept.counts().height == 3


@pytest.mark.parametrize("door", [DF.prc, DF.lazy().prc, pl.col("score").prc, DF.prc.plot])
def test_the_repr_lists_the_methods(door: object) -> None:
    listed = repr(door)
    for name in dir(door):
        assert name.startswith("_") or name in listed


METHODS = [
    (door, name)
    for door in (DataFramePrc, LazyFramePrc, ExprPrc, PlotPrc)
    for name, value in inspect.getmembers(door, callable)
    if not name.startswith("_")
]


@pytest.mark.parametrize(("door", "name"), METHODS)
def test_signatures_are_typed_and_documented(door: type, name: str) -> None:
    method = getattr(door, name)
    assert inspect.getdoc(method)
    signature = inspect.signature(method)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in list(signature.parameters.values())[1:]:
        assert parameter.annotation is not inspect.Parameter.empty
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        assert not isinstance(parameter.default, list | dict | set)


def test_table_arguments_are_the_same_everywhere() -> None:
    shared = {
        "by": None,
        "score": "score",
        "label": "label",
        "pos_label": None,
        "weight": None,
        "missing": "raise",
    }
    for name in ("counts", "sweep", "curve"):
        parameters = inspect.signature(getattr(DataFramePrc, name)).parameters
        for argument, default in shared.items():
            assert parameters[argument].default == default
            assert parameters[argument].kind is inspect.Parameter.KEYWORD_ONLY


def test_all_is_what_the_package_offers() -> None:
    public = {
        n
        for n in vars(polars_prcurve)
        if not n.startswith("_") and not inspect.ismodule(getattr(polars_prcurve, n))
    }
    imported = {"annotations", "TYPE_CHECKING", "Any", "register"}
    assert public - imported | {"metrics", "charts"} == set(polars_prcurve.__all__)
    for name in polars_prcurve.__all__:
        assert getattr(polars_prcurve, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'chart'"):
        polars_prcurve.chart  # noqa: B018


def test_importing_brings_nothing_heavy() -> None:
    code = (
        "import sys, polars; before = set(sys.modules); import polars_prcurve\n"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}\n"
        "heavy = {'altair', 'narwhals', 'numpy', 'pyarrow', 'pandas', 'sklearn', 'vl_convert'}\n"
        "print(*sorted(new & heavy))\n"
        "assert hasattr(polars.DataFrame, 'prc') and hasattr(polars.Expr, 'prc')\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


@pytest.mark.parametrize(
    "value",
    [
        lambda score: score.prc.roc_auc("label"),
        lambda score: score.prc.average_precision("label", eta=0.01, weight="w"),
        lambda score: score.prc.summary("pr_auc", "label", pl.col("w").max() / 10),
        lambda score: score.prc.threshold("label", recall=0.5),
        lambda score: (-score).prc.auprg("label").name.suffix("_gain"),
        lambda score: score.cast(pl.Float64).prc.pr_auc("label") + 1,
    ],
)
def test_several_scores_at_once(value: Callable[[pl.Expr], pl.Expr]) -> None:
    df = pl.DataFrame(
        {
            "a": [0.1, 0.4, 0.3, 0.8, 0.7, 0.5],
            "b": [4, 3, 2, 1, 9, 8],
            "label": [1, 0, 1, 0, 1, 0],
            "w": [1.0, 2.0, 0.5, 1.0, 1.0, 3.0],
            "g": ["x", "x", "x", "y", "y", "y"],
        }
    )
    together, alone = value(pl.col("a", "b")), [value(pl.col(name)) for name in ("a", "b")]
    assert_frame_equal(df.select(together), df.select(alone))
    assert_frame_equal(df.with_columns(together.over("g")), df.with_columns(e.over("g") for e in alone))
    for lazy in (df.lazy(), df.clear().lazy()):
        grouped = [lazy.group_by("g").agg(e).sort("g") for e in (together, alone)]
        for engine in ("streaming", "in-memory"):
            assert_frame_equal(*(query.collect(engine=engine) for query in grouped))


def test_several_scores_row_by_row() -> None:
    df = pl.DataFrame({"a": [0.1, 0.4, 0.4], "b": [4, 3, 2], "label": [1, 0, 1]})
    for name in ("tp", "fp", "fn", "tn", "recall", "fpr", "precision"):
        together, a, b = (getattr(pl.col(*names).prc, name)("label") for names in ("ab", "a", "b"))
        assert_frame_equal(df.select(together), df.select(a, b))
