"""Files that are written: whole or not at all, in the place of a file but never of a device."""

from __future__ import annotations

import itertools
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import polars_prcurve
from polars_prcurve.core.ground.atomic_file import resolve_target, write_atomically
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.doors.cli import table_files
from polars_prcurve.doors.cli.main import main
from polars_prcurve.view.report.html_and_svg import write_text
from tests.support.tiers import slow_unless

DF = pl.DataFrame({"score": [0.9, 0.8, 0.7, 0.4], "label": [1, 0, 1, 0]})
TEXT = "text"


def write_report(path: str | Path) -> None:
    write_text(path, TEXT)


def write_table(path: str | Path) -> None:
    table_files.build_writer(str(path))(DF.lazy())


WRITERS = {"report": write_report, "table": write_table}
EXTENSIONS = [".parquet", ".csv", ".tsv", ".ndjson", ".arrow", ".html", ""]
each_writer = pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)


def writer_of(extension: str) -> Callable[[str | Path], None]:
    return write_report if extension == ".html" else write_table


def expected_bytes(extension: str, folder: Path) -> bytes:
    """Return what a regular file of this name would hold; a table without a format is CSV."""
    path = folder / f"expected{extension or '.csv'}"
    writer_of(extension)(path)
    return path.read_bytes()


def read_pipe(path: Path, write: Callable[[str | Path], None], name: str | Path) -> bytes:
    """Write to `name`, which leads to the named pipe `path`, and return what its reader gets."""
    with ThreadPoolExecutor() as pool:
        reader = pool.submit(path.read_bytes)
        write(name)
        return reader.result(timeout=30)


# What is no regular file ----------------------------------------------------------------------


