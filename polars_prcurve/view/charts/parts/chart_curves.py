"""The curves that a chart draws, read from a table in any row order, under fixed field names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

import polars as pl

from polars_prcurve.core.binding.shown_columns import COUNT_NAMES, SHORT_COLUMNS
from polars_prcurve.core.confidence.chance_test import ABOVE_CHANCE
from polars_prcurve.core.confidence.confidence_that_limit_holds import CERTAINTY
from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.estimates import find_estimate, name_estimate
from polars_prcurve.core.curves.guarantees import GUARANTEE_COLUMNS
from polars_prcurve.core.curves.targets import POINT_CRITERION
from polars_prcurve.core.ground.argument_checks import refuse_objects
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.visible_names import shorten_names
from polars_prcurve.core.prevalence.eta_table import require_plain_etas
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.view.charts.parts import names_and_numbers
from polars_prcurve.view.words.call_order_of_names import number_names
from polars_prcurve.view.words.number_words import FEW_POSITIVES, say_sizes

SPAN = "interval of the prevalence"  # the column of intervals in words, as users see it
NUMBER = "number of "  # before the name of a field of groups: the number of its colour
REASON = "reason"  # of values with intervals: the column of why these are in doubt
_EFFECTIVE_COLUMNS = FIELD_COLUMNS[:2]
"""Effective sizes of a test whose rows have weights, such as one of several parts."""
_NO_METRICS = ("threshold", *GUARANTEE_COLUMNS, *COUNT_NAMES, ABOVE_CHANCE, CERTAINTY, *FIELD_COLUMNS)
"""Columns of `operating_points` that are no metrics."""
_MAX_NAMES = 5  # of groups without a curve


@dataclass(frozen=True)
class ChartCurves:
    """The curves of a table that have a defined point, sorted, under fixed field names."""

    points: pl.DataFrame  # one row per point: `curve`, its number, and the values that are drawn
    # One row per curve: `curve`, the fields of `column_by_field`; `n_pos` and `n_neg`, of weighted rows
    # as how many examples they count; and `own_eta`, the prevalence of the test set.
    curve_rows: pl.DataFrame
    # The table's name of each field: `group_0`, ...; `eta`, `carried_0`, ... or `target`, `metric`.
    column_by_field: dict[str, str]
    left_out: str  # a sentence that names the groups without a curve; empty if all have one
    order: str = ""  # who is best by a test, the opening of titles; empty without a test
    is_open: bool = False  # whether the test leaves several models that may be best
    open_reason: str = ""  # what is known of their difference, for the note
    has_zero: bool = False  # whether the table has prevalence 0, which no log axis shows

    @property
    def group_fields(self) -> list[str]:
        """Fields of the table's group columns."""
        return [field for field in self.column_by_field if field.startswith("group")]

    @property
    def group_column(self) -> str | None:
        """The table's group column; None without groups, and of several such columns."""
        fields = self.group_fields
        return self.column_by_field[fields[0]] if len(fields) == 1 else None

    @property
    def other_fields(self) -> list[str]:
        """Further fields in which curves of one group can differ."""
        known_fields = ("eta", "span", "target", "metric")
        return [field for field in known_fields if field in self.column_by_field]

    @property
    def has_few_positives(self) -> bool:
        """Whether a curve is of so few positives that what it shows is no finding."""
        return bool((self.curve_rows["n_pos"] < FEW_POSITIVES).any())

    @property
    def few_curves(self) -> list[int]:
        """The curves of fewer than 20 positives beside others of more; none if all have so few."""
        few_rows = self.curve_rows.filter(pl.col("n_pos") < FEW_POSITIVES)
        return few_rows["curve"].to_list() if len(few_rows) < len(self.curve_rows) else []

    def keep_known(self, value_by_curve: Mapping[int, float]) -> dict[int, float]:
        """Return the values without those of `few_curves`, as titles leave them out."""
        few_curves = self.few_curves
        return {curve: value for curve, value in value_by_curve.items() if curve not in few_curves}

    def pick(self, curve_numbers: Sequence[int]) -> ChartCurves:
        """Return the curves of these numbers."""
        is_picked = pl.col("curve").is_in([*curve_numbers])
        points, curve_rows = self.points.filter(is_picked), self.curve_rows.filter(is_picked)
        return replace(self, points=points, curve_rows=curve_rows)

    def find_means(self, column: str) -> dict[int, float]:
        """Return the mean of a column of points, by the number of each curve."""
        return dict(self.points.group_by("curve").agg(pl.col(column).mean()).rows())

    def count_distinct(self, fields: Sequence[str]) -> int:
        """Return how many different values these fields have among the curves."""
        return self.curve_rows.n_unique(fields) if fields else 1

    def join_etas(self, text: str) -> str:
        """Return the text and where the curves run, such as `at a prevalence of 1 in 1,000`."""
        if "eta" not in self.curve_rows.columns:  # a ROC curve is the same at all
            return text.rstrip(" ,")
        etas = self.curve_rows["eta"].unique().sort().to_list()
        has_several_etas = (
            "group_0" in self.column_by_field and len(etas) > 1 and self.count_distinct(["group_0"]) > 1
        )
        if has_several_etas and self.count_distinct(self.group_fields) == len(self.curve_rows):
            etas_text = names_and_numbers.say_eta_range(etas)
            range_text = f"{'from ' if ' to ' in etas_text else ''}{etas_text}"
            return f"{text.rstrip(',')}, each group at its own prevalence, {range_text}"
        return f"{text} {names_and_numbers.describe_etas(etas) if etas else ''}".rstrip(" ,")

    def describe_sizes(self) -> list[str]:
        """Return sentences on the test set, and on what is left out."""
        size_names = ("n_pos", "n_neg")
        size_columns = [self.curve_rows[name].drop_nulls() for name in size_names]
        if self.curve_rows.is_empty() and not self.left_out:
            return ["The table has no rows", *self.describe_left_out()]
        if not all(len(size_column) for size_column in size_columns):
            return self.describe_left_out()
        subject = "Test set" if self.count_distinct(size_names) == 1 else "Test sets"
        if "fp_effective" in self.points.columns:
            sizes_text = say_sizes(
                *(names_and_numbers.format_range(size_column.round()) for size_column in size_columns)
            )
            verb = "counts" if subject == "Test set" else "count"
            sizes_clause = f" of weighted rows, which {verb} as {sizes_text}"
        elif any(
            size_column.dtype.is_float() and (size_column != size_column.round()).any()
            for size_column in size_columns
        ):
            are_whole = all((size_column >= 100).all() for size_column in size_columns)
            size_columns = [
                size_column.round() if are_whole else size_column for size_column in size_columns
            ]
            pos_text, neg_text = map(names_and_numbers.format_range, size_columns)
            sizes_clause = (
                f": the weights of positives add up to {pos_text}, those of negatives to {neg_text}; "
                "how many examples these count as is not in the table"
            )
        else:
            sizes_clause = f": {say_sizes(*map(names_and_numbers.format_range, size_columns))}"
        return [subject + sizes_clause, *self.describe_left_out()]

    def describe_left_out(self) -> list[str]:
        """Return sentences on groups and prevalences that are not drawn."""
        sentences = [self.left_out, "Not drawn: prevalence 0" if self.has_zero else ""]
        return [sentence for sentence in sentences if sentence]


