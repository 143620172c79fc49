"""Examples that several models scored: what tells them apart, and what leaves them out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polars_prcurve import PrcError, intervals, prc
from polars_prcurve.doors.namespace.frame import DataFramePrc
from tests.support.comparing import assert_same
from tests.support.profiles import examples
from tests.support.tiers import slow_unless
from tests.support.two_scores import AGAIN, BOOTSTRAP

N = 60
WIDE = pl.DataFrame(
    {
        "g": ["x", "", "y"] * (N // 3),
        "market": ["x", None, "y"] * (N // 3),
        "repeat": [i % 2 for i in range(N)],
        "patient": [float(i // 6) - 2.0 for i in range(N)],
        "label": [i * 7 % 5 < 2 for i in range(N)],
        "w": [1.0 + i % 3 for i in range(N)],
        "a": [float(i * 37 % 59) for i in range(N)],
        "b": [float(i * 23 % 31) for i in range(N)],
        "c": [float(i * 11 % 47) for i in range(N)],
    }
)
MODELS = ["a", "b", "c"]
ID = ["g", "repeat", "patient"]
"""Columns that tell the rows of WIDE apart; within a group the last two do."""


def to_long(wide: pl.DataFrame) -> pl.DataFrame:
    long = wide.prc.unpivot_scores(MODELS, name="model")
    return long.with_columns(pl.col("model").cast(pl.Enum(MODELS))).sample(
        fraction=1, shuffle=True, seed=3
    )


def with_holes(rows: dict[str, list[int]]) -> pl.DataFrame:
    """Return WIDE with nulls in these rows of columns."""
    return WIDE.with_columns(
        pl.when(pl.int_range(pl.len()).is_in(where)).then(None).otherwise(name).alias(name)
        for name, where in rows.items()
    )


def named_alike(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of a comparison with names of models as text, in the order of their columns."""
    names = [name for name in ("model_a", "model_b", "model") if name in table.columns]
    return table.with_columns(pl.col(names).cast(pl.String))


some_rows = st.lists(st.integers(0, N - 1), max_size=9)


@examples(40)
@given(st.fixed_dictionaries(dict.fromkeys(("a", "b", "c", "label", "w"), some_rows)), st.booleans())
def test_drop_leaves_out_whole_examples(rows: dict[str, list[int]], grouped: bool) -> None:
    """A wide table, a long one, and the complete rows alone give the same comparison and ranking."""
    wide = with_holes(rows)
    complete = wide.drop_nulls([*MODELS, "label", "w"])
    how: dict[str, Any] = {"eta": [0.1, 0.4], "weight": "w", "by": "market" if grouped else None}
    expected = prc(complete).compare(score=MODELS, columns="all", **how)
    pair = {"model": "model", "id": ID[1:] if grouped else ID, "missing": "drop"}
    assert_same(prc(wide).compare(score=MODELS, missing="drop", columns="all", **how), expected)
    long = to_long(wide)
    assert_same(named_alike(prc(long).compare(columns="all", **pair, **how)), expected)
    ranks = prc(long).ranking(confidence=0.9, columns="all", **pair, **how)
    pair["missing"] = "raise"
    assert_same(ranks, prc(to_long(complete)).ranking(confidence=0.9, columns="all", **pair, **how))


def test_drop_of_whole_examples_in_the_bootstrap() -> None:
    wide = with_holes({"a": [3, 4], "c": [4, 9], "label": [20]})
    complete = wide.drop_nulls([*MODELS, "label"])
    how: dict[str, Any] = {"eta": 0.1, "id": ID, "model": "model", **BOOTSTRAP}
    found = prc(to_long(wide)).compare(missing="drop", columns="all", **how)
    assert_same(found, prc(to_long(complete)).compare(columns="all", **how))


def test_without_id_a_row_is_dropped_alone() -> None:
    wide = with_holes({"a": [3, 4]})
    found = prc(to_long(wide)).summary(0.1, by="model", missing="drop", metrics="roc_auc", columns="all")
    assert (found["n_pos"] + found["n_neg"]).to_list() == [N - 2, N, N]


def test_an_example_without_a_row_of_each_model_still_raises() -> None:
    long = to_long(with_holes({"a": [3]})).filter((pl.col("model") != "b") | (pl.col("patient") != 2.0))
    with pytest.raises(
        PrcError, match=r"exactly one row per model, but a row is missing or repeated for 6 examples"
    ):
        prc(long).compare(model="model", id=ID, eta=0.1, missing="drop", columns="all")


def test_a_missing_id_drops_its_rows() -> None:
    long = to_long(WIDE).with_columns(repeat=pl.when(patient=2.0).then(None).otherwise("repeat"))
    with pytest.raises(PrcError, match="id column 'repeat' is null in 18 row"):
        prc(long).compare(model="model", id=ID, eta=0.1, columns="all")
    found = prc(long).compare(model="model", id=ID, eta=0.1, missing="drop", columns="all")
    rest = WIDE.filter(pl.col("patient") != 2.0)
    assert_same(named_alike(found), prc(rest).compare(0.1, score=MODELS, columns="all"))


