"""The sweep as plain expressions, for `select`, `with_columns`, `over` and `group_by().agg`.

An expression cannot know the dtype of its column, so nothing is packed here: rows are sorted
by their score, in whatever context Polars evaluates them. Whatever is used more than once is
first put into a struct and then read from its fields, since Polars does not share common
parts of expressions in `agg`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import checks, exact
from polars_prcurve.columns import (
    COUNTS,
    ENVELOPE,
    FPR,
    FPR_BEFORE,
    ODDS,
    RATIO,
    RECALL_BEFORE,
    RISE,
    RUN,
    SWEEP,
)
from polars_prcurve.curve import added_by_curve
from polars_prcurve.curve_metrics import Curve, CurveMetric, Rows, odds_against
from polars_prcurve.errors import Check, PrcError, guard
from polars_prcurve.inputs import Column
from polars_prcurve.point_metrics import PointMetric
from polars_prcurve.prevalence import eta_list, factors
from polars_prcurve.targets import ROW, Target, chosen_row

__all__ = ["Evidence", "read_evidence", "read_one_prevalence", "read_prevalence"]

Prevalence: TypeAlias = float | pl.Expr | None
"""A number, an expression with one value per context, or None: the context's own."""


class Cells(NamedTuple):
    """The four counts as columns, in the integers that are added up, and their exponents.

    Rates divide by totals that are columns, not scalars: Polars multiplies by the reciprocal of
    a scalar, and 49 * (1 / 49) is not 1.
    """

    tp: pl.Expr
    fp: pl.Expr
    fn: pl.Expr
    tn: pl.Expr
    weighted: bool

    def shown(self) -> list[pl.Expr]:
        """tp, fp, fn and tn as users see them."""
        exponents = (_POS, _NEG, _POS, _NEG)
        return [self._shown(*amount) for amount in zip(self[:4], exponents, strict=True)]

    def _shown(self, value: pl.Expr, exponent: str) -> pl.Expr:
        return exact.from_integer(value, pl.field(exponent)) if self.weighted else value

    @property
    def recall(self) -> pl.Expr:
        return _share(self.tp, self.fn)

    @property
    def fpr(self) -> pl.Expr:
        return _share(self.fp, self.tn)

    def totals(self) -> tuple[pl.Expr, pl.Expr]:
        """Positives and negatives, near 1 if they are weights."""
        totals = ((self.tp + self.fn, _POS), (self.fp + self.tn, _NEG))
        pos, neg = (self._near_1(self._shown(*total)) for total in totals)
        return pos, neg

    def _near_1(self, count: pl.Expr) -> pl.Expr:
        count = count.cast(pl.Float64)
        if not self.weighted:
            return count
        return count * exact.unit(pl.min_horizontal(pl.field(_POS), pl.field(_NEG)))

    def metric(self, metric: PointMetric, eta: Prevalence) -> pl.Expr:
        """A point metric at a prevalence; of the plain counts where that changes nothing."""
        at: pl.Expr = eta if isinstance(eta, pl.Expr) else pl.lit(eta, dtype=pl.Float64)
        tp, fp, fn, tn = map(self._near_1, self.shown())
        rescale = None if eta is None else factors(at, at.is_null(), *self.totals())
        return metric.of_counts((tp, fn, fp, tn), rescale, (self.recall, self.fpr), at)


_POS, _NEG = "pos_exponent", "neg_exponent"


def _share(above: pl.Expr, below: pl.Expr) -> pl.Expr:
    return (above / (above + below)).fill_nan(None)


