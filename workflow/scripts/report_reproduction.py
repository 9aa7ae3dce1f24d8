"""Put each number of the paper beside ours."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.records import read_records
    from tmft.results.reproduction import Ours, compare, to_markdown
    from tmft.results.tables import RUN, summarise, tabulate_runs, version_note
    from tmft.runtime.files import write_csv, write_text

    records = [record for path in snakemake.input for record in read_records(Path(path))]
    runs = tabulate_runs(records, [[record["run"][key] for key in RUN] for record in records])
    comparison = compare(snakemake.params.paper, Ours(summarise(runs), **snakemake.params.ours))
    write_csv(Path(snakemake.output.csv), comparison)
    write_text(Path(snakemake.output.markdown), to_markdown(comparison, version_note(runs)))
