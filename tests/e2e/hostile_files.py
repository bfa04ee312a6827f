#!/usr/bin/env python3
"""Root's jxperfctl where another user owns what lies on its way: reports into files, and private daemons."""
import contextlib
import functools
import json
import os
import signal
import stat
import subprocess
import sys

from lib import Process, jdks, make_directory, need_root, note, run, test, wait_until
from support.profile import CLIENT, DAEMON, Daemon, Workload, succeeded
from support.target import perf_descriptors

NOBODY = 65534
RACES = 60

# Whatever root's client looks at, it is another thing a moment later.
FLIPPER = """
import os, sys
report, precious = sys.argv[1:]
def file():
    os.chmod(os.open(other, os.O_CREAT | os.O_WRONLY), 0o4777)
def link():
    os.symlink(precious, other)
def nothing():
    os.unlink(report)
other = report + ".other"
print("up", flush=True)
while True:
    for make in (file, link, nothing):
        try:
            make()
            os.rename(other, report)
        except OSError:
            pass
    os.closerange(3, 64)
"""


@functools.lru_cache(maxsize=None)
def daemon():
    """One that has a report."""
    need_root()
    d, jvm = Daemon(), Workload(jdks()[0], "SilentLoad")
    d.attach(jvm.pid, duration="500ms")
    jvm.stop()
    return d


def report_into(path, **options):
    return daemon().ctl("report", "w1", "--format", "json", "-o", path, **options)


def as_nobody(function):
    """Runs it in a process of user nobody."""
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            function()
            status = 0
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, "nobody could not do it"


def plant(path, mode=0o4777):
    """A file of nobody's."""
    def write():
        with open(path, "w", encoding="ascii") as f:
            f.write("nobody's")
        os.chmod(path, mode)
    as_nobody(write)


def precious():
    """A file of root's, in a directory of root's."""
    path = os.path.join(make_directory(), "precious")
    with open(path, "w", encoding="ascii") as f:
        f.write("precious")
    return path


