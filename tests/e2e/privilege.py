"""What the daemon's halves may do: the engine, which reads what JVMs and clients send, nothing."""
import json
import os
import pwd
import re

from lib import HANG_S, Process, jdks, make_directory, need_root, run, test
from support.profile import DAEMON, Daemon, Workload, succeeded

USER = "nobody"


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


class UserDaemon(Daemon):
    """A daemon started by root whose engine becomes another user."""

    def __init__(self):
        self.socket = os.path.join(make_directory(), "control.sock")
        command = [DAEMON, "--socket", self.socket, "--http", "none", "--state-dir", "none", "--user", USER]
        Process.__init__(self, command, start_new_session=True)
        self.wait_for("ready")


@test
def the_engine_becomes_the_user_and_keeps_no_capability():
    need_root()
    daemon = UserDaemon()
    status = status_of(daemon.pid)
    account = pwd.getpwnam(USER)
    assert set(status["Uid"].split()) == {str(account.pw_uid)}, status["Uid"]
    assert set(status["Gid"].split()) == {str(account.pw_gid)}, status["Gid"]
    assert status["Groups"].split() == [str(account.pw_gid)], status["Groups"]
    for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
        assert int(status[name], 16) == 0, (name, status[name])
    assert status["NoNewPrivs"].strip() == "1", status["NoNewPrivs"]
    assert int(status_of(daemon.broker())["CapEff"], 16) != 0
    daemon.stop()


@test
def a_root_engine_without_a_user_keeps_no_capability_either():
    need_root()
    daemon = Daemon()
    assert int(status_of(daemon.pid)["CapEff"], 16) == 0
    daemon.stop()


@test
def it_lists_checks_and_profiles_the_jvms_of_others():
    need_root()
    daemon, jvm = UserDaemon(), Workload(jdks()[0], "SilentLoad")
    listed = json.loads(succeeded(daemon.ctl("--json", "list")))
    mine = [j for j in listed if j["pid"] == jvm.pid]
    assert mine and mine[0]["state"] == "attachable", listed
    assert re.search(r"SIGQUIT is caught|attach socket exists", succeeded(daemon.ctl("check", str(jvm.pid))))
    report = daemon.attach(jvm.pid, "--kinds", "silent-load", duration="3s")
    assert report["quality"]["traps"] > 0, report["quality"]
    jvm.stop()
    daemon.stop()


@test
def a_user_that_does_not_exist_is_refused_in_one_line():
    need_root()
    socket = os.path.join(make_directory(), "control.sock")
    daemon = Process([DAEMON, "--socket", socket, "--http", "none", "--state-dir", "none", "--user", "no-such-user"])
    assert daemon.child.wait(HANG_S) == 2
    assert daemon.output().count("\n") == 1, daemon.output()
    assert "no user 'no-such-user'" in daemon.output(), daemon.output()


run(at_once=2)
