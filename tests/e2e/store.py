#!/usr/bin/env python3
"""What is kept of windows: over restarts, over the daemon's death in their middle, when the disk is full."""
import contextlib
import json
import os
import shutil
import signal
import time

from lib import jdks, make_directory, run, test, wait_until
from support.clock import SteppedClock
from support.profile import Daemon, Workload, report_of, succeeded

WINDOW = "3s"


@contextlib.contextmanager
def daemon_in(state=None):
    daemon = Daemon(state=state)
    try:
        yield daemon
    finally:
        daemon.stop()


def workload():
    return Workload(jdks()[0], "DeadStore")


def listed(daemon, *options):
    return json.loads(succeeded(daemon.ctl("--json", "windows", *options)))


def without_now(report):
    """What a report of a window that has ended says."""
    return {k: v for k, v in report.items() if k != "generated"}


@test
def a_report_is_the_same_after_the_daemon_was_restarted():
    target = workload()
    with daemon_in() as first:
        before = report_of(first.ctl("attach", str(target.pid), "--duration", WINDOW, "--format", "json"))
        text = succeeded(first.ctl("report", before["window"]["id"]))
    with daemon_in(first.state) as second:
        after = json.loads(succeeded(second.ctl("report", before["window"]["id"], "--format", "json")))
        assert without_now(after) == without_now(before), (before, after)
        assert succeeded(second.ctl("report", before["window"]["id"])) == text
        assert [w["id"] for w in listed(second)] == [before["window"]["id"]]


@test
def numbers_of_windows_are_given_out_once():
    target = workload()
    seen = set()
    state = os.path.join(make_directory(), "state")
    for end in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with daemon_in(state) as daemon:
            report = report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
            assert report["window"]["id"] not in seen, seen
            seen.add(report["window"]["id"])
            os.kill(daemon.pid, end)
            daemon.child.wait()
    with daemon_in(state) as daemon:
        assert {w["id"] for w in listed(daemon)} == seen


@test
def a_window_whose_daemon_was_killed_is_there_up_to_its_last_flush():
    target = workload()
    with daemon_in() as first:
        client = first.start_attach(target.pid, duration="60s")
        time.sleep(7)  # A flush is due every five seconds.
        (running,) = first.running()
        os.kill(first.pid, signal.SIGKILL)
        client.finish()
    with daemon_in(first.state) as second:
        (window,) = listed(second)
        assert window["id"] == running["id"] and window["state"] == "salvaged", window
        report = json.loads(succeeded(second.ctl("report", window["id"], "--format", "json")))
        assert report["window"]["state"] == "salvaged", report["window"]
        assert "the daemon ended" in report["window"]["reason"], report["window"]
        assert 3 < report["window"]["duration_s"] < 12, report["window"]
        assert any(k["checked_bytes"] for k in report["inefficiency"]), report["inefficiency"]
        # And the JVM can be profiled again.
        again = report_of(second.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
        assert again["window"]["id"] != window["id"]


@test
def a_copy_of_the_files_at_any_time_can_be_opened():
    """As after a loss of power: the copy is not of one moment."""
    target = workload()
    with daemon_in() as first:
        client = first.start_attach(target.pid, duration="20s")
        copies = []
        for _ in range(4):
            time.sleep(2)
            copies.append(os.path.join(make_directory(), "state"))
            shutil.copytree(first.state, copies[-1])
        client.child.send_signal(signal.SIGINT)
        client.finish()
    for copy in copies:
        with daemon_in(copy) as daemon:
            (window,) = listed(daemon)
            assert window["state"] in ("salvaged", "failed"), window
            assert "damaged" not in daemon.output(), daemon.output()


@test
def windows_are_listed_by_application_and_time():
    target = workload()
    with daemon_in() as daemon:
        for _ in range(3):
            report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
        assert len(listed(daemon, "--app", "DeadStore", "--since", "1h")) == 3
        assert listed(daemon, "--app", "Other") == []
        assert listed(daemon, "--until", "1h") == []
        limited = daemon.ctl("windows", "--limit", "1")
        assert "2 older windows are not shown" in limited.stderr, limited
        assert "not a time" in daemon.ctl("windows", "--since", "soon").stderr


@test
def a_clock_that_is_wrong_for_once_deletes_nothing_and_its_windows_are_merged_with_no_others():
    target, clock = workload(), SteppedClock()

    def window(daemon):
        return report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))["window"]["id"]

    with daemon_in() as first:
        honest = [window(first), window(first)]
        (app,) = {w["app"] for w in listed(first)}
    clock.set(60 * 86400)  # Twice what windows are kept.
    daemon = Daemon(state=first.state, prefix=clock.prefix, http="127.0.0.1:0")
    future = window(daemon)
    wait_until(lambda: "jxperf_store_windows 3" in daemon.get("/metrics"), "the last window in the store")
    assert [w["id"] for w in listed(daemon)] == [*honest, future]
    assert daemon.output().count("the clock was set by 51") == 1, daemon.output()
    assert "jxperf_store_clock_doubted 1" in daemon.get("/metrics")
    clock.set(0)
    honest.append(window(daemon))
    wait_until(lambda: "jxperf_store_windows_of_future 1" in daemon.get("/metrics"), "a window of the future")
    assert daemon.output().count("the clock was set by -51") == 1, daemon.output()
    daemon.stop()
    with daemon_in(first.state) as last:
        for options in (("--since", "24h"), ()):
            merged = json.loads(succeeded(last.ctl("report", "--app", app, *options, "--format", "json")))["window"]["merged"]
            assert merged["windows"] == 3, merged
            assert [(n["note"], n["windows"], n["first"]) for n in merged["notes"] if n["skipped"]] == [("future", 1, future)]
        text = succeeded(last.ctl("report", "--app", app, "--since", "24h"))
        assert f"left out: 1 of the windows began later than now, by a clock that was set since (first {future})" in text, text
        text = succeeded(last.ctl("diff", "24h..", "24h..", "--app", app))
        assert ": 3 windows of " in text and "   left out: 1 of the windows began later than now" in text, text
        assert [w["id"] for w in listed(last, "--since", "24h")] == honest
        said = last.ctl("windows", "--since", "24h").stderr
        assert said == f"jxperfctl: 1 windows (first {future}) began later than now, by a clock that was set since, and are not shown\n"
        assert {w["id"] for w in listed(last) if w["future"]} == {future}
        refused = last.ctl("report", honest[0], "--baseline", future)
        assert refused.returncode == 1 and f"window {future} began later than now" in refused.stderr, refused
    target.stop()


