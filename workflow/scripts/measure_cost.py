"""Measure what a sentence costs at each layer of an encoder, on one CPU thread."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.cost import BATCH_SIZE, REPEATS, TOKENS, WARM_UP, measure_layers, processor
    from tmft.devices import choose_device
    from tmft.files import write_json
    from tmft.results import encoder_origin, environment

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
