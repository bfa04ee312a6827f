"""A user whom the control socket lets in does with JVMs of others nothing, and learns nothing of them."""
import functools
import grp
import json
import os
import pwd
import re
import subprocess

from lib import HANG_S, Process, jdks, make_directory, need_root, note, run, test, wait_until
from support.attach import NOBODY, as_nobody
from support.hostile import HostileDaemon, HostileJvm, ended, hello
from support.profile import CLIENT, DAEMON, EARLY, Client, Daemon, Workload, report_of, succeeded

ADMINS = grp.getgrgid(1)
SHORT = ("--kinds", "silent-load")
# What root's JVM runs. Other tests have JVMs of the same other user, none of which runs this.
ROOTS = "SilentLoadClean"


def as_admin(*command):
    return ("setpriv", "--reuid=1", f"--regid={NOBODY}", f"--groups={ADMINS.gr_gid}", *command)


@functools.lru_cache(maxsize=None)
def the_daemon():
    """One that everybody may talk to."""
    need_root()
    daemon = Daemon(options=("--admin-group", ADMINS.gr_name))
    os.chmod(daemon.socket, 0o666)
    return daemon


@functools.lru_cache(maxsize=None)
def roots_jvm():
    return Workload(jdks()[0], ROOTS)


@functools.lru_cache(maxsize=None)
def users_jvm():
    return Workload(jdks()[0], "SilentStore", prefix=as_nobody())


@functools.lru_cache(maxsize=None)
def absent_pid():
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def ask(who, *arguments):
    """What jxperfctl says to one whom who turns a command into a command of."""
    command = who(CLIENT, "--socket", the_daemon().socket, *arguments)
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG_S,
                          check=False)


def ask_json(who, *arguments):
    return json.loads(succeeded(ask(who, "--json", *arguments)))


def windows(who):
    return {w["id"]: w for w in ask_json(who, "windows")}


def refusal(pid, *arguments):
    """What a user hears of a pid, without its number."""
    result = ask(as_nobody, *(str(pid) if a is None else a for a in arguments))
    assert result.returncode == 1 and result.stdout == "", result
    assert result.stderr.count("\n") == 1 and str(pid) in result.stderr, result
    return result.stderr.replace(str(pid), "PID")


class User(Client):
    """A jxperfctl of the user's that runs beside the test."""

    def __init__(self, *arguments):
        super().__init__(*arguments, command=as_nobody(CLIENT, "--socket", the_daemon().socket))


def audit(of=None, **fields):
    """The lines of a daemon's audit that have these fields."""
    wanted = [f"{key.replace('_', '-')}={value}" for key, value in fields.items()]
    lines = re.findall(r"^jxperfd: (?:warning: )?audit: (.*)$", (of or the_daemon()).output(), re.MULTILINE)
    return [line for line in lines if all(w in re.findall(r'[\w-]+=(?:"(?:[^"\\]|\\.)*"|\S+)', line) for w in wanted)]


def attach_failures():
    return json.loads(succeeded(the_daemon().ctl("--json", "status")))["attach_failures"]


@test
def a_users_list_has_the_users_jvms_only():
    need_root()
    own, other = users_jvm().pid, roots_jvm().pid
    listed = {j["pid"]: j for j in ask_json(as_nobody, "list")}  # Other tests may have JVMs of the same user.
    assert {j["user"] for j in listed.values()} == {pwd.getpwuid(NOBODY).pw_name}, listed
    assert own in listed and other not in listed, listed
    assert listed[own]["state"] == "attachable", listed
    assert {own, other} <= {j["pid"] for j in json.loads(succeeded(the_daemon().ctl("--json", "list")))}


