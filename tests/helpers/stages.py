"""The stages of the pipeline: the environment that each script runs in, and what an environment pins."""

import re

import yaml
from pipeline_runs import ROOT

RULE = re.compile(r'"\.\./\.\./envs/(\w+)\.yaml".*?"\.\./scripts/(\w+)\.py"', re.DOTALL)
STAGES = [stage for rules in (ROOT / "workflow/rules").glob("*.smk") for stage in RULE.findall(rules.read_text())]


def pins(environment: str) -> dict[str, str]:
    """The versions that an environment pins, by package."""
    dependencies = yaml.safe_load((ROOT / f"envs/{environment}.yaml").read_text())["dependencies"]
    (pip,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
    return dict(pin.split("==") for pin in pip)
