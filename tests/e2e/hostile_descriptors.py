"""Agents that ask for events and never read the answers do not cost others theirs.

The kernel lets a user have as many descriptors on their way (sent and not received) as its RLIMIT_NOFILE
says; all that the daemon sends to agents counts together.
"""
import os

from lib import jdks, need_root, note, run, test, wait_until
from support.hostile import HonestWorkload, HostileDaemon, HostileJvm, ask_for_clock_event, hello
from support.profile import report_of, succeeded

# Of the daemon: below what one agent's socket can hold of unread answers (278 measured).
LIMIT = 128
HOSTILE = 3
QUESTIONS = 2000


def open_descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


@test
def agents_that_do_not_read_cost_others_no_events():
    need_root()
    jdk = jdks()[0]
    daemon = HostileDaemon(prefix=("prlimit", f"--nofile={LIMIT}:{LIMIT}"))
    before = open_descriptors(daemon.pid)
    hostile = [HostileJvm(jdk) for _ in range(HOSTILE)]
    for jvm in hostile:
        jvm.will_send(hello(), ask_for_clock_event(jvm.pid) * QUESTIONS)
    clients = [daemon.start_ctl("attach", str(jvm.pid), "--duration", "60s") for jvm in hostile]
    wait_until(lambda: len([w for w in daemon.running() if w["state"] == "running"]) == HOSTILE, "hostile windows")
    target = HonestWorkload(jdk, "SilentLoad")
    report = daemon.attach(target.pid, "--open-through-daemon", duration="3s")
    quality = report["quality"]
    note(f"{quality['threads']} threads profiled, {quality['threads_failed']} not; "
         f"{open_descriptors(daemon.pid) - before} descriptors of the daemon for {HOSTILE} hostile sessions")
    assert not report["window"]["ended_early"], report["window"]
    assert quality["threads_failed"] == 0 and quality["threads_no_descriptors"] == 0, quality
    assert quality["threads"] > 0 and quality["samples"] > 0, quality
    # A client, an agent, what epoll and the gate need, and an answer or two.
    assert open_descriptors(daemon.pid) - before <= 12 * HOSTILE, open_descriptors(daemon.pid) - before
    # They still run: what they asked for waits for them.
    assert {w["pid"] for w in daemon.running()} == {jvm.pid for jvm in hostile}, daemon.running()
    for jvm, client in zip(hostile, clients):
        succeeded(daemon.ctl("detach", str(jvm.pid)))
        jvm.stop()
        client.finish()
    report_of(daemon.ctl("report", report["window"]["id"], "--format", "json"))
    target.stop()


run()
