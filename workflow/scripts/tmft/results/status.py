"""How far the experiment is, figure by figure, and what is left of it in hours (docs/costs.md)."""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tmft.datasets.tokens import SIDES
from tmft.experiment.work import Work
from tmft.results.hours import EVALUATION, Load, Timing, estimate
from tmft.results.records import read_records
from tmft.runtime.files import read_json
from tmft.runtime.pulse import files_under_way

LENGTH = 16.0  # tokens in a sentence of a task or corpus that is not tokenised yet


@dataclass(frozen=True)
class Found:
    """What there is of a run: a result or not, by the present settings and code or not, and how long it took."""

    there: bool = False
    current: bool = False
    collapsed: bool = False
    timing: Timing | None = None
    device: tuple[str, int] | None = None  # name and threads


class Survey:
    """What is there of each run, which runs are left, and how long they take."""

    def __init__(self, works: list[Work], logs: Path, calibration: Path) -> None:
        self.works = {work.file: work for work in works}
        self._found = {work.file: _look_for(work) for work in works}
        self._running = files_under_way(logs)
        known = [(found.device, found.timing) for found in self._found.values() if found.timing]
        self.runs_timed = len(known)
        if calibration.exists():
            content = read_json(calibration)
            known += [(_device(content["environment"]), _calibrated(timing)) for timing in content["timings"]]
        self.device = Counter(device for device, _ in known).most_common(1)[0][0] if known else None
        self.timings = [timing for device, timing in known if device == self.device]

    def row(self, figure: str, files: list[str]) -> dict[str, Any]:
        """A figure's runs: all, done (those that collapsed too), running, collapsed, left, and the hours of these.

        A result by other settings or code than the present ones counts as left (``outdated``). ``unknown`` runs are in
        no hours; without any timing all that are left are unknown.
        """
        left = [file for file in files if self.is_left(file)]
        seconds = [self.seconds(file) for file in left]
        return {
            "figure": figure,
            "runs": len(files),
            "done": len(files) - len(left),
            "running": sum(file in self._running for file in left),
            "collapsed": sum(self._found[file].collapsed for file in files if file not in left),
            "left": len(left),
            "hours_left": sum(one for one in seconds if one is not None) / 3600,
            "unknown": seconds.count(None),
            "outdated": sum(self._found[file].there and not self._found[file].current for file in left),
        }

    def is_left(self, file: str) -> bool:
        """Whether a result is missing or outdated, or weights are that another run still needs."""
        if not self._found[file].current:
            return True
        work = self.works[file]
        gone = not all(Path(folder).exists() for folder in work.weights)
        return gone and any(self._needed(follower) for follower in work.followers)

    def seconds(self, file: str) -> float | None:
        """How long a run will take; None where that cannot be said."""
        work = self.works[file]
        if work.sentences is None or None in work.widths or not self.timings:
            return None
        tokens = work.sentences * (self.length(work) or LENGTH)
        loads = [Load(work.encoder, *size, tokens) for size in zip(work.widths, work.layers, strict=True)]
        return sum(estimate(load, self.timings) for load in loads)

    def length(self, work: Work) -> float | None:
        """The mean number of tokens in a sentence, by this encoder's tokenizer or else another's; None without both."""
        if work.tokens is None:
            return None
        own = Path(work.tokens)
        files = [own] if own.exists() else sorted(own.parent.glob("*.parquet"))
        return _mean_length(files[0]) if files else None

    def _needed(self, follower: str) -> bool:
        return self.is_left(follower) if follower in self.works else not Path(follower).exists()


def tabulate(survey: Survey, figures: dict[str, list[str]]) -> pd.DataFrame:
    """A row a figure that needs runs, and one for all of them, where a run that several figures share counts once."""
    rows = [survey.row(figure, files) for figure, files in figures.items() if files]
    return pd.DataFrame([*rows, survey.row("all", list(survey.works))])


