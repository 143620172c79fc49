"""OpenAI's classifier of January 2023, from the page that announced it.

"New AI classifier for indicating AI-written text", openai.com, 31 January 2023: on a challenge set
of English texts, 26% of machine texts are called "likely AI-written", and 9% of human texts, too.
We read it in a copy. It does not tell how many texts the set has, so there are no intervals. It was
withdrawn in July 2023.
"""

import polars as pl
from story import Numbers, Story, only

TABLE = pl.DataFrame({"recall": [0.26], "fpr": [0.09]})
STUDENTS = {0.11: "student papers with 20% of machine text", 0.03: "student papers with 80%"}


def main(numbers: Numbers) -> None:
    test = TABLE.prc(rates=("recall", "fpr"))
    half = only(test.curve(0.5, metrics=["precision", "recall", "fpr"]))
    numbers.check("machine texts found", "26%", half["recall"])
    numbers.check("human texts flagged", "9%", half["fpr"])
    numbers.measure(half, where="assumed")
    for eta, where in STUDENTS.items():
        numbers.become(only(test.curve(eta)), where)


STORY = Story(
    title="A classifier of AI text",
    claim="26% of machine texts found, 9% of human texts flagged",
    place="openai.com, New AI classifier for indicating AI-written text, 31 January 2023",
    field="Turnitin, press release of 9 April 2024, by its own detector",
    so="The page itself says that no decision should rest on it alone.",
    fetched=False,
    main=main,
)
