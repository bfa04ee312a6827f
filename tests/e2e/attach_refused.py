"""What cannot be attached to is refused with one line, and is left as it was."""
# Takes half a place: it waits most of the time.
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from lib import Process, jdks, make_directory, need_root, run, skip, test, test_on_jdks, wait_until
from support.attach import (
    HELPER,
    NOBODY,
    ContainerJvm,
    Jvm,
    as_nobody,
    assert_attaches,
    assert_refused,
    attach,
    attach_socket,
    make_bundle,
    remove_file,
)

DISABLED = "-XX:+DisableAttachMechanism"
NO_AGENTS = "-XX:-EnableDynamicAgentLoading"


@test
def wrong_usage_exits_with_2():
    bundle = make_bundle()
    for arguments in (
        [],
        ["--pid", "1"],
        ["--bundle", bundle],
        ["--pid", "0", "--bundle", bundle],
        ["--pid", "1x", "--bundle", bundle],
        ["--pid", "1", "--bundle", bundle, "--timeout-ms", "0"],
        ["--pid", "1", "--bundle", bundle, "--result-fd", "-1"],
        ["--pid", "1", "--bundle", bundle, "more"],
        ["--what"],
    ):
        p = subprocess.run([HELPER, *arguments], capture_output=True, text=True, check=False)
        assert p.returncode == 2 and "usage: jxperf-attach" in p.stderr, (arguments, p)


@test
def a_pid_that_nobody_has_is_refused():
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as f:
        status, text = attach(int(f.read()) - 1, make_bundle())
    assert status == 1 and "no process has the pid" in text, text


@test
def a_thread_is_refused():
    jvm = Jvm(jdks()[-1])
    thread = max(int(t) for t in os.listdir(f"/proc/{jvm.pid}/task"))
    status, text = attach(thread, make_bundle())
    assert status == 1 and "\n" not in text, text
    jvm.stop()


@test
def a_process_that_is_no_jvm_is_refused_and_survives():
    sleeper = Process(["sleep", "600"])
    assert_refused(sleeper, make_bundle(), "is not a JVM", "libjvm.so")
    sleeper.stop()


@test
def a_process_that_ended_and_waits_for_its_parent_is_refused():
    jvm = Jvm(jdks()[-1])
    os.kill(jvm.pid, signal.SIGKILL)
    wait_until(lambda: open(f"/proc/{jvm.pid}/stat", encoding="ascii").read().split()[2] == "Z", "end")
    status, text = attach(jvm.pid, make_bundle())
    assert status == 1 and "has ended" in text, text


@test
def a_bundle_without_agent_is_refused():
    jvm = Jvm(jdks()[-1])
    assert_refused(jvm, make_directory(), "libjxperf-agent.so", "reinstall")
    assert_refused(jvm, "/nonexistent", "cannot find the agent bundle")
    jvm.stop()


@test
def another_user_is_refused_without_root():
    need_root()
    jvm, bundle = Jvm(jdks()[-1]), make_bundle()
    command = as_nobody(HELPER, "--pid", str(jvm.pid), "--bundle", bundle)
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if "failed to execute" in p.stderr:
        skip("the build directory is closed to other users")
    assert p.returncode == 1 and "run jxperfd as root" in p.stderr, p
    jvm.stop()


def helper_as(user, group, jvm, bundle, *capabilities):
    """Runs the helper as somebody with these capabilities and no others; its exit status and text."""
    names = ",".join(f"+{c}" for c in capabilities)
    sets = [f"--inh-caps=-all,{names}", f"--ambient-caps=-all,{names}"] if names else []
    command = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", *sets, HELPER, "--pid", str(jvm.pid),
               "--bundle", bundle]
    p = subprocess.run(command, capture_output=True, text=True, check=False)
    if "failed to execute" in p.stderr:
        skip("the build directory is closed to other users")
    return p.returncode, (p.stdout + p.stderr).strip()


