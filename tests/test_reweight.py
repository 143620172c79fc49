"""Weights that give the parts of a field their prevalences and their shares."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from polars_prcurve import PrcError, field
from tests.support.profiles import examples

NAN = float("nan")
COUNTRIES, REGIONS = ["de", "fr", None], [1.5, NAN, None]


@st.composite
def fields(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A table with both classes in every part of two groups, and the etas and shares of its parts."""
    keys = list(product(["a", "b"], draw(st.permutations(COUNTRIES))[:2], REGIONS[:2]))
    rows = [(*key, label) for key in keys for label in (True, False)]
    rows += draw(st.lists(st.tuples(st.sampled_from(keys), st.booleans()).map(lambda x: (*x[0], x[1]))))
    rows = draw(st.permutations(rows))
    table = pl.DataFrame(
        rows, schema={"g": pl.String, "c": pl.String, "x": pl.Float64, "label": pl.Boolean}, orient="row"
    )
    weights = st.lists(st.sampled_from([0.25, 1.0, 3.0]), min_size=len(rows), max_size=len(rows))
    parts = [key[1:] for key in keys if key[0] == "a"]
    etas = st.sampled_from([None, 0.0, 0.01, 0.4, 1.0])
    frame = pl.DataFrame(
        [(*part, draw(etas), draw(st.integers(1, 5))) for part in parts],
        schema={"c": pl.String, "x": pl.Float64, "eta": pl.Float64, "share": pl.Int64},
        orient="row",
    )
    return table.with_columns(w=pl.Series(draw(weights), dtype=pl.Float64)), frame


def key_of(row: dict[str, Any]) -> tuple[Any, str]:
    return row["c"], str(row["x"])


def expected_weights(
    table: pl.DataFrame, frame: pl.DataFrame, weight: str | None, by: bool
) -> list[Any]:
    """By the definition, in fractions: n s eta / P and n s (1 - eta) / N."""
    rows = table.to_dicts()
    wanted = {key_of(row): row for row in frame.to_dicts()}
    total = sum(Fraction(row["share"]) for row in wanted.values())
    found = []
    for row in rows:
        group = [other for other in rows if not by or other["g"] == row["g"]]
        part = [other for other in group if key_of(other) == key_of(row)]
        amount = {True: Fraction(0), False: Fraction(0)}
        for other in part:
            amount[other["label"]] += Fraction(other[weight]) if weight else 1
        eta = wanted[key_of(row)]["eta"]
        eta = amount[True] / sum(amount.values()) if eta is None else Fraction(eta)
        share = Fraction(wanted[key_of(row)]["share"]) / total
        own = Fraction(row[weight]) if weight else 1
        side = eta if row["label"] else 1 - eta
        found.append(float(own * len(group) * share * side / amount[row["label"]]))
    return found


@examples(60)
@given(fields(), st.sampled_from([None, "w"]), st.booleans())
def test_weights_against_their_definition(tables: Any, weight: str | None, by: bool) -> None:
    table, frame = tables
    how: dict[str, Any] = {"weight": weight, "name": "new", "by": "g" if by else None}
    found = table.prc.reweight(field(frame, parts=["c", "x"]), **how)
    assert_frame_equal(found.drop("new"), table)
    assert found["new"].to_list() == pytest.approx(expected_weights(table, frame, weight, by), rel=1e-13)
    sums = found.group_by("g" if by else pl.lit(0)).agg(pl.col("new").sum(), pl.len())
    assert sums["new"].to_list() == pytest.approx(sums["len"].to_list(), rel=1e-12)
    # Rows keep their order, so that `test_plans` cannot turn them.
    shuffled = (
        table.with_row_index().reverse().prc.reweight(field(frame.reverse(), parts=["c", "x"]), **how)
    )
    assert_frame_equal(shuffled.sort("index").drop("index"), found, check_exact=True)


DF = pl.DataFrame(
    {
        "country": ["de"] * 6 + ["fr"] * 6,
        "score": [9, 7, 6, 5, 3, 1, 8, 7, 4, 3, 2, 1],
        "label": [1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0],
        "w": [1.0] * 12,
    }
)
ETAS = pl.DataFrame({"country": ["de", "fr"], "eta": [0.1, 0.02], "share": [1, 4]})


def test_the_own_prevalence_is_then_that_of_the_field() -> None:
    weighted = DF.prc.reweight(field(ETAS, parts="country"))
    found = weighted.prc.operating_points(
        threshold=[7, 4], weight="weight", metrics=["precision"], columns="all"
    )
    assert found["eta"].to_list() == pytest.approx([0.2 * 0.1 + 0.8 * 0.02] * 2, rel=1e-14)
    # At 7 all of de's 2 of 3 positives and none of its 3 negatives; 1 of 2, and 1 of 4 in fr.
    tp = 0.2 * 0.1 * 2 / 3 + 0.8 * 0.02 * 1 / 2
    fp = 0.2 * 0.9 * 0 + 0.8 * 0.98 * 1 / 4
    [precision] = found.filter(pl.col("threshold") == 7)["precision"]
    assert precision == pytest.approx(tp / (tp + fp), rel=1e-13)


