"""The sampling gate: in the kernel where BPF is permitted, else in the agent, and reported either way."""
# Starts early: it takes long (many JVMs).
import json
import os
import subprocess

from lib import HANG_S, jdks, make_directory, need_root, run, skip, test, test_on_jdks
from support.profile import CLIENT, Daemon, Workload

# What loading a BPF program takes; without it, as on a machine that forbids BPF to the daemon.
WITHOUT_BPF = ("setpriv", "--bounding-set", "-bpf,-sys_admin")
# Far more ticks than usual: short, and no budget lengthens it.
MANY_TICKS = ("--period", "1ms", "--budget", "100%")


def check_item(prefix=()):
    command = [*prefix, CLIENT, "--private", "--json", "check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.stdout, done.stderr
    return next(item for item in json.loads(done.stdout) if item["name"] == "sampling gate")


def need_bpf():
    need_root()
    item = check_item()
    if not item["detail"].startswith("BPF"):
        skip(item["detail"])


def drops(report):
    return {k: v for k, v in report["quality"].items() if k.startswith("gate_") and k != "gate_passed"}


def assert_passed(quality):
    """Every tick of a perf clock was passed. A thread has one soon after its first tick; timers before it, and theirs pass
    the agent's gate. A signal can be late: of a thread that ends, at the very end, or in a handler of the one before."""
    assert quality["ticks"] / 2 < quality["gate_passed"] <= quality["signals_ticks"] + quality["async"] + 10, quality


@test_on_jdks
def the_kernel_passes_every_tick_of_a_window_within_its_budget(jdk):
    need_bpf()
    daemon, jvm = Daemon(), Workload(jdk, "DeadStore")
    report = daemon.attach(jvm.pid, *MANY_TICKS, cpu_s=3)
    quality = report["quality"]
    assert report["window"]["gate"] == "bpf", report["window"]
    assert quality["samples"] > 0, quality
    assert_passed(quality)
    assert drops(report)["gate_budget_spent"] == 0, drops(report)
    jvm.stop()
    daemon.stop()


@test
def events_that_the_daemon_opens_have_the_gate_too():
    need_bpf()
    daemon, jvm = Daemon(), Workload(jdks()[0], "DeadStore")
    report = daemon.attach(jvm.pid, *MANY_TICKS, "--open-through-daemon", cpu_s=3)
    quality = report["quality"]
    assert report["window"]["gate"] == "bpf", report["window"]
    assert quality["samples"] > 0, quality
    assert_passed(quality)
    jvm.stop()
    daemon.stop()


@test
def one_window_after_the_other_has_a_gate_of_its_own():
    need_bpf()
    daemon, jvm = Daemon(), Workload(jdks()[0], "DeadStore")
    for _ in range(3):
        quality = daemon.attach(jvm.pid, *MANY_TICKS, cpu_s=1)["quality"]
        assert 0 < quality["gate_passed"] <= quality["signals_ticks"] + 10, quality
    jvm.stop()
    daemon.stop()


@test
def a_thread_that_runs_no_compiled_code_keeps_to_the_period_too():
    need_bpf()
    daemon, jvm = Daemon(), Workload(jdks()[0], "DeadStore", "-Xint")
    report = daemon.attach(jvm.pid, "--period", "1ms", "--budget", "0.2%", cpu_s=5)
    quality = report["quality"]
    # A signal costs more than 2 us everywhere, and the first ticks come 0.1 s apart at such a budget.
    assert quality["ticks"] > 10 and report["window"]["effective_period"] > 1000000, report["window"]
    assert quality["gate_budget_spent"] <= quality["ticks"] / 10, quality
    jvm.stop()
    daemon.stop()


@test_on_jdks
def without_permission_for_bpf_the_agent_is_the_gate(jdk):
    need_root()
    daemon, jvm = Daemon(prefix=WITHOUT_BPF), Workload(jdk, "DeadStore")
    report = daemon.attach(jvm.pid, *MANY_TICKS, cpu_s=3)
    quality = report["quality"]
    assert report["window"]["gate"] == "agent", report["window"]
    assert "CAP_BPF" in report["window"]["gate_reason"], report["window"]
    assert quality["samples"] > 0 and quality["gate_passed"] == 0, quality
    assert drops(report)["gate_budget_spent"] == 0, drops(report)
    jvm.stop()
    daemon.stop()


@test
def check_says_which_gate_there_is():
    need_bpf()
    assert check_item()["result"] == "ok"
    item = check_item(WITHOUT_BPF)
    assert item["result"] == "warning", item
    assert "in the agent" in item["detail"] and "CAP_BPF" in item["detail"], item


run(at_once=2)
