"""Bands of point metrics at fixed thresholds and at all of them, and how much a test set must hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from polars_prcurve import intervals, metrics

from .experiment import CONFIDENCE, Row, experiment, hold_point, split_sets
from .populations import (
    CELLS,
    MODELS,
    Cell,
    draw_between,
    draw_flagged,
    draw_placed,
    precision,
    true_rates,
)

COUNTS: Row = {"by": "set", "counts": ("n_pos", "n_neg")}

# Fixed thresholds -----------------------------------------------------------------------------

KINDS = {
    "mover_wilson": intervals(CONFIDENCE),
    "mover_jeffreys": intervals(CONFIDENCE, rate="jeffreys"),
    "rectangle_clopper_pearson": intervals(CONFIDENCE, method="rectangle", rate="clopper_pearson"),
    "rectangle_hoeffding": intervals(CONFIDENCE, method="rectangle", rate="hoeffding"),
}
"""Kinds of band, by the names of their columns; `mover` is the default (Zou and Donner 2008)."""


@experiment(CELLS, 20_000)
def measure_bands(cell: Cell, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Bands of precision by how many false positives are expected; alike at any prevalence."""
    eta = 0.01
    expected = {f"{n}": n / cell.n_neg for n in (1, 5, 20, 100) if n < cell.n_neg}
    at = dict(
        sorted((expected | {"recall 0.5": cell.model.fpr_at(0.5)}).items(), key=lambda item: item[1])
    )
    drawn = draw_between(cell, list(at.values()), n_sets, rng)
    shares: dict[str, Row] = {name: {} for name in at}
    for kind, confidence in KINDS.items():
        found = drawn.prc.operating_points(
            eta, threshold=[-i for i in range(len(at))], metrics="precision", confidence=confidence,
            **COUNTS,
        )  # fmt: skip
        for i, (name, fpr) in enumerate(at.items()):
            truth = precision(cell.model.recall_at(fpr), fpr, eta)
            held = hold_point(found.filter(threshold=-i), "precision", truth)
            shares[name][kind] = held["coverage"]
            if confidence.rate in ("wilson", "clopper_pearson"):
                shares[name][f"{kind}_width"] = held["width"]
            shares[name]["no_interval"] = held["no_interval"]
    for name, row in shares.items():
        yield cell.row | {"false_positives": name} | row


MISSED = ("precision", "f1", "mcc", "cohen_kappa", "npv", "accuracy")
MISSED_SIZES, MISSED_RECALLS = (10, 20, 50, 200, 1_000), (0.1, 0.5, 0.9, 0.97, 0.985, 0.992, 0.998)
MISSED_CELLS = [*product(MISSED_SIZES, MISSED_RECALLS, (5, 20))]
MISSED_N_NEG = 2_000


@experiment(MISSED_CELLS, 1)
def measure_missed_positives(cell: tuple[int, float, int], _n: int, _rng: Any) -> Iterator[Row]:
    """Bands where few missed positives are expected, exactly: each test set counts by its chance."""
    n_pos, recall, n_fp = cell
    fpr = n_fp / MISSED_N_NEG
    sets = list_test_sets(n_pos, recall, fpr)
    chances = sets.filter(score=1).select("set", "chance")
    rates: tuple[Any, ...] = ("wilson", "jeffreys")
    for rate, eta in product(rates, (0.5, 0.01, 0.0002)):
        confidence = intervals(CONFIDENCE, rate=rate)
        found = sets.prc.operating_points(
            eta, threshold=1, metrics=MISSED, confidence=confidence, **COUNTS
        ).join(chances, on="set")
        where = {"n_pos": n_pos, "recall": recall, "false_positives": n_fp}
        where |= {"missed": n_pos * (1 - recall), "interval": rate, "eta": eta}
        shares = {}
        for name in MISSED:
            truth = getattr(metrics, name)(recall, fpr, eta)
            holds = pl.lit(truth).is_between(f"{name}_low", f"{name}_high") * pl.col("chance")
            known = found.filter(pl.col(name).is_not_null())
            shares[name] = known.select(holds.sum() / pl.col("chance").sum()).item()
        yield where | shares


