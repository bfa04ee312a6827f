#!/usr/bin/env python3
"""Windows without a terminal: attach --background, wait, and clients and terminals that are lost meanwhile."""
import functools
import json
import os
import pty
import signal
import subprocess
import time

from lib import BUILD, HANG_S, Process, Stopwatch, make_directory, run, test, wait_until
from support.storer import Storer

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
DAEMON = os.path.join(BUILD, "bin/jxperfd")

DONE, FAILED, USAGE, EARLY, TARGET_ENDED = range(5)


class Daemon(Process):
    def __init__(self):
        self.socket = os.path.join(make_directory(), "control.sock")
        super().__init__([DAEMON, "--socket", self.socket, "--http", "none", "--state-dir", "none"], start_new_session=True)
        self.wait_for("ready")

    def command(self, *arguments):
        return [CLIENT, "--socket", self.socket, *arguments]

    def ask(self, *arguments):
        return subprocess.run(self.command(*arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=HANG_S, check=False)

    def start(self, *arguments):
        return subprocess.Popen(self.command(*arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def attach(self, storer, duration="60s"):
        """A window in the background; its id."""
        result = self.ask("attach", str(storer.pid), "--duration", duration, "--background")
        assert result.returncode == DONE and result.stderr == "", result
        return result.stdout.rstrip("\n")

    def window(self, window):
        """What `windows` says of it; nothing when it is not there."""
        windows = json.loads(self.ask("--json", "windows").stdout)
        return next((w for w in windows if w["id"] == window), {})

    def state(self, window):
        return self.window(window).get("state")

    def end(self, storer, window):
        assert self.ask("detach", str(storer.pid)).returncode == DONE
        assert self.ask("wait", window).returncode == EARLY


@functools.lru_cache(maxsize=None)
def the_daemon():
    return Daemon()


@functools.lru_cache(maxsize=None)
def the_storer():
    """One JVM for all tests: each has to leave it as it was."""
    return Storer()


def expect_line(result, status, words):
    """No output, one line on stderr that says words, and that exit status."""
    assert result.returncode == status and result.stdout == "", result
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("jxperfctl: ") and words in result.stderr, result


def finish(client):
    out, errors = client.communicate(timeout=HANG_S)
    return subprocess.CompletedProcess(client.args, client.returncode, out, errors)


# ---------------------------------------------------------------- attach


@test
def an_attach_in_the_background_says_the_windows_id_when_it_has_begun():
    daemon, storer = the_daemon(), the_storer()
    with Stopwatch() as watch:
        result = daemon.ask("--json", "attach", str(storer.pid), "--duration", "60s", "--background")
    assert result.returncode == DONE and result.stderr == "", result
    window = json.loads(result.stdout)["window"]
    assert json.loads(result.stdout) == {"window": window} and window.startswith("w"), result.stdout
    assert watch.seconds < 10, watch.seconds
    assert daemon.state(window) == "running"
    daemon.end(storer, window)


@test
def it_runs_to_its_end_and_its_report_is_there():
    daemon, storer = the_daemon(), the_storer()
    window = daemon.attach(storer, "1s")
    result = daemon.ask("wait", window)
    assert (result.returncode, result.stdout, result.stderr) == (DONE, "", ""), result
    report = json.loads(daemon.ask("report", window, "--format", "json").stdout)
    assert report["window"]["id"] == window and not report["window"]["ended_early"]


@test
def a_failure_is_told_as_attach_would():
    daemon, storer = the_daemon(), the_storer()
    expect_line(daemon.ask("attach", "--background", str(os.getpid())), FAILED, "")
    expect_line(daemon.ask("attach", "--background", "--duration", "x", str(storer.pid)), USAGE, "x")
    window = daemon.attach(storer)
    expect_line(daemon.ask("attach", "--background", str(storer.pid)), FAILED, "already being profiled")
    daemon.end(storer, window)


@test
def it_needs_a_daemon_and_starts_none():
    nowhere = os.path.join(make_directory(), "none.sock")
    result = subprocess.run([CLIENT, "--socket", nowhere, "attach", "--background", str(the_storer().pid)],
                            capture_output=True, text=True, timeout=HANG_S, check=False)
    expect_line(result, FAILED, "--background needs a running daemon")


@test
def options_of_a_report_make_no_sense():
    for option, value in (("-o", "/dev/null"), ("--format", "json"), ("--pairs", "3")):
        result = the_daemon().ask("attach", "--background", option, value, str(the_storer().pid))
        expect_line(result, USAGE, f"{option} makes no sense with --background")


# ---------------------------------------------------------------- clients that are lost


@test
def a_client_that_is_killed_before_the_start_ends_nothing():
    daemon, storer = the_daemon(), the_storer()
    known = {w["id"] for w in json.loads(daemon.ask("--json", "windows").stdout)}
    client = daemon.start("attach", str(storer.pid), "--duration", "60s", "--background")

    def begun():
        running = json.loads(daemon.ask("--json", "status").stdout)["running"]
        return next((w["id"] for w in running if w["id"] not in known), None)

    window = wait_until(begun, "the new window")
    client.kill()
    finish(client)
    wait_until(lambda: daemon.state(window) == "running", "the window's start")
    time.sleep(0.5)  # It would have been told to stop by now.
    assert daemon.state(window) == "running"
    daemon.end(storer, window)


@test
def a_terminal_that_is_lost_ends_nothing():
    daemon, storer = the_daemon(), the_storer()
    script = " ".join(daemon.command("attach", str(storer.pid), "--duration", "60s", "--background"))
    script += " && exec " + " ".join(daemon.command("wait", '"$(cat)"'))
    shell, terminal = pty.fork()
    if shell == 0:
        os.execl("/bin/sh", "sh", "-c", script)
    text = b""
    while b"\n" not in text:
        text += os.read(terminal, 1024)
    window = text.decode().strip()
    os.close(terminal)  # Everybody in the session gets SIGHUP.
    os.waitpid(shell, 0)
    time.sleep(0.5)
    assert daemon.state(window) == "running", window
    daemon.end(storer, window)


# ---------------------------------------------------------------- wait


@test
def many_wait_for_one_window_and_all_hear_that_it_ended_early():
    daemon, storer = the_daemon(), the_storer()
    window = daemon.attach(storer)
    waiting = [daemon.start("wait", window) for _ in range(5)]
    daemon.end(storer, window)
    for client in waiting:
        expect_line(finish(client), EARLY, f"window {window} ended early: it was detached")
    expect_line(daemon.ask("wait", window), EARLY, f"window {window} ended early: it was detached")


@test
def an_interrupted_or_killed_wait_ends_only_itself():
    daemon, storer = the_daemon(), the_storer()
    window = daemon.attach(storer)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        client = daemon.start("wait", window)
        wait_until(lambda pid=client.pid: is_waiting(pid), "the client waits")
        client.send_signal(number)
        result = finish(client)
        said = "" if number == signal.SIGKILL else f"jxperfctl: interrupted; window {window} goes on\n"
        assert (result.returncode, result.stdout, result.stderr) == (-number, "", said), result
    assert daemon.state(window) == "running"
    daemon.end(storer, window)


def is_waiting(pid):
    with open(f"/proc/{pid}/wchan", encoding="ascii") as f:
        return "poll" in f.read()


@test
def a_target_that_ends_is_told():
    daemon, storer = the_daemon(), Storer()
    window = daemon.attach(storer)
    client = daemon.start("wait", window)
    # A JVM that ends while the agent still makes ready leaves nothing to report: that is a failure.
    wait_until(lambda: daemon.window(window)["samples"], "samples")
    storer.stop()
    expect_line(finish(client), TARGET_ENDED, f"window {window} ended with its target")


@test
def a_window_in_the_foreground_can_be_waited_for():
    daemon, storer = the_daemon(), the_storer()
    client = daemon.start("attach", str(storer.pid), "--duration", "2s")
    running = wait_until(lambda: json.loads(daemon.ask("--json", "status").stdout)["running"], "the window")
    assert daemon.ask("wait", running[0]["id"]).returncode == DONE
    assert finish(client).returncode == DONE


@test
def windows_that_are_not_there_or_failed_are_one_line():
    daemon = the_daemon()
    expect_line(daemon.ask("wait", "w4711"), FAILED, "no window 'w4711'")
    expect_line(daemon.ask("wait"), USAGE, "WINDOW")


@test
def a_daemon_that_stops_ends_the_window_and_the_waiting():
    daemon, storer = Daemon(), the_storer()
    window = daemon.attach(storer)
    client = daemon.start("wait", window)
    wait_until(lambda: is_waiting(client.pid), "the client waits")
    daemon.stop()
    expect_line(finish(client), EARLY, "the daemon was stopped")


run()