@dataclass(frozen=True)
class Evidence:
    """What the rows of one context say: a score, and what each adds to either class.

    Weights are integers here, per class times two to the power of its exponent.
    """

    score: pl.Expr
    pos: pl.Expr
    neg: pl.Expr
    weight: pl.Expr | None
    exponents: tuple[pl.Expr, ...]
    checked: pl.Expr
    """0, or the query stops."""

    def named(self, value: pl.Expr) -> pl.Expr:
        return value.alias(self.score.meta.output_name())

    # One value per row ------------------------------------------------------------------------

    def above(self, positive: bool) -> pl.Expr:
        """tp or fp: how much there is at the row's own score and above."""
        amount = self._falling(self.pos if positive else self.neg)
        return self._count(positive, self._at_own_score(amount.cum_sum()))

    def below(self, positive: bool) -> pl.Expr:
        """fn or tn: how much there is below the row's own score."""
        amount = self._falling(self.pos if positive else self.neg)
        return self._count(positive, self._at_own_score(_sum_below(amount)))

    def rate(self, positive: bool) -> pl.Expr:
        """Recall or fpr."""
        amount = pl.field("amount")
        rows = self._falling(pl.struct((self.pos if positive else self.neg).alias("amount")))
        both = rows.struct.eval(amount.cum_sum().alias("above"), _sum_below(amount).alias("below"))
        return self._evaluated(self._at_own_score(both), _share(pl.field("above"), pl.field("below")))

    def metric(self, metric: PointMetric, eta: Prevalence) -> pl.Expr:
        """A point metric."""
        pos, neg = pl.field("pos"), pl.field("neg")
        amounts = pl.struct(self.pos.alias("pos"), self.neg.alias("neg"))
        rows = self._at_own_score(self._falling(amounts).struct.eval(*_running(pos, neg)))
        if self.exponents:
            rows = rows.struct.with_fields(*_as((_POS, _NEG), self.exponents))
        rows, eta = _with_eta(rows, eta)
        return self._evaluated(rows, self._cells().metric(metric, eta))

    def _falling(self, amounts: pl.Expr) -> pl.Expr:
        return amounts.sort_by(self.score, descending=True)

    def _at_own_score(self, falling: pl.Expr) -> pl.Expr:
        """From the order of falling scores back to that of the rows; ties move together."""
        first = (1 - self.checked).cast(pl.UInt32)
        return falling.gather(self.score.rank("max", descending=True) - first)

    def _count(self, positive: bool, amount: pl.Expr) -> pl.Expr:
        if self.exponents:
            amount = exact.from_integer(amount, self.exponents[not positive])
        return self.named(amount)

    def _evaluated(self, rows: pl.Expr, value: pl.Expr) -> pl.Expr:
        return self.named(rows.struct.with_fields(value.alias("value")).struct.field("value"))

    # One struct per distinct score ------------------------------------------------------------

    def added(self) -> pl.Expr:
        """Structs of COUNTS."""
        pos, neg = (pl.field(run) - pl.field(run).shift(1, fill_value=0) for run in ("tp", "fp"))
        cells = Cells(pos, neg, pos, neg, bool(self.exponents))
        fields = _as(COUNTS, (pl.field("score"), *cells.shown()[:2]))
        return self.named(_made_of(self._distinct_scores(), fields, COUNTS))

    def swept(self) -> pl.Expr:
        """Structs of SWEEP."""
        return self.named(_made_of(self._distinct_scores(), _sweep_fields(self._cells()), SWEEP))

    def curved(self, metrics: Sequence[PointMetric], eta: Prevalence | list[float | None]) -> pl.Expr:
        """Structs of eta, SWEEP and the metrics."""
        rows, cells = self._distinct_scores(), self._cells()
        if isinstance(eta, list):
            rows, eta = _repeated(rows, eta, cells, bool(self.exponents)), pl.field("eta")
        else:
            rows, eta = _with_eta(rows, eta)
        values = [cells.metric(m, eta) for m in metrics if m.name not in SWEEP]
        filled = _filled(eta, *cells.totals()).alias("eta")
        names = added_by_curve(metrics, long=False)
        return self.named(_made_of(rows, [filled, *_sweep_fields(cells), *values], names))

    # One value per context --------------------------------------------------------------------

    def summarized(self, metric: CurveMetric, eta: Prevalence) -> pl.Expr:
        """A curve metric."""
        if metric.on_hull or metric.averages is not None:
            raise PrcError(
                f"{metric.name} is not to be had as an expression; ask the frame method summary for it"
            )
        listed, eta = self._at(eta)
        rows = Rows(pl.field, pl.field("at"), lambda of: self._cells().metric(of, eta))
        listed = self._segments(listed, metric, rows, eta)
        listed = _with_steps(listed, [step(rows) for step in (metric.once, *metric.steps) if step])
        rises = pl.when(rows.recall > rows.recall_before).then(rows.fpr)
        listed = _with_steps(listed, [{"term": metric.prepared(rows), "rises": rises}])
        element = pl.element().struct.field
        known = pl.struct(  # empty without positives where only rises are kept, and then null
            metric.restored(metric.reduced(element("term"))).alias("total"),
            element("at").first(),
            (element("tp").first() + element("fn").first()).alias("n_pos"),
            (element("fp").first() + element("tn").first()).alias("n_neg"),
            element("rises").min(),
        )
        n_pos, n_neg = pl.field("n_pos"), pl.field("n_neg")
        sizes = (pl.lit(None) if self.exponents else n.cast(pl.Float64) for n in (n_pos, n_neg))
        curve = Curve(pl.field("at"), n_pos > 0, n_neg > 0, pl.field("rises"), *sizes)
        value = metric.finish(pl.field("total"), curve).fill_nan(None)
        return self._evaluated(listed.list.eval(known).list.first(), value)

    def threshold(self, target: Target, eta: Prevalence) -> pl.Expr:
        """The score of the operating point that meets the target, or null."""
        listed, eta = self._at(eta)
        cells, element = self._cells(), pl.element().struct.field
        rows = Rows(pl.field, pl.field("eta"), lambda of: cells.metric(of, eta))
        number = pl.int_range(pl.field("tp").len(), dtype=pl.Int64)
        rates = {ROW: number, "recall": cells.recall, "fpr": cells.fpr}
        listed = _with_steps(listed, [rates, {"choice": target.choice(rows)}])
        chosen = element("score").gather(chosen_row(element("choice").max()))
        return self.named(listed.list.eval(chosen).list.first())

    def _at(self, eta: Prevalence) -> tuple[pl.Expr, Prevalence]:
        """The list of distinct scores, with eta as a field if it is an expression."""
        listed = self._distinct_list()
        if isinstance(eta, pl.Expr):
            with_eta, eta = _with_eta(listed.list.explode(), eta)
            listed = with_eta.implode()
        return listed, eta

    def _segments(self, listed: pl.Expr, metric: CurveMetric, rows: Rows, eta: Prevalence) -> pl.Expr:
        """The rows that the metric needs, each with the end of the segment before it."""
        cells, tp, fp = self._cells(), pl.field("tp"), pl.field("fp")
        shifted = {"tp_before": tp.shift(1).fill_null(0), "fp_before": fp.shift(1).fill_null(0)}
        listed = _with_steps(listed, [shifted])
        if metric.needs == "rises":
            element = pl.element().struct.field
            listed = listed.list.filter(element("tp") > element("tp_before"))
        rates = {
            "at": _filled(eta, *cells.totals()),
            "recall": cells.recall,
            "fpr": cells.fpr,
            RECALL_BEFORE: (pl.field("tp_before") / (tp + pl.field("fn"))).fill_nan(None),
            FPR: cells.fpr.fill_null(0.0),
            FPR_BEFORE: (pl.field("fp_before") / (fp + pl.field("tn"))).fill_nan(0.0),
        }
        extent = {
            RISE: rows.recall - rows.recall_before,
            RUN: rows.fpr - rows.fpr_before,
            RATIO: rows.fpr / rows.recall,
            ODDS: odds_against(rows.eta),
        }
        steps = [rates, extent]
        if metric.looks_ahead:
            steps.append({ENVELOPE: _envelope(rows)})
        return _with_steps(listed, steps)

    def _cells(self) -> Cells:
        tp, fp, fn, tn = map(pl.field, ("tp", "fp", "fn", "tn"))
        return Cells(tp, fp, fn, tn, bool(self.exponents))

    def _distinct_scores(self) -> pl.Expr:
        return self._distinct_list().list.explode()

    def _distinct_list(self) -> pl.Expr:
        """Structs of score, tp, fp, fn, tn (and exponents), in integers, by falling score."""
        score, pos = pl.field("score"), pl.field("pos")
        fields = [self.score.alias("score"), self.pos.alias("pos")]
        neg: pl.Expr = 1 - pos  # one column less to sort
        if self.weight is not None:
            neg = pl.field("neg")
            fields += [self.neg.alias("neg"), self.weight.alias("weight")]
            fields += _as((_POS, _NEG), self.exponents)
        falling = self._falling(pl.struct(*fields)).implode()
        rows: pl.Expr = pl.when(self.checked == 0).then(falling)
        if self.weight is not None:
            rows = rows.list.filter(pl.element().struct.field("weight") > 0)
        running = pl.element().struct.eval(
            score,
            *_running(pos, neg),
            score.ne_missing(score.shift(-1)).alias("last"),
            *([pl.field(_POS), pl.field(_NEG)] if self.exponents else []),
        )
        # As lists, since Polars would regroup the rows for each expression of its own.
        return rows.list.eval(running).list.filter(pl.element().struct.field("last"))


