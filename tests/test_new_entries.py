"""A new target, metric or kind of sample is passed over by no method, document or command.

The walks are in `tests/support/new_entries.py`, which declares new entries as a contributor would, and
compares all answers about them with those about entries of the package that ask the same.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from polars_prcurve.core.metrics import point_formulas as point
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS
from tests.support.new_entries import TARGETS, WALKS


@cache
def find_faults(*n_calls: str) -> dict[str, list[str]]:
    """Return what the walks found, in a process of their own, so that nothing new is left here."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.new_entries", *n_calls],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize(
    "n_calls", [["14"], pytest.param([], marks=pytest.mark.slow)], ids=["14", "all"]
)
def test_no_room_passes_over_what_is_new(walk: str, n_calls: list[str]) -> None:
    faults = find_faults(*n_calls)[walk]
    assert not faults, "\n".join(faults)


def test_new_entries_are_in_no_file() -> None:
    assert "tanimoto" not in vars(point)
    assert not {*TARGETS} & {*TARGET_KINDS}, (
        "the package has a target that is new in the walk: take another one in EDITS and TARGETS of "
        "tests/support/new_entries.py"
    )


def test_some_kinds_of_targets_are_of_words_that_are_there() -> None:
    """What a new target cannot be by its declaration alone."""
    kinds = TARGET_KINDS.values()
    assert [kind.word for kind in kinds if kind.value_kind == "number"] == ["alerts"], (
        "a number among per= is read by read_targets in curves/target_arguments.py, for alerts alone"
    )
    assert {kind.metric for kind in kinds if kind.promise_test == "rate"} == {point.recall, point.fpr}, (
        "_promise_rate in core/curves/guarantees.py takes the limit of recall, or of fpr"
    )
    assert {k.metric for k in kinds if k.promise_test == "alerts"} == {point.predicted_positive_rate}, (
        "_promise_rate in core/curves/guarantees.py takes the limit of the share of alerts"
    )
