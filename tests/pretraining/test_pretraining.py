"""Pre-training from scratch: tokenizer, masks, batches, both objectives, and the encoder folders they end in."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from pretraining_runs import SETTINGS, sentences
from tiny import tiny_tokenizer
from torch.nn.functional import binary_cross_entropy_with_logits
from transformers import (
    AutoModel,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraForPreTraining,
)

from tmft.pretraining import encoders, forward, loop, masked_language_modelling, replaced_token_detection
from tmft.pretraining.batches import Batch, Batches
from tmft.pretraining.corpus import tokenise
from tmft.pretraining.masked_language_modelling import MaskedLanguageModelling
from tmft.pretraining.masking import mask
from tmft.pretraining.replaced_token_detection import ReplacedTokenDetection, auc, sample
from tmft.pretraining.vocabulary import Vocabulary, train_tokenizer
from tmft.runtime.errors import InputError


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(sentences(500)))
    return path


@pytest.fixture(scope="module")
def folder(corpus) -> Path:
    path = corpus.parent / "tokenizer"
    train_tokenizer(corpus, path, size=100, lower_case=True, max_length=16)
    return path


@pytest.fixture(scope="module")
def tokenizer(folder):
    return AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="module")
def vocabulary(tokenizer) -> Vocabulary:
    return Vocabulary.of(tokenizer)


@pytest.fixture(scope="module")
def batches(corpus, tokenizer, vocabulary) -> Batches:
    return Batches(tokenise(corpus, tokenizer, 16), vocabulary, SETTINGS, seed=0)


def bert(vocabulary: Vocabulary) -> MaskedLanguageModelling:
    torch.manual_seed(0)
    return MaskedLanguageModelling(BertForMaskedLM(BertConfig(**encoders.architecture(SETTINGS, vocabulary))))


def electra(vocabulary: Vocabulary, spare_rows: int = 0) -> ReplacedTokenDetection:
    """A fresh pair; its vocabulary has ``spare_rows`` more ids than the tokenizer."""
    torch.manual_seed(0)
    large = vocabulary._replace(size=vocabulary.size + spare_rows)
    narrow, wide = (
        ElectraConfig(embedding_size=16, **encoders.architecture(sizes, large))
        for sizes in (SETTINGS | SETTINGS["generator"], SETTINGS)
    )
    return ReplacedTokenDetection(
        ElectraForMaskedLM(narrow), ElectraForPreTraining(wide), vocabulary.ordinary, discriminator_weight=50.0
    )


def padded(batch: Batch, length: int, pad: int) -> Batch:
    """The same sentences and masks, padded to ``length``."""
    width = batch.ids.shape[1]

    def wider(tensor: torch.Tensor, value: int) -> torch.Tensor:
        return torch.nn.functional.pad(tensor, (0, length - width), value=value)

    def moved(positions: torch.Tensor) -> torch.Tensor:
        return positions // width * length + positions % width

    return Batch(
        wider(batch.ids, pad),
        wider(batch.masked_ids, pad),
        wider(batch.attention_mask, 0),
        moved(batch.tokens),
        moved(batch.maskable),
        moved(batch.masked),
    )


def pretrain_electra(corpus: Path, folder: Path, output: Path, seed: int = 0, **changes) -> dict:
    settings = SETTINGS | {"mask_share": 0.85, "random_share": 0.0} | changes
    return replaced_token_detection.pretrain(
        corpus, folder, output / "generator", output / "discriminator", settings, seed, "cpu"
    )


def pretrain_bert(corpus: Path, folder: Path, output: Path, seed: int = 0, **changes) -> dict:
    return masked_language_modelling.pretrain(corpus, folder, output / "bert", SETTINGS | changes, seed, "cpu")


# The tokenizer


def test_tokenizer_is_a_bert_tokenizer_of_the_corpus(tokenizer):
    assert tokenizer("The cat SLEEPS indoors").tokens() == ["[CLS]", "the", "cat", "sleeps", "indoors", "[SEP]"]
    assert tokenizer("cats").tokens()[1] != "[UNK]"
    assert tokenizer.model_max_length == 16
    assert len(tokenizer) <= 100


def test_tokenizer_keeps_case_when_told(tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("Anna anna Anna anna\n" * 9)
    train_tokenizer(corpus, tmp_path / "cased", 50, lower_case=False, max_length=16)
    cased = AutoTokenizer.from_pretrained(tmp_path / "cased")
    assert cased("Anna anna").tokens() == ["[CLS]", "Anna", "anna", "[SEP]"]


def test_tokenizer_is_the_same_in_another_process(corpus, folder, tmp_path):
    code = "import sys; from pathlib import Path; from tmft.pretraining.vocabulary import train_tokenizer; "
    code += "train_tokenizer(Path(sys.argv[1]), Path(sys.argv[2]), 100, True, 16)"
    environment = {"PYTHONPATH": str(Path(loop.__file__).parents[2])}
    subprocess.run([sys.executable, "-c", code, corpus, tmp_path / "again"], check=True, env=environment)
    assert (tmp_path / "again" / "tokenizer.json").read_bytes() == (folder / "tokenizer.json").read_bytes()


def test_vocabulary_smaller_than_the_alphabet_is_refused(corpus, tmp_path):
    with pytest.raises(InputError, match=r"corpus\.txt.*not 10"):
        train_tokenizer(corpus, tmp_path / "small", 10, lower_case=True, max_length=16)


# The corpus and its batches


@pytest.mark.parametrize("text", ["", "\n  \n\t\n"])
def test_empty_corpus_is_refused_by_name(tmp_path, folder, text):
    empty = tmp_path / "empty.txt"
    empty.write_text(text)
    with pytest.raises(InputError, match=r"empty\.txt"):
        train_tokenizer(empty, tmp_path / "tokenizer", 100, lower_case=True, max_length=16)
    with pytest.raises(InputError, match=r"empty\.txt"):
        pretrain_bert(empty, folder, tmp_path)


def test_long_sentences_are_cut_and_counted_and_blank_lines_are_skipped(tmp_path, tokenizer):
    path = tmp_path / "corpus.txt"
    path.write_text("the cat sleeps\n\n  \n" + "the cat sleeps " * 9 + "\nan owl hoots\n")
    corpus = tokenise(path, tokenizer, 8)
    assert corpus.lengths.tolist() == [5, 8, 5]
    assert corpus.truncated == 1
    long = corpus.tokens[corpus.starts[1] :][:8].tolist()
    assert tokenizer.decode(long) == "[CLS] the cat sleeps the cat sleeps [SEP]"


def test_each_epoch_shows_each_sentence_once_in_a_new_order(batches, tokenizer):
    def epoch(number: int) -> list[str]:
        steps = range(number * len(batches), (number + 1) * len(batches))
        return [tokenizer.decode(ids, skip_special_tokens=True) for step in steps for ids in batches[step].ids]

    assert sorted(epoch(0)) == sorted(epoch(1)) == sorted(sentences(500))
    assert epoch(0) != epoch(1)


def test_batches_hold_sentences_of_similar_length(batches):
    masks = [batches[step].attention_mask for step in range(len(batches))]
    assert sum(map(torch.sum, masks)) > 0.9 * sum(map(torch.numel, masks))
    lengths = [mask.shape[1] for mask in masks]
    assert lengths != sorted(lengths)


def test_a_batch_does_not_depend_on_those_drawn_before(batches):
    again = Batches(batches.corpus, batches.vocabulary, SETTINGS, seed=0)
    step = 2 * len(batches) + 3
    assert all(map(torch.equal, again[step], batches[step]))
    other = Batches(batches.corpus, batches.vocabulary, SETTINGS, seed=1)
    assert not torch.equal(other[step].ids, batches[step].ids)


def test_three_short_lines_make_a_run(tmp_path, folder):
    path = tmp_path / "corpus.txt"
    path.write_text("the cat sleeps\nan owl hoots\na fish")
    metrics = pretrain_electra(path, folder, tmp_path, batch_size=32)
    assert metrics["sentences"] == 3
    assert metrics["tokens_seen"] == SETTINGS["steps"] * (5 + 5 + 4)


# Masks


@pytest.mark.parametrize("probability, mask_share, random_share", [(0.5, 0.8, 0.1), (0.15, 0.85, 0.0)])
def test_realised_shares_are_those_asked_for(vocabulary, probability, mask_share, random_share):
    # One ordinary token throughout: a random token equals it once in len(ordinary) times.
    ids = torch.full((100, 1000), int(vocabulary.ordinary[0]))
    settings = {"mask_probability": probability, "mask_share": mask_share, "random_share": random_share}
    seen, chosen = mask(ids, vocabulary, settings, torch.Generator().manual_seed(0))
    assert chosen.float().mean().item() == pytest.approx(probability, abs=0.01)
    assert (seen == vocabulary.mask).sum() / chosen.sum() == pytest.approx(mask_share, abs=0.02)
    changed = (seen != ids) & (seen != vocabulary.mask)
    visible = 1 - 1 / len(vocabulary.ordinary)
    assert changed.sum() / chosen.sum() == pytest.approx(random_share * visible, abs=0.02)
    assert not (changed & ~chosen).any()


def test_special_tokens_are_neither_masked_nor_put_in(batches, vocabulary):
    settings = SETTINGS | {"mask_probability": 0.9, "mask_share": 0.1, "random_share": 0.9}
    masking = Batches(batches.corpus, vocabulary, settings, seed=0)
    for step in range(len(masking)):
        batch = masking[step]
        special = torch.isin(batch.ids, vocabulary.special).flatten()
        assert special[: batch.ids.shape[1]][0]  # [CLS]
        assert not special[batch.masked].any()
        put_in = batch.masked_ids[(batch.masked_ids != batch.ids) & (batch.masked_ids != vocabulary.mask)]
        assert len(put_in) > 0
        assert not torch.isin(put_in, vocabulary.special).any()
        assert (put_in < vocabulary.size).all()


def test_special_words_in_the_text_are_not_masked(tmp_path, folder):
    path = tmp_path / "corpus.txt"
    path.write_text("[MASK] [SEP] [PAD] [UNK] ☃\n" * 5)
    metrics = pretrain_bert(path, folder, tmp_path, mask_probability=1.0)
    assert metrics["masked_share"] == 0
    assert metrics["mlm_loss"] == 0


def test_shares_beyond_the_whole_are_refused(corpus, folder, tmp_path):
    with pytest.raises(InputError, match="mask_share"):
        pretrain_bert(corpus, folder, tmp_path, mask_share=0.8, random_share=0.3)


# The objectives


def test_mlm_loss_is_that_of_the_full_output_layer(batches, vocabulary):
    objective, batch = bert(vocabulary), batches[0]
    labels = torch.full_like(batch.ids, -100).flatten()
    labels[batch.masked] = batch.ids.flatten()[batch.masked]
    full = objective.model(batch.masked_ids, attention_mask=batch.attention_mask, labels=labels.view_as(batch.ids))
    loss, measures = objective(batch)
    assert loss.item() == pytest.approx(full.loss.item(), rel=1e-5)
    assert measures["mlm_loss"].item() == loss.item()


def test_electra_losses_are_those_of_the_full_models(batches, vocabulary):
    objective, batch = electra(vocabulary), batches[0]
    labels = torch.full_like(batch.ids, -100).flatten()
    labels[batch.masked] = batch.ids.flatten()[batch.masked]
    generator = objective.generator(
        batch.masked_ids, attention_mask=batch.attention_mask, labels=labels.view_as(batch.ids)
    )
    torch.manual_seed(1)
    replacements = sample(generator.logits.flatten(0, 1)[batch.masked], vocabulary.ordinary)
    corrupted = batch.ids.clone()
    corrupted.view(-1)[batch.masked] = replacements
    discriminator = objective.discriminator(
        corrupted, attention_mask=batch.attention_mask, labels=(corrupted != batch.ids).long()
    )
    torch.manual_seed(1)
    loss, measures = objective(batch)
    assert measures["generator_loss"].item() == pytest.approx(generator.loss.item(), rel=1e-5)
    assert measures["discriminator_loss"].item() == pytest.approx(discriminator.loss.item(), rel=1e-5)
    assert loss.item() == pytest.approx(generator.loss.item() + 50 * discriminator.loss.item(), rel=1e-5)
    assert measures["loss"].item() == loss.item()
    differing = (corrupted != batch.ids).sum() / batch.attention_mask.sum()
    assert measures["replaced_share"].item() == pytest.approx(differing.item())


def test_padding_does_not_count(batches, vocabulary):
    batch = next(batch for batch in map(batches.__getitem__, itertools.count()) if batch.ids.shape[1] <= 8)
    for objective in (bert(vocabulary), electra(vocabulary)):
        results = []
        for length in (8, 16):
            torch.manual_seed(1)
            _, measures = objective(padded(batch, length, vocabulary.pad))
            results.append([measure.item() for measure in measures.values()])
        assert results[0] == pytest.approx(results[1], rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_vectors_and_gradients_are_those_of_the_whole_padded_encoder(batches, vocabulary, dropout):
    objective = electra(vocabulary)
    batch = next(batch for batch in map(batches.__getitem__, itertools.count()) if not batch.attention_mask.all())
    for encoder in (bert(vocabulary).model.bert, objective.generator.electra, objective.discriminator.electra):
        encoder.eval()  # whatever the dropout is, it is off
        for module in encoder.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = dropout
        for positions in (batch.tokens, batch.masked):
            padded = encoder(batch.masked_ids, attention_mask=batch.attention_mask).last_hidden_state
            expected = padded.flatten(0, 1)[positions]
            found = forward.vectors(encoder, batch.masked_ids, batch, positions)
            assert torch.allclose(found, expected, atol=1e-5)
            weight = encoder.encoder.layer[0].attention.self.key.weight
            gradients = [torch.autograd.grad(some.square().sum(), weight)[0] for some in (found, expected)]
            assert torch.allclose(*gradients, atol=1e-3)


def test_dropout_acts_in_training_only(batches, vocabulary):
    encoder, batch = bert(vocabulary).model.bert, batches[0]
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.5
    training = [forward.vectors(encoder.train(), batch.ids, batch, batch.tokens) for _ in range(2)]
    evaluated = [forward.vectors(encoder.eval(), batch.ids, batch, batch.tokens) for _ in range(2)]
    assert not torch.allclose(*training)
    assert torch.equal(*evaluated)


def test_special_tokens_are_scored_by_the_discriminator(batches, vocabulary):
    batch = batches[0]
    assert torch.equal(batch.tokens, batch.attention_mask.flatten().nonzero().squeeze(1))
    assert (batch.ids.flatten()[batch.tokens] != vocabulary.pad).all()
    scores = electra(vocabulary).discriminator_scores(batch.ids, batch)
    assert len(scores) == len(batch.maskable) + 2 * len(batch.ids)


def test_one_step_changes_both_top_layers(batches, vocabulary):
    objective = electra(vocabulary)
    models = (objective.generator.electra, objective.discriminator.electra)
    before = [model.encoder.layer[-1].output.dense.weight.clone() for model in models]
    metrics = loop.train(objective, batches, SETTINGS | {"steps": 1}, 0, "cpu")
    assert not any(map(torch.equal, before, [model.encoder.layer[-1].output.dense.weight for model in models]))
    assert metrics["loss"] == pytest.approx(metrics["generator_loss"] + 50 * metrics["discriminator_loss"], rel=1e-5)


def test_generator_and_discriminator_share_one_embedding(batches, vocabulary):
    objective = electra(vocabulary)
    loop.train(objective, batches, SETTINGS, 0, "cpu")
    generator, discriminator = objective.generator, objective.discriminator
    for name, parameter in generator.electra.embeddings.named_parameters():
        assert discriminator.electra.embeddings.get_parameter(name) is parameter
    assert generator.generator_lm_head.weight is generator.electra.embeddings.word_embeddings.weight
    assert generator.electra.embeddings_project is not discriminator.electra.embeddings_project
    optimised = [p for group in loop.adamw(objective, SETTINGS).param_groups for p in group["params"]]
    assert len(optimised) == len({p.data_ptr() for p in optimised}) == len(list(objective.parameters()))


def test_discriminator_loss_does_not_reach_the_generator(batches, vocabulary):
    objective = electra(vocabulary)
    _, measures = objective(batches[0])
    measures["discriminator_loss"].backward()
    shared = {id(parameter) for parameter in objective.discriminator.parameters()}
    own = [parameter for parameter in objective.generator.parameters() if id(parameter) not in shared]
    assert len(own) > 30
    assert all(parameter.grad is None for parameter in own)
    assert objective.generator.electra.embeddings.word_embeddings.weight.grad is not None


def test_replacements_are_sampled(vocabulary):
    logits = torch.randn(200, vocabulary.size)

    def drawn(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return sample(logits, vocabulary.ordinary)

    assert torch.equal(drawn(0), drawn(0))
    assert not torch.equal(drawn(0), drawn(1))
    frequencies = sample(torch.tensor([[0.0, 1.0, 2.0]]).expand(20_000, 3), torch.arange(3)).bincount() / 20_000
    assert torch.allclose(frequencies, torch.tensor([0.0, 1.0, 2.0]).softmax(0), atol=0.02)
    half = sample(torch.full((5, 3), 6e4, dtype=torch.float16), torch.arange(3))
    assert (half < 3).all()


def test_rows_without_a_token_are_never_drawn(batches, vocabulary):
    objective, batch = electra(vocabulary, spare_rows=30), batches[0]
    with torch.no_grad():
        objective.generator.generator_lm_head.bias[vocabulary.size :] = 50.0
        objective.generator.generator_lm_head.bias[vocabulary.special] = 50.0
    logits = objective.generator_logits(batch)
    assert (logits.argmax(1) >= vocabulary.size).any()
    for _ in range(20):
        assert torch.isin(sample(logits, objective.candidates), vocabulary.ordinary).all()


def test_a_lucky_sample_counts_as_original(tmp_path, tokenizer, vocabulary):
    path = tmp_path / "corpus.txt"
    path.write_text("cat cat cat cat cat cat\n" * 8)
    batch = Batches(tokenise(path, tokenizer, 16), vocabulary, SETTINGS | {"mask_probability": 0.5}, seed=0)[0]
    objective = electra(vocabulary)
    with torch.no_grad():
        objective.generator.generator_lm_head.bias[tokenizer.convert_tokens_to_ids("cat")] = 50.0
    _, measures = objective(batch)
    scores = objective.discriminator_scores(batch.ids, batch)
    assert measures["replaced_share"].item() == 0
    expected = binary_cross_entropy_with_logits(scores, torch.zeros_like(scores))
    assert measures["discriminator_loss"].item() == pytest.approx(expected.item(), rel=1e-5)
    assert measures["recall"].isnan() and measures["auc"].isnan()


def test_auc_is_the_share_of_pairs_in_order():
    torch.manual_seed(0)
    scores, positive = torch.randint(8, (200,)).float(), torch.rand(200) < 0.2
    pairs = [(high > low) + (high == low) / 2 for high in scores[positive] for low in scores[~positive]]
    assert auc(scores, positive).item() == pytest.approx(torch.stack(pairs).mean().item())


# The loop


@pytest.mark.parametrize("warmup", [0.0, 0.1, 1.0])
def test_learning_rate_rises_then_falls_to_zero(warmup):
    factors = [loop.schedule(step, 100, warmup) for step in range(101)]
    peak = factors.index(1.0)
    assert peak == max(0, round(100 * warmup) - 1)
    assert factors[: peak + 1] == sorted(factors[: peak + 1])
    assert factors[peak:] == sorted(factors[peak:], reverse=True)
    assert min(factors[:100]) > 0
    assert factors[100] == 0


def test_random_numbers_of_a_step_do_not_depend_on_earlier_steps(batches):
    class Draws(torch.nn.Linear):
        def forward(self, batch):
            first, *_ = torch.rand(self.in_features)
            return self.weight.sum(), {"first": first}

    def first_draws(draws: int) -> list[float]:
        return [point["first"] for point in loop.train(Draws(draws, 1), batches, SETTINGS, 0, "cpu")["history"]]

    assert first_draws(1) == first_draws(2)
    assert len(set(first_draws(1))) == SETTINGS["steps"]


def test_biases_and_norms_do_not_decay(vocabulary):
    objective = electra(vocabulary)
    decay = {
        id(p): group["weight_decay"] for group in loop.adamw(objective, SETTINGS).param_groups for p in group["params"]
    }
    for name, parameter in objective.named_parameters():
        exempt = name.endswith("bias") or "LayerNorm" in name
        assert decay[id(parameter)] == (0.0 if exempt else SETTINGS["weight_decay"])


def test_divergence_stops_with_the_remedy(batches, vocabulary):
    with pytest.raises(InputError, match=r"diverged by step .* lower learning_rate"):
        loop.train(bert(vocabulary), batches, SETTINGS | {"learning_rate": 1e30}, 0, "cpu")


@pytest.mark.parametrize(
    "changes", [{"attention_heads": 5}, {"generator": SETTINGS["generator"] | {"hidden_size": 25}}]
)
def test_heads_that_do_not_divide_the_hidden_size_are_refused(corpus, folder, tmp_path, changes):
    with pytest.raises(InputError, match=r"hidden_size.*attention_heads"):
        pretrain_electra(corpus, folder, tmp_path, **changes)


def test_tokenizer_without_mask_token_is_refused(corpus, tmp_path):
    tokenizer = tiny_tokenizer("bert")
    tokenizer.mask_token = None
    tokenizer.save_pretrained(tmp_path / "maskless")
    with pytest.raises(InputError, match=r"maskless.*mask"):
        pretrain_bert(corpus, tmp_path / "maskless", tmp_path)


# From corpus to encoder folders


def load(folder: Path, **arguments) -> torch.nn.Module:
    model, report = AutoModel.from_pretrained(folder, output_loading_info=True, **arguments)
    assert not any(report.values())
    assert AutoTokenizer.from_pretrained(folder)("the cat").tokens() == ["[CLS]", "the", "cat", "[SEP]"]
    return model


def test_bert_ends_as_an_encoder_folder(corpus, folder, tmp_path):
    metrics = pretrain_bert(corpus, folder, tmp_path)
    assert load(tmp_path / "bert", add_pooling_layer=False).config.num_hidden_layers == 2
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    assert metrics["settings"] == SETTINGS
    assert metrics["sentences_truncated"] == 0
    assert 0 < metrics["masked_share"] < 1
    assert [point["steps"] for point in metrics["history"]] == [1, 2, 3]
    assert metrics["mlm_loss"] == metrics["history"][-1]["mlm_loss"] > 0


def test_electra_ends_as_two_encoder_folders(corpus, folder, tmp_path):
    metrics = pretrain_electra(corpus, folder, tmp_path)
    generator, discriminator = load(tmp_path / "generator"), load(tmp_path / "discriminator")
    assert generator.config.hidden_size == 24
    assert discriminator.config.hidden_size == 32
    untrained = electra(Vocabulary.of(AutoTokenizer.from_pretrained(folder))).generator.electra.embeddings.state_dict()
    for name, trained in discriminator.embeddings.state_dict().items():
        assert torch.equal(trained, generator.embeddings.state_dict()[name])
        assert not torch.equal(trained, untrained[name])
    assert discriminator.embeddings_project.out_features == 32
    assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
    for name in ("loss", "generator_loss", "discriminator_loss", "replaced_share", "recall", "auc"):
        assert isinstance(metrics[name], float)


def test_the_same_seed_gives_the_same_bytes(corpus, folder, tmp_path):
    def weights(name: str, seed: int) -> list[bytes]:
        pretrain_bert(corpus, folder, tmp_path / name, seed, dropout=0.1)
        pretrain_electra(corpus, folder, tmp_path / name, seed, dropout=0.1)
        parts = ("bert", "generator", "discriminator")
        return [(tmp_path / name / part / "model.safetensors").read_bytes() for part in parts]

    first = weights("first", 0)
    assert weights("second", 0) == first
    assert not any(a == b for a, b in zip(weights("third", 1), first, strict=True))


def test_snapshots_are_the_encoders_on_the_way(corpus, folder, tmp_path):
    """They change nothing: the run ends in the same bytes. The one at the last step is the encoder itself."""
    plain = {"bert": pretrain_bert, "electra": pretrain_electra}
    for name, pretrain in plain.items():
        pretrain(corpus, folder, tmp_path / f"{name}-plain", dropout=0.1)
        metrics = pretrain(corpus, folder, tmp_path / name, dropout=0.1, snapshots=[1, 3])
        assert [point["steps"] for point in metrics["snapshots"]] == [1, 3]
        assert 0 < metrics["snapshots"][0]["flops"] < metrics["snapshots"][1]["flops"] == metrics["flops"]
    for name, part in (("bert", "bert"), ("electra", "generator"), ("electra", "discriminator")):
        end, first, last, undisturbed = (
            (tmp_path / path / "model.safetensors").read_bytes()
            for path in (
                f"{name}/{part}",
                f"{name}/{part}-step1.finished",
                f"{name}/{part}-step3.finished",
                f"{name}-plain/{part}",
            )
        )
        assert undisturbed == end == last != first
        load(tmp_path / name / f"{part}-step1.finished", **({"add_pooling_layer": False} if part == "bert" else {}))
        provenance = json.loads((tmp_path / name / f"{part}-step1.finished" / "provenance.json").read_text())
        assert provenance["source"]["step"] == 1 and len(provenance["sha256"]) == 64


def test_a_snapshot_is_what_its_step_left(corpus, folder, tmp_path, vocabulary, tokenizer):
    """Against a loop that is stopped there: step 1 of 3 has nothing of the steps after it."""
    pretrain_bert(corpus, folder, tmp_path, snapshots=[1])
    objective = bert(vocabulary)
    batches = Batches(tokenise(corpus, tokenizer, 16), vocabulary, SETTINGS, seed=0)
    torch.manual_seed(loop.derived_seed(0, "model", 0))
    optimiser = loop.adamw(objective, SETTINGS)
    objective(batches[0])[0].backward()
    torch.nn.utils.clip_grad_norm_(objective.parameters(), SETTINGS["clip_norm"])
    for group in optimiser.param_groups:
        group["lr"] = SETTINGS["learning_rate"] * loop.schedule(0, 3, SETTINGS["warmup"])
    optimiser.step()
    kept = load(tmp_path / "bert-step1.finished", add_pooling_layer=False).state_dict()
    for name, value in kept.items():
        torch.testing.assert_close(value, objective.model.bert.state_dict()[name])


def test_both_objectives_learn(corpus, folder, tmp_path):
    bert = pretrain_bert(corpus, folder, tmp_path, steps=150)
    assert bert["mlm_loss"] < 0.5 * bert["history"][0]["mlm_loss"]
    pair = pretrain_electra(corpus, folder, tmp_path, steps=250)
    assert pair["generator_loss"] < 0.5 * pair["history"][0]["generator_loss"]
    assert pair["discriminator_loss"] < 0.5 * pair["history"][0]["discriminator_loss"]
    assert pair["auc"] > 0.7