@test
def what_is_missing_is_named():
    need_root()
    bundle = make_bundle()
    other = Jvm(jdks()[-1], prefix=as_nobody())
    # As a service is that may listen on port 80, its own user asking.
    service = Jvm(jdks()[-1], prefix=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                                      "--inh-caps=-all,+net_bind_service", "--ambient-caps=-all,+net_bind_service"))
    group = Jvm(jdks()[-1], prefix=("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY - 1}", "--clear-groups"))
    for jvm, user, has, words in (
        (other, NOBODY - 1, (), ("run jxperfd as root", "or give it CAP_SETGID, CAP_SETUID and CAP_SYS_PTRACE")),
        (other, NOBODY - 1, ("sys_ptrace",), ("CAP_SETGID and CAP_SETUID",)),
        (other, NOBODY - 1, ("sys_ptrace", "setuid"), ("or give it CAP_SETGID",)),
        (service, NOBODY, (), ("has more capabilities: CAP_NET_BIND_SERVICE:", "or give it CAP_SYS_PTRACE")),
        (group, NOBODY, (), (f"group {NOBODY - 1}", "or give it CAP_SETGID and CAP_SYS_PTRACE")),
        (group, NOBODY, ("sys_ptrace",), (f"group {NOBODY - 1}", "or give it CAP_SETGID")),
    ):
        status, text = helper_as(user, user, jvm, bundle, *has)
        assert status == 1 and "\n" not in text, text
        for word in words:
            assert word in text, (word, text)
    for jvm, user, has in ((other, NOBODY - 1, ("sys_ptrace", "setuid", "setgid")), (service, NOBODY, ("sys_ptrace",)),
                           (group, NOBODY, ("sys_ptrace", "setgid"))):
        status, text = helper_as(user, user, jvm, make_bundle(), *has)
        assert status == 0, (has, text)
        jvm.stop()


# ---------------------------------------------------------------- options of the JVM


def disabled(jdk, *options, flag=DISABLED, words=("DisableAttachMechanism", "restart it"), **more):
    """Refused whether or not the JVM publishes its options as performance data."""
    for extra in ((), ("-XX:-UsePerfData",)):
        jvm = Jvm(jdk, *(o.replace("FLAG", flag) for o in options), *extra, **more)
        assert_refused(jvm, make_bundle(), *words)
        jvm.stop()


@test_on_jdks
def a_disabled_attach_mechanism_on_the_command_line_is_seen(jdk):
    disabled(jdk, "FLAG")
    disabled(jdk, "-XX:-DisableAttachMechanism", "FLAG")


@test_on_jdks
def a_disabled_attach_mechanism_in_the_environment_is_seen(jdk):
    for variable in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"):
        disabled(jdk, env={variable: f"-Da=b {DISABLED}"})
    # The command line wins over one and loses against the other.
    disabled(jdk, "-XX:-DisableAttachMechanism", env={"_JAVA_OPTIONS": DISABLED})
    jvm = Jvm(jdk, "-XX:-DisableAttachMechanism", env={"JAVA_TOOL_OPTIONS": DISABLED})
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test_on_jdks
def a_disabled_attach_mechanism_in_files_is_seen(jdk):
    cwd = make_directory()
    for name, text in (
        ("arguments", f"# comment\n{DISABLED}\n"),
        ("flags", "+DisableAttachMechanism\n"),
        ("options", f"-Da=b\n{DISABLED}\n"),
    ):
        with open(os.path.join(cwd, name), "w", encoding="utf-8") as f:
            f.write(text)
    disabled(jdk, "@arguments", cwd=cwd)
    disabled(jdk, "-XX:Flags=flags", cwd=cwd)
    disabled(jdk, f"-XX:VMOptionsFile={cwd}/options", cwd=cwd)


@test_on_jdks
def disabled_dynamic_agents_are_seen(jdk):
    disabled(jdk, "FLAG", flag=NO_AGENTS, words=("EnableDynamicAgentLoading", "restart it"))


@test_on_jdks
def a_jvm_that_would_die_of_sigquit_is_refused_and_survives(jdk):
    jvm = Jvm(jdk, "-Xrs")
    remove_file(attach_socket(jvm))
    assert_refused(jvm, make_bundle(), "does not catch SIGQUIT", "-Xrs")
    jvm.stop()


# ---------------------------------------------------------------- state of the process


