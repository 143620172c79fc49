"""The curves that a chart draws, read from a table in any row order, under fixed field names.

    table -> _sort_points         the columns of a chart, renamed and sorted, without NaN
          -> number_curves        the column `curve`
          -> build_chart_curves   ChartCurves: points, one row per curve, and groups without a curve

Fixed names keep a column called `a:b` or `x.y` from Vega, which would parse the name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.argument_kinds import refuse_objects
from polars_prcurve.charts.parts.number_formats import (
    LOWER,
    build_labels,
    format_range,
    say_eta_range,
    say_etas,
    say_target,
)
from polars_prcurve.confidence.chance import ABOVE_CHANCE
from polars_prcurve.confidence.estimates import find_estimate, name_estimate
from polars_prcurve.errors import PrcError
from polars_prcurve.number_words import say_sizes
from polars_prcurve.visible_text import shorten_name

SPAN = "interval of the share of positives"
_EFFECTIVE = c.FIELD_COLUMNS[:2]
_ALERT_COLUMNS = ("alerts", "true_alerts", "missed")
_TOOLTIP_COLUMNS = ("threshold", "tp", "fp", "fn", "recall", "fpr")
_MAX_NAMES = 5  # of groups without a curve


@dataclass(frozen=True)
class ChartCurves:
    """The curves of a table that have a defined point, sorted, under fixed field names."""

    rows: pl.DataFrame
    """One row per point: `curve`, the number of its curve, and the values that a chart draws."""
    per_curve: pl.DataFrame
    """One row per curve: `curve`, the fields of `field_names`, `n_pos`, `n_neg`."""
    field_names: dict[str, str]
    """The table's name of each field: `group_0`, ...; `eta`, `carried_0`, ... or `target`, `metric`."""
    left_out: str
    """A line for the subtitle that names the groups without a curve."""

    @property
    def group_fields(self) -> list[str]:
        """Fields of the table's group columns."""
        return [field for field in self.field_names if field.startswith("group")]

    @property
    def other_fields(self) -> list[str]:
        """Further fields in which curves of one group can differ."""
        others = ("eta", "span", "target", "metric")
        return [field for field in others if field in self.field_names]

    def count_distinct(self, fields: Sequence[str]) -> int:
        """Return how many different values these fields have among the curves."""
        return self.per_curve.n_unique(fields) if fields else 1


def check_table(chart: str, table: object, made_by: str, needed: Sequence[str]) -> pl.DataFrame:
    """Return the table; raise unless it is a DataFrame that has the needed columns."""
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
    refuse_objects(f"the table of {chart}", table.schema)
    return table


def name_group_fields(columns: Sequence[str]) -> dict[str, str]:
    """Return the fields `group_0`, ... of these columns, each with the name of its column."""
    return {f"group_{number}": name for number, name in enumerate(columns)}


