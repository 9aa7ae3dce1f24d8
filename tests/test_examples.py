"""The examples as a user runs them, with tiny encoders and few runs, and the report of one of them."""

import csv
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from test_pipeline import snakemake
from tiny import tiny_encoder

SHORT = [
    "--config",
    "device=cpu",
    "threads={finetune: 1}",
    "seeds=[0]",
    "units_per_job=2",
    "training={epochs: 1}",
    "--",
]
SCENES = "tasks={stsb-en: {scenes: {train: 20, validation: 8, test: 8}, objective: cosine_regression}}"
REPORTED = ["figures/pairs.png", "figures/pairs.html", "results/data.html"]


def example(name: str, family: str, folder: Path, root: Path) -> Path:
    """A copy of an example with a tiny encoder of one layer."""
    shutil.copytree(root / "examples" / name, folder, ignore=lambda _, names: set(names) - {"config.yaml"})
    tiny_encoder(family, folder / "encoder", layers=1)
    return folder


@pytest.fixture(scope="module")
def own_task(tmp_path_factory, root) -> Path:
    """examples/your-task after its command, with 40 pairs of its own."""
    folder = example("your-task", "roberta", tmp_path_factory.mktemp("task") / "experiment", root)
    with (folder / "pairs.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["sentence1", "sentence2", "label"])
        rows.writerows([f"the dog sleeps {n}", f"a {'cat' if n % 2 else 'dog'} sleeps {n}", n % 6] for n in range(40))
    run = snakemake(folder, "--cores", "1", *SHORT, *REPORTED, root=root)
    assert run.returncode == 0, run.stdout
    return folder


def test_an_encoder_of_ones_own_needs_three_lines(root, tmp_path):
    folder = example("your-encoder", "electra", tmp_path / "experiment", root)
    assert len([line for line in (folder / "config.yaml").read_text().splitlines() if line[0] != "#"]) == 3
    target = "results/stsb-en/tmft/mine/layer1/seed0.json"
    run = snakemake(folder, "--cores", "1", "--config", SCENES, *SHORT[1:], target, root=root)
    assert run.returncode == 0, run.stdout
    assert json.loads((folder / target).read_text())["status"] == "complete"


def test_pairs_of_ones_own_are_scored_untouched_and_fine_tuned(own_task, root):
    assert len([line for line in (own_task / "config.yaml").read_text().splitlines() if line[0] != "#"]) == 3
    points = pd.read_csv(own_task / "figures/pairs.csv")
    assert points[["recipe", "layer"]].values.tolist() == [["tmft", 0], ["tmft", 1], ["frozen", 0], ["frozen", 1]]
    record = json.loads((own_task / "results/pairs/tmft/mine/layer1/seed0.json").read_text())
    assert record["data"]["pairs"] == {"train": 28, "validation": 6, "test": 6}


def test_another_content_of_the_encoder_is_seen(own_task, root, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(own_task, folder)
    tiny_encoder("roberta", folder / "encoder", layers=1, hidden_size=64)
    run = snakemake(folder, "-n", "--cores", "1", *SHORT, *REPORTED, root=root)
    assert re.search(r"^fetch_encoder +1$", run.stdout, re.MULTILINE), run.stdout


def test_the_report_opens_without_a_network(own_task, root, browser_page):
    run = snakemake(own_task, "--report", "report.html", *SHORT, *REPORTED, root=root)
    assert run.returncode == 0, run.stdout
    browser_page.goto((own_task / "report.html").as_uri())
    browser_page.get_by_text("Truncated model fine-tuning (TMFT)").wait_for()
    assert "encoders: mine;" in browser_page.locator("body").inner_text()

    def open_result(category: str) -> None:
        browser_page.reload()
        browser_page.get_by_text(category, exact=True).click()

    def view() -> None:
        browser_page.locator("td a").first.click()

    open_result("Figures")
    browser_page.get_by_text("drawing", exact=True).click()
    view()
    image = browser_page.locator("img[src^='data:image/png']")
    image.wait_for()
    assert image.evaluate("image => image.naturalWidth") > 500
    browser_page.get_by_text("interactive", exact=True).click()
    view()
    page = browser_page.frame_locator("iframe")
    page.locator(".bk-Canvas").wait_for()
    assert page.locator("tbody tr").count() == 4
    open_result("Data")
    view()
    assert page.locator("tbody tr").all_inner_texts()[0].split()[:5] == ["pairs", "train", "28", "0", "5"]
