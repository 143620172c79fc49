"""The sweep as plain expressions, for `select`, `with_columns`, `over` and `group_by().agg`.

    score, label, weight -> ScoredRows       amounts per row, and a guard that checks values
                         -> one value per row             cumulative counts at the row's own score
                         -> structs per distinct score    counts, sweep and curve
                         -> one value per context         curve metrics, thresholds of targets

An expression does not know the dtype of its column, so scores are not packed into integers here: rows
are sorted by their score, in whatever context Polars evaluates them. A value that is used more than
once is first put into a struct and then read from its fields, since Polars does not share common parts
of expressions in `agg`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl
from polars import selectors

from polars_prcurve.core.confidence.interval_input_columns import EtaError
from polars_prcurve.core.curves.curve_table import list_curve_columns
from polars_prcurve.core.curves.rising_rows_as_expressions import can_list_rises, list_rises
from polars_prcurve.core.curves.search_by_extremes import ROW_NUMBER
from polars_prcurve.core.curves.targets import Target
from polars_prcurve.core.ground import column_checks, exact_arithmetic
from polars_prcurve.core.ground.column_checks import equals_label, label_dtypes
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import Check, guard
from polars_prcurve.core.inputs.column_reader import Column, describe_expression, read_expression
from polars_prcurve.core.inputs.row_column_names import Row
from polars_prcurve.core.metrics.curve_metric import CurveFacts, CurveMetric, SegmentValues, odds_against
from polars_prcurve.core.metrics.point_metric import PointMetric, null_if_nan
from polars_prcurve.core.metrics.segment_column_names import CELLS, Segment
from polars_prcurve.core.prevalence.eta_table import class_factors
from polars_prcurve.core.prevalence.eta_values import read_eta_list
from polars_prcurve.core.sweep.sweep_column_names import COUNT_COLUMNS, SQUARE_COLUMNS, SWEEP_COLUMNS

Prevalence: TypeAlias = float | pl.Expr | None
"""A number, an expression with one value per context, or None for the prevalence of its rows."""
# Fields of a point, which is a struct in a list.
_POS_EXPONENT, _NEG_EXPONENT = "pos_exponent", "neg_exponent"  # of the units of weights
_COUNTS = ("tp_in_unit", "fp_in_unit", "fn_in_unit", "tn_in_unit")  # cells, in units of their class
_TOTALS = ("pos_in_unit", "neg_in_unit")  # sizes of the classes
_FACTORS = ("pos_factor", "neg_factor")  # of counts of each class at the prevalence
_FILLED_ETA = "filled_eta"  # the prevalence, that of the group where none was passed


def _share(above: pl.Expr, below: pl.Expr) -> pl.Expr:
    """Return the share of a class that scores at or above the threshold, null for an absent class."""
    # The total is a column, not a scalar: Polars multiplies by the reciprocal of a scalar, and
    # 49 * (1 / 49) is not 1.
    return (above / (above + below)).fill_nan(None)


# The four counts are the integers that are added up.
_TP, _FP, _FN, _TN = map(pl.field, CELLS)
# Shares of both classes at or above the threshold.
_RECALL, _FPR = _share(_TP, _FN), _share(_FP, _TN)


class _CountReader:
    """Reads the fields of the four counts, and point metrics at a prevalence, in any context."""

    def __init__(self, eta: Prevalence, *, has_weights: bool) -> None:
        self.eta, self.has_weights, self.reads_metrics = eta, has_weights, False

    def show(self, count: pl.Expr, exponent_field: str) -> pl.Expr:
        """Return a count as users see it: an integer, or a Float64 sum of weights."""
        return (
            exact_arithmetic.from_integer(count, pl.field(exponent_field)) if self.has_weights else count
        )

    def show_all(self) -> list[pl.Expr]:
        """Return tp, fp, fn and tn as users see them."""
        tp, fn = (self.show(cell, _POS_EXPONENT) for cell in (_TP, _FN))
        fp, tn = (self.show(cell, _NEG_EXPONENT) for cell in (_FP, _TN))
        return [tp, fp, fn, tn]

    def scale_to_unit(self, count: pl.Expr) -> pl.Expr:
        """Return a count as a float; a sum of weights in the unit that brings weights near 1."""
        if not self.has_weights:
            return count.cast(pl.Float64)
        least_exponent = pl.min_horizontal(pl.field(_POS_EXPONENT), pl.field(_NEG_EXPONENT))
        return count.cast(pl.Float64) * exact_arithmetic.weight_unit(least_exponent)

    def class_totals(self) -> tuple[pl.Expr, pl.Expr]:
        """Return the numbers of positives and of negatives as floats; sums of weights are near 1."""
        n_pos, n_neg = self.show(_TP + _FN, _POS_EXPONENT), self.show(_FP + _TN, _NEG_EXPONENT)
        return self.scale_to_unit(n_pos), self.scale_to_unit(n_neg)

    def fill_eta(self) -> pl.Expr:
        """Return the prevalence, with that of the group instead of None or null."""
        return self._fill_own(*self.class_totals())

    def _fill_own(self, n_pos: pl.Expr, n_neg: pl.Expr) -> pl.Expr:
        own_eta = n_pos / (n_pos + n_neg)
        return own_eta if self.eta is None else self._read_eta().cast(pl.Float64).fill_null(own_eta)

    def _read_eta(self) -> pl.Expr:
        return self.eta if isinstance(self.eta, pl.Expr) else pl.lit(self.eta, dtype=pl.Float64)

    def read_metric(self, metric: PointMetric) -> pl.Expr:
        """Return a metric from the fields of `list_steps`, which come first."""
        self.reads_metrics = True
        tp, fp, fn, tn = map(pl.field, _COUNTS)
        cell_exprs, rate_exprs = (tp, fn, fp, tn), (pl.field("recall"), pl.field("fpr"))
        if self.eta is None:  # at the test set's prevalence from counts
            return metric.from_counts(cell_exprs, None, rate_exprs, pl.lit(None, dtype=pl.Float64))
        pos_factor, neg_factor = map(pl.field, _FACTORS)
        return metric.from_counts(
            cell_exprs, (pos_factor, neg_factor), rate_exprs, pl.field(_FILLED_ETA)
        )

    def list_steps(self) -> list[dict[str, pl.Expr]]:
        """Return the fields that metrics read, in steps: those of a step read those before it."""
        if not self.reads_metrics:
            return []
        # Formulas read a count several times, and expressions share no common parts.
        count_exprs = zip(_COUNTS, map(self.scale_to_unit, self.show_all()), strict=True)
        total_exprs = zip(_TOTALS, self.class_totals(), strict=True)
        field_steps = [{**dict(count_exprs), **dict(total_exprs), "recall": _RECALL, "fpr": _FPR}]
        if self.eta is not None:
            eta, (n_pos, n_neg) = self._read_eta(), map(pl.field, _TOTALS)
            factor_exprs = class_factors(eta, eta.is_null(), n_pos, n_neg)
            filled_eta = self._fill_own(n_pos, n_neg)
            field_steps.append(
                {_FILLED_ETA: filled_eta, **dict(zip(_FACTORS, factor_exprs, strict=True))}
            )
        return field_steps


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The rows of one context: the score of each, and its contribution to either class."""

    score: pl.Expr
    is_positive: pl.Expr
    pos: pl.Expr  # 0 or 1, or the weight of the row times two to the exponent of its class: an integer
    neg: pl.Expr
    weight: pl.Expr | None
    exponents: tuple[pl.Expr, ...]  # of positives and negatives; empty without weights
    guard: pl.Expr  # 0 while all checks hold; otherwise it stops the query
    etas: Sequence[Prevalence]  # the prevalences that are requested, of which only a curve takes several

    def keep_name(self, value: pl.Expr) -> pl.Expr:
        """Return the value under the name of the score column."""
        return value.alias(self.score.meta.output_name())

    # One value per row ------------------------------------------------------------------------

    def count(self, cell: str) -> pl.Expr:
        """Return tp or fp: sums of a class at the row's own score and above; or fn or tn: below it."""
        is_positive = cell in ("tp", "fn")
        falling_amounts = (self.pos if is_positive else self.neg).sort_by(self.score, descending=True)
        cell_sum = self._gather_own_score(
            falling_amounts.cum_sum() if cell[1] == "p" else _sum_below(falling_amounts)
        )
        if self.exponents:
            cell_sum = exact_arithmetic.from_integer(cell_sum, self.exponents[not is_positive])
        return self.keep_name(cell_sum)

    def rate(self, of_positives: bool) -> pl.Expr:
        """Return recall or fpr at the row's own score."""
        amount_field = pl.field("amount")
        amount_structs = self._sort_structs((self.pos if of_positives else self.neg).alias("amount"))
        sum_structs = amount_structs.struct.eval(
            amount_field.cum_sum().alias("above"), _sum_below(amount_field).alias("below")
        )
        return self._evaluate(
            self._gather_own_score(sum_structs), _share(pl.field("above"), pl.field("below"))
        )

    def point_metric(self, metric: PointMetric) -> pl.Expr:
        """Return a point metric at the row's own score."""
        falling_structs = self._sort_structs(self.pos.alias("pos"), self.neg.alias("neg"))
        sum_structs = falling_structs.struct.eval(*_cumulative_counts(pl.field("pos"), pl.field("neg")))
        cell_structs = self._gather_own_score(sum_structs)
        if self.exponents:
            cell_structs = cell_structs.struct.with_fields(
                *_alias_all((_POS_EXPONENT, _NEG_EXPONENT), self.exponents)
            )
        count_reader = self._build_reader()
        metric_value = count_reader.read_metric(metric)
        return self._evaluate(
            _add_fields(self._add_eta(cell_structs), count_reader.list_steps()), metric_value
        )

    def _sort_structs(self, *field_exprs: pl.Expr) -> pl.Expr:
        """Return structs of these fields, by falling score."""
        return pl.struct(*field_exprs).sort_by(self.score, descending=True)

    def _gather_own_score(self, falling_values: pl.Expr) -> pl.Expr:
        """Return the value at the score of each row, in row order, from values by falling score."""
        # The rank "max" is the place of the last tied row, so that ties get the sum of all of them.
        first_rank = (1 - self.guard).cast(pl.UInt32)  # 1, which makes the guard part of the query
        return falling_values.gather(self.score.rank("max", descending=True) - first_rank)

    def _evaluate(self, structs: pl.Expr, value_expr: pl.Expr) -> pl.Expr:
        """Return the value of an expression over the fields of structs."""
        return self.keep_name(
            structs.struct.with_fields(value_expr.alias("value")).struct.field("value")
        )

    # One struct per distinct score ------------------------------------------------------------

    def count_structs(self) -> pl.Expr:
        """Return structs of COUNT_COLUMNS, and of SQUARE_COLUMNS with weights, by falling score."""
        count_reader = _CountReader(None, has_weights=bool(self.exponents))
        field_names: tuple[str, ...] = COUNT_COLUMNS
        exponent_fields = _POS_EXPONENT, _NEG_EXPONENT
        count_exprs = map(count_reader.show, map(_own_sum, ("tp", "fp")), exponent_fields)
        field_exprs = _alias_all(field_names, (pl.field("score"), *count_exprs))
        if self.exponents:
            field_names = (*field_names, *SQUARE_COLUMNS)
            field_exprs += [
                exact_arithmetic.square_from_integer(
                    _own_sum(square_field), pl.field(exponent_field)
                ).alias(square_field)
                for square_field, exponent_field in zip(SQUARE_COLUMNS, exponent_fields, strict=True)
            ]
        score_list = self._distinct_list(with_squares=bool(self.exponents))
        score_structs = score_list.list.explode(empty_as_null=False)
        return self.keep_name(_build_structs(score_structs, field_exprs, field_names))

    def sweep_structs(self) -> pl.Expr:
        """Return structs of SWEEP_COLUMNS, by falling threshold."""
        field_exprs = _sweep_fields(_CountReader(None, has_weights=bool(self.exponents)))
        score_structs = self._distinct_list().list.explode(empty_as_null=False)
        return self.keep_name(_build_structs(score_structs, field_exprs, SWEEP_COLUMNS))

    def curve_structs(self, metrics: Sequence[PointMetric]) -> pl.Expr:
        """Return structs of eta, SWEEP_COLUMNS and the metrics, by eta and falling threshold."""
        count_reader = self._build_reader()
        point_structs = self._add_eta(self._distinct_list().list.explode(empty_as_null=False))
        if len(self.etas) > 1:  # the structs of the sweep come repeated, by rising eta
            count_reader = _CountReader(pl.field("eta"), has_weights=bool(self.exponents))
            n_scores = pl.element().len()
            pair_number = pl.int_range(n_scores * len(self.etas))
            score_struct = pl.element().gather(pair_number % n_scores)
            pair_eta = pl.lit(pl.Series(self.etas, dtype=pl.Float64)).gather(pair_number // n_scores)
            field_names = ["score", "tp", "fp", "fn", "tn"]
            field_names += [_POS_EXPONENT, _NEG_EXPONENT] if self.exponents else []
            score_fields = (score_struct.struct.field(field_name) for field_name in field_names)
            pair_list = point_structs.implode().list.eval(
                pl.struct(pair_eta.alias("eta"), *score_fields)
            )
            repeated_structs = pair_list.list.explode(empty_as_null=False)
            # The prevalence of the rows stands where its value belongs.
            rising_eta = count_reader.fill_eta().alias("rising")
            rising_list = repeated_structs.struct.with_fields(rising_eta).implode()
            sorted_list = pl.element().sort_by(pl.element().struct.field("rising"), maintain_order=True)
            point_structs = rising_list.list.eval(sorted_list).list.explode(empty_as_null=False)
        metric_exprs = [
            count_reader.read_metric(metric) for metric in metrics if metric.name not in SWEEP_COLUMNS
        ]
        point_structs = _add_fields(point_structs, count_reader.list_steps())
        field_exprs = [count_reader.fill_eta().alias("eta"), *_sweep_fields(count_reader), *metric_exprs]
        return self.keep_name(
            _build_structs(point_structs, field_exprs, list_curve_columns(metrics, long=False))
        )

    # One value per context --------------------------------------------------------------------

    def summarize(self, metric: CurveMetric) -> pl.Expr:
        """Return a curve metric."""
        if metric.recipe.on_hull or metric.recipe.averages is not None:
            raise PrcError(
                f"use the method .prc.summary(metrics={metric.name!r}): {metric.name} is not "
                "available as an expression"
            )
        count_reader = self._build_reader()
        column_names: set[str] = set()

        def read(column_name: str) -> pl.Expr:
            column_names.add(column_name)
            return pl.field(column_name)

        row_values = SegmentValues(read, pl.field("at"), count_reader.read_metric)
        metric_steps = [step(row_values) for step in metric.recipe.all_steps()]
        term = metric.prepare_term(row_values)
        reads_fpr_before = not column_names.isdisjoint((Segment.FPR_BEFORE, Segment.RUN))
        point_list = self._list_segment_ends(metric, reads_fpr_before=reads_fpr_before)
        segment_steps = _list_segment_steps(
            metric, row_values, count_reader, reads_fpr_before=reads_fpr_before
        )
        fpr_of_rise = pl.when(row_values.recall > row_values.recall_before).then(row_values.fpr)
        last_exprs = {"term": term, "rises": fpr_of_rise}
        point_list = _add_steps(
            point_list, [*segment_steps, *count_reader.list_steps(), *metric_steps, last_exprs]
        )
        read_element = pl.element().struct.field
        # Without positives recall never rises, so the list may be empty; its first struct is then null.
        total_struct = pl.struct(
            metric.restore_total(metric.reduce_terms(read_element("term"))).alias("total"),
            read_element("at").first(),
            (read_element("tp").first() + read_element("fn").first()).alias("n_pos"),
            (read_element("fp").first() + read_element("tn").first()).alias("n_neg"),
            read_element("rises").min(),
        )
        n_pos, n_neg = pl.field("n_pos"), pl.field("n_neg")
        size_exprs = (None if self.exponents else n.cast(pl.Float64) for n in (n_pos, n_neg))
        curve_facts = CurveFacts(pl.field("at"), n_pos > 0, n_neg > 0, pl.field("rises"), *size_exprs)
        metric_value = null_if_nan(metric.recipe.finish(pl.field("total"), curve_facts))
        return self._evaluate(point_list.list.eval(total_struct).list.first(), metric_value)

    def find_threshold(self, target: Target) -> pl.Expr:
        """Return the score of the operating point that meets the target, or null."""
        point_list, count_reader = self._bind_eta(self._distinct_list()), self._build_reader()
        read_element = pl.element().struct.field
        row_values = SegmentValues(pl.field, pl.field("at"), count_reader.read_metric)
        row_numbers = pl.int_range(pl.field("tp").len(), dtype=pl.Int64)
        rate_exprs = {ROW_NUMBER: row_numbers, "recall": _RECALL, "fpr": _FPR}
        if target.promise is not None:
            eta, rate_exprs["at"] = count_reader.eta, count_reader.fill_eta()
            rate_exprs[EtaError.IS_OWN] = (
                eta.is_null() if isinstance(eta, pl.Expr) else pl.lit(eta is None)
            )
            rate_exprs[Row.SCORE] = pl.field("score").cast(pl.Float64)
        extreme_by_name = target.search.find_extremes(row_values)
        extreme_exprs = {
            extreme_name: extreme.value for extreme_name, extreme in extreme_by_name.items()
        }
        search_steps = [step(row_values) for step in target.search.steps]
        point_list = _add_steps(
            point_list, [rate_exprs, *count_reader.list_steps(), *search_steps, extreme_exprs]
        )
        row_number = target.search.read_row(
            lambda extreme_name: extreme_by_name[extreme_name].reduce(read_element(extreme_name))
        )
        return self.keep_name(
            point_list.list.eval(read_element("score").gather(row_number)).list.first()
        )

    def _build_reader(self) -> _CountReader:
        """Return the reader of structs to which the prevalence was added, if it is an expression."""
        eta = self.etas[0]
        return _CountReader(
            pl.field("eta") if isinstance(eta, pl.Expr) else eta, has_weights=bool(self.exponents)
        )

    def _bind_eta(self, point_list: pl.Expr) -> pl.Expr:
        """Add a prevalence that is an expression to the structs of a list."""
        if not isinstance(self.etas[0], pl.Expr):
            return point_list
        return self._add_eta(point_list.list.explode(empty_as_null=False)).implode()

    def _add_eta(self, point_structs: pl.Expr) -> pl.Expr:
        """Add a prevalence that is an expression to structs as a field."""
        eta = self.etas[0]
        if not isinstance(eta, pl.Expr):
            return point_structs
        # It is added to a column, because a lone scalar has no dtype in `agg` of an empty frame.
        eta_expr = pl.field("tp").cast(pl.Float64) * 0.0 + eta
        return point_structs.struct.with_fields(eta_expr.alias("eta"))

    def _list_segment_ends(self, metric: CurveMetric, *, reads_fpr_before: bool) -> pl.Expr:
        """Return a list of the rows that the metric needs, with cells and counts of the row before."""
        if can_list_rises(metric.recipe, has_weights=bool(self.exponents)):
            rise_list = list_rises(self.score, self.is_positive, reads_fpr_before=reads_fpr_before)
            return self._bind_eta(pl.when(self.guard == 0).then(rise_list))
        count_before_exprs = {
            "tp_before": _TP.shift(1).fill_null(0),
            "fp_before": _FP.shift(1).fill_null(0),
        }
        point_list = _add_steps(self._bind_eta(self._distinct_list()), [count_before_exprs])
        if metric.recipe.needs != "rises":
            return point_list
        read_element = pl.element().struct.field
        return point_list.list.filter(read_element("tp") > read_element("tp_before"))

    def _distinct_list(self, *, with_squares: bool = False) -> pl.Expr:
        """Return a list of structs of score, cells (sums of squares, exponents), by falling score."""
        score, pos = pl.field("score"), pl.field("pos")
        field_exprs = [self.score.alias("score"), self.pos.alias("pos")]
        neg: pl.Expr = 1 - pos  # which is one column less to sort
        if self.weight is not None:
            neg = pl.field("neg")
            field_exprs += [self.neg.alias("neg"), self.weight.alias("weight")]
        falling_structs = self._sort_structs(*field_exprs)
        if self.exponents:
            falling_structs = falling_structs.struct.with_fields(
                *_alias_all((_POS_EXPONENT, _NEG_EXPONENT), self.exponents)
            )
        falling_list = falling_structs.implode()
        score_list: pl.Expr = pl.when(self.guard == 0).then(falling_list)
        if self.weight is not None:
            score_list = score_list.list.filter(pl.element().struct.field("weight") > 0)
        square_sum_exprs = (
            exact_arithmetic.square_integer(amount, is_scaled=True).cum_sum() for amount in (pos, neg)
        )
        running_structs = pl.element().struct.eval(
            score.alias("score"),
            *_cumulative_counts(pos, neg),
            *(_alias_all(SQUARE_COLUMNS, square_sum_exprs) if with_squares else []),
            score.ne_missing(score.shift(-1)).alias("last"),
            *(map(_name_field, (_POS_EXPONENT, _NEG_EXPONENT)) if self.exponents else []),
        )
        # Lists keep the rows of a group together; Polars would regroup plain rows for each expression.
        return score_list.list.eval(running_structs).list.filter(pl.element().struct.field("last"))


def _list_segment_steps(
    metric: CurveMetric, row_values: SegmentValues, count_reader: _CountReader, *, reads_fpr_before: bool
) -> list[dict[str, pl.Expr]]:
    """Return the fields of segments that formulas read, in steps, from cells and counts before."""
    rate_exprs = {
        "at": count_reader.fill_eta(),
        "recall": _RECALL,
        "fpr": _FPR,
        Segment.RECALL_BEFORE: (pl.field("tp_before") / (_TP + _FN)).fill_nan(None),
        Segment.FPR_OR_ZERO: _FPR.fill_null(0.0),
    }
    extent_exprs = {
        Segment.RISE: row_values.recall - row_values.recall_before,
        Segment.FPR_RECALL_RATIO: row_values.fpr / row_values.recall,
        Segment.ODDS: odds_against(row_values.eta),
    }
    if reads_fpr_before:
        rate_exprs[Segment.FPR_BEFORE] = (pl.field("fp_before") / (_FP + _TN)).fill_nan(0.0)
        extent_exprs[Segment.RUN] = row_values.fpr - row_values.fpr_before
    segment_steps = [rate_exprs, extent_exprs]
    if metric.recipe.reads_envelope:
        # The least fpr / recall at this row or a later one, which is the best precision there.
        ratio: pl.Expr = row_values.ratio.fill_nan(None).fill_null(float("inf"))
        segment_steps.append({Segment.ENVELOPE: ratio.cum_min(reverse=True)})
    return segment_steps


def _add_steps(point_list: pl.Expr, steps: Iterable[Mapping[str, pl.Expr]]) -> pl.Expr:
    """Add fields to lists of structs, as `_add_fields` does to structs."""
    return point_list.list.eval(_add_fields(pl.element(), steps))


def _add_fields(structs: pl.Expr, steps: Iterable[Mapping[str, pl.Expr]]) -> pl.Expr:
    """Add fields to structs, step by step: a step reads the fields of steps before it."""
    for step in steps:
        structs = structs.struct.with_fields(
            *(value_expr.alias(field_name) for field_name, value_expr in step.items())
        )
    return structs


def _cumulative_counts(pos_amount: pl.Expr, neg_amount: pl.Expr) -> list[pl.Expr]:
    """Return tp, fp, fn and tn of rows by falling score."""
    # Sums from below need no total; a total would have to be spread over the rows.
    sum_exprs = (
        pos_amount.cum_sum(),
        neg_amount.cum_sum(),
        _sum_below(pos_amount),
        _sum_below(neg_amount),
    )
    return _alias_all(CELLS, sum_exprs)


def _own_sum(sum_field: str) -> pl.Expr:
    """Return what the score of a row adds to a running sum, by the name of its field."""
    return pl.field(sum_field) - pl.field(sum_field).shift(1, fill_value=0)


def _sum_below(amount: pl.Expr) -> pl.Expr:
    """Return the sum over the rows after each row."""
    return amount.cum_sum(reverse=True) - amount


def read_scored_rows(
    score: pl.Expr,
    label: Column,
    eta: Any = None,
    *,
    weight: Column | None = None,
    pos_label: Any = None,
    takes_several: bool = False,
) -> ScoredRows:
    """Read score, label, prevalence and weight in any context, with a guard that checks their values."""
    etas = _read_prevalences(eta, takes_several=takes_several)
    score, labels = read_expression(".prc", score), read_expression("label=", label)
    tally_exprs: list[pl.Expr] = []  # fields of one struct, so that each is computed once

    def count(test: pl.Expr) -> pl.Expr:
        tally_name = f"count_{len(tally_exprs)}"
        tally_exprs.append(test.sum().cast(pl.Int64).alias(tally_name))
        return pl.field(tally_name)

    score_text = describe_expression("score", score)
    label_text = describe_expression("label", labels)
    score = column_checks.SCORE_DTYPES.restrict(score_text, score)
    raw_labels, labels = labels, label_dtypes(pos_label).restrict(label_text, labels)
    checks = [
        *column_checks.missing_checks(count, score_text, score, refuses_nan=True, may_rank_last=True),
        *column_checks.missing_checks(count, label_text, labels, refuses_nan=False),
    ]
    if pos_label is None:
        label_numbers = _to_numbers(raw_labels, labels)  # of any dtype, until the dtype is checked
        is_positive = label_numbers == 1
        checks += column_checks.label_checks(count, label_text, label_numbers)
    else:
        is_positive = equals_label(labels, pos_label)
        checks += column_checks.pos_label_checks(count, label_text, is_positive, pos_label)
    pos_amount, neg_amount = is_positive.cast(pl.Int64), (~is_positive).cast(pl.Int64)
    weights: pl.Expr | None = None
    exponents: tuple[pl.Expr, ...] = ()
    if weight is not None:
        weights = read_expression("weight=", weight)
        weight_text = describe_expression("weight", weights)
        weights = column_checks.AMOUNT_DTYPES.restrict(weight_text, weights).cast(pl.Float64)
        checks += column_checks.missing_checks(count, weight_text, weights, refuses_nan=True)
        checks += column_checks.weight_checks(count, weight_text, weights)
        amount_exprs = weights * pos_amount, weights * neg_amount
        exponents = tuple(exact_arithmetic.weight_exponent(amount.max()) for amount in amount_exprs)
        pos_amount, neg_amount = map(exact_arithmetic.to_integer, amount_exprs, exponents)
    if isinstance(etas[0], pl.Expr):
        checks += column_checks.eta_checks(count, "eta=", etas[0])
    guard_expr = _build_guard(tally_exprs, checks)
    return ScoredRows(score, is_positive, pos_amount, neg_amount, weights, exponents, guard_expr, etas)


def _build_guard(tally_exprs: list[pl.Expr], checks: list[Check]) -> pl.Expr:
    """Return a number that is 0 while the checks of tallies hold; otherwise it stops the query."""
    is_broken = pl.any_horizontal(check.is_broken for check in checks)
    tally_structs = pl.struct(*tally_exprs).struct.with_fields(is_broken.alias("is_broken"))
    # A list of one struct, or of none: sentences are written of the groups of which a check is broken.
    broken_list = pl.concat_list(tally_structs).list.filter(pl.element().struct.field("is_broken"))
    guard_struct = pl.element().struct.with_fields(guard(checks).alias("guard"))
    return broken_list.list.eval(guard_struct.struct.field("guard")).list.sum()


def _to_numbers(raw_labels: pl.Expr, labels: pl.Expr) -> pl.Expr:
    """Return labels, whose dtype is checked first, as Float64."""
    # Polars casts a Boolean to a float ten times as slowly as to an integer.
    is_boolean = pl.dtype_of(raw_labels).matches(selectors.boolean())
    cast_labels = pl.when(~is_boolean).then(labels).cast(pl.Float64, strict=False)
    return pl.when(is_boolean).then(labels.cast(pl.Int8, strict=False)).otherwise(cast_labels)


def _read_prevalences(eta: Any, *, takes_several: bool) -> Sequence[Prevalence]:
    """Return the prevalences of the context; an expression is one of them, as a Float64."""
    if isinstance(eta, pl.Expr):
        eta_expr = column_checks.ETA_DTYPES.restrict("eta=", read_expression("eta=", eta))
        return [eta_expr.cast(pl.Float64)]
    etas = read_eta_list(eta)
    if len(etas) > 1 and not takes_several:
        raise PrcError(
            f"write one expression for each eta: each returns a single value; got eta={eta!r}"
        )
    return etas


def _sweep_fields(count_reader: _CountReader) -> list[pl.Expr]:
    return _alias_all(SWEEP_COLUMNS, (pl.field("score"), *count_reader.show_all(), _RECALL, _FPR))


def _build_structs(
    structs: pl.Expr, field_exprs: Iterable[pl.Expr], field_names: Iterable[str]
) -> pl.Expr:
    """Return structs that hold only the new fields, in the order of `field_names`."""
    # Two steps, because `eval` alone loses a field that is used twice.
    return structs.struct.with_fields(*field_exprs).struct.eval(*map(_name_field, field_names))


def _name_field(name: str) -> pl.Expr:
    return pl.field(name).alias(name)


def _alias_all(names: Iterable[str], value_exprs: Iterable[pl.Expr]) -> list[pl.Expr]:
    return [value.alias(name) for name, value in zip(names, value_exprs, strict=False)]
