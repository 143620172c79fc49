"""How certain rates are where rows were drawn by strata, such as ranges of the score.

From a stratum of N rows n were drawn at random, and each of them stands for w = N / n. Let x of them be
in a cell: tp, fp, fn or tn at some threshold. The rows behind all strata are a sample, too, of where the
model runs. So the variance of the total of a cell, and the covariance of two of them, are

    V(a) = sum of w x(a) + (w - 1) (w x(a) - w x(a) (x(a) - 1) / (n - 1))
    C(a, b) = -(sum of w (w - 1) x(a) x(b) / (n - 1))

over strata (Neyman 1938): within a stratum w squared n / (n - 1) times a sum of squared deviations, less
what is known of its N rows; between strata as N rows that were drawn. A stratum of which one row was
drawn does not tell how rows differ; it counts as if the row had been drawn alone, with the weight w.

What was not found may weigh more than what was. A stratum of 10 000 rows of which 100 were drawn, all of
them negative, may hold 100 positives or more. So a positive of a cell weighs as much as it would if one
row more of either class had been found in each stratum, on either side of the threshold: x becomes
(x + 1) m / (m + 2), of m rows on that side, and the unit of a cell is

    u(a) = V(a) / (sum of w x(a))    of these x

With it, V(a) is u(a) times the total of the cell, and a class counts as

    P / ((1 - r) u(tp) + r u(fn) - 2 C(tp, fn) / P)

examples for its rate r. Without a row on one side, the unit there is the weight of an unseen row. Where
all strata are weighed alike and w is 1, all units are 1, and nothing changes.

If no stratum holds both classes, and yet some negatives score higher than some positives, rows were
drawn by their labels. Then a stratum is not thought to hold the other class: all x stay as they are.

Sources: Neyman 1938 (two phases), Cochran 1977; Fay and Feuer 1997 (a sum of weights with one more).
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from polars_prcurve.core.confidence.cohort_intervals import name_moment, name_unit
from polars_prcurve.core.confidence.interval_columns import EffectiveSize, EtaError
from polars_prcurve.core.ground.exact_arithmetic import (
    from_whole,
    round_up_to_power_of_two,
    to_whole_shares,
)
from polars_prcurve.core.ground.group_keys import aggregate_by, join_groups
from polars_prcurve.core.ground.internal_names import RESERVED
from polars_prcurve.core.inputs.row_columns import Group, Row
from polars_prcurve.core.inputs.score_and_rate_tables import ScoreTable
from polars_prcurve.core.metrics.segment_columns import CELLS, Unseen
from polars_prcurve.core.sweep.grouped_rows import SortedRows
from polars_prcurve.core.sweep.sweep_columns import ClusterSize, StratumLabels

_SIDES = (("tp", "fp"), ("fn", "tn"))
_CLASSES = {"pos": ("tp", "fn"), "neg": ("fp", "tn")}
_PAIRS = [(a, b) for i, a in enumerate(CELLS) for b in CELLS[i + 1 :]]


def _name(kind: str) -> str:
    return f"{RESERVED}strata_{kind}"


_TOTALS, _VARIANCES = ({cell: _name(f"{kind}_{cell}") for cell in CELLS} for kind in ("sum", "square"))
_COVARIANCES = {pair: name_moment(*pair) for pair in _PAIRS}
_SCALE = _name("scale")
_N_POS, _N_NEG, _N = _name("n_pos"), _name("n_neg"), _name("n")
_IS_POS, _BY_CLASS, _AT_TOP = _name("is_pos"), _name("by_class"), _name("at_top")
_HIGHEST, _LOWEST = _name("highest"), _name("lowest")  # score of a negative, and of a positive
_ALL = {"pos": _name("pos"), "neg": _name("neg")}  # the total weight of a class
_SUMS = (*_TOTALS.values(), *_VARIANCES.values(), *_COVARIANCES.values())
STRATA_SUMS = (*_SUMS, _SCALE, StratumLabels.N_ABOVE)
"""What `add_strata_sums` adds to rows, and `measure_strata` reads."""
_UNSEEN = {cell: _name(f"unseen_{cell}") for cell in CELLS}
"""What an unseen row of a cell weighs where its side of the threshold is empty."""


def _describe_state(above: Mapping[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Return what a stratum adds to each of the sums, from the numbers of its rows above a threshold."""
    w, n = pl.col(Row.STRATUM_WEIGHT), pl.col(_N).cast(pl.Float64)
    found = {"tp": above["pos"], "fp": above["neg"]}
    found |= {"fn": pl.col(_N_POS) - above["pos"], "tn": pl.col(_N_NEG) - above["neg"]}
    centred = pl.when(n > 1).then(w * (w - 1) / (n - 1)).otherwise(0.0)
    state: dict[str, pl.Expr] = {}
    for side in _SIDES:
        m = found[side[0]] + found[side[1]]
        for cell in side:
            raised = (found[cell] + 1) * (m / (m + 2))
            x = pl.when(_BY_CLASS).then(found[cell]).otherwise(raised)
            state[_TOTALS[cell]] = w * x
            state[_VARIANCES[cell]] = w * w * x - centred * (x * (x - 1)).clip(lower_bound=0.0)
    for a, b in _PAIRS:
        state[_COVARIANCES[a, b]] = -centred * found[a] * found[b]
    return state


