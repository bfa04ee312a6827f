"""Threads that begin to work during a window, and descriptors: the target's and the daemon's own limits are respected."""
import os
import re
import resource

from lib import HANG_S, jdks, make_directory, note, run, test, test_on_jdks, wait_until
from support.many_threads import ManyThreads, daemon_descriptors, observe
from support.profile import EARLY, Daemon, report_of, succeeded
from support.target import descriptors, perf_descriptors

# Within which a thread that begins to work is profiled.
LATE_S = 5
LIMIT = 256
FILES = 200


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
    client = daemon.start_attach(target.pid, "--budget", "10%", "--pairs", "10", duration="5s")
    _, events = observe(client, target)
    quality = report_of(client.finish())["quality"]
    note(f"{before} of {LIMIT} open; {events} taken, {quality['threads']} threads profiled, "
         f"{quality['threads_no_descriptors']} were short of descriptors")
    assert 0 < events <= (LIMIT - before) / 2 + 1, (before, events)
    assert quality["threads"] > 2 and quality["threads_no_descriptors"] > 0, quality
    assert quality["threads_failed"] == 0 and quality["samples"] > 0, quality
    window = report_of(daemon.ctl("report", "w1", "--format", "json"))["window"]
    assert not window["ended_early"], window
    assert re.search(r"lost  +\d+ threads", succeeded(daemon.ctl("report", "w1")))
    text = succeeded(daemon.ctl("report", "w1", "--view", "quality"))
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
    quality = daemon.attach(target.pid, "--budget", "10%", "--open-through-daemon", duration="3s")["quality"]
    assert quality["threads"] >= 24 and quality["threads_failed"] == 0, quality
    assert quality["threads_no_descriptors"] == 0, quality
    wait_until(lambda: daemon_descriptors(daemon) == before, "the daemon's descriptors of before", 2)
    target.stop()


run(at_once=2)
