"""What a daemon and all that it has started cost: CPU time, memory, descriptors."""
import os
import threading

from lib import register

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
MIB = 1 << 20
# Inspectors and helpers live for some ten milliseconds.
BETWEEN_LOOKS_S = 0.05


def tree(pid):
    """A process and its descendants."""
    found = [pid]
    for parent in found:
        try:
            for tid in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{tid}/children", encoding="ascii") as f:
                    found += map(int, f.read().split())
        except OSError:
            pass  # It has ended.
    return found


def cpu_s(pid):
    """Of the tree, with its members that have ended: those that live, and what they have waited for."""
    total = 0
    for one in tree(pid):
        try:
            with open(f"/proc/{one}/stat", encoding="utf-8", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime
    return total * TICK_S


def memory(pid):
    """(PSS, RSS) of the tree, in bytes. A page that n processes share counts 1/n in each one's PSS, so that the sum is
    what the tree has; in RSS it counts n times."""
    pss = rss = 0
    for one in tree(pid):
        try:
            with open(f"/proc/{one}/smaps_rollup", encoding="ascii", errors="replace") as f:
                fields = {line.split(":")[0]: line.split() for line in f if ":" in line}
        except OSError:
            continue
        pss += int(fields["Pss"][1]) * 1024 if "Pss" in fields else 0
        rss += int(fields["Rss"][1]) * 1024 if "Rss" in fields else 0
    return pss, rss


def descriptors(pid):
    """Open ones of one process."""
    return len(os.listdir(f"/proc/{pid}/fd"))


class MemoryWatch:
    """Looks at a tree's memory all the time: what it has on average, and at most."""

    def __init__(self, pid):
        self.pid = pid
        self.sum_pss = self.looks = self.most_pss = self.most_rss = 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()
        register(self)

    def _watch(self):
        while not self.ended.wait(BETWEEN_LOOKS_S):
            pss, rss = memory(self.pid)
            self.looks += 1
            self.sum_pss += pss
            self.most_pss = max(self.most_pss, pss)
            self.most_rss = max(self.most_rss, rss)

    def mean_pss(self):
        return self.sum_pss / max(self.looks, 1)

    def stop(self):
        self.ended.set()
        self.thread.join()
