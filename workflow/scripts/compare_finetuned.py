"""Compare two encoders, each fine-tuned at every layer, layer by layer on a task's test sentences."""

from dataclasses import asdict
from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.files import write_json
    from tmft.representations import finetuned_vectors
    from tmft.results import Provenance, environment
    from tmft.similarity import compare_layers
    from tmft.tokens import read_tokens

    settings = snakemake.params.settings
    device = choose_device(snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"])
    vectors, provenance = [], []
    for side, tokens in zip(("first", "second"), snakemake.input.tokens, strict=True):
        folders = [Path(folder) for folder in snakemake.input[side]]
        vectors.append(finetuned_vectors(folders, read_tokens(Path(tokens)), "test", settings["chunk_size"], device))
        provenance += [
            asdict(Provenance.of(folder, Path(tokens), settings, snakemake.params.code)) for folder in folders
        ]
    comparison = dict(snakemake.wildcards.items()) | {
        "layers": compare_layers(*vectors),
        "provenance": provenance,
        "environment": environment(device),
    }
    write_json(Path(snakemake.output[0]), comparison)
