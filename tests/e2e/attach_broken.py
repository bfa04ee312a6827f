"""Agents, JVMs and users that do not play along: each is reported as what it is, in time, and
nothing stays behind."""
import os
import signal
import socket

from lib import HANG_S, Stopwatch, jdks, need_root, run, test, test_on_jdks, wait_until
from support.attach import (
    Jvm,
    assert_attaches,
    attach,
    attach_socket,
    leftovers,
    make_bundle,
    private_directory,
    remove_file,
    start_attach,
)


def jvm_with_agent(jdk, **settings):
    return Jvm(jdk, env={f"FAKE_AGENT_{k}": str(v) for k, v in settings.items()})


def finish(helper):
    text, _ = helper.communicate(timeout=HANG_S)
    assert helper.returncode == 1, (helper.returncode, text)
    return text


@test_on_jdks
def every_result_of_the_agent_has_its_own_sentence(jdk):
    seen = set()
    for code in (101, 102, 103, 104, 106, 7):
        jvm = jvm_with_agent(jdk, RETURN=code)
        status, text = attach(jvm.pid, make_bundle())
        assert status == 1 and str(jvm.pid) in text and "\n" not in text, text
        assert leftovers(jvm.pid) == []
        seen.add(text.replace(str(jvm.pid), "PID"))
        jvm.stop()
    assert len(seen) == 6, seen


@test_on_jdks
def a_jvm_that_is_still_starting_is_waited_for(jdk):
    jvm = jvm_with_agent(jdk, EARLY=5)
    assert_attaches(jvm, make_bundle())
    assert leftovers(jvm.pid) == []
    jvm.stop()


@test_on_jdks
def a_jvm_that_does_not_finish_its_start_is_given_up_at_the_deadline(jdk):
    jvm = jvm_with_agent(jdk, EARLY=1000000)
    # Long enough for a JVM on a busy machine to load the agent, which is what comes before.
    status, text = attach(jvm.pid, make_bundle(), timeout_ms=8000)
    assert status == 1 and "no sign of the end of its JVM's start within 8000 ms" in text, text
    assert leftovers(jvm.pid) == []
    jvm.stop()


@test_on_jdks
def a_jvm_that_answers_too_late_is_given_up_at_the_deadline(jdk):
    jvm = jvm_with_agent(jdk, SLEEP_MS=8000)
    with Stopwatch() as watch:
        status, text = attach(jvm.pid, make_bundle(), timeout_ms=2000)
    assert watch.wall_seconds > 1.9 and watch.seconds < 5, (watch.wall_seconds, watch.seconds)
    assert status == 1 and "no sign of its answer to 'load' within 2000 ms" in text, text
    assert leftovers(jvm.pid) == []
    jvm.stop()


@test_on_jdks
def an_agent_that_never_connects_is_given_up_at_the_deadline(jdk):
    jvm = jvm_with_agent(jdk, SILENT=1)
    status, text = attach(jvm.pid, make_bundle(), timeout_ms=2000)
    assert status == 1 and "no sign of the agent's connection within 2000 ms" in text, text
    assert leftovers(jvm.pid) == []
    assert jvm.output().count("Full thread dump") == 0
    jvm.stop()


@test
def a_jvm_that_is_stopped_in_the_middle_is_given_up_at_the_deadline():
    jvm = Jvm(jdks()[-1])
    assert_attaches(jvm, make_bundle())  # Its socket exists from now on.
    helper = start_attach(jvm.pid, make_bundle(), timeout_ms=2000)
    os.kill(jvm.pid, signal.SIGSTOP)
    text, _ = helper.communicate(timeout=HANG_S)
    # Either it was stopped before the helper looked, or while the helper waited, or too late.
    expected = {0: "is connected", 1: "stopped"}
    assert expected[helper.returncode] in text, (helper.returncode, text)
    assert leftovers(jvm.pid) == []
    jvm.stop()


@test_on_jdks
def a_target_that_ends_meanwhile_is_noticed_at_once(jdk):
    need_root()  # To look into the helper.
    jvm = jvm_with_agent(jdk, SILENT=1)
    helper = start_attach(jvm.pid, make_bundle(), timeout_ms=20000)
    directory = wait_until(lambda: private_directory(helper), "a listening helper")
    with Stopwatch() as watch:
        os.kill(jvm.pid, signal.SIGKILL)
        text = finish(helper)
    assert watch.seconds < 2, watch.seconds
    assert f"process {jvm.pid} ended while it was being attached to" in text, text
    assert not os.path.exists(directory)
    remove_file(attach_socket(jvm))  # A killed JVM leaves it.


@test
def a_helper_that_is_told_to_stop_cleans_up():
    need_root()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        jvm = jvm_with_agent(jdks()[-1], SILENT=1)
        helper = start_attach(jvm.pid, make_bundle(), timeout_ms=20000)
        wait_until(lambda h=helper: private_directory(h), "a listening helper")
        helper.send_signal(number)
        text = finish(helper)
        assert f"attaching to process {jvm.pid} was interrupted" in text, text
        assert leftovers(jvm.pid) == []
        jvm.stop()


@test
def a_stranger_at_the_agents_socket_is_sent_away():
    need_root()
    jvm = jvm_with_agent(jdks()[-1], SILENT=1)
    helper = start_attach(jvm.pid, make_bundle(), timeout_ms=1500)
    directory = wait_until(lambda: private_directory(helper), "a listening helper")
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(HANG_S)
        stranger.connect(f"{directory}/agent.sock")
        assert stranger.recv(10) == b""
    assert "no sign of the agent's connection" in finish(helper)
    jvm.stop()


run(at_once=2)
