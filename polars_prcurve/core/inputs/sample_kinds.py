"""Kinds of samples: how the examples of a table were drawn, declared in one place.

A table has its kind, `table.sample`. All rooms read a trait of it, such as `joins_rows`, and none reads
which kind it is. What a kind computes stands elsewhere: its sums and sizes in a `Design` of
`sweep.sampling_designs`, and what its units add to the error of an area in `uncertainty.influence`.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations_with_replacement
from typing import Literal, NamedTuple, TypeAlias

from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.metrics.segment_column_names import CELLS

ChanceTest: TypeAlias = Literal["ranks", "area"] | None
"""How scores are tested against chance: by their ranks, by the error of ROC AUC, or not at all."""


def name_moment(cell: str, other_cell: str) -> str:
    """Return the name of the column with the moment of two cells; see `cohort_intervals`."""
    first_cell, second_cell = sorted((cell, other_cell), key=CELLS.index)
    return f"{RESERVED}moment_{first_cell}_{second_cell}"


def name_unit(cell: str) -> str:
    """Return the name of the column with what a row of a cell weighs, even if the cell has none."""
    return f"{RESERVED}unit_{cell}"


MOMENTS = tuple(
    name_moment(cell, other_cell) for cell, other_cell in combinations_with_replacement(CELLS, 2)
)
"""Of units that may be in several cells, and of rows whose cells correlate."""
UNITS = tuple(map(name_unit, CELLS))  # the error of a cell in which nothing was found
OWN_MOMENTS = tuple(name_moment(cell, cell) for cell in CELLS)
"""Of units that are in one cell each, so that those of two different cells are 0."""


class SampleKind(NamedTuple):
    """What other rooms read of a kind of sample; the defaults are those of independent examples."""

    name: str  # by which developers call it
    word: str = ""  # the word about the table that requests it
    column: str | None = None  # the column of a row with its stratum or unit
    is_weighted: bool = False  # whether squares of weights are known, which give errors
    joins_rows: bool = False
    """Whether rows of equal `column` are one unit, and only units are independent. Then influences add
    up by unit, and either class has so few units that their number chooses Student's quantile."""
    correlates_rates: bool = False
    """Whether the errors of recall and fpr go together: rows have EffectiveSize.RATE_CORRELATION."""
    correlates_eta: bool = False
    """Whether the error of an area and that of a counted prevalence go together, by their influences."""
    has_rate_errors: bool = True  # whether errors of rates at a threshold are known from its sizes
    has_alert_sizes: bool = False  # whether alerts count as fewer examples, which guarantees read
    knows_weights: bool = False
    """Whether it is known what examples weigh that the sample lacks, so that heavy ones are no doubt."""
    has_label_counts: bool = False
    """Whether rows have `StratumLabels`, from which doubts of a point are read, and not from cells."""
    shares_errors: bool = True
    """Whether models share errors at given thresholds that are large enough to cancel in differences."""
    moments: tuple[str, ...] = ()
    """The moments of cells that rows have, and UNITS, because examples do not count alike."""
    chance_test: ChanceTest = "ranks"

    @property
    def unit_columns(self) -> list[str]:
        """The column of the units whose rows are joined, if any are."""
        return [self.column] if self.column is not None and self.joins_rows else []


INDEPENDENT = SampleKind(name="independent")
WEIGHTED = SampleKind(
    name="weighted",
    word="weight",
    is_weighted=True,
    has_alert_sizes=True,
    moments=OWN_MOMENTS,
    chance_test="area",
)
STRATIFIED = SampleKind(
    name="stratified",
    word="stratum",
    column=Row.STRATUM,
    is_weighted=True,
    correlates_rates=True,
    correlates_eta=True,
    has_alert_sizes=True,
    knows_weights=True,
    has_label_counts=True,
    shares_errors=False,  # strata take away the larger part
    moments=(*MOMENTS, *UNITS),
    chance_test="area",
)
CLUSTERED = SampleKind(
    name="clustered",
    word="cluster",
    column=Row.CLUSTER,
    joins_rows=True,
    correlates_rates=True,
    has_alert_sizes=True,
    moments=MOMENTS,
    chance_test="area",
)
WEIGHTED_CLUSTERS = SampleKind(
    name="weighted clusters",
    word="cluster",
    column=Row.CLUSTER,
    is_weighted=True,
    joins_rows=True,
    has_rate_errors=False,
    has_alert_sizes=True,
    chance_test="area",
)
IN_PARTS = SampleKind(name="in parts", has_rate_errors=False, chance_test=None)
"""Rows of a field of several parts: weighted so that each part has its share."""

SAMPLE_KINDS = (CLUSTERED, WEIGHTED_CLUSTERS, STRATIFIED, WEIGHTED, INDEPENDENT, IN_PARTS)
"""All kinds. Of those that a table could be, it is the first: one with a column before one without."""
COLUMN_OF_WORD = {kind.word: kind.column for kind in SAMPLE_KINDS if kind.column is not None}
"""The column of a row with its stratum or unit, by the word about the table that requests it."""


def find_sample_kind(column_names: Collection[str], *, is_weighted: bool) -> SampleKind:
    """Return the kind of a table with these columns, which is no field of several parts."""
    return next(
        kind
        for kind in SAMPLE_KINDS
        if (kind.column is None or kind.column in column_names) and kind.is_weighted == is_weighted
    )
