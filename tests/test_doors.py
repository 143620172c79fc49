"""The ways in: namespaces, the typed call, Arrow tables; what they hold and what they show."""

from __future__ import annotations

import ast
import gc
import inspect
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import polars_prcurve
from polars_prcurve import DataFramePrc, ExprPrc, LazyFramePrc, PrcError, charts, prc
from polars_prcurve.core.binding.argument_rules import USES
from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS
from polars_prcurve.doors.namespace.frame import FramePrc
from polars_prcurve.doors.namespace.plot import PlotPrc

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


@pytest.mark.parametrize(
    ("of", "namespace"),
    [(pl.DataFrame, DataFramePrc), (pl.LazyFrame, LazyFramePrc), (pl.Expr, ExprPrc)],
)
def test_a_class_leads_to_its_methods(of: Any, namespace: type) -> None:
    """So that help(pl.DataFrame.prc.compare) shows them; the attribute stays one that is not set."""
    assert of.prc is namespace
    assert of.prc.sweep.__doc__
    with pytest.raises(AttributeError):
        DF.prc = 1  # type: ignore[attr-defined]


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


def test_the_repr_says_what_the_table_holds() -> None:
    n = DF.height
    assert repr(DF.prc).startswith(f"<prc of {n} rows: no columns named; use .prc(score=...")
    assert repr(DF.lazy().prc(label="label")) == "<prc of a LazyFrame: label='label'>"
    bound = DF.prc(score="score", by=[pl.col("label").alias("g")])
    assert repr(bound) == f"<prc of {n} rows: score='score', by=[{pl.col('label').alias('g')}]>"
    assert repr(bound.plot) == f"<prc.plot of {bound!r}>"
    assert repr(pl.col("score").prc) == f"<prc of the expression {pl.col('score')}>"


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
    shared = dict.fromkeys(TABLE_WORDS) | {"score": "score", "label": "label", "missing": "raise"}
    bind, call = DataFramePrc.__call__, prc
    methods = [value for name, value in list_functions() if name.startswith(("FramePrc.", "PlotPrc."))]
    # The words of one are of the table that it makes.
    for method in (bind, call, *(m for m in methods if m.__name__ != "unpivot_scores")):
        parameters = inspect.signature(method).parameters
        listed = [name for name in parameters if name in shared]
        assert listed == [name for name in TABLE_WORDS if name in listed]
        assert {"score", "label", "missing"} <= {*listed}
        assert method not in (bind, call) or listed == list(TABLE_WORDS)
        for argument in listed:
            assert parameters[argument].default == shared[argument]
            assert parameters[argument].kind is inspect.Parameter.KEYWORD_ONLY


def test_each_method_reads_what_its_signature_lists() -> None:
    """The signature is the only list: what a method reads is written down from it."""
    for name, words in USES.items():
        assert {*inspect.signature(getattr(DataFramePrc, name)).parameters} & {*TABLE_WORDS} == words
    named = {name for name, _ in list_functions() if name.startswith("FramePrc.")}
    assert named - {f"FramePrc.{name}" for name in USES} <= {"FramePrc.unpivot_scores"}


