# Runs alone: looks of other daemons hang at the processes here, too, and are counted as ours.
"""Processes of another user that keep who looks at them waiting for ever, or claim to be JVMs: they
hold up nobody but themselves, no name stands for them, and their user learns nothing by them."""
import functools
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

from lib import HANG_S, Process, compile_java, jdks, make_directory, need_root, note, run, skip, test, wait_until
from support.agent import LIBRARY
from support.attach import NOBODY, as_nobody
from support.door import SplitDaemon
from support.fuse_disk import FuseDisk
from support.profile import CLIENT, DAEMON, Client, Daemon, succeeded

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support")

# A process has two seconds to answer; a machine with other work may take as long again.
GOOD_TIME_S = 6
# Longer than any answer takes that comes at all: the helper of a check has a deadline of its own.
CHECK_TIME_S = 12
LIBRARY_BYTES = 1 << 16


# Of this run alone: others may test on the same machine.
NAME = f"Idle{os.getpid()}"
IDLE = f"""
public class {NAME} {{
    public static void main(String[] args) throws Exception {{
        System.out.println("idling");
        Thread.sleep(600_000);
    }}
}}
"""


@functools.lru_cache(maxsize=None)
def classes():
    return compile_java({f"{NAME}.java": IDLE}, kept=False)


class Jvm(Process):
    def __init__(self, prefix=()):
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        super().__init__([*prefix, jdks()[0].java, "-Xmx64m", "-cp", classes(), NAME], env=environment)
        self.wait_for("idling")


class Fuse(FuseDisk):
    """Of another user; what has no file has bytes as a library has."""

    def __init__(self, **names):
        content = os.path.join(make_directory(), "content")
        with open(content, "wb") as f:
            f.write(b"x" * LIBRARY_BYTES)
        super().__init__(NOBODY, {name.replace("_", "-"): file or content for name, file in names.items()})


class Hostile(Process):
    """support/hostile_jvm.py."""

    def __init__(self, *command, name="java", uid=NOBODY, environment=None, prefix=(), library=None, **more):
        library = library or os.path.join(make_directory(), "libjvm.so")
        with open(library, "wb") as f:
            f.write(b"x" * 4096)
        options = [word for option, value in more.items() for word in (f"--{option}", value)]
        arguments = [library, name, str(uid), *command, *options]
        super().__init__([*prefix, sys.executable, f"{SUPPORT}/hostile_jvm.py", *arguments],
                         env={"PATH": os.environ["PATH"], **(environment or {})})
        self.wait_for("hostile")

    def stop(self):
        self._signal(signal.SIGKILL)
        self.child.wait()


def hanging_options(fuse):
    return {"JAVA_TOOL_OPTIONS": f"-XX:Flags={fuse.file('hang-options')}"}


def listed(daemon):
    """Each JVM by its pid, and how long the answer took."""
    begin = time.monotonic()
    jvms = json.loads(succeeded(daemon.ctl("--json", "list")))
    return {jvm["pid"]: jvm for jvm in jvms}, time.monotonic() - begin


