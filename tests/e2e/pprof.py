#!/usr/bin/env python3
"""`--format pprof`: pprof itself reads it, and its -top says what the JSON report of the same window says."""
# Starts early: it takes long (it reads many profiles).
import collections
import json
import os
import pty
import subprocess

from lib import HANG_S, jdks, make_directory, note, run, test
from support.pprof import pprof, top
from support.profile import CLIENT, Daemon, Workload, ctl, succeeded

BUDGET = "10%"
# Of two sums of the same doubles, one of which was rounded to whole nanoseconds at each sample.
ROUNDING = 1e-6


class Window:
    """One window: as JSON, and the file for pprof that the attach itself has written."""

    def __init__(self, program, *options, arguments=()):
        self.daemon = Daemon()
        target = Workload(jdks()[0], program, arguments=arguments)
        self.path = os.path.join(make_directory(), "profile.pb.gz")
        printed = succeeded(self.daemon.ctl("attach", str(target.pid), "--duration", "4s", "--budget", BUDGET, *options,
                                            "--format", "pprof", "-o", self.path))
        assert printed == "", printed
        target.stop()
        self.report = json.loads(self.again("json"))

    def again(self, form, *options):
        return succeeded(self.daemon.ctl("report", "w1", "--format", form, "--pairs", "100000", *options))

    def profile(self, *options):
        """Another profile of it."""
        path = os.path.join(make_directory(), "profile.pb.gz")
        succeeded(self.daemon.ctl("report", "w1", "--format", "pprof", "-o", path, *options))
        return path


def function(frame):
    return f"{frame['class']}.{frame['method']}"


def line(frame):
    """As -lines has it."""
    text = function(frame)
    if frame["file"]:
        text += " " + frame["file"] + (f":{frame['line']}" if frame["line"] > 0 else "")
    return text


def wasteful_first(kind):
    """The contexts of a pair, that of the wasteful access first."""
    return ("watch", "trap") if kind == "dead_store" else ("trap", "watch")


def sums(kind, value, name):
    """What -top should say of a kind's pairs: by name, flat and cum."""
    flat, cum = collections.Counter(), collections.Counter()
    for pair in kind["pairs"]:
        stacks = [pair[side]["frames"] for side in wasteful_first(kind["kind"])]
        flat[name(stacks[0][0]) if stacks[0] else "[unknown]"] += pair[value]
        for frame in {name(f) for stack in stacks for f in stack}:
            cum[frame] += pair[value]
    return flat, cum


def assert_pairs(window, path):
    seen = 0
    for kind in window.report["inefficiency"]:
        assert kind["pairs_omitted"] == 0, kind
        for name, options in ((function, ()), (line, ("-lines",))):
            flat, cum = sums(kind, "wasteful_bytes", name)
            total, rows = top(path, f"{kind['kind']}_bytes", "bytes", *options)
            assert total == sum(flat.values()), (kind["kind"], total, flat)
            assert {n: f for n, (f, _) in rows.items() if f} == dict(flat), (rows, flat)
            assert {n: c for n, (_, c) in rows.items() if not n.startswith("[")} == dict(cum), (rows, cum)
        seen += len(kind["pairs"])
    return seen


def assert_cpu_of_pairs(window, path):
    """Shares of the CPU time at wasteful accesses, of which JSON has the fractions."""
    for kind in window.report["inefficiency"]:
        flat, _ = sums(kind, "cpu_share", function)
        total, rows = top(path, f"{kind['kind']}_cpu", "ns")
        for name, share in flat.items():
            expected = share / sum(flat.values())
            assert abs(rows[name][0] / total - expected) < ROUNDING, (name, rows[name], total, expected)


@test
def pprof_blames_the_wasteful_access_as_the_report_does():
    window = Window("MemoryBloat", "--kinds", "dead-store,silent-store,silent-load")
    pairs = assert_pairs(window, window.path)
    assert pairs > 1, pairs
    assert_cpu_of_pairs(window, window.path)
    kind = max(window.report["inefficiency"], key=lambda k: k["wasteful_bytes"])
    note(f"{pairs} pairs, {os.path.getsize(window.path)} bytes")
    # The labels: nothing is left without them. pprof's total is of all samples, whatever it is told to focus on.
    for label, chosen in (("kind=" + kind["kind"], kind["pairs"]),
                          ("region=heap", [p for p in kind["pairs"] if p["region"] == "heap"])):
        _, rows = top(window.path, f"{kind['kind']}_bytes", "bytes", "-tagfocus=" + label)
        assert sum(flat for flat, _ in rows.values()) == sum(p["wasteful_bytes"] for p in chosen), (label, rows)
    comments = pprof("-comments", window.path)
    assert "window w1 of pid" in comments, comments


