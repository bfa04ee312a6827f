"""Parts of a measurement side by side: each is a process of its own, on two processors that no other part has, until a deadline.

Where a core has two processors a part has both, so that no two parts share a core. Caches of a socket and its memory they do share.
Scripts that run at the same time take processors from the same ones (a lock for each pair).
"""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time

from lib import BUILD

POLL_S = 0.1
ENDS_S = 10
OUTPUT_LINES = 5


def _pairs():
    """Processors, two by two."""
    cores = {}
    for processor in sorted(os.sched_getaffinity(0)):
        core = str(processor)
        with contextlib.suppress(FileNotFoundError), open(
                f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list", encoding="ascii") as f:
            core = f.read()
        cores.setdefault(core, []).append(processor)
    processors = [p for core in cores.values() for p in core]
    return [processors[i:i + 2] for i in range(0, len(processors) - 1, 2)] or [processors]


def _taken(at_once):
    """Two processors that nobody has, and their lock; None where there are none."""
    place = os.path.join(BUILD, "processors")
    os.makedirs(place, exist_ok=True)
    for pair in _pairs()[:at_once]:
        lock = open(os.path.join(place, "-".join(map(str, pair))), "w", encoding="ascii")  # pylint: disable=consider-using-with
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return pair, lock
        except BlockingIOError:
            lock.close()
    return None


class _Part:
    def __init__(self, prefix, name, results, pair, lock):
        stem = f"{os.path.splitext(results)[0]}-{name.replace(',', '-')}"
        self.name, self.lock, self.path, self.log = name, lock, f"{stem}.json", f"{stem}.log"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        environment = {**os.environ, f"{prefix}_ONLY": name, f"{prefix}_RESULTS": self.path, f"{prefix}_AT_ONCE": "1"}
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                ["taskset", "-c", ",".join(map(str, pair)), sys.executable, os.path.abspath(sys.argv[0])], env=environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)

    def rows(self):
        """All that it has written by now."""
        try:
            with open(self.path, encoding="utf-8") as f:
                return json.load(f)
        except (FileNotFoundError, ValueError):
            return []

    def complaint(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return "\n".join(f"  {self.name}: {line}" for line in f.read().splitlines()[-OUTPUT_LINES:])

    def end(self, number):
        """Of a part that runs late. It ends what it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, number)


def rows_of(prefix, names, results, at_once, seconds):
    """Runs this script once for each name, with PREFIX_ONLY=name, and yields the rows of PREFIX_RESULTS when a part has ended. The longest
    ones first, or they end last. After so many seconds what still runs is ended, and its rows so far are all that it has."""
    os.makedirs(os.path.dirname(results), exist_ok=True)
    late, waiting, running = time.monotonic() + seconds, list(names), []
    while waiting or running:
        over = time.monotonic() - late
        while waiting and over < 0 and (taken := _taken(at_once)):
            running.append(_Part(prefix, waiting.pop(0), results, *taken))
        if over > 0:
            for part in running:
                part.end(signal.SIGTERM if over < ENDS_S else signal.SIGKILL)
            for name in waiting:
                print(f"LATE {name}: not run", flush=True)
            waiting.clear()
        for part in [p for p in running if p.child.poll() is not None]:
            running.remove(part)
            part.lock.close()
            rows = part.rows()
            if not rows:
                print(f"NOTHING of {part.name}{', which was late' if over > 0 else ''}:\n{part.complaint()}", flush=True)
            yield from rows
        time.sleep(POLL_S)
