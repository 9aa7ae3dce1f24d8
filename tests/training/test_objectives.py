"""The objectives against scikit-learn, sentence-transformers and plain torch; thresholds; one-class predictions."""

import copy
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers.sentence_transformer import losses
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, precision_recall_curve
from tiny import tiny_encoder
from torch import nn
from training_runs import CPU, SETTINGS, make_pairs
from transformers import AutoTokenizer, get_linear_schedule_with_warmup

from tmft.datasets.tokens import Tokens, read_tokens, write_tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.experiment.configuration import METRICS
from tmft.training.loop import evaluate_layers, finetune, score
from tmft.training.metrics import accuracy, average_precision, best_threshold, f1, macro_f1
from tmft.training.objectives import OBJECTIVES, CosineLogit, DifferenceClassification

PARAPHRASE = SETTINGS | {"objective": "cosine_logit", "label_range": [0.0, 1.0]}
ENTAILMENT = SETTINGS | {"objective": "difference_classification", "label_range": [0.0, 2.0], "learning_rate": 3e-3}
MRPC_LIKE = np.repeat([1.0, 0.0], [1147, 578])


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tiny_encoder(
        "bert", tmp_path_factory.mktemp("bert"), hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )


def tokens_of(folder: Path, path: Path, classes: int, reverse_test: bool = False) -> Tokens:
    """Pairs that are alike (1) or not (0), or a third thing (2); the test labels in reverse order if asked for."""
    pairs = make_pairs({"train": 18, "validation": 24, "test": 24})
    pairs["label"] = np.random.default_rng(0).integers(0, classes, len(pairs)).astype(float)
    pairs["sentence2"] = pairs["sentence2"].where(pairs["label"] == 0, pairs["sentence1"] + " house")
    pairs["sentence2"] = pairs["sentence2"].where(pairs["label"] < 2, "not " + pairs["sentence1"] + " not")
    if reverse_test:
        test = pairs["split"] == "test"
        pairs.loc[test, "label"] = pairs.loc[test, "label"].to_numpy()[::-1]
    write_tokens(pairs, AutoTokenizer.from_pretrained(folder), 40, path)
    return read_tokens(path)


def rounded_scores(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores with ties, and labels that have something to do with them."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, 60).astype(float)
    return np.round(0.3 * labels + generator.uniform(-1, 0.7, 60), 1).astype(np.float32), labels


# Metrics


@pytest.mark.parametrize("seed", range(5))
def test_metrics_are_those_of_scikit_learn(seed):
    generator = np.random.default_rng(seed)
    classes, labels = generator.integers(0, 3, (2, 50)).astype(float)
    assert macro_f1(classes, labels, 3) == pytest.approx(f1_score(labels, classes, average="macro"))
    assert accuracy(classes, labels) == pytest.approx(accuracy_score(labels, classes))
    assert f1(classes == 1, labels == 1) == pytest.approx(f1_score(labels == 1, classes == 1))
    scores, labels = rounded_scores(seed)
    assert average_precision(classes, labels, 2, scores) == pytest.approx(average_precision_score(labels, scores))


def test_a_class_that_is_never_predicted_counts_as_zero():
    labels = np.array([0.0, 1.0, 2.0, 0.0])
    expected = f1_score(labels, np.zeros(4), average="macro", zero_division=0)
    assert macro_f1(np.zeros(4), labels, 3) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_no_threshold_has_a_better_f1(seed):
    scores, labels = rounded_scores(seed)
    threshold = best_threshold(scores, labels, lowest=-1.0)
    precision, recall, _ = precision_recall_curve(labels, scores)
    best = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-12))
    assert f1_score(labels, scores >= threshold) == pytest.approx(best)
    assert np.abs(scores - threshold).min() > 0.01, "a threshold between two scores does not hang on rounding"


def test_where_everything_positive_is_best_the_threshold_is_the_lowest_score_there_is():
    assert best_threshold(np.array([0.9, 0.1, 0.5]), np.array([0.0, 1.0, 1.0]), lowest=-1.0) == -1.0


def test_all_positive_baseline_of_mrpc():
    objective = CosineLogit((0.0, 1.0), 4)
    objective.threshold = 0.5
    constant = objective.metrics(np.ones(len(MRPC_LIKE)), MRPC_LIKE)
    assert objective.baseline(MRPC_LIKE) == {"f1": constant["f1"]}
    assert constant["f1"] == pytest.approx(0.799, abs=5e-4)
    assert constant["accuracy"] == pytest.approx(0.665, abs=5e-4)


