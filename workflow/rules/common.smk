# What the rules share: the experiment, the form of the wildcards, and how the library is asked.
import sys
from functools import cache, wraps
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from tmft.experiment import compared, descriptions, figures, jobs, paths, reproduced, resources, sides
from tmft.experiment.code_hash import code_hash
from tmft.experiment.configuration import load_files
from tmft.experiment.jobs import one_of
from tmft.runtime.errors import InputError
from tmft.training.records import check_results
from tmft.translation.key import auth_key


wildcard_constraints:
    task=r"[^/]+",
    recipe=r"[^/]+",
    encoder=r"[^/]+",
    figure=r"[^/]+",
    shown=r"[^/]+",
    layer=r"-?\d+",
    seed=r"\d+",


def in_one_line(function):
    """The same function; an InputError becomes Snakemake's own kind of error, one line without a traceback."""

    @wraps(function)
    def called(*arguments, **named):
        try:
            return function(*arguments, **named)
        except InputError as error:
            raise WorkflowError(str(error)) from None

    return called


experiment = in_one_line(load_files)(workflow.configfiles, config, ROOT / "workflow" / "sources.yaml")
config.clear()
config.update(experiment.settings)  # for scripts and the report; rules ask the experiment
PAPER = yaml.safe_load((ROOT / "workflow" / "paper.yaml").read_text())
GPU = 0 if experiment.settings["device"] == "cpu" else 1
THREADS = experiment.settings["threads"]
SMALL = {"mem_mb": resources.growing(1000), "runtime": resources.growing(10)}


# What --set-resources and --set-threads say of a rule holds for all its forms.
for base, form in jobs.forms(experiment):
    for own in ("overwrite_resources", "overwrite_threads"):
        given = getattr(workflow.resource_settings, own)
        setattr(workflow.resource_settings, own, {form: given[base], **given} if base in given else given)


def ask(function, *keys, **named):
    """The function of wildcards that asks ``function`` of the experiment about the wildcards of these names."""
    return in_one_line(lambda wildcards: function(experiment, *(wildcards[key] for key in keys), **named))


def ask_results(function, *keys, **named):
    """The same for a function that gives result files: one that is there and no result is refused."""
    return in_one_line(lambda wildcards: check_results(ask(function, *keys, **named)(wildcards)))


@cache
def code(*modules):
    """The hash of a rule's script and of the library modules it uses; as a parameter it makes an edit visible."""
    return code_hash(*(ROOT / "workflow" / "scripts" / f"{module}.py" for module in modules))
