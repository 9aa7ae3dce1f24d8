"""Compute nodes without a network: fetch first, then everything else with the network really cut."""

import os
import shutil
import subprocess
import sys

import pytest
from hub_stand_in import Hub
from pipeline_runs import snakemake
from tiny import tiny_encoder

CUT = ["unshare", "--map-root-user", "--net"]  # into a network namespace of its own, with no device that is up
COMMIT = "c" * 40
CONFIG = f"""
device: cpu
threads: {{finetune: 1, pretrain: 1}}
seeds: [0]
training: {{epochs: 1}}
tasks:
  scenes: {{scenes: {{train: 40, validation: 20, test: 20}}, objective: cosine_regression}}
encoders:
  tiny: {{hub: some/tiny, revision: {COMMIT}, depth: 4}}
recipes:
  tmft: {{kind: finetune}}
figures:
  curve: {{kind: layer_curve, task: scenes, recipes: [tmft], encoders: [tiny], layers: [1]}}
"""


@pytest.fixture
def no_network() -> list[str]:
    """What to put before a command to cut its network."""
    if shutil.which("unshare") is None or subprocess.run([*CUT, "true"], capture_output=True).returncode != 0:
        pytest.skip("no network namespaces here")
    return CUT


def reaches(url: str, *before: str) -> bool:
    """Whether a process can connect to the host."""
    host, port = url.removeprefix("http://").split(":")
    script = f"import socket; socket.create_connection(({host!r}, {port}))"
    return subprocess.run([*before, sys.executable, "-c", script], capture_output=True).returncode == 0


def test_after_fetching_all_else_is_done_without_a_network(hub: Hub, no_network, root, tmp_path):
    folder = tmp_path / "experiment"
    folder.mkdir()
    (folder / "config.yaml").write_text(CONFIG)
    hub.models["some/tiny"] = {COMMIT: tiny_encoder("electra", tmp_path / "tiny")}
    online = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")}
    assert reaches(hub.url) and not reaches(hub.url, *no_network)

    until = ["--until", "fetch_data", "fetch_encoder", "fetch_corpus"]
    run = snakemake(folder, "--cores", "1", *until, root=root, **online)
    assert run.returncode == 0, run.stdout
    assert hub.asked and (folder / "data/encoders/tiny/provenance.json").exists()

    command = [
        *no_network,
        sys.executable,
        "-m",
        "snakemake",
        "--directory",
        folder,
        "--cores",
        "1",
        "figures/curve.pdf",
    ]
    run = subprocess.run(list(map(str, command)), cwd=root, env=os.environ | online, text=True, capture_output=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert (folder / "figures/curve.pdf").exists()
