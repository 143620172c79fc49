"""Cases: one group at one prevalence, its models in order, and what is decided there.

rows of evidence -> cases   models that meet the targets first, the best of them first
                 -> status  the first one that holds, and the models that it names, see `_judge_one`
                 -> met     whether these meet the demand, if there is one
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polars_prcurve.core.confidence.doubts import DOUBT
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.core.confidence.interval_input_columns import ETA_HIGH, ETA_LOW
from polars_prcurve.core.ground.message_text import name_groups
from polars_prcurve.core.judging.candidate import Candidate
from polars_prcurve.core.judging.decision_request import DecisionRequest
from polars_prcurve.core.judging.evidence import Evidence
from polars_prcurve.core.judging.evidence_columns import EvidenceColumn
from polars_prcurve.core.judging.goal import Goal
from polars_prcurve.core.judging.status_names import GroupStanding, Outcome, Status, combine_met
from polars_prcurve.core.metrics.segment_column_names import CELLS
from polars_prcurve.core.sweep.sweep_column_names import FIELD_COLUMNS

LEAST_OF_CLASS = 10  # examples of a class below which nothing is decided
_USEFUL_ODDS = 2.0  # how many times the odds of chance those of useful alerts are, at least
_LEAST_GROUPS = 2  # groups of a mean, below which it has no error


@dataclass(frozen=True)
class Case:
    """One group at one prevalence, and what is decided there."""

    key_values: Mapping[str, Any]  # the values of its group, of `eta`, and of what an eta frame carries
    goal: Goal
    candidates: Sequence[Candidate]  # all models: those that meet the targets first, the best first
    n_pos: float
    n_neg: float
    size_by_weight: Mapping[str, float]
    """As how many examples of equal weight those of each class count; empty without weights."""
    per: float
    compares_intervals: bool
    """Whether models are compared by their intervals, each of which is of one model."""
    standing: GroupStanding | None  # how its group compares with all others; None if that is not tested
    etas_of_table: tuple[float | None, ...]  # the prevalences of all cases, of which texts differ
    is_only_one_of_group: bool  # whether its group has no other case, so that it names the case

    @property
    def groups(self) -> dict[str, Any]:
        """The values of its group by their columns, without `eta` and what comes with it."""
        key_columns = [*self.key_values]
        return {column: self.key_values[column] for column in key_columns[: key_columns.index("eta")]}

    @property
    def eta_limits(self) -> tuple[float | None, float | None]:
        """Both ends of the interval of a prevalence that is an estimate; otherwise None and None."""
        key_columns = [*self.key_values]
        if ETA_LOW not in key_columns[key_columns.index("eta") :]:  # a group column may have that name
            return None, None
        return self.key_values[ETA_LOW], self.key_values[ETA_HIGH]

    @property
    def has_estimated_eta(self) -> bool:
        """Whether the prevalence is an estimate with an interval."""
        return self.eta_limits[0] is not None

    @property
    def eta(self) -> float | None:
        """The prevalence; None if there are no examples to count it from."""
        return self.key_values["eta"]  # type: ignore[no-any-return]

    @property
    def sizes(self) -> dict[str, float]:
        """The number of examples of each class; of a mean, of its groups, by what they are called."""
        if not self.goal.mean_over:
            return {"positives": self.n_pos, "negatives": self.n_neg}
        n_groups = min(candidate.row["n_groups"] for candidate in self.candidates)
        return {name_groups(self.goal.mean_over)[1]: n_groups}

    @property
    def n_groups_left_out(self) -> int:
        """How many groups a mean is not over, because a model has no value there."""
        [n_groups] = self.sizes.values()
        return int(self.candidates[0].row[EvidenceColumn.N_ALL_GROUPS] - n_groups)

    @property
    def overweight_class(self) -> str | None:
        """The class of which a few rows have nearly all the weight, so that few count; or None."""
        class_size, class_name = min(
            ((class_size, class_name) for class_name, class_size in self.size_by_weight.items()),
            default=(math.inf, None),
        )
        return class_name if class_size < LEAST_OF_CLASS <= min(self.sizes.values()) else None

    @property
    def chance_precision(self) -> float:
        """What precision, or the mean by which models are judged, is of random scores."""
        precision_by_chance = (
            self.candidates[0].row[EvidenceColumn.BY_CHANCE] if self.goal.mean_over else self.eta
        )
        return precision_by_chance or 0.0

    @property
    def useful_precision(self) -> float:
        """The least precision of a useful model: at it a positive is flagged twice as often."""
        chance_precision = self.chance_precision
        return _USEFUL_ODDS * chance_precision / (1 + (_USEFUL_ODDS - 1) * chance_precision)

    @property
    def is_reversed(self) -> bool:
        """Whether the scores of all models significantly rank negatives above positives."""
        return bool(self.candidates) and all(candidate.is_reversed for candidate in self.candidates)

    def find_candidate(self, model_name: Any) -> Candidate | None:
        """Return a model by its name; None if the case does not have it."""
        return next((candidate for candidate in self.candidates if candidate.model == model_name), None)

    @property
    def qualifiers(self) -> list[Candidate]:
        """The models that keep all targets, the best first."""
        return [candidate for candidate in self.candidates if candidate.meets_targets]

    @property
    def n_hits(self) -> int:
        """The number of positives that the best model finds, each of which counts as one."""
        return round((self.qualifiers[0].row.get("recall") or 0.0) * self.n_pos)

    @property
    def near_misses(self) -> list[Candidate]:
        """The models that miss the targets in this test, and may be the best nevertheless."""
        # Chance decides which of two equal models just meets a target. A model that meets none of the
        # targets by itself has no place in a ranking: its precision at half of the positives decides.
        # A demand is different: who does not meet it is not compared.
        if not self.qualifiers or self.goal.demand:
            return []
        return [
            candidate
            for candidate in self.candidates
            if not candidate.meets_targets
            and candidate.may_be_best
            and (
                candidate.row.get("may_be_best") is not None
                or not candidate.is_surely_below(self.qualifiers[0])
            )
        ]

    @property
    def rivals(self) -> list[Candidate]:
        """The models that keep all targets and may be best: all, if at each target another one is."""
        return [candidate for candidate in self.qualifiers if candidate.may_be_best] or self.qualifiers

    @property
    def has_equal_rivals(self) -> bool:
        """Whether the first two models that may be best have the same numbers, so rank alike, it seems.

        Models that separate both classes have them, too, in whatever order.
        """
        if self.goal.mean_over or len(self.rivals) < 2:
            return False
        area, *other_areas = (rival.row[EvidenceColumn.AREA] for rival in self.rivals[:2])
        cell_counts = {tuple(rival.row.get(name) for name in CELLS) for rival in self.rivals[:2]}
        return area is not None and area < 1 and other_areas == [area] and len(cell_counts) == 1

    @property
    def leaders(self) -> list[Candidate]:
        """The models to show side by side: the first, and the next that may be the best, or is."""
        first_candidate, *other_candidates = self.qualifiers or self.candidates
        rivals = [other_candidate for other_candidate in other_candidates if other_candidate.may_be_best]
        return [first_candidate, *(rivals or other_candidates)[:1]]

    @property
    def lead(self) -> Estimate:
        """How far the first model is ahead of the best of all others, and the interval of that.

        Of several others each may be the best, so the interval is not that of any pair.
        """
        row = (self.qualifiers or self.candidates)[0].row
        behind, behind_low, behind_high = (
            row.get(f"behind{suffix}") for suffix in ("", "_high", "_low")
        )
        return Estimate(
            *(
                None if behind_limit is None else -behind_limit
                for behind_limit in (behind, behind_low, behind_high)
            )
        )

    @property
    def doubt_of_lead(self) -> str | None:
        """Why an interval of the lead above 0 does not decide between models that may be best."""
        rivals, (lead_low, _) = self.rivals, self.lead.span or (0.0, 0.0)
        if lead_low <= 0 or not any(rival.may_be_best for rival in rivals[1:]):
            return None
        doubts = (rival.row.get(EvidenceColumn.LEAD_DOUBT) for rival in rivals)
        return next((doubt for doubt in doubts if doubt), None)

    @property
    def width(self) -> float:
        """The width of the widest interval by which its models are judged; infinite if one has none."""
        merit_estimates = [candidate.merit for candidate in self.rivals or self.candidates]
        widths = (
            merit_estimate.high - merit_estimate.low if merit_estimate.span else math.inf
            for merit_estimate in merit_estimates
        )
        return max(widths, default=math.inf)

    @property
    def status(self) -> Status:
        """The first status that holds."""
        return self._judgement[0]

    @property
    def finalists(self) -> list[Candidate]:
        """The models that the status is about: the one to use, or all that may be best; or none."""
        return self._judgement[1]

    @cached_property
    def _judgement(self) -> tuple[Status, list[Candidate]]:
        """The first status that holds, and the models that it is about."""
        least_size = _LEAST_GROUPS if self.goal.mean_over else LEAST_OF_CLASS
        if min(self.sizes.values()) < least_size or self.overweight_class is not None:
            return "too_little_data", []
        if all(candidate.may_be_chance for candidate in self.candidates):
            return "chance" if self._rules_out_use() else "too_little_data", []
        if len(self.candidates) == 1:
            return self._judge_one(self.candidates[0]), [*self.candidates]
        if not self.qualifiers:
            return self._judge_without_row(), []
        return self._compare()

    def _compare(self) -> tuple[Status, list[Candidate]]:
        """Return the status of a case of several models, of which some have a row."""
        if self.goal.demand and len(self.qualifiers) == 1:
            return "met", self.qualifiers
        best_candidate, *other_rivals = self.rivals
        has_no_rival = not other_rivals and not self.near_misses and not best_candidate.may_be_chance
        # One model is the winner if no other one may be best, even where its interval is not reliable:
        # a test of the difference has a rule of its own, and a model without a false positive never has
        # a reliable interval.
        says_little = all(candidate.says_little for candidate in self.rivals)
        if has_no_rival and (len(self.qualifiers) > 1 or not says_little):
            return "winner", self.rivals
        if says_little:
            return "too_little_data", []
        return "no_winner", [*self.rivals, *self.near_misses]

    def _rules_out_use(self) -> bool:
        """Return whether more data cannot help: no interval, at half of the positives, allows a use."""
        if min(self.sizes.values()) < LEAST_OF_CLASS:  # a mean over groups as few is in doubt
            return False
        highest_precisions = [candidate.precision_at_half.high for candidate in self.candidates]
        return all(
            precision_high is not None and precision_high < self.useful_precision
            for precision_high in highest_precisions
        )

    def _judge_without_row(self) -> Status:
        """Return the status of a case in which no threshold of any model meets the targets."""
        # Such as a budget, without an alert.
        is_demand_open = self.goal.is_gate and self.candidates[0].meets_demand is None
        if self.lacks_threshold or is_demand_open:
            return "unsure"
        if self.goal.is_at_threshold or self.goal.is_of_point:  # no score reaches it
            return "not_met"
        return (
            "unsure" if any(candidate.may_meet_targets for candidate in self.candidates) else "not_met"
        )

    def _judge_one(self, candidate: Candidate) -> Status:
        """Return the status of a case of one model that may be better than chance."""
        if not candidate.meets_targets and not candidate.meets_demand:
            return self._judge_without_row()
        if candidate.meets_demand is not None:
            return "met" if candidate.meets_demand else "not_met"
        if candidate.says_little:
            return "too_little_data"
        return "unsure" if self.goal.demand else "measured"

    @property
    def met(self) -> bool | None:
        """Whether the models that are named, or all, meet the demand; None if that is open."""
        if self.status == "too_little_data":
            return None
        candidates = self.finalists or self.candidates
        if not self.finalists and len({candidate.meets_demand for candidate in candidates}) > 1:
            return None  # some models meet it, and none is named
        return combine_met(candidate.meets_demand for candidate in candidates)

    @property
    def models(self) -> tuple[Any, ...]:
        """The models that the status is about; a table without models has none."""
        model_names = (candidate.model for candidate in self.finalists)
        return tuple(model_name for model_name in model_names if model_name is not None)

    @property
    def outcome(self) -> Outcome:
        """How its group stands beside all others where that is tested, and otherwise its status."""
        return self.status if self.status == "too_little_data" or not self.standing else self.standing

    @property
    def is_group_tested(self) -> bool:
        """Whether its group is compared with all others together."""
        return self.outcome in ("worse", "open", "better")

    @property
    def is_group_apart(self) -> bool:
        """Whether its group is tested, and unlike all others together."""
        return self.outcome in ("worse", "better")

    @property
    def clear_misses(self) -> list[Candidate]:
        """The models without a threshold within the targets, where others have one, and no rivals."""
        rival_misses = self.near_misses if self.status == "no_winner" else []
        unqualified_candidates = [
            candidate for candidate in self.candidates if not candidate.meets_targets
        ]
        if not self.qualifiers:
            return []
        return [candidate for candidate in unqualified_candidates if candidate not in rival_misses]

    @property
    def models_of_few_scores(self) -> list[Candidate]:
        """The models with so few distinct scores that these may be decisions, and not few examples."""
        if min(self.n_pos, self.n_neg) < LEAST_OF_CLASS:
            return []
        return [
            candidate for candidate in self.candidates if candidate.row.get(EvidenceColumn.FEW_SCORES)
        ]

    @property
    def lacks_threshold(self) -> bool:
        """Whether a threshold was to be passed for its only model, and was not."""
        return len(self.candidates) == 1 and self.candidates[0].lacks_threshold

    @property
    def lacks_scores(self) -> bool:
        """Whether no row has a score, of any model."""
        rows = (candidate.row for candidate in self.candidates)
        return not self.goal.mean_over and all(row[EvidenceColumn.HAS_SCORES] is None for row in rows)

    @property
    def flags_all(self) -> bool:
        """Whether its only point flags all examples, so that its precision is the prevalence."""
        row = self.candidates[0].row
        return self.goal.is_of_point and row["recall"] == row["fpr"] == 1

    @property
    def has_one_score(self) -> bool:
        """Whether the only model gives all examples the same score."""
        return len(self.candidates) == 1 and any(
            len(candidate.row[EvidenceColumn.FEW_SCORES]) == 1 for candidate in self.models_of_few_scores
        )

    @property
    def interval_doubts(self) -> list[str]:
        """Why intervals of the models that may be best may be too narrow: which examples are few."""
        doubtful_rivals = [
            rival
            for rival in self.rivals
            if rival.row[DOUBT]
            and rival.merit.span is not None
            and not rival.is_of_alerts  # none could be missed
        ]
        return sorted({*map(self._describe_doubt, doubtful_rivals)} - {"recall below fpr"})

    def _describe_doubt(self, candidate: Candidate) -> str:
        """Return the doubt of a model; of a large class, the side of the threshold that has few."""
        doubt, row = str(candidate.row[DOUBT]), candidate.row
        class_size, rate, unflagged_word = {
            "few positives": (self.n_pos, row.get("recall"), "missed"),
            "few negatives": (self.n_neg, row.get("fpr"), "unflagged"),
        }.get(doubt, (0.0, None, ""))
        # Of fewer than twice as many, each side would have too few at any threshold.
        if rate is None or self.goal.is_of_curve or class_size < 2 * LEAST_OF_CLASS:
            return doubt
        return doubt.replace("few", f"few {unflagged_word if rate > 0.5 else 'flagged'}")


def list_cases(
    evidence: Evidence, request: DecisionRequest, standings: Iterable[GroupStanding | None]
) -> list[Case]:
    """Return the cases in the order of the evidence, or of prevalences as they were listed."""
    goal, model_column, key_columns = request.goal, request.model, evidence.keys
    n_group_columns = key_columns.index("eta")
    sizes_by_group = _find_sizes(evidence)
    candidates_by_case: dict[tuple[Any, ...], list[Candidate]] = {}
    for row in evidence.rows.iter_rows(named=True):
        candidate = Candidate(None if model_column is None else row[model_column], row, goal)
        candidates_by_case.setdefault(tuple(row[column] for column in key_columns), []).append(candidate)
    etas = request.eta if isinstance(request.eta, list | tuple) else ()
    position_by_eta = {eta: position for position, eta in enumerate(etas)}
    etas_of_table = tuple(dict.fromkeys(key[n_group_columns] for key in candidates_by_case))
    n_cases_by_group = Counter(key[:n_group_columns] for key in candidates_by_case)
    cases = []
    for (case_values, candidates), standing in zip(candidates_by_case.items(), standings, strict=False):
        n_pos, n_neg, size_by_weight = sizes_by_group.get(case_values[:n_group_columns], (0, 0, {}))
        cases.append(
            Case(
                key_values=dict(zip(key_columns, case_values, strict=True)),
                goal=goal,
                candidates=sorted(candidates, key=_rank_candidate),
                n_pos=n_pos,
                n_neg=n_neg,
                size_by_weight=size_by_weight,
                per=evidence.per,
                compares_intervals=request.compares_intervals,
                standing=standing,
                etas_of_table=etas_of_table,
                is_only_one_of_group=n_cases_by_group[case_values[:n_group_columns]] == 1,
            )
        )
    return sorted(cases, key=lambda case: position_by_eta.get(case.eta, 0))


def _find_sizes(evidence: Evidence) -> dict[tuple[Any, ...], tuple[float, float, dict[str, float]]]:
    """Return the positives and negatives of each group, and as how many these count by their weights.

    Of models with a sample each they are the fewest.
    """
    sizes_by_group: dict[tuple[Any, ...], tuple[float, float, dict[str, float]]] = {}
    for row in evidence.sizes.iter_rows(named=True):
        group_values = tuple(row[column] for column in evidence.group_columns)
        sizes_of_model = row["n_pos"] or 0, row["n_neg"] or 0
        n_pos, n_neg, size_by_weight = sizes_by_group.get(group_values, (*sizes_of_model, {}))
        for class_name, column in zip(("positives", "negatives"), FIELD_COLUMNS[:2], strict=True):
            if (weighed_size := row.get(column)) is not None:
                size_by_weight[class_name] = min(
                    weighed_size, size_by_weight.get(class_name, weighed_size)
                )
        sizes = min(n_pos, sizes_of_model[0]), min(n_neg, sizes_of_model[1])
        sizes_by_group[group_values] = *sizes, size_by_weight
    return sizes_by_group


def _rank_candidate(candidate: Candidate) -> tuple[int, float]:
    """Return what sorts models that meet the targets first, and then by merit; ties stay in order."""
    return (0, -candidate.value * candidate.goal.sign) if candidate.meets_targets else (1, 0.0)
