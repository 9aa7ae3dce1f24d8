"""Measure what a sentence costs at each layer of an encoder, on one CPU thread."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.export.speed import BATCH_SIZE, REPEATS, TOKENS, WARM_UP, measure_layers, processor
    from tmft.results.records import encoder_origin, environment
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import write_json

    folder = Path(snakemake.input[0])
    device = choose_device("cpu", snakemake.threads)
    cost = {
        "encoder": encoder_origin(folder),
        "batch_size": BATCH_SIZE,
        "tokens": TOKENS,
        "warm_up": WARM_UP,
        "repeats": REPEATS,
        "processor": processor(),
        "environment": environment(device),
        "layers": measure_layers(folder),
    }
    write_json(Path(snakemake.output[0]), cost)
