"""File systems without room: /tmp, wherever an agent's files could go, and the state directory's. What cannot work says in
one line what to do, check says it beforehand, nothing is left behind and the JVM is unharmed.

The whole program is in a mount namespace of its own, whose /tmp is a small one."""
import contextlib
import ctypes
import json
import os
import re
import subprocess

from lib import BUILD, Stopwatch, jdks, make_directory, need_root, note, run, test, wait_until
from support.attach import as_user, leftovers
from support.door import SplitDaemon
from support.profile import CLIENT, DAEMON, Daemon, Workload, duration_for, report_of, succeeded

CLONE_NEWNS = 0x20000
MIB = 1 << 20
USER = 61003
# Far less than an attach waits for a JVM that says nothing.
SOON_S = 5
# Of the JVM, in a window.
CPU_S = 2
# Whose JVM does not see the agent where it is, so that a copy is needed, of some megabytes.
CONTAINER = f"""mount -t tmpfs none {BUILD}/lib
mount --bind /var/tmp /var/tmp
mount -o remount,bind,noexec /var/tmp
exec "$@"
"""
FOLDED = "a;b;c 10\na;d 5\n"


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


@contextlib.contextmanager
def small(path, size=4 * MIB, inodes=64):
    mount("-t", "tmpfs", "-o", f"size={size},nr_inodes={inodes},mode=1777", "tmpfs", path)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


@contextlib.contextmanager
def no_bytes(*directories):
    files = [os.path.join(directory, "filler") for directory in directories]
    for path in files:
        with open(path, "wb", buffering=0) as f, contextlib.suppress(OSError):
            while True:
                f.write(bytes(4096))
    yield
    for path in files:
        os.unlink(path)


@contextlib.contextmanager
def no_inodes(directory):
    made = []
    with contextlib.suppress(OSError):
        while True:
            made.append(os.path.join(directory, f"filler{len(made)}"))
            os.mkdir(made[-1])
    made.pop()
    yield
    for path in made:
        os.rmdir(path)


def start_jvm(user=USER, prefix=()):
    """One that may write to its working directory."""
    cwd = make_directory(mode=0o755)
    os.chown(cwd, user, user)
    return Workload(jdks()[0], "SilentStore", prefix=(*prefix, *as_user(user)), cwd=cwd)


def attach(daemon, jvm, *options, duration="1s"):
    return daemon.ctl("attach", str(jvm.pid), "--duration", duration, "--kinds", "silent-store", *options)


def refused(result, *words):
    """One line that has these words."""
    assert result.returncode == 1 and result.stderr.count("\n") == 1, result
    for word in words:
        assert word in result.stderr, (word, result.stderr)


def said_by_check(daemon, jvm):
    items = json.loads(daemon.ctl("--json", "check", str(jvm.pid)).stdout)
    items = items["checks"] if isinstance(items, dict) else items
    return "\n".join(item["detail"] for item in items if item["result"] == "failed")


def profiled(daemon, jvm):
    """The report of a window that found something; one window, also where others take the processors."""
    report = report_of(attach(daemon, jvm, "--format", "json", duration=duration_for(jvm.pid, CPU_S)))
    assert report["quality"]["samples"] > 0, report["quality"]
    return report


def assert_unharmed(jvm):
    assert jvm.alive() and jvm.output() == "up\n", jvm.output()
    assert not leftovers(jvm.pid), leftovers(jvm.pid)


@test
def without_room_in_tmp_all_works_but_what_is_to_be_written_there():
    need_root()
    with small("/tmp"), no_bytes("/tmp"):
        with open("/tmp/out", "w", encoding="ascii"):
            pass
        for daemon in Daemon(), SplitDaemon():
            jvm = start_jvm()
            report = profiled(daemon, jvm)
            said = said_by_check(daemon, jvm)
            assert not said, said
            window = report["window"]["id"]
            refused(daemon.ctl("report", window, "-o", "/tmp/out"), "cannot write '/tmp/out': No space left on device")
            # Long enough to have samples on a machine that has much else to do.
            refused(attach(daemon, jvm, "-o", "/tmp/out", duration="4s"), "cannot write '/tmp/out': No space left on device: make room, and ask",
                    "'jxperfctl report w2'")
            assert os.stat("/tmp/out").st_size == 0 and os.listdir("/tmp").count("out") == 1
            report = report_of(daemon.ctl("report", "w2", "--format", "json"))
            assert report["quality"]["samples"] > 0, (report["window"], report["quality"])
            assert_unharmed(jvm)
            jvm.stop()
            daemon.stop()