def _with_steps(listed: pl.Expr, steps: Iterable[Mapping[str, pl.Expr]]) -> pl.Expr:
    """Lists of structs, with fields added step by step."""
    rows = pl.element()
    for step in steps:
        rows = rows.struct.with_fields(*(value.alias(name) for name, value in step.items()))
    return listed.list.eval(rows)


def _envelope(rows: Rows) -> pl.Expr:
    ratio = rows.ratio.fill_nan(None).fill_null(float("inf"))
    return ratio.cum_min(reverse=True)


def _running(pos: pl.Expr, neg: pl.Expr) -> list[pl.Expr]:
    """tp, fp, fn and tn of rows by falling score."""
    # What is below needs no total, which would have to be spread over the rows.
    sums = (pos.cum_sum(), neg.cum_sum(), _sum_below(pos), _sum_below(neg))
    return _as(("tp", "fp", "fn", "tn"), sums)


def _sum_below(amount: pl.Expr) -> pl.Expr:
    return amount.cum_sum(reverse=True) - amount


def read_evidence(
    score: pl.Expr,
    label: Column,
    *,
    weight: Column | None = None,
    pos_label: Any = None,
    eta: object = None,
) -> Evidence:
    """Score, label and weight in any context, with every check that values allow."""
    if score.meta.has_multiple_outputs():
        raise PrcError("the score is several columns; ask for the structs of one at a time")
    given = _column("label", label)
    tallies = _Tallies()
    named = {"score": _shown("score", score), "label": _shown("label", given)}
    found = [
        *checks.missing_checks(tallies.count, named["score"], score, nan=True),
        *checks.missing_checks(tallies.count, named["label"], given, nan=False),
    ]
    if pos_label is None:
        positive = given == 1
        found += checks.label_checks(tallies.count, named["label"], given)
    else:
        positive = given == pl.lit(pos_label)
        found += checks.pos_label_check(tallies.count, named["label"], positive, pos_label)
    pos, neg = positive.cast(pl.Int64), (~positive).cast(pl.Int64)
    mass: pl.Expr | None = None
    exponents: tuple[pl.Expr, ...] = ()
    if weight is not None:
        mass = _column("weight", weight)
        what = _shown("weight", mass)
        found += checks.missing_checks(tallies.count, what, mass, nan=True)
        found += checks.amount_checks(tallies.count, what, mass)
        mass = mass.cast(pl.Float64)
        amounts = mass * pos, mass * neg
        exponents = tuple(exact.exponent(amount.max()) for amount in amounts)
        pos, neg = map(exact.to_integer, amounts, exponents)
    if isinstance(eta, pl.Expr):
        eta = _column("eta", eta)
        found += checks.eta_checks(tallies.count, eta.cast(pl.Float64))
    return Evidence(score, pos, neg, mass, exponents, tallies.guard(found))


