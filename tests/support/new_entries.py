"""A walk over methods, documents and commands with new targets, metrics and a kind of sample.

Each new entry has a twin among those that the package has: `negative_rate=0.75` asks for what
`npv=0.75` asks for. So whatever answers for one must give the same answer for the other, in its name,
and whatever refuses one must refuse the other for the same reason.

Run as a program of its own, since it edits modules while they are imported, as a contributor would:
`python -m tests.support.new_entries 14` prints, for each walk, what it found at fault in 14 of the calls
and in 14 of the commands; without a number, in all of them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

CORE = "polars_prcurve.core"


class Edit(NamedTuple):
    """Text that a contributor adds to a module."""

    module: str
    before: str  # the text before which it stands; empty for the end of the module
    text: str


EDITS = (
    Edit(
        f"{CORE}.metrics.target_kinds",
        "    lift: TargetValues\n",
        "    negative_rate: TargetValues\n    right_silence: TargetValues\n",
    ),
    Edit(
        f"{CORE}.metrics.target_kinds",
        "    fpr: TargetValues\n",
        "    false_alarm_rate: TargetValues\n",
    ),
    Edit(
        f"{CORE}.metrics.target_kinds",
        '        TargetKind(\n            "predicted_positive_rate",\n',
        """\
        TargetKind("false_alarm_rate", point.fpr, is_at_most=True, limits_misses=False),
        TargetKind("negative_rate", point.npv, is_at_most=False, limits_misses=True),
        TargetKind(
            "right_silence",
            point.npv,
            is_at_most=False,
            limits_misses=True,
            promise_test=RunTest(
                lambda value, eta: _NPV_TEST.find_ratio(value, eta),
                lambda value: divide_shares(1 - value, value),
                lambda _value: False,
            ),
        ),
""",
    ),
    Edit(
        f"{CORE}.inputs.sample_kinds",
        "SAMPLE_KINDS = (",
        'FAMILIES = CLUSTERED._replace(name="families")\n',
    ),
    Edit(f"{CORE}.inputs.sample_kinds", "WEIGHTED_CLUSTERS, STRATIFIED, ", "FAMILIES, "),
    Edit(
        f"{CORE}.sweep.sampling_designs",
        "",
        """
from polars_prcurve.core.inputs.sample_kinds import FAMILIES
DESIGNS[FAMILIES] = ClusteredDesign
""",
    ),
    Edit(
        f"{CORE}.metrics.point_formulas",
        "",
        """
@declare_point(source="a twin of jaccard", ties=jaccard.ties)
def tanimoto(tp: Amount, fn: Amount, fp: Amount, tn: Amount) -> Amount:
    return tp / (tp + fn + fp)
""",
    ),
    Edit(
        f"{CORE}.metrics.areas",
        "",
        """
from polars_prcurve.core.metrics.metric_base import declare
from polars_prcurve.core.metrics.curve_metric import CURVE_METRICS
mean_precision = declare(replace(average_precision, name="mean_precision"), None, CURVE_METRICS)
""",
    ),
)
TARGETS = {  # by the new word: its twin, of the same metric
    "negative_rate": "npv",
    "right_silence": "npv",
    "false_alarm_rate": "fpr",
}
METRICS = {"tanimoto": "jaccard", "mean_precision": "average_precision"}


class EditedLoader(SourceFileLoader):
    """Reads a module with the text that is added to it."""

    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text(encoding="utf-8")
        for edit in EDITS:
            if edit.module == fullname:
                assert not edit.before or text.count(edit.before) == 1, (
                    f"{fullname} has changed: EDITS in tests/support/new_entries.py seek {edit.before!r}"
                )
                text = (
                    text.replace(edit.before, edit.text + edit.before)
                    if edit.before
                    else text + edit.text
                )
        return compile(text, self.path, "exec")


class EditedModules(MetaPathFinder):
    """Finds the modules that are edited before all others do."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in {edit.module for edit in EDITS}:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        assert spec is not None
        assert spec.origin is not None
        return importlib.util.spec_from_file_location(
            fullname, spec.origin, loader=EditedLoader(fullname, spec.origin)
        )


if __name__ == "__main__":
    assert not any(edit.module in sys.modules for edit in EDITS)
    sys.meta_path.insert(0, EditedModules())

