"""Kind cpu: where the CPU time of a JVM goes, and which methods others' can be charged to."""
# Takes two places: its windows keep both processors busy.
# Estimates: shares of CPU time.
import json
import os

from lib import add_test, jdks, make_directory, note, run, skip
from support.profile import CLIENT, Windows, Workload, ctl, report_of, succeeded

CPU_S = 4.5
BUDGET = "5%"
PROGRAM = "TickShares"

# Of the truth: a half of some 1,150 ticks had a standard deviation of 0.019 in eight windows (0.015 if each were drawn alone).
NEAR = 0.07
LEAST_TICKS = 500


def measure(daemon, jdk, program, options, arguments, kinds):
    """The report, its list as the default has it, and the stacks."""
    jvm = Workload(jdk, program, *options, arguments=arguments)
    try:
        report = daemon.attach(jvm.pid, *kinds, "--budget", BUDGET, cpu_s=CPU_S)
        window = str(report["window"]["id"])
        listed = report_of(daemon.ctl("report", window, "--view", "subsuming", "--format", "json"))["subsuming"]
        stacks = succeeded(daemon.ctl("report", window, "--view", "cpu", "--format", "collapsed"))
        return report, listed, stacks
    finally:
        jvm.stop()


def inclusive(cpu, method, of=PROGRAM):
    return sum(row["inclusive"] for row in cpu["by_inclusive"] if (row["class"], row["method"]) == (of, method))


def assert_enough(report):
    cpu, quality = report["cpu"], report["quality"]
    assert cpu["samples"] >= LEAST_TICKS, quality
    assert cpu["samples"] <= quality["cpu_samples"], quality
    assert quality["dropped"] == 0, quality
    parts = ("java", "native", "kernel", "no_java", "unwalkable", "gc", "jit", "other")
    whole = sum(cpu[f"{part}_fraction"] or 0 for part in parts)
    assert abs(whole - 1) < 1e-6, cpu
    own_s = quality["target_cpu_s"] - quality["overhead_cpu_s"]
    assert cpu["cpu_s"] >= own_s * (1 - 1e-6), (cpu["cpu_s"], own_s)


def near(found, truth):
    assert abs(found - truth) <= NEAR, (found, truth)


def shares_are_true(report, *_):
    cpu = report["cpu"]
    found = [inclusive(cpu, method) for method in ("half", "quarter", "packed")]
    note(f"{cpu['samples']} ticks, shares {found[0]:.3f} {found[1]:.3f} {found[2]:.3f}, "
         f"interpreted {cpu['interpreted_fraction']:.3f}, native {cpu['native_fraction']:.3f}, "
         f"kernel {cpu['kernel_fraction']:.3f}, other {cpu['other_fraction']:.3f}, "
         f"unwalkable {cpu['unwalkable_fraction']:.4f}, overhead {report['quality']['overhead_fraction']:.4f}")
    assert_enough(report)
    most = cpu["threads"][0]
    for share, truth in zip(found + [cpu["native_fraction"]], (0.5, 0.25, 0.25, 0.25)):
        near(share / most["fraction"], truth)
    assert most["name"] == "java", cpu["threads"]  # As the kernel has it: the first one that runs Java code.
    near(most["fraction"], cpu["java_fraction"] + cpu["native_fraction"] + cpu["kernel_fraction"])
    assert cpu["unwalkable_fraction"] < 0.1, cpu


def interpreted_code_is_seen(report, *_):
    cpu = report["cpu"]
    shares_are_true(report)
    assert cpu["interpreted_fraction"] > 0.5, cpu
    assert cpu["compiled_fraction"] < 0.1, cpu


def as_reported(value):
    """Reports have nine digits of a fraction."""
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, list):
        return [as_reported(v) for v in value]
    return {k: as_reported(v) for k, v in value.items()} if isinstance(value, dict) else value


def stacks_make_the_same_list(report, listed, stacks):
    """As a file, without a daemon."""
    path = os.path.join(make_directory(), "stacks")
    with open(path, "w", encoding="utf-8") as f:
        f.write(stacks)
    again = as_reported(json.loads(succeeded(ctl("--json", "subsume", path)))["subsuming"])
    note(f"{len(stacks.splitlines())} stacks, {listed['nodes']} nodes")
    for part in listed:
        if part not in ("truncated", "truncated_samples"):
            assert again[part] == as_reported(listed[part]), (part, again[part], listed[part])
    assert listed["samples"] >= report["cpu"]["samples"] * 0.9, (listed["samples"], report["cpu"]["samples"])


