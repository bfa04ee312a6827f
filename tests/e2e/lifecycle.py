"""The beginning and the end of windows: what they leave behind, however they end, is nothing."""
# Starts early: it takes long (many windows).
import json
import os
import re
import signal
import subprocess
import time

from lib import HANG_S, ROOT, Stopwatch, jdks, made_once, make_directory, note, run, test, test_on_jdks, wait_until
from support.attach import leftovers
from support.profile import CLIENT, EARLY, TARGET_ENDED, Daemon, Workload, report_of, succeeded
from support.target import (
    Snapshot,
    agent_mappings,
    at_rest,
    catches,
    copies_of_perf_descriptors,
    mappings,
    perf_descriptors,
)

FIRST_SAMPLE_WITHIN_S = 1.0
FIRST_SAMPLE_TRIES = 3
NO_TRAP_AFTER_S = 1.0

CYCLES = 30
SETTLED_AFTER = 3
# The JVM maps and unmaps memory of its own: malloc arenas, code cache, stacks of threads that it
# starts on demand. Measured: 0 to 2 more. One that each window left would be 27.
MAPPINGS_OWN = 16

ENDING_THREADS = 200

# With as many traps, a handler that was removed too early killed the target within ten windows.
# One may be over before the agent gets a processor: seen once in a check that others disturbed.
SHORT_WINDOWS = 50
DENSE = ("--period", "100us", "--budget", "100%")


class Target(Workload):
    """Counts its operations on standard output; prints nothing else, whatever is done to it."""

    def __init__(self, jdk=None, program="SilentLoad", *options, **more):
        jdk = jdk or jdks()[0]
        # From JDK 21 on the JVM itself warns of agents unless they were allowed.
        allow = ["-XX:+EnableDynamicAgentLoading"] if jdk.release >= 21 else []
        super().__init__(jdk, program, *allow, "-Dprogress=true", *options, cwd=make_directory(), **more)

    def operations(self):
        counts = re.findall(r"^operations (\d+)\n", self.output(), re.MULTILINE)
        return int(counts[-1]) if counts else 0

    def assert_goes_on(self):
        """It works on, and its output is what it is without us."""
        before = self.operations()
        wait_until(lambda: self.operations() > before, "the target's next operation", 10)
        for line in self.output().split("\n")[:-1]:
            assert re.fullmatch(r"up|operations \d+", line), line


def wait_without_traps(target):
    """No event of ours is left in the target soon."""
    with Stopwatch() as watch:
        wait_until(lambda: perf_descriptors(target.pid) == 0, "an end of all events", NO_TRAP_AFTER_S)
        wait_until(lambda: not catches(target.pid, signal.SIGTRAP), "an end of our handler", NO_TRAP_AFTER_S)
    note(f"no event and no handler after {watch.seconds:.3f} s")


def assert_early(result, *words, status=EARLY):
    """A report of what had arrived, marked as ended early, and one line that says so."""
    report = report_of(result, status)
    window = report["window"]
    ended = "ended with its target" if status == TARGET_ENDED else "ended early"
    assert re.fullmatch(rf"jxperfctl: window {window['id']} {ended}: [^\n]+\n", result.stderr), result.stderr
    assert window["ended_early"] and window["state"] == "ended early", window
    assert window["duration_s"] < window["requested_duration_s"], window
    for word in words:
        assert word in window["reason"], window["reason"]
    assert report["quality"]["samples"] > 0, report["quality"]
    return report


def assert_one_line(result, status, *words):
    assert result.returncode == status, result
    assert result.stdout == "", result.stdout
    assert re.fullmatch(r"jxperfctl: [^\n]+\n", result.stderr), result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


# ---------------------------------------------------------------- as planned


@test
def the_first_sample_comes_within_a_second_of_the_attach():
    daemon, times = Daemon(), []
    for _ in range(FIRST_SAMPLE_TRIES):
        target = Target()
        with Stopwatch() as watch:
            client = daemon.start_attach(target.pid)
        times.append(watch.seconds)
        succeeded(daemon.ctl("detach", str(target.pid)))
        assert_early(client.finish(), "detached")
        target.stop()
        if times[-1] < FIRST_SAMPLE_WITHIN_S:
            break
    note("first sample after " + ", ".join(f"{t:.3f} s" for t in times))
    assert times[-1] < FIRST_SAMPLE_WITHIN_S, times


@test_on_jdks
def a_window_that_has_ended_leaves_nothing_in_the_target(jdk):
    daemon, target = Daemon(), Target(jdk)
    before = Snapshot(target.pid)
    for duration_s in (8, 30, 60):  # On a busy machine its samples are seen late, and it may be over by then.
        begin = time.monotonic()
        client = daemon.start_attach(target.pid, duration=f"{duration_s}s")
        seen = perf_descriptors(target.pid) > 0 and catches(target.pid, signal.SIGTRAP)
        looked_s = time.monotonic() - begin
        report = report_of(client.finish())
        if seen or looked_s < duration_s:
            break
    assert seen, f"no event or no handler after {looked_s:.1f} of {duration_s} s"
    assert not report["window"]["ended_early"], report["window"]
    wait_until(lambda: not before.differences(Snapshot(target.pid)), "the state of before", 1)
    assert leftovers(target.pid) == [], leftovers(target.pid)
    target.assert_goes_on()
    target.stop()


