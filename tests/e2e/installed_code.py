"""Compiled methods that are read from the JVM's code heaps are those that it replays, with the same places of debug information.

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
ACCOUNT = re.compile(r"^code (\w+): (\d+) compared, (\d+) linkers, (\d+) missing, (\d+) different, (\d+) places, (\d+) unset, (\d+) rounds$",
                     re.MULTILINE)
ALL_COMPILED = ["-Xmx128m", "-Xcomp"]
# Later ones keep debug information apart from code, and are asked to replay it.
RELEASES_READ = range(11, 22)
LEAST = 200
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
    how, (compared, linkers, missing, different, places, unset, _) = account
    assert how == "read", how
    assert compared >= LEAST, compared
    assert missing == different == places == unset == 0, account
    assert linkers < compared / 2, account


def _is_read(jdk, options, program):
    agent = f"-agentpath:{DIRECTORY}/check.so"
    _judge(_run([jdk.java, *options, agent, *program]))


def _is_left(jdk):
    how, (compared, *_) = _run([jdk.java, *ALL_COMPILED, f"-agentpath:{DIRECTORY}/check.so", "-version"])
    assert how == "left" and compared >= LEAST, (how, compared)


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
        if jdk.release not in RELEASES_READ:
            add_test(f"left to {jdk}", lambda j=jdk: _is_left(j))
            continue
        for name, options in (("C1", ["-XX:TieredStopAtLevel=1"]), ("", []), ("one heap", ["-XX:-SegmentedCodeCache"]),
                              *((gc, [OPTION_OF[gc]]) for gc in ("Serial", "ZGC") if jdk.runs_with(OPTION_OF[gc]))):
            add_test(f"all compiled, {jdk} {name}", lambda j=jdk, o=options: _is_read(j, [*ALL_COMPILED, *o], ["-version"]))
    compiler = next((j for j in jdks() if j.release in RELEASES_READ and os.access(j.javac, os.X_OK)), None)
    if compiler:
        add_test(f"the compiler, {compiler}", lambda: _is_read(compiler, ["-Xmx256m"], _javac()))
        add_test(f"beside a small code cache, {compiler}", lambda: _is_read_beside(compiler))
    for release, home in sorted(homes().items()):
        add_test(f"all compiled, JDK {release} of the tree",
                 lambda h=home: _is_read_contained(h, ALL_COMPILED))
    run()


main()
