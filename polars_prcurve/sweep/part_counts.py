"""Counts of each part of a field at the thresholds of the field.

A field has one threshold for all its parts, and a part need not have an example with that score. So the
thresholds of the field join the rows of every part as marks.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.input_tables import ScoreTable
from polars_prcurve.sweep.sweep_table import add_counts, build_running_sums

_FIELD = f"{c.RESERVED}field"
PART = f"{c.RESERVED}part"
"""The number of a part, over all groups."""
PART_COUNTS = tuple(f"{c.RESERVED}part_{name}" for name in ("tp", "n_pos", "fp", "n_neg"))
"""The positives at or above a threshold, all positives, and the same of the negatives, as floats."""


def build_part_counts(table: ScoreTable, points: pl.LazyFrame) -> pl.LazyFrame:
    """Return a row per threshold of a field and part with a share: GROUP, SCORE, PART and PART_COUNTS.

    `points` are thresholds of the fields, with the `by` columns, GROUP and SCORE; a null score is above
    all.
    """
    parts = table.parts
    assert parts is not None
    points = points.select(*table.by, c.GROUP, c.SCORE).unique([c.GROUP, c.SCORE])
    fields = points.rename({c.GROUP: _FIELD})

    def list_marks(groups: pl.LazyFrame) -> pl.LazyFrame:
        part = groups.select(*table.by, c.GROUP)
        thresholds = fields.filter(pl.col(c.SCORE).is_not_null())
        joined = join_groups(part, thresholds, table.by)
        return joined.select(c.GROUP, c.SCORE)

    rows, groups, _ = build_running_sums(parts.table, None, asked=list_marks, checked=False)
    swept = add_counts(parts.table, rows.join(groups, on=c.GROUP))
    none = groups.select(c.GROUP, c.N_POS, c.N_NEG, pl.lit(0).alias("tp"), pl.lit(0).alias("fp"))
    none = none.with_columns(pl.lit(None, dtype=table.score_dtype).alias(c.SCORE))
    counted = pl.concat(
        [
            frame.select(
                pl.col(c.GROUP).alias(PART),
                c.SCORE,
                *(
                    pl.col(given).cast(pl.Float64).fill_null(0.0).alias(name)
                    for given, name in zip(("tp", c.N_POS, "fp", c.N_NEG), PART_COUNTS, strict=True)
                ),
            )
            for frame in (swept, none)
        ]
    )
    known = join_groups(groups.select(*parts.table.by, c.GROUP), parts.frame, parts.table.by)
    known = join_groups(known, fields.select(*table.by, _FIELD).unique(_FIELD), table.by)
    known = known.filter(pl.col(c.PART_SHARE) > 0)
    of_parts = known.select(
        pl.col(c.GROUP).alias(PART),
        pl.col(_FIELD).alias(c.GROUP),
        c.PART_ETA,
        c.PART_SHARE,
        *c.ETA_LIMITS,
    )
    return counted.join(of_parts, on=PART)
