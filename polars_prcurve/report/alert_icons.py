"""Icons of alerts: of 100, those that are right, false, and hatched what the interval leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from polars_prcurve.confidence.intervals import Estimate
from polars_prcurve.decision.judged_groups import Case
from polars_prcurve.decision.value_words import join_within, say_precision
from polars_prcurve.number_words import NO_BREAK, count_of_100, say_eta
from polars_prcurve.report.svg import draw_circle, draw_document, name_color

_IN_A_ROW = 10
MOST_ICONS = 200  # of one model, at most: two stand side by side, and on a phone
KINDS = ("right", "likely", "open", "false")


def draw_alerts(case: Case, precision: Estimate, color: int) -> str:
    """Return the icons of the alerts of a model, ten in a row."""
    kinds = list(list_icons(case, precision))
    columns = _IN_A_ROW if len(kinds) <= 100 else 2 * _IN_A_ROW
    cell = 17.6 * _IN_A_ROW / columns
    shapes = place_icons(kinds, color, cell, columns)
    rows = -(-len(kinds) // columns)
    value = join_within(*say_precision(case, precision))
    label = f"{value} {'alerts is' if case.is_rare else 'of 100 alerts are'} right"
    return draw_document(shapes, cell * columns, cell * rows, label)


def place_icons(kinds: Sequence[str], color: int, cell: float, columns: int) -> Iterator[str]:
    """Yield the circles of the icons, in rows from the top left."""
    for number, kind in enumerate(kinds):
        x, y = (number % columns + 0.5) * cell, (number // columns + 0.5) * cell
        yield draw_circle(x, y, 0.37 * cell, describe_look(kind, color))


def describe_look(kind: str, color: int | None) -> str:
    """Return how an icon of a kind looks: solid, hatched with a heavy or a light ring, or hollow."""
    ink = "var(--quiet)" if color is None else name_color(color)
    hatch = f"url(#hatch-{'grey' if color is None else color % 8})"
    return {
        "right": f'style="fill:{ink};stroke:{ink}" stroke-width="1"',
        "likely": f'style="fill:{hatch};stroke:{ink}" stroke-width="1.8"',
        "open": f'style="fill:{hatch};stroke:{ink}" stroke-width="1" fill-opacity=".38"',
        "false": 'fill="none" style="stroke:var(--rule)" stroke-width="1"',
    }[kind]


def describe_doubt(drawn: Iterable[tuple[Case, Estimate]]) -> str:
    """Return what hatched icons of models mean, and how many there would be if not all are drawn."""
    grids = list(drawn)
    rare = [precision for case, precision in grids if case.is_rare and precision.value > 0]
    said = ["right or not"] if len(rare) < len(grids) else []
    if rare:
        low, end = min((of.span or (of.value,))[0] for of in rare), ""
        if low <= 0:
            end = f", and more than the {MOST_ICONS} drawn"
        elif round(1 / low) > MOST_ICONS:
            n = say_eta(low).removeprefix(f"1{NO_BREAK}in{NO_BREAK}")
            end = f", up to {n}; {MOST_ICONS} are drawn"
        said.append(f"may have to be read until one is right{end}")
    return " or ".join(said)


def list_icons(case: Case, precision: Estimate) -> Iterator[str]:
    """Yield the kind of each icon: of 100 alerts, or of as many as one right one takes."""
    # Those up to the low end of the interval are right, and those above its high end are false. Between
    # them it is open, below the estimate less so. Where one in more than 50 is right, those between are
    # alerts that may have to be read until one is right.
    value = float(precision.value)
    low, high = precision.span or (value, value)
    if not case.is_rare:
        ends = [count_of_100(share) for share in (low, value, high)]
        for number in range(100):
            yield next((kind for kind, end in zip(KINDS, ends, strict=False) if number < end), "false")
        return
    most = 100 if value == 0 else min(MOST_ICONS, round(1 / low) if low > 0 else MOST_ICONS)
    if value == 0:
        yield from ("open" if number < round(100 * high) else "false" for number in range(most))
        return
    first, middle = round(1 / high), round(1 / value)
    yield "right" if middle <= MOST_ICONS else "false"  # one in more than are drawn
    for number in range(1, max(most, min(middle, MOST_ICONS))):
        yield "false" if number < first else "likely" if number < middle else "open"