def check_table(
    chart_name: str, table: object, made_by: str, required_columns: Sequence[str]
) -> pl.DataFrame:
    """Return the table; raise unless it is a DataFrame that has the needed columns."""
    if isinstance(table, pl.LazyFrame):
        raise PrcError(
            f"collect the table first, table.collect(): {chart_name} takes a DataFrame and got "
            "a LazyFrame"
        )
    if not isinstance(table, pl.DataFrame):
        raise PrcError(
            f"pass the DataFrame that {made_by} returns to {chart_name}; got {type(table).__name__}"
        )
    missing_columns = [name for name in required_columns if name not in table.columns]
    if missing_columns:
        has_choice = not {*SHORT_COLUMNS}.isdisjoint(made_by.split())
        columns_text = 'columns="all"' if has_choice else "all its columns"
        raise PrcError(
            f"pass the table that {made_by} returns, with {columns_text}, to {chart_name}; "
            f"this one lacks {', '.join(missing_columns)}"
        )
    refuse_objects(f"the table of {chart_name}", table.schema)
    # Of crossings charts show those that lie on an axis.
    return table if made_by == "crossings" else require_plain_etas(table)


def name_group_fields(columns: Sequence[str]) -> dict[str, str]:
    """Return the fields `group_0`, ... of these columns, each with the name of its column."""
    return {f"group_{number}": name for number, name in enumerate(columns)}


