"""Domain-adaptive pre-training: output layer, accumulation, protocols, and the encoder folder it ends in."""

import random
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from tiny import WORDS, tiny_encoder
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from tmft.encoders.fetching import load_tokenizer
from tmft.encoders.truncation import TruncatedEncoder
from tmft.experiment.configuration import PROTOCOLS
from tmft.pretraining import loop
from tmft.pretraining.adaptation import Adaptation, adapt
from tmft.pretraining.batches import Batches
from tmft.pretraining.corpus import tokenise
from tmft.pretraining.vocabulary import Vocabulary
from tmft.runtime.errors import InputError

CPU = torch.device("cpu")
SETTINGS = {
    "seed": 0,
    "epochs": 2,
    "batch_size": 4,
    "accumulation": 3,
    "mask_probability": 0.15,
    "mask_share": 0.8,
    "random_share": 0.1,
    "learning_rate": 1e-3,
    "warmup": 0.1,
    "weight_decay": 0.01,
    "betas": [0.9, 0.999],
    "epsilon": 1e-8,
} | PROTOCOLS["corrected"]
# Where transformers keeps the three parts of its output layer.
HEADS = {
    "bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
    "deberta-v2": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
    "electra": ("generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias"),
    "roberta": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """14 sentences: with 12 a step, each epoch ends with a step of 2."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    draw = random.Random(0)
    path.write_text("\n".join(" ".join(draw.choices(WORDS.split(), k=draw.randint(3, 9))) for _ in range(14)))
    return path


@pytest.fixture(scope="module", params=HEADS)
def folder(request, tmp_path_factory) -> Path:
    return tiny_encoder(request.param, tmp_path_factory.mktemp(request.param), 2, **NO_DROPOUT)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    return tiny_encoder("bert", tmp_path_factory.mktemp("bert"), 2, **NO_DROPOUT)


def adaptation(folder: Path) -> Adaptation:
    torch.manual_seed(0)
    return Adaptation(TruncatedEncoder.load(folder, 2).model)


def batches(folder: Path, corpus: Path, **changes) -> Batches:
    tokenizer = load_tokenizer(folder)
    settings = SETTINGS | {"batch_size": 12} | changes
    return Batches(tokenise(corpus, tokenizer, 38), Vocabulary.of(tokenizer), settings, seed=0)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """The weights in a folder but the biases of attention's keys, whose gradient is rounding only."""
    return {k: v for k, v in load_file(folder / "model.safetensors").items() if not k.endswith("key.bias")}


def test_loss_is_that_of_the_language_model_of_transformers(folder, corpus):
    objective, batch = adaptation(folder), batches(folder, corpus, mask_probability=0.5)[0]
    peer = AutoModelForMaskedLM.from_pretrained(folder).eval()
    dense, norm, bias = HEADS[peer.config.model_type]
    with torch.no_grad():
        objective.head.bias.normal_()
        objective.head.norm.weight.normal_()
        peer.get_submodule(dense).load_state_dict(objective.head.dense.state_dict())
        peer.get_submodule(norm).load_state_dict(objective.head.norm.state_dict())
        peer.get_parameter(bias).copy_(objective.head.bias)
    labels = torch.full_like(batch.ids, -100).flatten()
    labels[batch.masked] = batch.ids.flatten()[batch.masked]
    expected = peer(batch.masked_ids, attention_mask=batch.attention_mask, labels=labels.view_as(batch.ids)).loss
    loss, _ = objective(batch)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-4)


def test_accumulated_batches_are_one_large_batch(folder, corpus, tmp_path):
    """In the last step of an epoch too, which is not full."""
    adapted = []
    for name, sizes in (("parts", (4, 3)), ("whole", (12, 1)), ("single", (1, 12))):
        settings = SETTINGS | dict(zip(("batch_size", "accumulation"), sizes, strict=True))
        metrics = adapt(corpus, folder, tmp_path / name, settings, {}, CPU)
        assert metrics["settings"]["steps"] == 4
        adapted.append((weights(tmp_path / name), metrics["mlm_loss"]))
    for own, loss in adapted[1:]:
        assert loss == pytest.approx(adapted[0][1], rel=1e-4)
        for name, value in own.items():
            torch.testing.assert_close(value, adapted[0][0][name], atol=1e-4, rtol=0)
    start = weights(folder)
    assert any((value - start[name]).abs().max() > 1e-3 for name, value in adapted[0][0].items())