def _to_whole(state: Mapping[str, pl.Expr]) -> list[pl.Expr]:
    """Return whole shares of _SCALE, which no sum over strata exceeds: they add up in any order."""
    return [to_whole_shares(value / pl.col(_SCALE)).alias(name) for name, value in state.items()]


def add_strata_sums(ordered: SortedRows) -> SortedRows:
    """Add STRATA_SUMS to sorted rows: sums over the strata of a group, in their states at this row."""
    stratum = (Group.NUMBER, Row.STRATUM)
    frame = ordered.frame.with_columns(
        ordered.group.alias(Group.NUMBER),
        ordered.threshold.alias(_name("score")),
        (ordered.amounts[Row.POS] > 0).cast(pl.Int64).alias(_IS_POS),
        ((ordered.amounts[Row.POS] > 0) | (ordered.amounts[Row.NEG] > 0)).cast(pl.Int64).alias(_N),
    )
    is_pos, one, score = pl.col(_IS_POS), pl.col(_N), pl.col(_name("score"))
    heaviest = pl.col(Row.STRATUM_WEIGHT).max()
    scale = round_up_to_power_of_two(one.sum().cast(pl.Float64) * heaviest * heaviest)
    frame = frame.with_columns(
        one.cum_sum().over(Group.NUMBER).alias(StratumLabels.N_ABOVE),
        one.cum_sum().over(stratum).alias(_name("so_far")),
        is_pos.cum_sum().over(stratum).alias(_name("pos_so_far")),
        one.sum().over(stratum).alias(_N),
        is_pos.sum().over(stratum).alias(_N_POS),
        scale.over(Group.NUMBER).alias(_SCALE),
        pl.when((one > 0) & (is_pos == 0)).then(score).alias(_HIGHEST),
        pl.when(is_pos > 0).then(score).alias(_LOWEST),
    )
    frame = frame.with_columns((pl.col(_N) - pl.col(_N_POS)).alias(_N_NEG))
    frame = frame.with_columns(_are_by_class().over(Group.NUMBER).alias(_BY_CLASS))
    so_far, pos = pl.col(_name("so_far")), pl.col(_name("pos_so_far"))
    is_first, zero = so_far == 1, pl.lit(0.0)
    start, base = _describe_state({"pos": zero, "neg": zero}), {}
    for name, value in zip(start, _to_whole(start), strict=True):
        base[name] = pl.when(is_first).then(value).sum().over(Group.NUMBER)
        start[name] = value
    frame = frame.with_columns(*_to_whole(_describe_state({"pos": pos, "neg": so_far - pos})))
    sums = {}
    for name in _SUMS:
        before = pl.when(is_first).then(start[name]).otherwise(pl.col(name).shift(1).over(stratum))
        sums[name] = base[name] + (pl.col(name) - before).fill_null(0).cum_sum().over(Group.NUMBER)
    return ordered._replace(frame=frame.with_columns(**sums))


