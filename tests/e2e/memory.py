"""What the agent takes of the target's memory: measured in its mappings, with much code and many contexts, and as what
a JVM grows by beside its twin that has no windows."""
# Starts early: it takes long (many windows).
# Estimates: what grows, among what a JVM takes by itself.
import concurrent.futures
import os
import re
import statistics
import time

from lib import BUNDLE, jdks, note, run, test_on_jdks, wait_until
from support.profile import Daemon, Workload

MIB = 1 << 20
LIMIT = 16 * MIB
LIMIT_PER_THREAD = 64 << 10

# glibc's HEAP_MAX_SIZE, to which arenas are aligned.
ARENA_ALIGNMENT = 64 * MIB

COPIES = 1000
HEAP = ("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:ReservedCodeCacheSize=240m",
        # The fast compiler alone: as many methods in a tenth of the time.
        "-XX:TieredStopAtLevel=1")
OUR_FILES = {name for name in os.listdir(BUNDLE) if ".so" in name}


class Mapping:
    def __init__(self, line):
        parts = line.split(None, 5)
        self.low, self.high = (int(x, 16) for x in parts[0].split("-"))
        self.permissions = parts[1]
        self.path = parts[5].strip() if len(parts) > 5 else ""
        self.resident = 0
        self.flags = []

    def is_our_file(self):
        return os.path.basename(self.path.removesuffix(" (deleted)")) in OUR_FILES


def mappings(pid):
    found = []
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
        for line in f:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                found.append(Mapping(line))
            elif line.startswith("Rss:"):
                found[-1].resident = int(line.split()[1]) << 10
            elif line.startswith("VmFlags:"):
                found[-1].flags = line.split()[1:]
    return found


def agent_bytes(pid, before):
    """Resident bytes of the agent's files, of what follows them (their uninitialised data), and of its
    tables: writable mappings without reserve that were not there before. So are malloc's arenas, which HotSpot's
    threads use, too; what the agent has in them (a batch, the numbers of methods) cannot be told apart and is
    seen in the growth of all anonymous memory only."""
    total, previous = 0, None
    for m in mappings(pid):
        follows = previous and previous.is_our_file() and m.low == previous.high and not m.path
        table = "nr" in m.flags and m.permissions == "rw-p" and not m.path and (m.low, m.high) not in before
        table = table and m.low % ARENA_ALIGNMENT != 0
        if m.is_our_file() or follows or table:
            total += m.resident
        previous = m
    return total


def anonymous_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return int(re.search(r"RssAnon:\s+(\d+)", f.read()).group(1)) << 10


@test_on_jdks
def the_agent_stays_within_16_mib_and_64_kib_a_thread(jdk):
    daemon = Daemon()
    target = Workload(jdk, "ManyMethods", *HEAP, arguments=[str(COPIES)])
    before = {(m.low, m.high) for m in mappings(target.pid)}
    anonymous, peak, most = anonymous_bytes(target.pid), 0, 0
    options = ("--budget", "20%", "--period", "1ms", "--pairs", "10")
    # Its report is longer than a pipe holds, so somebody reads it all the time.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        window = pool.submit(daemon.attach, target.pid, *options, duration="8s")
        while not window.done():
            peak = max(peak, agent_bytes(target.pid, before))
            most = max(most, anonymous_bytes(target.pid))
            time.sleep(0.2)
    quality = window.result()["quality"]
    note(f"agent {peak / MIB:.1f} MiB, all anonymous memory {(most - anonymous) / MIB:+.1f} MiB; "
         f"{quality['threads']} threads, {quality['samples']} samples, {quality['code_dropped']} of code dropped, "
         f"{quality['contexts_full']} contexts lost")
    assert peak > MIB, "the agent's mappings were not found"
    assert peak <= LIMIT + LIMIT_PER_THREAD * quality["threads"], peak
    assert quality["code_dropped"] == 0, quality
    wait_until(lambda: agent_bytes(target.pid, before) < peak - 2 * MIB, "the tables' memory given back", 2)
    target.stop()


# The first windows, one after the other, each with a new thread of the agent's: of most, the arena is new to it, too.
WINDOWS = 5
CLASSES = 50_000
TWIN_HEAP = ("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch")


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) << 10


class ManyClasses:
    """A JVM with as many, and its twin's growth beside its own."""

    def __init__(self, jdk, **options):
        self.jvms = [Workload(jdk, "ManyClasses", *TWIN_HEAP, arguments=[str(CLASSES), "1000"], **options)
                     for _ in range(2)]
        self.before = [resident_bytes(jvm.pid) for jvm in self.jvms]

    def grown_by_windows(self, daemon, count):
        """By how much more than its twin, after each."""
        more = []
        for _ in range(count):
            daemon.attach(self.jvms[0].pid, duration="1s")
            target, twin = (resident_bytes(jvm.pid) - b for jvm, b in zip(self.jvms, self.before))
            more.append(target - twin)
        note("more than the twin after each window: " + ", ".join(f"{m / MIB:.1f}" for m in more) + " MiB")
        return more

    def stop(self):
        for jvm in self.jvms:
            jvm.stop()


# Each window's thread shares another one of malloc's arenas, and what cannot be given back of it (HotSpot keeps chunks
# there for its next arenas, and pages are whole) is left in each once: on two processors, with 16 of them, it stops after
# 17 windows. With few arenas that is over soon, and what then goes on is a leak. JVM threads take arenas, too, so the
# last one may be met a window later than there are arenas.
ARENAS = 4


@test_on_jdks
def a_jvm_with_50000_classes_grows_by_at_most_16_mib_more_than_its_twin_and_no_more_once_all_arenas_were_met(jdk):
    daemon = Daemon()
    classes = ManyClasses(jdk, prefix=("env", f"MALLOC_ARENA_MAX={ARENAS}"))
    more = classes.grown_by_windows(daemon, 3 * ARENAS)
    # Each of the two has compilers, whose arenas come and go by some MiB.
    assert statistics.median(more[:WINDOWS]) <= LIMIT, more
    # The compilers' arenas come and go by some MiB, so of some windows the least is what stays.
    assert min(more[-ARENAS:]) - min(more[ARENAS:2 * ARENAS]) <= 2 * MIB, more
    classes.stop()


@test_on_jdks
def classes_that_come_and_go_have_their_names(jdk):
    daemon, jvm = Daemon(), Workload(jdk, "ClassChurn")
    quality = daemon.attach(jvm.pid, "--kinds", "cpu", cpu_s=5)["quality"]  # Its compilers take half of it, or more.
    note(f"{quality['contexts_recognised']} contexts told, {quality['names_lost']} meetings with methods of no name")
    assert quality["contexts_recognised"] > 30, quality
    assert quality["names_lost"] <= quality["contexts_recognised"] / 50, quality
    assert "ManyClasses$Copy" in daemon.ctl("report", "w1").stdout
    jvm.stop()
    daemon.stop()


run(at_once=2)
