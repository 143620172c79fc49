"""The site of the docs: built strictly, whole in itself, every link leads somewhere, every page fits."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

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


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
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
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert said == []
    context.close()
