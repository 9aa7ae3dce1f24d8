"""The pipeline from outside: a whole experiment in small, what it leaves undone, and what it refuses."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from pipeline_runs import kill_group, start, wait_for
from tmft.results import predictions_file

CONFIG = """
device: auto
threads: {finetune: 1, pretrain: 1}
seeds: [0, 1]
training: {epochs: 2, learning_rate: 1e-3}
tasks:
  scenes: {scenes: {train: 60, validation: 30, test: 30}, objective: cosine_regression}
corpora:
  scenes: {scenes: {sentences: 300, exclude: [scenes]}}
tokenizers:
  scenes: {corpus: scenes, size: 300, max_length: 32}
pretraining:
  electra: &tiny
    objective: replaced_token_detection
    corpus: scenes
    tokenizer: scenes
    layers: 2
    hidden_size: 16
    attention_heads: 2
    intermediate_size: 32
    embedding_size: 16
    generator: {layers: 2, hidden_size: 8, attention_heads: 1, intermediate_size: 16}
    max_length: 32
    batch_size: 8
    steps: 20
encoders:
  discriminator: {pretraining: electra, part: discriminator}
recipes:
  tmft: {kind: finetune}
  frozen: {kind: frozen}
figures:
  curve: {kind: layer_curve, task: scenes, recipes: [tmft, frozen], encoders: [discriminator], layers: [0, 2]}
