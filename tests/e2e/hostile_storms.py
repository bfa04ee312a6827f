"""Storms: of signals, of connections that ask nothing or a byte a second, of an agent that sends as fast as it can or
never reads, and a clock that is set by hours. Each has an outcome that the log knows, and ends in its time; others are
served meanwhile, and it costs the daemon nothing that stays.

See also hostile_http.py and hostile_control.py (who is served when connections are many), hostile_descriptors.py
(agents that ask and do not read), config.py (files that change under a storm of signals).
"""
# Takes half a place: it waits most of the time (connections and clocks have their time).
import collections
import os
import re
import signal
import socket
import struct
import sys
import time

from lib import Process, Stopwatch, jdks, make_directory, need_root, note, run, test, wait_until
from support import footprint
from support.agent import PROTOCOL, encode
from support.attach import as_nobody
from support.clock import SteppedClock
from support.hostile import HonestWorkload, HostileDaemon, HostileJvm, batch, hello, pair
from support.profile import EARLY, Daemon, Workload, report_of, succeeded

MIB = footprint.MIB
# What may be left of a storm: of some size, since parts of the daemon are used for the first time in one.
LEFT_MOST = 16 * MIB
# A sanitizer is not to keep what was freed, nor need it be loaded first.
os.environ["ASAN_OPTIONS"] = "quarantine_size_mb=1:verify_asan_link_order=0"
# An answer that costs the daemon nothing takes some milliseconds.
ANSWER_S = 2
ASK_EVERY_S = 0.2  # More often takes a processor from the tests that run beside this one.
CONNECTIONS = 1000
DEADLINE_S = 10  # CONNECTION_REQUEST_TIMEOUT_MS, HTTP_REQUEST_S, and what an agent has to end


class Watch:
    """Asks the daemon for its status now and then, and keeps the slowest answer in worst_s."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.worst_s = 0

    def ask(self):
        with Stopwatch() as watch:
            succeeded(self.daemon.ctl("status"))
        self.worst_s = max(self.worst_s, watch.seconds)

    def until(self, condition, what, seconds):
        """As wait_until."""
        def asked():
            self.ask()
            time.sleep(ASK_EVERY_S)
            return condition()

        return wait_until(asked, what, seconds)

    def assert_served(self):
        note(f"slowest answer to status: {self.worst_s:.3f} s")
        assert self.worst_s < ANSWER_S, self.worst_s


def lines_with(daemon, words):
    return [line for line in daemon.output().splitlines() if words in line]


# ---------------------------------------------------------------- signals

HANGUPS, HANGUPS_S = 5000, 5


@test
def five_thousand_hangups_are_a_few_readings():
    path = os.path.join(make_directory(), "jxperfd.yaml")

    def write(at_once):
        with open(path, "w", encoding="ascii") as f:
            f.write(f"windows-at-once: {at_once}\nschedules: [{{name: none, match: {{user: no-such-user}}, every: 1h}}]\n")

    write(2)
    daemon = Daemon(options=["--config", path])
    target = Workload(jdks()[0], "SilentLoad")
    window = daemon.start_attach(target.pid, duration=f"{HANGUPS_S + 3}s")
    before, begin = footprint.memory(daemon.pid)[0], time.monotonic()
    watch = Watch(daemon)
    for i in range(HANGUPS):
        os.kill(daemon.pid, signal.SIGHUP)
        time.sleep(max(0, begin + i * HANGUPS_S / HANGUPS - time.monotonic()))
        if i % (HANGUPS // 10) == 0:
            watch.ask()
    took = time.monotonic() - begin
    write("none")
    os.kill(daemon.pid, signal.SIGHUP)
    watch.until(lambda: lines_with(daemon, "the configuration is the old one"), "the last reading", 10)
    readings = len(lines_with(daemon, "audit: action=configure"))
    report = report_of(window.finish())
    growth = footprint.memory(daemon.pid)[0] - before
    note(f"{HANGUPS} signals in {took:.1f} s: {readings} readings; memory grew by {growth / MIB:.1f} MiB")
    watch.assert_served()
    assert 2 <= readings <= took + 3, readings
    assert not report["window"]["ended_early"] and report["quality"]["samples"] > 0, report["window"]
    assert growth < LEFT_MOST, growth
    assert target.alive()
    daemon.stop()


# ---------------------------------------------------------------- clocks

EVERY_S, HOUR_S = 10, 3600
CLOCK_CONFIG = """
host-budget: 90%
environment: [CLOCK]
guards: {{cpu-pressure: off, memory-pressure: off, io-pressure: off, load: off, collector: off}}
schedules:
  - {{name: always, match: {{environment: ["CLOCK={run}"]}}, every: {every}s, window: 1s, warm-up: 1s, kinds: [silent-load], budget: 30%}}
  - {{name: night, match: {{environment: ["CLOCK={run}-night"]}}, every: {every}s, window: 1s, warm-up: 1s, kinds: [silent-load],
     budget: 30%, from: "{begins}", until: "{ends}"}}
