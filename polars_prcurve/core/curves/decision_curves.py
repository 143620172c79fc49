"""Decision curves: the net benefit of flagging at a risk, over the risks at which users act.

Posteriors are risks. Who acts at a risk of p accepts (1 - p) / p false positives for a true one. In
true positives per case, the net benefit of flagging all posteriors of at least p is, with
w = p / (1 - p),

    eta recall - (1 - eta) fpr w    (Vickers and Elkin 2006).

A risk at prevalence eta is a posterior at the prevalence of training: the same rows are flagged by that
threshold, so each pair of prevalence and risk is one listed threshold of the sweep.

Source: Vickers and Elkin 2006.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import polars as pl

from polars_prcurve.core.confidence.band_options import FixedBands
from polars_prcurve.core.confidence.doubts import DOUBT, doubt_missing_ends, find_first_doubt
from polars_prcurve.core.curves.bands_and_guarantees_of_parts import build_field_grid
from polars_prcurve.core.curves.metric_and_band_columns import add_metrics, fit_bands
from polars_prcurve.core.ground.argument_checks import read_list
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.reserved_prefix import RESERVED
from polars_prcurve.core.ground.share_texts import read_share
from polars_prcurve.core.inputs.exact_thresholds import read_threshold_list, to_least_scores
from polars_prcurve.core.inputs.group_column_checks import check_group_names
from polars_prcurve.core.inputs.resolved_tables import ScoreTable, is_field
from polars_prcurve.core.inputs.row_column_names import Group
from polars_prcurve.core.metrics.point_formulas import build_net_benefit
from polars_prcurve.core.prevalence.eta_table import EtaTable
from polars_prcurve.core.prevalence.population_column_names import Population
from polars_prcurve.core.prevalence.prior_shift import check_prior, shift_prior
from polars_prcurve.core.sweep.sampling_designs import choose_design
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS, SWEEP_COLUMNS
from polars_prcurve.core.sweep.sweep_table import build_eta_sweep

PROBABILITIES = tuple(percent / 100 for percent in range(1, 100))  # where users name none
_RARE = 0.05  # below this prevalence, whole percents are too coarse for a risk
_N_RISKS = 60  # the fewest risks, so that a curve looks smooth
_ETA_NUMBER = f"{RESERVED}eta_number"  # the place of a prevalence among those of the call
_PROBABILITY = "threshold_probability"  # the column of the risk at which users act
_ENDS = ("net_benefit_low", "net_benefit_high")  # columns that intervals add


def _list_decision_columns(*, has_bands: bool, in_field: bool) -> tuple[str, ...]:
    """Return the columns that a decision curve adds to `by`."""
    decision_columns = ("eta", _PROBABILITY, *SWEEP_COLUMNS, "net_benefit", "treat_all")
    decision_columns = (
        *decision_columns,
        *(_ENDS if has_bands else ()),
        *(FIELD_COLUMNS if in_field else ()),
    )
    return (*decision_columns, DOUBT) if has_bands else decision_columns


def build_decision_table(
    table: ScoreTable,
    etas: Sequence[float | None],
    probabilities: Sequence[float],
    eta_train: float | str | None,
    bands: FixedBands | None,
) -> pl.LazyFrame:
    """Return the result of `decision_curve`: `by`, then `_list_decision_columns`."""
    decision_columns = _list_decision_columns(has_bands=bands is not None, in_field=is_field(table))
    check_group_names(table.by, decision_columns)
    risks, (etas, eta_train) = _read_risks(probabilities), _read_etas(etas, eta_train)
    # One row per prevalence and risk, with the threshold as a value of the score's dtype
    risk_frames = []
    for eta_number, eta in enumerate(etas):
        moved_risks: Any = risks
        if eta is not None and eta_train is not None and eta != eta_train:
            moved_risks = [shift_prior(risk, eta, eta_train) for risk in risks]
        exact_thresholds = read_threshold_list("probabilities", moved_risks, table.score_dtype)
        risk_frame = to_least_scores(exact_thresholds, table.score_dtype).alias("threshold").to_frame()
        risk_series = pl.Series(_PROBABILITY, risks, dtype=pl.Float64)
        risk_frames.append(
            risk_frame.with_columns(risk_series, pl.lit(eta_number, dtype=pl.Int64).alias(_ETA_NUMBER))
        )
    risk_rows = pl.concat(risk_frames)
    if table.parts is None:
        eta_schema = {"eta": pl.Float64, _ETA_NUMBER: pl.Int64}
        numbered_etas = pl.LazyFrame({"eta": etas, _ETA_NUMBER: range(len(etas))}, schema=eta_schema)
        grid = EtaTable(numbered_etas, etas_per_group=len(etas), holds_own=None in etas)
    else:  # a field has one prevalence, its own
        grid, first_eta_number = build_field_grid(table), pl.lit(0, dtype=pl.Int64).alias(_ETA_NUMBER)
        grid = grid._replace(frame=grid.frame.with_columns(first_eta_number))
    points = build_eta_sweep(
        grid, table, listed_thresholds=risk_rows["threshold"].unique(), with_sizes=bands is not None
    )
    # The join may shuffle rows, so they are sorted by the keys of the result. NEG_FACTOR orders rows of
    # one prevalence that is requested twice, as a number and as that of the group.
    points = points.join(risk_rows.lazy(), on=[_ETA_NUMBER, "threshold"], nulls_equal=True)
    points = points.sort(Group.NUMBER, "eta", Population.NEG_FACTOR, _PROBABILITY)
    risk_odds = pl.col(_PROBABILITY) / (1 - pl.col(_PROBABILITY))
    net_benefit_metric = build_net_benefit("net_benefit", risk_odds)
    if bands is not None:
        bands = fit_bands(bands, grid, table, [net_benefit_metric])
    points = add_metrics(points, [net_benefit_metric], table, bands, long=False)
    if bands is not None:
        points = _add_doubts(points, table, bands)
    points = points.with_columns(treat_all=pl.col("eta") - (1 - pl.col("eta")) * risk_odds)
    eta_column, *other_columns = decision_columns
    return points.select(*table.by, eta_column, *grid.carried_columns, *other_columns)


def _add_doubts(points: pl.LazyFrame, table: ScoreTable, bands: FixedBands) -> pl.LazyFrame:
    """Add the column `doubt`: why an interval may not hold, as at a threshold that is given."""
    from polars_prcurve.core.curves.doubts_of_points import list_few_cells

    design = choose_design(table, with_sizes=True, for_thresholds=True)
    has_class_alone = (pl.col("tp") + pl.col("fn") == 0) | (pl.col("fp") + pl.col("tn") == 0)
    condition_by_reason = {"one class": has_class_alone} | list_few_cells(table, bands, design, [])
    points = points.with_columns(find_first_doubt(condition_by_reason, pl.lit(True)).alias(DOUBT))
    return points.with_columns(doubt_missing_ends(DOUBT, _ENDS).alias(DOUBT))


def _read_risks(probabilities: Sequence[float]) -> list[float]:
    """Return the risks at which users act, in order; raise unless they are distinct probabilities."""
    expected_phrase = "probabilities in [0, 1), such as [0.1, 0.2]"
    risks = sorted(
        read_share("probabilities=", risk, expected_phrase, lambda probability: 0 <= probability < 1)
        for risk in read_list("probabilities=", probabilities, expected_phrase, single_type=(Real, str))
    )
    if len(set(risks)) < len(risks):
        raise PrcError("leave the repeats out of probabilities=")
    return risks


def choose_risks(etas: Sequence[float | None]) -> tuple[float, ...]:
    """Return the risks at which people act: PROBABILITIES, unless one prevalence is small."""
    # Who looks for one case in 200 acts at risks around 1 in 200, for which whole percents are too
    # coarse.
    inner_etas = [eta for eta in etas if eta is not None and 0 < eta < 1]
    if not inner_etas or min(inner_etas) >= _RARE:
        return PROBABILITIES
    low_risk, high_risk = min(inner_etas) / 10, min(20 * max(inner_etas), 0.99)
    n_steps = max(_N_RISKS, round(20 * math.log10(high_risk / low_risk)))
    risks = (
        low_risk * (high_risk / low_risk) ** (step_number / n_steps)
        for step_number in range(n_steps + 1)
    )
    return tuple(dict.fromkeys(float(f"{risk:.2g}") for risk in risks))


def _read_etas(
    etas: Sequence[float | None], eta_train: Any
) -> tuple[Sequence[float | None], float | None]:
    """Return the prevalences, and that of training; raise unless posteriors can be moved to them."""
    known_etas = [eta for eta in etas if eta is not None]
    if eta_train is None:
        if known_etas:
            raise PrcError(
                "pass eta_train=, the prevalence at which the scores are probabilities, such as 0.2: "
                "eta= converts them from there to another prevalence"
            )
        return etas, None
    checked_eta_train = check_prior("eta_train", eta_train)
    if len(known_etas) < len(etas):
        raise PrcError(
            "leave eta_train= out, or pass eta= as numbers: eta=None takes the posteriors as "
            "they stand, without eta_train="
        )
    return [check_prior("eta", eta) for eta in known_etas], checked_eta_train
