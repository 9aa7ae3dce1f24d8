"""The truncated encoder against whole transformers models, sentence-transformers and the paper's Table 2."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from tiny import FAMILY_SETTINGS, tiny_encoder
from transformers import AutoConfig, AutoModel, AutoTokenizer, GPT2Config

from tmft.encoders.truncation import (
    FAMILIES,
    TruncatedEncoder,
    count_parameters,
    depth,
    mean_pooling,
    read_config,
    usable_length,
)
from tmft.runtime.errors import InputError

LAYERS = 4
SENTENCES = ["a b", "the woman sees two red birds in the small park, not with a dog", "Zoë plays."]
TABLE_2 = yaml.safe_load((Path(__file__).parents[1] / "helpers" / "data" / "table2.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def encoders(tmp_path_factory) -> dict[str, Path]:
    """A folder for each family; ModernBERT's attention pattern is one that no rule of its config would give."""
    overrides = {"modernbert": {"layer_types": ["sliding_attention"] * 2 + ["full_attention", "sliding_attention"]}}
    return {
        family: tiny_encoder(family, tmp_path_factory.mktemp(family), LAYERS, **overrides.get(family, {}))
        for family in FAMILIES
    }


@pytest.fixture
def bert(tmp_path) -> Path:
    """A BERT folder of its own, to be damaged."""
    return tiny_encoder("bert", tmp_path / "bert", LAYERS)


def tokenised(folder: Path, sentences: list[str]) -> dict[str, torch.Tensor]:
    return dict(AutoTokenizer.from_pretrained(folder)(sentences, padding=True, return_tensors="pt"))


