"""The command line: each command against the library's table, and what it says when refused."""

from __future__ import annotations

import argparse
import io
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import wraps
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polars_prcurve
from polars_prcurve import field, intervals, metrics, prc
from polars_prcurve.core.confidence.rate_intervals import check_confidence
from polars_prcurve.core.ground import progress
from polars_prcurve.core.ground.argument_checks import find_repeats
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.share_texts import read_share_text
from polars_prcurve.core.ground.terminal_text import cut_text, measure_width
from polars_prcurve.core.metrics.metric_lookup import parse_metric
from polars_prcurve.doors.cli import table_files
from polars_prcurve.doors.cli.main import main
from polars_prcurve.doors.cli.method_call import FilePrc
from polars_prcurve.doors.cli.options import build_parser, list_kinds, read_confidence, read_names
from polars_prcurve.doors.cli.printing import ANSWERS_OF_METHOD, print_rows
from polars_prcurve.view.report.result_notes import describe_pairs
from polars_prcurve.view.report.result_text import Layout, format_table
from tests.support.model_tests import EQUAL, SETTLED
from tests.support.tiers import pair_each, slow_unless

ROOT = Path(__file__).parent.parent
READ: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".csv": pl.read_csv,
    ".tsv": lambda path: pl.read_csv(path, separator="\t"),
    ".ndjson": pl.read_ndjson,
    ".jsonl": pl.read_ndjson,
    ".arrow": pl.read_ipc,
    ".feather": pl.read_ipc,
    ".ipc": pl.read_ipc,
}
DF = pl.DataFrame(
    {
        "model": ["a"] * 6 + ["b"] * 6 + [None] * 3,
        "score": [0.9, 0.8, 0.7, 0.4, 0.4, 0.2, 0.9, 0.9, 0.6, 0.5, 0.3, 0.1, 0.7, 0.6, 0.5],
        "label": [1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0],
        "weight": [0.5, 1.0, 2.0] * 5,
        "patient": [1, 2, 3, 4, 5] * 3,
    }
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own with the table in every format."""
    monkeypatch.chdir(tmp_path)
    for extension in READ:
        table_files.build_writer(f"scores{extension}")(DF.lazy())
    return tmp_path


def table(command: str, output: str = "out.parquet") -> pl.DataFrame:
    """What a command writes."""
    assert main([*shlex.split(command), "-o", output]) == 0
    return READ[Path(output).suffix](Path(output))


def refusal(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a refused command leaves."""
    before = set(os.listdir())
    assert main(shlex.split(command)) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("polars-prcurve: error: ")
    assert error.count("\n") == 1
    assert set(os.listdir()) == before
    return error.removeprefix("polars-prcurve: error: ").rstrip("\n")


ASKED: dict[str, tuple[str, Callable[[pl.DataFrame], pl.DataFrame]]] = {
    "curve": (
        "--by model --eta 0.01 1:4 own --metrics precision,f1",
        lambda df: prc(df).curve([0.01, 0.2, None], by="model", metrics=["precision", "f1"]),
    ),
    "summary": (
        "--by model --eta 0.01",
        lambda df: prc(df).summary(0.01, by="model", columns="all"),
    ),
    "operating-points": (
        "--model model --eta 0.01 --recall 0.5 0.9 --alerts 5/1000",
        lambda df: prc(df).operating_points(
            0.01, model="model", recall=[0.5, 0.9], alerts=5, per=1000, columns="all"
        ),
    ),
}


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("command", ASKED)
@pytest.mark.parametrize("extension", READ)
def test_a_command_writes_the_table_of_the_library(here: Path, command: str, extension: str) -> None:
    options, of = ASKED[command]
    expected = of(DF)
    assert_frame_equal(table(f"{command} scores{extension} {options}"), expected, check_exact=True)
    written = table(f"{command} scores.parquet {options}", f"out{extension}")
    assert_frame_equal(written, expected, check_exact=True)
    assert set(os.listdir()) == {*(f"scores{e}" for e in READ), "out.parquet", f"out{extension}"}


@pytest.mark.parametrize("output", ["", "-o -"])
def test_a_pipe_gets_csv(here: Path, capsys: pytest.CaptureFixture[str], output: str) -> None:
    assert main(shlex.split(f"curve scores.csv --by model --eta 0.01 {output}")) == 0
    out, error = capsys.readouterr()
    assert_frame_equal(pl.read_csv(io.StringIO(out)), prc(DF).curve(0.01, by="model"), check_exact=True)
    assert error == ""


PARTS = pl.DataFrame(
    {"patient": [1, 2, 3, 4, 5, 6], "eta": [*[None] * 5, 0.5], "share": [1, 2, 3, 4, 5, 0]}
)
CELLS = ("tp", "fp", "fn", "tn")
READER = pl.DataFrame({"tp": [12], "fp": [9], "fn": [8], "tn": [31]})
READERS = READER.rename(dict(zip(CELLS, "abcd", strict=True)))
NEVER_SCORED = pl.DataFrame({"model": ["a", "c"], "n_pos": [2, 3], "n_neg": [5, 1]})
DRAWN = intervals(0.9, method="bootstrap", resamples=10, seed=0)
OPTIONS: list[tuple[str, Callable[[Any], pl.DataFrame]]] = [
    ("curve --weight weight", lambda p: p.curve(weight="weight")),
    ("curve --score weight --label label", lambda p: p.curve(score="weight")),
    ("curve --by model,patient", lambda p: p.curve(by=["model", "patient"])),
    ("curve --by model --by patient", lambda p: p.curve(by="patient")),  # the last one
    ("curve --by patient --model model", lambda p: p.curve(by=["patient", "model"])),
    ("curve --by model --model model", lambda p: p.curve(by="model")),
    ("curve --thresholds 3", lambda p: p.curve(thresholds=3)),
    ("curve --thresholds corners", lambda p: p.curve(thresholds="corners")),
    ("curve --confidence 0.9", lambda p: p.curve(confidence=0.9)),
    ("curve --pos-label 0", lambda p: p.curve(pos_label=0)),
    (
        "curve --pos-label a --label model --missing drop",
        lambda p: p.curve(pos_label="a", label="model", missing="drop"),
    ),
    ("curve --counts label patient", lambda p: p.curve(counts=("label", "patient"))),
    ("curve --below 12/340 --eta 0.1", lambda p: p.curve(0.1, below=(12, 340))),
    (
        "operating-points --below 12/unknown --recall 0.1",
        lambda p: p.operating_points(recall=0.1, below=(12, None), columns="all"),
    ),
    (
        "summary --by model --below below.csv --missing below",
        lambda p: p.summary(by="model", below=NEVER_SCORED, missing="below", columns="all"),
    ),
    ("curve --eta 0.01, 0.5", lambda p: p.curve([0.01, 0.5])),
    ("curve --eta 0.01 0.5,own", lambda p: p.curve([0.01, 0.5, None])),
    (
        "curve --confidence 0.9 --cluster patient",
        lambda p: p.curve(confidence=0.9, cluster="patient"),
    ),
    (
        "operating-points --recall 0.5 --confidence 0.9 --cluster patient",
        lambda p: p.operating_points(recall=0.5, confidence=0.9, cluster="patient", columns="all"),
    ),
    (
        "summary --by model --confidence 0.9",
        lambda p: p.summary(by="model", confidence=0.9, columns="all"),
    ),
    (
        "summary --confidence 90%,method=bootstrap,resamples=10,seed=0 --cluster patient",
        lambda p: p.summary(confidence=DRAWN, cluster="patient", columns="all"),
    ),
    (
        "summary --metrics pr_auc_hull --by model",
        lambda p: p.summary(metrics="pr_auc_hull", by="model", columns="all"),
    ),
    (
        "operating-points --threshold .65 --recall .5 --fpr .1,.2 --precision .6 --maximize "
        "'f_beta(2)' --per 50",
        lambda p: p.operating_points(
            threshold=0.65,
            recall=0.5,
            fpr=[0.1, 0.2],
            precision=0.6,
            maximize=[metrics.f_beta(2)],
            per=50,
            columns="all",
        ),
    ),
    (
        "operating-points --alerts 5/100,1/100 --per 7 --confidence 0.9 --metrics npv",
        lambda p: p.operating_points(
            alerts=[0.35, 0.07], per=7, confidence=0.9, metrics="npv", columns="all"
        ),
    ),
    (
        "operating-points --npv .6 --fdr .5 --lift 1.1 --eta 0.3 --start 0.5 --guarantee 0.6",
        lambda p: p.operating_points(
            0.3, npv=0.6, fdr=0.5, lift=1.1, start=0.5, guarantee=0.6, columns="all"
        ),
    ),
    (
        "operating-points --alerts 50/100 --guarantee 0.6",
        lambda p: p.operating_points(alerts=50, per=100, guarantee=0.6, columns="all"),
    ),
    (
        "operating-points --alerts 5/100,1/100",
        lambda p: p.operating_points(alerts=[5, 1], per=100, columns="all"),
    ),
    (
        "operating-points --predicted-positive-rate .5 --eta .1 --confidence "
        ".9,rate=jeffreys,method=rectangle",
        lambda p: p.operating_points(
            0.1,
            predicted_positive_rate=0.5,
            confidence=intervals(0.9, rate="jeffreys", method="rectangle"),
            columns="all",
        ),
    ),
    (
        "operating-points --maximize f1 --confidence .9,method=bootstrap,resamples=10,seed=0 --long",
        lambda p: p.operating_points(maximize="f1", confidence=DRAWN, long=True, columns="all"),
    ),
    ("summary --eta 0.1 own --coarse", lambda p: p.summary([0.1, None], coarse=True, columns="all")),
    ("curve --smooth binormal --long", lambda p: p.curve(smooth="binormal", long=True)),
    (
        "decision-curve --eta 0.1 --eta-train 0.5 --probabilities 0.1,0.2 --confidence 0.9 --by model",
        lambda p: p.decision_curve(
            0.1, eta_train=0.5, probabilities=[0.1, 0.2], confidence=0.9, by="model", columns="all"
        ),
    ),
    (
        "compare --no-paired --model patient --eta 0.1 --metrics roc_auc --confidence 0.9 --adjust holm",
        lambda p: p.compare(
            eta=0.1,
            model="patient",
            paired=False,
            metrics="roc_auc",
            confidence=0.9,
            adjust="holm",
            columns="all",
        ),
    ),
    (
        "compare --no-paired --model patient --eta 0.1 --metrics f1 --recall 0.5 --worst",
        lambda p: p.compare(
            eta=0.1, model="patient", paired=False, metrics="f1", recall=0.5, worst=True, columns="all"
        ),
    ),
    (
        "compare --no-paired --model patient --counts label patient --eta 0.1 --alerts 30/100",
        lambda p: p.compare(
            eta=0.1,
            model="patient",
            paired=False,
            counts=("label", "patient"),
            alerts=30,
            per=100,
            columns="all",
        ),
    ),
    (
        "compare --score score,weight --confidence method=bootstrap,resamples=10,seed=0 "
        "--cluster patient",
        lambda p: p.compare(
            score=["score", "weight"],
            confidence=replace(DRAWN, level=0.95),
            cluster="patient",
            columns="all",
        ),
    ),
    (
        "compare --score score,weight --cluster patient",
        lambda p: p.compare(score=["score", "weight"], cluster="patient", columns="all"),
    ),
    (
        "compare --score score,weight --eta 10% --metrics 'net_benefit(0.1)',recall --threshold 0.6",
        lambda p: p.compare(
            0.1,
            score=["score", "weight"],
            metrics=[metrics.net_benefit(0.1), "recall"],
            threshold=0.6,
            columns="all",
        ),
    ),
    (
        "ranking --model patient --eta 0.1 --coarse",
        lambda p: p.ranking(0.1, model="patient", coarse=True, columns="all"),
    ),
    ("ranking --model patient --eta 0.1", lambda p: p.ranking(0.1, model="patient", columns="all")),
    (
        "ranking --eta 0.1 --metric precision --alerts 30/100 --per 50",
        lambda p: p.ranking(0.1, metric="precision", alerts=15, per=50, columns="all"),
    ),
    (
        "ranking --eta 0.1 --metric roc_auc --confidence 0.9",
        lambda p: p.ranking(0.1, metric="roc_auc", confidence=0.9, columns="all"),
    ),
    (
        "ranking --eta 0.1 --metric precision --recall 0.5 --confidence 0.9",
        lambda p: p.ranking(0.1, metric="precision", recall=0.5, confidence=0.9, columns="all"),
    ),
    (
        "crossings --metric 'best(f1)' --eta-range 1/1000 0.9",
        lambda p: p.crossings(metric=metrics.best("f1"), eta_range=(0.001, 0.9)),
    ),
    (
        "crossings --metric precision --threshold 0.55",
        lambda p: p.crossings(metric="precision", threshold=0.55),
    ),
    ("crossings --of roc --model patient", lambda p: p.crossings(of="roc", model="patient")),
    (
        "sample-size --eta 0.1 --recall .5 --delta .2 --relative",
        lambda p: p.sample_size(0.2, 0.1, recall=0.5, relative=True),
    ),
    (
        "sample-size --threshold .5 --recall .5 --fpr .4 --delta .2 --assurance .9 --confidence .9",
        lambda p: p.sample_size(0.2, threshold=0.5, recall=0.5, fpr=0.4, assurance=0.9, confidence=0.9),
    ),
    (
        "sample-size --eta 0.1 own --by model --confidence 95%,rate=jeffreys --fpr 40%",
        lambda p: p.sample_size(
            eta=[0.1, None], by="model", confidence=intervals(rate="jeffreys"), fpr=0.4
        ),
    ),
    (
        "estimate-prevalence --eta-train 40% --confidence 0.9 --by model",
        lambda p: p.estimate_prevalence(0.4, confidence=0.9, by="model"),
    ),
    (
        "estimate-prevalence --eta-train 0.4 --model model",
        lambda p: p.estimate_prevalence(0.4, by="model"),
    ),
    (
        "compare --score score --eta 0.1 --other reader.csv --match recall --metrics fpr precision",
        lambda p: p.compare(
            0.1,
            other=prc(READER, cells=CELLS),
            match="recall",
            metrics=["fpr", "precision"],
            columns="all",
        ),
    ),
    (
        "compare --eta 0.1 --other readers.csv cells=a,b,c,d --match fpr --metrics recall",
        lambda p: p.compare(
            0.1,
            other=prc(READERS, cells=["a", "b", "c", "d"]),
            match="fpr",
            metrics="recall",
            columns="all",
        ),
    ),
    (
        "estimate-prevalence --counts patient --reference scores.parquet --confidence 0.9",
        lambda p: p.estimate_prevalence(counts="patient", reference=DF, confidence=0.9),
    ),
    (
        "estimate-prevalence --reference scores.csv counts=label,patient",
        lambda p: p.estimate_prevalence(reference=prc(DF, counts=("label", "patient"))),
    ),
    (
        "estimate-prevalence --reference scores.csv label=label --label nothing",
        lambda p: p.estimate_prevalence(reference=DF),
    ),
    (
        "monitor --time patient --reference 60% --threshold 0.5 --by model --confidence 0.9",
        lambda p: p.monitor(
            "patient", reference=0.6, threshold=0.5, by="model", confidence=0.9, columns="all"
        ),
    ),
    (
        "monitor --time patient --reference scores.parquet --threshold 0.5 --metrics recall",
        lambda p: p.monitor(
            "patient", reference=prc(DF), threshold=0.5, metrics="recall", columns="all"
        ),
    ),
    (
        "monitor --time patient --reference scores.csv label=label --threshold 0.5 --eta 10%",
        lambda p: p.monitor("patient", reference=prc(DF), threshold=0.5, eta=0.1, columns="all"),
    ),
    (
        "crossings --leaders --metric pr_auc --eta-range 0.01 0.9",
        lambda p: p.crossings(metric="pr_auc", eta_range=(0.01, 0.9), leaders=True),
    ),
    (
        "crossings --of roc --leaders",
        lambda p: p.crossings(of="roc", leaders=True).with_columns(
            pl.col("dominates", "dominated_by").list.join(",")
        ),
    ),
    (
        "sample-size --solve-for eta --by model --recall .5 --fpr .5,90% --delta .8 "
        "--confidence .9,rate=jeffreys",
        lambda p: p.sample_size(
            0.8,
            by="model",
            recall=0.5,
            fpr=[0.5, 0.9],
            confidence=intervals(0.9, rate="jeffreys"),
            solve_for="eta",
        ),
    ),
    (
        "sampling-plan --threshold 0.5 --budget 3 --strata 4",
        lambda p: p.sampling_plan(0.5, budget=3, strata=4),
    ),
    (
        "curve --confidence 0.9 --weight patient --stratum patient",
        lambda p: p.curve(confidence=0.9, weight="patient", stratum="patient"),
    ),
    (
        "reweight --parts patient --eta parts.csv --missing drop --name w",
        lambda p: p.reweight(field(PARTS, "patient"), missing="drop", name="w"),
    ),
    (
        "reweight --parts patient --eta parts.csv --name w --score score,weight "
        "--weight weight --label label --pos-label 0",
        lambda p: p.reweight(
            field(PARTS, "patient"),
            name="w",
            score=["score", "weight"],
            weight="weight",
            pos_label=0,
        ),
    ),
    ("counts --by model", lambda p: p.counts(by="model")),
    ("counts --unlabelled --model model", lambda p: p.counts(by="model", label=None)),
    (
        "operating-points --score patient --threshold 2.5",
        lambda p: p.operating_points(score="patient", threshold=2.5, columns="all"),
    ),
]


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize(
    "asked", slow_unless(lambda asked: asked in OPTIONS[::5], OPTIONS), ids=lambda asked: asked[0]
)
def test_every_option_reaches_the_library(
    here: Path, asked: tuple[str, Callable[[Any], pl.DataFrame]]
) -> None:
    command, expected = asked
    PARTS.write_csv("parts.csv")
    READER.write_csv("reader.csv")
    READERS.write_csv("readers.csv")
    NEVER_SCORED.write_csv("below.csv")
    name, _, options = command.partition(" ")
    written = table(f"{name} scores.csv {options}")
    assert_frame_equal(written, expected(prc(DF)), rel_tol=1e-12)  # errors are sums in any order


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int64])
@pytest.mark.parametrize("extension", [".csv", ".parquet", ".ndjson"])
def test_labels_are_weighed_by_the_file_of_a_plan(here: Path, extension: str, dtype: Any) -> None:
    score = (pl.col("score") * 10).round() if dtype == pl.Int64 else pl.col("score") / 3
    labels = pl.when(pl.col("patient") != 2).then("label")
    df = DF.select("model", score.cast(dtype).alias("s"), labels.alias("label"))
    df.write_parquet("some.parquet")
    threshold = 5 if dtype == pl.Int64 else 0.17
    plan = table(
        f"sampling-plan some.parquet --score s --threshold {threshold} --budget 2 --strata 4",
        f"p{extension}",
    )
    expected = prc(df, score="s").sampling_plan(threshold, budget=2, strata=4)
    assert_frame_equal(plan.select("n_next", "n"), expected.select("n_next", "n"))
    found = table(f"reweight some.parquet --score s --plan p{extension}")
    assert_frame_equal(found, prc(df, score="s").reweight(plan=expected), check_exact=True)