@test_on_jdks
def a_stopped_jvm_is_refused_and_prints_no_thread_dump_later(jdk):
    jvm = Jvm(jdk)
    os.kill(jvm.pid, signal.SIGSTOP)
    wait_until(lambda: open(f"/proc/{jvm.pid}/stat", encoding="ascii").read().split()[2] == "T", "stop")
    assert_refused(jvm, make_bundle(), "is stopped", f"kill -CONT {jvm.pid}")
    os.kill(jvm.pid, signal.SIGCONT)
    time.sleep(0.3)  # For what must not come.
    assert jvm.output() == "idling\n", jvm.output()
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test
def a_program_with_a_libjvm_of_its_own_but_without_jvm_is_refused_and_survives():
    """It maps libjvm.so, and does not catch SIGQUIT."""
    jdk = jdks()[-1]
    script = (
        "import mmap, time\n"
        f"f = open('{jdk.home}/lib/server/libjvm.so', 'rb')\n"
        "m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "print('up', flush=True)\n"
        "time.sleep(600)\n"
    )
    process = Process([sys.executable, "-c", script])
    process.wait_for("up")
    assert_refused(process, make_bundle(), "does not catch SIGQUIT")
    process.stop()


# ---------------------------------------------------------------- the target's files


@test
def a_jvm_without_any_place_for_the_agent_is_refused_with_all_reasons():
    need_root()
    noexec = "mount -t tmpfs -o mode=1777,noexec tmpfs"
    mounts = (
        f"{noexec} /tmp; {noexec} /dev/shm; "
        "mount --bind /var/tmp /var/tmp; mount -o remount,bind,noexec /var/tmp"
    )
    jvm = ContainerJvm(jdks()[-1], mounts=mounts, env={"HOME": "/nonexistent"})
    bundle = make_bundle(parent="/tmp")
    words = ("no directory for the agent's files", "'/tmp' is noexec", "'/var/tmp' is noexec")
    assert_refused(jvm, bundle, *words, "'/dev/shm' is noexec")
    status, text = attach(jvm.pid, bundle, "--probe")
    assert status == 1 and words[0] in text, text
    jvm.stop()


@test
def what_is_in_the_place_of_the_socket_is_not_trusted():
    jvm = Jvm(jdks()[-1])
    path = attach_socket(jvm)
    try:
        os.symlink("/dev/null", path)
        assert_refused(jvm, make_bundle(), "is not a socket of its user")
        os.unlink(path)
        with open(path, "w", encoding="ascii"):
            pass
        assert_refused(jvm, make_bundle(), "is not a socket of its user")
    finally:
        jvm.stop()
        remove_file(path)


@test
def what_roots_former_process_left_there_is_named():
    need_root()
    jvm = Jvm(jdks()[-1], prefix=as_nobody())
    path = attach_socket(jvm)
    with socket.socket(socket.AF_UNIX) as former:
        former.bind(path)
    try:
        os.chmod(path, 0o600)
        assert_refused(jvm, make_bundle(), f"'{path}'", "left from a process of root's", "remove it")
        os.unlink(path)
        assert_attaches(jvm, make_bundle())
    finally:
        jvm.stop()
        remove_file(path)


@test
def a_stranger_who_listens_in_the_place_of_the_jvm_gets_no_request():
    jvm = Jvm(jdks()[-1])
    path = attach_socket(jvm)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(path)
        stranger.listen()
        try:
            assert_refused(jvm, make_bundle(), "belongs to another process", str(os.getpid()))
            connection, _ = stranger.accept()
            assert connection.recv(100) == b""
            connection.close()
        finally:
            jvm.stop()
            remove_file(path)


@test
def a_foreign_trigger_file_is_not_used_since_the_jvm_would_print_a_thread_dump():
    need_root()
    cwd = make_directory()
    jvm = Jvm(jdks()[-1], cwd=cwd)
    trigger = os.path.join(cwd, f".attach_pid{jvm.pid}")
    with open(trigger, "w", encoding="ascii"):
        pass
    os.chown(trigger, NOBODY, NOBODY)
    before = jvm.output()
    status, text = attach(jvm.pid, make_bundle())
    assert status == 1 and "is not a file of its user" in text, text
    assert jvm.output() == before
    os.unlink(trigger)
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test_on_jdks
def a_library_that_cannot_be_loaded_is_reported_with_the_jvms_words(jdk):
    jvm, bundle = Jvm(jdk), make_bundle()
    with open(os.path.join(bundle, "libjxperf-agent.so"), "wb") as f:
        f.write(b"no ELF file" * 100)
    status, text = attach(jvm.pid, bundle)
    assert status == 1 and "its JVM could not load" in text and "\n" not in text, text
    shutil.rmtree(bundle)
    jvm.stop()


run(at_once=2)
