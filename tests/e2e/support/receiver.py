"""A server that windows are sent to, as tests/e2e/export_formats.c writes them, and that answers as a test says."""
import contextlib
import http.server
import os
import socket
import ssl
import struct
import subprocess
import threading

from lib import BUILD, Process, make_directory, wait_until
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

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver._lock:
                    receiver.requests += 1
                    receiver.headers.append(dict(self.headers))
                if receiver.answer(self, body):
                    receiver.take(body)
                    self.say(200)

            def say(self, status, body=b"", **headers):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def reset(self):
                """Breaks the connection off, as a server does that dies."""
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True

            def handle(self):
                with contextlib.suppress(OSError, ValueError):  # Whoever sends may break off, and the test.
                    super().handle()

            def finish(self):
                with contextlib.suppress(OSError, ValueError):
                    super().finish()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # A client that does not like the certificate.

        self._server = Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True,
                                                      do_handshake_on_connect=False)
        self.url = f"{'https' if tls else 'http'}://localhost:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

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
        self._server.shutdown()
        self._server.server_close()

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
    windows wait for that one already."""

    def __init__(self, *destinations, state=None, more="", filled=0, http="127.0.0.1:0"):
        directory = make_directory()
        state = state or os.path.join(directory, "state")
        if filled:
            os.makedirs(state, mode=0o700, exist_ok=True)
            subprocess.run([os.path.join(BUILD, "bench/fill_store"), state, str(filled), "0", "there"], check=True)
        self.config = os.path.join(directory, "jxperfd.yaml")
        self.more = more
        self.write(*destinations)
        self.state = state
        self.socket = os.path.join(directory, "control.sock")
        Process.__init__(self, [SENDING_DAEMON, "--config", self.config, "--socket", self.socket, "--http", http,
                                "--state-dir", state], start_new_session=True)
        self.wait_for("ready")

    def write(self, *destinations):
        entries = [d if ":" in d and not d.startswith("http") else f"name: there\nclickhouse: {d}" for d in destinations]
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(f"host-id: h1\n{self.more}\nexport:{'' if entries else ' []'}\n")
            for entry in entries:
                lines = entry.splitlines()
                if not any(line.startswith("batch:") for line in lines):
                    lines.append("batch: {age: 100ms}")
                f.write("  - " + "\n    ".join(lines) + "\n")

    def metric(self, name, **labels):
        """The value of a series, None where there is none."""
        want = "".join(sorted(f'{k}="{v}"' for k, v in labels.items()))
        for line in self.get("/metrics").splitlines():
            series, _, value = line.rpartition(" ")
            found, _, inside = series.partition("{")
            if found == name and "".join(sorted(inside.rstrip("}").split(","))) == want:
                return float(value)
        return None
