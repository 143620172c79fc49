"""Faces in a crowd: South Wales Police at the Champions League final in Cardiff, June 2017.

Metro, 5 May 2018, on figures of the force: 170,000 people came, 2,470 alerts, of these 2,297 (92%)
wrong. How many of the wanted passed unseen was not told, and a table needs that number. With 0 the
precision of the day is right all the same. Elsewhere its odds change as those of prevalence do,
whatever the number is.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

CROWD, ALERTS, WRONG = 170_000, 2_470, 2_297
RIGHT = ALERTS - WRONG
TABLE = pl.DataFrame({"tp": RIGHT, "fp": WRONG, "fn": 0, "tn": CROWD - ALERTS})


def thin(precision: float, times: float) -> float:
    """Return precision where the odds of a positive are this many times smaller."""
    return precision / (precision + times * (1 - precision))


def main(numbers: Numbers) -> None:
    own = only(TABLE.prc.curve(metrics=["precision", "fdr", "fpr"], cells=CELLS, confidence=0.95))
    numbers.check("wrong among alerts", "92%", own["fdr"])
    numbers.measure(own, "if none was missed", where="the day")
    numbers.measure(own, "if all 170,000 were looked at", where="the day", of="fpr")
    tenth = {end: thin(own[end], 10) for end in ("precision", "precision_low", "precision_high")}
    place = "a tenth as many wanted people in the crowd, assumed"
    numbers.become(tenth | {"eta": own["eta"] / 10}, place)


STORY = Story(
    title="Faces in a crowd",
    claim="2,297 of 2,470 alerts wrong, 92%",
    place="Metro, 5 May 2018, on figures of South Wales Police",
    field="assumed",
    so="The force says that the system has improved since.",
    fetched=False,
    main=main,
)
