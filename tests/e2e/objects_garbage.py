"""Live at the end of a window, or not yet collected: a program whose every array is garbage at once."""
# Estimates: how many of few objects were met.
import functools

from lib import Process, add_test, compile_java, jdks, note, run
from support.profile import OPTION_OF, Daemon, succeeded

GARBAGE = """
public class Garbage {
    static volatile Object sink;
    public static void main(String[] args) throws Exception {
        long sum = 0;
        for (int round = 0; ; round++) {
            for (int i = 0; i < 50; i++) {
                long[] array = new long[2000];
                for (int k = 0; k < array.length; k++) array[k] = k * sum;
                sum += array[1000];
                sink = array;
                sink = null;
            }
            Thread.sleep(1);
            if (round == 500) System.out.println("up");
        }
    }
}
"""

# One in this many that is called live may be garbage that a collection has looked at: it took what it
# met while it began for live, or an array was the last in use.
JUDGED_SHARE = 0.05
LEAST_MIB = 50


@functools.lru_cache(maxsize=None)
def classes():
    return compile_java({"Garbage.java": GARBAGE})


def garbage_is_not_called_live(jdk, collector, heap):
    target = Process([jdk.java, heap, OPTION_OF[collector], "-cp", classes(), "Garbage"])
    target.wait_for("up")
    daemon = Daemon()
    report = daemon.attach(target.pid, "--kinds", "objects", duration="3s")
    sites = [o for o in report["objects"] if o["class"] == "long[]"]
    allocated, live, uncollected = (sum(s[k] for s in sites) for k in ("alloc_bytes", "live_bytes", "uncollected_bytes"))
    note(f"{jdk}, {collector}, {heap}: of {allocated >> 20} MiB allocated {live >> 20} live, "
         f"{uncollected >> 20} of them not yet collected")
    assert allocated > LEAST_MIB << 20, allocated
    assert live - uncollected <= JUDGED_SHARE * allocated, (live, uncollected, allocated)
    text = succeeded(daemon.ctl("report", "w1"))
    anywhere = report["objects_summary"]["uncollected_bytes"]
    assert ("not yet collected" in text) == (anywhere > 0), (anywhere, text)
    target.stop()
    daemon.stop()


for each in jdks():
    # The last heap is too large for a collection of the old generation in this time.
    for which, size in (("G1", "-Xmx64m"), ("ZGC", "-Xmx256m"), ("ZGC", "-Xmx3g")):
        if size == "-Xmx3g" and each.release != jdks()[-1].release:
            continue
        add_test(f"garbage is not called live ({each}, {which}, {size})",
                 functools.partial(garbage_is_not_called_live, each, which, size))

run(at_once=2)