@test
def a_jvm_of_another_user_is_refused_like_a_pid_that_nobody_has():
    need_root()
    for command in (("attach", None, *SHORT, "--duration", "1s"), ("check", None), ("detach", None), ("threads", None)):
        other, absent = refusal(roots_jvm().pid, *command), refusal(absent_pid(), *command)
        note(other.strip())
        assert other == absent, (other, absent)
    by_name = ask(as_nobody, "attach", ROOTS)
    assert by_name.returncode == 1 and str(roots_jvm().pid) not in by_name.stderr, by_name
    assert audit(action="attach", uid=NOBODY, pid=roots_jvm().pid, outcome="refused")
    assert audit(action="check", uid=NOBODY, pid=roots_jvm().pid, outcome="refused")


@test
def a_window_of_another_user_does_not_exist():
    need_root()
    pid = roots_jvm().pid
    client = the_daemon().start_attach(pid, *SHORT)
    window = the_daemon().running()[0]["id"]
    assert ask_json(as_nobody, "status")["running"] == []
    assert window not in windows(as_nobody)
    for command in (("attach", None, *SHORT, "--duration", "1s"), ("check", None), ("detach", None), ("threads", None)):
        assert refusal(pid, *command) == refusal(absent_pid(), *command), command
    report = ask(as_nobody, "report", window)
    assert (report.returncode, report.stdout) == (1, ""), report
    assert report.stderr == f"jxperfctl: no window '{window}': see 'jxperfctl windows'\n", report
    assert ask(as_nobody, "wait", window).stderr == report.stderr
    # It has gone on all the while, and is root's to end.
    assert [w["id"] for w in the_daemon().running()] == [window]
    succeeded(the_daemon().ctl("detach", str(pid)))
    assert report_of(client.finish(), EARLY)["window"]["id"] == window
    assert ask(as_nobody, "report", window).stderr == report.stderr
    for action in ("attach", "check", "detach", "threads"):
        assert audit(action=action, uid=NOBODY, pid=pid, outcome="refused"), action
    assert audit(action="report", uid=NOBODY, window=window, outcome="refused")
    assert len(audit(action="attach", uid=0, pid=pid, window=window, outcome="ok")) == 1
    assert len(audit(action="detach", uid=0, pid=pid, window=window, outcome="ok")) == 1


@test
def a_users_own_jvm_is_the_users():
    need_root()
    pid = users_jvm().pid
    client = User("attach", str(pid), "--duration", "60s", "--format", "json", "--kinds", "silent-store")
    wait_until(lambda: any(w["samples"] > 0 for w in ask_json(as_nobody, "status")["running"]), "samples")
    (window,) = ask_json(as_nobody, "status")["running"]
    assert window["pid"] == pid and window["id"] in windows(as_nobody), window
    assert "attach socket exists" in ask(as_nobody, "check", str(pid)).stdout
    assert len(ask_json(as_nobody, "threads", str(pid))) > 0
    succeeded(ask(as_nobody, "report", window["id"]))
    succeeded(ask(as_nobody, "detach", str(pid)))
    assert report_of(client.finish(), EARLY)["window"]["pid"] == pid
    succeeded(ask(as_nobody, "report", window["id"]))
    assert len(audit(action="attach", uid=NOBODY, pid=pid, window=window["id"], outcome="ok")) == 1
    assert len(audit(action="detach", uid=NOBODY, pid=pid, window=window["id"], outcome="ok")) == 1


@test
def a_window_in_the_background_is_its_users():
    need_root()
    pid = users_jvm().pid
    succeeded(ask(as_nobody, "attach", str(pid), "--background", "--duration", "2s", "--kinds", "silent-store"))
    (window,) = (w for w, about in windows(as_nobody).items() if about["state"] in ("running", "attaching"))
    succeeded(ask(as_nobody, "wait", window))
    succeeded(ask(as_nobody, "report", window))
    assert len(audit(action="attach", uid=NOBODY, pid=pid, window=window, outcome="ok")) == 1


