"""Recipes that are chains: word pairs first, adaptation first; each link hands on exactly its weights."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from pipeline_runs import snakemake
from safetensors.torch import load_file
from tiny import FAMILY_SETTINGS, WORDS, tiny_encoder
from transformers import AutoTokenizer

from tmft.datasets.tokens import read_tokens
from tmft.encoders.truncation import TruncatedEncoder, check_keepable
from tmft.encoders.weights import save_encoder
from tmft.runtime.errors import InputError
from tmft.training.loop import finetune

CONFIG = """
device: cpu
threads: {finetune: 1, pretrain: 1}
seeds: [1, 2]
training: {epochs: 2, learning_rate: 1e-3}
encoders:
  bert: {path: bert, depth: 2}
  electra: {path: electra, depth: 3}
tasks:
  sts: {scenes: {train: 40, validation: 20, test: 20}, objective: cosine_regression}
  words: {scenes: {kind: words, train: 40, validation: 20, test: 20}, objective: cosine_regression}
corpora:
  lines: {path: lines.txt}
adaptation:
  lines: {corpus: lines, epochs: 1, batch_size: 2, accumulation: 2, learning_rate: 1e-3}
recipes:
  tmft: {kind: finetune}
  words: {kind: finetune, training: {batch_size: 128, epochs: 3}}
  ws: {kind: finetune, start: {task: words, recipe: words}}
  dapt: {kind: finetune, start: {adaptation: lines}}
  dapt-words: {kind: finetune, start: {adaptation: lines}}
  dapt-ws: {kind: finetune, start: {task: words, recipe: dapt-words}}
  adapted: {kind: frozen, start: {adaptation: lines}}
figures:
  ws: {kind: layer_curve, task: sts, recipes: [ws], encoders: [bert, electra]}
  dapt: {kind: layer_curve, task: sts, recipes: [dapt, adapted], encoders: [bert, electra]}
  both: {kind: layer_curve, task: sts, recipes: [dapt-ws], encoders: [bert]}
