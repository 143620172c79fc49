"""134 evaluations of antibody tests by the FDA, each with its precision at 5% and an interval of that.

FDA/open.fda.gov at 42bf8813c9, src/pages/apis/device/covid19serology/index.tsx, CC0 (COPYING.txt).
For each evaluation that prints "PPV at prevalence = 5%", the sensitivity and specificity of the
same antibody give the counts ("90.0% (27/30)"): data/serology.csv, numbered as they come, without
names of makers. The page tells how its interval is made: from the ends of the score intervals of
sensitivity and specificity.
"""

import polars as pl
from story import CELLS, Numbers, Story, only, read

from polars_prcurve import precision_interval, rate_interval

TABLE = read("serology")
FDA, BAY = 0.05, 0.01


def corners(kit: dict[str, int]) -> tuple[float, float]:
    """Return the least and the greatest precision at 5% between the ends of both intervals."""
    n_pos, n_neg = kit["tp"] + kit["fn"], kit["fp"] + kit["tn"]
    recall, fpr = rate_interval(kit["tp"], n_pos), rate_interval(kit["fp"], n_neg)
    ends = {"recall_interval": recall, "fpr_interval": fpr}
    return precision_interval(kit["tp"] / n_pos, kit["fp"] / n_neg, FDA, **ends)


def main(numbers: Numbers) -> None:
    test = TABLE.prc(cells=CELLS, by="kit")
    at_fda = test.curve(FDA, confidence=0.95).sort("kit")
    numbers.check_all("precision at 5%", TABLE["ppv"], 100 * at_fda["precision"], decimals=1)
    ends = pl.DataFrame(
        [corners(kit) for kit in TABLE.rows(named=True)], schema=["low", "high"], orient="row"
    )
    for end in ("low", "high"):
        numbers.check_all(f"{end} end of its interval", TABLE[f"ppv_{end}"], 100 * ends[end], decimals=1)
    at_bay = test.curve(BAY, confidence=0.95)
    for kit, what in ((1, "a kit without a false alarm"), (2, "a kit with two of 80")):
        numbers.measure(only(at_fda.filter(kit=kit)), what, where="as the FDA assumes")
        numbers.become(only(at_bay.filter(kit=kit)), "San Francisco, April 2020", what)


STORY = Story(
    title="Antibody tests",
    claim="precision at 5% for each of 134 evaluations, with intervals; first 100% (46.1 to 100)",
    place="FDA/open.fda.gov, covid19serology (42bf8813c9)",
    field="F. Havers et al., JAMA Internal Medicine 2020, abstract: 1.0% in the San Francisco Bay area",
    so="The FDA's intervals join the worst of both rates, and are wider than ours.",
    fetched=True,
    main=main,
)
