"""The README as the package index shows it: installed by name, and with no file beside it.

A link to a file gets the address `Source` of `[project.urls]`, at the tag of the version. Without one
there is nothing to lead to: the words of a link stay, and the description of a picture.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(?P<bang>!?)\[(?P<words>[^\]]*)\]\((?!https?:|#)(?P<path>[^)]+)\)")
HERE, BY_NAME = "pip install .    # in a checkout; needs", "pip install polars-prcurve    # needs"


def write_for_index(readme: str, source: str | None, version: str) -> str:
    """Return the README with links that lead somewhere from any page, to be installed by name."""

    def lead_to_source(link: re.Match[str]) -> str:
        bang, words, path = link["bang"], link["words"], link["path"]
        if source is None:
            return f"*{words}*" if bang else words
        return f"{bang}[{words}]({source}/{'raw' if bang else 'blob'}/v{version}/{path})"

    if HERE not in readme:
        raise ValueError(f"README.md should say {HERE!r}, which the index shows as {BY_NAME!r}")
    return LINK.sub(lead_to_source, readme.replace(HERE, BY_NAME))


class IndexReadme(MetadataHookInterface):
    """Puts the README into the metadata; Hatchling asks it at each build."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field `readme`."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = write_for_index(readme, metadata.get("urls", {}).get("Source"), metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