import polars as pl  # noqa: E402
from altair.utils import schemapi  # noqa: E402

from polars_prcurve import Decision, PrcError, charts, prc  # noqa: E402
from polars_prcurve.core.binding.shared_arguments import TARGET_WORDS  # noqa: E402
from polars_prcurve.core.inputs import sample_kinds  # noqa: E402
from polars_prcurve.core.metrics.target_kinds import TARGET_KINDS  # noqa: E402
from polars_prcurve.doors.cli.main import main  # noqa: E402
from polars_prcurve.doors.cli.options import build_parser  # noqa: E402
from polars_prcurve.doors.cli.printing import ANSWERS_OF_METHOD  # noqa: E402
from polars_prcurve.view.verdicts.target_phrases import describe_limit  # noqa: E402
from tests.support.arguments import Call, list_calls  # noqa: E402
from tests.support.model_tests import SETTLED  # noqa: E402
from tests.support.plain_calls import DF  # noqa: E402
from tests.support.tiers import spread  # noqa: E402

# Answers ----------------------------------------------------------------------------------------


def answer(call: Call, arguments: Mapping[str, Any]) -> Any:
    """Return what a call answers, as frames and texts; of one that is refused the sentence."""
    try:
        result = call.find(call.table)(**arguments)
        if isinstance(result, pl.Expr):
            result = DF.select(result.alias("value"))
        return show(result)
    except (PrcError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    except pl.exceptions.PolarsError as error:
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def show(result: Any) -> Any:
    """Return a result as frames and texts, by name if it has several."""
    if isinstance(result, Decision):
        return {"verdicts": result.verdicts, "table": result.table, **dict(write_documents(result))}
    if isinstance(result, charts.Chart):
        spec = result.to_dict()
        spec["datasets"] = sorted(json.dumps(data) for data in spec["datasets"].values())
        title = spec.get("title")
        if isinstance(title, dict):  # longer names break its lines elsewhere
            spec["title"] = title | {
                part: " ".join(title[part]) for part in ("text", "subtitle") if part in title
            }
        return re.sub(
            r"data-[0-9a-f]{32}|_k[0-9a-f]{8}", "", json.dumps(spec, sort_keys=True, ensure_ascii=False)
        )
    return result


def write_documents(decision: Decision) -> Iterator[tuple[str, str]]:
    """Yield all that a decision writes, with the name of the document."""
    yield "text", f"{decision.say(200)}\n{decision!r}\n{decision.verdict}\n{decision.model_card()}"
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("page", decision.page), ("report", decision.report)):
            yield name, write(f"{folder}/{name}.html").read_text(encoding="utf-8")


def find_any(names: Sequence[str]) -> str:
    """Return the pattern of names as words, or with an ending such as `_low`."""
    words = "|".join(re.escape(" ".join(name.split())) for name in names)
    return rf"(?<![^\W_])({words})(?![^\W_])"


class Names(NamedTuple):
    """Texts that name a new entry, and those that name its twin in their place."""

    new: Sequence[str]
    twin: Sequence[str]

    def mask(self, text: str) -> str:
        """Return a text with a mark in place of all names."""
        text = re.sub(r"data [0-9a-f]{12}", "data", text)
        # Hints at what is spelt alike depend on the spelling.
        text = re.sub(r"(argument|option) ('\S+'); (choose from:|did you mean).*", r"\1 \2", text)
        for number, names in enumerate(zip(self.new, self.twin, strict=True)):
            text = re.sub(find_any(names), f"<{number}>", text)
        return text

    def count(self, new: str, twin: str) -> int:
        """Return how often the first of two texts says new names, more often than the second does."""
        return len(re.findall(find_any(self.new), new)) - len(re.findall(find_any(self.new), twin))

    def compare(self, new: Any, twin: Any) -> str:
        """Return how an answer differs from that of its twin; empty if only in the names."""
        if isinstance(new, dict) and isinstance(twin, dict):
            faults = {name: self.compare(new[name], twin[name]) for name in twin}
            return "; ".join(f"{name}: {fault}" for name, fault in faults.items() if fault)
        if isinstance(new, pl.DataFrame) and isinstance(twin, pl.DataFrame):
            new, twin = new.write_json(), twin.write_json()
        new, twin = (" ".join(str(text).split()) for text in (new, twin))
        new_text, twin_text = self.mask(new), self.mask(twin)
        if new_text == twin_text:
            is_named = self.count(new, twin) == Names(self.twin, self.new).count(twin, new)
            return "" if is_named else f"answers by the name of its twin: {new[:200]}"
        pairs = zip(new_text, twin_text, strict=False)
        start = next((i for i, (a, b) in enumerate(pairs) if a != b), 0)
        part = slice(max(start - 60, 0), start + 100)
        return f"got ...{new_text[part]!r}, and of its twin ...{twin_text[part]!r}"


