"""Why the interval of a curve metric may not be calibrated.

The limits of doubts were read off the simulations of `benchmarks/coverage.py`.
"""

from __future__ import annotations

import polars as pl

from polars_prcurve.core.confidence.doubts import TAIL_NOT_SEEN, Doubts
from polars_prcurve.core.confidence.interval_input_columns import EffectiveSize
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.inputs.sample_kinds import SampleKind
from polars_prcurve.core.metrics.curve_metric import CurveMetric
from polars_prcurve.core.metrics.segment_column_names import Segment
from polars_prcurve.core.uncertainty.unseen_examples import counts_unseen, measure_unseen

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
