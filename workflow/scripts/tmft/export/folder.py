"""The folder that is shipped: a sentence-transformers model, an ONNX graph and a model card, each checked."""

from pathlib import Path
from typing import Any

import pandas as pd
import torch

from tmft.datasets.tokens import Tokens
from tmft.encoders.truncation import TruncatedEncoder
from tmft.export.model_card import model_card
from tmft.export.sentence_transformer import (
    CHECKED_PAIRS,
    check_sentence_transformer,
    write_onnx,
    write_sentence_transformer,
)
from tmft.runtime.devices import choose_device
from tmft.runtime.files import atomic_folder, write_text
from tmft.training.loop import encode_pairs


def write_export(
    weights: Path,
    choice: dict[str, Any],
    record: dict[str, Any],
    tokens: Tokens,
    pairs: pd.DataFrame,
    facts: dict[str, Any],
    threads: int,
    output: Path,
) -> None:
    """Write the fine-tuned encoder in ``weights`` as the folder ``output``.

    ``choice`` is the run that was chosen (``tmft.export.choice``), ``record`` its result, ``facts`` what the model card
    says beyond (``tmft.experiment.descriptions.card_facts``). The vectors of CHECKED_PAIRS test pairs are compared with
    the pipeline's own; raises RuntimeError where they differ.
    """
    device = choose_device("cpu", threads)
    encoder = TruncatedEncoder.load(weights, choice["layer"])
    checked = pairs[pairs["split"] == "test"].head(CHECKED_PAIRS)
    sentences = [*checked["sentence1"], *checked["sentence2"]]
    rows = list(range(len(checked)))
    with torch.inference_mode():
        sides = encode_pairs(encoder, tokens.splits["test"], rows, tokens.pad_id, "float32", device)
    with atomic_folder(output) as folder:
        write_sentence_transformer(encoder, weights, tokens.max_length, folder)
        differences = {"sentence-transformers": check_sentence_transformer(folder, sentences, torch.cat(sides).numpy())}
        differences["onnx"] = write_onnx(encoder, tokens.max_length, folder / "model.onnx")
        write_text(folder / "README.md", model_card(facts, choice, record, differences, encoder.hidden_size))
