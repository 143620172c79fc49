"""What to do: `decide` and `report`, and the `Decision` that they make."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from polars_prcurve.argument_checks import check_texts, read_whole_number
from polars_prcurve.atomic_file import resolve_target
from polars_prcurve.binding.bound_table import BoundTable, F, Question, name_column
from polars_prcurve.binding.words_and_rules import TARGET_WORDS, TargetsOfTable
from polars_prcurve.column_names import UNCERTAIN_ETA_COLUMNS
from polars_prcurve.confidence.intervals import Confidence
from polars_prcurve.decision.decide import Findings, build_table, build_verdicts, decide
from polars_prcurve.decision.evidence import Asked
from polars_prcurve.decision.goal import Goal, read_goal
from polars_prcurve.decision.group_verdicts import Verdict
from polars_prcurve.errors import PrcError, PrcWarning
from polars_prcurve.inputs.table_reader import DroppedRows, count_dropped_rows
from polars_prcurve.prevalence.eta_argument import Eta
from polars_prcurve.prevalence.field_parts import Field

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_prcurve.report.custom_page import Part

SCALED = '<svg style="width:100%;height:auto" '


class Decision:
    """A verdict on the models of a table, and all that a report, a page or a card shows of it.

    It prints as the verdict and a row per model, and pickles without the rows of the test.

    Examples
    --------
    >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
    >>> decision = df.prc.decide(eta=0.01, recall=0.5)
    >>> decision.verdict.status, decision.verdicts.height, decision.table.height
    ('too little data', 1, 1)
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    @property
    def verdict(self) -> Verdict:
        """The verdict above all: of the only case, or of all groups and prevalences together."""
        return self._findings.verdict

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row per group and prevalence: its verdict.

        Columns: those of groups, `eta`: Float64, `status`: String, `models`: List of the dtype of
        models, `sentence`: String, `reasons`: List of String, and `would_settle`: String.
        """
        return build_verdicts(self._findings)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per group, prevalence and model: what each model does at the targets.

        Columns are those of `operating_points` with `confidence`, without `criterion` and `target`, or
        the area without a target; `precision_at_half`, where half of the positives are found; and of
        several models `behind` and `may_be_best`, as in `ranking`. A model that keeps no target has
        nulls.
        """
        return build_table(self._findings)

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
        of 100 alerts; below 1 right in 50 for as many as one right one takes, up to 200, so that two
        grids stand side by side (`plot.alerts` draws up to 1 000).

        Parameters
        ----------
        path
            The file to write, which ends in `.html`. An existing file is replaced once the new one is
            complete.
        title, date, notes
            A heading, a date to print, since the document looks at no clock, and a text of your own.
        """
        from polars_prcurve.report.decision_document import build_document
        from polars_prcurve.report.html_and_svg import check_page_path, write_text

        check_page_path(path)
        check_texts(title=title, date=date, notes=notes)
        return write_text(path, build_document(self._findings, title, date, notes))

    def page(
        self, path: str | os.PathLike[str], *, title: str | None = None, date: str | None = None
    ) -> Path:
        """Write a page to move the score, the prevalence and the costs, and return its path.

        One HTML file without a server: the sentence, the icons and the costs follow, and the state
        stands in the address. It begins at the score of the verdict. Groups are in a list to pick from:
        those that the verdict names, and as many others as have room in 200 kB; the page says how many
        are left out.

        Parameters
        ----------
        path, title, date
            As in `report`.
        """
        from polars_prcurve.report.html_and_svg import check_page_path, write_text
        from polars_prcurve.report.live_page import build_live_page

        check_page_path(path)
        check_texts(title=title, date=date)
        if not self._findings.cases:
            raise PrcError("the table has no rows, so there is nothing to draw")
        return write_text(path, build_live_page(self._findings, title, date))

    def card(self, path: str | os.PathLike[str], *, date: str | None = None) -> Path:
        """Draw a picture to share, 1 200 by 630 pixels, and return its path.

        Parameters
        ----------
        path
            A file that ends in `.png`, which needs the extra `report`, or in `.svg`.
        date
            A date to print.
        """
        from polars_prcurve.report.custom_page import load_vl_convert
        from polars_prcurve.report.html_and_svg import write_bytes, write_text
        from polars_prcurve.report.share_card import draw_card

        check_texts(date=date)
        resolve_target(path)
        kind = Path(path).suffix.lower()
        if kind not in (".png", ".svg"):
            raise PrcError(f"path= of a card ends in .png or .svg; got {os.fspath(path)!r}")
        drawing = draw_card(self._findings, date)
        if kind == ".svg":
            return write_text(path, drawing)
        return write_bytes(path, load_vl_convert().svg_to_png(drawing))

    def model_card(self, *, date: str | None = None) -> str:
        """Return the decision as Markdown, for the card of a model."""
        from polars_prcurve.report.plain_text import write_model_card

        check_texts(date=date)
        return write_model_card(self._findings, date)

    def __repr__(self) -> str:
        return f"<decision: {self._findings.status}: {self.verdict.sentence}>"

    def say(self, width: int | None = None, *, hint: str = "; decision.table has all") -> str:
        """Return the decision as plain text: the verdict, a row per model, and what would settle it.

        Parameters
        ----------
        width
            Characters of a line, those of the terminal if left out. Columns that do not fit are named.
        hint
            What follows the names of columns that are left out.
        """
        from polars_prcurve.report.plain_text import write_plain

        check_texts(hint=hint)
        if width is None:
            width = shutil.get_terminal_size((80, 24)).columns
        return write_plain(self._findings, read_whole_number("width=", width, 1), hint or "")

    def __str__(self) -> str:
        return self.say()

    def _repr_html_(self) -> str:
        from polars_prcurve.report.share_card import draw_card

        card = draw_card(self._findings, None)
        return f'<div style="max-width:760px">{card.replace("<svg ", SCALED, 1)}</div>'


class DecisionMethods(BoundTable[F], path="prc"):
    """The methods of `.prc` that say what to do."""

    def decide(
        self,
        eta: Eta = None,
        *,
        guarantee: float | None = None,
        confidence: Confidence = 0.95,
        **words: Unpack[TargetsOfTable],
    ) -> Decision:
        """Decide which model to use, and from which score: one verdict, tested once.

        A LazyFrame is collected at the call.

        Parameters
        ----------
        eta
            As in `curve`; with several prevalences there is a verdict for each, and one above them. None
            is the prevalence of the table, which is then a cohort.
        threshold, recall, fpr, precision, npv, fdr, lift, predicted_positive_rate, alerts, per, maximize
            What is wanted, all together, one number each, as in `operating_points`. Models are judged by
            precision at a recall that has to be reached; by recall where alerts, fpr or precision are
            limited; by the metric that is maximized; and by average precision if nothing is wanted.
            Alerts are counted among `per` cases: if left out, a round number with 100 positives or more.
        guarantee
            A level, such as 0.95: thresholds keep the targets in truth, as in `operating_points`.
        confidence
            The level of all intervals and tests.

        Returns
        -------
        A `Decision`. Its `verdict` has one of five statuses, the first that holds:

        - "too little data": a class has fewer than 10 examples, or too few for any interval to tell much
        - "no better than chance": no model is above chance, nor at the targets, and by the intervals
          alerts of none are right twice as often as by lot where half of the positives are found
        - "not met": no threshold of any model keeps all targets, or promises to
        - "not told apart": several models may be best (`ranking`), also if they miss a target by a hair
        - "settled": one model is better than all others, or the only one is above chance; above tested
          groups of one model, if each is told apart from all others together

        It calls a model better that is not in at most `1 - confidence` of all tables, over all groups.

        Examples
        --------
        >>> import numpy as np
        >>> label, noise = np.arange(2_000) < 200, np.random.default_rng(1).normal(size=(2, 2_000))
        >>> df = pl.DataFrame({"label": label, "new": noise[0] + 3 * label, "old": noise[1] + label})
        >>> decision = df.prc(score=["new", "old"]).decide(eta=0.01, recall=0.5)
        >>> decision.verdict.status, decision.verdict.models
        ('settled', ('new',))
        >>> print(decision.verdict)
        new is better: 75 of its 100 alerts are right, 3.5 of old’s
        """
        return self._decide("decide", eta, words, guarantee, confidence)

    def _decide(
        self, method: str, eta: Any, words: Any, guarantee: Any, confidence: Confidence
    ) -> Decision:
        """Return the decision that a method asks for."""
        question = self._ask(
            method, words, eta=eta, confidence=confidence, guarantee=guarantee, collects=True
        )
        certainty = question.require_certainty()
        goal = read_goal(question.targets, guarantee, question.columns)
        table = question.read(())
        _check_groups(table)
        if not isinstance(eta, BoundTable):  # whose scores are counted
            question.place_at_etas(table, ())  # raises for wrong prevalences before any work
        _check_goal(question, goal, eta)
        with warnings.catch_warnings():
            warnings.simplefilter("error", PrcWarning)
            try:
                asked = self._collect_asked(question, eta, words, goal, certainty.level)
                return Decision(decide(asked))
            except PrcWarning as refuted:  # the prevalence, by its own test
                raise PrcError(
                    f"{refuted}; nothing can be decided there; pass a prevalence that you know"
                ) from None

    def report(
        self,
        path: str | os.PathLike[str],
        eta: Eta = None,
        *,
        guarantee: float | None = None,
        confidence: Confidence = 0.95,
        title: str | None = None,
        date: str | None = None,
        notes: str | None = None,
        parts: Iterable[Part] | None = None,
        **words: Unpack[TargetsOfTable],
    ) -> Path:
        """Decide, and write the decision as one HTML file to send: `decide(...).report(path)`.

        Parameters
        ----------
        path, title, date, notes
            As in `Decision.report`.
        eta, guarantee, confidence
            As in `decide`.
        threshold, recall, fpr, precision, npv, fdr, lift, predicted_positive_rate, alerts, per, maximize
            As in `decide`.
        parts
            A page of your own, in place of all that: texts, DataFrames and Altair charts, in order, with
            captions by `Table` and `Figure` of `polars_prcurve.report`. In a text an empty line
            separates paragraphs, a line `## ...` is a heading, and lines `- ...` are a list.

        Returns
        -------
        The path.

        Examples
        --------
        >>> import tempfile
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = df.prc.report(f"{folder}/report.html", eta=0.01, recall=0.5)
        ...     "Too little data" in path.read_text(encoding="utf-8")
        True
        """
        from polars_prcurve.report.html_and_svg import check_page_path

        if parts is not None:
            from polars_prcurve.report.custom_page import check_parts_alone, write_parts

            check_parts_alone(eta=eta, **words, guarantee=guarantee, notes=notes, date=date)
            return write_parts(path, parts, title)
        check_page_path(path)
        check_texts(title=title, date=date, notes=notes)
        decision = self._decide("report", eta, words, guarantee, confidence)
        return decision.report(path, title=title, date=date, notes=notes)

    def _collect_asked(
        self, question: Question, eta: Any, words: Any, goal: Goal, confidence: float
    ) -> Asked:
        """Return the table in memory, whose methods are asked, and that whose models are ranked."""
        said = {name: value for name, value in words.items() if name not in TARGET_WORDS}
        bound: Any = self(**said)
        bound = bound._collect_table()
        column = question.columns.get("model")
        if column is not None and question.stacked is None:
            bound = bound(model=column)
        asked = Asked(
            bound,
            eta,
            goal,
            confidence,
            None if column is None else name_column(column),
            type(bound),
            takes_apart=goal.maximized is not None
            or (question.columns.get("cluster") is not None and not goal.is_of_curve),
            dropped=_describe_dropped(question),
            is_published=question.points is not None,
            unweighted=None if question.columns.get("weight") is None else bound(weight=None),
        )
        return _weigh_field(asked, question) if isinstance(eta, Field) else asked


def _describe_dropped(question: Question) -> str:
    """Return how many rows are left out because a value is missing; empty if none is."""
    columns, stacked = question.columns, question.stacked
    if columns.get("missing") != "drop":
        return ""
    found = count_dropped_rows(question.frame, id=columns.get("example"), **columns)
    if stacked is not None and columns.get("model") is not None:  # a row goes for all models
        found = DroppedRows(found.n // len(stacked), found.total // len(stacked))
    elif stacked is not None:  # each class leaves out rows of its own
        found = found._replace(what="scores")
    return found.sentence if found.n else ""


def _check_groups(table: Any) -> None:
    """Raise for groups and models that no sentence can name."""
    for dtype in table.by.values():
        if dtype.is_nested():
            raise PrcError(
                "decide() names groups and models, and takes no column of them of dtype "
                f"{dtype.base_type()}; pass what tells them apart as plain columns"
            )


def _check_goal(question: Question, goal: Goal, eta: Any) -> None:
    """Raise for what cannot be decided: at such a prevalence, of published points, of several models."""
    if question.points is not None and goal.is_of_curve:
        raise PrcError(
            "areas of published points have no interval; name what is wanted: recall=, threshold=, "
            "precision= or another target"
        )
    for value in eta if isinstance(eta, list | tuple) else [eta]:
        if isinstance(value, int | float) and value in (0, 1):
            raise PrcError(
                "decide() takes prevalences between 0 and 1, where alerts may be right or false; got "
                f"eta={value!r}"
            )
    if question.columns.get("model") is None:
        return
    if "threshold" in goal.targets:
        raise PrcError(
            "threshold= is of one model; of several, name what counts: recall=, alerts=, precision= or "
            "another target, at which they are compared"
        )
    if question.points is not None:
        raise PrcError(
            "decide() compares models by their examples, and published points have none; decide each "
            'model alone, or compare(other=prc(points, cells=...), match="recall") one with examples'
        )
    if isinstance(eta, BoundTable):
        raise PrcError(
            "eta= is estimated with the scores of each model, so each would have a prevalence of its "
            "own; pass that of one model: month.estimate_prevalence(reference=..., score=...)"
        )


def _weigh_field(asked: Asked, question: Question) -> Asked:
    """Return what is asked, with the examples of a field weighted so that they make one table."""
    table: Any = asked.table
    field: Field = asked.eta
    frame = pl.DataFrame(question.find_eta().lazy().collect())
    exact = replace(field, frame=frame.drop(UNCERTAIN_ETA_COLUMNS, strict=False))
    found = table.summary(exact, metrics="roc_auc")
    groups = found.columns[: found.columns.index("eta")]
    groups = [name for name in groups if name != asked.model]
    etas = found.select(*groups, "eta").unique(maintain_order=True)
    eta: Any = etas if groups else etas["eta"].to_list()
    weight = "weight"
    while weight in table._frame.columns:
        weight += " of the field"
    words = {**table._words, "by": question.columns["by"], "weight": weight}
    if asked.model is not None and question.stacked is None:
        words["model"] = asked.model
    weighted = type(table)(table.reweight(eta=exact, name=weight), words)
    asked = replace(asked, unweighted=table(by=question.columns["by"]))
    # Without a promise, and at exact prevalences, that table is asked for everything.
    if asked.goal.guarantee is None and exact.frame.columns == frame.columns:
        return replace(asked, table=weighted, eta=eta)
    return replace(asked, weighted=(weighted, eta))