"""


class SteppedDaemon(Daemon):
    """One whose clock a test sets."""

    def __init__(self, config):
        self.clock = SteppedClock()
        self.config = os.path.join(make_directory(), "jxperfd.yaml")
        with open(self.config, "w", encoding="ascii") as f:
            f.write(config)
        super().__init__(prefix=self.clock.prefix, http="127.0.0.1:0", options=["--verbose", "--config", self.config])

    def windows(self):
        """[(schedule, pid, epoch)]"""
        line = r"schedule '(\w+)': window \w+ in pid (\d+) \(.*\), epoch (\d+)$"
        return [(s, int(p), int(e)) for s, p, e in re.findall(line, self.output(), re.MULTILINE)]

    def epoch(self):
        return int(time.time() + self.clock.step) // EVERY_S

    def counted(self, family, schedule, label):
        series = rf'^jxperf_schedule_{family}_total{{schedule="{schedule}",{label}}} (\d+)$'
        return int(re.search(series, self.get("/metrics"), re.MULTILINE).group(1))

    def planned(self, schedule, pid, since):
        """The first epoch from since on in which a schedule has a window in a program, once there is one."""
        def found():
            return [e for s, p, e in self.windows() if (s, p) == (schedule, pid) and since <= e <= since + 10]

        return wait_until(found, f"a window of '{schedule}'", 10 + 3 * EVERY_S)[0]

    def sets_clock(self, step_s):
        """To what is about so many seconds from the true time: the beginning of an epoch, so that one is enough to see
        a whole one. Returns which."""
        self.clock.set(step_s - int(time.time() + step_s) % EVERY_S)
        succeeded(self.ctl("status"))
        return self.epoch()


@test
def a_clock_that_is_set_by_hours_runs_nothing_twice():
    name = f"clock{os.getpid()}"
    at = [time.strftime("%H:%M", time.localtime(time.time() + h * HOUR_S)) for h in (5, 7)]
    programs = [Workload(jdks()[0], "Paced", prefix=("env", f"CLOCK={name}{suffix}")) for suffix in ("", "-night", "-none")]
    day, night, other = (p.pid for p in programs)
    daemon = SteppedDaemon(CLOCK_CONFIG.format(run=name, every=EVERY_S, begins=at[0], ends=at[1]))

    def looks():
        """Its schedules, since a window has ended; it would within ten seconds."""
        daemon.attach(other, duration="100ms")

    known = daemon.planned("always", day, daemon.sets_clock(0))
    wait_until(lambda: not daemon.running(), "the end of what was before", EVERY_S)
    # It sees by itself that the clock was set, and the third epoch is the first that it is sure to see the beginning of.
    later = daemon.sets_clock(6 * HOUR_S)
    for schedule, pid, most in (("always", day, 2), ("night", night, 3)):
        assert daemon.planned(schedule, pid, later) <= later + most, (schedule, later, daemon.windows())
    earlier = daemon.sets_clock(-3 * HOUR_S)
    looks()
    assert daemon.planned("always", day, earlier) <= earlier + 2, (earlier, daemon.windows())
    # Where it was before: an epoch that has had its window, from its beginning to its end.
    before = [w for w in daemon.windows() if w[2] == known]
    assert daemon.sets_clock(int(known * EVERY_S - time.time()) + 1) == known
    looks()
    wait_until(lambda: daemon.epoch() > known, "the end of what was before", 10 + 2 * EVERY_S)
    assert [w for w in daemon.windows() if w[2] == known] == before, (before, daemon.windows())
    again = daemon.sets_clock(0)
    looks()
    assert daemon.planned("always", day, again) <= again + 2, (again, daemon.windows())
    windows = daemon.windows()
    twice = {w: n for w, n in collections.Counter(windows).items() if n > 1}
    late = daemon.counted("missed", "always", 'reason="late"')
    note(f"{len(windows)} windows; late: {late}")
    assert not twice, twice
    nights = {e for s, p, e in windows if s == "night"}
    assert all(later <= e <= later + 3 for e in nights), (nights, later)
    # One plan may have waited each time that the clock was set, and one been found too late.
    assert late <= 2 * 5, late
    assert daemon.counted("windows", "always", 'outcome="failed"') == 0
    assert not lines_with(daemon, "has stopped itself"), daemon.output()
    assert all(p.alive() for p in programs)
    daemon.stop()


# ---------------------------------------------------------------- connections

# Holds COUNT connections, to a path or to a port from 200 addresses; with a third argument sends what is the beginning
# of a request a byte a second.
HOLDER = """
import socket, sys, time
where, count, byte = sys.argv[1], int(sys.argv[2]), len(sys.argv) > 3
REQUEST = (b"GET /metrics HTTP/1.1\\r\\nX: " if where.isdigit() else b"\\xe8\\3\\0\\0") + b"x" * 900
held = []
for i in range(count):
    s = socket.socket(socket.AF_INET if where.isdigit() else socket.AF_UNIX)
    if where.isdigit():
        s.bind(("127.0.1.%d" % (1 + i % 200), 0))
    s.connect(("127.0.0.1", int(where)) if where.isdigit() else where)
    held.append(s)
