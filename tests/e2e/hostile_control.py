"""Users who fill the control socket with connections keep nobody else out, and are told where they stand."""
# Takes half a place: it waits most of the time.
import os
import re
import subprocess
import sys
import time

from lib import Process, need_root, note, run, test, wait_until
from support.attach import NOBODY, as_nobody
from support.profile import CLIENT, Daemon, succeeded

# CONTROL_CONNECTIONS_OF_USER of daemon/serve/control.h, and a little less than CONNECTION_REQUEST_TIMEOUT_MS, after
# which the daemon closes connections that ask for nothing.
OF_USER = 32
# REFUSALS_OF_USER of daemon/serve/refusals.h.
LINES_OF_USER = 64
HELD_S = 8
REFUSED = 12
TRIES = 5

HOLDER = """
import socket, sys, time
held = []
for _ in range(int(sys.argv[2])):
    held.append(socket.socket(socket.AF_UNIX))
    held[-1].connect(sys.argv[1])
print("held", flush=True)
time.sleep(600)
"""

# Says what the daemon tells who connects, without jxperfctl's patience.
REFUSED_ONES = """
import re, socket, sys
for _ in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(5)
    s.connect(sys.argv[1])
    print(re.sub(rb"[^ -~]", b"", s.recv(4096)).decode())
"""


def while_held(daemon, ask):
    """What ask() returns while nobody has all connections that one user may have. Again, where that took so long
    (on a busy machine) that the daemon may have closed some."""
    for _ in range(TRIES):
        begin = time.monotonic()
        holder = Process(as_nobody(sys.executable, "-c", HOLDER, daemon.socket, str(OF_USER)))
        holder.wait_for("held")
        answer = ask()
        in_time = time.monotonic() - begin < HELD_S
        holder.stop()
        if in_time:
            return answer
        wait_until(lambda: ctl_as_nobody(daemon, "status").returncode == 0, "the end of the connections")
    raise AssertionError(f"not within {HELD_S} s in {TRIES} times")


def ctl_as_nobody(daemon, *arguments):
    command = as_nobody(CLIENT, "--socket", daemon.socket, *arguments)
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)


def refusals_of_nobody(daemon, count=1):
    return succeeded(subprocess.run(as_nobody(sys.executable, "-c", REFUSED_ONES, daemon.socket, str(count)), capture_output=True,
                                    text=True, timeout=30, check=False)).splitlines()


def open_daemon():
    """One that everybody may talk to."""
    daemon = Daemon()
    os.chmod(daemon.socket, 0o666)
    return daemon


@test
def a_user_who_fills_his_places_keeps_nobody_else_out():
    need_root()
    daemon = open_daemon()
    root, refused, root_again = while_held(
        daemon, lambda: (daemon.ctl("status"), refusals_of_nobody(daemon), daemon.ctl("status")))
    succeeded(root)
    succeeded(root_again)
    assert len(refused) == 1 and re.search(rf"user {NOBODY} has {OF_USER} connections .* wait ", refused[0]), refused
    wait_until(lambda: ctl_as_nobody(daemon, "status").returncode == 0, "room again")
    daemon.stop()


@test
def refusals_are_logged_in_a_few_lines_however_many_there_are():
    need_root()
    daemon = open_daemon()
    refused = while_held(daemon, lambda: refusals_of_nobody(daemon, REFUSED))
    assert len(refused) == REFUSED and all("connections" in text for text in refused), refused
    lines = [line for line in daemon.output().splitlines() if "refused" in line]
    note(" | ".join(lines))
    # The first one, and numbers every ten seconds: of TRIES at the most.
    assert 1 <= len(lines) <= 1 + TRIES < REFUSED and f"user {NOBODY}" in lines[0], lines
    daemon.stop()


@test
def of_requests_that_are_refused_one_after_the_other_the_log_has_some_and_a_number():
    need_root()
    daemon = open_daemon()
    ask = f"for i in $(seq 1 {LINES_OF_USER + 20}); do {CLIENT} --socket {daemon.socket} report w9; done"
    subprocess.run(as_nobody("/bin/sh", "-c", ask), capture_output=True, check=False)
    assert daemon.ctl("report", "w8").returncode == 1 # Root's is a line still.
    lines = [line for line in daemon.output().splitlines() if "audit: " in line and "action=report" in line]
    assert len([line for line in lines if f"uid={NOBODY}" in line]) <= LINES_OF_USER, len(lines)
    assert "uid=0" in lines[-1] and "w8" in lines[-1], lines[-1]
    wait_until(lambda: re.search(rf"[0-9]+ more requests or connections of user {NOBODY} were refused", daemon.output()),
               "a number for the others")
    daemon.stop()


run(at_once=2)
