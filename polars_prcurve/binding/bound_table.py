"""A table, the words that were said of it, and what both mean in one call.

words bound, words said  -> chosen    which hold in this call: a word said replaces the bound one
                         -> columns   what `read_input` reads; a wide table is made long first
                         -> table     every column resolved and typed, with the prevalences of eta=
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.binding.public_methods import PublicMethods
from polars_prcurve.binding.words import (
    COMPARES_MODELS,
    DEFAULTS,
    PASSED_OVER,
    RIVALS,
    TABLE_WORDS,
    USES,
    TableWords,
)
from polars_prcurve.comparison.compare_table import Examples
from polars_prcurve.confidence.bands import BandOptions
from polars_prcurve.confidence.certainty import Intervals
from polars_prcurve.curves.fields import read_eta_or_field
from polars_prcurve.errors import PrcError, list_names
from polars_prcurve.inputs.column_reader import (
    Column,
    ColumnReader,
    check_group_names,
    is_dropping,
    list_columns,
)
from polars_prcurve.inputs.point_columns import list_parts
from polars_prcurve.inputs.score_table import InputTable, ScoreTable
from polars_prcurve.inputs.table_arguments import gives_squares, read_input, read_unlabelled
from polars_prcurve.inputs.value_checks import SCORE_DTYPES
from polars_prcurve.inputs.wide_tables import read_classes, stack_classes, stack_models
from polars_prcurve.prevalence.eta_table import EtaTable
from polars_prcurve.prevalence.field_values import ClassMix, Field
from polars_prcurve.prevalence.uncertain_eta import eta_from_sample

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
        said = _merge_words(self._words, words)
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
        return _merge_words(self._words, said)

    def _choose_words(self, method: str, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return the words that hold in a call of a method and say something."""
        chosen = _choose_words(method, self._words, said, {})
        return {name: value for name, value in chosen.items() if value is not None}

    def _say(
        self,
        method: str,
        said: Mapping[str, Any],
        *,
        eta: Any = None,
        certainty: Intervals | None = None,
        useless: Mapping[str, str] | None = None,
        paired: bool = False,
        collects: bool = False,
    ) -> SaidTable:
        """Return what the words bound and said mean in a call of a method.

        `useless` are words that the call has no use for, beside those that the method never has, with
        what to say of them. With `paired` models are compared by the examples that they share. A method
        that `collects` runs queries half way, whatever the table.
        """
        useless = dict(useless or {})
        if certainty is None and "cluster" in USES[method]:
            useless["cluster"] = "cluster= is for intervals; pass confidence= with it"
        if self._merge_words(said).get("rates") is not None:
            useless["score"] = "rates= stands in place of score= and label=; leave out score="
        chosen = _choose_words(method, self._words, said, useless)
        columns = {**DEFAULTS, **{name: value for name, value in chosen.items() if value is not None}}
        columns |= {"label": None} if chosen.get("label", "") is None else {}
        keeps = bool(self._words) and isinstance(self._frame, pl.DataFrame)
        kept = self._kept if keeps else None
        call = SaidTable(self._frame, columns, eta, self._may_collect or collects, self._frame, kept)
        call = _set_parts(call, said)
        if isinstance(columns["score"], list | tuple | Mapping):
            return _make_long(method, call, paired=paired)
        if isinstance(eta, ClassMix):
            raise PrcError(
                'class_mix() is for score= as a mapping, a column for each class: {"cat": "p_cat", ...}'
            )
        return _set_groups(method, call)


