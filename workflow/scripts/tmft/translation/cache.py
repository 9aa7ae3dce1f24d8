"""What has been translated and paid for, in an SQLite file that survives kills and crashes."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

LONGEST_WAIT = 3600.0  # seconds, for another job's request


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


class TranslationCache:
    """Translations by text and direction. Several processes may use one file at once.

    A transaction ends on the disk, so what was added is there whatever happens to the process afterwards.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, timeout=LONGEST_WAIT, isolation_level=None)
        self._connection.execute(
            """
            CREATE TABLE IF NOT EXISTS translations (
                text TEXT, source TEXT, target TEXT, formality TEXT,
                translation TEXT NOT NULL, billed_characters INTEGER NOT NULL, model_type TEXT,
                client TEXT NOT NULL, server TEXT NOT NULL, date TEXT NOT NULL,
                PRIMARY KEY (text, source, target, formality)
            )
            """
        )

    def get(self, direction: Direction, texts: Iterable[str]) -> dict[str, Translation]:
        """The translations of those ``texts`` that have one."""
        rows = {text: self._connection.execute(_SELECT, _key(direction, text)).fetchone() for text in texts}
        return {text: Translation(*row) for text, row in rows.items() if row}

    def billed(self) -> int:
        """The characters billed for all that is here, in all directions."""
        return self._connection.execute("SELECT COALESCE(SUM(billed_characters), 0) FROM translations").fetchone()[0]

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other processes from adding: they wait until the body is done and see what it has added."""
        with self._connection:  # commits at the end, or takes all back if the body raises
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def add(self, direction: Direction, translations: Mapping[str, Translation]) -> None:
        """Store translations by text; inside ``exclusive``, all of them or none."""
        rows = [(*_key(direction, text), *translation) for text, translation in translations.items()]
        self._connection.executemany(_INSERT, rows)


_INSERT = f"INSERT INTO translations VALUES (?, ?, ?, ?{', ?' * len(Translation._fields)})"
_SELECT = f"""
    SELECT {", ".join(Translation._fields)} FROM translations
    WHERE text = ? AND source = ? AND target = ? AND formality = ?
"""


def _key(direction: Direction, text: str) -> tuple[str, str, str, str]:
    return text, direction.source, direction.target, direction.formality or "default"
