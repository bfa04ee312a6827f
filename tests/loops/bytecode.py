"""Loops as the bytecodes have them, from what javap prints: a backward branch ends one, its target begins it."""
import collections
import functools
import os
import re
import subprocess

METHOD = re.compile(r"^  \S.*?[ .]?([\w$<>]+)\(.*\).*;$|^  static \{\};$")
INSTRUCTION = re.compile(r"^ +(\d+): (\w+)(?: +(\d+))?")
LINE = re.compile(r"^ +line (\d+): (\d+)$")

# Those with the offset of where they go to behind them. Switches of javac never go back.
BRANCH = re.compile(r"if\w*|goto(_w)?")


class Method:
    def __init__(self, name):
        self.name = name
        self.lines = {}  # bci → line that begins there
        self.latches = {}  # header → the last branch back to it
        self.end = 0

    def line(self, bci):
        return self.lines.get(max((b for b in self.lines if b <= bci), default=None))

    def loop_at(self, bci):
        """(header, latch) of the innermost, or None."""
        around = [(header, latch) for header, latch in self.latches.items() if header <= bci <= latch]
        return min(around, key=lambda loop: loop[1] - loop[0], default=None)

    def _take(self, bci, name, operand):
        self.end = max(self.end, bci)
        if operand is not None and BRANCH.fullmatch(name) and operand <= bci:
            self.latches[operand] = max(bci, self.latches.get(operand, bci))


def _parse(text):
    methods, method, lines = collections.defaultdict(list), None, False
    for row in text.splitlines():
        if row.startswith("  ") and not row.startswith("   "):
            found = METHOD.match(row)
            method = Method(found.group(1) or "<clinit>") if found else None
            lines = False
            if method:
                methods[method.name].append(method)
        elif method and row.strip() == "LineNumberTable:":
            lines = True
        elif method and lines:
            found = LINE.match(row)
            if found:
                method.lines[int(found.group(2))] = int(found.group(1))
        elif method:
            found = INSTRUCTION.match(row)
            if found:
                method._take(int(found.group(1)), found.group(2), found.group(3) and int(found.group(3)))
    return methods


class Bytecode:
    """Of the classes that a JDK's javap, a command, finds along a class path."""

    def __init__(self, javap, class_path):
        self.command = javap
        self.class_path = class_path

    @functools.lru_cache(maxsize=None)
    def methods(self, class_name):
        """Name → those of the name. None where javap does not find the class."""
        command = [*self.command, "-p", "-c", "-l", "-cp", self.class_path, class_name]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return _parse(result.stdout) if result.returncode == 0 else {}

    def method(self, class_name, name, bci, line):
        """The one of its name that has that line there."""
        found = self.methods(class_name).get(name, [])
        return next((m for m in found if bci <= m.end and (line < 0 or m.line(bci) == line)), None)

    def loop_of(self, frames):
        """(class, method, header, latch) of the innermost loop that a stack is in, as far as frames are compiled together with the
        innermost: what is inlined into a loop is in it. None where it is in none."""
        for frame in frames:
            if frame["bci"] < 0 or frame["tier"] not in ("jit", "compiled", "inlined"):
                return None
            method = self.method(frame["class"], frame["method"], frame["bci"], frame["line"])
            loop = method and method.loop_at(frame["bci"])
            if loop:
                return frame["class"], frame["method"], *loop
        return None
