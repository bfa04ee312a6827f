"""What one user may take of what all draw on: the host's budget, connections that wait, and the disk."""
# Takes half a place: it waits most of the time.
import json
import os
import subprocess
import time

from lib import HANG_S, jdks, make_directory, need_root, note, run, test, wait_until
from support import footprint
from support.attach import as_user
from support.hostile import HostileDaemon, HostileJvm, hello, large_profile
from support.profile import CLIENT, Daemon, Workload, succeeded
from support.requester import ask, request, start_requester

ATTACKER, VICTIM = 61001, 61002
EVERY_S = 10


def attach_in_the_background(daemon, uid, jvm, *options):
    return ask(as_user(uid), daemon, "attach", str(jvm.pid), "--background", *options)[0].strip()


@test
def a_users_budget_leaves_schedules_their_part_of_the_hosts():
    need_root()
    config = os.path.join(make_directory(), "jxperfd.yaml")
    run_id = f"shares{os.getpid()}"
    with open(config, "w", encoding="ascii") as f:
        f.write(f"environment: [SHARES]\nguards: {{cpu-pressure: off, io-pressure: off, load: off}}\nschedules: [{{name: theirs, match: {{environment: ['SHARES={run_id}']}}, every: {EVERY_S}s, "
                "window: 1s, warm-up: 1s, budget: 0.5%, kinds: [silent-store]}]\n")
    daemon = Daemon(options=("--config", config))
    os.chmod(daemon.socket, 0o666)
    attacker = Workload(jdks()[0], "SilentStore", prefix=as_user(ATTACKER))
    attach_in_the_background(daemon, ATTACKER, attacker, "--duration", "24h", "--budget", "100%")
    victim = Workload(jdks()[0], "SilentStore", prefix=as_user(VICTIM, "env", f"SHARES={run_id}"))

    def windows():
        listed = json.loads(ask(as_user(VICTIM), daemon, "--json", "windows")[0])
        return [w for w in listed if w["pid"] == victim.pid and w["state"] == "done"]

    wait_until(lambda: len(windows()) >= 3, "three windows of the schedule", HANG_S)
    assert [w["pid"] for w in daemon.running() if w["pid"] == attacker.pid], "the attacker's window has ended"
    daemon.stop()


# CONTROL_CONNECTIONS_OF_USER of daemon/serve/control.h.
OF_USER = 32
WAIT_S = 8


@test
def who_waits_makes_room_for_others_and_hears_of_the_end_all_the_same():
    need_root()
    daemon = Daemon()
    os.chmod(daemon.socket, 0o666)
    jvm = Workload(jdks()[0], "SilentStore", prefix=as_user(VICTIM))
    window = attach_in_the_background(daemon, VICTIM, jvm, "--duration", f"{WAIT_S}s")
    begin = time.monotonic()
    waits = subprocess.Popen(as_user(VICTIM, CLIENT, "--socket", daemon.socket, "wait", window), stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)  # It is the first to make room.
    crowd = start_requester(daemon, VICTIM, 2 * OF_USER, 600, request(20, (1, window.encode())))
    seconds = []
    while len(seconds) < 10 or time.monotonic() - begin < WAIT_S / 2:
        seconds.append(ask(as_user(VICTIM), daemon, "status")[1])
        assert waits.poll() is None, waits.stderr.read()
    note(f"status while all places wait: {max(seconds):.2f} s")
    assert waits.wait(HANG_S) == 0, waits.stderr.read()
    assert time.monotonic() - begin >= WAIT_S - 1
    crowd.stop()
    daemon.stop()


# Two of KEEPER_FLUSH_MS.
FLUSHES_S = 11


def written(daemon):
    with open(f"/proc/{daemon.pid}/io", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("wchar"))


@test
def windows_that_do_nothing_write_nothing():
    need_root()
    daemon, jvm = HostileDaemon(), HostileJvm(jdks()[0])
    jvm.will_send(hello(), *large_profile())
    succeeded(daemon.ctl("attach", str(jvm.pid), "--background", "--duration", "60s"))
    wait_until(lambda: footprint.memory(daemon.pid)[1] > 15 * footprint.MIB and written(daemon) > 5 * footprint.MIB,
               "the window in the store")
    time.sleep(1)
    before = written(daemon)
    time.sleep(FLUSHES_S)
    growth = written(daemon) - before
    note(f"{growth / footprint.MIB:.1f} MiB written in {FLUSHES_S} s")
    assert growth < footprint.MIB, growth
    jvm.stop()  # Or the daemon would wait for its agent.
    daemon.stop()


run(at_once=2)
