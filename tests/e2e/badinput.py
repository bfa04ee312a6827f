"""Bad input: one line that says what to do, exit status 1 or 2, and a target that is as it was."""
import os
import re
import socket
import struct
import subprocess

from lib import HANG_S, Process, jdks, make_directory, run, test, test_on_jdks, wait_until
from support.attach import Jvm, leftovers
from support.profile import CLIENT, Daemon, Workload, ctl
from support.target import Snapshot, agent_mappings, asleep

FAILED, USAGE = 1, 2

# Payload length, little-endian (proto/frame.h), and the most a request may have (proto/limits.h).
HEADER = struct.Struct("<I")
REQUEST_MAX_BYTES = 1 << 16

# ControlRequest{protocol: 1, status: {}} of proto/jxperf.proto, as it is encoded.
STATUS_REQUEST = bytes([0x1A, 0x00, 0x78, 0x01])

# Part of every answer to it.
VERSION = subprocess.run([CLIENT, "--version"], capture_output=True, check=True).stdout.split()[1]

daemon = Daemon()


def assert_refused(result, status, *words):
    """One line on standard error, which says these words; nothing on standard output."""
    assert result.returncode == status, result
    assert result.stdout == "", result.stdout
    assert re.fullmatch(r"jxperfctl: [^\n]+\n", result.stderr), result.stderr
    for word in words:
        assert word in result.stderr, result.stderr


def idle_jvm(jdk, *options):
    jvm = Jvm(jdk, *options)
    wait_until(lambda: asleep(jvm.pid), "a JVM that has started")
    return jvm


def assert_untouched(target, *words, status=FAILED):
    """An attach to the target is refused, and the target shows no trace of it."""
    before, output = Snapshot(target.pid), target.output()
    assert_refused(daemon.ctl("attach", str(target.pid), "--duration", "1s"), status, *words)
    assert target.alive()
    assert Snapshot(target.pid).__dict__ == before.__dict__, before.differences(Snapshot(target.pid))
    assert target.output() == output, target.output()
    assert agent_mappings(target.pid) == []
    assert leftovers(target.pid) == []


def serves():
    result = daemon.ctl("--json", "status")
    return result.returncode == 0 and result.stdout.startswith("{")


# ---------------------------------------------------------------- targets


@test
def a_pid_that_nobody_has():
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as f:
        unused = int(f.read()) - 1
    assert not os.path.exists(f"/proc/{unused}")
    assert_refused(daemon.ctl("attach", str(unused), "--duration", "1s"), FAILED, str(unused))


@test
def numbers_that_are_no_pids():
    for text in ("0", "4294967296", "99999999999999999999"):
        assert_refused(daemon.ctl("attach", text), USAGE, f"'{text}'")


@test
def a_name_that_no_jvm_has():
    assert_refused(daemon.ctl("attach", "no.such.Main"), FAILED, "no.such.Main", "jxperfctl list")


@test
def a_process_that_is_no_jvm():
    target = Process(["sleep", "600"], cwd=make_directory())
    wait_until(lambda: asleep(target.pid), "a process that has opened what it opens")
    assert_untouched(target, "not a JVM")
    target.stop()


@test_on_jdks
def a_jvm_that_disables_attach(jdk):
    target = idle_jvm(jdk, "-XX:+DisableAttachMechanism")
    assert_untouched(target, "DisableAttachMechanism", "restart it")
    target.stop()


@test_on_jdks
def a_jvm_that_disables_dynamic_agents(jdk):
    target = idle_jvm(jdk, "-XX:-EnableDynamicAgentLoading")
    assert_untouched(target, "EnableDynamicAgentLoading", "restart it")
    target.stop()


# ---------------------------------------------------------------- arguments


@test
def arguments_that_make_no_sense_are_usage_errors_and_reach_no_target():
    target = idle_jvm(jdks()[0])
    pid, before = str(target.pid), Snapshot(target.pid)
    for arguments, word in (
        (["attach", pid, "--kinds", "nonsense"], "nonsense"),
        (["attach", pid, "--kinds", ""], "--kinds"),
        (["attach", pid, "--kinds", "dead-store,,silent-load"], "--kinds"),
        (["attach", pid, "--duration", "0"], "--duration"),
        (["attach", pid, "--duration", "0s"], "--duration"),
        (["attach", pid, "--duration", "-1s"], "--duration"),
        (["attach", pid, "--duration", "soon"], "--duration"),
        (["attach", pid, "--duration", "1000h"], "--duration"),
        (["attach", pid, "--duration"], "--duration"),
        (["attach", pid, "--sampler", "oracle"], "--sampler"),
        (["attach", pid, "--period", "0"], "--period"),
        (["attach", pid, "--period", "1ns"], "--period"),
        (["attach", pid, "--budget", "0"], "--budget"),
        (["attach", pid, "--budget", "200%"], "--budget"),
        (["attach", pid, "--format", "poem"], "--format"),
        (["attach", pid, "--unheard-of"], "--unheard-of"),
        (["attach", pid, "more"], "more"),
        (["attach"], "PID|NAME"),
        (["detach"], "PID|NAME"),
        (["report"], "WINDOW"),
        (["unheard-of"], "unheard-of"),
        ([], "--help"),
    ):
        assert_refused(daemon.ctl(*arguments), USAGE, word)
    assert Snapshot(target.pid).__dict__ == before.__dict__
    assert target.output() == "idling\n" and agent_mappings(target.pid) == []
    target.stop()


