"""A broker's service that goes and comes back: schedules wait for it, and it is seen from outside."""
import json
import os
import socket
import subprocess
import urllib.error
import urllib.request

from lib import BUILD, HANG_S, Process, jdks, make_directory, need_root, run, test, wait_until
from support.door import Door
from support.profile import Workload

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
DAEMON = os.path.join(BUILD, "bin/jxperfd")
EVERY_S, WINDOW_S, FAILURES = 10, 2, 1
# JVMs of another run of this test are not meant.
MARK = f"-Dmark=away{os.getpid()}"
# A round, an epoch in which it is found too late, one in which it has its window, and room.
SOON_S = 10 + 2 * EVERY_S + WINDOW_S + 20

CONFIG = """
host-budget: 90%
guards: {{cpu-pressure: off, memory-pressure: off, io-pressure: off, load: off, collector: off}}
schedules:
  - name: often
    match: {{command: "*{mark}*"}}
    every: {every}s
    window: {window}s
    warm-up: 1s
    kinds: [silent-load]
    budget: 30%
    failures: {failures}
"""


class Host:
    def __init__(self):
        directory = make_directory()
        self.path = os.path.join(directory, "broker.sock")
        self.socket = os.path.join(directory, "control.sock")
        config = os.path.join(directory, "jxperfd.yaml")
        with open(config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(mark=MARK, every=EVERY_S, window=WINDOW_S, failures=FAILURES))
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{s.getsockname()[1]}"
        self.listen()
        self.door = Door(self.listener, "root")
        self.daemon = Process([DAEMON, "--broker", self.path, "--socket", self.socket, "--http", self.address,
                               "--config", config, "--state-dir", "none"])
        self.daemon.wait_for("ready")

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
        command = [CLIENT, "--socket", self.socket, "--json", "windows"]
        listed = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=HANG_S).stdout)
        return sum(w["state"] == "done" for w in listed)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=HANG_S):
                return True
        except urllib.error.HTTPError as e:
            assert e.code == 503, e
            return False

    def metric(self, series):
        with urllib.request.urlopen(f"http://{self.address}/metrics", timeout=HANG_S) as answer:
            lines = answer.read().decode().splitlines()
        return next((float(line.split()[-1]) for line in lines if line.startswith(series + " ")), None)


@test
def a_schedule_outlives_its_broker():
    need_root()
    jvm = Workload(jdks()[-1], "SilentLoad", MARK)
    h = Host()
    missed = 'jxperf_schedule_missed_total{schedule="often",reason="broker"}'
    wait_until(lambda: h.is_ready() and h.metric("jxperf_broker_connected") == 1, "the broker", SOON_S)
    wait_until(lambda: h.ended() >= 1, "a window", SOON_S)
    h.end_broker()
    wait_until(lambda: not h.is_ready(), "not to be ready", SOON_S)
    assert h.metric("jxperf_broker_connected") == 0
    # More of them than the schedule may fail in a row.
    before = h.metric(missed)
    wait_until(lambda: h.metric(missed) > before + FAILURES, "missed windows", SOON_S + FAILURES * EVERY_S)
    assert h.metric('jxperf_schedule_windows_total{schedule="often",outcome="failed"}') == 0
    assert h.metric('jxperf_schedule_stopped{schedule="often"}') == 0
    assert not [line for line in h.daemon.output().splitlines() if "the kernel does not tell" in line]
    ended = h.ended()
    h.start_broker()
    wait_until(lambda: h.is_ready() and h.metric("jxperf_broker_connected") == 1, "the broker", SOON_S)
    wait_until(lambda: h.ended() > ended, "a window of the next broker", SOON_S)
    h.daemon.stop()
    h.door.stop()
    jvm.stop()


run()
