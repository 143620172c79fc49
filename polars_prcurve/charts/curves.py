"""From a table in any row order to the curves that a chart draws, under fixed safe names."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polars_prcurve.charts.words import labels, said_range, said_share
from polars_prcurve.columns import SWEEP
from polars_prcurve.errors import PrcError

__all__ = [
    "Curves",
    "check_table",
    "curves_of",
    "group_fields",
    "number_curves",
    "read_sweep",
    "said_eta",
    "said_sizes",
]


@dataclass(frozen=True)
class Curves:
    """The table under fixed names, in order; curves without a defined point are not in it."""

    rows: pl.DataFrame
    """One row per point: `curve` (its number), and what is drawn."""
    each: pl.DataFrame
    """One row per curve: `curve`, the fields of `names`, `n_pos`, `n_neg`."""
    names: dict[str, str]
    """From `group_0`, ..., and `eta`, `carried_0`, ... or `target`, `metric`, to what the table calls
    them."""
    left_out: str
    """The groups that have no curve, in words."""

    @property
    def groups(self) -> list[str]:
        return [field for field in self.names if field.startswith("group")]

    @property
    def others(self) -> list[str]:
        """What may tell curves of one group apart."""
        return [field for field in ("eta", "target", "metric") if field in self.names]

    def count(self, fields: Sequence[str]) -> int:
        return self.each.n_unique(fields) if fields else 1


def check_table(chart: str, table: object, made_by: str, needed: Sequence[str]) -> pl.DataFrame:
    if isinstance(table, pl.LazyFrame):
        raise PrcError(
            f"{chart} takes a DataFrame and got a LazyFrame; collect it first: table.collect()"
        )
    if not isinstance(table, pl.DataFrame):
        raise PrcError(f"{chart} takes the DataFrame that {made_by} returns; got {type(table).__name__}")
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise PrcError(
            f"{chart} takes the table that {made_by} returns, with all its columns; "
            f"this one lacks {', '.join(missing)}"
        )
    return table


def group_fields(columns: Sequence[str]) -> dict[str, str]:
    return {f"group_{number}": name for number, name in enumerate(columns)}


def number_curves(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Add `curve`, to rows that come curve by curve."""
    number = pl.struct(keys).rle_id() if keys else pl.lit(0, dtype=pl.UInt32)
    return frame.with_columns(number.alias("curve"))


def curves_of(frame: pl.DataFrame, names: dict[str, str], kept: pl.Expr) -> Curves:
    """Curves of the rows that are kept; `frame` has `curve`, `n_pos` and `n_neg`, too."""
    rows = frame.filter(kept)
    of_each = [field for field in names if field in frame.columns]
    each = frame.group_by("curve", maintain_order=True).agg(
        pl.col(of_each).first(), pl.col("n_pos", "n_neg").drop_nulls().first()
    )
    drawn = pl.col("curve").is_in(rows["curve"].unique().implode())
    told = [field for field in names if field.startswith("group")]
    told += [field for field in ("target", "metric") if field in names and each.n_unique(field) > 1]
    left_out = _said_left_out(each.filter(~drawn), told)
    return Curves(rows.drop(of_each, "n_pos", "n_neg"), each.filter(drawn), names, left_out)


# Tables with a row per threshold --------------------------------------------------------------


def read_sweep(
    chart: str,
    table: object,
    values: Sequence[str] = (),
    *,
    by_eta: bool = True,
    made_by: str = "curve",
    more: Sequence[str] = (),
) -> Curves:
    """Check, rename, sort and number. `values` are the metrics that are drawn, and `more` are further
    numbers of each row. A curve is of one prevalence, or, not `by_eta`, of all."""
    needed = [*(["eta"] if by_eta else []), *SWEEP, *more]
    table = check_table(chart, table, made_by, needed)
    for name in values:
        if name not in table.columns:
            todo = f'pass metrics=("{name}",) to curve'
            todo = "leave out long=True" if "metric" in table.columns else todo
            raise PrcError(f"{chart} draws the column {name!r}, which the table lacks; {todo}")
    names = _fields(table.columns, with_eta=by_eta)
    groups = [field for field in names if field.startswith("group")]
    frame = _in_order(table, names, [*groups, *(["eta"] if by_eta else [])], [*values, *more])
    defined = ["recall", *(values or ["fpr"])]
    _check_curves(frame.drop_nulls(defined))
    return curves_of(frame, names, pl.all_horizontal(pl.col(defined).is_not_null()))


