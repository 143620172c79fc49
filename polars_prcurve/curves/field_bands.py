"""Bands of a field of several parts: each part adds a distance for each class, and one for its eta.

In a field recall and fpr are sums over parts, by prevalence eta_c and share s_c of each part,

    recall = sum s_c eta_c recall_c / eta        fpr = sum s_c (1 - eta_c) fpr_c / (1 - eta)

and eta = sum s_c eta_c. The rate of a part moves to an end of its interval, the others stay: so far the
metric moves, on a scale where it is unbounded. These distances are added in quadrature (Zou and Donner
2008). A prevalence of a part that is an estimate moves recall, fpr and eta at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from polars_prcurve.column_names import ETA_LIMITS, GROUP, PART_ETA, PART_SHARE, RESERVED, SCORE
from polars_prcurve.errors import PrcError
from polars_prcurve.exact_sums import sum_shares, to_whole, to_whole_shares
from polars_prcurve.float_bits import repeat_in_rows
from polars_prcurve.inputs.score_table import ScoreTable
from polars_prcurve.intervals.bands import (
    ESTIMATE,
    LIMIT_COLUMNS,
    BandOptions,
    add_ends,
    add_rate_limits,
    choose_ends,
    evaluate_metric,
    find_corners,
    measure_eta_distances,
    scale_bounds,
    to_unbounded,
)
from polars_prcurve.metrics.point_metric import PointMetric
from polars_prcurve.sweep.part_counts import PART_COUNTS, build_part_counts

_ROW = f"{RESERVED}field_row"
_RATES = {"recall": f"{RESERVED}part_recall", "fpr": f"{RESERVED}part_fpr"}
_SIZES = {"recall": PART_COUNTS[1], "fpr": PART_COUNTS[3]}
_MOVED = {rate: tuple(f"{RESERVED}{rate}_at_{end}" for end in (0, 1)) for rate in _RATES}
"""A rate of the field where that of one part is at an end of its interval."""
RATES_AT_ETAS = [
    tuple(f"{RESERVED}{name}_at_eta_{end}" for name in ("recall", "fpr", "eta")) for end in (0, 1)
]
"""Both rates and the prevalence of the field where the prevalence of one part is at an end."""
_CORNERS = f"{RESERVED}least_corner", f"{RESERVED}greatest_corner"


def check_field_bands(bands: BandOptions | None) -> None:
    """Raise unless bands of a field add distances."""
    refuse_bootstrap_of_field(given=bands is not None and bands.corrected)
    if bands is not None and bands.band != "mover":
        raise PrcError(
            f'within= adds distances of all parts in quadrature, as band="mover" does; got '
            f'band="{bands.band}"'
        )


def refuse_bootstrap_of_field(*, given: bool) -> None:
    """Raise if a bootstrap is asked of a field."""
    if given:
        raise PrcError(
            'method="bootstrap" draws examples, and not the parts of a field; with within= leave it out'
        )


def add_field_bands(
    frame: pl.LazyFrame, metrics: Sequence[PointMetric], bands: BandOptions, table: ScoreTable
) -> pl.LazyFrame:
    """Add `<metric>_low` and `<metric>_high` to rows of recall, fpr, eta and the metrics of a field."""
    assert table.parts is not None
    etas = ETA_LIMITS if table.parts.uncertain_eta else ()
    rows = frame.with_row_index(_ROW)
    parts = rows.join(build_part_counts(table, frame), on=[GROUP, SCORE], nulls_equal=True)
    parts = _add_moved_rates(_add_limits(parts, bands, table))
    if etas:
        parts = add_moved_etas(parts)
    sums = _sum_corners(etas or (PART_ETA,))
    for number, metric in enumerate(metrics):
        parts, distances = _add_distances(parts, metric, number, uncertain=bool(etas))
        sums += distances
    added = parts.group_by(_ROW).agg(sums)
    rows = rows.join(added, on=_ROW, how="left", maintain_order="left")
    rows = _divide_corner_rates(rows, len(etas) or 1)
    for number, metric in enumerate(metrics):
        rows = _add_corners(rows, metric, len(etas) or 1)
        rows = rows.with_columns(to_unbounded(pl.col(ESTIMATE), scale_bounds(metric)).alias(ESTIMATE))
        below, above = (pl.col(name).sqrt() for name in _name_distances(number))
        scaled = pl.col(ESTIMATE) - below, pl.col(ESTIMATE) + above
        ends = choose_ends(metric, scaled, map(pl.col, _CORNERS))
        rows = add_ends(rows, metric.name, ends)
    return rows


def _add_limits(parts: pl.LazyFrame, bands: BandOptions, table: ScoreTable) -> pl.LazyFrame:
    """Add both rates of each part, and the ends of their intervals; null without examples."""
    columns = {rate: (value, _SIZES[rate]) for rate, value in _RATES.items()}
    return add_rate_limits(add_part_rates(parts), columns, bands, table)


def add_part_rates(parts: pl.LazyFrame) -> pl.LazyFrame:
    """Add recall and fpr of each part to rows with PART_COUNTS; null without examples."""
    tp, n_pos, fp, n_neg = map(pl.col, PART_COUNTS)
    rates = zip(_RATES.values(), (tp / n_pos, fp / n_neg), strict=True)
    return parts.with_columns(rate.fill_nan(None).alias(name) for name, rate in rates)


def _add_moved_rates(parts: pl.LazyFrame) -> pl.LazyFrame:
    """Add recall and fpr of the field with one part at either end of its interval."""
    share, eta = pl.col(PART_SHARE), pl.col(PART_ETA)
    field_eta = repeat_in_rows(pl.col("eta"), share)
    weights = {"recall": share * eta / field_eta, "fpr": share * (1 - eta) / (1 - field_eta)}
    return parts.with_columns(
        # A part without examples of a class has no weight in its rate.
        (pl.col(rate) + (weight * (pl.col(end) - pl.col(_RATES[rate]))).fill_nan(0.0).fill_null(0.0))
        .clip(0.0, 1.0)
        .alias(moved)
        for rate, weight in weights.items()
        for end, moved in zip(LIMIT_COLUMNS[rate], _MOVED[rate], strict=True)
    )


def add_moved_etas(parts: pl.LazyFrame) -> pl.LazyFrame:
    """Add recall, fpr and eta of the field with the eta of one part at either end of its interval.

    The rows have those of the field and of `add_part_rates`; the new ones are RATES_AT_ETAS.
    """
    columns = []
    for end, (recall, fpr, eta) in zip(ETA_LIMITS, RATES_AT_ETAS, strict=True):
        step = pl.col(PART_SHARE) * (pl.col(end) - pl.col(PART_ETA))
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


def _add_distances(
    parts: pl.LazyFrame, metric: PointMetric, number: int, *, uncertain: bool
) -> tuple[pl.LazyFrame, list[pl.Expr]]:
    """Return the parts with a metric on the unbounded scale, and sums of squared distances."""
    bounds = scale_bounds(metric)
    values = {ESTIMATE: evaluate_metric(metric, "recall", "fpr", "eta")}
    for side, (t, f) in enumerate(find_corners(metric)):
        values[f"{RESERVED}side_{side}_t"] = evaluate_metric(metric, _MOVED["recall"][t], "fpr", "eta")
        values[f"{RESERVED}side_{side}_f"] = evaluate_metric(metric, "recall", _MOVED["fpr"][f], "eta")
    for end, at_eta in enumerate(RATES_AT_ETAS if uncertain else ()):
        values[f"{RESERVED}scaled_at_eta_{end}"] = evaluate_metric(metric, *at_eta)
    # Values are columns before they are scaled: an expression that is used twice is computed twice.
    parts = parts.with_columns(value.alias(name) for name, value in values.items())
    parts = parts.with_columns(to_unbounded(pl.col(name), bounds).alias(name) for name in values)
    estimate, *ends = map(pl.col, values)
    below, above = ([estimate - end for end in ends[i : i + 2]] for i in (0, 2))
    if uncertain:
        for distances, eta in zip(
            (below, above), measure_eta_distances(estimate, ends[4:]), strict=True
        ):
            distances.append(eta)
    names = _name_distances(number)
    squares = [
        sum(((distance * distance) for distance in distances), pl.lit(0.0)).alias(name)
        for name, distances in zip(names, (below, above), strict=True)
    ]
    return parts.with_columns(squares), [add_squares(pl.col(name)).alias(name) for name in names]


# Sums are of integers, so that the order of the parts changes no bit (see `exact_sums`).


def _add_shares(value: pl.Expr) -> pl.Expr:
    """Return the sum of values that sum to at most 1."""
    return sum_shares(to_whole_shares(value.fill_null(0.0)))


def add_squares(square: pl.Expr) -> pl.Expr:
    """Return the sum of squared distances, in which an infinite one is far beyond any other."""
    known = pl.when(square.is_finite()).then(square.clip(upper_bound=_MOST_SQUARE))
    whole = to_whole(known.otherwise(_INFINITE_SQUARE) * _SQUARE_SCALE)
    return whole.sum().cast(pl.Float64) * (1 / _SQUARE_SCALE)


_SQUARE_SCALE = 2.0**90
_MOST_SQUARE = 2.0**32
_INFINITE_SQUARE = 2.0**22
"""The exponential function of minus its root is 0."""


def _name_distances(number: int) -> tuple[str, str]:
    """Return the columns of the sums of squared distances of a metric, below and above."""
    return f"{RESERVED}below_{number}", f"{RESERVED}above_{number}"


def _name_corner(place: int, what: str, end: int) -> str:
    return f"{RESERVED}corner_{place}_{what}_{end}"


def _sum_corners(etas: Sequence[str]) -> list[pl.Expr]:
    """Return sums over parts of eta, and of what is flagged with all at one end of an interval."""
    share, sums = pl.col(PART_SHARE), []
    for place, eta in enumerate(map(pl.col, etas)):
        sums.append(_add_shares(share * eta).alias(_name_corner(place, "eta", 0)))
        for rate, weight in (("recall", share * eta), ("fpr", share * (1 - eta))):
            sums += [
                _add_shares(weight * pl.col(name)).alias(_name_corner(place, rate, end))
                for end, name in enumerate(LIMIT_COLUMNS[rate])
            ]
    return sums


def _divide_corner_rates(rows: pl.LazyFrame, n_etas: int) -> pl.LazyFrame:
    """Divide the sums of what is flagged by the prevalence, which gives rates of the field."""
    columns = []
    for place in range(n_etas):
        eta = pl.col(_name_corner(place, "eta", 0))
        for rate, whole in (("recall", eta), ("fpr", 1 - eta)):
            names = [_name_corner(place, rate, end) for end in (0, 1)]
            columns += [(pl.col(name) / whole).clip(0.0, 1.0).alias(name) for name in names]
    return rows.with_columns(columns)


def _add_corners(rows: pl.LazyFrame, metric: PointMetric, n_etas: int) -> pl.LazyFrame:
    """Add a metric as ESTIMATE, and its value with all parts at the same ends of their intervals."""
    corners = {ESTIMATE: evaluate_metric(metric, "recall", "fpr", "eta")}
    choices = zip(_CORNERS, (pl.min_horizontal, pl.max_horizontal), find_corners(metric), strict=True)
    for name, choose, (t, f) in choices:
        corners[name] = choose(
            evaluate_metric(
                metric,
                _name_corner(place, "recall", t),
                _name_corner(place, "fpr", f),
                _name_corner(place, "eta", 0),
            )
            for place in range(n_etas)
        )
    return rows.with_columns(value.alias(name) for name, value in corners.items())