def pick_columns(
    table: pl.DataFrame, column_by_field: Mapping[str, str], further_columns: Iterable[str]
) -> pl.DataFrame:
    """Return columns under the names of their fields, and further ones under their own names."""
    all_columns_by_fields = {**column_by_field, **{name: name for name in further_columns}}
    # Not by `select`, to which a column called `*` or `^x$` is a pattern.
    return pl.DataFrame(
        [table.get_column(name).alias(field) for field, name in all_columns_by_fields.items()]
    )


def empty_infinite(column_exprs: pl.Expr) -> pl.Expr:
    """Return columns as floats, with null instead of NaN and infinity, which JSON has not."""
    float_exprs = column_exprs.cast(pl.Float64)
    return pl.when(float_exprs.is_finite()).then(float_exprs)


def number_curves(points: pl.DataFrame, key_fields: Iterable[str]) -> pl.DataFrame:
    """Add the column `curve`, a number, to rows that are sorted by the keys of curves."""
    curve_number_expr = (
        pl.struct(list(key_fields)).rle_id() if key_fields else pl.lit(0, dtype=pl.UInt32)
    )
    return points.with_columns(curve_number_expr.alias("curve"))


def add_sizes(points: pl.DataFrame) -> pl.DataFrame:
    """Add `n_pos` and `n_neg`, unless the frame has them; null if its table does not have them."""
    if {"n_pos", "n_neg"} <= set(points.columns):
        return points
    null_expr = pl.lit(None, dtype=pl.Float64)
    has_cells = {"tp", "fp", "fn", "tn"} <= set(points.columns)
    n_pos_expr = pl.col("tp") + pl.col("fn") if has_cells else null_expr
    return points.with_columns(
        n_pos=n_pos_expr, n_neg=pl.col("fp") + pl.col("tn") if has_cells else null_expr
    )


def build_chart_curves(
    all_points: pl.DataFrame, column_by_field: dict[str, str], is_drawn: pl.Expr
) -> ChartCurves:
    """Return the curves of the rows that are drawn; `all_points` have the column `curve`, too."""
    all_points = add_sizes(all_points)
    drawn_points = all_points.filter(is_drawn)
    present_fields = [field for field in column_by_field if field in all_points.columns]
    further_names = [n for n in (*_EFFECTIVE_COLUMNS, ABOVE_CHANCE) if n in all_points.columns]
    first_exprs = pl.col("n_pos", "n_neg", *further_names).drop_nulls().first()
    all_curve_rows = all_points.group_by("curve", maintain_order=True).agg(
        pl.col(present_fields).first(), first_exprs
    )
    n_pos_expr, n_neg_expr = pl.col("n_pos").cast(pl.Float64), pl.col("n_neg").cast(pl.Float64)
    all_curve_rows = all_curve_rows.with_columns(own_eta=n_pos_expr / (n_pos_expr + n_neg_expr))
    if {*_EFFECTIVE_COLUMNS} <= {*further_names}:
        all_curve_rows = all_curve_rows.with_columns(
            pl.col(effective).alias(name)
            for name, effective in zip(("n_pos", "n_neg"), _EFFECTIVE_COLUMNS, strict=True)
        ).drop(_EFFECTIVE_COLUMNS)
    all_curve_rows = all_curve_rows.with_columns(
        number_names(all_curve_rows[field]).alias(f"{NUMBER}{field}")
        for field in present_fields
        if field.startswith("group")
    )
    has_rows_expr = pl.col("curve").is_in(drawn_points["curve"].unique().implode())
    drawn_curve_rows = all_curve_rows.filter(has_rows_expr)
    left_out_rows = all_curve_rows.filter(~has_rows_expr)
    return ChartCurves(
        drawn_points.drop(present_fields, "n_pos", "n_neg"),
        drawn_curve_rows,
        column_by_field,
        _name_left_out(left_out_rows, all_curve_rows, column_by_field),
    )


