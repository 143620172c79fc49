"""A scan of the liver (Altman and Bland 1994): the classic of predictive values.

tidymodels/modeldata at 5c22676a2d, data/pathology.rda, MIT licence: 344 scans, counted. The claims
are those of D. Altman and J. M. Bland, BMJ 309:102, 1994, and of the tests of yardstick,
cran/yardstick at 63a953f563, tests/testthat/test-class-ppv.R. The web page of the BMJ prints 54/81
= 0.59; 54/81 is 0.67.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

TABLE = pl.DataFrame({"tp": 231, "fp": 32, "fn": 27, "tn": 54})


def main(numbers: Numbers) -> None:
    asked = ["precision", "npv"]
    own = only(TABLE.prc.curve(metrics=asked, cells=CELLS, confidence=0.95))
    there = only(TABLE.prc.curve(0.25, metrics=asked, cells=CELLS, confidence=0.95))
    numbers.check("prevalence", "0.75", own["eta"])
    numbers.check("precision (BMJ)", "0.88", own["precision"])
    numbers.check("precision (yardstick)", "0.87832", own["precision"])
    numbers.check("negative predictive value (BMJ, web)", "0.59", own["npv"])
    numbers.check("precision at 0.25 (BMJ)", "0.45", there["precision"])
    numbers.check("negative predictive value at 0.25 (BMJ)", "0.95", there["npv"])
    half = only(TABLE.prc.curve(0.5, cells=CELLS))
    numbers.check("precision at 0.5 (yardstick)", "0.70642", half["precision"])
    numbers.measure(own)
    numbers.become(there, "another clinic, the authors' example")


STORY = Story(
    title="A liver scan",
    claim="88% of abnormal scans are right",
    place="D. Altman and J. M. Bland, BMJ 309:102, 1994",
    field="the same note, which assumes 0.25 for a different clinic",
    so="The note itself computes the second number.",
    fetched=True,
    main=main,
)
