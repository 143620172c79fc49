"""Charts and reports of rows with weights: what is dotted, and how many examples there are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import charts
from polars_prcurve.core.sweep.effective_numbers_for_charts import add_effective_numbers
from tests.support.chart_specs import all_records, heading, subtitle, walk_texts


def weigh_rows(seed: int, n_groups: int) -> pl.DataFrame:
    """Rows of which negatives weigh alike, at a factor that is no power of two."""
    rng = np.random.default_rng(seed)
    label = rng.random(900) < 0.15
    score = (rng.normal(size=900) + 2.2 * label).round(1 + seed % 2)
    frame = pl.DataFrame({"label": label, "score": score, "g": rng.integers(0, n_groups, 900)})
    return frame.with_columns(w=pl.when("label").then(1.1).otherwise(7 / (1 + seed / 9)))


DRAWN: list[Callable[[Any], Any]] = [
    lambda test: test.plot.pr_curve(0.01),
    lambda test: test.plot.roc_curve(),
    lambda test: test.plot.threshold_curve(0.01),
    lambda test: test.plot.decision_curve(
        0.05, eta_train=0.1, score=pl.col("score").clip(-4, 6) / 10 + 0.4
    ),
    lambda test: test.plot.p3_curve([0.003, 0.01], threshold=2.0),
    lambda test: test.plot.alerts(0.01, recall=0.5, confidence=None),
]


@pytest.mark.parametrize(("seed", "design"), [(0, {"stratum": "label"}), (1, {})])
def test_charts_and_reports_of_weighted_rows_count_rows_where_these_weigh_alike(
    seed: int, design: dict[str, str], tmp_path: Path
) -> None:
    df = weigh_rows(seed, 1 + seed % 2)
    by: Any = {"by": "g"} if seed % 2 else {}
    weighted, plain = df.prc(weight="w", **design, **by), df.prc(**by)
    for draw in DRAWN[seed::2]:
        one, two = draw(weighted), draw(plain)
        text = " ".join(walk_texts(one.to_dict()))
        sizes = re.findall(
            r"[\d, to]+ positives, [\d, to]+ negatives", " ".join(walk_texts(two.to_dict()))
        )
        assert heading(one) == heading(two)
        assert sizes
        assert all(part in text for part in sizes), (text, sizes)
        ways = [[row["doubt"] for row in all_records(chart) if "doubt" in row] for chart in (one, two)]
        assert ways[0] == ways[1]
    paths = [tmp_path / f"{name}.html" for name in ("one", "two")]
    for test, path in zip((weighted, plain), paths, strict=True):
        test.decide(0.01, recall=0.5).report(path)
    dotted = [re.findall(r"<path[^>]*dasharray[^>]*>", path.read_text()) for path in paths]
    assert dotted[0] == dotted[1]


def test_weighted_points_count_by_the_squares_of_their_weights() -> None:
    rng = np.random.default_rng(5)
    df = weigh_rows(1, 3).with_columns(w=pl.Series(rng.lognormal(sigma=1.3, size=900)))
    df = df.with_columns(w=pl.when(rng.random(900) < 0.1).then(0.0).otherwise("w"))
    found = add_effective_numbers(
        df.prc.curve([0.1, 0.01], weight="w", by="g", thresholds=[9.0, 2.05, 1.0, -9.0]),
        df.prc.counts(weight="w", by="g"),
    )
    for row in found.iter_rows(named=True):
        rows = df.filter(df["g"] == row["g"])
        flagged = rows.filter(~pl.col("label"), pl.col("score") >= row["threshold"])["w"]
        for weights, name in (
            (rows.filter("label")["w"], "n_pos_effective"),
            (rows.filter(~pl.col("label"))["w"], "n_neg_effective"),
            (flagged, "fp_effective"),
        ):
            squares = (weights**2).sum()
            expected = weights.sum() ** 2 / squares if squares else 0.0
            assert row[name] == pytest.approx(expected, rel=1e-9)


def test_a_table_of_weights_is_not_said_to_have_so_many_examples() -> None:
    test = weigh_rows(0, 1).prc(weight="w")
    said = subtitle(charts.pr_curve(test.curve(0.01)))
    assert "how many examples these count as is not in the table" in said
    assert "which counts as" in subtitle(test.plot.pr_curve(0.01))
