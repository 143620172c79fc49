"""The simulations of Richardson et al. (2024): scores of classifiers at three imbalances."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from common import Figure, about, mean_and_error

from polars_prcurve import eta_from_ratio
from polars_prcurve.metrics import CurveMetric

N = 10_000
IMBALANCES = {ratio: eta_from_ratio(ratio) for ratio in ("1:1", "1:9", "1:99")}
CENTRES = {"worst": 0.5, "middle": 1.0, "best": 1.5}
BATCH = 20

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def normal_at(centre: float) -> Draw:
    return lambda rng, shape: rng.normal(centre, size=shape)


def simulated(
    classifiers: dict[str, tuple[Draw, Draw]], rng: np.random.Generator, repeats: int
) -> pl.DataFrame:
    """`repeats` test sets of 10,000 examples for each classifier and imbalance."""
    frames = []
    for ratio, eta in IMBALANCES.items():
        n_pos = round(N * eta)
        label = np.tile(np.arange(N) < n_pos, repeats)
        number = np.repeat(np.arange(repeats), N)
        for name, (pos, neg) in classifiers.items():
            score = np.hstack([pos(rng, (repeats, n_pos)), neg(rng, (repeats, N - n_pos))]).ravel()
            groups = {"classifier": name, "imbalance": ratio, "repeat": number}
            frames.append(pl.DataFrame({**groups, "score": score, "label": label}))
    return pl.concat(frames)


def areas(
    classifiers: dict[str, tuple[Draw, Draw]], metrics: list[str | CurveMetric], repeats: int, seed: int
) -> pl.DataFrame:
    """Metrics of each test set at its own prevalence, batch by batch."""
    rng = np.random.default_rng(seed)

    def batches() -> Iterator[pl.DataFrame]:
        for start in range(0, repeats, BATCH):
            batch = simulated(classifiers, rng, min(BATCH, repeats - start))
            yield batch.prc.summary(metrics=metrics, by=["classifier", "imbalance", "repeat"])

    return pl.concat(batches())


def means(found: pl.DataFrame) -> dict[tuple[str, str, str], tuple[float, float]]:
    """(classifier, imbalance, metric) to mean and standard error."""
    groups = found.group_by("classifier", "imbalance", "metric", maintain_order=True)
    return {key: mean_and_error(each["value"]) for key, each in groups}  # type: ignore[misc]


def check_area(
    figure: Figure,
    what: str,
    mean: tuple[float, float],
    expected: float,
    paper: str,
    *,
    listed: bool,
) -> None:
    """A mean of average precision, to three of its standard errors or to a hundredth."""
    value, error = mean
    figure.check(what, paper, value, about(expected, max(3 * error, 0.01)), listed=listed)
