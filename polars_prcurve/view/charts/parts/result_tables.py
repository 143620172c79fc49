"""The curves that a chart draws, read from a table in any row order, under fixed field names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import polars as pl

from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.intervals import find_estimate, name_estimate
from polars_prcurve.core.ground.argument_checks import refuse_objects
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.safe_text import shorten_name
from polars_prcurve.core.sweep.sweep_columns import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.view.charts.parts import label_formats
from polars_prcurve.view.words.number_words import say_sizes

SPAN = "interval of the share of positives"  # the column of intervals in words, as users see it
_EFFECTIVE = FIELD_COLUMNS[:2]  # sizes of a test of several parts, by what they tell of the field
_ALERT_COLUMNS = ("alerts", "true_alerts", "missed")  # of `operating_points`, which are no metrics
_MAX_NAMES = 5  # of groups without a curve
FEW_POSITIVES = 20  # positives below which a share of them is no finding


@dataclass(frozen=True)
class ChartCurves:
    """The curves of a table that have a defined point, sorted, under fixed field names."""

    rows: pl.DataFrame  # one row per point: `curve`, its number, and the values that are drawn
    per_curve: pl.DataFrame  # one row per curve: `curve`, the fields of `field_names`, `n_pos`, `n_neg`
    # The table's name of each field: `group_0`, ...; `eta`, `carried_0`, ... or `target`, `metric`.
    field_names: dict[str, str]
    left_out: str  # a sentence that names the groups without a curve; empty if all have one
    has_zero: bool = False  # whether the table has prevalence 0, which no log axis shows

    @property
    def group_fields(self) -> list[str]:
        """Fields of the table's group columns."""
        return [field for field in self.field_names if field.startswith("group")]

    @property
    def other_fields(self) -> list[str]:
        """Further fields in which curves of one group can differ."""
        others = ("eta", "span", "target", "metric")
        return [field for field in others if field in self.field_names]

    @property
    def has_few_positives(self) -> bool:
        """Whether a curve is of so few positives that what it shows is no finding."""
        return bool((self.per_curve["n_pos"] < FEW_POSITIVES).any())

    def count_distinct(self, fields: Sequence[str]) -> int:
        """Return how many different values these fields have among the curves."""
        return self.per_curve.n_unique(fields) if fields else 1

    def join_etas(self, text: str) -> str:
        """Return the text and where the curves run, such as `where 1 in 1 000 is positive`."""
        etas = self.per_curve["eta"].unique().sort().to_list()
        is_own = "group_0" in self.field_names and len(etas) > 1 and self.count_distinct(["group_0"]) > 1
        if is_own and self.count_distinct(self.group_fields) == len(self.per_curve):
            span = label_formats.say_eta_range(etas)
            where = f"{'from ' if ' to ' in span else ''}{span}"
            return f"{text.rstrip(',')}, each group at its own share of positives, {where}"
        return f"{text} {label_formats.say_etas(etas) if etas else ''}".rstrip(" ,")

    def describe_sizes(self) -> list[str]:
        """Return sentences on the test set, and on what is left out."""
        in_field = set(_EFFECTIVE) <= set(self.per_curve.columns)
        names = _EFFECTIVE if in_field else ("n_pos", "n_neg")
        sizes = [self.per_curve[name].drop_nulls() for name in names]
        if self.per_curve.is_empty() and not self.left_out:
            return ["The table has no rows", *self.describe_left_out()]
        if not all(len(size) for size in sizes):
            return self.describe_left_out()
        subject = "Test set" if self.count_distinct(names) == 1 else "Test sets"
        if in_field:
            numbers = say_sizes(*(label_formats.format_range(size.round()) for size in sizes))
            sizes_words = f" of several parts, weighted for the field, which counts as {numbers}"
        elif any(size.dtype.is_float() and (size != size.round()).any() for size in sizes):
            are_whole = all((size >= 100).all() for size in sizes)
            sizes = [size.round() if are_whole else size for size in sizes]
            pos, neg = map(label_formats.format_range, sizes)
            sizes_words = f": the weights of positives add up to {pos}, those of negatives to {neg}"
        else:
            sizes_words = f": {say_sizes(*map(label_formats.format_range, sizes))}"
        return [subject + sizes_words, *self.describe_left_out()]

    def describe_left_out(self) -> list[str]:
        """Return sentences on groups and prevalences that are not drawn."""
        lines = [self.left_out, "Not drawn: prevalence 0" if self.has_zero else ""]
        return [line for line in lines if line]


