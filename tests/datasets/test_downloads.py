"""Pinned downloads against a local stand-in for the download host."""

import errno
import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pandas as pd
import pytest

from tmft.datasets.downloads import fetch, resolve_mirror
from tmft.runtime.errors import InputError
from tmft.runtime.files import atomic_folder, read_json, write_csv, write_json, write_text

NAME = "toy/toy-train.csv"
CONTENT = b"a cat sleeps,a cat rests,4.0\r\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = b"something else\n"


@dataclass
class Host:
    """A download host: what it serves by path, which paths were asked for, and how long it says its answers are."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    promised_bytes: int | None = None


@pytest.fixture
def host() -> Iterator[Host]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            if self.path not in served.files:
                self.send_error(404)
                return
            content = served.files[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(served.promised_bytes or len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Host(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield served
    server.shutdown()
    server.server_close()


@pytest.fixture
def refused() -> str:
    """A URL on which nothing listens."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.server_close()
    return f"http://127.0.0.1:{server.server_port}/toy.csv"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "data" / "raw" / "toy-train.csv"


def mirror_folder(tmp_path: Path, content: bytes) -> str:
    file = tmp_path / "mirror" / NAME
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    return str(tmp_path / "mirror")


def message_of(failure: pytest.ExceptionInfo[InputError]) -> str:
    message = str(failure.value)
    assert "\n" not in message
    return message


def files_beside(target: Path) -> set[str]:
    return {path.name for path in target.parent.iterdir()}


def test_download(host: Host, target: Path) -> None:
    host.files["/toy.csv"] = CONTENT
    provenance = fetch(f"{host.url}/toy.csv", SHA256, target, NAME, None)
    assert target.read_bytes() == CONTENT
    assert files_beside(target) == {target.name}
    assert provenance == {
        "file": NAME,
        "url": f"{host.url}/toy.csv",
        "origin": f"{host.url}/toy.csv",
        "sha256": SHA256,
        "bytes": len(CONTENT),
        "retrieved": datetime.now(UTC).date().isoformat(),
    }


def test_right_file_is_not_fetched_again(host: Host, target: Path) -> None:
    host.files["/toy.csv"] = CONTENT
    fetch(f"{host.url}/toy.csv", SHA256, target, NAME, None)
    fetch(f"{host.url}/toy.csv", SHA256, target, NAME, None)
    assert host.asked == ["/toy.csv"]


def test_damaged_file_is_fetched_again(host: Host, target: Path) -> None:
    host.files["/toy.csv"] = CONTENT
    write_text(target, "damaged")
    fetch(f"{host.url}/toy.csv", SHA256, target, NAME, None)
    assert target.read_bytes() == CONTENT


def test_mirror_folder_comes_first(host: Host, target: Path, tmp_path: Path) -> None:
    mirror = mirror_folder(tmp_path, CONTENT)
    provenance = fetch(f"{host.url}/toy.csv", SHA256, target, NAME, mirror)
    assert target.read_bytes() == CONTENT
    assert provenance["origin"] == f"{mirror}/{NAME}"
    assert host.asked == []


@pytest.mark.parametrize("slash", ["", "/"])
def test_mirror_url_comes_first(host: Host, target: Path, refused: str, slash: str) -> None:
    host.files[f"/pub/{NAME}"] = CONTENT
    provenance = fetch(refused, SHA256, target, NAME, f"{host.url}/pub{slash}")
    assert target.read_bytes() == CONTENT
    assert provenance["origin"] == f"{host.url}/pub/{NAME}"


def test_file_missing_in_mirror_comes_from_url(host: Host, target: Path, tmp_path: Path) -> None:
    host.files["/toy.csv"] = CONTENT
    for mirror in (str(tmp_path / "nowhere"), f"{host.url}/pub"):
        target.unlink(missing_ok=True)
        assert fetch(f"{host.url}/toy.csv", SHA256, target, NAME, mirror)["origin"] == f"{host.url}/toy.csv"