def test_parts_are_expressions_and_a_frame_may_hold_by() -> None:
    by_name = DF.prc.reweight(field(ETAS, parts="country"))
    by_expr = DF.rename({"country": "k"}).prc.reweight(field(ETAS, parts=pl.col("k").alias("country")))
    assert by_expr["weight"].equals(by_name["weight"])
    models = pl.concat([DF.with_columns(m=pl.lit(m)) for m in "ab"])
    etas = pl.concat([ETAS.with_columns(m=pl.lit("a")), ETAS.with_columns(m=pl.lit("b"), eta=0.5)])
    found = models.prc.reweight(field(etas, parts="country"), by="m")
    assert found.filter(m="a")["weight"].equals(by_name["weight"])
    assert found.filter(m="b")["weight"].equals(
        DF.prc.reweight(field(ETAS.with_columns(eta=0.5), parts="country"))["weight"]
    )


def test_a_share_of_0_and_an_estimate() -> None:
    alone = DF.prc.reweight(field(ETAS.with_columns(share=pl.Series([1.0, 0.0])), parts="country"))
    assert alone.filter(country="fr")["weight"].unique().to_list() == [0.0]
    assert alone["weight"].sum() == pytest.approx(12)
    estimates = DF.prc.estimate_prevalence(reference=DF, by="country")
    weighted = DF.prc.reweight(field(estimates.with_columns(share=1), parts="country"))
    assert weighted["weight"].is_not_null().all()


def part(**changed: Any) -> pl.DataFrame:
    """The frame with one more row."""
    return pl.concat([ETAS, pl.DataFrame({"country": "de", "eta": 0.1, "share": 1} | changed)])


