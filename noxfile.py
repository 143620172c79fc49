"""What every change must pass, in four parts: `nox -s quick`, and so `rest`, `oldest` and `wide`.

`nox -s platforms` tries the package on all Pythons that are there, before a release. Each session makes
an environment of its own. `nox -R -s rest -- -k charts` takes the one that is there, and what stands
after `--` are more options of pytest. `.ci/run` runs the four, side by side.
"""

from __future__ import annotations

import re
from pathlib import Path

import nox

ROOT = Path(__file__).parent

nox.options.sessions = ["quick"]
nox.options.default_venv_backend = "virtualenv"  # "uv" would not read the settings of pip
nox.options.download_python = "never"

# What these say or write rests on tables that others hold to definitions; doctests decide and report.
FILES_OF_WORDS = """
    architecture binding cli code columns coverage_book decisions declared_metrics demands documents
    files metrics names nci_eval_parity new_entries read_back reference refused_arguments
    refused_combinations refused_tables registries sklearn_parity what_settles
"""

# What a process may meet. `apt install locales-all` brings the locales; `-OO` strips docstrings.
CONDITIONS: list[tuple[list[str], dict[str, str]]] = [
    (["-W", "error"], {}),
    (["-OO"], {"POLARS_MAX_THREADS": "1"}),
    ([], {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),  # ASCII alone
    ([], {"LC_ALL": "tr_TR.UTF-8"}),  # "i".upper() is no "I"
    ([], {"LC_ALL": "de_DE.UTF-8"}),  # 0,5
]

RESULTS: set[str] = set()  # digests of what `platforms` found so far, the same everywhere

VERSIONS = """
import platform, numpy, polars
print("Python", platform.python_version(), "Polars", polars.__version__, polars.get_index_type())
print("NumPy", numpy.__version__)
"""


def install(session: nox.Session, *packages: str) -> None:
    """Install packages and the checkout as it stands; print the versions that decide results."""
    session.install("-q", "--no-compile", *packages)
    session.run("python", "-c", VERSIONS)


def run_tests(session: nox.Session, *options: str, engine: str | None = None) -> None:
    """Run pytest with options, and with those after `--` on the command line."""
    env = {"POLARS_ENGINE_AFFINITY": engine} if engine else None
    session.run("pytest", "-q", "-p", "no:cacheprovider", *options, *session.posargs, env=env)


@nox.session(python="3.13")
def quick(session: nox.Session) -> None:
    """The test command of the README: every promise of the core."""
    command = re.search(r'-e "(.+?)" && .*-m pytest (.+)', (ROOT / "README.md").read_text("utf-8"))
    assert command is not None
    install(session, "-e", command[1])
    run_tests(session, *command[2].split())


@nox.session(python="3.13")
def rest(session: nox.Session) -> None:
    """What `quick` leaves out: slow tests, and those of what the extra `test` installs."""
    install(session, "-e", ".[test]")
    run_tests(session, "-n", "auto", "--dist=loadgroup", "-m", "slow or extras")


# `quick` runs every case. Other packages, and another index, fail in the way a function goes, so that
# the first and the last of its cases are enough.
FEW_CASES = "--cases=2"


@nox.session(python="3.10")
def oldest(session: nox.Session) -> None:
    """Two cases of each test of tables, by the oldest Python and packages, on the streaming engine."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    lowest = re.findall(r'"((?:polars|numpy|altair|scipy)>=[\d.]+)', project)
    install(session, *(package.replace(">=", "==") for package in lowest), "-e", ".[core-test]")
    words = (f"--ignore=tests/test_{name}.py" for name in FILES_OF_WORDS.split())
    profile = "--hypothesis-profile=least"
    run_tests(session, "-n", "auto", profile, FEW_CASES, *words, engine="streaming")


@nox.session(python="3.12")
def wide(session: nox.Session) -> None:
    """Two cases of each test of random tables, with more of them, in memory, on the 64-bit index."""
    install(session, "polars[rt64]", "-e", ".[core-test]")
    every = "hypothesis and not slow and not extras"
    run_tests(session, "--hypothesis-profile=full", FEW_CASES, "-m", every, engine="in-memory")


@nox.session(python=["3.10", "3.11", "3.12", "3.13", "3.14"])
@nox.parametrize("packages", ["lowest", "newest", "rt64"])
def platforms(session: nox.Session, packages: str) -> None:
    """The package as users install it, under all CONDITIONS: everywhere with the same results."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    floors = dict(re.findall(r'"(polars|numpy|altair)>=([\d.]+)', project))
    limits = {"numpy": "; python_version < '3.13'"}  # the lowest has no wheels for later ones
    lowest = [f"{name}=={floor}{limits.get(name, '')}" for name, floor in floors.items()]
    chosen = {"lowest": lowest, "newest": [], "rt64": ["polars[rt64]"]}
    session.install("-q", *chosen[packages], ".")
    for options, variables in CONDITIONS:
        line = session.run("python", *options, "tests/alone.py", env=variables, silent=True)
        session.log(f"{' '.join(options)} {variables or ''} {line}")
        RESULTS.add(str(line).partition("exact")[2])
    if len(RESULTS) > 1:
        session.error("results differ from those of another environment")
