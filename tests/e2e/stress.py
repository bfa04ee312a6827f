"""The target survives windows whatever it does, and virtual threads are profiled with their own frames."""
import json
import os
import subprocess

from lib import BUILD, HANG_S, Process, jdks, note, run, skip, test, test_on_jdks

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
CLASSES = os.path.join(BUILD, "workloads")
CHURN_S = 10
# On a machine whose processors others take, ten seconds have a few traps, or none.
TRIES = 4


def attach(pid, *options):
    """A window's report, or None when the target ended before it could begin: 4 is when it did later."""
    done = subprocess.run([CLIENT, "attach", str(pid), "--format", "json", *options],
                          capture_output=True, text=True, timeout=HANG_S, check=False)
    return json.loads(done.stdout) if done.returncode in (0, 4) else None


def windows_in_turmoil(jdk):
    """The reports of windows one behind the other, for as long as the program lasts."""
    jvm = Process([jdk.java, "-cp", CLASSES, "Churn", str(CHURN_S)])
    jvm.wait_for("up")
    reports = []
    while jvm.alive():
        # A period and a budget far beyond the defaults.
        report = attach(jvm.pid, "--duration", "1s", "--period", "1ms", "--budget", "50%")
        if report:
            reports.append(report)
    assert jvm.child.returncode == 0, (jvm.child.returncode, jvm.output())
    assert "done 6 of 6" in jvm.output(), jvm.output()
    assert len(reports) >= 3, "hardly a window came about"
    return reports


@test_on_jdks
def a_jvm_in_turmoil_ends_as_it_would_without_us(jdk):
    for _ in range(TRIES):
        reports = windows_in_turmoil(jdk)
        traps = sum(r["quality"]["traps"] for r in reports)
        found = sum(r["quality"]["threads"] + r["quality"]["guests"] for r in reports)
        note(f"{len(reports)} windows, {traps} traps, {found} threads")
        assert found > 50, f"its short-lived threads were missed, but for {found}"
        if traps > 0:
            return
    assert False, f"{TRIES} programs without a trap"


@test
def virtual_threads_are_profiled_with_their_own_frames():
    newest = jdks()[-1]
    if newest.release < 21:
        skip("needs JDK 21 or later")
    jvm = Process([newest.java, "-cp", CLASSES, "VirtualSum"])
    jvm.wait_for("up")
    report = attach(jvm.pid, "--duration", "4s", "--kinds", "silent-load")
    jvm.stop()
    loads = report["inefficiency"][0]
    assert loads["fraction"] > 0.9, loads["fraction"]
    frames = [f"{f['class']}.{f['method']}" for f in loads["pairs"][0]["watch"]["frames"]]
    assert frames[0] == "VirtualSum.sum" and "VirtualSum.sumForEver" in frames, frames


run()
