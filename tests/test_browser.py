"""A report in a real browser, without a network: nothing is asked for, nothing complained of, and the
numbers under the pointer are those of the library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polars_prcurve
from polars_prcurve import charts
from polars_prcurve.number_words import say_share
from polars_prcurve.report import Table

assert polars_prcurve
pytestmark = pytest.mark.extras

TEXTS = "[...document.querySelectorAll('svg text')].map(text => text.textContent)"
DRAW = np.random.default_rng(7)
LABEL = DRAW.random(2_000) < 0.2
WIDE = pl.DataFrame(
    {
        "label": LABEL,
        "careful": np.where(LABEL & (DRAW.random(2_000) < 0.5), 4.5, 0) + DRAW.normal(size=2_000),
        "</script><script>alert(1)</script>": 2.2 * LABEL + DRAW.normal(size=2_000),
    }
)
DF = WIDE.prc.unpivot_scores(WIDE.columns[1:], name="model").with_columns(pl.col("score").round(2))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "report.html"
    return DF.prc.report(path, [0.01, 0.2], model="model", recall=0.5, per=1_000)


@pytest.mark.parametrize("width", [1200, 390])
def test_a_report_offline(browser: Any, report: Path, width: int) -> None:
    context = browser.new_context(offline=True, viewport={"width": width, "height": 800})
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.wait_for_selector("select")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.focus("select")
    for _ in range(5):
        page.keyboard.press("ArrowUp")
    page.locator("svg text", has_text="Where 1\u00a0in\u00a030 is positive").wait_for(state="attached")
    page.locator("figure .live svg").last.scroll_into_view_if_needed()
    panel = page.locator("figure .live svg").last.bounding_box()
    page.mouse.move(panel["x"] + panel["width"] * 0.4, panel["y"] + 200)
    page.wait_for_timeout(300)
    shown = [text.replace("\u00a0", " ") for text in page.evaluate(TEXTS)]
    recall = next(int(text.split()[1]) for text in shown if re.match(r"at \d+ % recall", text))
    assert 20 < recall < 50
    points = DF.prc.operating_points(1 / 30, recall=recall / 100, by="model")
    for precision in points["precision"]:
        assert say_share(precision).replace("\u00a0", " ") in shown
    assert said == []
    assert [url for url in asked if not url.startswith(("data:", "file:"))] == []
    context.close()


@pytest.mark.parametrize("width", [1200, 390])
def test_a_drawing_is_read_by_pointer_touch_and_keyboard(browser: Any, report: Path, width: int) -> None:
    context = browser.new_context(offline=True, has_touch=True, viewport={"width": width, "height": 800})
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(report.as_uri())
    drawing = page.locator("figure > svg:visible").first
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    place = box["x"] + 0.5 * box["width"], box["y"] + 0.4 * box["height"]
    page.touchscreen.tap(*place) if width == 390 else page.mouse.move(*place)
    check_reading(page.inner_text(".reading-box"))
    before = page.inner_text(".reading-box")
    seen = page.locator(".reading-box").bounding_box()
    assert seen["x"] >= 0
    assert seen["x"] + seen["width"] <= width
    drawing.focus()
    page.keyboard.press("ArrowRight")
    check_reading(page.inner_text(".reading-box"))
    assert page.inner_text(".reading-box") != before
    page.keyboard.press("Escape")
    assert not page.locator(".reading-box").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    context.close()


def check_reading(said: str) -> None:
    """Raise unless a box tells a recall, and of each model the precision that the library finds."""
    first, *lines = said.replace("\u00a0", " ").splitlines()
    recall = int(re.fullmatch(r"Recall: at least (\d+) %", first)[1])  # type: ignore[index]
    points = DF.prc.operating_points(0.01, by="model", recall=recall / 100, confidence=0.95)
    for line, row in zip(sorted(lines), points.sort("model").to_dicts(), strict=True):
        name, value = line.split(": ", 1)
        assert name.replace("\u2060", "") == row["model"]
        assert value.startswith(f"{float(format(100 * row['precision'], '.2g')):g} % (")
        assert value.endswith(f", threshold {row['threshold']:g}")


@pytest.mark.parametrize(("width", "kind"), [(1200, "wide"), (390, "small")])
def test_a_report_without_scripts(browser: Any, report: Path, width: int, kind: str) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": width, "height": 800})
    page = context.new_page()
    page.goto(report.as_uri())
    for name in ("wide", "small"):
        drawn = page.locator(f"figure svg.{name}")
        assert drawn.count() == 3
        assert all(drawn.nth(i).is_visible() == (name == kind) for i in range(3))
    assert page.locator("figure svg:visible").first.bounding_box()["width"] > min(width - 60, 600)
    assert not page.locator("#try").is_visible()  # a slider that nothing moves
    words = page.locator(f"svg.{kind} .reading title").all_text_contents()
    assert len(words) > 60
    check_reading(next(text for text in words if re.match("Recall: at least (4[5-9]|5)", text)))
    context.close()


def test_a_report_in_dark_mode_and_on_paper(browser: Any, report: Path) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 800}, color_scheme="dark")
    page = context.new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("select")
    ground = "getComputedStyle(document.body).backgroundColor"
    text = "getComputedStyle(document.querySelector('h1')).color"
    line = "getComputedStyle(document.querySelector('svg.wide path[stroke=\"#0072B2\" i]')).stroke"
    assert page.evaluate(ground) == "rgb(21, 24, 29)"
    assert page.evaluate(text) == "rgb(240, 242, 244)"
    assert page.evaluate(line) == "rgb(79, 168, 234)"
    page.emulate_media(media="print")
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    assert page.evaluate(line) == "rgb(0, 114, 178)"
    assert page.locator("details:not(.raw) p").first.is_visible()  # methods are unfolded
    for unseen in ("#try", "nav", "details.raw", "svg.small"):
        assert not page.locator(unseen).first.is_visible()
    context.close()


def test_parts_of_ones_own_on_paper(browser: Any, tmp_path: Path) -> None:
    points = DF.prc.operating_points(0.01, by="model", recall=[0.5, 0.8], per=1_000_000, confidence=0.95)
    parts = [Table(points, "All columns"), Table(points[["model", "recall", "alerts"]]), chart_of_two()]
    path = DF.prc.report(tmp_path / "own.html", parts=parts)
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_selector("figure.on svg")
    fits = "[...document.querySelectorAll('.wide')].map(box => box.scrollWidth <= box.clientWidth)"
    assert page.evaluate(fits) == [False, True]
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 800})  # of A4 within its margins
    assert page.evaluate(fits) == [True, True]
    last = page.locator("td[data-name=missed]").first
    assert last.is_visible()
    assert last.bounding_box()["x"] < 640
    seen = [page.locator(f"figure {kind}").first.is_visible() for kind in ("img", ".live")]
    assert seen == [True, False]  # and not the chart twice
    page.close()


@pytest.mark.parametrize("media", ["screen", "print"])
def test_no_column_of_a_report_is_cut_off(browser: Any, report: Path, media: str) -> None:
    page = browser.new_page(viewport={"width": 1280 if media == "screen" else 680, "height": 800})
    page.emulate_media(media=media)
    page.goto(report.as_uri())
    tables = "[...document.querySelectorAll('.wide:not(:has(.raw))')]"
    widths = page.evaluate(f"{tables}.map(box => [box.scrollWidth, box.clientWidth])")
    assert widths
    assert all(content <= box for content, box in widths)
    page.close()


def test_a_long_word_does_not_make_a_page_scroll_sideways(browser: Any, tmp_path: Path) -> None:
    word = "Long" * 100
    table = Table(pl.DataFrame({word: [word], f"{word}1": [1.5]}), word)
    texts = [f"## {word}\n### {word}\n{word}\n- {word}", table]
    path = DF.prc.report(tmp_path / "words.html", parts=texts, title=word)
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def chart_of_two() -> Any:
    frame = DF.with_columns(pl.col("model").replace(WIDE.columns[2], "broad"))
    return charts.pr_curve(frame.prc.curve(0.1, by="model"))


def open_chart(browser: Any, path: Path, chart: Any, width: int = 900) -> Any:
    chart.save(path, inline=True, embed_options={"renderer": "svg"})
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_selector("svg.marks")
    return page


@pytest.mark.parametrize("width", [900, 390])
def test_the_slider_of_a_live_chart(browser: Any, tmp_path: Path, width: int) -> None:
    chart = charts.live(DF.prc.sweep(by="model"), eta=0.0437, width="container")
    page = open_chart(browser, tmp_path / "live.html", chart, width)
    choice = "document.querySelector('select').selectedOptions[0].text"
    assert page.evaluate(choice) == "1\u00a0in\u00a023"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "Where 1\u00a0in\u00a023 is positive" in page.evaluate(TEXTS)
    ticks = page.locator("svg text", has_text=re.compile("^1\u00a0in\u00a0100$")).first.bounding_box()
    page.mouse.move(ticks["x"] + ticks["width"] / 2, ticks["y"] - 12)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_timeout(300)
    assert page.evaluate(choice) == "1\u00a0in\u00a0100"
    assert "Where 1\u00a0in\u00a0100 is positive" in page.evaluate(TEXTS)
    page.close()


@pytest.mark.parametrize("renderer", ["svg", "canvas"])
def test_a_click_on_a_name_brings_out_its_line(browser: Any, tmp_path: Path, renderer: str) -> None:
    chart = chart_of_two()
    page = open_chart(browser, tmp_path / "svg.html", chart)
    name = page.locator("svg.marks text", has_text=re.compile("^broad$")).last.bounding_box()
    if renderer == "canvas":
        page.close()
        chart.save(tmp_path / "canvas.html", inline=True, embed_options={"renderer": "canvas"})
        page = browser.new_page(viewport={"width": 900, "height": 900})
        page.goto((tmp_path / "canvas.html").as_uri())
        page.wait_for_selector("canvas")
    before = page.screenshot()
    page.mouse.click(name["x"] + name["width"] / 2, name["y"] + name["height"] / 2)
    page.mouse.move(5, 5)
    page.wait_for_timeout(300)
    chosen = page.screenshot()
    assert chosen != before
    if renderer == "svg":
        strokes = "[...document.querySelectorAll('svg.marks path[stroke=\"#D55E00\"]')]"
        faint = page.evaluate(f"{strokes}.map(line => line.getAttribute('opacity'))")
        assert "0.12" in faint
    page.mouse.click(name["x"] + name["width"] / 2, name["y"] + name["height"] / 2)
    page.mouse.move(5, 5)
    page.wait_for_timeout(300)
    assert page.screenshot() == before
    page.close()


def test_the_pointer_reads_all_lines(browser: Any, tmp_path: Path) -> None:
    chart = chart_of_two()
    page = open_chart(browser, tmp_path / "pr.html", chart)
    box = page.locator("svg.marks").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"])
    page.mouse.move(box["x"] + 0.52 * box["width"], box["y"] + 0.6 * box["height"])
    page.wait_for_selector("#vg-tooltip-element.visible")
    said = page.inner_text("#vg-tooltip-element")
    assert {"Recall", "broad", "careful"} <= set(said.replace(":", " ").split())
    page.close()


def test_tables_for_people_fit_a_phone_and_long_names_a_page(browser: Any, tmp_path: Path) -> None:
    long = DF.with_columns(
        model=pl.when(model="careful")
        .then(pl.lit("gradient-boosted trees with all values of the laboratory"))
        .otherwise(pl.lit("rules"))
    )
    path = long.prc.report(tmp_path / "long.html", [0.2, 0.01], model="model", recall=0.9, per=1_000_000)
    overflow = "[...document.querySelectorAll('div.wide')].filter(box => box.offsetParent"
    overflow += " && !box.querySelector('.raw') && box.scrollWidth > box.clientWidth).length"
    for width in (1280, 390):
        context = browser.new_context(viewport={"width": width, "height": 800})
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.evaluate(overflow) == 0
        heads = page.locator("table.cards thead")
        assert heads.count() >= 1
        assert all(heads.nth(i).is_visible() == (width > 390) for i in range(heads.count()))
        name = "getComputedStyle(document.querySelector('.cards td'), '::before').content"
        assert ("Model" in page.evaluate(name)) == (width == 390)
        cells = page.locator("table.cards tbody tr").first.locator("[role]")
        assert cells.count() > 3, "lines of a card stay cells of a row"
        context.close()
