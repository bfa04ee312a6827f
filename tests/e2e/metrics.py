"""What Prometheus scrapes: checked by its own promtool where that is installed, and against the report."""
import json
import os
import shutil
import socket
import subprocess
import urllib.request

from lib import BUILD, HANG_S, Process, compile_java, jdks, make_directory, run, skip, test, wait_until

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
DAEMON = os.path.join(BUILD, "bin/jxperfd")

SUMMING = """
public class Summing {
    static volatile int sink;
    static int sum(int[] a) { int s = 0; for (int i = 0; i < a.length; i++) s += a[i]; return s; }
    public static void main(String[] args) {
        int[] a = new int[4096];
        System.out.println("up");
        while (true) sink = sum(a);
    }
}
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Scraped:
    """A daemon that has seen one window."""

    def __init__(self):
        self.address = f"127.0.0.1:{free_port()}"
        self.socket = os.path.join(make_directory(), "control.sock")
        self.daemon = Process([DAEMON, "--socket", self.socket, "--http", self.address])
        self.daemon.wait_for("ready")
        jvm = Process([jdks()[0].java, "-cp", compile_java({"Summing.java": SUMMING}), "Summing"])
        jvm.wait_for("up")
        self.report = json.loads(self.ctl("attach", str(jvm.pid), "--duration", "3s", "--kinds", "silent-load",
                                          "--format", "json"))
        jvm.stop()

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
    promtool = shutil.which("promtool")
    if not promtool:
        skip("promtool (Debian package prometheus) is not installed")
    checked = subprocess.run([promtool, "check", "metrics"], input=scraped().get("/metrics"),
                             capture_output=True, text=True, check=False)
    assert checked.returncode == 0 and not checked.stderr, checked.stderr


@test
def openmetrics_is_given_when_asked_for():
    text = scraped().get("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert text.endswith("# EOF\n"), text[-80:]


@test
def health_and_readiness_are_answered():
    wait_until(lambda: scraped().get("/-/ready"), "readiness", 5)
    assert scraped().get("/-/healthy")


run()
