"""What is between a sender and its server on a bad day: every so manyth request meets the next of FAULTS, all others go
to the server as they are."""
import contextlib
import http.client
import socket
import threading
import time
import urllib.parse

from support.http_server import Handler, Server, reset_at_close

# Longer than a sender that is to meet it waits for an answer.
STALL_S = 8
LATE_S = 1


class Proxy:
    """In front of the server at the url."""

    def __init__(self, url, every):
        self.server = urllib.parse.urlsplit(url).netloc
        self.every = every
        self.met = {name: 0 for name in FAULTS}
        self.requests = self.done = 0
        self.no_server = 0  # requests that came while there was none
        self.refused = {}  # what the server says where it takes no rows -> how often
        self.committed = 0  # requests with rows of windows, which are the last of a batch, that the server has taken
        self.lock = threading.Lock()
        self._server = Server(type("Ours", (_Handler,), {"proxy": self}))
        self.url = f"http://127.0.0.1:{self._server.port}"

    def next_fault(self):
        """The one that a request is to meet, or None."""
        with self.lock:
            self.requests += 1
            number, other = divmod(self.requests, self.every)
            if other:
                return None
            name = list(FAULTS)[number % len(FAULTS)]
            self.met[name] += 1
            return FAULTS[name]

    def at_rest(self):
        return self.requests == self.done

    def stop(self):
        self._server.stop()


class _Handler(Handler):
    proxy = None

    def do_POST(self):
        fault = self.proxy.next_fault()
        try:
            if fault:
                fault(self)
            else:
                self.pass_on(self.body())
        finally:
            with self.proxy.lock:
                self.proxy.done += 1

    def ask(self, body):
        """The server's status and answer; None where there is no server."""
        connection = http.client.HTTPConnection(self.proxy.server, timeout=60)
        try:
            connection.request("POST", self.path, body, {"Content-Type": self.headers.get("Content-Type", "text/plain")})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            with self.proxy.lock:
                self.proxy.no_server += 1
            return None
        finally:
            connection.close()
        with self.proxy.lock:
            if answer.status != 200:
                what = text.decode(errors="replace").split(",", 1)[0][:40]
                self.proxy.refused[what] = self.proxy.refused.get(what, 0) + 1
            elif "INSERT%20INTO%20windows%20" in self.path:
                self.proxy.committed += 1
        return answer.status, text

    def pass_on(self, body):
        answered = self.ask(body)
        if answered:
            self.say(*answered)
        else:
            self.reset()


# ---------------------------------------------------------------- faults


def _reset_in_body(handler):
    """Both sides: the server has half of the rows, and the last of these in part."""
    size = int(handler.headers["Content-Length"])
    half = handler.rfile.read(size // 2)
    host, port = handler.proxy.server.split(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=10) as server:
        server.sendall(f"POST {handler.path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {size}\r\n\r\n".encode() + half)
        reset_at_close(server)
    handler.reset()


def _lose_answer(handler):
    """The server has taken all, and its answer ends in the middle."""
    handler.ask(handler.body())
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b"\n")
    handler.wfile.flush()
    handler.reset()


def _error_without(handler):
    handler.body()
    handler.say(500, b"<html>something went wrong</html>")


def _error_after(handler):
    """Something between them fails when the server has taken all."""
    handler.ask(handler.body())
    handler.say(500, b"Code: 1000, e.displayText() = DB::Exception: it was taken, and nobody knows")


def _too_many(handler):
    handler.body()
    handler.say(429, b"later", Retry_After="1")


def _unavailable(handler):
    handler.body()
    handler.say(503, b"")


def _late(handler):
    body = handler.body()
    time.sleep(LATE_S)
    handler.pass_on(body)


def _stall(handler):
    """The server has all, and answers when nobody waits any more: beside the rows that are sent again."""
    body = handler.body()
    time.sleep(STALL_S)
    handler.pass_on(body)


FAULTS = {
    "reset in the body": _reset_in_body,
    "answer lost": _lose_answer,
    "500, not taken": _error_without,
    "500, taken": _error_after,
    "429 with Retry-After": _too_many,
    "503": _unavailable,
    "late": _late,
    "later than the time limit": _stall,
}
