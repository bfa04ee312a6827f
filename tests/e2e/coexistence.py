"""A target that uses SIGTRAP itself, or is being debugged, works on during a window."""
# Takes half a place: it waits most of the time.
import os
import re
import signal
import subprocess

from lib import Stopwatch, compile_jni, made_once, make_directory, note, run, test_on_jdks, wait_until
from support.jdwp import OPTION, Debugger, port_of
from support.profile import EARLY, Daemon, Workload, report_of, succeeded
from support.target import catches, perf_descriptors

STATUS = re.compile(r"^sent (\d+) handled (\d+) breakpoints (\d+) others (\d+) installed (\w+)$", re.MULTILINE)

# Later than the window's first samples.
INSTALL_AFTER_S = 4

WINDOW_S = 2
# What the daemon grants the agent to end its window (SESSION_STOP_TIMEOUT_MS), and the machine.
STOP_S = 10
SLACK_S = 3


# ---------------------------------------------------------------- SIGTRAP


@made_once
def library():
    return compile_jni("own_sigtrap.c")


# STATUS_EVERY of the program.
PRINTED_EVERY = 5


class OwnSigtrap(Workload):
    def __init__(self, jdk, install_after_s=0):
        super().__init__(jdk, "OwnSigtrap", arguments=[library(), str(install_after_s)])

    def status(self):
        """sent, handled, breakpoints, others, installed: as last printed; None before."""
        lines = STATUS.findall(self.output())
        return tuple(map(int, lines[-1][:4])) + (lines[-1][4] == "true",) if lines else None


@test_on_jdks
def an_application_with_a_handler_of_its_own_gets_its_signals_during_a_window(jdk):
    daemon, target = Daemon(), OwnSigtrap(jdk)
    before = target.status()
    report = daemon.attach(target.pid, "--kinds", "silent-load", duration="4s")
    during = target.status()
    sent, handled, breakpoints, others, _ = during
    quality = report["quality"]
    note(f"{sent - before[0]} pairs of signals in the window, {quality['foreign_sigtraps']} handed on, "
         f"{quality['traps']} traps of ours")
    assert sent - before[0] > 20, (before, during)
    assert (handled, breakpoints, others) == (sent, sent, 0), during
    # What was sent since the last time that it was printed is not in sent.
    assert 20 < quality["foreign_sigtraps"] <= 2 * (sent - before[0] + PRINTED_EVERY), quality
    assert quality["traps"] > 5 and report["inefficiency"][0]["fraction"] > 0.9, report
    assert not report["window"]["ended_early"], report["window"]
    wait_until(lambda: target.status()[0] > sent and target.status()[4], "the application's handler back in place", 5)
    assert "SIGTRAPs were the application's own" in succeeded(daemon.ctl("report", "w1", "--view", "quality"))
    target.stop()


@test_on_jdks
def an_application_that_installs_a_handler_ends_the_window_and_keeps_its_handler(jdk):
    daemon, target = Daemon(), OwnSigtrap(jdk, INSTALL_AFTER_S)
    client = daemon.start_attach(target.pid, duration="30s")
    window = report_of(client.finish(), EARLY)["window"]
    assert window["ended_early"] and "took over SIGTRAP" in window["reason"], window
    assert window["duration_s"] < 20, window
    wait_until(target.status, "the application's own signals", 10)
    assert perf_descriptors(target.pid) == 0
    first = target.status()
    wait_until(lambda: target.status()[0] >= first[0] + 20, "the application's work going on", 10)
    sent, handled, breakpoints, others, installed = target.status()
    note(f"{others} of our signals reached the application's handler")
    assert installed and (handled, breakpoints) == (sent, sent), target.status()
    again = daemon.attach(target.pid, duration="2s")
    assert again["quality"]["samples"] > 0 and not again["window"]["ended_early"], again["window"]
    wait_until(lambda: target.status()[4] and target.status()[0] > sent, "the application's handler back", 10)
    assert target.status()[3] == others, target.status()
    target.stop()


# ---------------------------------------------------------------- debugger


class Debugged(Workload):
    def __init__(self, jdk):
        super().__init__(jdk, "SilentLoad", OPTION, "-Dprogress=true")
        self.debugger = Debugger(port_of(self))

    def operations(self):
        counts = re.findall(r"^operations (\d+)$", self.output(), re.MULTILINE)
        return int(counts[-1]) if counts else 0

    def assert_goes_on(self):
        before = self.operations()
        wait_until(lambda: self.operations() > before, "the target's next operation", 10)


