"""Twenty hostile processes of two users do at once what each of the other tests has alone: fill the daemon with answers
that nobody reads, reports that take long, waits, looks, attaches that hang, refusals, and agents that flood it. A third
user is served meanwhile, and so is root."""
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import time

from lib import BUILD, HANG_S, Process, jdks, make_directory, need_root, note, run, test, wait_until
from support import footprint
from support.attach import as_user
from support.hostile import HostileDaemon, HostileJvm, hello, large_profile, real_agent
from support.profile import CLIENT, Daemon, Workload, report_of
from support.requester import ask, attach_request, request, start_requester

ATTACKERS, VICTIM = (61001, 61002), 61003
SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support")
LIBRARY_BYTES = 1 << 16
WINDOW_S = 6
# On a machine that twenty others keep busy, too.
ANSWER_S, LIST_S, REPORT_S = 5, 15, 15
# MemoryMax of the unit (docs/security.md, "Memory of the daemon").
MEMORY_MOST = 1024 * footprint.MIB


class Crowd:
    """What one user does."""

    def __init__(self, daemon, uid):
        self.daemon, self.uid = daemon, uid
        jdk = jdks()[0]
        self.agents = [HostileJvm(jdk, user=uid) for _ in range(2)]
        self.fakes = [self._fake() for _ in range(3)]

    def _fake(self):
        libjvm = os.path.join(make_directory(), "libjvm.so")
        with open(libjvm, "wb") as f:
            f.write(bytes(LIBRARY_BYTES))
        fake = Process([sys.executable, f"{SUPPORT}/hostile_jvm.py", libjvm, "java", str(self.uid)])
        fake.wait_for("hostile")
        return fake

    def _window(self, jvm):
        """One that lasts for a day, and its id."""
        command = as_user(self.uid, CLIENT, "--socket", self.daemon.socket, "attach", str(jvm.pid), "--background",
                          "--duration", "24h", "--budget", "100%")
        return subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=True).stdout.strip().encode()

    def attack(self):
        large, flood = self.agents
        large.will_send(hello(), *large_profile())
        flood.will_send(hello())
        flood.will_go_on_with(*large_profile()[:1])
        window = self._window(large)
        self._window(flood)
        report = request(5, (1, window), (2, 1), (3, 100000))
        fakes = [attach_request(fake.pid) for fake in self.fakes]
        requests = [(30, 2, request(4, (4, 10000)), report),
                    (30, 2, request(20, (1, window))),
                    (0, 0.02, report, request(5, (1, b"w999999"))),
                    (0, 0.02, request(7), *(request(8, (1, fake.pid)) for fake in self.fakes)),
                    (4, 0.02, *fakes, *(attach_request(pid) for pid in range(4_000_000, 4_000_020)))]
        return [*self.agents, *self.fakes, *(start_requester(self.daemon, self.uid, *r) for r in requests)]


