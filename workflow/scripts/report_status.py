"""Say how far the experiment is, and how many hours are left."""

from pathlib import Path

from tmft.runtime.job import job
from tmft.runtime.progress import console

with job(snakemake) as work:
    from tmft.results.status import status, to_markdown
    from tmft.runtime.files import write_text

    table = status(work.params.shown)
    write_text(Path("results/status.md"), to_markdown(table))
    print(table.to_string(index=False), file=console)
