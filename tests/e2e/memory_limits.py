"""JVMs at the limit of their memory: an attach that could end them is refused, and says what to do."""
import json
import os
import re
import subprocess
import time

from lib import jdks, make_directory, need_root, note, run, test, test_on_jdks, wait_until
from support.attach import Jvm
from support.cgroup import Group, number
from support.profile import Daemon, Workload, report_of

MIB = 1 << 20

# Memory that a JVM with a full heap still uses up by itself.
DRIFT = 2 * MIB
# Less than the agent may take, and more than it takes of an idle JVM (3.5 MiB with 200 threads).
SCARCE = 12 * MIB
# Likewise of address space; 27 MiB are taken.
SCARCE_ADDRESSES = 44 * MIB

WINDOW = "1s"


def settled(group):
    """Waits until the use of the group stays the same for a while."""
    last = [group.use(), time.monotonic()]

    def steady():
        use = group.use()
        if abs(use - last[0]) > MIB // 2:
            last[:] = [use, time.monotonic()]
        return time.monotonic() - last[1] > 0.5

    wait_until(steady, "a steady use of memory")
    return group.use()


def memory_item(daemon, jvm):
    items = json.loads(daemon.ctl("--json", "check", str(jvm.pid)).stdout)
    return next(item for item in items if item["name"] == "memory")


def assert_refused(daemon, jvm, *words):
    result = daemon.ctl("attach", str(jvm.pid), "--duration", WINDOW)
    assert result.returncode == 1, result
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and "--force" in lines[0], lines
    for word in words:
        assert word in lines[0], lines
    assert jvm.alive(), "the JVM ended"
    item = memory_item(daemon, jvm)
    assert item["result"] == "failed" and "--force" in item["detail"], item
    assert daemon.ctl("check", str(jvm.pid)).returncode == 1


def full_heap(jdk, group):
    return Jvm(jdk, "-Xms64m", "-XX:+AlwaysPreTouch", prefix=group.enter())


@test_on_jdks
def a_jvm_at_its_cgroups_limit_is_refused_and_lives(jdk):
    need_root()
    group = Group()
    jvm, daemon = full_heap(jdk, group), Daemon()
    item = memory_item(daemon, jvm)
    assert item["result"] == "ok", item
    group.limit(settled(group) + DRIFT)
    assert_refused(daemon, jvm, os.path.basename(group.path))
    assert group.kills() == 0, group.kills()
    jvm.stop()
    daemon.stop()
    group.stop()


@test
def a_limit_further_up_counts_and_force_overrides_it():
    need_root()
    jdk = jdks()[0]
    outer = Group()
    inner = Group(outer)
    jvm, daemon = full_heap(jdk, inner), Daemon()
    outer.limit(settled(outer) + SCARCE)
    assert_refused(daemon, jvm)
    daemon.attach(jvm.pid, "--force", duration=WINDOW)
    assert jvm.alive() and inner.kills() == 0
    jvm.stop()
    daemon.stop()
    inner.stop()
    outer.stop()


@test
def page_cache_at_the_limit_is_no_reason_to_refuse():
    need_root()
    group = Group()
    jvm, daemon = full_heap(jdks()[0], group), Daemon()
    group.limit(settled(group) + 96 * MIB)
    # More than there is room for, read by a process of the group.
    path = os.path.join(make_directory(), "data")
    with open(path, "wb") as f:
        for _ in range(200):
            f.write(b"x" * MIB)
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    subprocess.run([*group.enter(), "cat", path], stdout=subprocess.DEVNULL, check=True)
    assert group.use() > number(group.file("limit")) - 16 * MIB, group.use()
    report_of(daemon.ctl("attach", str(jvm.pid), "--duration", WINDOW, "--format", "json"))
    assert jvm.alive() and group.kills() == 0
    jvm.stop()
    daemon.stop()
    group.stop()


CLASSES = 60_000


def idle_classes(jdk, **options):
    """A JVM with so many classes, of which nothing is taken, that does nothing, and whose heap does not grow."""
    return Workload(jdk, "ManyClasses", "-Xms200m", "-Xmx200m", "-XX:+AlwaysPreTouch",
                    arguments=[str(CLASSES), "1000", "idle"], **options)


def resident(jvm, peak=False):
    with open(f"/proc/{jvm.pid}/status", encoding="ascii", errors="replace") as f:
        return int(re.search(r"VmHWM:\s+(\d+)" if peak else r"VmRSS:\s+(\d+)", f.read()).group(1)) * 1024


def steady_resident(jvm):
    """Once the compilers are done."""
    last = [resident(jvm), time.monotonic()]

    def steady():
        if abs(resident(jvm) - last[0]) > MIB // 8:
            last[:] = [resident(jvm), time.monotonic()]
        return time.monotonic() - last[1] > 3

    wait_until(steady, "a steady size", 60)
    return resident(jvm)


@test_on_jdks
def what_an_attach_takes_is_what_check_said(jdk):
    need_root()  # To have the kernel forget the peak.
    jvm, daemon = idle_classes(jdk), Daemon()
    said = float(re.search(r"attaching takes ([0-9.]+) MiB", memory_item(daemon, jvm)["detail"]).group(1))
    before = steady_resident(jvm)
    with open(f"/proc/{jvm.pid}/clear_refs", "w", encoding="ascii") as f:
        f.write("5")
    daemon.attach(jvm.pid, duration="2s")
    taken = (resident(jvm, peak=True) - before) / MIB
    note(f"said {said:.1f} MiB, taken {taken:.1f} with {CLASSES} classes")
    assert abs(taken - said) < 0.1 * taken, (said, taken)
    jvm.stop()
    daemon.stop()


def address_space(jvm):
    with open(f"/proc/{jvm.pid}/status", encoding="ascii", errors="replace") as f:
        return int(re.search(r"^VmSize:\s+(\d+) kB", f.read(), re.M).group(1)) * 1024


@test_on_jdks
def a_jvm_at_the_limit_of_its_address_space_is_refused(jdk):
    jvm, daemon = Jvm(jdk), Daemon()
    limit = address_space(jvm) + SCARCE_ADDRESSES
    subprocess.run(["prlimit", "--pid", str(jvm.pid), f"--as={limit}"], check=True)
    assert_refused(daemon, jvm, "RLIMIT_AS")
    daemon.attach(jvm.pid, "--force", duration=WINDOW)
    assert jvm.alive()
    jvm.stop()
    daemon.stop()


run(at_once=2)
