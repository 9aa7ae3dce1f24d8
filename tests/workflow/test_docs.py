"""The documentation: its commands are well-formed and find their targets, its YAML parses, what it names exists."""

import re
import shlex
import shutil

import pytest
import yaml
from pipeline_runs import ROOT, snakemake
from snakemake.cli import get_argument_parser

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("config/*.md")]
LISTED = [".", "demo", "demo/fresh", "examples/minilm"]
RUN = [
    "examples/your-encoder",
    "examples/your-task",
    "DIR",
]  # by test_examples.py; DIR is the reader's own
# Parsed only: all of the paper takes long to list; a report needs results (test_pipeline.py makes one); the
# others need a cluster (tests/faults/test_slurm.py), GPUs or something to fix.
PARSED = re.compile(r"-n --cores 1$|--report|--workflow-profile profiles/slurm|gpu=4|--unlock|--touch|--until")
# Not even parsed: those of plugins that are not installed, and one that stands for any.
UNPARSED = re.compile(r"--executor kubernetes|--default-storage-provider|\.\.\.$")
# Not run: they set up the shell or install, or need a cluster, a network or minutes. Of make, .ci/run runs demo, test
# and lint.
SHELL = (
    "source .venv/bin/activate",
    "mkdir -p ",
    "curl -o ",
    "read -rs ",
    "export ",
    "python -m pip install ",
    "pip install ",
    "pip-audit ",
    "generate-slurm-partition-config ",
    "scancel ",
    "TMFT_TEST_SLURM=",
    "PYTHONPATH=workflow/scripts python benchmarks/",
    "workflow/status",  # by tests/workflow/test_pipeline.py
)


def blocks(language: str) -> list[str]:
    """The code blocks of a language in all pages; those of commands have none."""
    fenced = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [body for page in PAGES for name, body in fenced.findall(page.read_text()) if name == language]


def commands() -> list[list[str]]:
    """The words of each command, without the path of the virtual environment's programs."""
    lines = [line for block in blocks("") for line in block.replace("\\\n", " ").splitlines()]
    words = [shlex.split(part, comments=True) for line in lines for part in line.split(" && ")]
    return [[re.sub(r"^\.venv/bin/(?=python|snakemake)", "", word) for word in one] for one in words if one]


def test_every_command_is_of_a_kind_that_is_checked():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for program, *arguments in commands():
        line = shlex.join([program, *arguments])
        match program:
            case "snakemake" if UNPARSED.search(line):
                pass
            case "snakemake":
                assert str(get_argument_parser().parse_args(arguments).directory or ".") in LISTED + RUN, line
            case "make":
                assert set(arguments) <= set(targets), line
            case "python" if arguments[0].endswith(".py"):
                assert (ROOT / arguments[0]).is_file(), line
            case _:
                assert line.startswith(SHELL), f"{line}: make this page's command one that is run or listed"


@pytest.mark.parametrize("folder", LISTED)
def test_commands_of_snakemake_find_their_targets(folder, tmp_path):
    """The commands of an experiment's folder together, in one dry run."""
    parser = get_argument_parser()
    targets, files, settings = [], [], []
    for program, *arguments in commands():
        line = " ".join([program, *arguments])
        if program == "snakemake" and not (PARSED.search(line) or UNPARSED.search(line)):
            parsed = parser.parse_args(arguments)
            if str(parsed.directory or ".") == folder:
                targets += parsed.targets or ["all"]
                files += [f"--configfile={path}" for path in parsed.configfile]
                settings += parsed.config or []
    if (ROOT / folder / "config.yaml").exists():
        shutil.copy(ROOT / folder / "config.yaml", tmp_path)
    (tmp_path / "published").mkdir()  # the authors' runs (docs/reproduction.md)
    (tmp_path / "published/output.tar.gz").touch()
    config = ["--config", *settings] if settings else []
    run = snakemake(tmp_path, "-n", "--cores", "1", *files, *config, "--", *dict.fromkeys(targets), root=ROOT)
    assert targets and run.returncode == 0 and "This was a dry-run" in run.stdout, run.stdout


def test_yaml_of_the_pages_parses():
    for block in blocks("yaml"):
        assert isinstance(yaml.safe_load(block), dict), block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_pages_that_are_named_exist(page):
    text = page.read_text()
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        assert "://" in link or (page.parent / link).exists(), link
    names = re.findall(r"`((?:workflow|docs|tests|envs|profiles|requirements)/[\w./-]+|[\w./-]*config\.yaml)`", text)
    for name in names:
        assert (ROOT / name).exists() or name == "DIR/config.yaml", name


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 150
