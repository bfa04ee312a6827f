#!/usr/bin/env python3
"""Completion of jxperfctl in bash."""
import os
import re
import subprocess

from lib import HANG_S, ROOT, jdks, run, test
from support.profile import CLIENT, Daemon, Workload, succeeded

MANUAL = os.path.join(ROOT, "docs/man/jxperfctl.1")
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
    assert complete("--json", "fleet-p") == ["fleet-plan"]
    assert complete("--socket", "/nonexistent/socket", "de") == ["detach"]


def commands():
    return [c for c in re.findall(r"^  ([a-z][a-z-]*) ", usage(), re.M) if c != "help"]


@test
def every_command_of_the_help_is_offered_and_described():
    with open(MANUAL, encoding="utf-8") as file:
        described = file.read().replace("\\-", "-").partition(".SH COMMANDS")[2].partition(".SH OPTIONS")[0]
    assert len(commands()) > 8 and set(complete("")) == {*commands(), "help"}, (commands(), complete(""))
    headings = re.findall(r"^\.TP\n\.BR? ([a-z-]+)", described, re.M)
    assert set(headings) == set(commands()), set(headings) ^ set(commands())


@test
def the_manual_describes_the_options_of_each_command():
    """The manual says more of an option than help does, and is prose; the table says which there are."""
    with open(MANUAL, encoding="utf-8") as file:
        options = file.read().replace("\\-", "-").partition(".SH OPTIONS")[2].partition(".SH EXIT STATUS")[0]
    general, *sections = re.split(r"^\.SS Of (.*)\n", options, flags=re.M)
    described = {command: set() for command in commands()}
    for heading, text in zip(sections[::2], sections[1::2]):
        for command in re.split(", | and ", heading):
            described[command] |= tagged(text)
    everywhere = set(complete("-"))
    for command in commands():
        offered = set(complete(command, "-")) - everywhere - {"-o"}
        assert described[command] == offered, (command, described[command] ^ offered)
    assert tagged(general) | {"--help", "-h", "-V"} == everywhere, general


def tagged(text):
    """The long options that paragraphs of the manual begin with."""
    return {option for line in re.findall(r"^\.TP\n(.*)", text, re.M) for option in re.findall(r"--[a-z-]+", line)}


@test
def options_are_those_of_the_command():
    assert complete("attach", "--ba") == ["--background", "--baseline"]
    assert complete("report", "--ba") == ["--baseline"]
    assert complete("report", "--back") == []
    assert complete("attach", "42", "--format", "j") == ["json"]
    assert complete("diff", "--format", "") == ["html", "json", "text"]
    assert complete("subsume", "--format", "") == ["collapsed", "jfr", "pprof"]
    assert complete("attach", "42", "--duration", "") == [] and complete("nothing", "") == []
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