def read_prevalence(eta: Any) -> Prevalence | list[float | None]:
    """One prevalence for the context, or a list of several."""
    if isinstance(eta, pl.Expr):
        return eta.cast(pl.Float64)
    values = eta_list(eta)
    return values[0] if len(values) == 1 else values


def read_one_prevalence(eta: Any) -> Prevalence:
    """The prevalence of what is one value."""
    at = read_prevalence(eta)
    if isinstance(at, list):
        raise PrcError(f"there is one value for one prevalence: pass a single eta; got {eta!r}")
    return at


def _sweep_fields(cells: Cells) -> list[pl.Expr]:
    return _as(SWEEP, (pl.field("score"), *cells.shown(), cells.recall, cells.fpr))


def _made_of(rows: pl.Expr, fields: Iterable[pl.Expr], names: Iterable[str]) -> pl.Expr:
    """Structs of new fields alone. In two steps: `eval` alone loses a field that is used twice."""
    return rows.struct.with_fields(*fields).struct.eval(*map(pl.field, names))


def _with_eta(rows: pl.Expr, eta: Prevalence) -> tuple[pl.Expr, Prevalence]:
    """A prevalence that is an expression becomes a field, one value for each row."""
    if not isinstance(eta, pl.Expr):
        return rows, eta
    # Added to a column, since in `agg` of an empty frame a lone scalar has no dtype.
    column = pl.field("tp").cast(pl.Float64) * 0.0 + eta
    return rows.struct.with_fields(column.alias("eta")), pl.field("eta")


