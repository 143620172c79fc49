"""Lint, types, examples, and the README and docs, whose tables are the real output."""

from __future__ import annotations

import ast
import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polars_prcurve import charts

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.extras
def test_lint() -> None:
    run("ruff", "check", ".")


@pytest.mark.extras
def test_format() -> None:
    run("ruff", "format", "--check", ".")


@pytest.mark.extras
def test_types_with_mypy() -> None:
    run("mypy")


@pytest.mark.extras
def test_types_with_pyright() -> None:
    run("pyright", "--pythonpath", sys.executable)


@pytest.mark.parametrize(
    "page",
    [PAGES[0], *(pytest.param(page, marks=pytest.mark.extras) for page in PAGES[1:])],
    ids=lambda page: page.name,
)
def test_pages_show_what_really_comes_out(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for the files that a page writes
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0
    assert result.attempted > 0 or ">>>" not in page.read_text(encoding="utf-8")


def test_a_page_is_a_question_that_its_first_screen_answers() -> None:
    """By a call, a table, a formula or pictures; a few answer in words."""
    for page in PAGES[1:]:
        if page.stem == "index":  # the front page
            continue
        title, *lines = page.read_text(encoding="utf-8").splitlines()
        assert title.startswith("# "), page.name
        assert "?" in title, f"{page.name}: the title is no question"
        answers = [line for line in lines[:24] if line.startswith(("```", "|", "    ", "<div"))]
        in_words = {"formulas", "coverage", "compatibility"}
        assert answers or page.stem in in_words, f"{page.name} has no answer in its first screen"


def test_the_readme_is_short() -> None:
    """With its code and its results."""
    assert len(PAGES[0].read_text(encoding="utf-8").split()) <= 1_000


def test_pages_hold_no_more_words_than_one_reads() -> None:
    """Tables do not count, since one looks a row up in them, nor does what is not shown."""
    words = {}
    for page in PAGES:
        text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.S)
        lines = [line for line in text.splitlines() if not line.startswith("|")]
        words[page.name] = sum(len(line.split()) for line in lines)
    assert len(words) <= 34, "let one page answer two questions"
    assert sum(words.values()) <= 30_750, "take something out for what is new"
    assert max(words.values()) <= 2_000, max(words, key=words.__getitem__)


def test_users_have_no_more_pages_than_they_read() -> None:
    """Written by hand, with the README; contributors and statisticians have pages of their own."""
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    for_users = navigation.partition("- For statisticians and contributors:")[0]
    assert for_users != navigation
    by_hand = [name for name in re.findall(r"- (\S+\.md)$", for_users, flags=re.M) if "/" not in name]
    assert len(by_hand) + 1 <= 30, "let one page answer two questions"


@pytest.mark.extras
def test_the_reference_shows_what_really_comes_out(docs: Path) -> None:
    pages = sorted((docs / "reference").rglob("*.md"))
    assert len(pages) > 20
    for page in pages:
        result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
        assert result.failed == 0
        assert result.attempted > 0, f"{page.name} has no example"


@pytest.mark.extras
def test_the_quickstart_writes_its_charts(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "quickstart.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "1 in 1,000" in done.stdout
    names = {f"{data}_{chart}" for data in ("breast_cancer", "digits") for chart in ("pr", "roc")}
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {f"{name}.{kind}" for name in names for kind in ("html", "png", "svg")}
    assert all(path.stat().st_size > 5_000 for path in tmp_path.iterdir())


def run_gallery(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / "gallery.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_pages_show_every_chart_in_small_images() -> None:
    """Each of these pages runs as a test; `examples/gallery.py` draws their images anew."""
    texts = [path.read_text(encoding="utf-8") for path in PAGES]
    shown = {name for text in texts for name in re.findall(r"\(images/(\w+)\.png\)", text)}
    assert set(charts.__all__) - {"Chart"} <= shown
    sizes = {name: (ROOT / "docs" / "images" / f"{name}.png").stat().st_size for name in shown}
    assert sizes.pop("report") < 150_000
    assert sizes.pop("published") < 130_000, "4 000 dots"
    assert {name: size for name, size in sizes.items() if size > 65_000} == {}
    small = {name for text in texts for name in re.findall(r"images/thumbs/(\w+)\.png", text)}
    thumbs = list((ROOT / "docs" / "images" / "thumbs").iterdir())
    assert {path.stem for path in thumbs} == small <= shown
    assert max(path.stat().st_size for path in thumbs) < 45_000


@pytest.mark.extras
def test_the_gallery_photographs_a_report(tmp_path: Path) -> None:
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("needs a Chromium on the path, for the screenshot of a report")
    done = run_gallery(str(tmp_path), "--only", "report")
    assert done.returncode == 0, done.stderr
    assert 20_000 < (tmp_path / "report.png").stat().st_size < 150_000


@pytest.mark.extras
def test_the_picture_of_the_readme_is_of_its_numbers(tmp_path: Path) -> None:
    claim = (ROOT / "README.md").read_text(encoding="utf-8")
    code = "import hero; print(hero.draw_hero(*hero.compute_points()).to_dict()['title']['text'])"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "examples"), str(ROOT)])}
    for source in (["-c", code], [str(ROOT / "examples" / "hero.py"), str(tmp_path / "hero.png")]):
        done = subprocess.run(
            [sys.executable, "-W", "error", *source],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        if source[0] == "-c":
            title = " ".join(ast.literal_eval(done.stdout)).replace("\u00a0", " ")
            assert f"![{title}](docs/images/hero.png)" in claim
    assert 20_000 < (tmp_path / "hero.png").stat().st_size < 80_000


@pytest.mark.extras
def test_the_gallery_draws_only_the_image_that_is_named(tmp_path: Path) -> None:
    done = run_gallery(str(tmp_path), "--only", "pr_band")
    assert done.returncode == 0, done.stderr
    names = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.png"))
    assert names == ["pr_band.png", "thumbs/pr_band.png"]
    refused = run_gallery(str(tmp_path), "--only", "pr_cruve")
    assert refused.returncode == 2
    assert "'pr_curve'" in refused.stderr
