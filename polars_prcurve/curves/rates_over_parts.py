"""Fields of several parts: what `eta=` makes of a table with parts, and bands of such fields.

In a field recall and fpr are sums over parts, by prevalence eta_c and share s_c of each part,

    recall = sum s_c eta_c recall_c / eta        fpr = sum s_c (1 - eta_c) fpr_c / (1 - eta)

and eta = sum s_c eta_c. Let w_c be the weight of the rate r_c of part c, which has n_c examples of the
class. Then the variance of the rate R of the field is V = sum w_c**2 r_c (1 - r_c) / n_c, and the class
counts as R (1 - R) / V examples: the interval of R is that of as many. A part without a false positive
adds nothing to V, though, so V is at least what it would be if all parts had the rate R,
R (1 - R) sum w_c**2 / n_c. And no end is nearer to R than it is by one part alone at that end of its own
interval.

An interval for each part, with distances added in quadrature, is narrower on one side and wider on the
other: each leans towards one half, and what they lean adds up. With one false positive in each of 20
parts such intervals held the truth in 88 % of samples.

A prevalence of a part that is an estimate moves recall, fpr and eta at once. So far the metric moves, on
a scale where it is unbounded, and these distances are added in quadrature (Zou and Donner 2008).

Sources: Wilson 1927; Kish 1965 for effective sizes; Zou and Donner 2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import take_frame
from polars_prcurve.column_names import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.confidence import point_intervals
from polars_prcurve.errors import PrcError
from polars_prcurve.exact_arithmetic import repeat_in_rows, sum_shares, to_whole, to_whole_shares
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.prevalence.eta_argument import Eta, EtaTable
from polars_prcurve.prevalence.fields import build_field
from polars_prcurve.sweep.sweep_table import PART_COUNTS, build_part_counts

_ROW = f"{c.RESERVED}field_row"
_RATES = {"recall": f"{c.RESERVED}part_recall", "fpr": f"{c.RESERVED}part_fpr"}
_SIZES = {"recall": PART_COUNTS[1], "fpr": PART_COUNTS[3]}
_FIELD_SIZES = {"recall": c.N_POS_EFFECTIVE, "fpr": c.N_NEG_EFFECTIVE}
_SPREAD, _EVEN_SPREAD = f"{c.RESERVED}spread", f"{c.RESERVED}even_spread"
_FARTHEST = f"{c.RESERVED}farthest"
RATES_AT_ETAS = [
    (f"{c.RESERVED}recall_at_eta_{i}", f"{c.RESERVED}fpr_at_eta_{i}", f"{c.RESERVED}eta_at_eta_{i}")
    for i in (0, 1)
]
"""Both rates and the prevalence of the field where the prevalence of one part is at an end."""


def build_field_grid(field: ScoreTable) -> EtaTable:
    """Return the own prevalences of fields, with their intervals if those of parts are estimates."""
    # Bands carry the error of each part, so the grid itself counts as exact.
    assert field.parts is not None
    own = field.parts.etas.with_columns(pl.lit(None, dtype=pl.Float64).alias("eta"))
    carried = UNCERTAIN_ETA_COLUMNS if field.parts.uncertain_eta else ()
    return EtaTable(own, field.by, carried, etas_per_group=1, own_eta=c.FIELD_ETA)


def read_field(eta: Eta, table: ScoreTable, confidence: float | None) -> ScoreTable:
    """Return the table of the fields whose parts are the groups of a table, told by the frame `eta`."""
    if not isinstance(frame := take_frame(eta), pl.DataFrame | pl.LazyFrame):
        names = ", ".join(map(repr, table.within))
        raise PrcError(
            f"a field needs a frame with a row per part, and the columns {names}, 'eta', 'share'"
        )
    field = build_field(table, frame, confidence=confidence)
    taken = [name for name in UNCERTAIN_ETA_COLUMNS if name in field.by]
    if field.parts is not None and field.parts.uncertain_eta and taken:
        raise PrcError(
            f"by= holds the column {taken[0]!r}, and the result has a column of that name; rename it"
        )
    return field


def add_field_bands(
    frame: pl.LazyFrame,
    metrics: Sequence[PointMetric],
    options: point_intervals.BandOptions,
    table: ScoreTable,
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows of recall, fpr, eta and the metrics of a field."""
    assert table.parts is not None
    options = options.mark_uncertain_eta() if table.parts.uncertain_eta else options
    rows = frame.with_row_index(_ROW)
    parts = rows.join(build_part_counts(table, frame), on=[c.GROUP, c.SCORE], nulls_equal=True)
    columns = {rate: (value, _SIZES[rate]) for rate, value in _RATES.items()}
    parts = point_intervals.add_rate_limits(add_part_rates(parts), columns, options, table)
    sums = _measure_spread()
    # The sums of squared distances of each metric, below and above, over the prevalences of the parts.
    below, above = f"{c.RESERVED}eta_below", f"{c.RESERVED}eta_above"
    eta_squares = [(f"{below}_{i}", f"{above}_{i}") for i in range(len(metrics))]
    if options.uncertain_eta:
        parts = add_moved_etas(parts)
        at_ends = {end: (pl.col(c.PART_SHARE) * pl.col(end)).fill_null(0.0) for end in c.ETA_LIMITS}
        sums += [sum_shares(to_whole_shares(of)).alias(end) for end, of in at_ends.items()]
        for metric, squares in zip(metrics, eta_squares, strict=True):
            # The squares of how far the prevalence of a part moves the metric down and up. Values are
            # columns before they are scaled: an expression that is used twice is computed twice.
            rates = {point_intervals.ESTIMATE: ("recall", "fpr", "eta")}
            rates |= {f"{c.RESERVED}scaled_at_eta_{end}": RATES_AT_ETAS[end] for end in (0, 1)}
            values = {name: point_intervals.evaluate_metric(metric, *of) for name, of in rates.items()}
            scale = partial(point_intervals.to_unbounded, bounds=point_intervals.scale_bounds(metric))
            scaled = {name: scale(pl.col(name)) for name in values}
            parts = parts.with_columns(**values).with_columns(**scaled)
            estimate, *ends = map(pl.col, values)
            sides = zip(squares, point_intervals.measure_distances(estimate, ends), strict=True)
            parts = parts.with_columns(**{name: distance * distance for name, distance in sides})
            sums += [add_squares(pl.col(name)).alias(name) for name in squares]
    rows = rows.drop(*_FIELD_SIZES.values(), strict=False)
    rows = rows.join(parts.group_by(_ROW).agg(sums), on=_ROW, how="left", maintain_order="left")
    rows = _add_rate_limits_of_field(rows, options, table)
    for metric, squares in zip(metrics, eta_squares, strict=True):
        rows = point_intervals.add_band(
            rows, metric, options, eta_squares=squares if options.uncertain_eta else None
        )
    return rows


