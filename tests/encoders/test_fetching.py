"""Fetching encoders: from folders and packages made here, and from a stand-in for the hub on the loopback device."""

import errno
import hashlib
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from hub_stand_in import Hub
from pipeline_runs import ROOT
from safetensors.torch import load_file, save_file
from tiny import tiny_encoder
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoModelForPreTraining, AutoTokenizer

from tmft.encoders.fetching import fetch_encoder
from tmft.encoders.truncation import FAMILIES
from tmft.experiment import schema
from tmft.runtime.errors import InputError
from tmft.runtime.files import read_json

SENTENCES = ["A man plays in the park.", "two  dogs, not 3", "naïve\tＡ½", ""]
SCRIPTS = ROOT / "workflow" / "scripts"


def refused(source: dict[str, Any], folder: Path, depth: int = 4) -> str:
    """The one line with which the source is refused; checks that nothing is left behind."""
    with pytest.raises(InputError) as failure:
        fetch_encoder(source, folder, depth)
    message = str(failure.value)
    assert "\n" not in message
    assert not folder.exists() and not folder.with_name(f"{folder.name}.partial").exists()
    return message


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def with_head(folder: Path, auto_class: Any, dtype: torch.dtype = torch.float32) -> dict[str, torch.Tensor]:
    """Turn an encoder folder into the checkpoint of a model with a head; return all its weights."""
    torch.manual_seed(0)
    model = auto_class.from_config(AutoConfig.from_pretrained(folder)).to(dtype)
    model.save_pretrained(folder)
    return model.state_dict()


def pickled(folder: Path, content: Any = None, **options: Any) -> Path:
    """Replace the safetensors of an encoder folder by a pickle of the same weights, or of something else."""
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights if content is None else content, folder / "pytorch_model.bin", **options)
    return folder / "pytorch_model.bin"


# --- what comes out


@pytest.mark.parametrize("family", FAMILIES)
def test_folder_holds_the_same_encoder(family: str, tmp_path: Path) -> None:
    source = tiny_encoder(family, tmp_path / "source")
    fetch_encoder({"path": str(source)}, tmp_path / "fetched", 4)
    original = AutoModel.from_pretrained(source, dtype=torch.float32).state_dict()
    fetched = load_file(tmp_path / "fetched" / "model.safetensors")
    assert fetched.keys() == {name for name in original if not name.startswith("pooler.")}
    assert all(torch.equal(tensor, original[name]) for name, tensor in fetched.items())

    before, after = (AutoTokenizer.from_pretrained(folder) for folder in (source, tmp_path / "fetched"))
    assert after(SENTENCES).data == before(SENTENCES).data
    assert after.special_tokens_map == before.special_tokens_map
    assert after.model_max_length == before.model_max_length


@pytest.mark.parametrize(
    ("family", "auto_class", "head"),
    [
        ("electra", AutoModelForPreTraining, "discriminator_predictions."),
        ("electra", AutoModelForMaskedLM, "generator_predictions."),
        ("bert", AutoModelForMaskedLM, "cls."),
        ("modernbert", AutoModelForMaskedLM, "decoder."),
    ],
)
def test_head_is_dropped_and_half_becomes_single(family: str, auto_class: Any, head: str, tmp_path: Path) -> None:
    source = tiny_encoder(family, tmp_path / "source")
    whole = with_head(source, auto_class, torch.float16)
    assert any(name.startswith(head) for name in whole)
    fetch_encoder({"path": str(source)}, tmp_path / "fetched", 4)
    prefix = f"{AutoModel.from_pretrained(source).base_model_prefix}."
    expected = {name.removeprefix(prefix): tensor for name, tensor in whole.items() if name.startswith(prefix)}
    fetched = load_file(tmp_path / "fetched" / "model.safetensors")
    assert fetched.keys() == {name for name in expected if not name.startswith("pooler.")}
    assert all(torch.equal(tensor, expected[name].float()) for name, tensor in fetched.items())
    assert all(tensor.dtype == torch.float32 for tensor in fetched.values())
    config = read_json(tmp_path / "fetched" / "config.json")
    assert config["dtype"] == "float32"
    assert config["architectures"] == [type(AutoModel.from_pretrained(source)).__name__]


