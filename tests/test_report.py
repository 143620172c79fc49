"""Reports: what is in them, that it is harmless, and that they come out the same each time."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError
from polars_prcurve.report.page import Figure, Table, build_page, write_text

pytestmark = pytest.mark.extras

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a:b",
    "x.y",
    "z[0]",
    "\"quoted\" & 'single'",
    "🦊",
    "שלום",
    "long " * 60,
    "a\x01b",
    "\x1b]0;title\x07",
    "nul\0",
    "\x7f\x85\x9b",
    "\ufffe\uffff",
]

UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def visible(name: str) -> str:
    """Return the name as a page shows it, written down apart from the package."""
    symbols = dict(zip("\0\x01\x07\x1b\x7f", "␀␁␇␛␡", strict=True))
    return UNSEEN.sub(lambda found: symbols.get(found[0], "�"), name)


def examples(models: list[str], n: int = 400) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    label = draw.random(n) < 0.3
    own = [draw.normal(size=n) + label * (0.5 + i % 3) for i in range(len(models))]
    return pl.concat(
        pl.DataFrame({"model": [name] * n, "label": label, "score": score.round(2)})
        for name, score in zip(models, own, strict=True)
    )


DF = examples(["a", "b"])


class Seen(HTMLParser):
    """Tags that are open, and what stands in them."""

    VOID = ("meta", "img", "br", "!doctype")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1], data))

    def within(self, tag: str) -> list[str]:
        return [text for at, text in self.texts if at == tag]


def reported(df: Any, path: Path, *args: Any, **options: Any) -> Seen:
    assert df.prc.report(path / "report.html", *args, **options) == path / "report.html"
    assert [file.name for file in path.iterdir()] == ["report.html"]
    return Seen((path / "report.html").read_text(encoding="utf-8"))


# Reports --------------------------------------------------------------------------------------


def test_findings_are_those_of_the_library(tmp_path: Path) -> None:
    seen = reported(DF, tmp_path, [0.3, 0.01], model="model", title="Two models", notes="Mine & theirs")
    assert seen.within("h1") == ["Two models"]
    assert "Mine & theirs" in seen.within("p")
    said = seen.within("li")
    n_pos, n_neg = DF.filter(model="a")["label"].sum(), (~DF.filter(model="a")["label"]).sum()
    assert said[0].startswith(f"The test (2 models): {n_pos} positives and {n_neg} negatives, a prev")
    ranks = DF.prc.ranking([0.3, 0.01], confidence=0.95)
    for eta, words in ((0.01, "Where 1 in 100 is positive, "), (0.3, "Where 1 in 3.3 is positive, ")):
        first, second = ranks.filter(eta=eta).iter_rows(named=True)
        line = next(line for line in said if line.startswith(words))
        assert f"“{first['model']}” is best by average precision, {first['value']:.3g}" in line
        assert f"next “{second['model']}”, {second['value']:.3g}" in line
        sure = "the lead is more than chance."
        sure = sure if first["resolved"] else "the lead may be chance (examples are not paired)."
        unknown = "there are too few examples to say whether the lead is chance."
        assert line.endswith(sure if first["reliable"] or first["resolved"] else unknown)
    trades = DF.prc.crossings(eta_range=(0.001, 0.5))
    assert sum("trade places" in line for line in said) == max(trades.height, 1)
    assert any(line.startswith("Too few examples") for line in said)


def test_leads_on_the_same_examples(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    label = draw.random(3000) < 0.1
    a = 2 * label + draw.normal(size=3000)
    wide = pl.DataFrame({"label": label, "a": a, "b": a + 0.3 * draw.normal(size=3000)})
    long = wide.prc.unpivot_scores(["a", "b"], row="row")
    for id, words in (
        (None, "may be chance (examples are not paired)."),
        ("row", "is more than chance."),
    ):
        said = reported(long, tmp_path, 0.1, model="model", id=id).within("li")
        assert any(line.endswith(f"the lead {words}") for line in said)


def test_models_that_are_equal_alone_or_without_a_value(tmp_path: Path) -> None:
    equal = pl.concat([DF.filter(model="a"), DF.filter(model="a").with_columns(model=pl.lit("c"))])
    said = reported(equal, tmp_path, 0.1, model="model").within("li")
    assert any("“a” and “c” have the same average precision" in line for line in said)
    alone = reported(DF.filter(model="a"), tmp_path, 0.1, model="model").within("li")
    assert any("“a” has an average precision of" in line for line in alone)
    assert not any("trade" in line or "best" in line for line in alone)
    lacking = DF.with_columns(label=pl.col("label") & (pl.col("model") == "a"))
    said = reported(lacking, tmp_path, 0.1, model="model").within("li")
    assert any(line.endswith("; “b” has no value.") for line in said)
    assert not any("trade" in line for line in said)
    nothing = reported(DF.clear(), tmp_path, 0.1, model="model").within("li")
    assert nothing == ["The table has no rows."]
    told = reported(DF, tmp_path, 0.1, model="model", confidence=None).within("li")
    assert not any("sure" in line or "chance" in line for line in told)


def test_groups_of_one_class_are_named(tmp_path: Path) -> None:
    markets = DF.with_columns(market=pl.when(pl.col("label")).then(pl.lit("de")).otherwise(pl.lit("fr")))
    both = pl.concat([markets, DF.with_columns(market=pl.lit("uk"))])
    for model in ("model", None):
        said = reported(both, tmp_path, 0.1, by="market", model=model).within("li")
        assert [line for line in said if "nothing can be said" in line] == [
            "“de”: no negatives, so that nothing can be said of precision.",
            "“fr”: no positives, so that nothing can be said of precision.",
        ]


def test_tables_and_charts(tmp_path: Path) -> None:
    seen = reported(DF, tmp_path, 0.01, model="model", recall=[0.5, 0.9], per=10_000)
    cells = seen.within("td")
    points = DF.prc.operating_points(0.01, by="model", recall=[0.5, 0.9], per=10_000)
    for name in ("precision", "alerts"):
        assert all(f"{value:.4g}" in cells for value in points[name])
    areas = DF.prc.summary(0.01, by="model", confidence=0.95)
    assert all(f"{value:.4g}" in cells for value in areas["low"].drop_nulls())
    images = [attrs for tag, attrs in seen.tags if tag == "img"]
    assert len(images) == 4
    for attrs in images:
        kind, _, data = str(attrs["src"]).partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert base64.b64decode(data).startswith(b"<svg")
        assert len(str(attrs["alt"])) > 40
    heads = [attrs for tag, attrs in seen.tags if tag == "th"]
    assert {attrs["scope"] for attrs in heads} == {"col"}
    assert len(seen.within("caption")) == 3


def test_without_models_each_group_has_its_value(tmp_path: Path) -> None:
    seen = reported(DF, tmp_path, 0.1, "model")
    value = DF.filter(model="b").prc.summary(0.1, metrics="average_precision")["value"].item()
    assert any(
        f"“b”: Where 1 in 10 is positive, average precision is {value:.3g}" in line
        for line in seen.within("li")
    )


@pytest.mark.parametrize("eta", [None, 0.1])
def test_other_inputs(eta: float | None, tmp_path: Path) -> None:
    weighted = DF.with_columns(w=2.0)
    for number, (df, how) in enumerate(
        (
            (DF.lazy(), {}),
            (DF.prc.counts(by="model"), {"counts": ("n_pos", "n_neg")}),
            (weighted, {"weight": "w"}),
            (
                DF.with_columns(kind=pl.when("label").then(pl.lit("x")).otherwise(pl.lit("y"))),
                {"label": "kind", "pos_label": "x"},
            ),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        seen = reported(df, folder, eta, model="model", **how)
        assert len(seen.within("li")) >= 3
    rates = DF.prc.sweep(by="model").select("model", tpr="recall", fpr="fpr")
    (tmp_path / "rates").mkdir()
    seen = reported(rates, tmp_path / "rates", 0.1, model="model", rates=("tpr", "fpr"))
    assert any("How sure this is cannot be told" in line for line in seen.within("li"))


@pytest.mark.parametrize("weight", [None, "w"])
def test_a_paired_report_is_of_complete_examples(weight: str | None, tmp_path: Path) -> None:
    """All its tables leave out an example that one model did not score, as its paired leads do."""
    rows = pl.int_range(pl.len()).over("model")
    pairs = DF.with_columns(
        label=pl.col("label").first().over(rows), row=rows // 3, part=rows % 3, w=1.0 + rows % 2
    )
    holes = pairs.with_columns(score=pl.when((rows % 50 != 7) | (pl.col("model") == "b")).then("score"))
    complete = pairs.filter(rows % 50 != 7)
    how: dict[str, Any] = {"model": "model", "id": ["row", "part"], "weight": weight}
    for name, df, missing in (
        ("a", holes, "drop"),
        ("b", complete, "raise"),
        ("c", holes.lazy(), "drop"),
    ):
        df.prc.report(tmp_path / f"{name}.html", [0.1, 0.01], missing=missing, **how)
    # The report of complete examples has no sentence on rows that were left out.
    first, other = ((tmp_path / f"{name}.html").read_bytes() for name in "ac")
    assert other == first
    assert b"Leads are of differences on the same examples" in first


def test_bytes_are_equal_whatever_the_order_of_rows(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.html" for number in range(3)]
    for file, df in zip(
        files, (DF, DF.sample(fraction=1, shuffle=True, seed=1), DF.lazy()), strict=True
    ):
        df.prc.report(file, [0.1, 0.01], model="model")
    first, *others = (file.read_bytes() for file in files)
    assert all(other == first for other in others)
    digest = hashlib.sha256(DF.prc.counts(by="model").write_csv().encode()).hexdigest()
    assert digest in first.decode()


def test_odd_tables(tmp_path: Path) -> None:
    one_class = DF.with_columns(label=pl.col("label") & (pl.col("model") == "a"))
    tied = DF.with_columns(score=0.5)
    for df in (one_class, tied, DF.head(1), DF.filter("label"), DF.clear()):
        for how in ({"model": "model"}, {"by": "model"}):
            reported(df, tmp_path, 0.1, **how)
    many = examples([f"m{number}" for number in range(30)], 60)
    seen = reported(many, tmp_path, 0.1, by="model")
    assert any("24 more values are in the tables." in line for line in seen.within("li"))


def test_hostile_names_are_only_text(tmp_path: Path) -> None:
    df = examples(HOSTILE, 80)
    for column in [*HOSTILE[::3], HOSTILE[-1]]:
        seen = reported(df.rename({"model": column}), tmp_path, 0.1, model=column, title=column)
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert seen.within("h1") == [visible(column)]
        for name in HOSTILE:
            assert visible(name) in seen.within("td")
        assert [attrs.get("type") for tag, attrs in seen.tags if tag == "script"].count(None) == 2
        assert not any("onerror" in attrs for _, attrs in seen.tags)
        for spec in seen.within("script"):
            if spec.startswith("{"):
                json.loads(spec)
        assert text.count("<script>alert") == 0
        assert not UNSEEN.search(text)


def test_text_that_is_no_unicode_is_shown(tmp_path: Path) -> None:
    """A command line gives bytes of another encoding as halves of surrogate pairs."""
    broken = "caf\udce9 \ud800"
    parts = [f"## {broken}\n{broken}\n- {broken}", Table(pl.DataFrame({"a": [1]}), broken)]
    for how in ({"eta": 0.1, "notes": broken, "model": "model"}, {"parts": parts}):
        seen = reported(DF, tmp_path, title=broken, **how)
        assert seen.within("h1") == ["caf� �"]
        assert "caf� �" in seen.within("p")


@pytest.mark.parametrize("how", [{"title": 3}, {"notes": 3}, {"title": b"x"}, {"notes": ["x"]}])
def test_a_title_that_is_no_text_is_refused_before_any_work(how: dict[str, Any], tmp_path: Path) -> None:
    [name] = how
    no_table = pl.DataFrame({"x": [1]})  # which would raise later
    with pytest.raises(PrcError, match=f"{name}= takes text; got"):
        no_table.prc.report(tmp_path / "r.html", 0.1, **how)
    if name == "title":
        with pytest.raises(PrcError, match="title= takes text; got"):
            no_table.prc.report(tmp_path / "r.html", parts=[object()], **how)


def test_rows_left_out_are_told(tmp_path: Path) -> None:
    row = pl.int_range(pl.len())
    gaps = DF.with_columns(score=pl.when(row % 100 == 7).then(None).otherwise("score"))
    seen = reported(gaps, tmp_path, 0.1, model="model", missing="drop")
    told = "8 of 800 rows are left out, because a value is missing in them."
    assert told in seen.within("li")
    seen = reported(DF, tmp_path, 0.1, model="model", missing="drop")
    assert not any("left out" in line for line in seen.within("li"))


def test_charts_of_ones_own_with_control_characters(tmp_path: Path) -> None:
    names = ["a\x01b", "\ufffe", "c"]
    data = alt.InlineData(values=[{"n\x02": name, "v": i} for i, name in enumerate(names)])
    chart = alt.Chart(data, title="\x1b[1m").mark_bar().encode(x=alt.X("v:Q"), y=alt.Y("n\x02:N"))
    reported(DF, tmp_path, parts=[Figure(chart, "\x07")])
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not UNSEEN.search(text)
    drawn = base64.b64decode(re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', text)[0]).decode()
    assert "a␁b" in drawn


# Pages ----------------------------------------------------------------------------------------


CHART = alt.Chart(alt.InlineData(values=[{"x": 1, "y": 2}])).mark_point().encode(x="x:Q", y="y:Q")


def test_parts_of_ones_own(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"a": [1, 20_000], "b": [0.123456, None], "c": ["<x>", None], "d": [[1, 2], []]}
    )
    seen = reported(DF, tmp_path, parts=["## Mine\nfirst\n\nsecond\n- one\n- two", table, CHART])
    assert seen.within("h2") == ["Mine"]
    assert seen.within("p") == ["first", "second"]
    assert seen.within("li") == ["one", "two"]
    assert seen.within("td") == ["1", "0.1235", "<x>", "1, 2", "20\u202f000", "–", "–"]


def test_scripts_are_listed_and_nothing_is_loaded() -> None:
    text = build_page("Title", [CHART, Figure(CHART, "With a caption")])
    seen = Seen(text)
    policy = next(a["content"] for _, a in seen.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert str(policy).startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in html.unescape(str(policy))
    assert seen.within("figcaption") == ["With a caption"]
    assert not [a for _, a in seen.tags if str(a.get("src", "data:"))[:5] != "data:" or "href" in a]


def test_a_page_without_charts_has_no_script() -> None:
    text = build_page("Title", ["Only text", Table(pl.DataFrame({"x": range(600)}), "Long.")])
    assert "<script" not in text
    assert "script-src &#x27;none&#x27;" in text
    assert "Long. The first 500 of 600 rows." in text


def test_large_charts_stay_drawings_unless_they_move() -> None:
    values = [{"x": i, "y": "letters" * 10} for i in range(4000)]
    large = alt.Chart(alt.InlineData(values=values)).mark_point().encode(x="x:Q")
    assert "application/json" not in build_page("Title", [large])
    slider = alt.param(bind=alt.binding_range(min=0, max=1), name="slider", value=0.5)
    assert "application/json" in build_page("Title", [large.add_params(slider)])


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")
    bad = DF.with_columns(score=pl.when(pl.int_range(pl.len()) == 5).then(None).otherwise("score"))
    with pytest.raises(PrcError, match="is null in 1 row"):
        bad.prc.report(path, 0.1, model="model")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "a lone surrogate: \ud800")
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"eta": 1.5}, r"must lie in \[0, 1\]"),
        ({"eta": None}, "its groups have 2; pass eta= as numbers"),
        ({"eta": 0.1, "model": "modl"}, "by= names the column 'modl'"),
        ({"eta": 0.1, "by": "model"}, "by= and model= both hold the column 'model'"),
        (
            {"eta": pl.DataFrame({"eta": [0.1]})},
            "the same prevalences for all groups; pass eta= as numb",
        ),
        ({"eta": 0.1, "id": "row", "rates": ("label", "score")}, "id= pairs the examples of models"),
        ({"eta": 0.1, "parts": ["x"]}, "parts= replaces the report's own content; leave out eta="),
        ({"eta": 0.1, "path": "."}, "is a folder; give the name of a file"),
        ({"parts": [3], "model": None}, "text, a DataFrame or an Altair chart; got int"),
        ({"eta": 0.1, "recall": 2}, r"recall= takes numbers in \[0, 1\]"),
        ({"eta": 0.1, "recall": 0.5, "per": 0}, "per= takes a number of events above 0"),
        ({"eta": 0.1, "per": 10}, "per= counts the alerts at a recall; pass recall="),
    ],
)
def test_arguments(how: dict[str, Any], words: str, tmp_path: Path) -> None:
    unlike = DF.filter((pl.col("model") == "a") | pl.col("label") | (pl.col("score") > 0))
    options = {"model": "model", **how}
    path = options.pop("path", "report.html")
    with pytest.raises(PrcError, match=words):
        unlike.prc.report(tmp_path / path, **options)
    with pytest.raises(PrcError, match="there is no folder"):
        DF.prc.report(tmp_path / "nowhere" / "report.html", 0.1)


def test_without_the_extra_a_report_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bad = DF.with_columns(score=float("nan"))
    with pytest.raises(PrcError, match=r'pip install "polars-prcurve\[report\]"'):  # before any work
        bad.prc.report(tmp_path / "report.html", 0.1, model="model")
    assert DF.prc.report(tmp_path / "own.html", parts=["words", DF.head(1)]).exists()