def check_table(
    chart: str, table: object, made_by: str, required_columns: Sequence[str]
) -> pl.DataFrame:
    """Return the table; raise unless it is a DataFrame that has the needed columns."""
    if isinstance(table, pl.LazyFrame):
        raise PrcError(
            f"{chart} takes a DataFrame and got a LazyFrame; collect it first: table.collect()"
        )
    if not isinstance(table, pl.DataFrame):
        raise PrcError(f"{chart} takes the DataFrame that {made_by} returns; got {type(table).__name__}")
    absent_columns = [name for name in required_columns if name not in table.columns]
    if absent_columns:
        raise PrcError(
            f"{chart} takes the table that {made_by} returns, with all its columns; "
            f"this one lacks {', '.join(absent_columns)}"
        )
    refuse_objects(f"the table of {chart}", table.schema)
    return table


def name_group_fields(columns: Sequence[str]) -> dict[str, str]:
    """Return the fields `group_0`, ... of these columns, each with the name of its column."""
    return {f"group_{number}": name for number, name in enumerate(columns)}


def pick_columns(
    table: pl.DataFrame, names: Mapping[str, str], further_columns: Iterable[str]
) -> pl.DataFrame:
    """Return columns under the names of their fields, and further ones under their own names."""
    name_of = {**names, **{name: name for name in further_columns}}
    # Not by `select`, to which a column called `*` or `^x$` is a pattern.
    return pl.DataFrame([table.get_column(name).alias(field) for field, name in name_of.items()])


def number_curves(frame: pl.DataFrame, keys: Iterable[str]) -> pl.DataFrame:
    """Add the column `curve`, a number, to rows that are sorted by the keys of curves."""
    number = pl.struct(list(keys)).rle_id() if keys else pl.lit(0, dtype=pl.UInt32)
    return frame.with_columns(number.alias("curve"))


def add_sizes(frame: pl.DataFrame) -> pl.DataFrame:
    """Add `n_pos` and `n_neg`, unless the frame has them; null if its table does not tell them."""
    if {"n_pos", "n_neg"} <= set(frame.columns):
        return frame
    unknown = pl.lit(None, dtype=pl.Float64)
    has_cells = {"tp", "fp", "fn", "tn"} <= set(frame.columns)
    n_pos = pl.col("tp") + pl.col("fn") if has_cells else unknown
    return frame.with_columns(n_pos=n_pos, n_neg=pl.col("fp") + pl.col("tn") if has_cells else unknown)


def build_chart_curves(frame: pl.DataFrame, names: dict[str, str], is_drawn: pl.Expr) -> ChartCurves:
    """Return the curves of the rows that are drawn; `frame` has the column `curve`, too."""
    frame = add_sizes(frame)
    rows = frame.filter(is_drawn)
    fields = [field for field in names if field in frame.columns]
    sizes = ["n_pos", "n_neg", *(name for name in _EFFECTIVE if name in frame.columns)]
    first_sizes = pl.col(sizes).drop_nulls().first()
    per_curve = frame.group_by("curve", maintain_order=True).agg(pl.col(fields).first(), first_sizes)
    has_rows = pl.col("curve").is_in(rows["curve"].unique().implode())
    drawn_curves, left_out = per_curve.filter(has_rows), per_curve.filter(~has_rows)
    sentence = ""
    if not left_out.is_empty():  # a sentence that names these groups, and says why
        one_class = ((pl.col("n_pos") == 0) | (pl.col("n_neg") == 0)).fill_null(False)
        reason = "one class only" if left_out.select(one_class.all()).item() else "undefined"
        label_fields = {field: name for field, name in names.items() if field.startswith("group")}
        label_fields |= {
            other: names[other]
            for other in ("target", "metric")
            if other in names and per_curve.n_unique(other) > 1
        }
        group_names = ["the whole table"]
        if label_fields:
            group_names = label_formats.build_labels(
                left_out.unique([*label_fields], maintain_order=True), label_fields
            )
        first_names = ", ".join(shorten_name(name, 40) for name in group_names[:_MAX_NAMES])
        remainder = f" and {len(group_names) - _MAX_NAMES} more" if len(group_names) > _MAX_NAMES else ""
        sentence = f"Not drawn, {reason}: {first_names}{remainder}"
    return ChartCurves(rows.drop(fields, "n_pos", "n_neg"), drawn_curves, names, sentence)


# Tables with a row per threshold --------------------------------------------------------------


