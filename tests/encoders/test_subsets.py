"""Subsets of layers: the same vectors as from a hand-built model, by folder and by search, and saved again."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny import FAMILY_SETTINGS, tiny_encoder
from training_runs import SETTINGS, make_pairs, tokens_of
from transformers import AutoConfig, AutoModel

from tmft.encoders.packing import distinct, encode
from tmft.encoders.subsets import predict_subsets
from tmft.encoders.truncation import TruncatedEncoder, count_parameters, read_config
from tmft.encoders.weights import save_model
from tmft.experiment.layers import kept, written
from tmft.results.subset_search import best_of_each_size, search_subsets, to_markdown
from tmft.runtime.errors import InputError

CPU = torch.device("cpu")
FAMILIES = [family for family in FAMILY_SETTINGS if family != "albert"]
IDS = torch.tensor([[2, 7, 9, 11, 3, 0, 0], [2, 8, 12, 6, 10, 9, 3]])
MASK = (IDS > 0).long()


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request, tmp_path_factory) -> Path:
    return tiny_encoder(request.param, tmp_path_factory.mktemp(request.param))


def hand_built(folder: Path, numbers: tuple[int, ...]) -> torch.Tensor:
    """Sentence vectors of a model of transformers with so many layers, each with the weights it stands for."""
    config = AutoConfig.from_pretrained(folder)
    config.num_hidden_layers = len(numbers)
    if config.model_type == "modernbert":
        config.layer_types = [config.layer_types[number - 1] for number in numbers]
    model = AutoModel.from_config(config).eval()
    place = {number - 1: new for new, number in enumerate(numbers)}
    weights = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        found = re.search(r"layers?\.(\d+)\.", name)
        if found is None:
            weights[name] = tensor
        elif int(found[1]) in place:
            weights[name[: found.start(1)] + str(place[int(found[1])]) + name[found.end(1) :]] = tensor
    missing = model.load_state_dict(weights, strict=False).missing_keys
    assert all("pooler" in name or name.endswith("_ids") for name in missing)
    with torch.inference_mode():
        states = model(IDS, attention_mask=MASK).last_hidden_state
    return (states * MASK[..., None]).sum(1) / MASK.sum(1, keepdim=True)


@pytest.mark.parametrize("layer", ["layers1-3", "layers1-2-4", "layers1-4"])
def test_a_subset_is_the_hand_built_model(folder, layer):
    encoder = TruncatedEncoder.load(folder, layer)
    with torch.inference_mode():
        found = encoder(IDS, MASK)
    assert torch.allclose(found, hand_built(folder, kept(layer)), atol=1e-5)
    assert encoder.layer == len(kept(layer)) == encoder.model.config.num_hidden_layers
    held = sum(parameter.numel() for parameter in encoder.model.parameters())
    assert count_parameters(read_config(folder), layer).total == held


def test_a_subset_saved_is_a_plain_encoder(folder, tmp_path):
    encoder = TruncatedEncoder.load(folder, "layers1-3")
    save_model(encoder.model, tmp_path)
    again = TruncatedEncoder.load(tmp_path, 2)
    with torch.inference_mode():
        assert torch.equal(encoder(IDS, MASK), again(IDS, MASK))


def test_a_prefix_stays_what_it_was(folder):
    prefix, (vectors, expected) = TruncatedEncoder.load(folder, 2), (None, hand_built(folder, (1, 2)))
    with torch.inference_mode():
        vectors = prefix(IDS, MASK)
    assert torch.allclose(vectors, expected, atol=1e-5)
    assert written([1, 2]) == 2 and written([1, 3]) == "layers1-3"


@pytest.mark.parametrize(
    ("family", "layer", "words"),
    [
        ("bert", "layers1-5", "0..4"),
        ("bert", "layers1-2", "layer2"),
        ("bert", "layers3-1", "layers1-3"),
        ("bert", "layer1-3", "not a layer"),
        ("albert", "layers1-3", "ALBERT"),
        ("modernbert", "layers2-3", "layer 1"),
    ],
)
def test_what_is_no_subset_is_refused(family, layer, words, tmp_path):
    with pytest.raises(InputError, match=words):
        TruncatedEncoder.load(tiny_encoder(family, tmp_path), layer)


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    folder = tiny_encoder("bert", tmp_path_factory.mktemp("searched"))
    pairs = make_pairs({"train": 4, "validation": 30, "test": 20})
    return folder, tokens_of(pairs, folder, tmp_path_factory.mktemp("tokens"))


@pytest.mark.parametrize("family", ["bert", "electra", "roberta", "mpnet", "distilbert", "modernbert", "deberta-v2"])
def test_one_walk_predicts_what_each_subset_does(family, tmp_path):
    folder = tiny_encoder(family, tmp_path)
    tokens = tokens_of(make_pairs({"train": 4, "validation": 12, "test": 4}), folder, tmp_path)
    pairs, layers = tokens.splits["validation"], [4, 2, "layers1-3", "layers1-2-4", "layers1-4"]
    cosine = torch.nn.functional.cosine_similarity
    whole = TruncatedEncoder.load(folder, 4)
    found = predict_subsets(whole, layers, pairs, cosine, tokens.pad_id, "float32", CPU)
    for layer in layers:
        sequences, first, second = distinct(pairs.sides)
        with torch.inference_mode():
            vectors = encode(TruncatedEncoder.load(folder, layer), sequences, tokens.pad_id, "float32", CPU)
        np.testing.assert_allclose(found[layer], cosine(vectors[first], vectors[second]), atol=1e-5)


def test_the_search_is_exhaustive_and_says_what_each_subset_scores(searched):
    folder, tokens = searched
    rows = search_subsets(TruncatedEncoder.load(folder, 4), tokens, SETTINGS, CPU)
    assert [len(row["layers"]) for row in rows] == [4, 4, 3, 3, 2, 2, 1, 1]
    assert [row["agreement"] for row in rows[:2]] == pytest.approx([1, 1])
    for chosen_by, key in (("validation", "validation"), ("agreement", "agreement")):
        own = {len(row["layers"]): row for row in rows if row["chosen_by"] == chosen_by}
        others = {len(row["layers"]): row for row in rows if row["chosen_by"] != chosen_by}
        assert all(own[size][key] >= others[size][key] for size in own)
    text = to_markdown(rows, {"encoder": "Tiny", "task": "STS", "metric": "spearman"})
    assert text.count("\n| 1, 2, 3, 4 |") == 2


def test_greedy_removal_keeps_a_beam():
    """Of eight layers only the last matters, and the worth of a subset is otherwise its smallest number."""
    asked = []

    def rank(layers):
        asked.extend(layers)
        return {layer: 100.0 * (kept(layer)[-1] == 8) - kept(layer)[0] for layer in layers}

    best = best_of_each_size(8, rank, lambda layer: True)
    assert [len(kept(layer)) for layer in best] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert kept(best[-1])[-1] == 8 and kept(best[-2]) == (1, 8)
    assert len(asked) < 2**8 - 1
