"""The real agent through the whole way, jxperfctl to JVM, where the way is hard: other users, other
namespaces, a bundle that the JVM cannot see, events that it may not open."""
import json
import os
import shutil
import signal
import subprocess

from lib import (
    BUILD, HANG_S, Process, compile_java, jdks, make_directory, need_root, run, test, test_on_jdks, wait_until
)
from support.attach import ContainerJvm, Jvm, agent_paths, as_nobody, leftovers, remove_file, attach_socket
from support.target import catches

WORK = """
public class Idle {
    static final int[] DATA = new int[1 << 12];
    public static void main(String[] args) {
        System.out.println("idling");
        for (long round = 0; ; round++) {
            java.util.Arrays.fill(DATA, 0);
            java.util.Arrays.fill(DATA, (int) round);
        }
    }
}
"""
PRIVATE_TMP = "mount -t tmpfs -o mode=1777 tmpfs /tmp"


class Installation:
    """A copy of the programs and the bundle, elsewhere."""

    def __init__(self, parent="/var/tmp"):
        self.root = make_directory(parent)
        for part in ("bin", "lib"):
            shutil.copytree(os.path.join(BUILD, part), os.path.join(self.root, part))

    def attach(self, pid, *options, duration="1s"):
        """Exit status, report or None, and stderr's last line."""
        command = [f"{self.root}/bin/jxperfctl", "--private", "attach", str(pid)]
        command += ["--duration", duration, "--format", "json", *options]
        p = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
        report = json.loads(p.stdout) if p.returncode == 0 else None
        return p.returncode, report, (p.stderr.strip().splitlines() or [""])[-1]

    def measure(self, pid, *options):
        """A window that must have seen something."""
        status, report, error = self.attach(pid, *options)
        assert status == 0, error
        assert report["quality"]["armed"] > 0, report["quality"]
        assert report["quality"]["traps"] > 0, report["quality"]
        return report


def busy(jdk, cls=Jvm, **more):
    return cls(jdk, classpath=compile_java({"Idle.java": WORK}), **more)


@test_on_jdks
def a_jvm_that_is_still_starting_is_profiled(jdk):
    classes = compile_java({"Idle.java": WORK})
    # Without shared classes the time between handling SIGQUIT and the end of the start
    # is long enough to be hit.
    jvm = Process([jdk.java, "-Xmx64m", "-Xshare:off", "-XX:TieredStopAtLevel=1", "-cp", classes, "Idle"])
    wait_until(lambda: catches(jvm.pid, signal.SIGQUIT), "a handler of SIGQUIT")
    Installation().measure(jvm.pid)
    jvm.stop()


@test_on_jdks
def a_jvm_of_another_user_is_profiled(jdk):
    need_root()
    jvm, jxperf = busy(jdk, prefix=as_nobody(), cwd="/"), Installation()
    jxperf.measure(jvm.pid)
    assert leftovers(jvm.pid) == []
    jvm.stop()


@test_on_jdks
def a_jvm_in_a_container_that_cannot_see_the_bundle_is_profiled_again_and_again(jdk):
    need_root()
    jvm = busy(jdk, ContainerJvm, mounts=PRIVATE_TMP, user=as_nobody())
    jxperf = Installation("/tmp")
    for _ in range(3):
        jxperf.measure(jvm.pid)
        assert leftovers(jvm.pid) == []
    assert len(agent_paths(jvm.pid)) == 1
    jvm.stop()


@test_on_jdks
def threads_of_another_pid_namespace_get_their_events_from_the_daemon(jdk):
    need_root()
    jvm = busy(jdk, ContainerJvm, mounts=PRIVATE_TMP, user=as_nobody())
    jxperf = Installation()
    report = jxperf.measure(jvm.pid, "--open-through-daemon")
    # Threads that wait get no events, so the busy one may be alone.
    assert report["quality"]["threads"] >= 1, report["quality"]
    assert report["quality"]["samples"] > 0, report["quality"]
    jvm.stop()


@test
def refusals_are_one_line_and_status_1():
    jdk, jxperf = jdks()[-1], Installation()
    for option, words in (
        ("-XX:+DisableAttachMechanism", "DisableAttachMechanism"),
        ("-XX:-EnableDynamicAgentLoading", "EnableDynamicAgentLoading"),
    ):
        jvm = Jvm(jdk, option)
        status, _, error = jxperf.attach(jvm.pid)
        assert status == 1 and words in error and "restart it" in error, (status, error)
        jvm.stop()
    status, _, error = jxperf.attach(os.getpid())
    assert status == 1 and "is not a JVM" in error, (status, error)


@test
def a_second_session_in_the_same_jvm_is_refused():
    jdk, first, second = jdks()[-1], Installation(), Installation()
    jvm = busy(jdk)
    command = [f"{first.root}/bin/jxperfctl", "--private", "attach", str(jvm.pid)]
    with subprocess.Popen(
        [*command, "--duration", "20s", "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        wait_until(lambda: agent_paths(jvm.pid), "the first agent")
        status, _, error = second.attach(jvm.pid)
        assert status == 1 and "already being profiled" in error, (status, error)
        running.send_signal(signal.SIGINT)
        report = json.loads(running.communicate(timeout=HANG_S)[0])
        # The first session is not disturbed; it may be too young to have samples.
        assert report["quality"]["threads"] > 0, report["quality"]
    second.measure(jvm.pid)
    jvm.stop()
    remove_file(attach_socket(jvm))


run(at_once=2)
