"""What tracking keeps alive: nothing. The collector's own log tells how much is left after its pauses in a
window with objects, and beside one."""
# Starts early: it takes long (many windows).
# Estimates: what a collector leaves, from its pauses.
import statistics
import time

from lib import note, run, test_on_jdks, wait_until
from support.gc_log import GcLog
from support.profile import Daemon, Workload

# Of a window, and as long beside one.
CPU_S = 3
MOST_ROUNDS = 8
# Tracked they are, by their addresses: as many as would be seen if they were kept, of up to 2 MiB each.
ENOUGH = 200


@test_on_jdks
def humongous_garbage_is_reclaimed_as_without_a_window(jdk):
    log = GcLog()
    jvm = Workload(jdk, "GrowthArrays", "-Xmx1g", "-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", log.option())
    daemon = Daemon()
    beside, inside, died = [], [], 0

    def pauses(action, *arguments):
        before = len(log.left_mib())
        result = action(*arguments)
        return log.left_mib()[before:], result

    def window():
        return daemon.attach(jvm.pid, "--kinds", "objects", cpu_s=CPU_S)

    wait_until(lambda: len(log.left_mib()) > 10, "collections", 60)
    for _ in range(MOST_ROUNDS):
        found, report = pauses(window)
        inside += found
        died += report["quality"]["objects_died"]
        beside += pauses(time.sleep, report["window"]["duration_s"])[0]
        if died >= ENOUGH:
            break
    assert died >= ENOUGH, (died, report["quality"])
    note(f"in use after a pause, median MiB: {statistics.median(beside):.0f} beside a window, "
         f"{statistics.median(inside):.0f} in one; {len(beside)} and {len(inside)} pauses")
    # A weak reference to each that was sampled left some 790 MiB instead of 5.
    assert statistics.median(inside) < 2 * statistics.median(beside) + 32, (beside, inside)
    daemon.stop()
    jvm.stop()


run()
