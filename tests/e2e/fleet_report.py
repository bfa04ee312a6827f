#!/usr/bin/env python3
"""Reports of a fleet: windows of real JVMs in a real ClickHouse with two shards, and in a current engine, asked for by
`jxperfctl fleet`; and fleets whose truth is known."""
import json
import math
import os
import re
import signal
import socket
import threading
import time

from lib import ROOT, Process, compile_java, jdks, make_directory, note, run, test
from support.clickhouse import CLUSTER, PASSWORD, READER, Engine, send, two_shards
from support.profile import CLIENT, NO_GUARDS, Daemon, ctl, succeeded

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
            daemon = Daemon(config=f"host-budget: 90%\n{NO_GUARDS}\n")
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

# What the two ways to ask differ in: who is asked, and which of several rows with the same path stands for all of them.
OTHERWISE = {"generated", "comparison", "hosts", "by_hosts", "tier", "bci", "line", "instruction", "attribution"}


def words(value):
    """Says what a value is, but for the last digits of its numbers and what may differ."""
    if isinstance(value, dict):
        return {name: words(v) for name, v in value.items() if name not in OTHERWISE}
    if isinstance(value, list):
        return sorted((words(v) for v in value), key=json.dumps)
    return float(f"{value:.4g}") if isinstance(value, float) else value


def in_order(rows):
    """Rows that come to the same are in any order in a report."""
    return sorted(rows, key=lambda row: json.dumps(words(row), sort_keys=True))


