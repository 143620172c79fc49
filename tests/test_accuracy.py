"""The errors that docs/accuracy.md states: none of the reference cases is worse, nor much better."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests import test_reference as reference

pytestmark = pytest.mark.extras

PAGE = (Path(__file__).parent.parent / "docs" / "accuracy.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<what>[^|`]+) \| (?P<families>`[^|]+`) \| (?P<error>[\d.e-]+) \|$", re.M)
ROWS = {
    row["what"]: (re.findall(r"`(\w+)`", row["families"]), float(row["error"]))
    for row in ROW.finditer(PAGE)
}
ABSOLUTE = "absolute"


def greatest_error(families: list[str], *, absolute: bool, patch: pytest.MonkeyPatch) -> float:
    errors = []

    def measure(case: reference.Case, found: Iterable[float | None], expected: Iterable[Any]) -> None:
        for actual, value in zip(found, expected, strict=True):
            worth = reference.number(value)
            if actual is not None and worth is not None and math.isfinite(worth):
                errors.append(abs(actual - worth) / (abs(worth) if worth and not absolute else 1.0))

    patch.setattr(reference, "assert_close", measure)
    cases = [case for case in reference.CASES if case["function"] in families]
    assert {case["function"] for case in cases} == set(families)
    for case in cases:
        reference.CHECKS[case["function"]](case)
    assert errors
    return max(errors)


@pytest.mark.parametrize("what", ROWS)
def test_the_greatest_error_is_the_one_stated(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    families, stated = ROWS[what]
    found = greatest_error(families, absolute=ABSOLUTE in what, patch=monkeypatch)
    assert stated / 4 <= found <= stated or found == stated == 0


def test_every_row_is_read() -> None:
    table = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert len(ROWS) == len(table) - 2
    assert f"{len(reference.CASES)} cases" in PAGE
