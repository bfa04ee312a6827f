#!/usr/bin/env python3
"""What `report --app` and `diff` say of windows of real JVMs. `make soak-diff` has a hundred pairs of windows."""
# Starts early: it takes long (windows in pairs).
# Estimates: fractions of windows, from samples.
import json
import os
import subprocess

from lib import HANG_S, jdks, need_root, note, run, test
from support.attach import NOBODY, as_nobody
from support.differ import builds, difference, first_row, repaired_pair, row_words, window
from support.profile import CLIENT, EARLY, Daemon, Workload, report_of, succeeded

BUDGET = "10%"
# Of the JVM's, for each window.
CPU_S = 2
TWIN_CPU_S = 4


def attach(daemon, target, duration="1s", *options):
    return report_of(daemon.ctl("attach", str(target.pid), "--duration", duration, "--format", "json", *options))


def refused(result, status, words):
    assert (result.returncode, result.stdout) == (status, ""), result
    assert result.stderr.count("\n") == 1 and words in result.stderr, result


@test
def windows_of_a_program_that_does_not_change_show_no_difference():
    daemon = Daemon()
    pairs, different = 0, []
    for program in ("SilentStore", "MapRebuild"):
        target = Workload(jdks()[-1], program)
        ids = [window(daemon, target.pid, CPU_S, BUDGET) for _ in range(4)]
        target.stop()
        for a, b in zip(ids[:2], ids[2:]):
            found = difference(daemon, a, b)
            pairs += 1
            if found["different"]:
                different.append([row_words(r) for r in found["rows"] if r["verdict"] != "none"])
    note(f"{len(different)} of {pairs} pairs differ: {different}")
    assert len(different) <= 1, different  # One in a hundred may.


@test
def of_a_repaired_program_the_repaired_pair_comes_first():
    daemon = Daemon()
    ids = [window(daemon, build.pid, TWIN_CPU_S, BUDGET) for build in builds(jdks()[0], "clears")]
    found = difference(daemon, *ids)
    assert first_row(found) == repaired_pair("clears"), [row_words(r) for r in found["rows"]]
    text = succeeded(daemon.ctl("diff", *ids))
    note(text.splitlines()[0])
    assert text.startswith("CPU time fell: ") and "\ndead stores fell from " in text, text
    back = difference(daemon, *reversed(ids))
    assert {k["kind"]: k["verdict"] for k in back["kinds"] if "verdict" in k}["dead_store"] == "more", back["kinds"]


@test
def windows_of_an_application_are_one_report():
    daemon, target = Daemon(), Workload(jdks()[0], "DeadStore")
    alone = [attach(daemon, target) for _ in range(3)]
    merged = report_of(daemon.ctl("report", "--app", "DeadStore", "--format", "json"))
    about = merged["window"]["merged"]
    assert about["windows"] == 3 and (about["first"], about["last"]) == ("w1", "w3"), about
    samples = [r["quality"]["samples"] for r in alone]
    assert merged["quality"]["samples"] == sum(samples), (merged["quality"], samples)
    assert "\nmerged from 3 windows (w1 to w3)" in succeeded(daemon.ctl("report", "--app", "DeadStore"))
    assert "DeadStore.rounds" in succeeded(daemon.ctl("report", "--app", "DeadStore", "--format", "collapsed"))
    refused(daemon.ctl("report", "--app", "Other"), 1, "no window of an application 'Other'")
    refused(daemon.ctl("report", "--app", "DeadStore", "--until", "1h"), 1, "no window")
    refused(daemon.ctl("report"), 2, "--app")
    refused(daemon.ctl("report", "w1", "--app", "DeadStore"), 2, "in place of a window")


