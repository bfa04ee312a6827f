"""A time of day that a test sets, for one program."""
import os
import subprocess

from lib import ROOT, made_once, make_directory


@made_once
def _library():
    library = os.path.join(make_directory(), "stepped_clock.so")
    source = os.path.join(ROOT, "tests/e2e/stepped_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", source, "-o", library, "-ldl"], check=True)
    return library


class SteppedClock:
    """prefix is what a command begins with that is to have it."""

    def __init__(self):
        self.file = os.path.join(make_directory(), "step")
        self.step = 0
        self.set(0)
        # Sanitizers want to be loaded first, and need not be.
        self.prefix = ("env", f"LD_PRELOAD={_library()}", f"STEPPED_CLOCK={self.file}", "ASAN_OPTIONS=verify_asan_link_order=0")

    def set(self, step_s):
        """From the true time, all at once."""
        with open(self.file + ".new", "w", encoding="ascii") as f:
            f.write(str(step_s))
        os.rename(self.file + ".new", self.file)
        self.step = step_s
