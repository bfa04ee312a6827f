"""What Prometheus scrapes: checked by its own promtool, against the report, and over the daemon's death."""
import json
import os
import re
import signal
import subprocess
import time
import urllib.request

from lib import BUILD, HANG_S, Process, jdks, make_directory, run, test, wait_until
from support.profile import Daemon, Workload, report_of, succeeded
from support.prometheus import free_port, promtool
from support.summing import summing

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
DAEMON = os.path.join(BUILD, "bin/jxperfd")


class Scraped:
    """A daemon that has seen one window."""

    def __init__(self):
        self.address = f"127.0.0.1:{free_port()}"
        self.socket = os.path.join(make_directory(), "control.sock")
        self.daemon = Process([DAEMON, "--socket", self.socket, "--http", self.address,
                               "--state-dir", os.path.join(make_directory(), "state")])
        self.daemon.wait_for("ready")
        jvm = Process([jdks()[0].java, "-cp", summing("Summing", ints=4096), "Summing"])
        jvm.wait_for("up")
        self.report = json.loads(self.ctl("attach", str(jvm.pid), "--duration", "3s", "--kinds", "silent-load",
                                          "--format", "json"))
        jvm.stop()
        # They are shown when they are on the disk, a moment after the report.
        wait_until(lambda: value(self.get("/metrics"), 'jxperf_windows_total{app="Summing"}') == 1, "the window's sums")

    def ctl(self, *arguments):
        return subprocess.run([CLIENT, "--socket", self.socket, *arguments], check=True,
                              capture_output=True, text=True).stdout

    def get(self, path, **headers):
        request = urllib.request.Request(f"http://{self.address}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=HANG_S) as answer:
            return answer.read().decode()


_scraped = []


def scraped():
    if not _scraped:
        _scraped.append(Scraped())
    return _scraped[0]


def value(text, series):
    lines = [line for line in text.splitlines() if line.startswith(series + " ")]
    assert len(lines) == 1, f"{series}: {lines}"
    return float(lines[0].split()[-1])


@test
def the_metrics_of_a_window_are_those_of_its_report():
    text, loads = scraped().get("/metrics"), scraped().report["inefficiency"][0]
    labels = '{app="Summing",kind="silent_load"}'
    assert loads["checked_bytes"] > 0
    assert value(text, "jxperf_checked_bytes_total" + labels) == loads["checked_bytes"]
    assert value(text, "jxperf_inefficient_bytes_total" + labels) == loads["wasteful_bytes"]
    assert abs(value(text, "jxperf_window_inefficiency_ratio" + labels) - loads["fraction"]) < 1e-6
    assert value(text, 'jxperf_windows_total{app="Summing"}') == 1


@test
def promtool_has_nothing_to_say():
    promtool("check", "metrics", text=scraped().get("/metrics"))


@test
def openmetrics_is_given_when_asked_for():
    text = scraped().get("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert text.endswith("# EOF\n"), text[-80:]


@test
def health_and_readiness_are_answered():
    wait_until(lambda: scraped().get("/-/ready"), "readiness", 5)
    assert scraped().get("/-/healthy")


# Of these, a daemon goes on where the one before it ended.
KEPT = re.compile(r"jxperf_(checked|inefficient|numa|windows_(ended_early_)?total|objects|attach|dropped|apps)")


def kept_counters(text):
    lines = [line for line in text.splitlines() if KEPT.match(line) and "_ratio" not in line]
    return {series: float(number) for series, number in (line.rsplit(" ", 1) for line in lines)}


def bytes_of(report):
    return {k["kind"]: k for k in report["inefficiency"]}["silent_store"]["checked_bytes"]


@test
def what_was_scraped_is_there_after_a_kill_in_mid_window_and_nothing_twice():
    target = Workload(jdks()[0], "SilentStore")
    checked = 'jxperf_checked_bytes_total{app="SilentStore",kind="silent_store"}'
    first = Daemon(http=f"127.0.0.1:{free_port()}")
    client = first.start_attach(target.pid, duration="60s")
    most = {}
    end = time.monotonic() + 12  # of flushes every five seconds
    while time.monotonic() < end or not most.get(checked):
        for series, number in kept_counters(first.get("/metrics")).items():
            assert number >= most.get(series, 0), (series, number, most)
            most[series] = number
        time.sleep(0.02)
    os.kill(first.pid, signal.SIGKILL)
    client.finish()
    second = Daemon(http=f"127.0.0.1:{free_port()}", state=first.state)
    after = kept_counters(second.get("/metrics"))
    assert all(after.get(series, -1) >= number for series, number in most.items()), (most, after)
    # What was kept of the window is what is counted of it: one transaction has both.
    salvaged = report_of(second.ctl("report", "w1", "--format", "json"))
    assert after[checked] == bytes_of(salvaged), (after[checked], salvaged["inefficiency"])
    # And from there on it grows by what comes.
    again = report_of(second.ctl("attach", str(target.pid), "--duration", "2s", "--format", "json"))
    wait_until(lambda: kept_counters(second.get("/metrics"))['jxperf_windows_total{app="SilentStore"}'] == 1, "the end")
    assert kept_counters(second.get("/metrics"))[checked] == bytes_of(salvaged) + bytes_of(again)
    assert "salvaged" in succeeded(second.ctl("windows"))


run()
