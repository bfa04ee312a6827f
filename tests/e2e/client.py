#!/usr/bin/env python3
"""jxperfctl as people use it: on a terminal, interrupted, into files and pipes, with a daemon of its own."""
import contextlib
import functools
import json
import os
import pty
import signal
import subprocess
import re

from lib import BUILD, HANG_S, Process, Stopwatch, make_directory, run, test, wait_until
from support.storer import LINGER_S, Storer

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
DAEMON = os.path.join(BUILD, "bin/jxperfd")

EARLY = 3

# Names that no other JVM of the machine has.
FIRST, SECOND, BOTH = f"FirstStorer{os.getpid()}", f"SecondStorer{os.getpid()}", f"Storer{os.getpid()}"


@functools.lru_cache(maxsize=None)
def the_storer():
    """One JVM for all tests: each has to leave it as it was."""
    return Storer(FIRST)


class Place:
    """Where a client without a daemon puts its private one."""

    def __init__(self):
        self.directory = make_directory()
        self.environment = {**os.environ, "TMPDIR": self.directory}
        self.environment["TERM"] = "xterm"
        self.environment.pop("JXPERF_SOCKET", None)

    def run(self, *arguments, **options):
        return subprocess.run([CLIENT, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=HANG_S, check=False, **options)

    def start(self, *arguments):
        return subprocess.Popen([CLIENT, *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def daemons(self):
        """The pids of the daemons started from here, their brokers included."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
                if f"TMPDIR={self.directory}".encode() in f.read().split(b"\0"):
                    if os.readlink(f"/proc/{pid}/exe") == DAEMON:
                        found.append(int(pid))
        return found

    def assert_clean(self):
        """Nothing is left in its directory, where there was never anything, nor any process."""
        assert os.listdir(self.directory) == [], os.listdir(self.directory)
        # A process that was killed is there until it is reaped.
        wait_until(lambda: not self.daemons(), "no private daemon left", LINGER_S)


def last_error(result):
    """The one line after the word on the private daemon."""
    lines = result.stderr.splitlines()
    assert lines[:-1] == [l for l in lines if "starting a private one" in l], result.stderr
    return lines[-1]


class Terminal:
    """A client whose standard streams are a terminal."""

    def __init__(self, place, *arguments):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(CLIENT, [CLIENT, *arguments], place.environment)
        self.text = ""

    def read_until(self, pattern):
        while not re.search(pattern, self.text):
            assert self._read(), f"ended without '{pattern}': {self.text!r}"

    def _read(self):
        try:
            data = os.read(self.fd, 65536)
        except OSError:  # EIO: the other side is closed.
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def interrupt(self):
        os.write(self.fd, b"\x03")

    def finish(self):
        while self._read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


# ---------------------------------------------------------------- terminal


@test
def a_terminal_shows_progress_and_then_the_report():
    place, storer = Place(), the_storer()
    terminal = Terminal(place, "attach", str(storer.pid), "--duration", "2s")
    terminal.read_until("samples, ")
    assert terminal.finish() == 0
    # A busy machine may keep one of them from being shown.
    assert re.search("\r\x1b\\[J\x1b\\[\\?7lwindow w\\d+: [12] s of 2 s", terminal.text), terminal.text
    assert re.search(r"2\.\d s of 2\.0 s, done", terminal.text), terminal.text
    place.assert_clean()


@test
def control_c_ends_the_window_early_and_reports():
    place, storer = Place(), the_storer()
    terminal = Terminal(place, "attach", str(storer.pid), "--duration", "60s")
    terminal.read_until("window w\\d+: [1-9]\\d* s of 60 s")
    with Stopwatch() as watch:
        terminal.interrupt()
        assert terminal.finish() == EARLY, terminal.text
    assert watch.seconds < 5, watch.seconds
    assert re.search(r"jxperfctl: window w\d+ ended early: interrupted", terminal.text), terminal.text
    assert "ended early" in terminal.text and "Quality" in terminal.text, terminal.text
    assert storer.perf_descriptors() == 0
    place.assert_clean()


@test
def without_a_terminal_there_is_no_progress():
    place, storer = Place(), the_storer()
    result = place.run("attach", str(storer.pid), "--duration", "1500ms")
    assert result.returncode == 0, result.stderr
    assert re.search(rf"\nwindow w\d+: {FIRST}", result.stdout), result.stdout
    assert result.stderr.count("\n") == 1 and "starting a private one" in result.stderr, result.stderr
    place.assert_clean()


# ---------------------------------------------------------------- ends


@test
def a_termination_signal_reports_too():
    place, storer = Place(), the_storer()
    client = place.start("--json", "attach", str(storer.pid), "--duration", "60s")
    storer.wait_for_window()
    client.send_signal(signal.SIGTERM)
    out, errors = client.communicate(timeout=HANG_S)
    assert client.returncode == EARLY, errors
    assert json.loads(out)["window"]["ended_early"]
    place.assert_clean()


@test
def a_killed_client_leaves_no_daemon_and_a_clean_target():
    place, storer = Place(), the_storer()
    client = place.start("attach", str(storer.pid), "--duration", "60s")
    storer.wait_for_window()
    client.kill()
    client.communicate(timeout=HANG_S)
    storer.wait_for_end_of_window()
    wait_until(lambda: not place.daemons(), "the end of the private daemon", LINGER_S)
    assert storer.alive()


@test
def a_killed_daemon_is_one_line_and_status_1():
    place, storer = Place(), the_storer()
    client = place.start("attach", str(storer.pid), "--duration", "60s")
    storer.wait_for_window()
    for pid in place.daemons():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    out, errors = client.communicate(timeout=HANG_S)
    result = subprocess.CompletedProcess([], client.returncode, out, errors)
    assert result.returncode == 1 and out == "", (result.returncode, out)
    assert "closed the connection without an answer" in last_error(result), errors
    storer.wait_for_end_of_window()
    assert storer.alive()
    place.assert_clean()


@test
def a_reader_that_leaves_does_not_leave_a_daemon():
    place = Place()
    client = place.start("list")
    client.stdout.close()
    client.stderr.read()
    client.wait(timeout=HANG_S)
    place.assert_clean()


# ---------------------------------------------------------------- files


@test
def a_report_goes_into_a_file_whole():
    place, storer = Place(), the_storer()
    path = os.path.join(make_directory(), "report.json")
    result = place.run("attach", str(storer.pid), "--duration", "1s", "--format", "json", "-o", path)
    assert result.returncode == 0 and result.stdout == "", result.stderr
    with open(path, encoding="utf-8") as f:
        assert json.load(f)["schema"] == 1
    assert os.listdir(os.path.dirname(path)) == ["report.json"]


@test
def a_failed_attach_leaves_the_file_as_it_was():
    place = Place()
    path = os.path.join(make_directory(), "report")
    with open(path, "w", encoding="utf-8") as f:
        f.write("precious")
    result = place.run("attach", str(os.getpid()), "-o", path)
    assert result.returncode == 1, result
    last_error(result)
    with open(path, encoding="utf-8") as f:
        assert f.read() == "precious"
    assert os.listdir(os.path.dirname(path)) == ["report"]


@test
def a_file_that_cannot_be_written_is_found_out_before_the_window():
    place, storer = Place(), the_storer()
    result = place.run("attach", str(storer.pid), "-o", "/nonexistent/report")
    assert result.returncode == 1 and "/nonexistent/report" in result.stderr, result.stderr
    assert "private" not in result.stderr, "a daemon was started for nothing"


# ---------------------------------------------------------------- names, JSON


@test
def a_name_stands_for_the_one_jvm_that_it_matches():
    place, first, second = Place(), the_storer(), Storer(SECOND)
    result = place.run("--json", "attach", SECOND[3:], "--duration", "1s")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["window"]["pid"] == second.pid
    result = place.run("attach", BOTH)
    assert result.returncode == 1, result
    line = last_error(result)
    assert f"{first.pid} ({FIRST})" in line and f"{second.pid} ({SECOND})" in line, line
    second.stop()


@test
def every_command_speaks_json_to_a_daemon_that_stays():
    storer = the_storer()
    socket = os.path.join(make_directory(), "control.sock")
    daemon = Process([DAEMON, "--socket", socket, "--http", "none", "--state-dir", "none"], start_new_session=True)
    daemon.wait_for("ready")

    def ask(*arguments):
        result = subprocess.run([CLIENT, "--socket", socket, "--json", *arguments], capture_output=True,
                                text=True, timeout=HANG_S, check=False)
        assert result.returncode == 0 and result.stderr == "", (arguments, result)
        return json.loads(result.stdout)

    client = subprocess.Popen([CLIENT, "--socket", socket, "attach", str(storer.pid), "--duration", "60s"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    storer.wait_for_window()
    assert ask("status")["pid"] == daemon.pid
    assert [w["pid"] for w in ask("status")["running"]] == [storer.pid]
    assert [j["state"] for j in ask("list") if j["pid"] == storer.pid] == ["profiled"]
    assert {i["result"] for i in ask("check")} <= {"ok", "warning", "failed"}
    wait_until(lambda: any(t["pairs"] for t in ask("threads", str(storer.pid))), "pairs of a thread")
    busy = max(ask("threads", str(storer.pid)), key=lambda t: t["pairs"])
    assert [r["register"] for r in busy["registers"]] == [0, 1, 2, 3], busy
    detach = subprocess.run([CLIENT, "--socket", socket, "detach", FIRST], capture_output=True,
                            text=True, timeout=HANG_S, check=False)
    assert detach.returncode == 0 and "w1" in detach.stdout, detach
    assert "ended early" in client.communicate(timeout=HANG_S)[0]
    assert [w["state"] for w in ask("windows")] == ["ended early"]
    assert ask("report", "w1")["window"]["id"] == "w1"
    daemon.stop()


@test
def what_all_commands_take_may_be_behind_the_command():
    place = Place()
    for words in (("list", "--private", "--json"), ("--json", "list", "--private")):
        result = place.run(*words)
        assert result.returncode == 0 and isinstance(json.loads(result.stdout), list), result
        assert result.stderr == "", result.stderr
    for words in (("windows", "--private"), ("attach", "1", "--background", "--private")):
        result = place.run(*words)
        assert result.returncode == 2 and "leave --private out" in last_error(result), result
    place.assert_clean()


@test
def help_is_had_in_every_usual_way():
    place = Place()
    texts = {place.run(*words).stdout for words in (("help", "attach"), ("attach", "--help"), ("attach", "-h"), ("-h", "attach"))}
    assert len(texts) == 1 and "--duration T" in texts.pop(), texts
    assert place.run("-V").stdout == place.run("version").stdout == place.run("--version").stdout != ""
    result = place.run("help", "nothing")
    assert result.returncode == 2 and "unknown command 'nothing'" in last_error(result), result


# ---------------------------------------------------------------- whose daemon


@test
def a_socket_that_was_named_and_is_not_there_is_an_error():
    place = Place()
    nowhere = os.path.join(place.directory, "none.sock")
    named = {**place.environment, "JXPERF_SOCKET": nowhere}
    for command in "list", "check", "attach 1":
        for words, environment in (("--socket", nowhere), place.environment), ((), named):
            result = subprocess.run([CLIENT, *words, *command.split()], env=environment, stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, timeout=HANG_S, check=False)
            assert result.returncode == 1 and result.stdout == "", result
            assert f"no daemon answers on '{nowhere}'" in last_error(result) and result.stderr.count("\n") == 1, result.stderr
    place.assert_clean()


@test
def reports_of_private_daemons_can_be_told_apart():
    place, storer = Place(), the_storer()
    ids = []
    for _ in range(2):
        result = place.run("attach", str(storer.pid), "--private", "--duration", "1s", "--json")
        assert result.returncode == 0 and result.stderr == "", result.stderr
        ids.append(json.loads(result.stdout)["window"]["id"])
    assert len(set(ids)) == 2 and all(re.fullmatch(r"w\d{10}", i) for i in ids), ids


@test
def a_signal_that_was_ignored_stays_ignored():
    """As nohup, and a shell without job control, have it."""
    place, storer = Place(), the_storer()
    command = [CLIENT, "attach", str(storer.pid), "--private", "--duration", "3s", "--json"]
    script = "trap '' HUP INT; exec \"$@\""
    client = subprocess.Popen(["sh", "-c", script, "sh", *command], env=place.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    storer.wait_for_window()
    client.send_signal(signal.SIGHUP)
    client.send_signal(signal.SIGINT)
    out, errors = client.communicate(timeout=HANG_S)
    assert client.returncode == 0 and errors == "", errors
    assert not json.loads(out)["window"]["ended_early"]
    place.assert_clean()


@test
def more_than_the_daemon_has_room_for_wait_for_it():
    socket = os.path.join(make_directory(), "control.sock")
    daemon = Process([DAEMON, "--socket", socket, "--http", "none", "--state-dir", "none"], start_new_session=True)
    daemon.wait_for("ready")
    clients = [subprocess.Popen([CLIENT, "--socket", socket, "status"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True) for _ in range(200)]
    said = [client.communicate(timeout=HANG_S)[1] for client in clients]
    assert {client.returncode for client in clients} == {0}, [s for s in said if s][:3]
    daemon.stop()


@test
def a_jvm_that_compiles_nothing_is_explained():
    place, storer = Place(), Storer(SECOND, "-Xint")
    result = place.run("check", str(storer.pid), "--private")
    assert "it was started with -Xint" in result.stdout, result.stdout
    result = place.run("attach", str(storer.pid), "--private", "--duration", "2s")
    assert result.returncode == 0 and "in interpreted code" in result.stdout, result.stdout
    storer.stop()


run()
