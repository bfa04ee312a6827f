#!/usr/bin/env python3
"""Names by rules: without a schedule, from a JVM's first moments on, and after the rules were read anew."""
# Takes half a place: it waits most of the time (windows of a second).
import json
import os
import signal

from lib import Process, jdks, make_directory, run, test, wait_until
from support.profile import Daemon, classes, report_of, succeeded

TEAM = f"rules{os.getpid()}"


def rules(name):
    return (f"environment: [TEAM, VERSION]\napps:\n  - match: {{environment: [TEAM={TEAM}]}}\n    app: {name}\n"
            "    version: \"{env:VERSION}\"\n")


def start(**environment):
    """A JVM that nobody waits for."""
    return Process([jdks()[0].java, "-Xmx64m", "-cp", classes(), "SilentLoad"], env={**os.environ, "TEAM": TEAM, **environment})


config = os.path.join(make_directory(), "jxperfd.yaml")
with open(config, "w") as file:
    file.write(rules("hidden"))
daemon = Daemon(http="127.0.0.1:0", options=["--config", config])


def window_of(target, *options):
    def attached():
        return daemon.ctl("attach", str(target.pid), "--duration", "1s", "--format", "json", *options)

    # In its very first moments there is no JVM to attach to yet.
    result = wait_until(lambda: (r := attached()).returncode == 0 and r, "a window")
    return report_of(result)["window"]


def app_of(target):
    return window_of(target)["app"]


@test
def a_window_in_a_jvms_first_moments_has_the_rules_name():
    for _ in range(3):
        assert app_of(start()) == "hidden"


@test
def a_window_keeps_the_version_that_the_rule_gives():
    window = window_of(start(VERSION="1.2+build 7"))
    assert window["app"] == "hidden" and window["version"] == "1.2_build_7", window
    assert window_of(start())["version"] == ""
    listed = {w["id"]: w["version"] for w in json.loads(succeeded(daemon.ctl("--json", "windows", "--app", "hidden")))}
    assert listed[window["id"]] == "1.2_build_7", listed
    assert json.loads(succeeded(daemon.ctl("report", window["id"], "--format", "json")))["window"]["version"] == "1.2_build_7"


@test
def list_shows_it_without_schedules():
    target = start()
    wait_until(lambda: [j["app"] for j in json.loads(succeeded(daemon.ctl("--json", "list"))) if j["pid"] == target.pid] == ["hidden"],
               "its name in the list")


@test
def it_holds_as_soon_as_the_rules_are_read_anew():
    target = start()
    assert app_of(target) == "hidden"
    with open(config, "w") as file:
        file.write(rules("renamed"))
    succeeded(daemon.ctl("reload"))
    assert app_of(target) == "renamed"


@test
def windows_begun_at_once_are_all_named():
    """More than the broker has inspectors: their questions wait for each other."""
    targets = [start() for _ in range(5)]
    for target in targets:
        app_of(target)  # Its agent is there from now on, so they all come at the same time.
    attaches = [daemon.start_ctl("attach", str(target.pid), "--duration", "1s", "--format", "json") for target in targets]
    assert [report_of(attach.finish())["window"]["app"] for attach in attaches] == ["renamed"] * len(targets)


@test
def what_a_rule_hides_is_nowhere():
    assert "SilentLoad" not in daemon.get("/metrics")
    assert "SilentLoad" not in json.dumps([w["app"] for w in json.loads(succeeded(daemon.ctl("--json", "windows")))])
    assert 'app="hidden"' in daemon.get("/metrics") and 'app="renamed"' in daemon.get("/metrics")


@test
def a_jvm_that_nobody_could_look_at_has_no_name_of_its_own():
    """It is killed as soon as its window begins."""
    target = start()
    app_of(target)
    attach = daemon.start_attach(target.pid)
    os.kill(target.pid, signal.SIGKILL)
    attach.finish()
    assert {w["app"] for w in json.loads(succeeded(daemon.ctl("--json", "windows")))} <= {"hidden", "renamed", "unknown", ""}


run()
