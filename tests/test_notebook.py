"""The notebook shows what comes out of it, in a fresh kernel."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.extras

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOK = EXAMPLES / "screening.ipynb"


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def texts(cell: dict[str, Any]) -> list[str]:
    """What a cell printed or showed as text, and for a chart that there is one."""
    found = []
    for output in cell.get("outputs", ()):
        assert output["output_type"] in ("stream", "execute_result", "display_data")
        data = output.get("data", {})
        text = "".join(output.get("text", data.get("text/plain", "")))
        found.append("a chart" if "image/png" in data else text)
    return found


def test_a_fresh_kernel_finds_what_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "screening.ipynb"
    command = [sys.executable, str(EXAMPLES / "rerun.py"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    anew, stored = cells(path), cells(NOTEBOOK)
    assert [cell["source"] for cell in anew] == [cell["source"] for cell in stored]
    for number, (found, expected) in enumerate(zip(anew, stored, strict=True)):
        assert texts(found) == texts(expected), f"cell {number}: run examples/rerun.py"


def test_the_story_says_what_its_tables_show() -> None:
    shown = "".join(text for cell in cells(NOTEBOOK) for text in texts(cell))
    numbers = {
        "357 benign": "357",
        "three are false alarms": "202 ┆ 3",
        "98.5%": "0.985",
        "precision is 31%": "0.3128",
        "Of 12 alarms": "12.18",
        "4 are right": "3.81",
        "8 of 100": "0.9198",
        "`logistic` 6": "0.9386",
        "14 are right, or 57": "0.1354",
        "36,000": "35731",
    }
    story = " ".join(
        "".join(cell["source"]) for cell in cells(NOTEBOOK) if cell["cell_type"] == "markdown"
    )
    story = re.sub(r"\s+", " ", story)
    for said, number in numbers.items():
        assert said in story
        assert number in shown


def test_it_is_small_and_has_charts() -> None:
    assert NOTEBOOK.stat().st_size < 400_000
    found = [text for cell in cells(NOTEBOOK) for text in texts(cell)]
    assert found.count("a chart") >= 4
