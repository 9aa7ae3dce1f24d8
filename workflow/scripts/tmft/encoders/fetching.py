"""Encoders from the hub, from a local folder or from an installed package, each brought into a plain folder."""

import importlib.metadata
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from tokenizers.normalizers import Precompiled, Sequence
from transformers import AutoTokenizer, DebertaV2Tokenizer, PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import SentencePieceExtractor

from tmft.encoders.checks import check_settings
from tmft.encoders.hub import download
from tmft.encoders.truncation import TruncatedEncoder, read_config, usable_length
from tmft.encoders.weights import PICKLE, SAFETENSORS, save_model, weight_files
from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_folder, file_sha256, files_sha256, read_json, write_json

VOCABULARY = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
SETTINGS = ("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt")
PROBES = ("", "a word", "word " * 2000, "\u2603 \U0001f600 \u6f22\u5b57 \x00")
LIBRARIES = ("huggingface_hub", "safetensors", "tokenizers", "torch", "transformers")


def fetch_encoder(source: dict[str, Any], folder: Path, depth: int) -> dict[str, Any]:
    """Make ``folder`` hold the encoder of ``source``: config, fast tokenizer, weights in float32, provenance.json.

    ``source`` is one of {"hub": id, "revision": commit}, {"path": local folder} and {"package": name of an installed
    package that carries such a folder}; with a "family" it says the architecture of a source whose config.json does
    not. Heads and pooler are left out, any other tensor that transformers would drop is refused. At the end a
    few sentences go through tokenizer and encoder. No code of the source runs: none is loaded, and a pickle only if it
    has no safetensors, by torch's weights-only loading.

    Returns the provenance: source, commit (hub only), sha256 of the source's files, versions of the libraries, files
    with their sha256.
    Raises InputError for a source that cannot be had, one without tokenizer or whose tokenizer does not match the
    encoder, another number of layers than ``depth``, an unsupported architecture, and weights that are damaged,
    incomplete or not all used.
    """
    with atomic_folder(folder) as partial, TemporaryDirectory() as scratch:
        source_folder, commit = _locate(source)
        origin = _with_family(source_folder, source.get("family"), Path(scratch))
        layers = read_config(origin).num_hidden_layers
        if layers != depth:
            raise InputError(f"{origin}: has {layers} layers, the config says {depth}; correct the encoder's depth")
        check_settings(origin)
        tokenizer, encoder = load_tokenizer(origin), TruncatedEncoder.load(origin, depth, all_used=True)
        check_tokenizer(tokenizer, encoder, origin)
        save_model(encoder.model, partial)
        tokenizer.save_pretrained(partial)
        provenance = {
            "source": source,
            "commit": commit,
            "sha256": files_sha256(_content(source_folder)),
            "versions": {library: importlib.metadata.version(library) for library in LIBRARIES},
            "files": {file.name: file_sha256(file) for file in sorted(partial.iterdir())},
        }
        write_json(partial / "provenance.json", provenance)
    return provenance


def _locate(source: dict[str, Any]) -> tuple[Path, str | None]:
    """The folder that holds the source's files, and the hub commit they are from."""
    if "hub" in source:
        return download(source["hub"], source["revision"], [*SETTINGS, *VOCABULARY]), source["revision"]
    return (_package_folder(source["package"]) if "package" in source else Path(source["path"])), None


def _with_family(folder: Path, family: str | None, scratch: Path) -> Path:
    """The folder itself, or a copy whose config.json says ``family`` where the original's does not say any."""
    if family is None or not (folder / "config.json").exists():
        return folder
    settings = read_json(folder / "config.json")
    if "model_type" in settings:
        return folder
    copy = scratch / folder.name
    shutil.copytree(folder, copy)
    write_json(copy / "config.json", settings | {"model_type": family})
    return copy


