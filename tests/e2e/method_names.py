"""What methods are called as it is read from the JVM's memory (attach/agent/method/): for every method of every loaded
class, the names, descriptor, file, flags, lines and bytecodes that JVMTI tells.

Held against each other in a JVM that has loaded many classes, lambdas, method handles, proxies and hidden classes, and
that redefines a class whose method is running (MethodNames.java, method_check.c). One has 20,000 classes, more methods
than there are numbers for. Nothing is believed of addresses beside those of methods. Then classes are unloaded and come
to lie in each other's places while they are looked at: that harms nobody, and classes that stay are read right each time.
A layout that is wrong anywhere is noticed by methods that are known beforehand.
"""
# Starts early: it takes long (many JVMs).
import os
import re
import shutil
import subprocess

from lib import BUILD, HANG_S, add_test, jdks, need_root, note, run
from support.profile import OPTION_OF, classes
from support.tree import TREE, contained, homes

DIRECTORY = os.path.join(BUILD, "tests/methods")
METHODS = re.compile(r"^methods: (\d+) classes, (\d+) methods, (\d+) natives, (\d+) hidden, (\d+) numbered, (\d+) lines, "
                     r"(\d+) bytecodes, (\d+) fields, (\d+) declared, (\d+) calls, (\d+) asked, (\d+) led, (\d+) own, "
                     r"(\d+) handles, (\d+) missing, (\d+) different$", re.MULTILINE)
TABLE = re.compile(r"^table: (\d+) numbers, (\d+) full, (\d+) unread, .*$", re.MULTILINE)
STALE = re.compile(r"^stale: (\d+) copied, (\d+) refused$", re.MULTILINE)
NEIGHBOURS = re.compile(r"^neighbours: (\d+) tried, \d+ archived, (\d+) believed$", re.MULTILINE)
COMING = re.compile(r"^coming and going: (\d+) stayed, (\d+) looks, (\d+) right, (\d+) missed; (\d+) gone, .*$", re.MULTILINE)
LAYOUTS = re.compile(r"^layouts: (\d+) wrong, (\d+) noticed$", re.MULTILINE)
SOME_CLASSES, MANY_CLASSES = 200, 20000
METHODS_MAX = 16384
FULL_ENOUGH = 1000  # of method_check.c
# JVMs without hidden classes number those without a name of their own.
HIDDEN_FROM = 15
LEAST_METHODS = 5000
LEAST_SPECIAL = 50
LEAST_NAMED = 20000
LEAST_ASKED = 300
LEAST_DECLARED = 1000
LEAST_OWN = 300
LEAST_LAYOUTS = 25
LEAST_READ = 1000
ROUNDS = 20
LEAST_METHODS_STAYED = 500
LEAST_NEIGHBOURS = 100000
COLLECTORS = ("G1", "ZGC")


def _judge(command, release, class_count):
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False,
                          env={k: v for k, v in os.environ.items() if "JAVA" not in k})
    methods, table = METHODS.search(done.stdout), TABLE.search(done.stdout)
    assert methods and table, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    note(methods.group())
    note(table.group())
    found, count, natives, hidden, numbered, lines, bytecodes, fields, declared, calls, asked, led, own, handles, missing, different = map(
        int, methods.groups())
    assert missing == different == 0, done.stdout[-4000:]
    assert found > class_count and count >= LEAST_METHODS + 8 * class_count, (found, count)
    assert lines > count and bytecodes > count and natives >= LEAST_SPECIAL, (lines, bytecodes, natives)
    assert asked >= LEAST_ASKED and led >= asked / 2, (asked, led)
    assert declared >= LEAST_DECLARED, declared
    assert own >= LEAST_OWN and handles >= 1, (own, handles)
    assert fields >= LEAST_NAMED and calls >= LEAST_NAMED, (fields, calls)
    assert (hidden if release >= HIDDEN_FROM else numbered) >= LEAST_SPECIAL, (hidden, numbered)
    assert "versions 41 42 right" in done.stdout, done.stdout[-2000:]
    numbers, full, unread = map(int, table.groups())
    assert unread == 0 and numbers == min(count, METHODS_MAX), (numbers, count)
    # Each is met twice; those that have no number stay without.
    assert full == min(2 * (count - numbers), FULL_ENOUGH), (full, count, numbers)
    layouts = LAYOUTS.search(done.stdout)
    assert layouts and layouts.group(1) == layouts.group(2) and int(layouts.group(1)) >= LEAST_LAYOUTS, done.stdout[:2000]
    tried, believed = map(int, NEIGHBOURS.search(done.stdout).groups())
    assert believed == 0 and tried >= LEAST_NEIGHBOURS, done.stdout[-4000:]
    coming = COMING.search(done.stdout)
    assert coming, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    note(coming.group())
    stayed, looks, right, missed, gone = map(int, coming.groups())
    assert missed == 0 and right == looks >= LEAST_READ, coming.group()
    assert stayed >= LEAST_METHODS_STAYED and gone >= LEAST_METHODS_STAYED, coming.group()
    stale = STALE.search(done.stdout)
    assert stale and done.returncode == 0, (done.returncode, done.stderr[-2000:])
    note(stale.group())
    copied, refused = map(int, stale.groups())
    assert copied >= LEAST_METHODS and refused >= class_count, (copied, refused)


def _arguments(library, class_count):
    return ["MethodNames", library, str(class_count), str(ROUNDS)]


def _are_equal(jdk, options, class_count):
    command = [jdk.java, "-Xmx512m", *options, "-cp", classes()]
    _judge([*command, *_arguments(f"{DIRECTORY}/check.so", class_count)], jdk.release, class_count)


def _are_equal_contained(release, home, options):
    need_root()
    shutil.copytree(DIRECTORY, os.path.join(TREE, "method-check"), dirs_exist_ok=True)
    program = [*options, *_arguments("/method-check/check.so", SOME_CLASSES)]
    _judge(contained(home, [classes()], program), release, SOME_CLASSES)


def main():
    for jdk in jdks():
        for gc in COLLECTORS:
            if jdk.runs_with(OPTION_OF[gc]):
                add_test(f"{jdk} {gc}", lambda j=jdk, o=OPTION_OF[gc]: _are_equal(j, [o], SOME_CLASSES))
    newest = jdks()[-1]
    add_test(f"{MANY_CLASSES} classes, {newest}", lambda: _are_equal(newest, [], MANY_CLASSES))
    for release, home in sorted(homes().items()):
        # Classes are unloaded while all threads wait, and not beside them as by the collectors above.
        add_test(f"JDK {release} of the tree, Parallel",
                 lambda r=release, h=home: _are_equal_contained(r, h, ["-Xmx256m", OPTION_OF["Parallel"]]))
    run()


main()