def differences(a, b, path=""):
    """Where two reports differ by more than the order of sums: numbers by more than 1e-9, the rest at all."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(set(a) | set(b)):
            if name not in OTHERWISE:
                yield from differences(a.get(name), b.get(name), f"{path}.{name}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(in_order(a), in_order(b))):
            yield from differences(x, y, f"{path}[{i}]")
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        if not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{path}: {a} and {b}"
    elif a != b:
        yield f"{path}: {str(a)[:200]} and {str(b)[:200]}"


def own_report(host):
    return json.loads(succeeded(fleet.daemons[host].ctl("report", "--app", "Shop", "--format", "json")))


@test
def the_report_of_one_host_is_what_its_daemon_says_of_these_windows():
    send("store", os.path.join(fleet.daemons[HOSTS[0]].state, "windows.db"), fleet.url, "alone", "alone", "alone's")
    own, asked = own_report(HOSTS[0]), fleet.json("--app", "Shop", "--group", "alone")
    assert asked["window"]["merged"]["windows"] == WINDOWS and asked["window"]["merged"]["hosts"] == 1, asked["window"]
    found = list(differences(own, asked))
    assert not found, "\n".join(found[:20])


@test
def a_current_engine_answers_the_same():
    asked = [fleet.json("--app", "Shop", "--group", "blue", url=url)
             for url in (fleet.url, fleet.engine.url)]
    assert asked[0]["window"]["merged"]["windows"] == len(HOSTS) * WINDOWS, asked[0]["window"]
    found = list(differences(*asked))
    assert not found, "\n".join(found[:20])


@test
def every_format_shows_a_fleet():
    text = fleet.ask("report", "--app", "Shop", "--group", "blue")
    assert f"merged from {len(HOSTS) * WINDOWS} windows" in text and "\nof 2 hosts\n" in text, text
    assert "Shop.fill" in text and "Shop.sum" in text, text
    for form in ("collapsed", "speedscope", "sarif"):
        assert "Shop" in fleet.ask("report", "--app", "Shop", "--format", form), form
    for form in ("pprof", "html"):
        path = os.path.join(make_directory(), f"fleet.{form}")
        fleet.ask("report", "--app", "Shop", "--format", form, "--output", path)
        assert os.path.getsize(path) > 500, form


@test
def one_that_may_only_read_can_ask():
    path = os.path.join(make_directory(), "password")
    with open(path, "w", encoding="ascii") as f:
        f.write(PASSWORD + "\n")
    arguments = ("fleet", "report", "--url", fleet.url, "--app", "Shop", "--user", READER)
    assert "Shop.fill" in succeeded(ctl(*arguments, "--password-file", path))
    os.environ["JXPERF_CLICKHOUSE_PASSWORD"] = PASSWORD
    assert "Shop" in succeeded(ctl("fleet", "top", "--url", fleet.url, "--user", READER))
    os.environ["JXPERF_CLICKHOUSE_PASSWORD"] = "another"
    refused = ctl(*arguments)
    del os.environ["JXPERF_CLICKHOUSE_PASSWORD"]
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1 and "password" in refused.stderr.lower(), refused
    assert PASSWORD not in refused.stderr and "another" not in refused.stderr, refused.stderr


@test
def sets_of_the_same_windows_do_not_differ():
    same = fleet.ask("diff", "group=blue,app=Shop", "group=alone,app=Shop")
    assert "no difference" in same.splitlines()[0], same
    wrong = ctl("fleet", "diff", "nonsense", "app=x", "--url", fleet.url)
    assert wrong.returncode == 2 and "'nonsense'" in wrong.stderr, wrong


# ---------------------------------------------------------------- fleets that are known

TRUE_FRACTION, METHODS = 0.3, 12
TOTALS = ("checked_accesses", "checked_bytes", "wasteful_bytes", "fraction", "fraction_ci95", "cpu_share", "cpu_share_ci95", "by_region")
GROUPS = 10
KNOWN_HOSTS, KNOWN_WINDOWS = int(os.environ.get("FLEET_HOSTS", "120")), int(os.environ.get("FLEET_WINDOWS", "4"))


def dead_stores(report):
    return next(k for k in report["inefficiency"] if k["kind"] == "dead_store")


@test
def the_truth_lies_within_the_intervals():
    sent = send("fleet", fleet.url, "known", 7, KNOWN_HOSTS, KNOWN_WINDOWS)
    started = time.monotonic()
    report = fleet.json("--app", "known")
    took = time.monotonic() - started
    kind = dead_stores(report)
    note(f"{sent[0]} windows of {KNOWN_HOSTS} hosts: {took:.2f} s; fraction {kind['fraction']:.4f}, "
         f"{kind['fraction_ci95'][0]:.4f} to {kind['fraction_ci95'][1]:.4f}")
    assert report["window"]["merged"]["windows"] == sent[0], (report["window"], sent)
    assert report["window"]["merged"]["hosts"] == KNOWN_HOSTS and report["window"]["merged"]["by_hosts"]
    held = 0
    for group in range(GROUPS):
        low, high = dead_stores(fleet.json("--app", "known", "--group", f"g{group}"))["fraction_ci95"]
        held += low <= TRUE_FRACTION <= high
    note(f"{held} of {GROUPS} intervals hold the truth")
    assert held >= GROUPS - 3, held  # Of ten of 95% it is fewer in 1 of 1,000.


@test
def a_method_that_wastes_more_is_told_with_how_much():
    """Of CPU time ticks in pairs are one half, and each of the METHODS takes as much of them; then one has 30%, in vain."""
    first, hosts = 0.3, 60
    rises = first / 2 - TRUE_FRACTION / METHODS / 2
    send("fleet", fleet.url, "before", 12, hosts, 4)
    send("fleet", fleet.url, "after", 13, hosts, 4, "once", first)
    for a, b, verdict, truth in (("before", "after", "more", rises), ("after", "before", "less", -rises)):
        diff = json.loads(fleet.ask("diff", f"app={a}", f"app={b}", "--format", "json"))["diff"]["cpu"]
        (row,) = (r for r in diff["rows"] if r["shown"])
        assert (row["what"], row["kind"], row["method"]) == ("waste", "dead_store", "org.example.Main.write0"), row
        assert row["verdict"] == verdict and row["interval"][0] <= truth <= row["interval"][1], (row, truth)
        kind, = diff["kinds"]
        assert kind["shown"] and kind["verdict"] == verdict and (kind["difference"] > 0) == (truth > 0), kind
        assert "org.example.Main.write0" in diff["headline"], diff["headline"]
    gate = ctl("fleet", "diff", "app=before", "app=after", "--fail-above", "2%", "--url", fleet.url)
    assert gate.returncode == 5, gate


@test
def sums_are_those_that_were_sent():
    """Counts of observations are never weighted."""
    sent = send("fleet", fleet.url, "plain", 11, 10, 3)
    rows = fleet.servers[1].query("SELECT sum(count), sum(checked_bytes), sum(wasteful_bytes), count() FROM jxperf.pairs "
                                  "WHERE app = 'plain'").split()
    assert [int(n) for n in rows] == [sent[2], sent[3], sent[4], sent[1]], (rows, sent)
    kind = dead_stores(fleet.json("--app", "plain"))
    assert sum(p["count"] for p in kind["pairs"]) == kind["checked_accesses"] == sent[2], (kind, sent)


@test
def what_is_not_listed_is_told_and_is_in_the_sums():
    """The pairs that weigh most are listed, of a server with rows once, of one with rows twice, and of a current engine."""
    kept = 5
    send("fleet", fleet.url, "cut", 11, 10, 3)
    send("fleet", fleet.url, "cuttwice", 11, 10, 3, "twice")
    send("fleet", fleet.engine.url, "cut", 11, 10, 3)
    for app, url, *which in (("cut", fleet.url), ("cuttwice", fleet.url), ("cut", fleet.engine.url), ("cut", fleet.url, "--group", "g3")):
        whole = fleet.json("--app", "cut", *which)
        assert whole["window"]["merged"]["not_listed"] == [], whole["window"]
        every = dead_stores(whole)
        shares = sorted((p["cpu_share"] for p in every["pairs"]), reverse=True)
        report = fleet.json("--app", app, *which, "--paths", str(kept), url=url)
        kind = dead_stores(report)
        found = list(differences({name: every[name] for name in TOTALS}, {name: kind[name] for name in TOTALS}))
        # Of pairs that weigh the same any may be listed.
        found += differences(shares[:kept], [p["cpu_share"] for p in kind["pairs"]])
        listed = [words(p["watch"]["frames"]) for p in kind["pairs"]]
        found += differences([p for p in every["pairs"] if words(p["watch"]["frames"]) in listed], kind["pairs"])
        assert not found and len(shares) > len(listed) == kept, (app, which, found, len(shares))
        left = every["checked_accesses"] - sum(p["count"] for p in kind["pairs"])
        told = {"table": "pairs", "observations": left, "all": every["checked_accesses"],
                "share": left / every["checked_accesses"]}
        assert not list(differences([told], report["window"]["merged"]["not_listed"])), (told, report["window"])
        assert report["quality"]["dropped_pairs"] == left, report["quality"]
    text = fleet.ask("report", "--app", "cut", *which, "--paths", str(kept))
    assert f"not listed: {100 * told['share']:.1f}% of the observations of pairs ({left} of {told['all']})" in text, text


@test
def windows_of_other_versions_are_told():
    others = int(fleet.servers[0].query("SELECT count() FROM jxperf.windows WHERE app = 'plain' AND version = '1.0'"))
    told = {d["note"]: d["windows"] for d in fleet.json("--app", "plain")["window"]["merged"]["notes"]}
    assert others > 0 and told == {"other_version": others}, (told, others)  # The first one's is 1.1.


@test
def a_kind_of_few_hosts_says_how_these_differ():
    send("fleet", fleet.url, "few", 5, 12, 6, "few")
    report = fleet.json("--app", "few")
    assert report["window"]["merged"]["by_hosts"], report["window"]
    kind = next(k for k in report["inefficiency"] if k["kind"] == "silent_store")
    low, high = kind["fraction_ci95"]
    sampling = 3.92 * math.sqrt(kind["fraction"] * (1 - kind["fraction"]) / kind["checked_accesses"])
    note(f"silent stores of 3 hosts: {low:.3f} to {high:.3f}, {(high - low) / sampling:.1f} times sampling's")
    assert high - low > 2 * sampling, (kind, sampling)


@test
def what_is_there_twice_counts_once():
    plain = fleet.json("--app", "plain")
    for how in ("twice", "half"):
        sent = send("fleet", fleet.url, how, 11, 10, 3, how)
        rows = int(fleet.servers[0].query(f"SELECT count() FROM jxperf.pairs WHERE app = '{how}'"))
        note(f"{how}: {rows} rows of pairs for {sent[1]}")
        asked = json.loads(json.dumps(fleet.json("--app", how)).replace(f'"{how}"', '"plain"'))
        # All methods have the same CPU time there: which of them are listed is anybody's choice.
        del asked["cpu"]
        found = list(differences({name: v for name, v in plain.items() if name != "cpu"}, asked))
        assert not found, (how, found[:20])


@test
def windows_that_are_not_committed_count_nothing():
    send("fleet", fleet.url, "halfway", 11, 5, 3, "uncommitted")
    assert int(fleet.servers[0].query("SELECT count() FROM jxperf.pairs WHERE app = 'halfway'")) > 0
    asked = ctl("fleet", "report", "--url", fleet.url, "--app", "halfway")
    assert asked.returncode == 1 and "no window of application 'halfway'" in asked.stderr, asked


# ---------------------------------------------------------------- a dashboard

DASHBOARD = os.path.join(ROOT, "contrib/grafana/jxperf-fleet.json")


def as_grafana_asks(sql, times, app):
    """With what its ClickHouse source and variables put in place of macros."""
    first, last = (f"toDateTime({t})" for t in times)
    sql = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 >= {first} AND \1 <= {last}", sql)
    for name, value in (("$__fromTime", first), ("$__toTime", last), ("$__interval_s", "600"), ("${database}", "jxperf"),
                        ("${app:singlequote}", f"'{app}'"),
                        ("${kind:singlequote}", "'dead_store','silent_store','silent_load'")):
        sql = sql.replace(name, value)
    assert "$" not in sql, sql
    return sql


def dashboard_queries():
    """Titles of panels, and their SQL."""
    with open(DASHBOARD, encoding="utf-8") as f:
        dashboard = json.load(f)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            if "rawSql" in target:
                yield panel["title"], target["rawSql"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["label"], variable["query"]


@test
def every_panel_of_the_dashboard_shows_what_is_there_once():
    """Rows are there twice on the shards, and once in the current engine."""
    sent = send("fleet", fleet.url, "panels", 11, 10, 3, "twice")
    send("fleet", fleet.engine.url, "panels", 11, 10, 3)
    times = fleet.engine.query("SELECT toUInt32(min(start)), toUInt32(max(start)) FROM jxperf.windows "
                               "WHERE app = 'panels'").split()
    queries, shown = list(dashboard_queries()), {}
    assert len(queries) > 10, queries
    for title, sql in queries:
        asked = as_grafana_asks(sql, times, "panels")
        here, there = (server.query(asked + " FORMAT JSON") for server in (fleet.servers[1], fleet.engine))
        here, there = (json.loads(answer)["data"] for answer in (here, there))
        assert here, title
        if title == "Application":
            assert {"app": "panels"} in here and {"app": "panels"} in there, (here, there)
            continue
        found = list(differences(numbers_of(here), numbers_of(there)))
        assert not found, (title, found[:20])
        shown[title] = here
    app, = shown["Applications"]
    assert (int(app["windows"]), int(app["hosts"])) == (sent[0], 10), (app, sent)
    top = next(a for a in json.loads(fleet.ask("top", "--json"))["apps"] if a["app"] == "panels")
    assert math.isclose(app["dead_stores"], top["dead_store"], rel_tol=1e-9), (app, top)
    assert [row["version"] for row in shown["Versions compared"]] == ["1.0", "1.1"], shown["Versions compared"]
    assert sum(int(row["windows"]) for row in shown["Windows"]) == sent[0], shown["Windows"]
    assert sum(int(row["pairs"]) for row in shown["Pairs by kind"]) == sent[2], shown["Pairs by kind"]


def numbers_of(rows):
    """Rows with numbers for what servers write as texts: the one 64 bits, the other none."""
    return [{name: float(v) if isinstance(v, (int, str)) and re.fullmatch(r"-?\d+(\.\d+)?", str(v)) else v
             for name, v in row.items()} for row in rows]


# ---------------------------------------------------------------- servers that are none

def serve_once(answer, endless=b""):
    """A server that answers every connection so, with endless again and again behind it; its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run_it():
        while True:
            connection, _ = listener.accept()
            with connection:
                try:
                    connection.recv(65536)
                    connection.sendall(answer)
                    while endless:
                        connection.sendall(endless)
                except OSError:
                    pass

    threading.Thread(target=run_it, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@test
def a_hostile_server_is_one_line():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    servers = {
        "garbage": serve_once(head % 5000 + os.urandom(5000)),
        "no http": serve_once(b"SSH-2.0-OpenSSH\r\n"),
        "redirect": serve_once(b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"),
        "a page": serve_once(b"HTTP/1.1 404 Not Found\r\nContent-Length: 15\r\n\r\n<html>\n\x1b[2J\n\n\n"),
        "endless": serve_once(b"HTTP/1.1 200 OK\r\n\r\n", b"\0" * 65536),
        "cut short": serve_once(head % 5000 + b"x"),
        "nobody": "http://127.0.0.1:1",
    }
    for what, url in servers.items():
        asked = ctl("fleet", "report", "--url", url, "--app", "x")
        assert asked.returncode == 1 and not asked.stdout, (what, asked)
        assert asked.stderr.startswith("jxperfctl: ") and asked.stderr.count("\n") == 1, (what, asked)
        assert "\x1b" not in asked.stderr, (what, asked)


@test
def without_libcurl_a_server_is_not_asked_and_the_rest_works():
    directory = make_directory()
    with open(os.path.join(directory, "libcurl.so.4"), "wb"):
        pass  # Found first, and no library.
    os.environ["LD_LIBRARY_PATH"] = directory
    try:
        asked, others = ctl("fleet", "top", "--url", fleet.url), ctl("version")
    finally:
        del os.environ["LD_LIBRARY_PATH"]
    assert asked.returncode == 1 and "install libcurl" in asked.stderr and asked.stderr.count("\n") == 1, asked
    assert others.returncode == 0, others


@test
def a_question_can_be_interrupted():
    listener = socket.create_server(("127.0.0.1", 0))  # Nobody answers there.
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for words in (("report",), ("top",), ("diff", "app=x", "app=y")):
        asking = Process([CLIENT, "fleet", *words, "--url", url])
        connection, _ = listener.accept()
        assert connection.recv(1), words  # It has asked.
        asking.child.send_signal(signal.SIGINT)
        assert asking.child.wait(20) != 0, words
        connection.close()


@test
def a_server_without_tables_says_what_to_do():
    asked = ctl("fleet", "report", "--url", fleet.url, "--database", "nothing")
    assert asked.returncode == 1 and "fleet-schema --apply" in asked.stderr, asked
    asked = ctl("fleet", "report", "--url", fleet.url, "--database", "x;y")
    assert asked.returncode == 2 and "'x;y'" in asked.stderr, asked


run()
