"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polars_prcurve.errors import PrcError

__all__ = ["draft_of", "in_a_folder"]


def in_a_folder(path: str | os.PathLike[str]) -> Path:
    """The file that is meant, links followed, if there is a folder for it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise PrcError(f"{str(path)!r} is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise PrcError(f"there is no folder {str(target.parent)!r} to write {target.name!r} into")
    return target


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """A file to write to: it takes the place of the target if all goes well, and else is gone."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        try:
            yield draft
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    finally:  # Polars and Python both raise for one interrupt, the second during the line above
        draft.unlink(missing_ok=True)
