"""JVMs with many threads: what is idle costs nothing, what works is profiled, descriptors are respected."""
# Runs alone: it judges what windows cost.
import os
import re
import resource
import time

from lib import HANG_S, add_test, jdks, make_directory, note, run, test, test_on_jdks, wait_until
from support.attach import Jvm
from support.profile import EARLY, Daemon, Workload, report_of, succeeded
from support.target import AGENT_THREAD, Snapshot, at_rest, descriptors, perf_descriptors
from support.tree import Contained, bring_workloads, homes

PARKED = 1998
BUSY = 2
WINDOW_S = 10
BUDGET = 0.01
# The account is corrected twice a second, so the end of a window can be a correction late; and what is
# done once a window weighs more when other programs leave the JVM little CPU time.
# One window of fourteen had 1.3%, with nothing else running, and why is not known; the others 0.8 to 1.0.
TOLERANCE = 0.004
# Of the parked threads 30 were once seen to have run; why is not known.
SLOW_STARTERS = 100
FIXED_S = 0.02

# Of one clock and four registers.
DESCRIPTORS_OF_A_THREAD = 5

# Of the session thread, which looks after its rings five times a second when there is nothing to do.
IDLE_COST_S = 0.03

# Within which a thread that begins to work is profiled.
LATE_S = 5
LIMIT = 256
FILES = 200
# One a thread would be 1,998 more.
STEADY = 4


class ManyThreads(Workload):
    def __init__(self, jdk, parked, busy, *options, **more):
        super().__init__(jdk, "ParkedThreads", *options, arguments=[str(parked), str(busy)], **more)


def session_cpu_s(pid):
    """CPU time of the agent's own thread; None while there is none."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{tid}/comm", encoding="ascii", errors="replace") as f:
                if f.read() != f"{AGENT_THREAD}\n":
                    continue
            with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as f:
                return int(f.read().split()[0]) / 1e9
        except (FileNotFoundError, ProcessLookupError):
            continue
    return None


def process_cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def observe(client, target):
    """Until the window's end: the session thread's CPU time and the most events seen."""
    session, events = 0.0, 0
    while client.child.poll() is None:
        session = session_cpu_s(target.pid) or session
        events = max(events, perf_descriptors(target.pid))
        time.sleep(0.2)
    return session, events


def daemon_descriptors(daemon):
    return [sum(descriptors(pid).values()) for pid in (daemon.pid, daemon.broker())]


# ---------------------------------------------------------------- idle threads


@test_on_jdks
def two_thousand_threads_cost_no_more_than_the_budget(jdk):
    daemon, target = Daemon(), ManyThreads(jdk, PARKED, BUSY)
    daemon.attach(target.pid, duration="500ms")  # What the first attach of all leaves behind is the JVM's.
    wait_until(lambda: at_rest(target.pid), "an end of the window", 5)
    before, before_daemon = Snapshot(target.pid), daemon_descriptors(daemon)
    cpu = process_cpu_s(target.pid)
    client = daemon.start_attach(target.pid, "--kinds", "silent-load", "--pairs", "10", duration=f"{WINDOW_S}s")
    session, events = observe(client, target)
    report = report_of(client.finish())
    cpu = process_cpu_s(target.pid) - cpu
    quality = report["quality"]
    note(f"overhead {quality['overhead_fraction']:.4f}, the session thread {session:.3f} s of {cpu:.1f} s CPU time; "
         f"{quality['threads']} threads profiled, {quality['threads_idle']} idle, {events} descriptors")
    assert quality["overhead_fraction"] <= BUDGET + TOLERANCE + FIXED_S / cpu, quality
    # It looks after its rings by the clock, also where others take the processors.
    assert session <= BUDGET / 2 * max(cpu, WINDOW_S) + FIXED_S, session
    assert session * 1e9 <= quality["overhead_ns"] * 1.2, "the account leaves out what the session thread uses"
    assert quality["threads_idle"] >= PARKED, quality
    assert quality["threads"] < BUSY + SLOW_STARTERS and quality["threads_no_descriptors"] == 0, quality
    assert events <= DESCRIPTORS_OF_A_THREAD * quality["threads"] < PARKED, (events, quality)
    assert quality["traps"] > 20 and report["inefficiency"][0]["fraction"] > 0.9, report["inefficiency"]
    wait_until(lambda: not before.differences(Snapshot(target.pid)), "the state of before", 2)
    wait_until(lambda: all(after <= then + STEADY for then, after in zip(before_daemon, daemon_descriptors(daemon))),
               "the daemon's descriptors of before", 2)
    target.stop()


# The JVM starts it for the first attach, and from JDK 22 on it is one of its own.
ATTACH_LISTENER = 1


def counts_of(target):
    return [int(n) for n in re.findall(r"^live (\d+)\n", target.output(), re.MULTILINE)]


def assert_all_known(daemon, target):
    """The agent reads the JVM's own list, and Java asks the JVM."""
    quality = daemon.attach(target.pid, duration="500ms")["quality"]
    # The agent's own thread has ended.
    wait_until(lambda: at_rest(target.pid), "an end of the window", 5)
    said = len(counts_of(target))
    wait_until(lambda: len(counts_of(target)) > said + 1, "a new count")
    live = counts_of(target)[-1]
    known = quality["threads"] + quality["threads_idle"]
    note(f"{known} threads, {live} by Java's count")
    assert live - ATTACH_LISTENER <= known <= live, (quality["threads"], quality["threads_idle"], live)