@test_on_jdks
def thirty_windows_add_nothing_to_the_target(jdk):
    daemon, target = Daemon(), Target(jdk)
    settled, profiled = None, 0
    for cycle in range(1, CYCLES + 1):
        profiled += daemon.attach(target.pid, duration="100ms")["quality"]["threads"] > 0
        if cycle == SETTLED_AFTER:
            wait_until(lambda: at_rest(target.pid), "an end of the window", 1)
            settled, settled_mappings = Snapshot(target.pid), len(mappings(target.pid))
    assert profiled >= CYCLES / 2, profiled
    wait_until(lambda: not settled.differences(Snapshot(target.pid)), "the state of the third window", 1)
    grown = len(mappings(target.pid)) - settled_mappings
    note(f"{CYCLES - SETTLED_AFTER} windows: {settled_mappings} mappings and {grown:+d}")
    assert grown <= MAPPINGS_OWN, mappings(target.pid)
    parts = agent_mappings(target.pid)
    assert parts and len(set(parts)) == len(parts), f"mapped more than once: {parts}"
    assert len({path for _, _, path in parts}) == 1, parts
    assert leftovers(target.pid) == []
    target.assert_goes_on()
    target.stop()


@test_on_jdks
def many_short_windows_do_not_kill_the_target(jdk):
    """A thread that was preempted between a trap and its signal gets the signal after the window."""
    daemon, target, profiled = Daemon(), Target(jdk), 0
    for _ in range(SHORT_WINDOWS):
        report = daemon.attach(target.pid, *DENSE, duration="50ms")
        profiled += report["quality"]["threads"] > 0
    note(f"{profiled} of {SHORT_WINDOWS} windows had a thread")
    assert profiled >= SHORT_WINDOWS / 2, report["quality"]
    target.assert_goes_on()
    target.stop()


@test_on_jdks
def memory_of_threads_that_ended_between_windows_is_not_written_to(jdk):
    """HotSpot would, if no environment were there while they end (vm_stay)."""
    end = os.path.join(make_directory(), "end")
    daemon, target = Daemon(), Workload(jdk, "ReusedMemory", arguments=[str(ENDING_THREADS), end])
    daemon.attach(target.pid, duration="500ms")
    with open(end, "w", encoding="ascii"):
        wait_until(lambda: "reused" in target.output(), "memory that is used again", 20)
    for _ in range(3):
        daemon.attach(target.pid, duration="500ms")
    checks = target.output().count("checked")
    wait_until(lambda: target.output().count("checked") > checks + 1 or "changed" in target.output(), "a check", 10)
    assert target.alive() and "changed" not in target.output(), target.output()
    target.stop()


@test_on_jdks
def events_end_with_the_window_also_when_another_process_has_them(jdk):
    """As one does that the target forked and that has not run another program, or never will."""
    daemon, target = Daemon(), Target(jdk)
    client = daemon.start_attach(target.pid, *DENSE)
    copies = copies_of_perf_descriptors(target.pid)
    assert copies, "no event to copy"
    succeeded(daemon.ctl("detach", str(target.pid)))
    assert_early(client.finish(), "detached")
    wait_without_traps(target)
    before = target.operations()
    wait_until(lambda: target.operations() > before + 5, "more operations", 20)
    note(f"{len(copies)} events were held by another process")
    target.assert_goes_on()
    for fd in copies:
        os.close(fd)
    target.stop()


# ---------------------------------------------------------------- one of us dies


@test_on_jdks
def the_target_does_not_notice_the_death_of_the_daemon(jdk):
    daemon, target = Daemon(), Target(jdk)
    broker = daemon.broker()
    client = daemon.start_attach(target.pid)
    os.kill(daemon.pid, signal.SIGKILL)
    wait_without_traps(target)
    target.assert_goes_on()
    assert_one_line(client.finish(), 1, "the daemon")
    wait_until(lambda: not os.path.exists(f"/proc/{broker}"), "the end of the broker", 5)
    again = Daemon().attach(target.pid, duration="1s")
    assert again["quality"]["samples"] > 0, again["quality"]
    target.assert_goes_on()
    target.stop()


@test
def the_target_does_not_notice_the_death_of_the_broker():
    daemon, target = Daemon(), Target()
    client = daemon.start_attach(target.pid)
    os.kill(daemon.broker(), signal.SIGKILL)
    wait_without_traps(target)
    target.assert_goes_on()
    assert_early(client.finish(), "daemon was stopped")
    wait_until(lambda: not daemon.alive(), "the end of the daemon", 5)
    assert daemon.child.returncode == 1 and "privileged half" in daemon.output(), daemon.output()
    target.stop()


@test
def the_death_of_the_client_ends_its_window():
    daemon, target = Daemon(), Target()
    client = daemon.start_attach(target.pid)
    client.stop()
    wait_without_traps(target)
    target.assert_goes_on()
    wait_until(lambda: not daemon.running(), "the end of the window", 5)
    target.stop()