@test
def of_a_dead_store_the_first_access_is_the_leaf():
    window = Window("DeadStore", "--kinds", "dead-store")
    assert assert_pairs(window, window.path) > 0
    assert_cpu_of_pairs(window, window.path)
    # Native methods have none.
    stored = {line(p["watch"]["frames"][0]) for p in window.report["inefficiency"][0]["pairs"]}
    _, rows = top(window.path, "dead_store_bytes", "bytes", "-lines")
    assert {n for n, (flat, _) in rows.items() if flat} == stored, (rows, stored)


@test
def objects_are_shown_where_they_are_allocated():
    window = Window("ObjectShares", "--kinds", "objects")
    path = window.profile("--view", "objects")
    sites = window.report["objects"]
    assert len(sites) > 2 and window.report["objects_summary"]["sites_omitted"] == 0, len(sites)
    flat = {"alloc_bytes": collections.Counter(), "metric": collections.Counter()}
    for site in sites:
        for member, counter in flat.items():
            counter[function(site["alloc_frames"][0]) if site["alloc_frames"] else "[unknown]"] += round(site[member])
    for sample_type, unit, member in (("object_bytes", "bytes", "alloc_bytes"), ("object_accesses", "ns", "metric")):
        total, rows = top(path, sample_type, unit)
        expected = {n: v for n, v in flat[member].items() if v}
        found = {n: f for n, (f, _) in rows.items() if f}
        assert found.keys() == expected.keys(), (rows, expected)
        # The report has nine digits of what is not whole, so a half may be rounded the other way there.
        assert all(abs(found[n] - v) <= 1 for n, v in expected.items()), (rows, expected)
        assert total == sum(found.values()) > 0, (total, found)
    assert max(flat["metric"], key=flat["metric"].get) == "ObjectShares.allocateMost", flat


@test
def ticks_are_shown_where_they_fell():
    window = Window("ManyMethods", "--kinds", "cpu", arguments=("50",))
    cpu = window.report["cpu"]
    total, rows = top(window.profile("--view", "cpu"), "samples", "count")
    own = {function(m): m["exclusive_samples"] for m in cpu["by_exclusive"]}
    every = {function(m): m["inclusive_samples"] for m in cpu["by_inclusive"]}
    java = {n: v for n, v in rows.items() if not n.startswith("[")}
    assert {n: f for n, (f, _) in java.items() if f} == own, (rows, own)
    assert {n: c for n, (_, c) in java.items()} == every, (rows, every)
    note(f"{total} ticks: {[n for n in rows if n.startswith('[')]}")
    time, rows = top(window.path, "cpu", "ns")
    for method in cpu["by_exclusive"]:
        assert abs(rows[function(method)][0] / 1e9 - method["exclusive"] * cpu["cpu_s"]) < 1e-5 * cpu["cpu_s"], method
    assert time <= 1.000001 * 1e9 * cpu["cpu_s"], (time, cpu["cpu_s"])


def subsuming(text):
    """Of a JSON document, with as many digits as reports have."""
    return json.loads(text, parse_float=lambda t: float(f"{float(t):.9g}"))["subsuming"]


@test
def a_window_that_is_exported_and_imported_has_the_same_subsuming_methods():
    window = Window("ManyMethods", "--kinds", "cpu", arguments=("50",))
    own = subsuming(window.again("json", "--view", "subsuming"))
    read = subsuming(succeeded(ctl("subsume", window.profile("--view", "cpu"), "--output-format", "json")))
    note(f"{own['nodes']} nodes, {own['subsuming_methods']} subsuming methods")
    # Stacks without their roots are in no sample.
    for member in own.keys() - {"truncated", "truncated_samples", "coverage"}:
        assert own[member] == read[member], (member, own[member], read[member])


@test
def what_is_binary_is_not_written_to_a_terminal_and_what_has_no_contexts_is_refused():
    window = Window("DeadStore", "--kinds", "dead-store")
    terminal, end = pty.openpty()
    command = [CLIENT, "--socket", window.daemon.socket, "report", "w1", "--format", "pprof"]
    for more in ((), ("-o", "-"), ("-o", os.ttyname(end))):
        done = subprocess.run([*command, *more], stdin=subprocess.DEVNULL, stdout=end, stderr=subprocess.PIPE,
                              text=True, timeout=HANG_S, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "-o FILE" in done.stderr, done
    os.set_blocking(terminal, False)
    try:
        assert os.read(terminal, 100) == b"", "something was written"
    except BlockingIOError:
        pass
    piped = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=HANG_S, check=True).stdout
    with open(window.profile(), "rb") as f:
        assert f.read() == piped and piped[:2] == b"\x1f\x8b", piped[:20]
    refused = window.daemon.ctl("report", "w1", "--format", "pprof", "--view", "fields")
    assert (refused.returncode, refused.stdout) == (2, "") and "--view pairs" in refused.stderr, refused


run(at_once=2)
