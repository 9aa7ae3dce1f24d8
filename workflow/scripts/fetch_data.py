"""Fetch one pinned data file."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.downloads import fetch, resolve_mirror
    from tmft.runtime.files import write_json

    target = work.output.file
    provenance = fetch(
        **work.params.pin,
        target=target,
        name=f"{work.wildcards['collection']}/{work.wildcards['file']}",
        mirror=resolve_mirror(work.config["mirror"]),
    )
    write_json(work.output.provenance, provenance)
