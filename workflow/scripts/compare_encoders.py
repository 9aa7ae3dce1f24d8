"""Compare two encoders, each untouched or fine-tuned at every layer, layer by layer on a task's test sentences."""

from dataclasses import asdict
from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.tokens import read_tokens
    from tmft.results.cka import compare_layers
    from tmft.results.records import Provenance, environment
    from tmft.results.representations import finetuned_vectors, untouched_vectors
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import write_json

    settings = snakemake.params.settings
    device = choose_device(
        snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"], settings["precision"]
    )
    vectors, provenance = [], []
    for side, state, path in zip(("first", "second"), snakemake.params.states, snakemake.input.tokens, strict=True):
        folders, tokens = [Path(folder) for folder in snakemake.input[side]], read_tokens(Path(path))
        layerwise = {"untouched": untouched_vectors, "finetuned": finetuned_vectors}[state]
        vectors.append(layerwise(folders, tokens, "test", settings["precision"], device))
        provenance += [asdict(Provenance.of(folder, Path(path), settings, snakemake.params.code)) for folder in folders]
    comparison = dict(snakemake.wildcards.items()) | {
        "layers": compare_layers(*vectors),
        "provenance": provenance,
        "environment": environment(device),
    }
    write_json(Path(snakemake.output[0]), comparison)
