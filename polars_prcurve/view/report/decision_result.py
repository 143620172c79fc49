"""The decision: a verdict on the models of a table, and the files and texts that quote it."""

from __future__ import annotations

import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import polars as pl

from polars_prcurve.core.ground.argument_checks import check_texts, read_whole_number
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.name_hints import HintingAttributes
from polars_prcurve.core.judging.judgement import Judgement
from polars_prcurve.view.verdicts.verdict import Verdict
from polars_prcurve.view.verdicts.verdict_of_all_cases import say_status, sum_up
from polars_prcurve.view.verdicts.verdict_tables import build_table, build_verdicts


class Decision(HintingAttributes):
    """A verdict on the models of a table, with everything that a report, page or model card shows.

    It prints the verdict and a row per model, shows a model card in a notebook, and pickles without the
    rows of the test.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> decision = df.prc.decide(eta=0.01, recall=0.5)
    >>> decision.verdict.status, decision.verdicts.height, decision.table.height
    ('too_little_data', 1, 1)
    """

    _wrong_attribute = "a decision has no attribute"
    _name_by_synonym: ClassVar = {
        **dict.fromkeys(("save", "write", "to_html", "html", "show"), "report"),
        **dict.fromkeys(("winner", "best", "model", "status", "met", "sentence"), "verdict"),
        **dict.fromkeys(("df", "frame", "to_frame", "result", "results"), "table"),
        **dict.fromkeys(("to_markdown", "markdown", "card"), "model_card"),
    }

    def __init__(self, judgement: Judgement) -> None:
        self._judgement = judgement

    @cached_property
    def verdict(self) -> Verdict:
        """The overall verdict: on the only case, or on all groups and prevalences together."""
        return sum_up(self._judgement)

    @property
    def has_demand(self) -> bool:
        """Whether the targets are requirements, on which `verdict.met` reports; see `decide`."""
        return bool(self._judgement.goal.demand)

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row per group and prevalence: its verdict.

        Columns: the group columns, `eta`: Float64, `status`: String, `met`: Boolean, `models`: List of
        the dtype of models, `sentence`: String, `reasons`: List of String, and `would_settle`: String.
        """
        return build_verdicts(self._judgement)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per group, prevalence and model: what each model does at the targets.

        Columns as in `operating_points` with `confidence`, without `criterion` and `target`, or the
        area without a target; `precision_at_half`, the metric `precision_at_recall(0.5)`, whose
        interval is at a true recall of 50%; for several models `behind` and `may_be_best`, as in
        `ranking`; `certainty`, as in `operating_points`, or for a tested threshold that it meets all
        targets, and `level`, the level of its intervals. A model for which no threshold meets the
        targets has nulls. With `mean_over`, `n_groups` and `mean_average_precision` instead of areas.
        """
        return build_table(self._judgement)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        date: str | None = None,
        notes: str | None = None,
    ) -> Path:
        """Write the decision as one HTML file to send, and return its path.

        The file needs no network, no other file and no script, and can be read on a phone, on paper, in
        dark mode and with a screen reader. Equal decisions make equal bytes. A grid has an icon for each
        of 100 alerts; below a precision of 1 in 50, for as many as contain one true positive, up to 200,
        so that two grids fit side by side (`plot.alerts` draws up to 1,000).

        Parameters
        ----------
        path
            The file to write, which ends in `.html`. An existing file is replaced once the new one is
            complete.
        title, date, notes
            A heading, a date to print (default: none), and a text to add.
        """
        from polars_prcurve.view.report.decision_html import build_document
        from polars_prcurve.view.report.html_and_svg import check_page_path, write_text

        check_page_path(path)
        check_texts(title=title, date=date, notes=notes)
        return write_text(path, build_document(self._judgement, title, date, notes))

    def page(
        self, path: str | os.PathLike[str], *, title: str | None = None, date: str | None = None
    ) -> Path:
        """Write a page to move the threshold, the prevalence and the costs, and return its path.

        One HTML file without a server: the sentence, the icons and the costs follow, and the address
        stores the state. It starts at the threshold of the verdict. Groups are in a list, as many as fit
        in 200 kB, those that differ or miss a target first; the page states how many are left out.

        Parameters
        ----------
        path, title, date
            As in `report`.
        """
        from polars_prcurve.view.report.html_and_svg import check_page_path, write_text
        from polars_prcurve.view.report.live_page import build_live_page

        check_page_path(path)
        check_texts(title=title, date=date)
        if not self._judgement.cases:
            raise PrcError("the table has no rows, so there is nothing to draw")
        if self._judgement.goal.mean_over:
            raise PrcError(
                "use report() instead of page(): a page moves one threshold, and a mean over "
                "groups has no threshold"
            )
        return write_text(path, build_live_page(self._judgement, title, date))

    def model_card(self, *, date: str | None = None) -> str:
        """Return the decision as Markdown, for a model card."""
        from polars_prcurve.view.report.decision_text import write_model_card

        check_texts(date=date)
        return write_model_card(self._judgement, date)

    def __repr__(self) -> str:
        text = ": ".join(filter(None, [say_status(self._judgement), self.verdict.sentence]))
        return f"<decision: {text}>"

    def say(
        self, width: int | None = None, *, hint: str = "; decision.table and decision.verdicts have all"
    ) -> str:
        """Return the decision as plain text: the verdict, a row per model, and what would settle it.

        Parameters
        ----------
        width
            Characters per line; the width of the terminal if left out. Columns that do not fit are
            named.
        hint
            Text to add after the names of columns that are left out.
        """
        from polars_prcurve.view.report.decision_text import write_plain

        check_texts(hint=hint)
        if width is None:
            width = shutil.get_terminal_size((80, 24)).columns
        return write_plain(self._judgement, read_whole_number("width=", width, 1), hint or "")

    def __str__(self) -> str:
        return self.say()

    def _repr_markdown_(self) -> str:
        return self.model_card()
