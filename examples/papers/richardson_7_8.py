"""Richardson et al. (2024), figures 7 and 8: more negatives of the same kind, or of an easier kind.

The paper's scores, of antibodies, are not given; normal scores stand in. Type I adds negatives of the
same distribution, type II negatives that score below all positives.
"""

import altair as alt
import numpy as np
import polars as pl
from common import Figure, about, at_least, at_most, run

from polars_prcurve import metrics

EARLY = metrics.partial_roc_auc_mcclish(0.1)
AREAS = {
    "AP, own prevalence": ("average_precision", None),
    "AP, prevalence 0.1": ("average_precision", 0.1),
    "ROC-AUC": ("roc_auc", None),
    "partial ROC-AUC": (EARLY, None),
}
SMALL = {
    "AP, own prevalence": ("not affected", 0.7708333333, 0.7708333333),
    "AP, prevalence 0.1": ("", 0.3714285714, 0.5038461538),
    "ROC-AUC": ("affected", 0.6666666667, 0.875),
}
TIMES = (1, 2, 4, 8)


def areas(df: pl.DataFrame) -> dict[str, float]:
    return {
        name: df.prc.summary(eta, metrics=metric)["value"].item()
        for name, (metric, eta) in AREAS.items()
    }


def enriched() -> pl.DataFrame:
    """Areas of a test set with 2, 4 and 8 times as many negatives of either type."""
    rng = np.random.default_rng(8)
    pos, neg = rng.normal(1.5, size=2_000), rng.normal(size=18_000)
    rows = []
    for times in TIMES:
        more = (times - 1) * len(neg)
        same, easy = rng.normal(size=more), pos.min() - rng.exponential(size=more)
        for kind, added in (("type I", same), ("type II", easy)):
            score = np.concatenate([pos, neg, added])
            df = pl.DataFrame({"score": score, "label": np.arange(len(score)) < len(pos)})
            rows += [(kind, times, name, value) for name, value in areas(df).items()]
    return pl.DataFrame(rows, schema=["type", "negatives", "area", "value"], orient="row")


def main(figure: Figure) -> alt.FacetChart:
    few = pl.DataFrame({"score": [9, 8, 7, 6, 5, 4, 3], "label": [1, 0, 1, 1, 0, 1, 0]})
    easy = pl.DataFrame({"score": [0, -1, -2, -3, -4], "label": [0] * 5})
    before, after = areas(few), areas(pl.concat([few, easy]))
    for name, (paper, old, new) in SMALL.items():
        figure.check(f"7 scores: {name}", "", before[name], about(old, 1e-10))
        figure.check(f"and 5 easy negatives: {name}", paper, after[name], about(new, 1e-10))

    found = enriched()
    ends = found.filter(pl.col("negatives").is_in([1, 8])).sort("negatives")
    change = {key: each["value"][1] - each["value"][0] for key, each in ends.group_by("type", "area")}
    for kind, name, paper, limit in (
        ("type I", "ROC-AUC", "not affected", about(0, 0.01)),
        ("type I", "partial ROC-AUC", "not affected", about(0, 0.01)),
        ("type I", "AP, own prevalence", "affected", at_most(-0.1)),
        ("type I", "AP, prevalence 0.1", "", about(0, 0.02)),
        ("type II", "ROC-AUC", "affected", at_least(0.05)),
        ("type II", "partial ROC-AUC", "affected", at_least(0.05)),
        ("type II", "AP, own prevalence", "not affected", about(0, 0)),
        ("type II", "AP, prevalence 0.1", "not affected", at_least(0.1)),
    ):
        what = f"{kind} negatives, 8 times as many: change of {name}"
        is_listed = name == "AP, prevalence 0.1"
        figure.check(what, paper, change[kind, name], limit, listed=is_listed)

    lines = alt.Chart(found, width=220, height=200).mark_line(point=True)
    encoded = lines.encode(
        alt.X("negatives:O", title="Negatives, times as many", axis=alt.Axis(labelAngle=0)),
        alt.Y("value", title="Area", scale=alt.Scale(domain=[0, 1])),
        alt.Color("area", title="Area", scale=alt.Scale(domain=list(AREAS))),
    )
    return encoded.facet(alt.Facet("type", title=None), title="What more negatives do")


if __name__ == "__main__":
    run(main)
