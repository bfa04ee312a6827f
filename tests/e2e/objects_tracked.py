"""The agent's view of objects, held against the memory of the JVM itself: it is stopped in an epoch whose
positions have arrived, and every tracked object must lie where the agent said, by its content."""
# Starts early: it takes long (many collectors).
import bisect
import collections
import os
import signal
import struct
import time

from lib import add_test, jdks, make_directory, need_root, note, run, test_on_jdks, wait_until
from support.agent import HEAP, Agent
from support.profile import Workload
from support.target import Snapshot, at_rest

MAGIC = 0x4F424A0000000000
ARRAY = "long[]"
# At how many stops there have to be more than so many arrays, how many of them have to be seen at two, and how often the
# JVM is stopped for that: few are tracked, and fewer for so long, where the agent has little processor time.
STOPS = 2
LEAST_ARRAYS = 10
LEAST_TWICE = 20
MOST_STOPS = 16
ELEMENTS = 2048
SIZES = (16400, 16408)  # with headers of 16 and of 24 bytes
TOUCHED = 7  # TrackedObjects.TOUCHED
LEAST_ACCESSES = 10

COLLECTORS = {
    "Serial": ["-XX:+UseSerialGC"],
    "Parallel": ["-XX:+UseParallelGC"],
    "G1": ["-XX:+UseG1GC"],
    # Collections only when needed, or asked for. With generations an eighth of the heap may be tracked.
    "ZGC": ["-XX:+UseZGC", "-Xmx512m", "-XX:+UnlockDiagnosticVMOptions", "-XX:-ZProactive"],
    "Shenandoah": ["-XX:+UseShenandoahGC"],
    "G1, compact headers": ["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"],
    "Shenandoah, generational": ["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"],
}
UNLOCKED = ["-XX:+UnlockExperimentalVMOptions"]


class Tracked:
    """What an engine would know: where each object is, epoch by epoch."""

    def __init__(self):
        self.objects = {}  # number -> [address, size, class]
        self.survivors = set()  # that were seen to move
        self.names = {}
        self.epoch = None  # settled
        self.passes = self.moved = self.died = 0
        self.taken = 0
        self.known = {}  # epoch -> [(address, size, since when)] of the arrays, once it is settled
        self.settled = set()
        self.accesses = collections.defaultdict(list)  # by epoch

    def offsets(self, size):
        """At which offsets of arrays of a size the accesses of settled epochs lie, and the accesses."""
        found = collections.defaultdict(list)
        for epoch in self.settled & self.accesses.keys():
            born = {}
            for address, bytes_, since in self.known[epoch]:
                if bytes_ == size:
                    born[address] = max(since, born.get(address, 0))
            arrays = sorted(born)
            for access in self.accesses[epoch]:
                place = bisect.bisect_right(arrays, access.address) - 1
                if place < 0 or access.address >= arrays[place] + size or access.time_ns < born[arrays[place]]:
                    continue
                found[access.address - arrays[place]].append(access)
        return found

    def take(self, batches):
        arrived = batches[self.taken :]
        self.taken += len(arrived)
        for batch in arrived:
            self.names.update((c.id, c.name) for c in batch.classes)
            for access in batch.of("event_access"):
                if access.region == HEAP:
                    self.accesses[access.epoch].append(access)
            # In the order in which they were sent: what an epoch was settled without has an address of an older one.
            for e in batch.events:
                if e.record == "event_allocation":
                    self._allocated(e)
                elif e.record == "event_position":
                    self._found(e)
                elif e.record == "event_settled":
                    self._settled(e)

    def _allocated(self, a):
        if a.object == 0:  # It is too small.
            assert a.address == 0 and a.weight >= 1, a
            return
        assert a.object not in self.objects and a.weight >= 1 and a.epoch % 2 == 0, a
        # An engine holds passes back: it would take the silence of one that was settled before for a confirmation.
        assert a.address == 0 or self.epoch is None or a.epoch >= self.epoch, (a, self.epoch)
        self.objects[a.object] = [a.address, a.size_bytes, self.names[a.class_id]]
        if a.address and self.names[a.class_id] == ARRAY:
            self.known.setdefault(a.epoch, []).append((a.address, a.size_bytes, a.time_ns))

    def _found(self, p):
        if p.address:
            self.objects[p.object][0] = p.address
            self.survivors.add(p.object)
            self.moved += 1
        else:
            del self.objects[p.object]
            self.survivors.discard(p.object)
            self.died += 1

    def _settled(self, s):
        assert self.epoch is None or s.epoch > self.epoch, (self.epoch, s.epoch)
        self.epoch = s.epoch
        self.settled.add(s.epoch)
        arrays = [(address, size, 0) for address, size, name in self.objects.values() if name == ARRAY]
        self.known.setdefault(s.epoch, []).extend(arrays)
        self.passes += 1


