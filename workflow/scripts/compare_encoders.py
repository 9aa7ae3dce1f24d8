"""Compare two untouched encoders layer by layer on a task's test sentences."""

from dataclasses import asdict
from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.devices import choose_device
    from tmft.files import write_json
    from tmft.representations import untouched_vectors
    from tmft.results import Provenance, environment
    from tmft.similarity import compare_layers
    from tmft.tokens import read_tokens

    settings = snakemake.params.settings
    device = choose_device(snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"])
    vectors, provenance = [], []
    for folder, tokens in zip(snakemake.input.encoders, snakemake.input.tokens, strict=True):
        vectors.append(
            untouched_vectors(Path(folder), read_tokens(Path(tokens)), "test", settings["chunk_size"], device)
        )
        provenance.append(asdict(Provenance.of(Path(folder), Path(tokens), settings, snakemake.params.code)))
    comparison = dict(snakemake.wildcards.items()) | {
        "layers": compare_layers(*vectors),
        "provenance": provenance,
        "environment": environment(device),
    }
    write_json(Path(snakemake.output[0]), comparison)