@test
def a_report_file_that_cannot_be_written_is_known_before_the_window():
    target = Workload(jdks()[0], "SilentLoad", cwd=make_directory())
    before = Snapshot(target.pid)
    result = daemon.ctl("attach", str(target.pid), "--duration", "1s", "-o", "/nonexistent/report")
    assert_refused(result, FAILED, "/nonexistent/report")
    assert Snapshot(target.pid).__dict__ == before.__dict__ and agent_mappings(target.pid) == []
    target.stop()


@test
def what_the_daemon_does_not_know():
    assert_refused(daemon.ctl("report", "w999"), FAILED, "'w999'", "jxperfctl windows")
    assert_refused(daemon.ctl("detach", "1"), FAILED, "not being profiled")
    assert_refused(daemon.ctl("threads", "1"), FAILED, "not being profiled")


@test
def no_daemon_where_one_is_needed():
    nobody = os.path.join(make_directory(), "nobody.sock")
    for arguments in (["status"], ["windows"], ["detach", "1"], ["report", "w1"], ["threads", "1"]):
        assert_refused(ctl("--socket", nobody, *arguments), FAILED, "jxperfd")


@test
def a_socket_of_somebody_else():
    path = os.path.join(make_directory(), "other.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)
        other.listen()
        client = daemon.start_ctl("--socket", path, "status")
        connection, _ = other.accept()
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        assert_refused(client.finish(), FAILED, "control socket")
        connection.close()


# ---------------------------------------------------------------- frames


def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(daemon.socket)  # Without a time limit yet: it waits for room in the backlog.
    connection.settimeout(HANG_S)
    return connection


def reply_to(data):
    """What the daemon sends to these bytes before it closes the connection."""
    with connect() as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        reply = b""
        while chunk := connection.recv(65536):
            reply += chunk
        return reply


@test
def the_requests_of_these_tests_are_understood():
    """The frames below are refused for what is wrong with them."""
    with connect() as connection:
        connection.sendall(HEADER.pack(len(STATUS_REQUEST)) + STATUS_REQUEST)
        reply = connection.recv(65536)
    assert VERSION in reply, reply


@test
def garbage_is_answered_or_cut_off_and_the_daemon_serves_on():
    for size in (1, 3, 4, 5, 64, 4096, 100_000):
        for fill in (b"\0", b"\xff", b"GET / HTTP/1.1\r\n\r\n", os.urandom(16)):
            data = (fill * size)[:size]
            try:
                reply_to(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # Cut off while it was sending.
            assert serves(), f"after {size} bytes of {fill!r}"


@test
def lengths_outside_the_limits_are_refused_at_once():
    for length in (0, REQUEST_MAX_BYTES + 1, 0x7FFFFFFF, 0xFFFFFFFF):
        with connect() as connection:
            connection.sendall(HEADER.pack(length))
            assert b"limit" in connection.recv(65536), length
    assert serves()


@test
def a_malformed_message_is_refused_with_what_to_do():
    with connect() as connection:
        connection.sendall(HEADER.pack(3) + b"\xff\xff\xff")
        assert b"malformed" in connection.recv(65536)
    assert serves()


@test
def another_protocol_is_refused_with_what_to_do():
    other = STATUS_REQUEST[:-1] + bytes([99])
    with connect() as connection:
        connection.sendall(HEADER.pack(len(other)) + other)
        assert b"protocol 99" in connection.recv(65536)
    assert serves()


@test
def truncated_frames_end_with_their_connection():
    whole = HEADER.pack(len(STATUS_REQUEST)) + STATUS_REQUEST
    for length in range(len(whole)):
        assert VERSION not in reply_to(whole[:length]), length
    assert serves()


@test
def a_client_that_says_nothing_keeps_nobody_waiting():
    silent = [connect() for _ in range(50)]
    assert serves()
    for connection in silent:
        connection.close()
    assert serves()


@test
def clients_that_leave_in_mid_window_do_not_end_the_daemon():
    target = Workload(jdks()[0], "SilentLoad")
    for _ in range(3):
        daemon.start_attach(target.pid).stop()
        wait_until(lambda: not daemon.running(), "the end of the window", 5)
    assert serves()
    target.stop()


run()
