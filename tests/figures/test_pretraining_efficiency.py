"""The efficiency plot: its points, its drawing, and the pipeline from snapshots to the figure."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from looks import looks
from pipeline_runs import CONFIG, snakemake

from tmft.figures.pretraining_efficiency import draw, efficiency_points, flops_by_steps
from tmft.figures.style import save
from tmft.results.tables import summarise, tabulate_runs

ENCODERS = [
    {"line": "MLM", "encoder": "bert-10", "steps": 10, "flops": 1e9},
    {"line": "MLM", "encoder": "bert", "steps": 40, "flops": 4e9},
    {"line": "RTD", "encoder": "electra-10", "steps": 10, "flops": 1.5e9},
]
METRICS = {"entailment": "macro_f1", "paraphrase": "f1"}
FIGURE = {
    "looks": looks(MLM="bert", RTD="discriminator"),
    "title": "Title",
    "tasks": {task: {"task": task.title(), "metrics": [metric]} for task, metric in METRICS.items()},
}
LABELS = {"entailment": "Entailment test macro F1 × 100", "paraphrase": "Paraphrase test F1 × 100"}


def score(task: str, encoder: str, seed: int) -> float:
    return 0.5 + 0.1 * (task == "paraphrase") + 0.05 * ENCODERS.index(encoder) + 0.01 * seed


@pytest.fixture
def points() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Points and single runs; one run has collapsed."""
    runs, records = [], []
    for task, metric in METRICS.items():
        for encoder in ENCODERS:
            for seed in range(3):
                run = {"task": task, "recipe": "tmft", "encoder": encoder["encoder"], "layer": 2, "seed": seed}
                collapsed = (task, encoder["encoder"], seed) == ("paraphrase", "electra-10", 2)
                metrics = {"test": {metric: score(task, encoder, seed), "accuracy": 0.9}}
                runs.append(list(run.values()))
                records.append(
                    {
                        "run": run,
                        "status": "collapsed" if collapsed else "complete",
                        "reason": None,
                        "metrics": None if collapsed else metrics,
                        "best_epoch": 1,
                        "parameters": {"published": 9},
                        "cost": {"seconds": 1.0},
                    }
                )
    table = tabulate_runs(records, runs)
    return efficiency_points(table, summarise(table), ENCODERS, METRICS)


def test_points_are_the_main_metric_of_each_task_at_each_compute(points):
    found, single = points
    assert found["task"].tolist() == ["entailment"] * 3 + ["paraphrase"] * 3
    assert found["flops"].tolist() == [1e9, 4e9, 1.5e9] * 2
    expected = [100 * np.mean([score(task, own, seed) for seed in range(3)]) for task in METRICS for own in ENCODERS]
    expected[-1] -= 0.5
    np.testing.assert_allclose(found["mean"], expected)
    assert found["n"].tolist() == [3] * 5 + [2] and found["collapsed"].tolist() == [0] * 5 + [1]
    assert single["value"].notna().sum() == 17


def test_drawing_has_a_panel_a_task_and_a_line_a_pre_training(points, tmp_path):
    figure = draw(FIGURE, *points)
    assert [axes.get_ylabel() for axes in figure.axes] == list(LABELS.values())
    for axes, task in zip(figure.axes, METRICS, strict=True):
        assert axes.get_xscale() == "log"
        means = points[0].loc[points[0]["task"] == task, "mean"].tolist()
        assert [line.get_ydata().tolist() for line in axes.lines] == [means[:2], means[2:]]
    assert [text.get_text() for text in figure.axes[1].texts] == ["1 collapsed"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["MLM", "RTD"]
    save(figure, tmp_path / "one.pdf")
    save(draw(FIGURE, *points), tmp_path / "two.pdf")
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_compute_is_that_of_each_snapshot_and_of_the_end():
    metrics = {"steps": 40, "flops": 10**21, "snapshots": [{"steps": 10, "flops": 10**20}]}
    assert flops_by_steps(metrics) == {10: 1e20, 40: 1e21}


# The pipeline


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The small experiment with two snapshots of a discriminator and one of a BERT."""
    config = yaml.safe_load(CONFIG)
    electra = config["pretraining"]["electra"]
    config["pretraining"]["electra"] = electra | {"snapshots": [5, 10]}
    config["pretraining"]["bert"] = electra | {"objective": "masked_language_modelling", "snapshots": [10]}
    config["encoders"] = {
        "bert-10": {"pretraining": "bert", "step": 10},
        "discriminator-10": {"pretraining": "electra", "part": "discriminator", "step": 10},
        "discriminator": {"pretraining": "electra", "part": "discriminator"},
    }
    lines = {"RTD": ["discriminator-10", "discriminator"]}
    efficiency = {"kind": "pretraining_efficiency", "tasks": ["scenes"], "recipe": "tmft"}
    config["figures"] = {
        "learning": efficiency | {"lines": lines},
        "both": efficiency | {"lines": {"MLM": ["bert-10"]} | lines},
    }
    path = tmp_path_factory.mktemp("efficiency")
    (path / "config.yaml").write_text(yaml.safe_dump(config | {"units_per_job": 2}))
    return path


def test_figure_asks_for_last_layers_of_snapshots(root, folder):
    """A snapshot's runs are single; the encoder at the end has its last layer in two batches, one a seed."""
    run = snakemake(folder, "figures/both.pdf", "-n", "--cores", "1", root=root)
    counts = {key: int(count) for key, count in re.findall(r"^(\w+) +(\d+)$", run.stdout, re.MULTILINE)}
    batches = {key: count for key, count in counts.items() if key.startswith("finetune")}
    assert batches == {"finetune": 4, "finetune_depth2_batch1": 1, "finetune_depth2_batch3": 1}
    assert counts["pretrain_bert"] == counts["pretrain_electra"] == 1 and counts["tokenise"] == 3


def test_snapshots_become_the_figure(root, folder):
    target = "figures/learning.pdf"
    run = snakemake(folder, target, "--cores", "1", root=root)
    assert run.returncode == 0, run.stdout
    metrics = json.loads((folder / "results/pretraining/electra.json").read_text())
    points = pd.read_csv(folder / "figures/learning.csv")
    assert points["steps"].tolist() == [10, 20]
    assert points["flops"].tolist() == [metrics["snapshots"][1]["flops"], metrics["flops"]]
    for point in points.itertuples():
        files = (folder / "results/scenes/tmft" / point.encoder / "layer2").glob("seed?.json")
        scores = [100 * json.loads(file.read_text())["metrics"]["test"]["spearman"] for file in files]
        assert point.n == 2 and point.mean == pytest.approx(np.mean(scores))
    made = {path.name for path in (folder / "data/pretrained/electra").iterdir()}
    parts = ("generator", "discriminator")
    assert made >= {f"{part}{end}" for part in parts for end in ("", "-step5", "-step10")}
    result = json.loads((folder / "results/scenes/tmft/discriminator-10/layer2/seed0.json").read_text())
    assert result["provenance"]["encoder"]["source"]["step"] == 10
    assert "Nothing to be done" in snakemake(folder, target, "-n", "--cores", "1", root=root).stdout