def test_a_plan_is_a_file(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DF.drop("weight").write_csv("some.csv")
    for plan, words in (
        ("3", "plan= takes the table of"),
        ("some.csv", "the table of sampling_plan"),
    ):
        assert words in refusal(f"reweight some.csv --plan {plan}", capsys)
    assert "is also an input" in refusal("reweight scores.csv --plan some.csv -o some.csv", capsys)


@pytest.mark.filterwarnings("default:a metric is undefined")
def test_a_warning_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--confidence 0.9,method=bootstrap,resamples=20,seed=3 --cluster patient"
    assert main(["summary", "scores.csv", *options.split()]) == 0
    error = capsys.readouterr().err
    assert re.fullmatch(
        r"polars-prcurve: warning: a metric is undefined in up to \d+ of 20 bootstrap replicates, .*\n",
        error,
    )


def test_a_field_of_several_parts_and_targets_together(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = pl.DataFrame({"model": DF["model"].unique(), "eta": 0.1, "share": 1})
    parts.write_csv("field.csv")
    where, how = field(parts, "model"), "--eta field.csv --parts model"
    written = table(f"curve scores.csv {how} --confidence 0.9")
    assert_frame_equal(written, prc(DF).curve(where, confidence=0.9), rel_tol=1e-12)
    written = table(f"summary scores.csv {how} --confidence 0.9")
    assert_frame_equal(written, prc(DF).summary(where, confidence=0.9, columns="all"), rel_tol=1e-12)
    targets = {"recall": 0.4, "precision": 0.05, "together": True}
    written = table("operating-points scores.csv --eta 10% --recall 40% --precision 5% --together")
    assert_frame_equal(written, prc(DF).operating_points(0.1, columns="all", **targets), rel_tol=1e-12)
    table(f"operating-points scores.csv {how} --precision 0.9 --guarantee 99%")
    assert "1 of 1 rows have no threshold with this guarantee" in capsys.readouterr().err
    written = table(f"operating-points scores.csv {how} --precision 0.05 --guarantee 0.6")
    sure = prc(DF).operating_points(where, precision=0.05, guarantee=0.6, columns="all")
    assert_frame_equal(written, sure, rel_tol=1e-12)
    found = parts.select("model", "share", k=1, n=10)
    found.write_csv("found.csv")
    written = table("curve scores.csv --eta found.csv --parts model --confidence 0.9")
    expected = prc(DF).curve(field(found, "model"), confidence=0.9)
    assert_frame_equal(written, expected, rel_tol=1e-12)


def test_counts_of_weights_with_their_squares(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the command `counts` writes of weights has intervals; two columns of it have none."""
    table_files.build_writer("weights.csv")(prc(DF).counts(by="model", weight="weight").lazy())
    four = ("n_pos", "n_neg", "n_pos_squares", "n_neg_squares")
    expected = prc(DF).summary(0.1, by="model", weight="weight", confidence=0.9, columns="all")
    for words in (" ".join(four), ",".join(four)):
        found = table(f"summary weights.csv --by model --eta .1 --confidence .9 --counts {words}")
        assert_frame_equal(found, expected, rel_tol=1e-9)
    said = refusal("counts weights.csv --counts n_pos n_neg n_pos_squares", capsys)
    assert "counts= takes two columns, of positives and of negatives, or four" in said


def test_published_rates(here: Path) -> None:
    roc = pl.DataFrame({"t": [0.5, 1.0], "f": [0.1, 1.0]})
    roc.write_csv("roc.csv")
    expected = prc(roc).summary(0.01, rates=("t", "f"), columns="all")
    assert_frame_equal(table("summary roc.csv --rates t f --eta 0.01"), expected, check_exact=True)
    expected = prc(roc).summary(0.01, rates=("t", "f"), sizes=(40, 900), confidence=0.9, columns="all")
    with_commas = "summary roc.csv --rates t,f --eta 0.01"
    assert_frame_equal(table(with_commas), table("summary roc.csv --rates t f --eta 0.01"))
    found = table("summary roc.csv --eta 0.01 --confidence 0.9 --sizes 40,900 --rates t,f")
    assert_frame_equal(found, expected)
    found = table("summary roc.csv --rates t f --sizes 40,900 --eta 0.01 --confidence 0.9")
    assert_frame_equal(found, expected, check_exact=True)
    four = pl.DataFrame({"at": [0.5, 0.1], "a": [3, 4], "b": [1, 6], "c": [1, 0], "d": [8, 3]})
    four.write_csv("cells.csv")
    expected = prc(four).curve(0.01, cells=("a", "b", "c", "d"), score="at")
    found = table("curve cells.csv --cells a b c d --score at --eta 0.01")
    assert_frame_equal(found, expected, check_exact=True)


def test_a_file_of_prevalences(here: Path) -> None:
    markets = pl.DataFrame(
        {"model": ["a", "b", None], "eta": [0.02, 0.001, None], "market": ["x", "y", "z"]}
    )
    expected = prc(DF).curve(markets, by="model")
    for name in ("markets.csv", "markets.parquet"):
        table_files.build_writer(name)(markets.lazy())
        assert_frame_equal(
            table(f"curve scores.csv --by model --eta {name}"), expected, check_exact=True
        )
    small = DF.with_columns(pl.col("patient").cast(pl.UInt8))
    small.write_parquet("small.parquet")
    etas = pl.DataFrame({"patient": [1, 2, 3, 4, 5], "eta": [0.1, 0.2, 0.3, 0.4, 0.5]})
    etas.write_csv("etas.csv")
    expected = prc(small).summary(etas.cast({"patient": pl.UInt8}), by="patient", columns="all")
    written = table("summary small.parquet --by patient --eta etas.csv")
    assert_frame_equal(written, expected, check_exact=True)


def test_a_file_of_samples(here: Path) -> None:
    """k positives of n examples, in place of eta: the interval has the level that is asked for."""
    sample = pl.DataFrame(
        {"model": ["a", "b", None], "k": [2, 1, 0], "n": [50, 900, 30], "of": [1, 2, 3]}
    )
    sample.write_csv("sample.csv")
    for options, level in (("", 0.95), ("--confidence 0.8", 0.8)):
        etas = polars_prcurve.eta_from_sample(sample, confidence=level)
        how: dict[str, Any] = {"by": "model", "confidence": level if options else None}
        expected = prc(DF).summary(etas, columns="all", **how)
        found = table(f"summary scores.csv --model model --eta sample.csv {options}")
        assert_frame_equal(found, expected, rel_tol=1e-12)
        expected.select("model", "eta", "eta_low", "eta_high", "eta_confidence").unique().write_parquet(
            "etas.parquet"
        )
        expected = prc(DF).operating_points(
            pl.read_parquet("etas.parquet"), recall=0.5, columns="all", **how
        )
        found = table(
            f"operating-points scores.csv --model model --eta etas.parquet --recall 0.5 {options}"
        )
        assert_frame_equal(found, expected, rel_tol=1e-12)
        assert found["eta_low"].null_count() == 0


# Thresholds that were chosen on one file, for another --------------------------------------------

SCORE_DTYPES = [pl.Float64(), pl.Float32(), pl.Int64(), pl.Decimal(9, 3)]


def chosen_and_new(dtype: pl.DataType) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two tables of two models at two sites, whose names look like numbers."""
    n = pl.int_range(240)
    scale = 1000 if dtype.is_integer() else 1
    return tuple(
        pl.select(
            (n % 2).cast(pl.String).str.zfill(2).alias("site"),
            pl.when(n // 2 % 2 == 0).then(pl.lit("forest")).otherwise(pl.lit("trees")).alias("model"),
            ((n * step % 997) / 997 * scale).cast(dtype).alias("score"),
            (n * step % 997 + n * 17 % 400 > 700).alias("label"),
        )
        for step in (331, 547)
    )  # type: ignore[return-value]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("dtype", "extension"),
    [
        *((dtype, ".csv") for dtype in SCORE_DTYPES),
        *((pl.Float32(), ".parquet"), (pl.Decimal(9, 3), ".ndjson")),
    ],
    ids=str,
)
def test_thresholds_of_one_file_are_applied_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: pl.DataType, extension: str
) -> None:
    """Each score that was written is the one that is read: not its neighbour, in no format."""
    monkeypatch.chdir(tmp_path)
    old, new = chosen_and_new(dtype)
    old.write_parquet("old.parquet")
    new.write_parquet("new.parquet")
    groups, etas = ["site", "model"], [0.01, 0.3]
    chosen = prc(old).operating_points(etas, by=groups, recall=0.5, maximize="f1", columns="all")
    assert chosen["threshold"].dtype == dtype
    how = "--by site model --eta 0.01 0.3"
    file = f"chosen{extension}"
    assert (
        main(shlex.split(f"operating-points old.parquet {how} --recall 0.5 --maximize f1 -o {file}"))
        == 0
    )
    expected = prc(new).operating_points(
        etas, by=groups, threshold=chosen, confidence=0.9, columns="all"
    )
    assert expected.height == 16
    found = table(f"operating-points new.parquet {how} --threshold {file} --confidence 0.9")
    assert_frame_equal(found, expected, check_exact=True)
    same = table(f"operating-points old.parquet {how} --threshold {file}")
    assert_frame_equal(same.select("tp", "fp"), chosen.select("tp", "fp"), check_exact=True)


def test_a_file_of_thresholds_serves_each_command_that_takes_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A model has its own threshold, also where models are columns of scores."""
    old, new = chosen_and_new(pl.Float64())
    for name, df in (("old", old), ("new", new)):
        df.write_parquet(f"{name}.parquet")
    how = "--model model --eta 0.1 --recall 0.5"
    chosen = table(f"operating-points old.parquet {how}", "chosen.csv").drop("eta")
    ranks = prc(new).ranking(0.1, metric="precision", threshold=chosen, confidence=0.9, columns="all")
    asked = "--eta 0.1 --threshold chosen.csv"
    found = table(f"ranking new.parquet {asked} --metric precision --confidence 0.9")
    assert_frame_equal(found, ranks, check_exact=True)
    places = prc(new).crossings(metric="precision", threshold=chosen)
    found = table("crossings new.parquet --metric precision --threshold chosen.csv")
    assert_frame_equal(found, places, rel_tol=1e-12)
    sizes = prc(new).sample_size(by="model", threshold=chosen)
    found = table("sample-size new.parquet --by model --threshold chosen.csv")
    assert_frame_equal(found, sizes, check_exact=True)
    sure = prc(new).operating_points(
        0.5, by="model", precision=0.5, guarantee=0.8, start=chosen, columns="all"
    )
    at = "--model model --eta 0.5 --precision 0.5 --guarantee 0.8 --start all.csv"
    chosen.write_csv("all.csv")
    assert_frame_equal(table(f"operating-points new.parquet {at}"), sure, check_exact=True)
    wide = WIDE.select("label", pl.col("a", "b").cast(pl.Float64))
    wide.write_parquet("wide.parquet")
    pl.DataFrame({"model": ["b", "a", "c"], "threshold": [20.0, 40.0, 1.0]}).write_csv("two.csv")
    apart = {"model": ["a", "b"], "threshold": [40.0, 20.0]}
    pairs = prc(wide).compare(
        0.1, score=["a", "b"], metrics="recall", threshold=pl.DataFrame(apart), columns="all"
    )
    command = "compare wide.parquet --score a,b --eta 0.1 --metrics recall --threshold"
    assert_frame_equal(table(f"{command} two.csv"), pairs, rel_tol=1e-12)
    one = prc(wide).compare(0.1, score=["a", "b"], metrics="recall", threshold=25.5, columns="all")
    assert_frame_equal(table(f"{command} 25.5"), one, rel_tol=1e-12)
    os.remove("out.parquet")
    capsys.readouterr()
    for line, words in {
        "operating-points new.parquet --threshold chosen.csv": ("out of the threshold= frame"),
        "operating-points new.parquet --by site --threshold wide.parquet": "numeric column 'threshold'",
        "operating-points new.parquet --threshold chosen.csv 0.5": "got 'chosen.csv'",
        "operating-points new.parquet --by model --threshold none.csv": "there is no file 'none.csv'",
        "sampling-plan new.parquet --threshold chosen.csv --budget 9": "threshold= takes",
        "operating-points new.parquet --by site,model --threshold chosen.csv --rates score score": (
            "no thresholds"
        ),
        "operating-points new.parquet --by model --threshold chosen.csv -o chosen.csv": (
            "is also an input"
        ),
        "operating-points new.parquet --by model --eta 0.2 --threshold chosen.csv": (
            "drop the column 'eta'"
        ),
    }.items():
        assert words in refusal(line, capsys), line


def test_weights_of_a_field_go_into_the_next_command(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of parts look like numbers, and a row without a score is left out."""
    old, _ = chosen_and_new(pl.Float64())
    old.with_columns(pl.col("score").replace(0.0, None)).write_parquet("old.parquet")
    pl.DataFrame({"site": ["00", "01"], "eta": [0.1, 0.01], "share": [1, 3]}).write_csv("field.csv")
    how = "reweight old.parquet --parts site --eta field.csv"
    weighed = table(f"{how} --score score --missing drop", "weighed.parquet")
    assert weighed.height == 239
    found = table("operating-points weighed.parquet --weight weight --recall 0.5 --metrics precision")
    assert found["eta"].to_list() == pytest.approx([0.25 * 0.1 + 0.75 * 0.01])
    of_parts = "--parts site --eta field.csv --missing drop"
    parts = pl.read_csv("field.csv", schema_overrides={"site": pl.String})
    for by in ("--by model", "--model model"):
        each = prc(pl.read_parquet("old.parquet")).reweight(field(parts, "site"), by="model")
        assert_frame_equal(table(f"{how} {by}"), each, check_exact=True)
    same = table(f"operating-points old.parquet {of_parts} --recall 0.5 --metrics precision")
    assert_frame_equal(found.select(same.columns[1:7]), same.select(same.columns[1:7]), rel_tol=1e-9)
    capsys.readouterr()
    for name in ("out.parquet", "weighed.parquet"):
        os.remove(name)
    pl.DataFrame({"site": ["00", "01"], "k": [1, 2], "n": [9, 9], "share": [1, 3]}).write_csv("k.csv")
    for line, words in {
        f"{how} --name score": "choose another name=: 'score' is already a column",
        "reweight old.parquet --parts site --eta 0.1": "pass --eta as a file with --parts",
        "reweight old.parquet --parts site --eta k.csv": "a weight cannot carry the error of eta",
        "reweight old.parquet --eta field.csv": "eta= takes field(frame, parts=...)",
    }.items():
        assert words in refusal(line, capsys), line


# Tables with a column of scores per model ------------------------------------------------------

WIDE = pl.DataFrame(
    {
        "label": [1, 1, 0, 1, 0, 0, 1, 0] * 8,
        "a": [n * 37 % 64 for n in range(64)],
        "b": [n * 11 % 64 for n in range(64)],
        "site": ["x", "y"] * 32,
        "model": ["of the car"] * 64,
        "score": [0.5] * 64,
    }
)
LONG = prc(WIDE.drop("model", "score")).unpivot_scores(["a", "b"], row="row")

FROM_WIDE: list[tuple[str, Callable[[Any], pl.DataFrame]]] = [
    ("curve --eta 0.1", lambda p: p.curve(0.1, by="model")),
    ("summary --eta 0.1 --by site", lambda p: p.summary(0.1, by=["site", "model"], columns="all")),
    (
        "operating-points --threshold 31.5",
        lambda p: p.operating_points(threshold=31.5, by="model", columns="all"),
    ),
    ("ranking --eta 0.1", lambda p: p.ranking(0.1, columns="all")),
    ("crossings --leaders", lambda p: p.crossings(leaders=True)),
    (
        "sample-size --solve-for eta --recall 0.5",
        lambda p: p.sample_size(recall=0.5, by="model", solve_for="eta"),
    ),
    # Models of one table scored the same examples.
    (
        "ranking --eta .1 --confidence .9",
        lambda p: p.ranking(0.1, confidence=0.9, id="row", columns="all"),
    ),
    (
        "ranking --eta .1 --confidence .9 --metric precision --fpr .2",
        lambda p: p.ranking(0.1, confidence=0.9, metric="precision", fpr=0.2, id="row", columns="all"),
    ),
    ("crossings --eta-range 0.001 0.999", lambda p: p.crossings(eta_range=(0.001, 0.999))),
    (
        "compare --metrics precision --recall 0.5",
        lambda p: p.compare(model="model", id="row", metrics="precision", recall=0.5, columns="all"),
    ),
    ("sample-size --recall 0.5", lambda p: p.sample_size(recall=0.5, by="model")),
    ("counts --unlabelled", lambda p: p.counts(by="model", label=None)),
    (
        "compare --eta 0.1 --by site",
        lambda _: prc(WIDE).compare(0.1, score=["a", "b"], by="site", columns="all"),
    ),
]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "asked", slow_unless(lambda asked: asked in FROM_WIDE[::3], FROM_WIDE), ids=lambda asked: asked[0]
)
def test_scores_of_several_models(here: Path, asked: tuple[str, Callable[[Any], pl.DataFrame]]) -> None:
    """The column of a model names it, whatever else the table calls `model` or `score`."""
    command, expected = asked
    WIDE.write_csv("wide.csv")
    name, _, options = command.partition(" ")
    found = table(f"{name} wide.csv --score a,b {options}")
    assert_frame_equal(found, expected(prc(LONG)), rel_tol=1e-12)


def test_a_missing_score_of_a_wide_table_is_of_scores(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    WIDE.with_columns(b=pl.when(pl.int_range(pl.len()) > 1).then("b")).write_csv("wide.csv")
    message = refusal("summary wide.csv --score a,b --eta 0.1", capsys)
    assert "a score of the columns 'a' and 'b' is null in 2 places" in message
    assert 'or pass missing="drop"' in message


def test_a_group_column_is_not_lost_to_the_name_of_models(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    WIDE.write_csv("wide.csv")
    message = refusal("summary wide.csv --score a,b --by model", capsys)
    assert (
        message == "leave the column 'model' out of by=: score= already adds a group column of that name"
    )


def test_a_report_of_a_wide_table(tmp_path: Path) -> None:
    WIDE.write_parquet(tmp_path / "wide.parquet")
    options = ["--score", "a,b", "--eta", "0.1", "--report", str(tmp_path / "a.html")]
    assert main(["decide", str(tmp_path / "wide.parquet"), *options]) == 0
    LONG.prc.report(tmp_path / "b.html", 0.1, model="model", id="row")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


METRICS = {
    "f_beta(2)": metrics.f_beta(2),
    "best(f1)": metrics.best("f1"),
    "best( f_beta(0.5) )": metrics.best(metrics.f_beta(0.5)),
    "precision_at_recall(.8)": metrics.precision_at_recall(0.8),
    "partial_roc_auc(1e-1)": metrics.partial_roc_auc(0.1),
    'pr_auc_trapezoid("one")': metrics.pr_auc_trapezoid("one"),
    "pr_auc_trapezoid(one)": metrics.pr_auc_trapezoid("one"),
    "pr_auc_trapezoid()": metrics.pr_auc_trapezoid(),
    "integrated_average_precision(0.001, 0.1, log)": metrics.integrated_average_precision(
        0.001, 0.1, "log"
    ),
    'integrated(pr_auc, 0, 1, ["beta", 1.0, 2.0])': metrics.integrated(
        "pr_auc", 0, 1, ("beta", 1.0, 2.0)
    ),
}


@pytest.mark.parametrize("text", METRICS)
def test_metrics_are_written_as_tables_name_them(text: str) -> None:
    found = parse_metric(read_names([text])[0])
    assert found is not None
    assert found.name == METRICS[text].name
    again = parse_metric(read_names([found.name])[0])
    assert again is not None
    assert again.name == found.name


def test_metrics_take_themselves_apart(here: Path) -> None:
    written = table(
        "summary scores.csv --metrics 'best(f_beta(2)),roc_auc' 'precision_at_recall(0.8)' --eta .1"
    )
    asked = [metrics.best(metrics.f_beta(2)), "roc_auc", metrics.precision_at_recall(0.8)]
    assert_frame_equal(written, prc(DF).summary(0.1, metrics=asked, columns="all"), check_exact=True)
    assert read_names(["f1,", "precision", "f_beta(2)"])[:2] == ["f1", "precision"]


def test_prevalences_that_do_not_fit(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("some.csv").write_text("model,eta\na,0.1\n,0.2\n")
    message = refusal("curve scores.csv --by model --eta some.csv", capsys)
    said, advice = message.split("; ")
    assert said == "the eta= frame has no row for 1 group, such as model = b"
    assert advice == "add one, or drop the group column if eta= is the same for all groups"
    Path("other.csv").write_text("patient,eta\nx,0.1\n")
    assert "'patient'" in refusal("curve scores.csv --by patient --eta other.csv", capsys)


def test_labels_that_are_text(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mail = DF.with_columns(label=pl.col("label").replace_strict({1: "spam", 0: "ham"}))
    mail.write_csv("mail.csv")
    expected = prc(DF).curve(by="model")
    assert_frame_equal(table("curve mail.csv --pos-label spam --by model"), expected, check_exact=True)
    message = refusal("curve mail.csv", capsys)
    assert message.startswith("label column 'label' is String; pass pos_label= (the positive value)")
    message = refusal("curve mail.csv --pos-label Spam", capsys)
    assert message.startswith("label column 'label' holds 15 rows and none equals pos_label='Spam'")
    assert "Int64; got 'spam'" in refusal("curve scores.csv --pos-label spam", capsys)


def test_values_have_the_dtype_of_their_column(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = DF.select(
        pl.col("score").cast(pl.Float32),
        (pl.col("label") == 1).alias("true"),
        pl.col("score").cast(pl.Decimal(10, 1)).alias("price"),
        pl.col("label").cast(pl.String).replace({"1": "yes", "0": "no"}).cast(pl.Enum(["no", "yes"])),
    )
    typed.write_parquet("typed.parquet")
    at = pl.Series([0.7], dtype=pl.Float32).item()
    points = table("operating-points typed.parquet --pos-label yes --threshold 0.7")
    expected = prc(typed).operating_points(threshold=at, pos_label="yes", columns="all")
    assert_frame_equal(points, expected, check_exact=True)
    no = table("curve typed.parquet --label true --pos-label False")
    assert_frame_equal(no, prc(typed).curve(label="true", pos_label=False), check_exact=True)
    of_price = table("operating-points typed.parquet --score price --threshold 0.7 --label true")
    assert of_price["tp"].to_list() == points["tp"].to_list()
    between = table("operating-points typed.parquet --score price --threshold 0.65 --label true")
    assert between.select("target", "threshold", "tp").row(0) == (
        0.65,
        Decimal("0.7"),
        points["tp"].item(),
    )
    assert "dtype Decimal(precision=10, scale=1); got 'x'" in refusal(
        "operating-points typed.parquet --score price --label true --threshold x", capsys
    )
    assert "pass a number: threshold= holds" in refusal(
        "operating-points typed.parquet --score price --label true --threshold nan", capsys
    )
    assert "'maybe'" in refusal("curve typed.parquet --pos-label maybe", capsys)


def test_patterns_name_many_files(here: Path) -> None:
    DF.head(6).write_csv("day 1.csv")
    DF.tail(9).write_csv("day 2.csv")
    assert_frame_equal(
        table("curve 'day *.csv' --by model"), prc(DF).curve(by="model"), check_exact=True
    )
    DF.write_csv("day [1].csv")  # a name comes before a pattern
    assert_frame_equal(table("curve 'day [1].csv'"), prc(DF).curve(), check_exact=True)


def test_standard_input(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(DF.write_csv().encode())))
    assert_frame_equal(
        table("summary - --by model"), prc(DF).summary(by="model", columns="all"), check_exact=True
    )


REFUSED = {
    "": "COMMAND",
    "kurve scores.csv": "'kurve'",
    "curve": "INPUT",
    "curve --eta 0.1 scores.csv": "INPUT; it comes first: polars-prcurve curve INPUT",
    "curve nowhere.csv": "there is no file 'nowhere.csv'",
    "curve 'no*.csv'": "there is no file 'no*.csv'",
    "curve scores.xlsx": ".parquet",
    "curve .": "folder",
    "curve scores.csv --eta 5": "eta= must be a share in [0, 1]",
    "curve scores.csv --eta nan": "texts such as \"0.1%\", \"1 in 1000\" and \"1:999\"; got 'nan'",
    "curve scores.csv --eta 1:x": "1:x",
    "curve scores.csv --eta 1%%": "'1%%'",
    "curve scores.csv --eta 101%": "eta= must be a share in [0, 1]",
    "operating-points scores.csv --recall x%": 'in [0, 1], such as 0.8 or "80%"; got \'x%\'',
    "curve scores.csv --eta 0.1 etas.csv": "got 'etas.csv'",
    "curve scores.csv --eta missing.csv": "there is no file 'missing.csv'",
    "curve scores.csv --eta scores.csv": "numeric column 'eta'",
    "curve scores.csv --eta 0.1 0.1": "more than once",
    "curve scores.csv --eta ,": "or None for the prevalence of each group; got none",
    "curve scores.csv --recal 1": "--recal",
    "curve scores.csv --score scroe": "did you mean 'score'?",
    "curve scores.csv --by modle": "there is no column 'modle' for by=",
    "curve scores.csv --label score": "score",
    "curve scores.csv --label model --pos-label c": "",
    "curve scores.csv --metrics f2": "no metric is named 'f2'",
    "curve scores.csv --metrics 'f3(2)'": "no metric is named 'f3(2)'",
    "curve scores.csv --metrics f_beta": "takes parameters, such as 'f_beta(2)'",
    "curve scores.csv --metrics 'f_beta(x)'": "beta takes a positive number",
    "curve scores.csv --metrics 'f_beta(beta=2)'": "expected f_beta(beta)",
    "curve scores.csv --metrics 'f_beta(0)'": "beta takes a positive number",
    "curve scores.csv --metrics 'f1('": "no metric is named 'f1('",
    "curve scores.csv --metrics 'best(f1)'": "use .prc.summary(metrics='best(f1)')",
    "curve scores.csv --metrics '__import__(\"os\").getcwd()'": "no metric is named",
    "curve scores.csv --metrics f1 f1": "twice",
    "curve scores.csv --confidence 95": "confidence=",
    "curve scores.csv --thresholds 0": "thresholds=",
    "curve scores.csv --thresholds x": "thresholds=",
    "curve scores.csv --counts label patient --weight weight": "pass only one of weight= and counts=",
    "curve scores.csv --rates score label": "pass eta= as numbers",
    "ranking scores.csv --model model --rates score label --eta .1 --metric f1 --recall .5": (
        'pass metric="precision_at_recall(0.5)" and coarse=True instead of recall='
    ),
    "compare scores.csv --model model --rates score label": "pass paired=False with model=",
    "curve scores.csv -o nowhere/out.csv": "folder",
    "curve scores.csv -o out.xlsx": ".parquet",
    "summary scores.csv --metrics precision": "'precision' needs a threshold",
    "summary scores.csv --metrics precison": "did you mean 'precision'? It needs a threshold, as in",
    "curve scores.csv --rates score specificity": "name a column that holds fpr, or pass 1 - pl.col(",
    "decide run.txt": "got 'run.txt'; a run of TREC, as INPUT, needs --qrels",
    "summary scores.csv --confidence 0.9,method=boot": "method= takes",
    "summary scores.csv --confidence 0.9,method=bootstrap,resamples=1": "resamples= takes a whole ",
    "summary scores.csv --confidence 0.9,seed=1": "or leave out resamples= and seed=",
    "summary scores.csv --confidence 95,seed=1": "level= takes a level between 0 and 1",
    "summary scores.csv --confidence 0.9,sed=1": "argument 'sed'; did you mean 'seed'?",
    "summary scores.csv --confidence 0.9,seed=x": "seed= takes a whole number of at least 0",
    "summary scores.csv --confidence 0.9,seed": "seed= takes a whole number of at least 0",
    "summary scores.csv --confidence high": "argument 'high'; choose from: level, method",
    "summary scores.csv --confidence 0.9,rate=jeffreys": "summary() takes rate=\"wilson\" only",
    "operating-points scores.csv": "threshold=, recall=, fpr=, precision=, alerts= or maximize=",
    "operating-points scores.csv --recall 2": "recall= takes numbers in [0, 1]",
    "operating-points scores.csv --recall x": "'x'",
    "operating-points scores.csv --threshold x": "of dtype Float64; got 'x'",
    "operating-points scores.csv --alerts 500": "pass per=",
    "operating-points scores.csv --alerts 5/0": "500/2000000",
    "operating-points scores.csv --alerts 5/2": "500/2000000",
    "operating-points scores.csv --alerts 1/2/3": "500/2000000",
    "operating-points scores.csv --alerts 5/100 5/200": "must use the same one",
    "compare scores.csv --eta 0.1": "or model= with id=, the column that identifies an example; for",
    "compare scores.csv --score score --eta 0.1": "pass a list of columns as score=",
    "ranking scores.csv --model patient": "eta=None compares models at the prevalence of each",
    "crossings scores.csv --eta-range 0 1": "eta_range= takes two prevalences",
    "crossings scores.csv --eta-range 0.1": "eta_range=",
    "sample-size scores.csv": "recall=",
    "sample-size scores.csv --recall .5 --delta 0": "delta=",
    "estimate-prevalence scores.csv": "eta_train=",
    "estimate-prevalence scores.csv --score patient --eta-train 0.1": "pass reference=",
    "estimate-prevalence scores.csv --reference scores.csv --eta-train 0.1": "pass either eta_train=",
    "estimate-prevalence scores.csv --reference none.csv": "there is no file 'none.csv'",
    "estimate-prevalence scores.csv --reference scores.csv counts=label,non": "'non'",
    "estimate-prevalence scores.csv --reference counts=label,patient": "reference= takes a DataFrame",
    "estimate-prevalence scores.csv --reference a=b scores.csv": (
        "one file, then column arguments"
    ),
    "estimate-prevalence scores.csv --reference scores.csv scores.csv": (
        "one file, then column arguments"
    ),
    "compare scores.csv --no-paired --missing drop --eta field.csv --parts patient": "compare() has no "
    "formula for field()",
    "decision-curve scores.csv --eta .1": "eta_train=",
    "counts scores.csv --unlabelled --score none": "'none'",
}  # fmt: skip


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_refused_is_said_in_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    PARTS.write_csv("field.csv")
    assert REFUSED[command] in refusal(command, capsys)


@pytest.mark.parametrize("output", ["", "-o out.csv", "-o out.parquet"])
def test_bad_values_leave_nothing(here: Path, capsys: pytest.CaptureFixture[str], output: str) -> None:
    DF.with_columns(score=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("score")).write_csv(
        "gaps.csv"
    )
    message = refusal(f"curve gaps.csv {output}", capsys)
    assert message.startswith("score column 'score' is null in 1 row; filter those rows out, or pass")
    Path("broken.parquet").write_bytes(b"PAR1 and no more")
    refusal(f"summary broken.parquet {output}", capsys)
    Path("late.csv").write_text("score,label\n" + "0,1\n1,0\n" * 6_000 + "0.5,1\n")
    assert refusal(f"curve late.csv {output}", capsys).endswith("from the first 10,000 rows")
    Path("empty.csv").write_text("")
    assert "first line of 'empty.csv', which is empty" in refusal(f"summary empty.csv {output}", capsys)


def test_a_promise_that_no_threshold_keeps(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The row has no threshold, and what a test set must have."""
    few = pl.DataFrame({"score": [2, 1], "n_pos": [3, 0], "n_neg": [0, 4]})
    few.write_csv("few.csv")
    asked = "operating-points few.csv --counts n_pos n_neg --eta 0.1 --guarantee 0.95"
    found = table(f"{asked} --precision 0.9 1 --fpr 0.2 --recall .05", "points.csv")
    assert found["threshold"].to_list() == [2, None, None, None]
    assert found["n_neg_needed"].to_list() == [None, 14, 417, float("inf")]
    assert capsys.readouterr().err == (
        "polars-prcurve: 3 of 4 rows have no threshold with this guarantee; n_pos_needed and "
        "n_neg_needed are the examples that even perfect scores need\n"
    )
    lines = on_a_terminal(f"{asked} --precision 0.9 1", 100)[0].splitlines()
    assert [line.split()[-1] for line in lines[2:]] == ["n_neg_needed", "-" * 31, "417", "inf"]


def test_a_file_stays_as_it_was_when_the_next_run_fails(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table("curve scores.csv", "out.csv")
    before = Path("out.csv").read_bytes()
    refusal("curve scores.csv --label patient -o out.csv", capsys)
    assert Path("out.csv").read_bytes() == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(
    command: str, columns: int = 80, beside: type[io.StringIO] = Terminal
) -> tuple[str, str]:
    """What a person sees: standard output, and beside it standard error."""
    screen, notes = Terminal(), beside()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", screen)
        patch.setattr(sys, "stderr", notes)
        patch.setenv("COLUMNS", str(columns))
        assert main(shlex.split(command)) == (2 if "error: " in notes.getvalue() else 0)
    return screen.getvalue(), notes.getvalue()


def test_thresholds_of_a_file_stand_once_and_leave_room_for_intervals(here: Path) -> None:
    pl.DataFrame({"site": ["x", "y"], "threshold": [21.5, 40.25]}).write_csv("own.csv")
    WIDE.with_columns(score=pl.col("a").cast(pl.Float64)).write_csv("sites.csv")
    asked = "operating-points sites.csv --by site --eta 0.1 --confidence 0.95 --metrics precision recall"
    lines = on_a_terminal(f"{asked} --threshold own.csv")[0].splitlines()
    heads = re.split(r"  +", lines[2])
    assert heads[:4] == ["site", "threshold", "precision (95%)", "recall (95%)"]
    assert lines[4].split()[:2] == ["x", "21.5"]
    mixed = on_a_terminal(f"{asked} --threshold 21.5 --recall 0.5")[0].splitlines()
    assert mixed[2].split()[:3] == ["site", "criterion", "target"]


@pytest.mark.extras
def test_a_report_of_a_field_takes_a_column_of_scores_per_model(here: Path) -> None:
    pl.DataFrame({"site": ["x", "y"], "eta": [0.1, 0.01], "share": [1, 3]}).write_csv("field.csv")
    WIDE.write_csv("wide.csv")
    asked = "decide wide.csv --score a,b --eta field.csv --parts site --recall 0.5 --date 2026 --report"
    assert main(shlex.split(f"{asked} wide.html")) == 0
    prc(WIDE.drop("model", "score")).unpivot_scores(["a", "b"], row="row").write_csv("long.csv")
    long = asked.replace("wide.csv --score a,b", "long.csv --model model --id row")
    assert main(shlex.split(f"{long} long.html")) == 0
    assert Path("wide.html").read_bytes() == Path("long.html").read_bytes()


def test_a_terminal_gets_a_table_that_fits(here: Path) -> None:
    """What is constant stands above, answers come first, and an interval is one column."""
    few = WIDE.head(16)
    few.write_csv("wide.csv")
    asked = (
        "summary wide.csv --score a,b --eta 0.001 --confidence 0.9 --metrics average_precision roc_auc"
    )
    shown, beside = on_a_terminal(asked)
    values = (
        prc(few.drop("model", "score"))
        .unpivot_scores(["a", "b"])
        .prc.summary(
            0.001, by="model", confidence=0.9, metrics=["average_precision", "roc_auc"], columns="all"
        )
    )
    lines = shown.splitlines()
    assert lines[0] == "eta 1 in 1,000; n_pos 8; n_neg 8"
    assert re.split("  +", lines[2]) == ["model", "metric", "value (90%)"]
    assert set(lines[3]) == {"-"}
    first = values.filter(pl.col("metric") == "average_precision").row(0, named=True)
    cell = f"{first['value']:.5f} ({first['low']:.5f} to {first['high']:.5f})?"
    assert lines[4].startswith("a      average_precision")
    assert cell in lines[4]
    assert len({len(line.partition(")")[0]) for line in lines[4:6]}) == 1  # numbers end in one place
    assert lines[-1] == "? This interval may be wrong: few positives."
    assert "standard_error" in on_a_terminal(f"{asked} --columns all", 200)[0]
    assert beside == ""


def test_a_range_of_prevalences_has_both_ends(here: Path) -> None:
    """One row of ranges is not about one prevalence, the low end."""
    shown, _ = on_a_terminal("crossings scores.csv --leaders --metric pr_auc --eta-range 0.01 0.9")
    assert shown.splitlines()[0] == "eta_low 1 in 100; eta_high 90%"
    assert shown.splitlines()[2:5] == ["model", "-----", "a"]


def test_one_target_stands_above_and_answers_first(here: Path) -> None:
    asked = "operating-points scores.csv --by model --eta 0.01 --confidence 0.95"
    for target in (
        "--recall 0.5",
        "--alerts 20/1000",
        "--precision 0.01",
        "--recall 0.5 --alerts 2/100",
    ):
        shown, _ = on_a_terminal(f"{asked} {target}", 72)
        is_one = target.count("--") == 1
        head = next(line for line in shown.splitlines() if line.startswith("model"))
        columns = ["model", *([] if is_one else ["criterion", "target"]), "threshold", "precision (95%)"]
        assert re.split(r" {2,}", head)[: len(columns)] == columns
        assert not is_one or f"criterion {target.split()[0][2:]}; target " in shown


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("columns", [25, 40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal(here: Path, columns: int) -> None:
    WIDE.write_csv("wide.csv")
    options = "--eta 0.1 0.01 --precision 0.5 --alerts 1/100 --maximize f1 --confidence 0.9 --by site"
    shown, beside = on_a_terminal(f"operating-points wide.csv --score a,b {options}", columns)
    lines = shown.splitlines()
    assert max(map(len, lines)) <= columns
    is_table = columns >= 60
    words = shown.split("\n---")[0].split() if is_table else re.split(r"[;\s]+", shown)
    assert [word in words for word in ("site", "precision", "(90%)")] == [True] * 3
    assert ("threshold" in words) == (columns != 60)
    told = " ".join(beside.split())  # after seconds, if slow
    left_out = r"\d+ of \d+ columns; -o FILE writes all, such as -o table\.csv$"
    assert (re.search(left_out, told) is None) == (columns == 200 or not is_table)
    assert max(map(len, re.sub(r"\r.*\r", "", beside).splitlines()), default=0) <= columns


NARROW = {
    "operating-points wide.csv --score new,old --eta 0.02 --recall 0.5 --confidence 95%": (
        "precision",
        2,
    ),
    "compare wide.csv --score new,old --eta 0.02": ("difference", 2),
    "ranking wide.csv --score new,old --eta 0.02 --confidence 95%": ("behind", 2),
    "summary wide.csv --score new,old --eta 0.02 --confidence 95%": ("value", 4),
    "curve wide.csv --score new --eta 0.02 --confidence 95% --thresholds 3": ("precision", 3),
    "estimate-prevalence wide.csv --score new --reference wide.csv --confidence 95%": ("eta (95%)", 1),
}


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("command", NARROW)
@pytest.mark.parametrize("wide", [False, True])
def test_a_narrow_terminal_keeps_the_first_interval(here: Path, command: str, wide: bool) -> None:
    """An interval that has no room beside its value stands below it; a long name does not hide it."""
    name = "日本語のモデル日本語のモデル" if wide else "new"
    SETTLED.rename({"new": name}).write_csv("wide.csv")
    command = command.replace("new", name)
    head, n_rows = NARROW[command.replace(name, "new")]
    shown, _ = on_a_terminal(command, 40)
    assert max(map(measure_width, shown.splitlines())) <= 40
    assert head in shown
    assert "(95%)" in shown
    rows = shown.split("\n\n", 1)[-1]  # without the sentence of the decision
    assert len(re.findall(r"\([-\d.in% ]+ to [-\d.in% ]+\)", rows)) == n_rows


def test_a_terminal_shows_the_first_rows(here: Path) -> None:
    many = ",".join(str(n / 1000) for n in range(1, 11))
    shown, beside = on_a_terminal(f"curve scores.csv --eta {many}")
    rows = prc(DF).curve([n / 1000 for n in range(1, 11)]).height
    assert f"50 of {rows} rows; -o FILE writes all" in beside
    assert len(re.findall(r"^\S.* +0\.\d+ ", shown, re.M)) == 50


def test_rows_come_in_an_order_for_people(here: Path) -> None:
    """By prevalence, then by metric: models that are compared stand side by side."""
    shown, _ = on_a_terminal("summary scores.csv --by model --eta 0.1 0.01 --metrics roc_auc pr_auc")
    order = [(eta, metric) for eta in ("1 in 100", "1 in 10") for metric in ("pr_auc", "roc_auc")]
    rows = [re.split("  +", line)[:3] for line in shown.splitlines() if "auc" in line]
    assert rows == [[model, eta, metric] for eta, metric in order for model in ("-", "a", "b")]


def test_no_end_of_an_interval_is_rounded_to_its_value() -> None:
    rng = np.random.default_rng(82)
    for n_rows in (1, 2, 5) * 100:
        value = rng.choice([0.0, 0.5, 1.0, rng.random(), rng.random() / 50], n_rows)
        low = np.maximum(value - rng.choice([0, 0.3, 0.02, 3e-5], n_rows), 0)
        high = np.minimum(value + rng.choice([0, 0.3, 0.02, 3e-5], n_rows), 1)
        table = pl.DataFrame({"value": value, "low": low, "high": high})
        lines, _ = format_table(table, Layout([], ["value"], 0.95), 80)
        for line, row in zip(lines[2:], table.rows(), strict=True):
            shown = re.fullmatch(r" *(\S+) \((\S+) to (\S+)\)", line)
            assert shown is not None, line
            assert [text == shown[1] for text in shown.groups()] == [end == row[0] for end in row]


@pytest.mark.quick_cases(14)
@pytest.mark.parametrize("width", range(40, 81))
def test_a_narrow_table_has_whole_prevalences_and_an_answer(width: int) -> None:
    rows = {"model": ["forest", "logistic"] * 2, "eta": [0.001, 0.001, 0.01, 0.01]}
    counts = {"threshold": [1.5, 2.5] * 2, "recall": [0.75, 0.5] * 2}
    ends = {"value": [0.5] * 4, "low": [0.25, 0.375] * 2, "high": [0.75, 0.625] * 2}
    table = pl.DataFrame({**rows, **counts, **ends})
    lines, _ = format_table(table, Layout([], ["threshold", "value"], 0.95), width)
    assert all(measure_width(line) <= width for line in lines)
    words = " ".join(" ".join(lines).split())
    assert words.count("1 in 1,000") == words.count("(0.250 to 0.750)") == 2
    assert "threshold" in words or "value" in words


@pytest.mark.parametrize("n_letters", [6, 60])
def test_a_row_without_room_for_an_answer_is_a_paragraph(n_letters: int) -> None:
    """Names of groups alone, without the values that were asked for, would be no table."""
    rows = {"site": ["Cork" * 20, "Lund"], "model": ["m" * n_letters, "b"], "eta": [0.001, 0.01]}
    ends = {"value": [0.5, None], "low": [0.25, None], "high": [0.75, None], "x": [1, 2]}
    table = pl.DataFrame({**rows, "metric": ["roc_auc", "pr_auc"], **ends})
    lines, shown = format_table(table, Layout(["site"], ["value"], 0.95), 40)
    assert all(measure_width(line) <= 40 for line in lines)
    first, second = " ".join(lines).split("  ")
    assert "eta 1 in 1,000; metric roc_auc; value (95%) 0.50 (0.25 to 0.75); x 1" in first
    assert second == "site Lund; model b; eta 1 in 100; metric pr_auc; x 2"
    assert shown == set(table.columns)
    assert format_table(table.clear(), Layout(["site"], ["value"], 0.95), 40)[0][0].startswith("site")


def test_numbers_are_rounded_but_not_to_0_or_1(here: Path) -> None:
    table = pl.DataFrame(
        {"eta": [0.1] * 3, "x": [0.99996, 0.5, 1.0], "y": [1e-12, 0.25, 0.0], "z": [13361.8, 12.0, 1.0]}
    )
    lines, covered = format_table(table, Layout([], []), 80)
    assert [re.split(r" {2,}", line.strip()) for line in lines[4:]] == [
        ["0.99996", "1.0e-12", "13,361.8"],
        ["0.50000", "0.25", "12.0"],
        ["1.00000", "0.00", "1.0"],
    ]
    assert covered == set(table.columns)


def test_columns_without_a_value_are_not_shown() -> None:
    """The first answer stays, as a dash; the number of columns counts what is told to be empty."""
    table = pl.DataFrame({"g": [None, "a"], "value": [None, None], "p_value": [None, None], "x": [1, 2]})
    lines, covered = format_table(table, Layout(["g"], ["value", "p_value"]), 80)
    assert [line.split() for line in lines] == [
        ["g", "value", "x"],
        ["-" * 11],
        ["-", "-", "1"],
        ["a", "-", "2"],
    ]
    assert covered == set(table.columns)


HOSTILE = ["\x1b]0;pwned\x07", "a\nb", "\u202eevil", "日本語のモデル" * 9, "e\u0301te\u0301", "x" * 99]


@pytest.mark.parametrize("columns", [30, 80])
def test_names_cannot_break_a_table(here: Path, columns: int) -> None:
    """No name commands the terminal, ends a line, turns the direction of writing, or moves a column."""
    pl.DataFrame(
        {"g": HOSTILE * 2, "score": [0.5, 0.25] * 6, "n_pos": [1] * 12, "n_neg": [2] * 12}
    ).write_parquet("hostile.parquet")
    shown, _ = on_a_terminal("counts hostile.parquet --counts n_pos n_neg --by g", columns)
    lines = shown.splitlines()
    assert len(lines) == 2 + len(HOSTILE)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]", shown)
    assert len({measure_width(line) for line in lines[2:]}) == 1
    assert measure_width(lines[2]) <= columns


def test_text_is_as_wide_as_it_looks() -> None:
    widths = {"ab": 2, "日本": 4, "e\u0301": 1, "a\u200bb": 2, "": 0}
    assert {text: measure_width(text) for text in widths} == widths
    assert cut_text("日本語", 4) == "日…"
    assert cut_text("abc", 3) == "abc"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    "command", ["ranking wide.csv --eta 0.02", "crossings wide.csv --leaders", "crossings wide.csv"]
)
def test_orders_that_no_test_stands_behind_say_so(here: Path, command: str) -> None:
    SETTLED.write_csv("wide.csv")
    shown, _ = on_a_terminal(f"{command} --score new,old", 60)
    assert "No lead was tested" in shown


@pytest.mark.parametrize("more", ["--confidence 95%", "-o rows.csv"])
def test_tested_orders_and_files_need_no_warning(here: Path, more: str) -> None:
    SETTLED.write_csv("wide.csv")
    assert (
        "No lead was tested"
        not in on_a_terminal(f"ranking wide.csv --score new,old --eta 0.02 {more}")[0]
    )


def test_a_decision_in_a_file_leaves_its_sentence_beside_it(here: Path) -> None:
    SETTLED.write_csv("wide.csv")
    shown, beside = on_a_terminal("decide wide.csv --score new,old --eta 2% --recall 0.5 -o rows.csv")
    assert shown == ""
    assert "new is better" in " ".join(beside.split())
    assert pl.read_csv("rows.csv").height == 2


def test_a_terminal_that_knows_ascii_alone_gets_a_table(here: Path) -> None:
    DF.head(2).with_columns(model=pl.lit("日本")).write_csv("names.csv")
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", screen)
        print_rows(prc(pl.read_csv("names.csv")).counts(by="model"), 2, Layout(["model"], []))
        screen.flush()
    assert b"??" in screen.buffer.getvalue()  # type: ignore[attr-defined]


def test_a_terminal_that_knows_ascii_alone_gets_a_decision(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame({"label": [1, 0], "日本": [2, 1], "b": [1, 2]}).write_csv("names.csv")
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    assert main(["decide", "names.csv", "--score", "日本,b", "--eta", "10%", "--recall", "50%"]) == 0
    assert b"?? " in screen.buffer.getvalue()  # type: ignore[attr-defined]


# Progress -------------------------------------------------------------------------------------


def test_a_terminal_is_told_what_was_written(here: Path) -> None:
    shown, beside = on_a_terminal("curve scores.csv -o out.csv")
    assert shown == ""
    assert beside == "wrote out.csv\n"


@pytest.mark.parametrize("command", ["curve scores.csv", "curve scores.csv -o out.csv"])
def test_long_work_is_shown_on_terminals_alone(
    here: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """A line with the seconds appears, and is erased before anything else is said."""
    slow = FilePrc.curve

    @wraps(slow)
    def curve(*args: Any, **given: Any) -> pl.LazyFrame:
        time.sleep(0.3)
        return slow(*args, **given)

    monkeypatch.setattr(FilePrc, "curve", curve)
    monkeypatch.setattr(progress, "_DELAY_SECONDS", 0.1)
    _, beside = on_a_terminal(command)
    line, *rest = re.split(r"\r(?=[^\r]*$)", beside)
    assert re.match(r"\rcurve of scores.csv: 0 s", line)
    assert line.rstrip(" ").endswith("s\r") or line.endswith(" ")
    assert rest == [""] or rest[0].startswith("wrote ")
    _, beside = on_a_terminal(command, beside=io.StringIO)
    assert beside == ""


def test_large_tables_go_through_in_streams(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 500_000
    big = pl.select(
        score=pl.int_range(rows).hash(1).cast(pl.Float64), label=pl.int_range(rows).hash(2) % 100 == 0
    )
    big.write_parquet("big.parquet", row_group_size=50_000)

    def collect(*_: Any, **__: Any) -> None:
        raise AssertionError("a query was collected")

    with monkeypatch.context() as patch:
        patch.setattr(pl.LazyFrame, "collect", collect)
        assert main(["curve", "big.parquet", "--eta", "0.001", "-o", "out.parquet"]) == 0
    assert_frame_equal(pl.read_parquet("out.parquet"), prc(big).curve(0.001), check_exact=True)


def test_an_interrupt_leaves_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def sink(query: pl.LazyFrame, file: BinaryIO, **_: Any) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setitem(table_files._FORMATS, ".csv", table_files._CSV._replace(sink=sink))
    before = set(os.listdir())
    assert main(["curve", "scores.csv", "-o", "out.csv"]) == 130
    assert capsys.readouterr() == ("", "polars-prcurve: interrupted\n")
    assert set(os.listdir()) == before


def test_help_mentions_every_option(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    about = capsys.readouterr().out
    assert about.count("    polars-prcurve ") == 4
    assert max(map(len, about.splitlines())) <= 80
    assert "1:5000" in about
    [commands] = [
        a for a in build_parser(ANSWERS_OF_METHOD)._actions if isinstance(a, argparse._SubParsersAction)
    ]
    for name, parser in commands.choices.items():
        assert name in about
        with pytest.raises(SystemExit, match="0"):
            main([name, "--help"])
        told = capsys.readouterr().out
        assert max(map(len, told.splitlines())) <= 80
        for action in parser._actions:
            assert action.help
            assert all(option in told for option in action.option_strings)
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"polars-prcurve {polars_prcurve.__version__}\n"


def test_a_command_needs_no_signals_of_posix(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Windows has neither of these, or only in newer versions of Python."""
    monkeypatch.delattr(signal, "SIGHUP")
    monkeypatch.delattr(os, "set_blocking")
    monkeypatch.setattr(sys, "argv", ["polars-prcurve", "summary", "scores.csv", "--eta", "1%"])
    assert main() == 0
    assert "average_precision" in capsys.readouterr().out


def run(command: str) -> subprocess.CompletedProcess[str]:
    """A line of shell in which `prcurve` stands for the module of this package."""
    environment = {**os.environ, "PYTHONPATH": str(Path(polars_prcurve.__file__).parent.parent)}
    line = f'prcurve() {{ "{sys.executable}" -m polars_prcurve "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=False, env=environment
    )


def test_the_module_runs(here: Path) -> None:
    done = run("prcurve summary scores.csv --eta 0.01 < /dev/null")
    assert (done.returncode, done.stderr) == (0, "")
    assert_frame_equal(pl.read_csv(io.StringIO(done.stdout)), prc(DF).summary(0.01, columns="all"))
    done = run("cat scores.csv | prcurve summary - --eta 2")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("polars-prcurve: error: eta= must be a share in [0, 1]")


@pytest.mark.parametrize(
    "pipe",
    slow_unless(
        lambda pipe: pipe[1] == "-o -",
        [("head -n 2", ""), ("head -c 1", "-o -"), ("true", "-o /dev/stdout")],
    ),
    ids=" ".join,
)
def test_a_reader_that_leaves_is_no_error(here: Path, pipe: tuple[str, str]) -> None:
    reader, output = pipe
    rows = 3_000_000  # more than a pipe holds, and than Polars has in one batch
    pl.select(
        score=pl.int_range(rows).hash(1).cast(pl.Float64), label=pl.int_range(rows) % 100 == 0
    ).write_parquet("big.parquet")
    done = run(f"set -o pipefail; prcurve curve big.parquet --eta 0.1 {output} | {reader}")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == {"head -c 1": "e", "true": ""}.get(reader, done.stdout)
    assert done.stdout.count("\n") == (2 if reader == "head -n 2" else 0)


DECIDE = "decide scores.csv --model model --missing drop --eta 1% --recall 0.5"
STREAMS = {  # a line of shell, its exit status, and whether rows or a sentence come out, and an error
    f"{DECIDE} >&-": (2, False, True),
    f"{DECIDE} 2>&-": (0, True, False),
    "nope 2>&-": (2, False, False),
    "summary scores.csv -o rows.csv >&- 2>&- <&-": (0, False, False),
    "summary - <&-": (2, False, True),
    "summary scores.csv >/dev/full": (2, False, True),
    "--help >/dev/full": (2, False, True),
    f"{DECIDE} >/dev/full 2>/dev/full": (2, False, False),
    f"{DECIDE} -o rows.csv 2>/dev/full": (0, False, False),
    "summary scores.csv >&-": (2, False, True),
    f"{DECIDE} >&- 2>&-": (2, False, False),
    f"{DECIDE} <&-": (0, True, False),
    f"{DECIDE} >/dev/full": (2, False, True),
    "summary missing.csv >/dev/full 2>/dev/full": (2, False, False),
    "--version >&-": (2, False, True),
    "--help | true": (0, False, False),
}


@pytest.mark.quick_cases(2)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full, of Linux")
@pytest.mark.parametrize("line", slow_unless(lambda line: line in [*STREAMS][1:6:2], STREAMS))
def test_streams_that_are_closed_or_full(here: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    """The exit status tells whether the answer was written; nothing goes to another stream instead."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # text that is kept back fails at the end
    status, has_output, has_error = STREAMS[line]
    done = run(f"set -o pipefail; prcurve {line}")
    assert (done.returncode, bool(done.stdout)) == (status, has_output)
    assert "error" not in done.stdout
    assert done.stderr.startswith("polars-prcurve: error: ") == has_error
    assert done.stderr.count("\n") == has_error
    assert os.path.exists("rows.csv") == ("rows.csv" in line)


BAD_ROWS = {
    "a null score": ",0",
    "a score that is no number": "x,0",
    "NaN": "nan,0",
    "a label outside": "0.5,7",
    "a null label": "0.5,",
}


@pytest.mark.parametrize("rows", [2, 20_000])
@pytest.mark.parametrize(
    ("row", "command"),
    pair_each(
        BAD_ROWS.values(),
        ["curve", "curve -o /dev/stdout", "summary", "operating-points --recall 0.5 --threshold 0.2"],
    ),
)
def test_no_output_before_an_error(
    here: Path, capfd: pytest.CaptureFixture[str], command: str, row: str, rows: int
) -> None:
    lines = [f"{i / rows},{i % 2}" for i in range(rows)]
    Path("bad.csv").write_text("\n".join(["score,label", *lines, row, ""]))
    name, _, options = command.partition(" ")
    assert main([name, "bad.csv", "--eta", "0.1", *shlex.split(options)]) == 2
    out, error = capfd.readouterr()
    assert out == ""
    # Rarely a thread of Polars, which the error cancels, says so before.
    own = error[error.index("polars-prcurve: ") :] if "panicked" in error else error
    assert own.count("\n") == 1


def test_an_empty_result_is_a_header(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DF.clear().write_parquet("empty.parquet")
    assert main(["operating-points", "empty.parquet", "--recall", "0.5"]) == 0
    assert capsys.readouterr().out.startswith("eta,criterion,target,threshold,")


def test_the_console_script_is_the_same() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [(name, value)] = re.findall(r'\[project\.scripts\]\n(\S+) = "(\S+)"', text)
    assert EntryPoint(name, value, "console_scripts").load() is main
    assert name == "polars-prcurve"


def test_help_starts_without_heavy_imports() -> None:
    """What draws, and what computes on arrays, is imported by commands that need it."""
    code = (
        "import sys; from polars_prcurve.doors.cli import main, options; "
        "options.build_parser(main.ANSWERS_OF_METHOD); "
        "assert not {'altair', 'numpy', 'scipy', 'sklearn', 'vl_convert'} & set(sys.modules)"
    )
    done = run(f'"{sys.executable}" -c "{code}"')
    assert done.returncode == 0, done.stderr


def test_the_package_does_not_import_its_command_line() -> None:
    code = "import sys, polars_prcurve; assert 'polars_prcurve.doors.cli' not in sys.modules"
    done = run(f'"{sys.executable}" -c "{code}"')
    assert done.returncode == 0, done.stderr


PAGE = ROOT / "docs" / "command-line.md"


def sessions() -> list[tuple[str, str]]:
    """The lines of shell on the page, and what it shows below each."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(\$ .*?)^```$", text, re.S | re.M)
    return [
        (line, shown)
        for block in blocks
        for line, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
    ]


def test_the_page_shows_what_really_comes_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line, shown in sessions():
        program, _, options = line.partition(" ")
        if program == "cat":  # a file that the page brings along, or that a command has written
            path = Path(options)
            if not path.exists():
                path.write_text(shown)
            assert path.read_text() == shown
        else:
            assert program == "polars-prcurve"
            assert "".join(on_a_terminal(options, beside=io.StringIO)) == shown, line
    assert len(sessions()) > 6


def test_every_command_is_run() -> None:
    [commands] = [
        a for a in build_parser(ANSWERS_OF_METHOD)._actions if isinstance(a, argparse._SubParsersAction)
    ]
    of_their_own = {"decide"}  # which has tests of its own
    run = {command.partition(" ")[0] for command, _ in OPTIONS} | of_their_own
    missing = set(commands.choices) - run
    assert not missing, f"{missing} are never run: add a line for each to OPTIONS in tests/test_cli.py"


# Options --------------------------------------------------------------------------------------

WITHOUT_EFFECT = {
    "summary scores.csv --cluster patient": "pass confidence= with cluster=: clusters",
    "operating-points scores.csv --recall .5 --start .5": ("pass guarantee= as well: start= is where"),
    "summary scores.csv --score score,weight --model model": "leave out model=: score= names a column",
    "compare scores.csv --score score,weight --id patient": "leave out id=: score= names a column",
    "ranking scores.csv --score score,weight --id patient": "leave out id=, or pass confidence=",
    "summary scores.csv --score a b --rates a b": "rates= replaces score= and label=",
    "counts scores.csv --unlabelled --label label": "--label: not allowed with argument --unlabelled",
    "counts scores.csv --unlabelled --weight weight": "leave out weight=: label=None counts rows",
    "curve scores.csv --label label --counts label patient": "both define the examples",
    "curve scores.csv --label label --rates score label --eta .1": "both define the examples",
    "curve scores.csv --score score --rates score label --eta .1": "rates= replaces score= and",
    "decide scores.csv --eta .1 --per 1000": "pass a target as well, such as recall=0.8: per= counts",
    "decide scores.csv --eta .1 --id patient": 'pass more columns, such as id=["patient", "image"]',
}


@pytest.mark.parametrize("command", WITHOUT_EFFECT)
def test_an_option_without_effect_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert WITHOUT_EFFECT[command] in refusal(command, capsys)


MISSPELT = {
    "operating-pionts scores.csv": (
        "COMMAND cannot be 'operating-pionts'; did you mean 'operating-points'?"
    ),
    "rankng scores.csv": "did you mean 'ranking'?",
    "ranking scores.csv --modle a": "did you mean '--model'?",
    "estimate-prevalence scores.csv --refrence x": "did you mean '--reference'?",
    "summary scores.csv --score score,wieght": "for score=; did you mean 'weight'?",
    "compare scores.csv --adjust hlm": "adjust= takes \"holm\"; got 'hlm'",
    "sumary scores.csv": "did you mean 'summary'?",
    "sample-size scores.csv --alerts 5/100": (
        "find the threshold by the command operating-points, and pass it as --threshold"
    ),
    "curve scores.csv --prevalence 0.1": "curve has no option '--prevalence'; did you mean '--eta'?",
    "curve scores.csv --lable is_fraud": "curve has no option '--lable'; did you mean '--label' or",
    "summary scores.csv --confidnce=0.9": "no option '--confidnce'; did you mean '--confidence'?",
    "decide scores.csv --tilte x": "did you mean '--title'?",
    "curve scores.csv --missing drp": 'missing= takes "raise", "drop" or "below"; got \'drp\'',
    "curve scores.csv other.csv": "takes one INPUT, a file or a pattern in quotes; got 'other.csv' ",
    "curve scores.csv --model modle": "there is no column 'modle' for model=",
    "curve scores.csv --by label --model modle": "there is no column 'modle' for model=",
}


@pytest.mark.parametrize("command", MISSPELT)
def test_a_misspelt_word_gets_a_hint(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert MISSPELT[command] in refusal(command, capsys)


def test_a_level_takes_words_of_intervals() -> None:
    assert (
        check_confidence(read_confidence(["95%"])[0])
        == check_confidence(read_confidence(["0.95"])[0])
        == check_confidence(read_confidence(["19/20"])[0])
        == 0.95
    )
    assert read_confidence(["rate=jeffreys"])[0] == intervals(0.95, rate="jeffreys")
    assert read_confidence(["99.9%, simultaneous"])[0] == intervals(0.999, simultaneous=True)
    drawn = intervals(0.9, method="bootstrap", resamples=20, seed=0)
    assert read_confidence(["0.9,seed=0,method=bootstrap,resamples=20"])[0] == drawn


def test_a_percentage_is_the_nearest_number() -> None:
    """0.07 and 7% are one float, where a division of floats would make two."""
    for word, value in {"7%": 0.07, "0.1%": 0.001, "29%": 0.29, "100%": 1.0, "1e-3%": 1e-5}.items():
        assert read_share_text(word) == value


def test_a_share_may_be_a_fraction(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [1 / 5000, 1 / 5001, 1 / 3]
    assert table("summary scores.csv --eta 1/5000,1:5000 1/3")["eta"].unique().to_list() == sorted(asked)
    assert table("summary scores.csv --eta '1 in 5,000'")["eta"].unique().to_list() == [1 / 5000]
    for word in ("5/3", "1/0", "1/2/3", "x/3", "-1/3", "1/"):
        assert "eta=" in refusal(f"summary scores.csv --eta={word}", capsys)


@pytest.mark.parametrize(
    "options",
    [
        "--eta 1:1e99999999",
        "--eta 1e99999999:1",
        "--eta 1/1e99999999",
        "--eta 1/1e9_9999999",
        "--eta 1e99999999",
        "--recall .5 --alerts 1/1e99999999",
        "--recall .5 --alerts 1e-99999999/1",
        f"--eta 1:{'9' * 5_000}",
    ],
)
def test_numbers_of_any_size_are_answered(
    here: Path, capsys: pytest.CaptureFixture[str], options: str
) -> None:
    """Exact fractions of them would take minutes, and gigabytes."""
    assert len(refusal(f"operating-points scores.csv {options}", capsys)) < 1_100


def test_many_prevalences_are_checked_in_linear_time(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With comparisons of each to each this would take many minutes."""
    etas = [n / 1_000_001 for n in range(1, 20_000)]
    words = ",".join(map(str, [*etas, etas[-1]]))
    assert main(["summary", "scores.csv", "--eta", words]) == 2
    assert f"holds {etas[-1]} more than once" in capsys.readouterr().err
    with pytest.raises(polars_prcurve.PrcError, match="more than once"):
        prc(DF).summary([*etas, etas[-1]], columns="all")
    names = [f"f{n}" for n in range(100_000)]
    assert find_repeats([*names, names[-1]]) == ["f99999"]  # which metrics= and eta= refuse


# Messages -------------------------------------------------------------------------------------


SAME_SENTENCES: dict[str, Callable[[Any], Any]] = {
    "summary scores.csv --eta 1:x": lambda p: p.summary("1:x"),
    "curve scores.csv --score scroe --eta 1%": lambda p: p.curve(0.01, score="scroe"),
    "operating-points scores.csv --recall x": lambda p: p.operating_points(recall="x"),
    "compare scores.csv --adjust hlm": lambda p: p.compare(adjust="hlm"),
    "summary scores.csv --cluster patient": lambda p: p.summary(cluster="patient"),
}


@pytest.mark.parametrize("command", SAME_SENTENCES)
def test_an_error_is_the_sentence_of_the_library(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    with pytest.raises(PrcError) as refused:
        SAME_SENTENCES[command](prc(DF))
    assert refusal(command, capsys) == str(refused.value)


ODD_WORDS = ["''", ",", "=", "a=b", "/", "1/0", "unknown/unknown", "(((", "9" * 400, "none.csv", "1e400"]


@pytest.mark.parametrize(
    "method", slow_unless(lambda method: method in ("compare", "estimate_prevalence"), ANSWERS_OF_METHOD)
)
def test_any_word_is_answered_or_refused(
    here: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    """No word, empty or odd, ends in an error of Python; an option meets a third of them, in turns."""
    needed = {"monitor": "--time patient --reference 60% --threshold 0.5"}
    needed |= {"sampling_plan": "--threshold 0.5 --budget 3"}
    turn = [*ANSWERS_OF_METHOD].index(method)
    for place, (name, kind) in enumerate(list_kinds(method).items(), turn):
        flag = f"--{name.replace('_', '-')}"
        takes_words = kind.metavar and name not in ("output", "report", "page")
        for word in ODD_WORDS[place % 3 :: 3] if takes_words else []:
            command = method.replace("_", "-")
            line = f"{command} scores.csv {needed.get(method, '')} {flag} {word}"
            assert main(shlex.split(line)) in (0, 2), line
            assert capsys.readouterr().err.count("error: ") <= 1, line


@pytest.mark.parametrize("columns", [3, 3_000])
def test_names_of_a_file_cannot_command_a_terminal(
    here: Path, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    names = ["\x1b]0;pwned\x07", "a\rb", "x\x9b31m", *(f"c{n}" for n in range(columns))]
    pl.DataFrame({name: [1.0, 0.0] for name in names}).write_parquet("hostile.parquet")
    for command in (
        "curve hostile.parquet",
        "curve hostile.parquet --score c1 --label c2 --by nothing",
        "curve hostile.parquet --score $'\x1b[1m' --label c2",
        "curve hostile.parquet --score c1 --label c2 --eta hostile.parquet",
        "operating-points hostile.parquet --score c1 --label c2 --maximize '\x1b[1m'",
        "curve '\x1b[1m.csv'",
        "curve hostile.parquet -o '\x1b[1m/x.csv'",
        "curve hostile.parquet '--\x1b[1m'",
    ):
        message = refusal(command, capsys)
        assert message.isprintable()
        assert len(message) < 1_100
    assert "and 2993 more" in refusal("curve hostile.parquet", capsys) or columns == 3
    groups = pl.DataFrame({"g": ["\x1b[1m"], "score": [0.5], "label": [1]})
    groups.write_parquet("groups.parquet")
    Path("etas.csv").write_text("g,eta\nx,0.1\n")
    message = refusal("curve groups.parquet --by g --eta etas.csv", capsys)
    assert "such as g = ␛[1m; add one" in message


# Files that cannot be read --------------------------------------------------------------------


def break_files(folder: Path) -> dict[str, Path]:
    """Write one good file per format, and files that are broken; return the broken ones."""
    good = DF.select("score", "label")
    broken: dict[str, bytes] = {"empty": b"", "junk": b"PAR1 and \xff\xfe\x00 no more" * 9}
    paths = {}
    for extension in READ:
        table_files.build_writer(str(folder / f"0good{extension}"))(good.lazy())
        whole = (folder / f"0good{extension}").read_bytes()
        contents = broken | {"half": whole[: len(whole) * 2 // 3 - 5]}
        if extension in (".csv", ".tsv"):  # of which a half is whole
            contents["other"] = whole.replace(b"score", b"S")
            del contents["half"]
        for name, content in contents.items():
            paths[f"{name}{extension}"] = folder / f"{name}{extension}"
            (folder / f"{name}{extension}").write_bytes(content)
    return paths


def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in break_files(tmp_path):
        if name not in {"other.csv", "other.tsv"}:  # which are tables, taken alone
            assert repr(name) in refusal(f"summary {name}", capsys), name
        if name in {"empty.ndjson", "empty.jsonl"}:  # no rows, beside the rows of others
            continue
        stem, extension = name.split(".")
        pattern = f"*[0{stem[0]}][go{stem[1]}]*.{extension}"
        files = sorted(path.name for path in tmp_path.glob(pattern))
        assert files == sorted([f"0good.{extension}", name])
        assert repr(name) in refusal(f"summary '{pattern}'", capsys), name
    DF.write_csv("scores.csv")
    Path("etas.parquet").write_bytes(b"PAR1 junk")
    assert "'etas.parquet'" in refusal("summary scores.csv --eta etas.parquet", capsys)


def test_bytes_that_are_no_text_get_one_short_line(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for content in (Path("scores.parquet").read_bytes(), "score,label\n1,1\n".encode("utf-16"), b"\0"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        message = refusal("summary -", capsys)
        assert message == "convert standard input to a CSV in UTF-8: it holds bytes that are not text"


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("extension", [".csv", ".tsv"])
@pytest.mark.parametrize("command", ["curve", "summary", "operating-points --recall 0.5"])
def test_a_header_alone_is_an_empty_table(
    here: Path, monkeypatch: pytest.MonkeyPatch, command: str, extension: str
) -> None:
    name, _, target = command.partition(" ")
    header = "score,label,n,t,f\n".replace(",", "\t" if extension == ".tsv" else ",")
    Path(f"empty{extension}").write_text(header)
    expected = table(f"{name} scores.csv {target} --eta 0.1").clear()
    for options in ("", "--weight n"):
        found = table(f"{name} empty{extension} {target} --eta 0.1 {options}")
        assert found.columns == expected.columns
        assert found.is_empty()
    assert table(f"{name} empty{extension} {target} --counts n t --eta 0.1").is_empty()
    assert table(f"{name} empty{extension} {target} --rates t f --eta 0.1").is_empty()
    # A day without rows beside others does not tell dtypes for these.
    Path(f"empty2{extension}").write_text(header + "0.5,1,1,1,1\n".replace(",", header[5]))
    assert table(f"{name} 'empty*{extension}' {target} --eta 0.1").height > 0
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"score,label\n")))
    assert table(f"{name} - {target} --eta 0.1").is_empty()


# Rows left out --------------------------------------------------------------------------------

REASON = "because a value is missing in them"
ADVICE = '; missing="below" ranks null scores last'


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("command", ["curve", "summary", "operating-points --recall 0.5"])
def test_rows_left_out_are_told(here: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    n, (name, _, target) = pl.int_range(pl.len()), command.partition(" ")
    gaps = DF.with_columns(
        score=pl.when(n.is_in([1, 2])).then(None).otherwise("score"),
        label=pl.when(n.is_in([2, 3])).then(None).otherwise("label"),
        weight=pl.when(n == 4).then(None).otherwise("weight"),
    )
    gaps.write_parquet("gaps.parquet")
    clustered = "--cluster patient --confidence 0.9"
    cases = {"": 3, "--weight weight": 4, "--counts label patient": 3, clustered: 3}
    for options, left_out in cases.items():
        table(f"{name} gaps.parquet {target} --eta 0.1 --missing drop {options}")
        told = f"polars-prcurve: {left_out} of 15 rows are left out, {REASON}\n"
        assert re.sub(r" \(.*?\)", "", capsys.readouterr().err) == told
    table(f"{name} scores.parquet {target} --eta 0.1 --missing drop")
    assert capsys.readouterr().err == ""


def test_rows_of_a_wide_table_left_out_are_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where models are compared, a row is left out for all of them."""
    n = pl.int_range(pl.len())
    a_gap = pl.when(n < 3).then(None).otherwise("a")
    for has_label_gaps in (True, False):
        label_gap = pl.when(n.is_in([2, 3])).then(None).otherwise("label")
        gaps = WIDE.with_columns(a=a_gap, label=label_gap if has_label_gaps else "label")
        gaps.write_parquet("gaps.parquet")
        wide = "gaps.parquet --score a,b --missing drop"
        alone = "gaps.parquet --score a --missing drop"
        for command, takes_unscored in {
            f"compare {wide} --eta 0.1": True,
            f"ranking {wide} --eta 0.1 --confidence 0.9": True,
            f"summary {wide}": True,
            f"crossings {wide}": True,
            f"counts {alone} --unlabelled": False,
            f"estimate-prevalence {alone} --reference gaps.parquet": False,
        }.items():
            table(command)
            n_out = 4 if has_label_gaps and takes_unscored else 3
            advice = ADVICE if takes_unscored and not has_label_gaps else ""
            assert (
                re.sub(r" \(.*?\)", "", capsys.readouterr().err)
                == f"polars-prcurve: {n_out} of 64 rows are left out, {REASON}{advice}\n"
            )
            if advice:
                table(command.replace("--missing drop", "--missing below"))


# Estimates that are worthless -------------------------------------------------------------------


def test_an_estimate_that_a_test_refutes_is_called_worthless(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file has the number and the p-value; a terminal does not show the number."""
    test = pl.DataFrame({"score": [3, 2, 1], "n_pos": [80, 15, 5], "n_neg": [10, 190, 800]})
    month = pl.DataFrame(
        {"day": [1] * 3 + [2] * 3, "score": [3, 2, 1] * 2, "n": [18, 190, 792, 1, 900, 99]}
    )
    test.write_csv("test.csv")
    month.write_csv("field.csv")
    asked = (
        "estimate-prevalence field.csv --by day --counts n --reference test.csv "
        "counts=n_pos,n_neg --confidence 90%"
    )
    found = table(asked)
    reference = prc(test, counts=("n_pos", "n_neg"))
    expected = month.prc.estimate_prevalence(by="day", counts="n", reference=reference, confidence=0.9)
    assert_frame_equal(found, expected, rel_tol=1e-9)
    good, bad = found["shift_p_value"]
    assert bad < 0.01 < good
    note = capsys.readouterr().err
    assert note.startswith("polars-prcurve: day = 2: the estimate is worthless, because no prevalence")
    assert note.count("\n") == 1
    shown, beside = on_a_terminal(asked, beside=io.StringIO)
    first, second = shown.splitlines()[-2:]
    assert re.match(r"1 +1% \(.+ to 2.2%\)  1,000 ", first)
    assert re.match(r"2 +worthless  1,000 +< 0.001", second)
    assert note in beside


def test_nothing_is_written_where_one_document_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SETTLED.write_csv(tmp_path / "scores.csv")
    asked = (
        f"decide {tmp_path}/scores.csv --score new,old --eta 0.1 --recall 0.5 --report {tmp_path}/r.html"
    )
    assert main(shlex.split(f"{asked} --page {tmp_path}/p.pdf")) == 2
    assert "its file ends in .html; got" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["scores.csv"]


def test_a_refuted_estimate_is_told_beside_a_guarantee(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    SETTLED.write_csv(tmp_path / "scores.csv")
    estimate = {"eta": [0.1], "eta_low": [0.08], "eta_high": [0.12]}
    estimate |= {"eta_confidence": [0.98], "shift_p_value": [1e-9]}
    pl.DataFrame(estimate).write_csv(tmp_path / "eta.csv")
    asked = f"operating-points {tmp_path}/scores.csv --score new --eta {tmp_path}/eta.csv --recall 0.5"
    assert main(shlex.split(f"{asked} --guarantee 0.9 -o {tmp_path}/out.csv")) == 0
    assert "the estimate is worthless" in capsys.readouterr().err


# Decisions ------------------------------------------------------------------------------------


def write_models(folder: Path) -> pl.DataFrame:
    EQUAL.write_parquet(folder / "scores.parquet")
    pl.DataFrame({"eta": [0.1, 0.01]}).write_csv(folder / "eta.csv")
    return EQUAL


WORDS = {"title": "Mine", "notes": "Yours", "date": "May"}
WORDS_SAID = "--title Mine --notes Yours --date May"


def test_a_report_is_that_of_the_library(tmp_path: Path) -> None:
    df = write_models(tmp_path)
    targets: dict[str, Any] = {"alerts": 5, "per": 1000, "precision": 0.2, "guarantee": 0.9}
    asked = (
        f"decide {tmp_path}/scores.parquet --score one,other --eta {tmp_path}/eta.csv --alerts 5/1000 "
        f"--precision 0.2 --guarantee 0.9 {WORDS_SAID} --report {tmp_path}/a.html"
    )
    assert main(shlex.split(asked)) == 0
    etas = pl.DataFrame({"eta": [0.1, 0.01]})
    df.prc.report(tmp_path / "b.html", etas, score=["one", "other"], **targets, **WORDS)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_decision_is_that_of_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    df = write_models(tmp_path)
    asked = "decide scores.parquet --score one,other --eta 0.01 --recall 0.5"
    decision = df.prc(score=["one", "other"]).decide(0.01, recall=0.5)
    assert main(shlex.split(asked)) == 0
    assert capsys.readouterr().out == f"{decision.say(80, hint='; -o FILE writes every column')}\n"
    files = "--report a.html --page p.html -o rows.parquet"
    assert main(shlex.split(f"{asked} {files} {WORDS_SAID}")) == 0
    assert capsys.readouterr().out == ""
    rows, verdict_columns = pl.read_parquet("rows.parquet"), ["status", "met", "sentence"]
    assert rows.drop(verdict_columns).equals(decision.table)
    assert rows.select(verdict_columns).unique().equals(decision.verdicts.select(verdict_columns))
    decision.report("b.html", **WORDS)
    decision.page("q.html", title="Mine", date="May")
    for one, other in (("a.html", "b.html"), ("p.html", "q.html")):
        assert Path(one).read_bytes() == Path(other).read_bytes()
    for wrong in ("--report nowhere/a.html", "--page p.jpg"):
        assert main(shlex.split(f"{asked} {wrong}")) == 2


def test_a_file_holds_options(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("fraud.txt").write_text("--score score,weight  # two models\n\n--label label --eta '1 in 10'\n")
    call = "summary scores.csv @fraud.txt --metrics roc_auc"
    expected = prc(DF).summary(0.1, score=["score", "weight"], metrics="roc_auc", columns="all")
    assert_frame_equal(table(call), expected)
    expected = prc(DF).summary(0.1, metrics="roc_auc", columns="all")
    assert_frame_equal(table(f"{call} --score score"), expected)  # a later option replaces it
    os.remove("out.parquet")
    capsys.readouterr()
    Path("open.txt").write_text("--score 'score\n")
    Path("other.txt").write_text("--scroe a\n")
    Path("bytes.txt").write_bytes("--score sc\u00f6re".encode("utf-16"))
    for name, words in {
        "none": "No such file or directory: 'none.txt'",
        "open": 'cannot read the line "--score \'score": No closing quotation',
        "other": "no option '--scroe'; did you mean '--score' or",
        "bytes": "",
    }.items():
        assert words in refusal(f"summary scores.csv @{name}.txt", capsys)


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own with a table whose labels and times are whole numbers."""
    monkeypatch.chdir(tmp_path)
    table = {"score": [0.9, 0.8, 0.7, 0.4] * 9, "label": [1, 1, 0, 0] * 9, "g": ["a", "b"] * 18}
    pl.DataFrame(table).with_row_index("id").write_csv("rows.csv")
    return tmp_path


def ask(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line of an error of a command, or nothing if it succeeds."""
    status = main(shlex.split(f"{command} -o out.csv"))
    out, error = capsys.readouterr()
    assert out == ""
    assert status == (2 if error else 0), error
    if error:
        assert error.startswith("polars-prcurve: error: ")
        assert error.count("\n") == 1
        assert len(error) < 1_100
    return error


FILES_OF_OPTIONS = {
    "below": "summary rows.csv --eta 0.1 --below",
    "threshold": "operating-points rows.csv --eta 0.1 --threshold",
    "start": "operating-points rows.csv --eta 0.1 --recall 0.5 --guarantee 0.9 --start",
    "eta": "summary rows.csv --eta",
    "other": "compare rows.csv --eta 0.1 --other",
    "plan": "reweight rows.csv --plan",
    "reference": "monitor rows.csv --time id --threshold 0.5 --reference",
    "input": "summary",
}
BAD_TABLES = {
    "empty": (b" \n", "name the columns in the first line of 'empty.csv', which is empty"),
    "zeros": (bytes(300), "convert 'zeros.csv' to a CSV in UTF-8"),
    "windows": ("a,b\n1,2\n".encode("utf-16"), "convert 'windows.csv' to a CSV in UTF-8"),
    "folder": (None, "name the files in the folder 'folder.csv'"),
    "absent": (None, "there is no file 'absent.csv'"),
}


@pytest.mark.parametrize("option", FILES_OF_OPTIONS)
def test_each_file_that_is_no_table_is_named(
    option: str, many: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = [list_kinds(method) for method in ANSWERS_OF_METHOD]
    read = {name for options in kinds for name, kind in options.items() if kind.may_be_file}
    assert {*FILES_OF_OPTIONS} == read | {"input"}
    Path("folder.csv").mkdir()
    for name, (content, words) in BAD_TABLES.items():
        if content is not None:
            Path(f"{name}.csv").write_bytes(content)
        assert words in ask(f"{FILES_OF_OPTIONS[option]} {name}.csv", capsys)


def test_standard_input_that_is_no_table_is_named(
    many: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for content, words in BAD_TABLES.values():
        if content is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
            error = ask("summary - --eta 0.1", capsys)
            assert re.sub(r"'\w+\.csv'", "standard input", words) in error


def test_long_names_are_short_in_errors(many: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "9" * 400
    for words in (f"--metrics {long}", f"--score {long}", f"--by {long}", f"--label {long}"):
        error = ask(f"summary rows.csv --eta 0.1 {words}", capsys)
        assert "9999\u20269999" in error
        assert "9" * 100 not in error


def test_a_report_of_published_points(tmp_path: Path) -> None:
    df = pl.DataFrame({"tp": [3, 6], "fp": [1, 10], "fn": [7, 4], "tn": [999, 990]})
    df.write_csv(tmp_path / "points.csv")
    command = f"decide {tmp_path}/points.csv --recall 0.5 --cells tp fp fn tn --report {tmp_path}/a.html"
    assert main(shlex.split(command)) == 0
    prc(df).report(tmp_path / "b.html", recall=0.5, cells=("tp", "fp", "fn", "tn"))
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_a_report_takes_several_columns_as_id(tmp_path: Path) -> None:
    row = pl.int_range(pl.len()) // 2
    df = DF.head(14).with_columns(
        model=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")),
        label=row % 3 == 0,
        site=row % 2,
        visit=row // 2,
    )
    df.write_parquet(tmp_path / "scores.parquet")
    options = ["--eta", "0.1", "--model", "model", "--id", "site,visit"]
    options += ["--report", str(tmp_path / "a.html")]
    assert main(["decide", str(tmp_path / "scores.parquet"), *options]) == 0
    df.prc.report(tmp_path / "b.html", 0.1, model="model", id=["site", "visit"])
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_what_is_read_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    DF.write_csv("scores.csv")
    before = Path("scores.csv").read_bytes()
    Path("link.csv").symlink_to("scores.csv")
    for given, output in (
        ("scores.csv", "./scores.csv"),
        ("s*.csv", "scores.csv"),
        ("link.csv", "scores.csv"),
    ):
        for command in ("summary", "curve", "decide"):
            assert main([command, given, "-o", output]) == 2
            assert "is also an input" in capsys.readouterr().err
    assert main(["curve", "scores.csv", "-o", "link.csv"]) == 2
    assert Path("scores.csv").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        *(
            f"decide scores.csv {option} {path}"
            for option in ("-o", "--report", "--page")
            for path in ("scores.csv", "link.svg")
        ),
        "decide scores.csv --below below.csv --report below.csv",
        "decide scores.csv --below below.csv --page ./below.csv",
        "summary scores.csv --below below.csv -o below.csv",
        "monitor scores.csv --time day --threshold 1 --reference ref.csv -o ref.csv",
        "decide scores.csv --report new.html --page ./new.html",
    ],
)
def test_no_output_of_a_command_is_written_over_what_it_reads_or_writes(
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    DF.write_csv("scores.csv")
    DF.write_csv("ref.csv")
    pl.DataFrame({"n_pos": [1], "n_neg": [2]}).write_csv("below.csv")
    Path("link.svg").symlink_to("scores.csv")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(words.split()) == 2
    assert re.search(r"choose another file for .* is also (an input|--\w+)", capsys.readouterr().err)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("--margin 1% --fail-unless not_worse", 1),
        ("--margin 80% --fail-unless not_worse", 0),
        ("--margin 80% --fail-unless not_worse -o gaps.csv", 0),
        ("--margin 80% --fail-unless not_worse,significant", 0),
        ("--margin 1%", 0),
        ("--fail-unless not_worse", 2),
        ("--margin 1% --fail-unless met", 2),
    ],
)
def test_a_release_is_stopped_by_a_worse_model(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, status: int
) -> None:
    SETTLED.write_csv("test.csv")
    call = ["compare", "test.csv", "--score", "old,new", "--eta", "2%", *arguments.split()]
    assert main([*call, "--metrics", "average_precision"]) == status
    printed = capsys.readouterr()
    assert ("--fail-unless takes not_worse, with --margin" in printed.err) == (status == 2)
    if status < 2 and "--fail-unless" in arguments:
        outcome, margin = "not shown" if status else "shown", arguments.split()[1]
        assert f": {outcome}: old is not worse than new by more than {margin}\n" in printed.err
    if "gaps.csv" in arguments:
        assert pl.read_csv("gaps.csv")["not_worse"].to_list() == [True]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("names", "status", "outcomes"),
    [
        ("new,old,oldest", 0, ["shown", "shown"]),
        ("old,new,oldest", 1, ["not shown", "shown"]),
        ("oldest,old,new", 1, ["not shown", "not shown"]),
    ],
)
def test_a_gate_is_for_the_first_model(
    here: Path, capsys: pytest.CaptureFixture[str], names: str, status: int, outcomes: list[str]
) -> None:
    noise = pl.int_range(pl.len()).shuffle(seed=1) / pl.len()
    models = SETTLED.with_columns(oldest=pl.col("old") * 0.1 + 9 * noise)
    sites = [models.with_columns(site=pl.lit(site)) for site in ("Cork", "Lund")]
    pl.concat(sites).write_csv("test.csv")
    call = ["compare", "test.csv", "--score", names, "--eta", "2%", "--margin", "1%", "--by", "site"]
    assert main([*call, "--metrics", "average_precision", "--fail-unless", "not_worse"]) == status
    first, *others = names.split(",")
    notes = [line for line in capsys.readouterr().err.splitlines() if "worse" in line]
    assert [note.partition(": ")[2] for note in notes] == [
        f"{outcome}: {first} is not worse than {other} by more than 1%"
        for outcome, other in zip(outcomes, others, strict=True)
    ]


@pytest.mark.parametrize(("first_at_lund", "status"), [("new", 0), ("newest", 1)])
def test_a_gate_fails_where_a_group_lacks_the_first_model(
    here: Path, capsys: pytest.CaptureFixture[str], first_at_lund: str, status: int
) -> None:
    columns = {"Cork": {"new": "new", "old": "old"}, "Lund": {first_at_lund: "new", "old": "old"}}
    pl.concat(
        SETTLED.select("label", score=score, model=pl.lit(model), site=pl.lit(site))
        for site, column_of_model in columns.items()
        for model, score in column_of_model.items()
    ).write_csv("test.csv")
    call = "compare test.csv --model model --no-paired --by site --eta 2% --margin 1%"
    assert main([*call.split(), "--fail-unless", "not_worse"]) == status
    has_note = "not tested: Lund has no rows of new" in capsys.readouterr().err
    assert has_note is (status == 1)


def test_a_gate_counts_the_rows_of_a_pair() -> None:
    rows = pl.DataFrame({"model_a": ["a"] * 3, "model_b": ["b"] * 3, "not_worse": [True, None, False]})
    sentence = "a is not worse than b by more than 2%"
    for frame, outcome in (
        (rows, "shown in 1 of 3 rows"),
        (rows.head(1), "shown"),
        (rows.tail(2), "not shown"),
    ):
        assert [*describe_pairs(frame, "not_worse", "2%")] == [f"{outcome}: {sentence}"]


def test_the_columns_of_a_gate_are_never_hidden() -> None:
    names = ["the model of last year", "a model of this year"]
    rows = pl.DataFrame({"metric": ["average_precision", "roc_auc"] * 2})
    rows = rows.with_columns(
        model_a=pl.Series([names[0]] * 2 + ["new"] * 2),
        model_b=pl.lit(names[1]),
        difference=0.0123,
        low=-0.0456,
        high=0.0678,
        p_value=0.234,
        significant=False,
        not_worse=True,
        doubt=None,
    )
    answers = ANSWERS_OF_METHOD["compare"].split()
    for shown_rows in (rows, rows.head(2), rows.head(1)):
        lines, shown_names = format_table(shown_rows, Layout([], answers, 0.95), 80)
        assert shown_names >= {"significant", "not_worse", "difference", "low", "high"}
        assert max(map(measure_width, lines)) <= 80
        is_one_pair = shown_rows.height < 4  # which needs no columns of its own
        assert (f"model_a {names[0]}; model_b {names[1]}" in " ".join(lines[:2])) == is_one_pair


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("--metrics recall --reference 80%", 1),
        ("--metrics recall --reference 30%", 0),
        ("--metrics fpr --reference 6%", 0),
    ],
)
def test_a_monitor_prints_its_alarms_and_can_stop_a_pipeline(
    here: Path, capsys: pytest.CaptureFixture[str], words: str, status: int
) -> None:
    sites, weeks = pl.DataFrame({"site": ["S1", "S2"]}), pl.DataFrame({"week": range(1, 9)})
    rows = sites.join(weeks, how="cross").join(pl.DataFrame({"score": [1, 0]}), how="cross")
    has_fallen, is_flagged = (pl.col("week") > 4) & (pl.col("site") == "S2"), pl.col("score") == 1
    recall = pl.when(has_fallen).then(40).otherwise(80)
    n_pos = pl.when(is_flagged).then(recall).otherwise(100 - recall)
    rows.with_columns(n_pos=n_pos, n_neg=pl.when(is_flagged).then(5).otherwise(95)).write_csv(
        "weeks.csv"
    )
    call = "monitor weeks.csv --time week --by site --counts n_pos,n_neg --threshold 1 -o rows.csv"
    call = f"{call} --fail-unless no_alarm {words}"
    assert main(shlex.split(call)) == status
    lines = capsys.readouterr().err.splitlines()
    alarms = pl.read_csv("rows.csv").filter("alarm")
    if status:
        row = alarms.row(0, named=True)
        assert row["site"] == "S2"
        expected = f"S2: alarm in week {row['week']}; recall probably fell in week {row['since']}"
    else:
        expected = "no alarm"
    assert lines == [f"polars-prcurve: {expected}"]
    assert main(shlex.split(call.replace("no_alarm", "alarm"))) == 2
    assert "--fail-unless takes no_alarm; got alarm" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "decide test.csv --threshold 2 --precision 40% --fail-unless met",
        "compare test.csv --score old,new --metrics roc_auc --margin 1% --fail-unless not_worse",
        "compare test.csv --score old,new --metrics roc_auc --fail-unless significant",
        "monitor test.csv --time week --reference 50% --threshold 2 --fail-unless no_alarm",
    ],
)
def test_no_gate_lets_an_empty_table_pass(
    here: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    Path("test.csv").write_text("score,old,new,label,week\n")
    assert main([*words.split(), "--eta", "2%", "-o", "rows.csv"]) == 1
    assert "the table has no rows" in capsys.readouterr().err.lower()


def test_a_file_with_two_columns_of_one_name_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("two.csv").write_text("score,score,label\n0.9,0.1,1\n0.2,0.8,0\n", encoding="utf-8")
    assert "rename a column of 'two.csv': its header names 'score' twice" in refusal(
        "summary two.csv", capsys
    )
    Path("blank.csv").write_text("score,label,,\n0.9,1,,\n0.2,0,,\n", encoding="utf-8")
    assert main(["summary", "blank.csv"]) == 0


@pytest.mark.parametrize("text", ["nan", "-"])
def test_a_file_with_text_among_its_scores_names_the_cause(
    text: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("text.csv").write_text(f"a,b,label\n0.5,0.5,1\n{text},{text},0\n", encoding="utf-8")
    for score in ("a", "a,b"):
        assert main(["summary", "text.csv", "--score", score]) == 2
        error = capsys.readouterr().err
        assert "score column 'a' is String; a score is a float" in error
        assert f"'{text}'" in error
    Path("text.csv").write_text("a,label\n0.5,1\nNaN,0\n,1\n0.1,0\n", encoding="utf-8")
    assert main(["summary", "text.csv", "--score", "a", "--missing", "drop"]) == 0


def test_a_file_with_nan_is_read_as_never_scored(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    DF.select("label", "score").with_columns(score=pl.col("score").replace(0.7, math.nan)).write_csv(
        "nan.csv"
    )
    assert main(["summary", "nan.csv", "--metrics", "roc_auc"]) == 2
    assert 'or missing="below" if they were never scored' in capsys.readouterr().err
    assert main(["summary", "nan.csv", "--metrics", "roc_auc", "--missing", "below"]) == 0
    found = pl.read_csv(io.StringIO(capsys.readouterr().out))["value"].item()
    ranked_last = DF.with_columns(score=pl.col("score").replace(0.7, -1.0))
    assert found == prc(ranked_last).summary(metrics="roc_auc")["value"].item()


def test_a_file_of_json_is_told_its_ending(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    SETTLED.write_csv("test.csv")
    assert main(["decide", "test.csv", "--score", "new", "--eta", "2%", "-o", "rows.json"]) == 2
    assert ".ndjson has one JSON object per row" in capsys.readouterr().err


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("--threshold 2 --precision 40% --fail-unless met", 0),
        ("--threshold 2 --precision 46% --fail-unless met", 1),
        ("--threshold 2 --precision 60% --fail-unless met", 1),
        ("--threshold 2 --precision 46% --fail-unless met,unsure", 0),
        ("--threshold 2 --precision 60%", 0),
        ("--precision 20% --guarantee 95% --fail-unless met", 0),
        ("--recall 50% --fail-unless winner", 1),
        ("--recall 50% --fail-unless met", 2),
        ("--recall 50% --fail-unless best", 2),
    ],
)
def test_a_pipeline_can_tell_a_failed_gate_from_an_error(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, status: int
) -> None:
    SETTLED.write_csv("test.csv")
    assert main(["decide", "test.csv", "--score", "new", "--eta", "2%", *arguments.split()]) == status
    printed = capsys.readouterr()
    if status == 2:
        assert "--fail-unless" in printed.err
    else:
        assert "precision" in printed.out + printed.err