@test_on_jdks
def every_thread_of_java_s_is_known(jdk):
    daemon, target = Daemon(), Workload(jdk, "LiveThreads", arguments=["200"])
    assert_all_known(daemon, target)
    target.stop()


def every_thread_is_known_in_the_tree(home):
    daemon, target = Daemon(), Contained(home, "LiveThreads", arguments=("200",))
    assert_all_known(daemon, target)
    target.stop()


if homes():
    bring_workloads()
for _release, _home in sorted(homes().items()):
    add_test(f"every thread of java s is known (JDK {_release} of the tree)",
             lambda home=_home: every_thread_is_known_in_the_tree(home))


@test
def a_thread_that_wakes_during_the_window_is_profiled():
    fifo = os.path.join(make_directory(), "work")
    os.mkfifo(fifo)
    daemon, target = Daemon(), ManyThreads(jdks()[0], 300, 1, f"-Dlate={fifo}")
    client = daemon.start_attach(target.pid)

    def names():
        return succeeded(daemon.ctl("threads", str(target.pid)))

    assert "late" not in names() and "parked" not in names(), names()
    with open(fifo, "wb"):
        wait_until(lambda: "late" in names(), "the woken thread among the profiled", LATE_S)
    succeeded(daemon.ctl("detach", str(target.pid)))
    report_of(client.finish(), EARLY)
    target.stop()


@test
def the_report_of_an_idle_jvm_says_what_the_window_cost_in_seconds():
    daemon, target = Daemon(), Jvm(jdks()[0])
    quality = daemon.attach(target.pid, duration="5s")["quality"]
    text = succeeded(daemon.ctl("report", "w1"))
    note(next(line for line in text.splitlines() if line.startswith("overhead")))
    assert quality["target_idle"] and "the JVM was idle" in text, text
    assert 0 < quality["overhead_cpu_s"] <= IDLE_COST_S, quality
    # Both are printed from one count; the seconds are a float.
    assert abs(quality["overhead_cpu_s"] * 1e9 - quality["overhead_ns"]) < 1, quality
    target.stop()


# ---------------------------------------------------------------- descriptors


def counter_so_far(daemon, name):
    """Of the quality block of the window that runs."""
    return report_of(daemon.ctl("report", daemon.running()[0]["id"], "--format", "json"))["quality"][name]


def limited(limit):
    return ["prlimit", f"--nofile={limit}:{limit}"]


@test_on_jdks
def a_target_with_few_descriptors_left_keeps_some_and_the_report_says_what_was_lost(jdk):
    daemon = Daemon()
    target = ManyThreads(jdk, 20, 16, f"-Dfiles={FILES}", prefix=limited(LIMIT))
    before = sum(descriptors(target.pid).values())
    client = daemon.start_attach(target.pid, "--budget", "10%", "--pairs", "10", duration="8s")
    _, events = observe(client, target)
    quality = report_of(client.finish())["quality"]
    note(f"{before} of {LIMIT} open; {events} taken, {quality['threads']} threads profiled, "
         f"{quality['threads_no_descriptors']} were short of descriptors")
    assert 0 < events <= (LIMIT - before) / 2 + 1, (before, events)
    assert quality["threads"] > 2 and quality["threads_no_descriptors"] > 0, quality
    assert quality["threads_failed"] == 0 and quality["samples"] > 0, quality
    window = report_of(daemon.ctl("report", "w1", "--format", "json"))["window"]
    assert not window["ended_early"], window
    text = succeeded(daemon.ctl("report", "w1"))
    assert re.search(r"\d+ threads were not profiled, or with fewer .*RLIMIT_NOFILE", text), text
    assert perf_descriptors(target.pid) == 0
    target.stop()


@test
def descriptors_that_do_not_arrive_in_the_target_are_counted_and_the_window_goes_on():
    fifo = os.path.join(make_directory(), "work")
    os.mkfifo(fifo)
    daemon = Daemon()
    target = ManyThreads(jdks()[0], 20, 1, f"-Dlate={fifo}", prefix=limited(LIMIT))
    client = daemon.start_attach(target.pid, "--open-through-daemon", "--budget", "10%")
    resource.prlimit(target.pid, resource.RLIMIT_NOFILE, (1, LIMIT))  # The daemon's events for "late" find no room.
    samples = daemon.running()[0]["samples"]
    with open(fifo, "wb"):
        wait_until(lambda: counter_so_far(daemon, "threads_no_descriptors") > 0, "a thread without descriptors", HANG_S)
    wait_until(lambda: daemon.running()[0]["samples"] > samples, "samples of the thread that has its events")
    succeeded(daemon.ctl("detach", str(target.pid)))
    report = report_of(client.finish(), EARLY)
    note(f"{report['quality']['threads_no_descriptors']} threads without; {report['window']}")
    assert report["window"]["reason"] == "it was detached on request", report["window"]
    assert report["quality"]["threads_failed"] == 0, report["quality"]
    target.stop()


@test
def a_daemon_with_few_descriptors_opens_events_for_many_threads():
    daemon = Daemon(prefix=limited(40))
    target = ManyThreads(jdks()[0], 100, 24)
    before = daemon_descriptors(daemon)
    quality = daemon.attach(target.pid, "--budget", "10%", "--open-through-daemon", duration="5s")["quality"]
    assert quality["threads"] >= 24 and quality["threads_failed"] == 0, quality
    assert quality["threads_no_descriptors"] == 0, quality
    wait_until(lambda: daemon_descriptors(daemon) == before, "the daemon's descriptors of before", 2)
    target.stop()


run()