def embed(encoder: TruncatedEncoder, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    with torch.no_grad():
        return encoder(batch["input_ids"], batch["attention_mask"])


def means(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.stack([row[kept.bool()].mean(0) for row, kept in zip(states, mask, strict=True)])


def edit_config(folder: Path, **changes) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def stored_layers(names) -> set[int]:
    return {int(match[1]) for name in names if (match := re.search(r"\blayers?\.(\d+)\.", name))}


@pytest.mark.parametrize("family", FAMILIES)
def test_layer_is_hidden_state_of_the_whole_model(encoders, family):
    folder = encoders[family]
    batch = tokenised(folder, SENTENCES)
    assert ("token_type_ids" in batch) == (family not in ("roberta", "xlm-roberta", "mpnet"))
    whole = AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        hidden_states = list(whole(**batch, output_hidden_states=True).hidden_states)
        if family == "modernbert":
            hidden_states[:-1] = map(whole.final_norm, hidden_states[:-1])
    mask = batch["attention_mask"].numpy().astype(bool)
    layerwise = TruncatedEncoder.load(folder, LAYERS).layerwise_vectors(batch["input_ids"], batch["attention_mask"])
    assert layerwise.shape == (LAYERS + 1, len(SENTENCES), 32)
    assert depth(folder) == LAYERS and len(hidden_states) == LAYERS + 1
    for layer, states in enumerate(hidden_states):
        encoder = TruncatedEncoder.load(folder, layer)
        expected = [row[kept].mean(axis=0) for row, kept in zip(states.numpy().astype(float), mask, strict=True)]
        vectors = embed(encoder, batch)
        assert vectors.dtype == torch.float32 and encoder.hidden_size == 32
        np.testing.assert_allclose(vectors, expected, rtol=0, atol=1e-6)
        np.testing.assert_allclose(layerwise[layer].detach(), vectors, rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_above_the_layer_is_built(encoders, family):
    for layer in range(LAYERS + 1):
        names = TruncatedEncoder.load(encoders[family], layer).state_dict()
        assert not any("pooler" in name for name in names)
        if family == "albert":
            assert any("albert_layers" in name for name in names) == (layer > 0)
        else:
            assert stored_layers(names) == set(range(layer))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", [0, 1, 3, LAYERS])
def test_padding_does_not_change_a_vector(encoders, family, layer):
    encoder = TruncatedEncoder.load(encoders[family], layer)
    together = embed(encoder, tokenised(encoders[family], SENTENCES))
    alone = torch.cat([embed(encoder, tokenised(encoders[family], [sentence])) for sentence in SENTENCES])
    torch.testing.assert_close(together, alone, rtol=0, atol=5e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layer", [0, 2, LAYERS])
def test_every_parameter_gets_a_gradient_and_is_counted(encoders, family, layer):
    encoder = TruncatedEncoder.load(encoders[family], layer)
    batch = tokenised(encoders[family], SENTENCES)
    encoder(batch["input_ids"], batch["attention_mask"]).square().sum().backward()
    assert [name for name, parameter in encoder.named_parameters() if parameter.grad is None] == []
    total = sum(parameter.numel() for parameter in encoder.parameters())
    assert count_parameters(read_config(encoders[family]), layer).total == total


@pytest.mark.parametrize(
    ("family", "layer"),
    # transformers cannot describe a ModernBERT without layers
    [(family, layer) for family in FAMILIES for layer in (0, 2, LAYERS) if (family, layer) != ("modernbert", 0)],
)
def test_saved_truncated_model_loads_as_an_encoder_of_that_depth(encoders, family, layer, tmp_path):
    encoder = TruncatedEncoder.load(encoders[family], layer)
    encoder.model.save_pretrained(tmp_path)
    again = TruncatedEncoder.load(tmp_path, layer)
    batch = tokenised(encoders[family], SENTENCES)
    assert depth(tmp_path) == layer
    assert torch.equal(embed(again, batch), embed(encoder, batch))


@pytest.mark.parametrize("family", FAMILIES)
def test_random_seed_gives_one_encoder_for_all_layers(encoders, family):
    folder = encoders[family]
    batch = tokenised(folder, SENTENCES)
    state = torch.get_rng_state()
    layerwise = TruncatedEncoder.load(folder, LAYERS, random_seed=3).layerwise_vectors(
        batch["input_ids"], batch["attention_mask"]
    )
    for layer in range(LAYERS + 1):
        vectors = embed(TruncatedEncoder.load(folder, layer, random_seed=3), batch)
        torch.testing.assert_close(vectors, layerwise[layer].detach(), rtol=0, atol=1e-6)
        assert not torch.allclose(vectors, embed(TruncatedEncoder.load(folder, layer, random_seed=4), batch), atol=1e-3)
        assert not torch.allclose(vectors, embed(TruncatedEncoder.load(folder, layer), batch), atol=1e-3)
    assert torch.equal(torch.get_rng_state(), state)


def test_modernbert_inner_layers_pass_the_final_norm(encoders):
    batch = tokenised(encoders["modernbert"], SENTENCES)
    whole = AutoModel.from_pretrained(encoders["modernbert"])
    with torch.no_grad():
        raw = whole(**batch, output_hidden_states=True).hidden_states[3]
    vectors = embed(TruncatedEncoder.load(encoders["modernbert"], 3), batch)
    assert (vectors - means(raw, batch["attention_mask"])).abs().max() > 1


def test_electra_keeps_its_projection(encoders, tmp_path):
    TruncatedEncoder.load(encoders["electra"], 1).model.save_pretrained(tmp_path)
    assert load_file(tmp_path / "model.safetensors")["embeddings_project.weight"].shape == (32, 16)


def test_electra_of_equal_sizes_has_no_projection(tmp_path):
    folder = tiny_encoder("electra", tmp_path, layers=1, embedding_size=32)
    batch = tokenised(folder, SENTENCES)
    with torch.no_grad():
        expected = AutoModel.from_pretrained(folder).embeddings(batch["input_ids"])
    torch.testing.assert_close(embed(TruncatedEncoder.load(folder, 0), batch), means(expected, batch["attention_mask"]))


def test_checkpoint_with_head_gives_the_same_encoder(bert, tmp_path):
    weights = load_file(bert / "model.safetensors")
    head = {"cls.predictions.bias": torch.zeros(3)}
    expected = embed(TruncatedEncoder.load(bert, 2), tokenised(bert, SENTENCES))
    save_file({f"bert.{name}": tensor for name, tensor in weights.items()} | head, bert / "model.safetensors")
    assert torch.equal(embed(TruncatedEncoder.load(bert, 2), tokenised(bert, SENTENCES)), expected)


def test_loading_is_silent(bert, capfd):
    TruncatedEncoder.load(bert, 1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("declared", [True, False])
def test_half_precision_checkpoint_becomes_float32(bert, declared):
    half = AutoModel.from_pretrained(bert).half()
    half.save_pretrained(bert)
    if not declared:
        settings = json.loads((bert / "config.json").read_text())
        del settings["dtype"]
        (bert / "config.json").write_text(json.dumps(settings))
    encoder = TruncatedEncoder.load(bert, 2)
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float32}
    assert torch.equal(encoder.model.embeddings.word_embeddings.weight, half.embeddings.word_embeddings.weight.float())


def test_pooling_does_not_overflow_half_precision():
    states = torch.full((2, 512, 8), 200, dtype=torch.float16)
    pooled = mean_pooling(states, torch.tensor([[1], [0]]).expand(2, 512), 2)
    assert pooled.dtype == torch.float32
    assert torch.equal(pooled, torch.tensor([[200.0], [0.0]]).expand(2, 8))


@pytest.mark.parametrize("family", FAMILIES)
def test_longest_usable_sentence_runs(encoders, family):
    tokenizer = AutoTokenizer.from_pretrained(encoders[family])
    length = usable_length(read_config(encoders[family]), tokenizer)
    assert tokenizer.model_max_length > 10**20
    assert length == (38 if family in ("roberta", "xlm-roberta", "mpnet") else 40)
    batch = tokenizer(["dog " * 60], truncation=True, max_length=length, return_tensors="pt")
    assert batch["input_ids"].shape == (1, length)
    assert embed(TruncatedEncoder.load(encoders[family], 1), batch).isfinite().all()


def test_usable_length_respects_tokenizer_and_padding_index(tmp_path):
    folder = tiny_encoder("roberta", tmp_path, layers=1, pad_token_id=5)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert usable_length(read_config(folder), tokenizer) == 34
    tokenizer.model_max_length = 20
    assert usable_length(read_config(folder), tokenizer) == 20


@pytest.mark.parametrize(
    ("settings", "layer", "millions"),
    [
        pytest.param(row["config"], layer, millions, id=f"{name}, layer {layer}")
        for name, row in TABLE_2.items()
        for layer, millions in row["millions_by_layer"].items()
    ],
)
def test_parameter_count_of_table_2(settings, layer, millions):
    assert round(count_parameters(AutoConfig.for_model(**settings), layer).published / 1e6, 2) == millions


def test_table_2_is_whole():
    assert sum(len(row["millions_by_layer"]) for row in TABLE_2.values()) == 15


def test_parameter_count_of_deberta_v3_base():
    sizes = {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072}
    relative = FAMILY_SETTINGS["deberta-v2"] | {"position_buckets": 256}
    config = AutoConfig.for_model("deberta-v2", vocab_size=128_100, **sizes, **relative)
    count = count_parameters(config, 12)
    assert count.published == 98_382_336 + 12 * 7_087_872
    assert count.total == count.published + 394_752
    assert count_parameters(config, 0) == (98_382_336, 98_382_336)


def test_albert_shares_one_layer(encoders):
    config = read_config(encoders["albert"])
    assert count_parameters(config, 1) == count_parameters(config, 4) > count_parameters(config, 0)


def test_same_vectors_as_sentence_transformers(encoders):
    transformer = Transformer(str(encoders["bert"]), max_seq_length=40)
    model = SentenceTransformer(modules=[transformer, Pooling(32, pooling_mode="mean")], device="cpu")
    vectors = embed(TruncatedEncoder.load(encoders["bert"], LAYERS), tokenised(encoders["bert"], SENTENCES))
    np.testing.assert_allclose(vectors, model.encode(SENTENCES), rtol=0, atol=1e-6)


@pytest.mark.parametrize("layer", [-1, LAYERS + 1])
def test_layer_out_of_range_is_refused(encoders, layer):
    with pytest.raises(InputError, match=rf"layer {layer}; choose one of 0\.\.4"):
        TruncatedEncoder.load(encoders["bert"], layer)


def test_unsupported_architecture_is_refused_by_name(tmp_path):
    GPT2Config().save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"config.json: model_type 'gpt2' is not supported.*albert, bert, deberta-v2"):
        TruncatedEncoder.load(tmp_path, 1)


@pytest.mark.parametrize("key", ["num_hidden_groups", "inner_group_num"])
def test_albert_of_several_groups_is_refused(tmp_path, key):
    tiny_encoder("albert", tmp_path, **{key: 2})
    with pytest.raises(InputError, match=f"{key} = 2"):
        depth(tmp_path)


@pytest.mark.parametrize(
    "content", [None, b"", b'{"model_type": ', b"\xff", b'{"model_type": "bert", "hidden_size": "x"}']
)
def test_unusable_config_is_refused(bert, content):
    path = bert / "config.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(str(path))) as refusal:
        TruncatedEncoder.load(bert, 1)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
@pytest.mark.parametrize("kept", [0, 100, 0.5, 0.99, "a pointer to the file, not the file"])
def test_damaged_weights_are_refused(bert, name, kept):
    torch.save(load_file(bert / "model.safetensors"), bert / "pytorch_model.bin")
    if name == "pytorch_model.bin":
        (bert / "model.safetensors").unlink()
        TruncatedEncoder.load(bert, 1)
    path = bert / name
    whole = path.read_bytes()
    path.write_bytes(kept.encode() if isinstance(kept, str) else whole[: kept if kept > 1 else int(kept * len(whole))])
    with pytest.raises(InputError, match=f"{bert}: cannot be loaded") as refusal:
        TruncatedEncoder.load(bert, 1)
    assert "\n" not in str(refusal.value)


def test_pickle_of_more_than_tensors_is_refused_unrun(bert, tmp_path):
    class Payload:
        def __reduce__(self):
            return Path.touch, (tmp_path / "ran",)

    (bert / "model.safetensors").unlink()
    torch.save({"payload": Payload()}, bert / "pytorch_model.bin")
    with pytest.raises(InputError, match="UnpicklingError"):
        TruncatedEncoder.load(bert, 1)
    assert not (tmp_path / "ran").exists()


def test_absent_weights_are_refused(bert):
    (bert / "model.safetensors").unlink()
    with pytest.raises(InputError, match="no file named model.safetensors"):
        TruncatedEncoder.load(bert, 1)


def test_missing_tensor_is_named(bert):
    weights = load_file(bert / "model.safetensors")
    del weights["encoder.layer.1.output.dense.bias"], weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, bert / "model.safetensors")
    with pytest.raises(InputError, match=rf"{bert}.*encoder\.layer\.1\.output\.dense\.weight"):
        TruncatedEncoder.load(bert, 2)


@pytest.mark.parametrize("claimed", [3, 6])
def test_depth_other_than_the_config_says_is_refused(bert, claimed):
    edit_config(bert, num_hidden_layers=claimed)
    with pytest.raises(InputError, match=f"the weights hold 4 layers, config.json says {claimed}"):
        TruncatedEncoder.load(bert, 2)


def test_tensor_of_another_shape_is_named(bert):
    edit_config(bert, vocab_size=50)
    with pytest.raises(InputError, match=r"embeddings\.word_embeddings\.weight is of shape .*\(50, 32\)"):
        TruncatedEncoder.load(bert, 2)