def _filled(eta: Prevalence, n_pos: pl.Expr, n_neg: pl.Expr) -> pl.Expr:
    own = n_pos / (n_pos + n_neg)
    if eta is None:
        return own
    return (eta if isinstance(eta, pl.Expr) else pl.lit(eta)).cast(pl.Float64).fill_null(own)


def _repeated(rows: pl.Expr, etas: list[float | None], cells: Cells, weighted: bool) -> pl.Expr:
    """The structs of a sweep once for each prevalence, which is a field of them, by rising eta."""
    n = pl.element().len()
    place = pl.int_range(n * len(etas))
    row = pl.element().gather(place % n)
    eta = pl.lit(pl.Series(etas, dtype=pl.Float64)).gather(place // n)
    names = ["score", "tp", "fp", "fn", "tn", *([_POS, _NEG] if weighted else [])]
    pairs = pl.struct(eta.alias("eta"), *(row.struct.field(name) for name in names))
    repeated = rows.implode().list.eval(pairs).list.explode()
    keyed = repeated.struct.with_fields(_filled(pl.field("eta"), *cells.totals()).alias("rising"))
    by_rising = pl.element().sort_by(pl.element().struct.field("rising"), maintain_order=True)
    return keyed.implode().list.eval(by_rising).list.explode()


def _as(names: Iterable[str], values: Iterable[pl.Expr]) -> list[pl.Expr]:
    return [value.alias(name) for name, value in zip(names, values, strict=False)]


class _Tallies:
    """Counts of rows, each a field of one struct, so that it is counted once."""

    def __init__(self) -> None:
        self.counts: list[pl.Expr] = []

    def count(self, test: pl.Expr) -> pl.Expr:
        name = f"count_{len(self.counts)}"
        self.counts.append(test.sum().cast(pl.Int64).alias(name))
        return pl.field(name)

    def guard(self, found: Iterable[Check]) -> pl.Expr:
        guarded = pl.struct(*self.counts).struct.with_fields(guard(found).alias("checked"))
        return guarded.struct.field("checked")


def _column(argument: str, column: Column) -> pl.Expr:
    if not isinstance(column, str | pl.Expr):
        raise PrcError(f"{argument}= takes a column name or an expression; got {column!r}")
    if isinstance(column, pl.Expr) and column.meta.has_multiple_outputs():
        raise PrcError(f"{argument}= takes one column; got {column}")
    return pl.col(column) if isinstance(column, str) else column


def _shown(argument: str, expr: pl.Expr) -> str:
    return f"{argument} column {expr.meta.output_name()!r}"
