"""Imitated voices: the error rate of a detector, and the prior of the challenge's own cost.

clovaai/aasist at a04c9863f6, README.md (equal error rate of AASIST and AASIST-L) and evaluation.py,
line 19 (`Pspoof = 0.05`), MIT licence. The evaluation set of ASVspoof 2019, logical access, has 7
355 bona fide and 63,882 imitated trials (X. Wang et al. 2020, as many repositories quote them). At
the equal error rate both errors are equal but for a step.
"""

import polars as pl
from story import Numbers, Story, only

TABLE = pl.DataFrame({"model": ["AASIST", "AASIST-L"], "error": [0.0083, 0.0099]})
SIZES = (63_882, 7_355)
PRIOR = 0.05


def main(numbers: Numbers) -> None:
    rates = TABLE.select("model", recall=1 - pl.col("error"), fpr="error")
    test = rates.prc(rates=("recall", "fpr"), sizes=SIZES, by="model")
    asked = ["precision", "fnr", "fpr"]
    own, light = test.curve(SIZES[0] / sum(SIZES), metrics=asked, confidence=0.95).rows(named=True)
    numbers.check("error rate, attacks missed", "0.83%", own["fnr"])
    numbers.check("error rate of the light model, bona fide flagged", "0.99%", light["fpr"])
    numbers.measure(own)
    there = test.curve(PRIOR, confidence=0.95)
    numbers.become(only(there.filter(model="AASIST")), "the prior of the challenge")
    numbers.become(only(there.filter(model="AASIST-L")), "the prior of the challenge", "the light model")


STORY = Story(
    title="Imitated voices",
    claim="an equal error rate of 0.83%",
    place="clovaai/aasist, README.md (a04c9863f6)",
    field="the same repository, evaluation.py, line 19",
    so="Nine of ten test recordings are attacks.",
    fetched=True,
    main=main,
)
