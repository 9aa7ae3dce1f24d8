"""Write a fine-tuned encoder as a folder for sentence-transformers, with an ONNX graph and a model card."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    import torch

    from tmft.datasets.pairs import read_pairs
    from tmft.datasets.tokens import read_tokens
    from tmft.encoders.truncation import TruncatedEncoder
    from tmft.export.model_card import model_card
    from tmft.export.sentence_transformer import (
        CHECKED_PAIRS,
        check_sentence_transformer,
        write_onnx,
        write_sentence_transformer,
    )
    from tmft.results.records import read_records
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import atomic_folder, read_json, write_text
    from tmft.training.loop import encode_pairs

    choice = read_json(Path(snakemake.input.choice))
    (record,) = read_records(Path(snakemake.input.result))
    device = choose_device("cpu", snakemake.threads)
    weights = Path(snakemake.input.weights)
    encoder = TruncatedEncoder.load(weights, choice["layer"])
    tokens = read_tokens(Path(snakemake.input.tokens))
    pairs = read_pairs(Path(snakemake.input.pairs))
    checked = pairs[pairs["split"] == "test"].head(CHECKED_PAIRS)
    sentences = [*checked["sentence1"], *checked["sentence2"]]
    with torch.inference_mode():
        sides = encode_pairs(encoder, tokens.splits["test"], list(range(len(checked))), tokens.pad_id, 16, device)
    with atomic_folder(Path(snakemake.output[0])) as folder:
        write_sentence_transformer(encoder, weights, tokens.max_length, folder)
        differences = {"sentence-transformers": check_sentence_transformer(folder, sentences, torch.cat(sides).numpy())}
        differences["onnx"] = write_onnx(encoder, tokens.max_length, folder / "model.onnx")
        card = model_card(snakemake.params.facts, choice, record, differences, encoder.hidden_size)
        write_text(folder / "README.md", card)
