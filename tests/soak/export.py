#!/usr/bin/env python3
"""A fleet's windows in ClickHouse with two shards, by the daemon's own sender: as fast as that goes, and then everything goes
wrong that can. At the end each window's row, and each row of every table, is there once, with what was sent.

  EXPORT_HOSTS (default 2000)    EXPORT_WINDOWS (default 50), of each host
  EXPORT_KILLS (default 10)      how often a server is killed while windows are sent, one shard and the other in turn
  EXPORT_FAULT_EVERY (default 50)   every so manyth request meets a fault: tests/e2e/support/proxy.py
  EXPORT_FAULTS=no                without the load that has faults
  EXPORT_QUICK_S (default 300)   so long may the first load take, and
  EXPORT_REPORT_S (default 3)    so long the median of three reports of it

A line for each figure, and one for whatever is not as it has to be; then the exit status is 1.
"""
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import BUILD, Process, Skip, wait_until  # noqa: E402
from support.clickhouse import CLUSTER, two_shards  # noqa: E402
from support.profile import ctl, succeeded  # noqa: E402
from support.proxy import FAULTS, Proxy  # noqa: E402

HOSTS, WINDOWS = int(os.environ.get("EXPORT_HOSTS", "2000")), int(os.environ.get("EXPORT_WINDOWS", "50"))
KILLS, FAULT_EVERY = int(os.environ.get("EXPORT_KILLS", "10")), int(os.environ.get("EXPORT_FAULT_EVERY", "50"))
QUICK_S, REPORT_S = float(os.environ.get("EXPORT_QUICK_S", "300")), float(os.environ.get("EXPORT_REPORT_S", "3"))
LIMIT_S = 1800
BATCH = 50
APPS = 10  # bench/export_load.c has so many, and a pair of accesses there is wasteful with this chance.
CHANCE = 1 / 3
# Less than support/proxy.py stalls for.
TIMEOUT_S = 5
DISK = "8g"  # of one shard, in memory; full for a while
# By the clock of a host, which is off in one of the loads.
BY_CLOCK = {"day", "start", "start_unix_ns", "end_unix_ns"}

wrong = []
began = time.monotonic()


def say(text):
    print(f"{time.monotonic() - began:6.0f} s  {text}", flush=True)


def hold(condition, what):
    if not condition:
        wrong.append(what)
        say(f"WRONG: {what}")


# ---------------------------------------------------------------- sending


class Load(Process):
    """bench/export_load, and what it says at its end."""

    def __init__(self, url, database, *options):
        self.started = time.monotonic()
        super().__init__([os.path.join(BUILD, "bench/export_load"), "clickhouse", url, f"hosts={HOSTS}", f"windows={WINDOWS}",
                          f"batch={BATCH}", f"database={database}", "programs=1", *options])

    def wait(self, seconds):
        try:
            status = self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            status = f"not at its end after {seconds} s"
        hold(status == 0, f"export_load: {status}: {self.output()[-1000:]}")
        said = self.output()
        self.seconds = float((re.search(r"MiB in ([\d.]+) s", said) or [0, "inf"])[1])
        self.sent = int((re.search(r"(?m)^(\d+) windows,", said) or [0, "0"])[1])
        self.failed = {}
        for reason, count in re.findall(r"failed: (\w+) (\d+)", said):
            self.failed[reason] = self.failed.get(reason, 0) + int(count)
        hold("dropped" not in said, f"windows were dropped: {said}")
        hold(self.sent == HOSTS * WINDOWS, f"{self.sent} windows were sent of {HOSTS * WINDOWS}")
        self.pair_rows = int((re.search(r"truth: (\d+) rows", said) or [0, "0"])[1])
        truth = re.findall(r"truth (\w+): (\d+) pairs, (\d+) bytes checked, (\d+) wasted", said)
        self.truth = {kind: tuple(map(int, numbers)) for kind, *numbers in truth}
        hold(len(self.truth) == 3, f"no truth: {said}")
        say(next((line for line in said.splitlines() if "windows/s" in line), "nothing was sent"))


# ---------------------------------------------------------------- counts


