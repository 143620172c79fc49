"""Errors of differences between models that scored the same examples.

What both models find easy or hard cancels out of the difference. Its variance is that of differences of
influences among the examples, and mostly smaller than the sum of two variances. All negatives between
two scores of positives have one influence, so there are fewer cells, examples of the same two
influences, than examples where positives are rare. An influence has a number in its curve, so that one
look-up per model finds those of a cell at several prevalences, side by side: see `EtaLanes`.

Sources: DeLong et al. 1988 for ROC AUC; average precision has other influences in the same formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    IS_ORDERED,
    SIDES,
    A,
    B,
    Comparison,
)
from polars_prcurve.curves.curve_segments import CurveSegments
from polars_prcurve.curves.curve_table import pick_by_number
from polars_prcurve.exact_arithmetic import square_integer, sum_shares, to_whole_shares
from polars_prcurve.group_keys import join_groups
from polars_prcurve.inputs.score_and_rate_tables import ScoreTable, is_clustered
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.sweep.grouped_rows import SweepTables
from polars_prcurve.uncertainty.cluster_errors import add_up_clusters
from polars_prcurve.uncertainty.influence import IS_TIED, InfluenceTable, add_places, build_influences

if TYPE_CHECKING:
    from polars_prcurve.uncertainty.bootstrap import Bootstrap, ReplicateValues

_ROW_NUMBER = f"{c.RESERVED}row"
_KINDS = {"pos": "pos", "neg": "neg", "gap": "neg"}
"""The kinds of influences of a PLACE, in their order, and the class of each."""
_INFLUENCE = f"{c.RESERVED}influence"  # number of an influence in its curve, by PLACE and by kind
_AMOUNT = f"{c.RESERVED}amount"  # what an example counts, or the examples of a cell
_SHARE = f"{c.RESERVED}share"  # of the examples of a class that a cell holds
_FIRST, _LAST = f"{c.RESERVED}first", f"{c.RESERVED}last"  # model of a group
_IS_POS = f"{c.RESERVED}is_pos"  # whether a cell holds positives


# From influences ------------------------------------------------------------------------------


def count_cells(rows: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return one row per model pair and cell: examples of one class, with an influence in each model."""
    by, of_cluster = table.group_columns, [c.CLUSTER] if is_clustered(table) else []
    amount = pl.col(c.POS) + pl.col(c.NEG)  # an example is of one class
    if table.has_squares and not of_cluster:
        amount = square_integer(amount, scaled=table.float_sums)
    kind = pl.when(pl.col(c.POS) > 0).then(0).when(IS_TIED).then(1).otherwise(2)
    rows = add_places(rows).with_columns(
        amount.alias(_AMOUNT), (pl.col(c.PLACE) * len(_KINDS) + kind).alias(_INFLUENCE)
    )
    example = {**by, c.EXAMPLE: rows.collect_schema()[c.EXAMPLE]}
    # Model a comes before model b, so that a is not the last model of its group, and b not the first.
    ends = {_FIRST: pl.col(c.GROUP).min(), _LAST: pl.col(c.GROUP).max()}
    rows = rows.with_columns(**{name: end.over(*by) if by else end for name, end in ends.items()})
    sides = ((A, (_AMOUNT, *of_cluster), _LAST), (B, (), _FIRST))
    a, b = (
        rows.filter(pl.col(c.GROUP) != pl.col(end)).select(
            *example, *of_example, *(pl.col(n).alias(side + n) for n in (c.GROUP, _INFLUENCE))
        )
        for side, of_example, end in sides
    )
    # _SHARE is that of the class in the cell: of weights, of their squares. Where rows come in
    # clusters, a cell is of one cluster, and weights are not squared.
    both = join_groups(a, b, example).filter(IS_ORDERED & (pl.col(_AMOUNT) > 0))
    models, numbers = ([side + n for side in SIDES] for n in (c.GROUP, _INFLUENCE))
    cells = both.group_by(*models, *numbers, *of_cluster).agg(pl.col(_AMOUNT).sum())
    is_pos = pl.col(A + _INFLUENCE) % len(_KINDS) == 0
    total = pl.col(_AMOUNT).sum().over(*models, _IS_POS)
    return cells.with_columns(is_pos.alias(_IS_POS)).select(
        *models,
        *numbers,
        *of_cluster,
        _IS_POS,
        (pl.col(_AMOUNT).cast(pl.Float64) / total.cast(pl.Float64)).alias(_SHARE),
    )


