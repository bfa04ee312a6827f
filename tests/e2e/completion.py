#!/usr/bin/env python3
"""Completion of jxperfctl in bash."""
import os
import re
import subprocess

from lib import HANG_S, ROOT, jdks, run, test
from support.profile import CLIENT, Daemon, Workload, succeeded

SCRIPT = os.path.join(ROOT, "client/jxperfctl.bash-completion")

# Sources the file, completes the last of the words, and prints what is offered.
COMPLETE = """
source "$1" || exit 1
complete -p jxperfctl >/dev/null || exit 1
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_jxperfctl 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(*words):
    """What is offered for the last word, behind jxperfctl."""
    result = subprocess.run(["bash", "-c", COMPLETE, "bash", SCRIPT, CLIENT, *words], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=HANG_S, check=True)
    assert result.stderr == "", result.stderr
    return sorted(result.stdout.split())


def usage():
    return subprocess.run([CLIENT, "--help"], capture_output=True, text=True, check=True).stdout


@test
def commands_are_completed():
    assert complete("at") == ["attach"]
    assert complete("w") == ["wait", "windows"]
    assert complete("--json", "fl") == ["fleet-plan"]
    assert complete("--socket", "/nonexistent/socket", "de") == ["detach"]


@test
def every_command_and_option_of_the_help_is_offered():
    commands = re.findall(r"^  ([a-z][a-z-]*) ", usage(), re.M)
    assert len(commands) > 8 and set(complete("")) == {*commands, "help"}, (commands, complete(""))
    options = set(re.findall(r"^  (--[a-z-]+|-o)\b", usage(), re.M))
    offered = set().union(*(complete(*command, "-") for command in ([], *([c] for c in commands))))
    assert options <= offered, options - offered


@test
def options_are_those_of_the_command():
    assert complete("attach", "--ba") == ["--background", "--baseline"]
    assert complete("report", "--ba") == ["--baseline"]
    assert complete("report", "--back") == []
    assert complete("attach", "42", "--format", "j") == ["json"]
    assert complete("attach", "42", "--sampler", "") == ["auto", "clock", "ibs", "pebs"]
    assert complete("attach", "--kinds", "dead-store,silent-") == ["dead-store,silent-load", "dead-store,silent-store"]


@test
def without_a_daemon_nothing_is_started_for_a_completion():
    assert complete("--socket", "/nonexistent/socket", "attach", "") == []
    assert complete("--socket", "/nonexistent/socket", "report", "") == []


@test
def windows_and_jvms_are_the_daemons():
    daemon, jvm = Daemon(), Workload(jdks()[0], "SilentStore")
    window = succeeded(daemon.ctl("attach", str(jvm.pid), "--duration", "60s", "--background")).strip()
    at = ("--socket", daemon.socket)
    assert complete(*at, "report", "") == [window] and complete(*at, "wait", "") == [window]
    assert str(jvm.pid) in complete(*at, "attach", "")
    assert complete(*at, "detach", "") == [str(jvm.pid)]
    succeeded(daemon.ctl("detach", str(jvm.pid)))
    daemon.ctl("wait", window)
    assert complete(*at, "detach", "") == [] and complete(*at, "report", "") == [window]


run()
