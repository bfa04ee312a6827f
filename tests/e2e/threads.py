"""JVMs with many threads: what is idle costs nothing, and what works is profiled within its budget."""
# Runs alone: it judges what windows cost.
# Estimates: costs.
from lib import jdks, note, run, test, test_on_jdks, wait_until
from support.attach import Jvm
from support.many_threads import ManyThreads, daemon_descriptors, observe
from support.profile import Daemon, cpu_seconds, report_of, succeeded
from support.target import Snapshot, at_rest

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

# One a thread would be 1,998 more.
STEADY = 4


@test_on_jdks
def two_thousand_threads_cost_no_more_than_the_budget(jdk):
    daemon, target = Daemon(), ManyThreads(jdk, PARKED, BUSY)
    daemon.attach(target.pid, duration="500ms")  # What the first attach of all leaves behind is the JVM's.
    wait_until(lambda: at_rest(target.pid), "an end of the window", 5)
    before, before_daemon = Snapshot(target.pid), daemon_descriptors(daemon)
    cpu = cpu_seconds(target.pid)
    client = daemon.start_attach(target.pid, "--kinds", "silent-load", "--pairs", "10", duration=f"{WINDOW_S}s")
    session, events = observe(client, target)
    report = report_of(client.finish())
    cpu = cpu_seconds(target.pid) - cpu
    quality = report["quality"]
    note(f"overhead {quality['overhead_fraction']:.4f}, the session thread {session:.3f} s of {cpu:.1f} s CPU time; "
         f"{quality['threads']} threads profiled, {quality['threads_idle']} idle, {events} descriptors")
    assert quality["overhead_fraction"] <= BUDGET + TOLERANCE + FIXED_S / cpu, quality
    # It looks after its rings by the clock, also where others take the processors.
    assert session <= BUDGET / 2 * max(cpu, WINDOW_S) + FIXED_S, session
    assert session * 1e9 <= quality["overhead_ns"] * 1.2, "the account leaves out what the session thread uses"
    assert quality["threads_idle"] >= PARKED - SLOW_STARTERS, quality
    assert quality["threads"] < BUSY + SLOW_STARTERS and quality["threads_no_descriptors"] == 0, quality
    assert events <= DESCRIPTORS_OF_A_THREAD * quality["threads"] < PARKED, (events, quality)
    assert quality["traps"] > 20 and report["inefficiency"][0]["fraction"] > 0.9, report["inefficiency"]
    wait_until(lambda: not before.differences(Snapshot(target.pid)), "the state of before", 2)
    wait_until(lambda: all(after <= then + STEADY for then, after in zip(before_daemon, daemon_descriptors(daemon))),
               "the daemon's descriptors of before", 2)
    target.stop()


@test
def the_report_of_an_idle_jvm_says_what_the_window_cost_in_seconds():
    daemon, target = Daemon(), Jvm(jdks()[0])
    quality = daemon.attach(target.pid, duration="3s")["quality"]
    text = succeeded(daemon.ctl("report", "w1"))
    note(next(line for line in text.splitlines() if line.startswith("overhead")))
    assert quality["target_idle"] and "the JVM was idle" in text, text
    assert 0 < quality["overhead_cpu_s"] <= IDLE_COST_S, quality
    # Both are printed from one count; the seconds are a float.
    assert abs(quality["overhead_cpu_s"] * 1e9 - quality["overhead_ns"]) < 1, quality
    target.stop()


run()