def content(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def home_of_nobody(mode=0o755):
    directory = make_directory(mode=mode)
    os.chown(directory, NOBODY, NOBODY)
    return directory


def assert_refused(result, *words):
    assert result.returncode == 1 and result.stdout == "", result
    assert result.stderr.startswith("jxperfctl: ") and result.stderr.count("\n") == 1, result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


def assert_is_roots_report(path):
    status = os.lstat(path)
    assert stat.S_ISREG(status.st_mode) and status.st_uid == 0, status
    assert stat.S_IMODE(status.st_mode) == 0o644, oct(status.st_mode)
    assert json.loads(content(path))["schema"] == 1


# ---------------------------------------------------------------- reports


@test
def a_file_of_another_user_where_all_may_write_is_left_alone():
    for mode in (0o1777, 0o777, 0o1775, 0o775):
        directory = make_directory(mode=mode)
        os.chown(directory, 0, NOBODY)
        path = os.path.join(directory, "report")
        plant(path)
        assert_refused(report_into(path), path, "belongs to another user", "name another file")
        status = os.stat(path)
        assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (NOBODY, 0o4777), status
        assert content(path) == "nobody's"
        assert os.listdir(directory) == ["report"]


@test
def the_mode_of_a_file_that_is_replaced_is_not_taken_over():
    path = os.path.join(home_of_nobody(), "report")
    plant(path)
    succeeded(report_into(path))
    assert_is_roots_report(path)
    os.chmod(path, 0o4777)
    succeeded(report_into(path))
    assert_is_roots_report(path)


@test
def links_of_another_user_are_not_followed():
    file = precious()
    for directory in (make_directory(mode=0o1777), make_directory(mode=0o777), home_of_nobody()):
        path = os.path.join(directory, "report")
        as_nobody(lambda path=path: os.symlink(file, path))
        assert_refused(report_into(path), path, "leads through a link, 'report'")
        way = os.path.join(directory, "way")
        as_nobody(lambda way=way: os.symlink(os.path.dirname(file), way))
        assert_refused(report_into(os.path.join(way, "precious")), "leads through a link, 'way'")
        assert_refused(report_into(os.path.join(way, "new")), "leads through a link, 'way'")
    assert content(file) == "precious"
    assert os.listdir(os.path.dirname(file)) == ["precious"]


@test
def a_link_of_roots_that_another_user_moved_is_not_followed():
    file, home = precious(), home_of_nobody()
    os.symlink(file, os.path.join(home, "profile"))
    as_nobody(lambda: os.rename(os.path.join(home, "profile"), os.path.join(home, "report")))
    assert_refused(report_into(os.path.join(home, "report")), "leads through a link")
    assert content(file) == "precious"


@test
def a_second_name_of_roots_file_is_all_that_is_replaced():
    directory = make_directory()
    file, path = os.path.join(directory, "precious"), os.path.join(directory, "report")
    with open(file, "w", encoding="ascii") as f:
        f.write("precious")
    os.link(file, path)
    os.chmod(directory, 0o1777)
    succeeded(report_into(path))
    assert_is_roots_report(path)
    assert content(file) == "precious"


@test
def a_pipe_that_another_user_put_there_gets_nothing():
    path = os.path.join(home_of_nobody(), "report")
    as_nobody(lambda: os.mkfifo(path, 0o666))
    assert_refused(report_into(path, timeout=20), "belongs to another user")


@test
def whoever_is_faster_gains_nothing():
    file = precious()
    for directory in (make_directory(mode=0o1777), make_directory(mode=0o777), home_of_nobody()):
        path = os.path.join(directory, "report")
        flipper = Process([sys.executable, "-c", FLIPPER, path, file], user=NOBODY, group=NOBODY, extra_groups=[])
        flipper.wait_for("up")
        written = 0
        for _ in range(RACES):
            result = report_into(path)
            written += result.returncode == 0
            if result.returncode:
                assert_refused(result)
            for name in os.listdir(directory):
                with contextlib.suppress(FileNotFoundError):
                    status = os.lstat(os.path.join(directory, name))
                    assert status.st_uid == NOBODY or stat.S_IMODE(status.st_mode) == 0o644, (name, status)
        assert flipper.alive(), flipper.output()
        flipper.stop()
        note(f"{written} of {RACES} reports were written")
    assert content(file) == "precious"
    assert os.listdir(os.path.dirname(file)) == ["precious"]


@test
def a_dash_is_standard_output_and_a_descriptor_is_itself():
    path = os.path.join(make_directory(), "log")
    with open(path, "w", encoding="ascii") as f:
        f.write("{}\n")
    command = [CLIENT, "--socket", daemon().socket, "report", "w1", "--format", "json", "-o"]
    assert json.loads(succeeded(report_into("-")))["schema"] == 1
    with open(path, "a", encoding="ascii") as f:
        subprocess.run([*command, "/dev/stdout"], stdout=f, check=True)
    first, rest = content(path).split("\n", 1)
    assert first == "{}" and json.loads(rest)["schema"] == 1
    assert succeeded(report_into("/dev/null")) == ""
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# ---------------------------------------------------------------- private daemons


class PrivateClient:
    """Root's client with a daemon of its own, which would use nobody's directory if it used any."""

    def __init__(self, pid):
        self.temporary, self.reports = home_of_nobody(0o777), make_directory()
        command = [CLIENT, "--private", "attach", str(pid)]
        self.child = subprocess.Popen([*command, "--duration", "60s", "-o", os.path.join(self.reports, "report")],
                                      env={**os.environ, "TMPDIR": self.temporary}, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: perf_descriptors(pid) > 1, "events in the target")

    def daemons(self):
        """Engine, broker and the target's worker."""
        found, session = [], self._session(self.engine())
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/exe") == DAEMON and self._session(pid) == session:
                    found.append(int(pid))
        return found

    def engine(self):
        with open(f"/proc/{self.child.pid}/task/{self.child.pid}/children", encoding="ascii") as f:
            return int(f.read().split()[0])

    @staticmethod
    def _session(pid):
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            return f.read().rpartition(")")[2].split()[3]

    def files(self):
        return os.listdir(self.temporary) + os.listdir(self.reports)


@functools.lru_cache(maxsize=None)
def target():
    return Workload(jdks()[0], "SilentLoad")


def assert_nothing_stays(kill_client, kill_daemon):
    need_root()
    before = set(os.listdir("/tmp"))
    client = PrivateClient(target().pid)
    daemons = client.daemons()
    assert len(daemons) >= 2, daemons
    assert client.files() == [], client.files()
    if kill_daemon:
        for pid in daemons:
            with contextlib.suppress(ProcessLookupError):  # Each ends when another does.
                os.kill(pid, signal.SIGKILL)
    if kill_client:
        client.child.kill()
    client.child.communicate(timeout=30)
    wait_until(lambda: perf_descriptors(target().pid) == 0, "an end of all events", 10)
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in daemons), "an end of the daemon", 10)
    assert client.files() == [], client.files()
    # Attaches of other tests come and go beside us, so what is there now has to go.
    made = {name for name in set(os.listdir("/tmp")) - before if name.startswith(".jxperf")}
    wait_until(lambda: not made & set(os.listdir("/tmp")), f"an end of {made}", 30)
    assert target().alive()


@test
def a_client_that_is_killed_leaves_nothing():
    assert_nothing_stays(kill_client=True, kill_daemon=False)


@test
def a_private_daemon_that_is_killed_leaves_nothing():
    assert_nothing_stays(kill_client=False, kill_daemon=True)


@test
def both_being_killed_leave_nothing():
    assert_nothing_stays(kill_client=True, kill_daemon=True)


run()