def content(memory, address, size):
    """The number that an array holds at both ends, or None when this is none of our arrays."""
    words = struct.unpack(f"<{size // 8}Q", os.pread(memory, size // 8 * 8, address))
    first = next((w for w in words[1:4] if w & ~0xFFFFFFFF == MAGIC), None)
    return first - MAGIC if first is not None and words[-1] == first else None


class Target(Workload):
    def __init__(self, jdk, options, elements, arrays=1500):
        self.control = os.path.join(make_directory(), "quiet")
        properties = [f"-Dcontrol={self.control}", f"-Delements={elements}", f"-Darrays={arrays}"]
        super().__init__(jdk, "TrackedObjects", *UNLOCKED, "-Xmx256m", *options, *properties)
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
    """Waits until batches that were sent from now on bring no new position any more.

    Those that arrive now may be old: on a busy machine they wait for this process to read them.
    """
    now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    quiet_since = [None, 0]

    def is_settled():
        tracked.take(agent.batches)
        new = sum(1 for b in agent.batches[-10:] if b.time_ns > now_ns)
        if new == 0 or quiet_since[0] != (tracked.passes, len(tracked.objects)):
            quiet_since[:] = [(tracked.passes, len(tracked.objects)), len(agent.batches)]
        return len(agent.batches) > quiet_since[1] + 3

    wait_until(is_settled, "an end of the passes", 60)


def every_tracked_object_lies_where_it_was_said_to(jdk, options):
    need_root()
    target = Target(jdk, options, elements=ELEMENTS)
    agent = Agent(jdk, target.pid)
    agent.start(min_size=4096, period_ns=300_000)
    tracked, known, seen_twice, full_stops = Tracked(), {}, 0, 0
    wait_until(lambda: agent.counter("sampled") > 2000, "allocations", 60)

    def examine(memory):
        nonlocal seen_twice, full_stops
        settle(agent, tracked)
        os.kill(target.pid, signal.SIGSTOP)
        try:
            arrays = {n: o for n, o in tracked.objects.items() if o[2] == ARRAY and o[1] in SIZES}
            numbers = {n: content(memory, address, size) for n, (address, size, _) in arrays.items()}
        finally:
            os.kill(target.pid, signal.SIGCONT)
        wrong = [n for n, number in numbers.items() if number is None]
        assert not wrong, f"{len(wrong)} of {len(numbers)} tracked addresses hold no array of ours"
        changed = [n for n, number in numbers.items() if known.setdefault(n, number) != number]
        assert not changed, f"{len(changed)} of {len(numbers)} tracked addresses hold another array"
        assert len(set(numbers.values())) == len(numbers), "two tracked objects lie in one place"
        full_stops += len(arrays) > LEAST_ARRAYS
        seen_twice += sum(1 for n in numbers if known[n] == numbers[n]) if target.stops > 1 else 0

    def enough_survive():
        tracked.take(agent.batches)
        return len(tracked.survivors) > 40

    # The interval is still long in the beginning.
    wait_until(enough_survive, "objects that survive collections", 90)
    while (full_stops < STOPS or seen_twice <= LEAST_TWICE) and target.stops < MOST_STOPS:
        before = agent.counter("passes")
        wait_until(lambda: agent.counter("passes") >= before + 2, "two collections", 60)
        target.stopped(examine)
    wait_for_accesses(agent, tracked)
    assert agent.finish() == "", agent.ended
    tracked.take(agent.batches)
    tally = (tracked.moved, tracked.died, len(known), full_stops, seen_twice, target.stops, agent.latest.object_interval)
    assert tracked.moved > 100 and tracked.died > 100, tally
    assert full_stops >= STOPS and seen_twice > LEAST_TWICE, tally
    counters = {n: agent.counter(n) for n in ("sampled", "moved", "died", "passes", "overtaken", "pass_ns")}
    note(f"{agent.hello.gc}: {counters}, {len(known)} objects verified, {seen_twice} of them twice")
    assert_accesses_fit(tracked)
    assert target.alive()
    target.stop()


def size_of_arrays(tracked):
    return max((o[1] for o in tracked.objects.values() if o[1] in SIZES), default=SIZES[0])


def wait_for_accesses(agent, tracked):
    """They come with CPU time, and count once their epoch is settled."""
    passes = 0

    def enough():
        nonlocal passes
        tracked.take(agent.batches)
        if tracked.passes == passes:
            return False
        passes = tracked.passes
        return sum(map(len, tracked.offsets(size_of_arrays(tracked)).values())) >= LEAST_ACCESSES

    wait_until(enough, "accesses to tracked arrays", 60)


def assert_accesses_fit(tracked):
    """The program touches an array in few places: an address of another epoch would lie anywhere in it."""
    size = size_of_arrays(tracked)
    header = size - 8 * ELEMENTS
    allowed = {header, header + 8 * TOUCHED, size - 8, *range(header)}
    offsets = tracked.offsets(size)
    total, touched = sum(map(len, offsets.values())), len(offsets[header + 8 * TOUCHED])
    wrong = {offset: accesses for offset, accesses in offsets.items() if accesses and offset not in allowed}
    note(f"{total} accesses to tracked arrays, {touched} of them to the element that is read, {len(wrong)} wrong")
    assert total >= LEAST_ACCESSES, total
    assert not wrong, wrong


# With regions of 1 MiB these are humongous: more than half of one.
HUMONGOUS_ELEMENTS = 80_000
HUMONGOUS_ARRAYS = 40


@test_on_jdks
def humongous_arrays_are_tracked_where_they_lie_until_they_die(jdk):
    need_root()
    target = Target(jdk, ["-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m"], HUMONGOUS_ELEMENTS, HUMONGOUS_ARRAYS)
    agent = Agent(jdk, target.pid)
    agent.start(min_size=4096)
    tracked, verified = Tracked(), 0

    def examine(memory):
        nonlocal verified
        settle(agent, tracked)
        arrays = [o for o in tracked.objects.values() if o[2] == ARRAY and o[1] > 8 * HUMONGOUS_ELEMENTS]
        numbers = [content(memory, address, size) for address, size, _ in arrays]
        assert None not in numbers and len(set(numbers)) == len(numbers), numbers
        # A full collection leaves none but those that the program holds, and a few in its threads' hands.
        assert 10 < len(arrays) <= HUMONGOUS_ARRAYS + 3, len(arrays)
        verified += len(arrays)

    for _ in range(STOPS):
        before = agent.counter("sampled")
        wait_until(lambda before=before: agent.counter("sampled") > before + 500, "allocations", 60)
        target.stopped(examine)
    assert agent.finish() == "", agent.ended
    tracked.take(agent.batches)
    large = [o for o in tracked.objects.values() if o[1] > 8 * HUMONGOUS_ELEMENTS]
    note(f"{verified} verified, {tracked.died} died, {len(large)} at the end")
    assert tracked.died > 1000, tracked.died
    target.stop()


for _jdk in jdks():
    for _name, _options in COLLECTORS.items():
        if _jdk.runs_with(*UNLOCKED, *_options):
            add_test(
                f"every tracked object lies where it was said to ({_jdk}, {_name})",
                lambda jdk=_jdk, options=_options: every_tracked_object_lies_where_it_was_said_to(jdk, options),
            )


@test_on_jdks
def a_window_with_objects_leaves_nothing_in_the_target(jdk):
    target = Target(jdk, ["-XX:+UseSerialGC"], elements=ELEMENTS)
    before = None
    for _ in range(3):
        agent = Agent(jdk, target.pid)
        agent.start()
        wait_until(lambda agent=agent: agent.counter("sampled") > 0, "allocations", 60)
        assert agent.finish() == "", agent.ended
        agent.stop()
        wait_until(lambda: at_rest(target.pid), "an end of the window", 5)
        before = before or Snapshot(target.pid)
    wait_until(lambda: not before.differences(Snapshot(target.pid)), "the state of the first window", 5)
    assert target.alive()
    target.stop()


@test_on_jdks
def smaller_objects_than_asked_for_are_told_and_not_tracked(jdk):
    target = Target(jdk, ["-XX:+UseSerialGC"], elements=64)
    agent = Agent(jdk, target.pid)
    agent.start(min_size=4096)
    wait_until(lambda: agent.counter("small") > 20, "small objects", 60)
    assert agent.finish() == "", agent.ended
    allocations = [a for b in agent.batches for a in b.of("event_allocation")]
    tracked, told = [a for a in allocations if a.object], [a for a in allocations if not a.object]
    assert all(a.size_bytes >= 4096 for a in tracked) and all(a.size_bytes < 4096 for a in told), allocations
    # The thread that allocates may be within an event when the window ends: that one is counted, and told to nobody.
    small, sampled = agent.counter("small"), agent.counter("sampled")
    assert small - len(told) in (0, 1) and sampled - small - len(tracked) in (0, 1), (small, len(told), sampled, len(tracked))
    target.stop()


@test_on_jdks
def what_the_table_has_no_room_for_is_counted(jdk):
    target = Target(jdk, ["-XX:+UseSerialGC"], elements=ELEMENTS)
    agent = Agent(jdk, target.pid)
    agent.start(objects=10)
    wait_until(lambda: agent.counter("untracked") > 0, "objects without room", 60)
    assert agent.finish() == "", agent.ended
    tracked, most = Tracked(), 0
    for i in range(len(agent.batches)):
        tracked.take(agent.batches[: i + 1])
        most = max(most, len(tracked.objects))
    assert 0 < most <= 10, most
    target.stop()


run(at_once=2)
