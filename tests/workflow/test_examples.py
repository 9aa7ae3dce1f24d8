"""The examples as a user runs them, with tiny encoders and few runs."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from pipeline_runs import snakemake
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
RESULT = "results/pairs/tmft/mine/layer1/seed0.json"


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
    run = snakemake(folder, "--cores", "1", *SHORT, RESULT, root=root)
    assert run.returncode == 0, run.stdout
    return folder


def test_an_encoder_of_ones_own_needs_three_lines(root, tmp_path):
    folder = example("your-encoder", "electra", tmp_path / "experiment", root)
    assert len([line for line in (folder / "config.yaml").read_text().splitlines() if line[0] != "#"]) == 3
    target = "results/stsb-en/tmft/mine/layer1/seed0.json"
    run = snakemake(folder, "--cores", "1", "--config", SCENES, *SHORT[1:], target, root=root)
    assert run.returncode == 0, run.stdout
    assert json.loads((folder / target).read_text())["status"] == "complete"


def test_pairs_of_ones_own_need_three_lines(own_task):
    assert len([line for line in (own_task / "config.yaml").read_text().splitlines() if line[0] != "#"]) == 3
    record = json.loads((own_task / RESULT).read_text())
    assert record["data"]["pairs"] == {"train": 28, "validation": 6, "test": 6}
    assert record["status"] == "complete" and set(record["metrics"]["test"]) >= {"spearman", "pearson"}


def test_another_content_of_the_encoder_is_seen(own_task, root, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(own_task, folder)
    tiny_encoder("roberta", folder / "encoder", layers=1, hidden_size=64)
    run = snakemake(folder, "-n", "--cores", "1", *SHORT, RESULT, root=root)
    assert re.search(r"^fetch_encoder +1$", run.stdout, re.MULTILINE), run.stdout


def test_a_model_card_names_the_pairs_of_ones_own(own_task, root):
    target = "results/export/pairs/tmft/mine/layer1"
    run = snakemake(own_task, "--cores", "1", *SHORT, target, root=root)
    assert run.returncode == 0, run.stdout
    assert "own pairs (pairs.csv)" in (own_task / target / "README.md").read_text()
