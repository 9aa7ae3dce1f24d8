"""Gather the distinct sentences of a corpus from pinned data sets."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake, online=True):
    import importlib.metadata
    from datetime import UTC, datetime
    from itertools import chain

    from tmft.datasets.corpora import distinct, file_sentences, hub_sentences
    from tmft.runtime.files import file_sha256, write_json, write_text

    source = snakemake.params.source
    if "hub" in source:
        parts = [hub_sentences(collection) for collection in source["hub"].values()]
    else:
        parts = [file_sentences(Path(snakemake.input[name]), file["reading"]) for name, file in source["files"].items()]
    lines = distinct(chain.from_iterable(parts))
    text = Path(snakemake.output.text)
    write_text(text, "\n".join(lines) + "\n")
    provenance = {
        "source": source,
        "sentences": len(lines),
        "sha256": file_sha256(text),
        "versions": {"datasets": importlib.metadata.version("datasets")},
        "retrieved": datetime.now(UTC).date().isoformat(),
    }
    write_json(Path(snakemake.output.provenance), provenance)
