"""What a scorer costs beside scikit-learn's average precision, at the sizes of a training loop.

python benchmarks/arrays.py
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from sklearn.metrics import average_precision_score

from polars_prcurve import scorer

ETA = 0.004
ROUNDS = 9


def measure(call: Callable[[], float], times: int) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def compare(n: int, share: float) -> None:
    """Print milliseconds of both, and their ratio in turn, after a check that the values are equal."""
    rng = np.random.default_rng(n)
    label = (rng.random(n) < share).astype(int)
    score = rng.normal(size=n) + label
    weight = np.where(label == 1, ETA / label.mean(), (1 - ETA) / (1 - label.mean()))
    ap = scorer("average_precision", eta=ETA)

    def ours() -> float:
        return ap.score(label, score)

    def theirs() -> float:
        return float(average_precision_score(label, score, sample_weight=weight))

    assert math.isclose(ours(), theirs(), rel_tol=1e-9), "both are the same number"
    times = max(2, 100_000 // n)
    pairs = [(measure(ours, times), measure(theirs, times)) for _ in range(ROUNDS)]
    ratios = sorted(own / other for own, other in pairs)
    own, other = (statistics.median(times) * 1e3 for times in zip(*pairs, strict=True))
    print(
        f"{n:>8} rows, {share:>4.0%} positive   {own:7.3f} ms   {other:7.3f} ms   "
        f"{statistics.median(ratios):.2f} x   {ratios[0]:.2f} .. {ratios[-1]:.2f}"
    )


if __name__ == "__main__":
    print(
        "                             scorer().score   scikit-learn, weighted   ratio, least .. greatest"
    )
    for rows in (1_000, 3_000, 10_000, 100_000):
        for positive in (0.02, 0.3):
            compare(rows, positive)
