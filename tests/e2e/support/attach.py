"""For tests of jxperf-attach: a bundle with a stand-in agent, idle JVMs in all sorts of places, and
what an attach must not leave behind."""
import os
import shutil
import subprocess
import time

from lib import BUNDLE, HANG_S, ROOT, Process, compile_java, jdks, made_once, make_directory, only_child, wait_until

HELPER = os.path.join(BUNDLE, "jxperf-attach")
AGENT = "libjxperf-agent.so"
NOBODY = 65534

IDLE = """
public class Idle {
    public static void main(String[] args) throws Exception {
        System.out.println("idling");
        Thread.sleep(600_000);
    }
}
"""


@made_once
def classes():
    return compile_java({"Idle.java": IDLE})


@made_once
def _fake_agent():
    home = next(j.home for j in jdks() if os.path.isdir(os.path.join(j.home, "include")))
    library = os.path.join(make_directory(), AGENT)
    source = os.path.join(ROOT, "tests/e2e/fake_agent.c")
    headers = [f"-I{home}/include", f"-I{home}/include/linux"]
    command = ["cc", "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", *headers, source, "-o", library]
    subprocess.run(command, check=True)
    return library


def make_bundle(parent="/var/tmp", mode=0o755):
    """A bundle with the stand-in agent and a library beside it, new to every JVM."""
    bundle = make_directory(parent, mode)
    shutil.copy(_fake_agent(), bundle)
    with open(os.path.join(bundle, "libother.so"), "wb") as f:
        f.write(b"x" * 5000)
    return bundle


class Jvm(Process):
    """An idle JVM in a working directory of its own. classpath may hold another class Idle."""

    def __init__(self, jdk, *options, prefix=(), env=None, cwd=None, classpath=None):
        command = [*prefix, jdk.java, "-Xmx64m", *options, "-cp", classpath or classes(), "Idle"]
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        start = time.time()
        super().__init__(command, cwd=cwd or make_directory(), env={**environment, **(env or {})})
        self.wait_for("idling")
        self._remove_socket_before(start)

    def _remove_socket_before(self, start):
        """PIDs come round within a run of all tests: what a killed JVM with this one's left is no part of a test."""
        try:
            if os.lstat(attach_socket(self)).st_mtime < start - 1:  # File times are those of the last tick.
                os.unlink(attach_socket(self))
        except FileNotFoundError:
            pass


def as_user(uid, *command):
    return ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command)


def as_nobody(*command):
    return as_user(NOBODY, *command)


def in_container(mounts):
    """Runs what follows in a mount and a pid namespace of its own, after the mount commands."""
    script = f"set -e; {mounts}; exec \"$@\""
    return ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script, "sh")


class ContainerJvm(Jvm):
    """A Jvm behind in_container: pid is that of the JVM itself, seen from here."""

    def __init__(self, jdk, *options, mounts, user=(), **more):
        super().__init__(jdk, *options, prefix=(*in_container(mounts), *user), **more)
        self.pid = wait_until(lambda: only_child(self.child.pid), "the JVM behind unshare")


def start_attach(pid, bundle, *options, timeout_ms=25000):
    command = [HELPER, "--pid", str(pid), "--bundle", bundle, "--timeout-ms", str(timeout_ms), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def attach(pid, bundle, *options, timeout_ms=25000):
    """Runs the helper by hand: its exit status and what it printed."""
    helper = start_attach(pid, bundle, *options, timeout_ms=timeout_ms)
    text, _ = helper.communicate(timeout=HANG_S)
    return helper.returncode, text.strip()


def assert_attaches(jvm, bundle):
    status, text = attach(jvm.pid, bundle)
    assert (status, text) == (0, f"the agent of process {jvm.pid} is connected"), text
    assert not leftovers(jvm.pid), leftovers(jvm.pid)


def assert_refused(jvm, bundle, *words, **options):
    """Refused with one line that has these words; the JVM has printed nothing and lives on."""
    before = jvm.output()
    status, text = attach(jvm.pid, bundle, **options)
    assert status == 1, (status, text)
    assert text.startswith("jxperf-attach: ") and "\n" not in text, text
    for word in words:
        assert word in text, text
    assert not leftovers(jvm.pid), leftovers(jvm.pid)
    assert jvm.output() == before, jvm.output()
    assert jvm.alive()
    return text


_began = time.time()


def leftovers(pid):
    """Files of an attach in the places of the target where they may have been, and that do not go away:
    others may be attaching to other JVMs right now, whose directories look the same. What is older than
    this program is nothing that it has left."""
    end = time.monotonic() + 40
    found = _attach_files(pid)
    while found and time.monotonic() < end:
        time.sleep(0.05)
        found &= _attach_files(pid)
    return sorted(found)


def _is_older(path):
    try:
        return os.lstat(path).st_mtime < _began - 1  # File times are those of the last tick.
    except OSError:
        return False  # It has gone, which is seen next time, or cannot be looked at.


def _attach_files(pid):
    found = set()
    home = f"/proc/{pid}/root"
    for directory in (f"{home}/tmp", f"{home}/var/tmp", f"{home}/dev/shm", f"/proc/{pid}/cwd"):
        try:
            names = os.listdir(directory)
        except OSError:
            continue
        marks = (".jxperf-", f".attach_pid{namespace_pid(pid)}")
        found |= {path for n in names if n.startswith(marks) and not _is_older(path := f"{directory}/{n}")}
    return found


def private_directory(helper):
    """Where the helper, a Popen, listens for the agent; None before it does."""
    fds = f"/proc/{helper.pid}/fd"
    for fd in os.listdir(fds):
        try:
            path = os.readlink(f"{fds}/{fd}")
        except FileNotFoundError:
            continue
        if "/.jxperf-" in path and os.path.exists(f"{path}/agent.sock"):
            return path
    return None


def attach_socket(jvm):
    """Where a JVM in our own namespaces listens once it was attached to."""
    return f"/tmp/.java_pid{jvm.pid}"


def remove_file(path):
    """Also when the JVM has done so."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def namespace_pid(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        line = next(l for l in f if l.startswith("NStgid:"))
    return int(line.split()[-1])


def agent_paths(pid):
    """The distinct files by which the agent is mapped."""
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as f:
        paths = {l.split(None, 5)[5].strip() for l in f if AGENT in l}
    return sorted(p.removesuffix(" (deleted)") for p in paths)
