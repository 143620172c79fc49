"""The methods of a table in files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polars_prcurve.binding.bound_table import say_of_reference
from polars_prcurve.binding.words import COMPARES_MODELS, TABLE_WORDS
from polars_prcurve.confidence.certainty import Intervals
from polars_prcurve.inputs.column_reader import list_columns
from polars_prcurve.inputs.table_arguments import DroppedRows, count_dropped_rows
from polars_prcurve.namespace.frame import LazyFramePrc


class FilePrc(LazyFramePrc):
    """The methods of a table in files: lazy, except where one must collect half way."""

    _may_collect = True

    def describe_dropped_rows(self, method: str, given: Mapping[str, Any]) -> Iterator[str]:
        """Yield how many rows a method leaves out because a value is missing, if that was asked for."""
        if given.get("missing") != "drop":
            return
        if (dropped := self._count_dropped_rows(method, given)).n:
            yield dropped.sentence
        reference = given.get("reference")
        if reference is not None and not isinstance(reference, float):
            frame, columns = say_of_reference(reference, given)
            known = frame.collect_schema()
            columns["by"] = [name for name in list_columns("by=", columns.get("by")) if name in known]
            if (dropped := count_dropped_rows(frame, **columns)).n:
                yield f"in --reference, {dropped.sentence}"

    def _count_dropped_rows(self, method: str, given: Mapping[str, Any]) -> DroppedRows:
        is_weighing, scores = method == "reweight", given.get("score")
        unused = "score" if is_weighing else ""  # weights need no scores, unless they are named
        words = {name: given[name] for name in TABLE_WORDS if name in given and name != unused}
        # A comparison has left out the rows by then; a ranking leaves out the same ones, and later.
        counted = "ranking" if method == "compare" and isinstance(scores, list) else method
        question = self._ask(counted, words, eta=given.get("eta"), certainty=Intervals(0.95))
        columns = {**question.columns, **({"score": scores} if is_weighing else {})}
        # Of rows without labels, or not yet with all, a missing label drops none.
        some_labels = ("estimate_prevalence", "sampling_plan", "weigh_sample")
        unlabelled = method in some_labels or columns["label"] is None
        how: dict[str, Any] = {"unlabelled": unlabelled, "weighing": is_weighing}
        dropped = count_dropped_rows(question.frame, id=columns.get("example"), **how, **columns)
        if not isinstance(scores, list) or is_weighing:
            return dropped
        if method in COMPARES_MODELS:  # a row of the wide table is left out for all models
            return DroppedRows(dropped.n // len(scores), dropped.total // len(scores))
        return dropped._replace(what="pairs of row and model")
