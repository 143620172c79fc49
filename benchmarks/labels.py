"""How many labels `sampling_plan` saves, beside labels drawn at random or half of them among alerts.

    python benchmarks/labels.py [--simulations N]

Of 100 000 rows 1 % are positive; scores of negatives are normal, and positives score 2.5 higher. 2 000
labels are bought, to know precision at threshold 2. The plan has 350 of them as a pilot, half from
either side of the threshold. Printed are the spread of `ln(recall / fpr)`, which alone decides how well
precision is known at any prevalence, and the coverage and width of the 95 % interval of precision at a
prevalence of 1 %.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
import polars as pl

import polars_prcurve  # noqa: F401

ROWS, ETA, DISTANCE, THRESHOLD = 100_000, 0.01, 2.5, 2.0
LABELS, PILOT = 2_000, 350


def population(rng: np.random.Generator) -> pl.DataFrame:
    truth = rng.random(ROWS) < ETA
    return pl.DataFrame({"score": rng.normal(size=ROWS) + DISTANCE * truth, "truth": truth})


def draw(rows: pl.DataFrame, stratum: pl.Expr, n: pl.Expr, rng: np.random.Generator) -> pl.DataFrame:
    """Draw n rows of each stratum."""
    shuffled = rows.sample(fraction=1, shuffle=True, seed=int(rng.integers(2**32)))
    return shuffled.filter(pl.int_range(pl.len()).over(stratum) < n)


def at_random(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return draw(rows, pl.lit(0), pl.lit(LABELS), rng).with_columns(weight=pl.lit(ROWS / LABELS))


def by_side(rows: pl.DataFrame, labels: int, rng: np.random.Generator) -> pl.DataFrame:
    """Half of the labels among alerts, and half among the other rows."""
    is_alert = pl.col("score") >= THRESHOLD
    drawn = draw(rows.with_columns(n=pl.len().over(is_alert)), is_alert, pl.lit(labels // 2), rng)
    return drawn.with_columns(weight=pl.col("n") / pl.len().over(is_alert))


def by_plan(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The pilot, and the rows that the plan asks for, with `label` of both in all rows."""
    rows = rows.with_row_index()
    pilot = by_side(rows, PILOT, rng)["index"]
    rows = rows.with_columns(label=pl.when(pl.col("index").is_in(pilot.implode())).then("truth"))
    plan = rows.prc.sampling_plan(THRESHOLD, budget=LABELS - PILOT)
    edges = plan.select("score_low", "stratum", "n_next", "weight").sort("score_low")
    strata = rows.sort("score").join_asof(edges, left_on="score", right_on="score_low")
    drawn = draw(strata.filter(pl.col("label").is_null()), pl.col("stratum"), pl.col("n_next"), rng)
    labelled = pl.concat([strata.filter(pl.col("label").is_not_null()), drawn])
    known = pl.col("index").is_in(labelled["index"].implode())
    return strata.with_columns(label=pl.when(known).then("truth"))


def measure_strata(rows: pl.DataFrame) -> tuple[float, float, float]:
    """The same as `measure`, with the interval of the strata: docs/what-to-label-next.md has it, too."""
    labelled = rows.filter(pl.col("label").is_not_null())
    point = at_threshold(labelled)
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


def at_threshold(drawn: pl.DataFrame) -> dict[str, float]:
    """Rates at the threshold, and precision with its interval."""
    found = drawn.prc.operating_points(
        ETA, threshold=THRESHOLD, metrics="precision", confidence=0.95, label="truth", weight="weight"
    )
    return found.row(0, named=True)


def measure(drawn: pl.DataFrame) -> tuple[float, float, float]:
    """`ln(recall / fpr)`, and the interval of precision."""
    found = at_threshold(drawn)
    ratio = np.log(found["recall"] / found["fpr"]) if found["recall"] and found["fpr"] else np.nan
    return ratio, found["precision_low"], found["precision_high"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Labels saved by sampling_plan.")
    parser.add_argument("--simulations", type=int, default=300)
    given = parser.parse_args()
    start = perf_counter()
    results: dict[str, list[tuple[float, float, float]]] = {}
    from scipy import stats

    recall, fpr = stats.norm.sf(THRESHOLD - DISTANCE), stats.norm.sf(THRESHOLD)
    truth = recall * ETA / (recall * ETA + fpr * (1 - ETA))
    for number in range(given.simulations):
        rng = np.random.default_rng([15, number])
        rows = population(rng)
        results.setdefault("at random", []).append(measure(at_random(rows, rng)))
        results.setdefault("half on alerts", []).append(measure(by_side(rows, LABELS, rng)))
        labelled = by_plan(rows, rng)
        by_weight = measure(labelled.filter(pl.col("label").is_not_null()))
        results.setdefault("sampling_plan", []).append(by_weight)
        results.setdefault("sampling_plan, interval of strata", []).append(measure_strata(labelled))
    spreads = {}
    print(
        f"| {LABELS} labels | sd of ln(recall / fpr) | coverage, % | mean width | labels for equal sd |"
    )
    print("|---|---|---|---|---|")
    for name, triples in results.items():
        ratio, low, high = np.array(triples).T
        spreads[name] = np.nanstd(ratio)
    for name, triples in results.items():
        ratio, low, high = np.array(triples).T
        equal = LABELS * (spreads[name] / spreads["sampling_plan"]) ** 2
        held = 100 * np.mean((low <= truth) & (truth <= high))
        print(f"| {name} | {spreads[name]:.3f} | {held:.1f} | {np.mean(high - low):.3f} | {equal:.0f} |")
    print(f"\n{perf_counter() - start:.0f} seconds, {given.simulations} populations")


if __name__ == "__main__":
    main()
