"""What is released: the same bytes wherever and whenever it is built, whole, and able to stand alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

import polars_prcurve

pytestmark = pytest.mark.extras

ROOT = Path(__file__).parent.parent
VERSION = polars_prcurve.__version__
NAME = f"polars_prcurve-{VERSION}"
SDIST, WHEEL = f"{NAME}.tar.gz", f"{NAME}-py3-none-any.whl"
OWN = ("PYTHONPATH", "SOURCE_DATE_EPOCH")  # of whoever runs the tests, and not to be passed on
PURE = {name: value for name, value in os.environ.items() if name not in OWN}

USE = """
import importlib.util, sys
from importlib.metadata import version
from pathlib import Path
import polars as pl
import polars_prcurve
assert Path(polars_prcurve.__file__).is_relative_to(sys.prefix), polars_prcurve.__file__
assert version("polars-prcurve") == polars_prcurve.__version__
extras = ("hypothesis", "pyarrow", "pytest", "scipy", "sklearn", "vl_convert")
assert not [name for name in extras if importlib.util.find_spec(name)]
df = pl.DataFrame({"score": [0.9, 0.8, 0.7, 0.4], "label": [1, 0, 1, 0]})
df.write_csv("scores.csv")
df.prc.plot.pr_curve(0.01).save("chart.html")
print(df.prc.curve(eta=0.2).select("tp", "fp", "precision").rows())
"""


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(command, cwd=cwd, env=PURE | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(source: Path, to: Path, **env: str) -> dict[str, bytes]:
    """The two files, by name; built without a network, by the Hatchling that is installed."""
    run(sys.executable, "-m", "hatchling", "build", "-d", to, cwd=source, **env)
    return {path.name: path.read_bytes() for path in to.iterdir()}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    assert set(build(ROOT, folder)) == {SDIST, WHEEL}
    return folder


@pytest.fixture(scope="module")
def unpacked(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    shutil.unpack_archive(dist / SDIST, folder, filter="data")
    return folder / NAME


@pytest.fixture(scope="module")
def alone(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of an environment that holds the wheel and what it asks for; pip needs an index."""
    folder = tmp_path_factory.mktemp("alone")
    run(sys.executable, "-m", "venv", "venv", cwd=folder)
    scripts = folder / "venv" / "bin"
    run(scripts / "python", "-m", "pip", "install", "-q", dist / WHEEL, cwd=folder)
    return scripts


