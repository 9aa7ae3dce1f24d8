"""Fine-tuning against sentence-transformers, and what must hold of every run."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import losses
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from tiny import tiny_encoder
from training_runs import CPU, SETTINGS, make_pairs, tokens_of, weights
from transformers import get_linear_schedule_with_warmup

from tmft.datasets.tokens import Tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.training.loop import evaluate, evaluate_layers, finetune, make_objective

LAYER = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_encoder(
        "bert", tmp_path_factory.mktemp("bert"), hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )


@pytest.fixture(scope="module")
def dropout_folder(tmp_path_factory) -> Path:
    return tiny_encoder("bert", tmp_path_factory.mktemp("bert-dropout"))


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return make_pairs({"train": 10, "validation": 12, "test": 12})


@pytest.fixture
def tokens(pairs, folder, tmp_path) -> Tokens:
    return tokens_of(pairs, folder, tmp_path)


def test_same_loss_and_weights_as_sentence_transformers(folder, pairs, tokens):
    encoder = TruncatedEncoder.load(folder, LAYER)
    outcome = finetune(encoder, tokens, SETTINGS, 3, CPU)

    transformer = Transformer(str(folder), config_kwargs={"num_hidden_layers": LAYER})
    peer = SentenceTransformer(modules=[transformer, Pooling(32, "mean")], device="cpu")
    loss_function = losses.CosineSimilarityLoss(peer)
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
    for epoch in range(outcome.best_epoch):
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
        assert np.mean(epoch_losses) == pytest.approx(outcome.history[epoch]["loss"], abs=1e-6)
    theirs = transformer.state_dict()
    for name, value in weights(encoder.model).items():
        twin = next(other for key, other in theirs.items() if key.endswith(name))
        torch.testing.assert_close(value, twin, atol=2e-5, rtol=0)


def without_seconds(outcome) -> dict:
    return {
        "metrics": outcome.metrics,
        "best": outcome.best_epoch,
        "history": [{key: value for key, value in epoch.items() if "seconds" not in key} for epoch in outcome.history],
    }


def test_a_seed_decides_everything(dropout_folder, pairs, tmp_path):
    tokens = tokens_of(pairs, dropout_folder, tmp_path)

    def run(seed: int, disturbance: int) -> dict:
        torch.manual_seed(disturbance)
        return without_seconds(finetune(TruncatedEncoder.load(dropout_folder, LAYER), tokens, SETTINGS, seed, CPU))

    assert run(1, 0) == run(1, 99)
    assert run(1, 0) != run(2, 0)


def test_published_dropout_is_off_in_the_first_epoch_and_on_from_the_second(folder, dropout_folder, pairs, tmp_path):
    tokens = tokens_of(pairs, dropout_folder, tmp_path)
    without, published, first = (
        [
            epoch["loss"]
            for epoch in finetune(
                TruncatedEncoder.load(own, LAYER), tokens, SETTINGS | {"dropout": dropout}, 0, CPU
            ).history
        ]
        for own, dropout in (
            (folder, "published"),
            (dropout_folder, "published"),
            (dropout_folder, SETTINGS["dropout"]),
        )
    )
    assert published[0] == without[0] and published[1] != without[1]
    assert first[0] != without[0]


def test_dropout_is_on_in_training_only(folder, dropout_folder, pairs, tmp_path):
    tokens = tokens_of(pairs, dropout_folder, tmp_path)
    outcomes = [
        finetune(TruncatedEncoder.load(own, LAYER), tokens, SETTINGS, 0, CPU) for own in (folder, dropout_folder)
    ]
    assert outcomes[0].history[0]["loss"] != pytest.approx(outcomes[1].history[0]["loss"], abs=1e-6)
    encoder = TruncatedEncoder.load(dropout_folder, LAYER).train()
    objective = make_objective(SETTINGS, 32)
    scores = [evaluate(encoder, tokens, "test", objective, "float32", CPU)[1]["spearman"] for _ in range(2)]
    assert scores[0] == scores[1]


def test_the_first_best_validation_epoch_is_kept(folder, tokens):
    encoder = TruncatedEncoder.load(folder, LAYER)
    outcome = finetune(encoder, tokens, SETTINGS, 0, CPU)
    scores = [epoch["validation"]["spearman"] for epoch in outcome.history]
    assert outcome.best_epoch == 1 + int(np.argmax(scores))
    assert outcome.metrics["validation"]["spearman"] == max(scores)
    predictions, metrics = evaluate(encoder, tokens, "test", make_objective(SETTINGS, 32), "float32", CPU)
    assert metrics == outcome.metrics["test"]
    assert np.array_equal(predictions, outcome.predictions)


def test_selection_never_sees_the_test_split(folder, pairs, tmp_path):
    shuffled = pairs.copy()
    test = shuffled["split"] == "test"
    shuffled.loc[test, "label"] = shuffled.loc[test, "label"].to_numpy()[::-1]
    one, other = (
        finetune(TruncatedEncoder.load(folder, LAYER), tokens_of(own, folder, tmp_path), SETTINGS, 0, CPU)
        for own in (pairs, shuffled)
    )
    assert one.best_epoch == other.best_epoch
    assert one.metrics["validation"] == other.metrics["validation"]
    assert one.metrics["test"] != other.metrics["test"]


def test_scale_of_the_scores_does_not_matter(folder, pairs, tmp_path):
    scaled = pairs.assign(label=pairs["label"] / 5)
    one = finetune(TruncatedEncoder.load(folder, LAYER), tokens_of(pairs, folder, tmp_path), SETTINGS, 0, CPU)
    settings = SETTINGS | {"label_range": [0.0, 1.0]}
    other = finetune(TruncatedEncoder.load(folder, LAYER), tokens_of(scaled, folder, tmp_path), settings, 0, CPU)
    assert [epoch["loss"] for epoch in one.history] == pytest.approx(
        [epoch["loss"] for epoch in other.history], abs=1e-7
    )
    assert one.metrics["test"]["spearman"] == pytest.approx(other.metrics["test"]["spearman"], abs=1e-6)


def test_frozen_scores_are_those_of_each_truncated_encoder(folder, tokens):
    outcomes = evaluate_layers(TruncatedEncoder.load(folder, 4), tokens, SETTINGS, CPU)
    for layer, outcome in enumerate(outcomes):
        encoder = TruncatedEncoder.load(folder, layer)
        _, own = evaluate(encoder, tokens, "test", make_objective(SETTINGS, 32), "float32", CPU)
        assert outcome.metrics["test"] == pytest.approx(own, abs=1e-6)
    assert len(outcomes) == 5


def test_diverged_training_is_a_collapsed_result(folder, tokens):
    outcome = finetune(TruncatedEncoder.load(folder, LAYER), tokens, SETTINGS | {"learning_rate": 1e30}, 0, CPU)
    assert outcome.status == "collapsed" and outcome.metrics is None
    assert "loss of epoch 1 is" in outcome.reason


def test_constant_predictions_are_a_collapsed_result(folder, tokens):
    encoder = TruncatedEncoder.load(folder, 0)
    with torch.no_grad():
        encoder.model.embeddings.LayerNorm.weight.zero_()
    outcome = finetune(encoder, tokens, SETTINGS | {"learning_rate": 0.0}, 0, CPU)
    assert outcome.status == "collapsed" and outcome.metrics is None
    assert outcome.reason == "the predictions on validation are constant in every epoch"
    frozen = evaluate_layers(encoder, tokens, SETTINGS, CPU)
    assert frozen[0].status == "collapsed" and "constant" in frozen[0].reason


def test_every_weight_of_the_truncated_encoder_is_trained(folder, tokens):
    encoder = TruncatedEncoder.load(folder, LAYER)
    before = copy.deepcopy(weights(encoder))
    finetune(encoder, tokens, SETTINGS, 0, CPU)
    assert [name for name, value in weights(encoder).items() if torch.equal(value, before[name])] == []