def test_gradient_of_a_partial_step_is_that_of_its_sentences_at_once(bert, corpus):
    partial = min((batches(bert, corpus)[step] for step in range(2)), key=lambda batch: len(batch.ids))
    assert len(partial.ids) == 2
    gradients = []
    for size in (1, 2):
        objective = adaptation(bert)
        loss, measures = loop.accumulate(objective, partial, size, "cpu")
        assert loss == measures["mlm_loss"]
        gradients.append([loss, *(p.grad for p in objective.parameters() if p.grad is not None)])
    whole = adaptation(bert)
    whole(partial)[0].backward()
    gradients.append([whole(partial)[0].detach(), *(p.grad for p in whole.parameters() if p.grad is not None)])
    for one, other in zip(gradients, gradients[1:], strict=False):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def test_what_is_handed_on_is_an_encoder_with_its_tokenizer(folder, corpus, tmp_path):
    origin = {"adaptation": "nli", "start": {"commit": None}}
    metrics = adapt(corpus, folder, tmp_path / "adapted", SETTINGS, origin, CPU)
    _, report = AutoModel.from_pretrained(tmp_path / "adapted", output_loading_info=True)
    assert not any("pooler" not in key for key in report["missing_keys"]) and not report["unexpected_keys"]
    TruncatedEncoder.load(tmp_path / "adapted", 1)
    ids = [
        AutoTokenizer.from_pretrained(own)("The cat sees 2 dogs.").input_ids for own in (folder, tmp_path / "adapted")
    ]
    assert ids[0] == ids[1]
    assert metrics["newly_initialised"] == [
        "head.bias",
        "head.dense.weight",
        "head.dense.bias",
        "head.norm.weight",
        "head.norm.bias",
    ]
    assert '"adaptation": "nli"' in (tmp_path / "adapted" / "provenance.json").read_text()


def test_output_layer_is_tied_to_the_embeddings_before_and_after(folder, corpus, tmp_path):
    objective = adaptation(folder)
    settings = SETTINGS | {"batch_size": 12, "steps": 3}
    loop.train(objective, batches(folder, corpus), settings, 0, "cpu")
    embeddings = objective.encoder.get_input_embeddings().weight
    assert objective.word_embeddings is embeddings
    start = AutoModel.from_pretrained(folder).get_input_embeddings().weight
    assert not torch.equal(embeddings, start)
    vectors = torch.randn(5, objective.encoder.config.hidden_size)
    with torch.no_grad():
        before = objective.head(vectors, objective.word_embeddings)
        embeddings[7] += 1
        changed = (objective.head(vectors, objective.word_embeddings) != before).any(0)
    assert changed.nonzero().flatten().tolist() == [7]


def test_published_protocol_trains_the_encoder_and_not_the_new_layer(bert, corpus):
    for protocol, trained in (("published", False), ("corrected", True)):
        objective = adaptation(bert)
        objective.head.requires_grad_(PROTOCOLS[protocol]["train_head"])
        before = {name: value.clone() for name, value in objective.state_dict().items()}
        settings = SETTINGS | PROTOCOLS[protocol] | {"batch_size": 12, "steps": 2}
        loop.train(objective, batches(bert, corpus, mask_probability=0.9), settings, 0, "cpu")
        for name, value in objective.state_dict().items():
            assert torch.equal(value, before[name]) != (trained or name.startswith("encoder")), name


def test_dropout_acts_only_where_the_settings_say_so(bert, corpus, tmp_path):
    """As published an encoder with dropout is adapted as one without; from the first step it is not."""
    dropout = {name: 0.3 for name in NO_DROPOUT}
    with_dropout = tiny_encoder("bert", tmp_path / "bert", 2, **dropout)
    torch.testing.assert_close(*(load_file(folder / "model.safetensors") for folder in (bert, with_dropout)))

    def adapted(folder: Path, setting: str) -> dict[str, torch.Tensor]:
        output = tmp_path / f"{folder.parent.name}-{setting}"
        adapt(corpus, folder, output, SETTINGS | {"dropout": setting}, {}, CPU)
        return load_file(output / "model.safetensors")

    published = adapted(with_dropout, "published")
    torch.testing.assert_close(published, adapted(bert, "published"))
    other = adapted(with_dropout, "from_the_first_step")
    assert any((published[name] - other[name]).abs().max() > 1e-3 for name in published)


