"""The sweep as plain expressions, for `select`, `with_columns`, `over` and `group_by().agg`.

An expression cannot know the dtype of its column, so nothing is packed here: rows are sorted
by their score, in whatever context Polars evaluates them. A struct holds the sorted rows and
is extended field by field, since Polars does not share common parts of expressions in `agg`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve import checks, exact
from polars_prcurve.columns import COUNTS, RESERVED, SWEEP
from polars_prcurve.errors import PrcError, guard
from polars_prcurve.inputs import Column
from polars_prcurve.metrics import PointMetric
from polars_prcurve.prevalence import eta_list, factors

__all__ = ["Evidence", "read_evidence", "read_prevalence"]

Prevalence: TypeAlias = float | pl.Expr | None
"""A number, an expression with one value per context, or None: the context's own."""

_ETA = f"{RESERVED}eta"


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

    def shown(self, amount: pl.Expr) -> pl.Expr:
        """From the integers that are added up to what users see."""
        return amount if self.exponent is None else exact.from_integer(amount, self.exponent)

    def named(self, value: pl.Expr) -> pl.Expr:
        return value.alias(self.score.meta.output_name())

    # One value per row ------------------------------------------------------------------------

    def at_own_score(self, amount: pl.Expr) -> pl.Expr:
        """The amount at or above the row's own score."""
        running = amount.sort_by(self.score, descending=True).cum_sum()
        place = self.score.rank("max", descending=True).cast(pl.Int64) - 1  # ties move together
        return running.gather(place + self.checked)

    def cells(self) -> dict[str, pl.Expr]:
        """tp, fp, fn and tn of each row, in the integers that are added up."""
        tp, fp = self.at_own_score(self.pos), self.at_own_score(self.neg)
        return {"tp": tp, "fp": fp, "fn": self.pos.sum() - tp, "tn": self.neg.sum() - fp}

    def count(self, cell: str) -> pl.Expr:
        """One of the four counts, per row."""
        return self.named(self.shown(self.cells()[cell]))

    def rate(self, amount: pl.Expr) -> pl.Expr:
        """recall or fpr, per row: the share of `pos` or `neg` at or above the own score."""
        above, total = self.shown(self.at_own_score(amount)), self.shown(amount.sum())
        return self.named((above / total).fill_nan(None))

    def metric(self, metric: PointMetric, eta: Prevalence) -> pl.Expr:
        """A point metric, per row."""
        counts = {name: self.shown(cell) for name, cell in self.cells().items()}
        totals = self.shown(self.pos.sum()), self.shown(self.neg.sum())
        return self.named(_metric(metric, counts, eta, totals))

    # One struct per distinct score ------------------------------------------------------------

    def added(self) -> pl.Expr:
        """Structs of COUNTS."""
        rows = self.distinct_scores()
        added = (
            self.shown(pl.field(run) - pl.field(run).shift(1, fill_value=0)) for run in ("tp", "fp")
        )
        return self.named(rows.struct.eval(*_as(COUNTS, pl.field("score"), *added)))

    def swept(self) -> pl.Expr:
        """Structs of SWEEP."""
        counts = {name: self.shown(pl.field(name)) for name in ("tp", "fp", "fn", "tn")}
        tp, fp, fn, tn = counts.values()
        recall, fpr = ((above / (above + below)).fill_nan(None) for above, below in ((tp, fn), (fp, tn)))
        rows = self.distinct_scores()
        return self.named(rows.struct.eval(*_as(SWEEP, pl.field("score"), *counts.values(), recall, fpr)))

    def curved(self, metrics: Sequence[PointMetric], eta: Prevalence | list[float | None]) -> pl.Expr:
        """Structs of eta, SWEEP and the metrics."""
        rows = self.swept()
        tp, fp, fn, tn = (pl.field(name) for name in ("tp", "fp", "fn", "tn"))
        if isinstance(eta, list):
            rows, eta = _repeated(rows, eta), pl.field(_ETA)
        counts = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        values = [_metric(m, counts, eta, (tp + fn, fp + tn)) for m in metrics if m.name not in SWEEP]
        filled = _filled(eta, tp + fn, fp + tn).alias("eta")
        return self.named(rows.struct.eval(filled, *SWEEP, *values))

    def distinct_scores(self) -> pl.Expr:
        """Structs of score, tp, fp, fn and tn, the counts in integers, by falling score."""
        score, pos, neg = pl.field("score"), pl.field("pos"), pl.field("neg")
        rows = pl.struct(self.score.alias("score"), self.pos.alias("pos"), self.neg.alias("neg"))
        by = self.score
        if self.exponent is not None:
            counted = (self.pos > 0) | (self.neg > 0)
            rows, by = rows.filter(counted), by.filter(counted)
        running = rows.sort_by(by, descending=True).struct.eval(
            "score",
            pos.cum_sum().alias("tp"),
            neg.cum_sum().alias("fp"),
            # What is below needs no total, which would have to be spread over the rows.
            (pos.cum_sum(reverse=True) - pos).alias("fn"),
            (neg.cum_sum(reverse=True) - neg).alias("tn"),
            score.ne_missing(score.shift(-1)).alias("last"),
        )
        # As a list, since filtering an expression by a part of itself would compute it twice.
        kept = running.implode().list.filter(pl.element().struct.field("last"))
        return pl.when(self.checked == 0).then(kept).list.explode()


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
        found += checks.missing_checks(_count, what, mass, nan=False)
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


def _metric(
    metric: PointMetric,
    counts: dict[str, pl.Expr],
    eta: Prevalence,
    totals: tuple[pl.Expr, pl.Expr],
) -> pl.Expr:
    """A metric of counts, at a prevalence; the plain counts where that changes nothing."""
    cells = [counts[name].cast(pl.Float64) for name in ("tp", "fn", "fp", "tn")]
    eta = eta if metric.eta is None else metric.eta
    if metric.depends_on_eta and eta is not None:
        value = eta if isinstance(eta, pl.Expr) else pl.lit(eta)
        positive, negative = factors(value, value.is_null(), *totals)
        cells = [cells[0] * positive, cells[1] * positive, cells[2] * negative, cells[3] * negative]
    return metric.of_cells(*cells)


def _filled(eta: Prevalence, n_pos: pl.Expr, n_neg: pl.Expr) -> pl.Expr:
    own = n_pos / (n_pos + n_neg)
    if eta is None:
        return own
    return (eta if isinstance(eta, pl.Expr) else pl.lit(eta)).cast(pl.Float64).fill_null(own)


def _repeated(rows: pl.Expr, etas: list[float | None]) -> pl.Expr:
    """The rows once for each prevalence, by rising prevalence, with it in the field _ETA."""
    element, n = pl.element(), pl.element().len()
    place = pl.int_range(n * len(etas))
    again = element.gather(place % n)
    asked = pl.lit(pl.Series(etas, dtype=pl.Float64)).gather(place // n)
    totals = (again.struct.field(a) + again.struct.field(b) for a, b in (("tp", "fn"), ("fp", "tn")))
    rising = _filled(asked, *totals)
    listed = again.struct.with_fields(asked.alias(_ETA)).sort_by(rising, maintain_order=True)
    return rows.implode().list.eval(listed).list.explode()


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
