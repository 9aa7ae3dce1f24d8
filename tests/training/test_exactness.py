"""Packing changes rounding only: the product against plain transformers, for each family."""

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from tiny import tiny_encoder
from torch import Tensor, nn
from transformers import AutoModel, PreTrainedModel, get_linear_schedule_with_warmup

from tmft.datasets.tokens import TokenPairs, Tokens
from tmft.encoders import packing as batching
from tmft.encoders.packing import encode
from tmft.encoders.truncation import FAMILIES, TruncatedEncoder
from tmft.training.loop import finetune
from tmft.training.objectives import CosineRegression

CPU = torch.device("cpu")
DEPTH = 2
LAYERS = (0, 1, DEPTH)
SETTINGS = {
    "objective": "cosine_regression",
    "label_range": [0.0, 5.0],
    "batch_size": 4,
    "epochs": 1,
    "learning_rate": 1e-4,
    "warmup": 0.1,
    "weight_decay": 0.01,
    "clip_norm": 1.0,
    "precision": "float32",
    "dropout": "from_the_first_step",
}
KINDS = [*FAMILIES, "deberta-v2 with a convolution"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """An encoder of each family, and a DeBERTa that cannot be packed."""
    made = {family: tiny_encoder(family, tmp_path_factory.mktemp(family), DEPTH) for family in FAMILIES}
    return made | {KINDS[-1]: tiny_encoder("deberta-v2", tmp_path_factory.mktemp("conv"), DEPTH, conv_kernel_size=3)}


def sentences(count: int, longest: int, seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.integers(5, 60, random.integers(2, longest + 1)).astype(np.int32) for _ in range(count)]


def pairs(count: int, seed: int) -> TokenPairs:
    sides = sentences(count, 12, seed), sentences(count, 12, seed + 1)
    return TokenPairs(
        [str(row) for row in range(count)], sides, np.random.default_rng(seed).integers(0, 6, count) / 1.0
    )


def make_tokens(pad_id: int) -> Tokens:
    return Tokens({"train": pairs(200, 1), "validation": pairs(5, 3), "test": pairs(5, 5)}, pad_id, 40, 0)


def without_dropout(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


def whole_vectors(model: PreTrainedModel, layer: int, batch: list[np.ndarray]) -> Tensor:
    """Means over the tokens of hidden_states[layer] of the whole encoder; ModernBERT's inner ones are normed."""
    ids = nn.utils.rnn.pad_sequence([torch.from_numpy(one).long() for one in batch], True, model.config.pad_token_id)
    mask = nn.utils.rnn.pad_sequence([torch.ones(len(one)) for one in batch], True)
    states = model(input_ids=ids, attention_mask=mask.long(), output_hidden_states=True).hidden_states[layer]
    if hasattr(model, "final_norm") and layer < DEPTH:
        states = model.final_norm(states)
    return (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("row_tokens", [20, 64])
def test_packed_vectors_are_those_of_each_sentence_alone(folders, kind, row_tokens, monkeypatch):
    monkeypatch.setattr(batching, "ROW_TOKENS", row_tokens)
    monkeypatch.setattr(batching, "CACHED_TOKENS", 200)
    batch = sentences(30, 37, 0)
    whole = AutoModel.from_pretrained(folders[kind]).eval()
    pad_id = whole.config.pad_token_id
    with torch.inference_mode():
        layerwise = encode(TruncatedEncoder.load(folders[kind], DEPTH), batch, pad_id, "float32", CPU, layerwise=True)
        for layer in LAYERS:
            alone = torch.cat([whole_vectors(whole, layer, [one]) for one in batch])
            packed = encode(TruncatedEncoder.load(folders[kind], layer), batch, pad_id, "float32", CPU)
            torch.testing.assert_close(packed, alone, atol=2e-6, rtol=0)
            torch.testing.assert_close(layerwise[layer], alone, atol=2e-6, rtol=0)


def reference_loop(model: PreTrainedModel, layer: int, train: TokenPairs) -> list[float]:
    """Losses of plain fine-tuning: each side of a batch padded for itself, through the whole encoder."""
    kinds = [[p for p in model.parameters() if (p.dim() > 1) == many] for many in (True, False)]
    groups = [{"params": own, "weight_decay": decay} for own, decay in zip(kinds, (0.01, 0.0), strict=True)]
    optimiser = torch.optim.AdamW(groups, lr=SETTINGS["learning_rate"])
    schedule = get_linear_schedule_with_warmup(optimiser, 5, 50)
    losses = []
    for batch in torch.randperm(len(train), generator=torch.Generator().manual_seed(0)).split(4):
        u, v = (whole_vectors(model, layer, [side[row] for row in batch]) for side in train.sides)
        loss = F.mse_loss(F.cosine_similarity(u, v), torch.from_numpy(train.labels)[batch].float() / 5)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("kind", "layer"), [*((family, layer) for family in FAMILIES for layer in LAYERS), (KINDS[-1], DEPTH)]
)
def test_50_steps_are_those_of_the_reference_loop(folders, kind, layer, monkeypatch):
    losses = []
    plain_loss = CosineRegression.loss

    def noted_loss(self, u: Tensor, v: Tensor, targets: Tensor) -> Tensor:
        losses.append(plain_loss(self, u, v, targets))
        return losses[-1]

    monkeypatch.setattr(CosineRegression, "loss", noted_loss)
    encoder = without_dropout(TruncatedEncoder.load(folders[kind], layer))
    whole = without_dropout(AutoModel.from_pretrained(folders[kind]).train())
    tokens = make_tokens(whole.config.pad_token_id)
    outcome = finetune(encoder, tokens, SETTINGS, 0, CPU)
    assert (outcome.status, outcome.best_epoch, len(losses)) == ("complete", 1, 50)

    expected = reference_loop(whole, layer, tokens.splits["train"])
    torch.testing.assert_close(torch.stack(losses), torch.tensor(expected), atol=1e-5, rtol=0)
    theirs = whole.state_dict()
    for name, value in encoder.model.state_dict().items():
        if not name.endswith(("key.bias", "k.bias", "k_lin.bias")):  # softmax cancels them: their gradient is rounding
            torch.testing.assert_close(
                value, theirs[name], atol=1e-5, rtol=0, msg=lambda text, name=name: f"{name}: {text}"
            )


def test_a_seed_gives_the_same_bytes_with_dropout(folders):
    tokens = make_tokens(0)
    encoders = [TruncatedEncoder.load(folders["bert"], DEPTH) for _ in range(2)]
    first, second = ((finetune(encoder, tokens, SETTINGS, 3, CPU), encoder.state_dict()) for encoder in encoders)
    assert first[0].history[0]["loss"] == second[0].history[0]["loss"]
    assert np.array_equal(first[0].predictions, second[0].predictions)
    assert all(torch.equal(value, second[1][name]) for name, value in first[1].items())


@pytest.mark.parametrize("family", FAMILIES)
def test_bf16_is_near_float32(folders, family):
    batch = sentences(20, 12, 0)
    encoder = TruncatedEncoder.load(folders[family], DEPTH)
    exact, mixed = (encode(encoder, batch, encoder.model.config.pad_token_id, own, CPU) for own in ("float32", "bf16"))
    assert mixed.dtype == torch.float32 and not torch.equal(mixed, exact)
    assert F.cosine_similarity(mixed, exact).min() > 0.99
    mixed.square().sum().backward()
    assert {parameter.grad.dtype for parameter in encoder.parameters()} == {torch.float32}
