"""The verdict as users see it: a status, the models that it names, and the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from polars_prcurve.core.ground.name_hints import HintingAttributes
from polars_prcurve.core.judging.status_names import Status


@dataclass(frozen=True)
class Verdict(HintingAttributes):
    """What is decided: a status, the models that it names, and the sentence for it.

    Every report, page, model card and terminal quotes the sentence, and claims no more than it does. So
    does a chart with `points=decision`.
    """

    _wrong_attribute: ClassVar = "a verdict has no attribute"
    _name_by_synonym: ClassVar = {
        **dict.fromkeys(("winner", "winners", "best", "model", "leader"), "models"),
        **dict.fromkeys(("text", "summary", "title"), "sentence"),
        **dict.fromkeys(("result", "outcome", "name"), "status"),
        **dict.fromkeys(("doubt", "doubts", "reason", "why"), "reasons"),
        **dict.fromkeys(("passed", "ok", "success"), "met"),
    }

    status: Status
    """The first that holds of `"too_little_data"`, `"chance"`, `"not_met"`, `"unsure"`, `"no_winner"`,
    `"winner"`, `"met"` and `"measured"`."""
    models: tuple[Any, ...]
    """The models that the status is about: the best one, or all that may be best; without a comparison
    the only one; otherwise none. A table without models has none either."""
    sentence: str
    met: bool | None = None
    """Whether the named models meet the requirements; None without requirements, or if the data are not
    enough. Requirements are targets beside `threshold=`, or with `guarantee=`."""
    reasons: tuple[str, ...] = ()
    """What else the data show: models that are left out, and what weakens an interval or a test."""
    would_settle: str = ""
    """What more data would show, and how much it takes."""
    conditions: str = ""
    """What the verdict rests on: the prevalence, the threshold, and what must be as in the test set."""

    def __str__(self) -> str:
        return self.sentence
