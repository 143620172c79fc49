"""Sepsis warnings (Wong et al. 2021), as the abstract tells them.

The counts are made from the abstract of PMC8218233 (its last sentences in a copy), which prints
four of them: 38,455 hospital stays, 2,552 with sepsis, 1,709 of these without an alert, 6,971 stays
with an alert at a score of 6 or more. The rest is subtraction. The second table is that of another
place, from the abstract of PubMed 39545248 (two county emergency departments, 2023): 145,885
encounters, 7,183 with an alert, 2,253 of these with sepsis, and 3,180 with sepsis among those
without an alert.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

MICHIGAN = pl.DataFrame({"tp": 843, "fp": 6_128, "fn": 1_709, "tn": 29_775})
COUNTY = pl.DataFrame({"tp": 2_253, "fp": 4_930, "fn": 3_180, "tn": 135_522})
COUNTY_ETA = 5_433 / 145_885


def main(numbers: Numbers) -> None:
    asked = ["precision", "fnr", "fpr", "predicted_positive_rate"]
    own = only(MICHIGAN.prc.curve(metrics=asked, cells=CELLS, confidence=0.95))
    numbers.check("stays with sepsis", "7%", own["eta"])
    numbers.check("sepsis without an alert", "67%", own["fnr"])
    numbers.check("stays with an alert", "18%", own["predicted_positive_rate"])
    numbers.measure(own)
    numbers.become(
        only(MICHIGAN.prc.curve(COUNTY_ETA, cells=CELLS, confidence=0.95)),
        "two county emergency departments",
        "if recall and fpr stayed",
    )
    there = only(COUNTY.prc.curve(metrics=asked, cells=CELLS, confidence=0.95))
    numbers.check("encounters with an alert in the county", "4.9%", there["predicted_positive_rate"])
    numbers.become(there, "two county emergency departments", "as seen")
    numbers.measure(own, of="fpr")
    numbers.become(there, "two county emergency departments", "as seen", of="fpr")


STORY = Story(
    title="Sepsis warnings",
    claim="alerts in 18% of hospital stays, and 67% of sepsis cases missed",
    place="A. Wong et al., JAMA Internal Medicine 2021, abstract (PMC8218233)",
    field="PubMed 39545248, abstract: sepsis in 5,433 of 145,885 encounters",
    so="Measured there, it was 31%: patients and definitions of sepsis differ, and so do recall "
    "and fpr.",
    fetched=False,
    main=main,
)
