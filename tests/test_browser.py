"""Documents in a real browser, without a network: nothing is asked for, nothing complained of, and what
moves or is read has the numbers of the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

import polars_prcurve
from polars_prcurve import Decision, charts
from polars_prcurve.core.confidence.estimates import Estimate
from polars_prcurve.report import Table
from polars_prcurve.view.report.decision_drawings import describe_hatched_icons, list_icons
from polars_prcurve.view.verdicts.value_phrases import format_estimate, write_value
from tests.support.model_tests import draw_models
from tests.support.page_reader import NAMES_OF_PAGES

assert polars_prcurve
pytestmark = pytest.mark.extras

TEXTS = "[...document.querySelectorAll('svg text')].map(text => text.textContent)"
DRAW = np.random.default_rng(7)
LABEL = DRAW.random(2_000) < 0.2
WIDE = pl.DataFrame(
    {
        "label": LABEL,
        "careful": np.where(LABEL & (DRAW.random(2_000) < 0.5), 4.5, 0) + DRAW.normal(size=2_000),
        "</script><script>alert(1)</script>": 2.2 * LABEL + DRAW.normal(size=2_000),
    }
).with_columns(pl.selectors.float().round(4))
DF = WIDE.prc.unpivot_scores(WIDE.columns[1:], name="model").with_columns(pl.col("score").round(2))


@pytest.fixture(scope="module")
def decision() -> Decision:
    return WIDE.prc(score=WIDE.columns[1:]).decide(0.01, recall=0.5)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, decision: Decision) -> Path:
    return decision.report(tmp_path_factory.mktemp("reports") / "report.html", notes="Mine")


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory, decision: Decision) -> Path:
    return decision.page(tmp_path_factory.mktemp("pages") / "page.html")


class Watched(NamedTuple):
    """A page in an offline browser, and all that it said and asked for."""

    page: Any
    said: list[str]
    asked: list[str]

    def check(self) -> None:
        """Raise if the page complained, was wider than the screen, or wanted anything from elsewhere."""
        width = self.page.viewport_size["width"]
        assert self.page.evaluate("document.documentElement.scrollWidth") <= width
        assert self.said == []
        assert [url for url in self.asked if not url.startswith(("data:", "file:"))] == []
        self.page.context.close()


def watch(browser: Any, path: Path, width: int, **options: Any) -> Watched:
    viewport = {"width": width, "height": 800}
    context = browser.new_context(offline=True, viewport=viewport, **options)
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    return Watched(page, said, asked)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_report_offline(
    browser: Any, report: Path, decision: Decision, width: int, scripts: bool
) -> None:
    watched = watch(browser, report, width, java_script_enabled=scripts)
    page = watched.page
    assert "No clear winner between" in page.inner_text("h1").replace("\u00a0", " ")
    pictures = page.locator("main svg[role=img]:visible")
    assert pictures.count() == 3  # icons of two models, and one chart for this width
    assert all(pictures.nth(i).bounding_box()["width"] <= width for i in range(3))
    page.locator("summary").last.click()
    assert page.locator("table").last.is_visible()
    watched.check() if scripts else page.context.close()


def test_a_report_in_dark_mode_and_on_paper(browser: Any, report: Path) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 800}, color_scheme="dark")
    page = context.new_page()
    page.goto(report.as_uri())
    ground = "getComputedStyle(document.body).backgroundColor"
    text = "getComputedStyle(document.querySelector('h1')).color"
    square = "getComputedStyle(document.querySelector('.names li'), '::before')"
    assert page.evaluate(f"{square}.width") == "12px", "the colour of a curve is seen at its name"
    colors = page.evaluate(f"[{square}.backgroundColor, {square}.color]")
    assert colors[0] == colors[1]
    dark = page.evaluate(ground), page.evaluate(text)
    page.emulate_media(media="print")
    light = page.evaluate(ground), page.evaluate(text)
    assert light[0] == "rgb(255, 255, 255)"
    for one, other in zip(dark, light, strict=True):
        assert sum(map(int, re.findall(r"\d+", one))) != sum(map(int, re.findall(r"\d+", other)))
    context.close()


@pytest.mark.parametrize("name", ["report", "live", "groups", "prevalences"])
def test_documents_on_paper(
    browser: Any, request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    """A report of two models takes one sheet of A4, one of twelve groups two, a page to move one.

    So does one of two models at three prevalences, whose alerts are all drawn.
    """
    page = browser.new_page()
    if name == "prevalences":
        decision = WIDE.prc(score=WIDE.columns[1:]).decide([0.3, 0.02, 0.001], recall=0.6)
        path = decision.report(tmp_path / "report.html")
        assert path.read_text("utf-8").count('class="model"') == 6
    else:
        path = groups_of_paper(tmp_path) if name == "groups" else request.getfixturevalue(name)
    page.goto(path.as_uri())
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= (2 if name == "groups" else 1)
    page.emulate_media(media="print")
    larger = page.evaluate("""(() => {
      const size = (element) => parseFloat(getComputedStyle(element).fontSize);
      return [...document.querySelectorAll("small")].filter((x) => size(x) > size(x.parentNode))
        .map((x) => x.textContent);
    })()""")
    assert larger == [], "an interval is no larger than its number"
    page.close()


THREE = {"gradient boosting": 2.6, "logistic regression": 2.5, "rules of last year": 1.6}
"""Models of which the first two may be best, and how far apart their scores of both classes are."""


@pytest.mark.parametrize("n_models", [1, 2, 3])
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"recall": 0.5},
        {"precision": 0.6, "recall": 0.2},
        {"recall": 0.5, "guarantee": 0.9},
        {"recall": 0.3, "alerts": 400, "per": 1_200_000},
    ],
)
def test_a_report_of_up_to_three_models_takes_one_sheet(
    browser: Any, tmp_path: Path, n_models: int, asked: dict[str, Any]
) -> None:
    """With a heading and a date, and room to spare for other fonts."""
    df = draw_models(THREE, 300, 6_000, seed=1)
    table = df.prc(score=[*THREE][:n_models])
    decision = table.decide(400 / 1_200_000 if "alerts" in asked else 0.01, **asked)
    words = {"title": "Which model next quarter?", "date": "29 November 2026"}
    page = browser.new_page(viewport={"width": 688, "height": 1_047})  # A4 without its margins
    page.goto(decision.report(tmp_path / "report.html", **words).as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))) == 1
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelector('main').offsetHeight") < 0.98 * 1_047
    page.close()


def groups_of_paper(folder: Path) -> Path:
    """Return a report of twelve groups, of which the first one has higher scores of positives."""
    groups = pl.concat(
        WIDE.select(
            "label", score=pl.col("careful") + (3 * pl.col("label") if k == 0 else 0)
        ).with_columns(city=pl.lit(f"City {k}"))
        for k in range(12)
    )
    return groups.prc(by="city").decide(0.01, recall=0.4).report(folder / "groups.html")


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_moves_and_its_address_holds_what_is_seen(browser: Any, live: Path, width: int) -> None:
    watched = watch(browser, live, width)
    page = watched.page
    first = page.inner_text("#say")
    page.focus("#row")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    second = page.inner_text("#say")
    page.focus("#eta")
    page.keyboard.press("End")
    third = page.inner_text("#say")
    assert len({first, second, third}) == 3
    assert "at a prevalence of 1 in 1,000,000" in third.replace("\u00a0", " ")
    address = page.evaluate("location.hash")
    other = watch(browser, live, width)
    other.page.goto(live.as_uri() + address)
    other.page.reload()
    assert other.page.inner_text("#say") == third
    other.check()
    page.goto(live.as_uri() + "#model=9&row=-3&eta=x&alert=1e9&miss=<b>")
    page.reload()
    assert page.inner_text("#say")
    costs = page.inner_text("#cost")
    page.fill("#alert", "2")
    page.locator("#alert").blur()
    assert page.inner_text("#cost") != costs
    page.locator("#models button").last.click()
    assert page.locator("#models button[aria-pressed=true]").count() == 1
    page.click("#go")
    watched.check()


@pytest.mark.parametrize(
    "targets", [{"recall": 0.5}, {"precision": 0.3}, {"threshold": 2.0, "recall": 0.4}]
)
def test_a_page_begins_with_the_interval_of_the_verdict(
    browser: Any, tmp_path: Path, targets: dict[str, float]
) -> None:
    """As the report beside it; once a slider has moved, intervals are of the threshold as it stands."""
    table = WIDE.prc(score="careful").decide([0.01, 0.1], **targets)
    watched = watch(browser, table.page(tmp_path / "page.html"), 1280)
    page, row = watched.page, table.table.row(0, named=True)

    def read(name: str) -> str:
        return str(page.inner_text(name).replace("\u00a0", " "))

    estimate = Estimate(row["precision"], row["precision_low"], row["precision_high"])
    precision = write_value("precision", estimate)
    assert f"precision is {precision} at a prevalence of 1 in 100" in read("#say")
    first_note = read("#intervals")
    assert first_note.endswith(
        ("chosen on the test set, allowing for that choice.", "not chosen on these data.")
    )
    page.focus("#row")
    page.keyboard.press("ArrowRight")
    assert "as it stands" in read("#intervals")
    page.keyboard.press("ArrowLeft")
    assert (read("#intervals"), precision in read("#say")) == (first_note, True)
    watched.check()


def read_threshold(text: str) -> float:
    return float(text.replace("\u2212", "-"))


def test_a_page_computes_what_the_library_does(browser: Any, live: Path) -> None:
    """Value and interval of precision and alerts at scores and prevalences, to the last drawn digit."""
    watched = watch(browser, live, 1280)
    data = watched.page.evaluate("data")
    for model in data["groups"][0]["models"]:
        rows = model["rows"][:: len(model["rows"]) // 12]
        for eta in (0.5, 0.01, 1e-5):
            found = watched.page.evaluate(
                "([rows, eta]) => rows.map(row => evaluate(row, eta))", [rows, eta]
            )
            thresholds = [read_threshold(row[0]) for row in rows]
            points = WIDE.prc(score=model["name"]).operating_points(
                eta, threshold=thresholds, confidence=0.95, per=data["per"], columns="all"
            )
            by_threshold = {row["target"]: row for row in points.iter_rows(named=True)}
            for mine in found:
                row = by_threshold[read_threshold(mine["threshold"])]
                for name, theirs in NAMES_OF_PAGES.items():
                    assert mine[name] == pytest.approx(row[theirs], rel=1e-5), (name, eta, row)
    watched.check()


@pytest.mark.parametrize("n_groups", [3, 5, 8])
def test_a_report_of_groups_of_models_takes_few_screens_of_a_phone(
    browser: Any, tmp_path: Path, n_groups: int
) -> None:
    names = ["A forest of many trees", "A network with a long name", "Boosting", "Rules"]
    wide = WIDE.select("label", *(pl.col("careful").alias(name) + k for k, name in enumerate(names)))
    sites = pl.concat([wide.with_columns(site=pl.lit(f"site {k}")) for k in range(n_groups)])
    decision = sites.prc(score=names, by="site").decide(0.01, recall=0.5)
    watched = watch(browser, decision.report(tmp_path / "r.html"), 390)
    assert watched.page.evaluate("document.documentElement.scrollHeight") <= 3.1 * 844
    watched.check()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reader_picks_a_group_and_the_address_holds_it(
    browser: Any, tmp_path: Path, width: int
) -> None:
    sites = pl.concat([WIDE.with_columns(pl.col("careful") * k, site=pl.lit(f"<b>{k}")) for k in (1, 2)])
    table = sites[:2_600].prc(score=WIDE.columns[1:], by="site")
    live = table.decide([0.01, 0.1], recall=0.5).page(tmp_path / "page.html")
    watched = watch(browser, live, width)
    page = watched.page
    assert page.locator("#group option").all_inner_texts() == ["<b>1", "<b>2"]
    assert "in <b>1 at a prevalence" in page.inner_text("#say")
    page.select_option("#group", "1")
    said = page.inner_text("#say").replace("\u00a0", " ")
    model = page.locator("#models button[aria-pressed=true]").inner_text()
    found = table.operating_points(0.01, recall=0.5, columns="all").filter(site="<b>2", model=model)
    right = 100 * found["precision"].item()
    assert f"precision is {right:.2g}%" in said
    assert "in <b>2 at a prevalence of 1 in 100" in said
    other = watch(browser, live, width)
    other.page.goto(live.as_uri() + page.evaluate("location.hash"))
    other.page.reload()
    assert other.page.inner_text("#say").replace("\u00a0", " ") == said
    assert other.page.input_value("#group") == "1"
    other.check()
    watched.check()


def test_a_page_says_numbers_as_the_library_does(browser: Any, live: Path) -> None:
    """Shares of 100 alerts, which are 100 only if all are right, and what hatched icons mean."""
    watched = watch(browser, live, 1280)
    shares = [0.0, 0.0123, 0.5, 0.949, 0.95, 0.9501, 0.989, 0.995, 0.9951, 0.99999, 1.0]
    said = watched.page.evaluate("shares => shares.map((share) => sayShares([share])[0])", shares)
    assert said == [format_estimate("precision", Estimate(share))[0] for share in shares]
    intervals = [(0.996, 0.95, 1.0), (0.01, 0.009892, 0.01001), (0.0123, 0.0078, 0.14), (0.0, 0.0, 0.07)]
    for name, scale in (("precision", 1), ("alerts", 10), ("alerts", 12_346)):
        for ends in intervals:
            numbers = [scale * end for end in ends]
            say = "sayShares" if name == "precision" else "sayNumbers"
            value, *ends_said = watched.page.evaluate(f"numbers => {say}(numbers)", numbers)
            assert f"{value} ({' to '.join(ends_said)})" == write_value(name, Estimate(*numbers))
    draw = """share => {
      const place = shape("svg", {});
      drawIcons(place, {value: share, low: share, high: share}, 0, "");
      const isSolid = (icon) => icon.getAttribute("style").startsWith("fill:var");
      return [...place.children].filter(isSolid).length;
    }"""
    drawn = [watched.page.evaluate(draw, share) for share in shares]
    assert drawn == [0, 1, 50, 95, 95, 95, 99, 99, 99, 99, 100]
    [case] = WIDE.prc(score="careful").decide(1e-6, recall=0.5)._judgement.cases
    ends = (
        (0.01, 0.008, 0.012),
        (0.01, 1 / 1_250, 0.012),
        (1 / 13_000, 1 / 26_000, 1e-4),
        (0.001, 0.0, 0.1),
    )
    for value, low, high in (*ends, (0.5, 0.4, 0.6)):
        theirs = watched.page.evaluate(
            "([value, low, high]) => describeDoubt({value, low, high})", [value, low, high]
        )
        of = replace(case, candidates=[]) if value > 0.02 else case
        assert theirs == describe_hatched_icons([(of, Estimate(value, low, high))])
        icons = watched.page.evaluate(
            "([value, low, high]) => { const place = shape('svg', {});"
            "drawIcons(place, {value, low, high}, 0, ''); return place.children.length; }",
            [value, low, high],
        )
        assert icons == len(list_icons(of, Estimate(value, low, high)))
    watched.check()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_says_where_few_false_alerts_were_seen(browser: Any, tmp_path: Path, width: int) -> None:
    table = WIDE.prc(score="careful")
    watched = watch(browser, table.decide(0.01, recall=0.5).page(tmp_path / "page.html"), width)
    page, seen = watched.page, set()
    rows = page.evaluate("data.groups[0].models[0].rows")
    thresholds = [read_threshold(row[0]) for row in rows]
    points = table.operating_points(0.01, threshold=thresholds, columns="all")
    false = dict(points.select("target", "fp").iter_rows())
    for number in range(0, len(rows), 4):
        page.evaluate(f"state.row = {number}; draw()")
        n = false[thresholds[number]]
        few = f"{n or 'No'} false positive{'' if n < 2 else 's'}: the interval may be too narrow."
        assert page.inner_text("#doubt") == (few if n < 5 else "")
        seen.add(min(n, 5))
    assert {0, 5} <= seen
    assert len(seen) > 2
    watched.check()
    weight = 1.0 + (pl.int_range(pl.len()) % 2)  # unequal, so that rows count as fewer
    weighed = WIDE.with_columns(weight=weight).prc(score="careful", weight="weight")
    watched = watch(browser, weighed.decide(0.01, recall=0.5).page(tmp_path / "page.html"), width)
    watched.page.evaluate("state.row = 0; draw()")
    assert watched.page.inner_text("#doubt") == "No false positive: the interval may be too narrow."
    number = watched.page.evaluate("data.groups[0].models[0].rows.findIndex((row) => row[7] === -1)")
    watched.page.evaluate(f"state.row = {number}; draw()")
    assert watched.page.inner_text("#doubt") == "Few false positives: the interval may be too narrow."
    watched.check()


@pytest.mark.parametrize("width", [1280, 390])
def test_published_points_have_no_score(browser: Any, tmp_path: Path, width: int) -> None:
    published = pl.DataFrame({"tp": [30, 60], "fp": [2, 30], "fn": [70, 40], "tn": [898, 870]})
    decision = published.prc(cells=("tp", "fp", "fn", "tn")).decide(0.01, recall=0.5)
    watched = watch(browser, decision.page(tmp_path / "page.html"), width)
    page = watched.page
    assert page.inner_text("#score") == "2 of 2"
    page.focus("#row")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#score") == "1 of 2"
    assert page.get_attribute("#row", "aria-valuetext") == "point 1 of 2"
    assert "null" not in page.content().split("</main>")[0].split("<main>")[1]
    watched.check()


@pytest.mark.parametrize("width", [1280, 390])
def test_words_of_a_table_are_whole(browser: Any, tmp_path: Path, width: int) -> None:
    """A line of a name ends between words, as long as a word has room in the window."""
    names = ["gradient_boosting_with_calibration", "Random forest of 2026"]
    wide = WIDE.rename(dict(zip(WIDE.columns[1:], names, strict=True)))
    sites = pl.concat(wide.with_columns(site=pl.lit(f"Hospital of the Holy Spirit {k}")) for k in (1, 2))
    for table in (wide.prc(score=names), sites.prc(score=names, by="site")):
        path = table.decide(0.01, recall=0.5).report(tmp_path / "r.html")
        path.write_text(path.read_text("utf-8").replace("<details>", "<details open>"), "utf-8")
        watched = watch(browser, path, width)
        broken = watched.page.evaluate("""[...document.querySelectorAll("th, td")].flatMap((cell) => {
          const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
          while (walk.nextNode()) {
            for (const word of walk.currentNode.data.matchAll(/[^ ]+/g)) {
              const range = document.createRange();
              range.setStart(walk.currentNode, word.index);
              range.setEnd(walk.currentNode, word.index + word[0].length);
              if (new Set([...range.getClientRects()].map(({top}) => top)).size > 1) found.push(word[0]);
            }
          }
          return found;
        })""")
        assert broken == []
        watched.check()


def test_parts_of_ones_own_on_paper(browser: Any, tmp_path: Path) -> None:
    points = DF.prc.operating_points(
        0.01, by="model", recall=[0.5, 0.8], per=1_000_000, confidence=0.95, columns="all"
    )
    parts = [Table(points, "All columns"), Table(points[["model", "recall", "alerts"]]), chart_of_two()]
    path = DF.prc.report(tmp_path / "own.html", parts=parts)
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_selector("figure.on svg")
    fits = "[...document.querySelectorAll('.scroll')].map(box => box.scrollWidth <= box.clientWidth)"
    assert page.evaluate(fits) == [False, True]
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 680, "height": 800})  # of A4 within its margins
    assert page.evaluate(fits) == [True, True]
    last = page.locator("td[data-name=missed]").first
    assert last.is_visible()
    assert last.bounding_box()["x"] < 640
    seen = [page.locator(f"figure {kind}").first.is_visible() for kind in ("img", ".live")]
    assert seen == [True, False]  # and not the chart twice
    page.close()


def test_a_long_word_does_not_make_a_page_scroll_sideways(browser: Any, tmp_path: Path) -> None:
    word = "Long" * 100
    table = Table(pl.DataFrame({word: [word], f"{word}1": [1.5]}), word)
    texts = [f"## {word}\n### {word}\n{word}\n- {word}", table]
    path = DF.prc.report(tmp_path / "words.html", parts=texts, title=word)
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def chart_of_two() -> Any:
    frame = DF.with_columns(pl.col("model").replace(WIDE.columns[2], "broad"))
    return charts.pr_curve(frame.prc.curve(0.1, by="model"))


def open_chart(browser: Any, path: Path, chart: Any, width: int = 900) -> Any:
    chart.save(path, inline=True, embed_options={"renderer": "svg"})
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_selector("svg.marks")
    return page


def wait_for_picture(page: Any, is_right: Callable[[bytes], bool]) -> bool:
    """Return whether the page looks right within ten seconds: a busy machine draws late."""
    for _ in range(50):
        page.wait_for_timeout(200)
        if is_right(page.screenshot()):
            return True
    return False


@pytest.mark.parametrize("renderer", ["svg", "canvas"])
def test_a_click_on_a_name_brings_out_its_line(browser: Any, tmp_path: Path, renderer: str) -> None:
    chart = chart_of_two()
    page = open_chart(browser, tmp_path / "svg.html", chart)
    name = page.locator("svg.marks text", has_text=re.compile("^broad$")).last.bounding_box()
    if renderer == "canvas":
        page.close()
        chart.save(tmp_path / "canvas.html", inline=True, embed_options={"renderer": "canvas"})
        page = browser.new_page(viewport={"width": 900, "height": 900})
        page.goto((tmp_path / "canvas.html").as_uri())
        page.wait_for_selector("canvas")
    page.mouse.move(5, 5)
    looks = [page.screenshot()]
    assert wait_for_picture(page, lambda picture: looks.append(picture) or looks[-1] == looks[-2])
    before = looks[-1]  # what is drawn to the end
    page.mouse.click(name["x"] + name["width"] / 2, name["y"] + name["height"] / 2)
    page.mouse.move(5, 5)
    assert wait_for_picture(page, lambda picture: picture != before)
    if renderer == "svg":
        strokes = "[...document.querySelectorAll('svg.marks path[stroke=\"#D55E00\"]')]"
        faint = page.evaluate(f"{strokes}.map(line => line.getAttribute('opacity'))")
        assert "0.12" in faint
    page.mouse.click(name["x"] + name["width"] / 2, name["y"] + name["height"] / 2)
    page.mouse.move(5, 5)
    assert wait_for_picture(page, lambda picture: picture == before)
    page.close()


def test_the_pointer_reads_all_lines(browser: Any, tmp_path: Path) -> None:
    chart = chart_of_two()
    page = open_chart(browser, tmp_path / "pr.html", chart)
    box = page.locator("svg.marks").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"])
    page.mouse.move(box["x"] + 0.52 * box["width"], box["y"] + 0.6 * box["height"])
    page.wait_for_selector("#vg-tooltip-element.visible")
    said = page.inner_text("#vg-tooltip-element")
    assert {"Recall", "broad", "careful"} <= set(said.replace(":", " ").split())
    page.close()
