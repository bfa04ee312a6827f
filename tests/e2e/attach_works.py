"""jxperf-attach reaches JVMs of every JDK, user and namespace, and leaves no file behind."""
# Takes half a place: it waits most of the time.
import os
import shutil
import socket
import subprocess

from lib import HANG_S, make_directory, need_root, run, skip, test_on_jdks, wait_until
from support.attach import (
    HELPER,
    NOBODY,
    ContainerJvm,
    Jvm,
    agent_paths,
    as_nobody,
    assert_attaches,
    attach,
    attach_socket,
    leftovers,
    make_bundle,
    namespace_pid,
    remove_file,
    start_attach,
)

PRIVATE_TMP = "mount -t tmpfs -o mode=1777 tmpfs /tmp"


@test_on_jdks
def a_plain_jvm_is_attached_to_twice(jdk):
    jvm, bundle = Jvm(jdk), make_bundle()
    assert_attaches(jvm, bundle)
    assert_attaches(jvm, bundle)
    assert agent_paths(jvm.pid) == [f"{bundle}/libjxperf-agent.so"]
    assert "Full thread dump" not in jvm.output()
    jvm.stop()


@test_on_jdks
def many_attaches_leave_nothing_in_the_jvm(jdk):
    def count():
        maps = sum(1 for _ in open(f"/proc/{jvm.pid}/maps", encoding="utf-8"))
        return len(os.listdir(f"/proc/{jvm.pid}/fd")), maps

    jvm, bundle = Jvm(jdk, "-Xint", "-XX:+UseSerialGC"), make_bundle()
    for _ in range(5):
        assert_attaches(jvm, bundle)
    fds, maps = count()
    for _ in range(45):
        assert_attaches(jvm, bundle)
    # The agent closes its connection a little after we have closed ours.
    wait_until(lambda: count()[0] <= fds, f"back to {fds} descriptors, now {count()[0]}")
    # Stacks of ended threads come and go in glibc's cache; 45 leaks of any kind would show.
    assert count()[1] <= maps + 10, (maps, count())
    jvm.stop()


@test_on_jdks
def a_jvm_of_another_user_is_attached_to(jdk):
    need_root()
    jvm, bundle = Jvm(jdk, prefix=as_nobody(), cwd="/"), make_bundle()
    assert_attaches(jvm, bundle)
    assert agent_paths(jvm.pid) == [f"{bundle}/libjxperf-agent.so"]
    jvm.stop()


@test_on_jdks
def a_user_who_cannot_read_our_bundle_gets_a_copy(jdk):
    need_root()
    jvm, bundle = Jvm(jdk, prefix=as_nobody()), make_bundle(mode=0o700)
    assert_attaches(jvm, bundle)
    (path,) = agent_paths(jvm.pid)
    assert path.startswith("/tmp/.jxperf-"), path
    # A loaded library keeps its path, also when the file is gone.
    assert_attaches(jvm, bundle)
    assert agent_paths(jvm.pid) == [path]
    jvm.stop()


@test_on_jdks
def a_jvm_in_other_namespaces_sees_our_bundle(jdk):
    need_root()
    jvm, bundle = ContainerJvm(jdk, mounts=PRIVATE_TMP), make_bundle()
    assert namespace_pid(jvm.pid) == 1
    assert_attaches(jvm, bundle)
    assert agent_paths(jvm.pid) == [f"{bundle}/libjxperf-agent.so"]
    jvm.stop()


@test_on_jdks
def a_jvm_in_other_namespaces_gets_a_copy_of_what_it_cannot_see(jdk):
    need_root()
    jvm = ContainerJvm(jdk, mounts=PRIVATE_TMP, user=as_nobody())
    bundle = make_bundle(parent="/tmp")
    assert_attaches(jvm, bundle)
    (path,) = agent_paths(jvm.pid)
    assert path.startswith("/tmp/.jxperf-"), path
    assert_attaches(jvm, bundle)
    assert agent_paths(jvm.pid) == [path]
    jvm.stop()


@test_on_jdks
def a_copy_goes_where_code_may_be_executed(jdk):
    need_root()
    jvm = ContainerJvm(jdk, mounts="mount -t tmpfs -o mode=1777,noexec tmpfs /tmp")
    bundle = make_bundle(parent="/tmp")
    status, text = attach(jvm.pid, bundle, "--probe")
    assert status == 0 and "a copy goes to '/var/tmp'" in text, text
    assert_attaches(jvm, bundle)
    (path,) = agent_paths(jvm.pid)
    assert path.startswith("/var/tmp/.jxperf-"), path
    jvm.stop()


