"""Make the images of the docs from the code on their pages.

    python examples/gallery.py docs/images/
    python examples/gallery.py --only ranking

The examples of a page run in order, and `chart` is what the example before an image has drawn. `report`
is a screenshot of the file `path`, and needs playwright and a Chromium. The folder `thumbs` gets small
images without words.
"""

from __future__ import annotations

import argparse
import doctest
import re
import shutil
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parent.parent / "docs"
PAGES = (
    "charts",
    "tutorial",
    "which-model",
    "which-threshold",
    "uncertainty",
    "clinicians",
    "binormal",
    "subgroups",
    "unknown-prevalence",
    "which-area",
    "decide",
    "never-scored",
    "monitoring",
    "sampled-rows",
    "training-loops",
)
"""Pages whose code draws their images."""
IMAGE = re.compile(r"!\[[^\]]*\]\(images/(\w+)\.png\)")
THUMBS = {
    name
    for page in ("index", "charts")
    for name in re.findall(
        r'src="images/thumbs/(\w+)\.png"', (DOCS / f"{page}.md").read_text(encoding="utf-8")
    )
}
"""Images that pages show small."""
THUMB_WIDTH = 330  # pixels, one and a half times what a page gives them
PARTS = ("layer", "vconcat", "hconcat")  # of a chart in Vega-Lite


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the images of the docs.")
    texts = [(DOCS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES]
    names = [name for text in texts for name in IMAGE.findall(text)]
    parser.add_argument("folder", nargs="?", default=DOCS / "images", type=Path)
    parser.add_argument("--only", choices=names, help="draw only this image")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for text in texts:
        wanted = [name for name in IMAGE.findall(text) if args.only in (None, name)]
        if wanted:
            draw_page(text, wanted, args.folder)


def draw_page(text: str, wanted: list[str], folder: Path) -> None:
    """Run the examples of a page up to its last image that is wanted, and save these images."""
    variables: dict[str, Any] = {"__name__": "a page"}
    left = set(wanted)
    for part in doctest.DocTestParser().parse(text):
        if isinstance(part, doctest.Example):
            if part.exc_msg is None:
                exec(compile(part.source, "a page", "exec"), variables)
            continue
        for name in IMAGE.findall(part):
            if name in left:
                save = photograph if name == "report" else save_image
                save(variables["path" if name == "report" else "chart"], folder / f"{name}.png")
                left.remove(name)
        if not left:
            return


def save_image(chart: Any, path: Path) -> None:
    """Write a chart to a small PNG file."""
    chart.save(path, scale_factor=1.3)
    shrink(path)
    if path.stem in THUMBS:
        save_thumb(chart.to_dict(), path.parent / "thumbs" / path.name)


def save_thumb(spec: dict[str, Any], path: Path) -> None:
    """Write a chart without its words, which could not be read, to a small PNG file."""
    import vl_convert

    drawing = leave_out_words(spec) | {"padding": 4}
    width = re.search(r'width="([\d.]+)"', vl_convert.vegalite_to_svg(drawing))
    assert width
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(vl_convert.vegalite_to_png(drawing, scale=THUMB_WIDTH / float(width[1])))
    shrink(path)


def leave_out_words(view: dict[str, Any]) -> dict[str, Any]:
    """Return a view of a chart without titles and labels; empty if it has nothing else."""
    if view.get("mark", {}).get("type") == "text":
        return {}
    drawing = {key: value for key, value in view.items() if key != "title"}
    for name in {*PARTS} & {*view}:
        drawing[name] = [part for part in map(leave_out_words, view[name]) if part]
        if not drawing[name]:
            return {}
    if "spec" in view:
        drawing["spec"] = leave_out_words(view["spec"])
        return drawing if drawing["spec"] else {}
    drawing["encoding"] = dict(view.get("encoding", {}))
    for name in {"x", "y"} & {*drawing["encoding"]}:
        channel = drawing["encoding"][name]
        axis = channel.get("axis", {})
        axis = None if axis is None else axis | {"labels": False, "ticks": False, "title": None}
        drawing["encoding"][name] = channel | {"axis": axis, "title": None}
    return drawing


def photograph(page_path: Path, path: Path) -> None:
    """Write the top of a page, as a browser shows it, to a small PNG file."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    browser_path = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 860, "height": 1000})
        page.goto(page_path.as_uri())
        page.screenshot(path=path)
        page.set_viewport_size({"width": THUMB_WIDTH, "height": THUMB_WIDTH * 3 // 4})
        page.evaluate("window.scrollTo(0, document.querySelector('h1').offsetTop - 8)")
        (path.parent / "thumbs").mkdir(exist_ok=True)
        page.screenshot(path=path.parent / "thumbs" / path.name)
        browser.close()
    shrink(path)
    shrink(path.parent / "thumbs" / path.name)


def shrink(path: Path) -> None:
    """Write an image again, in fewer bytes."""
    path.write_bytes(compress(path.read_bytes()))
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def compress(png: bytes) -> bytes:
    """Return an equal image in a quarter of the bytes: the writer of charts favours speed."""
    start, chunks, pixels = 8, [], b""
    while start < len(png):
        size, kind = struct.unpack(">I4s", png[start : start + 8])
        body = png[start + 8 : start + 8 + size]
        pixels += body if kind == b"IDAT" else b""
        if kind in (b"IHDR", b"pHYs"):
            chunks.append((kind, body))
        start += 12 + size
    width, height = struct.unpack(">II", png[16:24])
    rows = np.frombuffer(zlib.decompress(pixels), np.uint8).reshape(height, -1)
    if rows.shape[1] == 4 * width + 1 and (rows[:, 0] == 1).all():
        # Each pixel is its difference from the one before. Areas of one colour repeat better without.
        colors = rows[:, 1:].reshape(height, width, 4).cumsum(axis=1, dtype=np.uint8)
        rows = np.pad(colors.reshape(height, -1), ((0, 0), (1, 0)))
    chunks += [(b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return png[:8] + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


if __name__ == "__main__":
    main()
