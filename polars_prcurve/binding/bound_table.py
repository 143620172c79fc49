"""A table and the words that were said of it, from which each call of a method makes its question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

from polars_prcurve.binding.public_methods import PublicMethods
from polars_prcurve.binding.question import Question, leave_out, place_question
from polars_prcurve.binding.rules import check_rules, list_facts
from polars_prcurve.binding.words import (
    DEFAULTS,
    INTERVALS,
    PASSED_OVER,
    RIVALS,
    TABLE_WORDS,
    TAKES_RATES,
    TARGET_WORDS,
    USES,
    TableWords,
)
from polars_prcurve.confidence.certainty import Confidence, read_certainty
from polars_prcurve.errors import PrcError, list_names
from polars_prcurve.inputs.column_reader import (
    Column,
    ColumnReader,
    list_columns,
)
from polars_prcurve.inputs.point_columns import list_parts
from polars_prcurve.inputs.score_table import InputTable, ScoreTable
from polars_prcurve.inputs.table_arguments import gives_squares
from polars_prcurve.inputs.value_checks import SCORE_DTYPES
from polars_prcurve.prevalence.eta_table import EtaTable
from polars_prcurve.prevalence.field_values import ScoresOfField
from polars_prcurve.prevalence.uncertain_eta import UNCERTAIN_ETA_COLUMNS

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

F = TypeVar("F", pl.DataFrame, pl.LazyFrame)


class BoundTable(PublicMethods, Generic[F], path="prc"):
    """A table and what was said of it; the methods of `.prc` build on it."""

    _may_collect: bool
    """Whether a stage may run a query half way, for what Polars has no expression for."""

    def __init__(self, frame: F, words: Mapping[str, Any] | None = None) -> None:
        self._frame: F = frame
        self._words: Mapping[str, Any] = words or {}
        self._kept: dict[Any, InputTable] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickles and copies hold: the table and its words, and no counts."""
        return {"_frame": self._frame, "_words": self._words, "_kept": {}}

    def __call__(self, **words: Unpack[TableWords]) -> Self:
        """Return the same methods, with words about the table that hold for each of them.

        A word said again in a call replaces the bound one; None takes it away. The table is a snapshot:
        a later change of the frame in place is not seen.

        Examples
        --------
        >>> df = pl.DataFrame({"p": [0.9, 0.2], "sick": ["yes", "no"], "site": ["a", "a"]})
        >>> test = df.prc(score="p", label="sick", pos_label="yes", by="site")
        >>> test
        <prc of 2 rows: score='p', label='sick', pos_label='yes', by='site'>
        >>> test.curve(eta=0.01).equals(
        ...     df.prc.curve(eta=0.01, score="p", label="sick", pos_label="yes", by="site")
        ... )
        True
        """
        said = merge_words(self._words, words)
        bound = type(self)(self._frame.clone(), said)
        if said:
            bound._check_words()
        return bound

    def __repr__(self) -> str:
        n_rows = f"{self._frame.height} rows" if isinstance(self._frame, pl.DataFrame) else "a LazyFrame"
        shown = (f"{name}={_show_word(value)}" for name, value in self._words.items())
        says = ", ".join(shown) or "say what it holds by .prc(score=..., label=..., by=...)"
        return f"<prc of {n_rows}: {says}>"

    def _finish(self, query: pl.LazyFrame, grid: EtaTable | None = None, *, pairs: bool = False) -> F:
        """Return the query as the kind of frame that the user passed.

        The query repeats rows at the prevalences of `grid`, and beside other models if it is of `pairs`.
        """
        raise NotImplementedError

    def _collect_table(self) -> BoundTable[pl.DataFrame]:
        """Return the table in memory, with the same words."""
        raise NotImplementedError

    def _check_words(self) -> None:
        """Raise for a bound word that does not fit the table; nothing is collected."""
        missing = self._words.get("missing")
        missing = DEFAULTS["missing"] if missing is None else missing
        reader = ColumnReader(self._frame, missing, may_collect=False)
        for name, value in self._words.items():
            if name == "by":
                reader.read_by(value, ())
            elif value is not None and name not in ("missing", "pos_label"):
                for column in _list_named(name, value):
                    read = reader.read_column(name, column)
                    if name == "score":
                        SCORE_DTYPES.require(read.what, read.dtype)

    def _merge_words(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return the words that hold in a call: those said, and of those bound all that they leave."""
        return merge_words(self._words, said)

    def _ask(
        self,
        method: str,
        words: Mapping[str, Any],
        *,
        eta: Any = None,
        confidence: Confidence = None,
        collects: bool = False,
        **own: Any,
    ) -> Question:
        """Return what the words bound and said mean in a call of a method, and what it asks.

        `words` are those of the call: of the table, and targets. `own` are further arguments that may
        not go with others. A method that `collects` runs queries half way, whatever the table.
        """
        certainty = read_certainty(
            confidence,
            f"{method}()",
            INTERVALS.get(method, ("analytic",)),
            takes_rate=method in TAKES_RATES,
        )
        targets = {name: value for name, value in words.items() if name in TARGET_WORDS}
        said = {
            name: list(value) if isinstance(value, Iterator) else value  # which is read more than once
            for name, value in words.items()
            if name not in TARGET_WORDS
        }
        words = merge_words(self._words, said)
        if isinstance(eta, BoundTable):
            eta = ScoresOfField(eta._read_field(words))
        facts = list_facts(words, {**own, **targets}, eta, certainty)
        chosen = _choose_words(method, words, said, facts)
        columns = {**DEFAULTS, **{name: value for name, value in chosen.items() if value is not None}}
        columns |= {"label": None} if chosen.get("label", "") is None else {}
        keeps = bool(self._words) and isinstance(self._frame, pl.DataFrame)
        call = Question(
            method,
            self._frame,
            columns,
            eta,
            certainty,
            targets,
            may_collect=self._may_collect or collects,
            made_from=self._frame,
            kept=self._kept if keeps else None,
        )
        return place_question(call, said, paired=own.get("paired", False))

    def _read_field(self, words: Mapping[str, Any]) -> ScoreTable:
        """Return this table as rows without labels; `words` are those of the table that is asked.

        They hold for what this table leaves open.
        """
        if self._words.get("label") is not None:
            raise PrcError(
                "eta= takes a table without labels, whose prevalence is estimated: "
                'prc(month, score="p", label=None); of a table with labels pass the prevalence itself'
            )
        shared = {
            name: words[name]
            for name in ("by", "model", "score", "missing")
            if words.get(name) is not None and name not in self._words
        }
        try:
            question = self._ask("estimate_prevalence", shared, collects=True)
            return question.read_unlabelled(("eta", *UNCERTAIN_ETA_COLUMNS))
        except PrcError as error:
            raise PrcError(f"in the table that eta= is estimated from, {error}") from None


def say_of_reference(
    reference: Any, columns: Mapping[str, Any]
) -> tuple[pl.DataFrame | pl.LazyFrame, dict[str, Any]]:
    """Return the frame of a labelled table beside an unlabelled one, and what its columns hold.

    A bound table has words of its own; what these leave open is as in the other table.
    """
    names = ("by", "score", "label", "pos_label", "missing")
    shared = {name: columns[name] for name in names if columns.get(name) is not None}
    if not isinstance(reference, BoundTable):
        return reference, {**DEFAULTS, **shared}
    try:
        own = _choose_words("estimate_prevalence", reference._words, {}, set())
    except PrcError as error:
        raise PrcError(f"in the reference= table, {error}") from None
    if (model := own.pop("model", None)) is not None:
        groups: list[Column] = list_columns("by=", own.get("by"))
        own["by"] = [*leave_out(model, groups), model]
    held = {name: value for name, value in {**shared, **own}.items() if value is not None}
    return reference._frame, {**DEFAULTS, **held}


def merge_words(bound: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the words that hold: those said, and of those bound all that they leave in place."""
    told = [rivals for rivals in RIVALS if any(said.get(name) is not None for name in rivals)]
    if len(told) > 1:
        names = [next(n for n in rivals if said.get(n) is not None) for rivals in told]
        raise PrcError(
            f"{names[0]}= and {names[1]}= both tell which examples there are; pass one of them"
        )
    aside = {name for rivals in RIVALS if told and rivals not in told for name in rivals}
    return {**{name: value for name, value in bound.items() if name not in aside}, **said}


def _choose_words(
    method: str, words: Mapping[str, Any], said: Mapping[str, Any], facts: set[str]
) -> dict[str, Any]:
    """Return the words of a call that its answer goes by; raise for one that it has no use for.

    A bound word that was not `said` is passed over if it cannot change the answer. `facts` are those of
    the call, as rules write them.
    """
    words = dict(words)
    uses, only_bound = USES[method], {name for name in words if said.get(name) is None}
    for name in [name for name, value in words.items() if value is not None and name not in uses]:
        if name not in only_bound or name not in PASSED_OVER:
            takes = list_names(f"{word}=" for word in TABLE_WORDS if word in uses)
            raise PrcError(
                f"{method}() takes no {name}=; leave out {name}=; of the table it takes {takes}"
            )
        del words[name]
        facts = facts - {f"{name}="}
    for name in check_rules(method, facts, only_bound):
        del words[name]
    return words


def _list_named(word: str, value: Any) -> list[Any]:
    """Return the columns that a word names; raise if there are not as many as it takes."""
    if word == "score" and isinstance(value, Mapping):
        return list(value.values())
    if word in ("score", "id"):
        return list_columns(f"{word}=", value)
    one_count = word == "counts" and isinstance(value, str | pl.Expr)  # of rows without labels
    if word not in ("counts", "rates", "sizes", "cells") or one_count:
        return [value]
    number = 4 if word == "cells" or gives_squares(None, value) else 2
    if word != "sizes":
        return list_parts(word, value, number, "columns")
    several = list_parts(word, value, number, "columns or whole numbers")
    return [column for column in several if isinstance(column, str | pl.Expr)]


def _show_word(value: Any) -> str:
    """Return a word of the table for a repr: names as they are, expressions as Polars prints them."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_show_word, value))}]"
    return str(value) if isinstance(value, pl.Expr) else repr(value)
