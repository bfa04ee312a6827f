"""What tracking keeps alive: nothing. The collector's own log tells how much is left after its pauses in a
window with objects, and beside one."""
import statistics
import time

from lib import note, run, test_on_jdks, wait_until
from support.gc_log import GcLog
from support.profile import Daemon, Workload

# Of a window, and as long beside one.
CPU_S = 3
ROUNDS = 2


@test_on_jdks
def humongous_garbage_is_reclaimed_as_without_a_window(jdk):
    log = GcLog()
    jvm = Workload(jdk, "GrowthArrays", "-Xmx1g", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", log.option())
    daemon = Daemon()
    beside, inside = [], []

    def pauses(action, *arguments):
        before = len(log.left_mib())
        result = action(*arguments)
        return log.left_mib()[before:], result

    def window():
        report = daemon.attach(jvm.pid, "--kinds", "objects", cpu_s=CPU_S)
        assert report["quality"]["objects_sampled"] > 100, report["quality"]
        # Tracked they are, by their addresses.
        assert report["quality"]["objects_died"] > 50, report["quality"]
        return report["window"]["duration_s"]

    wait_until(lambda: len(log.left_mib()) > 10, "collections", 60)
    for _ in range(ROUNDS):
        found, lasted_s = pauses(window)
        inside += found
        beside += pauses(time.sleep, lasted_s)[0]
    note(f"in use after a pause, median MiB: {statistics.median(beside):.0f} beside a window, "
         f"{statistics.median(inside):.0f} in one; {len(beside)} and {len(inside)} pauses")
    # A weak reference to each that was sampled left some 790 MiB instead of 5.
    assert statistics.median(inside) < 2 * statistics.median(beside) + 32, (beside, inside)
    daemon.stop()
    jvm.stop()


run()