def _package_folder(package: str) -> Path:
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise InputError(f"{package}: no such package is installed; install it with pip") from error
    for file in files:
        if file.name in (SAFETENSORS, PICKLE):
            return Path(file.locate()).parent
    raise InputError(f"{package}: the package holds no encoder (no {SAFETENSORS}); name another one")


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer of an encoder folder, which gives the same ids again after saving and loading.

    The classes of transformers rebuild a tokenizer from its vocabulary whenever they load it; the plain class returned
    here takes it as it was saved. DeBERTa's class also forgets the character map of the SentencePiece model (the NFKC
    normalisation the vocabulary was learnt with); if the model has one, it is put back.

    Raises InputError for a folder without tokenizer, or with one that cannot be loaded.
    """
    if not any(file for pattern in VOCABULARY for file in folder.glob(pattern)):
        raise InputError(f"{folder}: no tokenizer ({', '.join(VOCABULARY)}); add its files to the folder")
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, **_case(folder)
        )
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: the tokenizer cannot be loaded ({' '.join(str(error).split())})") from error
    if not tokenizer.is_fast:
        raise InputError(f"{folder}: {type(tokenizer).__name__} has no fast version; add a tokenizer.json")
    backend = tokenizer.backend_tokenizer
    model = folder / "spm.model"
    if isinstance(tokenizer, DebertaV2Tokenizer) and model.exists() and (charsmap := _character_map(model)):
        backend.normalizer = Sequence([Precompiled(charsmap), backend.normalizer])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **tokenizer.special_tokens_map,
    )


def _case(folder: Path) -> dict[str, bool]:
    """What tells the class of a tokenizer that is no more than a vocab.txt whether to fold case.

    Where no setting says it, the vocabulary does: with capitals it is cased, with small letters alone it is not.
    Raises InputError where it has neither.
    """
    vocabulary, settings = folder / "vocab.txt", folder / "tokenizer_config.json"
    if (folder / "tokenizer.json").exists() or not vocabulary.exists():
        return {}
    if settings.exists() and "do_lower_case" in read_json(settings):
        return {}
    tokens = vocabulary.read_text(encoding="utf-8").split()
    words = "".join(token for token in tokens if not (token.startswith("[") and token.endswith("]")))
    if words == words.lower() == words.upper():
        raise InputError(
            f"{vocabulary}: nothing says whether case is folded; add a tokenizer_config.json with "
            '{"do_lower_case": true} or {"do_lower_case": false}'
        )
    return {"do_lower_case": words == words.lower()}


def check_tokenizer(tokenizer: PreTrainedTokenizerFast, encoder: TruncatedEncoder, folder: Path) -> None:
    """Refuse a tokenizer that does not match the encoder, then send a few odd sentences through both.

    Raises InputError for a tokenizer without a padding token, with ids beyond the embedding table, and for vectors that
    are not finite.
    """
    if tokenizer.pad_token_id is None:
        raise InputError(
            f"{folder}: the tokenizer has no padding token; name one as pad_token in tokenizer_config.json"
        )
    rows = encoder.model.get_input_embeddings().num_embeddings
    beyond = {token: number for token, number in tokenizer.get_vocab().items() if number >= rows}
    if beyond:
        token, number = max(beyond.items(), key=lambda item: item[1])
        raise InputError(
            f"{folder}: the tokenizer has ids up to {number} ({token!r}), the embedding table {rows} rows, 0 to "
            f"{rows - 1}; resize the table (resize_token_embeddings), train it and save both, or remove these "
            f"{len(beyond)} tokens"
        )
    length = usable_length(encoder.model.config, tokenizer)
    for sentence in PROBES:
        ids = tokenizer(sentence, truncation=True, max_length=length, return_tensors="pt")["input_ids"]
        with torch.inference_mode():
            vector = encoder(ids, torch.ones_like(ids)) if ids.numel() else torch.zeros(1, encoder.hidden_size)
        if not vector.isfinite().all():
            raise InputError(f"{folder}: the vector of {sentence[:20]!r} is not finite; the weights are damaged")


def _character_map(model: Path) -> bytes:
    """The compiled normalisation in a SentencePiece model; empty if it has none."""
    return SentencePieceExtractor(str(model)).proto.normalizer_spec.precompiled_charsmap


def _content(folder: Path) -> set[Path]:
    """The files of the source that loading reads."""
    found = {file for pattern in (*SETTINGS, *VOCABULARY) for file in folder.glob(pattern)}
    return found | set(weight_files(folder))