def lookers(target):
    """The processes that still wait for it, of those that looked."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
                if f.read().strip() == f"jxlook {target.pid}":
                    found.append(int(pid))
        except OSError:
            continue
    return found


def children(daemon):
    with open(f"/proc/{daemon.broker()}/task/{daemon.broker()}/children", encoding="ascii") as f:
        return f.read().split()


# ---------------------------------------------------------------- who does not answer


@test
def an_option_file_on_a_file_system_that_does_not_answer_holds_up_nobody():
    need_root()
    fuse = Fuse(hang_options=None)
    daemon, hostile = Daemon(), Hostile(environment=hanging_options(fuse))
    jvm = Jvm()
    for _ in range(6):  # More than there are places for questions.
        jvms, seconds = listed(daemon)
        assert jvms[jvm.pid]["state"] == "attachable", jvms
        assert jvms[hostile.pid]["state"].startswith("hangs: ") and jvms[hostile.pid]["user"] == "nobody", jvms
        note(f"listed in {seconds:.2f} s: {jvms[hostile.pid]['state']}")
        assert seconds < GOOD_TIME_S, seconds
    assert len(lookers(hostile)) == 1, lookers(hostile)
    assert json.loads(daemon.ctl("--json", "check").stdout), "the machine's check gave nothing"
    wait_until(lambda: not children(daemon), "the end of the inspectors")
    # By name, too, and by pid.
    succeeded(daemon.ctl("attach", NAME, "--duration", "1s"))
    result = daemon.ctl("check", str(hostile.pid), timeout=CHECK_TIME_S)
    assert result.returncode == 1 and "does not answer" in result.stdout, result
    fuse.stop()
    wait_until(lambda: not lookers(hostile), "the end of who waited")
    jvms, _ = listed(daemon)
    assert not jvms[hostile.pid]["state"].startswith("hangs"), jvms
    for process in (hostile, jvm, daemon):
        process.stop()


@test
def the_first_answer_names_the_file_that_hangs():
    need_root()
    fuse = Fuse(hang_options=None)
    daemon, hostile = Daemon(), Hostile(environment=hanging_options(fuse))
    result = daemon.ctl("check", str(hostile.pid), timeout=CHECK_TIME_S)
    assert result.returncode == 1 and "hang-options" in result.stdout, result
    fuse.stop()
    hostile.stop()
    daemon.stop()


@test
def a_process_that_locks_its_address_space_holds_up_nobody():
    need_root()
    fuse = Fuse(lock=None)
    daemon, hostile = Daemon(), Hostile(lock=fuse.file("lock"))
    jvm = Jvm()
    for _ in range(3):
        jvms, seconds = listed(daemon)
        assert jvms[jvm.pid]["state"] == "attachable", jvms
        assert jvms[hostile.pid]["state"].startswith("hangs: its "), jvms
        note(f"listed in {seconds:.2f} s: {jvms[hostile.pid]['state']}")
        assert seconds < GOOD_TIME_S, seconds
    fuse.stop()
    for process in (hostile, jvm, daemon):
        process.stop()


@test
def many_such_processes_cost_a_bounded_number_of_ours():
    need_root()
    fuse = Fuse(hang_options=None)
    daemon = Daemon()
    hostile = [Hostile(environment=hanging_options(fuse)) for _ in range(8)]
    jvm = Jvm()
    for _ in range(3):
        begin = time.monotonic()
        result = daemon.ctl("--json", "list")
        jvms = {j["pid"]: j for j in json.loads(succeeded(result))}
        assert jvms[jvm.pid]["state"] == "attachable", jvms
        assert re.fullmatch(r"jxperfctl: \d+ processes were not looked at.*\n", result.stderr), result.stderr
        assert sum(len(lookers(h)) for h in hostile) <= 4
        assert time.monotonic() - begin < GOOD_TIME_S
    fuse.stop()
    for process in (*hostile, jvm, daemon):
        process.stop()


@test
def a_program_on_a_file_system_that_does_not_answer_does_not_stop_the_broker():
    need_root()
    fuse = Fuse(program=shutil.which("sleep"))
    program = Process(as_nobody(fuse.file("program"), "600"))
    wait_until(lambda: os.readlink(f"/proc/{program.pid}/exe").endswith("/program"), "the program")
    daemon, jvm = Daemon(), Jvm()
    fuse.freeze()
    client = Client("--socket", daemon.socket, "attach", str(program.pid), "--duration", "1s")
    begin = time.monotonic()
    succeeded(daemon.ctl("attach", str(jvm.pid), "--duration", "1s"))
    assert time.monotonic() - begin < GOOD_TIME_S
    fuse.stop()
    assert client.finish().returncode == 1
    for process in (program, jvm, daemon):
        process.stop()


# ---------------------------------------------------------------- who is no JVM


@test
def a_name_does_not_stand_for_who_only_claims_it():
    need_root()
    daemon = Daemon()
    hostile = Hostile("java", "-cp", "/srv/app", NAME, name="java")
    jvms, _ = listed(daemon)
    assert jvms[hostile.pid]["name"] == NAME and not jvms[hostile.pid]["by_name"], jvms
    assert jvms[hostile.pid]["state"] == "attachable by pid", jvms
    result = daemon.ctl("attach", NAME, "--duration", "1s")
    assert result.returncode == 1 and str(hostile.pid) in result.stderr, result
    jvm = Jvm()
    jvms, _ = listed(daemon)
    assert jvms[jvm.pid]["by_name"], jvms
    succeeded(daemon.ctl("attach", NAME, "--duration", "1s"))
    for process in (hostile, jvm, daemon):
        process.stop()


@test
def two_users_of_one_name_are_an_error_that_lists_them():
    need_root()
    daemon, ours, theirs = Daemon(), Jvm(), Jvm(prefix=as_nobody())
    result = daemon.ctl("attach", NAME, "--duration", "1s")
    assert result.returncode == 1, result
    for jvm, user in ((ours, "root"), (theirs, "nobody")):
        assert f"{jvm.pid} ({NAME} of {user})" in result.stderr, result.stderr
    for process in (ours, theirs, daemon):
        process.stop()


@test
def an_attach_socket_of_another_user_proves_nothing():
    need_root()
    daemon, victim = Daemon(), Jvm()
    hostile = Hostile("java", NAME, name="java")
    # A socket of the right name that is somebody else's.
    squat = f"/tmp/.java_pid{hostile.pid}"
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(squat)
        jvms, _ = listed(daemon)
        os.unlink(squat)
    assert not jvms[hostile.pid]["by_name"] and jvms[victim.pid]["by_name"], jvms
    for process in (hostile, victim, daemon):
        process.stop()


# ---------------------------------------------------------------- what its user may not read


def as_their_user(daemon, *arguments):
    os.chmod(daemon.socket, 0o666)
    command = as_nobody(CLIENT, "--socket", daemon.socket, *arguments)
    return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)


def shown_of(daemon, hostile):
    """All that its user hears of it."""
    jvms = json.loads(as_their_user(daemon, "--json", "list").stdout)
    return json.dumps([j for j in jvms if j["pid"] == hostile.pid]) + as_their_user(daemon, "check", str(hostile.pid)).stdout


@test
def the_performance_data_of_another_users_jvm_are_not_read_for_a_link():
    need_root()
    daemon, victim = Daemon(), Jvm()
    secret = f"/tmp/hsperfdata_root/{victim.pid}"
    assert stat.S_IMODE(os.stat(secret).st_mode) == 0o600
    for way in ("a link", "a mount"):
        home = make_directory(mode=0o777)
        place = os.path.join(home, "hsperfdata_x")
        mapped = os.path.join(place, str(victim.pid))
        os.mkdir(place)
        with open(mapped, "wb") as f:
            f.write(bytes(4096))
        shutil.chown(mapped, NOBODY)
        if way == "a link":
            hostile = Hostile("java", "Fake", perfdata=mapped)
            shutil.rmtree(place)
            os.symlink("/tmp/hsperfdata_root", place)
        else:
            # In its own namespace the mapped file is still there, under what was mounted over it.
            hostile = Hostile("java", "Fake", perfdata=mapped, prefix=("unshare", "--mount"))
            subprocess.run(["nsenter", f"--mount=/proc/{hostile.pid}/ns/mnt", "mount", "--bind", "/tmp/hsperfdata_root", place],
                           check=True)
        shown = shown_of(daemon, hostile)
        assert '"Fake"' in shown and NAME not in shown, (way, shown)
        hostile.stop()
    assert NAME in succeeded(daemon.ctl("list"))
    for process in (victim, daemon):
        process.stop()


@test
def the_release_file_of_a_jdk_is_read_as_the_jvms_user():
    need_root()
    secret = os.path.join(make_directory(mode=0o700), "secret.env")
    with open(secret, "w", encoding="ascii") as f:
        f.write('JAVA_VERSION="17.of.root"\n')
    home = make_directory()
    os.makedirs(os.path.join(home, "lib/server"))
    os.symlink(secret, os.path.join(home, "release"))
    hostile = Hostile("java", "Fake", library=os.path.join(home, "lib/server/libjvm.so"))
    for daemon in (Daemon(), SplitDaemon()):
        shown = shown_of(daemon, hostile)
        assert '"Fake"' in shown and "of.root" not in shown, shown
        daemon.stop()
    # Where its user could have read it, it is shown.
    os.unlink(os.path.join(home, "release"))
    with open(os.path.join(home, "release"), "w", encoding="ascii") as f:
        f.write('PASSWORD=JAVA_VERSION="of.root"\nJAVA_VERSION="17.0.1"\n')
    daemon = SplitDaemon()
    shown = shown_of(daemon, hostile)
    assert '"17.0.1"' in shown and "of.root" not in shown, shown
    for process in (hostile, daemon):
        process.stop()


# ---------------------------------------------------------------- whose numbers are others'


# Runs commands beside a process that has, in this namespace, the number of a JVM of the one that /proc is of.
BESIDE = """
import json, subprocess, sys
pid, commands = int(sys.argv[1]), json.loads(sys.argv[2])
with open("/proc/sys/kernel/ns_last_pid", "w") as f:
    f.write(str(pid - 1))