@dataclass(frozen=True)
class SaidTable:
    """A user's table, and what it holds in one call."""

    frame: pl.DataFrame | pl.LazyFrame
    columns: dict[str, Any]
    """The arguments of `read_input` that say what the columns hold."""
    eta: Any
    may_collect: bool
    made_from: pl.DataFrame | pl.LazyFrame
    """The user's table, if `frame` is one that was made from it."""
    kept: dict[Any, InputTable] | None = None
    """Tables that were read before, by the words that decide them; None of a table that keeps none."""
    stacked: Any = None
    """The word score= of a wide table, which `frame` was made by."""

    @property
    def has_parts(self) -> bool:
        """Whether the rows are parts of a field."""
        return "within" in self.columns

    @property
    def points(self) -> Any:
        """The columns of published points; None of a table of examples or counts."""
        cells = self.columns.get("cells")
        return self.columns.get("rates") if cells is None else cells

    @property
    def has_no_labels(self) -> bool:
        """Whether counts or published points stand in place of rows of examples."""
        return any(self.columns.get(name) is not None for name in ("counts", "rates", "cells"))

    def find_shared_examples(self, *, paired: bool) -> Examples:
        """Return which examples models share; raise if that is not known, or not so."""
        if not paired:
            return "apart"
        if self.has_no_labels:
            given = next(n for n in ("counts", "rates", "cells") if self.columns.get(n) is not None)
            raise PrcError(
                f"{given}= do not tell which examples models share; pass paired=False with model="
            )
        if self.columns.get("matched"):
            return "wide"
        if not list_columns("id=", self.columns.get("example")):
            raise PrcError(
                "pass score= as a list of columns, one for each model; or id= of a long table, which "
                "tells the examples apart; or paired=False if models did not score the same examples"
            )
        return "by id"

    def read(self, makes: Iterable[str], **options: Any) -> Any:
        """Return the table with every column resolved and typed; `makes` are the names of the result.

        A bound table of a DataFrame is read once for all calls in which the same words hold.
        """
        read = partial(
            read_input,
            self.frame,
            may_collect=self.may_collect,
            made_from=self.made_from,
            **self.columns,
            **options,
        )
        decides = {**self.columns, **options, "stacked": self.stacked}
        key = None if self.kept is None else _describe_words(decides)
        if self.kept is None or key is None:
            return read(makes=makes)
        found = self.kept.pop(key, None)
        if found is None:
            found = read(makes=makes)
            found = found.keep_counts() if isinstance(found, ScoreTable) else found
        check_group_names(found.by, makes)
        self.kept[key] = found  # the last one used stands last
        while len(self.kept) > _MOST_KEPT:
            self.kept.pop(next(iter(self.kept)), None)
        return found

    def read_unlabelled(self, makes: Iterable[str], *, posteriors: bool = False) -> ScoreTable:
        """Return the table without labels, all of whose rows stand as negatives."""
        names = ("by", "score", "counts", "missing")
        columns = {name: self.columns[name] for name in names if name in self.columns}
        return read_unlabelled(
            self.frame, makes=makes, may_collect=self.may_collect, posteriors=posteriors, **columns
        )

    def find_exact_eta(self, asker: str) -> Any:
        """Return what `eta=` says; raise at a field, for which the method has no formula."""
        if isinstance(self.eta, Field):
            is_mix = self.eta.parts == (_TRUE_CLASS,)
            weighing = "one_vs_rest(mix=...)" if is_mix else "reweight(eta=field(...))"
            raise PrcError(
                f"{asker} has no formula for a field of several parts; add weights by "
                f".prc.{weighing}, pass weight=, and leave eta= out"
            )
        return self.eta

    def place_at_etas(
        self,
        table: InputTable,
        makes: Iterable[str],
        certainty: Intervals | None = None,
        bands: BandOptions | None = None,
    ) -> tuple[InputTable, EtaTable]:
        """Return a table that was read, and its prevalences: of groups, or of fields of parts."""
        level = None if certainty is None else certainty.level
        return read_eta_or_field(self.find_eta(level), table, makes, bands=bands, confidence=level)

    def find_eta(self, level: float | None) -> Any:
        """Return what `eta=` says, for a field the frame of its parts; k of n become eta."""
        if not isinstance(self.eta, Field):
            return self.eta
        frame = self.eta.frame
        known = frame.lazy().collect_schema()
        if "eta" in known:
            return frame
        return eta_from_sample(frame, k="k", n="n", confidence=0.95 if level is None else level)