IDS: dict[str, Any] = {
    "names": ID,
    "turned": tuple(reversed(ID)),
    "expressions": [pl.col("g"), pl.col("repeat") == 1, pl.col("patient") * 2],
    "a struct": pl.struct(ID),
    "mixed": [pl.col("repeat") * 1000 + pl.col("patient"), "g"],
}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("id", slow_unless(lambda form: form not in ("turned", "expressions"), IDS))
@pytest.mark.parametrize("method", ["analytic", pytest.param("bootstrap", marks=pytest.mark.slow)])
def test_several_columns_tell_examples_apart(id: str, method: Any) -> None:
    """Names, expressions, or one struct of them: the examples are the same."""
    wide = WIDE
    drawn: Any = {"resamples": 600, "seed": 1} if method == "bootstrap" else {}
    how: dict[str, Any] = {"eta": [0.1, 0.4], "confidence": intervals(0.95, method=method, **drawn)}
    numbered = prc(to_long(wide.with_row_index("row"))).compare(
        model="model", id="row", columns="all", **how
    )
    found = prc(to_long(wide)).compare(model="model", id=IDS[id], columns="all", **how)
    if method == "bootstrap":  # draws depend on the order of examples
        assert_same(found.select("eta", "difference"), numbered.select("eta", "difference"))
        assert (found["standard_error"] / numbered["standard_error"]).is_between(0.75, 1.33).all()
    else:
        assert_same(found, numbered)
    how["confidence"] = intervals(0.9, method=method, **drawn)
    ranks = prc(to_long(wide)).ranking(id=IDS[id], columns="all", **how)
    assert ranks.height == 6
    assert (
        wide.prc.unpivot_scores(MODELS)
        .prc.plot.ranking(0.1, id=IDS[id], confidence=0.9)
        .to_dict()["title"]
    )


def test_an_empty_id_is_none() -> None:
    with pytest.raises(PrcError, match="or model= with id=, the column that identifies an example"):
        prc(to_long(WIDE)).compare(model="model", id=[], columns="all")


# Before the work ------------------------------------------------------------------------------

Call = Callable[[Any], Any]
SLOW: dict[str, Call] = {
    "compare wide": lambda p: p.compare(0.1, score=MODELS, by="g", columns="all"),
    "compare long": lambda p: p.compare(model="model", id=ID, eta=0.1, columns="all"),
    "compare, bootstrap": lambda p: p.compare(model="model", id=ID, eta=0.1, columns="all", **BOOTSTRAP),
    "ranking": lambda p: p.ranking(0.1, confidence=0.9, columns="all"),
    "ranking, paired": lambda p: p.ranking(0.1, confidence=0.9, id=ID, columns="all"),
    "summary, bootstrap": lambda p: p.summary(0.1, by="model", columns="all", **AGAIN),
}


@pytest.fixture
def only_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the last step of a method of a DataFrame fail, which computes the values."""

    def fail(*_: Any) -> None:
        raise AssertionError("the values were computed before the check")

    monkeypatch.setattr(DataFramePrc, "_finish", fail)


@pytest.mark.usefixtures("only_checks")
@pytest.mark.parametrize("method", SLOW)
def test_bad_values_are_told_before_the_work(method: str) -> None:
    bad = {
        "is null in": WIDE.with_columns(a=pl.when(repeat=1).then(None).otherwise("a")),
        "is not binary in": WIDE.with_columns(label=pl.lit(3)),
    }
    for words, wide in bad.items():
        frame = wide if method == "compare wide" else unpivot(wide)
        with pytest.raises(PrcError, match=words):
            SLOW[method](prc(frame))


def unpivot(wide: pl.DataFrame) -> pl.DataFrame:
    return DataFramePrc(wide)._frame.unpivot(
        MODELS, index=[*ID, "market", "label", "w"], variable_name="model", value_name="score"
    )


@pytest.mark.usefixtures("only_checks")
@pytest.mark.parametrize(
    "call",
    [
        lambda p, **how: p.compare(model="model", id=ID, columns="all", **how),
        lambda p, **how: p.ranking(confidence=0.9, id=ID, columns="all", **how),
    ],
)
def test_unmatched_examples_are_told_before_the_work(call: Callable[..., Any]) -> None:
    long = unpivot(WIDE)
    with pytest.raises(
        PrcError, match=r"exactly one row per model, but a row is missing or repeated for 1 example"
    ):
        call(prc(long.slice(1)), eta=0.1)
    with pytest.raises(PrcError, match=r"the label, .* is different in another model for 1 example"):
        call(prc(long.with_columns(label=pl.col("label") ^ (pl.int_range(pl.len()) == 0))), eta=0.1)
    with pytest.raises(PrcError, match="no row for 6 group"):
        call(prc(long), by="g", eta=pl.DataFrame({"g": ["x"], "eta": [0.1]}))
