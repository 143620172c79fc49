"""Ten models and three radiologists on 500 chest films, five findings.

rajpurkarlab/cheXpert-test-set-labels at a03eb3438c, no licence file: counts only, and no names. The
labels are those of groundtruth.csv. For each model (example_models/predictions/standard, by name)
and finding the 500 scores were ranked and cut into 25 parts of twenty films (ties into the higher
part), and the films with and without the finding counted: data/chest_films.csv. Readers
(radiologists/benchmark_radiologists), against the majority of five others: data/chest_readers.csv.
Of the models, three agree bit by bit in four of five findings, and a fourth in three: most likely a
file was released twice, so they are not ten independent models. The NIH count is that of
Data_Entry_2017.csv, as code that reads it tells it.
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
    for eta in (None, NIH):
        fifth = models.operating_points(eta, threshold=20, confidence=0.95)
        model = only(fifth.filter(finding="edema", model=2))
        reader = only(edema.curve(eta, confidence=0.95).filter(reader=3))
        readings = (
            (model, "the fifth that a model scores highest, edema"),
            (reader, "a radiologist, edema"),
        )
        for row, who in readings:
            if eta is None:
                numbers.measure(row, who)
            else:
                numbers.become(row, "films of another hospital", who)


STORY = Story(
    title="Chest films",
    claim="a mean area under the ROC curve of 0.924, over ten models and five findings",
    place="P. Rajpurkar et al., arXiv 2002.11379, abstract",
    field="NIH ChestX-ray14 (X. Wang et al. 2017), labels by machine",
    so="Where edema is rarer, most alerts of a good model and of a good radiologist are wrong.",
    fetched=True,
    main=main,
)