class Tables:
    """What is in a database, asked for without our own questions."""

    def __init__(self, server, database):
        self.server, self.database = server, database
        schema = succeeded(ctl("fleet-schema", "--print", "--database", database))
        names = re.findall(rf"CREATE TABLE IF NOT EXISTS {database}\.(\w+) \(", schema)
        self.data = names[:names.index("windows")]

    def ask(self, sql):
        return [line.split("\t") for line in self.server.query(sql).splitlines()]

    def numbers(self, sql):
        return tuple(map(int, self.ask(sql)[0]))

    def contents(self, table):
        """How many different rows there are, and a hash of them all. A row that is there twice counts once if it is the
        same both times."""
        columns = [name for name, *_ in self.ask(f"DESCRIBE TABLE {self.database}.{table}") if name not in BY_CLOCK]
        if table == "contexts":
            columns.remove("host")  # A host lists those that its sender has not yet sent.
        listed = ", ".join(columns)
        return self.numbers(f"SELECT count(), sum(cityHash64({listed})) FROM (SELECT DISTINCT {listed} FROM {self.database}.{table})")

    def of_windows(self, table, rows):
        """A hash of how many rows each window has."""
        of = "host, store, window_no"
        return self.ask(f"SELECT sum(cityHash64({of}, toUInt64(n))) FROM (SELECT {of}, {rows} AS n FROM "
                        f"{self.database}.{table} GROUP BY {of} HAVING n > 0)")

    def check_keys(self):
        """Each window's row once, and of each window as many rows as it says."""
        key = "app, host, store, window_no"
        rows, windows = self.numbers(f"SELECT count(), uniqExact({key}) FROM {self.database}.windows")
        hold(windows == HOSTS * WINDOWS, f"{windows} windows are there of {HOSTS * WINDOWS}")
        by_host = self.numbers(f"SELECT count(), min(n), max(n), min(first), max(last) FROM (SELECT host, uniqExact(store, window_no) "
                               f"AS n, min(window_no) AS first, max(window_no) AS last FROM {self.database}.windows GROUP BY host)")
        hold(by_host == (HOSTS, WINDOWS, WINDOWS, 1, WINDOWS), f"windows by host: {by_host}")
        again = [f"windows {rows - windows}"]
        for i, table in enumerate(self.data, 1):
            rows, keys = self.numbers(f"SELECT count(), uniqExact({key}, row_no) FROM {self.database}.{table}")
            if rows:
                again.append(f"{table} {rows - keys} of {rows}")
            hold(self.of_windows(table, "uniqExact(row_no)") == self.of_windows("windows", f"any(rows[{i}])"),
                 f"rows of {table} are not those that their windows say")
        say(f"{self.database}: rows that are there again, and count once: {', '.join(again)}")

    def check_sums(self, load):
        different = (f"SELECT DISTINCT app, host, store, window_no, row_no, kind, count, checked_bytes, wasteful_bytes "
                     f"FROM {self.database}.pairs")
        rows, = self.numbers(f"SELECT count() FROM ({different})")
        hold(rows == load.pair_rows, f"{rows} rows of pairs, and {load.pair_rows} were sent")
        sums = self.ask(f"SELECT kind, sum(count), sum(checked_bytes), sum(wasteful_bytes) FROM ({different}) GROUP BY kind")
        found = {kind: tuple(map(int, numbers)) for kind, *numbers in sums}
        hold(found == load.truth, f"sums are {found}, and {load.truth} was sent")
        orphans, = self.numbers(f"SELECT count() FROM {self.database}.pairs WHERE trap_context GLOBAL NOT IN (SELECT context FROM "
                                f"{self.database}.contexts) OR watch_context GLOBAL NOT IN (SELECT context FROM {self.database}.contexts)")
        hold(orphans == 0, f"{orphans} pairs name a context that is not there")
        say(f"{self.database}: {rows} rows of pairs; sums by kind: {found}")

    def report(self, *arguments):
        return json.loads(succeeded(ctl("fleet", "report", "--url", self.server.url, "--database", self.database,
                                        "--format", "json", *arguments, timeout=600)))

    def check_report(self, load):
        """Nothing is sampled in the sums of all windows. Of what they were drawn from, intervals say where it is."""
        took = []
        for _ in range(3):
            start = time.monotonic()
            report = self.report()
            took.append(time.monotonic() - start)
        kinds = {k["kind"]: k for k in report["inefficiency"]}
        hold(report["window"]["merged"]["windows"] == HOSTS * WINDOWS and report["window"]["merged"]["hosts"] == HOSTS,
             f"the report is of {report['window']['merged']['windows']} windows of {report['window']['merged']['hosts']} hosts")
        for kind, truth in load.truth.items():
            said = tuple(kinds[kind][name] for name in ("checked_accesses", "checked_bytes", "wasteful_bytes"))
            hold(said == truth, f"{self.database}: the report says {said} of {kind}, and it is {truth}")
            low, high = kinds[kind]["fraction_ci95"]
            hold(low <= truth[2] / truth[1] <= high, f"{kind}: {truth[2] / truth[1]} is not in {low} to {high}")
            say(f"{self.database}: {kind}: {kinds[kind]['fraction']:.5f}, {low:.5f} to {high:.5f}")
        median = statistics.median(took)
        say(f"{self.database}: three reports of all: {', '.join(f'{s:.2f}' for s in took)} s, median {median:.2f} s")
        return median

    def check_intervals(self):
        held = 0
        for app in range(APPS):
            for kind in self.report("--app", f"app{app}")["inefficiency"]:
                low, high = kind["fraction_ci95"]
                held += low <= CHANCE <= high
        # Of 30 intervals of 95% fewer hold in one case of 300.
        hold(held >= 25, f"{held} of {3 * APPS} intervals hold the chance that windows were drawn with")
        say(f"{self.database}: {held} of {3 * APPS} intervals of applications hold the chance that windows were drawn with")


# ---------------------------------------------------------------- what goes wrong