@pytest.mark.parametrize("zipped", [True, False])
def test_pickle_becomes_safetensors(zipped: bool, tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    expected = load_file(source / "model.safetensors")
    pickled(source, _use_new_zipfile_serialization=zipped)
    fetch_encoder({"path": str(source)}, tmp_path / "fetched", 4)
    fetched = load_file(tmp_path / "fetched" / "model.safetensors")
    assert all(torch.equal(tensor, expected[name]) for name, tensor in fetched.items())
    assert not (tmp_path / "fetched" / "pytorch_model.bin").exists()


def test_norms_under_their_old_names(tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    expected = load_file(source / "model.safetensors")
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    pattern = re.compile("|".join(map(re.escape, old)))
    pickled(source, {f"bert.{pattern.sub(lambda found: old[found[0]], name)}": expected[name] for name in expected})
    fetch_encoder({"path": str(source)}, tmp_path / "fetched", 4)
    fetched = load_file(tmp_path / "fetched" / "model.safetensors")
    assert all(torch.equal(tensor, expected[name]) for name, tensor in fetched.items())


def test_provenance(tmp_path: Path) -> None:
    source = tiny_encoder("electra", tmp_path / "source")
    (source / "README.md").write_text("no part of the encoder")
    provenance = fetch_encoder({"path": str(source)}, tmp_path / "one", 4)
    assert provenance == read_json(tmp_path / "one" / "provenance.json")
    assert provenance["source"] == {"path": str(source)}
    assert provenance["commit"] is None
    assert provenance["versions"]["torch"].startswith(torch.__version__.split("+")[0])
    files = {file.name: sha256(file) for file in (tmp_path / "one").iterdir() if file.name != "provenance.json"}
    assert provenance["files"] == files
    assert files.keys() == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}

    (source / "README.md").write_text("still no part of it")
    assert fetch_encoder({"path": str(source)}, tmp_path / "two", 4) == provenance
    weights = load_file(source / "model.safetensors")
    weights["embeddings.word_embeddings.weight"] += 1
    save_file(weights, source / "model.safetensors", {"format": "pt"})
    assert fetch_encoder({"path": str(source)}, tmp_path / "two", 4)["sha256"] != provenance["sha256"]


def test_family_is_named_where_the_source_does_not(tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    settings = read_json(source / "config.json")
    del settings["model_type"]
    (source / "config.json").write_text(json.dumps(settings))
    assert "`family`" in refused({"path": str(source)}, tmp_path / "fetched")
    provenance = fetch_encoder({"path": str(source), "family": "bert"}, tmp_path / "fetched", 4)
    assert read_json(tmp_path / "fetched" / "config.json")["model_type"] == "bert"
    assert "model_type" not in read_json(source / "config.json")
    stored, original = (load_file(folder / "model.safetensors") for folder in (tmp_path / "fetched", source))
    assert all(torch.equal(value, original[name]) for name, value in stored.items())
    other = fetch_encoder({"path": str(source), "family": "bert"}, tmp_path / "again", 4)
    assert other["sha256"] == provenance["sha256"]


def test_schema_knows_the_families() -> None:
    encoder = schema.read()["properties"]["encoders"]["additionalProperties"]["properties"]
    assert set(encoder["family"]["enum"]) == set(FAMILIES)


def test_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for name, family in (("toy_encoder", "bert"), ("toy_notes", None)):
        files = [tmp_path / f"{name}-1.0.dist-info" / "METADATA"]
        files[0].parent.mkdir()
        files[0].write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.0\n")
        if family:
            pooling = tmp_path / name / "model" / "1_Pooling" / "config.json"
            pooling.parent.mkdir(parents=True)
            pooling.write_text("{}")
            files += [pooling, *tiny_encoder(family, tmp_path / name / "model").glob("*.*")]
        record = "".join(f"{file.relative_to(tmp_path)},,\n" for file in files)
        (tmp_path / f"{name}-1.0.dist-info" / "RECORD").write_text(record)

    by_package = fetch_encoder({"package": "toy-encoder"}, tmp_path / "fetched", 4)
    by_path = fetch_encoder({"path": str(tmp_path / "toy_encoder" / "model")}, tmp_path / "also_fetched", 4)
    assert by_package["sha256"] == by_path["sha256"]
    assert by_package["files"] == by_path["files"]
    assert "toy-notes: the package holds no encoder" in refused({"package": "toy-notes"}, tmp_path / "none")
    assert "toy-nothing: no such package" in refused({"package": "toy-nothing"}, tmp_path / "none")


def sentencepiece_model(folder: Path, normalisation: str) -> Path:
    """Train a SentencePiece model with DeBERTa's special tokens on a few lines."""
    lines = [
        f"the {who} {does} {what}."
        for who in ("cat", "bird", "old man")
        for does in ("sees", "finds", "likes")
        for what in ("it", "us", "a ball")
    ]
    (folder / "lines.txt").write_text("\n".join(lines))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "lines.txt"),
        model_prefix=str(folder / "spm"),
        vocab_size=24,
        normalization_rule_name=normalisation,
        pad_id=0,
        bos_id=1,
        eos_id=2,
        unk_id=3,
        pad_piece="[PAD]",
        bos_piece="[CLS]",
        eos_piece="[SEP]",
        unk_piece="[UNK]",
        minloglevel=2,
    )
    return folder / "spm.model"


