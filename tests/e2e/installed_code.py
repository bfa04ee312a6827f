"""Code that is read from the JVM's code heaps is what it replays: compiled methods, with the same calls at the same
places of debug information, and stubs.

Held against each other by an agent of these tests (code_check.c), in the JVM that runs a program, when that ends: the JDK's
compiler, which has some thousand methods compiled, or what any program begins with, all of it compiled. Also after they
were read over and over while a code cache that is too small was emptied and filled again.
"""
import glob
import os
import re
import shutil
import subprocess

from lib import BUILD, HANG_S, ROOT, add_test, jdks, make_directory, need_root, note, run
from support.profile import OPTION_OF
from support.tree import TREE, contained, homes

DIRECTORY = os.path.join(BUILD, "tests/code")
ACCOUNT = re.compile(r"^code (\w+): (\d+) compared, (\d+) linkers, (\d+) missing, (\d+) different, (\d+) places, (\d+) calls, "
                     r"(\d+) stubs, (\d+) others, (\d+) checks, (\d+) misplaced, (\d+) rounds$",
                     re.MULTILINE)
ALL_COMPILED = ["-Xmx128m", "-Xcomp"]
LEAST = 200
LEAST_STUBS = 150
LEAST_CHECKS = 500
LEAST_ROUNDS = 20
SMALL_CACHE = ["-XX:ReservedCodeCacheSize=6m"]


def _javac():
    """Compiles one of the project's own programs."""
    sources = sorted(glob.glob(os.path.join(ROOT, "tests/workloads/[F-M]*.java")))
    return ["-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", make_directory(), "-proc:none",
            os.path.join(ROOT, "tests/workloads/Workload.java"), *sources]


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False,
                          env={k: v for k, v in os.environ.items() if "JAVA" not in k})
    found = ACCOUNT.search(done.stdout)
    assert found, (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    note(found.group())
    return found.group(1), [int(n) for n in found.groups()[1:]]


def _judge(account):
    how, (compared, linkers, missing, different, places, calls, stubs, others, checks, misplaced, _) = account
    assert how == "read", how
    assert compared >= LEAST, compared
    assert missing == different == places == calls == 0, account
    assert stubs >= LEAST_STUBS and others == 0, account
    assert linkers < compared / 2, account
    assert checks >= LEAST_CHECKS and misplaced == 0, account


def _is_read(jdk, options, program):
    agent = f"-agentpath:{DIRECTORY}/check.so"
    _judge(_run([jdk.java, *options, agent, *program]))


def _is_read_contained(home, options):
    need_root()
    directory = os.path.join(TREE, "code-check")
    shutil.copytree(DIRECTORY, directory, dirs_exist_ok=True)
    _judge(_run(contained(home, [], [*options, "-agentpath:/code-check/check.so", "-version"])))


def _is_read_beside(jdk):
    account = _run([jdk.java, "-Xmx128m", *SMALL_CACHE, f"-agentpath:{DIRECTORY}/check.so=beside", *_javac()])
    rounds = account[1][-1]
    _judge(account)
    assert rounds >= LEAST_ROUNDS, rounds


def main():
    for jdk in jdks():
        for name, options in (("C1", ["-XX:TieredStopAtLevel=1"]), ("", []), ("one heap", ["-XX:-SegmentedCodeCache"]),
                              *((gc, [OPTION_OF[gc]]) for gc in ("Serial", "ZGC") if jdk.runs_with(OPTION_OF[gc]))):
            add_test(f"all compiled, {jdk} {name}", lambda j=jdk, o=options: _is_read(j, [*ALL_COMPILED, *o], ["-version"]))
    for jdk in (j for j in jdks() if os.access(j.javac, os.X_OK)):
        add_test(f"the compiler, {jdk}", lambda j=jdk: _is_read(j, ["-Xmx256m"], _javac()))
        add_test(f"beside a small code cache, {jdk}", lambda j=jdk: _is_read_beside(j))
    for release, home in sorted(homes().items()):
        add_test(f"all compiled, JDK {release} of the tree",
                 lambda h=home: _is_read_contained(h, ALL_COMPILED))
    run()


main()
