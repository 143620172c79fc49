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
from polars_prcurve.core.ground.errors import PrcError, describe_value

_OPEN_FILE_FOLDERS = ("/proc", "/dev/fd")
"""Folders whose names represent files that are open already, such as standard output."""


def resolve_target(path: str | os.PathLike[str]) -> Path:
    """Return `path` with links resolved; raise if it is a folder, or its folder does not exist."""
    if not isinstance(path, str | os.PathLike):
        raise refuse_kind("path=", "the name of a file", path)
    try:  # what a link to an open file, such as /dev/stdout, resolves to may not exist
        target = Path(path) if _names_open_file(Path(path)) else Path(os.path.realpath(path))
        is_folder = target.is_dir()
    except (TypeError, ValueError, OSError):  # such as bytes, a null character, or too many letters
        raise PrcError(f"expected the path of a file to write; got {describe_value(path)}") from None
    if is_folder:
        raise PrcError(f"pass the name of a file: {os.fspath(path)!r} is a folder")
    if not target.parent.is_dir():
        raise PrcError(
            f"create the folder {str(target.parent)!r} to write {target.name!r} into: it does not exist"
        )
    return target


def _names_open_file(path: Path) -> bool:
    """Return whether links lead to a file that a process holds open, such as /dev/stdout."""
    for _ in range(40):  # longer chains of links are refused by the system, too
        folder = Path(os.path.realpath(path.parent))
        if any(folder.is_relative_to(special_folder) for special_folder in _OPEN_FILE_FOLDERS):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / os.readlink(path)
    return False


def is_stream(target: Path) -> bool:
    """Return whether a resolved target is a device, a pipe or an open file, which keeps its place."""
    return target.is_symlink() or (target.exists() and not target.is_file())


_OPEN_DRAFTS: set[Path] = set()  # those that are written now, by any thread


def delete_drafts() -> None:
    """Delete all drafts, for a program that ends at once."""
    for draft in list(_OPEN_DRAFTS):
        draft.unlink(missing_ok=True)


@contextmanager
def write_atomically(target: Path) -> Iterator[Path]:
    """Yield a draft to write to, which replaces `target` at the end; on an error, delete the draft."""
    is_replaced = not is_stream(target)  # a stream is never replaced: it gets the bytes of the draft
    permission_bits = stat.S_IMODE(target.stat().st_mode) if is_replaced and target.exists() else None
    # The name of the draft is unique, since threads and other machines may write the same target,
    # and short, since the name of the target may be as long as names can be.
    folder = target.parent if is_replaced else Path(tempfile.gettempdir())
    draft = folder / f".{secrets.token_hex(8)}.part"
    _OPEN_DRAFTS.add(draft)
    try:
        # A new file has the rights of the umask, and any other draft is private.
        draft_permissions = 0o666 if is_replaced and permission_bits is None else 0o600
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, draft_permissions))
        yield draft
        if not is_replaced:
            _copy_into(draft, target)
            return
        if permission_bits is not None:
            draft.chmod(permission_bits)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
        _OPEN_DRAFTS.discard(draft)


def _copy_into(draft: Path, target: Path) -> None:
    """Write the bytes of a draft into a stream."""
    file_descriptor = os.open(target, os.O_WRONLY | os.O_APPEND)  # neither creates nor empties it
    with name_file(target), draft.open("rb") as draft_stream, open(file_descriptor, "wb") as stream:
        shutil.copyfileobj(draft_stream, stream, 1 << 20)


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

    def __init__(self, draft: Path, path: str | os.PathLike[str]) -> None:
        self._stream, self._path = draft.open("wb", buffering=0), path
        self._error: OSError | None = None

    def writable(self) -> bool:
        """Return that it can be written to."""
        return True

    def write(self, data: Any) -> int:
        """Write all bytes, unless there has been an error before."""
        unwritten = memoryview(data)
        try:
            while unwritten and self._error is None:
                unwritten = unwritten[self._stream.write(unwritten) :]
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