def add_pair_variances(
    differences: pl.LazyFrame,
    cells: pl.LazyFrame,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    metrics: Mapping[str, CurveMetric],
    *,
    of: Comparison,
) -> pl.LazyFrame:
    """Add variances among examples, or sums over clusters, of differences of influences of `cells`."""
    by, clustered = of.table.group_columns, is_clustered(of.table)
    sums = {"of_clusters": ("pos", 2), "of_fourths": ("pos", 4)}
    sums = sums if clustered else {"pos": ("pos", 2), "neg": ("neg", 2)}
    group_b = B + c.GROUP
    n_etas = of.grid.etas_per_group
    for found in build_influences(curves, pairs, metrics, [ETA_NUMBER], etas_per_group=n_etas):
        # Read for the sizes and for the list, and Polars would compute it anew for each.
        influences = found._replace(frame=found.frame.cache())
        key, names = influences.key, influences.lanes.list_names(influences.names)
        step = [ETA_NUMBER] if key == c.PAIR else []
        listed, sizes = _list_influences(influences, [*by, *step], clustered=clustered)
        joined = cells
        # Model a brings a row for some prevalences; model b is joined at the same ones.
        for side, own, shared in ((A, [key, *names], []), (B, names, step)):
            columns = dict.fromkeys((c.GROUP, _INFLUENCE, *own))
            named = listed.select(*step, *(pl.col(name).alias(side + name) for name in columns))
            joined = joined.join(named, on=[*(side + name for name in (c.GROUP, _INFLUENCE)), *shared])
        key_a = A + key
        differences_of = {name: pl.col(A + name) - pl.col(B + name) for name in names}
        if clustered:  # the shares of both classes add up to 2
            terms = {name: (gap * pl.col(_SHARE), pl.lit(2.0)) for name, gap in differences_of.items()}
            totals = add_up_clusters(joined, [key_a, group_b], terms)
        else:
            totals = _add_up_examples(joined, [key_a, group_b], differences_of)
        totals = totals.join(sizes, left_on=key_a, right_on=key).with_columns(
            pl.col(f"{name}_{kind}") * pl.col(f"{name}_{side}_size") ** power
            for name in names
            for kind, (side, power) in sums.items()
        )
        columns_of = [f"{name}_{kind}" for name in influences.names for kind in sums]
        variances = influences.lanes.unpack(totals, columns_of, pair=key_a, also=[group_b])
        differences = differences.join(variances, on=[key_a, group_b], how="left")
    return differences


def _list_influences(
    influences: InfluenceTable, alike: Sequence[str], *, clustered: bool
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Return one row per influence, with `<name>` over the size of its class, and the sizes by key."""
    sizes, listed, key = {}, {}, influences.key
    for name in influences.lanes.list_names(influences.names):
        # The size is a power of two that no difference between models of rows `alike` exceeds.
        of_class = {side: f"{name}_{side}_size" for side in ("pos", "neg")}
        for size in of_class.values():
            most = (pl.max_horizontal(*of_class.values()) if clustered else pl.col(size)).max()
            # Less their means, influences are at most twice as large, and differences four times.
            sizes[size] = 4 * (most.over(alike) if alike else most)
        listed[name] = [
            pl.col(f"{name}_{kind}") / pl.col(of_class[side]) for kind, side in _KINDS.items()
        ]
    of_key = influences.frame.group_by(key, *alike).agg(pl.col(*sizes).first()).select(key, **sizes)
    rows = influences.frame.drop(*sizes).join(of_key, on=key)
    rows = rows.join(pl.LazyFrame({c.COPY: range(len(_KINDS))}), how="cross").select(
        *dict.fromkeys((c.GROUP, key)),
        *((ETA_NUMBER,) if key == c.PAIR else ()),
        (pl.col(c.PLACE) * len(_KINDS) + pl.col(c.COPY)).alias(_INFLUENCE),
        *(pick_by_number(c.COPY, values, pl.lit(None)).alias(n) for n, values in listed.items()),
    )
    return rows, of_key


def _add_up_examples(
    joined: pl.LazyFrame, keys: Sequence[str], differences: Mapping[str, pl.Expr]
) -> pl.LazyFrame:
    """Return one row per value of `keys`: the variances of differences of influences among examples."""
    squares = {name: to_whole_shares(gap**2 * pl.col(_SHARE)) for name, gap in differences.items()}
    variances = {name: sum_shares(pl.col(name)) for name in differences}
    of_class = {
        f"{name}_{side}": pl.col(name).filter(members).sum()
        for name in differences
        for side, members in (("pos", pl.col(_IS_POS)), ("neg", ~pl.col(_IS_POS)))
    }
    both = joined.select(*keys, _IS_POS, **squares).group_by(*keys, _IS_POS).agg(**variances)
    return both.group_by(keys).agg(**of_class)


# From replicates ------------------------------------------------------------------------------


def add_bootstrap_errors(
    bootstrap: Bootstrap, sweep: SweepTables, values: pl.LazyFrame, differences: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the errors of differences, from replicates that all models share, and the class sizes."""
    _, errors, sizes = bootstrap.measure(sweep, values, BASE_GROUP, _subtract_models)
    differences = differences.join(errors, on=[side + c.PAIR for side in SIDES], how="left")
    return differences.join(sizes, on=BASE_GROUP, how="left")


def _subtract_models(
    pairs: pl.DataFrame, of_models: ReplicateValues
) -> tuple[dict[str, pl.Series], ReplicateValues]:
    """Return both PAIR numbers of each model pair in a block, and the differences of all values."""
    rows = pairs.select(BASE_GROUP, ETA_NUMBER, c.GROUP, c.PAIR).with_row_index(_ROW_NUMBER)
    model_pairs = rows.join(rows, on=[BASE_GROUP, ETA_NUMBER], suffix="_b").filter(
        pl.col(c.GROUP) < pl.col(f"{c.GROUP}_b")
    )
    a, b = (model_pairs[name].to_numpy() for name in (_ROW_NUMBER, f"{_ROW_NUMBER}_b"))
    keys = {A + c.PAIR: model_pairs[c.PAIR], B + c.PAIR: model_pairs[f"{c.PAIR}_b"]}
    values, replicates, sizes = of_models
    gaps = {"estimates": values[a] - values[b], "replicates": replicates[:, a] - replicates[:, b]}
    return keys, of_models._replace(**gaps, smaller_class_sizes=sizes[a])
