"""A JVM that has no processor for an attach is waited for while it makes progress."""
# Runs alone: it takes all processors.
import os
import subprocess

from lib import HANG_S, Stopwatch, jdks, note, run, test
from support.attach import HELPER, leftovers, make_bundle
from support.profile import Daemon, Workload, report_of

THREADS = 400
# Longer than an attach takes at most, but where the processors are overloaded.
SLOW_MS = 11_000


@test
def a_jvm_with_400_busy_threads_is_attached_to_again_and_again():
    daemon = Daemon()
    jvm = Workload(jdks()[0], "BusyThreads", arguments=[str(THREADS)])
    # Some that give up, and whose agents come later, if at all.
    for _ in range(3):
        early = daemon.ctl("attach", str(jvm.pid), "--duration", "2s", "--kinds", "cpu", "--timeout", "1s")
        assert "another session" not in early.stderr, early
        note(early.stderr.strip() or "attached within 1 s")
    for _ in range(2):
        with Stopwatch() as watch:
            attach = daemon.ctl("attach", str(jvm.pid), "--duration", "1s", "--kinds", "cpu", "--timeout", "2m",
                                "--format", "json")
        window = report_of(attach)["window"]
        note(f"{watch.wall_seconds:.1f} s, {window['duration_s']:.1f} s of them the window")
    jvm.stop()
    daemon.stop()


def attach_by_hand(jvm, *options):
    command = [HELPER, "--pid", str(jvm.pid), "--bundle", make_bundle(), *options]
    p = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
    return p.returncode, (p.stdout + p.stderr).strip()


@test
def a_jvm_that_answers_late_on_an_overloaded_machine_is_waited_for_unless_it_is_said_how_long():
    jvm = Workload(jdks()[0], "BusyThreads", arguments=[str(2 * os.cpu_count() + 2)],
                   prefix=("env", f"FAKE_AGENT_SLEEP_MS={SLOW_MS}"))
    status, text = attach_by_hand(jvm, "--timeout-ms", "2000")
    assert status == 1 and "within 2000 ms: it is starved of CPU" in text and "--timeout" in text, text
    # Its agent, which comes when nobody listens any more, is waited for, too.
    status, text = attach_by_hand(jvm)
    assert status == 0, text
    assert leftovers(jvm.pid) == []
    jvm.stop()


@test
def a_time_to_attach_that_makes_no_sense_is_refused():
    daemon = Daemon()
    for timeout in ("0s", "999ms", "601s", "soon"):
        refused = daemon.ctl("attach", "1", "--timeout", timeout)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1, refused
    daemon.stop()


run()
