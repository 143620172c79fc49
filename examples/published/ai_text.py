"""Machine-written text: detectors at a fixed false positive rate, on the RAID benchmark.

liamdugan/raid at d1b12c0a58, web/public/data/submissions/*.json, MIT licence:
`score_agg.no_adversarial`, tp and fn at thresholds per domain that flag 5% and 1% of human texts.
`fpr` of the same files gives the rates of each of eight domains; all are multiples of 1 in 200, so
1,600 human texts stand behind them: 80 and 16 of these are flagged.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

TABLE = pl.DataFrame(
    {
        "detector": [
            "Binoculars",
            "Binoculars",
            "RADAR",
            "RADAR",
            "RoBERTa-large (GPT2)",
            "RoBERTa-large (GPT2)",
        ],
        "target": [0.05, 0.01] * 3,
        "tp": [42_966, 37_828, 35_694, 26_159, 30_315, 21_122],
        "fp": [80, 16] * 3,
        "fn": [11_434, 16_572, 18_706, 28_241, 24_085, 33_278],
        "tn": [1_520, 1_584] * 3,
    }
)
PRINTED = [
    0.7898161764705882, 0.6953676470588235, 0.6561397058823529, 0.48086397058823527,
    0.5572610294117647, 0.3882720588235294,
]  # fmt: skip
REVIEWS = 0.065


def main(numbers: Numbers) -> None:
    test = TABLE.prc(cells=CELLS, by=["detector", "target"])
    found = test.curve(metrics=["precision", "recall"], confidence=0.95)
    here = TABLE.join(found, on=["detector", "target"], maintain_order="left")
    numbers.check_all("share of machine texts found", pl.Series(PRINTED), here["recall"], decimals=15)
    first = pl.col("detector") == "Binoculars"
    there = test.curve(REVIEWS, confidence=0.95)
    for target in (0.05, 0.01):
        at = f"at an fpr of {100 * target:.0f}%"
        numbers.measure(only(found.filter(first, target=target)), at)
        numbers.become(only(there.filter(first, target=target)), "reviews of papers", at)


STORY = Story(
    title="Machine-written text",
    claim="79.0% of machine texts found, at a false positive rate of 5%",
    place="RAID leaderboard, binoculars.json (d1b12c0a58), texts without attacks",
    field="W. Liang et al., arXiv 2403.07183, abstract, the lower end of 6.5 to 16.9%",
    so="34 texts have one prompt, so the intervals are, if anything, too narrow.",
    fetched=True,
    main=main,
)
