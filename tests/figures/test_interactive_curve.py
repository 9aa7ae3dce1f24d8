"""The interactive layer curve, in a real browser: it is drawn, it answers to the mouse, its table sorts."""

import io

import numpy as np
import pandas as pd
import pytest
from looks import looks
from PIL import Image

from tmft.figures.curves import curve_points
from tmft.figures.interactive_curve import layer_curve_page, point_details
from tmft.figures.style import line_styles
from tmft.results.tables import read_table, summarise
from tmft.runtime.files import write_csv

LINES = [
    {"encoder": "bert", "recipe": "tmft", "label": "BERT <base>"},
    {"encoder": "electra", "recipe": "tmft", "label": "ELECTRA"},
    {"encoder": "bert", "recipe": "frozen", "label": "BERT, no training"},
]
LOOKS = dict(zip([line["label"] for line in LINES], looks(a="bert", b="discriminator", c="bert").values(), strict=True))
LARGEST_ADDRESS = 2 * 1024 * 1024  # bytes of an address that Chromium opens; the report gives pages as data: addresses


def run(encoder: str, recipe: str, layer: int, seed: int | None, value: float | None, metric: str = "spearman") -> dict:
    return {
        "task": "stsb",
        "recipe": recipe,
        "encoder": encoder,
        "layer": layer,
        "seed": seed,
        "status": "complete" if value is not None else "collapsed",
        "reason": None,
        "best_epoch": 3 + layer if seed is not None and value is not None else None,
        "parameters": 1_000_000 * (layer + 1),
        "seconds": 10.0 + layer,
        "split": "test",
        "metric": metric,
        "value": value,
        "baseline": None,
    }


@pytest.fixture
def runs(tmp_path) -> pd.DataFrame:
    """As read from a table: two encoders with three layers and two seeds, one run collapsed; one of them untouched."""
    rows = [
        run(encoder, "tmft", layer, seed, 0.5 + sign * 0.1 * layer + 0.02 * seed)
        for encoder, sign in (("bert", 1), ("electra", -1))
        for layer in range(3)
        for seed in (0, 1)
    ]
    rows[-1] = run("electra", "tmft", 2, 1, None)
    rows += [run("bert", "frozen", layer, None, 0.3) for layer in range(3)]
    rows += [row | {"metric": "pearson", "value": 0.99} for row in rows]
    table = pd.DataFrame(rows).astype({"seed": "Int64", "best_epoch": "Int64"})
    write_csv(tmp_path / "runs.csv", table)
    return read_table(tmp_path / "runs.csv")


def page_of(runs: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    figure = {"title": "A & B", "task": "STSB", "metrics": ["spearman"], "lines": LINES, "looks": LOOKS}
    points, _ = curve_points(runs, summarise(runs), LINES, "spearman")
    return layer_curve_page(runs, summarise(runs), figure), point_details(points, runs, "spearman")


def test_details_are_those_of_the_runs(runs):
    _, details = page_of(runs)
    rows = details.set_index(["line", "layer"])
    assert rows.loc[("BERT <base>", 1), "values"] == "0: 60.00, 1: 62.00"
    assert rows.loc[("BERT <base>", 1), "epochs"] == "0: 4, 1: 4"
    assert rows.loc[("BERT <base>", 1), "seconds"] == 22
    assert rows.loc[("ELECTRA", 2), "values"] == "0: 30.00, 1: collapsed"
    assert rows.loc[("ELECTRA", 2), "epochs"] == "0: 5, 1: -"
    assert rows.loc[("BERT, no training", 0), ["values", "epochs"]].tolist() == ["30.00", "-"]
    assert details["millions"].tolist() == [1, 2, 3] * 3


def test_the_page_fits_into_an_address(runs):
    page, _ = page_of(runs)
    assert len(page.encode()) * 4 / 3 < 0.95 * LARGEST_ADDRESS


def test_the_page_shows_curves_and_runs_and_sorts(runs, browser_page, tmp_path):
    (tmp_path / "curve.html").write_text(page_of(runs)[0], encoding="utf-8")
    browser_page.goto((tmp_path / "curve.html").as_uri())
    browser_page.wait_for_function("Bokeh.documents.length && Bokeh.documents[0].is_idle")
    assert browser_page.title() == browser_page.locator("h1").inner_text() == "A & B"

    picture = np.array(Image.open(io.BytesIO(browser_page.screenshot())).convert("RGB"))
    colours = [style["color"] for style in line_styles(LOOKS).values()]
    places = [np.argwhere((picture == rgb(colour)).all(axis=2)) for colour in colours]
    assert all(len(place) > 300 for place in places)

    y, x = places[0][places[0][:, 1].argmax()]  # the right edge of the first line's last marker
    browser_page.mouse.move(int(x) - 4, int(y))
    tooltip = browser_page.locator(".bk-Tooltip")
    tooltip.wait_for()
    text = tooltip.evaluate("tooltip => tooltip.shadowRoot.textContent")
    for words in ("BERT <base>", "0: 70.00, 1: 72.00", "0: 5, 1: 5", "71.00 ± 1.41", "24.0", "3.00 million"):
        assert words in text

    def column(place: int) -> list[str]:
        return browser_page.locator(f"tbody td:nth-child({place})").all_inner_texts()

    means = browser_page.get_by_role("columnheader", name="mean")
    unsorted = column(4)
    means.click()
    assert column(4) == sorted(unsorted, key=float) != unsorted
    means.click()
    assert column(4) == sorted(unsorted, key=float, reverse=True)
    browser_page.get_by_role("columnheader", name="line").click()
    assert column(1) == sorted(column(1), key=str.lower) and column(1)[0] == "BERT <base>"


def rgb(colour: str) -> list[int]:
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]
