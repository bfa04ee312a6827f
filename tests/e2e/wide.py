"""Repeated string instructions and masked moves are sampled, and told apart by what they touch."""
# Estimates: fractions, from samples.
from lib import jdks, note, run, skip, test
from support.profile import Daemon, Workload, assert_quality, the_one_kind

BUDGET = "5%"
LEAST_PAIRS = 5
CPU_S = 4


def measure(kind, what, *options):
    found = jdks()
    if not found:
        skip("no JDK found")
    jvm = Workload(found[0], "CopyAndClear", *options, arguments=(what,))
    try:
        report = Daemon().attach(jvm.pid, "--kinds", kind, "--budget", BUDGET, cpu_s=CPU_S)
    finally:
        jvm.stop()
    assert_quality(report, LEAST_PAIRS)
    return the_one_kind(report)


def assert_wasteful(found, instruction):
    """There are wasteful pairs whose first access is the instruction, and of the elements that it stores to almost all are."""
    own = [p for p in found["pairs"] if instruction in p["watch"]["instruction"]]
    # A row of pairs has whatever else lies on the same lines, spills for one.
    elements = [p for p in found["by_location"] if p["location"]["kind"] == "element"]
    count = sum(p["count"] for p in elements)
    wasteful = sum(p["wasteful_count"] for p in elements)
    note(f"'{instruction}': {wasteful} of {count} pairs of elements wasteful")
    assert sum(p["wasteful_count"] for p in own) >= LEAST_PAIRS, [p["watch"]["instruction"] for p in found["pairs"]]
    assert wasteful >= 0.9 * count, elements


@test
def memory_that_a_repeated_store_clears_in_vain_is_dead():
    assert_wasteful(
        measure("dead-store", "clear", "-XX:-UseXMMForObjInit", "-XX:-UseFastStosb"), "rep stosq"
    )


@test
def bytes_that_a_repeated_store_clears_in_vain_are_dead():
    assert_wasteful(measure("dead-store", "clear", "-XX:+UseFastStosb"), "rep stosb")


@test
def the_same_bytes_stored_by_masked_moves_are_silent():
    with open("/proc/cpuinfo", encoding="ascii") as f:
        if "avx512bw" not in f.read():
            skip("HotSpot copies with masks only where there is AVX-512BW")
    assert_wasteful(measure("silent-store", "copy"), "{k")


run(at_once=2)
