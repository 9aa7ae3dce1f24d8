"""A stand-in for conda, as far as Snakemake uses it: an environment is a plain virtual environment of its pip pins."""

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import yaml


def install(folder: Path, python: Path) -> None:
    """Put ``conda`` and its ``activate`` into ``folder``/bin, to be run by ``python``."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "activate").write_text('export PATH="$1/bin:$PATH"\n')
    (folder / "bin" / "conda").write_text(f'#!/bin/sh\nexec "{python}" "{Path(__file__).resolve()}" "$@"\n')
    (folder / "bin" / "conda").chmod(0o755)


def create(file: Path, prefix: Path) -> None:
    """Make the environment of a file."""
    dependencies = yaml.safe_load(file.read_text())["dependencies"]
    assert f"python={sys.version_info.major}.{sys.version_info.minor}" in dependencies, "another Python is pinned"
    (pins,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
    venv.create(prefix, with_pip=True)
    subprocess.run([prefix / "bin" / "python", "-m", "pip", "install", "--quiet", *pins], check=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["info", "--json"]:
            print(
                json.dumps({"conda_prefix": os.path.dirname(os.path.dirname(shutil.which("conda"))), "platform": "any"})
            )
        case ["--version"]:
            print("conda 24.7.1")
        case ["config", "--get", "channel_priority", "--json"]:
            print(json.dumps({"get": {"channel_priority": "strict"}}))
        case ["env", "create", *options]:
            create(*(Path(options[options.index(name) + 1]) for name in ("--file", "--prefix")))
        case ["clean", *_]:
            pass
        case other:
            sys.exit(f"the stand-in for conda does not know {other}")
