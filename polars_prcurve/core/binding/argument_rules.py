"""Which words of a call do not go together.

The rules are data, checked once for each call, before its table is read, and listed in the docs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from polars_prcurve.core.binding.eta_argument import EtaArgument
from polars_prcurve.core.binding.shared_arguments import TABLE_WORDS
from polars_prcurve.core.confidence.interval_options import Intervals
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import join_words, list_names
from polars_prcurve.core.inputs.column_reader import InputColumns
from polars_prcurve.core.inputs.never_scored import tells_negatives
from polars_prcurve.core.inputs.table_reader import gives_squares
from polars_prcurve.core.metrics.target_kinds import ALERT_WORDS, RUN_WORDS, TARGET_KINDS

DEFAULTS: dict[str, Any] = {
    name: default
    for name, default in InputColumns._field_defaults.items()
    if name in TABLE_WORDS and default is not None
}
"""What a word of the table is where nobody passes it; None for all others."""

RIVALS = (("label", "pos_label", "weight", "stratum"), ("counts",), ("rates", "sizes"), ("cells",))
"""Words that define the examples in different ways: those of one row hold, not of two."""

PASSED_OVER = ("id", "cluster", "stratum")
"""Bound words that cannot change an answer for which a method has no use for them."""

USES: dict[str, frozenset[str]] = {}
"""The words of the table that each method of `.prc` reads, as its signature lists them.