def number_curves(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Add the column `curve`, a number, to rows that are sorted by the keys of curves."""
    number = pl.struct(keys).rle_id() if keys else pl.lit(0, dtype=pl.UInt32)
    return frame.with_columns(number.alias("curve"))


def build_chart_curves(frame: pl.DataFrame, names: dict[str, str], is_drawn: pl.Expr) -> ChartCurves:
    """Return the curves of the rows that are drawn; `frame` has `curve`, `n_pos` and `n_neg`, too."""
    rows = frame.filter(is_drawn)
    fields = [field for field in names if field in frame.columns]
    sizes = ["n_pos", "n_neg", *(name for name in _EFFECTIVE if name in frame.columns)]
    per_curve = frame.group_by("curve", maintain_order=True).agg(
        pl.col(fields).first(), pl.col(sizes).drop_nulls().first()
    )
    has_rows = pl.col("curve").is_in(rows["curve"].unique().implode())
    varied = [
        field for field in ("target", "metric") if field in names and per_curve.n_unique(field) > 1
    ]
    groups = [field for field in names if field.startswith("group")]
    left_out = _describe_left_out(per_curve.filter(~has_rows), [*groups, *varied], names)
    return ChartCurves(rows.drop(fields, "n_pos", "n_neg"), per_curve.filter(has_rows), names, left_out)


# Tables with a row per threshold --------------------------------------------------------------


def read_sweep(
    chart: str,
    table: object,
    values: Sequence[str] = (),
    *,
    by_eta: bool = True,
    made_by: str = "curve",
    more: Sequence[str] = (),
) -> ChartCurves:
    """Return the curves of a table that has a row per threshold.

    `values` are the metrics that are drawn, and `more` are further numbers of each row. Each prevalence
    has a curve of its own; with `by_eta=False` all prevalences of a group share one.
    """
    needed = [*(["eta"] if by_eta else []), *c.SWEEP_COLUMNS, *more]
    table = check_table(chart, table, made_by, needed)
    for name in values:
        if name not in table.columns:
            remedy = f'pass metrics=("{name}",) to curve'
            remedy = "leave out long=True" if "metric" in table.columns else remedy
            raise PrcError(f"{chart} draws the column {name!r}, which the table lacks; {remedy}")
    names = _name_fields(table.columns, with_eta=by_eta)
    groups = [field for field in names if field.startswith("group")]
    if by_eta:
        table, names = _name_spans(table, names)
    keys = [*groups, *(name for name in ("eta", "span") if name in names)]
    frame = _sort_points(table, names, keys, [*values, *more])
    defined = ["recall", *(values or ["fpr"])]
    _check_curves(frame.drop_nulls(defined))
    return build_chart_curves(frame, names, pl.all_horizontal(pl.col(defined).is_not_null()))


def _name_spans(table: pl.DataFrame, names: dict[str, str]) -> tuple[pl.DataFrame, dict[str, str]]:
    """Tell curves of one prevalence apart by its interval, where several are equal but for that."""
    ends = ["eta_low", "eta_high"]
    if not set(ends) <= set(names.values()):
        return table, names
    own = [name for field, name in names.items() if not field.startswith("carried")]
    if (
        table.select(pl.struct(own).n_unique()).item()
        == table.select(pl.struct(*own, *ends).n_unique()).item()
    ):
        return table, names
    said = ["exact" if None in pair else say_eta_range(pair) for pair in table.select(ends).iter_rows()]
    spans = pl.Series(SPAN, said, dtype=pl.String)
    return table.with_columns(spans), names | {"span": SPAN}


def _sort_points(
    table: pl.DataFrame, names: dict[str, str], keys: list[str], values: Sequence[str]
) -> pl.DataFrame:
    """Return the columns of a chart by curve and falling threshold, each point once, without NaN."""
    rates = ["recall", "fpr", *values]
    of_field = [name for name in c.FIELD_COLUMNS if name in table.columns]
    frame = pl.DataFrame(
        [table.get_column(name).alias(field) for field, name in names.items()]
        + [table.get_column(name) for name in dict.fromkeys([*c.SWEEP_COLUMNS, *rates, *of_field])]
    )
    rate = pl.col(rates).cast(pl.Float64)  # null in place of NaN and infinity, which JSON has not
    order = [*keys, "threshold", "fpr", "recall"]
    falling = [name == "threshold" for name in order]
    frame = (
        frame.with_columns(pl.when(rate.is_finite()).then(rate))
        .with_columns(n_pos=pl.col("tp") + pl.col("fn"), n_neg=pl.col("fp") + pl.col("tn"))
        .sort(order, descending=falling, nulls_last=falling)
    )
    # A ROC curve from the table of `curve` would have each point once per prevalence.
    point = pl.col("curve", "threshold", "fpr", "recall")
    frame = number_curves(frame, keys).filter(pl.any_horizontal(point.ne_missing(point.shift())))
    return frame.with_columns(pl.col("threshold").shift(-1).over("curve").alias(LOWER))


def _name_fields(columns: list[str], *, with_eta: bool) -> dict[str, str]:
    """Return fixed fields for the columns before `threshold`, each with the name of its column."""
    start = columns.index("threshold")
    end = columns.index("eta") if "eta" in columns[:start] else start
    fields = name_group_fields(columns[:end])
    if with_eta:
        carried = columns[end + 1 : start]
        fields |= {"eta": "eta", **{f"carried_{number}": name for number, name in enumerate(carried)}}
    return fields


def _check_curves(rows: pl.DataFrame) -> None:
    """Raise unless in each curve recall and fpr rise together, and all rows have one test set."""
    rates = ["recall", "fpr"]
    mixed = rows.group_by("curve").agg(
        pl.any_horizontal(pl.col(rates).diff() < 0).any().alias("falls"),
        # Sums of weights may differ in their last digits from row to row.
        *((pl.col(n).max() > pl.col(n).min() * (1 + 1e-9)) for n in ("n_pos", "n_neg")),
    )
    if mixed.select(pl.any_horizontal("falls", "n_pos", "n_neg").any()).item():
        raise PrcError(
            "some rows do not fit in one curve: recall or fpr falls while the threshold falls, or the "
            "numbers of positives and negatives differ; keep the group columns of the table, and keep "
            "them before eta and threshold"
        )


# Tables with a row per prevalence --------------------------------------------------------------


def read_lines(
    chart: str, table: object, only: str | None = None, *, is_per_row: bool = False
) -> ChartCurves:
    """Return a line per group, metric and target, or only the lines of the metric `only`.

    Rows have `eta`, `value`, and `low` and `high` if the table has intervals. A null value between
    others is a gap in its line. With `is_per_row` each prevalence is a line of its own, of one point.
    """
    made_by = "operating_points" if only else "summary or operating_points"
    table = check_table(chart, table, made_by, ["eta"])
    start = table.columns.index("eta")
    names, after_eta = name_group_fields(table.columns[:start]), table.columns[start + 1 :]
    base = [table.get_column(name).alias(field) for field, name in names.items()]
    base += [table.get_column("eta").cast(pl.Float64), *_read_sizes(table, after_eta)]
    if "criterion" in after_eta:
        names["target"] = "target"
        base.append(table.select(target=pl.struct("criterion", "target")).to_series())
        base += [table.get_column(name) for name in _TOOLTIP_COLUMNS if name in after_eta]
    names |= {"metric": "metric"} | ({"eta": "eta"} if is_per_row else {})
    values = _read_values(chart, table, after_eta, made_by)
    frame = pl.concat([pl.DataFrame([*base, *columns]) for columns in values], how="diagonal")
    if only:
        frame = frame.filter(pl.col("metric") == only)
        if frame.is_empty() and len(table):
            remedy = f'pass metrics=("{only}",) to operating_points'
            raise PrcError(f"{chart} draws {only}, which the table lacks; {remedy}")
    return build_lines(frame, names, ["value"])


def build_lines(frame: pl.DataFrame, names: dict[str, str], values: Sequence[str]) -> ChartCurves:
    """Return the lines of a frame, numbered and sorted; raise if one has two rows at a prevalence."""
    number = pl.col(pl.Float64).exclude(list(names))
    frame = frame.with_columns(pl.when(number.is_finite()).then(number)).filter(
        (pl.col("eta") > 0) | pl.col("eta").is_null().all()  # negatives that are not counted
    )
    frame = number_curves(frame.sort(*names, "eta"), list(names))
    frame = frame.unique(["curve", "eta", *values], keep="first", maintain_order=True)
    if frame.select(pl.struct("curve", "eta").is_duplicated().any()).item():
        raise PrcError(
            "some lines have several values at one prevalence; keep the group columns of the table, and "
            "keep them before eta"
        )
    value = pl.col(values[0])
    is_within_line = value.forward_fill().is_not_null() & value.backward_fill().is_not_null()
    return build_chart_curves(frame, names, is_within_line.over("curve"))


def _read_sizes(table: pl.DataFrame, after_eta: list[str]) -> list[pl.Series]:
    """Return the class sizes of each row, which are null if the table does not tell them."""
    if "n_pos" in after_eta and "n_neg" in after_eta:
        return [table.get_column("n_pos"), table.get_column("n_neg")]
    if set(c.SWEEP_COLUMNS) <= set(after_eta):
        tp, fp, fn, tn = (table.get_column(name) for name in ("tp", "fp", "fn", "tn"))
        return [(tp + fn).alias("n_pos"), (fp + tn).alias("n_neg")]
    return [pl.Series(name, [None] * table.height, pl.Float64) for name in ("n_pos", "n_neg")]


def _read_values(
    chart: str, table: pl.DataFrame, after_eta: list[str], made_by: str
) -> list[list[pl.Series]]:
    """Return `metric`, `value` and its interval: once for a long table, else once per metric column."""
    shared = [table.get_column(name) for name in ("reliable", "interval_of") if name in after_eta]
    if "metric" in after_eta and "value" in after_eta:
        columns = [name for name in ("metric", "value", "low", "high") if name in after_eta]
        return [[*(table.get_column(name) for name in columns), *shared]]
    is_wide = "criterion" in after_eta and "fpr" in after_eta
    named = after_eta[after_eta.index("fpr") + 1 :] if is_wide else []
    beside = {column for name in after_eta for column in astuple(name_estimate(name))[1:]}
    metrics = [name for name in named if name not in (*beside, *_ALERT_COLUMNS, ABOVE_CHANCE)]
    if not metrics:
        raise PrcError(
            f"{chart} takes the table that {made_by} returns, with all its columns; this one has "
            "neither metric and value, nor criterion, target and a column per metric"
        )
    values = []
    for name in metrics:
        known = find_estimate(after_eta, name)
        ends = {"value": known.value, "low": known.low, "high": known.high}
        numbers = {field: table.get_column(at) for field, at in ends.items() if at is not None}
        of_metric = pl.Series("metric", [name] * table.height, pl.String)
        floats = (number.alias(field).cast(pl.Float64) for field, number in numbers.items())
        values.append([of_metric, *floats, *shared])
    return values


# Words on where curves run, and on what they are made of -----------------------------------------


def describe_etas(curves: ChartCurves) -> str:
    """Return where the curves run, such as `where 1 in 1 000 is positive`; empty without curves."""
    etas = curves.per_curve["eta"].unique().sort().to_list()
    if not etas:
        return ""
    is_own = "group_0" in curves.field_names and len(etas) > 1 and curves.count_distinct(["group_0"]) > 1
    per_group = curves.per_curve.n_unique(curves.group_fields) if curves.group_fields else 1
    if is_own and per_group == len(curves.per_curve):
        span = say_eta_range(etas)
        return f"each group at its own share of positives, {'from ' if ' to ' in span else ''}{span}"
    return say_etas(etas)


def say_target_and_etas(curves: ChartCurves) -> str:
    """Return the target of all points, if they have one, and where they are."""
    per_curve, where = curves.per_curve, describe_etas(curves)
    if "target" not in per_curve.columns or per_curve["target"].n_unique() != 1:
        return f"Share of alerts that are right, {where}".rstrip(" ,")
    target = say_target(per_curve["target"][0])
    return f"{target}, {where}".rstrip(" ,")


def join_etas(text: str, curves: ChartCurves) -> str:
    """Return the text and where the curves run, as one phrase."""
    where = describe_etas(curves)
    return f"{text.rstrip(',')}, {where}" if where.startswith("each") else f"{text} {where}".rstrip(" ,")


def describe_sizes(curves: ChartCurves) -> list[str]:
    """Return sentences on the test set, and on the groups that have no curve."""
    lines: list[str] = []
    in_field = set(_EFFECTIVE) <= set(curves.per_curve.columns)
    names = _EFFECTIVE if in_field else ("n_pos", "n_neg")
    sizes = [curves.per_curve[name].drop_nulls() for name in names]
    if curves.per_curve.is_empty() and not curves.left_out:
        lines.append("The table has no rows")
    elif all(len(size) for size in sizes):
        subject = "Test set" if curves.count_distinct(names) == 1 else "Test sets"
        lines.append(subject + _say_sizes(sizes, in_field=in_field))
    return [*lines, *([curves.left_out] if curves.left_out else [])]


def _say_sizes(sizes: Sequence[pl.Series], *, in_field: bool) -> str:
    """Return the end of a sentence on the size of each class; sums of weights are called so."""
    if in_field:
        numbers = say_sizes(*(format_range(size.round()) for size in sizes))
        return f" of several parts, weighted for the field, which counts as {numbers}"
    if any(size.dtype.is_float() and (size != size.round()).any() for size in sizes):
        whole = all((size >= 100).all() for size in sizes)
        pos, neg = (format_range(size.round() if whole else size) for size in sizes)
        return f": the weights of positives add up to {pos}, those of negatives to {neg}"
    return f": {say_sizes(*map(format_range, sizes))}"


def _describe_left_out(left_out: pl.DataFrame, fields: list[str], names: Mapping[str, str]) -> str:
    """Return a sentence that names the groups of these curves by their fields, and says why."""
    if left_out.is_empty():
        return ""
    one_class = ((pl.col("n_pos") == 0) | (pl.col("n_neg") == 0)).fill_null(False)
    reason = "one class only" if left_out.select(one_class.all()).item() else "undefined"
    groups = left_out.unique(fields, maintain_order=True) if fields else left_out
    named = {field: names[field] for field in fields}
    shown = build_labels(groups, named) if fields else ["the whole table"]
    shown = [shorten_name(name, 40) for name in shown]
    more = f" and {len(shown) - _MAX_NAMES} more" if len(shown) > _MAX_NAMES else ""
    return f"Not drawn, {reason}: {', '.join(shown[:_MAX_NAMES])}{more}"


def describe_eta_zero(table: pl.DataFrame) -> list[str]:
    """Return a sentence for the note if the table has prevalence 0, which no log axis shows."""
    return ["Not drawn: prevalence 0"] if (table["eta"] == 0).any() else []
