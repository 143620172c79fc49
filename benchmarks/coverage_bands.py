"""How often bands of point metrics hold the truth, and how much a test set of a certain size can tell.

    python benchmarks/coverage_bands.py [--simulations N] [--only NAME ...]

`coverage.py` has the populations, and the coverage of areas. Here thresholds are asked:

    everywhere   all thresholds of a test set at once
    sizes        how many test sets of the size that `sample_size` asks for are narrow enough
    missed       bands of metrics that read missed positives, where few are expected; exact, not drawn
    differences  intervals of differences of point metrics between two groups, at a fixed threshold
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from coverage import CONFIDENCE, MODELS, SEED, Cell, percent, precision, table
from scipy import stats

from polars_prcurve import metrics
from polars_prcurve.metrics.names import find_point_metrics

PER_BATCH = 1_000_000
"""Rows of the tables that are asked at once."""
EVERYWHERE_SIZES = ((20, 20), (20, 200), (50, 500), (200, 200), (200, 2_000), (1_000, 20_000))
EVERYWHERE_ETA = 0.1
WIDTHS_AT = (0.3, 0.5, 0.7)


# All thresholds at once -----------------------------------------------------------------------


def whole_sets(cell: Cell, simulations: range, rng: np.random.Generator) -> pl.DataFrame:
    """Counts by score of whole test sets, with the true rates of the scores of either class.

    A score is drawn as the rate of its own class that it flags. `true_recall` is of rows with
    positives, `true_fpr` of rows with negatives; where scores tie, both are of every row.
    """
    number = len(simulations)
    if cell.model.levels is not None:
        shares = cell.model.levels
        n_pos, n_neg = (
            rng.multinomial(size, share, size=number).ravel()
            for size, share in zip((cell.n_pos, cell.n_neg), shares, strict=True)
        )
        true_recall, true_fpr = (np.tile(np.cumsum(share), number) for share in shares)
        levels = len(shares[0])
        drawn = {"score": np.tile(-np.arange(levels), number), "n_pos": n_pos, "n_neg": n_neg}
        of = {"simulation": np.repeat(np.array(simulations), levels)}
        frame = pl.DataFrame(of | drawn | {"true_recall": true_recall, "true_fpr": true_fpr})
        return frame.filter((pl.col("n_pos") > 0) | (pl.col("n_neg") > 0))
    recalls, fprs = rng.random((number, cell.n_pos)), rng.random((number, cell.n_neg))
    at = cell.model.fpr_at(recalls)
    pos = pl.DataFrame({"true_recall": recalls.ravel(), "true_fpr": at.ravel(), "n_pos": 1, "n_neg": 0})
    pos = pos.with_columns(
        simulation=np.repeat(np.array(simulations), cell.n_pos), score=-pl.col("true_fpr")
    )
    neg = pl.DataFrame({"true_fpr": fprs.ravel(), "n_pos": 0, "n_neg": 1})
    neg = neg.with_columns(
        simulation=np.repeat(np.array(simulations), cell.n_neg), score=-pl.col("true_fpr")
    )
    return pl.concat([pos, neg], how="diagonal")


def everywhere(cell: Cell, simulations: int) -> Iterator[list[Any]]:
    """Which share of test sets have bands that hold at all thresholds."""
    rng = cell.rng(3)
    step = max(1, PER_BATCH // (cell.n_pos + cell.n_neg))
    parts = []
    for first in range(0, simulations, step):
        sets = whole_sets(cell, range(first, min(first + step, simulations)), rng)
        parts.append(held_everywhere(sets, tied=cell.model.levels is not None))
    found = pl.concat(parts)
    shares = found.select(pl.col("rates", "rectangle", "mover").mean()).row(0)
    widths = [
        found[f"{band} {recall}"].mean()
        for band, recall in product(("simultaneous", "mover"), WIDTHS_AT)
    ]
    yield [
        *(cell.model.name, cell.n_pos, cell.n_neg, found.height),
        *map(percent, shares),
        *("" if width is None else f"{width:.2f}" for width in widths),
    ]


def held_everywhere(sets: pl.DataFrame, *, tied: bool) -> pl.DataFrame:
    """Return one row per test set: whether its bands hold everywhere, and how wide they are."""
    asked: dict[str, Any] = {"by": "simulation", "counts": ("n_pos", "n_neg"), "confidence": CONFIDENCE}
    names = ["precision", "recall", "fpr"]
    wide = sets.prc.curve(EVERYWHERE_ETA, metrics=names, band="simultaneous", **asked)
    mover = sets.prc.curve(EVERYWHERE_ETA, **asked).select("precision_low", "precision_high")
    truth = sets.select("simulation", pl.col("score").alias("threshold"), "true_recall", "true_fpr")
    rows = pl.concat([wide, mover.select(pl.all().name.prefix("mover_"))], how="horizontal")
    rows = rows.join(truth, on=["simulation", "threshold"], how="left", maintain_order="left")
    # Between two scores counts stay, and the true rate grows up to that of the next score; where all
    # scores tie, it does not.
    ends = {rate: pl.col(f"{rate}_high") for rate in ("recall", "fpr")}
    before = {
        f"{rate}_before": end if tied else end.shift().over("simulation") for rate, end in ends.items()
    }
    true = precision(pl.col("true_recall"), pl.col("true_fpr"), EVERYWHERE_ETA)
    rows = rows.with_columns(true=true, **before)
    holds = {
        "rates": pl.all_horizontal(
            check
            for rate in ("recall", "fpr")
            for check in (
                (pl.col(f"{rate}_low") <= pl.col(f"true_{rate}")).fill_null(value=True),
                (pl.col(f"{rate}_before") >= pl.col(f"true_{rate}")).fill_null(value=True),
            )
        ),
        "rectangle": pl.col("true").is_between("precision_low", "precision_high"),
        "mover": pl.col("true").is_between("mover_precision_low", "mover_precision_high"),
    }
    widths = {
        f"{band} {recall}": (pl.col(f"{prefix}precision_high") - pl.col(f"{prefix}precision_low"))
        .filter(pl.col("recall") >= recall)
        .first()
        for (band, prefix), recall in product((("simultaneous", ""), ("mover", "mover_")), WIDTHS_AT)
    }
    held = {name: holds.fill_null(value=True).all() for name, holds in holds.items()}
    return rows.group_by("simulation", maintain_order=True).agg(**held, **widths)


EVERYWHERE_HEADS = (
    *("model", "P", "N", "sets", "rates hold", "simultaneous precision", "default precision"),
    *(f"{band} width at {recall}" for band, recall in product(("simultaneous", "default"), WIDTHS_AT)),
)


def of_everywhere(simulations: int) -> Iterator[str]:
    rows: list[list[Any]] = []
    for model, (n_pos, n_neg) in product(MODELS, EVERYWHERE_SIZES):
        rows += everywhere(Cell(model, n_pos, n_neg), simulations)
    title = f"### All thresholds at once, {percent(CONFIDENCE)} %, eta {EVERYWHERE_ETA}\n\n"
    yield title + table(EVERYWHERE_HEADS, rows)
    for number, name in ((4, "rates"), (5, "simultaneous precision"), (6, "default precision")):
        shares = [float(row[number]) for row in rows]
        yield f"{name}: {min(shares)} .. {max(shares)} %, {len(shares)} cells\n"


# Sizes ----------------------------------------------------------------------------------------

SIZE_POINTS = tuple(product((0.3, 0.6, 0.9, 0.98), (0.0005, 0.01, 0.1)))
SIZE_ETAS = (None, 0.001, 0.01, 0.1, 0.5)
DELTAS = (0.05, 0.1, 0.3)
ASSURANCES = (0.5, 0.8, 0.95)
DRAWS_PER_SET = 40


def of_sizes(simulations: int) -> Iterator[str]:
    """The share of test sets, of the sizes asked for, whose band is at most delta wide."""
    draws, rng = DRAWS_PER_SET * simulations, np.random.default_rng([SEED, 4])
    points = pl.DataFrame(SIZE_POINTS, schema=["recall", "fpr"], orient="row")
    points = points.with_row_index("point").with_columns(pl.col("point").cast(pl.Int64))
    found = []
    for delta, assurance, eta in product(DELTAS, ASSURANCES, SIZE_ETAS):
        needed = points.prc.sample_size(
            delta, eta=eta, assurance=assurance, fpr=1.0, by="point", rates=("recall", "fpr")
        )
        found += [
            (delta, assurance, eta, *row, kept_width(row, eta, delta, draws, rng))
            for row in needed.select("recall", "fpr", "n_pos_needed", "n_neg_needed").rows()
        ]
    heads = ("assurance", "cells", "narrow enough, %: least", "mean", "greatest", "the worst cell")
    names = ("delta", "assurance", "eta", "recall", "fpr", "P", "N", "share")
    rows = []
    for assurance in ASSURANCES:
        of = sorted((one for one in found if one[1] == assurance), key=lambda one: one[-1])
        shares = [one[-1] for one in of]
        worst = ", ".join(f"{name} {value}" for name, value in zip(names, of[0], strict=True))
        ends = (shares[0], float(np.mean(shares)), shares[-1])
        rows.append([assurance, len(of), *map(percent, ends), worst])
    yield f"### Sizes, {draws} test sets a cell\n\n" + table(heads, rows)


def kept_width(
    row: tuple[Any, ...], eta: float | None, delta: float, draws: int, rng: np.random.Generator
) -> float:
    """Return the share of drawn test sets whose band of precision is at most delta wide."""
    recall, fpr, n_pos, n_neg = row
    drawn = pl.DataFrame(
        {"n_pos": rng.binomial(int(n_pos), recall, draws), "n_neg": rng.binomial(int(n_neg), fpr, draws)}
    )
    drawn = drawn.group_by("n_pos", "n_neg").len("times").with_row_index("set").with_columns(score=1)
    rest = {"n_pos": int(n_pos) - pl.col("n_pos"), "n_neg": int(n_neg) - pl.col("n_neg"), "score": 0}
    sets = pl.concat(
        [drawn, drawn.with_columns(**{k: pl.lit(v) if k == "score" else v for k, v in rest.items()})]
    )
    asked: dict[str, Any] = {"threshold": 1, "by": "set", "counts": ("n_pos", "n_neg")}
    if eta is None:
        narrow = sets.prc.resolution(delta, **asked).select("set", narrow=pl.col("eta") == 0)
    else:
        bands = sets.prc.operating_points(eta, metrics="precision", confidence=CONFIDENCE, **asked)
        width = pl.col("precision_high") - pl.col("precision_low")
        narrow = bands.select("set", narrow=width <= delta)
    both = narrow.join(drawn.select("set", "times"), on="set")
    held = both.filter(pl.col("narrow").fill_null(value=False))["times"].sum()
    return float(held / draws)


# Few missed positives -------------------------------------------------------------------------

MISSED_METRICS = ("precision", "f1", "mcc", "cohen_kappa", "npv", "accuracy")
MISSED_SIZES = (10, 20, 50, 200, 1000)
MISSED_RECALLS = (0.1, 0.5, 0.9, 0.97, 0.985, 0.992, 0.998)
MISSED_N_NEG = 2_000
MISSED_FPS = (5, 20)
MISSED_ETAS = (0.5, 0.01, 0.0002)


def of_missed(_simulations: int) -> Iterator[str]:
    """Exact coverage at a fixed threshold: each pair of true and false positives by its chance."""
    rows: list[dict[str, Any]] = []
    for n_pos, recall, n_fp in product(MISSED_SIZES, MISSED_RECALLS, MISSED_FPS):
        fpr = n_fp / MISSED_N_NEG
        sets = every_test_set(n_pos, recall, fpr)
        for interval, eta in product(("wilson", "jeffreys"), MISSED_ETAS):
            found = sets.prc.operating_points(
                eta, threshold=1, metrics=MISSED_METRICS, confidence=CONFIDENCE, interval=interval,
                by="set", counts=("n_pos", "n_neg"),
            ).join(sets.filter(score=1).select("set", "chance"), on="set")  # fmt: skip
            for name in MISSED_METRICS:
                truth = getattr(metrics, name)(recall, fpr, eta)
                holds = pl.lit(truth).is_between(f"{name}_low", f"{name}_high")
                known = found.filter(pl.col(name).is_not_null())
                share = known.select((holds * pl.col("chance")).sum() / pl.col("chance").sum()).item()
                few = n_pos * (1 - recall) < 5
                rows.append({"interval": interval, "metric": name, "few": few, "share": share})
    shares = pl.DataFrame(rows).group_by("interval", "metric", "few", maintain_order=True)
    found = shares.agg(
        pl.len().alias("cells"),
        pl.col("share").min().alias("least"),
        pl.col("share").mean().alias("mean"),
    )
    heads = ("interval", "metric", "fewer than 5 missed positives expected", "cells", "least, %", "mean")
    lines = ([*row[:4], percent(row[4]), percent(row[5])] for row in found.sort("few").rows())
    yield "### Few missed positives, exact\n\n" + table(heads, lines)


def every_test_set(n_pos: int, recall: float, fpr: float) -> pl.DataFrame:
    """Return counts by score of all test sets that are not all but impossible, with their chances."""
    sides = []
    for n, rate in ((n_pos, recall), (MISSED_N_NEG, fpr)):
        chances = stats.binom.pmf(np.arange(n + 1), n, rate)
        (hits,) = np.nonzero(chances > 1e-10)
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


# Differences between groups -------------------------------------------------------------------

GROUP_SIZES = (
    ((20, 200), (20, 200)),
    ((20, 200), (200, 2_000)),
    ((50, 5_000), (500, 50_000)),
    ((100, 1_000), (100, 1_000)),
    ((200, 20_000), (200, 20_000)),
    ((1_000, 1_000), (50, 50)),
)
GROUP_RATES = (
    ((0.5, 0.01), (0.5, 0.01)),
    ((0.8, 0.1), (0.8, 0.1)),
    ((0.95, 0.2), (0.95, 0.2)),
    ((0.5, 0.001), (0.7, 0.002)),
    ((0.9, 0.05), (0.8, 0.02)),
    ((0.2, 0.1), (0.9, 0.01)),
)
GROUP_ETAS = (0.5, 0.05, 0.001)
GROUP_METRICS = ("precision", "recall", "fpr", "npv", "f1", "mcc", "net_benefit(0.2)")
EXPECTED = ((0, 1), (1, 5), (5, 20), (20, math.inf))


def of_differences(simulations: int) -> Iterator[str]:
    """Differences of point metrics between two groups at a fixed threshold; wrongly resolved signs."""
    rng, rows = np.random.default_rng([SEED, 6]), []
    for sizes, rates in product(GROUP_SIZES, GROUP_RATES):
        sets = pl.concat(
            group_sets(group, size, rate, simulations, rng)
            for group, (size, rate) in enumerate(zip(sizes, rates, strict=True))
        )
        found = sets.prc.compare(
            model="group", paired=False, by="set", eta=GROUP_ETAS, threshold=1, metrics=GROUP_METRICS,
            confidence=CONFIDENCE, counts=("n_pos", "n_neg"),
        )  # fmt: skip
        cells = (n * share for size, rate in zip(sizes, rates, strict=True)
                 for n, hit in zip(size, rate, strict=True) for share in (hit, 1 - hit))  # fmt: skip
        least = min(cells)
        for name, eta in product(GROUP_METRICS, GROUP_ETAS):
            a, b = (find_point_metrics(name)[0](*rate, eta) for rate in rates)
            of = found.filter(pl.col("metric") == name, pl.col("eta") == eta)
            of = of.with_columns(
                holds=pl.lit(a - b).is_between(pl.col("low") - 1e-12, pl.col("high") + 1e-12)
            )
            for sure, part in (("all", of), ("reliable", of.filter("reliable"))):
                if part.height >= simulations / 2:
                    wrong = part["resolved"].mean() if a == b else None
                    rows.append((sure, least, part["holds"].mean(), wrong))
    yield f"### Differences between groups, {simulations} pairs of test sets a cell\n\n" + of_cells(rows)


def of_cells(rows: Sequence[tuple[str, float, Any, Any]]) -> str:
    """Return the table of coverage and of signs that were resolved wrongly, by what was expected."""
    lines = []
    for sure, (low, high) in product(("all", "reliable"), EXPECTED):
        part = [row for row in rows if row[0] == sure and low <= row[1] < high]
        if part:
            held, wrong = [row[2] for row in part], [row[3] for row in part if row[3] is not None]
            of_held = (percent(min(held)), percent(float(np.mean(held))))
            lines.append(
                [sure, f"{low} to {high}", len(part), *of_held, percent(max(wrong, default=0.0))]
            )
    heads = (
        "rows",
        "least cell expected",
        "cells",
        "coverage, %: least",
        "mean",
        "wrongly resolved, %: most",
    )
    return table(heads, lines)


def group_sets(
    group: int, size: tuple[int, int], rate: tuple[float, float], sets: int, rng: np.random.Generator
) -> pl.DataFrame:
    """Return counts by score of test sets of one group: 1 is flagged, 0 is not."""
    hits = [rng.binomial(n, share, sets) for n, share in zip(size, rate, strict=True)]
    flagged = {"n_pos": hits[0], "n_neg": hits[1], "score": 1}
    rest = {"n_pos": size[0] - hits[0], "n_neg": size[1] - hits[1], "score": 0}
    names = {"set": np.arange(sets), "group": group}
    return pl.concat([pl.DataFrame(names | part) for part in (flagged, rest)])


# The command ----------------------------------------------------------------------------------

PARTS: dict[str, Callable[[int], Iterator[str]]] = {
    "everywhere": of_everywhere,
    "sizes": of_sizes,
    "missed": of_missed,
    "differences": of_differences,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="What bands and sizes are worth, in simulation.")
    parser.add_argument("--simulations", type=int, default=500, help="test sets a cell")
    names = {"nargs": "+", "choices": list(PARTS), "default": list(PARTS), "metavar": "NAME"}
    parser.add_argument("--only", **names, help=f"any of {', '.join(PARTS)}")
    given = parser.parse_args(arguments)
    start = perf_counter()
    for name in given.only:
        for text in PARTS[name](given.simulations):
            print(text, flush=True)
    print(f"{perf_counter() - start:.0f} seconds")


if __name__ == "__main__":
    main()
