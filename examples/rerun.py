"""Run the notebook anew, in a fresh kernel, and store what comes out.

python examples/rerun.py                        # in place
python examples/rerun.py out/screening.ipynb    # to look at first
"""

from __future__ import annotations

import argparse
import base64
from pathlib import Path

import nbformat
from gallery import compress
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).with_name("screening.ipynb")


def main() -> None:
    parser = argparse.ArgumentParser(description="Run examples/screening.ipynb anew.")
    parser.add_argument("path", nargs="?", default=NOTEBOOK, type=Path, help="where to store it")
    path = parser.parse_args().path
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    notebook.metadata["language_info"] = {"name": "python"}  # without the version, which changes
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if image := data.get("image/png"):
                data["image/png"] = base64.b64encode(compress(base64.b64decode(image))).decode()
    nbformat.write(notebook, path)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
