"""Risk scores in court (COMPAS), as counted by ProPublica in two groups of defendants.

propublica/compas-analysis at bafff5da3f, no licence, and with names of people: counts only. "Compas
Analysis.ipynb" prints them for all, Black and white defendants: a score other than "Low" is an
alert, a new charge within two years a positive. We counted the same from
compas-scores-two-years.csv.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

ALL = pl.DataFrame({"tp": 2_035, "fp": 1_282, "fn": 1_216, "tn": 2_681})
GROUPS = pl.DataFrame(
    {
        "group": ["Black defendants", "white defendants"],
        "tp": [1_369, 505],
        "fp": [805, 349],
        "fn": [532, 461],
        "tn": [990, 1_139],
    }
)
PRINTED = [("44.85%", "27.99%", "0.63"), ("23.45%", "47.72%", "0.59")]


def main(numbers: Numbers) -> None:
    test = GROUPS.prc(cells=CELLS, model="group")
    asked = ["precision", "fpr", "fnr"]
    for row, printed in zip(
        test.curve(metrics=asked, confidence=0.95).rows(named=True), PRINTED, strict=True
    ):
        for metric, text in zip(("fpr", "fnr", "precision"), printed, strict=True):
            numbers.check(f"{row['group']}: {metric}", text, row[metric])
        numbers.measure(row, row["group"])
    every = only(ALL.prc.curve(cells=CELLS))
    numbers.check("all: precision", "0.61", every["precision"])
    for row in test.curve(every["eta"], confidence=0.95).rows(named=True):
        numbers.become(row, "one prevalence for both", row["group"])
    gaps = test.compare(every["eta"], paired=False, metrics=["precision", "fpr"])
    for row in gaps.rows(named=True):
        numbers.become(row, "one prevalence for both", f"in {row['metric']}", of="difference")


STORY = Story(
    title="Risk scores in court",
    claim="false positive rates of 44.85% and 23.45% in two groups",
    place="propublica/compas-analysis, Compas Analysis.ipynb (bafff5da3f)",
    field="all 7,214 defendants of the same notebook",
    so="At their own prevalences the alerts of both groups are right nearly equally often, while "
    "their fpr differ. At one prevalence precision differs, too, the other way round.",
    fetched=True,
    main=main,
)
