"""Lay a built site beside those of other versions: each page then has a switch between all of them.

    python docs/lay_version.py site all

copies the folder `site` to `all/0.1.0`, the version of this checkout, in place of what is there. Pages
read `versions.json` of the folder above. It is written here, since Zensical has no command for that yet,
and so is a page that leads to the newest version.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "polars_prcurve/core/ground/package_version.py"


def lay_version(site: Path, everything: Path, version: str) -> None:
    """Copy a site to its version, and list all versions that are there, the newest first."""
    shutil.rmtree(everything / version, ignore_errors=True)
    shutil.copytree(site, everything / version)
    numbers = [path.name for path in everything.iterdir() if re.fullmatch(r"\d+\.\d+\.\d+", path.name)]
    numbers.sort(key=lambda number: [int(part) for part in number.split(".")], reverse=True)
    aliases = {numbers[0]: ["latest"]}
    listed = [{"version": each, "title": each, "aliases": aliases.get(each, [])} for each in numbers]
    (everything / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    newest = f'<!doctype html><meta http-equiv="refresh" content="0; url={numbers[0]}/index.html">'
    (everything / "index.html").write_text(newest, encoding="utf-8")


if __name__ == "__main__":
    [said] = re.findall(r'^__version__ = "(.+)"$', PACKAGE.read_text(encoding="utf-8"), flags=re.M)
    lay_version(Path(sys.argv[1]), Path(sys.argv[2]), said)
