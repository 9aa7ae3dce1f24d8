"""Sum what the results have cost."""

from tmft.runtime.job import job

with job(snakemake) as work:
    from tmft.results.costs import pretraining_costs, run_costs, sum_costs, to_markdown
    from tmft.runtime.files import write_csv, write_text

    costs = [*map(run_costs, work.input.results), *map(pretraining_costs, work.input.pretrainings)]
    summed = sum_costs(costs)
    write_csv(work.output.csv, summed)
    write_text(work.output.markdown, to_markdown(summed))
