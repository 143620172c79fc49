"""Make the images of docs/charts.md from the code on that page.

    python examples/gallery.py docs/images/

The examples run in the order of the page; before each image `chart` is what its example drew.
"""

from __future__ import annotations

import argparse
import doctest
import re
import struct
import zlib
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"
IMAGE = re.compile(r"!\[[^\]]*\]\(images/(\w+)\.png\)")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the images of docs/charts.md.")
    parser.add_argument("folder", nargs="?", default=DOCS / "images", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    known: dict[str, Any] = {}
    for part in doctest.DocTestParser().parse((DOCS / "charts.md").read_text(encoding="utf-8")):
        if isinstance(part, doctest.Example):
            exec(compile(part.source, "docs/charts.md", "exec"), known)
            continue
        for name in IMAGE.findall(part):
            path = folder / f"{name}.png"
            known["chart"].save(path, scale_factor=1.3)
            path.write_bytes(packed(path.read_bytes()))
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def packed(png: bytes) -> bytes:
    """The same image in a third of the bytes: its writer compresses in haste."""
    start, chunks, pixels = 8, [], b""
    while start < len(png):
        size, kind = struct.unpack(">I4s", png[start : start + 8])
        body = png[start + 8 : start + 8 + size]
        pixels += body if kind == b"IDAT" else b""
        if kind in (b"IHDR", b"pHYs"):
            chunks.append((kind, body))
        start += 12 + size
    chunks += [(b"IDAT", zlib.compress(zlib.decompress(pixels), 9)), (b"IEND", b"")]
    return png[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


if __name__ == "__main__":
    main()
