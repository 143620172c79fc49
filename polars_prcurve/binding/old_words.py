"""The words that methods took before tables were bound, said in the new ones.

Callers move to the new words one by one. This module goes with the last of them.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from polars_prcurve.confidence.certainty import Intervals, intervals
from polars_prcurve.errors import PrcError
from polars_prcurve.prevalence.field_values import Field, field

_OF_INTERVALS = ("interval", "band", "method", "n_resamples", "seed")
_OLD = {*_OF_INTERVALS, "within", "scores", "drop_intermediate"}
_LEVELS = {"compare": 0.95, "difference": 0.95, "sample_size": 0.95, "resolution": 0.95}
"""The level of intervals where a method has one without being asked."""


def translate_old_words(
    called: str, names: frozenset[str], args: tuple[Any, ...], words: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call in the new words; `names` are those that the method has."""
    method = called.rpartition(".")[2]
    words = dict(words)
    if method == "reweight" and len(args) > 1 and not isinstance(args[1], Field):
        words |= dict(zip(("within", "eta"), args[1:], strict=False))
        args = args[:1]
    if method == "compare" and len(args) > 1 and _is_names(args[1]):
        words |= dict(zip(("scores", "eta"), args[1:], strict=False))
        args = args[:1]
    if method == "estimate_prevalence":
        words.pop("method", None)
    if not (_OLD - names) & words.keys():
        return args, words
    if len(args) > 1 and "eta" in names and "eta" not in words and method not in _LEVELS:
        words["eta"], args = args[1], (args[0], *args[2:])
    if (scores := words.pop("scores", None)) is not None:
        words["score"] = scores
    if words.pop("drop_intermediate", False):
        if words.get("thresholds") is not None:
            raise PrcError('thresholds= chooses rows once: a number, a list or "corners"')
        words["thresholds"] = "corners"
    if (parts := words.pop("within", None)) is not None:
        frame, share = words.get("eta"), words.pop("share", "share")
        if isinstance(frame, pl.DataFrame | pl.LazyFrame) and share != "share":
            frame = frame.rename({share: "share"})
        words["eta"] = field(frame, parts)  # type: ignore[arg-type]
    told = {name: words.pop(name) for name in _OF_INTERVALS if name in words and name not in names}
    level = words.get("confidence", _LEVELS.get(method))
    if told and level is not None:
        words["confidence"] = _translate_intervals(method, level, told)
    elif told.get("method") == "bootstrap":
        raise PrcError('method="bootstrap" is for intervals; pass confidence= with it')
    return args, words


def _is_names(value: object) -> bool:
    """Return whether an argument lists names of columns, not prevalences."""
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(name, str) and name.isidentifier() for name in value)


def _translate_intervals(method: str, level: Any, told: dict[str, Any]) -> Intervals:
    """Return `intervals(...)` for a level and the words that stood beside it."""
    if isinstance(level, Intervals):
        return level
    band, kind = told.get("band", "mover"), told.get("method", "analytic")
    rate = told.get("interval", "wilson")
    if method in ("sample_size", "resolution"):
        rate, kind = told.get("method", "wilson"), "analytic"
    drawn = {"resamples": told.get("n_resamples", 1000), "seed": told.get("seed")}
    intervals(level, method="bootstrap", **drawn)  # raises for a number that is none
    return intervals(
        level,
        method="rectangle" if band == "rectangle" else kind,
        rate=rate,
        simultaneous=band == "simultaneous",
        **(drawn if kind == "bootstrap" else {}),
    )