"""
FIGURE = "figures/curve.pdf"


def snakemake(folder: Path, *arguments: str, root: Path, **environment: str) -> subprocess.CompletedProcess:
    """Run Snakemake on the experiment in ``folder``."""
    command = [sys.executable, "-m", "snakemake", "--directory", str(folder), *arguments]
    env = os.environ | environment
    return subprocess.run(command, cwd=root, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.fixture(scope="session")
def experiment(tmp_path_factory, root) -> tuple[Path, str]:
    """A finished small experiment and what Snakemake printed."""
    folder = tmp_path_factory.mktemp("experiment")
    (folder / "config.yaml").write_text(CONFIG)
    run = snakemake(folder, "--cores", "2", FIGURE, root=root)
    assert run.returncode == 0, run.stdout
    return folder, run.stdout


def results(folder: Path) -> list[dict]:
    found = []
    for path in sorted(folder.glob("results/scenes/**/*.json")):
        content = json.loads(path.read_text(), parse_constant=pytest.fail)
        found += content if isinstance(content, list) else [content]
    return found


def without_cost(record: dict) -> dict:
    """A result without what depends on the clock."""
    history = [{key: value for key, value in epoch.items() if key != "seconds"} for epoch in record["history"]]
    return {key: value for key, value in record.items() if key != "cost"} | {"history": history}


def test_figure_shows_the_numbers_of_the_results(experiment):
    folder, _ = experiment
    points = pd.read_csv(folder / "figures" / "curve.csv")
    for point in points.itertuples():
        scores = [
            100 * record["metrics"]["test"]["spearman"]
            for record in results(folder)
            if (record["run"]["recipe"], record["run"]["layer"]) == (point.recipe, point.layer)
        ]
        assert point.mean == pytest.approx(np.mean(scores)) and point.n == len(scores)
        assert point.sd == pytest.approx(np.std(scores, ddof=1)) if len(scores) > 1 else np.isnan(point.sd)
    assert points[["recipe", "layer"]].values.tolist() == [["tmft", 0], ["tmft", 2], ["frozen", 0], ["frozen", 2]]
    for ending in ("pdf", "png"):
        assert (folder / "figures" / f"curve.{ending}").stat().st_size > 5000


def test_result_says_what_was_run(experiment):
    folder, _ = experiment
    record = json.loads((folder / "results/scenes/tmft/discriminator/layer2/seed1.json").read_text())
    assert record["run"] == {"task": "scenes", "recipe": "tmft", "encoder": "discriminator", "layer": 2, "seed": 1}
    assert record["status"] == "complete" and record["best_epoch"] in (1, 2)
    assert [epoch["epoch"] for epoch in record["history"]] == [1, 2]
    assert record["provenance"]["settings"].items() >= {"learning_rate": 1e-3, "batch_size": 32}.items()
    assert record["data"]["pairs"] == {"train": 60, "validation": 30, "test": 30}
    assert record["environment"]["threads"] == 1 and record["environment"]["torch"].startswith("2.")
    assert re.fullmatch("[0-9a-f]{64}", record["provenance"]["encoder"]["sha256"])
    assert record["parameters"]["total"] >= record["parameters"]["published"] > 0


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--cores", "2"], {"PYTHONHASHSEED": "1"}),
        (["--cores", "1"], {"PYTHONHASHSEED": "2"}),
        (["--cores", "8", "--resources", "gpu=2"], {"PYTHONHASHSEED": "3"}),
    ],
)
def test_a_finished_experiment_has_nothing_to_do(experiment, root, arguments, environment):
    folder, _ = experiment
    run = snakemake(folder, FIGURE, "-n", *arguments, root=root, **environment)
    assert "Nothing to be done" in run.stdout


def test_results_copied_beside_a_fresh_clone_have_nothing_to_do(experiment, root, tmp_path):
    folder, _ = experiment
    clone = tmp_path / "clone"
    shutil.copytree(root, clone, ignore=shutil.ignore_patterns(".venv", ".git", ".snakemake", "demo"))
    shutil.copytree(folder, clone / "copied")
    for script in clone.glob("workflow/scripts/**/*.py"):
        script.touch()
    run = snakemake(clone / "copied", FIGURE, "-n", "--cores", "1", root=clone)
    assert "Nothing to be done" in run.stdout


def test_a_run_made_again_gives_the_same_result(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    target = "results/scenes/tmft/discriminator/layer2/seed1.json"
    first = json.loads((copied / target).read_text())
    (copied / target).unlink()
    run = snakemake(copied, target, "--cores", "1", root=root)
    assert run.returncode == 0, run.stdout
    assert without_cost(first) == without_cost(json.loads((copied / target).read_text()))


def test_a_killed_run_goes_on_from_its_checkpoint(experiment, root, tmp_path):
    """The process group is killed in training; docs/reliability.md says what to do then. tests/faults has the rest."""
    copied = tmp_path / "copied"
    shutil.copytree(experiment[0], copied)
    longer = CONFIG.replace("recipes:", "recipes:\n  long: {kind: finetune, training: {epochs: 40}}")
    (copied / "config.yaml").write_text(longer)
    target = copied / "results/scenes/long/discriminator/layer2/seed1.json"
    arguments = (str(target.relative_to(copied)), "--cores", "1")

    def result() -> dict:
        run = snakemake(copied, *arguments, root=root)
        assert run.returncode == 0, run.stdout
        return without_cost(json.loads(target.read_text()))

    process = start(copied, *arguments, root=root)
    assert wait_for(process, copied, "results/**/*.checkpoint")
    kill_group(process)
    assert not target.exists()
    assert "--unlock" in snakemake(copied, *arguments, root=root).stdout
    snakemake(copied, "--unlock", root=root)
    killed = result()
    log = copied / "logs/finetune/scenes/long/discriminator/layer2/seed1.log"
    assert "the run goes on from here" in log.read_text()
    assert not list(copied.glob("results/**/*.checkpoint"))
    target.unlink()
    assert result() == killed and "goes on" not in log.read_text()


def test_several_runs_in_one_job_give_the_same_results(experiment, root, tmp_path):
    folder, _ = experiment
    copied = tmp_path / "copied"
    shutil.copytree(folder, copied)
    for made in ("results/scenes/tmft", "results/tables", "figures"):
        shutil.rmtree(copied / made)
    (copied / "config.yaml").write_text("units_per_job: 3\n" + CONFIG)
    run = snakemake(copied, FIGURE, "--cores", "2", root=root)
    assert run.returncode == 0, run.stdout
    assert re.search(r"^finetune_depth2_batch0 +1$", run.stdout, re.MULTILINE)
    for path in folder.glob("results/scenes/tmft/**/*.json"):
        own = copied / path.relative_to(folder)
        assert without_cost(json.loads(own.read_text())) == without_cost(json.loads(path.read_text()))
        pd.testing.assert_frame_equal(*(pd.read_parquet(predictions_file(one)) for one in (own, path)))


def test_gpu_jobs_run_one_at_a_time_by_default(experiment):
    _, printed = experiment
    running, most = set(), 0
    rule = None
    for line in printed.splitlines():
        if started := re.match(r"(?:local)?rule (\w+):", line):
            rule = started[1]
        elif (number := re.match(r"    jobid: (\d+)", line)) and rule in ("finetune", "evaluate_frozen"):
            running.add(number[1])
            most = max(most, len(running))
        elif done := re.match(r"Finished jobid: (\d+)", line):
            running.discard(done[1])
    assert most == 1


def test_a_failing_job_leaves_its_traceback_in_the_log_that_the_console_names(experiment, root, tmp_path):
    folder, _ = experiment
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    target = "results/scenes/tmft/discriminator/layer2/seed0.json"
    (broken / target).unlink()
    weights = broken / "data/pretrained/electra/discriminator/model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    run = snakemake(broken, target, "--cores", "1", root=root)
    log = "logs/finetune/scenes/tmft/discriminator/layer2/seed0.log"
    assert run.returncode != 0 and not (broken / target).exists()
    assert re.search(rf"Error in rule finetune: .*electra/discriminator.*\(log: {log}\)", run.stdout)
    assert "discriminator" in (broken / log).read_text()


def test_published_experiment_lists_its_work(root, tmp_path):
    shutil.copy(root / "config.yaml", tmp_path)
    run = snakemake(tmp_path, "-n", "--resources", "gpu=1", "--cores", "1", "figures/fig2a.pdf", root=root)
    counts = dict(re.findall(r"^(\w+) +(\d+)$", run.stdout, re.MULTILINE))
    assert counts == {
        "finetune": "260",
        "fetch_data": "3",
        "fetch_encoder": "4",
        "read_pairs": "1",
        "tokenise": "4",
        "collect_results": "1",
        "draw_layer_curve": "1",
        "total": "274",
    }


@pytest.mark.parametrize(
    ("target", "change", "words"),
    [
        ("results/scenes/tmft/brt/layer0/seed0.json", {}, ["unknown encoder 'brt'", "discriminator"]),
        ("results/scene/tmft/discriminator/layer0/seed0.json", {}, ["unknown task 'scene'", "scenes"]),
        ("results/scenes/tmf/discriminator/layer0/seed0.json", {}, ["unknown recipe 'tmf'", "tmft"]),
        ("results/scenes/frozen/discriminator/layer0/seed0.json", {}, ["recipe 'frozen'", "kind"]),
        ("results/scenes/tmft/discriminator/layer3/seed0.json", {}, ["layer 3", "0 to 2"]),
        ("results/scenes/tmft/discriminator/layer-1/seed0.json", {}, ["layer -1", "0 to 2"]),
        (FIGURE, {"seeds": ["one"]}, ["seeds.0", "'one'"]),
        (FIGURE, {"trainig": {}}, ["unknown key 'trainig'", "'training'"]),
        (FIGURE, {"encoders": {"google/electra": {"path": "x", "depth": 2}}}, ["google/electra", "keys go into paths"]),
    ],
)
def test_mistakes_are_refused_before_any_work(root, tmp_path, target, change, words):
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(yaml.safe_load(CONFIG) | change))
    run = snakemake(tmp_path, target, "--cores", "1", root=root)
    assert run.returncode != 0
    assert any(all(word in line for word in words) for line in run.stdout.splitlines()), run.stdout
    assert "Traceback (most recent call last)" not in run.stdout
    assert not (tmp_path / "data").exists() and not (tmp_path / "results").exists()