@test
def every_way_to_a_window_of_another_user_is_refused_in_the_same_words():
    need_root()
    pid = roots_jvm().pid
    commands = [("attach", None, *SHORT, "--background", "--duration", "1s")]
    commands += [("attach", None, *SHORT, "--duration", "1s", "--format", f) for f in ("text", "json", "collapsed", "pprof")]
    commands += [("--json", command, None) for command in ("check", "detach", "threads")]
    window = succeeded(the_daemon().ctl("attach", str(pid), *SHORT, "--background", "--duration", "60s")).strip()
    for command in commands:
        assert refusal(pid, *command) == refusal(absent_pid(), *command), command
    for arguments in [("report", "--format", f) for f in ("text", "json", "collapsed", "pprof")] + [("wait",), ("--json", "wait")]:
        theirs, absent = (ask(as_nobody, *arguments, w) for w in (window, "w999999"))
        assert (theirs.returncode, theirs.stdout) == (1, "") == (absent.returncode, absent.stdout), (theirs, absent)
        assert theirs.stderr == absent.stderr.replace("w999999", window), (theirs, absent)
    succeeded(the_daemon().ctl("detach", str(pid)))


@test
def a_plan_of_a_fleet_asks_no_daemon():
    need_root()
    directory = make_directory()
    paths = [os.path.join(directory, name) for name in ("jxperfd.yaml", "hosts")]
    for path, text in zip(paths, ("schedules: [{name: s, match: {}, every: 1h}]\n", "host1 app 1\n")):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    before = len(audit(uid=NOBODY))
    plan = ask(as_nobody, "fleet-plan", "--config", paths[0], "--hosts", paths[1], "--epochs", "3")
    succeeded(plan)
    assert len(audit(uid=NOBODY)) == before, "it asked the daemon"


@test
def one_user_does_not_take_all_places():
    need_root()
    path = os.path.join(make_directory(), "jxperfd.yaml")
    with open(path, "w", encoding="ascii") as f:
        f.write("windows-per-user: 1\n")
    daemon = Daemon(options=("--config", path))
    os.chmod(daemon.socket, 0o666)
    jvms = users_jvm(), Workload(jdks()[0], "SilentStore", prefix=as_nobody())

    def attach(jvm, who=as_nobody):
        command = who(CLIENT, "--socket", daemon.socket, "attach", str(jvm.pid), "--background", "--duration", "60s",
                      "--kinds", "silent-store")
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)

    assert attach(jvms[0]).returncode == 0
    refused = attach(jvms[1])
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1 and "windows-per-user" in refused.stderr, refused
    assert re.search(f"audit: action=attach uid={NOBODY} .*pid={jvms[1].pid} .*outcome=refused.*windows-per-user",
                     daemon.output()), daemon.output()
    assert attach(jvms[1], lambda *command: command).returncode == 0, "root has no such limit"
    daemon.stop()
    jvms[1].stop()


@test
def a_member_of_the_admin_group_does_everything():
    need_root()
    pids = {users_jvm().pid, roots_jvm().pid}
    assert pids <= {j["pid"] for j in ask_json(as_admin, "list")}
    assert windows(as_admin).keys() == {w["id"] for w in json.loads(succeeded(the_daemon().ctl("--json", "windows")))}
    for pid in pids:
        result = ask(as_admin, "attach", str(pid), "--duration", "1s", "--format", "json")
        assert report_of(result)["window"]["pid"] == pid
        assert len(audit(action="attach", uid=1, pid=pid, outcome="ok")) == 1


@test
def the_configuration_is_not_every_users_to_change():
    need_root()
    reload = ask(as_nobody, "reload")
    assert reload.returncode == 1 and reload.stderr.count("\n") == 1 and "only root" in reload.stderr, reload
    assert "without --config" in ask(as_admin, "reload").stderr
    assert len(audit(action="configure", uid=NOBODY, outcome="refused")) == 1


