"""The verdict as users see it: a status, the models that it is about, and the sentences that say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polars_prcurve.core.judging.status_names import Status


@dataclass(frozen=True)
class Verdict:
    """What is settled: a status, the models that it is about, and the sentence that says it.

    Every report, page, card and terminal quotes the sentence, and claims no more than it does. So does
    a chart with `points=decision`.
    """

    status: Status
    """`"settled"`, `"not told apart"`, `"no better than chance"`, `"not met"` or `"too little data"`."""
    models: tuple[Any, ...]
    """If settled, the one to use; if not told apart, all that may be best; otherwise none. A table
    without models has none either."""
    sentence: str
    reasons: tuple[str, ...] = ()
    """What else is known: models that are left out, and what an interval or a test lacks."""
    would_settle: str = ""
    """What more data would tell, and how much of it."""

    def __str__(self) -> str:
        return self.sentence
