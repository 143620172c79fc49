"""What to measure next, and how a field differs: sizes, samples, prevalences and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from polars_prcurve.core.binding.bound_table import BoundTable, F, read_reference_columns
from polars_prcurve.core.binding.shared_arguments import (
    CountWords,
    RateTargetsOfPoints,
    ScoreWords,
    WeightWords,
)
from polars_prcurve.core.confidence.band_options import FixedBands
from polars_prcurve.core.confidence.interval_options import Confidence
from polars_prcurve.core.curves.target_arguments import read_targets
from polars_prcurve.core.ground.argument_checks import read_choice, read_flag, refuse_kind, take_frame
from polars_prcurve.core.ground.column_checks import SCORE_DTYPES
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.query_guards import run_query
from polars_prcurve.core.inputs.column_reader import ColumnReader
from polars_prcurve.core.inputs.table_reader import read_part_labelled, read_parts, read_reference
from polars_prcurve.core.prevalence.eta_by_parts_or_classes import Field
from polars_prcurve.core.prevalence.eta_values import Eta
from polars_prcurve.core.prevalence.part_weights import build_reweighted_table
from polars_prcurve.core.prevalence.prevalence_by_em import build_estimates_table, check_estimate_method
from polars_prcurve.core.sweep.sweep_table import Thresholds

if TYPE_CHECKING:
    from typing_extensions import Unpack

_ASSURANCE = 0.8  # the share of test sets in which tests are wont to find what they are made for


class PlanningMethods(BoundTable[F], public_name="prc"):
    """The methods of `.prc` that plan a test set, or show how a population differs from it."""

    def sample_size(
        self,
        delta: float | str = 0.1,
        eta: Eta = None,
        *,
        solve_for: Literal["n", "eta"] = "n",
        relative: bool = False,
        assurance: float | str | None = None,
        confidence: Confidence = 0.95,
        **words: Unpack[RateTargetsOfPoints],
    ) -> F:
        """Test set size for a precision interval `delta` wide, or the lowest prevalence with one.

        With the numbers needed, test sets with these rates have a band of precision, the default one of
        `curve`, that is at most `delta` wide (Brabec et al. 2020, section 5).

        Parameters
        ----------
        delta
            The width of the band, upper minus lower precision: 0.1 is useless for a precision of 0.01.
        eta
            The prevalence at which the band must be this narrow, as in `curve`, except that None means
            all prevalences, which often takes several times the examples, and `[None]` the group's
            prevalence (with weights, such as from `reweight`, the population's).
        solve_for
            `"n"`, the numbers needed, or `"eta"`, the smallest prevalence at which the numbers in this
            table are enough.
        relative
            True treats `delta` as a fraction of the precision at `eta`: 0.5 means half of it.
        assurance
            The share of test sets of that size whose band is as narrow, from 0.5 to below 1; 0.8 if left
            out.
        targets
            Targets, one or several, as in `operating_points`; groups with one point need none.
        confidence
            A level, or `intervals(rate=...)` for an interval of recall and fpr other than Wilson's.

        Returns
        -------
        One row per `by` group, prevalence and target:

        - with `eta`, `eta`: Float64, and what an eta frame carries
        - `criterion`, `target`, `threshold`, `recall`, `fpr`: as in `operating_points`
        - `n_pos`, `n_neg`: Int64, or Float64 with weights; the numbers in the table. A class with
          weights counts as `sum(w)**2 / sum(w**2)` examples beside the numbers needed
        - `n_pos_needed`, `n_neg_needed`: Float64, rounded up; null where a rate is 0 or null. One pair
          of many, to which both rates contribute about equally: more examples of one class make up
          for fewer of the other
        - `n_pos_beside`, `n_neg_beside`: Float64, the positives needed beside the negatives in the
          table, and the negatives beside its positives; null if no number is enough, or with weights
        - with `solve_for="eta"`, `eta`: Float64, instead of these four; from this prevalence up the band
          is at most `delta` wide. 0 if that holds everywhere, null if the interval of recall reaches
          down to 0

        Examples
        --------
        >>> df = pl.DataFrame({"score": [0.9, 0.8, 0.2, 0.1], "label": [1, 0, 1, 0]})
        >>> needed = df.prc.sample_size(eta=0.5, recall=0.5, fpr=0.5)
        >>> needed.select("criterion", "recall", "fpr", "n_pos_needed", "n_neg_needed").rows()
        [('recall', 0.5, 0.0, None, None), ('fpr', 1.0, 0.5, 14.0, 284.0)]
        >>> counts = pl.DataFrame({"score": [1, 0], "n_pos": [90, 10], "n_neg": [5, 995]})
        >>> test = counts.prc(counts=("n_pos", "n_neg"))
        >>> round(test.sample_size(0.1, solve_for="eta", threshold=1)["eta"].item(), 4)
        0.0831
        """
        from polars_prcurve.core.confidence.sample_sizes import read_size_options
        from polars_prcurve.core.curves.sample_size_tables import (
            build_resolution_table,
            build_sample_size_table,
        )

        extra_arguments: dict[str, Any] = {
            "solve_for": read_choice("solve_for=", solve_for, ("n", "eta"))
        }
        extra_arguments["relative"] = read_flag("relative=", relative)
        extra_arguments["assurance"] = assurance
        question = self._ask("sample_size", words, eta=eta, confidence=confidence, **extra_arguments)
        interval_options = question.require_interval_options()
        table = question.read()
        targets = read_targets(table, at_eta=False, **question.targets)
        if solve_for == "eta":
            bands = FixedBands(interval_options.level, interval_options.rate, "mover")
            sizes_query = build_resolution_table(table.require_example_counts(), targets, delta, bands)
            return self._finish(sizes_query)
        grid = None if eta is None else question.build_exact_grid(table)
        at_eta = eta is not None
        size_options = read_size_options(
            delta,
            interval_options,
            _ASSURANCE if assurance is None else assurance,
            is_relative=relative,
            is_at_eta=at_eta,
        )
        query = build_sample_size_table(table, grid, targets, size_options)
        return self._finish(query, table, grid)

    def subsample_negatives(
        self,
        eta: Eta = None,
        *,
        n_repeats: int = 30,
        seed: int | None = None,
        thresholds: Thresholds = None,
        **words: Unpack[CountWords],
    ) -> pl.DataFrame:
        """Precision in random samples of the negatives; a LazyFrame is collected at the call.

        Test sets are often balanced by leaving negatives out. This method does so `n_repeats` times, at
        random, and returns the precision of the samples and of all negatives, adjusted to the same
        prevalence (Brabec et al. 2020, section 5.1). `subsampled_precision` does so exactly, for one
        threshold.

        Parameters
        ----------
        eta
            As in `curve`, at least the prevalence of the group, since negatives can only be left
            out.
        n_repeats, seed
            The number of samples, and a seed that makes them repeatable.
        thresholds
            As in `sweep`. Without it there is a row wherever recall rises, which may be many rows.

        Returns
        -------
        One row per `by` group, prevalence and threshold, falling:

        - `eta`: Float64, the prevalence in the samples, which hold a whole number of negatives
        - `n_kept`: Int64, the negatives in a sample
        - the columns of `sweep`
        - `precision`: Float64, of all negatives, adjusted to `eta`
        - `mean`, `standard_deviation`, `low`, `q1`, `median`, `q3`, `high`: Float64, of precision in the
          samples, from least to greatest; null where precision is undefined

        Examples
        --------
        >>> counts = pl.DataFrame({"score": [2, 1, 0], "n_pos": [6, 3, 1], "n_neg": [5, 50, 945]})
        >>> samples = counts.prc.subsample_negatives(0.1, seed=1, counts=("n_pos", "n_neg"))
        >>> samples.select("threshold", pl.col("precision", "low", "median", "high").round(3)).rows()
        [(2, 0.93, 0.75, 1.0, 1.0), (1, 0.645, 0.474, 0.643, 0.9), (0, 0.1, 0.1, 0.1, 0.1)]
        """
        from polars_prcurve.core.uncertainty.precision_under_subsampling import build_subsample_table

        question = self._ask("subsample_negatives", words, eta=eta, collects=True)
        table = question.read()
        grid = question.build_exact_grid(table)
        return run_query(
            build_subsample_table(table, grid, n_repeats=n_repeats, seed=seed, thresholds=thresholds)
        )

    def estimate_prevalence(
        self,
        eta_train: float | str | None = None,
        *,
        reference: BoundTable[Any] | pl.DataFrame | pl.LazyFrame | None = None,
        confidence: Confidence = None,
        **words: Unpack[CountWords],
    ) -> pl.DataFrame:
        """Estimate the prevalence of rows without labels; a LazyFrame is collected at the call.

        The estimate is the prevalence of greatest likelihood, if these rows differ from training, or
        from the reference, only in prevalence.

        Parameters
        ----------
        eta_train
            The prevalence at which scores are posteriors, between 0 and 1. EM iterates: their mean is
            the new prevalence (Saerens et al. 2002).
        reference
            A labelled table of the same model, instead of calibration: bound, `prc(frame, ...)`, or a
            frame with the same arguments, and with all, some or none of the `by` columns. This method
            sorts scores into at most ten bins, finds the prevalence at which a mixture of the
            reference's classes fits these rows, and tests whether any prevalence does.
        confidence
            A level, such as 0.95: adds an interval by the likelihood ratio, with the reference's errors.

        Returns
        -------
        One row per `by` group (null first), a frame that you can pass as `eta` to other methods:

        - `eta`: Float64, the estimate
        - with `confidence`, `eta_low`, `eta_high`, `eta_confidence`: Float64, the interval and its level
        - `n`: Int64, rows of the group
        - `shift_p_value`: Float64, p-value of the test that only the prevalence differs. If it is small,
          the estimate and its interval are worthless. Null with `eta_train`, and for two bins, which
          any prevalence fits (a class with fewer than 15 examples, or two scores)
        - `iterations`: Int64, how often the mean was taken; null with `reference`
        - `converged`: Boolean, whether the last step was below 1e-12; near 0 and 1 this is slow

        Examples
        --------
        >>> month = pl.DataFrame({"p": [0.9, 0.8, 0.75, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1, 0.05]})
        >>> estimate = month.prc.estimate_prevalence(eta_train=0.5, score="p")
        >>> estimate.with_columns(pl.col("eta").round(6)).rows()
        [(0.335914, 10, None, 67, True)]
        """
        eta_of_posteriors = check_estimate_method(eta_train, reference)
        question = self._ask(
            "estimate_prevalence",
            words,
            confidence=confidence,
            collects=True,
            eta_train=eta_of_posteriors,
        )
        level = question.level
        table = question.read_unlabelled(are_posteriors=eta_of_posteriors is not None)
        if eta_of_posteriors is not None:
            return run_query(build_estimates_table(table, eta_of_posteriors, level))
        from polars_prcurve.core.sweep.prevalence_by_mixture import build_mixture_table

        if question.is_wide:
            raise PrcError("call estimate_prevalence() once for each score column: reference= takes one")
        reference_rows, reference_columns = read_reference_columns(reference, question.columns)
        reference_table = read_reference(reference_rows, reference_columns)
        return run_query(build_mixture_table(table, reference_table, level))

    def reweight(
        self,
        eta: Field | None = None,
        *,
        plan: pl.DataFrame | pl.LazyFrame | None = None,
        name: str = "weight",
        **words: Unpack[WeightWords],
    ) -> F:
        """Add weights with which rows represent the parts of a field, or the strata of a plan.

        Pass `weight="weight"` on to another method, and leave `eta` out: the weighted table has the
        prevalence of all parts, or with a plan of all rows. With a plan also pass `stratum="stratum"`:
        intervals are then for labels drawn by strata.

        Parameters
        ----------
        eta
            `field(frame, parts=...)`, whose parts get their prevalences and their shares. Each part of
            the table needs a row in the frame, and each part with a share above 0 needs rows, of both
            classes unless its eta is 0 or 1 or null.
        plan
            Instead of `eta`, the table of `sampling_plan`, of these rows, before the last labels or
            after them: its columns `stratum`, `score_low`, `score_high` and `n`. A LazyFrame is
            collected. A score in no stratum raises an error, as does a stratum without a label, or with
            more labels than rows.
        label
            With `plan`, a null label means that a row has none; such rows are left out.
        name
            The name of the new column.

        Returns
        -------
        The rows of the table, in their order, with `missing="drop"` only complete ones, and with `plan`
        only those with a label:

        - the other columns of the table
        - with `plan`, `stratum`: Int64, the stratum of the score
        - a column `name`: Float64; the weights of a `by` group sum to the number of its rows. With
          `plan`, the rows of the stratum, `n`, divided by its labels in this table

        Examples
        --------
        >>> from polars_prcurve import field
        >>> df = pl.DataFrame({"country": ["de", "de", "fr", "fr"], "label": [1, 0, 1, 0]})
        >>> markets = pl.DataFrame({"country": ["de", "fr"], "eta": [0.5, 0.1], "share": [1, 3]})
        >>> df.prc.reweight(eta=field(markets, parts="country"))["weight"].round(3).to_list()
        [0.5, 0.5, 0.3, 2.7]

        Labels that were drawn by a plan represent the rows of their stratum:

        >>> labels = [k % 7 == 0 or k > 900 if k % 10 == 0 else None for k in range(1000)]
        >>> df = pl.DataFrame({"score": [k / 1000 for k in range(1000)], "label": labels})
        >>> rows = df.prc.reweight(plan=df.prc.sampling_plan(0.8, budget=100, strata=4))
        >>> rows.head(2).rows()
        [(0.0, True, 4, 10.0), (0.01, False, 4, 10.0)]
        >>> drawn = rows.prc(weight="weight", stratum="stratum")
        >>> points = drawn.operating_points(0.1, threshold=0.8, metrics="precision", confidence=0.95)
        >>> points.select(pl.col("precision", "precision_low", "precision_high").round(3)).row(0)
        (0.283, 0.156, 0.436)
        """
        if (eta is None) == (plan is None):
            raise PrcError(
                "pass either eta=field(frame, parts=...) or plan=, the table of sampling_plan()"
            )
        if plan is not None:
            return self._weigh_sample(plan, name, words)
        if not isinstance(eta, Field):
            raise refuse_kind("eta=", "field(frame, parts=...), the parts with their shares", eta)
        # Weights need no scores. Of those passed, which may be of several models, no value may be
        # missing.
        score_names = words.get("score", self._words.get("score"))
        question = self._ask("reweight", {**words, "score": None}, eta=eta)
        table, parts = read_parts(self._frame, question.columns._replace(score=score_names))
        eta_of_parts = question.eta.find_etas(question.level)
        return self._finish(build_reweighted_table(table, parts, eta_of_parts, name=name))

    def _weigh_sample(self, plan_frame: Any, weight_name: str, call_arguments: Any) -> F:
        """Return the labelled rows, with their stratum of a plan and with what they represent."""
        from polars_prcurve.core.curves.sampling_plan import build_weighed_sample, read_strata

        plan_frame = take_frame(plan_frame)
        if not isinstance(plan_frame, pl.DataFrame | pl.LazyFrame):
            raise refuse_kind("plan=", "the table of sampling_plan()", plan_frame)
        input_columns = self._ask("reweight", call_arguments, plan=plan_frame).columns
        reader = ColumnReader(self._frame, input_columns.missing, may_collect=False)
        score_column = reader.read_column("score", input_columns.score)
        label_column = reader.read_column("label", input_columns.label)
        SCORE_DTYPES.require(score_column.subject_phrase, score_column.dtype)
        strata_frame = read_strata(
            plan_frame if isinstance(plan_frame, pl.DataFrame) else run_query(plan_frame),
            score_column.dtype,
        )
        is_dropping = reader.drops_incomplete
        query = build_weighed_sample(
            reader.input_rows,
            score_column,
            label_column,
            strata_frame,
            weight_name=weight_name,
            drops_missing=is_dropping,
        )
        return self._finish(query)

    def sampling_plan(
        self, threshold: Any, *, budget: int, strata: int = 7, **words: Unpack[ScoreWords]
    ) -> pl.DataFrame:
        """Plan how many rows to label next, at which scores; a LazyFrame is collected at the call.

        The plan allocates labels so that the interval of precision at the threshold is narrowest, at any
        prevalence (Neyman 1934), with some below it, because positives may be there. Draw `n_next` rows
        at random in each stratum, label them, and plan again; then `reweight` adds the weights of the
        labels.

        Parameters
        ----------
        threshold
            The threshold of the precision, with scores on both sides of it.
        budget
            How many rows to label next. A first plan, without any labels, shares it equally: 50 per
            stratum will do. Later each stratum has 50 labels before others get more.
        strata
            The number of ranges into which scores are cut, half of them above the threshold; the nearest
            have the fewest rows. With the same rows and threshold they do not change.
        label
            A null label means that a row has none yet; `label=None`, that no row has. Labelled rows must
            be drawn at random within each stratum.

        Returns
        -------
        One row per stratum, from the highest scores down:

        - `stratum`: Int64, from 1, the highest scores
        - `score_low`, `score_high`: as in the table, the least and the greatest score of a stratum
        - `n`, `n_labelled`: Int64, its rows and those with a label
        - `positive_share`: Float64, of its labels, with half a label added to each class
        - `n_next`: Int64, rows to label next; they sum to `budget`, or to the rows without a label
        - `weight`: Float64, n / (n_labelled + n_next), for the labelled rows; null if there are none

        Examples
        --------
        >>> labels = [k % 7 == 0 or k > 900 if k % 10 == 0 else None for k in range(1000)]
        >>> df = pl.DataFrame({"score": [k / 1000 for k in range(1000)], "label": labels})
        >>> plan = df.prc.sampling_plan(0.8, budget=100, strata=4)
        >>> plan.select("stratum", "score_low", "n", "n_next").rows()
        [(1, 0.85, 150, 32), (2, 0.8, 50, 42), (3, 0.6, 200, 26), (4, 0.0, 600, 0)]
        """
        from polars_prcurve.core.curves.sampling_plan import build_sampling_plan

        input_columns = self._ask("sampling_plan", words).columns
        table, labelled_table = read_part_labelled(self._frame, input_columns)
        return run_query(
            build_sampling_plan(
                table, labelled_table, threshold=threshold, budget=budget, n_strata=strata
            )
        )
