"""Put each number, claim and curve of the paper beside ours."""

from pathlib import Path

from tmft.runtime.job import job

with job(snakemake):
    from tmft.results.published import read_published
    from tmft.results.records import read_records
    from tmft.results.reproduction import Ours, compare, compare_curves
    from tmft.results.reproduction_report import to_markdown
    from tmft.results.scores import Scores, tidy
    from tmft.results.tables import RUN, tabulate_runs, version_note
    from tmft.runtime.files import write_csv, write_text

    paper, ours = snakemake.params.paper, snakemake.params.ours
    records = [record for path in snakemake.input.results for record in read_records(Path(path))]
    runs = tabulate_runs(records, [[record["run"][key] for key in RUN] for record in records])
    scores = Scores(tidy(runs, ours["encoders"], ours["tasks"]))
    entries, behind = compare(paper, Ours(scores, ours["foreign"], ours["comparable"]))
    curves = compare_curves(scores, read_published(snakemake.input.published, paper))
    write_csv(Path(snakemake.output.csv), entries)
    write_csv(Path(snakemake.output.curves), curves)
    write_text(Path(snakemake.output.markdown), to_markdown(entries, behind, curves, version_note(runs)))
