"""Run a command with a stand-in for DeepL that tells the scenes in made-up languages: demo/translator.py COMMAND ..."""

import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow" / "scripts"))

from tmft.datasets.scenes.relexification import relexify  # noqa: E402


class Translator(BaseHTTPRequestHandler):
    """The two addresses of the DeepL API that the pipeline asks."""

    def do_GET(self) -> None:
        self._send({"character_count": 0, "character_limit": 10**12})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        translations = [
            {"text": relexify(text, body["target_lang"]), "billed_characters": len(text)} for text in body["text"]
        ]
        self._send({"translations": translations})

    def _send(self, content: dict[str, object]) -> None:
        encoded = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""


with ThreadingHTTPServer(("127.0.0.1", 0), Translator) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = {"DEEPL_SERVER_URL": f"http://127.0.0.1:{server.server_port}", "DEEPL_AUTH_KEY": "none"}
    command = subprocess.Popen(sys.argv[1:], env=os.environ | here)  # noqa: S603
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command decides what an interrupt means
    status = command.wait()
    server.shutdown()
sys.exit(status)
