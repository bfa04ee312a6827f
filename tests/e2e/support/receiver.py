"""A server that windows are sent to, as tests/e2e/export_formats.c writes them, and that answers as a test says."""
import os
import subprocess
import threading

from lib import BUILD, make_directory, wait_until
from support.http_server import Handler, Server
from support.profile import Daemon

SENDING_DAEMON = os.path.join(BUILD, "tests/sending/bin/jxperfd")


class Receiver:
    """Takes windows. answer(handler, body) says what becomes of a request: True to take it, False when the function
    has answered, or not, itself. What was taken is counted by its key."""

    def __init__(self, answer=None, port=0, tls=None):
        self.answer = answer or (lambda handler, body: True)
        self.windows = {}  # (host, store, number) -> [(start, app), ...], one of each time that it came
        self.requests = 0
        self.headers = []
        self._lock = threading.Lock()
        receiver = self

        class ReceiverHandler(Handler):
            def do_POST(self):
                body = self.body()
                with receiver._lock:
                    receiver.requests += 1
                    receiver.headers.append(dict(self.headers))
                if receiver.answer(self, body):
                    receiver.take(body)
                    self.say(200)

        self._server = Server(ReceiverHandler, port, tls)
        self.port = self._server.port
        self.url = f"{'https' if tls else 'http'}://localhost:{self.port}"

    def take(self, body):
        with self._lock:
            for line in body.decode().splitlines():
                host, store, number, start, app = line.split(" ")
                self.windows.setdefault((host, store, int(number)), []).append((start, app))

    def numbers(self):
        with self._lock:
            return {number for _, _, number in self.windows}

    def wait_for(self, count, seconds=60):
        wait_until(lambda: len(self.windows) >= count, f"{count} windows at the receiver ({len(self.windows)})", seconds)

    def stop(self):
        self._server.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def certificate(directory, name="localhost"):
    """The paths of a certificate that nobody but itself vouches for, and of its key."""
    files = os.path.join(directory, f"{name}.pem"), os.path.join(directory, f"{name}.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName=DNS:{name}", "-out", files[0], "-keyout", files[1]],
                   check=True, capture_output=True)
    return files


class Sender(Daemon):
    """A daemon with destinations, in lines of YAML each, or as the url of one that is called 'there'. Filled: so many
    windows wait for that one already. It writes windows as the receiver reads them, unless it is another program."""

    def __init__(self, *destinations, state=None, more="", filled=0, http="127.0.0.1:0", program=SENDING_DAEMON):
        directory = make_directory()
        state = state or os.path.join(directory, "state")
        if filled:
            os.makedirs(state, mode=0o700, exist_ok=True)
            subprocess.run([os.path.join(BUILD, "bench/fill_store"), state, str(filled), "0", "there"], check=True)
        self.more = more
        super().__init__(program=program, http=http, state=state, directory=directory, config=self.text(*destinations))

    def write(self, *destinations):
        self.configure(self.text(*destinations))

    def text(self, *destinations):
        entries = [d if ":" in d and not d.startswith("http") else f"name: there\nclickhouse: {d}" for d in destinations]
        text = f"host-id: h1\n{self.more}\nexport:{'' if entries else ' []'}\n"
        for entry in entries:
            lines = entry.splitlines()
            if not any(line.startswith("batch:") for line in lines):
                lines.append("batch: {age: 100ms}")
            text += "  - " + "\n    ".join(lines) + "\n"
        return text
