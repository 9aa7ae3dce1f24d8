"""What runs cost, what is left of an experiment, and how long that takes."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tiny import tiny_encoder

from tmft.datasets.tokens import TokenPairs, Tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.results.costs import pretraining_costs, run_costs, sum_costs, to_markdown
from tmft.results.status import status
from tmft.results.status import to_markdown as status_document
from tmft.runtime.memory import LIBC, peak_mb, reset_peak
from tmft.training.loop import evaluate_layers, finetune
from tmft.training.records import FORMAT

CPU = torch.device("cpu")
TRAINING = {
    "objective": "cosine_regression",
    "label_range": [0.0, 1.0],
    "batch_size": 4,
    "precision": "float32",
    "dropout": "from_the_first_step",
    "epochs": 3,
    "learning_rate": 1e-3,
    "warmup": 0.1,
    "weight_decay": 0.01,
    "clip_norm": 1.0,
}


def pairs(number: int) -> TokenPairs:
    """Pairs whose second sentence of four tokens is always the same, beside one of three tokens."""
    sides = ([np.array([1, 5 + place % 20, 2], dtype=np.int32) for place in range(number)],)
    sides += ([np.array([1, 7, 8, 2], dtype=np.int32)] * number,)
    return TokenPairs([str(place) for place in range(number)], sides, np.linspace(0, 1, number))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    return tiny_encoder("bert", tmp_path_factory.mktemp("bert"), layers=2)


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens({"train": pairs(10), "validation": pairs(5), "test": pairs(6)}, 0, 40, 0)


def test_a_run_carries_its_cost(encoder, tokens):
    cost = finetune(TruncatedEncoder.load(encoder, 1), tokens, TRAINING, 0, CPU).cost
    assert cost["training_seconds"] + cost["evaluation_seconds"] == pytest.approx(cost["seconds"])
    assert min(cost["training_seconds"], cost["evaluation_seconds"]) > 0
    assert cost["steps"] == 3 * 3 and cost["training_tokens"] == 3 * 10 * (3 + 4)
    validation, test = 5 * 3 + 4, 6 * 3 + 4  # distinct sentences
    assert cost["evaluated_tokens"] == 4 * validation + test
    assert 50 < cost["peak_memory_mb"] < 100_000


def test_a_run_that_stops_early_costs_what_it_did(encoder, tokens):
    outcome = finetune(TruncatedEncoder.load(encoder, 1), tokens, TRAINING | {"learning_rate": 1e30}, 0, CPU)
    assert outcome.status == "collapsed"
    assert outcome.cost["steps"] == 3 and outcome.cost["training_tokens"] == 10 * (3 + 4)
    assert outcome.cost["evaluated_tokens"] == 0 == outcome.cost["evaluation_seconds"]


def test_an_encoder_that_is_not_trained_costs_evaluation_only(encoder, tokens):
    costs = [outcome.cost for outcome in evaluate_layers(TruncatedEncoder.load(encoder, 2), tokens, TRAINING, CPU)]
    assert costs[0] == costs[2]
    assert costs[0]["training_seconds"] == 0 == costs[0]["training_tokens"]
    assert costs[0]["evaluation_seconds"] == costs[0]["seconds"] and costs[0]["evaluated_tokens"] == 19 + 22


def test_peak_memory_is_of_one_run():
    reset_peak(CPU)
    before = peak_mb(CPU)
    held = np.ones(25_000_000)
    during = peak_mb(CPU)
    del held
    reset_peak(CPU)
    assert during - before == pytest.approx(200, abs=20)
    assert peak_mb(CPU) < before + 20


KEPT = """\
import re
import torch
from pathlib import Path
from tmft.runtime.memory import keep_freed_memory, reset_peak

