"""Time a few steps of training on this machine."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.calibration import calibrate
    from tmft.devices import choose_device
    from tmft.files import write_json
    from tmft.results import environment

    device = choose_device(snakemake.config["device"], snakemake.threads, snakemake.config["gpu_slots"])
    timings = calibrate(snakemake.params.widths, snakemake.params.training, device)
    write_json(Path(snakemake.output[0]), {"environment": environment(device), "timings": timings})