@test
def a_window_that_runs_is_in_the_merge_as_it_was_kept_last():
    daemon, target = Daemon(), Workload(jdks()[0], "DeadStore")
    attach(daemon, target)
    client = daemon.start_attach(target.pid)
    (running,) = daemon.running()
    single = json.loads(succeeded(daemon.ctl("report", running["id"], "--format", "json")))
    assert single["window"]["state"] == "running", single["window"]

    def of_the_running():
        about = report_of(daemon.ctl("report", "--app", "DeadStore", "--format", "json"))["window"]["merged"]
        return [n for n in about["notes"] if n["note"] == "running"], about["windows"]

    notes, windows = of_the_running()
    if windows == 2:  # Else it was not flushed yet.
        assert notes[0]["first"] == running["id"] and not notes[0]["skipped"], notes
    assert difference(daemon, "w1", running["id"])["b"]["id"] == running["id"]
    succeeded(daemon.ctl("detach", str(target.pid)))
    client.finish()
    assert of_the_running() == ([], 2)


@test
def periods_are_compared_and_what_is_wrong_is_said():
    daemon, target = Daemon(), Workload(jdks()[0], "DeadStore")
    for _ in range(2):
        attach(daemon, target)
    found = difference(daemon, "1h..", "w2", "--app", "DeadStore")
    assert found["a"]["merged"]["windows"] == 2 and found["b"]["id"] == "w2" and not found["different"], found
    assert daemon.ctl("diff", "w1", "w2").returncode == 0
    refused(daemon.ctl("diff", "2h..1h", "1h..", "--app", "DeadStore"), 1, "no window of an application")
    refused(daemon.ctl("diff", "1h..", "w2"), 2, "--app")
    refused(daemon.ctl("diff", "1h..2h", "w2", "--app", "DeadStore"), 2, "ends before it begins")
    refused(daemon.ctl("diff", "soon..", "w2", "--app", "DeadStore"), 2, "not a time")
    refused(daemon.ctl("diff", "w1"), 2, "needs two windows")
    refused(daemon.ctl("diff", "w1", "w2", "w3"), 2, "unexpected argument 'w3'")
    refused(daemon.ctl("diff", "w1", "w9"), 1, "no window 'w9'")
    refused(daemon.ctl("diff", "w1", "shop"), 1, "no window 'shop'")
    refused(daemon.ctl("diff", "w1", "w2", "--format", "collapsed"), 2, "text or json")
    refused(daemon.ctl("diff", "w1", "w2", "--app", "DeadStore"), 2, "--app is for periods")


@test
def waiting_for_a_window_of_an_earlier_daemon_tells_its_end():
    target = Workload(jdks()[0], "DeadStore")
    first = Daemon()
    attach(first, target)
    client = first.start_attach(target.pid)
    succeeded(first.ctl("detach", str(target.pid)))
    assert client.finish().returncode == EARLY
    assert first.ctl("attach", "999999", "--duration", "1s").returncode == 1
    before = [first.ctl("wait", w) for w in ("w1", "w2", "w3", "w4")]
    first.stop()
    second = Daemon(state=first.state)
    after = [second.ctl("wait", w) for w in ("w1", "w2", "w3", "w4")]
    assert [r.returncode for r in after] == [0, EARLY, 1, 1], after
    assert [(r.returncode, r.stderr) for r in after] == [(r.returncode, r.stderr) for r in before], (before, after)


@test
def windows_of_others_are_in_no_merge_and_no_difference():
    need_root()
    daemon = Daemon()
    os.chmod(daemon.socket, 0o666)
    theirs = Workload(jdks()[0], "SilentStore")
    own = Workload(jdks()[0], "SilentStore", prefix=as_nobody())
    attach(daemon, theirs)
    attach(daemon, own)

    def ask(*arguments):
        command = as_nobody(CLIENT, "--socket", daemon.socket, *arguments)
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)

    for again in (False, True):
        about = report_of(ask("report", "--app", "SilentStore", "--format", "json"))["window"]["merged"]
        assert (about["windows"], about["skipped"], about["first"]) == (1, 0, "w2"), about
        for arguments in (("w1", "w2"), ("w2", "w1"), ("w1", "w1")):
            refused(ask("diff", *arguments), 1, "no window 'w1': see 'jxperfctl windows'")
        succeeded(ask("diff", "w2", "1h..", "--app", "SilentStore"))
        assert f"audit: action=diff uid={NOBODY}" in daemon.output(), daemon.output()
        if not again:
            daemon.stop()
            daemon = Daemon(state=daemon.state)
            os.chmod(daemon.socket, 0o666)


run(at_once=2)
