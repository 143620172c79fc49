"""What a report is asked for: prevalences, targets, a number of cases, a promise, a level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from polars_prcurve import column_names as c
from polars_prcurve.errors import PrcError
from polars_prcurve.number_words import say_cases, say_count, say_part, say_share
from polars_prcurve.prevalence.eta_values import read_eta_list
from polars_prcurve.prevalence.field_values import Field
from polars_prcurve.prevalence.uncertain_eta import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.report.report_source import ReportSource, collect_frame

EtaValues: TypeAlias = "list[float] | pl.DataFrame"
_OWN = f"{c.RESERVED}own"


@dataclass(frozen=True)
class Goal:
    """A target in words: recall 0.5 is `to find half of the positives`."""

    criterion: str
    value: float
    per: float

    @property
    def words(self) -> str:
        """What is wanted, as the end of a sentence."""
        if self.criterion == "recall":
            return f"to find {self.found} of the positives"
        if self.criterion == "precision":
            return f"so that {say_share(self.value)} of the alerts are right"
        return f"with at most {say_count(self.value)} alerts {say_cases(self.per)}"

    @property
    def found(self) -> str:
        """The share of positives that is to be found."""
        return say_part(self.value)

    @property
    def merit(self) -> str:
        """The column by which models are compared at this target: greater is better."""
        return "precision" if self.criterion == "recall" else "recall"


@dataclass(frozen=True)
class ReportEta:
    """The prevalences of a report: some numbers for all groups, or a frame with those of each group."""

    given: EtaValues
    keys: tuple[str, ...] = ()
    """The group columns of a frame."""
    parts: tuple[str, ...] = ()
    """The columns of a frame that tell the parts of a field apart: then a group has one prevalence."""

    @property
    def argument(self) -> Any:
        """What methods take as `eta=` for all prevalences."""
        if isinstance(self.given, pl.DataFrame) and self.parts:
            return Field(self.given, self.parts)
        return self.given

    @property
    def exact(self) -> EtaValues:
        """The prevalences without their own intervals, for methods that do not carry these."""
        if isinstance(self.given, list):
            return self.given
        return self.given.drop(UNCERTAIN_ETA_COLUMNS, strict=False)

    @property
    def headline(self) -> Any:
        """What methods take as `eta=` for the first prevalence of each group, which heads the report."""
        if self.parts:
            return self.argument
        if isinstance(self.given, list):
            return self.given[:1]
        if not self.keys:
            return self.given.head(1)
        return self.given.unique(list(self.keys), keep="first", maintain_order=True)

    @property
    def exact_headline(self) -> EtaValues:
        """The first prevalence of each group, without its own interval."""
        return ReportEta(self.headline, self.keys).exact

    @property
    def has_one_each(self) -> bool:
        """Whether each group has one prevalence."""
        return len(self.headline) == len(self.given)

    def select_headline(self, table: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of a table that are at the first prevalence of their group."""
        if self.parts:
            return table
        if isinstance(self.given, list):
            return table.filter(pl.col("eta") == self.given[0])
        headline = self.exact_headline
        assert isinstance(headline, pl.DataFrame)
        keys = headline.select(*self.keys, pl.col("eta").cast(pl.Float64))
        kept = table.join(keys, on=keys.columns, how="semi", nulls_equal=True, maintain_order="left")
        return kept if self.keys or kept.height else table.filter(pl.col("eta") == pl.col("eta").min())


@dataclass(frozen=True)
class ReportRequest:
    """What a report is asked for."""

    eta: ReportEta
    targets: Mapping[str, list[float]]
    """The values of recall, precision and alerts that were asked for, in this order."""
    per: float
    """The number of cases among which alerts are counted."""
    confidence: float | None
    guarantee: float | None

    @property
    def goals(self) -> list[Goal]:
        """The targets one by one."""
        return [Goal(name, value, self.per) for name, values in self.targets.items() for value in values]


def read_report_eta(source: ReportSource, eta: object) -> ReportEta:
    """Return the prevalences; None is that of the table, or of each group if groups differ."""
    if isinstance(eta, pl.DataFrame | pl.LazyFrame):
        frame = collect_frame(eta)
        if source.model in frame.columns:
            where = "in one field" if source.within else "at one prevalence"
            raise PrcError(f"models are compared {where}; leave the column {source.model!r} out of eta=")
        keys = tuple(name for name in source.by_columns if name in frame.columns)
        return ReportEta(_fill_part_etas(source, frame), keys, source.within)
    etas = read_eta_list(eta)
    if None not in etas:
        return ReportEta([value for value in dict.fromkeys(etas) if value is not None])
    groups = source.merged.summary(metrics="roc_auc")
    groups = groups.drop_nulls("eta").select(*source.by_columns, "eta").unique(maintain_order=True)
    own = groups["eta"].unique()
    if len(own) == 1:
        values = (own.item() if value is None else value for value in etas)
        return ReportEta(list(dict.fromkeys(values)))
    if len(etas) == 1 and source.by_columns and groups.n_unique(source.by_columns) == groups.height > 0:
        return ReportEta(groups, tuple(source.by_columns))
    raise PrcError(
        "eta=None of a report is the own prevalence of the table, and its groups have "
        f"{len(own) or 'none'}; pass eta= as numbers"
    )


def _fill_part_etas(source: ReportSource, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame; for models in a field, a null eta becomes the own prevalence of the part.

    Models that were tested on other examples would otherwise have fields of other prevalences.
    """
    if source.model is None or not source.within or frame["eta"].null_count() == 0:
        return frame
    keys = [name for name in (*source.by_columns, *source.within) if name in frame.columns]
    counts = source.count_examples(keys)
    own = counts.select(*keys, (pl.col("n_pos") / (pl.col("n_pos") + pl.col("n_neg"))).alias(_OWN))
    joined = frame.join(own, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return joined.with_columns(pl.col("eta").fill_null(pl.col(_OWN))).drop(_OWN)


def list_etas(areas: pl.DataFrame) -> list[float]:
    """Return all prevalences of a report, rising, from its table of areas."""
    return areas["eta"].drop_nulls().unique().sort().to_list()
