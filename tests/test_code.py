"""Lint, types, and the README and docs, whose code runs and whose tables are the real output."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_lint() -> None:
    run("ruff", "check", ".")


def test_format() -> None:
    run("ruff", "format", "--check", ".")


def test_types_with_mypy() -> None:
    run("mypy")


def test_types_with_pyright() -> None:
    run("pyright", "--pythonpath", sys.executable)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_show_what_really_comes_out(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0
    assert result.attempted > 0 or ">>>" not in page.read_text(encoding="utf-8")
