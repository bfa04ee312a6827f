"""JVMs in containers are profiled like others, or refused with the one reason for it."""
# Starts early: it takes long (each container has its windows).
import json
import os
import subprocess

from lib import BUNDLE, HANG_S, Process, jdks, make_directory, need_root, run, skip, test, test_on_jdks, wait_until
from support.attach import agent_paths, leftovers, namespace_pid
from support.container import FIRST_USER, Container, debian
from support.profile import CLIENT, NO_GUARDS, Daemon, assert_quality, share_through, succeeded, the_one_kind
from support.summing import summing

SHORT = ("--kinds", "silent-load")
NOEXEC = "mount -t tmpfs -o noexec,mode=1777 tmp tmp; "
IN_IMAGE = "/opt/jxperf/libjxperf-agent.so"
AGENT_PATH = ("--agent-path", IN_IMAGE)
BAKED_IN = NOEXEC + f"mkdir opt/jxperf; cp {BUNDLE}/lib* opt/jxperf; "
USER = 1000


def listed(daemon, pid):
    return next((j for j in json.loads(succeeded(daemon.ctl("--json", "list"))) if j["pid"] == pid), None)


def assert_profiled(daemon, jvm, *options):
    """A window of it says what it says outside of a container, and leaves nothing behind."""
    row = listed(daemon, jvm.pid)
    assert row["name"] == "SilentLoad" and row["jdk"] and row["gc"], row
    # By its name, too, where users and files are those that it says.
    assert row["state"] == "attachable", row
    # The usual budget allows few pairs where others take the processors.
    report = daemon.attach(jvm.pid, *SHORT, "--budget", "10%", *options, cpu_s=1)
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
    daemon, jvm = Daemon(), Container(jdk)
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
        jvm = Container(jdk, own_users=True, user=user)
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
    jvm = Container(jdks()[0], own_users=True)

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


@test_on_jdks
def a_jvm_in_a_debian_of_its_own_is_profiled(jdk):
    need_root()
    daemon, jvm = Daemon(options=AGENT_PATH), Container(jdk, base=debian())
    assert_profiled(daemon, jvm)
    assert agent_paths(jvm.pid)[0].startswith("/tmp/.jxperf-"), agent_paths(jvm.pid)
    jvm.stop()
    jvm = Container(jdk, base=debian(), mounts=BAKED_IN, read_only=True)
    assert_profiled(daemon, jvm)
    assert agent_paths(jvm.pid) == [IN_IMAGE]
    jvm.stop()
    daemon.stop()


# ---------------------------------------------------------------- schedules and names

TEAM = f"containers{os.getpid()}"
EVERY_S = 10
# A round, an epoch in which it is found too late, one in which it has its window, and room.
SOON_S = 10 + 2 * EVERY_S + 30

CONFIG = f"""
host-budget: 90%
windows-at-once: 2
environment: [TEAM]
pod-labels: /etc/podinfo/labels
apps:
  - match: {{environment: [TEAM={TEAM}]}}
    app: "pod-{{label:app.kubernetes.io/name}}"
  - match: {{environment: [TEAM={TEAM}]}}
    app: "{{main-class}}"
{NO_GUARDS}
schedules:
  - name: containers
    match: {{environment: [TEAM={TEAM}]}}
    every: {EVERY_S}s
    window: 2s
    warm-up: 1s
    kinds: [silent-load]
    budget: 30%
"""


def labels(text):
    return f"mkdir etc/podinfo; printf '%s\\n' {text} > etc/podinfo/labels; "


@test
def scheduled_windows_of_containers_have_the_names_of_pods_or_whole_main_classes():
    need_root()
    programs = {p: summing(f"{p}.Main", rest_ms=20) for p in ("payments", "orders")}
    name = labels("'app.kubernetes.io/name=\"till\"' 'app=\"other\"'")

    def start(package, **options):
        return Container(jdks()[-1], f"{package}.Main", directory=programs[package], env={"TEAM": TEAM}, **options)

    jvms = {
        "pod-till": start("payments", mounts=name, own_users=True, user=USER),
        "payments.Main": start("payments"),
        "orders.Main": start("orders", mounts="mkdir etc/podinfo; mkfifo etc/podinfo/labels"),
    }
    # Nor is what only root may read in there, or what is not a file of its own.
    hidden = start("orders", mounts=name + "chmod 600 etc/podinfo/labels", user=USER)
    daemon = Daemon(config=CONFIG)
    wait_until(lambda: all((listed(daemon, j.pid) or {}).get("app") == app for app, j in jvms.items()), "names", SOON_S)
    assert listed(daemon, hidden.pid)["app"] == "orders.Main"

    def ended(pid):
        windows = json.loads(succeeded(daemon.ctl("--json", "windows")))
        return next((w for w in windows if w["pid"] == pid and w["state"] not in ("attaching", "running")), None)

    for app, jvm in jvms.items():
        window = wait_until(lambda pid=jvm.pid: ended(pid), f"a window of {app}", SOON_S)
        assert window["state"] == "done" and window["app"] == app, window
    # Who asks for a window of it adds to the same figures.
    report = daemon.attach(jvms["pod-till"].pid, *SHORT, duration="1s")
    assert report["window"]["app"] == "pod-till", report["window"]
    for jvm in (*jvms.values(), hidden):
        assert jvm.alive() and leftovers(jvm.pid) == []
        jvm.stop()
    daemon.stop()


# ---------------------------------------------------------------- places for the agent


