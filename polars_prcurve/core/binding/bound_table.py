"""A table and the words stored with it, from which each call of a method makes its question."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import polars as pl

from polars_prcurve.core.binding import argument_rules, shared_arguments
from polars_prcurve.core.binding.argument_rules import check_rules, list_facts, refuse_word
from polars_prcurve.core.binding.cache_of_read_tables import ReadTables
from polars_prcurve.core.binding.eta_argument import EtaArgument, EtaOfScores, read_eta_argument
from polars_prcurve.core.binding.groups_of_a_question import (
    leave_out,
    make_long,
    set_groups,
    set_means,
    set_parts,
)
from polars_prcurve.core.binding.question import Question
from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS, TableWords
from polars_prcurve.core.confidence.interval_input_columns import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.core.confidence.interval_options import Confidence, Intervals, read_interval_options
from polars_prcurve.core.ground.column_checks import SCORE_DTYPES
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import METRIC_OF_SYNONYM, HintingAttributes, hint_at_arguments
from polars_prcurve.core.inputs.column_reader import (
    Column,
    ColumnReader,
    InputColumns,
    list_columns,
    refuse_reserved_names,
)
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.never_scored import tells_negatives
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable
from polars_prcurve.core.inputs.table_reader import gives_squares, list_named_columns
from polars_prcurve.core.inputs.wide_tables import empty_incomplete
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
from polars_prcurve.core.metrics.point_metric import POINT_METRICS
from polars_prcurve.core.metrics.target_kinds import read_budgets
from polars_prcurve.core.prevalence.eta_table import EtaTable

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class PublicMethods(HintingAttributes):
    """A base class whose public methods have complete signatures, and are named as users write them.

    In errors of a call `public_name` takes the place of the class, which users do not see, as in
    `prc.sweep()`.
    """

    _name_by_synonym: ClassVar = {
        "roc": "sweep",
        "confusion_matrix": "sweep",
        "pr": "curve",
        "precision_recall_curve": "curve",
        "calibration": "reliability",
        "calibration_curve": "reliability",
        "histogram": "scores",
    }

    def __init_subclass__(cls, public_name: str | None = None) -> None:
        super().__init_subclass__()
        if public_name is not None:
            cls._wrong_attribute = f"{public_name} has no method"
        for name, method in list(vars(cls).items()):
            is_public = name == "__call__" or not name.startswith("_")
            if public_name is not None and is_public and inspect.isfunction(method):
                method.__qualname__ = public_name if name == "__call__" else f"{public_name}.{name}"
                type_by_word = _list_shared_words(method)
                if public_name == "prc" and "score" in type_by_word and name != "__call__":
                    argument_rules.USES[name] = frozenset(TABLE_WORDS) & type_by_word.keys()
                setattr(cls, name, complete_signature(method))

    @classmethod
    def _suggest_attribute(cls, wrong_name: str) -> str:
        """Return a hint at the method that takes a metric of this name, or at those of similar names."""
        metric_name = METRIC_OF_SYNONYM.get(wrong_name.lower(), wrong_name)
        if metric_name == "pr_auc" != wrong_name.lower():  # names of two metrics
            return "pass the metric 'average_precision', or 'pr_auc', to summary()"
        is_of_points = metric_name in POINT_METRICS
        for method_name in ("metric", "operating_points") if is_of_points else ("summary",):
            if hasattr(cls, method_name) and metric_name in (*POINT_METRICS, *CURVE_METRICS):
                return f"pass the metric {metric_name!r} to {method_name}()"
        return super()._suggest_attribute(wrong_name)


def complete_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with hints, whose signature lists each word of its `**words`.

    Where its docstring describes `targets` together, it names those of the signature. A word about the
    table that is not in its group is refused where the words of a call are merged.
    """
    signature, type_by_word = inspect.signature(function), _list_shared_words(function)
    parameters = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.VAR_KEYWORD
    ]
    parameters += [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=argument_rules.DEFAULTS.get(name),
            annotation=getattr(word_type, "__forward_arg__", word_type),
        )
        for name, word_type in type_by_word.items()
    ]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    target_list_text = ", ".join(name for name in type_by_word if name in shared_arguments.TARGET_WORDS)
    if target_list_text and function.__doc__:
        function.__doc__ = re.sub(
            r"^( *)targets$", rf"\1{target_list_text}", function.__doc__, flags=re.MULTILINE
        )
    if "alerts" in type_by_word:
        function = _read_budgets_of(function)
    refused_words = TABLE_WORDS if "score" in type_by_word else ()
    return hint_at_arguments(function, refused_words, shared_arguments.TARGET_WORDS)


