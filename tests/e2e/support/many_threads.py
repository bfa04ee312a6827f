"""JVMs with many threads, and what is seen of them and of the daemon while a window runs."""
import os
import time

from support.profile import Workload
from support.target import AGENT_THREAD, descriptors, perf_descriptors


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