@test
def a_new_configuration_names_another_admin_group():
    need_root()
    path = os.path.join(make_directory(), "jxperfd.yaml")

    def write(text):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)

    write("admin-group: no-such-group\n")
    daemon = Daemon(options=("--admin-group", "root", "--config", path))  # The command line comes first.
    succeeded(daemon.ctl("reload"))
    daemon.stop()
    write("")
    daemon = Daemon(options=("--config", path))
    os.chmod(daemon.socket, 0o666)
    by_admin = as_admin(CLIENT, "--socket", daemon.socket, "reload")
    assert subprocess.run(by_admin, capture_output=True, timeout=HANG_S, check=False).returncode == 1
    write(f"admin-group: {ADMINS.gr_name}\n")
    succeeded(daemon.ctl("reload"))
    write("admin-group: no-such-group\n")
    wrong = subprocess.run(by_admin, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert wrong.returncode == 1 and "no group 'no-such-group'" in wrong.stderr, wrong
    write("")
    subprocess.run(by_admin, stdout=subprocess.DEVNULL, timeout=HANG_S, check=True)
    assert 'audit: action=configure uid=0' in daemon.output() and 'audit: action=configure uid=1' in daemon.output()
    daemon.stop()


@test
def what_a_client_sends_is_one_line_of_the_audit():
    need_root()
    name = 'w1" outcome=ok\naudit: action=attach uid=0 outcome=ok window="'
    before = len(audit())
    assert ask(as_nobody, "report", name).returncode == 1
    lines = audit()[before:]
    note(lines[0])
    assert len(lines) == 1 and lines == audit(action="report", uid=NOBODY, outcome="not-found")[-1:], lines


@test
def typos_and_what_belongs_to_others_are_told_apart_by_the_audit_alone():
    daemon, pid = the_daemon(), absent_pid()
    windows, failures = succeeded(daemon.ctl("--json", "windows")), attach_failures()
    wrong = daemon.ctl("attach", str(pid))
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1, wrong
    assert audit(action="attach", uid=0, pid=pid, outcome="not-found"), daemon.output()
    # It makes no window and is no failure.
    assert succeeded(daemon.ctl("--json", "windows")) == windows and attach_failures() == failures
    daemon.ctl("report", "w9999")
    assert audit(action="report", uid=0, window="w9999", outcome="not-found"), daemon.output()
    daemon.ctl("detach", str(pid))
    assert audit(action="detach", uid=0, pid=pid, outcome="not-found"), daemon.output()
    own = json.loads(succeeded(daemon.ctl("attach", str(roots_jvm().pid), "--duration", "1s", "--format", "json")))["window"]["id"]
    assert audit(action="end", uid=0, window=own, outcome="done"), daemon.output()
    assert ask(as_nobody, "report", own).stderr.replace(own, "w9999") == ask(as_nobody, "report", "w9999").stderr
    assert audit(action="report", uid=NOBODY, window=own, outcome="refused"), daemon.output()
    assert audit(action="report", uid=NOBODY, window="w9999", outcome="not-found"), daemon.output()


@test
def what_a_target_says_is_quoted_and_no_entry_of_the_audit():
    need_root()
    daemon, jvm = HostileDaemon(), HostileJvm(jdks()[0])
    entry = "audit: action=attach uid=0 peer-pid=4711 pid=815 window=w7 outcome=ok"
    jvm.will_send(hello(), ended(f'it failed" \\"{entry}'.encode()))
    daemon.ctl("attach", str(jvm.pid), "--duration", "2s")
    line = next(line for line in daemon.output().splitlines() if entry in line)
    note(line)
    assert re.search(rf'[:=] ?"(?:[^"\\]|\\.)*{entry}(?:[^"\\]|\\.)*"$', line), line
    assert not audit(daemon, pid=815) and audit(daemon, pid=jvm.pid), daemon.output()
    daemon.stop()


@test
def an_admin_group_that_is_not_there_is_refused_in_one_line():
    socket = os.path.join(make_directory(), "control.sock")
    daemon = Process([DAEMON, "--socket", socket, "--http", "none", "--state-dir", "none", "--admin-group", "no-such-group"])
    assert daemon.child.wait(HANG_S) == 2
    assert daemon.output().count("\n") == 1 and "no group 'no-such-group'" in daemon.output(), daemon.output()


run()