def read_sweep(
    chart: str,
    table: object,
    values: Sequence[str] = (),
    *,
    by_eta: bool = True,
    made_by: str = "curve",
    further_columns: Sequence[str] = (),
) -> ChartCurves:
    """Return the curves of a table that has a row per threshold."""
    # `values` are the metrics that are drawn; `further_columns` hold other numbers of each row. Each
    # prevalence has a curve of its own; with `by_eta=False` all prevalences of a group share one.
    required_columns = [*(["eta"] if by_eta else []), *SWEEP_COLUMNS, *further_columns]
    table = check_table(chart, table, made_by, required_columns)
    for name in values:
        if name not in table.columns:
            remedy = f'pass metrics=("{name}",) to curve'
            remedy = "leave out long=True" if "metric" in table.columns else remedy
            raise PrcError(f"{chart} draws the column {name!r}, which the table lacks; {remedy}")
    key_columns = table.columns[: table.columns.index("threshold")]
    end = key_columns.index("eta") if "eta" in key_columns else len(key_columns)
    names = name_group_fields(key_columns[:end])
    keys = [*names]
    if by_eta:
        carried = {f"carried_{number}": name for number, name in enumerate(key_columns[end + 1 :])}
        own_keys, end_columns = [*names.values(), "eta"], ["eta_low", "eta_high"]
        names |= {"eta": "eta"}
        keys.append("eta")
        if set(end_columns) <= set(carried.values()):
            # The interval of a prevalence tells curves apart where several are equal but for that.
            n, n_spans = (
                table.select(pl.struct(k).n_unique()).item()
                for k in (own_keys, [*own_keys, *end_columns])
            )
            if n < n_spans:
                pairs, say = table.select(end_columns).rows(), label_formats.say_eta_range
                span_texts = ["exact" if None in pair else say(pair) for pair in pairs]
                table = table.with_columns(pl.Series(SPAN, span_texts, dtype=pl.String))
                carried["span"] = SPAN
                keys.append("span")
        names |= carried
    frame = _sort_points(table, names, keys, [*values, *further_columns])
    defined = ["recall", *(values or ["fpr"])]
    _check_curves(frame.drop_nulls(defined))
    return build_chart_curves(frame, names, pl.all_horizontal(pl.col(defined).is_not_null()))


def _check_curves(rows: pl.DataFrame) -> None:
    """Raise if rows of one curve are not of one: rates fall with the threshold, or sizes differ."""
    is_rate_falling = pl.any_horizontal(pl.col("recall", "fpr").diff() < 0).any()
    # Sums of weights may differ in their last digits from row to row.
    is_size_mixed = (pl.col(n).max() > pl.col(n).min() * (1 + 1e-9) for n in ("n_pos", "n_neg"))
    mixtures = rows.group_by("curve").agg(is_rate_falling.alias("falls"), *is_size_mixed)
    if mixtures.select(pl.any_horizontal("falls", "n_pos", "n_neg").any()).item():
        raise PrcError(
            "some rows do not fit in one curve: recall or fpr falls while the threshold falls, or the "
            "numbers of positives and negatives differ; keep the group columns of the table, and keep "
            "them before eta and threshold"
        )


def _sort_points(
    table: pl.DataFrame, names: dict[str, str], keys: list[str], values: Sequence[str]
) -> pl.DataFrame:
    """Return the columns of a chart by curve and falling threshold, each point once, without NaN."""
    rates = ["recall", "fpr", *values]
    of_field = [name for name in FIELD_COLUMNS if name in table.columns]
    frame = pick_columns(table, names, [*SWEEP_COLUMNS, *rates, *of_field])
    rate = pl.col(rates).cast(pl.Float64)  # null in place of NaN and infinity, which JSON has not
    frame = add_sizes(frame.with_columns(pl.when(rate.is_finite()).then(rate)))
    order = [*keys, "threshold", "fpr", "recall"]
    falling = [name == "threshold" for name in order]
    frame = number_curves(frame.sort(order, descending=falling, nulls_last=falling), keys)
    # A ROC curve from the table of `curve` would have each point once per prevalence.
    point = pl.col("curve", "threshold", "fpr", "recall")
    frame = frame.filter(pl.any_horizontal(point.ne_missing(point.shift())))
    return frame.with_columns(pl.col("threshold").shift(-1).over("curve").alias(label_formats.LOWER))


# Tables with a row per prevalence --------------------------------------------------------------


