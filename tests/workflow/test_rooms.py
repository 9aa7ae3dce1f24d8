"""The library's rooms: arrows go down only, the experiment is pure, a figure never reaches torch."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from pipeline_runs import ROOT

from tmft.experiment.code_hash import reachable

SCRIPTS = ROOT / "workflow" / "scripts"
LEVELS = [
    ["runtime"],
    ["experiment"],
    ["datasets"],
    ["translation", "encoders"],
    ["training", "pretraining"],
    ["results"],
    ["figures", "export"],
]
ROOMS = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_folder_is_a_room_and_says_who_may_import_it():
    folders = {path.name for path in (SCRIPTS / "tmft").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(ROOMS)
    for room in folders:
        assert (
            "import"
            in (ast.get_docstring(ast.parse((SCRIPTS / "tmft" / room / "__init__.py").read_text())) or "").lower()
        )


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_below_it(room):
    for path in (SCRIPTS / "tmft" / room).rglob("*.py"):
        for module in imported(path):
            if module.startswith("tmft."):
                other = module.split(".")[1]
                assert other == room or ROOMS[other] < ROOMS[room], f"{path.name} imports {module}"


def test_the_experiment_is_pure():
    for path in (SCRIPTS / "tmft" / "experiment").rglob("*.py"):
        assert not {module.split(".")[0] for module in imported(path)} & {"torch", "pandas", "snakemake", "numpy"}


def test_no_drawing_reaches_torch():
    scripts = list(SCRIPTS.glob("draw_*.py"))
    assert scripts
    for script in scripts:
        for path in reachable(script):
            top = {node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)}
            modules = {node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name for node in top}
            assert not {module.split(".")[0] for module in modules} & {"torch", "transformers"}, path
