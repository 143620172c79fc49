"""Lie detectors in security screening, a table of the National Research Council.

The Polygraph and Lie Detection, National Academies Press 2003, appendix I, page 355, table I-1:
false alarms for each true one, at four accuracies (areas under the ROC curve 0.90 to 0.60), three
sensitivities and four base rates. The first base rate, 1 in 1,000, gives each false positive rate;
the other rows must follow.
"""

import polars as pl
from story import Numbers, Story, only

SENSITIVITIES = (0.8, 0.5, 0.2)
RARE = [208, 452, 634, 741, 70, 232, 411, 545, 20, 104, 240, 370]
OTHERS = {
    "0.01": ["21", "45", "63", "73", "7.0", "23", "41", "54", "2.0", "10", "24", "37"],
    "0.10": ["1.9", "4.1", "5.7", "6.7", "0.63", "2.1", "3.7", "4.9", "0.18", "0.94", "2.2", "3.3"],
    "0.50": [
        "0.21",
        "0.45",
        "0.63",
        "0.74",
        "0.07",
        "0.23",
        "0.41",
        "0.55",
        "0.02",
        "0.10",
        "0.24",
        "0.37",
    ],
}
TABLE = pl.DataFrame(
    {"row": range(12), "recall": [recall for recall in SENSITIVITIES for _ in range(4)], "index": RARE}
).with_columns(fpr=pl.col("index") * pl.col("recall") * 0.001 / 0.999)


def main(numbers: Numbers) -> None:
    test = TABLE.prc(rates=("recall", "fpr"), by="row")
    for eta, printed in OTHERS.items():
        precision = test.curve(float(eta)).sort("row")["precision"]
        index = 1 / precision - 1
        near = [
            round(here, len(text.partition(".")[2])) for here, text in zip(index, printed, strict=True)
        ]
        numbers.check_all(
            f"false alarms per true one at {eta}", pl.Series(map(float, printed)), pl.Series(near), 2
        )
    best = TABLE.head(1).prc(rates=("recall", "fpr"))
    numbers.measure(only(best.curve(0.5)), where="one examinee in two lies")
    numbers.become(only(best.curve(0.001)), "10 spies among 10,000 employees")


STORY = Story(
    title="Lie detectors",
    claim="208 innocent people for each spy",
    place="National Research Council, The Polygraph and Lie Detection, 2003, table I-1A, page 355",
    field="the same table, base rate 0.001",
    so="A model's table has no sizes, and so no intervals.",
    fetched=False,
    main=main,
)