bystander = subprocess.Popen(["sleep", "600"])
assert bystander.pid == pid, bystander.pid
done = [subprocess.run(c, capture_output=True, text=True, timeout=60) for c in commands]
print(json.dumps([[p.returncode, p.stdout, p.stderr] for p in done] + [bystander.poll()]))
"""


@test
def where_proc_is_of_another_pid_namespace_nothing_is_done():
    need_root()
    jvm = Jvm()
    pid = str(jvm.pid)
    directory = make_directory()
    clients = [[CLIENT, "--private", *words] for words in
               (["attach", pid, "--duration", "1s"], ["list"], ["check", pid], ["check"])]
    others = [[DAEMON, "--socket", os.path.join(directory, "s"), "--http", "none", "--state-dir", "none"],
              [os.path.join(os.path.dirname(LIBRARY), "jxperf-attach"), "--pid", pid, "--bundle", os.path.dirname(LIBRARY)]]
    command = ["unshare", "--pid", "--fork", sys.executable, "-c", BESIDE, pid, json.dumps(clients + others)]
    result = subprocess.run(command, stdout=subprocess.PIPE, timeout=HANG_S, check=True)
    *answers, bystander = json.loads(result.stdout)
    for status, out, err in answers:
        assert status == 1 and out == "", (status, out, err)
        assert err.count("\n") == 1 and "'/proc' is not of this pid namespace" in err, err
    assert bystander is None, f"the bystander ended: {bystander}"
    assert jvm.alive() and not os.path.exists(f"/tmp/.java_pid{pid}")
    note(answers[0][2].strip())
    # Children alone may be in another one; then it is the daemon that says so.
    result = subprocess.run(["unshare", "--pid", *clients[1]], capture_output=True, text=True, timeout=HANG_S, check=False)
    assert result.returncode == 1 and "'/proc' is not of this pid namespace" in result.stderr, result
    jvm.stop()


run()
