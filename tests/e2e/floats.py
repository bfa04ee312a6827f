"""Values of vectorised floats and doubles within one percent are the same, those of integers are not."""
from lib import jdks, note, run, skip, test
from support.profile import Daemon, Workload, assert_quality, the_one_kind

BUDGET = "5%"
LEAST_TRAPS = 20


def fraction(jdk, program, kind, *arguments):
    jvm = Workload(jdk, program, arguments=arguments)
    try:
        report = Daemon().attach(jvm.pid, "--kinds", kind, "--budget", BUDGET, duration="8s")
    finally:
        jvm.stop()
    assert_quality(report, LEAST_TRAPS)
    found = the_one_kind(report)
    note(f"{jdk}, {program} {' '.join(arguments)}: {found['fraction']:.4f} of {report['quality']['traps']} pairs")
    return found["fraction"]


def every_jdk(check):
    found = jdks()
    if not found:
        skip("no JDK found")
    for jdk in {found[0], found[-1]}:
        check(jdk)


@test
def doubles_that_differ_by_less_than_a_percent_are_silent():
    every_jdk(lambda jdk: _assert_most(fraction(jdk, "FloatFill", "silent-store", "double", "near")))


@test
def doubles_that_differ_by_more_are_not():
    every_jdk(lambda jdk: _assert_few(fraction(jdk, "FloatFill", "silent-store", "double", "far")))


@test
def loaded_floats_that_differ_by_less_than_a_percent_are_silent():
    every_jdk(lambda jdk: _assert_most(fraction(jdk, "FloatSum", "silent-load", "near")))


@test
def loaded_floats_that_differ_by_more_are_not():
    every_jdk(lambda jdk: _assert_few(fraction(jdk, "FloatSum", "silent-load", "far")))


@test
def a_fill_with_floats_that_differ_by_less_than_a_percent_is_silent():
    # Newer JDKs fill arrays in a stub that is the same for ints.
    jdk = next((j for j in jdks() if j.release == 17), None)
    if not jdk:
        skip("no JDK 17 found")
    _assert_most(fraction(jdk, "FloatFill", "silent-store", "float", "near"))
    _assert_few(fraction(jdk, "FloatFill", "silent-store", "float", "far"))


@test
def integers_that_differ_by_little_are_not_silent():
    every_jdk(lambda jdk: _assert_few(fraction(jdk, "FloatFill", "silent-store", "int", "near")))


def _assert_most(value):
    assert value > 0.95, value


def _assert_few(value):
    assert value < 0.05, value


run()