@test
def a_private_daemon_says_that_its_report_is_lost():
    need_root()
    with small("/tmp"), no_bytes("/tmp"):
        jvm = start_jvm()
        result = subprocess.run([CLIENT, "--private", "attach", str(jvm.pid), "--duration", "1s", "-o", "/tmp/out"],
                                capture_output=True, text=True, check=False)
        assert result.returncode == 1, result
        assert result.stderr.endswith("'/tmp/out': No space left on device: make room, and attach again\n"), result.stderr
        assert not os.path.exists("/tmp/out")
        assert_unharmed(jvm)
        jvm.stop()


@test
def other_profiles_are_read_without_room():
    with small("/tmp"), no_bytes("/tmp"):
        def subsume(*options, **more):
            return subprocess.run([CLIENT, "subsume", "-", *options], input=FOLDED, text=True, stderr=subprocess.PIPE, check=False,
                                  **more)

        assert "15" in succeeded(subsume(stdout=subprocess.PIPE))
        refused(subsume("-o", "/tmp/out"), "'/tmp/out': No space left on device")
        with open("/dev/full", "w", encoding="ascii") as full:
            refused(subsume(stdout=full), "cannot write 'standard output': No space left on device")
        assert os.listdir("/tmp") == ["filler"], os.listdir("/tmp")


@test
def a_jvm_that_cannot_make_its_socket_is_not_asked_for_it():
    need_root()
    daemon = Daemon()
    with small("/tmp"):
        jvm = start_jvm()
        with no_inodes("/tmp"):
            words = "'/tmp' has no room for another file: remove what is not needed there"
            assert words in said_by_check(daemon, jvm), said_by_check(daemon, jvm)
            with Stopwatch() as watch:
                refused(attach(daemon, jvm), words)
            note(f"refused within {watch.seconds:.1f} s")
            assert watch.seconds < SOON_S
            assert_unharmed(jvm)
        profiled(daemon, jvm)
        assert_unharmed(jvm)
        jvm.stop()
    daemon.stop()


@test
def where_no_place_has_room_for_the_agents_files_all_are_named():
    need_root()
    daemon = Daemon()
    with small("/tmp"), small("/dev/shm"):
        jvm = start_jvm(prefix=("unshare", "--mount", "sh", "-c", CONTAINER, "sh"))
        with no_bytes("/tmp", "/dev/shm"):
            words = ["'/tmp' has no room for ", "'/var/tmp' is noexec", "'/dev/shm' has no room for ",
                     "give it a writable /tmp with room and without noexec"]
            shown = said_by_check(daemon, jvm)
            assert all(word in shown for word in words), shown
            refused(attach(daemon, jvm), *words)
            assert_unharmed(jvm)
        profiled(daemon, jvm)
        assert_unharmed(jvm)
        jvm.stop()
    daemon.stop()


@test
def a_state_directory_without_room_is_tried_until_there_is():
    need_root()
    jvm = start_jvm()
    for filled in no_bytes, no_inodes:
        with small(make_directory(), size=MIB) as directory:
            state = os.path.join(directory, "state")
            Daemon(state=state).stop()
            with filled(directory):
                daemon = Daemon(state=state, http="127.0.0.1:0")
                assert "windows are not kept at present, and are tried again" in daemon.output(), daemon.output()
                profiled(daemon, jvm)
                assert succeeded(daemon.ctl("report", "w1"))
                assert re.search(r"^jxperf_store_failing 1$", daemon.get("/metrics"), re.MULTILINE)
            wait_until(lambda: "windows are kept again" in daemon.output(), "word that there is room")
            daemon.stop()
            daemon = Daemon(state=state)
            assert [w["id"] for w in json.loads(succeeded(daemon.ctl("--json", "windows")))] == ["w1"]
            daemon.stop()
    assert_unharmed(jvm)
    jvm.stop()


@test
def a_state_directory_that_there_is_no_room_for_at_all_is_said():
    need_root()
    jvm = start_jvm()
    with small(make_directory(), size=MIB) as directory:
        with no_inodes(directory):
            daemon = Daemon(state=os.path.join(directory, "state"), http="127.0.0.1:0")
            line = next(line for line in daemon.output().splitlines() if "in memory only" in line)
            assert line.endswith("No space left on device: make room, and start jxperfd again"), line
            profiled(daemon, jvm)
            assert re.search(r"^jxperf_store_available 0$", daemon.get("/metrics"), re.MULTILINE)
            daemon.stop()
        assert not os.listdir(directory), os.listdir(directory)
    jvm.stop()


@test
def what_a_daemon_cannot_say_it_does_not_claim_to_have_said():
    for option in "--version", "--help":
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([DAEMON, option], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        refused(result, "cannot write standard output: No space left on device")


def main():
    if os.geteuid() == 0:
        assert ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) == 0
        mount("--make-rprivate", "/")
    run()


main()