print("held", flush=True)
for i in range(600):
    for s in held:
        try:
            if byte:
                s.send(REQUEST[i:i + 1])
        except OSError:
            pass
    time.sleep(1)
"""


def hold(where, count, *byte):
    holder = Process(as_nobody(sys.executable, "-c", HOLDER, str(where), str(count), *byte))
    holder.wait_for("held", 60)
    return holder


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def weather(begin, where, most, *byte, count=CONNECTIONS):
    """Has so many connections held on a daemon, of which most stay open, and looks after others meanwhile. begin: the
    words of its lines in the log."""
    need_root()
    port = free_port()
    daemon = Daemon(http=f"127.0.0.1:{port}")
    os.chmod(daemon.socket, 0o666)
    wait_until(lambda: succeeded(daemon.ctl("status")), "the daemon")
    descriptors, memory = footprint.descriptors(daemon.pid), footprint.memory(daemon.pid)[0]
    watch, worst = Watch(daemon), 0
    with Stopwatch() as took:
        holder = hold(daemon.socket if where == "control" else port, count, *byte)
        for _ in range(20):
            watch.ask()
            assert daemon.get("/-/healthy") == "healthy\n"
            worst = max(worst, footprint.descriptors(daemon.pid))
        watch.until(lambda: footprint.descriptors(daemon.pid) <= descriptors, "the end of the connections", 3 * DEADLINE_S)
    growth = footprint.memory(daemon.pid)[0] - memory
    said = lines_with(daemon, begin)
    note(f"{worst - descriptors} more descriptors at most, {growth / MIB:.1f} MiB more; all ended after {took.wall_seconds:.1f} s; "
         + " | ".join(said))
    watch.assert_served()
    assert worst - descriptors <= most, (descriptors, worst)
    assert growth < LEFT_MOST, growth
    assert 1 <= len(said) <= 2 + took.wall_seconds / 10, said
    assert holder.alive(), holder.output()
    holder.stop()
    daemon.stop()
    return said


@test
def a_thousand_idle_control_connections_end_and_keep_nobody_out():
    said = weather("refused", "control", 32 + 4)
    assert "is a user's share" in said[0], said


@test
def a_control_request_of_a_byte_a_second_has_its_time_and_no_more():
    said = weather("outcome=invalid", "control", 8 + 4, "byte", count=8)
    assert "no request came in time" in said[0], said


@test
def a_thousand_idle_http_connections_end_and_keep_nobody_out():
    said = weather("http connections refused", "http", 64 + 64 + 4)
    assert re.search(r"\d+ total", "".join(said)), said


@test
def an_http_request_of_a_byte_a_second_has_its_time_and_no_more():
    said = weather("http connections refused", "http", 8 + 4, "byte", count=8)
    assert re.search(r"[1-8] time", said[0]), said


# ---------------------------------------------------------------- agents

FLOOD_S = 5


def flood():
    """Pairs of contexts that exist and of such that do not, as many as fit a frame or so."""
    return batch(records=[pair(1 + i % 50) for i in range(1000)])


def names():
    methods = [(2, encode([(1, i), (2, b"Flood"), (3, b"method%d" % i)])) for i in range(1, 26)]
    nodes = [(3, encode([(1, i), (2, 0), (3, i), (4, 0), (5, 1)])) for i in range(1, 26)]
    return batch(*methods, *nodes)


@test
def an_agent_at_full_speed_harms_no_other_window():
    need_root()
    jdk = jdks()[0]
    daemon = HostileDaemon()
    target = HonestWorkload(jdk, "SilentLoad")
    jvm = HostileJvm(jdk)
    jvm.will_send(hello(), names())
    jvm.will_go_on_with(flood())
    memory, watch = footprint.memory(daemon.pid)[0], Watch(daemon)
    with Stopwatch() as took:
        client = daemon.start_ctl("attach", str(jvm.pid), "--kinds", "dead-store", "--duration", f"{FLOOD_S}s", "--format", "json")
        watch.until(lambda: any(w["pid"] == jvm.pid and w["state"] == "running" for w in daemon.running()), "the flood", 20)
        honest = daemon.attach(target.pid, "--kinds", "silent-load", duration="3s")
        watch.until(lambda: client.child.poll() is not None, "the end of the flood", FLOOD_S + 3 * DEADLINE_S)
    done = client.finish()
    report = report_of(done, EARLY)
    quality = report["quality"]
    growth = footprint.memory(daemon.pid)[0] - memory
    ended = lines_with(daemon, "ended early")
    pairs = sum(k["checked_accesses"] for k in report["inefficiency"])
    note(f"{pairs} pairs in, {quality['dropped_unknown_ids']} of unknown contexts dropped; {growth / MIB:.1f} MiB more; "
         f"over after {took.wall_seconds:.1f} s: {ended}")
    watch.assert_served()
    assert not honest["window"]["ended_early"] and honest["quality"]["samples"] > 0, honest["window"]
    assert honest["quality"]["dropped"] == 0, honest["quality"]
    assert quality["dropped_unknown_ids"] > 1000 and pairs > 1000, quality
    assert growth < LEFT_MOST, growth
    assert len(ended) == 1 and "did not end the window in time" in ended[0], ended
    assert target.alive() and jvm.alive()
    jvm.stop()
    daemon.stop()


@test
def an_agent_that_does_not_read_is_left_at_its_deadline():
    need_root()
    daemon, jvm = HostileDaemon(), HostileJvm(jdks()[0])
    jvm.will_send(hello())
    descriptors, watch = footprint.descriptors(daemon.pid), Watch(daemon)
    with Stopwatch() as took:
        client = daemon.start_ctl("attach", str(jvm.pid), "--duration", "2s")
        watch.until(lambda: client.child.poll() is not None, "its end", 3 * DEADLINE_S)
    result = client.finish()
    note(f"over after {took.wall_seconds:.1f} s: {result.stderr.strip()}")
    watch.assert_served()
    assert result.returncode == EARLY and "did not end the window in time" in result.stderr, result
    assert lines_with(daemon, "did not end the window in time"), daemon.output()
    assert took.seconds < 2 + DEADLINE_S + 5, took.seconds
    wait_until(lambda: footprint.descriptors(daemon.pid) <= descriptors, "the end of its connection")
    jvm.stop()
    daemon.stop()


run(at_once=2)
