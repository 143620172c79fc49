"""Ranking: models in order at each prevalence, and whether the leader's lead is more than chance.

    summary, or operating points    the value of each model
        -> ranking                  models in order, within each `by` group and prevalence
        -> differences              of all pairs of models, with intervals and p-values
        -> lead                     how far each model is behind the leader, and which may be best

With id= the models share examples, and the differences are those of a paired comparison. Otherwise each
model has a sample of its own, and both errors add up in quadrature.

The leader is picked because it is best in the table, which favours it. Still the plain interval of its
lead over the second may be read: by chance, the best of several models passes for better than the second
no more often than with two models, at least for normal errors of one size (Hung and Fithian 2019). That
one of many models is surely worse is another matter: which ones may be best is told at a level that
holds for all models together (Holm 1979).
"""

from __future__ import annotations

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.comparison.comparison import Comparison, Examples
from polars_prcurve.comparison.differences import build_differences, check_comparison
from polars_prcurve.comparison.model_pairs import number_within
from polars_prcurve.comparison.point_differences import name_curve_metric
from polars_prcurve.comparison.verdicts import P_VALUE, adjust_p_values
from polars_prcurve.confidence.certainty import Intervals
from polars_prcurve.curves.operating_points import build_points_table
from polars_prcurve.curves.targets import RankingMetric, direction_sign
from polars_prcurve.errors import PrcError
from polars_prcurve.float_bits import merge_zeros
from polars_prcurve.group_numbers import join_groups
from polars_prcurve.inputs.score_table import InputTable, RateTable, ScoreTable
from polars_prcurve.metrics.curve_metric import CurveMetric
from polars_prcurve.prevalence.eta_table import EtaTable, find_shared_eta
from polars_prcurve.uncertainty.summary_table import build_summary_table

_ETA_NUMBER = f"{c.RESERVED}step"  # number of the prevalence among equal ones of a model
_LEADER = f"{c.RESERVED}leader"
_A_LEADS = f"{c.RESERVED}a_leads"
_IS_BEATEN = f"{c.RESERVED}beaten"
_IS_FOLLOWER = f"{c.RESERVED}other"
_ROW_NUMBER = f"{c.RESERVED}row"
_LEAD_COLUMNS = ("behind", "low", "high", "resolved", "reliable", "may_be_best")
_LIMIT_COLUMNS = ("value_low", "value_high", "may_be_best")


def list_ranking_columns(*, lead: bool, coarse: bool = False) -> tuple[str, ...]:
    """Return the columns of a ranking, after `by`, without those that an eta frame carries."""
    more = _LEAD_COLUMNS if lead else _LIMIT_COLUMNS if coarse else ()
    return ("eta", "model", "value", "rank", *more)


def build_ranking_table(
    table: ScoreTable | RateTable,
    grid: EtaTable,
    ranking_metric: RankingMetric,
    certainty: Intervals | None,
    *,
    coarse: bool = False,
) -> pl.LazyFrame:
    """Return `by`, eta, what the eta frame carries, and the rest of `list_ranking_columns`."""
    metric, targets = ranking_metric
    table = _check_ranking(table, grid, ranking_metric, certainty, coarse=coarse)
    depends_on_eta = any(of.depends_on_eta for of in (metric, *targets))
    grid = grid.let_own_differ(depends_on_eta=depends_on_eta)
    sign = direction_sign(metric)
    if isinstance(metric, CurveMetric):
        values = build_summary_table(table, grid, [metric], certainty=certainty, coarse=coarse)
    else:
        values = build_points_table(table, grid, targets, [metric.alias("value")])
    if not grid.shared:  # models of different prevalences are ranked, too
        values = values.with_columns(find_shared_eta(table.group_columns))
    ranks = _add_ranks(table, values, sign)
    if coarse:
        ranks = ranks.rename({"low": "value_low", "high": "value_high"})
        # Of values that are better when lower, both ends change their sign and their places.
        low, high = (pl.col(end) * sign for end in ("value_low", "value_high")[:: int(sign)])
        surely_reached = low.max().over(_ranking_keys(table))
        ranks = ranks.with_columns((high >= surely_reached).alias("may_be_best"))
    if certainty is not None:
        paired = c.EXAMPLE in table.columns
        examples: Examples = "by id" if paired else "apart"
        comparison = Comparison(
            table, grid, [metric], (*targets, None)[0], certainty, examples, needs_pairs=paired
        )
        check_comparison(comparison)
        differences = build_differences(comparison)
        ranks = _add_lead(table, ranks, differences, sign, certainty.level)
    eta, *others = list_ranking_columns(lead=certainty is not None, coarse=coarse)
    return ranks.select(*table.group_columns, eta, *grid.carried, *others)


def _check_ranking(
    table: ScoreTable | RateTable,
    grid: EtaTable,
    ranking_metric: RankingMetric,
    certainty: Intervals | None,
    *,
    coarse: bool,
) -> ScoreTable | RateTable:
    """Return the table; raise if models cannot be ranked by this metric, or not with these options."""
    metric, targets = ranking_metric
    if isinstance(table, RateTable) and targets and targets[0].criterion == "recall":
        recall = f"{targets[0].value:g}"
        raise PrcError(
            f"{table.argument}= holds points, and the first one that reaches recall={recall} may be far "
            "above it in one model, and near it in another; leave out recall=, and pass "
            f'metric="precision_at_recall({recall})", which takes all models at that recall; '
            "coarse=True adds what may lie between points, and "
            f".prc.operating_points(recall={recall}) lists the points"
        )
    table = table if certainty is None else table.require_examples()
    if isinstance(metric, CurveMetric):
        if certainty is None:
            grid.require_exact("a ranking without confidence=", carrier="confidence=")
        return table
    if coarse:
        of_curve = name_curve_metric(metric, targets[0])
        raise PrcError(
            "coarse=True gives limits of curve metrics, and a point metric at a target has none; "
            f"{of_curve + ' it' if of_curve else 'leave it out'}"
        )
    grid.require_exact("a ranking at a target")
    return table