def test_schedule_laid_out_for_batches_never_comes_down(bert, corpus, tmp_path, monkeypatch):
    factors, schedule = {}, loop.schedule
    monkeypatch.setattr(loop, "schedule", lambda *args: factors.setdefault(args[0], schedule(*args)))
    settings = SETTINGS | {"batch_size": 1, "accumulation": 7, "epochs": 10}
    adapt(corpus, bert, tmp_path / "published", settings | {"schedule": "batches"}, {}, CPU)
    assert list(factors.values()) == [schedule(step, 140, 0.1) for step in range(20)]
    assert factors[19] > 0.9
    factors.clear()
    adapt(corpus, bert, tmp_path / "corrected", settings, {}, CPU)
    assert list(factors.values()) == [schedule(step, 20, 0.1) for step in range(20)]
    assert factors[19] < 0.1


def test_gradient_is_clipped_unless_told_otherwise(bert, corpus, monkeypatch):
    norms, clip = [], torch.nn.utils.clip_grad_norm_

    def clip_and_look(parameters, limit):
        parameters = list(parameters)
        norm = clip(parameters, limit)
        norms.append((norm, torch.stack([p.grad.norm() for p in parameters if p.grad is not None]).norm()))
        return norm

    monkeypatch.setattr(loop.nn.utils, "clip_grad_norm_", clip_and_look)
    for clip_norm in (1e-3, None):
        settings = SETTINGS | {"batch_size": 12, "steps": 1, "clip_norm": clip_norm}
        loop.train(adaptation(bert), batches(bert, corpus), settings, 0, "cpu")
    (_, clipped), (before, free) = norms
    assert clipped.item() == pytest.approx(1e-3, rel=1e-2)
    assert free.item() == pytest.approx(before.item(), rel=1e-5) and free > 0.1


def test_spare_rows_of_the_vocabulary_stay_and_are_never_put_in(corpus, tmp_path):
    size = len(AutoTokenizer.from_pretrained(tiny_encoder("deberta-v2", tmp_path / "plain", 1)))
    folder = tiny_encoder("deberta-v2", tmp_path / "spare", 2, vocab_size=size + 14, **NO_DROPOUT)
    changes = {"mask_probability": 0.9, "mask_share": 0.1, "random_share": 0.9}
    masking = batches(folder, corpus, **changes)
    assert all((masking[step].masked_ids < size).all() for step in range(40))
    adapt(corpus, folder, tmp_path / "adapted", SETTINGS | changes, {}, CPU)
    assert AutoModel.from_pretrained(tmp_path / "adapted").get_input_embeddings().weight.shape[0] == size + 14


def test_special_tokens_and_padding_are_never_masked(folder, corpus):
    masking = batches(folder, corpus, mask_probability=1.0)
    vocabulary = masking.vocabulary
    for step in range(4):
        batch = masking[step]
        assert not torch.isin(batch.ids.flatten()[batch.masked], vocabulary.special).any()
        assert len(batch.masked) == len(batch.tokens) - 2 * len(batch.ids)


def test_encoder_learns_the_corpus(bert, tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("the cat sees a red house in the park\n" * 60)
    metrics = adapt(path, bert, tmp_path / "adapted", SETTINGS | {"epochs": 12, "learning_rate": 5e-3}, {}, CPU)
    assert metrics["mlm_loss"] < 0.5 * metrics["history"][0]["mlm_loss"]
    assert metrics["masked_share"] == pytest.approx(0.15, abs=0.03)


def test_empty_corpus_is_refused_by_name(bert, tmp_path):
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(InputError, match=r"empty\.txt"):
        adapt(tmp_path / "empty.txt", bert, tmp_path / "adapted", SETTINGS, {}, CPU)
    assert not (tmp_path / "adapted").exists()
