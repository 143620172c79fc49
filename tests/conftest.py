"""Importing the package registers `.prc`, for every test; and a browser for those that look at pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import polars_prcurve  # noqa: F401


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A Chromium; tests that ask for it are skipped where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, and a Chromium")
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = next((path for path in found if path is not None), None)
    if path is None:
        pytest.skip("needs a Chromium on the path")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()
