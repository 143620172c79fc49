"""What a report tells of a field of several parts: which parts, and what such a page leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from polars_prcurve.number_words import format_count, say_eta, say_share
from polars_prcurve.prevalence.uncertain_eta import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.report.decision_box import name_value
from polars_prcurve.report.html_parts import Markup, escape, wrap_scrolling, write_caption
from polars_prcurve.report.report_source import ReportSource
from polars_prcurve.report.request import ReportRequest

FIELD_METHODS_TEXT = """\
The field has several parts. Its recall is the sum of those of the parts, each times the share of the
field's positives that the part has, and so is its fpr of negatives. Counts of the field are weighted so.
Intervals add one distance for each part and class, and one for each share of positives that is an
estimate (Zou and Donner 2008). Errors of areas are those of samples of the parts, as of a stratified
sample (Cochran 1977)."""
FIELD_PROMISE_TEXT = """\
A promised threshold was found by tests that add the limits of all parts in quadrature; those of
precision in a run, from a start that no label chose. That the true value meets the target in at least
that share of test sets was seen in simulations; it is not proven."""
_MOST_PARTS = 60


def say_field(source: ReportSource, request: ReportRequest) -> str:
    """Return the start of a sentence on a field, such as `in the field of 2 parts (site), `, or ``."""
    if not source.within or not isinstance(request.eta.given, pl.DataFrame):
        return ""
    parts = request.eta.given.filter(pl.col("share") > 0).select(source.within).unique().height
    what = f"{parts} part{'' if parts == 1 else 's'} ({', '.join(source.within)})"
    return f"in the field of {what}, "


def write_parts_of_field(source: ReportSource, request: ReportRequest) -> Iterator[Markup]:
    """Yield a table of the parts: share, share of positives, and the examples that the test has."""
    given = request.eta.given
    if not source.within or not isinstance(given, pl.DataFrame):
        return
    rows = _drop_equal_models(source, _join_parts(source, given))
    keys = [name for name in rows.columns if name not in (*_VALUES, *UNCERTAIN_ETA_COLUMNS)]
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in keys)
    for name in ("Share of the field", "Positive", "Positives tested", "Negatives tested"):
        heads += f'<th scope="col" class="number">{name}</th>'
    body = "".join(_write_row(row, keys) for row in rows.head(_MOST_PARTS).iter_rows(named=True))
    caption = write_caption("The parts of the field, and the examples of each that were tested")
    table = f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    yield Markup(f"<h3>The field</h3>{wrap_scrolling(table, 'The parts of the field')}")
    if rows.height > _MOST_PARTS:
        more = rows.height - _MOST_PARTS
        yield Markup(f'<p class="note">{more} more parts are in the eta frame.</p>')


_VALUES = ("share", "eta", "n_pos", "n_neg")


def _join_parts(source: ReportSource, given: pl.DataFrame) -> pl.DataFrame:
    """Return the parts in order, with their shares of the field and the examples of each group."""
    by = [name for name in source.by_columns if name in given.columns]
    keys = [*by, *source.within]
    columns = [name for name in UNCERTAIN_ETA_COLUMNS[:2] if name in given.columns]
    share = pl.col("share").cast(pl.Float64)
    whole = share.sum().over(by) if by else share.sum()
    parts = given.select(*keys, (share / whole).alias("share"), pl.col("eta").cast(pl.Float64), *columns)
    examples = source.count_examples([*source.group_columns, *source.within])
    joined = examples.join(parts, on=keys, how="left", nulls_equal=True, maintain_order="left")
    own = pl.col("n_pos") / (pl.col("n_pos") + pl.col("n_neg"))
    return joined.with_columns(pl.col("eta").fill_null(own)).sort(
        *source.group_columns, *source.within, maintain_order=True
    )


def _drop_equal_models(source: ReportSource, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the parts once if all models were tested on as many examples of each."""
    if source.model is None:
        return rows
    once = rows.drop(source.model).unique(maintain_order=True)
    return once if once.height * rows[source.model].n_unique() == rows.height else rows


def _write_row(row: dict[str, Any], keys: list[str]) -> str:
    """Return one part as a row of a table."""
    low, high = (row.get(name) for name in UNCERTAIN_ETA_COLUMNS[:2])
    span = (
        ""
        if low is None or high is None
        else f' <span class="ci">({say_eta(low)} to {say_eta(high)})</span>'
    )
    names = "".join(f'<th scope="row">{escape(name_value(row[key]))}</th>' for key in keys)
    numbers = (
        escape(say_share(row["share"])),
        f"{escape(say_eta(row['eta']))}{span}",
        escape(format_count(row["n_pos"])),
        escape(format_count(row["n_neg"])),
    )
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return f"<tr>{names}{cells}</tr>"