def say_of_reference(
    reference: Any, columns: Mapping[str, Any]
) -> tuple[pl.DataFrame | pl.LazyFrame, dict[str, Any]]:
    """Return the frame of a labelled table beside an unlabelled one, and what its columns hold.

    A bound table has words of its own; what these leave open is as in the other table.
    """
    names = ("by", "score", "label", "pos_label", "missing")
    shared = {name: columns[name] for name in names if columns.get(name) is not None}
    if not isinstance(reference, BoundTable):
        return reference, shared
    try:
        own = _choose_words("estimate_prevalence", reference._words, {}, {})
    except PrcError as error:
        raise PrcError(f"in the reference= table, {error}") from None
    if (model := own.pop("model", None)) is not None:
        groups: list[Column] = list_columns("by=", own.get("by"))
        own["by"] = [*(g for g in groups if _name(g) != _name(model)), model]
    held = {name: value for name, value in {**shared, **own}.items() if value is not None}
    return reference._frame, {**DEFAULTS, **held}


def _merge_words(bound: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
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
    method: str, bound: Mapping[str, Any], said: Mapping[str, Any], useless: Mapping[str, str]
) -> dict[str, Any]:
    """Return the words that hold in a call; raise for one that the method has no use for.

    A bound word is passed over if it cannot change the answer.
    """
    words = _merge_words(bound, said)
    uses = USES[method] - useless.keys()
    for name in [name for name, value in words.items() if value is not None and name not in uses]:
        if said.get(name) is None and (name in PASSED_OVER or name in useless):
            del words[name]
        elif name in useless:
            raise PrcError(useless[name])
        else:
            takes = list_names(f"{word}=" for word in TABLE_WORDS if word in uses)
            raise PrcError(
                f"{method}() takes no {name}=; leave out {name}=; of the table it takes {takes}"
            )
    return words


def _set_parts(call: SaidTable, said: Mapping[str, Any]) -> SaidTable:
    """Return the call at a field, whose parts are no groups: bound ones leave `by` and `model`."""
    if not isinstance(call.eta, Field):
        return call
    parts = {_name(part) for part in call.eta.parts}
    kept: dict[str, Any] = {}
    for word in ("by", "model"):
        groups = list_columns(f"{word}=", call.columns.get(word))
        both = [group for group in groups if _name(group) in parts]
        if both and said.get(word) is not None:
            raise PrcError(
                f"{word}= and parts= both hold the column {_name(both[0])!r}; leave {word}= out for the "
                "answer of the whole field, or pass eta= without field() for one of each part"
            )
        kept[word] = [group for group in groups if _name(group) not in parts]
    columns = {**call.columns, "by": kept["by"], "within": list(call.eta.parts)}
    if not kept["model"]:
        columns.pop("model", None)
    return replace(call, columns=columns)


def _set_groups(method: str, call: SaidTable) -> SaidTable:
    """Return the call with the column of models where the method reads it: alone, or as a last group."""
    columns = dict(call.columns)
    groups: list[Column] = list_columns("by=", columns.get("by"))
    model: Any = columns.pop("model", None)
    example = columns.pop("id", None)
    if method in COMPARES_MODELS:
        model = "model" if model is None else model
        columns |= {"by": [g for g in groups if _name(g) != _name(model)], "model": model}
        columns |= {"example": example} if example is not None else {}
    elif model is not None:
        ColumnReader(call.frame, "raise", may_collect=False).read_column("model", model)
        columns["by"] = [*(g for g in groups if _name(g) != _name(model)), model]
    return replace(call, columns=columns)


