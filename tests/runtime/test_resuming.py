"""Runs that are killed, again and again, and go on: nothing half is left, and the end is that of an undisturbed run."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from pretraining_runs import SETTINGS as PRETRAINING
from pretraining_runs import sentences
from tiny import tiny_encoder
from training_runs import SETTINGS, make_pairs
from transformers import AutoTokenizer

from tmft.datasets.tokens import Tokens, read_tokens, write_tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.pretraining import adaptation, masked_language_modelling, replaced_token_detection
from tmft.pretraining.vocabulary import train_tokenizer
from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_file, atomic_folder, checkpoint_file, read_json, write_json
from tmft.runtime.resuming import Checkpoint
from tmft.training import loop as training
from tmft.training.records import predictions_file
from tmft.training.run import Runs

CPU = torch.device("cpu")
UNITS = [(2, 0), (1, 1)]
EPOCHS = 5


def killed(work: Callable[[], None], seconds: float) -> bool:
    """Do ``work`` in a process of its own and kill that after some seconds; whether it was killed before its end."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def persist(work: Callable[[], None], check: Callable[[], None], longest: float) -> int:
    """Do ``work`` until it gets to its end, killed after longer and longer times; how often it was killed."""
    draw, kills = random.Random(0), 0
    while killed(work, longest * (kills + 1) / 10 * draw.random()):
        kills += 1
        check()
    return kills


# --- fine-tuning


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tiny_encoder("bert", tmp_path_factory.mktemp("bert"))
    write_json(folder / "provenance.json", {"source": {"path": "x"}, "commit": None, "sha256": "0"})
    return folder


