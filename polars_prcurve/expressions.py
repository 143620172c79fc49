"""The sweep as plain expressions, for `select`, `with_columns`, `over` and `group_by().agg`.

An expression cannot know the dtype of its column, so nothing is packed here: rows are sorted
by their score, in whatever context Polars evaluates them. A struct holds the sorted rows and
is extended field by field, since Polars does not share common parts of expressions in `agg`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from polars_prcurve import checks, exact
from polars_prcurve.columns import COUNTS, SWEEP
from polars_prcurve.errors import PrcError, guard
from polars_prcurve.inputs import Column
from polars_prcurve.metrics import PointMetric
from polars_prcurve.prevalence import eta_list, factors

__all__ = ["Evidence", "read_evidence", "read_prevalence"]

Prevalence: TypeAlias = float | pl.Expr | None
"""A number, an expression with one value per context, or None: the context's own."""


class Cells(NamedTuple):
    """Counts, and the totals that rates divide by.

    The totals are columns, not scalars: Polars multiplies by the reciprocal of a scalar, and
    49 * (1 / 49) is not 1.
    """

    tp: pl.Expr
    fp: pl.Expr
    fn: pl.Expr
    tn: pl.Expr
    n_pos: pl.Expr
    n_neg: pl.Expr

    @property
    def recall(self) -> pl.Expr:
        return (self.tp / self.n_pos).fill_nan(None)

    @property
    def fpr(self) -> pl.Expr:
        return (self.fp / self.n_neg).fill_nan(None)


