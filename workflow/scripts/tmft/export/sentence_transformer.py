"""The truncated encoder as others load it: a folder of sentence-transformers, and an ONNX graph with the pooling."""

from pathlib import Path

import numpy as np
import onnxruntime
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from torch import Tensor

from tmft.encoders.truncation import FAMILIES, TruncatedEncoder
from tmft.runtime.files import read_json, write_json

TOLERANCE = {"sentence-transformers": 1e-5, "onnx": 1e-4}
"""The largest difference from our vectors, relative to the largest number among them where that is above 1."""

CHECKED_PAIRS = 200
"""How many test pairs are encoded both ways."""

LARGEST_PROTOBUF = 2**31  # bytes; the weights of a larger graph lie in a file beside it


def write_sentence_transformer(encoder: TruncatedEncoder, weights: Path, max_length: int, folder: Path) -> None:
    """Write into ``folder`` what `SentenceTransformer(folder)` loads: the encoder, mean pooling, cosine similarity.

    ``weights`` is the folder that ``encoder`` was loaded from; its tokenizer, cut at ``max_length`` tokens, goes along.
    """
    transformer = Transformer(str(weights), processor_kwargs={"model_max_length": max_length})
    transformer.model = encoder.model  # transformers' own would bring a random pooler
    encoder.model.config.output_hidden_states = False
    modules = [transformer, Pooling(encoder.hidden_size, "mean")]
    model = SentenceTransformer(modules=modules, similarity_fn_name="cosine", device="cpu")
    model.save_pretrained(str(folder), create_model_card=False)
    if FAMILIES[encoder.model.config.model_type].pooler:
        settings = folder / "sentence_bert_config.json"
        write_json(settings, read_json(settings) | {"model_args": {"add_pooling_layer": False}})


def check_sentence_transformer(folder: Path, sentences: list[str], expected: np.ndarray) -> float:
    """The largest difference between the vectors that the folder gives and the expected ones, (sentences, hidden).

    Raises RuntimeError where it is beyond TOLERANCE.
    """
    vectors = SentenceTransformer(str(folder), device="cpu", local_files_only=True).encode(sentences)
    return _difference("sentence-transformers", vectors, expected)


def write_onnx(encoder: TruncatedEncoder, max_length: int, path: Path) -> float:
    """Write the encoder as a graph from input_ids and attention_mask (sentences, tokens) to sentence_embedding.

    Both axes are dynamic. Returns the largest difference between onnxruntime's vectors and torch's on three shapes with
    padding, up to ``max_length`` tokens; raises RuntimeError where it is beyond TOLERANCE.
    """
    axes = {0: "sentences", 1: "tokens"}
    torch.onnx.export(
        encoder,
        _padded_batch(encoder, 3, max_length // 2),
        path,
        input_names=["input_ids", "attention_mask"],
        output_names=["sentence_embedding"],
        dynamic_shapes=(axes, axes),
        external_data=sum(tensor.nbytes for tensor in encoder.state_dict().values()) > LARGEST_PROTOBUF,
        verbose=False,
    )
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    differences = []
    for sentences, tokens in ((1, 3), (3, max_length // 2), (2, max_length)):
        ids, mask = _padded_batch(encoder, sentences, tokens)
        with torch.inference_mode():
            expected = encoder(ids, mask).numpy()
        (vectors,) = session.run(None, {"input_ids": ids.numpy(), "attention_mask": mask.numpy()})
        differences.append(_difference("onnx", vectors, expected))
    return max(differences)


def _padded_batch(encoder: TruncatedEncoder, sentences: int, tokens: int) -> tuple[Tensor, Tensor]:
    """Random ids and an attention mask, int64 (sentences, tokens); all sentences but the first are half padding."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(encoder.model.config.vocab_size, (sentences, tokens), generator=generator)
    mask = torch.ones_like(ids)
    mask[1:, (tokens + 1) // 2 :] = 0
    return ids, mask


def _difference(name: str, vectors: np.ndarray, expected: np.ndarray) -> float:
    difference = float(np.abs(vectors - expected).max())
    if not difference <= TOLERANCE[name] * max(1.0, float(np.abs(expected).max())):
        raise RuntimeError(f"the vectors of {name} differ from ours by {difference:.1e}; nothing was exported")
    return difference
