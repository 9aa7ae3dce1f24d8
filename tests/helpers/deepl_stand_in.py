"""A local stand-in for the DeepL API: it translates by a given function, bills characters, and fails when told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class StandIn:
    """What the server does, and what it has seen.

    ``faults`` has what goes wrong with each coming request for a translation, None for nothing: an HTTP status,
    ``drop`` (the connection ends without an answer), ``stall`` (no answer until the caller is gone), ``few`` (the last
    translation is lost), ``reorder`` (translations in reverse), ``bare`` (the texts alone, as the API answers unless
    asked for more), ``blank`` (the last translation is empty) or ``garbled`` (no JSON). When it is used up nothing goes
    wrong any more.
    """

    translate: Callable[[str, str], str]  # text and target language -> translation
    quota: int = 10**12  # characters it bills before it answers 456
    reported_quota: int | None = None  # what it says the quota is; the truth by default
    faults: Iterator[int | str | None] = iter(())
    requests: list[dict[str, Any]] = field(default_factory=list)  # their bodies
    sizes: list[int] = field(default_factory=list)  # of these bodies, in bytes
    credentials: set[str | None] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    paid: list[tuple[str, str]] = field(default_factory=list)  # text and target language of all that was billed
    stalled: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    @property
    def billed(self) -> int:
        """Characters billed so far."""
        return sum(len(text) for text, _ in self.paid)

    def answer(self, body: dict[str, Any], fault: str | None) -> tuple[int, dict[str, Any] | str]:
        """Status and content of the answer to a request for a translation."""
        texts, target = body["text"], body["target_lang"]
        if self.billed + sum(map(len, texts)) > self.quota:
            return 456, {"message": "Quota exceeded"}
        self.paid += [(text, target) for text in texts]
        translations = [
            {
                "detected_source_language": body["source_lang"],
                "text": self.translate(text, target),
                "billed_characters": len(text),
                "model_type_used": "stand_in",
            }
            for text in texts
        ]
        kept = {
            "few": translations[:-1],
            "reorder": translations[::-1],
            "bare": [{"text": one["text"]} for one in translations],
            "blank": [*translations[:-1], translations[-1] | {"text": " "}],
        }.get(fault, translations)
        return 200, "{" if fault == "garbled" else {"translations": kept}


@contextmanager
def serving(stand_in: StandIn, port: int = 0) -> Iterator[StandIn]:
    """Serve on a local port, 0 for any that is free; its address is ``stand_in.url``."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._note()
            limit = stand_in.quota if stand_in.reported_quota is None else stand_in.reported_quota
            self._send(200, {"character_count": stand_in.billed, "character_limit": limit})

        def do_POST(self) -> None:
            self._note()
            content = self.rfile.read(int(self.headers["Content-Length"]))
            body = json.loads(content)
            stand_in.requests.append(body)
            stand_in.sizes.append(len(content))
            fault = next(stand_in.faults, None)
            if fault == "stall":
                stand_in.stalled.set()
                self.rfile.read(1)
            elif isinstance(fault, int):
                self._send(fault, {"message": "as told"})
            elif fault != "drop":
                self._send(*stand_in.answer(body, fault))

        def _note(self) -> None:
            stand_in.credentials.add(self.headers["Authorization"])
            stand_in.paths.add(self.path)

        def _send(self, status: int, content: dict[str, Any] | str) -> None:
            encoded = (content if isinstance(content, str) else json.dumps(content)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    stand_in.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        server.server_close()