def test_all_is_what_the_package_offers() -> None:
    public = {
        n
        for n in vars(polars_prcurve)
        if not n.startswith("_") and not inspect.ismodule(getattr(polars_prcurve, n))
    }
    imported = {"annotations", "TYPE_CHECKING", "Any", "import_module", "register"}
    public = public - imported | {"metrics", "charts"} | polars_prcurve._MODULE_OF_NAME.keys()
    assert public == set(polars_prcurve.__all__)
    for name in polars_prcurve.__all__:
        assert getattr(polars_prcurve, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'chart'"):
        polars_prcurve.chart  # noqa: B018


def test_type_checkers_see_the_names_that_are_imported_at_first_use() -> None:
    tree = ast.parse(Path(polars_prcurve.__file__).read_text(encoding="utf-8"))
    (for_types,) = (node for node in tree.body if isinstance(node, ast.If))
    module_of_name = {
        alias.name: str(node.module).removeprefix("polars_prcurve.")
        for node in for_types.body
        if isinstance(node, ast.ImportFrom) and node.module != "polars_prcurve"
        for alias in node.names
    }
    assert module_of_name == polars_prcurve._MODULE_OF_NAME


def test_importing_brings_no_judge() -> None:
    """Decisions and the doors of arrays and files are imported at their first use."""
    code = (
        "import sys, polars_prcurve\n"
        "late = {'judging', 'verdicts', 'report', 'charts', 'scorers', 'scikit_learn', 'cli'}\n"
        "print(*sorted(name for name in sys.modules if name.startswith('polars_prcurve.') and "
        "late & {*name.split('.')}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


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


EXPRESSION_METHODS = [name for name in vars(ExprPrc) if not name.startswith("_")]


@pytest.mark.parametrize("method", EXPRESSION_METHODS)
def test_an_expression_is_of_one_score(method: str) -> None:
    """Polars would spread several columns over the arguments of one sort or struct."""
    required = {"metric": ("f1", "label"), "summary": ("roc_auc", "label"), "shift_prior": (0.5, 0.1)}
    options = {"threshold": {"recall": 0.5}}.get(method, {})
    for scores in (pl.col("a", "b"), pl.col("a", "b") + 1, pl.all(), pl.col("^a.*$")):
        with pytest.raises(PrcError, match=r"write one expression for each column.* takes one"):
            getattr(scores.prc, method)(*required.get(method, ("label",)), **options)


def test_an_expression_for_each_of_several_scores() -> None:
    df = pl.DataFrame({"a": [0.1, 0.4, 0.3], "b": [4, 3, 2], "label": [1, 0, 1]})
    together = df.select(pl.col(name).prc.roc_auc("label") for name in ("a", "b"))
    assert together.row(0) == tuple(
        df.prc.summary(metrics="roc_auc", score=name, columns="all")["value"].item()
        for name in ("a", "b")
    )


# Which arguments may be positional ---------------------------------------------------------------


def list_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every function and method that users call, by name."""
    for owner in (FramePrc, PlotPrc, ExprPrc):
        for name, function in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_"):
                yield f"{owner.__name__}.{name}", function
    for module in (polars_prcurve, charts):
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                yield f"{module.__name__}.{name}", getattr(module, name)


TAKES_ETA = [
    (name, function)
    for name, function in list_functions()
    if "eta" in inspect.signature(function).parameters and name != "polars_prcurve.from_rates"
]
"""All but `from_rates`, whose prevalence is that of a paper, and not where something is asked."""
BEFORE_ETA = {"FramePrc.sample_size": ["delta"]}
"""Arguments with a default that stand before eta: what a method is mostly called with."""


@pytest.mark.parametrize(("name", "function"), TAKES_ETA, ids=[name for name, _ in TAKES_ETA])
def test_eta_is_positional_and_comes_first(name: str, function: Callable[..., Any]) -> None:
    """`eta` may be passed by position, right after what a call cannot do without."""
    parameters = list(inspect.signature(function).parameters.values())
    place = [parameter.name for parameter in parameters].index("eta")
    assert parameters[place].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    optional = [p.name for p in parameters[:place] if p.default is not inspect.Parameter.empty]
    assert optional == BEFORE_ETA.get(name, [])


def test_charts_take_eta_by_position() -> None:
    df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    plot = df.prc.plot
    assert plot.roc_curve(0.1).to_dict() == plot.roc_curve(eta=0.1).to_dict()
    sweep = df.prc.sweep()
    assert charts.roc_curve(sweep, 0.1).to_dict() == charts.roc_curve(sweep, eta=0.1).to_dict()
    wide = df.with_columns(other=pl.col("score") * 2)
    models = {"score": ["score", "other"]}
    assert wide.prc.compare(0.1, columns="all", **models).equals(
        wide.prc.compare(eta=0.1, columns="all", **models)
    )
