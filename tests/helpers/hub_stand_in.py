"""A local stand-in for the Hugging Face hub: models by commit, with the hub's own hashes of their files."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Hub:
    """Files by model and commit, the newest commit last; a file that arrives damaged; and the paths asked for."""

    url: str = ""
    models: dict[str, dict[str, Path]] = field(default_factory=dict)
    damaged: str | None = None
    gated: set[str] = field(default_factory=set)  # models whose terms nobody has accepted
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a path."""
        pattern = r"/api/models/(?P<model>\w+/\w+)/(?P<what>revision|tree)/(?P<revision>\w+)"
        file = r"/(?P<model>\w+/\w+)/resolve/(?P<revision>\w+)/(?P<file>.+)"
        asked = re.match(pattern, path) or re.match(file, path)
        if asked is None or asked["model"] not in self.models:
            return 404, {"X-Error-Code": "RepoNotFound"}, b""
        commits = self.models[asked["model"]]
        commit = list(commits)[-1] if asked["revision"] == "main" else asked["revision"]
        if commit not in commits:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b""
        if "file" in asked.groupdict() and asked["model"] in self.gated:
            return 403, {"X-Error-Code": "GatedRepo"}, b""
        if "file" in asked.groupdict():
            if not (commits[commit] / asked["file"]).is_file():
                return 404, {"X-Error-Code": "EntryNotFound"}, b""
            content = (commits[commit] / asked["file"]).read_bytes()
            headers = {"X-Repo-Commit": commit, "ETag": f'"{_oid(content)}"'}
            if _is_large(asked["file"]):
                headers["X-Linked-ETag"] = f'"{hashlib.sha256(content).hexdigest()}"'
            return 200, headers, content[::-1] if asked["file"] == self.damaged else content
        if asked["what"] == "revision":
            return 200, {}, json.dumps({"id": asked["model"], "sha": commit, "siblings": []}).encode()
        root = commits[commit]
        files = [_entry(file, root) for file in root.rglob("*") if file.is_file()]
        return 200, {"Content-Type": "application/json"}, json.dumps(files).encode()


def _entry(file: Path, root: Path) -> dict[str, Any]:
    """A file in the listing of a commit."""
    content = file.read_bytes()
    entry = {"type": "file", "path": str(file.relative_to(root)), "size": len(content), "oid": _oid(content)}
    if _is_large(file.name):
        entry["lfs"] = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 100}
    return entry


def _oid(content: bytes) -> str:
    """The hash by which git knows a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _is_large(name: str) -> bool:
    """Whether a file is kept beside git, by its sha256."""
    return name.endswith((".safetensors", ".bin"))


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """Serve on a local port; its address is ``hub.url``."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.asked.append(self.path)
            status, headers, body = hub.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