class Victim:
    def __init__(self, daemon):
        self.daemon, self.who = daemon, as_user(VICTIM)
        self.jvm = Workload(jdks()[0], "SilentStore", prefix=as_user(VICTIM, "env", f"HOSTILE_REAL={real_agent()}"))
        self.slowest = {"status": 0, "list": 0, "root's status": 0}

    def start_window(self):
        return subprocess.Popen([*self.who, CLIENT, "--socket", self.daemon.socket, "attach", str(self.jvm.pid), "--duration",
                                 f"{WINDOW_S}s", "--format", "json", "--kinds", "silent-store"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def look_around(self):
        for what, who, command in (("status", self.who, "status"), ("list", self.who, "list"), ("root's status", (), "status")):
            answer, seconds = ask(who, self.daemon, command)
            self.slowest[what] = max(self.slowest[what], seconds)
            assert command != "list" or str(self.jvm.pid) in answer, answer


@test
def two_users_with_ten_hostile_processes_each_keep_nobody_from_anything():
    need_root()
    daemon = HostileDaemon()
    os.chmod(daemon.socket, 0o666)
    victim = Victim(daemon)
    attackers = [process for uid in ATTACKERS for process in Crowd(daemon, uid).attack()]
    assert len(attackers) == 20
    memory = footprint.MemoryWatch(daemon.pid)
    begin = time.monotonic()
    window = victim.start_window()
    while window.poll() is None:
        victim.look_around()
        assert time.monotonic() - begin < WINDOW_S + REPORT_S, "the window's report does not come"
    took = time.monotonic() - begin
    out, errors = window.communicate()
    memory.stop()
    report = report_of(subprocess.CompletedProcess(window.args, window.returncode, out, errors))
    note(f"window and report took {took:.1f} s; slowest answers in s: { {k: round(v, 2) for k, v in victim.slowest.items()} }; "
         f"the daemon had {memory.most_rss / footprint.MIB:.0f} MiB at the most")
    assert report["quality"]["samples"] > 0 and not report["window"]["ended_early"], report["window"]
    assert victim.slowest["status"] < ANSWER_S and victim.slowest["root's status"] < ANSWER_S, victim.slowest
    assert victim.slowest["list"] < LIST_S, victim.slowest
    assert memory.most_rss < MEMORY_MOST, memory.most_rss
    # They were at it to the end, and refused more than the log has lines for.
    assert all(process.alive() for process in attackers)
    wait_until(lambda: all(f"more requests or connections of user {uid} were refused" in daemon.output() for uid in ATTACKERS),
               "the log's next line of refusals")
    # Its history is there, and so is its line of the audit.
    again, _ = ask(victim.who, daemon, "report", report["window"]["id"], "--format", "json")
    assert '"SilentStore"' in again, again[:200]
    audit = rf"^jxperfd: audit: action=attach uid={VICTIM} .*pid={victim.jvm.pid} window={report['window']['id']} outcome=ok$"
    assert re.search(audit, daemon.output(), re.MULTILINE), daemon.output()[-3000:]
    for process in attackers:
        process.stop()
    daemon.stop()


ROWS, LISTS = 10_000, 32
REASON = "as long as an agent likes " * 9
# RENDERS_UNREAD_OF_USER_BYTES of daemon/answer/render.h, twice for what a buffer grows by, and what lists are made of, some of
# them; without a share it was 164 MiB.
GROWTH_MOST = 128 * footprint.MIB


@test
def lists_that_a_user_does_not_read_are_his_share_and_no_more():
    need_root()
    state = os.path.join(make_directory(), "state")
    subprocess.run([os.path.join(BUILD, "bench/fill_store"), state, str(ROWS)], check=True)
    with contextlib.closing(sqlite3.connect(os.path.join(state, "windows.db"))) as windows, windows:
        windows.execute("UPDATE windows SET owner = ?, reason = ?", (ATTACKERS[0], REASON))
    config = os.path.join(make_directory(), "jxperfd.yaml")
    with open(config, "w", encoding="ascii") as f:
        f.write("store: {keep: 1000d, windows-per-app: 1000000}\n")
    daemon = Daemon(state=state, options=("--config", config))
    os.chmod(daemon.socket, 0o666)
    before = footprint.memory(daemon.pid)[1]
    attacker = start_requester(daemon, ATTACKERS[0], LISTS, 2, request(4, (4, ROWS)))
    wait_until(lambda: "let 'jxperfctl' read them first" in daemon.output(), "the end of the user's share")
    for who in as_user(VICTIM), ():
        ask(who, daemon, "status")
        rows = json.loads(ask(who, daemon, "--json", "windows", "--limit", str(ROWS))[0])
        assert len(rows) == (0 if who else ROWS), len(rows)
    growth = footprint.memory(daemon.pid)[1] - before
    note(f"the daemon grew by {growth / footprint.MIB:.0f} MiB")
    assert growth < GROWTH_MOST, growth
    attacker.stop()
    daemon.stop()


run()
