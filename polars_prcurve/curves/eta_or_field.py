"""What `eta=` makes of a table: the grid of prevalences, or a field of several parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import take_frame
from polars_prcurve.confidence.bands import BandOptions
from polars_prcurve.curves.bands_in_field import check_field_bands
from polars_prcurve.errors import PrcError
from polars_prcurve.inputs.score_table import InputTable, ScoreTable
from polars_prcurve.prevalence.eta_table import EtaTable, read_eta
from polars_prcurve.prevalence.eta_values import Eta
from polars_prcurve.prevalence.field_parts import build_field
from polars_prcurve.prevalence.uncertain_eta import UNCERTAIN_ETA_COLUMNS


def read_eta_or_field(
    eta: Eta,
    table: InputTable,
    makes: Iterable[str],
    *,
    bands: BandOptions | None = None,
    confidence: float | None = None,
) -> tuple[InputTable, EtaTable]:
    """Return the table to count, and its prevalences.

    Of a table that has parts these are the table of the fields and their own prevalences: the rows of a
    part are weighted, so that they have its prevalence and its share of the field.
    """
    if not (isinstance(table, ScoreTable) and table.within):
        return table, read_eta(eta, table, makes, confidence=confidence)
    field = read_field(eta, table, bands=bands, confidence=confidence)
    return field, build_field_grid(field)


def build_field_grid(field: ScoreTable) -> EtaTable:
    """Return the own prevalences of fields, with their intervals if those of parts are estimates.

    Bands carry the error of each part, so the grid itself counts as exact.
    """
    assert field.parts is not None
    own = field.parts.etas.with_columns(pl.lit(None, dtype=pl.Float64).alias("eta"))
    carried = UNCERTAIN_ETA_COLUMNS if field.parts.uncertain_eta else ()
    return EtaTable(own, field.by, carried, etas_per_group=1, own_eta=c.FIELD_ETA)


def require_parts_frame(eta: object, within: Sequence[str]) -> pl.DataFrame | pl.LazyFrame:
    """Return the eta of a field; raise unless it is a frame, which has a row for each part."""
    eta = take_frame(eta)
    if not isinstance(eta, pl.DataFrame | pl.LazyFrame):
        names = ", ".join(map(repr, within))
        raise PrcError(
            f"a field needs a frame with a row per part, and the columns {names}, 'eta', 'share'"
        )
    return eta


def read_field(
    eta: Eta, table: ScoreTable, *, bands: BandOptions | None, confidence: float | None
) -> ScoreTable:
    """Return the table of the fields whose parts are the groups of a table, told by the frame `eta`."""
    frame = require_parts_frame(eta, table.within)
    if table.has_squares:
        raise PrcError(
            "a field needs numbers of examples, and counts= holds sums of weights; leave out the squares"
        )
    check_field_bands(bands)
    field = build_field(table, frame, confidence=confidence)
    taken = [name for name in UNCERTAIN_ETA_COLUMNS if name in field.by]
    if field.parts is not None and field.parts.uncertain_eta and taken:
        raise PrcError(
            f"by= holds the column {taken[0]!r}, and the result has a column of that name; rename it"
        )
    return field
