#!/usr/bin/env python3
"""What people see on a terminal: `top`, the first findings of `attach`, colour; and how the terminal is afterwards."""
# Takes two places: a JVM is busy all the time.
import functools
import json
import os
import re
import signal

from lib import jdks, make_directory, run, test
from support.profile import CLIENT, Daemon, Workload, succeeded
from support.screen import TERM, OnTerminal

EARLY = 3

FINDING = "SilentStore.rounds stores elements of int[] again"


@functools.lru_cache(maxsize=None)
def the_window():
    """A daemon, and a JVM in a window that outlives the tests."""
    daemon, jvm = Daemon(), Workload(jdks()[0], "SilentStore")
    succeeded(daemon.ctl("attach", str(jvm.pid), "--duration", "10m", "--budget", "10%", "--background"))
    return daemon, jvm


def environment(**more):
    return {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, "TERM": TERM, **more}


def top(rows=30, columns=100, **more):
    """A view of the window, which shows what it found by now."""
    daemon, jvm = the_window()
    terminal = OnTerminal([CLIENT, "--socket", daemon.socket, "top"], environment(**more), rows, columns)
    terminal.read_until(lambda text: FINDING in text and "NAME" in text, "finding")
    assert f"SilentStore, pid {jvm.pid}, window w1" in terminal.screen.text(), terminal.screen.text()
    return terminal


# ---------------------------------------------------------------- top


@test
def top_shows_windows_with_their_findings_and_the_jvms():
    terminal = top()
    assert terminal.screen.alternate and not terminal.screen.cursor_shown
    lines = terminal.screen.lines()
    assert "1 window running" in lines[0] and "q ends" in lines[0], lines
    terminal.read_until(lambda text: "s of 600 s, " in text and " sampled accesses, " in text and " cost " in text, "line of figures")
    jvm = the_window()[1]
    assert any(line.startswith(f"{jvm.pid} ") and line.endswith("SilentStore") for line in lines), lines
    shown = terminal.screen.text()
    terminal.read_until(lambda text: text != shown, "newer figures")
    terminal.press(b"q")
    terminal.finish()
    terminal.assert_given_back()


@test
def top_takes_the_width_that_there_is_when_it_is_resized():
    terminal = top()
    for rows, columns in (20, 50), (40, 160), (20, 50):
        terminal.resize(rows, columns)
        words = FINDING.split()
        # Folded in the narrow one, on one line in the wide one.
        terminal.read_until(lambda text, c=columns: "NAME" in text and (FINDING in text) == (c > 60) and words[-1] in text, "finding")
        terminal.read_until(lambda text, c=columns: ("windows go on" in text) == (c > 60), "first line")
    terminal.resize(4, 50)
    terminal.read_until(lambda text: "lines more than fit here" in text, "word on what does not fit")
    terminal.press(b"q")
    terminal.finish()
    terminal.assert_given_back()


@test
def control_c_and_signals_end_top_and_the_window_goes_on():
    for end in (lambda t: t.press(b"\x03"), lambda t: os.kill(t.pid, signal.SIGTERM), lambda t: os.kill(t.pid, signal.SIGHUP)):
        terminal = top()
        end(terminal)
        terminal.finish()
        terminal.assert_given_back()
    assert len(the_window()[0].running()) == 1


@test
def top_ends_with_its_terminal():
    terminal = top()
    terminal.close()
    terminal.finish(None)


@test
def top_says_that_a_daemon_has_gone_and_shows_when_it_is_back():
    directory = make_directory()
    daemon = Daemon(directory=directory)
    terminal = OnTerminal([CLIENT, "--socket", daemon.socket, "top"], environment())
    terminal.read_until(lambda text: "0 windows running" in text, "first line")
    daemon.stop()
    terminal.read_until(lambda text: "no daemon answers on" in text, "word on the daemon")
    daemon = Daemon(directory=directory)
    terminal.read_until(lambda text: "no daemon answers on" not in text, "view of the new daemon")
    terminal.press(b"q")
    terminal.finish()
    terminal.assert_given_back()
    daemon.stop()


@test
def without_a_daemon_top_says_so_and_leaves_the_screen_alone():
    terminal = OnTerminal([CLIENT, "--socket", "/nonexistent/socket", "top"], environment())
    terminal.finish(1)
    assert terminal.written.startswith("jxperfctl: no daemon answers on '/nonexistent/socket'"), terminal.written
    assert "\x1b" not in terminal.written, terminal.written


@test
def without_a_terminal_top_prints_one_view():
    top().press(b"q")  # It has found something by now.
    daemon, jvm = the_window()
    printed = succeeded(daemon.ctl("top"))
    assert "\x1b" not in printed and printed.count("\njxperfd ") == 0, printed
    assert f"\nSilentStore, pid {jvm.pid}, window w1\n" in printed and f"\n  1. {FINDING}" in printed, printed


@test
def a_terminal_that_cannot_move_its_cursor_gets_one_view():
    daemon, _ = the_window()
    for kind in "dumb", "such-a-terminal-is-not-known", "":
        terminal = OnTerminal([CLIENT, "--socket", daemon.socket, "top"], environment(TERM=kind))
        terminal.finish()
        assert "\x1b" not in terminal.written and "window w1" in terminal.written, terminal.written
        terminal.assert_given_back()


