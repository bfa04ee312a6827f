"""`jxperfctl check` and `list` on real JVMs: what they say is so, and asking changes nothing."""
import json
import os
import subprocess

from lib import BUILD, HANG_S, make_directory, need_root, run, test, test_on_jdks
from support.attach import ContainerJvm, Jvm, as_nobody, leftovers

CTL = os.path.join(BUILD, "bin/jxperfctl")


def control(*arguments, socket=None):
    """Runs a command with a private daemon; its exit status, output and errors."""
    where = socket or os.path.join(make_directory(), "no-daemon.sock")
    command = [CTL, "--socket", where, "--json", *map(str, arguments)]
    p = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
    return p.returncode, p.stdout, p.stderr


def check(*arguments):
    """The items of a check by name."""
    _, out, errors = control("check", *arguments)
    assert out, errors
    return {item["name"]: item for item in json.loads(out)}


def listed(pid):
    status, out, errors = control("list")
    assert status == 0, errors
    return next((jvm for jvm in json.loads(out) if jvm["pid"] == pid), None)


@test
def the_machine_is_checked():
    items = check()
    for name in ("kernel", "architecture", "clock event", "debug registers", "watchpoint signals", "agent",
                 "attach helper"):
        assert items[name]["result"] == "ok", items[name]


@test_on_jdks
def a_jvm_is_listed_with_its_jdk_and_collector(jdk):
    for option, collector in (("-XX:+UseSerialGC", "Serial"), ("-XX:+UseZGC", "ZGC"), ("-XX:+UseG1GC", "G1")):
        for perfdata in ("-XX:+UsePerfData", "-XX:-UsePerfData"):
            jvm = Jvm(jdk, option, perfdata)
            entry = listed(jvm.pid)
            assert entry["name"] == "Idle", entry
            assert entry["jdk"].startswith(str(jdk.release)), entry
            assert entry["gc"] == collector, entry
            # Without performance data nothing shows that it is a JVM before it was attached to once.
            vouched = perfdata == "-XX:+UsePerfData"
            assert entry["state"] == ("attachable" if vouched else "attachable by pid"), entry
            assert entry["by_name"] == vouched, entry
            jvm.stop()


@test_on_jdks
def the_default_collector_is_told_too(jdk):
    jvm = Jvm(jdk, "-XX:ActiveProcessorCount=2", "-Xmx3g")
    assert listed(jvm.pid)["gc"] in ("G1", "Serial")
    jvm.stop()


@test_on_jdks
def a_jvm_in_a_container_of_another_user_is_listed(jdk):
    need_root()
    jvm = ContainerJvm(jdk, mounts="mount -t tmpfs -o mode=1777 tmpfs /tmp", user=as_nobody())
    entry = listed(jvm.pid)
    assert entry["name"] == "Idle" and entry["state"] == "attachable", entry
    assert entry["jdk"].startswith(str(jdk.release)), entry
    items = check(jvm.pid)
    assert items["mount namespace"]["detail"] == "its own", items["mount namespace"]
    assert items["agent files"]["result"] == "ok", items["agent files"]
    jvm.stop()


@test_on_jdks
def a_jvm_that_cannot_be_attached_to_is_listed_with_the_reason(jdk):
    jvm = Jvm(jdk, "-XX:+DisableAttachMechanism")
    assert listed(jvm.pid)["state"] == "attach disabled"
    items = check(jvm.pid)
    assert items["attach mechanism"]["result"] == "failed", items
    assert "restart it" in items["attach mechanism"]["detail"], items
    jvm.stop()


@test
def what_is_no_jvm_is_not_listed():
    assert listed(os.getpid()) is None


@test_on_jdks
def a_check_leaves_the_jvm_as_it_was(jdk):
    jvm = Jvm(jdk)
    before = jvm.output()
    items = check(jvm.pid)
    assert all(item["result"] == "ok" for item in items.values()), items
    assert jvm.output() == before
    assert leftovers(jvm.pid) == []
    assert not os.path.exists(f"/tmp/.java_pid{jvm.pid}")
    with open(f"/proc/{jvm.pid}/maps", encoding="utf-8") as f:
        assert "libjxperf-agent.so" not in f.read()
    jvm.stop()


@test_on_jdks
def what_virtual_threads_pay_for_the_first_attach_is_said(jdk):
    jvm = Jvm(jdk)
    item = check(jvm.pid).get("virtual threads")
    assert (item is not None) == (jdk.release >= 21), item
    if item:
        assert "the first attach of any agent makes their mounts dearer" in item["detail"], item
        status, _, errors = control("attach", jvm.pid, "--duration", "1s", "--kinds", "silent-load")
        assert status == 0, errors
        assert "nothing is added" in check(jvm.pid)["virtual threads"]["detail"]
    jvm.stop()


@test
def a_pid_that_nobody_has_fails():
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as f:
        status, _, errors = control("check", int(f.read()) - 1)
    assert status == 1, status
    lines = errors.strip().splitlines()
    assert "no process has the pid" in lines[-1], errors


run()
