"""Fetch one pinned data file."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.datasets.downloads import fetch, resolve_mirror
    from tmft.runtime.files import write_json

    target = Path(snakemake.output.file)
    provenance = fetch(
        **snakemake.params.pin,
        target=target,
        name=f"{snakemake.wildcards.collection}/{snakemake.wildcards.file}",
        mirror=resolve_mirror(snakemake.config["mirror"]),
    )
    write_json(Path(snakemake.output.provenance), provenance)
