"""jxperf on a machine with two NUMA nodes: a guest that qemu emulates (see docs/extending.md).

The guest boots once, runs tests/numa/init, and is off when it is done; the tests judge what it printed.
"""
# Starts early: it takes long (it emulates a machine).
# Estimates: shares, from samples in a slow machine.
import functools
import json
import os
import platform
import re
import shutil
import subprocess
import time

from lib import BUILD, Process, note, run, skip, test

GUEST = os.path.join(BUILD, "numa")
QEMU = "qemu-system-x86_64"
# It takes half a minute on an idle machine, two on a busy one.
LIMIT_S = 900
NODE_MIB = 1280
HOST_MIB = 3072

# Where RemoteRead initialises and reads, and LocalRead does both.
INITIALISER_NODE, READER_NODE = 0, 1

REMOTE_LEAST, LOCAL_MOST = 0.8, 0.2
LEAST_SAMPLES = 20  # What the report wants before it gives advice.

LEAST_TRAPS = 10  # Hundreds on an idle machine.
# The rest is what the JVM touched while it started.
MOST_PAGES = 0.80


# ---------------------------------------------------------------- the guest


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def need_guest():
    if platform.machine() != "x86_64":
        skip(f"the guest is an x86-64 machine, this one is {platform.machine()}")
    reason = os.path.join(GUEST, "unavailable")
    if os.path.exists(reason):
        skip(read(reason).strip())
    if not shutil.which(QEMU):
        skip(f"no {QEMU}: 'make numa-guest' installs it")
    for part in ("vmlinuz", "initramfs.cpio"):
        if not os.path.exists(os.path.join(GUEST, part)):
            skip(f"no '{os.path.join(GUEST, part)}': 'make numa-guest' makes it")
    free_mib = int(re.search(r"MemAvailable: *(\d+) kB", read("/proc/meminfo")).group(1)) // 1024
    if free_mib < HOST_MIB:
        skip(f"the guest needs {HOST_MIB} MiB of memory, {free_mib} MiB are free")


def command():
    """Emulated, because hardware virtualisation is seldom to be had where tests run."""
    nodes = []
    for node in (0, 1):
        nodes += ["-object", f"memory-backend-ram,id=m{node},size={NODE_MIB}M"]
        nodes += ["-numa", f"node,nodeid={node},cpus={node},memdev=m{node}"]
    # The kernel must not move pages to where they are read: the programs are to stay what they are.
    append = "console=ttyS0 quiet panic=-1 numa_balancing=disable"
    return [
        *[QEMU, "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max"],
        *["-smp", "2,sockets=2,cores=1,threads=1", "-m", str(2 * NODE_MIB), *nodes],
        *["-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot"],
        *["-kernel", os.path.join(GUEST, "vmlinuz"), "-initrd", os.path.join(GUEST, "initramfs.cpio")],
        *["-append", append],
    ]


class Guest:
    """What the sections of the guest's console say, by name."""

    def __init__(self):
        start = time.monotonic()
        qemu = Process(command())
        try:
            qemu.child.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the guest is not done after {LIMIT_S} s: {qemu.output()[-2000:]}") from None
        console = qemu.output().replace("\r\n", "\n")
        sections = re.findall(r"^@@ begin (\S+)\n(.*?)^@@ end \1 (\d+)$", console, re.M | re.S)
        self.sections = {name: (text, int(status)) for name, text, status in sections}
        assert "uptime" in self.sections, f"the guest ended early: {console[-2000:]}"
        note(f"the guest was off after {time.monotonic() - start:.0f} s")

    def text(self, name):
        """The output of a command that must have worked."""
        text, status = self.sections[name]
        assert status == 0, f"{name}: exit status {status}: {self.errors(name)}{text}"
        return text

    def errors(self, name):
        return self.sections[f"{name}.errors"][0]

    def json(self, name):
        return json.loads(self.text(name))


@functools.lru_cache(maxsize=None)
def boot():
    """The guest, or why it failed: it is not tried once for every test."""
    try:
        return Guest(), None
    except Exception as error:  # pylint: disable=broad-except; every test raises it
        return None, error


def guest():
    need_guest()
    booted, error = boot()
    if error:
        raise error
    return booted


# ---------------------------------------------------------------- what it must say


def assert_check(items):
    failed = [item for item in items if item["result"] == "failed"]
    assert items and not failed, failed


def assert_silent_loads(report):
    """The reader loads the same values again and again."""
    found = report["inefficiency"][0]
    quality = report["quality"]
    note(f"{report['window']['app']}: {quality['traps']} pairs, fraction {found['fraction']:.3f}")
    assert quality["traps"] >= LEAST_TRAPS, quality
    assert quality["dropped"] == 0, quality
    assert found["fraction"] > 0.9, found["pairs"][:3]
    leaf = found["pairs"][0]["watch"]["frames"][0]
    assert (leaf["class"], leaf["method"]) == ("Rounds", "read"), leaf