@pytest.fixture(scope="module")
def tokens_file(folder, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("tokens") / "tokens.parquet"
    pairs = make_pairs({"train": 44, "validation": 12, "test": 12})
    write_tokens(pairs, AutoTokenizer.from_pretrained(folder), 40, path)
    return path


@pytest.fixture(scope="module")
def tokens(tokens_file) -> Tokens:
    return read_tokens(tokens_file)


def finetuning(folder: Path, tokens: Path, output: Path) -> tuple[Callable[[], None], list[Path]]:
    """What a job with two runs does, and its results."""
    outputs = {(layer, seed): output / f"layer{layer}" / f"seed{seed}.json" for layer, seed in UNITS}
    settings = SETTINGS | {"epochs": EPOCHS, "start": "pretrained"}
    names = {"task": "t", "recipe": "r", "encoder": "e"}

    def work() -> None:
        runs = Runs(names, tokens, settings, "code", CPU, checkpoint_minutes=0)
        runs.finetune_in_turn(dict.fromkeys(UNITS, folder), list(outputs.values()))

    return work, list(outputs.values())


def without_clock(result: Path) -> dict:
    content = read_json(result)
    for epoch in content["history"]:
        del epoch["seconds"], epoch["evaluation_seconds"]
    return {key: value for key, value in content.items() if key not in ("cost", "environment")}


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_killed_job_goes_on_to_the_same_results(folder, tokens_file, tmp_path, capfd):
    undisturbed, expected = finetuning(folder, tokens_file, tmp_path / "undisturbed")
    started = time.perf_counter()
    undisturbed()
    seconds = time.perf_counter() - started
    work, results = finetuning(folder, tokens_file, tmp_path / "killed")

    def check() -> None:
        for result in results:
            assert not result.exists() or without_clock(result)["status"] == "complete"

    assert persist(work, check, 2 * seconds) > 1
    assert "the run goes on from here" in capfd.readouterr().out
    for result, other in zip(results, expected, strict=True):
        assert without_clock(result) == without_clock(other)
        assert predictions_file(result).read_bytes() == predictions_file(other).read_bytes()
        assert read_json(result)["cost"]["seconds"] >= sum(epoch["seconds"] for epoch in read_json(result)["history"])
    left = [name for name in files(tmp_path / "killed") if not name.endswith(".partial")]
    assert left == files(tmp_path / "undisturbed")


class Stopped(Exception):
    """What ends a run after its checkpoint."""


class Stopping(Checkpoint):
    """A checkpoint that ends the run once it was written so many times."""

    def __init__(self, result: Path, writes: int, **identity: str) -> None:
        super().__init__(result, identity, minutes=0)
        self.writes = writes

    def save(self, state: dict) -> None:
        super().save(state)
        self.writes -= 1
        if not self.writes:
            raise Stopped


def run(folder: Path, tokens: Tokens, checkpoint: Checkpoint | None, **changes) -> training.Outcome:
    settings = SETTINGS | {"epochs": EPOCHS} | changes
    return training.finetune(TruncatedEncoder.load(folder, 2), tokens, settings, 0, CPU, checkpoint)


def found(outcome: training.Outcome) -> tuple:
    history = [{key: value for key, value in epoch.items() if "seconds" not in key} for epoch in outcome.history]
    return history, outcome.metrics, outcome.best_epoch, outcome.predictions.tolist()


@pytest.fixture(scope="module")
def undisturbed(folder, tokens) -> training.Outcome:
    return run(folder, tokens, None)


@pytest.mark.parametrize("epoch", [1, EPOCHS - 1])
def test_a_stopped_run_repeats_no_epoch(folder, tokens, undisturbed, tmp_path, epoch):
    with pytest.raises(Stopped):
        run(folder, tokens, Stopping(tmp_path / "seed0.json", writes=epoch))
    checkpoint = Stopping(tmp_path / "seed0.json", writes=EPOCHS)
    assert found(run(folder, tokens, checkpoint)) == found(undisturbed)
    assert checkpoint.writes == EPOCHS - (EPOCHS - 1 - epoch)


def test_a_checkpoint_of_another_run_is_not_used(folder, tokens, undisturbed, tmp_path, capsys):
    with pytest.raises(Stopped):
        run(folder, tokens, Stopping(tmp_path / "seed0.json", writes=2, code="old"), learning_rate=1e-2)
    checkpoint = Stopping(tmp_path / "seed0.json", writes=EPOCHS, code="new")
    assert found(run(folder, tokens, checkpoint)) == found(undisturbed)
    assert "of a run with other settings, inputs or code, not used" in capsys.readouterr().out


def test_a_damaged_checkpoint_is_not_used(folder, tokens, undisturbed, tmp_path, capsys):
    """Cut short, or with a byte changed anywhere: it is told, or what was changed does not matter."""
    result, draw = tmp_path / "seed0.json", random.Random(0)
    with pytest.raises(Stopped):
        run(folder, tokens, Stopping(result, writes=EPOCHS - 1))
    whole = checkpoint_file(result).read_bytes()
    intact = Checkpoint(result, {}, 0).load()
    used = 0
    for place in [0, 10, *(draw.randrange(len(whole)) for _ in range(20))]:
        changed = bytes([whole[place] ^ 255])
        for damaged in (whole[:place], whole[:place] + changed + whole[place + 1 :]):
            checkpoint_file(result).write_bytes(damaged)
            state = Checkpoint(result, {}, 0).load()
            assert state is None or str(state) == str(intact)
            used += state is not None
    assert used < 5 and "damaged, not used" in capsys.readouterr().out
    checkpoint_file(result).write_bytes(whole[: len(whole) // 2])
    assert found(run(folder, tokens, Checkpoint(result, {}, 0))) == found(undisturbed)


def test_a_checkpoint_that_holds_code_is_not_used(tmp_path):
    path, touched = tmp_path / "seed0.json", tmp_path / "touched"

    class Harmful:
        def __reduce__(self) -> tuple:
            return os.mkdir, (str(touched),)

    torch.save({"identity": {}, "state": Harmful()}, checkpoint_file(path))
    assert Checkpoint(path, {}, 0).load() is None and not touched.exists()


def test_checkpoints_are_as_far_apart_as_told(tmp_path):
    assert not Checkpoint(tmp_path / "seed0.json", {}, minutes=60).due
    often = Checkpoint(tmp_path / "seed0.json", {}, minutes=0.001)
    time.sleep(0.06)
    assert often.due
    often.save({})
    assert not often.due


# --- out of GPU memory


@pytest.fixture(scope="module")
def plain_folder(tmp_path_factory) -> Path:
    """Without dropout, whose random numbers depend on the parts."""
    folder = tmp_path_factory.mktemp("plain")
    return tiny_encoder("bert", folder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


@pytest.mark.parametrize("objective", ["cosine_regression", "cosine_logit", "difference_classification"])
def test_less_memory_changes_rounding_only(plain_folder, tokens, monkeypatch, capsys, objective):
    """Memory ends in the first batch, then in the second part of another; the parts of 7 pairs are not alike."""
    changes = {"objective": objective, "batch_size": 7, "epochs": 2}
    expected = run(plain_folder, tokens, None, **changes)
    encode_pairs, calls = training.encode_pairs, []

    def short_of_memory(encoder, pairs, rows, *rest):
        calls.append(len(rows))
        if len(rows) > 4 or len(calls) == 9:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return encode_pairs(encoder, pairs, rows, *rest)

    monkeypatch.setattr(training, "encode_pairs", short_of_memory)
    outcome = run(plain_folder, tokens, None, **changes)
    assert expected.micro_batch_size == 7 and outcome.micro_batch_size == 2
    assert "2 pairs at a time from here on" in capsys.readouterr().out
    for one, other in zip(outcome.history, expected.history, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)


def test_memory_for_less_than_one_pair_fails(folder, tokens, monkeypatch):
    def no_memory(*_):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(training, "encode_pairs", no_memory)
    with pytest.raises(torch.OutOfMemoryError):
        run(folder, tokens, None)


def test_a_run_that_goes_on_keeps_its_parts(plain_folder, tokens, monkeypatch, tmp_path):
    encode_pairs = training.encode_pairs

    def short_of_memory(encoder, pairs, rows, *rest):
        if len(rows) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return encode_pairs(encoder, pairs, rows, *rest)

    with monkeypatch.context() as patched, pytest.raises(Stopped):
        patched.setattr(training, "encode_pairs", short_of_memory)
        run(plain_folder, tokens, Stopping(tmp_path / "seed0.json", writes=2))
    assert run(plain_folder, tokens, Stopping(tmp_path / "seed0.json", writes=EPOCHS)).micro_batch_size == 1


# --- pre-training


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(sentences(200)))
    return path


@pytest.fixture(scope="module")
def tokenizer(corpus) -> Path:
    train_tokenizer(corpus, corpus.parent / "tokenizer", size=100, lower_case=True, max_length=16)
    return corpus.parent / "tokenizer"


STEPS = 30
SNAPSHOTS = [7, 20]


def mlm(corpus: Path, tokenizer: Path, output: Path, checkpoint: Checkpoint | None) -> dict:
    settings = PRETRAINING | {"steps": STEPS, "snapshots": SNAPSHOTS, "dropout": 0.1}
    return masked_language_modelling.pretrain(corpus, tokenizer, output / "encoder", settings, 0, CPU, checkpoint)


def rtd(corpus: Path, tokenizer: Path, output: Path, checkpoint: Checkpoint | None) -> dict:
    settings = PRETRAINING | {"steps": STEPS, "snapshots": SNAPSHOTS, "dropout": 0.1}
    folders = output / "generator", output / "discriminator"
    return replaced_token_detection.pretrain(corpus, tokenizer, *folders, settings, 0, CPU, checkpoint)


def dapt(corpus: Path, tokenizer: Path, output: Path, checkpoint: Checkpoint | None) -> dict:
    """From the encoder that ``mlm`` makes."""
    start, settings = output.parent / "start", PRETRAINING | {"seed": 0, "epochs": 2, "accumulation": 1}
    if not start.exists():
        mlm(corpus, tokenizer, start, None)
    settings |= {"train_head": True, "schedule": "steps"}
    return adaptation.adapt(corpus, start / "encoder", output / "encoder", settings, {}, CPU, checkpoint)


def pretrained(pretrain: Callable[..., dict], corpus: Path, tokenizer: Path, output: Path) -> Callable[[], None]:
    """What a job does."""

    def work() -> None:
        checkpoint = Checkpoint(output / "metrics.json", {}, minutes=0)
        write_json(output / "metrics.json", pretrain(corpus, tokenizer, output, checkpoint))
        checkpoint.remove()

    return work


@pytest.mark.parametrize("pretrain", [mlm, rtd, dapt])
def test_a_killed_pre_training_goes_on_to_the_same_bytes(corpus, tokenizer, tmp_path, capfd, pretrain):
    started = time.perf_counter()
    pretrained(pretrain, corpus, tokenizer, tmp_path / "undisturbed")()
    seconds = time.perf_counter() - started
    output = tmp_path / "killed"
    work = pretrained(pretrain, corpus, tokenizer, output)

    def check() -> None:
        assert not (output / "metrics.json").exists() or read_json(output / "metrics.json")

    assert persist(work, check, 2 * seconds) > 1
    assert "the run goes on from here" in capfd.readouterr().out
    names = [name for name in files(output) if ".partial" not in name]
    assert names == files(tmp_path / "undisturbed") and any(name.endswith("model.safetensors") for name in names)
    for name in names:
        if name == "metrics.json":
            killed_metrics, metrics = read_json(output / name), read_json(tmp_path / "undisturbed" / name)
            assert killed_metrics | {"seconds": 0} == metrics | {"seconds": 0}
        else:
            assert (output / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes(), name


def test_a_stopped_pre_training_repeats_no_step(corpus, tokenizer, tmp_path, monkeypatch):
    with pytest.raises(Stopped):
        mlm(corpus, tokenizer, tmp_path, Stopping(tmp_path / "metrics.json", writes=11))
    asked = []
    batches = masked_language_modelling.Batches
    draw = batches.__getitem__
    monkeypatch.setattr(batches, "__getitem__", lambda self, step: asked.append(step) or draw(self, step))
    mlm(corpus, tokenizer, tmp_path, Checkpoint(tmp_path / "metrics.json", {}, minutes=60))
    assert asked == list(range(11, STEPS))


# --- disks


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_full_disk_is_named_and_leaves_the_old_content(small_disk, kind):
    path = small_disk / "value"

    def write(content: bytes) -> None:
        with (atomic_file if kind == "file" else atomic_folder)(path) as partial:
            (partial if kind == "file" else partial / "weights").write_bytes(content)

    write(b"old")
    with pytest.raises(InputError, match=rf"^{path}: no space left on device; free some and run the same command"):
        write(bytes(2**21))
    assert (path if kind == "file" else path / "weights").read_bytes() == b"old"
    assert list(small_disk.iterdir()) == [path]


def test_a_checkpoint_on_a_full_disk_is_named(small_disk):
    with pytest.raises(InputError, match="seed0.json.checkpoint: no space left on device"):
        Checkpoint(small_disk / "seed0.json", {}, 0).save({"weights": torch.zeros(2**20)})
    assert list(small_disk.iterdir()) == []


def test_an_encoder_on_a_full_disk_is_named(corpus, tokenizer, small_disk):
    with pytest.raises(InputError, match="no space left on device"):
        masked_language_modelling.pretrain(
            corpus, tokenizer, small_disk / "bert", PRETRAINING | {"hidden_size": 256, "steps": 1}, 0, CPU
        )


@pytest.mark.parametrize("kind", [atomic_file, atomic_folder])
def test_a_read_only_disk_is_named_and_leaves_the_old_content(small_disk, kind):
    write_json(small_disk / "old.json", [1])
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for path in (small_disk / "old.json", small_disk / "new" / "folder"):
        with pytest.raises(InputError, match=rf"^{path}: read-only file system; make it writable"), kind(path):
            pytest.fail("the body must not run")
    assert read_json(small_disk / "old.json") == [1]


@pytest.mark.parametrize("kind", [atomic_file, atomic_folder])
def test_two_writers_of_one_path_do_not_meet(tmp_path, kind):
    """A job that outlives its Snakemake, and the one that Snakemake starts again."""
    path = tmp_path / "value"
    with kind(path) as first, kind(path) as second:
        assert first != second
        for number, partial in enumerate((first, second)):
            (partial if kind is atomic_file else partial / "weights").write_text(str(number))
    assert (path if kind is atomic_file else path / "weights").read_text() == "0"
    assert list(tmp_path.iterdir()) == [path]
