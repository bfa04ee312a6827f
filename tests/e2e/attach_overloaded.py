"""A JVM that has no processor for an attach is waited for while it makes progress.

# Runs alone: it takes all processors.
"""
from lib import Stopwatch, jdks, note, run, test
from support.profile import Daemon, Workload, report_of

THREADS = 400


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
            attach = daemon.ctl("attach", str(jvm.pid), "--duration", "2s", "--kinds", "cpu", "--timeout", "2m",
                                "--format", "json")
        window = report_of(attach)["window"]
        note(f"{watch.wall_seconds:.1f} s, {window['duration_s']:.1f} s of them the window")
    jvm.stop()
    daemon.stop()


@test
def a_time_to_attach_that_makes_no_sense_is_refused():
    daemon = Daemon()
    for timeout in ("0s", "999ms", "601s", "soon"):
        refused = daemon.ctl("attach", "1", "--timeout", timeout)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1, refused
    daemon.stop()


run()
