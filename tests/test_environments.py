"""The environments of the stages: pinned, and from one lock file."""

import re

import yaml


def test_environments_follow_the_lock_file(root):
    lock = dict(re.findall(r"^([^=\s#]+)==(\S+)$", (root / "requirements/lock.txt").read_text(), re.MULTILINE))
    files = sorted((root / "envs").glob("*.yaml"))
    assert len(files) >= 4
    for path in files:
        pins = next(
            entry["pip"] for entry in yaml.safe_load(path.read_text())["dependencies"] if isinstance(entry, dict)
        )
        for pin in pins:
            name, _, version = pin.partition("==")
            assert lock.get(name) == version, f"{path.name}: {pin}"


def test_every_requirement_is_locked(root):
    lock = {line.partition("==")[0].lower() for line in (root / "requirements/lock.txt").read_text().splitlines()}
    for path in (root / "requirements").glob("*.txt"):
        if path.name != "lock.txt":
            names = {line.lower() for line in path.read_text().splitlines() if line and not line.startswith("#")}
            assert names <= lock, path.name


def test_every_rule_names_an_environment_that_exists(root):
    for rules in (root / "workflow/rules").glob("*.smk"):
        text = rules.read_text()
        named = re.findall(r'"\.\./\.\./(envs/\w+\.yaml)"', text)
        assert len(named) == len(re.findall(r"^ *(?:rule|checkpoint)\b", text, re.MULTILINE))
        assert all((root / name).is_file() for name in named)
