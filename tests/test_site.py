"""The site of the docs: built strictly, whole in itself, every link leads somewhere, every page fits."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import polars as pl
import pytest

from tests.support.page_reader import NAMES_OF_PAGES

pytestmark = pytest.mark.extras

ROOT = Path(__file__).parent.parent
PAGES = re.findall(r"^ +- ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.M)


class Page(HTMLParser):
    """What a page loads, where its links lead, and what they may lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value or "")
            elif name == "href" and tag in ("a", "area"):
                self.links.append(value or "")
            elif name in ("src", "srcset", "data", "poster", "href", "xlink:href"):
                self.loads.append(value or "")


@pytest.fixture(scope="module")
def site(docs: Path) -> Path:
    shutil.copy(ROOT / "mkdocs.yml", docs.parent)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=docs.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return docs.parent / "site"


def test_every_page_is_in_the_navigation_once(docs: Path) -> None:
    assert sorted(PAGES) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))


def test_every_page_is_built(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert built == {page.replace(".md", ".html") for page in PAGES} | {"404.html"}
    assert not list(site.rglob("*.py"))


def test_language_models_find_every_page(site: Path) -> None:
    said = (site / "llms.txt").read_text(encoding="utf-8")
    assert re.findall(r"\]\(([^)]+)\)", said) == [page.replace(".md", ".html") for page in PAGES]
    assert not re.search(r"\]\([^)]+\)$", said, flags=re.M), "a page without a first sentence"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        for url in Page(path).loads:
            assert urlsplit(url).scheme in ("", "data"), f"{path.name} loads {url}"
            assert not url.startswith("//"), f"{path.name} loads {url}"
    for path in site.rglob("*.css"):
        urls = re.findall(r"(?:url\(|@import\s)\s*['\"]?([^'\")]*)", path.read_text(encoding="utf-8"))
        assert all(urlsplit(url).scheme in ("", "data") for url in urls), path.name


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert parts.scheme == "https", f"{path.name}: {link}"
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert to.exists(), f"{path.name}: {link}"
            if parts.fragment:
                assert unquote(parts.fragment) in pages[to].anchors, f"{path.name}: {link}"


def links(text: str) -> Iterator[str]:
    """Of a Markdown page, outside of code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    yield from re.findall(r"\]\(([^)\s]+)\)", text)


@pytest.mark.parametrize("page", PAGES)
def test_pages_that_are_linked_are_there(docs: Path, page: str) -> None:
    for link in links((docs / page).read_text(encoding="utf-8")):
        parts = urlsplit(link)
        if not parts.scheme and parts.path:
            assert (docs / page).parent.joinpath(parts.path).exists(), link


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"])
def test_files_that_are_linked_are_there(page: str) -> None:
    """In the repository, which does not hold the reference."""
    for link in links((ROOT / page).read_text(encoding="utf-8")):
        parts = urlsplit(link)
        if not parts.scheme and parts.path:
            assert ROOT.joinpath(parts.path).exists(), link
            assert not parts.path.startswith("docs/reference"), f"{link} is only in the built site"


@pytest.mark.parametrize("width", [1200, 390])
def test_pages_fit_and_ask_for_nothing(browser: Any, site: Path, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800})
    tab, asked, said = context.new_page(), [], []
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("pageerror", lambda error: said.append(str(error)))
    for page in PAGES:
        tab.goto((site / page.replace(".md", ".html")).as_uri())
        wide = tab.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{page} is {wide} wide"
        drawn = "[...document.querySelectorAll('article p > img[src$=\".png\"]:only-child')]"
        widths = tab.evaluate(f"{drawn}.map(image => image.getBoundingClientRect().width)")
        assert all(drawn >= 440 for drawn in widths), f"words of a picture of {page} are too small"
        if page == "index.md" and width == 1200:
            cut = "[...document.querySelectorAll('pre code')].filter(c => c.scrollWidth > c.clientWidth)"
            assert tab.evaluate(f"{cut}.map(code => code.textContent)") == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    context.close()


def test_a_page_has_a_switch_between_all_versions(browser: Any, site: Path, tmp_path: Path) -> None:
    lay_version = runpy.run_path(str(ROOT / "docs" / "lay_version.py"))["lay_version"]
    for version in ("0.9.0", "0.10.0", "0.2.1", "0.9.0"):  # in any order, and again
        lay_version(site, tmp_path, version)
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")
    with serve(tmp_path) as address:
        tab = browser.new_page()
        tab.goto(f"{address}/0.9.0/uncertainty.html")
        tab.wait_for_selector(".md-version__current")
        assert tab.inner_text(".md-version__current") == "0.9.0"
        assert tab.locator(".md-version__link").all_inner_texts() == ["0.10.0", "0.9.0", "0.2.1"]
        tab.hover(".md-version")
        tab.click("a.md-version__link >> nth=0", force=True)
        tab.wait_for_url(f"{address}/0.10.0/**")
        tab.close()


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Yield the address of a folder on this machine: a browser copies and searches only with one."""
    with ThreadingHTTPServer(("localhost", 0), partial(QuietHandler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with serve(site) as address:
        yield address


@pytest.mark.parametrize("width", [1280, 390])
def test_the_front_page_moves_without_a_network(browser: Any, site: Path, width: int) -> None:
    context = browser.new_context(offline=True, viewport={"width": width, "height": 900})
    tab, said = context.new_page(), []
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto((site / "index.html").as_uri())
    assert (
        tab.inner_text("#say")
        == "Precision is 31% (14\u00a0to\u00a057) at a prevalence of 1\u00a0in\u00a0250"
    )
    assert tab.locator("#icons circle").count() == 100
    tab.fill("#n", "1000")
    moved = tab.inner_text("#say")
    assert "at a prevalence of 1\u00a0in\u00a01,000" in moved
    other = context.new_page()
    other.goto(tab.url)
    assert other.inner_text("#say") == moved
    for wrong, reason in (
        ({"tp": "0", "fp": "0"}, "alert"),
        ({"tp": "0", "fn": "0"}, "positive"),
        ({"fp": "0", "tn": "0"}, "negative"),
        ({"tp": "1.5"}, "whole numbers"),
        ({"tn": ""}, "whole numbers"),
        ({"n": "0.5"}, "base rate"),
    ):
        for cell, value in wrong.items():
            tab.fill(f"#{cell}", value)
        assert reason in tab.inner_text("#wrong")
        assert tab.locator("#icons").is_hidden()
        for cell in wrong:
            tab.fill(f"#{cell}", "9")
        assert tab.inner_text("#wrong") == ""
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    context.close()


def test_the_front_page_computes_what_the_package_does(browser: Any, site: Path) -> None:
    tab = browser.new_page()
    tab.goto((site / "index.html").as_uri())
    for tp, fn, fp, tn in (
        (202, 10, 3, 354),
        (1, 0, 7, 1),
        (5, 5, 0, 90),
        (0, 9, 2, 50),
        (9, 0, 9, 0),
        (90, 2, 4, 900),
        (5, 3, 4, 900),
        (7, 1, 60, 10**6),
    ):
        table = pl.DataFrame({"score": [1, 0], "n_pos": [tp, fn], "n_neg": [fp, tn]})
        test = table.prc(counts=("n_pos", "n_neg"))
        for n in (2, 40, 12_345):
            cells = {"tp": tp, "fn": fn, "fp": fp, "tn": tn, "n": n}
            found = tab.evaluate("cells => evaluateTable(cells)", cells)
            row = test.operating_points(
                1 / n, threshold=1, per=1_000, confidence=0.95, columns="all"
            ).row(0, named=True)
            for mine, theirs in NAMES_OF_PAGES.items():
                assert found[mine] == pytest.approx(row[theirs], rel=1e-9, abs=1e-15), (cells, mine)
    tab.close()


def test_a_copy_of_code_is_what_one_types(browser: Any, address: str) -> None:
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(f"{address}/index.html")
    tab.locator(".highlight").first.hover()
    tab.locator(".highlight button").first.click()
    tab.wait_for_timeout(200)
    copied = tab.evaluate("navigator.clipboard.readText()").splitlines()
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert copied == [line[4:] for line in page.splitlines() if line.startswith((">>> ", "... "))]
    context.close()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("confidence interval", "uncertainty.html"),
        ("AUPRC confidence interval", "uncertainty.html"),
        ("decision curve", "decision"),
        ("base rate PPV", "questions.html"),
        ("MLflow", "coming-from.html"),
    ],
)
def test_a_search_finds_the_page(browser: Any, address: str, words: str, found: str) -> None:
    tab = browser.new_page()
    tab.goto(f"{address}/index.html")
    tab.keyboard.press("/")
    tab.wait_for_timeout(300)
    tab.keyboard.type(words)
    first = tab.locator("a[href*='?h=']").first  # the list of results comes when the index is read
    first.wait_for()
    tab.wait_for_timeout(300)
    assert found in first.get_attribute("href")
    tab.close()
