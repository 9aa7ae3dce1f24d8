"""The commit that is taken of a hub model: the newest once, then the one in the lock file, whoever fetches."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from hub_stand_in import Hub
from pipeline_runs import snakemake
from tiny import tiny_encoder

from tmft.encoders.hub import pinned
from tmft.runtime.errors import InputError
from tmft.runtime.files import read_json

OLDER, NEWER = "1" * 40, "2" * 40


@pytest.fixture
def hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """A stand-in that this process takes for the hub."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    return hub


def asked(hub: Hub) -> list[str]:
    """What was asked of the hub about models; the client may ask for other things of its own."""
    return [path for path in hub.asked if path.startswith("/api/models/")]


def unpinned(model: str) -> dict[str, Any]:
    return {"hub": model, "family": "bert"}


def refused(source: dict[str, Any], lock: Path) -> str:
    with pytest.raises(InputError) as failure:
        pinned(source, lock)
    assert "\n" not in str(failure.value)
    return str(failure.value)


def test_the_newest_commit_is_kept(hub: Hub, tmp_path: Path) -> None:
    hub.models["org/model"] = {OLDER: tmp_path}
    lock = tmp_path / "revisions.json"
    assert pinned(unpinned("org/model"), lock) == unpinned("org/model") | {"revision": OLDER}
    hub.models["org/model"][NEWER] = tmp_path
    hub.models["org/other"] = {NEWER: tmp_path}
    assert pinned(unpinned("org/model"), lock)["revision"] == OLDER
    assert pinned(unpinned("org/other"), lock)["revision"] == NEWER
    assert read_json(lock) == {"org/model": OLDER, "org/other": NEWER}
    assert asked(hub) == ["/api/models/org/model/revision/main", "/api/models/org/other/revision/main"]


@pytest.mark.parametrize("source", [{"path": "folder"}, {"package": "toy"}, {"hub": "org/model", "revision": OLDER}])
def test_other_sources_stay_as_they_are(hub: Hub, source: dict[str, str], tmp_path: Path) -> None:
    assert pinned(source, tmp_path / "revisions.json") == source
    assert asked(hub) == [] and list(tmp_path.iterdir()) == []


def test_fetches_side_by_side_lose_no_commit_and_ask_once(hub: Hub, tmp_path: Path) -> None:
    models = [f"org/model{number}" for number in range(12)]
    hub.models |= {model: {f"{number:040x}": tmp_path} for number, model in enumerate(models)}
    lock = tmp_path / "revisions.json"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda model: pinned(unpinned(model), lock), models * 3))
    assert read_json(lock) == {model: f"{number:040x}" for number, model in enumerate(models)}
    assert len(asked(hub)) == len(models)


def test_what_cannot_be_resolved_leaves_the_lock_file_alone(hub: Hub, tmp_path: Path) -> None:
    lock = tmp_path / "revisions.json"
    assert "org/nothing: the hub has no such model" in refused(unpinned("org/nothing"), lock)
    assert not lock.exists()
    lock.write_text("<<<<<<< a merge")
    assert f"{lock}: not a JSON file" in refused(unpinned("org/model"), lock)
    assert lock.read_text() == "<<<<<<< a merge"


def test_another_clone_fetches_the_same_commit_and_nothing_is_stale(hub: Hub, root: Path, tmp_path: Path) -> None:
    for commit, family in ((OLDER, "bert"), (NEWER, "electra")):
        folder = tiny_encoder(family, tmp_path / commit, 2)
        for model in ("org/one", "org/two"):
            hub.models.setdefault(model, {})[commit] = folder
    newest = {model: hub.models[model].pop(NEWER) for model in hub.models}
    encoders = {key: {"hub": f"org/{key}", "depth": 2} for key in ("one", "two")}
    config = {"encoders": encoders, "tasks": {}, "recipes": {}, "figures": {}}
    environment = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_TOKEN": "hf_SECRET123"}
    targets = ("data/encoders/one", "data/encoders/two")
    first, second = tmp_path / "first", tmp_path / "second"
    for clone in (first, second):
        clone.mkdir()
        (clone / "config.yaml").write_text(yaml.safe_dump(config))

    run = snakemake(first, *targets, "--cores", "2", root=root, **environment)
    assert run.returncode == 0, run.stdout
    assert read_json(first / "revisions.json") == {"org/one": OLDER, "org/two": OLDER}
    assert "Nothing to be done" in snakemake(first, *targets, "-n", "--cores", "1", root=root).stdout

    for model, folder in newest.items():
        hub.models[model][NEWER] = folder
    (second / "revisions.json").write_bytes((first / "revisions.json").read_bytes())
    run = snakemake(second, targets[0], "--cores", "1", root=root, **environment)
    assert run.returncode == 0, run.stdout
    provenance = [json.loads((clone / targets[0] / "provenance.json").read_text()) for clone in (first, second)]
    assert provenance[0] == provenance[1] and provenance[0]["commit"] == OLDER
    kept = [file.read_bytes() for clone in (first, second) for file in clone.rglob("*") if file.is_file()]
    assert kept and not any(b"hf_SECRET123" in content for content in kept) and "hf_SECRET123" not in run.stdout