@cache
def list_all_calls() -> dict[str, Call]:
    """Return a plain call of everything, and a decision between two models."""
    wide = SETTLED.gather_every(4)
    calls = {
        **{name: call for name, call in list_calls().items() if "function." not in name},
        "decide two": Call(wide, lambda t: prc(t)(score=["new", "old"]).decide, {"eta": 0.1}),
    }
    return {name: calls[name] for name in choose([*calls])}


def choose(names: list[str]) -> list[str]:
    """Return as many names as the program is to try."""
    return spread(names, int(sys.argv[1])) if __name__ == "__main__" and sys.argv[1:] else names


VARIANTS: tuple[dict[str, Any], ...] = (
    {},
    {"guarantee": 0.6},
    {"confidence": 0.9},
    {"together": True, "recall": 0.5},
    {"below": (2, None)},
    {"eta": None, "below": (2, None)},
    {"threshold": 5},
    {"weight": "w"},
)
"""Arguments beside a target, of which charts and decisions, which take long, are asked for the first."""
MOST_VARIANTS = {"right_silence": 2}
"""How many variants a target has that is as `negative_rate`, but for a test with guarantee=."""


def list_variants(name: str, call: Call, most: int = len(VARIANTS)) -> Iterator[dict[str, Any]]:
    """Yield the arguments of a plain call without its target, and with others that it takes."""
    plain = {word: value for word, value in call.plain.items() if word not in TARGET_WORDS}
    most = min(most, 1 if name.startswith("plot.") else 2 if "decide" in name else most)
    names = {*call.arguments()}
    yield from ({**plain, **others} for others in VARIANTS[:most] if {*others} <= names)


# Targets ------------------------------------------------------------------------------------------


VALUES = {
    "npv": 0.75,
    "negative_rate": 0.75,
    "right_silence": 0.75,
    "fpr": 0.25,
    "false_alarm_rate": 0.25,
}
"""What each word is asked for."""


def list_target_names(word: str) -> list[str]:
    """Return the texts that name a target: what verdicts, titles, options and errors call it."""
    value = VALUES[word]
    return [
        describe_limit(word, value, None),
        f"{word} {value}",
        f"{word},{value}",
        f'"{word}","target":{value}',
        f"--{word.replace('_', '-')}",
        word,
    ]


def walk_targets() -> Iterator[str]:
    """Everything that takes the twin of a new target answers for the new one alike."""
    known: dict[tuple[str, str, str], Any] = {}  # of two words of one twin its answers are the same
    for word, twin in TARGETS.items():
        pair = Names(list_target_names(word), list_target_names(twin))
        for name, call in list_all_calls().items():
            if name.startswith("metrics."):
                continue
            names = call.arguments()
            if (word in names) != (twin in names):
                yield f"{name}() takes only one of {word}= and {twin}="
            variants = list_variants(name, call, MOST_VARIANTS.get(word, len(VARIANTS)))
            for variant in variants if twin in names else [call.plain]:
                new = answer(call, {**variant, word: VALUES[word]})
                if "guarantee" in variant and TARGET_KINDS[word].promise_test is None:
                    if f"with guarantee=, not {word}: it has no test yet" not in str(new):
                        yield f"{name}({variant}) with {word}=: {str(new)[:200]}"
                    continue
                key = (name, twin, str(variant))
                if key not in known:
                    known[key] = answer(call, {**variant, twin: VALUES[twin]})
                old = known[key]
                if fault := pair.compare(new, old):
                    yield f"{name}({variant}) with {word}=: {fault}"


