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
from polars_prcurve.report import Table

assert polars_prcurve
pytestmark = pytest.mark.extras

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
    return DF.prc.report(path, [0.2, 0.01], model="model", recall=0.5, per=1_000)


@pytest.mark.parametrize("width", [1200, 390])
def test_a_report_offline(browser: Any, report: Path, width: int) -> None:
    context = browser.new_context(offline=True, viewport={"width": width, "height": 800})
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.wait_for_selector("input[type=range]")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    texts = "[...document.querySelectorAll('svg text')].map(text => text.textContent)"

    def shown(start: str) -> str:
        return next(text for text in page.evaluate(texts) if start in text)

    page.focus("input[type=range]")
    for _ in range(50):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{texts}.some(text => text.startsWith('Prevalence eta = 0.0316'))")
    box = page.locator("figure .live svg").last.bounding_box()
    page.mouse.move(box["x"] + min(box["width"], width) * 0.3, box["y"] + box["height"] * 0.5)
    page.wait_for_function(f"{texts}.some(text => text.includes('alerts per 1 000'))")
    read = shown("alerts per 1 000")
    threshold, precision = re.search(r"threshold ([-\d.]+),.*precision ([-\d.e]+)", read).groups()
    model = next(name for name in WIDE.columns[1:] if read.replace("\u2060", "").startswith(name))
    curve = DF.filter(model=model).prc.curve(10**-1.5, thresholds=[float(threshold)])
    assert float(precision) == pytest.approx(curve["precision"].item(), rel=2e-3)
    assert said == []
    assert [url for url in asked if not url.startswith(("data:", "file:"))] == []
    context.close()


def test_a_report_without_scripts(browser: Any, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    drawn = page.locator("figure img")
    assert drawn.count() == 4
    assert all(drawn.nth(i).bounding_box()["width"] > 200 for i in range(4))
    context.close()


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