class Trouble(threading.Thread):
    """Kills the one server and the other, and fills a disk, at parts of the load."""

    def __init__(self, servers, proxy, load):
        super().__init__(daemon=True)
        self.servers, self.proxy, self.load = servers, proxy, load
        self.kills = 0
        self.full = None  # what was refused for it

    def run(self):
        batches = HOSTS * -(-WINDOWS // BATCH)
        moments = sorted([(number / (KILLS + 1), self.kill) for number in range(1, KILLS + 1)] + [(0.5, self.fill)],
                         key=lambda moment: moment[0])
        for part, do in moments:
            while self.proxy.committed < part * batches and self.load.alive():
                time.sleep(0.05)
            do()

    def kill(self):
        server = self.servers[self.kills % len(self.servers)]
        during = self.load.alive()
        server.kill()
        time.sleep(1)
        server.start()
        wait_until(server.answers, "the server that was killed", 60)
        self.kills += during

    def fill(self):
        """The disk of one shard, until an INSERT fails for it."""
        disk = self.servers[1].data
        if not os.path.ismount(disk) or not self.load.alive():
            return
        filler, before = os.path.join(disk, "filler"), dict(self.proxy.refused)
        with open(filler, "wb") as f:
            chunk = bytes(1 << 20)
            try:
                while True:
                    f.write(chunk)
                    f.flush()
            except OSError:
                pass
        until = time.monotonic() + 30
        while not self.full and time.monotonic() < until and self.load.alive():
            time.sleep(0.2)
            self.full = {what: n for what, n in self.proxy.refused.items() if n > before.get(what, 0)}
        os.unlink(filler)


def mount_disk(server):
    """Has data of the server that starts with it on a disk of its own."""
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", server.data], check=False, capture_output=True)
    if mounted.returncode != 0:
        say(f"no disk will be full: {mounted.stderr.decode().strip()}")
    return mounted.returncode == 0


# ---------------------------------------------------------------- loads


def undisturbed(servers):
    load = Load(servers[0].url, "undisturbed", "senders=4")
    load.wait(LIMIT_S)
    hold(load.seconds <= QUICK_S, f"{load.seconds} s are more than {QUICK_S}")
    hold(not load.failed, f"requests failed: {load.failed}")
    tables = Tables(servers[0], "undisturbed")
    median = tables.check_report(load)
    hold(median <= REPORT_S, f"a report takes {median:.2f} s, more than {REPORT_S}")
    tables.check_intervals()
    tables.check_keys()
    tables.check_sums(load)
    return load


def disturbed(servers):
    proxy = Proxy(servers[0].url, FAULT_EVERY)
    load = Load(proxy.url, "disturbed", "senders=8", f"timeout={TIMEOUT_S}", "skew=1")
    trouble = Trouble(servers, proxy, load)
    trouble.start()
    load.wait(LIMIT_S)
    trouble.join(120)
    wait_until(proxy.at_rest, "requests on their way", 90)
    say(f"{proxy.requests} requests, {proxy.no_server} while there was no server; servers were killed {trouble.kills} times")
    say(f"faults: {', '.join(f'{name} {count}' for name, count in proxy.met.items())}")
    say(f"the server refused: {proxy.refused}; with a full disk: {trouble.full}")
    say(f"the senders' failures: {load.failed}")
    hold(trouble.kills == KILLS, f"servers were killed {trouble.kills} times while windows were sent")
    hold(all(proxy.met.values()), f"not every fault of {list(FAULTS)} was met")
    hold(trouble.full or not os.path.ismount(servers[1].data), "nothing was refused with a full disk")
    for reason in ("broken", "busy", "server", "timeout"):
        hold(load.failed.get(reason), f"no sender says '{reason}'")
    tables = Tables(servers[0], "disturbed")
    tables.check_keys()
    tables.check_sums(load)
    tables.check_report(load)
    proxy.stop()


def same_contents(server):
    databases = [Tables(server, name) for name in ("undisturbed", "disturbed")]
    for table in [*databases[0].data, "windows", "contexts"]:
        found = [d.contents(table) for d in databases]
        hold(found[0] == found[1], f"{table} differs: {found}")
        if found[0][0]:
            say(f"{table}: {found[0][0]} rows, the same in both")


def main():
    servers = two_shards()
    mounted = False
    try:
        servers[1].kill()
        mounted = mount_disk(servers[1])
        servers[1].start()
        wait_until(servers[1].answers, "ClickHouse")
        for database in ("undisturbed", "disturbed"):
            for server in servers:
                succeeded(ctl("fleet-schema", "--apply", "--url", server.url, "--cluster", CLUSTER, "--database", database))
        say(f"{HOSTS} hosts, {WINDOWS} windows each")
        hold(undisturbed(servers).truth, "no truth")
        if os.environ.get("EXPORT_FAULTS") != "no":
            disturbed(servers)
            same_contents(servers[0])
    finally:
        for server in servers:
            server.stop()
        if mounted:
            subprocess.run(["umount", "-l", servers[1].data], check=True)
    say("all is there once" if not wrong else f"{len(wrong)} things are wrong")


try:
    main()
except Skip as reason:
    print(f"SKIP: {reason}")
sys.exit(1 if wrong else 0)
