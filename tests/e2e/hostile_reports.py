"""The report of a hostile agent's profile takes long to write, which is nobody's concern but who asked for it."""
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time

from lib import jdks, need_root, note, run, test, wait_until
from support.agent import PROTOCOL, encode
from support.hostile import HostileDaemon, HostileJvm, batch, ended, hello, node, pair
from support.profile import CLIENT, TARGET_ENDED, TRIES

HEADER = struct.Struct("<I")
# ControlRequest with status, and with report of w1 in JSON.
STATUS_REQUEST = encode([(3, b""), (15, PROTOCOL)])
REPORT_REQUEST = encode([(5, encode([(1, b"w1"), (2, 1)])), (15, PROTOCOL)])

DEPTH, PAIRS, ROUNDS = 250, 400, 2
NAME = b"x" * 4000


def profile_of_long_names():
    """Some hundred pairs with 250 frames of 8 KiB names each on both sides: far more than fits a report."""
    method = (2, encode([(1, 1), (2, NAME), (3, NAME)]))
    trunk = [node(i, i - 1) for i in range(1, DEPTH + 1)]
    leaves = [node(DEPTH + i, DEPTH, bci=i) for i in range(1, PAIRS + 1)]
    pairs = [pair(DEPTH + i) for i in range(1, PAIRS + 1)]
    return batch(method, *trunk, *leaves), batch(records=pairs)


def daemon_with_a_large_profile():
    """On a busy machine an attach may fail, which is no matter of this test."""
    for _ in range(TRIES):
        daemon, jvm = HostileDaemon(), HostileJvm(jdks()[0])
        jvm.will_send(hello(), *profile_of_long_names(), ended())
        client = daemon.start_ctl("attach", str(jvm.pid), "--kinds", "dead-store", "--duration", "30s", "-o", os.devnull)
        wait_until(lambda: client.child.poll() is not None, "the end of the window")
        done = client.finish()
        jvm.stop()
        if done.returncode == TARGET_ENDED:
            return daemon
        note(done.stderr)
        daemon.stop()
    raise AssertionError(done)


def start_report(daemon, out):
    return subprocess.Popen([CLIENT, "--socket", daemon.socket, "report", "w1", "--format", "json"],
                            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)


def ask(daemon, request):
    """A connection on which the answer will come."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(daemon.socket)
    connection.sendall(HEADER.pack(len(request)) + request)
    return connection


def status_seconds(daemon):
    """How long the daemon takes to answer what costs it nothing."""
    begin = time.monotonic()
    with ask(daemon, STATUS_REQUEST) as answer:
        assert answer.recv(65536)
    return time.monotonic() - begin


@test
def others_are_answered_while_a_large_report_is_written():
    need_root()
    daemon = daemon_with_a_large_profile()
    took, longest = 0, 0
    for _ in range(ROUNDS):
        begin, waited = time.monotonic(), 0
        with tempfile.TemporaryFile() as out:
            client = start_report(daemon, out)
            while client.poll() is None:
                waited = max(waited, status_seconds(daemon))
            assert client.returncode == 0, client.stderr.read()
            out.seek(0)
            assert len(json.load(out)["inefficiency"][0]["pairs"]) > 0
        took, longest = took + time.monotonic() - begin, longest + waited
    note(f"a report took {took / ROUNDS:.2f} s, an answer to status meanwhile {longest / ROUNDS:.3f} s at the most")
    assert longest < took / 3, (longest, took)
    daemon.stop()


@test
def a_daemon_that_is_stopped_finishes_the_report_that_it_is_writing():
    need_root()
    daemon = daemon_with_a_large_profile()
    with ask(daemon, REPORT_REQUEST) as answer:
        status_seconds(daemon)  # What was asked before has been read by now.
        os.kill(daemon.pid, signal.SIGTERM)
        with answer.makefile("rb") as stream:
            size, = HEADER.unpack(stream.read(HEADER.size))
            assert len(stream.read(size)) == size > 1 << 20, size
    assert daemon.child.wait(30) == 0, daemon.output()


@test
def a_client_that_leaves_in_the_middle_of_its_report_costs_nothing():
    need_root()
    daemon = daemon_with_a_large_profile()
    before = len(os.listdir(f"/proc/{daemon.pid}/fd"))
    for _ in range(5):
        client = start_report(daemon, subprocess.DEVNULL)
        status_seconds(daemon)
        client.kill()
        client.wait()
    with tempfile.TemporaryFile() as out:
        client = start_report(daemon, out)
        assert client.wait(60) == 0, client.stderr.read()
    wait_until(lambda: len(os.listdir(f"/proc/{daemon.pid}/fd")) <= before + 4, "the connections' end")
    daemon.stop()


run(at_once=2)
