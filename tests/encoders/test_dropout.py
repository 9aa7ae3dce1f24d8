"""Dropout on a CPU: its distribution, and that every family uses it."""

import pytest
import torch
from tiny import tiny_encoder
from torch import nn
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from tmft.encoders.dropout import Dropout, attention
from tmft.encoders.truncation import FAMILIES, TruncatedEncoder


@pytest.mark.parametrize("p", [0.1, 0.3])
def test_elements_are_dropped_independently_and_the_rest_scaled(p):
    torch.manual_seed(0)
    x = torch.ones(1000, 403, requires_grad=True)
    dropped = Dropout(p)(x)
    dropped.sum().backward()
    assert torch.equal(x.grad, dropped)
    kept = (dropped > 0).double()
    assert dropped.unique().tolist() == pytest.approx([0, 1 / (1 - p)], rel=1e-4)
    sigma = (p * (1 - p) / kept.numel()) ** 0.5
    assert abs(kept.mean() - (1 - p)) < 4 * sigma
    column_sigma = (p * (1 - p) / len(kept)) ** 0.5
    assert (kept.mean(0) - (1 - p)).abs().max() < 5 * column_sigma
    flat = kept.flatten() - (1 - p)
    for lag in (1, 2, 3, 4, 8, 403):
        assert abs((flat[lag:] * flat[:-lag]).mean()) < 4 * p * (1 - p) / len(flat) ** 0.5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_seed_gives_the_same_elements_in_the_type_given(dtype):
    def dropped() -> torch.Tensor:
        torch.manual_seed(3)
        return Dropout(0.1)(torch.ones(7, 5, dtype=dtype))

    assert torch.equal(dropped(), dropped()) and dropped().dtype == dtype


@pytest.mark.parametrize("p", [0.0, 0.1, 1.0])
def test_evaluation_and_the_extremes_are_torchs_own(p):
    x = torch.randn(4, 5)
    assert torch.equal(Dropout(p).eval()(x), x)
    if p in (0.0, 1.0):
        assert torch.equal(Dropout(p)(x), nn.Dropout(p)(x))


@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_right_on_average(masked):
    torch.manual_seed(0)
    module = nn.Module()
    query, key, value = (torch.randn(2, 3, 6, 8) for _ in range(3))
    mask = (torch.arange(6) < 4).expand(2, 1, 6, 6) if masked else None
    expected, _ = sdpa_attention_forward(module, query, key, value, mask, dropout=0.0, is_causal=False)
    untouched, _ = attention(module, query, key, value, mask, dropout=0.0, is_causal=False)
    assert torch.equal(untouched, expected)
    rounded, _ = attention(module, query, key, value, mask, dropout=1e-7, is_causal=False)
    torch.testing.assert_close(rounded, expected)
    drawn = torch.stack([attention(module, query, key, value, mask, dropout=0.2)[0] for _ in range(4000)])
    assert drawn.std(0).min() > 0
    assert ((drawn.mean(0) - expected).abs() / (drawn.std(0) / len(drawn) ** 0.5)).max() < 5


WITHOUT_DROPOUT = {  # unless told otherwise
    "albert": ("hidden_dropout_prob", "attention_probs_dropout_prob"),
    "modernbert": ("attention_dropout", "embedding_dropout", "mlp_dropout"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_falls_back_to_torchs_dropout(family, tmp_path, monkeypatch):
    dropout = dict.fromkeys(WITHOUT_DROPOUT.get(family, ()), 0.1)
    encoder = TruncatedEncoder.load(tiny_encoder(family, tmp_path, **dropout), 2)
    ids = torch.randint(5, 40, (2, 9))
    own = [module for module in encoder.modules() if isinstance(module, nn.Dropout) and module.p]
    assert own and all(type(module) is Dropout for module in own)

    def refuse(*arguments, **options):
        raise AssertionError("torch's dropout was called")

    monkeypatch.setattr(nn.functional, "dropout", refuse)
    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", refuse)
    numbers = torch.tensor([[1] * 4 + [2] * 5, [3] * 9])
    vectors = encoder.train()(ids, numbers, 3)
    assert vectors.isfinite().all() and not torch.equal(vectors, encoder(ids, numbers, 3))
