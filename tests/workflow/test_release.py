"""What a release and its automation say in several places agrees."""

import re
import tomllib
from pathlib import Path

import yaml


def test_the_version_is_the_same_everywhere(root: Path):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    cited = yaml.safe_load((root / "CITATION.cff").read_text())["version"]
    (logged, *_) = re.findall(r"^## (\d+\.\d+\.\d+)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert project == cited == logged


def test_continuous_integration_runs_the_script_with_pinned_actions(root: Path):
    (job,) = yaml.safe_load((root / ".github/workflows/ci.yaml").read_text())["jobs"].values()
    actions = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in actions)
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]


def test_commits_are_linted_as_by_make(root: Path):
    ((hook,),) = [repo["hooks"] for repo in yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"]]
    assert hook["entry"] == "make lint" and hook["language"] == "system" and not hook["pass_filenames"]
