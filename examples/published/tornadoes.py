"""Forecasts of tornadoes in 1884: the oldest quarrel about a share of right answers.

J. P. Finley's table as printed by the verification page of the Australian Bureau of Meteorology,
cawcr.gov.au/projects/verification/Finley/Finley_Tornados.html, after A. H. Murphy, "The Finley
affair", Weather and Forecasting 1996.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

TABLE = pl.DataFrame({"tp": 28, "fp": 72, "fn": 23, "tn": 2_680})


def main(numbers: Numbers) -> None:
    asked = ["precision", "accuracy", "fdr"]
    own = only(TABLE.prc.curve(metrics=asked, cells=CELLS, confidence=0.95))
    numbers.check("right forecasts", "96.6%", own["accuracy"])
    numbers.check("right if no tornado is ever forecast", "98.2%", 1 - own["eta"])
    numbers.check("false alarms among alerts", "72%", own["fdr"])
    numbers.measure(own, of="accuracy")
    numbers.become(own, "the same days, precision of a warning")


STORY = Story(
    title="Tornadoes",
    claim="96.6% of forecasts are right",
    place="J. P. Finley 1884, as on cawcr.gov.au/projects/verification/Finley",
    field="its own: 51 tornadoes in 2,803 forecasts",
    so="Nothing moves except the question. Never to forecast a tornado is right in 98.2% of cases.",
    fetched=False,
    main=main,
)
