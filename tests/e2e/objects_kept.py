"""What tracking keeps alive: nothing. The collector's own log tells how much is left after its pauses in a
window with objects, and beside one."""
import statistics
import time

from lib import note, run, test_on_jdks, wait_until
from support.gc_log import GcLog
from support.profile import Daemon, Workload

SLOT_S = 6
ROUNDS = 2


@test_on_jdks
def humongous_garbage_is_reclaimed_as_without_a_window(jdk):
    log = GcLog()
    jvm = Workload(jdk, "GrowthArrays", "-Xmx1g", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", log.option())
    daemon = Daemon()
    beside, inside = [], []

    def pauses(action):
        before = len(log.left_mib())
        action()
        return log.left_mib()[before:]

    def window():
        report = daemon.attach(jvm.pid, "--kinds", "objects", duration=f"{SLOT_S}s")
        assert report["quality"]["objects_sampled"] > 100, report["quality"]
        # Tracked they are, by their addresses.
        assert report["quality"]["objects_died"] > 50, report["quality"]

    wait_until(lambda: len(log.left_mib()) > 10, "collections", 60)
    for _ in range(ROUNDS):
        beside += pauses(lambda: time.sleep(SLOT_S))
        inside += pauses(window)
    note(f"in use after a pause, median MiB: {statistics.median(beside):.0f} beside a window, "
         f"{statistics.median(inside):.0f} in one; {len(beside)} and {len(inside)} pauses")
    # A weak reference to each that was sampled left some 790 MiB instead of 5.
    assert statistics.median(inside) < 2 * statistics.median(beside) + 32, (beside, inside)
    daemon.stop()
    jvm.stop()


run()