def _measure_spread() -> list[pl.Expr]:
    """Return the variance of both rates of a field, also if all parts had them, and FARTHEST."""
    share, eta = pl.col(c.PART_SHARE), pl.col(c.PART_ETA)
    field_eta = repeat_in_rows(pl.col("eta"), share)
    weights = {"recall": share * eta / field_eta, "fpr": share * (1 - eta) / (1 - field_eta)}
    measured = []
    for rate, weight in weights.items():
        own, size = pl.col(_RATES[rate]), pl.col(_SIZES[rate])
        low, high = point_intervals.LIMIT_COLUMNS[rate]
        # A part without examples of a class has no weight in its rate.
        even = pl.when(size > 0).then((weight * weight / size).fill_nan(0.0)).otherwise(0.0)
        measured += [
            add_squares((even * own * (1 - own)).fill_null(0.0)).alias(_SPREAD + rate),
            add_squares(even).alias(_EVEN_SPREAD + rate),
            (weight * (own - pl.col(low))).max().alias(_FARTHEST + low),
            (weight * (pl.col(high) - own)).max().alias(_FARTHEST + high),
        ]
    return measured


def _add_rate_limits_of_field(
    rows: pl.LazyFrame, options: point_intervals.BandOptions, table: ScoreTable
) -> pl.LazyFrame:
    """Add the number of examples that each class counts as, and LIMIT_COLUMNS of the field."""
    sizes = {}
    for rate, size in _FIELD_SIZES.items():
        value, even = pl.col(rate), pl.col(_EVEN_SPREAD + rate)
        of_one = value * (1 - value)
        # The variance of a rate r is r (1 - r) / m for m examples; no more than if all parts had it.
        effect = pl.max_horizontal(pl.col(_SPREAD + rate) / of_one, even)
        sizes[size] = 1 / pl.when(of_one > 0).then(effect).otherwise(even)
    rows = rows.with_columns(**sizes)
    columns = {rate: (rate, size) for rate, size in _FIELD_SIZES.items()}
    rows = point_intervals.add_rate_limits(rows, columns, options, table)
    ends = {}
    for rate, (low, high) in point_intervals.LIMIT_COLUMNS.items():
        least, most = pl.col(rate) - pl.col(_FARTHEST + low), pl.col(rate) + pl.col(_FARTHEST + high)
        ends[low] = pl.min_horizontal(low, least).clip(lower_bound=0.0)
        ends[high] = pl.max_horizontal(high, most).clip(upper_bound=1.0)
    return rows.with_columns(**ends)


