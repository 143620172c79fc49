"""Wide tables made long."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

DF = pl.DataFrame(
    {
        "id": [10, 11, 12],
        "label": [1, 0, None],
        "a": [0.9, 0.1, 0.5],
        "b": [0.7, None, 0.2],
    }
)


def test_unpivot_keeps_all_other_columns_and_the_order() -> None:
    long = DF.prc.unpivot_scores(["b", "a"], name="model", row="row")
    assert long.columns == ["row", "id", "label", "model", "score"]
    assert long.rows() == [
        (0, 10, 1, "b", 0.7),
        (0, 10, 1, "a", 0.9),
        (1, 11, 0, "b", None),
        (1, 11, 0, "a", 0.1),
        (2, 12, None, "b", 0.2),
        (2, 12, None, "a", 0.5),
    ]


def test_a_long_table_gives_what_the_columns_give_one_by_one() -> None:
    df = DF.drop_nulls()
    long = df.prc.unpivot_scores(["a", "b"]).prc.sweep(by="model")
    for model in ("a", "b"):
        alone = df.prc.sweep(score=model)
        assert_frame_equal(long.filter(model=model).drop("model"), alone)


def test_integer_scores_above_2_to_the_53_stay_apart() -> None:
    df = pl.DataFrame({"label": [1, 0], "a": [2**53 + 1, 2**53], "b": [1, 2]})
    assert df.prc.unpivot_scores(["a", "b"])["score"].to_list() == [2**53 + 1, 1, 2**53, 2]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["cat", "dog", "emu"])])
def test_one_vs_rest_of_named_classes(dtype: pl.DataType) -> None:
    df = pl.DataFrame(
        {
            "species": ["cat", "dog", "emu", None],
            "p_cat": [0.7, 0.1, 0.2, 0.5],
            "p_dog": [0.2, 0.8, 0.3, 0.5],
        }
    ).with_columns(pl.col("species").cast(dtype))
    long = df.prc.one_vs_rest(label="species", scores={"cat": "p_cat", "dog": "p_dog"}, row="row")
    assert long.columns == ["row", "species", "class", "score", "label"]
    assert long["class"].dtype == dtype
    assert long.filter(pl.col("class").cast(pl.String) == "cat")["label"].to_list() == [
        True,
        False,
        False,
        None,
    ]
    sweep = long.prc.sweep(by="class", missing="drop")
    cat = df.drop_nulls().prc.sweep(score="p_cat", label=pl.col("species") == "cat")
    assert_frame_equal(sweep.filter(pl.col("class").cast(pl.String) == "cat").drop("class"), cat)


def test_one_vs_rest_of_numbered_classes_may_replace_the_label() -> None:
    df = pl.DataFrame(
        {"label": [0, 1, 2], "p0": [0.8, 0.1, 0.1], "p1": [0.1, 0.6, 0.2], "p2": [0.1, 0.3, 0.7]}
    )
    long = df.prc.one_vs_rest(label="label", scores={0: "p0", 1: "p1", 2: "p2"})
    assert long.schema == {"label": pl.Boolean, "class": pl.Int64, "score": pl.Float64}
    assert long.prc.curve(by="class").filter(pl.col("recall") == 1, pl.col("precision") == 1).height == 3