def measure_strata(running: pl.LazyFrame) -> pl.LazyFrame:
    """Replace STRATA_SUMS, except N_ABOVE, by the units of cells and the covariances of their totals."""
    columns = {name: from_whole(pl.col(name)) * pl.col(_SCALE) for name in _COVARIANCES.values()}
    for cell in CELLS:
        total, variance = pl.col(_TOTALS[cell]), pl.col(_VARIANCES[cell])
        unit = from_whole(variance) / from_whole(total)
        columns[name_unit(cell)] = pl.when(total > 0).then(unit)
    return running.with_columns(**columns).drop(*_TOTALS.values(), *_VARIANCES.values(), _SCALE)


def set_strata_sizes(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Set the sizes of rows with counts to those at their thresholds; add moments and correlation."""
    unit = pl.col(EffectiveSize.WEIGHT_UNIT)
    frame = frame.with_columns(
        pl.coalesce(name_unit(cell), _UNSEEN[cell]).alias(name_unit(cell)) for cell in CELLS
    )
    total = {cell: pl.col(cell).cast(pl.Float64) for cell in CELLS}
    sizes, variances, slopes = {}, [], {}
    for rate, size, (above, below) in zip(
        ("recall", "fpr"), (EffectiveSize.N_POS, EffectiveSize.N_NEG), _CLASSES.values(), strict=True
    ):
        r, n = pl.col(rate), total[above] + total[below]
        shared = pl.col(_COVARIANCES[above, below]) / n
        sizes[size] = n / (
            (1 - r) * pl.col(name_unit(above)) + r * pl.col(name_unit(below)) - 2 * shared
        )
        variances.append(r * (1 - r) / sizes[size])
        slopes[rate] = {above: (1 - r) / n, below: -r / n}
    covariance: pl.Expr = pl.lit(0.0)
    for x, a in slopes["recall"].items():
        for y, b in slopes["fpr"].items():
            covariance += a * b * pl.col(name_moment(x, y))
    spread = (variances[0] * variances[1]).sqrt()
    correlation = pl.when(spread > 0).then((covariance / spread).clip(-1.0, 1.0)).otherwise(0.0)
    moments = {
        name_moment(cell, cell): total[cell] * pl.col(name_unit(cell)) * unit**2 for cell in CELLS
    }
    moments |= {name: pl.col(name) * unit**2 for name in _COVARIANCES.values()}
    moments |= {name_unit(cell): pl.col(name_unit(cell)) * unit for cell in CELLS}
    return frame.with_columns(**sizes, **moments, **{EffectiveSize.RATE_CORRELATION: correlation})


def join_strata(table: ScoreTable, groups: pl.LazyFrame) -> pl.LazyFrame:
    """Add to a group table what its strata tell of all its rows, whatever the threshold.

    StratumLabels.N_ALONE is the number of strata of which one row was drawn.
    """
    found = _sum_strata(table)
    total = {of: pl.col(name) for of, name in _ALL.items()}
    unit = {of: pl.col(_VARIANCES[a]) / pl.col(_TOTALS[a]) for of, (a, _) in _CLASSES.items()}
    shared = pl.col(_COVARIANCES["tp", "fp"]) / (total["pos"] * total["neg"])
    missed, top = (pl.col(_UNSEEN[cell]) for cell in ("fn", "tp"))
    columns = {
        EffectiveSize.N_POS_LEAST: total["pos"] / unit["pos"],
        EffectiveSize.N_NEG_LEAST: total["neg"] / unit["neg"],
        EtaError.VARIANCE: unit["pos"] / total["pos"] + unit["neg"] / total["neg"] - 2 * shared,
        ClusterSize.N_POS_UNREACHED: total["pos"] / top,
        ClusterSize.N_NEG_UNREACHED: total["neg"] / pl.col(_UNSEEN["fp"]),
        Unseen.MISSED_SHARE: missed / (total["pos"] + missed),
        Unseen.SHARE: top / (total["pos"] + top),
    }
    kept = (*table.by, StratumLabels.POS, StratumLabels.NEG, StratumLabels.N_ALONE, *_UNSEEN.values())
    return join_groups(groups, found.select(*kept, **columns), table.by, how="left", keep_order=True)


def _sum_strata(table: ScoreTable) -> pl.LazyFrame:
    """Return one row per group: sums of the states of strata with all rows above, and _UNSEEN."""
    by, is_pos, score = [*table.by], pl.col(Row.POS) > 0, pl.col(Row.SCORE)
    counts = {_N: pl.len(), _N_POS: is_pos.sum(), Row.STRATUM_WEIGHT: pl.col(Row.STRATUM_WEIGHT).max()}
    counts |= {_HIGHEST: score.filter(~is_pos).max(), _LOWEST: score.filter(is_pos).min()}
    counts[Row.SCORE] = score.max()
    rows = table.rows.filter(is_pos | (pl.col(Row.NEG) > 0))
    strata = aggregate_by(rows, [*by, Row.STRATUM], [of.alias(name) for name, of in counts.items()])
    strata = strata.with_columns(pl.col(_N, _N_POS).cast(pl.Int64))
    strata = strata.with_columns((pl.col(_N) - pl.col(_N_POS)).alias(_N_NEG))
    w, numbers = pl.col(Row.STRATUM_WEIGHT), {"pos": pl.col(_N_POS), "neg": pl.col(_N_NEG)}
    scale = round_up_to_power_of_two(pl.col(_N).sum().cast(pl.Float64) * w.max() * w.max())
    of_group = {_BY_CLASS: _are_by_class(), _SCALE: scale, _AT_TOP: score == score.max()}
    strata = strata.with_columns(
        (of.over(by) if by else of).alias(name) for name, of in of_group.items()
    )
    state = _describe_state(numbers) | {_ALL[of]: w * n for of, n in numbers.items()}
    heaviest, at_top, drawn_by_class = w.max(), w.filter(_AT_TOP).max(), pl.col(_BY_CLASS).first()
    found = {}
    for of, cells in _CLASSES.items():
        of_class = w.filter(numbers[of] > 0).max()
        for cell, by_score in zip(cells, (at_top, heaviest), strict=True):
            found[_UNSEEN[cell]] = pl.when(drawn_by_class).then(of_class).otherwise(by_score)
    found |= {StratumLabels.POS: numbers["pos"].sum(), StratumLabels.NEG: numbers["neg"].sum()}
    found[StratumLabels.N_ALONE] = ((pl.col(_N) == 1) & (w > 1)).sum().cast(pl.Int64)
    each = [of.alias(name) for name, of in found.items()]
    sums = aggregate_by(
        strata.with_columns(_to_whole(state)), by, [pl.col(*state).sum(), pl.col(_SCALE).first(), *each]
    )
    return sums.with_columns(from_whole(pl.col(name)) * pl.col(_SCALE) for name in state)


def _are_by_class() -> pl.Expr:
    """Return whether rows were drawn by their labels, over the strata of a group."""
    mixed = ((pl.col(_N_POS) > 0) & (pl.col(_N_NEG) > 0)).any()
    crossed = pl.col(_HIGHEST).max() > pl.col(_LOWEST).min()
    return ~mixed & crossed.fill_null(False)