@test
def without_a_state_directory_profiling_goes_on():
    target = workload()
    file = os.path.join(make_directory(), "file")
    with open(file, "w", encoding="ascii"):
        pass
    with daemon_in(file) as daemon:
        assert "windows are kept in memory only" in daemon.output(), daemon.output()
        report = report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
        assert succeeded(daemon.ctl("report", report["window"]["id"]))


@test
def a_directory_that_cannot_be_written_is_read_by_nobody_and_harmed_by_nobody():
    target = workload()
    directory, mount = make_directory(), make_directory()
    with daemon_in(os.path.join(directory, "state")) as first:
        report_of(first.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
    os.system(f"mount --bind {directory} {mount} && mount -o remount,bind,ro {mount}")
    try:
        with daemon_in(os.path.join(mount, "state")) as daemon:
            assert "windows are kept in memory only" in daemon.output(), daemon.output()
            assert "Read-only file system" in daemon.output(), daemon.output()
            report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
    finally:
        os.system(f"umount -l {mount}")
    with daemon_in(os.path.join(directory, "state")) as again:
        assert len(listed(again)) == 1


def fill(path):
    """Writes a file until there is no room for a page more."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(fd, b"x" * 4096)
    except OSError:
        os.close(fd)


@test
def a_full_disk_loses_nothing_that_was_said_to_be_kept():
    """A file system of two MiB fills up under the daemon, and is emptied again."""
    target = workload()
    mount = make_directory()
    assert os.system(f"mount -t tmpfs -o size=2m tmpfs {mount}") == 0
    try:
        with daemon_in(os.path.join(mount, "state")) as daemon:
            first = report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
            fill(os.path.join(mount, "filler"))
            second = report_of(daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json"))
            wait_until(lambda: "windows are not kept at present" in daemon.output(), "word of the full disk")
            assert succeeded(daemon.ctl("report", second["window"]["id"]))
            os.unlink(os.path.join(mount, "filler"))
            wait_until(lambda: "windows are kept again" in daemon.output(), "word that there is room")
        with daemon_in(daemon.state) as again:
            assert [w["id"] for w in listed(again)] == [first["window"]["id"], second["window"]["id"]]
    finally:
        os.system(f"umount -l {mount}")


run(at_once=2)
