"""`jxperfctl check` and `list` on real JVMs: what they say is so, and asking changes nothing."""
# Takes half a place: it waits most of the time.
import json
import os
import shutil
import socket
import subprocess

from lib import BUILD, HANG_S, jdks, make_directory, need_root, run, test, test_on_jdks, wait_until
from support.attach import (
    NOBODY,
    ContainerJvm,
    Jvm,
    as_nobody,
    assert_attaches,
    attach,
    attach_socket,
    leftovers,
    make_bundle,
    namespace_pid,
)
from support.profile import Daemon

CTL = os.path.join(BUILD, "bin/jxperfctl")


def control(*arguments, socket=None):
    """Runs a command with a private daemon; its exit status, output and errors."""
    where = ["--socket", socket] if socket else ["--private"]
    command = [CTL, *where, "--json", *map(str, arguments)]
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
def what_virtual_threads_pay_for_objects_is_said(jdk):
    jvm = Jvm(jdk)
    item = check(jvm.pid).get("virtual threads")
    assert (item is not None) == (jdk.release >= 21), item
    if item:
        assert "windows with objects" in item["detail"] and "mounts dearer" in item["detail"], item
    jvm.stop()


@test
def a_pid_that_nobody_has_fails():
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as f:
        status, _, errors = control("check", int(f.read()) - 1)
    assert status == 1, status
    lines = errors.strip().splitlines()
    assert "no process has the pid" in lines[-1], errors


# ---------------------------------------------------------------- no where an attach would be refused


def assert_both_refuse(jvm, *words, item="attach request"):
    """The check says what the attach says."""
    checked = check(jvm.pid)[item]
    status, text = attach(jvm.pid, make_bundle(), timeout_ms=4000)
    assert checked["result"] == "failed" and status == 1, (checked, text)
    for word in words:
        assert word in checked["detail"] and word in text, (word, checked, text)
    assert control("check", jvm.pid)[0] == 1


@test
def a_socket_that_another_process_listens_on_is_refused_by_check_and_attach():
    jvm = Jvm(jdks()[-1])
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(attach_socket(jvm))
        squatter.listen(5)
        assert_both_refuse(jvm, f"belongs to another process ({os.getpid()})", "remove it")
    os.unlink(attach_socket(jvm))
    assert check(jvm.pid)["attach request"]["result"] == "ok"
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test
def a_trigger_file_of_another_user_is_refused_by_check_and_attach():
    need_root()
    cwd = make_directory(mode=0o777)
    jvm = Jvm(jdks()[-1], prefix=as_nobody(), cwd=cwd)
    trigger = os.path.join(cwd, f".attach_pid{namespace_pid(jvm.pid)}")
    with open(trigger, "w", encoding="ascii"):
        pass
    shutil.chown(trigger, NOBODY - 1)
    assert_both_refuse(jvm, os.path.basename(trigger), "remove it")
    os.unlink(trigger)
    assert check(jvm.pid)["attach request"]["result"] == "ok"
    assert leftovers(jvm.pid) == []
    jvm.stop()


@test_on_jdks
def a_listener_that_another_tool_holds_is_not_called_a_stopped_jvm(jdk):
    jvm = Jvm(jdk)
    assert_attaches(jvm, make_bundle())  # Its socket exists from now on.
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(attach_socket(jvm))  # And asks for nothing.
        assert_both_refuse(jvm, "another tool holds the attach listener")
        # More than it has room for.
        crowd = [socket.socket(socket.AF_UNIX) for _ in range(64)]
        for s in crowd:
            s.setblocking(False)
            try:
                s.connect(attach_socket(jvm))
            except BlockingIOError:
                break
        assert_both_refuse(jvm, "another tool holds the attach listener")
        for s in crowd:
            s.close()
    wait_until(lambda: check(jvm.pid)["attach request"]["result"] == "ok", "the end of the others' turns")
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test_on_jdks
def a_jvm_that_is_being_profiled_is_said_to_be(jdk):
    jvm, daemon = Jvm(jdk), Daemon()
    assert "session" not in check(jvm.pid)
    window = daemon.start_ctl("attach", str(jvm.pid), "--duration", "60s", "--kinds", "cpu")
    item = wait_until(lambda: check(jvm.pid).get("session"), "the window's session")
    assert item["result"] == "failed" and "already being profiled" in item["detail"], item
    # Another daemon's attach is refused, too.
    status, _, errors = control("attach", jvm.pid, "--duration", "1s")
    assert status == 1 and "already being profiled" in errors, errors
    daemon.ctl("detach", str(jvm.pid))
    window.finish()
    wait_until(lambda: "session" not in check(jvm.pid), "the end of the session")
    jvm.stop()
    daemon.stop()


run(at_once=2)
