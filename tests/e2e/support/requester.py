"""Clients that are not jxperfctl: they ask as fast as they can, and read what they are told or do not."""
import subprocess
import sys

from lib import HANG_S, Process, Stopwatch
from support.agent import PROTOCOL, encode
from support.attach import as_user
from support.hostile import HEADER
from support.profile import CLIENT, succeeded

# Sends requests, one a connection: reads what is said, or holds so many connections and does not read; then one gives
# way to another after a pause.
REQUESTER = """
import socket, sys, time
path, held_most, pause_s, requests = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), [bytes.fromhex(r) for r in sys.argv[4:]]
held, count = [], 0
print("asks", flush=True)
while True:
    c = socket.socket(socket.AF_UNIX)
    try:
        c.connect(path)
        c.sendall(requests[count % len(requests)])
        while held_most == 0 and c.recv(1 << 16):
            pass
    except OSError:
        pass
    held.append(c)
    count += 1
    time.sleep(0.02 if len(held) <= held_most else pause_s)
    if len(held) > held_most:
        held.pop(0).close()
"""


def request(number, *fields):
    """A ControlRequest in hexadecimal, as it travels."""
    payload = encode([(number, encode(list(fields))), (15, PROTOCOL)])
    return (HEADER.pack(len(payload)) + payload).hex()


def start_requester(daemon, uid, held, pause_s, *requests):
    requester = Process(as_user(uid, sys.executable, "-c", REQUESTER, daemon.socket, str(held), str(pause_s), *requests))
    requester.wait_for("asks")
    return requester


def attach_request(pid):
    return request(1, (1, pid), (5, 10**9))


def ask(who, daemon, *arguments):
    """What jxperfctl says, and how long it takes."""
    with Stopwatch() as watch:
        answer = subprocess.run([*who, CLIENT, "--socket", daemon.socket, *arguments], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=HANG_S, check=False)
    return succeeded(answer), watch.seconds
