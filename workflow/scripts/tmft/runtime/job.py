"""What surrounds the work of each rule's script: its log, its threads, its errors."""

import gc
import os
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tmft.runtime.errors import InputError
from tmft.runtime.progress import console
from tmft.runtime.pulse import INTERVAL, running_file


@contextmanager
def job(snakemake: Any, online: bool = False) -> Iterator[None]:
    """Run the body of a rule's script: imports, work, writing of outputs.

    Standard output and error, of Python and of compiled libraries, go to the rule's log file. A failure leaves its
    traceback there, one line on the console that names the log, and exit status 1. Numeric libraries get the rule's
    threads. Only an ``online`` job may ask the hub. While the job lives, a file beside its log says so.
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
        with _pulse(log, snakemake.output):
            yield
    except InputError as error:
        _fail(snakemake.rule, log, str(error), str(error))
    except Exception as error:
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        _fail(snakemake.rule, log, message, traceback.format_exc())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


@contextmanager
def _pulse(log: Path, outputs: Iterable[str]) -> Iterator[None]:
    """Keep a file of the job's outputs beside its log, touched now and then, until the job ends."""
    file, ended = running_file(log), threading.Event()
    file.write_text("\n".join(outputs))

    def beat() -> None:
        while not ended.wait(INTERVAL):
            file.touch()

    beating = threading.Thread(target=beat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        ended.set()
        beating.join()
        file.unlink(missing_ok=True)


def _fail(rule: str, log: Path, message: str, report: str) -> None:
    print(f"Error in rule {rule}: {message} (log: {log})", file=console)
    print(report, file=sys.stderr)
    sys.exit(1)
