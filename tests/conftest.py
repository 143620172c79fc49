"""What all tests share: `.prc`, the profiles of Hypothesis, a copy of the docs, and a browser."""

from __future__ import annotations

import gc
import os
import runpy
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

if "PYTEST_XDIST_WORKER" in os.environ:  # a core each, so that more threads would only wait
    os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars as pl
import pytest
from altair.utils import schemapi
from hypothesis import settings

import polars_prcurve  # noqa: F401
import tests.support.profiles  # noqa: F401
from tests.support.tiers import spread

settings.load_profile("quick")  # --hypothesis-profile replaces it before tests are imported


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", type=int, metavar="N", help="run at most N cases of each test function, spread evenly"
    )


@pytest.hookimpl(wrapper=True)  # around the choice of tests by -m and -k
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Mark cases beyond the `quick_cases` of a function as slow, and put the registries first.

    These report a metric without an oracle in words, within a second. With --cases=N keep N cases of
    each function: the first, the last, and others at equal distances.
    """
    for cases in list_cases([item for item in items if item.get_closest_marker("slow") is None]):
        mark = cases[0].get_closest_marker("quick_cases")
        if mark is not None:
            quick = {id(case) for case in spread(cases, *mark.args)}
            for case in cases:
                if id(case) not in quick:
                    case.add_marker("slow")
    yield
    items.sort(key=lambda item: item.path.stem != "test_registries")
    n_cases = config.getoption("--cases")
    if n_cases is None:
        return
    kept = {id(case) for cases in list_cases(items) for case in spread(cases, n_cases)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def list_cases(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """Return the tests of each function, in their order."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return list(cases.values())


def pytest_collection_finish() -> None:
    """Keep modules and thousands of tests, which all stay, out of every search for garbage."""
    gc.freeze()


@pytest.fixture(autouse=True)
def polars_display() -> Iterator[None]:
    """Restore how Polars prints tables, which blocks of pages set, and which processes inherit."""
    with pl.Config():
        yield


@pytest.fixture(scope="session")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of docs/ with the pages of the reference, which the repository does not hold."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    source = Path(__file__).parent.parent / "docs"
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("reference"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["make_reference.py"])
        # In this process, so that a checkout or an unpacked archive describes its own package.
        runpy.run_path(str(folder / "make_reference.py"), run_name="__main__")
        patch.setattr(sys, "argv", ["make_llms.py", str(folder)])
        runpy.run_path(str(source / "make_llms.py"), run_name="__main__")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Yield a running Chromium; skip the tests that use it if there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright, and a Chromium")
    paths = map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
    path = next((path for path in paths if path is not None), None)
    if path is None:
        pytest.skip("needs a Chromium on the path")
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="session", autouse=True)
def without_schema() -> Iterator[Any]:
    """Skip Altair's checks against the schema of Vega-Lite, which take half the time of a chart.

    A test that asks for `with_schema` has them. Yield the function that checks.
    """
    check = schemapi.validate_jsonschema
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schemapi, "validate_jsonschema", lambda *_given, **_more: None)
        yield check


@pytest.fixture
def with_schema(without_schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for the checks that `without_schema` skips."""
    monkeypatch.setattr(schemapi, "validate_jsonschema", without_schema)
