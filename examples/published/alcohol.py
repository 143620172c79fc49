"""Three questions about alcohol (AUDIT-C): fourteen studies of one test.

cran/mada at 5fcad80643, data/AuditC.rda, GPL-2: four counts of each of fourteen studies, from L.
Kriston et al. 2008, here data/alcohol.csv. The claims are those of the manual inst/doc/mada.pdf:
fpr with 0.5 added to each count (page 5), and precision at 5% of a model of all studies (page 20),
which we do not fit.
"""

import polars as pl
from story import CELLS, Numbers, Story, read

TABLE = read("alcohol")
GENERAL = 0.05


def main(numbers: Numbers) -> None:
    more = TABLE.select("study", pl.col(CELLS) + 0.5)
    rates = more.select(
        "study",
        recall=pl.col("tp") / (pl.col("tp") + pl.col("fn")),
        fpr=pl.col("fp") / (pl.col("fp") + pl.col("tn")),
    )
    found = rates.prc.curve(0.5, rates=("recall", "fpr"), by="study").sort("study")
    numbers.check_all("fpr of each study, 0.5 added", TABLE["fpr"], found["fpr"], decimals=8)
    numbers.check("study 1: recall, 0.5 added", "0.833", found["recall"][0])
    test = TABLE.drop("fpr").prc(cells=CELLS, by="study")
    own = test.curve(confidence=0.95).sort("precision")
    there = test.curve(GENERAL, metrics=["precision", "fpr"], confidence=0.95)
    for end, who in ((0, "the lowest of 14"), (-1, "the highest of 14")):
        numbers.measure(own.row(end, named=True), who)
        for metric in ("precision", "fpr"):
            row = there.sort(metric).row(end, named=True)
            numbers.become(row, "the general population", who, of=metric)


STORY = Story(
    title="Three questions about alcohol",
    claim="a precision of 0.176 at 5%, pooled over fourteen studies",
    place="mada, inst/doc/mada.pdf, page 20 (5fcad80643)",
    field="the same manual, which takes 5 to 15%",
    so="At one prevalence precision is still 9% in one study and 37% in another: recall and fpr "
    "are also those of the people asked.",
    fetched=True,
    main=main,
)