def _make_long(method: str, call: SaidTable, *, paired: bool) -> SaidTable:
    """Return the call on a table with a row for each example and model, or class."""
    score: Any = call.columns["score"]
    group = "class" if isinstance(score, Mapping) else "model"
    if "by" not in USES[method]:
        raise PrcError(f"{method}() takes one column as score=; call it once for each {group}")
    refused: tuple[str, ...] = ("pos_label", "id") if group == "class" else ("model", "id")
    for name in (*refused, "counts", "rates", "cells"):
        if call.columns.get(name) is not None:
            raise PrcError(f"score= names a column for each {group}; leave out {name}=")
    groups: list[Column] = list_columns("by=", call.columns.get("by"))
    if group in map(_name, groups):
        raise PrcError(f"by= holds a column {group!r}; leave it out: the {group}s of score= are a group")
    if group == "class":
        return _stack_classes(method, call, [*groups, pl.col(c.CLASS).alias("class")])
    if method == "compare" and not paired:
        raise PrcError(
            "paired=False is for models that have examples of their own, and models of a wide table "
            "share its rows; leave paired= out"
        )
    long = stack_models(call.frame.lazy(), score, drop=paired and is_dropping(call.columns["missing"]))
    if paired and len(score) < 2:
        raise PrcError(f"compare() takes two models or more; got score={list(score)}")
    columns = {**call.columns, "score": long.score}
    model = pl.col(long.name).cast(pl.String).alias("model")
    if paired:
        columns |= {"model": long.name, "example": long.example, "matched": True}
    elif method in COMPARES_MODELS:
        columns |= {"model": model, "example": long.example}
    else:
        columns["by"] = [*groups, model]
    return replace(call, frame=long.frame, columns=columns, stacked=score)


def _stack_classes(method: str, call: SaidTable, groups: list[Column]) -> SaidTable:
    """Return the call on a table with a row for each example and class; classes are a group.

    Where the shares of classes are said, the true classes are the parts of a field: all of the class
    itself is positive, and nothing of the other ones.
    """
    label, score = call.columns["label"], call.columns["score"]
    long = stack_classes(call.frame.lazy(), label, score)
    columns = {**call.columns, "score": long.score, "label": long.label, "by": groups}
    if isinstance(call.eta, ClassMix):
        dtype = call.frame.lazy().collect_schema()[label]
        shares = call.eta.shares
        true = read_classes(label, dtype, list(shares)).alias(_TRUE_CLASS)
        parts = pl.DataFrame([true, pl.Series("share", list(shares.values()))])
        each = read_classes(label, dtype, list(score)).alias("class").to_frame()
        is_own = (pl.col("class") == pl.col(_TRUE_CLASS)).cast(pl.Float64)
        eta = each.join(parts, how="cross").with_columns(is_own.alias("eta"))
        columns["within"] = [c.select_column(label).alias(_TRUE_CLASS)]
        call = replace(call, eta=Field(eta, (_TRUE_CLASS,)))
    stacked = list(score.items())
    return _set_groups(method, replace(call, frame=long.frame, columns=columns, stacked=stacked))


_TRUE_CLASS = "true class"


_MOST_KEPT = 4
"""As many tables are kept, of the last sets of words."""


def _describe_words(columns: Mapping[str, Any]) -> str | None:
    """Return a text that is equal for equal words; None if an expression does not serialize."""

    def describe(value: Any) -> Any:
        if isinstance(value, pl.Expr):
            return "expression", value.meta.serialize(format="json")
        if isinstance(value, list | tuple):
            return [describe(each) for each in value]
        return type(value).__name__, value

    try:
        return repr({name: describe(value) for name, value in columns.items()})
    except pl.exceptions.PolarsError:
        return None


def _name(column: Column) -> str:
    """Return the name of a group column."""
    if isinstance(column, pl.Expr):
        return column.meta.output_name(raise_if_undetermined=False) or ""
    return column if isinstance(column, str) else ""  # what is no column is refused where it is read


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