def mb(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1e3

keep_freed_memory()
before = mb("VmRSS")
torch.ones(50_000_000)
kept = mb("VmRSS")
reset_peak(torch.device("cpu"))
print(kept - before, mb("VmHWM") - before)
"""


@pytest.mark.skipif(not hasattr(LIBC, "mallopt"), reason="not the C library whose settings these are")
def test_freed_memory_is_kept_until_the_next_run(root):
    """200 MB stay with the process that freed them, and do not count as the next run's."""
    run = subprocess.run(
        [sys.executable, "-c", KEPT], cwd=root / "workflow/scripts", check=True, text=True, capture_output=True
    )
    kept, peak = map(float, run.stdout.split())
    assert kept > 190 and peak < 20


SETTINGS = {"epochs": 2, "label_range": [0.0, 5.0]}


def record(layer: int, seed: int | None, status: str = "complete", **other) -> dict:
    return {
        "format": FORMAT,
        "run": {"task": "t", "recipe": "r", "encoder": "e", "layer": layer, "seed": seed},
        "status": status,
        "provenance": {"settings": SETTINGS, "code": "c"},
        "cost": {
            "seconds": 36.0,
            "training_seconds": 30.0,
            "evaluation_seconds": 6.0,
            "training_tokens": 900,
            "evaluated_tokens": 300,
            "peak_memory_mb": 100.0 + layer,
        },
        "environment": {"device_name": "chip", "threads": 1},
    } | other


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("results", "logs"):
        (tmp_path / name).mkdir()
    return tmp_path


def put(name: str, content) -> None:
    Path(f"results/{name}.json").write_text(json.dumps(content))


def put_run(layer: int, seed: int | None, content) -> str:
    """The file of a run's result, which it is put into unless ``content`` is None."""
    place = "all-layers" if seed is None else f"layer{layer}/seed{seed}"
    path = Path(f"results/t/r/e/{place}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    if content is not None:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def test_status_counts_runs_and_estimates_hours_from_the_same_layer(folder):
    one = [
        put_run(1, 0, record(1, 0)),
        put_run(1, 1, record(1, 1, "collapsed", cost={"seconds": 108.0})),
        put_run(1, 2, None),
    ]
    other = [put_run(2, 0, record(2, 0, cost={"seconds": 3600.0})), put_run(2, 1, None), put_run(3, 0, "{")]
    unknown = ["results/t/r/another/layer0/seed0.json"]
    table = status({"one": one, "both": [*one, *other], "unknown": unknown, "method": []})
    assert table.to_numpy().tolist() == [
        ["one", 3, 2, 1, 1, "0.0"],  # 72 seconds, the mean of 36 and 108
        ["both", 6, 3, 1, 3, "1.4"],  # and 3600, and for layer 3 the mean of all three
        ["unknown", 1, 0, 0, 1, "1 unknown"],
        ["all", 7, 3, 1, 4, "1.4 + 1 unknown"],
    ]
    assert "| both | 6 | 3 | 1 | 3 | 1.4 |" in status_document(table)


def test_evaluation_without_training_takes_no_time_and_says_nothing_of_training(folder):
    frozen = put_run(0, None, [record(0, None, cost={"seconds": 1e9})])
    assert status({"one": [frozen, put_run(0, 0, None)]})["hours left"].tolist() == ["1 unknown"] * 2
    Path(frozen).unlink()
    assert status({"one": [frozen]})["hours left"].tolist() == ["0.0"] * 2


def test_costs_are_summed(folder):
    put("a", record(1, 0))
    put("b", record(1, 1))
    put("other", record(1, 2, environment={"device_name": "other chip", "threads": 1}))
    put("frozen", [record(layer, None) for layer in range(3)])
    (folder / "results/pretraining").mkdir()
    put("pretraining/own", {"seconds": 7200.0, "tokens_seen": 2_000_000})
    costs = [run_costs(Path(f"results/{name}.json")) for name in ("a", "b", "other", "frozen")]
    table = sum_costs([*costs, pretraining_costs(Path("results/pretraining/own.json"))])
    assert table["runs"].tolist() == [2, 1, 1, 1]
    assert table["training_seconds"].tolist() == [60.0, 30.0, 30.0, 7200.0]
    assert table["evaluated_tokens"].tolist() == [600, 300, 300, pd.NA]
    assert table["device"].tolist()[:3] == ["chip", "other chip", "chip"]
    assert table["layer"].isna().tolist() == [False, False, True, True]
    assert table["peak_memory_mb"].tolist()[0] == 101.0
    lines = to_markdown(table).splitlines()
    assert lines[-1] == "| all |  |  |  | 5 | 2.03 | 0.01 | 2.0 | 0.0 | 101 |"
    assert "|  | pretraining | own |  | 1 | 2.00 |  | 2.0 |  |  |" in lines
