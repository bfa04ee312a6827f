#!/usr/bin/env python3
"""Reports of a fleet: windows of real JVMs in a real ClickHouse with two shards, and in a current engine, asked for by
`jxperfctl fleet`; and fleets whose truth is known."""
# Takes a place for the servers and the JVMs.
import json
import math
import os
import socket
import threading
import time

from lib import Process, compile_java, jdks, make_directory, note, run, test, wait_until
from support.clickhouse import CLUSTER, PASSWORD, READER, Engine, send, two_shards
from support.profile import NO_GUARDS, Daemon, ctl, succeeded

PROGRAM = """
public class %s {
    static int[] a = new int[1 << 14];
    static volatile int sink;
    static int sum() { int s = 0; for (int i = 0; i < a.length; i++) s += a[i]; return s; }
    static void fill(int n) { for (int i = 0; i < a.length; i++) a[i] = n; }
    public static void main(String[] args) {
        System.out.println("up");
        for (int n = 0;; n++) {
            fill(n); fill(n);
            sink = sum();
            byte[] garbage = new byte[2048];
            garbage[n & 2047] = 1;
            sink += garbage[n & 2047];
        }
    }
}
"""
HOSTS = ("east1", "east2")
WINDOWS = 3
KINDS = "dead-store,silent-load,cpu,objects"


class Fleet:
    """Two hosts, each with a JVM of the same application and a daemon that has had some windows of it."""

    def __init__(self):
        self.servers = two_shards()
        self.url = self.servers[0].url
        for server in self.servers:
            succeeded(ctl("fleet-schema", "--apply", "--url", server.url, "--cluster", CLUSTER, "--keep", "90d"))
        self.engine = Engine()
        succeeded(ctl("fleet-schema", "--apply", "--url", self.engine.url, "--keep", "90d"))
        classes = compile_java({"Shop.java": PROGRAM % "Shop"})
        self.daemons = {}
        for host in HOSTS:
            jvm = Process([jdks()[0].java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", classes, "Shop"])
            jvm.wait_for("up")
            directory = make_directory()
            config = os.path.join(directory, "jxperfd.yaml")
            with open(config, "w", encoding="ascii") as f:
                f.write(f"host-budget: 90%\n{NO_GUARDS}\n")
            daemon = Daemon(options=["--config", config], state=os.path.join(directory, "state"))
            for _ in range(WINDOWS):
                succeeded(daemon.ctl("attach", str(jvm.pid), "--duration", "2s", "--kinds", KINDS, "--budget", "20%"))
            self.daemons[host] = daemon
            jvm.stop()
        for host, daemon in self.daemons.items():
            path = os.path.join(daemon.state, "windows.db")
            for url in (self.url, self.engine.url):
                windows, *_ = send("store", path, url, host, "blue", f"store of {host}")
                assert windows == WINDOWS, (host, windows)

    def ask(self, *arguments, url=None):
        return succeeded(ctl("fleet", *arguments, "--url", url or self.url))

    def json(self, *arguments, url=None):
        return json.loads(self.ask("report", "--format", "json", *arguments, url=url))


fleet = Fleet()

# What the two ways to ask differ in, or what has only one of them.
OTHERWISE = {"generated", "hosts", "by_hosts", "setup_cpu_s"}


def differences(a, b, path=""):
    """Where two reports differ by more than the order of sums."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(set(a) | set(b)):
            if name not in OTHERWISE:
                yield from differences(a.get(name), b.get(name), f"{path}.{name}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}[{i}]")
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        if not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{path}: {a} and {b}"
    elif a != b:
        yield f"{path}: {str(a)[:200]} and {str(b)[:200]}"


@test
def the_report_of_one_host_is_what_its_daemon_says_of_these_windows():
    for n, host in enumerate(HOSTS):
        own = json.loads(succeeded(fleet.daemons[host].ctl("report", "--app", "Shop", "--format", "json")))
        where = f"host = '{host}'"
        assert fleet.servers[0].query(f"SELECT count() FROM jxperf.windows WHERE {where}") == f"{WINDOWS}\n"
        if n > 0:
            break
        del own["comparison"]
        send("store", os.path.join(fleet.daemons[host].state, "windows.db"), fleet.url, "alone", "alone", "alone's")
        for url in (fleet.url,):
            asked = fleet.json("--app", "Shop", "--group", "alone", url=url)
            del asked["comparison"]
            found = list(differences(own, asked))
            assert not found, "\n".join(found[:20])


run()
