"""What keeps a host's windows going: JVMs that refuse, a pause, a file that forbids windows, a host that is busy."""
# Takes half a place: it waits most of the time (epochs of ten seconds).
import json
import os
import resource
import subprocess
import time

from lib import HANG_S, Process, jdks, make_directory, need_root, run, test, wait_until
from support.profile import CLIENT, NO_GUARDS, Daemon, succeeded
from support.summing import summing

EVERY_S = 10
SOON_S = 12 * EVERY_S
REFUSING = 5
TEAM = f"heal{os.getpid()}"

CONFIG = """
host-budget: 90%
environment: [TEAM]
pause-file: {pause_file}
{guards}
schedules:
  - {{name: often, match: {{environment: ["TEAM={team}"]}}, every: {every}s, window: 1s, warm-up: 1s, kinds: [silent-load],
     budget: 30%, failures: 2}}
"""


class Host:
    """A JVM that is well, some whose limits leave the agent no room, and the daemon."""

    def __init__(self):
        self.directory = make_directory()
        self.pause_file = os.path.join(self.directory, "pause-here")
        classes = summing("Server", ints=1 << 17, rest_ms=20)
        self.refusing = [self.jvm(classes) for _ in range(REFUSING)]
        for jvm in self.refusing:
            with open(f"/proc/{jvm.pid}/statm", encoding="ascii") as f:
                used = int(f.read().split()[0]) * resource.getpagesize()
            resource.prlimit(jvm.pid, resource.RLIMIT_AS, (used + (2 << 20), resource.RLIM_INFINITY))
        self.well = self.jvm(classes)
        self.start()

    def start(self):
        self.daemon = Daemon(directory=self.directory, http="127.0.0.1:0", config=self.config())

    def config(self, guards=NO_GUARDS):
        return CONFIG.format(team=TEAM, every=EVERY_S, pause_file=self.pause_file, guards=guards)

    @staticmethod
    def jvm(classes):
        jvm = Process([jdks()[-1].java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", classes, "Server"],
                      env={**os.environ, "TEAM": TEAM})
        jvm.wait_for("up")
        return jvm

    def try_ctl(self, *arguments):
        return self.daemon.ctl(*arguments)

    def ctl(self, *arguments):
        return succeeded(self.try_ctl(*arguments))

    def windows(self, jvm):
        return [w for w in json.loads(self.ctl("--json", "windows")) if w["pid"] == jvm.pid and w["state"] == "done"]

    def wait_for_windows(self, jvm, count):
        wait_until(lambda: len(self.windows(jvm)) >= count, f"{count} windows of {jvm.pid}", SOON_S)

    def row(self, jvm):
        return next(j for j in json.loads(self.ctl("--json", "list")) if j["pid"] == jvm.pid)

    def metric(self, name, **labels):
        return self.daemon.metric(name, **labels)

    def missed(self, reason):
        return self.metric("jxperf_schedule_missed_total", schedule="often", reason=reason)

    def wait_for_miss(self, reason):
        before = self.missed(reason)
        wait_until(lambda: self.missed(reason) > before, f"a window that is missed: {reason}", SOON_S)

    def ran(self):
        return self.metric("jxperf_schedule_windows_total", schedule="often", outcome="ran")


_host = []


def host():
    need_root()
    if not _host:
        _host.append(Host())
    return _host[0]


@test
def jvms_without_room_do_not_keep_another_from_its_windows():
    h = host()
    h.wait_for_windows(h.well, 2)
    wait_until(lambda: h.metric("jxperf_jvms", state="refused", reason="room") == REFUSING, "all that refuse", SOON_S)
    assert h.metric("jxperf_jvms", state="covered", reason="none") == 1
    assert h.missed("room") >= REFUSING
    assert h.metric("jxperf_schedule_windows_total", schedule="often", outcome="failed") == 0
    assert h.metric("jxperf_schedule_stopped", schedule="often") == 0
    assert h.metric("jxperf_schedule_failures_in_a_row", schedule="often") == 0
    assert time.time() - h.metric("jxperf_schedule_last_success_timestamp_seconds", schedule="often") < SOON_S
    for jvm in h.refusing:
        row = h.row(jvm)
        assert row["skipped"] == "room" and row["skipped_until"] > time.time(), row
    assert h.row(h.well)["skipped"] == "", h.row(h.well)
    assert "skipped until" in h.ctl("list") and "no room for the agent" in h.ctl("list")
    # Each was tried once, and then once more after two epochs or more.
    tried = h.daemon.output().count("may take")
    assert tried <= 3 * REFUSING, h.daemon.output()


@test
def with_room_they_have_theirs():
    h = host()
    for jvm in h.refusing:
        resource.prlimit(jvm.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    h.ctl("reload")
    for jvm in h.refusing:
        h.wait_for_windows(jvm, 1)
    assert h.metric("jxperf_jvms", state="covered", reason="none") == 1 + REFUSING
    for jvm in h.refusing:
        jvm.stop()


@test
def a_pause_holds_until_somebody_resumes():
    h = host()
    said = h.ctl("pause", "--for", "1h", "the database is on fire")
    assert "paused by root until" in said and "the database is on fire" in said, said
    refused = h.try_ctl("attach", str(h.well.pid), "--duration", "1s")
    assert refused.returncode == 1 and "'jxperfctl resume' ends that" in refused.stderr, refused
    h.wait_for_miss("paused")
    assert h.metric("jxperf_paused") == 1
    # Also over a restart.
    h.daemon.stop()
    h.start()
    assert "the database is on fire" in h.ctl("status")
    assert "the database is on fire" in json.loads(h.ctl("--json", "status"))["paused"]
    assert h.try_ctl("attach", str(h.well.pid), "--duration", "1s").returncode == 1 and h.ran() == 0
    assert h.ctl("resume") == "windows go on\n"
    assert h.metric("jxperf_paused") == 0 and "paused" not in h.ctl("status")
    wait_until(lambda: h.ran() > 0, "a window after the pause", SOON_S)


@test
def nobody_but_administrators_may_pause():
    h = host()
    os.chmod(h.directory, 0o755)
    os.chmod(h.daemon.socket, 0o666)
    done = subprocess.run(["setpriv", "--reuid=61003", "--regid=61003", "--clear-groups", CLIENT, "--socket", h.daemon.socket,
                           "pause"], check=False, capture_output=True, text=True, timeout=HANG_S)
    assert done.returncode == 1 and "only root and the admin group may pause" in done.stderr, done


@test
def a_file_forbids_windows_as_long_as_it_is_there():
    h = host()
    with open(h.pause_file, "w", encoding="ascii"):
        pass
    refused = h.try_ctl("attach", str(h.well.pid), "--duration", "1s")
    assert refused.returncode == 1 and h.pause_file in refused.stderr, refused
    resumed = h.try_ctl("resume")
    assert resumed.returncode == 1 and h.pause_file in resumed.stderr, resumed
    h.wait_for_miss("paused")
    os.unlink(h.pause_file)
    ran = h.ran()
    wait_until(lambda: h.ran() > ran, "a window after the file has gone", SOON_S)


@test
def a_host_that_is_busy_has_no_scheduled_windows():
    h = host()
    h.daemon.configure(h.config(guards=NO_GUARDS.replace("load: off", "load: 0")))
    h.ctl("reload")
    ran = h.ran()
    h.wait_for_miss("load")
    # Whoever asks has one.
    h.ctl("attach", str(h.well.pid), "--duration", "1s")
    assert h.ran() == ran
    h.daemon.stop()


run()
