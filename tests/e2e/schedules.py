"""Schedules that run: a real daemon finds JVMs by itself, profiles those that match, and leaves the others alone."""
# Takes half a place: it waits most of the time (epochs of ten seconds).
import json
import os
import signal

from lib import Process, jdks, note, run, test, wait_until
from support.profile import NO_GUARDS, Daemon, succeeded
from support.summing import summing

EVERY_S, WINDOW_S = 10, 2
# A round, an epoch in which it is found too late, one in which it has its window, and room: one window runs at a time,
# and where windows take twice their length to begin and end, one of three JVMs misses its window in every other epoch.
SOON_S = 10 + 8 * EVERY_S + WINDOW_S + 20

# JVMs of another run of this test are not meant.
TEAM = f"web{os.getpid()}"

CONFIG = f"""
host-budget: 90%
windows-at-once: 1
environment: [TEAM]
apps:
  - match: {{main-class: org.shop.*, environment: [TEAM={TEAM}]}}
    app: webshop
{NO_GUARDS}
schedules:
  - name: often
    match: {{app: webshop}}
    every: {EVERY_S}s
    window: {WINDOW_S}s
    warm-up: 1s
    kinds: [silent-load]
    budget: 30%
    failures: 3
"""


class Host:
    """Two JVMs that match and one that does not, and the daemon."""

    def __init__(self):
        self.classes = summing("org.shop.Server", rest_ms=50)
        self.shops = [self.jvm(TEAM), self.jvm(TEAM)]
        self.other = self.jvm("back")
        self.daemon = Daemon(http="127.0.0.1:0", config=CONFIG, state="none")
        self.most = 0  # windows that ran at a time
        self.late = None

    def jvm(self, team):
        jvm = Process([jdks()[-1].java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", self.classes, "org.shop.Server"],
                      env={**os.environ, "TEAM": team})
        jvm.wait_for("up")
        return jvm

    def ctl(self, *arguments):
        return succeeded(self.daemon.ctl(*arguments))

    def windows(self, pid):
        """Ended ones of that JVM; notes how many run at the same time."""
        listed = json.loads(self.ctl("--json", "windows"))
        self.most = max(self.most, sum(w["state"] in ("attaching", "running") for w in listed))
        return [w for w in listed if w["pid"] == pid and w["state"] not in ("attaching", "running")]

    def wait_for_running(self):
        """A window that has begun just now."""
        def find():
            listed = json.loads(self.ctl("--json", "windows"))
            return next((w for w in listed if w["state"] == "running"), None)

        return wait_until(find, "a window that runs", SOON_S)

    def wait_for_window(self, jvm, count=1):
        return wait_until(lambda: (lambda w: w if len(w) >= count else None)(self.windows(jvm.pid)),
                          f"{count} windows of {jvm.pid}", SOON_S)

    def row(self, pid):
        return next((j for j in json.loads(self.ctl("--json", "list")) if j["pid"] == pid), None)

    def metrics(self):
        return self.daemon.get("/metrics")

    def metric(self, name, **labels):
        return self.daemon.metric(name, **labels)


_host = []


def host():
    if not _host:
        _host.append(Host())
    return _host[0]


@test
def every_jvm_that_matches_has_its_window():
    h = host()
    for jvm in h.shops:
        window = h.wait_for_window(jvm)[0]
        assert window["state"] == "done", window
        assert window["app"] == "webshop", window
    # One that starts now is found, in a test below.
    h.late = h.jvm(TEAM)


@test
def its_report_says_what_it_stands_for():
    h = host()
    window = json.loads(h.ctl("report", h.windows(h.shops[0].pid)[0]["id"], "--format", "json"))["window"]
    assert window["schedule"] == "often", window
    assert window["epoch"] > 0
    assert window["weight_s"] == EVERY_S, window
    assert window["requested_duration_s"] == WINDOW_S


@test
def metrics_have_its_fraction_under_the_name_of_the_rule():
    h = host()
    ratio = h.metric("jxperf_window_inefficiency_ratio", app="webshop", kind="silent_load")
    assert ratio is not None and ratio > 0.5, ratio
    assert h.metric("jxperf_schedule_windows_total", schedule="often", outcome="ran") >= 2, h.metrics()
    assert h.metric("jxperf_schedule_stopped", schedule="often") == 0


@test
def list_shows_it():
    h = host()
    row = h.row(h.shops[0].pid)
    assert row["app"] == "webshop", row
    assert row["last_window"].startswith("w"), row
    wait_until(lambda: h.row(h.shops[0].pid)["schedule"] == "often", "the next window", SOON_S)
    table = h.ctl("list").splitlines()
    assert "SCHEDULE" in table[0] and "NEXT WINDOW" in table[0], table[0]


@test
def a_jvm_that_starts_later_is_found():
    h = host()
    assert h.wait_for_window(h.late)[0]["app"] == "webshop"


@test
def a_jvm_that_does_not_match_is_left_alone():
    h = host()
    row = h.row(h.other.pid)
    assert row["app"] == "Server" and row["schedule"] == "" and row["last_window"] == "", row
    assert row["next_window"] is None, row
    assert not h.windows(h.other.pid)


@test
def a_person_has_a_window_in_place_of_a_scheduled_one():
    h = host()
    running = h.wait_for_running()
    report = json.loads(h.ctl("attach", str(running["pid"]), "--duration", "1s", "--kinds", "silent-load",
                              "--format", "json"))["window"]
    assert "schedule" not in report and report["state"] == "done", report
    gone = next(w for w in json.loads(h.ctl("--json", "windows")) if w["id"] == running["id"])
    assert gone["state"] == "ended early", gone


@test
def a_jvm_that_is_killed_leaves_no_trace():
    h = host()
    pid = h.late.pid
    count = len(h.windows(pid))
    os.kill(pid, signal.SIGKILL)
    h.late.child.wait()
    assert h.row(pid) is None
    h.wait_for_window(h.shops[0], len(h.windows(h.shops[0].pid)) + 1)
    assert len(h.windows(pid)) <= count + 1
    assert h.metric("jxperf_schedule_windows_total", schedule="often", outcome="failed") == 0, h.metrics()
    assert h.metric("jxperf_schedule_stopped", schedule="often") == 0


@test
def limits_were_kept():
    h = host()
    assert h.most == 1, h.most
    log = h.daemon.output()
    begun = log.count("schedule 'often': window ")
    note(f"{begun} windows in all")
    # A window may have been due in the JVM that was killed before the daemon looked again.
    warnings = [line for line in log.splitlines() if "warning" in line and str(h.late.pid) not in line]
    assert warnings == [], warnings


@test
def a_configuration_that_is_read_anew_is_in_force_at_once():
    h = host()
    h.daemon.configure(CONFIG.replace("webshop", "shop"))
    h.ctl("reload")
    wait_until(lambda: h.row(h.shops[0].pid)["app"] == "shop", "the new name", SOON_S)
    h.daemon.configure("schedules: []\n")
    h.ctl("reload")
    assert "SCHEDULE" not in h.ctl("list").splitlines()[0]
    assert "jxperf_schedule" not in h.metrics()


run()
