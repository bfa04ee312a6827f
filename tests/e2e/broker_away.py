"""A broker's service that goes and comes back: schedules wait for it, and it is seen from outside."""
import json
import os
import socket
import urllib.error

from lib import jdks, make_directory, need_root, run, test, wait_until
from support.door import Door
from support.profile import NO_GUARDS, Daemon, Workload, succeeded

EVERY_S, WINDOW_S, FAILURES = 10, 2, 1
# JVMs of another run of this test are not meant.
MARK = f"-Dmark=away{os.getpid()}"
# A round, an epoch in which it is found too late, one in which it has its window, and room.
SOON_S = 10 + 2 * EVERY_S + WINDOW_S + 20

CONFIG = f"""
host-budget: 90%
{NO_GUARDS}
schedules:
  - name: often
    match: {{command: "*{MARK}*"}}
    every: {EVERY_S}s
    window: {WINDOW_S}s
    warm-up: 1s
    kinds: [silent-load]
    budget: 30%
    failures: {FAILURES}
"""


class Host:
    def __init__(self):
        self.path = os.path.join(make_directory(), "broker.sock")
        self.listen()
        self.door = Door(self.listener, "root")
        self.daemon = Daemon(options=["--broker", self.path], http="127.0.0.1:0", config=CONFIG, state="none")

    def listen(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        self.listener.listen(8)

    def end_broker(self):
        """With its socket, so that attempts to connect fail."""
        self.listener.close()
        os.unlink(self.path)
        self.door.stop()

    def start_broker(self):
        self.listen()
        self.door = Door(self.listener, "root")

    def ended(self):
        return sum(w["state"] == "done" for w in json.loads(succeeded(self.daemon.ctl("--json", "windows"))))

    def is_ready(self):
        try:
            self.daemon.get("/-/ready")
            return True
        except urllib.error.HTTPError as e:
            assert e.code == 503, e
            return False

    def metric(self, name, **labels):
        return self.daemon.metric(name, **labels)


@test
def a_schedule_outlives_its_broker():
    need_root()
    jvm = Workload(jdks()[-1], "SilentLoad", MARK)
    h = Host()

    def missed():
        return h.metric("jxperf_schedule_missed_total", schedule="often", reason="broker")

    wait_until(lambda: h.is_ready() and h.metric("jxperf_broker_connected") == 1, "the broker", SOON_S)
    wait_until(lambda: h.ended() >= 1, "a window", SOON_S)
    h.end_broker()
    wait_until(lambda: not h.is_ready(), "not to be ready", SOON_S)
    assert h.metric("jxperf_broker_connected") == 0
    # More of them than the schedule may fail in a row.
    before = missed()
    wait_until(lambda: missed() > before + FAILURES, "missed windows", SOON_S + FAILURES * EVERY_S)
    assert h.metric("jxperf_schedule_windows_total", schedule="often", outcome="failed") == 0
    assert h.metric("jxperf_schedule_stopped", schedule="often") == 0
    assert not [line for line in h.daemon.output().splitlines() if "the kernel does not tell" in line]
    ended = h.ended()
    h.start_broker()
    wait_until(lambda: h.is_ready() and h.metric("jxperf_broker_connected") == 1, "the broker", SOON_S)
    wait_until(lambda: h.ended() > ended, "a window of the next broker", SOON_S)
    h.daemon.stop()
    h.door.stop()
    jvm.stop()


run()
