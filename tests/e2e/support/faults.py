"""Windows that are cut short: JVMs, clients, engine and broker that die, stop or are starved in their middle, by a
seed, and an account of every window at the end.

A fault is a function of Faults, below; which there are is the table FAULTS.
"""
import collections
import contextlib
import ctypes
import glob
import json
import os
import random
import re
import signal
import socket
import sqlite3
import stat
import subprocess
import threading
import time

from lib import jdks, make_directory, wait_until
from support.attach import leftovers
from support.clock import SteppedClock
from support.profile import Daemon, Workload, succeeded
from support.target import PIDFD_GETFD, at_rest, perf_descriptors

# Two of these at a time, which look after their own work.
PROGRAMS = ["DeadStore", "SilentLoad", "MapRebuild", "TrackedObjects"]
DURATIONS = [0.3, 0.6, 1.0]
KINDS = ["dead-store", "silent-store", "silent-load", "objects", "cpu", "loops"]
LOOK_EVERY = 20
STATE_MIB = 96
BAD = ("Exception in", "fatal error", "changed ", "Sanitizer")

# A window's row is on its way to the disk for so long after it has begun; a kill -9 may come before.
ON_ITS_WAY_S = 3.0

# Of the engine between two windows, over what it had when it had run one.
DESCRIPTORS_MORE = 4
MEMORY_MIB = 160

ENDED = ("done", "ended early")
FINAL = (*ENDED, "salvaged", "failed")

BEGUN = re.compile(r"audit: action=attach .*window=(w\d+) outcome=ok")


class Jvm:
    def __init__(self, rng, jdk):
        self.name, self.jdk = rng.choice(PROGRAMS), jdk
        allow = ["-XX:+EnableDynamicAgentLoading"] if jdk.release >= 21 else []
        self.process = Workload(jdk, self.name, *allow, cwd=make_directory())
        self.pid = self.process.pid

    def check(self):
        """It is well, and has nothing of ours while no window runs."""
        assert self.process.alive(), f"{self.name} on {self.jdk} ended with {self.process.child.returncode}"
        for word in BAD:
            assert word not in self.process.output(), f"{self.name} on {self.jdk} printed '{word}'"
        wait_until(lambda: at_rest(self.pid), f"rest in {self.name} on {self.jdk}", 60)
        assert perf_descriptors(self.pid) == 0
        left = leftovers(self.pid)
        assert not left, left


