"""The agent's view of objects, held against the memory of the JVM itself: it is stopped in an epoch whose
positions have arrived, and every tracked object must lie where the agent said, by its content."""
import collections
import os
import signal
import struct

from lib import add_test, jdks, make_directory, need_root, note, run, test, wait_until
from support.agent import HEAP, OBJECTS, Agent
from support.profile import Workload

MAGIC = 0x4F424A0000000000
ARRAY = "long[]"
STOPS = 4

COLLECTORS = {
    "Serial": ["-XX:+UseSerialGC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "G1": ["-XX:+UseG1GC"],
    # Collections only when needed, or asked for.
    "ZGC": ["-XX:+UseZGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:-ZProactive"],
    "Shenandoah": ["-XX:+UseShenandoahGC"],
    "G1, compact headers": ["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"],
    "Shenandoah, generational": ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"],
}
UNLOCKED = ["-XX:+UnlockExperimentalVMOptions"]


def runs(jdk, options):
    """Does this JDK have the collector?"""
    import subprocess

    command = [jdk.java, *UNLOCKED, *options, "-Xmx64m", "-version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Tracked:
    """What an engine would know: where each object is, epoch by epoch."""

    def __init__(self):
        self.objects = {}  # number -> [address, size, class]
        self.names = {}
        self.epoch = None  # settled
        self.passes = self.moved = self.died = 0
        self.taken = 0

    def take(self, batches):
        arrived = batches[self.taken :]
        self.taken += len(arrived)
        for batch in arrived:
            self.names.update((c.id, c.name) for c in batch.classes)
            for a in batch.allocations:
                assert a.object not in self.objects and a.weight >= 1 and a.epoch % 2 == 0, a
                self.objects[a.object] = [a.address, a.size_bytes, self.names[a.class_id]]
            for p in batch.positions:
                assert len(p.moved) == len(p.address), p
                for number, address in zip(p.moved, p.address):
                    self.objects[number][0] = address
                for number in p.died:
                    del self.objects[number]
                self.moved += len(p.moved)
                self.died += len(p.died)
                if p.settled:
                    self.epoch = p.epoch
                    self.passes += 1


def content(memory, address, size):
    """The number that an array holds at both ends, or None when this is none of our arrays."""
    words = struct.unpack(f"<{size // 8}Q", os.pread(memory, size // 8 * 8, address))
    first = next((w for w in words[1:4] if w & ~0xFFFFFFFF == MAGIC), None)
    return first - MAGIC if first is not None and words[-1] == first else None


class Target(Workload):
    def __init__(self, jdk, options, elements, arrays=2000):
        self.control = os.path.join(make_directory(), "quiet")
        properties = [f"-Dcontrol={self.control}", f"-Delements={elements}", f"-Darrays={arrays}"]
        super().__init__(jdk, "TrackedObjects", *UNLOCKED, *options, "-Xmx256m", *properties)
        self.stops = 0

    def stopped(self, examine):
        """Runs examine(memory) while the JVM is stopped, after a full collection and what it entails."""
        self.stops += 1
        with open(self.control, "w", encoding="ascii"):
            pass
        self.wait_for(f"quiet {self.stops}\n", 60)
        memory = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)
        try:
            examine(memory)
        finally:
            os.close(memory)
            os.unlink(self.control)
        self.wait_for(f"churning {self.stops}\n")


def settle(agent, tracked):
    """Waits until no batch brings a new position any more."""
    quiet_since = [None, 0]

    def is_settled():
        tracked.take(agent.batches)
        if quiet_since[0] != (tracked.passes, len(tracked.objects)):
            quiet_since[:] = [(tracked.passes, len(tracked.objects)), len(agent.batches)]
        return len(agent.batches) > quiet_since[1] + 3

    wait_until(is_settled, "an end of the passes")


def every_tracked_object_lies_where_it_was_said_to(jdk, options):
    need_root()
    target = Target(jdk, options, elements=512)
    agent = Agent(jdk, target.pid)
    agent.start(min_size=4096)
    tracked, known, seen_twice = Tracked(), {}, 0
    wait_until(lambda: agent.counter("sampled") > 6000, "allocations", 60)

    def examine(memory):
        nonlocal seen_twice
        settle(agent, tracked)
        os.kill(target.pid, signal.SIGSTOP)
        try:
            arrays = {n: o for n, o in tracked.objects.items() if o[2] == ARRAY and o[1] in (4112, 4120)}
            assert len(arrays) > 20, len(arrays)
            numbers = {n: content(memory, address, size) for n, (address, size, _) in arrays.items()}
        finally:
            os.kill(target.pid, signal.SIGCONT)
        wrong = [n for n, number in numbers.items() if number is None]
        assert not wrong, f"{len(wrong)} of {len(numbers)} tracked addresses hold no array of ours"
        changed = [n for n, number in numbers.items() if known.setdefault(n, number) != number]
        assert not changed, f"{len(changed)} of {len(numbers)} tracked addresses hold another array"
        assert len(set(numbers.values())) == len(numbers), "two tracked objects lie in one place"
        seen_twice += sum(1 for n in numbers if known[n] == numbers[n]) if target.stops > 1 else 0

    for _ in range(STOPS):
        target.stopped(examine)
        before = agent.counter("passes")
        wait_until(lambda: agent.counter("passes") >= before + 2, "two collections", 60)
    assert agent.finish() == "", agent.ended
    tracked.take(agent.batches)
    assert tracked.moved > 100 and tracked.died > 100 and seen_twice > 100, (tracked.moved, tracked.died, seen_twice)
    counters = {n: agent.counter(n) for n in ("sampled", "moved", "died", "passes", "overtaken", "pass_ns")}
    note(f"{agent.hello.gc}: {counters}, {len(known)} objects verified")
    assert target.alive()
    target.stop()


for _jdk in jdks():
    for _name, _options in COLLECTORS.items():
        if runs(_jdk, _options):
            add_test(
                f"every tracked object lies where it was said to ({_jdk}, {_name})",
                lambda jdk=_jdk, options=_options: every_tracked_object_lies_where_it_was_said_to(jdk, options),
            )


run()