def refusal(daemon, jvm, *words):
    """What attach says, and check in the same words; the JVM has noticed nothing."""
    before = jvm.output()
    refused = daemon.ctl("attach", str(jvm.pid), *SHORT, "--duration", "1s")
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1, refused
    for word in words:
        assert word in refused.stderr, refused.stderr
    assert leftovers(jvm.pid) == [], leftovers(jvm.pid)
    assert jvm.output() == before and jvm.alive(), jvm.output()
    checked = daemon.ctl("check", str(jvm.pid))
    assert checked.returncode == 1 and words[0] in checked.stdout.replace("\n", " "), checked
    return refused.stderr


@test
def a_noexec_tmp_does_not_matter_where_another_place_will_do():
    need_root()
    daemon, jvm = Daemon(), Container(jdks()[0], mounts=NOEXEC)
    assert_profiled(daemon, jvm)
    assert agent_paths(jvm.pid)[0].startswith("/var/tmp/.jxperf-"), agent_paths(jvm.pid)
    jvm.stop()
    daemon.stop()


@test
def a_read_only_root_with_a_noexec_tmp_is_refused_and_told_of_agent_path():
    need_root()
    daemon, jvm = Daemon(), Container(jdks()[0], "Idle", mounts=NOEXEC, read_only=True)
    refusal(daemon, jvm, "no directory for the agent's files", "'/tmp' is noexec", "'/var/tmp' is read-only", "'agent-path'")
    jvm.stop()
    daemon.stop()


@test_on_jdks
def it_is_profiled_with_the_agent_in_its_image(jdk):
    need_root()
    daemon = Daemon(options=AGENT_PATH)
    jvm = Container(jdk, mounts=BAKED_IN, read_only=True)
    place = daemon.ctl("check", str(jvm.pid))
    assert place.returncode == 0 and f"it can read '{IN_IMAGE}'" in place.stdout, place
    assert_profiled(daemon, jvm)
    assert agent_paths(jvm.pid) == [IN_IMAGE]
    assert_profiled(daemon, jvm)
    jvm.stop()
    daemon.stop()


@test
def an_agent_in_the_image_that_is_not_ours_is_not_loaded():
    need_root()
    daemon = Daemon(options=AGENT_PATH)
    library, helper = IN_IMAGE[1:], "opt/jxperf/libZydis.so.4.0"
    for change, words in (
        (f"rm {library}", (IN_IMAGE, "No such file")),
        (f"echo >> {library}", (IN_IMAGE, "of another version of jxperf")),
        (f"printf x | dd of={library} bs=1 seek=5000 conv=notrunc status=none", (IN_IMAGE, "SHA-256")),
        (f"printf x | dd of={helper} bs=1 seek=5000 conv=notrunc status=none", (helper, "SHA-256")),
        (f"rm {library}; mkfifo {library}", (IN_IMAGE, "Invalid argument")),
        (f"ln {library} opt/other.so; ln -sf ../other.so {library}", ("not called libjxperf-agent.so",)),
        (f"chmod o+w {library}", ("other users can change", "go-w")),
        (f"chmod o+w {helper}", ("other users can change", helper)),
        ("chmod 777 opt/jxperf", ("other users can replace", "/opt/jxperf")),
        (f"chown 1000 {library}", ("other users can change",)),
        ("mount -t tmpfs -o noexec o opt; mkdir opt/jxperf; " f"cp {BUNDLE}/lib* opt/jxperf", ("noexec file system",)),
    ):
        jvm = Container(jdks()[-1], "Idle", mounts=BAKED_IN + change, read_only=True)
        refusal(daemon, jvm, "no directory for the agent's files", *words)
        assert agent_paths(jvm.pid) == []
        jvm.stop()
    daemon.stop()


@test_on_jdks
def a_tmp_that_the_jvm_cannot_write_to_is_refused_before_it_is_asked(jdk):
    need_root()
    daemon = Daemon(options=AGENT_PATH)
    reason = "cannot make the socket that one attaches by"
    for mounts, options, word in (
        (BAKED_IN + "mount -o remount,ro tmp", {}, "'/tmp' is read-only"),
        ("rmdir tmp", {}, "'/tmp' cannot be opened"),
        ("chmod 755 tmp", {"user": USER}, "'/tmp' is closed to its user"),
    ):
        jvm = Container(jdk, "Idle", mounts=mounts, **options)
        refusal(daemon, jvm, reason, word)
        jvm.stop()
    daemon.stop()


# ---------------------------------------------------------------- another libc

MUSL = "/lib/ld-musl-x86_64.so.1"

# What a JVM of Alpine's looks like from outside. Linked with glibc, but musl's loader takes that for itself.
ALPINE_JVM = """
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int count, char **arguments)
{
	int fd = open(arguments[1], O_RDONLY);
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (count != 2 || p == MAP_FAILED || write(1, "up\\n", 3) != 3)
		return 1;
	return pause();
}
"""


@test
def a_jvm_with_musl_is_refused_with_that_reason():
    if not os.path.exists(MUSL):
        skip(f"there is no '{MUSL}': apt-get install musl")
    directory = make_directory()
    source, program = os.path.join(directory, "java.c"), os.path.join(directory, "java")
    with open(source, "w", encoding="ascii") as f:
        f.write(ALPINE_JVM)
    subprocess.run(["cc", "-o", program, source], check=True)
    jvm = Process([MUSL, program, os.path.join(jdks()[0].home, "lib/server/libjvm.so")])
    jvm.wait_for("up")
    daemon = Daemon()
    assert listed(daemon, jvm.pid)["state"] == "another libc"
    refusal(daemon, jvm, "uses musl as its C library", "glibc")
    jvm.stop()
    daemon.stop()


run(at_once=2)
