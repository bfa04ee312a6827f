"""What a daemon costs by itself: the CPU time of all its processes while idle JVMs have the windows of a schedule.

It is the daemon's cgroup that is asked, so privileged workers and attach helpers count, however short they live, and JVMs
do not. Needs root. One row: CPU time in percent of a processor, milliseconds for each window that ended, and
the windows.

  IDLE_JVMS (default 30)   IDLE_S (default 600)   IDLE_EVERY, IDLE_WINDOW (default 10m and 30s, as those of a schedule)
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
# pylint: disable=wrong-import-position; they are found by the line above
from lib import Process, compile_java, jdks
from support.cgroup import Group
from support.profile import NO_GUARDS, Daemon, succeeded

JVMS, SECONDS = int(os.environ.get("IDLE_JVMS", "30")), float(os.environ.get("IDLE_S", "600"))
EVERY, WINDOW = os.environ.get("IDLE_EVERY", "10m"), os.environ.get("IDLE_WINDOW", "30s")
TEAM = f"idle{os.getpid()}"
CONFIG = f"""
environment: [TEAM]
{NO_GUARDS}
schedules:
  - {{name: everything, match: {{environment: ["TEAM={TEAM}"]}}, every: {EVERY}, window: {WINDOW}, warm-up: 1s}}
"""
SOURCE = """
public class Idle {
    public static void main(String[] args) throws Exception {
        System.out.println("up");
        Thread.sleep(1L << 40);
    }
}
"""


def ended(daemon):
    return sum(w["state"] == "done" for w in json.loads(succeeded(daemon.ctl("--json", "windows"))))


def main():
    classes, group = compile_java({"Idle.java": SOURCE}), Group(controller="cpuacct")
    command = [jdks()[0].java, "-Xmx32m", "-XX:+UseSerialGC", "-cp", classes, "Idle"]
    jvms = [Process(command, env={**os.environ, "TEAM": TEAM}) for _ in range(JVMS)]
    for jvm in jvms:
        jvm.wait_for("up")
    daemon = Daemon(prefix=group.enter(), config=CONFIG)
    try:
        before, begin = group.cpu_seconds(), time.monotonic()
        time.sleep(SECONDS)
        spent, took = group.cpu_seconds() - before, time.monotonic() - begin
        windows = ended(daemon)
    finally:
        daemon.stop()
        group.stop()
    print(f"daemon_with_{JVMS}_idle_jvms  {100 * spent / took:.3f} %  {1000 * spent / max(windows, 1):.1f} ms a window  "
          f"{windows} windows in {took:.0f} s")


main()
