"""Fetch one encoder into a plain folder."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake, online=True):
    from tmft.encoders.fetching import fetch_encoder
    from tmft.encoders.hub import pinned

    source = pinned(snakemake.params.source, Path(snakemake.params.revisions))
    fetch_encoder(source, Path(snakemake.output[0]), snakemake.params.depth)
