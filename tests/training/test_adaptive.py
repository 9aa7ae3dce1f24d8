"""Training of all layers together, against sentence-transformers, and what must hold of its results."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from test_loop import CPU, SETTINGS, make_pairs, tokens_of, weights
from tiny import tiny_encoder
from transformers import get_linear_schedule_with_warmup

from tmft.encoders.truncation import TruncatedEncoder
from tmft.training.adaptive import predict_layers, train_adaptive
from tmft.training.loop import evaluate_layers
from tmft.training.objectives import CosineRegression

DEPTH = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return tiny_encoder("bert", tmp_path_factory.mktemp("bert"), layers=DEPTH, **dropout)


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return make_pairs({"train": 10, "validation": 12, "test": 12})


def test_same_loss_and_weights_as_sentence_transformers(folder, pairs, tmp_path):
    """AdaptiveLayerLoss on all layers, uniformly weighted and without alignment."""
    encoder = TruncatedEncoder.load(folder, DEPTH)
    outcomes = train_adaptive(encoder, tokens_of(pairs, folder, tmp_path), SETTINGS, 3, CPU)

    transformer = Transformer(str(folder))
    peer = SentenceTransformer(modules=[transformer, Pooling(32, "mean")], device="cpu")
    loss_function = losses.AdaptiveLayerLoss(
        peer, losses.CosineSimilarityLoss(peer), n_layers_per_step=-1, kl_temperature=0
    )
    train = pairs[pairs["split"] == "train"]
    named = [(name, value) for name, value in transformer.named_parameters() if "pooler" not in name]
    plain = [name for name, _ in named if name.endswith("bias") or "LayerNorm" in name]
    optimiser = torch.optim.AdamW(
        [
            {"params": [value for name, value in named if name not in plain], "weight_decay": 0.01},
            {"params": [value for name, value in named if name in plain], "weight_decay": 0.0},
        ],
        lr=1e-3,
    )
    schedule = get_linear_schedule_with_warmup(optimiser, 0, 9)
    shuffling = torch.Generator().manual_seed(3)
    peer.train()
    for epoch in range(SETTINGS["epochs"]):
        epoch_losses = []
        for batch in torch.randperm(10, generator=shuffling).split(4):
            rows = train.iloc[batch.tolist()]
            features = [peer.preprocess(rows[side].tolist()) for side in ("sentence1", "sentence2")]
            loss = loss_function(features, torch.tensor(rows["label"].to_numpy() / 5, dtype=torch.float32))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_([value for _, value in named], 1.0)
            optimiser.step()
            schedule.step()
            epoch_losses.append(loss.item())
        *inner, last = [outcome.history[epoch]["loss"] for outcome in outcomes]
        assert np.mean(epoch_losses) == pytest.approx(last + np.mean(inner), abs=1e-6)
    theirs = transformer.state_dict()
    for name, value in weights(encoder.model).items():
        twin = next(other for key, other in theirs.items() if key.endswith(name))
        torch.testing.assert_close(value, twin, atol=2e-5, rtol=0)


def test_each_layer_has_the_scores_of_its_own_best_epoch(folder, pairs, tmp_path):
    tokens = tokens_of(pairs, folder, tmp_path)
    encoder = TruncatedEncoder.load(folder, DEPTH)
    outcomes = train_adaptive(encoder, tokens, SETTINGS, 0, CPU)
    last = evaluate_layers(encoder, tokens, SETTINGS, CPU)
    assert len(outcomes) == DEPTH + 1
    for outcome, own in zip(outcomes, last, strict=True):
        scores = [epoch["validation"]["spearman"] for epoch in outcome.history]
        assert outcome.best_epoch == 1 + int(np.argmax(scores)) and outcome.metrics["validation"]["spearman"] == max(
            scores
        )
        assert scores[-1] == pytest.approx(own.metrics["validation"]["spearman"], abs=1e-6)
        if outcome.best_epoch == SETTINGS["epochs"]:
            assert outcome.metrics["test"] == pytest.approx(own.metrics["test"], abs=1e-6)
            np.testing.assert_allclose(outcome.predictions, own.predictions, atol=1e-6)


def test_selection_never_sees_the_test_split(folder, pairs, tmp_path):
    shuffled = pairs.copy()
    test = shuffled["split"] == "test"
    shuffled.loc[test, "label"] = shuffled.loc[test, "label"].to_numpy()[::-1]
    one, other = (
        train_adaptive(TruncatedEncoder.load(folder, DEPTH), tokens_of(own, folder, tmp_path), SETTINGS, 0, CPU)
        for own in (pairs, shuffled)
    )
    assert [outcome.best_epoch for outcome in one] == [outcome.best_epoch for outcome in other]
    assert one[0].metrics["test"] != other[0].metrics["test"]


def test_one_training_is_one_cost(folder, pairs, tmp_path):
    tokens = tokens_of(pairs, folder, tmp_path)
    outcomes = train_adaptive(TruncatedEncoder.load(folder, DEPTH), tokens, SETTINGS, 0, CPU)
    once = sum(len(ids) for side in tokens.splits["train"].sides for ids in side)
    assert {outcome.cost["steps"] for outcome in outcomes} == {9}
    assert 3 * once - len(outcomes) < sum(outcome.cost["training_tokens"] for outcome in outcomes) <= 3 * once
    passed = [epoch["seconds"] for epoch in outcomes[0].history]
    assert sum(outcome.cost["seconds"] for outcome in outcomes) == pytest.approx(sum(passed), abs=0.5)


def test_diverged_training_is_a_collapse_of_every_layer(folder, pairs, tmp_path):
    tokens = tokens_of(pairs, folder, tmp_path)
    settings = SETTINGS | {"learning_rate": 1e30}
    outcomes = train_adaptive(TruncatedEncoder.load(folder, DEPTH), tokens, settings, 0, CPU)
    assert {(outcome.status, outcome.metrics is None) for outcome in outcomes} == {("collapsed", True)}
    assert "a training loss of epoch 1 is not finite" in outcomes[0].reason


def test_constant_predictions_are_a_collapsed_result(folder, pairs, tmp_path):
    encoder = TruncatedEncoder.load(folder, DEPTH)
    with torch.no_grad():
        encoder.model.embeddings.LayerNorm.weight.zero_()
    settings = SETTINGS | {"learning_rate": 0.0}
    outcome = train_adaptive(encoder, tokens_of(pairs, folder, tmp_path), settings, 0, CPU)[0]
    assert outcome.status == "collapsed" and outcome.metrics is None
    assert outcome.reason == "the predictions on validation are constant in every epoch"


def test_each_layer_has_its_own_classifier(folder, pairs, tmp_path):
    classes = pairs.assign(label=(pairs["label"] > 2).astype(float))
    settings = SETTINGS | {"objective": "difference_classification", "label_range": [0.0, 1.0]}
    outcomes = train_adaptive(
        TruncatedEncoder.load(folder, DEPTH), tokens_of(classes, folder, tmp_path), settings, 0, CPU
    )
    assert len({outcome.history[0]["loss"] for outcome in outcomes}) == DEPTH + 1


def test_predictions_are_those_of_the_truncated_encoders(folder, pairs, tmp_path):
    tokens = tokens_of(pairs, folder, tmp_path)
    objectives = torch.nn.ModuleList(CosineRegression((0.0, 5.0), 32) for _ in range(DEPTH + 1))
    predictions = predict_layers(TruncatedEncoder.load(folder, DEPTH), objectives, tokens, "test", "float32", CPU)
    for layer, own in enumerate(evaluate_layers(TruncatedEncoder.load(folder, DEPTH), tokens, SETTINGS, CPU)):
        np.testing.assert_allclose(predictions[layer], own.predictions, atol=1e-6)
