"""Servers of tests: what a request has, and an answer that may be any."""
import contextlib
import gzip
import http.server
import socket
import ssl
import struct
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    """Of a request; do_POST is the test's."""

    protocol_version = "HTTP/1.1"

    def body(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        return gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body

    def say(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reset(self):
        """Breaks the connection off, as a server does that dies."""
        reset_at_close(self.connection)
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


def reset_at_close(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Server(http.server.ThreadingHTTPServer):
    """Serves on a thread of its own until it is stopped; tls: the paths of a certificate and its key."""

    daemon_threads = True

    def __init__(self, handler, port=0, tls=None):
        super().__init__(("127.0.0.1", port), handler)
        self.port = self.server_address[1]
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, *_):
        pass  # Whoever sends may break off, or not like the certificate.

    def stop(self):
        self.shutdown()
        self.server_close()