def list_test_sets(n_pos: int, recall: float, fpr: float) -> pl.DataFrame:
    """Return counts by score of all test sets that are not all but impossible, with their chances."""
    sides = []
    for n, rate in ((n_pos, recall), (MISSED_N_NEG, fpr)):
        chances = stats.binom.pmf(np.arange(n + 1), n, rate)
        (hits,) = np.nonzero(chances > 1e-8)
        sides.append((hits, chances[hits]))
    (tp, of_tp), (fp, of_fp) = sides
    pairs = pl.DataFrame({"n_pos": tp, "p": of_tp}).join(
        pl.DataFrame({"n_neg": fp, "q": of_fp}), how="cross"
    )
    above = pairs.select(
        pl.int_range(pl.len()).alias("set"), "n_pos", "n_neg", score=1, chance=pl.col("p") * pl.col("q")
    )
    below = above.with_columns(
        n_pos=n_pos - pl.col("n_pos"), n_neg=MISSED_N_NEG - pl.col("n_neg"), score=pl.lit(0)
    )
    return pl.concat([above, below])


# All thresholds at once -----------------------------------------------------------------------

EVERYWHERE_SIZES = ((20, 20), (20, 200), (50, 500), (200, 200), (200, 2_000), (1_000, 20_000))
EVERYWHERE_ETA = 0.1
WIDTHS_AT = (0.3, 0.5, 0.7)


