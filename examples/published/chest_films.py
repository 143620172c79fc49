"""Ten models and three radiologists on 500 chest films, five findings.

rajpurkarlab/cheXpert-test-set-labels at a03eb3438c, no licence file: counts only, and no names. For
each model and finding the 500 scores were ranked and cut into 25 parts of twenty films (ties into
the higher part), and the films with and without the finding counted: data/chest_films.csv. Readers
against the majority of five others: data/chest_readers.csv. Of the models, three agree bit by bit
in four of five findings, and a fourth in three: most likely a file was released twice, so they are
not ten independent models.
"""

from story import CELLS, Numbers, Story, only, read

FILMS, READERS = read("chest_films"), read("chest_readers")
COUNTS = ("n_pos", "n_neg")
NIH = 2_303 / 112_120


def main(numbers: Numbers) -> None:
    models = FILMS.prc(score="part", counts=COUNTS, by=["model", "finding"])
    areas = models.summary(metrics="roc_auc", coarse=True)
    numbers.check("mean area under the ROC curve, 50 of them", "0.924", areas["value"].mean())
    edema = READERS.filter(finding="edema").prc(cells=CELLS, by="reader")
    for eta, add, where in (
        (None, numbers.measure, "in the test"),
        (NIH, numbers.become, "films of another hospital"),
    ):
        fifth = models.operating_points(eta, threshold=20, confidence=0.95)
        add(only(fifth.filter(finding="edema", model=2)), f"{where}, a model's highest fifth, edema")
        reader = edema.curve(eta, confidence=0.95).filter(reader=3)
        add(only(reader), f"{where}, a radiologist")


STORY = Story(
    title="Chest films",
    claim="a mean area under the ROC curve of 0.924, over ten models and five findings",
    place="P. Rajpurkar et al., arXiv 2002.11379, abstract",
    field="NIH ChestX-ray14 (X. Wang et al. 2017): 2 303 of 112 120 films are labelled edema, by "
    "machine",
    so="An area under the ROC curve has no prevalence in it, and tells nothing of alerts. Model "
    "and radiologist are good, and where edema is rarer than in the test most of their alerts "
    "are wrong all the same. Labels by machine are rough, so the second prevalence is, too.",
    fetched=True,
    main=main,
)