@pytest.mark.parametrize("place", ["url", "mirror"])
def test_wrong_hash_is_kept_aside(host: Host, target: Path, tmp_path: Path, place: str) -> None:
    host.files["/toy.csv"] = OTHER if place == "url" else CONTENT
    mirror = mirror_folder(tmp_path, OTHER) if place == "mirror" else None
    with pytest.raises(InputError) as failure:
        fetch(f"{host.url}/toy.csv", SHA256, target, NAME, mirror)
    message = message_of(failure)
    kept = target.with_name("toy-train.csv.wrong-sha256")
    assert all(part in message for part in (NAME, SHA256, hashlib.sha256(OTHER).hexdigest(), str(kept)))
    assert kept.read_bytes() == OTHER
    assert files_beside(target) == {kept.name}


def test_nothing_found_names_mirror_and_url(target: Path, tmp_path: Path, refused: str) -> None:
    with pytest.raises(InputError) as failure:
        fetch(refused, SHA256, target, NAME, str(tmp_path / "mirror"))
    message = message_of(failure)
    assert f"{tmp_path}/mirror/{NAME} (No such file or directory)" in message
    assert f"{refused} (ConnectionError)" in message
    assert files_beside(target) == set()


def test_missing_at_url(host: Host, target: Path) -> None:
    with pytest.raises(InputError, match="HTTP status 404"):
        fetch(f"{host.url}/toy.csv", SHA256, target, NAME, None)


def test_download_cut_short(host: Host, target: Path) -> None:
    host.files["/toy.csv"] = CONTENT
    host.promised_bytes = 2 * len(CONTENT)
    with pytest.raises(InputError, match="not found at"):
        fetch(f"{host.url}/toy.csv", SHA256, target, NAME, None)
    assert files_beside(target) == set()


@pytest.mark.parametrize("place", ["url", "mirror"])
def test_no_space_left(host: Host, small_disk: Path, tmp_path: Path, place: str) -> None:
    large = bytes(2**21)
    host.files["/toy.csv"] = large
    mirror = mirror_folder(tmp_path, large) if place == "mirror" else None
    target = small_disk / "toy-train.csv"
    with pytest.raises(InputError, match="no space left") as failure:
        fetch(f"{host.url}/toy.csv", hashlib.sha256(large).hexdigest(), target, NAME, mirror)
    assert str(target) in message_of(failure)
    assert files_beside(target) == set()


def test_mirror_of_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMFT_MIRROR", raising=False)
    assert resolve_mirror(None) is None
    assert resolve_mirror("/configured") == "/configured"
    monkeypatch.setenv("TMFT_MIRROR", "/environment")
    assert resolve_mirror("/configured") == "/environment"


def test_json_is_strict_and_exact(tmp_path: Path) -> None:
    value = {"name": "Größe\r\n", "values": [0.1, 1e-300, None, True]}
    write_json(tmp_path / "new" / "value.json", value)
    assert read_json(tmp_path / "new" / "value.json") == value
    with pytest.raises(ValueError):
        write_json(tmp_path / "nan.json", {"spearman": float("nan")})
    assert not (tmp_path / "nan.json").exists()


def test_csv_keeps_digits(tmp_path: Path) -> None:
    write_csv(tmp_path / "table.csv", pd.DataFrame({"layer": [0, 1], "spearman": [0.1 + 0.2, 1 / 3]}))
    header, *rows = (tmp_path / "table.csv").read_text().splitlines()
    assert header == "layer,spearman"
    assert [float(row.split(",")[1]) for row in rows] == [0.1 + 0.2, 1 / 3]


def test_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "encoders" / "toy"
    with pytest.raises(InputError, match="no space left"), atomic_folder(folder) as partial:
        (partial / "half").write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert list(folder.parent.iterdir()) == []

    for content in ("old", "new"):
        with atomic_folder(folder) as partial:
            (partial / f"{content}.json").write_text(json.dumps(content))
    assert [path.name for path in folder.iterdir()] == ["new.json"]
    assert list(folder.parent.iterdir()) == [folder]
