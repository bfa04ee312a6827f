# Runs alone: to every daemon here its processes are JVMs, more of them than a planner knows at a time.
"""More processes of one user that look like JVMs than schedules have places for: those of another user have theirs."""
import json
import os
import re
import sys

from lib import HANG_S, Process, Stopwatch, jdks, make_directory, need_root, note, run, test, wait_until
from support.attach import as_user
from support.profile import NO_GUARDS, Daemon, Workload
from support.requester import ask

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "support")
ATTACKER, VICTIM = 61001, 61002
# More than KNOWN_JVMS_MAX (daemon/schedule/known_jvms.h).
FAKES = 1100
EVERY_S = 10
# On an idle machine: one in a list of more than a thousand, and others.
LIST_S, ANSWER_S = 5, 2
RUN = f"schedules{os.getpid()}"
CONFIG = f"""
environment: [RUN]
{NO_GUARDS}
schedules:
  - {{name: theirs, match: {{user: "{VICTIM}", environment: ["RUN={RUN}"]}}, every: {EVERY_S}s, window: 1s, warm-up: 1s,
     kinds: [silent-store]}}
"""


def start_fakes(copies=FAKES):
    libjvm = os.path.join(make_directory(), "libjvm.so")
    with open(libjvm, "wb") as f:
        f.write(bytes(1 << 16))
    fakes = Process([sys.executable, f"{SUPPORT}/hostile_jvm.py", libjvm, "java", str(ATTACKER), "--copies", str(copies)])
    wait_until(lambda: fakes.output().count("hostile") == copies, "all of them", HANG_S)
    return fakes


class Victim:
    def __init__(self, daemon):
        self.daemon, self.who = daemon, as_user(VICTIM)
        self.slowest = {}

    def start_jvm(self):
        return Workload(jdks()[0], "SilentStore", prefix=(*self.who, "env", f"RUN={RUN}"))

    def ask(self, *arguments):
        answer, seconds = ask(self.who, self.daemon, *arguments)
        what = next(word for word in arguments if not word.startswith("--"))
        self.slowest[what] = max(seconds, self.slowest.get(what, 0))
        return answer

    def windows(self, jvm):
        """Those that ended well."""
        return [w["id"] for w in json.loads(self.ask("--json", "windows")) if w["pid"] == jvm.pid and w["state"] == "done"]

    def wait_for_window(self, jvm, count):
        return wait_until(lambda: self.windows(jvm)[count - 1:], f"{count} windows of {jvm.pid}", HANG_S)[0]


def jvms_over_limit(daemon):
    return int(re.search(r"^jxperf_schedule_jvms_over_limit_total (\d+)$", daemon.get("/metrics"), re.MULTILINE).group(1))


@test
def more_jvms_of_one_user_than_there_are_places_take_none_from_another():
    need_root()
    config = os.path.join(make_directory(), "jxperfd.yaml")
    with open(config, "w", encoding="ascii") as f:
        f.write(CONFIG)
    # They are there when the daemon comes, which then finds them with one of the victim's; another one comes later.
    fakes = start_fakes()
    first = Workload(jdks()[0], "SilentStore", prefix=as_user(VICTIM, "env", f"RUN={RUN}"))
    daemon = Daemon(http="127.0.0.1:0", options=("--config", config))
    os.chmod(daemon.socket, 0o666)
    victim = Victim(daemon)
    with Stopwatch() as watch:
        victim.wait_for_window(first, 1)
        second = victim.start_jvm()
        windows = [victim.wait_for_window(jvm, 2) for jvm in (first, second)]
    for window in windows:
        assert '"SilentStore"' in victim.ask("report", window, "--format", "json")
    assert json.loads(victim.ask("--json", "list"))
    victim.ask("status")
    note(f"windows of both after {watch.seconds:.0f} s; slowest answers in s: { {k: round(v, 2) for k, v in victim.slowest.items()} }")
    assert all(seconds < (LIST_S if what == "list" else ANSWER_S) for what, seconds in victim.slowest.items()), victim.slowest
    # What no schedule matches takes no place from what one does, and is not one that is missing.
    assert jvms_over_limit(daemon) == 0, daemon.output()
    # They were all there.
    listed = {jvm["pid"] for jvm in json.loads(ask((), daemon, "--json", "list")[0])}
    assert len(listed) > FAKES and {first.pid, second.pid} <= listed, len(listed)
    fakes.stop()
    daemon.stop()


def schedule_windows(daemon, outcome):
    return int(re.search(rf'^jxperf_schedule_windows_total.*outcome="{outcome}"}} (\d+)$', daemon.get("/metrics"), re.MULTILINE).group(1))


@test
def jvms_of_one_user_that_refuse_take_no_windows_from_another():
    """They match like the victim's, and each attach to one of them fails."""
    need_root()
    config = os.path.join(make_directory(), "jxperfd.yaml")
    with open(config, "w", encoding="ascii") as f:
        f.write(CONFIG.replace(f'user: "{VICTIM}", environment: ["RUN={RUN}"]', 'user: "6100[12]"'))
    fakes = start_fakes(copies=20)
    daemon = Daemon(http="127.0.0.1:0", options=("--config", config))
    os.chmod(daemon.socket, 0o666)
    victim = Victim(daemon)
    jvm = victim.start_jvm()
    # As many as would stop a schedule by their costs.
    wait_until(lambda: schedule_windows(daemon, "failed") > 5, "fakes that fail", HANG_S)
    victim.wait_for_window(jvm, schedule_windows(daemon, "ran") + 2)
    metrics = daemon.get("/metrics")
    assert 'jxperf_schedule_stopped{schedule="theirs"} 0' in metrics
    assert 'jxperf_schedule_failures_in_a_row{schedule="theirs"} 0' in metrics
    fakes.stop()
    daemon.stop()


run()
