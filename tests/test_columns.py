"""The columns that docstrings promise, by name, dtype and order, are those that come out.

Under `Returns` a list says them: `- names: dtype, what they hold`. Before the names may stand the
argument that they come with, ``with `per`,`` or ``with `band="moving"`,``. In place of a dtype may stand
`as in the table`, of the column that the argument names, or ``as in `method` ``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from polars_prcurve import prc
from polars_prcurve.core.confidence.sample_sizes import SIZES_NEEDED
from polars_prcurve.doors.namespace.expression import ExprPrc
from polars_prcurve.doors.namespace.frame import FramePrc
from tests.support.plain_calls import DF, OTHERS, PLAIN

WITH = {"confidence": 0.95, "per": 1000, "row": "row"}
OF_INPUT = {
    **dict.fromkeys(("threshold", "holds_from", "holds_to", "score_low", "score_high"), "score"),
    "model_a": "model",
    "model_b": "model",
    "class": "kind",
    "since": "week",
    "points": "a",
}


class Promise(NamedTuple):
    given: set[str]
    """The argument with which it holds, maybe with its value, or nothing."""
    what: str
    dtype: str


def promises(method: str) -> Iterator[Promise]:
    text = (inspect.getdoc(getattr(FramePrc, method)) or "").partition("Returns\n-------\n")[2]
    text = text.partition("\nExamples\n")[0]
    for item in re.findall(r"^- (.*(?:\n  .*)*)", text, flags=re.M):
        given, also, what, dtype = re.fullmatch(
            r"(?:with `([^`]+)`(?: and `([^`]+)`)?, )?([^:]*)(?:: (.*))?", item, re.S
        ).groups()
        yield Promise({name for name in (given, also) if name}, what, dtype or "")


def spelt_out(method: str) -> Iterator[Promise]:
    """The same, with another method's columns in place of its name."""
    for promise in promises(method):
        inner = re.fullmatch(r"the columns of `(\w+)`", promise.what)
        yield from spelt_out(inner[1]) if inner else [promise]


def columns(method: str, table: pl.DataFrame, given: dict[str, Any]) -> dict[str, pl.DataType]:
    """What the docstring promises, after the group columns."""
    found: dict[str, pl.DataType] = {}
    for promise in spelt_out(method):
        if not promise.given <= {*given, *(f'{n}="{v}"' for n, v in given.items())}:
            continue
        if promise.what.startswith("after each metric"):
            bands = re.findall(r"`<metric>(\w+)`", promise.what)
            having = {*given["metrics"], *re.findall(r"`(\w+)`", promise.what)}
            dtype = dtype_of(promise, "<metric>_low", table, given)
            found = {
                name: of
                for column, old in found.items()
                for name, of in [
                    (column, old),
                    *((column + end, dtype) for end in bands if column in having),
                ]
            }
            continue
        for name in names(promise, table, given):
            found[name] = dtype_of(promise, name, table, given)
    return found


def names(promise: Promise, table: pl.DataFrame, given: dict[str, Any]) -> list[str]:
    if promise.what == "the columns `metrics`":
        return list(given["metrics"])
    if promise.what == "the other columns of the table":
        scores = given.get("scores", [])
        return [name for name in table.columns if name not in {"a", "b"} & {*scores, *_values(scores)}]
    if promise.what == "that column":
        return [given[name] for name in promise.given]
    if named := re.fullmatch(r"a column `(\w+)`", promise.what):
        return [given[named[1]]]
    return re.findall(r"`(\w+)`", promise.what)


def _values(scores: Any) -> list[str]:
    return list(scores.values()) if isinstance(scores, dict) else scores


def dtype_of(promise: Promise, name: str, table: pl.DataFrame, given: dict[str, Any]) -> pl.DataType:
    if promise.what == "the other columns of the table":
        return table.schema[name]
    is_mapping = (
        isinstance(given.get("scores"), dict) and "with a mapping as in the table" in promise.dtype
    )
    if promise.dtype.startswith("as in the table") or is_mapping:
        return table.schema[OF_INPUT.get(name, name)]
    if promise.dtype.startswith("List of models"):
        return pl.List(table.schema["model"])
    if other := re.match(r"as in `(\w+)`", promise.dtype):
        there = next(p for p in spelt_out(other[1]) if f"`{name}`" in p.what)
        return dtype_of(there, name, table, given)
    if "weight" in given and re.match(r"\w+, or Float64 with weights", promise.dtype):
        return pl.Float64()
    return getattr(pl, re.match(r"\w+", promise.dtype)[0])()


