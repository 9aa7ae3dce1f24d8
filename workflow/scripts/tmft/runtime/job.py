"""What surrounds the work of each rule's script: its files as paths, its log, its threads, its errors."""

import gc
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tmft.runtime.errors import InputError
from tmft.runtime.progress import console


class Paths:
    """The inputs or outputs of a rule, by name or place: a path each, or a list of paths."""

    def __init__(self, files: Any) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return _as_paths(getattr(self._files, name))

    def __getitem__(self, place: int | str) -> Any:
        return _as_paths(self._files[place])

    def __iter__(self) -> Iterator[Path]:
        return map(Path, self._files)

    def get(self, name: str) -> Any:
        """The files of this name; none where the rule has no such name."""
        return _as_paths(self._files.get(name, []))


def _as_paths(files: Any) -> Any:
    return Path(files) if isinstance(files, str) else [Path(file) for file in files]


class Job:
    """A rule's job: the ``snakemake`` object of its script, with paths for files."""

    def __init__(self, snakemake: Any) -> None:
        self.input, self.output = Paths(snakemake.input), Paths(snakemake.output)
        self.params, self.config, self.threads = snakemake.params, snakemake.config, snakemake.threads
        self.wildcards = dict(snakemake.wildcards.items())


@contextmanager
def job(snakemake: Any, online: bool = False) -> Iterator[Job]:
    """Run the body of a rule's script: imports, work, writing of outputs.

    Standard output and error, of Python and of compiled libraries, go to the rule's log file. A failure leaves its
    traceback there, one line on the console that names the log, and exit status 1. Numeric libraries get the rule's
    threads. Only an ``online`` job may ask the hub.
    """
    gc.set_threshold(100_000, 20, 100)  # at the usual one, looking for garbage is a fifth of the time of the imports
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
    threads = str(snakemake.threads)
    os.environ.update(OMP_NUM_THREADS=threads, MKL_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads)
    os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_PROGRESS_BARS="1")
    if not online:
        os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    try:
        yield Job(snakemake)
    except InputError as error:
        _fail(snakemake.rule, log, str(error), str(error))
    except Exception as error:
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        _fail(snakemake.rule, log, message, traceback.format_exc())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _fail(rule: str, log: Path, message: str, report: str) -> None:
    print(f"Error in rule {rule}: {message} (log: {log})", file=console)
    print(report, file=sys.stderr)
    sys.exit(1)
