"""Eight searches for passwords in source code, on 19 million lines.

Samsung/CredData at c2e5761aa1, README.md, "Benchmark Result" (April 2022), Apache licence 2.0: four
counts of lines per tool, with fpr, recall and precision in ten digits. data/credentials.csv holds
the table.
"""

from story import CELLS, Numbers, Story, only, read

TABLE = read("credentials")
KEPT = 297 / 19_486
"""Share of the repositories that were kept, because they seemed to hold a credential."""


def main(numbers: Numbers) -> None:
    test = TABLE.prc(cells=CELLS, by="tool")
    found = test.curve(metrics=["precision", "recall", "fpr"], confidence=0.95)
    here = TABLE.join(found, on="tool", suffix="_here")
    for metric in ("precision", "recall", "fpr"):
        numbers.check_all(f"{metric} of each tool", here[metric], here[f"{metric}_here"], decimals=10)
    there = test.curve(found["eta"][0] * KEPT, confidence=0.95)
    for tool in ("CredSweeper", "gitleaks"):
        numbers.measure(only(found.filter(tool=tool)), tool)
        where = "all 19,486 repositories, if those not tested are as long and hold none"
        numbers.become(only(there.filter(tool=tool)), where, tool)


STORY = Story(
    title="Passwords in source code",
    claim="91.7% of what it reports is a credential",
    place="Samsung/CredData, README.md (c2e5761aa1), benchmark result, CredSweeper",
    field="the same README: 297 of 19,486 repositories are suspected to hold a credential",
    so="By how much other repositories hold fewer than those of the test is our assumption.",
    fetched=True,
    main=main,
)