@experiment([Cell(model, *size) for model, size in product(MODELS, EVERYWHERE_SIZES)], 500)
def measure_everywhere(cell: Cell, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Shares of test sets whose bands hold at all thresholds, and how wide they are at some recalls."""
    parts = []
    for sets in split_sets(n_sets, cell.n_pos + cell.n_neg):
        drawn = draw_placed(cell, sets, rng)
        drawn = drawn.filter((pl.col("n_pos") > 0) | (pl.col("n_neg") > 0))
        parts.append(hold_everywhere(cell, drawn))
    found = pl.concat(parts).drop("set")
    yield cell.row | found.mean().row(0, named=True)


def hold_everywhere(cell: Cell, sets: pl.DataFrame) -> pl.DataFrame:
    """Return one row per test set: whether its bands hold everywhere, and how wide they are."""
    bound, names = sets.prc(**COUNTS), ["precision", "recall", "fpr"]
    at_once = intervals(CONFIDENCE, simultaneous=True)
    wide = bound.curve(EVERYWHERE_ETA, metrics=names, confidence=at_once)
    mover = bound.curve(EVERYWHERE_ETA, confidence=CONFIDENCE).select("precision_low", "precision_high")
    recall, fpr = true_rates(cell.model, wide["threshold"])
    rows = pl.concat([wide, mover.select(pl.all().name.prefix("mover_"))], how="horizontal")
    rows = rows.with_columns(true_recall=recall, true_fpr=fpr)
    # Between two scores counts stay, and the true rate grows up to that of the next score; where all
    # scores tie, it does not.
    tied = cell.model.levels is not None
    before = {
        f"{rate}_before": pl.col(f"{rate}_high") if tied else pl.col(f"{rate}_high").shift().over("set")
        for rate in ("recall", "fpr")
    }
    # Precision is looked at where positives are; between two of them it can only be lower.
    is_positive = (
        pl.lit(value=True) if tied else pl.col("tp") > pl.col("tp").shift().over("set").fill_null(0)
    )
    rows = rows.with_columns(
        true=precision(pl.col("true_recall"), pl.col("true_fpr"), EVERYWHERE_ETA),
        looked_at=is_positive, **before,
    )  # fmt: skip
    return rows.group_by("set", maintain_order=True).agg(**holds_everywhere(), **widths_at_recalls())


def holds_everywhere() -> dict[str, pl.Expr]:
    """Return whether the rates, the simultaneous band and the default band of a test set always hold."""
    rates = [
        check.fill_null(value=True)
        for rate in ("recall", "fpr")
        for check in (
            pl.col(f"{rate}_low") <= pl.col(f"true_{rate}") + 1e-12,
            pl.col(f"{rate}_before") >= pl.col(f"true_{rate}") - 1e-12,
        )
    ]
    inside = {
        name: pl.col("true").is_between(f"{prefix}precision_low", f"{prefix}precision_high")
        for name, prefix in (("simultaneous", ""), ("default", "mover_"))
    }
    held = {name: (~pl.col("looked_at") | inside[name]).fill_null(value=True).all() for name in inside}
    return {"rates": pl.all_horizontal(rates).all()} | held


def widths_at_recalls() -> dict[str, pl.Expr]:
    return {
        f"{band}_width_{recall}": (pl.col(f"{prefix}precision_high") - pl.col(f"{prefix}precision_low"))
        .filter(pl.col("recall") >= recall)
        .first()
        for (band, prefix), recall in product((("simultaneous", ""), ("default", "mover_")), WIDTHS_AT)
    }


# Sizes ----------------------------------------------------------------------------------------

SIZE_POINTS = tuple(product((0.3, 0.6, 0.9, 0.98), (0.0005, 0.01, 0.1)))
SIZE_CELLS = [*product((0.05, 0.1, 0.3), (0.5, 0.8, 0.95), (None, 0.001, 0.01, 0.1, 0.5))]


@experiment(SIZE_CELLS, 10_000)
def measure_sizes(
    cell: tuple[float, float, float | None], n_sets: int, rng: np.random.Generator
) -> Iterator[Row]:
    """Shares of test sets, of the size that `sample_size` asks for, whose band is at most delta wide."""
    delta, assurance, eta = cell
    points = pl.DataFrame(SIZE_POINTS, schema=["recall", "fpr"], orient="row")
    points = points.with_row_index("point").with_columns(pl.col("point").cast(pl.Int64))
    needed = points.prc.sample_size(
        delta, eta=eta, assurance=assurance, fpr=1.0, by="point", rates=("recall", "fpr")
    )
    for recall, fpr, n_pos, n_neg in needed.select(
        "recall", "fpr", "n_pos_needed", "n_neg_needed"
    ).rows():
        size = int(n_pos), int(n_neg)
        narrow = keep_width(draw_flagged(size, (recall, fpr), n_sets, rng), eta, delta)
        where = {"delta": delta, "assurance": assurance, "eta": "any" if eta is None else f"{eta:g}"}
        found = {"n_pos": size[0], "n_neg": size[1], "narrow_enough": narrow}
        yield where | {"recall": recall, "fpr": fpr} | found


def keep_width(drawn: pl.DataFrame, eta: float | None, delta: float) -> float:
    """Return the share of drawn test sets whose band of precision is at most delta wide."""
    # Many test sets are alike, and each kind is asked once.
    wide = drawn.filter(score=1).group_by("n_pos", "n_neg").agg(pl.col("set").first(), times=pl.len())
    sets = drawn.join(wide.select("set", "times"), on="set", maintain_order="left")
    asked: dict[str, Any] = {"threshold": 1, **COUNTS}
    if eta is None:
        narrow = sets.prc.sample_size(delta, **asked, solve_for="eta").select(
            "set", narrow=pl.col("eta") == 0
        )
    else:
        found = sets.prc.operating_points(eta, metrics="precision", confidence=CONFIDENCE, **asked)
        width = pl.col("precision_high") - pl.col("precision_low")
        narrow = found.select("set", narrow=width <= delta)
    both = narrow.join(wide, on="set")
    held = both.filter(pl.col("narrow").fill_null(value=False))["times"].sum()
    return float(held / wide["times"].sum())