@pytest.mark.parametrize("through_link", [False, True])
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_pipe_gets_the_bytes(tmp_path: Path, extension: str, through_link: bool) -> None:
    pipe = tmp_path / f"pipe{extension}"
    os.mkfifo(pipe)
    name = tmp_path / f"link{extension}" if through_link else pipe
    if through_link:
        name.symlink_to(pipe)
    assert read_pipe(pipe, writer_of(extension), name) == expected_bytes(extension, tmp_path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert name.is_symlink() is through_link


def test_a_pipe_is_not_read_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file is opened more than once, and a pipe without a writer holds up whoever opens it."""
    os.mkfifo(tmp_path / "pipe.csv")
    assert main(["summary", str(tmp_path / "pipe.csv"), "--eta", "1%"]) == 2
    assert "which is a pipe, and redirect it to standard input" in capsys.readouterr().err


@each_writer
def test_a_device_stays_a_device(tmp_path: Path, write: Callable[[str | Path], None]) -> None:
    device = tmp_path / "null.csv"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        with device.open("wb"):
            pass
    except OSError:
        pytest.skip("devices can be made by root only, and where the file system allows it")
    link = tmp_path / "link.csv"
    link.symlink_to(device)
    for name in (device, link):
        write(name)
        assert stat.S_ISCHR(device.stat().st_mode)
    assert set(os.listdir(tmp_path)) == {"null.csv", "link.csv"}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("redirect", [">", ">>", "| cat >"])
def test_standard_output_by_its_name_gets_the_bytes(tmp_path: Path, redirect: str) -> None:
    out = tmp_path / "out.csv"
    out.write_text("")
    before = out.stat().st_ino
    DF.write_csv(tmp_path / "scores.csv")
    run_shell(f"prcurve summary scores.csv --eta 0.1 -o /dev/stdout {redirect} out.csv", tmp_path)
    assert out.stat().st_ino == before
    assert pl.read_csv(out).height == DF.prc.summary(0.1, columns="all").height


def run_shell(line: str, folder: Path) -> None:
    definition = f'prcurve() {{ "{sys.executable}" -m polars_prcurve "$@"; }}'
    subprocess.run(["bash", "-c", f"{definition}; {line}"], check=True, cwd=folder, env=environment())


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(polars_prcurve.__file__).parent.parent)}


@each_writer
def test_a_socket_is_refused_and_stays(tmp_path: Path, write: Callable[[str | Path], None]) -> None:
    path = tmp_path / "s.csv"
    os.mknod(path, stat.S_IFSOCK | 0o600)
    with pytest.raises(OSError, match="No such device"):
        write(path)
    assert stat.S_ISSOCK(path.stat().st_mode)


# Regular files --------------------------------------------------------------------------------


@each_writer
def test_a_link_to_a_file_stays_a_link(tmp_path: Path, write: Callable[[str | Path], None]) -> None:
    (tmp_path / "folder").mkdir()
    real, link = tmp_path / "folder" / "real.csv", tmp_path / "link.csv"
    for before in ("old", None):
        if before is None:
            real.unlink()
        else:
            real.write_text(before)
        link.unlink(missing_ok=True)
        link.symlink_to(real)
        write(link)
        assert link.is_symlink()
        assert real.stat().st_size > 3
        assert os.listdir(tmp_path / "folder") == ["real.csv"]


@each_writer
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_keeps_its_mode(tmp_path: Path, write: Callable[[str | Path], None], mode: int) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(mode)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.stat().st_size > 3


@each_writer
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_of_the_umask(
    tmp_path: Path, write: Callable[[str | Path], None], umask: int
) -> None:
    before = os.umask(umask)
    try:
        write(tmp_path / "a.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o666 & ~umask


@each_writer
def test_a_name_may_be_as_long_as_names_can_be(
    tmp_path: Path, write: Callable[[str | Path], None]
) -> None:
    for length in (249, 255):
        name = "n" * (length - 4) + ".csv"
        write(tmp_path / name)
        assert os.listdir(tmp_path) == [name]
        (tmp_path / name).unlink()


@each_writer
def test_many_threads_write_one_file(tmp_path: Path, write: Callable[[str | Path], None]) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, [tmp_path / "a.csv"] * 200))  # raises if one of them raised
    assert os.listdir(tmp_path) == ["a.csv"]
    expected = TEXT.encode() if write is write_report else expected_bytes(".csv", tmp_path)
    assert (tmp_path / "a.csv").read_bytes() == expected


def test_a_draft_of_a_replaced_file_is_private(tmp_path: Path) -> None:
    """Else others could read a secret table while it is written."""
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(0o600)
    with write_atomically(resolve_target(path)) as draft:
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        assert draft.parent == tmp_path


@pytest.mark.parametrize("path", ["a\0b.csv", "\ud800.csv\udfff" * 300, 3.5, None])
def test_a_path_that_cannot_be_is_refused(path: object) -> None:
    with pytest.raises((PrcError, OSError)):
        write_report(path)  # type: ignore[arg-type]


# Signals --------------------------------------------------------------------------------------

SIGNALS = {"INT": 130, "TERM": 143, "HUP": 129}


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Path]:
    """A folder with a table that takes seconds to sort."""
    n = 500_000
    pl.select(
        score=pl.int_range(n).hash(1).cast(pl.Float64), label=pl.int_range(n).hash(2) % 100 == 0
    ).write_parquet(tmp_path / "big.parquet")
    for copy in range(8):
        (tmp_path / f"part{copy}.parquet").symlink_to(tmp_path / "big.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "case",
    slow_unless(
        lambda case: case in (("TERM", False), ("HUP", True)),
        [*((name, False) for name in SIGNALS), ("TERM", True), ("HUP", True)],
    ),
    ids=str,
)
def test_a_signal_leaves_nothing(slow: Path, case: tuple[str, bool]) -> None:
    name, ignored = case
    before = set(os.listdir(slow))
    command = [sys.executable, "-m", "polars_prcurve", "curve", "part*.parquet", "-o", "out.csv"]
    if ignored:  # as in a shell script that runs a command in the background
        command = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    running = subprocess.Popen(
        command,
        cwd=slow,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        # The tests may run under nohup, and what is ignored stays ignored in a new process.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509
    )
    while set(os.listdir(slow)) == before and running.poll() is None:
        time.sleep(0.02)  # until there is a draft
    running.send_signal(getattr(signal, f"SIG{name}"))
    _, error = running.communicate(timeout=60)
    assert (running.returncode, error) == (SIGNALS[name], "polars-prcurve: interrupted\n")
    assert set(os.listdir(slow)) == before


def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    """A script's `command &` ignores SIGINT, and Polars would end a query on it all the same."""
    rows = pl.int_range(300_000)
    pl.select(score=rows.hash(1) / 2.0**64, label=rows % 9 == 0).write_csv(tmp_path / "a.csv")
    command = [sys.executable, "-m", "polars_prcurve", "curve", "a.csv", "-o", "out.csv"]
    running = subprocess.Popen(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(os.listdir(tmp_path)) == 1 and running.poll() is None:
        time.sleep(0.02)  # until there is a draft
    running.send_signal(signal.SIGINT)
    assert (running.communicate(timeout=60)[1], running.returncode) == ("", 0)
    assert pl.read_csv(tmp_path / "out.csv").height == 300_000


def test_who_calls_a_command_in_python_keeps_the_signals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    DF.write_csv("scores.csv")
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before, threads = [signal.getsignal(n) for n in numbers], threading.active_count()
    assert main(["summary", "scores.csv", "-o", "out.csv"]) == 0
    assert [signal.getsignal(n) for n in numbers] == before
    assert threading.active_count() == threads
    with ThreadPoolExecutor(1) as pool:  # handlers are for the main thread only
        assert pool.submit(main, ["summary", "scores.csv", "-o", "out.csv"]).result() == 0


# Full disks -----------------------------------------------------------------------------------

FULL_DISK = """
import resource, signal, sys
from polars_prcurve.doors.cli.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a limit of files is as a full disk, and needs no rights
resource.setrlimit(resource.RLIMIT_FSIZE, (2**12, 2**12))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.quick_cases(2)
@pytest.mark.skipif(sys.platform == "win32", reason="no limit of files")
@pytest.mark.parametrize(
    "case",
    slow_unless(
        lambda case: case in (("csv", 1), ("parquet", 2), ("html", 1)),
        itertools.product(["csv", "parquet", "ndjson", "arrow", "html"], [1, 2]),
    ),
    ids=str,
)
def test_a_full_disk_is_an_error_and_no_wait(slow: Path, case: tuple[str, int]) -> None:
    """Polars alone may wait without end here, on one thread and on two: see upstream/full_disk.py."""
    ending, n_threads = case
    path = slow / f"result.{ending}"
    path.write_text("old")
    files = sorted(os.listdir(slow))
    words = ["decide", "--report"] if ending == "html" else ["curve", "-o"]
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, words[0], "big.parquet", "--eta", "0.01", words[1], str(path)],
        cwd=slow,
        env=environment() | {"POLARS_MAX_THREADS": str(n_threads)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"File too large: {str(path)!r}" in done.stderr
    assert path.read_text() == "old"
    assert sorted(os.listdir(slow)) == files