`BoundTable` adds them where a class of methods is made."""

INTERVALS: dict[str, tuple[str, ...]] = {
    "curve": ("analytic", "rectangle"),
    "operating_points": ("analytic", "rectangle", "bootstrap"),
    "summary": ("analytic", "bootstrap"),
    "compare": ("analytic", "bootstrap"),
    "ranking": ("analytic", "bootstrap"),
}
"""The kinds of intervals that a method has; others have the analytic ones. "rectangle" represents those
of point metrics, which may be simultaneous, too."""
TAKES_RATES = {"curve", "operating_points", "sample_size"}
"""Methods whose intervals come from those of recall and of fpr, of which callers choose the kind."""

COMPARES_MODELS = {"compare", "ranking", "crossings", "decide", "report"}
"""Methods that distinguish models; for others a model is one more group."""
_DECIDES = ("decide", "report")  # methods that give verdicts
TAKES_ONE_MODEL = {*_DECIDES}
"""Those of them that a table without a column of models serves, too."""


# What does not go together: facts, why, and what to do instead ----------------------------------


class Rule(NamedTuple):
    """Facts that do not go together."""

    facts: tuple[str, ...]
    """All that a refused call passes, as `list_facts` writes it; the first is in the way."""
    sentence: str
    """Why, and what to do; `{method}` represents the method, and `{fact}` the last fact."""
    methods: tuple[str, ...] = ()
    """The methods that have the rule; all of them if none is named."""
    unless: tuple[str, ...] = ()
    """A call of which one of these facts holds is not refused."""
    passes_over: bool = False
    """Whether the first word is passed over where it was bound, and not passed in the call."""

    def applies(self, method_name: str, call_facts: set[str]) -> bool:
        """Return whether a call of a method with these facts is refused."""
        if self.methods and method_name not in self.methods:
            return False
        return call_facts.issuperset(self.facts) and call_facts.isdisjoint(self.unless)

    def write(self, method_name: str) -> str:
        """Return the sentence that refuses a call of a method."""
        return self.sentence.replace("{method}", method_name).replace("{fact}", self.facts[-1])


def _pair(fact: str, other_facts: Iterable[str], sentence: str, *methods: str) -> tuple[Rule, ...]:
    """Return a rule for one fact beside each of the `other_facts`."""
    return tuple(Rule((fact, other_fact), sentence, methods) for other_fact in other_facts)


def _to_facts(words: Iterable[str]) -> tuple[str, ...]:
    """Return words as rules write that a call has them."""
    return tuple(f"{word}=" for word in words)


_FIELDS = ("curve", "operating_points", "summary", "decision_curve")
"""Methods whose eta= may be a field."""
_NO_FIELDS = ("compare", "ranking", "sample_size", "subsample_negatives")
"""Methods that have an eta=, and no formula for a field."""
_NO_SCORES = (*_NO_FIELDS, "decision_curve", "reweight")
"""Methods that have an eta=, and no formula for one that is estimated with the table itself."""
_SCORES = ("curve", "operating_points", "summary", *_DECIDES)
"""Methods whose eta= may be such an estimate."""
_NO_FORMULA = (  # why a method of _NO_FIELDS refuses a field, or a mix of classes
    "add weights with .prc.{way}, pass weight=, and leave out eta=: {method}() has no formula for {fact}"
)
_NO_ID = "leave out id=, or pass confidence= and labels: otherwise id= has no effect in ranking()"
_BANDS = ("curve", "operating_points")
"""Methods whose intervals are of point metrics."""

_NULL_BELOW = 'missing="below"'  # a fact: rows without a score lie below all scores
_UNKNOWN = "negatives are not counted"  # a fact: of those that were never scored
_BOTH_NUMBERS = "pass the numbers of both classes as below="
_COUNTS_ALL = ("counts", "crossings")
"""Methods that count all negatives; others also work where these are unknown."""
_COUNTING_TARGETS = [word for word, kind in TARGET_KINDS.items() if kind.needs_negatives]
"""Targets of which the number of negatives that are not flagged decides whether they are met."""
_RATE_TARGETS = [word for word, kind in TARGET_KINDS.items() if not kind.metric.depends_on_eta]
"""Targets that fix a threshold for all prevalences."""
_READS_BELOW = "below= is read"
"""What holds for a method, and is not passed in a call."""

RULES = (
    # Which examples there are.
    *_pair("label=None", ("pos_label=", "weight=", "counts="),
           "leave out {fact}: label=None counts rows", "counts"),
    Rule(("score=", "rates="), "leave out score=: rates= replaces score= and label=",
         passes_over=True),
    *(Rule((f"{word}=", "eta_train="),
           f"leave out {word}=, or pass reference=, whose labels it describes",
           ("estimate_prevalence",), unless=("score={...}",), passes_over=True)
      for word in ("label", "pos_label")),
    Rule(("id=", "paired=False"),
         "leave out id= with paired=False: id= matches examples that models share", passes_over=True),
    Rule(("id=",), _NO_ID, ("ranking",), unless=("confidence=",), passes_over=True),
    *(Rule(("id=", points), _NO_ID, ("ranking",)) for points in ("counts=", "rates=", "cells=")),
    # Examples that were never scored.
    Rule((_NULL_BELOW,), 'filter out rows without a score, or pass missing="drop": {method}() needs '
         "a score in each row", unless=(_READS_BELOW,)),
    *(rule for unscored in ("below=", _NULL_BELOW) for rule in (
        *_pair(unscored, ("label=None", "rates=", "cells=", "weights", "cluster=", "stratum=", "field()",
                          "class_mix()", "eta= of scores", "smooth=", 'method="bootstrap"'),
               f"leave out {{fact}}, or {unscored}: examples that were never scored cannot be "
               "combined with it"),
    )),
    Rule((_UNKNOWN,), f"{_BOTH_NUMBERS}: {_UNKNOWN}, and {{method}}() needs their number", _COUNTS_ALL),
    Rule((_UNKNOWN,), f'pass mean_over=, such as mean_over="query", or {_BOTH_NUMBERS[5:]}: {_UNKNOWN}, '
         "and a decision on each query needs their number", _DECIDES, unless=("mean_over=",)),
    Rule((_UNKNOWN, "eta="), f"{_BOTH_NUMBERS}, or leave out eta=: {_UNKNOWN}, and eta= needs their "
         "number; charts by prevalence take eta=[None]"),
    *_pair(_UNKNOWN, (*_to_facts(_COUNTING_TARGETS), "per=", "match=", "simultaneous=True"),
           f"{_BOTH_NUMBERS}, or leave {{fact}} out: {_UNKNOWN}, and {{fact}} needs their number"),
    *(Rule((_UNKNOWN, "guarantee=", target), f"{_BOTH_NUMBERS}, or leave out guarantee=: {_UNKNOWN}, "
           f"and guarantee= with {target} needs their number")
      for target in _to_facts(word for word in RUN_WORDS if word not in _COUNTING_TARGETS)),
    # Where the model runs.
    Rule(("class_mix()",), "pass score= as a mapping, a column for each class, "
         '{"cat": "p_cat", ...}: class_mix() needs one score per class', unless=("score={...}",)),
    Rule(("class_mix()",), _NO_FORMULA.replace("{way}", "unpivot_scores(mix=...)"), _NO_FIELDS),
    Rule(("field()",), _NO_FORMULA.replace("{way}", "reweight(eta=field(...))"), _NO_FIELDS),
    *_pair("field()", ("weight=", "rates=", "cells="),
           "leave out {fact}: eta=field(...) sets the weights itself", *_FIELDS, *_DECIDES),
    Rule(("field()", "counts of weights"), "leave out the squares of counts=: a field needs numbers of "
         "examples, not sums of weights", _FIELDS),
    Rule(("field()", "eta_train="), "leave out eta_train=: a field takes posteriors as they stand"),
    Rule(("field()", 'method="bootstrap"'), 'leave out method= with field(): method="bootstrap" draws '
         "examples, not the parts of a field", _FIELDS),
    *_pair("field()", ('method="rectangle"', "simultaneous=True"), "leave out {fact}: eta=field(...) "
           "has only the default interval"),
    Rule(("eta= of scores",), "pass month.estimate_prevalence(reference=...)['eta'], one number or one "
         "per group: {method}() has no formula for an eta that is estimated with the table itself",
         _NO_SCORES),
    *_pair("eta= of scores", ("weights", "rates=", "cells=", "cluster="), "leave out {fact}: estimating "
           "eta= with this table needs independent, equally weighted examples", *_SCORES),
    *_pair("eta= of scores", ('method="bootstrap"', 'method="rectangle"', "simultaneous=True"),
           "leave out {fact}: only the default intervals allow for the error of an estimated eta",
           *_SCORES),
    # Which threshold.
    Rule(("guarantee=", "threshold="), "pass confidence= instead of guarantee=: threshold= "
         "fixes the threshold, and confidence= gives intervals for its metrics"),
    Rule(("guarantee=", "cluster=", "weights"), "leave out weight= if the rows are no sample, or "
         "make each cluster one example, such as each patient's highest score: guarantee= takes "
         "clusters or weights, not both", ("operating_points",)),
    *(Rule(("guarantee=", target, of), "leave out guarantee=, and pass confidence= for the interval of "
           f"the alerts: guarantee= of {target} needs independent, equally weighted examples",
           ("operating_points",))
      for target in _to_facts(reversed(ALERT_WORDS)) for of in ("cluster=", "weights")),
    *_pair("guarantee=", ("rates=", "cells="), "leave out guarantee=: it needs every distinct score, "
           "and {fact} holds only some thresholds"),
    Rule(("start=",), "pass guarantee= as well: start= is where the tests of a guarantee start",
         unless=("guarantee=",)),
    Rule(("start=", "together="), "leave out start=: with together= each target has its own start"),
    Rule(("start=",), f"leave out start=: only {join_words(_to_facts(RUN_WORDS))} have a start",
         unless=_to_facts(RUN_WORDS)),
    *_pair("together=", ("threshold=", "maximize="), "leave out {fact}: together= finds one "
           "threshold for several targets, and {fact} sets a threshold by itself"),
    *_pair('of="roc"', ("metric=", "threshold=", *_to_facts(_RATE_TARGETS), "eta_range="),
           'leave out {fact}: of="roc" compares the curves themselves'),
    *_pair('solve_for="eta"', ("eta=", "relative=", "assurance="), "leave out {fact}: "
           'solve_for="eta" looks for the prevalence at which these examples are enough'),
    *_pair("plan=", ("by=", "model=", "pos_label=", "weight="), "leave out {fact}: plan= already "
           "gives the weights, for the whole table"),
    Rule(("match=",), "pass other=, a table of one point: match= sets the threshold that has the "
         "recall or fpr of that point", unless=("other=",)),
    Rule(("other=",), 'pass match="recall" or match="fpr" with other=; for two tables of scores, '
         "stack them, and pass model= and paired=False",
         unless=("match=",)),
    *_pair("match=", ("threshold=", *_to_facts(TARGET_KINDS), "adjust="),
           "leave out {fact}: match= sets the threshold"),
    Rule(("match=", 'method="bootstrap"'), "leave out {fact}: match= has its own interval"),
    *_pair("match=", ("weights", "cluster="), "leave out {fact}: match= needs independent, equally "
           "weighted examples"),
    # Means over groups.
    *_pair("mean_over=", ("weights", "cluster=", "stratum=", 'method="bootstrap"', "field()",
                          "eta= of scores", "coarse=", "worst=", "other=", "paired=False"),
           "leave out {fact}: mean_over= takes its interval from the variation between groups alone"),
    Rule(("mean_over=", "class_mix()"), "leave out mean_over=, and average the rows: "
         '.group_by("metric").agg(pl.col("value").mean())'),
    *_pair("mean_over=", ("threshold=", "maximize=", "guarantee=", *_to_facts(TARGET_KINDS), "per="),
           "leave out {fact}: mean_over= averages metrics of whole curves, not results at a threshold",
           *_DECIDES),
    *_pair("mean_over=", ("rates=", "cells="), "leave out {fact}: mean_over= in {method}() needs "
           "examples, and {fact} holds points", *_DECIDES),
    *_pair("mean_over=", ("threshold=", *_to_facts(TARGET_KINDS)), "leave out {fact}, and pass a "
           "metric such as precision_at_recall(0.8): mean_over= averages metrics of whole curves"),
    # How sure.
    Rule(("cluster=",), "pass confidence= with cluster=: clusters change only intervals",
         unless=("confidence=", "guarantee="), passes_over=True),
    Rule(("field()", "cluster="), "leave out cluster=: a field weights its examples itself",
         (*_FIELDS, *_DECIDES)),
    Rule(("stratum=",), "pass confidence= with stratum=: strata change only intervals",
         unless=("confidence=",), passes_over=True),
    Rule(("stratum=",), "pass weight= with stratum=: the number of rows in the stratum divided by the "
         "number drawn from it", unless=("weight=",)),
    Rule(("stratum=", "cluster="), "leave out cluster=, or leave out stratum= to treat clusters as "
         "independent: stratum= is for rows drawn one by one"),
    Rule(("stratum=", 'method="bootstrap"'), 'leave out stratum= or method=: method="bootstrap" '
         "ignores strata, and its interval is wider"),
    *(Rule((points, "cluster="), f"leave out cluster=: {points} replaces labels and weights")
      for points in ("counts=", "rates=", "cells=")),
    Rule(("cluster=", "weight=", "confidence="), "leave out weight= or cluster=, or call summary(): "
         'with both, only areas have intervals and, with method="bootstrap", metrics such as '
         "precision_at_recall(0.8)", _BANDS),
    Rule(("cluster=", "simultaneous=True"),
         "leave out cluster= or simultaneous=: simultaneous=True is for independent examples"),
    Rule(("cluster=", 'rate="hoeffding"'),
         'leave out cluster= or rate=: rate="hoeffding" is for independent examples'),
    Rule(("cluster=", 'method="bootstrap"'), 'leave out cluster= or method=: method="bootstrap" '
         "corrects what was maximized among independent rows", _BANDS),
    Rule(("simultaneous=True", "weights"), "leave out weight=, or pass numbers of examples as "
         "counts=: simultaneous=True needs whole numbers of examples, not weights"),
    *_pair('method="bootstrap"', ("rates=", "cells="), 'leave out method=: method="bootstrap" draws '
           "examples, but {fact} holds points", "summary", "operating_points"),
    Rule(('method="bootstrap"', "counts of weights"), "leave out method=, or pass the examples with "
         'weight=: method="bootstrap" draws examples, and counts= holds sums of weights'),
    Rule(("smooth=", "confidence="),
         "leave out confidence= or smooth=: a fitted model has no interval"),
    *_pair("smooth=", ("rates=", "cells="),
           "leave out smooth=: {fact} holds no scores that a model could be fitted to"),
    *_pair("coarse=", ("confidence=", "smooth="),
           "leave out {fact}: coarse=True already fills low and high, with limits over orders of "
           "equal scores"),
    Rule(("adjust=", 'method="bootstrap"'),
         'leave out adjust= or method=: adjust= is for method="analytic"'),
    Rule(("worst=",), "pass model= and paired=False: worst=True is for models with their own examples",
         unless=("paired=False",)),
    Rule(("worst=", 'method="bootstrap"'), "leave out worst= or method=: worst=True needs "
         'method="analytic"'),
)  # fmt: skip
"""What does not go together. The first rule that refuses a call is the one whose error is raised."""


def check_unscored(chart_name: str, table_arguments: Mapping[str, Any]) -> None:
    """Raise for words on examples that were never scored, if a chart has no place for them."""
    call_facts = list_facts(table_arguments, {}, None, None)
    below_facts = {"below=", _NULL_BELOW} & call_facts
    if chart_name in ("reliability", "scores") and below_facts:
        raise PrcError(
            f"leave out {below_facts.pop()}: plot.{chart_name}() draws scores, and these examples have "
            "none"
        )
    if (
        chart_name in ("roc_curve", "prg_curve", "gain_curve", "threshold_curve")
        and _UNKNOWN in call_facts
    ):
        raise PrcError(f"{_BOTH_NUMBERS}: {_UNKNOWN}, and plot.{chart_name}() needs their number")


_CHOICES = {"missing": "below", "of": "roc", "solve_for": "eta"}
"""Choices for which a rule needs more than that the argument is there."""


def list_facts(
    table_arguments: Mapping[str, Any],
    method_arguments: Mapping[str, Any],
    eta_argument: EtaArgument | None,
    interval_options: Intervals | None,
) -> set[str]:
    """Return what a call passes, as rules write it, in words about the table and its own arguments."""
    # None counts as not passed, and so does a flag that is False, but for `label=None` and
    # `paired=False`.
    value_by_word = {
        word: value
        for word, value in {**table_arguments, **method_arguments}.items()
        if value is not None
    }
    call_facts = {f"{word}=" for word, value in value_by_word.items() if value is not False}
    if table_arguments.get("label", "") is None:
        call_facts.add("label=None")
    if "below" in value_by_word and not tells_negatives(value_by_word["below"]):
        call_facts.add(_UNKNOWN)
    for word, choice in _CHOICES.items():
        if isinstance(value_by_word.get(word), str) and value_by_word[word] == choice:
            call_facts.add(f'{word}="{choice}"')
    if eta_argument is not None:
        call_facts |= eta_argument.facts
        call_facts |= (
            {"eta="} if 'solve_for="eta"' in call_facts and eta_argument.value is not None else set()
        )
    if value_by_word.get("paired") is False:
        call_facts.add("paired=False")
    if isinstance(value_by_word.get("score"), Mapping):
        call_facts.add("score={...}")
    if "counts" in value_by_word and gives_squares(value_by_word["counts"]):
        call_facts |= {"counts of weights", "weights"}
    if "weight" in value_by_word:
        call_facts.add("weights")
    if interval_options is not None:
        call_facts |= {"confidence=", f'rate="{interval_options.rate}"'}
        call_facts.add(
            "simultaneous=True"
            if interval_options.simultaneous
            else f'method="{interval_options.method}"'
        )
    return call_facts


def refuse_word(method_name: str, word: str) -> PrcError:
    """Return the error for a word about the table that a method does not read."""
    word_list_text = list_names(f"{name}=" for name in TABLE_WORDS if name in USES[method_name])
    return PrcError(
        f"leave out {word}=, which {method_name}() does not take; it describes the table by "
        f"{word_list_text}"
    )


def takes_unscored(method_name: str, call_facts: set[str]) -> bool:
    """Return whether a call with these facts may also have missing="below"."""
    call_facts = _add_what_is_read(method_name, call_facts | {_NULL_BELOW})
    return not any(
        rule.applies(method_name, call_facts) for rule in RULES if rule.facts[0] == _NULL_BELOW
    )


def check_rules(method_name: str, call_facts: set[str], bound_words: Collection[str] = ()) -> set[str]:
    """Return the words to pass over, of `bound_words`; raise for facts that do not go together."""
    ignored_words: set[str] = set()
    call_facts = _add_what_is_read(method_name, call_facts)
    # Facts only leave, so none of the others will apply.
    possible_rules = [rule for rule in RULES if call_facts.issuperset(rule.facts)]
    for rule in possible_rules:
        if not rule.applies(method_name, call_facts):
            continue
        word = rule.facts[0].removesuffix("=")
        if not (rule.passes_over and word in bound_words):
            raise PrcError(rule.write(method_name))
        ignored_words.add(word)
        call_facts = call_facts - {rule.facts[0]}
    return ignored_words


def _add_what_is_read(method_name: str, call_facts: set[str]) -> set[str]:
    """Return facts of a call, with what holds for the method."""
    return call_facts | {_READS_BELOW} if "below" in USES.get(method_name, ()) else call_facts
