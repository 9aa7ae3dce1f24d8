"""What has been translated and paid for, in an SQLite file that survives kills and crashes."""

import json
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tmft.runtime.errors import InputError

LONGEST_WAIT = 3600.0  # seconds, for another job's request
ROOM = 2**20  # bytes that must be free before a request: more than its answer takes


class Direction(NamedTuple):
    """What decides a translation beside its text: DeepL's codes of both languages, and the formality or None."""

    source: str
    target: str
    formality: str | None


class Translation(NamedTuple):
    """A translated text and where it comes from."""

    translation: str
    billed_characters: int
    model_type: str | None  # as reported by the server
    client: str  # version of the client library
    server: str
    date: str  # UTC


class Answer(NamedTuple):
    """The answer to a request, as it came."""

    direction: Direction
    texts: tuple[str, ...]
    content: str
    client: str
    server: str
    date: str


class TranslationCache:
    """Translations by text and direction, and answers that are paid but not read. Several processes may use one file.

    A transaction ends on the disk, so what was added is there whatever happens to the process afterwards.
    Every method raises InputError where the file is damaged or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=LONGEST_WAIT, isolation_level=None)
        self._execute(
            """
            CREATE TABLE IF NOT EXISTS translations (
                text TEXT, source TEXT, target TEXT, formality TEXT,
                translation TEXT NOT NULL, billed_characters INTEGER NOT NULL, model_type TEXT,
                client TEXT NOT NULL, server TEXT NOT NULL, date TEXT NOT NULL,
                PRIMARY KEY (text, source, target, formality)
            )
            """
        )
        self._execute(
            """
            CREATE TABLE IF NOT EXISTS answers (
                answer TEXT NOT NULL, characters INTEGER NOT NULL, problem TEXT
            )
            """
        )

    def get(self, direction: Direction, texts: Iterable[str]) -> dict[str, Translation]:
        """The translations of those ``texts`` that have one."""
        rows = {text: self._execute(_SELECT, *_key(direction, text)).fetchone() for text in texts}
        found = {text: Translation(*row) for text, row in rows.items() if row}
        return {text: one for text, one in found.items() if one.translation.strip()}

    def billed(self) -> int:
        """The characters billed for all that is here, in all directions; for answers without use, their texts'."""
        return self._execute(
            """
            SELECT (SELECT COALESCE(SUM(billed_characters), 0) FROM translations)
                 + (SELECT COALESCE(SUM(characters), 0) FROM answers)
            """
        ).fetchone()[0]

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other processes from adding: they wait until the body is done and see what it has added."""
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._execute("ROLLBACK")
            raise
        self._execute("COMMIT")

    def add(self, direction: Direction, translations: Mapping[str, Translation]) -> None:
        """Store translations by text; inside ``exclusive``, all of them or none."""
        for text, translation in translations.items():
            self._execute(_INSERT, *_key(direction, text), *translation)

    def require_room(self) -> None:
        """Raise InputError where the disk could not hold an answer."""
        if shutil.disk_usage(self._path.parent).free < ROOM:
            raise self._refusal("no space left for what is to be paid")

    def keep(self, answer: Answer) -> None:
        """Store an answer before it is read."""
        self._execute("INSERT INTO answers VALUES (?, ?, NULL)", json.dumps(answer), sum(map(len, answer.texts)))

    def unread(self) -> Iterator[tuple[int, Answer]]:
        """The answers that have not been read, with their numbers."""
        for number, kept in self._execute("SELECT rowid, answer FROM answers WHERE problem IS NULL").fetchall():
            direction, texts, *others = json.loads(kept)
            yield number, Answer(Direction(*direction), tuple(texts), *others)

    def close(self, number: int, without: Iterable[str], problem: str) -> None:
        """Note that an answer is read: it goes, or stays as paid, for the ``problem``, if texts are ``without`` use."""
        if characters := sum(map(len, without)):
            update = "UPDATE answers SET problem = ?, characters = ? WHERE rowid = ?"
            self._execute(update, problem, characters, number)
        else:
            self._execute("DELETE FROM answers WHERE rowid = ?", number)

    def _execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        try:
            return self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise self._refusal(str(error)) from error

    def _refusal(self, problem: str) -> InputError:
        return InputError(
            f"{self._path}: {problem}; it holds what was paid for: see to its disk and its access rights, or put a "
            "copy of it back, and run the same command again to go on"
        )


_INSERT = f"INSERT OR REPLACE INTO translations VALUES (?, ?, ?, ?{', ?' * len(Translation._fields)})"
_SELECT = f"""
    SELECT {", ".join(Translation._fields)} FROM translations
    WHERE text = ? AND source = ? AND target = ? AND formality = ?
"""


def _key(direction: Direction, text: str) -> tuple[str, str, str, str]:
    return text, direction.source, direction.target, direction.formality or "default"