def _read_budgets_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose word `alerts` may be a text, which has the number of cases in it."""

    @wraps(function)
    def read_and_call(*args: Any, **arguments: Any) -> Any:
        return function(*args, **read_budgets(arguments))

    return read_and_call


def _list_shared_words(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the words of the group that a function takes as `**words`, and what each may be."""
    kwargs_name = inspect.getargs(function.__code__).varkw
    if kwargs_name is None:
        return {}
    words_class_name = function.__annotations__[kwargs_name].removeprefix("Unpack[").removesuffix("]")
    type_by_word: Mapping[str, Any] = getattr(shared_arguments, words_class_name).__annotations__
    return type_by_word


F = TypeVar("F", pl.DataFrame, pl.LazyFrame)
"""What a bound table is of, and what its methods return."""


class BoundTable(PublicMethods, Generic[F], public_name="prc"):
    """A table and the words stored with it; the methods of `.prc` build on it."""

    _may_collect: bool
    """Whether a stage may run a query half way, for what Polars has no expression for."""

    def __init__(
        self, frame: F, arguments: Mapping[str, Any] | None = None, stacked_names: Sequence[str] = ()
    ) -> None:
        self._frame: F = frame
        self._names = stacked_names  # the values of the column `name`, in the order of a call
        self._words: Mapping[str, Any] = arguments or {}
        # `df.prc` is of a frame that may change in place: it keeps no counts.
        self._tables = None if arguments is None else ReadTables()

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickles and copies hold: the table and its words, and no counts."""
        read_tables = None if self._tables is None else ReadTables()
        return vars(self) | {"_tables": read_tables}

    def __call__(self, **words: Unpack[TableWords]) -> Self:
        """Return the same methods, with stored arguments that describe the table.

        An argument passed in a call overrides the stored one; None removes it. The table is a
        snapshot: a later change of the frame in place has no effect.

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
        all_arguments = merge_words(self._words, words)
        bound_table = type(self)(self._frame.clone(), all_arguments, self._names)
        if all_arguments:
            bound_table._check_words()
        return bound_table

    def __repr__(self) -> str:
        size_text = (
            f"{self._frame.height} rows" if isinstance(self._frame, pl.DataFrame) else "a LazyFrame"
        )
        word_texts = (f"{name}={_show_word(value)}" for name, value in self._words.items())
        words_text = ", ".join(word_texts) or "no columns named; use .prc(score=..., label=..., by=...)"
        return f"<prc of {size_text}: {words_text}>"

    def _finish(
        self,
        query: pl.LazyFrame,
        table: ResolvedTable | None = None,
        grid: EtaTable | None = None,
        *,
        pairs: bool = False,
    ) -> F:
        """Return the result of a table as the user's kind of frame; the last arguments give its size."""
        raise NotImplementedError

    def _check_words(self) -> None:
        """Raise for a bound word that does not fit the table; nothing is collected."""
        missing = self._words.get("missing")
        reader = ColumnReader(self._frame, "raise" if missing is None else missing, may_collect=False)
        for word, value in self._words.items():
            if word == "by":
                reader.read_by(value)
            elif value is not None and word == "below":
                tells_negatives(value)
            elif value is not None and word not in ("missing", "pos_label"):
                for column in _list_named(word, value):
                    typed_column = reader.read_column(word, column)
                    if word == "score":
                        SCORE_DTYPES.require(typed_column.subject_phrase, typed_column.dtype)

    def _find_call_order(self, call_arguments: Mapping[str, Any]) -> dict[str, list[Any]]:
        """Return the names in the order of a call, by each column of results that holds them."""
        score_argument: Any = self._merge_words(call_arguments).get("score")
        if isinstance(score_argument, Mapping):
            return {"class": [*score_argument]}
        if isinstance(score_argument, list | tuple):
            return {column_name: [*score_argument] for column_name in ("model", "model_a", "model_b")}
        return {"name": [*self._names]} if self._names else {}

    def _merge_words(self, call_arguments: Mapping[str, Any]) -> dict[str, Any]:
        return merge_words(self._words, call_arguments)

    def _ask(
        self,
        method_name: str,
        arguments: Mapping[str, Any],
        *,
        eta: Any = None,
        confidence: Confidence = None,
        collects: bool = False,
        **method_arguments: Any,
    ) -> Question:
        """Return the question of a call: what the words bound and passed mean in it.

        `method_arguments` are those that may not go together. A method that `collects` runs queries half
        way.
        """
        interval_options = _read_confidence(confidence, method_name)
        target_arguments, table_arguments = _split_targets(arguments)
        refuse_reserved_names(self._frame)
        arguments = merge_words(self._words, table_arguments)
        eta_argument = _read_eta(eta, arguments)
        call_facts = list_facts(
            arguments, {**method_arguments, **target_arguments}, eta_argument, interval_options
        )
        question = Question(
            method_name,
            _empty_incomplete(self._frame, arguments),
            InputColumns.read_words(_choose_words(method_name, arguments, table_arguments, call_facts)),
            eta_argument,
            interval_options,
            target_arguments,
            call_facts,
            may_collect=self._may_collect or collects,
            user_table=self._frame,
            read_tables=self._tables if isinstance(self._frame, pl.DataFrame) else None,
            names_no_model="model" in arguments and arguments["model"] is None,
        )
        if eta_argument.parts:
            question = set_parts(question, eta_argument.parts, table_arguments)
        mean_columns: list[Column] = list_columns("mean_over=", method_arguments.get("mean_over"))
        if isinstance(question.columns.score, Mapping | list | tuple):
            is_paired = (
                method_name == "compare" if mean_columns else method_arguments.get("paired", False)
            )
            question = make_long(question, paired=is_paired)
        else:
            question = set_groups(question)
        has_classes = question.has_class_columns
        return (
            set_means(question, mean_columns, table_arguments, share_examples=has_classes)
            if mean_columns
            else question
        )

    def _read_unlabelled(self, arguments: Mapping[str, Any]) -> ScoreTable:
        """Return this table as rows without labels; `arguments` hold for what it leaves open."""
        if self._words.get("label") is not None:
            raise PrcError(
                'pass a table without labels as eta=, such as prc(month, score="p", label=None), '
                "to estimate its prevalence; if you have labels, pass the prevalence as a number"
            )
        common_arguments = {
            word: arguments[word]
            for word in ("by", "model", "score", "missing")
            if arguments.get(word) is not None and word not in self._words
        }
        if common_arguments.get("missing") == "below":  # without a label or a score it is no example
            del common_arguments["missing"]
        try:
            question = self._ask("estimate_prevalence", common_arguments, collects=True)
            table = question.read_unlabelled()
            check_group_names(table.by, ("eta", *UNCERTAIN_ETA_COLUMNS))
        except PrcError as error:
            raise PrcError(f"in the table that eta= is estimated from, {error}") from None
        return table


