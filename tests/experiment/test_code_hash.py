"""The hash of code: an edit is seen exactly by what reaches it, a comment by nothing."""

from pathlib import Path

import pytest

from tmft.experiment.code_hash import code_hash

FILES = {
    "train.py": "from lib.loop import run\nrun()\n",
    "draw.py": "import lib.plots\n",
    "lib/__init__.py": "",
    "lib/loop.py": '"""Loop."""\nfrom lib import sums\n\n\ndef run():\n    """Run."""\n    return sums.add(1, 2)\n',
    "lib/sums.py": "def add(a, b):\n    return a + b\n",
    "lib/plots.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import sums\ncolour = 'blue'\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "lib").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def hashes(tree: Path, target: Path) -> dict[str, str]:
    """Hashes of both scripts from a fresh copy, so that nothing is remembered."""
    for name in FILES:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text((tree / name).read_text())
    return {name: code_hash(target / name) for name in ("train.py", "draw.py")}


@pytest.mark.parametrize(
    ("name", "old", "new", "stale"),
    [
        ("lib/sums.py", "a + b", "a - b", {"train.py"}),
        ("lib/plots.py", "blue", "red", {"draw.py"}),
        ("train.py", "run()", "run(); run()", {"train.py"}),
        ("lib/loop.py", '"""Run."""', '"""Run it\n    again."""', set()),
        ("lib/loop.py", "def run", "# a comment\ndef  run", set()),
        ("lib/plots.py", "import sums", "import loop", set()),
        ("lib/__init__.py", "", '"""New docstring."""\n', set()),
        ("lib/__init__.py", "", "x = 1\n", {"train.py", "draw.py"}),
    ],
)
def test_an_edit_is_seen_where_it_matters(tree, tmp_path, name, old, new, stale):
    before = hashes(tree, tmp_path / "before")
    text = (tree / name).read_text()
    (tree / name).write_text(text.replace(old, new) if old else new)
    after = hashes(tree, tmp_path / "after")
    assert {script for script in before if before[script] != after[script]} == stale


def test_drawing_does_not_depend_on_training(root):
    """A plot edit leaves results alone, a training edit does not touch the drawing code's hash."""
    from tmft.experiment import code_hash as code

    scripts = root / "workflow" / "scripts"
    module = scripts / "tmft" / "figures" / "layer_curve.py"
    reached = {path.name for path in code.reachable(scripts / "draw_figure.py", module)}
    assert {"style.py", "layer_curve.py"} <= reached
    assert not reached & {"loop.py", "truncation.py", "pareto.py"}
    assert "style.py" not in {path.name for path in code.reachable(scripts / "finetune.py")}
