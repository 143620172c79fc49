"""Runs of a search and their judgements, as files of TREC: the average precision of trec_eval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from polars_prcurve import PrcError, from_trec
from polars_prcurve.doors.cli.main import main

DATA = Path(__file__).parent / "data"
MAP = "average_precision"


def write_nist(folder: Path) -> tuple[Path, Path]:
    """Write the test data of trec_eval as files: tabs and blanks, CR LF and LF."""
    run_lines, judged_lines = [], []
    for topic, n_relevant, n_returned, ranks in pl.read_csv(DATA / "trec_run.csv").rows():
        hits = [int(rank) for rank in ranks.split()]
        run_lines += [
            f"{topic} Q0\tFT-{rank}  {rank} {1000 - rank / 8} STANDARD"
            for rank in range(1, n_returned + 1)
        ]
        names = [f"FT-{rank}" for rank in hits] + [f"LA-{n}" for n in range(n_relevant - len(hits))]
        judged_lines += [f"{topic}\t0\t{name}\t1" for name in names]
    run, qrels = folder / "run.txt", folder / "qrels.txt"
    run.write_bytes("\r\n".join(run_lines).encode("utf-8-sig"))
    qrels.write_text("\n\n".join(judged_lines) + "\n")
    return run, qrels


def test_the_numbers_are_those_that_trec_eval_prints(tmp_path: Path) -> None:
    test = from_trec(*write_nist(tmp_path))
    areas = test.summary(metrics=MAP)
    assert areas["value"].round(4).to_list() == [0.0324, 0.4175, 0.0858]
    assert (areas["n_pos"].to_list(), areas["n_neg"].null_count()) == ([474, 77, 10], 3)
    mean = test.summary(metrics=MAP, mean_over="query")
    assert f"{mean['value'].item():.4f}" == "0.1785"
    top = test.operating_points(threshold=1000 - 10 / 8, metrics="precision")["precision"]
    assert f"{top.mean():.4f}" == "0.3000"


def rank_as_trec_eval(run: list[tuple[str, str, float]], query: str) -> list[str]:
    """Return the documents of a query in order: by score, and of equal ones the last name first."""
    rows = [(score, doc) for run_query, doc, score in run if run_query == query]
    return [doc for _, doc in sorted(rows, reverse=True)]


def measure(
    run: list[tuple[str, str, float]], qrels: dict[tuple[str, str], int], least: int
) -> dict[str, float]:
    """Return the average precision of each judged query that has a relevant document."""
    values = {}
    for query in {query for query, _ in qrels}:
        relevant = {doc for (judged, doc), level in qrels.items() if judged == query and level >= least}
        n_hits, total = 0, 0.0
        for rank, doc in enumerate(rank_as_trec_eval(run, query), start=1):
            if doc in relevant:
                n_hits += 1
                total += n_hits / rank
        if relevant:
            values[query] = total / len(relevant)
    return values


def draw(seed: int, n_scores: int) -> tuple[list[tuple[str, str, float]], dict[tuple[str, str], int]]:
    """Return a run and judgements: some not returned, some not judged, some queries of one alone."""
    rng = np.random.default_rng(seed)
    run, qrels = [], {}
    for number in range(8):
        query, docs = f"q{number}", [f"d{n}" for n in range(40)]
        scores = rng.permutation(10 * n_scores)[:40] if n_scores > 40 else rng.integers(0, n_scores, 40)
        if number != 1:
            kept = rng.permutation(40)[:25]
            run += [(query, docs[n], float(scores[n]) / 4) for n in kept]
        if number != 2:
            qrels |= {(query, docs[n]): int(rng.integers(-1, 4)) for n in rng.permutation(40)[:30]}
    return run, qrels


def write(folder: Path, run: Any, qrels: Any, name: str = "a") -> tuple[Path, Path]:
    run_file, qrels_file = folder / f"{name}.run", folder / "some.qrels"
    run_file.write_text("".join(f"{query} Q0 {doc} 0 {score} {name}\n" for query, doc, score in run))
    lines = (f"{query} 0 {doc} {level}\n" for (query, doc), level in qrels.items())
    qrels_file.write_text("".join(lines))
    return run_file, qrels_file


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("least", [1, 2])
def test_it_is_the_average_precision_of_the_ranks(seed: int, least: int, tmp_path: Path) -> None:
    run, qrels = draw(seed, 100)
    test = from_trec(*write(tmp_path, run, qrels), least_relevance=least)
    found = dict(test.summary(metrics=MAP).drop_nulls("value").select("query", "value").rows())
    expected = measure(run, qrels, least)
    assert found == pytest.approx(expected, rel=1e-12)
    assert found["q1"] == 0  # what returned nothing, as by trec_eval -c
    assert "q2" not in pl.DataFrame(test)["query"]
    mean = test.summary(metrics=MAP, mean_over="query")["value"].item()
    assert mean == pytest.approx(np.mean([*expected.values()]), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_equal_scores_is_within_the_limits(seed: int, tmp_path: Path) -> None:
    run, qrels = draw(seed, 6)
    test = from_trec(*write(tmp_path, run, qrels))
    limits = test.summary(metrics=MAP, coarse=True).drop_nulls("value")
    of_trec_eval = measure(run, qrels, 1)
    for query, low, value, high in limits.select("query", "low", "value", "high").rows():
        assert low <= value <= high
        assert low - 1e-12 <= of_trec_eval[query] <= high + 1e-12


def test_several_runs_are_models_of_the_same_documents(tmp_path: Path) -> None:
    (run, qrels), (other, _) = draw(1, 100), draw(2, 100)
    paths = [write(tmp_path, rows, qrels, name)[0] for rows, name in ((run, "v2"), (other, "v1"))]
    test = from_trec(paths, tmp_path / "some.qrels")
    means = test.compare(metrics=MAP, mean_over="query").row(0, named=True)
    values = [measure(rows, qrels, 1) for rows in (run, other)]
    gaps = [values[0][query] - values[1][query] for query in values[0]]
    assert (means["model_a"], means["model_b"], means["n_groups"]) == ("v2", "v1", 7)
    assert means["difference"] == pytest.approx(np.mean(gaps), rel=1e-12)
    of_queries = test.compare(metrics=MAP)
    assert dict(of_queries.select("query", "difference").rows()) == pytest.approx(
        dict(zip(values[0], gaps, strict=True)), rel=1e-9
    )
    verdict = test.decide(mean_over="query").verdict
    assert "The mean of 7 queries" in verdict.conditions


def test_the_command_line_reads_both_in_one_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, qrels = map(str, write_nist(tmp_path))
    asked = ["--qrels", qrels, "--mean-over", "query"]
    out = tmp_path / "means.csv"
    assert main(["summary", run, *asked, "--metrics", MAP, "-o", str(out)]) == 0
    assert f"{pl.read_csv(out)['value'].item():.4f}" == "0.1785"
    assert main(["decide", run, *asked]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "anything from 0 to 0.70." in text  # and not from -0.34
    assert main(["summary", run, "--qrels", run]) == 2
    assert "qrels= takes lines `query 0 doc relevance`, and line 1 of" in capsys.readouterr().err
    assert main(["summary", str(tmp_path / "none*.txt"), "--qrels", qrels]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("run", "qrels", "error"),
    [
        (
            "1 Q0 a 1 0.5 x\n1 Q0 b 2 x\n",
            "1 0 a 1\n",
            "run= takes lines `query Q0 doc rank score run`, and line 2",
        ),
        ("1 Q0 a 1 high x\n", "1 0 a 1\n", "line 1 of '.*run.txt' is '1 Q0 a 1 high x'"),
        ("1 Q0 a 1 0.5 x\n", "1 0 a 0.5\n", "qrels= takes lines `query 0 doc relevance`, and line 1"),
        (
            "1 Q0 a 1 0.5 x\n1 Q0 a 2 0.4 x\n",
            "1 0 a 1\n",
            r"^leave out the repeats, or give each run .* of query '1' twice in the run 'x'",
        ),
        ("1 Q0 a 1 0.5 x\n", "2 0 a 1\n", "no query in common: run= has '1', and qrels= has '2'"),
        ("1 Q0 a 1 0.5 x\n", "1 0 a 1\n1 0 a 0\n", "qrels= has document 'a' of query '1' twice"),
        ("\n", "1 0 a 1\n", r"run= '.*run.txt' is empty"),
    ],
)
def test_lines_that_are_none_are_refused(run: str, qrels: str, error: str, tmp_path: Path) -> None:
    run_file, qrels_file = tmp_path / "run.txt", tmp_path / "qrels.txt"
    run_file.write_text(run)
    qrels_file.write_text(qrels)
    with pytest.raises(PrcError, match=error):
        from_trec(run_file, qrels_file)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    latin = tmp_path / "latin.txt"
    latin.write_bytes("7 Q0 caf\u00e9 1 3.1 bm25\n".encode("latin-1"))
    with pytest.raises(PrcError, match=r"convert run= .* to UTF-8 first"):
        from_trec(latin, latin)
    with pytest.raises(PrcError, match="run= takes a path, or a list of paths"):
        from_trec(pl.DataFrame(), tmp_path)  # type: ignore[arg-type]
    with pytest.raises(PrcError, match="cannot be read"):
        from_trec(tmp_path / "none.txt", tmp_path)
    with pytest.raises(PrcError, match="least_relevance="):
        from_trec(DATA / "run.txt", DATA / "qrels.txt", least_relevance=0.5)  # type: ignore[arg-type]
