"""A program on a terminal of its own, and the screen that its user sees: what jxperfctl writes for TERM=screen, whose
sequences are few (terminfo(5)), and no more; a sequence that is not known here fails the test."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from lib import HANG_S

TERM = "screen"
SEQUENCE = re.compile(r"\x1b(?:\[(\??)([0-9;]*)([A-Za-z@])|([()])([AB0])|([=>78cM]))")
INCOMPLETE = re.compile(r"\x1b(?:\[\??[0-9;]*|[()])?$")


class Screen:
    """Characters in rows; colours are forgotten."""

    def __init__(self, rows, columns):
        self.alternate, self.cursor_shown, self.wraps = False, True, True
        self.resize(rows, columns)

    def resize(self, rows, columns):
        """What was shown is gone, as a terminal may do it: the program has to write everything anew."""
        self.rows, self.columns, self.y, self.x, self.rest = rows, columns, 0, 0, ""
        self.cells = [[" "] * columns for _ in range(rows)]
        self.top, self.bottom, self.saved = 0, rows - 1, (0, 0)

    def _scroll(self, up):
        """The rows between the margins, by one."""
        kept = self.cells[self.top:self.bottom + 1]
        empty = [[" "] * self.columns]
        self.cells[self.top:self.bottom + 1] = kept[1:] + empty if up else empty + kept[:-1]

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines()).rstrip()

    def feed(self, text):
        text, at = self.rest + text, 0
        while at < len(text):
            if text[at] != "\x1b":
                self._character(text[at])
                at += 1
                continue
            found = SEQUENCE.match(text, at)
            if not found:
                assert INCOMPLETE.match(text, at), f"a sequence that this terminal has not: {text[at:at + 12]!r}"
                break
            self._sequence(found)
            at = found.end()
        self.rest = text[at:]

    def _character(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\n":
            if self.y == self.bottom:
                self._scroll(up=True)
            else:
                self.y = min(self.y + 1, self.rows - 1)
        elif c == "\b":
            self.x = max(self.x - 1, 0)
        elif c >= " ":
            if self.x == self.columns:
                self.x = 0 if self.wraps else self.columns - 1
                if self.wraps:
                    self._character("\n")
            self.cells[self.y][self.x] = c
            self.x += 1
        else:
            assert c in "\a\x0e\x0f", f"a character that moves something: {c!r}"

    def _sequence(self, found):
        private, numbers, letter = found.group(1), found.group(2), found.group(3)
        if letter is None:
            self._short(found.group(6))
            return
        values = [int(n) if n else 0 for n in numbers.split(";")]
        if private:
            for mode in values:
                if mode == 1049:
                    self.alternate = letter == "h"
                elif mode == 25:
                    self.cursor_shown = letter == "h"
                elif mode == 7:
                    self.wraps = letter == "h"
            return
        count = values[0] or 1
        if letter == "H":
            self.y, self.x = min(count, self.rows) - 1, min((values + [1])[1] or 1, self.columns) - 1
        elif letter in "ABCD":
            self.y = min(max(self.y + {"A": -count, "B": count}.get(letter, 0), 0), self.rows - 1)
            self.x = min(max(self.x + {"C": count, "D": -count}.get(letter, 0), 0), self.columns - 1)
        elif letter == "G":
            self.x = min(count, self.columns) - 1
        elif letter == "d":
            self.y = min(count, self.rows) - 1
        elif letter in "JK":
            self._erase(letter, values[0])
        elif letter == "P":
            self.cells[self.y] = (self.cells[self.y][:self.x] + self.cells[self.y][self.x + count:] + [" "] * count)[:self.columns]
        elif letter == "@":
            self.cells[self.y] = (self.cells[self.y][:self.x] + [" "] * count + self.cells[self.y][self.x:])[:self.columns]
        elif letter in "LM" and self.y <= self.bottom:
            margin, self.top = self.top, self.y
            for _ in range(min(count, self.rows)):
                self._scroll(up=letter == "M")
            self.top = margin
        elif letter in "ST":
            for _ in range(min(count, self.rows)):
                self._scroll(up=letter == "S")
        elif letter == "r":
            self.top, self.bottom = (values[0] or 1) - 1, min((values + [0])[1] or self.rows, self.rows) - 1
            self.y = self.x = 0
        else:
            assert letter in "mlhLM", f"a sequence that this terminal has not: {found.group()!r}"

    def _short(self, letter):
        """Sequences of one letter."""
        if letter == "7":
            self.saved = self.y, self.x
        elif letter == "8":
            self.y, self.x = self.saved
        elif letter == "M" and self.y == self.top:
            self._scroll(up=False)
        elif letter == "M":
            self.y = max(self.y - 1, 0)

    def _erase(self, letter, what):
        first, last = ((self.x, self.columns), (0, self.x + 1), (0, self.columns))[what]
        for x in range(first, min(last, self.columns)):
            self.cells[self.y][x] = " "
        if letter == "J":
            for y in (range(self.y + 1, self.rows), range(self.y), range(self.rows))[what]:
                self.cells[y] = [" "] * self.columns


class OnTerminal:
    """A program whose standard streams are a terminal."""

    def __init__(self, command, environment, rows=30, columns=100):
        self.screen, self.written = Screen(rows, columns), ""
        self.fd, self.settings = None, None
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(master)
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(slave, fd)
            os.closerange(3, 256)
            os.execve(command[0], command, environment)
        # Kept open, so that the terminal's settings can be read when the program has ended.
        self.fd, self.slave = master, slave

    def read(self, seconds):
        """Takes what is written within a time; False when there was nothing."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        text = os.read(self.fd, 65536).decode(errors="replace")
        self.written += text
        self.screen.feed(text)
        return True

    def read_until(self, condition, what):
        """condition: of the screen's text."""
        end = time.monotonic() + HANG_S
        while not condition(self.screen.text()):
            assert time.monotonic() < end, f"no {what} in {HANG_S} s:\n{self.screen.text()}"
            self.read(0.2)

    def resize(self, rows, columns):
        while self.read(0.05):
            pass
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.fd, keys)

    def close(self):
        """The terminal is gone, as when its window is closed."""
        os.close(self.slave)
        os.close(self.fd)
        self.fd = None

    def finish(self, expected=0):
        """It ends by itself, with that exit status; None: with any."""
        end = time.monotonic() + HANG_S
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.fd is not None and self.read(0.2):  # The kernel hands on what was written a little later.
                    pass
                status = os.waitstatus_to_exitcode(status)
                assert expected in (None, status), f"exit status {status} and not {expected}: {self.written!r}"
                return
            if self.fd is None or not self.read(0.1):
                time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError(f"it goes on:\n{self.screen.text()}")

    def assert_given_back(self):
        """Settings, cursor and screen are as they were."""
        assert termios.tcgetattr(self.slave) == self.settings, (termios.tcgetattr(self.slave), self.settings)
        assert not self.screen.alternate and self.screen.cursor_shown and self.screen.wraps, self.written[-200:]
