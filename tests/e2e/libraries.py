"""Real libraries: the methods known for their silent loads are where the report finds them."""
# Estimates: fractions, from samples.
import os

from lib import note, run, skip, test_on_jdks
from support.profile import JARS, Daemon, Workload, assert_quality, share_through, the_one_kind

# The fractions do not depend on the budget. Measured: 311 to 457 pairs on a busy machine.
LEAST_TRAPS = 100
CPU_S = 2
BUDGET = "5%"

# Measured 0.99 to 1.00; the share of the method 0.98 to 1.00.
LEAST_FRACTION = 0.8
LEAST_SHARE = 0.8

daemon = Daemon()


def profile(jdk, program, method, inlined, *options, least=LEAST_FRACTION):
    """Of the report's silent loads most lie in paths through the method; inlined: what is inlined there, and the least share
    that lies in that."""
    missing = [jar for jar in JARS if not os.path.exists(jar)]
    if missing:
        skip(f"needs {missing[0]}: make deps")
    jvm = Workload(jdk, program, *options)
    report = daemon.attach(jvm.pid, "--kinds", "silent-load", "--budget", BUDGET, cpu_s=CPU_S)
    jvm.stop()
    found = the_one_kind(report)
    shares = {m: share_through(found, m) for m in (method, *inlined)}
    note(f"fraction {found['fraction']:.3f}, {report['quality']['traps']} pairs, of which through "
         + ", ".join(f"{m} {share:.3f}" for m, share in shares.items()))
    assert found["kind"] == "silent_load", found["kind"]
    assert_quality(report, LEAST_TRAPS)
    assert found["fraction"] > least, found["fraction"]
    for of, wanted in {method: LEAST_SHARE, **inlined}.items():
        assert shares[of] > wanted, (of, [p["watch"]["frames"][:3] for p in found["pairs"][:3]])


@test_on_jdks
def jfreechart_counts_exception_segments_by_loading_all_of_them(jdk):
    # Measured: 0.68. The rest are elements of the list and casts of them.
    profile(jdk, "ChartTimeline", "org.jfree.chart.axis.SegmentedTimeline.getExceptionSegmentCount",
            {"org.jfree.chart.axis.SegmentedTimeline$Segment.intersect": 0.5})


@test_on_jdks
def collections_3_subtracts_lists_by_searching_again_and_again(jdk):
    # Each removal also moves the rest of the list, in vectors of 32 bytes, each of which counts as
    # eight of the search's loads, and what is loaded there next time is the neighbour: measured 0.72
    # to 0.84. In Integer.equals: 0.59 and 0.61.
    profile(jdk, "ListSubtract", "org.apache.commons.collections.ListUtils.subtract",
            {"java.util.ArrayList.remove": LEAST_SHARE, "java.lang.Integer.equals": 0.4}, least=0.6)


RETAIN = "org.apache.commons.collections4.bag.CollectionBag.retainAll"
CONTAINS = {"java.util.ArrayList.contains": LEAST_SHARE}  # measured: 0.95


@test_on_jdks
def collections_4_retains_by_searching_again_and_again(jdk):
    profile(jdk, "BagRetain", RETAIN, CONTAINS)


@test_on_jdks
def inlined_methods_are_named_where_the_jvm_recorded_them(jdk):
    profile(jdk, "BagRetain", RETAIN, CONTAINS, "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")


run(at_once=2)
