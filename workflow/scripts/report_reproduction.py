"""Hold our results, or the published runs where there are no others, against the paper."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.results.reproduction_report import read_ours, read_theirs, write_report

    paper, theirs = work.params.paper, read_theirs(work.input.published, work.params.paper)
    if work.params.ours is None:
        ours = None
    else:
        files = work.input.results, work.input.similarities, work.input.costs
        ours = read_ours(*files, work.params.ours, work.params.similarities)
    write_report(paper, ours, theirs, work.output)