def _add_ranks(table: InputTable, values: pl.LazyFrame, sign: float) -> pl.LazyFrame:
    """Add the rank of each model in its `by` group at each prevalence, and sort by rank.

    `values` is sorted by group, MODEL and prevalence. The sign is 1 if a greater value is better,
    otherwise -1.
    """
    values = values.with_columns(
        number_within([*table.group_columns, c.MODEL, "eta"]).alias(_ETA_NUMBER)
    )
    keys = _ranking_keys(table)
    rank = pl.col("value").rank("min", descending=sign > 0).over(keys)
    values = values.with_columns(rank.cast(pl.Int64).alias("rank"))
    last = [*[False] * len(table.group_columns), True, False, True, False]
    return values.sort(*keys, "rank", c.MODEL, nulls_last=last).with_columns(
        pl.col(c.MODEL).alias("model")
    )


def _ranking_keys(table: InputTable) -> list[str]:
    """Return the columns that models are ranked within: `by`, eta, and its number among equal ones.

    The position of a prevalence in the list of its model would not do. A model without examples has no
    own prevalence, so its list is shorter.
    """
    return [*table.group_columns, "eta", _ETA_NUMBER]


def _add_lead(
    table: InputTable, ranks: pl.LazyFrame, differences: pl.LazyFrame, sign: float, confidence: float
) -> pl.LazyFrame:
    """Add how far each model is behind the leader, from `differences` of all model pairs."""
    keys = _ranking_keys(table)
    on = {
        **table.group_columns,
        "eta": pl.Float64(),
        _ETA_NUMBER: pl.Int64(),
        c.MODEL: table.by[c.MODEL],
    }
    leader, value = (pl.col(name).first().over(keys) for name in (c.MODEL, "value"))
    behind = value - pl.col("value") if sign > 0 else pl.col("value") - value
    ranks = ranks.with_columns(leader.alias(_LEADER), behind=behind)
    ranks = ranks.with_row_index(_ROW_NUMBER)
    differences = differences.with_columns(
        number_within([*table.group_columns, "model_a", "model_b", "eta"]).alias(_ETA_NUMBER)
    )
    surely = adjust_p_values(pl.col(P_VALUE), keys) < 1 - confidence
    both_ways = _list_both_ways(differences.with_columns(surely.alias(_IS_BEATEN)), keys, sign)
    own = ranks.drop("low", "high", "resolved", "reliable", strict=False)
    ranks = join_groups(own, both_ways, {**on, _LEADER: table.by[c.MODEL]}, how="left").sort(_ROW_NUMBER)
    is_beaten = pl.col(_IS_BEATEN).fill_null(False)
    not_beaten = pl.when(pl.col("value").is_not_null()).then(~is_beaten)
    return _share_verdicts(ranks.with_columns(not_beaten.alias("may_be_best")), keys)


def _list_both_ways(differences: pl.LazyFrame, keys: list[str], sign: float) -> pl.LazyFrame:
    """Return each difference twice, as either model may lead: turned around, it changes its sign.

    _IS_BEATEN, whether the difference is surely not 0, becomes whether any model beats MODEL. After
    Holm's adjustment over all pairs, no model of the best ones is beaten, for all models together.
    """
    both_ways = differences.join(pl.LazyFrame({_A_LEADS: [True, False]}), how="cross")
    low, high = pl.col("low"), pl.col("high")
    as_listed = pl.col(_A_LEADS) if sign > 0 else ~pl.col(_A_LEADS)
    leader_is_better = pl.col(_A_LEADS) == (pl.col("difference") * sign > 0)
    both_ways = both_ways.select(
        *keys,
        "resolved",
        "reliable",
        pl.when(_A_LEADS).then("model_a").otherwise("model_b").alias(_LEADER),
        pl.when(_A_LEADS).then("model_b").otherwise("model_a").alias(c.MODEL),
        pl.col(_IS_BEATEN) & leader_is_better,
        low=pl.when(as_listed).then(low).otherwise(merge_zeros(-high)),
        high=pl.when(as_listed).then(high).otherwise(merge_zeros(-low)),
    )
    return both_ways.with_columns(pl.col(_IS_BEATEN).any().over(*keys, c.MODEL))


def _share_verdicts(ranks: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Give `resolved` and `reliable` of each model against the leader to the leader, too.

    The leader has true if all others have, false if one has false, and otherwise null.
    """
    is_leader = pl.int_range(pl.len()).over(keys) == 0
    ranks = ranks.with_columns((pl.col("value").is_not_null() & ~is_leader).alias(_IS_FOLLOWER))
    n_followers = pl.col(_IS_FOLLOWER).sum().over(keys)
    for name in ("resolved", "reliable"):
        one_false, n_true = (~pl.col(name)).any().over(keys), pl.col(name).sum().over(keys)
        all_true = (n_true == n_followers) & (n_true > 0)
        verdict = pl.when(one_false).then(pl.lit(False)).when(all_true).then(pl.lit(True))
        ranks = ranks.with_columns(pl.when(is_leader).then(verdict).otherwise(pl.col(name)).alias(name))
    return ranks
