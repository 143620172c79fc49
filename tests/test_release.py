"""What is released: the same bytes wherever and whenever it is built, whole, and able to stand alone."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from email.message import Message
from email.parser import Parser
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest

import polars_prcurve

pytestmark = pytest.mark.extras

ROOT = Path(__file__).parent.parent
VERSION = polars_prcurve.__version__
NAME = f"polars_prcurve-{VERSION}"
SDIST, WHEEL = f"{NAME}.tar.gz", f"{NAME}-py3-none-any.whl"
OWN = ("PYTHONPATH", "SOURCE_DATE_EPOCH")  # of whoever runs the tests, and not to be passed on
PURE = {name: value for name, value in os.environ.items() if name not in OWN}


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


def test_two_clones_make_the_same_files(tmp_path: Path) -> None:
    """Of one commit, whoever clones it, under whatever rights."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs a checkout")
    made = []
    for name, umask in (("one", 0o022), ("other", 0o077)):
        before = os.umask(umask)
        try:
            run("git", "clone", "-q", "--no-hardlinks", ROOT, name, cwd=tmp_path)
            made.append(build(tmp_path / name, tmp_path / f"{name}.dist", TZ=f"Etc/GMT+{umask % 12}"))
        finally:
            os.umask(before)
    assert made[0].keys() == {SDIST, WHEEL}
    assert made[0] == made[1]


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
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    addresses = dict(line.split(", ") for line in found.get_all("Project-URL", []))
    assert found.get_payload() == write_for_index()(readme, addresses.get("Source"), VERSION)
    needed = [line for line in found.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(re.split(r"[^\w-]", line)[0] for line in needed) == ["altair", "numpy", "polars"]


def write_for_index() -> Callable[[str, str | None, str], str]:
    write: Callable[[str, str | None, str], str] = runpy.run_path(
        str(ROOT / "docs" / "index_readme.py")
    )["write_for_index"]
    return write


@pytest.mark.parametrize("source", [None, "https://host.org/us/it"])
def test_the_index_shows_the_readme_without_a_link_to_nowhere(source: str | None) -> None:
    markdown = pytest.importorskip("readme_renderer.markdown")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = markdown.render(write_for_index()(readme, source, VERSION))
    assert shown is not None, "the index refuses to render it"
    assert "pip install polars-prcurve" in shown
    assert "pip install ." not in shown
    links = [url for url in re.findall(r'(?:href|src)="([^"]*)"', shown) if not url.startswith("#")]
    of_files = re.findall(r"\]\((?!http)([^)]+)\)", readme)
    assert len(of_files) > 20
    if source is None:
        assert "<img" not in shown
        assert links == re.findall(r"\]\((http[^)]+)\)", readme)
    else:
        assert {url.split(f"/v{VERSION}/")[1] for url in links if url.startswith(source)} == {*of_files}
        assert f'src="{source}/raw/v{VERSION}/docs/images/hero.png"' in shown


@pytest.mark.parametrize("options", [("-W", "error"), ("-OO",)])
@pytest.mark.xdist_group("alone")  # one worker makes the environment, once
def test_the_wheel_works_alone(alone: Path, options: tuple[str, ...]) -> None:
    """Without the extras and the checkout: the README, every kind of result, the command."""
    said = run(alone / "python", *options, ROOT / "tests" / "alone.py", cwd=ROOT)
    assert re.search(r"(exact|rounded|text|report|command line) [0-9a-f]{8}", said), said


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
    [on_all] = re.findall(r"python=\[(.*)\]\)", sessions)
    assert re.findall(r"3\.\d+", on_all) == claimed
    of_changes = read_workflow("checks")["jobs"]["checks"]["steps"][1]["with"]["python-version"].split()
    assert set(re.findall(r'python="(3\.\d+)"', sessions)) == {*of_changes} <= {*claimed}
    of_releases = read_workflow("release")["jobs"]["trial"]["strategy"]["matrix"]["python"]
    assert of_releases == claimed
    assert found["Requires-Python"] == f">={claimed[0]}"


def test_the_citation_is_of_this_version(dist: Path) -> None:
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", cited, flags=re.M) == [VERSION]
    assert re.findall(r"^authors:\n  - name: (.*)$", cited, flags=re.M) == [metadata(dist)["Author"]]
    assert f"\n## {VERSION}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_address_of_the_source_is_one_or_not_known_yet(dist: Path) -> None:
    in_metadata = [
        line for line in metadata(dist).get_all("Project-URL", []) if line.startswith("Source, ")
    ]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    found = [re.findall(r"^repository-code: (.*)$", cited, flags=re.M)]
    found.append(re.findall(r"^  repository: (.*)$", recipe, flags=re.M))
    assert found == [[line.removeprefix("Source, ") for line in in_metadata]] * 2


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


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read_workflow(name: str) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    held = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))
    assert isinstance(held, dict)
    return held


