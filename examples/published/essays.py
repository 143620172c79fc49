"""Detectors of AI text on essays of people: of learners of English, and of American pupils.

Weixin-Liang/ChatGPT-Detector-Bias at 1d05ed8242, a badge of the MIT licence and no licence file:
counts only. For each of seven detectors the `score` of three folders was counted if above 0.5:
TOEFL_real_91 and HewlettStudentEssay_real_88 (people), CollegeEssay_gpt3_31 (machine). The claim is
that of arXiv 2304.02819.
"""

import polars as pl
from story import CELLS, Numbers, Story, only

FLAGGED = {  # of 31 machine essays, of 91 by learners, of 88 by pupils
    "Crossplag": (18, 47, 11),
    "GPTZero": (31, 47, 0),
    "HFOpenAI": (18, 53, 8),
    "OriginalityAI": (13, 69, 1),
    "Quil": (18, 68, 8),
    "Sapling": (23, 62, 4),
    "ZeroGPT": (31, 44, 0),
}
STUDENTS = 0.11


def tables(people: int, size: int) -> pl.DataFrame:
    """Return a table per detector: the machine essays against one kind of people's."""
    rows = [(name, n[0], n[people], 31 - n[0], size - n[people]) for name, n in FLAGGED.items()]
    return pl.DataFrame(rows, schema=["detector", *CELLS], orient="row")


def main(numbers: Numbers) -> None:
    learners, pupils = tables(1, 91), tables(2, 88)
    mean = learners.prc.curve(cells=CELLS, by="detector")["fpr"].mean()
    numbers.check("essays of learners flagged, mean of seven", "61.22%", mean)
    native, foreign = (table.filter(detector="GPTZero").prc(cells=CELLS) for table in (pupils, learners))
    asked = {"metrics": ["precision", "fpr"], "confidence": 0.95}
    for metric in ("precision", "fpr"):
        of_pupils, of_learners = (
            only(native.curve(STUDENTS, **asked)),
            only(foreign.curve(STUDENTS, **asked)),
        )
        numbers.measure(of_pupils, "GPTZero", where="if people write like these pupils", of=metric)
        numbers.become(of_learners, "if people write like these learners", "GPTZero", of=metric)


STORY = Story(
    title="Essays",
    claim="61.22% of essays of learners of English flagged as AI text, nearly none of pupils'",
    place="W. Liang et al., arXiv 2304.02819; data at Weixin-Liang/ChatGPT-Detector-Bias (1d05ed8242)",
    field="Turnitin, press release of 9 April 2024",
    so="One detector, one prevalence, and two precisions: what changed is who writes.",
    fetched=True,
    main=main,
)