def _name_left_out(
    left_out_rows: pl.DataFrame, all_curve_rows: pl.DataFrame, column_by_field: Mapping[str, str]
) -> str:
    """Return a sentence that names the groups without a curve, and the reason; empty if all have one."""
    if left_out_rows.is_empty():
        return ""
    has_one_class_expr = ((pl.col("n_pos") == 0) | (pl.col("n_neg") == 0)).fill_null(False)
    reason_text = (
        "one class only" if left_out_rows.select(has_one_class_expr.all()).item() else "undefined"
    )
    column_by_label_field = {
        field: name for field, name in column_by_field.items() if field.startswith("group")
    }
    column_by_label_field |= {
        field: column_by_field[field]
        for field in ("target", "metric")
        if field in column_by_field and all_curve_rows.n_unique(field) > 1
    }
    if "pair" in left_out_rows.columns:
        drawn_rows = all_curve_rows.join(left_out_rows, on="curve", how="anti")
        left_out_rows = _find_absent_models(left_out_rows, drawn_rows, [*column_by_label_field])
        column_by_label_field[left_out_rows.columns[-1]] = "model"
    group_labels = ["the whole table"]
    if column_by_label_field:
        distinct_rows = left_out_rows.unique([*column_by_label_field], maintain_order=True)
        group_labels = names_and_numbers.build_labels(distinct_rows, column_by_label_field)
    names_text = ", ".join(shorten_names(group_labels[:_MAX_NAMES], 40))
    n_more = len(group_labels) - _MAX_NAMES
    return f"Not drawn, {reason_text}: {names_text}{f' and {n_more} more' if n_more > 0 else ''}"


def _find_absent_models(
    left_out_rows: pl.DataFrame, drawn_rows: pl.DataFrame, keys: list[str]
) -> pl.DataFrame:
    """Return pairs that are left out as the models that no pair is drawn of, if these explain all."""
    # A model without positives has no difference from any other one. The last column is `group_model`,
    # or else `pair`.
    model_exprs = [
        pl.col("pair").struct.field(side_name).alias("group_model")
        for side_name in ("model_a", "model_b")
    ]
    models_left_out, drawn_models = (
        pl.concat(rows.select("curve", *keys, side_name) for side_name in model_exprs)
        for rows in (left_out_rows, drawn_rows)
    )
    absent_rows = models_left_out.join(
        drawn_models, on=[*keys, "group_model"], how="anti", nulls_equal=True
    )
    is_explained = absent_rows["curve"].n_unique() == len(left_out_rows) and len(drawn_rows) > 0
    return absent_rows if is_explained else left_out_rows.select(*keys, "pair")


# Tables with a row per threshold --------------------------------------------------------------


def read_sweep(
    chart_name: str,
    table: object,
    metric_columns: Sequence[str] = (),
    *,
    is_by_eta: bool = True,
    made_by: str = "curve",
    further_columns: Sequence[str] = (),
) -> ChartCurves:
    """Return the curves of a table that has a row per threshold."""
    # `metric_columns` are drawn; `further_columns` hold other numbers of each row. Each
    # prevalence has a curve of its own; with `is_by_eta=False` all prevalences of a group share one.
    required_columns = [*(["eta"] if is_by_eta else []), *SWEEP_COLUMNS, *further_columns]
    table = check_table(chart_name, table, made_by, required_columns)
    for name in metric_columns:
        if name not in table.columns:
            remedy = f'pass metrics=("{name}",) to curve'
            remedy = "leave out long=True" if "metric" in table.columns else remedy
            raise PrcError(f"{remedy}: {chart_name} draws the column {name!r}, which the table lacks")
    key_columns = table.columns[: table.columns.index("threshold")]
    eta_position = key_columns.index("eta") if "eta" in key_columns else len(key_columns)
    column_by_field = name_group_fields(key_columns[:eta_position])
    key_fields = [*column_by_field]
    if is_by_eta:
        column_by_carried_field = {
            f"carried_{number}": name for number, name in enumerate(key_columns[eta_position + 1 :])
        }
        own_key_columns, end_columns = [*column_by_field.values(), "eta"], ["eta_low", "eta_high"]
        column_by_field |= {"eta": "eta"}
        key_fields.append("eta")
        if set(end_columns) <= set(column_by_carried_field.values()):
            # The interval of a prevalence distinguishes curves where several are equal but for that.
            n_curves, n_curves_with_spans = (
                table.select(pl.struct(names_of_key).n_unique()).item()
                for names_of_key in (own_key_columns, [*own_key_columns, *end_columns])
            )
            if n_curves < n_curves_with_spans:
                end_pairs, say_range = table.select(end_columns).rows(), names_and_numbers.say_eta_range
                span_texts = [
                    "exact" if None in end_pair else say_range(end_pair) for end_pair in end_pairs
                ]
                table = table.with_columns(pl.Series(SPAN, span_texts, dtype=pl.String))
                column_by_carried_field["span"] = SPAN
                key_fields.append("span")
        column_by_field |= column_by_carried_field
    points = _sort_points(table, column_by_field, key_fields, [*metric_columns, *further_columns])
    defined_columns = ["recall", *(metric_columns or ["fpr"])]
    _check_curves(points.drop_nulls(defined_columns))
    return build_chart_curves(
        points, column_by_field, pl.all_horizontal(pl.col(defined_columns).is_not_null())
    )