ODD = ["the ｃａｔ ﬁnds it…", " two  spaces ", "New\tline\nno\u00a0break", "a\u0012b\u00ad☃", "cafe\u0301 café"]


@pytest.mark.parametrize(("normalisation", "odd"), [("nmt_nfkc", [*SENTENCES, *ODD]), ("identity", [])])
def test_deberta_with_nothing_but_a_sentencepiece_model(normalisation: str, odd: list[str], tmp_path: Path) -> None:
    source = tiny_encoder("deberta-v2", tmp_path / "source")
    for file in source.glob("tokenizer*"):
        file.unlink()
    sentencepiece_model(tmp_path, normalisation).rename(source / "spm.model")
    (source / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False, "vocab_type": "spm"}))
    fetch_encoder({"path": str(source)}, tmp_path / "fetched", 4)

    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "fetched")
    reference = sentencepiece.SentencePieceProcessor(model_file=str(source / "spm.model"))
    for sentence in ["the old man sees us.", "a bird finds the ball", *odd]:
        ids = tokenizer(sentence)["input_ids"]
        assert ids == [tokenizer.cls_token_id, *reference.encode(sentence), tokenizer.sep_token_id], sentence
    assert tokenizer.mask_token_id == reference.vocab_size()
    assert (tokenizer.pad_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id) == (0, 1, 2)


# --- what is refused


def test_missing_folder(tmp_path: Path) -> None:
    assert str(tmp_path / "nowhere") in refused({"path": str(tmp_path / "nowhere")}, tmp_path / "fetched")


