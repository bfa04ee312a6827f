#!/usr/bin/env python3
"""A target of evidence: a real daemon's probabilities follow from the windows that its store has of the day before."""
# Takes half a place: it waits most of the time (epochs of ten seconds).
import datetime
import json
import os
import time

from lib import Process, jdks, run, test, wait_until
from support.clock import SteppedClock
from support.profile import NO_GUARDS, Daemon, succeeded
from support.summing import summing

EVERY_S, WINDOW_S, DAY_S = 10, 2, 86400
# At a probability of a fourth it takes some epochs.
SOON_S = 10 + 20 * EVERY_S

TEAM = f"evidence{os.getpid()}"


# Numbers of reports have nine digits.
DIGITS = 1e-7


def config(said):
    return (f"host-budget: 90%\nenvironment: [TEAM]\n{NO_GUARDS}\n"
            f"apps: [{{match: {{environment: [TEAM={TEAM}]}}, app: loads}}]\n"
            f"schedules: [{{name: enough, match: {{app: loads}}, {said}, every: {EVERY_S}s, window: {WINDOW_S}s, warm-up: 1s,\n"
            f"             kinds: [silent-load], budget: 30%}}]\n")


class Host:
    def __init__(self):
        self.clock = SteppedClock()
        now = datetime.datetime.now(datetime.timezone.utc)
        # So it is noon, whatever time it is: days begin and end in no test.
        self.noon_s = 12 * 3600 - (now - now.replace(hour=0, minute=0, second=0, microsecond=0)).seconds
        self.today = int(time.time() + self.noon_s) // DAY_S
        self.clock.set(self.noon_s)
        self.config = config("jitter: 1%")
        self.jvm = Process([jdks()[-1].java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", summing("Loads", rest_ms=20), "Loads"],
                           env={**os.environ, "TEAM": TEAM})
        self.jvm.wait_for("up")
        self.daemon = self.start()
        self.target = 0

    def start(self, state=None):
        return Daemon(state=state, prefix=self.clock.prefix, http="127.0.0.1:0", config=self.config)

    def configure(self, said):
        self.config = config(said)
        self.daemon.configure(self.config)

    def set_day(self, number):
        """It is noon of that day from now."""
        self.clock.set(self.noon_s + number * DAY_S)

    def listed(self):
        return json.loads(succeeded(self.daemon.ctl("--json", "windows")))

    def windows(self, day):
        """Those of that day from now, oldest first."""
        return [w for w in self.listed() if int(w["started_unix_s"]) // DAY_S == self.today + day]

    def wait_for_windows(self, day, count):
        return wait_until(lambda: (lambda found: len(found) >= count and found)([w for w in self.windows(day) if w["state"] == "done"]),
                          f"{count} windows of day {day}", SOON_S)

    def pause(self):
        """No window runs, and none begins, until it is resumed."""
        succeeded(self.daemon.ctl("pause"))
        wait_until(lambda: not [w for w in self.listed() if w["state"] in ("attaching", "running")], "the end of windows", SOON_S)

    def weight(self, window):
        return json.loads(succeeded(self.daemon.ctl("report", window["id"], "--format", "json")))["window"]["weight_s"]

    def assert_weight(self, window, probability):
        """In the nine digits that a report has."""
        weight = self.weight(window)
        assert f"{weight:.9g}" == f"{EVERY_S / probability:.9g}", (window, weight, probability)

    def tuned(self, day, before):
        """The probability of the day after one, by its windows, which were as probable as that."""
        windows = self.windows(day)
        for window in windows:
            self.assert_weight(window, before)
        estimate = sum(w["pairs"] / before for w in windows)
        return min(1, max(before / 4, min(before * 4, self.target / estimate)))

    def probability(self):
        row = next((j for j in json.loads(succeeded(self.daemon.ctl("--json", "list"))) if j["pid"] == self.jvm.pid), None)
        return row and row["probability"]

    def wait_for_probability(self, expected):
        wait_until(lambda: abs((self.probability() or 0) / expected - 1) < DIGITS, f"a probability of {expected}", SOON_S)
        metric = self.daemon.metric("jxperf_schedule_probability", schedule="enough")
        assert abs(metric / expected - 1) < 1e-4, (metric, expected)


host = Host()
known = {}


@test
def what_a_period_brought_says_how_probable_windows_are_the_next_day():
    windows = host.wait_for_windows(0, 3)
    assert all(w["pairs"] > 0 for w in windows), windows
    assert host.probability() is None and "jxperf_schedule_probability" not in host.daemon.get("/metrics")
    host.pause()
    host.target = sum(w["pairs"] for w in host.windows(0)) * 2 // 3
    host.configure(f"pairs-per-day: {host.target}")
    succeeded(host.daemon.ctl("reload"))
    host.wait_for_probability(0.1)  # Of an application without a day of windows.
    host.set_day(1)
    known["probability"] = host.tuned(0, 1)
    assert abs(known["probability"] - 2 / 3) < 0.01, known
    host.wait_for_probability(known["probability"])
    assert f"enough ({100 * known['probability']:.3g}%)" in succeeded(host.daemon.ctl("list"))


@test
def windows_stand_for_more_as_they_are_rarer():
    succeeded(host.daemon.ctl("resume"))
    for window in host.wait_for_windows(1, 2):
        host.assert_weight(window, known["probability"])


@test
def a_restart_changes_nothing():
    host.pause()
    host.daemon.stop()
    host.daemon = host.start(host.daemon.state)
    host.wait_for_probability(known["probability"])
    assert host.daemon.metric("jxperf_schedule_evidence_missing") == 0


@test
def on_the_next_day_it_is_the_target_over_the_estimate():
    host.set_day(2)
    host.wait_for_probability(host.tuned(1, known["probability"]))


run()