# Metrics ------------------------------------------------------------------------------------------


METRIC_NAMES = Names(
    *(
        [
            form
            for name in names
            for form in (name, name.replace("_", " "), name.capitalize().replace("_", " "))
        ]
        for names in (METRICS, METRICS.values())
    )
)


def walk_metrics() -> Iterator[str]:
    """Everything that takes the twin of a new metric answers for the new one alike."""
    for name, call in list_all_calls().items():
        for argument in {"metrics", "metric", "maximize"} & {*call.arguments()}:
            for variant in list_variants(name, call, 1 if "decide" in name else 3):
                for metric, twin in METRICS.items():
                    new, old = (answer(call, {**variant, argument: m}) for m in (metric, twin))
                    if fault := METRIC_NAMES.compare(new, old):
                        yield f"{name}({variant}) with {argument}={metric}: {fault}"


# Samples ------------------------------------------------------------------------------------------


def walk_samples() -> Iterator[str]:
    """A kind of sample with the traits of clusters is answered for as clusters are."""
    kinds = sample_kinds.SAMPLE_KINDS
    [families] = [kind for kind in kinds if kind.name == "families"]
    names = Names(["few families"], ["few clusters"])
    for name, call in list_all_calls().items():
        if "cluster" not in call.arguments() or call.table is None or name == "decide two":
            continue
        table = call.table
        if "id" not in table.columns:
            table = table.with_row_index("id").with_columns(pl.col("id") // 2)
        asked = call._replace(table=table)
        targets = {word: value for word, value in call.plain.items() if word in TARGET_WORDS}
        for variant in list_variants(name, call, 2):
            arguments = {**variant, **targets, "cluster": "id"}
            if "confidence" in call.arguments():
                arguments.setdefault("confidence", 0.9)
            old = answer(asked, arguments)
            sample_kinds.SAMPLE_KINDS = (families, *kinds)  # of those with a cluster it is the first
            new = answer(asked, arguments)
            sample_kinds.SAMPLE_KINDS = kinds
            if fault := names.compare(new, old):
                yield f"{name}({arguments}): {fault}"


# The command line -----------------------------------------------------------------------------------


def run_command(*words: str) -> str:
    """Return what a command prints, and its errors."""
    output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            code = main(list(words))
        except SystemExit as stop:
            code = stop.code
    output.seek(0)
    return f"{output.read()}{code}"


def walk_commands() -> Iterator[str]:
    """Each command has an option for each new target that its method takes, and takes new metrics."""
    place = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        stack.callback(os.chdir, place)
        os.chdir(folder)  # some commands write a file there
        path = "table.csv"
        DF.with_columns(pl.col("label").cast(pl.Int8)).write_csv(path)
        actions = build_parser(ANSWERS_OF_METHOD)._actions
        [commands] = [a.choices for a in actions if isinstance(a.choices, dict)]
        for name in choose([*commands]):
            text = run_command(name, "--help")
            for word, twin in TARGETS.items():
                flags = [f"--{target.replace('_', '-')}" for target in (word, twin)]
                if len({bool(re.search(rf"{flag}\b", text)) for flag in flags}) > 1:
                    yield f"{name} --help lists only one of {' and '.join(flags)}"
                options = ["--eta", "0.1"] if "--eta " in text else []
                new, old = (
                    run_command(name, path, *options, flag, str(VALUES[target]))
                    for flag, target in zip(flags, (word, twin), strict=True)
                )
                if fault := Names(list_target_names(word), list_target_names(twin)).compare(new, old):
                    yield f"{name} {flags[0]}: {fault}"
            for metric, twin in METRICS.items():
                for flag in ("--metrics", "--metric"):
                    if f"{flag} " in text:
                        new, old = (run_command(name, path, flag, m) for m in (metric, twin))
                        if fault := METRIC_NAMES.compare(new, old):
                            yield f"{name} {flag} {metric}: {fault}"


WALKS = {
    "targets": walk_targets,
    "metrics": walk_metrics,
    "samples": walk_samples,
    "commands": walk_commands,
}
if __name__ == "__main__":
    schemapi.validate_jsonschema = lambda *_given, **_more: None  # as conftest.py does
    print(json.dumps({name: list(walk()) for name, walk in WALKS.items()}))