def test_majority_baseline():
    labels = np.repeat([0.0, 1.0, 2.0], [2, 5, 3])
    expected = f1_score(labels, np.ones(10), average="macro", zero_division=0)
    assert DifferenceClassification((0.0, 2.0), 4).baseline(labels)["macro_f1"] == pytest.approx(expected)


# Losses


def test_paraphrase_loss_is_binary_cross_entropy_of_the_cosine():
    u, v = torch.randn(2, 7, 5)
    labels = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    objective = CosineLogit((0.0, 1.0), 5)
    cosine = (u * v).sum(1) / (u.norm(dim=1) * v.norm(dim=1))
    probability = 1 / (1 + torch.exp(-cosine))
    right = torch.where(torch.from_numpy(labels) == 1, probability, 1 - probability)
    loss = objective.loss(u, v, torch.from_numpy(objective.targets(labels)))
    torch.testing.assert_close(loss, -right.log().mean())


def test_entailment_loss_and_predictions_are_those_of_sentence_transformers():
    class Vectors(nn.Module):
        device = CPU

        def forward(self, features):
            return {"sentence_embedding": features["vectors"]}

        def get_embedding_dimension(self):
            return 5

    objective = DifferenceClassification((0.0, 2.0), 5)
    peer = losses.SoftmaxLoss(Vectors(), 5, 3)
    peer.classifier.load_state_dict(objective.output.state_dict())
    u, v = torch.randn(2, 7, 5)
    labels = np.array([0.0, 1.0, 2.0, 2.0, 1.0, 0.0, 0.0])
    sides = [{"vectors": u}, {"vectors": v}]
    loss = objective.loss(u, v, torch.from_numpy(objective.targets(labels)))
    torch.testing.assert_close(loss, peer(sides, torch.from_numpy(labels).long()))
    _, logits = peer(sides, None)
    assert torch.equal(objective.predict(u, v), logits.argmax(1))


# Runs


def test_entailment_training_is_that_of_a_plain_loop(folder, tmp_path):
    """The classifier follows from the seed and is trained with the encoder."""
    tokens = tokens_of(folder, tmp_path / "tokens.parquet", 3)
    outcome = finetune(TruncatedEncoder.load(folder, 2), tokens, ENTAILMENT, 3, CPU)

    encoder, train = TruncatedEncoder.load(folder, 2).train(), tokens.splits["train"]
    torch.manual_seed(3)
    classifier = nn.Linear(3 * 32, 3)
    untrained = copy.deepcopy(classifier.state_dict())
    parameters = [*encoder.parameters(), *classifier.parameters()]
    optimiser = torch.optim.AdamW(
        [
            {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.01},
            {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0},
        ],
        lr=3e-3,
    )
    schedule = get_linear_schedule_with_warmup(optimiser, 1, 15)
    shuffling = torch.Generator().manual_seed(3)
    for epoch in outcome.history:
        epoch_losses = []
        for batch in torch.randperm(18, generator=shuffling).split(4):
            u, v = (
                torch.cat([encoder(ids[None], torch.ones_like(ids)[None]) for ids in side])
                for side in ([torch.tensor(side[row]).long() for row in batch] for side in train.sides)
            )
            logits = classifier(torch.cat([u, v, torch.abs(u - v)], 1))
            loss = nn.functional.cross_entropy(logits, torch.from_numpy(train.labels[batch.numpy()]).long())
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            schedule.step()
            epoch_losses.append(loss.item())
        assert epoch["loss"] == pytest.approx(np.mean(epoch_losses), abs=1e-4)
    assert not any(torch.equal(value, untrained[name]) for name, value in classifier.state_dict().items())


def test_another_seed_draws_another_classifier(folder, tmp_path):
    tokens = tokens_of(folder, tmp_path / "tokens.parquet", 3)

    def first_loss(seed: int, disturbance: int) -> float:
        torch.manual_seed(disturbance)
        settings = ENTAILMENT | {"learning_rate": 0.0, "epochs": 1, "batch_size": 18}
        return finetune(TruncatedEncoder.load(folder, 1), tokens, settings, seed, CPU).history[0]["loss"]

    assert first_loss(0, 1) == first_loss(0, 2) != pytest.approx(first_loss(1, 1), abs=1e-3)


