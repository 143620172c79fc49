"""Two scanners on the OWASP Benchmark, 2,740 test cases of which 1,415 are vulnerable.

OWASP-Benchmark/BenchmarkJava at 79b9bd6177,
scorecard/Benchmark_v1.2_Scorecard_for_FBwFindSecBugs_v1.4.6.html and
..._OWASP_ZAP_vD-2016-09-05.html, GPL-2: the four counts, recall and fpr in each of eleven
categories. data/vulnerabilities.csv holds these rows.
"""

import polars as pl
from story import CELLS, Numbers, Story, read

TABLE = read("vulnerabilities")
PRIMEVUL = 6_968 / (6_968 + 228_800)


def main(numbers: Numbers) -> None:
    each = TABLE.prc.curve(cells=CELLS, by=["tool", "cwe"], metrics=["recall", "fpr"])
    here = TABLE.join(each, on=["tool", "cwe"], suffix="_here")
    for metric in ("recall", "fpr"):
        printed, found = here[metric], 100 * here[f"{metric}_here"]
        numbers.check_all(f"{metric} in each category, in percent", printed, found, decimals=2)
    means = here.group_by("tool", maintain_order=True).agg(pl.col("recall_here", "fpr_here").mean())
    for (tool, recall, fpr), printed in zip(
        means.rows(), [("96.84%", "57.74%"), ("19.95%", "0.12%")], strict=True
    ):
        numbers.check(f"{tool}: mean recall", printed[0], recall)
        numbers.check(f"{tool}: mean fpr", printed[1], fpr)
    totals = TABLE.group_by("tool", maintain_order=True).agg(pl.col(CELLS).sum())
    test = totals.prc(cells=CELLS, by="tool")
    for row in test.curve(confidence=0.95).rows(named=True):
        numbers.measure(row, row["tool"])
    for row in test.curve(PRIMEVUL, confidence=0.95).rows(named=True):
        numbers.become(row, "functions of real projects", row["tool"])


STORY = Story(
    title="Scanners for vulnerable code",
    claim="one scanner finds 96.84% of the weaknesses, another 19.95%",
    place="OWASP Benchmark 1.2, scorecards of FindSecBugs 1.4.6 and ZAP 2016-09-05 (79b9bd6177)",
    field="PrimeVul (Y. Ding et al., arXiv 2403.18624), of another language: a size, not a forecast",
    so="Half of the benchmark is vulnerable by design. Where few functions are, the rare alerts of "
    "the second scanner are right in 74%.",
    fetched=True,
    main=main,
)