@dataclass(frozen=True)
class Evidence:
    """What the rows of one context say: a score, and what it adds to either class.

    Weights are integers here, times two to the power of `exponent`.
    """

    score: pl.Expr
    pos: pl.Expr
    neg: pl.Expr
    exponent: pl.Expr | None
    checked: pl.Expr
    """0, or the query stops."""

    def cells(self, pos: tuple[pl.Expr, pl.Expr], neg: tuple[pl.Expr, pl.Expr]) -> Cells:
        """Counts as users see them, from the amounts above and below."""
        (tp, fn), (fp, tn) = pos, neg
        return Cells(*(self.shown(amount) for amount in (tp, fp, fn, tn, tp + fn, fp + tn)))

    def shown(self, amount: pl.Expr) -> pl.Expr:
        """From the integers that are added up to what users see."""
        return amount if self.exponent is None else exact.from_integer(amount, self.exponent)

    def named(self, value: pl.Expr) -> pl.Expr:
        return value.alias(self.score.meta.output_name())

    # One value per row ------------------------------------------------------------------------

    def per_row(self) -> Cells:
        """tp, fp, fn and tn at each row's own score."""
        return self.cells(*(self._at_own_score(amount) for amount in (self.pos, self.neg)))

    def _at_own_score(self, amount: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
        """The amount at the row's score and above, and the rest."""
        running = amount.sort_by(self.score, descending=True).cum_sum()
        place = self.score.rank("max", descending=True).cast(pl.Int64) - 1  # ties move together
        above = running.gather(place + self.checked)
        return above, amount.sum() - above

    def metric(self, metric: PointMetric, eta: Prevalence) -> pl.Expr:
        """A point metric, per row."""
        return self.named(_metric(metric, self.per_row(), eta))

    # One struct per distinct score ------------------------------------------------------------

    def added(self) -> pl.Expr:
        """Structs of COUNTS."""
        added = (
            self.shown(pl.field(run) - pl.field(run).shift(1, fill_value=0)) for run in ("tp", "fp")
        )
        fields = _as(COUNTS, pl.field("score"), *added)
        return self.named(self._distinct_scores().struct.eval(*fields))

    def swept(self) -> pl.Expr:
        """Structs of SWEEP."""
        return self.named(self._distinct_scores().struct.eval(*self._sweep_fields()))

    def curved(self, metrics: Sequence[PointMetric], eta: Prevalence | list[float | None]) -> pl.Expr:
        """Structs of eta, SWEEP and the metrics."""
        rows = self._distinct_scores()
        if isinstance(eta, list):
            rows, eta = _repeated(rows, eta), pl.field("eta")
        cells = self._field_cells()
        values = [_metric(m, cells, eta) for m in metrics if m.name not in SWEEP]
        filled = _filled(eta, cells.n_pos, cells.n_neg).alias("eta")
        return self.named(rows.struct.eval(filled, *self._sweep_fields(), *values))

    def _field_cells(self) -> Cells:
        tp, fp, fn, tn = (pl.field(name) for name in ("tp", "fp", "fn", "tn"))
        return self.cells((tp, fn), (fp, tn))

    def _sweep_fields(self) -> list[pl.Expr]:
        c = self._field_cells()
        return _as(SWEEP, pl.field("score"), c.tp, c.fp, c.fn, c.tn, c.recall, c.fpr)

    def _distinct_scores(self) -> pl.Expr:
        """Structs of score, tp, fp, fn and tn, the counts in integers, by falling score."""
        score, pos = pl.field("score"), pl.field("pos")
        amounts = [self.pos.alias("pos")]
        if self.exponent is None:
            neg: pl.Expr = 1 - pos  # one column less to sort
        else:
            neg = pl.field("neg")
            amounts.append(self.neg.alias("neg"))
        rows = pl.struct(self.score.alias("score"), *amounts).sort_by(self.score, descending=True)
        if self.exponent is not None:
            rows = _where(rows, (_of_element("pos") > 0) | (_of_element("neg") > 0)).list.explode()
        running = rows.struct.eval(
            score,
            pos.cum_sum().alias("tp"),
            neg.cum_sum().alias("fp"),
            # What is below needs no total, which would have to be spread over the rows.
            (pos.cum_sum(reverse=True) - pos).alias("fn"),
            (neg.cum_sum(reverse=True) - neg).alias("tn"),
            score.ne_missing(score.shift(-1)).alias("last"),
        )
        kept = _where(running, _of_element("last"))
        return pl.when(self.checked == 0).then(kept).list.explode()


def _where(rows: pl.Expr, test: pl.Expr) -> pl.Expr:
    """The structs that pass, as a list: `filter` by a part of `rows` would compute them twice."""
    return rows.implode().list.filter(test)


def _of_element(name: str) -> pl.Expr:
    return pl.element().struct.field(name)


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
        raise PrcError("the score is several columns; call .prc on one column at a time")
    given = _column("label", label)
    named = {"score": _shown("score", score), "label": _shown("label", given)}
    found = [
        *checks.missing_checks(_count, named["score"], score, nan=True),
        *checks.missing_checks(_count, named["label"], given, nan=False),
    ]
    if pos_label is None:
        positive = given == 1
        found += checks.label_checks(_count, named["label"], given)
    else:
        positive = given == pl.lit(pos_label)
        found += checks.pos_label_check(_count, named["label"], positive, pos_label)
    pos, neg = positive.cast(pl.Int64), (~positive).cast(pl.Int64)
    exponent = None
    if weight is not None:
        mass = _column("weight", weight)
        what = _shown("weight", mass)
        found += checks.missing_checks(_count, what, mass, nan=True)
        found += checks.amount_checks(_count, what, mass)
        mass = mass.cast(pl.Float64)
        exponent = exact.exponent(mass.max())
        whole = exact.to_integer(mass, exponent)
        pos, neg = whole * pos, whole * neg
    if isinstance(eta, pl.Expr):
        found += checks.eta_checks(_count, eta)
    return Evidence(score, pos, neg, exponent, guard(found))


def read_prevalence(eta: Any) -> Prevalence | list[float | None]:
    """One prevalence for the context, or a list of several."""
    if eta is None or isinstance(eta, pl.Expr):
        return eta
    values = eta_list(eta)
    return values[0] if len(values) == 1 else values


def _metric(metric: PointMetric, counts: Cells, eta: Prevalence) -> pl.Expr:
    """A metric of counts, at a prevalence; the plain counts where that changes nothing."""
    tp, fn, fp, tn = (count.cast(pl.Float64) for count in (counts.tp, counts.fn, counts.fp, counts.tn))
    eta = eta if metric.eta is None else metric.eta
    if metric.depends_on_eta and eta is not None:
        value = eta if isinstance(eta, pl.Expr) else pl.lit(eta)
        p, n = factors(value, value.is_null(), counts.n_pos, counts.n_neg)
        tp, fn, fp, tn = tp * p, fn * p, fp * n, tn * n
    return metric.of_cells(tp, fn, fp, tn)


def _filled(eta: Prevalence, n_pos: pl.Expr, n_neg: pl.Expr) -> pl.Expr:
    own = n_pos / (n_pos + n_neg)
    if eta is None:
        return own
    return (eta if isinstance(eta, pl.Expr) else pl.lit(eta)).cast(pl.Float64).fill_null(own)


def _repeated(rows: pl.Expr, etas: list[float | None]) -> pl.Expr:
    """The structs of a sweep once for each prevalence, which is a field of them, by rising eta."""
    n = pl.element().len()
    place = pl.int_range(n * len(etas))
    row = pl.element().gather(place % n)
    eta = pl.lit(pl.Series(etas, dtype=pl.Float64)).gather(place // n)
    fields = {name: row.struct.field(name) for name in ("score", "tp", "fp", "fn", "tn")}
    rising = _filled(eta, fields["tp"] + fields["fn"], fields["fp"] + fields["tn"])
    pairs = pl.struct(eta.alias("eta"), *fields.values()).sort_by(rising, maintain_order=True)
    return rows.implode().list.eval(pairs).list.explode()


def _as(names: Iterable[str], *values: pl.Expr) -> list[pl.Expr]:
    return [value.alias(name) for name, value in zip(names, values, strict=True)]


def _count(test: pl.Expr) -> pl.Expr:
    return test.sum()


def _column(argument: str, column: Column) -> pl.Expr:
    if not isinstance(column, str | pl.Expr):
        raise PrcError(f"{argument}= takes a column name or an expression; got {column!r}")
    return pl.col(column) if isinstance(column, str) else column


def _shown(argument: str, expr: pl.Expr) -> str:
    return f"{argument} column {expr.meta.output_name()!r}"
