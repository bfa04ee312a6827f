"""JVMs of another user whose agent is not ours: it says whatever a test has it say (hostile_agent.c)."""
import os
import shutil
import struct
import subprocess

from lib import ROOT, jdks, made_once, make_directory
from support import events
from support.agent import DEAD_STORE, HEAP, LIBRARY, PROTOCOL, encode
from support.attach import NOBODY, Jvm, as_user
from support.profile import Daemon, Workload

HEADER = struct.Struct("<I")
CLOCK_PERIOD_NS = 5_000_000
TRAPPED = 3  # Transition


@made_once
def bundle():
    """Has the helper, and hostile_agent.c for an agent."""
    directory = make_directory()
    real = os.path.dirname(LIBRARY)
    home = next(j.home for j in jdks() if os.path.isdir(os.path.join(j.home, "include")))
    headers = [f"-I{home}/include", f"-I{home}/include/linux"]
    command = ["cc", "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", *headers,
               os.path.join(ROOT, "tests/e2e/hostile_agent.c"), "-o", os.path.join(directory, os.path.basename(LIBRARY))]
    subprocess.run(command, check=True)
    shutil.copy(os.path.join(real, "jxperf-attach"), directory)
    return directory


class HostileDaemon(Daemon):
    """A daemon that injects hostile_agent.c into its targets. Its engine runs as the user daemon."""

    def __init__(self, prefix=(), options=(), **more):
        state = make_directory()
        shutil.chown(state, user="daemon")
        super().__init__(prefix=prefix, options=["--bundle", bundle(), "--user", "daemon", *options],
                         **{"state": state, **more})
        shutil.chown(self.socket, user="daemon")


class HostileJvm(Jvm):
    """Another user's, whose agent sends the frames of a script."""

    def __init__(self, jdk, *options, user=NOBODY, **more):
        directory = make_directory()
        self.script, self.flood = os.path.join(directory, "script"), os.path.join(directory, "flood")
        super().__init__(jdk, *options, prefix=as_user(user), env={"HOSTILE_SCRIPT": self.script, "HOSTILE_FLOOD": self.flood}, **more)

    def will_send(self, *frames):
        """From the next attach on."""
        with open(self.script, "wb") as out:
            out.write(b"".join(frames))

    def will_go_on_with(self, *frames):
        """Without end, after those."""
        with open(self.flood, "wb") as out:
            out.write(b"".join(frames))


def real_agent():
    """Where every user may read it, for HOSTILE_REAL."""
    return shutil.copy(LIBRARY, make_directory())


class HonestWorkload(Workload):
    """With the real agent, though the daemon injects the other one."""

    def __init__(self, jdk, name, **more):
        super().__init__(jdk, name, prefix=("env", f"HOSTILE_REAL={LIBRARY}"), **more)


# ---------------------------------------------------------------- frames of an agent


def frame(number, fields):
    """AgentFrame with one body (proto/jxperf.proto), as it travels."""
    payload = encode([(number, encode(fields))])
    return HEADER.pack(len(payload)) + payload


def hello(command=b"org.example.Hostile"):
    return frame(1, [(1, PROTOCOL), (4, b"17"), (6, b"G1"), (7, command)])


def batch(*fields, records=()):
    return frame(2, [*fields, (26, b"".join(records))])


def ask_for_clock_event(tid):
    return frame(3, [(1, tid), (2, CLOCK_PERIOD_NS), (4, 1)])


def ended(error=b""):
    return frame(4, [(1, error)])


def node(number, parent, bci=0, method=1):
    return 3, encode([(1, number), (2, parent), (3, method), (4, bci), (5, 1)])


def pair(leaf):
    return events.pack("event_transition", type=TRAPPED, tid=1, kind=DEAD_STORE, time_ns=1, address=4096, length=8,
                       region=HEAP, watch_node=leaf, trap_node=leaf, checked_bytes=8, wasteful=1)


def large_profile():
    """Some 20 MiB of names that do not compress much, each of a pair."""
    def method(number):
        return 2, encode([(1, number), (2, os.urandom(2000).hex().encode()), (3, os.urandom(2000).hex().encode())])

    def names(first):
        numbers = range(first, first + 100)
        return batch(*map(method, numbers), *(node(n, 0, method=n) for n in numbers), records=map(pair, numbers))

    return [names(1 + 100 * i) for i in range(25)]