def _check_curves(points: pl.DataFrame) -> None:
    """Raise if rows of one curve are not of one: rates fall with the threshold, or sizes differ."""
    is_rate_falling = pl.any_horizontal(pl.col("recall", "fpr").diff() < 0).any()
    # Sums of weights may differ in their last digits from row to row.
    mixed_size_exprs = (
        pl.col(size_name).max() > pl.col(size_name).min() * (1 + 1e-9)
        for size_name in ("n_pos", "n_neg")
    )
    mixtures = points.group_by("curve").agg(is_rate_falling.alias("falls"), *mixed_size_exprs)
    if mixtures.select(pl.any_horizontal("falls", "n_pos", "n_neg").any()).item():
        raise PrcError(
            "keep the group columns, before eta and threshold: some rows belong to different "
            "curves (recall or fpr falls with the threshold, or class sizes differ)"
        )


def _sort_points(
    table: pl.DataFrame,
    column_by_field: dict[str, str],
    key_fields: list[str],
    value_columns: Sequence[str],
) -> pl.DataFrame:
    """Return the columns of a chart by curve and falling threshold, each point once, without NaN."""
    rate_columns = ["recall", "fpr", *value_columns]
    field_columns = [name for name in FIELD_COLUMNS if name in table.columns]
    points = pick_columns(table, column_by_field, [*SWEEP_COLUMNS, *rate_columns, *field_columns])
    points = add_sizes(points.with_columns(empty_infinite(pl.col(rate_columns))))
    sort_columns = [*key_fields, "threshold", "fpr", "recall"]
    is_falling = [name == "threshold" for name in sort_columns]
    points = number_curves(
        points.sort(sort_columns, descending=is_falling, nulls_last=is_falling), key_fields
    )
    # A ROC curve from the table of `curve` would have each point once per prevalence.
    point_exprs = pl.col("curve", "threshold", "fpr", "recall")
    points = points.filter(pl.any_horizontal(point_exprs.ne_missing(point_exprs.shift())))
    return points.with_columns(
        pl.col("threshold").shift(-1).over("curve").alias(names_and_numbers.LOWER)
    )


# Tables with a row per prevalence --------------------------------------------------------------


def read_lines(
    chart_name: str, table: object, only_metric: str | None = None, *, is_per_row: bool = False
) -> ChartCurves:
    """Return a line per group, metric and target, or only those of `only_metric`."""
    # Rows have `eta`, `value`, and `low` and `high` if the table has intervals. A null value between
    # others is a gap in its line. With `is_per_row` each prevalence is a line of its own, of one point.
    made_by = "operating_points" if only_metric else "summary or operating_points"
    table = check_table(chart_name, table, made_by, ["eta"])
    eta_position = table.columns.index("eta")
    column_by_field = name_group_fields(table.columns[:eta_position])
    columns_after_eta = table.columns[eta_position + 1 :]
    size_columns = [name for name in ("n_pos", "n_neg") if name in columns_after_eta]
    sweep_columns = [n for n in (*SWEEP_COLUMNS, *FIELD_COLUMNS) if n in columns_after_eta]
    further_columns = ["eta", *(size_columns if len(size_columns) == 2 else []), *sweep_columns]
    further_columns += [ABOVE_CHANCE] if ABOVE_CHANCE in columns_after_eta else []
    shared_columns = add_sizes(pick_columns(table, column_by_field, further_columns))
    if "criterion" in columns_after_eta:
        if not (table["criterion"] == POINT_CRITERION).all():  # a group of one point has no target
            column_by_field["target"] = "target"
            shared_columns = shared_columns.with_columns(read_points_targets(table))
    else:
        shared_columns = shared_columns.drop(sweep_columns)
    column_by_field |= {"metric": "metric"} | ({"eta": "eta"} if is_per_row else {})
    columns_by_metric = _read_values(chart_name, table, columns_after_eta, made_by)
    points = pl.concat(
        [shared_columns.with_columns(metric_columns) for metric_columns in columns_by_metric],
        how="diagonal",
    )
    if only_metric:
        points = points.filter(pl.col("metric") == only_metric)
        if points.is_empty() and len(table):
            remedy = f'pass metrics=("{only_metric}",) to operating_points'
            raise PrcError(f"{remedy}: {chart_name} draws {only_metric}, which the table lacks")
    return build_lines(points, column_by_field, "value")


