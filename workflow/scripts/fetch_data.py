"""Fetch one pinned data file."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.files import write_json
    from tmft.sources import fetch, resolve_mirror

    target = Path(snakemake.output.file)
    provenance = fetch(
        **snakemake.params.pin,
        target=target,
        name=f"{snakemake.wildcards.collection}/{snakemake.wildcards.file}",
        mirror=resolve_mirror(snakemake.config["mirror"]),
    )
    write_json(Path(snakemake.output.provenance), provenance)