@test
def a_kind_of_waste_has_a_colour_unless_it_is_not_wanted():
    coloured, plain = top(), top(NO_COLOR="1")
    colour = re.compile("\x1b\\[([0-9]+;)*3[0-7]m")
    assert colour.search(coloured.written), coloured.written
    assert not colour.search(plain.written), plain.written
    for terminal in coloured, plain:
        terminal.press(b"q")
        terminal.finish()


# ---------------------------------------------------------------- attach


def attach(columns=100, duration="60s", **more):
    """A window of another JVM than the one that top shows, on a terminal that has room for its report."""
    daemon, jvm = the_window()[0], the_other_jvm()
    command = [CLIENT, "--socket", daemon.socket, "attach", str(jvm.pid), "--duration", duration, "--budget", "10%"]
    return OnTerminal(command, environment(**more), 1000, columns)


@functools.lru_cache(maxsize=None)
def the_other_jvm():
    return Workload(jdks()[0], "SilentStore")


@test
def attach_shows_its_first_findings_while_it_runs_and_takes_them_away():
    for columns in 100, 50:
        terminal = attach(columns=columns)
        words = "".join(FINDING.split())
        terminal.read_until(lambda text, w=words: w in "".join(text.split()), "finding")
        shown = terminal.screen.lines()
        assert re.match(r"window w\d+: \d+ s of 60 s, \d+ samples, \d+", shown[0]), shown
        first = next(i for i, line in enumerate(shown) if line.startswith("  1. SilentStore.rounds"))
        assert first == (1 if columns == 100 else 2) and shown[first + 1].startswith("     "), shown
        terminal.read_until(lambda text, old=shown[0]: not text.startswith(old), "newer figures")
        assert terminal.screen.text().count("1. SilentStore") == 1, terminal.screen.text()
        terminal.press(b"\x03")
        terminal.finish(EARLY)
        assert "(^C ends it now)" not in terminal.screen.text(), terminal.screen.text()
        assert "ended early: interrupted" in terminal.screen.text(), terminal.screen.text()
        terminal.assert_given_back()


@test
def a_terminal_that_cannot_move_its_cursor_shows_the_report_alone():
    terminal = attach(duration="2s", TERM="dumb")
    terminal.finish()
    assert "\x1b" not in terminal.written and "(^C ends it now)" not in terminal.written, terminal.written


# ---------------------------------------------------------------- reports and tables


def shown(*arguments, columns=300, **more):
    """What a command writes to a terminal."""
    terminal = OnTerminal([CLIENT, "--socket", the_window()[0].socket, *arguments], environment(**more), 1000, columns)
    terminal.finish()
    return terminal.written.replace("\r\n", "\n")


def finished():
    """A window that has ended, whose report does not change."""
    daemon = the_window()[0]
    ended = [w["id"] for w in json.loads(succeeded(daemon.ctl("--json", "windows"))) if w["state"] != "running" and w["samples"] > 0]
    assert ended, "no window has ended"
    return ended[0]


def without_colours(text):
    return re.sub("\x1b\\[[0-9]*m", "", text)


@test
def a_report_is_coloured_on_a_terminal_alone():
    window, daemon = finished(), the_window()[0]
    plain = succeeded(daemon.ctl("report", window))
    assert "\x1b" not in plain
    coloured = shown("report", window, columns=100)
    assert "\x1b[35mSilent stores: " in coloured and "\x1b[1mQuality" in coloured, coloured
    assert without_colours(coloured).split() == plain.split()
    for more in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
        assert shown("report", window, columns=100, **more) == without_colours(coloured)
    path = os.path.join(make_directory(), "report.txt")
    assert shown("report", window, "-o", path) == ""
    with open(path, encoding="utf-8") as file:
        assert file.read() == plain
    assert "\x1b" not in shown("report", window, "--format", "json")
    assert "\x1b" not in shown("--json", "windows")


@test
def no_line_is_wider_than_the_terminal_where_it_can_be_folded():
    window = finished()
    for command in ("report", window), ("diff", window, window):
        for line in without_colours(shown(*command, columns=90)).splitlines():
            assert len(line) <= 90 or " " not in line.strip(), line


@test
def sentences_of_a_report_are_as_wide_as_the_terminal():
    window = finished()
    narrow, wide = (without_colours(shown("report", window, columns=c)) for c in (50, 300))
    assert narrow.split() == wide.split()
    legend = [line for line in wide.splitlines() if line.startswith("CPU time: at first accesses of wasteful pairs")]
    assert len(legend) == 1 and "95% intervals" in legend[0], legend
    assert legend[0] not in narrow.splitlines()


@test
def the_headings_of_a_table_are_bold_on_a_terminal_alone():
    assert shown("windows").startswith("\x1b[1mWINDOW\x1b[0m"), shown("windows")
    assert "\x1b" not in shown("windows", NO_COLOR="1") and "\x1b" not in succeeded(the_window()[0].ctl("windows"))


@test
def frames_that_both_contexts_of_a_pair_have_are_one_line_unless_all_are_wanted():
    daemon, jvm = the_window()[0], Workload(jdks()[0], "DeepCalls")
    window = daemon.attach(jvm.pid, "--budget", "10%", cpu_s=3)["window"]["id"]
    jvm.stop()
    folded, whole = (succeeded(daemon.ctl("report", window, *more)) for more in ((), ("--all-frames",)))
    assert re.search(r"^\.\.\. \(\d+ frames in common, up to [^()]+\([^()]+:\d+\)\)$", folded, re.M), folded
    assert "in common" not in whole and len(whole.splitlines()) > len(folded.splitlines()), whole


run()
