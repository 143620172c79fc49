"""A rapid antigen test among students without symptoms: no false alarm among 2,600.

N. Okoye et al., Journal of Clinical Microbiology 2021, abstract (PMC8092740): 2,645 students, 24
infections found, 21 missed, sensitivity 53.3%, specificity 100%, infections 1.7%. In workplaces
of Canada: J. Gans et al., JAMA, 7 January 2022, as Physician's Weekly of 13 January and the
University of Toronto tell it: 903,408 tests, 1,322 positive, 1,103 of these with a PCR test, 462
false.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

from polars_prcurve import rate_interval

TABLE = pl.DataFrame({"tp": 24, "fp": 0, "fn": 21, "tn": 2_600})
CANADA = 641 / 903_408
"""Confirmed infections per test, a lower end: what the tests missed is not known."""


def main(numbers: Numbers) -> None:
    asked = ["precision", "recall", "specificity"]
    own = only(TABLE.prc.curve(metrics=asked, cells=CELLS, confidence=0.95))
    numbers.check("infected", "1.7%", own["eta"])
    numbers.check("infections found", "53.3%", own["recall"])
    numbers.check("specificity", "100%", own["specificity"])
    numbers.measure(own)
    there = only(TABLE.prc.curve(CANADA, cells=CELLS, confidence=0.95))
    numbers.become(there, "workplaces", "if recall and fpr stayed")
    low, high = rate_interval(641, 1_103)
    seen = {"eta": CANADA, "precision": 641 / 1_103, "precision_low": low, "precision_high": high}
    numbers.check("false among positives, workplaces", "42%", 1 - seen["precision"])
    numbers.become(seen, "workplaces", "as seen, another make of test")


STORY = Story(
    title="A rapid test",
    claim="specificity 100%",
    place="N. Okoye et al., Journal of Clinical Microbiology 2021, abstract (PMC8092740)",
    field="J. Gans et al., JAMA 2022: 641 confirmed of 903,408 tests at work in Canada",
    so="The other survey saw 58%, and traced most false alarms to one batch of another make.",
    fetched=False,
    main=main,
)