def read_points_targets(table: pl.DataFrame) -> pl.Series:
    """Return what each point was chosen for, and for alerts also among how many cases these are."""
    per = pl.lit(None, dtype=pl.Float64)
    rates = [name for name in ("fpr", "precision") if name in table.columns]
    if rates and {"eta", "alerts", "recall"} <= set(table.columns):
        # No column has it, but the share of alerts among all cases follows from the rates.
        share = pl.col("eta") * pl.col("recall")
        share = share + (1 - pl.col("eta")) * pl.col("fpr") if "fpr" in rates else share / pl.col(rates)
        n_cases = (pl.col("alerts") / share).filter((pl.col("alerts") > 0) & (share > 0))
        is_alerts = pl.col("criterion").cast(pl.String) == "alerts"
        per = pl.when(is_alerts).then(n_cases.round_sig_figs(9).median())
    return table.select(target=pl.struct("criterion", "target", per=per)).to_series()


def build_lines(points: pl.DataFrame, column_by_field: dict[str, str], value_column: str) -> ChartCurves:
    """Return the lines of a frame by prevalence, numbered and sorted; see `number_lines`."""
    points = points.with_columns(pl.col("eta").cast(pl.Float64))
    points = points.with_columns(empty_infinite(pl.col(pl.Float64).exclude(list(column_by_field))))
    # Null: negatives that are not counted.
    shown_points = points.filter((pl.col("eta") > 0) | pl.col("eta").is_null().all())
    line_points = number_lines(shown_points, column_by_field, "eta", value_column, "prevalence")
    line_values = pl.col(value_column)
    is_within_line = line_values.forward_fill().is_not_null() & line_values.backward_fill().is_not_null()
    curves = build_chart_curves(line_points, column_by_field, is_within_line.over("curve"))
    return replace(curves, has_zero=bool((points["eta"] == 0).any()))


def number_lines(
    points: pl.DataFrame, column_by_field: dict[str, str], x_column: str, value_column: str, x_name: str
) -> pl.DataFrame:
    """Return the rows by line and x, with the column `curve`; raise if a line has two values at an x."""
    points = number_curves(points.sort(*column_by_field, x_column), column_by_field)
    points = points.unique(["curve", x_column, value_column], keep="first", maintain_order=True)
    if points.select(pl.struct("curve", x_column).is_duplicated().any()).item():
        raise PrcError(
            "keep the group columns of the table, and keep them before eta: some lines have "
            f"several values at one {x_name}"
        )
    return points


def _read_values(
    chart_name: str, table: pl.DataFrame, columns_after_eta: list[str], made_by: str
) -> list[list[pl.Series]]:
    """Return `metric`, `value` and its interval: once for a long table, else once per metric column."""
    shared_series = [table.get_column(DOUBT).alias(REASON)] if DOUBT in columns_after_eta else []
    if "metric" in columns_after_eta and "value" in columns_after_eta:
        column_names = [name for name in ("metric", "value", "low", "high") if name in columns_after_eta]
        return [[*(table.get_column(name) for name in column_names), *shared_series]]
    is_wide = {"criterion", "target"} <= set(columns_after_eta)
    metric_candidates = columns_after_eta[columns_after_eta.index("target") + 1 :] if is_wide else []
    interval_columns = {
        column for name in columns_after_eta for column in astuple(name_estimate(name))[1:]
    }
    # Of a table with all columns metrics are what was requested, and stand after those of a sweep.
    sweep_columns = SWEEP_COLUMNS if set(SWEEP_COLUMNS) <= set(columns_after_eta) else ()
    no_metrics = {*interval_columns, *_NO_METRICS, *sweep_columns}
    metrics = [name for name in metric_candidates if name not in no_metrics]
    if not metrics:
        raise PrcError(
            f"pass the table that {made_by} returns to {chart_name}; this one has neither "
            "metric and value, nor criterion, target and a column per metric"
        )
    series_by_metric = []
    for name in metrics:
        estimate = find_estimate(columns_after_eta, name)
        column_by_end = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
        estimate_series = [
            table.get_column(column).alias(field).cast(pl.Float64)
            for field, column in column_by_end.items()
            if column is not None
        ]
        series_by_metric.append(
            [pl.Series("metric", [name] * table.height, pl.String), *estimate_series, *shared_series]
        )
    return series_by_metric
