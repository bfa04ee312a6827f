"""What a collector says of itself: the pauses in a JVM's own log, which knows nothing of us."""
import os
import re

from lib import make_directory

_MIB_OF = {"K": 1 / 1024, "M": 1, "G": 1024}
# Pauses of Serial, Parallel and G1; cycles of ZGC and the generations' of JDK 21 and later.
_LINE = re.compile(
    r"GC\(\d+\) (?:Pause |Garbage Collection|M(?:in|aj)or Collection|[YO]: (?:Young|Old) Collection).*?"
    r"(\d+)([KMG])(?:\(\d+%\))?->(\d+)([KMG])")


class GcLog:
    """Give the JVM option(), then ask how much was in use after each collection so far."""

    def __init__(self):
        self.path = os.path.join(make_directory(mode=0o777), "gc.log")

    def option(self):
        return f"-Xlog:gc:file={self.path}"

    def left_mib(self):
        with open(self.path, encoding="utf-8") as f:
            return [int(m[3]) * _MIB_OF[m[4]] for m in _LINE.finditer(f.read())]