def test_workflows_call_scripts_that_are_there() -> None:
    called = [
        word
        for path in WORKFLOWS
        for line in re.findall(r"- run: (.*)", path.read_text(encoding="utf-8"))
        for word in line.split()
        if re.search(r"^\.ci|\.py$|\.txt$", word)
    ]
    docs = ["docs/make_llms.py", "docs/make_reference.py"]
    assert sorted({*called}) == [".ci/run", ".github/build-tools.txt", *docs, "tests/alone.py"]
    assert all((ROOT / path).exists() for path in called)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit_and_keep_no_credentials(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    elsewhere = [words for words in re.findall(r"uses: (.*)", text) if not words.startswith("./")]
    assert elsewhere
    assert all(
        re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", words) for words in elsewhere
    )
    workflow = read_workflow(path.stem)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        for step in job.get("steps", []):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"] == {"persist-credentials": False}
    updates = (ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8")
    assert "package-ecosystem: github-actions" in updates


def test_nothing_is_uploaded_that_was_not_checked_built_alone_and_tried() -> None:
    jobs = read_workflow("release")["jobs"]
    needs = {name: job.get("needs") for name, job in jobs.items()}
    assert needs == {"checks": None, "build": "checks", "trial": "build", "upload": "trial"}
    assert jobs["checks"] == {"uses": "./.github/workflows/checks.yml"}
    assert "workflow_call" in read_workflow("checks")[True]  # YAML reads `on` so
    assert [step["run"] for step in jobs["trial"]["steps"] if "run" in step][1:] == [
        "polars-prcurve --version",
        "python -W error tests/alone.py",
    ]
    # A package that cannot start on a system is not uploaded; the rest is promised for Linux alone.
    assert "continue-on-error" not in jobs["trial"]
    lenient = [step["run"] for step in jobs["trial"]["steps"] if "continue-on-error" in step]
    assert lenient == ["python -W error tests/alone.py"]
    may_sign = {name for name, job in jobs.items() if "permissions" in job}
    assert may_sign == {"upload"}
    assert jobs["upload"]["environment"] == "release"
    assert not [step for step in jobs["upload"]["steps"] if "run" in step]


def test_what_builds_a_release_is_pinned_by_hash() -> None:
    lines = (ROOT / ".github" / "build-tools.txt").read_text(encoding="utf-8").splitlines()[1:]
    packages, hashes = lines[::2], lines[1::2]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+ \\", line) for line in packages)
    assert all(re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}", line) for line in hashes)
    held = dict(line.removesuffix(" \\").split("==") for line in packages)
    needed = {re.split(r"[^\w-]", line)[0] for line in requires("hatchling") or [] if "<" not in line}
    assert needed | {"hatchling"} <= held.keys()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [floor] = re.findall(r'^requires = \["hatchling>=([\d.]+)"\]$', project, flags=re.M)
    assert [*map(int, floor.split("."))] <= [*map(int, held["hatchling"].split("."))]