class Faults:
    """A run of so many windows, about half of them with a fault. Whoever calls it may be root only."""

    def __init__(self, cycles, seed):
        self.cycles, self.rng = cycles, random.Random(seed)
        self.mount = make_directory()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={STATE_MIB}m", "tmpfs", self.mount], check=True)
        self.state = os.path.join(self.mount, "state")
        self.clock = SteppedClock()
        self.config = os.path.join(make_directory(), "jxperfd.yaml")
        with open(self.config, "w", encoding="ascii") as f:
            f.write("store: { size: 64MiB }\n")
        found = jdks()
        self.jdks = [found[0], found[-1]]
        self.jvms = [Jvm(self.rng, jdk) for jdk in self.jdks]
        self.begun = {}  # id -> seconds until its daemon was killed, or None
        self.unkept = set()  # of daemons that ended while they said that they could keep nothing
        self.happened = collections.Counter()
        self.lives = self.fillers = 0
        self.daemon = None
        self.most_mib = 0
        self.start_daemon()

    # ---------------------------------------------------------------- the daemon

    def start_daemon(self):
        self.lives += 1
        self.daemon = Daemon(
            prefix=self.clock.prefix, options=["--config", self.config, "--verbose"], state=self.state)
        self.born, self.begins_at, self.lines = time.monotonic(), {}, 0
        self.descriptors = None

    def note_begun(self):
        """Windows of this daemon that began, and when we heard of it."""
        for window in BEGUN.findall(self.daemon.output()):
            self.begins_at.setdefault(window, time.monotonic())

    def end_of_daemon(self, killed):
        self.note_begun()
        now = time.monotonic()
        for window, at in self.begins_at.items():
            self.begun[window] = now - at if killed else None
        output = self.daemon.output()
        if output.rfind("windows are not kept at present") > output.rfind("windows are kept again"):
            self.unkept.update(self.begins_at)
        for word in ("Sanitizer", "Assertion", "damaged"):
            assert word not in output, output[-4000:]

    def look_at_daemon(self):
        """It does not grow from window to window."""
        descriptors = len(os.listdir(f"/proc/{self.daemon.pid}/fd"))
        with open(f"/proc/{self.daemon.pid}/status", encoding="ascii") as f:
            mib = int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024
        if self.descriptors is None:
            self.descriptors = descriptors
        assert descriptors <= self.descriptors + DESCRIPTORS_MORE, (descriptors, self.descriptors)
        assert mib < MEMORY_MIB, mib
        self.most_mib = max(self.most_mib, mib)

    # ---------------------------------------------------------------- the faults

    def target_killed(self, jvm, client):
        os.kill(jvm.pid, signal.SIGKILL)
        jvm.process.child.wait()

    def engine_killed(self, jvm, client):
        os.kill(self.daemon.pid, signal.SIGKILL)
        self.daemon.child.wait()

    def broker_killed(self, jvm, client):
        os.kill(self.daemon.broker(), signal.SIGKILL)

    def client_killed(self, jvm, client):
        client.child.kill()

    def socket_closed(self, jvm, client):
        """The engine's connections, to the agent and to the client, are shut down under it."""
        libc, process = ctypes.CDLL(None), os.pidfd_open(self.daemon.pid)
        for fd in os.listdir(f"/proc/{self.daemon.pid}/fd"):
            copy = libc.syscall(PIDFD_GETFD, process, int(fd), 0)
            if copy < 0:
                continue
            if not stat.S_ISSOCK(os.fstat(copy).st_mode):
                os.close(copy)
                continue
            with socket.socket(fileno=copy) as s:
                if s.type == socket.SOCK_STREAM and not s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    with contextlib.suppress(OSError):
                        s.shutdown(socket.SHUT_RDWR)
        os.close(process)

    def target_stopped(self, jvm, client):
        os.kill(jvm.pid, signal.SIGSTOP)
        time.sleep(self.rng.uniform(0.1, 1.5))
        os.kill(jvm.pid, signal.SIGCONT)

    def engine_stopped(self, jvm, client):
        os.kill(self.daemon.pid, signal.SIGSTOP)
        time.sleep(self.rng.uniform(0.1, 1.5))
        os.kill(self.daemon.pid, signal.SIGCONT)

    def reloaded(self, jvm, client):
        for _ in range(self.rng.randint(1, 5)):
            os.kill(self.daemon.pid, signal.SIGHUP)

    def disk_filled(self, jvm, client):
        self.fillers += 1
        path = os.path.join(self.mount, f"filler{self.fillers}")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(fd, b"x" * 65536)
        except OSError:
            os.close(fd)
        threading.Timer(self.rng.uniform(0.5, 8), os.unlink, [path]).start()

    def database_locked(self, jvm, client):
        """By somebody who reads it with more than it takes."""
        reader = sqlite3.connect(os.path.join(self.state, "windows.db"), isolation_level=None, check_same_thread=False)
        reader.execute("PRAGMA busy_timeout = 5000")
        reader.execute("BEGIN EXCLUSIVE")

        def release():
            reader.execute("ROLLBACK")
            reader.close()

        threading.Timer(self.rng.uniform(0.1, 4), release).start()

    def clock_stepped(self, jvm, client):
        self.clock.set(self.rng.choice([-86400, -3600, 0, 3600, 86400]))

    # ---------------------------------------------------------------- the run

    def window(self, jvm, fault):
        duration = self.rng.choice(DURATIONS)
        kinds = ",".join(self.rng.sample(KINDS, self.rng.randint(1, len(KINDS))))
        client = self.daemon.start_ctl("--json", "attach", str(jvm.pid), "--duration", f"{duration}s", "--kinds", kinds)
        if fault:
            time.sleep(self.rng.uniform(0, duration + 0.5))
            fault(self, jvm, client)
            self.happened[fault.__name__] += 1
        return client.finish()

    def cycle(self):
        i = self.rng.randrange(len(self.jvms))
        jvm = self.jvms[i]
        fault = self.rng.choice(FAULTS) if self.rng.random() < 0.5 else None
        done = self.window(jvm, fault)
        self.note_begun()
        if not fault:
            assert done.returncode in (0, 3), f"a window without a fault: {done.returncode}: {done.stderr}"
        if fault is Faults.target_killed:
            self.jvms[i] = Jvm(self.rng, jvm.jdk)
        if fault in (Faults.engine_killed, Faults.broker_killed):
            self.daemon.child.wait(60)
            self.end_of_daemon(killed=fault is Faults.engine_killed)
            wait_until(lambda: at_rest(jvm.pid), f"rest in {jvm.name}", 60)
            self.start_daemon()
        # A client may be gone before its window is.
        wait_until(lambda: not self.daemon.running(), "the end of the window", 60)

    def run(self, say=lambda text: None):
        try:
            for n in range(1, self.cycles + 1):
                self.cycle()
                if n % LOOK_EVERY == 0:
                    for jvm in self.jvms:
                        jvm.check()
                    self.look_at_daemon()
                if n % 100 == 0:
                    say(f"{n} windows, {sum(self.happened.values())} faults, {self.lives} daemons")
            for jvm in self.jvms:
                jvm.check()
            return self.account()
        finally:
            subprocess.run(["umount", "-l", self.mount], check=False)

    def account(self):
        """Every window that began is there, ended or failed with a reason, and can be read."""
        wait_until(lambda: not glob.glob(os.path.join(self.mount, "filler*")), "room on the disk", 30)
        os.kill(self.daemon.pid, signal.SIGTERM)
        self.daemon.child.wait(60)
        self.end_of_daemon(killed=False)
        self.start_daemon()
        kept = {w["id"]: w for w in json.loads(succeeded(self.daemon.ctl("--json", "windows", "--limit", "10000")))}
        counts = collections.Counter(w["state"] for w in kept.values())
        for window in kept.values():
            assert window["state"] in FINAL, window
            assert window["state"] == "done" or window["reason"], window
            if window["state"] != "failed":
                report = json.loads(succeeded(self.daemon.ctl("report", window["id"], "--format", "json")))
                assert report["window"]["id"] == window["id"]
        missing = {w: age for w, age in self.begun.items() if w not in kept}
        unkept = self.unkept & set(missing)
        at_once = {w for w, age in missing.items() if age is not None and age < ON_ITS_WAY_S} - unkept
        # What was cut off before its first row was on the disk is known to nobody but the log; what could not be kept
        # was said to be so.
        assert len(unkept) + len(at_once) == len(missing), {w: missing[w] for w in set(missing) - unkept - at_once}
        assert len(self.begun) == len(missing) + sum(w in self.begun for w in kept)
        self.daemon.stop()
        return {"begun": len(self.begun), **{s: counts[s] for s in FINAL}, "cut off at once": len(at_once),
                "could not be kept": len(unkept)}


FAULTS = [Faults.target_killed, Faults.engine_killed, Faults.broker_killed, Faults.client_killed, Faults.socket_closed,
          Faults.target_stopped, Faults.engine_stopped, Faults.reloaded, Faults.disk_filled, Faults.database_locked,
          Faults.clock_stepped]
