"""How often the intervals of `estimate_prevalence` hold, and how often its test refutes label shift.

    python benchmarks/prevalence.py [--simulations N] [--json FILE]

Each cell draws a labelled reference and unlabelled rows of a known prevalence, and asks for the
estimates of all draws at once, `by="simulation"`. Scores are drawn as counts in 400 narrow bins, far
finer than the ten levels that the method cuts, so that 100 000 unlabelled rows cost no more than 1 000.
In the cells where the scores of the field are not those of the reference, the test should reject, and
no interval can hold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

import polars_prcurve  # noqa: F401

CONFIDENCE = 0.95
SEED = 14
EDGES = np.concatenate([[-np.inf], np.linspace(-5, 7, 399), [np.inf]])
MIDDLES = np.linspace(-5.015, 7.015, 400)


@dataclass(frozen=True)
class Cell:
    """A reference and unlabelled rows; scores of negatives are normal, those of positives moved by d."""

    d: float
    n_pos: int
    n_neg: int
    n: int
    eta: float
    moved: float = 0.0
    """All scores of the field are this much higher than in the reference."""
    d_field: float | None = None
    """What d is in the field, if it differs."""
    rounded: bool = False
    """Scores have five values."""

    @property
    def what(self) -> str:
        if self.moved:
            return f"all scores {self.moved} sd higher"
        if self.d_field is not None:
            return f"d' is {self.d_field} in the field"
        return "five distinct scores" if self.rounded else "only the prevalence differs"

    def shares(self, mean: float) -> NDArray[np.float64]:
        return np.diff(stats.norm.cdf(EDGES, loc=mean))


BASE = (
    Cell(2, 200, 2000, 10_000, 0.02),
    Cell(2, 200, 2000, 1000, 0.1),
    Cell(1, 200, 2000, 1000, 0.1),
    Cell(1, 1000, 10_000, 10_000, 0.1),
    Cell(2, 50, 500, 5000, 0.3),
    Cell(2, 200, 2000, 10_000, 0.005),
    Cell(2, 1000, 10_000, 100_000, 0.02),
    Cell(2, 1000, 10_000, 100_000, 0.001),
    Cell(2, 20, 2000, 10_000, 0.02),
    Cell(2, 200, 2000, 10_000, 0.5),
    Cell(2, 200, 2000, 10_000, 0.02, rounded=True),
)
SHIFTED = (
    Cell(2, 200, 2000, 10_000, 0.02, moved=0.3),
    Cell(2, 200, 2000, 1000, 0.1, moved=0.3),
    Cell(2, 200, 2000, 1000, 0.1, moved=0.1),
    Cell(2, 1000, 10_000, 100_000, 0.02, moved=0.1),
    Cell(2, 200, 2000, 10_000, 0.1, d_field=1),
    Cell(2, 1000, 10_000, 100_000, 0.1, d_field=1.5),
)


@dataclass(frozen=True)
class Found:
    """What the estimates of a cell were. Shares of 1."""

    method: str
    what: str
    d: float
    n_pos: int | None
    n_neg: int | None
    n: int
    eta: float
    simulations: int
    mean: float
    spread: float
    coverage: float
    width: float
    rejected: float | None

    @property
    def row(self) -> list[Any]:
        rejected = "" if self.rejected is None else f"{100 * self.rejected:.1f}"
        numbers = [f"{self.mean:.4f}", f"{self.spread:.4f}", f"{100 * self.coverage:.1f}"]
        sizes = ["" if size is None else size for size in (self.n_pos, self.n_neg)]
        return [self.what, self.d, *sizes, self.n, self.eta, *numbers, f"{self.width:.4f}", rejected]


HEADS = ("field", "d'", "P", "N", "unlabelled", "eta", "mean", "sd", "coverage", "width", "p < 0.05")


def drawn(size: int, shares: NDArray[np.float64], cell: Cell, rng: np.random.Generator, s: int) -> Any:
    """Counts by score of each simulation."""
    counts = rng.multinomial(size, shares / shares.sum(), size=s)
    if cell.rounded:
        counts = np.add.reduceat(counts, np.searchsorted(MIDDLES, [-9, 0, 1, 2, 3]), axis=1)
    return counts


def tables(cell: Cell, s: int, rng: np.random.Generator) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The reference and the unlabelled rows, of all simulations."""
    n_pos = drawn(cell.n_pos, cell.shares(cell.d), cell, rng, s)
    n_neg = drawn(cell.n_neg, cell.shares(0), cell, rng, s)
    d = cell.d if cell.d_field is None else cell.d_field
    positives = rng.binomial(cell.n, cell.eta, size=s)
    mixed = np.stack(
        [
            drawn(k, cell.shares(d + cell.moved), cell, rng, 1)[0]
            + drawn(cell.n - k, cell.shares(cell.moved), cell, rng, 1)[0]
            for k in positives
        ]
    )
    width = n_pos.shape[1]
    keys = {
        "simulation": np.repeat(np.arange(s), width),
        "score": np.tile(MIDDLES if width == len(MIDDLES) else np.arange(width), s),
    }
    reference = pl.DataFrame(keys | {"n_pos": n_pos.ravel(), "n_neg": n_neg.ravel()})
    return reference, pl.DataFrame(keys | {"n": mixed.ravel()})


