"""Values of vectorised floats and doubles within one percent are the same, those of integers are not.

Where HotSpot fills and copies in stubs that are the same for all types, the class of the array tells.
"""
# Takes two places: its windows keep both processors busy.
# Estimates: fractions, from samples.
import concurrent.futures
import functools

from lib import jdks, note, run, skip, test
from support.profile import Daemon, Workload, assert_quality, the_one_kind

BUDGET = "5%"
LEAST_TRAPS = 20
CPU_S = 1.5
# Loops that only fill become calls of a stub on newer JDKs.
IN_LOOPS = ["-XX:-OptimizeFill"]
IN_STUBS = ["-XX:+OptimizeFill"]

WINDOWS_AT_ONCE = 2


def measure(jdk, options, program, kind, arguments):
    jvm = Workload(jdk, program, *options, arguments=arguments)
    try:
        return daemon().attach(jvm.pid, "--kinds", kind, "--budget", BUDGET, cpu_s=CPU_S)
    finally:
        jvm.stop()


def fractions(jdks_used, options, program, kind, *arguments):
    """One of each JDK; a program has one busy thread, so two windows run at a time."""
    with concurrent.futures.ThreadPoolExecutor(WINDOWS_AT_ONCE) as pool:
        reports = list(pool.map(lambda jdk: measure(jdk, options, program, kind, arguments), jdks_used))
    return [judged(jdk, program, arguments, report) for jdk, report in zip(jdks_used, reports)]


def judged(jdk, program, arguments, report):
    assert_quality(report, LEAST_TRAPS)
    found = the_one_kind(report)
    note(f"{jdk}, {program} {' '.join(arguments)}: {found['fraction']:.4f} of {report['quality']['traps']} pairs")
    return found["fraction"]


@functools.lru_cache(maxsize=None)
def daemon():
    return Daemon()


def oldest_and_newest():
    found = jdks()
    if not found:
        skip("no JDK found")
    return sorted({found[0], found[-1]}, key=lambda jdk: jdk.release)


def check(judge, *what, options=()):
    for value in fractions(oldest_and_newest(), options or IN_LOOPS, *what):
        judge(value)


@test
def doubles_that_differ_by_less_than_a_percent_are_silent():
    check(_assert_most, "FloatFill", "silent-store", "double", "near")


@test
def doubles_that_differ_by_more_are_not():
    check(_assert_few, "FloatFill", "silent-store", "double", "far")


@test
def loaded_floats_that_differ_by_less_than_a_percent_are_silent():
    check(_assert_most, "FloatSum", "silent-load", "near")


@test
def loaded_floats_that_differ_by_more_are_not():
    check(_assert_few, "FloatSum", "silent-load", "far")


@test
def a_fill_with_floats_that_differ_by_less_than_a_percent_is_silent():
    check(_assert_most, "FloatFill", "silent-store", "float", "near")
    check(_assert_most, "FloatFill", "silent-store", "float", "near", options=IN_STUBS)


@test
def a_fill_with_floats_that_differ_by_more_is_not():
    check(_assert_few, "FloatFill", "silent-store", "float", "far", options=IN_STUBS)


@test
def integers_that_differ_by_little_are_not_silent():
    check(_assert_few, "FloatFill", "silent-store", "int", "near")
    check(_assert_few, "FloatFill", "silent-store", "int", "near", options=IN_STUBS)


def _assert_most(value):
    assert value > 0.95, value


def _assert_few(value):
    assert value < 0.05, value


run()