def add_part_rates(parts: pl.LazyFrame) -> pl.LazyFrame:
    """Add recall and fpr of each part to rows with PART_COUNTS; null without examples."""
    tp, n_pos, fp, n_neg = map(pl.col, PART_COUNTS)
    rates = zip(_RATES.values(), (tp / n_pos, fp / n_neg), strict=True)
    return parts.with_columns(rate.fill_nan(None).alias(name) for name, rate in rates)


def add_moved_etas(parts: pl.LazyFrame) -> pl.LazyFrame:
    """Add RATES_AT_ETAS to rows of fields and parts: with one eta at an end of its interval."""
    columns = []
    for end, (recall, fpr, eta) in zip(c.ETA_LIMITS, RATES_AT_ETAS, strict=True):
        step = pl.col(c.PART_SHARE) * (pl.col(end) - pl.col(c.PART_ETA))
        # With s more positives, all in part i: eta' = eta + s, eta' recall' = eta recall + s recall_i.
        moved = pl.col("eta") + step
        flagged_pos = pl.col("eta") * pl.col("recall") + step * pl.col(_RATES["recall"])
        flagged_neg = (1 - pl.col("eta")) * pl.col("fpr") - step * pl.col(_RATES["fpr"])
        new = {recall: flagged_pos / moved, fpr: flagged_neg / (1 - moved), eta: moved}
        old = {recall: "recall", fpr: "fpr", eta: "eta"}
        columns += [
            pl.when(step == 0).then(old[name]).otherwise(value.clip(0.0, 1.0)).alias(name)
            for name, value in new.items()
        ]
    return parts.with_columns(columns)


def add_squares(square: pl.Expr) -> pl.Expr:
    """Return the sum of squared distances, in which an infinite one is far beyond any other."""
    # Integers are added, so that the order of the parts changes no bit (see `exact_arithmetic`).
    known = pl.when(square.is_finite()).then(square.clip(upper_bound=_MOST_SQUARE))
    whole = to_whole(known.otherwise(_INFINITE_SQUARE) * _SQUARE_SCALE)
    return whole.sum().cast(pl.Float64) * (1 / _SQUARE_SCALE)


# The exponential function of minus the root of an infinite square is 0.
_SQUARE_SCALE, _MOST_SQUARE, _INFINITE_SQUARE = 2.0**90, 2.0**32, 2.0**22
