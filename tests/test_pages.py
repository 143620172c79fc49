"""Pages of parts of one's own: what is in them, that it is harmless, and that nothing is loaded."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import sys
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
import pytest

from polars_prcurve import PrcError
from polars_prcurve.report import Figure, Table
from polars_prcurve.view.report.custom_page import build_page
from polars_prcurve.view.report.html_and_svg import write_text
from tests.support.model_tests import EQUAL
from tests.support.page_reader import HOSTILE, UNSEEN, PageReader, show

pytestmark = pytest.mark.extras

CHART = alt.Chart(alt.InlineData(values=[{"x": 1, "y": 2}])).mark_point().encode(x="x:Q", y="y:Q")


def write(folder: Path, *parts: Any, title: str | None = None) -> PageReader:
    path = EQUAL.prc.report(folder / "own.html", parts=parts, title=title)
    assert [file.name for file in folder.iterdir()] == ["own.html"]
    return PageReader(path.read_text(encoding="utf-8"))


def test_texts_tables_and_charts(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"a": [1, 20_000], "b": [0.123456, None], "c": ["<x>", None], "d": [[1, 2], []]}
    )
    seen = write(tmp_path, "## Mine\nfirst\n\nsecond\n- one\n- two", table, CHART)
    assert seen.within("h1") == ["What to expect"]
    assert seen.within("h2") == ["Mine"]
    assert seen.within("p") == ["first", "second"]
    assert seen.within("li") == ["one", "two"]
    assert seen.within("td") == ["0.1235", "<x>", "1, 2", "–", "–"]
    assert seen.within("th") == ["a", "b", "c", "d"]
    assert seen.within("bdi") == ["1", "20,000"], "names of rows"


def test_clips_of_a_drawing_are_numbered_anew() -> None:
    clipped = alt.Chart(alt.InlineData(values=[{"x": 1}])).mark_rule(clip=True).encode(x="x:Q")
    pages = [build_page("Title", [clipped]) for _ in range(2)]
    assert pages[0] == pages[1]


def test_numbers_have_no_exponents() -> None:
    values = [1e-5, 1.2876e4, 93_664.7, 0.00000001234, 2.5, 123.456, -0.25, 1e-12, 0.0]
    seen = PageReader(build_page("Title", [pl.DataFrame({"x": values})]))
    wanted = ["0.00001", "12,876", "93,665", "0.00000001234", "2.5", "123.5", "\u22120.25", "1e-12", "0"]
    assert [text.replace("\u00a0", " ") for text in seen.within("bdi")] == wanted


def test_scripts_are_listed_and_nothing_is_loaded() -> None:
    text = build_page("Title", [CHART, Figure(CHART, "With a caption")])
    seen = PageReader(text)
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
    values = [{"x": i, "y": "letters" * 10} for i in range(14_000)]
    large = alt.Chart(alt.InlineData(values=values)).mark_point().encode(x="x:Q")
    assert "application/json" not in build_page("Title", [large])
    slider = alt.param(bind=alt.binding_range(min=0, max=1), name="slider", value=0.5)
    assert "application/json" in build_page("Title", [large.add_params(slider)])


def test_hostile_words_are_only_text(tmp_path: Path) -> None:
    data = alt.InlineData(values=[{"n\x02": name, "v": i} for i, name in enumerate(HOSTILE)])
    chart = alt.Chart(data, title=HOSTILE[0]).mark_bar().encode(x=alt.X("v:Q"), y=alt.Y("n\x02:N"))
    for word in HOSTILE:
        parts = [f"## {word}\n{word}\n- {word}", Table(pl.DataFrame({word: [word]}), word)]
        seen = write(tmp_path, *parts, Figure(chart, word), title=word)
        text = (tmp_path / "own.html").read_text(encoding="utf-8")
        assert seen.within("h1") == [show(word)]
        assert seen.within("th") == seen.within("bdi") == [show(word)]
        types = [attrs.get("type") for tag, attrs in seen.tags if tag == "script"]
        assert types.count(None) == 2  # Vega, and the start of live charts
        assert not any("onerror" in attrs for _, attrs in seen.tags)
        for spec in seen.within("script"):
            if spec.startswith("{"):
                json.loads(spec)
        assert "<script>alert" not in text
        assert not UNSEEN.search(text)
        drawn = base64.b64decode(re.findall(r'src="data:image/svg\+xml;base64,(.*?)"', text)[0])
        assert "a␁b" in drawn.decode()


def test_text_that_is_no_unicode_is_shown(tmp_path: Path) -> None:
    """A command line gives bytes of another encoding as halves of surrogate pairs."""
    broken = "caf\udce9 \ud800"
    parts = f"## {broken}\n{broken}\n- {broken}", Table(pl.DataFrame({"a": [1]}), broken)
    seen = write(tmp_path, *parts, title=broken)
    assert seen.within("h1") == ["caf� �"]
    assert "caf� �" in seen.within("p")


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "own.html"
    path.write_text("before")
    with pytest.raises(
        PrcError, match="text, a DataFrame or an Altair chart as each of parts=; got int"
    ):
        EQUAL.prc.report(path, parts=["x", 3])
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "a lone surrogate: \ud800")
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["own.html"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"parts": ["x"], "eta": 0.1}, "leave out eta=: parts= replaces the report's own content"),
        ({"parts": ["x"], "recall": 0.1}, "leave out recall=: parts= replaces the report's own content"),
        ({"parts": ["x"], "notes": "y"}, "leave out notes=: parts= replaces the report's own content"),
        ({"parts": "words"}, "parts= takes a list of texts, DataFrames and charts"),
        ({"parts": [object()], "title": 3}, "title= takes text; got"),
        ({"parts": ["x"], "path": "."}, "pass the name of a file: "),
        ({"parts": ["x"], "path": "nowhere/own.html"}, "create the folder"),
    ],
)
def test_arguments(how: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tmp_path / how.pop("path", "own.html")
    with pytest.raises(PrcError, match=re.escape(words)):
        EQUAL.prc.report(path, **how)


def test_charts_need_the_extra_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(PrcError, match='pip install "vl-convert-python>='):
        EQUAL.prc.report(tmp_path / "own.html", parts=[CHART])
    assert write(tmp_path, "words", EQUAL.head(1)).within("p") == ["words"]
