"""Files that appear whole or not at all: drafts, renamed when they are complete."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polars_prcurve.core.ground.argument_checks import refuse_kind
from polars_prcurve.core.ground.errors import PrcError
from polars_prcurve.core.ground.message_text import describe_value

_OPEN_FILE_FOLDERS = ("/proc", "/dev/fd")
"""Folders whose names represent files that are open already, such as standard output."""


def resolve_target(path: str | os.PathLike[str]) -> Path:
    """Return `path` with links resolved; raise if it is a folder, or its folder does not exist."""
    if not isinstance(path, str | os.PathLike):
        raise refuse_kind("path=", "the name of a file", path)
    try:  # what a link to an open file, such as /dev/stdout, resolves to may not exist
        target_path = Path(path) if _names_open_file(Path(path)) else Path(os.path.realpath(path))
        is_folder = target_path.is_dir()
    except (TypeError, ValueError, OSError):  # such as bytes, a null character, or too many letters
        raise PrcError(f"expected the path of a file to write; got {describe_value(path)}") from None
    if is_folder:
        raise PrcError(f"pass the name of a file: {os.fspath(path)!r} is a folder")
    if not target_path.parent.is_dir():
        raise PrcError(
            f"create the folder {str(target_path.parent)!r} to write {target_path.name!r} into: it does "
            "not exist"
        )
    return target_path


def _names_open_file(path: Path) -> bool:
    """Return whether links lead to a file that a process holds open, such as /dev/stdout."""
    for _ in range(40):  # longer chains of links are refused by the system, too
        folder = Path(os.path.realpath(path.parent))
        if any(folder.is_relative_to(open_file_folder) for open_file_folder in _OPEN_FILE_FOLDERS):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def is_stream(target_path: Path) -> bool:
    """Return whether a resolved target is a device, a pipe or an open file, which keeps its place."""
    return target_path.is_symlink() or (target_path.exists() and not target_path.is_file())


_OPEN_DRAFTS: set[Path] = set()  # those that are written now, by any thread


def delete_drafts() -> None:
    """Delete all drafts, for a program that ends at once."""
    for draft_path in list(_OPEN_DRAFTS):
        draft_path.unlink(missing_ok=True)


@contextmanager
def write_atomically(target_path: Path) -> Iterator[Path]:
    """Yield a draft to write to, which replaces the target at the end; on an error, delete the draft."""
    # A stream is never replaced: it gets the bytes of the draft.
    is_replaced = not is_stream(target_path)
    permission_bits = (
        stat.S_IMODE(target_path.stat().st_mode) if is_replaced and target_path.exists() else None
    )
    # The name of the draft is unique, since threads and other machines may write the same target,
    # and short, since the name of the target may be as long as names can be.
    folder = target_path.parent if is_replaced else Path(tempfile.gettempdir())
    draft_path = folder / f".{secrets.token_hex(8)}.part"
    _OPEN_DRAFTS.add(draft_path)
    try:
        # A new file has the rights of the umask, and any other draft is private.
        draft_permissions = 0o666 if is_replaced and permission_bits is None else 0o600
        os.close(os.open(draft_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, draft_permissions))
        yield draft_path
        if not is_replaced:
            _copy_into(draft_path, target_path)
            return
        if permission_bits is not None:
            draft_path.chmod(permission_bits)
        draft_path.replace(target_path)
    finally:
        draft_path.unlink(missing_ok=True)
        _OPEN_DRAFTS.discard(draft_path)


def _copy_into(draft_path: Path, target_path: Path) -> None:
    """Write the bytes of a draft into a stream."""
    file_descriptor = os.open(target_path, os.O_WRONLY | os.O_APPEND)  # neither creates nor empties it
    with (
        name_file(target_path),
        draft_path.open("rb") as draft_stream,
        open(file_descriptor, "wb") as target_stream,
    ):
        shutil.copyfileobj(draft_stream, target_stream, 1 << 20)


@contextmanager
def name_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let errors of writing name the file, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise


class PatientFile(io.RawIOBase):
    """A file for Polars to write to, of which the first error waits for `raise_error`.

    If a step of a query fails to write, Polars 2.1 may wait for its other steps without end, or raise an
    error of theirs (tests/upstream/full_disk.py). So the writer pretends that all is well.
    """

    def __init__(self, draft_path: Path, path: str | os.PathLike[str]) -> None:
        self._stream, self._path = draft_path.open("wb", buffering=0), path
        self._error: OSError | None = None

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Write all bytes, unless there has been an error before."""
        unwritten_bytes = memoryview(data)
        try:
            while unwritten_bytes and self._error is None:
                unwritten_bytes = unwritten_bytes[self._stream.write(unwritten_bytes) :]
        except OSError as error:
            self._error = error
        return len(data)

    def close(self) -> None:
        """Close the file."""
        super().close()
        self._stream.close()

    def raise_error(self) -> None:
        """Raise the error, if there has been one."""
        if self._error is not None:
            with name_file(self._path):
                raise self._error