def _split_targets(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the targets of a call, and its arguments about the table; iterators become lists."""
    target_arguments, table_arguments = {}, {}
    for word, value in arguments.items():
        if word in shared_arguments.TARGET_WORDS:
            target_arguments[word] = value
        else:  # which is read more than once
            table_arguments[word] = list(value) if isinstance(value, Iterator) else value
    return target_arguments, table_arguments


def _read_confidence(confidence: Confidence, method_name: str) -> Intervals | None:
    """Return the intervals that a method is to have; None without any."""
    if confidence is None:
        return None
    interval_methods = argument_rules.INTERVALS.get(method_name, ("analytic",))
    takes_rate = method_name in argument_rules.TAKES_RATES
    return read_interval_options(confidence, f"{method_name}()", interval_methods, takes_rate=takes_rate)


def _read_eta(eta: Any, arguments: Mapping[str, Any]) -> EtaArgument:
    """Return what `eta=` holds; `arguments` hold for what a table without labels leaves open."""
    if isinstance(eta, BoundTable):
        return EtaOfScores(eta, eta._read_unlabelled(arguments))
    return read_eta_argument(eta)


def read_reference_columns(
    reference: Any, input_columns: InputColumns
) -> tuple[pl.DataFrame | pl.LazyFrame, InputColumns]:
    """Return the frame of a labelled table beside an unlabelled one, and what its columns hold."""
    shared_input_columns = InputColumns(
        by=input_columns.by,
        score=input_columns.score,
        label="label" if input_columns.label is None else input_columns.label,
        pos_label=input_columns.pos_label,
        missing=input_columns.missing,
    )
    if not isinstance(reference, BoundTable):
        return reference, shared_input_columns
    try:
        bound_facts = list_facts(reference._words, {}, None, None)
        bound_arguments = _choose_words("estimate_prevalence", reference._words, {}, bound_facts)
    except PrcError as error:
        raise PrcError(f"in the reference= table, {error}") from None
    if (model_column := bound_arguments.pop("model", None)) is not None:
        grouping_columns: list[Column] = list_columns("by=", bound_arguments.get("by"))
        bound_arguments["by"] = [*leave_out(model_column, grouping_columns), model_column]
    stated_arguments: Any = {name: value for name, value in bound_arguments.items() if value is not None}
    return reference._frame, shared_input_columns._replace(**stated_arguments)


def merge_words(bound_arguments: Mapping[str, Any], call_arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the words that hold: those passed, and of those bound all that they do not replace."""
    rival_word_groups = [
        rivals
        for rivals in argument_rules.RIVALS
        if any(call_arguments.get(word) is not None for word in rivals)
    ]
    if len(rival_word_groups) > 1:
        rival_words = [
            next(word for word in rivals if call_arguments.get(word) is not None)
            for rivals in rival_word_groups
        ]
        raise PrcError(
            f"pass only one of {rival_words[0]}= and {rival_words[1]}=: both define the examples"
        )
    replaced_words = {
        word
        for rivals in argument_rules.RIVALS
        if rival_word_groups and rivals not in rival_word_groups
        for word in rivals
    }
    return {
        **{word: value for word, value in bound_arguments.items() if word not in replaced_words},
        **call_arguments,
    }


def _empty_incomplete(frame: F, arguments: Mapping[str, Any]) -> F:
    """Return the table of a call, for `missing="drop"` as `wide_tables.empty_incomplete` makes it."""
    score_argument: Any = "score" if arguments.get("score") is None else arguments["score"]
    missing = arguments.get("missing")
    if not isinstance(missing, str) or missing != "drop":  # another kind is refused where words are read
        return frame
    if isinstance(score_argument, list | tuple | Mapping):
        return empty_incomplete(
            frame,
            [*(score_argument.values() if isinstance(score_argument, Mapping) else score_argument)],
        )
    if arguments.get("id") is None or arguments.get("model") is None:
        return frame
    example_columns = [*list_columns("by=", arguments.get("by")), *list_columns("id=", arguments["id"])]
    return empty_incomplete(frame, [score_argument], leave_out(arguments["model"], example_columns))


def _choose_words(
    method_name: str,
    arguments: Mapping[str, Any],
    call_arguments: Mapping[str, Any],
    call_facts: set[str],
) -> dict[str, Any]:
    """Return the words of a call that its answer goes by; raise for one that it has no use for."""
    chosen_arguments = dict(arguments)
    # A bound word that was not passed is ignored if it cannot change the answer.
    used_words = argument_rules.USES[method_name]
    unpassed_words = {word for word in chosen_arguments if call_arguments.get(word) is None}
    for word in [
        word for word, value in chosen_arguments.items() if value is not None and word not in used_words
    ]:
        if word not in unpassed_words or word not in argument_rules.PASSED_OVER:
            raise refuse_word(method_name, word)
        del chosen_arguments[word]
        call_facts = call_facts - {f"{word}="}
    for word in check_rules(method_name, call_facts, unpassed_words):
        del chosen_arguments[word]
    return chosen_arguments


def _list_named(word: str, value: Any) -> list[Any]:
    """Return the columns that a word names; raise if there are not as many as it takes."""
    if word == "score" and isinstance(value, Mapping):
        return list(value.values())
    if word in ("score", "id"):
        return list_columns(f"{word}=", value)
    is_single_count = word == "counts" and isinstance(value, str | pl.Expr)  # of rows without labels
    if word not in ("counts", "rates", "sizes", "cells") or is_single_count:
        return [value]
    n_columns = 4 if word == "cells" or gives_squares(value) else 2
    if word != "sizes":
        return list_named_columns(word, value, n_columns, "columns")
    sizes = list_named_columns(word, value, n_columns, "columns or whole numbers")
    return [size for size in sizes if isinstance(size, str | pl.Expr)]


def _show_word(value: Any) -> str:
    """Return a word of the table for a repr: names as they are, expressions as Polars prints them."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_show_word, value))}]"
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        return f"a {type(value).__name__}"
    return str(value) if isinstance(value, pl.Expr) else repr(value)