def test_another_depth(tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source", layers=6)
    assert "has 6 layers, the config says 12" in refused({"path": str(source)}, tmp_path / "fetched", 12)


def test_no_tokenizer(tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    (source / "tokenizer.json").unlink()
    message = refused({"path": str(source)}, tmp_path / "fetched")
    assert f"{source}: no tokenizer" in message


def test_missing_tensor_is_named(tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    weights = load_file(source / "model.safetensors")
    del weights["encoder.layer.2.output.dense.weight"]
    save_file(weights, source / "model.safetensors", {"format": "pt"})
    assert "encoder.layer.2.output.dense.weight" in refused({"path": str(source)}, tmp_path / "fetched")


@pytest.mark.parametrize("share", [0, 0.001, 0.5, 0.99])
@pytest.mark.parametrize("form", ["safetensors", "zipped pickle", "plain pickle"])
def test_truncated_weights(form: str, share: float, tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    weights = source / "model.safetensors"
    if form != "safetensors":
        weights = pickled(source, _use_new_zipfile_serialization=form == "zipped pickle")
    os.truncate(weights, int(share * weights.stat().st_size))
    assert str(source) in refused({"path": str(source)}, tmp_path / "fetched")


class Malice:
    """Something that touches a file when it is unpickled without care."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.target,)


def test_pickle_with_code_is_refused(tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    file = pickled(source, {"embeddings.word_embeddings.weight": Malice(tmp_path / "touched")})
    assert str(source) in refused({"path": str(source)}, tmp_path / "fetched")
    assert not (tmp_path / "touched").exists()
    torch.load(file, weights_only=False)
    assert (tmp_path / "touched").exists()


@pytest.mark.parametrize("model_type", ["toy", "bert"])
def test_code_of_a_checkpoint_never_runs(model_type: str, tmp_path: Path) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    for name, settings in (("config", {"model_type": model_type}), ("tokenizer_config", {})):
        file = source / f"{name}.json"
        code = {"AutoConfig": "toy.Toy", "AutoModel": "toy.Toy", "AutoTokenizer": [None, "toy.Toy"]}
        file.write_text(json.dumps(read_json(file) | settings | {"auto_map": code}))
    (source / "toy.py").write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'touched')!r}).touch()\nToy = None\n")
    if model_type == "bert":
        fetch_encoder({"path": str(source)}, tmp_path / "fetched", 4)
    else:
        assert "toy" in refused({"path": str(source)}, tmp_path / "fetched")
    assert not (tmp_path / "touched").exists()


def test_no_space_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = tiny_encoder("bert", tmp_path / "source")
    monkeypatch.setattr(Path, "write_bytes", full)
    assert "no space left" in refused({"path": str(source)}, tmp_path / "fetched")


# --- the hub


FETCH_ALL = """
import json, sys
from pathlib import Path
from tmft.encoders.fetching import fetch_encoder
from tmft.runtime.errors import InputError
for source, folder in json.loads(sys.argv[1]):
    try:
        print(json.dumps(fetch_encoder(source, Path(folder), 4)))
    except InputError as error:
        print(json.dumps(str(error)))
"""


def fetch_all(url: str, home: Path, *jobs: tuple[dict[str, Any], Path], **variables: str) -> list[Any]:
    """Fetch in a process that takes ``url`` for the hub: provenance, or the line it was refused with, of each job."""
    settings = variables | {
        "HF_ENDPOINT": url,
        "HF_HOME": str(home),
        "PYTHONPATH": str(SCRIPTS),
        "OMP_NUM_THREADS": "1",
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    arguments = json.dumps([(source, str(folder)) for source, folder in jobs])
    done = subprocess.run(
        [sys.executable, "-c", FETCH_ALL, arguments],
        env=environment | settings,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_hub(hub: Hub, tmp_path: Path) -> None:
    older, newer, other, absent = ("1" * 40, "2" * 40, "3" * 40, "4" * 40)
    hub.models["org/whole"] = {
        older: tiny_encoder("bert", tmp_path / "older"),
        newer: tiny_encoder("electra", tmp_path / "newer"),
    }
    for folder in hub.models["org/whole"].values():
        (folder / "pytorch_model.bin").write_bytes(b"not needed")
    hub.models["org/pickled"] = {other: tiny_encoder("bert", tmp_path / "other")}
    pickled(tmp_path / "other")

    pinned, newest, from_pickle, no_model, no_revision = fetch_all(
        hub.url,
        tmp_path / "home",
        ({"hub": "org/whole", "revision": older}, tmp_path / "pinned"),
        ({"hub": "org/whole", "revision": newer}, tmp_path / "newest"),
        ({"hub": "org/pickled", "revision": other}, tmp_path / "from_pickle"),
        ({"hub": "org/nothing", "revision": other}, tmp_path / "none"),
        ({"hub": "org/whole", "revision": absent}, tmp_path / "none"),
    )
    assert (pinned["commit"], newest["commit"], from_pickle["commit"]) == (older, newer, other)
    assert pinned["source"] == {"hub": "org/whole", "revision": older}
    for provenance, folder, source in (
        (pinned, "pinned", "older"),
        (newest, "newest", "newer"),
        (from_pickle, "from_pickle", "other"),
    ):
        local = fetch_encoder({"path": str(tmp_path / source)}, tmp_path / "local", 4)
        assert provenance["files"] == local["files"]
        assert provenance["sha256"] == local["sha256"]
        assert read_json(tmp_path / folder / "provenance.json") == provenance

    files = [path for path in hub.asked if "/resolve/" in path]
    assert {path.split("/")[4] for path in files} == {older, newer, other}
    assert {path.split("/")[2] for path in files if path.endswith("pytorch_model.bin")} == {"pickled"}
    assert not [path for path in hub.asked if "main" in path]

    assert "org/nothing: the hub has no such model" in no_model
    assert f"org/whole: the hub has no revision {absent}" in no_revision
    assert all("\n" not in line and "`path`" in line for line in (no_model, no_revision))
    assert not (tmp_path / "none").exists()

    unreachable = "http://127.0.0.1:9"
    cached, refused_line = fetch_all(
        unreachable,
        tmp_path / "home",
        ({"hub": "org/whole", "revision": older}, tmp_path / "cached"),
        ({"hub": "org/other", "revision": other}, tmp_path / "none"),
    )
    assert cached == pinned
    assert "org/other: the hub does not provide it" in refused_line
    assert "\n" not in refused_line and "`path`" in refused_line
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_is_not_the_commits_is_refused_and_fetched_again(hub: Hub, name: str, tmp_path: Path) -> None:
    hub.models["org/model"] = {"1" * 40: tiny_encoder("bert", tmp_path / "source")}
    hub.damaged = name
    job = {"hub": "org/model", "revision": "1" * 40}, tmp_path / "fetched"
    (line,) = fetch_all(hub.url, tmp_path / "home", job)
    assert f"org/model: {name} is not the file of commit {'1' * 40}" in line and "\n" not in line
    assert not (tmp_path / "fetched").exists()
    hub.damaged = None
    (provenance,) = fetch_all(hub.url, tmp_path / "home", job)
    assert provenance["commit"] == "1" * 40


def in_shards(folder: Path) -> Path:
    """Save the weights of an encoder folder again in several files."""
    model = AutoModel.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="20KB")
    assert len(list(folder.glob("model-*.safetensors"))) > 1
    return folder


COMMIT = "1" * 40
WARM_UP = (
    "import sys; from huggingface_hub import snapshot_download; snapshot_download('org/model', revision=sys.argv[1])"
)


@pytest.mark.parametrize(("kind", "symlinks"), [("one file", False), ("shards", True), ("pickle", False)])
def test_a_cache_of_the_library_itself_is_taken_and_checked(
    hub: Hub, kind: str, symlinks: bool, tmp_path: Path
) -> None:
    source = tiny_encoder("bert", tmp_path / "source")
    (source / "1_Pooling").mkdir()
    (source / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (source / "README.md").write_text("a sentence-transformers model")
    {"one file": lambda _: None, "shards": in_shards, "pickle": pickled}[kind](source)
    hub.models["org/model"] = {COMMIT: source}
    home, job = tmp_path / "home", {"hub": "org/model", "revision": COMMIT}
    variables = {} if symlinks else {"HF_HUB_DISABLE_SYMLINKS": "1"}
    environment = os.environ | variables | {"HF_ENDPOINT": hub.url, "HF_HOME": str(home)}
    subprocess.run([sys.executable, "-c", WARM_UP, COMMIT], env=environment, check=True)
    (provenance,) = fetch_all(hub.url, home, (job, tmp_path / "fetched"), **variables)
    local = fetch_encoder({"path": str(source)}, tmp_path / "local", 4)
    assert (provenance["files"], provenance["sha256"]) == (local["files"], local["sha256"])

    weights = next(home.rglob("snapshots/*/*-00002-of-*" if kind == "shards" else "snapshots/*/*[ln].*[ns]"))
    content = weights.resolve()
    content.chmod(0o644)
    content.write_bytes(content.read_bytes()[:-1] + b"x")
    line, again = fetch_all(hub.url, home, (job, tmp_path / "none"), (job, tmp_path / "again"), **variables)
    assert f"org/model: {weights.name} is not the file of commit {COMMIT}" in line
    assert again["files"] == provenance["files"]


def test_a_gated_model_is_refused_with_what_to_do(hub: Hub, tmp_path: Path) -> None:
    hub.models["org/model"] = {COMMIT: tiny_encoder("bert", tmp_path / "source")}
    hub.gated.add("org/model")
    (line,) = fetch_all(hub.url, tmp_path / "home", ({"hub": "org/model", "revision": COMMIT}, tmp_path / "none"))
    assert "org/model" in line and "accept" in line and "HF_TOKEN" in line and "\n" not in line


# --- encoders that load but are not what they say


def with_settings(folder: Path, **settings: Any) -> Path:
    config = read_json(folder / "config.json") | settings
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def with_tensors(folder: Path, rename: Callable[[str], str] = str, **tensors: torch.Tensor) -> Path:
    weights = {rename(name): tensor for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(weights | tensors, folder / "model.safetensors", {"format": "pt"})
    return folder


def encoder(folder: Path) -> dict[str, str]:
    return {"path": str(folder)}


@pytest.mark.parametrize("kind", ["relative_key", "relative_key_query"])
def test_relative_positions_of_another_version_are_refused(kind: str, tmp_path: Path) -> None:
    name = "encoder.layer.0.attention.self.distance_embedding.weight"
    folder = with_tensors(tiny_encoder("bert", tmp_path / "source"), **{name: torch.randn(79, 8)})
    assert f"does not use the tensor {name}" in refused(encoder(folder), tmp_path / "out")
    with_settings(folder, position_embedding_type=kind)
    assert f"ignores position_embedding_type ('{kind}')" in refused(encoder(folder), tmp_path / "out")


@pytest.mark.parametrize(
    "name",
    [
        "encoder.layer.1.attention.self.query.lora_A.weight",
        "encoder.layer.4.output.dense.weight",
        "embeddings.language_embeddings.weight",
        "adapter.weight",
    ],
)
def test_a_tensor_that_nothing_uses_is_refused_by_name(name: str, tmp_path: Path) -> None:
    folder = with_tensors(tiny_encoder("bert", tmp_path / "source"), **{name: torch.randn(8, 8)})
    message = refused(encoder(folder), tmp_path / "out")
    assert name in message or "the weights hold 5 layers" in message


@pytest.mark.parametrize("key", ["use_rotary", "layer_scale", "num_experts", "rescale_embeddings"])
def test_a_setting_that_this_version_does_not_read_is_refused_by_name(key: str, tmp_path: Path) -> None:
    folder = with_settings(tiny_encoder("electra", tmp_path / "source"), **{key: True})
    assert f"ignores {key} (True)" in refused(encoder(folder), tmp_path / "out")


USUAL = {
    "_name_or_path": "x",
    "architectures": ["X"],
    "directionality": "bidi",
    "gradient_checkpointing": False,
    "output_past": True,
    "pooler_fc_size": 768,
    "position_embedding_type": "absolute",
    "summary_type": "first",
    "torch_dtype": "float32",
    "transformers_version": "4.10.0",
    "use_cache": True,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_what_configs_usually_carry_is_taken(family: str, tmp_path: Path) -> None:
    folder = with_settings(tiny_encoder(family, tmp_path / "source"), **USUAL)
    extra = {"embeddings.position_ids": torch.arange(40), "classifier.weight": torch.randn(2, 32)}
    fetch_encoder(encoder(with_tensors(folder, **extra)), tmp_path / "out", 4)


def test_tokens_beyond_the_embedding_table_are_named(tmp_path: Path) -> None:
    folder = tiny_encoder("bert", tmp_path / "source")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    rows = len(tokenizer)
    tokenizer.add_tokens(["covid", "zoom"])
    tokenizer.save_pretrained(folder)
    message = refused(encoder(folder), tmp_path / "out")
    assert f"ids up to {rows + 1} ('zoom')" in message and f"{rows} rows" in message and "2 tokens" in message


def test_a_tokenizer_without_padding_is_refused(tmp_path: Path) -> None:
    folder = tiny_encoder("bert", tmp_path / "source")
    settings = read_json(folder / "tokenizer_config.json")
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"pad_token": None}))
    assert "no padding token; name one as pad_token" in refused(encoder(folder), tmp_path / "out")


@pytest.mark.parametrize(
    ("words", "settings", "folded"),
    [
        ("The the Ape ape", None, False),
        ("the ape", None, True),
        ("the ape", {"do_lower_case": False}, False),
        ("The Ape the ape", {"do_lower_case": True}, True),
        ("\u6f22 \u5b57", None, None),
    ],
)
def test_the_case_of_a_bare_vocabulary_is_that_of_the_checkpoint(
    words: str, settings: dict | None, folded: bool | None, tmp_path: Path
) -> None:
    folder = tiny_encoder("bert", tmp_path / "source")
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (folder / file).unlink()
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words.split()]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    if settings is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    if folded is None:
        assert "do_lower_case" in refused(encoder(folder), tmp_path / "out")
        return
    fetch_encoder(encoder(folder), tmp_path / "out", 4)
    tokens = AutoTokenizer.from_pretrained(tmp_path / "out")("The APE").tokens()
    assert ("the" in tokens) == folded and ("[UNK]" in tokens) == (not folded)


def test_a_prefix_of_all_tensors_is_named(tmp_path: Path) -> None:
    for prefix in ("module.", "model.encoder_q."):
        folder = with_tensors(tiny_encoder("bert", tmp_path / prefix), rename=lambda name: f"{prefix}{name}")  # noqa: B023
        assert f"all tensors have the prefix '{prefix}'" in refused(encoder(folder), tmp_path / "out")


def test_every_shard_is_in_the_provenance(tmp_path: Path) -> None:
    folder = in_shards(tiny_encoder("bert", tmp_path / "source"))
    before = fetch_encoder(encoder(folder), tmp_path / "out", 4)
    shard = min(folder.glob("model-*.safetensors"))
    save_file({name: tensor + 1 for name, tensor in load_file(shard).items()}, shard, {"format": "pt"})
    after = fetch_encoder(encoder(folder), tmp_path / "out", 4)
    assert before["sha256"] != after["sha256"] and before["files"] != after["files"]
    (folder / "model.safetensors.index.json").write_text("{")
    assert "cannot be loaded" in refused(encoder(folder), tmp_path / "new")


def test_weights_that_give_no_finite_vectors_are_refused(tmp_path: Path) -> None:
    folder = tiny_encoder("bert", tmp_path / "source")
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.2.output.dense.bias"][3] = math.nan
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    assert "is not finite" in refused(encoder(folder), tmp_path / "out")


def test_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        fetch_encoder(encoder(tiny_encoder("bert", tmp_path / "source")), tmp_path / "out", 4)
    finally:
        os.umask(before)
    assert {file.stat().st_mode & 0o777 for file in (tmp_path / "out").iterdir()} == {0o640}
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750