ONE_CLASS = DF.filter((pl.col("country") == "fr") | (pl.col("label") == 1))
REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a part without eta": (
        DF,
        {"eta": ETAS.head(1)},
        "eta= has no share for 1 part.*country = fr",
    ),
    "a part without rows": (
        DF,
        {"eta": part(country="uk")},
        "a share to a part without rows, country = uk",
    ),
    "several eta": (DF, {"eta": part()}, "holds a part more than once, country = de"),
    "percent": (DF, {"eta": ETAS.with_columns(eta=pl.lit(10.0))}, r"an eta outside \[0, 1\]"),
    "null share": (
        DF,
        {"eta": ETAS.with_columns(share=pl.lit(None, pl.Float64))},
        "no number from 0 to 1e100",
    ),
    "negative share": (DF, {"eta": ETAS.with_columns(share=-1)}, "no number from 0 to 1e100, in 2 row"),
    "shares whose sum may overflow": (
        DF,
        {"eta": ETAS.with_columns(share=1e308)},
        "no number from 0 to 1e100, in 2 row",
    ),
    "no share at all": (DF, {"eta": ETAS.with_columns(share=0)}, "shares of the eta= frame are all 0"),
    "no share": (DF, {"eta": ETAS.drop("share")}, "add a column 'share' to the frame of field()"),
    "no eta": (DF, {"eta": ETAS.drop("eta")}, "add a column 'eta', or the columns 'k' and 'n'"),
    "an estimate": (
        DF,
        {"eta": ETAS.drop("eta").with_columns(k=1, n=10)},
        "a weight cannot carry the error of eta",
    ),
    "an interval": (
        DF,
        {"eta": ETAS.with_columns(eta_low=0.0)},
        "a weight cannot carry the error of eta",
    ),
    "a forgotten group": (
        DF,
        {"eta": ETAS.with_columns(score=1)},
        "pass by='score', or leave 'score' out",
    ),
    "another dtype": (
        DF,
        {"eta": ETAS.with_columns(country=1)},
        "'country' to one dtype: it is Int32 in the eta= frame",
    ),
    "no positives": (
        DF.filter((pl.col("country") == "fr") | (pl.col("label") == 0)),
        {},
        "no positives.*de",
    ),
    "no negatives": (ONE_CLASS, {}, "no negatives and an eta below 1, country = de"),
    "a taken name": (DF, {"name": "w"}, "choose another name=: 'w' is already a column"),
    "parts in by": (DF, {"by": "country"}, "by= and parts= both hold 'country'"),
    "no parts": (DF, {"parts": []}, "pass at least one column as parts=; got none"),
    "unknown parts": (DF, {"parts": "land"}, "parts= names the column 'land', which the frame"),
    "parts of the frame alone": (
        DF,
        {"parts": "land", "eta": ETAS.with_columns(land="country")},
        "there is no column 'land' for parts=",
    ),
    "null label": (
        DF.with_columns(label=pl.lit(None, pl.Int64)),
        {},
        "label column 'label' is null in 12",
    ),
    "negative weight": (DF.with_columns(v=-1), {"weight": "v"}, "weight column 'v' is negative"),
    "no frame": (DF, {"eta": 0.1}, r"field\(\) takes a frame with a row per part; got 0.1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    table, given, words = REFUSED[case]
    given = {"parts": "country", "eta": ETAS, **given}
    with pytest.raises(PrcError, match=words):
        table.prc.reweight(field(given.pop("eta"), given.pop("parts")), **given)


@pytest.mark.parametrize("eta", [0.1, ETAS])
def test_weights_are_those_of_a_field(eta: Any) -> None:
    with pytest.raises(PrcError, match=r"eta= takes field\(frame, parts=...\), the parts with their"):
        DF.prc.reweight(eta=eta)


def test_weights_are_by_a_field_or_by_a_plan() -> None:
    parts = field(pl.DataFrame({"country": ["de"], "eta": [0.1], "share": [1]}), "country")
    for words in ({}, {"eta": parts, "plan": DF}):
        with pytest.raises(PrcError, match=r"pass either eta=field\(frame, parts=...\) or plan="):
            DF.prc.reweight(**words)


def test_one_class_is_enough_at_its_end_or_at_its_own_prevalence() -> None:
    for eta in (1.0, None):
        frame = ETAS.with_columns(eta=pl.Series([eta, 0.02]))
        found = ONE_CLASS.prc.reweight(field(frame, parts="country"))["weight"]
        assert found.head(3).to_list() == pytest.approx([9 * 0.2 / 3] * 3)


def test_rows_without_a_score_leave_before_they_are_weighed() -> None:
    table = pl.DataFrame(
        {
            "c": ["de"] * 6 + ["fr"] * 6,
            "new": [3.0, 2, NAN, 1, 0, 2, 3, 1, 2, None, 0, 1],
            "old": [1.0, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, None],
            "label": [1, 1, 1, 0, 0, 0] * 2,
        }
    )
    frame = pl.DataFrame({"c": ["de", "fr"], "eta": [0.5, 0.1], "share": [1, 3]})
    complete = table.filter(pl.col("new").is_not_null() & pl.col("new").is_not_nan())
    weighted = table.prc.reweight(field(frame, parts="c"), score="new", missing="drop")
    assert_frame_equal(weighted, complete.prc.reweight(field(frame, parts="c")))
    asked = {"score": "new", "weight": "weight", "missing": "drop"}
    assert weighted.prc.summary(columns="all", **asked)["eta"].to_list() == pytest.approx([0.2] * 3)
    silent = table.prc.reweight(field(frame, parts="c")).prc.summary(columns="all", **asked)
    assert silent["eta"][0] != pytest.approx(0.2)  # which is why
    both = table.prc.reweight(field(frame, parts="c"), score=["new", "old"], missing="drop")
    assert_frame_equal(both, complete.drop_nulls().prc.reweight(field(frame, parts="c")))


def test_a_missing_score_raises_if_scores_are_named() -> None:
    table = pl.DataFrame({"c": ["de"] * 3, "p": [0.1, None, 0.3], "label": [1, 0, 0]})
    frame = pl.DataFrame({"c": ["de"], "eta": [0.5], "share": [1]})
    with pytest.raises(PrcError, match=r"score column 'p' is null in 1 row"):
        table.prc.reweight(field(frame, parts="c"), score="p")
    assert table.prc.reweight(field(frame, parts="c")).height == 3


def test_months_of_a_field_have_one_prevalence_apart_from_rounding() -> None:
    rng = np.random.default_rng(5)
    n = 3_000
    columns = {"month": rng.integers(1, 13, n), "c": rng.integers(0, 3, n), "label": rng.random(n) < 0.3}
    df = pl.DataFrame(columns | {"score": rng.normal(size=n) + columns["label"]})
    frame = pl.DataFrame({"c": [0, 1, 2], "eta": [0.003, 0.0007, 0.00013], "share": [0.21, 0.32, 0.47]})
    weighted = df.prc.reweight(field(frame, parts="c"), by="month")
    own = weighted.group_by("month").agg(
        (pl.col("weight") * pl.col("label")).sum() / pl.col("weight").sum()
    )
    assert own["weight"].n_unique() > 1  # just rounding
    asked: Any = {"model": "month", "paired": False, "weight": "weight", "threshold": 1.0}
    eta = float((frame["eta"] * frame["share"]).sum())
    counted, said = (
        weighted.prc.compare(columns="all", **asked),
        weighted.prc.compare(eta=eta, columns="all", **asked),
    )
    ends = ("low", "high", "significant")  # a prevalence that was counted has an error
    assert_frame_equal(counted.drop(ends), said.drop(ends), rel_tol=1e-9)
    areas = asked | {"threshold": None, "metrics": "roc_auc"}
    assert_frame_equal(
        weighted.prc.compare(columns="all", **areas),
        weighted.prc.compare(eta=eta, columns="all", **areas),
        rel_tol=1e-9,
    )
    ranks: Any = {"model": "month", "weight": "weight", "confidence": 0.95}
    counted, said = (
        weighted.prc.ranking(columns="all", **ranks),
        weighted.prc.ranking(eta, columns="all", **ranks),
    )
    values = ["eta", "model", "value", "rank", "behind"]
    assert_frame_equal(counted.select(values), said.select(values), rel_tol=1e-9)
    # A prevalence that was counted has an error, that of the weights.
    assert (counted["behind_high"] >= said["behind_high"] - 1e-9).all()
