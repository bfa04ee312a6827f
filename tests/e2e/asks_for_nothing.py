"""What windows ask the JVM for, by an agent that listens: environments (JVMTI), which slow virtual threads for the JVM's
life, and to be let in with a thread. Windows without objects ask for nothing."""
from lib import compile_jni, note, run, skip, test_on_jdks
from support.profile import Daemon, Workload

ASKS = ("asked for an environment\n", "asked to attach a thread\n")
VIRTUAL_SINCE = 21
WITHOUT_OBJECTS = "cpu,silent-load,silent-store,dead-store,loops"


def target(jdk, *options):
    return Workload(jdk, "SilentLoad", f"-agentpath:{compile_jni('asked.c')}", *options)


def asked(jvm):
    return [jvm.output().count(line) for line in ASKS]


@test_on_jdks
def a_window_without_objects_asks_for_nothing(jdk):
    daemon, jvm = Daemon(), target(jdk)
    try:
        before = asked(jvm)
        for _ in range(2):
            quality = daemon.attach(jvm.pid, "--kinds", WITHOUT_OBJECTS, cpu_s=1)["quality"]
            assert quality["traps"] > 0 and quality["environments"] == 0, quality
        note(f"asked for {before} beforehand")
        assert asked(jvm) == before, jvm.output()
    finally:
        jvm.stop()
        daemon.stop()


@test_on_jdks
def a_window_with_objects_asks_for_an_environment(jdk):
    daemon, jvm = Daemon(), target(jdk)
    try:
        before = asked(jvm)
        quality = daemon.attach(jvm.pid, "--kinds", "objects", duration="1s")["quality"]
        assert quality["environments"] == 1, quality
        assert all(after > then for after, then in zip(asked(jvm), before)), jvm.output()
    finally:
        jvm.stop()
        daemon.stop()


@test_on_jdks
def a_jvm_that_counts_no_pauses_is_asked_to_tell_of_them(jdk):
    daemon, jvm = Daemon(), target(jdk, "-XX:-UsePerfData")
    try:
        before = asked(jvm)
        daemon.attach(jvm.pid, "--kinds", "silent-load", duration="1s")
        assert asked(jvm)[0] > before[0], jvm.output()
    finally:
        jvm.stop()
        daemon.stop()


def default_kinds(jdk, program):
    """What a window of the kinds that nobody named says of objects, and how many environments it asked for."""
    daemon, jvm = Daemon(), Workload(jdk, program)
    try:
        report = daemon.attach(jvm.pid, duration="1s")
        return report["objects_summary"]["refused"], report["quality"]["environments"]
    finally:
        jvm.stop()
        daemon.stop()


@test_on_jdks
def objects_are_among_the_default_kinds_where_no_virtual_thread_was(jdk):
    refused, environments = default_kinds(jdk, "SilentLoad")
    assert not refused and environments == 1, (refused, environments)


@test_on_jdks
def objects_are_left_out_of_a_jvm_that_has_virtual_threads(jdk):
    if jdk.release < VIRTUAL_SINCE:
        skip(f"JDK {jdk.release} has none")
    refused, environments = default_kinds(jdk, "VirtualSum")
    assert "has virtual threads" in refused and environments == 0, (refused, environments)


run()
