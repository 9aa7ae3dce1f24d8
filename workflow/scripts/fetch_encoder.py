"""Fetch one encoder into a plain folder."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake, online=True) as work:
    from tmft.encoders.fetching import fetch_encoder
    from tmft.encoders.hub import pinned

    source = pinned(work.params.source, Path(work.params.revisions))
    fetch_encoder(source, work.output[0], work.params.depth)
