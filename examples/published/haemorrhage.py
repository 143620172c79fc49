"""Two predictors of a poor outcome after a brain haemorrhage: a grade and a blood marker.

cran/pROC at 470a56a25f, data/aSAH.RData, GPL-3: 113 patients of N. Turck et al. 2010.
data/haemorrhage.csv counts poor and good outcomes at each value of wfns and s100b; no other column
was used. The claims are those of pROC's tests, xrobin/pROC at ee2877e858, tests/testthat/test-auc.R
and helper-deLongPlacementsCpp-expected.R.
"""

from story import Numbers, Story, only, read

TABLE = read("haemorrhage")
ISAT = 190 / 801


def main(numbers: Numbers) -> None:
    test = TABLE.prc(counts=("n_pos", "n_neg"), by="marker")
    areas = test.summary(metrics="roc_auc")
    for marker, printed in (("wfns", "0.823678861788618"), ("s100b", "0.731368563685637")):
        found = only(areas.filter(marker=marker))["value"]
        numbers.check(f"area under the ROC curve, {marker}", printed, found)
    asked = {"metrics": "average_precision", "confidence": 0.95}
    for row in test.summary(**asked).sort("marker", descending=True).rows(named=True):
        numbers.measure(row, row["marker"], of=row["metric"])
    for row in test.summary(ISAT, **asked).sort("marker", descending=True).rows(named=True):
        numbers.become(row, "patients of a trial", row["marker"], of=row["metric"])


STORY = Story(
    title="After a brain haemorrhage",
    claim="areas under the ROC curve of 0.824 for the grade, 0.731 for the blood marker",
    place="pROC, tests/testthat/test-auc.R (ee2877e858)",
    field="ISAT, Lancet 2002, abstract: 190 of 801 patients dependent or dead after a year",
    so="By the area under the ROC curve the grade leads, by average precision the marker. With 41 "
    "poor outcomes neither lead is sure.",
    fetched=True,
    main=main,
)