def to_text(table: pd.DataFrame) -> str:
    """The table for a terminal."""
    return _readable(table).to_string(index=False)


def to_markdown(table: pd.DataFrame, remarks: list[str]) -> str:
    """The table and what has to be said of it as a document."""
    readable = _readable(table)
    lines = ["# What is left", "", _line(readable.columns), _line(["---", *["---:"] * (len(readable.columns) - 1)])]
    lines += [_line(row) for row in readable.itertuples(index=False)]
    return "\n".join([*lines, "", *(f"- {remark}" for remark in remarks)]) + "\n"


def remarks(survey: Survey, table: pd.DataFrame) -> list[str]:
    """What has to be said of the hours, and what is not known."""
    total = table.iloc[-1]
    found = []
    if survey.timings:
        name, threads = survey.device
        source = f"{survey.runs_timed} runs that are done" if survey.runs_timed else "a calibration"
        found.append(f"hours of one job at a time on {name}, {threads} CPU threads, going by {source}")
    elif total["left"]:
        found.append("nothing is known of this machine yet; `snakemake --cores 1 hours_left` times a few steps on it")
    left = [survey.works[file] for file in survey.works if survey.is_left(file)]
    if survey.timings and (unknown := sorted({work.encoder for work in left if survey.seconds(work.file) is None})):
        found.append(
            f"{total['unknown']} runs are in no hours ({', '.join(unknown)}): the encoder's width or the text is not "
            "known; fetch them, or give the encoder's hidden_size in the configuration"
        )
    if survey.timings and any(survey.length(work) is None for work in left):
        found.append(f"sentences that are not tokenised yet are taken to have {LENGTH:.0f} tokens")
    if total["outdated"]:
        found.append(
            f"{total['outdated']} results are by other settings or code than the present ones and count as left"
        )
    return found


def _look_for(work: Work) -> Found:
    """What there is of a run: its result, or one that waits beside its place for the others of its job."""
    result = Path(work.file)
    places = [path for path in (result, result.with_name(f"{result.name}.finished")) if path.exists()]
    if not places:
        return Found()
    if work.code is None:
        return Found(True, work.settings.items() <= read_json(places[0])["settings"].items())
    records = read_records(places[0])
    provenance, cost = records[-1]["provenance"], records[-1]["cost"]
    same_code = provenance["code"] == work.code
    return Found(
        there=True,
        current=same_code and provenance["settings"] == work.settings,
        collapsed=any(record["status"] == "collapsed" for record in records),
        timing=_timing(work, cost) if same_code else None,
        device=_device(records[-1]["environment"]),
    )


def _timing(work: Work, cost: dict[str, float]) -> Timing | None:
    """What a run says about the speed; nothing where it trained nothing."""
    if None in work.widths or not cost["training_tokens"]:
        return None
    tokens = cost["training_tokens"] + EVALUATION * cost["evaluated_tokens"]
    return Timing(Load(work.encoder, work.widths[0], work.layers[0], tokens), cost["seconds"])


def _calibrated(timing: dict[str, Any]) -> Timing:
    return Timing(Load(None, timing["width"], timing["layer"], timing["tokens"]), timing["seconds"])


def _device(environment: dict[str, Any]) -> tuple[str, int]:
    return environment["device_name"], environment["threads"]


@cache
def _mean_length(tokens: Path) -> float:
    table = pq.read_table(tokens, columns=list(SIDES))
    return sum(pc.mean(pc.list_value_length(table[side])).as_py() for side in SIDES) / len(SIDES)


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """The columns for people; hours with the number of runs that they leave out."""

    def hours(row: pd.Series) -> str:
        if row["unknown"] == row["left"] > 0:
            return "unknown"
        return f"{row['hours_left']:.1f}" + (f" + {row['unknown']} unknown" if row["unknown"] else "")

    columns = ["figure", "runs", "done", "running", "collapsed", "left"]
    return table[columns].assign(**{"hours left": table.apply(hours, axis=1)})


def _line(cells: Any) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
