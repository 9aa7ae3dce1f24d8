"""Time a few steps of training on this machine."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.records import environment
    from tmft.runtime.devices import choose_device
    from tmft.runtime.files import write_json
    from tmft.training.calibration import calibrate

    device = choose_device(snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"])
    timings = calibrate(snakemake.params.widths, snakemake.params.training, device)
    write_json(Path(snakemake.output[0]), {"environment": environment(device), "timings": timings})