# ---------------------------------------------------------------- the target ends


@test_on_jdks
def a_target_that_is_killed_leaves_a_report_of_what_arrived(jdk):
    daemon, target = Daemon(), Target(jdk)
    client = daemon.start_attach(target.pid)
    os.kill(target.pid, signal.SIGKILL)
    assert_early(client.finish(), "exited or was killed", status=TARGET_ENDED)


@test_on_jdks
def a_target_that_exits_leaves_a_report_of_what_arrived(jdk):
    daemon, target = Daemon(), Target(jdk, arguments=["5"])
    client = daemon.start_attach(target.pid)
    assert target.child.wait(HANG_S) == 0
    assert_early(client.finish(), "exited", status=TARGET_ENDED)
    assert re.fullmatch(r"up\n(operations \d+\n)+", target.output()), target.output()


# ---------------------------------------------------------------- ended on request


@test
def an_interrupt_ends_the_window_and_the_report_is_printed():
    daemon, target = Daemon(), Target()
    client = daemon.start_attach(target.pid)
    client.child.send_signal(signal.SIGINT)
    result = client.finish()
    assert_early(result, "detached")
    assert result.stderr.endswith(": interrupted\n"), result.stderr
    wait_without_traps(target)
    target.stop()


@test
def an_interrupt_ends_the_window_of_a_private_daemon_too():
    target = Target()
    command = [CLIENT, "--private", "attach", str(target.pid)]
    with subprocess.Popen(
        [*command, "--duration", "60s", "--format", "json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as child:
        wait_until(lambda: perf_descriptors(target.pid) > 1, "events in the target")
        os.killpg(child.pid, signal.SIGINT)
        out, errors = child.communicate(timeout=HANG_S)
    assert child.returncode == EARLY and errors.endswith(": interrupted\n"), errors
    assert json.loads(out)["window"]["ended_early"], out
    wait_without_traps(target)
    target.stop()


@test
def detach_ends_the_window_and_the_waiting_client_gets_its_report():
    daemon, target = Daemon(), Target()
    client = daemon.start_attach(target.pid)
    window = daemon.running()[0]["id"]
    assert window in succeeded(daemon.ctl("detach", str(target.pid)))
    report = assert_early(client.finish(), "detached")
    assert report["window"]["id"] == window, report["window"]
    wait_without_traps(target)
    kept = report_of(daemon.ctl("report", window, "--format", "json"))
    assert kept["window"] == report["window"], kept["window"]
    target.stop()


@test
def a_second_attach_to_the_same_jvm_is_refused_and_the_first_goes_on():
    daemon, target = Daemon(), Target()
    client = daemon.start_attach(target.pid, duration="8s")
    second = daemon.ctl("attach", str(target.pid), "--duration", "1s")
    assert_one_line(second, 1, "already being profiled", "jxperfctl detach")
    report = report_of(client.finish())
    assert not report["window"]["ended_early"], report["window"]
    target.stop()


@test
def a_second_daemon_is_refused_and_the_first_window_goes_on():
    daemon, target = Daemon(), Target()
    client = daemon.start_attach(target.pid, duration="8s")
    assert_one_line(Daemon().ctl("attach", str(target.pid), "--duration", "1s"), 1)
    report = report_of(client.finish())
    assert not report["window"]["ended_early"], report["window"]
    target.stop()


# ---------------------------------------------------------------- a target that may not open events


@made_once
def no_perf():
    program = os.path.join(make_directory(), "no_perf")
    source = os.path.join(ROOT, "tests/e2e/no_perf.c")
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", source, "-o", program], check=True)
    return program


@test
def the_launcher_forbids_perf_event_open():
    script = (
        "import ctypes, sys; libc = ctypes.CDLL(None, use_errno=True); "
        "r = libc.syscall(298, 0, 0, -1, -1, 0); sys.exit(ctypes.get_errno() if r < 0 else 0)"
    )
    errno_of = [subprocess.run([*p, "/usr/bin/python3", "-c", script], check=False).returncode
                for p in ([], [no_perf()])]
    assert errno_of[0] != 1 and errno_of[1] == 1, errno_of


@test_on_jdks
def events_come_through_the_daemon_where_the_target_may_not_open_them(jdk):
    daemon, target = Daemon(), Target(jdk, prefix=[no_perf()])
    # The usual budget allows few pairs where others take the processors: 6 in 0.3 s of CPU time, 18 in a check.
    report = daemon.attach(target.pid, "--kinds", "silent-load", "--budget", "10%", cpu_s=2)
    quality, found = report["quality"], report["inefficiency"][0]
    note(f"{quality['samples']} samples, {quality['traps']} pairs, fraction {found['fraction']:.3f}")
    assert quality["threads_failed"] == 0 and quality["traps"] > 20, quality
    assert found["fraction"] > 0.9, found["fraction"]
    wait_without_traps(target)
    target.assert_goes_on()
    target.stop()


run(at_once=2)
