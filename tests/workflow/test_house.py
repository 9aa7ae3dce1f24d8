"""What keeps the house easy to see through: rules that are a table, short scripts, and any of them run by hand."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pipeline_runs import ROOT

SCRIPTS = sorted(path.stem for path in (ROOT / "workflow" / "scripts").glob("*.py"))
RULES = sorted(path.name for path in (ROOT / "workflow" / "rules").glob("*.smk"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_has_at_most_15_lines(script):
    assert len((ROOT / f"workflow/scripts/{script}.py").read_text().splitlines()) <= 15


def test_common_rules_have_less_than_80_lines_and_the_map_less_than_60():
    assert len((ROOT / "workflow/rules/common.smk").read_text().splitlines()) < 80
    assert len((ROOT / "Snakefile").read_text().splitlines()) < 60


@pytest.mark.parametrize("rules", RULES)
def test_rules_ask_the_experiment_and_no_other_for_settings(rules):
    text = (ROOT / "workflow/rules" / rules).read_text()
    assert not re.findall(r"\bconfig\[|\bconfig\.get", text)
    assert rules == "common.smk" or not re.findall(r"^ *def ", text, re.MULTILINE)


CONFIG = """
tasks: {scenes: {scenes: {train: 20, validation: 10, test: 10}, objective: cosine_regression}}
encoders: {}
recipes: {}
figures: {}
"""


def test_a_script_is_run_by_hand_with_the_object_that_snakemake_would_give_it(tmp_path):
    (tmp_path / "config.yaml").write_text(CONFIG)

    def by_hand(target: str) -> subprocess.CompletedProcess:
        command = [sys.executable, str(ROOT / "workflow/by_hand.py"), target, str(tmp_path)]
        return subprocess.run(command, cwd=Path("/"), env=os.environ, text=True, capture_output=True)

    assert by_hand("data/pairs/scenes.csv").returncode == 0
    assert len((tmp_path / "data/pairs/scenes.csv").read_text().splitlines()) == 41
    assert by_hand("results/data/scenes.json").returncode == 0
    assert json.loads((tmp_path / "results/data/scenes.json").read_text())["splits"]["train"]["rows"] == 20
    unknown = by_hand("results/data/other.json")
    assert unknown.returncode != 0 and "results/data/other.json" in unknown.stderr