def read_lines(
    chart: str, table: object, only: str | None = None, *, is_per_row: bool = False
) -> ChartCurves:
    """Return a line per group, metric and target, or only the lines of the metric `only`."""
    # Rows have `eta`, `value`, and `low` and `high` if the table has intervals. A null value between
    # others is a gap in its line. With `is_per_row` each prevalence is a line of its own, of one point.
    made_by = "operating_points" if only else "summary or operating_points"
    table = check_table(chart, table, made_by, ["eta"])
    start = table.columns.index("eta")
    names, after_eta = name_group_fields(table.columns[:start]), table.columns[start + 1 :]
    sizes = [name for name in ("n_pos", "n_neg") if name in after_eta]
    sweep = [name for name in SWEEP_COLUMNS if name in after_eta]
    base = add_sizes(pick_columns(table, names, ["eta", *(sizes if len(sizes) == 2 else []), *sweep]))
    if "criterion" in after_eta:
        names["target"] = "target"
        base = base.with_columns(table.select(target=pl.struct("criterion", "target")).to_series())
    else:
        base = base.drop(sweep)
    names |= {"metric": "metric"} | ({"eta": "eta"} if is_per_row else {})
    values = _read_values(chart, table, after_eta, made_by)
    frame = pl.concat([base.with_columns(columns) for columns in values], how="diagonal")
    if only:
        frame = frame.filter(pl.col("metric") == only)
        if frame.is_empty() and len(table):
            remedy = f'pass metrics=("{only}",) to operating_points'
            raise PrcError(f"{chart} draws {only}, which the table lacks; {remedy}")
    return build_lines(frame, names, "value")


def build_lines(frame: pl.DataFrame, names: dict[str, str], value: str) -> ChartCurves:
    """Return the lines of a frame by prevalence, numbered and sorted; see `number_lines`."""
    frame = frame.with_columns(pl.col("eta").cast(pl.Float64))
    number = pl.col(pl.Float64).exclude(list(names))
    frame = frame.with_columns(pl.when(number.is_finite()).then(number))
    is_shown = (pl.col("eta") > 0) | pl.col(
        "eta"
    ).is_null().all()  # null: negatives that are not counted
    lines = number_lines(frame.filter(is_shown), names, "eta", value, "prevalence")
    values = pl.col(value)
    is_within_line = values.forward_fill().is_not_null() & values.backward_fill().is_not_null()
    curves = build_chart_curves(lines, names, is_within_line.over("curve"))
    return replace(curves, has_zero=bool((frame["eta"] == 0).any()))


def number_lines(
    frame: pl.DataFrame, names: dict[str, str], x: str, value: str, x_name: str
) -> pl.DataFrame:
    """Return the rows by line and x, with the column `curve`; raise if a line has two values at an x."""
    frame = number_curves(frame.sort(*names, x), names)
    frame = frame.unique(["curve", x, value], keep="first", maintain_order=True)
    if frame.select(pl.struct("curve", x).is_duplicated().any()).item():
        raise PrcError(
            f"some lines have several values at one {x_name}; keep the group columns of the table, and "
            "keep them before eta"
        )
    return frame


def _read_values(
    chart: str, table: pl.DataFrame, after_eta: list[str], made_by: str
) -> list[list[pl.Series]]:
    """Return `metric`, `value` and its interval: once for a long table, else once per metric column."""
    shared = [table.get_column(name) for name in ("reliable", "interval_of") if name in after_eta]
    if "metric" in after_eta and "value" in after_eta:
        columns = [name for name in ("metric", "value", "low", "high") if name in after_eta]
        return [[*(table.get_column(name) for name in columns), *shared]]
    is_wide = "criterion" in after_eta and "fpr" in after_eta
    metric_candidates = after_eta[after_eta.index("fpr") + 1 :] if is_wide else []
    interval_columns = {column for name in after_eta for column in astuple(name_estimate(name))[1:]}
    no_metrics = {*interval_columns, *_ALERT_COLUMNS, ABOVE_CHANCE}
    metrics = [name for name in metric_candidates if name not in no_metrics]
    if not metrics:
        raise PrcError(
            f"{chart} takes the table that {made_by} returns, with all its columns; this one has "
            "neither metric and value, nor criterion, target and a column per metric"
        )
    values = []
    for name in metrics:
        estimate = find_estimate(after_eta, name)
        ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
        numbers = [
            table.get_column(end_column).alias(field).cast(pl.Float64)
            for field, end_column in ends.items()
            if end_column is not None
        ]
        values.append([pl.Series("metric", [name] * table.height, pl.String), *numbers, *shared])
    return values
