"""How many labels `sampling_plan` saves, beside labels drawn at random or half of them among alerts.

Of 100 000 rows 1 % are positive; scores of negatives are normal, and positives score 2.5 higher. 2 000
labels are bought, to know precision at threshold 2. The plan has 350 of them as a pilot, half from
either side of the threshold. The spread of `ln(recall / fpr)` alone decides how well precision is known
at any prevalence; the interval is of precision at a prevalence of 1 %.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from .experiment import CONFIDENCE, Row, experiment

ROWS, ETA, DISTANCE, THRESHOLD = 100_000, 0.01, 2.5, 2.0
LABELS, PILOT = 2_000, 350
Measured = tuple[float, float, float]


def draw_population(rng: np.random.Generator) -> pl.DataFrame:
    truth = rng.random(ROWS) < ETA
    return pl.DataFrame({"score": rng.normal(size=ROWS) + DISTANCE * truth, "truth": truth})


def draw_rows(
    rows: pl.DataFrame, stratum: pl.Expr, n: pl.Expr, rng: np.random.Generator
) -> pl.DataFrame:
    """Return n rows of each stratum."""
    shuffled = rows.sample(fraction=1, shuffle=True, seed=int(rng.integers(2**32)))
    return shuffled.filter(pl.int_range(pl.len()).over(stratum) < n)


def label_at_random(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return draw_rows(rows, pl.lit(0), pl.lit(LABELS), rng).with_columns(weight=pl.lit(ROWS / LABELS))


def label_both_sides(rows: pl.DataFrame, labels: int, rng: np.random.Generator) -> pl.DataFrame:
    """Return half of the labels among alerts, and half among the other rows."""
    is_alert = pl.col("score") >= THRESHOLD
    drawn = draw_rows(rows.with_columns(n=pl.len().over(is_alert)), is_alert, pl.lit(labels // 2), rng)
    return drawn.with_columns(weight=pl.col("n") / pl.len().over(is_alert))


def label_by_plan(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return all rows, with `label` of the pilot and of the rows that the plan asks for."""
    rows = rows.with_row_index()
    pilot = label_both_sides(rows, PILOT, rng)["index"]
    rows = rows.with_columns(label=pl.when(pl.col("index").is_in(pilot.implode())).then("truth"))
    plan = rows.prc.sampling_plan(THRESHOLD, budget=LABELS - PILOT)
    edges = plan.select("score_low", "stratum", "n_next", "weight").sort("score_low")
    strata = rows.sort("score").join_asof(edges, left_on="score", right_on="score_low")
    drawn = draw_rows(strata.filter(pl.col("label").is_null()), pl.col("stratum"), pl.col("n_next"), rng)
    labelled = pl.concat([strata.filter(pl.col("label").is_not_null()), drawn])
    known = pl.col("index").is_in(labelled["index"].implode())
    return strata.with_columns(label=pl.when(known).then("truth"))


def find_point(drawn: pl.DataFrame) -> dict[str, float]:
    """Return rates at the threshold, and precision with its interval."""
    found = drawn.prc.operating_points(
        ETA,
        threshold=THRESHOLD,
        metrics="precision",
        confidence=CONFIDENCE,
        label="truth",
        weight="weight",
    )
    return found.row(0, named=True)


def find_by_weight(drawn: pl.DataFrame) -> Measured:
    """Return `ln(recall / fpr)`, and the interval of precision."""
    found = find_point(drawn)
    ratio = np.log(found["recall"] / found["fpr"]) if found["recall"] and found["fpr"] else np.nan
    return ratio, found["precision_low"], found["precision_high"]


def find_by_strata(rows: pl.DataFrame) -> Measured:
    """Return `ln(recall / fpr)`, and the interval of the strata as docs/what-to-label-next.md has it."""
    labelled = rows.filter(pl.col("label").is_not_null())
    point = find_point(labelled)
    recall, fpr = point["recall"], point["fpr"]
    found = labelled.group_by("stratum").agg(found=pl.col("truth").mean())
    strata = rows.prc.sampling_plan(THRESHOLD, budget=0).join(found, on="stratum")
    n_pos, n_neg = (labelled.filter(truth=t)["weight"].sum() for t in (True, False))
    p, above = pl.max_horizontal("positive_share", "found"), pl.col("score_low") >= THRESHOLD
    flagged = (1 - recall) / (recall * n_pos) + (1 - fpr) / (fpr * n_neg)
    step = pl.when(above).then(flagged).otherwise(1 / n_pos + 1 / n_neg)
    variance = (pl.col("n") ** 2 * p * (1 - p) * step**2 / pl.col("n_labelled")).sum()
    error = strata.select(variance.sqrt()).item()
    ratio = np.log(recall / fpr)
    low, high = (1 / (1 + np.exp(-ratio - z * error) * (1 - ETA) / ETA) for z in (-1.96, 1.96))
    return ratio, low, high


@experiment([LABELS], 400)
def measure_labels(_cell: int, n_sets: int, rng: np.random.Generator) -> Iterator[Row]:
    """Intervals of precision from 2 000 labels, and how many labels would do as well as the plan."""
    found: dict[str, list[Any]] = {"at random": [], "half on alerts": [], "plan": [], "plan, strata": []}
    for _ in range(n_sets):
        rows = draw_population(rng)
        found["at random"].append(find_by_weight(label_at_random(rows, rng)))
        found["half on alerts"].append(find_by_weight(label_both_sides(rows, LABELS, rng)))
        labelled = label_by_plan(rows, rng)
        found["plan"].append(find_by_weight(labelled.filter(pl.col("label").is_not_null())))
        found["plan, strata"].append(find_by_strata(labelled))
    recall, fpr = stats.norm.sf(THRESHOLD - DISTANCE), stats.norm.sf(THRESHOLD)
    truth = recall * ETA / (recall * ETA + fpr * (1 - ETA))
    spread_of_plan = np.nanstd(np.array(found["plan"])[:, 0])
    for name, triples in found.items():
        ratio, low, high = np.array(triples).T
        spread = float(np.nanstd(ratio))
        held = float(np.mean((low <= truth) & (truth <= high)))
        row = {"labels": name, "spread": spread, "coverage": held, "width": float(np.mean(high - low))}
        yield row | {"labels_for_equal_spread": LABELS * (spread / spread_of_plan) ** 2}
