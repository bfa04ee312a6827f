"""Versions side by side: JVMs that have the agent of the last release, or of one to come, under today's daemon."""
# Takes half a place: it waits most of the time.
import json
import os
import re
import shutil
import subprocess

from lib import BUILD, ROOT, jdks, made_once, make_directory, note, run, skip, test, wait_until
from support.profile import Daemon, Workload, assert_quality, report_of, succeeded, the_one_kind

OURS = os.path.join(BUILD, "lib/jxperf")
RELEASED = os.path.join(BUILD, "tests/agents/released")
FUTURE = os.path.join(BUILD, "tests/agents/future")
LIBRARY = "libjxperf-agent.so"

# The agent of the last release does not say which one it is.
UNTOLD = "0.2.0 or older"
FUTURE_VERSION = "99.0.0"

OFTEN = ("--kinds", "silent-load", "--budget", "10%", "--period", "2ms")
LEAST_TRAPS, WASTEFUL_LEAST = 100, 0.90

# JVMs of other tests are not meant.
TEAM = f"upgrade{os.getpid()}"
IN_TEAM = ("env", f"TEAM={TEAM}")

SCHEDULED = """
host-budget: 90%%
environment: [TEAM]
guards: {cpu-pressure: off, memory-pressure: off, io-pressure: off, load: off, collector: off}
schedules:
  - name: often
    match: {environment: [TEAM=%(team)s]}
    every: 10s
    window: 1s
    warm-up: 1s
    kinds: [silent-load]
    budget: 30%%
""" % {"team": TEAM}
SCHEDULED_WITHIN_S = 90


def install(directory, agent):
    """Replaces a bundle's files, as an upgrade does: those that are mapped stay as they are."""
    os.makedirs(directory, exist_ok=True)
    for source, names in ((OURS, ["jxperf-attach"]), (agent, [n for n in os.listdir(agent) if ".so" in n])):
        for name in names:
            new = os.path.join(directory, name + ".new")
            shutil.copy(os.path.join(source, name), new)
            os.rename(new, os.path.join(directory, name))


class Upgraded:
    """A JVM whose agent another daemon has loaded, and today's daemon over the same bundle."""

    def __init__(self, agent, config=""):
        self.directory = make_directory()
        self.bundle = os.path.join(self.directory, "bundle")
        install(self.bundle, agent)
        self.jvm = Workload(jdks()[0], "SilentLoad", prefix=IN_TEAM)
        before = Daemon(options=("--bundle", self.bundle))
        self.first = before.ctl("attach", str(self.jvm.pid), "--duration", "1s", "--format", "json", *OFTEN)
        self.windows_before = json.loads(succeeded(before.ctl("--json", "windows")))
        self.failures_before = json.loads(succeeded(before.ctl("--json", "status")))["attach_failures"]
        before.stop()
        install(self.bundle, OURS)
        options = ["--bundle", self.bundle]
        if config:
            path = os.path.join(self.directory, "jxperfd.yaml")
            with open(path, "w", encoding="utf-8") as f:
                f.write(config)
            options += ["--config", path]
        self.daemon = Daemon(http="127.0.0.1:0", options=options)

    def row(self):
        return next(j for j in json.loads(succeeded(self.daemon.ctl("--json", "list"))) if j["pid"] == self.jvm.pid)

    def check(self):
        """What check says of the agent: its result and words."""
        items = json.loads(self.daemon.ctl("--json", "check", str(self.jvm.pid)).stdout)
        items = items["items"] if isinstance(items, dict) else items
        return next((i["result"], i["detail"]) for i in items if i["name"] == "loaded agent")

    def stop(self):
        self.daemon.stop()
        self.jvm.stop()


@made_once
def from_release():
    if not os.path.exists(os.path.join(RELEASED, LIBRARY)):
        skip("the history has no commit of the last release to build its agent from")
    return Upgraded(RELEASED)


@made_once
def from_future():
    return Upgraded(FUTURE, SCHEDULED)


