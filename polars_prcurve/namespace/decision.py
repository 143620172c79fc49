"""`Decision`: what `decide` returns, a verdict with the tables that it was made from."""

from __future__ import annotations

from functools import cached_property

import polars as pl

from polars_prcurve.decision.decide import Findings, build_table, build_verdicts
from polars_prcurve.decision.verdict import Verdict


class Decision:
    """A verdict on the models of a table, and all that a report, a page or a card shows of it.

    `print` shows the verdict and a row per model. It pickles with its tables, without the rows of the
    test.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    @property
    def verdict(self) -> Verdict:
        """The verdict above all: of the only case, or of all groups and prevalences together."""
        return self._findings.verdict

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row per group and prevalence: `eta`, `status`, `models`, `sentence`, `reasons`."""
        return build_verdicts(self._findings)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per group, prevalence and model: what each model does at the targets."""
        return build_table(self._findings)

    def __repr__(self) -> str:
        return f"<decision: {self.verdict.status}: {self.verdict.sentence}>"

    def __str__(self) -> str:
        return "\n".join([self.verdict.sentence, "", str(self.table)])
