"""The configuration: checked without starting anything, read at the start, and read anew while windows run."""
import os
import re
import signal
import subprocess
import time

from lib import HANG_S, jdks, make_directory, run, test, wait_until
from support.profile import DAEMON, Daemon, Workload, report_of, succeeded

GOOD = "windows-at-once: 2\nhost-budget: 5%\n"
WRONG = "windows-at-once: 2\nwindow-at-once: 3\n"
STORM = 200


class Configured(Daemon):
    """A daemon with a configuration that the test may write anew."""

    def __init__(self, text):
        self.path = os.path.join(make_directory(), "jxperfd.yaml")
        self.write(text)
        super().__init__(options=["--config", self.path])

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)

    def said(self, words):
        return self.output().count(words)

    def hang_up(self, words):
        """Sends SIGHUP and waits until the daemon has said so."""
        before = self.said(words)
        os.kill(self.pid, signal.SIGHUP)
        wait_until(lambda: self.said(words) > before, words)


def check(text):
    path = os.path.join(make_directory(), "jxperfd.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path, subprocess.run([DAEMON, "--config", path, "--check-config"], capture_output=True, text=True,
                                timeout=HANG_S, check=False)


@test
def a_configuration_is_checked_without_a_daemon():
    _, result = check(GOOD)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), result
    path, result = check(WRONG)
    assert result.returncode == 1, result
    assert result.stderr == f"jxperfd: {path}:2:1: window-at-once: there is no such key: see jxperfd.yaml(5)\n", result
    path, result = check("schedules:\n  - {name: a, match: {}, every: often}\n")
    assert result.stderr.startswith(f"jxperfd: {path}:2:26: schedules[0].every: 'often' is not a time"), result


@test
def a_wrong_one_starts_no_daemon():
    path, _ = check(WRONG)
    result = subprocess.run([DAEMON, "--config", path], capture_output=True, text=True, timeout=HANG_S, check=False)
    assert result.returncode == 2 and re.fullmatch(r"jxperfd: [^\n]+:2:1: [^\n]+\n", result.stderr), result


@test
def the_command_line_comes_first():
    daemon = Configured("socket: /nonexistent/directory/socket\nhttp: 127.0.0.1:1\n")
    succeeded(daemon.ctl("status"))


@test
def a_good_one_is_taken_and_a_bad_one_is_not():
    daemon = Configured(GOOD)
    assert "configuration was read" in succeeded(daemon.ctl("reload"))
    daemon.hang_up("configuration read")
    daemon.write(WRONG)
    result = daemon.ctl("reload")
    assert result.returncode == 1 and f"{daemon.path}:2:1: window-at-once" in result.stderr, result
    daemon.hang_up("the configuration is the old one")
    os.unlink(daemon.path)
    result = daemon.ctl("reload")
    assert result.returncode == 1 and daemon.path in result.stderr, result
    daemon.write(GOOD + "socket: /elsewhere\n")
    daemon.hang_up("'socket' has changed: that takes effect when jxperfd is restarted")
    succeeded(daemon.ctl("status"))


@test
def without_a_configuration_there_is_nothing_to_read():
    daemon = Daemon()
    result = daemon.ctl("reload")
    assert result.returncode == 1 and "without --config" in result.stderr, result
    os.kill(daemon.pid, signal.SIGHUP)
    wait_until(lambda: "without --config" in daemon.output(), "a line of the log")
    succeeded(daemon.ctl("status"))


@test
def windows_that_run_do_not_notice_a_storm():
    daemon = Configured(GOOD)
    target = Workload(jdks()[0], "SilentLoad")
    window = daemon.start_attach(target.pid, duration="5s")
    for i in range(STORM):
        daemon.write(WRONG if i % 2 else GOOD)
        os.kill(daemon.pid, signal.SIGHUP)
        time.sleep(0.005)
    report = report_of(window.finish())
    assert report["quality"]["samples"] > 0
    # Signals that came while one waited are one.
    assert daemon.said("configuration read") + daemon.said("the configuration is the old one") > 0
    succeeded(daemon.ctl("status"))
    assert target.alive()


run(at_once=2)