def test_threshold_of_the_best_epoch_is_applied_to_test(folder, tmp_path):
    tokens = tokens_of(folder, tmp_path / "tokens.parquet", 2)
    outcome = finetune(TruncatedEncoder.load(folder, 2), tokens, PARAPHRASE | {"epochs": 4}, 0, CPU)
    scores = [epoch["validation"]["f1"] for epoch in outcome.history if epoch["validation"]]
    assert outcome.metrics["validation"]["f1"] == max(scores)
    kept = outcome.history[outcome.best_epoch - 1]["validation"]
    assert outcome.metrics["validation"] == kept
    assert outcome.metrics["test"]["threshold"] == kept["threshold"]
    labels, decisions = tokens.splits["test"].labels, outcome.predictions >= kept["threshold"]
    assert outcome.metrics["test"]["f1"] == pytest.approx(f1_score(labels, decisions))
    assert outcome.metrics["test"]["accuracy"] == pytest.approx(accuracy_score(labels, decisions))
    expected = average_precision_score(labels, outcome.predictions)
    assert outcome.metrics["test"]["average_precision"] == pytest.approx(expected)


@pytest.mark.parametrize(("settings", "classes"), [(PARAPHRASE, 2), (ENTAILMENT, 3)])
def test_nothing_is_chosen_on_the_test_split(folder, tmp_path, settings, classes):
    one, other = (
        finetune(
            TruncatedEncoder.load(folder, 2),
            tokens_of(folder, tmp_path / "tokens.parquet", classes, reverse_test),
            settings,
            0,
            CPU,
        )
        for reverse_test in (False, True)
    )
    assert one.status == other.status == "complete"
    assert one.best_epoch == other.best_epoch
    assert one.metrics["validation"] == other.metrics["validation"]
    assert np.array_equal(one.predictions, other.predictions)
    assert one.metrics["test"] != other.metrics["test"]
    assert one.metrics["test"].get("threshold") == other.metrics["test"].get("threshold")


def test_each_layer_of_an_untouched_encoder_has_its_own_threshold(folder, tmp_path):
    tokens = tokens_of(folder, tmp_path / "tokens.parquet", 2)
    outcomes = evaluate_layers(TruncatedEncoder.load(folder, 3), tokens, PARAPHRASE, CPU)
    whole = [outcome.metrics for outcome in outcomes if outcome.metrics]
    assert len({metrics["test"]["threshold"] for metrics in whole}) == len(whole) > 1
    assert all(metrics["test"]["threshold"] == metrics["validation"]["threshold"] for metrics in whole)


@pytest.mark.parametrize(("settings", "classes"), [(PARAPHRASE, 2), (ENTAILMENT, 3)])
def test_one_class_throughout_is_a_collapsed_result(folder, tmp_path, settings, classes):
    tokens = tokens_of(folder, tmp_path / "tokens.parquet", classes)
    encoder = TruncatedEncoder.load(folder, 0)
    with torch.no_grad():
        encoder.model.embeddings.LayerNorm.weight.zero_()
    outcome = finetune(encoder, tokens, settings | {"learning_rate": 0.0}, 0, CPU)
    assert outcome.status == "collapsed" and outcome.metrics is None and outcome.predictions is None
    assert outcome.reason == "the predictions on validation are constant in every epoch"
    assert 0 < outcome.baseline[METRICS[settings["objective"]][0]] < 1


def test_a_threshold_that_calls_everything_positive_gives_no_score():
    objective = CosineLogit((0.0, 1.0), 4)
    cosines = np.array([0.9, 0.1, 0.5])
    assert score(objective, "validation", cosines, np.array([0.0, 1.0, 1.0])) is None
    assert score(objective, "validation", cosines, np.array([1.0, 0.0, 1.0]))["f1"] == 1
    assert score(objective, "test", np.array([0.8, 0.9, 1.0]), np.array([1.0, 0.0, 1.0])) is None
    assert score(objective, "test", np.array([0.8, 0.2, math.nan]), np.array([1.0, 0.0, 1.0])) is None


def test_the_metric_that_chooses_the_epoch_is_the_one_that_is_shown():
    chosen = {key: objective((0.0, 1.0), 4).selection for key, objective in OBJECTIVES.items()}
    assert chosen == {key: metrics[0] for key, metrics in METRICS.items()}
    assert list(chosen.values()) == ["spearman", "f1", "macro_f1"]