def result(method: str, table: pl.DataFrame, given: dict[str, Any]) -> dict[str, pl.DataType]:
    found = dict(getattr(prc(table.lazy()), method)(**given).lazy().collect_schema())
    assert found == dict(getattr(prc(table), method)(**given).schema)
    return found


@pytest.mark.quick_cases(20)
@pytest.mark.parametrize("method", PLAIN)
@pytest.mark.parametrize(
    ("more", "shown"),
    [({}, "short"), (WITH, "all"), ({"weight": "w"}, "short")],
    ids=["plain", "with", "weights"],
)
def test_columns_are_as_promised(method: str, more: dict[str, Any], shown: str) -> None:
    table, given = PLAIN[method]
    more = {**more, "columns": shown}
    takes = set(inspect.signature(getattr(FramePrc, method)).parameters)
    lone = {"per"} if method in ("ranking", "compare") else set()  # there it is for the budget alerts=
    given = given | {name: value for name, value in more.items() if name in takes - lone}
    if "weight" in given and "w" not in table.columns:
        table = table.with_columns(w=pl.lit(1.5))
    groups = {"day": pl.Int8()} if "by" in given else {}
    found = result(method, table, given)
    assert list(found.items()) == list((groups | columns(method, table, given)).items())


@pytest.mark.parametrize("name", OTHERS)
def test_columns_of_another_answer_are_as_promised(name: str) -> None:
    """What is promised with the arguments that ask for it stands in place of other columns."""
    method, table, given = OTHERS[name]
    groups = {"day": pl.Int8()} if "by" in given else {}
    found = result(method, table, given)
    words = {"leaders": {"leaders"}, "dominance": {'of="roc"', "leaders"}}.get(name)
    if words is not None:
        own = [promise for promise in promises(method) if promise.given == words]
        expected = {
            each: dtype_of(promise, each, table, given)
            for promise in own
            for each in names(promise, table, given)
        }
    else:
        expected = columns(method, table, given)
        replaced = {*SIZES_NEEDED} if name == "resolution" else set()
        expected = {each: dtype for each, dtype in expected.items() if each not in replaced}
    assert list(found.items()) == list((groups | expected).items())


def test_models_of_a_long_table_keep_their_dtype() -> None:
    [promise] = [p for p in promises("compare") if "`model_a`" in p.what]
    assert "as in `model`" in promise.dtype
    assert result("compare", DF, {"model": "model", "id": "id"})["model_a"] == DF.schema["model"]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    "more",
    [{"guarantee": 0.95}, {"confidence": 0.9, "per": 100}, {"confidence": 0.9, "threshold": 5}],
    ids=lambda m: next(iter(m)),
)
@pytest.mark.parametrize("shown", ["short", "all"])
def test_what_is_asked_of_points_adds_columns(more: dict[str, Any], shown: str) -> None:
    given = {"by": "day", "eta": 0.1, "recall": 0.5, "metrics": ["f1"], "columns": shown, **more}
    found = result("operating_points", DF, given)
    promised = {"day": pl.Int8()} | columns("operating_points", DF, given)
    assert list(found.items()) == list(promised.items())


@pytest.mark.parametrize("method", ["counts", "sweep", "curve"])
def test_structs_hold_the_fields_that_are_promised(method: str) -> None:
    first = (inspect.getdoc(getattr(ExprPrc, method)) or "").splitlines()[0]
    dtype = DF.select(getattr(prc(pl.col("score")), method)("label")).schema["score"]
    fields = [field.name for field in dtype.fields]
    said = re.sub(r"the fields of `sweep`", "threshold, tp, fp, fn, tn, recall, fpr", first)
    said = said.replace("the metrics", "precision").partition(", one per")[0]
    assert re.findall(r"\w+", re.sub(r"Structs of|\band\b", "", said)) == fields


def test_the_page_of_columns_lists_every_column() -> None:
    page = (Path(__file__).parent.parent / "docs" / "columns.md").read_text(encoding="utf-8")
    cells = " ".join(re.findall(r"^\| ([^|]*) \|", page, flags=re.M))
    methods = {name for name in dir(FramePrc) if inspect.isfunction(getattr(FramePrc, name))}
    promised = {
        name
        for method in methods - {"decide", "report"}
        for promise in promises(method)
        for name in re.findall(r"`([\w<>]+)`", promise.what)
    }
    of_arguments = {"metrics", "name", "sweep"}  # a list of columns, a column that is named, a method
    assert promised - of_arguments == set(re.findall(r"`([\w<>]+)`", cells))
