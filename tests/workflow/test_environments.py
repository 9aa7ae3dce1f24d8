"""The environments of the stages: pinned from one lock file, and with all that their scripts import.

tests/workflow/build_environments.py builds them and runs every stage in its own.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires

import pytest
from pipeline_runs import ROOT
from stages import STAGES, pins

from tmft.experiment.code_hash import reachable

BY_NAME = {
    "draw_figure": ["tmft/figures/*.py"],
    "pretrain": ["tmft/pretraining/masked*.py", "tmft/pretraining/replaced*.py"],
}
"""The modules that a script imports by the name of a kind or an objective."""


def imported(statements: list[ast.stmt]) -> Iterator[str]:
    """The packages that a module imports when it is loaded; a script's body stands under ``with job``."""
    for statement in statements:
        match statement:
            case ast.With():
                yield from imported(statement.body)
            case ast.Import():
                yield from (alias.name.partition(".")[0] for alias in statement.names)
            case ast.ImportFrom():
                yield statement.module.partition(".")[0]


def test_environments_follow_the_lock_file(root):
    lock = dict(re.findall(r"^([^=\s#]+)==(\S+)$", (root / "requirements/lock.txt").read_text(), re.MULTILINE))
    environments = [path.stem for path in (root / "envs").glob("*.yaml")]
    assert set(environments) == {environment for environment, _ in STAGES}
    for environment in environments:
        assert pins(environment).items() <= lock.items(), environment


@pytest.mark.parametrize(("environment", "script"), STAGES)
def test_an_environment_pins_what_its_scripts_import(environment, script):
    scripts = ROOT / "workflow/scripts"
    modules = reachable(
        scripts / f"{script}.py", *(path for place in BY_NAME.get(script, []) for path in scripts.glob(place))
    )
    packages = {name for module in modules for name in imported(ast.parse(module.read_text()).body)}
    others = packages - set(sys.stdlib_module_names) - {"tmft"}
    distributions = packages_distributions()
    assert {name for name in others if not set(distributions[name]) & set(pins(environment))} == set()


def test_every_requirement_is_locked(root):
    lock = {line.partition("==")[0].lower() for line in (root / "requirements/lock.txt").read_text().splitlines()}
    for path in (root / "requirements").glob("*.txt"):
        if path.name != "lock.txt":
            names = {line.lower() for line in path.read_text().splitlines() if line and line[0] not in "#-"}
            assert names <= lock, path.name


def test_every_rule_names_an_environment_that_exists(root):
    for rules in (root / "workflow/rules").glob("*.smk"):
        text = rules.read_text()
        named = re.findall(r'"\.\./\.\./(envs/\w+\.yaml)"', text)
        assert len(named) == len(re.findall(r"^ *(?:rule|checkpoint)\b", text, re.MULTILINE))
        assert all((root / name).is_file() for name in named)


ABSENT = """
import sys

class Absent:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {absent}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import {modules}
"""


def test_rules_are_read_with_nothing_but_snakemake(root):
    """Where each stage has an environment of its own, the one that reads the rules need not have their packages."""
    own = {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in requires("snakemake")}
    others = {name.lower() for path in (root / "envs").glob("*.yaml") for name in pins(path.stem)} - own
    absent = {name for name, owners in packages_distributions().items() if {one.lower() for one in owners} & others}
    assert {"pandas", "torch", "pyarrow"} <= absent
    text = (root / "workflow/rules/common.smk").read_text()
    imports = re.findall(r"^from (tmft[\w.]*) import (.*)", text, re.MULTILINE)
    modules = {f"{room}.{name}" for room, names in imports for name in names.split(", ") if room == "tmft.experiment"}
    modules |= {room for room, _ in imports}
    assert len(modules) > 10
    program = ABSENT.format(absent=absent, modules=", ".join(sorted(modules)))
    scripts = root / "workflow/scripts"
    run = subprocess.run([sys.executable, "-c", program], cwd=scripts, text=True, stderr=subprocess.PIPE)
    assert run.returncode == 0, run.stderr
