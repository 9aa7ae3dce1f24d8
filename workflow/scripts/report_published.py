"""Put each number and claim of the paper beside what its authors' published runs say."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.published import read_published
    from tmft.results.reproduction import Ours, compare
    from tmft.results.reproduction_report import to_markdown
    from tmft.runtime.errors import InputError
    from tmft.runtime.files import write_csv, write_text

    if not snakemake.input:
        raise InputError("the authors' runs are not here; name their file as `published_runs` in the config")
    paper = snakemake.params.paper
    published = read_published(snakemake.input, paper)
    entries, behind = compare(paper, Ours(published, notebook=paper["notebook"]))
    write_csv(Path(snakemake.output.csv), entries)
    note = "Here *ours* are the authors' own published runs, and what is marked *means only* their notebook's means."
    write_text(Path(snakemake.output.markdown), to_markdown(entries, behind, None, note))
