"""The configuration: checked without starting anything, read at the start, and read anew while windows run."""
import json
import os
import re
import signal
import subprocess
import time

from lib import HANG_S, ROOT, jdks, make_directory, run, test, wait_until
from support.profile import DAEMON, Daemon, Workload, report_of, succeeded
from support.prometheus import free_port

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


def daemon_says(*arguments):
    return subprocess.run([DAEMON, *arguments], capture_output=True, text=True, timeout=HANG_S, check=False)


def check(text):
    path = os.path.join(make_directory(), "jxperfd.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path, daemon_says("--config", path, "--check-config")


@test
def a_configuration_is_checked_without_a_daemon():
    _, result = check(GOOD)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", ""), result
    path, result = check(WRONG)
    assert result.returncode == 2, result
    assert result.stderr == f"jxperfd: {path}:2:1: window-at-once: there is no such key: see jxperfd.yaml(5)\n", result
    path, result = check("schedules:\n  - {name: a, match: {}, every: often}\n")
    assert result.stderr.startswith(f"jxperfd: {path}:2:26: schedules[0].every: 'often' is not a time"), result


@test
def what_is_no_good_here_is_found_by_a_check_as_by_a_start():
    wrong = {
        WRONG: ":2:1: ", "admin-group: nosuch\n": "no group 'nosuch'", "user: nosuch\n": "no user 'nosuch'",
        "http: 300.1.1.1:80\n": "'300.1.1.1:80'", "http: 127.0.0.1:99999\n": "'127.0.0.1:99999'",
        "socket: /nosuch/socket\n": "no directory '/nosuch'", f"socket: /tmp/{'x' * 120}\n": "too long for a socket",
    }
    for text, words in wrong.items():
        path, checked = check(text)
        started = daemon_says("--config", path)
        assert checked.returncode == started.returncode == 2 and checked.stderr == started.stderr, (checked, started)
        assert words in checked.stderr and checked.stderr.count("\n") == 1, checked
    for arguments in (["--config", "/nosuch"], ["--config", "/nosuch", "--check-config"]):
        result = daemon_says(*arguments)
        assert result.returncode == 2 and "'/nosuch'" in result.stderr, result
    _, result = check("state-dir: /nosuch/at/all\n")  # A daemon would keep windows in memory only.
    assert result.returncode == 2 and "no directory '/nosuch/at'" in result.stderr, result
    _, result = check("state-dir: /etc/passwd\n")
    assert result.returncode == 2 and "'/etc/passwd' is no directory" in result.stderr, result


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
    succeeded(daemon.ctl("status"))


def schedule(name):
    return f"schedules:\n  - {{ name: {name}, match: {{ app: nothing }}, every: 10m }}\n"


@test
def a_reload_says_what_holds_now_and_what_after_a_restart():
    daemon = Configured(GOOD)
    assert succeeded(daemon.ctl("reload")) == "the configuration was read: nothing has changed\n"
    daemon.write(schedule("one") + "bundle: /tmp\nagent-path: /x/libjxperf-agent.so\n")
    answer = json.loads(succeeded(daemon.ctl("--json", "reload")))
    assert set(answer["changed"]) == {"schedules", "windows-at-once", "host-budget"}, answer
    assert set(answer["needs_restart"]) == {"bundle", "agent-path"}, answer
    # Of what runs, not of what was read last: it stays so until it is taken back.
    answer = json.loads(succeeded(daemon.ctl("--json", "reload")))
    assert answer["changed"] == [] and set(answer["needs_restart"]) == {"bundle", "agent-path"}, answer
    daemon.write(schedule("one"))
    daemon.hang_up("nothing has changed")
    # Given on the command line, it has no other value after a restart.
    daemon.write(schedule("one") + "socket: /tmp/elsewhere\nhttp: 127.0.0.1:1\n")
    assert succeeded(daemon.ctl("reload")).endswith("nothing has changed\n")


@test
def schedules_end_only_where_somebody_says_so():
    daemon = Configured(GOOD + schedule("one"))
    for text in ("", "# nothing\n", GOOD):
        daemon.write(text)
        result = daemon.ctl("reload")
        assert result.returncode == 1 and "say 'schedules: []' if that is meant" in result.stderr, result
    daemon.hang_up("the configuration is the old one")
    daemon.write("schedules: []\n")
    assert "'schedules'" in succeeded(daemon.ctl("reload"))
    daemon.write("")
    succeeded(daemon.ctl("reload"))


@test
def the_manuals_examples_are_right():
    with open(os.path.join(ROOT, "docs/man/jxperfd.yaml.5"), encoding="utf-8") as f:
        examples = re.findall(r"(?ms)^\.EX\n(.*?)^\.EE$", f.read())
    assert len(examples) >= 4, examples
    for text in examples:
        path, result = check(text)
        assert result.returncode == 0, (path, text, result)


@test
def files_beside_it_are_read_behind_it():
    daemon = Configured(GOOD + schedule("one"))
    directory = daemon.path.replace(".yaml", ".conf.d")
    os.mkdir(directory)

    def write(name, text):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(text)

    write("20-fleet.yaml", "windows-at-once: 7\n" + schedule("two"))
    write("30-notes.txt", "not: yaml: at all\n")
    assert "'schedules' and 'windows-at-once' hold from now on" in succeeded(daemon.ctl("reload"))
    write("30-twice.yaml", schedule("one"))
    result = daemon.ctl("reload")
    assert result.returncode == 1 and f"{directory}/30-twice.yaml:2:7: schedules[0].name: 'one'" in result.stderr, result
    result = daemon_says("--config", daemon.path, "--check-config")
    assert result.returncode == 2 and "30-twice.yaml" in result.stderr, result


@test
def metrics_say_which_configuration_holds_and_whether_the_last_was_read():
    path = os.path.join(make_directory(), "jxperfd.yaml")
    http = f"127.0.0.1:{free_port()}"

    def write(text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    write(GOOD)
    daemon = Daemon(http=http, options=["--config", path])

    def values():
        text = daemon.get("/metrics")
        return (re.search(r'jxperf_config_info{hash="(\w{16})"} 1\n', text).group(1),
                int(re.search(r"\njxperf_config_last_reload_successful (\d)", text).group(1)),
                float(re.search(r"\njxperf_config_last_reload_success_timestamp_seconds (\S+)", text).group(1)))

    first = values()
    assert first[1] == 1 and abs(first[2] - time.time()) < HANG_S, first
    write(WRONG)
    assert daemon.ctl("reload").returncode == 1
    assert values() == (first[0], 0, first[2]), values()
    write("# The same.\n" + GOOD)
    succeeded(daemon.ctl("reload"))
    assert values()[:2] == (first[0], 1) and values()[2] > first[2], values()
    write(GOOD + "salt: x\n")
    succeeded(daemon.ctl("reload"))
    assert values()[0] != first[0]


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
