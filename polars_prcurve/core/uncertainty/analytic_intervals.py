"""Standard errors and intervals of curve metrics without resampling.

    average precision  from influences; on the logit scale, with what the sample lacks
    ROC AUC            from influences (DeLong et al. 1988); the same

An interval can be trusted where no doubt of `list_doubts` holds.

Sources: DeLong et al. 1988; Clopper and Pearson 1934.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from polars_prcurve.core.confidence.doubts import DOUBT, TAIL_NOT_SEEN, Doubts, find_first_doubt
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize, EtaError
from polars_prcurve.core.confidence.rate_intervals import z_value
from polars_prcurve.core.curves.curve_metric_values import CurveSegments
from polars_prcurve.core.ground.exact_arithmetic import repeat_in_rows
from polars_prcurve.core.ground.logit import from_logit, to_logit
from polars_prcurve.core.ground.student_distribution import student_quantile
from polars_prcurve.core.inputs.resolved_tables import ResolvedTable, ScoreTable, is_field
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.inputs.sampling_kinds import SampleKind
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Segment, Unseen
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.sweep.sweep_rows_and_groups import SweepTables
from polars_prcurve.core.uncertainty import influence
from polars_prcurve.core.uncertainty.influence import cluster_standard_error, standard_error

SLOPE = "slope"  # the helper of a metric that is its derivative by logit(eta)


class CurvesWithErrors(NamedTuple):
    """The curves of a table whose metrics have errors from influences: by example, cluster, or part."""

    curves: CurveSegments
    confidence: float
    sample_kind: SampleKind
    cluster_cells: pl.LazyFrame | None
    part_cells: influence.PartCells | None

    @classmethod
    def read(
        cls, table: ResolvedTable, sweep: SweepTables, curves: CurveSegments, confidence: float
    ) -> CurvesWithErrors:
        """Return the curves of a table, with the cells of its clusters or of the parts of its fields."""
        cluster_cells, part_cells = None, None
        if isinstance(table, ScoreTable) and table.sample.joins_rows:
            cluster_cells = influence.count_cluster_cells(table, sweep)
        if is_field(table):
            part_cells = influence.count_part_cells(table, sweep)
        return cls(curves, confidence, table.sample, cluster_cells, part_cells)

    def compute_values(
        self, populations: pl.LazyFrame, metrics_by_name: Mapping[str, CurveMetric]
    ) -> pl.LazyFrame:
        """Return metrics with `<name>_standard_error`, `_low`, `_high` and `_doubt`, by population."""
        curves, cluster_cells = self.curves, self.cluster_cells
        populations = self._add_eta_variance(populations)
        variances_by_key = self._measure_variances(populations, metrics_by_name)
        names_with_unseen = [name for name, metric in metrics_by_name.items() if counts_unseen(metric)]
        if cluster_cells is not None and names_with_unseen:
            population_columns = populations.collect_schema().names()
            unseen_share_exprs = influence.grow_unseen_shares(names_with_unseen[0])
            populations = populations.join(
                variances_by_key[Population.NUMBER], on=Population.NUMBER, how="left"
            )
            populations = populations.with_columns(unseen_share_exprs).select(population_columns)
            curves = curves.read_from_populations(Unseen.SHARE)
        helper_metrics_by_name = {
            f"{name}_{kind}": helper_metric
            for name, metric in metrics_by_name.items()
            for kind, helper_metric in metric.recipe.helpers.items()
        }
        population_values = curves.compute_values(
            populations, {**metrics_by_name, **helper_metrics_by_name}
        )
        for key_column, key_variances in variances_by_key.items():
            population_values = population_values.join(key_variances, on=key_column, how="left")
        for name, metric in metrics_by_name.items():
            population_values = _add_interval(
                population_values, name, metric, self.confidence, self.sample_kind
            )
        return population_values

    def _add_eta_variance(self, populations: pl.LazyFrame) -> pl.LazyFrame:
        """Add EtaError.VARIANCE and MISSED_PRECISION; of clusters also the sizes that errors read."""
        # A prevalence that was counted in the table is as uncertain as both class sizes, and its error
        # is not correlated with those of recall and fpr: given the class sizes, either rate has the
        # same mean. One that was passed is exact.
        eta_variance = pl.lit(0.0)
        if self.part_cells is None:
            has_clusters = self.cluster_cells is not None
            eta_variance = pl.col(influence.CLUSTER_ETA_VARIANCE if has_clusters else EtaError.VARIANCE)
            eta_variance = pl.when(EtaError.IS_OWN).then(eta_variance).otherwise(0.0).fill_null(0.0)
        if self.cluster_cells is not None:
            populations = influence.join_cluster_sizes(populations, self.cluster_cells)
        missed_precision = pl.lit(0.0) if self.curves.has_unscored else pl.col("eta")
        return populations.with_columns(
            eta_variance.alias(EtaError.VARIANCE), missed_precision.alias(Unseen.MISSED_PRECISION)
        )

    def _measure_variances(
        self, populations: pl.LazyFrame, metrics_by_name: Mapping[str, CurveMetric]
    ) -> dict[str, pl.LazyFrame]:
        """Return the variances of influences, by the key column of each kind of metrics."""
        variances_by_key = {}
        influenced_metrics_by_name = list_influenced(metrics_by_name)
        for table in influence.build_influences(self.curves, populations, influenced_metrics_by_name):
            if self.part_cells is None:
                key_variances = influence.compute_variances(table)
            else:
                key_variances = influence.compute_part_variances(self.part_cells, table)
            if self.cluster_cells is not None:
                cluster_variances = influence.compute_cluster_variances(self.cluster_cells, table)
                key_variances = key_variances.join(cluster_variances, on=table.key)
            variances_by_key[table.key] = key_variances
        return variances_by_key


def _add_interval(
    population_values: pl.LazyFrame,
    value_name: str,
    metric: CurveMetric,
    confidence: float,
    sample_kind: SampleKind,
) -> pl.LazyFrame:
    """Add the error of a metric, both ends and the first doubt, over its variances and helpers."""
    # One step after the other, since Polars computes an expression again for each use.
    if metric.recipe.influence is None:
        freedom = {f"{value_name}_freedom": pl.col(influence.STUDENT_FREEDOM)}
        eta_doubts = AT_BOUND_OF_ETA if metric.depends_on_eta else {}
        doubts = ONE_CLASS | eta_doubts | {"no formula: method='bootstrap'": pl.lit(True)}
        null_ends = [pl.lit(None, dtype=pl.Float64)] * 3
        return population_values.with_columns(
            **(freedom if sample_kind.joins_rows else {}),
            **_name_interval(value_name, null_ends, doubts, pl.lit(False)),
        )
    value, error = pl.col(value_name), pl.col(f"{value_name}_error")
    error_exprs = _list_errors(value_name, metric, sample_kind)
    n_deviations: float | pl.Expr = z_value(confidence)
    if sample_kind.joins_rows:
        error_exprs |= influence.find_freedom(value_name)
        n_deviations = student_quantile(z_value(confidence), pl.col(f"{value_name}_freedom"))
    is_known, is_inside = value.is_not_null() & error.is_not_null(), (value > 0) & (value < 1)
    is_varying = pl.lit(True)
    if counts_unseen(metric):
        extended_exprs = bind_extended(value_name, metric)
        # At eta = 0 and 1 it is certain.
        is_varying = (pl.col(Segment.ODDS) > 0) & pl.col(Segment.ODDS).is_finite()
    else:
        extended_exprs = bind_extended_area(value_name)
    interval_ends = find_ends(value_name, n_deviations, is_gain_by_chance=counts_unseen(metric))
    known_ends = [pl.when(is_known & is_varying).then(end) for end in interval_ends]
    error_and_ends = [pl.when(is_known & (is_inside | ~is_varying)).then(error), *known_ends]
    doubts = blame_clusters(list_doubts(value_name, metric, n_deviations, sample_kind), sample_kind)
    population_values = population_values.with_columns(**error_exprs).with_columns(**extended_exprs)
    return population_values.with_columns(**_name_interval(value_name, error_and_ends, doubts, is_known))


def _list_errors(name: str, metric: CurveMetric, sample_kind: SampleKind) -> dict[str, pl.Expr]:
    """Return the errors of a metric and of its cautious values, with that of a counted prevalence."""
    error_exprs = {}
    for value_name, influenced_metric in list_influenced({name: metric}).items():
        least_variance = None
        if value_name != name and LOSS in metric.recipe.helpers:
            # Where no negative was seen near the top, that of the half a false positive.
            least_variance = pl.col(f"{name}_{LOSS}") ** 2
        error = find_standard_error(value_name, influenced_metric, sample_kind, least_variance)
        if SLOPE in metric.recipe.helpers:
            slope = pl.col(f"{name}_{SLOPE}")
            added_variance = slope**2 * pl.col(EtaError.VARIANCE)
            added_variance = (
                _add_counted_eta(value_name, slope) if sample_kind.correlates_eta else added_variance
            )
            error = (error * error + added_variance).clip(lower_bound=0.0).sqrt()
        error_exprs[f"{value_name}_error"] = error
    return error_exprs


def _name_interval(
    value_name: str, error_and_ends: Sequence[pl.Expr], doubts: Doubts, is_known: pl.Expr
) -> dict[str, pl.Expr]:
    """Return the columns of standard error, low and high end, and the first doubt of them."""
    endings = ("standard_error", "low", "high")
    interval_exprs = {
        f"{value_name}_{ending}": interval_expr
        for ending, interval_expr in zip(endings, error_and_ends, strict=True)
    }
    return interval_exprs | {f"{value_name}_{DOUBT}": find_first_doubt(doubts, is_known)}


def _add_counted_eta(value_name: str, slope: pl.Expr) -> pl.Expr:
    """Return what the count of a prevalence adds to the variance of a value, where rows have weights."""
    # Rows with large weights move both. A positive far below lowers the value and raises the prevalence,
    # so the sum is usually less than that of both errors: it is that of influences with the slope added
    # to those of positives, and taken from those of negatives.
    sizes = pl.col(EffectiveSize.N_POS), pl.col(EffectiveSize.N_NEG)
    class_terms = (("pos", slope, sizes[0]), ("neg", -slope, sizes[1]))
    variance_terms = (
        (slope * slope + 2 * signed_slope * pl.col(f"{value_name}_{class_name}_tilt")) / size
        for class_name, signed_slope, size in class_terms
    )
    return pl.when(pl.col(EtaError.VARIANCE) > 0).then(sum(variance_terms, pl.lit(0.0))).otherwise(0.0)


def list_influenced(metrics_by_name: Mapping[str, CurveMetric]) -> dict[str, CurveMetric]:
    """Return the metrics that have influences, and their cautious values, by name."""
    influenced_metrics_by_name = {
        name: metric for name, metric in metrics_by_name.items() if metric.recipe.influence is not None
    }
    return influenced_metrics_by_name | {
        f"{name}_{CAUTIOUS}": metric.recipe.helpers[CAUTIOUS]
        for name, metric in influenced_metrics_by_name.items()
        if counts_unseen(metric)
    }


def find_standard_error(
    value_name: str, metric: CurveMetric, sample_kind: SampleKind, least_variance: pl.Expr | None = None
) -> pl.Expr:
    """Return the standard error of a metric from variances of influences, of examples or of units.

    That of the negatives is at least `least_variance`; of units, the sum of both classes is.
    """
    if metric.recipe.influence is None:
        return pl.lit(None, dtype=pl.Float64)
    if sample_kind.joins_rows:
        error = cluster_standard_error(value_name)
        return error if least_variance is None else pl.max_horizontal(error, least_variance.sqrt())
    return standard_error(value_name, metric.recipe.influence, least_variance)


# Examples that the sample lacks, which move an end of an interval ------------------------------

# A variance is that of examples that were seen. Three that may be missing move average precision by more
# than their share of it:
#
#     a false positive above all positives    at small prevalences it costs almost everything
#     a positive below all negatives          of few positives it is a large share
#     a positive above all negatives          at small prevalences it is worth more than all others
#
# So the lower end of an interval is that of a curve with more false positives at every threshold, and
# with one more positive below all others, whose precision is eta, or 0 where examples were never scored.
# The upper end is that of a curve with more positives at the top. Either is the plain end where that is
# farther away.
#
# Of a false positive and of a positive at the top, half an example does. The logarithm of their number
# counts, and of a number k half an example more, with 1.96 errors of it, is near the limit of a Poisson
# count: of k = 0, 1, 2 and 5 the limit is 3.7, 5.6, 7.2 and 11.7, and this is 3.5, 5.5, 7.6 and 12.2.
# The error of k = 0 is that of the half, which LOSS gives. A positive below all others counts as a
# share, and one with its error is 3 of them. Differences of models read the curves of whole examples.
#
# A positive more is a share of all positives: Unseen.SHARE above them, and MISSED_SHARE below them.
# Where rows come in clusters, one cluster is. Of rows that were drawn by strata it weighs as rows do
# there.
#
# ROC AUC is lowered by half an example of each class on the wrong side of all others, and raised by half
# a one on the right side.

CAUTIOUS, HOPEFUL = "cautious", "hopeful"
"""The helpers of a metric with false positives more, and of the positives below others more."""
LOSS = "loss"  # the helper with what the false positives cost, at the slope where they are
LEAST_ENDING, MOST_ENDING = "least", "most"
"""What follows the name of a metric in its values on both extended curves."""


def counts_unseen(metric: CurveMetric) -> bool:
    """Return whether the interval of a metric allows for examples that the sample lacks."""
    return CAUTIOUS in metric.recipe.helpers


def bind_extended(value_name: str, metric: CurveMetric) -> dict[str, pl.Expr]:
    """Return the values of both extended curves and their errors, by column."""
    missed_share, top_share, least_precision = map(
        pl.col, (Unseen.MISSED_SHARE, Unseen.SHARE, Unseen.MISSED_PRECISION)
    )
    if not metric.recipe.is_compared:  # half a positive
        top_share = repeat_in_rows(top_share, pl.col(value_name))
        top_share = top_share / (2 - top_share)
    # A mean over one positive more: below all others it has the least precision, and on top 1.
    least_value = (1 - missed_share) * pl.col(
        f"{value_name}_{CAUTIOUS}"
    ) + missed_share * least_precision
    most_value = top_share + (1 - top_share) * pl.col(f"{value_name}_{HOPEFUL}")
    least_error = (1 - missed_share) * pl.col(f"{value_name}_{CAUTIOUS}_error")
    most_error = (1 - top_share) * pl.col(f"{value_name}_error")
    # The influence of that positive: its share, times how far its precision is from the mean.
    least_jump, most_jump = missed_share * (least_value - least_precision), top_share * (1 - most_value)
    extended_exprs: dict[str, pl.Expr] = {}
    for ending, value, error, jump in (
        (LEAST_ENDING, least_value, least_error, least_jump),
        (MOST_ENDING, most_value, most_error, most_jump),
    ):
        extended_error = (error * error + jump * jump).sqrt()
        extended_exprs |= {
            f"{value_name}_{ending}": value,
            f"{value_name}_{ending}_jump": jump,
            f"{value_name}_{ending}_error": extended_error,
        }
    return extended_exprs


def bind_extended_area(value_name: str) -> dict[str, pl.Expr]:
    """Return a ROC AUC with half an example more of each class, at worst and at best, and the errors."""
    value, error = pl.col(value_name), pl.col(f"{value_name}_error")
    sizes = [
        repeat_in_rows(size, value) for size in map(pl.col, (EffectiveSize.N_POS, EffectiveSize.N_NEG))
    ]
    seen_shares = [size / (size + 0.5) for size in sizes]
    seen_share, smaller_share = seen_shares[0] * seen_shares[1], pl.min_horizontal(seen_shares)
    unseen_square_sum = sum(((1 - share) ** 2 for share in seen_shares), pl.lit(0.0))

    def find_error(distance: pl.Expr) -> pl.Expr:
        return ((error * smaller_share) ** 2 + unseen_square_sum * distance**2).sqrt()

    return {
        f"{value_name}_{LEAST_ENDING}": value * seen_share,
        f"{value_name}_{LEAST_ENDING}_error": find_error(value),
        f"{value_name}_{MOST_ENDING}": 1 - (1 - value) * seen_share,
        f"{value_name}_{MOST_ENDING}_error": find_error(1 - value),
    }


EXTENDED = (
    "",
    *(f"_{end}{ending}" for end in (LEAST_ENDING, MOST_ENDING) for ending in ("", "_jump", "_error")),
    "_error",
)
"""What follows the name of a metric in the columns that `find_ends` and `find_gap` read."""


def find_ends(
    value_name: str,
    n_deviations: float | pl.Expr,
    side: str = "",
    *,
    is_gain_by_chance: bool = False,
) -> tuple[pl.Expr, pl.Expr]:
    """Return both ends of the interval that reaches `n_deviations` standard errors to either side.

    A sample that lacks false positives is too good, and its error comes on top of that. What positives
    that it lacks would add is chance alone, one more error: errors add up in quadrature. In ROC AUC the
    classes can change places, and in a difference the models, so there both ends are found alike.
    """
    value = pl.col(side + value_name)

    def measure(ending: str) -> tuple[pl.Expr, pl.Expr]:
        """Return the logit of a value, and how far its error reaches there."""
        middle = pl.col(f"{side}{value_name}{ending}")
        error = pl.col(f"{side}{value_name}{ending}_error")
        # Delta method: the derivative of to_logit(p) is 1 / (p (1 - p)).
        return to_logit(middle), n_deviations * error / (middle * (1 - middle))

    logit, reach = measure("")
    least_logit, least_reach = measure(f"_{LEAST_ENDING}")
    most_logit, most_reach = measure(f"_{MOST_ENDING}")
    low_logit = pl.min_horizontal(least_logit - least_reach, logit - reach)
    high_logit = pl.max_horizontal(most_logit + most_reach, logit + reach)
    if is_gain_by_chance:
        gain = pl.max_horizontal(most_logit - logit, 0.0)
        high_logit = logit + (gain**2 + pl.max_horizontal(reach, most_reach) ** 2).sqrt()
    # A value of 1 has no error of its own, and neither has one of 0, where no positive was found.
    low_of_1, high_of_0 = from_logit(least_logit - least_reach), from_logit(most_logit + most_reach)
    when_inside, when_0 = pl.when((value > 0) & (value < 1)), pl.when(value == 0)
    return (
        when_inside.then(from_logit(low_logit)).otherwise(when_0.then(0.0).otherwise(low_of_1)),
        when_inside.then(from_logit(high_logit)).otherwise(when_0.then(high_of_0).otherwise(1.0)),
    )


def find_gap(
    value_name: str, error: pl.Expr, n_deviations: float | pl.Expr, better_side: str, worse_side: str
) -> pl.Expr:
    """Return how far a difference may lie below what was seen, by unseen examples and by chance."""
    # The side that is `better` has its lower curve, and that which is `worse` its upper one.
    lower_column, upper_column = (
        f"{better_side}{value_name}_{LEAST_ENDING}",
        f"{worse_side}{value_name}_{MOST_ENDING}",
    )
    loss_below = pl.col(better_side + value_name) - pl.col(lower_column)
    gain_above = pl.col(upper_column) - pl.col(worse_side + value_name)
    jumps = (pl.col(f"{curve_column}_jump") for curve_column in (lower_column, upper_column))
    joint_error = sum((jump * jump for jump in jumps), error * error).sqrt()
    return (
        pl.max_horizontal(loss_below, 0.0)
        + pl.max_horizontal(gain_above, 0.0)
        + n_deviations * joint_error
    )


def measure_unseen(value_name: str) -> tuple[pl.Expr, pl.Expr]:
    """Return by how much unseen examples may lower the logit of a value, and raise it."""
    logit, least_logit, most_logit = (
        to_logit(pl.col(f"{value_name}{ending}"))
        for ending in ("", f"_{LEAST_ENDING}", f"_{MOST_ENDING}")
    )
    return logit - least_logit, most_logit - logit


# Why the interval of a curve metric may not be calibrated --------------------------------------

# The limits of doubts were read off the simulations of `benchmarks/coverage.py`.

# The sizes of both classes by their own weights.
_N_POS, _N_NEG = pl.col(EffectiveSize.N_POS), pl.col(EffectiveSize.N_NEG)
# Those by the weights of the other class.
_LEAST_POS, _LEAST_NEG = pl.col(EffectiveSize.N_POS_LEAST), pl.col(EffectiveSize.N_NEG_LEAST)
AT_BOUND_OF_ETA = {"eta at 0 or 1": (pl.col(Segment.ODDS) == 0) | pl.col(Segment.ODDS).is_infinite()}
# Sizes of empty classes are null, and null counts as true.
ONE_CLASS = {"one class": ~((_N_POS > 0) & (_N_NEG > 0))}
_SIZES_OF_CLASSES = ((_N_POS, _LEAST_POS), (_N_NEG, _LEAST_NEG))  # both sizes of either class


def list_doubts(
    value_name: str, metric: CurveMetric, n_deviations: float | pl.Expr, sample_kind: SampleKind
) -> dict[str, pl.Expr]:
    """Return why the interval of a metric from influences may not be calibrated."""
    # Of average precision each class must have 10 examples, or 100 clusters: with fewer, intervals hold
    # where clusters are alike, and how many carry the error does not matter, since that number is large
    # where heavy ones are missing. ROC AUC needs two; its differences that the smaller class times
    # 1 - AUC is at least 12. Of weighted rows each class must be large enough for what it may not show.
    # Strata show that: of each its weight is known, and least sizes count one row more of either class.
    pos_size, neg_size = (_LEAST_POS, _LEAST_NEG) if sample_kind.knows_weights else (_N_POS, _N_NEG)
    least_size = 100 if sample_kind.joins_rows else 10
    if not (counts_unseen(metric) or sample_kind.knows_weights):
        least_size = 2
    class_doubts = ONE_CLASS | {
        "few positives": pos_size < least_size,
        "few negatives": neg_size < least_size,
    }
    if counts_unseen(metric):
        class_doubts |= AT_BOUND_OF_ETA
        if not metric.recipe.is_compared:
            # By its odds one negative counts as `odds / n_neg` of all positives. From a quarter on, the
            # first that is seen decides the value, which is far too high on average before that.
            class_doubts[TAIL_NOT_SEEN] = pl.col(Segment.ODDS) > _N_NEG / 4
        if sample_kind.knows_weights:
            return class_doubts
        if metric.recipe.is_compared:  # models of different shape differ most in what was not seen
            half_width = (
                n_deviations
                * pl.col(f"{value_name}_error")
                / (pl.col(value_name) * (1 - pl.col(value_name)))
            )
            class_doubts[TAIL_NOT_SEEN] = ~(
                pl.max_horizontal(measure_unseen(value_name)) / half_width <= 1
            )
        return class_doubts | {"heavy weights": ~_shows_weights(_N_POS, _LEAST_POS)}
    if metric.recipe.is_compared:
        class_doubts |= _list_doubts_of_difference(value_name, sample_kind)
    if sample_kind.knows_weights:
        return class_doubts
    # About least**2 / size rows of a class weigh as much as those of the other class do on average.
    # Almost all of the error is theirs, and 20 are needed, times the share by which both differ.
    has_enough_exprs = (
        least_size**2 / size >= 20 * (1 - least_size / size) for size, least_size in _SIZES_OF_CLASSES
    )
    has_shown_weights = pl.all_horizontal(
        *(_shows_weights(*sizes) for sizes in _SIZES_OF_CLASSES), *has_enough_exprs
    )
    return class_doubts | {"heavy weights": ~has_shown_weights}


def _list_doubts_of_difference(value_name: str, sample_kind: SampleKind) -> dict[str, pl.Expr]:
    """Return why a difference of ROC AUC, whose interval has no extended ends, may not be calibrated."""
    # Without heavy examples 1 - AUC is too small, and this ratio of sizes is as much too large.
    counted_sizes = [
        least_size if sample_kind.knows_weights else size * (size / least_size)
        for size, least_size in _SIZES_OF_CLASSES
    ]
    return {
        f"few {class_name}": (size * (1 - pl.col(value_name)) < 12) | (pl.col(value_name) == 0)
        for class_name, size in zip(("positives", "negatives"), counted_sizes, strict=True)
    }


def _shows_weights(size: pl.Expr, least_size: pl.Expr) -> pl.Expr:
    """Return whether a class is large enough for its heavy examples to be in the sample as expected."""
    # It counts as `size` examples by its own weights, and as `least` by those of the other class. If a
    # few heavy ones are missing, `size` is too large and `least` too small, and a metric is wrong. So
    # the flag reads their product, which hardly changes: it must be 6000 times the share by which they
    # differ. Equal weights are always shown.
    return size * least_size >= 6000 * (1 - least_size / size)


def blame_clusters(doubts: dict[str, pl.Expr], sample_kind: SampleKind) -> dict[str, pl.Expr]:
    """Return doubts that blame clusters where there are enough examples, in too few of them."""
    if not sample_kind.joins_rows:
        return doubts
    total_column_by_reason = {"few positives": Group.N_POS, "few negatives": Group.N_NEG}
    is_few = pl.any_horizontal(doubts[reason] for reason in doubts if reason.startswith("few "))
    other_doubts = {reason: doubt for reason, doubt in doubts.items() if not reason.startswith("few ")}
    if not sample_kind.is_weighted:
        other_doubts |= {
            name: is_few & (pl.col(total_column) < 10)
            for name, total_column in total_column_by_reason.items()
        }
    return other_doubts | {"few clusters": is_few}


def list_bootstrap_doubts(value_name: str, metric: CurveMetric, side: str = "") -> Doubts:
    """Return why the bootstrap interval of a metric, of a `side` of a pair, may not be calibrated."""
    has_few_pos = _N_POS < 100
    if metric.range[1] == 1:
        has_few_pos |= _N_POS * (1 - pl.col(side + value_name)) < 12
    has_no_value = pl.col(side + value_name).is_null()
    doubts = ONE_CLASS | {"few positives": has_few_pos, "few negatives": _N_NEG < 100}
    doubts["no value"] = has_no_value
    if metric.depends_on_eta:
        doubts |= {reason: has_no_value & doubt for reason, doubt in AT_BOUND_OF_ETA.items()}
    if (at_target := metric.recipe.at_target) is not None and at_target.word == "fpr":
        # Where an fpr allows one negative, intervals of recall at it covered the true value as rarely as
        # 73%.
        doubts["few false positives"] = at_target.value * _N_NEG < 10
    if metric.depends_on_eta:
        # A sample without negatives above its highest positives has no replicate that has one. By their
        # odds the negatives represent n_neg / odds positives, and 500 are needed: with 100, intervals
        # were seen to cover the true value as rarely as 86%.
        doubts[TAIL_NOT_SEEN] = 500 * pl.col(Segment.ODDS) > _N_NEG
    return doubts