"""
CPU = torch.device("cpu")
STARTED = "data/finetuned/words/words/bert/layer1/seed0"


@pytest.fixture(scope="module")
def chain(tmp_path_factory, root) -> Path:
    """One STS run after word pairs and one after adaptation, with the folders between."""
    folder = tmp_path_factory.mktemp("chain")
    (folder / "config.yaml").write_text(CONFIG)
    (folder / "lines.txt").write_text(f"{WORDS}\nthe cat sees a red house\n" * 3)
    tiny_encoder("bert", folder / "bert", 2)
    targets = [f"results/sts/{recipe}/bert/layer1/seed1.json" for recipe in ("ws", "dapt")]
    run = snakemake(folder, "--cores", "2", "--notemp", *targets, root=root)
    assert run.returncode == 0, run.stdout
    return folder


def result(folder: Path, recipe: str) -> dict:
    return json.loads((folder / f"results/sts/{recipe}/bert/layer1/seed1.json").read_text())


@pytest.mark.parametrize("layer", [0, 2])
@pytest.mark.parametrize("family", FAMILY_SETTINGS)
def test_a_truncated_encoder_is_the_same_after_saving(family, layer, tmp_path):
    folder = tiny_encoder(family, tmp_path / "whole", 3)
    if (family, layer) == ("modernbert", 0):
        with pytest.raises(InputError, match="ModernBERT without layers"):
            check_keepable(folder, layer)
        return
    check_keepable(folder, layer)
    encoder = TruncatedEncoder.load(folder, layer)
    save_encoder(encoder.model, AutoTokenizer.from_pretrained(folder), tmp_path / "cut", {})
    again = TruncatedEncoder.load(tmp_path / "cut", layer)
    ids = torch.tensor([[2, 7, 8, 9, 3]])
    assert torch.equal(again(ids, torch.ones_like(ids)), encoder(ids, torch.ones_like(ids)))


def test_run_starts_from_exactly_the_weights_of_the_word_pairs(chain):
    encoder = TruncatedEncoder.load(chain / "data/encoders/bert", 1)
    words = json.loads((chain / "results/finetuned/words/words/bert/layer1/seed0.json").read_text())
    assert words["run"] == {"task": "words", "recipe": "words", "encoder": "bert", "layer": 1, "seed": 0}
    settings = words["provenance"]["settings"]
    assert (settings["epochs"], settings["batch_size"], settings["label_range"]) == (3, 128, [0, 10])
    outcome = finetune(encoder, read_tokens(chain / "data/tokens/words/bert.parquet"), settings, 0, CPU)
    assert outcome.metrics == words["metrics"]
    kept = load_file(chain / STARTED / "model.safetensors")
    assert kept.keys() == encoder.model.state_dict().keys()
    assert all(torch.equal(kept[name], value) for name, value in encoder.model.state_dict().items())

    sts = result(chain, "ws")
    tokens = read_tokens(chain / "data/tokens/sts/bert.parquet")
    outcome = finetune(encoder, tokens, sts["provenance"]["settings"], 1, CPU)
    assert outcome.metrics == sts["metrics"]
    stored = pd.read_parquet(chain / "results/sts/ws/bert/layer1/seed1.predictions.parquet")
    assert stored["pair_id"].tolist() == tokens.splits["test"].pair_ids
    np.testing.assert_array_equal(stored["prediction"], outcome.predictions)


def test_run_starts_from_exactly_the_adapted_weights(chain):
    sts = result(chain, "dapt")
    encoder = TruncatedEncoder.load(chain / "data/adapted/lines/bert", 1)
    tokens = read_tokens(chain / "data/tokens/sts/bert.parquet")
    assert finetune(encoder, tokens, sts["provenance"]["settings"], 1, CPU).metrics == sts["metrics"]
    assert json.loads((chain / "results/adaptation/lines/bert.json").read_text())["newly_initialised"]
    own = AutoTokenizer.from_pretrained(chain / "data/adapted/lines/bert")
    assert own(WORDS).input_ids == AutoTokenizer.from_pretrained(chain / "bert")(WORDS).input_ids


def test_result_says_where_its_weights_are_from(chain):
    fetched = json.loads((chain / "data/encoders/bert/provenance.json").read_text())
    for recipe in ("ws", "dapt"):
        origin = result(chain, recipe)["provenance"]["encoder"]
        assert origin["source"]["start"] == {key: fetched[key] for key in ("source", "commit", "sha256")}
        assert re.fullmatch("[0-9a-f]{64}", origin["sha256"]) and origin["sha256"] != fetched["sha256"]
    run = {"task": "words", "recipe": "words", "encoder": "bert", "layer": 1, "seed": 0}
    assert result(chain, "ws")["provenance"]["encoder"]["source"]["run"] == run
    source = result(chain, "dapt")["provenance"]["encoder"]["source"]
    assert source["adaptation"] == "lines" and source["settings"]["accumulation"] == 2
    assert result(chain, "ws")["provenance"]["settings"]["start"] == {"task": "words", "recipe": "words"}


@pytest.mark.parametrize(
    ("figure", "expected"),
    [
        ("ws", {"finetune": 2 * (3 + 4), "keep_finetuned": 3 + 4, "tokenise": 4}),
        ("dapt", {"finetune": 2 * (3 + 4), "adapt_encoder": 2, "evaluate_frozen": 2, "tokenise": 2}),
        ("both", {"finetune": 2 * 3, "keep_finetuned": 3, "adapt_encoder": 1, "tokenise": 2}),
    ],
)
@pytest.mark.parametrize("units", [1, 4])
def test_a_figure_asks_for_each_link_once(root, tmp_path, figure, expected, units):
    """One run on word pairs an encoder and layer, one adaptation an encoder, whatever the seeds."""
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(yaml.safe_load(CONFIG) | {"units_per_job": units}))
    (tmp_path / "lines.txt").write_text("a line\n")
    run = snakemake(tmp_path, f"figures/{figure}.pdf", "-n", "--cores", "1", root=root)
    counts = {key: int(count) for key, count in re.findall(r"^(\w+) +(\d+)$", run.stdout, re.MULTILINE)}
    links = {key: count for key, count in counts.items() if key in expected and key != "finetune"}
    assert links == {key: count for key, count in expected.items() if key != "finetune"}
    assert units > 1 or counts["finetune"] == expected["finetune"]
