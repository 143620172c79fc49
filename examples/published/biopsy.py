"""A cancer model of the decision curve tutorial, in a cohort and in a case-control study.

ddsjoberg/dcurves at 2362730fc5, MIT licence: data/df_binary.rda and data/df_case_control.rda,
simulated patients, cut at a risk of 0.25 and counted. The claims are those of
tests/testthat/test-dca.R and of vignettes/dca.Rmd, line 105 (the negative predictive value of a
family history, 87%).
"""

import polars as pl
from story import CELLS, Numbers, Story, only

from polars_prcurve import metrics

COHORT = pl.DataFrame({"tp": 72, "fp": 72, "fn": 33, "tn": 573})
FAMILY = pl.DataFrame({"tp": 24, "fp": 91, "fn": 81, "tn": 554})
CASES = pl.DataFrame({"tp": 114, "fp": 30, "fn": 306, "tn": 300})
BENEFIT = metrics.net_benefit(0.25)


def main(numbers: Numbers) -> None:
    cohort = only(COHORT.prc.curve(metrics=BENEFIT, cells=CELLS))
    family = only(FAMILY.prc.curve(metrics="npv", cells=CELLS))
    numbers.check("cohort: net benefit at a risk of 0.25", "0.0640000", cohort[BENEFIT.name])
    numbers.check("family history: negative predictive value", "87%", family["npv"])
    there = only(CASES.prc.curve(0.15, metrics=["precision", BENEFIT], cells=CELLS, confidence=0.95))
    numbers.check("cases: net benefit at 0.25, prevalence 0.15", "0.01495671", there[BENEFIT.name])
    numbers.measure(only(CASES.prc.curve(cells=CELLS, confidence=0.95)))
    numbers.become(there, "the prevalence of the package's test")
    numbers.become(there, "the prevalence of the package's test", of=BENEFIT.name)


STORY = Story(
    title="Whom to biopsy",
    claim="a net benefit of 0.01495671 at a risk of 0.25, where 15% have the cancer",
    place="ddsjoberg/dcurves, tests/testthat/test-dca.R (2362730fc5)",
    field="the same test, prevalence = 0.15",
    so="More than half of a case-control study are cases, so its own precision answers no question "
    "of a clinic.",
    fetched=True,
    main=main,
)
