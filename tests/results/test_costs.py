"""What runs cost, what is left of an experiment, and how long that takes."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from tiny import tiny_encoder

from tmft.datasets.tokens import TokenPairs, Tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.experiment.work import Work
from tmft.results.costs import pretraining_costs, run_costs, sum_costs, to_markdown
from tmft.results.hours import Load, Timing, estimate
from tmft.results.records import FORMAT
from tmft.results.status import Survey, remarks, tabulate, to_text
from tmft.results.status import to_markdown as status_document
from tmft.runtime.errors import InputError
from tmft.runtime.memory import LIBC, peak_mb, reset_peak
from tmft.runtime.pulse import SILENCE, files_under_way
from tmft.training.loop import evaluate_layers, finetune

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


def test_an_untouched_encoder_costs_evaluation_only(encoder, tokens):
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


def test_the_nearest_timing_is_scaled_by_the_work():
    def timing(encoder: str | None, width: int, layer: int, seconds: float) -> Timing:
        return Timing(Load(encoder, width, layer, 1000), seconds)

    calibration = [timing(None, 100, 1, 2.0), timing(None, 800, 4, 100.0)]
    assert estimate(Load("a", 100, 3, 500), calibration) == pytest.approx(2.0 * (4 / 2) / 2)
    assert estimate(Load("a", 700, 9, 1000), calibration) == pytest.approx(100 * 2 * (7 / 8) ** 2)
    done = [timing("a", 100, 3, 8.0), timing("a", 100, 3, 16.0), timing("a", 100, 3, 8.0), timing("a", 100, 1, 5.0)]
    assert estimate(Load("a", 100, 3, 1000), calibration + done) == pytest.approx(8.0)
    assert estimate(Load("a", 100, 6, 1000), calibration + done) == pytest.approx(8.0 * 7 / 4)
    assert estimate(Load("b", 100, 1, 1000), [*done, timing("c", 400, 1, 3.0)]) == pytest.approx(5.0)


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


def work(name: str, **other) -> Work:
    """A run of 1,000 tokens' work, 16 in each sentence, at layer 1."""
    own = Work(f"results/{name}.json", SETTINGS, "c", "e", [8], [1], 1000 / 16, "data/tokens/t/e.parquet", [], [])
    return replace(own, **other)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("results", "logs"):
        (tmp_path / name).mkdir()
    return tmp_path


def put(name: str, content) -> None:
    Path(f"results/{name}.json").write_text(json.dumps(content))


def look(*works: Work) -> tuple[Survey, pd.DataFrame]:
    survey = Survey(list(works), Path("logs"), Path("results/calibration.json"))
    return survey, tabulate(survey, {"one": [works[0].file], "both": [own.file for own in works], "method": []})


def test_status_counts_each_kind_of_run(folder):
    put("done", record(1, 0))
    put("collapsed", record(1, 1, "collapsed"))
    put("outdated", record(1, 2, provenance={"settings": SETTINGS | {"epochs": 3}, "code": "c"}))
    older = {"provenance": {"settings": SETTINGS, "code": "b"}, "cost": {"seconds": 9.0, "training_tokens": 900}}
    put("older", record(1, 3, **older))
    (folder / "results/waiting.json.finished").write_text(json.dumps(record(1, 4)))
    (folder / "logs/job.running").write_text("results/running.json\nresults/running.parquet")
    (folder / "logs/dead.running").write_text("results/missing.json")
    os.utime(folder / "logs/dead.running", times=(time.time() - 2 * SILENCE,) * 2)
    names = ["done", "collapsed", "outdated", "older", "waiting", "running", "missing"]
    survey, table = look(*map(work, names))
    assert table["figure"].tolist() == ["one", "both", "all"]
    expected = {"runs": 7, "done": 3, "running": 1, "collapsed": 1, "left": 4, "outdated": 2, "unknown": 0}
    assert {key: table.iloc[-1][key] for key in expected} == expected
    assert table.iloc[-1]["hours_left"] == pytest.approx(4 * 36 / 3600)  # runs like those that are done
    assert table.iloc[0]["left"] == 0 == table.iloc[0]["hours_left"]
    assert "both     7     3        1          1     4        0.0" in to_text(table)
    notes = remarks(survey, table)
    put("frozen", [record(1, None, cost=record(1, None)["cost"] | {"training_tokens": 0, "seconds": 1e9})])
    frozen, _ = look(*map(work, ["frozen", *names]))
    assert frozen.seconds("results/missing.json") == survey.seconds(
        "results/missing.json"
    )  # it says nothing of training
    assert any("2 results are by other settings or code" in note for note in notes)
    assert any("chip" in note and "4 runs" in note for note in notes)
    assert "| both | 7 | 3 | 1 | 1 | 4 | 0.0 |" in status_document(table, notes)


def test_weights_that_are_gone_are_left_only_while_they_are_needed(folder):
    put("first", record(1, 0))
    first = work("first", weights=["data/first"], followers=["results/second.json"])
    survey, _ = look(first, work("second"))
    assert survey.is_left(first.file)
    put("second", record(1, 1))
    survey, _ = look(first, work("second"))
    assert not survey.is_left(first.file)
    (folder / "results/second.json").unlink()
    (folder / "data/first").mkdir(parents=True)
    survey, _ = look(first, work("second"))
    assert not survey.is_left(first.file) and survey.is_left("results/second.json")


def test_what_is_not_known_is_said(folder):
    unknown = [work("a", widths=[None], encoder="narrow"), work("b", sentences=None)]
    survey, table = look(work("c"), *unknown)
    assert table.iloc[-1]["unknown"] == 3 and to_text(table).splitlines()[1].endswith("unknown")
    assert "hours_left" in remarks(survey, table)[0]
    calibration = {"environment": {"device_name": "chip", "threads": 2}}
    calibration["timings"] = [{"width": 8, "layer": 1, "tokens": 500, "seconds": 18.0}]
    put("calibration", calibration)
    survey, table = look(work("c"), *unknown)
    assert table.iloc[-1]["unknown"] == 2 and table.iloc[-1]["hours_left"] == pytest.approx(36 / 3600)
    notes = " ".join(remarks(survey, table))
    assert "chip, 2 CPU threads, going by a calibration" in notes and "narrow" in notes and "16 tokens" in notes


def test_a_damaged_result_is_named(folder):
    (folder / "results/done.json").write_text("{")
    with pytest.raises(InputError, match="results/done.json"):
        look(work("done"))


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


JOB = """
import os, sys, time
from pathlib import Path
from types import SimpleNamespace
from tmft.runtime.job import job
from tmft.runtime.pulse import files_under_way

snakemake = SimpleNamespace(log=["logs/deep/job.log"], threads=1, output=["results/a", "results/b"], rule="r")
with job(snakemake):
    assert files_under_way(Path("logs")) == {"results/a", "results/b"}
    print("seen")
    if sys.argv[1] == "fail":
        raise ValueError("no")
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize(("end", "left"), [("well", set()), ("fail", set()), ("killed", {"results/a", "results/b"})])
def test_a_job_says_that_it_runs(folder, root, end, left):
    env = os.environ | {"PYTHONPATH": str(root / "workflow/scripts")}
    subprocess.run([sys.executable, "-c", JOB, end], env=env, stderr=subprocess.DEVNULL)
    assert (folder / "logs/deep/job.log").read_text().startswith("seen") or end == "killed"
    assert files_under_way(Path("logs")) == left
    for file in Path("logs").rglob("*.running"):
        os.utime(file, times=(time.time() - 2 * SILENCE,) * 2)
    assert files_under_way(Path("logs")) == set()