@test_on_jdks
def a_jvm_with_another_root_is_attached_to(jdk):
    need_root()
    root = make_directory()
    mounts = f"mount --rbind / {root}; mount -t tmpfs -o mode=1777 tmpfs {root}/tmp"
    jvm = ContainerJvm(jdk, mounts=mounts, user=("chroot", root))
    bundle = make_bundle(parent="/tmp")
    assert_attaches(jvm, bundle)
    (path,) = agent_paths(jvm.pid)
    assert path.startswith(f"{root}/tmp/.jxperf-"), path
    assert_attaches(jvm, bundle)
    assert agent_paths(jvm.pid) == [path]
    jvm.stop()


@test_on_jdks
def an_unwritable_working_directory_does_not_matter(jdk):
    need_root()
    jvm = Jvm(jdk, prefix=as_nobody(), cwd=make_directory(mode=0o555))
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test_on_jdks
def a_working_directory_that_is_gone_does_not_matter(jdk):
    cwd = make_directory()
    jvm = Jvm(jdk, cwd=cwd)
    os.rmdir(cwd)
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test_on_jdks
def the_last_of_two_contrary_options_counts(jdk):
    jvm = Jvm(jdk, "-XX:+DisableAttachMechanism", "-XX:-DisableAttachMechanism")
    assert_attaches(jvm, make_bundle())
    jvm.stop()


@test_on_jdks
def a_jvm_without_signals_listens_from_the_start(jdk):
    # -Xrs alone makes it listen (AttachListener::init_at_startup).
    jvm = Jvm(jdk, "-Xrs")
    assert_attaches(jvm, make_bundle())
    jvm.stop()
    remove_file(attach_socket(jvm))


@test_on_jdks
def a_dead_socket_of_a_former_jvm_is_replaced(jdk):
    jvm = Jvm(jdk)
    path = attach_socket(jvm)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    try:
        assert_attaches(jvm, make_bundle())
    finally:
        jvm.stop()
        remove_file(path)


@test_on_jdks
def a_forgotten_trigger_file_is_used_and_left(jdk):
    jvm = Jvm(jdk)
    trigger = f"/proc/{jvm.pid}/cwd/.attach_pid{jvm.pid}"
    with open(trigger, "w", encoding="ascii"):
        pass
    status, text = attach(jvm.pid, make_bundle())
    assert status == 0, text
    assert os.path.exists(trigger)
    os.unlink(trigger)
    assert "Full thread dump" not in jvm.output()
    jvm.stop()


@test_on_jdks
def several_attach_at_once_and_no_thread_dump_is_printed(jdk):
    for _ in range(5):
        jvm, bundle = Jvm(jdk), make_bundle()
        helpers = [start_attach(jvm.pid, bundle) for _ in range(4)]
        for helper in helpers:
            text, _ = helper.communicate(timeout=HANG_S)
            assert helper.returncode == 0, text
        assert "Full thread dump" not in jvm.output()
        assert leftovers(jvm.pid) == []
        jvm.stop()


@test_on_jdks
def a_jvm_that_is_root_in_its_own_user_namespace_is_attached_to(jdk):
    need_root()
    prefix = as_nobody("unshare", "--user", "--map-root-user", "--mount")
    try:
        jvm = Jvm(jdk, prefix=prefix)
    except AssertionError as reason:
        skip(f"user namespaces cannot be had: {reason}")
    assert os.stat(f"/proc/{jvm.pid}").st_uid == NOBODY
    assert_attaches(jvm, make_bundle(mode=0o700))
    jvm.stop()


@test_on_jdks
def without_root_ones_own_jvms_are_attached_to(jdk):
    need_root()  # To become somebody who is not.
    directory = make_directory()
    helper = shutil.copy(HELPER, directory)
    jvm, bundle = Jvm(jdk, prefix=as_nobody()), make_bundle()
    command = as_nobody(helper, "--pid", str(jvm.pid), "--bundle", bundle)
    for _ in range(2):
        p = subprocess.run(command, capture_output=True, text=True, check=False)
        assert p.returncode == 0, p
        assert leftovers(jvm.pid) == []
    jvm.stop()


run(at_once=2)
