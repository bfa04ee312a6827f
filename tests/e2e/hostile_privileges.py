"""What each process of the daemon may do, read off the running processes: the table of docs/security.md, "Privileges".

A privilege that stays behind is what somebody who gets into one of the processes gains."""
import functools
import os
import platform
import pwd
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

from lib import ROOT, Process, jdks, make_directory, need_root, note, run, skip, test, wait_until
from support import unit
from support.profile import DAEMON, Daemon, Workload, report_of, succeeded, attach_options

USER = "nobody"
TARGET_USER = "daemon"
UNITS = {name: os.path.join(ROOT, f"systemd/{name}.service.in") for name in ("jxperfd", "jxperf-broker")}
# systemd-analyze security's; what keeps the broker's above 2.5 is said in docs/security.md.
EXPOSURE = {"jxperfd": 1.4, "jxperf-broker": 3.8}
RUNNER = os.path.join(ROOT, "tests/e2e/support/unit.py")
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
LIMIT_S = 60


# ---------------------------------------------------------------- what is documented


@functools.lru_cache(maxsize=None)
def table():
    """{process: (told by, user, permitted, bounding)} of docs/security.md."""
    with open(os.path.join(ROOT, "docs/security.md"), encoding="utf-8") as f:
        text = re.search(r"^## Privileges\n(.*?)^## ", f.read(), re.M | re.S).group(1)
    rows = [[cell.strip().strip("`") for cell in line.strip("|\n").split("|")]
            for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == ["process", "told by", "user", "effective and permitted", "bounding"], rows[0]
    return {row[0]: row[1:] for row in rows[2:]}


def events():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        return ["sys_admin"] if int(f.read()) > 2 else []


def permitted(rows, process):
    text = rows[process][2]
    if text == "none":
        return 0
    if text in rows:
        return permitted(rows, text)
    if text == "as started":
        return None
    names = [name for word in text.split() for name in (events() if word == "events" else [word])]
    return unit.capability_mask(names)


def documented(process, control, user, target):
    """What the status file of such a process has to say; control is that of a program started the same way."""
    rows = table()
    mine = permitted(rows, process)
    mine = control["CapPrm"] if mine is None else mine
    root = control["uid"] == 0
    users = {"--user": user, "as started": control["uid"], "target": target}
    bounding = rows[process][3]
    passed_on = 0 if root or process in ("engine", "worker", "helper in the target") else mine
    return {
        "uid": users[rows[process][1]],
        "CapInh": passed_on,
        "CapPrm": mine,
        "CapEff": mine,
        "CapBnd": permitted(rows, bounding) if bounding in rows and root else control["CapBnd"],
        "CapAmb": passed_on,
        "NoNewPrivs": 1,
        "Seccomp": control["Seccomp"],
        "Seccomp_filters": control["Seccomp_filters"],
    }


# ---------------------------------------------------------------- what is


def parse_status(text):
    fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    uids = {int(uid) for uid in fields["Uid"].split()}
    found = {name: int(fields[name], 16) for name in SETS}
    for name in ("NoNewPrivs", "Seccomp", "Seccomp_filters"):
        found[name] = int(fields[name])
    found["uid"] = uids.pop() if len(uids) == 1 else tuple(sorted(uids))
    return found


def control_of(prefix):
    """The status of a program that is started as the daemon is."""
    out = subprocess.run([*prefix, "/bin/cat", "/proc/self/status"], capture_output=True, text=True, check=True)
    return parse_status(out.stdout)


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return [int(child) for child in f.read().split()]
    except OSError:
        return []


def descendants(pid):
    mine = children(pid)
    return mine + [d for child in mine for d in descendants(child)]


class Observer(threading.Thread):
    """Looks at the daemon's processes again and again; the last state of each is what counts."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.engine = daemon.pid
        self.door = daemon.door.pid if daemon.door else None
        self.seen = {}
        self.ended = False

    def role(self, pid):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
            command = f.read().split("\0")
        for name, (told_by, *_) in table().items():
            if name != "engine" and (told_by in command or os.path.basename(command[0]) == told_by):
                return name
        return "engine" if pid == self.engine else None

    def run(self):
        while not self.ended:
            first = self.door or self.engine
            for pid in {self.engine, first, *descendants(first)}:
                try:
                    role = self.role(pid)
                    with open(f"/proc/{pid}/status", encoding="ascii") as f:
                        status = parse_status(f.read())
                except (OSError, KeyError):
                    continue  # It has just ended.
                # Between fork and exec it is its parent's image still.
                if role and not (role == "broker" and pid != self.broker()):
                    self.seen[pid] = (role, status)
            time.sleep(0)

    def broker(self):
        return next(iter(children(self.door or self.engine)), 0)

    def of(self, role):
        return [status for name, status in list(self.seen.values()) if name == role]


class StartedDaemon(Daemon):
    """The daemon behind a prefix that sets its privileges, and execs."""

    def __init__(self, prefix, *options, directory=None, door=None):
        self.socket = os.path.join(directory or make_directory(), "control.sock")
        self.door = door
        command = [*prefix, DAEMON, "--socket", self.socket, "--http", "none", "--state-dir", "none", *options]
        Process.__init__(self, command, start_new_session=True)
        self.wait_for("ready")


class Door(Process):
    """The broker's service, with the socket that systemd would hand it."""

    def __init__(self, prefix, directory):
        self.path = os.path.join(directory, "broker.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)  # In a directory of the engine's user.
        self.listener.listen(8)
        command = [*prefix, DAEMON, "--broker-for", USER]
        super().__init__(command, start_new_session=True, close_fds=False, env={**os.environ, "LISTEN_FDS": "1"},
                         preexec_fn=self.hand_over)
        self.wait_for("ready")

    def hand_over(self):
        os.dup2(self.listener.fileno(), 3, inheritable=True)
        os.set_inheritable(3, True)


def compare(observer, control, user, target):
    wrong = []
    for role, status in list(observer.seen.values()):
        rows = ["helper", "helper in the target"] if role == "helper" else [role]
        wanted = [documented(row, control, user, target) for row in rows]
        if status not in wanted:
            wrong.append((role, status, wanted))
    assert not wrong, wrong


def observe(daemon, control, user, engine_control=None):
    """Has every kind of process run, and compares what was seen."""
    target = pwd.getpwnam(TARGET_USER).pw_uid
    jvm = Workload(jdks()[0], "SilentLoad",
                   prefix=("setpriv", f"--reuid={target}", f"--regid={pwd.getpwnam(TARGET_USER).pw_gid}",
                           "--clear-groups", "--inh-caps=-all"))
    observer = Observer(daemon)
    observer.start()
    end = time.monotonic() + LIMIT_S

    def all_were_seen():
        inside = documented("helper in the target", control, user, target)
        absent = ["helper in the target"] + ([] if daemon.door else ["door"])
        return all(observer.of(role) for role in table() if role not in absent) and \
            inside in observer.of("helper")

    report = None
    while not report or not all_were_seen():
        assert time.monotonic() < end, {role: len(observer.of(role)) for role in table()}
        succeeded(daemon.ctl("list"))
        client = daemon.ctl("attach", str(jvm.pid), *attach_options("1s", ["--open-through-daemon"]))
        report = report_of(client)
    observer.ended = True
    observer.join()
    if engine_control:
        engine = observer.seen.pop(daemon.pid)
        assert engine == ("engine", documented("engine", engine_control, user, target)), engine
    compare(observer, control, user, target)
    assert report["quality"]["traps"] > 0, report["quality"]
    jvm.stop()


def need_machine():
    need_root()
    if platform.machine() != "x86_64":
        skip("the runner's filters are for x86-64")


# ---------------------------------------------------------------- tests


def changed_unit(change):
    """A unit beside the shipped one."""
    with open(UNITS["jxperf-broker"], encoding="utf-8") as f:
        text = change(f.read())
    path = os.path.join(make_directory(), "jxperfd.service")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def as_unit(path):
    return (sys.executable, RUNNER, path, USER)


@test
def under_the_shipped_units_every_process_has_what_the_design_says():
    need_machine()
    account = pwd.getpwnam(USER)
    directory = make_directory()
    os.chown(directory, account.pw_uid, account.pw_gid)
    broker, engine = as_unit(UNITS["jxperf-broker"]), as_unit(UNITS["jxperfd"])
    door = Door(broker, directory)
    daemon = StartedDaemon(engine, "--broker", door.path, directory=directory, door=door)
    observe(daemon, control_of(broker), account.pw_uid, control_of(engine))
    # What the allow-list of system calls and the capabilities are enough for.
    gate = next(line for line in succeeded(daemon.ctl("check")).splitlines() if line.startswith("sampling gate"))
    assert " ok " in gate or "process id namespace" in gate, gate
    daemon.stop()
    door.stop()


@test
def the_units_are_as_little_exposed_as_they_claim():
    if not shutil.which("systemd-analyze"):
        skip("systemd-analyze is not there")
    for name, most in EXPOSURE.items():
        path = os.path.join(make_directory(), f"{name}.service")
        with open(UNITS[name], encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
            out.write(f.read().replace("@PREFIX@", "/usr").replace("@SYSCONFDIR@", "/etc"))
        said = subprocess.run(["systemd-analyze", "--no-pager", "security", "--offline=true", path], capture_output=True,
                              text=True, check=False)
        score = re.search(r"Overall exposure level for .*?: ([0-9.]+)", said.stdout)
        assert score, said
        note(f"{name}: {score.group(1)}")
        assert float(score.group(1)) <= most, said.stdout


@test
def started_by_root_alone_every_process_has_what_the_design_says():
    need_machine()
    daemon = StartedDaemon(())
    observe(daemon, control_of(()), 0)
    daemon.stop()


@test
def started_as_a_user_with_ambient_capabilities_every_process_has_what_the_design_says():
    need_machine()
    account = pwd.getpwnam(USER)
    names = "+setuid,+setgid,+sys_ptrace,+dac_read_search,+perfmon,+kill,+bpf,+sys_admin"
    prefix = ("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups",
              f"--inh-caps=-all,{names}", f"--ambient-caps=-all,{names}")
    directory = make_directory()
    os.chown(directory, account.pw_uid, account.pw_gid)
    daemon = StartedDaemon(prefix, directory=directory)
    observe(daemon, control_of(prefix), account.pw_uid)
    daemon.stop()


@test
def a_daemon_that_cannot_give_up_its_privileges_does_not_start():
    need_root()
    directory = make_directory()
    command = ["setpriv", "--bounding-set=-setpcap", DAEMON, "--socket", os.path.join(directory, "control.sock"), "--http", "none",
               "--state-dir", "none"]
    daemon = Process(command)
    assert daemon.child.wait(30) == 1
    assert daemon.output().count("\n") == 1, daemon.output()
    assert "CAP_SETPCAP" in daemon.output(), daemon.output()
    assert not os.listdir(directory), os.listdir(directory)


@test
def a_directive_that_the_runner_does_not_know_is_an_error():
    path = changed_unit(lambda text: text.replace("[Service]", "[Service]\nPrivateEverything=yes"))
    out = subprocess.run([*as_unit(path), "/bin/true"], capture_output=True, text=True, check=False)
    assert out.returncode != 0 and "PrivateEverything" in out.stderr, out


run()
