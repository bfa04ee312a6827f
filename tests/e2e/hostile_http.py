#!/usr/bin/env python3
"""HTTP for everybody while another user holds connections open, sends a byte a second, or comes from everywhere."""
# Takes half a place: it waits most of the time.
import http.client
import re
import socket
import sys
import time

from lib import Process, need_root, note, run, test, wait_until
from support.profile import Daemon

NOBODY = 65534
REQUEST_S = 10  # HTTP_REQUEST_S
ANSWER_S = 5    # an answer takes milliseconds; more is a machine that others use

# Connects from ADDRESSES of 127.0.0.0/16, COUNT times in all. Then it does nothing, or sends a byte a second on each
# and connects again when one is closed.
ATTACKER = """
import select, socket, sys, time
port, count, first, addresses, sends = (int(a) for a in sys.argv[1:])
REQUEST = b"GET /metrics HTTP/1.1\\r\\nHost: x\\r\\nX: " + b"x" * 1000000

class Slow:
    def __init__(self, i):
        self.address = "127.0.%d.%d" % divmod(first + i % addresses, 256)
        self.connect()
    def connect(self):
        self.sent = 0
        self.socket = socket.socket()
        self.socket.bind((self.address, 0))
        self.socket.connect(("127.0.0.1", port))
    def turn(self):
        if not sends:
            return
        try:
            self.sent += self.socket.send(REQUEST[self.sent:self.sent + 1])
            if select.select([self.socket], [], [], 0)[0] and not self.socket.recv(1):
                raise OSError
        except OSError:
            self.socket.close()
            self.connect()

slow = [Slow(i) for i in range(count)]
print("up", flush=True)
while True:
    for s in slow:
        s.turn()
    time.sleep(1)
"""


class Server:
    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        self.daemon = Daemon(http=f"127.0.0.1:{self.port}")

    def get(self, path, address="127.0.0.1"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S, source_address=(address, 0))
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status == 200, answer.status
            return answer.read().decode()
        finally:
            connection.close()

    def refused(self, reason, address):
        series = rf'^jxperf_http_connections_refused_total{{reason="{reason}"}} (\d+)$'
        return int(re.search(series, self.get("/metrics", address), re.MULTILINE).group(1))

    def attack(self, count, first=1, addresses=1, sends=False):
        command = [sys.executable, "-c", ATTACKER, self.port, count, first, addresses, int(sends)]
        attacker = Process([str(c) for c in command], user=NOBODY, group=NOBODY, extra_groups=[])
        attacker.wait_for("up")
        return attacker


def assert_served(server, *addresses):
    for address in addresses:
        assert server.get("/-/healthy", address) == "healthy\n"
        assert "jxperf_build_info" in server.get("/metrics", address)


@test
def idle_connections_keep_nobody_out_and_are_counted():
    need_root()
    server = Server()
    attacker = server.attack(100)
    for _ in range(20):
        assert_served(server, "127.0.0.1", "127.0.0.2")
    assert server.refused("address", "127.0.0.2") >= 84
    assert server.daemon.ctl("status").returncode == 0
    attacker.stop()
    assert_served(server, "127.0.0.1")
    server.daemon.stop()


@test
def a_byte_a_second_keeps_nobody_out():
    need_root()
    server = Server()
    attacker = server.attack(34, sends=True)
    end, worst, scrapes, lost = time.monotonic() + REQUEST_S + 3, 0, 0, 0
    while time.monotonic() < end:
        start = time.monotonic()
        assert_served(server, "127.0.0.2")
        worst, scrapes = max(worst, time.monotonic() - start), scrapes + 2
        try:
            assert_served(server, "127.0.0.1")
        except (http.client.HTTPException, ConnectionError):
            lost += 1  # More connections than one address may have came before its request did.
        time.sleep(0.05)  # Beside the attack, not instead of it.
    assert attacker.alive(), attacker.output()
    note(f"{scrapes} answers to another address, the slowest two after {worst:.3f} s; {lost} of {scrapes // 2} tries "
         "from the same one were in vain")
    assert lost < scrapes / 4, (lost, scrapes)
    attacker.stop()
    server.daemon.stop()


@test
def a_request_that_trickles_in_has_its_time_and_no_more():
    need_root()
    server = Server()
    start = time.monotonic()
    attacker = server.attack(4, sends=True)
    wait_until(lambda: server.refused("time", "127.0.0.2") >= 4, "the end of four slow requests", 3 * REQUEST_S)
    took = time.monotonic() - start
    note(f"four slow requests were over after {took:.1f} s")
    assert took >= REQUEST_S, took
    attacker.stop()
    server.daemon.stop()


@test
def many_addresses_keep_nobody_out():
    need_root()
    server = Server()
    attacker = server.attack(200, first=256, addresses=200)
    for _ in range(20):
        assert_served(server, "127.0.0.1", "127.0.0.2")
    assert server.refused("total", "127.0.0.2") >= 136
    attacker.stop()
    server.daemon.stop()


run(at_once=2)
