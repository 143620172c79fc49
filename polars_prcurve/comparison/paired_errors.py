"""Errors of differences between models that scored the same examples.

What both models find easy or hard cancels out of the difference. Its variance is that of differences of
influences among the examples, and mostly smaller than the sum of two variances.

    rows of both models -> places       where the score of an example lies among those of positives
                        -> cells        examples of the same two places, counted once for all prevalences
    cells × eta         -> variances    of differences of influences

All negatives between two scores of positives have one influence. So there are few places, and far fewer
cells than examples where positives are rare.

Sources: DeLong et al. 1988 for ROC AUC; average precision has other influences in the same formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import polars as pl

from polars_prcurve.column_names import CLUSTER, EXAMPLE, GROUP, NEG, PAIR, PLACE, POS, RESERVED
from polars_prcurve.comparison.model_pairs import (
    BASE_GROUP,
    ETA_NUMBER,
    SIDES,
    is_ordered_pair,
    read_side,
    side_name,
)
from polars_prcurve.curves.segment_sums import CurveSegments
from polars_prcurve.exact_sums import square_integer, sum_shares, to_whole_shares
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.score_table import ScoreTable, is_clustered
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.sweep.group_table import SweepTables
from polars_prcurve.uncertainty.bootstrap import Bootstrap, ReplicateValues, SampleBlock
from polars_prcurve.uncertainty.cluster_errors import ClusterTerm, add_up_clusters
from polars_prcurve.uncertainty.influence import (
    CLASS_SIZE_COLUMNS,
    IS_TIED,
    InfluenceTable,
    build_influences,
    find_place,
    pick_influence,
)

_ROW_NUMBER = f"{RESERVED}row"
_SHARES = {"pos": POS, "neg": NEG}  # of each class in a cell


# From influences ------------------------------------------------------------------------------


def count_cells(rows: pl.LazyFrame, table: ScoreTable) -> pl.LazyFrame:
    """Return one row per model pair and cell, with the share of each class that is in the cell.

    `rows` are the examples of all models, with whole POS and NEG. Of weights it is the share of squares.
    Where rows come in clusters a cell is of one cluster, and of weights it is their share.
    """
    by, of_cluster = table.group_columns, [CLUSTER] if is_clustered(table) else []
    rows = rows.with_columns(value.over(GROUP).alias(name) for name, value in find_place().items())
    if table.has_squares and not of_cluster:
        rows = rows.with_columns(
            square_integer(pl.col(name), scaled=table.float_sums).alias(name)
            for name in _SHARES.values()
        )
    example = {**by, EXAMPLE: rows.collect_schema()[EXAMPLE]}
    of_model = (GROUP, PLACE, IS_TIED)
    a, b = (
        rows.select(*example, *amounts, *(pl.col(n).alias(side_name(n, side)) for n in of_model))
        for side, amounts in zip(SIDES, ((POS, NEG, *of_cluster), ()), strict=True)
    )
    both = join_groups(a, b, example).filter(is_ordered_pair())
    sides = [side_name(name, side) for name in of_model for side in SIDES]
    cells = both.group_by(*sides, *of_cluster)
    models = [side_name(GROUP, side) for side in SIDES]
    return cells.agg(pl.col(POS, NEG).sum()).with_columns(
        pl.col(name).cast(pl.Float64) / pl.col(name).sum().over(models).cast(pl.Float64)
        for name in _SHARES.values()
    )


def add_pair_variances(
    differences: pl.LazyFrame,
    cells: pl.LazyFrame,
    curves: CurveSegments,
    pairs: pl.LazyFrame,
    metrics: Mapping[str, CurveMetric],
    *,
    clustered: bool,
) -> pl.LazyFrame:
    """Add the variances `<name>_pos` and `<name>_neg`, among the examples, of differences of influences.

    The `cells` are those of `count_cells`. Of rows that are `clustered` there is `<name>_of_clusters`.
    """
    add_up = _add_up_clusters if clustered else _add_up_examples
    for influences in build_influences(curves, pairs, metrics, also=[ETA_NUMBER]):
        on = [side_name(influences.key, side) for side in SIDES]
        variances = add_up(_join_influences(cells, influences), on, influences.names)
        differences = differences.join(variances, on=on, how="left")
    return differences


def _join_influences(cells: pl.LazyFrame, influences: InfluenceTable) -> pl.LazyFrame:
    """Return the cells with the influences of both models; those that go by PAIR at each prevalence."""
    key, names, frame, _ = influences
    step = [ETA_NUMBER] if key == PAIR else []
    for side, shared in zip(SIDES, ([], step), strict=True):
        own = frame.select(
            *step,
            *(pl.col(name).alias(side_name(name, side)) for name in dict.fromkeys((GROUP, key, PLACE))),
            *(
                pl.col(f"{name}_{kind}").alias(side_name(f"{name}_{kind}", side))
                for name in names
                for kind in ("pos", "neg", "gap", "pos_size", "neg_size")
            ),
        )
        # Model a brings a row per prevalence; model b is joined at the same one.
        cells = cells.join(own, on=[side_name(GROUP, side), side_name(PLACE, side), *shared])
    return cells


def _add_up_examples(joined: pl.LazyFrame, keys: Sequence[str], names: Sequence[str]) -> pl.LazyFrame:
    """Return one row per model pair: the variances of differences of influences among examples."""
    squares: dict[str, pl.Expr] = {}
    variances: dict[str, pl.Expr] = {}
    for name, (of_class, share) in product(names, _SHARES.items()):
        column = f"{name}_{of_class}"
        size = _read_size(column)
        # Less their means, influences are at most twice the size, and differences four times.
        share_of_square = (_subtract_influences(name, of_class) / size) ** 2 / 16 * pl.col(share)
        squares |= {column: to_whole_shares(share_of_square), f"{column}_size": size}
        variances[column] = sum_shares(pl.col(column)) * 16 * pl.col(f"{column}_size").first() ** 2
    return joined.select(*keys, **squares).group_by(keys).agg(**variances)


def _add_up_clusters(joined: pl.LazyFrame, keys: Sequence[str], names: Sequence[str]) -> pl.LazyFrame:
    """Return one row per model pair: the sums of squares of what each cluster adds to a difference."""
    terms = {
        name: ClusterTerm(
            _subtract_influences(name, "pos"),
            _subtract_influences(name, "neg"),
            most=8 * pl.max_horizontal(_read_size(f"{name}_{of_class}") for of_class in _SHARES),
        )
        for name in names
    }
    return add_up_clusters(joined, keys, terms)


def _read_size(column: str) -> pl.Expr:
    """Return the power of two that the influences of a class reach in neither model."""
    return pl.max_horizontal(read_side(side, f"{column}_size") for side in SIDES)


def _subtract_influences(name: str, of_class: str) -> pl.Expr:
    """Return the influence of the examples of a cell, of one class, on the difference."""
    a, b = (pick_influence(name, of_class, partial(read_side, side)) for side in SIDES)
    return a - b


# From replicates ------------------------------------------------------------------------------


def add_bootstrap_errors(
    bootstrap: Bootstrap, sweep: SweepTables, values: pl.LazyFrame, differences: pl.LazyFrame
) -> pl.LazyFrame:
    """Add the errors of differences, from replicates that all models share, and the class sizes."""
    collected = bootstrap.collect_query(values)
    groups = (
        collected.select(GROUP, BASE_GROUP)
        .unique()
        .sort(GROUP)
        .partition_by(BASE_GROUP, maintain_order=True)
    )
    samples = list(bootstrap.build_samples(sweep, [part[GROUP].to_list() for part in groups]))
    blocks = bootstrap.compute_blocks(samples, collected)
    errors = bootstrap.estimate_errors(map(_subtract_models, blocks))
    on = [side_name(PAIR, side) for side in SIDES]
    differences = differences.join(errors, on=on, how="left")
    size_schema = dict.fromkeys(CLASS_SIZE_COLUMNS.values(), pl.Float64)
    sizes = pl.DataFrame([sample.sizes for sample in samples], schema=size_schema, orient="row")
    first = pl.concat([part.head(1) for part in groups]) if groups else collected.head(0)
    sizes = sizes.with_columns(first[BASE_GROUP])
    return differences.join(sizes.lazy(), on=BASE_GROUP, how="left")


def _subtract_models(block: SampleBlock) -> tuple[dict[str, pl.Series], ReplicateValues]:
    """Return both PAIR numbers of each model pair in the block, and the differences of all values."""
    rows = block.pairs.select(BASE_GROUP, ETA_NUMBER, GROUP, PAIR).with_row_index(_ROW_NUMBER)
    model_pairs = rows.join(rows, on=[BASE_GROUP, ETA_NUMBER], suffix="_b").filter(
        pl.col(GROUP) < pl.col(f"{GROUP}_b")
    )
    a, b = (model_pairs[name].to_numpy() for name in (_ROW_NUMBER, f"{_ROW_NUMBER}_b"))
    keys = {side_name(PAIR, "a"): model_pairs[PAIR], side_name(PAIR, "b"): model_pairs[f"{PAIR}_b"]}
    values, replicates, sizes = block.values
    return keys, ReplicateValues(values[a] - values[b], replicates[:, a] - replicates[:, b], sizes[a])
