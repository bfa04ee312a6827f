"""ClickHouse, unpacked and not installed (tests/clickhouse/fetch): Debian's 18.16 with two shards, and a current engine
behind the same HTTP interface."""
import ctypes
import http.server
import os
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

from lib import BUILD, HANG_S, Process, make_directory, skip, wait_until
from support.prometheus import free_port
from support.unpacked import unpacked

READER, PASSWORD = "reader", "it's a secret"
CLUSTER = "shards"

CONFIG = """<yandex>
<logger><level>warning</level><console>1</console></logger>
<listen_host>127.0.0.1</listen_host>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{inter}</interserver_http_port>
<path>{directory}/data/</path><tmp_path>{directory}/tmp/</tmp_path>
<users_config>users.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
<remote_servers><{cluster}>{shards}</{cluster}></remote_servers>
</yandex>"""
SHARD = """<shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>{tcp}</port></replica></shard>"""
USERS = f"""<yandex>
<profiles><default><max_memory_usage>4000000000</max_memory_usage></default>
<readonly><readonly>1</readonly></readonly></profiles>
<users>
<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
<{READER}><password>{PASSWORD}</password><networks><ip>127.0.0.1</ip></networks><profile>readonly</profile><quota>default</quota></{READER}>
</users>
<quotas><default></default></quotas>
</yandex>"""


class Server(Process):
    def __init__(self, ports, shards):
        program = unpacked("clickhouse", "usr/sbin/clickhouse-server")
        if not program:
            skip("Debian's package clickhouse-server cannot be downloaded")
        libraries = os.path.join(program, "../lib/x86_64-linux-gnu")
        directory = make_directory()
        for name in ("data", "tmp"):
            os.mkdir(os.path.join(directory, name))
        self._write(directory, "config.xml", CONFIG.format(
            directory=directory, cluster=CLUSTER, shards="".join(SHARD.format(tcp=tcp) for tcp in shards), **ports))
        self._write(directory, "users.xml", USERS)
        self.url = f"http://127.0.0.1:{ports['http']}"
        super().__init__([os.path.join(program, "clickhouse-server"), "--config-file=config.xml"], cwd=directory,
                         env={**os.environ, "LD_LIBRARY_PATH": f"{libraries}:{libraries}/clickhouse"})

    @staticmethod
    def _write(directory, name, text):
        with open(os.path.join(directory, name), "w", encoding="ascii") as f:
            f.write(text)

    def answers(self):
        try:
            return self.query("SELECT 1") == "1\n"
        except OSError:
            return False

    def query(self, sql):
        return query(self.url, sql)


def query(url, sql):
    with urllib.request.urlopen(url, data=sql.encode(), timeout=HANG_S) as answer:
        return answer.read().decode()


def two_shards():
    """Two servers, each a shard of the cluster CLUSTER."""
    ports = [{name: free_port() for name in ("http", "tcp", "inter")} for _ in range(2)]
    servers = [Server(p, [other["tcp"] for other in ports]) for p in ports]
    wait_until(lambda: all(s.answers() for s in servers), "ClickHouse")
    return servers


class Engine:
    """A current ClickHouse in this process, with an HTTP interface for what `jxperfctl fleet` and a sender ask."""

    def __init__(self):
        root = unpacked("chdb", "libchdb.so")
        if not root:
            skip("npm's @chdb/lib-linux-x64-gnu cannot be downloaded")
        self._library(os.path.join(root, "libchdb.so"))
        path = make_directory()
        words = (ctypes.c_char_p * 2)(b"clickhouse", f"--path={path}/data".encode())
        self.connection = self.lib.chdb_connect(2, words)
        self.lock = threading.Lock()
        self.spool = os.path.join(path, "body")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _library(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
        self.lib.chdb_connect.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
        self.lib.chdb_query_n.restype = ctypes.c_void_p
        self.lib.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                          ctypes.c_size_t]
        for name, kind in (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.c_char_p)):
            function = getattr(self.lib, f"chdb_result_{name}")
            function.restype, function.argtypes = kind, [ctypes.c_void_p]
        self.lib.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]

    def run(self, sql):
        with self.lock:
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

    def query(self, sql):
        return self.run(sql).decode()

    def _handler(engine):  # noqa: N805: the handler has a self of its own
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                body = self.rfile.read(int(self.headers["Content-Length"]))
                database = asked.get("database", ["default"])[0]
                try:
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

            def log_message(self, *arguments):
                pass

        return Handler

    def stop(self):
        self.server.shutdown()


def windows_program():
    return os.path.join(BUILD, "tests/fleet-windows")


def send(*arguments):
    """What tests/fleet/windows.c has sent: windows, rows of pairs, observations, checked and wasteful bytes."""
    done = subprocess.run([windows_program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]
