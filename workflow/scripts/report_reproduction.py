"""Put each number of the paper beside ours."""

from pathlib import Path

from tmft.jobs import job

with job(snakemake):
    from tmft.files import write_csv, write_text
    from tmft.reproduction import Ours, compare, to_markdown
    from tmft.results import read_records
    from tmft.tables import RUN, summarise, tabulate_runs, version_note

    records = [record for path in snakemake.input for record in read_records(Path(path))]
    runs = tabulate_runs(records, [[record["run"][key] for key in RUN] for record in records])
    comparison = compare(snakemake.params.paper, Ours(summarise(runs), **snakemake.params.ours))
    write_csv(Path(snakemake.output.csv), comparison)
    write_text(Path(snakemake.output.markdown), to_markdown(comparison, version_note(runs)))
