"""Fetch one pinned data file."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.datasets.downloads import fetch, resolve_mirror
    from tmft.runtime.files import write_json

    name = f"{work.wildcards['collection']}/{work.wildcards['file']}"
    mirror = resolve_mirror(work.config["mirror"])
    write_json(work.output.provenance, fetch(**work.params.pin, target=work.output.file, name=name, mirror=mirror))
