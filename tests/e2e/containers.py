"""JVMs in containers are profiled like others, or refused with the one reason for it."""
import json
import os
import subprocess

from lib import HANG_S, jdks, make_directory, need_root, run, test, test_on_jdks
from support.attach import leftovers, namespace_pid
from support.container import FIRST_USER, Container
from support.profile import CLIENT, Daemon, assert_quality, share_through, succeeded, the_one_kind

SHORT = ("--kinds", "silent-load")
USER = 1000


def listed(daemon, pid):
    return next((j for j in json.loads(succeeded(daemon.ctl("--json", "list"))) if j["pid"] == pid), None)


def assert_profiled(daemon, jvm, *options):
    """A window of it says what it says outside of a container, and leaves nothing behind."""
    row = listed(daemon, jvm.pid)
    assert row["name"] == "SilentLoad" and row["jdk"] and row["gc"], row
    # By its name, too, where users and files are those that it says.
    assert row["state"] == "attachable", row
    report = daemon.attach(jvm.pid, *SHORT, *options, cpu_s=3)
    kind = the_one_kind(report)
    assert_quality(report, 20)
    assert kind["fraction"] > 0.8, kind["fraction"]
    assert share_through(kind, "SilentLoad.main") > 0.8
    assert report["window"]["pid"] == jvm.pid and report["window"]["app"] == "SilentLoad", report["window"]
    assert leftovers(jvm.pid) == [], leftovers(jvm.pid)
    assert jvm.alive() and "Full thread dump" not in jvm.output(), jvm.output()


@test_on_jdks
def a_jvm_with_mounts_pids_network_and_root_of_its_own_is_profiled(jdk):
    need_root()
    daemon, jvm = Daemon(), Container(jdk, "SilentLoad")
    assert namespace_pid(jvm.pid) == 1
    for name in ("mnt", "pid", "net"):
        assert os.readlink(f"/proc/{jvm.pid}/ns/{name}") != os.readlink(f"/proc/self/ns/{name}"), name
    assert_profiled(daemon, jvm)
    assert_profiled(daemon, jvm)
    jvm.stop()
    daemon.stop()


@test_on_jdks
def a_jvm_with_users_of_its_own_is_profiled(jdk):
    need_root()
    daemon = Daemon()
    for user in (0, USER):
        jvm = Container(jdk, "SilentLoad", own_users=True, user=user)
        assert os.stat(f"/proc/{jvm.pid}").st_uid == FIRST_USER + user
        assert os.readlink(f"/proc/{jvm.pid}/ns/user") != os.readlink("/proc/self/ns/user")
        assert_profiled(daemon, jvm)
        jvm.stop()
    daemon.stop()


@test
def a_container_with_users_of_its_own_is_theirs_under_their_ids_out_here():
    need_root()
    daemon = Daemon()
    os.chmod(daemon.socket, 0o666)
    jvm = Container(jdks()[0], "SilentLoad", own_users=True)

    def attach_as(user):
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", CLIENT, "--socket", daemon.socket,
                   "attach", str(jvm.pid), *SHORT, "--duration", "1s", "--format", "json", "-o", "-"]
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)

    for stranger in (USER, FIRST_USER + 1):
        refused = attach_as(stranger)
        assert refused.returncode == 1 and "no process has the pid" in refused.stderr, refused
    report = json.loads(succeeded(attach_as(FIRST_USER)))
    assert report["window"]["pid"] == jvm.pid, report["window"]
    jvm.stop()
    daemon.stop()


run()