def heap_pages(program):
    """How many of the heap's touched pages lie on each node, as the kernel says it."""
    where = re.search(r"Heap address: 0x([0-9a-f]+), size: (\d+) MB", guest().text(f"{program}.heap"))
    first = int(where.group(1), 16)
    end = first + int(where.group(2)) * 1024 * 1024
    pages = [0, 0]
    for line in guest().text(f"{program}.maps").splitlines():
        if first <= int(line.split()[0], 16) < end:
            for node, count in re.findall(r"\bN(\d+)=(\d+)", line):
                pages[int(node)] += int(count)
    return pages


def assert_heap_on(program, node):
    pages = heap_pages(program)
    note(f"{program}: {pages[0]} heap pages on node 0, {pages[1]} on node 1")
    assert pages[node] > MOST_PAGES * sum(pages), pages


@test
def the_guest_has_two_nodes():
    assert guest().text("nodes").strip() == "0-1", guest().text("nodes")
    note(guest().text("kernel").strip())


@test
def check_finds_the_guest_fit():
    assert_check(guest().json("check"))


@test
def a_watchpoints_signal_waits_while_it_is_blocked_in_the_guests_kernel():
    item = next(item for item in guest().json("check") if item["name"] == "watchpoint signals")
    assert item["result"] == "ok", item


@test
def first_touches_are_traced_without_tracefs():
    items = {item["name"]: item for item in guest().json("check")}
    assert items["numa"]["detail"] == "2 nodes", items["numa"]
    assert items["first touches"]["result"] == "ok", items["first touches"]


@test
def check_finds_a_jvm_in_the_guest_fit():
    assert_check(guest().json("RemoteRead.check"))


def events_of(program):
    return next(item["detail"] for item in guest().json(f"{program}.check") if item["name"] == "events")


@test
def a_jvm_of_root_opens_its_own_events():
    assert events_of("LocalRead") == "it may open its own", events_of("LocalRead")
    assert_silent_loads(guest().json("LocalRead.pairs"))


@test
def a_jvm_that_the_kernel_refuses_events_gets_them_from_the_daemon():
    assert "perf_event_paranoid is above 2" in events_of("RemoteRead"), events_of("RemoteRead")
    assert_silent_loads(guest().json("RemoteRead.pairs"))


@test
def what_another_node_initialised_lies_there():
    assert_heap_on("RemoteRead", INITIALISER_NODE)


@test
def what_the_reader_initialised_lies_on_its_node():
    assert_heap_on("LocalRead", READER_NODE)


def assert_numa(program, initialiser, remote):
    """The report on the program whose arrays are filled on the node `initialiser` and read on READER_NODE."""
    if "does not know kind" in guest().errors(f"{program}.numa"):
        skip("the agent does not sample accesses to objects yet")
    report = guest().json(f"{program}.numa")
    numa = report["numa"]
    note(f"{program}: {numa}")
    assert numa["nodes"] == 2 and numa["samples"] >= LEAST_SAMPLES, numa
    assert remote(numa["remote_fraction"]), numa
    site = report["objects"][0]
    note(f"{program}: {site['class']} {site['numa']}")
    assert (site["class"], site["alloc_frames"][0]["method"]) == ("int[]", "fill"), site["alloc_frames"]
    assert site["numa"]["samples"] >= LEAST_SAMPLES, site["numa"]
    assert remote(site["numa"]["remote_fraction"]), site["numa"]
    assert site["numa"]["alloc_node"] == initialiser, site["numa"]
    assert largest(site["numa"]["first_touch"]) == initialiser, site["numa"]
    assert largest(site["numa"]["page_on"]) == initialiser, site["numa"]
    assert largest(site["numa"]["accessed_from"]) == READER_NODE, site["numa"]
    return site["numa"]


def largest(shares):
    """The node that has most, which must be nearly all."""
    assert shares[0]["fraction"] > MOST_PAGES, shares
    return shares[0]["node"]


@test
def reading_what_another_node_initialised_is_reported_as_remote():
    site = assert_numa("RemoteRead", INITIALISER_NODE, lambda fraction: fraction > REMOTE_LEAST)
    assert "initialised on node 0, accessed from node 1" in site["advice"], site


@test
def reading_what_the_reader_initialised_is_reported_as_local():
    site = assert_numa("LocalRead", READER_NODE, lambda fraction: fraction < LOCAL_MOST)
    assert "advice" not in site, site


run()
