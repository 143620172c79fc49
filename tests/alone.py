"""Try the installed package, away from its checkout: `python tests/alone.py`, in any environment.

The examples of the README, the command line and every kind of result must work with nothing else
installed, in the locale of the environment. Prints versions, and then a digest per kind of result. Equal
digests are equal results: numbers to the last bit, or to 9 digits if they rest on standard errors.
"""

from __future__ import annotations

import doctest
import hashlib
import importlib.util
import locale
import os
import platform
import re
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import polars as pl

import polars_prcurve

README = Path(__file__).resolve().parent.parent / "README.md"
EXTRAS = ("hypothesis", "pyarrow", "pytest", "scipy", "sklearn", "vl_convert")


def check(is_right: object, message: object) -> None:
    """Stop with a message; an `assert` would be left out by `python -O`."""
    if not is_right:
        raise SystemExit(str(message))


def run_command(*arguments: str) -> bytes:
    """Return what `polars-prcurve` prints under the options of this Python; it may not warn."""
    options = [f"-W{option}" for option in sys.warnoptions] + ["-O"] * sys.flags.optimize
    command = [sys.executable, *options, "-m", "polars_prcurve", *arguments]
    done = subprocess.run(command, capture_output=True, check=False)
    check(done.returncode == 0 and not done.stderr, done.stderr.decode(errors="replace"))
    return done.stdout


def draw_scores() -> pl.DataFrame:
    """Return tied scores of two models at two sites, with letters that have a case in Turkish alone."""
    rng = np.random.default_rng(7)
    label = rng.random(3_000) < 0.1
    scores = {
        name: (rng.normal(size=3_000) + shift * label).round(1) for name, shift in (("a", 2), ("b", 1))
    }
    return pl.DataFrame({**scores, "label": label, "site": rng.choice(["İzmir", "Iğdır"], 3_000)})


def round_floats(table: pl.DataFrame) -> list[list[object]]:
    """Return the rows of a table with 9 digits of each float."""
    return [[float(f"{x:.9g}") if isinstance(x, float) else x for x in row] for row in table.rows()]


def compute_results() -> dict[str, object]:
    """Return results by kind: tables, and a decision as text and as a report."""
    bound = draw_scores().prc(score=["a", "b"], by="site")
    etas, target, sure = [0.3, 0.01], {"recall": 0.7}, {"confidence": 0.95}
    exact = [
        bound.sweep(),
        bound.curve(etas),
        bound.summary(etas),
        bound.operating_points(etas, **target),
    ]
    rounded = [bound.curve(etas, **sure), bound.operating_points(etas, **target, **sure)]
    rounded += [ask(etas, **sure) for ask in (bound.summary, bound.compare, bound.ranking)]
    decision = bound.decide(0.01, **target)
    report = decision.report("report.html", title="Iğdır").read_text(encoding="utf-8")
    return {
        "exact": [table.rows() for table in exact],
        "rounded": [round_floats(table) for table in rounded],
        "text": str(decision),
        "report": re.sub("Made by .*?<", "", report),  # versions
    }


def try_command_line() -> bytes:
    """Return a table as CSV, in UTF-8; what a terminal shows is in the encoding of the locale."""
    draw_scores().write_csv("scores.csv")
    check(run_command("--version").split()[-1].decode() == version("polars-prcurve"), "another version")
    words = ("scores.csv", "--score", "a,b", "--by", "site", "--eta", "1%", "--recall", "0.7")
    run_command("decide", *words)
    return run_command("operating-points", *words, "-o", "-").replace(b"\r\n", b"\n")


def main() -> None:
    """Try all, in an empty folder; the options of this Python are those of its children, too."""
    locale.setlocale(locale.LC_ALL, "")
    check(Path(polars_prcurve.__file__).is_relative_to(sys.prefix), polars_prcurve.__file__)
    check(version("polars-prcurve") == polars_prcurve.__version__, "the metadata have another version")
    check(not [name for name in EXTRAS if importlib.util.find_spec(name)], "extras are installed")
    check(
        (Path(sysconfig.get_path("scripts")) / "polars-prcurve").exists() or os.name == "nt", "no script"
    )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        failed, tried = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
        check(tried > 10 and not failed, f"{failed} of {tried} examples of the README failed")
        results = compute_results() | {"command line": try_command_line()}
        if sys.flags.optimize < 2:  # Altair needs its docstrings
            draw_scores().prc(score="a").plot.pr_curve(0.01).save("chart.html")
        os.chdir(README.parent)
    versions = {name: version(name) for name in ("polars", "numpy", "altair")}
    print(platform.python_version(), *(f"{name} {said}" for name, said in versions.items()), end=" ")
    print(pl.get_index_type(), *(locale.getlocale()), end=" ")
    for name, result in results.items():
        print(f"{name} {hashlib.sha256(repr(result).encode()).hexdigest()[:8]}", end=" ")
    print()


if __name__ == "__main__":
    main()
