"""A current ClickHouse engine (libchdb.so) behind HTTP: LIBRARY DIRECTORY PORT. A query is in the body, or an INSERT in
the parameter "query" and its rows in the body."""
import ctypes
import gzip
import http.server
import os
import sys
import threading
import urllib.parse


class Engine:
    def __init__(self, library, directory):
        self.lib = ctypes.CDLL(library)
        self.lib.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
        self.lib.chdb_connect.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
        self.lib.chdb_query_n.restype = ctypes.c_void_p
        self.lib.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                          ctypes.c_size_t]
        for name, kind in (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.c_char_p)):
            function = getattr(self.lib, f"chdb_result_{name}")
            function.restype, function.argtypes = kind, [ctypes.c_void_p]
        self.lib.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
        self.connection = self.lib.chdb_connect(
            2, (ctypes.c_char_p * 2)(b"clickhouse", f"--path={directory}/data".encode()))
        self.spool = os.path.join(directory, "body")

    def run(self, sql):
        sql = sql.encode()
        result = self.lib.chdb_query_n(self.connection[0], sql, len(sql), b"TabSeparated", 12)
        error = self.lib.chdb_result_error(result)
        length = self.lib.chdb_result_length(result)
        answer = ctypes.string_at(self.lib.chdb_result_buffer(result), length) if length else b""
        error = error.decode() if error else None
        self.lib.chdb_destroy_query_result(result)
        if error:
            raise ValueError(error)
        return answer

    def insert(self, database, sql, body):
        with open(self.spool, "wb") as f:
            f.write(body)
        what, _, form = sql.rpartition(" FORMAT ")
        what = what.replace("INSERT INTO ", f"INSERT INTO {database}.", 1)
        return self.run(f"{what} FROM INFILE '{self.spool}' FORMAT {form}")


engine = Engine(sys.argv[1], sys.argv[2])
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        database = asked.get("database", ["default"])[0]
        try:
            with lock:  # A connection that is kept holds nobody else up.
                if "query" in asked:
                    status, answer = 200, engine.insert(database, asked["query"][0], body)
                else:
                    engine.run(f"USE {database}")
                    status, answer = 200, engine.run(body.decode())
        except ValueError as error:
            status, answer = 500, str(error).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler)
print("up", flush=True)
server.serve_forever()
