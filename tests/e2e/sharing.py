#!/usr/bin/env python3
"""Which threads access an allocation site's objects: a program of which it is known which arrays one thread keeps,
which it hands on, and which two threads have in common."""
import json
import math
import os

from lib import jdks, note, run, test, test_on_jdks
from support.clickhouse import Engine, send
from support.profile import Daemon, Workload, ctl, succeeded

CPU_S = 6
LEAST_SAMPLES = 20


def sites(report):
    """What is said of sharing, by the method that allocates."""
    found = {}
    for site in report["objects"]:
        method = site["alloc_frames"][0]["method"] if site["alloc_frames"] else ""
        if method in ("makeOwn", "makeHanded", "makeCommon"):
            found[method] = site["sharing"]
    return found


@test_on_jdks
def what_threads_share_is_told_from_what_one_keeps_or_hands_on(jdk):
    daemon, jvm = Daemon(), Workload(jdk, "SharedArrays", "-XX:+UseSerialGC")
    found = sites(daemon.attach(jvm.pid, "--kinds", "objects", "--budget", "20%", cpu_s=CPU_S))
    note(", ".join(f"{name}: {s['by_others']} of {s['samples']} by others, {s['taken_over']} taken over"
                   for name, s in found.items()))
    own, handed, common = (found[f"make{name}"] for name in ("Own", "Handed", "Common"))
    assert min(s["samples"] for s in (own, handed, common)) >= LEAST_SAMPLES, found
    assert own["by_others"] == own["taken_over"] == 0, own
    assert handed["by_others"] == handed["samples"] and handed["by_others_fraction"] > 0.999, handed
    # Handed on once, each array is taken over once, however often it is accessed then.
    assert 0 < handed["taken_over"] < 0.5 * handed["samples"], handed
    assert 0.1 < common["by_others_fraction"] < 0.9, common
    assert 0.05 < common["taken_over_fraction"] < 0.95, common
    assert common["stores_by_others"] > 0, common
    assert own["stores"] > 0 and handed["stores"] == 0, found
    jvm.stop()
    daemon.stop()


@test
def a_fleet_says_the_same():
    engine = Engine()
    succeeded(ctl("fleet-schema", "--apply", "--url", engine.url))
    daemon, jvm = Daemon(), Workload(jdks()[0], "SharedArrays", "-XX:+UseSerialGC")
    report = daemon.attach(jvm.pid, "--kinds", "objects", "--budget", "20%", cpu_s=CPU_S)
    here = sites(report)
    path = os.path.join(daemon.state, "windows.db")
    for _ in range(2):  # The same rows again have the same keys.
        windows, *_ = send("store", path, engine.url, "east1", "blue", "a store")
    assert windows >= 1, windows
    there = dict(line.split("\t") for line in engine.query(
        "SELECT site_method, sum(by_others) FROM "
        "(SELECT * FROM jxperf.sharing LIMIT 1 BY app, host, store, window_no, row_no) "
        f"WHERE window_no = {report['window']['id'][1:]} AND site_class = 'SharedArrays' GROUP BY site_method").splitlines())
    assert {name: int(count) for name, count in there.items()} == {n: s["by_others"] for n, s in here.items()}, there
    merged = sites(json.loads(succeeded(daemon.ctl("report", "--app", "SharedArrays", "--format", "json"))))
    fleet = sites(json.loads(succeeded(ctl("fleet", "report", "--format", "json", "--url", engine.url))))
    for name, said in merged.items():
        for key, value in said.items():
            assert math.isclose(value, fleet[name][key], rel_tol=1e-9), (name, key, said, fleet[name])
    jvm.stop()
    daemon.stop()


run()
