"""JVMs are found as they start and gone when they end, by BPF where that is permitted, by rounds elsewhere; and a machine
that starts processes all the time pays next to nothing for it."""
import json
import os
import signal
import subprocess
import time

from lib import HANG_S, Process, compile_java, jdks, need_root, note, run, skip, test, wait_until
from support.profile import NO_GUARDS, Daemon, cpu_seconds

WITHOUT_BPF = ("setpriv", "--bounding-set", "-bpf,-sys_admin")
# JVMs of another run of this test are not meant.
TEAM = f"found{os.getpid()}"
ROUND_S = 10
# A turn of the broker's in which it is too young, one in which it is told of, the look, and room.
SOON_S = 3
STORM_S = 5
# Of one core, for the daemon and its broker together.
STORM_SHARE_MAX = 0.02

IDLE = """
public class Idle {
    public static void main(String[] args) throws Exception { System.out.println("up"); Thread.sleep(1L << 40); }
}
"""

CONFIG = f"""
environment: [TEAM]
apps:
  - match: {{environment: [TEAM={TEAM}]}}
    app: {TEAM}
{NO_GUARDS}
schedules:
  - name: rare
    match: {{app: {TEAM}}}
    every: 1h
    window: 1s
    warm-up: 1h
"""


class Host(Daemon):
    def __init__(self, prefix=(), config=CONFIG):
        super().__init__(prefix=prefix, http="127.0.0.1:0", config=config)
        # The broker's own name for it: setpriv and the like exec.
        self.both = (self.pid, self.broker())

    def wait_for_round(self):
        wait_until(lambda: self.metric("jxperf_discovery_rounds_total"), "a round", ROUND_S)

    def knows(self, pid):
        """Is it a JVM of the schedule? The list itself looks at all processes, and asks the rules for their names; when
        they have their windows is the schedules'."""
        listed = self.ctl("--json", "list")
        assert listed.returncode == 0, listed.stderr
        row = next((j for j in json.loads(listed.stdout) if j["pid"] == pid), None)
        return row is not None and row["app"] == TEAM and row["schedule"] == "rare"

    def cpu_s(self):
        return sum(cpu_seconds(pid) for pid in self.both)


def idle_jvm(classes, *before):
    return Process([*before, jdks()[-1].java, "-Xmx32m", "-XX:+UseSerialGC", "-cp", classes, "Idle"],
                   env={**os.environ, "TEAM": TEAM})


_shared = {}


def classes():
    if "classes" not in _shared:
        _shared["classes"] = compile_java({"Idle.java": IDLE})
    return _shared["classes"]


def host():
    """One daemon for all tests, its first round done."""
    need_root()
    if "host" not in _shared:
        _shared["host"] = Host()
        _shared["host"].wait_for_round()
    if _shared["host"].metric("jxperf_discovery_bpf") != 1:
        skip("BPF is not permitted here: " + _shared["host"].output())
    return _shared["host"]


def seconds_until_known(h, jvm, patience_s):
    start = time.monotonic()
    wait_until(lambda: h.knows(jvm.pid), f"pid {jvm.pid} as a JVM of the schedule", patience_s)
    return time.monotonic() - start


@test
def a_jvm_is_found_as_it_starts():
    h = host()
    rounds = h.metric("jxperf_discovery_rounds_total")
    took_s = seconds_until_known(h, idle_jvm(classes()), 30)
    note(f"found {took_s:.1f} s after its start")
    assert took_s < SOON_S, took_s
    assert h.metric("jxperf_discovery_rounds_total") == rounds, "it was a round that found it"


@test
def one_that_a_launcher_becomes_later_is_found():
    h = host()
    rounds = h.metric("jxperf_discovery_rounds_total")
    jvm = idle_jvm(classes(), "sh", "-c", "sleep 2; exec \"$@\"", "launcher")
    took_s = seconds_until_known(h, jvm, 30)
    assert took_s < 2 + SOON_S, took_s
    assert h.metric("jxperf_discovery_rounds_total") == rounds, "it was a round that found it"


@test
def one_that_ends_is_gone_at_once():
    h = host()
    jvm = idle_jvm(classes())
    seconds_until_known(h, jvm, 30)
    ended = h.metric("jxperf_discovery_ended_total")
    os.kill(jvm.pid, signal.SIGKILL)
    jvm.child.wait()
    wait_until(lambda: h.metric("jxperf_discovery_ended_total") == ended + 1, "the end of the JVM", 2)
    assert not h.knows(jvm.pid)


@test
def one_that_was_there_before_its_schedule_is_found_at_the_reload():
    need_root()
    jvm = idle_jvm(classes())
    jvm.wait_for("up")
    h = Host(config="environment: [TEAM]\n")
    assert h.metric("jxperf_discovery_bpf") is None
    h.configure(CONFIG)
    assert h.ctl("reload").returncode == 0
    assert seconds_until_known(h, jvm, 30) < SOON_S
    h.stop()


@test
def processes_that_come_and_go_cost_next_to_nothing():
    h = host()
    started, missed = (h.metric(f"jxperf_discovery_{name}_total") for name in ("started", "missed"))
    cpu_s, start = h.cpu_s(), time.monotonic()
    storm = subprocess.run(["bash", "-c", f"SECONDS=0; n=0; while [ $SECONDS -lt {STORM_S} ]; do /bin/true; n=$((n+1)); "
                            "done; echo $n"], check=True, capture_output=True, text=True, timeout=HANG_S)
    took_s = time.monotonic() - start
    share = (h.cpu_s() - cpu_s) / took_s
    note(f"{int(storm.stdout) / took_s:.0f} processes a second: {share:.2%} of a core")
    assert share < STORM_SHARE_MAX, share
    assert h.metric("jxperf_discovery_missed_total") == missed
    # Others may start something that stays.
    assert h.metric("jxperf_discovery_started_total") - started < int(storm.stdout) / 100


@test
def processes_that_stay_cost_little():
    h = host()
    started, cpu_s, start = h.metric("jxperf_discovery_started_total"), h.cpu_s(), time.monotonic()
    storm = subprocess.run(["bash", "-c", f"for i in $(seq 500); do sleep {STORM_S} & done; wait"], check=True,
                           timeout=HANG_S)
    assert storm.returncode == 0
    share = (h.cpu_s() - cpu_s) / (time.monotonic() - start)
    note(f"500 processes that stay: {share:.2%} of a core")
    assert share < STORM_SHARE_MAX, share
    assert h.metric("jxperf_discovery_started_total") - started < 50, "they have one thread"


@test
def without_bpf_there_are_rounds_and_the_reason():
    need_root()
    h = Host(prefix=WITHOUT_BPF)
    h.wait_for("the kernel does not tell of processes that start (BPF is not permitted")
    assert h.metric("jxperf_discovery_bpf") == 0
    h.wait_for_round()
    jvm = idle_jvm(classes())
    took_s = seconds_until_known(h, jvm, 60)
    note(f"found {took_s:.1f} s after its start")
    assert took_s < ROUND_S + SOON_S, took_s
    h.stop()


run()