def beside_pairs_and_objects(report, *_):
    """What attach does unless it is told."""
    assert report["inefficiency"] and report["objects_summary"], report["window"]
    assert "subsuming_methods" in report["subsuming"], report["subsuming"]
    shares_are_true(report)


def deep_stacks_are_kept_apart(report, listed, _):
    cpu = report["cpu"]
    assert cpu["truncated_samples"] > 0.9 * cpu["samples"], cpu
    assert not cpu["contexts"] or cpu["contexts"][0]["fraction"] < 0.1, cpu["contexts"][:1]
    assert listed["truncated_samples"] == cpu["truncated_samples"], listed
    assert report["quality"]["cpu_truncated"] > 0, report["quality"]


def the_collector_has_its_part(report, listed, _):
    """What the watcher says of the whole process is nearly the same."""
    cpu = report["cpu"]
    truth = report["quality"]["side_effects"]["gc_threads_cpu_fraction"][1]
    note(f"collector {cpu['gc_fraction']:.3f}, of the process {truth:.3f}, compilers {cpu['jit_fraction']:.3f}")
    assert truth > 0.05, report["quality"]["side_effects"]
    near(cpu["gc_fraction"], truth)
    roots = [row for row in listed["by_induced"] if row["method"] == "(root)"]
    assert roots, listed["by_induced"]


def a_load_that_misses_is_its_methods(report, *_):
    """In code whose places the JVM knows at safepoints alone, none of which is in the method that makes the load."""
    cpu, told = report["cpu"], report["quality"]["tick_attribution"]
    own = {row["method"]: row["exclusive"] for row in cpu["by_exclusive"] if row["class"] == "TickMisses"}
    note(f"{cpu['samples']} ticks, of {told['inferred']} the method was told, of {told['unknown']} not; own time {own}")
    assert told["inferred"] > LEAST_SHARE_TOLD * sum(told.values()) > 0, told
    assert own["missing"] > LEAST_SHARE_MISSING * sum(own.values()), own


LEAST_SHARE_TOLD = 0.7  # Until the code is known, it cannot be.
LEAST_SHARE_MISSING = 0.7

TICKS = ("--kinds", "cpu")
CASES = (
    ("shares of CPU time are true", (), (), TICKS, (shares_are_true, stacks_make_the_same_list)),
    ("interpreted code", ("-Xint",), (), TICKS, (interpreted_code_is_seen, stacks_make_the_same_list)),
    ("beside pairs and objects", (), (), (), (beside_pairs_and_objects, stacks_make_the_same_list)),
    ("stacks deeper than are kept", (), ("deep",), TICKS, (deep_stacks_are_kept_apart,)),
    ("a load that misses", ("-Xmx256m",), (), ("--kinds", "cpu,loops"), (a_load_that_misses_is_its_methods,)),
    ("the collector's threads", ("-Xmx64m", "-XX:+UseSerialGC"), (), TICKS, (the_collector_has_its_part,)),
)
# How many frames are kept, and what shares a window, is the same with every JDK.
ON_ONE_JDK = ("beside pairs and objects", "stacks deeper than are kept")
# That one allocates.
OTHER_PROGRAMS = {"the collector's threads": "GrowthArrays", "a load that misses": "TickMisses"}


def judge(checks, measured):
    for check in checks:
        check(*measured)


def main():
    windows = Windows(measure)
    found = jdks()
    baseline = next((j for j in found if j.release == 17), found[0])
    assert os.access(CLIENT, os.X_OK)
    for jdk in {baseline.release: baseline, found[-1].release: found[-1]}.values():
        for name, options, arguments, kinds, checks in CASES:
            if jdk is not baseline and name in ON_ONE_JDK:
                continue
            program = OTHER_PROGRAMS.get(name, PROGRAM)
            measured = windows.ask(jdk, program, options, arguments, kinds)
            add_test(f"{name} ({jdk})", lambda c=checks, m=measured: judge(c, m.result()))
    if len(found) == 1:
        add_test("ticks on a newer JDK", lambda: skip("no other JDK found"))
    run()


main()
