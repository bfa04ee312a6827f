"""Threads come from the JVM's own list: every one that Java knows is in it."""
import re

from lib import add_test, note, run, test_on_jdks, wait_until
from support.profile import Daemon, Workload
from support.target import at_rest
from support.tree import Contained, bring_workloads, homes

# The JVM starts it for the first attach, and from JDK 22 on it is one of its own.
ATTACH_LISTENER = 1


def counts_of(target):
    return [int(n) for n in re.findall(r"^live (\d+)\n", target.output(), re.MULTILINE)]


def assert_all_known(daemon, target):
    """The agent reads the JVM's own list, and Java asks the JVM."""
    quality = daemon.attach(target.pid, duration="500ms")["quality"]
    # The agent's own thread has ended.
    wait_until(lambda: at_rest(target.pid), "an end of the window", 5)
    said = len(counts_of(target))
    wait_until(lambda: len(counts_of(target)) > said + 1, "a new count")
    live = counts_of(target)[-1]
    known = quality["threads"] + quality["threads_idle"]
    note(f"{known} threads, {live} by Java's count")
    assert live - ATTACH_LISTENER <= known <= live, (quality["threads"], quality["threads_idle"], live)


@test_on_jdks
def every_thread_of_java_s_is_known(jdk):
    daemon, target = Daemon(), Workload(jdk, "LiveThreads", arguments=["200"])
    assert_all_known(daemon, target)
    target.stop()


def every_thread_is_known_in_the_tree(home):
    daemon, target = Daemon(), Contained(home, "LiveThreads", arguments=("200",))
    assert_all_known(daemon, target)
    target.stop()


if homes():
    bring_workloads()
for _release, _home in sorted(homes().items()):
    add_test(f"every thread of java s is known (JDK {_release} of the tree)",
             lambda home=_home: every_thread_is_known_in_the_tree(home))

run()