def by_mixture(cell: Cell, s: int, rng: np.random.Generator) -> Found:
    reference, field = tables(cell, s, rng)
    estimates = field.prc.estimate_prevalence(
        method="mixture",
        reference=reference,
        reference_counts=("n_pos", "n_neg"),
        counts="n",
        confidence=CONFIDENCE,
        by="simulation",
    )
    return summed("mixture", cell.what, cell, estimates)


def by_posteriors(cell: Cell, s: int, rng: np.random.Generator, sharper: float) -> Found:
    """Posteriors calibrated at 0.5, or with log-odds that are too large by a factor."""
    _, field = tables(cell, s, rng)
    log_odds = sharper * cell.d * (pl.col("score") - cell.d / 2)
    field = field.with_columns(score=1 / (1 + (-log_odds).exp()))
    estimates = field.prc.estimate_prevalence(0.5, counts="n", confidence=CONFIDENCE, by="simulation")
    what = "calibrated" if sharper == 1 else f"log-odds {sharper} times too large"
    return summed("posteriors", what, cell, estimates)


def summed(method: str, what: str, cell: Cell, estimates: pl.DataFrame) -> Found:
    shares = estimates.select(
        mean=pl.col("eta").mean(),
        spread=pl.col("eta").std(),
        coverage=((pl.col("eta_low") <= cell.eta) & (pl.col("eta_high") >= cell.eta)).mean(),
        width=(pl.col("eta_high") - pl.col("eta_low")).mean(),
        rejected=(pl.col("shift_p_value") < 0.05).mean(),
    ).row(0, named=True)
    sizes = (cell.n_pos, cell.n_neg) if method == "mixture" else (None, None)
    return Found(method, what, cell.d, *sizes, cell.n, cell.eta, estimates.height, **shares)


def results(simulations: int) -> Iterator[Found]:
    for number, cell in enumerate((*BASE, *SHIFTED)):
        yield by_mixture(cell, simulations, np.random.default_rng([SEED, number]))
    for number, cell in enumerate((BASE[0], BASE[1], BASE[2], BASE[5])):
        for sharper in (1, 1.25):
            yield by_posteriors(cell, simulations, np.random.default_rng([SEED, 100 + number]), sharper)


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of estimated prevalences, and their test.")
    parser.add_argument("--simulations", type=int, default=1000, help="draws a cell")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here, too")
    given = parser.parse_args()
    start, found = perf_counter(), list(results(given.simulations))
    for method in ("mixture", "posteriors"):
        print(f"### {method}\n\n| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
        for one in found:
            if one.method == method:
                print(f"| {' | '.join(map(str, one.row))} |", flush=True)
        print()
    print(f"{perf_counter() - start:.0f} seconds")
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=2))


if __name__ == "__main__":
    main()