@test_on_jdks
def a_debugger_and_a_window_work_side_by_side(jdk):
    daemon, target = Daemon(), Debugged(jdk)
    debugger = target.debugger
    client = daemon.start_attach(target.pid, "--kinds", "silent-load", duration="5s")
    assert debugger.version()
    stops = 0
    for _ in range(5):
        request = debugger.set_breakpoint("LSilentLoad;", "rounds")
        debugger.await_breakpoint(request)
        debugger.clear_breakpoint(request)
        debugger.resume()
        stops += 1
        target.assert_goes_on()
    report = report_of(client.finish())
    note(f"{stops} breakpoints; {report['quality']['traps']} pairs")
    assert not report["window"]["ended_early"], report["window"]
    # A method that had a breakpoint is interpreted until the JVM compiles it anew, and may be for most of the window.
    assert report["quality"]["ticks"] > 10 and report["quality"]["traps"] > 0, report["quality"]
    assert debugger.version()
    target.assert_goes_on()
    debugger.close()
    target.stop()


@test_on_jdks
def a_window_ends_in_time_while_a_debugger_has_stopped_the_jvm(jdk):
    daemon, target = Daemon(), Debugged(jdk)
    client = daemon.start_attach(target.pid, duration=f"{WINDOW_S}s")
    request = target.debugger.set_breakpoint("LSilentLoad;", "rounds")
    target.debugger.await_breakpoint(request)
    with Stopwatch() as watch:
        result = client.finish()
        report = report_of(result, EARLY if result.returncode == EARLY else 0)
    note(f"ended {watch.wall_seconds:.1f} s after the stop: {report['window']['state']} {report['window']['reason']}")
    # The debugger stops the agent's thread, too, when it next asks the JVM something: the name of a method, say.
    assert watch.seconds < WINDOW_S + STOP_S + SLACK_S, watch.seconds
    window = report["window"]
    assert not window["ended_early"] or "debugger" in window["reason"], window
    succeeded(daemon.ctl("status"))
    target.debugger.clear_breakpoint(request)
    target.debugger.resume()
    target.assert_goes_on()
    wait_until(lambda: perf_descriptors(target.pid) == 0, "an end of all events", 5)
    wait_until(lambda: not catches(target.pid, signal.SIGTRAP), "an end of our handler", 5)
    again = daemon.attach(target.pid, duration="2s")
    assert again["quality"]["samples"] > 0, again["quality"]
    target.stop()


@test_on_jdks
def an_attach_to_a_jvm_that_a_debugger_has_stopped_fails_in_time_and_works_after(jdk):
    daemon, target = Daemon(), Debugged(jdk)
    request = target.debugger.set_breakpoint("LSilentLoad;", "rounds")
    target.debugger.await_breakpoint(request)
    with Stopwatch() as watch:
        result = daemon.ctl("attach", str(target.pid), "--duration", "2s")
    note(f"after {watch.wall_seconds:.1f} s: {result.stderr.strip()}")
    assert result.returncode == 1 and watch.seconds < 30, (result, watch.seconds)
    assert len(result.stderr.splitlines()) == 1, result.stderr
    succeeded(daemon.ctl("status"))
    target.debugger.clear_breakpoint(request)
    target.debugger.resume()
    target.assert_goes_on()
    report = daemon.attach(target.pid, duration="2s")
    assert report["quality"]["samples"] > 0, report["quality"]
    target.stop()


# ---------------------------------------------------------------- another profiler


@test_on_jdks
def a_flight_recording_and_a_window_work_side_by_side(jdk):
    recording = os.path.join(make_directory(), "all.jfr")
    daemon = Daemon()
    target = Workload(jdk, "SilentLoad", f"-XX:StartFlightRecording=filename={recording},settings=profile")
    report = daemon.attach(target.pid, duration="2s")
    assert report["quality"]["traps"] > 0 and not report["window"]["ended_early"], report["quality"]
    tool = os.path.join(jdk.home, "bin/jcmd")
    if os.path.exists(tool):
        subprocess.run([tool, str(target.pid), "JFR.dump", f"filename={recording}"], check=True, capture_output=True)
        events = subprocess.run([os.path.join(jdk.home, "bin/jfr"), "summary", recording], check=True, capture_output=True, text=True)
        samples = int(re.search(r"^ jdk.ExecutionSample +(\d+)", events.stdout, re.MULTILINE).group(1))
        assert samples > 0, events.stdout
    daemon.stop()
    target.stop()


@test_on_jdks
def where_another_agent_samples_allocations_the_objects_are_left_out_with_the_reason(jdk):
    daemon = Daemon()
    target = Workload(jdk, "SilentLoad", f"-agentpath:{compile_jni('takes_allocations.c')}")
    for kinds in ("objects,cpu", "objects,silent-load", "objects,loops"):
        report = daemon.attach(target.pid, "--kinds", kinds, duration="1s")
        assert "another agent samples this JVM's allocations" in report["objects_summary"]["refused"], report
        assert report["quality"]["samples"] > 0 or report["cpu"]["samples"] > 0, report["quality"]
    assert "another agent samples this JVM's allocations" in succeeded(daemon.ctl("report", "w1"))
    refused = daemon.ctl("attach", str(target.pid), "--kinds", "objects", "--duration", "2s")
    assert refused.returncode == 1 and "leave out the objects" in refused.stderr, refused
    daemon.stop()
    target.stop()


run(at_once=2)
