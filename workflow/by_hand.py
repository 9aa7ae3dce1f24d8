"""Run the job that makes a file in this very process, for debugging.

`python -m pdb workflow/by_hand.py TARGET [DIRECTORY]`, DIRECTORY being what `--directory` is for Snakemake. The job's
inputs have to be there; what it makes is written as always, and Snakemake does not learn of it.
"""

import os
import runpy
import sys
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.iocontainers import Snakemake
from snakemake.settings.types import DAGSettings, OutputSettings, Quietness, ResourceSettings

ROOT = Path(__file__).parents[1]


def snakemake_of(target: str, directory: Path) -> tuple[Path, Any]:
    """The script of the job that makes ``target``, a path below ``directory``, and the ``snakemake`` object for it.

    Raises Snakemake's WorkflowError where no rule makes the target or an input of it.
    """
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        opened = api.workflow(ResourceSettings(cores=1), snakefile=ROOT / "Snakefile", workdir=directory)
        opened.dag(DAGSettings(targets={target}, forcerun={target}))
        workflow = opened._workflow
        workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True)
        workflow._build_dag()
        (job,) = (job for job in workflow.dag.jobs if target in job.output)
        own = job.input, job.output, job.params, job.wildcards, job.threads, job.resources, job.log
        script = (ROOT / "workflow" / "rules" / job.rule.script).resolve()
        return script, Snakemake(*own, workflow.globals["config"], job.rule.name, None, script.parent)


if __name__ == "__main__":
    directory = Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
    found, snakemake = snakemake_of(sys.argv[1], directory)
    os.chdir(directory)
    sys.path.insert(0, str(found.parent))
    runpy.run_path(str(found), {"snakemake": snakemake}, run_name="__main__")
