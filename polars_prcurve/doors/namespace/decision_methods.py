"""What to do: `decide` and `report`, which make a `Decision`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl  # noqa: F401  (the examples need it)

from polars_prcurve.core.binding.bound_table import BoundTable, F
from polars_prcurve.core.binding.shared_arguments import TargetsOfTable
from polars_prcurve.core.confidence.interval_options import Confidence
from polars_prcurve.core.ground.argument_checks import check_texts
from polars_prcurve.core.inputs.column_reader import Columns
from polars_prcurve.core.prevalence.eta_values import Eta

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from polars_prcurve.view.report.custom_page import Part
    from polars_prcurve.view.report.decision_result import Decision


class DecisionMethods(BoundTable[F], public_name="prc"):
    """The methods of `.prc` that recommend what to do."""

    def decide(
        self,
        eta: Eta = None,
        *,
        guarantee: float | str | None = None,
        confidence: Confidence = 0.95,
        mean_over: Columns = None,
        **words: Unpack[TargetsOfTable],
    ) -> Decision:
        """Decide which model to use, and at which threshold: one verdict, tested once.

        A LazyFrame is collected at the call.

        Parameters
        ----------
        eta
            As in `curve`, from 1e-15 to 1 - 1e-15; with several prevalences there is a verdict for each,
            and one over all of them. None is the prevalence of the table, which is then treated as a
            random sample of the population.
        targets
            The targets, one number each, all to be met together, as in `operating_points`. They choose
            the threshold. Models are judged by precision at a required recall; by recall at a limit on
            alerts or fpr, or a required precision; by the metric that is maximized; and by average
            precision without a target. A group with one point, as in `cells`, needs no target: its
            precision and recall are reported. Alerts are counted among `per` cases; without `alerts` it
            may be left out, and is then a round number with 100 positives or more.

            With `threshold=`, or for one point, targets are requirements. Such a threshold comes from
            other data: a number, or a frame by group as `operating_points` returns it. The printed
            interval decides. Several targets share the error of the tests (Bonferroni), and so do groups
            and prevalences that miss one (Holm 1979); `level` in `table` is the level of each row.
        guarantee
            A level, such as 0.95: thresholds meet the targets with this confidence, as in
            `operating_points`. The targets are then requirements.
        confidence
            The level of all intervals and tests. For a one-sided test at 95%, pass 0.9.
        mean_over
            Columns that name groups, such as topics or folds, as in `summary`: models are judged by the
            mean of average precision over the groups, in a paired t-test (`ranking(mean_over=)`). It
            takes no targets. With fewer than 10 groups, only a clear lead makes a winner.

        Returns
        -------
        A `Decision`. Its `verdict` has one of eight statuses, the first that holds:

        - `too_little_data`: a class has fewer than 10 examples, or no interval is narrow enough
        - `chance`: no model ranks better than chance, and every interval rules out a useful precision
        - `not_met`: no threshold meets the targets, or the one passed significantly falls short
        - `unsure`: the intervals are compatible with both meeting and missing the targets
        - `no_winner`: several models may be best (`ranking`)
        - `winner`: one model is better than all others, or all others significantly miss the targets
        - `met`: one model, or only one of several, meets the requirements
        - `measured`: one model without requirements

        `verdict.met` is true, false or None, whatever the comparison shows. A model is wrongly called
        better in at most `1 - confidence` of test sets, over all groups together.

        Examples
        --------
        >>> import numpy as np
        >>> label, noise = np.arange(2_000) < 200, np.random.default_rng(1).normal(size=(2, 2_000))
        >>> df = pl.DataFrame({"label": label, "new": noise[0] + 3 * label, "old": noise[1] + label})
        >>> decision = df.prc(score=["new", "old"]).decide(eta=0.01, recall=0.5)
        >>> decision.verdict.status, decision.verdict.models
        ('winner', ('new',))
        >>> print(decision.verdict)
        new is better: precision 75% (50 to 90), against 3.5% (2.9 to 4.1) for old
        >>> df.prc(score="new").decide(eta=0.01, threshold=2.5, precision=0.3).verdict.met
        True
        """
        options = {"guarantee": guarantee, "confidence": confidence, "mean_over": mean_over}
        return self._decide("decide", eta, words, **options)

    def _decide(self, method_name: str, eta: Any, call_arguments: Any, **options: Any) -> Decision:
        """Return the decision that a method requests."""
        from polars_prcurve.doors.namespace.decision_making import make_decision

        question = self._ask(method_name, call_arguments, eta=eta, collects=True, **options)
        return make_decision(self, question, call_arguments, options["guarantee"])

    def report(
        self,
        path: str | os.PathLike[str],
        eta: Eta = None,
        *,
        guarantee: float | str | None = None,
        confidence: Confidence = 0.95,
        mean_over: Columns = None,
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
        eta, guarantee, confidence, mean_over
            As in `decide`.
        targets
            As in `decide`.
        parts
            A custom page instead: texts, DataFrames and Altair charts, in order, with captions by
            `Table` and `Figure` of `polars_prcurve.report`. In a text an empty line separates
            paragraphs, a line `## ...` is a heading, and lines `- ...` are a list.

        Returns
        -------
        The path.

        Examples
        --------
        >>> import tempfile
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = df.prc.report(f"{folder}/report.html", eta=0.01, recall=0.5)
        ...     "too little data" in path.read_text(encoding="utf-8")
        True
        """
        from polars_prcurve.view.report.html_and_svg import check_page_path

        if parts is not None:
            from polars_prcurve.view.report.custom_page import check_parts_alone, write_parts

            check_parts_alone(
                eta=eta, **words, guarantee=guarantee, mean_over=mean_over, notes=notes, date=date
            )
            return write_parts(path, parts, title)
        check_page_path(path)
        check_texts(title=title, date=date, notes=notes)
        options = {"guarantee": guarantee, "confidence": confidence, "mean_over": mean_over}
        decision = self._decide("report", eta, words, **options)
        return decision.report(path, title=title, date=date, notes=notes)
