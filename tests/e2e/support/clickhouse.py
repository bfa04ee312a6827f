"""ClickHouse, unpacked and not installed (tests/clickhouse/fetch): Debian's 18.16 with two shards, and a current engine
behind the same HTTP interface."""
import os
import subprocess
import sys
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
        self.data = os.path.join(directory, "data")
        self._command = [os.path.join(program, "clickhouse-server"), "--config-file=config.xml"]
        self._options = {"cwd": directory,
                         "env": {**os.environ, "LD_LIBRARY_PATH": f"{libraries}:{libraries}/clickhouse"}}
        self.start()

    def start(self):
        """Again, with the data of before, where it was killed."""
        super().__init__(self._command, **self._options)

    def kill(self):
        """As a machine does that runs out of memory."""
        self.child.kill()
        self.child.wait()

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


class Engine(Process):
    """A current ClickHouse, behind the part of its HTTP interface that `jxperfctl fleet` and a sender need."""

    def __init__(self):
        library = unpacked("chdb", "libchdb.so")
        if not library:
            skip("npm's @chdb/lib-linux-x64-gnu cannot be downloaded")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        super().__init__([sys.executable, os.path.join(os.path.dirname(__file__), "chdb_server.py"),
                          os.path.join(library, "libchdb.so"), make_directory(), str(port)])
        self.wait_for("up")

    def query(self, sql):
        return query(self.url, sql)


def windows_program():
    return os.path.join(BUILD, "tests/fleet-windows")


def send(*arguments):
    """What tests/fleet/windows.c has sent: windows, rows of pairs, observations, checked and wasteful bytes."""
    done = subprocess.run([windows_program(), *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]
