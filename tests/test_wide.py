"""Wide tables: made long, and as they are, with a list or a mapping of columns as `score=`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.metrics import average_precision_score

from polars_prcurve import PrcError, class_mix, field, prc
from polars_prcurve.core.binding.argument_rules import COMPARES_MODELS
from tests.support.comparing import assert_nearly, assert_same

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
    long = df.prc.unpivot_scores(label="species", scores={"cat": "p_cat", "dog": "p_dog"}, row="row")
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
    long = df.prc.unpivot_scores(label="label", scores={0: "p0", 1: "p1", 2: "p2"})
    assert long.schema == {"label": pl.Boolean, "class": pl.Int64, "score": pl.Float64}
    assert long.prc.curve(by="class").filter(pl.col("recall") == 1, pl.col("precision") == 1).height == 3


# Another mix of classes -------------------------------------------------------------------------

CLASSES = [3, 1, 7]
MIX = {7: 0.1, 3: 0.6, 1: 0.3}


def multiclass() -> pl.DataFrame:
    random = np.random.default_rng(2)
    y = random.choice(CLASSES, 300, p=[0.2, 0.5, 0.3])
    scores = {
        f"p{c}": (random.normal(size=300) + 1.5 * (y == c) + 0.5 * (y == 7)).round(1) for c in CLASSES
    }
    return pl.DataFrame({"y": y, **scores})


HOW: dict[str, Any] = {"label": "y", "scores": {c: f"p{c}" for c in CLASSES}}


def test_a_mix_weights_rows_as_scikit_learn_is_told_to() -> None:
    df = multiclass()
    long = df.prc.unpivot_scores(**HOW, mix=MIX)
    assert long.columns == ["y", "class", "score", "label", "weight"]
    of_class = df["y"].value_counts()
    share = {c: n / df.height for c, n in of_class.rows()}
    weight = np.array([MIX[y] / share[y] for y in df["y"]])
    assert long["weight"].to_list() == pytest.approx(np.repeat(weight, len(CLASSES)))
    found = long.prc.summary(by="class", weight="weight", metrics="average_precision", columns="all")
    assert dict(found.select("class", "eta").rows()) == pytest.approx({c: MIX[c] for c in CLASSES})
    for c, value in found.select("class", "value").rows():
        positive = (df["y"] == c).to_numpy()
        expected = average_precision_score(positive, df[f"p{c}"].to_numpy(), sample_weight=weight)
        assert value == pytest.approx(expected, rel=1e-12)
    # eta of each class keeps the mix of the negatives in the table, so it answers another question.
    etas = pl.DataFrame({"class": CLASSES, "eta": [MIX[c] for c in CLASSES]})
    kept = df.prc.unpivot_scores(**HOW).prc.summary(
        etas, by="class", metrics="average_precision", columns="all"
    )
    assert (kept["value"] - found["value"]).abs().max() > 0.01


def test_a_mix_is_relative() -> None:
    df = multiclass().with_columns(other="y")
    long = df.prc.unpivot_scores(**HOW, mix=MIX, row="i")
    assert_frame_equal(long.drop("weight"), df.prc.unpivot_scores(**HOW, row="i"))
    scaled = {c: share * 7 for c, share in MIX.items()}
    assert df.prc.unpivot_scores(**HOW, mix=scaled)["weight"].to_list() == pytest.approx(long["weight"])
    assert long["weight"].sum() == pytest.approx(long.height)
    own = dict(df["y"].value_counts().rows())
    assert df.prc.unpivot_scores(**HOW, mix=own)["weight"].to_list() == pytest.approx(
        [1.0] * long.height
    )


def test_a_row_without_a_class_has_weight_1() -> None:
    df = multiclass().with_columns(y=pl.when(pl.int_range(pl.len()) == 4).then(None).otherwise("y"))
    long = df.prc.unpivot_scores(**HOW, mix=MIX)
    assert long.filter(pl.col("label").is_null())["weight"].to_list() == [1.0] * 3
    rest = df.drop_nulls("y").prc.unpivot_scores(**HOW, mix=MIX)
    assert_frame_equal(long.drop_nulls("label"), rest)
    assert df.head(0).prc.unpivot_scores(**HOW, mix=MIX).is_empty()


def test_a_class_may_have_no_share_and_no_scores() -> None:
    df = multiclass()
    some = {"label": "y", "scores": {3: "p3"}}
    long = df.prc.unpivot_scores(**some, mix=MIX)
    assert_frame_equal(
        long.select("score", "label", "weight"),
        df.prc.unpivot_scores(**HOW, mix=MIX)
        .filter(pl.col("class") == 3)
        .select("score", "label", "weight"),
    )
    none = df.prc.unpivot_scores(**HOW, mix={**MIX, 7: 0, 99: 0})
    assert set(none.filter(y=7)["weight"]) == {0.0}


AT_CALL = [
    ({3: 1, 1: 1}, "add a share for 7 to mix="),
    ({**MIX, 7: -1}, "mix= takes shares, numbers from 0 to 1e100; got -1 for 7"),
    ({**MIX, 7: float("inf")}, "got inf for 7"),
    ({**MIX, 7: 1e308, 1: 1e308}, "got 1e.308 for "),
    ({**MIX, 7: True}, "got True for 7"),
    ({**MIX, 7: "a"}, "got 'a' for 7"),
    ({3: 0, 1: 0, 7: 0}, "takes shares with a sum above 0"),
    ([0.1, 0.2, 0.7], "mix= takes a mapping from each class to its share"),
    ({**MIX, "x": 1}, "as in the label column 'y'"),
]


@pytest.mark.parametrize(("mix", "words"), AT_CALL)
def test_a_bad_mix_raises_at_the_call(mix: Any, words: str) -> None:
    for frame in (multiclass(), multiclass().lazy()):
        with pytest.raises(PrcError, match=words):
            prc(frame).unpivot_scores(**HOW, mix=mix)


WHEN_RUN: list[tuple[Callable[[pl.DataFrame], pl.DataFrame], dict[Any, float], str]] = [
    (lambda df: df, {**MIX, 99: 1}, "no row of the table belongs to 99, a class of label column 'y'"),
    (lambda df: df.with_columns(y=pl.col("y").replace(7, 8)), MIX, "mix= has no share for 8"),
]


@pytest.mark.parametrize(("change", "mix", "words"), WHEN_RUN)
def test_a_mix_that_does_not_fit_the_table_raises(
    change: Callable[[pl.DataFrame], pl.DataFrame], mix: dict[Any, float], words: str
) -> None:
    how: dict[str, Any] = {"label": "y", "scores": {3: "p3", 1: "p1"}}
    with pytest.raises(PrcError, match=words):
        change(multiclass()).prc.unpivot_scores(**how, mix=mix)
    with pytest.raises(pl.exceptions.InvalidOperationError, match=words):
        change(multiclass()).lazy().prc.unpivot_scores(**how, mix=mix).collect()


def test_a_mix_needs_the_name_weight() -> None:
    with pytest.raises(PrcError, match="two columns 'weight'"):
        multiclass().with_columns(weight=1.0).prc.unpivot_scores(**HOW, mix=MIX)


# Columns as they are --------------------------------------------------------------------------

ETA: dict[str, Any] = {"eta": 0.2}
CALLS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("counts", "sweep", "binormal", "crossings")},
    **{"curve": ETA, "compare": ETA, "ranking": ETA, "estimate_prevalence": {"eta_train": 0.5}},
    "summary": {**ETA, "confidence": 0.9},
    "operating_points": {**ETA, "recall": 0.5},
    "decision_curve": {"probabilities": [0.2, 0.5]},
    "sample_size": {"recall": 0.5},
    "subsample_negatives": {"eta": 0.6, "n_repeats": 2, "seed": 1},
}
MODELS = multiclass().select(
    g=pl.int_range(pl.len()) % 2,
    label=pl.col("y") == 1,
    a=pl.col("p1") / 10 + 0.5,
    b=pl.col("p3") / 10 + 0.5,
)
MANY = multiclass().with_columns(cs / 10 + 0.5 for cs in (pl.col("p3"), pl.col("p1"), pl.col("p7")))


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("name", CALLS)
def test_a_list_of_columns_is_the_long_table(name: str) -> None:
    long = MODELS.prc.unpivot_scores(["a", "b"], row="row")
    how = {"id": "row"} if name == "compare" else {}
    expected = getattr(long.prc(by="g"), name)(**CALLS[name], **how, model="model")
    for door in (MODELS.prc, MODELS.lazy().prc):
        found = getattr(door(score=["a", "b"], by="g"), name)(**CALLS[name])
        assert_same(found.lazy().collect(), expected)


def test_a_lead_among_columns_is_that_of_paired_rows() -> None:
    long = MODELS.prc.unpivot_scores(["a", "b"], row="row")
    paired = long.prc.ranking(0.2, id="row", by="g", confidence=0.9, columns="all")
    assert_same(MODELS.prc.ranking(0.2, score=["a", "b"], by="g", confidence=0.9, columns="all"), paired)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("name", [name for name in CALLS if name not in COMPARES_MODELS])
def test_a_mapping_of_columns_is_one_class_against_the_rest_each(name: str) -> None:
    scores = HOW["scores"]
    expected = getattr(MANY.prc.unpivot_scores(**HOW).prc, name)(**CALLS[name], by="class")
    for door in (MANY.prc, MANY.lazy().prc):
        found = getattr(door(score=scores, label="y"), name)(**CALLS[name])
        assert_same(found.lazy().collect(), expected)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ["curve", "operating_points", "decision_curve", "summary"])
def test_a_class_mix_weights_classes_as_one_vs_rest_does(name: str) -> None:
    how = {word: value for word, value in CALLS[name].items() if word not in ("eta", "confidence")}
    weighted = MANY.prc.unpivot_scores(**HOW, mix=MIX)
    expected = getattr(weighted.prc, name)(**how, by="class", weight="weight")
    found = getattr(MANY.prc(score=HOW["scores"], label="y"), name)(eta=class_mix(MIX), **how)
    assert_nearly(found.select(expected.columns), expected)
    scaled = class_mix({of: 1.004 * share for of, share in MIX.items()})
    assert_nearly(getattr(MANY.prc, name)(eta=scaled, score=HOW["scores"], label="y", **how), found)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ["curve", "operating_points", "decision_curve", "summary"])
def test_a_field_weights_parts_as_reweight_does(name: str) -> None:
    how = {word: value for word, value in CALLS[name].items() if word not in ("eta", "confidence")}
    parts = field(pl.DataFrame({"g": [0, 1], "eta": [0.1, 0.3], "share": [3, 1]}), parts="g")
    weighted = MODELS.prc.reweight(parts)
    for score in ("a", ["a", "b"]):
        expected = getattr(weighted.prc, name)(**how, score=score, weight="weight")
        for bound in (MODELS.prc(score=score), MODELS.prc(score=score, by="g")):  # which leaves by
            assert_nearly(getattr(bound, name)(eta=parts, **how).select(expected.columns), expected)


def test_a_field_takes_its_parts_out_of_bound_groups_alone() -> None:
    parts = pl.DataFrame({"g": [0, 1], "k": [1, 3], "n": [10, 10], "share": [1, 3]})
    bound = MODELS.prc(score="a", by="g")
    found = bound.curve(field(parts, parts="g"))
    assert "g" not in found.columns
    assert_same(found, MODELS.prc.curve(field(parts, "g"), score="a"))
    assert found["eta"].unique().to_list() == pytest.approx([0.25])
    with pytest.raises(PrcError, match="by= and parts= both hold 'g'"):
        bound.curve(field(parts, parts="g"), by="g")
    with pytest.raises(PrcError, match="add a column 'share' to the frame of field"):
        field(parts.drop("share"), "g")


def test_what_does_not_go_with_columns_of_scores() -> None:
    models, classes = {"score": ["a", "b"]}, {"score": HOW["scores"], "label": "y"}
    cases: list[tuple[pl.DataFrame, dict[str, Any], str]] = [
        (MODELS, {**models, "model": "g"}, "leave out model=: score= names a column for each model"),
        (MODELS, {**models, "id": "g"}, "leave out id="),
        (MODELS, {**models, "by": pl.col("g").alias("model")}, "leave the column 'model' out of by="),
        (MANY, {**classes, "pos_label": 1}, "leave out pos_label="),
        (
            pl.DataFrame({"cat": [0.9, 0.1], "dog": [0.1, 0.9], "label": ["cat", "dog"]}),
            {"score": ["cat", "dog"], "pos_label": "cat"},
            "pass score='cat' for one class, or score={class: column, ...} for all",
        ),
        (
            MANY,
            {**classes, "by": pl.col("y").alias("class")},
            "leave the column 'class' out of by=: score= already adds",
        ),
        (
            MANY,
            {**classes, "model": "class"},
            "leave out model=, or compare the classes",
        ),
        (MANY, {**classes, "score": {3: {"m": "p3"}}}, "unpivot_scores"),
        (MANY, {**classes, "eta": class_mix({3: 0.5, 1: 0.5})}, "7"),
        (MANY, {"score": "p3", "label": pl.col("y") == 3, "eta": class_mix(MIX)}, "score= as a mapping"),
        (MANY, {**classes, "eta": [class_mix(MIX)]}, "eta="),
    ]
    for table, words, sentence in cases:
        with pytest.raises(PrcError, match=sentence):
            table.prc.summary(columns="all", **words)
    with pytest.raises(PrcError, match=r"\.unpivot_scores\(mix=.* sample_size\(\) has no formula"):
        MANY.prc(**classes).sample_size(eta=class_mix(MIX), recall=0.5)
    with pytest.raises(PrcError, match=r"that names the models: there is no column 'model'$"):
        MANY.prc(**classes).ranking(0.2, columns="all")
    label_name = str(models.get("label", "label"))
    with pytest.raises(PrcError, match=f"leave '{label_name}' out of score= or out of label="):
        MODELS.prc(**{**models, "score": [label_name, *models["score"]]}).summary()
    with pytest.raises(PrcError, match=r"call sampling_plan\(\) once for each model"):
        MODELS.prc(**models).sampling_plan(0.5, budget=1)


def test_a_rule_of_integers_stands_beside_models() -> None:
    draw = np.random.default_rng(5)
    label = draw.random(300) < 0.3
    rule = (draw.random(300) < 0.2 + 0.5 * label).astype(int)
    table = pl.DataFrame({"label": label, "model": draw.normal(size=300) + label, "rule": rule})
    for float_dtype, dtypes in (
        (pl.Float64, (pl.Int32, pl.UInt64, pl.Boolean)),
        (pl.Float32, (pl.Int64, pl.Int8, pl.UInt16)),
    ):
        table = table.with_columns(pl.col("model").cast(float_dtype))
        cast = prc(table.with_columns(pl.col("rule").cast(float_dtype)), score=["model", "rule"])
        summary, comparison = cast.summary(0.1), cast.compare(0.1)
        for dtype in dtypes:
            rows = table.with_columns(pl.col("rule").cast(dtype))
            assert_same(prc(rows, score=["model", "rule"]).summary(0.1), summary)
            lazy = prc(rows.lazy(), score=["model", "rule"]).compare(0.1)
            assert_same(lazy.collect(engine="streaming"), comparison)
        assert_same(prc(rows, score=["model", "rule"]).compare(0.1), comparison)
    # Alone, integers stay what they are, whatever their size.
    big = table.with_columns(pl.col("rule") + 2**53)
    assert big.prc.sweep(score="rule")["threshold"].to_list() == [2**53 + 1, 2**53]


def test_a_rule_that_would_lose_a_digit_is_refused() -> None:
    table = pl.DataFrame({"label": [1, 0, 1], "model": [0.5, 0.25, 0.75]})
    words: dict[str, Any] = {"score": ["model", "big"], "missing": "drop"}
    cases = (
        (pl.Float64, pl.Int64, 2**53),
        (pl.Float32, pl.Int64, 2**24),
        (pl.Float32, pl.UInt32, 2**24),
    )
    for float_dtype, dtype, most_exact in cases:
        big = pl.Series("big", [most_exact, most_exact + 1, None], dtype=dtype)
        rows = table.with_columns(pl.col("model").cast(float_dtype), big)
        sentence = (
            f"'big' is {dtype} beside {float_dtype}, which has no {most_exact + 1}; cast the columns"
        )
        with pytest.raises(PrcError, match=f"score column {sentence}"):
            prc(rows, **words).summary(0.1)
        for engine in ("in-memory", "streaming"):
            with pytest.raises(pl.exceptions.InvalidOperationError, match=sentence):
                prc(rows.lazy(), **words).summary(0.1).collect(engine=engine)
        assert prc(rows.filter(pl.col("big") == most_exact), **words).summary(0.1).height == 6
    mixed = table.with_columns(rule=pl.col("label"), half=pl.col("model").cast(pl.Float32))
    with pytest.raises(PrcError, match="cast the score columns to one dtype, so that none is rounded"):
        prc(mixed, score=["rule", "model", "half"]).summary(0.1)


ROW = pl.int_range(pl.len())
WRONG_CELLS: dict[str, tuple[dict[str, pl.Expr], str]] = {
    "a label": ({"label": pl.when(ROW >= 2).then("label")}, "label column 'label.* is null in 2 rows;"),
    "one label": ({"label": pl.when(ROW >= 1).then("label")}, "label column 'label.* is null in 1 row;"),
    "a weight": (
        {"w": pl.when(ROW < 3).then(-1.0).otherwise(1.0)},
        "weight column 'w' is .* in 3 rows;",
    ),
    "a score": (
        {"b": pl.when(ROW != 1).then("b")},
        "a score of the columns 'a' and 'b' is null in 1 pl",
    ),
    "two scores": (
        {name: pl.when(ROW != 1).then(name).otherwise(np.nan) for name in "ab"},
        "a score of the columns 'a' and 'b' is NaN in 2 places;",
    ),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", WRONG_CELLS)
@pytest.mark.parametrize("score", [["a", "b"], {"x": "a", "y": "b"}], ids=["models", "classes"])
def test_errors_count_rows_and_name_columns_of_the_wide_table(name: str, score: Any) -> None:
    """Each row stands once for each column in the long table, whose score column has no name."""
    columns, sentence = WRONG_CELLS[name]
    draw = np.random.default_rng(0)
    table = pl.DataFrame({"w": 1.0, "a": draw.normal(size=40), "b": draw.normal(size=40)})
    classes = ["x", "y", "z"] if isinstance(score, dict) else [0, 1]
    table = table.with_columns(label=pl.Series(classes * 20).head(40)).with_columns(**columns)
    for method, words in (("summary", {}), ("curve", {}), ("operating_points", {"recall": 0.5})):
        for weight in (None, "w"):
            test = prc(table, score=score, weight=weight)
            if name == "a weight" and weight is None:
                continue
            with pytest.raises(PrcError, match=sentence):
                getattr(test, method)(0.1, **words)
            lazy = prc(table.lazy(), score=score, weight=weight)
            with pytest.raises(pl.exceptions.InvalidOperationError, match=sentence):
                getattr(lazy, method)(0.1, **words).collect(engine="streaming")
