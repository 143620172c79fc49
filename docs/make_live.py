"""Write the live chart of the front page, and the script that draws it, as one file.

    python docs/make_live.py [folder]

Without a folder it goes to reference/ beside this file; `make_reference.py` writes it, too. All that the
page needs is in the file: the site loads nothing from elsewhere.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import vl_convert

from polars_prcurve import prc

START = 0.05
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": "inherit",
    "axis": {"labelColor": "currentColor", "titleColor": "currentColor", "gridColor": "#8A919A55"},
    "title": {"color": "currentColor", "subtitleColor": "currentColor"},
    "text": {"color": "currentColor"},
}
"""Words in the colour of the page, which is dark if the reader wants it so."""
SCRIPT = """
window.drawLive = function (place) {
  const options = {mode: "vega-lite", actions: false, ast: true, renderer: "svg", config: CONFIG};
  return vegaEmbed(place, SPEC, options).then(() => place.classList.add("drawn"));
};
const place = document.getElementById("live");
if (place) window.drawLive(place);
"""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "reference")
    write_live(folder)


def write_live(folder: Path) -> None:
    """Write live.js to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    spec = draw_live().to_dict()
    values = {"SPEC": spec, "CONFIG": CONFIG}
    data = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in values.items())
    script = vl_convert.javascript_bundle(data + SCRIPT)
    (folder / "live.js").write_text(str(script), encoding="utf-8")


def draw_live() -> Any:
    """Return the chart: two fraud models, tested on 20 000 cases of which 1 in 20 is a fraud."""
    rng = np.random.default_rng(3)
    fraud = rng.random(20_000) < START
    boosted = np.where(fraud, 2.2 + rng.normal(size=20_000), rng.normal(size=20_000))
    linear = np.where(fraud, 1.9 + 1.6 * rng.normal(size=20_000), rng.normal(size=20_000))
    wide = pl.DataFrame({"label": fraud, "gradient boosting": boosted, "logistic regression": linear})
    models = wide.with_columns(pl.exclude("label").round(3))
    long = prc(models).unpivot_scores(["gradient boosting", "logistic regression"], name="model")
    return prc(long).plot.live(START, by="model", width="container")


if __name__ == "__main__":
    main()