def _in_order(
    table: pl.DataFrame, names: dict[str, str], keys: list[str], values: Sequence[str]
) -> pl.DataFrame:
    """The columns of a chart, by curve and falling threshold; a point once; no NaN."""
    rates = ["recall", "fpr", *values]
    frame = pl.DataFrame(
        [table.get_column(name).alias(field) for field, name in names.items()]
        + [table.get_column(name) for name in dict.fromkeys([*SWEEP, *rates])]
    )
    rate = pl.col(rates).cast(pl.Float64)
    order = [*keys, "threshold", "fpr", "recall"]
    falling = [name == "threshold" for name in order]
    frame = (
        frame.with_columns(pl.when(rate.is_finite()).then(rate))
        .with_columns(n_pos=pl.col("tp") + pl.col("fn"), n_neg=pl.col("fp") + pl.col("tn"))
        .sort(order, descending=falling, nulls_last=falling)
    )
    point = pl.col("curve", "threshold", "fpr", "recall")
    return number_curves(frame, keys).filter(pl.any_horizontal(point.ne_missing(point.shift())))


def _fields(columns: list[str], *, with_eta: bool) -> dict[str, str]:
    """Fixed names for what stands before the threshold; a ROC curve has no part for eta."""
    start = columns.index("threshold")
    end = columns.index("eta") if "eta" in columns[:start] else start
    fields = group_fields(columns[:end])
    if with_eta:
        carried = columns[end + 1 : start]
        fields |= {"eta": "eta", **{f"carried_{number}": name for number, name in enumerate(carried)}}
    return fields


def _check_curves(rows: pl.DataFrame) -> None:
    """In one curve recall and fpr rise together, and every row is of the same test set."""
    rates = ["recall", "fpr"]
    mixed = rows.group_by("curve").agg(
        pl.any_horizontal(pl.col(rates).diff() < 0).any().alias("falls"),
        *((pl.col(n).max() > pl.col(n).min() * (1 + 1e-9)) for n in ("n_pos", "n_neg")),
    )
    if mixed.select(pl.any_horizontal("falls", "n_pos", "n_neg").any()).item():
        raise PrcError(
            "some rows do not fit in one curve: recall or fpr falls while the threshold falls, or the "
            "numbers of positives and negatives differ; keep the group columns of the table, and keep "
            "them before eta and threshold"
        )


# What a subtitle says of them -----------------------------------------------------------------


def said_eta(curves: Curves, and_: str = "; dashed: chance") -> list[str]:
    etas = curves.each["eta"].unique().sort().to_list()
    if not etas:
        return []
    low, high = said_share(etas[0]), said_share(etas[-1])
    said = f"eta = {low}" if len(etas) == 1 else f"eta from {low} to {high}"
    return [f"Prevalence {said}{and_}"]


def said_sizes(curves: Curves) -> list[str]:
    """The test set in words, and the groups that have no curve."""
    said: list[str] = []
    sizes = [curves.each[name].drop_nulls() for name in ("n_pos", "n_neg")]
    if curves.each.is_empty() and not curves.left_out:
        said.append("The table has no rows")
    elif all(len(size) for size in sizes):
        plural = "Test set" if curves.count(["n_pos", "n_neg"]) == 1 else "Test sets"
        pos, neg = (said_range(size) for size in sizes)
        said.append(f"{plural}: {pos} positives : {neg} negatives")
    return [*said, *([curves.left_out] if curves.left_out else [])]


def _said_left_out(each: pl.DataFrame, fields: list[str]) -> str:
    if each.is_empty():
        return ""
    one_class = ((pl.col("n_pos") == 0) | (pl.col("n_neg") == 0)).fill_null(False)
    single = each.select(one_class.all()).item()
    missing = each.unique(fields, maintain_order=True) if fields else each
    names = labels(missing, fields) if fields else ["the whole table"]
    names = [textwrap.shorten(name, 40, placeholder="…") for name in names]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"Not drawn, {'one class only' if single else 'undefined'}: {', '.join(names[:5])}{more}"
