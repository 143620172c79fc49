"""What the columns of a user's table hold, in one object, which every reader takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from polars_prcurve.core.inputs.column_reader import Column, Columns, Counts, Missing
from polars_prcurve.core.inputs.never_scored import Below

Cells: TypeAlias = tuple[Column, Column, Column, Column]  # the columns of tp, fp, fn and tn

Sizes: TypeAlias = tuple[Column | int, Column | int]
"""The numbers of positives and of negatives behind rates, as columns or as two numbers.

They are null in the rows of a group of which a number is not known.
"""


class InputColumns(NamedTuple):
    """What the columns of a user's table hold; None where nothing was passed."""

    score: Any = "score"
    """The column of scores; of a wide table those of models, or a mapping from classes to theirs."""
    label: Column | None = "label"
    """The column of labels; None if rows have none."""
    pos_label: Any = None
    by: Columns = None
    model: Column | None = None
    """The column of models, where they are compared; elsewhere it is one more of `by`."""
    id: Columns = None
    """The columns that distinguish examples, where models are compared."""
    weight: Column | None = None
    stratum: Column | None = None
    cluster: Column | None = None
    counts: Counts | Column | None = None
    """Numbers of positives and of negatives; without labels one column, the number of rows."""
    rates: tuple[Column, Column] | None = None
    sizes: Sizes | None = None
    cells: Cells | None = None
    below: Below | None = None
    missing: Missing = "raise"
    parts: Columns = None
    """The columns that distinguish the parts of a field; they are the last groups."""
    is_matched: bool = False
    """Whether the rows of an example were made from one row: they share the label and have scores."""

    @classmethod
    def read_words(cls, arguments: Mapping[str, Any]) -> InputColumns:
        """Return what the words of a call mean; None counts as not passed, except for the label."""
        return cls(
            **{word: value for word, value in arguments.items() if value is not None or word == "label"}
        )

    @property
    def points(self) -> Any:
        """The columns of published points; None of a table of examples or counts."""
        return self.rates if self.cells is None else self.cells