@test
def a_daemon_whose_files_are_replaced_goes_on_with_the_programs_that_it_was_started_with():
    directory = make_directory()
    for name in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, name), os.path.join(directory, name))
    program, child = (os.path.join(directory, p) for p in ("bin/jxperfd", "lib/jxperf/jxperf-child"))
    daemon = Daemon(prefix=("sh", "-c", 'shift; exec "$0" "$@"', program))
    jvm = Workload(jdks()[0], "SilentLoad")
    shutil.copy("/bin/false", child + ".new")
    os.rename(child + ".new", child)
    report = report_of(daemon.ctl("attach", str(jvm.pid), "--duration", "1s", "--format", "json", *OFTEN))
    assert report["quality"]["side_effects"]["available"], report["quality"]["side_effects"]
    os.remove(child)
    assert any(j["pid"] == jvm.pid for j in json.loads(succeeded(daemon.ctl("--json", "list"))))
    daemon.stop()
    jvm.stop()
    refused = subprocess.run([program, "--socket", os.path.join(directory, "socket"), "--http", "none", "--state-dir", "none"],
                             capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 1 and "jxperf-child" in refused.stderr and "reinstall jxperf" in refused.stderr, refused


@test
def an_agent_of_the_release_before_gives_windows_with_right_numbers():
    host = from_release()
    report_of(host.first)
    report = host.daemon.attach(host.jvm.pid, *OFTEN, cpu_s=1.5)
    found = the_one_kind(report)
    note(f"fraction {found['fraction']:.4f}, {report['quality']['traps']} pairs")
    assert_quality(report, LEAST_TRAPS)
    assert found["fraction"] > WASTEFUL_LEAST, found["fraction"]
    assert report["window"]["agent_version"] == UNTOLD, report["window"]


@test
def a_jvm_with_the_agent_of_the_release_before_is_told_from_others():
    host = from_release()
    row = host.row()
    assert row["state"] == "attachable" and row["agent_version"] == UNTOLD and not row["agent_is_own"], row
    result, words = host.check()
    assert result == "warning" and UNTOLD in words and "restart the JVM" in words, (result, words)
    assert f"attachable, agent {UNTOLD}" in succeeded(host.daemon.ctl("list"))


@test
def a_jvm_with_the_daemons_own_agent_says_so():
    host = from_release()
    jvm = Workload(jdks()[0], "SilentLoad")
    assert next(j for j in json.loads(succeeded(host.daemon.ctl("--json", "list"))) if j["pid"] == jvm.pid)["agent_version"] == ""
    report = report_of(host.daemon.ctl("attach", str(jvm.pid), "--duration", "1s", "--format", "json", *OFTEN))
    version = json.loads(succeeded(host.daemon.ctl("--json", "status")))["version"]
    assert report["window"]["agent_version"] == version, report["window"]
    row = next(j for j in json.loads(succeeded(host.daemon.ctl("--json", "list"))) if j["pid"] == jvm.pid)
    assert row["agent_version"] == version and row["agent_is_own"], row
    text = succeeded(host.daemon.ctl("report", report["window"]["id"], "--view", "quality"))
    assert f"agent of jxperf {version}\n" in text, text
    jvm.stop()


@test
def a_handshake_that_is_refused_is_no_window():
    host = from_future()
    assert host.first.returncode == 1, host.first
    assert "speaks protocol 1000" in host.first.stderr and "restart the JVM" in host.first.stderr, host.first.stderr
    assert host.windows_before == [], host.windows_before
    assert host.failures_before == 1, host.failures_before


@test
def a_jvm_with_an_agent_that_is_not_spoken_with_is_told_beforehand():
    host = from_future()
    row = host.row()
    assert row["state"] == "another agent" and row["agent_version"] == FUTURE_VERSION, row
    result, words = host.check()
    assert result == "failed" and FUTURE_VERSION in words and "restart the JVM" in words, (result, words)
    refused = host.daemon.ctl("attach", str(host.jvm.pid), "--duration", "1s")
    assert refused.returncode == 1 and FUTURE_VERSION in refused.stderr, refused
    assert refused.stderr.count("\n") == 1, refused.stderr


@test
def what_install_puts_there_uninstall_takes_away():
    into = make_directory()
    for target in ("install", "uninstall"):
        done = subprocess.run(["make", "-s", target, f"DESTDIR={into}", f"B={BUILD}"], cwd=ROOT, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        left = [os.path.join(path, n) for path, _, names in os.walk(into) for n in names]
        assert target == "uninstall" or len(left) > 20, left
    assert [os.path.relpath(path, into) for path in left] == ["etc/jxperf/jxperfd.yaml"], left


@test
def a_schedule_skips_it_and_goes_on_in_others():
    host = from_future()
    other = Workload(jdks()[0], "SilentLoad", prefix=IN_TEAM)

    def windows(pid=other.pid):
        listed = json.loads(succeeded(host.daemon.ctl("--json", "windows")))
        return [w for w in listed if w["pid"] == pid and w["state"] not in ("attaching", "running")]

    def skipped():
        return 'jxperf_schedule_missed_total{schedule="often",reason="protocol"} 0\n' not in host.daemon.get("/metrics")

    wait_until(windows, "a window of the schedule", SCHEDULED_WITHIN_S)
    wait_until(skipped, "a miss", SCHEDULED_WITHIN_S)
    assert not windows(host.jvm.pid), windows(host.jvm.pid)
    assert windows()[0]["state"] == "done", windows()
    metrics = host.daemon.get("/metrics")
    # One line of the log for each scheduled window, at its end, and none of its beginning.
    window = windows()[0]["id"]
    lines = [line for line in host.daemon.output().splitlines() if f"window={window} " in line or f"window {window}:" in line]
    assert len(lines) == 1 and re.fullmatch(
        rf'jxperfd: audit: action=end schedule=often app=SilentLoad pid={other.pid} window={window} outcome=done '
        r'duration-ms=\d+ overhead-ms=\d+ findings="silent-load \d+%"', lines[0]), lines
    assert f'jxperf_agents{{version="{FUTURE_VERSION}"}} 1\n' in metrics, metrics
    assert 'jxperf_schedule_missed_total{schedule="often",reason="protocol"}' in metrics, metrics
    assert 'jxperf_jvms{state="refused",reason="protocol"} 1\n' in metrics, metrics
    other.stop()


run()