def test_the_sdist_builds_itself_and_the_wheel_byte_for_byte(
    dist: Path, unpacked: Path, tmp_path: Path
) -> None:
    """Elsewhere, later, from files of other dates and rights, in another zone."""
    for path in unpacked.rglob("*"):
        os.utime(path, (1e9, 1e9))
        path.chmod(path.stat().st_mode & 0o700)
    again = build(unpacked, tmp_path, TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    assert again == {path.name: path.read_bytes() for path in dist.iterdir()}


def test_source_date_epoch_is_the_date_of_every_file(tmp_path: Path) -> None:
    build(ROOT, tmp_path, SOURCE_DATE_EPOCH="1700000000")
    with tarfile.open(tmp_path / SDIST) as sdist:
        assert {member.mtime for member in sdist.getmembers()} == {1_700_000_000}
    with zipfile.ZipFile(tmp_path / WHEEL) as wheel:
        assert {info.date_time for info in wheel.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_the_wheel_holds_the_package_and_nothing_else(dist: Path) -> None:
    with zipfile.ZipFile(dist / WHEEL) as wheel:
        names = set(wheel.namelist())
        assert wheel.read(f"{NAME}.dist-info/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    about = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")
    held = [path for path in (ROOT / "polars_prcurve").rglob("*") if path.is_file()]
    package = {path.relative_to(ROOT).as_posix() for path in held if path.suffix != ".pyc"}
    assert {path.suffix for path in map(Path, package)} == {".py", ".js", ".typed"}
    assert names == package | {f"{NAME}.dist-info/{name}" for name in about}


def metadata(dist: Path) -> Message:
    with zipfile.ZipFile(dist / WHEEL) as wheel:
        return Parser().parsestr(wheel.read(f"{NAME}.dist-info/METADATA").decode())


def test_the_metadata_says_what_it_is_and_needs(dist: Path) -> None:
    found = metadata(dist)
    assert (found["Name"], found["Version"]) == ("polars-prcurve", VERSION)
    assert found["License-Expression"] == "MIT"
    assert found.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")
    needed = [line for line in found.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(re.split(r"[^\w-]", line)[0] for line in needed) == ["altair", "numpy", "polars"]


@pytest.mark.xdist_group("alone")  # one worker makes the environment, once
def test_the_wheel_works_alone(alone: Path, tmp_path: Path) -> None:
    """Without the extras and the checkout: a curve, a chart, the command."""
    said = run(alone / "python", "-W", "error", "-c", USE, cwd=tmp_path)
    assert said == f"[(1, 0, 1.0), (1, 1, {1 / 5}), (2, 1, {1 / 3}), (2, 2, 0.2)]\n"
    assert (tmp_path / "chart.html").stat().st_size > 1_000
    command = alone / "polars-prcurve"
    assert "summary" in run(command, "--help", cwd=tmp_path)
    run(command, "summary", "scores.csv", "--metrics", "roc_auc", "-o", "found.csv", cwd=tmp_path)
    assert "0.5,2,2,roc_auc,0.75" in (tmp_path / "found.csv").read_text(encoding="utf-8")


def test_the_sdist_holds_what_its_tests_need(unpacked: Path) -> None:
    """The package beside them, data, and the files that pages lead to."""
    files = (f"tests/test_{name}.py" for name in ("nci_eval_parity", "architecture", "site"))
    chosen = (
        "not test_site or in_the_navigation or that_are_linked"  # those that need no build of the site
    )
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, *files)
    assert " passed" in run(sys.executable, *command, cwd=unpacked)


def test_the_oldest_and_the_newest_python_are_tested(dist: Path) -> None:
    found = metadata(dist)
    said = " ".join(found.get_all("Classifier", []))
    claimed = sorted(re.findall(r":: (3\.\d+)", said), key=lambda version: int(version[2:]))
    sessions = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    ran = set(re.findall(r'python="(3\.\d+)"', sessions))
    assert {claimed[0], claimed[-1]} <= ran <= set(claimed)
    assert found["Requires-Python"] == f">={claimed[0]}"


def test_the_citation_is_of_this_version(dist: Path) -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", cited, flags=re.M) == [VERSION]
    assert re.findall(r"^authors:\n  - name: (.*)$", cited, flags=re.M) == [metadata(dist)["Author"]]
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


NOWHERE = r"https?://[^/ )]*\.(example|invalid|localhost|test)\b"
"""Addresses that are reserved, so that no page is ever there (RFC 2606)."""


def test_the_metadata_leads_to_no_page_that_cannot_be_there(dist: Path) -> None:
    said = metadata(dist).get_all("Project-URL", [])
    files = [ROOT / name for name in ("CITATION.cff", "conda/recipe.yaml", "mkdocs.yml", "SECURITY.md")]
    texts = [*said, *(path.read_text(encoding="utf-8") for path in files)]
    assert not [text for text in texts if re.search(NOWHERE, text)]
    assert all(re.search(r", https://", line) for line in said)


def test_the_archive_holds_every_file_of_the_root(unpacked: Path) -> None:
    """So nothing that strayed to the root is released, and nothing that belongs there is left out."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a checkout")
    tracked = {name.partition("/")[0] for name in run("git", "ls-files", cwd=ROOT).split("\n") if name}
    assert {path.name for path in unpacked.iterdir()} == tracked | {"PKG-INFO"}


@pytest.mark.xdist_group("alone")
def test_the_examples_of_the_readme_run_on_the_wheel_alone(alone: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "README.md", tmp_path)
    code = "import doctest; print(doctest.testfile('README.md', module_relative=False))"
    said = run(alone / "python", "-W", "error", "-c", code, cwd=tmp_path)
    assert re.search(r"TestResults\(failed=0, attempted=[1-9]\d", said), said


@pytest.mark.slow
def test_the_quickstart_runs_on_the_wheel_and_its_extra_alone(dist: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", f"{dist / WHEEL}[examples]", cwd=tmp_path)
    shutil.copy(ROOT / "examples" / "quickstart.py", tmp_path)
    assert "wrote out/digits_roc" in run(python, "-W", "error", "quickstart.py", "out", cwd=tmp_path)
    drawn = {path.suffix for path in (tmp_path / "out").iterdir() if path.stat().st_size > 1_000}
    assert drawn == {".html", ".png", ".svg"}


def test_the_conda_recipe_is_rendered_and_needs_what_the_wheel_needs(dist: Path) -> None:
    rattler_build = pytest.importorskip("rattler_build")
    [variant] = rattler_build.Stage0Recipe.from_file(str(ROOT / "conda" / "recipe.yaml")).render()
    recipe = variant.recipe.to_dict()
    assert recipe["package"] == {"name": "polars-prcurve", "version": VERSION}
    assert recipe["source"] == [{"path": f"../dist/{SDIST}"}]
    needed = [line for line in metadata(dist).get_all("Requires-Dist", []) if "extra ==" not in line]
    said = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    in_one_order = {",".join(sorted(line.split(","), key=lambda part: "<" in part)) for line in said}
    of_wheel = {re.sub(r"(<[\d.]+),(>=[\d.]+)", r"\2,\1", line) for line in needed}
    assert in_one_order == of_wheel | {f"python{metadata(dist)['Requires-Python']}"}
    tomllib = pytest.importorskip("tomllib", reason="needs Python 3.11")
    script = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    [[name, target]] = script.items()
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {target}"]


def test_workflows_call_scripts_that_are_there() -> None:
    called = [
        word
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in re.findall(r"- run: (.*)", path.read_text(encoding="utf-8"))
        for word in line.split()
        if word.endswith(".py") or word.startswith(".ci")
    ]
    assert sorted({*called}) == [".ci/run", "docs/make_llms.py", "docs/make_reference.py"]
    assert all((ROOT / path).exists() for path in called)
